//! Tenants, access keys, seals, named values.

use domain::brand::{Brand, Colour, Logo, LogoKind};
use domain::decision::IdSource;
use domain::ids::TenantId;
use domain::policy::Environment;
use domain::rail::RailId;
use domain::time::Span;
use domain::wallet::KycLevel;
use secrecy::{ExposeSecret, SecretBox, SecretString};
use store::working_set::WorkingSet;
use store::{AuditFilter, KeyRow, KeySecret, StoreError, Tenant};
use uuid::Uuid;

use crate::world::{KEK, START, World, policy, tenant_need};

pub async fn tenants_are_kept_with_their_policies(world: World) {
    let id = TenantId(Uuid::new_v4());
    let mut tenant =
        Tenant { id, tag: "demobank".to_owned(), name: "Demo Bank".to_owned(), policy: policy() };
    world.store.create_tenant(&tenant, "op").await.expect("created");
    assert_eq!(world.store.tenant(id).await, Ok(Some(tenant.clone())));
    assert_eq!(world.store.tenant_by_tag("demobank").await, Ok(Some(tenant.clone())));
    let again = world
        .store
        .create_tenant(&Tenant { id: TenantId(Uuid::new_v4()), ..tenant.clone() }, "op")
        .await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    tenant.policy.margin_bps = 77;
    tenant.policy.require_hmac = true;
    world.store.set_tenant_policy(id, &tenant.policy, "op").await.expect("set");
    tenant.policy.wallet.version = 2;
    assert_eq!(world.store.tenants().await, Ok(vec![tenant.clone()]));
    let nobody =
        world.store.set_tenant_policy(TenantId(Uuid::new_v4()), &tenant.policy, "op").await;
    assert!(matches!(nobody, Err(StoreError::Conflict(_))), "{nobody:?}");
    assert_eq!(world.store.tenant(TenantId(Uuid::new_v4())).await, Ok(None));
}

pub async fn a_policy_has_a_number_that_rises_with_each_change(world: World) {
    let (tenant, store) = (world.tenant("demobank", 0).await, &world.store);
    let now = async || store.tenant(tenant).await.expect("read").expect("there").policy;
    let first = now().await;
    assert_eq!(first.wallet.version, 1);
    store.set_tenant_policy(tenant, &first, "op").await.expect("set");
    assert_eq!(now().await.wallet.version, 1, "nothing was changed");
    let mut wanted = first.clone();
    // The version is assigned by the store, not by its caller.
    (wanted.require_hmac, wanted.wallet.version) = (!first.require_hmac, 77);
    store.set_tenant_policy_as_seen(tenant, &first, &wanted, "op").await.expect("set");
    assert_eq!(now().await.wallet.version, 2);
    let back = store.set_tenant_policy_as_seen(tenant, &first, &wanted, "op").await;
    assert!(matches!(back, Err(StoreError::Conflict(_))), "{back:?}");
    store.set_tenant_policy(tenant, &first, "op").await.expect("set");
    assert_eq!(now().await.wallet.version, 3, "restoring the old values creates a new version");
    let stale = store.set_tenant_policy_as_seen(tenant, &first, &wanted, "op").await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "{stale:?}");
}

