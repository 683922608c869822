//! Cases that only one of the engines can show.

use std::sync::Arc;

use domain::time::Span;
use store::ExecuteError;
use store::StoreError;

use crate::world::{
    HandClock, START, Side, World, on_postgres, on_sqlite_file, put_payment, put_quote, tenant_need,
};

async fn dead_connections(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    let cluster = testkit::postgres::shared().expect("a server");
    let database =
        world.url.rsplit('/').next().expect("a name").split('?').next().expect("a name").to_owned();
    for _ in 0..3 {
        cluster.disconnect(&database).expect("all sessions end");
        assert!(
            world.store.payment_record(tenant, payment.id).await.expect("read again").is_some()
        );
        cluster.disconnect(&database).expect("all sessions end");
        world.quote(tenant).await;
        cluster.disconnect(&database).expect("all sessions end");
        assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    }
    assert_eq!(world.store.event_head(tenant).await, Ok(6));
}

#[test]
fn connections_that_died_while_idle_are_replaced() {
    on_postgres("dead_connections", dead_connections);
}

/// Waits where a frozen node waits: in the middle of a flight, with the tenant's head locked.
async fn stuck_in_a_flight(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let config = format!("{}&application_name=corridor", world.url);
    let (client, connection) =
        tokio_postgres::connect(&config, tokio_postgres::NoTls).await.expect("connects");
    let driver = tokio::spawn(connection);
    client
        .batch_execute(
            "BEGIN; SELECT 1 FROM tenant_head FOR UPDATE; CREATE TEMPORARY TABLE t (x int)",
        )
        .await
        .expect("held");
    // The server waits for more data, as it does inside a flight.
    let copy = client.copy_in::<_, &[u8]>("COPY t FROM STDIN").await.expect("begun");
    let impatient =
        |options: &mut store::Options| options.statement_timeout = domain::time::Span::secs(1);
    let store = world.reopened(impatient).await.expect("a database that can be opened twice");
    let other = World { store, ..world.clone() };
    let freed = testkit::wait::until_async(std::time::Duration::from_secs(30), || async {
        other.execute(&tenant_need(tenant), |ws, ids| _ = put_quote(ws, tenant, ids)).await.is_ok()
    });
    assert!(freed.await, "the head stays locked");
    let ended = tokio::time::timeout(std::time::Duration::from_secs(30), driver).await;
    assert!(
        ended.is_ok_and(|ended| ended.expect("ends").is_err()),
        "the stuck session was terminated"
    );
    drop(copy);
    // More than one if a commit was unknown on a loaded machine and then landed.
    assert!(world.store.event_head(tenant).await.is_ok_and(|head| head >= 1));
}

#[test]
fn a_session_stuck_inside_a_flight_is_terminated() {
    on_postgres("stuck_in_a_flight", stuck_in_a_flight);
}

/// A newer version migrates while this program runs.
async fn grown_tables(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    world.payment(tenant, None).await;
    for table in ["quote", "payment", "event", "transfer"] {
        let grown = world
            .sql(&format!("ALTER TABLE {table} ADD COLUMN later BIGINT NOT NULL DEFAULT 7"))
            .await;
        grown.expect("beside").expect("added");
    }
    let payment = world.payment(tenant, None).await;
    assert!(world.store.payment_record(tenant, payment.id).await.expect("read again").is_some());
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
    let defaults = world.sql("UPDATE payment SET later = 8 WHERE later = 7").await;
    assert_eq!(defaults.expect("beside"), Ok(2), "unknown columns keep their default");
}

#[test]
fn rows_are_inserted_into_tables_with_a_new_column() {
    on_postgres("grown_tables", grown_tables);
}

/// Planning a statement costs more than a lookup by id.
async fn kept_plans(world: World) {
    let (client, connection) =
        tokio_postgres::connect(&world.url, tokio_postgres::NoTls).await.expect("connects");
    let driver = tokio::spawn(connection);
    let of_keyed = async |what: &str| {
        let asked = format!("SELECT {what} FROM pg_prepared_statements WHERE name = 'keyed'");
        client.query_one(&asked, &[]).await.expect("it is there")
    };
    let mut count = 0;
    for (name, sql) in store::keyed_statements_of_postgres() {
        client.batch_execute(&format!("DEALLOCATE ALL; PREPARE keyed AS {sql}")).await.expect(name);
        let keys: i32 = of_keyed("cardinality(parameter_types)").await.get(0);
        let nulls = vec!["NULL"; usize::try_from(keys).expect("a count")].join(", ");
        client.batch_execute(&format!("EXECUTE keyed ({nulls});").repeat(8)).await.expect(name);
        let kept: i64 = of_keyed("generic_plans").await.get(0);
        assert_eq!(kept, 3, "{name}: PostgreSQL plans five times before it keeps a plan");
        count += 1;
    }
    assert!(count > 20, "{count} statements");
    drop(client);
    driver.await.expect("ends").expect("ends well");
}

#[test]
fn plans_of_statements_about_keys_are_kept() {
    on_postgres("kept_plans", kept_plans);
}

