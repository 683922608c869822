-- Whether the message of an attempt was sent more than once and no answer has named one of them a duplicate: a refusal
-- then proves nothing about the others. And by which message and reference the bank first booked the payout, so that
-- a second booking is seen.
ALTER TABLE attempt ADD COLUMN sent_again {{int}} NOT NULL DEFAULT 0 CHECK (sent_again IN (0, 1));
ALTER TABLE attempt ADD COLUMN booking TEXT;