pub async fn records_of_customers_are_kept_by_tenant_and_noted(world: World) {
    let (one, other) = (world.tenant("one", 0).await, world.tenant("other", 0).await);
    let store = &world.store;
    assert_eq!(store.customer(one, "c-1").await, Ok(None));
    for (id, level) in
        [("c-2", KycLevel::Basic), ("c-1", KycLevel::Basic), ("c-1", KycLevel::Enhanced)]
    {
        store.set_customer(one, id, level, "op").await.expect("set");
    }
    let known = store.customer(one, "c-1").await.expect("read").expect("there");
    assert_eq!((known.tenant, known.kyc_level), (one, KycLevel::Enhanced));
    assert_eq!(store.customer(other, "c-1").await, Ok(None), "another tenant's customer");
    let ids = async |after: &str, limit| {
        let found = store.customers(one, after, limit).await.expect("read");
        found.into_iter().map(|it| it.customer_id).collect::<Vec<_>>()
    };
    assert_eq!(
        (ids("", 9).await, ids("c-1", 9).await),
        (vec!["c-1".to_owned(), "c-2".to_owned()], vec!["c-2".to_owned()])
    );
    assert_eq!(ids("", 1).await, ["c-1"]);
    let filter = AuditFilter {
        tenant: Some(one),
        action: Some("customer.set".to_owned()),
        ..AuditFilter::default()
    };
    let newest = store.audit_entries(&filter, 9).await.expect("read").swap_remove(0).note;
    assert_eq!(newest.subject, "c-1");
    let [basic, enhanced] =
        ["BASIC", "ENHANCED"].map(|level| Some(format!(r#"{{"kyc_level":"{level}"}}"#)));
    assert_eq!((newest.before, newest.after), (basic, enhanced));
    // A batch reads the record's value at its decision.
    let mut need = tenant_need(one);
    need.customer_records.extend(["c-1", "c-3"].map(|id| (one, id.to_owned())));
    let mut read = Vec::new();
    let look = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        read = ["c-1", "c-3"]
            .map(|id| ws.customer_records.get(&(one, id.to_owned())).copied())
            .to_vec();
    };
    world.execute(&need, look).await.expect("executed");
    assert_eq!(read, [Some(KycLevel::Enhanced), None]);
}

pub async fn a_brand_is_kept_whole_under_a_version_of_its_own(world: World) {
    let store = &world.store;
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 1).await);
    assert_eq!((store.brand(one).await, store.brand_head(one).await), (Ok(None), Ok(None)));
    let logo = Logo::parse(b"\x89PNG\r\n\x1a\n\0\xff".to_vec()).expect("a logo");
    let brand = Brand {
        logo: Some(logo.clone()),
        colour: Some(Colour::parse("#0b6b3a").expect("a colour")),
        contact: Some("+971 4 123 4567".to_owned()),
    };
    for tenant in [one, two] {
        store.set_brand(tenant, &brand, "op").await.expect("set");
        assert_eq!(store.brand(tenant).await, Ok(Some(brand.clone())));
    }
    let head = async |tenant| store.brand_head(tenant).await.expect("read").expect("set");
    let (first, second) = (head(one).await, head(two).await);
    assert_ne!(first.version, second.version, "of two tenants");
    assert_eq!((first.logo, first.has_colour), (Some(LogoKind::Png), true));
    assert_eq!(first.contact, brand.contact);
    assert_eq!(store.brand_of_version(&first.version).await, Ok(Some(brand.clone())));
    let plain = Brand { contact: brand.contact.clone(), ..Brand::default() };
    store.set_brand(one, &plain, "op").await.expect("set");
    assert_eq!(store.brand_of_version(&first.version).await, Ok(None), "replaced");
    assert_eq!(head(one).await.logo, None);
    assert_eq!(store.brand(two).await, Ok(Some(brand)), "another tenant's stays");
}

pub async fn a_database_belongs_to_one_environment(world: World) {
    let store = &world.store;
    assert_eq!(store.environment().await, Ok(None));
    assert_eq!(store.foreign_encoding().await, Ok(None));
    store.note_environment(Environment::Mock).await.expect("noted");
    store.note_environment(Environment::Production).await.expect("recorded already");
    assert_eq!(store.environment().await, Ok(Some(Environment::Mock)), "the first one");
    let tenant = world.tenant("demobank", 0).await;
    store.insert_key(&key(tenant, "demobank-test_pay-a"), "op").await.expect("added");
    let others =
        async |environment| store.keys_of_other_environments(environment).await.expect("counted");
    assert_eq!((others(Environment::Production).await, others(Environment::Test).await), (1, 0));
    let live = KeyRow { use_name: "live_pay".to_owned(), ..key(tenant, "demobank-live_pay-b") };
    store.insert_key(&live, "op").await.expect("added");
    assert_eq!((others(Environment::Production).await, others(Environment::Mock).await), (1, 1));
    store.revoke_key("demobank-test_pay-a", "op").await.expect("revoked");
    assert_eq!(others(Environment::Production).await, 0, "revoked keys do not count");
}

