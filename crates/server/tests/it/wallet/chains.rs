//! One installation with wallets on two chains: deposits, releases, exchanges and reconciliation on
//! both at once, and what happens on one of them alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Secret};
use devchain::{DevChain, Mining, Options, Reorg};
use domain::chain::{Address, ChainNumber, TxHash};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::exchange::ExchangeState;
use domain::ids::PaymentRequestId;
use domain::job::JobKind;
use domain::ledger::AccountCode;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use engine::reconcile;
use engine::wallets::Found;
use futures_util::future::join_all;
use reqwest::Method;
use service::BadConfiguration;
use service::chain::ChainSide;
use service::clock::WallClock;
use service::preflight::{Level, look};
use service::world::numbered_chains;
use store::Store;
use testkit::wait::AT_MOST;

use crate::harness::client::{Answer, Call};
use crate::harness::own_node::{self, Tricks};
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    wallets_on_two_chains_are_paid_exchanged_and_reconciled
    a_reorganization_of_one_chain_does_not_touch_the_other
    a_payment_on_another_chain_is_recorded_and_not_credited
    a_wallet_is_provisioned_on_a_configured_chain_only
    a_wallet_stays_with_its_chain_under_another_name
    what_is_on_a_retired_chain_waits
    a_chain_is_in_use_once_a_node_has_named_it
}

mod anvil;

const COIN: i64 = 1_000_000;
const BASE: ChainNumber = ChainNumber(2);
const BASE_ID: u64 = 31_338;
const ON_BASE: &str = r#","blockchain":"base""#;

/// With a second chain, whose blocks come at another pace.
fn setup() -> Setup {
    Setup::with_wallets()
        .set("chains.base.chain_id", &BASE_ID.to_string())
        .set("chains.base.block_time_ms", "70")
}

async fn bank(on: On) -> WalletBank {
    WalletBank::alone(on, setup()).await
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
    let there = testkit::wait::until_async(AT_MOST, || async { report().await.is_some() });
    assert!(there.await, "no reconciliation ran");
    let report = report().await.expect("there");
    (report.breaks.iter().map(ToString::to_string).collect(), report.vaults)
}

/// The response to a call about a chain that nothing runs on.
async fn not_in_use(call: Call) {
    let answer = Answer::read("a chain not in use".to_owned(), call.open().await).await;
    let body = refused(&answer, 503, "SERVICE_UNAVAILABLE", None);
    assert!(body.to_string().contains("not in use"), "{body}");
}

