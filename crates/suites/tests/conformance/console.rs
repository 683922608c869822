//! Users of the console, their sign-in attempts and sessions, and proposals.

use std::collections::BTreeSet;

use domain::approval::{Approval, ApprovalState, ApprovalUser, Change, ProposedAction};
use domain::audit::{self, Via};
use domain::identity::Subject;
use domain::ids::{TenantId, UserId};
use domain::time::{Span, Timestamp};
use domain::user::{Role, Scope};
use secrecy::{ExposeSecret, SecretBox};
use store::{
    Backoff, Departure, NewApproval, NewSession, NewUser, ProviderLogin, Stage, StoreError,
    StoredUser, UserChange,
};

use crate::constraints::{CHECK, refused};
use crate::world::{START, World};

pub async fn person(world: &World, login: &str) -> StoredUser {
    let new = NewUser {
        login: login.to_owned(),
        roles: BTreeSet::from([Role::Operator, Role::Approver]),
        scope: Scope::All,
        password: "$argon2id$…".to_owned(),
        password_is_initial: true,
        provider_name: None,
    };
    world.store.create_user(&new, START, "op").await.expect("made");
    world.store.user_by_login(login).await.expect("read").expect("there")
}

pub async fn users_are_stored_and_their_codes_accepted_once(world: World) {
    let ayesha = person(&world, "ayesha").await;
    let again = NewUser {
        login: "ayesha".to_owned(),
        roles: BTreeSet::new(),
        scope: Scope::All,
        password: String::new(),
        password_is_initial: false,
        provider_name: None,
    };
    assert!(matches!(
        world.store.create_user(&again, START, "op").await,
        Err(StoreError::Conflict(_))
    ));
    assert!(
        ayesha.totp.is_none()
            && ayesha.password_is_initial
            && ayesha.user.has_any(&[Role::Approver])
    );
    assert_eq!(world.store.take_totp_step(ayesha.user.id, 1).await, Ok(false), "not enrolled");
    let secret = SecretBox::new(Box::new([7; 20]));
    world.store.enrol_totp(&ayesha.user, &secret, 5, "ayesha").await.expect("enrolled");
    let found = world.store.user(ayesha.user.id).await.expect("read").expect("there");
    assert_eq!(found.totp.map(|secret| *secret.expose_secret()), Some([7; 20]));
    // Knowledge of the password alone does not suffice to replace the secret.
    let other = SecretBox::new(Box::new([8; 20]));
    let replaced = world.store.enrol_totp(&ayesha.user, &other, 9, "mallory").await;
    assert!(matches!(replaced, Err(StoreError::Conflict(_))), "{replaced:?}");
    for (step, taken) in [(5, false), (4, false), (6, true), (6, false), (7, true)] {
        assert_eq!(
            world.store.take_totp_step(ayesha.user.id, step).await,
            Ok(taken),
            "step {step}"
        );
    }
    let scope = Scope::Tenant(world.tenant("demobank", 0).await);
    let change =
        UserChange::Access { roles: BTreeSet::from([Role::Viewer]), scope, version: found.version };
    world.store.change_user(&found.user, &change, START, "op").await.expect("changed");
    let stale = world.store.change_user(&found.user, &change, START, "op").await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "changed since it was read: {stale:?}");
    let found = world.store.user(ayesha.user.id).await.expect("read").expect("there");
    assert_eq!((found.user.scope, found.user.roles.len()), (scope, 1));
    assert_eq!(found.totp.map(|secret| *secret.expose_secret()), Some([7; 20]));
    world
        .store
        .change_user(&found.user, &UserChange::ForgetTotp, START, "op")
        .await
        .expect("forgotten");
    world.store.enrol_totp(&found.user, &other, 9, "ayesha").await.expect("enrolled again");
}

pub async fn a_session_is_valid_until_its_user_is_disabled(world: World) {
    let ayesha = person(&world, "ayesha").await;
    let session = |number: u8, stage, totp| NewSession {
        token_digest: [number; 32],
        user: &ayesha.user,
        stage,
        address: "192.0.2.1",
        browser: "a browser",
        totp,
        subject: None,
        now: START,
        by: audit::AuditContext::new(Via::Console, "ayesha"),
    };
    let secret = SecretBox::new(Box::new([9; 20]));
    world.store.begin_session(&session(1, Stage::Enrol, Some(secret)), None).await.expect("begun");
    let step = world.store.session([1; 32]).await.expect("read").expect("there");
    assert_eq!(
        (step.stage, step.totp.map(|secret| *secret.expose_secret())),
        (Stage::Enrol, Some([9; 20]))
    );
    world.store.begin_session(&session(2, Stage::Open, None), Some([1; 32])).await.expect("begun");
    assert!(
        world.store.session([1; 32]).await.expect("read").is_none(),
        "a step's token ends with the step"
    );
    world.store.session_seen([2; 32], START + Span::mins(5)).await.expect("noted");
    let open = world.store.session([2; 32]).await.expect("read").expect("there");
    assert_eq!((open.created_at, open.seen_at), (START, START + Span::mins(5)));
    assert_eq!(world.store.open_sessions(ayesha.user.id, START).await, Ok(1));
    world
        .store
        .change_user(&ayesha.user, &UserChange::Disable, START, "op")
        .await
        .expect("disabled");
    assert!(world.store.session([2; 32]).await.expect("read").is_none());
    let afterwards = world.store.begin_session(&session(3, Stage::Open, None), None).await;
    assert!(matches!(afterwards, Err(StoreError::Conflict(_))), "{afterwards:?}");
    world.store.change_user(&ayesha.user, &UserChange::Enable, START, "op").await.expect("enabled");
    assert!(
        world.store.session([3; 32]).await.expect("read").is_none(),
        "none started while the user was disabled"
    );
}