fn key(tenant: TenantId, access_key: &str) -> KeyRow {
    let secret =
        KeySecret { secret: SecretString::from("c2VjcmV0"), created_at: START, valid_until: None };
    KeyRow {
        access_key: access_key.to_owned(),
        tenant,
        use_name: "test_pay".to_owned(),
        secrets: vec![secret],
        created_at: START,
        revoked_at: None,
        suspended: false,
        allowed_ips: vec!["192.0.2.0/24".to_owned(), "2001:db8::1".to_owned()],
    }
}

fn valid(key: &KeyRow, at: domain::time::Timestamp) -> Vec<String> {
    key.valid_secrets(at).map(|secret| secret.expose_secret().to_owned()).collect()
}

pub async fn access_keys_are_sealed_rotated_and_revoked(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let name = "demobank-test_pay-Q1T9sVb0eXgm";
    world.store.insert_key(&key(tenant, name), "op").await.expect("added");
    assert!(matches!(
        world.store.insert_key(&key(tenant, name), "op").await,
        Err(StoreError::Conflict(_))
    ));
    let found = world.store.key(name).await.expect("read").expect("there");
    assert_eq!(
        (found.tenant, found.use_name.as_str(), found.allowed_ips.len()),
        (tenant, "test_pay", 2)
    );
    assert_eq!(valid(&found, START), ["c2VjcmV0"]);
    assert!(!format!("{found:?}").contains("c2VjcmV0"), "never in debug output");
    assert!(world.store.key("demobank-test_pay-other").await.expect("read").is_none());

    world
        .store
        .rotate_key(name, SecretString::from("bmV3"), Span::hours(1), "op")
        .await
        .expect("rotated");
    let found = world.store.key(name).await.expect("read").expect("there");
    let rotated_at = found.secrets[0].created_at;
    assert_eq!(valid(&found, rotated_at), ["bmV3", "c2VjcmV0"]);
    assert_eq!(valid(&found, rotated_at + Span::hours(1)), ["bmV3"]);
    world
        .store
        .rotate_key(name, SecretString::from("bmV3ZXI="), Span::hours(1), "op")
        .await
        .expect("rotated");
    let found = world.store.key(name).await.expect("read").expect("there");
    assert_eq!(
        valid(&found, rotated_at),
        ["bmV3ZXI=", "bmV3", "c2VjcmV0"],
        "each until its expiry"
    );
    assert_eq!(valid(&found, found.secrets[0].created_at + Span::hours(1)), ["bmV3ZXI="]);

    world.store.suspend_key(name, true, "op").await.expect("suspended");
    world.store.set_key_ips(name, &[], "op").await.expect("set");
    world.store.revoke_key(name, "op").await.expect("revoked");
    let found = &world.store.keys(tenant).await.expect("read")[0];
    assert!(found.suspended && found.revoked_at.is_some() && found.allowed_ips.is_empty());
    assert!(matches!(world.store.revoke_key(name, "op").await, Err(StoreError::Conflict(_))));
    let rotated = world.store.rotate_key(name, SecretString::from("x"), Span::hours(1), "op").await;
    assert!(matches!(rotated, Err(StoreError::Conflict(_))), "a revoked key gets no new secret");
    let unknown =
        world.store.rotate_key("unknown", SecretString::from("x"), Span::hours(1), "op").await;
    assert_eq!(unknown, Err(StoreError::NotFound("access key")));
}

