//! The review queue: evidence, single decisions, decisions with a second user, refunds, alerts,
//! payments.

use domain::deposit::DepositState;
use domain::ids::PaymentId;
use domain::user::{Role, Scope};
use domain::wallet_effects::{Alert, AlertKind};
use uuid::Uuid;

use super::Officer;
use crate::harness::{Bank, On, WalletBank, on_both_stores};
use crate::wallet::acts::sender;

on_both_stores! {
    the_queue_leads_to_the_evidence
    a_list_match_stands_beside_the_sender
    a_deposit_is_decided_once
    a_verdict_is_confirmed_for_what_was_seen
    everything_that_waits_stands_in_one_list
    more_than_the_limit_waits_for_a_second_person
    a_refund_requires_two_users
    a_refund_goes_where_the_sender_asks
    a_refund_is_withdrawn_before_it_is_approved
    alerts_are_closed_with_a_reason
    alerts_are_filtered_and_paged
    the_queue_goes_on_behind_a_deposit
    a_payment_in_review_is_decided_once
    a_failed_release_waits_for_its_refund
}

/// A name of the sample list, and a near match.
const LISTED: &str = "Zorblax Quibbleton";
const ALIKE: &str = "Zorblax Qibbletan";
/// The sender's refund address.
const TO: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/// A deposit held for review.
async fn waiting(bank: &WalletBank, wallet: &str) -> String {
    let request = bank.request(wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    bank.newest_is(wallet, DepositState::InReview).await.id.to_string()
}

async fn the_queue_leads_to_the_evidence(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let empty = officer.get("/review").await.page();
    for said in [
        "No deposits need",
        "No payments need",
        "No refunds need",
        "No orders need a review",
        "Alerts: 0 open",
    ] {
        assert!(empty.contains(said), "{said}: {empty}");
    }
    let wallet = bank.wallet("queue").await;
    let deposit = waiting(&bank, &wallet).await;
    let queue = officer.get("/review").await.page();
    assert!(
        queue.contains("Deposits: 1")
            && queue.contains(&deposit)
            && queue.contains("sandbox value"),
        "{queue}"
    );
    let page = officer.get(&format!("/deposits/{deposit}")).await.page();
    for shown in [
        "cents of the amount",
        "List version",
        "Policy version",
        "of 100",
        "Sandbox",
        "25.02 USDC",
        "Decide",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(officer.get("/deposits?state=in_review").await.page().contains(&deposit));
    assert!(officer.get("/deposits?state=completed").await.page().contains("No deposits match."));
    let today = bank.bank.running.now().date();
    for (query, is_shown) in [
        (format!("from={today}&to={today}"), true),
        ("from=2999-01-01".to_owned(), false),
        ("to=2020-01-01&state=in_review".to_owned(), false),
    ] {
        let page = officer.get(&format!("/deposits?{query}")).await.page();
        assert_eq!(page.contains(&deposit), is_shown, "{query}: {page}");
        assert!(page.contains("Filters in use"), "{page}");
    }
    officer.get("/deposits?from=yesterday").await.refused(422);
}

async fn a_list_match_stands_beside_the_sender(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("listed").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let (first, last) = LISTED.split_once(' ').expect("two names");
    bank.introduced(&request, sender(first, last)).await;
    bank.paid(&request, "").await;
    let held = bank.newest_is(&wallet, DepositState::LegalHold).await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let page = officer.get(&format!("/deposits/{}", held.id)).await.page();
    let (_, compared) = page.split_once("Sender and list entry S-1").expect("a comparison");
    for shown in
        [LISTED, "SAMPLE entry S-1, sanctioned name.", "Same", "Zorb Quib", "12 Jan 1970", "PAK"]
    {
        assert!(compared.contains(shown), "{shown}: {compared}");
    }
    assert!(page.contains("Legal hold") && page.contains("sender@example.com"), "{page}");
    // Others see whether birth dates match, not the dates.
    let operator = Officer::of(&bank, &[Role::Operator]).await;
    let page = operator.get(&format!("/deposits/{}", held.id)).await.page();
    assert!(page.contains("not shown to your roles") && !page.contains("12 Jan 1970"), "{page}");
    let page = officer.get(&format!("/deposits/{}", held.id)).await.page();
    assert!(!page.contains("Propose the refund"), "it is never given back");
    let refund = [("to", TO), ("why", "asked")];
    officer.post(&format!("/deposits/{}/refund", held.id), &refund).await.refused(409);
}

async fn a_verdict_is_confirmed_for_what_was_seen(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("confirmed").await;
    let deposit = waiting(&bank, &wallet).await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let case = format!("/deposits/{deposit}");
    let page = officer.get(&case).await.page();
    let seen = page
        .split_once("name=\"seen\" value=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(seen, _)| seen.to_owned())
        .expect("the state that the page shows");
    let (first, folded) = page.split_once("Other decisions").expect("a disclosure");
    assert!(first.contains("value=\"approve\"") && !first.contains("value=\"legal_hold\""));
    let (folded, _) = folded.split_once("</form>").expect("the form's end");
    assert!(folded.contains("value=\"legal_hold\""), "{page}");
    assert!(!first.contains("selected") && !folded.contains("selected"), "{page}");
    let confirm = officer.get(&format!("{case}/decide?verdict=approve&seen={seen}")).await.page();
    for said in
        ["Accept 25.02 USDC?", "Customer", "The money goes to the wallet.", "name=\"why\"", &seen]
    {
        assert!(confirm.contains(said), "{said}: {confirm}");
    }
    let by_address = officer.get(&format!("{case}/decide?verdict=approve")).await.page();
    assert!(by_address.contains(&format!("name=\"seen\" value=\"{seen}\"")), "{by_address}");
    officer.get(&format!("{case}/decide?verdict=perhaps&seen={seen}")).await.refused(409);
    let stale = officer.get(&format!("{case}/decide?verdict=approve&seen=1")).await.done();
    assert!(stale.ends_with(&case), "{stale}");
    let old = [("verdict", "approve"), ("why", "looked"), ("seen", "1")];
    officer.post(&format!("{case}/decide"), &old).await.refused(409);
    bank.newest_is(&wallet, DepositState::InReview).await;
    let viewer = Officer::of(&bank, &[Role::Viewer]).await;
    viewer.get(&format!("{case}/decide?verdict=approve")).await.refused(403);
}

async fn everything_that_waits_stands_in_one_list(on: On) {
    let bank = WalletBank::new(on).await;
    let officer = Officer::of(&bank, &[Role::Compliance, Role::Operator]).await;
    let empty = officer.get("/inbox").await.page();
    assert!(empty.contains("Nothing needs you") && empty.contains("<title>Needs you"), "{empty}");
    let wallet = bank.wallet("needs").await;
    let deposit = waiting(&bank, &wallet).await;
    let alert = Alert {
        kind: AlertKind::LowGas,
        subject: Uuid::new_v4(),
        what: "the operator has <1 ETH".to_owned(),
    };
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    store.raise_alert(tenant, &alert).await.expect("raised");
    let decide = format!("/deposits/{deposit}/decide");
    officer.post("/webhooks/disable", &[("why", "maintenance")]).await.refused(403);
    store.disable_webhook(tenant, "maintenance", "test").await.expect("disabled");
    let page = officer.get("/inbox").await.page();
    for said in [
        "<title>(3) Needs you",
        "Review 25.02 USDC",
        "Alert: low gas",
        "has &#60;1 ETH",
        " are off",
        &format!("/deposits/{deposit}"),
        "<b class=\"badge\">3<span",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(officer.get("/wallets").await.page().contains("<title>(3) Wallets"), "on every page");
    officer.post(&decide, &[("verdict", "reject"), ("why", "not known")]).await.done();
    assert!(officer.get("/inbox").await.page().contains("<title>(2) Needs you"));
}

async fn a_deposit_is_decided_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("once").await;
    let deposit = waiting(&bank, &wallet).await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let decide = format!("/deposits/{deposit}/decide");
    officer.post(&decide, &[("verdict", "approve"), ("why", " ")]).await.refused(422);
    officer.post(&decide, &[("verdict", "perhaps"), ("why", "looked")]).await.refused(422);
    let form = [("verdict", "approve"), ("why", "looked at the papers")];
    let (one, other) = tokio::join!(officer.post(&decide, &form), officer.post(&decide, &form));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "two clicks are one decision: {one:?} {other:?}");
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.02");
    let page = officer.get(&format!("/deposits/{deposit}")).await.page();
    assert!(
        page.contains("looked at the papers")
            && page.contains(&officer.login)
            && !page.contains("name=\"verdict\"")
    );
    officer.post(&decide, &[("verdict", "reject"), ("why", "too late")]).await.refused(409);
    // The page of a second reviewer is the one before the decision.
    let late = [("verdict", "reject"), ("why", "too late"), ("seen", "1")];
    let words = officer.post(&decide, &late).await.refused(409);
    assert!(words.contains(&format!("Latest action: {} ", officer.login)), "{words}");
    let case = officer.get(&format!("{decide}?verdict=reject&seen=1")).await.done();
    assert!(case.ends_with(&format!("/deposits/{deposit}")), "{case}");
    let filter = store::AuditFilter { subject: Some(deposit.clone()), ..Default::default() };
    let deeds = bank.bank.running.store().audit_entries(&filter, 200).await.expect("read");
    assert_eq!(deeds.len(), 1, "{deeds:?}");
    let (deed, action) = (&deeds[0].deed, deeds[0].note.action.as_str());
    assert_eq!((action, deed.why.as_str()), ("review.approve", "looked at the papers"));
    assert_eq!(
        (deed.via, deed.who.as_str()),
        (domain::audit::Via::Console, officer.login.as_str())
    );
}

async fn more_than_the_limit_waits_for_a_second_person(on: On) {
    let bank =
        WalletBank::agreed(on, |policy| policy.wallet.second_person_above = 25_000_000).await;
    let wallet = bank.in_use("limit").await;
    let deposit = waiting(&bank, &wallet).await;
    let officer = Officer::of(&bank, &[Role::Compliance, Role::Approver]).await;
    let decide = format!("/deposits/{deposit}/decide");
    let page = officer.get(&format!("/deposits/{deposit}")).await.page();
    assert!(page.contains("The amount exceeds 25.00"), "{page}");
    let proposal = officer.post(&decide, &[("verdict", "approve"), ("why", "known")]).await.done();
    assert!(proposal.starts_with("/console/approvals/"), "{proposal}");
    bank.newest_is(&wallet, DepositState::InReview).await;
    // Rejecting it needs only one user.
    officer.post(&decide, &[("verdict", "reject"), ("why", "not known")]).await.done();
    bank.newest_is(&wallet, DepositState::Rejected).await;
}

async fn a_refund_requires_two_users(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("refund").await;
    bank.deposit(&wallet, "25.01", "REJECTED").await;
    let deposit = bank.newest_is(&wallet, DepositState::Rejected).await.id;
    let (one, other) = (
        Officer::of(&bank, &[Role::Compliance]).await,
        Officer::of(&bank, &[Role::Approver]).await,
    );
    let (refund, approve) =
        (format!("/deposits/{deposit}/refund"), format!("/deposits/{deposit}/refund/approve"));
    let mistyped = TO.replace("aAeb", "aaeb");
    one.post(&refund, &[("to", &mistyped), ("why", "asked")]).await.refused(422);
    other.post(&refund, &[("to", TO), ("why", "asked")]).await.refused(403);
    one.post(&refund, &[("to", TO), ("why", "asked by mail")]).await.done();
    let on_chain = || async {
        bank.newest_is(&wallet, DepositState::Refunding).await.refund.is_some_and(|it| it.proposed)
    };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, on_chain).await);
    assert!(one.get("/review").await.page().contains("Refunds: 1"));
    assert!(other.get("/inbox").await.page().contains("Approve a refund of 25.01 USDC"));
    let agreed = [("seen_to", TO), ("seen_amount", "25010000"), ("why", "fine")];
    let shown = other.get(&format!("/deposits/{deposit}")).await.page();
    for (name, value) in &agreed[..2] {
        assert!(
            shown.contains(&format!("type=\"hidden\" name=\"{name}\" value=\"{value}\"")),
            "{name}: {shown}"
        );
    }
    one.post(&approve, &agreed).await.refused(409);
    // The reviewed page shows another address, another amount, or nothing.
    let elsewhere = mistyped.to_lowercase().replace("5aae", "5aaf");
    other.post(&approve, &[("seen_to", &elsewhere), agreed[1], agreed[2]]).await.refused(409);
    other.post(&approve, &[agreed[0], ("seen_amount", "25010001"), agreed[2]]).await.refused(409);
    other.post(&approve, &[agreed[2]]).await.refused(422);
    bank.newest_is(&wallet, DepositState::Refunding).await;
    other.post(&approve, &agreed).await.done();
    bank.newest_is(&wallet, DepositState::Refunded).await;
    // The bank's API says PAID, which is not what people understand.
    let requests = other.get("/requests").await.page();
    assert!(requests.contains("<span class=\"state plain\">Refunded</span>"), "{requests}");
    assert!(!requests.contains("PAID</span>"), "{requests}");
    let page = other.get(&format!("/deposits/{deposit}")).await.page();
    assert!(
        page.contains(&one.login) && page.contains(&other.login) && page.contains(TO),
        "{page}"
    );
    other.post(&approve, &agreed).await.refused(409);
    bank.books_are_right().await;
}

