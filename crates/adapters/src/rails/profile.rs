//! How a bank wants its pain.001: version, optional elements, ids, file names, sizes. Data only: the
//! configuration checks it, `pain001` follows it.

use domain::calendar::BankCalendar;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use domain::rail::RailId;

/// Length of ISO 20022's ids (Max35Text).
pub const MAX_ID_CHARS: usize = 35;
/// Shortest ids that reports are still matched by (`domain::rail_ids`).
pub const MIN_ID_CHARS: usize = 16;
/// Least value of [`Profile::max_bytes`]: a message of one payment always fits.
pub const MIN_MESSAGE_BYTES: usize = 32 * 1024;
/// Largest message by default.
const USUAL_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Version of the pain.001 message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Version {
    /// pain.001.001.03 (2009): no UETR, no supplementary data, `BIC`, and a plain execution date.
    V03,
    /// pain.001.001.09 (2019): UETR, supplementary data and `BICFI`.
    #[default]
    V09,
}

impl Version {
    pub const ALL: [Version; 2] = [Version::V03, Version::V09];

    /// The message's name in ISO 20022.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V03 => "pain.001.001.03",
            Version::V09 => "pain.001.001.09",
        }
    }

    pub fn parse(name: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Element of a BIC.
    pub(super) const fn bic(self) -> &'static str {
        match self {
            Version::V03 => "BIC",
            Version::V09 => "BICFI",
        }
    }
}

/// A choice of ISO's external code (`Cd`) or the bank's own (`Prtry`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    External(String),
    Proprietary(String),
}

/// How the lines of a party's address are written. Its town and country always have elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AddressForm {
    /// The street line in `StrtNm`.
    #[default]
    Structured,
    /// The street line in `AdrLine`, next to `TwnNm` and `Ctry`.
    Hybrid,
}

/// Our own postal address; empty parts are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Address {
    pub street: String,
    pub building: String,
    pub post_code: String,
    pub town: String,
    pub subdivision: String,
    /// ISO 3166-1 alpha-2 code.
    pub country: String,
}

/// Who bears the charges (`ChrgBr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeBearer {
    Debtor,
    Creditor,
    Shared,
    /// As the service level says.
    ServiceLevel,
}

impl ChargeBearer {
    pub const ALL: [ChargeBearer; 4] = [
        ChargeBearer::Debtor,
        ChargeBearer::Creditor,
        ChargeBearer::Shared,
        ChargeBearer::ServiceLevel,
    ];

    pub const fn code(self) -> &'static str {
        match self {
            ChargeBearer::Debtor => "DEBT",
            ChargeBearer::Creditor => "CRED",
            ChargeBearer::Shared => "SHAR",
            ChargeBearer::ServiceLevel => "SLEV",
        }
    }

    pub fn parse(code: &str) -> Option<ChargeBearer> {
        ChargeBearer::ALL.into_iter().find(|bearer| bearer.code() == code)
    }
}

/// Length and characters of MsgId, PmtInfId, InstrId and EndToEndId. A shorter id is the beginning of
/// the whole one, by which reports are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdForm {
    /// From [`MIN_ID_CHARS`] to [`MAX_ID_CHARS`].
    pub max_chars: usize,
    /// Capital letters and digits only, instead of small letters, digits and a hyphen.
    pub upper_case: bool,
}

impl IdForm {
    pub(super) fn write(self, id: &str) -> String {
        let signs = id.chars().filter(|sign| !(self.upper_case && *sign == '-'));
        let cut: String = signs.take(self.max_chars).collect();
        if self.upper_case { cut.to_ascii_uppercase() } else { cut }
    }
}

impl Default for IdForm {
    fn default() -> IdForm {
        IdForm { max_chars: MAX_ID_CHARS, upper_case: false }
    }
}

/// Template of the file names of a `directory`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

