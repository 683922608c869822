//! Verifies the hash chains like `corridor audit verify`. A request recomputes a limited number of
//! entries; a longer chain continues after the last verified entry, through a link that is valid in
//! this session only.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::audit::{ChainFault, Mark};
use domain::hex::{hex, unhex};
use domain::ids::TenantId;
use engine::payments::AuditPart;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{chain_owner, only};
use crate::outside::AuditProofs;
use crate::view::{Section, page, sheet_number};
use crate::{Answer, Cell, Pager, Row, Stop, Table, Tone, Visit};

/// Maximum number of entries that a request recomputes; the query may ask for fewer.
const ENTRIES_MAX: i64 = 10_000;
const CHAINS_MAX: u32 = 50;
const HERE: &str = "/console/audit/verify";

/// The proof in a link that this session verified everything up to a position.
fn mac(session: &str, chain: TenantId, mark: &Mark) -> Hmac<Sha256> {
    // HMAC takes keys of any length.
    let mut mac = <Hmac<Sha256>>::new_from_slice(session.as_bytes()).expect("a key");
    mac.update(b"corridor audit walk");
    mac.update(chain.0.as_bytes());
    mac.update(&mark.seq.to_be_bytes());
    mac.update(&mark.hash);
    mac
}

/// The query that continues a chain.
fn on_from(session: &str, chain: TenantId, mark: &Mark) -> String {
    let proof = URL_SAFE_NO_PAD.encode(mac(session, chain, mark).finalize().into_bytes());
    format!("chain={chain}&seq={}&hash={}&proof={proof}", mark.seq, hex(&mark.hash))
}

/// The position to continue from; the start of the chain without one.
fn place_of(session: &str, chain: TenantId, [seq, hash, proof]: [&str; 3]) -> Option<Mark> {
    if [seq, hash, proof] == ["", "", ""] {
        return Some(Mark::default());
    }
    let mark = Mark { seq: seq.parse().ok()?, hash: unhex(hash)? };
    let proof = URL_SAFE_NO_PAD.decode(proof).ok()?;
    mac(session, chain, &mark).verify_slice(&proof).is_ok().then_some(mark)
}

/// The number of entries to recompute.
fn most(visit: &Visit) -> i64 {
    visit.query().text("entries").parse().unwrap_or(ENTRIES_MAX).clamp(1, ENTRIES_MAX)
}

pub(super) async fn show(visit: Visit) -> Answer {
    let proofs =
        visit.console().outside.audit_proofs().await.map_err(|error| Stop::failed(&error))?;
    let (title, sections) = match visit.query().given("chain") {
        Some(chain) => {
            let chain = TenantId::parse(chain).ok_or(Stop::NotFound)?;
            ("Verification of a chain", vec![one(&visit, chain, &proofs).await?])
        }
        None => ("Verification of the audit log", vec![all(&visit, &proofs).await?]),
    };
    page(&visit, title, sections)
}

const HEAD: [&str; 8] = [
    "Chain",
    "Result",
    "Verified entries",
    "All entries",
    "Signed up to",
    "Latest checkpoint",
    "Hash",
    "Continue",
];

/// A chain, from the query's position on.
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
        Stop::Refused(
            "This link belongs to another session. Please restart the verification.".to_owned(),
        )
    })?;
    let part = store
        .verify_audit_part(chain, behind, &proofs.checkpoints, &proofs.trusted, most(visit))
        .await?;
    let mut says = standing(proofs);
    if behind.seq > 0 {
        says.push(format!(
            "This session already verified entries 1 to {}; this page continues after them.",
            behind.seq
        ));
    }
    let links = vec![
        (HERE.to_owned(), "Verify all chains".to_owned()),
        (format!("{HERE}?chain={chain}"), "Restart at entry 1".to_owned()),
    ];
    let table = Table::new("Result", &HEAD, vec![row(visit, chain, &part)]);
    Ok(Section { says, links, table: Some(table), ..Section::default() })
}

