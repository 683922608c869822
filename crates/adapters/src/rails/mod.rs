//! Rails over ISO 20022: messages out (pain.001, pacs.028, camt.056), reports in (pain.002, pacs.002,
//! camt.052, camt.053, camt.054, pacs.004, camt.029, camt.056, in every version), over HTTPS or over a
//! directory shared with the bank's host-to-host software; and rails through a connector, for banks with
//! an API of their own.
//!
//! A rail makes no decisions about money and never repeats a message by itself: it reports a
//! definite outcome, and everything else is [`Submission::Indeterminate`]. A bank's answer is
//! untrusted input.

mod answers;
mod camt029;
mod camt053;
mod camt054;
mod camt056;
pub mod connector;
mod directory;
mod exchange;
mod https;
mod iso;
mod kinds;
mod pacs004;
mod pacs028;
mod pain001;
mod pain002;
mod preview;
pub mod profile;
mod refs;
mod reports;
#[cfg(test)]
mod scripted;
pub(crate) mod text;
mod xml_read;
mod xml_write;

use std::path::PathBuf;
use std::time::Duration;

use domain::ports::{Answer, Rail};
use domain::rail::{
    Inquiry, InquiryAnswer, Instruction, RailFault, RailId, RecallRequest, Reports, Submission,
};
use domain::rail_text::CharacterSet;

use directory::DirectoryTransport;
use https::HttpsTransport;
use pain001::PaymentWriter;
use profile::{Account, Agent, Profile};

pub use preview::{Preview, preview};
pub use text::alpha2;

use crate::outbound;
use crate::webhooks::SecretFault;

/// Maximum size of a message read from a rail, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Corridor's identity at the bank, and how the bank wants its messages: the same in every message
/// of a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurSide {
    /// Name of the debtor: the holder of the debited account.
    pub debtor_name: String,
    /// The debited account.
    pub debtor_account: Account,
    /// The bank that holds the account.
    pub debtor_agent: Agent,
    /// The character set that the bank accepts.
    pub character_set: CharacterSet,
    pub profile: Profile,
}

/// A rail over HTTPS.
#[derive(Clone, Debug)]
pub struct HttpsConfig {
    pub rail: RailId,
    /// Base URL; `/payments`, `/inquiries`, `/recalls` and `/reports` are appended.
    pub url: String,
    /// How it is reached.
    pub outbound: outbound::Settings,
    /// The account that payouts are debited from.
    pub ours: OurSide,
    /// Long-polling time of a request for reports (whole seconds).
    pub report_wait: Duration,
}

/// A rail over files.
#[derive(Clone, Debug)]
pub struct DirectoryConfig {
    pub rail: RailId,
    /// The shared directory, with `out` (outgoing) and `in` (the bank's files). Created if missing.
    pub dir: PathBuf,
    /// The account that payouts are debited from.
    pub ours: OurSide,
    /// Names of the bank's files, as case-insensitive patterns of `*` and `?`.
    pub report_files: Vec<String>,
    /// How long to poll for new files.
    pub report_wait: Duration,
}

/// Why a rail cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The URL does not parse, is not http(s), or carries a query, a fragment or credentials.
    #[error("rail {rail}: url: must be an http(s) URL without credentials, query and fragment")]
    Url { rail: RailId },
    /// The settings of its connection are not usable.
    #[error("rail {rail}: {source}")]
    Outbound { rail: RailId, source: outbound::SetupError },
    /// The secret of its callbacks is not one.
    #[error("rails.{rail}.callback_secret: {source}")]
    CallbackSecret { rail: RailId, source: SecretFault },
    /// A directory is missing and cannot be created.
    #[error("rail {rail}: directory {}", path.display())]
    Directory { rail: RailId, path: PathBuf, source: std::io::Error },
}

/// One ISO 20022 rail over either transport.
pub struct IsoRail {
    writer: PaymentWriter,
    transport: Transport,
}

enum Transport {
    Https(Box<HttpsTransport>),
    Directory(DirectoryTransport),
}

impl IsoRail {
    /// A rail over HTTPS.
    pub fn https(config: HttpsConfig) -> Result<IsoRail, SetupError> {
        let transport = Transport::Https(Box::new(HttpsTransport::new(&config)?));
        Ok(IsoRail { writer: PaymentWriter { rail: config.rail, ours: config.ours }, transport })
    }

    /// A rail over a shared directory, which is created if missing (blocking: for startup).
    pub fn directory(config: DirectoryConfig) -> Result<IsoRail, SetupError> {
        let transport = Transport::Directory(DirectoryTransport::new(&config)?);
        Ok(IsoRail { writer: PaymentWriter { rail: config.rail, ours: config.ours }, transport })
    }

    async fn send(&self, batch: &[Instruction]) -> Vec<Submission> {
        if batch.is_empty() {
            return Vec::new();
        }
        let message = self.writer.write(batch);
        let id = message.id.clone();
        match &self.transport {
            Transport::Https(https) => {
                answers::submissions(&self.writer.rail, &id, batch, https.pay(message).await)
            }
            Transport::Directory(directory) => {
                let date = self.writer.date(batch);
                vec![directory.pay(message, date).await; batch.len()]
            }
        }
    }

    async fn ask(&self, attempts: &[Inquiry]) -> Vec<InquiryAnswer> {
        if attempts.is_empty() {
            return Vec::new();
        }
        let message = pacs028::write(&self.writer.ours.profile, attempts);
        match &self.transport {
            Transport::Https(https) => {
                answers::inquiries(&self.writer.rail, attempts, https.inquire(message).await)
            }
            Transport::Directory(directory) => {
                vec![directory.inquire(message).await; attempts.len()]
            }
        }
    }

    async fn ask_back(&self, request: &RecallRequest) -> Submission {
        let message = camt056::write(&self.writer.ours, request);
        match &self.transport {
            Transport::Https(https) => {
                answers::recall(&self.writer.rail, request, https.recall(message).await)
            }
            Transport::Directory(directory) => directory.recall(message).await,
        }
    }

    async fn fetch(&self, cursor: Option<&str>) -> Result<Reports, RailFault> {
        match &self.transport {
            Transport::Https(https) => https.collect(cursor).await,
            Transport::Directory(directory) => directory.collect(cursor).await,
        }
        .map_err(|reason| RailFault { rail: self.writer.rail.clone(), reason })
    }
}

/// Whether a rail's directory can be used: writes and removes a hidden file in `out`, which the bank's
/// software ignores, and counts the files in `in` without reading them. Blocking.
pub fn probe_directory(dir: &std::path::Path) -> std::io::Result<usize> {
    directory::probe(dir)
}

impl Rail for IsoRail {
    fn id(&self) -> &RailId {
        &self.writer.rail
    }

    fn message_id(&self, batch: &[Instruction]) -> Option<String> {
        Some(self.writer.message_id(batch))
    }

    fn split(&self, batch: &[Instruction]) -> Vec<usize> {
        self.writer.split(batch)
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> Answer<'a, Vec<Submission>> {
        Box::pin(self.send(batch))
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> Answer<'a, Vec<InquiryAnswer>> {
        Box::pin(self.ask(attempts))
    }

    fn recall<'a>(&'a self, request: &'a RecallRequest) -> Answer<'a, Submission> {
        Box::pin(self.ask_back(request))
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> Answer<'a, Result<Reports, RailFault>> {
        Box::pin(self.fetch(cursor))
    }
}

struct Message {
    /// Its MsgId, at most 35 characters of `[0-9a-f-]`.
    id: String,
    xml: String,
}
