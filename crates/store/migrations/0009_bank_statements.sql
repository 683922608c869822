-- What banks say in their statements of the accounts that rails pay out of, and what of it does not agree with our books.
--
-- A rail's account is the installation's: a statement names pay-outs of all tenants, so its rows belong to none. What does
-- not agree is a tenant's: of the payment that it is about, or of every tenant where it is about none.

-- One page each, taken in once.
CREATE TABLE rail_statement (
    rail {{key}} NOT NULL,
    statement {{key}} NOT NULL,
    page {{int}} NOT NULL CHECK (page >= 1),
    is_last {{int}} NOT NULL CHECK (is_last IN (0, 1)),
    account {{key}} NOT NULL,
    currency {{key}} NOT NULL,
    from_at {{int}},
    to_at {{int}} NOT NULL,
    opening {{int}},
    closing {{int}},
    turnover {{int}} NOT NULL,
    entries {{int}} NOT NULL CHECK (entries >= 0),
    digest {{uuid}} NOT NULL,
    source TEXT NOT NULL,
    read_at {{int}} NOT NULL,
    -- Whether its balances are still to be compared, or did not agree.
    is_open {{int}} NOT NULL CHECK (is_open IN (0, 1)),
    PRIMARY KEY (rail, statement, page)
) {{clustered 80}};
CREATE INDEX rail_statement_order ON rail_statement (rail, account, currency, to_at);
CREATE INDEX rail_statement_open ON rail_statement (rail, statement) WHERE is_open = 1;

CREATE TABLE rail_entry (
    rail {{key}} NOT NULL,
    statement {{key}} NOT NULL,
    page {{int}} NOT NULL,
    number {{int}} NOT NULL CHECK (number >= 1),
    tenant {{uuid}},
    -- The attempt that it paid, or that came back; none where it is about the account itself, or about nothing of ours.
    attempt {{uuid}},
    is_credit {{int}} NOT NULL CHECK (is_credit IN (0, 1)),
    is_own {{int}} NOT NULL CHECK (is_own IN (0, 1)),
    amount {{int}} NOT NULL CHECK (amount >= 0),
    currency TEXT NOT NULL,
    reference TEXT,
    booked TEXT NOT NULL,
    read_at {{int}} NOT NULL,
    -- Whether it is still to be compared, or did not agree.
    is_open {{int}} NOT NULL CHECK (is_open IN (0, 1)),
    PRIMARY KEY (rail, statement, page, number),
    CHECK ((tenant IS NULL) = (attempt IS NULL))
) {{clustered 80}};
CREATE INDEX rail_entry_attempt ON rail_entry (attempt) WHERE attempt IS NOT NULL;
CREATE INDEX rail_entry_open ON rail_entry (rail, statement, page, number) WHERE is_open = 1;

-- One row per thing that does not agree, however often it is found. It is closed when it is found no more, or by a person
-- together with its alert; what a person closed stays closed.
CREATE TABLE rail_break (
    tenant {{uuid}} NOT NULL,
    subject {{uuid}} NOT NULL,
    digest {{uuid}} NOT NULL,
    rail TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('missing', 'amount', 'twice', 'unknown', 'returned', 'not_returned',
        'not_paid_here', 'balance', 'gap')),
    what TEXT NOT NULL,
    at {{int}} NOT NULL,
    closed_at {{int}},
    closed_by TEXT CHECK (closed_by IN ('statement', 'person')),
    PRIMARY KEY (tenant, subject, digest),
    CHECK ((closed_at IS NULL) = (closed_by IS NULL))
) {{clustered 80}};
CREATE INDEX rail_break_open ON rail_break (tenant, at) WHERE closed_at IS NULL;

-- What a rail reported that belongs to no attempt of ours over it, or that could not be understood. Only ever added to.
CREATE TABLE rail_stray (
    rail {{key}} NOT NULL,
    digest {{uuid}} NOT NULL,
    what TEXT NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (rail, digest)
) {{clustered 100}};
CREATE INDEX rail_stray_newest ON rail_stray (at);
