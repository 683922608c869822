//! The search: sections of all pages, found by the meaning of their headings. A heading weighs more
//! than a name in code, and a name more than text; a synonym counts almost like the word itself.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::SEARCH_PATH;
use super::html::{Html, escape};
use super::layout::{Frame, end, top};
use super::nav::Nav;
use super::pages::Page;
use super::reader::{Token, attribute, content, unescaped};

const RESULTS_MAX: usize = 20;
const EXCERPT_CHARS: usize = 180;

/// Weights of a word by its place.
const IN_HEADING: u32 = 12;
const IN_NAME: u32 = 8;
const IN_TITLE: u32 = 4;
const IN_TEXT: u32 = 1;
/// Of a heading that has no other word.
const WHOLE_HEADING: u32 = 10;
/// Of a heading that has the words of the question in their order.
const SAME_ORDER: u32 = 12;
/// Of a page's first heading.
const FIRST_HEADING: u32 = 4;
/// A word counts ten times its weight, a synonym seven times.
const WORD: u32 = 10;
const SYNONYM: u32 = 7;

/// Words that mean the same here. A question uses one, a heading another.
const SYNONYMS: [&[&str]; 26] = [
    &[
        "sign",
        "signature",
        "hmac",
        "jwt",
        "token",
        "authenticate",
        "authentication",
        "authorization",
        "auth",
        "bearer",
    ],
    &["key", "secret", "credential", "apikey"],
    &["webhook", "callback", "notification", "endpoint", "receive"],
    &["event", "notification", "stream"],
    &["verify", "validate", "check", "genuine"],
    &["send", "make", "create", "execute", "submit", "pay"],
    &["payment", "transfer", "payout", "remittance"],
    &["quote", "price", "rate", "exchange", "fx", "cost"],
    &["retry", "repeat", "idempotency", "idempotent", "duplicate", "twice", "again"],
    &["error", "fail", "failure", "problem", "refusal", "code"],
    &["limit", "rate-limit", "throttle", "quota", "429"],
    &["refund", "return", "reverse"],
    &["install", "deploy", "production", "live", "start", "setup", "run"],
    &["database", "postgres", "postgresql", "sqlite"],
    &["cluster", "node", "replica", "scale", "availability"],
    &["backup", "restore", "recover", "recovery"],
    &["hsm", "pkcs11", "kms", "softhsm"],
    &["screening", "sanction", "aml", "compliance", "ofac"],
    &["monitor", "metric", "prometheus", "grafana", "alert", "observability"],
    &["config", "configuration", "setting", "option", "environment"],
    &["command", "cli", "terminal"],
    &["test", "sandbox", "simulate", "try"],
    &["country", "corridor", "destination"],
    &["rail", "bank", "iso20022", "swift"],
    &["wallet", "stablecoin", "usdc", "usdt", "crypto", "token"],
    &["status", "state", "track", "follow"],
];

/// Words of a question, and those that the pages have instead.
const REPLACEMENTS: [(&[&str], &[&str]); 37] = [
    (&["rate", "limit"], &["limit"]),
    (&["too", "many", "request"], &["limit"]),
    (&["server", "sent", "event"], &["followEvents", "event"]),
    (&["last", "event", "id"], &["followEvents", "event"]),
    (&["sse"], &["followEvents", "event"]),
    (&["eventsource"], &["followEvents", "event"]),
    (&["websocket"], &["followEvents", "event"]),
    (&["mtls"], &["client", "certificate"]),
    (&["allowlist"], &["allowed", "address"]),
    (&["whitelist"], &["allowed", "address"]),
    (&["ip"], &["allowed", "address"]),
    (&["golang"], &["go"]),
    (&["nodejs"], &["typescript"]),
    (&["javascript"], &["typescript"]),
    (&["swagger"], &["openapi", "document"]),
    (&["postman"], &["openapi", "document"]),
    (&["openapi"], &["openapi", "document"]),
    (&["chargeback"], &["recall"]),
    (&["declined"], &["rejected"]),
    (&["force", "failure"], &["sandbox", "outcome"]),
    (&["invalid", "signature"], &["unauthorized"]),
    (&["token", "expired"], &["unauthorized"]),
    (&["clock", "skew"], &["unauthorized"]),
    (&["insufficient", "fund"], &["insufficient_balance"]),
    (&["idempotency"], &["idempotency", "key", "createPayment"]),
    (&["idempotent"], &["idempotency", "key", "createPayment"]),
    (&["confirmation", "payee"], &["check", "account"]),
    (&["verification", "payee"], &["check", "account"]),
    (&["health", "check"], &["readyz"]),
    (&["readiness"], &["readyz"]),
    (&["liveness"], &["livez"]),
    (&["disaster", "recovery"], &["backup", "restore"]),
    (&["kafka"], &["another", "broker"]),
    (&["rabbitmq"], &["another", "broker"]),
    (&["resend"], &["redeliver"]),
    (&["replay"], &["redeliver"]),
    (&["timeout"], &["time", "out"]),
];

