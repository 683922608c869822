//! Commands: every change of state, with the data and rows that its decision needs.

use std::collections::BTreeSet;

use domain::attempt::UnresolvedAttempt;
use domain::audit::AuditContext;
use domain::chain_tx::{ChainTx, Intent, TxRefusal};
use domain::coin_amount;
use domain::country::Country;
use domain::currency::StableCoin;
use domain::delivery::Delivery;
use domain::deposit::{Deposit, DepositRefusal};
use domain::exchange::{ExchangeOrder, OrderRefusal};
use domain::ids::{AttemptId, PaymentId, PaymentRequestId, QuoteId, RecallId, TenantId, WalletId};
use domain::ledger::{Funding, funding_subject};
use domain::money::Money;
use domain::payment::accept::{Refusal, Submission};
use domain::payment::cancel::CancelRefusal;
use domain::payment::report::Stale;
use domain::payment::{Payment, Trigger};
use domain::payment_request::{PaymentRequest, RequestConflict, SenderInfo, TooManySubmissions};
use domain::quote::{Offer, Quote};
use domain::rail::{Finding, InquiryAnswer, RailId, RailReport};
use domain::recall::{NewRecall, Recall, RecallRefusal};
use domain::screening::Screened;
use domain::sender_limit::{Sender, UsageKey};
use domain::sponsor::SponsorRefusal;
use domain::time::{Span, Timestamp};
use domain::wallet::{Wallet, WalletRefusal};
use domain::wallet_event::Aggregate;
use store::need::{IdempotencyKey, Need};
use store::working_set::IdempotencyRecord;
use store::{HeldRole, IDEMPOTENCY_KEPT, Store, StoreError};

mod audit_context;
pub mod chain;
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
    /// The key, within its scope.
    pub key: IdempotencyKey,
    /// SHA-256 of the body.
    pub body_hash: [u8; 32],
}

