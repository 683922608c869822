//! Refuses what a source has in place of a list if it would clear names that the list before has: another
//! list, one that is incomplete, and an earlier edition.

use std::collections::HashSet;

use domain::time::{Span, Timestamp};

use super::read::kept;
use super::{KEPT_FOR, ListSettings, ListSource, Loaded, RefreshError, hex};
use crate::screening::entry::{List, ListEntry};

/// A refreshed list with less than this share of the old one's entries, names or addresses counts as a
/// broken download, in per cent.
const SHRUNK_BELOW_PERCENT: usize = 50;
/// The same for a list that had at least [`LONG_LIST`] entries: publishers remove few at a time.
const LONG_SHRUNK_BELOW_PERCENT: usize = 80;
const LONG_LIST: usize = 100;
/// A list with fewer addresses may lose all of them at once.
const FEW_ADDRESSES: usize = 10;

/// Refuses another list than the one before, and one that lost too many of its entries.
pub(super) fn refuse_replaced(
    source: &ListSource,
    before: &List,
    now: &List,
) -> Result<(), RefreshError> {
    let remedy = match source.is_remote() {
        true => "under another address or as a file",
        false => "under another file name",
    };
    let list = source.named(now);
    if is_other(before, now) {
        return Err(RefreshError::OtherList { list, before: before.name.clone(), remedy });
    }
    match shrunk(before, now, source.is_remote()) {
        Some((what, before, now)) => Err(RefreshError::Shrunk { list, what, before, now, remedy }),
        None => Ok(()),
    }
}

/// Whether a list is another than the one before. The name of a publisher's list tells; an own list may be
/// renamed with each edition, and all of OpenSanctions have one name: these keep at least half of their
/// entries, each with its id and one of its names.
fn is_other(before: &List, now: &List) -> bool {
    const OPEN: &str = "OPENSANCTIONS";
    const PUBLISHED: [&str; 5] = ["EU-FSF", "OFAC-CONS", "OFAC-SDN", "UK", "UN-SC"];
    let is_own = |list: &List| list.name != OPEN && !PUBLISHED.contains(&list.name.as_str());
    let is_renamed = before.name != now.name;
    if is_renamed && !(is_own(before) && is_own(now)) {
        return true;
    }
    if !is_renamed && now.name != OPEN {
        return false;
    }
    fn named(list: &List) -> impl Iterator<Item = (usize, &str, &str)> {
        let entries = list.entries.iter().enumerate();
        entries.flat_map(|(at, entry)| {
            let names = entry.names.iter().map(|name| name.text.as_str());
            names.map(move |name| (at, entry.uid.as_str(), name))
        })
    }
    let known: HashSet<(&str, &str)> = named(now).map(|(_, uid, name)| (uid, name)).collect();
    let kept = named(before).filter(|(_, uid, name)| known.contains(&(*uid, *name)));
    let kept: HashSet<usize> = kept.map(|(at, ..)| at).collect();
    kept.len() * 2 < before.entries.len()
}

/// What a list lost too many of, with their numbers before and now.
fn shrunk(before: &List, now: &List, is_remote: bool) -> Option<(&'static str, usize, usize)> {
    let numbers = |list: &List| {
        let sum = |count: fn(&ListEntry) -> usize| list.entries.iter().map(count).sum();
        [sum(|_| 1), sum(|entry| entry.names.len()), sum(|entry| entry.addresses.len())]
    };
    let mut counted = ["entries", "names", "addresses"]
        .into_iter()
        .zip(numbers(before))
        .zip(numbers(now))
        .map(|((what, before), now)| (what, before, now));
    counted.find(|(what, before, now)| {
        let is_few = *what == "addresses" && *before < FEW_ADDRESSES;
        !is_few && is_shrunk(*before, *now, is_remote)
    })
}

/// Whether a list lost so many entries that it is probably incomplete. A file is not downloaded in
/// pieces, and its owner may remove a part on purpose.
pub(in crate::screening) const fn is_shrunk(before: usize, now: usize, is_remote: bool) -> bool {
    let is_long = is_remote && before >= LONG_LIST;
    let least = if is_long { LONG_SHRUNK_BELOW_PERCENT } else { SHRUNK_BELOW_PERCENT };
    now * 100 < before * least
}

/// Refuses a list that was published before the one in force, or before the stored copy.
pub(super) async fn refuse_older(
    source: &ListSource,
    settings: &ListSettings,
    list: &List,
    before: Option<&Loaded>,
    stored: Option<&str>,
    now: Timestamp,
) -> Result<(), RefreshError> {
    // The copy counts only if it could be used itself, and is neither of the two.
    let known = [Some(&list.sha256), before.map(|before| &before.list.sha256)];
    let is_known = |digest: &&str| known.into_iter().flatten().any(|sha256| hex(sha256) == *digest);
    let stored = match stored.filter(|digest| !is_known(digest)) {
        Some(_) => kept(source, settings).await,
        None => None,
    };
    let stored = stored.filter(|(_, read_at)| now - *read_at <= KEPT_FOR);
    let of_stored = stored.and_then(|(stored, _)| stored.published);
    // The same list may come from a server with another date of the file.
    let is_other =
        |before: &&Loaded| before.list.sha256 != list.sha256 && now - before.read_at <= KEPT_FOR;
    let of_before = before.filter(is_other).and_then(|before| before.list.published);
    // A date that lies ahead is wrong, and must not keep out what is published until then.
    let tomorrow = (now + Span::days(1)).date();
    let known = [of_before, of_stored].into_iter().flatten().filter(|day| *day <= tomorrow);
    match (list.published, known.max()) {
        (Some(now), Some(before)) if now < before => {
            Err(RefreshError::Older { list: source.named(list), before, now })
        }
        _ => Ok(()),
    }
}
