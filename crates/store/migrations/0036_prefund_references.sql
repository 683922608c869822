-- A top-up of a prefund names the reference of the money that was received, as its subject: each is booked once.
CREATE UNIQUE INDEX transfer_top_up ON transfer (tenant, subject) WHERE reason = 'prefund.top_up' AND subject IS NOT NULL;
