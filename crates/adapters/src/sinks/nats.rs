//! NATS JetStream. One connection, which reconnects by itself; a message counts as stored when the
//! configured stream has acknowledged it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use async_nats::connection::State;
use async_nats::jetstream::context::{Context, ContextBuilder, GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, Info, PersistenceMode, RetentionPolicy, StorageType,
};
use async_nats::{Auth, AuthError, Client, ConnectOptions, Event, ServerAddr};
use domain::characters::one_line;
use domain::ports::{BoxFuture, EventSink};
use domain::relay::{EventMessage, SinkFault};
use futures_util::future::join_all;
use secrecy::ExposeSecret as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{NatsLogin, NatsSettings, NewStream, Retention, StreamFacts};

/// Acknowledgements that may be awaited at once: more than a batch and its repetitions.
const ACKS_IN_FLIGHT: usize = 8_192;
/// JetStream's code for a stream that does not exist.
const NOT_FOUND: usize = 404;
/// Maximum number of characters of a server's error in a fault.
const SERVER_ERROR_MAX_CHARS: usize = 300;

/// A stream of NATS JetStream.
pub struct NatsSink {
    settings: NatsSettings,
    connected: Mutex<Option<Connected>>,
    errors: Arc<ServerErrors>,
    /// The warnings about the stream that were logged last.
    warned: StdMutex<Vec<String>>,
}

/// The last error that a server has sent over the connection, as of a denied permission, with its
/// time. The request that it is about is answered by silence.
#[derive(Default)]
struct ServerErrors(StdMutex<Option<(Instant, String)>>);

impl ServerErrors {
    fn hear(&self, event: &Event) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::ServerError(error) => {
                let error = one_line(&error.to_string(), SERVER_ERROR_MAX_CHARS);
                tracing::warn!(error, "NATS server reported an error");
                *last = Some((Instant::now(), error));
            }
            Event::Connected => {
                tracing::info!("NATS connection established");
                *last = None;
            }
            other => tracing::info!(event = %other, "NATS connection changed"),
        }
    }

    /// The last error, unless it is older than `since`.
    fn last(&self, since: Option<Instant>) -> Option<String> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, error) = last.as_ref()?;
        since.is_none_or(|since| *at >= since).then(|| error.clone())
    }
}

#[derive(Clone)]
struct Connected {
    client: Client,
    context: Context,
}

impl NatsSink {
    pub fn new(settings: NatsSettings) -> NatsSink {
        NatsSink {
            settings,
            connected: Mutex::new(None),
            errors: Arc::default(),
            warned: StdMutex::default(),
        }
    }

    /// The connection while it is up, made at first use.
    async fn connected(&self) -> Result<Connected, SinkFault> {
        let connected = self.client().await?;
        match connected.client.connection_state() {
            State::Connected => Ok(connected),
            // What is sent now would be kept back and sent later, after a repetition of it.
            State::Pending | State::Disconnected => {
                Err(self.fault("no connection", None, &"reconnecting"))
            }
        }
    }

    /// As [`NatsSink::connected`]; the fault says why no connection comes about. The client that
    /// reconnects does not: another one tries.
    async fn checked(&self) -> Result<Connected, SinkFault> {
        let connected = self.client().await?;
        if connected.client.connection_state() != State::Connected {
            drop(self.connect(Arc::default()).await?);
        }
        self.connected().await
    }

    /// The client, connected or reconnecting. It stays the same one: what it holds back is sent
    /// before all that it gets later.
    async fn client(&self) -> Result<Connected, SinkFault> {
        let mut connected = self.connected.lock().await;
        if let Some(connected) = connected.as_ref() {
            return Ok(connected.clone());
        }
        let client = self.connect(Arc::clone(&self.errors)).await?;
        let context = ContextBuilder::new()
            .timeout(self.settings.timeout)
            .ack_timeout(self.settings.timeout)
            .max_ack_inflight(ACKS_IN_FLIGHT)
            .build(client.clone());
        let made = Connected { client, context };
        *connected = Some(made.clone());
        Ok(made)
    }

