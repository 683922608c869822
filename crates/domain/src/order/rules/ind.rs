//! India: plain account numbers, IFSC.

use super::{
    AccountRule, Beneficiary, LocalCodeRule, MobileRule, Rules, subscriber, upper_alphanumeric,
    upper_letters,
};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: false,
        local: Some(|text| upper_alphanumeric(text, 6..=20)),
        pattern: "[0-9A-Z]{6,20}",
        form: "6 to 20 digits or capital letters",
    },
    local_code: Some(LocalCodeRule {
        matches: is_ifsc,
        pattern: "[A-Z]{4}0[A-Z0-9]{6}",
        rule: "invalid_ifsc",
        form: "an IFSC (4 letters, 0, 6 letters or digits)",
        bank_wide: false,
    }),
    mobile: MobileRule {
        prefix: "+91",
        matches: |text| subscriber(text, "6789", 10),
        pattern: "[6-9][0-9]{9}",
        form: "+91 and 10 digits starting with 6, 7, 8 or 9",
    },
    example: Beneficiary {
        bank_name: "HDFC Bank",
        branch_code: "HDFC0000001",
        account_stem: "5010012345",
        name: "Asha Samplekar",
        city: "Mumbai",
        address: "14 Example Road, Fort",
        mobile: "+919812345678",
    },
};

/// Indian Financial System Code (Reserve Bank of India): bank 4 letters, 0, branch 6.
fn is_ifsc(text: &str) -> bool {
    text.split_at_checked(4).is_some_and(|(bank, rest)| {
        upper_letters(bank, 4) && rest.starts_with('0') && upper_alphanumeric(rest, 7..=7)
    })
}
