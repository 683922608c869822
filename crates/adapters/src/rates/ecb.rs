//! The European Central Bank's reference rates (`eurofxref`): XML with an element `Cube` for each day
//! and each currency of one euro.

use domain::currency::Currency;
use domain::time::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::published::Published;
use super::sheet::{Price, Reading, SheetError, shown};
use super::table::DirectRate;

/// Local time of the bank's publications.
const PUBLISHED_AT: Time = Time::constant(16, 0, 0, 0);
/// Frankfurt's time zone, as a rule of POSIX.
const ZONE: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
/// Maximum number of attributes of one element, each of which is compared with the ones before it.
const MAX_ATTRIBUTES: usize = 64;

/// Reads the newest day of the document, by the bank's clock unless the source has one of its own.
pub(super) fn read(text: &str, read: Reading<'_>) -> Result<Vec<DirectRate>, SheetError> {
    let malformed = |error: &dyn std::fmt::Display| SheetError::Form(format!("XML: {error}"));
    let bank = match TimeZone::posix(ZONE) {
        Ok(zone) if *read.published == Published::default() => Published { zone, at: PUBLISHED_AT },
        _ => read.published.clone(),
    };
    let empty = || Reading { published: &bank, now: read.now, rates: Vec::new() };
    let mut days: Vec<(Timestamp, Reading<'_>)> = Vec::new();
    let mut reader = Reader::from_str(text);
    let (mut root, mut depth) = (None, 0_usize);
    loop {
        let event = reader.read_event().map_err(|error| malformed(&error))?;
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Eof if depth > 0 => return Err(malformed(&"ends too early")),
            _ => {}
        }
        match event {
            Event::DocType(_) => return Err(SheetError::Form("XML: has a DOCTYPE".to_owned())),
            Event::Start(element) | Event::Empty(element) => {
                let name = element.local_name();
                let name: &str = name.as_ref();
                root.get_or_insert_with(|| name.to_owned());
                if name != "Cube" {
                    continue;
                }
                let [time, code, rate] = attributes(&element)?;
                if let Some(time) = time {
                    days.push((empty().time(&time)?, empty()));
                }
                let Some((code, rate)) = code.zip(rate) else { continue };
                let (as_of, day) =
                    days.last_mut().ok_or_else(|| SheetError::Missing("time".to_owned()))?;
                if let Some(quote) = Currency::parse(&code).filter(|code| *code != Currency::Eur) {
                    day.add(Currency::Eur, quote, &Price::mid(&rate), *as_of)?;
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    match days.into_iter().max_by_key(|(day, _)| *day) {
        Some((_, day)) => Ok(day.rates),
        None => Err(SheetError::Form(format!(
            "an XML document <{}> without the rates of a day (Cube time=…)",
            shown(&root.unwrap_or_default())
        ))),
    }
}

/// `time`, `currency` and `rate` of an element.
fn attributes(element: &BytesStart<'_>) -> Result<[Option<String>; 3], SheetError> {
    let mut found = [None, None, None];
    for (count, attribute) in (1..).zip(element.attributes()) {
        if count > MAX_ATTRIBUTES {
            return Err(SheetError::Form(format!("XML: more than {MAX_ATTRIBUTES} attributes")));
        }
        let attribute =
            attribute.map_err(|error| SheetError::Form(format!("XML: bad attribute: {error}")))?;
        let name: &str = attribute.key.local_name().into_inner();
        if let Some(at) = ["time", "currency", "rate"].iter().position(|known| *known == name) {
            found[at] = Some(attribute.value.trim().to_owned());
        }
    }
    Ok(found)
}
