//! NATS JetStream. One connection, which reconnects by itself; a message counts as stored when the
//! configured stream has acknowledged it.

use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::context::{Context, ContextBuilder, GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, StorageType};
use async_nats::{Client, ConnectOptions, ServerAddr};
use domain::ports::{Answer, EventSink};
use domain::relay::{EventMessage, SinkFault};
use futures_util::future::join_all;
use secrecy::ExposeSecret as _;
use tokio::sync::Mutex;

use super::{NatsLogin, NatsSettings, NewStream, StreamFacts};

/// Acknowledgements that may be awaited at once: more than a batch and its repetitions.
const ACKS_IN_FLIGHT: usize = 8_192;
/// JetStream's code for a stream that does not exist.
const NOT_FOUND: usize = 404;

/// A stream of NATS JetStream.
pub struct NatsSink {
    settings: NatsSettings,
    connected: Mutex<Option<Connected>>,
}

#[derive(Clone)]
struct Connected {
    client: Client,
    context: Context,
}

impl NatsSink {
    pub fn new(settings: NatsSettings) -> NatsSink {
        NatsSink { settings, connected: Mutex::new(None) }
    }

    /// The connection, made at first use.
    async fn connected(&self) -> Result<Connected, SinkFault> {
        let mut connected = self.connected.lock().await;
        if let Some(connected) = connected.as_ref() {
            return match connected.client.connection_state() {
                State::Connected => Ok(connected.clone()),
                // What is sent now would be kept back and sent later, after a repetition of it.
                State::Pending | State::Disconnected => {
                    Err(self.fault("no connection", &"reconnecting"))
                }
            };
        }
        let client = self.connect().await?;
        let context = ContextBuilder::new()
            .timeout(self.settings.timeout)
            .ack_timeout(self.settings.timeout)
            .max_ack_inflight(ACKS_IN_FLIGHT)
            .build(client.clone());
        let made = Connected { client, context };
        *connected = Some(made.clone());
        Ok(made)
    }

    async fn connect(&self) -> Result<Client, SinkFault> {
        let settings = &self.settings;
        let addresses = settings.servers.iter().map(|server| server.parse::<ServerAddr>());
        let addresses: Vec<ServerAddr> = addresses
            .collect::<Result<_, _>>()
            .map_err(|error| self.fault("not an address", &error))?;
        let mut options = ConnectOptions::new()
            .name(&settings.client)
            // A server names others without a scheme: a connection to one of them could be without
            // TLS, although all configured addresses demand it.
            .ignore_discovered_servers()
            .connection_timeout(settings.timeout)
            .request_timeout(Some(settings.timeout));
        if let Some(path) = &settings.authority_file {
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &settings.client_certificate {
            options =
                options.require_tls(true).add_client_certificate(certificate.clone(), key.clone());
        }
        let options = match &settings.login {
            NatsLogin::None => options,
            NatsLogin::User { user, password } => {
                options.user_and_password(user.clone(), password.expose_secret().to_owned())
            }
            NatsLogin::Token(token) => options.token(token.expose_secret().to_owned()),
            NatsLogin::Nkey(seed) => options.nkey(seed.expose_secret().to_owned()),
            NatsLogin::CredentialsFile(path) => {
                let read = options.credentials_file(path).await;
                read.map_err(|error| {
                    SinkFault(format!("credentials file {}: {error}", path.display()))
                })?
            }
        };
        options.connect(addresses).await.map_err(|error| self.fault("connection failed", &error))
    }

    fn fault(&self, what: &str, why: &dyn std::fmt::Display) -> SinkFault {
        SinkFault(format!("{}: {what}: {why}", self.settings.servers.join(", ")))
    }

    async fn check_stream(&self) -> Result<(), SinkFault> {
        let (settings, context) = (&self.settings, self.connected().await?.context);
        let error = match context.get_stream(&settings.stream).await {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        match &settings.create {
            Some(new) if is_missing(&error) => {
                let config = new_stream(&settings.stream, new);
                let made = context.create_stream(config).await;
                made.map_err(|error| {
                    self.fault(&format!("stream {} was not created", settings.stream), &error)
                })?;
                tracing::warn!(
                    stream = settings.stream,
                    "stream was missing and has been created, events sent before are not in it"
                );
                Ok(())
            }
            _ => Err(self.fault(&format!("stream {}", settings.stream), &error)),
        }
    }

    /// The stream as it is, without creating it; `None` if there is none.
    pub async fn look(&self) -> Result<Option<StreamFacts>, SinkFault> {
        let (stream, context) = (&self.settings.stream, self.connected().await?.context);
        match context.get_stream(stream).await {
            Ok(found) => {
                let config = &found.cached_info().config;
                Ok(Some(StreamFacts {
                    subjects: config.subjects.clone(),
                    is_sealed: config.sealed,
                    acknowledges: !config.no_ack,
                    max_message_bytes: u64::try_from(config.max_message_size)
                        .ok()
                        .filter(|bytes| *bytes > 0),
                }))
            }
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.fault(&format!("stream {stream}"), &error)),
        }
    }

    async fn send(&self, messages: &[EventMessage]) -> Vec<Result<(), SinkFault>> {
        let context = match self.connected().await {
            Ok(connected) => connected.context,
            Err(fault) => return vec![Err(fault); messages.len()],
        };
        let mut sent = Vec::with_capacity(messages.len());
        for EventMessage { id, subject, body } in messages {
            let message =
                PublishMessage::build().message_id(id.to_string()).payload(body.clone().into());
            sent.push(context.send_publish(subject.clone(), message).await);
        }
        let answers = messages.iter().zip(sent).map(|(message, sent)| async move {
            let failed = |error: &dyn std::fmt::Display| {
                self.fault(&format!("event {} to {}", message.id, message.subject), error)
            };
            let acknowledged = match sent {
                Ok(pending) => pending.await,
                Err(error) => Err(error),
            };
            let acknowledged = acknowledged.map_err(|error| failed(&error))?;
            match acknowledged.stream == self.settings.stream {
                true => Ok(()),
                false => Err(failed(&format!(
                    "it was stored by the stream {}, not by {}",
                    acknowledged.stream, self.settings.stream
                ))),
            }
        });
        join_all(answers).await
    }
}

impl EventSink for NatsSink {
    fn check(&self) -> Answer<'_, Result<(), SinkFault>> {
        Box::pin(self.check_stream())
    }

    fn publish<'a>(
        &'a self,
        messages: &'a [EventMessage],
    ) -> Answer<'a, Vec<Result<(), SinkFault>>> {
        Box::pin(async move {
            // Sending waits for the connection, which may be lost at any moment.
            let most: Duration = self.settings.timeout * 2;
            match tokio::time::timeout(most, self.send(messages)).await {
                Ok(answers) => answers,
                Err(_) => vec![Err(self.fault("no answer", &"timeout")); messages.len()],
            }
        })
    }
}

fn is_missing(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(said) if said.code() == NOT_FOUND)
}

fn new_stream(name: &str, new: &NewStream) -> Config {
    Config {
        name: name.to_owned(),
        subjects: vec![new.subject.clone()],
        storage: StorageType::File,
        num_replicas: new.replicas,
        max_age: new.max_age,
        duplicate_window: new.duplicate_window,
        ..Config::default()
    }
}
