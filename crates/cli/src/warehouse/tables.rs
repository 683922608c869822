//! The columns of the exported tables. Ids and names are texts, amounts exact decimals of the
//! currency in the column beside them, times UTC. Names, addresses and account numbers of people
//! are in none of them but an event's payload.

use domain::ids::EventId;
use domain::money::Money;
use domain::relay::EventLog;
use domain::time::Timestamp;
use store::{Record, StoredTransfer};

use super::file::{AMOUNT_SCALE, Cell, Column, Kind, RATE_SCALE};

/// A row with its tenant's tag.
pub struct Of<T> {
    pub tenant: String,
    pub row: T,
}

/// An event of either log.
pub struct ExportedEvent {
    pub log: EventLog,
    pub seq: i64,
    pub id: EventId,
    pub kind: &'static str,
    pub aggregate_kind: &'static str,
    pub aggregate: uuid::Uuid,
    pub version: i64,
    pub at: Timestamp,
    /// The event as in the event API; `None` unless wanted.
    pub payload: Option<String>,
}

pub type PaymentRow = Of<Record>;
pub type TransferRow = Of<StoredTransfer>;
pub type EventRow = Of<ExportedEvent>;

fn amount(money: Money) -> Cell {
    let digits = AMOUNT_SCALE.saturating_sub(money.currency.minor_units());
    Cell::Decimal(i128::from(money.minor) * 10_i128.pow(digits))
}

const fn column<R>(name: &'static str, kind: Kind, value: fn(&R) -> Cell) -> Column<R> {
    Column { name, kind, is_optional: false, value }
}

const fn optional<R>(name: &'static str, kind: Kind, value: fn(&R) -> Cell) -> Column<R> {
    Column { name, kind, is_optional: true, value }
}

pub const PAYMENTS: [Column<PaymentRow>; 20] = [
    column("tenant", Kind::Text, |it| it.tenant.as_str().into()),
    column("id", Kind::Text, |it| it.row.payment.id.to_string().into()),
    optional("external_id", Kind::Text, |it| it.row.payment.external_id.clone().into()),
    column("quote_id", Kind::Text, |it| it.row.quote.id.to_string().into()),
    column("country", Kind::Text, |it| it.row.payment.country.alpha3().into()),
    column("status", Kind::Text, |it| it.row.payment.standing.state.name().into()),
    column("status_at", Kind::Time, |it| it.row.payment.standing.state_at.into()),
    column("accepted_at", Kind::Time, |it| it.row.payment.accepted_at.into()),
    optional("settled_at", Kind::Time, |it| it.row.payment.settled_at.into()),
    column("amount", Kind::Amount, |it| amount(it.row.payment.amount)),
    column("currency", Kind::Text, |it| it.row.payment.amount.currency.code().into()),
    column("base_amount", Kind::Amount, |it| amount(it.row.payment.base)),
    column("base_currency", Kind::Text, |it| it.row.payment.base.currency.code().into()),
    // A quote's rate has at most as many decimals as the column.
    optional("rate", Kind::Rate, |it| {
        let units = it.row.quote.offer.rate.to_minor(RATE_SCALE);
        units.map_or(Cell::Null, |units| Cell::Decimal(units.into()))
    }),
    column("wallet_amount", Kind::Amount, |it| amount(it.row.payment.charge.amount)),
    column("wallet_premium", Kind::Amount, |it| amount(it.row.payment.charge.premium)),
    column("wallet_txn_cost", Kind::Amount, |it| amount(it.row.payment.charge.cost)),
    column("wallet_currency", Kind::Text, |it| it.row.payment.charge.amount.currency.code().into()),
    optional("bank_reference", Kind::Text, |it| {
        it.row.payment.standing.bank_reference.clone().into()
    }),
    column("version", Kind::Number, |it| it.row.payment.version.into()),
];

pub const TRANSFERS: [Column<TransferRow>; 12] = [
    column("tenant", Kind::Text, |it| it.tenant.as_str().into()),
    column("id", Kind::Text, |it| it.row.id.to_string().into()),
    column("set_id", Kind::Text, |it| it.row.set.to_string().into()),
    optional("pending_id", Kind::Text, |it| it.row.pending.map(|id| id.to_string()).into()),
    column("kind", Kind::Text, |it| it.row.kind.name().into()),
    column("reason", Kind::Text, |it| it.row.reason.as_str().into()),
    column("debit", Kind::Text, |it| it.row.debit.to_string().into()),
    column("credit", Kind::Text, |it| it.row.credit.to_string().into()),
    column("amount", Kind::Amount, |it| amount(it.row.amount)),
    column("currency", Kind::Text, |it| it.row.amount.currency.code().into()),
    optional("subject_id", Kind::Text, |it| it.row.subject.map(|id| id.to_string()).into()),
    column("booked_at", Kind::Time, |it| it.row.at.into()),
];

pub const EVENTS: [Column<EventRow>; 10] = [
    column("tenant", Kind::Text, |it| it.tenant.as_str().into()),
    column("log", Kind::Text, |it| it.row.log.name().into()),
    column("seq", Kind::Number, |it| it.row.seq.into()),
    column("id", Kind::Text, |it| it.row.id.to_string().into()),
    column("type", Kind::Text, |it| it.row.kind.into()),
    column("aggregate", Kind::Text, |it| it.row.aggregate_kind.into()),
    column("aggregate_id", Kind::Text, |it| it.row.aggregate.to_string().into()),
    column("version", Kind::Number, |it| it.row.version.into()),
    column("occurred_at", Kind::Time, |it| it.row.at.into()),
    optional("payload", Kind::Text, |it| it.row.payload.clone().into()),
];
