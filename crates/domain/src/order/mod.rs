//! The payment order: one shared struct, one rule set per destination country.
//!
//! The HTTP room reads the shape of a request (types, lengths, what is missing) into a [`Draft`]; [`Draft::check`]
//! applies the rules of its country and resolves the branch in the bank directory. Only an [`Order`] can be paid.

use jiff::civil::Date;

use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::ids::QuoteId;

/// `beneficiary_account_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AccountType {
    /// `savings`, the default.
    #[default]
    Savings,
    /// `current`
    Current,
}

/// `sender_identity_doc_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentType {
    /// `idcard`
    IdCard,
    /// `passport`
    Passport,
    /// `other`
    Other,
}

/// An order whose every rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Destination country, the discriminator of the seven variants.
    pub country: Country,
    /// Base currency.
    pub currency: Currency,
    /// The quote that it uses.
    pub quote: QuoteId,
    /// Amount in the destination currency, as the client sent it.
    pub amount: Decimal,
    /// Bank of the beneficiary.
    pub bank_name: String,
    /// The branch code as the client sent it (upper case).
    pub branch_code_given: String,
    /// BIC of the branch, given or found in the directory.
    pub branch_bic: Option<String>,
    /// Local code of the branch (IFSC, routing number …), given or found in the directory.
    pub branch_local_code: Option<String>,
    /// Name of the branch, from the directory.
    pub branch_name: Option<String>,
    /// At most 128 characters.
    pub beneficiary_name: String,
    /// Town.
    pub beneficiary_city: String,
    /// At most 70 characters.
    pub beneficiary_address: String,
    /// Account number or IBAN, without spaces, upper case for an IBAN.
    pub beneficiary_account_number: String,
    /// Whether the account number is an IBAN.
    pub account_is_iban: bool,
    /// Savings unless said otherwise.
    pub beneficiary_account_type: AccountType,
    /// E.164 of the destination country.
    pub beneficiary_mobile: Option<String>,
    /// E-mail address.
    pub beneficiary_email: Option<String>,
    /// Notes.
    pub remarks: Option<String>,
    /// Name and surname.
    pub sender_name: String,
    /// Date of birth.
    pub sender_birthdate: Option<Date>,
    /// Kind of the identity document.
    pub sender_identity_doc_type: DocumentType,
    /// Number of the identity document.
    pub sender_identity_doc: String,
    /// Its expiry, not in the past.
    pub sender_identity_doc_exp: Option<Date>,
    /// ISO 3166-1 alpha-3.
    pub sender_identity_doc_country: Option<String>,
    /// Town.
    pub sender_city: String,
    /// At most 70 characters.
    pub sender_address: String,
    /// ISO 3166-1 alpha-3.
    pub sender_country: String,
    /// E.164.
    pub sender_mobile: Option<String>,
    /// One of the configured relations, lower case.
    pub sender_relation: String,
    /// The caller's own id, 1 to 128 characters.
    pub external_id: Option<String>,
}

impl Order {
    /// The branch code as output shows it: the local code where one is known, else what was given.
    pub fn branch_code(&self) -> &str {
        self.branch_local_code.as_deref().unwrap_or(&self.branch_code_given)
    }
}
