//! The beneficiary's branch: parsing its code, resolving it, and comparing it with the IBAN.
//!
//! A well-formed code that the directory lacks is accepted as given: the directory adds information
//! and never refuses.

use crate::bank::{BankDirectory, Branch};
use crate::bic::Bic;
use crate::country::Country;
use crate::fault::Fault;
use crate::iban::Iban;

use super::BANK_BRANCH_CODE;

/// A well-formed branch code of a country.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BranchCode {
    Bic(Bic),
    /// The country's own code, upper case.
    Local(String),
}

/// Resolved details of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Resolved {
    pub bic: Option<String>,
    pub local_code: Option<String>,
    pub branch_name: Option<String>,
}

impl BranchCode {
    /// Parses a BIC of the country or the country's local code.
    pub(super) fn read(country: Country, text: &str) -> Result<BranchCode, Fault> {
        let text = text.to_ascii_uppercase();
        let local = country.rules().local_code.as_ref();
        if local.is_some_and(|local| (local.matches)(&text)) {
            return Ok(BranchCode::Local(text));
        }
        match Bic::parse(&text) {
            Some(bic) if bic.country() == country.alpha2() => Ok(BranchCode::Bic(bic)),
            Some(bic) => Err(Fault::new(
                BANK_BRANCH_CODE,
                "invalid_bic",
                format!(
                    "bank_branch_code is a BIC of {}; it must be one of {}",
                    bic.country(),
                    country.alpha2()
                ),
            )
            .with("country", country.alpha2())),
            None => Err(malformed(country, &text)),
        }
    }

    /// The code in upper case.
    pub(super) fn as_str(&self) -> &str {
        match self {
            BranchCode::Bic(bic) => bic.as_str(),
            BranchCode::Local(code) => code,
        }
    }

    /// The directory's details, with the code itself.
    pub(super) fn resolve(&self, country: Country, directory: &BankDirectory) -> Resolved {
        match self {
            BranchCode::Local(code) => {
                let found = directory.by_local_code(country, code);
                let branch_name = found.and_then(|branch| branch.branch_name.clone());
                Resolved {
                    bic: found.and_then(bic_of),
                    local_code: Some(code.clone()),
                    branch_name,
                }
            }
            BranchCode::Bic(bic) => {
                let given = Some(bic.to_string());
                if let Some(found) = directory.by_bic(bic) {
                    let (local_code, branch_name) =
                        (found.local_code.clone(), found.branch_name.clone());
                    return Resolved { bic: given, local_code, branch_name };
                }
                let bank_wide =
                    country.rules().local_code.as_ref().is_some_and(|local| local.bank_wide);
                let head_office = bank_wide.then(|| directory.by_bic(&bic.head_office())).flatten();
                let local_code = head_office.and_then(|branch| branch.local_code.clone());
                Resolved { bic: given, local_code, branch_name: None }
            }
        }
    }

    /// Whether the IBAN belongs to another bank, or to another branch than the local code.
    pub(super) fn contradicts(
        &self,
        iban: &Iban,
        country: Country,
        directory: &BankDirectory,
    ) -> bool {
        match self {
            BranchCode::Local(code) => code != iban.branch(),
            BranchCode::Bic(bic) => match self.resolve(country, directory).local_code {
                Some(known) => !known.starts_with(iban.bank()),
                // Pakistan's IBANs contain the first four letters of the bank's BIC (State Bank of
                // Pakistan, IBAN guidelines).
                None if country == Country::Pak => bic.institution() != iban.bank(),
                // Elsewhere the BIC of a branch that is not listed reveals its bank's code if another
                // branch of that bank is.
                None => {
                    let mut codes = local_codes_of(bic, country, directory).peekable();
                    codes.peek().is_some() && codes.all(|code| !code.starts_with(iban.bank()))
                }
            },
        }
    }
}

/// The local codes of the listed branches of a BIC's bank.
fn local_codes_of<'a>(
    bic: &'a Bic,
    country: Country,
    directory: &'a BankDirectory,
) -> impl Iterator<Item = &'a str> {
    let is_its = move |branch: &&Branch| {
        let institution = branch.bic.as_ref().map(Bic::institution);
        branch.country == country && institution == Some(bic.institution())
    };
    directory.branches().iter().filter(is_its).filter_map(|branch| branch.local_code.as_deref())
}

impl Resolved {
    /// The branch with the details of an IBAN, which is more specific than a BIC.
    pub(super) fn refined_by(
        self,
        iban: &Iban,
        country: Country,
        directory: &BankDirectory,
    ) -> Resolved {
        if self.local_code.as_deref() == Some(iban.branch()) {
            return self;
        }
        let found = directory.by_local_code(country, iban.branch());
        let branch_name = found.and_then(|branch| branch.branch_name.clone());
        Resolved {
            bic: self.bic.or_else(|| found.and_then(bic_of)),
            local_code: Some(iban.branch().to_owned()),
            branch_name,
        }
    }

