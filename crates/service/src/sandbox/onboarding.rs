//! A bank's onboarding to the wallet service, as done for the demo tenant: a funded wallet, a
//! token, a webhook endpoint, a payment link to try.

use std::sync::Arc;

use adapters::webhooks::WebhookSecret;
use anyhow::Context as _;
use domain::currency::StableCoin;
use domain::ids::WalletId;
use domain::payment_request::{AmountAsked, DEFAULT_EXPIRES_IN_HOURS, PaymentRequest};
use domain::ports::Clock as _;
use domain::time::Span;
use domain::wallet::{KycLevel, WalletState};
use engine::wallets::{Caller, NewCustomer, NewRequestAsked, Wallets};
use http_api::auth::mint::{Grant, Minter};
use http_api::key_ring::token_lifetime;
use secrecy::{ExposeSecret as _, SecretString};
use store::{Store, Tenant};

use super::WHO;
use crate::clock::WallClock;
use crate::sender::Sender;
use crate::tenancy::IssuedKey;

/// Store key of the pre-funded wallet.
const WALLET: &str = "sandbox.wallet_id";
/// Store key of the record that it was funded.
const FUNDED: &str = "sandbox.wallet_funded";
/// Initial balance of the pre-funded wallet, in minor units.
const FUNDS: [(StableCoin, i64); 2] =
    [(StableCoin::Usdc, 1_000_000_000), (StableCoin::Usdt, 500_000_000)];
/// The amount of the link to try: 25.00 USDC.
const TRY_MINOR: i64 = 25_000_000;
/// Recipient of the payment links, as the bank would name its customer.
const DEMO_RECIPIENT: &str = "Nila Sarkar";
/// Lifetime of an onboarding token (`decisions.md`, "JWT"): 90 days.
const TOKEN_LIFETIME_S: i64 = 90 * 86_400;
/// Timeout for the first payment.
const FUNDED_WITHIN: Span = Span::secs(60);
/// Why no webhook is sent while no endpoint is configured.
const NO_RECEIVER: &str = "no endpoint is configured: start with --webhook-base URL";
const LOOK_EVERY: Span = Span::millis(20);

/// The demo tenant's wallet.
pub(super) struct Onboarding<'a> {
    pub(super) wallets: &'a Wallets,
    pub(super) sender: &'a Sender,
    pub(super) tenant: &'a Tenant,
}