async fn at_the_provider(world: &World, login: &str, name: &str) -> Result<StoredUser, StoreError> {
    let new = NewUser {
        login: login.to_owned(),
        roles: BTreeSet::new(),
        scope: Scope::All,
        password: String::new(),
        password_is_initial: false,
        provider_name: Some(name.to_owned()),
    };
    let id = world.store.create_user(&new, START, "op").await?;
    Ok(world.store.user(id).await?.expect("there"))
}

fn subject(subject: &str) -> Subject {
    Subject { issuer: "https://id.example".to_owned(), subject: subject.to_owned() }
}

pub async fn a_user_signs_in_one_way_and_is_bound_once(world: World) {
    let store = &world.store;
    let ayesha = at_the_provider(&world, "ayesha", "ayesha@bank.example").await.expect("made");
    let login = ProviderLogin { name: "ayesha@bank.example".to_owned(), bound: None };
    assert_eq!((ayesha.password.as_str(), &ayesha.provider), ("", &Some(login)));
    let twice = at_the_provider(&world, "ayesha2", "ayesha@bank.example").await;
    assert!(
        matches!(twice, Err(StoreError::Conflict(_))),
        "a name there belongs to one user: {twice:?}"
    );
    let omar = at_the_provider(&world, "omar", "omar@bank.example").await.expect("made");
    // A user read under another name, or bound already, is not bound.
    let stale = store.bind_user(&ayesha.user, "omar@bank.example", &subject("1"), "ayesha").await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "{stale:?}");
    store
        .bind_user(&ayesha.user, "ayesha@bank.example", &subject("1"), "ayesha")
        .await
        .expect("bound");
    let again =
        store.bind_user(&ayesha.user, "ayesha@bank.example", &subject("2"), "mallory").await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    let shared = store.bind_user(&omar.user, "omar@bank.example", &subject("1"), "omar").await;
    assert!(
        matches!(shared, Err(StoreError::Conflict(_))),
        "a subject belongs to one user: {shared:?}"
    );
    let found = store.user_by_subject(&subject("1")).await.expect("read").expect("there");
    assert_eq!(
        (found.user.id, found.provider.and_then(|login| login.bound)),
        (ayesha.user.id, Some(subject("1")))
    );
    let elsewhere = Subject { issuer: "https://other.example".to_owned(), ..subject("1") };
    assert!(
        store.user_by_subject(&elsewhere).await.expect("read").is_none(),
        "another provider's subject"
    );
    let named =
        store.user_by_provider_name("omar@bank.example").await.expect("read").expect("there");
    assert_eq!(named.user.id, omar.user.id);
    assert!(store.user_by_provider_name("ayesha").await.expect("read").is_none());
    // Users of the identity provider have neither a password nor codes.
    let password = UserChange::Password { hash: "$argon2id$…".to_owned(), is_initial: true };
    let refused = store.change_user(&ayesha.user, &password, START, "op").await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    let codes =
        store.enrol_totp(&ayesha.user, &SecretBox::new(Box::new([7; 20])), 5, "ayesha").await;
    assert!(matches!(codes, Err(StoreError::Conflict(_))), "{codes:?}");
    // After unbinding, the user is bound again; every session has ended with it.
    let bound = subject("1");
    let session = NewSession {
        token_digest: [5; 32],
        user: &ayesha.user,
        stage: Stage::Open,
        address: "192.0.2.1",
        browser: "",
        totp: None,
        subject: Some(&bound),
        now: START,
        by: audit::AuditContext::new(Via::Console, "ayesha"),
    };
    store.begin_session(&session, None).await.expect("begun");
    let row = store.session([5; 32]).await.expect("read").expect("there");
    assert_eq!(
        (row.stage, row.user.provider.and_then(|login| login.bound)),
        (Stage::Open, Some(subject("1")))
    );
    store.change_user(&ayesha.user, &UserChange::Unbind, START, "op").await.expect("unbound");
    assert!(store.session([5; 32]).await.expect("read").is_none());
    let nothing = store.change_user(&ayesha.user, &UserChange::Unbind, START, "op").await;
    assert!(matches!(nothing, Err(StoreError::Conflict(_))), "{nothing:?}");
    store
        .bind_user(&ayesha.user, "ayesha@bank.example", &subject("2"), "ayesha")
        .await
        .expect("bound again");
    // From one method to the other and back: nothing of the first stays.
    let first = UserChange::FirstPassword { hash: "$argon2id$…".to_owned() };
    store.change_user(&ayesha.user, &first, START, "op").await.expect("changed");
    let found = store.user(ayesha.user.id).await.expect("read").expect("there");
    assert!(found.provider.is_none() && found.password_is_initial && !found.password.is_empty());
    assert!(store.user_by_subject(&subject("2")).await.expect("read").is_none());
    store
        .enrol_totp(&ayesha.user, &SecretBox::new(Box::new([7; 20])), 5, "ayesha")
        .await
        .expect("enrolled");
    let there = UserChange::Provider { name: "a.khan@bank.example".to_owned() };
    store.change_user(&ayesha.user, &there, START, "op").await.expect("changed");
    let found = store.user(ayesha.user.id).await.expect("read").expect("there");
    assert!(found.totp.is_none() && found.password.is_empty() && !found.password_is_initial);
    // Deleted values are in the audit log.
    let before = async |action: &str| {
        let filter =
            store::AuditFilter { action: Some(action.to_owned()), ..store::AuditFilter::default() };
        let newest = store.audit_entries(&filter, 1).await.expect("read").swap_remove(0);
        newest.note.before.expect("the previous state")
    };
    let left = before("user.leave_provider").await;
    assert!(left.contains("ayesha@bank.example") && left.contains(&subject("2").subject), "{left}");
    let renamed = UserChange::Provider { name: "khan@bank.example".to_owned() };
    store.change_user(&ayesha.user, &renamed, START, "op").await.expect("changed");
    let renamed = before("user.set_provider").await;
    assert!(renamed.contains("a.khan@bank.example"), "{renamed}");
    let taken = UserChange::Provider { name: "omar@bank.example".to_owned() };
    let taken = store.change_user(&ayesha.user, &taken, START, "op").await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
    // A disabled user is not bound.
    store.change_user(&omar.user, &UserChange::Disable, START, "op").await.expect("disabled");
    let gone = store.bind_user(&omar.user, "omar@bank.example", &subject("3"), "omar").await;
    assert!(matches!(gone, Err(StoreError::Conflict(_))), "{gone:?}");
}

