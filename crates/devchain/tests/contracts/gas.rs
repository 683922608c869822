//! Gas of each transaction, compared with `contracts/gas.txt` and the table in `contracts/README.md`.
//! `UPDATE_GAS=1` writes both.

use std::error::Error;
use std::fs;

use revm::primitives::{Address, U256, keccak256};

use crate::abi;
use crate::authorizations::{self, Holder};
use crate::circle::{self, Roles};
use crate::evm::Evm;
use crate::tenant::{
    self, ADMIN, ADMIN_DELAY_S, APPROVER, COMPLIANCE, ISSUER, Item, OPERATOR, PAYER, STRANGER,
    TREASURY, Tenant, intent, reference,
};

const README: &str = "../../contracts/README.md";
const SNAPSHOT: &str = "../../contracts/gas.txt";
const ABOUT: &str = "\
# Gas of one transaction, or of each item of a batch: on USDT (sandbox), USDC (sandbox), and USDC (Circle's v2.2 behind
# its proxy). A test compares it; UPDATE_GAS=1 cargo test -p devchain --test contracts gas writes it.
";
/// First and last row of the README's table.
const FIRST: &str = "| release, one |";
const LAST: &str = "| controller, deployed |";
const BATCH: u64 = 20;
const SPONSORED: &str = "sponsored transfer to a new escrow";

fn wallet(n: u64) -> Address {
    Address::left_padding_from(&(0x1000 + n).to_be_bytes())
}

/// Gas of each kind of transaction with one token.
fn measure(mut tenant: Tenant, token: Address) -> Vec<(&'static str, u64)> {
    let escrow_item = |tenant: &mut Tenant, n: u64| {
        let item = Item { token, ..tenant.escrow_item(intent(n), reference(n), wallet(n), 100) };
        let escrow = tenant.vault(item.reference, item.recipient);
        tenant.fund(token, escrow, 200);
        item
    };
    let wallet_item = |tenant: &mut Tenant, n: u64| {
        let item = Item { token, ..tenant.wallet_item(intent(n), reference(n), 100) };
        let vault = tenant.vault(item.reference, item.recipient);
        tenant.fund(token, vault, 200);
        item
    };
    let mut rows = Vec::new();

    let first = escrow_item(&mut tenant, 1);
    rows.push(("release, one", tenant.release(OPERATOR, &[first]).must().gas));
    let again = Item { intent: intent(2), ..first };
    rows.push((
        "release again from the same escrow",
        tenant.release(OPERATOR, &[again]).must().gas,
    ));
    let twenty: Vec<Item> = (100..100 + BATCH).map(|n| escrow_item(&mut tenant, n)).collect();
    rows.push(("release, each of 20", tenant.release(OPERATOR, &twenty).must().gas / BATCH));
    let twenty = again_of(&twenty);
    rows.push(("release again, each of 20", tenant.release(OPERATOR, &twenty).must().gas / BATCH));

    let token_first = wallet_item(&mut tenant, 6);
    rows.push(("debit, the first of a token", tenant.debit(OPERATOR, &[token_first]).must().gas));
    let debit = wallet_item(&mut tenant, 3);
    rows.push(("debit, one", tenant.debit(OPERATOR, &[debit]).must().gas));
    let twenty: Vec<Item> = (200..200 + BATCH).map(|n| wallet_item(&mut tenant, n)).collect();
    rows.push(("debit, each of 20", tenant.debit(OPERATOR, &twenty).must().gas / BATCH));
    let twenty = again_of(&twenty);
    rows.push(("debit again, each of 20", tenant.debit(OPERATOR, &twenty).must().gas / BATCH));
    rows.push((
        "return of a debit",
        tenant.return_debit(OPERATOR, debit.intent, intent(4)).must().gas,
    ));
    rows.push(("sweep", tenant.sweep(OPERATOR, token, 100).must().gas));

    let refund = escrow_item(&mut tenant, 5);
    rows.push((
        "refund, proposed",
        tenant.propose_refund(COMPLIANCE, &refund, STRANGER).must().gas,
    ));
    rows.push(("refund, executed", tenant.execute_refund(APPROVER, refund.intent).must().gas));
    let refund = escrow_item(&mut tenant, 7);
    tenant.propose_refund(COMPLIANCE, &refund, STRANGER).must();
    rows.push(("refund, cancelled", tenant.cancel_refund(APPROVER, refund.intent).must().gas));
    rows.push(("freeze", tenant.set_frozen(COMPLIANCE, wallet(9), true).must().gas));
    rows.push(("legal hold", tenant.set_legal_hold(COMPLIANCE, wallet(10), true).must().gas));
    rows
}

