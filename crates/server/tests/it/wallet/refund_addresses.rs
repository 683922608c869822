//! Refund addresses that senders enter on the payment page (ADR 29): asked for through the link,
//! and screened.

use domain::audit::{AuditContext, Via};
use domain::chain::{Address, KeyRole};
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositRefusal, DepositState, SeenRefund};
use domain::ids::PaymentRequestId;
use domain::payment_request::{Named, RefundTo};
use domain::screening::Verdict;
use domain::wallet_effects::AlertKind;
use engine::command::deposits::{DepositAction, DepositRef};
use engine::command::{Action, Command, Outcome, Refused};
use engine::payments::Caller;
use engine::wallets::Denied;
use testkit::wait::AT_MOST;

use super::acts::{calls, id, word};
use super::pay_page::{Link, text};
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_sender_sets_the_refund_address_until_a_refund_is_proposed
    an_address_that_nothing_can_come_back_from_is_refused_in_the_same_words
    a_legal_hold_looks_alike_and_a_listed_address_is_not_disclosed
    deposits_from_before_a_visitors_submission_are_not_theirs
    only_the_sender_whose_address_was_paid_is_asked
    a_wrong_token_is_asked_about_while_a_person_looks_at_it
    an_address_that_is_listed_by_now_is_not_approved
    a_blacklist_that_a_command_could_not_ask_stops_the_payment_back
}

/// The example of EIP-55.
const OWN: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const OTHER: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
/// An entry of the sample list.
const LISTED: &str = "0xbad0000000000000000000000000000000000001";
const ASKED: &str = "Where should we send a refund?";

/// A bank on a dedicated service, because form limits are per address.
async fn bank_of_its_own(on: On) -> WalletBank {
    WalletBank::alone(on, Setup::with_wallets()).await
}

fn caller(bank: &WalletBank) -> Caller {
    Caller { tenant: bank.bank.tenant.id, policy: bank.bank.tenant.policy.clone().into() }
}

/// A request with its page's link, its sender's page, and its payment, which was rejected.
async fn rejected<'a>(bank: &'a WalletBank, wallet: &str) -> (Json, Link<'a>, String, Deposit) {
    let request = bank.request(wallet, "25.01", "USDC").await;
    let link = Link::of(bank, &request);
    let sender = link.introduced().await;
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(wallet, DepositState::Rejected).await;
    (request, link, sender, deposit)
}

async fn given(bank: &WalletBank, request: &Json) -> Vec<RefundTo> {
    let request = PaymentRequestId::parse(id(request)).expect("an id");
    bank.bank.running.store().refund_addresses(bank.bank.tenant.id, request).await.expect("read")
}

async fn named(bank: &WalletBank, deposit: &Deposit) -> Named {
    bank.bank.running.wallets().named_for(&caller(bank), deposit).await.expect("read")
}

async fn answers(link: &Link<'_>, sender: &str, address: &str) -> u16 {
    link.submit(sender, &format!("address={address}")).await.status
}

async fn page(link: &Link<'_>, below: &str) -> String {
    text(&link.get(&format!("{below}?lang=en")).send().await)
}

