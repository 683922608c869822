-- Tokens that were sent to a controller name the reference of their transfer as their subject, as top-ups do, and so does the
-- reversal of their booking: each is booked once. Compared one by one: SQLite would fill a list with each insertion.
DROP INDEX transfer_funding;
CREATE UNIQUE INDEX transfer_funding ON transfer (tenant, subject)
    WHERE (reason = 'prefund.top_up' OR reason = 'prefund.withdrawal' OR reason = 'sweep.fund'
        OR reason = 'sweep.fund_reversal') AND subject IS NOT NULL;
