//! Operators' search: each kind of id is looked up through an index and resolved to its record; also
//! by the beginning of an id and by a part of a reference. A public id says nothing of the place of its
//! row, so that beginnings are compared with the latest ids of each table; payments and used quotes have a search row.

use domain::chain::{Address, TxHash};
use domain::chain_tx::ChainTx;
use domain::event::Event;
use domain::ids::{
    ChainTxId, DepositId, EventId, ExchangeId, PaymentId, PaymentRequestId, QuoteId, TenantId,
    TransferId, WalletId,
};
use domain::payment_search::Reading;
use domain::time::Span;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::console::search::PaymentSearch;
use crate::rows::column::{Made, Raw};
use crate::rows::ledger::StoredTransfer;
use crate::sql::Stmt;
use crate::store::Store;

/// Maximum difference between the clock that numbers events and the one that dates them.
const CLOCKS_DIFFER: Span = Span::mins(5);
/// Maximum number of events compared individually.
const EVENTS_COMPARED_MAX: i64 = 200_000;
/// Maximum number of the latest events compared with an id.
const EVENTS_SEARCHED_MAX: i64 = 100_000;
/// Maximum number of the latest ids of a table whose beginning is compared.
pub const IDS_COMPARED_MAX: i64 = 20_000;
/// Maximum number of records found by an address, or by the beginning of a reference or a hash.
pub const RECORDS_FOUND_MAX: i64 = 50;
/// Bytes of the longest hash.
const BYTES_MAX: usize = 32;

