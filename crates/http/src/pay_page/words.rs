//! The messages of the pages: one Fluent file per language, with identical keys and variables.
//! Values are isolated from the surrounding text, so amounts and names keep their direction.

use std::fmt;
use std::sync::LazyLock;

use askama::filters::HtmlSafe;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use unic_langid::LanguageIdentifier;

use super::language::Language;

/// FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE: the plain-text equivalents of `<bdi>`.
const ISOLATE: char = '\u{2068}';
const POP: char = '\u{2069}';

/// OBJECT REPLACEMENT CHARACTER: the placeholder for markup.
const PLACE: &str = "\u{fffc}";

type Bundle = FluentBundle<FluentResource>;

static BUNDLES: LazyLock<Vec<Bundle>> = LazyLock::new(|| Language::ALL.map(bundle).into());

/// The source of a language's messages.
pub const fn source(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("words/en.ftl"),
        Language::Urdu => include_str!("words/ur.ftl"),
        Language::Arabic => include_str!("words/ar.ftl"),
        Language::Hindi => include_str!("words/hi.ftl"),
        Language::Bengali => include_str!("words/bn.ftl"),
        Language::Nepali => include_str!("words/ne.ftl"),
        Language::Vietnamese => include_str!("words/vi.ftl"),
        Language::Filipino => include_str!("words/fil.ftl"),
    }
}

fn bundle(language: Language) -> Bundle {
    let tag: LanguageIdentifier = language.code().parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![tag]);
    // Isolates are added around values only, by this module.
    bundle.set_use_isolating(false);
    // A test parses every file: a faulty message would be missing, and its page could not be
    // rendered.
    let resource =
        FluentResource::try_new(source(language).to_owned()).unwrap_or_else(|(parsed, _)| parsed);
    bundle.add_resource_overriding(resource);
    bundle
}

/// HTML that is already escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup(pub String);

impl fmt::Display for Markup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// The messages in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words(pub Language);

impl Words {
    /// The language subtag, as in the attribute `lang`.
    pub const fn code(self) -> &'static str {
        self.0.code()
    }

    /// Either `ltr` or `rtl`.
    pub const fn direction(self) -> &'static str {
        self.0.direction()
    }

    /// A message without variables.
    ///
    /// # Errors
    /// The message does not exist.
    pub fn say(self, key: &str) -> askama::Result<Markup> {
        self.with(key, &[])
    }

    /// A message with its variables, each in `<bdi>`.
    ///
    /// # Errors
    /// The message does not exist or has other variables.
    pub fn with(self, key: &str, values: &[(&'static str, &str)]) -> askama::Result<Markup> {
        Ok(Markup(marked_up(&self.text(key, values)?)))
    }

    /// A message with one variable that is HTML.
    ///
    /// # Errors
    /// The message does not exist or has other variables.
    pub fn around(self, key: &str, name: &'static str, inner: &Markup) -> askama::Result<Markup> {
        let around = self.with(key, &[(name, PLACE)])?;
        Ok(Markup(around.0.replace(PLACE, &inner.0)))
    }

    /// The message as plain text, for an attribute.
    ///
    /// # Errors
    /// The message does not exist or has other variables.
    pub fn text(self, key: &str, values: &[(&'static str, &str)]) -> askama::Result<String> {
        let bundle = BUNDLES.iter().zip(Language::ALL).find(|(_, language)| *language == self.0);
        let pattern =
            bundle.and_then(|(bundle, _)| Some((bundle, bundle.get_message(key)?.value()?)));
        let (bundle, pattern) = pattern.ok_or_else(|| unsaid(key, self.0))?;
        let mut given = FluentArgs::new();
        for (name, value) in values {
            given.set(*name, isolated(value));
        }
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, Some(&given), &mut errors).into_owned();
        if errors.is_empty() { Ok(text) } else { Err(unsaid(key, self.0)) }
    }
}

fn unsaid(key: &str, language: Language) -> askama::Error {
    askama::Error::custom(format!("message {key} cannot be formatted in {}", language.code()))
}

fn isolated(value: &str) -> String {
    let inner: String = value.chars().filter(|c| !matches!(*c, ISOLATE | POP)).collect();
    format!("{ISOLATE}{inner}{POP}")
}

/// Converts a text to HTML, with elements for its isolates.
fn marked_up(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ISOLATE => html.push_str("<bdi>"),
            POP => html.push_str("</bdi>"),
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
