//! The payment order: one shared struct, one rule set per destination country.
//!
//! The HTTP crate validates the shape of a request (types, lengths, missing fields) into a [`Draft`].
//! [`Draft::check`] applies the rules of its country and resolves the branch in the bank directory.
//! Only an [`Order`] can be paid.
//!
//! # Rules
//!
//! The names are stable: clients receive them as `type` of a 422. Sources: specification "Payment order",
//! `corridors.md`, `decisions.md` "Errors".
//!
//! | Field | Rule | Violated if |
//! |---|---|---|
//! | `amount` | `greater_than` | not above 0 |
//! | `bank_branch_code` | `invalid_bic` | a malformed BIC or another country's; PHL: anything but a BIC |
//! | `bank_branch_code` | `invalid_ifsc` | IND: neither a BIC nor an IFSC |
//! | `bank_branch_code` | `invalid_routing_number` | BGD: neither a BIC nor 9 digits |
//! | `bank_branch_code` | `invalid_branch_code` | EGY, NPL, PAK, VNM: neither a BIC nor the local code |
//! | `bank_branch_code` | `branch_iban_mismatch` | EGY, PAK: the IBAN names another bank or branch |
//! | `beneficiary_name` | `string_too_long` | more than 128 characters |
//! | `beneficiary_address` | `string_too_long` | more than 70 characters |
//! | `beneficiary_account_number` | `invalid_iban` | EGY, PAK: wrong prefix, length, format or check digits |
//! | `beneficiary_account_number` | `invalid_account_number` | the others, and PAK's local numbers: wrong format |
//! | `beneficiary_mobile` | `invalid_mobile` | not a mobile number of the destination |
//! | `beneficiary_email` | `invalid_email` | not an e-mail address |
//! | `sender_birthdate` | `date_past` | today or later |
//! | `sender_identity_doc_exp` | `document_expired` | before today (UTC) |
//! | `sender_identity_doc_country` | `invalid_country` | not in ISO 3166-1 alpha-3 |
//! | `sender_address` | `string_too_long` | more than 70 characters |
//! | `sender_country` | `invalid_country` | not in ISO 3166-1 alpha-3 |
//! | `sender_mobile` | `invalid_mobile` | not E.164 |
//! | `sender_relation` | `invalid_relation` | not among the configured relations |
//! | `external_id` | `string_too_short`, `string_too_long` | not 1 to 128 characters |

mod bgd;
mod branch;
mod draft;
mod egy;
pub mod example;
mod hints;
mod ind;
mod npl;
mod pak;
mod party;
mod phl;
mod rules;
#[cfg(test)]
mod tests;
mod vnm;

pub use branch::{is_local_branch_code, same_branch};
pub use draft::Draft;
pub use hints::{account_part, check_route_hints, same_account};

use jiff::civil::Date;

use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::fault::Fault;
use crate::ids::QuoteId;

/// Maximum length of `beneficiary_name`, in characters (specification, "Limits").
pub const BENEFICIARY_NAME_MAX_CHARS: usize = 128;
/// Maximum length of `beneficiary_address` and `sender_address`, in characters (specification,
/// "Limits").
pub const ADDRESS_MAX_CHARS: usize = 70;
/// Maximum length of `external_id`, in characters (specification, "Limits").
pub const EXTERNAL_ID_MAX_CHARS: usize = 128;

const BANK_BRANCH_CODE: &str = "bank_branch_code";
const BENEFICIARY_ACCOUNT_NUMBER: &str = "beneficiary_account_number";