// An attempt's owner is a payment or an exchange order.
static BY_UUID: Stmt = Stmt::written(
    "console.find_uuid",
    "SELECT 'payment', p.id FROM payment p WHERE p.tenant = $1 AND p.id = $2 \
     UNION ALL SELECT 'attempt', a.payment FROM attempt a WHERE a.id = $2 AND a.tenant = $1 \
     UNION ALL SELECT 'quote', q.id FROM quote q WHERE q.tenant = $1 AND q.id = $2 \
     UNION ALL SELECT 'wallet', w.id FROM wallet w WHERE w.tenant = $1 AND w.id = $2 \
     UNION ALL SELECT 'request', r.id FROM payment_request r WHERE r.tenant = $1 AND r.id = $2 \
     UNION ALL SELECT 'deposit', d.id FROM deposit d WHERE d.tenant = $1 AND d.id = $2 \
     UNION ALL SELECT 'order', o.id FROM exchange_order o WHERE o.tenant = $1 AND o.id = $2 \
     UNION ALL SELECT 'delivery', y.event FROM delivery y WHERE y.tenant = $1 AND y.event = $2 \
     UNION ALL SELECT 'transfer', t.id FROM transfer t WHERE t.tenant = $1 AND t.id = $2 \
     UNION ALL SELECT i.kind, CASE WHEN i.subject = i.id THEN COALESCE(i.wallet, i.subject) ELSE i.subject END \
     FROM chain_intent i WHERE i.tenant = $1 AND i.id = $2",
);
static OWNER: Stmt = Stmt::written(
    "console.find_owner",
    "SELECT 'payment', p.id FROM payment p WHERE p.tenant = $1 AND p.id = $2 \
     UNION ALL SELECT 'order', o.id FROM exchange_order o WHERE o.tenant = $1 AND o.id = $2",
);
static BY_REFERENCE: Stmt = Stmt::written(
    "console.find_reference",
    "SELECT 'attempt', r.payment FROM linked_reference r WHERE r.tenant = $1 AND r.reference = $2 \
     UNION ALL SELECT 'payment', e.payment FROM external_id e WHERE e.tenant = $1 AND e.external_id = $2 \
     UNION ALL SELECT 'wallet', w.id FROM wallet w WHERE w.customer_id = $2 AND w.tenant = $1",
);
static BY_ADDRESS: Stmt = Stmt::written(
    "console.find_address",
    "SELECT x.kind, x.id FROM (\
     SELECT CASE WHEN v.request IS NULL THEN 'wallet' ELSE 'request' END AS kind, \
     COALESCE(v.request, v.wallet) AS id, CAST($3 AS BIGINT) AS at FROM watched_address v WHERE v.address = $2 AND v.tenant = $1 \
     UNION SELECT 'deposit', p.id, p.seen_at FROM (SELECT d.id, d.seen_at FROM deposit d \
     WHERE d.tenant = $1 AND d.payer = $2 ORDER BY d.seen_at DESC, d.id DESC LIMIT $4) p \
     UNION SELECT 'deposit', r.id, r.seen_at FROM (SELECT d.id, d.seen_at FROM deposit d \
     WHERE d.tenant = $1 AND d.refund_to = $2 ORDER BY d.seen_at DESC, d.id DESC LIMIT $4) r \
     UNION SELECT 'wallet', u.wallet, MAX(u.at) FROM unsupported_asset u \
     WHERE u.sender = $2 AND u.tenant = $1 GROUP BY u.wallet) x ORDER BY x.at DESC, x.id LIMIT $4",
);
static BY_HASH: Stmt = Stmt::written(
    "console.find_hash",
    "SELECT 'deposit', d.id FROM deposit d WHERE d.tx = $2 AND d.tenant = $1 \
     UNION ALL SELECT 'chain_tx', a.tx FROM chain_attempt a WHERE a.hash = $2 AND a.tenant = $1 \
     UNION ALL SELECT 'wallet', u.wallet FROM unsupported_asset u WHERE u.tenant = $1 AND u.tx = $2",
);
static REFERENCE_START: Stmt = Stmt::written(
    "console.find_reference_start",
    "SELECT x.kind, x.id FROM (\
     SELECT 'attempt' AS kind, r.payment AS id FROM linked_reference r \
     WHERE r.tenant = $1 AND r.reference >= $2 AND r.reference < $3 \
     UNION ALL SELECT 'payment', e.payment FROM external_id e \
     WHERE e.tenant = $1 AND e.external_id >= $2 AND e.external_id < $3 \
     UNION ALL SELECT 'wallet', w.id FROM wallet w \
     WHERE w.customer_id >= $2 AND w.customer_id < $3 AND w.tenant = $1) x LIMIT $4",
);
static LATEST_REFERENCES: [Stmt; 2] = [
    Stmt::written(
        "console.latest_payment_references",
        "SELECT p.id, p.external_id, p.bank_reference FROM payment p WHERE p.tenant = $1 ORDER BY p.id DESC LIMIT $2",
    ),
    Stmt::written(
        "console.latest_wallet_references",
        "SELECT w.id, w.customer_id, CAST(NULL AS TEXT) FROM wallet w WHERE w.tenant = $1 ORDER BY w.id DESC LIMIT $2",
    ),
];
static BYTES_START: Stmt = Stmt::written(
    "console.find_bytes_start",
    "SELECT x.kind, x.id FROM (\
     SELECT 'deposit' AS kind, d.id AS id FROM deposit d WHERE d.tx >= $2 AND d.tx <= $3 AND d.tenant = $1 \
     UNION ALL SELECT 'chain_tx', a.tx FROM chain_attempt a WHERE a.hash >= $2 AND a.hash <= $3 AND a.tenant = $1 \
     UNION ALL SELECT 'wallet', u.wallet FROM unsupported_asset u \
     WHERE u.tenant = $1 AND u.tx >= $2 AND u.tx <= $3 \
     UNION ALL SELECT CASE WHEN v.request IS NULL THEN 'wallet' ELSE 'request' END, COALESCE(v.request, v.wallet) \
     FROM watched_address v WHERE v.address >= $2 AND v.address <= $3 AND v.tenant = $1 \
     UNION ALL SELECT 'deposit', d.id FROM deposit d WHERE d.tenant = $1 AND d.payer >= $2 AND d.payer <= $3 \
     UNION ALL SELECT 'deposit', d.id FROM deposit d \
     WHERE d.tenant = $1 AND d.refund_to >= $2 AND d.refund_to <= $3 \
     UNION ALL SELECT 'wallet', u.wallet FROM unsupported_asset u \
     WHERE u.tenant = $1 AND u.sender >= $2 AND u.sender <= $3) x LIMIT $4",
);
static LATEST_QUOTES: Stmt = Stmt::written(
    "console.latest_quotes",
    "SELECT q.id FROM quote q WHERE q.tenant = $1 ORDER BY q.id DESC LIMIT $2",
);
static LATEST_WALLETS: Stmt = Stmt::written(
    "console.latest_wallets",
    "SELECT w.id FROM wallet w WHERE w.tenant = $1 ORDER BY w.id DESC LIMIT $2",
);
static LATEST_REQUESTS: Stmt = Stmt::written(
    "console.latest_requests",
    "SELECT r.id FROM payment_request r WHERE r.tenant = $1 ORDER BY r.id DESC LIMIT $2",
);
static LATEST_DEPOSITS: Stmt = Stmt::written(
    "console.latest_deposits",
    "SELECT d.id FROM deposit d WHERE d.tenant = $1 ORDER BY d.id DESC LIMIT $2",
);
static LATEST_ORDERS: Stmt = Stmt::written(
    "console.latest_orders",
    "SELECT o.id FROM exchange_order o WHERE o.tenant = $1 ORDER BY o.id DESC LIMIT $2",
);
static LATEST_DELIVERIES: Stmt = Stmt::written(
    "console.latest_deliveries",
    "SELECT y.event FROM delivery y WHERE y.tenant = $1 ORDER BY y.event DESC LIMIT $2",
);
static CHAIN_TX: Stmt = Stmt::written(
    "console.chain_tx",
    "SELECT {{chain_tx t}} FROM chain_tx t WHERE t.tenant = $1 AND t.id = $2",
);
// An intent that is its own subject, such as a freeze, is about its wallet.
static INTENT: Stmt = Stmt::written(
    "console.intent",
    "SELECT i.kind, CASE WHEN i.subject = i.id THEN COALESCE(i.wallet, i.subject) ELSE i.subject END \
     FROM chain_intent i WHERE i.tenant = $1 AND i.id = $2",
);
static TRANSFER: Stmt = Stmt::written(
    "console.transfer",
    "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.id = $2",
);
static EVENT_FROM: Stmt = Stmt::written(
    "console.event_from",
    "SELECT e.seq, e.at FROM event e WHERE e.tenant = $1 AND e.seq >= $2 ORDER BY e.seq LIMIT 1",
);
static EVENT_AMONG: Stmt = Stmt::written(
    "console.event_among",
    "SELECT {{event e}} FROM event e WHERE e.tenant = $1 AND e.seq >= $2 AND e.seq < $3 AND e.id = $4",
);

