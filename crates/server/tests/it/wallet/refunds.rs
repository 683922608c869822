//! Refunds from the operators' side: compliance proposes, another user approves, and separate keys
//! execute both halves.

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositRefusal, DepositState, SeenRefund};
use domain::ledger::AccountCode;
use engine::command::Refused;
use engine::payments::Caller;
use engine::wallets::Denied;

use super::acts::{id, sender};
use crate::harness::{Json, On, WalletBank, on_both_stores};

on_both_stores! {
    a_rejected_payment_is_refunded_by_two_users
    who_proposed_cannot_approve
    what_is_on_legal_hold_is_never_given_back
    what_else_is_in_an_escrow_on_hold_stays_there
    nothing_goes_back_to_a_listed_address_or_to_our_own
    what_is_in_the_wallet_is_not_given_back
    a_failed_release_is_given_back
    a_proposal_is_withdrawn_and_made_again
}

/// The sender's refund address, which differs from the paying address.
pub(super) const TO: Address = Address([0x5e; 20]);

pub(super) fn caller(bank: &WalletBank) -> Caller {
    Caller { tenant: bank.bank.tenant.id, policy: bank.bank.tenant.policy.clone().into() }
}

pub(super) async fn proposed(
    bank: &WalletBank,
    deposit: &Deposit,
    to: Address,
) -> Result<(), Denied> {
    let wallets = bank.bank.running.wallets();
    wallets.propose_refund(&caller(bank), deposit.id, to, "ayesha").await.map(drop)
}

/// Approves as soon as the proposal is on chain.
pub(super) async fn approved(bank: &WalletBank, deposit: &Deposit, by: &str) -> Result<(), Denied> {
    let wallets = bank.bank.running.wallets();
    let answer = std::sync::Mutex::new(None);
    let proposed = wallets.find_deposit(&caller(bank), deposit.id).await.expect("there").refund;
    let seen =
        SeenRefund { to: proposed.map_or(TO, |refund| refund.to), minor: Some(deposit.minor) };
    let there = testkit::wait::until_async(testkit::wait::AT_MOST, || async {
        let told = wallets.approve_refund(&caller(bank), deposit.id, seen, by).await.map(drop);
        let waits =
            matches!(&told, Err(Denied::Refused(Refused::Deposit(DepositRefusal::NotProposed))));
        *answer.lock().expect("not poisoned") = Some(told);
        !waits
    });
    assert!(there.await, "the proposal never reached the chain");
    answer.into_inner().expect("not poisoned").expect("an answer")
}

pub(super) fn refusal(told: Result<(), Denied>) -> DepositRefusal {
    match told {
        Err(Denied::Refused(Refused::Deposit(refusal))) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// A request whose payment was rejected and can be refunded.
async fn rejected(bank: &WalletBank, wallet: &str) -> (Json, Deposit) {
    let (request, _) = bank.deposit(wallet, "25.01", "REJECTED").await;
    (request, bank.newest_is(wallet, DepositState::Rejected).await)
}

async fn a_rejected_payment_is_refunded_by_two_users(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("refund").await;
    let before = bank.holds(StableCoin::Usdc, &TO.to_string()).await;
    let (request, deposit) = rejected(&bank, &wallet).await;
    proposed(&bank, &deposit, TO).await.expect("proposed");
    approved(&bank, &deposit, "bilal").await.expect("approved");
    let refunded = bank.newest_is(&wallet, DepositState::Refunded).await;
    assert!(refunded.refund.expect("a refund").tx.is_some());
    assert!(bank.holds(StableCoin::Usdc, &TO.to_string()).await >= before + 25_010_000);
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 0);
    // The request is unchanged, and the sender received the escrow's balance.
    bank.newest(&wallet, "REJECTED").await;
    let accounts = bank.bank.running.store().accounts(bank.bank.tenant.id).await.expect("read");
    let escrow = |code: &AccountCode| matches!(code, AccountCode::Escrow(..));
    assert!(accounts.iter().filter(|it| escrow(&it.code)).all(|it| it.balance().minor == 0));
    bank.books_are_right().await;
}

async fn who_proposed_cannot_approve(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("same").await;
    let (request, deposit) = rejected(&bank, &wallet).await;
    proposed(&bank, &deposit, TO).await.expect("proposed");
    assert_eq!(refusal(approved(&bank, &deposit, "ayesha").await), DepositRefusal::SamePerson);
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_010_000);
}

async fn what_is_on_legal_hold_is_never_given_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("legal").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
    bank.paid(&request, "").await;
    let held = bank.newest_is(&wallet, DepositState::LegalHold).await;
    assert_eq!(refusal(proposed(&bank, &held, TO).await), DepositState::LegalHold.refused());
    is_on_hold(&bank, &wallet, &request).await;
    // Nor one that is placed on legal hold afterwards.
    let other = bank.in_use("law").await;
    let (request, deposit) = rejected(&bank, &other).await;
    bank.decision_call(&deposit.id.to_string(), "legal_hold").send().await.ok();
    assert_eq!(refusal(proposed(&bank, &deposit, TO).await), DepositState::LegalHold.refused());
    is_on_hold(&bank, &other, &request).await;
    assert_eq!(
        bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await,
        25_010_000,
        "{}",
        id(&request)
    );
}

/// Waits until the bank's controller blocks transfers out of a request's escrow.
pub(super) async fn is_on_hold(bank: &WalletBank, wallet: &str, request: &Json) {
    hold_is(bank, wallet, request, true).await;
}

