//! Payments that are stored before anything is measured. The first of them are made over the API and
//! settled like any other; further ones are copies of these, each with ids, an order sealed for them,
//! and search terms of its own, saved as the engine saves its batches. So a database with millions of
//! payments takes minutes.

mod copies;
mod templates;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::time::Span;
use futures_util::{StreamExt as _, TryStreamExt as _};

use super::figures::per_second;
use super::installation::Installation;
use super::load::{Crowd, Pace, Sample, Tally, Until};
use super::{Settings, drained, interruptible, serving};

use self::copies::Copies;
use self::templates::Templates;

/// Period over which copies are spread, before the payments that were made: events are pruned after
/// 30 days.
const SPREAD: Span = Span::days(25);
/// Copies kept as samples, to be read and compared with their rows.
const SAMPLES_MAX: usize = 1_024;
/// Connections that save copies.
const SAVERS_MAX: usize = 4;
/// Minimum interval of the progress line.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// How many payments are made, and how often each of them is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    made: u64,
    times: u64,
}

impl Plan {
    /// At least `wanted` payments, of which about `made` are made.
    fn new(wanted: u64, made: u64) -> Plan {
        let times = wanted.div_ceil(made.max(1)).max(1);
        Plan { made: wanted.div_ceil(times), times }
    }
}

/// Stores `settings.preload` payments, or a few more: every payment that is made has as many copies.
pub(super) async fn fill(
    installation: &Installation,
    settings: &Settings,
    tell: &dyn Fn(&str),
) -> anyhow::Result<Tally> {
    if settings.preload == 0 {
        return Ok(Tally::default());
    }
    let plan = Plan::new(settings.preload, settings.preload_made);
    let make = async |server: &super::ServerProcess| {
        tell(&format!("making {} payments", plan.made));
        let crowd = Crowd::new(settings, installation, server.address);
        let made = crowd.run(Until::Pairs(plan.made), Pace::Closed).await?;
        tell("waiting for settlement");
        let drain = Duration::from_secs(settings.drain_s);
        let left = drained(installation, Instant::now() + drain).await?;
        Ok((made, left))
    };
    let (mut tally, left) = serving(installation, tell, make).await?;
    if plan.times > 1 {
        anyhow::ensure!(
            left == 0,
            "{left} payments of the preload did not settle within {} s, see --drain",
            settings.drain_s
        );
        let copied = multiply(installation, plan, tell).await?;
        tally.accepted += copied.stored;
        tally.samples.extend(copied.samples);
    }
    Ok(tally)
}

struct Copied {
    /// Payments that are stored beside those that were made.
    stored: u64,
    samples: Vec<Sample>,
}

/// Stores each payment of this run `plan.times` times in all.
async fn multiply(
    installation: &Installation,
    plan: Plan,
    tell: &dyn Fn(&str),
) -> anyhow::Result<Copied> {
    tell("reading the payments to copy");
    let copies = plan.times - 1;
    let templates = interruptible(Templates::read(installation)).await?;
    let copying = Copies::new(installation, &templates, copies, SPREAD).await?;
    let saved = save_all(&copying, copies, templates.payments.len() as u64, tell);
    let done = installation.while_copying(interruptible(saved)).await?;
    tell("gathering the database's statistics");
    let gathered =
        async { installation.store.gather_statistics().await.context("gathering statistics") };
    interruptible(gathered).await?;
    Ok(done)
}

/// Saves so many copies of `each` payments, and brings the books up to date with them.
async fn save_all(
    copying: &Copies<'_>,
    copies: u64,
    each: u64,
    tell: &dyn Fn(&str),
) -> anyhow::Result<Copied> {
    let samples_each = SAMPLES_MAX.div_ceil(usize::try_from(copies)?);
    let sampled_every = copies.div_ceil(SAMPLES_MAX as u64);
    let savers = std::thread::available_parallelism().map_or(1, usize::from).min(SAVERS_MAX);
    let (began, mut told) = (Instant::now(), Instant::now());
    let mut done = Copied { stored: 0, samples: Vec::new() };
    let mut saving = futures_util::stream::iter(0..copies)
        .map(|nth| {
            let wanted = if nth.is_multiple_of(sampled_every) { samples_each } else { 0 };
            copying.save(nth, wanted)
        })
        .buffer_unordered(savers);
    while let Some(samples) = saving.try_next().await? {
        done.stored += each;
        done.samples.extend(samples);
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            let (all, rate) = (copies * each, per_second(done.stored, began.elapsed()));
            tell(&format!("copied {} of {all} payments, {rate}/s", done.stored));
        }
    }
    drop(saving);
    copying.close().await?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_as_many_payments_as_wanted_are_stored() {
        for (wanted, made, plan) in [
            (60, 4_000, (60, 1)),
            (4_000, 4_000, (4_000, 1)),
            (4_001, 4_000, (2_001, 2)),
            (3_300, 300, (300, 11)),
            (10_000_000, 4_000, (4_000, 2_500)),
            (7, 0, (1, 7)),
        ] {
            let found = Plan::new(wanted, made);
            assert_eq!((found.made, found.times), plan, "{wanted} of {made}");
            assert!((wanted..wanted + found.times).contains(&(found.made * found.times)));
        }
    }
}
