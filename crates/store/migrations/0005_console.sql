-- The operator console: people, their sessions, their tries to sign in, and what takes two of them.
--
-- A person belongs to no tenant's data: whose affairs he sees is a column. The nil id stands for the whole installation.

CREATE TABLE console_user (
    id {{uuid}} NOT NULL PRIMARY KEY,
    login {{key}} NOT NULL CHECK (LENGTH(login) BETWEEN 1 AND 64),
    scope {{uuid}} NOT NULL,
    roles TEXT NOT NULL,
    -- Argon2id with its parameters (PHC string format).
    password TEXT NOT NULL,
    password_at {{int}} NOT NULL,
    -- Whether the person has to choose another one at the next sign-in.
    password_is_initial {{int}} NOT NULL CHECK (password_is_initial IN (0, 1)),
    -- The sealed secret of the one-time codes; NULL = not enrolled yet.
    totp {{bytes}},
    -- The newest time step that a code was taken of: none is taken twice.
    totp_step {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    disabled_at {{int}},
    version {{int}} NOT NULL CHECK (version >= 1)
) {{heap 80}};
CREATE UNIQUE INDEX console_user_login ON console_user (login);

-- One browser of one person. The token itself is nowhere but in that browser.
CREATE TABLE console_session (
    token_digest {{bytes}} NOT NULL PRIMARY KEY CHECK (LENGTH(token_digest) = 32),
    user_id {{uuid}} NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('code', 'enrol', 'password', 'open')),
    created_at {{int}} NOT NULL,
    seen_at {{int}} NOT NULL,
    address TEXT NOT NULL,
    browser TEXT NOT NULL,
    -- A secret of one-time codes that is shown and not confirmed yet, sealed.
    totp {{bytes}}
) {{heap 70}};
CREATE INDEX console_session_user ON console_session (user_id);

-- Failed tries to sign in, by name and address, and since when somebody has to wait how long.
CREATE TABLE console_try (
    what {{key}} NOT NULL PRIMARY KEY,
    failures {{int}} NOT NULL CHECK (failures >= 0),
    last_at {{int}} NOT NULL,
    wait_until {{int}} NOT NULL,
    taken {{int}} NOT NULL CHECK (taken IN (0, 1))
) {{clustered 70}};
CREATE INDEX console_try_old ON console_try (last_at);

-- What one person proposed and another one decides.
CREATE TABLE approval (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    subject {{key}} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'done', 'failed', 'rejected', 'withdrawn')),
    maker {{uuid}} NOT NULL,
    maker_login TEXT NOT NULL,
    created_at {{int}} NOT NULL,
    expires_at {{int}} NOT NULL,
    checker {{uuid}},
    checker_login TEXT,
    decided_at {{int}},
    -- What is to be done, what it changes and why, sealed.
    document {{bytes}} NOT NULL,
    -- What was said to the decision and what came of it, sealed.
    outcome {{bytes}},
    PRIMARY KEY (tenant, id),
    CHECK (expires_at > created_at),
    CHECK (checker IS NULL OR checker <> maker),
    CHECK (checker_login IS NULL OR checker_login <> maker_login),
    CHECK ((checker IS NULL) = (decided_at IS NULL) AND (checker IS NULL) = (checker_login IS NULL)),
    CHECK ((checker IS NULL) = (state IN ('waiting', 'withdrawn')))
) {{heap 80}};
CREATE UNIQUE INDEX approval_id ON approval (id);
-- Of one kind and thing one proposal waits at a time.
CREATE UNIQUE INDEX approval_waiting ON approval (subject, kind, tenant) WHERE state = 'waiting';
CREATE INDEX approval_open ON approval (state, created_at) WHERE state IN ('waiting', 'approved');
CREATE INDEX approval_subject ON approval (subject, tenant);
CREATE INDEX approval_newest ON approval (created_at);