/// Nodes whose own clocks are ten years apart.
async fn clocks_apart(world: World) {
    let node = async |years: i64| {
        let clock = Arc::new(HandClock::at(START + Span::days(365 * years)));
        let store = world
            .reopened(|options| options.clock = clock)
            .await
            .expect("a database that can be opened twice");
        World { store, ..world.clone() }
    };
    let (ahead, behind) = (node(10).await, node(-10).await);
    let seen = [ahead.now().await, behind.now().await, ahead.now().await, behind.now().await];
    assert!(seen.is_sorted(), "one clock for all: {seen:?}");
}

#[test]
fn nodes_with_different_clocks_use_the_databases_clock() {
    on_postgres("clocks_apart", clocks_apart);
}

async fn poison(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let quote = world.quote(tenant).await;
    let mut need = tenant_need(tenant);
    need.quotes.insert((tenant, quote.id));
    let result =
        world.execute(&need, |ws, ids| _ = put_payment(ws, &quote, Some("a\0b"), ids)).await;
    // One command's fault: retried alone, only that one fails.
    assert!(matches!(result, Err(ExecuteError::Rejected(_))), "{result:?}");
    world.payment(tenant, Some("ab")).await;
}

#[test]
fn a_text_that_the_database_rejects_fails_one_command() {
    on_postgres("poison", poison);
}

async fn nowhere(_: World) {
    let store = crate::world::try_open("postgres://corridor@127.0.0.1:1/none")
        .await
        .expect("not connected yet");
    let tenant = domain::ids::TenantId(uuid::Uuid::new_v4());
    for result in
        [store.ready().await, store.migrate().await.map(drop), store.tenants().await.map(drop)]
    {
        assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
    }
    let batch = domain::ids::BatchId(store.ids().next());
    let result = store.execute(batch, &tenant_need(tenant), &mut |_| {}).await;
    assert!(matches!(result, Err(ExecuteError::Unavailable(_))), "{result:?}");
}

#[test]
fn an_unreachable_server_is_unavailable() {
    on_sqlite_file(nowhere);
}

async fn outlives(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, Some("x")).await;
    let second = world.reopened(|_| {}).await.expect("a file");
    second.ready().await.expect("ready");
    assert_eq!(second.payment_id_by_external(tenant, "x").await, Ok(Some(payment.id)));
    // Both handles write; neither loses the other's commits.
    let other = World { store: second, ..world.clone() };
    for _ in 0..5 {
        world.quote(tenant).await;
        other.quote(tenant).await;
    }
    assert_eq!(world.store.event_head(tenant).await, Ok(13));
    let token = personal_wallet_data(&world, tenant).await;
    let Side::File(dir) = &world.side else { panic!("a file") };
    let raw = std::fs::read(dir.path().join("corridor.db")).expect("read");
    let wal = std::fs::read(dir.path().join("corridor.db-wal")).unwrap_or_default();
    let of_wallets =
        [b"sana.".as_slice(), b"+9230012", b"Alia", b"whsec_", b"the answer", token.as_bytes()];
    for secret in
        [b"Samplekhan".as_slice(), b"N01234567", b"PK36SCBL"].into_iter().chain(of_wallets)
    {
        let found = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!found(&raw) && !found(&wal), "{}", String::from_utf8_lossy(secret));
    }
}

/// Stores a wallet with all personal data; returns the token of its link.
async fn personal_wallet_data(world: &World, tenant: domain::ids::TenantId) -> String {
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    world.exchange(&wallet, |_| {}).await;
    world
        .store
        .add_webhook(tenant, "https://bank.example", "whsec_c2VjcmV0".into(), "op")
        .await
        .expect("added");
    let said = |ws: &mut store::working_set::WorkingSet,
                ids: &mut dyn domain::decision::IdSource| {
        ws.add_sender(crate::wallet_world::sender(&request, (1, "Alia"), ws.now, ids), &request);
        let entry = ws
            .append_wallet(tenant, vec![crate::wallet_world::failed(&request, 1, ws.now)])
            .remove(0);
        ws.add_delivery_attempt(domain::delivery::DeliveryAttempt {
            tenant,
            event: entry.id,
            number: 1,
            at: ws.now,
            status: None,
            body: "the answer".to_owned(),
            fault: None,
            took: domain::time::Span::millis(1),
        });
    };
    world.put(tenant, said).await;
    request.token
}

#[test]
fn a_file_is_shared_and_holds_no_personal_data_in_the_clear() {
    on_sqlite_file(outlives);
}

async fn panics(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let inner = world.clone();
    let lost = tokio::spawn(async move {
        inner
            .execute(&tenant_need(tenant), |ws, ids| {
                put_quote(ws, tenant, ids);
                panic!("planted");
            })
            .await
    });
    assert!(lost.await.is_err_and(|error| error.is_panic()));
    assert_eq!(world.store.event_head(tenant).await, Ok(0));
    world.quote(tenant).await;
    assert_eq!(world.store.event_head(tenant).await, Ok(1));
}

