//! The live rate book: what each source states, which of it is used, and the guards against a broken
//! source.
//!
//! A lookup takes each pair from the first source whose rate is young enough, be it stated, inverted or
//! crossed: a source that fails keeps its rates, and while they are too old, or have no path, the next
//! one fills in. A rate that jumps is not used unless
//! another source confirms it. A stablecoin has a rate only while its price in USD is near 1.

mod conditions;
mod levels;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use domain::currency::{Currency, StableCoin};
use domain::decimal::{Decimal, Rounding};
use domain::ports::{Bid, Mid, RateBook, RateTerms};
use domain::quote::less_margin;
use domain::time::{Span, Timestamp};
use futures_util::future::join_all;

use super::kept::{KEPT_FOR, KeptRates};
use super::moved_beyond;
use super::sheet::{Form, Sheet, pair};
use super::source::{RateError, RateSource};
use super::table::{DERIVED_DECIMALS, Derived, DirectRate, RateTable, Side, derived, leg};
use crate::fetch::Transport;
use levels::{is_inverted, is_off_level};

pub use conditions::Disagreement;

/// A new rate that differs from the last one by more than this is held back, in basis points.
pub const DEFAULT_MAX_MOVE_BPS: u32 = 1_000;
/// A stablecoin whose price differs from 1 USD by more than this has no rate, in basis points.
pub const DEFAULT_MAX_DEPEG_BPS: u32 = 50;
/// Two sources whose rates of a pair differ by more than this disagree, in basis points.
pub const DEFAULT_MAX_DIFFERENCE_BPS: u32 = 100;
/// What a first rate must not be (see [`levels`]), in words.
const FAR: &str = "further from the usual level than a factor of 5, or the other way round";
/// A source that failed is read again after this, if not earlier.
const RETRY_AFTER: Span = Span::mins(1);

/// Limits of all sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    pub max_move_bps: u32,
    pub max_depeg_bps: u32,
    pub max_difference_bps: u32,
    /// Maximum age of rates for display, where the source has no limit of its own.
    pub max_age: Span,
}

/// A new rate that is too far from the last known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// The pair with the new rate.
    pub new: DirectRate,
    /// The last known rate; `None` = the new one is off its usual level, or near the last one in a
    /// document with an inverted rate.
    pub last: Option<Mid>,
}

impl fmt::Display for HeldBack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = pair(self.new.base, self.new.quote);
        write!(out, "{pair} {} is not used: ", self.new.mid.rate)?;
        match self.last {
            Some(Mid { rate, as_of }) => {
                write!(out, "it moved by more than rates.max_move_bps from {rate} of {as_of}")
            }
            None => write!(
                out,
                "it or another rate of the document is {FAR}, and no other source states about the same"
            ),
        }
    }
}

/// The result of a refresh.
#[derive(Debug, Default)]
pub struct RateRefresh {
    /// Pairs with a new or newer rate.
    pub updated: usize,
    /// Pairs whose new rate was held back.
    pub held_back: Vec<HeldBack>,
    /// Failed sources by name, with the errors.
    pub failed: Vec<(String, RateError)>,
}

/// What a source states.
#[derive(Clone, Debug, Default)]
pub struct SourceState {
    pub table: RateTable,
    /// What it stated before the start; it is only compared with.
    kept: RateTable,
    /// The form of its last document.
    pub form: Option<Form>,
    pub held_back: Vec<HeldBack>,
    /// Pairs that its last document no longer states.
    pub missing: Vec<(Currency, Currency)>,
    /// The rest in progress or the next one.
    rest: Option<(Timestamp, Timestamp)>,
    tried_at: Option<Timestamp>,
    read_at: Option<Timestamp>,
    failure: Failure,
}

/// Whether the last attempt to read a source failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Failure {
    #[default]
    None,
    NotRead,
    Content,
}

#[derive(Clone, Debug)]
struct InForce {
    states: Vec<SourceState>,
    refreshed_at: Timestamp,
}

/// The current rates. Share it behind an `Arc`; a lookup holds its lock only to copy a pointer.
#[derive(Debug)]
pub struct LiveRates {
    sources: Vec<RateSource>,
    limits: RateLimits,
    in_force: RwLock<Arc<InForce>>,
}

impl LiveRates {
    /// An empty book over sources in order of preference. It has no rates until the first
    /// [`LiveRates::refresh`].
    pub fn new(sources: Vec<RateSource>, limits: RateLimits) -> LiveRates {
        let states = vec![SourceState::default(); sources.len()];
        let in_force = InForce { states, refreshed_at: Timestamp(0) };
        LiveRates { sources, limits, in_force: RwLock::new(Arc::new(in_force)) }
    }

