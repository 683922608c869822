//! Writes pain.001, the payment instructions, as the bank's profile wants them. Equal batches give
//! equal bytes, MsgId included, so that the bank recognises a repetition.

pub(super) mod party;

use domain::hex::hex;

use domain::decimal::Decimal;
use domain::iban::Iban;
use domain::rail::{Instruction, NameForm, RailId};
use domain::rail_text::CharacterSet;
use domain::time::Timestamp;
use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::iso::NAMESPACE;
use super::profile::{Account, Agent, Code, MAX_ID_CHARS, Profile, Version};
use super::xml_write::XmlWriter;
use super::{Message, OurSide};
use party::{agent_id, contact, name, name_and_address, names_apart, our_address, private_id};

const BYTES_PER_INSTRUCTION: usize = 2_048;
/// More than one instruction, or the headers, can ever need.
const MAX_INSTRUCTION_BYTES: usize = 16 * 1024;
/// Maximum length of a name, and of remittance information (Max140Text).
pub(super) const MAX_NAME_CHARS: usize = 140;
/// Maximum length of an ISO external code.
const MAX_CODE_CHARS: usize = 4;
/// Bytes of the digest in a MsgId: 24 hexadecimal digits, a hyphen and the count stay below 35 characters.
const MESSAGE_DIGEST_BYTES: usize = 12;
/// The type of regulatory reporting details (Max35Text).
const SOURCE_OF_FUNDS: &str = "SOURCE OF FUNDS";

/// Writes the messages of one rail.
#[derive(Clone, Debug)]
pub(super) struct PaymentWriter {
    pub(super) rail: RailId,
    pub(super) ours: OurSide,
}

impl PaymentWriter {
    /// The message that carries a batch.
    pub(super) fn write(&self, batch: &[Instruction]) -> Message {
        let id = self.message_id(batch);
        let head = Head {
            id: &id,
            created_at: created_at(batch),
            execution: self.execution_date(batch),
            count: batch.len().to_string(),
            sum: batch
                .iter()
                .try_fold(Decimal::ZERO, |sum, one| sum.checked_add(one.amount.decimal())),
        };
        let namespace = format!("{NAMESPACE}{}", self.ours.profile.version.name());
        let capacity = 2_048 + batch.len() * BYTES_PER_INSTRUCTION;
        let xml = XmlWriter::document(&namespace, capacity, |doc| {
            doc.nest("CstmrCdtTrfInitn", |initiation| {
                initiation.nest("GrpHdr", |header| group_header(header, &head, &self.ours));
                initiation.nest("PmtInf", |info| {
                    payment_header(info, &head, &self.ours);
                    for instruction in batch {
                        info.nest("CdtTrfTxInf", |tx| transaction(tx, &self.ours, instruction));
                    }
                });
            });
        });
        Message { id, xml }
    }

    /// Identifies the set of attempts: another set has another MsgId, even if it starts with the same
    /// attempt.
    pub(super) fn message_id(&self, batch: &[Instruction]) -> String {
        let mut digest = Sha256::new();
        digest.update(self.rail.0.as_bytes());
        for instruction in batch {
            digest.update(b"\n");
            digest.update(instruction.attempt.instruction_id());
        }
        let digest = hex(&digest.finalize()[..MESSAGE_DIGEST_BYTES]);
        self.ours.profile.ids.write(&format!("{digest}-{}", batch.len()))
    }

    /// The number of instructions in each message, so that none is larger than the profile allows.
    pub(super) fn split(&self, batch: &[Instruction]) -> Vec<usize> {
        let max_bytes = self.ours.profile.max_bytes;
        let (mut sizes, mut rest) = (Vec::new(), batch);
        while !rest.is_empty() {
            let size = self.fitting(rest, max_bytes);
            sizes.push(size);
            rest = &rest[size..];
        }
        sizes
    }

    /// How many of the first instructions fit into one message; at least one.
    fn fitting(&self, batch: &[Instruction], max_bytes: usize) -> usize {
        let mut size = batch.len();
        if (size + 1) * MAX_INSTRUCTION_BYTES <= max_bytes {
            return size;
        }
        loop {
            let bytes = self.write(&batch[..size]).xml.len();
            if bytes <= max_bytes || size == 1 {
                return size;
            }
            // In proportion, and always fewer.
            size = (size * max_bytes / bytes).clamp(1, size - 1);
        }
    }

