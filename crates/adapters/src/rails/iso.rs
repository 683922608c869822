//! Shared parts of ISO 20022 messages: namespaces, amounts, statuses, the ids of an attempt. Pure
//! functions.

use domain::characters::one_line;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::rail::{self, RailStatus};
use domain::rail_ids;
use domain::time::Timestamp;

use super::xml_read::Element;

/// Namespace prefix of every ISO 20022 message.
pub(super) const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:";

/// Maximum length of a bank's free text that is kept.
const MAX_INFO_CHARS: usize = 350;
/// Maximum number of reason codes of one report.
const MAX_REASONS: usize = 10;
/// Maximum length of a code or a reference that is kept (the standard allows 35).
const MAX_REFERENCE_CHARS: usize = 140;
/// Maximum length of an invalid value that a complaint quotes.
const MAX_QUOTED_CHARS: usize = 48;
/// Digits of an amount (ActiveOrHistoricCurrencyAndAmount: totalDigits 18, fractionDigits 5).
const MAX_AMOUNT_DIGITS: usize = 18;
const MAX_AMOUNT_DECIMALS: usize = 5;

/// Placeholder for a missing id in ISO 20022.
pub(super) const NOT_PROVIDED: &str = "NOTPROVIDED";

/// The meaning of a pain.002 status code, as in `corridors.md`. `UNKN` is the proprietary "not
/// known to the rail".
pub(super) fn status(code: &str) -> RailStatus {
    match code {
        "RCVD" => RailStatus::Received,
        "ACTC" | "ACCP" | "ACSP" | "ACWC" | "ACFC" | "ACWP" | "ACPD" | "ACIS" | "PATC" | "PRES"
        | "PDNG" => RailStatus::Accepted,
        "ACSC" | "ACCC" | "CPUC" => RailStatus::Settled,
        "RJCT" => RailStatus::Rejected,
        "CANC" => RailStatus::Cancelled,
        "UNKN" | "BLCK" => RailStatus::Unknown,
        other => RailStatus::Unrecognised(reference(other)),
    }
}

/// The ids of an element as the bank wrote them, bounded; a placeholder counts as missing.
pub(super) fn id(element: &Element, path: &[&str]) -> Option<String> {
    provided(element.text_at(path))
}

/// Refuses an element that states one of these more than once, differently: which one holds is open.
pub(super) fn once(element: &Element, names: &[&str]) -> Result<(), String> {
    let differs = |name: &&&str| {
        let mut all = element.all(name);
        let first = all.next();
        all.any(|other| Some(other) != first)
    };
    match names.iter().find(differs) {
        Some(name) => Err(format!("it has two {name} that differ")),
        None => Ok(()),
    }
}

/// An amount element, exact; `Ok(None)` if it is missing.
pub(super) fn amount(element: Option<&Element>) -> Result<Option<Money>, String> {
    let Some(element) = element else {
        return Ok(None);
    };
    let code = element.currency.as_deref().ok_or_else(|| format!("{} has no Ccy", element.name))?;
    money(&element.text, code).map(Some)
}

/// An amount of a bank, exact.
pub(super) fn money(text: &str, code: &str) -> Result<Money, String> {
    let currency =
        Currency::parse(code).ok_or_else(|| format!("currency {} is not known", quoted(code)))?;
    let wrong = || format!("amount {} {code} cannot be read exactly", quoted(text));
    Money::exact(decimal(text).ok_or_else(wrong)?, currency).ok_or_else(wrong)
}

/// A non-negative `xs:decimal` within the bounds of an amount.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = whole.len() + fraction.len();
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !all_digits
        || digits == 0
        || digits > MAX_AMOUNT_DIGITS
        || fraction.len() > MAX_AMOUNT_DECIMALS
    {
        return None;
    }
    let mantissa = format!("{whole}{fraction}").parse::<i128>().ok()?;
    Some(Decimal::new(mantissa, u32::try_from(fraction.len()).ok()?))
}

/// A reference or an id; a placeholder, and a text with bytes that are none of its encoding, count as
/// missing.
pub(super) fn provided(text: Option<&str>) -> Option<String> {
    let is_whole = |text: &&str| !text.contains(char::REPLACEMENT_CHARACTER);
    text.filter(is_whole).filter(|text| !rail_ids::is_placeholder(text)).map(reference)
}