/// Gas of the admin's transactions, which no token takes part in.
fn administration(mut tenant: Tenant) -> Vec<(&'static str, u64)> {
    let next = wallet(20);
    let mut rows = vec![
        ("pause", tenant.pause(OPERATOR).must().gas),
        ("unpause", tenant.unpause(ADMIN).must().gas),
        ("operator, granted", tenant.grant(ADMIN, "OPERATOR", wallet(21)).must().gas),
        ("role, revoked", tenant.revoke(ADMIN, "OPERATOR", wallet(21)).must().gas),
        ("approver, proposed", tenant.propose_role(ADMIN, "APPROVER", wallet(22)).must().gas),
        ("treasury, proposed", tenant.propose_treasury(ADMIN, STRANGER).must().gas),
        ("admin, proposed", tenant.begin_transfer(ADMIN, next).must().gas),
    ];
    tenant.evm.advance(ADMIN_DELAY_S + 1);
    rows.push(("approver, granted", tenant.grant(ADMIN, "APPROVER", wallet(22)).must().gas));
    rows.push(("treasury, applied", tenant.apply_treasury(ADMIN).must().gas));
    rows.push(("admin, accepted", tenant.accept_transfer(next).must().gas));
    rows
}

/// The same movements under other intents: vaults are deployed, and payees have a balance.
fn again_of(items: &[Item]) -> Vec<Item> {
    items.iter().map(|item| Item { intent: keccak256(item.intent), ..*item }).collect()
}

/// Gas of a sponsored transfer to an escrow without a balance.
fn sponsored(tenant: &Tenant) -> u64 {
    let (mut evm, token, holder) = (tenant.evm.clone(), tenant.usdc, Holder::new(0x11));
    let pay = [holder.address.into(), 200.into()];
    evm.send(PAYER, token, abi::call("transfer(address,uint256)", &pay)).must();
    let authorization = authorizations::authorization(&holder, wallet(7), 100);
    let digest = authorizations::signing_domain(token).digest(&authorization);
    let call = authorizations::call(&authorization, &holder.sign(digest));
    evm.send(OPERATOR, token, call).must().gas
}

fn controller_gas() -> u64 {
    let people = [ADMIN, OPERATOR, COMPLIANCE, APPROVER, TREASURY];
    Evm::new().try_deploy(tenant::DEPLOYER, tenant::controller_code(people)).must().gas
}

/// The rows of the snapshot. Without Circle's token its column is taken from the one before: the
/// others are still compared.
fn rows(before: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let ours = Tenant::new();
    let (usdt, usdc) = (measure(ours.clone(), ours.usdt), measure(ours.clone(), ours.usdc));
    let circles = testkit::circle::for_tests("gas of the controller's functions")?
        .map(|token| Tenant::with_usdc(|evm| circle::deploy(evm, &token, Roles::one(ISSUER))))
        .map(|tenant| (sponsored(&tenant), measure(tenant.clone(), tenant.usdc)));
    let (of_circle, circles) = circles.unzip();
    let mut rows = Vec::new();
    for (at, (name, gas)) in usdt.iter().enumerate() {
        let circles =
            circles.as_ref().map_or_else(|| cell(before, name), |rows| grouped(rows[at].1));
        rows.push(format!("{name} | {} | {} | {circles}", grouped(*gas), grouped(usdc[at].1)));
    }
    let of_circle = of_circle.map_or_else(|| cell(before, SPONSORED), grouped);
    rows.push(format!("{SPONSORED} | – | {} | {of_circle}", grouped(sponsored(&ours))));
    let deployed = ("controller, deployed", controller_gas());
    for (name, gas) in administration(ours).into_iter().chain([deployed]) {
        rows.push(format!("{name} | {0} | {0} | {0}", grouped(gas)));
    }
    Ok(rows)
}

