//! The common structure of pages: sections of facts, cards, tables and forms. One
//! template renders them all, so that every page keeps the same order and labels.

use askama::Template;
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::money::Money;
pub use domain::names::words;
use domain::time::Timestamp;
use engine::wallets::{KeysetFrom, KeysetPage, KeysetWanted, Mark};
use http::StatusCode;
use http_api::wallet_v1::render::money;

use crate::again::Retry;
use crate::answer::page_with;
use crate::layout::Fault;
use crate::parts::grouped;
use crate::payments::chart::Chart;
use crate::saved_views::SavedViews;
use crate::{Answer, Cell, Form, Frame, Headline, Pager, Stop, Table, Visit, encoded, html};

mod story;

pub use story::{
    Moment, Story, clock, date_words, day_words, known, page_around, steps, story_page,
};

/// Rows per page of a list.
pub const ROWS: u32 = 50;
/// The last page that can be read; use filters to reach older rows.
const PAGE_MAX: u32 = 2_000;

#[derive(Template)]
#[template(path = "console/wallets/page.html")]
struct SectionsPage {
    frame: Frame,
    sections: Vec<Section>,
}

/// Renders a page of sections. A refused form among them keeps what was typed.
pub fn page(visit: &Visit, title: &str, sections: Vec<Section>) -> Answer {
    html(&SectionsPage::retried(visit, title, sections))
}

/// The frame and the sections of a page of another template. A refused form among them keeps what was
/// typed.
pub fn retried(visit: &Visit, title: &str, sections: Vec<Section>) -> (Frame, Vec<Section>) {
    let SectionsPage { frame, sections } = SectionsPage::retried(visit, title, sections);
    (frame, sections)
}

/// The page of a record, with what it is recognised by above its sections.
pub fn page_about(visit: &Visit, headline: Headline, mut sections: Vec<Section>) -> Answer {
    if let Some(retry) = visit.retry() {
        keep(&mut sections, retry);
    }
    let mut page = SectionsPage::new(visit, &headline.text, sections);
    page.frame.headline = Some(headline);
    html(&page)
}

/// Fills the refused form: the one with its action, and of several the one with its hidden fields.
fn keep(sections: &mut [Section], retry: &Retry) {
    let forms = sections
        .iter_mut()
        .flat_map(|section| section.filters.iter_mut().chain(&mut section.forms));
    let mut forms: Vec<&mut FormView> =
        forms.filter(|form| form.action == retry.action && form.verdicts.is_empty()).collect();
    if forms.len() > 1 {
        forms.retain(|form| form.is_of(retry));
    }
    if let Some(form) = forms.first_mut() {
        form.keep(retry);
    }
}

/// Renders a page again whose form has a wrong value (422).
pub fn page_of_wrong_form(visit: &Visit, title: &str, sections: Vec<Section>) -> Answer {
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &SectionsPage::new(visit, title, sections))
}

/// The lists that the sandbox's scenarios fill.
const OF_SCENARIOS: [&str; 6] =
    ["/payments", "/quotes", "/wallets", "/requests", "/deposits", "/orders"];

/// What a user may do about a page's empty list: show all of it, or make a first record.
fn next_steps(frame: &Frame) -> Vec<(String, &'static str)> {
    let has_filters = frame.path.contains('?');
    let is_filled = OF_SCENARIOS.iter().any(|list| frame.address().ends_with(list));
    let all = has_filters.then(|| (format!("{}?", frame.address()), "Clear the filters"));
    let sample = frame.sandbox.clone().filter(|_| !has_filters && is_filled);
    let sample = sample.map(|href| (href, "Create one with the sandbox tools"));
    all.into_iter().chain(sample).chain([(frame.guide.to_owned(), "Guide to this page")]).collect()
}

impl SectionsPage {
    fn retried(visit: &Visit, title: &str, mut sections: Vec<Section>) -> SectionsPage {
        if let Some(retry) = visit.retry() {
            keep(&mut sections, retry);
        }
        SectionsPage::new(visit, title, sections)
    }