    /// The branch with the operator's default if no local code is known.
    pub(super) fn or_default(
        self,
        country: Country,
        directory: &BankDirectory,
        default: Option<&str>,
    ) -> Resolved {
        let Some(code) = default.filter(|_| self.local_code.is_none()) else { return self };
        let found = directory.by_local_code(country, code);
        let branch_name = found.and_then(|branch| branch.branch_name.clone());
        Resolved { local_code: Some(code.to_owned()), branch_name, ..self }
    }
}

/// Whether two branch codes of a country mean the same branch: equal except for case, or a BIC and
/// a local code that the directory lists together, or a BIC with and without `XXX`.
pub fn same_branch(country: Country, a: &str, b: &str, directory: &BankDirectory) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let (Ok(a), Ok(b)) = (BranchCode::read(country, a), BranchCode::read(country, b)) else {
        return false;
    };
    match (&a, &b) {
        (BranchCode::Bic(a), BranchCode::Bic(b)) => a.key() == b.key(),
        (BranchCode::Local(a), BranchCode::Local(b)) => a == b,
        (BranchCode::Bic(_), BranchCode::Local(code))
        | (BranchCode::Local(code), BranchCode::Bic(_)) => {
            let bic = if matches!(a, BranchCode::Bic(_)) { &a } else { &b };
            bic.resolve(country, directory).local_code.as_ref() == Some(code)
        }
    }
}

/// The bank of an exchange order's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayeeBank {
    /// BIC of the branch or bank, if known.
    pub bic: Option<String>,
    /// The country's own code of the branch or bank, if known.
    pub local_code: Option<String>,
    /// The bank's name, if the directory has it.
    pub name: Option<String>,
}

/// The bank of a valid account, from its IBAN, its bank's code and the directory. `default` is the
/// corridor's local code for banks without one.
pub fn payee_bank(
    country: Country,
    iban: Option<&str>,
    code: Option<&str>,
    directory: &BankDirectory,
    default: Option<&str>,
) -> PayeeBank {
    let code = code.and_then(|code| BranchCode::read(country, code).ok());
    let found = code.map(|code| code.resolve(country, directory)).unwrap_or_default();
    let found = match iban.and_then(|text| Iban::parse(country, text).ok()) {
        Some(iban) => found.refined_by(&iban, country, directory),
        None => found,
    };
    let bic = found.bic.as_deref().and_then(Bic::parse);
    // In Pakistan the BIC's institution is the local code (State Bank of Pakistan, IBAN guidelines).
    let of_pakistan = |bic: &Bic| (country == Country::Pak).then(|| bic.institution().to_owned());
    let letters = bic.as_ref().and_then(of_pakistan);
    let found = Resolved { local_code: found.local_code.or(letters), ..found };
    let local_code = found.or_default(country, directory, default).local_code;
    let branch = bic.as_ref().and_then(|bic| directory.by_bic(bic)).or_else(|| {
        let code = local_code.as_deref()?;
        directory.by_local_code(country, code).or_else(|| {
            let is_its = |bic: &Bic| of_pakistan(bic).as_deref() == Some(code);
            let branches = directory.branches().iter();
            let mut of_country = branches.filter(|branch| branch.country == country);
            of_country.find(|branch| branch.bic.as_ref().is_some_and(is_its))
        })
    });
    PayeeBank {
        bic: bic.map(|bic| bic.to_string()).or_else(|| branch.and_then(bic_of)),
        local_code,
        name: branch.map(|branch| branch.bank_name.clone()),
    }
}

/// Whether `code` (upper case) has the format of the country's local branch code.
pub fn is_local_branch_code(country: Country, code: &str) -> bool {
    country.rules().local_code.as_ref().is_some_and(|local| (local.matches)(code))
}

/// The fault of a code and an IBAN that name different banks.
pub(super) fn mismatch(iban: &Iban) -> Fault {
    let message =
        "bank_branch_code names another bank or branch than the IBAN in beneficiary_account_number";
    Fault::new(BANK_BRANCH_CODE, "branch_iban_mismatch", message).with("iban_branch", iban.branch())
}

fn malformed(country: Country, text: &str) -> Fault {
    // Six leading letters indicate a mistyped BIC; no local code begins with them.
    let meant_as_bic =
        text.len() >= 6 && text.bytes().take(6).all(|byte| byte.is_ascii_uppercase());
    let bic = format!("a BIC of {} (8 or 11 characters)", country.alpha2());
    match country.rules().local_code.as_ref() {
        Some(local) => {
            let rule = if meant_as_bic { "invalid_bic" } else { local.rule };
            Fault::new(
                BANK_BRANCH_CODE,
                rule,
                format!("bank_branch_code must be {bic} or {}", local.form),
            )
        }
        None => {
            Fault::new(BANK_BRANCH_CODE, "invalid_bic", format!("bank_branch_code must be {bic}"))
        }
    }
}

fn bic_of(branch: &Branch) -> Option<String> {
    branch.bic.as_ref().map(Bic::to_string)
}
