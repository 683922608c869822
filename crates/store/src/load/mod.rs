//! From a [`Need`] to the working set: the statements to run, and where their rows go.

mod wallets;

use std::collections::BTreeSet;
use std::fmt;

use domain::attempt::Attempt;
use domain::ids::TenantId;
use domain::job::Job;
use domain::ledger::Account;
use domain::payment::Payment;
use domain::quote::Quote;
use domain::recall::Recall;
use domain::time::Timestamp;

use crate::error::StoreError;
use crate::need::Need;
use crate::rows::column::{Get, Put};
use crate::rows::ledger::StoredTransfer;
use crate::rows::{self, Keys};
use crate::sql::Kind::{Int, Text, Uuid};
use crate::sql::{Columns, Fields, Row, Sink as _, Stmt};
use crate::store::keyed;
use crate::working_set::WorkingSet;

/// Locks the tenants' heads, in id order. Always the first statement of a loaded batch: from here
/// on no other node writes for these tenants, so every later plain read sees their last commit.
static LOCK_HEADS: Stmt = Stmt::by_keys(
    "load.heads",
    &[("tenant", Uuid)],
    "SELECT {{tenant_head h}} FROM {{keys}} JOIN tenant_head h ON h.tenant = k.tenant {{for_update_by h.tenant}}",
);
static QUOTES: Stmt = Stmt::by_keys(
    "load.quotes",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{quote q}} FROM {{keys}} JOIN quote q ON q.tenant = k.tenant AND q.id = k.id",
);
static PAYMENTS: Stmt = Stmt::by_keys(
    "load.payments",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{payment p}} FROM {{keys}} JOIN payment p ON p.tenant = k.tenant AND p.id = k.id",
);
static JOBS: Stmt = Stmt::by_keys(
    "load.jobs",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{job j}} FROM {{keys}} JOIN job j ON j.tenant = k.tenant AND j.subject = k.id",
);
static PAYMENT_ATTEMPTS: Stmt = Stmt::by_keys(
    "load.payment_attempts",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{attempt a}} FROM {{keys}} JOIN attempt a ON a.tenant = k.tenant AND a.payment = k.id",
);
static ATTEMPTS: Stmt = Stmt::by_keys(
    "load.attempts",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{attempt a}} FROM {{keys}} JOIN attempt a ON a.tenant = k.tenant AND a.id = k.id",
);
/// The states of `AttemptState::may_have_paid`. A sender without such attempts has no row.
pub(crate) static SPENT: Stmt = Stmt::by_keys(
    "load.spent",
    &[
        ("tenant", Uuid),
        ("sender", Uuid),
        ("rail", Text),
        ("day", Int),
        ("month", Int),
        ("day_end", Int),
    ],
    "SELECT k.tenant, k.sender, k.rail, k.day, k.month, k.day_end, \
     CAST(SUM(CASE WHEN a.created_at >= k.day THEN a.amount ELSE 0 END) AS BIGINT), CAST(SUM(a.amount) AS BIGINT) \
     FROM {{keys}} JOIN attempt a ON a.sender = k.sender AND a.rail = k.rail AND a.tenant = k.tenant \
     AND a.created_at >= k.month \
     WHERE a.sender IS NOT NULL AND a.state IN ('sending', 'indeterminate', 'accepted', 'settled') \
     GROUP BY k.tenant, k.sender, k.rail, k.day, k.month, k.day_end",
);
static RECALLS: Stmt = Stmt::by_keys(
    "load.recalls",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{recall r}} FROM {{keys}} JOIN recall r ON r.payment = k.id AND r.tenant = k.tenant",
);
static RECALL_JOBS: Stmt = Stmt::by_keys(
    "load.recall_jobs",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{job j}} FROM {{keys}} JOIN recall r ON r.payment = k.id AND r.tenant = k.tenant \
     JOIN job j ON j.tenant = r.tenant AND j.subject = r.id",
);
static EXTERNAL_IDS: Stmt = Stmt::by_keys(
    "load.external_ids",
    &[("tenant", Uuid), ("external_id", Text)],
    "SELECT {{external_id e}} FROM {{keys}} \
     JOIN external_id e ON e.tenant = k.tenant AND e.external_id = k.external_id",
);
static ACCOUNTS: Stmt = Stmt::by_keys(
    "load.accounts",
    &[("tenant", Uuid)],
    "SELECT {{account a}} FROM {{keys}} JOIN account a ON a.tenant = k.tenant AND a.class = 'shared'",
);
static OPEN_QUOTES: Stmt = Stmt::by_keys(
    "load.open_quotes",
    &[("tenant", Uuid), ("country", Text)],
    "SELECT {{open_quotes o}} FROM {{keys}} JOIN open_quotes o ON o.tenant = k.tenant AND o.country = k.country",
);
pub(crate) static IDEMPOTENCY: Stmt = Stmt::by_keys(
    "load.idempotency",
    &[("tenant", Uuid), ("scope", Text), ("idem_key", Text)],
    "SELECT {{idempotency i}} FROM {{keys}} \
     JOIN idempotency i ON i.tenant = k.tenant AND i.scope = k.scope AND i.idem_key = k.idem_key",
);

