//! What the page behind a payment link needs. The recipient's wallet never leaves here.

use domain::chain::Depth;
use domain::deposit::{Deposit, DepositState};
use domain::ids::SenderInfoId;
use domain::payment_request::{PaymentRequest, SenderDetails};
use domain::wallet::WalletState;
use store::Tenant;

use super::{Denied, Wallets, not_found_as};
use crate::batcher::fresh_id;
use crate::command::Action;
use crate::command::wallets::RequestAction;

const FIELD: &str = "token";

/// One payment as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The deposit.
    pub deposit: Deposit,
    /// How many confirmations it has and how many it needs, while it waits for them; `None` = it does not wait, or the
    /// chain counts otherwise.
    pub confirmations: Option<(u64, u64)>,
}

/// A payment request as its link leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayPage {
    /// The request.
    pub request: PaymentRequest,
    /// Whose customer asks.
    pub tenant: Tenant,
    /// Whether the recipient's wallet can receive nothing for now or for good: the page is not available.
    pub closed: bool,
    /// What has come, the first one first.
    pub arrivals: Vec<Arrival>,
    /// What senders have said about themselves, the first one first: each leads its own sender on, and nobody else.
    pub senders: Vec<SenderInfoId>,
}

impl Wallets {
    /// What the page of a link shows.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn pay_page(&self, token: &str) -> Result<PayPage, Denied> {
        self.offered()?;
        let request = self.request_by_token(token).await?;
        let (tenant, wallet) = (request.tenant, request.wallet);
        let owner = self.store.tenant(tenant).await?.ok_or(Denied::NotFound(FIELD))?;
        let state = self.store.wallet(tenant, wallet).await?.ok_or(Denied::NotFound(FIELD))?.state;
        let deposits = self.store.deposits_of_request(tenant, wallet, request.id).await?;
        let mut arrivals = Vec::with_capacity(deposits.len());
        for deposit in deposits.into_iter().filter(|deposit| deposit.state != DepositState::Orphaned) {
            let confirmations = self.confirmations(&deposit).await?;
            arrivals.push(Arrival { deposit, confirmations });
        }
        let senders = self.store.sender_infos(tenant, request.id).await?.into_iter().map(|sender| sender.id).collect();
        Ok(PayPage { request, tenant: owner, closed: state == WalletState::Blacklisted, arrivals, senders })
    }

    /// The request, whosever it is, that a link leads to.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn request_by_token(&self, token: &str) -> Result<PaymentRequest, Denied> {
        self.store.request_by_token(token).await?.ok_or(Denied::NotFound(FIELD))
    }

    /// A sender says who he is: from now on the details of what comes.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn submit_sender(&self, token: &str, details: SenderDetails) -> Result<SenderInfoId, Denied> {
        let request = self.request_by_token(token).await?;
        let info = SenderInfoId(fresh_id(&self.store));
        let action = Action::Request(request.id, RequestAction::Sender(info, details));
        self.run(request.tenant, action).await.map_err(not_found_as(FIELD))?;
        Ok(info)
    }

    async fn confirmations(&self, deposit: &Deposit) -> Result<Option<(u64, u64)>, Denied> {
        let Some(place) = deposit.place.filter(|_| deposit.state == DepositState::Seen) else { return Ok(None) };
        let Depth::Blocks(needed) = self.offered()?.config.deposit_depth(deposit.minor) else { return Ok(None) };
        let newest = self.store.chain_headers(1).await?.first().map_or(place.number, |block| block.number);
        Ok(Some((newest.saturating_sub(place.number) + 1, needed)))
    }
}