/// A bank's code or reference, printable and bounded.
pub(super) fn reference(text: &str) -> String {
    clean(text, MAX_REFERENCE_CHARS)
}

/// A bank's codes, bounded.
pub(super) fn bounded_codes<'a>(codes: impl Iterator<Item = &'a str>) -> Vec<String> {
    codes.take(MAX_REASONS).map(reference).collect()
}

/// A bank's free text, printable and bounded; `None` if it is blank.
pub(super) fn free_text(text: &str) -> Option<String> {
    Some(clean(text.trim(), MAX_INFO_CHARS)).filter(|text| !text.is_empty())
}

/// All codes and texts of reason elements (`StsRsnInf`, `RtrRsnInf`, `RtrInf`). A code of the bank's own
/// that equals one of ISO's need not mean the same: the text counts, too.
pub(super) fn reasons<'a>(
    elements: impl Iterator<Item = &'a Element>,
) -> (Vec<String>, Option<String>) {
    let (mut codes, mut words) = (Vec::new(), String::new());
    for element in elements {
        let code = element.text_at(&["Rsn", "Cd"]);
        let own = element.text_at(&["Rsn", "Prtry"]).filter(|_| code.is_none());
        let beside = own.filter(|own| rail::states_reason(own)).map(|_| rail::NARRATIVE);
        for said in code.or(own).into_iter().chain(beside) {
            if codes.len() < MAX_REASONS {
                codes.push(reference(said));
            }
        }
        for info in element.all("AddtlInf").filter(|info| !info.text.is_empty()) {
            if words.len() <= MAX_INFO_CHARS {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(&clean(&info.text, MAX_INFO_CHARS));
            }
        }
    }
    (codes, Some(clean(&words, MAX_INFO_CHARS)).filter(|words| !words.is_empty()))
}

/// The reasons and the text of a report that has no status, as a complaint quotes them; `None` if it
/// has neither.
pub(super) fn unanswered(reasons: &[String], info: Option<&str>) -> Option<String> {
    let codes: Vec<String> = reasons.iter().map(|code| quoted(code)).collect();
    let codes = (!codes.is_empty()).then(|| format!("reasons {}", codes.join(", ")));
    let text = info.map(|text| format!("text {}", quoted(text)));
    match (codes, text) {
        (Some(codes), Some(text)) => Some(format!("{codes} and {text}")),
        (codes, text) => codes.or(text),
    }
}

/// The sum of charge elements: `ChrgsInf` of a report, `Chrgs` of a booking in each of its
/// versions. `None` if there are none, and if they have no sum: in several currencies, in one that
/// is not known, or unreadable. They only explain why an amount differs; where they do not, the
/// difference is reported.
pub(super) fn charges<'a>(elements: impl Iterator<Item = &'a Element>) -> Option<Money> {
    let mut sum: Option<Money> = None;
    for element in elements {
        let total = element.child("TtlChrgsAndTaxAmt");
        let records: Vec<&Element> = match total {
            Some(total) => vec![total],
            None => element
                .child("Amt")
                .into_iter()
                .chain(element.all("Rcrd").filter_map(|it| it.child("Amt")))
                .collect(),
        };
        // Banks list kinds of charges that they did not take.
        for record in records.into_iter().filter(|it| !is_zero(&it.text)) {
            let Some(amount) = amount(Some(record)).ok()? else { continue };
            let before = sum.unwrap_or(Money::new(0, amount.currency));
            let minor = before
                .minor
                .checked_add(amount.minor)
                .filter(|_| before.currency == amount.currency)?;
            sum = Some(Money::new(minor, amount.currency));
        }
    }
    sum
}

fn is_zero(text: &str) -> bool {
    text.contains('0') && text.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

/// The amounts of a booked transaction, the one that counts first.
pub(super) fn transaction_amounts(details: &Element) -> Result<Vec<Money>, String> {
    let places = [
        ["Amt"].as_slice(),
        &["AmtDtls", "TxAmt", "Amt"],
        &["AmtDtls", "InstdAmt", "Amt"],
        &["AmtDtls", "CntrValAmt", "Amt"],
    ];
    amounts(places.into_iter().filter_map(|place| details.at(place)))
}

/// Several amounts of one transaction. The first one has to be exact, unless its currency alone is not
/// known and that of another one is: the bank's account may be in any currency.
pub(super) fn amounts<'a>(
    elements: impl Iterator<Item = &'a Element>,
) -> Result<Vec<Money>, String> {
    let is_known = |element: &&Element| {
        element.currency.as_deref().is_none_or(|code| Currency::parse(code).is_some())
    };
    let all: Vec<&Element> = elements.collect();
    let known: Vec<&Element> = all.iter().copied().filter(is_known).collect();
    let counted = if known.is_empty() { all } else { known };
    let mut read = counted.into_iter().map(|element| amount(Some(element)));
    let first = read.next().transpose()?.flatten();
    Ok(first.into_iter().chain(read.filter_map(|it| it.ok().flatten())).collect())
}

