//! The simulated sender: opens payment links a few seconds after their creation, enters sender
//! details, and behaves as encoded in the cents of the amount (`decisions.md`, "Sandbox values").
//! Only in `mock`.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;
use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::payment_request::{Asked, PaymentRequest, RequestState, SenderDetails};
use domain::ports::Clock;
use domain::time::{Span, Timestamp};
use engine::wallets::Wallets;
use tokio::sync::watch;

use super::built_in::BuiltInChain;
use super::chain::{CannotPay, ChainSide, Faucet};

/// Polling interval for new links.
const LOOK_EVERY: Span = Span::millis(250);
/// Number of links processed concurrently.
const AT_ONCE: usize = 100;
/// Attempts at a payment before the sender gives it up, and the time between them.
const ATTEMPTS_MAX: u32 = 3;
const RETRY_AFTER: Span = Span::secs(5);
/// The amount where the sender may choose: 10.00 USDC.
const FLEXIBLE: (StableCoin, i64) = (StableCoin::Usdc, 10_000_000);
/// Minor units of a cent.
const CENT: i64 = 10_000;
/// Delay of a late payment after expiry.
const LATE_BY: Span = Span::secs(1);
/// Store key of the position up to which requests are paid.
const PAID_UP_TO: &str = "sandbox.sender_paid_up_to";
/// Store key of pending late payments: `microseconds:token` for each, with the earliest time of
/// payment.
const PAYS_LATE: &str = "sandbox.sender_pays_late";
/// Prefix of the store keys of ignored requests.
const LEFT_ALONE: &str = "sandbox.left_alone.";

/// The sender's behaviour for an amount with these cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Exactly,
    Half,
    Double,
    Late,
    /// And then the block that contains it is replaced.
    ReorganisedAfterwards,
}

impl Manner {
    const fn of(asked: &Asked) -> Manner {
        let Asked::Crypto { minor, .. } = asked else { return Manner::Exactly };
        match (*minor / CENT) % 100 {
            5 => Manner::Half,
            6 => Manner::Double,
            7 => Manner::Late,
            8 => Manner::ReorganisedAfterwards,
            _ => Manner::Exactly,
        }
    }
}

/// What the sender pays with on a chain.
#[derive(Clone)]
struct Purse {
    faucet: Arc<Faucet>,
    embedded: Option<BuiltInChain>,
}

/// A request whose payment failed and will be tried again.
struct FailedPayment {
    request: PaymentRequest,
    attempts: u32,
    retry_at: Timestamp,
}

#[derive(Clone)]
pub struct Sender {
    wallets: Wallets,
    /// By the chain's EIP-155 id.
    purses: BTreeMap<u64, Purse>,
    clock: Arc<dyn Clock>,
}

impl Sender {
    /// A sender that pays with worthless tokens; `None` if there are none.
    pub fn of(wallets: &Wallets, chains: &[ChainSide]) -> Option<Sender> {
        let purse = |side: &ChainSide| {
            let (faucet, embedded) = (side.faucet.clone()?, side.embedded.clone());
            Some((side.config.chain_id, Purse { faucet, embedded }))
        };
        let purses: BTreeMap<_, _> = chains.iter().filter_map(purse).collect();
        let clock = wallets.world().clock.clone();
        (!purses.is_empty()).then(|| Sender { wallets: wallets.clone(), purses, clock })
    }

    /// Ignores a request, so that a user can pay it by hand.
    pub async fn leave_alone(&self, request: &PaymentRequest) -> anyhow::Result<()> {
        Ok(self.wallets.store().set_meta(&format!("{LEFT_ALONE}{}", request.id), "1").await?)
    }

    async fn is_left_alone(&self, request: &PaymentRequest) -> anyhow::Result<bool> {
        Ok(self.wallets.store().meta(&format!("{LEFT_ALONE}{}", request.id)).await?.is_some())
    }

