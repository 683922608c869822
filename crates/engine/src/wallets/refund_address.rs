//! Refund addresses for payments that are not accepted: senders enter them on the page of their
//! link, and they are screened. An answer moves no funds: a refund needs two operators.

use domain::audit::{Deed, Via};
use domain::chain::{Address, ChainNumber};
use domain::deposit::{Asking, Deposit};
use domain::ids::{DepositId, RefundToId, SenderInfoId};
use domain::payment_request::{Named, PaymentRequest};
use domain::screening::Screened;

use super::{Caller, Denied, PaySender, Wallets};
use crate::batcher::fresh_id;
use crate::command::wallets::{RefundAnswer, RequestAction};
use crate::command::{Action, Refused};

/// The actor of an answer in the audit log.
const WHO: &str = "payment link";
const ROLE: &str = "sender";
/// An address with this many leading zeros is a precompile or unowned: funds sent there are lost.
const NOBODYS_ZEROS: usize = 16;

/// The result of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It is stored, whatever the screening result: the sender does not learn it.
    Kept,
    /// No answer is needed, or not any more.
    NotAsked,
    /// The address is a precompile, unowned, a token's or our own. Funds could not be returned
    /// from there.
    Unusable,
}

impl Wallets {
    /// Stores a sender's refund address with its screening result. The sender may replace it until
    /// a refund is proposed.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn answer_where_back(
        &self,
        token: &str,
        sender: SenderInfoId,
        to: Address,
    ) -> Result<Answered, Denied> {
        let page = self.pay_page(token).await?;
        let known = page
            .senders
            .iter()
            .find(|known| known.id == sender)
            .ok_or(Denied::NotFound("sender"))?;
        let arrived = page.arrivals.iter().map(|arrival| &arrival.deposit);
        let deposits: Vec<DepositId> =
            arrived.filter(|it| known.is_asked(it, &page.request)).map(|it| it.id).collect();
        if deposits.is_empty() || !known.may_answer() {
            return Ok(Answered::NotAsked);
        }
        if known.back_to == Some(to) {
            return Ok(Answered::Kept);
        }
        if self.is_unusable(&page.request, &to).await? {
            return Ok(Answered::Unusable);
        }
        let screened = self.screen_address(page.request.chain, &to).await?;
        let by = Deed::new(Via::Program, WHO).with_role(ROLE).on_behalf_of(known.name_in_audit());
        let id = RefundToId(fresh_id(&self.store));
        let answer = Box::new(RefundAnswer { id, sender, to, screened, deposits, by });
        match self
            .run(
                page.request.tenant,
                Action::Request(page.request.id, RequestAction::RefundTo(answer)),
            )
            .await
        {
            Ok(_) => Ok(Answered::Kept),
            Err(Denied::Refused(Refused::NotAsSeen)) => Ok(Answered::NotAsked),
            Err(denied) => Err(denied),
        }
    }

    /// Refund addresses that the senders of a deposit entered.
    pub async fn named_for(&self, caller: &Caller, deposit: &Deposit) -> Result<Named, Denied> {
        let Some(request) = deposit.request else { return Ok(Named::Nothing) };
        let given = self.store.refund_addresses(caller.tenant, request).await?;
        if given.is_empty() {
            return Ok(Named::Nothing);
        }
        Ok(Named::of(deposit, &self.store.sender_infos(caller.tenant, request).await?, &given))
    }

    /// Screens an address against the sanctions lists and the blacklists of the tokens' own
    /// contracts, as for a payer. Without a node, or if it does not answer, only the lists apply:
    /// the contracts are checked again before anything is paid.
    pub(super) async fn screen_address(
        &self,
        chain: ChainNumber,
        address: &Address,
    ) -> Result<Screened, Denied> {
        let world = self.offered_on(chain)?;
        let mut screened = world.addresses.screen(address, self.world.clock.now());
        for token in &world.config.tokens {
            match self.promptly(world.chain.is_blacklisted(token.address, *address)).await {
                Ok(true) => screened = screened.with_blacklist_of(token.coin.currency().code()),
                Ok(false) => {}
                Err(fault) => {
                    tracing::debug!(%fault, "token blacklist read failed, will be checked before the refund is paid")
                }
            }
        }
        Ok(screened)
    }

    async fn is_unusable(&self, request: &PaymentRequest, to: &Address) -> Result<bool, Denied> {
        let world = self.offered_on(request.chain)?;
        let wallet = self
            .store
            .wallet(request.tenant, request.wallet)
            .await?
            .ok_or(Denied::NotFound("token"))?;
        let nobodys = to.0.iter().take_while(|byte| **byte == 0).count() >= NOBODYS_ZEROS;
        let is_token = world.config.tokens.iter().any(|token| token.address == *to);
        let own = [request.escrow, wallet.address, wallet.controller, wallet.implementation];
        Ok(nobodys || is_token || own.contains(to) || !self.store.watched(&[*to]).await?.is_empty())
    }
}

impl PaySender {
    /// Whether this sender is asked for a refund address of a deposit: only for their own.
    fn is_asked(&self, deposit: &Deposit, request: &PaymentRequest) -> bool {
        self.may_be_of(deposit) && deposit.asks_where_back(request.exception()) == Asking::Yes
    }
}
