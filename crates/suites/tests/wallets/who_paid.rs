//! Attribution: a payment belongs to the submission whose escrow received it, and neither a
//! stranger with the link nor dust affects others' payments.

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositState};
use domain::payment_request::{PaymentRequest, SUBMISSIONS_MAX, SenderDetails, SenderInfo};
use domain::ports::Clock as _;
use domain::risk::{Hold, ReasonCode};
use domain::wallet::WalletState;
use domain::wallet_effects::AlertKind;
use domain::wallet_event::WalletEventKind;
use engine::command::Refused;
use engine::wallets::Denied;

use crate::outside::LISTED;
use crate::world::{COIN, Setup, TENANT, USDC, World, with};

const PAYER: Address = Address([0xaa; 20]);
const STRANGER: Address = Address([0x5a; 20]);

fn with_dust(test: impl AsyncFnOnce(World)) {
    with(Setup { release_min: COIN, ..Setup::default() }, test);
}

fn named(first: &str, last: &str) -> SenderDetails {
    let text = |text: &str| Some(text.to_owned());
    SenderDetails {
        first_name: text(first),
        last_name: text(last),
        email: None,
        phone_number: text("+971501234567"),
        custodial_provider: text("Exchange"),
    }
}

async fn says(world: &World, request: &PaymentRequest, first: &str, last: &str) -> SenderInfo {
    world.wallets.submit_sender(&request.token, named(first, last), None).await.expect("taken")
}

/// A payment to the escrow of a submission, or to the request's own: counted, with all follow-up
/// work done.
async fn paid(
    world: &World,
    request: &PaymentRequest,
    to: Option<&SenderInfo>,
    from: Address,
    minor: i64,
) -> Deposit {
    let found = world.found_at(world.vault(request, to), from, USDC, minor).await;
    let counted = world.counted(found).await;
    world.work().await;
    world.deposit_now(counted.id).await
}

async fn state_of(world: &World, deposit: &Deposit) -> DepositState {
    world.deposit_now(deposit.id).await.state
}

#[test]
fn a_strangers_form_does_not_affect_anothers_payment() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        for _ in 0..3 {
            says(&world, &request, "Edgar", "Evil").await;
        }
        let deposit = paid(&world, &request, Some(&imran), PAYER, 25 * COIN).await;
        assert_eq!(
            (deposit.state, deposit.sender.first_name.as_deref()),
            (DepositState::Approved, Some("Imran"))
        );
        // Nor does a submission after the payment.
        says(&world, &request, "Edgar", "Evil").await;
        let kept = world.deposit_now(deposit.id).await;
        assert_eq!(kept.sender, imran.details);
        assert_eq!(kept.assessment.map(|it| it.reason), Some(ReasonCode::ChecksPassed));
    });
}

#[test]
fn a_strangers_rejected_payment_holds_only_its_own_escrow() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        let stranger = says(&world, &request, "Edgar", "Evil").await;
        let refused = paid(&world, &request, Some(&stranger), STRANGER, 2 * COIN).await;
        assert_eq!(refused.state, DepositState::LegalHold);
        let now = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert!(now.is_held(&stranger.escrow.expect("has one")));
        let honest = paid(&world, &request, Some(&imran), PAYER, 25 * COIN).await;
        assert_eq!(honest.state, DepositState::Approved, "{:?}", honest.assessment);
        let unnamed = paid(&world, &request, None, PAYER, COIN).await;
        assert_eq!(unnamed.state, DepositState::Approved, "{:?}", unnamed.assessment);
        // Its lift is separate as well.
        assert!(!now.is_held(&imran.escrow.expect("has one")) && !now.is_held(&request.escrow));
    });
}

#[test]
fn repeated_dust_under_a_listed_name_neither_holds_nor_blocks() {
    with_dust(async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        let mut dust = Vec::new();
        for _ in 0..5 {
            let stranger = says(&world, &request, "Edgar", "Evil").await;
            dust.push(paid(&world, &request, Some(&stranger), STRANGER, 1).await);
        }
        // Also to the honest sender's address, and to the wallet's and the request's own.
        dust.push(paid(&world, &request, Some(&imran), LISTED, 1).await);
        dust.push(paid(&world, &request, None, LISTED, 1).await);
        for deposit in &dust {
            let found = deposit.assessment.as_ref().expect("screened, for compliance");
            assert_eq!(
                (deposit.state, found.hold),
                (DepositState::Dust, Some(Hold::Legal)),
                "{found:?}"
            );
        }
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Active);
        let kinds: Vec<_> =
            world.events().await.into_iter().map(|entry| entry.event.kind()).collect();
        assert_eq!(kinds, [WalletEventKind::PaymentReceived; 7]);
        let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
        let listed = alerts.iter().filter(|(_, alert)| alert.kind == AlertKind::ListedDust).count();
        assert_eq!(listed, 1, "compliance is alerted once for the request: {alerts:?}");
        let honest = paid(&world, &request, Some(&imran), PAYER, 25 * COIN).await;
        assert_eq!(
            (honest.state, honest.riders.len()),
            (DepositState::Approved, 0),
            "{:?}",
            honest.assessment
        );
        let this = (honest.id, honest.request);
        let velocity = world
            .store
            .velocity(TENANT, wallet.id, this, world.clock.now())
            .await
            .expect("readable");
        assert_eq!((velocity.day_count, velocity.month_rejections), (0, 0));
    });
}

