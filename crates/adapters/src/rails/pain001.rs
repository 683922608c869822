//! Writes pain.001.001.09, the payment instructions. Equal batches give equal bytes, MsgId
//! included, so that the bank recognises a repetition.

use std::fmt::Write as _;

use domain::decimal::Decimal;
use domain::money::Money;
use domain::rail::{Instruction, InstructionParty, NameForm, RailId, SplitName};
use domain::rail_text::CharacterSet;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::iso::{NAMESPACE, NOT_PROVIDED};
use super::text::{alpha2, email, phone};
use super::xml_write::XmlWriter;
use super::{Message, OurSide};

const BYTES_PER_INSTRUCTION: usize = 2_048;
/// Maximum length of a name, and of remittance information (Max140Text).
const MAX_NAME_CHARS: usize = 140;
/// Maximum length of a street (Max70Text).
const MAX_STREET_CHARS: usize = 70;
/// Maximum length of a town, an id, a scheme (Max35Text).
const MAX_ID_CHARS: usize = 35;
/// Maximum length of an ISO external code.
const MAX_CODE_CHARS: usize = 4;
/// Bytes of the digest in a MsgId: 24 hexadecimal digits, a hyphen and the count stay below 35 characters.
const MESSAGE_DIGEST_BYTES: usize = 12;
/// The type of regulatory reporting details (Max35Text).
const SOURCE_OF_FUNDS: &str = "SOURCE OF FUNDS";
/// The namespace of split names (docs/guides/corridors-and-rails.md).
const PARTY_NAMES: &str = "urn:corridor:party-names:1";
/// ISO 3166-1 user-assigned: the order does not contain the sender's place of birth.
const UNKNOWN_COUNTRY: &str = "XX";

/// The message that carries a batch.
pub(super) fn write(rail: &RailId, ours: &OurSide, batch: &[Instruction]) -> Message {
    let id = message_id(rail, batch);
    let head = Head {
        id: &id,
        created_at: batch.iter().map(|one| one.created_at).max().unwrap_or(Timestamp(0)),
        count: batch.len().to_string(),
        sum: batch.iter().try_fold(Decimal::ZERO, |sum, one| sum.checked_add(one.amount.decimal())),
    };
    let namespace = format!("{NAMESPACE}pain.001.001.09");
    let xml = XmlWriter::document(&namespace, 2_048 + batch.len() * BYTES_PER_INSTRUCTION, |doc| {
        doc.nest("CstmrCdtTrfInitn", |initiation| {
            initiation.nest("GrpHdr", |header| group_header(header, &head, ours));
            initiation.nest("PmtInf", |info| {
                payment_header(info, &head, ours);
                for instruction in batch {
                    info.nest("CdtTrfTxInf", |tx| transaction(tx, ours.character_set, instruction));
                }
            });
        });
    });
    Message { id, xml }
}

/// The part repeated in both headers.
struct Head<'a> {
    id: &'a str,
    created_at: Timestamp,
    count: String,
    sum: Option<Decimal>,
}

