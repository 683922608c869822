//! What a coin's contract says about itself: it moves nothing for a while, or has other code.

use domain::chain::{Block, ChainLog, LogEvent};
use domain::deposit::TokenState;
use domain::wallet_effects::AlertKind;

use super::{Trouble, Watch};

impl Watch<'_> {
    /// Notes what a contract says, and calls a person. Releases of the coin wait from here on, or go on.
    pub(super) async fn token_says(&self, block: &Block, log: &ChainLog) -> Result<(), Trouble> {
        let Some(coin) = self.wallets.config.coin(&log.contract) else { return Ok(()) };
        let states = self.workers.store.token_states().await?;
        let known = states.into_iter().find(|state| state.coin == coin);
        let known = known.unwrap_or(TokenState { coin, paused: false, code_changed: false, at_block: 0 });
        let (state, what) = match log.event {
            LogEvent::Paused => (TokenState { paused: true, ..known }, "is paused"),
            LogEvent::Unpaused => (TokenState { paused: false, ..known }, "moves again"),
            _ => {
                (TokenState { code_changed: true, ..known }, "has other code: nothing moves until a person has looked")
            }
        };
        // Code that was changed once more is something else to look at.
        let again = log.event == LogEvent::CodeChanged && block.number > known.at_block;
        if !again && (state.paused, state.code_changed) == (known.paused, known.code_changed) {
            return Ok(());
        }
        let state = TokenState { at_block: block.number, ..state };
        self.workers.store.set_token_state(&self.role, &state).await?;
        let what = format!("{} {what} (block {})", coin.currency().code(), block.number);
        self.workers.alert_everybody(AlertKind::TokenChanged, &what).await;
        Ok(())
    }
}
