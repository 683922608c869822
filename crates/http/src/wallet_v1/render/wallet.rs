//! Wallets and their balances.

use domain::currency::{Currency, StableCoin};
use domain::money::Money;
use domain::wallet::{Wallet, WalletState};

use super::amounts::{coin, money};
use crate::write::ObjectWriter;

/// What a wallet holds of one coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssetLine {
    /// Which coin.
    pub coin: StableCoin,
    /// `amount`: all of it, in minor units.
    pub minor: i64,
    /// `available`: what no order has reserved.
    pub available_minor: i64,
    /// `value_usd`; `None` = there is no rate now.
    pub value_usd: Option<Money>,
    /// `value_pkr`; `None` = there is no rate now.
    pub value_pkr: Option<Money>,
}

/// What a wallet holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// One line for each coin.
    pub assets: Vec<AssetLine>,
}

impl Holdings {
    /// `total_value_usd`; `None` = there is no rate for something that is there.
    fn total_usd(&self) -> Option<Money> {
        let nothing = Money::new(0, Currency::Usd);
        self.assets.iter().try_fold(nothing, |sum, line| sum.checked_add(line.value_usd?))
    }
}

/// The answer to a provisioning: always as it was made, whatever has become of the wallet since.
pub fn provisioned(out: &mut ObjectWriter<'_>, wallet: &Wallet) {
    let state = if wallet.state == WalletState::Pending { WalletState::Pending } else { WalletState::Active };
    out.plain("wallet_id", wallet.id);
    out.plain("wallet_address", wallet.address);
    out.text("blockchain", &wallet.blockchain);
    out.text("status", state.name());
    out.text("kyc_level", wallet.kyc_level.name());
    out.time("created_at", wallet.created_at);
}

/// A wallet with its balance.
pub fn found_wallet(out: &mut ObjectWriter<'_>, wallet: &Wallet, holdings: &Holdings) {
    out.plain("wallet_id", wallet.id);
    out.text("customer_id", &wallet.customer_id);
    out.plain("wallet_address", wallet.address);
    out.text("blockchain", &wallet.blockchain);
    out.text("status", wallet.state.name());
    out.text("kyc_level", wallet.kyc_level.name());
    out.object("balance", |out| {
        out.text_or_null("total_value_usd", holdings.total_usd().map(money).as_deref());
        out.array("assets", |assets| {
            for line in &holdings.assets {
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
