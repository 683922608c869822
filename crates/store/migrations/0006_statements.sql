-- Statements: what moved over the accounts that hold a client's or a customer's money, by time.
--
-- Only over these: a payment writes two entries more, not fourteen. They grow at the right edge of each account. Kind and
-- amount are in them so that sums over a long history need not look at the rows. The predicate has to stand word for word
-- in the statements that use the indexes (see `reads/statement.rs`).
CREATE INDEX transfer_debited ON transfer (tenant, debit, at, kind, amount)
    WHERE debit >= 'wallet:' OR (debit >= 'prefund:' AND debit < 'prefund;');
CREATE INDEX transfer_credited ON transfer (tenant, credit, at, kind, amount)
    WHERE credit >= 'wallet:' OR (credit >= 'prefund:' AND credit < 'prefund;');
