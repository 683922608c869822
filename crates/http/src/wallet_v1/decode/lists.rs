//! The queries of the lists and of the event log.

use domain::delivery::DeliveryState;
use domain::deposit::DepositKind;
use domain::payment_request::RequestState;
use engine::wallets::{EventsOf, TransactionKind};

use super::ID_MAX_CHARS;
use super::exchange::ORDER_TYPE;
use crate::decode::Rejection;
use crate::decode::query::Query;
use crate::decode::shape::{Integer, OneOf, one_of, text_between};

/// Default page size (specification: "Limits").
const LIMIT_DEFAULT: i64 = 20;
const LIMIT: Integer = Integer { min: 1, max: 100 };
/// The response repeats the number: beyond this, programs with binary floating point change it.
const PAGE: Integer = Integer { min: 0, max: (1 << 53) - 1 };
/// Default number of events in an answer.
const EVENTS_DEFAULT: i64 = 100;
const EVENTS_LIMIT: Integer = Integer { min: 1, max: 1_000 };
const AFTER: Integer = Integer { min: 0, max: i64::MAX };

const REQUEST_STATE: OneOf<RequestState> = one_of(&RequestState::ALL, RequestState::name);
const DELIVERY_STATE: OneOf<DeliveryState> = one_of(&DeliveryState::ALL, DeliveryState::name);
const EVENTS_OF: OneOf<EventsOf> = one_of(&EventsOf::ALL, EventsOf::name);

const TRANSACTION_KINDS: [TransactionKind; 3] = [
    TransactionKind::Deposit(DepositKind::Received),
    TransactionKind::Exchanged,
    TransactionKind::Deposit(DepositKind::Blocked),
];
const TRANSACTION_KIND: OneOf<TransactionKind> = one_of(&TRANSACTION_KINDS, |kind| match kind {
    TransactionKind::Deposit(kind) => kind.name(),
    TransactionKind::Exchanged => EXCHANGED,
});

/// The history's `type` of an exchange.
pub const EXCHANGED: &str = "EXCHANGED";

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Page number, from 0.
    pub page: i64,
    /// Page size, 1 to 100.
    pub limit: i64,
}

impl Page {
    fn read(query: &mut Query) -> impl FnOnce() -> Option<Page> + use<> {
        let page = query.optional("page", |name, given| PAGE.read_str(name, given));
        let limit = query.optional("limit", |name, given| LIMIT.read_str(name, given));
        move || Some(Page { page: page.unwrap_or(0), limit: limit.unwrap_or(LIMIT_DEFAULT) })
    }

    /// The page in the service's terms; a page beyond any list is empty.
    pub fn wanted(self) -> engine::wallets::Page {
        let narrow = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
        engine::wallets::Page { page: narrow(self.page), limit: narrow(self.limit) }
    }

    /// The number of pages for a number of entries.
    pub const fn pages_of(self, entries: i64) -> i64 {
        entries / self.limit + (entries % self.limit > 0) as i64
    }
}

fn wallet_id(query: &mut Query) -> Option<String> {
    query.required("wallet_id", |name, given| text_between(1, ID_MAX_CHARS).read_str(name, given))
}

/// The query of `GET /v1/sdk/payment-requests`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestList {
    /// The wallet as given; it may not exist.
    pub wallet_id: String,
    /// The state; `None` for any.
    pub status: Option<RequestState>,
    pub page: Page,
}

/// Decodes the query.
///
/// # Errors
/// Every invalid parameter, in the order of the specification.
pub fn requests(raw: Option<&str>) -> Result<RequestList, Rejection> {
    let mut query = Query::of(raw);
    let wallet_id = wallet_id(&mut query);
    let status = query.optional("status", |name, given| REQUEST_STATE.read_str(name, given));
    let page = Page::read(&mut query);
    query.finish(|| Some(RequestList { wallet_id: wallet_id?, status, page: page()? }))
}

/// The query of `GET /v1/sdk/transactions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionList {
    /// The wallet as given; it may not exist.
    pub wallet_id: String,
    /// The type; `None` for any.
    pub kind: Option<TransactionKind>,
    pub page: Page,
}

/// Decodes the query.
///
/// # Errors
/// Every invalid parameter, in the order of the specification.
pub fn transactions(raw: Option<&str>) -> Result<TransactionList, Rejection> {
    let mut query = Query::of(raw);
    let wallet_id = wallet_id(&mut query);
    let kind = query.optional("type", |name, given| TRANSACTION_KIND.read_str(name, given));
    let page = Page::read(&mut query);
    query.finish(|| Some(TransactionList { wallet_id: wallet_id?, kind, page: page()? }))
}

/// The query of `GET /v1/sdk/orders`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderList {
    /// The wallet as given; it may not exist.
    pub wallet_id: String,
    pub page: Page,
}

/// Decodes the query.
///
/// # Errors
/// Every invalid parameter, in the order of the specification.
pub fn orders(raw: Option<&str>) -> Result<OrderList, Rejection> {
    let mut query = Query::of(raw);
    let wallet_id = wallet_id(&mut query);
    query.optional("order_type", |name, given| ORDER_TYPE.read_str(name, given));
    let page = Page::read(&mut query);
    query.finish(|| Some(OrderList { wallet_id: wallet_id?, page: page()? }))
}

/// The query of `GET /v1/sdk/reviews`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewList {
    pub page: Page,
}

/// Decodes the query.
///
/// # Errors
/// Every invalid parameter.
pub fn reviews(raw: Option<&str>) -> Result<ReviewList, Rejection> {
    let mut query = Query::of(raw);
    let page = Page::read(&mut query);
    query.finish(|| Some(ReviewList { page: page()? }))
}

/// The query of `GET /v1/sdk/webhooks/deliveries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryList {
    /// The service of the events.
    pub service: EventsOf,
    /// The state; `None` for any.
    pub status: Option<DeliveryState>,
    pub page: Page,
}

/// Decodes the query.
///
/// # Errors
/// Every invalid parameter.
pub fn deliveries(raw: Option<&str>) -> Result<DeliveryList, Rejection> {
    let mut query = Query::of(raw);
    let status = query.optional("status", |name, given| DELIVERY_STATE.read_str(name, given));
    let service = query.optional("service", |name, given| EVENTS_OF.read_str(name, given));
    let page = Page::read(&mut query);
    query.finish(|| {
        Some(DeliveryList { service: service.unwrap_or_default(), status, page: page()? })
    })
}

/// The query of `GET /v1/sdk/events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventList {
    /// The reader's last position; 0 starts at the beginning.
    pub after: i64,
    /// Maximum number of events in the answer, 1 to 1,000.
    pub limit: usize,
}

/// Decodes the query.
///
/// # Errors
/// Every invalid parameter.
pub fn events(raw: Option<&str>) -> Result<EventList, Rejection> {
    let mut query = Query::of(raw);
    let after = query.position("after", |name, given| AFTER.read_str(name, given));
    let limit = query.optional("limit", |name, given| EVENTS_LIMIT.read_str(name, given));
    query.finish(|| {
        let limit = usize::try_from(limit.unwrap_or(EVENTS_DEFAULT)).ok()?;
        Some(EventList { after: after.unwrap_or(0), limit })
    })
}
