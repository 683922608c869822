//! The payment order: one shared struct, one rule set per destination country.
//!
//! The HTTP crate validates the shape of a request (types, lengths, missing fields) into an
//! [`UncheckedOrder`]. [`UncheckedOrder::check`] applies the rules of its country and resolves the
//! branch in the bank directory. Only an [`Order`] can be paid.
//!
//! [`FIELDS`] holds all there is to a field. The names of rules are stable: clients receive them as
//! `type` of a 422. Sources: specification "Payment order", `corridors.md`, `decisions.md`
//! "Errors".

mod branch;
mod check;
pub mod example;
mod field;
mod fields;
mod forms;
mod hints;
mod party;
mod rules;
#[cfg(test)]
mod tests;

pub use branch::{PayeeBank, is_local_branch_code, payee_bank, same_branch};
pub use check::UncheckedOrder;
pub use field::{Field, Form, Role};
pub use fields::{
    ACCOUNT_NUMBER_MAX_CHARS, ADDRESS_MAX_CHARS, BENEFICIARY_NAME_MAX_CHARS, BRANCH_CODE_MAX_CHARS,
    EXTERNAL_ID_MAX_CHARS, FIELDS, Order, TIMESTAMP, member_names,
};
pub use forms::{CountryForm, country_forms};
pub use hints::{account_part, account_question, bank_of_branch, check_route_hints, same_account};

use crate::fault::{self, Fault};

use fields::{BANK_BRANCH_CODE, BENEFICIARY_ACCOUNT_NUMBER};

/// Merges an order's shape faults and rule faults in the order of [`FIELDS`].
pub fn merge_faults(shape: Vec<Fault>, rules: Vec<Fault>) -> Vec<Fault> {
    fault::merged(shape, rules, |name| {
        FIELDS.iter().position(|field| field.name == name).unwrap_or(FIELDS.len())
    })
}

names! {
    /// `beneficiary_account_type` of the order (specification: `BankAccountType`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum AccountType: "Name in the API." {
        /// `savings`, the default; rails receive `SVGS`.
        #[default]
        Savings = "savings",
        /// `current`; rails receive `CACC`.
        Current = "current",
    }
}

names! {
    /// `sender_identity_doc_type` of the order (specification: `IdentityDocumentType`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DocumentType: "Name in the API." {
        /// `idcard`: a national identity card; rails receive `NIDN`.
        IdCard = "idcard",
        /// `passport`: a passport; rails receive `CCPT`.
        Passport = "passport",
        /// `other`: any other document, which has no ISO 20022 code.
        Other = "other",
    }
}