    /// The date on which the bank is asked to execute the message.
    pub(super) fn execution_date(&self, batch: &[Instruction]) -> Date {
        self.ours.profile.calendar.execution_date(created_at(batch))
    }

    /// The bank's date on which the message is made.
    pub(super) fn date(&self, batch: &[Instruction]) -> Date {
        self.ours.profile.calendar.date(created_at(batch))
    }
}

fn created_at(batch: &[Instruction]) -> Timestamp {
    batch.iter().map(|one| one.created_at).max().unwrap_or(Timestamp(0))
}

/// The part repeated in both headers.
struct Head<'a> {
    id: &'a str,
    created_at: Timestamp,
    execution: Date,
    count: String,
    sum: Option<Decimal>,
}

fn group_header(out: &mut XmlWriter, head: &Head<'_>, ours: &OurSide) {
    let (set, profile) = (ours.character_set, &ours.profile);
    out.leaf("MsgId", head.id);
    out.leaf("CreDtTm", &head.created_at.to_string());
    totals(out, head);
    out.nest("InitgPty", |party| {
        let own = profile.initiating_party.as_ref().unwrap_or(&ours.debtor_name);
        party.leaf("Nm", &name(set, own));
        let Some((id, scheme)) = &profile.initiating_party_id else { return };
        party.nest("Id", |party| {
            party.nest("OrgId", |organisation| {
                organisation.nest("Othr", |other| {
                    other.leaf("Id", &set.spell(id, MAX_ID_CHARS));
                    code(other, "SchmeNm", scheme.as_ref());
                });
            });
        });
    });
}

fn totals(out: &mut XmlWriter, head: &Head<'_>) {
    out.leaf("NbOfTxs", &head.count);
    out.leaf_if("CtrlSum", head.sum.map(|sum| sum.to_string()).as_deref());
}

fn payment_header(out: &mut XmlWriter, head: &Head<'_>, ours: &OurSide) {
    let profile = &ours.profile;
    out.leaf("PmtInfId", head.id);
    out.leaf("PmtMtd", "TRF");
    out.leaf_if("BtchBookg", profile.batch_booking.map(|one| if one { "true" } else { "false" }));
    totals(out, head);
    payment_type(out, profile);
    let date = head.execution.to_string();
    match profile.version {
        Version::V03 => out.leaf("ReqdExctnDt", &date),
        Version::V09 => out.chain(&["ReqdExctnDt", "Dt"], &date),
    }
    out.nest("Dbtr", |debtor| {
        debtor.leaf("Nm", &name(ours.character_set, &ours.debtor_name));
        if let Some(address) = &profile.debtor_address {
            our_address(debtor, address);
        }
    });
    out.nest("DbtrAcct", |account| {
        match &ours.debtor_account {
            Account::Iban(iban) => account.chain(&["Id", "IBAN"], iban),
            Account::Other(number) => account.chain(&["Id", "Othr", "Id"], number),
        }
        account.leaf_if("Ccy", profile.debtor_currency.as_deref());
    });
    out.nest("DbtrAgt", |agent| our_agent(agent, ours, profile.version));
    out.leaf_if("ChrgBr", profile.charge_bearer.map(|bearer| bearer.code()));
}

/// The bank that holds our account, with the elements of this version.
pub(super) fn our_agent(out: &mut XmlWriter, ours: &OurSide, version: Version) {
    out.nest("FinInstnId", |id| match &ours.debtor_agent {
        Agent::Bic(bic) => id.leaf(version.bic(), bic),
        Agent::Member(member) => agent_id(id, &ours.profile, None, Some(member)),
        Agent::Other(other) => id.chain(&["Othr", "Id"], other),
    });
}

fn payment_type(out: &mut XmlWriter, profile: &Profile) {
    let parts = [
        ("SvcLvl", profile.service_level.as_ref()),
        ("LclInstrm", profile.local_instrument.as_ref()),
        ("CtgyPurp", profile.category_purpose.as_ref()),
    ];
    if parts.iter().any(|(_, part)| part.is_some()) {
        out.nest("PmtTpInf", |kind| {
            parts.into_iter().for_each(|(element, part)| code(kind, element, part))
        });
    }
}