async fn a_refund_goes_where_the_sender_asks(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("asked").await;
    let request = bank.request(&wallet, "25.01", "USDC").await;
    bank.introduced(&request, sender("Omar", "Khan")).await;
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(&wallet, DepositState::Rejected).await.id;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let page = async || officer.get(&format!("/deposits/{deposit}")).await.page();
    let before = page().await;
    assert!(
        before.contains("No sender has entered a refund address") && !before.contains(TO),
        "{before}"
    );
    let wallets = bank.bank.running.wallets();
    let token = request["payment_link"].text().rsplit('/').next().expect("a token").to_owned();
    let submission = wallets.pay_page(&token).await.expect("there").senders[0].id;
    let to = domain::chain::Address::parse(TO).expect("an address");
    wallets.answer_where_back(&token, submission, to).await.expect("kept");
    let asked = page().await;
    for said in [
        &format!("The sender asks for a refund to {TO}."),
        "Omar Khan",
        "clean",
        &format!("name=\"to\" type=\"text\" value=\"{TO}\""),
        "Propose the refund",
    ] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    assert!(!asked.contains("have not answered"), "there is one sender: {asked}");
    let of_request =
        officer.get(&format!("/requests/{}", request["payment_request_id"].text())).await.page();
    for said in [
        "Refund addresses of senders",
        TO,
        " entered a refund address for payment request ",
        "submission ",
    ] {
        assert!(of_request.contains(said), "{said}: {of_request}");
    }
}

