-- The optional events that an endpoint of webhooks subscribes to, by name between commas. None, until it says so.
ALTER TABLE webhook_endpoint ADD COLUMN subscriptions TEXT NOT NULL DEFAULT '';