async fn a_sender_sets_the_refund_address_until_a_refund_is_proposed(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("back").await;
    let (request, link, sender, deposit) = rejected(&bank, &wallet).await;
    let asked = page(&link, &sender).await;
    assert!(
        asked.contains(ASKED)
            && asked.contains("name=\"address\"")
            && !asked.contains("http-equiv"),
        "{asked}"
    );
    // A visitor with only the link is referred to the sender's page and cannot answer.
    let visitor = page(&link, "").await;
    assert!(
        visitor.contains("open the page where you saw") && !visitor.contains("name=\"address\""),
        "{visitor}"
    );
    assert_eq!(answers(&link, "/11111111-1111-4111-8111-111111111111", OWN).await, 404);
    let mistyped = link.submit(&sender, &format!("address={}", OWN.replace("aAeb", "aaeb"))).await;
    assert!(
        mistyped.status == 422 && text(&mistyped).contains("it contains a wrong character"),
        "{mistyped:?}"
    );
    assert_eq!(given(&bank, &request).await, [], "nothing of that was an answer");

    let kept = link
        .submit(&format!("{sender}?lang=ur"), &format!("address=+{}", OWN.to_lowercase()))
        .await;
    let back = format!("{}{sender}?lang=ur", link.path);
    assert_eq!((kept.status, kept.header("location")), (303, Some(back.as_str())));
    let shown = page(&link, &sender).await;
    assert!(shown.contains(OWN) && shown.contains("You can change it until"), "{shown}");
    assert!(!page(&link, "").await.contains(OWN), "only the sender sees it");
    assert_eq!(answers(&link, &sender, OWN).await, 303, "submitted twice, kept once");
    assert_eq!(answers(&link, &sender, OTHER).await, 303);
    let all = given(&bank, &request).await;
    let (first, second) = (&all[0], &all[1]);
    assert_eq!(
        (all.len(), first.to.to_string(), second.to.to_string()),
        (2, OWN.to_owned(), OTHER.to_owned())
    );
    assert_eq!(
        (second.screened.verdict(), second.screened.list_version.is_empty()),
        (Verdict::Clean, false)
    );
    assert_eq!(named(&bank, &deposit).await, Named::One(second.clone()));
    let store = bank.bank.running.store();
    let noted = store.audit_about(bank.bank.tenant.id, id(&request)).await.expect("read");
    let of_sender = |entry: &&domain::audit::Entry| entry.note.action == "refund.address";
    let noted: Vec<_> = noted.iter().filter(of_sender).collect();
    let newest = noted[0];
    assert_eq!(
        (noted.len(), newest.deed.via, newest.deed.who.as_str()),
        (2, Via::Program, "payment link")
    );
    assert!(newest.note.after.as_deref().is_some_and(|after| after.contains(OTHER)), "{newest:?}");

    let wallets = bank.bank.running.wallets();
    let to = second.to;
    wallets.propose_refund(&caller(&bank), deposit.id, to, "ayesha").await.expect("proposed");
    let fixed = page(&link, &sender).await;
    assert!(fixed.contains(OTHER) && fixed.contains("can no longer be changed"), "{fixed}");
    assert!(!fixed.contains("name=\"address\""), "{fixed}");
    assert_eq!(answers(&link, &sender, OWN).await, 303);
    assert_eq!(given(&bank, &request).await.len(), 2, "it is too late");
    // Withdrawn: the sender may change it again.
    let by = AuditContext::new(Via::Cli, "ayesha").because("another address");
    let withdrawn = async || wallets.withdraw_refund(&caller(&bank), deposit.id, &by).await.is_ok();
    assert!(testkit::wait::until_async(AT_MOST, withdrawn).await);
    assert_eq!(answers(&link, &sender, OWN).await, 303);
    assert_eq!(
        named(&bank, &deposit).await.address().map(|it| it.to_string()),
        Some(OWN.to_owned())
    );
    bank.finish().await;
}

async fn an_address_that_nothing_can_come_back_from_is_refused_in_the_same_words(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("ours").await;
    let stranger = bank.in_use("stranger").await;
    let (request, link, sender, deposit) = rejected(&bank, &wallet).await;
    let mut pages = Vec::new();
    let (chain, tenant) = (bank.bank.running.chain(), bank.bank.tenant.id);
    let key = |role| chain.signer.address(tenant, role).expect("a key").to_string();
    let owners = chain.contracts.owners(tenant).expect("a sandbox's");
    assert_eq!(owners.len(), 2, "admin and treasury");
    for unusable in [
        key(KeyRole::Operator),
        key(KeyRole::Compliance),
        key(KeyRole::Approver),
        owners[0].to_string(),
        owners[1].to_string(),
        Address([0; 20]).to_string(),
        format!("0x{}dEaD", "0".repeat(36)).to_lowercase(),
        bank.token(StableCoin::Usdt).to_string(),
        deposit.to.to_string(),
        bank.controller(&wallet).await.to_string(),
        bank.address(&wallet).await,
        bank.address(&stranger).await,
    ] {
        let answer = link.submit(&sender, &format!("address={unusable}")).await;
        assert_eq!(answer.status, 422, "{unusable}");
        let checked = Address::parse(&unusable).expect("an address").to_string();
        pages.push(text(&answer).replace(&checked, "0x"));
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "the page does not reveal which one it is");
    assert!(pages[0].contains("cannot be used here"), "{pages:?}");
    assert_eq!(given(&bank, &request).await, []);
    let foreign =
        link.get(&sender).send().await.header("content-security-policy").map(str::to_owned);
    assert!(foreign.is_some_and(|policy| policy.contains("form-action 'self'")));
    bank.finish().await;
}