async fn a_refund_is_withdrawn_before_it_is_approved(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("withdraw").await;
    bank.deposit(&wallet, "25.01", "REJECTED").await;
    let deposit = bank.newest_is(&wallet, DepositState::Rejected).await.id;
    let (one, colleague) = (
        Officer::of(&bank, &[Role::Compliance]).await,
        Officer::of(&bank, &[Role::Compliance]).await,
    );
    let approver = Officer::of(&bank, &[Role::Approver]).await;
    let (page, withdraw) =
        (format!("/deposits/{deposit}"), format!("/deposits/{deposit}/refund/withdraw"));
    one.post(&withdraw, &[("why", "nothing is proposed")]).await.refused(409);
    one.post(&format!("{page}/refund"), &[("to", TO), ("why", "asked by mail")]).await.done();
    let on_chain = || async {
        bank.newest_is(&wallet, DepositState::Refunding).await.refund.is_some_and(|it| it.proposed)
    };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, on_chain).await);
    assert!(colleague.get(&page).await.page().contains("Withdraw the proposal"));
    assert!(!approver.get(&page).await.page().contains("Withdraw the proposal"));
    approver.post(&withdraw, &[("why", "no")]).await.refused(403);
    colleague.post(&withdraw, &[("why", " ")]).await.refused(422);
    colleague.post(&withdraw, &[("why", "she named another address")]).await.done();
    bank.newest_is(&wallet, DepositState::Rejected).await;
    let agreed = [("seen_to", TO), ("seen_amount", "25010000"), ("why", "fine")];
    approver.post(&format!("{page}/refund/approve"), &agreed).await.refused(409);
    let shown = one.get(&page).await.page();
    for said in [
        "refund.propose",
        "refund.withdraw",
        "she named another address",
        &colleague.login,
        "Propose the refund",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(one.get("/review").await.page().contains("No refunds need"));
}

