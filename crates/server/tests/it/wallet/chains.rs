//! One installation with wallets on two chains: deposits, releases, exchanges and reconciliation on
//! both at once, and what happens on one of them alone.

use devchain::{DevChain, Reorg};
use domain::chain::{Address, ChainNumber};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::ledger::AccountCode;
use domain::wallet_effects::AlertKind;
use engine::reconcile;
use service::chain::ChainSide;

use crate::harness::client::WAIT_MAX;
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    wallets_on_two_chains_are_paid_exchanged_and_reconciled
    a_reorganization_of_one_chain_does_not_touch_the_other
    a_payment_on_another_chain_is_recorded_and_not_credited
    a_wallet_is_provisioned_on_a_configured_chain_only
}

const COIN: i64 = 1_000_000;
const BASE: ChainNumber = ChainNumber(2);
const ON_BASE: &str = r#","blockchain":"base""#;

/// A bank on an installation with a second chain, whose blocks come at another pace.
async fn bank(on: On) -> WalletBank {
    let setup = Setup::with_wallets()
        .set("chains.base.chain_id", "31338")
        .set("chains.base.block_time_ms", "70");
    WalletBank::alone(on, setup).await
}

fn base(bank: &WalletBank) -> &ChainSide {
    &bank.bank.running.chains()[1]
}

fn chain_of(side: &ChainSide) -> &DevChain {
    side.embedded.as_ref().expect("a built-in chain").devchain()
}

async fn on_base(bank: &WalletBank, customer: &str) -> String {
    let made = bank.provision_with(customer, ON_BASE).send().await.ok();
    assert_eq!(made["blockchain"].text(), "base");
    made["wallet_id"].text().to_owned()
}

async fn holds(side: &ChainSide, address: Address) -> u64 {
    let token = side.config.token(StableCoin::Usdc).expect("USDC");
    side.chain.token_balance(token, address).await.expect("the node answers")
}

/// The discrepancies of a reconciliation, and the number of vaults that it compared.
async fn reconciled(bank: &WalletBank) -> (Vec<String>, usize) {
    let store = bank.bank.running.store();
    let wish = reconcile::want(store).await.expect("asked");
    let report = || async {
        let last = reconcile::last(store).await.expect("read");
        last.filter(|report| report.wanted == Some(wish))
    };
    let there = testkit::wait::until_async(WAIT_MAX, || async { report().await.is_some() });
    assert!(there.await, "no reconciliation ran");
    let report = report().await.expect("there");
    (report.breaks.iter().map(ToString::to_string).collect(), report.vaults)
}

