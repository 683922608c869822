//! From a well-formed request to a fully validated order.
//!
//! Checks everything that depends on the order, the directory and the configuration alone. Checks
//! that need the quote or a chosen rail (amount, currency, bounds, `branch_code_required`) happen
//! where those are known.

use jiff::civil::Date;

use crate::bank::BankDirectory;
use crate::country::Country;
use crate::fault::Fault;
use crate::policy::Corridors;

use super::branch::{BranchCode, Resolved};
use super::hints::{find_mismatch, read_account};
use super::party::read_relation;
use super::rules::Account;
use super::{FIELDS, Order};

/// An order as the client sent it: fields present, with correct type and length, rules not yet
/// applied, and nothing resolved in the bank directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedOrder(pub Order);

/// What the rules of the fields see: the order, what it was read as, and what it is held to.
pub(super) struct Given<'a> {
    pub order: &'a Order,
    pub account: Result<Account, Fault>,
    pub relation: Result<String, Fault>,
    pub today: Date,
    branch: Result<BranchCode, Fault>,
    directory: &'a BankDirectory,
}

impl Given<'_> {
    pub(super) fn check_amount(&self) -> Option<Fault> {
        let message = "amount must be greater than 0";
        (!self.order.amount.is_positive())
            .then(|| Fault::new("amount", "greater_than", message).with("gt", 0))
    }

    pub(super) fn check_branch(&self) -> Option<Fault> {
        match (&self.branch, &self.account) {
            (Err(fault), _) => Some(fault.clone()),
            (Ok(code), Ok(account)) => {
                find_mismatch(account, code, self.order.country, self.directory)
            }
            (Ok(_), Err(_)) => None,
        }
    }
}

impl UncheckedOrder {
    /// Applies all rules of the order, one per row of [`FIELDS`]. `today` is the UTC day.
    ///
    /// # Errors
    /// All faults at once, in the order of the specification's field table.
    pub fn check(
        self,
        directory: &BankDirectory,
        corridors: &Corridors,
        today: Date,
    ) -> Result<Order, Vec<Fault>> {
        let order = self.0;
        let given = Given {
            account: read_account(order.country, &order.beneficiary_account_number),
            relation: read_relation(&order.sender_relation, &corridors.relations),
            branch: BranchCode::read(order.country, &order.bank_branch_code),
            order: &order,
            today,
            directory,
        };
        let faults: Vec<Fault> =
            FIELDS.iter().filter_map(|field| field.violation(&given)).collect();
        match (given.branch, given.account, given.relation) {
            (Ok(code), Ok(account), Ok(sender_relation)) if faults.is_empty() => {
                let order = Order { sender_relation, ..order };
                let branch = resolve(order.country, &code, &account, directory, corridors);
                Ok(resolved(order, &code, branch, account))
            }
            _ => Err(faults),
        }
    }
}

/// What the directory knows of a branch.
pub(super) fn resolve(
    country: Country,
    code: &BranchCode,
    account: &Account,
    directory: &BankDirectory,
    corridors: &Corridors,
) -> Resolved {
    let resolved = code.resolve(country, directory);
    let resolved = match account.iban() {
        Some(iban) => resolved.refined_by(iban, country, directory),
        None => resolved,
    };
    let default =
        corridors.corridors.get(&country).and_then(|config| config.default_local_code.as_deref());
    resolved.or_default(country, directory, default)
}

fn resolved(order: Order, code: &BranchCode, branch: Resolved, account: Account) -> Order {
    let (beneficiary_account_number, account_is_iban) = match account {
        Account::Iban(iban) => (iban.into_string(), true),
        Account::Local(number) => (number, false),
    };
    Order {
        bank_branch_code: code.as_str().to_owned(),
        branch_bic: branch.bic,
        branch_local_code: branch.local_code,
        bank_branch_name: branch.branch_name,
        beneficiary_account_number,
        account_is_iban,
        ..order
    }
}
