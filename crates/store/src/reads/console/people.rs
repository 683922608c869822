//! Search for deposits, senders, exchange orders and wallets by what is known about them. Personal
//! data is sealed: the latest records of each kind are opened and compared.

use domain::deposit::Deposit;
use domain::exchange::ExchangeOrder;
use domain::ids::TenantId;
use domain::payment_request::{PaymentRequest, SenderInfo};
use domain::payment_search::Searched;
use domain::ports::BoxFuture;
use domain::wallet::Wallet;

use super::find::Found;
use super::search::PaymentSearch;
use crate::error::StoreError;
use crate::reads::keyset::{KeysetFrom, KeysetPage, KeysetWanted};
use crate::reads::wallet_office::{WalletFilter, Wanted};
use crate::sql::Kind::Uuid;
use crate::sql::Stmt;
use crate::store::Store;

/// Maximum number of the latest records of each kind that are compared.
pub const RECORDS_COMPARED_MAX: usize = 10_000;
/// Records that are open at a time.
const PAGE_ROWS: usize = 1_000;

static SENDERS: Stmt = Stmt::by_keys(
    "console.senders",
    &[("tenant", Uuid), ("request", Uuid)],
    "SELECT {{sender_info s}} FROM {{keys}} \
     JOIN sender_info s ON s.tenant = k.tenant AND s.request = k.request",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&SENDERS];

impl Store {
    /// A tenant's deposits, payment requests whose sender it is, exchange orders and wallets about
    /// which all of this holds: of each kind at most `limit` of the latest
    /// [`RECORDS_COMPARED_MAX`], newest first.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable.
    pub async fn find_people(
        &self,
        tenant: TenantId,
        search: &PaymentSearch,
        limit: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let (start, end) = (search.start, search.end);
        let deposits = latest(limit, |page| {
            Box::pin(async move {
                let wanted = Wanted { start, end, ..Wanted::default() };
                let found = self.office_deposits(tenant, &wanted, page).await?;
                let fits = |it: &Deposit| search.holds(it.seen_at, &Searched::of_deposit(it));
                Ok(part(&found, |it| fits(it).then_some(Found::Deposit(it.id))))
            })
        });
        let orders = latest(limit, |page| {
            Box::pin(async move {
                let wanted = Wanted { start, end, ..Wanted::default() };
                let found = self.office_orders(tenant, &wanted, page).await?;
                let fits =
                    |it: &ExchangeOrder| search.holds(it.created_at, &Searched::of_exchange(it));
                Ok(part(&found, |it| fits(it).then_some(Found::Order(it.id))))
            })
        });
        let requests = latest(limit, |page| {
            Box::pin(async move {
                // A sender may come days after the request.
                let wanted = Wanted { end, ..Wanted::default() };
                let found = self.office_requests(tenant, &wanted, page).await?;
                let keys = found.rows.iter().map(|request| (tenant, request.id));
                let senders: Vec<SenderInfo> = self.many_by(&SENDERS, keys).await?;
                let fits = |it: &PaymentRequest| {
                    let mut senders = senders.iter().filter(|sender| sender.request == it.id);
                    senders.any(|sender| {
                        search.holds(sender.at, &Searched::of_sender(&sender.details, &it.asked))
                    })
                };
                Ok(part(&found, |it| fits(it).then_some(Found::Request(it.id))))
            })
        });
        let wallets = latest(limit, |page| {
            Box::pin(async move {
                let found = self.office_wallets(tenant, &WalletFilter::default(), page).await?;
                let fits = |it: &Wallet| search.holds(it.created_at, &Searched::of_wallet(it));
                Ok(part(&found, |it| fits(it).then_some(Found::Wallet(it.id))))
            })
        });
        let mut found = deposits.await?;
        found.extend(orders.await?);
        found.extend(requests.await?);
        // A wallet is found by its customer alone, not by the day of its creation.
        if !search.known.is_empty() {
            found.extend(wallets.await?);
        }
        Ok(found)
    }
}

/// What fits among the rows of a page, how many were compared, and where the next page starts.
type Part = (Vec<Found>, usize, Option<KeysetFrom>);

fn part<T>(page: &KeysetPage<T>, fitting: impl Fn(&T) -> Option<Found>) -> Part {
    let found = page.rows.iter().filter_map(fitting).collect();
    (found, page.rows.len(), page.next.map(KeysetFrom::After))
}

/// What fits among the latest records, page by page.
async fn latest<'a>(
    limit: usize,
    read: impl Fn(KeysetWanted) -> BoxFuture<'a, Result<Part, StoreError>>,
) -> Result<Vec<Found>, StoreError> {
    let (mut found, mut compared, mut from) = (Vec::new(), 0, None);
    loop {
        let (fits, rows, next) = read(KeysetWanted { from, limit: PAGE_ROWS }).await?;
        found.extend(fits);
        compared += rows;
        from = next;
        if from.is_none() || found.len() >= limit || compared >= RECORDS_COMPARED_MAX {
            found.truncate(limit);
            return Ok(found);
        }
    }
}
