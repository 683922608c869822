//! Wallets and payment requests: pages, blocking, and actions that require a second user.

use domain::user::Role;
use domain::wallet::WalletState;

use super::Officer;
use crate::harness::{On, WalletBank, on_both_stores};
use crate::wallet::acts::id;

on_both_stores! {
    a_wallet_shows_what_it_holds_and_what_came
    wallets_are_found_by_filters_and_saved_without_formulas
    one_person_blocks_a_wallet_once
    unblocking_and_blacklisting_wait_for_a_second_person
    a_request_shows_its_deposits_and_is_cancelled_once
    another_banks_officer_sees_nothing
    who_may_only_look_changes_nothing
}

async fn a_wallet_shows_what_it_holds_and_what_came(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("holds").await;
    let officer = Officer::of(&bank, &[Role::Viewer]).await;
    let page = officer.get(&format!("/wallets/{wallet}")).await.page();
    assert!(
        page.contains("No transactions yet.") && page.contains("No payment requests yet."),
        "{page}"
    );
    let (request, transaction) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let page = officer.get(&format!("/wallets/{wallet}")).await.page();
    let shown = [
        "25.00 USDC",
        "0.00 USDT",
        transaction["transaction_id"].text(),
        id(&request),
        "Wallet of holds",
    ];
    for shown in shown {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("<time datetime=\"20"), "instants are marked as such");
    assert!(
        !page.contains("<form method=\"post\" action=\"/console/t/"),
        "who only looks is offered nothing"
    );
}

async fn wallets_are_found_by_filters_and_saved_without_formulas(on: On) {
    let bank = WalletBank::new(on).await;
    let (one, other) = (bank.wallet("=1+1").await, bank.wallet("C-2").await);
    let officer = Officer::of(&bank, &[Role::Auditor]).await;
    let all = officer.get("/wallets").await.page();
    assert!(all.contains(&one) && all.contains(&other));
    let found = officer.get("/wallets?customer=C-2").await.page();
    assert!(found.contains(&other) && !found.contains(&one));
    assert!(officer.get("/wallets?status=BLACKLISTED").await.page().contains("No wallets match."));
    officer.get("/wallets?status=nonsense").await.refused(422);
    let file = officer.get("/wallets/export.csv?").await.page();
    assert!(
        file.contains(&format!("{one},'=1+1,")) && file.contains(&format!("{other},C-2,")),
        "{file}"
    );
    assert_eq!(file.lines().count(), 3);
    let viewer = Officer::of(&bank, &[Role::Viewer]).await;
    let page = viewer.get("/wallets").await.page();
    assert!(page.contains(&one) && !page.contains("export.csv"), "{page}");
    viewer.get("/wallets/export.csv").await.refused(403);
    for empty in ["/requests", "/orders", "/deposits"] {
        assert!(officer.get(empty).await.page().contains(" yet."), "{empty}");
        assert_eq!(
            officer.get(&format!("{empty}/export.csv")).await.page().lines().count(),
            1,
            "{empty}"
        );
    }
}

async fn one_person_blocks_a_wallet_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("block").await;
    let officer = Officer::of(&bank, &[Role::Compliance]).await;
    let path = format!("/wallets/{wallet}");
    assert!(officer.get(&path).await.page().contains("Block the wallet"));
    let block = format!("{path}/block");
    officer.post(&block, &[("reason", "SUSPICIOUS_ACTIVITY"), ("why", "")]).await.refused(422);
    officer.post(&block, &[("reason", "none"), ("why", "a call")]).await.refused(422);
    officer
        .post(&block, &[("reason", "SUSPICIOUS_ACTIVITY"), ("why", "a call"), ("hours", "0")])
        .await
        .refused(422);
    assert_eq!(bank.stored_wallet(&wallet).await.state, WalletState::Active);
    let form = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "a call"), ("hours", "12")];
    assert!(officer.post(&block, &form).await.done().ends_with(&path));
    let blocked = bank.stored_wallet(&wallet).await;
    let why = blocked.block.expect("a block");
    assert_eq!((blocked.state, why.details.as_str()), (WalletState::Blocked, "a call"));
    assert_eq!(why.auto_unblock_at.map(|at| at - why.at), Some(domain::time::Span::hours(12)));
    let page = officer.get(&path).await.page();
    assert!(
        page.contains("suspicious activity: a call") && !page.contains("Block the wallet"),
        "{page}"
    );
    let by = page.split_once("<dt>Blocked by</dt>").expect("who").1;
    assert!(by.starts_with(&format!("<dd>{}", officer.login)), "{by}");
    officer.post(&block, &form).await.refused(409);
    bank.webhooks(&wallet, 1).await;
}

