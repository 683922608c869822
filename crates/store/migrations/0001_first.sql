-- The first schema: tenants, quotes, payments, the ledger, events, jobs.
--
-- Dialect words in double braces are replaced by `migrate.rs`:
--   int, uuid, bytes   column types
--   key                text that is compared byte by byte
--   clustered N        a small row found by its primary key (SQLite: without rowid); N = PostgreSQL fill factor
--   heap N             a large row
-- The tenant stands first in every key. Ids are stored in their time-ordered form (see `keyed_id.rs`), so that indexes
-- grow at their right edge. Only the indexes that a query needs; a payment's state is in none, so that its updates
-- stay within the heap page.

CREATE TABLE tenant (
    id {{uuid}} NOT NULL PRIMARY KEY,
    tag {{key}} NOT NULL UNIQUE,
    name TEXT NOT NULL,
    policy TEXT NOT NULL,
    created_at {{int}} NOT NULL
) {{clustered 90}};

CREATE TABLE access_key (
    access_key {{key}} NOT NULL PRIMARY KEY,
    tenant {{uuid}} NOT NULL,
    use_name TEXT NOT NULL,
    secrets {{bytes}} NOT NULL,
    created_at {{int}} NOT NULL,
    revoked_at {{int}},
    suspended {{int}} NOT NULL CHECK (suspended IN (0, 1)),
    allowed_ips TEXT NOT NULL
) {{clustered 90}};
CREATE INDEX access_key_tenant ON access_key (tenant);

-- The unit of commit. Whoever inserts an id first decides whether the batch can ever land: the batch itself
-- (landed = 1), or somebody who asks what became of it (landed = 0).
CREATE TABLE batch (
    id {{uuid}} NOT NULL PRIMARY KEY,
    at {{int}} NOT NULL,
    landed {{int}} NOT NULL CHECK (landed IN (0, 1))
) {{clustered 100}};
CREATE INDEX batch_at ON batch (at);

-- Locked first by every batch of the tenant; numbers the tenant's events.
CREATE TABLE tenant_head (
    tenant {{uuid}} NOT NULL PRIMARY KEY,
    payment_seq {{int}} NOT NULL CHECK (payment_seq >= 0)
) {{clustered 10}};

CREATE TABLE quote (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    country TEXT NOT NULL,
    currency TEXT NOT NULL,
    amount {{int}} NOT NULL CHECK (amount > 0),
    amount_destination {{int}} NOT NULL CHECK (amount_destination > 0),
    rate TEXT NOT NULL,
    wallet_rate TEXT NOT NULL,
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    charge_amount {{int}} NOT NULL CHECK (charge_amount >= 0),
    charge_premium {{int}} NOT NULL CHECK (charge_premium >= 0),
    charge_cost {{int}} NOT NULL CHECK (charge_cost >= 0),
    remainder {{int}} NOT NULL CHECK (remainder >= 0),
    min_destination {{int}} NOT NULL,
    max_destination {{int}} NOT NULL,
    bound {{bytes}},
    created_at {{int}} NOT NULL,
    expires_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'used', 'expired')),
    payment {{uuid}},
    PRIMARY KEY (tenant, id),
    CHECK ((state = 'used') = (payment IS NOT NULL))
) {{clustered 80}};
CREATE INDEX quote_open ON quote (expires_at) WHERE state = 'active';

CREATE TABLE payment (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    country TEXT NOT NULL,
    quote {{uuid}} NOT NULL,
    external_id {{key}},
    amount {{int}} NOT NULL CHECK (amount > 0),
    base_currency TEXT NOT NULL,
    base {{int}} NOT NULL CHECK (base > 0),
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    charge_amount {{int}} NOT NULL CHECK (charge_amount >= 0),
    charge_premium {{int}} NOT NULL CHECK (charge_premium >= 0),
    charge_cost {{int}} NOT NULL CHECK (charge_cost >= 0),
    remainder {{int}} NOT NULL CHECK (remainder >= 0),
    hold {{uuid}} NOT NULL,
    accepted_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'rejected', 'pending', 'processing', 'succeeded', 'failed',
        'canceled', 'unknown', 'reversed')),
    state_at {{int}} NOT NULL,
    msg TEXT,
    bank_reference TEXT,
    version {{int}} NOT NULL CHECK (version >= 1),
    review TEXT NOT NULL CHECK (review IN ('not_needed', 'waiting', 'approved', 'refused')),
    screen_score {{int}} NOT NULL CHECK (screen_score BETWEEN 0 AND 100),
    screen_evidence TEXT,
    screen_list TEXT NOT NULL,
    screen_stale {{int}} NOT NULL CHECK (screen_stale IN (0, 1)),
    unclear_since {{int}},
    settled_at {{int}},
    attempt {{uuid}},
    PRIMARY KEY (tenant, id)
) {{clustered 75}};
-- A quote serves one payment. The tenant comes last here and below: an index that began with it could be taken for a
-- look-up by id while the tables are small.
CREATE UNIQUE INDEX payment_quote ON payment (quote, tenant);
CREATE INDEX payment_list ON payment (country, tenant, accepted_at, id);

-- What was ordered, sealed: names, account and document numbers. Never changes.
CREATE TABLE payment_order (
    tenant {{uuid}} NOT NULL,
    payment {{uuid}} NOT NULL,
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, payment)
) {{heap 100}};

-- Taken for ever, whatever becomes of the payment.
CREATE TABLE external_id (
    tenant {{uuid}} NOT NULL,
    external_id {{key}} NOT NULL,
    payment {{uuid}} NOT NULL,
    PRIMARY KEY (tenant, external_id)
) {{clustered 90}};

