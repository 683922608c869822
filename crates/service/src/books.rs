//! Verifies the books: every balance recomputed from the transfers, every currency summed, every
//! open payment with a job.

use std::collections::BTreeMap;

use domain::currency::Currency;
use domain::ledger::Account;
use domain::money::Money;
use store::{BookFault, Store, StoreError, Tenant};

/// Maximum number of payments without a job that are listed.
const NAMED_MAX: usize = 100;

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of tenants verified.
    pub tenants: usize,
    /// Number of accounts verified.
    pub accounts: usize,
    /// Discrepancies, one sentence each.
    pub findings: Vec<String>,
}

/// Verifies the books of every tenant.
pub async fn verify(store: &Store) -> Result<Report, StoreError> {
    verify_some(store, &store.tenants().await?).await
}

/// Verifies the books of some tenants, and that every open payment has a job.
pub async fn verify_some(store: &Store, tenants: &[Tenant]) -> Result<Report, StoreError> {
    let mut report = Report::default();
    for tenant in tenants {
        let accounts = store.accounts(tenant.id).await?;
        report.tenants += 1;
        report.accounts += accounts.len();
        report.findings.extend(
            imbalances(&accounts).into_iter().map(|what| format!("{}: {what}", tenant.tag)),
        );
        // Sums are read one after another: while payments continue, a difference must persist in a
        // second read.
        let first = store.verify_books(tenant.id).await?;
        if !first.is_empty() {
            let second = store.verify_books(tenant.id).await?;
            let standing = second.iter().filter(|fault| first.contains(fault));
            report
                .findings
                .extend(standing.map(|fault| format!("{}: {}", tenant.tag, told(fault))));
        }
    }
    for (_, payment) in store.payments_without_job(NAMED_MAX).await? {
        report.findings.push(format!("payment {payment} is not final and has no job"));
    }
    Ok(report)
}

/// The sum of all balances of each currency, in minor units; zero if the books balance.
fn sums(accounts: &[Account]) -> BTreeMap<Currency, i64> {
    let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
    for account in accounts {
        let sum = sums.entry(account.code.currency()).or_default();
        *sum = sum.saturating_add(account.balance().minor);
    }
    sums
}

/// The currencies whose balances do not sum to zero.
fn imbalances(accounts: &[Account]) -> Vec<String> {
    let off = sums(accounts).into_iter().filter(|(_, sum)| *sum != 0);
    off.map(|(currency, sum)| {
        format!("balances sum to {} instead of zero", Money::new(sum, currency))
    })
    .collect()
}

fn told(fault: &BookFault) -> String {
    match fault {
        BookFault::Sums { stored, recomputed } => format!(
            "{}: debits {} pending {}, credits {} pending {} stored; {} pending {}, {} pending {} by its transfers",
            stored.code,
            stored.debits_posted,
            stored.debits_pending,
            stored.credits_posted,
            stored.credits_pending,
            recomputed.debits_posted,
            recomputed.debits_pending,
            recomputed.credits_posted,
            recomputed.credits_pending,
        ),
        BookFault::LooseEnds(count) => {
            format!("{count} transfers end a reservation that does not exist")
        }
    }
}
