//! Corridors and rails: their properties, the selected route, and turning them off and on.

use domain::country::Country;
use domain::user::Role;

use super::{has, head_office, officer};
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    corridors_and_rails_are_shown_with_their_limits
    a_dry_run_gives_every_rails_reason
    a_dry_run_knows_what_a_sender_has_left
    a_closed_corridor_takes_nothing_new
    nothing_is_sent_over_a_rail_that_is_off
    only_head_office_switches
    a_switch_is_confirmed_on_a_page_that_names_it
}

async fn corridors_and_rails_are_shown_with_their_limits(on: On) {
    let bank = Bank::new(on).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/corridors").await.page();
    // Digits are grouped.
    let ungrouped = page.replace(',', "");
    for rail in &bank.running.payments().world().corridors.rails {
        has(&ungrouped, &[&rail.id.to_string(), &rail.max.to_string()]);
    }
    has(&page, &["PAK", "open", "in use", "every bank"]);
}

async fn a_dry_run_gives_every_rails_reason(on: On) {
    let bank = Bank::new(on).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/corridors?country=PAK&amount=1000&bank=SCBLPKKX").await.page();
    has(&page, &["1,000.00 PKR would be sent through", "selected"]);
    let page = viewer.get("/corridors?country=PAK&amount=99999999999").await.page();
    has(
        &page,
        &["99,999,999,999.00 PKR is not accepted: the corridor", "amount outside its limits"],
    );
    for (wrong, field) in [
        ("country=PAK&amount=x", "amount"),
        ("country=XX&amount=1", "country"),
        ("country=PAK&amount=-1", "amount"),
        ("country=PAK&amount=1&bank=AB", "bank"),
    ] {
        let html = viewer.get(&format!("/corridors?{wrong}")).await.refused(422);
        let marked = format!("<a href=\"#route-{field}\">");
        assert!(html.contains(&marked) && html.contains("Find route"), "{wrong}: {html}");
    }
}

/// The sender's limits are found through a payment: no document number is in a URL.
async fn a_dry_run_knows_what_a_sender_has_left(on: On) {
    let setup = Setup::new().at_noon("egy-ipn").set("rails.egy-ipn.daily_max", "70000.00");
    let bank = Bank::alone(on, setup).await;
    let viewer = officer(&bank, &[Role::Viewer]).await;
    has(
        &viewer.get("/corridors").await.page().replace(',', ""),
        &["70000.00 EGP a day 400000.00 EGP a month"],
    );
    // Above 40,000 EGP.
    let quote = bank.quote(Country::Egy, domain::currency::Currency::Aed, "4000").await;
    let id = bank.pay(&quote.order()).await.ok()["id"].text().to_owned();
    bank.reaches(Country::Egy, &id, "succeeded").await;
    let ask = "/corridors?country=EGY&amount=40000";
    has(&viewer.get(ask).await.page(), &["40,000.00 EGP would be sent through egy-ipn"]);
    let page = viewer.get(&format!("{ask}&payment={id}")).await.page().replace(',', "");
    has(
        &page,
        &[
            "40000.00 EGP would be sent through egy-ach",
            "exceeds its limit of 70000.00 EGP a day per sender",
        ],
    );
    for nobody in ["x", "00000000-0000-4000-8000-000000000000"] {
        viewer.get(&format!("/corridors?country=EGY&amount=1&payment={nobody}")).await.refused(422);
    }
    bank.finish().await;
}

/// The form that turns something off or on.
fn to<'a>(what: &'a str, to: &'a str) -> [(&'a str, &'a str); 3] {
    [("what", what), ("verdict", to), ("why", "the bank asked for it")]
}

