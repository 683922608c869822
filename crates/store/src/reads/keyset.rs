//! Pages of lists that are turned both ways from a row: what is added or removed in the meantime
//! shifts none, and no page costs more than the first.

use std::cmp::Reverse;
use std::fmt;

use domain::time::Timestamp;
use uuid::Uuid;

use super::page::most;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Get;
use crate::sql::{Stmt, Value};
use crate::store::{Store, read};

/// The statements of a list, newest first, for the rows below a mark and for those above it.
macro_rules! both_ways {
    ($name:literal, $select:literal, $place:literal, $mark:literal, $down:literal, $up:literal, $limit:literal) => {
        [
            Stmt::written(
                $name,
                concat!(
                    $select,
                    " AND ",
                    $place,
                    " < ",
                    $mark,
                    " ORDER BY ",
                    $down,
                    " LIMIT ",
                    $limit
                ),
            ),
            Stmt::written(
                concat!($name, "_newer"),
                concat!(
                    $select,
                    " AND ",
                    $place,
                    " > ",
                    $mark,
                    " ORDER BY ",
                    $up,
                    " LIMIT ",
                    $limit
                ),
            ),
        ]
    };
}
pub(super) use both_ways;

/// The place of a row in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The time by which the list is ordered, if it is.
    pub at: Timestamp,
    /// Distinguishes rows of the same time: an id, or a number in a log.
    pub number: u128,
}

impl Mark {
    /// The mark of a record with an id.
    pub const fn of_id(at: Timestamp, id: Uuid) -> Mark {
        Mark { at, number: id.as_u128() }
    }

    /// Reads a mark as it is shown.
    pub fn parse(text: &str) -> Option<Mark> {
        let (at, number) = text.split_once('.')?;
        let number = u128::from_str_radix(number, 16).ok()?;
        Some(Mark { at: Timestamp(at.parse().ok()?), number })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:x}", self.at.0, self.number)
    }
}

/// The neighbour of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysetFrom {
    /// The page has the rows that follow this one: older ones.
    After(Mark),
    /// The page has the rows before this one.
    Before(Mark),
}

/// The neighbour of a page of a list that ids order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdFrom<I> {
    /// The page has the rows that follow this one in the list's order.
    After(I),
    /// The page has the rows before this one; it ends there.
    Before(I),
}

impl<I> IdFrom<I> {
    /// The same neighbour, named otherwise.
    pub fn map<J>(self, name: impl FnOnce(I) -> J) -> IdFrom<J> {
        match self {
            IdFrom::After(id) => IdFrom::After(name(id)),
            IdFrom::Before(id) => IdFrom::Before(name(id)),
        }
    }

    /// Whether the page is read against the list's order.
    pub(super) const fn is_backward(&self) -> bool {
        matches!(self, IdFrom::Before(_))
    }
}

/// Selects a page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeysetWanted {
    /// Where the page starts; `None` = at the newest row.
    pub from: Option<KeysetFrom>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// A page of a list, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysetPage<T> {
    pub rows: Vec<T>,
    /// The row before which the previous page ends; `None` = this is the first page.
    pub previous: Option<Mark>,
    /// The row after which the next page starts; `None` = this is the last page.
    pub next: Option<Mark>,
}

impl<T> KeysetPage<T> {
    /// A page of a short list that was read whole, newest first; `mark_of` tells a row's place.
    pub fn of_all(
        mut rows: Vec<T>,
        wanted: KeysetWanted,
        mark_of: impl Fn(&T) -> Mark,
    ) -> KeysetPage<T> {
        rows.sort_by_key(|row| Reverse(mark_of(row)));
        let (from, is_upward) = match wanted.from {
            None => (0, false),
            Some(KeysetFrom::After(mark)) => {
                (rows.partition_point(|row| mark_of(row) >= mark), false)
            }
            Some(KeysetFrom::Before(mark)) => {
                (rows.partition_point(|row| mark_of(row) > mark), true)
            }
        };
        let (from, until) = match is_upward {
            true => (from.saturating_sub(wanted.limit), from),
            false => (from, from.saturating_add(wanted.limit).min(rows.len())),
        };
        let mark = wanted.from.map(|(KeysetFrom::After(mark) | KeysetFrom::Before(mark))| mark);
        let is_last = until >= rows.len();
        let rows: Vec<T> = rows.drain(from..until).collect();
        let (first, last) = (rows.first().map(&mark_of), rows.last().map(&mark_of));
        KeysetPage {
            previous: first.or(mark).filter(|_| from > 0),
            next: last.or(mark).filter(|_| !is_last),
            rows,
        }
    }

    /// The same page of other rows.
    pub(super) fn with_rows<U>(self, rows: Vec<U>) -> KeysetPage<U> {
        KeysetPage { rows, previous: self.previous, next: self.next }
    }
}

