//! One read of a source of rates, and what would be quoted from it alone: nothing is stored, and no
//! server runs.

use std::collections::BTreeMap;

use adapters::rates::{DirectRate, Form, LiveRates, RateSource};
use anyhow::Context as _;
use domain::currency::{Currency, StableCoin};
use domain::ports::{Bid, Mid, RateBook as _};
use domain::time::{Span, Timestamp};

use super::preflight::needed_pairs;
use super::world;
use config::Config;

/// What a source states.
#[derive(Debug)]
pub struct RateTest {
    pub source: RateSource,
    /// The form of its document, if it could be read.
    pub form: Option<Form>,
    pub rates: Vec<DirectRate>,
    /// The pairs of open corridors for which the source has all rates that are needed.
    pub quotes: Vec<Quoted>,
    /// When it rests next, or rests now.
    pub rest: Option<(Timestamp, Timestamp)>,
    /// What is wrong, with the rule.
    pub faults: Vec<String>,
}

/// A pair that could be quoted.
#[derive(Debug)]
pub struct Quoted {
    pub base: Currency,
    pub quote: Currency,
    pub mid: Mid,
    /// The rate that would be used now.
    pub bid: Option<Bid>,
}

/// Reads the source of this name, number or location, and tries its rates.
///
/// # Errors
/// There is no such source, or its client cannot be built.
pub async fn test(config: &Config, name: &str, now: Timestamp) -> anyhow::Result<RateTest> {
    let sources = config.rate_sources();
    let by_number = || sources.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    let by_name = sources.iter().find(|source| source.name == name || source.origin() == name);
    let source = by_name.or_else(by_number).cloned().with_context(|| {
        let all = sources.iter().zip(1..).map(|(source, number)| {
            let name =
                if source.name.is_empty() { number.to_string() } else { source.name.clone() };
            format!("{name}: {}", source.origin())
        });
        format!(
            "SOURCE: {name:?} is not one of rates.sources ({})",
            all.collect::<Vec<_>>().join(", ")
        )
    })?;
    let book = LiveRates::new(vec![source.clone()], config.rate_limits());
    let read = book.refresh(&world::rate_servers(config)?, now).await;
    let mut faults: Vec<String> = read.failed.iter().map(|(_, error)| error.to_string()).collect();
    faults.extend(read.held_back.iter().map(ToString::to_string));
    let rest = source.week.as_ref().and_then(|week| week.rest(now));
    let rests = rest.is_some_and(|(from, to)| (from..to).contains(&now));
    let mut quotes: BTreeMap<(Currency, Currency), Quoted> = BTreeMap::new();
    for (base, quote, terms) in needed_pairs(config) {
        let Some(mid) = book.mid(base, quote) else { continue };
        let bid = book.bid(base, quote, &terms);
        // Corridors of one currency differ in their terms alone: what any of them quotes counts.
        let known = quotes.entry((base, quote)).or_insert(Quoted { base, quote, mid, bid });
        known.bid = known.bid.or(bid);
    }
    let (_, state) = book.stated().pop().context("a book without its source")?;
    let rates = state.table.snapshot();
    faults.extend(off_peg(&book, config));
    let limit = source.max_age.unwrap_or(config.rate_limits().max_age);
    let is_old = |rate: &&DirectRate| match rests {
        // Quotes count the age of such rates without the time of rest.
        true => source.is_outdated(rate, now, limit),
        false => now - rate.mid.as_of > limit,
    };
    let old = rates.iter().filter(is_old).count();
    if old > 0 && (quotes.is_empty() || quotes.values().any(|quoted| quoted.bid.is_none())) {
        let (key, seconds) = match source.max_age {
            Some(Span(micros)) => ("its max_age_s", micros / 1_000_000),
            None => ("max_rate_age_s of the corridors", limit.0 / 1_000_000),
        };
        let of = rates.len();
        let rest =
            if rests { " and the time in which the source rests does not count" } else { "" };
        faults.push(format!("{old} of {of} rates are too old to quote: {key} is {seconds}{rest}"));
    }
    Ok(RateTest {
        form: state.form,
        rates,
        quotes: quotes.into_values().collect(),
        rest,
        faults,
        source,
    })
}

fn off_peg(book: &LiveRates, config: &Config) -> Vec<String> {
    let limit = config.rates.max_depeg_bps;
    let far = StableCoin::ALL.into_iter().filter_map(|coin| Some((coin, book.off_peg(coin)?)));
    far.map(|(coin, price)| {
        let coin = coin.currency().code();
        format!("{coin}/USD is {price}, further from 1 than rates.max_depeg_bps ({limit})")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::tests::config;

    #[tokio::test]
    async fn a_source_at_rest_is_judged_as_quotes_judge_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("rates.csv");
        let sources = format!(
            r#"[{{ name = "bank", location = "{}", max_age_s = 3600, week = ["mon 00:00", "fri 24:00"] }}]"#,
            file.display()
        );
        let closed = config(&[("rates.source", "live"), ("rates.sources", &sources)]);
        let last = config(&[
            ("rates.source", "live"),
            ("rates.sources", &sources),
            ("corridors.PAK.weekend_rates", "last"),
            ("corridors.PAK.weekend_margin_bps", "100"),
        ]);
        let at = |text: &str| {
            Timestamp(text.parse::<jiff::Timestamp>().expect("a time").as_microsecond())
        };
        // It rests from Saturday, 28 November, to Monday, 30 November.
        for (as_of, now, is_too_old) in [
            ("2026-11-27T23:30:00Z", "2026-11-27T23:40:00Z", false),
            ("2026-11-27T22:30:00Z", "2026-11-27T23:40:00Z", true),
            ("2026-11-27T23:30:00Z", "2026-11-28T12:00:00Z", false),
            ("2026-11-27T22:30:00Z", "2026-11-28T12:00:00Z", true),
            ("2026-11-26T12:00:00Z", "2026-11-29T12:00:00Z", true),
        ] {
            let rows =
                format!("base,quote,rate,as_of\nUSD,PKR,278,{as_of}\nUSD,AED,3.67,{as_of}\n");
            std::fs::write(&file, rows).expect("written");
            for config in [&closed, &last] {
                let test = test(config, "bank", at(now)).await.expect("a source");
                assert_eq!(test.rates.len(), 2, "{:?}", test.faults);
                let old = test.faults.iter().filter(|fault| fault.contains("are too old")).count();
                assert_eq!(old == 1, is_too_old, "{as_of}, {now}: {:?}", test.faults);
                let quoted = test.quotes.iter().any(|quoted| quoted.bid.is_some());
                assert!(!(quoted && is_too_old), "{as_of}, {now}: {:?}", test.quotes);
            }
        }
    }
}