#[test]
fn a_decision_that_panics_is_rolled_back_on_sqlite() {
    on_sqlite_file(panics);
}

#[test]
fn a_decision_that_panics_is_rolled_back_on_postgres() {
    on_postgres("panics", panics);
}

#[test]
fn an_address_of_neither_engine_is_refused() {
    on_sqlite_file(|_| async {
        for url in ["mysql://x", "corridor.db", ""] {
            let refused = crate::world::try_open(url).await;
            assert!(matches!(refused, Err(StoreError::Config(_))), "{refused:?}");
        }
        let refused = crate::world::try_open("sqlite:/nowhere/at/all/corridor.db").await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        let refused = crate::world::try_open("postgres://a:geheim@b/c?sslmode=perhaps").await;
        assert!(refused.is_err_and(|error| !error.to_string().contains("geheim")));
    });
}

/// Pages left on the disk.
const PAGES_LEFT: u32 = 8;

/// The same database on a disk that is almost full.
async fn almost_full(world: &World) -> World {
    let Side::File(dir) = &world.side else { panic!("a file") };
    let beside = rusqlite::Connection::open(dir.path().join("corridor.db")).expect("opens");
    let pages: u32 = beside.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("a number");
    let small = world
        .reopened(|options| options.sqlite_pages_max = Some(pages + PAGES_LEFT))
        .await
        .expect("a file");
    World { store: small, ..world.clone() }
}

/// The probe's row finds no place. Reads alone do not show that.
async fn case_39(world: World) {
    let small = almost_full(&world).await.store;
    let mut count = 0;
    // Names of the probe's length that come just before it.
    while small.set_meta(&format!("last_write_{count:05}"), "").await.is_ok() {
        count += 1;
        assert!(count < 10_000, "the disk never fills");
    }
    assert_eq!(small.ready().await, Ok(()));
    let refused = small.check_write().await.expect_err("full").to_string();
    assert!(refused.contains("the disk is full"), "{refused}");
    world.store.check_write().await.expect("space again");
}

#[test]
fn case_39_readyz() {
    on_sqlite_file(case_39);
}

async fn full_disk(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let Side::File(dir) = &world.side else { panic!("a file") };
    let beside = rusqlite::Connection::open(dir.path().join("corridor.db")).expect("opens");
    beside.execute_batch("CREATE TABLE filling AS SELECT zeroblob(1000000) AS it").expect("made");
    let small = almost_full(&world).await;
    let quote = async || {
        small.execute(&tenant_need(tenant), |ws, ids| _ = put_quote(ws, tenant, ids)).await
    };
    let mut made = 0;
    let refused = loop {
        match quote().await {
            Ok(_) => made += 1,
            Err(refused) => break refused,
        }
        assert!(made < 10_000, "the disk never fills");
    };
    assert!(made > 0, "there was no space at all");
    for refused in [refused, quote().await.expect_err("still full")] {
        assert!(
            matches!(&refused, ExecuteError::Unavailable(why) if why.contains("disk is full")),
            "{refused:?}"
        );
        // Reads continue, and the rejected batch has left nothing.
        assert_eq!(small.store.event_head(tenant).await, Ok(made));
        assert_eq!(small.store.verify_books(tenant).await, Ok(Vec::new()));
    }
    // What a batch does not fit into, the small row of the readiness check may.
    let refused = small.store.check_write().await.expect_err("still full").to_string();
    assert!(refused.contains("the disk is full"), "{refused}");
    // Once there is space again, writes continue.
    beside.execute_batch("DROP TABLE filling").expect("dropped");
    small.store.check_write().await.expect("space again");
    world.quote(tenant).await;
    assert_eq!(world.store.event_head(tenant).await, Ok(made + 1));
    assert_eq!(world.store.verify_books(tenant).await, Ok(Vec::new()));
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    on_sqlite_file(full_disk);
}

async fn unreadable(world: World) {
    let role = format!("unreadable_{}", uuid::Uuid::new_v4().simple());
    world.sql(&format!("CREATE ROLE {role}")).await.expect("beside").expect("created");
    let mark = if world.url.contains('?') { '&' } else { '?' };
    let options = format!("options=-c%20role%3D{role}");
    let store = world.open(&format!("{}{mark}{options}", world.url)).await;
    let Err(StoreError::Forbidden(why)) = store.is_sealed().await else { panic!("not refused") };
    assert!(why.contains("permission denied"), "{why}");
    world.sql(&format!("DROP ROLE {role}")).await.expect("beside").expect("dropped");
}

#[test]
fn a_table_that_may_not_be_read_is_not_taken_for_none() {
    on_postgres("unreadable", unreadable);
}

async fn unmade(world: World) {
    let fresh = world.fresh_database("unmade").await.expect("beside");
    let store = world.open(&fresh).await;
    assert_eq!(store.is_sealed().await, Ok(false));
    store.migrate().await.expect("migrates");
    assert_eq!(store.is_sealed().await, Ok(true));
}

#[test]
fn a_new_database_is_not_sealed() {
    on_postgres("unmade_beside", unmade);
    on_sqlite_file(unmade);
}
