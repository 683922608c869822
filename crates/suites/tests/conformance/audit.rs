//! The audit log: one entry per action, in the commit of the action; lists.

use domain::audit::{AuditContext, ChainFault, Entry, Facts, INSTALLATION, Note, Via};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use futures_util::future::join_all;
use secrecy::SecretString;
use store::{AuditFilter, AuditPlace, KeyRow, KeySecret, StoreError};
use uuid::Uuid;

use crate::world::{START, Side, World, policy, tenant_need};

const SECRET: &str = "c2VjcmV0";

fn key(tenant: TenantId, access_key: &str) -> KeyRow {
    KeyRow {
        access_key: access_key.to_owned(),
        tenant,
        use_name: "test_pay".to_owned(),
        secrets: vec![KeySecret {
            secret: SecretString::from(SECRET),
            created_at: START,
            valid_until: None,
        }],
        created_at: START,
        revoked_at: None,
        suspended: false,
        allowed_ips: Vec::new(),
    }
}

fn actions(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.note.action.as_str()).collect()
}

async fn whole(world: &World) {
    let report = world.store.verify_audit(None, &[], &[]).await.expect("read");
    assert!(report.is_whole(), "{report:?}");
}

pub async fn each_change_of_an_administrator_is_one_entry(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (store, op) = (
        &world.store,
        AuditContext::new(Via::Console, "amal").with_role("admin").of_request("r-1"),
    );
    store.insert_key(&key(tenant, "k"), &op).await.expect("added");
    store.rotate_key("k", SecretString::from("bmV3"), Span::hours(1), &op).await.expect("rotated");
    store.suspend_key("k", true, &op).await.expect("suspended");
    store.suspend_key("k", false, &op).await.expect("resumed");
    store.set_key_ips("k", &["192.0.2.1".to_owned()], &op).await.expect("set");
    store.revoke_key("k", op.clone().because("it leaked")).await.expect("revoked");
    store.set_tenant_policy(tenant, &policy(), &op).await.expect("set");
    store
        .append_audit(INSTALLATION, &op, Note::new("session.begin", "user", "amal"))
        .await
        .expect("noted");
    let entries = world.audited(tenant).await;
    assert_eq!(
        actions(&entries),
        [
            "tenant.set_policy",
            "key.revoke",
            "key.allow",
            "key.resume",
            "key.suspend",
            "key.rotate",
            "key.create",
            "tenant.create"
        ]
    );
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [8, 7, 6, 5, 4, 3, 2, 1]);
    let revoked = &entries[1];
    assert_eq!((&revoked.note.kind[..], &revoked.note.subject[..]), ("access_key", "k"));
    assert_eq!(revoked.deed, op.because("it leaked"));
    assert_eq!(entries[7].deed, AuditContext::new(Via::Program, "test"));
    assert_eq!(
        actions(&world.audited(INSTALLATION).await),
        ["session.begin"],
        "a chain of its own"
    );
    whole(&world).await;
}

pub async fn a_change_that_is_refused_leaves_no_entry(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let unknown = TenantId(Uuid::new_v4());
    let refused = [
        world.store.revoke_key("unknown", "mallory").await,
        world.store.set_tenant_policy(unknown, &policy(), "mallory").await,
        world
            .store
            .add_webhook(unknown, "https://a.example", "whsec_c2VjcmV0".into(), "mallory")
            .await,
        world.store.enable_webhook(tenant, "mallory").await,
    ];
    assert!(
        matches!(refused[0], Err(StoreError::Conflict(_)))
            && matches!(refused[1], Err(StoreError::Conflict(_)))
    );
    assert!(matches!(refused[3], Err(StoreError::Conflict(_))), "{refused:?}");
    world.store.insert_key(&key(tenant, "k"), "op").await.expect("added");
    let twice = world.store.insert_key(&key(tenant, "k"), "op").await;
    assert!(matches!(twice, Err(StoreError::Conflict(_))), "{twice:?}");
    assert_eq!(actions(&world.audited(tenant).await), ["key.create", "tenant.create"]);
}

