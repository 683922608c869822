//! Whether the chains are what was noted, as `corridor audit verify` finds it out. A request recomputes a bounded number
//! of entries; a longer chain is gone on with behind the last one that was found right, which only a link of this very
//! session can name.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::audit::{ChainFault, Mark, hex, unhex};
use domain::ids::TenantId;
use engine::payments::AuditPart;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{only, whose};
use crate::outside::AuditProofs;
use crate::wallets::view::{Section, page, sheet_number};
use crate::{Answer, Cell, Pager, Row, Stop, Table, Tone, Visit};

/// Entries that one request recomputes at most; the query may ask for fewer.
const ENTRIES_MAX: i64 = 10_000;
/// Chains of a page.
const CHAINS_MAX: u32 = 50;
/// This page.
const HERE: &str = "/console/audit/verify";

/// What a link of a session says of a place: that the session has found everything up to there right.
fn mac(session: &str, chain: TenantId, mark: &Mark) -> Hmac<Sha256> {
    // HMAC takes keys of any length.
    let mut mac = <Hmac<Sha256>>::new_from_slice(session.as_bytes()).expect("a key");
    mac.update(b"corridor audit walk");
    mac.update(chain.0.as_bytes());
    mac.update(&mark.seq.to_be_bytes());
    mac.update(&mark.hash);
    mac
}

/// Where a chain is gone on with: its query.
fn on_from(session: &str, chain: TenantId, mark: &Mark) -> String {
    let proof = URL_SAFE_NO_PAD.encode(mac(session, chain, mark).finalize().into_bytes());
    format!("chain={chain}&seq={}&hash={}&proof={proof}", mark.seq, hex(&mark.hash))
}

/// The place that the query goes on from; the beginning of the chain where it names none.
fn place_of(session: &str, chain: TenantId, [seq, hash, proof]: [&str; 3]) -> Option<Mark> {
    if [seq, hash, proof] == ["", "", ""] {
        return Some(Mark::default());
    }
    let mark = Mark { seq: seq.parse().ok()?, hash: unhex(hash)? };
    let proof = URL_SAFE_NO_PAD.decode(proof).ok()?;
    mac(session, chain, &mark).verify_slice(&proof).is_ok().then_some(mark)
}

/// How many entries this request recomputes.
fn most(visit: &Visit) -> i64 {
    visit.query().text("entries").parse().unwrap_or(ENTRIES_MAX).clamp(1, ENTRIES_MAX)
}

pub(super) async fn show(visit: Visit) -> Answer {
    let proofs = visit.console().outside.audit_proofs().await.map_err(|error| Stop::failed(&error))?;
    let (title, sections) = match visit.query().given("chain") {
        Some(chain) => {
            let chain = TenantId::parse(chain).ok_or(Stop::NotFound)?;
            ("Verification of a chain", vec![one(&visit, chain, &proofs).await?])
        }
        None => ("Verification of the audit log", vec![all(&visit, &proofs).await?]),
    };
    page(&visit, title, sections)
}

const HEAD: [&str; 8] =
    ["Chain", "Found", "Entries as noted", "Entries in all", "Signed up to", "Newest checkpoint", "Hash", "Go on"];

/// A chain, from the place on that the query names.
async fn one(visit: &Visit, chain: TenantId, proofs: &AuditProofs) -> Result<Section, Stop> {
    if only(visit)?.is_some_and(|own| own != chain) {
        return Err(Stop::NotFound);
    }
    let store = visit.console().store();
    if !store.audit_owners().await?.contains(&chain) {
        return Err(Stop::NotFound);
    }
    let given = ["seq", "hash", "proof"].map(|name| visit.query().text(name));
    let behind = place_of(visit.csrf(), chain, given).ok_or_else(|| {
        Stop::Refused("This link was made in another session. Please begin the verification again.".to_owned())
    })?;
    let part = store.verify_audit_part(chain, behind, &proofs.checkpoints, &proofs.trusted, most(visit)).await?;
    let mut says = standing(proofs);
    if behind.seq > 0 {
        says.push(format!("This session found entries 1 to {} right before; it went on behind them.", behind.seq));
    }
    let links = vec![
        (HERE.to_owned(), "Verify all chains".to_owned()),
        (format!("{HERE}?chain={chain}"), "Begin with entry 1 again".to_owned()),
    ];
    let table = Table::new("What was found", &HEAD, vec![row(visit, chain, &part)]);
    Ok(Section { says, links, table: Some(table), ..Section::default() })
}