pub async fn the_database_keeps_both_ways_apart(world: World) {
    at_the_provider(&world, "ayesha", "ayesha@bank.example").await.expect("made");
    person(&world, "omar").await;
    for sql in [
        "UPDATE console_user SET password = 'x' WHERE login = 'ayesha'",
        "UPDATE console_user SET provider_name = '' WHERE login = 'ayesha'",
        "UPDATE console_user SET provider_subject = 's' WHERE login = 'ayesha'",
        "UPDATE console_user SET provider_issuer = 'i', provider_subject = 's' WHERE login = 'omar'",
        "UPDATE console_user SET provider_name = 'omar@bank.example' WHERE login = 'omar'",
    ] {
        refused(&world, sql, CHECK).await;
    }
}

pub async fn a_departure_comes_back_once(world: World) {
    let store = &world.store;
    let departure =
        |minutes| Departure { next: "/console/x?y=1".to_owned(), at: START + Span::mins(minutes) };
    store.depart([1; 32], &departure(0), START - Span::mins(10)).await.expect("noted");
    store.depart([2; 32], &departure(9), START - Span::mins(1)).await.expect("noted");
    assert_eq!(store.arrive([9; 32]).await, Ok(None));
    assert_eq!(store.arrive([1; 32]).await, Ok(Some(departure(0))));
    assert_eq!(store.arrive([1; 32]).await, Ok(None), "once");
    store.depart([3; 32], &departure(20), START + Span::mins(10)).await.expect("noted");
    assert_eq!(store.arrive([2; 32]).await, Ok(None), "abandoned sign-ins are deleted");
    assert_eq!(store.arrive([3; 32]).await, Ok(Some(departure(20))));
}

