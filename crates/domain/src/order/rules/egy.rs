//! Egypt: IBANs, which contain bank and branch.

use super::{AccountRule, Beneficiary, LocalCodeRule, MobileRule, Rules, digits};

pub(super) const RULES: Rules = Rules {
    account: AccountRule {
        iban: true,
        local: None,
        pattern: "EG[0-9]{27}",
        form: "an IBAN of 29 characters",
    },
    local_code: Some(LocalCodeRule {
        matches: |text| digits(text, 8..=8),
        pattern: "[0-9]{8}",
        rule: "invalid_branch_code",
        form: "the 8 digits of bank and branch in the IBAN",
        bank_wide: false,
    }),
    mobile: MobileRule {
        prefix: "+20",
        matches: is_mobile,
        pattern: "1[0125][0-9]{8}",
        form: "+20 and 10 digits starting with 10, 11, 12 or 15",
    },
    example: Beneficiary {
        bank_name: "National Bank of Egypt",
        branch_code: "NBEGEGCX",
        account_stem: "000300010000000012345",
        name: "Mona Samplawy",
        city: "Cairo",
        address: "5 Example Street, Dokki",
        mobile: "+201001234567",
    },
};

fn is_mobile(text: &str) -> bool {
    digits(text, 10..=10) && text.starts_with('1') && text[1..].starts_with(['0', '1', '2', '5'])
}
