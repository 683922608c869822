//! Customers who want rupees: alone, or eight at once for one balance, with a locked rate or not, and some who regret it.

use domain::country::Country;
use domain::currency::StableCoin;
use domain::exchange::{ExchangeOrder, OrderRefusal};
use domain::order::example;
use domain::wallet::{Wallet, WalletRefusal};
use engine::command::Refused;
use engine::wallets::{Denied, NewOrderAsked, Wallets};
use futures_util::FutureExt;
use futures_util::future::join_all;

use super::customers::{Came, Programs};
use super::wishes::{COIN, Exchange};
use crate::wallet_installation::caller;

/// How often a customer looks whether there is something to exchange.
const LOOKS_MAX: u32 = 30;
/// One cent of a coin.
const CENT: i64 = 10_000;

impl Programs {
    /// One wish for rupees.
    pub(super) async fn exchange(&self, wanted: &Exchange, wallet: &Wallet) {
        let Some(available) = self.wait_for_coins(wanted.coin, wallet).await else { return };
        let units = if wanted.rivals > 1 {
            available / COIN / 2 + 1
        } else {
            (available / COIN * wanted.share / 1_000).max(1)
        };
        let minor = units * COIN + wanted.cents * CENT;
        let orders = (0..wanted.rivals).map(|rival| self.order(wanted, wallet, minor, rival));
        let made: Vec<ExchangeOrder> = join_all(orders).await.into_iter().flatten().collect();
        for order in &made {
            self.sim
                .trace(format_args!("order {} over {} of {:?}", order.id, order.minor, order.coin));
        }
        if let (true, Some(order)) = (wanted.regretted, made.first()) {
            self.regret(order).await;
        }
    }

    async fn wait_for_coins(&self, coin: StableCoin, wallet: &Wallet) -> Option<i64> {
        let (tenant, id) = (wallet.tenant, wallet.id);
        for _ in 0..LOOKS_MAX {
            let find = move |wallets: Wallets| {
                async move { wallets.find(&caller(tenant), id).await }.boxed()
            };
            match self.call(find).await {
                Came::Made((_, held)) => {
                    let available = held
                        .iter()
                        .find(|held| held.coin == coin)
                        .map_or(0, |held| held.available_minor);
                    if available > 2 * COIN {
                        return Some(available);
                    }
                }
                Came::Refused(denied) => {
                    self.truth.complain(format!("wallet {id} is not found: {denied:?}"));
                    return None;
                }
                Came::Again => {}
            }
            self.pause(1_000, 6_000).await;
        }
        None
    }

    async fn order(
        &self,
        wanted: &Exchange,
        wallet: &Wallet,
        minor: i64,
        rival: usize,
    ) -> Option<ExchangeOrder> {
        let asked = NewOrderAsked {
            wallet: wallet.id,
            coin: wanted.coin,
            minor,
            to: Country::Pak,
            lock: wanted.lock,
            iban: Some(example::account_ending(Country::Pak, wanted.ending)),
            account_number: None,
            bank_code: None,
            holder: "Asha Khan".to_owned(),
        };
        // What is sent again after an unclear answer is the same order.
        let key = self.key(true, "POST /v1/orders", wanted.number * 100 + rival);
        let tenant = wallet.tenant;
        let create = |wallets: Wallets| {
            let (asked, key) = (asked.clone(), key.clone());
            async move { wallets.create_order(&caller(tenant), asked, key).await }.boxed()
        };
        let mut answer = self.insist("an order", create).await?;
        // Refused for now: the servers of the lists work again when everything is healed.
        while matches!(answer, Err(Denied::ListsStale)) {
            self.pause(20_000, 60_000).await;
            answer = self.insist("an order", create).await?;
        }
        match answer {
            Ok(reply) => Some(reply.made),
            Err(Denied::Refused(
                Refused::Exchange(
                    OrderRefusal::InsufficientBalance { .. } | OrderRefusal::Frozen(_),
                )
                | Refused::Wallet(WalletRefusal::Frozen(_)),
            )) => None,
            Err(denied) => {
                self.truth.complain(format!("an order was refused: {denied:?}"));
                None
            }
        }
    }

    async fn regret(&self, order: &ExchangeOrder) {
        let (tenant, id) = (order.tenant, order.id);
        self.pause(0, 3_000).await;
        let cancel = move |wallets: Wallets| {
            async move { wallets.cancel_order(&caller(tenant), id, None).await }.boxed()
        };
        match self.insist("a cancellation", cancel).await {
            Some(
                Ok(_)
                | Err(Denied::Refused(
                    Refused::Exchange(OrderRefusal::Conflict(_) | OrderRefusal::Reported(_))
                    | Refused::Moved,
                )),
            )
            | None => {}
            Some(Err(denied)) => {
                self.truth.complain(format!("{id} cannot be cancelled: {denied:?}"))
            }
        }
    }
}
