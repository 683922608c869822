//! Connects to an SFTP server: the host key first, then the login. Nothing is sent to a server whose key
//! is not pinned.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use russh::client::{self, AuthResult, KeyboardInteractiveAuthResponse};
use russh::keys::{Algorithm, HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{ChannelStream, MethodKind, Preferred};
use secrecy::ExposeSecret as _;

use super::Settings;

const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Rounds of questions that a server may ask instead of taking a password.
const MAX_QUESTIONS: usize = 4;
const SUBSYSTEM: &str = "sftp";

/// A connection; it ends when it is dropped.
pub(super) type Connection = client::Handle<HostKey>;

/// A failure that only people can mend, with a text for them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "the host key of {server} is not pinned: it is {}. Nothing was sent. If the bank confirms the new key, add it to \
         host_keys", shown.join(" and ")
    )]
    HostKey { server: String, shown: Vec<String> },
    #[error("{server} does not accept the login of user {user:?} ({methods})")]
    Login { server: String, user: String, methods: String },
}

/// Whether a failure, or its cause, is a [`Refusal`].
pub(crate) fn refusal(error: &io::Error) -> Option<&Refusal> {
    error.get_ref()?.downcast_ref()
}

/// Compares the server's key with the pinned ones.
pub(super) struct HostKey {
    pinned: Vec<String>,
    /// The fingerprint and the algorithm of the key that was refused.
    refused: Arc<Mutex<Option<(String, Algorithm)>>>,
}

impl client::Handler for HostKey {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        // Certificates are not asked for.
        let PublicKeyOrCertificate::PublicKey { key, .. } = key else { return Ok(false) };
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        if self.pinned.contains(&fingerprint) {
            return Ok(true);
        }
        let refused = Some((fingerprint, key.algorithm()));
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
        Ok(false)
    }
}

/// Reads a private key of OpenSSH (or PKCS #8).
pub(super) fn private_key(path: &Path, passphrase: Option<&str>) -> io::Result<PrivateKey> {
    let text = std::fs::read_to_string(path)?;
    russh::keys::decode_secret_key(&text, passphrase).map_err(|error| {
        let why = match (error, passphrase) {
            (russh::keys::Error::KeyIsEncrypted, None) => {
                "the private key is encrypted: its passphrase is missing".to_owned()
            }
            (error, Some(_)) => format!("{error} (is it the key's passphrase?)"),
            (error, None) => error.to_string(),
        };
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

pub(super) async fn connect(
    settings: &Settings,
) -> io::Result<(ChannelStream<client::Msg>, Connection)> {
    let key = settings.private_key()?;
    let opened = tokio::time::timeout(settings.connect_timeout, async {
        let mut connection = greet(settings).await?;
        log_in(settings, key, &mut connection).await?;
        let channel = connection.channel_open_session().await.map_err(cut)?;
        channel.request_subsystem(true, SUBSYSTEM).await.map_err(cut)?;
        Ok((channel.into_stream(), connection))
    });
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    opened.await.map_err(late).flatten().map_err(|error| match refusal(&error) {
        // Its text names the server.
        Some(_) => error,
        None => io::Error::new(error.kind(), format!("{}: {error}", settings.address())),
    })
}

/// Connects with a pinned key. A server has keys of several kinds and shows the one that is preferred:
/// the kinds that turn out not to be pinned are left out in turn.
async fn greet(settings: &Settings) -> io::Result<Connection> {
    let mut kinds: Vec<Algorithm> = Preferred::DEFAULT.key.to_vec();
    let mut shown = Vec::new();
    loop {
        let refused = Arc::new(Mutex::new(None));
        let handler = HostKey { pinned: settings.host_keys.clone(), refused: Arc::clone(&refused) };
        let config = client::Config {
            preferred: Preferred { key: kinds.clone().into(), ..Preferred::DEFAULT },
            keepalive_interval: Some(KEEPALIVE_INTERVAL),
            nodelay: true,
            ..client::Config::default()
        };
        let address = (settings.host.as_str(), settings.port);
        let error = match client::connect(Arc::new(config), address, handler).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let refused = refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        match refused {
            Some((fingerprint, kind)) => {
                shown.push(fingerprint);
                kinds.retain(|other| family(other) != family(&kind));
            }
            None if shown.is_empty() => return Err(cut(error)),
            // It has no key of the kinds that are left.
            None => kinds.clear(),
        }
        if kinds.is_empty() {
            let refusal = Refusal::HostKey { server: settings.address(), shown };
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal));
        }
    }
}

fn family(algorithm: &Algorithm) -> std::mem::Discriminant<Algorithm> {
    std::mem::discriminant(algorithm)
}

/// The key first, then the password: a server may demand both.
async fn log_in(
    settings: &Settings,
    key: Option<PrivateKey>,
    connection: &mut Connection,
) -> io::Result<()> {
    let user = settings.user.as_str();
    let mut last = None;
    if let Some(key) = key {
        let hash = match key.algorithm().is_rsa() {
            // A server that does not say takes SHA-256, or is too old to be used.
            true => connection
                .best_supported_rsa_hash()
                .await
                .map_err(cut)?
                .flatten()
                .or(Some(HashAlg::Sha256)),
            false => None,
        };
        let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
        match connection.authenticate_publickey(user, key).await.map_err(cut)? {
            AuthResult::Success => return Ok(()),
            AuthResult::Failure { remaining_methods, .. } => last = Some(remaining_methods),
        }
    }
    if let Some(password) = &settings.password {
        let password = password.expose_secret();
        match connection.authenticate_password(user, password).await.map_err(cut)? {
            AuthResult::Success => return Ok(()),
            AuthResult::Failure { remaining_methods, .. } => {
                if remaining_methods.contains(&MethodKind::KeyboardInteractive)
                    && answer_questions(connection, user, password).await?
                {
                    return Ok(());
                }
                last = Some(remaining_methods);
            }
        }
    }
    let methods = match last {
        None => "neither a key nor a password is configured".to_owned(),
        Some(methods) => {
            let names: Vec<&str> = methods.iter().map(<&str>::from).collect();
            format!("it offers: {}", names.join(", "))
        }
    };
    let refusal = Refusal::Login { server: settings.address(), user: user.to_owned(), methods };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal))
}

