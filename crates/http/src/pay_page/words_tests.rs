//! All languages have the same neutral messages, in digits and marks that pages can rely on.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// The messages of a language, with the variables of each.
fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut messages = BTreeMap::new();
    for line in
        source(language).lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let (key, text) = line.split_once(" = ").expect("a message is one line");
        let variables = text
            .split("{ $")
            .skip(1)
            .map(|rest| rest.split(" }").next().expect("an end").to_owned());
        let twice = messages.insert(key.to_owned(), variables.collect());
        assert_eq!(twice, None, "{key} twice in {}", language.code());
    }
    messages
}

#[test]
fn every_language_has_the_same_messages_with_the_same_variables() {
    let english = messages(Language::English);
    assert!(english.len() > 80);
    for language in Language::ALL {
        assert!(
            FluentResource::try_new(source(language).to_owned()).is_ok(),
            "{}",
            language.code()
        );
        assert_eq!(messages(language), english, "{}", language.code());
    }
}

#[test]
fn every_message_is_formatted_in_every_language() {
    for language in Language::ALL {
        for (key, variables) in messages(language) {
            let names: Vec<&'static str> =
                variables.into_iter().map(|name| &*name.leak()).collect();
            let values: Vec<_> = names.iter().map(|name| (*name, "25.50 <USDC>")).collect();
            let said = Words(language).with(&key, &values).expect("a message").0;
            assert_eq!(
                said.matches("<bdi>25.50 &lt;USDC&gt;</bdi>").count(),
                names.len(),
                "{key}: {said}"
            );
            assert!(!said.contains('{') && !said.contains('$'), "{key}: {said}");
        }
    }
}

#[test]
fn a_message_that_is_not_there_or_lacks_a_variable_is_an_error() {
    let words = Words(Language::English);
    assert!(words.say("no-such-message").is_err());
    assert!(words.say("send-amount").is_err());
    assert!(words.with("send-amount", &[("token", "USDC")]).is_err());
}

#[test]
fn a_value_cannot_leave_its_isolate() {
    let said = Words(Language::Urdu)
        .with("purpose", &[("purpose", "a\u{2069}b\u{2068}<i>&\"'")])
        .expect("a message")
        .0;
    assert!(said.contains("<bdi>ab&lt;i&gt;&amp;&quot;&#39;</bdi>"), "{said}");
    assert_eq!((said.matches("<bdi>").count(), said.matches("</bdi>").count()), (1, 1));
}

#[test]
fn translations_are_translated_and_use_latin_digits() {
    let english = messages(Language::English);
    let say = |language, key: &str, variables: &BTreeSet<String>| {
        let names: Vec<&'static str> = variables.iter().map(|name| &*name.clone().leak()).collect();
        let values: Vec<_> = names.iter().map(|name| (*name, "x")).collect();
        Words(language).text(key, &values).expect("a message")
    };
    for language in Language::ALL {
        let mut same = Vec::new();
        for (key, variables) in &english {
            let said = say(language, key, variables);
            if said == say(Language::English, key, variables) {
                same.push(key.as_str());
            }
            assert!(
                said.chars().all(|c| !c.is_numeric() || c.is_ascii_digit()),
                "{}: {said}",
                language.code()
            );
        }
        // Messages that are the same in Filipino and English, or have no words.
        let alike = ["email", "label-address", "label-network", "receipt", "receipt-person"];
        let unlike: Vec<_> = same.into_iter().filter(|key| !alike.contains(key)).collect();
        assert!(
            language == Language::English || unlike.is_empty(),
            "{}: {unlike:?}",
            language.code()
        );
    }
}

/// Words that would disclose a compliance reason to the sender, in each language.
const TELLING: [&str; 34] = [
    "risk",
    "sanction",
    "block",
    "complian",
    "suspicio",
    "legal",
    "fraud",
    "blacklist",
    "review",
    "screen",
    "خطر",
    "خطرہ",
    "پابندی",
    "بلاک",
    "مشکوک",
    "عقوبات",
    "مخاطر",
    "حظر",
    "محظور",
    "مشبوه",
    "जोखिम",
    "प्रतिबंध",
    "संदिग्ध",
    "ब्लॉक",
    "ঝুঁকি",
    "নিষেধাজ্ঞা",
    "সন্দেহ",
    "ব্লক",
    "प्रतिबन्ध",
    "शंकास्पद",
    "rủi ro",
    "trừng phạt",
    "bị chặn",
    "panganib",
];

#[test]
fn no_language_discloses_why_a_payment_is_held() {
    for language in Language::ALL {
        let lines = source(language).lines().filter(|line| !line.starts_with('#'));
        let texts = lines.collect::<Vec<_>>().join("\n").to_lowercase();
        for word in TELLING {
            assert!(!texts.contains(word), "{word} is in {}", language.code());
        }
    }
}

#[test]
fn every_message_is_used_and_every_used_message_is_there() {
    let files = [
        include_str!("back.rs"),
        include_str!("find.rs"),
        include_str!("form.rs"),
        include_str!("live.rs"),
        include_str!("pages.rs"),
        include_str!("receipt.rs"),
        include_str!("answers.rs"),
        include_str!("../../templates/pay/ask.html"),
        include_str!("../../templates/pay/back.html"),
        include_str!("../../templates/pay/base.html"),
        include_str!("../../templates/pay/browser.html"),
        include_str!("../../templates/pay/details.html"),
        include_str!("../../templates/pay/framed.html"),
        include_str!("../../templates/pay/help.html"),
        include_str!("../../templates/pay/live.html"),
        include_str!("../../templates/pay/message.html"),
        include_str!("../../templates/pay/receipt.html"),
        include_str!("../../templates/pay/receipt_page.html"),
        include_str!("../../templates/pay/send.html"),
        include_str!("../../templates/pay/status.html"),
        include_str!("../../templates/pay/ways.html"),
    ];
    let known = messages(Language::English);
    for key in known.keys() {
        let quoted = format!("\"{key}\"");
        assert!(files.iter().any(|file| file.contains(&quoted)), "{key} is unused");
    }
    for file in files {
        for said in file.split("say(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(known.contains_key(said), "{said} is not a message");
        }
    }
}