pub(super) static STATEMENTS: &[&Stmt] = &[
    &BY_UUID,
    &OWNER,
    &BY_REFERENCE,
    &BY_ADDRESS,
    &BY_HASH,
    &REFERENCE_START,
    &LATEST_REFERENCES[0],
    &LATEST_REFERENCES[1],
    &BYTES_START,
    &LATEST_QUOTES,
    &LATEST_WALLETS,
    &LATEST_REQUESTS,
    &LATEST_DEPOSITS,
    &LATEST_ORDERS,
    &LATEST_DELIVERIES,
    &CHAIN_TX,
    &INTENT,
    &TRANSFER,
    &EVENT_FROM,
    &EVENT_AMONG,
];

/// The record that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// A payment: by its id, external_id, EndToEndId, an attempt, its bank reference, or a
    /// transfer.
    Payment(PaymentId),
    Quote(QuoteId),
    /// A wallet: by its id, address or customer.
    Wallet(WalletId),
    /// A payment request: by its id or its escrow's address.
    Request(PaymentRequestId),
    /// A deposit: by its id, transaction, payer's or refund address.
    Deposit(DepositId),
    /// An exchange order: by its id, its payout's attempt or reference.
    Order(ExchangeId),
    /// A wallet event and its delivery.
    Delivery(EventId),
    /// A transfer whose owner has no page.
    Transfer(TransferId),
}

