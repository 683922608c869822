//! A primary and its synchronous standby: the promoted server is used, its former primary is not, even
//! if it returns as if nothing had happened. And sessions that a pooler lends for one transaction.

use std::time::Duration;

use domain::ids::TenantId;
use store::StoreError;
use testkit::postgres::{Cluster, Options};
use testkit::proxy::Proxy;
use testkit::wait;

use crate::world::{Side, World, on_postgres, run_case};

/// A primary, its standby, and the address that names both.
struct Pair {
    one: Cluster,
    two: Cluster,
    url: String,
}

impl Pair {
    fn start(part: &str) -> Option<Pair> {
        if !testkit::postgres::wanted() {
            assert!(testkit::postgres::for_tests(part).expect("left out").is_none());
            return None;
        }
        let options = Options::default();
        let one = Cluster::start(&options).expect("a primary");
        let two = one.standby("two", &options).expect("a standby");
        one.wait_for_standby("two").expect("it streams");
        let url = one.database("pair").expect("a database");
        let [first, second] = [&one, &two].map(host);
        let url = url.replacen(&first, &format!("{first},{second}"), 1);
        Some(Pair { one, two, url })
    }
}

fn on_a_pair<F: Future<Output = ()> + 'static>(part: &str, case: fn(World, Pair) -> F) {
    let Some(pair) = Pair::start(part) else { return };
    let url = pair.url.clone();
    run_case(Box::new(move |world| Box::pin(case(world, pair))), url, Side::Postgres);
}

fn host(server: &Cluster) -> String {
    format!("127.0.0.1:{}", server.port().expect("ours"))
}

/// What nodes ask a server besides whether it is the primary.
fn used(server: &Cluster, from: u64) -> Vec<String> {
    let log = server.log_from(from);
    let of_nodes = |line: &&str| {
        line.contains(" test_pair_")
            && (line.contains("statement: ") || line.contains("execute "))
            && !line.contains("pg_is_in_recovery()")
            && !line.contains("pg_logical_emit_message")
    };
    log.lines().filter(of_nodes).map(str::to_owned).collect()
}

/// Pays, at last: on a busy machine a primary may prove itself too late, which ends the connections to
/// it and leaves the outcome of a commit unknown.
async fn pays(world: &World, tenant: TenantId) {
    let paid = || async { world.try_payment(tenant, None).await.is_ok() };
    assert!(wait::until_async(wait::AT_MOST, paid).await, "the later primary takes a payment");
}

async fn promoted(world: World, Pair { one, two, .. }: Pair) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let first = world.payment(tenant, None).await;
    one.kill().expect("killed");
    two.promote().expect("promoted");
    let known = wait::until_async(wait::AT_MOST, || async {
        let found = world.store.payment_record(tenant, first.id).await;
        found.is_ok_and(|found| found.expect("kept").payment.id == first.id)
    });
    assert!(known.await, "the standby has the payment");
    pays(&world, tenant).await;

    // It returns as the primary that it was; no node may use it, whatever it remembers.
    one.restart().expect("it starts");
    one.configure("log_statement", "all").expect("configured");
    let from = one.log_bytes();
    let database = world.url.rsplit('/').next().and_then(|name| name.split('?').next());
    two.disconnect(database.expect("a name")).expect("all sessions end");
    pays(&world, tenant).await;
    let fresh = World { store: world.reopened(|_| {}).await.expect("opens"), ..world.clone() };
    pays(&fresh, tenant).await;
    assert_eq!(fresh.store.verify_books(tenant).await, Ok(Vec::new()));
    assert_eq!(world.store.event_head(tenant).await, fresh.store.event_head(tenant).await);
    assert_eq!(used(&one, from), [""; 0]);

    // Alone, it is refused by a node that knows the later timeline, and by one that does not: its
    // commits wait for a standby that is gone.
    two.kill().expect("killed");
    let unknowing = world.reopened(|_| {}).await.expect("opens");
    for store in [&world.store, &unknowing] {
        let answer = store.ready().await;
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    }
    assert_eq!(used(&one, from), [""; 0]);
}

#[test]
fn a_promoted_standby_is_used_and_its_former_primary_is_not() {
    on_a_pair("a promoted standby", promoted);
}

/// The later primary is far away; the superseded one answers at once.
async fn far(world: World, Pair { one, two, .. }: Pair) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    one.kill().expect("killed");
    two.promote().expect("promoted");
    one.restart().expect("it starts");
    one.configure("log_statement", "all").expect("configured");
    let from = one.log_bytes();
    let address = host(&two).parse().expect("an address");
    let proxy = Proxy::start(address).await.expect("a proxy");
    proxy.delay_answers(Duration::from_millis(300));
    let url = world.url.replace(&host(&two), &proxy.address().to_string());
    let world = World { url, ..world.clone() };
    let store = world.reopened(|_| {}).await.expect("opens");
    pays(&World { store, ..world }, tenant).await;
    assert_eq!(used(&one, from), [""; 0]);
}

#[test]
fn a_promoted_standby_that_answers_slowly_is_used() {
    on_a_pair("a promoted standby far away", far);
}

/// Nothing of a transaction stays with the session, which another client uses next.
async fn pooled(world: World) {
    let store = world.reopened(|options| options.pooler = true).await.expect("opens");
    let pooled = World { store, ..world.clone() };
    pooled.store.ready().await.expect("ready");
    let tenant = pooled.tenant("demobank", 10_000_000_000).await;
    let payment = pooled.payment(tenant, Some("x")).await;
    assert!(pooled.store.payment_record(tenant, payment.id).await.expect("read").is_some());
    assert_eq!(world.store.payment_id_by_external(tenant, "x").await, Ok(Some(payment.id)));
    assert_eq!(pooled.store.verify_books(tenant).await, Ok(Vec::new()));
    assert!(pooled.store.check_statements().await.expect("all are accepted") > 100);
    // A newer version migrates while this program runs.
    let grown = world.sql("ALTER TABLE quote ADD COLUMN later BIGINT NOT NULL DEFAULT 7").await;
    grown.expect("beside").expect("added");
    pooled.payment(tenant, None).await;
}

#[test]
fn a_store_behind_a_pooler_needs_nothing_of_its_sessions() {
    on_postgres("pooled", pooled);
}
