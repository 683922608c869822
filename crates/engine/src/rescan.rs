//! Rescans of blocks: a payment that a node omitted when its block was ingested is found by its
//! transaction, by its vault, or in a range of blocks. The watcher executes them; this module
//! requests them and reads their results.

use std::fmt;

use domain::chain::{Address, ChainNumber, TxHash};
use domain::time::Timestamp;
use store::{Store, StoreError};
use uuid::Uuid;

use crate::batcher::fresh_id;

/// Store key of a chain's requests, one per line, oldest first.
const WANTED: &str = "chain.rescan.wanted";
/// Store key of a chain's latest reports, one per line, oldest first.
const REPORTS: &str = "chain.rescan.reports";
/// Maximum number of waiting requests and of retained reports: a further one displaces the oldest.
pub const KEPT_MAX: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The block that a transaction is in.
    Tx(TxHash),
    /// Every block in which a node knows a payment to this vault.
    Vault(Address),
    /// An inclusive range of blocks.
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

/// Parses the hash of a transaction.
///
/// # Errors
/// What it must be.
pub fn parse_tx(text: &str) -> Result<TxHash, &'static str> {
    TxHash::parse(text).ok_or("must be 0x and 64 hexadecimal digits")
}

/// Parses the address of a vault; mixed case must be a valid checksum.
///
/// # Errors
/// What it must be.
pub fn parse_vault(text: &str) -> Result<Address, &'static str> {
    Address::parse_checked(text)
        .ok_or("must be 0x and 40 hexadecimal digits, with a valid checksum")
}

impl Target {
    /// An inclusive range of blocks; `None` if it ends before it begins.
    pub fn blocks(from: u64, to: u64) -> Option<Target> {
        (from <= to).then_some(Target::Blocks(from, to))
    }

    fn parse(text: &str) -> Option<Target> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["tx", tx] => Some(Target::Tx(TxHash::parse(tx)?)),
            ["address", vault] => Some(Target::Vault(Address::parse(vault)?)),
            ["blocks", from, to] => Some(Target::Blocks(from.parse().ok()?, to.parse().ok()?)),
            _ => None,
        }
    }
}

/// A request that has not been executed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    pub id: Uuid,
    pub target: Target,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub wish: Uuid,
    /// What was to be rescanned.
    pub target: Target,
    /// When the rescan ended.
    pub at: Timestamp,
    /// Number of blocks read again.
    pub blocks: usize,
    /// Transfers to our vaults that had been omitted.
    pub found: usize,
    /// Why the rescan failed; empty = it succeeded.
    pub trouble: String,
}

impl Report {
    fn to_line(&self) -> String {
        let trouble = self.trouble.replace(['\n', '\t'], " ");
        format!(
            "{} {} {} {} {}\t{trouble}",
            self.wish, self.at.0, self.blocks, self.found, self.target
        )
    }

    fn parse(line: &str) -> Option<Report> {
        let (facts, trouble) = line.split_once('\t')?;
        let mut words = facts.splitn(5, ' ');
        let mut next = || words.next();
        Some(Report {
            wish: next()?.parse().ok()?,
            at: Timestamp(next()?.parse().ok()?),
            blocks: next()?.parse().ok()?,
            found: next()?.parse().ok()?,
            target: Target::parse(next()?)?,
            trouble: trouble.to_owned(),
        })
    }
}

async fn lines(store: &Store, chain: ChainNumber, key: &str) -> Result<Vec<String>, StoreError> {
    Ok(store.meta(&chain.key(key)).await?.unwrap_or_default().lines().map(str::to_owned).collect())
}

/// Requests a rescan; `id` names the request. A request already waiting under this id is not made twice.
pub async fn want(
    store: &Store,
    chain: ChainNumber,
    id: Uuid,
    target: Target,
) -> Result<(), StoreError> {
    let line = format!("{id} {target}");
    store.change_meta(&chain.key(WANTED), |known| wanted_with(known, &line)).await
}

fn wanted_with(known: &str, line: &str) -> String {
    let is_new = !known.lines().any(|known| known == line);
    let wanted: Vec<&str> = known.lines().chain(is_new.then_some(line)).collect();
    wanted[wanted.len().saturating_sub(KEPT_MAX)..].join("\n")
}

/// Requests a rescan whose report no caller waits for; `false` = the same target is already waiting.
pub async fn want_if_new(
    store: &Store,
    chain: ChainNumber,
    target: Target,
) -> Result<bool, StoreError> {
    if wishes(store, chain).await?.iter().any(|wish| wish.target == target) {
        return Ok(false);
    }
    want(store, chain, fresh_id(store), target).await?;
    Ok(true)
}

