//! The payment service as the HTTP room uses it: quotes, payments, their status and lists.
//!
//! Everything that needs no row is found out here, in memory, before the command is built: the rate, the route, the
//! rules of the order's country, screening. What changes state is left to the engine.

use std::sync::Arc;

use domain::attempt::Doubt;
use domain::audit::Deed;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::fault::Fault;
use domain::ids::{PaymentId, QuoteId, TenantId};
use domain::order::{Draft, Order};
use domain::payment::Payment;
use domain::payment::accept::Submission;
use domain::policy::{Environment, TenantPolicy};
use domain::quote::Quote;
use domain::rail::Finding;
pub use store::need::IdempotencyKey;
use store::working_set::{IdempotencyRecord, Made};
pub use store::{
    AUDIT_LIST_MAX, AUDIT_SEARCHED_MAX, AuditChain, AuditFilter, AuditPart, AuditPlace, AuditReport, AuditVerdict,
    Checkpoint,
};
pub use store::{
    EventRecord, EventSubject, JobCount, JobHolder, KeptAnswer, KeyRow, ListFilter, Record, RoleLease, Search, Store,
    StoreError,
};

use crate::batcher::{Engine, EngineError};
use crate::command::{Action, Command, Idempotency, Outcome, PaymentAction, Refused};
use crate::statement::{self, Statement, StatementError, Wanted};
use crate::world::World;

pub(crate) mod check;
mod price;
mod waiting;

pub use waiting::waiting;

/// The body of POST /v2/quote, read and shaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteRequest {
    /// Destination.
    pub country: Country,
    /// Base currency.
    pub currency: Currency,
    /// Base amount.
    pub amount: Decimal,
    /// For better routing.
    pub beneficiary_account_number: Option<String>,
    /// For better routing.
    pub bank_branch_code: Option<String>,
}

/// The tenant on whose behalf a request came, with what it has agreed.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Its id.
    pub tenant: TenantId,
    /// What it has agreed.
    pub policy: Arc<TenantPolicy>,
}

/// Something that a request made, or that the same request made before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<T> {
    /// The thing.
    pub made: T,
    /// Whether it was made by an earlier request with the same Idempotency-Key.
    pub replayed: bool,
}

/// Why a request was not served.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// Rules of single fields are broken: all of them at once.
    #[error("invalid fields: {0:?}")]
    Invalid(Vec<Fault>),
    /// The corridor is switched off for everybody.
    #[error("no payments to {} at present", .0.alpha3())]
    CorridorUnavailable(Country),
    /// The tenant may not pay into the country.
    #[error("payments to {} are not enabled for this client", .0.alpha3())]
    CorridorNotEnabled(Country),
    /// There is no rate, or it is too old.
    #[error("no current rate from {} to {}", .0.code(), .1.code())]
    RateUnavailable(Currency, Currency),
    /// The decision was no.
    #[error(transparent)]
    Refused(Refused),
    /// No decision was made, or it is not known.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Reading failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The payment service. Cheap to clone.
#[derive(Clone)]
pub struct Payments {
    store: Store,
    engine: Engine,
    world: Arc<World>,
    environment: Environment,
}

impl Payments {
    /// The service over its engine.
    pub const fn new(store: Store, engine: Engine, world: Arc<World>, environment: Environment) -> Payments {
        Payments { store, engine, world, environment }
    }