/// A choice of `Cd` and `Prtry`. The configuration has checked its characters.
fn code(out: &mut XmlWriter, element: &str, code: Option<&Code>) {
    match code {
        None => {}
        Some(Code::External(code)) => out.chain(&[element, "Cd"], code),
        Some(Code::Proprietary(own)) => out.chain(&[element, "Prtry"], own),
    }
}

fn transaction(out: &mut XmlWriter, ours: &OurSide, instruction: &Instruction) {
    let (set, profile) = (ours.character_set, &ours.profile);
    out.nest("PmtId", |id| {
        id.leaf("InstrId", &profile.ids.write(&instruction.attempt.instruction_id()));
        id.leaf("EndToEndId", &profile.ids.write(&instruction.payment.end_to_end_id()));
        if profile.version == Version::V09 {
            id.leaf("UETR", &instruction.attempt.to_string());
        }
    });
    out.nest("Amt", |amt| {
        amt.money("InstdAmt", instruction.amount);
    });
    for (element, party) in [("UltmtDbtr", &instruction.debtor), ("Cdtr", &instruction.creditor)] {
        if element == "Cdtr" {
            creditor_agent(out, ours, instruction);
        }
        out.nest(element, |out| {
            name_and_address(out, ours, instruction.names, party);
            private_id(out, set, party);
            contact(out, set, party);
        });
    }
    // Where the money goes (account, BIC, clearing code) is never folded or cut: a wrong one must be refused by the
    // bank, not turned into another one.
    out.nest("CdtrAcct", |account| {
        let number = instruction.creditor_account.as_str();
        let form: &[&str] =
            if is_iban(instruction) { &["Id", "IBAN"] } else { &["Id", "Othr", "Id"] };
        account.chain(form, number);
        account.chain(&["Tp", "Cd"], instruction.creditor_account_type);
    });
    let purpose = set.spell(&instruction.purpose, MAX_ID_CHARS);
    if !purpose.is_empty() {
        let form = if purpose.len() <= MAX_CODE_CHARS { "Cd" } else { "Prtry" };
        out.chain(&["Purp", form], &purpose);
    }
    regulatory_reporting(out, set, profile, instruction);
    let remittance = set.spell(&instruction.remittance, MAX_NAME_CHARS);
    if !remittance.is_empty() {
        out.chain(&["RmtInf", "Ustrd"], &remittance);
    }
    if instruction.names == NameForm::Apart && profile.version == Version::V09 {
        names_apart(out, set, instruction);
    }
}

/// An order's account is checked when it is accepted; an IBAN without that mark is one all the same.
pub(super) fn is_iban(instruction: &Instruction) -> bool {
    let country = domain::country::Country::ALL.into_iter();
    instruction.creditor_account_is_iban
        || country.into_iter().any(|country| {
            Iban::parse(country, &instruction.creditor_account)
                .is_ok_and(|iban| iban.as_str() == instruction.creditor_account)
        })
}

fn creditor_agent(out: &mut XmlWriter, ours: &OurSide, instruction: &Instruction) {
    out.nest("CdtrAgt", |agent| {
        agent.nest("FinInstnId", |id| {
            let member = instruction.creditor_local_code.as_deref();
            let bic = instruction.creditor_bic.as_deref();
            agent_id(id, &ours.profile, bic, member.filter(|code| !code.is_empty()));
            let bank = ours.character_set.spell(&instruction.creditor_bank, MAX_NAME_CHARS);
            id.leaf_if("Nm", Some(&bank));
        });
    });
}

fn regulatory_reporting(
    out: &mut XmlWriter,
    set: CharacterSet,
    profile: &Profile,
    instruction: &Instruction,
) {
    let code = profile.regulatory_code.as_deref();
    let source = instruction.source_of_funds.as_ref().map(|text| set.spell(text, MAX_ID_CHARS));
    let source = source.filter(|text| !text.is_empty());
    if code.is_none() && source.is_none() {
        return;
    }
    out.nest("RgltryRptg", |reporting| {
        if let Some(code) = code {
            reporting.chain(&["Dtls", "Cd"], code);
        }
        if let Some(source) = &source {
            reporting.nest("Dtls", |details| {
                details.leaf("Tp", SOURCE_OF_FUNDS);
                details.leaf("Inf", source);
            });
        }
    });
}

#[cfg(test)]
#[path = "pain001_properties.rs"]
mod properties;
#[cfg(test)]
#[path = "pain001_tests.rs"]
mod tests;
