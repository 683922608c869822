//! A quote's optional beneficiary details: their validation, and whether a payment matches them
//! later.
//!
//! Both optional fields of POST /v2/quote (specification, "Quote request") follow the rules of the
//! order.

use crate::account_check::AccountQuestion;
use crate::bank::BankDirectory;
use crate::country::Country;
use crate::fault::Fault;
use crate::iban::{EGYPT, IbanShape, PAKISTAN, normalised};
use crate::policy::Corridors;

use super::branch::{BranchCode, mismatch};
use super::check::resolve;
use super::rules::{Account, AccountFault};
use super::{BENEFICIARY_ACCOUNT_NUMBER, branch};

/// Faults of a quote's `beneficiary_account_number` and `bank_branch_code`, in the specification's
/// order. Rules as in the table of [`crate::order`].
pub fn check_route_hints(
    country: Country,
    account: Option<&str>,
    branch: Option<&str>,
    directory: &BankDirectory,
) -> Vec<Fault> {
    let account = account.map(|text| read_account(country, text)).transpose();
    let branch = branch.map(|text| BranchCode::read(country, text)).transpose();
    let clash = match (&account, &branch) {
        (Ok(Some(account)), Ok(Some(branch))) => find_mismatch(account, branch, country, directory),
        _ => None,
    };
    [account.err(), branch.err(), clash].into_iter().flatten().collect()
}

/// The bank of a quote's `bank_branch_code`, as for an order: the first four letters of the branch's
/// BIC; `None` if the directory does not know it.
pub fn bank_of_branch(
    country: Country,
    branch: Option<&str>,
    directory: &BankDirectory,
) -> Option<String> {
    let code = BranchCode::read(country, branch?).ok()?;
    code.resolve(country, directory).bic?.get(..4).map(str::to_owned)
}

/// A question about an account, by the rules of an order's `beneficiary_account_number` and
/// `bank_branch_code`.
///
/// # Errors
/// All faults, in the specification's order.
pub fn account_question(
    country: Country,
    (account, branch): (&str, &str),
    name: &str,
    directory: &BankDirectory,
    corridors: &Corridors,
) -> Result<AccountQuestion, Vec<Fault>> {
    match (read_account(country, account), BranchCode::read(country, branch)) {
        (Ok(account), Ok(code)) => {
            if let Some(clash) = find_mismatch(&account, &code, country, directory) {
                return Err(vec![clash]);
            }
            let branch = resolve(country, &code, &account, directory, corridors);
            let (account, is_iban) = match account {
                Account::Iban(iban) => (iban.into_string(), true),
                Account::Local(number) => (number, false),
            };
            let (bic, local_code) = (branch.bic, branch.local_code);
            Ok(AccountQuestion {
                country,
                account,
                is_iban,
                bic,
                local_code,
                name: name.to_owned(),
            })
        }
        (account, branch) => Err([account.err(), branch.err()].into_iter().flatten().collect()),
    }
}

/// Whether two account numbers are equal, ignoring case and white space.
pub fn same_account(a: &str, b: &str) -> bool {
    normalised(a) == normalised(b)
}

/// The account's own number: the part after the bank (and branch) in an IBAN of Pakistan (the last
/// 16 characters) or Egypt (the last 17); the whole number otherwise.
pub fn account_part(number: &str) -> &str {
    let part = |shape: &IbanShape| {
        let iban =
            number.len() == shape.len && number.is_ascii() && number.starts_with(shape.country);
        let numbered = iban && number[2..4].bytes().all(|byte| byte.is_ascii_digit());
        numbered.then(|| &number[4 + shape.branch_len..])
    };
    part(&PAKISTAN).or_else(|| part(&EGYPT)).unwrap_or(number)
}

/// Validates an account number. Messages never repeat the number.
pub(super) fn read_account(country: Country, text: &str) -> Result<Account, Fault> {
    let form = country.rules().account.form;
    Account::read(country, text).map_err(|fault| match fault {
        AccountFault::Iban(error) => {
            let message =
                format!("beneficiary_account_number must be {form}: as an IBAN it {error}");
            Fault::new(BENEFICIARY_ACCOUNT_NUMBER, "invalid_iban", message)
        }
        AccountFault::Form => {
            let message = format!("beneficiary_account_number must be {form}");
            Fault::new(BENEFICIARY_ACCOUNT_NUMBER, "invalid_account_number", message)
        }
    })
}

/// The fault of an IBAN that contradicts the branch code, if it does.
pub(super) fn find_mismatch(
    account: &Account,
    code: &branch::BranchCode,
    country: Country,
    directory: &BankDirectory,
) -> Option<Fault> {
    account.iban().filter(|iban| code.contradicts(iban, country, directory)).map(mismatch)
}
