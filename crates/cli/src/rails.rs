//! `corridor rails …`: what rails would send, from the configuration alone.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use domain::country::Country;
use domain::decimal::Decimal;
use domain::order::{UncheckedOrder, example, merge_faults};
use domain::time::Timestamp;
use http_api::decode::Rejection;
use http_api::payments_v2::decode::payment_order;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::json;

use super::config::ConfigArgs;
use super::document::{self, Members};
use super::failure::Failure;
use super::order::read_order_file;
use super::output::{self, Output};
use super::table::wrapped;
use super::{Context, api};
use config::{Config, RailEntry};
use service::rail_preview::{RailPreview, preview};

/// Amount of a sample order within most rails' limits.
const SAMPLE_AMOUNT: i64 = 25_000;
/// The quote of an order that names none.
const NO_QUOTE: &str = "00000000-0000-4000-8000-000000000000";

#[derive(Subcommand, Debug)]
pub enum RailsCommand {
    /// Print the message that a sample order would send to a bank; nothing is sent or stored
    Preview(PreviewArgs),
}

/// Options of `rails preview`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor rails preview --country PAK --amount 25000
  corridor rails preview --rail npl-nchl-ips --at 2026-11-27T12:00:00Z
  corridor rails preview --rail pak-raast --format xml > message.xml")]
pub struct PreviewArgs {
    /// Rail by its id; without it, the one that the order would take
    #[arg(long, value_name = "ID")]
    rail: Option<String>,
    /// JSON file with an order as in POST /v2/payment; without it, a made-up example
    #[arg(long, value_name = "FILE")]
    order: Option<PathBuf>,
    /// Destination country; required without --rail and --order
    #[arg(long, visible_alias = "to", value_parser = api::country)]
    country: Option<Country>,
    /// Amount in the destination currency [default: 25000, within the rail's limits]
    #[arg(long)]
    amount: Option<Decimal>,
    /// Time at which it is sent, which decides the execution date [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<jiff::Timestamp>,
    /// text: facts and elements for reading; xml: exactly the bytes that are sent
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    format: Format,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Xml,
}

pub fn run(command: &RailsCommand, context: &Context) -> Result<(), Failure> {
    let RailsCommand::Preview(args) = command;
    let config = args.config.load()?;
    let rail = args.rail(&config)?;
    let order = args.order(rail)?;
    let now = args.at.unwrap_or_else(jiff::Timestamp::now);
    let now = Timestamp(now.as_microsecond());
    let data_dir = context.data_dir()?;
    let shown = preview(&config, data_dir.path(), order, args.rail.as_deref(), now)
        .map_err(Failure::refused)?;
    if let Some(reason) = &shown.unfit {
        output::remark(&format!("{} would not take this order: {reason}", shown.rail));
    }
    match (args.format, context.output) {
        (Format::Xml, _) => {
            output::remark(&shown.destination);
            output::raw(shown.message.xml.as_bytes())
        }
        (Format::Text, Output::Json) => output::json(&as_json(&shown)),
        (Format::Text, Output::Table) => {
            output::members(&facts(&shown))?;
            output::line("")?;
            output::line(&outline(&shown.message.xml, output::width())?)
        }
    }
}

impl PreviewArgs {
    fn rail<'a>(&self, config: &'a Config) -> Result<Option<&'a RailEntry>, Failure> {
        let Some(id) = &self.rail else { return Ok(None) };
        let known = config.rails.iter().find(|rail| rail.id == *id);
        let unknown = || {
            let all: Vec<&str> = config.rails.iter().map(|rail| rail.id.as_str()).collect();
            Failure::Usage(format!("--rail: {id} is not one of {}", all.join(", ")))
        };
        known.map(Some).ok_or_else(unknown)
    }

    fn order(&self, rail: Option<&RailEntry>) -> Result<UncheckedOrder, Failure> {
        let country = self.country.or_else(|| Country::parse(&rail?.country));
        match &self.order {
            Some(_) => self.order_of_file(country, rail),
            None => {
                let missing =
                    || Failure::Usage("--country: required without --order and --rail".to_owned());
                let country = country.ok_or_else(missing)?;
                let amount = self.amount.unwrap_or_else(|| sample_amount(rail));
                let quote = domain::ids::QuoteId(uuid::Uuid::nil());
                Ok(example::order(country, quote, domain::currency::Currency::Aed, amount))
            }
        }
    }

    /// The order in the file. Quote, country and amount may be missing there, as for `corridor pay`.
    fn order_of_file(
        &self,
        country: Option<Country>,
        rail: Option<&RailEntry>,
    ) -> Result<UncheckedOrder, Failure> {
        let mut members = read_order_file(self.order.as_ref())?;
        let absent = |members: &Members, name: &str| !members.contains_key(name);
        for (name, value) in [("quote", NO_QUOTE), ("currency", "AED")] {
            if absent(&members, name) {
                members.insert(name.to_owned(), document::text(value)?);
            }
        }
        if let Some(country) =
            country.filter(|_| self.country.is_some() || absent(&members, "country"))
        {
            members.insert("country".to_owned(), document::text(country.alpha3())?);
        }
        if self.amount.is_some() || absent(&members, "amount") {
            let amount = self.amount.unwrap_or_else(|| sample_amount(rail));
            members.insert("amount".to_owned(), document::number(amount)?);
        }
        let wrong = |faults: Vec<domain::fault::Fault>| {
            let faults = faults.iter().map(|fault| format!("{}: {}", fault.field, fault.message));
            Failure::Usage(format!("--order: {}", faults.collect::<Vec<_>>().join("\n")))
        };
        match payment_order(document::object(&members)?.as_bytes()) {
            Ok((order, faults)) if faults.is_empty() => Ok(order),
            Ok((_, faults)) => Err(wrong(merge_faults(faults, Vec::new()))),
            Err(Rejection::Faults { faults, .. }) => Err(wrong(faults)),
            Err(other) => Err(Failure::Usage(format!("--order: {other}"))),
        }
    }
}

