//! How payment messages look: `[corridors.<CCC>.profile]` for all rails of a country, and a rail's own
//! `[rails.profile]`, whose keys take precedence.

use std::collections::BTreeSet;

use adapters::rails::OurSide;
use adapters::rails::alpha2;
use adapters::rails::profile::{
    Account, Address, AddressForm, Agent, ChargeBearer, Code, FileName, IdForm, MAX_ID_CHARS,
    MIN_ID_CHARS, MIN_MESSAGE_BYTES, Profile, Version,
};
use domain::bic::Bic;
use domain::calendar::BankCalendar;
use domain::country::Country;
use domain::iban;
use domain::order::is_local_branch_code;
use domain::rail_text::CharacterSet;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::own_accounts::mistyped_iban;
use super::read;
use super::sections::{Config, Kind, RailEntry, SplitNames, Transport};
use super::validate::Faults;

/// Precedes the bank's own code where ISO has a list of external codes.
const PROPRIETARY: &str = "prtry:";
/// Largest `max_bytes` of a message, 100 MiB.
const MAX_MESSAGE_BYTES: usize = 100 * 1024 * 1024;
/// Length of an account number (Max34Text).
const MAX_ACCOUNT_CHARS: usize = 34;
/// Length of a name (Max140Text).
const MAX_NAME_CHARS: usize = 140;

/// Declares a profile with every key optional, and the profile with what another one lacks.
macro_rules! profile_keys {
    ($($key:ident: $type:ty,)+) => {
        /// The keys of a profile.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct ProfileEntry {
            $(pub $key: Option<$type>,)+
        }

        impl ProfileEntry {
            /// Keys that are absent here as in `other`.
            fn or_profile(&self, other: &ProfileEntry) -> ProfileEntry {
                ProfileEntry { $($key: self.$key.clone().or_else(|| other.$key.clone()),)+ }
            }

            fn has(&self, key: &str) -> bool {
                match key {
                    $(stringify!($key) => self.$key.is_some(),)+
                    _ => false,
                }
            }
        }
    };
}

profile_keys! {
    version: String,
    initiating_party: String,
    initiating_party_id: String,
    initiating_party_scheme: String,
    address: AddressKind,
    debtor_address: AddressEntry,
    debtor_currency: String,
    charge_bearer: String,
    service_level: String,
    local_instrument: String,
    category_purpose: String,
    batch_booking: Booking,
    purpose: String,
    regulatory_code: String,
    clearing_system: String,
    working_days: Vec<String>,
    holidays: Vec<String>,
    time_zone: String,
    cut_off: String,
    id_max_chars: usize,
    id_letters: Letters,
    file_name: String,
    max_bytes: usize,
    source: String,
    as_of: String,
}

/// `address` of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressKind {
    Structured,
    Hybrid,
}

/// `batch_booking` of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Booking {
    Yes,
    No,
    /// The element is omitted.
    #[serde(rename = "")]
    Omitted,
}

/// `id_letters` of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Letters {
    Small,
    Capital,
}

/// `debtor_address` of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AddressEntry {
    pub street: String,
    pub building: String,
    pub post_code: String,
    pub town: String,
    pub subdivision: String,
    pub country: String,
}

impl AddressEntry {
    /// Its parts with their keys and greatest lengths.
    fn parts(&self) -> [(&'static str, &str, usize); 6] {
        [
            ("street", &self.street, 70),
            ("building", &self.building, 16),
            ("post_code", &self.post_code, 16),
            ("town", &self.town, 35),
            ("subdivision", &self.subdivision, 35),
            ("country", &self.country, 2),
        ]
    }

    fn to_address(&self) -> Option<Address> {
        let AddressEntry { street, building, post_code, town, subdivision, country } = self.clone();
        let address = Address { street, building, post_code, town, subdivision, country };
        (address != Address::default()).then_some(address)
    }
}

impl Config {
    /// Corridor's side of a rail's messages. A loaded configuration has one for every rail.
    pub fn our_side(&self, rail: &RailEntry) -> OurSide {
        self.read_side(rail, &mut Faults::default())
    }

    /// The address is required by networks, but not by every bank.
    pub fn lacks_debtor_address(&self, rail: &RailEntry) -> bool {
        !matches!(rail.transport, Transport::Simulated | Transport::Connector)
            && self.our_side(rail).profile.debtor_address.is_none()
    }

    fn profile_of(&self, rail: &RailEntry) -> ProfileEntry {
        let country = self.corridors.get(&rail.country).map(|corridor| &corridor.profile);
        country.map_or_else(|| rail.profile.clone(), |country| rail.profile.or_profile(country))
    }

    /// A rail's own purpose code.
    pub(super) fn purpose_of(&self, rail: &RailEntry) -> Option<String> {
        self.profile_of(rail).purpose.filter(|code| !code.is_empty())
    }

