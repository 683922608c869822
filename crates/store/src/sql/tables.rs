//! The tables of `migrations/`, as rows are written and read. The order of columns is the order of
//! the row structs.

use super::table::Kind::{Bytes, Int, Text, Uuid};
use super::table::Table;
use super::{audit_tables, rail_tables, wallet_tables};

/// The table of this name.
pub(crate) fn named(name: &str) -> Option<&'static Table> {
    let all =
        ALL.iter().chain(&wallet_tables::ALL).chain(&audit_tables::ALL).chain(&rail_tables::ALL);
    all.copied().find(|table| table.name == name)
}

/// All tables of the payment service with a fixed row type.
static ALL: [&Table; 19] = [
    &TENANT,
    &ACCESS_KEY,
    &BATCH,
    &TENANT_HEAD,
    &QUOTE,
    &PAYMENT,
    &PAYMENT_ORDER,
    &EXTERNAL_ID,
    &ATTEMPT,
    &LINKED_REFERENCE,
    &ACCOUNT,
    &TRANSFER,
    &EVENT,
    &JOB,
    &IDEMPOTENCY,
    &OPEN_QUOTES,
    &DISCREPANCY,
    &CONSOLE_USER,
    &APPROVAL,
];

pub(crate) static TENANT: Table = Table {
    name: "tenant",
    columns: &[("id", Uuid), ("tag", Text), ("name", Text), ("policy", Text), ("created_at", Int)],
    keys: 1,
    changes: &[],
    guards: &[],
};

pub(crate) static ACCESS_KEY: Table = Table {
    name: "access_key",
    columns: &[
        ("access_key", Text),
        ("tenant", Uuid),
        ("use_name", Text),
        ("secrets", Bytes),
        ("created_at", Int),
        ("revoked_at", Int),
        ("suspended", Int),
        ("allowed_ips", Text),
    ],
    keys: 1,
    changes: &[],
    guards: &[],
};

pub(crate) static BATCH: Table = Table {
    name: "batch",
    columns: &[("id", Uuid), ("at", Int), ("landed", Int)],
    keys: 1,
    changes: &[],
    guards: &[],
};

pub(crate) static TENANT_HEAD: Table = Table {
    name: "tenant_head",
    columns: &[
        ("tenant", Uuid),
        ("payment_seq", Int),
        ("wallet_seq", Int),
        ("payment_webhooks", Int),
    ],
    keys: 1,
    changes: &["payment_seq", "wallet_seq"],
    guards: &["payment_seq", "wallet_seq", "payment_webhooks"],
};

pub(crate) static QUOTE: Table = Table {
    name: "quote",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("country", Text),
        ("currency", Text),
        ("amount", Int),
        ("amount_destination", Int),
        ("rate", Text),
        ("wallet_rate", Text),
        ("coin", Text),
        ("charge_amount", Int),
        ("charge_premium", Int),
        ("charge_cost", Int),
        ("remainder", Int),
        ("min_destination", Int),
        ("max_destination", Int),
        ("bound", Bytes),
        ("created_at", Int),
        ("expires_at", Int),
        ("state", Text),
        ("payment", Uuid),
    ],
    keys: 2,
    changes: &["state", "payment"],
    guards: &["state"],
};

pub(crate) static PAYMENT: Table = Table {
    name: "payment",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("country", Text),
        ("quote", Uuid),
        ("external_id", Text),
        ("amount", Int),
        ("base_currency", Text),
        ("base", Int),
        ("coin", Text),
        ("charge_amount", Int),
        ("charge_premium", Int),
        ("charge_cost", Int),
        ("remainder", Int),
        ("hold", Uuid),
        ("accepted_at", Int),
        ("state", Text),
        ("state_at", Int),
        ("msg", Text),
        ("bank_reference", Text),
        ("version", Int),
        ("review", Text),
        ("screen_score", Int),
        ("screen_evidence", Text),
        ("screen_list", Text),
        ("screen_stale", Int),
        ("unclear_since", Int),
        ("settled_at", Int),
        ("attempt", Uuid),
    ],
    keys: 2,
    changes: &[
        "state",
        "state_at",
        "msg",
        "bank_reference",
        "version",
        "review",
        "screen_score",
        "screen_evidence",
        "screen_list",
        "screen_stale",
        "unclear_since",
        "settled_at",
        "attempt",
    ],
    guards: &["state", "version", "review"],
};

