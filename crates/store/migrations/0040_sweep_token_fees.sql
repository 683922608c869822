-- What the token's contract deducted from a sweep, as booked: a reorganization can change it. NULL of sweeps before: unknown.
ALTER TABLE sweep ADD COLUMN token_fee {{int}} CHECK (token_fee >= 0);