    /// Pays links `after` their creation, until shutdown.
    pub async fn pay_links(self, after: Span, mut stop: watch::Receiver<bool>) {
        let mut failed = Vec::new();
        loop {
            tokio::select! {
                () = self.clock.sleep_until(self.clock.now() + LOOK_EVERY) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            self.pay_again(&mut failed).await;
            let new = self.pay_new(after, &mut failed).await;
            for done in [new, self.pay_overdue(&mut failed).await] {
                if let Err(error) = done {
                    let error = format!("{error:#}");
                    tracing::warn!(error, "reading requests to pay failed, will retry");
                }
            }
        }
    }

    /// Pays a request. After a failure it is tried again later: it delays no other.
    async fn attempt(
        &self,
        request: PaymentRequest,
        attempts: u32,
        failed: &mut Vec<FailedPayment>,
    ) {
        let Err(error) = self.pay(&request, None).await else { return };
        // A chain that is away comes back.
        let attempts = attempts + u32::from(error.downcast_ref::<CannotPay>().is_some());
        let error = format!("{error:#}");
        if attempts < ATTEMPTS_MAX {
            tracing::debug!(request = %request.id, error, "simulated payment failed, will retry");
            let retry_at = self.clock.now() + RETRY_AFTER;
            failed.push(FailedPayment { request, attempts, retry_at });
        } else {
            tracing::warn!(request = %request.id, attempts, error, "simulated payment failed, given up");
        }
    }

    /// Tries failed payments again, unless their requests were paid, cancelled or left alone since.
    async fn pay_again(&self, failed: &mut Vec<FailedPayment>) {
        let now = self.clock.now();
        let (due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(failed).into_iter().partition(|it| it.retry_at <= now);
        *failed = rest;
        for FailedPayment { request, attempts, .. } in due {
            match self.still_unpaid(&request).await {
                Ok(true) => self.attempt(request, attempts, failed).await,
                Ok(false) => {}
                Err(_) => {
                    failed.push(FailedPayment { request, attempts, retry_at: now + RETRY_AFTER });
                }
            }
        }
    }

    async fn still_unpaid(&self, request: &PaymentRequest) -> anyhow::Result<bool> {
        let current = self.wallets.store().request(request.tenant, request.id).await?;
        let waits = current.is_some_and(|current| current.state == request.state);
        Ok(waits && !self.is_left_alone(request).await?)
    }

    async fn pay_new(&self, after: Span, failed: &mut Vec<FailedPayment>) -> anyhow::Result<()> {
        let store = self.wallets.store();
        let paid_up_to =
            store.meta(PAID_UP_TO).await?.map_or(Ok(0), |text| text.parse()).context(PAID_UP_TO)?;
        for request in store.new_requests(Timestamp(paid_up_to), AT_ONCE).await? {
            if self.clock.now() < request.created_at + after {
                break;
            }
            let late = Manner::of(&request.asked) == Manner::Late;
            // The request may have expired without an event yet.
            let open =
                request.state == RequestState::Active && self.clock.now() < request.expires_at;
            let position = request.created_at.0.to_string();
            if !self.is_left_alone(&request).await? {
                if late {
                    self.intend_late(&request).await?;
                } else if open {
                    self.attempt(request, 0, failed).await;
                }
            }
            store.set_meta(PAID_UP_TO, &position).await?;
        }
        Ok(())
    }

    async fn intend_late(&self, request: &PaymentRequest) -> anyhow::Result<()> {
        let store = self.wallets.store();
        let intended = store.meta(PAYS_LATE).await?.unwrap_or_default();
        let from = request.expires_at + LATE_BY;
        Ok(store
            .set_meta(PAYS_LATE, format!("{intended} {}:{}", from.0, request.token).trim_start())
            .await?)
    }

    /// Makes late payments whose request has expired. Requests paid or cancelled in the meantime
    /// are dropped.
    async fn pay_overdue(&self, failed: &mut Vec<FailedPayment>) -> anyhow::Result<()> {
        let store = self.wallets.store();
        let intended = store.meta(PAYS_LATE).await?.unwrap_or_default();
        for entry in intended.split_ascii_whitespace() {
            let (from, token) = entry.split_once(':').context(PAYS_LATE)?;
            if self.clock.now() < Timestamp(from.parse().context(PAYS_LATE)?) {
                continue;
            }
            if let Some(request) = store.request_by_token(token).await? {
                match request.state {
                    // The expiry is processed in a moment.
                    RequestState::Active => continue,
                    RequestState::Expired if !self.is_left_alone(&request).await? => {
                        self.attempt(request, 0, failed).await;
                    }
                    RequestState::Expired | RequestState::Paid | RequestState::Cancelled => {}
                }
            }
            let now = store.meta(PAYS_LATE).await?.unwrap_or_default();
            let rest: Vec<&str> =
                now.split_ascii_whitespace().filter(|other| *other != entry).collect();
            store.set_meta(PAYS_LATE, &rest.join(" ")).await?;
        }
        Ok(())
    }

    /// Pays a request by its amount, or this much of a token; returns the mined transactions: none on
    /// a chain whose tokens are worth something.
    pub async fn pay(
        &self,
        request: &PaymentRequest,
        amount: Option<(StableCoin, i64)>,
    ) -> anyhow::Result<Vec<TxHash>> {
        let chain_id = self.wallets.offered_on(request.chain)?.config.chain_id;
        let Some(purse) = self.purses.get(&chain_id) else { return Ok(Vec::new()) };
        let (coin, minor) = amount.unwrap_or_else(|| wanted(&request.asked));
        let escrow = self.escrow(request).await?;
        let manner = if amount.is_some() { Manner::Exactly } else { Manner::of(&request.asked) };
        let minor = match manner {
            Manner::Half => minor / 2,
            Manner::Double => minor.saturating_mul(2),
            Manner::Exactly | Manner::Late | Manner::ReorganisedAfterwards => minor,
        };
        let minor = u64::try_from(minor).context("an amount below zero")?;
        let paid = purse.faucet.pay(coin, escrow, minor).await?;
        if let (Manner::ReorganisedAfterwards, Some(chain)) = (manner, &purse.embedded) {
            chain.replace_newest_block()?;
        }
        Ok(vec![paid])
    }

    /// The address to pay: the escrow of the newest submission, or else of a new one. If the form
    /// accepts no more submissions, the request's own.
    async fn escrow(&self, request: &PaymentRequest) -> anyhow::Result<Address> {
        let said = self.wallets.store().sender_infos(request.tenant, request.id).await?;
        let shown = match said.into_iter().rev().find_map(|info| info.escrow) {
            None if request.state == RequestState::Active => {
                self.wallets.submit_sender(&request.token, details(), None).await?.escrow
            }
            shown => shown,
        };
        Ok(shown.unwrap_or(request.escrow))
    }
}

const fn wanted(asked: &Asked) -> (StableCoin, i64) {
    match asked {
        Asked::Crypto { coin, minor } => (*coin, *minor),
        Asked::Fiat { usdc, .. } => (StableCoin::Usdc, *usdc),
        Asked::Flexible => FLEXIBLE,
    }
}

/// The sender's made-up details.
fn details() -> SenderDetails {
    let text = |text: &str| Some(text.to_owned());
    SenderDetails {
        first_name: text("Sandbox"),
        last_name: text("Sender"),
        email: text("sender@example.com"),
        phone_number: text("+971500000000"),
        custodial_provider: text("Sandbox Exchange"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cents_encode_the_behaviour() {
        let manner = |minor| Manner::of(&Asked::Crypto { coin: StableCoin::Usdc, minor });
        for (minor, expected) in [
            (25_000_000, Manner::Exactly),
            (25_010_000, Manner::Exactly),
            (25_050_000, Manner::Half),
            (25_060_000, Manner::Double),
            (25_070_000, Manner::Late),
            (25_080_000, Manner::ReorganisedAfterwards),
            (25_089_999, Manner::ReorganisedAfterwards),
            (1, Manner::Exactly),
        ] {
            assert_eq!(manner(minor), expected, "{minor}");
        }
        let fiat = Asked::Fiat {
            currency: domain::currency::Currency::Pkr,
            micros: 1,
            usdc: 50_000,
            usdt: 50_000,
        };
        assert_eq!(Manner::of(&fiat), Manner::Exactly, "only token amounts encode a behaviour");
        assert_eq!(wanted(&Asked::Flexible), (StableCoin::Usdc, 10_000_000));
    }
}
