//! The live rate book: sources in order of preference, refresh, and the guard against a broken
//! source.
//!
//! A refresh replaces single pairs; if a source fails, its pairs stay and age. A rate change beyond
//! the limit is held back until an operator accepts it. A stablecoin has a rate only while its price
//! in USD is near 1. The caller judges age, by `as_of`.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::ports::{Mid, RateBook};
use domain::time::{Span, Timestamp};

use super::sheet::{self, JsonShape, SheetError};
use super::table::{DirectRate, RateTable};
use crate::fetch::{self, FetchError, Transport};
use crate::outbound::address::shown_text;

/// Maximum size of a sheet, in bytes.
pub const MAX_SHEET_BYTES: usize = 1024 * 1024;
/// A new rate that differs from the current one by more than this is held back, in basis points.
pub const DEFAULT_MAX_MOVE_BPS: u32 = 1_000;
/// A stablecoin whose price differs from 1 USD by more than this has no rate, in basis points.
pub const DEFAULT_MAX_DEPEG_BPS: u32 = 50;
/// Maximum clock skew: a sheet may be dated this far in the future.
pub const MAX_AHEAD: Span = Span::mins(5);

/// A source of rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateSource {
    /// A local file: TOML if its name ends in `.toml`, CSV otherwise.
    File(PathBuf),
    /// A JSON document over https (plain http to this machine only).
    Http {
        url: String,
        /// The locations of the values in the document.
        shape: JsonShape,
    },
}

impl RateSource {
    /// Its display name: a file's path, or a URL without query and user, which may contain tokens.
    fn origin(&self) -> String {
        match self {
            RateSource::File(path) => path.display().to_string(),
            RateSource::Http { url, .. } => shown_text(url),
        }
    }
}

/// Why a source provided nothing.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    /// A file could not be read.
    #[error("{file}: {detail}")]
    File { file: String, detail: String },
    /// A URL could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The content is not a valid sheet of rates.
    #[error("{origin}: {error}")]
    Sheet {
        /// The path or URL it was read from.
        origin: String,
        error: SheetError,
    },
    /// The sheet is dated in the future.
    #[error("{origin}: {pair} is dated {as_of}, which is in the future")]
    Ahead {
        /// The path or URL it was read from.
        origin: String,
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
        as_of: Timestamp,
    },
}

/// A new rate whose change exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// The pair with the new rate.
    pub new: DirectRate,
    /// The rate that stays in force.
    pub in_force: Mid,
}

/// The result of a refresh.
#[derive(Debug, Default)]
pub struct RateRefresh {
    /// Pairs with a newer rate.
    pub updated: usize,
    /// Pairs whose new rate was held back.
    pub held_back: Vec<HeldBack>,
    /// Failed sources, with the errors.
    pub failed: Vec<RateError>,
}

#[derive(Clone, Debug, Default)]
struct InForce {
    table: RateTable,
    held_back: Vec<HeldBack>,
}

/// The current rates. Share it behind an `Arc`; a lookup holds its lock only to copy a pointer.
#[derive(Debug)]
pub struct LiveRates {
    sources: Vec<RateSource>,
    max_move_bps: u32,
    max_depeg_bps: u32,
    in_force: RwLock<Arc<InForce>>,
}

impl LiveRates {
    /// An empty book over sources in order of preference: a pair comes from the first source that
    /// states it. It has no rates until the first [`LiveRates::refresh`].
    pub fn new(sources: Vec<RateSource>, max_move_bps: u32, max_depeg_bps: u32) -> LiveRates {
        LiveRates { sources, max_move_bps, max_depeg_bps, in_force: RwLock::default() }
    }

    /// Reads every source again.
    pub async fn refresh(&self, client: &dyn Transport, now: Timestamp) -> RateRefresh {
        let mut refreshed = RateRefresh::default();
        let mut stated: Vec<DirectRate> = Vec::new();
        for source in &self.sources {
            match read(source, client, now).await {
                Ok(rates) => {
                    for rate in rates {
                        if stated
                            .iter()
                            .all(|known| (known.base, known.quote) != (rate.base, rate.quote))
                        {
                            stated.push(rate);
                        }
                    }
                }
                Err(error) => refreshed.failed.push(error),
            }
        }
        self.change(|in_force| {
            for rate in stated {
                in_force.take(rate, self.max_move_bps, &mut refreshed);
            }
        });
        refreshed
    }

    /// Rates that wait for an operator's decision.
    pub fn held_back(&self) -> Vec<HeldBack> {
        self.in_force().held_back.clone()
    }

    /// Puts a held-back rate in force, on an operator's decision; `None` if none is held back for
    /// the pair.
    pub fn accept(&self, base: Currency, quote: Currency) -> Option<Mid> {
        self.change(|in_force| {
            let at = in_force
                .held_back
                .iter()
                .position(|held| (held.new.base, held.new.quote) == (base, quote))?;
            let held = in_force.held_back.remove(at);
            in_force.table.set(base, quote, held.new.mid);
            Some(held.new.mid)
        })
    }

