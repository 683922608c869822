//! Evidence files of cases: sealed, with the hash of their content, and only added.

use domain::audit::{AuditContext, Facts, Note};
use domain::case_file::{CASE_FILES_MAX, CaseFile, FileKind};
use domain::hex::hex;
use domain::ids::TenantId;
use domain::time::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::approvals::place;
use super::cases::CaseRef;
use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::column::Made;
use crate::sql::{Stmt, Value};
use crate::store::Store;

const NAME: &str = "case_file.name";
const BODY: &str = "case_file.body";

static ADD: Stmt = Stmt::written(
    "case_file.add",
    "INSERT INTO case_file (tenant, subject, id, at, author, kind, size, hash, name, body) \
     SELECT $2, $3, $4, {{now}}, $5, $6, $7, $8, $9, $10 \
     WHERE (SELECT COUNT(*) FROM case_file f WHERE f.tenant = $2 AND f.subject = $3) < $11",
);
static LIST: Stmt = Stmt::written(
    "case_file.list",
    "SELECT f.id, f.at, f.author, f.kind, f.size, f.hash, f.name FROM case_file f \
     WHERE f.tenant = $1 AND f.subject = $2 ORDER BY f.id",
);
static CONTENT: Stmt = Stmt::written(
    "case_file.content",
    "SELECT f.body FROM case_file f WHERE f.tenant = $1 AND f.subject = $2 AND f.id = $3",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&ADD, &LIST, &CONTENT];

/// A file of a case, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub id: Uuid,
    pub at: Timestamp,
    /// Login name of the user who attached it.
    pub author: String,
    pub kind: FileKind,
    pub size: u64,
    /// SHA-256 of the content in lower-case hexadecimal digits.
    pub hash: String,
    pub name: String,
}

/// SHA-256 in lower-case hexadecimal digits.
fn hash_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

impl Store {
    /// Adds a file, and an audit entry with its hash and without its name.
    ///
    /// # Errors
    /// `Conflict` if the case has [`CASE_FILES_MAX`] files.
    pub async fn add_case_file(
        &self,
        case: CaseRef,
        file: &CaseFile,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let (by, keys) = (by.into(), self.id_keys().await?);
        let id = keys.stored(self.ids().next());
        let seal = |column, plain: &[u8]| self.vault().seal(place(case.tenant, column, &id), plain);
        let size = i64::try_from(file.bytes.len()).unwrap_or(i64::MAX);
        let hash = hash_of(&file.bytes);
        let params: Vec<Value> = vec![
            self.now_param(),
            case.tenant.0.into(),
            keys.stored(case.subject).into(),
            id.into(),
            by.person().into(),
            file.kind.name().into(),
            size.into(),
            hash.as_str().into(),
            seal(NAME, file.name.as_bytes()).into(),
            seal(BODY, &file.bytes).into(),
            most(CASE_FILES_MAX),
        ];
        let facts = Facts::new()
            .text("file", keys.public(id).to_string())
            .text("type", file.kind.name())
            .number("bytes", size)
            .text("sha256", hash);
        let note = Note::new("case.file", case.kind, case.subject).after(facts);
        self.noted(case.tenant, by, note, vec![Step::one(&ADD, params)]).await
    }

    /// The files of a case, oldest first.
    pub async fn case_files(
        &self,
        tenant: TenantId,
        subject: Uuid,
    ) -> Result<Vec<StoredFile>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![tenant.0.into(), keys.stored(subject).into()];
        let mut files = Vec::new();
        for row in self.query(&LIST, params).await? {
            let mut fields = row.fields();
            let (id, at) = (fields.uuid()?, Timestamp(fields.int()?));
            let (author, kind) = (fields.text()?.to_owned(), fields.text()?.to_owned());
            let kind = FileKind::parse(&kind).ok_or_else(|| {
                StoreError::Corrupt(format!("case_file.kind: unknown kind {kind:?}"))
            })?;
            let size = fields.int()?;
            let size = u64::try_from(size)
                .map_err(|_| StoreError::Corrupt(format!("case_file.size: {size} is negative")))?;
            let hash = fields.text()?.to_owned();
            let name = self.vault().open(place(tenant, NAME, &id), fields.bytes()?)?;
            let name = String::from_utf8(name.to_vec())
                .map_err(|_| StoreError::Corrupt(format!("{NAME}: not UTF-8")))?;
            files.push(StoredFile { id: keys.public(id), at, author, kind, size, hash, name });
        }
        Ok(files)
    }

    /// The content of a file of a case.
    ///
    /// # Errors
    /// `Corrupt` if it is not the one that was added.
    pub async fn case_file_content(
        &self,
        tenant: TenantId,
        subject: Uuid,
        file: &StoredFile,
    ) -> Result<Vec<u8>, StoreError> {
        let id = self.id_keys().await?.stored(file.id);
        let Made(sealed) = self.only::<Made<Vec<u8>>>(&CONTENT, (tenant, subject, file.id)).await?;
        let bytes = self.vault().open(place(tenant, BODY, &id), &sealed)?.to_vec();
        match hash_of(&bytes) == file.hash {
            true => Ok(bytes),
            false => Err(StoreError::Corrupt(format!("{BODY}: another content than was hashed"))),
        }
    }
}
