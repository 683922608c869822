//! The ledger against an independent model: signed balances and a list of open holds.

use crate::chain::ChainNumber;
use std::collections::BTreeMap;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const TENANT: TenantId = TenantId(Uuid::nil());

fn transfer(debit: AccountCode, credit: AccountCode, minor: i64, kind: TransferKind) -> Transfer {
    let id = TransferId(Uuid::nil());
    Transfer {
        id,
        tenant: TENANT,
        amount: Money::new(minor, debit.currency()),
        debit,
        credit,
        kind,
        pending: None,
        set: id,
        reason: "test",
        subject: None,
        at: Timestamp(0),
    }
}

fn chart() -> Vec<AccountCode> {
    let coin = StableCoin::Usdt;
    vec![
        AccountCode::Prefund(coin),
        AccountCode::InTransit(coin),
        AccountCode::Nostro(RailId::new("pak-raast"), Currency::Pkr),
        AccountCode::FxPosition(Currency::Usdt),
        AccountCode::FeeIncome(coin),
        AccountCode::RailCost(coin),
        AccountCode::RailCharges(Currency::Pkr),
        AccountCode::Rounding(Currency::Pkr),
        AccountCode::External(coin),
        AccountCode::Escrow(PaymentRequestId(Uuid::from_u128(7)), coin),
        AccountCode::Wallet(WalletId(Uuid::max()), coin),
        AccountCode::Shortfall(WalletId(Uuid::max()), coin),
        AccountCode::Unswept(ChainNumber::FIRST, coin),
        AccountCode::Unswept(ChainNumber(2), coin),
        AccountCode::Treasury(ChainNumber(u16::MAX), coin),
        AccountCode::Treasury(ChainNumber::FIRST, coin),
        AccountCode::Exchanged(ChainNumber::FIRST, coin),
        AccountCode::PayoutSuspense(ChainNumber::FIRST, coin),
        AccountCode::Suspense(coin),
    ]
}

