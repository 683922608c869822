//! The auditor's rules about the wallet service: its rows after every step, the chain and the receivers' books at the
//! end.

pub(super) mod books;
pub(super) mod changes;
mod dust;
mod ends;
pub(super) mod rows;
mod rules;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::chain::Depth;
use rusqlite::Connection;

use super::rows::Key;
use super::{Auditor, Outside, Questions};
use crate::actors::{FINAL_BEHIND, SAFE_BEHIND};
pub(super) use rules::SUBJECTS;
use steps::Kind;

/// Where tenants stand among the questions.
const TENANTS: usize = SUBJECTS.len() - 1;

/// Rows by their kind.
type ByKind = Vec<BTreeSet<(Key, Key)>>;

/// A deposit that counts since the last look, with its state and how many steps it took.
type Counted = ((Key, Key), String, i64);

/// What is remembered between two looks.
#[derive(Default)]
struct State {
    standings: BTreeMap<(usize, Key, Key), (i64, String)>,
    /// The newest rows of what was signed, and of tries to deliver.
    signed: i64,
    tried: i64,
    moves: BTreeSet<[u8; 32]>,
    /// Transactions that took effect, deep enough, at least once.
    succeeded: BTreeSet<Key>,
    read_to: BTreeMap<Key, i64>,
    /// Aggregates some of whose events were given up once.
    unordered: BTreeSet<Key>,
    /// Deposits that were ever refused.
    refused: BTreeSet<Key>,
}

/// The part of the auditor that looks after the wallet service.
pub(super) struct WalletAudit {
    pub(super) outside: Outside,
    /// Whether the tenants' keys may write the coins' blacklists.
    blacklists: bool,
    questions: Vec<Questions>,
    state: Mutex<State>,
}

