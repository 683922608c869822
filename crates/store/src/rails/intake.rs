//! Ingests the pages of bank statements: each page once.

use domain::bank_statement::{BankStatement, Booking, StatementEntry};
use domain::money::Money;
use domain::rail::RailId;
use domain::rail_ids::{Candidate, Candidates};
use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::column::{Put as _, Raw};
use crate::sql::{Columns, Stmt, tables};
use crate::store::Store;

static KNOWN: Stmt = Stmt::written(
    "rail.known_page",
    "SELECT s.digest FROM rail_statement s WHERE s.rail = $1 AND s.statement = $2 AND s.page = $3",
);
static INSERT_PAGE: Stmt = Stmt::insert("rail.insert_page", &tables::RAIL_STATEMENT);
static INSERT_ENTRIES: Stmt = Stmt::insert("rail.insert_entries", &tables::RAIL_ENTRY);
static REOPEN_NEXT: Stmt = Stmt::written(
    "rail.reopen_next_sheet",
    "UPDATE rail_statement SET is_open = 1 WHERE rail = $1 AND account = $2 AND currency = $3 AND to_at = \
     (SELECT MIN(n.to_at) FROM rail_statement n WHERE n.rail = $1 AND n.account = $2 AND n.currency = $3 AND n.to_at > $4)",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KNOWN, &INSERT_PAGE, &INSERT_ENTRIES, &REOPEN_NEXT];

/// The result of storing a statement's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageTaken {
    /// The page is stored now.
    New,
    /// It was stored before, with identical content.
    Known,
    /// Different content is stored under its id; this one is discarded.
    Other,
    /// The database does not accept it for the stated reason, now and whenever it comes again;
    /// nothing is stored.
    Rejected(String),
}

impl Store {
    /// Stores a statement's page with its entries, each with the attempt over this rail that it
    /// matches.
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
        let mut pages = Columns::new(tables::RAIL_STATEMENT.row_columns(), 1);
        let balances = (page.opening, page.closing, page.turnover);
        let source = (page.entries.len(), Raw(page.digest), &page.source, now);
        ((rail, &page.id, page.page, page.is_last), (&page.account, page.currency))
            .put(&keys, &mut pages)?;
        (page.from, page.to, balances, source, true).put(&keys, &mut pages)?;
        let mut entries = Columns::new(tables::RAIL_ENTRY.row_columns(), page.entries.len());
        let mut number = 0_i64;
        for entry in &page.entries {
            for (owner, booking) in owners(entry, &candidates) {
                number += 1;
                let is_own = entry.is_own && owner.is_none();
                let attempt = (owner.map(|it| it.tenant), owner.map(|it| it.attempt));
                let Money { minor, currency } = booking.amount;
                (rail, &page.id, page.page, number).put(&keys, &mut entries)?;
                (attempt, entry.is_credit, is_own).put(&keys, &mut entries)?;
                (minor, currency, booking.charges).put(&keys, &mut entries)?;
                (&entry.reference, &entry.booked, now, !is_own).put(&keys, &mut entries)?;
            }
        }
        let mut steps = vec![Step::rows(&INSERT_PAGE, pages.into_owned())];
        if entries.len() > 0 {
            steps.push(Step::rows(&INSERT_ENTRIES, entries.into_owned()));
        }
        // One that was read before this one was compared with an earlier one.
        let (account, currency) = (page.account.as_str().into(), page.currency.code().into());
        let next = vec![(&*rail.0).into(), account, currency, page.to.0.into()];
        steps.push(Step::any(&REOPEN_NEXT, next));
        match self.write(steps).await {
            Ok(_) => Ok(PageTaken::New),
            // Another node has just stored it.
            Err(conflict @ StoreError::Conflict(_)) => {
                self.known_page(rail, page).await?.ok_or(conflict)
            }
            Err(StoreError::Rejected(why)) => Ok(PageTaken::Rejected(why)),
            Err(error) => Err(error),
        }
    }

    async fn known_page(
        &self,
        rail: &RailId,
        page: &BankStatement,
    ) -> Result<Option<PageTaken>, StoreError> {
        let digest: Option<Raw> = self.one(&KNOWN, (rail, &page.id, page.page)).await?;
        let taken =
            |digest| if digest == Raw(page.digest) { PageTaken::Known } else { PageTaken::Other };
        Ok(digest.map(taken))
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
    let (amount, named) = (entry.amount, entry.charges);
    let found = match entry.batch {
        Some(count) => candidates.booked(&entry.ids, amount, named, count),
        None => candidates.find_all(&entry.ids, Some(amount), named),
    };
    let of = |(it, share): (&'a Candidate, Option<Money>)| {
        let share = share.unwrap_or(amount);
        let charges = if share == it.amount { 0 } else { charges };
        (Some(it), Booking { amount: share, charges, ..booking })
    };
    match found {
        Ok(found) if found.len() > 1 || entry.batch.is_some() => {
            found.into_iter().map(of).collect()
        }
        Ok(found) if !found.is_empty() => {
            found.into_iter().map(|(it, _)| (Some(it), booking)).collect()
        }
        Ok(_) | Err(_) => vec![(None, booking)],
    }
}
