//! Signed ends of chains. Each is stored as a row here and exported as a line; the line and the
//! public key together prove whether a chain was rewritten, truncated or removed.

use domain::audit::{ChainFault, Hash, Head, Mark, Walk};
use domain::hex::{hex, unhex};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::signer::AuditSigner;
use super::verify;
use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Get;
use crate::rows::record::whole_rows;
use crate::save;
use crate::sql::{Fields, Stmt};
use crate::store::Store;

/// Prefix of every signed message, so that its signature is valid for nothing else.
const DOMAIN: &[u8] = b"corridor audit checkpoint 1\n";

static CHAINS: Stmt = Stmt::written(
    "audit.chains",
    "SELECT h.tenant, h.seq, h.hash, c.seq, c.hash, c.at FROM audit_head h \
     LEFT JOIN audit_checkpoint c ON c.tenant = h.tenant \
     AND c.seq = (SELECT MAX(d.seq) FROM audit_checkpoint d WHERE d.tenant = h.tenant) ORDER BY h.tenant",
);
static OF_CHAIN: Stmt = Stmt::written(
    "audit.checkpoints",
    "SELECT {{audit_checkpoint c}} FROM audit_checkpoint c WHERE c.tenant = $1 ORDER BY c.seq",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&CHAINS, &OF_CHAIN];

/// A signed end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub tenant: TenantId,
    /// Number of the latest entry.
    pub seq: i64,
    pub hash: Hash,
    /// When it was signed.
    pub at: Timestamp,
    /// The signer's public key.
    pub signer: [u8; 32],
    /// Ed25519 signature of `signed_bytes`.
    pub signature: [u8; 64],
}

/// The signed bytes: the text `corridor audit checkpoint 1` and a line feed, then `tenant (16) |
/// seq (8) | hash (32) | at (8)`, numbers big-endian.
pub(super) fn signed_bytes(tenant: TenantId, seq: i64, hash: &Hash, at: Timestamp) -> Vec<u8> {
    [DOMAIN, tenant.0.as_bytes(), &seq.to_be_bytes(), hash, &at.0.to_be_bytes()].concat()
}

/// A checkpoint as a line of JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    tenant: String,
    seq: i64,
    hash: String,
    at: i64,
    time: String,
    key: String,
    signature: String,
}

/// Why a line is not a valid checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointFault {
    /// It is not valid JSON of this form.
    #[error("not a valid checkpoint: {0}")]
    Malformed(String),
    /// A member is malformed.
    #[error("not a valid checkpoint: {0} is malformed")]
    Member(&'static str),
}

impl Checkpoint {
    /// Whether its signature is valid and made by one of these keys.
    pub fn is_signed_by(&self, trusted: &[[u8; 32]]) -> bool {
        let bytes = signed_bytes(self.tenant, self.seq, &self.hash, self.at);
        trusted.contains(&self.signer)
            && UnparsedPublicKey::new(&ED25519, &self.signer)
                .verify(&bytes, &self.signature)
                .is_ok()
    }

    /// The position that it certifies.
    pub const fn mark(&self) -> Mark {
        Mark { seq: self.seq, hash: self.hash }
    }

    /// The line to export, without a line feed.
    ///
    /// # Errors
    /// `Corrupt` if it cannot be serialized.
    pub fn to_line(&self) -> Result<String, StoreError> {
        let line = Line {
            tenant: self.tenant.to_string(),
            seq: self.seq,
            hash: hex(&self.hash),
            at: self.at.0,
            time: self.at.to_string(),
            key: hex(&self.signer),
            signature: hex(&self.signature),
        };
        serde_json::to_string(&line).map_err(|error| StoreError::Corrupt(error.to_string()))
    }

    /// Parses a line. `at` is signed; `time` is for display.
    ///
    /// # Errors
    /// The line is not a valid checkpoint.
    pub fn of_line(text: &str) -> Result<Checkpoint, CheckpointFault> {
        let line: Line = serde_json::from_str(text)
            .map_err(|error| CheckpointFault::Malformed(error.to_string()))?;
        Ok(Checkpoint {
            tenant: TenantId::parse(&line.tenant).ok_or(CheckpointFault::Member("tenant"))?,
            seq: line.seq,
            hash: unhex(&line.hash).ok_or(CheckpointFault::Member("hash"))?,
            at: Timestamp(line.at),
            signer: unhex(&line.key).ok_or(CheckpointFault::Member("key"))?,
            signature: unhex(&line.signature).ok_or(CheckpointFault::Member("signature"))?,
        })
    }
}

/// A chain with its length and its latest checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditChain {
    pub tenant: TenantId,
    /// The chain's last entry.
    pub head: Head,
    /// Its latest checkpoint, and when it was signed.
    pub signed: Option<(Mark, Timestamp)>,
}

