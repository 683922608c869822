//! The guards of `reliability.md`, each triggered directly by SQL and rejected by the database
//! itself.

use domain::rail::RailId;

use crate::world::World;

/// Runs SQL that must be rejected with one of these messages.
pub async fn refused(world: &World, sql: &str, words: [&str; 2]) {
    let Some(result) = world.sql(sql).await else { return };
    let Err(why) = result else { panic!("{sql} was accepted") };
    assert!(words.iter().any(|word| why.contains(word)), "{sql}: {why}");
}

pub const UNIQUE: [&str; 2] = ["duplicate key", "UNIQUE constraint"];
pub const CHECK: [&str; 2] = ["check constraint", "CHECK constraint"];
pub const NOT_NULL: [&str; 2] = ["not-null constraint", "NOT NULL constraint"];

/// A statement that copies a row with some columns changed.
pub fn copy(table: &str, columns: &str, changed: &str) -> String {
    format!("INSERT INTO {table} ({columns}) SELECT {changed} FROM {table}")
}

/// An id that is in no table.
const OTHER: [&str; 2] =
    ["'00000000-0000-7000-8000-000000000001'", "x'00000000000070008000000000000001'"];

pub fn other(world: &World) -> &'static str {
    match world.side {
        crate::world::Side::Postgres => OTHER[0],
        _ => OTHER[1],
    }
}

const PAYMENT: &str = "tenant, id, country, quote, external_id, amount, base_currency, base, coin, charge_amount, \
    charge_premium, charge_cost, remainder, hold, accepted_at, state, state_at, version, review, screen_score, \
    screen_list, screen_stale";

pub async fn a_quote_makes_one_payment(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    let changed = PAYMENT.replacen("id,", &format!("{},", other(&world)), 1);
    refused(&world, &copy("payment", PAYMENT, &changed), UNIQUE).await;
    refused(&world, "UPDATE quote SET state = 'active'", CHECK).await;
    refused(&world, "UPDATE quote SET payment = NULL", CHECK).await;
}

pub async fn an_external_id_is_taken_once(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, Some("mine")).await;
    let changed = format!("tenant, external_id, {}", other(&world));
    refused(&world, &copy("external_id", "tenant, external_id, payment", &changed), UNIQUE).await;
}

pub async fn only_a_rejected_attempt_frees_its_slot(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    world.attempt(&payment, &RailId::new("pak-raast")).await;
    let columns =
        "tenant, id, payment, number, rail, state, amount, currency, created_at, state_at, slot";
    let second = columns.replacen("id,", &format!("{},", other(&world)), 1).replace("number", "2");
    refused(&world, &copy("attempt", columns, &second), UNIQUE).await;
    let Some(done) = world.sql("UPDATE attempt SET state = 'refused', slot = number").await else {
        return;
    };
    assert_eq!(done, Ok(1));
    let again = second.replace("state, amount", "'sending', amount").replace("slot", "0");
    assert_eq!(
        world.sql(&copy("attempt", columns, &again)).await,
        Some(Ok(1)),
        "after a rejection the slot is free"
    );
    refused(&world, "UPDATE attempt SET state = 'accepted', slot = 0 WHERE number = 1", UNIQUE)
        .await;
    refused(&world, "UPDATE attempt SET slot = 5 WHERE number = 2", CHECK).await;
}

pub async fn a_reservation_ends_once(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    let columns = "tenant, id, debit, credit, amount, currency, kind, pending, set_id, reason, at";
    let end = |kind: &str, id: &str| {
        format!(
            "INSERT INTO transfer ({columns}) SELECT tenant, {id}, debit, credit, amount, currency, '{kind}', id, \
             set_id, reason, at FROM transfer WHERE kind = 'pending'"
        )
    };
    let Some(done) = world.sql(&end("post_pending", other(&world))).await else { return };
    assert_eq!(done, Ok(1));
    refused(&world, &end("void_pending", "set_id"), UNIQUE).await;
    refused(&world, "UPDATE transfer SET pending = NULL WHERE kind = 'post_pending'", CHECK).await;
    refused(&world, "UPDATE transfer SET amount = 0", CHECK).await;
    refused(&world, "UPDATE transfer SET credit = debit", CHECK).await;
}

