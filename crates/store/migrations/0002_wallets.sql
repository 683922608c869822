-- The wallet service: wallets, payment requests, deposits, exchange orders, the chain, events and their delivery.
--
-- As in the first schema: the tenant stands first in every key of a tenant's things, and not first in any other index
-- but partial ones, which a look-up by id cannot take.
-- What is only about one thing, and all personal data, is in its sealed `document`; columns are what is searched, what
-- is counted and what a constraint needs. There is one chain per installation, so no key names it.

ALTER TABLE tenant_head ADD COLUMN wallet_seq {{int}} NOT NULL DEFAULT 0 CHECK (wallet_seq >= 0);

-- One wallet per customer and chain.
CREATE TABLE wallet (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    customer_id {{key}} NOT NULL,
    blockchain {{key}} NOT NULL,
    address {{bytes}} NOT NULL CHECK (LENGTH(address) = 20),
    created_at {{int}} NOT NULL,
    kyc_level TEXT NOT NULL CHECK (kyc_level IN ('BASIC', 'ENHANCED', 'COMPREHENSIVE')),
    state TEXT NOT NULL CHECK (state IN ('PENDING', 'ACTIVE', 'BLOCKED', 'BLACKLISTED')),
    last_activity_at {{int}} NOT NULL,
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id)
) {{heap 80}};
CREATE UNIQUE INDEX wallet_customer ON wallet (customer_id, blockchain, tenant);

-- Every vault, for ever: an address belongs to one wallet or to one request.
CREATE TABLE watched_address (
    address {{bytes}} NOT NULL PRIMARY KEY CHECK (LENGTH(address) = 20),
    tenant {{uuid}} NOT NULL,
    wallet {{uuid}} NOT NULL,
    request {{uuid}}
) {{clustered 90}};

CREATE TABLE payment_request (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    wallet {{uuid}} NOT NULL,
    token_digest {{bytes}} NOT NULL CHECK (LENGTH(token_digest) = 32),
    escrow {{bytes}} NOT NULL CHECK (LENGTH(escrow) = 20),
    created_at {{int}} NOT NULL,
    expires_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('ACTIVE', 'PAID', 'EXPIRED', 'CANCELLED')),
    received_usdc {{int}} NOT NULL CHECK (received_usdc >= 0),
    received_usdt {{int}} NOT NULL CHECK (received_usdt >= 0),
    confirming {{int}} NOT NULL CHECK (confirming >= 0),
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id),
    CHECK (expires_at > created_at)
) {{heap 80}};
-- A link leads to one request, whosever it is. The token itself is sealed.
CREATE UNIQUE INDEX payment_request_token ON payment_request (token_digest);
CREATE UNIQUE INDEX payment_request_escrow ON payment_request (escrow);
CREATE INDEX payment_request_list ON payment_request (wallet, tenant, created_at, id);

-- What senders say about themselves. Only ever added to.
CREATE TABLE sender_info (
    tenant {{uuid}} NOT NULL,
    request {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, request, id)
) {{heap 100}};

CREATE TABLE deposit (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    wallet {{uuid}} NOT NULL,
    request {{uuid}},
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    amount {{int}} NOT NULL CHECK (amount > 0),
    tx {{bytes}} NOT NULL CHECK (LENGTH(tx) = 32),
    ordinal {{int}} NOT NULL CHECK (ordinal >= 0),
    seen_at {{int}} NOT NULL,
    height {{int}},
    state TEXT NOT NULL CHECK (state IN ('seen', 'orphaned', 'held', 'screening', 'in_review', 'approved',
        'completed', 'rejected', 'legal_hold', 'refunding', 'refunded', 'failed', 'suspended')),
    kind TEXT NOT NULL CHECK (kind IN ('RECEIVED', 'BLOCKED')),
    pot TEXT NOT NULL CHECK (pot IN ('nowhere', 'escrow', 'suspense', 'wallet')),
    credited_at {{int}},
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id)
) {{heap 60}};
-- Credited once, in whichever block its transaction is found.
CREATE UNIQUE INDEX deposit_log ON deposit (tx, ordinal);
CREATE INDEX deposit_list ON deposit (wallet, tenant, seen_at, id);
CREATE INDEX deposit_height ON deposit (height, tenant) WHERE height IS NOT NULL;
CREATE INDEX deposit_waiting ON deposit (height, tenant) WHERE state IN ('seen', 'suspended');
CREATE INDEX deposit_review ON deposit (tenant, seen_at, id) WHERE state = 'in_review';

CREATE TABLE exchange_order (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    wallet {{uuid}} NOT NULL,
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    amount {{int}} NOT NULL CHECK (amount > 0),
    created_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'debiting', 'debited', 'paying', 'returning', 'settled', 'failed',
        'cancelled')),
    state_at {{int}} NOT NULL,
    payout {{int}} NOT NULL CHECK (payout > 0),
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id)
) {{heap 60}};
CREATE INDEX exchange_order_list ON exchange_order (wallet, tenant, created_at, id);

