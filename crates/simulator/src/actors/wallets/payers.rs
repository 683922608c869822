//! Senders: they open the link, enter their details, and pay on the chain: the amount requested,
//! too little, too much, too late, or the wrong token. If the chain loses a payment, they repeat
//! it.

use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::payment_request::{PaymentRequest, RequestConflict, SenderDetails};
use domain::time::Span;
use domain::wallet::Wallet;
use engine::command::Refused;
use engine::wallets::{Denied, Wallets};
use futures_util::FutureExt;

use super::super::chain::{Deed, Payment};
use super::customers::{Programs, sender_name};
use super::wishes::{Manner, Payable, Sender};
use crate::run::Pace;
use crate::wallet_installation::{STRANGE_TOKEN, caller, token};

/// How often a sender checks whether the payment is in the chain.
const LOOK_EVERY: Span = Span::secs(4);
/// Successful checks until a sender considers the payment made.
const LOOKS: u32 = 3;
/// Every so many links reach a stranger, who sends a listed name after its sender's details.
const SHARED_EVERY: usize = 3;
/// What a request that is paid late is valid for, and a little more.
const LATE: Span = Span::mins(61);

impl Programs {
    /// One payment, from the request to the chain.
    pub(super) async fn pay(&self, payable: &Payable, wallet: &Wallet) {
        if payable.manner == Manner::Direct {
            return self
                .transfer(payable, vec![(payable.coin, payable.minor, wallet.address)])
                .await;
        }
        let Some(request) = self.request(payable, wallet).await else {
            self.sim.trace(format_args!(
                "payer {} is asked for nothing: the wallet is frozen",
                payable.number
            ));
            // The sender still pays, as often as intended, to the known address of the wallet.
            let parts =
                vec![(payable.coin, payable.minor, wallet.address); payable.manner.deposits()];
            return self.transfer(payable, parts).await;
        };
        let escrow = match sender_name(payable.sender) {
            Some((first, last)) => self.introduce(&request, first, last).await,
            None => request.escrow,
        };
        if payable.number.is_multiple_of(SHARED_EVERY)
            && let Some((first, last)) = sender_name(Sender::Listed)
        {
            self.introduce(&request, first, last).await;
        }
        self.crowd(payable, (&request, wallet), escrow);
        let coin = payable.coin;
        let due = request.asked.due(coin).unwrap_or(payable.minor);
        match payable.manner {
            Manner::Exact | Manner::Direct => {
                self.transfer(payable, vec![(coin, due, escrow)]).await
            }
            Manner::Halves => {
                self.transfer(payable, vec![(coin, due / 2, escrow)]).await;
                self.pause(100, 20_000).await;
                self.transfer(payable, vec![(coin, due - due / 2, escrow)]).await;
            }
            Manner::Twice => {
                self.transfer(payable, vec![(coin, due, escrow)]).await;
                self.pause(0, 10_000).await;
                self.transfer(payable, vec![(coin, due, escrow)]).await;
            }
            Manner::TwiceAtOnce => {
                self.transfer(payable, vec![(coin, due, escrow), (coin, due, escrow)]).await
            }
            Manner::Late => {
                self.sim.sleep_until(request.created_at + LATE, Pace::Exact).await;
                self.transfer(payable, vec![(coin, due, escrow)]).await;
            }
            Manner::OtherCoin => {
                let other =
                    if coin == StableCoin::Usdc { StableCoin::Usdt } else { StableCoin::Usdc };
                self.transfer(payable, vec![(other, payable.minor, escrow)]).await;
            }
            Manner::StrangeTokens => {
                self.send_strange(payable, escrow);
                self.pause(0, 5_000).await;
                self.transfer(payable, vec![(coin, due, escrow)]).await;
            }
            Manner::Cancelled => {
                self.cancel_request(&request).await;
                self.transfer(payable, vec![(coin, due, escrow)]).await;
            }
        }
        self.check_sender(&request, escrow, sender_name(payable.sender).map(|(first, _)| first))
            .await;
    }