    /// Converts a rail's profile, with the faults of its values and combinations.
    pub(super) fn read_side(&self, rail: &RailEntry, faults: &mut Faults) -> OurSide {
        let entry = self.profile_of(rail);
        let set = rail.character_set.to_domain();
        let country = Country::parse(&rail.country);
        let corridor = self.corridors.get(&rail.country);
        let shared = corridor.map(|corridor| &corridor.profile);
        let mut reader = Reader { rail, shared, set, faults };
        let profile = reader.profile(&entry, country);
        if profile.version == Version::V03
            && corridor.is_some_and(|corridor| corridor.split_names == SplitNames::Apart)
        {
            reader.add("version", "pain.001.001.03 has no element for split_names = \"apart\"");
        }
        let ours = [&rail.debtor_name, &rail.debtor_account, &rail.debtor_agent];
        let needs_none = matches!(rail.transport, Transport::Simulated | Transport::Connector);
        if needs_none && ours.iter().any(|text| text.is_empty()) {
            return OurSide {
                debtor_name: "Corridor".to_owned(),
                debtor_account: Account::Other("CORRIDOR-SANDBOX".to_owned()),
                debtor_agent: Agent::Other("SANDBOX".to_owned()),
                character_set: set,
                profile,
            };
        }
        OurSide {
            debtor_name: rail.debtor_name.clone(),
            debtor_account: reader.account(&rail.debtor_account),
            debtor_agent: reader.agent(&rail.debtor_agent, country, &profile),
            character_set: set,
            profile,
        }
    }
}

/// Reads the keys of one rail's profile.
struct Reader<'a> {
    rail: &'a RailEntry,
    /// The keys of its country.
    shared: Option<&'a ProfileEntry>,
    set: CharacterSet,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    /// Names the key where it is set, once for all rails of a country.
    fn add(&mut self, key: &str, rule: &str) {
        let name = key.split('.').next().unwrap_or(key);
        let is_shared =
            !self.rail.profile.has(name) && self.shared.is_some_and(|shared| shared.has(name));
        let section = match is_shared {
            true => format!("corridors.{}", self.rail.country),
            false => format!("rails.{}", self.rail.id),
        };
        self.faults.add_once(format!("{section}.profile.{key}"), rule);
    }

    fn profile(&mut self, entry: &ProfileEntry, country: Option<Country>) -> Profile {
        let usual = Profile::default();
        let ids = IdForm {
            max_chars: entry.id_max_chars.unwrap_or(usual.ids.max_chars),
            upper_case: entry.id_letters == Some(Letters::Capital),
        };
        let (least, most) = (MIN_ID_CHARS, MAX_ID_CHARS);
        if !(least..=most).contains(&ids.max_chars) {
            self.add("id_max_chars", &format!("must be {least} to {most}"));
        }
        let max_bytes = entry.max_bytes.unwrap_or(usual.max_bytes);
        if !(MIN_MESSAGE_BYTES..=MAX_MESSAGE_BYTES).contains(&max_bytes) {
            let rule = format!("must be {MIN_MESSAGE_BYTES} to {MAX_MESSAGE_BYTES}");
            self.add("max_bytes", &rule);
        }
        if let Some(purpose) = &entry.purpose {
            let rule = "must be an ISO 20022 code of 1 to 4 capitals and digits, or \"\"";
            self.check("purpose", purpose.is_empty() || is_code(purpose, 4), rule);
        }
        Profile {
            version: self.version(entry),
            initiating_party: self.text(
                "initiating_party",
                &entry.initiating_party,
                MAX_NAME_CHARS,
            ),
            initiating_party_id: self.initiating_party(entry),
            address: match entry.address {
                Some(AddressKind::Hybrid) => AddressForm::Hybrid,
                Some(AddressKind::Structured) | None => AddressForm::Structured,
            },
            debtor_address: self.debtor_address(entry),
            debtor_currency: self.currency(entry, country),
            charge_bearer: self.charge_bearer(entry),
            service_level: self.code("service_level", &entry.service_level, 4),
            local_instrument: self.local_instrument(entry),
            category_purpose: self.code("category_purpose", &entry.category_purpose, 4),
            batch_booking: match entry.batch_booking {
                Some(Booking::Yes) => Some(true),
                Some(Booking::No) | None => Some(false),
                Some(Booking::Omitted) => None,
            },
            regulatory_code: self.text("regulatory_code", &entry.regulatory_code, 10),
            clearing_system: self.clearing_system(entry, country),
            calendar: self.calendar(entry, country),
            ids,
            file_name: self.file_name(entry),
            max_bytes,
        }
    }

    fn check(&mut self, key: &str, holds: bool, rule: &str) {
        if !holds {
            self.add(key, rule);
        }
    }