static FUNDINGS: Stmt = Stmt::by_keys(
    "load.fundings",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{transfer t}} FROM {{keys}} JOIN transfer t ON t.tenant = k.tenant AND t.subject = k.id \
     AND (t.reason = 'prefund.top_up' OR t.reason = 'prefund.withdrawal' OR t.reason = 'sweep.fund' \
     OR t.reason = 'sweep.fund_reversal')",
);

static AUDIT_HEADS: Stmt = Stmt::by_keys(
    "load.audit_heads",
    &[("tenant", Uuid)],
    "SELECT {{audit_head h}} FROM {{keys}} JOIN audit_head h ON h.tenant = k.tenant",
);

// Batches share the lock; a node that takes the role waits for them.
static ROLES: Stmt = Stmt::by_keys(
    "load.roles",
    &[("name", Text)],
    "SELECT r.name, r.fence FROM {{keys}} JOIN role_lease r ON r.name = k.name {{for_share_by r.name}}",
);

pub(crate) static ALL: &[&[&Stmt]] = &[
    &[
        &LOCK_HEADS,
        &QUOTES,
        &PAYMENTS,
        &JOBS,
        &PAYMENT_ATTEMPTS,
        &ATTEMPTS,
        &EXTERNAL_IDS,
        &ACCOUNTS,
    ],
    &[&RECALLS, &RECALL_JOBS, &SPENT, &OPEN_QUOTES, &IDEMPOTENCY, &FUNDINGS, &AUDIT_HEADS, &ROLES],
    wallets::ALL,
];

/// The statement that locks the heads of these tenants, given in id order.
pub(crate) fn head_lock(
    tenants: impl Iterator<Item = TenantId>,
) -> (&'static Stmt, Columns<'static>) {
    let mut columns = Columns::new(LOCK_HEADS.key_kinds(), 1);
    tenants.for_each(|tenant| columns.uuid(tenant.0));
    (&LOCK_HEADS, columns)
}

/// One loading statement with its keys.
pub(crate) struct Load {
    pub(crate) stmt: &'static Stmt,
    pub(crate) keys: Columns<'static>,
    /// Reads a row into its table of the working set.
    into: Into,
}

type Into = fn(&mut WorkingSet, &mut Fields<'_>, &Keys) -> Result<(), StoreError>;

impl fmt::Debug for Load {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Load").field("stmt", &self.stmt.name).finish_non_exhaustive()
    }
}

/// Collects the loads of one batch, skipping those without keys.
struct Loader<'a> {
    keys: &'a Keys,
    loads: Vec<Load>,
}

impl Loader<'_> {
    fn add<'k>(
        &mut self,
        stmt: &'static Stmt,
        wanted: impl Iterator<Item = impl Put<'k>>,
        into: Into,
    ) -> Result<(), StoreError> {
        let keys = keyed(stmt, wanted, self.keys)?;
        if keys.len() > 0 {
            self.loads.push(Load { stmt, keys: keys.into_owned(), into });
        }
        Ok(())
    }
}

/// Reads a row into a table of the working set: a record with its key, or one that contains it.
macro_rules! into {
    ($table:ident) => {
        |ws, fields, keys| {
            let (key, value) = Get::get(fields, keys)?;
            ws.$table.load(key, value);
            Ok(())
        }
    };
    ($table:ident, $it:ident: $record:ty => $key:expr) => {
        |ws, fields, keys| {
            let $it = <$record>::get(fields, keys)?;
            ws.$table.load($key, $it);
            Ok(())
        }
    };
}
use into;

