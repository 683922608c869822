//! From a [`Need`] to the working set: the statements to run, and where their rows go.

mod wallets;

use std::collections::BTreeSet;

use domain::ids::TenantId;
use domain::sender_limit::Tally;
use domain::time::Timestamp;

use crate::error::StoreError;
use crate::need::Need;
use crate::rows::{self, Keys};
use crate::sql::Kind::{Int, Text, Uuid};
use crate::sql::{Columns, Fields, Kind, Row, Stmt};
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
    &[&SPENT, &OPEN_QUOTES, &IDEMPOTENCY, &AUDIT_HEADS, &ROLES],
    wallets::ALL,
];

/// The statement that locks the heads of these tenants, given in id order.
pub(crate) fn head_lock(
    tenants: impl Iterator<Item = TenantId>,
) -> (&'static Stmt, Columns<'static>) {
    let mut columns = Columns::new([Uuid].into_iter(), 1);
    tenants.for_each(|tenant| _ = columns.uuid(tenant.0));
    (&LOCK_HEADS, columns)
}

/// One loading statement with its keys.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) stmt: &'static Stmt,
    pub(crate) keys: Columns<'static>,
    into: Into,
}

/// The table of the working set that receives a load's rows.
#[derive(Clone, Copy, Debug)]
enum Into {
    Heads,
    Quotes,
    Payments,
    Jobs,
    Attempts,
    Spendings,
    ExternalIds,
    Accounts,
    OpenQuotes,
    Idempotency,
    AuditHeads,
    Roles,
    Wallet(wallets::Into),
}

const ID_KEY: [Kind; 2] = [Uuid, Uuid];

type Keyed<'a> = &'a mut dyn Iterator<Item = (TenantId, uuid::Uuid)>;

/// Collects the loads of one batch, skipping those without keys.
struct Loader<'a> {
    keys: &'a Keys,
    loads: Vec<Load>,
}

impl Loader<'_> {
    fn add(&mut self, stmt: &'static Stmt, keys: Columns<'static>, into: Into) {
        if keys.len() > 0 {
            self.loads.push(Load { stmt, keys, into });
        }
    }

    fn add_ids(&mut self, stmt: &'static Stmt, ids: Keyed<'_>, into: Into) {
        let mut columns = Columns::new(ID_KEY.into_iter(), 0);
        ids.for_each(|(tenant, id)| _ = columns.uuid(tenant.0).uuid(self.keys.stored(id)));
        self.add(stmt, columns, into);
    }
}

/// The keys of [`SPENT`].
pub(crate) fn tallies<'a>(
    asked: impl ExactSizeIterator<Item = &'a (TenantId, Tally)>,
    keys: &Keys,
) -> Columns<'static> {
    let mut columns = Columns::new([Uuid, Uuid, Text, Int, Int, Int].into_iter(), asked.len());
    asked
        .for_each(|(tenant, tally)| rows::attempt::write_tally(*tenant, tally, keys, &mut columns));
    columns
}

/// The loads of a need, the head lock first.
pub(crate) fn loads(need: &Need, keys: &Keys) -> Vec<Load> {
    let mut loader = Loader { keys, loads: Vec::with_capacity(10) };
    let (lock, tenants) = head_lock(need.tenants.iter().copied());
    loader.add(lock, tenants.clone(), Into::Heads);
    loader.add(&ACCOUNTS, tenants, Into::Accounts);
    loader.add_ids(
        &QUOTES,
        &mut need.quotes.iter().map(|(tenant, id)| (*tenant, id.0)),
        Into::Quotes,
    );
    let payments = || need.payments.iter().map(|(tenant, id)| (*tenant, id.0));
    let orders = need.exchanges.iter().map(|(tenant, id)| (*tenant, id.0));
    loader.add_ids(&PAYMENTS, &mut payments(), Into::Payments);
    loader.add_ids(&JOBS, &mut payments().chain(wallets::with_jobs(need)), Into::Jobs);
    loader.add_ids(&PAYMENT_ATTEMPTS, &mut payments().chain(orders), Into::Attempts);
    loader.add_ids(
        &ATTEMPTS,
        &mut need.attempts.iter().map(|(tenant, id)| (*tenant, id.0)),
        Into::Attempts,
    );
    loader.add(&SPENT, tallies(need.spendings.iter(), keys), Into::Spendings);
    let mut columns = Columns::new([Uuid, Text].into_iter(), need.external_ids.len());
    need.external_ids.iter().for_each(|(tenant, id)| _ = columns.uuid(tenant.0).text(id.clone()));
    loader.add(&EXTERNAL_IDS, columns, Into::ExternalIds);
    let mut columns = Columns::new([Uuid, Text].into_iter(), need.open_quotes.len());
    need.open_quotes
        .iter()
        .for_each(|(tenant, country)| _ = columns.uuid(tenant.0).text(country.alpha3()));
    loader.add(&OPEN_QUOTES, columns, Into::OpenQuotes);
    let mut columns = Columns::new([Uuid, Text, Text].into_iter(), need.idempotency.len());
    for (tenant, key) in &need.idempotency {
        columns.uuid(tenant.0).text(key.scope.clone()).text(key.key.clone());
    }
    loader.add(&IDEMPOTENCY, columns, Into::Idempotency);
    let mut columns = Columns::new([Uuid].into_iter(), need.audits.len());
    need.audits.iter().for_each(|(tenant, ())| _ = columns.uuid(tenant.0));
    loader.add(&AUDIT_HEADS, columns, Into::AuditHeads);
    let roles: BTreeSet<&str> = need.roles.iter().map(|(_, name)| name.as_str()).collect();
    let mut columns = Columns::new([Text].into_iter(), roles.len());
    roles.into_iter().for_each(|name| _ = columns.text(name.to_owned()));
    loader.add(&ROLES, columns, Into::Roles);
    wallets::loads(need, &mut loader);
    loader.loads
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
            put(&mut ws, load.into, &mut row.fields(), keys)?;
        }
    }
    Ok(ws)
}

