//! All statements of the store, so that each of them can be prepared on the current engine.

use crate::driver::postgres;
use crate::error::StoreError;
use crate::sql::{Dialect, Stmt};
use crate::store::Store;
use crate::{admin, audit, chain_view, load, migrate, rails, reads, save, store};

/// Every statement that both engines run.
fn shared() -> Vec<&'static Stmt> {
    let mut all: Vec<&'static Stmt> = vec![&migrate::VERSIONS];
    load::ALL.iter().chain(audit::STATEMENTS).for_each(|group| all.extend_from_slice(group));
    rails::STATEMENTS.iter().for_each(|group| all.extend_from_slice(group));
    reads::console::STATEMENTS.iter().for_each(|group| all.extend_from_slice(group));
    for group in [
        save::ALL,
        save::OF_WALLETS,
        save::OF_ENDED_ALERTS,
        store::STATEMENTS,
        chain_view::STATEMENTS,
        admin::access_keys::STATEMENTS,
        admin::alerts::STATEMENTS,
        admin::answers::STATEMENTS,
        admin::approvals::STATEMENTS,
        admin::approval_outcome::STATEMENTS,
        admin::case_files::STATEMENTS,
        admin::cases::STATEMENTS,
        admin::brand::STATEMENTS,
        admin::chains::STATEMENTS,
        admin::controllers::STATEMENTS,
        admin::customers::STATEMENTS,
        admin::departures::STATEMENTS,
        admin::environment::STATEMENTS,
        admin::keys::STATEMENTS,
        admin::lists::STATEMENTS,
        admin::meta::STATEMENTS,
        admin::permits::STATEMENTS,
        admin::relays::STATEMENTS,
        admin::roles::STATEMENTS,
        admin::saved_views::STATEMENTS,
        admin::sessions::STATEMENTS,
        admin::switches::STATEMENTS,
        admin::tenants::STATEMENTS,
        admin::users::STATEMENTS,
        admin::webhooks::STATEMENTS,
        reads::chain::STATEMENTS,
        reads::deliveries::STATEMENTS,
        reads::deposits::STATEMENTS,
        reads::events::STATEMENTS,
        reads::exchanges::STATEMENTS,
        reads::jobs::STATEMENTS,
        reads::ledger::STATEMENTS,
        reads::list::STATEMENTS,
        reads::payment_deliveries::STATEMENTS,
        reads::payments::STATEMENTS,
        reads::recalls::STATEMENTS,
        reads::reconcile::STATEMENTS,
        reads::references::STATEMENTS,
        reads::requests::STATEMENTS,
        reads::statement::STATEMENTS,
        reads::sweeps::STATEMENTS,
        reads::upkeep::STATEMENTS,
        reads::wallet_events::STATEMENTS,
        reads::wallet_office::STATEMENTS,
        reads::wallets::STATEMENTS,
    ] {
        all.extend_from_slice(group);
    }
    all
}

/// Statements that only PostgreSQL runs.
fn of_postgres() -> [&'static Stmt; 5] {
    use postgres::{BEGIN, BEGIN_SNAPSHOT, CLOCK, COMMIT, VACUUM};
    [&BEGIN, &BEGIN_SNAPSHOT, &COMMIT, &CLOCK, &VACUUM]
}

impl Store {
    /// Prepares every statement of this program against the current schema; returns their number.
    /// For `doctor` and for tests.
    ///
    /// # Errors
    /// `Schema`, naming the first statement that the database rejects.
    pub async fn check_statements(&self) -> Result<usize, StoreError> {
        let mut all = shared();
        if self.driver().dialect() == Dialect::Postgres {
            all.extend(of_postgres());
        }
        for stmt in &all {
            let checked = self.driver().prepare(stmt).await;
            checked
                .map_err(|error| StoreError::Schema(format!("statement {}: {error}", stmt.name)))?;
        }
        Ok(all.len())
    }
}

