//! Signs the heads of the audit log's chains and appends them to a file outside the database, one
//! JSON line each.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use domain::audit::{ChainFault, Mark};
use domain::ids::TenantId;
use domain::ports::Clock as _;
use domain::time::Span;
use store::{AuditChain, AuditSigner, Checkpoint, Store, StoreError};
use tokio::sync::watch;

use super::clock::BusinessClock;
use super::preflight::{can_write, usable_directory};
use config::Config;

/// Name of the file in the directory of checkpoints.
const FILE: &str = "checkpoints.jsonl";
/// Polling interval for chains that are due.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Lease name, so that only one of several nodes signs.
const ROLE: &str = "audit:checkpoints";
const LEASE: Span = Span::mins(5);

/// The result of one round.
#[derive(Debug, Default)]
pub struct Round {
    /// Signed and written checkpoints.
    pub signed: Vec<Checkpoint>,
    /// Broken chains, which were not signed.
    pub broken: Vec<(TenantId, ChainFault)>,
    /// Chains that the checkpoints in the file contradict, which were not signed.
    pub contradicted: Vec<(TenantId, ChainFault)>,
}

/// The location and the signing key of checkpoints.
#[derive(Debug)]
pub struct Notary {
    store: Store,
    signer: AuditSigner,
    trusted: Vec<[u8; 32]>,
    file: PathBuf,
}

impl Notary {
    /// The notary of this installation. Creates a missing key.
    pub async fn of(store: &Store, config: &Config, data_dir: &Path) -> anyhow::Result<Notary> {
        let signer = store
            .audit_signer(config.audit.secret().as_ref())
            .await
            .context("the audit log's signing key")?;
        let mut trusted = vec![signer.public_key()];
        trusted.extend(config.audit.former());
        let file = config.audit.directory(data_dir).join(FILE);
        Ok(Notary { store: store.clone(), signer, trusted, file })
    }

    pub const fn public_key(&self) -> [u8; 32] {
        self.signer.public_key()
    }

    /// Keys whose signatures are valid: the current one and its predecessors.
    pub fn trusted(&self) -> &[[u8; 32]] {
        &self.trusted
    }

    /// The file of checkpoints.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Signs every chain that `is_due`. A line is written before the store records it: if it is
    /// lost, the chain is signed again.
    pub async fn sign(&self, is_due: impl Fn(&AuditChain) -> bool) -> anyhow::Result<Round> {
        let mut round = Round::default();
        let mut due = self.store.audit_chains().await?;
        due.retain(is_due);
        if due.is_empty() {
            return Ok(round);
        }
        let mut unrecorded = self.unrecorded(&due).await?;
        for chain in &due {
            let outside = unrecorded.remove(&chain.tenant).unwrap_or_default();
            if let Some(fault) = self.contradiction(chain.tenant, &outside).await? {
                round.contradicted.push((chain.tenant, fault));
                continue;
            }
            match self.store.sign_audit_chain(chain, &self.signer).await? {
                Ok(checkpoint) => {
                    let (file, line) = (self.file.clone(), format!("{}\n", checkpoint.to_line()?));
                    tokio::task::spawn_blocking(move || append(&file, &line)).await??;
                    self.store.keep_checkpoint(&checkpoint).await?;
                    round.signed.push(checkpoint);
                }
                Err(fault) => round.broken.push((chain.tenant, fault)),
            }
        }
        Ok(round)
    }

    /// The checkpoints that the file has of these chains and the database has not.
    async fn unrecorded(&self, chains: &[AuditChain]) -> anyhow::Result<Unrecorded> {
        let mark = |chain: &AuditChain| chain.signed.map(|(mark, _)| mark).unwrap_or_default();
        let newest = chains.iter().map(|chain| (chain.tenant, mark(chain))).collect();
        let file = self.file.clone();
        tokio::task::spawn_blocking(move || match std::fs::File::open(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Unrecorded::new()),
            opened => opened
                .and_then(|file| unrecorded(BufReader::new(file), &newest))
                .with_context(|| format!("{}: cannot be read", file.display())),
        })
        .await?
    }

    /// Compares a chain with checkpoints that only the file has: after a restore, another chain would be
    /// signed under the numbers of theirs.
    async fn contradiction(
        &self,
        tenant: TenantId,
        outside: &[Checkpoint],
    ) -> anyhow::Result<Option<ChainFault>> {
        if outside.is_empty() {
            return Ok(None);
        }
        let report = self.store.verify_audit(Some(tenant), outside, &self.trusted).await?;
        Ok(report.chains.into_iter().find_map(|verdict| verdict.fault))
    }
}

/// Checkpoints by the tenant of their chain.
type Unrecorded = BTreeMap<TenantId, Vec<Checkpoint>>;

/// The checkpoints of chains that follow the newest one in the database, or differ from it. Lines that a
/// crash has cut off do not keep a chain from being signed.
fn unrecorded(
    lines: impl BufRead,
    newest: &BTreeMap<TenantId, Mark>,
) -> std::io::Result<Unrecorded> {
    let mut found = Unrecorded::new();
    for line in lines.split(b'\n') {
        let line = line?;
        let line = std::str::from_utf8(&line).ok().and_then(|it| Checkpoint::of_line(it).ok());
        let Some(checkpoint) = line else { continue };
        let Some(newest) = newest.get(&checkpoint.tenant) else { continue };
        let differs = checkpoint.seq == newest.seq && checkpoint.hash != newest.hash;
        if checkpoint.seq > newest.seq || differs {
            found.entry(checkpoint.tenant).or_default().push(checkpoint);
        }
    }
    Ok(found)
}

