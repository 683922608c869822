//! People of the console, their tries and sessions, and proposals that somebody else decides about.

use std::collections::BTreeSet;

use domain::approval::{Approval, ApprovalState, Change, Deed, Person};
use domain::audit::{self, Via};
use domain::ids::{TenantId, UserId};
use domain::time::{Span, Timestamp};
use domain::user::{Role, Scope};
use secrecy::{ExposeSecret, SecretBox};
use store::{Backoff, NewApproval, NewSession, NewUser, Stage, StoreError, StoredUser, UserChange};

use crate::world::{START, World};

pub async fn person(world: &World, login: &str) -> StoredUser {
    let new = NewUser {
        login: login.to_owned(),
        roles: BTreeSet::from([Role::Operator, Role::Approver]),
        scope: Scope::All,
        password: "$argon2id$…".to_owned(),
        password_is_initial: true,
    };
    world.store.create_user(&new, START, "op").await.expect("made");
    world.store.user_by_login(login).await.expect("read").expect("there")
}

pub async fn people_are_kept_and_their_codes_taken_once(world: World) {
    let ayesha = person(&world, "ayesha").await;
    let again = NewUser {
        login: "ayesha".to_owned(),
        roles: BTreeSet::new(),
        scope: Scope::All,
        password: String::new(),
        password_is_initial: false,
    };
    assert!(matches!(world.store.create_user(&again, START, "op").await, Err(StoreError::Conflict(_))));
    assert!(ayesha.totp.is_none() && ayesha.password_is_initial && ayesha.user.has_any(&[Role::Approver]));
    assert_eq!(world.store.take_totp_step(ayesha.user.id, 1).await, Ok(false), "not enrolled");
    let secret = SecretBox::new(Box::new([7; 20]));
    world.store.enrol_totp(&ayesha.user, &secret, 5, "ayesha").await.expect("enrolled");
    let found = world.store.user(ayesha.user.id).await.expect("read").expect("there");
    assert_eq!(found.totp.map(|secret| *secret.expose_secret()), Some([7; 20]));
    // Whoever knows the password alone does not put a secret of his own in its place.
    let other = SecretBox::new(Box::new([8; 20]));
    let replaced = world.store.enrol_totp(&ayesha.user, &other, 9, "mallory").await;
    assert!(matches!(replaced, Err(StoreError::Conflict(_))), "{replaced:?}");
    for (step, taken) in [(5, false), (4, false), (6, true), (6, false), (7, true)] {
        assert_eq!(world.store.take_totp_step(ayesha.user.id, step).await, Ok(taken), "step {step}");
    }
    let scope = Scope::Tenant(world.tenant("demobank", 0).await);
    let change = UserChange::Access { roles: BTreeSet::from([Role::Viewer]), scope, version: found.version };
    world.store.change_user(&found.user, &change, START, "op").await.expect("changed");
    let stale = world.store.change_user(&found.user, &change, START, "op").await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "changed since it was looked at: {stale:?}");
    let found = world.store.user(ayesha.user.id).await.expect("read").expect("there");
    assert_eq!((found.user.scope, found.user.roles.len()), (scope, 1));
    assert_eq!(found.totp.map(|secret| *secret.expose_secret()), Some([7; 20]));
    world.store.change_user(&found.user, &UserChange::ForgetTotp, START, "op").await.expect("forgotten");
    world.store.enrol_totp(&found.user, &other, 9, "ayesha").await.expect("enrolled again");
}

pub async fn a_session_is_its_persons_until_he_is_disabled(world: World) {
    let ayesha = person(&world, "ayesha").await;
    let session = |number: u8, stage, totp| NewSession {
        token_digest: [number; 32],
        user: &ayesha.user,
        stage,
        address: "192.0.2.1",
        browser: "a browser",
        totp,
        now: START,
        by: audit::Deed::new(Via::Console, "ayesha"),
    };
    let secret = SecretBox::new(Box::new([9; 20]));
    world.store.begin_session(&session(1, Stage::Enrol, Some(secret)), None).await.expect("begun");
    let step = world.store.session([1; 32]).await.expect("read").expect("there");
    assert_eq!((step.stage, step.totp.map(|secret| *secret.expose_secret())), (Stage::Enrol, Some([9; 20])));
    world.store.begin_session(&session(2, Stage::Open, None), Some([1; 32])).await.expect("begun");
    assert!(world.store.session([1; 32]).await.expect("read").is_none(), "a step's token ends with the step");
    world.store.session_seen([2; 32], START + Span::mins(5)).await.expect("noted");
    let open = world.store.session([2; 32]).await.expect("read").expect("there");
    assert_eq!((open.created_at, open.seen_at), (START, START + Span::mins(5)));
    assert_eq!(world.store.open_sessions(ayesha.user.id, START).await, Ok(1));
    world.store.change_user(&ayesha.user, &UserChange::Disable, START, "op").await.expect("disabled");
    assert!(world.store.session([2; 32]).await.expect("read").is_none());
    world.store.begin_session(&session(3, Stage::Open, None), None).await.expect("begun");
    assert!(world.store.session([3; 32]).await.expect("read").is_none(), "nor one that begins afterwards");
}