/// The chains in reach, as far as one request goes.
async fn all(visit: &Visit, proofs: &AuditProofs) -> Result<Section, Stop> {
    let store = visit.console().store();
    let chains = match only(visit)? {
        Some(own) => vec![own],
        None => store.audit_owners().await?,
    };
    let (sheet, total) = (sheet_number(visit), u64::try_from(chains.len()).unwrap_or(u64::MAX));
    let first = usize::try_from(u64::from(sheet - 1) * u64::from(CHAINS_MAX)).unwrap_or(usize::MAX);
    let shown = chains.into_iter().skip(first).take(usize::try_from(CHAINS_MAX).unwrap_or(usize::MAX));
    let (mut left, mut rows) = (most(visit), Vec::new());
    for chain in shown {
        if left <= 0 {
            rows.push(not_yet(visit, chain));
            continue;
        }
        let beginning = Mark::default();
        let part = store.verify_audit_part(chain, beginning, &proofs.checkpoints, &proofs.trusted, left).await?;
        left -= part.good.seq;
        rows.push(row(visit, chain, &part));
    }
    let mut says = standing(proofs);
    says.push(format!("One page recomputes at most {} entries; where there are more, go on from there.", most(visit)));
    let pager = Pager::by_number(HERE, sheet, CHAINS_MAX, total);
    let table = Table::new("What was found", &HEAD, rows).or("There is no chain.").paged(pager);
    let links = vec![("/console/audit".to_owned(), "The audit log".to_owned())];
    Ok(Section { says, links, table: Some(table), ..Section::default() })
}

/// What the result rests on.
fn standing(proofs: &AuditProofs) -> Vec<String> {
    let unseen = "a chain that was written anew together with the store's own checkpoints would not be found";
    let outside = match &proofs.unread {
        Some(why) => format!("Checkpoints from outside cannot be read, so {unseen}: {why}."),
        None if proofs.checkpoints.is_empty() => format!("There are no checkpoints from outside: {unseen}."),
        None => format!(
            "Compared with heads, the store's checkpoints and {} from outside. What was done since the newest one is \
             as safe as the database.",
            proofs.checkpoints.len()
        ),
    };
    vec![outside]
}

fn row(visit: &Visit, chain: TenantId, part: &AuditPart) -> Row {
    let found = match part.fault {
        Some(fault) => Cell::state(format!("WRONG: {fault}"), Tone::Bad),
        None if part.whole => Cell::state("as it was noted", Tone::Good),
        None => Cell::state("right so far", Tone::Busy),
    };
    let on = match (part.fault, part.whole) {
        (None, false) => {
            let to = format!("{HERE}?{}&entries={}", on_from(visit.csrf(), chain, &part.good), most(visit));
            Cell::link(to, format!("Go on behind entry {}", part.good.seq))
        }
        (None, true) => Cell::Empty,
        (Some(fault), _) => match entry_of(fault) {
            Some(seq) => Cell::link(format!("/console/audit/entries/{chain}/{seq}"), format!("Entry {seq}")),
            None => Cell::Empty,
        },
    };
    vec![
        Cell::text(whose(chain, visit)),
        found,
        Cell::number(part.good.seq),
        part.head.map_or(Cell::Empty, |head| Cell::number(head.seq)),
        if part.proven == 0 { Cell::text("not signed") } else { Cell::number(part.proven) },
        part.signed.map_or(Cell::Empty, |(_, at)| Cell::When(at)),
        Cell::id(hex(&part.good.hash)),
        on,
    ]
}

/// A chain for which nothing was left.
fn not_yet(visit: &Visit, chain: TenantId) -> Row {
    let mut row = vec![Cell::text(whose(chain, visit)), Cell::state("not looked at yet", Tone::Plain)];
    row.extend([Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty]);
    row.push(Cell::link(format!("{HERE}?chain={chain}"), "Verify this chain"));
    row
}

/// The entry that a fault names, where it is there to be looked at.
const fn entry_of(fault: ChainFault) -> Option<i64> {
    match fault {
        ChainFault::Changed(seq) | ChainFault::Head(seq) | ChainFault::BeyondHead { entry: seq, .. } => Some(seq),
        ChainFault::Rewritten { to, .. } => Some(to),
        ChainFault::Missing { .. } | ChainFault::Signature(_) | ChainFault::Gone => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_on_where_it_stopped_and_nowhere_else() {
        let chain = TenantId(uuid::Uuid::from_u128(7));
        let mark = Mark { seq: 41, hash: [9; 32] };
        let link = on_from("one", chain, &mark);
        let value = |name: &str| {
            let pair = link.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            pair.expect("there").to_owned()
        };
        let (seq, hash, proof) = (value("seq"), value("hash"), value("proof"));
        assert_eq!(place_of("one", chain, [&seq, &hash, &proof]), Some(mark));
        assert_eq!(place_of("one", chain, ["", "", ""]), Some(Mark::default()));
        assert_eq!(place_of("two", chain, [&seq, &hash, &proof]), None, "another session");
        assert_eq!(place_of("one", TenantId(uuid::Uuid::nil()), [&seq, &hash, &proof]), None, "another chain");
        assert_eq!(place_of("one", chain, ["42", &hash, &proof]), None, "another entry");
        assert_eq!(place_of("one", chain, [&seq, &hash, ""]), None, "no proof");
    }
}