/// The last column of a row.
fn cell(snapshot: &str, name: &str) -> String {
    let row = snapshot.lines().find(|line| line.starts_with(&format!("{name} | ")));
    row.and_then(|row| row.rsplit(" | ").next()).unwrap_or_default().to_owned()
}

#[test]
fn gas_is_that_of_the_snapshot_and_of_the_readme() -> Result<(), Box<dyn Error>> {
    let before = fs::read_to_string(SNAPSHOT).unwrap_or_default();
    let rows = rows(&before)?;
    let snapshot = format!("{ABOUT}{}\n", rows.join("\n"));
    let table: String = rows.iter().map(|row| format!("| {row} |\n")).collect();
    let readme = fs::read_to_string(README)?;
    let begin = readme.find(FIRST).ok_or("no table")?;
    let last = readme[begin..].find(LAST).ok_or("no end of the table")? + begin;
    let end = readme[last..].find('\n').ok_or("no end of the line")? + last + 1;
    if std::env::var_os("UPDATE_GAS").is_some() {
        fs::write(SNAPSHOT, snapshot)?;
        fs::write(README, [&readme[..begin], &table, &readme[end..]].concat())?;
        return Ok(());
    }
    assert_eq!(before, snapshot, "UPDATE_GAS=1 writes it");
    assert_eq!(&readme[begin..end], table, "UPDATE_GAS=1 writes it");
    Ok(())
}

/// The most that a movement in a batch may cost: the goals of `contracts/README.md` for vaults in use,
/// and for their first movement what a vault's deployment and a first balance add.
const CEILINGS: [(&str, u64); 6] = [
    ("release, one", 160_000),
    ("release, each of 20", 125_000),
    ("release again, each of 20", 60_000),
    ("debit, one", 145_000),
    ("debit, each of 20", 100_000),
    ("debit again, each of 20", 50_000),
];

#[test]
fn movements_cost_what_they_may() {
    let ours = Tenant::new();
    for token in [ours.usdt, ours.usdc] {
        let rows = measure(ours.clone(), token);
        let gas = |name: &str| rows.iter().find(|row| row.0 == name).expect(name).1;
        for (name, most) in CEILINGS {
            assert!(gas(name) <= most, "{name}: {}", gas(name));
        }
        // Nothing but the deployment and the recipient's balance belongs to a vault's first movement.
        let first = |kind: &str| {
            gas(&format!("{kind}, each of 20")) - gas(&format!("{kind} again, each of 20"))
        };
        let (release, debit) = (first("release"), first("debit"));
        assert!((45_000..=52_000).contains(&debit), "a deployment: {debit}");
        assert!((17_000..=17_200).contains(&(release - debit)), "a first balance: {release}");
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}

/// Far more than the most expensive item needs: gas prices of opcodes may change, this contract
/// cannot.
#[test]
fn an_ample_share_is_three_times_what_an_item_needs() {
    const AMPLE: u64 = 800_000;
    let tenant = Tenant::new();
    let told = tenant.clone().evm.look(tenant.controller, "ITEM_GAS_AMPLE()", &[]);
    assert_eq!(U256::from_be_slice(&told), U256::from(AMPLE));
    for token in [tenant.usdc, tenant.usdt] {
        for (name, gas) in measure(tenant.clone(), token) {
            let is_item = name.starts_with("release") || name.starts_with("debit");
            assert!(!is_item || gas < AMPLE / 3, "{name}: {gas}");
        }
    }
}
