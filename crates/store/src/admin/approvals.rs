//! Proposals that a second user decides on. A decision is one conditional statement: of two
//! concurrent decisions one finds nothing left to decide. A table constraint ensures that maker and
//! checker differ.

use domain::approval::{Approval, ApprovalState, ApprovalUser, Change, ProposedAction};
use domain::audit::{self, Facts, Note};
use domain::ids::{ApprovalId, TenantId, UserId};
use domain::time::{Span, Timestamp};
use domain::user::Scope;
use uuid::Uuid;

use super::approval_document::DocumentRow;
use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::Keys;
use crate::sealed::AssociatedData;
use crate::sql::{Row, Stmt, Value};
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "approval.insert",
    "INSERT INTO approval (tenant, id, kind, subject, state, maker, maker_login, created_at, expires_at, checker, \
     checker_login, decided_at, document, outcome) \
     VALUES ($2, $3, $4, $5, 'waiting', $6, $7, {{now}}, {{now}} + $8, NULL, NULL, NULL, $9, NULL)",
);
// An expired proposal no longer blocks an identical one.
static EXPIRE: Stmt = Stmt::written(
    "approval.expire",
    "UPDATE approval SET state = 'withdrawn' \
     WHERE tenant = $2 AND subject = $3 AND kind = $4 AND state = 'waiting' AND expires_at <= {{now}}",
);
static ONE: Stmt =
    Stmt::written("approval.one", "SELECT {{approval a}} FROM approval a WHERE a.id = $1");
static OPEN: Stmt = Stmt::written(
    "approval.open",
    "SELECT {{approval a}} FROM approval a WHERE a.state = 'approved' \
     OR (a.state = 'waiting' AND a.expires_at > {{now}}) ORDER BY a.created_at, a.id LIMIT $2",
);
static OPEN_OF: Stmt = Stmt::written(
    "approval.open_of",
    "SELECT {{approval a}} FROM approval a WHERE a.tenant = $2 AND (a.state = 'approved' \
     OR (a.state = 'waiting' AND a.expires_at > {{now}})) ORDER BY a.created_at, a.id LIMIT $3",
);
// Proposals that are still waiting do not delay those to be executed.
static LEFT: Stmt = Stmt::written(
    "approval.left",
    "SELECT {{approval a}} FROM approval a WHERE a.state = 'approved' AND a.decided_at <= {{now}} - $2 \
     AND (a.decided_at, a.id) > ($3, $4) ORDER BY a.decided_at, a.id LIMIT $5",
);
static NEWEST: Stmt = Stmt::written(
    "approval.newest",
    "SELECT {{approval a}} FROM approval a ORDER BY a.created_at DESC, a.id DESC LIMIT $1",
);
static NEWEST_OF: Stmt = Stmt::written(
    "approval.newest_of",
    "SELECT {{approval a}} FROM approval a WHERE a.tenant = $1 ORDER BY a.created_at DESC, a.id DESC LIMIT $2",
);
static ABOUT: Stmt = Stmt::written(
    "approval.about",
    "SELECT {{approval a}} FROM approval a WHERE a.tenant = $1 AND a.subject = $2 ORDER BY a.created_at DESC LIMIT $3",
);
static DECIDE: Stmt = Stmt::written(
    "approval.decide",
    "UPDATE approval SET state = $4, checker = $5, checker_login = $6, decided_at = {{now}}, outcome = $7 \
     WHERE tenant = $2 AND id = $3 AND state = 'waiting' AND expires_at > {{now}} AND maker <> $5",
);
static WITHDRAW: Stmt = Stmt::written(
    "approval.withdraw",
    "UPDATE approval SET state = 'withdrawn' WHERE tenant = $1 AND id = $2 AND state = 'waiting' AND maker = $3",
);
pub(crate) static STATEMENTS: &[&Stmt] = &[
    &INSERT, &EXPIRE, &ONE, &OPEN, &OPEN_OF, &LEFT, &NEWEST, &NEWEST_OF, &ABOUT, &DECIDE, &WITHDRAW,
];

/// Maximum number of proposals shown about one subject.
const ABOUT_MAX: i64 = 20;
const DOCUMENT: &str = "approval.document";
pub(super) const OUTCOME: &str = "approval.outcome";