/// Whether a request is still waiting.
pub async fn is_wanted(store: &Store, chain: ChainNumber, id: Uuid) -> Result<bool, StoreError> {
    Ok(wishes(store, chain).await?.iter().any(|wish| wish.id == id))
}

/// A chain's waiting requests, oldest first.
pub async fn wishes(store: &Store, chain: ChainNumber) -> Result<Vec<Wish>, StoreError> {
    let parse = |line: &String| {
        let (id, target) = line.split_once(' ')?;
        Some(Wish { id: id.parse().ok()?, target: Target::parse(target)? })
    };
    Ok(lines(store, chain, WANTED).await?.iter().filter_map(parse).collect())
}

/// The result of a request; `None` = it is waiting, or its report is no longer retained.
pub async fn report(
    store: &Store,
    chain: ChainNumber,
    wish: Uuid,
) -> Result<Option<Report>, StoreError> {
    Ok(reports(store, chain).await?.into_iter().find(|report| report.wish == wish))
}

/// A chain's retained results, oldest first.
pub async fn reports(store: &Store, chain: ChainNumber) -> Result<Vec<Report>, StoreError> {
    Ok(lines(store, chain, REPORTS).await?.iter().filter_map(|line| Report::parse(line)).collect())
}

/// Completes a request. It is removed before its report is stored: a caller that read the report
/// can request something else, and one whose request is lost in between requests again.
pub(crate) async fn fulfil(
    store: &Store,
    chain: ChainNumber,
    report: &Report,
) -> Result<(), StoreError> {
    let id = report.wish.to_string();
    let without = |known: &str| {
        known.lines().filter(|line| !line.starts_with(&id)).collect::<Vec<_>>().join("\n")
    };
    store.change_meta(&chain.key(WANTED), without).await?;
    let line = report.to_line();
    let with = |known: &str| {
        let reports: Vec<&str> = known.lines().chain([line.as_str()]).collect();
        reports[reports.len().saturating_sub(KEPT_MAX)..].join("\n")
    };
    store.change_meta(&chain.key(REPORTS), with).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_request_displaces_no_other_however_often_it_is_made() {
        let mut wanted = String::new();
        for _ in 0..2 * KEPT_MAX {
            wanted = wanted_with(&wanted, "one tx");
            wanted = wanted_with(&wanted, "two tx");
        }
        assert_eq!(wanted, "one tx\ntwo tx");
        wanted =
            (0..=KEPT_MAX).fold(wanted, |wanted, at| wanted_with(&wanted, &format!("{at} tx")));
        assert_eq!(wanted.lines().count(), KEPT_MAX);
    }

    #[test]
    fn requests_and_reports_round_trip() {
        for target in [
            Target::Tx(TxHash([7; 32])),
            Target::Vault(Address([9; 20])),
            Target::Blocks(3, 4_000_000_000),
        ] {
            assert_eq!(Target::parse(&target.to_string()), Some(target));
        }
        for wrong in ["", "tx", "tx 0x12", "blocks 1", "blocks 1 x", "address 0x"] {
            assert_eq!(Target::parse(wrong), None, "{wrong}");
        }
        let report = Report {
            wish: Uuid::from_u128(5),
            target: Target::Blocks(3, 4),
            at: Timestamp(9),
            blocks: 2,
            found: 1,
            trouble: "no node has it".to_owned(),
        };
        assert_eq!(Report::parse(&report.to_line()), Some(report.clone()));
        let report = Report { trouble: String::new(), ..report };
        assert_eq!(Report::parse(&report.to_line()), Some(report.clone()));
        let report = Report { trouble: "two\nlines\tand a tab".to_owned(), ..report };
        let read = Report::parse(&report.to_line()).expect("one line");
        assert_eq!((read.target, read.trouble.as_str()), (report.target, "two lines and a tab"));
    }

    #[test]
    fn a_target_is_checked_before_it_is_requested() {
        let tx = TxHash([7; 32]);
        assert_eq!(parse_tx(&tx.to_string()), Ok(tx));
        assert_eq!(parse_tx("0x12"), Err("must be 0x and 64 hexadecimal digits"));
        let vault = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
        assert_eq!(parse_vault(vault).map(|address| address.to_string()), Ok(vault.to_owned()));
        assert!(parse_vault(&vault.replace('D', "d")).is_err(), "a wrong checksum");
        assert_eq!(
            (Target::blocks(3, 3), Target::blocks(4, 3)),
            (Some(Target::Blocks(3, 3)), None)
        );
    }
}
