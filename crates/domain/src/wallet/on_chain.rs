//! On-chain effects of a wallet's state: the controller freezes or unfreezes its vault, and the
//! token contracts blacklist its address.

use super::{Wallet, WalletState};
use crate::chain::{Address, Word};
use crate::chain::{IntentKind, Plan, vault};
use crate::chain_tx::{Intent, IntentState};
use crate::currency::StableCoin;
use crate::decision::{Cx, JobChange};
use crate::ids::{IntentId, WalletId};
use crate::job::JobKind;
use crate::time::Timestamp;
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

/// The stablecoins whose blacklists the tenant's keys can write, with their contracts.
pub type BlacklistTokens = [(StableCoin, Address)];

/// Case reference under which the controller records actions on a wallet.
pub fn case_of(wallet: WalletId) -> Word {
    vault::hash(&[b"corridor.case", wallet.0.as_bytes()])
}

impl Wallet {
    /// Aligns the vault's on-chain flag with the state, one intent at a time. `under_way` is the
    /// intent in [`Wallet::freeze`]. Returns the intents to save, new and withdrawn.
    pub fn align_freeze(
        &mut self,
        under_way: Option<Intent>,
        cx: &mut Cx<'_>,
    ) -> (Vec<Intent>, WalletEffects) {
        let (mut intents, mut effects) = (Vec::new(), WalletEffects::default());
        let wanted = self.state.is_frozen();
        if let Some(mut intent) = under_way.filter(|intent| self.freeze == Some(intent.id)) {
            let frozen = matches!(intent.plan, Plan::SetFrozen { frozen: true, .. });
            match intent.state {
                IntentState::Waiting if frozen != wanted => {
                    effects.merge(intent.withdraw(cx.now).1);
                    intents.push(intent);
                    self.freeze = None;
                }
                IntentState::Waiting | IntentState::Assigned => return (intents, effects),
                IntentState::Done => {
                    self.frozen_on_chain = frozen;
                    self.freeze = None;
                }
                IntentState::Failed | IntentState::Cancelled => self.freeze = None,
            }
            self.version += 1;
        }
        if self.freeze.is_none() && self.frozen_on_chain != wanted {
            let plan =
                Plan::SetFrozen { account: self.address, frozen: wanted, case: case_of(self.id) };
            let intent = self.intent(plan, &mut effects, cx);
            self.freeze = Some(intent.id);
            self.version += 1;
            intents.push(intent);
        }
        (intents, effects)
    }

    /// A reorganisation restored a change of the vault's flag that had been given up: the flag is
    /// aligned with the state again.
    pub fn freeze_restored(&mut self, frozen: bool, now: Timestamp) -> WalletEffects {
        self.frozen_on_chain = frozen;
        self.version += 1;
        let job = JobChange::Set(JobKind::WalletTimer, now);
        WalletEffects { jobs: vec![(self.id.0, job)], ..WalletEffects::default() }
    }

    /// The wallet became BLACKLISTED: its address goes on the tokens' blacklists. If no key of the
    /// tenant may write them, an operator has to ask the issuer.
    pub fn blacklist_on_chain(
        &self,
        tokens: &BlacklistTokens,
        cx: &mut Cx<'_>,
    ) -> (Vec<Intent>, WalletEffects) {
        let mut effects = WalletEffects::default();
        if self.state != WalletState::Blacklisted {
            return (Vec::new(), effects);
        }
        if tokens.is_empty() {
            let what =
                "a wallet was blacklisted: ask the token's issuer to freeze its address".to_owned();
            effects.alerts.push(Alert {
                kind: AlertKind::BlacklistByIssuer,
                subject: self.id.0,
                what,
            });
        }
        let mut intents = Vec::with_capacity(tokens.len());
        for (coin, token) in tokens {
            let plan = Plan::Blacklist { coin: *coin, token: *token, account: self.address };
            intents.push(self.intent(plan, &mut effects, cx));
        }
        (intents, effects)
    }

    fn intent(&self, plan: Plan, effects: &mut WalletEffects, cx: &mut Cx<'_>) -> Intent {
        let id = IntentId(cx.ids.next());
        effects.jobs.push((id.0, JobChange::Set(JobKind::SendIntent, cx.now)));
        // A freeze is its own subject: several may follow each other.
        let subject = if plan.kind() == IntentKind::SetFrozen { id.0 } else { self.id.0 };
        let intent = Intent::new(id, self.tenant, self.chain, subject, plan, cx.now);
        Intent { wallet: Some(self.id), ..intent }
    }
}