impl Idempotency {
    /// What the same request created before, according to the stored record of its key. An expired
    /// record has no effect, whether it was removed yet or not.
    ///
    /// # Errors
    /// The key was used by a different request.
    pub fn made_before(
        &self,
        kept: Option<&IdempotencyRecord>,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, Refused> {
        let kept = kept.filter(|record| now < record.at + IDEMPOTENCY_KEPT);
        kept.map(|record| self.require_same_body(&record.body_hash)).transpose()?;
        Ok(kept.cloned())
    }

    /// Requires that the earlier request with this key had the same body.
    ///
    /// # Errors
    /// The body differs.
    pub fn require_same_body(&self, body_hash: &[u8; 32]) -> Result<(), Refused> {
        if self.body_hash == *body_hash { Ok(()) } else { Err(Refused::IdempotencyMismatch) }
    }
}

/// A request that cannot be served now, for the reason `denied`, is replayed if it was served before:
/// what it created exists, whatever the current rate, document or corridor. `refused` makes an error
/// of the refusal of another request with the same key.
///
/// # Errors
/// `denied`, if nothing was created; the refusal; the store's failure.
pub(crate) async fn made_before<E: From<StoreError>>(
    store: &Store,
    now: Timestamp,
    (tenant, asked): (TenantId, Option<Idempotency>),
    denied: E,
    refused: impl FnOnce(Refused) -> E,
) -> Result<Outcome, E> {
    let Some(asked) = asked else { return Err(denied) };
    let kept = store.made_before(tenant, &asked.key).await?;
    let made = asked.made_before(kept.as_ref(), now).map_err(refused)?;
    made.map(Outcome::Replayed).ok_or(denied)
}

/// One change, requested by or for one tenant.
#[derive(Clone, Debug)]
pub struct Command {
    /// The tenant whose data it changes.
    pub tenant: TenantId,
    /// The action to perform.
    pub action: Action,
}

/// The action to perform.
#[derive(Clone, Debug)]
pub enum Action {
    /// Create a quote from a price.
    CreateQuote {
        /// The id of the new quote.
        id: QuoteId,
        offer: Box<Offer>,
        /// How long the quote is valid.
        ttl: Span,
        /// Maximum number of the tenant's open quotes in this country.
        cap: Option<u32>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    AcceptPayment {
        /// The order with the results of its checks.
        submission: Box<Submission>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// Close quotes that have expired.
    ExpireQuotes(Vec<QuoteId>),
    /// Credit stablecoins to the prefund account or the controller, or debit them.
    Fund {
        funding: Funding,
        coin: StableCoin,
        /// Amount in minor units (10^-6).
        minor: i64,
        /// Reference of the money that moved: booked once. `None` = not to be recognized.
        reference: Option<String>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// Backfill deliveries of a quote's or payment's events that had no subscriber when they
    /// occurred.
    Backfill {
        /// The aggregate that the events belong to.
        aggregate: Aggregate,
        /// Their sequence numbers within the aggregate.
        versions: BTreeSet<i64>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// An action on one payment.
    Payment(PaymentId, PaymentAction),
    Provision(Box<NewWallet>),
    /// An action on one wallet.
    Wallet(WalletId, WalletAction),
    /// An action on one payment request.
    Request(PaymentRequestId, RequestAction),
    /// An action on one incoming transaction.
    Deposit(DepositRef, DepositAction),
    /// An action on one exchange order.
    Exchange(OrderKey, ExchangeAction),
    /// An action on the chain.
    Chain(ChainAction),
    /// An action on one delivery.
    Delivery(DeliveryRef, DeliveryAction),
    /// An action by the holder of a role. Refused once another node has taken the role.
    UnderRole(HeldRole, Box<Action>),
}

/// Actions on one payment.
#[derive(Clone, Debug)]
pub enum PaymentAction {
    /// A worker is about to send the payment over a rail.
    BeginAttempt {
        /// The fence under which the worker holds the job.
        fence: i64,
        rail: RailId,
        /// The sender's usage that counts against the rail's limits; `None` if the rail has no
        /// per-sender limits.
        usage_key: Option<UsageKey>,
    },
    /// A worker sent an attempt and received this answer.
    Submitted { attempt: AttemptId, answer: domain::rail::Submission },
    /// A worker inquired about an attempt and received this answer.
    Inquired {
        attempt: AttemptId,
        /// The fence under which the worker holds the job.
        fence: i64,
        answer: InquiryAnswer,
    },
    /// A worker is about to send an attempt's identical message once more.
    SendAgain {
        attempt: AttemptId,
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// An unsolicited report of a rail.
    Report(RailReport),
    /// A rail reported a payout that was never sent from here: it must not be sent.
    ReportedUnsent {
        rail: RailId,
        /// The payment's sender, whose limits on the rail, if any, it counts against.
        sender: Sender,
        /// The report, for users.
        why: String,
    },
    /// No route now: retry at `until`. `open` counts the wait against the submit deadline.
    PutOff {
        /// The fence under which the worker holds the job.
        fence: i64,
        until: Timestamp,
        /// Whether a suitable rail is within its operating hours.
        open: bool,
    },
    /// Reject the payment for an internal reason.
    Refuse {
        /// The fence under which the worker holds the job.
        fence: i64,
        trigger: Trigger,
        /// The message for the client.
        msg: String,
    },
    /// It was screened again before it is sent, and must not be sent as it is.
    ScreenedAgain {
        /// The fence under which the worker holds the job.
        fence: i64,
        screened: Screened,
        /// The program as actor, for the audit log.
        by: Box<AuditContext>,
    },
    /// It was screened again before a message is sent, on other lists than before: nothing stops it.
    Cleared {
        /// The fence under which the worker holds the job.
        fence: i64,
        screened: Screened,
        /// The program as actor, for the audit log.
        by: Box<AuditContext>,
    },
    /// A reviewer decided on a payment in review.
    Review {
        /// Whether the payment is approved.
        approve: bool,
        /// The version that the reviewers looked at; `None` = any.
        seen: Option<i64>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// Reviewers established the outcome of an `unknown` payment.
    Resolve {
        /// The unresolved attempt that they examined.
        seen: UnresolvedAttempt,
        finding: Finding,
        evidence: String,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// Cancel a payment that no rail can have.
    Cancel {
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// Request a recall of a payment that a rail has or may have.
    Recall {
        new: Box<NewRecall>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// An action on one of its recalls.
    OfRecall(RecallId, RecallAction),
}

/// Actions on one recall of a payment.
#[derive(Clone, Debug)]
pub enum RecallAction {
    /// A worker sent its message and received this answer.
    Submitted {
        /// The fence under which the worker holds the job.
        fence: i64,
        answer: Box<domain::rail::Submission>,
    },
    /// The time for an answer, or for the money, has passed.
    Due {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// A user closes it.
    Close {
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
}

/// The outcome of a command.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The quote was created.
    Quoted(Box<Quote>),
    /// The payment was accepted.
    Accepted(Box<Payment>),
    /// The request was answered before; this is what it created.
    Replayed(IdempotencyRecord),
    Began(Box<domain::attempt::Attempt>),
    /// The wallet was created or changed.
    Wallet(Box<Wallet>),
    /// The payment request was created or changed.
    Request(Box<PaymentRequest>),
    /// The sender's details were stored.
    Submitted(Box<SenderInfo>),
    /// The sender's transfer will be sent.
    Sponsored(Box<Intent>),
    /// A deposit was changed.
    Deposit(Box<Deposit>),
    /// The order was created or changed.
    Exchange(Box<ExchangeOrder>),
    /// The event will be delivered again.
    Delivery(Box<Delivery>),
    /// The recall was requested or changed.
    Recall(Box<Recall>),
    /// The transaction received a nonce.
    Taken(Box<ChainTx>),
    /// The transaction is cancelled: its signed form must not be broadcast.
    CalledOff,
    Done,
    /// Requested before, by whatever request: nothing changed, and nothing is recorded.
    Unchanged,
    /// The command was refused; nothing changed.
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
    /// The payment cannot be cancelled.
    #[error(transparent)]
    Cancel(#[from] CancelRefusal),
    /// The payment cannot be recalled, or its recall not be closed.
    #[error(transparent)]
    Recall(#[from] RecallRefusal),
    /// The tenant has reached its limit of open quotes in the country.
    #[error("{limit} quotes to {} are open already", country.alpha3())]
    OpenQuoteLimit { limit: u32, country: Country },
    /// Money with this reference was booked with another amount, or on another chain.
    #[error(
        "reference {reference} was booked with {} {} at {at}",
        coin_amount::show(booked.minor),
        booked.currency.code()
    )]
    ReferenceUsed { reference: String, booked: Money, at: Timestamp },
    /// What is to be reversed was not booked.
    #[error("reference {reference} was not booked")]
    NotBooked { reference: String },
    /// What was booked with this reference was reversed.
    #[error("what was booked with reference {reference} was reversed at {at}: use another one")]
    Reversed { reference: String, at: Timestamp },
    /// The Idempotency-Key was used with another body.
    #[error("Idempotency-Key was used with another body")]
    IdempotencyMismatch,
    /// The record was modified in the meantime.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The wallet's state or the customer's KYC level does not allow it.
    #[error(transparent)]
    Wallet(#[from] WalletRefusal),
    /// The state of the deposit or of its wallet does not allow it.
    #[error(transparent)]
    Deposit(#[from] DepositRefusal),
    /// The order is not acceptable or its state does not allow it.
    #[error(transparent)]
    Exchange(#[from] OrderRefusal),
    /// The state of the transaction or of its intents does not allow it.
    #[error(transparent)]
    Tx(#[from] TxRefusal),
    /// The record's related records differ from those that the caller read.
    #[error("conflict: the record was modified")]
    Moved,
    /// The record changed after its reviewers looked at it.
    #[error("it has changed since it was reviewed")]
    NotAsSeen,
    /// The payment request's state does not allow it.
    #[error(transparent)]
    Request(#[from] RequestConflict),
    /// The payment request accepts no further sender details.
    #[error(transparent)]
    Submissions(#[from] TooManySubmissions),
    /// A limit does not allow a sponsored transfer.
    #[error(transparent)]
    Sponsor(#[from] SponsorRefusal),
    /// Another worker holds the job, or another node the role.
    #[error("job or role is held under fence {current}, not {held}")]
    Fenced {
        /// The fence that the command carried.
        held: i64,
        /// The current fence of the job or role.
        current: i64,
    },
    /// The record does not exist or belongs to another tenant.
    #[error("not found")]
    NotFound,
    /// The ledger rejected a transfer.
    #[error("ledger: {0}")]
    Ledger(String),
}

impl PaymentAction {
    /// Whether it may end a recall, or is about one.
    const fn concerns_recalls(&self) -> bool {
        matches!(
            self,
            PaymentAction::Submitted { .. }
                | PaymentAction::Inquired { .. }
                | PaymentAction::Report(_)
                | PaymentAction::Resolve { .. }
                | PaymentAction::Recall { .. }
                | PaymentAction::OfRecall(..)
        )
    }

    const fn is_foreground(&self) -> bool {
        matches!(
            self,
            PaymentAction::Review { .. }
                | PaymentAction::Resolve { .. }
                | PaymentAction::Cancel { .. }
                | PaymentAction::Recall { .. }
                | PaymentAction::OfRecall(_, RecallAction::Close { .. })
        )
    }
}

impl Action {
    /// The rows that the decision on it needs.
    fn need(&self, tenant: TenantId, need: &mut Need) {
        match self {
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
            Action::Fund { funding, reference, .. } => {
                for funding in [Some(*funding), funding.opposite()].into_iter().flatten() {
                    let subject = |it: &String| (tenant, funding_subject(funding, tenant, it));
                    need.fundings.extend(reference.iter().map(subject));
                }
            }
            Action::Payment(payment, action) => {
                need.payments.insert((tenant, *payment));
                let attempt = match action {
                    PaymentAction::Submitted { attempt, .. }
                    | PaymentAction::Inquired { attempt, .. }
                    | PaymentAction::SendAgain { attempt, .. } => Some(*attempt),
                    PaymentAction::Report(report) => Some(report.attempt),
                    PaymentAction::BeginAttempt { usage_key, .. } => {
                        need.usage_by_rail
                            .extend(usage_key.iter().map(|usage_key| (tenant, usage_key.clone())));
                        None
                    }
                    _ => None,
                };
                need.attempts.extend(attempt.map(|id| (tenant, id)));
                if action.concerns_recalls() {
                    need.recalls.insert((tenant, *payment));
                }
                let key = match action {
                    PaymentAction::Cancel { idempotency, .. }
                    | PaymentAction::Recall { idempotency, .. } => idempotency.as_ref(),
                    _ => None,
                };
                need.idempotency.extend(key.map(|it| (tenant, it.key.clone())));
            }
            Action::Provision(new) => new.need(tenant, need),
            Action::Wallet(wallet, action) => action.need(tenant, *wallet, need),
            Action::Request(request, action) => action.need(tenant, *request, need),
            Action::Deposit(deposit, action) => action.need(tenant, deposit, need),
            Action::Exchange(order, action) => action.need(order, tenant, need),
            Action::Chain(action) => action.need(tenant, need),
            Action::Delivery(delivery, action) => action.need(tenant, *delivery, need),
            Action::Backfill { aggregate, versions, .. } => {
                need.streams.insert((tenant, aggregate.id()));
                let ids = versions.iter().map(|version| aggregate.event_id(tenant, *version));
                need.deliveries.extend(ids.map(|id| (tenant, id)));
            }
            Action::UnderRole(role, action) => {
                need.roles.insert((tenant, role.name.clone()));
                action.need(tenant, need);
            }
        }
    }
}

impl Command {
    /// The rows that the decision needs.
    pub fn need(&self) -> Need {
        let mut need = Need::default();
        need.tenants.insert(self.tenant);
        self.action.need(self.tenant, &mut need);
        if self.action.deed().is_some() {
            need.audits.insert((self.tenant, ()));
        }
        // A command that may write an event also needs the endpoint's state.
        if !need.streams.is_empty() {
            need.receivers.insert((self.tenant, ()));
        }
        need
    }

    /// Additional rows for tenants that subscribe to payment events: delivery positions and the
    /// endpoint's state.
    pub fn need_of_payment_deliveries(&self) -> Need {
        let tenant = self.tenant;
        let mut need = Need::default();
        let mut of = |id: uuid::Uuid| _ = need.streams.insert((tenant, id));
        match &self.action {
            // A first event has no predecessor.
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

    /// Whether the command creates a quote or accepts an order. Unless refused, it writes each row
    /// that it is decided on.
    pub const fn is_about_new_payments(&self) -> bool {
        matches!(self.action, Action::CreateQuote { .. } | Action::AcceptPayment { .. })
    }

    /// Whether an API caller waits for it; workers' commands yield to these.
    pub const fn is_foreground(&self) -> bool {
        match &self.action {
            Action::CreateQuote { .. }
            | Action::AcceptPayment { .. }
            | Action::Fund { .. }
            | Action::Backfill { .. }
            | Action::Provision(_) => true,
            Action::Payment(_, action) => action.is_foreground(),
            Action::Wallet(_, action) => action.is_foreground(),
            Action::Request(_, action) => action.is_foreground(),
            Action::Deposit(_, action) => action.is_foreground(),
            Action::Delivery(_, action) => matches!(action, DeliveryAction::Replay { .. }),
            Action::Exchange(_, action) => action.is_foreground(),
            Action::ExpireQuotes(_) | Action::Chain(_) | Action::UnderRole(..) => false,
        }
    }
}
