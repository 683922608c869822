//! The tables of the wallet service, as rows are written and read. The order of columns is the
//! order of the row structs. An aggregate's changes increase its version, which every update
//! verifies.

use super::table::Kind::{Bytes, Int, Text, Uuid};
use super::table::Table;

pub(crate) static ALL: [&Table; 21] = [
    &WALLET,
    &CUSTOMER,
    &WATCHED_ADDRESS,
    &PAYMENT_REQUEST,
    &SENDER_INFO,
    &REFUND_ADDRESS,
    &DEPOSIT,
    &EXCHANGE_ORDER,
    &CHAIN_SIGNER,
    &CHAIN_INTENT,
    &SWEEP,
    &CHAIN_TX,
    &CHAIN_ATTEMPT,
    &CHAIN_LOG,
    &UNSUPPORTED_ASSET,
    &WALLET_EVENT,
    &DELIVERY,
    &DELIVERY_ATTEMPT,
    &DELIVERY_STREAM,
    &WEBHOOK_ENDPOINT,
    &ALERT,
];

pub(crate) static WALLET: Table = Table {
    name: "wallet",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("customer_id", Text),
        ("blockchain", Text),
        ("address", Bytes),
        ("created_at", Int),
        ("kyc_level", Text),
        ("state", Text),
        ("last_activity_at", Int),
        ("version", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &["kyc_level", "state", "last_activity_at", "version", "document"],
    guards: &["version"],
};

pub(crate) static CUSTOMER: Table = Table {
    name: "customer",
    columns: &[("tenant", Uuid), ("customer_id", Text), ("kyc_level", Text), ("changed_at", Int)],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static WATCHED_ADDRESS: Table = Table {
    name: "watched_address",
    columns: &[
        ("address", Bytes),
        ("tenant", Uuid),
        ("wallet", Uuid),
        ("request", Uuid),
        ("submission", Int),
    ],
    keys: 1,
    changes: &[],
    guards: &[],
};

pub(crate) static PAYMENT_REQUEST: Table = Table {
    name: "payment_request",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("wallet", Uuid),
        ("token_digest", Bytes),
        ("escrow", Bytes),
        ("created_at", Int),
        ("expires_at", Int),
        ("state", Text),
        ("received_usdc", Int),
        ("received_usdt", Int),
        ("confirming", Int),
        ("version", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &["state", "received_usdc", "received_usdt", "confirming", "version", "document"],
    guards: &["version"],
};

pub(crate) static SENDER_INFO: Table = Table {
    name: "sender_info",
    columns: &[
        ("tenant", Uuid),
        ("request", Uuid),
        ("id", Uuid),
        ("number", Int),
        ("at", Int),
        ("document", Bytes),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static REFUND_ADDRESS: Table = Table {
    name: "refund_address",
    columns: &[
        ("tenant", Uuid),
        ("request", Uuid),
        ("id", Uuid),
        ("sender", Uuid),
        ("at", Int),
        ("document", Bytes),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static DEPOSIT: Table = Table {
    name: "deposit",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("wallet", Uuid),
        ("request", Uuid),
        ("submission", Int),
        ("coin", Text),
        ("amount", Int),
        ("tx", Bytes),
        ("ordinal", Int),
        ("seen_at", Int),
        ("height", Int),
        ("state", Text),
        ("kind", Text),
        ("pot", Text),
        ("credited_at", Int),
        ("version", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &["height", "state", "kind", "pot", "credited_at", "version", "document"],
    guards: &["version"],
};

pub(crate) static EXCHANGE_ORDER: Table = Table {
    name: "exchange_order",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("wallet", Uuid),
        ("coin", Text),
        ("amount", Int),
        ("created_at", Int),
        ("state", Text),
        ("state_at", Int),
        ("payout", Int),
        ("version", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &["state", "state_at", "payout", "version", "document"],
    guards: &["version"],
};

pub(crate) static CHAIN_SIGNER: Table = Table {
    name: "chain_signer",
    columns: &[("tenant", Uuid), ("signer", Bytes), ("role", Text), ("next_nonce", Int)],
    keys: 2,
    changes: &["next_nonce"],
    guards: &["next_nonce"],
};

pub(crate) static CHAIN_INTENT: Table = Table {
    name: "chain_intent",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("kind", Text),
        ("subject", Uuid),
        ("wallet", Uuid),
        ("created_at", Int),
        ("state", Text),
        ("tx", Uuid),
        ("version", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &["state", "tx", "version", "document"],
    guards: &["version"],
};

pub(crate) static SWEEP: Table = Table {
    name: "sweep",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("coin", Text),
        ("amount", Int),
        ("began_at", Int),
        ("hold", Uuid),
        ("intent", Uuid),
        ("state", Text),
        ("state_at", Int),
        ("tx", Bytes),
        ("version", Int),
    ],
    keys: 2,
    changes: &["state", "state_at", "tx", "version"],
    guards: &["version"],
};

pub(crate) static CHAIN_TX: Table = Table {
    name: "chain_tx",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("signer", Bytes),
        ("nonce", Int),
        ("created_at", Int),
        ("state", Text),
        ("block_number", Int),
        ("version", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &["state", "block_number", "version", "document"],
    guards: &["version"],
};

pub(crate) static CHAIN_ATTEMPT: Table = Table {
    name: "chain_attempt",
    columns: &[
        ("tenant", Uuid),
        ("tx", Uuid),
        ("number", Int),
        ("cancels", Int),
        ("hash", Bytes),
        ("raw", Bytes),
        ("max_fee", Text),
        ("max_priority_fee", Text),
        ("at", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static CHAIN_LOG: Table = Table {
    name: "chain_log",
    columns: &[
        ("block_hash", Bytes),
        ("log_index", Int),
        ("vault", Bytes),
        ("block_number", Int),
        ("tx", Bytes),
        ("ordinal", Int),
        ("coin", Text),
        ("amount", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static UNSUPPORTED_ASSET: Table = Table {
    name: "unsupported_asset",
    columns: &[
        ("tenant", Uuid),
        ("tx", Bytes),
        ("ordinal", Int),
        ("wallet", Uuid),
        ("request", Uuid),
        ("vault", Bytes),
        ("token", Bytes),
        ("sender", Bytes),
        ("value", Text),
        ("block_number", Int),
        ("block_hash", Bytes),
        ("at", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static WALLET_EVENT: Table = Table {
    name: "wallet_event",
    columns: &[
        ("tenant", Uuid),
        ("seq", Int),
        ("id", Uuid),
        ("kind", Text),
        ("aggregate_kind", Text),
        ("aggregate", Uuid),
        ("version", Int),
        ("at", Int),
        ("document", Bytes),
    ],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static DELIVERY: Table = Table {
    name: "delivery",
    columns: &[
        ("tenant", Uuid),
        ("event", Uuid),
        ("aggregate_kind", Text),
        ("aggregate", Uuid),
        ("version", Int),
        ("created_at", Int),
        ("state", Text),
        ("tries", Int),
        ("attempts", Int),
        ("next_at", Int),
        ("delivered_at", Int),
        ("last_status", Int),
        ("last_fault", Text),
        ("revision", Int),
    ],
    keys: 2,
    changes: &[
        "revision",
        "state",
        "tries",
        "attempts",
        "next_at",
        "delivered_at",
        "last_status",
        "last_fault",
    ],
    guards: &["revision"],
};

pub(crate) static DELIVERY_ATTEMPT: Table = Table {
    name: "delivery_attempt",
    columns: &[
        ("tenant", Uuid),
        ("event", Uuid),
        ("number", Int),
        ("at", Int),
        ("status", Int),
        ("fault", Text),
        ("took", Int),
        ("body", Bytes),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static DELIVERY_STREAM: Table = Table {
    name: "delivery_stream",
    columns: &[
        ("tenant", Uuid),
        ("aggregate", Uuid),
        ("aggregate_kind", Text),
        ("open_version", Int),
        ("newest_version", Int),
    ],
    keys: 2,
    changes: &["open_version", "newest_version"],
    guards: &["open_version", "newest_version"],
};

/// Batches see and change only whether it is disabled.
pub(crate) static WEBHOOK_ENDPOINT: Table = Table {
    name: "webhook_endpoint",
    columns: &[
        ("tenant", Uuid),
        ("version", Int),
        ("disabled_at", Int),
        ("disabled_why", Text),
        ("subscriptions", Text),
    ],
    keys: 1,
    changes: &["version", "disabled_at", "disabled_why"],
    guards: &["version"],
};

pub(crate) static ALERT: Table = Table {
    name: "alert",
    columns: &[
        ("tenant", Uuid),
        ("subject", Uuid),
        ("kind", Text),
        ("digest", Uuid),
        ("what", Text),
        ("at", Int),
    ],
    keys: 4,
    changes: &[],
    guards: &[],
};
