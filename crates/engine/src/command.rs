//! Commands: everything that can change state, with all that a decision needs and the rows that it names.

use std::collections::BTreeSet;

use domain::attempt::Doubt;
use domain::audit::Deed;
use domain::chain_tx::{ChainTx, TxRefusal};
use domain::country::Country;
use domain::currency::StableCoin;
use domain::delivery::Delivery;
use domain::deposit::{Deposit, DepositRefusal};
use domain::exchange::{ExchangeOrder, OrderRefusal};
use domain::ids::{AttemptId, PaymentId, PaymentRequestId, QuoteId, TenantId, WalletId};
use domain::payment::accept::{Refusal, Submission};
use domain::payment::report::Stale;
use domain::payment::{Payment, Trigger};
use domain::payment_request::{PaymentRequest, RequestConflict, SenderInfo, TooManySubmissions};
use domain::quote::{Offer, Quote};
use domain::rail::{Finding, InquiryAnswer, RailId, RailReport};
use domain::sender_limit::Tally;
use domain::time::{Span, Timestamp};
use domain::wallet::{Wallet, WalletRefusal};
use domain::wallet_event::Aggregate;
use store::IDEMPOTENCY_KEPT;
use store::need::{IdempotencyKey, Need};
use store::working_set::IdempotencyRecord;

pub mod chain;
mod deed;
pub mod deposits;
pub mod exchange;
pub mod wallets;

use chain::ChainAction;
use deposits::{DepositAction, DepositRef};
use exchange::{ExchangeAction, OrderKey};
use wallets::{DeliveryAction, DeliveryRef, NewWallet, RequestAction, WalletAction};

/// An `Idempotency-Key` that came with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// The key in its scope.
    pub key: IdempotencyKey,
    /// SHA-256 of the body.
    pub body_hash: [u8; 32],
}