fn put(
    ws: &mut WorkingSet,
    into: Into,
    fields: &mut Fields<'_>,
    keys: &Keys,
) -> Result<(), StoreError> {
    match into {
        Into::Heads => {
            let (tenant, head) = rows::small::read_head(fields)?;
            ws.heads.load(tenant, head);
        }
        Into::Quotes => {
            let quote = rows::quote::read(fields, keys)?;
            ws.quotes.load((quote.tenant, quote.id), quote);
        }
        Into::Payments => {
            let payment = rows::payment::read(fields, keys)?;
            ws.payments.load((payment.tenant, payment.id), payment);
        }
        Into::Jobs => {
            let job = rows::job::read(fields, keys)?;
            ws.jobs.load((job.tenant, job.subject), Some(job));
        }
        Into::Attempts => {
            let attempt = rows::attempt::read(fields, keys)?;
            ws.attempts.load((attempt.tenant, attempt.id), attempt);
        }
        Into::Spendings => {
            let (key, spent) = rows::attempt::read_spent(fields, keys)?;
            ws.spendings.load(key, spent);
        }
        Into::ExternalIds => {
            let (key, payment) = rows::small::read_external_id(fields, keys)?;
            ws.external_ids.load(key, payment);
        }
        Into::Accounts => {
            let account = rows::ledger::read_account(fields)?;
            ws.accounts.load((account.tenant, account.code.clone()), account);
        }
        Into::OpenQuotes => {
            let (key, count) = rows::small::read_open_quotes(fields)?;
            ws.open_quotes.load(key, count);
        }
        Into::Idempotency => {
            let (key, record) = rows::small::read_idempotency(fields, keys)?;
            ws.idempotency.load(key, record);
        }
        Into::AuditHeads => {
            let (tenant, head) = rows::audit::read_head(fields)?;
            ws.audit_heads.load(tenant, head);
        }
        Into::Roles => {
            let name = fields.text()?.to_owned();
            ws.roles.load(name, fields.int()?);
        }
        Into::Wallet(into) => wallets::put(ws, into, fields, keys)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::ids::{PaymentId, QuoteId};
    use secrecy::SecretBox;

    use super::*;
    use crate::keyed_id::IdCodec;
    use crate::options::Options;
    use crate::sealed::Vault;

    struct NoClock;

    impl domain::ports::Clock for NoClock {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn sleep_until(&self, _: Timestamp) -> domain::ports::Answer<'static, ()> {
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
    fn no_other_node_takes_a_role_during_a_batch_under_it() {
        assert!(ROLES.sql(crate::sql::Dialect::Postgres).ends_with("ORDER BY r.name FOR SHARE"));
    }

    #[test]
    fn a_payment_loads_nothing_of_the_wallet_service() {
        let options = Options::new(Arc::new(NoClock), SecretBox::new(Box::new([1; 32])));
        let keys = Keys { ids: IdCodec::new(&[7; 16]), vault: Arc::new(Vault::new(&options)) };
        let tenant = TenantId(uuid::Uuid::max());
        let mut need = Need { tenants: BTreeSet::from([tenant]), ..Need::default() };
        need.quotes.insert((tenant, QuoteId(tenant.0)));
        need.payments.insert((tenant, PaymentId(tenant.0)));
        let asked: Vec<&str> = loads(&need, &keys).iter().map(|load| load.stmt.name).collect();
        let own = [
            "load.heads",
            "load.accounts",
            "load.quotes",
            "load.payments",
            "load.jobs",
            "load.payment_attempts",
        ];
        assert_eq!(asked, own);
        assert!(loads(&Need::default(), &keys).is_empty());
    }
}
