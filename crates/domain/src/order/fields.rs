//! The table of order fields. Requests, stored orders, answers, the OpenAPI document, the command
//! line, the console and the example orders are derived from it: a new field is a new row.
//!
//! The rows stand in the order of the specification's table, which is the order of faults and of
//! members in answers.

use jiff::civil::Date;

use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::ids::QuoteId;

use super::example::{NEUTRAL_ENDING, account_ending};
use super::field::{Field, Form, Role, Value, text};
use super::party::{
    RAIL_MAX_CHARS, check_beneficiary_mobile, check_birthdate, check_country, check_email,
    check_expiry, check_external_id, check_length, check_sender_mobile, check_town,
};
use super::rules::upper_alphanumeric;
use super::{AccountType, DocumentType};

/// Maximum text length where the specification sets none.
const TEXT_MAX_CHARS: usize = 256;
/// Maximum length of `beneficiary_name`, in characters (specification, "Limits").
pub const BENEFICIARY_NAME_MAX_CHARS: usize = 128;
/// Maximum length of `beneficiary_address` and `sender_address`, in characters (specification,
/// "Limits").
pub const ADDRESS_MAX_CHARS: usize = 70;
/// Maximum length of `external_id`, in characters (specification, "Limits").
pub const EXTERNAL_ID_MAX_CHARS: usize = 128;
/// Maximum length of `remarks`.
const REMARKS_MAX_CHARS: usize = 2_000;
/// Maximum length of `purpose_code` (ISO 20022 ExternalPurpose1Code).
const PURPOSE_CODE_MAX_CHARS: usize = 4;
/// Maximum length of an account number, including IBANs.
pub const ACCOUNT_NUMBER_MAX_CHARS: usize = 64;
/// Maximum length of a branch code: BICs have 11 characters, local codes fewer.
pub const BRANCH_CODE_MAX_CHARS: usize = 35;
/// Maximum length of an email address (RFC 5321 path without brackets).
const EMAIL_MAX_CHARS: usize = 254;

/// Name of the member of answers that is the time of acceptance, not a field of the order; ignored
/// in a request.
pub const TIMESTAMP: &str = "timestamp";

pub(super) const BANK_BRANCH_CODE: &str = "bank_branch_code";
pub(super) const BENEFICIARY_ACCOUNT_NUMBER: &str = "beneficiary_account_number";

const SHORT: Form = text(TEXT_MAX_CHARS);
/// A number that every message carries whole (Max35Text): the beginning of one is another one.
const DOCUMENT: Form = text(RAIL_MAX_CHARS);
const ALPHA3: Form = Form::Text { min: 3, max: 3, multiline: false };
const ALPHA3_PATTERN: &str = "^[A-Z]{3}$";

/// The names of `$values`, in their order.
macro_rules! names_of {
    ($values:expr, $name:path) => {{
        const NAMES: [&str; $values.len()] = {
            let mut names = [""; $values.len()];
            let mut at = 0;
            while at < names.len() {
                names[at] = $name($values[at]);
                at += 1;
            }
            names
        };
        &NAMES
    }};
}

/// Declares [`Order`] and [`FIELDS`] from one table.
macro_rules! order_fields {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $field:expr;)+) => {
        /// A fully validated order.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Order {
            $($(#[$doc])* pub $name: $type,)+
        }

        impl Order {
            /// An order of placeholders, whose fields are then read one by one.
            pub fn placeholder() -> Order {
                Order { $($name: <$type as Value>::PLACEHOLDER,)+ }
            }
        }

        /// The fields of an order, in order.
        pub static FIELDS: &[Field] = &[
            $(Field::of::<$type>(
                $field,
                stringify!($name),
                |order| order.$name.text(),
                |order, text| order.$name.read(text),
            ),)+
        ];
    };
}