/// A proposal to store.
#[derive(Debug)]
pub struct NewApproval<'a> {
    /// The tenant concerned; `None` = the installation.
    pub tenant: Option<TenantId>,
    pub deed: &'a ProposedAction,
    pub changes: &'a [Change],
    /// The user who proposes it.
    pub maker: &'a ApprovalUser,
    pub why: &'a str,
    /// How long it waits for a decision.
    pub lifetime: Span,
}

/// The owner of installation-wide proposals.
pub(super) fn owner(tenant: Option<TenantId>) -> TenantId {
    tenant.unwrap_or(TenantId(Uuid::nil()))
}

impl Store {
    /// Stores a proposal.
    ///
    /// # Errors
    /// `Conflict` if one of the same kind about the same subject is waiting.
    pub async fn propose(
        &self,
        new: &NewApproval<'_>,
        by: impl Into<audit::AuditContext>,
    ) -> Result<ApprovalId, StoreError> {
        let keys = self.id_keys().await?;
        let id = ApprovalId(self.ids().next());
        let (stored, tenant) = (keys.stored(id.0), owner(new.tenant));
        let row = DocumentRow::of(new.deed, new.changes, new.why)?;
        let plain = serde_json::to_vec(&row).map_err(|error| unreadable(&error))?;
        let document = self.vault().seal(place(tenant, DOCUMENT, &stored), &plain);
        let subject = new.deed.subject();
        let expire =
            vec![self.now_param(), tenant.0.into(), (&*subject).into(), new.deed.kind().into()];
        let params: Vec<Value> = vec![
            self.now_param(),
            tenant.0.into(),
            stored.into(),
            new.deed.kind().into(),
            (&*subject).into(),
            keys.stored(new.maker.id.0).into(),
            (&*new.maker.login).into(),
            new.lifetime.0.into(),
            document.into(),
        ];
        let note =
            Note::new("approval.propose", "approval", id).after(facts(new.deed, new.changes));
        self.noted(
            tenant,
            by.into(),
            note,
            vec![Step::any(&EXPIRE, expire), Step::one(&INSERT, params)],
        )
        .await?;
        Ok(id)
    }

