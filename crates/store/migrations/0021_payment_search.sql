-- By what operators search payments: keyed digests of ids, account ends, name words and telephone numbers, since the
-- order itself is sealed. One row per payment, in order of acceptance, scanned from the newest on: an index on digests
-- would cost each payment a dozen insertions in random places. Never changes.
CREATE TABLE payment_search (
    tenant {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    payment {{uuid}} NOT NULL,
    amount {{int}} NOT NULL,
    base {{int}} NOT NULL,
    digests {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, at, payment)
) {{clustered 100}};
