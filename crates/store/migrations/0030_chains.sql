-- Several chains in one installation. Rows name a chain by its number here, which belongs to the chain's EIP-155 id for
-- good: everything before this is of the first one, which the service enters at its next start.
CREATE TABLE chain (
    number {{int}} NOT NULL PRIMARY KEY CHECK (number >= 1),
    chain_id {{int}} NOT NULL CHECK (chain_id >= 1),
    name {{key}} NOT NULL,
    at {{int}} NOT NULL
) {{clustered 90}};
CREATE UNIQUE INDEX chain_id_of ON chain (chain_id);

ALTER TABLE wallet ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE watched_address ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE payment_request ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE deposit ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE exchange_order ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE chain_intent ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE chain_tx ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);
ALTER TABLE sweep ADD COLUMN chain {{int}} NOT NULL DEFAULT 1 CHECK (chain >= 1);

-- The same transaction can be on two chains if it was signed without a chain id.
DROP INDEX deposit_log;
CREATE UNIQUE INDEX deposit_log ON deposit (tx, ordinal, chain);
DROP INDEX deposit_height;
CREATE INDEX deposit_height ON deposit (chain, height, tenant) WHERE height IS NOT NULL;
DROP INDEX deposit_waiting;
CREATE INDEX deposit_waiting ON deposit (chain, height, tenant) WHERE state IN ('seen', 'suspended');
DROP INDEX chain_intent_active;
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, chain, tenant)
    WHERE state NOT IN ('failed', 'cancelled') AND kind NOT IN ('propose_refund', 'set_legal_hold');
DROP INDEX chain_tx_nonce;
CREATE UNIQUE INDEX chain_tx_nonce ON chain_tx (chain, signer, nonce);
DROP INDEX chain_tx_block;
CREATE INDEX chain_tx_block ON chain_tx (chain, block_number, tenant) WHERE block_number IS NOT NULL;
DROP INDEX sweep_open;
CREATE UNIQUE INDEX sweep_open ON sweep (tenant, chain, coin) WHERE state = 'sending';
CREATE INDEX watched_address_chain ON watched_address (chain, address);

-- A key may sign on several chains, each with nonces of its own.
CREATE TABLE chain_signer_wider (
    tenant {{uuid}} NOT NULL,
    chain {{int}} NOT NULL CHECK (chain >= 1),
    signer {{bytes}} NOT NULL CHECK (LENGTH(signer) = 20),
    role TEXT NOT NULL CHECK (role IN ('operator', 'compliance', 'approver', 'blacklister')),
    next_nonce {{int}} NOT NULL CHECK (next_nonce >= 0),
    PRIMARY KEY (tenant, chain, signer)
) {{clustered 20}};
INSERT INTO chain_signer_wider (tenant, chain, signer, role, next_nonce)
    SELECT tenant, 1, signer, role, next_nonce FROM chain_signer;
DROP TABLE chain_signer;
ALTER TABLE chain_signer_wider RENAME TO chain_signer;
CREATE UNIQUE INDEX chain_signer_owner ON chain_signer (signer, chain);

CREATE TABLE chain_block_wider (
    chain {{int}} NOT NULL CHECK (chain >= 1),
    number {{int}} NOT NULL CHECK (number >= 0),
    hash {{bytes}} NOT NULL CHECK (LENGTH(hash) = 32),
    parent {{bytes}} NOT NULL CHECK (LENGTH(parent) = 32),
    at {{int}} NOT NULL,
    PRIMARY KEY (chain, number)
) {{clustered 90}};
INSERT INTO chain_block_wider (chain, number, hash, parent, at) SELECT 1, number, hash, parent, at FROM chain_block;
DROP TABLE chain_block;
ALTER TABLE chain_block_wider RENAME TO chain_block;
CREATE UNIQUE INDEX chain_block_hash ON chain_block (hash, chain);

CREATE TABLE chain_log_wider (
    chain {{int}} NOT NULL CHECK (chain >= 1),
    block_hash {{bytes}} NOT NULL CHECK (LENGTH(block_hash) = 32),
    log_index {{int}} NOT NULL CHECK (log_index >= 0),
    vault {{bytes}} NOT NULL CHECK (LENGTH(vault) = 20),
    block_number {{int}} NOT NULL CHECK (block_number >= 0),
    tx {{bytes}} NOT NULL CHECK (LENGTH(tx) = 32),
    ordinal {{int}} NOT NULL CHECK (ordinal >= 0),
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    amount {{int}} NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (chain, block_hash, log_index, vault)
) {{clustered 90}};
INSERT INTO chain_log_wider (chain, block_hash, log_index, vault, block_number, tx, ordinal, coin, amount)
    SELECT 1, block_hash, log_index, vault, block_number, tx, ordinal, coin, amount FROM chain_log;
DROP TABLE chain_log;
ALTER TABLE chain_log_wider RENAME TO chain_log;
CREATE INDEX chain_log_vault ON chain_log (vault, coin, chain);
CREATE INDEX chain_log_number ON chain_log (chain, block_number);

CREATE TABLE token_state_wider (
    chain {{int}} NOT NULL CHECK (chain >= 1),
    coin TEXT NOT NULL CHECK (coin IN ('USDC', 'USDT')),
    paused {{int}} NOT NULL CHECK (paused IN (0, 1)),
    code_changed {{int}} NOT NULL CHECK (code_changed IN (0, 1)),
    at_block {{int}} NOT NULL CHECK (at_block >= 0),
    PRIMARY KEY (chain, coin)
) {{clustered 50}};
INSERT INTO token_state_wider (chain, coin, paused, code_changed, at_block)
    SELECT 1, coin, paused, code_changed, at_block FROM token_state;
DROP TABLE token_state;
ALTER TABLE token_state_wider RENAME TO token_state;

-- What arrived on another chain than the vault's is recorded here, too.
CREATE TABLE unsupported_asset_wider (
    tenant {{uuid}} NOT NULL,
    chain {{int}} NOT NULL CHECK (chain >= 1),
    tx {{bytes}} NOT NULL CHECK (LENGTH(tx) = 32),
    ordinal {{int}} NOT NULL CHECK (ordinal >= 0),
    wallet {{uuid}} NOT NULL,
    request {{uuid}},
    vault {{bytes}} NOT NULL CHECK (LENGTH(vault) = 20),
    vault_chain {{int}} NOT NULL CHECK (vault_chain >= 1),
    token {{bytes}} NOT NULL CHECK (LENGTH(token) = 20),
    sender {{bytes}} NOT NULL CHECK (LENGTH(sender) = 20),
    value TEXT NOT NULL,
    block_number {{int}} NOT NULL,
    block_hash {{bytes}} NOT NULL CHECK (LENGTH(block_hash) = 32),
    at {{int}} NOT NULL,
    PRIMARY KEY (tenant, tx, ordinal, chain)
) {{clustered 100}};
INSERT INTO unsupported_asset_wider (tenant, chain, tx, ordinal, wallet, request, vault, vault_chain, token, sender, value,
        block_number, block_hash, at)
    SELECT tenant, 1, tx, ordinal, wallet, request, vault, 1, token, sender, value, block_number, block_hash, at
    FROM unsupported_asset;
DROP TABLE unsupported_asset;
ALTER TABLE unsupported_asset_wider RENAME TO unsupported_asset;