#[test]
fn rejections_count_once_per_link_for_the_wallet() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        for _ in 0..4 {
            let stranger = says(&world, &request, "Imran", "Aslam").await;
            assert_eq!(
                paid(&world, &request, Some(&stranger), LISTED, COIN).await.state,
                DepositState::LegalHold
            );
        }
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Active);
        let mut last = None;
        for _ in 0..2 {
            let another = world.request(&wallet, 25 * COIN).await;
            let stranger = says(&world, &another, "Imran", "Aslam").await;
            last = paid(&world, &another, Some(&stranger), LISTED, COIN).await.assessment;
        }
        assert_eq!(last.map(|it| it.reason), Some(ReasonCode::RepeatedRejections));
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Blocked);
    });
}

/// A stranger can enter any name, but not pay from a listed address.
#[test]
fn names_that_a_stranger_enters_block_no_wallet() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        for _ in 0..5 {
            let request = world.request(&wallet, 25 * COIN).await;
            let stranger = says(&world, &request, "Edgar", "Evil").await;
            let refused = paid(&world, &request, Some(&stranger), STRANGER, COIN).await;
            let reason = refused.assessment.map(|it| it.reason);
            assert_eq!(
                (refused.state, reason),
                (DepositState::LegalHold, Some(ReasonCode::SanctionedName))
            );
        }
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Active);
        let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
        let named: Vec<_> = alerts
            .iter()
            .filter(|(_, alert)| alert.kind == AlertKind::ListedNames)
            .map(|(_, alert)| alert.subject)
            .collect();
        assert_eq!(named, [wallet.id.0], "one for the wallet: {alerts:?}");
        let request = world.request(&wallet, 25 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        let honest = paid(&world, &request, Some(&imran), PAYER, 25 * COIN).await;
        assert_eq!(honest.state, DepositState::Approved, "{:?}", honest.assessment);
        // Names never hide what counts.
        for _ in 0..3 {
            let request = world.request(&wallet, 25 * COIN).await;
            let stranger = says(&world, &request, "Edgar", "Evil").await;
            paid(&world, &request, Some(&stranger), LISTED, COIN).await;
        }
        assert_eq!(world.wallet_now(wallet.id).await.state, WalletState::Blocked);
    });
}

#[test]
fn dust_waits_until_its_address_holds_more_and_is_released_with_it() {
    with_dust(async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let (imran, other) = (
            says(&world, &request, "Imran", "Aslam").await,
            says(&world, &request, "Sana", "Mir").await,
        );
        let first = paid(&world, &request, Some(&imran), PAYER, 1).await;
        let elsewhere = paid(&world, &request, Some(&other), PAYER, 1).await;
        assert_eq!((first.state, first.release), (DepositState::Dust, None));
        let real = paid(&world, &request, Some(&imran), PAYER, 25 * COIN).await;
        assert_eq!((real.state, real.riders.as_slice()), (DepositState::Approved, &[first.id][..]));
        assert_eq!(state_of(&world, &first).await, DepositState::Approved);
        assert_eq!(state_of(&world, &elsewhere).await, DepositState::Dust, "of another address");
        let now = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert_eq!((now.state.name(), now.received.usdc), ("PAID", 25 * COIN + 1));
        assert_eq!(world.store.verify_books(TENANT).await, Ok(Vec::new()));
    });
}

#[test]
fn dust_is_released_once_it_adds_up_to_enough() {
    with_dust(async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        let mut parts = Vec::new();
        for _ in 0..3 {
            parts.push(paid(&world, &request, Some(&imran), PAYER, 400_000).await);
        }
        assert_eq!(state_of(&world, &parts[1]).await, DepositState::Approved);
        let last = world.deposit_now(parts[2].id).await;
        assert_eq!((last.state, last.riders.len()), (DepositState::Approved, 2));
        assert_eq!(world.deposit_now(parts[0].id).await.release, last.release, "one movement");
        let now = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert_eq!(now.received.usdc, 1_200_000);
    });
}

