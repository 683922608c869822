//! Decodes requests of Payment Service v2 from bodies, query strings and paths (specification:
//! "Resources and their fields", "Endpoints"). Structure only: the rules of countries and quotes
//! are in `domain::order` and `domain::quote`.

use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::fault::Fault;
use domain::ids::{PaymentId, QuoteId};
use domain::order::{
    self, ACCOUNT_NUMBER_MAX_CHARS, BENEFICIARY_NAME_MAX_CHARS, BRANCH_CODE_MAX_CHARS, Field, Form,
    Order, Role, UncheckedOrder,
};
use domain::payment::PaymentState;
use domain::quote::MATCH_DECIMALS;
use domain::recall::{RECALL_TEXT_MAX_CHARS, RecallReason};
use domain::time::Timestamp;

use crate::decode::query::{self, Query};
use crate::decode::shape::{
    AnyUuid, Day, Flag, Integer, OneOf, PositiveNumber, RoundedNumber, Shape, one_of, text,
    text_between,
};
use crate::decode::{Fields, Place, Rejection, missing, path};
pub use engine::payments::{AccountRequest, QuoteRequest};

/// Maximum text length where the specification sets none.
const TEXT_MAX_CHARS: usize = 256;

/// Maximum number of records in a list.
const LIST_LIMIT_MAX: i64 = 1_000;
/// Default number of records in a list.
const LIST_LIMIT_DEFAULT: i64 = 20;
/// Maximum number of values in the `status` filter.
const STATUS_ITEMS_MAX: usize = 9;

const COUNTRY: OneOf<Country> = one_of(&Country::ALL, Country::alpha3);
const SOURCE_CURRENCY: OneOf<Currency> = one_of(&Currency::SOURCES, Currency::code);

/// A quote request, what its account is asked about with `check_account`, and its faults.
pub type QuoteBody = (QuoteRequest, Option<AccountRequest>, Vec<Fault>);

/// Decodes the body of `POST /v2/quote`. Structural errors come with a request that has placeholders
/// for the invalid fields, as in [`payment_order`]; its account is not asked about.
///
/// # Errors
/// Malformed JSON, or every invalid field if the country is one of them.
pub fn quote_request(body: &[u8]) -> Result<QuoteBody, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let country = fields.required("country", COUNTRY);
    let currency = fields.required("currency", SOURCE_CURRENCY);
    let amount = fields.required("amount", PositiveNumber);
    let is_checked = fields.optional("check_account", Flag) == Some(true);
    let mut given = |field, chars_max| match is_checked {
        true => fields.required(field, text(chars_max)),
        false => fields.optional(field, text(chars_max)),
    };
    let account_number = given("beneficiary_account_number", ACCOUNT_NUMBER_MAX_CHARS);
    let branch_code = given("bank_branch_code", BRANCH_CODE_MAX_CHARS);
    let name = is_checked.then(|| given("beneficiary_name", BENEFICIARY_NAME_MAX_CHARS)).flatten();
    let (country, faults) = of_country(country, fields)?;
    let check = match (name, &account_number, &branch_code) {
        (Some(name), Some(account_number), Some(branch_code)) if faults.is_empty() => {
            let (account_number, branch_code) = (account_number.clone(), branch_code.clone());
            Some(AccountRequest { country, account_number, branch_code, name })
        }
        _ => None,
    };
    let request = QuoteRequest {
        country,
        currency: currency.unwrap_or(Currency::SOURCES[0]),
        amount: amount.unwrap_or(Decimal::ZERO),
        beneficiary_account_number: account_number,
        bank_branch_code: branch_code,
    };
    Ok((request, check, faults))
}

