//! Statements and migrations.

use store::StoreError;

use crate::world::World;

pub async fn every_statement_is_prepared(world: World) {
    let count = world.store.check_statements().await.expect("each is accepted");
    assert!(count > 110, "{count} statements");
}

pub async fn migrating_twice_does_nothing(world: World) {
    let report = world.store.migrate().await.expect("migrates");
    assert_eq!((report.applied, report.version), (Vec::new(), 41));
    world.store.ready().await.expect("ready");
}

pub async fn migrating_from_two_sides_at_once_does_it_once(world: World) {
    // A fresh database in addition to the case's own.
    let Some(fresh) = world.fresh_database("twice").await else { return };
    let (one, two) = (world.open(&fresh).await, world.open(&fresh).await);
    let (first, second) = futures_util::future::join(one.migrate(), two.migrate()).await;
    let applied = [first, second].map(|report| report.expect("migrates").applied.len());
    assert!(applied == [41, 0] || applied == [0, 41], "{applied:?}");
    // Both use the same id permutation.
    let id = domain::ids::QuoteId(one.ids().next());
    let tenant = domain::ids::TenantId(uuid::Uuid::new_v4());
    assert_eq!(two.quote(tenant, id).await, Ok(None));
    assert_eq!(one.check_statements().await, two.check_statements().await);
}

pub async fn a_schema_that_was_not_migrated_is_not_ready(world: World) {
    let Some(fresh) = world.fresh_database("bare").await else { return };
    let store = world.open(&fresh).await;
    assert!(matches!(store.ready().await, Err(StoreError::Schema(_))));
    let tenant = domain::ids::TenantId(uuid::Uuid::new_v4());
    let id = domain::ids::QuoteId(store.ids().next());
    assert!(matches!(store.quote(tenant, id).await, Err(StoreError::Schema(_))));
    assert_eq!(store.check_migratable().await, Ok(()));
    store.migrate().await.expect("migrates");
    store.ready().await.expect("ready");
}

pub async fn a_torn_checksum_is_refused(world: World) {
    let Some(done) =
        world.sql("UPDATE schema_version SET checksum = 'edited' WHERE version = 1").await
    else {
        return;
    };
    assert_eq!(done, Ok(1));
    let checked = world.store.check_migratable().await;
    for result in [world.store.ready().await, world.store.migrate().await.map(drop), checked] {
        let Err(StoreError::Schema(why)) = result else { panic!("{result:?}") };
        assert!(why.contains("applied with a different text"), "{why}");
    }
    let newer =
        "INSERT INTO schema_version (version, name, checksum, at) VALUES (9999, 'later', '', 0)";
    world.sql(newer).await.expect("beside").expect("inserted");
    for result in [world.store.ready().await, world.store.check_migratable().await] {
        let Err(StoreError::Schema(why)) = result else { panic!("{result:?}") };
        assert!(why.contains("newer than this program"), "{why}");
    }
}
