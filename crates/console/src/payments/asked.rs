//! Reads the text of the search box as what a user knows about a payment, in any order: the end of
//! an account number, an amount, a day, a name, a telephone number, an e-mail address.

use domain::characters::with_ascii_digits;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::email::is_email;
use domain::iban::Iban;
use domain::name_words::{is_of_word, plain_words};
use domain::payment_search::{ACCOUNT_END_CHARS, PHONE_END_DIGITS, Reading};
use domain::time::{Span, Timestamp};
use engine::backoffice::PaymentSearch;

use super::{day_of, masked};

/// Digits of the longest amount, and of the longest telephone number.
const AMOUNT_MAX_DIGITS: usize = 12;
const PHONE_MAX_DIGITS: usize = 15;
/// Shortest account number with letters.
const MIXED_ACCOUNT_MIN_CHARS: usize = 8;
const IBAN_GROUP_CHARS: usize = 4;
const ABOUT: [&str; 6] = ["about", "around", "approx", "approximately", "ca", "roughly"];
const OF_ACCOUNTS: [&str; 7] = ["account", "acct", "a/c", "iban", "ending", "ends", "end"];
const OF_PHONES: [&str; 5] = ["phone", "mobile", "tel", "telephone", "number"];
const RUPEES: [&str; 4] = ["rupees", "rupee", "rs", "rs."];
/// Words between the others.
const JOINING: [&str; 10] = ["in", "with", "on", "of", "to", "from", "for", "at", "and", "the"];
const SIGNS_AROUND: [char; 13] = [',', ';', ':', '.', '(', ')', '"', '“', '”', '•', '·', '…', '*'];

/// What the text says about a payment.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) search: PaymentSearch,
    /// Kinds of personal data searched by, each with its masked text.
    pub(super) people: Vec<(&'static str, String)>,
    /// Parts that are account numbers, masked: for the audit log.
    pub(super) accounts: Vec<String>,
    /// Words that say nothing about a payment.
    pub(super) unknown: Vec<String>,
    /// How many words the text has.
    pub(super) words: usize,
    next: Next,
}

/// What the words so far say about the next number.
#[derive(Debug, Default)]
struct Next {
    account: bool,
    phone: bool,
    about: bool,
    currencies: Vec<Currency>,
    /// The amount that a currency after it belongs to.
    amount: Option<usize>,
}

impl Asked {
    pub(super) fn of(text: &str, now: Timestamp) -> Asked {
        let mut asked = Asked::default();
        let text = with_ascii_digits(text);
        let words: Vec<&str> =
            text.split_whitespace().map(|word| word.trim_matches(SIGNS_AROUND)).collect();
        let mut rest = words.as_slice();
        while let [word, others @ ..] = rest {
            asked.words += 1;
            rest = others;
            if let Some((iban, groups)) = printed_iban(word, others) {
                asked.account(&iban);
                rest = &others[groups..];
            } else if let Some(start) = word.strip_prefix('+').filter(|it| is_digits(it)) {
                let mut digits = start.to_owned();
                while let [more, others @ ..] = rest
                    && is_digits(more)
                    && digits.len() + more.len() <= PHONE_MAX_DIGITS
                {
                    digits.push_str(more);
                    rest = others;
                }
                asked.phone(digits);
            } else if !word.is_empty() {
                asked.word(word, now);
            }
        }
        asked
    }

    /// Whether it says anything about a payment, and nothing that is not understood.
    pub(super) fn is_usable(&self) -> bool {
        let search = &self.search;
        self.unknown.is_empty() && (!search.known.is_empty() || search.start.is_some())
    }

    /// Drops readings as personal data; whether every part is still known in another reading.
    pub(super) fn forget_people(&mut self) -> bool {
        self.people.clear();
        for readings in &mut self.search.known {
            readings.retain(|reading| !reading.is_about_a_person());
        }
        self.search.known.iter().all(|readings| !readings.is_empty())
    }

    fn word(&mut self, word: &str, now: Timestamp) {
        let lower = word.to_lowercase();
        let is_one_of = |words: &[&str]| words.contains(&lower.as_str());
        let amount = self.next.amount.take();
        if let Some(start) = day(&lower, now) {
            self.day(start);
        } else if let Some(currencies) = currencies(&lower) {
            self.currencies(amount, currencies);
        } else if is_email(word) {
            self.people.push(("email", masked::email(word)));
            self.search.known.push(vec![Reading::email(word)]);
        } else if is_one_of(&ABOUT) {
            self.next.about = true;
        } else if is_one_of(&OF_ACCOUNTS) {
            self.next.account = true;
        } else if is_one_of(&OF_PHONES) {
            self.next.phone = true;
        } else if is_one_of(&JOINING) {
            self.next.amount = amount;
        } else if let Some(number) = number(word) {
            self.next.about |= number.len() < word.len();
            self.number(number);
        } else if is_account(word) {
            self.account(word);
        } else if word
            .chars()
            .all(|letter| letter == '-' || is_of_word(letter) && !letter.is_numeric())
        {
            self.people.push(("name", masked::name(word)));
            self.search
                .known
                .extend(plain_words(word).into_iter().map(|it| vec![Reading::Word(it)]));
        } else {
            self.unknown.push(word.to_owned());
        }
    }

