//! The books once more: balances from the transfers, and from the payments alone what each account should hold.

use std::collections::BTreeMap;

use super::rows::{AccountRow, Booked, Key, TransferRow};
use super::wallets::books::Expected;

/// Kinds of accounts of which all is known that ever moves over them.
const WATCHED: [&str; 12] = [
    "prefund:",
    "in_transit:",
    "fee_income:",
    "rail_cost:",
    "nostro:",
    "escrow:",
    "wallet:",
    "unswept:",
    "treasury:",
    "exchanged:",
    "payout_suspense:",
    "suspense:",
];

type Balances = BTreeMap<(Key, String), [i64; 4]>;

/// What does not add up.
pub(super) fn check(
    transfers: &[TransferRow],
    accounts: &[AccountRow],
    payments: &[Booked],
    expected: Expected,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut folded = fold(transfers);
    let mut currencies: BTreeMap<(Key, &str), [i64; 2]> = BTreeMap::new();
    for (tenant, code, sums) in accounts {
        let expected = folded.remove(&(*tenant, code.clone())).unwrap_or_default();
        if *sums != expected {
            faults.push(format!("I4: {code} holds {sums:?}, its transfers make {expected:?}"));
        }
        let currency = code.rsplit(':').next().unwrap_or_default();
        let total = currencies.entry((*tenant, currency)).or_default();
        total[0] += sums[2] - sums[0];
        total[1] += sums[3] - sums[1];
    }
    faults.extend(
        folded.into_iter().filter(|(_, sums)| *sums != [0; 4]).map(|((_, code), sums)| {
            format!("I4: {code} has transfers of {sums:?} and no account")
        }),
    );
    faults.extend(currencies.into_iter().filter(|(_, total)| *total != [0, 0]).map(
        |((_, currency), total)| format!("I3: {currency} does not sum to zero but to {total:?}"),
    ));
    faults.extend(expectations(accounts, payments, expected));
    faults
}

/// Every account's debits pending, debits posted, credits pending and credits posted.
fn fold(transfers: &[TransferRow]) -> Balances {
    let mut balances = Balances::new();
    for (tenant, debit, credit, amount, kind) in transfers {
        let (pending, posted) = match kind.as_str() {
            "pending" => (*amount, 0),
            "post_pending" => (-amount, *amount),
            "void_pending" => (-amount, 0),
            _ => (0, *amount),
        };
        let taken = balances.entry((*tenant, debit.clone())).or_default();
        taken[0] += pending;
        taken[1] += posted;
        let given = balances.entry((*tenant, credit.clone())).or_default();
        given[2] += pending;
        given[3] += posted;
    }
    balances
}

