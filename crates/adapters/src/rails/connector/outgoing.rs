//! The requests of the connector contract (docs/openapi/connector.json). The same instruction gives the
//! same bytes.

use domain::account_check::AccountQuestion;
use domain::money::Money;
use domain::rail::{Inquiry, Instruction, InstructionParty, NameForm, RecallRequest};
use domain::rail_text::CharacterSet;
use domain::recall::RECALL_TEXT_MAX_CHARS;
use serde_json::{Map, Value, json};

use super::super::pain001::party::{MAX_STREET_CHARS, document_number, name_in};
use super::super::pain001::{MAX_NAME_CHARS, is_iban};
use super::super::profile::MAX_ID_CHARS;
use super::super::text::{alpha2, email};
use super::super::xml_write::plain;

/// The body of `POST /payments`.
pub(super) fn payment(set: CharacterSet, instruction: &Instruction) -> Value {
    let one = instruction;
    let text = |text: &str, max| optional(set.spell(text, max));
    pruned(json!({
        "instruction_id": one.attempt.instruction_id(),
        "end_to_end_id": one.payment.end_to_end_id(),
        "uetr": one.attempt.to_string(),
        "created_at": one.created_at.to_string(),
        "amount": amount(one.amount),
        "sender": party(set, one.names, &one.debtor),
        "beneficiary": party(set, one.names, &one.creditor),
        // Where the money goes is never folded or cut: a wrong account must be refused by the bank,
        // not turned into another one.
        "beneficiary_account": {
            "number": one.creditor_account,
            "is_iban": is_iban(one),
            "type": one.creditor_account_type,
            "bic": one.creditor_bic,
            "branch_code": one.creditor_local_code.as_ref().filter(|code| !code.is_empty()),
            "bank_name": text(&one.creditor_bank, MAX_NAME_CHARS),
        },
        "purpose": text(&one.purpose, MAX_ID_CHARS),
        "source_of_funds": one.source_of_funds.as_ref().and_then(|it| text(it, MAX_ID_CHARS)),
        "remittance_information": text(&one.remittance, MAX_NAME_CHARS),
    }))
}

fn party(set: CharacterSet, names: NameForm, party: &InstructionParty) -> Value {
    let text = |text: &str, max| optional(set.spell(text, max));
    let split = party.split.as_ref().filter(|_| names != NameForm::Whole);
    let document = party.document.as_ref().map(|(kind, number, country)| {
        json!({
            "type": text(kind, MAX_ID_CHARS),
            "number": document_number(set, number),
            "country": country.as_deref().map(|code| alpha2(code).unwrap_or(code)),
        })
    });
    json!({
        "name": name_in(set, names, party),
        "given_name": split.and_then(|split| text(&split.given, MAX_NAME_CHARS)),
        "family_name": split.and_then(|split| text(&split.family, MAX_NAME_CHARS)),
        "address": text(&party.address, MAX_STREET_CHARS),
        "city": text(&party.city, MAX_ID_CHARS),
        "country": alpha2(&party.country),
        "mobile": party.mobile,
        "email": party.email.as_deref().and_then(email),
        "birthdate": party.birthdate.map(|date| date.to_string()),
        "document": document,
    })
}

/// The body of `POST /inquiries`.
pub(super) fn inquiry(inquiry: &Inquiry) -> Value {
    json!({
        "instruction_id": inquiry.attempt.instruction_id(),
        "end_to_end_id": inquiry.payment.end_to_end_id(),
        "uetr": inquiry.attempt.to_string(),
        "created_at": inquiry.created_at.to_string(),
    })
}

/// The body of `POST /recalls`.
pub(super) fn recall(set: CharacterSet, recall: &RecallRequest) -> Value {
    let text = recall.text.as_ref().map(|text| set.spell(text, RECALL_TEXT_MAX_CHARS));
    pruned(json!({
        "recall_id": recall_id(recall),
        "instruction_id": recall.attempt.instruction_id(),
        "end_to_end_id": recall.payment.end_to_end_id(),
        "uetr": recall.attempt.to_string(),
        "created_at": recall.created_at.to_string(),
        "amount": amount(recall.amount),
        "reason": recall.reason.name(),
        "text": text.and_then(optional),
    }))
}

pub(super) fn recall_id(recall: &RecallRequest) -> String {
    recall.recall.message_id()
}

/// The body of `POST /account-checks`.
pub(super) fn account(set: CharacterSet, asked: &AccountQuestion) -> Value {
    pruned(json!({
        "country": alpha2(asked.country.alpha3()),
        "account": asked.account,
        "is_iban": asked.is_iban,
        "bic": asked.bic,
        "branch_code": asked.local_code,
        "name": set.spell(&asked.name, MAX_NAME_CHARS),
    }))
}

fn amount(amount: Money) -> Value {
    json!({ "value": plain(amount), "currency": amount.currency.code() })
}

fn optional(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Without members that have no value: there is one way to say "none".
fn pruned(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, pruned(value))).collect::<Map<_, _>>())
        }
        other => other,
    }
}
