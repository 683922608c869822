//! `bench latency`: how long one caller waits at given rates of payments.

use http_api::write;

use super::checks::Checks;
use super::figures::{Quantiles, ms, whole, yes};
use super::sustained::{Trial, commits};
use super::{Bench, Settings, with_server};

/// Measures each rate for `settings.seconds`, one after the other, on one server.
///
/// # Errors
/// As [`super::run`].
pub async fn latency(
    settings: &Settings,
    rates: &[u64],
    tell: &dyn Fn(&str),
) -> anyhow::Result<LatencyReport> {
    let work = async |bench: &mut Bench<'_>| bench.try_rates(settings, rates).await;
    let ((trials, commit), store, checks) = with_server(settings, tell, work).await?;
    Ok(LatencyReport { settings: settings.clone(), store, trials, commit, checks })
}

impl Bench<'_> {
    async fn try_rates(
        &mut self,
        settings: &Settings,
        rates: &[u64],
    ) -> anyhow::Result<(Vec<Trial>, Quantiles)> {
        let mut trials = Vec::with_capacity(rates.len());
        for rate in rates {
            trials.push(self.trial(settings, *rate).await?);
        }
        Ok((trials, commits(self.installation).await?))
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct LatencyReport {
    settings: Settings,
    store: &'static str,
    trials: Vec<Trial>,
    /// A commit of a single row, without other load.
    commit: Quantiles,
    checks: Checks,
}

impl LatencyReport {
    /// Why the run is invalid, if it is.
    pub fn failure(&self) -> Option<String> {
        let silent = |it: &&Trial| it.accepted == 0;
        let nothing = |it: &Trial| format!("at {} pairs/s no pair was completed", it.rate);
        self.checks.failure().or_else(|| self.trials.iter().find(silent).map(nothing))
    }

    pub fn json(&self) -> Vec<u8> {
        write::object(|out| {
            out.text("bench", "latency");
            out.text("store", self.store);
            whole(out, "clients", self.settings.clients as u64);
            whole(out, "tenants", self.settings.tenants as u64);
            whole(out, "seconds", self.settings.seconds);
            whole(out, "preload", self.settings.preload);
            out.array("rates", |rates| {
                for trial in &self.trials {
                    rates.object(|out| {
                        whole(out, "pairs_per_s", trial.rate);
                        whole(out, "accepted", trial.accepted);
                        out.number("settled_per_s", trial.settled_per_s);
                        out.number("quote_p50_ms", ms(trial.quote_us.p50));
                        out.number("quote_p99_ms", ms(trial.quote_us.p99));
                        out.number("payment_p50_ms", ms(trial.payment_us.p50));
                        out.number("payment_p99_ms", ms(trial.payment_us.p99));
                        out.number_or_null("waits_commits", trial.waits(&self.commit));
                        whole(out, "errors", trial.errors);
                    });
                }
            });
            out.number("commit_p50_ms", ms(self.commit.p50));
            out.flag("answers_agree", self.checks.agree());
            out.flag("ledger_balances", self.checks.balanced());
        })
    }

    /// Names and values for display.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let Settings { clients, tenants, seconds, .. } = self.settings;
        let mut rows = vec![
            ("store", self.store.to_owned()),
            ("load", format!("{clients} clients, {tenants} tenants, {seconds} s a rate")),
        ];
        for trial in &self.trials {
            let Trial { rate, accepted, settled_per_s, errors, .. } = trial;
            let counts = format!("{accepted} accepted, {settled_per_s} settled/s, {errors} errors");
            rows.push(("pairs/s", format!("{rate}: {counts}")));
            rows.push(("quote", trial.quote_us.told()));
            rows.push(("payment", trial.payment_us.told()));
            let waits = trial.waits(&self.commit);
            rows.extend(waits.map(|waits| ("p99 in commits", waits.to_string())));
        }
        rows.push(("one commit", self.commit.told()));
        rows.push(("answers agree", yes(self.checks.agree()).to_owned()));
        rows.push(("ledger balances", yes(self.checks.balanced()).to_owned()));
        rows
    }
}