/// Decodes the body of `POST /v2/account-checks`. Structural errors come with a request in which the
/// invalid fields are empty.
///
/// # Errors
/// Malformed JSON, or every invalid field if the country is one of them.
pub fn account_check(body: &[u8]) -> Result<(AccountRequest, Vec<Fault>), Rejection> {
    let mut fields = Fields::of_body(body)?;
    let country = fields.required("country", COUNTRY);
    let mut given = |field, chars_max| fields.required(field, text(chars_max)).unwrap_or_default();
    let account_number = given("beneficiary_account_number", ACCOUNT_NUMBER_MAX_CHARS);
    let branch_code = given("bank_branch_code", BRANCH_CODE_MAX_CHARS);
    let name = given("beneficiary_name", BENEFICIARY_NAME_MAX_CHARS);
    let (country, faults) = of_country(country, fields)?;
    Ok((AccountRequest { country, account_number, branch_code, name }, faults))
}

/// The country and the faults of a request; its faults alone if the country, whose rules would apply,
/// is invalid.
fn of_country(
    country: Option<Country>,
    fields: Fields<'_>,
) -> Result<(Country, Vec<Fault>), Rejection> {
    let faults = fields.into_faults();
    match country {
        Some(country) => Ok((country, faults)),
        None => Err(Rejection::body(faults)),
    }
}

/// Decodes the body of `POST /v2/payment`. Rounds the amount to the decimals used for comparison;
/// ignores a client's `timestamp` and `bank_branch_name`.
///
/// Structural errors come with an order that has placeholders for the invalid fields. The country's
/// rules can then be applied to all other fields, and the client sees every error at once
/// (`order::merge_faults`).
///
/// # Errors
/// Malformed JSON, or every invalid field if the country, whose rules would apply, is one of them.
pub fn payment_order(body: &[u8]) -> Result<(UncheckedOrder, Vec<Fault>), Rejection> {
    let mut fields = Fields::of_body(body)?;
    let mut order = Order::placeholder();
    for field in order::FIELDS.iter().filter(|field| field.is_input()) {
        let Some(text) = order_field(&mut fields, field) else { continue };
        if !field.read(&mut order, text) {
            // A form that allows more than its field's type: it must not leave the placeholder.
            fields.refuse(missing(field.name));
        }
    }
    let faults = fields.into_faults();
    if faults.iter().any(|fault| fault.field == "country") {
        return Err(Rejection::body(faults));
    }
    Ok((UncheckedOrder(order), faults))
}

/// The value of a field as its text.
fn order_field(fields: &mut Fields<'_>, field: &Field) -> Option<String> {
    match field.form {
        Form::Text { min, max, multiline } => {
            let shape = text_between(min, max);
            take(fields, field, if multiline { shape.multiline() } else { shape })
        }
        Form::OneOf { names, .. } => {
            take(fields, field, one_of(names, |name| name)).map(str::to_owned)
        }
        Form::Number => {
            take(fields, field, RoundedNumber(MATCH_DECIMALS)).map(|number| number.to_string())
        }
        Form::Uuid => take(fields, field, AnyUuid).map(|id| id.to_string()),
        Form::Date => take(fields, field, Day).map(|date| date.to_string()),
        Form::Flag => take(fields, field, Flag).map(|flag| flag.to_string()),
    }
}

fn take<S: Shape>(fields: &mut Fields<'_>, field: &Field, shape: S) -> Option<S::Out> {
    match field.role {
        Role::Required => fields.required(field.name, shape),
        _ => fields.optional(field.name, shape),
    }
}

/// `SortingOrder`: by creation time, ties by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SortingOrder {
    /// Oldest payment comes first.
    Asc,
    /// Newest first, the default.
    #[default]
    Desc,
}

/// `SearchType`: the field that `search_term` is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchType {
    Id,
    ExternalId,
    /// Bank reference, rail reference and wallet transaction ids.
    LinkedTxn,
}

const SORTING_ORDER: OneOf<SortingOrder> =
    one_of(&[SortingOrder::Asc, SortingOrder::Desc], |order| match order {
        SortingOrder::Asc => "asc",
        SortingOrder::Desc => "desc",
    });
const SEARCH_TYPE: OneOf<SearchType> =
    one_of(&[SearchType::Id, SearchType::ExternalId, SearchType::LinkedTxn], |kind| match kind {
        SearchType::Id => "id",
        SearchType::ExternalId => "external_id",
        SearchType::LinkedTxn => "linked_txn",
    });