    /// The days from the first one named to the last.
    fn day(&mut self, start: Timestamp) {
        let (search, end) = (&mut self.search, start + Span::days(1));
        search.start = Some(search.start.map_or(start, |known| known.min(start)));
        search.end = Some(search.end.map_or(end, |known| known.max(end)));
    }

    fn currencies(&mut self, amount: Option<usize>, named: Vec<Currency>) {
        let Some(readings) = amount.and_then(|at| self.search.known.get_mut(at)) else {
            self.next.currencies = named;
            return;
        };
        readings.retain_mut(|reading| match reading {
            Reading::Amount { currencies, .. } => {
                currencies.clone_from(&named);
                true
            }
            _ => false,
        });
    }

    /// A number that may be an amount, the end of an account, or a telephone number.
    fn number(&mut self, text: &str) {
        let next = std::mem::take(&mut self.next);
        if next.phone {
            return self.phone(text.chars().filter(char::is_ascii_digit).collect());
        }
        let is_bare = is_digits(text);
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let only_amount = !is_bare || next.about || !next.currencies.is_empty();
        let mut readings = Vec::new();
        if next.account {
            self.accounts.push(masked::account(text));
        }
        if next.account || (!only_amount && digits >= ACCOUNT_END_CHARS) {
            readings.push(Reading::account(text));
        }
        if !next.account && !only_amount && digits >= PHONE_END_DIGITS {
            self.people.push(("phone", masked::phone(text)));
            readings.push(Reading::Phone(national(text)));
        }
        let amount = Decimal::parse_exact(&text.replace(',', ""));
        let amount = amount.filter(|_| !next.account && digits <= AMOUNT_MAX_DIGITS);
        if let Some(value) = amount {
            let of = if next.about { Reading::about } else { Reading::amount };
            readings.push(of(value, next.currencies));
        }
        if readings.is_empty() || (next.account && digits < ACCOUNT_END_CHARS) {
            self.unknown.push(text.to_owned());
            return;
        }
        self.next.amount = amount.map(|_| self.search.known.len());
        self.search.known.push(readings);
    }

    fn account(&mut self, number: &str) {
        self.next = Next::default();
        self.accounts.push(masked::account(number));
        self.search.known.push(vec![Reading::account(number)]);
    }

    fn phone(&mut self, digits: String) {
        self.next = Next::default();
        if digits.len() < PHONE_END_DIGITS {
            return self.unknown.push(digits);
        }
        let digits = national(&digits);
        self.people.push(("phone", masked::phone(&digits)));
        self.search.known.push(vec![Reading::Phone(digits)]);
    }
}

/// The digits without the zeros that a national number begins with and the international one lacks.
fn national(digits: &str) -> String {
    digits.trim_start_matches('0').to_owned()
}

