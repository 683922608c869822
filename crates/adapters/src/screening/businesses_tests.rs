//! Businesses whose trade or legal form is exchanged, left out or written in short, and other ones.

use super::test_list::TestList;
use domain::screening::Verdict;
use std::sync::LazyLock;

const LIST: &str = r#"#corridor-sanctions name=BUSINESSES published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,organisation,Golden Shamrockia Shipping Co,,,,PAN,
2,organisation,National Bank of Zorblaxia,,,,,
3,organisation,Golden Star Trading,,,,ARE,
4,organisation,FGUP Rosquibbleton,,,,RUS,
5,organisation,Ministry of Quibblonian Defence Logistics,,,,PRK,
6,organisation,Farn Zorblaxian Foundation,,,,,
7,organisation,Quorvani Construction and Manufacturing Services,,,,,
8,organisation,Fondazion Intl Mfg Corp,,,,,
9,organisation,Zorbaltarex Exchange,,,,AFG,
10,organisation,Emirates Gold Trading,,,,ARE,
11,organisation,Green World Trading LLC,,,,ARE,
12,organisation,Al-Barqaat Finance House,,,,,
13,organisation,Islamic Republic of Qumranistan Shipping Lines,,,,,
14,organisation,Shenzhen Huaxindaro Technology Co Ltd,,,,,
15,organisation,Zavod imeni Degtyarbelova AO,,,,RUS,
"#;

static TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(LIST, "ARE"));

#[test]
fn another_trade_hides_no_rare_name() {
    for trade in [
        "Lines",
        "Line",
        "Maritime",
        "Marine",
        "Shipping",
        "Shpg",
        "Shpg.",
        "Logistics",
        "Freight",
        "Navigation",
        "Cargo",
        "Transport",
        "Tankers",
        "Trading",
        "Group",
        "Holdings",
        "",
    ] {
        for form in ["", " Co", " Ltd", " LLC", " Inc.", " Co. Ltd", " Sdn Bhd", " W.L.L.", " FZE"]
        {
            let name = format!("Golden Shamrockia {trade}{form}");
            assert_ne!(TEST.verdict(&name), Verdict::Clean, "{name}");
        }
    }
    for trade in
        ["Money", "Hawala", "Sarafi", "Remittance", "Currency", "Forex", "Trading", "Travel"]
    {
        let name = format!("Zorbaltarex {trade}");
        assert_ne!(TEST.verdict(&name), Verdict::Clean, "{name}");
    }
    TEST.assert_paid(&[
        "Golden Lines",
        "Golden Shipping Co",
        "Golden Gate Shipping Co",
        "Shipping Co",
        "Star Shipping Lines",
        "National Bank of Pakistan",
        "National Bank of Egypt",
        "Emirates Shipping",
        "Emirates Trading",
        "Emirates Group",
    ]);
}

#[test]
fn a_business_in_short_with_its_trade_is_found() {
    TEST.assert_stopped(&[
        "Barqaat Finance",
        "Al Barqaat Finance",
        "Qumranistan Shipping",
        "Qumranistan Shipping Lines",
        "IR Qumranistan Shipping Lines Group",
        "Huaxindaro Technology",
        "Shenzhen Huaxindaro Technology",
        "Zavod im. Degtyarbelova OAO",
        "Zavod imeni Degtyarbelova",
    ]);
    TEST.assert_paid(&[
        "Finance House",
        "Shipping Lines",
        "Shenzhen Sunrise Technology",
        "Star Finance",
    ]);
    let short = "Natl Bank of Zorblaxia";
    assert_eq!(TEST.verdict(short), Verdict::Review, "{short}");
}

#[test]
fn words_in_short_hide_no_business() {
    TEST.assert_stopped(&[
        "Natl Bk of Zorblaxia",
        "Nat'l Bank of Zorblaxia",
        "National Bk. of Zorblaxia",
        "Bk of Zorblaxia",
        "Bank of Zorblaxia",
        "Min of Quibblonian Defence Logistics",
        "Min. of Quibblonian Defence",
        "Quibblonian Defence Ministry",
        "Farn Zorblaxian Fdn",
        "Farn Zorblaxian Fdn.",
        "Farn Zorblaxian Trust",
        "Quorvani Const & Mfg Svcs",
        "Quorvani Constr. and Mfg. Svc",
        "Quorvani Construction & Mfg",
        "Fondazion International Manufacturing Corporation",
        "Fondazion Intl. Mfg.",
        "Fondazion Manufacturing",
    ]);
}

#[test]
fn legal_forms_hide_no_business() {
    for form in [
        "OOO",
        "NPO",
        "PJSC",
        "JSC",
        "OAO",
        "PAO",
        "ZAO",
        "FSUE",
        "GUP",
        "LLC",
        "Sdn Bhd",
        "Berhad",
        "W.L.L.",
        "WLL",
        "GmbH",
        "S.A.",
        "SARL",
        "Ltd.",
        "Pvt Ltd",
        "(Pvt.) Ltd",
        "FZCO",
        "DMCC FZE",
        "Inc",
        "Tbk",
        "KFT",
        "s.r.o.",
        "d.o.o.",
        "A.S.",
        "L.L.C.",
        "P.J.S.C.",
    ] {
        for name in [
            format!("{form} Rosquibbleton"),
            format!("Rosquibbleton {form}"),
            format!("Golden Shamrockia Shipping {form}"),
            format!("Farn Zorblaxian Foundation {form}"),
        ] {
            assert_ne!(TEST.verdict(&name), Verdict::Clean, "{name}");
        }
    }
}

#[test]
fn a_business_of_another_trade_is_not_rejected() {
    for name in [
        "Golden Star Group",
        "Golden Star Industries",
        "Golden Star Import Export",
        "Golden Star General Trading",
        "Golden Star LLC",
        "Golden Star",
        "GOLDEN STAR HOLDINGS",
        "Golden Star International Trading",
        "Emirates Gold Group",
        "Green World & Sons",
        "Green World Industries",
        "Green World Enterprises LLC",
        "Star Golden Group",
        "Golden-Star Group",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
    for name in [
        "Golden Star Trading",
        "Golden Star Trading LLC",
        "Golden Star Trading Co. (Pvt) Ltd",
        "GOLDEN STAR TRADING",
        "Golden-Star Trading",
        "Green World Trading",
        "Green World Trading LLC",
        "Emirates Gold Trading FZE",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Hit, "{name}");
    }
}
