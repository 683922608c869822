-- Operators find the deposits whose release failed: their money is still in escrow.
CREATE INDEX deposit_failed ON deposit (tenant, seen_at, id) WHERE state = 'failed';
