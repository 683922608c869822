-- A customer has one wallet per chain, whatever the chain's name is. An installation whose chain was renamed may have more:
-- the newest one counts, and the others only keep their funds.
ALTER TABLE wallet ADD COLUMN replaced {{int}} NOT NULL DEFAULT 0 CHECK (replaced >= 0);
UPDATE wallet SET replaced = (SELECT COUNT(*) FROM wallet newer WHERE newer.tenant = wallet.tenant
    AND newer.customer_id = wallet.customer_id AND newer.chain = wallet.chain
    AND (newer.created_at > wallet.created_at OR (newer.created_at = wallet.created_at AND newer.id > wallet.id)))
    WHERE EXISTS (SELECT 1 FROM wallet other WHERE other.tenant = wallet.tenant AND other.customer_id = wallet.customer_id
    AND other.chain = wallet.chain AND other.id <> wallet.id);
DROP INDEX wallet_customer;
CREATE UNIQUE INDEX wallet_customer ON wallet (customer_id, chain, tenant, replaced);

-- The watchers' leases are named by the chain's number.
DELETE FROM role_lease WHERE name LIKE 'watch:%';