    fn version(&mut self, entry: &ProfileEntry) -> Version {
        let Some(name) = &entry.version else { return Version::default() };
        Version::parse(name).unwrap_or_else(|| {
            let known = Version::ALL.map(Version::name).join(" or ");
            self.add("version", &format!("must be {known}"));
            Version::default()
        })
    }

    /// A text that is sent as it stands; empty means none.
    fn text(&mut self, key: &str, text: &Option<String>, max_chars: usize) -> Option<String> {
        let text = text.as_ref().filter(|text| !text.is_empty())?;
        let is_sent = self.set.spell(text, max_chars) == *text;
        let rule = format!("must be at most {max_chars} characters of the rail's character_set");
        self.check(key, is_sent, &rule);
        Some(text.clone())
    }

    /// A code of ISO's external lists, or the bank's own after `prtry:`; empty means none.
    fn code(&mut self, key: &str, text: &Option<String>, max_chars: usize) -> Option<Code> {
        let text = text.as_deref().filter(|text| !text.is_empty())?;
        if let Some(own) = text.strip_prefix(PROPRIETARY) {
            let own = Some(own.to_owned());
            self.check(key, own.as_deref() != Some(""), "must have a code after \"prtry:\"");
            return self.text(key, &own, MAX_ID_CHARS).map(Code::Proprietary);
        }
        let rule = format!(
            "must be 1 to {max_chars} capitals and digits, or the bank's own code after \"prtry:\""
        );
        self.check(key, is_code(text, max_chars), &rule);
        Some(Code::External(text.to_owned()))
    }

    fn initiating_party(&mut self, entry: &ProfileEntry) -> Option<(String, Option<Code>)> {
        let scheme = self.code("initiating_party_scheme", &entry.initiating_party_scheme, 4);
        let id = self.text("initiating_party_id", &entry.initiating_party_id, MAX_ID_CHARS);
        if id.is_none() && scheme.is_some() {
            self.add("initiating_party_scheme", "requires initiating_party_id");
        }
        Some((id?, scheme))
    }

    fn debtor_address(&mut self, entry: &ProfileEntry) -> Option<Address> {
        let address = entry.debtor_address.as_ref()?;
        for (part, text, max_chars) in address.parts() {
            self.text(&format!("debtor_address.{part}"), &Some(text.to_owned()), max_chars);
        }
        let known = address.to_address()?;
        let country = alpha2(&known.country) == Some(known.country.as_str());
        self.check("debtor_address.country", country, "must be an ISO 3166-1 alpha-2 code");
        let rule = "is required with country: networks refuse an address without them";
        self.check("debtor_address.town", !known.town.trim().is_empty(), rule);
        Some(known)
    }

