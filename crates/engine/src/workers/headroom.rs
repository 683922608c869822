//! Senders' headroom under rails' per-sender limits. Read before a rail is selected; the decision
//! that begins an attempt checks again, under the tenant's lock.

use domain::country::Country;
use domain::exchange::ExchangeOrder;
use domain::ids::TenantId;
use domain::rail::RailId;
use domain::sender_limit::{Sender, UsageByRail, UsageKey};
use store::{Store, StoreError};

use super::Workers;
use crate::context::EngineContext;

impl Workers {
    pub(super) async fn usage_by_rail(
        &self,
        tenant: TenantId,
        country: Country,
        sender: Sender,
    ) -> Result<UsageByRail, StoreError> {
        usage_by_rail(&self.store, &self.world, tenant, country, sender).await
    }

    /// The usage that the decision counts for the selected rail.
    pub(super) fn usage_key_over(&self, rail: &RailId, sender: Sender) -> Option<UsageKey> {
        self.world.corridors.rail(rail)?.usage_key(sender, self.clock().now())
    }

    /// The sender of an exchange order with their usage: the customer, across wallets. `None` if no
    /// rail limits them: the wallet is not read then.
    pub(super) async fn usage_of_customer(
        &self,
        order: &ExchangeOrder,
    ) -> Result<Option<(Sender, UsageByRail)>, StoreError> {
        if !self.world.corridors.rails_of(order.country).any(|rail| rail.sender_limits.is_some()) {
            return Ok(None);
        }
        let wallet = self.store.wallet(order.tenant, order.wallet).await?;
        let wallet = wallet
            .ok_or_else(|| StoreError::Corrupt(format!("order {} has no wallet", order.id)))?;
        let sender = Sender::of_customer(order.tenant, &wallet.customer_id);
        Ok(Some((sender, self.usage_by_rail(order.tenant, order.country, sender).await?)))
    }
}

/// A sender's usage of the country's rails that limit it. Nothing is read if none does.
pub(crate) async fn usage_by_rail(
    store: &Store,
    world: &EngineContext,
    tenant: TenantId,
    country: Country,
    sender: Sender,
) -> Result<UsageByRail, StoreError> {
    store
        .usage_by_rail(tenant, world.corridors.usage_keys(country, sender, world.clock.now()))
        .await
}
