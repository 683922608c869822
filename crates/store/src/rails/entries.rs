//! Open comparisons: entries with their attempts, attempts without entries, balances of statements.

use std::collections::{BTreeMap, HashMap};

use domain::attempt::Attempt;
use domain::bank_statement::{Booking, StatementSheet};
use domain::currency::Currency;
use domain::ids::{AttemptId, TenantId};
use domain::money::Money;
use domain::rail::RailId;
use domain::time::Timestamp;
use uuid::Uuid as Id;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::Keys;
use crate::rows::column::{Get, Put as _, Raw};
use crate::sql::Kind::Uuid;
use crate::sql::{Columns, Fields, Stmt, tables};
use crate::store::Store;

static OPEN_ATTEMPTS: Stmt = Stmt::written(
    "rail.open_attempts",
    "SELECT DISTINCT e.attempt FROM rail_entry e WHERE e.is_open = 1 AND e.attempt > $1 ORDER BY e.attempt LIMIT $2",
);
static OPEN_UNKNOWN: Stmt = Stmt::written(
    "rail.open_unknown",
    "SELECT {{rail_entry e}} FROM rail_entry e WHERE e.is_open = 1 AND e.attempt IS NULL \
     ORDER BY e.rail, e.statement, e.page, e.number LIMIT $1",
);
static BY_ATTEMPT: Stmt = Stmt::by_keys(
    "rail.entries_of",
    &[("attempt", Uuid)],
    "SELECT {{rail_entry e}} FROM {{keys}} JOIN rail_entry e ON e.attempt = k.attempt",
);
static ATTEMPTS: Stmt = Stmt::by_keys(
    "rail.attempts",
    &[("id", Uuid)],
    "SELECT {{attempt a}} FROM {{keys}} JOIN attempt a ON a.id = k.id",
);
static COVERED: Stmt = Stmt::written(
    "rail.covered",
    "SELECT s.rail, s.currency, MIN(COALESCE(s.from_at, s.to_at)), MAX(CASE WHEN s.is_last = 1 THEN s.to_at END) \
     FROM rail_statement s GROUP BY s.rail, s.currency",
);
// Both read all attempts of the tenant: with the state in an index, each change of it would insert
// into every index.
static UNBOOKED: Stmt = Stmt::written(
    "rail.unbooked",
    "SELECT {{attempt a}} FROM attempt a WHERE a.tenant = $1 AND a.rail = $2 AND a.currency = $3 \
     AND a.state = 'settled' AND a.state_at >= $4 AND a.state_at <= $5 \
     AND NOT EXISTS (SELECT 1 FROM rail_entry e WHERE e.attempt = a.id) ORDER BY a.id LIMIT $6",
);
static UNRETURNED: Stmt = Stmt::written(
    "rail.unreturned",
    "SELECT {{attempt a}} FROM attempt a WHERE a.tenant = $1 AND a.rail = $2 AND a.currency = $3 \
     AND a.state = 'returned' AND a.state_at >= $4 AND a.state_at <= $5 \
     AND EXISTS (SELECT 1 FROM rail_entry d WHERE d.attempt = a.id AND d.is_credit = 0) \
     AND NOT EXISTS (SELECT 1 FROM rail_entry c WHERE c.attempt = a.id AND c.is_credit = 1) ORDER BY a.id LIMIT $6",
);
static OPEN_SHEETS: Stmt = Stmt::written(
    "rail.open_sheets",
    "SELECT {{rail_statement s}} FROM rail_statement s JOIN (SELECT DISTINCT o.rail AS rail, o.statement AS statement \
     FROM rail_statement o WHERE o.is_open = 1) o ON o.rail = s.rail AND o.statement = s.statement \
     ORDER BY s.to_at, s.rail, s.statement, s.page",
);
// Several statements may end at one time, as those of a day whose periods are dates: the one that the opening balance
// continues is the predecessor, the statement's own day included.
static CLOSED_BEFORE: Stmt = Stmt::written(
    "rail.closed_before",
    "SELECT s.closing FROM rail_statement s WHERE s.rail = $1 AND s.account = $2 AND s.currency = $3 \
     AND s.closing IS NOT NULL AND s.statement <> $5 AND ((s.to_at = $4 AND s.closing = $6) OR s.to_at = \
     (SELECT MAX(e.to_at) FROM rail_statement e WHERE e.rail = $1 AND e.account = $2 AND e.currency = $3 \
     AND e.to_at < $4 AND e.closing IS NOT NULL)) \
     ORDER BY CASE WHEN s.closing = $6 THEN 0 ELSE 1 END, s.statement DESC LIMIT 1",
);
static CLOSE_ENTRIES: Stmt = Stmt::update("rail.close_entries", &tables::RAIL_ENTRY);
static CLOSE_SHEET: Stmt = Stmt::written(
    "rail.close_sheet",
    "UPDATE rail_statement SET is_open = 0 WHERE rail = $1 AND statement = $2",
);
static NEWEST: Stmt = Stmt::written(
    "rail.newest_statements",
    "SELECT {{rail_statement s}} FROM rail_statement s ORDER BY s.to_at DESC, s.rail, s.statement, s.page LIMIT $1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &OPEN_ATTEMPTS,
    &OPEN_UNKNOWN,
    &BY_ATTEMPT,
    &ATTEMPTS,
    &COVERED,
    &UNBOOKED,
    &UNRETURNED,
    &OPEN_SHEETS,
    &CLOSED_BEFORE,
    &CLOSE_ENTRIES,
    &CLOSE_SHEET,
    &NEWEST,
];