    fn currency(&mut self, entry: &ProfileEntry, country: Option<Country>) -> Option<String> {
        let usual = || Some(country?.currency().code().to_owned());
        let code = entry.debtor_currency.clone().or_else(usual).filter(|code| !code.is_empty())?;
        let holds = code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase());
        self.check("debtor_currency", holds, "must be a currency code such as \"PKR\", or \"\"");
        Some(code)
    }

    fn charge_bearer(&mut self, entry: &ProfileEntry) -> Option<ChargeBearer> {
        let Some(code) = &entry.charge_bearer else { return Some(ChargeBearer::ServiceLevel) };
        let bearer = ChargeBearer::parse(code);
        let known = ChargeBearer::ALL.map(ChargeBearer::code).join(", ");
        let rule = format!("must be one of {known}, or \"\"");
        self.check("charge_bearer", bearer.is_some() || code.is_empty(), &rule);
        bearer
    }

    fn local_instrument(&mut self, entry: &ProfileEntry) -> Option<Code> {
        let (own, rail) =
            (self.code("local_instrument", &entry.local_instrument, MAX_ID_CHARS), self.rail);
        if rail.local_instrument.is_empty() {
            return own;
        }
        let rule = "must be set without local_instrument of the rail, which is the same element";
        self.check("local_instrument", rail.profile.local_instrument.is_none(), rule);
        let given = self.set.spell(&rail.local_instrument, MAX_ID_CHARS);
        Some(given).filter(|code| !code.is_empty()).map(Code::Proprietary)
    }

    fn clearing_system(&mut self, entry: &ProfileEntry, country: Option<Country>) -> Option<Code> {
        let code = self.code("clearing_system", &entry.clearing_system, 5)?;
        if let (Code::External(code), Some(country)) = (&code, country) {
            let rule =
                format!("{code} is the clearing system of another country than {}", country.name());
            self.check("clearing_system", code.starts_with(country.alpha2()), &rule);
        }
        Some(code)
    }

    fn calendar(&mut self, entry: &ProfileEntry, country: Option<Country>) -> BankCalendar {
        let rail = self.rail;
        let own = entry.time_zone.as_deref().filter(|name| !name.is_empty());
        if own.is_some_and(|name| read::time_zone(name).is_none()) {
            self.add("time_zone", "must be a name such as \"Asia/Karachi\"");
        }
        // The rail's own is checked where its sender limits are read.
        let names = [own, Some(&rail.time_zone), country.map(Country::time_zone)];
        let name = names.into_iter().flatten().find(|name| !name.is_empty());
        let zone = name.and_then(read::time_zone).unwrap_or(TimeZone::UTC);
        // A country's working days are those of its batch rails: an instant rail works every day
        // unless its own profile states otherwise.
        let own = if rail.kind == Kind::Instant { &rail.profile } else { entry };
        let mut calendar = BankCalendar::every_day(zone);
        if let Some(days) = &own.working_days {
            match read::weekdays(days) {
                Some(days) => calendar.days = days,
                None => self.add("working_days", read::WEEKDAYS_RULE),
            }
        }
        calendar.holidays = self.holidays(own.holidays.as_deref().unwrap_or_default());
        calendar.cut_off = self.cut_off(own);
        calendar
    }

    fn holidays(&mut self, texts: &[String]) -> BTreeSet<jiff::civil::Date> {
        read::dates(texts).unwrap_or_else(|text| {
            self.add("holidays", &format!("{text:?} must be a date such as \"2026-12-25\""));
            BTreeSet::new()
        })
    }

    fn cut_off(&mut self, entry: &ProfileEntry) -> Option<Time> {
        let text = entry.cut_off.as_deref().filter(|text| !text.is_empty())?;
        let time = read::minute_of_day(text).and_then(|minute| {
            let (hour, minute) = (i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?);
            Time::new(hour, minute, 0, 0).ok()
        });
        self.check("cut_off", time.is_some(), "must be a time such as \"15:30\", or \"\"");
        time
    }

    fn file_name(&mut self, entry: &ProfileEntry) -> FileName {
        let has_files = !matches!(self.rail.transport, Transport::Https | Transport::Connector);
        if self.rail.profile.file_name.is_some() && !has_files {
            self.add("file_name", "has no meaning while transport is not \"directory\"");
        }
        let Some(template) = &entry.file_name else { return FileName::default() };
        FileName::parse(template).unwrap_or_else(|rule| {
            self.add("file_name", rule);
            FileName::default()
        })
    }

    fn account(&mut self, text: &str) -> Account {
        let normal = iban::normalised(text);
        if let Some(fault) = mistyped_iban(text) {
            self.add_to_rail("debtor_account", &fault);
        } else if !is_iban(&normal) {
            self.check_sent("debtor_account", text, MAX_ACCOUNT_CHARS);
        }
        if is_iban(&normal) { Account::Iban(normal) } else { Account::Other(text.to_owned()) }
    }

    /// The bank that holds our account: a BIC, a code of the country's clearing system, or the bank's
    /// own id.
    fn agent(&mut self, text: &str, country: Option<Country>, profile: &Profile) -> Agent {
        let bic = Bic::parse(text).filter(|bic| alpha2(bic.country()) == Some(bic.country()));
        let is_member = profile.clearing_system.is_some()
            && country.is_some_and(|country| is_local_branch_code(country, text));
        if let Some(bic) = bic {
            return Agent::Bic(bic.as_str().to_owned());
        }
        self.check_sent("debtor_agent", text, MAX_ID_CHARS);
        if is_member { Agent::Member(text.to_owned()) } else { Agent::Other(text.to_owned()) }
    }

    /// Checks a key of the rail whose text is sent as it stands.
    fn check_sent(&mut self, key: &str, text: &str, max_chars: usize) {
        if self.set.spell(text, max_chars) != text {
            let rule =
                format!("must be at most {max_chars} characters of the rail's character_set");
            self.add_to_rail(key, &rule);
        }
    }

    fn add_to_rail(&mut self, key: &str, rule: &str) {
        self.faults.add(format!("rails.{}.{key}", self.rail.id), rule);
    }
}

/// Whether a normalised text is an IBAN of any country.
fn is_iban(text: &str) -> bool {
    let parts = text.split_at_checked(2).and_then(|(country, rest)| {
        let (digits, national) = rest.split_at_checked(2)?;
        Some((country, digits, national))
    });
    iban::is_meant(text)
        && text.len() <= MAX_ACCOUNT_CHARS
        && parts.is_some_and(|(country, digits, national)| {
            alpha2(country) == Some(country)
                && iban::check_digits(country, national).as_deref() == Some(digits)
        })
}

fn is_code(text: &str, max_chars: usize) -> bool {
    (1..=max_chars).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}
