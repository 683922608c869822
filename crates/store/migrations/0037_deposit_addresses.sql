-- Operators find deposits by the address that paid, and by the one that a refund goes to. Earlier rows, whose addresses
-- are sealed, get theirs with their next change.
ALTER TABLE deposit ADD COLUMN payer {{bytes}};
ALTER TABLE deposit ADD COLUMN refund_to {{bytes}};
CREATE INDEX deposit_payer ON deposit (payer, tenant) WHERE payer IS NOT NULL;
CREATE INDEX deposit_refund ON deposit (refund_to, tenant) WHERE refund_to IS NOT NULL;
CREATE INDEX unsupported_sender ON unsupported_asset (sender, tenant);