/// What separates a date from a time.
const SEPARATORS: [char; 3] = ['T', 't', ' '];

/// Whether an instant is a date without a time.
pub(super) fn is_date(text: &str) -> bool {
    !text.contains(SEPARATORS)
}

/// An `xs:dateTime` in any of its forms, in UTC if it has no offset; also with a space or `t` in
/// place of `T`, or an offset without a colon, as several programs write it. An `xs:date` is its
/// midnight.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    let is_date_only = is_date(text);
    let (date, rest) = match text.split_once(SEPARATORS) {
        Some(parts) => parts,
        None => text.split_at_checked(10)?,
    };
    let date: jiff::civil::Date = date.parse().ok()?;
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let offset = match zone {
        "" | "Z" | "z" => jiff::tz::Offset::UTC,
        zone => {
            let offset = zone.get(1..)?;
            let basic = || offset.split_at_checked(2).filter(|_| offset.len() == 4);
            let (hours, minutes) = offset.split_once(':').or_else(basic)?;
            let (hours, minutes) =
                (two_digits(hours)?, two_digits(minutes).filter(|minutes| *minutes < 60)?);
            let seconds = (i32::from(hours) * 60 + i32::from(minutes)) * 60;
            jiff::tz::Offset::from_seconds(if zone.starts_with('-') { -seconds } else { seconds })
                .ok()?
        }
    };
    let at =
        if is_date_only && time.is_empty() { date.at(0, 0, 0, 0) } else { civil_time(date, time)? };
    Some(Timestamp(offset.to_timestamp(at).ok()?.as_microsecond()))
}

