-- Rails may limit what one sender has paid out over them in a day and a month. Who that is stands in the attempt, where the
-- rail has such a limit and nowhere else: other attempts are in no further index. The state is in none, as before; what a
-- sender has spent is summed over the few attempts of a month.
ALTER TABLE attempt ADD COLUMN sender {{uuid}};
CREATE INDEX attempt_sender ON attempt (sender, rail, tenant, created_at) WHERE sender IS NOT NULL;
