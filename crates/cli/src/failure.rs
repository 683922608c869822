//! Why a command failed, and its exit code.

use std::process::ExitCode;

use client::ClientError;
use config::{ConfigError, KeyError};
use engine::payments::Denied;
use service::BadConfiguration;
use service::environment::WrongDatabase;
use service::installation::NotInstalled;
use store::StoreError;

use super::output;

/// Why a command failed. Scripts rely on the exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// 1: the API refused, or a check found an error.
    #[error("{0}")]
    Refused(String),
    /// 2: invalid usage, or an invalid file or configuration.
    #[error("{0}")]
    Usage(String),
    /// 3: the service is unreachable or failed.
    #[error("{0}")]
    Unavailable(String),
    /// 4: the watched payment did not succeed, or not in time.
    #[error("{0}")]
    NotSucceeded(String),
    /// 0: the reader closed the output (`| head`); nothing to report.
    #[error("the output was closed")]
    OutputClosed,
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::OutputClosed => 0,
            Failure::Refused(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Unavailable(_) => 3,
            Failure::NotSucceeded(_) => 4,
        }
    }

    /// A refusal, with its causes.
    pub fn refused(error: impl Into<anyhow::Error>) -> Failure {
        Failure::Refused(format!("{:#}", error.into()))
    }

    /// A usage error, with its causes.
    pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure::Usage(format!("{:#}", error.into()))
    }

    /// A failure of the service, with its causes.
    pub fn unavailable(error: impl Into<anyhow::Error>) -> Failure {
        Failure::Unavailable(format!("{:#}", error.into()))
    }

    /// Why a service did not start. What only a change of the configuration mends is a usage error:
    /// service managers do not repeat it.
    pub fn of_start(error: anyhow::Error) -> Failure {
        let is_of_configuration = error.downcast_ref::<BadConfiguration>().is_some()
            || error.downcast_ref::<KeyError>().is_some()
            || error.downcast_ref::<NotInstalled>().is_some()
            || matches!(error.downcast_ref::<StoreError>(), Some(StoreError::Config(_)))
            || matches!(
                error.downcast_ref::<WrongDatabase>(),
                Some(
                    WrongDatabase::OtherEnvironment { .. }
                        | WrongDatabase::OtherKeys { .. }
                        | WrongDatabase::NotUnicode { .. }
                        | WrongDatabase::KeyMissing(_)
                )
            );
        if is_of_configuration { Failure::usage(error) } else { Failure::unavailable(error) }
    }

    /// A store error: a refusal stays a refusal, everything else is a failure.
    pub fn of_store(error: StoreError) -> Failure {
        match error {
            StoreError::NotFound(_) | StoreError::Conflict(_) | StoreError::Rejected(_) => {
                Failure::refused(error)
            }
            other => Failure::unavailable(other),
        }
    }

    /// A refusal of the payment service; a failure if it could not decide.
    pub fn of_payments(denied: Denied) -> Failure {
        match denied {
            Denied::Engine(error) => Failure::unavailable(error),
            Denied::Store(error) => Failure::of_store(error),
            other => Failure::refused(other),
        }
    }

    /// Prints the error on stderr and returns the exit code.
    pub fn report(&self) -> ExitCode {
        if !matches!(self, Failure::OutputClosed) {
            let message = self.to_string();
            let prefix = if message.starts_with("configuration: ") { "" } else { "error: " };
            output::error(prefix, &message);
        }
        ExitCode::from(self.exit_code())
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Failure {
        match error {
            ClientError::Usage(message) => Failure::Usage(message),
            ClientError::Refused { message, .. } => Failure::Refused(message),
            ClientError::Unavailable { message, .. } => Failure::Unavailable(message),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Usage(error.to_string()),
        }
    }
}
