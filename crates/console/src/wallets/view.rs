//! The one shape of the wallet side's pages: sections of facts, cards side by side, tables and forms. One template writes
//! them all, so that every page keeps the same order and the same labels.

use askama::Template;
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::time::Timestamp;
use engine::wallets::Page;

use crate::{Answer, Cell, Form, Frame, Pager, Stop, Table, Visit, encoded, html};

/// Rows of a page of a list.
pub const ROWS: u32 = 50;
/// The last page that is read: what is further back is found by filters.
const PAGE_MAX: u32 = 2_000;

/// A page.
#[derive(Template)]
#[template(path = "console/wallets/page.html")]
struct SectionsPage {
    frame: Frame,
    sections: Vec<Section>,
}

/// Writes a page of sections.
pub fn page(visit: &Visit, title: &str, sections: Vec<Section>) -> Answer {
    html(&SectionsPage { frame: visit.frame(title), sections })
}

/// A part of a page with a title of its own.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its title; "" = it belongs to the page's own.
    pub title: String,
    /// What is said before everything else.
    pub says: Vec<String>,
    /// Links to what belongs to it: address and words.
    pub links: Vec<(String, String)>,
    /// Names and what they stand for.
    pub facts: Vec<(&'static str, Cell)>,
    /// Facts side by side.
    pub cards: Vec<Card>,
    /// What narrows the list.
    pub filters: Option<FormView>,
    /// A list.
    pub table: Option<Table>,
    /// Text exactly as it is, with what it is.
    pub exact: Vec<(String, String)>,
    /// What can be done.
    pub forms: Vec<FormView>,
}

/// Facts beside others.
#[derive(Clone, Debug)]
pub struct Card {
    /// Its title.
    pub title: String,
    /// Names and what they stand for.
    pub facts: Vec<(&'static str, Cell)>,
}

/// A form.
#[derive(Clone, Debug)]
pub struct FormView {
    /// Unique on the page: its fields' ids begin with it.
    pub id: &'static str,
    /// What it is for.
    pub title: String,
    /// What sending it means.
    pub says: String,
    /// Where it is sent; filters ask the page itself.
    pub action: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Whether it asks why.
    pub why: bool,
    /// The button's words.
    pub button: &'static str,
    /// Whether it cannot be undone easily.
    pub danger: bool,
}

impl FormView {
    /// A form without fields that is posted to `action`.
    pub fn new(id: &'static str, title: impl Into<String>, action: String, button: &'static str) -> FormView {
        let (title, says) = (title.into(), String::new());
        FormView { id, title, says, action, fields: Vec::new(), why: false, button, danger: false }
    }

    /// What narrows a list.
    pub fn filters(fields: Vec<Field>) -> FormView {
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
    pub fn danger(self) -> FormView {
        FormView { danger: true, ..self }
    }
}

/// A field of a form.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name that it is sent under.
    pub name: &'static str,
    /// Its words.
    pub label: &'static str,
    /// What stands in it.
    pub value: String,
    /// How it is filled in.
    pub kind: FieldKind,
    /// Whether it may be left empty.
    pub optional: bool,
}

/// How a field is filled in.
#[derive(Clone, Debug)]
pub enum FieldKind {
    /// A line of text.
    Line,
    /// A number of whole things.
    Whole,
    /// A day.
    Day,
    /// One of some: value and words.
    OneOf(Vec<(String, String)>),
    /// Not shown.
    Hidden,
}

impl Field {
    fn of(kind: FieldKind, name: &'static str, label: &'static str) -> Field {
        Field { name, label, value: String::new(), kind, optional: false }
    }