impl Found {
    /// The record of this kind; `None` if its owner has to be looked up first.
    fn of(kind: &str, id: Uuid) -> Option<Found> {
        Some(match kind {
            "payment" => Found::Payment(PaymentId(id)),
            "quote" => Found::Quote(QuoteId(id)),
            "wallet" => Found::Wallet(WalletId(id)),
            "request" => Found::Request(PaymentRequestId(id)),
            "deposit" | "release" | "propose_refund" | "execute_refund" | "set_legal_hold" => {
                Found::Deposit(DepositId(id))
            }
            "order" | "debit" | "return_debit" => Found::Order(ExchangeId(id)),
            "delivery" => Found::Delivery(EventId(id)),
            "set_frozen" | "blacklist_usdc" | "blacklist_usdt" => Found::Wallet(WalletId(id)),
            _ => return None,
        })
    }
}

impl Store {
    /// A tenant's records with this UUID.
    pub async fn find_uuid(&self, tenant: TenantId, id: Uuid) -> Result<Vec<Found>, StoreError> {
        let rows = self.many(&BY_UUID, (tenant, id)).await?;
        let mut found = self.resolved(tenant, rows).await?;
        if found.is_empty()
            && let Some(event) = self.event_by_id(tenant, EventId(id)).await?
        {
            let of_quote = event.kind.is_of_quote();
            found.push(match of_quote {
                true => Found::Quote(QuoteId(event.subject)),
                false => Found::Payment(PaymentId(event.subject)),
            });
        }
        Ok(found)
    }

    /// A tenant's records with this text as bank reference, external_id or customer id.
    pub async fn find_reference(
        &self,
        tenant: TenantId,
        text: &str,
    ) -> Result<Vec<Found>, StoreError> {
        let rows = self.many(&BY_REFERENCE, (tenant, text)).await?;
        self.resolved(tenant, rows).await
    }

    /// The wallet or payment request whose vault has this address, the deposits that it paid or
    /// that are refunded to it, and wallets to which it sent other assets: the newest
    /// [`RECORDS_FOUND_MAX`].
    pub async fn find_address(
        &self,
        tenant: TenantId,
        address: &Address,
    ) -> Result<Vec<Found>, StoreError> {
        let rows = self.many(&BY_ADDRESS, (tenant, address, i64::MAX, RECORDS_FOUND_MAX)).await?;
        self.resolved(tenant, rows).await
    }

    /// A tenant's records that this transaction moved.
    pub async fn find_hash(
        &self,
        tenant: TenantId,
        hash: &TxHash,
    ) -> Result<Vec<Found>, StoreError> {
        let rows = self.many(&BY_HASH, (tenant, hash)).await?;
        self.resolved(tenant, rows).await
    }

    /// A tenant's records whose bank reference, external_id or customer id begins with this text.
    pub async fn find_reference_start(
        &self,
        tenant: TenantId,
        start: &str,
    ) -> Result<Vec<Found>, StoreError> {
        // The greatest character follows every continuation.
        let end = format!("{start}{}", char::MAX);
        let params = (tenant, start, Made(end), RECORDS_FOUND_MAX);
        let rows = self.many(&REFERENCE_START, params).await?;
        self.resolved(tenant, rows).await
    }