/// The fields of a payment order in the order of the specification's table, which is the order of
/// faults.
pub const FIELDS: [&str; 28] = [
    "country",
    "currency",
    "quote",
    "amount",
    "bank_name",
    BANK_BRANCH_CODE,
    "bank_branch_name",
    "beneficiary_name",
    "beneficiary_city",
    "beneficiary_address",
    BENEFICIARY_ACCOUNT_NUMBER,
    "beneficiary_account_type",
    "beneficiary_mobile",
    "beneficiary_email",
    "remarks",
    "sender_name",
    "sender_birthdate",
    "sender_identity_doc_type",
    "sender_identity_doc",
    "sender_identity_doc_exp",
    "sender_identity_doc_country",
    "sender_city",
    "sender_address",
    "sender_country",
    "sender_mobile",
    "sender_relation",
    "external_id",
    "timestamp",
];

/// Merges an order's shape faults and rule faults in the order of [`FIELDS`]. A field with a shape
/// fault has no rule faults: its value in the draft is only a placeholder.
pub fn merge_faults(shape: Vec<Fault>, rules: Vec<Fault>) -> Vec<Fault> {
    let place = |fault: &Fault| {
        FIELDS.iter().position(|field| *field == fault.field).unwrap_or(FIELDS.len())
    };
    let kept: Vec<Fault> = rules
        .into_iter()
        .filter(|rule| shape.iter().all(|fault| fault.field != rule.field))
        .collect();
    let mut all: Vec<Fault> = shape.into_iter().chain(kept).collect();
    all.sort_by_key(place);
    all
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

/// A fully validated order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Destination country, the discriminator of the seven variants.
    pub country: Country,
    /// Base currency, which must equal the quote's.
    pub currency: Currency,
    /// Quote that it uses.
    pub quote: QuoteId,
    /// Amount in the destination currency, as the client sent it.
    pub amount: Decimal,
    /// Name of the beneficiary's bank.
    pub bank_name: String,
    /// The branch code as the client sent it (upper case).
    pub branch_code_given: String,
    /// BIC of the branch, given or from the directory.
    pub branch_bic: Option<String>,
    /// Local code of the branch (IFSC, routing number …), given or from the directory.
    pub branch_local_code: Option<String>,
    /// Name of the branch, from the directory.
    pub branch_name: Option<String>,
    /// At most 128 characters.
    pub beneficiary_name: String,
    /// Town of the beneficiary; goes to the rail's postal address.
    pub beneficiary_city: String,
    /// At most 70 characters.
    pub beneficiary_address: String,
    /// Account number or IBAN, without spaces, upper case for an IBAN.
    pub beneficiary_account_number: String,
    /// Whether the account number is an IBAN.
    pub account_is_iban: bool,
    /// Kind of the account; savings unless the order names another.
    pub beneficiary_account_type: AccountType,
    /// E.164 number of the destination country.
    pub beneficiary_mobile: Option<String>,
    /// Address of valid form (RFC 5321); `None` if the order has none.
    pub beneficiary_email: Option<String>,
    /// Notes of the sender.
    pub remarks: Option<String>,
    /// Name and surname of the sender, which are screened.
    pub sender_name: String,
    /// Date before the day of the order; some rails require it.
    pub sender_birthdate: Option<Date>,
    /// Kind of the identity document.
    pub sender_identity_doc_type: DocumentType,
    /// Number of the identity document.
    pub sender_identity_doc: String,
    /// Its expiry, not in the past.
    pub sender_identity_doc_exp: Option<Date>,
    /// Country that issued the document, ISO 3166-1 alpha-3; `None` if not given.
    pub sender_identity_doc_country: Option<String>,
    /// Town of the sender; goes to the rail's postal address.
    pub sender_city: String,
    /// At most 70 characters.
    pub sender_address: String,
    /// Country of residence, ISO 3166-1 alpha-3.
    pub sender_country: String,
    /// E.164 number of any country; `None` if not given.
    pub sender_mobile: Option<String>,
    /// One of the configured relations, lower case.
    pub sender_relation: String,
    /// The caller's own id, 1 to 128 characters.
    pub external_id: Option<String>,
}

impl Order {
    /// The displayed branch code: the local code if known, else the given one.
    pub fn branch_code(&self) -> &str {
        self.branch_local_code.as_deref().unwrap_or(&self.branch_code_given)
    }
}