    async fn connect(&self, errors: Arc<ServerErrors>) -> Result<Client, SinkFault> {
        let settings = &self.settings;
        let addresses = settings.servers.iter().map(|server| server.parse::<ServerAddr>());
        let addresses: Vec<ServerAddr> = addresses
            .collect::<Result<_, _>>()
            .map_err(|error| self.fault("not an address", None, &error))?;
        let mut options = self
            .login()
            .await?
            .name(&settings.client)
            // A server names others without a scheme: a connection to one of them could be without
            // TLS, although all configured addresses demand it.
            .ignore_discovered_servers()
            .connection_timeout(settings.timeout)
            .request_timeout(Some(settings.timeout))
            .event_callback(move |event| {
                errors.hear(&event);
                std::future::ready(())
            });
        if let Some(path) = &settings.authority_file {
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &settings.client_certificate {
            options =
                options.require_tls(true).add_client_certificate(certificate.clone(), key.clone());
        }
        let connected = options.connect(addresses).await;
        connected.map_err(|error| self.fault("connection failed", None, &error))
    }

    /// Options of the configured login. A credentials file is read again for each connection: it is
    /// replaced before its JWT expires.
    async fn login(&self) -> Result<ConnectOptions, SinkFault> {
        let options = ConnectOptions::new();
        Ok(match &self.settings.login {
            NatsLogin::None => options,
            NatsLogin::User { user, password } => {
                options.user_and_password(user.clone(), password.expose_secret().to_owned())
            }
            NatsLogin::Token(token) => options.token(token.expose_secret().to_owned()),
            NatsLogin::Nkey(seed) => options.nkey(seed.expose_secret().to_owned()),
            NatsLogin::CredentialsFile(path) => {
                sign_with_file(path.clone(), Vec::new()).await.map_err(SinkFault)?;
                let path = path.clone();
                ConnectOptions::with_auth_callback(move |nonce| {
                    let signed = sign_with_file(path.clone(), nonce);
                    async move { signed.await.map_err(AuthError::new) }
                })
            }
        })
    }

    /// A fault, with what the server has reported since the request began (`None`: since it was
    /// connected last).
    fn fault(&self, what: &str, since: Option<Instant>, why: &dyn std::fmt::Display) -> SinkFault {
        let servers = self.settings.servers.join(", ");
        match self.errors.last(since) {
            Some(error) => SinkFault(format!("{servers}: {what}: {why} (the server: {error})")),
            None => SinkFault(format!("{servers}: {what}: {why}")),
        }
    }

    async fn check_stream(&self) -> Result<(), SinkFault> {
        let (settings, context) = (&self.settings, self.checked().await?.context);
        let since = Some(Instant::now());
        let error = match context.get_stream(&settings.stream).await {
            Ok(found) => return self.judge(&facts(found.cached_info())),
            Err(error) => error,
        };
        match &settings.create {
            Some(new) if is_missing(&error) => {
                let config = new_stream(&settings.stream, new);
                let made = context.create_stream(config).await;
                made.map_err(|error| {
                    self.fault(
                        &format!("stream {} was not created", settings.stream),
                        since,
                        &error,
                    )
                })?;
                tracing::warn!(
                    stream = settings.stream,
                    "stream was missing and has been created, events sent before are not in it"
                );
                Ok(())
            }
            _ => Err(self.fault(&format!("stream {}", settings.stream), since, &error)),
        }
    }

    /// Refuses a stream that does not keep what it acknowledges, and logs once what it may lose.
    fn judge(&self, facts: &StreamFacts) -> Result<(), SinkFault> {
        let stream = &self.settings.stream;
        if let Some(why) = facts.refusal() {
            return Err(SinkFault(format!("stream {stream} {why}")));
        }
        let warnings = facts.warnings();
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in warnings.iter().filter(|warning| !warned.contains(warning)) {
            tracing::warn!(stream, warning, "the stream may lose events that it has acknowledged");
        }
        *warned = warnings;
        Ok(())
    }

    /// The stream as it is, without creating it; `None` if there is none.
    pub async fn look(&self) -> Result<Option<StreamFacts>, SinkFault> {
        let (stream, context) = (&self.settings.stream, self.checked().await?.context);
        let since = Some(Instant::now());
        match context.get_stream(stream).await {
            Ok(found) => Ok(Some(facts(found.cached_info()))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.fault(&format!("stream {stream}"), since, &error)),
        }
    }

    async fn send(&self, messages: &[EventMessage]) -> Vec<Result<(), SinkFault>> {
        let context = match self.connected().await {
            Ok(connected) => connected.context,
            Err(fault) => return vec![Err(fault); messages.len()],
        };
        let since = Some(Instant::now());
        let mut sent = Vec::with_capacity(messages.len());
        for EventMessage { id, subject, body } in messages {
            let message =
                PublishMessage::build().message_id(id.to_string()).payload(body.clone().into());
            sent.push(context.send_publish(subject.clone(), message).await);
        }
        let answers = messages.iter().zip(sent).map(|(message, sent)| async move {
            let failed = |error: &dyn std::fmt::Display| {
                self.fault(&format!("event {} to {}", message.id, message.subject), since, error)
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
    fn check(&self) -> BoxFuture<'_, Result<(), SinkFault>> {
        Box::pin(self.check_stream())
    }

    fn publish<'a>(
        &'a self,
        messages: &'a [EventMessage],
    ) -> BoxFuture<'a, Vec<Result<(), SinkFault>>> {
        Box::pin(async move {
            // Sending waits for the connection, which may be lost at any moment.
            let (since, most) = (Instant::now(), self.settings.timeout * 2);
            match tokio::time::timeout(most, self.send(messages)).await {
                Ok(answers) => answers,
                Err(_) => {
                    let fault = self.fault("no answer", Some(since), &"timeout");
                    vec![Err(fault); messages.len()]
                }
            }
        })
    }
}

fn is_missing(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(said) if said.code() == NOT_FOUND)
}

/// The JWT of a credentials file, with the server's nonce signed by the file's seed.
async fn sign_with_file(path: PathBuf, nonce: Vec<u8>) -> Result<Auth, String> {
    let failed =
        |why: &dyn std::fmt::Display| format!("credentials file {}: {why}", path.display());
    let text = tokio::fs::read_to_string(&path).await.map_err(|error| failed(&error))?;
    let mut blocks = armoured(&text);
    let jwt = blocks.next().ok_or_else(|| failed(&"it has no user JWT"))?;
    let seed = blocks.next().ok_or_else(|| failed(&"it has no seed of an nkey"))?;
    let pair = nkeys::KeyPair::from_seed(seed).map_err(|_| failed(&"its seed cannot be read"))?;
    let signature = pair.sign(&nonce).map_err(|_| failed(&"its seed cannot sign"))?;
    let mut auth = Auth::new();
    (auth.jwt, auth.signature) = (Some(jwt.to_owned()), Some(signature));
    Ok(auth)
}

/// The first line of each block between dashed lines.
fn armoured(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let is_dashed = line.starts_with("---") && line.ends_with("---");
            match (is_dashed, is_inside) {
                (true, _) => is_inside = line.contains("BEGIN"),
                (false, true) => {
                    is_inside = false;
                    return Some(line);
                }
                (false, false) => {}
            }
        }
    })
}

fn facts(info: &Info) -> StreamFacts {
    let (config, state) = (&info.config, &info.state);
    let limit = |number: i64| u64::try_from(number).ok().filter(|number| *number > 0);
    StreamFacts {
        subjects: config.subjects.clone(),
        is_sealed: config.sealed,
        acknowledges: !config.no_ack,
        max_message_bytes: limit(config.max_message_size.into()),
        retention: match config.retention {
            RetentionPolicy::Limits => Retention::Limits,
            RetentionPolicy::Interest => Retention::Interest { consumers: state.consumer_count },
            RetentionPolicy::WorkQueue => Retention::WorkQueue,
        },
        max_messages: limit(config.max_messages),
        max_messages_per_subject: limit(config.max_messages_per_subject),
        max_bytes: limit(config.max_bytes),
        max_age: Some(config.max_age).filter(|age| !age.is_zero()),
        refuses_when_full: config.discard == DiscardPolicy::New,
        refuses_per_subject: config.discard == DiscardPolicy::New && config.discard_new_per_subject,
        is_in_memory: config.storage == StorageType::Memory,
        acknowledges_early: config.persist_mode == Some(PersistenceMode::Async),
        messages: state.messages,
        bytes: state.bytes,
    }
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
