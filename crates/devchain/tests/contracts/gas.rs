//! Gas of the movements, compared with the table in `contracts/README.md` so that it stays correct.

use std::fmt::Write as _;

use revm::primitives::{Address, U256, keccak256};

use crate::abi;
use crate::authorizations::{self, Holder};
use crate::circle::{self, Roles};
use crate::evm::Evm;
use crate::tenant::{
    self, ADMIN, APPROVER, COMPLIANCE, ISSUER, Item, OPERATOR, PAYER, STRANGER, TREASURY, Tenant,
    intent, reference,
};

const README: &str = include_str!("../../../../contracts/README.md");
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
    rows.push(("freeze", tenant.set_frozen(COMPLIANCE, wallet(9), true).must().gas));
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

#[test]
fn the_readme_matches_the_measurements() -> std::io::Result<()> {
    let ours = Tenant::new();
    let usdt = measure(ours.clone(), ours.usdt);
    let usdc = measure(ours.clone(), ours.usdc);
    let circles = testkit::circle::for_tests("gas of the controller's functions")?
        .map(|token| Tenant::with_usdc(|evm| circle::deploy(evm, &token, Roles::one(ISSUER))))
        .map(|tenant| (sponsored(&tenant), measure(tenant.clone(), tenant.usdc)));
    let (of_circle, circles) = circles.unzip();
    let mut table = String::new();
    for (at, (name, gas)) in usdt.iter().enumerate() {
        // Without Circle's token its column is taken from the table: the others are still compared.
        let circles = match &circles {
            Some(rows) => grouped(rows[at].1),
            None => cell(name, 4),
        };
        writeln!(table, "| {name} | {} | {} | {circles} |", grouped(*gas), grouped(usdc[at].1))
            .unwrap();
    }
    let of_circle = of_circle.map_or_else(|| cell(SPONSORED, 4), grouped);
    writeln!(table, "| {SPONSORED} | – | {} | {of_circle} |", grouped(sponsored(&ours))).unwrap();
    writeln!(table, "| controller, deployed | {0} | {0} | {0} |", grouped(controller_gas()))
        .unwrap();
    assert!(README.contains(&table), "contracts/README.md should have these rows:\n{table}");
    Ok(())
}

/// The README's cell in this row and column.
fn cell(name: &str, column: usize) -> String {
    let row =
        README.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
    row.split('|').nth(column).unwrap_or_default().trim().to_owned()
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
