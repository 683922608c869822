//! Rails over ISO 20022: messages out (pain.001, pacs.028, camt.055 or camt.056), reports in (pain.002, pacs.002,
//! camt.052, camt.053, camt.054, pacs.004, camt.029, camt.056, in every version), over HTTPS, a
//! directory shared with the bank's host-to-host software, or the bank's SFTP server; and rails through
//! a connector, for banks with an API of their own.
//!
//! A rail makes no decisions about money and never repeats a message by itself: it reports a
//! definite outcome, and everything else is [`Submission::Indeterminate`]. A bank's answer is
//! untrusted input.

mod accounts;
mod answers;
mod camt029;
mod camt053;
mod camt054;
mod camt056;
pub mod connector;
mod elsewhere;
mod exchange;
mod files;
mod first_version;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod https;
mod iso;
mod kinds;
mod pacs004;
mod pacs028;
mod pain001;
mod pain002;
mod preview;
pub mod profile;
mod recall;
mod refs;
mod reports;
#[cfg(test)]
mod scripted;
pub(crate) mod text;
pub(crate) mod xml_read;
mod xml_write;

use std::path::PathBuf;
use std::time::Duration;

use domain::ports::{BoxFuture, Rail};
use domain::rail::{
    Inquiry, InquiryAnswer, Instruction, RailFault, RailId, RecallRequest, Reports, Submission,
};
use domain::rail_text::CharacterSet;
use domain::time::Timestamp;

use files::FileTransport;
use https::HttpsTransport;
use pain001::PaymentWriter;
use profile::{Account, Agent, Profile};

pub use files::{AcknowledgementSettings, Probed, is_acknowledgement_name, probe as probe_files};
pub use preview::{Preview, preview};
pub use recall::RECALL_MESSAGES;
pub use text::alpha2;

use crate::webhooks::SecretFault;
use crate::{outbound, pgp, sftp};

/// Maximum size of a message read from a rail, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Corridor's identity at the bank, and how the bank wants its messages: the same in every message
/// of a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurSide {
    /// Name of the debtor: the holder of the debited account.
    pub debtor_name: String,
    /// The account that payouts are debited from.
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

/// Time in which a file that is not complete, or matches no pattern, may still be written to or
/// renamed.
pub const FILE_GRACE: Duration = Duration::from_secs(60);

/// A rail over files.
#[derive(Clone, Debug)]
pub struct FilesConfig {
    pub rail: RailId,
    pub exchange: Exchange,
    /// The account that payouts are debited from.
    pub ours: OurSide,
    /// Names of the bank's files, as case-insensitive patterns of `*` and `?`.
    pub report_files: Vec<String>,
    /// How long to wait for new files.
    pub report_wait: Duration,
    /// Time in which a file may still be written to, or renamed: [`FILE_GRACE`] outside tests.
    pub grace: Duration,
    pub pgp: Option<pgp::Settings>,
    pub acknowledgements: Option<AcknowledgementSettings>,
}

impl FilesConfig {
    /// Reads the keys of the login and of PGP, which a start needs; returns when the first key of PGP
    /// expires. Blocking.
    ///
    /// # Errors
    /// A key is missing, wrong, or not valid now.
    pub fn usable_keys(&self) -> Result<Option<Timestamp>, SetupError> {
        self.check_login()?;
        Ok(self.pgp()?.and_then(|pgp| pgp.expires()))
    }

    fn check_login(&self) -> Result<(), SetupError> {
        let Exchange::Sftp(sftp) = &self.exchange else { return Ok(()) };
        let failed = |cause| SetupError::Sftp { rail: self.rail.clone(), cause };
        sftp.server.check().map_err(failed)
    }

    fn pgp(&self) -> Result<Option<pgp::Pgp>, SetupError> {
        let pgp = self.pgp.as_ref().map(pgp::Pgp::new).transpose();
        pgp.map_err(|cause| SetupError::Pgp { rail: self.rail.clone(), cause })
    }
}

/// Where files are exchanged.
#[derive(Clone, Debug)]
pub enum Exchange {
    /// A shared directory, with `out` (outgoing) and `in` (the bank's files). Created if missing.
    Directory(PathBuf),
    Sftp(Box<SftpConfig>),
}

