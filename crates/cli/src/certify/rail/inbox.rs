//! Receives a connector's callbacks as the service does, by the same route.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use adapters::rails::connector::ConnectorRail;
use domain::ports::{BoxFuture, Rail};
use domain::rail::{BankReport, Callback, CallbackRefusal, RailId, Reports, Submission};
use domain::rail::{Inquiry, InquiryAnswer, Instruction, RailFault};
use domain::time::Timestamp;
use http_api::address_windows::AddressWindows;
use http_api::rail_callbacks::{Callbacks, ReportTaker, router};
use http_api::server::body::BodyLimits;
use http_api::server::{Refusals, Settings, serve};
use service::clock::WallClock;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::failure::Failure;
use crate::output;

#[derive(Default)]
struct Arrived {
    /// Every report that could be read, in order of arrival; the first one is not acknowledged.
    reports: Vec<BankReport>,
    /// Why others were refused.
    refused: Vec<String>,
}

/// Stops listening when it is dropped.
pub struct Inbox {
    arrived: Arc<Mutex<Arrived>>,
    _stop: watch::Sender<bool>,
}

impl Inbox {
    pub async fn open(address: SocketAddr, rail: Arc<ConnectorRail>) -> Result<Inbox, Failure> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| Failure::Usage(format!("--listen {address}: {error}")))?;
        let address = listener.local_addr().map_err(Failure::unavailable)?;
        output::remark(&format!("Callbacks  http://{address}/rails/{}/callbacks", rail.id()));
        let arrived = Arc::new(Mutex::new(Arrived::default()));
        let rail: Arc<dyn Rail> = Arc::new(Noting { rail, arrived: arrived.clone() });
        let callbacks = Callbacks {
            rails: BTreeMap::from([(rail.id().clone(), rail)]),
            taker: Arc::new(Taker(arrived.clone())),
            wall_clock: Arc::new(WallClock),
            body: BodyLimits::default(),
            refused: AddressWindows::default(),
        };
        let (stop, mut stopping) = watch::channel(false);
        let stopped = async move {
            // An error means that the inbox was dropped.
            let _ = stopping.wait_for(|stop| *stop).await;
        };
        let refusals = Refusals::new(Arc::new(WallClock));
        let router = router(Arc::new(callbacks));
        tokio::spawn(serve(listener, router, Settings::default(), refusals, stopped));
        Ok(Inbox { arrived, _stop: stop })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn reports(&self) -> Vec<BankReport> {
        self.lock().reports.clone()
    }

    pub fn refused(&self) -> Vec<String> {
        self.lock().refused.clone()
    }
}

/// Fails to store the first report, as a service without its database would.
struct Taker(Arc<Mutex<Arrived>>);

impl ReportTaker for Taker {
    fn take<'a>(&'a self, _rail: &'a dyn Rail, reports: &'a Reports) -> BoxFuture<'a, bool> {
        let mut arrived = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = arrived.reports.is_empty();
        arrived.reports.extend(reports.reports.iter().cloned());
        Box::pin(std::future::ready(!is_first))
    }
}

/// The connector's rail, which notes why it refuses a callback.
struct Noting {
    rail: Arc<ConnectorRail>,
    arrived: Arc<Mutex<Arrived>>,
}

impl Rail for Noting {
    fn id(&self) -> &RailId {
        self.rail.id()
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        self.rail.submit(batch)
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        self.rail.inquire(attempts)
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        self.rail.collect(cursor)
    }

    fn read_callback(
        &self,
        callback: &Callback<'_>,
        now: Timestamp,
    ) -> Result<Reports, CallbackRefusal> {
        self.rail.read_callback(callback, now).inspect_err(|why| {
            let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
            arrived.refused.push(why.to_string());
        })
    }
}
