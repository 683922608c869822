//! The installation's health, and sandbox tools.

use domain::user::{Role, Scope};

use super::Officer;
use crate::harness::service::Setup;
use crate::harness::{Bank, On, WalletBank, on_both_stores};
use crate::wallet::acts::id;

on_both_stores! {
    health_is_shown_to_users_of_the_installation
    the_sandbox_pays_and_gives
    the_clock_is_moved_and_the_bank_steered
}

async fn health_is_shown_to_users_of_the_installation(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("health").await;
    bank.deposit(&wallet, "25.00", "COMPLETED").await;
    // Its expiry is a job.
    bank.request(&wallet, "25.00", "USDC").await;
    let tag = &bank.bank.tenant.tag;
    let officer = Officer::sign_in(&bank.bank.running, tag, Scope::All, &[Role::Operator]).await;
    let page = officer.fetch("/console/system").await.page();
    let engine = if on == On::Sqlite { "SQLite" } else { "PostgreSQL" };
    let shown = [
        engine,
        "watch",
        "answers",
        "Processed up to",
        "the shipped sample",
        "USDT/PKR",
        "Job queues",
        "Version",
    ];
    for shown in shown {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let one = Officer::of(&bank, &[Role::Operator, Role::Admin]).await;
    one.fetch("/console/system").await.refused(403);
    let coin = [("chain", "1"), ("coin", "USDC"), ("at_block", "1"), ("why", "looked")];
    officer.send("/console/system/coins", &coin).await.refused(403);
    let admin = Officer::sign_in(&bank.bank.running, tag, Scope::All, &[Role::Admin]).await;
    admin.send("/console/system/coins", &coin).await.refused(409);
}

async fn the_sandbox_pays_and_gives(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("sandbox").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let officer = Officer::of(&bank, &[Role::Operator]).await;
    assert!(officer.get("/sandbox").await.page().contains("The simulated sender"));
    let form = |request: &str| {
        [("request", request.to_owned()), ("coin", "USDC".to_owned()), ("amount", String::new())]
    };
    let pay = async |request: &str| {
        let form = form(request);
        let fields: Vec<(&str, &str)> =
            form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        officer.post("/sandbox/pay", &fields).await
    };
    pay("nothing").await.refused(422);
    assert!(pay(id(&request)).await.done().ends_with(&format!("/requests/{}", id(&request))));
    bank.newest(&wallet, "COMPLETED").await;
    officer.post("/sandbox/trigger", &[("scenario", "nothing")]).await.refused(422);
    let made = officer.post("/sandbox/trigger", &[("scenario", "wallet.blocked")]).await.page();
    let blocked = made
        .split_once("blocked</th>")
        .and_then(|(_, rest)| rest.split_once("class=\"id long\">"))
        .expect("an id")
        .1;
    let blocked = blocked.split_once('<').expect("its end").0;
    assert_eq!(bank.stored_wallet(blocked).await.state, domain::wallet::WalletState::Blocked);
    officer
        .post("/sandbox/trigger", &[("scenario", "exchange.complete"), ("wallet", blocked)])
        .await
        .refused(409);
    let other = WalletBank::new(on).await;
    let theirs = other.request(&other.wallet("theirs").await, "25.00", "USDC").await;
    pay(id(&theirs)).await.refused(422);
    let to = "0x00000000000000000000000000000000000ac0de";
    let give = async |amount: &str| {
        officer
            .post("/sandbox/faucet", &[("address", to), ("coin", "USDT"), ("amount", amount)])
            .await
    };
    give("1000001").await.refused(422);
    give("12.50").await.done();
    assert!(bank.holds(domain::currency::StableCoin::Usdt, to).await >= 12_500_000);
}

async fn the_clock_is_moved_and_the_bank_steered(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    // All tenants share one clock: users of a single tenant may not move it.
    let scope = Scope::Tenant(bank.tenant.id);
    let one =
        Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[Role::Operator, Role::Admin])
            .await;
    one.post("/sandbox/clock", &[("hours", "2")]).await.refused(403);
    one.post("/sandbox/trigger", &[("scenario", "quote.expired")]).await.refused(403);
    let page = one.get("/sandbox").await.page();
    assert!(!page.contains("Advance") && !page.contains("moves the clock"), "{page}");
    let officer =
        Officer::sign_in(&bank.running, &bank.tenant.tag, Scope::All, &[Role::Operator]).await;
    assert!(officer.get("/sandbox").await.page().contains("Advance"));
    officer.post("/sandbox/clock", &[("hours", "0")]).await.refused(422);
    let before = bank.running.now();
    officer.post("/sandbox/clock", &[("hours", "2")]).await.done();
    assert!(bank.running.now() - before >= domain::time::Span::hours(2));
    let quote = bank.any_quote().await;
    let country = quote.country();
    let made = bank.pay(&quote.order()).await;
    let payment = made.ok()["id"].text().to_owned();
    bank.reaches(country, &payment, "succeeded").await;
    officer
        .post("/sandbox/steer", &[("payment", &payment), ("ending", "burnt")])
        .await
        .refused(422);
    officer
        .post("/sandbox/steer", &[("payment", "none"), ("ending", "reversed")])
        .await
        .refused(422);
    officer.post("/sandbox/steer", &[("payment", &payment), ("ending", "reversed")]).await.done();
    bank.reaches(country, &payment, "reversed").await;
    let page = officer.get(&format!("/sandbox?payment={payment}")).await.page();
    assert!(page.contains("returned") && page.contains("paid"), "{page}");
    officer
        .post("/sandbox/steer", &[("payment", &payment), ("ending", "failed")])
        .await
        .refused(409);
    // This installation has no chain.
    let give = [
        ("address", "0x00000000000000000000000000000000000ac0de"),
        ("coin", "USDC"),
        ("amount", "1"),
    ];
    officer.post("/sandbox/faucet", &give).await.refused(409);
    drop((one, officer));
    bank.finish().await;
}