pub async fn before_and_after_are_recorded_without_secrets(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    world.store.insert_key(&key(tenant, "k"), "op").await.expect("added");
    world.store.suspend_key("k", true, "op").await.expect("suspended");
    let url = "https://user:pw@bank.example/hooks?token=t0k3n";
    world.store.add_webhook(tenant, url, "whsec_aGlkZGVu".into(), "op").await.expect("added");
    let entries = world.audited(tenant).await;
    let suspended = &entries[1].note;
    let facts =
        |state| format!(r#"{{"use":"test_pay","state":"{state}","secrets":1,"allowed_ips":""}}"#);
    assert_eq!(
        (&suspended.before, &suspended.after),
        (&Some(facts("active")), &Some(facts("suspended")))
    );
    let after = entries[0].note.after.as_deref();
    assert_eq!(
        after,
        Some(r#"{"url":"https://bank.example/hooks?token=…","state":"enabled","secrets":1}"#)
    );
    let all = format!("{entries:?}");
    for secret in [SECRET, "aGlkZGVu", "pw@", "t0k3n"] {
        assert!(!all.contains(secret), "{secret}");
    }
}

pub async fn entries_of_a_batch_are_in_its_commit(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let mut need = tenant_need(tenant);
    need.audits.insert((tenant, ()));
    let note =
        |n: i64| Note::new("review.approve", "payment", n).after(Facts::new().number("n", n));
    let op = || AuditContext::new(Via::Api, "demobank-test_wallet-Q1T9sVb0");
    let two = |ws: &mut store::working_set::WorkingSet| {
        ws.note(tenant, op(), note(1));
        ws.keep();
        ws.note(tenant, op(), note(2));
        ws.discard();
        ws.note(tenant, op(), note(3));
        ws.keep();
    };
    world.execute(&need, |ws, _| two(ws)).await.expect("committed");
    world.execute(&need, |ws, _| two(ws)).await.expect("committed");
    let entries = world.audited(tenant).await;
    let subjects: Vec<&str> = entries.iter().map(|entry| entry.note.subject.as_str()).collect();
    assert_eq!(subjects[..4], ["3", "1", "3", "1"], "discarded actions were never recorded");
    assert_eq!(entries[0].seq, 5);
    assert_eq!(world.audited(other).await.len(), 1);
    // An entry based on a chain that was not read conflicts with the chain.
    let blind = world.execute(&tenant_need(tenant), |ws, _| two(ws)).await;
    assert!(matches!(blind, Err(store::ExecuteError::Contended)), "{blind:?}");
    whole(&world).await;
}

pub async fn concurrent_writers_append_in_order(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let writers = (0..40)
        .map(|n| world.store.append_audit(tenant, "op", Note::new("alert.close", "alert", n)));
    for done in join_all(writers).await {
        done.expect("noted");
    }
    let entries = world.audited(tenant).await;
    assert_eq!(
        entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(),
        (1..=41).rev().collect::<Vec<_>>()
    );
    whole(&world).await;
}

pub async fn entries_are_filtered_and_paged(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let by = |who: &str| AuditContext::new(Via::Cli, who);
    let mut times = Vec::new();
    for (tenant, deed, action, subject) in [
        (one, by("root").on_behalf_of("ayesha").together_with("omar"), "order.resolve", "o-1"),
        (two, by("root"), "key.rotate", "k-2"),
        (one, by("ayesha"), "key.revoke", "k-1"),
        (one, by("omar"), "keys.list", "k-1"),
    ] {
        world.pass(Span::secs(10)).await;
        times.push(world.now().await);
        world
            .store
            .append_audit(tenant, deed, Note::new(action, "thing", subject))
            .await
            .expect("noted");
    }
    let list = async |filter: AuditFilter| {
        let entries = world.store.audit_entries(&filter, 10).await.expect("read");
        entries
            .into_iter()
            .map(|it| format!("{} {}", it.note.action, it.note.subject))
            .collect::<Vec<_>>()
    };
    let all = AuditFilter::default();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        list(AuditFilter { who: some("ayesha"), ..all.clone() }).await,
        ["key.revoke k-1", "order.resolve o-1"]
    );
    assert_eq!(
        list(AuditFilter { who: some("omar"), tenant: Some(one), ..all.clone() }).await.len(),
        2
    );
    assert_eq!(
        list(AuditFilter { action: some("key"), ..all.clone() }).await,
        ["key.revoke k-1", "key.rotate k-2"]
    );
    assert_eq!(
        list(AuditFilter { action: some("key.rotate"), ..all.clone() }).await,
        ["key.rotate k-2"]
    );
    assert_eq!(
        list(AuditFilter { action: some("key_rotate"), ..all.clone() }).await,
        Vec::<String>::new()
    );
    assert_eq!(
        list(AuditFilter { subject: some("k-1"), ..all.clone() }).await,
        ["keys.list k-1", "key.revoke k-1"]
    );
    let people = list(AuditFilter { people: true, ..all.clone() }).await;
    assert!(people.len() == 4 && list(all.clone()).await.len() > 4, "{people:?}");
    let between = AuditFilter { from: Some(times[1]), to: Some(times[3]), ..all.clone() };
    assert_eq!(list(between).await, ["key.revoke k-1", "key.rotate k-2"]);

    for filter in [all, AuditFilter { tenant: Some(one), ..AuditFilter::default() }] {
        let whole = world.store.audit_entries(&filter, 100).await.expect("read");
        let (mut paged, mut place) = (Vec::new(), None);
        loop {
            let page = AuditFilter { after: place, ..filter.clone() };
            let rows = world.store.audit_entries(&page, 2).await.expect("read");
            let Some(last) = rows.last() else { break };
            place = Some(AuditPlace::of(last));
            paged.extend(rows);
        }
        assert_eq!(paged, whole);
        // Back from the oldest entry: each page has the nearest newer ones, newest first.
        let (mut paged, mut place) = (Vec::new(), whole.last().map(AuditPlace::of));
        while let Some(before) = place {
            let page = AuditFilter { before: Some(before), ..filter.clone() };
            let mut rows = world.store.audit_entries(&page, 2).await.expect("read");
            place = rows.first().map(AuditPlace::of);
            rows.append(&mut paged);
            paged = rows;
        }
        assert_eq!(paged, whole[..whole.len() - 1]);
        assert!(whole.len() >= 4 && whole.is_sorted_by(|a, b| a.at >= b.at));
    }
}

pub async fn entries_are_found_by_number_thing_and_request(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    for (tenant, request, subject) in
        [(one, "r-1", "k-1"), (one, "r-2", "k-1"), (one, "r-2", "k-2"), (two, "r-2", "k-1")]
    {
        let deed = AuditContext::new(Via::Console, "amal").of_request(request);
        world
            .store
            .append_audit(tenant, deed, Note::new("key.rotate", "access_key", subject))
            .await
            .expect("noted");
    }
    let (store, shown) = (&world.store, |entry: &Entry| (entry.seq, entry.note.subject.clone()));
    let about = store.audit_about(one, "k-1").await.expect("read");
    assert_eq!(
        about.iter().map(|entry| entry.seq).collect::<Vec<_>>(),
        [3, 2],
        "the newest first, and this chain's"
    );
    let of_request = store.audit_of_request(one, "r-2").await.expect("read");
    assert_eq!(
        of_request.iter().map(shown).collect::<Vec<_>>(),
        [(4, "k-2".to_owned()), (3, "k-1".to_owned())]
    );
    assert!(store.audit_of_request(one, "r-3").await.expect("read").is_empty());
    let fourth = store.audit_entry(one, 4).await.expect("read");
    assert_eq!(fourth.as_ref(), of_request.first());
    assert_eq!(store.audit_entry(one, 5).await.expect("read"), None);
    let filter = AuditFilter { request_id: Some("r-2".to_owned()), ..AuditFilter::default() };
    assert_eq!(store.audit_entries(&filter, 10).await.expect("read").len(), 3);
}

pub async fn entries_of_older_versions_are_chained(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let id = match world.side {
        Side::Memory => return,
        Side::File(_) => "x'00000000000000000000000000000001'",
        Side::Postgres => "'00000000-0000-0000-0000-000000000001'",
    };
    for text in [
        "DELETE FROM meta WHERE name = 'audit_begun'",
        "DELETE FROM audit_head",
        "DELETE FROM audit_entry",
        &format!(
            "INSERT INTO admin_log VALUES ({id}, 7, 'cli:root', 'key.revoke', 'k-1', 'it leaked')"
        ),
    ] {
        world.sql(text).await.expect("beside").expect("taken");
    }
    world.store.migrate().await.expect("migrated");
    world.store.migrate().await.expect("once is enough");
    let entries = world.audited(INSTALLATION).await;
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(
        (entry.at, &entry.note.action[..], &entry.note.subject[..]),
        (Timestamp(7), "key.revoke", "k-1")
    );
    assert_eq!(entry.deed, AuditContext::new(Via::Cli, "root").because("it leaked"));
    assert_eq!(world.sql("DELETE FROM admin_log").await, Some(Ok(0)), "it is in the chain now");
    whole(&world).await;
    world.sql("DELETE FROM audit_head WHERE seq = 0").await.expect("beside").expect("the tenant's");
    let report = world.store.verify_audit(Some(tenant), &[], &[]).await.expect("read");
    assert_eq!(
        report.chains[0].fault,
        Some(ChainFault::Gone),
        "each tenant has a chain from its creation"
    );
}
