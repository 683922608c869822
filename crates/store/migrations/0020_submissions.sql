-- Each submission of sender's details has an escrow of its own, and small deposits wait in theirs until they are worth a
-- release. Submissions of before have no number: they say nothing of deposits that are seen from now on.

ALTER TABLE sender_info ADD COLUMN number {{int}} CHECK (number IS NULL OR number >= 1);
CREATE UNIQUE INDEX sender_info_number ON sender_info (request, number, tenant) WHERE number IS NOT NULL;
ALTER TABLE watched_address ADD COLUMN submission {{int}} CHECK (submission IS NULL OR submission >= 1);
CREATE INDEX watched_address_request ON watched_address (request, tenant) WHERE submission IS NOT NULL;

-- What a deposit can be is more now, and the submission whose escrow it came to is searched for.
CREATE TABLE deposit_wider (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    wallet {{uuid}} NOT NULL,
    request {{uuid}},
    submission {{int}} CHECK (submission IS NULL OR submission >= 1),
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    amount {{int}} NOT NULL CHECK (amount > 0),
    tx {{bytes}} NOT NULL CHECK (LENGTH(tx) = 32),
    ordinal {{int}} NOT NULL CHECK (ordinal >= 0),
    seen_at {{int}} NOT NULL,
    height {{int}},
    state TEXT NOT NULL CHECK (state IN ('seen', 'orphaned', 'dust', 'held', 'screening', 'in_review', 'approved',
        'completed', 'rejected', 'legal_hold', 'refunding', 'refunded', 'failed', 'suspended')),
    kind TEXT NOT NULL CHECK (kind IN ('RECEIVED', 'BLOCKED')),
    pot TEXT NOT NULL CHECK (pot IN ('nowhere', 'escrow', 'suspense', 'wallet')),
    credited_at {{int}},
    version {{int}} NOT NULL CHECK (version >= 1),
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id)
) {{heap 60}};
INSERT INTO deposit_wider (tenant, id, wallet, request, coin, amount, tx, ordinal, seen_at, height, state, kind, pot,
        credited_at, version, document)
    SELECT tenant, id, wallet, request, coin, amount, tx, ordinal, seen_at, height, state, kind, pot, credited_at,
        version, document
    FROM deposit;
DROP TABLE deposit;
ALTER TABLE deposit_wider RENAME TO deposit;
CREATE UNIQUE INDEX deposit_log ON deposit (tx, ordinal);
CREATE INDEX deposit_list ON deposit (wallet, tenant, seen_at, id);
CREATE INDEX deposit_height ON deposit (height, tenant) WHERE height IS NOT NULL;
CREATE INDEX deposit_waiting ON deposit (height, tenant) WHERE state IN ('seen', 'suspended');
CREATE INDEX deposit_review ON deposit (tenant, seen_at, id) WHERE state = 'in_review';
CREATE INDEX deposit_dust ON deposit (wallet, tenant, coin, amount) WHERE state = 'dust';