/// How a list's marks are parameters.
#[derive(Clone, Copy)]
pub(super) enum Marked {
    Id,
    TimeAndId,
    /// The same in a list whose oldest row comes first.
    OldestTimeAndId,
    Number,
    TimeAndNumber,
}

impl Marked {
    fn params(self, mark: Option<Mark>, keys: &Keys) -> Vec<Value> {
        let at = Value::from(mark.map_or(i64::MAX, |mark| mark.at.0));
        let id = || match mark {
            Some(mark) => Value::from(keys.stored(Uuid::from_u128(mark.number))),
            None => Value::from(Uuid::max()),
        };
        let number = || {
            let number = mark.and_then(|mark| i64::try_from(mark.number).ok());
            Value::from(number.unwrap_or(i64::MAX))
        };
        match self {
            Marked::Id => vec![id()],
            Marked::TimeAndId => vec![at, id()],
            Marked::OldestTimeAndId if mark.is_none() => vec![i64::MIN.into(), Uuid::nil().into()],
            Marked::OldestTimeAndId => vec![at, id()],
            Marked::Number => vec![number()],
            Marked::TimeAndNumber => vec![at, number()],
        }
    }
}

impl Store {
    /// A page of a list, by its statements from `both_ways`; `mark_of` tells a row's place.
    pub(super) async fn keyset_page<T: Get>(
        &self,
        [older, newer]: &'static [Stmt; 2],
        mut params: Vec<Value>,
        wanted: KeysetWanted,
        (marked, mark_of): (Marked, impl Fn(&T) -> Mark),
    ) -> Result<KeysetPage<T>, StoreError> {
        let keys = self.id_keys().await?;
        let (stmt, mark) = match wanted.from {
            None => (older, None),
            Some(KeysetFrom::After(mark)) => (older, Some(mark)),
            Some(KeysetFrom::Before(mark)) => (newer, Some(mark)),
        };
        params.extend(marked.params(mark, &keys));
        // One row more than the page has tells whether there are further ones.
        params.push(most(wanted.limit.saturating_add(1)));
        let mut rows: Vec<T> = read(&self.query(stmt, params).await?, &keys)?;
        let more = rows.len() > wanted.limit;
        rows.truncate(wanted.limit);
        let is_upward = matches!(wanted.from, Some(KeysetFrom::Before(_)));
        if is_upward {
            rows.reverse();
        }
        let first = rows.first().map(&mark_of).or(mark);
        let last = rows.last().map(&mark_of).or(mark);
        Ok(KeysetPage {
            previous: first.filter(|_| if is_upward { more } else { mark.is_some() }),
            next: last.filter(|_| is_upward || more),
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_was_read_whole_is_turned_both_ways() {
        let mark = |row: &i64| Mark { at: Timestamp(*row), number: 0 };
        let page = |rows: &[i64], from| {
            KeysetPage::of_all(rows.to_vec(), KeysetWanted { from, limit: 2 }, mark)
        };
        let turn = |rows: &[i64], from| {
            let page = page(rows, from);
            let at = |mark: Option<Mark>| mark.map(|mark| mark.at.0);
            (page.rows, at(page.previous), at(page.next))
        };
        let after = |row| Some(KeysetFrom::After(mark(&row)));
        let before = |row| Some(KeysetFrom::Before(mark(&row)));
        let all = [3, 1, 5, 2, 4];
        assert_eq!(turn(&all, None), (vec![5, 4], None, Some(4)));
        assert_eq!(turn(&all, after(4)), (vec![3, 2], Some(3), Some(2)));
        assert_eq!(turn(&all, after(2)), (vec![1], Some(1), None));
        assert_eq!(turn(&all, before(3)), (vec![5, 4], None, Some(4)));
        assert_eq!(turn(&all, before(1)), (vec![3, 2], Some(3), Some(2)));
        // The row beside which the page lies has left, and others with it.
        assert_eq!(turn(&[1, 2, 3, 5], after(4)), (vec![3, 2], Some(3), Some(2)));
        assert_eq!(turn(&[5, 4], after(2)), (vec![], Some(2), None));
        assert_eq!(turn(&[2, 1], before(3)), (vec![], None, Some(3)));
        assert_eq!(turn(&[], None), (vec![], None, None));
    }

    #[test]
    fn a_mark_is_read_as_it_is_shown() {
        for mark in [
            Mark { at: Timestamp(-7), number: 0 },
            Mark::of_id(Timestamp(1_795_000_000_000_000), Uuid::max()),
        ] {
            assert_eq!(Mark::parse(&mark.to_string()), Some(mark));
        }
        for text in ["", ".", "1", "1.", "x.1", "1.g", "1.2.3"] {
            assert_eq!(Mark::parse(text), None, "{text:?}");
        }
    }
}