    /// Takes the last rates of an earlier process, with which first statements are compared.
    pub fn recall(&self, kept: &KeptRates) {
        self.change(|in_force| {
            for (source, state) in self.sources.iter().zip(&mut in_force.states) {
                state.kept = kept.of(&source.title());
            }
        });
    }

    /// The accepted rates, for the next process.
    pub fn kept(&self) -> KeptRates {
        let mut kept = KeptRates::default();
        for (source, state) in self.sources.iter().zip(&self.in_force().states) {
            let title = source.title();
            state.table.snapshot().iter().for_each(|rate| kept.add(&title, rate));
        }
        kept
    }

    /// Reads every source that is due, all at once: a slow one delays no other.
    pub async fn refresh(&self, client: &dyn Transport, now: Timestamp) -> RateRefresh {
        let due: Vec<usize> = self.change(|in_force| {
            in_force.refreshed_at = now;
            let states = self.sources.iter().zip(&mut in_force.states).enumerate();
            let due = states.filter_map(|(at, (source, state))| {
                state.rest = source.week.as_ref().and_then(|week| week.rest(now));
                state.is_due(source, now).then(|| {
                    state.tried_at = Some(now);
                    at
                })
            });
            due.collect()
        });
        let refreshed = std::sync::Mutex::new(RateRefresh::default());
        join_all(due.into_iter().map(|at| {
            let refreshed = &refreshed;
            async move {
                let read = self.sources[at].read(client, now).await;
                let mut refreshed = refreshed.lock().unwrap_or_else(PoisonError::into_inner);
                self.change(|in_force| self.take(in_force, at, read, now, &mut refreshed));
            }
        }))
        .await;
        refreshed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each source with what it states, in order of preference.
    pub fn stated(&self) -> Vec<(RateSource, SourceState)> {
        self.sources.iter().cloned().zip(self.in_force().states.iter().cloned()).collect()
    }

    fn take(
        &self,
        in_force: &mut InForce,
        at: usize,
        read: Result<Sheet, RateError>,
        now: Timestamp,
        refreshed: &mut RateRefresh,
    ) {
        let sheet = match read {
            Ok(sheet) => sheet,
            Err(error) => {
                let is_of_content = error.is_of_content();
                in_force.states[at].failure =
                    if is_of_content { Failure::Content } else { Failure::NotRead };
                refreshed.failed.push((self.sources[at].title(), error));
                return;
            }
        };
        let pairs: BTreeSet<_> = sheet.rates.iter().map(DirectRate::pair).collect();
        let state = &mut in_force.states[at];
        (state.form, state.read_at, state.failure) = (Some(sheet.form), Some(now), Failure::None);
        let known = state.table.snapshot().into_iter().map(|rate| rate.pair());
        state.missing = known.filter(|pair| !pairs.contains(pair)).collect();
        state.held_back.retain(|held| pairs.contains(&held.new.pair()));
        let jumped = |rate: &DirectRate| {
            let last = self.own_mid(in_force, at, rate.base, rate.quote);
            last.is_none_or(|last| self.has_jumped(last, rate))
        };
        let is_doubtful = sheet.rates.iter().any(|rate| is_inverted(rate) && jumped(rate));
        for rate in sheet.rates {
            self.take_rate(in_force, at, rate, is_doubtful, refreshed);
        }
        self.release_confirmed(in_force, refreshed);
    }

    /// Puts rates in force that other sources confirm by now.
    fn release_confirmed(&self, in_force: &mut InForce, refreshed: &mut RateRefresh) {
        for at in 0..self.sources.len() {
            let held_back = in_force.states[at].held_back.iter();
            let (confirmed, held): (Vec<_>, Vec<_>) =
                held_back.partition(|held| self.confirmed(in_force, at, &held.new));
            for HeldBack { new, .. } in &confirmed {
                in_force.states[at].table.set(*new);
                refreshed.updated += 1;
            }
            refreshed.held_back.retain(|held| !confirmed.contains(held));
            in_force.states[at].held_back = held;
        }
    }

    fn take_rate(
        &self,
        in_force: &mut InForce,
        at: usize,
        rate: DirectRate,
        is_doubtful: bool,
        refreshed: &mut RateRefresh,
    ) {
        let (base, quote) = rate.pair();
        let own = in_force.states[at].table.direct(base, quote);
        if own.is_some_and(|own| rate.mid.as_of < own.mid.as_of) {
            return;
        }
        let held_back = &mut in_force.states[at].held_back;
        held_back.retain(|held| held.new.pair() != (base, quote));
        if own == Some(rate) {
            return;
        }
        // The price of a stablecoin takes effect at once: the limit on its distance from 1 USD
        // guards it, and an old price in force would hide that it has lost its peg.
        let last = self
            .own_mid(in_force, at, base, quote)
            .or_else(|| self.shown_mid(in_force, base, quote));
        let is_off = match (last, is_doubtful) {
            (Some(last), false) => self.has_jumped(last, &rate),
            (Some(last), true) => {
                moved_beyond(last.rate, rate.mid.rate, self.limits.max_difference_bps)
            }
            (None, _) => is_doubtful || is_off_level(&rate),
        };
        let last = last.filter(|last| self.has_jumped(*last, &rate));
        let held = (!is_peg(rate) && is_off && !self.confirmed(in_force, at, &rate))
            .then_some(HeldBack { new: rate, last });
        let state = &mut in_force.states[at];
        match held {
            Some(held) => {
                state.held_back.push(held);
                refreshed.held_back.push(held);
            }
            None => {
                state.table.set(rate);
                refreshed.updated += 1;
            }
        }
    }

    /// What a source states of a pair so far, or stated or implied before the start, unless that is
    /// too long ago.
    fn own_mid(
        &self,
        in_force: &InForce,
        at: usize,
        base: Currency,
        quote: Currency,
    ) -> Option<Mid> {
        let state = &in_force.states[at];
        if let Some(own) = state.table.direct(base, quote) {
            return Some(own.mid);
        }
        let kept_for = self.sources[at].max_age.unwrap_or(KEPT_FOR).max(KEPT_FOR);
        let kept = state.kept.mid(base, quote)?;
        (in_force.refreshed_at - kept.as_of <= kept_for).then_some(kept)
    }

    fn has_jumped(&self, last: Mid, rate: &DirectRate) -> bool {
        moved_beyond(last.rate, rate.mid.rate, self.limits.max_move_bps)
    }

    /// Whether another source states about the same, be its rate in use or held back itself.
    fn confirmed(&self, in_force: &InForce, at: usize, rate: &DirectRate) -> bool {
        let most = self.limits.max_difference_bps;
        let mut others = in_force.states.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(other, state)| {
            [state.table.clone(), state.last_stated()].iter().any(|table| {
                self.of_table(in_force, other, table, rate.pair())
                    .is_some_and(|other| !moved_beyond(other.mid.rate, rate.mid.rate, most))
            })
        })
    }

