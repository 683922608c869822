//! Senders' usage of rails that limit it: summed at the load, updated by the batch.

use domain::attempt::{Attempt, AttemptState};
use domain::currency::Currency;
use domain::decision::IdSource;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::RailId;
use domain::sender_limit::{Sender, SenderUsage, UsageKey, Window};
use domain::time::{Span, Timestamp};
use store::need::Need;
use store::working_set::WorkingSet;

use crate::world::{START, World, tenant_need};

/// The usage of a sender and rail in the month before `START` and on its last day.
fn usage_key(tenant: TenantId, sender: &str, rail: &str) -> UsageKey {
    let window = Window {
        day: START - Span::hours(10),
        month: START - Span::days(20),
        end: START + Span::hours(14),
    };
    UsageKey { rail: RailId::new(rail), sender: Sender::of_customer(tenant, sender), window }
}

fn attempt(
    usage_key: &UsageKey,
    tenant: TenantId,
    (state, minor, at): (AttemptState, i64, Timestamp),
    ids: &mut dyn IdSource,
) -> Attempt {
    let id = ids.next();
    Attempt {
        id: AttemptId(id),
        tenant,
        payment: PaymentId(id),
        number: 1,
        rail: usage_key.rail.clone(),
        state,
        amount: Money::new(minor, Currency::Egp),
        charges: 0,
        sender: Some(usage_key.sender),
        created_at: at,
        state_at: at,
        reason: None,
        info: None,
        bank_reference: None,
        source: None,
        booking: None,
        sent_again: false,
    }
}

fn need(tenant: TenantId, usage_keys: &[&UsageKey]) -> Need {
    let mut need = tenant_need(tenant);
    need.usage_by_rail.extend(usage_keys.iter().map(|usage_key| (tenant, (*usage_key).clone())));
    need
}

async fn save(world: &World, tenant: TenantId, attempts: &[Attempt]) {
    let put = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        attempts.iter().for_each(|attempt| ws.attempts.put((tenant, attempt.id), attempt.clone()));
        ws.keep();
    };
    world.execute(&tenant_need(tenant), put).await.expect("saved");
}

pub async fn a_senders_usage_is_summed_by_rail_and_day(world: World) {
    use AttemptState::{
        Accepted, Cancelled, Failed, Indeterminate, Refused, Returned, Sending, Settled,
    };
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let mine = usage_key(tenant, "C-1", "egy-ipn");
    let mut ids = world.store.ids();
    let today = mine.window.day;
    let mut attempts = Vec::new();
    for (state, minor, at) in [
        (Sending, 1, today),
        (Indeterminate, 10, today),
        (Accepted, 100, today + Span::hours(1)),
        (Settled, 1_000, today - Span::millis(1)),
        (Settled, 10_000, mine.window.month),
        (Settled, 100_000, mine.window.month - Span::millis(1)),
        (Refused, 7_000_000, today),
        (Failed, 7_000_000, today),
        (Returned, 7_000_000, today),
        (Cancelled, 7_000_000, today),
    ] {
        attempts.push(attempt(&mine, tenant, (state, minor, at), ids.as_mut()));
    }
    let neighbours = [usage_key(tenant, "C-2", "egy-ipn"), usage_key(tenant, "C-1", "egy-ach")];
    for neighbour in &neighbours {
        attempts.push(attempt(neighbour, tenant, (Settled, 5, today), ids.as_mut()));
    }
    let uncounted = attempt(&mine, tenant, (Settled, 7_000_000, today), ids.as_mut());
    attempts.push(Attempt { sender: None, ..uncounted });
    save(&world, tenant, &attempts).await;
    // The same digest at another tenant is a different customer.
    save(&world, other, &[attempt(&mine, other, (Settled, 3, today), ids.as_mut())]).await;

    let expected = SenderUsage { day: 111, month: 11_111 };
    let five = SenderUsage { day: 5, month: 5 };
    let nobody = usage_key(tenant, "C-3", "egy-ipn");
    let asked = vec![mine.clone(), neighbours[1].clone()];
    let read = world.store.usage_by_rail(tenant, asked).await.expect("read");
    assert_eq!(read, [(RailId::new("egy-ipn"), expected), (RailId::new("egy-ach"), five)].into());
    assert!(
        world.store.usage_by_rail(tenant, Vec::new()).await.expect("nothing to read").is_empty()
    );
    assert!(
        world.store.usage_by_rail(tenant, vec![nobody.clone()]).await.expect("read").is_empty()
    );
    let all = [&mine, &neighbours[0], &neighbours[1], &nobody];
    let found = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let spent = all.map(|usage_key| ws.spent(tenant, usage_key));
        assert_eq!(spent, [expected, five, five, SenderUsage::default()]);
    };
    world.execute(&need(tenant, &all), found).await.expect("done");
    let stored = world.store.attempts(tenant, attempts[0].payment).await.expect("read");
    assert_eq!(stored, attempts[..1], "the sender is read back");
}

pub async fn usage_begun_and_returned_in_a_batch_is_counted(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let mine = usage_key(tenant, "C-1", "egy-ipn");
    let mut ids = world.store.ids();
    let before = attempt(&mine, tenant, (AttemptState::Sending, 40, START), ids.as_mut());
    save(&world, tenant, std::slice::from_ref(&before)).await;
    let mut need = need(tenant, &[&mine]);
    need.attempts.insert((tenant, before.id));
    let decide = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        let spent = |ws: &WorkingSet| ws.spent(tenant, &mine).day;
        assert_eq!(spent(ws), 40);
        let more = attempt(&mine, tenant, (AttemptState::Sending, 5, START), ids);
        ws.attempts.put((tenant, more.id), more.clone());
        ws.discard();
        assert_eq!(spent(ws), 40, "a command that was refused began nothing");
        ws.attempts.put((tenant, more.id), more);
        ws.keep();
        assert_eq!(spent(ws), 45);
        let refused = Attempt {
            state: AttemptState::Refused,
            state_at: START + Span::secs(1),
            ..before.clone()
        };
        ws.attempts.put((tenant, before.id), refused);
        ws.keep();
        assert_eq!(spent(ws), 5, "a rejection returns the headroom");
    };
    world.execute(&need, decide).await.expect("saved");
    let read = world.store.usage_by_rail(tenant, vec![mine.clone()]).await.expect("read");
    assert_eq!(read[&mine.rail], SenderUsage { day: 5, month: 5 });
}

/// The tenant's lock serializes its batches: the second one sees what the first one began.
pub async fn concurrent_batches_share_one_limit(world: World) {
    const MOST: i64 = 100;
    let tenant = world.tenant("demobank", 0).await;
    let mine = usage_key(tenant, "C-1", "egy-ipn");
    let try_one = || async {
        let decide = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
            if ws.spent(tenant, &mine).day + 40 <= MOST {
                let begun = attempt(&mine, tenant, (AttemptState::Sending, 40, START), ids);
                ws.attempts.put((tenant, begun.id), begun);
                ws.keep();
            }
        };
        world.execute(&need(tenant, &[&mine]), decide).await.expect("done");
    };
    futures_util::future::join_all((0..6).map(|_| try_one())).await;
    let read = world.store.usage_by_rail(tenant, vec![mine.clone()]).await.expect("read");
    assert_eq!(read[&mine.rail].day, 80);
}