/// The chains that the user may access, within the limit of one request.
async fn all(visit: &Visit, proofs: &AuditProofs) -> Result<Section, Stop> {
    let store = visit.console().store();
    let chains = match only(visit)? {
        Some(own) => vec![own],
        None => store.audit_owners().await?,
    };
    let (sheet, total) = (sheet_number(visit), u64::try_from(chains.len()).unwrap_or(u64::MAX));
    let first = usize::try_from(u64::from(sheet - 1) * u64::from(CHAINS_MAX)).unwrap_or(usize::MAX);
    let shown =
        chains.into_iter().skip(first).take(usize::try_from(CHAINS_MAX).unwrap_or(usize::MAX));
    let (mut left, mut rows) = (most(visit), Vec::new());
    for chain in shown {
        if left <= 0 {
            rows.push(not_yet(visit, chain));
            continue;
        }
        let beginning = Mark::default();
        let part = store
            .verify_audit_part(chain, beginning, &proofs.checkpoints, &proofs.trusted, left)
            .await?;
        left -= part.good.seq;
        rows.push(row(visit, chain, &part));
    }
    let mut says = standing(proofs);
    says.push(format!(
        "Each page recomputes at most {} entries. Use Continue for the rest.",
        most(visit)
    ));
    let pager = Pager::by_number(HERE, sheet, CHAINS_MAX, total);
    let table = Table::new("Result", &HEAD, rows).or("No chains.").paged(pager);
    let links = vec![("/console/audit".to_owned(), "The audit log".to_owned())];
    Ok(Section { says, links, table: Some(table), ..Section::default() })
}

/// What the result is based on.
fn standing(proofs: &AuditProofs) -> Vec<String> {
    let unseen = "a chain that was rewritten together with the store's own checkpoints would not be detected";
    let outside = match &proofs.unread {
        Some(why) => format!("External checkpoints cannot be read, so {unseen}: {why}."),
        None if proofs.checkpoints.is_empty() => {
            format!("There are no external checkpoints: {unseen}.")
        }
        None => format!(
            "Verified against the chain heads, the store's checkpoints and {} external checkpoints. Entries since the \
             latest checkpoint are as safe as the database.",
            proofs.checkpoints.len()
        ),
    };
    vec![outside]
}

fn row(visit: &Visit, chain: TenantId, part: &AuditPart) -> Row {
    let found = match part.fault {
        Some(fault) => Cell::state(format!("WRONG: {fault}"), Tone::Bad),
        None if part.whole => Cell::state("intact", Tone::Good),
        None => Cell::state("intact so far", Tone::Busy),
    };
    let on = match (part.fault, part.whole) {
        (None, false) => {
            let to = format!(
                "{HERE}?{}&entries={}",
                on_from(visit.csrf(), chain, &part.good),
                most(visit)
            );
            Cell::link(to, format!("Continue after entry {}", part.good.seq))
        }
        (None, true) => Cell::Empty,
        (Some(fault), _) => match entry_of(fault) {
            Some(seq) => {
                Cell::link(format!("/console/audit/entries/{chain}/{seq}"), format!("Entry {seq}"))
            }
            None => Cell::Empty,
        },
    };
    vec![
        Cell::text(chain_owner(chain, visit)),
        found,
        Cell::number(part.good.seq),
        part.head.map_or(Cell::Empty, |head| Cell::number(head.seq)),
        if part.proven == 0 { Cell::text("not signed") } else { Cell::number(part.proven) },
        part.signed.map_or(Cell::Empty, |(_, at)| Cell::When(at)),
        Cell::id(hex(&part.good.hash)),
        on,
    ]
}

/// A chain that the request's limit did not reach.
fn not_yet(visit: &Visit, chain: TenantId) -> Row {
    let mut row =
        vec![Cell::text(chain_owner(chain, visit)), Cell::state("not verified yet", Tone::Plain)];
    row.extend([Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty]);
    row.push(Cell::link(format!("{HERE}?chain={chain}"), "Verify this chain"));
    row
}

/// The entry that an error names, if it exists.
const fn entry_of(fault: ChainFault) -> Option<i64> {
    match fault {
        ChainFault::Changed(seq)
        | ChainFault::Head(seq)
        | ChainFault::BeyondHead { entry: seq, .. } => Some(seq),
        ChainFault::Rewritten { to, .. } => Some(to),
        ChainFault::Missing { .. } | ChainFault::Signature(_) | ChainFault::Gone => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_continues_only_where_it_stopped() {
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
        assert_eq!(
            place_of("one", TenantId(uuid::Uuid::nil()), [&seq, &hash, &proof]),
            None,
            "another chain"
        );
        assert_eq!(place_of("one", chain, ["42", &hash, &proof]), None, "another entry");
        assert_eq!(place_of("one", chain, [&seq, &hash, ""]), None, "no proof");
    }
}