    pub fn line(name: &'static str, label: &'static str) -> Field {
        Field::of(FieldKind::Line, name, label)
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

    /// One of these, which are their own words in lower case.
    pub fn one_of(name: &'static str, label: &'static str, names: impl IntoIterator<Item = &'static str>) -> Field {
        let options = names.into_iter().map(|name| (name.to_owned(), words(name)));
        Field::of(FieldKind::OneOf(options.collect()), name, label)
    }

    /// One of these: value and words.
    pub fn choice(name: &'static str, label: &'static str, options: &[(&str, &str)]) -> Field {
        let options = options.iter().map(|(value, words)| ((*value).to_owned(), (*words).to_owned()));
        Field::of(FieldKind::OneOf(options.collect()), name, label)
    }

    /// With "all" in front of what it can be.
    #[must_use]
    pub fn or_all(mut self) -> Field {
        if let FieldKind::OneOf(options) = &mut self.kind {
            options.insert(0, (String::new(), "all".to_owned()));
        }
        self.optional()
    }

    #[must_use]
    pub fn optional(self) -> Field {
        Field { optional: true, ..self }
    }

    #[must_use]
    pub fn holding(self, value: impl ToString) -> Field {
        Field { value: value.to_string(), ..self }
    }

    /// With what the query asked for in it.
    #[expect(clippy::wrong_self_convention, reason = "it is part of the field's building")]
    #[must_use]
    pub fn as_asked(self, query: &Form) -> Field {
        let value = query.text(self.name).to_owned();
        Field { value, ..self }
    }
}

/// A constant's name as words: `NON_TRUSTED_TRANSFER` is "non trusted transfer".
pub fn words(name: &str) -> String {
    name.replace('_', " ").to_lowercase()
}

/// An amount of a coin with its name.
pub fn coins(minor: i64, coin: StableCoin) -> Cell {
    Cell::Number(format!("{} {}", coin_amount::show(minor), coin.currency().code()))
}

/// How long ago, in the two greatest units.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let minutes = ((now - since).0 / 60_000_000).max(0);
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// An instant, or nothing.
pub fn instant(at: Option<Timestamp>) -> Cell {
    at.map_or(Cell::Empty, Cell::When)
}

/// Reads one of the wanted names of the query; nothing where none is asked for.
///
/// # Errors
/// [`Stop::Invalid`]: it is none of them.
pub fn asked<T>(visit: &Visit, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Stop> {
    let read = |text: &str| parse(text).ok_or_else(|| Stop::Invalid(format!("There is no {name} of that name.")));
    Ok(visit.query().given(name).map(read).transpose()?.into_iter().collect())
}

/// The page of a list that the query asks for, from 1 on.
pub fn sheet_number(visit: &Visit) -> u32 {
    visit.query().text("page").parse().unwrap_or(1).clamp(1, PAGE_MAX)
}

/// The same as reads take it.
pub fn sheet(visit: &Visit) -> Page {
    Page { page: sheet_number(visit) - 1, limit: ROWS }
}

/// Links to the neighbours of a page of a list whose rows nobody has counted; the words of the query stay.
pub fn pager(visit: &Visit, path: &str, names: &[&str], rows: usize, more: bool) -> Pager {
    let number = sheet_number(visit);
    let asked = query(visit, names);
    let link = |page: u32| format!("{path}?{asked}{}page={page}", if asked.is_empty() { "" } else { "&" });
    let first = u64::from(number - 1) * u64::from(ROWS);
    let rows = u64::try_from(rows).unwrap_or(0);
    Pager {
        previous: (number > 1).then(|| link(number - 1)),
        next: (more && number < PAGE_MAX).then(|| link(number + 1)),
        shown: if rows == 0 { String::new() } else { format!("{}–{}", first + 1, first + rows) },
    }
}

/// These words of the query as they were asked.
pub fn query(visit: &Visit, names: &[&str]) -> String {
    let pair = |name: &&str| visit.query().given(name).map(|value| format!("{name}={}", encoded(value)));
    names.iter().filter_map(pair).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kinds_are_read_as_words() {
        assert_eq!(words("NON_TRUSTED_TRANSFER"), "non trusted transfer");
    }

    #[test]
    fn ages_are_told_in_two_units() {
        for (seconds, told) in [(59, "0 min"), (61, "1 min"), (3_720, "1 h 2 min"), (180_000, "2 d 2 h"), (-5, "0 min")]
        {
            assert_eq!(age(Timestamp(0), Timestamp(seconds * 1_000_000)), told);
        }
    }
}