-- Whose a signing address is, and its next place. Two tenants never share one.
CREATE TABLE chain_signer (
    tenant {{uuid}} NOT NULL,
    signer {{bytes}} NOT NULL CHECK (LENGTH(signer) = 20),
    role TEXT NOT NULL CHECK (role IN ('operator', 'compliance', 'approver', 'blacklister')),
    next_nonce {{int}} NOT NULL CHECK (next_nonce >= 0),
    PRIMARY KEY (tenant, signer)
) {{clustered 20}};
CREATE UNIQUE INDEX chain_signer_owner ON chain_signer (signer);

CREATE TABLE chain_intent (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('release', 'debit', 'return_debit', 'propose_refund', 'execute_refund',
        'set_frozen', 'blacklist_usdc', 'blacklist_usdt', 'deploy')),
    subject {{uuid}} NOT NULL,
    wallet {{uuid}},
    created_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'assigned', 'done', 'failed', 'cancelled')),
    tx {{uuid}},
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id),
    CHECK (state <> 'assigned' OR tx IS NOT NULL)
) {{heap 60}};
-- A deposit is released once, an order debited once: only a failed or cancelled intent makes room for another.
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, tenant)
    WHERE state NOT IN ('failed', 'cancelled');
CREATE INDEX chain_intent_open ON chain_intent (wallet, tenant) WHERE state IN ('waiting', 'assigned');

CREATE TABLE chain_tx (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    signer {{bytes}} NOT NULL CHECK (LENGTH(signer) = 20),
    nonce {{int}} NOT NULL CHECK (nonce >= 0),
    created_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('taken', 'broadcast', 'mined', 'succeeded', 'reverted', 'cancelled')),
    block_number {{int}},
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id)
) {{heap 60}};
-- A signer uses a nonce for one thing.
CREATE UNIQUE INDEX chain_tx_nonce ON chain_tx (signer, nonce);
CREATE INDEX chain_tx_open ON chain_tx (created_at, tenant, id) WHERE state IN ('taken', 'broadcast', 'mined');
CREATE INDEX chain_tx_block ON chain_tx (block_number, tenant) WHERE block_number IS NOT NULL;

-- What was signed, exactly as it is broadcast. Only ever added to.
CREATE TABLE chain_attempt (
    tenant {{uuid}} NOT NULL,
    tx {{uuid}} NOT NULL,
    number {{int}} NOT NULL CHECK (number >= 1),
    cancels {{int}} NOT NULL CHECK (cancels IN (0, 1)),
    hash {{bytes}} NOT NULL CHECK (LENGTH(hash) = 32),
    raw {{bytes}} NOT NULL,
    max_fee TEXT NOT NULL,
    max_priority_fee TEXT NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, tx, number)
) {{heap 100}};
CREATE UNIQUE INDEX chain_attempt_hash ON chain_attempt (hash);

-- The newest headers that were taken in, and what the logs of their blocks say about our vaults.
CREATE TABLE chain_block (
    number {{int}} NOT NULL PRIMARY KEY CHECK (number >= 0),
    hash {{bytes}} NOT NULL UNIQUE CHECK (LENGTH(hash) = 32),
    parent {{bytes}} NOT NULL CHECK (LENGTH(parent) = 32),
    at {{int}} NOT NULL
) {{clustered 90}};

CREATE TABLE chain_log (
    block_hash {{bytes}} NOT NULL CHECK (LENGTH(block_hash) = 32),
    log_index {{int}} NOT NULL CHECK (log_index >= 0),
    vault {{bytes}} NOT NULL CHECK (LENGTH(vault) = 20),
    block_number {{int}} NOT NULL CHECK (block_number >= 0),
    tx {{bytes}} NOT NULL CHECK (LENGTH(tx) = 32),
    ordinal {{int}} NOT NULL CHECK (ordinal >= 0),
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    amount {{int}} NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (block_hash, log_index, vault)
) {{clustered 90}};
CREATE INDEX chain_log_vault ON chain_log (vault, coin);
CREATE INDEX chain_log_number ON chain_log (block_number);

CREATE TABLE token_state (
    coin TEXT NOT NULL PRIMARY KEY CHECK (coin IN ('USDC', 'USDT')),
    paused {{int}} NOT NULL CHECK (paused IN (0, 1)),
    code_changed {{int}} NOT NULL CHECK (code_changed IN (0, 1)),
    at_block {{int}} NOT NULL CHECK (at_block >= 0)
) {{clustered 50}};

CREATE TABLE unsupported_asset (
    tenant {{uuid}} NOT NULL,
    tx {{bytes}} NOT NULL CHECK (LENGTH(tx) = 32),
    ordinal {{int}} NOT NULL CHECK (ordinal >= 0),
    wallet {{uuid}} NOT NULL,
    request {{uuid}},
    vault {{bytes}} NOT NULL CHECK (LENGTH(vault) = 20),
    token {{bytes}} NOT NULL CHECK (LENGTH(token) = 20),
    sender {{bytes}} NOT NULL CHECK (LENGTH(sender) = 20),
    value TEXT NOT NULL,
    block_number {{int}} NOT NULL,
    block_hash {{bytes}} NOT NULL CHECK (LENGTH(block_hash) = 32),
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, tx, ordinal)
) {{clustered 100}};

