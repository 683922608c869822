//! Wallets and their balances.

use domain::currency::Currency;
use domain::money::Money;
use domain::wallet::{Wallet, WalletState};
use engine::wallets::Held;

use super::amounts::{coin, money};
use crate::write::ObjectWriter;

/// `total_value_usd`; `None` if a rate is missing for a held token.
fn total_usd(held: &[Held]) -> Option<Money> {
    let nothing = Money::new(0, Currency::Usd);
    held.iter().try_fold(nothing, |sum, line| sum.checked_add(line.value_usd?))
}

/// The response to a provisioning: always as created, whatever the current state.
pub fn provisioned(out: &mut ObjectWriter<'_>, wallet: &Wallet) {
    let state = if wallet.state == WalletState::Pending {
        WalletState::Pending
    } else {
        WalletState::Active
    };
    out.plain("wallet_id", wallet.id);
    out.plain("wallet_address", wallet.address);
    out.text("blockchain", &wallet.blockchain);
    out.text("status", state.name());
    out.text("kyc_level", wallet.kyc_level.name());
    out.time("created_at", wallet.created_at);
}

/// A wallet with its balance.
pub fn found_wallet(out: &mut ObjectWriter<'_>, wallet: &Wallet, held: &[Held]) {
    out.plain("wallet_id", wallet.id);
    out.text("customer_id", &wallet.customer_id);
    out.plain("wallet_address", wallet.address);
    out.text("blockchain", &wallet.blockchain);
    out.text("status", wallet.state.name());
    out.text("kyc_level", wallet.kyc_level.name());
    out.object("balance", |out| {
        out.text_or_null("total_value_usd", total_usd(held).map(money).as_deref());
        out.array("assets", |assets| {
            for line in held {
                assets.object(|out| {
                    out.text("currency", line.coin.currency().code());
                    out.text("amount", &coin(line.minor));
                    out.text("available", &coin(line.available_minor));
                    out.text_or_null("value_usd", line.value_usd.map(money).as_deref());
                    out.text_or_null("value_pkr", line.value_pkr.map(money).as_deref());
                });
            }
        });
    });
    out.time("created_at", wallet.created_at);
    out.time("last_activity_at", wallet.last_activity_at);
}
