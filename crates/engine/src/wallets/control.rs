//! Block, unblock, blacklist.

use domain::audit::AuditContext;
use domain::chain::IntentKind;
use domain::currency::StableCoin;
use domain::ids::WalletId;
use domain::time::{Span, Timestamp};
use domain::wallet::{BlacklistOrder, BlockOrder, Wallet, WalletState};

use super::{Caller, Denied, Reply, Wallets};
use crate::command::wallets::WalletAction;
use crate::command::{Action, Idempotency};
use crate::workers::follow::blacklist_tokens;

/// How long a blacklist request waits for the chain (`decisions.md`,
/// "usdc_contract_blacklist_applied").
pub const CHAIN_WAIT: Span = Span::secs(10);
/// How often the chain is polled during that time.
const CHAIN_ASK: Span = Span::millis(250);

impl Wallets {
    /// Blocks a wallet.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; 409 as defined in `domain::wallet`.
    pub async fn block(
        &self,
        caller: &Caller,
        id: WalletId,
        order: BlockOrder,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Wallet>, Denied> {
        let by = Box::new(by.into());
        self.changed_wallet(
            caller,
            Action::Wallet(id, WalletAction::Block { order, by, idempotency }),
        )
        .await
    }

    /// Unblocks a wallet; `reason` is stored with it.
    ///
    /// # Errors
    /// As [`Wallets::block`].
    pub async fn unblock(
        &self,
        caller: &Caller,
        id: WalletId,
        reason: Option<String>,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Wallet>, Denied> {
        self.unblock_as_seen(caller, id, None, reason, by, idempotency).await
    }

    /// Same for the block that began at `seen`, and for no other; `None` = for any.
    ///
    /// # Errors
    /// As [`Wallets::block`]; 409 if another block has replaced it.
    pub async fn unblock_as_seen(
        &self,
        caller: &Caller,
        id: WalletId,
        seen: Option<Timestamp>,
        reason: Option<String>,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Wallet>, Denied> {
        let by = Box::new(by.into());
        self.changed_wallet(
            caller,
            Action::Wallet(id, WalletAction::Unblock { seen, reason, by, idempotency }),
        )
        .await
    }

    /// Passes on a regulator's order. The answer states whether USDC's contract has the address on
    /// its blacklist; if our keys can add it, the answer waits for that for a limited time. While
    /// the wallet's chain is not in use, the order blocks the wallet and takes effect when it is.
    ///
    /// # Errors
    /// As [`Wallets::block`].
    pub async fn blacklist(
        &self,
        caller: &Caller,
        id: WalletId,
        order: BlacklistOrder,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Wallet>, Denied> {
        let by = Box::new(by.into());
        let chain = self.own_wallet(caller, id).await?.chain;
        let chain = self.offered()?.on(chain);
        let tokens = chain.map(|chain| blacklist_tokens(chain, caller.tenant));
        let ours = tokens.iter().flatten().any(|(coin, _)| *coin == StableCoin::Usdc);
        let reference = order.reference.clone();
        let action = Action::Wallet(id, WalletAction::Blacklist { order, tokens, by, idempotency });
        let mut reply = self.changed_wallet(caller, action).await?;
        let wait =
            if ours && reply.made.state == WalletState::Blacklisted { CHAIN_WAIT } else { Span(0) };
        if let Some(shown) = self.shown_on_chain(&reply.made, wait).await? {
            reply.made.chain_blacklisted = shown;
        }
        reply.made = reply.made.as_ordered(&reference);
        Ok(reply)
    }

    /// The value of `isBlacklisted`, once it is true or the time is up; `None` = the chain does not
    /// answer.
    async fn shown_on_chain(&self, wallet: &Wallet, wait: Span) -> Result<Option<bool>, Denied> {
        let Some(wallets) = self.offered()?.on(wallet.chain) else { return Ok(None) };
        let Some(token) = wallets.config.token(StableCoin::Usdc) else { return Ok(None) };
        let clock = &self.world.wall_clock;
        let until = clock.now() + wait;
        loop {
            let shown =
                match self.promptly(wallets.chain.is_blacklisted(token, wallet.address)).await {
                    Ok(shown) => Some(shown),
                    Err(error) => {
                        tracing::warn!(%error, "blacklist read failed, will retry");
                        None
                    }
                };
            if shown == Some(true) || clock.now() >= until || !self.writes_blacklist(wallet).await?
            {
                return Ok(shown);
            }
            clock.sleep_until(clock.now() + CHAIN_ASK).await;
        }
    }

    /// Whether a transaction may still add the wallet's address to USDC's blacklist. One that the
    /// contract rejects, because the key is not its blacklister, is not waited for.
    async fn writes_blacklist(&self, wallet: &Wallet) -> Result<bool, Denied> {
        let open = self.store().open_intents(wallet.tenant, wallet.id).await?;
        Ok(open.iter().any(|intent| intent.kind() == IntentKind::BlacklistUsdc))
    }
}