/// Elements that end a piece of text.
const BLOCKS: [&str; 8] = ["dd", "dt", "li", "p", "small", "summary", "td", "th"];

/// Words of a question that say nothing about its subject.
const STOP_WORDS: [&str; 34] = [
    "a", "an", "and", "are", "as", "be", "can", "do", "does", "for", "from", "get", "how", "i",
    "if", "in", "is", "it", "my", "of", "on", "or", "should", "that", "the", "this", "to", "we",
    "what", "when", "where", "which", "with", "you",
];

/// A section of a page.
struct Entry {
    title: String,
    heading: String,
    href: String,
    excerpt: String,
    /// Stems with their weights.
    words: HashMap<String, u32>,
    heading_stems: Vec<String>,
    is_first: bool,
}

/// Everything that can be found.
pub(super) struct Index {
    entries: Vec<Entry>,
    /// Groups of synonyms by stem.
    synonyms: HashMap<String, Vec<usize>>,
    /// All known stems, with the number of sections that have them.
    stems: BTreeMap<String, usize>,
}

impl Index {
    pub(super) fn of(pages: &[Page]) -> Index {
        let mut synonyms: HashMap<String, Vec<usize>> = HashMap::new();
        for (group, words) in SYNONYMS.iter().enumerate() {
            for word in *words {
                synonyms.entry(stem(word)).or_default().push(group);
            }
        }
        let entries: Vec<Entry> = pages.iter().flat_map(entries).collect();
        let replaced = REPLACEMENTS.iter().flat_map(|(phrase, _)| phrase.iter());
        let mut stems: BTreeMap<String, usize> = replaced.map(|word| (stem(word), 0)).collect();
        stems.extend(synonyms.keys().map(|stem| (stem.clone(), 0)));
        for stem in entries.iter().flat_map(|entry| entry.words.keys()) {
            *stems.entry(stem.clone()).or_insert(0) += 1;
        }
        Index { entries, synonyms, stems }
    }

    /// The best sections for a question, best first.
    fn find(&self, question: &str) -> Vec<&Entry> {
        let telling = whole_words(question).filter(|word| is_telling(word));
        let asked: Vec<String> =
            telling.map(|word| self.stem_or_nearest(&word.to_lowercase())).collect();
        let asked = replaced(&asked);
        let mut found: Vec<(u32, &Entry)> = self
            .entries
            .iter()
            .map(|entry| (self.score(entry, &asked), entry))
            .filter(|(score, _)| *score > 0)
            .collect();
        found.sort_by_key(|(score, _)| Reverse(*score));
        found.into_iter().take(RESULTS_MAX).map(|(_, entry)| entry).collect()
    }

    /// The stem of a word. If it is unknown, the nearest stem that a typing error explains.
    fn stem_or_nearest(&self, word: &str) -> String {
        let asked = stem(word);
        let errors_max = match word.chars().count() {
            0..=4 => 0,
            5..=7 => 1,
            _ => 2,
        };
        if errors_max == 0 || self.stems.contains_key(&asked) {
            return asked;
        }
        let letters: Vec<char> = asked.chars().collect();
        let near = self.stems.iter().filter_map(|(known, sections)| {
            let other: Vec<char> = known.chars().collect();
            let errors = if letters.len().abs_diff(other.len()) > errors_max {
                None
            } else {
                Some(distance(&letters, &other)).filter(|errors| *errors <= errors_max)
            };
            errors.map(|errors| (errors, Reverse(*sections), known))
        });
        near.min().map_or(asked, |(_, _, known)| known.clone())
    }

