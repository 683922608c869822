//! Selects the environment and its keys: flags and `CORRIDOR_*` variables, else the running
//! sandbox.

use http_api::auth::Service;

use super::error::ClientError;
use super::files::DataDir;
use config::Secret;

/// The holder named in a wallet token: the key belongs to the bank's own backend.
const WALLET_ROLES: &[&str] = &["wallet_manager"];

/// What a client needs to sign requests.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The service that they are for.
    pub service: Service,
    /// The URL that requests go to, without a trailing slash.
    pub base_url: String,
    /// `aud` and `iss` of tokens (`{base_url}` of the specification); `None` = `base_url`.
    pub audience: Option<String>,
    pub access_key: String,
    /// SECRET KEY; the HS256 key is its text's own bytes.
    pub secret_key: Secret,
}

/// The values of flags and variables.
#[derive(Clone, Debug, Default)]
pub struct GivenCredentials {
    /// The value of `--base-url`.
    pub base_url: Option<String>,
    /// The value of `--audience`.
    pub audience: Option<String>,
    /// The value of `--access-key`.
    pub access_key: Option<String>,
    pub secret_key: Option<Secret>,
}

impl Credentials {
    /// The given values, completed from the running sandbox unless another URL was given.
    pub fn find(
        service: Service,
        given: GivenCredentials,
        data_dir: &DataDir,
    ) -> Result<Credentials, ClientError> {
        let address = given.base_url.map(|url| url.trim_end_matches('/').to_owned());
        let complete =
            address.is_some() && given.access_key.is_some() && given.secret_key.is_some();
        let sandbox = if complete { None } else { data_dir.sandbox()? };
        let sandbox = sandbox.and_then(|sandbox| sandbox.credentials(service));
        let running = sandbox.as_ref().map(|sandbox| sandbox.base_url.clone());
        let sandbox =
            sandbox.filter(|sandbox| address.as_ref().is_none_or(|url| *url == sandbox.base_url));
        let (flag, variable) = match service {
            Service::Pay => ("--", "CORRIDOR_"),
            Service::Wallet => ("--wallet-", "CORRIDOR_WALLET_"),
        };
        let asked = address.clone();
        let missing = |what: &str, name: &str, by: &str| {
            let variable = format!("{variable}{}", name.to_ascii_uppercase().replace('-', "_"));
            let shown = data_dir.path().display();
            let sandbox = match (&asked, &running) {
                (Some(url), Some(running)) if url != running => format!(
                    ": the sandbox in {shown}, which has its own keys, runs as {running} and not as {url}"
                ),
                _ => {
                    format!(", or start `corridor sandbox` (no running sandbox in {shown})")
                }
            };
            ClientError::Usage(format!("no {what}: give {flag}{name}{by} or {variable}{sandbox}"))
        };
        let of_sandbox = sandbox.as_ref();
        Ok(Credentials {
            service,
            audience: given.audience.map(|url| url.trim_end_matches('/').to_owned()),
            base_url: address
                .or_else(|| Some(of_sandbox?.base_url.clone()))
                .ok_or_else(|| missing("base URL", "base-url", ""))?,
            access_key: given
                .access_key
                .or_else(|| Some(of_sandbox?.access_key.clone()))
                .ok_or_else(|| missing("access key", "access-key", ""))?,
            secret_key: given
                .secret_key
                .or_else(|| Some(of_sandbox?.secret_key.clone()))
                .ok_or_else(|| missing("secret key", "secret-key", "-file"))?,
        })
    }

    /// The URL that tokens name.
    pub fn audience(&self) -> &str {
        self.audience.as_deref().unwrap_or(&self.base_url)
    }

    /// `roles` of the tokens.
    pub fn roles(&self) -> &'static [&'static str] {
        match self.service {
            Service::Pay => &[],
            Service::Wallet => WALLET_ROLES,
        }
    }

    /// Whether the access key's use marks a test environment (`demobank-test_pay-…`).
    pub fn is_test(&self) -> bool {
        self.access_key
            .split('-')
            .nth(1)
            .is_some_and(|usage| usage.starts_with("test_") || usage.starts_with("mock_"))
    }
}

/// The running sandbox's URL, if there is one.
pub fn sandbox_base_url(data_dir: &DataDir) -> Option<String> {
    data_dir.sandbox().ok().flatten().map(|sandbox| sandbox.base_url().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(
        base_url: Option<&str>,
        access_key: Option<&str>,
        secret: Option<&str>,
    ) -> GivenCredentials {
        GivenCredentials {
            base_url: base_url.map(str::to_owned),
            access_key: access_key.map(str::to_owned),
            secret_key: secret.map(Secret::new),
            audience: None,
        }
    }

    #[test]
    fn the_sandbox_completes_missing_values_for_its_own_url_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = DataDir::at(dir.path());
        let none = Credentials::find(Service::Pay, given(None, None, None), &data_dir)
            .expect_err("no source of credentials");
        assert!(none.to_string().contains("CORRIDOR_BASE_URL"), "{none}");
        let text = r#"{"base_url":"http://127.0.0.1:8480/","payment_access_key":"demo-test_pay-a",
                       "payment_secret_key":"s","wallet_base_url":"http://127.0.0.1:8481/",
                       "wallet_access_key":"demo-test_wallet-b","wallet_secret_key":"w","pid":1}"#;
        std::fs::write(dir.path().join("sandbox.json"), text).expect("written");
        let found = Credentials::find(Service::Pay, given(None, None, None), &data_dir)
            .expect("from the sandbox");
        assert_eq!(
            (found.base_url.as_str(), found.secret_key.expose()),
            ("http://127.0.0.1:8480", "s")
        );
        assert!(found.is_test());
        let mixed = Credentials::find(
            Service::Pay,
            given(None, Some("a-live_pay-b"), Some("t")),
            &data_dir,
        )
        .expect("mixed");
        assert!(!mixed.is_test());
        let other = Credentials::find(
            Service::Pay,
            given(Some("https://pay.example"), None, None),
            &data_dir,
        );
        let message = other.expect_err("another address").to_string();
        assert!(message.contains("CORRIDOR_ACCESS_KEY"), "{message}");
        // The same server under another name has other tokens.
        assert!(
            message.contains("runs as http://127.0.0.1:8480 and not as https://pay.example")
                && !message.contains("no running sandbox"),
            "{message}"
        );
        let wallet = Credentials::find(Service::Wallet, given(None, None, None), &data_dir)
            .expect("from the sandbox");
        assert_eq!(
            (wallet.base_url.as_str(), wallet.secret_key.expose()),
            ("http://127.0.0.1:8481", "w")
        );
        assert_eq!(
            (wallet.access_key.as_str(), wallet.roles()),
            ("demo-test_wallet-b", WALLET_ROLES)
        );
        assert!(wallet.is_test());
        let other = Credentials::find(
            Service::Wallet,
            given(Some("https://w.example"), None, None),
            &data_dir,
        );
        let told = other.expect_err("another address").to_string();
        assert!(
            told.contains("CORRIDOR_WALLET_ACCESS_KEY") && told.contains("--wallet-access-key"),
            "{told}"
        );
    }
}
