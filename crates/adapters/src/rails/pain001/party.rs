//! The people and banks of a pain.001: names, postal addresses, documents, telephone numbers.

use domain::rail::{Instruction, InstructionParty, NameForm, SplitName};
use domain::rail_text::CharacterSet;

use super::super::OurSide;
use super::super::iso::NOT_PROVIDED;
use super::super::profile::{Address, AddressForm, MAX_ID_CHARS, Profile};
use super::super::text::{alpha2, email, phone};
use super::super::xml_write::XmlWriter;
use super::{MAX_NAME_CHARS, code};

/// Maximum length of a street, and of a line of an address (Max70Text).
pub(in super::super) const MAX_STREET_CHARS: usize = 70;
/// The namespace of split names (docs/guides/corridors-and-rails.md).
const PARTY_NAMES: &str = "urn:corridor:party-names:1";
/// ISO 3166-1 user-assigned: the order does not contain the sender's place of birth.
const UNKNOWN_COUNTRY: &str = "XX";

pub(super) fn name(set: CharacterSet, text: &str) -> String {
    Some(set.spell(text, MAX_NAME_CHARS))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| NOT_PROVIDED.to_owned())
}

/// A party's name in the form that the corridor requires.
pub(in super::super) fn name_in(
    set: CharacterSet,
    form: NameForm,
    party: &InstructionParty,
) -> String {
    let split = party
        .split
        .as_ref()
        .filter(|split| form == NameForm::FamilyFirst && !split.given.is_empty());
    match split {
        Some(SplitName { given, family }) => name(set, &format!("{family}, {given}")),
        None => name(set, &party.name),
    }
}

pub(super) fn name_and_address(
    out: &mut XmlWriter,
    ours: &OurSide,
    form: NameForm,
    party: &InstructionParty,
) {
    let set = ours.character_set;
    out.leaf("Nm", &name_in(set, form, party));
    let street = set.spell(&party.address, MAX_STREET_CHARS);
    let town = set.spell(&party.city, MAX_ID_CHARS);
    // Networks refuse an address without town and country, and take a message without an address.
    let Some(country) = alpha2(&party.country).filter(|_| !town.is_empty()) else { return };
    let is_hybrid = ours.profile.address == AddressForm::Hybrid;
    let (street, line) = if is_hybrid { ("", street.as_str()) } else { (street.as_str(), "") };
    out.nest("PstlAdr", |address| {
        address.leaf_if("StrtNm", Some(street));
        address.leaf("TwnNm", &town);
        address.leaf("Ctry", country);
        address.leaf_if("AdrLine", Some(line));
    });
}

/// Our own address, whose characters and lengths the configuration has checked.
pub(super) fn our_address(out: &mut XmlWriter, ours: &Address) {
    out.nest("PstlAdr", |address| {
        for (element, text) in [
            ("StrtNm", &ours.street),
            ("BldgNb", &ours.building),
            ("PstCd", &ours.post_code),
            ("TwnNm", &ours.town),
            ("CtrySubDvsn", &ours.subdivision),
            ("Ctry", &ours.country),
        ] {
            address.leaf_if(element, Some(text));
        }
    });
}

/// A bank by its BIC and its code in the profile's clearing system.
pub(super) fn agent_id(
    out: &mut XmlWriter,
    profile: &Profile,
    bic: Option<&str>,
    member: Option<&str>,
) {
    out.leaf_if(profile.version.bic(), bic);
    if let Some(member) = member {
        out.nest("ClrSysMmbId", |id| {
            code(id, "ClrSysId", profile.clearing_system.as_ref());
            id.leaf("MmbId", member);
        });
    }
}

/// The number of a document; `None` if it is too long: the beginning of one is another one.
pub(in super::super) fn document_number(set: CharacterSet, number: &str) -> Option<String> {
    let number = set.spell(number, usize::MAX);
    (1..=MAX_ID_CHARS).contains(&number.chars().count()).then_some(number)
}

pub(super) fn private_id(out: &mut XmlWriter, set: CharacterSet, party: &InstructionParty) {
    let document = party
        .document
        .as_ref()
        .and_then(|(kind, number, country)| Some((kind, document_number(set, number)?, country)));
    if party.birthdate.is_none() && document.is_none() {
        return;
    }
    out.nest("Id", |id| {
        id.nest("PrvtId", |private| {
            if let Some(birthdate) = party.birthdate {
                private.nest("DtAndPlcOfBirth", |birth| {
                    birth.leaf("BirthDt", &birthdate.to_string());
                    birth.leaf("CityOfBirth", NOT_PROVIDED);
                    birth.leaf("CtryOfBirth", UNKNOWN_COUNTRY);
                });
            }
            if let Some((kind, number, country)) = &document {
                private.nest("Othr", |other| {
                    other.leaf("Id", number);
                    scheme(other, set, kind);
                    let issuer = country.as_deref().map(|code| alpha2(code).unwrap_or(code));
                    other.leaf_if(
                        "Issr",
                        issuer.map(|code| set.spell(code, MAX_ID_CHARS)).as_deref(),
                    );
                });
            }
        });
    });
}

/// `SchmeNm` of a document: ISO's external code where there is one for the order's kind.
fn scheme(out: &mut XmlWriter, set: CharacterSet, kind: &str) {
    match kind {
        "passport" => out.chain(&["SchmeNm", "Cd"], "CCPT"),
        "idcard" => out.chain(&["SchmeNm", "Cd"], "NIDN"),
        other => {
            let said = set.spell(other, MAX_ID_CHARS);
            if !said.is_empty() {
                out.chain(&["SchmeNm", "Prtry"], &said);
            }
        }
    }
}

/// An e-mail address cannot be transliterated: one outside the character set is omitted.
pub(super) fn contact(out: &mut XmlWriter, set: CharacterSet, party: &InstructionParty) {
    let mobile = party.mobile.as_deref().and_then(phone);
    let email = party.email.as_deref().and_then(email).filter(|address| set.contains(address));
    if mobile.is_none() && email.is_none() {
        return;
    }
    out.nest("CtctDtls", |details| {
        details.leaf_if("MobNb", mobile.as_deref());
        details.leaf_if("EmailAdr", email);
    });
}

/// Given and family names of both sides. ISO 20022 has no elements for them, so they go into
/// supplementary data.
pub(super) fn names_apart(out: &mut XmlWriter, set: CharacterSet, instruction: &Instruction) {
    let parts = |party: &InstructionParty| {
        let split = party.split.as_ref()?;
        let spell = |part: &str| set.spell(part, MAX_NAME_CHARS);
        Some((spell(&split.given), spell(&split.family)))
            .filter(|(given, family)| !given.is_empty() || !family.is_empty())
    };
    let sides = [("UltmtDbtr", parts(&instruction.debtor)), ("Cdtr", parts(&instruction.creditor))];
    if sides.iter().all(|(_, parts)| parts.is_none()) {
        return;
    }
    out.nest("SplmtryData", |data| {
        data.nest("Envlp", |envelope| {
            envelope.nest_in("PrtyNms", PARTY_NAMES, |names| {
                for (side, parts) in &sides {
                    let Some((given, family)) = parts else { continue };
                    names.nest(side, |name| {
                        name.leaf_if("FrstNm", Some(given));
                        name.leaf_if("LastNm", Some(family));
                    });
                }
            });
        });
    });
}