#[test]
fn a_payment_without_a_submission_has_an_unknown_sender() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 2_000 * COIN).await;
        says(&world, &request, "Edgar", "Evil").await;
        let small = paid(&world, &request, None, PAYER, 25 * COIN).await;
        assert_eq!(
            (small.state, &small.sender),
            (DepositState::Approved, &SenderDetails::default())
        );
        let large = paid(&world, &request, None, PAYER, 1_000 * COIN).await;
        let found = large.assessment.expect("screened");
        assert_eq!(
            (large.state, found.reason),
            (DepositState::InReview, ReasonCode::SenderUnverified)
        );
        assert!(found.evidence.iter().all(|line| !line.contains("Evil")), "{found:?}");
    });
}

#[test]
fn the_form_requires_all_that_the_risk_check_needs() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 1_000 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        assert_eq!(imran.details.email, None);
        let deposit = paid(&world, &request, Some(&imran), PAYER, 1_000 * COIN).await;
        let found = deposit.assessment.expect("screened");
        assert_eq!((deposit.state, found.score), (DepositState::Approved, 0), "{found:?}");
    });
}

#[test]
fn payments_to_several_addresses_of_a_request_add_up() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let (one, two) = (
            says(&world, &request, "Imran", "Aslam").await,
            says(&world, &request, "Sana", "Mir").await,
        );
        for (to, minor) in [(Some(&one), 10 * COIN), (Some(&two), 10 * COIN), (None, 5 * COIN)] {
            assert_eq!(
                paid(&world, &request, to, PAYER, minor).await.state,
                DepositState::Approved
            );
        }
        let now = world.store.request(TENANT, request.id).await.expect("readable").expect("there");
        assert_eq!((now.state.name(), now.exception().name()), ("PAID", "NONE"));
        let books = world.store.vault_books(TENANT, None, 9).await.expect("readable");
        let escrow = books.iter().find(|it| it.address == request.escrow).expect("there");
        assert_eq!(escrow.others, [one.escrow.expect("has one"), two.escrow.expect("has one")]);
        assert_eq!(escrow.account.balance().minor, 25 * COIN);
    });
}

/// A sender's escrow that holds both coins has two accounts, and counts once for each.
#[test]
fn both_coins_in_a_senders_escrow_count_once() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let one = says(&world, &request, "Imran", "Aslam").await;
        paid(&world, &request, Some(&one), PAYER, 10 * COIN).await;
        let vault = world.vault(&request, Some(&one));
        let found = world.found_at(vault, PAYER, StableCoin::Usdt, 5 * COIN).await;
        world.counted(found).await;
        world.work().await;
        let books = world.store.vault_books(TENANT, None, 9).await.expect("readable");
        let escrow = books.iter().filter(|it| it.address == request.escrow);
        let held = escrow.map(|it| (it.coin, it.others.as_slice(), it.account.balance().minor));
        let held: Vec<_> = held.collect();
        let own = [one.escrow.expect("has one")];
        assert_eq!(held, [(USDC, &own[..], 10 * COIN), (StableCoin::Usdt, &own, 5 * COIN)]);
    });
}

#[test]
fn the_same_details_from_the_same_browser_are_one_submission_and_from_two_phones_are_two() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let submit = async |details, before| {
            world.wallets.submit_sender(&request.token, details, before).await
        };
        let first = submit(named("Imran", "Aslam"), None).await.expect("taken");
        let again = submit(named("Imran", "Aslam"), Some(first.id)).await.expect("taken");
        assert_eq!(again, first);
        let phone = submit(named("Imran", "Aslam"), None).await.expect("taken");
        let changed = submit(named("Imran", "Khan"), Some(first.id)).await.expect("taken");
        let numbers = [first.number, phone.number, changed.number];
        assert_eq!(numbers, [Some(1), Some(2), Some(3)], "each has its own address");
        // The browser of another link is unknown here.
        let elsewhere = world.request(&wallet, COIN).await;
        let foreign = world
            .wallets
            .submit_sender(&elsewhere.token, named("Imran", "Aslam"), Some(first.id))
            .await;
        assert_eq!(foreign.expect("taken").request, elsewhere.id);
    });
}

#[test]
fn a_link_limits_submissions_and_accepted_ones_still_pay() {
    with(Setup::default(), async |world| {
        let wallet = world.wallet().await;
        let request = world.request(&wallet, 25 * COIN).await;
        let imran = says(&world, &request, "Imran", "Aslam").await;
        for _ in 1..SUBMISSIONS_MAX {
            says(&world, &request, "Edgar", "Evil").await;
        }
        let full = world.wallets.submit_sender(&request.token, named("Sana", "Mir"), None).await;
        assert!(matches!(full, Err(Denied::Refused(Refused::Submissions(_)))), "{full:?}");
        let again = world
            .wallets
            .submit_sender(&request.token, imran.details.clone(), Some(imran.id))
            .await;
        assert_eq!(again.as_ref().ok(), Some(&imran));
        assert_eq!(
            paid(&world, &request, Some(&imran), PAYER, 25 * COIN).await.state,
            DepositState::Approved
        );
    });
}
