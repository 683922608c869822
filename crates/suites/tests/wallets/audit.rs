//! Users' actions are in the tenant's audit log, once, in the commit of the action.

use domain::audit::{AuditContext, Entry, Via};
use domain::chain::Address;
use domain::deposit::{DepositState, ReviewVerdict};
use domain::wallet::{BlockOrder, BlockReason, TriggeredBy};
use engine::payments::AuditFilter;
use engine::wallets::{Denied, ReviewAsked};

use crate::world::{COIN, OTHER, Setup, TENANT, World, with};

/// The tenant's entries, oldest first, without that of its creation.
async fn entries(world: &World) -> Vec<Entry> {
    let filter = AuditFilter { tenant: Some(TENANT), ..AuditFilter::default() };
    let mut entries = world.store.audit_entries(&filter, 100).await.expect("read");
    entries.retain(|entry| entry.note.kind != "tenant" && entry.note.kind != "webhook");
    entries.reverse();
    let report = world.store.verify_audit(None, &[], &[]).await.expect("read");
    assert!(report.is_whole(), "{report:?}");
    entries
}

#[test]
fn each_decision_on_a_deposit_is_recorded() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let deposit = world.pay_by(&request, "Edgar", "Evin", Address([1; 20]), COIN).await;
        world.work().await;
        let officer = AuditContext::new(Via::Console, "amal")
            .with_role("compliance")
            .because("a near miss")
            .of_request("r-7");
        let asked = ReviewAsked {
            deposit: deposit.id,
            seen: None,
            verdict: ReviewVerdict::Reject,
            by: officer.clone(),
        };
        let decided = world
            .wallets
            .decide_review(&world.caller(), asked.clone(), None)
            .await
            .expect("may be")
            .made;
        assert_eq!(decided.state, DepositState::Rejected);
        let again = world.wallets.decide_review(&world.caller(), asked, None).await;
        assert!(matches!(again, Err(Denied::Refused(_))), "{again:?}");
        let proposer =
            AuditContext::new(Via::Cli, "root").on_behalf_of("ayesha").because("asked for by mail");
        let to = Address([3; 20]);
        let proposed = world
            .wallets
            .propose_refund(&world.caller(), deposit.id, to, &proposer)
            .await
            .expect("may be");
        assert_eq!(proposed.made.refund.expect("proposed").proposed_by, "ayesha");

        let noted = entries(&world).await;
        let [rejected, refund] = &noted[..] else { panic!("{noted:?}") };
        assert_eq!((&rejected.deed, &rejected.note.action[..]), (&officer, "review.reject"));
        assert_eq!(rejected.note.subject, deposit.id.to_string());
        let state = |text: &str| Some(format!(r#"{{"state":"{text}"}}"#));
        assert_eq!(
            (&rejected.note.before, &rejected.note.after),
            (&state("in_review"), &state("rejected"))
        );
        assert_eq!((&refund.deed, &refund.note.action[..]), (&proposer, "refund.propose"));
        let after = refund.note.after.as_deref().expect("an after image");
        assert!(
            after.contains(r#""state":"refunding""#) && after.contains(&to.to_string()),
            "{after}"
        );
    });
}

/// The screening before an approval is recorded even if it finds nothing new.
#[test]
fn an_approval_records_the_screening_that_it_rests_on() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        let deposit = world.pay_by(&request, "Edgar", "Evin", Address([1; 20]), COIN).await;
        world.work().await;
        let by = AuditContext::from("officer-1").because("another birth date");
        let verdict = ReviewVerdict::Approve;
        let asked = ReviewAsked { deposit: deposit.id, seen: None, verdict, by };
        let decided = world.wallets.decide_review(&world.caller(), asked, None).await;
        let decided = decided.expect("approved").made;
        let noted = entries(&world).await;
        let [approved] = &noted[..] else { panic!("{noted:?}") };
        let after = approved.note.after.as_deref().expect("an after image");
        let version = &decided.assessment.expect("assessed").list_version;
        for fact in [r#""screening":"review""#, r#""score":"#, version] {
            assert!(!fact.is_empty() && after.contains(fact), "{after}");
        }
    });
}

#[test]
fn a_user_who_cancels_a_request_is_recorded() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let (one, other) = (world.request(&wallet, COIN).await, world.request(&wallet, COIN).await);
        world.wallets.cancel_request(&world.caller(), one.id, None).await.expect("active");
        assert_eq!(entries(&world).await, [], "the bank's own system is not a user");
        let by = AuditContext::new(Via::Console, "amal")
            .with_role("operator")
            .because("asked twice")
            .of_request("r-8");
        world.wallets.cancel_request_by(&world.caller(), other.id, &by).await.expect("active");
        let late = world.wallets.cancel_request_by(&world.caller(), other.id, &by).await;
        assert!(matches!(late, Err(Denied::Refused(_))), "{late:?}");
        let noted = entries(&world).await;
        let [cancelled] = &noted[..] else { panic!("a refusal leaves no entry: {noted:?}") };
        assert_eq!((&cancelled.deed, &cancelled.note.action[..]), (&by, "request.cancel"));
        assert_eq!(cancelled.note.subject, other.id.to_string());
        let state = |text: &str| Some(format!(r#"{{"state":"{text}"}}"#));
        assert_eq!(
            (&cancelled.note.before, &cancelled.note.after),
            (&state("ACTIVE"), &state("CANCELLED"))
        );
    });
}

#[test]
fn actions_of_clients_and_workers_are_not_recorded() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, COIN).await;
        world.pay_by(&request, "Ayesha", "Khan", Address([1; 20]), COIN).await;
        world.work().await;
        assert_eq!(entries(&world).await, []);
        let order = BlockOrder {
            reason: BlockReason::SuspiciousActivity,
            details: "a look is needed".to_owned(),
            auto_unblock_hours: None,
            triggered_by: TriggeredBy::Manual,
        };
        let stranger = world.caller_of(OTHER);
        let foreign =
            world.wallets.block(&stranger, wallet.id, order.clone(), "mallory", None).await;
        assert!(matches!(foreign, Err(Denied::NotFound(_))), "{foreign:?}");
        assert_eq!(entries(&world).await, []);
        world.wallets.block(&world.caller(), wallet.id, order, "amal", None).await.expect("may be");
        let noted = entries(&world).await;
        assert_eq!(
            noted.iter().map(|entry| entry.note.action.as_str()).collect::<Vec<_>>(),
            ["wallet.block"]
        );
    });
}
