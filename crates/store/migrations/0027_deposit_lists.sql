-- Deposits of a tenant, newest first, and of a payment request: without them each such read is one of all deposits.
CREATE INDEX deposit_of_tenant ON deposit (tenant, seen_at, id);
CREATE INDEX deposit_of_request ON deposit (request, tenant, seen_at, id) WHERE request IS NOT NULL;
-- A report about a known payment that could not be applied concerns its tenant only.
ALTER TABLE rail_stray ADD COLUMN tenant {{uuid}};
