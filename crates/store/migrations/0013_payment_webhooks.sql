-- The payment service's events can be delivered like the wallet service's, where a tenant wants them.

-- Whether the tenant's payment events are delivered. In the row that every batch of the tenant locks first, so that nobody
-- who does not want them pays for the question.
ALTER TABLE tenant_head ADD COLUMN payment_webhooks {{int}} NOT NULL DEFAULT 0 CHECK (payment_webhooks IN (0, 1));

-- What is delivered can belong to a payment or a quote now.
CREATE TABLE delivery_wider (
    tenant {{uuid}} NOT NULL,
    event {{uuid}} NOT NULL,
    aggregate_kind TEXT NOT NULL CHECK (aggregate_kind IN ('request', 'order', 'wallet', 'payment', 'quote')),
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
INSERT INTO delivery_wider (tenant, event, aggregate_kind, aggregate, version, created_at, state, tries, attempts, next_at,
        delivered_at, last_status, last_fault, revision)
    SELECT tenant, event, aggregate_kind, aggregate, version, created_at, state, tries, attempts, next_at,
        delivered_at, last_status, last_fault, revision FROM delivery;
DROP TABLE delivery;
ALTER TABLE delivery_wider RENAME TO delivery;
CREATE INDEX delivery_undelivered ON delivery (tenant, state) WHERE state <> 'delivered';
-- A tenant that wants no payment events is not in it.
CREATE INDEX delivery_of_payments ON delivery (tenant, created_at) WHERE aggregate_kind IN ('payment', 'quote');

CREATE TABLE delivery_stream_wider (
    tenant {{uuid}} NOT NULL,
    aggregate {{uuid}} NOT NULL,
    aggregate_kind TEXT NOT NULL CHECK (aggregate_kind IN ('request', 'order', 'wallet', 'payment', 'quote')),
    open_version {{int}} NOT NULL CHECK (open_version >= 1),
    newest_version {{int}} NOT NULL CHECK (newest_version >= 1),
    PRIMARY KEY (tenant, aggregate),
    CHECK (open_version <= newest_version + 1)
) {{clustered 50}};
INSERT INTO delivery_stream_wider (tenant, aggregate, aggregate_kind, open_version, newest_version)
    SELECT tenant, aggregate, aggregate_kind, open_version, newest_version FROM delivery_stream;
DROP TABLE delivery_stream;
ALTER TABLE delivery_stream_wider RENAME TO delivery_stream;