/// A single write, so that lines of several processes never mix.
fn append(path: &Path, line: &str) -> anyhow::Result<()> {
    let failed = || format!("{}: cannot be written", path.display());
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).with_context(failed)?;
    }
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(path).with_context(failed)?;
    file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).with_context(failed)
}

/// Parses a file of checkpoints.
///
/// # Errors
/// The file is unreadable, or a line is malformed: the error names the line.
pub fn read_checkpoints(path: &Path) -> anyhow::Result<Vec<Checkpoint>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        Checkpoint::of_line(line).with_context(|| format!("{} line {}", path.display(), at + 1))
    };
    lines.map(read).collect()
}

/// Whether signing failed for a reason of its own. A database that cannot be reached, or another node's
/// change, has alerts of its own or passes.
fn is_own_fault(error: &anyhow::Error) -> bool {
    let of_store = error.downcast_ref::<StoreError>();
    !matches!(of_store, Some(StoreError::Unavailable(_) | StoreError::Conflict(_)))
}

/// Why checkpoints cannot be written.
pub(crate) fn unwritable(config: &Config, data_dir: &Path) -> Option<String> {
    let dir = config.audit.directory(data_dir);
    let file = dir.join(FILE);
    let fault = match file.exists() {
        true => can_write(&file, rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK),
        // The first signature creates a missing directory.
        false => usable_directory(&dir),
    };
    fault.err().map(|fault| {
        format!("audit.checkpoint_dir: checkpoints cannot be read and written: {fault}")
    })
}

/// Signs for as long as the service runs; only one of several nodes does.
pub(super) async fn keep_signing(
    notary: Notary,
    config: Config,
    node: String,
    clock: BusinessClock,
    mut stop: watch::Receiver<bool>,
) {
    let every = Span::secs(config.audit.checkpoint_every_s.into());
    let entries = i64::from(config.audit.checkpoint_entries);
    let file = notary.file().display().to_string();
    loop {
        if tokio::time::timeout(LOOK_EVERY, stop.wait_for(|stop| *stop)).await.is_ok() {
            return;
        }
        let done = async {
            if notary.store.lease_role(ROLE, &node, LEASE).await?.is_none() {
                return Ok(Round::default());
            }
            let now = clock.now();
            notary.sign(|chain| chain.is_due(now, every, entries)).await
        };
        let done: anyhow::Result<Round> = done.await;
        match done {
            Ok(round) => {
                for (tenant, fault) in round.broken {
                    metrics::counter!("corridor_audit_faults_total").increment(1);
                    tracing::error!(%tenant, %fault, "the audit log was tampered with; see `corridor audit verify`");
                }
                for (tenant, fault) in round.contradicted {
                    metrics::counter!("corridor_audit_faults_total").increment(1);
                    tracing::error!(
                        %tenant,
                        %fault,
                        "the checkpoints in {file} contradict the database, which a restore explains: chain not signed"
                    );
                }
            }
            Err(error) => {
                if is_own_fault(&error) {
                    metrics::counter!("corridor_audit_faults_total").increment(1);
                }
                tracing::error!(
                    error = format!("{error:#}"),
                    "signing the audit log failed, will retry"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn checkpoints_that_the_database_lacks_are_found() {
        let tenant = TenantId(Uuid::from_u128(1));
        let of = |tenant, seq, hash| {
            let checkpoint = Checkpoint {
                tenant,
                seq,
                hash: [hash; 32],
                at: Timestamp(0),
                signer: [0; 32],
                signature: [0; 64],
            };
            checkpoint.to_line().expect("a line").into_bytes()
        };
        let other = TenantId(Uuid::from_u128(2));
        let cut = of(tenant, 9, 9)[..40].to_vec();
        let lines = [of(tenant, 3, 3), cut, vec![0xff], of(other, 9, 9), of(tenant, 4, 4)];
        let text = lines.join(&b'\n');
        let found = |newest: Option<(i64, u8)>| {
            let mark = newest.map(|(seq, hash)| Mark { seq, hash: [hash; 32] }).unwrap_or_default();
            let mut found = unrecorded(&text[..], &BTreeMap::from([(tenant, mark)])).expect("read");
            let own = found.remove(&tenant).unwrap_or_default();
            assert!(found.is_empty(), "chains that are not due are left out: {found:?}");
            own.into_iter().map(|it| it.seq).collect::<Vec<_>>()
        };
        assert!(found(Some((4, 4))).is_empty());
        assert!(found(Some((5, 5))).is_empty());
        assert_eq!(found(Some((4, 7))), [4], "another entry under its number");
        assert_eq!(found(Some((3, 3))), [4]);
        assert_eq!(found(None), [3, 4], "restored to before the first");
    }

    #[test]
    fn a_database_that_is_away_is_no_fault_of_signing() {
        for (error, counts) in [
            (StoreError::Unavailable("no answer in time".to_owned()).into(), false),
            (StoreError::Conflict("changed".to_owned()).into(), false),
            (StoreError::Corrupt("another key".to_owned()).into(), true),
            (anyhow::anyhow!("checkpoints.jsonl: cannot be written"), true),
            (
                anyhow::Error::from(StoreError::Unavailable("gone".to_owned())).context("signing"),
                false,
            ),
        ] {
            assert_eq!(is_own_fault(&error), counts, "{error:#}");
        }
    }
}