async fn order(bank: &WalletBank, wallet: &str, amount: &str) -> Json {
    let order = bank.order_call(wallet, amount, r#","lock_rate":true"#).send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    order
}

async fn wallets_on_two_chains_are_paid_exchanged_and_reconciled(on: On) {
    paid_exchanged_and_reconciled(bank(on).await).await;
}

async fn paid_exchanged_and_reconciled(bank: WalletBank) {
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
    if base(&bank).embedded.is_some() {
        let page = bank.bank.unsigned(Method::GET, &link(&paid_there), None).send().await;
        assert_eq!(page.status, 200, "the second chain has an explorer, too");
    }
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
    let chain = chain_of(base(&bank)).clone();
    reorganized_alone(bank, async |height| {
        let depth = chain.block_number() - height + 1;
        chain.reorg(&Reorg { depth, reinclude: true, ..Reorg::default() }).expect("reorganized");
    })
    .await;
}

/// `reorganize` replaces the second chain's blocks from this height on; their transactions stay.
async fn reorganized_alone(bank: WalletBank, reorganize: impl AsyncFnOnce(u64)) {
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
    reorganize(height).await;
    let moved = || async {
        let now = bank.stored_deposits(&there).await.remove(0);
        now.place.is_some_and(|place| Some(place) != deposit.place)
            && now.state == DepositState::Completed
    };
    assert!(
        testkit::wait::until_async(AT_MOST, moved).await,
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
    let tx = faucet.pay(StableCoin::Usdc, escrow, 25_000_000).await.expect("paid");
    let (store, wallets) = (bank.bank.running.store(), bank.bank.running.wallets());
    let id = PaymentRequestId::parse(request["payment_request_id"].text()).expect("an id");
    let stored = store.request(bank.bank.tenant.id, id).await.expect("read").expect("there");
    let page = wallets.pay_page(&stored.token).await.expect("there");
    let found = wallets.find_payment(&page, None, tx).await.expect("looked up");
    assert_eq!(found, Found::OtherChain, "the page says so to who enters the transaction");
    let unknown = wallets.find_payment(&page, None, TxHash([1; 32])).await.expect("looked up");
    assert_eq!(unknown, Found::NotYet);
    let found = || async {
        let found = store.unsupported_assets(bank.bank.tenant.id, 9).await.expect("read");
        found.into_iter().next()
    };
    let there = testkit::wait::until_async(AT_MOST, || async { found().await.is_some() });
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
    let document = bank.bank.unsigned(Method::GET, "/openapi/wallet.json", None).send().await;
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

async fn a_wallet_stays_with_its_chain_under_another_name(on: On) {
    let bank = bank(on).await;
    let (here, there) = (bank.wallet("renamed").await, on_base(&bank, "renamed").await);
    bank.deposit(&here, "5.00", "COMPLETED").await;
    let bank = bank.restart_as(|config| config.chain.name = "mainnet".to_owned()).await;
    let shown = bank.get(&format!("/v1/sdk/wallets/{here}")).send().await.ok();
    assert_eq!(shown["blockchain"].text(), "mainnet");
    let shown = bank.get(&format!("/v1/sdk/wallets/{there}")).send().await.ok();
    assert_eq!(shown["blockchain"].text(), "base");
    for more in ["", r#","blockchain":"mainnet""#] {
        let again = bank.provision_with("renamed", more).send().await;
        let body = refused(&again, 409, "WALLET_EXISTS", Some("customer_id"));
        assert_eq!(body["existing_wallet_id"].text(), here);
    }
    let old = bank.provision_with("renamed", r#","blockchain":"ethereum""#).send().await;
    refused(&old, 400, "INVALID_REQUEST", Some("blockchain"));
    let other = bank.wallet("other").await;
    let (request, _) = bank.deposit(&other, "7.00", "COMPLETED").await;
    let events = bank.told(request["payment_request_id"].text(), 1).await;
    assert!(events[0].to_string().contains(r#""blockchain":"mainnet""#), "{}", events[0]);
    // The names of two known chains do not change places unnoticed.
    let (config, data_dir) = (bank.bank.running.config().clone(), &bank.bank.running.data_dir);
    let mut swapped = config.clone();
    swapped.chain.chain_id = BASE_ID;
    swapped.chains.clear();
    let refusal = numbered_chains(&swapped, Some(bank.bank.running.store())).await;
    let refusal = refusal.map(|_| ()).expect_err("refused");
    assert!(refusal.is::<BadConfiguration>(), "{refusal:#}");
    let words = format!("{refusal:#}");
    assert!(words.contains(r#"chain.name: "mainnet" is the name of chain 31337"#), "{words}");
    let findings = look(&swapped, data_dir, Some(bank.bank.running.store()), false).await;
    assert!(findings.iter().any(|it| it.name == "chains" && it.level == Level::Wrong));
    bank.finish().await;
}

async fn what_is_on_a_retired_chain_waits(on: On) {
    let bank = bank(on).await;
    let here = bank.wallet("here").await;
    bank.deposit(&here, "5.00", "COMPLETED").await;
    // Its controller cannot be deployed before the restart.
    chain_of(base(&bank)).set_mining(Mining::ByHand);
    let there = on_base(&bank, "there").await;
    let listed = on_base(&bank, "listed").await;
    let waiting = async |store: &Store| {
        let counts = store.job_counts_by_chain().await.expect("read").into_iter();
        counts.filter(|(chain, _)| *chain == BASE).map(|(_, jobs)| jobs).sum::<i64>()
    };
    assert!(waiting(bank.bank.running.store()).await > 0, "the wallet waits for its controller");
    let mut kept = BTreeMap::new();
    let bank = bank.restart_as(|config| kept = std::mem::take(&mut config.chains)).await;
    let here = bank.wallet("also-here").await;
    bank.deposit(&here, "5.00", "COMPLETED").await;
    let shown = bank.get(&format!("/v1/sdk/wallets/{there}")).send().await.ok();
    assert_eq!(shown["blockchain"].text(), "base");
    not_in_use(bank.request_call(&there, r#"{"type":"flexible"}"#, "")).await;
    not_in_use(bank.order_call(&there, "25.00", "")).await;
    let order = r#"{"regulatory_authority":"FIA","regulatory_reference_number":"R-1","reason":"A test","effective_date":"2026-01-01"}"#;
    let ordered = bank.post(&format!("/v1/sdk/wallets/{listed}/blacklist"), order).send().await;
    assert_eq!(ordered.ok()["status"].text(), "BLOCKED", "it takes effect with the chain");
    let store = bank.bank.running.store();
    let kinds = [JobKind::WalletTimer, JobKind::SendIntent];
    let free = || async {
        let lease = |kind| store.lease_jobs_on(kind, &[BASE], "test", Span::secs(1), 9);
        let jobs = join_all(kinds.map(lease)).await;
        jobs.into_iter().any(|jobs| !jobs.expect("asked").is_empty())
    };
    assert!(testkit::wait::until_async(AT_MOST, free).await, "the node holds its jobs");
    let jobs = waiting(store).await;
    let (config, data_dir) = (bank.bank.running.config(), &bank.bank.running.data_dir);
    let findings = look(config, data_dir, Some(store), false).await;
    let detail = format!("base: chain 31338 is no longer configured, {jobs} jobs wait for it");
    let found = findings.iter().find(|it| it.detail == detail);
    assert_eq!(found.map(|it| it.level), Some(Level::Warning), "{findings:?}");
    let bank = bank.restart_as(|config| config.chains = kept).await;
    bank.becomes_active(&there).await;
    bank.deposit(&there, "5.00", "COMPLETED").await;
    let shown = || async {
        bank.get(&format!("/v1/sdk/wallets/{listed}")).send().await.ok()["status"].text()
            == "BLACKLISTED"
    };
    assert!(testkit::wait::until_async(AT_MOST, shown).await, "it takes effect");
    bank.finish().await;
}

async fn a_chain_is_in_use_once_a_node_has_named_it(on: On) {
    let options = Options {
        mining: Mining::Every(Duration::from_millis(70)),
        control_over_http: true,
        gas_limit: 400_000_000,
        ..Options::new(BASE_ID, Arc::new(WallClock))
    };
    let (chain, tricks) = (DevChain::open(options).expect("in memory"), Tricks::default());
    let miner = chain.clone();
    tokio::spawn(async move { miner.mine_forever(std::future::pending()).await });
    tricks.set_silent(true);
    let node = own_node::serve_tricked(chain, &tricks).await;
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let with_base = |config: &mut Config| {
        let base = config::Chain {
            chain_id: BASE_ID,
            name: "base".to_owned(),
            node_url: Secret::new(node),
            plain_http_nodes: true,
            small_depth: "1".to_owned(),
            settled_depth: "1".to_owned(),
            ..config.chain.clone()
        };
        config.chains.insert("base".to_owned(), base);
    };
    let bank = bank.restart_as(with_base).await;
    let known = async |bank: &WalletBank| {
        let known = bank.bank.running.store().known_chains().await.expect("read");
        known.iter().map(|it| (it.number.0, it.chain_id)).collect::<Vec<_>>()
    };
    let alert = "base: nothing runs on this chain: none of its nodes has answered what a start asks of chain 31338";
    bank.is_alerted(AlertKind::ChainNode, alert).await;
    not_in_use(bank.provision_with("early", ON_BASE)).await;
    let ready = bank.bank.unsigned(Method::GET, "/readyz", None).send().await.ok();
    assert_eq!(ready["chains"]["ethereum"].text(), "in use");
    let reason = "not in use: none of its nodes has answered what a start asks of chain 31338: chain node: first node: HTTP 502 Bad Gateway";
    assert_eq!(ready["chains"]["base"].text(), reason);
    let (config, data_dir) = (bank.bank.running.config(), &bank.bank.running.data_dir);
    let findings = look(config, data_dir, Some(bank.bank.running.store()), false).await;
    let of_base = findings.iter().find(|it| it.detail.starts_with("base: not in use yet"));
    assert_eq!(of_base.map(|it| it.level), Some(Level::Warning), "{findings:?}");
    let here = bank.wallet("here").await;
    bank.deposit(&here, "5.00", "COMPLETED").await;
    // A node of another chain is no better.
    tricks.twist(|method, _, answer| {
        if method == "eth_chainId" {
            answer["result"] = "0x1".into();
        }
    });
    tricks.set_silent(false);
    let calls = tricks.calls();
    let asked = || std::future::ready(tricks.calls() > calls + 1);
    assert!(testkit::wait::until_async(AT_MOST, asked).await, "the node is asked again");
    not_in_use(bank.provision_with("early", ON_BASE)).await;
    assert_eq!(known(&bank).await, [(1, 31_337)]);
    tricks.replace();
    let is_known = || async { known(&bank).await == [(1, 31_337), (2, BASE_ID)] };
    assert!(testkit::wait::until_async(AT_MOST, is_known).await, "{:?}", known(&bank).await);
    let in_use = || async {
        let ready = bank.bank.unsigned(Method::GET, "/readyz", None).send().await.ok();
        ready["chains"]["base"].text() == "in use"
    };
    assert!(testkit::wait::until_async(AT_MOST, in_use).await);
    assert!(!bank.alerts().await.contains(&AlertKind::ChainNode.name()), "it ended");
    let there = on_base(&bank, "early").await;
    bank.deposit(&there, "5.00", "COMPLETED").await;
    bank.finish().await;
}
