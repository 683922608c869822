//! Token contracts' events about themselves and about wallets: a pause, a code change, or a
//! blacklisted wallet. For events in blocks that were reorganized away, the contract is queried
//! again.

use domain::chain::{Block, ChainFault, ChainLog, LogEvent};
use domain::currency::StableCoin;
use domain::deposit::{TokenState, Watched};
use domain::ids::{TenantId, WalletId};
use domain::wallet_effects::{Alert, AlertKind};
use store::HEADERS_REACH;

use super::{Trouble, Watch};
use crate::alerts;
use crate::command::Action;
use crate::command::wallets::WalletAction;

/// Store key of the wallets that USDC's blacklist recently named: one line `height tenant wallet`
/// each.
const NAMED: &str = "chain.blacklist_named";

/// A wallet that a blacklist named, with the block height.
struct Named {
    height: u64,
    tenant: TenantId,
    wallet: WalletId,
}

impl Named {
    fn parse(line: &str) -> Option<Named> {
        let mut words = line.split(' ');
        let mut next = || words.next();
        Some(Named {
            height: next()?.parse().ok()?,
            tenant: TenantId(next()?.parse().ok()?),
            wallet: WalletId(next()?.parse().ok()?),
        })
    }

    fn to_text(&self) -> String {
        format!("{} {} {}", self.height, self.tenant.0, self.wallet.0)
    }
}

impl Watch<'_> {
    /// USDC's blacklist added or removed a wallet.
    pub(super) async fn blacklist_says(
        &self,
        block: &Block,
        vault: &Watched,
        blacklisted: bool,
    ) -> Result<(), Trouble> {
        let mut named = self.named().await?;
        named.retain(|it| it.height.saturating_add(HEADERS_REACH) >= block.number);
        named.push(Named { height: block.number, tenant: vault.tenant, wallet: vault.wallet });
        self.keep_named(&named).await?;
        self.tell_blacklisted(vault.tenant, vault.wallet, blacklisted).await
    }

    async fn tell_blacklisted(
        &self,
        tenant: TenantId,
        wallet: WalletId,
        blacklisted: bool,
    ) -> Result<(), Trouble> {
        let action = Action::Wallet(wallet, WalletAction::ChainSays { blacklisted });
        self.must(tenant, wallet.0, action).await
    }

    /// Empty if unreadable: then it was not written by this program.
    async fn named(&self) -> Result<Vec<Named>, Trouble> {
        let text = self.workers.store.meta(&self.number().key(NAMED)).await?.unwrap_or_default();
        Ok(text.lines().filter_map(Named::parse).collect())
    }

    async fn keep_named(&self, named: &[Named]) -> Result<(), Trouble> {
        let lines: Vec<String> = named.iter().map(Named::to_text).collect();
        let key = self.number().key(NAMED);
        Ok(self.workers.store.set_meta_as(&self.role, &key, &lines.join("\n")).await?)
    }

    /// Handles the removal of blocks above this height. The contracts' current answers replace
    /// their events in those blocks; events in the blocks that replace them are ingested with
    /// those.
    pub(super) async fn ask_issuers_again(&self, kept: u64) -> Result<(), Trouble> {
        for known in self.token_states().await? {
            // Whether the original code is back cannot be queried: the operator alert remains.
            let Some(token) =
                self.wallets.config.token(known.coin).filter(|_| known.at_block > kept)
            else {
                continue;
            };
            let Some(paused) = said(self.chain.is_paused(token).await)? else { continue };
            if paused != known.paused {
                self.note(TokenState { paused, at_block: kept, ..known }, moves(paused), kept)
                    .await?;
            }
        }
        let (gone, stays): (Vec<Named>, Vec<Named>) =
            self.named().await?.into_iter().partition(|it| it.height > kept);
        let token = self.wallets.config.token(StableCoin::Usdc);
        for Named { tenant, wallet, .. } in &gone {
            let (Some(token), Some(known)) =
                (token, self.workers.store.wallet(*tenant, *wallet).await?)
            else {
                continue;
            };
            let listed = self.chain.is_blacklisted(token, known.address).await;
            let Some(blacklisted) = said(listed)? else { continue };
            if blacklisted != known.chain_blacklisted {
                let verb = if blacklisted { "on" } else { "off" };
                let what = format!(
                    "a wallet is {verb} the blacklist of USDC again: its block was reorganized away"
                );
                self.workers
                    .raise(
                        *tenant,
                        Alert { kind: AlertKind::TokenChanged, subject: wallet.0, what },
                    )
                    .await;
                self.tell_blacklisted(*tenant, *wallet, blacklisted).await?;
            }
        }
        if gone.is_empty() { Ok(()) } else { self.keep_named(&stays).await }
    }

    /// The known states of this chain's tokens.
    async fn token_states(&self) -> Result<Vec<TokenState>, Trouble> {
        let mut states = self.workers.store.token_states().await?;
        states.retain(|state| state.chain == self.number());
        Ok(states)
    }

    async fn note(&self, state: TokenState, what: &str, number: u64) -> Result<(), Trouble> {
        self.workers.store.set_token_state(&self.role, &state).await?;
        let coin = state.coin.currency().code();
        let what_is = |what| self.workers.said_of(state.chain, format!("{coin} {what}"));
        if !state.paused {
            let paused = format!("{} (", what_is(moves(true)));
            alerts::end_beginning(&self.workers.store, AlertKind::TokenChanged, &paused).await;
        }
        // A pause that is over needs nothing from an operator.
        if what != moves(false) {
            let what = format!("{} (block {number})", what_is(what));
            alerts::raise_everywhere(&self.workers.store, AlertKind::TokenChanged, &what).await;
        }
        Ok(())
    }

    /// Records a contract's event and alerts an operator. Releases of the token stop from here on,
    /// or resume.
    pub(super) async fn token_says(&self, block: &Block, log: &ChainLog) -> Result<(), Trouble> {
        let Some(coin) = self.wallets.config.coin(&log.contract) else { return Ok(()) };
        let known = self.token_states().await?.into_iter().find(|state| state.coin == coin);
        let chain = self.number();
        let silent = TokenState { chain, coin, paused: false, code_changed: false, at_block: 0 };
        let known = known.unwrap_or(silent);
        let (state, what) = match log.event {
            LogEvent::Paused => (TokenState { paused: true, ..known }, moves(true)),
            LogEvent::Unpaused => (TokenState { paused: false, ..known }, moves(false)),
            _ => (
                TokenState { code_changed: true, ..known },
                "has new code: transfers are halted until a reviewer accepts it",
            ),
        };
        // A further code change needs another review.
        let again = log.event == LogEvent::CodeChanged && block.number > known.at_block;
        if !again && (state.paused, state.code_changed) == (known.paused, known.code_changed) {
            return Ok(());
        }
        self.note(TokenState { at_block: block.number, ..state }, what, block.number).await
    }
}

/// A contract's answer; `None` if it reverts: what is known stays.
fn said(answer: Result<bool, ChainFault>) -> Result<Option<bool>, ChainFault> {
    match answer {
        Err(fault @ ChainFault::Reverted { .. }) => {
            tracing::warn!(%fault, "token state stays as it is known");
            Ok(None)
        }
        other => other.map(Some),
    }
}

const fn moves(paused: bool) -> &'static str {
    if paused { "is paused" } else { "is unpaused" }
}
