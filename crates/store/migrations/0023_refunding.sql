-- Each page of the console counts the refunds that wait for approval; a tenant's other deposits need not be read for it.
CREATE INDEX deposit_refunding ON deposit (tenant, seen_at, id) WHERE state = 'refunding';