/// Placeholders of a file name.
const MESSAGE_ID: &str = "{message_id}";
const DATE: &str = "{date}";
const SEQUENCE: &str = "{sequence}";
const RAIL: &str = "{rail}";
const PLACEHOLDERS: [&str; 4] = [MESSAGE_ID, DATE, SEQUENCE, RAIL];
/// Longest template: file systems allow names of 255 bytes, and a hidden name is 34 longer.
const MAX_TEMPLATE_CHARS: usize = 100;
/// Ends the names of inquiries, which have no template.
pub(super) const INQUIRY: &str = "-inquiry.xml";

impl FileName {
    /// Checks a template.
    ///
    /// # Errors
    /// The rule that it violates.
    pub fn parse(template: &str) -> Result<FileName, &'static str> {
        let is_unique = template.contains(MESSAGE_ID)
            || (template.contains(DATE) && template.contains(SEQUENCE));
        let rest = PLACEHOLDERS
            .iter()
            .fold(template.to_owned(), |rest, placeholder| rest.replace(placeholder, "x"));
        let is_safe = rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        match () {
            () if template.is_empty() || template.len() > MAX_TEMPLATE_CHARS => {
                Err("must be 1 to 100 characters long")
            }
            () if !is_safe => Err(
                "must contain only letters, digits, ._- and the placeholders {message_id}, {date}, {sequence} and {rail}",
            ),
            () if PLACEHOLDERS.iter().any(|it| template.matches(it).count() > 1) => {
                Err("must contain each placeholder only once")
            }
            () if template.starts_with('.') => {
                Err("must not start with a dot: hidden files are ignored")
            }
            () if template.ends_with(INQUIRY) => {
                Err("must not end with -inquiry.xml: inquiries have these names")
            }
            () if !is_unique => {
                Err("must contain {message_id}, or {date} and {sequence}: names must be unique")
            }
            () => Ok(FileName(template.to_owned())),
        }
    }

    pub fn has_sequence(&self) -> bool {
        self.0.contains(SEQUENCE)
    }

    /// The name of one message's file; `sequence` is its number on `date`.
    pub(super) fn of(&self, rail: &RailId, message: &str, date: Date, sequence: u32) -> String {
        let mut name = self.0.replace(MESSAGE_ID, message);
        name = name.replace(DATE, &date.strftime("%Y%m%d").to_string());
        name = name.replace(SEQUENCE, &format!("{sequence:06}"));
        name.replace(RAIL, &rail.0)
    }
}

impl Default for FileName {
    fn default() -> FileName {
        FileName(format!("{MESSAGE_ID}.xml"))
    }
}

/// How a bank wants its pain.001. `None` leaves an element out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub version: Version,
    /// Name of the initiating party, if it is not the debtor (`InitgPty/Nm`).
    pub initiating_party: Option<String>,
    /// Our id at the bank, and its scheme (`InitgPty/Id/OrgId/Othr`).
    pub initiating_party_id: Option<(String, Option<Code>)>,
    pub address: AddressForm,
    pub debtor_address: Option<Address>,
    /// Currency of the debited account (`DbtrAcct/Ccy`).
    pub debtor_currency: Option<String>,
    pub charge_bearer: Option<ChargeBearer>,
    pub service_level: Option<Code>,
    pub local_instrument: Option<Code>,
    pub category_purpose: Option<Code>,
    /// Whether the bank books a message as one sum (`BtchBookg`).
    pub batch_booking: Option<bool>,
    /// Code of the regulatory reporting (`RgltryRptg/Dtls/Cd`).
    pub regulatory_code: Option<String>,
    /// Clearing system of local bank codes (`ClrSysId`).
    pub clearing_system: Option<Code>,
    pub calendar: BankCalendar,
    pub ids: IdForm,
    pub file_name: FileName,
    /// Maximum size of a message, at least [`MIN_MESSAGE_BYTES`].
    pub max_bytes: usize,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            version: Version::default(),
            initiating_party: None,
            initiating_party_id: None,
            address: AddressForm::default(),
            debtor_address: None,
            debtor_currency: None,
            charge_bearer: None,
            service_level: None,
            local_instrument: None,
            category_purpose: None,
            batch_booking: None,
            regulatory_code: None,
            clearing_system: None,
            calendar: BankCalendar::every_day(TimeZone::UTC),
            ids: IdForm::default(),
            file_name: FileName::default(),
            max_bytes: USUAL_MESSAGE_BYTES,
        }
    }
}