impl Idempotency {
    /// What the same request made before, from what is kept of its key. A record that has outlived its time means
    /// nothing, whether it was removed yet or not.
    ///
    /// # Errors
    /// Another request had the key.
    pub fn made_before(
        &self,
        kept: Option<&IdempotencyRecord>,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, Refused> {
        let kept = kept.filter(|record| now < record.at + IDEMPOTENCY_KEPT);
        kept.map(|record| self.is_for(&record.body_hash)).transpose()?;
        Ok(kept.cloned())
    }

    /// Whether the request that had the key before had the same body.
    ///
    /// # Errors
    /// It had another one.
    pub fn is_for(&self, body_hash: &[u8; 32]) -> Result<(), Refused> {
        if self.body_hash == *body_hash { Ok(()) } else { Err(Refused::IdempotencyMismatch) }
    }
}

/// One change, asked for by or for one tenant.
#[derive(Clone, Debug)]
pub struct Command {
    /// Whose things it changes.
    pub tenant: TenantId,
    /// What is to be done.
    pub action: Action,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Action {
    /// Make a quote of a price.
    CreateQuote {
        /// The id that it will have.
        id: QuoteId,
        /// The price.
        offer: Box<Offer>,
        /// How long it holds.
        ttl: Span,
        /// Most open quotes of the tenant in this country.
        cap: Option<u32>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// Accept an order.
    AcceptPayment {
        /// The order and what was found out about it.
        submission: Box<Submission>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// Close quotes whose time ran out.
    ExpireQuotes(Vec<QuoteId>),
    /// Pay coin into the prefund account.
    TopUp {
        /// Which coin.
        coin: StableCoin,
        /// How much, in minor units (10^-6).
        minor: i64,
        /// Whose deed it is.
        by: Box<Deed>,
    },
    /// The bank has sent coins from its treasury back to its controller.
    FundController {
        /// Which coin.
        coin: StableCoin,
        /// How much, in minor units (10^-6).
        minor: i64,
        /// Whose deed it is.
        by: Box<Deed>,
    },
    /// Deliver events of a quote or payment that nobody wanted delivered when they happened.
    MakeUpFor {
        /// What they belong to.
        aggregate: Aggregate,
        /// Their numbers there.
        versions: BTreeSet<i64>,
        /// Whose deed it is.
        by: Box<Deed>,
    },
    /// Something about one payment.
    Payment(PaymentId, PaymentAction),
    /// Make a wallet.
    Provision(Box<NewWallet>),
    /// Something about one wallet.
    Wallet(WalletId, WalletAction),
    /// Something about one payment request.
    Request(PaymentRequestId, RequestAction),
    /// Something about one incoming transaction.
    Deposit(DepositRef, DepositAction),
    /// Something about one exchange order.
    Exchange(OrderKey, ExchangeAction),
    /// Something about what we do on the chain.
    Chain(ChainAction),
    /// Something about one delivery.
    Delivery(DeliveryRef, DeliveryAction),
}

/// What is to be done about one payment.
#[derive(Clone, Debug)]
pub enum PaymentAction {
    /// A worker is about to send it over a rail.
    BeginAttempt {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The rail.
        rail: RailId,
        /// What of the sender is counted over it; `None` where it limits no sender.
        tally: Option<Tally>,
    },
    /// A worker has sent an attempt and got this answer.
    Submitted {
        /// The attempt.
        attempt: AttemptId,
        /// The rail's answer.
        answer: domain::rail::Submission,
    },
    /// A worker has asked about an attempt and got this answer.
    Inquired {
        /// The attempt.
        attempt: AttemptId,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The rail's answer.
        answer: InquiryAnswer,
    },
    /// A rail reports by itself.
    Report(RailReport),
    /// No route now: look again at `until`. `open` counts the wait against the submit deadline.
    PutOff {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// When to look again.
        until: Timestamp,
        /// Whether a fitting rail is within its hours.
        open: bool,
    },
    /// Refuse it for a reason of our own.
    Refuse {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The reason.
        trigger: Trigger,
        /// What the client is told.
        msg: String,
    },
    /// A person has decided about a payment in review.
    Review {
        /// Let it pass.
        approve: bool,
        /// Whose decision it is.
        by: Box<Deed>,
    },
    /// People have found out what became of an `unknown` payment.
    Resolve {
        /// The attempt that they have looked at.
        seen: Doubt,
        /// What became of it.
        finding: Finding,
        /// How they know.
        evidence: String,
        /// Whose finding it is.
        by: Box<Deed>,
    },
}

/// What came of a command.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A quote was made.
    Quoted(Box<Quote>),
    /// A payment was accepted.
    Accepted(Box<Payment>),
    /// The request was answered before: this is what it made.
    Replayed(IdempotencyRecord),
    /// The attempt began.
    Began(Box<domain::attempt::Attempt>),
    /// A wallet was made or changed.
    Wallet(Box<Wallet>),
    /// A payment request was made or changed.
    Request(Box<PaymentRequest>),
    /// A sender's details were taken.
    Submitted(Box<SenderInfo>),
    /// A deposit was changed.
    Deposit(Box<Deposit>),
    /// An order was made or changed.
    Exchange(Box<ExchangeOrder>),
    /// An event is to be delivered again.
    Delivery(Box<Delivery>),
    /// A transaction has its nonce.
    Taken(Box<ChainTx>),
    /// A transaction is to do nothing any more: what was signed for it is not to be broadcast.
    CalledOff,
    /// It is done.
    Done,
    /// It was refused; nothing changed.
    Refused(Refused),
    /// The command panicked; nothing changed.
    Panicked,
}

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The order is not acceptable.
    #[error(transparent)]
    Order(#[from] Refusal),
    /// The tenant has too many open quotes in the country.
    #[error("{limit} quotes to {} are open already", country.alpha3())]
    OpenQuoteLimit {
        /// The most.
        limit: u32,
        /// The country.
        country: Country,
    },
    /// The Idempotency-Key was used with another body.
    #[error("Idempotency-Key was used with another body")]
    IdempotencyMismatch,
    /// The world has moved on.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The wallet's state, or what is known of the customer, does not allow it.
    #[error(transparent)]
    Wallet(#[from] WalletRefusal),
    /// The deposit's state, or its wallet's, does not allow it.
    #[error(transparent)]
    Deposit(#[from] DepositRefusal),
    /// The order is not acceptable, or its state does not allow it.
    #[error(transparent)]
    Exchange(#[from] OrderRefusal),
    /// The transaction's state, or that of its intents, does not allow it.
    #[error(transparent)]
    Tx(#[from] TxRefusal),
    /// It belongs to other things by now than whoever asks has read.
    #[error("what was read has changed")]
    Moved,
    /// It is not any more as the people have seen it who decided about it.
    #[error("it has changed since it was looked at")]
    NotAsSeen,
    /// The payment request's state does not allow it.
    #[error(transparent)]
    Request(#[from] RequestConflict),
    /// The payment request takes no more submissions of sender's details.
    #[error(transparent)]
    Submissions(#[from] TooManySubmissions),
    /// Another worker holds the job.
    #[error("job is held under fence {current}, not {held}")]
    Fenced {
        /// The fence that the command came with.
        held: i64,
        /// The job's fence.
        current: i64,
    },
    /// The thing is not there, or not this tenant's.
    #[error("not found")]
    NotFound,
    /// The ledger refused a transfer.
    #[error("ledger: {0}")]
    Ledger(String),
}

impl Command {
    /// The rows that the decision needs.
    pub fn need(&self) -> Need {
        let tenant = self.tenant;
        let mut need = Need::default();
        need.tenants.insert(tenant);
        match &self.action {
            Action::CreateQuote { offer, idempotency, .. } => {
                need.open_quotes.insert((tenant, offer.country));
                need.idempotency.extend(idempotency.iter().map(|it| (tenant, it.key.clone())));
            }
            Action::AcceptPayment { submission, idempotency } => {
                let order = &submission.order;
                need.quotes.insert((tenant, order.quote));
                need.open_quotes.insert((tenant, order.country));
                need.external_ids.extend(order.external_id.iter().map(|id| (tenant, id.clone())));
                need.idempotency.extend(idempotency.iter().map(|it| (tenant, it.key.clone())));
            }
            Action::ExpireQuotes(quotes) => {
                need.quotes.extend(quotes.iter().map(|id| (tenant, *id)));
                need.open_quotes.extend(Country::ALL.map(|country| (tenant, country)));
            }
            Action::TopUp { .. } | Action::FundController { .. } => {}
            Action::Payment(payment, action) => {
                need.payments.insert((tenant, *payment));
                let attempt = match action {
                    PaymentAction::Submitted { attempt, .. } | PaymentAction::Inquired { attempt, .. } => {
                        Some(*attempt)
                    }
                    PaymentAction::Report(report) => Some(report.attempt),
                    PaymentAction::BeginAttempt { tally, .. } => {
                        need.spendings.extend(tally.iter().map(|tally| (tenant, tally.clone())));
                        None
                    }
                    _ => None,
                };
                need.attempts.extend(attempt.map(|id| (tenant, id)));
            }
            Action::Provision(new) => new.need(tenant, &mut need),
            Action::Wallet(wallet, action) => action.need(tenant, *wallet, &mut need),
            Action::Request(request, action) => action.need(tenant, *request, &mut need),
            Action::Deposit(deposit, action) => action.need(tenant, deposit, &mut need),
            Action::Exchange(order, action) => action.need(order, tenant, &mut need),
            Action::Chain(action) => action.need(tenant, &mut need),
            Action::Delivery(delivery, action) => action.need(tenant, *delivery, &mut need),
            Action::MakeUpFor { aggregate, versions, .. } => {
                need.streams.insert((tenant, aggregate.id()));
                let ids = versions.iter().map(|version| aggregate.event_id(tenant, *version));
                need.deliveries.extend(ids.map(|id| (tenant, id)));
            }
        }
        if self.action.deed().is_some() {
            need.audits.insert((tenant, ()));
        }
        // Whatever may write an event asks whether there is somebody to tell.
        if !need.streams.is_empty() {
            need.receivers.insert((tenant, ()));
        }
        need
    }

    /// What it needs more where the tenant wants the payment service's events delivered: how far they are, and whether
    /// there is somebody to tell.
    pub fn need_of_payment_deliveries(&self) -> Need {
        let tenant = self.tenant;
        let mut need = Need::default();
        let mut of = |id: uuid::Uuid| _ = need.streams.insert((tenant, id));
        match &self.action {
            // A first event has nobody before it.
            Action::CreateQuote { .. } => {}
            Action::AcceptPayment { submission, .. } => of(submission.order.quote.0),
            Action::ExpireQuotes(quotes) => quotes.iter().for_each(|id| of(id.0)),
            Action::Payment(payment, _) => of(payment.0),
            _ => return need,
        }
        need.tenants.insert(tenant);
        need.receivers.insert((tenant, ()));
        need
    }

    /// Whether it makes a quote or accepts an order: where it is not refused, each row that is decided on is written.
    pub const fn is_about_new_payments(&self) -> bool {
        matches!(self.action, Action::CreateQuote { .. } | Action::AcceptPayment { .. })
    }

    /// Whether a person or program waits for it at the API; workers' commands make room for those.
    pub const fn is_foreground(&self) -> bool {
        match &self.action {
            Action::CreateQuote { .. }
            | Action::AcceptPayment { .. }
            | Action::TopUp { .. }
            | Action::FundController { .. }
            | Action::MakeUpFor { .. }
            | Action::Provision(_) => true,
            Action::Payment(_, action) => {
                matches!(action, PaymentAction::Review { .. } | PaymentAction::Resolve { .. })
            }
            Action::Wallet(_, action) => action.is_foreground(),
            Action::Request(_, action) => action.is_foreground(),
            Action::Deposit(_, action) => action.is_foreground(),
            Action::Delivery(_, action) => matches!(action, DeliveryAction::Replay { .. }),
            Action::Exchange(_, action) => action.is_foreground(),
            Action::ExpireQuotes(_) | Action::Chain(_) => false,
        }
    }
}
