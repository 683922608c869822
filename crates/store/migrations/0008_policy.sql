-- Policies of tenants have a number that rises with each change; the first one was a word.
UPDATE tenant SET policy = REPLACE(policy, '"version":"default-1"', '"version":1');

-- What the operator knows of a tenant's customers, beside what each request says.
CREATE TABLE customer (
    tenant {{uuid}} NOT NULL,
    customer_id {{key}} NOT NULL CHECK (LENGTH(customer_id) >= 1),
    kyc_level TEXT NOT NULL CHECK (kyc_level IN ('BASIC', 'ENHANCED', 'COMPREHENSIVE')),
    changed_at {{int}} NOT NULL,
    PRIMARY KEY (tenant, customer_id)
) {{heap 80}};