pub async fn a_reference_of_prefunding_is_booked_once(world: World) {
    world.tenant("demobank", 1_000_000_000).await;
    let columns = "tenant, id, debit, credit, amount, currency, kind, set_id, reason, subject, at";
    let (subject, id) = (other(&world), other(&world));
    let named = format!("UPDATE transfer SET subject = {subject}");
    let Some(done) = world.sql(&named).await else { return };
    assert_eq!(done, Ok(1));
    let again = columns.replacen("id,", &format!("{id},"), 1);
    refused(&world, &copy("transfer", columns, &again), UNIQUE).await;
    for reason in ["'prefund.withdrawal'", "'sweep.fund'", "'sweep.fund_reversal'"] {
        let other = copy("transfer", columns, &again.replace("reason", reason));
        refused(&world, &other, UNIQUE).await;
    }
    let of_another_kind = again.replace("reason", "'controller.fund'");
    assert_eq!(world.sql(&copy("transfer", columns, &of_another_kind)).await, Some(Ok(1)));
}

pub async fn money_that_is_held_never_goes_below_zero(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    for change in
        ["debits_posted = 1000000001", "debits_pending = 1000000001", "credits_posted = 0"]
    {
        refused(&world, &format!("UPDATE account SET {change} WHERE code = 'prefund:USDT'"), CHECK)
            .await;
    }
    refused(&world, "UPDATE account SET debits_pending = -1 WHERE code = 'prefund:USDT'", CHECK)
        .await;
    // External accounts may be overdrawn.
    let Some(done) = world
        .sql("UPDATE account SET debits_posted = 2000000000 WHERE code = 'external:USDT'")
        .await
    else {
        return;
    };
    assert_eq!(done, Ok(1));
}

pub async fn versions_and_numbers_of_events_are_unique(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    world.quote(tenant).await;
    let columns = "tenant, seq, id, kind, subject, version, at";
    refused(
        &world,
        &copy("event", columns, "tenant, seq + 1, id, kind, subject, version, at"),
        UNIQUE,
    )
    .await;
    refused(
        &world,
        &copy("event", columns, "tenant, seq, id, kind, subject, version + 1, at"),
        UNIQUE,
    )
    .await;
    refused(&world, "UPDATE event SET state = 'queued'", CHECK).await;
}

pub async fn unknown_values_are_refused(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    for sql in [
        "UPDATE payment SET state = 'lost'",
        "UPDATE payment SET review = 'perhaps'",
        "UPDATE payment SET version = 0",
        "UPDATE payment SET amount = -1",
        "UPDATE quote SET state = 'open'",
        "UPDATE quote SET coin = 'DAI'",
        "UPDATE transfer SET kind = 'undone'",
        "UPDATE account SET class = 'other'",
        "UPDATE open_quotes SET count = -1",
        "UPDATE tenant_head SET payment_seq = -1",
        "UPDATE batch SET landed = 2",
        "UPDATE job SET fence = -1",
    ] {
        refused(&world, sql, CHECK).await;
    }
    refused(&world, "UPDATE payment SET state = NULL", NOT_NULL).await;
    // A value that no constraint covers is rejected on reading.
    if world.sql("UPDATE job SET kind = 'dance'").await.is_some() {
        let error = world.store.job_counts().await.expect_err("not readable");
        assert!(error.to_string().contains("unknown job kind"), "{error}");
    }
}

pub async fn a_stale_write_is_refused(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    let Some(done) = world.sql("UPDATE payment SET version = version + 1").await else { return };
    assert_eq!(done, Ok(1));
    // A batch that decided on the old row is rejected by the guard, reads the new one, and
    // succeeds.
    let mut runs = 0;
    let decide = |ws: &mut store::working_set::WorkingSet,
                  _: &mut dyn domain::decision::IdSource| {
        runs += 1;
        let fresh = ws.payments.get(&(tenant, payment.id)).cloned().expect("loaded");
        let mut changed = fresh.clone();
        changed.standing.msg = Some("seen".to_owned());
        if runs == 1 {
            ws.payments.load((tenant, payment.id), payment.clone());
        }
        ws.payments.put((tenant, payment.id), changed);
        ws.keep();
    };
    world.execute(&crate::world::payment_need(&payment), decide).await.expect("decided again");
    assert_eq!(runs, 2);
    let record =
        world.store.payment_record(tenant, payment.id).await.expect("read").expect("there");
    assert_eq!((record.payment.standing.msg.as_deref(), record.payment.version), (Some("seen"), 2));
}
