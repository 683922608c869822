//! Pakistan: IBANs, or a bank's own account numbers; four letters of the IBAN identify the bank.

use super::{
    AccountRule, Beneficiary, LocalCodeRule, MobileRule, Rules, alphanumeric, subscriber,
    upper_letters,
};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: true,
        local: Some(|text| alphanumeric(text, 5..=20)),
        pattern: "(PK[0-9]{2}[A-Z]{4}[A-Z0-9]{16}|[0-9A-Za-z]{5,20})",
        form: "an IBAN of 24 characters or an account number of 5 to 20 letters and digits",
    },
    local_code: Some(LocalCodeRule {
        matches: |text| upper_letters(text, 4),
        pattern: "[A-Z]{4}",
        rule: "invalid_branch_code",
        form: "the 4 letters of the bank in the IBAN",
        bank_wide: true,
    }),
    mobile: MobileRule {
        prefix: "+92",
        matches: |text| subscriber(text, "3", 10),
        pattern: "3[0-9]{9}",
        form: "+92 and 10 digits starting with 3",
    },
    example: Beneficiary {
        bank_name: "Standard Chartered Bank (Pakistan)",
        branch_code: "SCBLPKKX",
        account_stem: "SCBL000000112345",
        name: "Bilal Samplekhan",
        city: "Karachi",
        address: "21 Example Road, Clifton",
        mobile: "+923001234567",
    },
};
