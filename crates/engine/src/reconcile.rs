//! Reconciliation (I14) of the ledger with on-chain balances and rails' reports. The worker of that
//! name compares; this module holds its findings as stored between nodes and shown to operators,
//! and lets callers request a run.

use std::fmt;

use domain::ids::TenantId;
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::Timestamp;
pub use store::{Covered, UnmatchedReport};
use store::{Store, StoreError};
use uuid::Uuid;

/// Store key of the latest report.
const REPORT: &str = "reconciliation.report";
/// Store key of the latest request.
const WANTED: &str = "reconciliation.wanted";
/// Random bits after a request's timestamp, which distinguish requests of one instant.
const RANDOM_BITS: u32 = 64;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;
/// Maximum number of discrepancies that a report lists.
pub const NAMED_MAX: usize = 1_000;

/// The source that the ledger is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The token's balance on the chain.
    Chain,
    /// The token transfers that the watcher ingested.
    Watcher,
    Rail,
}

impl Side {
    const ALL: [Side; 3] = [Side::Chain, Side::Watcher, Side::Rail];

    pub const fn name(self) -> &'static str {
        match self {
            Side::Chain => "chain",
            Side::Watcher => "watcher",
            Side::Rail => "rail",
        }
    }
}

/// A discrepancy, in minor units of the account's currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The tenant whose books differ.
    pub tenant: TenantId,
    pub account: AccountCode,
    /// The source that differs.
    pub side: Side,
    /// The amount that it reports.
    pub said: i64,
    /// The smallest amount consistent with the ledger.
    pub least: i64,
    /// The largest amount consistent with the ledger: the difference is in flight.
    pub most: i64,
}

impl fmt::Display for Break {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let money = |minor| Money::new(minor, self.account.currency());
        write!(out, "{}: the {} reports {}, ", self.account, self.side.name(), money(self.said))?;
        if self.least == self.most {
            return write!(out, "the ledger {}", money(self.least));
        }
        write!(out, "the ledger {} to {}", money(self.least), money(self.most))
    }
}

/// The account that the description of a discrepancy names; `None` for any other text.
pub(crate) fn account_named(what: &str) -> Option<AccountCode> {
    let (account, rest) = what.split_once(": the ")?;
    let is_one =
        Side::ALL.iter().any(|side| rest.starts_with(&format!("{} reports ", side.name())));
    AccountCode::parse(account).filter(|_| is_one)
}

/// The result of one comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// When the comparison ended.
    pub at: Timestamp,
    /// The latest request at its start, if any: it fulfils that one and all before it.
    pub wanted: Option<Uuid>,
    /// Number of vaults whose on-chain balance was compared.
    pub vaults: usize,
    /// Number of rail accounts that were compared.
    pub rails: usize,
    pub found: usize,
    /// The listed discrepancies: at most [`NAMED_MAX`].
    pub breaks: Vec<Break>,
}

impl Report {
    /// One line of numbers, then one per discrepancy.
    fn to_text(&self) -> String {
        let wanted = self.wanted.unwrap_or_default();
        let mut text =
            format!("{} {wanted} {} {} {}", self.at.0, self.vaults, self.rails, self.found);
        for it in &self.breaks {
            let (tenant, side) = (it.tenant.0, it.side.name());
            text.push_str(&format!(
                "\n{tenant} {} {side} {} {} {}",
                it.account, it.said, it.least, it.most
            ));
        }
        text
    }

    fn parse(text: &str) -> Option<Report> {
        let mut lines = text.lines();
        let [at, wanted, vaults, rails, found] = words(lines.next()?)?;
        let wanted = wanted.parse::<Uuid>().ok()?;
        let breaks = lines.map(|line| {
            let [tenant, account, side, said, least, most] = words(line)?;
            Some(Break {
                tenant: TenantId(tenant.parse().ok()?),
                account: AccountCode::parse(account)?,
                side: Side::ALL.into_iter().find(|known| known.name() == side)?,
                said: said.parse().ok()?,
                least: least.parse().ok()?,
                most: most.parse().ok()?,
            })
        });
        Some(Report {
            at: Timestamp(at.parse().ok()?),
            wanted: (!wanted.is_nil()).then_some(wanted),
            vaults: vaults.parse().ok()?,
            rails: rails.parse().ok()?,
            found: found.parse().ok()?,
            breaks: breaks.collect::<Option<_>>()?,
        })
    }
}