/// Waits until the bank's controller holds, or releases, a request's escrow.
pub(super) async fn hold_is(bank: &WalletBank, wallet: &str, request: &Json, on: bool) {
    let escrow = Address::parse(&bank.escrow(request).await).expect("an address");
    let controller = bank.controller(wallet).await;
    let held = || {
        let asked = super::acts::calls("legalHold(address)", &[super::acts::word(escrow)]);
        let answer =
            bank.devchain().ask(escrow.0.into(), controller.0.into(), asked).expect("an answer");
        std::future::ready(answer.last() == Some(&u8::from(on)))
    };
    assert!(
        testkit::wait::until_async(testkit::wait::AT_MOST, held).await,
        "{escrow}: on hold should be {on}"
    );
}

async fn what_else_is_in_an_escrow_on_hold_stays_there(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("beside").await;
    let request = bank.request(&wallet, "50.00", "USDC").await;
    let escrow = bank.introduced(&request, sender("Ayesha", "Khan")).await;
    let listed = Address::parse("0xbad0000000000000000000000000000000000002").expect("an address");
    bank.coins_of(listed, StableCoin::Usdc, &escrow, 25_000_000).await;
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    is_on_hold(&bank, &wallet, &request).await;
    // A payment without findings arrives in the same escrow.
    bank.paid(&request, "?amount=10.00").await;
    let second = bank.newest_is(&wallet, DepositState::InReview).await;
    let refused = bank.decision_call(&second.id.to_string(), "approve").send().await;
    assert_eq!(refused.status, 409, "{refused:?}");
    bank.decision_call(&second.id.to_string(), "reject").send().await.ok();
    assert_eq!(refusal(proposed(&bank, &second, TO).await), DepositRefusal::EscrowHeld);
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 35_000_000);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    bank.books_are_right().await;
}

async fn nothing_goes_back_to_a_listed_address_or_to_our_own(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("listed").await;
    let (_, deposit) = rejected(&bank, &wallet).await;
    let listed = Address::parse("0xbad0000000000000000000000000000000000001").expect("an address");
    let own = Address::parse(&bank.address(&wallet).await).expect("an address");
    for to in [listed, own, deposit.to, bank.controller(&wallet).await] {
        assert_eq!(
            refusal(proposed(&bank, &deposit, to).await),
            DepositRefusal::AddressRefused,
            "{to}"
        );
    }
    bank.newest_is(&wallet, DepositState::Rejected).await;
}

async fn what_is_in_the_wallet_is_not_given_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("completed").await;
    bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let deposit = bank.newest_is(&wallet, DepositState::Completed).await;
    assert_eq!(refusal(proposed(&bank, &deposit, TO).await), DepositState::Completed.refused());
}

async fn a_failed_release_is_given_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("failed").await;
    bank.deposit(&wallet, "25.04", "FAILED").await;
    let deposit = bank.newest_is(&wallet, DepositState::Failed).await;
    proposed(&bank, &deposit, Address([0x5f; 20])).await.expect("proposed");
    approved(&bank, &deposit, "bilal").await.expect("approved");
    bank.newest_is(&wallet, DepositState::Refunded).await;
    assert_eq!(bank.holds(StableCoin::Usdc, &Address([0x5f; 20]).to_string()).await, 25_040_000);
    bank.newest(&wallet, "FAILED").await;
    bank.books_are_right().await;
}

async fn a_proposal_is_withdrawn_and_made_again(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("withdrawn").await;
    let (request, deposit) = rejected(&bank, &wallet).await;
    proposed(&bank, &deposit, Address([0x60; 20])).await.expect("proposed");
    let wallets = bank.bank.running.wallets();
    let on_chain = || async {
        bank.newest_is(&wallet, DepositState::Refunding).await.refund.is_some_and(|it| it.proposed)
    };
    assert!(testkit::wait::until_async(testkit::wait::AT_MOST, on_chain).await);
    let by = domain::audit::AuditContext::new(domain::audit::Via::Cli, "ayesha")
        .because("another address");
    wallets.withdraw_refund(&caller(&bank), deposit.id, &by).await.expect("withdrawn");
    let withdrawn = bank.newest_is(&wallet, DepositState::Rejected).await;
    assert_eq!((withdrawn.refund, withdrawn.pot), (None, deposit.pot));
    let again = wallets.withdraw_refund(&caller(&bank), deposit.id, &by).await.map(drop);
    assert_eq!(refusal(again), DepositState::Rejected.refused());
    let store = bank.bank.running.store();
    let noted =
        store.audit_about(bank.bank.tenant.id, &deposit.id.to_string()).await.expect("read");
    let newest = (noted[0].note.action.as_str(), noted[0].deed.why.as_str());
    assert_eq!((noted.len(), newest), (2, ("refund.withdraw", "another address")));
    // The same money goes to another address, by two users; the first address got nothing.
    let second = Address([0x61; 20]);
    proposed(&bank, &deposit, second).await.expect("proposed again");
    approved(&bank, &deposit, "bilal").await.expect("approved");
    bank.newest_is(&wallet, DepositState::Refunded).await;
    assert_eq!(bank.holds(StableCoin::Usdc, &second.to_string()).await, 25_010_000);
    assert_eq!(bank.holds(StableCoin::Usdc, &Address([0x60; 20]).to_string()).await, 0);
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 0);
    bank.books_are_right().await;
}