/// Identifies the set of attempts: another set has another MsgId, even if it starts with the same
/// attempt.
pub(super) fn message_id(rail: &RailId, batch: &[Instruction]) -> String {
    let mut digest = Sha256::new();
    digest.update(rail.0.as_bytes());
    for instruction in batch {
        digest.update(b"\n");
        digest.update(instruction.attempt.instruction_id());
    }
    let mut id = String::with_capacity(MAX_ID_CHARS);
    for byte in digest.finalize().iter().take(MESSAGE_DIGEST_BYTES) {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    let _ = write!(id, "-{}", batch.len());
    id
}

fn group_header(out: &mut XmlWriter, head: &Head<'_>, ours: &OurSide) {
    out.leaf("MsgId", head.id);
    out.leaf("CreDtTm", &head.created_at.to_string());
    totals(out, head);
    out.nest("InitgPty", |party| {
        party.leaf("Nm", &name(ours.character_set, &ours.initiating_party))
    });
}

fn totals(out: &mut XmlWriter, head: &Head<'_>) {
    out.leaf("NbOfTxs", &head.count);
    out.leaf_if("CtrlSum", head.sum.map(|sum| sum.to_string()).as_deref());
}

fn payment_header(out: &mut XmlWriter, head: &Head<'_>, ours: &OurSide) {
    out.leaf("PmtInfId", head.id);
    out.leaf("PmtMtd", "TRF");
    totals(out, head);
    if let Some(instrument) = &ours.local_instrument {
        out.chain(
            &["PmtTpInf", "LclInstrm", "Prtry"],
            &ours.character_set.spell(instrument, MAX_ID_CHARS),
        );
    }
    out.chain(&["ReqdExctnDt", "Dt"], &head.created_at.date().to_string());
    out.chain(&["Dbtr", "Nm"], &name(ours.character_set, &ours.initiating_party));
    out.chain(&["DbtrAcct", "Id", "Othr", "Id"], &ours.debtor_account);
    out.chain(&["DbtrAgt", "FinInstnId", "Othr", "Id"], &ours.debtor_agent);
}

fn transaction(out: &mut XmlWriter, set: CharacterSet, instruction: &Instruction) {
    out.nest("PmtId", |id| {
        id.leaf("InstrId", &instruction.attempt.instruction_id());
        id.leaf("EndToEndId", &instruction.payment.end_to_end_id());
        id.leaf("UETR", &instruction.attempt.to_string());
    });
    out.nest("Amt", |amt| {
        amt.amount("InstdAmt", instruction.amount.currency.code(), &plain(instruction.amount));
    });
    out.nest("UltmtDbtr", |party| {
        name_and_address(party, set, instruction.names, &instruction.debtor);
        private_id(party, set, &instruction.debtor);
        contact(party, &instruction.debtor);
    });
    out.nest("CdtrAgt", |agent| {
        agent.nest("FinInstnId", |id| creditor_agent(id, set, instruction))
    });
    out.nest("Cdtr", |party| {
        name_and_address(party, set, instruction.names, &instruction.creditor);
        private_id(party, set, &instruction.creditor);
        contact(party, &instruction.creditor);
    });
    // Where the money goes (account, BIC, clearing code) is never folded or cut: a wrong one must be refused by the
    // bank, not turned into another one.
    out.nest("CdtrAcct", |account| {
        if instruction.creditor_account_is_iban {
            account.chain(&["Id", "IBAN"], &instruction.creditor_account);
        } else {
            account.chain(&["Id", "Othr", "Id"], &instruction.creditor_account);
        }
        account.chain(&["Tp", "Cd"], instruction.creditor_account_type);
    });
    let purpose = set.spell(&instruction.purpose, MAX_ID_CHARS);
    if !purpose.is_empty() {
        let form = if purpose.len() <= MAX_CODE_CHARS { "Cd" } else { "Prtry" };
        out.chain(&["Purp", form], &purpose);
    }
    if let Some(source) = &instruction.source_of_funds {
        out.nest("RgltryRptg", |reporting| {
            reporting.nest("Dtls", |details| {
                details.leaf("Tp", SOURCE_OF_FUNDS);
                details.leaf("Inf", &set.spell(source, MAX_ID_CHARS));
            });
        });
    }
    let remittance = set.spell(&instruction.remittance, MAX_NAME_CHARS);
    if !remittance.is_empty() {
        out.chain(&["RmtInf", "Ustrd"], &remittance);
    }
    if instruction.names == NameForm::Apart {
        names_apart(out, set, instruction);
    }
}

/// Given and family names of both sides. ISO 20022 has no elements for them, so they go into
/// supplementary data.
fn names_apart(out: &mut XmlWriter, set: CharacterSet, instruction: &Instruction) {
    out.nest("SplmtryData", |data| {
        data.nest("Envlp", |envelope| {
            envelope.nest_in("PrtyNms", PARTY_NAMES, |names| {
                for (side, party) in
                    [("UltmtDbtr", &instruction.debtor), ("Cdtr", &instruction.creditor)]
                {
                    let Some(split) = &party.split else { continue };
                    names.nest(side, |name| {
                        name.leaf_if("FrstNm", Some(&set.spell(&split.given, MAX_NAME_CHARS)));
                        name.leaf_if("LastNm", Some(&set.spell(&split.family, MAX_NAME_CHARS)));
                    });
                }
            });
        });
    });
}

/// The amount with all decimals of its currency, without the code.
fn plain(amount: Money) -> String {
    let printed = amount.to_string();
    printed.split_once(' ').map_or(printed.clone(), |(number, _)| number.to_owned())
}

fn name(set: CharacterSet, text: &str) -> String {
    Some(set.spell(text, MAX_NAME_CHARS))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| NOT_PROVIDED.to_owned())
}

fn name_and_address(
    out: &mut XmlWriter,
    set: CharacterSet,
    form: NameForm,
    party: &InstructionParty,
) {
    let split = party
        .split
        .as_ref()
        .filter(|split| form == NameForm::FamilyFirst && !split.given.is_empty());
    match split {
        Some(SplitName { given, family }) => {
            out.leaf("Nm", &name(set, &format!("{family}, {given}")))
        }
        None => out.leaf("Nm", &name(set, &party.name)),
    }
    let street = set.spell(&party.address, MAX_STREET_CHARS);
    let town = set.spell(&party.city, MAX_ID_CHARS);
    let country = alpha2(&party.country);
    if street.is_empty() && town.is_empty() && country.is_none() {
        return;
    }
    out.nest("PstlAdr", |address| {
        address.leaf_if("StrtNm", Some(&street));
        address.leaf_if("TwnNm", Some(&town));
        address.leaf_if("Ctry", country);
    });
}

fn private_id(out: &mut XmlWriter, set: CharacterSet, party: &InstructionParty) {
    let document = party
        .document
        .as_ref()
        .map(|(kind, number, country)| (kind, set.spell(number, MAX_ID_CHARS), country));
    let document = document.filter(|(_, number, _)| !number.is_empty());
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

fn contact(out: &mut XmlWriter, party: &InstructionParty) {
    let mobile = party.mobile.as_deref().and_then(phone);
    let email = party.email.as_deref().and_then(email);
    if mobile.is_none() && email.is_none() {
        return;
    }
    out.nest("CtctDtls", |details| {
        details.leaf_if("MobNb", mobile.as_deref());
        details.leaf_if("EmailAdr", email);
    });
}

fn creditor_agent(out: &mut XmlWriter, set: CharacterSet, instruction: &Instruction) {
    out.leaf_if("BICFI", instruction.creditor_bic.as_deref());
    if let Some(code) = instruction.creditor_local_code.as_deref().filter(|code| !code.is_empty()) {
        out.chain(&["ClrSysMmbId", "MmbId"], code);
    }
    out.leaf_if("Nm", Some(&set.spell(&instruction.creditor_bank, MAX_NAME_CHARS)));
}

#[cfg(test)]
#[path = "pain001_tests.rs"]
mod tests;