/// The position of an entry: rail, statement, page and number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryPlace {
    pub rail: RailId,
    /// The bank's id of the statement.
    pub statement: String,
    pub page: i64,
    /// The number on the page.
    pub number: i64,
}

/// An entry of a bank statement, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailEntry {
    pub place: EntryPlace,
    pub booking: Booking,
    /// The bank's reference; `None` if it states none.
    pub reference: Option<String>,
    /// When it was booked, in the bank's format.
    pub booked: String,
    /// When it was read.
    pub read_at: Timestamp,
    /// Whether it is yet to be compared, or did not match.
    pub is_open: bool,
}

/// An attempt with all its bank entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptBookings {
    /// The attempt in its current state.
    pub attempt: Attempt,
    /// Its entries, in order of reading.
    pub entries: Vec<RailEntry>,
}

/// The period that a rail's statements cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    pub rail: RailId,
    pub currency: Currency,
    /// Start of the first statement.
    pub from: Timestamp,
    /// End of the last statement.
    pub to: Timestamp,
}

/// Kinds of entries that an attempt can lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// Paid, without any entry.
    Payout,
    /// Returned, with the payout's entry alone.
    Return,
}

impl Store {
    /// Attempts with an entry that is yet to be compared, after `after`, each with all its entries.
    pub async fn open_bookings(
        &self,
        after: Option<AttemptId>,
        limit: usize,
    ) -> Result<Vec<AttemptBookings>, StoreError> {
        let keys = self.id_keys().await?;
        let after = Raw(after.map_or(Id::nil(), |after| keys.stored(after.0)));
        let wanted: Vec<AttemptId> = self.many(&OPEN_ATTEMPTS, (after, most(limit))).await?;
        let mut entries: HashMap<AttemptId, Vec<RailEntry>> = HashMap::new();
        let rows: Vec<(Option<AttemptId>, RailEntry)> =
            self.many_by(&BY_ATTEMPT, wanted.iter().copied()).await?;
        for (attempt, entry) in rows {
            let attempt = attempt
                .ok_or_else(|| StoreError::Corrupt("an entry's attempt is missing".to_owned()))?;
            entries.entry(attempt).or_default().push(entry);
        }
        let mut found = BTreeMap::new();
        let attempts: Vec<Attempt> = self.many_by(&ATTEMPTS, wanted.iter().copied()).await?;
        for attempt in attempts {
            let mut entries = entries.remove(&attempt.id).unwrap_or_default();
            entries.sort_by(|one, other| {
                (one.read_at, &one.place).cmp(&(other.read_at, &other.place))
            });
            found.insert(keys.stored(attempt.id.0), AttemptBookings { attempt, entries });
        }
        // In the order of the mark, so that the next page starts after the last one.
        Ok(found.into_values().collect())
    }

