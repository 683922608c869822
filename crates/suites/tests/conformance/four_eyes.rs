//! Approved proposals: which ones are left to execute, their results, and that nothing changes
//! except what was reviewed.

use domain::approval::{Approval, ApprovalState, ApprovalUser, Change, ProposedAction};
use domain::audit::{self, Via};
use domain::ids::TenantId;
use domain::time::Span;
use domain::user::Scope;
use secrecy::SecretString;
use store::{NewApproval, StoreError};

use crate::console::{person, proposed, who};
use crate::world::{World, policy};

async fn two(world: &World) -> (ApprovalUser, ApprovalUser) {
    (who(&person(world, "ayesha").await), who(&person(world, "omar").await))
}

async fn again(world: &World, approval: &Approval) -> Approval {
    world.store.approval(approval.id).await.expect("read").expect("there")
}

pub async fn waiting_proposals_do_not_delay_approved_ones(world: World) {
    let (maker, checker) = two(&world).await;
    let mut approved = Vec::new();
    for number in 0..5 {
        let tenant = world.tenant(&format!("bank{number}"), 0).await;
        let approval =
            proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
        if number >= 2 {
            world.store.decide(&approval, true, &checker, "", "test").await.expect("approved");
            approved.push(again(&world, &approval).await);
            world.pass(Span::secs(1)).await;
        }
    }
    let minute = Span::mins(1);
    let left = async |after: Option<&Approval>| {
        world.store.approvals_left(minute, after, 2).await.expect("read")
    };
    assert_eq!(left(None).await, [], "its approver is still executing it");
    world.pass(minute).await;
    let (first, second) = (left(None).await, left(Some(&approved[1])).await);
    assert_eq!(
        first.iter().chain(&second).map(|it| it.id).collect::<Vec<_>>(),
        [approved[0].id, approved[1].id, approved[2].id]
    );
    assert_eq!(left(Some(&approved[2])).await, []);
    assert_eq!(world.store.finish_approval(&approved[0], true, "", "test").await, Ok(true));
    assert_eq!(left(None).await.first().map(|it| it.id), Some(approved[1].id));
}

pub async fn proposals_are_listed_by_scope(world: World) {
    let (maker, _) = two(&world).await;
    let (one, other) = (world.tenant("one", 0).await, world.tenant("other", 0).await);
    let chain = domain::chain::ChainNumber::FIRST;
    let deed = ProposedAction::AcceptCoinCode {
        chain,
        coin: domain::currency::StableCoin::Usdc,
        at_block: 7,
    };
    let changes: [Change; 0] = [];
    let (why, lifetime) = ("published", Span::days(7));
    let ours =
        NewApproval { tenant: None, deed: &deed, changes: &changes, maker: &maker, why, lifetime };
    let ours = world.store.propose(&ours, "test").await.expect("proposed");
    let theirs = proposed(&world, one, &maker, "https://a.example").await.expect("proposed").id;
    world.pass(Span::secs(1)).await;
    let newest = proposed(&world, other, &maker, "https://a.example").await.expect("proposed").id;
    for open in [true, false] {
        let list = async |scope, limit| {
            let found = world.store.approvals(scope, open, limit).await.expect("read");
            found.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(list(Scope::Tenant(one), 9).await, [theirs], "regardless of others, {open}");
        assert_eq!(list(Scope::Tenant(other), 1).await, [newest], "{open}");
        let all = list(Scope::All, 9).await;
        assert!(all.len() == 3 && all.contains(&ours), "{all:?}");
        assert_eq!(if open { all[2] } else { all[0] }, newest, "{open}");
    }
}

pub async fn an_end_is_in_the_audit_log(world: World) {
    let (maker, checker) = two(&world).await;
    for (done, action) in [(true, "approval.done"), (false, "approval.failed")] {
        let tenant = world.tenant(if done { "done" } else { "failed" }, 0).await;
        let approval =
            proposed(&world, tenant, &maker, "https://a.example").await.expect("proposed");
        world.store.decide(&approval, true, &checker, "", "test").await.expect("approved");
        let by = audit::AuditContext::new(Via::Console, "omar")
            .together_with("ayesha")
            .of_request(approval.request_id());
        assert_eq!(
            world.store.finish_approval(&approval, done, "it has moved", &by).await,
            Ok(true)
        );
        assert_eq!(world.store.finish_approval(&approval, !done, "", &by).await, Ok(false));
        let ended = again(&world, &approval).await;
        let state = if done { ApprovalState::Done } else { ApprovalState::Failed };
        assert_eq!((ended.state, ended.outcome.as_str()), (state, "it has moved"));
        let entries = world.audited(tenant).await;
        assert_eq!((entries[0].note.action.as_str(), &entries[0].deed), (action, &by));
        assert_eq!(entries[0].note.subject, approval.id.to_string());
        let after = entries[0].note.after.as_deref().expect("an after image");
        assert_eq!(after.contains(r#""why_not":"it has moved""#), !done, "{after}");
        assert_ne!(entries[1].note.action, action, "recorded once");
    }
    let report = world.store.verify_audit(None, &[], &[]).await.expect("read");
    assert!(report.is_whole(), "{report:?}");
}

pub async fn executed_proposals_are_found_in_the_audit_log(world: World) {
    let (maker, checker) = two(&world).await;
    let tenant = world.tenant("demobank", 0).await;
    world.store.add_webhook(tenant, "https://a.example", secret(), "op").await.expect("added");
    let approval = proposed(&world, tenant, &maker, "https://b.example").await.expect("proposed");
    world.store.decide(&approval, true, &checker, "", "test").await.expect("approved");
    let done = async |tenant: TenantId| {
        world.store.is_carried_out(&approval, &tenant.to_string()).await.expect("read")
    };
    assert!(!done(tenant).await, "approved, not done");
    let by = audit::AuditContext::new(Via::Console, "omar").of_request(approval.request_id());
    let stale = world
        .store
        .set_webhook_url_as_seen(tenant, "https://x.example", "https://b.example", &by)
        .await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "{stale:?}");
    assert!(!done(tenant).await, "a refusal leaves no entry");
    world
        .store
        .set_webhook_url_as_seen(tenant, "https://a.example", "https://b.example", &by)
        .await
        .expect("set");
    assert!(done(tenant).await);
    assert!(!done(world.tenant("other", 0).await).await);
}

fn secret() -> SecretString {
    SecretString::from("whsec_c2VjcmV0")
}

pub async fn settings_change_only_as_they_were_seen(world: World) {
    let (tenant, store) = (world.tenant("demobank", 0).await, &world.store);
    let (seen, mut meanwhile, mut wanted) = (policy(), policy(), policy());
    store.set_tenant_policy(tenant, &seen, "op").await.expect("set");
    (meanwhile.premium_bps, wanted.margin_bps) = (seen.premium_bps + 1, seen.margin_bps + 7);
    store.set_tenant_policy(tenant, &meanwhile, "another user").await.expect("set");
    let lost = store.set_tenant_policy_as_seen(tenant, &seen, &wanted, "op").await;
    assert!(matches!(lost, Err(StoreError::Conflict(_))), "{lost:?}");
    meanwhile.wallet.version = 2;
    assert_eq!(store.tenant(tenant).await.expect("read").expect("there").policy, meanwhile);
    store.set_tenant_policy_as_seen(tenant, &meanwhile, &wanted, "op").await.expect("set");
    wanted.wallet.version = 3;
    assert_eq!(store.tenant(tenant).await.expect("read").expect("there").policy, wanted);
}
