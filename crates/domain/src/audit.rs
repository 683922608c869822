//! The audit log: what users do to an installation and to its tenants' money. A hash chain exposes
//! every edited, deleted, inserted, moved or truncated entry (`docs/audit.md`).
//!
//! Each tenant has its own chain; actions that concern no tenant go to that of [`INSTALLATION`].
//! Only users' actions are recorded, never payments: the chain serialises its writers.

mod facts;
mod walk;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::ids::TenantId;
use crate::time::Timestamp;

pub use facts::{Facts, masked};
pub use walk::{ChainFault, Mark, Walk};

/// Chain of the entries that concern no tenant.
pub const INSTALLATION: TenantId = TenantId(Uuid::nil());

/// Version of the hashed byte format; the first of the hashed bytes.
pub const ENTRY_VERSION: u8 = 1;

/// Maximum characters of an actor's reason.
pub const WHY_MAX_CHARS: usize = 500;

/// Length value that marks an absent text.
const ABSENT: u32 = u32::MAX;

/// SHA-256 over an entry and all entries before it in its chain.
pub type Hash = [u8; 32];

names! {
    /// Channel of an action.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Via: "Stored and hashed name." {
        /// The command line on the host itself.
        Cli = "cli",
        /// The API, with a tenant's token.
        Api = "api",
        /// The operator console, by a user who signed in.
        Console = "console",
        /// The program itself: sandbox onboarding or a test.
        Program = "program",
    }
}

/// Actor of an action, and their reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditContext {
    /// Channel of the action.
    pub via: Via,
    /// The actor: an OS user, the prefix of an access key, or a console user.
    pub who: String,
    /// Roles that the actor used, separated by commas.
    pub role: Option<String>,
    /// Person on whose behalf the actor works, if another: `--by`, `--maker`.
    pub behalf: Option<String>,
    /// Second user of a four-eyes action: the checker, or the maker of an approved proposal.
    pub second: Option<String>,
    /// The actor's reason; empty where none is required.
    pub why: String,
    /// Id of the request that caused the action.
    pub request_id: Option<String>,
}

impl AuditContext {
    /// Creates the context of an action without a reason.
    pub fn new(via: Via, who: impl Into<String>) -> AuditContext {
        let (role, behalf, second, request_id) = (None, None, None, None);
        AuditContext { via, who: who.into(), role, behalf, second, why: String::new(), request_id }
    }

    /// Sets the roles, separated by commas; empty text means none.
    pub fn with_role(self, role: impl Into<String>) -> AuditContext {
        AuditContext { role: Some(role.into()).filter(|role| !role.is_empty()), ..self }
    }

    /// Sets the person on whose behalf the actor works.
    pub fn on_behalf_of(self, person: impl Into<String>) -> AuditContext {
        AuditContext { behalf: Some(person.into()), ..self }
    }

    /// Sets the second user.
    pub fn together_with(self, person: impl Into<String>) -> AuditContext {
        AuditContext { second: Some(person.into()), ..self }
    }

    /// Sets the actor's reason, as they entered it.
    pub fn because(self, why: impl Into<String>) -> AuditContext {
        AuditContext { why: why.into(), ..self }
    }

    /// Sets the request id.
    pub fn of_request(self, id: impl Into<String>) -> AuditContext {
        AuditContext { request_id: Some(id.into()), ..self }
    }

    /// The person accountable for the action.
    pub fn person(&self) -> &str {
        self.behalf.as_deref().unwrap_or(&self.who)
    }
}

impl From<&AuditContext> for AuditContext {
    fn from(deed: &AuditContext) -> AuditContext {
        deed.clone()
    }
}

/// An action of the program itself, under the name of its component.
impl From<&str> for AuditContext {
    fn from(part: &str) -> AuditContext {
        AuditContext::new(Via::Program, part)
    }
}

/// What was done, and to which subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Stable name of the action (`tenant.create`, `review.approve`).
    pub action: String,
    /// Kind of the subject (`tenant`, `payment`).
    pub kind: String,
    /// Id, tag or name of the subject.
    pub subject: String,
    /// Changed values before the action: a JSON object without secrets, personal data masked.
    pub before: Option<String>,
    /// The same values after the action.
    pub after: Option<String>,
}

