-- Escrows go on legal hold on the chain too.

-- What an intent can be for is more now.
CREATE TABLE chain_intent_wider (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('release', 'debit', 'return_debit', 'sweep', 'propose_refund', 'execute_refund',
        'set_frozen', 'set_legal_hold', 'blacklist_usdc', 'blacklist_usdt', 'deploy')),
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
INSERT INTO chain_intent_wider (tenant, id, kind, subject, wallet, created_at, state, tx, version, document)
    SELECT tenant, id, kind, subject, wallet, created_at, state, tx, version, document FROM chain_intent;
DROP TABLE chain_intent;
ALTER TABLE chain_intent_wider RENAME TO chain_intent;
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, tenant)
    WHERE state NOT IN ('failed', 'cancelled') AND kind <> 'propose_refund';
CREATE INDEX chain_intent_open ON chain_intent (wallet, tenant) WHERE state IN ('waiting', 'assigned');

-- Deposits that were put on hold before this: whoever screens finds that the chain has still to be told.
INSERT INTO job (tenant, subject, kind, run_at, fence, tries)
    SELECT tenant, id, 'screen', 0, 0, 0 FROM deposit WHERE state = 'legal_hold' AND request IS NOT NULL
    ON CONFLICT DO NOTHING;
