//! Rates for the sandbox: embedded mids of November 2026 with a small random walk, reproducible by
//! seed.
//!
//! They are invented at plausible levels and are not market data; a production service never quotes
//! from them, and only compares the magnitude of a source's first rates with them.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use domain::currency::Currency;
use domain::decimal::{Decimal, Rounding};
use domain::ports::{Mid, RateBook};
use domain::time::{Span, Timestamp};

use super::table::{DirectRate, RateTable};

/// Time between two steps of the walk.
pub const STEP: Span = Span::secs(5);
/// Maximum deviation of one currency from its mid against USD, in parts per million; a pair of two
/// walking currencies stays within twice that, ± 0.2 %.
pub const MAX_WALK_PPM: i64 = 1_000;
/// Largest single step, parts per million.
const MAX_STEP_PPM: u64 = 40;
/// Maximum number of steps made at once after a pause.
const MAX_STEPS_AT_ONCE: i64 = 1_000;
/// Decimals of a walked rate.
const WALKED_DECIMALS: u32 = 6;

/// Initial pairs: `(base, quote, mantissa, decimals)`. AED/PKR is stated separately from USD/PKR
/// and USD/AED (`decisions.md`, worked example: 75.90, and 278.75 for USDT/PKR, which is USD/PKR at
/// par).
const MIDS: &[(Currency, Currency, i128, u32)] = &[
    (Currency::Aed, Currency::Pkr, 7590, 2),
    (Currency::Usd, Currency::Aed, 36725, 4),
    (Currency::Usd, Currency::Bdt, 12215, 2),
    (Currency::Usd, Currency::Bhd, 376, 3),
    (Currency::Usd, Currency::Egp, 4765, 2),
    (Currency::Usd, Currency::Inr, 8940, 2),
    (Currency::Usd, Currency::Kwd, 3065, 4),
    (Currency::Usd, Currency::Myr, 4125, 3),
    (Currency::Usd, Currency::Npr, 14304, 2),
    (Currency::Usd, Currency::Omr, 3845, 4),
    (Currency::Usd, Currency::Php, 5885, 2),
    (Currency::Usd, Currency::Pkr, 27875, 2),
    (Currency::Usd, Currency::Qar, 364, 2),
    (Currency::Usd, Currency::Sar, 375, 2),
    (Currency::Usd, Currency::Sgd, 1298, 3),
    (Currency::Usd, Currency::Try, 4245, 2),
    (Currency::Usd, Currency::Vnd, 26350, 0),
    (Currency::Eur, Currency::Usd, 11595, 4),
    (Currency::Usdc, Currency::Usd, 1, 0),
    (Currency::Usdt, Currency::Usd, 1, 0),
];

/// Currencies that do not walk: USD itself, the stablecoins, and the Gulf currencies pegged to the
/// dollar.
const PEGGED: [Currency; 8] = [
    Currency::Usd,
    Currency::Usdc,
    Currency::Usdt,
    Currency::Aed,
    Currency::Bhd,
    Currency::Omr,
    Currency::Qar,
    Currency::Sar,
];

/// The embedded mids without their walk.
pub(super) static LEVELS: LazyLock<RateTable> =
    LazyLock::new(|| table(&[0; Currency::ALL.len()], Timestamp(0)));

#[derive(Clone, Debug)]
struct Walk {
    table: RateTable,
    /// Current level of each currency against its mid, in parts per million, in the order of
    /// [`Currency::ALL`].
    offsets_ppm: [i64; Currency::ALL.len()],
    random: u64,
    stepped_at: Timestamp,
}

/// The sandbox's rate book. Share it behind an `Arc` and call [`SandboxRates::tick`] every few seconds.
#[derive(Debug)]
pub struct SandboxRates {
    walk: RwLock<Arc<Walk>>,
    frozen: bool,
}

impl SandboxRates {
    /// A book at the embedded mids. `frozen` keeps them there; their time still advances with every
    /// tick.
    pub fn new(seed: u64, frozen: bool, now: Timestamp) -> SandboxRates {
        let offsets_ppm = [0; Currency::ALL.len()];
        let table = table(&offsets_ppm, now);
        let walk = Walk { table, offsets_ppm, random: seed, stepped_at: now };
        SandboxRates { walk: RwLock::new(Arc::new(walk)), frozen }
    }

    /// Advances the rates to `now`: one step for every [`STEP`] since the last, and current times.
    pub fn tick(&self, now: Timestamp) {
        let mut guard = self.walk.write().unwrap_or_else(PoisonError::into_inner);
        let walk = Arc::make_mut(&mut guard);
        let due = (now - walk.stepped_at).0 / STEP.0;
        if due > 0 {
            let steps = due.min(MAX_STEPS_AT_ONCE);
            if !self.frozen {
                (0..steps).for_each(|_| walk.step());
            }
            walk.stepped_at = walk.stepped_at + Span(due * STEP.0);
        }
        walk.table = table(&walk.offsets_ppm, now.max(walk.stepped_at));
    }

    /// Every stated pair with its time.
    pub fn snapshot(&self) -> Vec<DirectRate> {
        self.current().table.snapshot()
    }

    fn current(&self) -> Arc<Walk> {
        self.walk.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl RateBook for SandboxRates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        self.current().table.mid(base, quote)
    }

    fn origins(&self) -> Vec<String> {
        let how = if self.frozen { "standing still" } else { "moving a little by themselves" };
        vec![format!("embedded rates of the sandbox, {how}")]
    }
}

impl Walk {
    fn step(&mut self) {
        for (offset, currency) in self.offsets_ppm.iter_mut().zip(Currency::ALL) {
            if PEGGED.contains(&currency) {
                continue;
            }
            let drawn = next(&mut self.random) % (2 * MAX_STEP_PPM + 1);
            let change = i64::try_from(drawn).unwrap_or(0) - MAX_STEP_PPM.cast_signed();
            *offset = (*offset + change).clamp(-MAX_WALK_PPM, MAX_WALK_PPM);
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn table(offsets_ppm: &[i64; Currency::ALL.len()], as_of: Timestamp) -> RateTable {
    let mut table = RateTable::default();
    for &(base, quote, mantissa, decimals) in MIDS {
        let mid = Decimal::new(mantissa, decimals);
        let ppm = offsets_ppm[quote as usize] - offsets_ppm[base as usize];
        // The factor has six decimals, the mids at most four: the product is exact.
        let factor = Decimal::new(i128::from(1_000_000 + ppm), 6);
        let walked = mid
            .checked_mul(factor)
            .map_or(mid, |rate| rate.round(WALKED_DECIMALS, Rounding::HalfEven));
        table.set(DirectRate::at_mid(base, quote, Mid { rate: walked, as_of }));
    }
    table
}