/// `hh:mm:ss` with any number of decimals; `24:00:00` is the end of the day.
fn civil_time(date: jiff::civil::Date, time: &str) -> Option<jiff::civil::DateTime> {
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if whole == "24:00:00" {
        return fraction
            .bytes()
            .all(|byte| byte == b'0')
            .then(|| date.tomorrow().ok())?
            .map(|next| next.at(0, 0, 0, 0));
    }
    let mut parts = whole.split(':').map(two_digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    let nanos: i32 = format!("{:0<9}", fraction.get(..fraction.len().min(9))?).parse().ok()?;
    // A leap second counts as the last second of its minute.
    jiff::civil::DateTime::new(
        date.year(),
        date.month(),
        date.day(),
        hour,
        minute,
        second.min(59),
        nanos,
    )
    .ok()
}

/// Two digits; the standard library would accept a sign in place of the first.
fn two_digits(text: &str) -> Option<i8> {
    let plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// The status of a booking: a plain code up to version 2, later an element with ISO's code or the
/// bank's own.
pub(super) fn entry_status(booking: &Element) -> Option<&str> {
    [&["Sts", "Cd"][..], &["Sts", "Prtry"], &["Sts"]].into_iter().find_map(|at| booking.text_at(at))
}

/// The account of a notice, a report or a statement.
pub(super) fn account(list: &Element) -> Option<&str> {
    let places = [&["Acct", "Id", "IBAN"][..], &["Acct", "Id", "Othr", "Id"]];
    places.into_iter().find_map(|place| list.text_at(place))
}

/// The page number of a message (`MsgPgntn`): up to version 2 the only place for that of a list.
pub(super) fn message_page(body: &Element) -> Option<&Element> {
    body.at(&["GrpHdr", "MsgPgntn"])
}

/// Sub-families of ISO's bank transaction codes: charges, commissions, fees and the tax on them.
const CHARGES: [&str; 7] = ["CHRG", "COMM", "COME", "COMI", "COMT", "FEES", "TAXE"];

/// The sub-family of a transaction, or that of its booking.
pub(super) fn sub_family<'a>(details: &'a Element, booking: &'a Element) -> Option<&'a str> {
    let of = |element: &'a Element| element.text_at(&["BkTxCd", "Domn", "Fmly", "SubFmlyCd"]);
    of(details).or_else(|| of(booking))
}

/// Sub-families of ISO's bank transaction codes: reversals due to a return, and due to a recall;
/// return and reversal through a clearing house.
const RETURNED: [&str; 4] = ["RRTN", "RPCR", "ARET", "AREV"];
/// SWIFT's transaction type for a returned item, with which a bank's own code may begin (`NRTI`).
const RETURNED_ITEM: [&str; 2] = ["RTI", "NRTI"];

/// Whether a booked transaction is the return of a payment, by `RtrInf` or its bank transaction code.
pub(super) fn is_return(details: &Element, booking: &Element) -> bool {
    let own = |element: &Element| {
        let code = element.text_at(&["BkTxCd", "Prtry", "Cd"]);
        let first = code.and_then(|code| code.split(|sign: char| !sign.is_alphanumeric()).next());
        first.is_some_and(|first| RETURNED_ITEM.contains(&first))
    };
    details.child("RtrInf").is_some()
        || sub_family(details, booking).is_some_and(|code| RETURNED.contains(&code))
        || own(details)
        || own(booking)
}

/// Whether a booking is the bank's charge for a payment, and not the payment.
pub(super) fn is_charge(details: &Element, booking: &Element) -> bool {
    sub_family(details, booking).is_some_and(|code| CHARGES.contains(&code))
}

/// What a bank states about the number of bookings of a notice, a report or a statement that does
/// not have them all. The total of a list in several pages is that of all pages.
pub(super) fn left_out(list: &Element, message_page: Option<&Element>) -> Option<String> {
    let own = ["StmtPgntn", "RptPgntn", "NtfctnPgntn"];
    let is_page = message_page.is_some() || own.iter().any(|it| list.child(it).is_some());
    let stated = list.text_at(&["TxsSummry", "TtlNtries", "NbOfNtries"])?;
    let count = list.all("Ntry").count();
    let is_right = stated.parse() == Ok(count) || is_page;
    (!is_right).then(|| format!("it states {} bookings and has {count}", quoted(stated)))
}

/// `true` or `false` as XML Schema writes them; `Ok(false)` where the element is missing.
pub(super) fn flag(element: &Element, name: &str) -> Result<bool, String> {
    match element.text_at(&[name]) {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(other) => Err(format!("{name} {} is neither true nor false", quoted(other))),
    }
}

/// A foreign value as quoted in a complaint: in quotes, escaped, shortened.
pub(super) fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    format!("{cut:?}")
}

fn clean(text: &str, max_chars: usize) -> String {
    one_line(text, max_chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(currency: Option<&str>, text: &str) -> Result<Option<Money>, String> {
        let element = Element {
            name: "Amt".into(),
            text: text.into(),
            currency: currency.map(str::to_owned),
            children: vec![],
        };
        amount(Some(&element))
    }

    #[test]
    fn amounts_read_exactly() {
        for (currency, text, minor) in [
            ("PKR", "37912.05", 3_791_205),
            ("PKR", "+0037912.0500", 3_791_205),
            ("PKR", ".5", 50),
            ("VND", "1000.00", 1000),
            ("VND", "1000.", 1000),
            ("PKR", "1000", 100_000),
            ("PKR", "1000.10000", 100_010),
            ("KWD", "1.10000", 1_100),
            ("KWD", "0.001", 1),
            ("PKR", "0", 0),
        ] {
            let money = read(Some(currency), text).expect(text).expect(text);
            assert_eq!((money.minor, money.currency.code()), (minor, currency), "{text}");
        }
        assert_eq!(amount(None), Ok(None));
    }

    #[test]
    fn amounts_that_are_not_exact_are_refused() {
        for (currency, text) in [
            (Some("PKR"), "1.001"),
            (Some("VND"), "0.5"),
            (Some("PKR"), "-1"),
            (Some("PKR"), "1e5"),
            (Some("PKR"), ""),
            (Some("PKR"), "."),
            (Some("PKR"), "1,000.00"),
            (Some("PKR"), "1.000,00"),
            (Some("PKR"), "1 000.00"),
            (Some("PKR"), "1'000.00"),
            (Some("PKR"), "1.000000"),
            (Some("PKR"), "++1"),
            (Some("PKR"), "-0"),
            (Some("PKR"), "0x10"),
            (Some("KWD"), "1.0001"),
            (Some("PKR"), "NaN"),
            (Some("PKR"), "٣"),
            (Some("PKR"), "9999999999999999999999"),
            (Some("VND"), "999999999999999999.0"),
            (Some("XXX"), "1"),
            (Some("pkr"), "1"),
            (None, "1"),
        ] {
            assert!(read(currency, text).is_err(), "{currency:?} {text}");
        }
    }

    #[test]
    fn every_status_of_corridors_md_has_its_meaning() {
        for (code, meaning) in [
            ("RCVD", RailStatus::Received),
            ("ACTC", RailStatus::Accepted),
            ("ACCP", RailStatus::Accepted),
            ("ACSP", RailStatus::Accepted),
            ("PDNG", RailStatus::Accepted),
            ("ACWC", RailStatus::Accepted),
            ("ACFC", RailStatus::Accepted),
            ("PATC", RailStatus::Accepted),
            ("PRES", RailStatus::Accepted),
            ("ACWP", RailStatus::Accepted),
            ("ACPD", RailStatus::Accepted),
            ("ACIS", RailStatus::Accepted),
            ("CPUC", RailStatus::Settled),
            ("BLCK", RailStatus::Unknown),
            ("ACSC", RailStatus::Settled),
            ("ACCC", RailStatus::Settled),
            ("RJCT", RailStatus::Rejected),
            ("CANC", RailStatus::Cancelled),
            ("UNKN", RailStatus::Unknown),
            ("acsc", RailStatus::Unrecognised("acsc".to_owned())),
            ("PART", RailStatus::Unrecognised("PART".to_owned())),
        ] {
            assert_eq!(status(code), meaning, "{code}");
        }
    }

    #[test]
    fn instants_are_read_in_every_form_of_xml_schema() {
        for (text, instant) in [
            ("2026-11-25T10:00:00", "2026-11-25T10:00:00.000Z"),
            ("2026-11-25T10:00:00Z", "2026-11-25T10:00:00.000Z"),
            ("2026-11-25T10:00:00.5+05:00", "2026-11-25T05:00:00.500Z"),
            ("2026-11-25T10:00:00.123456789012-03:30", "2026-11-25T13:30:00.123Z"),
            ("2026-11-25T24:00:00", "2026-11-26T00:00:00.000Z"),
            ("2026-12-31T24:00:00.000+05:00", "2026-12-31T19:00:00.000Z"),
            ("2026-11-25T23:59:60Z", "2026-11-25T23:59:59.000Z"),
            ("2026-11-25T10:00:00+0500", "2026-11-25T05:00:00.000Z"),
            ("2026-11-25 10:00:00", "2026-11-25T10:00:00.000Z"),
            ("2026-11-25t10:00:00z", "2026-11-25T10:00:00.000Z"),
            ("2026-11-25", "2026-11-25T00:00:00.000Z"),
            ("2026-11-25Z", "2026-11-25T00:00:00.000Z"),
            ("2026-11-25+05:00", "2026-11-24T19:00:00.000Z"),
        ] {
            assert_eq!(
                super::instant(text).map(|at| at.to_string()).as_deref(),
                Some(instant),
                "{text}"
            );
        }
        for wrong in [
            "",
            "yesterday",
            "2026-11-25T24:00:01",
            "2026-11-25T24:00:00.1",
            "2026-11-25T25:00:00",
            "2026-13-01",
            "20261125",
            "2026-11-25T10:00",
            "2026-11-25T1:00:00",
            "2026-11-25T10:00:00+5",
            "2026-11-25T10:00:00+050",
            "2026-11-25T10:00:00+é00",
            "2026-11-25  10:00:00",
            "2026-11-25 ",
            "2026-11-2",
            "2026-11-25T10:00:00+05:99",
            "2026-11-25T10:00:00+-5:00",
            "2026-11-25T10:00:00+05:-5",
            "2026-11-25T+1:00:00",
            "2026-11-25T",
            "2026-11-25T10:00:00.",
            "2026-11-25T10:00:00é",
            "é026-11-25",
        ] {
            assert_eq!(super::instant(wrong), None, "{wrong}");
        }
    }
}
