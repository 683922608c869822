//! Quotes of a tenant, newest first, with filters, page by page.

use domain::country::Country;
use domain::ids::TenantId;
use domain::quote::{Quote, QuoteState};

use crate::error::StoreError;
use crate::reads::keyset::{KeysetPage, KeysetWanted, Mark, Marked, both_ways};
use crate::reads::wallet_office::{Wanted, params};
use crate::sql::Stmt;
use crate::store::Store;

// Stored ids are in time order: the key is the list. $2 holds the wanted states between commas.
static QUOTES: [Stmt; 2] = both_ways!(
    "console.quotes",
    "SELECT {{quote q}} FROM quote q WHERE q.tenant = $1 AND $2 LIKE '%,' || q.state || ',%' \
     AND q.created_at >= $3 AND q.created_at < $4 AND ($5 = '' OR q.country = $5)",
    "q.id",
    "$6",
    "q.id DESC",
    "q.id",
    "$7"
);

pub(super) static STATEMENTS: &[&Stmt] = &[&QUOTES[0], &QUOTES[1]];

impl Store {
    /// A page of a tenant's quotes, newest first: to one country, or to all.
    pub async fn office_quotes(
        &self,
        tenant: TenantId,
        wanted: &Wanted<QuoteState>,
        country: Option<Country>,
        page: KeysetWanted,
    ) -> Result<KeysetPage<Quote>, StoreError> {
        let mut params = params(tenant, wanted, &QuoteState::ALL, QuoteState::name);
        params.push(country.map_or("", Country::alpha3).into());
        let place = (Marked::Id, |it: &Quote| Mark::of_id(it.created_at, it.id.0));
        self.keyset_page(&QUOTES, params, page, place).await
    }
}