/// Answers each question with the password.
async fn answer_questions(
    connection: &mut Connection,
    user: &str,
    password: &str,
) -> io::Result<bool> {
    let mut answer =
        connection.authenticate_keyboard_interactive_start(user, None).await.map_err(cut)?;
    for _ in 0..MAX_QUESTIONS {
        let prompts = match answer {
            KeyboardInteractiveAuthResponse::Success => return Ok(true),
            KeyboardInteractiveAuthResponse::Failure { .. } => return Ok(false),
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => prompts,
        };
        let answers = vec![password.to_owned(); prompts.len()];
        answer =
            connection.authenticate_keyboard_interactive_respond(answers).await.map_err(cut)?;
    }
    Ok(false)
}

fn cut(error: russh::Error) -> io::Error {
    match error {
        russh::Error::IO(error) => error,
        other => io::Error::new(io::ErrorKind::ConnectionAborted, other),
    }
}

#[cfg(test)]
mod tests {
    use russh::keys::ssh_key::private::Ed25519Keypair;
    use russh::keys::ssh_key::{Cipher, Kdf, LineEnding};

    use super::*;

    #[test]
    fn a_passphrase_that_is_missing_or_wrong_is_named() {
        let kdf = Kdf::Bcrypt { salt: vec![7; 16], rounds: 1 };
        let key = PrivateKey::from(Ed25519Keypair::from_seed(&[7; 32]));
        let sealed = key.encrypt_with(Cipher::Aes256Ctr, kdf, 7, "opens it").expect("encrypted");
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = sealed.to_openssh(LineEnding::LF).expect("text");
        std::fs::write(file.path(), text.as_bytes()).expect("written");
        let read = |passphrase| private_key(file.path(), passphrase).map_err(|it| it.to_string());
        assert!(read(Some("opens it")).is_ok());
        for (passphrase, said) in [
            (None, "the private key is encrypted: its passphrase is missing"),
            (Some("no"), "(is it the key's passphrase?)"),
        ] {
            let why = read(passphrase).expect_err("not readable");
            assert!(why.contains(said), "{why}");
        }
    }
}
