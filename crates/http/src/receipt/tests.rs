//! The page's text: what it contains, what it must not contain, and its languages.

use domain::currency::Currency;

use super::*;

const AT: Timestamp = Timestamp(1_795_244_268_123_456);

fn receipt(state: PaymentState) -> Receipt {
    let usdt = |minor| Money::new(minor, Currency::Usdt);
    Receipt {
        issuer: "Demo & Sons Bank".to_owned(),
        sandbox: true,
        id: "00112233-4455-4677-8899-aabbccddeeff".to_owned(),
        external_id: Some("inv-2041".to_owned()),
        state,
        state_at: AT,
        accepted_at: AT,
        bank_reference: Some("FT-77".to_owned()),
        sender: "Sana <b>Samplekhan</b>".to_owned(),
        beneficiary: "Ali Samplekhan".to_owned(),
        account: "PK36SCBL0000001123456702".to_owned(),
        bank: "Sample Bank".to_owned(),
        base: Money::new(50_000, Currency::Aed),
        destination: Money::new(3_791_205, Currency::Pkr),
        rate: "75.8241".parse().expect("a number"),
        charge: Some(Charge { amount: usdt(136_007_355), premium: usdt(340_019), cost: usdt(0) }),
    }
}

fn shown(receipt: &Receipt, lang: Lang) -> String {
    page(receipt, lang, Style::Linked { style: "/console/receipt.css", icon: "/console/icon.svg" })
        .expect("rendered")
}

/// The text of the page without markup, one line per piece.
fn text(page: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for piece in page.split('<').skip(1) {
        let inside = piece.split_once('>').map_or("", |(_, text)| text).trim();
        if !inside.is_empty() {
            texts.push(inside.to_owned());
        }
    }
    texts
}

#[test]
fn a_receipt_shows_payer_payee_amount_and_references() {
    let page = shown(&receipt(PaymentState::Succeeded), Lang::En);
    let texts = text(&page);
    let after = |label: &str| {
        let at = texts
            .iter()
            .position(|text| text == label)
            .unwrap_or_else(|| panic!("{label} is not in {texts:?}"));
        texts[at + 1].as_str()
    };
    for (label, value) in [
        ("Payment receipt", "37,912.05 PKR"),
        ("Reference", "00112233-4455-4677-8899-aabbccddeeff"),
        ("Your reference", "inv-2041"),
        ("Bank reference", "FT-77"),
        ("Accepted", "2026-11-21 06:57 UTC"),
        ("Sender", "Sana &#60;b&#62;Samplekhan&#60;/b&#62;"),
        ("Beneficiary", "Ali Samplekhan"),
        ("Account", "•••• 6702"),
        ("Bank", "Sample Bank"),
        ("Amount sent", "500.00 AED"),
        ("Exchange rate", "1 AED = 75.8241 PKR"),
        ("Amount paid out", "37,912.05 PKR"),
        ("For the amount", "136.007355 USDT"),
        ("Fee", "0.340019 USDT"),
        ("Total", "136.347374 USDT"),
    ] {
        assert_eq!(after(label), value, "{label}");
    }
    assert!(texts.contains(&"Paid".to_owned()), "{texts:?}");
    assert!(
        !page.contains("PK36") && !page.contains("11234567"),
        "the account is masked everywhere"
    );
    for forbidden in ["<script", "style=", "http://", "https://", "onload", "onclick", "<img"] {
        assert!(!page.contains(forbidden), "{forbidden} is in {page}");
    }
}

#[test]
fn the_bank_s_customer_does_not_see_what_the_bank_is_charged() {
    let page = shown(&Receipt { charge: None, ..receipt(PaymentState::Succeeded) }, Lang::En);
    assert!(!page.contains("USDT") && !page.contains("Charged"), "{page}");
}