    /// The latest [`IDS_COMPARED_MAX`] of a tenant's payments and of its wallets whose bank
    /// reference, external_id or customer id has this text somewhere, in upper or lower case: at most
    /// [`RECORDS_FOUND_MAX`] of each, newest first.
    pub async fn find_reference_part(
        &self,
        tenant: TenantId,
        part: &str,
    ) -> Result<Vec<Found>, StoreError> {
        let part = part.to_lowercase();
        let has = |text: &Option<String>| {
            text.as_ref().is_some_and(|text| text.to_lowercase().contains(&part))
        };
        let most = usize::try_from(RECORDS_FOUND_MAX).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for (stmt, kind) in LATEST_REFERENCES.iter().zip(["payment", "wallet"]) {
            let rows: Vec<(Uuid, Option<String>, Option<String>)> =
                self.many(stmt, (tenant, IDS_COMPARED_MAX)).await?;
            let rows = rows.into_iter().filter(|(_, one, other)| has(one) || has(other));
            found.extend(rows.take(most).filter_map(|(id, ..)| Found::of(kind, id)));
        }
        Ok(found)
    }

    /// A tenant's records with a transaction hash or address that begins with these hexadecimal
    /// digits.
    pub async fn find_bytes_start(
        &self,
        tenant: TenantId,
        digits: &str,
    ) -> Result<Vec<Found>, StoreError> {
        let filled = |digit: char| {
            let digits: Vec<char> =
                digits.chars().chain(std::iter::repeat(digit)).take(BYTES_MAX * 2).collect();
            let byte = |pair: &[char]| {
                let [high, low] = pair else { return 0 };
                let value = |digit: &char| digit.to_digit(16).unwrap_or_default();
                u8::try_from(value(high) * 16 + value(low)).unwrap_or_default()
            };
            Made(digits.chunks(2).map(byte).collect::<Vec<u8>>())
        };
        let params = (tenant, filled('0'), filled('f'), RECORDS_FOUND_MAX);
        let rows = self.many(&BYTES_START, params).await?;
        self.resolved(tenant, rows).await
    }

