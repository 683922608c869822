//! The audit log: what people do to an installation and to its tenants' money, chained by hashes so that nothing of it
//! can be edited, taken out, put in, moved or cut off unnoticed (`docs/audit.md`).
//!
//! Each tenant has a chain of its own; deeds that are about no tenant are in that of [`INSTALLATION`]. Only deeds of
//! people are noted, never a payment: the chain serialises what is written to it.

mod facts;
mod walk;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::ids::TenantId;
use crate::time::Timestamp;

pub use facts::{Facts, masked};
pub use walk::{ChainFault, Mark, Walk};

/// Whose chain holds what is about no tenant.
pub const INSTALLATION: TenantId = TenantId(Uuid::nil());

/// The form of the bytes that are hashed; the first of them.
pub const ENTRY_VERSION: u8 = 1;

/// Stands for the length of a text that is not there.
const ABSENT: u32 = u32::MAX;

/// SHA-256 of an entry and of all that went before it in its chain.
pub type Hash = [u8; 32];

/// By which way somebody acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// The command line, on the machine itself.
    Cli,
    /// The API, with a tenant's token.
    Api,
    /// The operator console.
    Console,
    /// The program itself: the sandbox's onboarding, a test.
    Program,
}

impl Via {
    /// Every way.
    pub const ALL: [Via; 4] = [Via::Cli, Via::Api, Via::Console, Via::Program];

    /// Its name, as it is stored and hashed.
    pub const fn name(self) -> &'static str {
        match self {
            Via::Cli => "cli",
            Via::Api => "api",
            Via::Console => "console",
            Via::Program => "program",
        }
    }

    /// The way of this name.
    pub fn parse(name: &str) -> Option<Via> {
        Via::ALL.into_iter().find(|via| via.name() == name)
    }
}

/// Who does something, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// By which way.
    pub via: Via,
    /// Who: the machine's user, the beginning of an access key, a user of the console.
    pub who: String,
    /// The roles that he acted with, divided by commas.
    pub role: Option<String>,
    /// The person in whose name it is done, where that is not `who` himself: `--by`, `--maker`.
    pub behalf: Option<String>,
    /// The second person, where it takes two: who checked it, or who had proposed what is approved.
    pub second: Option<String>,
    /// Why, in their words; empty where nobody is asked.
    pub why: String,
    /// The request that it came with.
    pub request_id: Option<String>,
}

impl Deed {
    /// Somebody's deed, without a reason so far.
    pub fn new(via: Via, who: impl Into<String>) -> Deed {
        let (role, behalf, second, request_id) = (None, None, None, None);
        Deed { via, who: who.into(), role, behalf, second, why: String::new(), request_id }
    }

    /// With these roles.
    pub fn with_role(self, role: impl Into<String>) -> Deed {
        Deed { role: Some(role.into()).filter(|role| !role.is_empty()), ..self }
    }

    /// In the name of this person.
    pub fn on_behalf_of(self, person: impl Into<String>) -> Deed {
        Deed { behalf: Some(person.into()), ..self }
    }

    /// Together with this second person.
    pub fn together_with(self, person: impl Into<String>) -> Deed {
        Deed { second: Some(person.into()), ..self }
    }

    /// For this reason.
    pub fn because(self, why: impl Into<String>) -> Deed {
        Deed { why: why.into(), ..self }
    }

    /// Asked for by this request.
    pub fn of_request(self, id: impl Into<String>) -> Deed {
        Deed { request_id: Some(id.into()), ..self }
    }

    /// The person who answers for it.
    pub fn person(&self) -> &str {
        self.behalf.as_deref().unwrap_or(&self.who)
    }
}

impl From<&Deed> for Deed {
    fn from(deed: &Deed) -> Deed {
        deed.clone()
    }
}

/// A deed of the program itself, under the name of its part.
impl From<&str> for Deed {
    fn from(part: &str) -> Deed {
        Deed::new(Via::Program, part)
    }
}

/// What was done, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What, as a stable word (`tenant.create`, `review.approve`).
    pub action: String,
    /// What kind of thing it was done to (`tenant`, `payment`).
    pub kind: String,
    /// Which: its id, tag or name.
    pub subject: String,
    /// What of it was changed, as it was: a JSON object without secrets, personal data masked.
    pub before: Option<String>,
    /// The same as it is now.
    pub after: Option<String>,
}

impl Note {
    /// A deed that tells nothing but what it was done to.
    pub fn new(action: &str, kind: &str, subject: impl ToString) -> Note {
        let (action, kind) = (action.to_owned(), kind.to_owned());
        Note { action, kind, subject: subject.to_string(), before: None, after: None }
    }

    /// With what was so before.
    pub fn before(self, facts: Facts) -> Note {
        Note { before: facts.document(), ..self }
    }

    /// With what is so now.
    pub fn after(self, facts: Facts) -> Note {
        Note { after: facts.document(), ..self }
    }
}

/// One entry of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose chain.
    pub tenant: TenantId,
    /// Its number there, from 1.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who and why.
    pub deed: Deed,
    /// What.
    pub note: Note,
    /// The hash of the entry before it, followed by [`Entry::bytes`].
    pub hash: Hash,
}

impl Entry {
    /// The bytes that are hashed: `version (1) | tenant (16) | seq (8) | at (8)`, numbers big-endian, `at` in
    /// microseconds since 1970; then via, who, role, behalf, second, action, kind, subject, before, after, why and
    /// request id, each as `length in bytes (4) | UTF-8`, where a length of 2^32 − 1 says that it is not there.
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

    /// The hash that it has behind an entry with the hash `previous`.
    pub fn hash_after(&self, previous: &Hash) -> Hash {
        Sha256::new().chain_update(previous).chain_update(self.bytes()).finalize().into()
    }
}

fn put(out: &mut Vec<u8>, text: Option<&str>) {
    let Some(text) = text else { return out.extend_from_slice(&ABSENT.to_be_bytes()) };
    // No text that is stored comes near four gigabytes.
    let length = u32::try_from(text.len()).unwrap_or(ABSENT);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Bytes in lower-case hexadecimal digits: how hashes, keys and signatures of the audit log are written.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads as many bytes in hexadecimal digits.
pub fn unhex<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let mut out = [0; BYTES];
    if text.len() != 2 * BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(out)
}

/// The end of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Number of the newest entry; 0 = there is none.
    pub seq: i64,
    /// Its hash; zeros before the first.
    pub hash: Hash,
}

impl Head {
    /// The next entry, and the end of the chain with it. Text keeps everything but zero characters, which not every
    /// database can hold.
    pub fn append(&mut self, tenant: TenantId, at: Timestamp, deed: Deed, note: Note) -> Entry {
        let mut entry =
            Entry { tenant, seq: self.seq + 1, at, deed: plain(deed), note: plain_note(note), hash: [0; 32] };
        entry.hash = entry.hash_after(&self.hash);
        *self = Head { seq: entry.seq, hash: entry.hash };
        entry
    }
}

fn without_zeros(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn plain(deed: Deed) -> Deed {
    let Deed { via, who, role, behalf, second, why, request_id } = deed;
    let [role, behalf, second, request_id] = [role, behalf, second, request_id].map(|it| it.map(without_zeros));
    Deed { via, who: without_zeros(who), role, behalf, second, why: without_zeros(why), request_id }
}

fn plain_note(note: Note) -> Note {
    let Note { action, kind, subject, before, after } = note;
    let [before, after] = [before, after].map(|it| it.map(without_zeros));
    Note { action: without_zeros(action), kind: without_zeros(kind), subject: without_zeros(subject), before, after }
}

#[cfg(test)]
mod tests;
