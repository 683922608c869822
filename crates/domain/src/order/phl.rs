//! The Philippines: plain account numbers; banks are identified by BIC alone.

use super::rules::{AccountRule, MobileRule, Rules, digits, subscriber};

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
};
