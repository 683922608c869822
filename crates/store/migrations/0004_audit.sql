-- The audit log: what people did, one chain of hashes per tenant (docs/audit.md). Entries and checkpoints are only ever
-- added to; the service's own role may not change or remove them (docs/audit.md, "PostgreSQL").
CREATE TABLE audit_entry (
    tenant {{uuid}} NOT NULL,
    seq {{int}} NOT NULL CHECK (seq >= 1),
    at {{int}} NOT NULL,
    via TEXT NOT NULL CHECK (via IN ('cli', 'api', 'console', 'program')),
    who {{key}} NOT NULL,
    role TEXT,
    behalf {{key}},
    second {{key}},
    action {{key}} NOT NULL,
    kind TEXT NOT NULL,
    subject {{key}} NOT NULL,
    before_doc TEXT,
    after_doc TEXT,
    why TEXT NOT NULL,
    request_id TEXT,
    hash {{bytes}} NOT NULL CHECK (LENGTH(hash) = 32),
    PRIMARY KEY (tenant, seq)
) {{heap 100}};
CREATE INDEX audit_entry_subject ON audit_entry (subject, tenant, seq);
CREATE INDEX audit_entry_at ON audit_entry (at, tenant, seq);

-- The end of each chain. A tenant has one from its making.
CREATE TABLE audit_head (
    tenant {{uuid}} NOT NULL PRIMARY KEY,
    seq {{int}} NOT NULL CHECK (seq >= 0),
    hash {{bytes}} NOT NULL CHECK (LENGTH(hash) = 32)
) {{clustered 50}};

-- Ends of chains as they were signed; the same lines lie outside.
CREATE TABLE audit_checkpoint (
    tenant {{uuid}} NOT NULL,
    seq {{int}} NOT NULL CHECK (seq >= 1),
    hash {{bytes}} NOT NULL CHECK (LENGTH(hash) = 32),
    at {{int}} NOT NULL,
    signer {{bytes}} NOT NULL CHECK (LENGTH(signer) = 32),
    signature {{bytes}} NOT NULL CHECK (LENGTH(signature) = 64),
    PRIMARY KEY (tenant, seq)
) {{clustered 100}};
