-- What the wallet service answered the first request of an idempotency key with, sealed.
CREATE TABLE kept_answer (
    tenant {{uuid}} NOT NULL,
    scope {{key}} NOT NULL,
    idem_key {{key}} NOT NULL,
    body_hash {{bytes}} NOT NULL,
    answer {{bytes}} NOT NULL,
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, scope, idem_key)
) {{clustered 90}};
CREATE INDEX kept_answer_at ON kept_answer (at);
