//! What several ISO 20022 messages share: namespaces, amounts, statuses, the ids of an attempt. Pure functions.

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::AttemptId;
use domain::money::Money;
use domain::rail::RailStatus;

use super::xml_read::Element;

/// Namespace prefix of every ISO 20022 message.
pub(super) const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:";

/// Most characters of a bank's own words that are kept.
const MAX_INFO_CHARS: usize = 350;
/// Most characters of a code or a reference that are kept (the standard allows 35).
const MAX_REFERENCE_CHARS: usize = 140;
/// Most characters of a wrong value that a complaint repeats.
const MAX_QUOTED_CHARS: usize = 48;
/// Digits of an amount (ActiveOrHistoricCurrencyAndAmount: totalDigits 18, fractionDigits 5).
const MAX_AMOUNT_DIGITS: usize = 18;
const MAX_AMOUNT_DECIMALS: usize = 5;

/// What stands for a missing id in ISO 20022.
pub(super) const NOT_PROVIDED: &str = "NOTPROVIDED";

/// A status code of pain.002 in the words of `corridors.md`. `UNKN` is the proprietary "not known to the rail".
pub(super) fn status(code: &str) -> RailStatus {
    match code {
        "RCVD" => RailStatus::Received,
        "ACTC" | "ACCP" | "ACSP" | "PDNG" => RailStatus::Accepted,
        "ACSC" | "ACCC" => RailStatus::Settled,
        "RJCT" => RailStatus::Rejected,
        "CANC" => RailStatus::Cancelled,
        "UNKN" => RailStatus::Unknown,
        other => RailStatus::Unrecognised(reference(other)),
    }
}

/// The attempt that an InstrId and a UETR name; both if both are there, and they must agree.
pub(super) fn attempt(instruction: Option<&str>, uetr: Option<&str>) -> Result<AttemptId, String> {
    let instruction = match instruction.filter(|id| *id != NOT_PROVIDED) {
        Some(text) => {
            Some(AttemptId::from_instruction_id(text).ok_or_else(|| format!("InstrId {} is not ours", quoted(text)))?)
        }
        None => None,
    };
    let uetr = match uetr {
        Some(text) => Some(AttemptId::parse(text).ok_or_else(|| format!("UETR {} is not ours", quoted(text)))?),
        None => None,
    };
    match (instruction, uetr) {
        (Some(a), Some(b)) if a != b => Err(format!("InstrId {a} and UETR {b} name two attempts")),
        (Some(id), _) | (None, Some(id)) => Ok(id),
        (None, None) => Err("it has neither InstrId nor UETR".to_owned()),
    }
}

/// An amount element, exact; `Ok(None)` where there is none.
pub(super) fn amount(element: Option<&Element>) -> Result<Option<Money>, String> {
    let Some(element) = element else {
        return Ok(None);
    };
    let code = element.currency.as_deref().ok_or_else(|| format!("{} has no Ccy", element.name))?;
    let currency = Currency::parse(code).ok_or_else(|| format!("currency {} is not known", quoted(code)))?;
    let wrong = || format!("amount {} {code} cannot be read exactly", quoted(&element.text));
    let value = decimal(&element.text).ok_or_else(wrong)?;
    Money::exact(value, currency).map(Some).ok_or_else(wrong)
}

/// A non-negative `xs:decimal` within the bounds of an amount.
fn decimal(text: &str) -> Option<Decimal> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = whole.len() + fraction.len();
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !all_digits || digits == 0 || digits > MAX_AMOUNT_DIGITS || fraction.len() > MAX_AMOUNT_DECIMALS {
        return None;
    }
    let mantissa = format!("{whole}{fraction}").parse::<i128>().ok()?;
    Some(Decimal::new(mantissa, u32::try_from(fraction.len()).ok()?))
}

/// A reference or an id; what only fills the place of one counts as missing.
pub(super) fn provided(text: Option<&str>) -> Option<String> {
    text.filter(|text| *text != NOT_PROVIDED).map(reference)
}

/// A bank's code or reference, printable and bounded.
pub(super) fn reference(text: &str) -> String {
    clean(text, MAX_REFERENCE_CHARS)
}

/// The code and the words of reason elements (`StsRsnInf`, `RtrRsnInf`, `RtrInf`): the first code, all the words.
pub(super) fn reasons<'a>(elements: impl Iterator<Item = &'a Element>) -> (Option<String>, Option<String>) {
    let (mut code, mut words) = (None, String::new());
    for element in elements {
        let said = element.text_at(&["Rsn", "Cd"]).or_else(|| element.text_at(&["Rsn", "Prtry"]));
        code = code.or_else(|| said.map(reference));
        for info in element.all("AddtlInf").filter(|info| !info.text.is_empty()) {
            if words.len() <= MAX_INFO_CHARS {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(&clean(&info.text, MAX_INFO_CHARS));
            }
        }
    }
    (code, Some(clean(&words, MAX_INFO_CHARS)).filter(|words| !words.is_empty()))
}

/// A foreign value as a complaint repeats it: in quotes, escaped, cut.
pub(super) fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    format!("{cut:?}")
}

fn clean(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(currency: Option<&str>, text: &str) -> Result<Option<Money>, String> {
        let element =
            Element { name: "Amt".into(), text: text.into(), currency: currency.map(str::to_owned), children: vec![] };
        amount(Some(&element))
    }

    #[test]
    fn amounts_read_exactly() {
        for (currency, text, minor) in [
            ("PKR", "37912.05", 3_791_205),
            ("PKR", "+0037912.0500", 3_791_205),
            ("PKR", ".5", 50),
            ("VND", "1000.00", 1000),
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
    fn an_attempt_is_named_by_either_id_and_never_by_two() {
        let (simple, hyphenated) = ("00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff");
        let other = "10112233-4455-6677-8899-aabbccddeeff";
        let id = AttemptId::parse(hyphenated);
        assert_eq!(attempt(Some(simple), None).ok(), id);
        assert_eq!(attempt(None, Some(hyphenated)).ok(), id);
        assert_eq!(attempt(Some(NOT_PROVIDED), Some(hyphenated)).ok(), id);
        assert_eq!(attempt(Some(simple), Some(hyphenated)).ok(), id);
        for (instruction, uetr) in [
            (None, None),
            (Some(NOT_PROVIDED), None),
            (Some(simple), Some(other)),
            (Some("B-17"), Some(hyphenated)),
            (Some(simple), Some("garbled")),
            (Some(hyphenated), None),
        ] {
            assert!(attempt(instruction, uetr).is_err(), "{instruction:?} {uetr:?}");
        }
    }
}