pub async fn failed_tries_wait_longer_and_longer(world: World) {
    let back = Backoff { free: 3, wait: Span::secs(10), forget: Span::hours(1) };
    let mut now = START;
    let mut waits = Vec::new();
    for _ in 0..11 {
        assert_eq!(world.store.count_try("name x", back, now).await, Ok(None));
        // Whoever comes right behind it is told until when to wait, and is not counted.
        let until = world.store.count_try("name x", back, now + Span::millis(1)).await.expect("counted");
        waits.push(until.map_or(0, |until| (until - now).0 / 1_000_000));
        now = until.unwrap_or(now + Span::secs(1));
    }
    // The second of two tries is counted too while nobody has to wait.
    assert_eq!(waits, [0, 10, 20, 40, 80, 160, 320, 640, 640, 640, 640]);
    world.store.forget_tries("name x").await.expect("forgotten");
    assert_eq!(world.store.count_try("name x", back, now).await, Ok(None));
    let later = now + Span::hours(2);
    for _ in 0..2 {
        assert_eq!(world.store.count_try("name x", back, later).await, Ok(None), "old tries are forgotten");
    }
    // Of two at the same time, the one that looked at the clock first may be counted last.
    for at in [later, later - Span::millis(1)] {
        assert_eq!(world.store.count_try("name y", back, at).await, Ok(None), "nobody waits yet");
    }
}

pub fn who(user: &StoredUser) -> Person {
    Person { id: user.user.id, login: user.user.login.clone() }
}

pub async fn proposed(world: &World, tenant: TenantId, maker: &Person, url: &str) -> Result<Approval, StoreError> {
    let deed = Deed::SetWebhookUrl { url: url.to_owned() };
    let changes = [Change { what: "url".to_owned(), before: String::new(), after: url.to_owned() }];
    let (tenant, lifetime) = (Some(tenant), Span::days(7));
    let new = NewApproval { tenant, deed: &deed, changes: &changes, maker, why: "they moved", lifetime };
    let id = world.store.propose(&new, "test").await?;
    Ok(world.store.approval(id).await?.expect("there"))
}

pub async fn a_proposal_is_decided_once_by_somebody_else(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (maker, checker) = (who(&person(&world, "ayesha").await), who(&person(&world, "omar").await));
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
    assert_eq!(world.store.finish_approval(&approval, false, "", "test").await, Ok(false), "noted once");
}

pub async fn the_database_refuses_a_maker_as_checker(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let maker = who(&person(&world, "ayesha").await);
    proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
    let own = "UPDATE approval SET state = 'approved', checker = maker, checker_login = 'omar', decided_at = 1";
    let Some(done) = world.sql(own).await else { return };
    assert!(done.is_err(), "{done:?}");
    let alone = world.sql("UPDATE approval SET state = 'approved'").await.expect("beside");
    assert!(alone.is_err(), "nobody approved it: {alone:?}");
}

pub async fn a_maker_takes_his_own_proposal_back(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (maker, other) =
        (who(&person(&world, "ayesha").await), Person { id: UserId(uuid::Uuid::new_v4()), login: "x".into() });
    let approval = proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
    assert!(world.store.withdraw(&approval, &other, "test").await.is_err());
    world.store.withdraw(&approval, &maker, "test").await.expect("withdrawn");
    let found = world.store.approvals_about(Some(tenant), "webhook").await.expect("read");
    assert_eq!(found.iter().map(|it| it.state).collect::<Vec<_>>(), [ApprovalState::Withdrawn]);
    assert!(found[0].expires_at > Timestamp(0));
    proposed(&world, tenant, &maker, "https://b.example").await.expect("room for another");
    assert_eq!(world.store.approvals(Scope::All, true, 10).await.expect("read").len(), 1);
}