impl WalletAudit {
    pub(super) fn new(outside: Outside) -> WalletAudit {
        WalletAudit {
            blacklists: outside.blacklists,
            outside,
            questions: SUBJECTS.iter().map(|subject| Questions::about(subject)).collect(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is broadcast that is not saved.
    pub(super) fn check_broadcasts(&self, auditor: &Auditor) {
        for hash in self.outside.chain.take_broadcasts() {
            if auditor.read(|connection| rows::is_saved(connection, hash.0)) == Some(false) {
                auditor.violation(format!("I12: {hash} was broadcast and is not saved"));
            }
        }
    }

    /// Checks what must hold at any time: of the rows that have changed, or of `everything`.
    pub(super) fn check(
        &self,
        auditor: &Auditor,
        connection: &Connection,
        owner: Option<&str>,
        everything: bool,
    ) -> rusqlite::Result<()> {
        let frozen = self.frozen();
        let news = self.news(connection)?;
        let (changed, counted) = self.check_steps(auditor, news);
        for (deposit, state, steps) in counted {
            let place = rows::place(connection, deposit)?;
            self.check_depth(auditor, deposit, place);
            self.check_dust(auditor, deposit, place, (&state, steps));
        }
        self.check_holders(auditor, connection, owner)?;
        self.check_signed(auditor, connection, &frozen)?;
        let shared = rows::shared_lanes(connection, auditor.sim.now().0)?;
        for signer in shared {
            auditor.violation(format!("I3: two nodes follow the transactions of {}", hex(&signer)));
        }
        self.check_log(auditor, connection)?;
        self.state().unordered.extend(rows::given_up(connection)?);
        for (kind, questions) in self.questions.iter().enumerate() {
            let only = changed.get(kind).filter(|_| !everything);
            if kind != TENANTS || everything {
                auditor.ask(connection, questions, only)?;
            }
        }
        Ok(())
    }

    /// What has changed since the last look.
    fn news(&self, connection: &Connection) -> rusqlite::Result<Vec<rows::Standing>> {
        let mut news = changes::standings(connection)?;
        let state = self.state();
        news.retain(|(kind, tenant, id, version, _)| {
            let known = state.standings.get(&(usize::from(*kind), *tenant, *id));
            known.is_none_or(|(known, _)| known != version)
        });
        Ok(news)
    }

    /// The wallets that were frozen at the last look.
    fn frozen(&self) -> BTreeSet<Key> {
        let state = self.state();
        // Wallets come first.
        let wallets =
            state.standings.iter().take_while(|((kind, ..), _)| *kind == Kind::Wallet as usize);
        wallets.filter(|(_, (_, state))| is_frozen(state)).map(|((_, _, id), _)| *id).collect()
    }

    /// I14: what counts is as deep as its amount asks for, on the chain as it is.
    fn check_depth(&self, auditor: &Auditor, (_, deposit): (Key, Key), place: Option<(u64, i64)>) {
        let Some((height, minor)) = place else { return };
        let newest = self.outside.chain.now().view().height;
        let behind = match self.outside.config.deposit_depth(minor) {
            Depth::Blocks(blocks) => blocks.saturating_sub(1),
            Depth::Safe => SAFE_BEHIND,
            Depth::Finalized => FINAL_BEHIND,
        };
        if newest < height + behind {
            let id = auditor.public(&deposit);
            auditor.violation(format!(
                "I14: deposit {id} in block {height} counted at height {newest}"
            ));
        }
    }

    /// What is not worth a release counts as dust first, and nothing else ever does: dust is not held, judged or refused.
    fn check_dust(
        &self,
        auditor: &Auditor,
        (_, deposit): (Key, Key),
        place: Option<(u64, i64)>,
        (state, steps): (&str, i64),
    ) {
        let Some((_, minor)) = place else { return };
        let is_dust = minor < self.outside.config.release_min.minor(None);
        let is_right = if is_dust {
            Kind::Deposit.may_be(Some("dust"), state, steps - 1)
        } else {
            state != "dust"
        };
        if !is_right {
            let id = auditor.public(&deposit);
            auditor.violation(format!(
                "I9: deposit {id} of {minor} counted as {state}; it is dust: {is_dust}"
            ));
        }
    }

    /// I9. Answers what has changed, by kind, and the deposits that count since, with state and steps.
    fn check_steps(&self, auditor: &Auditor, news: Vec<rows::Standing>) -> (ByKind, Vec<Counted>) {
        let mut changed = vec![BTreeSet::new(); Kind::ALL.len()];
        let mut counted = Vec::new();
        let mut wrong = Vec::new();
        let mut known = self.state();
        for (number, tenant, id, version, state) in news {
            let number = usize::from(number);
            let before = known.standings.get(&(number, tenant, id));
            let kind = Kind::ALL[number];
            let rises = version - before.map_or(0, |(known, _)| *known);
            if !kind.may_be(before.map(|(_, state)| state.as_str()), &state, rises) {
                wrong.push((kind, id, before.cloned(), version, state.clone()));
            }
            changed[number].insert((tenant, id));
            let waited = before.is_some_and(|(_, state)| state == "seen");
            if kind == Kind::Deposit && waited && !matches!(state.as_str(), "seen" | "orphaned") {
                counted.push(((tenant, id), state.clone(), rises));
            }
            if kind == Kind::Deposit
                && matches!(state.as_str(), "rejected" | "legal_hold" | "refunding" | "refunded")
            {
                known.refused.insert(id);
            }
            if kind == Kind::Tx && state == "succeeded" {
                known.succeeded.insert(id);
            }
            known.standings.insert((number, tenant, id), (version, state));
        }
        drop(known);
        for (kind, id, before, version, state) in wrong {
            let id = auditor.public(&id);
            auditor.violation(format!(
                "I9: {kind:?} {id} went from {before:?} to {state:?} (version {version})"
            ));
        }
        (changed, counted)
    }

    /// I1: only the last holder of its job signs a transaction, or notes how a delivery went.
    fn check_holders(
        &self,
        auditor: &Auditor,
        connection: &Connection,
        owner: Option<&str>,
    ) -> rusqlite::Result<()> {
        let (signed, tried) = {
            let state = self.state();
            (state.signed, state.tried)
        };
        let signers = rows::signers_after(connection, signed)?;
        let triers = rows::triers_after(connection, tried)?;
        if let Some((newest, ..)) = triers.last() {
            self.state().tried = *newest;
        }
        for (_, subject, holder) in signers.into_iter().chain(triers) {
            if holder.is_some() && holder.as_deref() != owner {
                let id = auditor.public(&subject);
                auditor.violation(format!(
                    "I1: {owner:?} wrote about {id} while {holder:?} had the job"
                ));
            }
        }
        Ok(())
    }

    /// I12: nothing that moves its money is signed and saved for a wallet that was frozen before, and still is.
    fn check_signed(
        &self,
        auditor: &Auditor,
        connection: &Connection,
        frozen: &BTreeSet<Key>,
    ) -> rusqlite::Result<()> {
        let signed = rows::signed(connection)?;
        let before = std::mem::replace(&mut self.state().signed, signed);
        if before == signed {
            return Ok(());
        }
        let still = self.frozen();
        for (hash, wallet, tx, again) in rows::signed_moves(connection, before)? {
            let is_new = self.state().moves.insert(hash);
            // A transaction that fell out of the chain is broadcast again unchanged: another node
            // may still have it in its chain.
            let again = again || self.state().succeeded.contains(&tx);
            if is_new && !again && frozen.contains(&wallet) && still.contains(&wallet) {
                let wallet = auditor.public(&wallet);
                auditor.violation(format!(
                    "I12: {} was signed for the frozen wallet {wallet}",
                    hex(&hash)
                ));
            }
        }
        Ok(())
    }

    /// I6, I10: the log of wallet events has no gaps and never goes back.
    fn check_log(&self, auditor: &Auditor, connection: &Connection) -> rusqlite::Result<()> {
        for (tenant, newest) in rows::heads(connection)? {
            let after = self.state().read_to.insert(tenant, newest).unwrap_or(0);
            if newest < after {
                auditor.violation(format!(
                    "I10: a tenant's log of wallet events went back from {after} to {newest}"
                ));
            }
            let mut last = after;
            for (seq, kind, aggregate, version) in rows::events_after(connection, tenant, after)? {
                if std::mem::replace(&mut last, seq) + 1 != seq {
                    auditor.violation(format!(
                        "I6: a tenant's log of wallet events has a gap before {seq}"
                    ));
                }
                let about = auditor.public(&aggregate);
                auditor.sim.trace(format_args!("wallet event {seq} {kind} {about} {version}"));
            }
            if last != newest {
                auditor.violation(format!(
                    "I6: a tenant's log of wallet events ends at {last}, its head says {newest}"
                ));
            }
        }
        Ok(())
    }
}

fn is_frozen(state: &str) -> bool {
    matches!(state, "BLOCKED" | "BLACKLISTED")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
