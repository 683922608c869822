//! The payment service as used by the HTTP layer: quotes, payments, their status and lists.
//!
//! Everything that needs no row is determined here, in memory, before the command is built: rate,
//! route, the rules of the order's country, screening. State changes are left to the engine.

use domain::chain::ChainNumber;
use std::sync::Arc;

use domain::attempt::UnresolvedAttempt;
use domain::audit::AuditContext;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::fault::Fault;
use domain::ids::{PaymentId, QuoteId, RecallId, TenantId};
use domain::ledger::{AccountCode, Funding, funding_subject};
use domain::order::{Order, UncheckedOrder};
use domain::payment::Payment;
use domain::payment::accept::{Refusal, Submission};
use domain::policy::{Environment, TenantPolicy};
use domain::quote::Quote;
use domain::rail::Finding;
use domain::recall::{NewRecall, Recall, RecallReason};
pub use store::need::IdempotencyKey;
use store::working_set::{IdempotencyRecord, Made};
pub use store::{
    AUDIT_LIST_MAX, AUDIT_SEARCHED_MAX, AuditChain, AuditFilter, AuditPart, AuditPlace,
    AuditReport, AuditVerdict, Checkpoint,
};
pub use store::{
    EventRecord, EventSubject, JobCount, KeptAnswer, KeyRow, KeySecret, ListFilter, Record,
    RoleLease, Search, Store, StoreError, StoredTransfer,
};

use crate::batcher::Engine;
use crate::command::{
    Action, Command, Idempotency, Outcome, PaymentAction, RecallAction, Refused, made_before,
};
use crate::context::{EngineContext, NoRate};
use crate::error::EngineError;
use crate::statement::{self, Statement, StatementError, Wanted};

mod account;
pub(crate) mod check;
mod price;

pub use account::{AccountRequest, CHECK_AT_MOST, CHECK_BESIDE_AT_MOST};
pub use check::wanted;

/// The parsed body of POST /v2/quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteRequest {
    pub country: Country,
    pub currency: Currency,
    /// Amount in the base currency.
    pub amount: Decimal,
    /// Optional; if present, it improves routing.
    pub beneficiary_account_number: Option<String>,
    /// Optional; if present, it improves routing.
    pub bank_branch_code: Option<String>,
}

/// The tenant that sent a request, with its policy.
#[derive(Clone, Debug)]
pub struct Caller {
    pub tenant: TenantId,
    pub policy: Arc<TenantPolicy>,
}

