//! Lists of payments.

use domain::country::Country;
use domain::ids::TenantId;
use domain::payment::{Payment, PaymentState};
use domain::rail::RailId;
use domain::time::{Span, Timestamp};
use store::{ListFilter, Search};

use crate::world::World;

fn all() -> ListFilter {
    ListFilter {
        country: Country::Pak,
        states: Vec::new(),
        start: None,
        end: None,
        search: None,
        newest_first: true,
        limit: 100,
        offset: 0,
    }
}

async fn listed(world: &World, tenant: TenantId, filter: &ListFilter) -> Vec<Payment> {
    let records = world.store.list_payments(tenant, filter).await.expect("listed");
    records.into_iter().map(|record| record.payment).collect()
}

pub async fn lists_are_ordered_filtered_and_paged(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let mut made = Vec::new();
    for _ in 0..9 {
        made.push(world.payment(tenant, None).await);
        world.pass(Span::secs(1)).await;
    }
    let rejected = world.refuse(&made[4]).await;
    made[4] = rejected.clone();
    let newest: Vec<Payment> = made.iter().rev().cloned().collect();
    assert_eq!(listed(&world, tenant, &all()).await, newest);
    assert_eq!(listed(&world, tenant, &ListFilter { newest_first: false, ..all() }).await, made);
    assert_eq!(listed(&world, tenant, &ListFilter { limit: 0, ..all() }).await, []);
    assert_eq!(
        listed(&world, tenant, &ListFilter { limit: 3, offset: 2, ..all() }).await,
        newest[2..5]
    );
    assert_eq!(listed(&world, tenant, &ListFilter { offset: 50, ..all() }).await, []);
    assert_eq!(listed(&world, tenant, &ListFilter { country: Country::Ind, ..all() }).await, []);
    let only = |states: &[PaymentState]| ListFilter { states: states.to_vec(), ..all() };
    assert_eq!(listed(&world, tenant, &only(&[PaymentState::Rejected])).await, [rejected]);
    assert_eq!(listed(&world, tenant, &only(&PaymentState::ALL)).await, newest);
    let queued =
        ListFilter { newest_first: false, limit: 2, offset: 3, ..only(&[PaymentState::Queued]) };
    assert_eq!(listed(&world, tenant, &queued).await, [made[3].clone(), made[5].clone()]);
    let bounds =
        |start: Option<Timestamp>, end| ListFilter { start, end, newest_first: false, ..all() };
    let (third, sixth) = (Some(made[3].accepted_at), Some(made[6].accepted_at));
    assert_eq!(
        listed(&world, tenant, &bounds(third, sixth)).await,
        made[3..6],
        "from inclusive, to exclusive"
    );
    assert_eq!(listed(&world, tenant, &bounds(sixth, None)).await, made[6..]);
    assert_eq!(listed(&world, tenant, &bounds(None, third)).await, made[..3]);
}

pub async fn searches_are_exact(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let payment = world.payment(tenant, Some("A-1")).await;
    world.payment(tenant, Some("A-12")).await;
    let attempt = world.attempt(&payment, &RailId::new("pak-raast")).await;
    world.reference(&payment, "FT-99").await;
    let stands =
        world.store.payment_record(tenant, payment.id).await.expect("read").expect("there").payment;
    for search in [
        Search::Id(payment.id.to_string()),
        Search::ExternalId("A-1".to_owned()),
        Search::LinkedTxn("FT-99".to_owned()),
        Search::LinkedTxn(attempt.id.to_string()),
        Search::LinkedTxn(attempt.id.instruction_id()),
        Search::LinkedTxn(payment.hold.0.to_string()),
    ] {
        let filter = ListFilter { search: Some(search), ..all() };
        assert_eq!(
            listed(&world, tenant, &filter).await,
            std::slice::from_ref(&stands),
            "{filter:?}"
        );
        let elsewhere = ListFilter { country: Country::Ind, ..filter.clone() };
        assert_eq!(listed(&world, tenant, &elsewhere).await, [], "other filters hold too");
        let other_state = ListFilter { states: vec![PaymentState::Failed], ..filter.clone() };
        assert_eq!(listed(&world, tenant, &other_state).await, []);
        assert_eq!(listed(&world, tenant, &ListFilter { offset: 1, ..filter }).await, []);
    }
    for search in [
        Search::Id("no id".to_owned()),
        Search::Id(attempt.id.0.simple().to_string()),
        Search::ExternalId("A-".to_owned()),
        Search::ExternalId("a-1".to_owned()),
        Search::LinkedTxn("%".to_owned()),
        Search::LinkedTxn("FT".to_owned()),
    ] {
        let filter = ListFilter { search: Some(search), ..all() };
        assert_eq!(listed(&world, tenant, &filter).await, [], "{filter:?}");
    }
}

pub async fn other_tenants_are_never_listed(world: World) {
    let (one, two) =
        (world.tenant("one", 1_000_000_000).await, world.tenant("two", 1_000_000_000).await);
    let (mine, other) = (world.payment(one, Some("x")).await, world.payment(two, Some("x")).await);
    assert_eq!(listed(&world, one, &all()).await, std::slice::from_ref(&mine));
    assert_eq!(listed(&world, two, &all()).await, std::slice::from_ref(&other));
    let by_id = ListFilter { search: Some(Search::Id(other.id.to_string())), ..all() };
    assert_eq!(listed(&world, one, &by_id).await, []);
    let by_transfer =
        ListFilter { search: Some(Search::LinkedTxn(other.hold.0.to_string())), ..all() };
    assert_eq!(
        listed(&world, one, &by_transfer).await,
        [],
        "another tenant's transfer is not found"
    );
    assert_eq!(listed(&world, two, &by_transfer).await, std::slice::from_ref(&other));
    let by_external = ListFilter { search: Some(Search::ExternalId("x".to_owned())), ..all() };
    assert_eq!(listed(&world, one, &by_external).await, [mine]);
    assert_eq!(world.store.records(one, &[other.id]).await, Ok(Vec::new()));
}