const PAYMENT_STATE: OneOf<PaymentState> = one_of(&PaymentState::ALL, PaymentState::name);

/// The query of `GET /v2/payments`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    pub country: Country,
    /// Maximum number of records, 0 to 1,000.
    pub limit: u32,
    /// Records to skip; beyond the last one the answer is empty.
    pub offset: u64,
    pub sorting_order: SortingOrder,
    /// Created at or after.
    pub start_ts: Option<Timestamp>,
    /// Created before this instant.
    pub end_ts: Option<Timestamp>,
    /// In one of these states; empty means any.
    pub status: Vec<PaymentState>,
    /// The search field and term.
    pub search: Option<(SearchType, String)>,
}

/// Decodes the query of `GET /v2/payments`.
///
/// # Errors
/// Every invalid parameter, in the order of the specification.
pub fn list_query(raw: Option<&str>) -> Result<ListQuery, Rejection> {
    let mut query = Query::of(raw);
    let country = query.required("country", |name, given| COUNTRY.read_str(name, given));
    let limit = query.optional("limit", |name, given| {
        Integer { min: 0, max: LIST_LIMIT_MAX }.read_str(name, given)
    });
    let offset = query
        .optional("offset", |name, given| Integer { min: 0, max: i64::MAX }.read_str(name, given));
    let sorting_order =
        query.optional("sorting_order", |name, given| SORTING_ORDER.read_str(name, given));
    let start_ts = query.optional("start_ts", query::instant);
    let end_ts = query.optional("end_ts", query::instant);
    let status =
        query.list("status", STATUS_ITEMS_MAX, |name, given| PAYMENT_STATE.read_str(name, given));
    let search = search(&mut query);
    query.finish(|| {
        Some(ListQuery {
            country: country?,
            limit: u32::try_from(limit.unwrap_or(LIST_LIMIT_DEFAULT)).ok()?,
            offset: u64::try_from(offset.unwrap_or(0)).ok()?,
            sorting_order: sorting_order.unwrap_or_default(),
            start_ts,
            end_ts,
            status,
            search,
        })
    })
}

/// `search_type` and `search_term`, which require each other; a blank term counts as none.
fn search(query: &mut Query) -> Option<(SearchType, String)> {
    // An invalid parameter still counts as given: one error is enough.
    let (typed, termed) = (query.has("search_type"), query.has("search_term"));
    let kind = query.optional("search_type", |name, given| SEARCH_TYPE.read_str(name, given));
    let term =
        query.optional("search_term", |name, given| text(TEXT_MAX_CHARS).read_str(name, given));
    match (typed, termed) {
        (true, false) => query.refuse(missing("search_term")),
        (false, true) => query.refuse(missing("search_type")),
        _ => {}
    }
    Some((kind?, term?))
}

/// The identifier of a payment in `GET /v2/payments/{id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentKey {
    Id(PaymentId),
    /// The external id (`external=true`).
    External(String),
}

/// Decodes path and query of `GET /v2/payments/{id}`: the country and the payment. `id` is `None`
/// if it is not valid text.
///
/// # Errors
/// Every invalid parameter of the query, else an invalid id.
pub fn payment_lookup(
    id: Option<&str>,
    raw: Option<&str>,
) -> Result<(Country, PaymentKey), Rejection> {
    let mut query = Query::of(raw);
    let country = query.required("country", |name, given| COUNTRY.read_str(name, given));
    let external = query.optional("external", query::flag).unwrap_or(false);
    let country = query.finish(|| country)?;
    let id = path::text(id)?;
    let key = if external {
        PaymentKey::External(path::external_id(id)?)
    } else {
        PaymentKey::Id(PaymentId(path::uuid(id)?))
    };
    Ok((country, key))
}

/// Decodes path and query of `GET /v2/quote/{id}`: the country and the quote. `id` is `None` if it
/// is not valid text.
///
/// # Errors
/// An invalid country, else an invalid id.
pub fn quote_lookup(id: Option<&str>, raw: Option<&str>) -> Result<(Country, QuoteId), Rejection> {
    let mut query = Query::of(raw);
    let country = query.required("country", |name, given| COUNTRY.read_str(name, given));
    let country = query.finish(|| country)?;
    Ok((country, QuoteId(path::uuid(path::text(id)?)?)))
}