pub async fn failed_tries_wait_longer_and_longer(world: World) {
    let back = Backoff { free: 3, wait: Span::secs(10), forget: Span::hours(1) };
    let mut now = START;
    let mut waits = Vec::new();
    for _ in 0..11 {
        assert_eq!(world.store.count_try("name x", back, now).await, Ok(None));
        // An attempt right after it is rejected with the waiting time, and is not counted.
        let until =
            world.store.count_try("name x", back, now + Span::millis(1)).await.expect("counted");
        waits.push(until.map_or(0, |until| (until - now).0 / 1_000_000));
        now = until.unwrap_or(now + Span::secs(1));
    }
    // The second of two attempts is counted too while there is no wait.
    assert_eq!(waits, [0, 10, 20, 40, 80, 160, 320, 640, 640, 640, 640]);
    world.store.forget_tries("name x").await.expect("forgotten");
    assert_eq!(world.store.count_try("name x", back, now).await, Ok(None));
    let later = now + Span::hours(2);
    for _ in 0..2 {
        assert_eq!(
            world.store.count_try("name x", back, later).await,
            Ok(None),
            "old attempts are reset"
        );
    }
    // Of two concurrent attempts, the one that read the clock first may be counted last.
    for at in [later, later - Span::millis(1)] {
        assert_eq!(world.store.count_try("name y", back, at).await, Ok(None), "no wait yet");
    }
}

pub fn who(user: &StoredUser) -> ApprovalUser {
    ApprovalUser { id: user.user.id, login: user.user.login.clone() }
}

pub async fn proposed(
    world: &World,
    tenant: TenantId,
    maker: &ApprovalUser,
    url: &str,
) -> Result<Approval, StoreError> {
    let deed = ProposedAction::SetWebhookUrl { url: url.to_owned() };
    let changes = [Change { what: "url".to_owned(), before: String::new(), after: url.to_owned() }];
    let (tenant, lifetime) = (Some(tenant), Span::days(7));
    let new =
        NewApproval { tenant, deed: &deed, changes: &changes, maker, why: "they moved", lifetime };
    let id = world.store.propose(&new, "test").await?;
    Ok(world.store.approval(id).await?.expect("there"))
}

pub async fn a_proposal_is_decided_once_by_another_user(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (maker, checker) =
        (who(&person(&world, "ayesha").await), who(&person(&world, "omar").await));
    let approval = proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
    assert_eq!((approval.state, approval.why.as_str()), (ApprovalState::Waiting, "they moved"));
    let twice = proposed(&world, tenant, &maker, "https://b.example").await;
    assert!(matches!(twice, Err(StoreError::Conflict(_))), "one waits at a time: {twice:?}");
    let own = world.store.decide(&approval, true, &maker, "", "test").await;
    assert!(matches!(own, Err(StoreError::Conflict(_))), "{own:?}");
    let (one, two) = futures_util::future::join(
        world.store.decide(&approval, true, &checker, "seen", "test"),
        world.store.decide(&approval, false, &checker, "no", "test"),
    )
    .await;
    assert_ne!(one.is_ok(), two.is_ok(), "one of two: {one:?} {two:?}");
    let decided = world.store.approval(approval.id).await.expect("read").expect("there");
    assert_eq!(decided.state == ApprovalState::Approved, one.is_ok());
    assert_eq!(decided.decided.map(|(person, _)| person), Some(checker));
    let late = world.store.withdraw(&approval, &maker, "test").await;
    assert!(matches!(late, Err(StoreError::Conflict(_))), "{late:?}");
    assert_eq!(world.store.finish_approval(&approval, true, "", "test").await, Ok(one.is_ok()));
    assert_eq!(
        world.store.finish_approval(&approval, false, "", "test").await,
        Ok(false),
        "recorded once"
    );
}

pub async fn the_database_refuses_a_maker_as_checker(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let maker = who(&person(&world, "ayesha").await);
    proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
    let own = "UPDATE approval SET state = 'approved', checker = maker, checker_login = 'omar', decided_at = 1";
    let Some(done) = world.sql(own).await else { return };
    assert!(done.is_err(), "{done:?}");
    let alone = world.sql("UPDATE approval SET state = 'approved'").await.expect("beside");
    assert!(alone.is_err(), "not approved: {alone:?}");
}

pub async fn a_maker_withdraws_their_own_proposal(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (maker, other) = (
        who(&person(&world, "ayesha").await),
        ApprovalUser { id: UserId(uuid::Uuid::new_v4()), login: "x".into() },
    );
    let approval = proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
    assert!(world.store.withdraw(&approval, &other, "test").await.is_err());
    world.store.withdraw(&approval, &maker, "test").await.expect("withdrawn");
    let found = world.store.approvals_about(Some(tenant), "webhook").await.expect("read");
    assert_eq!(found.iter().map(|it| it.state).collect::<Vec<_>>(), [ApprovalState::Withdrawn]);
    assert!(found[0].expires_at > Timestamp(0));
    proposed(&world, tenant, &maker, "https://b.example").await.expect("room for another");
    assert_eq!(world.store.approvals(Scope::All, true, 10).await.expect("read").len(), 1);
}
