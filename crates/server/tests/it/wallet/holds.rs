//! Lifting legal holds: by two users, also on chain, and other deposits of the escrow continue
//! (`docs/adr`, 30).

use domain::audit::{AuditContext, Via};
use domain::chain::Address;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositRefusal, DepositState};
use domain::risk::ReasonCode;
use engine::wallets::Denied;
use testkit::wait::AT_MOST;

use super::acts::sender;
use super::refunds::{TO, approved, caller, hold_is, is_on_hold, proposed, refusal};
use crate::harness::{Json, On, WalletBank, on_both_stores};

on_both_stores! {
    what_waits_in_an_escrow_goes_on_when_its_hold_is_lifted
    an_escrow_is_free_when_the_last_hold_in_it_is_lifted
    a_deposit_is_held_again_after_its_hold_was_lifted
}

/// A payment from a listed address to the escrow of an unlisted sender.
async fn held(bank: &WalletBank, wallet: &str, request: &Json, minor: u64) -> Deposit {
    let before = bank.stored_deposits(wallet).await.len();
    let mut escrow = bank.escrow(request).await;
    if escrow == request["escrow_address"].text() {
        escrow = bank.introduced(request, sender("Ayesha", "Khan")).await;
    }
    let listed = Address::parse("0xbad0000000000000000000000000000000000002").expect("an address");
    bank.coins_of(listed, StableCoin::Usdc, &escrow, minor).await;
    let came = || async { bank.stored_deposits(wallet).await.len() > before };
    assert!(testkit::wait::until_async(AT_MOST, came).await, "{request:?}");
    bank.newest_is(wallet, DepositState::LegalHold).await
}

/// Waits until the service knows that the escrow is no longer held on chain.
async fn is_free(bank: &WalletBank, deposit: &Deposit) {
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let request = deposit.request.expect("in an escrow");
    let free = || async {
        store
            .request(tenant, request)
            .await
            .expect("read")
            .is_some_and(|it| !it.is_held(&deposit.to))
    };
    assert!(testkit::wait::until_async(AT_MOST, free).await, "{request} is still on hold");
}

async fn lifted(bank: &WalletBank, deposit: &Deposit) -> Result<(), Denied> {
    let by = AuditContext::new(Via::Cli, "ayesha")
        .together_with("omar")
        .because("another person of that name");
    bank.bank.running.wallets().lift_hold(&caller(bank), deposit.id, None, by, None).await.map(drop)
}

async fn what_waits_in_an_escrow_goes_on_when_its_hold_is_lifted(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("lifted").await;
    let request = bank.request(&wallet, "50.00", "USDC").await;
    let first = held(&bank, &wallet, &request, 25_000_000).await;
    is_on_hold(&bank, &wallet, &request).await;
    bank.paid(&request, "?amount=10.00").await;
    let second = bank.newest_is(&wallet, DepositState::InReview).await;
    assert_eq!(second.assessment.expect("assessed").reason, ReasonCode::EscrowHeld);

    lifted(&bank, &first).await.expect("it is on hold");
    assert_eq!(refusal(lifted(&bank, &first).await), DepositState::Rejected.refused());
    // It is screened again, approved, and released without a review.
    bank.newest_is(&wallet, DepositState::Completed).await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "10.00");
    hold_is(&bank, &wallet, &request, false).await;
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_000_000);
    // The held deposit stays rejected and is refunded like any other.
    proposed(&bank, &first, TO).await.expect("refundable");
    approved(&bank, &first, "bilal").await.expect("approved");
    let all = || bank.stored_deposits(&wallet);
    let is_back = || async {
        all().await.iter().any(|it| it.id == first.id && it.state == DepositState::Refunded)
    };
    assert!(testkit::wait::until_async(AT_MOST, is_back).await, "{:?}", all().await);
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 0);
    bank.books_are_right().await;
}

async fn an_escrow_is_free_when_the_last_hold_in_it_is_lifted(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("two").await;
    let request = bank.request(&wallet, "50.00", "USDC").await;
    let first = held(&bank, &wallet, &request, 25_000_000).await;
    let second = held(&bank, &wallet, &request, 10_000_000).await;
    assert_ne!(first.id, second.id);
    is_on_hold(&bank, &wallet, &request).await;
    lifted(&bank, &second).await.expect("it is on hold");
    assert_eq!(refusal(proposed(&bank, &second, TO).await), DepositRefusal::EscrowHeld);
    hold_is(&bank, &wallet, &request, true).await;
    lifted(&bank, &first).await.expect("it is on hold");
    hold_is(&bank, &wallet, &request, false).await;
    is_free(&bank, &first).await;
    proposed(&bank, &second, TO).await.expect("refundable");
    bank.books_are_right().await;
}

async fn a_deposit_is_held_again_after_its_hold_was_lifted(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("again").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let deposit = held(&bank, &wallet, &request, 25_000_000).await;
    is_on_hold(&bank, &wallet, &request).await;
    for _ in 0..2 {
        lifted(&bank, &deposit).await.expect("it is on hold");
        hold_is(&bank, &wallet, &request, false).await;
        is_free(&bank, &deposit).await;
        bank.decision_call(&deposit.id.to_string(), "legal_hold").send().await.ok();
        bank.newest_is(&wallet, DepositState::LegalHold).await;
        hold_is(&bank, &wallet, &request, true).await;
        assert_eq!(refusal(proposed(&bank, &deposit, TO).await), DepositState::LegalHold.refused());
    }
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_000_000);
}
