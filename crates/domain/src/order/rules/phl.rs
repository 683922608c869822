//! The Philippines: plain account numbers; banks are identified by BIC alone.

use super::{AccountRule, Beneficiary, MobileRule, Rules, digits, subscriber};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: false,
        local: Some(|text| digits(text, 6..=17)),
        pattern: "[0-9]{6,17}",
        form: "6 to 17 digits",
    },
    local_code: None,
    mobile: MobileRule {
        prefix: "+63",
        matches: |text| subscriber(text, "9", 10),
        pattern: "9[0-9]{9}",
        form: "+63 and 10 digits starting with 9",
    },
    example: Beneficiary {
        bank_name: "Bank of the Philippine Islands",
        branch_code: "BOPIPHMM",
        account_stem: "108912",
        name: "Maria Samplesantos",
        city: "Makati",
        address: "88 Example Avenue",
        mobile: "+639171234567",
    },
};
