-- Roles of an installation on PostgreSQL, run by the owner of the tables after each `corridor migrate`:
--   psql -v ON_ERROR_STOP=1 -f postgres.sql corridor
-- Create the roles once before: CREATE ROLE corridor_app LOGIN; CREATE ROLE corridor_reader LOGIN; and give them
-- passwords. The service cannot change or delete rows of append-only tables.
GRANT USAGE ON SCHEMA public TO corridor_app, corridor_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO corridor_app, corridor_reader;
REVOKE SELECT ON store_key FROM corridor_reader;
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO corridor_app;
REVOKE UPDATE, DELETE, TRUNCATE ON audit_entry, audit_checkpoint FROM corridor_app;
REVOKE DELETE, TRUNCATE ON audit_head FROM corridor_app;
REVOKE UPDATE, DELETE, TRUNCATE ON transfer, payment_order, payment_search, external_id, linked_reference, sender_info,
    case_note, case_file, refund_address, chain_attempt, watched_address, unsupported_asset FROM corridor_app;
REVOKE UPDATE, TRUNCATE ON event, wallet_event, delivery_attempt FROM corridor_app;
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON schema_version, migration_lock, admin_log FROM corridor_app;