fn sample_amount(rail: Option<&RailEntry>) -> Decimal {
    let usual = Decimal::from_int(SAMPLE_AMOUNT);
    rail.map_or(usual, |rail| usual.min(rail.max.0).max(rail.min.0))
}

fn facts(shown: &RailPreview) -> Vec<(&'static str, String)> {
    let message = &shown.message;
    let execution = format!("{} ({})", message.execution_date, shown.time_zone);
    vec![
        ("rail", shown.rail.to_string()),
        ("message", shown.version.to_owned()),
        ("message id", message.message_id.clone()),
        ("file", message.file_name.clone().unwrap_or_default()),
        ("sent to", shown.destination.clone()),
        ("execution date", execution),
        ("payments", message.payments.to_string()),
        ("bytes", message.xml.len().to_string()),
    ]
}

fn as_json(shown: &RailPreview) -> serde_json::Value {
    let message = &shown.message;
    json!({
        "rail": shown.rail.to_string(),
        "message": shown.version,
        "message_id": message.message_id,
        "file_name": message.file_name,
        "sent_to": shown.destination,
        "execution_date": message.execution_date.to_string(),
        "time_zone": shown.time_zone,
        "unfit": shown.unfit,
        "xml": message.xml,
    })
}

/// The elements one below the other, each within `width`.
fn outline(xml: &str, width: usize) -> Result<String, Failure> {
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(xml) {
        return Ok(format!("{json:#}"));
    }
    let failed = |error: quick_xml::Error| Failure::unavailable(error);
    let mut reader = Reader::from_str(xml);
    let (mut lines, mut depth, mut text) = (Vec::new(), 0_usize, String::new());
    let mut is_leaf = false;
    loop {
        match reader.read_event().map_err(failed)? {
            Event::Start(start) => {
                lines.push(format!("{:indent$}{}", "", name(&start)?, indent = depth * 2));
                depth += 1;
                is_leaf = true;
                text.clear();
            }
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(entity) => text.push_str(resolve(&entity)),
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                if is_leaf && let Some(line) = lines.pop() {
                    lines.extend(with_text(&line, &text, width));
                }
                is_leaf = false;
            }
            Event::Eof => return Ok(lines.join("\n")),
            _ => {}
        }
    }
}

/// The name of an element, and the currency or namespace of its attributes.
fn name(start: &BytesStart<'_>) -> Result<String, Failure> {
    let mut name = start.to_string();
    if let Some((element, _)) = name.split_once(' ') {
        name = element.to_owned();
    }
    for attribute in start.attributes() {
        let attribute =
            attribute.map_err(|error| Failure::unavailable(quick_xml::Error::from(error)))?;
        name.push_str(&format!(" {}", attribute.value));
    }
    Ok(name)
}

fn resolve(entity: &str) -> &'static str {
    match entity {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        _ => "'",
    }
}

/// A line with its element's text, which continues below where it is too long.
fn with_text(line: &str, text: &str, width: usize) -> Vec<String> {
    let indent = line.len() + 2;
    let space = width.saturating_sub(indent).max(1);
    let mut parts = Vec::new();
    for part in wrapped(&client::printable(text), space) {
        let signs: Vec<char> = part.chars().collect();
        parts.extend(signs.chunks(space).map(|chunk| chunk.iter().collect::<String>()));
    }
    let mut lines = Vec::new();
    for part in parts {
        let head = if lines.is_empty() { format!("{line}  ") } else { " ".repeat(indent) };
        lines.push(format!("{head}{part}"));
    }
    if lines.is_empty() { vec![line.to_owned()] } else { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outline_fits_and_loses_nothing() {
        let long = "word ".repeat(20) + &"x".repeat(150);
        let xml = format!(
            "<?xml version=\"1.0\"?>\n<Document xmlns=\"urn:x\"><A><Nm>{long}</Nm><B Ccy=\"PKR\">1.00</B><Empty></Empty>\
             <Ustrd>a &amp; b &lt;c&gt; &apos;d&apos; &quot;</Ustrd></A></Document>"
        );
        for width in [20, 80, 200] {
            let shown = outline(&xml, width).expect("well-formed");
            assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
            let letters = |text: &str| text.chars().filter(|c| *c == 'x').count();
            assert_eq!(letters(&shown), letters("urn:x") + 150);
            assert!(shown.starts_with("Document urn:x\n  A\n    Nm"), "{shown}");
        }
        let wide = outline(&xml, 300).expect("well-formed");
        assert!(
            wide.contains("\n    B PKR  1.00\n    Empty\n    Ustrd  a & b <c> 'd' \""),
            "{wide}"
        );
    }
}
