//! Bangladesh: plain account numbers, routing numbers of Bangladesh Bank.

use super::{AccountRule, Beneficiary, LocalCodeRule, MobileRule, Rules, alphanumeric, digits};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: false,
        local: Some(|text| alphanumeric(text, 6..=20)),
        pattern: "[0-9A-Za-z]{6,20}",
        form: "6 to 20 letters or digits",
    },
    local_code: Some(LocalCodeRule {
        // Bank 3, district 2, branch 3, check digit 1. Published numbers disagree about the check
        // digit, so it is not enforced.
        matches: |text| digits(text, 9..=9),
        pattern: "[0-9]{9}",
        rule: "invalid_routing_number",
        form: "a routing number of 9 digits",
        bank_wide: false,
    }),
    mobile: MobileRule {
        prefix: "+880",
        matches: is_mobile,
        pattern: "1[3-9][0-9]{8}",
        form: "+880 and 10 digits starting with 13 to 19",
    },
    example: Beneficiary {
        bank_name: "Dutch-Bangla Bank",
        branch_code: "DBBLBDDH",
        account_stem: "117151012",
        name: "Rahim Sampleuddin",
        city: "Dhaka",
        address: "House 7, Road 11, Dhanmondi",
        mobile: "+8801712345678",
    },
};

fn is_mobile(text: &str) -> bool {
    digits(text, 10..=10)
        && text.starts_with('1')
        && text[1..].starts_with(|digit| ('3'..='9').contains(&digit))
}