async fn unblocking_and_blacklisting_wait_for_a_second_person(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("two").await;
    let officer = Officer::of(&bank, &[Role::Compliance, Role::Approver]).await;
    let path = format!("/wallets/{wallet}");
    let unblock = format!("{path}/unblock");
    officer.post(&unblock, &[("why", "cleared")]).await.refused(409);
    let form = [("reason", "PENDING_INVESTIGATION"), ("why", "a call")];
    officer.post(&format!("{path}/block"), &form).await.done();
    let proposal = officer.post(&unblock, &[("why", "cleared")]).await.done();
    assert!(proposal.starts_with("/console/approvals/"), "{proposal}");
    assert_eq!(
        bank.stored_wallet(&wallet).await.state,
        WalletState::Blocked,
        "nothing happens by one person"
    );
    officer.post(&unblock, &[("why", "cleared")]).await.refused(409);
    let page = officer.get(&path).await.page();
    assert!(
        page.contains("Waiting for approval")
            && page.contains("cleared")
            && page.contains(&proposal),
        "{page}"
    );
    let order =
        [("authority", "FMU"), ("reference", "FMU-1"), ("day", "2026-01-01"), ("why", "an order")];
    officer.post(&format!("{path}/blacklist"), &order[..3]).await.refused(422);
    let proposal = officer.post(&format!("{path}/blacklist"), &order).await.done();
    assert!(proposal.starts_with("/console/approvals/"), "{proposal}");
    assert_eq!(bank.stored_wallet(&wallet).await.state, WalletState::Blocked);
}

async fn a_request_shows_its_deposits_and_is_cancelled_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("asks").await;
    let (paid, transaction) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let open = bank.request(&wallet, "7.00", "USDT").await;
    let officer = Officer::of(&bank, &[Role::Operator]).await;
    let page = officer.get(&format!("/requests/{}", id(&paid))).await.page();
    for shown in [
        "PAID",
        "25.00 USDC",
        transaction["transaction_id"].text(),
        "Sandbox",
        paid["escrow_address"].text(),
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let listed = officer.get("/requests?status=ACTIVE").await.page();
    assert!(listed.contains(id(&open)) && !listed.contains(id(&paid)));
    let cancel = format!("/requests/{}/cancel", id(&open));
    officer.post(&cancel, &[("why", "asked twice")]).await.done();
    assert!(officer.get(&format!("/requests/{}", id(&open))).await.page().contains("CANCELLED"));
    officer.post(&cancel, &[("why", "asked twice")]).await.refused(409);
    let filter = store::AuditFilter { subject: Some(id(&open).to_owned()), ..Default::default() };
    let deeds = bank.bank.running.store().audit_entries(&filter, 200).await.expect("read");
    let [deed] = &deeds[..] else { panic!("{deeds:?}") };
    assert_eq!(
        (deed.note.action.as_str(), deed.deed.why.as_str()),
        ("request.cancel", "asked twice")
    );
    assert_eq!(
        (deed.deed.who.as_str(), deed.note.after.as_deref()),
        (&*officer.login, Some(r#"{"state":"CANCELLED"}"#))
    );
    officer.post(&format!("/requests/{}/cancel", id(&paid)), &[("why", "late")]).await.refused(409);
}

async fn another_banks_officer_sees_nothing(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let wallet = other.wallet("theirs").await;
    let (request, transaction) = other.deposit(&wallet, "25.00", "COMPLETED").await;
    let officer =
        Officer::of(&bank, &[Role::Compliance, Role::Operator, Role::Admin, Role::Treasury]).await;
    let below = [
        format!("/wallets/{wallet}"),
        format!("/requests/{}", id(&request)),
        format!("/deposits/{}", transaction["transaction_id"].text()),
    ];
    let theirs = &other.bank.tenant.tag;
    for below in &below {
        officer.get(below).await.refused(404);
        officer.fetch(&format!("/console/t/{theirs}{below}")).await.refused(404);
    }
    for list in [
        "/wallets",
        "/requests",
        "/orders",
        "/deposits",
        "/review",
        "/alerts",
        "/webhooks",
        "/policy",
        "/keys",
    ] {
        officer.fetch(&format!("/console/t/{theirs}{list}")).await.refused(404);
        assert!(!officer.get(list).await.page().contains(&wallet), "{list}");
    }
    let form = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "a call"), ("verdict", "reject")];
    for deed in [
        format!("{}/block", below[0]),
        format!("{}/cancel", below[1]),
        format!("{}/decide", below[2]),
    ] {
        officer.post(&deed, &form).await.refused(404);
    }
    assert!(!other.stored_wallet(&wallet).await.state.is_frozen());
}

async fn who_may_only_look_changes_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("looks").await;
    let officer = Officer::of(&bank, &[Role::Viewer, Role::Auditor]).await;
    let form = [("reason", "SUSPICIOUS_ACTIVITY"), ("why", "a call")];
    officer.post(&format!("/wallets/{wallet}/block"), &form).await.refused(403);
    officer
        .post("/policy/propose", &[("minimum_kyc", "ENHANCED"), ("why", "x")])
        .await
        .refused(403);
    officer.post("/keys/create", &[("use", "pay")]).await.refused(403);
    officer.post("/webhooks/rotate", &[("hours", "1"), ("why", "lost")]).await.refused(403);
    officer.post("/sandbox/clock", &[("hours", "1")]).await.refused(403);
    officer.fetch("/console/system").await.refused(403);
    assert!(!bank.stored_wallet(&wallet).await.state.is_frozen());
}
