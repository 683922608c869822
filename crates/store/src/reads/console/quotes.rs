//! Quotes of a tenant, newest first, page by page.

use domain::ids::TenantId;
use domain::quote::Quote;

use crate::error::StoreError;
use crate::reads::keyset::{KeysetPage, KeysetWanted, Mark, Marked, both_ways};
use crate::sql::Stmt;
use crate::store::Store;

// Stored ids are in time order: the key is the list.
static QUOTES: [Stmt; 2] = both_ways!(
    "console.quotes",
    "SELECT {{quote q}} FROM quote q WHERE q.tenant = $1",
    "q.id",
    "$2",
    "q.id DESC",
    "q.id",
    "$3"
);

pub(super) static STATEMENTS: &[&Stmt] = &[&QUOTES[0], &QUOTES[1]];

impl Store {
    /// A page of a tenant's quotes, newest first.
    pub async fn office_quotes(
        &self,
        tenant: TenantId,
        page: KeysetWanted,
    ) -> Result<KeysetPage<Quote>, StoreError> {
        let place = (Marked::Id, |it: &Quote| Mark::of_id(it.created_at, it.id.0));
        self.keyset_page(&QUOTES, vec![tenant.0.into()], page, place).await
    }
}
