-- Coins that orders were paid out for go from the controllers to the treasuries.
--
-- What a controller holds is `unswept` from now on, and `treasury` what was swept out of it. What stood in `treasury` so far
-- was never anywhere but in the controller, so it is renamed in the transfers that say so: with these, a settled order's
-- coins stay in `unswept`, and it is `exchanged` that its position and fee come from. Nothing was swept before this.

-- A settled order whose pay-out came back: its fee is no income, and all of it waits in `payout_suspense`.
UPDATE transfer SET credit = 'payout_suspense:' || currency WHERE reason = 'exchange.spread'
    AND subject IN (SELECT r.subject FROM transfer r WHERE r.reason = 'exchange.payout_returned');
-- What was given back of these is in the wallet, and paid out for no more.
UPDATE transfer SET credit = 'exchanged:' || currency
    WHERE reason = 'exchange.payout_returned' AND credit LIKE 'suspense:%'
    AND subject IN (SELECT r.subject FROM transfer r WHERE r.reason = 'exchange.return');
UPDATE transfer SET credit = 'payout_suspense:' || currency
    WHERE reason = 'exchange.payout_returned' AND credit LIKE 'suspense:%';
UPDATE transfer SET debit = 'unswept:' || currency WHERE reason = 'exchange.return';
UPDATE transfer SET debit = 'exchanged:' || currency WHERE reason IN ('exchange.fx', 'exchange.spread');
UPDATE transfer SET credit = 'unswept:' || currency WHERE credit LIKE 'treasury:%';

-- The sums of all accounts that this touches, from their transfers.
DELETE FROM account WHERE class = 'shared' AND (code LIKE 'treasury:%' OR code LIKE 'suspense:%' OR code LIKE 'fee_income:%');
INSERT INTO account (tenant, class, code, debits_pending, debits_posted, credits_pending, credits_posted)
    SELECT s.tenant, 'shared', s.code, CAST(SUM(s.dp) AS {{int}}), CAST(SUM(s.dd) AS {{int}}), CAST(SUM(s.cp) AS {{int}}),
        CAST(SUM(s.cc) AS {{int}})
    FROM (
        SELECT tenant, debit AS code,
            CASE kind WHEN 'pending' THEN amount WHEN 'posted' THEN 0 ELSE -amount END AS dp,
            CASE kind WHEN 'posted' THEN amount WHEN 'post_pending' THEN amount ELSE 0 END AS dd,
            0 AS cp, 0 AS cc FROM transfer
        UNION ALL
        SELECT tenant, credit, 0, 0,
            CASE kind WHEN 'pending' THEN amount WHEN 'posted' THEN 0 ELSE -amount END,
            CASE kind WHEN 'posted' THEN amount WHEN 'post_pending' THEN amount ELSE 0 END FROM transfer
    ) s
    WHERE s.code LIKE 'unswept:%' OR s.code LIKE 'exchanged:%' OR s.code LIKE 'payout_suspense:%'
        OR s.code LIKE 'suspense:%' OR s.code LIKE 'fee_income:%'
    GROUP BY s.tenant, s.code;

CREATE TABLE sweep (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    amount {{int}} NOT NULL CHECK (amount > 0),
    began_at {{int}} NOT NULL,
    hold {{uuid}} NOT NULL,
    intent {{uuid}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('sending', 'done', 'failed')),
    state_at {{int}} NOT NULL,
    tx {{bytes}} CHECK (LENGTH(tx) = 32),
    version {{int}} NOT NULL CHECK (version >= 1),
    PRIMARY KEY (tenant, id),
    CHECK (state <> 'done' OR tx IS NOT NULL)
) {{clustered 80}};
-- One at a time of a tenant's coin.
CREATE UNIQUE INDEX sweep_open ON sweep (tenant, coin) WHERE state = 'sending';

-- What an intent can be for is more now.
CREATE TABLE chain_intent_wider (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('release', 'debit', 'return_debit', 'sweep', 'propose_refund', 'execute_refund',
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
INSERT INTO chain_intent_wider (tenant, id, kind, subject, wallet, created_at, state, tx, version, document)
    SELECT tenant, id, kind, subject, wallet, created_at, state, tx, version, document FROM chain_intent;
DROP TABLE chain_intent;
ALTER TABLE chain_intent_wider RENAME TO chain_intent;
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, tenant)
    WHERE state NOT IN ('failed', 'cancelled') AND kind <> 'propose_refund';
CREATE INDEX chain_intent_open ON chain_intent (wallet, tenant) WHERE state IN ('waiting', 'assigned');
