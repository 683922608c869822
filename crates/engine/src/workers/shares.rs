//! Each tenant's share of the webhooks that this node has under way: an endpoint that hangs delays
//! its own tenant's events, and no other's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::TenantId;

/// How many tenants may have their whole share under way at once.
const WHOLE_SHARES: usize = 16;
/// Every tenant may have this many under way, however many others hang.
const ALWAYS: usize = 4;

/// Attempts under way, by tenant.
#[derive(Debug)]
pub(super) struct Shares {
    share: usize,
    under_way: Mutex<BTreeMap<TenantId, usize>>,
}

/// An attempt that is under way until this is dropped.
pub(super) struct Place {
    shares: Arc<Shares>,
    tenant: TenantId,
}

impl Shares {
    /// Nothing is under way; a tenant may have up to `share` attempts.
    pub(super) fn new(share: usize) -> Arc<Shares> {
        Arc::new(Shares { share, under_way: Mutex::default() })
    }

    fn under_way(&self) -> MutexGuard<'_, BTreeMap<TenantId, usize>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an attempt of the tenant until the returned place is dropped.
    pub(super) fn begin(self: &Arc<Shares>, tenant: TenantId) -> Place {
        *self.under_way().entry(tenant).or_default() += 1;
        Place { shares: self.clone(), tenant }
    }

    /// Whether a tenant may begin no more attempts at present.
    pub(super) fn is_full(&self, tenant: TenantId) -> bool {
        self.headroom(&self.under_way(), tenant, 0) == 0
    }

    /// How many attempts each of these tenants may begin, at most `most` together: those that have
    /// the fewest under way come first, otherwise in the given order.
    pub(super) fn allot(&self, mut due: Vec<TenantId>, most: usize) -> Vec<(TenantId, usize)> {
        let under_way = self.under_way();
        due.sort_by_key(|tenant| under_way.get(tenant).copied().unwrap_or(0));
        let mut given = 0;
        let mut shares = Vec::new();
        for tenant in due {
            let share = self.headroom(&under_way, tenant, given).min(most - given);
            if share > 0 {
                shares.push((tenant, share));
                given += share;
            }
        }
        shares
    }

    fn headroom(&self, all: &BTreeMap<TenantId, usize>, tenant: TenantId, given: usize) -> usize {
        let left = (WHOLE_SHARES * self.share).saturating_sub(all.values().sum::<usize>() + given);
        let own = all.get(&tenant).copied().unwrap_or(0);
        // What it has under way is not part of what is left.
        (own + left).min(self.share).max(ALWAYS.min(self.share)).saturating_sub(own)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut under_way = self.shares.under_way();
        if let Some(count) = under_way.get_mut(&self.tenant) {
            *count -= 1;
            if *count == 0 {
                under_way.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const SHARE: usize = 8;

    fn tenant(number: u128) -> TenantId {
        TenantId(Uuid::from_u128(number))
    }

    #[test]
    fn a_tenant_has_no_more_under_way_than_its_share() {
        let shares = Shares::new(SHARE);
        let (one, two) = (tenant(1), tenant(2));
        assert_eq!(shares.allot(vec![one, two], 10), [(one, 8), (two, 2)]);
        let mut places: Vec<Place> = (0..SHARE).map(|_| shares.begin(one)).collect();
        assert!(shares.is_full(one) && !shares.is_full(two));
        assert_eq!(shares.allot(vec![one, two], 10), [(two, 8)]);
        places.truncate(5);
        assert_eq!(shares.allot(vec![one, two], 10), [(two, 8), (one, 2)], "fewest first");
        places.clear();
        assert_eq!(shares.allot(vec![one], 10), [(one, 8)]);
        assert!(shares.under_way().is_empty());
    }

    #[test]
    fn however_many_tenants_hang_another_one_gets_through() {
        let shares = Shares::new(SHARE);
        let mut places = Vec::new();
        for number in 0..100 {
            for (tenant, count) in shares.allot(vec![tenant(number)], 99) {
                places.extend((0..count).map(|_| shares.begin(tenant)));
            }
        }
        let other = tenant(1_000);
        assert_eq!(shares.allot((0..100).map(tenant).chain([other]).collect(), 99), [(other, 4)]);
        let small = Shares::new(1);
        assert_eq!(small.allot(vec![other], 99), [(other, 1)]);
    }
}
