//! Permits that all nodes draw from one counter per window, so that their total never exceeds the
//! limit.

use domain::ids::TenantId;
use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

// One statement: the row is locked while it changes, and expressions right of the equals signs see
// the old row.
static DRAW: Stmt = Stmt::written(
    "permits.draw",
    "INSERT INTO rate_window (tenant, call_group, began_at, drawn, granted) VALUES ($1, $2, $3, \
     CASE WHEN CAST($4 AS BIGINT) < CAST($5 AS BIGINT) THEN $4 ELSE $5 END, \
     CASE WHEN CAST($4 AS BIGINT) < CAST($5 AS BIGINT) THEN $4 ELSE $5 END) \
     ON CONFLICT (tenant, call_group, began_at) DO UPDATE SET \
     granted = CASE WHEN rate_window.drawn >= $5 THEN 0 \
     WHEN $5 - rate_window.drawn < $4 THEN $5 - rate_window.drawn ELSE $4 END, \
     drawn = rate_window.drawn + CASE WHEN rate_window.drawn >= $5 THEN 0 \
     WHEN $5 - rate_window.drawn < $4 THEN $5 - rate_window.drawn ELSE $4 END \
     RETURNING granted, drawn",
);

static DRAWN: Stmt = Stmt::written(
    "permits.drawn",
    "SELECT drawn FROM rate_window WHERE tenant = $1 AND call_group = $2 AND began_at = $3",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&DRAW, &DRAWN];

/// The permits drawn from a window's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permits {
    /// Permits granted to the caller: at most those wanted, 0 once the window is used up.
    pub granted: u32,
    /// Permits of the window drawn by all nodes, these included.
    pub drawn: u32,
}

impl Store {
    /// How many permits of a window are drawn. A read: it waits for no writer.
    pub async fn drawn_permits(
        &self,
        tenant: TenantId,
        group: &str,
        began_at: Timestamp,
    ) -> Result<u32, StoreError> {
        let drawn = self.one(&DRAWN, (tenant, group, began_at)).await?;
        Ok(drawn.unwrap_or_default())
    }

    /// Draws up to `want` permits from a tenant's window of `limit` calls.
    ///
    /// # Errors
    /// The database cannot be reached; permits may have been drawn, and are then lost.
    pub async fn draw_permits(
        &self,
        tenant: TenantId,
        group: &str,
        began_at: Timestamp,
        want: u32,
        limit: u32,
    ) -> Result<Permits, StoreError> {
        let [want, limit] = [want, limit].map(i64::from);
        let params =
            vec![tenant.0.into(), group.into(), began_at.0.into(), want.into(), limit.into()];
        let counted = self.write_many(vec![Step::any(&DRAW, params)]).await?.pop();
        let (granted, drawn) =
            counted.ok_or_else(|| StoreError::Corrupt("no permits were counted".to_owned()))?;
        Ok(Permits { granted, drawn })
    }
}