impl Note {
    /// An action without details.
    pub fn new(action: &str, kind: &str, subject: impl ToString) -> Note {
        let (action, kind) = (action.to_owned(), kind.to_owned());
        Note { action, kind, subject: subject.to_string(), before: None, after: None }
    }

    /// Sets the values before the action.
    pub fn before(self, facts: Facts) -> Note {
        Note { before: facts.document(), ..self }
    }

    /// Sets the values after the action.
    pub fn after(self, facts: Facts) -> Note {
        Note { after: facts.document(), ..self }
    }
}

/// One entry of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Tenant of the chain.
    pub tenant: TenantId,
    /// Sequence number in the chain, from 1.
    pub seq: i64,
    /// Time of the action.
    pub at: Timestamp,
    /// Who acted, through which channel, and why.
    pub deed: AuditContext,
    /// Action, its subject, and the values before and after.
    pub note: Note,
    /// Hash over the previous entry's hash followed by [`Entry::bytes`].
    pub hash: Hash,
}

impl Entry {
    /// The hashed bytes: `version (1) | tenant (16) | seq (8) | at (8)`, numbers big-endian, `at`
    /// in microseconds since 1970; then via, who, role, behalf, second, action, kind, subject,
    /// before, after, why and request id, each as `length in bytes (4) | UTF-8`. A length of 2^32 −
    /// 1 marks an absent text.
    pub fn bytes(&self) -> Vec<u8> {
        let (deed, note) = (&self.deed, &self.note);
        let mut out = vec![ENTRY_VERSION];
        out.extend_from_slice(self.tenant.0.as_bytes());
        out.extend_from_slice(&self.seq.to_be_bytes());
        out.extend_from_slice(&self.at.0.to_be_bytes());
        for text in [
            Some(deed.via.name()),
            Some(&deed.who),
            deed.role.as_deref(),
            deed.behalf.as_deref(),
            deed.second.as_deref(),
            Some(&note.action),
            Some(&note.kind),
            Some(&note.subject),
            note.before.as_deref(),
            note.after.as_deref(),
            Some(&deed.why),
            deed.request_id.as_deref(),
        ] {
            put(&mut out, text);
        }
        out
    }

    /// Hash of the entry if it follows an entry with the hash `previous`.
    pub fn hash_after(&self, previous: &Hash) -> Hash {
        Sha256::new().chain_update(previous).chain_update(self.bytes()).finalize().into()
    }
}

fn put(out: &mut Vec<u8>, text: Option<&str>) {
    let Some(text) = text else { return out.extend_from_slice(&ABSENT.to_be_bytes()) };
    // No stored text comes near four gigabytes.
    let length = u32::try_from(text.len()).unwrap_or(ABSENT);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// End of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Sequence number of the newest entry; 0 means an empty chain.
    pub seq: i64,
    /// Hash of the newest entry; zeros for an empty chain.
    pub hash: Hash,
}

impl Head {
    /// Appends an entry and advances the head. Zero characters are replaced, because not every
    /// database can store them.
    pub fn append(
        &mut self,
        tenant: TenantId,
        at: Timestamp,
        deed: AuditContext,
        note: Note,
    ) -> Entry {
        let mut entry = Entry {
            tenant,
            seq: self.seq + 1,
            at,
            deed: plain(deed),
            note: plain_note(note),
            hash: [0; 32],
        };
        entry.hash = entry.hash_after(&self.hash);
        *self = Head { seq: entry.seq, hash: entry.hash };
        entry
    }
}

fn without_zeros(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn plain(deed: AuditContext) -> AuditContext {
    let AuditContext { via, who, role, behalf, second, why, request_id } = deed;
    let [role, behalf, second, request_id] =
        [role, behalf, second, request_id].map(|it| it.map(without_zeros));
    AuditContext {
        via,
        who: without_zeros(who),
        role,
        behalf,
        second,
        why: without_zeros(why),
        request_id,
    }
}

fn plain_note(note: Note) -> Note {
    let Note { action, kind, subject, before, after } = note;
    let [before, after] = [before, after].map(|it| it.map(without_zeros));
    Note {
        action: without_zeros(action),
        kind: without_zeros(kind),
        subject: without_zeros(subject),
        before,
        after,
    }
}

#[cfg(test)]
mod tests;
