//! The secrets of a destination, in every form in which a server may send them back.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use secrecy::ExposeSecret as _;

use super::settings::{Authentication, Grant, Proxy, Settings, Signing};

/// A shorter text may occur in an answer by chance.
const SECRET_MIN_BYTES: usize = 6;
const MASK: &str = "***";

#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(MASK)
    }
}

impl Secrets {
    pub(super) fn of(settings: &Settings, addresses: &[Url]) -> Secrets {
        let mut secrets = Secrets::default();
        match &settings.authentication {
            Authentication::None => {}
            Authentication::Basic { user, password } => {
                secrets.add(password.expose_secret());
                secrets.add(&format!("{user}:{}", password.expose_secret()));
            }
            Authentication::Bearer(token) => secrets.add(token.expose_secret()),
            Authentication::Header { value, .. } | Authentication::Query { value, .. } => {
                secrets.add(value.expose_secret());
            }
            Authentication::OAuth2(oauth) => {
                secrets.add(oauth.client_secret.expose_secret());
                secrets.add(&super::oauth::pair(&oauth.client_id, &oauth.client_secret));
                if let Grant::Password { password, .. } = &oauth.grant {
                    secrets.add(password.expose_secret());
                }
            }
        }
        if let Some(Signing::Hmac { secret, .. }) = &settings.signing {
            secrets.add(secret.expose_secret());
        }
        if let Proxy::Url(url) = &settings.proxy
            && let Ok(url) = Url::parse(url.expose_secret())
        {
            secrets.add_userinfo(&url);
        }
        for url in addresses {
            secrets.add_userinfo(url);
            url.query_pairs().for_each(|(_, value)| secrets.add(&value));
            url.query().into_iter().for_each(|query| secrets.add(query));
        }
        secrets
    }

    fn add_userinfo(&mut self, url: &Url) {
        let Some(password) = url.password() else { return };
        self.add(password);
        self.add(&format!("{}:{password}", url.username()));
    }

    /// Adds a secret as it is, in Base64, percent-encoded and as in a form.
    pub(super) fn add(&mut self, secret: &str) {
        if secret.len() < SECRET_MIN_BYTES {
            return;
        }
        let encoded = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
        self.0.extend([secret.to_owned(), STANDARD.encode(secret), encoded]);
        if let Ok(mut form) = Url::parse("http://form") {
            form.query_pairs_mut().append_key_only(secret);
            self.0.extend(form.query().map(str::to_owned));
        }
    }

    pub(super) fn mask(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| match text.contains(secret) {
            true => text.replace(secret, MASK),
            false => text,
        })
    }

    pub(super) fn mask_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let occurs =
            |secret: &String| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        match self.0.iter().any(occurs) {
            true => self.mask(String::from_utf8_lossy(&bytes).into_owned()).into_bytes(),
            false => bytes,
        }
    }
}