async fn alerts_are_closed_with_a_reason(on: On) {
    let bank = WalletBank::new(on).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let alert = Alert {
        kind: AlertKind::LowGas,
        subject: Uuid::new_v4(),
        what: "the operator has <1 ETH".to_owned(),
    };
    store.raise_alert(tenant, &alert).await.expect("raised");
    let officer = Officer::of(&bank, &[Role::Operator]).await;
    let page = officer.get("/alerts").await.page();
    assert!(page.contains("low gas") && page.contains("has &#60;1 ETH"), "{page}");
    let chosen = officer.get(&format!("/alerts?alert={}", alert.id())).await.page();
    assert!(chosen.contains("Close this alert"), "{chosen}");
    let file = officer.get("/alerts/export.csv").await.page();
    assert_eq!(file.lines().next(), Some("alert_id,kind,since,subject,description"));
    assert!(file.contains(&format!("{},the operator has <1 ETH", alert.subject)), "{file}");
    Officer::of(&bank, &[Role::Viewer]).await.get("/alerts/export.csv").await.refused(403);
    let name = alert.id().to_string();
    officer.post("/alerts/close", &[("alert", &name), ("why", "")]).await.refused(422);
    officer.post("/alerts/close", &[("alert", &name), ("why", "topped up")]).await.done();
    assert!(officer.get("/alerts").await.page().contains("No open alerts."));
    officer.post("/alerts/close", &[("alert", &name), ("why", "topped up")]).await.refused(404);
}

