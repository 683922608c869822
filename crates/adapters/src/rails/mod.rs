//! Rails that speak ISO 20022: messages out (pain.001, pacs.028), reports in (pain.002, pacs.002, camt.052, camt.053,
//! camt.054, pacs.004, camt.029, in every version), over HTTPS or over a directory that the bank's host-to-host software shares with us.
//!
//! A rail never decides anything about money and never repeats a message of its own accord: it says what certainly
//! happened to it, and everything else is [`Submission::Indeterminate`]. What a bank answers is untrusted input.

mod answers;
mod camt053;
mod camt054;
mod directory;
mod https;
mod iso;
mod kinds;
mod pacs004;
mod pacs028;
mod pain001;
mod pain002;
mod refs;
mod reports;
pub(crate) mod text;
mod xml_read;
mod xml_write;

use std::path::PathBuf;
use std::time::Duration;

use domain::ports::{Answer, Rail};
use domain::rail::{Inquiry, InquiryAnswer, Instruction, RailFault, RailId, Reports, Submission};
use domain::rail_text::CharacterSet;
use secrecy::SecretString;

use directory::DirectoryTransport;
use https::HttpsTransport;

/// The largest message that is read from a rail, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Who we are to the bank: the same in every message of a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurSide {
    /// Name of the initiating party, which is also the debtor: the holder of the account that pays.
    pub initiating_party: String,
    /// Number of the account that pays (`DbtrAcct/Id/Othr/Id`).
    pub debtor_account: String,
    /// Id of the bank that holds it (`DbtrAgt/FinInstnId/Othr/Id`).
    pub debtor_agent: String,
    /// The bank's name for the clearing to use (`PmtTpInf/LclInstrm/Prtry`); `None` leaves it to the bank.
    pub local_instrument: Option<String>,
    /// The characters that the bank takes.
    pub character_set: CharacterSet,
}

/// A rail that is reached over HTTPS.
#[derive(Clone, Debug)]
pub struct HttpsConfig {
    /// The rail.
    pub rail: RailId,
    /// Base URL; `/payments`, `/inquiries` and `/reports` are appended.
    pub url: String,
    /// Sent as `Authorization: Bearer …`.
    pub bearer: Option<SecretString>,
    /// Us.
    pub ours: OurSide,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for a whole answer, the connection included.
    pub request_timeout: Duration,
    /// How long the bank may hold a request for reports while it has none (whole seconds).
    pub report_wait: Duration,
}

/// A rail that is reached through files.
#[derive(Clone, Debug)]
pub struct DirectoryConfig {
    /// The rail.
    pub rail: RailId,
    /// The shared directory, with `out` (ours) and `in` (the bank's). Missing parts are created.
    pub dir: PathBuf,
    /// Us.
    pub ours: OurSide,
    /// The names of the bank's files, as patterns of `*` and `?`, without regard to case.
    pub report_files: Vec<String>,
    /// How long to watch for new files while there are none.
    pub report_wait: Duration,
}

/// Why a rail cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The URL does not parse, is not http(s), or carries a query, a fragment or credentials.
    #[error("rail {rail}: url: must be an http(s) URL without credentials, query and fragment")]
    Url {
        /// The rail.
        rail: RailId,
    },
    /// The token holds characters that no HTTP header may carry.
    #[error("rail {rail}: bearer: is not a valid header value")]
    Bearer {
        /// The rail.
        rail: RailId,
    },
    /// The HTTP client could not be built.
    #[error("rail {rail}: HTTP client")]
    Client {
        /// The rail.
        rail: RailId,
        /// The cause.
        source: reqwest::Error,
    },
    /// A directory is missing and cannot be created.
    #[error("rail {rail}: directory {}", path.display())]
    Directory {
        /// The rail.
        rail: RailId,
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// One ISO 20022 rail over either transport.
pub struct IsoRail {
    id: RailId,
    ours: OurSide,
    transport: Transport,
}

enum Transport {
    Https(Box<HttpsTransport>),
    Directory(DirectoryTransport),
}

impl IsoRail {
    /// A rail over HTTPS. A TLS provider must be installed in the process before.
    pub fn https(config: HttpsConfig) -> Result<IsoRail, SetupError> {
        let transport = Transport::Https(Box::new(HttpsTransport::new(&config)?));
        Ok(IsoRail { id: config.rail, ours: config.ours, transport })
    }

    /// A rail over a shared directory, whose parts are created where they are missing (blocking: for start-up).
    pub fn directory(config: DirectoryConfig) -> Result<IsoRail, SetupError> {
        let transport = Transport::Directory(DirectoryTransport::new(&config)?);
        Ok(IsoRail { id: config.rail, ours: config.ours, transport })
    }

    async fn send(&self, batch: &[Instruction]) -> Vec<Submission> {
        if batch.is_empty() {
            return Vec::new();
        }
        let message = pain001::write(&self.id, &self.ours, batch);
        let id = message.id.clone();
        match &self.transport {
            Transport::Https(https) => answers::submissions(&self.id, &id, batch, https.pay(message).await),
            Transport::Directory(directory) => vec![directory.pay(message).await; batch.len()],
        }
    }

    async fn ask(&self, attempts: &[Inquiry]) -> Vec<InquiryAnswer> {
        if attempts.is_empty() {
            return Vec::new();
        }
        let message = pacs028::write(attempts);
        match &self.transport {
            Transport::Https(https) => answers::inquiries(&self.id, attempts, https.inquire(message).await),
            Transport::Directory(directory) => vec![directory.inquire(message).await; attempts.len()],
        }
    }

    async fn fetch(&self, cursor: Option<&str>) -> Result<Reports, RailFault> {
        match &self.transport {
            Transport::Https(https) => https.collect(cursor).await,
            Transport::Directory(directory) => directory.collect(cursor).await,
        }
        .map_err(|reason| RailFault { rail: self.id.clone(), reason })
    }
}

impl Rail for IsoRail {
    fn id(&self) -> &RailId {
        &self.id
    }

    fn message_id(&self, batch: &[Instruction]) -> Option<String> {
        Some(pain001::message_id(&self.id, batch))
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> Answer<'a, Vec<Submission>> {
        Box::pin(self.send(batch))
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> Answer<'a, Vec<InquiryAnswer>> {
        Box::pin(self.ask(attempts))
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> Answer<'a, Result<Reports, RailFault>> {
        Box::pin(self.fetch(cursor))
    }
}

/// A message on its way out.
struct Message {
    /// Its MsgId, at most 35 characters of `[0-9a-f-]`.
    id: String,
    /// The document.
    xml: String,
}
