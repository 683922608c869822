-- Operators find deposits by the address that paid, and by the one that a refund goes to, newest first. Earlier rows, whose
-- addresses are sealed, get theirs with their next change.
ALTER TABLE deposit ADD COLUMN payer {{bytes}};
ALTER TABLE deposit ADD COLUMN refund_to {{bytes}};
CREATE INDEX deposit_payer ON deposit (tenant, payer, seen_at, id);
CREATE INDEX deposit_refund ON deposit (tenant, refund_to, seen_at, id) WHERE refund_to IS NOT NULL;
CREATE INDEX unsupported_sender ON unsupported_asset (tenant, sender);
