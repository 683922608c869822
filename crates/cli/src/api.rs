//! Options and helpers of the commands that call the API as a user.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use clap::Args;
use domain::country::Country;
use domain::iban::{self, Iban};
use http_api::auth::Service;

use super::failure::Failure;
use super::output;
pub use client::segment;
use client::{Client, ClientError, Credentials, DataDir, GivenCredentials};
use config::Secret;

/// Consecutive rate-limit answers that are tolerated.
const RATE_WAITS_MAX: u32 = 5;
/// Minimum and maximum wait after a rate-limit answer: windows last a minute.
const RATE_WAIT_MIN: Duration = Duration::from_secs(1);
const RATE_WAIT_MAX: Duration = Duration::from_secs(65);

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection (default: the running sandbox)")]
pub struct ApiArgs {
    /// Base URL of the API
    #[arg(long, env = "CORRIDOR_BASE_URL", value_name = "URL")]
    base_url: Option<String>,
    /// Audience of tokens, the service's http.public_url [default: the API URL]
    #[arg(long, env = "CORRIDOR_AUDIENCE", value_name = "URL")]
    audience: Option<String>,
    /// Access key, as shown by `corridor keys list`
    #[arg(long, env = "CORRIDOR_ACCESS_KEY", value_name = "KEY", hide_env_values = true)]
    access_key: Option<String>,
    /// Secret key (better: --secret-key-file or the variable; other users can see arguments)
    #[arg(long, env = "CORRIDOR_SECRET_KEY", value_name = "KEY", hide_env_values = true)]
    secret_key: Option<String>,
    /// File with the secret key
    #[arg(
        long,
        env = "CORRIDOR_SECRET_KEY_FILE",
        value_name = "FILE",
        conflicts_with = "secret_key"
    )]
    secret_key_file: Option<PathBuf>,
}

impl ApiArgs {
    /// As after `--base-url` alone.
    #[cfg(test)]
    pub fn of(base_url: &str) -> ApiArgs {
        ApiArgs { base_url: Some(base_url.to_owned()), ..ApiArgs::default() }
    }

    /// The given options as the client's credentials.
    pub fn given(&self) -> Result<GivenCredentials, Failure> {
        given(
            (&self.base_url, &self.audience),
            &self.access_key,
            &self.secret_key,
            &self.secret_key_file,
        )
    }

    /// The credentials, completed from the running sandbox.
    pub fn credentials(&self, data_dir: &DataDir) -> Result<Credentials, Failure> {
        Ok(Credentials::find(Service::Pay, self.given()?, data_dir)?)
    }

    /// A client with them.
    pub fn client(&self, data_dir: &DataDir) -> Result<Client, Failure> {
        Ok(Client::new(self.credentials(data_dir)?)?)
    }
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Wallet service (default: the running sandbox)")]
pub struct WalletApiArgs {
    /// Base URL of the wallet API
    #[arg(long, env = "CORRIDOR_WALLET_BASE_URL", value_name = "URL")]
    wallet_base_url: Option<String>,
    /// Audience of tokens, the service's http.public_url [default: `CORRIDOR_AUDIENCE`, else the
    /// wallet API URL]
    #[arg(long, env = "CORRIDOR_WALLET_AUDIENCE", value_name = "URL")]
    wallet_audience: Option<String>,
    /// Wallet access key, as shown by `corridor keys list`
    #[arg(long, env = "CORRIDOR_WALLET_ACCESS_KEY", value_name = "KEY", hide_env_values = true)]
    wallet_access_key: Option<String>,
    /// Wallet secret key (better: --wallet-secret-key-file or the variable; other users can see
    /// arguments)
    #[arg(long, env = "CORRIDOR_WALLET_SECRET_KEY", value_name = "KEY", hide_env_values = true)]
    wallet_secret_key: Option<String>,
    /// File with the wallet secret key
    #[arg(
        long,
        env = "CORRIDOR_WALLET_SECRET_KEY_FILE",
        value_name = "FILE",
        conflicts_with = "wallet_secret_key"
    )]
    wallet_secret_key_file: Option<PathBuf>,
}

impl WalletApiArgs {
    /// A client of the wallet service.
    pub fn client(&self, data_dir: &DataDir) -> Result<Client, Failure> {
        // Both services have one public URL.
        let audience =
            self.wallet_audience.clone().or_else(|| std::env::var("CORRIDOR_AUDIENCE").ok());
        let given = given(
            (&self.wallet_base_url, &audience),
            &self.wallet_access_key,
            &self.wallet_secret_key,
            &self.wallet_secret_key_file,
        )?;
        Ok(Client::new(Credentials::find(Service::Wallet, given, data_dir)?)?)
    }
}

/// The option's value; an empty one counts as not given.
fn given(
    (base_url, audience): (&Option<String>, &Option<String>),
    access_key: &Option<String>,
    secret_key: &Option<String>,
    secret_key_file: &Option<PathBuf>,
) -> Result<GivenCredentials, Failure> {
    let secret_key = match (secret_key, secret_key_file) {
        (Some(key), _) => Some(Secret::new(key)),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
            Some(Secret::new(text.trim_end_matches(['\r', '\n'])))
        }
        (None, None) => None,
    };
    let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Ok(GivenCredentials {
        base_url: some(base_url),
        audience: some(audience),
        access_key: some(access_key),
        secret_key: secret_key.filter(|key| !key.is_empty()),
    })
}