    /// A tenant's records whose id begins with these lower-case hexadecimal digits, at least
    /// [`domain::payment_search::ID_START_CHARS`] of them: payments and the quotes that they use,
    /// and the latest [`IDS_COMPARED_MAX`] of every other kind.
    pub async fn find_id_start(
        &self,
        tenant: TenantId,
        digits: &str,
    ) -> Result<Vec<Found>, StoreError> {
        let begins = |id: &Uuid| id.simple().to_string().starts_with(digits);
        let search = PaymentSearch {
            known: vec![vec![Reading::Id(digits.to_owned())]],
            ..PaymentSearch::default()
        };
        let mut found = Vec::new();
        for record in self.find_payments(tenant, &search, usize::MAX).await?.records {
            let (payment, quote) = (record.payment.id, record.payment.quote);
            found.extend(begins(&payment.0).then_some(Found::Payment(payment)));
            found.extend(begins(&quote.0).then_some(Found::Quote(quote)));
        }
        for (stmt, kind) in [
            (&LATEST_QUOTES, "quote"),
            (&LATEST_WALLETS, "wallet"),
            (&LATEST_REQUESTS, "request"),
            (&LATEST_DEPOSITS, "deposit"),
            (&LATEST_ORDERS, "order"),
            (&LATEST_DELIVERIES, "delivery"),
        ] {
            let ids: Vec<Uuid> = self.many(stmt, (tenant, IDS_COMPARED_MAX)).await?;
            found.extend(ids.into_iter().filter(begins).filter_map(|id| Found::of(kind, id)));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    pub async fn transfer(
        &self,
        tenant: TenantId,
        id: TransferId,
    ) -> Result<Option<StoredTransfer>, StoreError> {
        self.one(&TRANSFER, (tenant, id)).await
    }

    async fn resolved(
        &self,
        tenant: TenantId,
        rows: Vec<(String, Uuid)>,
    ) -> Result<Vec<Found>, StoreError> {
        let mut found = Vec::new();
        for (kind, id) in rows {
            match kind.as_str() {
                "attempt" => found.extend(self.owner(tenant, id).await?),
                "chain_tx" => found.extend(self.sent_for(tenant, ChainTxId(id)).await?),
                "transfer" => found.extend(self.moved(tenant, TransferId(id)).await?),
                kind => found.extend(Found::of(kind, id)),
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The payment or exchange order with this id.
    async fn owner(&self, tenant: TenantId, id: Uuid) -> Result<Option<Found>, StoreError> {
        let owner: Option<(String, Uuid)> = self.one(&OWNER, (tenant, id)).await?;
        Ok(owner.and_then(|(kind, id)| Found::of(&kind, id)))
    }

    /// The subject of one of our transactions.
    async fn sent_for(&self, tenant: TenantId, tx: ChainTxId) -> Result<Vec<Found>, StoreError> {
        let tx: Option<ChainTx> = self.one(&CHAIN_TX, (tenant, tx)).await?;
        let mut found = Vec::new();
        for intent in tx.map(|tx| tx.intents).unwrap_or_default() {
            let rows: Vec<(String, Uuid)> = self.many(&INTENT, (tenant, intent)).await?;
            found.extend(rows.into_iter().filter_map(|(kind, subject)| Found::of(&kind, subject)));
        }
        Ok(found)
    }

    /// The owner of a transfer.
    async fn moved(&self, tenant: TenantId, id: TransferId) -> Result<Option<Found>, StoreError> {
        let Some(transfer) = self.transfer(tenant, id).await? else { return Ok(None) };
        let Some(subject) = transfer.subject else { return Ok(Some(Found::Transfer(id))) };
        let rows: Vec<(String, Uuid)> = self.many(&BY_UUID, (tenant, subject)).await?;
        let found = rows.into_iter().find_map(|(kind, id)| Found::of(&kind, id));
        Ok(Some(found.unwrap_or(Found::Transfer(id))))
    }

    /// An event of a tenant's log by its id. A recent event's id does not determine its position:
    /// it is searched among the latest `EVENTS_SEARCHED_MAX` first. Older ids and their numbers
    /// are both in time order, so their position is found by bisection, and only its neighbours are
    /// compared.
    pub async fn event_by_id(
        &self,
        tenant: TenantId,
        id: EventId,
    ) -> Result<Option<Event>, StoreError> {
        let keys = self.id_keys().await?;
        let stored = keys.stored(id.0);
        let head = self.event_head(tenant).await?;
        let newest = self
            .event_among(tenant, head.saturating_sub(EVENTS_SEARCHED_MAX), head + 1, stored)
            .await?;
        if newest.is_some() {
            return Ok(newest);
        }
        let made = keys.ids.made_at(stored);
        let from = self.first_event_at(tenant, (made - CLOCKS_DIFFER).0, head).await?;
        let to = self.first_event_at(tenant, (made + CLOCKS_DIFFER).0, head).await?;
        self.event_among(tenant, from, to.min(from.saturating_add(EVENTS_COMPARED_MAX)), stored)
            .await
    }

    /// The event with this id within a range of numbers.
    async fn event_among(
        &self,
        tenant: TenantId,
        from: i64,
        to: i64,
        stored: Uuid,
    ) -> Result<Option<Event>, StoreError> {
        self.one(&EVENT_AMONG, (tenant, from, to, Raw(stored))).await
    }

    /// The number of the first event at or after an instant; one past the last if there is none.
    async fn first_event_at(
        &self,
        tenant: TenantId,
        at: i64,
        head: i64,
    ) -> Result<i64, StoreError> {
        let (mut low, mut high) = (1, head + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let event: Option<(i64, i64)> = self.one(&EVENT_FROM, (tenant, middle)).await?;
            let Some((seq, dated)) = event else { return Ok(high) };
            // Events below `seq` and from `middle` on are no longer retained.
            if dated >= at { high = middle } else { low = seq + 1 }
        }
        Ok(low)
    }
}