async fn a_legal_hold_looks_alike_and_a_listed_address_is_not_disclosed(on: On) {
    let bank = bank_of_its_own(on).await;
    let (wallet, other) = (bank.in_use("legal").await, bank.in_use("refused").await);
    let request = bank.request(&wallet, "25.01", "USDC").await;
    let link = Link::of(&bank, &request);
    let form = "first_name=Zorblax&last_name=Quibbleton&phone_number=%2B971500000000&custodial_provider=An-Exchange";
    let sender = link.introduced_as(form).await;
    bank.paid(&request, "").await;
    let held = bank.newest_is(&wallet, DepositState::LegalHold).await;
    let (_, refused_link, refused_sender, refused) = rejected(&bank, &other).await;
    for (link, sender) in [(&link, &sender), (&refused_link, &refused_sender)] {
        assert_eq!(answers(link, sender, LISTED).await, 303);
    }
    let plain = |page: String, link: &Link<'_>, sender: &str| {
        let page = page.replace(&format!("{}{sender}", link.path), "");
        let rest = page.split("id=\"rest\"").nth(1).expect("the page's own part");
        // The reference differs from request to request.
        let rest = rest.split("class=\"foot").next().expect("the part above it").to_owned();
        assert!(
            rest.contains("You can change it until") && rest.to_lowercase().contains(LISTED),
            "{rest}"
        );
        rest
    };
    let (one, two) = (page(&link, &sender).await, page(&refused_link, &refused_sender).await);
    assert_eq!(plain(one, &link, &sender), plain(two, &refused_link, &refused_sender));
    for deposit in [&held, &refused] {
        let Named::One(answer) = named(&bank, deposit).await else {
            panic!("nothing is named for {deposit:?}")
        };
        assert_eq!(
            (answer.screened.verdict(), answer.to),
            (Verdict::Hit, Address::parse(LISTED).expect("an address"))
        );
    }
    let wallets = bank.bank.running.wallets();
    let to = Address::parse(LISTED).expect("an address");
    for (deposit, refusal) in
        [(&held, DepositState::LegalHold.refused()), (&refused, DepositRefusal::AddressRefused)]
    {
        let told = wallets.propose_refund(&caller(&bank), deposit.id, to, "ayesha").await.map(drop);
        assert!(
            matches!(&told, Err(Denied::Refused(Refused::Deposit(why))) if *why == refusal),
            "{told:?}"
        );
    }
    bank.finish().await;
}

async fn deposits_from_before_a_visitors_submission_are_not_theirs(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("stranger").await;
    let request = bank.request(&wallet, "25.01", "USDC").await;
    let link = Link::of(&bank, &request);
    let sender = link.introduced().await;
    bank.paid(&request, "?amount=10.00").await;
    let deposit = bank.newest_is(&wallet, DepositState::Rejected).await;
    assert!(page(&link, &sender).await.contains(ASKED), "beside what is still to be sent");
    // The link is still open: another person, perhaps the payee, submits sender's details.
    let later = link.introduced().await;
    assert_ne!(later, sender);
    assert!(!page(&link, &later).await.contains(ASKED));
    assert_eq!(answers(&link, &later, OWN).await, 303);
    assert_eq!(given(&bank, &request).await, []);
    assert_eq!(named(&bank, &deposit).await, Named::Nothing);
    bank.finish().await;
}

