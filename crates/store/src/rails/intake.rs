//! Ingests the pages of bank statements: each page once.

use domain::bank_statement::{BankStatement, Booking, StatementEntry};
use domain::ids::{AttemptId, TenantId};
use domain::rail::RailId;
use domain::rail_ids::{Candidate, Candidates};
use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::{Keys, wide};
use crate::sql::{Columns, Stmt, rail_tables};
use crate::store::Store;

static KNOWN: Stmt = Stmt::written(
    "rail.known_page",
    "SELECT s.digest FROM rail_statement s WHERE s.rail = $1 AND s.statement = $2 AND s.page = $3",
);
static INSERT_PAGE: Stmt = Stmt::insert("rail.insert_page", &rail_tables::RAIL_STATEMENT);
static INSERT_ENTRIES: Stmt = Stmt::insert("rail.insert_entries", &rail_tables::RAIL_ENTRY);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KNOWN, &INSERT_PAGE, &INSERT_ENTRIES];

/// The result of storing a statement's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTaken {
    /// The page is stored now.
    New,
    /// It was stored before, with identical content.
    Known,
    /// Different content is stored under its id; this one is discarded.
    Other,
}

impl Store {
    /// Stores a statement's page with its entries, each with the attempt over this rail that it
    /// matches.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn keep_statement(
        &self,
        rail: &RailId,
        page: &BankStatement,
        now: Timestamp,
    ) -> Result<PageTaken, StoreError> {
        if let Some(known) = self.known_page(rail, page).await? {
            return Ok(known);
        }
        let keys = self.id_keys().await?;
        let candidates =
            self.rail_candidates(rail, page.entries.iter().map(|entry| &entry.ids)).await?;
        let mut pages = Columns::new(rail_tables::RAIL_STATEMENT.row_columns(), 1);
        write_page(rail, page, now, &mut pages)?;
        let mut entries = Columns::new(rail_tables::RAIL_ENTRY.row_columns(), page.entries.len());
        let mut number = 0;
        for entry in &page.entries {
            for (owner, booking) in owners(entry, &candidates) {
                number += 1;
                let owner = owner.map(|it| (it.tenant, it.attempt));
                write_entry(
                    (rail, page, number),
                    entry,
                    (owner, booking),
                    (now, &keys),
                    &mut entries,
                );
            }
        }
        let mut steps = vec![Step::rows(&INSERT_PAGE, pages)];
        if entries.len() > 0 {
            steps.push(Step::rows(&INSERT_ENTRIES, entries));
        }
        match self.write(steps).await {
            Ok(_) => Ok(PageTaken::New),
            // Another node has just stored it.
            Err(conflict @ StoreError::Conflict(_)) => {
                self.known_page(rail, page).await?.ok_or(conflict)
            }
            Err(error) => Err(error),
        }
    }

    async fn known_page(
        &self,
        rail: &RailId,
        page: &BankStatement,
    ) -> Result<Option<PageTaken>, StoreError> {
        let params = vec![(&*rail.0).into(), page.id.as_str().into(), page.page.into()];
        let rows = self.query(&KNOWN, params).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let same = row.fields().uuid()? == page.digest;
        Ok(Some(if same { PageTaken::Known } else { PageTaken::Other }))
    }
}

/// The attempts that an entry matches, each with its booking: none if its ids are unknown or
/// contradictory, or if it books a whole message and differs from its sum.
fn owners<'a>(
    entry: &StatementEntry,
    candidates: &'a Candidates,
) -> Vec<(Option<&'a Candidate>, Booking)> {
    let charges = entry.charges.filter(|charges| charges.currency == entry.amount.currency);
    let charges = charges.map_or(0, |charges| charges.minor);
    let booking = Booking { is_credit: entry.is_credit, amount: entry.amount, charges };
    let found = match entry.batch {
        Some(count) => candidates.booked(&entry.ids, entry.amount, count),
        None => candidates.find(&entry.ids, Some(entry.amount)).map(|it| vec![it]),
    };
    match found {
        Ok(found) if entry.batch.is_some() => found
            .into_iter()
            .map(|it| (Some(it), Booking { amount: it.amount, charges: 0, ..booking }))
            .collect(),
        Ok(found) if !found.is_empty() => found.into_iter().map(|it| (Some(it), booking)).collect(),
        Ok(_) | Err(_) => vec![(None, booking)],
    }
}

fn write_page(
    rail: &RailId,
    page: &BankStatement,
    now: Timestamp,
    out: &mut Columns<'static>,
) -> Result<(), StoreError> {
    out.text(rail.0.to_string()).text(page.id.clone()).int(page.page).int(page.is_last.into());
    out.text(page.account.clone())
        .text(page.currency.code())
        .opt_int(page.from.map(|at| at.0))
        .int(page.to.0);
    out.opt_int(page.opening).opt_int(page.closing).int(page.turnover);
    out.int(wide(u64::try_from(page.entries.len()).unwrap_or(u64::MAX), "entries")?);
    out.uuid(page.digest).text(page.source.clone()).int(now.0).int(1);
    Ok(())
}

fn write_entry(
    (rail, page, number): (&RailId, &BankStatement, i64),
    entry: &StatementEntry,
    (owner, booking): (Option<(TenantId, AttemptId)>, Booking),
    (now, keys): (Timestamp, &Keys),
    out: &mut Columns<'static>,
) {
    let is_own = entry.is_own && owner.is_none();
    out.text(rail.0.to_string()).text(page.id.clone()).int(page.page).int(number);
    out.opt_uuid(owner.map(|(tenant, _)| tenant.0))
        .opt_uuid(owner.map(|(_, attempt)| keys.stored(attempt.0)));
    out.int(entry.is_credit.into()).int(is_own.into());
    out.int(booking.amount.minor).text(booking.amount.currency.code()).int(booking.charges);
    out.opt_text(entry.reference.clone())
        .text(entry.booked.clone())
        .int(now.0)
        .int((!is_own).into());
}