async fn alerts_are_filtered_and_paged(on: On) {
    let bank = WalletBank::new(on).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let raise = async |kind, what: String| {
        store.raise_alert(tenant, &Alert { kind, subject: tenant.0, what }).await.expect("raised");
    };
    for number in 0..51 {
        raise(AlertKind::LowGas, format!("gas {number:02} is low")).await;
    }
    raise(AlertKind::Payout, "a payout came back".to_owned()).await;
    let officer = Officer::of(&bank, &[Role::Operator]).await;
    let of_gas = |page: &str| page.matches("is low").count();
    let first = officer.get("/alerts?kind=low_gas").await.page();
    assert!(of_gas(&first) == 50 && !first.contains("came back"), "{first}");
    assert!(first.contains("Kind: low gas") && first.contains("rel=\"next\""), "{first}");
    let next = first.split_once("/alerts?kind=low_gas&#38;after=").expect("a link").1;
    let next = next.split_once('"').expect("its end").0;
    // A colleague closes what is on the first page.
    let newest = store.alerts(tenant, 2).await.expect("read");
    let gas = newest.iter().find(|(_, alert)| alert.kind == AlertKind::LowGas).expect("one");
    store.close_alert(tenant, &gas.1, "a test").await.expect("closed");
    let second = officer.get(&format!("/alerts?kind=low_gas&after={next}")).await.page();
    assert!(of_gas(&second) == 1 && second.contains("rel=\"prev\""), "{second}");
    let file = officer.get("/alerts/export.csv?kind=payout&hide=1").await.page();
    assert_eq!(file.lines().next(), Some("alert_id,kind,subject,description"));
    assert_eq!(file.lines().count(), 2, "{file}");
    let none = officer.get("/alerts?to=2020-01-01").await.page();
    assert!(none.contains("No open alerts match."), "{none}");
    officer.get("/alerts?kind=nonsense").await.refused(422);
}

