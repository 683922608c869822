//! Rate limits of Wallet Service v1: fixed windows of 60 seconds per tenant and group of operations
//! (specification: "Limits"; `decisions.md`, "Rate limits").
//!
//! All nodes draw permits from a shared counter, so the total is never exceeded. A busier node
//! draws more at a time, and less as the window fills up. Only authenticated callers are counted
//! here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ids::TenantId;
use domain::ports::BoxFuture;
use domain::time::Timestamp;
use engine::payments::Store;
use tokio::sync::Mutex as AsyncMutex;

use crate::address_windows::{shown, used_up, window_of};
use crate::limits::Allowance;
use crate::wallet_groups::{Group, GroupLimits};

/// A node draws at most this fraction of a window's remainder, so that an idle node strands few
/// permits.
const SHARE_OF_REST: u32 = 8;
/// A node draws at most this fraction of its own usage of a window.
const SHARE_OF_USED: u32 = 2;

/// A draw from the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    pub tenant: TenantId,
    /// Name of the group, from [`Group::name`].
    pub group: &'static str,
    /// Start of the window in UNIX seconds; a multiple of 60.
    pub window_s: i64,
    /// Requested permits, at least 1.
    pub wanted: u32,
    /// Maximum number of permits in the window.
    pub limit: u32,
}

/// The result of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Granted permits: at most those requested, 0 once the window is used up.
    pub granted: u32,
    /// Permits drawn by all nodes in the window, including these.
    pub total: u32,
}

/// The counter cannot be reached: the result is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rate limits cannot be read: {0}")]
pub struct Unreadable(pub String);

/// The counter shared by all nodes.
pub trait Permits: Send + Sync {
    /// Draws permits; the total of concurrent draws never exceeds the window's limit.
    ///
    /// # Errors
    /// The counter cannot be reached.
    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, Unreadable>>;
}

impl Permits for Store {
    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, Unreadable>> {
        let Draw { tenant, group, window_s, wanted, limit } = draw;
        let began_at = Timestamp(window_s * 1_000_000);
        Box::pin(async move {
            let drawn = self.draw_permits(tenant, group, began_at, wanted, limit).await;
            let drawn = drawn.map_err(|error| Unreadable(error.to_string()))?;
            Ok(Drawn { granted: drawn.granted, total: drawn.drawn })
        })
    }
}

/// The counter of a single process: counts in memory and records blocks of permits in the database
/// afterwards, so that no read waits for SQLite's writer. Records run ahead of usage, so a restart
/// grants no extra requests.
struct OneProcess {
    store: Store,
    drawn: AsyncMutex<DrawnWindows>,
}

/// The newest window per tenant and group, with its drawn permits.
type DrawnWindows = HashMap<(TenantId, &'static str), (i64, u32)>;

/// Fraction of a window that a single process draws at once.
const BLOCKS_OF_WINDOW: u32 = 10;

impl OneProcess {
    async fn draw(&self, draw: Draw) -> Result<Drawn, Unreadable> {
        let Draw { tenant, group, window_s, wanted, limit } = draw;
        let began_at = Timestamp(window_s * 1_000_000);
        let mut windows = self.drawn.lock().await;
        let total = match windows.get(&(tenant, group)) {
            Some((known, total)) if *known == window_s => *total,
            // An earlier process may have granted some permits of this window.
            _ => {
                let drawn = self.store.drawn_permits(tenant, group, began_at).await;
                drawn.map_err(|error| Unreadable(error.to_string()))?
            }
        };
        let granted = wanted.max(limit / BLOCKS_OF_WINDOW).min(limit.saturating_sub(total));
        let total = total + granted;
        windows.insert((tenant, group), (window_s, total));
        drop(windows);
        if granted > 0 {
            let store = self.store.clone();
            tokio::spawn(async move {
                if let Err(error) =
                    store.draw_permits(tenant, group, began_at, granted, limit).await
                {
                    tracing::warn!(%error, "recording permits failed: a restart within this minute may grant them again");
                }
            });
        }
        Ok(Drawn { granted, total })
    }
}

impl Permits for OneProcess {
    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, Unreadable>> {
        Box::pin(OneProcess::draw(self, draw))
    }
}

/// The counter in a store.
pub(super) fn permits_of(store: &Store) -> Arc<dyn Permits> {
    if store.is_shared() {
        return Arc::new(store.clone());
    }
    Arc::new(OneProcess { store: store.clone(), drawn: AsyncMutex::default() })
}

/// A node's view of a window.
#[derive(Debug, Default)]
struct Share {
    window_s: i64,
    /// This node's unused permits.
    left: u32,
    /// Permits that this node has used.
    used: u32,
    /// Permits drawn by all nodes as of the last draw.
    total: u32,
}

impl Share {
    /// How many permits to request next.
    fn wanted(&self, limit: u32) -> u32 {
        let rest = limit.saturating_sub(self.total) / SHARE_OF_REST;
        (self.used / SHARE_OF_USED).min(rest).max(1)
    }
}

type Shares = HashMap<(TenantId, Group), Arc<AsyncMutex<Share>>>;

/// This node's share of every tenant's windows.
pub struct Windows {
    permits: Arc<dyn Permits>,
    limits: GroupLimits,
    /// Grows with authenticated tenants only, so it stays small.
    shares: Mutex<Shares>,
}

impl Windows {
    /// Windows over the shared counter.
    pub fn new(permits: Arc<dyn Permits>, limits: GroupLimits) -> Windows {
        Windows { permits, limits, shares: Mutex::default() }
    }

    /// Takes a permit from a tenant's window.
    ///
    /// # Errors
    /// The counter cannot be reached, and this node has no permit left.
    pub async fn take(
        &self,
        tenant: TenantId,
        group: Group,
        now: Timestamp,
    ) -> Result<Allowance, Unreadable> {
        let limit = self.limits.of(group);
        let share = self.share(tenant, group);
        // Held during a draw: a waiting request would have to draw as well.
        let mut share = share.lock().await;
        if share.window_s != window_of(now) {
            *share = Share { window_s: window_of(now), ..Share::default() };
        }
        if share.left == 0 && share.total < limit {
            let wanted = share.wanted(limit);
            let draw =
                Draw { tenant, group: group.name(), window_s: share.window_s, wanted, limit };
            let drawn = self.permits.draw(draw).await?;
            (share.left, share.total) = (drawn.granted, drawn.total);
        }
        if share.left == 0 {
            return Ok(used_up(limit, now));
        }
        share.left -= 1;
        share.used += 1;
        Ok(shown(limit, limit.saturating_sub(share.total) + share.left, now))
    }

    /// Requests per window, by group.
    pub const fn limits(&self) -> &GroupLimits {
        &self.limits
    }

    fn share(&self, tenant: TenantId, group: Group) -> Arc<AsyncMutex<Share>> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(shares.entry((tenant, group)).or_default())
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
