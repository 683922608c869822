//! Quotes of a tenant, newest first, page by page.

use domain::ids::{QuoteId, TenantId};
use domain::quote::Quote;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::column::Raw;
use crate::sql::Stmt;
use crate::store::Store;

// Stored ids are in time order: the key is the list.
static NEWEST: Stmt = Stmt::written(
    "console.quotes",
    "SELECT {{quote q}} FROM quote q WHERE q.tenant = $1 AND q.id < $2 ORDER BY q.id DESC LIMIT $3",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&NEWEST];

impl Store {
    /// Quotes made before `after` (all for `None`), newest first, at most `limit`.
    pub async fn quotes_before(
        &self,
        tenant: TenantId,
        after: Option<QuoteId>,
        limit: usize,
    ) -> Result<Vec<Quote>, StoreError> {
        let keys = self.id_keys().await?;
        let below = after.map_or(Uuid::max(), |quote| keys.stored(quote.0));
        self.many(&NEWEST, (tenant, Raw(below), most(limit))).await
    }
}
