-- A legal hold can be lifted, and put there again: the controller is told as often. Whether a word to it is still wanted
-- its payment request says. Everything else is done once as before.
DROP INDEX chain_intent_active;
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, tenant)
    WHERE state NOT IN ('failed', 'cancelled') AND kind NOT IN ('propose_refund', 'set_legal_hold');
