//! What lists have in common: views and filters as links, the choice of columns, a period of days.
//! All of it stands in the address, so that it can be shared and kept as a bookmark.

use domain::time::{Span, Timestamp};

use crate::view::{Field, FormView, query, words};
use crate::{Stop, Table, Visit};

/// The query's field with the hidden columns of a list, as their indexes: `3-5`.
pub const HIDDEN: &str = "hide";

/// The hidden columns of a list.
pub fn hidden(visit: &Visit) -> Vec<usize> {
    visit.query().text(HIDDEN).split('-').filter_map(|text| text.parse().ok()).collect()
}

/// Lets the user hide columns of a list; keeps the given fields of the query.
pub fn with_columns(visit: &Visit, path: &str, names: &[&str], table: Table) -> Table {
    let asked = query(visit, names);
    let address = |columns: &[usize]| {
        let columns: Vec<String> = columns.iter().map(usize::to_string).collect();
        format!("{path}?{asked}&{HIDDEN}={}", columns.join("-"))
    };
    table.choosable(&hidden(visit), address)
}

/// The filters in use, by name and label, each with the list's address without it.
pub fn chips(visit: &Visit, path: &str, filters: &[(&str, &str)]) -> Vec<(String, String)> {
    let chip = |(name, label): &(&str, &str)| {
        let value = visit.query().given(name)?;
        let others = filters.iter().map(|(other, _)| *other).filter(|other| other != name);
        let others: Vec<&str> = others.chain([HIDDEN]).collect();
        Some((format!("{path}?{}", query(visit, &others)), format!("{label}: {}", words(value))))
    };
    filters.iter().filter_map(chip).collect()
}

/// Views of a list: names and queries. The current one has the query's filters and no others.
pub fn views(
    visit: &Visit,
    path: &str,
    filters: &[&str],
    views: &[(&'static str, &str)],
) -> Vec<(String, &'static str, bool)> {
    let asked = query(visit, filters);
    let view = |(name, filter): &(&'static str, &str)| {
        let hidden = query(visit, &[HIDDEN]);
        let parts = [*filter, &hidden].into_iter().filter(|part| !part.is_empty());
        let address = format!("{path}?{}", parts.collect::<Vec<_>>().join("&"));
        (address, *name, asked == *filter)
    };
    views.iter().map(view).collect()
}

/// The folded filters of a list by state and by day.
pub fn dated_filters(visit: &Visit, state: Field, from: &'static str) -> FormView {
    let fields = vec![state.or_all(), Field::day("from", from), Field::day("to", "to")];
    let mut fields: Vec<Field> =
        fields.into_iter().map(|field| field.as_asked(visit.query())).collect();
    fields.push(Field::hidden(HIDDEN, visit.query().text(HIDDEN)));
    FormView { title: "Filter".to_owned(), ..FormView::filters(fields) }
}

/// The period in the query's days `from` and `to`, both included.
///
/// # Errors
/// [`Stop::Wrong`]: not a day.
pub fn period(visit: &Visit) -> Result<(Option<Timestamp>, Option<Timestamp>), Stop> {
    let read = |name, label: &str| {
        let wrong = || Stop::wrong(name, format!("{label}: enter a day such as 2026-11-22."));
        let text = visit.query().given(name);
        text.map(|text| day_of(text).ok_or_else(wrong)).transpose()
    };
    Ok((read("from", "From")?, read("to", "To")?.map(|day| day + Span::days(1))))
}

/// The start of a day in UTC such as `2026-11-22`.
pub fn day_of(text: &str) -> Option<Timestamp> {
    let start = format!("{text}T00:00:00Z").parse::<jiff::Timestamp>().ok()?;
    Some(Timestamp(start.as_microsecond()))
}
/// What an empty list says: `whole` if it was asked for without any of these filters, else `part`.
pub fn none(
    visit: &Visit,
    whole: &'static str,
    part: &'static str,
    filters: &[&str],
) -> &'static str {
    let filters = filters.iter().filter(|name| **name != HIDDEN);
    let asked = filters.chain(&["before", "after"]).any(|name| visit.query().given(name).is_some());
    if asked { part } else { whole }
}