    /// The rate that one source states or implies, if it is young enough for display.
    fn of_table(
        &self,
        in_force: &InForce,
        at: usize,
        table: &RateTable,
        (base, quote): (Currency, Currency),
    ) -> Option<Derived> {
        let pick = |rate: &DirectRate| self.shown(in_force, at, rate);
        derived(base, quote, |base, quote| leg(table, (base, quote), Side::Mid, pick))
    }

    /// The rate from as few sources as have one together, the first ones; each of its legs from the
    /// first of them.
    fn of_all(
        &self,
        in_force: &InForce,
        pair: (Currency, Currency),
        side: Side,
        pick: impl Fn(usize, &DirectRate) -> Option<bool>,
    ) -> Option<Derived> {
        of_fewest(&in_force.states, pair, side, &pick).map(|(_, found)| found)
    }

    /// Whether a rate is young enough for display.
    fn shown(&self, in_force: &InForce, at: usize, rate: &DirectRate) -> Option<bool> {
        let terms = RateTerms {
            now: in_force.refreshed_at,
            max_age: self.limits.max_age,
            weekend_margin_bps: Some(0),
        };
        self.sources[at].usable(rate, in_force.states[at].rest, &terms)
    }

    /// The mid rate for display: of the source that would be used, else whatever is known.
    fn shown_mid(&self, in_force: &InForce, base: Currency, quote: Currency) -> Option<Mid> {
        if base == quote {
            let newest = in_force.states.iter().filter_map(|state| state.table.newest()).max()?;
            return Some(Mid { rate: Decimal::ONE, as_of: newest });
        }
        let young = |at: usize, rate: &DirectRate| self.shown(in_force, at, rate);
        self.of_all(in_force, (base, quote), Side::Mid, young)
            .or_else(|| self.of_all(in_force, (base, quote), Side::Mid, |_, _| Some(false)))
            .map(|derived| derived.mid)
    }

