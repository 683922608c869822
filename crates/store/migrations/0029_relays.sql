-- How much of each tenant's logs each relay has sent: the broker has acknowledged every event up to `seq`, the last of
-- which is `event`. Later events are not pruned.
CREATE TABLE relay_cursor (
    tenant {{uuid}} NOT NULL,
    log TEXT NOT NULL CHECK (log IN ('payment', 'wallet')),
    relay {{key}} NOT NULL,
    seq {{int}} NOT NULL CHECK (seq >= 0),
    event {{uuid}},
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, log, relay)
) {{clustered 50}};
