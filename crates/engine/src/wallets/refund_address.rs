//! Refund addresses for payments that are not accepted: senders enter them on the page of their
//! link, and they are screened. An answer moves no funds: a refund needs two operators.

use domain::audit::{AuditContext, Via};
use domain::chain::{Address, ChainFault, ChainNumber, KeyRole};
use domain::deposit::{Deposit, is_sender_asked};
use domain::ids::{DepositId, RefundToId, SenderInfoId, TenantId, WalletId};
use domain::payment_request::{Named, PaymentRequest};
use domain::screening::Screened;

use super::{Caller, Denied, Wallets};
use crate::batcher::fresh_id;
use crate::command::wallets::{RefundAnswer, RequestAction};
use crate::command::{Action, Refused};
use crate::context::ChainContext;

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
        let own: Vec<&Deposit> = arrived.filter(|it| known.may_be_of(it)).collect();
        if !is_sender_asked(&page.request, &own) || !known.may_answer() {
            return Ok(Answered::NotAsked);
        }
        let deposits: Vec<DepositId> = own.iter().map(|it| it.id).collect();
        if known.back_to == Some(to) {
            return Ok(Answered::Kept);
        }
        let PaymentRequest { tenant, wallet, chain, .. } = page.request;
        if self.is_unusable((tenant, wallet, chain), &to).await? {
            return Ok(Answered::Unusable);
        }
        let screened = self.screen_address(page.request.chain, &to).await?;
        let by = AuditContext::new(Via::Program, WHO)
            .with_role(ROLE)
            .on_behalf_of(known.name_in_audit());
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
        let (screened, fault) = self.screen_with_blacklists(chain, address).await?;
        if let Some(fault) = fault {
            tracing::debug!(%fault, "token blacklist read failed, will be checked before the refund is paid");
        }
        Ok(screened)
    }

    /// The same, with the node's fault if a contract's blacklist is unknown.
    pub(super) async fn screen_with_blacklists(
        &self,
        chain: ChainNumber,
        address: &Address,
    ) -> Result<(Screened, Option<ChainFault>), Denied> {
        let world = self.offered_on(chain)?;
        let mut screened = world.addresses.screen(address, self.world.clock.now());
        let mut unknown = None;
        for token in &world.config.tokens {
            match self.promptly(world.lists(token.address, *address)).await {
                Ok(true) => screened = screened.with_blacklist_of(token.coin.currency().code()),
                Ok(false) => {}
                Err(fault) => unknown = Some(fault),
            }
        }
        Ok((screened, unknown))
    }

    /// Whether nothing could be returned from an address: it is a precompile, unowned, a token's,
    /// or our own.
    pub(super) async fn is_unusable(
        &self,
        (tenant, wallet, chain): (TenantId, WalletId, ChainNumber),
        to: &Address,
    ) -> Result<bool, Denied> {
        let world = self.offered_on(chain)?;
        let wallet =
            self.store.wallet(tenant, wallet).await?.ok_or(Denied::NotFound("wallet_id"))?;
        let nobodys = to.0.iter().take_while(|byte| **byte == 0).count() >= NOBODYS_ZEROS;
        let is_token = world.config.tokens.iter().any(|token| token.address == *to);
        let own = [wallet.address, wallet.controller, wallet.implementation];
        let is_own = own.contains(to) || self.is_installations(world, to).await?;
        Ok(nobodys || is_token || is_own || !self.store.watched(&[*to]).await?.is_empty())
    }

    /// Whether an address is a key, controller, admin or treasury of any tenant.
    async fn is_installations(&self, world: &ChainContext, to: &Address) -> Result<bool, Denied> {
        let tenants = self.store.tenants().await?;
        Ok(tenants.iter().any(|tenant| {
            // A tenant without wallets has none of them.
            let key = |role: &KeyRole| world.signer.address(tenant.id, *role).ok();
            let keys = KeyRole::ALL.iter().filter_map(key);
            let operators = world.signer.operators(tenant.id).unwrap_or_default();
            let owners = world.contracts.owners(tenant.id).unwrap_or_default();
            let controller = world.contracts.controller(tenant.id).ok();
            let contracts = controller.into_iter().flat_map(|it| [it.address, it.implementation]);
            keys.chain(operators).chain(owners).chain(contracts).any(|own| own == *to)
        }))
    }
}
