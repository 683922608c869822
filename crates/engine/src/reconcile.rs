//! Reconciliation (I14): what the chain holds and what rails say that they paid, beside the ledger. The worker of that
//! name compares; here is what it found, as it is kept between nodes and told to a person, and how to ask for it.

use std::fmt;

use domain::ids::TenantId;
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::Timestamp;
pub use store::{Covered, Stray};
use store::{Store, StoreError};
use uuid::Uuid;

/// Where the store keeps the newest report.
const REPORT: &str = "reconciliation.report";
/// Where the store keeps the newest wish for one.
const WANTED: &str = "reconciliation.wanted";
/// Bits of a wish behind its number, which tell wishes of one instant apart.
const RANDOM_BITS: u32 = 64;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;
/// Most breaks that a report names.
pub const NAMED_MAX: usize = 1_000;

/// Whom the ledger is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The token's balance on the chain.
    Chain,
    /// The token's transfers as the watcher took them in.
    Watcher,
    /// The rail's reports.
    Rail,
}

impl Side {
    const ALL: [Side; 3] = [Side::Chain, Side::Watcher, Side::Rail];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Chain => "chain",
            Side::Watcher => "watcher",
            Side::Rail => "rail",
        }
    }
}

/// Two that do not agree, in minor units of the account's currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Whose books.
    pub tenant: TenantId,
    /// Which account.
    pub account: AccountCode,
    /// Who says otherwise.
    pub side: Side,
    /// What it says.
    pub said: i64,
    /// The least that would agree with the ledger …
    pub least: i64,
    /// … and the most: between the two lies what is under way.
    pub most: i64,
}

impl fmt::Display for Break {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let money = |minor| Money::new(minor, self.account.currency());
        write!(out, "{}: the {} says {}, ", self.account, self.side.name(), money(self.said))?;
        if self.least == self.most {
            return write!(out, "the ledger {}", money(self.least));
        }
        write!(out, "the ledger {} to {}", money(self.least), money(self.most))
    }
}

/// What one comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// When it was over.
    pub at: Timestamp,
    /// The newest wish at its beginning, if there was one: it fulfils that and all before it.
    pub wanted: Option<Uuid>,
    /// Balances of the chain that were compared.
    pub vaults: usize,
    /// Accounts at rails that were compared.
    pub rails: usize,
    /// How many do not agree.
    pub found: usize,
    /// Those of them that are named: at most [`NAMED_MAX`].
    pub breaks: Vec<Break>,
}

impl Report {
    /// One line of numbers, then one for each break.
    fn to_text(&self) -> String {
        let wanted = self.wanted.unwrap_or_default();
        let mut text = format!("{} {wanted} {} {} {}", self.at.0, self.vaults, self.rails, self.found);
        for it in &self.breaks {
            let (tenant, side) = (it.tenant.0, it.side.name());
            text.push_str(&format!("\n{tenant} {} {side} {} {} {}", it.account, it.said, it.least, it.most));
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

/// The newest report of any node.
///
/// # Errors
/// The store cannot be reached, or the report is not readable.
pub async fn last(store: &Store) -> Result<Option<Report>, StoreError> {
    let text = store.meta(REPORT).await?;
    let unreadable = || StoreError::Corrupt(format!("{REPORT} is not readable"));
    text.map(|text| Report::parse(&text).ok_or_else(unreadable)).transpose()
}

/// Wants a report: the node that has the role makes one soon, and it names this wish or a later one. Each wish is greater
/// than those before it.
///
/// # Errors
/// The store cannot be reached.
pub async fn want(store: &Store) -> Result<Uuid, StoreError> {
    let random = Uuid::from_bytes(store.random()).as_u128() & RANDOM_MASK;
    let number = wanted(store).await?.map_or(0, |wish| wish.as_u128() >> RANDOM_BITS).wrapping_add(1);
    let wish = Uuid::from_u128((number << RANDOM_BITS) | random);
    store.set_meta(WANTED, &wish.to_string()).await?;
    Ok(wish)
}

/// The report that fulfils a wish, where it is there: the one that names it, or one that was made for a later wish. Of
/// several who want one at the same moment one may have written over the others' wishes: they are put again.
///
/// # Errors
/// The store cannot be reached, or the report is not readable.
pub async fn fulfilled(store: &Store, wish: Uuid) -> Result<Option<Report>, StoreError> {
    let report = last(store).await?.filter(|report| report.wanted >= Some(wish));
    if report.is_none() && wanted(store).await? < Some(wish) {
        store.set_meta(WANTED, &wish.to_string()).await?;
    }
    Ok(report)
}

/// The newest wish.
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
        let at = Break { tenant, account, side: Side::Chain, said: 5_000_000, least: 4_000_000, most: 4_000_000 };
        Report { at: Timestamp(9), wanted: None, vaults: 2, rails: 1, found: 1, breaks: vec![at] }
    }

    #[test]
    fn reports_are_kept_as_they_are() {
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
    fn a_break_says_who_says_what() {
        let mut at = report().breaks.remove(0);
        let account = &at.account;
        assert_eq!(at.to_string(), format!("{account}: the chain says 5.000000 USDC, the ledger 4.000000 USDC"));
        at.most = 4_500_000;
        let account = &at.account;
        assert_eq!(
            at.to_string(),
            format!("{account}: the chain says 5.000000 USDC, the ledger 4.000000 USDC to 4.500000 USDC")
        );
    }
}