/// An IBAN in groups of four characters, and the number of groups after the first.
fn printed_iban(first: &str, others: &[&str]) -> Option<(String, usize)> {
    let mut text = first.to_owned();
    if text.len() != IBAN_GROUP_CHARS {
        return None;
    }
    for (at, group) in others.iter().enumerate() {
        text.push_str(group);
        if [Country::Pak, Country::Egy].iter().any(|it| Iban::parse(*it, &text).is_ok()) {
            return Some((text, at + 1));
        }
        if group.len() != IBAN_GROUP_CHARS {
            return None;
        }
    }
    None
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number without a sign for "about".
fn number(word: &str) -> Option<&str> {
    let number = word.trim_start_matches(['~', '≈']);
    let is_number = number.starts_with(|first: char| first.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || b",.".contains(&byte));
    is_number.then_some(number)
}

fn is_account(word: &str) -> bool {
    word.len() >= MIXED_ACCOUNT_MIN_CHARS
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn currencies(lower: &str) -> Option<Vec<Currency>> {
    if RUPEES.contains(&lower) {
        return Some(vec![Currency::Pkr, Currency::Inr, Currency::Npr]);
    }
    Currency::parse(&lower.to_uppercase()).map(|currency| vec![currency])
}

/// The start of a day in UTC.
fn day(lower: &str, now: Timestamp) -> Option<Timestamp> {
    let today = || day_of(now.to_string().get(..10)?);
    match lower {
        "today" => today(),
        "yesterday" => Some(today()? - Span::days(1)),
        _ => day_of(lower).filter(|_| lower.len() == 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_795_244_268_123_999);

    fn asked(text: &str) -> Asked {
        Asked::of(text, NOW)
    }

    fn decimal(text: &str) -> Decimal {
        Decimal::parse_exact(text).expect("a number")
    }

    fn amount(text: &str) -> Reading {
        Reading::amount(decimal(text), Vec::new())
    }

    #[test]
    fn digits_of_other_scripts_are_digits() {
        assert_eq!(
            asked("phone ٠٣٠٠١٢٣٤٥٦٧").search.known,
            asked("phone 03001234567").search.known
        );
    }

    #[test]
    fn a_call_from_a_branch_is_understood() {
        let rupees = vec![Currency::Pkr, Currency::Inr, Currency::Npr];
        let call = asked("Bilal, account ending 6702, about 37,910 rupees");
        let known = vec![
            vec![Reading::Word("bilal".to_owned())],
            vec![Reading::account("6702")],
            vec![Reading::about(decimal("37910"), rupees)],
        ];
        assert_eq!((call.search.known, call.people), (known, vec![("name", "B•••".to_owned())]));
        assert_eq!(call.unknown, Vec::<String>::new());
    }

    #[test]
    fn parts_are_combined_in_any_order() {
        let day = Some(day_of("2026-11-25").expect("a day"));
        for text in
            ["6702 37,910 2026-11-25", "2026-11-25 6702 37,910", "37,910, 2026-11-25 ··6702"]
        {
            let asked = asked(text);
            let known = &asked.search.known;
            assert!(known.contains(&vec![amount("37910")]), "{text}: {known:?}");
            assert!(known.contains(&vec![Reading::account("6702"), amount("6702")]), "{text}");
            assert_eq!((asked.search.start, asked.people.len()), (day, 0), "{text}");
        }
        let days = asked("yesterday today");
        let (start, end) = (days.search.start.expect("a day"), days.search.end.expect("a day"));
        assert_eq!((end - start, start < NOW && NOW < end), (Span::days(2), true));
    }

    #[test]
    fn a_currency_makes_a_number_an_amount() {
        let pkr = vec![vec![Reading::amount(decimal("37910"), vec![Currency::Pkr])]];
        for text in ["37910 PKR", "pkr 37,910", "37,910 in PKR"] {
            assert_eq!(asked(text).search.known, pkr, "{text}");
        }
        let about = vec![vec![Reading::about(decimal("500"), Vec::new())]];
        for text in ["about 500", "~500", "≈500"] {
            assert_eq!(asked(text).search.known, about, "{text}");
        }
    }

    #[test]
    fn telephone_numbers_have_several_spellings() {
        for text in ["+92 300 1234567", "+923001234567", "phone 923001234567"] {
            let asked = asked(text);
            assert_eq!(asked.search.known, [vec![Reading::Phone("923001234567".to_owned())]]);
            assert_eq!(asked.people, [("phone", "•••67".to_owned())], "{text}");
        }
        for text in ["phone 03001234567", "phone 0300.123.4567"] {
            let known = asked(text).search.known;
            assert_eq!(known, [vec![Reading::Phone("3001234567".to_owned())]], "{text}");
        }
        let national = Reading::Phone("3001234567".to_owned());
        assert!(asked("03001234567").search.known[0].contains(&national), "without its zero");
        for (text, accounts) in [
            ("account ending 6702", 1),
            ("PK36SCBL0000001123456702", 1),
            ("37,910", 0),
            ("6702", 0),
        ] {
            assert_eq!(asked(text).accounts.len(), accounts, "{text}");
        }
        let mut bare = asked("3001234567");
        assert_eq!(bare.search.known[0].len(), 3, "an account, a telephone number or an amount");
        assert!(bare.forget_people() && bare.people.is_empty());
        assert_eq!(bare.search.known[0].len(), 2);
        assert!(!asked("+923001234567").forget_people());
    }

    #[test]
    fn an_address_is_a_person_and_masked() {
        let asked = asked("Asha.Khan@example.com, 25 USDC");
        let usdc = Reading::amount(decimal("25"), vec![Currency::Usdc]);
        let known = [vec![Reading::email("asha.khan@example.com")], vec![usdc]];
        assert_eq!(asked.search.known, known);
        assert_eq!(asked.people, [("email", "A•••@e•••".to_owned())]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let odd = asked("Bilal INV/2026#7");
        assert_eq!((odd.is_usable(), odd.unknown), (false, vec!["INV/2026#7".to_owned()]));
        assert_eq!(asked("account 12").unknown, ["12"]);
        assert!(!asked(" , ").is_usable());
        let iban = asked("PK36SCBL0000001123456702").search.known;
        assert_eq!(iban, [vec![Reading::account("PK36SCBL0000001123456702")]]);
    }

    #[test]
    fn an_iban_may_be_in_groups() {
        let iban = vec![Reading::account("PK36SCBL0000001123456702")];
        let printed = "PK36 SCBL 0000 0011 2345 6702";
        for text in [printed.to_owned(), printed.to_lowercase()] {
            assert_eq!(asked(&text).search.known, std::slice::from_ref(&iban));
        }
        let more = asked(&format!("iban {printed}, 37,910"));
        assert_eq!(more.search.known, [iban, vec![amount("37910")]]);
        assert_eq!(more.accounts.len(), 1);
        let wrong = asked("PK37 SCBL 0000 0011 2345 6702");
        assert!(wrong.search.known.len() > 1, "its check digits are wrong");
    }
}