/// The loads of a need, the head lock first.
pub(crate) fn loads(need: &Need, keys: &Keys) -> Result<Vec<Load>, StoreError> {
    let mut loader = Loader { keys, loads: Vec::with_capacity(10) };
    let load = &mut loader;
    load.add(&LOCK_HEADS, need.tenants.iter().copied(), into!(heads))?;
    let account: Into = into!(accounts, it: Account => (it.tenant, it.code.clone()));
    load.add(&ACCOUNTS, need.tenants.iter().copied(), account)?;
    load.add(&QUOTES, need.quotes.iter().copied(), into!(quotes, it: Quote => (it.tenant, it.id)))?;
    let payments = need.payments.iter().copied();
    load.add(&PAYMENTS, payments.clone(), into!(payments, it: Payment => (it.tenant, it.id)))?;
    let payments = payments.map(|(tenant, id)| (tenant, id.0));
    let job: Into = |ws, fields, keys| {
        let it = Job::get(fields, keys)?;
        ws.jobs.load((it.tenant, it.subject), Some(it));
        Ok(())
    };
    load.add(&JOBS, payments.clone().chain(wallets::with_jobs(need)), job)?;
    let attempt: Into = into!(attempts, it: Attempt => (it.tenant, it.id));
    let orders = need.exchanges.iter().map(|(tenant, id)| (*tenant, id.0));
    load.add(&PAYMENT_ATTEMPTS, payments.chain(orders), attempt)?;
    load.add(&ATTEMPTS, need.attempts.iter().copied(), attempt)?;
    let recalls = need.recalls.iter().copied();
    load.add(&RECALLS, recalls.clone(), into!(recalls, it: Recall => (it.tenant, it.id)))?;
    load.add(&RECALL_JOBS, recalls, job)?;
    load.add(
        &SPENT,
        need.usage_by_rail.iter().map(rows::attempt::tally_key),
        into!(usage_by_rail),
    )?;
    let external_ids = need.external_ids.iter().map(|(tenant, id)| (*tenant, id));
    load.add(&EXTERNAL_IDS, external_ids, into!(external_ids))?;
    load.add(&OPEN_QUOTES, need.open_quotes.iter().copied(), into!(open_quotes))?;
    let idempotency = need.idempotency.iter().map(|(tenant, key)| (*tenant, &key.scope, &key.key));
    load.add(&IDEMPOTENCY, idempotency, into!(idempotency))?;
    load.add(&FUNDINGS, need.fundings.iter().copied(), |ws, fields, keys| {
        let it = StoredTransfer::get(fields, keys)?;
        if let Some(subject) = it.subject {
            ws.fundings.load((it.tenant, subject), (it.amount, it.at));
        }
        Ok(())
    })?;
    let audits = need.audits.iter().map(|(tenant, ())| *tenant);
    load.add(&AUDIT_HEADS, audits, into!(audit_heads))?;
    let roles: BTreeSet<&str> = need.roles.iter().map(|(_, name)| name.as_str()).collect();
    load.add(&ROLES, roles.into_iter(), into!(roles))?;
    wallets::loads(need, load)?;
    Ok(loader.loads)
}

/// Builds the working set from the loads' rows, given in the same order.
pub(crate) fn working_set(
    now: Timestamp,
    loads: &[Load],
    answers: &[Vec<Row>],
    keys: &Keys,
) -> Result<WorkingSet, StoreError> {
    let mut ws = WorkingSet::new(now);
    for (load, rows) in loads.iter().zip(answers) {
        for row in rows {
            (load.into)(&mut ws, &mut row.fields(), keys)?;
        }
    }
    Ok(ws)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::ids::{PaymentId, QuoteId};
    use secrecy::SecretBox;

    use super::*;
    use crate::options::Options;
    use crate::sealed::Vault;

    struct NoClock;

    impl domain::ports::Clock for NoClock {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn sleep_until(&self, _: Timestamp) -> domain::ports::BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn a_senders_usage_is_found_by_index() {
        let connection = rusqlite::Connection::open_in_memory().expect("opens");
        connection
            .execute_batch(&crate::migrate::schema(crate::sql::Dialect::Sqlite))
            .expect("made");
        let sql = format!("EXPLAIN QUERY PLAN {}", SPENT.sql(crate::sql::Dialect::Sqlite));
        let mut prepared = connection.prepare(&sql).expect("prepared");
        let params = rusqlite::params_from_iter(
            (0..prepared.parameter_count()).map(|_| rusqlite::types::Null),
        );
        let steps = prepared.query_map(params, |row| row.get::<_, String>(3)).expect("planned");
        let plan = steps.map(|step| step.expect("a text")).collect::<Vec<_>>().join("\n");
        let index = "INDEX attempt_sender (sender=? AND rail=? AND tenant=? AND created_at>?)";
        assert!(plan.contains(index), "{plan}");
    }

    #[test]
    fn nodes_lock_tenants_in_one_order() {
        let sql = LOCK_HEADS.sql(crate::sql::Dialect::Postgres);
        assert!(sql.ends_with("ORDER BY h.tenant FOR UPDATE"), "{sql}");
    }

    #[test]
    fn no_other_node_takes_a_role_during_a_batch_under_it() {
        assert!(ROLES.sql(crate::sql::Dialect::Postgres).ends_with("ORDER BY r.name FOR SHARE"));
    }

    #[test]
    fn a_payment_loads_nothing_of_the_wallet_service() {
        let options = Options::new(Arc::new(NoClock), SecretBox::new(Box::new([1; 32])));
        let keys = Keys::new(&[7; 16], Arc::new(Vault::new(&options)));
        let tenant = TenantId(uuid::Uuid::max());
        let mut need = Need { tenants: BTreeSet::from([tenant]), ..Need::default() };
        need.quotes.insert((tenant, QuoteId(tenant.0)));
        need.payments.insert((tenant, PaymentId(tenant.0)));
        let asked: Vec<&str> =
            loads(&need, &keys).expect("keys").iter().map(|load| load.stmt.name).collect();
        let own = [
            "load.heads",
            "load.accounts",
            "load.quotes",
            "load.payments",
            "load.jobs",
            "load.payment_attempts",
        ];
        assert_eq!(asked, own);
        assert!(loads(&Need::default(), &keys).expect("keys").is_empty());
    }
}
