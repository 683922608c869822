//! Vietnam: plain account numbers, NAPAS bank identification numbers.

use super::{
    AccountRule, Beneficiary, LocalCodeRule, MobileRule, Rules, alphanumeric, digits, subscriber,
};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: false,
        local: Some(|text| alphanumeric(text, 6..=30)),
        pattern: "[0-9A-Za-z]{6,30}",
        form: "6 to 30 letters or digits",
    },
    local_code: Some(LocalCodeRule {
        matches: |text| digits(text, 6..=6) && text.starts_with("970"),
        pattern: "970[0-9]{3}",
        rule: "invalid_branch_code",
        form: "a NAPAS BIN of 6 digits starting with 970",
        bank_wide: true,
    }),
    mobile: MobileRule {
        prefix: "+84",
        matches: |text| subscriber(text, "35789", 9),
        pattern: "[35789][0-9]{8}",
        form: "+84 and 9 digits starting with 3, 5, 7, 8 or 9",
    },
    example: Beneficiary {
        bank_name: "Vietcombank",
        branch_code: "BFTVVNVX",
        account_stem: "007100123",
        name: "Nguyen Van Mau",
        city: "Ha Noi",
        address: "16 Duong Vi Du",
        mobile: "+84912345678",
    },
};
