//! The bank directory: maps a BIC or a local clearing code to a branch.
//!
//! It is held in memory and only grows while it is loaded. It knows names and codes. The country's
//! rules in `order` decide whether a code is well-formed; an unlisted code may still be valid.

use std::collections::{HashMap, HashSet};

use crate::bic::{Bic, BicKey};
use crate::country::Country;

/// One branch of a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Country of the branch.
    pub country: Country,
    /// BIC, if the branch has one.
    pub bic: Option<Bic>,
    /// Local clearing code (IFSC, routing number, NAPAS BIN …) in upper case, if the country uses
    /// one.
    pub local_code: Option<String>,
    /// Name of the bank.
    pub bank_name: String,
    /// Name of the branch.
    pub branch_name: Option<String>,
}

/// Reason for rejecting a branch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    /// Neither code is present.
    #[error("bic and local_code are both empty")]
    NoCode,
    /// The BIC belongs to another country.
    #[error("bic {bic} is not one of {}", country.alpha2())]
    ForeignBic {
        /// BIC whose country code is not the row's.
        bic: Bic,
        /// The country of the row.
        country: Country,
    },
    /// The bank has no name.
    #[error("bank_name is empty")]
    NoBankName,
    /// The pair of codes is already listed.
    #[error("bic {bic:?} with local_code {local_code:?} is listed twice")]
    Twice {
        /// The BIC, or empty.
        bic: String,
        /// The local code, or empty.
        local_code: String,
    },
}

/// All branches that the operator has loaded.
///
/// Branches may share a BIC (India, Bangladesh) or a local code (Pakistan, Vietnam). A shared code
/// resolves to the branch listed first, so a file lists the head office before its branches.
#[derive(Clone, Debug, Default)]
pub struct BankDirectory {
    branches: Vec<Branch>,
    by_bic: HashMap<BicKey, usize>,
    by_local_code: HashMap<(Country, String), usize>,
    pairs: HashSet<(Country, Option<BicKey>, Option<String>)>,
}

impl BankDirectory {
    /// Builds a directory of these branches, in this order.
    pub fn from_branches(
        branches: impl IntoIterator<Item = Branch>,
    ) -> Result<BankDirectory, BranchError> {
        let mut directory = BankDirectory::default();
        for branch in branches {
            directory.add(branch)?;
        }
        Ok(directory)
    }

    /// Adds a branch. Codes that are already listed keep their branch.
    pub fn add(&mut self, branch: Branch) -> Result<(), BranchError> {
        if branch.bank_name.is_empty() {
            return Err(BranchError::NoBankName);
        }
        if let Some(bic) =
            branch.bic.as_ref().filter(|bic| bic.country() != branch.country.alpha2())
        {
            return Err(BranchError::ForeignBic { bic: bic.clone(), country: branch.country });
        }
        let bic_key = branch.bic.as_ref().map(Bic::key);
        let pair = (branch.country, bic_key, branch.local_code.clone());
        if bic_key.is_none() && branch.local_code.is_none() {
            return Err(BranchError::NoCode);
        }
        let at = self.branches.len();
        if !self.pairs.insert(pair) {
            let bic = branch.bic.map(|bic| bic.to_string()).unwrap_or_default();
            return Err(BranchError::Twice {
                bic,
                local_code: branch.local_code.unwrap_or_default(),
            });
        }
        if let Some(key) = bic_key {
            self.by_bic.entry(key).or_insert(at);
        }
        if let Some(code) = branch.local_code.clone() {
            self.by_local_code.entry((branch.country, code)).or_insert(at);
        }
        self.branches.push(branch);
        Ok(())
    }

    /// The branch of a BIC; 8 characters and 11 ending in `XXX` are equivalent.
    pub fn by_bic(&self, bic: &Bic) -> Option<&Branch> {
        self.by_bic.get(&bic.key()).and_then(|at| self.branches.get(*at))
    }

    /// The branch of a local code (upper case) in a country.
    pub fn by_local_code(&self, country: Country, code: &str) -> Option<&Branch> {
        self.by_local_code.get(&(country, code.to_owned())).and_then(|at| self.branches.get(*at))
    }

    /// All branches in insertion order.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(country: Country, bic: &str, local_code: &str, branch_name: &str) -> Branch {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (bic, local_code, branch_name) = (Bic::parse(bic), some(local_code), some(branch_name));
        Branch { country, bic, local_code, bank_name: "A Bank".to_owned(), branch_name }
    }

    #[test]
    fn a_branch_is_found_by_either_code() {
        let directory = BankDirectory::from_branches([
            branch(Country::Ind, "HDFCINBB", "HDFC0000001", "Head office"),
            branch(Country::Ind, "HDFCINBB", "HDFC0000240", "Second"),
            branch(Country::Phl, "BOPIPHMM", "", ""),
        ])
        .expect("no duplicates");
        let name = |found: Option<&Branch>| found.and_then(|b| b.branch_name.clone());
        let bic = |text: &str| Bic::parse(text).expect("well-formed");
        for (found, expected) in [
            (directory.by_bic(&bic("HDFCINBB")), Some("Head office")),
            (directory.by_bic(&bic("HDFCINBBXXX")), Some("Head office")),
            (directory.by_bic(&bic("HDFCINBBDEL")), None),
            (directory.by_local_code(Country::Ind, "HDFC0000240"), Some("Second")),
            (directory.by_local_code(Country::Pak, "HDFC0000240"), None),
        ] {
            assert_eq!(name(found).as_deref(), expected);
        }
        assert!(directory.by_bic(&bic("BOPIPHMMXXX")).is_some());
    }

    #[test]
    fn rows_without_codes_or_with_duplicate_codes_are_rejected() {
        let one = branch(Country::Ind, "HDFCINBB", "HDFC0000001", "");
        let same = branch(Country::Ind, "HDFCINBBXXX", "HDFC0000001", "Again");
        let twice = BankDirectory::from_branches([one, same]).expect_err("the same pair");
        assert_eq!(
            twice.to_string(),
            r#"bic "HDFCINBBXXX" with local_code "HDFC0000001" is listed twice"#
        );
        let mut directory = BankDirectory::default();
        assert_eq!(directory.add(branch(Country::Ind, "", "", "")), Err(BranchError::NoCode));
        let foreign =
            directory.add(branch(Country::Pak, "HDFCINBB", "", "")).expect_err("an Indian BIC");
        assert_eq!(foreign.to_string(), "bic HDFCINBB is not one of PK");
        let nameless =
            Branch { bank_name: String::new(), ..branch(Country::Ind, "HDFCINBB", "", "") };
        assert_eq!(directory.add(nameless), Err(BranchError::NoBankName));
        assert!(directory.branches().is_empty());
    }
}
