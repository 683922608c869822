-- A top-up of a prefund names the reference of the money that was received as its subject, and a withdrawal that of the money
-- that was paid out: each is booked once.
CREATE UNIQUE INDEX transfer_funding ON transfer (tenant, subject)
    WHERE reason IN ('prefund.top_up', 'prefund.withdrawal') AND subject IS NOT NULL;