impl AuditChain {
    /// Whether it is due for signing: it grew by enough entries, or long enough ago.
    pub fn is_due(&self, now: Timestamp, every: Span, entries: i64) -> bool {
        match self.signed {
            None => self.head.seq > 0,
            Some((mark, at)) => {
                let more = self.head.seq - mark.seq;
                // A chain that became shorter is examined at once.
                more < 0 || more >= entries || (more > 0 && now - at >= every)
            }
        }
    }
}

impl Get for AuditChain {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<AuditChain, StoreError> {
        type Signed = (Option<i64>, Option<Hash>, Option<Timestamp>);
        let (tenant, head, (seq, hash, at)): (_, _, Signed) = Get::get(fields, keys)?;
        let mark = seq.zip(hash).map(|(seq, hash)| Mark { seq, hash });
        Ok(AuditChain { tenant, head, signed: mark.zip(at) })
    }
}

impl Store {
    pub async fn audit_chains(&self) -> Result<Vec<AuditChain>, StoreError> {
        self.many(&CHAINS, ()).await
    }

    /// The stored checkpoints of a chain, oldest first.
    pub async fn audit_checkpoints(&self, tenant: TenantId) -> Result<Vec<Checkpoint>, StoreError> {
        self.many(&OF_CHAIN, tenant).await
    }

    /// Signs the end of a chain if it is intact from its latest checkpoint on; otherwise returns
    /// the fault.
    pub async fn sign_audit_chain(
        &self,
        chain: &AuditChain,
        signer: &AuditSigner,
    ) -> Result<Result<Checkpoint, ChainFault>, StoreError> {
        let begin = chain.signed.map_or_else(Mark::default, |(mark, _)| mark);
        let walked = verify::follow(self, chain.tenant, Walk::behind(begin), begin.seq).await?;
        let (now, _) = self.audit_head_now(chain.tenant).await?;
        match walked {
            Ok(walk) => Ok(Ok(signer.sign(chain.tenant, walk.head(), now)?)),
            Err(fault) => Ok(Err(fault)),
        }
    }

    /// Stores an exported checkpoint. An existing one for the same position is kept.
    pub async fn keep_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let row = whole_rows(std::slice::from_ref(checkpoint), &keys)?;
        self.write(vec![Step::rows(&save::AUDIT_CHECKPOINT_INSERT, row)]).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn signed() -> (Checkpoint, AuditSigner) {
        let signer = AuditSigner::of_secret(&[3; 32]).expect("a key");
        let head = Head { seq: 7, hash: [9; 32] };
        let made = signer.sign(
            TenantId(Uuid::from_bytes([7; 16])),
            head,
            Timestamp(1_795_244_268_123_456),
        );
        (made.expect("signed"), signer)
    }

    #[test]
    fn a_checkpoint_is_valid_only_as_signed() {
        let (checkpoint, signer) = signed();
        let trusted = [[0; 32], signer.public_key()];
        assert!(checkpoint.is_signed_by(&trusted));
        assert!(!checkpoint.is_signed_by(&trusted[..1]), "another key is trusted");
        let wrong = [
            Checkpoint { seq: 8, ..checkpoint.clone() },
            Checkpoint { hash: [8; 32], ..checkpoint.clone() },
            Checkpoint { at: Timestamp(0), ..checkpoint.clone() },
            Checkpoint { tenant: TenantId(Uuid::nil()), ..checkpoint.clone() },
        ];
        assert!(wrong.iter().all(|it| !it.is_signed_by(&trusted)));
    }

    #[test]
    fn a_line_round_trips() {
        let (checkpoint, _) = signed();
        let line = checkpoint.to_line().expect("written");
        assert!(!line.contains('\n') && line.contains(r#""time":"2026-11-21T06:57:48"#), "{line}");
        assert_eq!(Checkpoint::of_line(&line), Ok(checkpoint));
        assert!(Checkpoint::of_line("{}").is_err() && Checkpoint::of_line("").is_err());
        let odd = line.replace("\"hash\":\"09", "\"hash\":\"é");
        assert_eq!(Checkpoint::of_line(&odd), Err(CheckpointFault::Member("hash")));
    }

    #[test]
    fn a_chain_is_due_when_it_has_grown() {
        let (tenant, hash) = (TenantId(Uuid::nil()), [0; 32]);
        let chain = |seq, signed: Option<(i64, i64)>| AuditChain {
            tenant,
            head: Head { seq, hash },
            signed: signed.map(|(seq, at)| (Mark { seq, hash }, Timestamp(at))),
        };
        let due = |chain: AuditChain| chain.is_due(Timestamp(1_000), Span(100), 10);
        assert!(!due(chain(0, None)) && due(chain(1, None)));
        assert!(!due(chain(5, Some((5, 0)))), "no new entries");
        assert!(due(chain(6, Some((5, 900)))) && !due(chain(6, Some((5, 901)))));
        assert!(due(chain(4, Some((5, 999)))), "it was truncated");
        assert!(due(chain(15, Some((5, 999)))) && !due(chain(14, Some((5, 999)))));
    }
}