    fn new(visit: &Visit, title: &str, sections: Vec<Section>) -> SectionsPage {
        let (mut sections, mut frame) = (sections, visit.frame(title));
        for section in sections.iter_mut().filter(|section| section.title.is_empty()) {
            if let Some(table) = section.table.as_mut().filter(|_| section.facts.is_empty()) {
                table.links = std::mem::take(&mut section.links);
                table.next = next_steps(&frame);
            }
        }
        let faults = sections.iter().flat_map(Section::asks).find_map(FormView::fault_at);
        frame.fault = faults.or(frame.fault);
        SectionsPage { frame, sections }
    }

    /// Whether its button is the page's first choice: that of the first form which is easy to undo.
    fn is_primary(&self, form: &FormView) -> bool {
        is_primary(&self.sections, form)
    }

    /// Whether the forms stand beside the rest: a few short ones below a record's facts.
    fn has_rail(&self) -> bool {
        const COLUMNS_MAX: usize = 7;
        let (beside, main): (Vec<_>, Vec<_>) = self.sections.iter().partition(|it| it.is_beside());
        let is_wide = |table: &Table| table.head.len() > COLUMNS_MAX;
        !beside.is_empty()
            && main.iter().any(|section| !section.is_empty())
            && !main.iter().any(|section| section.table.as_ref().is_some_and(is_wide))
    }
}

/// Whether a form is the first of the sections' forms that is easy to undo.
fn is_primary(sections: &[Section], form: &FormView) -> bool {
    let mut forms = sections.iter().flat_map(|section| &section.forms);
    let first = forms.find(|form| form.verdicts.is_empty() && !form.danger);
    first.is_some_and(|first| first.id == form.id)
}

/// A section with its own title.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The title; empty for the page's first section.
    pub title: String,
    /// What it is about, where titles of the same letters may stand on one page.
    pub about: String,
    /// Introductory paragraphs below the title.
    pub says: Vec<String>,
    /// Related links: URL and text.
    pub links: Vec<(String, String)>,
    /// Facts: names and values.
    pub facts: Vec<(&'static str, Cell)>,
    /// Facts side by side.
    pub cards: Vec<Card>,
    pub tiles: Vec<Tile>,
    pub charts: Vec<Chart>,
    /// Views of the list: URL, name, whether it is this one.
    pub views: Vec<(String, &'static str, bool)>,
    /// The user's own views of the list.
    pub saved: Option<SavedViews>,
    pub filters: Option<FormView>,
    /// Filters in use: the list's URL without the filter, and its text.
    pub chips: Vec<(String, String)>,
    pub table: Option<Table>,
    /// Verbatim texts with titles.
    pub exact: Vec<(String, String)>,
    pub forms: Vec<FormView>,
}

impl Section {
    /// Names its live regions: the title's letters, which stay while a count in it changes, and
    /// what it is about; or the position of an untitled section.
    pub(crate) fn key(&self, index: impl ToString) -> String {
        if self.title.is_empty() {
            return index.to_string();
        }
        let letters: String = self.title.chars().filter(char::is_ascii_alphabetic).collect();
        match self.about.is_empty() {
            true => letters,
            false => format!("{letters}-{}", encoded(&self.about)),
        }
    }

    /// Whether there is a choice of views.
    pub(crate) fn has_tabs(&self) -> bool {
        !self.views.is_empty() || self.saved.as_ref().is_some_and(|it| !it.views.is_empty())
    }

    /// Whether it has nothing but a few short forms.
    fn is_beside(&self) -> bool {
        const FIELDS_MAX: usize = 8;
        let shown: usize = self.forms.iter().map(|form| form.shown().count()).sum();
        !self.forms.is_empty() && shown <= FIELDS_MAX && self.has_no_more()
    }

    /// Whether it has nothing to show below its title.
    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty() && self.has_no_more()
    }

    /// Everything that the user fills in.
    fn asks(&self) -> impl Iterator<Item = &FormView> {
        self.filters.iter().chain(&self.forms)
    }

    /// Whether it has nothing but forms.
    fn has_no_more(&self) -> bool {
        self.says.is_empty()
            && self.links.is_empty()
            && self.facts.is_empty()
            && self.cards.is_empty()
            && self.tiles.is_empty()
            && self.charts.is_empty()
            && self.views.is_empty()
            && self.saved.is_none()
            && self.filters.is_none()
            && self.table.is_none()
            && self.exact.is_empty()
    }
}