CREATE TABLE wallet_event (
    tenant {{uuid}} NOT NULL,
    seq {{int}} NOT NULL CHECK (seq >= 1),
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    aggregate_kind TEXT NOT NULL CHECK (aggregate_kind IN ('request', 'order', 'wallet')),
    aggregate {{uuid}} NOT NULL,
    version {{int}} NOT NULL CHECK (version >= 1),
    at {{int}} NOT NULL,
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, seq)
) {{heap 100}};
CREATE UNIQUE INDEX wallet_event_version ON wallet_event (aggregate, version, tenant);

CREATE TABLE delivery (
    tenant {{uuid}} NOT NULL,
    event {{uuid}} NOT NULL,
    aggregate_kind TEXT NOT NULL CHECK (aggregate_kind IN ('request', 'order', 'wallet')),
    aggregate {{uuid}} NOT NULL,
    version {{int}} NOT NULL CHECK (version >= 1),
    created_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead', 'disabled')),
    tries {{int}} NOT NULL CHECK (tries >= 0),
    attempts {{int}} NOT NULL CHECK (attempts >= 0),
    next_at {{int}},
    delivered_at {{int}},
    last_status {{int}},
    last_fault TEXT,
    revision {{int}} NOT NULL CHECK (revision >= 1),
    PRIMARY KEY (tenant, event),
    CHECK (state <> 'delivered' OR delivered_at IS NOT NULL)
) {{clustered 60}};
CREATE INDEX delivery_undelivered ON delivery (tenant, state) WHERE state <> 'delivered';

CREATE TABLE delivery_attempt (
    tenant {{uuid}} NOT NULL,
    event {{uuid}} NOT NULL,
    number {{int}} NOT NULL CHECK (number >= 1),
    at {{int}} NOT NULL,
    status {{int}},
    fault TEXT,
    took {{int}} NOT NULL CHECK (took >= 0),
    body {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, event, number)
) {{heap 100}};

-- How far an aggregate's events are delivered.
CREATE TABLE delivery_stream (
    tenant {{uuid}} NOT NULL,
    aggregate {{uuid}} NOT NULL,
    aggregate_kind TEXT NOT NULL CHECK (aggregate_kind IN ('request', 'order', 'wallet')),
    open_version {{int}} NOT NULL CHECK (open_version >= 1),
    newest_version {{int}} NOT NULL CHECK (newest_version >= 1),
    PRIMARY KEY (tenant, aggregate),
    CHECK (open_version <= newest_version + 1)
) {{clustered 50}};

CREATE TABLE webhook_endpoint (
    tenant {{uuid}} NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    secrets {{bytes}} NOT NULL,
    created_at {{int}} NOT NULL,
    disabled_at {{int}},
    disabled_why TEXT,
    version {{int}} NOT NULL CHECK (version >= 1),
    CHECK ((disabled_at IS NULL) = (disabled_why IS NULL))
) {{clustered 90}};

-- Permits that all nodes together have drawn of a window. `granted` is what the newest drawing got.
CREATE TABLE rate_window (
    tenant {{uuid}} NOT NULL,
    call_group {{key}} NOT NULL,
    began_at {{int}} NOT NULL,
    drawn {{int}} NOT NULL CHECK (drawn >= 0),
    granted {{int}} NOT NULL CHECK (granted >= 0),
    PRIMARY KEY (tenant, call_group, began_at)
) {{clustered 50}};

-- One row per thing to look at, however often it is found; closing removes it, so that it can be raised again.
CREATE TABLE alert (
    tenant {{uuid}} NOT NULL,
    subject {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    digest {{uuid}} NOT NULL,
    what TEXT NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, subject, kind, digest)
) {{clustered 90}};

-- What an idempotency key can have made is more now.
CREATE TABLE idempotency_wider (
    tenant {{uuid}} NOT NULL,
    scope {{key}} NOT NULL,
    idem_key {{key}} NOT NULL,
    body_hash {{bytes}} NOT NULL,
    made_kind TEXT NOT NULL CHECK (made_kind IN ('quote', 'payment', 'wallet', 'request', 'order', 'deposit',
        'delivery')),
    made {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, scope, idem_key)
) {{clustered 90}};
INSERT INTO idempotency_wider (tenant, scope, idem_key, body_hash, made_kind, made, at)
    SELECT tenant, scope, idem_key, body_hash, made_kind, made, at FROM idempotency;
DROP TABLE idempotency;
ALTER TABLE idempotency_wider RENAME TO idempotency;
CREATE INDEX idempotency_at ON idempotency (at);