    /// Unmatched entries that were not reported yet.
    pub async fn unknown_entries(&self, limit: usize) -> Result<Vec<RailEntry>, StoreError> {
        let entries: Vec<(Option<AttemptId>, RailEntry)> =
            self.many(&OPEN_UNKNOWN, most(limit)).await?;
        Ok(entries.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The period that the statements of each rail's accounts cover.
    pub async fn covered(&self) -> Result<Vec<Covered>, StoreError> {
        let covered: Vec<(RailId, Currency, Timestamp, Option<Timestamp>)> =
            self.many(&COVERED, ()).await?;
        let covered = covered.into_iter().filter_map(|(rail, currency, from, to)| {
            Some(Covered { rail, currency, from, to: to? })
        });
        Ok(covered.collect())
    }

    /// A tenant's attempts that lack an entry in the statements `covered`, settled or returned
    /// between their start and `until`.
    pub async fn unbooked(
        &self,
        tenant: TenantId,
        covered: &Covered,
        until: Timestamp,
        lacking: Lacking,
        limit: usize,
    ) -> Result<Vec<Attempt>, StoreError> {
        let params = (tenant, &covered.rail, covered.currency, covered.from, until, most(limit));
        let stmt = match lacking {
            Lacking::Payout => &UNBOOKED,
            Lacking::Return => &UNRETURNED,
        };
        self.many(stmt, params).await
    }

    /// Statements whose balances are yet to be compared, oldest first, each with the closing
    /// balance of its predecessor.
    pub async fn open_sheets(&self) -> Result<Vec<(StatementSheet, Option<i64>)>, StoreError> {
        let sheets = sheets(self.many(&OPEN_SHEETS, ()).await?);
        let mut found = Vec::with_capacity(sheets.len());
        for sheet in sheets {
            let of = (&sheet.rail, &sheet.account, sheet.currency, sheet.to);
            let before = self.one(&CLOSED_BEFORE, (of, &sheet.id, sheet.opening)).await?;
            found.push((sheet, before));
        }
        Ok(found)
    }

    /// The latest statements of all rails.
    pub async fn newest_statements(&self, limit: usize) -> Result<Vec<StatementSheet>, StoreError> {
        let mut found = sheets(self.many(&NEWEST, most(limit)).await?);
        found.sort_by(|one, other| {
            (other.to, &one.rail, &one.id).cmp(&(one.to, &other.rail, &other.id))
        });
        Ok(found)
    }

    /// Marks entries as matched: they are not compared again until more is booked about their
    /// attempts.
    pub async fn close_entries(&self, places: &[EntryPlace]) -> Result<(), StoreError> {
        if places.is_empty() {
            return Ok(());
        }
        self.write(vec![close_entries(places, &*self.id_keys().await?)?]).await.map(drop)
    }

    /// Marks a statement as consistent with its entries and its predecessor.
    pub async fn close_sheet(&self, sheet: &StatementSheet) -> Result<(), StoreError> {
        let params = vec![(&*sheet.rail.0).into(), sheet.id.as_str().into()];
        self.write(vec![Step::any(&CLOSE_SHEET, params)]).await.map(drop)
    }
}

pub(super) fn close_entries(places: &[EntryPlace], keys: &Keys) -> Result<Step, StoreError> {
    let mut columns = Columns::new(tables::RAIL_ENTRY.update_columns(), places.len());
    for it in places {
        (&it.rail, &it.statement, it.page, it.number, false).put(keys, &mut columns)?;
    }
    Ok(Step::rows(&CLOSE_ENTRIES, columns.into_owned()))
}

/// Assembles statements from their pages; a statement's position is that of its first page.
fn sheets(pages: Vec<Page>) -> Vec<StatementSheet> {
    let mut found: Vec<StatementSheet> = Vec::new();
    for Page(number, is_last, page) in pages {
        let last_page = is_last.then_some(number);
        match found.iter_mut().find(|it| (&it.rail, &it.id) == (&page.rail, &page.id)) {
            Some(sheet) => {
                sheet.pages += 1;
                sheet.turnover = sheet.turnover.saturating_add(page.turnover);
                sheet.opening = sheet.opening.or(page.opening);
                sheet.closing = sheet.closing.or(page.closing);
                sheet.last_page = sheet.last_page.or(last_page);
                sheet.read_at = sheet.read_at.min(page.read_at);
            }
            None => found.push(StatementSheet { last_page, ..page }),
        }
    }
    found
}

/// A page of a statement, with its number and whether it is the last.
struct Page(i64, bool, StatementSheet);

impl Get for Page {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Page, StoreError> {
        let (rail, id, number, is_last, account, currency) = Get::get(fields, keys)?;
        fields.skip(1);
        let (to, opening, closing, turnover) = Get::get(fields, keys)?;
        fields.skip(3);
        let sheet = StatementSheet {
            rail,
            id,
            account,
            currency,
            to,
            opening,
            closing,
            turnover,
            pages: 1,
            last_page: None,
            read_at: Get::get(fields, keys)?,
        };
        Ok(Page(number, is_last, sheet))
    }
}

impl Get for (Option<AttemptId>, RailEntry) {
    fn get(
        fields: &mut Fields<'_>,
        keys: &Keys,
    ) -> Result<(Option<AttemptId>, RailEntry), StoreError> {
        let (rail, statement, page, number) = Get::get(fields, keys)?;
        fields.skip(1);
        let (attempt, is_credit) = Get::get(fields, keys)?;
        fields.skip(1);
        let (minor, currency, charges) = Get::get(fields, keys)?;
        let (reference, booked, read_at, is_open) = Get::get(fields, keys)?;
        let place = EntryPlace { rail, statement, page, number };
        let booking = Booking { is_credit, amount: Money::new(minor, currency), charges };
        Ok((attempt, RailEntry { place, booking, reference, booked, read_at, is_open }))
    }
}