/// A key figure with its name, and what it is a part of.
#[derive(Clone, Debug)]
pub struct Tile {
    pub title: &'static str,
    pub value: String,
    pub more: String,
}

/// A card of facts.
#[derive(Clone, Debug)]
pub struct Card {
    pub title: String,
    pub facts: Vec<(&'static str, Cell)>,
}

#[derive(Clone, Debug)]
pub struct FormView {
    /// Unique on the page: a prefix of its fields' ids.
    pub id: String,
    pub title: String,
    /// The effect of submitting it.
    pub says: String,
    /// The action; filters submit to the page itself.
    pub action: String,
    pub fields: Vec<Field>,
    /// Whether it asks for a reason.
    pub why: bool,
    /// The reason that was typed.
    pub reason: String,
    pub button: &'static str,
    /// Whether it is hard to undo.
    pub danger: bool,
    /// The wrong field and what is wrong with it.
    pub fault: Option<(&'static str, String)>,
    /// A button for each verdict. They lead to the page on which the chosen one is confirmed.
    pub verdicts: Vec<Verdict>,
}

/// A possible decision on a case.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    pub value: &'static str,
    /// The deed, for its button.
    pub label: &'static str,
    /// What the decision leads to, below its button's name.
    pub effect: &'static str,
    /// Whether it is shown only on request.
    pub rare: bool,
}

impl FormView {
    /// A form without fields that posts to `action`.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        action: String,
        button: &'static str,
    ) -> FormView {
        let (title, says) = (title.into(), String::new());
        FormView {
            id: id.into(),
            title,
            says,
            action,
            fields: Vec::new(),
            why: false,
            reason: String::new(),
            button,
            danger: false,
            fault: None,
            verdicts: Vec::new(),
        }
    }

    /// The filters of a list, each of which may be empty. With a title they are folded below it.
    pub fn filters(fields: Vec<Field>) -> FormView {
        FormView::lookup(fields.into_iter().map(Field::optional).collect())
    }

    /// A form that only asks: for a page about what it names, or for a file.
    pub fn lookup(fields: Vec<Field>) -> FormView {
        FormView { fields, ..FormView::new("filter", "", String::new(), "Filter") }
    }

    #[must_use]
    pub fn says(self, says: impl Into<String>) -> FormView {
        FormView { says: says.into(), ..self }
    }

    #[must_use]
    pub fn field(mut self, field: Field) -> FormView {
        self.fields.push(field);
        self
    }

    #[must_use]
    pub fn why(self) -> FormView {
        FormView { why: true, ..self }
    }

    #[must_use]
    pub fn verdicts(self, verdicts: Vec<Verdict>) -> FormView {
        FormView { verdicts, ..self }
    }