#[test]
fn debits_are_those_of_the_state() {
    let (all, reserved) = (["Charged to the sending bank"], ["Reserved from the sending bank"]);
    let returned = ["Returned to the sending bank", "Not returned"];
    for (state, titles, received) in [
        (PaymentState::Succeeded, all.as_slice(), "Amount paid out"),
        (PaymentState::Processing, &reserved, "Amount to be paid out"),
        (PaymentState::Unknown, &reserved, "Amount to be paid out"),
        (PaymentState::Failed, &[], "Amount to be paid out"),
        (PaymentState::Reversed, &returned, "Amount to be paid out"),
    ] {
        let page = shown(&receipt(state), Lang::En);
        let texts = text(&page);
        let known = [all.as_slice(), &reserved, &returned].concat();
        let found: Vec<_> = texts.iter().filter(|text| known.contains(&text.as_str())).collect();
        assert_eq!(found, titles, "{state:?}");
        assert!(texts.contains(&received.to_owned()), "{state:?}: {texts:?}");
    }
    let returned = text(&shown(&receipt(PaymentState::Reversed), Lang::En));
    let kept = returned.iter().position(|text| text == "Not returned").expect("its title");
    let kept: Vec<&str> = returned[kept + 1..].iter().map(String::as_str).collect();
    assert_eq!(
        kept,
        ["Fee", "0.340019 USDT", "Payout cost", "0.000000 USDT", "Total", "0.340019 USDT"]
    );
}

#[test]
fn only_what_is_paid_is_called_a_receipt() {
    for (state, title, words, open) in [
        (PaymentState::Succeeded, "Payment receipt", "Paid", false),
        (PaymentState::Queued, "Payment confirmation", "On its way", true),
        (PaymentState::Pending, "Payment confirmation", "On its way", true),
        (PaymentState::Processing, "Payment confirmation", "On its way", true),
        (PaymentState::Unknown, "Payment confirmation", "Being confirmed with the bank", true),
        (PaymentState::Rejected, "Payment confirmation", "Not paid", false),
        (PaymentState::Failed, "Payment confirmation", "Not paid", false),
        (PaymentState::Canceled, "Payment confirmation", "Not paid", false),
        (PaymentState::Reversed, "Payment confirmation", "Returned", false),
    ] {
        let page = shown(&receipt(state), Lang::En);
        assert!(page.contains(&format!("<h1>{title}</h1>")), "{state:?}");
        assert!(text(&page).contains(&words.to_owned()), "{state:?}");
        assert_eq!(page.contains("role=\"note\""), open, "{state:?}");
    }
}

#[test]
fn every_language_has_every_word_and_its_direction() {
    let english = Lang::En.words().all();
    for lang in Lang::ALL {
        assert_eq!(Lang::parse(lang.tag()), Some(lang));
        let words = lang.words().all();
        assert_eq!(words.len(), english.len());
        assert!(words.iter().all(|word| !word.trim().is_empty()), "{lang:?}");
        let page = shown(&receipt(PaymentState::Succeeded), lang);
        let direction = if matches!(lang, Lang::Ur | Lang::Ar) { "rtl" } else { "ltr" };
        assert!(
            page.contains(&format!("<html lang=\"{}\" dir=\"{direction}\">", lang.tag())),
            "{lang:?}"
        );
        assert!(page.contains("37,912.05 PKR"), "Latin digits in {lang:?}");
        if lang != Lang::En {
            let same: Vec<_> =
                words.iter().zip(&english).filter(|(one, other)| one == other).collect();
            assert!(same.len() <= 1, "{lang:?} has English words: {same:?}");
        }
    }
}

#[test]
fn a_page_that_is_a_file_allows_its_own_style_and_nothing_else() {
    let page = page(&receipt(PaymentState::Succeeded), Lang::En, Style::Inline).expect("rendered");
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    assert!(page.contains(&format!("style-src &#39;sha256-{digest}&#39;")), "{page}");
    assert!(
        page.contains(&format!("<style>{STYLE}</style>")),
        "the digest is that of the element's text"
    );
    assert!(!page.contains("<link") && !page.contains("<script"), "{page}");
}

#[test]
fn of_an_account_only_the_end_is_shown() {
    for (account, shown) in [
        ("PK36 SCBL 0000 0011 2345 6702", "•••• 6702"),
        ("123456789", "•••• 6789"),
        ("12345678", "•••• 78"),
        ("123", "•••• 23"),
        ("12", "••••"),
        ("", "••••"),
    ] {
        assert_eq!(masked(account), shown, "{account}");
    }
}