/// The statements with many keys in PostgreSQL's dialect, with their names. For tests.
pub fn keyed_statements_of_postgres() -> impl Iterator<Item = (&'static str, &'static str)> {
    shared()
        .into_iter()
        .filter(|stmt| stmt.is_by_keys())
        .map(|stmt| (stmt.name, stmt.sql(Dialect::Postgres)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::sqlite;
    use crate::migrate;

    #[test]
    fn statement_names_are_unique() {
        let mut names: Vec<&str> =
            shared().iter().chain(&of_postgres()).map(|stmt| stmt.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// Reads that find their rows by the tenant or the chain alone, and why that is right.
    const WIDE: [(&str, &[&str]); 3] = [
        (
            "one row",
            &[
                "load.heads",
                "load.audit_heads",
                "load.receivers",
                "save.head_update",
                "save.audit_head_update",
                "save.receiver_update",
                "tenant_brand.head",
                "tenant_brand.of_tenant",
                "relay.behind",
                "relay.all",
                "webhook.one",
                "webhook.set_payment_events",
                "webhook.set_url",
                "webhook.set_secrets",
                "webhook.subscribe",
                "webhook.disable",
                "webhook.enable",
                "event.head",
                "wallet_event.head",
                "upkeep.lock_head",
                "audit.chains",
            ],
        ),
        (
            "in order, the first ones",
            &[
                "audit.checkpoints",
                "audit.of_request",
                "rail.open_breaks",
                "console.newest_transfer",
                "console.latest_quotes",
                "console.latest_wallets",
                "console.latest_requests",
                "console.latest_deposits",
                "console.latest_orders",
                "console.latest_payment_references",
                "console.latest_wallet_references",
                "console.latest_deliveries",
                "chain.headers",
                "approval.newest_of",
                "unsupported_asset.newest",
                "delivery.by_period",
                "delivery.list",
                "delivery.lost",
                "deposit.in_review",
                "event.oldest",
                "ledger.first",
                "payment_delivery.list",
                "sweep.newest",
                "upkeep.prune_events",
                "upkeep.old_wallet_events",
                "upkeep.prune_windows",
                "wallet_event.oldest",
                "wallet.newest_ready",
                "wallet.newest_pending",
            ],
        ),
        (
            "all of them",
            &[
                "rail.unbooked",
                "rail.unreturned",
                "console.balances_now",
                "console.unreleased",
                "console.waiting",
                "console.refunding",
                "console.failed_releases",
                "access_key.of_tenant",
                "alert.open",
                "approval.open_of",
                "store_key.sealed_documents",
                "chain_intent.for",
                "delivery.list_total",
                "delivery.counts",
                "deposit.in_review_total",
                "ledger.accounts",
                "ledger.reservations",
                "ledger.debits",
                "ledger.credits",
                "payment_delivery.list_total",
                "reconcile.moving_in",
                "reconcile.moving_back",
                "reconcile.nostros",
                "reconcile.settled",
                "statement.scanned_debit_sums",
                "statement.scanned_debit_moved",
                "statement.scanned_debit_open",
                "statement.scanned_credit_sums",
                "statement.scanned_credit_moved",
                "statement.scanned_credit_open",
                "upkeep.discrepancies",
            ],
        ),
    ];

    #[test]
    fn reads_find_their_rows_by_more_than_the_chain_or_the_tenant() {
        let connection = rusqlite::Connection::open_in_memory().expect("opens");
        connection.execute_batch(&migrate::schema(Dialect::Sqlite)).expect("made");
        sqlite::describe_tables(&connection).expect("described");
        let may_be_wide = |name: &str| WIDE.iter().any(|(_, names)| names.contains(&name));
        for stmt in shared() {
            let sql = format!("EXPLAIN QUERY PLAN {}", stmt.sql(Dialect::Sqlite));
            let mut prepared = connection.prepare(&sql).expect(stmt.name);
            let count = prepared.parameter_count();
            let params = rusqlite::params_from_iter((0..count).map(|_| rusqlite::types::Null));
            let steps = prepared.query_map(params, |row| row.get::<_, String>(3)).expect(stmt.name);
            let plan: Vec<String> = steps.map(|step| step.expect("a text")).collect();
            let is_wide =
                plan.iter().any(|step| step.ends_with("(chain=?)") || step.ends_with("(tenant=?)"));
            assert_eq!(is_wide, may_be_wide(stmt.name), "{}: {}", stmt.name, plan.join("; "));
        }
    }
}
