-- Requests to banks to return payments. What is written to and by the bank is sealed.
CREATE TABLE recall (
    tenant {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    payment {{uuid}} NOT NULL,
    attempt {{uuid}} NOT NULL,
    rail TEXT NOT NULL,
    created_at {{int}} NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('requested', 'sent', 'accepted', 'refused', 'unanswered', 'returned', 'closed')),
    state_at {{int}} NOT NULL,
    sent_at {{int}},
    bank_reason TEXT,
    source TEXT,
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, id)
) {{clustered 80}};
CREATE INDEX recall_payment ON recall (payment, tenant);
-- One at a time of a payment.
CREATE UNIQUE INDEX recall_open ON recall (payment, tenant)
    WHERE state = 'requested' OR state = 'sent' OR state = 'accepted' OR state = 'unanswered';

-- A recall names the message that carried the attempt.
CREATE INDEX rail_id_message ON rail_id (attempt) WHERE message IS NOT NULL;

-- The payment's newest recall and its state, and that state at each event.
ALTER TABLE payment ADD COLUMN recall {{uuid}};
ALTER TABLE payment ADD COLUMN recall_state TEXT;
ALTER TABLE event ADD COLUMN recall_state TEXT;