    /// Makes a quote (POST /v2/quote).
    pub async fn quote(
        &self,
        caller: &Caller,
        request: QuoteRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Quote>, Denied> {
        allowed(caller, request.country)?;
        let outcome = match self.open(request.country).and_then(|()| self.price(caller, request)) {
            Ok((offer, ttl, cap)) => {
                let id = QuoteId(crate::batcher::fresh_id(&self.store));
                let cap = cap.filter(|_| self.environment != Environment::Mock);
                self.run(caller, Action::CreateQuote { id, offer: Box::new(offer), ttl, cap, idempotency }).await?
            }
            Err(denied) => self.made_before(caller.tenant, idempotency, denied).await?,
        };
        match outcome {
            Outcome::Quoted(quote) => Ok(Reply { made: *quote, replayed: false }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Quote(id), .. }) => {
                let made = self.store.quote(caller.tenant, id).await?.ok_or(Denied::Refused(Refused::NotFound))?;
                Ok(Reply { made, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// Accepts an order (POST /v2/payment); `shape` is what was wrong with the fields of the draft already. The reply's payment is as it was accepted, also when it is replayed.
    pub async fn pay(
        &self,
        caller: &Caller,
        draft: Draft,
        shape: Vec<Fault>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Payment>, Denied> {
        allowed(caller, draft.country)?;
        let checked = self.checked(draft, shape).and_then(|order| self.open(order.country).map(|()| order));
        let outcome = match checked {
            Ok(order) => {
                let submission = Box::new(self.submission(order));
                self.run(caller, Action::AcceptPayment { submission, idempotency }).await?
            }
            Err(denied) => self.made_before(caller.tenant, idempotency, denied).await?,
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

    /// A request that cannot be served now is repeated where it was served before: what it made was made,
    /// whatever has become of the rate, the document or the corridor.
    async fn made_before(
        &self,
        tenant: TenantId,
        idempotency: Option<Idempotency>,
        denied: Denied,
    ) -> Result<Outcome, Denied> {
        let Some(asked) = idempotency else { return Err(denied) };
        let kept = self.store.made_before(tenant, &asked.key).await?;
        let made = asked.made_before(kept.as_ref(), self.world.clock.now()).map_err(Denied::Refused)?;
        made.map(Outcome::Replayed).ok_or(denied)
    }

    fn submission(&self, order: Order) -> Submission {
        let mut ids = self.store.ids();
        Submission {
            screened: self.screen(&order),
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

    /// A quote of the tenant (GET /v2/quote/{id}).
    pub async fn find_quote(&self, caller: &Caller, id: QuoteId) -> Result<Option<Quote>, Denied> {
        Ok(self.store.quote(caller.tenant, id).await?)
    }

    /// A payment of the tenant with its order and quote (GET /v2/payments/{id}).
    pub async fn find_payment(&self, caller: &Caller, id: PaymentId) -> Result<Option<Record>, Denied> {
        Ok(self.store.payment_record(caller.tenant, id).await?)
    }

    /// The same by the caller's own id.
    pub async fn find_by_external_id(&self, caller: &Caller, external_id: &str) -> Result<Option<Record>, Denied> {
        match self.store.payment_id_by_external(caller.tenant, external_id).await? {
            Some(id) => self.find_payment(caller, id).await,
            None => Ok(None),
        }
    }

    /// Payments of the tenant (GET /v2/payments).
    pub async fn list(&self, caller: &Caller, filter: &ListFilter) -> Result<Vec<Record>, Denied> {
        Ok(self.store.list_payments(caller.tenant, filter).await?)
    }

    /// A person's decision about a payment in review.
    pub async fn review(
        &self,
        tenant: TenantId,
        id: PaymentId,
        approve: bool,
        by: impl Into<Deed>,
    ) -> Result<(), Denied> {
        let action = Action::Payment(id, PaymentAction::Review { approve, by: Box::new(by.into()) });
        self.run_for(tenant, action).await.map(drop)
    }

    /// What people found out about an `unknown` payment, or one that came back, whose attempt they have looked at.
    pub async fn resolve(
        &self,
        tenant: TenantId,
        id: PaymentId,
        seen: Doubt,
        finding: impl Into<Finding>,
        evidence: String,
        by: impl Into<Deed>,
    ) -> Result<(), Denied> {
        let (by, finding) = (Box::new(by.into()), finding.into());
        let action = Action::Payment(id, PaymentAction::Resolve { seen, finding, evidence, by });
        self.run_for(tenant, action).await.map(drop)
    }

    /// Makes a statement of one of the tenant's accounts, see [`statement::make`].
    pub async fn statement(&self, wanted: &Wanted) -> Result<Statement, StatementError> {
        statement::make(&self.store, wanted).await
    }

    /// Pays coin into the tenant's prefund account.
    pub async fn top_up(
        &self,
        tenant: TenantId,
        coin: domain::currency::StableCoin,
        minor: i64,
        by: impl Into<Deed>,
    ) -> Result<(), Denied> {
        self.run_for(tenant, Action::TopUp { coin, minor, by: Box::new(by.into()) }).await.map(drop)
    }

    /// Books coins that the bank has sent from its treasury back to its controller.
    pub async fn fund_controller(
        &self,
        tenant: TenantId,
        coin: domain::currency::StableCoin,
        minor: i64,
        by: impl Into<Deed>,
    ) -> Result<(), Denied> {
        self.run_for(tenant, Action::FundController { coin, minor, by: Box::new(by.into()) }).await.map(drop)
    }

    /// The store, for reads that have no rules of their own (events, keys).
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The engine, for following its commits.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Configuration and ports.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Which world this service runs in.
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

/// Whether the tenant may pay into the country: told before anything that is wrong with a request.
///
/// # Errors
/// [`Denied::CorridorNotEnabled`]
pub fn allowed(caller: &Caller, country: Country) -> Result<(), Denied> {
    if caller.policy.countries.contains(&country) { Ok(()) } else { Err(Denied::CorridorNotEnabled(country)) }
}