pub async fn sealed_values_open_only_where_they_belong(world: World) {
    let (one, two) =
        (world.tenant("one", 1_000_000_000).await, world.tenant("two", 1_000_000_000).await);
    let (first, second) = (world.payment(one, None).await, world.payment(one, None).await);
    let other = world.payment(two, None).await;
    let plain =
        world.store.payment_record(one, first.id).await.expect("read").expect("there").order;
    let Some(seen) = world
        .sql(&format!("UPDATE payment_order SET document = document WHERE {}", looks_plain(&plain)))
        .await
    else {
        return;
    };
    assert_eq!(seen, Ok(0), "no name is stored in plaintext");
    // Each row gets another row's document, of its own tenant or of the other.
    world
        .sql("CREATE TABLE copies AS SELECT payment, document FROM payment_order")
        .await
        .expect("beside")
        .expect("made");
    let swap = "UPDATE payment_order SET document = (SELECT c.document FROM copies c \
                WHERE c.payment <> payment_order.payment ORDER BY c.payment LIMIT 1)";
    assert_eq!(world.sql(swap).await, Some(Ok(3)));
    for (tenant, id) in [(one, first.id), (one, second.id), (two, other.id)] {
        let read = world.store.payment_record(tenant, id).await;
        let Err(StoreError::Corrupt(why)) = read else { panic!("{read:?}") };
        assert!(why.contains("payment_order.document"), "{why}");
    }
    let wrong = world
        .reopened(|options| options.key_encryption_key = SecretBox::new(Box::new([9; 32])))
        .await;
    let refused = wrong.expect("beside").ready().await;
    let Err(StoreError::Corrupt(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("in neither security.key_encryption_key nor"), "{why}");
}

/// A condition on documents that contain the beneficiary's name in plaintext.
fn looks_plain(order: &domain::order::Order) -> String {
    let hex: String = order.beneficiary_name.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "LOWER(CAST(document AS TEXT)) LIKE '%{hex}%' OR CAST(document AS TEXT) LIKE '%{}%'",
        order.beneficiary_name
    )
}

pub async fn a_new_key_encryption_key_opens_what_the_old_one_sealed(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    let rotated = world
        .reopened(|options| {
            options.key_encryption_key = SecretBox::new(Box::new([9; 32]));
            options.previous_keys = vec![SecretBox::new(Box::new(KEK))];
        })
        .await;
    let Some(rotated) = rotated else { return };
    rotated.ready().await.expect("ready");
    assert!(rotated.payment_record(tenant, payment.id).await.expect("read").is_some());
    let newer = World { store: rotated, ..world.clone() }.payment(tenant, None).await;
    let old_only = world.store.payment_record(tenant, newer.id).await;
    assert!(matches!(old_only, Err(StoreError::Corrupt(_))), "the newest key seals");
    let found = world.store.unopenable().await.expect("read");
    let kinds: Vec<_> = found.iter().map(|it| (&*it.kind, it.count)).collect();
    assert_eq!(kinds, [("payment orders", None)], "the newest of the tenant");
}

pub async fn cursors_and_values_are_stored(world: World) {
    let rail = RailId::new("pak-raast");
    assert_eq!(world.store.rail_cursor(&rail).await, Ok(None));
    for cursor in ["a/1", "b/2"] {
        world.store.set_rail_cursor(&rail, cursor).await.expect("set");
        assert_eq!(world.store.rail_cursor(&rail).await, Ok(Some(cursor.to_owned())));
    }
    assert_eq!(world.store.rail_cursor(&RailId::new("ind-imps")).await, Ok(None));
    assert_eq!(world.store.meta("theme").await, Ok(None));
    world.store.check_write().await.expect("it can be written");
    world.store.set_meta("theme", "dark").await.expect("set");
    world.store.set_meta("theme", "light").await.expect("set");
    assert_eq!(world.store.meta("theme").await, Ok(Some("light".to_owned())));
    let wrong = world.store.set_meta(store::CLOCK_OFFSET, "soon").await;
    assert!(matches!(wrong, Err(StoreError::Config(_))), "{wrong:?}");
}