async fn a_closed_corridor_takes_nothing_new(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let treasury = head_office(&bank, &[Role::Treasury]).await;
    let quote = bank.any_quote().await;
    treasury.post("/corridors/switch", &to("corridor:PAK", "off")).await.done();
    let words = format!("turned off by {}: the bank asked for it", treasury.login);
    has(&treasury.get("/corridors").await.page(), &[&words]);
    bank.quote_call(Country::Pak, domain::currency::Currency::Aed, "100")
        .send()
        .await
        .refused(400, "corridor_unavailable");
    bank.pay(&quote.order()).await.refused(400, "corridor_unavailable");
    bank.quote(Country::Ind, domain::currency::Currency::Aed, "100").await;
    has(&treasury.get("/corridors?country=PAK&amount=1000").await.page(), &["PAK is closed"]);
    let filter =
        store::AuditFilter { subject: Some("corridor:PAK".to_owned()), ..Default::default() };
    let noted = bank.running.store().audit_entries(&filter, 10).await.expect("read");
    assert!(noted.iter().any(|it| it.note.action == "switch.off" && it.deed.who == treasury.login));
    // Another node learns of it from the store; so does this one after a restart.
    drop(treasury);
    let bank = bank.restart().await;
    bank.quote_call(Country::Pak, domain::currency::Currency::Aed, "100")
        .send()
        .await
        .refused(400, "corridor_unavailable");
    let treasury = head_office(&bank, &[Role::Treasury]).await;
    treasury.post("/corridors/switch", &to("corridor:PAK", "on")).await.done();
    bank.any_quote().await;
    drop(treasury);
    bank.finish().await;
}

async fn nothing_is_sent_over_a_rail_that_is_off(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let treasury = head_office(&bank, &[Role::Treasury]).await;
    let world = bank.running.payments().world();
    let rails: Vec<String> =
        world.corridors.rails_of(Country::Pak).map(|rail| format!("rail:{}", rail.id)).collect();
    for rail in &rails {
        treasury.post("/corridors/switch", &to(rail, "off")).await.done();
    }
    let id = bank.paid(Country::Pak, |order| order).await;
    let page = format!("/payments/{id}");
    let waits = testkit::wait::until_async(testkit::wait::AT_MOST, || async {
        treasury
            .get(&page)
            .await
            .page()
            .contains("No rail can accept it now; the next attempt is at")
    });
    assert!(waits.await, "it waits: {}", treasury.get(&page).await.page());
    has(
        &treasury.get("/corridors?country=PAK&amount=1000").await.page(),
        &["unreachable or turned off"],
    );
    for rail in &rails {
        treasury.post("/corridors/switch", &to(rail, "on")).await.done();
    }
    bank.advance(domain::time::Span::mins(5)).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    drop(treasury);
    bank.finish().await;
}

async fn only_head_office_switches(on: On) {
    let bank = Bank::new(on).await;
    let treasury = officer(&bank, &[Role::Treasury]).await;
    treasury.post("/corridors/switch", &to("corridor:NPL", "off")).await.refused(403);
    assert!(!treasury.get("/corridors").await.page().contains("Turn off or on"));
    let head = head_office(&bank, &[Role::Treasury]).await;
    for wrong in [to("corridor:XXX", "off"), to("rail:none", "off"), to("corridor:NPL", "maybe")] {
        head.post("/corridors/switch", &wrong).await.refused(422);
    }
    assert!(!bank.running.payments().world().switches.is_closed(Country::Npl));
}

async fn a_switch_is_confirmed_on_a_page_that_names_it(on: On) {
    let bank = Bank::new(on).await;
    let head = head_office(&bank, &[Role::Treasury]).await;
    let page = head.get("/corridors").await.page();
    has(&page, &["Choose …</option>", "corridor to Nepal", "Turn off"]);
    let page = head.get("/corridors/switch?what=corridor:NPL&verdict=off").await.page();
    has(&page, &["Turn off the corridor to Nepal?", "no new quotes and payments", "danger"]);
    let page = head.get("/corridors/switch?what=corridor:NPL&verdict=on").await.page();
    has(&page, &["Turn on the corridor to Nepal?", "of every tenant again"]);
    let page = head.get("/corridors/switch?what=&verdict=off").await.refused(422);
    has(&page, &["Please choose a corridor or rail."]);
    assert!(!bank.running.payments().world().switches.is_closed(Country::Npl));
}