impl Onboarding<'_> {
    fn caller(&self) -> Caller {
        Caller { tenant: self.tenant.id, policy: Arc::new(self.tenant.policy.clone()) }
    }

    /// The pre-funded wallet: created once, funded once, through the same escrow and screening as
    /// all money.
    pub(super) async fn wallet(&self) -> anyhow::Result<WalletId> {
        let store = self.wallets.store();
        let known = store.meta(WALLET).await?;
        let known = known.map(|text| WalletId::parse(&text).context(WALLET)).transpose()?;
        let wallet = match known {
            Some(id) if self.is_usable(id).await? => id,
            _ => {
                // One that was blocked or blacklisted makes room for another customer's.
                let id = self.provision(known).await?;
                store.set_meta(FUNDED, "").await?;
                store.set_meta(WALLET, &id.to_string()).await?;
                id
            }
        };
        if store.meta(FUNDED).await?.is_none_or(|funded| funded.is_empty()) {
            self.fund(wallet).await?;
            store.set_meta(FUNDED, "1").await?;
        }
        Ok(wallet)
    }

    async fn is_usable(&self, wallet: WalletId) -> anyhow::Result<bool> {
        let (wallet, _) = self.wallets.find(&self.caller(), wallet).await?;
        Ok(matches!(wallet.state, WalletState::Pending | WalletState::Active))
    }

    /// `before`: the wallet that it replaces.
    async fn provision(&self, before: Option<WalletId>) -> anyhow::Result<WalletId> {
        let after = before.map(|wallet| format!("-after-{wallet}")).unwrap_or_default();
        let customer = NewCustomer {
            customer_id: format!("demo-customer{after}"),
            email: "demo.customer@example.com".to_owned(),
            phone: "+923001234567".to_owned(),
            blockchain: None,
            kyc_level: Some(KycLevel::Comprehensive),
        };
        Ok(self
            .wallets
            .provision(&self.caller(), customer, None)
            .await
            .context("the demo wallet")?
            .made
            .id)
    }

    async fn fund(&self, wallet: WalletId) -> anyhow::Result<()> {
        let (_, held) = self.wallets.find(&self.caller(), wallet).await?;
        let missing = FUNDS
            .iter()
            .filter(|(coin, _)| held.iter().any(|held| held.coin == *coin && held.minor == 0));
        for (coin, minor) in missing {
            let request =
                self.request(wallet, AmountAsked::Crypto(*coin, *minor), "Opening balance").await?;
            self.sender.leave_alone(&request).await?;
            self.sender.pay(&request, Some((*coin, *minor))).await?;
        }
        let until = WallClock.now() + FUNDED_WITHIN;
        loop {
            let (_, held) = self.wallets.find(&self.caller(), wallet).await?;
            if held.iter().all(|held| held.minor > 0) {
                return Ok(());
            }
            anyhow::ensure!(WallClock.now() < until, "the demo wallet's money has not arrived");
            WallClock.sleep_until(WallClock.now() + LOOK_EVERY).await;
        }
    }

    async fn request(
        &self,
        wallet: WalletId,
        amount: AmountAsked,
        purpose: &str,
    ) -> anyhow::Result<PaymentRequest> {
        let asked = NewRequestAsked {
            wallet,
            amount,
            purpose: Some(purpose.to_owned()),
            recipient_name: Some(DEMO_RECIPIENT.to_owned()),
            expires_in_hours: DEFAULT_EXPIRES_IN_HOURS,
        };
        Ok(self
            .wallets
            .create_request(&self.caller(), asked, None)
            .await
            .context("a payment request")?
            .made)
    }

    /// A new link that the simulated sender ignores: its path.
    pub(super) async fn link_to_try(&self, wallet: WalletId) -> anyhow::Result<String> {
        let request = self
            .request(wallet, AmountAsked::Crypto(StableCoin::Usdc, TRY_MINOR), "Try the pay page")
            .await?;
        self.sender.leave_alone(&request).await?;
        Ok(format!("/pay/{}", request.token))
    }

    /// The tenant's webhook signing secret; `base` is the endpoint's base URL, "" = none yet.
    pub(super) async fn webhook_secret(&self, base: &str) -> anyhow::Result<String> {
        let (store, tenant) = (self.wallets.store(), self.tenant.id);
        if store.webhook(tenant).await?.is_none() {
            let secret = SecretString::from(WebhookSecret::text_of(&store.random::<32>()));
            store.add_webhook(tenant, base, secret, WHO).await?;
            if base.is_empty() {
                store.disable_webhook(tenant, NO_RECEIVER, WHO).await?;
            }
        }
        let webhook =
            store.webhook(tenant).await?.context("the endpoint is missing in the store")?;
        if !base.is_empty() && webhook.url != base {
            store.set_webhook_url(tenant, base, WHO).await?;
        }
        // The first URL enables it.
        if !base.is_empty() && !webhook.url.is_empty() && webhook.disabled.is_some() {
            store.enable_webhook(tenant, WHO).await?;
        }
        let secret = webhook.secrets.first().context("the endpoint has no secret")?;
        Ok(secret.secret.expose_secret().to_owned())
    }
}

/// A token of the wallet API with every role, valid for 90 days, unlike any other key's tokens.
pub(super) async fn token(store: &Store, key: &IssuedKey, api_url: &str) -> anyhow::Result<String> {
    store.set_meta(&token_lifetime(&key.access_key), &TOKEN_LIFETIME_S.to_string()).await?;
    let minter = Minter::new(key.access_key.clone(), key.secret_key.as_bytes(), api_url);
    let roles = ["wallet_manager", "compliance_officer"];
    Ok(minter.token(Grant { roles: &roles, ..Grant::new(WallClock.now(), TOKEN_LIFETIME_S) }))
}