    fn is_off_peg(&self, price: Decimal) -> bool {
        moved_beyond(Decimal::ONE, price, self.limits.max_depeg_bps)
    }

    fn in_force(&self) -> Arc<InForce> {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut InForce) -> T) -> T {
        let mut guard = self.in_force.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut guard))
    }
}

impl SourceState {
    /// Its rates as it states them, whether they are used or held back.
    fn last_stated(&self) -> RateTable {
        let mut table = self.table.clone();
        self.held_back.iter().for_each(|held| table.set(held.new));
        table
    }

    fn is_due(&self, source: &RateSource, now: Timestamp) -> bool {
        let wait = match self.failure {
            Failure::None => source.refresh,
            Failure::NotRead | Failure::Content => source.refresh.min(RETRY_AFTER),
        };
        // A last attempt in the future means that the clock was set back.
        self.tried_at.is_none_or(|tried_at| now < tried_at || now - tried_at >= wait)
    }
}

impl RateBook for LiveRates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        let in_force = self.in_force();
        let mut mid = self.shown_mid(&in_force, base, quote)?;
        for coin in coins_of(base, quote) {
            let price = self.shown_mid(&in_force, coin, Currency::Usd)?;
            if self.is_off_peg(price.rate) {
                return None;
            }
            mid.as_of = mid.as_of.min(price.as_of);
        }
        Some(mid)
    }

    fn bid(&self, base: Currency, quote: Currency, terms: &RateTerms) -> Option<Bid> {
        let in_force = self.in_force();
        let usable = |at: usize, rate: &DirectRate| {
            self.sources[at].usable(rate, in_force.states[at].rest, terms)
        };
        let found = self.of_all(&in_force, (base, quote), Side::Bid, usable)?;
        let mut bid =
            Bid { rate: found.mid.rate, as_of: found.mid.as_of, is_weekend: found.is_weekend };
        for coin in coins_of(base, quote) {
            let price = self.of_all(&in_force, (coin, Currency::Usd), Side::Mid, usable)?;
            if self.is_off_peg(price.mid.rate) {
                return None;
            }
            bid.as_of = bid.as_of.min(price.mid.as_of);
            bid.is_weekend |= price.is_weekend;
        }
        if bid.is_weekend {
            let lower = less_margin(bid.rate, terms.weekend_margin_bps?)?;
            bid.rate = lower.round(DERIVED_DECIMALS, Rounding::Floor);
        }
        bid.rate.is_positive().then_some(bid)
    }

    fn off_peg(&self, coin: StableCoin) -> Option<Decimal> {
        let price = self.shown_mid(&self.in_force(), coin.currency(), Currency::Usd)?.rate;
        self.is_off_peg(price).then_some(price)
    }

    fn origins(&self) -> Vec<String> {
        self.sources.iter().map(RateSource::title).collect()
    }
}

/// The rate of a pair from as few sources as have one together, the first ones, and which of them
/// completes it.
fn of_fewest(
    states: &[SourceState],
    pair: (Currency, Currency),
    side: Side,
    pick: &impl Fn(usize, &DirectRate) -> Option<bool>,
) -> Option<(usize, Derived)> {
    (0..states.len()).find_map(|last| Some((last, of_first(&states[..=last], pair, side, pick)?)))
}

/// The rate of a pair from sources, each of its legs from the first one that has it.
fn of_first(
    states: &[SourceState],
    (base, quote): (Currency, Currency),
    side: Side,
    pick: &impl Fn(usize, &DirectRate) -> Option<bool>,
) -> Option<Derived> {
    derived(base, quote, |base, quote| {
        states
            .iter()
            .enumerate()
            .find_map(|(at, state)| leg(&state.table, (base, quote), side, |rate| pick(at, rate)))
    })
}

fn coins_of(base: Currency, quote: Currency) -> impl Iterator<Item = Currency> {
    let coins = StableCoin::ALL.map(StableCoin::currency).into_iter();
    coins.filter(move |coin| [base, quote].contains(coin))
}

/// Whether a pair is the price of a stablecoin in USD.
pub(super) fn is_peg(rate: DirectRate) -> bool {
    let coins = StableCoin::ALL.map(StableCoin::currency);
    matches!(rate.pair(), (coin, Currency::Usd) | (Currency::Usd, coin) if coins.contains(&coin))
}