    /// Every stated pair with its time.
    pub fn snapshot(&self) -> Vec<DirectRate> {
        self.in_force().table.snapshot()
    }

    fn is_off_peg(&self, price: Decimal) -> bool {
        moved_beyond(Decimal::ONE, price, self.max_depeg_bps)
    }

    fn in_force(&self) -> Arc<InForce> {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut InForce) -> T) -> T {
        let mut guard = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut guard))
    }
}

impl RateBook for LiveRates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        let table = &self.in_force().table;
        let mut mid = table.mid(base, quote)?;
        for coin in StableCoin::ALL.map(StableCoin::currency) {
            if coin == base || coin == quote {
                let price = table.mid(coin, Currency::Usd)?;
                if self.is_off_peg(price.rate) {
                    return None;
                }
                mid.as_of = mid.as_of.min(price.as_of);
            }
        }
        Some(mid)
    }

    fn off_peg(&self, coin: StableCoin) -> Option<Decimal> {
        let price = self.in_force().table.mid(coin.currency(), Currency::Usd)?.rate;
        self.is_off_peg(price).then_some(price)
    }

    fn origins(&self) -> Vec<String> {
        self.sources.iter().map(RateSource::origin).collect()
    }
}

impl InForce {
    fn take(&mut self, rate: DirectRate, max_move_bps: u32, refreshed: &mut RateRefresh) {
        let known = self.table.direct(rate.base, rate.quote);
        if known.is_some_and(|known| rate.mid.as_of <= known.as_of) {
            return;
        }
        self.held_back.retain(|held| (held.new.base, held.new.quote) != (rate.base, rate.quote));
        match known {
            // The price of a stablecoin takes effect at once: the limit on its distance from 1 USD
            // guards it, and an old price in force would hide that it has lost its peg.
            Some(in_force)
                if !is_peg(rate) && moved_beyond(in_force.rate, rate.mid.rate, max_move_bps) =>
            {
                let held = HeldBack { new: rate, in_force };
                self.held_back.push(held);
                refreshed.held_back.push(held);
            }
            _ => {
                self.table.set(rate.base, rate.quote, rate.mid);
                refreshed.updated += 1;
            }
        }
    }
}

/// Whether a pair is the price of a stablecoin in USD.
fn is_peg(rate: DirectRate) -> bool {
    let coins = StableCoin::ALL.map(StableCoin::currency);
    matches!((rate.base, rate.quote), (coin, Currency::Usd) | (Currency::Usd, coin) if coins.contains(&coin))
}

/// Whether `new` differs from `old` by more than `bps`; a difference that overflows counts as too
/// large.
fn moved_beyond(old: Decimal, new: Decimal, bps: u32) -> bool {
    let difference = if new > old { new.checked_sub(old) } else { old.checked_sub(new) };
    let moved = difference.and_then(|size| size.checked_mul(Decimal::from_int(10_000)));
    match (moved, old.checked_mul(Decimal::from_int(i64::from(bps)))) {
        (Some(moved), Some(allowed)) => moved > allowed,
        _ => true,
    }
}

async fn read(
    source: &RateSource,
    client: &dyn Transport,
    now: Timestamp,
) -> Result<Vec<DirectRate>, RateError> {
    let (origin, rates) = match source {
        RateSource::File(path) => {
            let origin = path.display().to_string();
            let text = read_file(path, &origin).await?;
            let is_toml =
                path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
            (origin, if is_toml { sheet::from_toml(&text) } else { sheet::from_csv(&text) })
        }
        RateSource::Http { url, shape } => {
            let fetched = fetch::get(client, url, MAX_SHEET_BYTES).await?;
            let text = String::from_utf8(fetched.bytes)
                .map_err(|_| SheetError::Form("is not UTF-8".to_owned()));
            (shown_text(url), text.and_then(|text| sheet::from_json(&text, shape)))
        }
    };
    let rates = rates.map_err(|error| RateError::Sheet { origin: origin.clone(), error })?;
    match rates.iter().find(|rate| rate.mid.as_of > now + MAX_AHEAD) {
        Some(rate) => {
            let pair = sheet::pair(rate.base, rate.quote);
            Err(RateError::Ahead { origin, pair, as_of: rate.mid.as_of })
        }
        None => Ok(rates),
    }
}

async fn read_file(path: &std::path::Path, origin: &str) -> Result<String, RateError> {
    let failed = |detail: String| RateError::File { file: origin.to_owned(), detail };
    let about = tokio::fs::metadata(path).await.map_err(|error| failed(error.to_string()))?;
    if about.len() > MAX_SHEET_BYTES as u64 {
        return Err(failed(format!("more than {MAX_SHEET_BYTES} bytes")));
    }
    tokio::fs::read_to_string(path).await.map_err(|error| failed(error.to_string()))
}