CREATE TABLE attempt (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    payment {{uuid}} NOT NULL,
    number {{int}} NOT NULL CHECK (number >= 1),
    rail TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('sending', 'indeterminate', 'accepted', 'refused', 'settled', 'failed',
        'returned', 'cancelled')),
    amount {{int}} NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    created_at {{int}} NOT NULL,
    state_at {{int}} NOT NULL,
    reason TEXT,
    info TEXT,
    bank_reference TEXT,
    source TEXT,
    -- Paid out at most once: only a refused attempt makes room for another. A column of its own, because a state in an
    -- index would make each change of it an insertion into every index.
    slot {{int}} NOT NULL,
    PRIMARY KEY (tenant, payment, slot),
    CHECK (slot = CASE WHEN state = 'refused' THEN number ELSE 0 END)
) {{clustered 70}};
-- A rail's report names the attempt only.
CREATE UNIQUE INDEX attempt_id ON attempt (id);

-- The bank's references by which payments are searched for.
CREATE TABLE linked_reference (
    tenant {{uuid}} NOT NULL,
    reference {{key}} NOT NULL,
    payment {{uuid}} NOT NULL,
    PRIMARY KEY (tenant, reference, payment)
) {{clustered 90}};

CREATE TABLE account (
    tenant {{uuid}} NOT NULL,
    class TEXT NOT NULL CHECK (class IN ('shared', 'own')),
    code {{key}} NOT NULL,
    debits_pending {{int}} NOT NULL CHECK (debits_pending >= 0),
    debits_posted {{int}} NOT NULL CHECK (debits_posted >= 0),
    credits_pending {{int}} NOT NULL CHECK (credits_pending >= 0),
    credits_posted {{int}} NOT NULL CHECK (credits_posted >= 0),
    PRIMARY KEY (tenant, class, code),
    CONSTRAINT account_never_below_zero CHECK (
        (code NOT LIKE 'prefund:%' AND code NOT LIKE 'wallet:%' AND code NOT LIKE 'escrow:%')
        OR credits_posted - debits_posted >= debits_pending)
) {{clustered 20}};

CREATE TABLE transfer (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    debit {{key}} NOT NULL,
    credit {{key}} NOT NULL,
    amount {{int}} NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('posted', 'pending', 'post_pending', 'void_pending')),
    pending {{uuid}},
    set_id {{uuid}} NOT NULL,
    reason TEXT NOT NULL,
    subject {{uuid}},
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, id),
    CHECK ((kind IN ('post_pending', 'void_pending')) = (pending IS NOT NULL)),
    CHECK (debit <> credit)
) {{clustered 100}};
-- A reservation ends once.
CREATE UNIQUE INDEX transfer_pending ON transfer (tenant, pending) WHERE pending IS NOT NULL;

CREATE TABLE event (
    tenant {{uuid}} NOT NULL,
    seq {{int}} NOT NULL CHECK (seq >= 1),
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    subject {{uuid}} NOT NULL,
    version {{int}} NOT NULL CHECK (version >= 1),
    at {{int}} NOT NULL,
    state TEXT,
    state_at {{int}},
    msg TEXT,
    bank_reference TEXT,
    PRIMARY KEY (tenant, seq),
    UNIQUE (tenant, subject, version),
    CHECK ((state IS NULL) = (state_at IS NULL))
) {{clustered 100}};

CREATE TABLE job (
    tenant {{uuid}} NOT NULL,
    subject {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    run_at {{int}} NOT NULL,
    fence {{int}} NOT NULL CHECK (fence >= 0),
    leased_until {{int}},
    leased_by TEXT,
    tries {{int}} NOT NULL CHECK (tries >= 0),
    PRIMARY KEY (tenant, subject)
) {{clustered 50}};
CREATE INDEX job_due ON job (kind, run_at);

CREATE TABLE idempotency (
    tenant {{uuid}} NOT NULL,
    scope {{key}} NOT NULL,
    idem_key {{key}} NOT NULL,
    body_hash {{bytes}} NOT NULL,
    made_kind TEXT NOT NULL CHECK (made_kind IN ('quote', 'payment')),
    made {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, scope, idem_key)
) {{clustered 90}};
CREATE INDEX idempotency_at ON idempotency (at);

CREATE TABLE open_quotes (
    tenant {{uuid}} NOT NULL,
    country TEXT NOT NULL,
    count {{int}} NOT NULL CHECK (count >= 0),
    PRIMARY KEY (tenant, country)
) {{clustered 20}};

-- One row per thing to look at, however often it is reported.
CREATE TABLE discrepancy (
    tenant {{uuid}} NOT NULL,
    attempt {{uuid}} NOT NULL,
    digest {{uuid}} NOT NULL,
    payment {{uuid}} NOT NULL,
    what TEXT NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, attempt, digest)
) {{clustered 100}};

CREATE TABLE rail_cursor (
    rail {{key}} NOT NULL PRIMARY KEY,
    mark TEXT NOT NULL,
    at {{int}} NOT NULL
) {{clustered 50}};

CREATE TABLE role_lease (
    name {{key}} NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    fence {{int}} NOT NULL CHECK (fence >= 1),
    leased_until {{int}} NOT NULL
) {{clustered 50}};

CREATE TABLE meta (
    name {{key}} NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) {{clustered 90}};

CREATE TABLE store_key (
    name {{key}} NOT NULL PRIMARY KEY,
    sealed {{bytes}} NOT NULL
) {{clustered 90}};

CREATE TABLE admin_log (
    id {{uuid}} NOT NULL PRIMARY KEY,
    at {{int}} NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
) {{clustered 100}};