async fn the_queue_goes_on_behind_a_deposit(on: On) {
    let bank = WalletBank::new(on).await;
    let (wallet, other) = (bank.wallet("C-behind").await, bank.wallet("C-behind-2").await);
    let (one, two) = (waiting(&bank, &wallet).await, waiting(&bank, &other).await);
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let id = domain::ids::DepositId::parse(&one).expect("an id");
    let first = store.deposit(tenant, id).await.expect("read").expect("there");
    let mark = store::Mark::of_id(first.seen_at, first.id.0);
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let queue = officer.get("/review").await.page();
    assert!(queue.contains("Deposits: 2") && queue.contains(&one) && queue.contains(&two));
    let page = officer.get(&format!("/review?deposits_after={mark}")).await.page();
    assert!(page.contains(&two) && !page.contains(&one), "{page}");
    assert!(page.contains("Back to the oldest deposits"), "{page}");
    let page = officer.get(&format!("/review?deposits_before={mark}")).await.page();
    assert!(!page.contains(&two) && !page.contains(&one), "{page}");
    officer.get("/review?deposits_after=x").await.refused(422);
    let history = officer.get(&format!("/wallets/{wallet}?after={mark}")).await.page();
    let history = history.split_once(">History<").expect("a section").1;
    let history = history.split_once("<section").map_or(history, |(part, _)| part);
    assert!(!history.contains(&one), "{history}");
}

async fn a_payment_in_review_is_decided_once(on: On) {
    let bank = Bank::new(on).await;
    let made = bank.pay(&bank.any_quote().await.order().from(ALIKE)).await;
    let payment = made.ok()["id"].text().to_owned();
    let scope = Scope::Tenant(bank.tenant.id);
    let officer =
        Officer::sign_in(&bank.running, &bank.tenant.tag, scope, &[Role::Compliance]).await;
    let queue = officer.get("/review").await.page();
    assert!(
        queue.contains("Payments: 1")
            && queue.contains(&payment)
            && queue.contains("Held by screening"),
        "{queue}"
    );
    let page = officer.get(&format!("/review/payments/{payment}")).await.page();
    assert!(
        page.contains(ALIKE)
            && page.contains(LISTED)
            && page.contains("Sender and list entry S-1")
            && page.contains("No earlier payments under this name"),
        "{page}"
    );
    let (resolve, decide) = (
        format!("/review/payments/{payment}/resolve"),
        format!("/review/payments/{payment}/decide"),
    );
    officer.post(&resolve, &[("became", "succeeded"), ("why", "statement")]).await.refused(409);
    officer.post(&decide, &[("verdict", "reject"), ("why", "the same person")]).await.done();
    let id = PaymentId::parse(&payment).expect("an id");
    let record = bank
        .running
        .store()
        .payment_record(bank.tenant.id, id)
        .await
        .expect("read")
        .expect("there");
    assert_eq!(record.payment.standing.state.name(), "rejected");
    officer.post(&decide, &[("verdict", "approve"), ("why", "no")]).await.refused(409);
    assert!(officer.get("/review").await.page().contains("No payments need"));
}

async fn a_failed_release_waits_for_its_refund(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("failed-release").await;
    bank.deposit(&wallet, "25.04", "FAILED").await;
    let deposit = bank.newest_is(&wallet, DepositState::Failed).await.id;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let case = format!("/deposits/{deposit}");
    for (page, said) in [
        ("/inbox", "Release of 25.04 USDC failed"),
        ("/review", "Failed releases: 1"),
        ("/deposits?state=failed", "25.04 USDC"),
    ] {
        let page = officer.get(page).await.page();
        assert!(page.contains(said) && page.contains(&case), "{said}: {page}");
    }
    let page = officer.get("/overview").await.page();
    assert!(page.contains("; 1 failed"), "{page}");
    assert!(officer.get("/requests").await.page().contains("Release failed"));
}
