//! Sanction list entries in one form for every publisher. Plain values without any logic for
//! reading or matching.

use jiff::civil::Date;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Person,
    /// A company, a group or a state body.
    Organisation,
    /// A vessel or an aircraft: kept for its addresses, never compared with names of persons.
    Craft,
}

/// One name of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// The name as the publisher writes it.
    pub text: String,
    /// A "weak" alias (OFAC) or one of "low" quality (UN): leads to manual review at most.
    pub weak: bool,
}

/// A digital-currency address of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAddress {
    /// The publisher's code of the asset: `ETH`, `USDT`, `XBT` …
    pub asset: String,
    /// The address as published.
    pub address: String,
}

/// A range of possible birth dates, both ends inclusive; a single day if the publisher knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BirthSpan {
    /// The first possible day of birth.
    pub from: Date,
    /// The last possible day of birth.
    pub to: Date,
}

impl BirthSpan {
    /// Whether the publisher names one day.
    pub fn is_exact(&self) -> bool {
        self.from == self.to
    }

    /// Whether `day` is possible.
    pub fn contains(&self, day: Date) -> bool {
        self.from <= day && day <= self.to
    }
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The publisher's own number: OFAC `ent_num`/`uid`, UN `DATAID`.
    pub uid: String,
    /// Person, organisation or craft.
    pub kind: Kind,
    /// The primary name first, then aliases.
    pub names: Vec<ListedName>,
    /// Birth dates, any of which may be true.
    pub births: Vec<BirthSpan>,
    /// Nationalities, citizenships and addresses as ISO 3166-1 alpha-3.
    pub countries: Vec<String>,
    pub addresses: Vec<ListedAddress>,
    /// Remarks, kept while other documents of the list may continue them; empty afterwards.
    pub(super) remarks: String,
}

impl ListEntry {
    /// An entry with one name.
    pub fn new(uid: impl Into<String>, kind: Kind, name: impl Into<String>) -> ListEntry {
        let names = vec![ListedName { text: name.into(), weak: false }];
        ListEntry {
            uid: uid.into(),
            kind,
            names,
            births: vec![],
            countries: vec![],
            addresses: vec![],
            remarks: String::new(),
        }
    }

    pub fn primary_name(&self) -> &str {
        self.names.first().map_or("", |name| name.text.as_str())
    }

    pub(super) fn add_name(&mut self, text: &str, weak: bool) {
        let text = text.trim();
        if !text.is_empty() && self.names.iter().all(|name| name.text != text) {
            self.names.push(ListedName { text: text.to_owned(), weak });
        }
    }

    pub(super) fn add_country(&mut self, name: &str) {
        if let Some(code) = super::countries::alpha3(name)
            && self.countries.iter().all(|known| known != code)
        {
            self.countries.push(code.to_owned());
        }
    }
}

impl ListEntry {
    /// Adds a country by its code of two or three letters, ignoring case; returns whether the code
    /// is valid.
    pub(super) fn add_country_code(&mut self, code: &str) -> bool {
        let Some(code) = super::countries::of_code(code) else { return false };
        if self.countries.iter().all(|known| *known != code) {
            self.countries.push(code);
        }
        true
    }
}

impl ListEntry {
    /// Adds the addresses of Ethereum's form in a text: publishers also write them into remarks.
    pub(super) fn add_addresses_in(&mut self, text: &str) {
        for address in addresses_in(text).take(ADDRESSES_IN_TEXT_MAX) {
            let is_it = |known: &ListedAddress| known.address.eq_ignore_ascii_case(address);
            if !self.addresses.iter().any(is_it) {
                let (asset, address) = ("ETH".to_owned(), address.to_owned());
                self.addresses.push(ListedAddress { asset, address });
            }
        }
    }
}

/// Maximum number of addresses that are read from one text.
const ADDRESSES_IN_TEXT_MAX: usize = 1_000;

fn addresses_in(text: &str) -> impl Iterator<Item = &str> {
    const DIGITS: usize = 40;
    text.match_indices("0x").filter_map(|(at, prefix)| {
        let digits = text.get(at + prefix.len()..)?;
        let count = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        // More digits are the hash of a transaction.
        if count == DIGITS { text.get(at..at + prefix.len() + DIGITS) } else { None }
    })
}

#[derive(Clone, Debug)]
pub struct List {
    /// Its short name: `OFAC-SDN`, `UN-SC`, `UK`, `EU-FSF` …, or the one in the header of
    /// Corridor's own format.
    pub name: String,
    /// The publisher's date, or the file's if the format has none.
    pub published: Option<Date>,
    /// Whether this is the bundled sample of invented names, which production rejects.
    pub sample: bool,
    /// SHA-256 over the documents in the order they were given.
    pub sha256: [u8; 32],
    /// The entries in the publisher's order.
    pub entries: Vec<ListEntry>,
    /// Entries that could not be read, with positions and reasons.
    pub unreadable: Vec<String>,
    /// The document of the list that is missing although its publisher has one, and what that costs.
    pub incomplete: Option<String>,
}

impl List {
    /// `<name> <publication date> <first 12 hex digits of the SHA-256>`.
    pub fn version(&self) -> String {
        let hash: String = self.sha256.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        match self.published {
            Some(date) => format!("{} {date} {hash}", self.name),
            None => format!("{} undated {hash}", self.name),
        }
    }
}