async fn order(bank: &WalletBank, wallet: &str, amount: &str) -> Json {
    let order = bank.order_call(wallet, amount, r#","lock_rate":true"#).send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    order
}

async fn wallets_on_two_chains_are_paid_exchanged_and_reconciled(on: On) {
    let bank = bank(on).await;
    // The same customer, once on each chain.
    let (here, there) = (bank.wallet("c-1").await, on_base(&bank, "c-1").await);
    let again = bank.provision_with("c-1", ON_BASE).send().await;
    assert_eq!(again.status, 409, "one wallet per customer and chain");
    let (paid_here, paid_there) = tokio::join!(
        bank.deposit(&here, "100.00", "COMPLETED"),
        bank.deposit(&there, "60.00", "COMPLETED"),
    );
    let link = |(_, transaction): &(Json, Json)| {
        transaction["blockchain_explorer_url"].text().replace(&bank.bank.running.url, "")
    };
    assert!(link(&paid_here).starts_with("/explorer/tx/0x"), "{}", link(&paid_here));
    assert!(link(&paid_there).starts_with("/chains/base/explorer/tx/0x"), "{}", link(&paid_there));
    let page = bank.bank.unsigned(reqwest::Method::GET, &link(&paid_there), None).send().await;
    assert_eq!(page.status, 200, "the second chain has an explorer, too");
    tokio::join!(order(&bank, &here, "40.00"), order(&bank, &there, "25.00"));
    let stored = [bank.stored_wallet(&here).await, bank.stored_wallet(&there).await];
    let [first, second] = bank.bank.running.chains() else { panic!("two chains") };
    assert_eq!([stored[0].chain, stored[1].chain], [first.config.number, BASE]);
    assert_eq!(
        [holds(first, stored[0].address).await, holds(second, stored[1].address).await],
        [60_000_000, 35_000_000]
    );
    assert_eq!(
        [holds(second, stored[0].address).await, holds(first, stored[1].address).await],
        [0, 0]
    );
    assert_eq!(
        [holds(first, stored[0].controller).await, holds(second, stored[1].controller).await],
        [40_000_000, 25_000_000],
        "each controller has what was exchanged on its chain"
    );
    let accounts = bank.bank.running.store().accounts(bank.bank.tenant.id).await.expect("read");
    let unswept = [ChainNumber::FIRST, BASE].map(|chain| {
        let code = AccountCode::Unswept(chain, StableCoin::Usdc);
        accounts.iter().find(|it| it.code == code).map(|it| it.balance().minor)
    });
    assert_eq!(unswept, [Some(40 * COIN), Some(25 * COIN)]);
    let (breaks, vaults) = reconciled(&bank).await;
    assert_eq!(breaks, Vec::<String>::new());
    assert!(vaults >= 4, "{vaults}: vaults and controllers of both chains");
    assert_eq!(bank.alerts().await, Vec::<&str>::new());
    bank.books_are_right().await;
    bank.finish().await;
}

async fn a_reorganization_of_one_chain_does_not_touch_the_other(on: On) {
    let bank = bank(on).await;
    let (here, there) = (bank.wallet("stays").await, on_base(&bank, "moves").await);
    tokio::join!(
        bank.deposit(&here, "100.00", "COMPLETED"),
        bank.deposit(&there, "60.00", "COMPLETED"),
    );
    let store = bank.bank.running.store();
    let before = bank.newest_is(&here, DepositState::Completed).await;
    let headers = async |chain| store.chain_headers(chain, 128).await.expect("read");
    let (kept, gone) = (headers(ChainNumber::FIRST).await, headers(BASE).await);
    let deposit = bank.newest_is(&there, DepositState::Completed).await;
    let height = deposit.place.expect("in the chain").number;
    let chain = chain_of(base(&bank));
    let depth = chain.block_number() - height + 1;
    chain.reorg(&Reorg { depth, reinclude: true, ..Reorg::default() }).expect("reorganized");
    let moved = || async {
        let now = bank.stored_deposits(&there).await.remove(0);
        now.place.is_some_and(|place| Some(place) != deposit.place)
            && now.state == DepositState::Completed
    };
    assert!(
        testkit::wait::until_async(WAIT_MAX, moved).await,
        "not in another block: {:?}",
        bank.stored_deposits(&there).await
    );
    let now = headers(BASE).await;
    let replaced = gone.iter().filter(|it| it.number >= height);
    assert!(replaced.clone().count() > 0);
    assert!(replaced.clone().all(|it| !now.contains(it)), "its blocks were replaced");
    // The first chain went on, over the same blocks and with the same deposit.
    let now = headers(ChainNumber::FIRST).await;
    let oldest = now.last().expect("headers are kept").number;
    assert!(kept.iter().filter(|it| it.number >= oldest).all(|it| now.contains(it)));
    assert_eq!(bank.newest_is(&here, DepositState::Completed).await, before);
    assert_eq!(reconciled(&bank).await.0, Vec::<String>::new());
    bank.books_are_right().await;
    bank.finish().await;
}

async fn a_payment_on_another_chain_is_recorded_and_not_credited(on: On) {
    let bank = bank(on).await;
    let wallet = bank.wallet("elsewhere").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let escrow = Address::parse(&bank.escrow(&request).await).expect("an address");
    let faucet = base(&bank).faucet.as_ref().expect("a sandbox's chain");
    faucet.pay(StableCoin::Usdc, escrow, 25_000_000).await.expect("paid");
    let store = bank.bank.running.store();
    let found = || async {
        let found = store.unsupported_assets(bank.bank.tenant.id, 9).await.expect("read");
        found.into_iter().next()
    };
    let there = testkit::wait::until_async(WAIT_MAX, || async { found().await.is_some() });
    assert!(there.await, "the payment was passed over");
    let asset = found().await.expect("there");
    assert_eq!((asset.chain, asset.vault.chain), (BASE, ChainNumber::FIRST));
    assert_eq!((asset.vault.address, asset.value), (escrow, 25_000_000));
    bank.is_alerted(AlertKind::UnsupportedAsset, "USDC was sent on base").await;
    assert_eq!(bank.stored_deposits(&wallet).await, Vec::new());
    assert_eq!(bank.listed(&wallet, &request).await["status"].text(), "ACTIVE");
    bank.books_are_right().await;
    bank.finish().await;
}

async fn a_wallet_is_provisioned_on_a_configured_chain_only(on: On) {
    let bank = bank(on).await;
    let answer = bank.provision_with("nowhere", r#","blockchain":"solana""#).send().await;
    let body = refused(&answer, 400, "INVALID_REQUEST", Some("blockchain"));
    assert!(body.to_string().contains("must be ethereum or base"), "{body}");
    let document =
        bank.bank.unsigned(reqwest::Method::GET, "/openapi/wallet.json", None).send().await;
    let text = String::from_utf8_lossy(&document.body).into_owned();
    assert!(text.contains("one of: ethereum, base"), "the document names both");
    // Both are known by their numbers after a restart.
    let wallet = on_base(&bank, "kept").await;
    let bank = bank.restart().await;
    let known: Vec<_> = bank
        .bank
        .running
        .chains()
        .iter()
        .map(|side| (side.config.number, side.config.name.clone()))
        .collect();
    let first = ChainNumber::FIRST;
    assert_eq!(known, [(first, "ethereum".to_owned()), (BASE, "base".to_owned())]);
    bank.deposit(&wallet, "5.00", "COMPLETED").await;
    bank.finish().await;
}
