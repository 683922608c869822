-- Tokens that were sent to a controller name the reference of their transfer as their subject, as top-ups do, and so does the
-- reversal of their booking: each is booked once.
DROP INDEX transfer_funding;
CREATE UNIQUE INDEX transfer_funding ON transfer (tenant, subject)
    WHERE reason IN ('prefund.top_up', 'prefund.withdrawal', 'sweep.fund', 'sweep.fund_reversal') AND subject IS NOT NULL;
