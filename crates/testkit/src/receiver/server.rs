//! The endpoint over HTTP: every POST below its URL is an arrival. Connection faults are injected
//! here; the core decides the answer.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use domain::ports::Clock;
use futures_util::stream;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::book::Book;
use super::core::{Arrival, Manner, Reaction, ReceiverCore, Reply, Temper};
use crate::bank::SystemClock;
use crate::bank::server::connection::{Cut, Door};

/// Larger than any event.
const BODY_MAX_BYTES: usize = 1 << 20;
/// Pause between two bytes of a dripping answer.
const DRIP_PAUSE: Duration = Duration::from_millis(100);
/// A chunk of an endless answer.
const FLOOD_PIECE: Bytes = Bytes::from_static(&[b' '; 4096]);

/// Configuration of an endpoint.
#[derive(Clone)]
pub struct ReceiverConfig {
    /// Listen address (port 0: any).
    pub listen: SocketAddr,
    /// Secrets whose signatures are accepted.
    pub secrets: Vec<String>,
    pub clock: Arc<dyn Clock>,
}

impl ReceiverConfig {
    /// On any local port, with these secrets.
    pub fn with(secrets: &[&str]) -> ReceiverConfig {
        ReceiverConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            secrets: secrets.iter().map(|text| (*text).to_owned()).collect(),
            clock: Arc::new(SystemClock),
        }
    }
}

struct Shared {
    core: Mutex<ReceiverCore>,
    clock: Arc<dyn Clock>,
    down: watch::Sender<bool>,
}

impl Shared {
    fn core(&self) -> MutexGuard<'_, ReceiverCore> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running endpoint. Dropping it stops it.
pub struct SimulatedReceiver {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl SimulatedReceiver {
    pub async fn start(config: ReceiverConfig) -> io::Result<SimulatedReceiver> {
        let down = watch::Sender::new(false);
        let door = Door::bind(config.listen, down.subscribe()).await?;
        let address = door.address();
        let secrets: Vec<&str> = config.secrets.iter().map(String::as_str).collect();
        let core = Mutex::new(ReceiverCore::new(&secrets));
        let shared = Arc::new(Shared { core, clock: config.clock, down });
        let routes = Router::new()
            .fallback(post(arrive))
            .layer(DefaultBodyLimit::max(BODY_MAX_BYTES))
            .with_state(Arc::clone(&shared));
        let service = routes.into_make_service_with_connect_info::<Cut>();
        let task = tokio::spawn(async move {
            if let Err(fault) = axum::serve(door, service).await {
                tracing::error!(%fault, "simulated webhook endpoint server failed");
            }
        });
        Ok(SimulatedReceiver { shared, address, task })
    }

    /// Its URL, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs `work` on the receiver's core.
    pub fn with<T>(&self, work: impl FnOnce(&mut ReceiverCore) -> T) -> T {
        work(&mut self.shared.core())
    }

    pub fn book(&self) -> Book {
        self.with(|core| core.book().clone())
    }

    /// Sets its reactions to the next arrivals, one each.
    pub fn script(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.with(|core| core.script(reactions));
    }

    pub fn set_temper(&self, temper: Temper) {
        self.with(|core| core.set_temper(temper));
    }

    /// Sets whether it refuses connections.
    pub fn set_down(&self, down: bool) {
        self.shared.down.send_replace(down);
    }
}

impl Drop for SimulatedReceiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn arrive(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if *shared.down.borrow() {
        cut.cut();
        return Response::new(Body::empty());
    }
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let arrival = Arrival {
        path: uri.path().to_owned(),
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        traceparent: header("traceparent"),
        body: body.into(),
    };
    let reply = shared.core().receive(arrival, shared.clock.now());
    answer(reply, &cut).await
}

async fn answer(reply: Reply, cut: &Cut) -> Response {
    let body = match reply.manner {
        Manner::AtOnce => Body::from(reply.body),
        Manner::Late(span) => {
            tokio::time::sleep(span.to_duration()).await;
            Body::from(reply.body)
        }
        Manner::Drip => Body::from_stream(stream::unfold((), |()| async {
            tokio::time::sleep(DRIP_PAUSE).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), ()))
        })),
        Manner::Flood => {
            Body::from_stream(stream::repeat_with(|| Ok::<_, Infallible>(FLOOD_PIECE)))
        }
        Manner::Close => {
            cut.cut();
            Body::empty()
        }
    };
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, [("content-type", "application/json")], body).into_response();
    for (name, value) in reply.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
