//! The list servers' responses to a GET, as one node receives them.

use std::sync::{Arc, Mutex, PoisonError};

use adapters::screening::REDIRECTS_MAX;
use adapters::{FetchError, Fetched, Served, Transport};
use domain::ports::BoxFuture;
use domain::time::Span;

use super::ListWorld;
use super::editions::{self, ADDRESSES, Edition, NEWEST, SOURCES};
use crate::faults::{Fault, ListFault};
use crate::installation::START;

/// The longest time that a response takes.
const WAY_MAX_MILLIS: i64 = 2_000;
/// Where redirects lead: the same path on a host with this prefix.
const SIGNED: &str = "https://files.";

/// When the servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// By an earlier run: nothing fails, and the newest edition is not there yet.
    Earlier,
    /// When a node starts. Responses take no time: nothing else happens on the node.
    Start,
    /// By a running node.
    Refresh,
}

/// The way of a node to the servers.
pub(super) struct Way {
    world: Arc<ListWorld>,
    when: When,
    /// The whole editions that came this way, by list.
    came: Mutex<Arrivals>,
}

/// A whole edition that came, and the one that was stored then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub(super) edition: Edition,
    pub(super) stored: Option<Edition>,
}

/// What came, by list.
pub(super) type Arrivals = [Option<Came>; SOURCES];

impl Way {
    pub(super) fn new(world: Arc<ListWorld>, when: When) -> Way {
        Way { world, when, came: Mutex::default() }
    }

    /// The whole editions that came.
    pub(super) fn came(&self) -> Arrivals {
        *self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, url: &str) -> Result<Served, FetchError> {
        let signed = url.starts_with(SIGNED);
        let plain = url.replacen(SIGNED, "https://", 1);
        let plain = plain.split('?').next().unwrap_or_default();
        let not_found =
            || FetchError::Status { url: url.to_owned(), status: 404, reason: String::new() };
        let source =
            ADDRESSES.iter().position(|address| *address == plain).ok_or_else(not_found)?;
        let fault = if self.when == When::Earlier { None } else { self.world.fault(source) };
        let to_signed =
            || Served::Redirect(format!("{}?signature=abc", plain.replacen("https://", SIGNED, 1)));
        let published =
            if self.when == When::Earlier { NEWEST - 1 } else { self.world.published() };
        let bytes = match fault {
            Some(ListFault::Redirects) if !signed => return Ok(to_signed()),
            Some(ListFault::Circles) if !signed => return Ok(to_signed()),
            Some(ListFault::Circles) => return Ok(Served::Redirect(plain.to_owned())),
            Some(ListFault::RedirectsToPlainHttp) => {
                return Ok(Served::Redirect(plain.replacen("https://", "http://", 1)));
            }
            Some(ListFault::Status(status)) => {
                return Err(FetchError::Status {
                    url: url.to_owned(),
                    status,
                    reason: String::new(),
                });
            }
            Some(ListFault::Breaks) => {
                return Err(FetchError::Transport {
                    url: url.to_owned(),
                    detail: "connection reset".to_owned(),
                });
            }
            Some(ListFault::Half(per_cent)) => {
                let mut whole = editions::document(source, published);
                // Never all of it.
                whole.truncate(whole.len() * per_cent.min(99) / 100);
                whole
            }
            Some(ListFault::Old) => editions::document(source, published.saturating_sub(1)),
            Some(ListFault::Empty) => editions::empty(),
            Some(ListFault::OtherPage) => b"<html><body>Maintenance</body></html>".to_vec(),
            Some(ListFault::Redirects) | None => editions::document(source, published),
        };
        let whole = editions::recognise(&bytes).map(|(_, edition)| edition);
        let stored = self.world.stored_copies()[source].map(|held| held.edition);
        let came = whole.map(|edition| Came { edition, stored });
        self.came.lock().unwrap_or_else(PoisonError::into_inner)[source] = came;
        self.world
            .sim
            .trace(format_args!("list server {source} has {whole:?}, {} bytes", bytes.len()));
        Ok(Served::Document(Fetched { bytes, last_modified: None }))
    }
}

impl Transport for Way {
    fn get<'a>(&'a self, url: &'a str, _: usize) -> BoxFuture<'a, Result<Served, FetchError>> {
        Box::pin(async move {
            if self.when == When::Refresh {
                let way =
                    self.world.ways.with(|random| Span::millis(random.between(0, WAY_MAX_MILLIS)));
                self.world.sim.sleep(way).await;
            }
            self.serve(url)
        })
    }

    fn redirects(&self) -> usize {
        REDIRECTS_MAX
    }
}

impl ListWorld {
    /// The fault of a list's server now.
    fn fault(&self, source: usize) -> Option<ListFault> {
        // Without a copy nothing starts: an installation is set up while the servers work.
        self.state().stored[source]?;
        let since = self.sim.now() - START;
        let now = |(number, fault): (usize, &Fault)| match fault {
            Fault::Lists { source: of, after, span, how } if *of == source => {
                let is_on = since >= *after && since.0 < after.0 + span.0;
                (is_on && self.faults.fire(number)).then_some(*how)
            }
            _ => None,
        };
        self.faults.all().iter().enumerate().find_map(now)
    }
}
