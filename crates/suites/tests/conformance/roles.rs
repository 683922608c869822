//! The roles of `roles/postgres.sql`: the service can do its work, and cannot change append-only
//! tables.

use domain::audit::Note;
use store::Store;

use crate::world::{World, on_postgres};

const SCRIPT: &str = include_str!("../../../store/roles/postgres.sql");

async fn roles(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let database = world.url.rsplit('/').next().expect("a name").split('?').next().expect("a name");
    // Roles belong to the whole server.
    let (app, reader) = (format!("app_{database}"), format!("reader_{database}"));
    let (client, connection) =
        tokio_postgres::connect(&world.url, tokio_postgres::NoTls).await.expect("connects");
    let driver = tokio::spawn(connection);
    let script = SCRIPT.replace("corridor_app", &app).replace("corridor_reader", &reader);
    let script = format!("CREATE ROLE {app}; CREATE ROLE {reader}; {script}");
    client.batch_execute(&script).await.expect("taken");

    let separator = if world.url.contains('?') { '&' } else { '?' };
    let url = format!("{}{separator}options=-c%20role%3D{app}", world.url);
    let as_app = World { store: open_as(&world, &url).await, ..world.clone() };
    assert!(as_app.store.migrate().await.expect("it is there").applied.is_empty());
    as_app.store.ready().await.expect("ready");
    as_app.store.check_statements().await.expect("each is accepted");
    as_app.payment(tenant, Some("e-1")).await;
    as_app
        .store
        .append_audit(tenant, "op", Note::new("key.create", "access_key", "k"))
        .await
        .expect("noted");
    let signer = as_app.store.audit_signer(None).await.expect("a key");
    for chain in
        as_app.store.audit_chains().await.expect("read").iter().filter(|chain| chain.head.seq > 0)
    {
        let signed =
            as_app.store.sign_audit_chain(chain, &signer).await.expect("read").expect("whole");
        as_app.store.keep_checkpoint(&signed).await.expect("kept");
    }

    for (role, refused) in [
        (&app, "UPDATE audit_entry SET why = ''"),
        (&app, "DELETE FROM audit_entry"),
        (&app, "TRUNCATE audit_entry"),
        (&app, "DELETE FROM audit_head"),
        (&app, "UPDATE audit_checkpoint SET seq = seq + 1"),
        (&app, "DELETE FROM audit_checkpoint"),
        (&app, "UPDATE case_note SET author = ''"),
        (&app, "DELETE FROM case_note"),
        (&app, "UPDATE case_file SET author = ''"),
        (&app, "DELETE FROM case_file"),
        (&app, "UPDATE transfer SET amount = 1"),
        (&app, "DELETE FROM transfer"),
        (&app, "UPDATE event SET at = 1"),
        (&app, "DELETE FROM schema_version"),
        (&app, "ALTER TABLE audit_entry ADD COLUMN x INT"),
        (&reader, "INSERT INTO meta (name, value) VALUES ('x', 'y')"),
        (&reader, "SELECT * FROM store_key"),
    ] {
        let text = format!("SET ROLE {role}; {refused}; RESET ROLE");
        let error = client.batch_execute(&text).await.expect_err(refused);
        let code = error.code().map(|code| code.code().to_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{role}: {refused}: {error:?}");
        client.batch_execute("RESET ROLE").await.expect("back");
    }
    drop(client);
    driver.await.expect("ends").expect("ends well");
    let report = world.store.verify_audit(None, &[], &[signer.public_key()]).await.expect("read");
    assert!(report.is_whole(), "{report:?}");
}

async fn open_as(world: &World, url: &str) -> Store {
    let as_role = World { url: url.to_owned(), ..world.clone() };
    as_role.reopened(|_| {}).await.expect("a database that can be opened twice")
}

#[test]
fn the_service_cannot_change_append_only_tables() {
    on_postgres("roles", roles);
}
