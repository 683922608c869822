//! Looking through blocks again: a payment that a node left out when its block was taken in is found by its transaction, by
//! its vault, or in a range of blocks. The watcher does it; here is how to ask for it, and what came of it.

use std::fmt;

use domain::chain::{Address, TxHash};
use domain::time::Timestamp;
use store::{Store, StoreError};
use uuid::Uuid;

/// Where the store keeps the wishes, one a line, the oldest first.
const WANTED: &str = "chain.rescan.wanted";
/// Where the store keeps the newest reports, one a line, the oldest first.
const REPORTS: &str = "chain.rescan.reports";
/// Most wishes that wait, and reports that are kept.
const KEPT_MAX: usize = 256;

/// What is to be looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The block that a transaction is in.
    Tx(TxHash),
    /// Every block in which a node knows a payment to this vault.
    Vault(Address),
    /// A range of blocks, both included.
    Blocks(u64, u64),
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Tx(tx) => write!(out, "tx {tx}"),
            Target::Vault(vault) => write!(out, "address {vault}"),
            Target::Blocks(from, to) => write!(out, "blocks {from} {to}"),
        }
    }
}

impl Target {
    fn parse(text: &str) -> Option<Target> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["tx", tx] => Some(Target::Tx(TxHash::parse(tx)?)),
            ["address", vault] => Some(Target::Vault(Address::parse(vault)?)),
            ["blocks", from, to] => Some(Target::Blocks(from.parse().ok()?, to.parse().ok()?)),
            _ => None,
        }
    }
}

/// A wish that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Names it.
    pub id: Uuid,
    /// What it is.
    pub target: Target,
}

/// What came of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The wish.
    pub wish: Uuid,
    /// When it was over.
    pub at: Timestamp,
    /// Blocks that were read again.
    pub blocks: usize,
    /// Transfers of our vaults that had been left out.
    pub found: usize,
    /// Why nothing could be looked through, in words; empty = it was.
    pub trouble: String,
}

impl Report {
    fn to_line(&self) -> String {
        let trouble = self.trouble.replace('\n', " ");
        format!("{} {} {} {} {trouble}", self.wish, self.at.0, self.blocks, self.found)
    }

    fn parse(line: &str) -> Option<Report> {
        let mut words = line.splitn(5, ' ');
        let mut next = || words.next();
        Some(Report {
            wish: next()?.parse().ok()?,
            at: Timestamp(next()?.parse().ok()?),
            blocks: next()?.parse().ok()?,
            found: next()?.parse().ok()?,
            trouble: next()?.to_owned(),
        })
    }
}

async fn lines(store: &Store, key: &str) -> Result<Vec<String>, StoreError> {
    Ok(store.meta(key).await?.unwrap_or_default().lines().map(str::to_owned).collect())
}

/// Wants something looked through; `id` names the wish. What waits already under this id is not wanted twice.
///
/// # Errors
/// The store cannot be reached.
pub async fn want(store: &Store, id: Uuid, target: Target) -> Result<(), StoreError> {
    let line = format!("{id} {target}");
    store.change_meta(WANTED, |known| wanted_with(known, &line)).await
}

fn wanted_with(known: &str, line: &str) -> String {
    let is_new = !known.lines().any(|known| known == line);
    let wanted: Vec<&str> = known.lines().chain(is_new.then_some(line)).collect();
    wanted[wanted.len().saturating_sub(KEPT_MAX)..].join("\n")
}

/// Whether a wish still waits.
///
/// # Errors
/// The store cannot be reached.
pub async fn is_wanted(store: &Store, id: Uuid) -> Result<bool, StoreError> {
    Ok(wishes(store).await?.iter().any(|wish| wish.id == id))
}

/// The wishes that wait, the oldest first.
pub(crate) async fn wishes(store: &Store) -> Result<Vec<Wish>, StoreError> {
    let parse = |line: &String| {
        let (id, target) = line.split_once(' ')?;
        Some(Wish { id: id.parse().ok()?, target: Target::parse(target)? })
    };
    Ok(lines(store, WANTED).await?.iter().filter_map(parse).collect())
}

/// What came of a wish; `None` = it waits, or its report is no longer kept.
///
/// # Errors
/// The store cannot be reached.
pub async fn report(store: &Store, wish: Uuid) -> Result<Option<Report>, StoreError> {
    let reports = lines(store, REPORTS).await?;
    Ok(reports.iter().filter_map(|line| Report::parse(line)).find(|report| report.wish == wish))
}

/// A wish is fulfilled. It goes before its report is there: a caller that has read the report can ask for something else, and
/// one whose wish is lost in between asks again.
pub(crate) async fn fulfil(store: &Store, report: &Report) -> Result<(), StoreError> {
    let id = report.wish.to_string();
    let without = |known: &str| known.lines().filter(|line| !line.starts_with(&id)).collect::<Vec<_>>().join("\n");
    store.change_meta(WANTED, without).await?;
    let line = report.to_line();
    let with = |known: &str| {
        let reports: Vec<&str> = known.lines().chain([line.as_str()]).collect();
        reports[reports.len().saturating_sub(KEPT_MAX)..].join("\n")
    };
    store.change_meta(REPORTS, with).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_that_waits_displaces_no_other_however_often_it_is_made() {
        let mut wanted = String::new();
        for _ in 0..2 * KEPT_MAX {
            wanted = wanted_with(&wanted, "one tx");
            wanted = wanted_with(&wanted, "two tx");
        }
        assert_eq!(wanted, "one tx\ntwo tx");
        wanted = (0..=KEPT_MAX).fold(wanted, |wanted, at| wanted_with(&wanted, &format!("{at} tx")));
        assert_eq!(wanted.lines().count(), KEPT_MAX);
    }

    #[test]
    fn wishes_and_reports_are_kept_as_they_are() {
        for target in [Target::Tx(TxHash([7; 32])), Target::Vault(Address([9; 20])), Target::Blocks(3, 4_000_000_000)] {
            assert_eq!(Target::parse(&target.to_string()), Some(target));
        }
        for wrong in ["", "tx", "tx 0x12", "blocks 1", "blocks 1 x", "address 0x"] {
            assert_eq!(Target::parse(wrong), None, "{wrong}");
        }
        let report = Report {
            wish: Uuid::from_u128(5),
            at: Timestamp(9),
            blocks: 2,
            found: 1,
            trouble: "no node has it".to_owned(),
        };
        assert_eq!(Report::parse(&report.to_line()), Some(report.clone()));
        let report = Report { trouble: String::new(), ..report };
        assert_eq!(Report::parse(&report.to_line()), Some(report));
    }
}