/// Parses `--country`: alpha-3, case-insensitive.
pub fn country(text: &str) -> Result<Country, String> {
    let known = || format!("must be one of {}", Country::ALL.map(Country::alpha3).join(", "));
    Country::parse(&text.to_ascii_uppercase()).ok_or_else(known)
}

/// Where a payment goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub country: Country,
    /// The beneficiary's account, if it was given by its IBAN.
    pub iban: Option<String>,
}

/// Reads a destination: a country, or an IBAN of one.
pub fn destination(text: &str) -> Result<Destination, String> {
    let number = iban::normalised(text);
    if !iban::is_meant(&number) {
        return Ok(Destination { country: country(text)?, iban: None });
    }
    let of = |country: &Country| Some((*country, iban::shape_of(*country)?.country));
    let known: Vec<(Country, &str)> = Country::ALL.iter().filter_map(of).collect();
    let Some((country, _)) = known.iter().find(|(_, head)| number.starts_with(head)) else {
        let heads = known.iter().map(|(_, head)| *head).collect::<Vec<_>>().join(", ");
        return Err(format!(
            "must be an IBAN that begins with one of {heads}, or a destination country"
        ));
    };
    let iban = Iban::parse(*country, &number).map_err(|error| format!("the IBAN {error}"))?;
    Ok(Destination { country: *country, iban: Some(iban.into_string()) })
}

/// Runs a network command on this thread.
pub fn wait_for<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Usage(format!("async runtime: {error}")))?;
    // Boxed, so that the runtime's code is compiled once per result type and not per command.
    let work: Pin<Box<dyn Future<Output = Result<T, Failure>> + '_>> = Box::pin(work);
    runtime.block_on(work)
}

/// Repeats a call that was rate limited, as long as the answer allows it.
pub async fn patiently<T>(
    mut ask: impl AsyncFnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    for _ in 0..RATE_WAITS_MAX {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Some(wait) = error.retry_after() else { return Err(error) };
        let wait = wait.clamp(RATE_WAIT_MIN, RATE_WAIT_MAX);
        output::remark(&format!("rate limited; retrying in {} s", wait.as_secs()));
        tokio::time::sleep(wait).await;
    }
    ask().await
}

/// GETs an object that is addressed by country: from the given country, else from all seven in
/// turn, because an id alone does not reveal it. `missing` is the error code for "not in this
/// country".
pub async fn get_in_any_country(
    client: &Client,
    path: &str,
    given: Option<Country>,
    more: &[(&str, String)],
    missing: &str,
) -> Result<(Country, String), Failure> {
    let countries = given.map_or_else(|| Country::ALL.to_vec(), |country| vec![country]);
    let mut refusal = None;
    for country in countries {
        let mut query = vec![("country", country.alpha3().to_owned())];
        query.extend_from_slice(more);
        match client.get(path, &query).await {
            Ok(answer) => return Ok((country, answer.body)),
            Err(error) if error.code() == Some(missing) => refusal = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    match (refusal, given) {
        // The service's message names one country; all were searched.
        (Some(_), None) => {
            let all = Country::ALL.map(Country::alpha3).join(", ");
            Err(Failure::Refused(format!("not found in any country ({all}): {missing}")))
        }
        (Some(refusal), Some(_)) => Err(refusal.into()),
        (None, _) => Err(Failure::Usage("no country to look in".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_one_segment() {
        for (id, path) in [("a/b?c#d", "a%2Fb%3Fc%23d"), ("ref 1", "ref%201"), ("0193", "0193")] {
            assert_eq!(segment(id).expect("an id"), path);
        }
        assert!(segment("..").is_err());
    }

    #[test]
    fn countries_read_in_either_case() {
        assert_eq!(country("pak"), Ok(Country::Pak));
        assert!(country("USA").expect_err("none").contains("PAK"));
    }
    #[test]
    fn a_destination_is_a_country_or_an_iban() {
        let iban = |country, text: &str| Destination { country, iban: Some(text.to_owned()) };
        assert_eq!(destination("ind"), Ok(Destination { country: Country::Ind, iban: None }));
        for text in ["PK36SCBL0000001123456702", "pk36 scbl 0000 0011 2345 6702"] {
            assert_eq!(destination(text), Ok(iban(Country::Pak, "PK36SCBL0000001123456702")));
        }
        assert_eq!(
            destination("EG380019000500000000263180002"),
            Ok(iban(Country::Egy, "EG380019000500000000263180002"))
        );
        for (text, part) in [
            ("PK37SCBL0000001123456702", "check digits"),
            ("PK36SCBL000000112345670", "24"),
            ("DE89370400440532013000", "begins with one of EG, PK"),
            ("USA", "must be one of"),
            ("0123456789", "must be one of"),
        ] {
            let message = destination(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
