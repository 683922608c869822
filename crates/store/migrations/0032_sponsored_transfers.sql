-- Transfers that senders sign and the tenant submits.

-- What an intent can be for is more now.
CREATE TABLE chain_intent_wider (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('release', 'debit', 'return_debit', 'sweep', 'propose_refund', 'execute_refund',
        'set_frozen', 'set_legal_hold', 'blacklist_usdc', 'blacklist_usdt', 'sponsored_transfer', 'deploy')),
    subject {{uuid}} NOT NULL,
    wallet {{uuid}},
    created_at {{int}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'assigned', 'done', 'failed', 'cancelled')),
    tx {{uuid}},
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1),
    PRIMARY KEY (tenant, id),
    CHECK (state <> 'assigned' OR tx IS NOT NULL)
) {{heap 60}};
INSERT INTO chain_intent_wider (tenant, id, kind, subject, wallet, created_at, state, tx, version, document, chain)
    SELECT tenant, id, kind, subject, wallet, created_at, state, tx, version, document, chain FROM chain_intent;
DROP TABLE chain_intent;
ALTER TABLE chain_intent_wider RENAME TO chain_intent;
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, chain, tenant)
    WHERE state NOT IN ('failed', 'cancelled') AND kind NOT IN ('propose_refund', 'set_legal_hold');
CREATE INDEX chain_intent_open ON chain_intent (wallet, tenant) WHERE state IN ('waiting', 'assigned');

-- The sum of the gas limits that a tenant's budget of a UTC day (number of days since 1970) has paid for.
CREATE TABLE sponsored_gas (
    tenant {{uuid}} NOT NULL,
    chain {{int}} NOT NULL CHECK (chain >= 1),
    day {{int}} NOT NULL,
    gas {{int}} NOT NULL CHECK (gas >= 0),
    PRIMARY KEY (tenant, chain, day)
) {{clustered 20}};
