//! From a well-formed request to a fully validated order.
//!
//! Checks everything that depends on the order, the directory and the configuration alone. Checks
//! that need the quote or a chosen rail (amount, currency, bounds, `branch_code_required`) happen
//! where those are known.

use jiff::civil::Date;

use crate::bank::BankDirectory;
use crate::country::Country;
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::fault::Fault;
use crate::ids::QuoteId;
use crate::policy::Corridors;

use super::branch::{BranchCode, Resolved};
use super::hints::{find_mismatch, read_account};
use super::party::{
    check_beneficiary_mobile, check_birthdate, check_country, check_email, check_expiry,
    check_length, check_sender_mobile, read_relation,
};
use super::rules::Account;
use super::{
    ADDRESS_MAX_CHARS, AccountType, BENEFICIARY_NAME_MAX_CHARS, DocumentType,
    EXTERNAL_ID_MAX_CHARS, Order,
};

/// An order as the client sent it: fields present, with correct type and length, rules not yet
/// applied. Fields as in [`Order`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the fields are those of the specification's payment order, described at Order"
)]
pub struct Draft {
    pub country: Country,
    pub currency: Currency,
    pub quote: QuoteId,
    pub amount: Decimal,
    pub bank_name: String,
    pub bank_branch_code: String,
    pub beneficiary_name: String,
    pub beneficiary_city: String,
    pub beneficiary_address: String,
    pub beneficiary_account_number: String,
    pub beneficiary_account_type: AccountType,
    pub beneficiary_mobile: Option<String>,
    pub beneficiary_email: Option<String>,
    pub remarks: Option<String>,
    pub sender_name: String,
    pub sender_birthdate: Option<Date>,
    pub sender_identity_doc_type: DocumentType,
    pub sender_identity_doc: String,
    pub sender_identity_doc_exp: Option<Date>,
    pub sender_identity_doc_country: Option<String>,
    pub sender_city: String,
    pub sender_address: String,
    pub sender_country: String,
    pub sender_mobile: Option<String>,
    pub sender_relation: String,
    pub external_id: Option<String>,
}

impl Draft {
    /// Applies all rules of the order (table at [`crate::order`]). `today` is the UTC day.
    ///
    /// # Errors
    /// All faults at once, in the order of the specification's field table.
    pub fn check(
        self,
        directory: &BankDirectory,
        corridors: &Corridors,
        today: Date,
    ) -> Result<Order, Vec<Fault>> {
        let code = BranchCode::read(self.country, &self.bank_branch_code);
        let account = read_account(self.country, &self.beneficiary_account_number);
        let relation = read_relation(&self.sender_relation, &corridors.relations);
        let mut faults: Vec<Fault> = self.check_amount().into_iter().collect();
        match (&code, &account) {
            (Err(fault), _) => faults.push(fault.clone()),
            (Ok(code), Ok(account)) => {
                faults.extend(find_mismatch(account, code, self.country, directory))
            }
            (Ok(_), Err(_)) => {}
        }
        faults.extend(self.check_beneficiary(account.as_ref().err()));
        faults.extend(self.check_sender(relation.as_ref().err(), today));
        match (code, account, relation) {
            (Ok(code), Ok(account), Ok(relation)) if faults.is_empty() => {
                let branch = self.resolve(&code, &account, directory, corridors);
                Ok(self.into_order(&code, branch, account, relation))
            }
            _ => Err(faults),
        }
    }

    fn check_amount(&self) -> Option<Fault> {
        let message = "amount must be greater than 0";
        (!self.amount.is_positive())
            .then(|| Fault::new("amount", "greater_than", message).with("gt", 0))
    }

    fn check_beneficiary(&self, account: Option<&Fault>) -> Vec<Fault> {
        let mobile = self.beneficiary_mobile.as_deref();
        [
            check_length("beneficiary_name", &self.beneficiary_name, BENEFICIARY_NAME_MAX_CHARS),
            check_length("beneficiary_address", &self.beneficiary_address, ADDRESS_MAX_CHARS),
            account.cloned(),
            mobile.and_then(|number| check_beneficiary_mobile(self.country, number)),
            self.beneficiary_email.as_deref().and_then(check_email),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn check_sender(&self, relation: Option<&Fault>, today: Date) -> Vec<Fault> {
        let doc_country = self.sender_identity_doc_country.as_deref();
        [
            self.sender_birthdate.and_then(|date| check_birthdate(date, today)),
            self.sender_identity_doc_exp.and_then(|date| check_expiry(date, today)),
            doc_country.and_then(|code| check_country("sender_identity_doc_country", code)),
            check_length("sender_address", &self.sender_address, ADDRESS_MAX_CHARS),
            check_country("sender_country", &self.sender_country),
            self.sender_mobile.as_deref().and_then(check_sender_mobile),
            relation.cloned(),
            self.external_id.as_deref().and_then(check_external_id),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn resolve(
        &self,
        code: &BranchCode,
        account: &Account,
        directory: &BankDirectory,
        corridors: &Corridors,
    ) -> Resolved {
        let resolved = code.resolve(self.country, directory);
        let resolved = match account.iban() {
            Some(iban) => resolved.refined_by(iban, self.country, directory),
            None => resolved,
        };
        let default = corridors
            .corridors
            .get(&self.country)
            .and_then(|config| config.default_local_code.as_deref());
        resolved.or_default(self.country, directory, default)
    }

    fn into_order(
        self,
        code: &BranchCode,
        branch: Resolved,
        account: Account,
        sender_relation: String,
    ) -> Order {
        let (beneficiary_account_number, account_is_iban) = match account {
            Account::Iban(iban) => (iban.into_string(), true),
            Account::Local(number) => (number, false),
        };
        Order {
            country: self.country,
            currency: self.currency,
            quote: self.quote,
            amount: self.amount,
            bank_name: self.bank_name,
            branch_code_given: code.as_str().to_owned(),
            branch_bic: branch.bic,
            branch_local_code: branch.local_code,
            branch_name: branch.branch_name,
            beneficiary_name: self.beneficiary_name,
            beneficiary_city: self.beneficiary_city,
            beneficiary_address: self.beneficiary_address,
            beneficiary_account_number,
            account_is_iban,
            beneficiary_account_type: self.beneficiary_account_type,
            beneficiary_mobile: self.beneficiary_mobile,
            beneficiary_email: self.beneficiary_email,
            remarks: self.remarks,
            sender_name: self.sender_name,
            sender_birthdate: self.sender_birthdate,
            sender_identity_doc_type: self.sender_identity_doc_type,
            sender_identity_doc: self.sender_identity_doc,
            sender_identity_doc_exp: self.sender_identity_doc_exp,
            sender_identity_doc_country: self.sender_identity_doc_country,
            sender_city: self.sender_city,
            sender_address: self.sender_address,
            sender_country: self.sender_country,
            sender_mobile: self.sender_mobile,
            sender_relation,
            external_id: self.external_id,
        }
    }
}

fn check_external_id(id: &str) -> Option<Fault> {
    if id.is_empty() {
        let message = "external_id must have at least 1 character";
        return Some(Fault::new("external_id", "string_too_short", message).with("min_length", 1));
    }
    check_length("external_id", id, EXTERNAL_ID_MAX_CHARS)
}
