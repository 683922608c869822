//! What senders have left of the limits that rails have for one sender. Looked at before a rail is chosen; the decision
//! that begins an attempt counts again, under the tenant's lock.

use domain::country::Country;
use domain::exchange::ExchangeOrder;
use domain::ids::TenantId;
use domain::rail::RailId;
use domain::sender_limit::{Sender, Spendings, Tally};
use store::StoreError;

use super::Workers;

impl Workers {
    /// What the sender has had paid out over the country's rails that limit it. Nothing is read where none does.
    pub(super) async fn spendings(
        &self,
        tenant: TenantId,
        country: Country,
        sender: Sender,
    ) -> Result<Spendings, StoreError> {
        let asked = self.world.corridors.tallies(country, sender, self.clock().now());
        self.store.spendings(tenant, asked).await
    }

    /// What of the sender the decision counts over the rail that was chosen.
    pub(super) fn tally_over(&self, rail: &RailId, sender: Sender) -> Option<Tally> {
        self.world.corridors.rail(rail)?.tally(sender, self.clock().now())
    }

    /// The sender of an exchange order with what he has had paid out: the customer, whatever the wallet. `None` where no
    /// rail limits him: the wallet is not read then.
    pub(super) async fn spent_by_customer(
        &self,
        order: &ExchangeOrder,
    ) -> Result<Option<(Sender, Spendings)>, StoreError> {
        if !self.world.corridors.rails_of(Country::Pak).any(|rail| rail.sender_limits.is_some()) {
            return Ok(None);
        }
        let wallet = self.store.wallet(order.tenant, order.wallet).await?;
        let wallet = wallet.ok_or_else(|| StoreError::Corrupt(format!("order {} is of no wallet", order.id)))?;
        let sender = Sender::of_customer(order.tenant, &wallet.customer_id);
        Ok(Some((sender, self.spendings(order.tenant, Country::Pak, sender).await?)))
    }
}