async fn only_the_sender_whose_address_was_paid_is_asked(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("two").await;
    let request = bank.request(&wallet, "25.01", "USDC").await;
    let link = Link::of(&bank, &request);
    let (one, two) = (link.introduced().await, link.introduced().await);
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(&wallet, DepositState::Rejected).await;
    assert!(!page(&link, &one).await.contains(ASKED) && page(&link, &two).await.contains(ASKED));
    // The other visitor has nothing left to pay and is not asked.
    assert_eq!((answers(&link, &one, OWN).await, answers(&link, &two, OTHER).await), (404, 303));
    assert!(!page(&link, &one).await.contains(OTHER) && !page(&link, &two).await.contains(OWN));
    assert_eq!(
        named(&bank, &deposit).await.address().map(|it| it.to_string()),
        Some(OTHER.to_owned())
    );
    bank.finish().await;
}

async fn a_wrong_token_is_asked_about_while_a_person_looks_at_it(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("wrong").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let sender = link.introduced().await;
    bank.paid(&request, "?currency=USDT&amount=25.00").await;
    let deposit = bank.newest_is(&wallet, DepositState::InReview).await;
    let asked = page(&link, &sender).await;
    assert!(
        asked.contains(ASKED) && asked.contains("choose to deposit <bdi>USDT</bdi>"),
        "{asked}"
    );
    assert_eq!(answers(&link, &sender, OWN).await, 303);
    assert_eq!(
        named(&bank, &deposit).await.address().map(|it| it.to_string()),
        Some(OWN.to_owned())
    );
    bank.finish().await;
}

/// Approves as soon as the proposal is on chain.
async fn approved(bank: &WalletBank, deposit: &Deposit) -> Result<(), Denied> {
    let wallets = bank.bank.running.wallets();
    let answer = std::sync::Mutex::new(None);
    let seen =
        SeenRefund { to: Address::parse(OWN).expect("an address"), minor: Some(deposit.minor) };
    let there = testkit::wait::until_async(AT_MOST, || async {
        let told = wallets.approve_refund(&caller(bank), deposit.id, seen, "bilal").await.map(drop);
        let waits =
            matches!(&told, Err(Denied::Refused(Refused::Deposit(DepositRefusal::NotProposed))));
        *answer.lock().expect("not poisoned") = Some(told);
        !waits
    });
    assert!(there.await, "the proposal never reached the chain");
    answer.into_inner().expect("not poisoned").expect("an answer")
}

fn issuer(bank: &WalletBank, coin: StableCoin, function: &str, address: Address) {
    bank.acts(bank.minter(), bank.token(coin), calls(function, &[word(address)]));
}

