-- Replayed and backfilled deliveries of an aggregate follow one another in order, beside newer ones: the versions that have
-- a job, and those that wait for a lower one, as numbers between commas.
ALTER TABLE delivery_stream ADD COLUMN replays_due TEXT NOT NULL DEFAULT '';
ALTER TABLE delivery_stream ADD COLUMN replays_waiting TEXT NOT NULL DEFAULT '';

-- Those that are pending behind the open version have their jobs already.
UPDATE delivery_stream SET replays_due = r.versions FROM (
    SELECT d.tenant, d.aggregate, string_agg(CAST(d.version AS TEXT), ',') AS versions FROM delivery d
    JOIN delivery_stream s ON s.tenant = d.tenant AND s.aggregate = d.aggregate
    WHERE d.state <> 'delivered' AND d.state = 'pending' AND (d.version < s.open_version OR d.version > s.newest_version)
    GROUP BY d.tenant, d.aggregate
) r WHERE delivery_stream.tenant = r.tenant AND delivery_stream.aggregate = r.aggregate;

-- Due deliveries of one tenant: none that has many is looked through for those of another.
CREATE INDEX job_delivery ON job (tenant, run_at) WHERE kind = 'deliver';