/// What a request created, or what an earlier identical request created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<T> {
    pub made: T,
    /// Whether an earlier request with the same Idempotency-Key created it.
    pub replayed: bool,
}

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// Violations of field rules: all at once.
    #[error("{}", domain::fault::listed(.0))]
    Invalid(Vec<Fault>),
    /// The corridor is switched off for all tenants.
    #[error("no payments to {} at present", .0.alpha3())]
    CorridorUnavailable(Country),
    /// The country is not enabled for the tenant.
    #[error("payments to {} are not enabled for this client", .0.alpha3())]
    CorridorNotEnabled(Country),
    #[error(transparent)]
    RateUnavailable(#[from] NoRate),
    /// The command was refused.
    #[error(transparent)]
    Refused(Refused),
    /// The command was not decided, or its outcome is unknown.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The payment service. Cheap to clone.
#[derive(Clone)]
pub struct Payments {
    store: Store,
    engine: Engine,
    world: Arc<EngineContext>,
    environment: Environment,
}

impl Payments {
    /// The service over its engine.
    pub const fn new(
        store: Store,
        engine: Engine,
        world: Arc<EngineContext>,
        environment: Environment,
    ) -> Payments {
        Payments { store, engine, world, environment }
    }

    /// Refuses what [`Payments::quote`] would refuse anyway, before a bank is asked about the account.
    /// A repetition of a request that made a quote passes.
    pub async fn preview_quote(
        &self,
        caller: &Caller,
        request: &QuoteRequest,
        idempotency: Option<&Idempotency>,
    ) -> Result<(), Denied> {
        if let Some(asked) = idempotency {
            let kept = self.store.made_before(caller.tenant, &asked.key).await?;
            let made = asked.made_before(kept.as_ref(), self.world.clock.now());
            if made.map_err(Denied::Refused)?.is_some() {
                return Ok(());
            }
        }
        self.price(caller, request, Vec::new()).map(drop)
    }

    /// Creates a quote (POST /v2/quote); `shape` lists the faults of its fields found so far. A field
    /// with one has a placeholder.
    pub async fn quote(
        &self,
        caller: &Caller,
        request: QuoteRequest,
        shape: Vec<Fault>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Quote>, Denied> {
        let outcome = match self.price(caller, &request, shape) {
            Ok((offer, ttl, cap)) => {
                let id = QuoteId(crate::batcher::fresh_id(&self.store));
                let cap = cap.filter(|_| self.environment != Environment::Mock);
                self.run(
                    caller,
                    Action::CreateQuote { id, offer: Box::new(offer), ttl, cap, idempotency },
                )
                .await?
            }
            Err(denied) => self.made_before(caller.tenant, idempotency, denied).await?,
        };
        match outcome {
            Outcome::Quoted(quote) => Ok(Reply { made: *quote, replayed: false }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Quote(id), .. }) => {
                let made = self
                    .store
                    .quote(caller.tenant, id)
                    .await?
                    .ok_or(Denied::Refused(Refused::NotFound))?;
                Ok(Reply { made, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// Accepts an order (POST /v2/payment); `shape` lists the faults of its fields found so far. The reply contains the payment as accepted, even when replayed.
    pub async fn pay(
        &self,
        caller: &Caller,
        order: UncheckedOrder,
        shape: Vec<Fault>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Payment>, Denied> {
        // Without a faulty field it may be the repetition of an order.
        let repeats =
            Some((order.0.quote, order.0.external_id.clone())).filter(|_| shape.is_empty());
        let checked = allowed(caller, order.0.country)
            .and_then(|()| self.checked(order, shape))
            .and_then(|order| self.open(order.country).map(|()| order));
        let checked = match checked {
            Ok(order) => {
                let submission = Box::new(self.submission(order));
                match self.account_fault(caller.tenant, &submission).await? {
                    Some(fault) => Err(Denied::Invalid(vec![fault])),
                    None => Ok(submission),
                }
            }
            Err(denied) => Err(denied),
        };
        let outcome = match checked {
            Ok(submission) => {
                self.run(caller, Action::AcceptPayment { submission, idempotency }).await?
            }
            Err(denied) => match self.made_before(caller.tenant, idempotency, denied).await {
                Ok(outcome) => outcome,
                Err(
                    denied @ (Denied::Invalid(_)
                    | Denied::CorridorUnavailable(_)
                    | Denied::CorridorNotEnabled(_)),
                ) => {
                    return Err(self.repeated(caller.tenant, repeats, denied).await?);
                }
                Err(denied) => return Err(denied),
            },
        };
        match outcome {
            Outcome::Accepted(payment) => Ok(Reply { made: *payment, replayed: false }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Payment(id), .. }) => {
                let record = self.store.payment_record(caller.tenant, id).await?;
                let made = record.ok_or(Denied::Refused(Refused::NotFound))?.payment;
                Ok(Reply { made, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    async fn made_before(
        &self,
        tenant: TenantId,
        idempotency: Option<Idempotency>,
        denied: Denied,
    ) -> Result<Outcome, Denied> {
        let now = self.world.clock.now();
        made_before(&self.store, now, (tenant, idempotency), denied, Denied::Refused).await
    }

    /// The answer to an order that cannot be accepted now: if it was accepted before, that, and not
    /// why a new one is denied. A client that believes it was never accepted pays another way.
    async fn repeated(
        &self,
        tenant: TenantId,
        order: Option<(QuoteId, Option<String>)>,
        denied: Denied,
    ) -> Result<Denied, Denied> {
        let Some((quote, external_id)) = order else { return Ok(denied) };
        let used = self.store.quote(tenant, quote).await?.and_then(|quote| quote.payment);
        let Some(payment) = used else { return Ok(denied) };
        let accepted = self.store.payment_record(tenant, payment).await?;
        if accepted.is_none_or(|it| it.order.external_id != external_id) {
            return Ok(denied);
        }
        let refusal = match external_id {
            Some(_) => Refusal::ExternalIdConflict(payment),
            None => Refusal::QuoteUsed(payment),
        };
        Ok(Denied::Refused(Refused::Order(refusal)))
    }

    fn submission(&self, order: Order) -> Submission {
        let mut ids = self.store.ids();
        Submission {
            screened: self.world.screened_order(&order, self.world.clock.now()),
            payment: PaymentId(ids.next()),
            hold: domain::ids::TransferId(ids.next()),
            order,
        }
    }

    fn open(&self, country: Country) -> Result<(), Denied> {
        match self.world.corridors.corridors.get(&country) {
            Some(corridor) if corridor.open && !self.world.switches.is_closed(country) => Ok(()),
            _ => Err(Denied::CorridorUnavailable(country)),
        }
    }

    /// Returns a quote of the tenant (GET /v2/quote/{id}).
    pub async fn find_quote(&self, caller: &Caller, id: QuoteId) -> Result<Option<Quote>, Denied> {
        Ok(self.store.quote(caller.tenant, id).await?)
    }

    /// Returns a payment of the tenant with its order and quote (GET /v2/payments/{id}).
    pub async fn find_payment(
        &self,
        caller: &Caller,
        id: PaymentId,
    ) -> Result<Option<Record>, Denied> {
        Ok(self.store.payment_record(caller.tenant, id).await?)
    }

    /// Same by the caller's own id.
    pub async fn find_by_external_id(
        &self,
        caller: &Caller,
        external_id: &str,
    ) -> Result<Option<Record>, Denied> {
        match self.store.payment_id_by_external(caller.tenant, external_id).await? {
            Some(id) => self.find_payment(caller, id).await,
            None => Ok(None),
        }
    }

    /// Lists payments of the tenant (GET /v2/payments).
    pub async fn list(&self, caller: &Caller, filter: &ListFilter) -> Result<Vec<Record>, Denied> {
        Ok(self.store.list_payments(caller.tenant, filter).await?)
    }

    /// Applies a reviewer's decision on a payment in review. `seen` is the version that they looked
    /// at; `None` = any.
    pub async fn review(
        &self,
        tenant: TenantId,
        id: PaymentId,
        approve: bool,
        seen: Option<i64>,
        by: impl Into<AuditContext>,
    ) -> Result<(), Denied> {
        let by = Box::new(by.into());
        let action = Action::Payment(id, PaymentAction::Review { approve, seen, by });
        self.run_for(tenant, action).await.map(drop)
    }

    /// Records the outcome of an `unknown` or returned payment, for the attempt that the reviewers
    /// examined.
    pub async fn resolve(
        &self,
        tenant: TenantId,
        id: PaymentId,
        seen: UnresolvedAttempt,
        finding: impl Into<Finding>,
        evidence: String,
        by: impl Into<AuditContext>,
    ) -> Result<(), Denied> {
        let (by, finding) = (Box::new(by.into()), finding.into());
        let action = Action::Payment(id, PaymentAction::Resolve { seen, finding, evidence, by });
        self.run_for(tenant, action).await.map(drop)
    }

    /// Cancels a payment that no rail can have. Repeating it changes nothing; the reply is the
    /// payment as it is now.
    pub async fn cancel(
        &self,
        tenant: TenantId,
        id: PaymentId,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Record>, Denied> {
        let action = PaymentAction::Cancel { idempotency, by: Box::new(by.into()) };
        let outcome = self.run_for(tenant, Action::Payment(id, action)).await?;
        let record = self.store.payment_record(tenant, id).await?;
        let made = record.ok_or(Denied::Refused(Refused::NotFound))?;
        Ok(Reply { made, replayed: matches!(outcome, Outcome::Replayed(_)) })
    }

    /// Requests a recall of a payment that a rail has or may have. The reply contains the recall as
    /// requested, even when replayed.
    pub async fn recall(
        &self,
        tenant: TenantId,
        id: PaymentId,
        (reason, text): (RecallReason, Option<String>),
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Recall>, Denied> {
        let new = NewRecall { id: RecallId(crate::batcher::fresh_id(&self.store)), reason, text };
        let (new, by) = (Box::new(new), Box::new(by.into()));
        let action = PaymentAction::Recall { new, idempotency, by };
        match self.run_for(tenant, Action::Payment(id, action)).await? {
            Outcome::Recall(recall) => Ok(Reply { made: *recall, replayed: false }),
            Outcome::Replayed(record) => {
                let recalls = self.store.recalls(tenant, id).await?;
                // A payment's recalls do not overlap: no two were requested at one time.
                let made = recalls.into_iter().find(|recall| recall.created_at == record.at);
                let made = made.ok_or(Denied::Refused(Refused::NotFound))?;
                Ok(Reply { made: made.as_requested(), replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// Closes a recall that leads to nothing.
    pub async fn close_recall(
        &self,
        tenant: TenantId,
        payment: PaymentId,
        recall: RecallId,
        by: impl Into<AuditContext>,
    ) -> Result<(), Denied> {
        let action = RecallAction::Close { by: Box::new(by.into()) };
        let action = Action::Payment(payment, PaymentAction::OfRecall(recall, action));
        self.run_for(tenant, action).await.map(drop)
    }

    /// A payment's recalls, newest first.
    pub async fn recalls(
        &self,
        tenant: TenantId,
        payment: PaymentId,
    ) -> Result<Vec<Recall>, Denied> {
        Ok(self.store.recalls(tenant, payment).await?)
    }

    /// Creates a statement of one of the tenant's accounts, see [`statement::make`].
    pub async fn statement(&self, wanted: &Wanted) -> Result<Statement, StatementError> {
        statement::make(&self.store, wanted).await
    }

    /// Credits stablecoins to the tenant's prefund account.
    pub async fn top_up(
        &self,
        tenant: TenantId,
        coin: domain::currency::StableCoin,
        minor: i64,
        by: impl Into<AuditContext>,
    ) -> Result<(), Denied> {
        let by = Box::new(by.into());
        let action = Action::Fund { funding: Funding::TopUp, coin, minor, reference: None, by };
        self.run_for(tenant, action).await.map(drop)
    }

    /// Books money with a reference once: returns the booking, and whether it is an earlier one.
    pub async fn fund_once(
        &self,
        tenant: TenantId,
        funding: Funding,
        (coin, minor): (domain::currency::StableCoin, i64),
        reference: &str,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<StoredTransfer>, Denied> {
        let (by, subject) = (Box::new(by.into()), funding_subject(funding, tenant, reference));
        let accounts = funding.accounts(coin);
        let action =
            Action::Fund { funding, coin, minor, reference: Some(reference.to_owned()), by };
        let replayed = matches!(self.run_for(tenant, action).await?, Outcome::Unchanged);
        let made = self.store.funding(tenant, subject).await?;
        let made = made.ok_or(Denied::Refused(Refused::NotFound))?;
        // The same amount on another chain.
        if (&made.debit, &made.credit) != (&accounts.0, &accounts.1) {
            let StoredTransfer { debit, credit, at, .. } = made;
            return Err(Denied::Refused(Refused::Ledger(format!(
                "reference {reference} was booked from {debit} to {credit} at {at}"
            ))));
        }
        Ok(Reply { made, replayed })
    }

    /// Reverses the booking of tokens for the controller that has this reference, once: returns the
    /// booking, and whether it is an earlier one.
    pub async fn reverse_funding(
        &self,
        tenant: TenantId,
        reference: &str,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<StoredTransfer>, Denied> {
        // The subject does not depend on the chain.
        let subject = funding_subject(Funding::Controller(ChainNumber::FIRST), tenant, reference);
        let booked = self.store.funding(tenant, subject).await?;
        let Some((AccountCode::Unswept(chain, coin), amount)) =
            booked.map(|it| (it.credit, it.amount))
        else {
            let reference = reference.to_owned();
            return Err(Denied::Refused(Refused::NotBooked { reference }));
        };
        let (funding, money) = (Funding::ControllerReversal(chain), (coin, amount.minor));
        self.fund_once(tenant, funding, money, reference, by).await
    }

    /// The store, for reads without rules of their own (events, keys).
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The engine, for following its commits.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn world(&self) -> &EngineContext {
        &self.world
    }

    /// The environment in which this service runs.
    pub const fn environment(&self) -> Environment {
        self.environment
    }

    async fn run(&self, caller: &Caller, action: Action) -> Result<Outcome, Denied> {
        self.run_for(caller.tenant, action).await
    }

    async fn run_for(&self, tenant: TenantId, action: Action) -> Result<Outcome, Denied> {
        match self.engine.execute(Command { tenant, action }).await? {
            Outcome::Refused(refused) => Err(Denied::Refused(refused)),
            outcome => Ok(outcome),
        }
    }
}

/// Whether the country is enabled for the tenant: reported before any other error of a new request.
///
/// # Errors
/// [`Denied::CorridorNotEnabled`]
fn allowed(caller: &Caller, country: Country) -> Result<(), Denied> {
    if caller.policy.countries.contains(&country) {
        Ok(())
    } else {
        Err(Denied::CorridorNotEnabled(country))
    }
}