    /// Whether a file is sent with it.
    pub(crate) fn has_file(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, FieldKind::File(_)))
    }

    /// Whether some verdicts are shown only on request.
    pub(crate) fn has_rare(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.rare)
    }

    #[must_use]
    pub fn danger(self) -> FormView {
        FormView { danger: true, ..self }
    }

    /// The fields that the user fills in.
    fn shown(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.is_shown())
    }

    /// Whether this field is the wrong one.
    pub(crate) fn is_wrong(&self, name: &str) -> bool {
        self.fault.as_ref().is_some_and(|(wrong, _)| *wrong == name)
    }

    /// The message of this field.
    pub(crate) fn fault_of(&self, name: &str) -> Option<&str> {
        self.fault.as_ref().filter(|(wrong, _)| *wrong == name).map(|(_, words)| words.as_str())
    }

    /// The fault, with the id of its field or of the form.
    fn fault_at(&self) -> Option<Fault> {
        let (name, words) = self.fault.as_ref()?;
        let at = if name.is_empty() { self.id.to_owned() } else { format!("{}-{name}", self.id) };
        Some(Fault { words: words.clone(), at: Some(at) })
    }

    /// Whether its hidden fields are those of the refused form.
    fn is_of(&self, retry: &Retry) -> bool {
        let is_same = |field: &Field| match field.kind {
            FieldKind::Hidden => retry.form.text(field.name) == field.value,
            _ => true,
        };
        self.fields.iter().all(is_same)
    }

    /// Takes over what was typed, and the message.
    fn keep(&mut self, retry: &Retry) {
        for field in self.fields.iter_mut().filter(|field| field.is_shown()) {
            if let Some(typed) = retry.form.all(field.name).next() {
                typed.clone_into(&mut field.value);
            }
        }
        retry.form.text("why").clone_into(&mut self.reason);
        let (wrong, words) = self.labelled(&retry.words);
        let wrong = wrong.unwrap_or_else(|| self.wrong_field(retry));
        self.fault = Some((wrong, words));
    }

    /// The message with the labels of fields in place of their names, and the first of them: a
    /// message such as `premium: …; margin: …`.
    fn labelled(&self, words: &str) -> (Option<&'static str>, String) {
        let mut first = None;
        let mut part = |part: &str| {
            let (name, rest) = part.split_once(": ")?;
            let field = self.shown().find(|field| field.name == name)?;
            first = first.or(Some(field.name));
            Some(format!("{}: {rest}", field.label))
        };
        let parts = words.split("; ").map(|text| part(text).unwrap_or_else(|| text.to_owned()));
        let words = parts.collect::<Vec<_>>().join("; ");
        (first, words)
    }

    /// The name of the wrong field: the one that the refusal names, or whose label its message
    /// repeats. Empty if it concerns the whole form.
    fn wrong_field(&self, retry: &Retry) -> &'static str {
        if let Some(name) = retry.field {
            let is_here =
                (self.why && name == "why") || self.shown().any(|field| field.name == name);
            return if is_here { name } else { "" };
        }
        let words = retry.words.to_lowercase();
        let named = self.shown().filter(|field| words.contains(&field.label.to_lowercase()));
        named.max_by_key(|field| field.label.len()).map_or("", |field| field.name)
    }
}

#[derive(Clone, Debug)]
pub struct Field {
    /// Name of the submitted value.
    pub name: &'static str,
    pub label: &'static str,
    pub value: String,
    /// The kind of input.
    pub kind: FieldKind,
    /// Whether it may be empty.
    pub optional: bool,
}

/// A kind of input.
#[derive(Clone, Debug)]
pub enum FieldKind {
    /// A line of text.
    Line,
    Whole,
    Day,
    /// A choice: value and label.
    OneOf(Vec<(String, String)>),
    /// A file of these types, for the browser's choice.
    File(&'static str),
    Hidden,
}

impl Field {
    fn of(kind: FieldKind, name: &'static str, label: &'static str) -> Field {
        Field { name, label, value: String::new(), kind, optional: false }
    }

    const fn is_shown(&self) -> bool {
        !matches!(self.kind, FieldKind::Hidden)
    }

    pub fn line(name: &'static str, label: &'static str) -> Field {
        Field::of(FieldKind::Line, name, label)
    }

    pub fn file(name: &'static str, label: &'static str, accept: &'static str) -> Field {
        Field::of(FieldKind::File(accept), name, label)
    }

    pub fn whole(name: &'static str, label: &'static str) -> Field {
        Field::of(FieldKind::Whole, name, label)
    }

    pub fn day(name: &'static str, label: &'static str) -> Field {
        Field::of(FieldKind::Day, name, label)
    }

    pub fn hidden(name: &'static str, value: impl ToString) -> Field {
        Field::of(FieldKind::Hidden, name, "").holding(value)
    }

    /// A choice whose labels are the values in lower case.
    pub fn one_of(
        name: &'static str,
        label: &'static str,
        names: impl IntoIterator<Item = &'static str>,
    ) -> Field {
        let options = names.into_iter().map(|name| (name.to_owned(), words(name)));
        Field::of(FieldKind::OneOf(options.collect()), name, label)
    }

    /// A choice: value and label.
    pub fn choice(name: &'static str, label: &'static str, options: &[(&str, &str)]) -> Field {
        let options =
            options.iter().map(|(value, words)| ((*value).to_owned(), (*words).to_owned()));
        Field::of(FieldKind::OneOf(options.collect()), name, label)
    }

    /// Adds the choice "all" in front.
    #[must_use]
    pub fn or_all(mut self) -> Field {
        if let FieldKind::OneOf(options) = &mut self.kind {
            options.insert(0, (String::new(), "all".to_owned()));
        }
        self.optional()
    }