async fn an_address_that_is_listed_by_now_is_not_approved(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("listed-since").await;
    let (_, link, sender, deposit) = rejected(&bank, &wallet).await;
    assert_eq!(answers(&link, &sender, OWN).await, 303);
    let to = named(&bank, &deposit).await.address().expect("named");
    let wallets = bank.bank.running.wallets();
    wallets
        .propose_refund(&caller(&bank), deposit.id, to, "ayesha")
        .await
        .expect("clean when it was proposed");
    issuer(&bank, StableCoin::Usdc, "blacklist(address)", to);
    let told = approved(&bank, &deposit).await.expect_err("it is listed by now");
    assert!(
        matches!(&told, Denied::Refused(Refused::Deposit(DepositRefusal::AddressListed))),
        "{told:?}"
    );
    assert!(told.to_string().contains("now on a sanctions list"), "{told}");
    bank.is_alerted(
        AlertKind::Transaction,
        "refund approval refused: the address is on the sanctions list",
    )
    .await;
    let noted = bank
        .bank
        .running
        .store()
        .audit_about(bank.bank.tenant.id, &deposit.id.to_string())
        .await
        .expect("read");
    assert_eq!(noted[0].note.action, "refund.not_approved");
    let waits = bank.newest_is(&wallet, DepositState::Refunding).await.refund.expect("proposed");
    assert_eq!((waits.approved_by, waits.execute), (None, None));
    // Unlisted again, it is refunded; the earlier finding stays on record.
    issuer(&bank, StableCoin::Usdc, "unBlacklist(address)", to);
    approved(&bank, &deposit).await.expect("approved");
    let refunded = bank.newest_is(&wallet, DepositState::Refunded).await.refund.expect("a refund");
    assert_eq!(refunded.screened_again.map(|it| it.verdict()), Some(Verdict::Clean));
    assert_eq!(bank.holds(StableCoin::Usdc, OWN).await, 25_010_000);
    let over = page(&link, &sender).await;
    assert!(!over.contains(ASKED) && over.contains("It was refunded."), "{over}");
    // The refund transaction is shown to its recipient, not to others with the link.
    let tx = bank
        .newest_is(&wallet, DepositState::Refunded)
        .await
        .refund
        .and_then(|it| it.tx)
        .expect("paid")
        .to_string();
    assert!(over.contains(&tx) && !over.contains("http-equiv"), "{over}");
    let browser = text(&link.by_browser_of(&sender).send().await);
    assert!(browser.contains("It was refunded.") && !browser.contains(&tx), "{browser}");
    let visitor = page(&link, "").await;
    assert!(visitor.contains("This request cannot be paid now"), "{visitor}");
    assert!(!visitor.contains("refunded") && !visitor.contains(&tx), "{visitor}");
    let own_wallet = bank.address(&wallet).await;
    assert!(
        !over.to_lowercase().contains(&own_wallet.to_lowercase()),
        "never the recipient's wallet"
    );
    bank.finish().await;
}

async fn a_blacklist_that_a_command_could_not_ask_stops_the_payment_back(on: On) {
    let bank = bank_of_its_own(on).await;
    let wallet = bank.in_use("worker").await;
    let request = bank.request(&wallet, "25.01", "USDT").await;
    bank.paid(&request, "").await;
    let deposit = bank.newest_is(&wallet, DepositState::Rejected).await;
    let to = Address::parse(OTHER).expect("an address");
    let wallets = bank.bank.running.wallets();
    wallets.propose_refund(&caller(&bank), deposit.id, to, "ayesha").await.expect("proposed");
    let on_chain = || async {
        bank.newest_is(&wallet, DepositState::Refunding).await.refund.is_some_and(|it| it.proposed)
    };
    assert!(testkit::wait::until_async(AT_MOST, on_chain).await);
    issuer(&bank, StableCoin::Usdt, "addBlackList(address)", to);
    // Commands that open the store query no node: the lists alone screen the address. The refund
    // would be in USDT.
    let proposed = bank.newest_is(&wallet, DepositState::Refunding).await;
    let screened = proposed.refund.as_ref().expect("proposed").screened.clone();
    let by = Box::new(AuditContext::new(Via::Cli, "bilal"));
    let seen = SeenRefund { to, minor: None };
    let action = Action::Deposit(
        DepositRef::of(&proposed, None),
        DepositAction::ApproveRefund { seen, screened, by },
    );
    let approved = wallets
        .engine()
        .execute(Command { tenant: bank.bank.tenant.id, action })
        .await
        .expect("decided");
    assert!(
        matches!(&approved, Outcome::Deposit(deposit) if deposit.refund.is_some()),
        "{approved:?}"
    );
    let what = "a refund failed: its address is on the blacklist of USDT's contract";
    bank.is_alerted(AlertKind::Transaction, what).await;
    assert_eq!(bank.newest_is(&wallet, DepositState::Rejected).await.refund, None);
    assert_eq!(bank.holds(StableCoin::Usdt, OTHER).await, 0);
    bank.finish().await;
}