    /// Returns one proposal of any tenant: the caller checks whether the user may see it.
    ///
    /// # Errors
    /// The database cannot be reached, or the proposal does not open.
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&ONE, vec![keys.stored(id.0).into()]).await?;
        rows.first().map(|row| self.read_approval(row, &keys)).transpose()
    }

    /// Proposals in a scope: those waiting or being executed, oldest first; or the latest of all,
    /// newest first. Every tenant's scope includes the installation's own.
    pub async fn approvals(
        &self,
        scope: Scope,
        open: bool,
        limit: usize,
    ) -> Result<Vec<Approval>, StoreError> {
        let (keys, limit, now) = (self.id_keys().await?, most(limit), self.now_param());
        let rows = match (scope, open) {
            (Scope::All, true) => self.query(&OPEN, vec![now, limit]).await?,
            (Scope::All, false) => self.query(&NEWEST, vec![limit]).await?,
            (Scope::Tenant(tenant), true) => {
                self.query(&OPEN_OF, vec![now, tenant.0.into(), limit]).await?
            }
            (Scope::Tenant(tenant), false) => {
                self.query(&NEWEST_OF, vec![tenant.0.into(), limit]).await?
            }
        };
        rows.iter().map(|row| self.read_approval(row, &keys)).collect()
    }

    /// Proposals approved at least `age` ago and not executed, oldest first; a page starts after
    /// the last one of the previous page.
    pub async fn approvals_left(
        &self,
        age: Span,
        after: Option<&Approval>,
        limit: usize,
    ) -> Result<Vec<Approval>, StoreError> {
        let keys = self.id_keys().await?;
        let place =
            after.and_then(|last| Some((last.decided.as_ref()?.1.0, keys.stored(last.id.0))));
        let (at, id) = place.unwrap_or((i64::MIN, Uuid::nil()));
        let params = vec![self.now_param(), age.0.into(), at.into(), id.into(), most(limit)];
        self.query(&LEFT, params).await?.iter().map(|row| self.read_approval(row, &keys)).collect()
    }

    /// The latest proposals about one subject.
    pub async fn approvals_about(
        &self,
        tenant: Option<TenantId>,
        subject: &str,
    ) -> Result<Vec<Approval>, StoreError> {
        let keys = self.id_keys().await?;
        let params = vec![owner(tenant).0.into(), subject.into(), ABOUT_MAX.into()];
        let rows = self.query(&ABOUT, params).await?;
        rows.iter().map(|row| self.read_approval(row, &keys)).collect()
    }

    /// Decides a waiting proposal: once, and not by its maker.
    ///
    /// # Errors
    /// `Conflict` if it was decided or withdrawn, has expired, or `checker` is its maker.
    pub async fn decide(
        &self,
        approval: &Approval,
        approve: bool,
        checker: &ApprovalUser,
        note: &str,
        by: impl Into<audit::AuditContext>,
    ) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let (tenant, stored) = (owner(approval.tenant), keys.stored(approval.id.0));
        let state = if approve { ApprovalState::Approved } else { ApprovalState::Rejected };
        let outcome = self.vault().seal(place(tenant, OUTCOME, &stored), note.as_bytes());
        let params: Vec<Value> = vec![
            self.now_param(),
            tenant.0.into(),
            stored.into(),
            state.name().into(),
            keys.stored(checker.id.0).into(),
            (&*checker.login).into(),
            outcome.into(),
        ];
        let action = if approve { "approval.approve" } else { "approval.reject" };
        let note = Note::new(action, "approval", approval.id)
            .after(facts(&approval.deed, &approval.changes));
        self.noted(tenant, by.into(), note, vec![Step::one(&DECIDE, params)]).await
    }

    /// Withdraws a waiting proposal of its maker.
    ///
    /// # Errors
    /// `Conflict` if it is no longer waiting or has another maker.
    pub async fn withdraw(
        &self,
        approval: &Approval,
        maker: &ApprovalUser,
        by: impl Into<audit::AuditContext>,
    ) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let tenant = owner(approval.tenant);
        let params =
            [tenant.0, keys.stored(approval.id.0), keys.stored(maker.id.0)].map(Value::from);
        let note = Note::new("approval.withdraw", "approval", approval.id);
        self.noted(tenant, by.into(), note, vec![Step::one(&WITHDRAW, params.into())]).await
    }

    fn read_approval(&self, row: &Row, keys: &Keys) -> Result<Approval, StoreError> {
        let mut fields = row.fields();
        let (tenant, stored) = (TenantId(fields.uuid()?), fields.uuid()?);
        let state = fields.named("state of an approval", ApprovalState::parse)?;
        let maker = ApprovalUser {
            id: UserId(keys.public(fields.uuid()?)),
            login: fields.text()?.to_owned(),
        };
        let (created_at, expires_at) = (Timestamp(fields.int()?), Timestamp(fields.int()?));
        let checker = fields.opt_uuid()?.map(|id| UserId(keys.public(id)));
        let checker = checker
            .zip(fields.opt_text()?)
            .map(|(id, login)| ApprovalUser { id, login: login.to_owned() });
        let decided = checker.zip(fields.opt_int()?.map(Timestamp));
        let plain = self.vault().open(place(tenant, DOCUMENT, &stored), fields.bytes()?)?;
        let document: DocumentRow =
            serde_json::from_slice(&plain).map_err(|error| unreadable(&error))?;
        let (deed, changes, why) = document.parts()?;
        let outcome = match fields.opt_bytes()? {
            Some(sealed) => self.vault().open(place(tenant, OUTCOME, &stored), sealed)?.to_vec(),
            None => Vec::new(),
        };
        Ok(Approval {
            id: ApprovalId(keys.public(stored)),
            tenant: Some(tenant).filter(|tenant| !tenant.0.is_nil()),
            deed,
            changes,
            maker,
            why,
            created_at,
            expires_at,
            state,
            decided,
            outcome: String::from_utf8(outcome)
                .map_err(|_| StoreError::Corrupt(format!("{OUTCOME}: not UTF-8")))?,
        })
    }
}

/// A proposal's facts for the audit log.
pub(super) fn facts(deed: &ProposedAction, changes: &[Change]) -> Facts {
    let facts = Facts::new().text("kind", deed.kind()).text("subject", deed.subject());
    let changed = changes.iter().filter(|change| change.before != change.after);
    changed.fold(facts, |facts, change| {
        facts.text(&change.what, format!("{} → {}", change.before, change.after))
    })
}

pub(super) fn place<'a>(
    tenant: TenantId,
    column: &'static str,
    row: &'a Uuid,
) -> AssociatedData<'a> {
    AssociatedData { tenant, column, row: row.as_bytes() }
}

/// Only the kind of error is reported: its text could quote sealed data.
fn unreadable(error: &serde_json::Error) -> StoreError {
    StoreError::Corrupt(format!("{DOCUMENT}: {:?} error", error.classify()))
}
