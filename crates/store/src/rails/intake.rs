//! Taking in the pages of a bank's statements: each page once, whoever brings it again.

use std::collections::{BTreeSet, HashMap};

use domain::bank_statement::{BankStatement, StatementEntry};
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::rail::RailId;
use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::{Keys, wide};
use crate::sql::Kind::{Text, Uuid};
use crate::sql::{Columns, Stmt, rail_tables};
use crate::store::Store;

static KNOWN: Stmt = Stmt::written(
    "rail.known_page",
    "SELECT s.digest FROM rail_statement s WHERE s.rail = $1 AND s.statement = $2 AND s.page = $3",
);
// The attempt that is not refused: there is one at most, and it is the one that paid. Its payment is found by its first
// attempt, which has its id.
static PAYERS: Stmt = Stmt::by_keys(
    "rail.payers",
    &[("id", Uuid), ("rail", Text)],
    "SELECT k.id, a.id, a.tenant FROM {{keys}} JOIN attempt f ON f.id = k.id \
     JOIN attempt a ON a.tenant = f.tenant AND a.payment = f.payment AND a.slot = 0 AND a.rail = k.rail",
);
static INSERT_PAGE: Stmt = Stmt::insert("rail.insert_page", &rail_tables::RAIL_STATEMENT);
static INSERT_ENTRIES: Stmt = Stmt::insert("rail.insert_entries", &rail_tables::RAIL_ENTRY);

pub(crate) static STATEMENTS: &[&Stmt] = &[&KNOWN, &PAYERS, &INSERT_PAGE, &INSERT_ENTRIES];

/// What became of a page of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTaken {
    /// It is kept.
    New,
    /// It was known, word for word.
    Known,
    /// Another content is kept under its id: this one is not.
    Other,
}

/// Whose a transaction of a statement is.
type Owners = HashMap<AttemptId, (TenantId, PaymentId)>;
/// By which attempt a payment was paid out.
type Payers = HashMap<PaymentId, (TenantId, AttemptId)>;

impl Store {
    /// Keeps a page of a statement with its entries, each with the attempt of ours over this rail that it is about.
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
        let owners = self.attempt_owners(rail, page.entries.iter().filter_map(|entry| entry.attempt)).await?;
        let payers = self.payers(rail, page).await?;
        let mut pages = Columns::new(rail_tables::RAIL_STATEMENT.row_columns(), 1);
        write_page(rail, page, now, &mut pages)?;
        let mut entries = Columns::new(rail_tables::RAIL_ENTRY.row_columns(), page.entries.len());
        for entry in &page.entries {
            write_entry(rail, page, entry, owner(entry, &owners, &payers), (now, &keys), &mut entries);
        }
        let mut steps = vec![Step::rows(&INSERT_PAGE, pages)];
        if entries.len() > 0 {
            steps.push(Step::rows(&INSERT_ENTRIES, entries));
        }
        match self.write(steps).await {
            Ok(_) => Ok(PageTaken::New),
            // Another node has just taken it.
            Err(conflict @ StoreError::Conflict(_)) => self.known_page(rail, page).await?.ok_or(conflict),
            Err(error) => Err(error),
        }
    }

    async fn known_page(&self, rail: &RailId, page: &BankStatement) -> Result<Option<PageTaken>, StoreError> {
        let params = vec![(&*rail.0).into(), page.id.as_str().into(), page.page.into()];
        let rows = self.query(&KNOWN, params).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let same = row.fields().uuid()? == page.digest;
        Ok(Some(if same { PageTaken::Known } else { PageTaken::Other }))
    }

    /// The attempts that paid the payments which are named by entries without an attempt of their own.
    async fn payers(&self, rail: &RailId, page: &BankStatement) -> Result<Payers, StoreError> {
        let keys = self.id_keys().await?;
        let without = page.entries.iter().filter(|entry| entry.attempt.is_none());
        let payments: BTreeSet<PaymentId> = without.filter_map(|entry| entry.payment).collect();
        let mut columns = Columns::new([Uuid, Text].into_iter(), payments.len());
        for payment in payments {
            columns.uuid(keys.stored(payment.0)).text(rail.0.to_string());
        }
        let mut payers = HashMap::new();
        for row in &self.query_keys(&PAYERS, columns).await? {
            let mut fields = row.fields();
            let payment = PaymentId(keys.public(fields.uuid()?));
            let attempt = AttemptId(keys.public(fields.uuid()?));
            payers.insert(payment, (TenantId(fields.uuid()?), attempt));
        }
        Ok(payers)
    }
}

/// The attempt that an entry is about; none where its ids name two payments.
fn owner(entry: &StatementEntry, owners: &Owners, payers: &Payers) -> Option<(TenantId, AttemptId)> {
    match (entry.attempt, entry.payment) {
        (Some(attempt), named) => {
            let (tenant, payment) = owners.get(&attempt)?;
            named.is_none_or(|named| named == *payment).then_some((*tenant, attempt))
        }
        (None, Some(payment)) => payers.get(&payment).copied(),
        (None, None) => None,
    }
}

fn write_page(
    rail: &RailId,
    page: &BankStatement,
    now: Timestamp,
    out: &mut Columns<'static>,
) -> Result<(), StoreError> {
    out.text(rail.0.to_string()).text(page.id.clone()).int(page.page).int(page.is_last.into());
    out.text(page.account.clone()).text(page.currency.code()).opt_int(page.from.map(|at| at.0)).int(page.to.0);
    out.opt_int(page.opening).opt_int(page.closing).int(page.turnover);
    out.int(wide(u64::try_from(page.entries.len()).unwrap_or(u64::MAX), "entries")?);
    out.uuid(page.digest).text(page.source.clone()).int(now.0).int(1);
    Ok(())
}

fn write_entry(
    rail: &RailId,
    page: &BankStatement,
    entry: &StatementEntry,
    owner: Option<(TenantId, AttemptId)>,
    (now, keys): (Timestamp, &Keys),
    out: &mut Columns<'static>,
) {
    let is_own = entry.is_own && owner.is_none();
    out.text(rail.0.to_string()).text(page.id.clone()).int(page.page).int(entry.number);
    out.opt_uuid(owner.map(|(tenant, _)| tenant.0)).opt_uuid(owner.map(|(_, attempt)| keys.stored(attempt.0)));
    out.int(entry.is_credit.into()).int(is_own.into());
    out.int(entry.amount.minor).text(entry.amount.currency.code());
    out.opt_text(entry.reference.clone()).text(entry.booked.clone()).int(now.0).int((!is_own).into());
}