fn words<const N: usize>(line: &str) -> Option<[&str; N]> {
    line.split(' ').collect::<Vec<_>>().try_into().ok()
}

/// The latest report of any node.
pub async fn last(store: &Store) -> Result<Option<Report>, StoreError> {
    let text = store.meta(REPORT).await?;
    let unreadable = || StoreError::Corrupt(format!("{REPORT} is not readable"));
    text.map(|text| Report::parse(&text).ok_or_else(unreadable)).transpose()
}

/// Requests a report: the node that holds the role creates one soon, and it names this request or a
/// later one. Request ids increase.
pub async fn want(store: &Store) -> Result<Uuid, StoreError> {
    let random = Uuid::from_bytes(store.random()).as_u128() & RANDOM_MASK;
    let number =
        wanted(store).await?.map_or(0, |wish| wish.as_u128() >> RANDOM_BITS).wrapping_add(1);
    let wish = Uuid::from_u128((number << RANDOM_BITS) | random);
    store.set_meta(WANTED, &wish.to_string()).await?;
    Ok(wish)
}

/// The report that fulfils a request, once it exists: the one that names it or a later one.
/// Concurrent requests may overwrite each other: a lost request is stored again.
pub async fn fulfilled(store: &Store, wish: Uuid) -> Result<Option<Report>, StoreError> {
    let report = last(store).await?.filter(|report| report.wanted >= Some(wish));
    if report.is_none() && wanted(store).await? < Some(wish) {
        store.set_meta(WANTED, &wish.to_string()).await?;
    }
    Ok(report)
}

/// The id of the latest request, if any.
pub(crate) async fn wanted(store: &Store) -> Result<Option<Uuid>, StoreError> {
    Ok(store.meta(WANTED).await?.and_then(|text| text.parse().ok()))
}

pub(crate) async fn keep(store: &Store, report: &Report) -> Result<(), StoreError> {
    store.set_meta(REPORT, &report.to_text()).await
}

#[cfg(test)]
mod tests {
    use domain::currency::StableCoin;
    use domain::ids::WalletId;

    use super::*;

    fn report() -> Report {
        let account = AccountCode::Wallet(WalletId(Uuid::from_u128(7)), StableCoin::Usdc);
        let tenant = TenantId(Uuid::from_u128(3));
        let at = Break {
            tenant,
            account,
            side: Side::Chain,
            said: 5_000_000,
            least: 4_000_000,
            most: 4_000_000,
        };
        Report { at: Timestamp(9), wanted: None, vaults: 2, rails: 1, found: 1, breaks: vec![at] }
    }

    #[test]
    fn reports_round_trip() {
        let mut report = report();
        assert_eq!(Report::parse(&report.to_text()).as_ref(), Some(&report));
        report.wanted = Some(Uuid::from_u128(1));
        report.breaks.clear();
        assert_eq!(Report::parse(&report.to_text()).as_ref(), Some(&report));
        for wrong in ["", "1 2 3", "1 00000000-0000-0000-0000-000000000000 1 1 1\nx"] {
            assert_eq!(Report::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_discrepancy_names_both_sides() {
        let mut at = report().breaks.remove(0);
        let account = &at.account;
        assert_eq!(
            at.to_string(),
            format!("{account}: the chain reports 5.000000 USDC, the ledger 4.000000 USDC")
        );
        assert_eq!(account_named(&at.to_string()), Some(account.clone()));
        for other in ["", "two nodes disagree: the chain reports 5", "wallet: the chain reports 5"]
        {
            assert_eq!(account_named(other), None, "{other}");
        }
        at.most = 4_500_000;
        let account = &at.account;
        assert_eq!(
            at.to_string(),
            format!(
                "{account}: the chain reports 5.000000 USDC, the ledger 4.000000 USDC to 4.500000 USDC"
            )
        );
    }
}