order_fields! {
    /// Destination country, the discriminator of the seven variants.
    country: Country = Field::required(Form::OneOf {
        set: "Country",
        names: names_of!(Country::ALL, Country::alpha3),
    });

    /// Base currency, which must equal the quote's.
    currency: Currency = Field::required(Form::OneOf {
        set: "SourceCurrency",
        names: names_of!(Currency::SOURCES, Currency::code),
    })
    .described("Currency of the quote.");

    /// Quote that it uses.
    quote: QuoteId = Field::required(Form::Uuid)
        .described("Id of a quote that is neither used nor expired.");

    /// Amount in the destination currency, as the client sent it.
    amount: Decimal = Field::required(Form::Number)
        .described(
            "Amount in the destination currency. Must equal rate x amount of the quote to 4 \
             decimals: send the quote's amount_destination.",
        )
        .in_answers("Amount in the destination currency.")
        .rule(|given| given.check_amount());

    /// Name of the beneficiary's bank.
    bank_name: String = Field::required(SHORT)
        .described("Bank where the beneficiary holds the account.")
        .example(|country| Some(country.rules().example.bank_name.to_owned()))
        .option("NAME", "Beneficiary's bank")
        .label("Bank");

    /// The branch code as the client sent it (upper case).
    bank_branch_code: String = Field::required(text(BRANCH_CODE_MAX_CHARS))
        .stored_as("branch_code_given")
        .described("BIC of the beneficiary's branch, or the country's own branch code.")
        .in_answers(
            "Local branch code (IFSC for India) where the bank directory knows it, else the code \
             as it was sent.",
        )
        .rule(|given| given.check_branch())
        .example(|country| Some(country.rules().example.branch_code.to_owned()))
        .option("CODE", "BIC or local code of the beneficiary's branch")
        .label("Branch");

    /// BIC of the branch, given or from the directory.
    branch_bic: Option<String> = Field::new(Role::Internal, SHORT);

    /// Local code of the branch (IFSC, routing number …), given or from the directory.
    branch_local_code: Option<String> = Field::new(Role::Internal, SHORT);

    /// Name of the branch, from the directory.
    bank_branch_name: Option<String> = Field::new(Role::Output, SHORT)
        .stored_as("branch_name")
        .described("Output only: ignored in a request.")
        .in_answers("Name of the branch in the bank directory.");

    /// At most 128 characters.
    beneficiary_name: String = Field::required(text(BENEFICIARY_NAME_MAX_CHARS))
        .described("Name and surname.")
        .rule(|given| {
            let name = &given.order.beneficiary_name;
            check_length("beneficiary_name", name, BENEFICIARY_NAME_MAX_CHARS)
        })
        .example(|country| Some(country.rules().example.name.to_owned()))
        .option("NAME", "Beneficiary's full name")
        .label("Beneficiary");

    /// Town of the beneficiary; goes to the rail's postal address.
    beneficiary_city: String = Field::required(SHORT)
        .described("Town.")
        .rule(|given| check_town("beneficiary_city", &given.order.beneficiary_city))
        .example(|country| Some(country.rules().example.city.to_owned()));

    /// At most 70 characters.
    beneficiary_address: String = Field::required(text(ADDRESS_MAX_CHARS))
        .described("Street and number.")
        .rule(|given| {
            check_length("beneficiary_address", &given.order.beneficiary_address, ADDRESS_MAX_CHARS)
        })
        .example(|country| Some(country.rules().example.address.to_owned()));

    /// Account number or IBAN, without spaces, upper case for an IBAN.
    beneficiary_account_number: String = Field::required(text(ACCOUNT_NUMBER_MAX_CHARS))
        .described("Account number of the beneficiary.")
        .rule(|given| given.account.as_ref().err().cloned())
        .example(|country| Some(account_ending(country, NEUTRAL_ENDING)))
        .option("NUMBER", "Beneficiary's account number or IBAN")
        .label("Account");

    /// Whether the account number is an IBAN.
    account_is_iban: bool = Field::new(Role::Internal, Form::Flag);

    /// Kind of the account; savings unless the order names another.
    beneficiary_account_type: AccountType = Field::optional(Form::OneOf {
        set: "BankAccountType",
        names: names_of!(AccountType::ALL, AccountType::name),
    })
    .example(|_| Some("savings".to_owned()));

    /// E.164 number of the destination country.
    beneficiary_mobile: Option<String> = Field::optional(SHORT)
        .described("Mobile number in E.164 with the country's prefix.")
        .rule(|given| {
            let number = given.order.beneficiary_mobile.as_deref()?;
            check_beneficiary_mobile(given.order.country, number)
        })
        .example(|country| Some(country.rules().example.mobile.to_owned()));

    /// Address of valid form (RFC 5321); `None` if the order has none.
    beneficiary_email: Option<String> = Field::optional(text(EMAIL_MAX_CHARS))
        .format("email")
        .described("E-mail address.")
        .rule(|given| given.order.beneficiary_email.as_deref().and_then(check_email))
        .example(|_| Some("beneficiary@example.com".to_owned()));

    /// Notes of the sender.
    remarks: Option<String> =
        Field::optional(Form::Text { min: 0, max: REMARKS_MAX_CHARS, multiline: true })
            .described("Notes for tracking; tab and newline may stand in it.")
            .example(|_| Some("family support".to_owned()))
            .option("TEXT", "Notes for tracking")
            .label("Remarks");

    /// Name and surname of the sender, which are screened.
    sender_name: String = Field::required(SHORT)
        .described("Name and surname.")
        .example(|_| Some("Omar Testwell".to_owned()))
        .option("NAME", "Sender's full name")
        .label("Sender");

    /// Date before the day of the order; some rails require it.
    sender_birthdate: Option<Date> = Field::optional(Form::Date)
        .described("In the past. Required where the chosen rail needs it.")
        .rule(|given| check_birthdate(given.order.sender_birthdate?, given.today))
        .example(|_| Some("1988-04-12".to_owned()));

    /// Kind of the identity document.
    sender_identity_doc_type: DocumentType = Field::required(Form::OneOf {
        set: "IdentityDocumentType",
        names: names_of!(DocumentType::ALL, DocumentType::name),
    })
    .nullable_in_answers()
    .example(|_| Some("passport".to_owned()))
    .label("Sender's document");

    /// Number of the identity document.
    sender_identity_doc: String = Field::required(DOCUMENT)
        .nullable_in_answers()
        .described("Number of the identity document.")
        .example(|_| Some("N01234567".to_owned()));

    /// Its expiry, not in the past.
    sender_identity_doc_exp: Option<Date> = Field::optional(Form::Date)
        .described(
            "Expiry of the document, today or later. Required where the chosen rail needs it.",
        )
        .rule(|given| check_expiry(given.order.sender_identity_doc_exp?, given.today))
        .example(|_| Some("2035-12-31".to_owned()));

    /// Country that issued the document, ISO 3166-1 alpha-3; `None` if not given.
    sender_identity_doc_country: Option<String> = Field::optional(ALPHA3)
        .pattern(ALPHA3_PATTERN)
        .described("Country that issued the document (ISO 3166-1 alpha-3).")
        .rule(|given| {
            let code = given.order.sender_identity_doc_country.as_deref()?;
            check_country("sender_identity_doc_country", code)
        })
        .example(|country| Some(country.alpha3().to_owned()));

    /// Town of the sender; goes to the rail's postal address.
    sender_city: String = Field::required(SHORT)
        .described("Town.")
        .rule(|given| check_town("sender_city", &given.order.sender_city))
        .example(|_| Some("Dubai".to_owned()));

    /// At most 70 characters.
    sender_address: String = Field::required(text(ADDRESS_MAX_CHARS))
        .described("Street and number.")
        .rule(|given| {
            check_length("sender_address", &given.order.sender_address, ADDRESS_MAX_CHARS)
        })
        .example(|_| Some("12 Example Street".to_owned()));

    /// Country of residence, ISO 3166-1 alpha-3.
    sender_country: String = Field::required(ALPHA3)
        .pattern(ALPHA3_PATTERN)
        .described("Country of residence (ISO 3166-1 alpha-3).")
        .rule(|given| check_country("sender_country", &given.order.sender_country))
        .example(|_| Some("ARE".to_owned()))
        .label("Sender's country");

    /// E.164 number of any country; `None` if not given.
    sender_mobile: Option<String> = Field::optional(SHORT)
        .pattern(r"^\+[1-9][0-9]{6,14}$")
        .described("Telephone number in E.164.")
        .rule(|given| given.order.sender_mobile.as_deref().and_then(check_sender_mobile))
        .example(|_| Some("+971501234567".to_owned()));

    /// One of the configured relations, lower case.
    sender_relation: String = Field::required(SHORT)
        .described(
            "Relation of the sender to the beneficiary, in any case: aunt, brother, colleague, \
             cousin, daughter, father, friend, husband, inlaws, mother, nephew, niece, relative, \
             self, sister, son, uncle, wife, other.",
        )
        .in_answers("Relation of the sender to the beneficiary, in lower case.")
        .rule(|given| given.relation.as_ref().err().cloned())
        .example(|_| Some("brother".to_owned()))
        .option("RELATION", "Sender's relation to the beneficiary")
        .label("Relation");

    /// The caller's own id, 1 to 128 characters.
    external_id: Option<String> =
        Field::optional(Form::Text { min: 1, max: EXTERNAL_ID_MAX_CHARS, multiline: false })
            .described("The caller's own id: unique for ever, and a key to find the payment by.")
            .rule(|given| given.order.external_id.as_deref().and_then(check_external_id))
            .option("ID", "Your own id of the payment; must be unique");

    /// Purpose of the payment, an ISO 20022 external purpose code; `None` for the corridor's.
    purpose_code: Option<String> = Field::optional(text(PURPOSE_CODE_MAX_CHARS))
        .since("0.2.0")
        .taken_by(&[Country::Ind])
        .pattern("^[A-Z0-9]{1,4}$")
        .described(
            "ISO 20022 external purpose code, sent to the beneficiary's bank instead of the corridor's. \
             Orders to India only.",
        )
        .text_form(is_purpose_code, "an ISO 20022 purpose code: 1 to 4 capital letters or digits")
        .example(|country| (country == Country::Ind).then(|| "FAMI".to_owned()))
        .option("CODE", "ISO 20022 external purpose code (India)")
        .label("Purpose code");
}

/// The form of ISO 20022 ExternalPurpose1Code. Its code list changes every quarter, so a code is not
/// looked up there: the bank knows which ones it takes.
fn is_purpose_code(text: &str) -> bool {
    upper_alphanumeric(text, 1..=PURPOSE_CODE_MAX_CHARS)
}

impl Order {
    /// The displayed branch code: the local code if known, else the given one.
    pub fn branch_code(&self) -> &str {
        self.branch_local_code.as_deref().unwrap_or(&self.bank_branch_code)
    }
}

/// Names of the members of an order in the API, in order.
pub fn member_names() -> impl Iterator<Item = &'static str> {
    let fields = FIELDS.iter().filter(|field| field.is_output()).map(|field| field.name);
    fields.chain([TIMESTAMP])
}