    /// 0 if fewer than half of the words are there. Each missing word halves the rest.
    fn score(&self, entry: &Entry, asked: &[String]) -> u32 {
        let (mut sum, mut missing) = (0, 0);
        let mut in_heading = 0;
        for stem in asked {
            let (weight, is_in_heading) = self.weight(entry, stem);
            if weight == 0 {
                missing += 1;
            }
            in_heading += usize::from(is_in_heading);
            sum += weight;
        }
        if asked.is_empty() || missing * 2 > asked.len() {
            return 0;
        }
        if in_heading > 0 && self.is_covered(&entry.heading_stems, asked) {
            sum += WHOLE_HEADING * WORD;
        }
        if asked.len() > 1 && entry.heading_stems.windows(asked.len()).any(|part| part == asked) {
            sum += SAME_ORDER * WORD;
        }
        if entry.is_first && in_heading > 0 {
            sum += FIRST_HEADING * WORD;
        }
        sum >> missing.min(8)
    }

    /// Whether the question has every word of a heading, or a synonym.
    fn is_covered(&self, heading: &[String], asked: &[String]) -> bool {
        heading
            .iter()
            .all(|known| asked.iter().any(|stem| known == stem || self.are_synonyms(known, stem)))
    }

    fn are_synonyms(&self, one: &str, other: &str) -> bool {
        let groups = |stem: &str| self.synonyms.get(stem).map(Vec::as_slice).unwrap_or_default();
        groups(one).iter().any(|group| groups(other).contains(group))
    }

    /// What a word counts in a section, and whether its heading has it.
    fn weight(&self, entry: &Entry, stem: &str) -> (u32, bool) {
        let own = entry.words.get(stem).map_or(0, |weight| weight * WORD);
        let has_synonyms = self.synonyms.contains_key(stem);
        let similar = |known: &str| self.are_synonyms(known, stem);
        let synonym = entry
            .words
            .iter()
            .filter(|(known, _)| has_synonyms && similar(known))
            .map(|(_, weight)| weight * SYNONYM)
            .max()
            .unwrap_or(0);
        let is_in_heading = entry.heading_stems.iter().any(|known| known == stem || similar(known));
        (own.max(synonym), is_in_heading)
    }
}

/// The stems of a question after [`REPLACEMENTS`].
fn replaced(stems: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = stems;
    while let Some((first, after)) = rest.split_first() {
        let replacement = REPLACEMENTS.iter().find(|(phrase, _)| {
            phrase.len() <= rest.len()
                && phrase.iter().zip(rest).all(|(known, asked)| stem(known) == *asked)
        });
        match replacement {
            Some((phrase, instead)) => {
                out.extend(instead.iter().map(|word| stem(&word.to_lowercase())));
                rest = &rest[phrase.len()..];
            }
            None => {
                out.push(first.clone());
                rest = after;
            }
        }
    }
    out
}