    /// Deposits to the address that a sender was shown have that sender's details, whatever forms
    /// were submitted later.
    pub(super) async fn check_sender(
        &self,
        request: &PaymentRequest,
        escrow: Address,
        entered: Option<&str>,
    ) {
        let token = request.token.clone();
        let look = move |wallets: Wallets| {
            let token = token.clone();
            async move { wallets.pay_page(&token).await }.boxed()
        };
        let Some(Ok(page)) = self.insist("a payment page", look).await else { return };
        for deposit in page
            .arrivals
            .iter()
            .map(|arrival| &arrival.deposit)
            .filter(|deposit| deposit.to == escrow)
        {
            let shown = deposit.sender.first_name.as_deref();
            if shown != entered {
                self.truth.complain(format!(
                    "deposit {} has sender {shown:?} instead of {entered:?}",
                    deposit.id
                ));
            }
        }
    }

    /// A sender says who they are; the address that they are shown.
    pub(super) async fn introduce(
        &self,
        request: &PaymentRequest,
        first: &str,
        last: &str,
    ) -> Address {
        let details = SenderDetails {
            first_name: Some(first.to_owned()),
            last_name: Some(last.to_owned()),
            email: Some("sender@example.com".to_owned()),
            phone_number: Some("+971501234567".to_owned()),
            custodial_provider: Some("Exchange".to_owned()),
        };
        let token = request.token.clone();
        let submit = move |wallets: Wallets| {
            let (token, details) = (token.clone(), details.clone());
            async move { wallets.submit_sender(&token, details, None).await }.boxed()
        };
        match self.insist("a sender's details", submit).await {
            Some(Ok(info)) => return info.escrow.unwrap_or(request.escrow),
            Some(Err(denied)) => {
                self.truth
                    .complain(format!("the link of {} does not work: {denied:?}", request.id));
            }
            None => {}
        }
        request.escrow
    }

    async fn cancel_request(&self, request: &PaymentRequest) {
        let (tenant, id) = (request.tenant, request.id);
        let cancel = move |wallets: Wallets| {
            async move { wallets.cancel_request(&caller(tenant), id, None).await }.boxed()
        };
        match self.insist("a cancellation", cancel).await {
            Some(Ok(_) | Err(Denied::Refused(Refused::Request(RequestConflict(_))))) | None => {}
            Some(Err(denied)) => {
                self.truth.complain(format!("{id} cannot be cancelled: {denied:?}"))
            }
        }
    }

    /// Sends an unknown token, and zero of a known one.
    fn send_strange(&self, payable: &Payable, to: Address) {
        let from = payable.from;
        self.chain.send(Deed::Pay(vec![
            Payment { token: STRANGE_TOKEN, from, to, value: 77 },
            Payment { token: token(payable.coin), from, to, value: 0 },
        ]));
    }

    /// Pays in one transaction, until it is in the chain and seems to stay there.
    pub(super) async fn transfer(&self, payable: &Payable, parts: Vec<(StableCoin, i64, Address)>) {
        let payments =
            parts.into_iter().filter(|(_, minor, _)| *minor > 0).map(|(coin, minor, to)| Payment {
                token: token(coin),
                from: payable.from,
                to,
                value: minor.unsigned_abs(),
            });
        let payments: Vec<Payment> = payments.collect();
        let deed = Deed::Pay(payments.clone());
        let mut tx = self.chain.send(deed.clone());
        let mut seen = 0;
        while seen < LOOKS {
            self.sim.sleep(LOOK_EVERY).await;
            match self.look(tx) {
                Seen::Included => seen += 1,
                Seen::Waits => seen = 0,
                Seen::Gone if self.never_arrives(&payments) => {
                    self.sim.trace(format_args!(
                        "payer {} gives up: the receiver is blacklisted",
                        payable.number
                    ));
                    return self.truth.refuse(payments.len());
                }
                Seen::Gone => {
                    seen = 0;
                    tx = self.chain.send(deed.clone());
                }
            }
        }
    }

    /// Whether a coin's issuer has blacklisted a recipient: the payment can then never succeed.
    fn never_arrives(&self, payments: &[Payment]) -> bool {
        let state = self.chain.now().state();
        let listed = |it: &Payment| {
            state.coins.get(&it.token).is_some_and(|coin| coin.blacklist.contains(&it.to))
        };
        payments.iter().any(listed)
    }

    fn look(&self, tx: TxHash) -> Seen {
        let blocks = self.chain.now();
        match blocks.succeeded(tx) {
            Some(true) => Seen::Included,
            None if blocks.is_waiting(tx) => Seen::Waits,
            // The coin was paused, or the chain has lost it.
            Some(false) | None => Seen::Gone,
        }
    }
}

enum Seen {
    Included,
    Waits,
    Gone,
}
