//! The commands' data directory: the running sandbox's file, and the results of the last commands.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use http_api::auth::Service;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::credentials::Credentials;
use super::error::ClientError;
use config::Secret;

const SANDBOX_FILE: &str = "sandbox.json";
const LAST_QUOTE_FILE: &str = "last-quote.json";
const LAST_PAYMENT_FILE: &str = "last-payment.json";

/// The directory that holds the client's files.
#[derive(Clone, Debug)]
pub struct DataDir(PathBuf);

/// The output of `corridor sandbox --output json`, which the running sandbox also writes to its
/// file.
#[derive(Clone, Debug, Deserialize)]
pub struct Sandbox {
    base_url: String,
    /// ACCESS KEY of the payment API.
    pub payment_access_key: String,
    /// SECRET KEY of the payment API.
    pub payment_secret_key: Secret,
    /// All members that this type does not name.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

impl Sandbox {
    /// `{base_url}` without a trailing slash.
    pub fn base_url(&self) -> &str {
        self.base_url.trim_end_matches('/')
    }

    /// URL and keys of one of the two services.
    pub(super) fn credentials(&self, service: Service) -> Option<Credentials> {
        let text = |name: &str| self.others.get(name)?.as_str().map(str::to_owned);
        Some(match service {
            Service::Pay => Credentials {
                service,
                base_url: self.base_url().to_owned(),
                access_key: self.payment_access_key.clone(),
                secret_key: self.payment_secret_key.clone(),
                audience: None,
            },
            Service::Wallet => Credentials {
                service,
                base_url: text("wallet_base_url")?.trim_end_matches('/').to_owned(),
                access_key: text("wallet_access_key")?,
                secret_key: Secret::new(text("wallet_secret_key")?),
                audience: None,
            },
        })
    }
}

/// The quote of the last `corridor quote`.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastQuote {
    /// The URL where it was made.
    pub base_url: String,
    /// The quote as the API answered it.
    pub quote: Box<RawValue>,
    /// The beneficiary account of the quote, which the payment must name.
    pub account: Option<String>,
    /// The branch of the quote, which the payment must name.
    pub branch: Option<String>,
}

/// The payment of the last `corridor pay`.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastPayment {
    /// The URL where it was made.
    pub base_url: String,
    pub id: String,
    pub country: String,
}

impl DataDir {
    /// Uses the directory at `path`.
    pub fn at(path: impl Into<PathBuf>) -> DataDir {
        DataDir(path.into())
    }

    /// The given one, else `$XDG_DATA_HOME/corridor`, else `~/.local/share/corridor`.
    pub fn find(given: Option<PathBuf>) -> Result<DataDir, ClientError> {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        given
            .filter(|path| !path.as_os_str().is_empty())
            .or_else(|| variable("XDG_DATA_HOME").map(|home| home.join("corridor")))
            .or_else(|| variable("HOME").map(|home| home.join(".local/share/corridor")))
            .map(DataDir)
            .ok_or_else(|| {
                ClientError::Usage(
                    "no data directory: give --data-dir or CORRIDOR_DATA_DIR".to_owned(),
                )
            })
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Creates it, for its owner only, if it is missing.
    pub fn create(&self) -> Result<(), ClientError> {
        let mut directory = std::fs::DirBuilder::new();
        directory.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
        directory.create(&self.0).map_err(|error| {
            ClientError::Usage(format!("{}: cannot be created: {error}", self.0.display()))
        })
    }

    /// The path of the running sandbox's file.
    pub fn sandbox_file(&self) -> PathBuf {
        self.0.join(SANDBOX_FILE)
    }

    /// The running sandbox's file, if there is one.
    pub fn sandbox(&self) -> Result<Option<Sandbox>, ClientError> {
        self.read(SANDBOX_FILE)
    }

    pub fn last_quote(&self) -> Result<Option<LastQuote>, ClientError> {
        self.read(LAST_QUOTE_FILE)
    }

    pub fn last_payment(&self) -> Result<Option<LastPayment>, ClientError> {
        self.read(LAST_PAYMENT_FILE)
    }

    /// Stores a quote for `corridor pay`.
    pub fn remember_quote(&self, quote: &LastQuote) -> Result<(), ClientError> {
        self.write(LAST_QUOTE_FILE, quote)
    }

    /// Stores a payment for `corridor payments watch last`.
    pub fn remember_payment(&self, payment: &LastPayment) -> Result<(), ClientError> {
        self.write(LAST_PAYMENT_FILE, payment)
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, ClientError> {
        let path = self.0.join(name);
        let failed = |why: String| ClientError::Usage(format!("{}: {why}", path.display()));
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                serde_json::from_str(&text).map(Some).map_err(|error| failed(error.to_string()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), ClientError> {
        let path = self.0.join(name);
        let failed = |why: String| ClientError::Usage(format!("{}: {why}", path.display()));
        let text = serde_json::to_string(value).map_err(|error| failed(error.to_string()))?;
        write_private(&path, &text).map_err(|error| failed(error.to_string()))
    }
}

/// Writes a file that only its owner can read, atomically; creates its directory if missing.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let temporary = path.with_extension(format!("{}.part", uuid::Uuid::new_v4().simple()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() && temporary.exists() {
        std::fs::remove_file(&temporary)?;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_be_created_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let below = file.path().join("corridor");
        let message = DataDir::at(&below).create().expect_err("a file is in the way").to_string();
        let begins = format!("{}: cannot be created: ", below.display());
        assert!(message.starts_with(&begins), "{message}");
    }

    #[test]
    fn stored_results_are_private_and_read_back_exactly() {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = DataDir::at(dir.path().join("new/corridor"));
        assert!(data_dir.last_quote().expect("reads").is_none());
        let quote = RawValue::from_string(r#"{"rate":75.824100000001}"#.to_owned()).expect("JSON");
        let last =
            LastQuote { base_url: "http://x".to_owned(), quote, account: None, branch: None };
        data_dir.remember_quote(&last).expect("written");
        data_dir.remember_quote(&last).expect("written again");
        let read = data_dir.last_quote().expect("reads").expect("there");
        assert_eq!(read.quote.get(), r#"{"rate":75.824100000001}"#);
        #[cfg(unix)]
        {
            let mode = std::fs::metadata(data_dir.path().join(LAST_QUOTE_FILE))
                .expect("there")
                .permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
        }
        assert_eq!(
            std::fs::read_dir(data_dir.path()).expect("a directory").count(),
            1,
            "no part is left behind"
        );
    }
}
