-- What the constructors of tenants' controllers take. A controller's address depends on it: one that was given out before
-- its controller is deployed stays deployable after keys, the admin or the treasury were replaced.
CREATE TABLE controller_parts (
    tenant {{uuid}} NOT NULL,
    address {{bytes}} NOT NULL CHECK (LENGTH(address) = 20),
    admin {{bytes}} NOT NULL CHECK (LENGTH(admin) = 20),
    operator {{bytes}} NOT NULL CHECK (LENGTH(operator) = 20),
    compliance {{bytes}} NOT NULL CHECK (LENGTH(compliance) = 20),
    approver {{bytes}} NOT NULL CHECK (LENGTH(approver) = 20),
    treasury {{bytes}} NOT NULL CHECK (LENGTH(treasury) = 20),
    PRIMARY KEY (tenant, address)
) {{clustered 90}};