/// What accounts hold (credits less debits, posted and pending) against what the payments, and what else is `expected`,
/// say they should.
fn expectations(
    accounts: &[AccountRow],
    payments: &[Booked],
    mut expected: Expected,
) -> Vec<String> {
    let deposited: BTreeMap<(Key, String), i64> = expected
        .iter()
        .filter(|((_, code), _)| code.starts_with("external:"))
        .map(|((tenant, code), sums)| ((*tenant, code.clone()), sums[0]))
        .collect();
    let mut add = |tenant: Key, code: String, posted: i64, pending: i64| {
        let sums = expected.entry((tenant, code)).or_default();
        sums[0] += posted;
        sums[1] += pending;
    };
    for (tenant, code, sums) in accounts {
        if let Some(coin) = code.strip_prefix("external:") {
            // What did not come over the chain was paid in.
            let paid_in =
                sums[1] - sums[3] + deposited.get(&(*tenant, code.clone())).copied().unwrap_or(0);
            add(*tenant, format!("prefund:{coin}"), paid_in, 0);
            add(*tenant, code.clone(), -paid_in, 0);
        }
    }
    for payment in payments {
        let (tenant, coin) = (payment.tenant, &payment.coin);
        let [amount, premium, cost] = payment.charge;
        let (prefund, transit) = (format!("prefund:{coin}"), format!("in_transit:{coin}"));
        if matches!(payment.state.as_str(), "queued" | "processing" | "unknown") {
            add(tenant, prefund, 0, -(amount + premium + cost));
            add(tenant, transit, 0, amount + premium + cost);
            continue;
        }
        if !payment.settled {
            continue;
        }
        add(tenant, format!("fee_income:{coin}"), premium, 0);
        add(tenant, format!("rail_cost:{coin}"), cost, 0);
        let returned = payment.state == "reversed";
        add(tenant, prefund, -(premium + cost) - if returned { 0 } else { amount }, 0);
        if let (false, Some((rail, currency))) = (returned, &payment.rail) {
            add(tenant, format!("nostro:{rail}:{currency}"), -payment.amount, 0);
        }
    }
    let watched = WATCHED;
    let mut faults = Vec::new();
    let shortfalls: BTreeMap<(Key, String), i64> = accounts
        .iter()
        .filter_map(|(tenant, code, sums)| {
            let wallet = format!("wallet:{}", code.strip_prefix("shortfall:")?);
            Some(((*tenant, wallet), sums[3] - sums[1]))
        })
        .collect();
    for (tenant, code, sums) in
        accounts.iter().filter(|(_, code, _)| watched.iter().any(|kind| code.starts_with(kind)))
    {
        let lacks = shortfalls.get(&(*tenant, code.clone())).copied().unwrap_or(0);
        if lacks != 0 && (lacks > 0 || sums[3] - sums[1] > sums[0]) {
            faults.push(format!("I4: {code} has something available and a shortfall of {lacks}"));
        }
        let holds = [sums[3] - sums[1] + lacks, sums[2] - sums[0]];
        let should = expected.remove(&(*tenant, code.clone())).unwrap_or_default();
        if holds != should {
            faults.push(format!(
                "I4: {code} holds {holds:?}, payments, deposits and orders make {should:?}"
            ));
        }
    }
    let missing = expected
        .into_iter()
        .filter(|((_, code), sums)| !code.starts_with("external:") && *sums != [0, 0]);
    faults.extend(missing.map(|((_, code), sums)| {
        format!("I4: {code} is missing, payments, deposits and orders make {sums:?}")
    }));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENANT: Key = [1; 16];

    fn transfer(debit: &str, credit: &str, amount: i64, kind: &str) -> TransferRow {
        (TENANT, debit.to_owned(), credit.to_owned(), amount, kind.to_owned())
    }

    fn accounts(rows: &[(&str, [i64; 4])]) -> Vec<AccountRow> {
        rows.iter().map(|(code, sums)| (TENANT, (*code).to_owned(), *sums)).collect()
    }

    fn queued() -> Booked {
        Booked {
            tenant: TENANT,
            state: "queued".to_owned(),
            coin: "USDT".to_owned(),
            charge: [7, 2, 1],
            amount: 500,
            settled: false,
            rail: None,
        }
    }

    #[test]
    fn books_that_add_up_have_no_faults_and_each_wrong_sum_is_named() {
        let transfers = [
            transfer("external:USDT", "prefund:USDT", 100, "posted"),
            transfer("prefund:USDT", "in_transit:USDT", 10, "pending"),
        ];
        let right = [
            ("external:USDT", [0, 100, 0, 0]),
            ("prefund:USDT", [10, 0, 0, 100]),
            ("in_transit:USDT", [0, 0, 10, 0]),
        ];
        assert_eq!(check(&transfers, &accounts(&right), &[queued()], Expected::new()), [""; 0]);
        assert!(
            !check(&transfers, &accounts(&right), &[], Expected::new()).is_empty(),
            "a reservation of nothing"
        );
        for place in 0..3 {
            for sum in 0..4 {
                let mut wrong = right;
                wrong[place].1[sum] += 1;
                assert!(
                    !check(&transfers, &accounts(&wrong), &[queued()], Expected::new()).is_empty(),
                    "{place} {sum}"
                );
            }
        }
    }

    #[test]
    fn a_payment_at_its_end_must_have_left_its_traces() {
        let ended = |state: &str, settled| Booked { state: state.to_owned(), settled, ..queued() };
        assert_eq!(check(&[], &[], &[ended("failed", false)], Expected::new()), [""; 0]);
        let mut paid = ended("succeeded", true);
        paid.rail = Some(("pak-plain".to_owned(), "PKR".to_owned()));
        assert_eq!(check(&[], &[], &[paid], Expected::new()).len(), 4);
        assert_eq!(check(&[], &[], &[ended("reversed", true)], Expected::new()).len(), 3);
    }
}