/// Decodes the body of `POST /v2/payments/{id}/cancel`: the reason, if any.
///
/// # Errors
/// Malformed JSON, or an invalid field.
pub fn cancellation(body: &[u8]) -> Result<Option<String>, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let reason = fields.optional("reason", text(TEXT_MAX_CHARS));
    fields.finish(|| Some(reason))
}

const RECALL_REASON: OneOf<RecallReason> = one_of(&RecallReason::ALL, RecallReason::name);

/// Decodes the body of `POST /v2/payments/{id}/recalls`: the reason and the explanation.
///
/// # Errors
/// Malformed JSON, or every invalid field.
pub fn recall(body: &[u8]) -> Result<(RecallReason, Option<String>), Rejection> {
    let mut fields = Fields::of_body(body)?;
    let reason = fields.required("reason", RECALL_REASON);
    let explanation = fields.optional("text", text(RECALL_TEXT_MAX_CHARS));
    fields.finish(|| Some((reason?, explanation)))
}

/// The delivery mode of `GET /v2/events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventsMode {
    /// A stream that does not end.
    Stream,
    /// One page, as a single response.
    Poll {
        /// Maximum number of events in the page, 0 to 1,000.
        limit: usize,
        /// How long to wait for the first event, 0 to 30 s.
        wait_s: u64,
    },
}

/// The query of `GET /v2/events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsQuery {
    pub mode: EventsMode,
    /// The reader's last position, the later of `after` and `Last-Event-ID`; `None` means new events
    /// only.
    pub after: Option<i64>,
}

const EVENTS_LIMIT_MAX: i64 = 1_000;
const EVENTS_LIMIT_DEFAULT: i64 = 100;
const EVENTS_WAIT_MAX_S: i64 = 30;
const EVENTS_MODE: OneOf<bool> =
    one_of(&[false, true], |poll| if poll { "poll" } else { "stream" });

/// Decodes the query of `GET /v2/events`.
///
/// # Errors
/// Every invalid parameter.
pub fn events_query(
    raw: Option<&str>,
    headers: &http::HeaderMap,
) -> Result<EventsQuery, Rejection> {
    let mut query = Query::of(raw);
    let mode = query.optional("mode", |name, given| EVENTS_MODE.read_str(name, given));
    let after = query
        .position("after", |name, given| Integer { min: 0, max: i64::MAX }.read_str(name, given));
    let limit = query.optional("limit", |name, given| {
        Integer { min: 0, max: EVENTS_LIMIT_MAX }.read_str(name, given)
    });
    let wait = query.optional("wait", |name, given| {
        Integer { min: 0, max: EVENTS_WAIT_MAX_S }.read_str(name, given)
    });
    let query = query.finish(|| {
        let poll = EventsMode::Poll {
            limit: usize::try_from(limit.unwrap_or(EVENTS_LIMIT_DEFAULT)).ok()?,
            wait_s: u64::try_from(wait.unwrap_or(0)).ok()?,
        };
        let mode = if mode.unwrap_or(false) { poll } else { EventsMode::Stream };
        Some(EventsQuery { mode, after })
    })?;
    // A browser that reconnects calls the same address, with the position it has reached in the header.
    Ok(EventsQuery { after: query.after.max(last_event_id(headers)?), ..query })
}

/// The position that a reader of server-sent events sends when it reconnects.
fn last_event_id(headers: &http::HeaderMap) -> Result<Option<i64>, Rejection> {
    // Readers that have no position yet may send it empty.
    let value = headers.get("last-event-id").filter(|value| !value.is_empty());
    let Some(value) = value else { return Ok(None) };
    let read = Integer { min: 0, max: i64::MAX }
        .read_str("last-event-id", value.to_str().unwrap_or_default());
    read.map(Some).map_err(|fault| Rejection::Faults { place: Place::Header, faults: vec![fault] })
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
