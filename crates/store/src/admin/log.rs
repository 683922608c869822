//! The administration log: who did what to what. Only ever added to, in the same commit as the deed.

use domain::time::Timestamp;
use uuid::Uuid;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static ADD: Stmt = Stmt::written(
    "admin_log.add",
    "INSERT INTO admin_log (id, at, who, action, subject, detail) VALUES ($2, {{now}}, $3, $4, $5, $6)",
);
static NEWEST: Stmt = Stmt::written(
    "admin_log.newest",
    "SELECT at, who, action, subject, detail FROM admin_log ORDER BY id DESC LIMIT $1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&ADD, &NEWEST];

/// One entry of the administration log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminEntry {
    /// When.
    pub at: Timestamp,
    /// Who: an operator, or the command line's user.
    pub who: String,
    /// What, as a stable word (`tenant.create`, `key.revoke` …).
    pub action: String,
    /// To what: a tenant, an access key.
    pub subject: String,
    /// Particulars, never a secret.
    pub detail: String,
}

impl Store {
    /// The step that notes a deed, to be part of the deed's transaction.
    pub(crate) async fn note(&self, who: &str, action: &str, subject: &str, detail: &str) -> Result<Step, StoreError> {
        let id: Uuid = self.id_keys().await?.stored(self.ids().next());
        let words = [who, action, subject, detail].map(Into::into);
        let mut params = vec![self.now_param(), id.into()];
        params.extend(words);
        Ok(Step::one(&ADD, params))
    }

    /// Notes a deed that changes nothing in the store itself.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn log_admin(&self, who: &str, action: &str, subject: &str, detail: &str) -> Result<(), StoreError> {
        let step = self.note(who, action, subject, detail).await?;
        self.write(vec![step]).await.map(drop)
    }

    /// The newest entries of the administration log, the newest first.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn admin_log(&self, limit: usize) -> Result<Vec<AdminEntry>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.query(&NEWEST, vec![limit.into()]).await?;
        rows.iter()
            .map(|row| {
                let mut fields = row.fields();
                Ok(AdminEntry {
                    at: Timestamp(fields.int()?),
                    who: fields.text()?.to_owned(),
                    action: fields.text()?.to_owned(),
                    subject: fields.text()?.to_owned(),
                    detail: fields.text()?.to_owned(),
                })
            })
            .collect()
    }
}