/// Our account at the bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Account {
    Iban(String),
    Other(String),
}

/// The bank that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    Bic(String),
    /// Its code in the profile's clearing system (`ClrSysMmbId`).
    Member(String),
    Other(String),
}

#[cfg(test)]
mod tests {
    use domain::ids::{AttemptId, PaymentId};
    use domain::money::Money;
    use domain::rail_ids::{Candidate, Candidates, ReportIds, SentIn};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn file_names_are_unique_and_safe() {
        let rail = RailId::new("pak-raast");
        let day = jiff::civil::date(2026, 3, 9);
        for (template, name) in [
            ("{message_id}.xml", "4e55-2.xml"),
            ("PAIN001_{date}_{sequence}.XML", "PAIN001_20260309_000007.XML"),
            ("{rail}.{message_id}.{date}", "pak-raast.4e55-2.20260309"),
        ] {
            let parsed = FileName::parse(template).expect(template);
            assert_eq!(parsed.of(&rail, "4e55-2", day, 7), name);
            assert_eq!(parsed.has_sequence(), name.contains("000007"));
        }
        let long = format!("{{message_id}}{}", "a".repeat(100));
        for (template, rule) in [
            ("", "1 to 100"),
            (long.as_str(), "1 to 100"),
            ("out.xml", "must be unique"),
            ("{date}.xml", "must be unique"),
            ("{sequence}.xml", "must be unique"),
            (".{message_id}", "a dot"),
            ("../{message_id}", "only letters"),
            ("{message_id}/x", "only letters"),
            ("{message_id} .xml", "only letters"),
            ("{message}.xml", "only letters"),
            ("{message_id}{rail}{rail}", "only once"),
            ("{message_id}-inquiry.xml", "inquiries"),
        ] {
            let broken = FileName::parse(template).expect_err(template);
            assert!(broken.contains(rule), "{template}: {broken}");
        }
    }

    /// Whatever the form, a report that repeats an id is matched to its attempt.
    #[test]
    fn ids_of_every_form_are_matched() {
        let number = 0x6f0c_8a52_5d7e_4c57_9d3e_0a4f_7f3f_9f10_u128;
        let (attempt, payment) =
            (AttemptId(Uuid::from_u128(number)), PaymentId(Uuid::from_u128(1)));
        let message = "4e55f4ff6e533be2b8dd2f1e-12";
        for (max_chars, upper_case) in
            [(35, false), (35, true), (20, true), (16, false), (16, true)]
        {
            let form = IdForm { max_chars, upper_case };
            let written = form.write(message);
            assert!(written.len() <= max_chars && !(upper_case && written.contains('-')));
            let candidate = Candidate {
                tenant: domain::ids::TenantId(Uuid::nil()),
                payment,
                attempt,
                number: 1,
                state: domain::attempt::AttemptState::Sending,
                amount: Money::new(1, domain::currency::Currency::Pkr),
                reference: None,
                sent: vec![SentIn { message: written.clone(), position: 1 }],
                recalls: Vec::new(),
            };
            let candidates = Candidates::new(vec![candidate]);
            for ids in [
                ReportIds {
                    instruction: Some(form.write(&attempt.instruction_id())),
                    ..ReportIds::default()
                },
                ReportIds { message: Some(written), ..ReportIds::default() },
            ] {
                let found = candidates.find(&ids, None).expect("matched");
                assert_eq!(found.attempt, attempt, "{ids:?}");
            }
        }
    }
}