#[test]
fn account_codes_round_trip() {
    for code in chart() {
        assert_eq!(AccountCode::parse(&code.to_string()), Some(code));
    }
    for wrong in [
        "",
        "prefund",
        "prefund:PKR",
        "unswept:1:USDC",
        "unswept:02:USDC",
        "unswept:65536:USDC",
        "unswept:2",
        "nostro:PKR",
        "nostro:x:XXX",
        "petty_cash:USDT",
        "escrow:USDT",
        "wallet:7:USDT",
        "shortfall:USDT",
        "escrow:00000000-0000-0000-0000-000000000007:PKR",
    ] {
        assert_eq!(AccountCode::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn only_customer_accounts_are_limited_to_their_balance() {
    let guarded: Vec<String> = chart()
        .into_iter()
        .filter(AccountCode::never_below_zero)
        .map(|code| code.to_string())
        .collect();
    assert_eq!(
        guarded,
        [
            "prefund:USDT",
            "escrow:00000000-0000-0000-0000-000000000007:USDT",
            "wallet:ffffffff-ffff-ffff-ffff-ffffffffffff:USDT"
        ]
    );
}

#[test]
fn refusals_change_nothing() {
    let (prefund, transit) =
        (AccountCode::Prefund(StableCoin::Usdt), AccountCode::InTransit(StableCoin::Usdt));
    let pkr = AccountCode::FxPosition(Currency::Pkr);
    for (case, bad) in [
        (
            "more than available",
            transfer(prefund.clone(), transit.clone(), 1, TransferKind::Pending),
        ),
        ("zero", transfer(transit.clone(), prefund.clone(), 0, TransferKind::Posted)),
        ("negative", transfer(transit.clone(), prefund.clone(), -5, TransferKind::Posted)),
        ("two currencies", transfer(transit.clone(), pkr, 5, TransferKind::Posted)),
        ("no such hold", transfer(transit.clone(), prefund.clone(), 5, TransferKind::VoidPending)),
    ] {
        let mut debit = Account::empty(TENANT, bad.debit.clone());
        let mut credit = Account::empty(TENANT, bad.credit.clone());
        let before = (debit.clone(), credit.clone());
        assert!(book(&mut debit, &mut credit, &bad).is_err(), "{case}");
        assert_eq!((debit, credit), before, "{case}");
    }
}

#[test]
fn a_sum_beyond_64_bits_is_refused() {
    let (external, prefund) =
        (AccountCode::External(StableCoin::Usdt), AccountCode::Prefund(StableCoin::Usdt));
    let mut debit = Account::empty(TENANT, external.clone());
    let mut credit = Account::empty(TENANT, prefund.clone());
    let all = transfer(external.clone(), prefund.clone(), i64::MAX, TransferKind::Posted);
    assert_eq!(book(&mut debit, &mut credit, &all), Ok(()));
    let one_more = transfer(external, prefund, 1, TransferKind::Posted);
    assert!(matches!(
        book(&mut debit, &mut credit, &one_more),
        Err(LedgerRefusal::Impossible(_, _))
    ));
}

#[derive(Clone, Debug)]
enum Act {
    TopUp(i64),
    Reserve(i64),
    Post(usize),
    Void(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        (1_i64..1_000).prop_map(Act::TopUp),
        (1_i64..1_000).prop_map(Act::Reserve),
        (0_usize..8).prop_map(Act::Post),
        (0_usize..8).prop_map(Act::Void),
    ];
    proptest::collection::vec(act, 0..60)
}

proptest! {
    /// I3 and I4: under any sequence of acts, transfers sum to zero, the prefund never goes
    /// negative, and the sums match a model of plain balances and holds.
    #[test]
    fn the_ledger_agrees_with_a_model_of_balances_and_holds(acts in acts()) {
        let coin = StableCoin::Usdt;
        let codes = [AccountCode::External(coin), AccountCode::Prefund(coin), AccountCode::InTransit(coin)];
        let mut accounts: BTreeMap<AccountCode, Account> =
            codes.into_iter().map(|code| (code.clone(), Account::empty(TENANT, code))).collect();
        let mut run = |transfer: &Transfer| {
            let mut debit = accounts[&transfer.debit].clone();
            let mut credit = accounts[&transfer.credit].clone();
            let done = book(&mut debit, &mut credit, transfer).is_ok();
            accounts.insert(debit.code.clone(), debit);
            accounts.insert(credit.code.clone(), credit);
            done
        };
        let (mut free, mut spent, mut holds) = (0_i64, 0_i64, Vec::new());
        let (external, prefund) = (AccountCode::External(coin), AccountCode::Prefund(coin));
        let transit = AccountCode::InTransit(coin);
        for act in acts {
            match act {
                Act::TopUp(minor) => {
                    prop_assert!(run(&transfer(external.clone(), prefund.clone(), minor, TransferKind::Posted)));
                    free += minor;
                }
                Act::Reserve(minor) => {
                    let done = run(&transfer(prefund.clone(), transit.clone(), minor, TransferKind::Pending));
                    prop_assert_eq!(done, minor <= free);
                    if done {
                        free -= minor;
                        holds.push(minor);
                    }
                }
                Act::Post(at) if at < holds.len() => {
                    let minor = holds.remove(at);
                    prop_assert!(run(&transfer(prefund.clone(), transit.clone(), minor, TransferKind::PostPending)));
                    spent += minor;
                }
                Act::Void(at) if at < holds.len() => {
                    let minor = holds.remove(at);
                    prop_assert!(run(&transfer(prefund.clone(), transit.clone(), minor, TransferKind::VoidPending)));
                    free += minor;
                }
                Act::Post(_) | Act::Void(_) => {}
            }
        }
        let reserved: i64 = holds.iter().sum();
        prop_assert_eq!(accounts[&prefund].available().minor, free);
        prop_assert_eq!(accounts[&prefund].balance().minor, free + reserved);
        prop_assert_eq!(accounts[&transit].balance().minor, spent);
        prop_assert_eq!(accounts[&transit].credits_pending, reserved);
        prop_assert_eq!(accounts.values().map(|account| account.balance().minor).sum::<i64>(), 0);
    }
}
