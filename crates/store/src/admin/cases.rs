//! Users' work on cases: notes, which are sealed and only added, and who decides a case until when.

use domain::audit::{AuditContext, Facts, Note};
use domain::ids::TenantId;
use domain::time::Timestamp;
use uuid::Uuid;

use super::approvals::place;
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Kind::Uuid as Id;
use crate::sql::{Stmt, Value};
use crate::store::Store;

const BODY: &str = "case_note.body";

static ADD: Stmt = Stmt::written(
    "case.add_note",
    "INSERT INTO case_note (tenant, subject, id, at, author, body) VALUES ($2, $3, $4, {{now}}, $5, $6)",
);
static NOTES: Stmt = Stmt::written(
    "case.notes",
    "SELECT n.id, n.at, n.author, n.body FROM case_note n WHERE n.tenant = $1 AND n.subject = $2 ORDER BY n.id",
);
static SET: Stmt = Stmt::written(
    "case.set",
    "INSERT INTO case_work (tenant, subject, assignee, due_at) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (tenant, subject) DO UPDATE SET assignee = excluded.assignee, due_at = excluded.due_at",
);
static WORK: Stmt = Stmt::by_keys(
    "case.work",
    &[("tenant", Id), ("subject", Id)],
    "SELECT w.subject, w.assignee, w.due_at FROM {{keys}} \
     JOIN case_work w ON w.tenant = k.tenant AND w.subject = k.subject",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&ADD, &NOTES, &SET, &WORK];

/// A case: the kind and the id of its record, as audit entries name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseRef {
    pub tenant: TenantId,
    /// `payment`, `transaction` or `order`.
    pub kind: &'static str,
    pub subject: Uuid,
}

/// A note by a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseNote {
    pub at: Timestamp,
    /// Login name of the user who wrote it.
    pub author: String,
    pub text: String,
}

/// Who works on a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseWork {
    /// Login name of the user; `None` while the case is unassigned.
    pub assignee: Option<String>,
    /// When the case has to be decided.
    pub due_at: Option<Timestamp>,
}

impl Store {
    /// Adds a note, and an audit entry without its text.
    pub async fn add_case_note(
        &self,
        case: CaseRef,
        text: &str,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let (by, keys) = (by.into(), self.id_keys().await?);
        let id = keys.stored(self.ids().next());
        let body = self.vault().seal(place(case.tenant, BODY, &id), text.as_bytes());
        let params: Vec<Value> = vec![
            self.now_param(),
            case.tenant.0.into(),
            keys.stored(case.subject).into(),
            id.into(),
            by.person().into(),
            body.into(),
        ];
        let note = Note::new("case.note", case.kind, case.subject);
        self.noted(case.tenant, by, note, vec![Step::one(&ADD, params)]).await
    }

    /// The notes on a case, oldest first.
    pub async fn case_notes(
        &self,
        tenant: TenantId,
        subject: Uuid,
    ) -> Result<Vec<CaseNote>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![tenant.0.into(), keys.stored(subject).into()];
        let mut notes = Vec::new();
        for row in self.query(&NOTES, params).await? {
            let mut fields = row.fields();
            let (id, at) = (fields.uuid()?, Timestamp(fields.int()?));
            let author = fields.text()?.to_owned();
            let body = self.vault().open(place(tenant, BODY, &id), fields.bytes()?)?;
            let text = String::from_utf8(body.to_vec())
                .map_err(|_| StoreError::Corrupt(format!("{BODY}: not UTF-8")))?;
            notes.push(CaseNote { at, author, text });
        }
        Ok(notes)
    }

    /// Sets who works on a case until when, with the values before and after in the audit log.
    pub async fn set_case_work(
        &self,
        case: CaseRef,
        work: &CaseWork,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let subject = self.id_keys().await?.stored(case.subject);
        let facts = |work: &CaseWork| {
            let due = work.due_at.map(|at| at.to_string());
            Facts::new().opt_text("assignee", work.assignee.as_ref()).opt_text("due", due)
        };
        let changed = async || {
            let mut before = self.case_work(case.tenant, &[case.subject]).await?;
            let before = before.pop().map(|(_, work)| work).unwrap_or_default();
            let params: Vec<Value> = vec![
                case.tenant.0.into(),
                subject.into(),
                work.assignee.clone().into(),
                work.due_at.map(|at| at.0).into(),
            ];
            let note = Note::new("case.assign", case.kind, case.subject);
            let note = note.before(facts(&before)).after(facts(work));
            Ok((note, vec![Step::one(&SET, params)]))
        };
        self.noted_as_read(case.tenant, by.into(), changed).await
    }

    /// Who works on these cases; without those that have never been assigned.
    pub async fn case_work(
        &self,
        tenant: TenantId,
        subjects: &[Uuid],
    ) -> Result<Vec<(Uuid, CaseWork)>, StoreError> {
        let wanted = subjects.iter().map(|subject| (tenant, *subject));
        let found: Vec<(Uuid, Option<String>, Option<Timestamp>)> =
            self.many_by(&WORK, wanted).await?;
        let work = |(subject, assignee, due_at)| (subject, CaseWork { assignee, due_at });
        Ok(found.into_iter().map(work).collect())
    }
}
