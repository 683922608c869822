//! Builds the instruction of an attempt: a pure function of stored data, so that a repetition is
//! identical.

use domain::attempt::Attempt;
use domain::exchange::ExchangeOrder;
use domain::order::{AccountType, Order};
use domain::policy::{CorridorConfig, Corridors};
use domain::rail::{Instruction, InstructionParty, NameForm, RailId, SplitName};

use super::payout::local_code;

/// Returns the instruction of an attempt.
pub fn instruction(attempt: &Attempt, order: &Order, corridors: &Corridors) -> Instruction {
    let corridor = corridors.corridors.get(&order.country);
    let wants = Names::of(corridor);
    let default_code = corridor.and_then(|corridor| corridor.default_local_code.clone());
    Instruction {
        rail: attempt.rail.clone(),
        tenant: attempt.tenant,
        payment: attempt.payment,
        attempt: attempt.id,
        amount: attempt.amount,
        created_at: attempt.created_at,
        debtor: debtor(order, wants),
        creditor: creditor(order, wants),
        creditor_account: order.beneficiary_account_number.clone(),
        creditor_account_is_iban: order.account_is_iban,
        creditor_account_type: match order.beneficiary_account_type {
            AccountType::Savings => "SVGS",
            AccountType::Current => "CACC",
        },
        creditor_bic: order.branch_bic.clone(),
        creditor_local_code: order.branch_local_code.clone().or(default_code),
        creditor_bank: order.bank_name.clone(),
        purpose: order
            .purpose_code
            .clone()
            .unwrap_or_else(|| purpose(&attempt.rail, corridor, corridors)),
        names: wants.form,
        source_of_funds: corridor.and_then(|corridor| corridor.source_of_funds.clone()),
        remittance: remittance(order),
    }
}

/// Returns the instruction of an exchange order's payout attempt. The customer is both parties: the
/// funds go from their wallet to their account.
pub(super) fn order_instruction(
    attempt: &Attempt,
    order: &ExchangeOrder,
    corridors: &Corridors,
) -> Instruction {
    let corridor = corridors.corridors.get(&order.country);
    let wants = Names::of(corridor);
    let bank = &order.bank;
    let holder = InstructionParty {
        name: bank.holder.clone(),
        split: wants.split(&bank.holder, wants.family_first),
        country: order.country.alpha2().to_owned(),
        ..InstructionParty::default()
    };
    Instruction {
        rail: attempt.rail.clone(),
        tenant: attempt.tenant,
        payment: attempt.payment,
        attempt: attempt.id,
        amount: attempt.amount,
        created_at: attempt.created_at,
        debtor: holder.clone(),
        creditor: holder,
        creditor_account: bank
            .iban
            .clone()
            .or_else(|| bank.account_number.clone())
            .unwrap_or_default(),
        creditor_account_is_iban: bank.iban.is_some(),
        creditor_account_type: "CACC",
        creditor_bic: bank.bic.clone(),
        creditor_local_code: local_code(order.country, bank).map(str::to_owned),
        creditor_bank: bank
            .bank_name
            .clone()
            .or_else(|| bank.bank_code.clone())
            .unwrap_or_default(),
        purpose: purpose(&attempt.rail, corridor, corridors),
        names: wants.form,
        source_of_funds: corridor.and_then(|corridor| corridor.source_of_funds.clone()),
        remittance: "self".to_owned(),
    }
}

/// The purpose code of a rail's payouts, else of its corridor's.
fn purpose(rail: &RailId, corridor: Option<&CorridorConfig>, corridors: &Corridors) -> String {
    let own = corridors.rail(rail).and_then(|rail| rail.purpose.clone());
    own.or_else(|| corridor.map(|corridor| corridor.purpose.clone())).unwrap_or_default()
}

/// A corridor's requirements on names.
#[derive(Clone, Copy)]
struct Names {
    form: NameForm,
    family_first: bool,
}

impl Names {
    fn of(corridor: Option<&CorridorConfig>) -> Names {
        Names {
            form: corridor.map_or(NameForm::Whole, |corridor| corridor.names),
            family_first: corridor.is_some_and(|corridor| corridor.family_name_first),
        }
    }

    fn split(self, name: &str, family_first: bool) -> Option<SplitName> {
        (self.form != NameForm::Whole).then(|| SplitName::of(name, family_first)).flatten()
    }
}

fn debtor(order: &Order, wants: Names) -> InstructionParty {
    let document = (
        order.sender_identity_doc_type.name().to_owned(),
        order.sender_identity_doc.clone(),
        order.sender_identity_doc_country.clone(),
    );
    InstructionParty {
        name: order.sender_name.clone(),
        split: wants.split(&order.sender_name, false),
        address: order.sender_address.clone(),
        city: order.sender_city.clone(),
        country: order.sender_country.clone(),
        mobile: order.sender_mobile.clone(),
        email: None,
        birthdate: order.sender_birthdate,
        document: Some(document),
    }
}

fn creditor(order: &Order, wants: Names) -> InstructionParty {
    InstructionParty {
        name: order.beneficiary_name.clone(),
        split: wants.split(&order.beneficiary_name, wants.family_first),
        address: order.beneficiary_address.clone(),
        city: order.beneficiary_city.clone(),
        country: order.country.alpha2().to_owned(),
        mobile: order.beneficiary_mobile.clone(),
        email: order.beneficiary_email.clone(),
        birthdate: None,
        document: None,
    }
}

fn remittance(order: &Order) -> String {
    match &order.remarks {
        Some(remarks) => format!("{remarks} ({})", order.sender_relation),
        None => order.sender_relation.clone(),
    }
}
