//! `corridor rates …`: tries sources of rates with the configuration's addresses and secrets.

use adapters::rates::{DirectRate, RateSource};
use clap::{Args, Subcommand};
use domain::currency::Currency;
use domain::time::{Span, Timestamp};
use serde_json::{Value, json};

use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use super::table::{number, state, text, wrapped};
use super::{Context, run_async};
use service::rate_test::{self, Quoted, RateTest};

#[derive(Subcommand, Debug)]
pub enum RatesCommand {
    /// Read a source once and show its rates, their ages, and what would be quoted
    Test(TestArgs),
}

/// Options of `rates test`.
#[derive(Args, Debug)]
#[command(
    after_help = "Fails if the document cannot be read or used, with the rule that it violates.

Examples:
  corridor rates test ecb
  corridor rates test 1 --output json"
)]
pub struct TestArgs {
    /// Name of a source in rates.sources, its location, or its number
    #[arg(value_name = "SOURCE")]
    source: String,
    #[command(flatten)]
    config: ConfigArgs,
}

pub fn run(command: &RatesCommand, context: &Context) -> Result<(), Failure> {
    let RatesCommand::Test(args) = command;
    let config = args.config.load()?;
    let now = Timestamp(jiff::Timestamp::now().as_microsecond());
    let mut test = run_async(async {
        rate_test::test(&config, &args.source, now).await.map_err(Failure::usage)
    })?;
    test.faults.iter_mut().for_each(|fault| *fault = bounded(fault));
    match context.output {
        Output::Json => output::json(&as_json(&test, now))?,
        Output::Table => print(&test, now)?,
    }
    for fault in &test.faults {
        output::remark(&wrapped(fault, output::width()).join("\n"));
    }
    match test.faults.len() {
        0 => Ok(()),
        1 => Err(Failure::Refused("the source has a fault".to_owned())),
        count => Err(Failure::Refused(format!("the source has {count} faults"))),
    }
}

/// Longest fault that is shown, in characters.
const FAULT_MAX_CHARS: usize = 500;

/// The beginning of a fault: it may quote a document, which may be one line.
fn bounded(fault: &str) -> String {
    let beginning: String = fault.chars().take(FAULT_MAX_CHARS).collect();
    match fault.chars().count().saturating_sub(FAULT_MAX_CHARS) {
        0 => beginning,
        more => format!("{beginning} … (and {more} more characters)"),
    }
}

fn print(test: &RateTest, now: Timestamp) -> Result<(), Failure> {
    output::members(&facts(test, now))?;
    if !test.rates.is_empty() {
        let columns = [text("PAIR"), number("RATE"), number("BID"), number("ASK"), text("AGE")];
        output::line("")?;
        output::rows(&columns, test.rates.iter().map(|rate| stated(rate, now)).collect())?;
    }
    if !test.quotes.is_empty() {
        let columns = [text("QUOTED"), number("RATE"), state("STATE"), text("AGE")];
        output::line("")?;
        output::rows(&columns, test.quotes.iter().map(|quoted| row(quoted, now)).collect())?;
    }
    Ok(())
}

fn facts(test: &RateTest, now: Timestamp) -> Vec<(&'static str, String)> {
    let RateSource { max_age, .. } = &test.source;
    let rest = test.rest.map_or_else(String::new, |(from, to)| match from <= now {
        true => format!("now, until {to}"),
        false => format!("from {from} to {to}"),
    });
    vec![
        ("source", test.source.title()),
        ("location", test.source.origin()),
        ("form", test.form.map_or_else(String::new, |form| form.name().to_owned())),
        ("rates", test.rates.len().to_string()),
        ("age limit", max_age.map_or_else(|| "that of the corridor".to_owned(), age)),
        ("rests", rest),
    ]
}

fn pair(base: Currency, quote: Currency) -> String {
    format!("{}/{}", base.code(), quote.code())
}

fn stated(rate: &DirectRate, now: Timestamp) -> Vec<String> {
    let has_sides = rate.bid != rate.ask;
    let side = |value: domain::decimal::Decimal| match has_sides {
        true => value.to_string(),
        false => String::new(),
    };
    vec![
        pair(rate.base, rate.quote),
        rate.mid.rate.to_string(),
        side(rate.bid),
        side(rate.ask),
        age(now - rate.mid.as_of),
    ]
}

fn row(quoted: &Quoted, now: Timestamp) -> Vec<String> {
    vec![
        pair(quoted.base, quoted.quote),
        quoted.bid.map_or_else(String::new, |bid| bid.rate.to_string()),
        word(quoted).to_owned(),
        age(now - quoted.bid.map_or(quoted.mid.as_of, |bid| bid.as_of)),
    ]
}

/// Whether a pair is quoted.
fn word(quoted: &Quoted) -> &'static str {
    match quoted.bid {
        Some(bid) if bid.is_weekend => "weekend rate",
        Some(_) => "quoted",
        None => "not quoted",
    }
}

/// A span in its greatest unit.
fn age(span: Span) -> String {
    let seconds = span.0 / 1_000_000;
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn as_json(test: &RateTest, now: Timestamp) -> Value {
    let rates = test.rates.iter().map(|rate| {
        json!({
            "pair": pair(rate.base, rate.quote),
            "rate": rate.mid.rate.to_string(),
            "bid": rate.bid.to_string(),
            "ask": rate.ask.to_string(),
            "as_of": rate.mid.as_of.to_string(),
            "age_s": (now - rate.mid.as_of).0 / 1_000_000,
        })
    });
    let quotes = test.quotes.iter().map(|quoted| {
        json!({
            "pair": pair(quoted.base, quoted.quote),
            "state": word(quoted),
            "rate": quoted.bid.map(|bid| bid.rate.to_string()),
        })
    });
    json!({
        "source": test.source.title(),
        "location": test.source.origin(),
        "form": test.form.map(|form| form.name()),
        "rates": rates.collect::<Vec<_>>(),
        "quotes": quotes.collect::<Vec<_>>(),
        "faults": test.faults,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_quotes_a_document_is_bounded() {
        for (text, shown) in [
            ("no rates".to_owned(), "no rates".to_owned()),
            ("é".repeat(500), "é".repeat(500)),
            ("é".repeat(501), format!("{} … (and 1 more characters)", "é".repeat(500))),
            ("x".repeat(100_000), format!("{} … (and 99500 more characters)", "x".repeat(500))),
        ] {
            assert_eq!(bounded(&text), shown);
        }
    }
}