pub(crate) static PAYMENT_ORDER: Table = Table {
    name: "payment_order",
    columns: &[("tenant", Uuid), ("payment", Uuid), ("document", Bytes)],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static EXTERNAL_ID: Table = Table {
    name: "external_id",
    columns: &[("tenant", Uuid), ("external_id", Text), ("payment", Uuid)],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static ATTEMPT: Table = Table {
    name: "attempt",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("payment", Uuid),
        ("number", Int),
        ("rail", Text),
        ("state", Text),
        ("amount", Int),
        ("currency", Text),
        ("charges", Int),
        ("sender", Uuid),
        ("created_at", Int),
        ("state_at", Int),
        ("reason", Text),
        ("info", Text),
        ("bank_reference", Text),
        ("source", Text),
        ("slot", Int),
    ],
    keys: 2,
    changes: &[
        "state",
        "state_at",
        "charges",
        "reason",
        "info",
        "bank_reference",
        "source",
        "slot",
    ],
    guards: &["state", "state_at"],
};

pub(crate) static LINKED_REFERENCE: Table = Table {
    name: "linked_reference",
    columns: &[("tenant", Uuid), ("reference", Text), ("payment", Uuid)],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static ACCOUNT: Table = Table {
    name: "account",
    columns: &[
        ("tenant", Uuid),
        ("class", Text),
        ("code", Text),
        ("debits_pending", Int),
        ("debits_posted", Int),
        ("credits_pending", Int),
        ("credits_posted", Int),
    ],
    keys: 3,
    changes: &["debits_pending", "debits_posted", "credits_pending", "credits_posted"],
    guards: &["debits_pending", "debits_posted", "credits_pending", "credits_posted"],
};

pub(crate) static TRANSFER: Table = Table {
    name: "transfer",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("debit", Text),
        ("credit", Text),
        ("amount", Int),
        ("currency", Text),
        ("kind", Text),
        ("pending", Uuid),
        ("set_id", Uuid),
        ("reason", Text),
        ("subject", Uuid),
        ("at", Int),
    ],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static EVENT: Table = Table {
    name: "event",
    columns: &[
        ("tenant", Uuid),
        ("seq", Int),
        ("id", Uuid),
        ("kind", Text),
        ("subject", Uuid),
        ("version", Int),
        ("at", Int),
        ("state", Text),
        ("state_at", Int),
        ("msg", Text),
        ("bank_reference", Text),
    ],
    keys: 2,
    changes: &[],
    guards: &[],
};

pub(crate) static JOB: Table = Table {
    name: "job",
    columns: &[
        ("tenant", Uuid),
        ("subject", Uuid),
        ("kind", Text),
        ("run_at", Int),
        ("fence", Int),
        ("leased_until", Int),
        ("tries", Int),
    ],
    keys: 2,
    changes: &["fence", "kind", "run_at", "leased_until", "tries"],
    guards: &["fence"],
};

pub(crate) static IDEMPOTENCY: Table = Table {
    name: "idempotency",
    columns: &[
        ("tenant", Uuid),
        ("scope", Text),
        ("idem_key", Text),
        ("body_hash", Bytes),
        ("made_kind", Text),
        ("made", Uuid),
        ("at", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static OPEN_QUOTES: Table = Table {
    name: "open_quotes",
    columns: &[("tenant", Uuid), ("country", Text), ("count", Int)],
    keys: 2,
    changes: &["count"],
    guards: &["count"],
};

pub(crate) static DISCREPANCY: Table = Table {
    name: "discrepancy",
    columns: &[
        ("tenant", Uuid),
        ("attempt", Uuid),
        ("digest", Uuid),
        ("payment", Uuid),
        ("what", Text),
        ("at", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static CONSOLE_USER: Table = Table {
    name: "console_user",
    columns: &[
        ("id", Uuid),
        ("login", Text),
        ("scope", Uuid),
        ("roles", Text),
        ("password", Text),
        ("password_at", Int),
        ("password_is_initial", Int),
        ("totp", Bytes),
        ("totp_step", Int),
        ("created_at", Int),
        ("disabled_at", Int),
        ("version", Int),
        ("provider_name", Text),
        ("provider_issuer", Text),
        ("provider_subject", Text),
    ],
    keys: 1,
    changes: &[],
    guards: &[],
};

pub(crate) static APPROVAL: Table = Table {
    name: "approval",
    columns: &[
        ("tenant", Uuid),
        ("id", Uuid),
        ("state", Text),
        ("maker", Uuid),
        ("maker_login", Text),
        ("created_at", Int),
        ("expires_at", Int),
        ("checker", Uuid),
        ("checker_login", Text),
        ("decided_at", Int),
        ("document", Bytes),
        ("outcome", Bytes),
    ],
    keys: 2,
    changes: &[],
    guards: &[],
};