    /// Nothing is chosen at first.
    #[must_use]
    pub fn unchosen(mut self) -> Field {
        if let FieldKind::OneOf(options) = &mut self.kind {
            options.insert(0, (String::new(), "Choose …".to_owned()));
        }
        self
    }

    #[must_use]
    pub fn optional(self) -> Field {
        Field { optional: true, ..self }
    }

    #[must_use]
    pub fn holding(self, value: impl ToString) -> Field {
        Field { value: value.to_string(), ..self }
    }

    /// Sets the value from the query.
    #[expect(clippy::wrong_self_convention, reason = "it is part of the field's building")]
    #[must_use]
    pub fn as_asked(self, query: &Form) -> Field {
        let value = query.text(self.name).to_owned();
        Field { value, ..self }
    }
}

/// An amount of a token with its code.
pub fn coins(minor: i64, coin: StableCoin) -> Cell {
    Cell::Number(coins_text(minor, coin))
}

/// As [`coins`], for a sentence: `1,250.50 USDC`.
pub fn coins_text(minor: i64, coin: StableCoin) -> String {
    grouped(&format!("{} {}", coin_amount::show(minor), coin.currency().code()))
}

/// An amount with the wallet API's decimals and its currency: `22,206.47 PKR`.
pub fn amount_text(amount: Money) -> String {
    grouped(&format!("{} {}", money(amount), amount.currency.code()))
}

/// An age in its two largest units.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let minutes = ((now - since).0 / 60_000_000).max(0);
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// An instant, or no value.
pub fn instant(at: Option<Timestamp>) -> Cell {
    at.map_or(Cell::Empty, Cell::When)
}

/// Parses an optional name in the query.
///
/// # Errors
/// [`Stop::Wrong`]: unknown name.
pub fn asked<T>(
    visit: &Visit,
    name: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Stop> {
    let read =
        |text: &str| parse(text).ok_or_else(|| Stop::wrong(name, format!("Unknown {name}.")));
    Ok(visit.query().given(name).map(read).transpose()?.into_iter().collect())
}

/// The query's page number, from 1 on.
pub fn sheet_number(visit: &Visit) -> u32 {
    visit.query().text("page").parse().unwrap_or(1).clamp(1, PAGE_MAX)
}

/// The page of a list that the query names: at the newest row, or after or before one.
///
/// # Errors
/// [`Stop::Invalid`]: unknown place.
pub fn turned(visit: &Visit) -> Result<KeysetWanted, Stop> {
    let no_place = || Stop::Invalid("Unknown position in the list.".to_owned());
    let read = |name| {
        let text = visit.query().given(name);
        text.map(|text| Mark::parse(text).ok_or_else(no_place)).transpose()
    };
    let (after, before) = (read("after")?, read("before")?);
    let from = after.map(KeysetFrom::After).or(before.map(KeysetFrom::Before));
    Ok(KeysetWanted { from, limit: usize::try_from(ROWS).unwrap_or(usize::MAX) })
}

/// Links from a page of a list to its neighbours; keeps the rest of the query.
pub fn turns<T>(visit: &Visit, path: &str, names: &[&str], found: &KeysetPage<T>) -> Pager {
    let link =
        |way: &str, mark: Mark| with_query(path, &[query(visit, names), format!("{way}={mark}")]);
    let shown = match found.rows.len() {
        0 => String::new(),
        1 => "1 row".to_owned(),
        count => format!("{count} rows"),
    };
    Pager {
        previous: found.previous.map(|mark| link("before", mark)),
        next: found.next.map(|mark| link("after", mark)),
        shown,
    }
}

/// On a page beyond the newest rows, the link to these.
pub fn latest(visit: &Visit, path: &str, names: &[&str]) -> Option<(String, String)> {
    visit.query().given("after").or(visit.query().given("before"))?;
    Some((with_query(path, &[query(visit, names)]), "Back to the latest".to_owned()))
}

fn with_query(path: &str, parts: &[String]) -> String {
    let given: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    if given.is_empty() { path.to_owned() } else { format!("{path}?{}", given.join("&")) }
}

/// The given fields of the query, as entered.
pub fn query(visit: &Visit, names: &[&str]) -> String {
    let pair =
        |name: &&str| visit.query().given(name).map(|value| format!("{name}={}", encoded(value)));
    names.iter().filter_map(pair).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_names_become_words() {
        assert_eq!(words("NON_TRUSTED_TRANSFER"), "non trusted transfer");
    }

    fn retry(fields: &str, field: Option<&'static str>, words: &str) -> Retry {
        Retry::sample("/change", Form::of(fields), field, words)
    }

    fn form() -> FormView {
        FormView::new("change", "Change", "/change".to_owned(), "Propose")
            .field(Field::hidden("seen", 7))
            .field(Field::whole("premium", "Service fee").holding(25))
            .field(Field::line("to", "Address"))
            .why()
    }

    #[test]
    fn a_refused_form_keeps_what_was_typed_and_names_the_wrong_field() {
        for (field, words, at) in [
            (Some("why"), "Please enter a reason.", "change-why"),
            (Some("to"), "Invalid.", "change-to"),
            (None, "Service fee: enter basis points.", "change-premium"),
            (None, "premium: enter basis points.; to: enter an address.", "change-premium"),
            (None, "The wallet is blocked.", "change"),
            (Some("elsewhere"), "Invalid.", "change"),
        ] {
            let retry = retry("seen=7&premium=99999&to=0x1&why=+because+", field, words);
            let mut form = form();
            form.keep(&retry);
            let values: Vec<&str> = form.fields.iter().map(|field| field.value.as_str()).collect();
            assert_eq!((values, form.reason.as_str()), (vec!["7", "99999", "0x1"], "because"));
            assert_eq!(form.fault_at().and_then(|fault| fault.at).as_deref(), Some(at), "{words}");
        }
    }

    #[test]
    fn the_refused_form_is_found_by_its_action_and_its_hidden_fields() {
        let kept = |seen: i64, forms: Vec<FormView>| {
            let retry = retry(&format!("seen={seen}&why=x"), None, "no");
            let mut sections = [Section { forms, ..Section::default() }];
            keep(&mut sections, &retry);
            let [Section { forms, .. }] = sections;
            forms.iter().map(|form| form.fault.is_some()).collect::<Vec<_>>()
        };
        let with = |seen: i64| {
            let mut form = form();
            form.fields[0] = Field::hidden("seen", seen);
            form
        };
        let other = FormView { action: "/other".to_owned(), ..form() };
        assert_eq!(kept(7, vec![other.clone()]), [false]);
        assert_eq!(kept(8, vec![other, with(7)]), [false, true], "the only one of its action");
        assert_eq!(kept(8, vec![with(7), with(8)]), [false, true]);
        assert_eq!(kept(9, vec![with(7), with(8)]), [false, false]);
    }

    #[test]
    fn no_filter_of_a_list_is_required() {
        let fields = vec![Field::choice("status", "Status", &[("", "all")]), Field::line("x", "X")];
        assert!(FormView::filters(fields).fields.iter().all(|field| field.optional));
    }

    #[test]
    fn refused_filters_keep_what_was_typed() {
        let typed = Form::of("least=abc&account=12");
        let retry = Retry::sample("", typed, Some("least"), "Enter an amount.");
        let fields =
            vec![Field::line("least", "Amount at least"), Field::line("account", "Account")];
        let filters = Some(FormView::filters(fields));
        let mut sections = [Section { filters, forms: vec![form()], ..Section::default() }];
        keep(&mut sections, &retry);
        let [Section { filters, forms, .. }] = sections;
        let filters = filters.expect("filters");
        let values: Vec<&str> = filters.fields.iter().map(|field| field.value.as_str()).collect();
        assert_eq!(
            (values, filters.fault_of("least")),
            (vec!["abc", "12"], Some("Enter an amount."))
        );
        assert!(forms[0].fault.is_none(), "another form of the page");
    }

    #[test]
    fn ages_have_two_units() {
        for (seconds, told) in [
            (59, "0 min"),
            (61, "1 min"),
            (3_720, "1 h 2 min"),
            (180_000, "2 d 2 h"),
            (-5, "0 min"),
        ] {
            assert_eq!(age(Timestamp(0), Timestamp(seconds * 1_000_000)), told);
        }
    }
}
