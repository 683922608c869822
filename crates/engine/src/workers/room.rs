//! Senders' headroom under rails' per-sender limits. Read before a rail is selected; the decision
//! that begins an attempt checks again, under the tenant's lock.

use domain::country::Country;
use domain::exchange::ExchangeOrder;
use domain::ids::TenantId;
use domain::rail::RailId;
use domain::sender_limit::{Sender, Spendings, Tally};
use store::{Store, StoreError};

use super::Workers;
use crate::world::World;

impl Workers {
    pub(super) async fn spendings(
        &self,
        tenant: TenantId,
        country: Country,
        sender: Sender,
    ) -> Result<Spendings, StoreError> {
        spendings(&self.store, &self.world, tenant, country, sender).await
    }

    /// The usage that the decision counts for the selected rail.
    pub(super) fn tally_over(&self, rail: &RailId, sender: Sender) -> Option<Tally> {
        self.world.corridors.rail(rail)?.tally(sender, self.clock().now())
    }

    /// The sender of an exchange order with their usage: the customer, across wallets. `None` if no
    /// rail limits them: the wallet is not read then.
    pub(super) async fn spent_by_customer(
        &self,
        order: &ExchangeOrder,
    ) -> Result<Option<(Sender, Spendings)>, StoreError> {
        if !self.world.corridors.rails_of(order.country).any(|rail| rail.sender_limits.is_some()) {
            return Ok(None);
        }
        let wallet = self.store.wallet(order.tenant, order.wallet).await?;
        let wallet = wallet
            .ok_or_else(|| StoreError::Corrupt(format!("order {} has no wallet", order.id)))?;
        let sender = Sender::of_customer(order.tenant, &wallet.customer_id);
        Ok(Some((sender, self.spendings(order.tenant, order.country, sender).await?)))
    }
}

/// A sender's usage of the country's rails that limit it. Nothing is read if none does.
pub(crate) async fn spendings(
    store: &Store,
    world: &World,
    tenant: TenantId,
    country: Country,
    sender: Sender,
) -> Result<Spendings, StoreError> {
    store.spendings(tenant, world.corridors.tallies(country, sender, world.clock.now())).await
}