/// An exchange on the bank's server.
#[derive(Clone, Debug)]
pub struct SftpConfig {
    pub server: sftp::Settings,
    /// Directories of the server: outgoing files, the bank's files, and where those are moved.
    pub out: PathBuf,
    pub reports: PathBuf,
    pub archive: PathBuf,
    pub unreadable: PathBuf,
    /// Time between two looks at the bank's files.
    pub poll: Duration,
    /// A directory of this installation, shared by its nodes, for the numbers of files and awaited
    /// acknowledgements.
    pub state: Option<PathBuf>,
}

/// Why a rail cannot be set up. A cause that the message states is not a source, too: with its chain of
/// sources, the message would state it twice.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The URL does not parse, is not http(s), or carries a query, a fragment or credentials.
    #[error("rail {rail}: url: must be an http(s) URL without credentials, query and fragment")]
    Url { rail: RailId },
    /// The settings of its connection are not usable.
    #[error("rail {rail}: {cause}")]
    Outbound { rail: RailId, cause: outbound::SetupError },
    /// The secret of its callbacks is not one.
    #[error("rails.{rail}.callback_secret: {cause}")]
    CallbackSecret { rail: RailId, cause: SecretFault },
    /// A directory is missing and cannot be created.
    #[error("rail {rail}: directory {}", path.display())]
    Directory { rail: RailId, path: PathBuf, source: std::io::Error },
    /// The key of an SFTP login is not usable.
    #[error("rail {rail}: sftp: {cause}")]
    Sftp { rail: RailId, cause: std::io::Error },
    /// A PGP key is not usable.
    #[error("rail {rail}: pgp: {cause}")]
    Pgp { rail: RailId, cause: pgp::SetupError },
}

/// One ISO 20022 rail over either transport.
pub struct IsoRail {
    writer: PaymentWriter,
    transport: Transport,
}

enum Transport {
    Https(Box<HttpsTransport>),
    Files(Box<FileTransport>),
}

impl IsoRail {
    /// A rail over HTTPS.
    pub fn https(config: HttpsConfig) -> Result<IsoRail, SetupError> {
        let transport = Transport::Https(Box::new(HttpsTransport::new(&config)?));
        Ok(IsoRail { writer: PaymentWriter { rail: config.rail, ours: config.ours }, transport })
    }

    /// A rail over files. A shared directory is created if missing; a server is not called yet
    /// (blocking: for startup).
    pub fn files(config: FilesConfig) -> Result<IsoRail, SetupError> {
        let transport = Transport::Files(Box::new(FileTransport::new(&config)?));
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
            Transport::Files(files) => {
                let date = self.writer.date(batch);
                vec![files.pay(message, date).await; batch.len()]
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
            Transport::Files(files) => {
                vec![files.inquire(message).await; attempts.len()]
            }
        }
    }

    async fn ask_back(&self, request: &RecallRequest) -> Submission {
        let message = recall::write(&self.writer.ours, request);
        match &self.transport {
            Transport::Https(https) => {
                answers::recall(&self.writer.rail, request, https.recall(message).await)
            }
            Transport::Files(files) => files.recall(message).await,
        }
    }

    async fn fetch(&self, cursor: Option<&str>) -> Result<Reports, RailFault> {
        match &self.transport {
            Transport::Https(https) => https.collect(cursor).await,
            Transport::Files(files) => files.collect(cursor).await,
        }
        .map(|mut page| {
            accounts::keep_ours(&mut page, &self.writer.ours.debtor_account);
            page
        })
        .map_err(|reason| self.fault(reason))
    }

    async fn confirm(&self) -> Result<(), RailFault> {
        match &self.transport {
            Transport::Https(_) => Ok(()),
            Transport::Files(files) => {
                files.confirm_stored().await.map_err(|reason| self.fault(reason))
            }
        }
    }

    fn fault(&self, reason: String) -> RailFault {
        RailFault { rail: self.writer.rail.clone(), reason }
    }
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

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        Box::pin(self.send(batch))
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        Box::pin(self.ask(attempts))
    }

    fn recall<'a>(&'a self, request: &'a RecallRequest) -> BoxFuture<'a, Submission> {
        Box::pin(self.ask_back(request))
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        Box::pin(self.fetch(cursor))
    }

    fn confirm_stored(&self) -> BoxFuture<'_, Result<(), RailFault>> {
        Box::pin(self.confirm())
    }
}

struct Message {
    /// Its MsgId, at most 35 characters of `[0-9a-f-]`.
    id: String,
    xml: String,
}