/// Letters to insert, remove, replace or swap with their neighbour.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (at, letter) in one.iter().enumerate() {
        let mut row = vec![at + 1];
        for (to, wanted) in other.iter().enumerate() {
            let replaced = rows[at][to] + usize::from(letter != wanted);
            let mut least = replaced.min(rows[at][to + 1] + 1).min(row[to] + 1);
            let is_swapped = at > 0 && to > 0 && *letter == other[to - 1] && one[at - 1] == *wanted;
            if is_swapped {
                least = least.min(rows[at - 1][to - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

/// Whether a word says something about a question's subject.
fn is_telling(word: &str) -> bool {
    !STOP_WORDS.contains(&word.to_lowercase().as_str())
}

/// Letters, digits and underscores.
fn whole_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// In lower case. A name with underscores also counts as its parts.
fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = whole_words(text).flat_map(|word| {
        let split = word.split('_').filter(move |_| word.contains('_'));
        std::iter::once(word).chain(split)
    });
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// A word without the endings that the same word has elsewhere: `signing`, `signed`, `signs`.
fn stem(word: &str) -> String {
    const ENDINGS: [(&str, &str); 7] =
        [("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""), ("y", "i")];
    const STEM_CHARS_MIN: usize = 3;
    let mut stem = word.to_owned();
    if word.contains('_') {
        return stem;
    }
    for (ending, instead) in ENDINGS {
        let Some(rest) = stem.strip_suffix(ending) else { continue };
        if rest.chars().count() >= STEM_CHARS_MIN && !(ending == "s" && rest.ends_with('s')) {
            stem = format!("{rest}{instead}");
        }
    }
    stem
}

/// The sections of a page: each heading with an anchor begins one.
fn entries(page: &Page) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut in_heading = false;
    let mut in_name = 0_u32;
    let mut in_block = false;
    for token in content(&page.html) {
        match token {
            Token::Open(name @ ("h1" | "h2" | "h3" | "h4"), attributes) => {
                let anchor = attribute(attributes, "id");
                if name == "h1" || anchor.is_some() || found.is_empty() {
                    let anchor = anchor.filter(|_| name != "h1");
                    let anchor = anchor.map(|id| format!("#{id}")).unwrap_or_default();
                    found.push(Entry {
                        title: page.title.clone(),
                        heading: String::new(),
                        href: format!("{}{anchor}", page.path),
                        excerpt: String::new(),
                        words: HashMap::new(),
                        heading_stems: Vec::new(),
                        is_first: name == "h1",
                    });
                    in_heading = true;
                }
            }
            Token::Close("h1" | "h2" | "h3" | "h4") => in_heading = false,
            Token::Open("pre", _) => in_block = true,
            Token::Close("pre") => in_block = false,
            Token::Open("code" | "dt", _) => in_name += 1,
            Token::Close(name) => {
                if matches!(name, "code" | "dt") {
                    in_name = in_name.saturating_sub(1);
                }
                if let Some(entry) = found.last_mut().filter(|_| BLOCKS.contains(&name)) {
                    entry.excerpt.push(' ');
                }
            }
            Token::Text(text) => {
                let place = match (in_heading, in_block, in_name > 0) {
                    (true, ..) => Place::Heading,
                    (_, true, _) => Place::Block,
                    (_, _, true) => Place::Name,
                    _ => Place::Text,
                };
                if let Some(entry) = found.last_mut() {
                    entry.take(&unescaped(text), place);
                }
            }
            _ => {}
        }
    }
    for entry in &mut found {
        entry.complete();
    }
    found
}

/// Where a word stands.
#[derive(Clone, Copy)]
enum Place {
    Heading,
    /// In running text as code, or as the name of a parameter.
    Name,
    Text,
    /// In a code block.
    Block,
}

impl Place {
    fn weight(self) -> u32 {
        match self {
            Place::Heading => IN_HEADING,
            Place::Name => IN_NAME,
            Place::Text | Place::Block => IN_TEXT,
        }
    }
}

impl Entry {
    fn take(&mut self, text: &str, place: Place) {
        match place {
            Place::Heading => self.heading.push_str(text),
            // A section of code alone shows its beginning.
            Place::Block if self.excerpt.trim().is_empty() => self.excerpt.push_str(text),
            Place::Name | Place::Text if self.excerpt.chars().count() < EXCERPT_CHARS => {
                self.excerpt.push_str(text);
            }
            Place::Block | Place::Name | Place::Text => {}
        }
        self.add(text, place.weight());
    }

    fn add(&mut self, text: &str, weight: u32) {
        for word in words(text) {
            let known = self.words.entry(stem(&word)).or_insert(0);
            *known = (*known).max(weight);
        }
    }

    fn complete(&mut self) {
        let title = self.title.clone();
        self.add(&title, IN_TITLE);
        let telling = whole_words(&self.heading).filter(|word| is_telling(word));
        self.heading_stems = telling.map(|word| stem(&word.to_lowercase())).collect();
        // The id of an operation stands in its address alone.
        let name = self.href.rsplit('/').next().unwrap_or_default().to_owned();
        self.add(&name, IN_NAME);
        self.excerpt = self.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = self.excerpt.char_indices().nth(EXCERPT_CHARS) {
            let end = self.excerpt[..end].rfind(' ').unwrap_or(end);
            self.excerpt.truncate(end);
            self.excerpt.push_str(" …");
        }
    }
}

/// The page of a question's results.
pub(super) fn page(index: &Index, nav: &Nav, question: &str) -> String {
    let question = question.trim();
    let frame = Frame {
        title: "Search",
        path: SEARCH_PATH,
        nav: Some(nav),
        query: question,
        ..Frame::default()
    };
    let mut html = Html::default();
    top(&mut html, &frame);
    html.raw("<article class=\"text\">\n<h1>Search</h1>\n");
    let found = index.find(question);
    if question.is_empty() {
        html.raw("<p>Type a question, an error code, a field or a command.</p>\n");
    } else if found.is_empty() {
        html.raw(&format!(
            "<p>Nothing matches “{}”. Try fewer or other words, or look at <a href=\"/docs\">all pages</a>.</p>\n",
            escape(question)
        ));
    } else {
        html.raw("<ol class=\"results\">\n");
        for entry in found {
            html.raw(&format!(
                "<li><a href=\"{}\">{}</a>",
                escape(&entry.href),
                escape(&entry.heading)
            ));
            if !entry.is_first {
                html.raw(&format!(" <small>{}</small>", escape(&entry.title)));
            }
            html.raw(&format!("<p>{}</p></li>\n", escape(&entry.excerpt)));
        }
        html.raw("</ol>\n");
    }
    html.raw("</article>\n");
    end(&mut html, &frame);
    html.0
}

#[cfg(test)]
mod tests {
    use super::super::pages::Pages;
    use super::*;

    #[test]
    fn questions_find_the_page_that_answers_them() {
        let pages = Pages::render(None).expect("the documents are JSON");
        for (question, expected) in [
            ("how do I sign", "/docs/signing"),
            ("How do I sign a request?", "/docs/guides/first-call"),
            ("authentication", "/docs/signing"),
            ("create a quote", "/docs/payment/createQuote"),
            ("createPayment", "/docs/payment/createPayment"),
            ("verify a webhook", "/docs/guides/receiving-webhooks"),
            ("callback signature", "/docs/guides/receiving-webhooks"),
            ("quote_expired", "/docs/reference/errors"),
            ("restore the database", "/docs/guides/backup"),
            ("prometheus", "/docs/reference/metrics"),
            ("HSM", "/docs/guides/keys"),
            ("deploy to production", "/docs/guides/going-live"),
            ("sanctions list", "/docs/guides/screening"),
            ("quote_ttl_s", "/docs/reference/config"),
            ("corridor ledger verify", "/docs/reference/cli"),
            ("wallet.blocked", "/docs/reference/events"),
            ("corridor_ledger_imbalance", "/docs/reference/metrics"),
            ("WALLET_EXISTS", "/docs/reference/errors"),
            ("my payment is not shown", "/docs/guides/senders"),
            ("payment states", "/docs/reference/states"),
        ] {
            let found = pages.index.find(question);
            let hrefs: Vec<&str> = found.iter().take(3).map(|entry| entry.href.as_str()).collect();
            assert!(
                hrefs.iter().any(|href| href.split('#').next() == Some(expected)),
                "{question}: {hrefs:?}"
            );
        }
        let first = pages.index.find("how do I sign");
        assert_eq!(first.first().map(|entry| entry.href.as_str()), Some("/docs/signing"));
        assert!(pages.index.find("zzzz").is_empty() && pages.index.find(" ?!").is_empty());
    }

    /// Questions in words that the pages do not use, or with a typing error, and the pages of which
    /// one is among the first three results.
    const OTHER_WORDS: [(&str, &[&str]); 57] = [
        ("rate limit", &["/docs/reference/limits"]),
        ("too many requests", &["/docs/reference/limits", "/docs/reference/errors"]),
        ("force failure", &["/docs/guides/sandbox"]),
        ("simulate an error", &["/docs/guides/sandbox"]),
        ("test accounts", &["/docs/guides/sandbox"]),
        ("invalid signature", &["/docs/reference/errors", "/docs/signing"]),
        ("token expired", &["/docs/reference/errors", "/docs/signing"]),
        ("declined", &["/docs/reference/states", "/docs/reference/events"]),
        ("cors", &["/docs/guides/first-call"]),
        ("sse", &["/docs/payment/followEvents"]),
        ("server-sent events", &["/docs/payment/followEvents"]),
        ("websocket", &["/docs/payment/followEvents"]),
        ("EventSource", &["/docs/payment/followEvents"]),
        ("Last-Event-ID", &["/docs/payment/followEvents"]),
        ("mtls", &["/docs/guides/reaching-a-bank"]),
        ("client certificate", &["/docs/guides/reaching-a-bank"]),
        ("allowlist", &["/docs/guides/keys", "/docs/guides/going-live", "/docs/reference/errors"]),
        (
            "ip whitelist",
            &["/docs/guides/keys", "/docs/guides/going-live", "/docs/reference/errors"],
        ),
        ("golang", &["/docs/signing", "/docs/guides/first-call"]),
        ("swagger", &["/docs/payment", "/docs/wallet"]),
        ("postman", &["/docs/payment", "/docs/wallet"]),
        ("chargeback", &["/docs/payment/createRecall"]),
        ("idempotency", &["/docs/payment/createPayment"]),
        ("webhok", &["/docs/guides/receiving-webhooks"]),
        ("beneficary", &["/docs/payment/createPayment", "/docs/payment/objects"]),
        ("idempotncy", &["/docs/payment/createPayment"]),
        ("authentification", &["/docs/signing"]),
        ("pagination", &["/docs/payment/listPayments", "/docs/wallet/objects"]),
        ("replay webhooks", &["/docs/wallet/redeliverWebhook", "/docs/guides/receiving-webhooks"]),
        ("webhook secret rotation", &["/docs/guides/receiving-webhooks"]),
        ("rotate keys", &["/docs/guides/keys"]),
        ("cancel a payment", &["/docs/payment/cancelPayment"]),
        ("list payments", &["/docs/payment/listPayments"]),
        ("timeout", &["/docs/reference/limits", "/docs/guides/reaching-a-bank"]),
        ("iban validation", &["/docs/payment/checkAccount", "/docs/reference/errors"]),
        ("confirmation of payee", &["/docs/payment/checkAccount", "/docs/guides/connectors"]),
        ("exchange rate", &["/docs/wallet/getExchangeRate", "/docs/payment/createQuote"]),
        ("freeze wallet", &["/docs/wallet/blockWallet", "/docs/guides/compliance"]),
        ("insufficient funds", &["/docs/reference/errors"]),
        ("health check", &["/docs/guides/going-live", "/docs/reference/limits"]),
        ("load balancer", &["/docs/guides/going-live", "/docs/guides/postgresql"]),
        ("failover", &["/docs/guides/postgresql"]),
        ("disaster recovery", &["/docs/guides/backup"]),
        ("upgrade", &["/docs/guides/postgresql"]),
        ("kafka", &["/docs/guides/events-and-warehouse"]),
        ("false positive", &["/docs/guides/screening"]),
        ("four eyes", &["/docs/guides/compliance"]),
        ("webhook", &["/docs/guides/receiving-webhooks"]),
        ("swager", &["/docs/payment", "/docs/wallet"]),
        ("openapi", &["/docs/payment", "/docs/wallet"]),
        ("clock skew", &["/docs/reference/errors", "/docs/signing"]),
        ("key suspended", &["/docs/reference/errors"]),
        ("reconciliation", &["/docs/reference/metrics", "/docs/guides/going-live"]),
        ("sanctoins", &["/docs/guides/screening", "/docs/guides/compliance"]),
        ("verification of payee", &["/docs/payment/checkAccount"]),
        ("readiness probe", &["/docs/guides/going-live", "/docs/guides/postgresql"]),
        ("reversed payment", &["/docs/reference/states", "/docs/reference/events"]),
    ];

    #[test]
    fn other_words_for_it_and_typing_errors_find_the_page_as_well() {
        let pages = Pages::render(None).expect("the documents are JSON");
        let mut missed = Vec::new();
        for (question, expected) in OTHER_WORDS {
            let found = pages.index.find(question);
            let hrefs: Vec<&str> = found.iter().take(3).map(|entry| entry.href.as_str()).collect();
            let page = |href: &&str| href.split('#').next().unwrap_or_default().to_owned();
            if !hrefs.iter().any(|href| expected.contains(&page(href).as_str())) {
                missed.push(format!("{question}: {hrefs:?}, not one of {expected:?}"));
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn a_typing_error_is_one_letter_or_two_that_are_swapped() {
        let letters = |word: &str| word.chars().collect::<Vec<char>>();
        for (one, other, errors) in [
            ("cursor", "cursor", 0),
            ("curser", "cursor", 1),
            ("cancle", "cancel", 1),
            ("webhok", "webhook", 1),
            ("", "abc", 3),
            ("idempotncey", "idempotency", 2),
        ] {
            assert_eq!(distance(&letters(one), &letters(other)), errors, "{one}, {other}");
        }
    }

    #[test]
    fn words_that_differ_by_an_ending_have_one_stem() {
        for (one, other) in [
            ("signing", "sign"),
            ("requests", "request"),
            ("create", "creating"),
            ("retries", "retry"),
            ("keys", "key"),
        ] {
            assert_eq!(stem(one), stem(other), "{one}, {other}");
        }
        assert_ne!(stem("quote"), stem("quota"));
    }

    #[test]
    fn a_question_never_becomes_markup() {
        let pages = Pages::render(None).expect("the documents are JSON");
        let html = page(&pages.index, &pages.nav, "\"><script>x</script>");
        assert!(!html.contains("<script>x"), "{html}");
    }
}
