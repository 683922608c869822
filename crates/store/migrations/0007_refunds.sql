-- A refund that was withdrawn, or whose second half failed, is proposed again: the first proposal is done and stays so. Only
-- one of them is named by its deposit, and proposals move nothing. Everything else is done once as before.
DROP INDEX chain_intent_active;
CREATE UNIQUE INDEX chain_intent_active ON chain_intent (subject, kind, tenant)
    WHERE state NOT IN ('failed', 'cancelled') AND kind <> 'propose_refund';
