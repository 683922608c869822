//! Nepal: plain account numbers, the clearing house's bank and branch ids.

use super::{AccountRule, Beneficiary, LocalCodeRule, MobileRule, Rules, alphanumeric, digits};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: false,
        local: Some(|text| alphanumeric(text, 5..=20)),
        pattern: "[0-9A-Za-z]{5,20}",
        form: "5 to 20 letters or digits",
    },
    local_code: Some(LocalCodeRule {
        matches: is_bank_and_branch,
        pattern: "[0-9]{3,4}(-[0-9]{1,4})?",
        rule: "invalid_branch_code",
        form: "the clearing house's bank id of 3 or 4 digits, with '-' and a branch id of 1 to 4 digits where known",
        bank_wide: false,
    }),
    mobile: MobileRule {
        prefix: "+977",
        matches: is_mobile,
        pattern: "9[678][0-9]{8}",
        form: "+977 and 10 digits starting with 96, 97 or 98",
    },
    example: Beneficiary {
        bank_name: "Nabil Bank",
        branch_code: "NARBNPKA",
        account_stem: "0410017501",
        name: "Sita Samplethapa",
        city: "Kathmandu",
        address: "Ward 5, Example Marg",
        mobile: "+9779812345678",
    },
};

/// `0401` or `0401-1`: the bank directory's notation for the two ids of the rail's map in one code.
fn is_bank_and_branch(text: &str) -> bool {
    match text.split_once('-') {
        Some((bank, branch)) => digits(bank, 3..=4) && digits(branch, 1..=4),
        None => digits(text, 3..=4),
    }
}

fn is_mobile(text: &str) -> bool {
    digits(text, 10..=10) && text.starts_with('9') && text[1..].starts_with(['6', '7', '8'])
}
