//! The result of executing an approved proposal. The audit log records the execution in the commit
//! of the action itself, so it is known even if the process crashed before recording it here.

use domain::approval::{Approval, ApprovalState};
use domain::audit::{self, Note};

use super::approvals::{OUTCOME, facts, owner, place};
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static FINISH: Stmt = Stmt::written(
    "approval.finish",
    "UPDATE approval SET state = $3, outcome = $4 WHERE tenant = $1 AND id = $2 AND state = 'approved'",
);
static CARRIED_OUT: Stmt = Stmt::written(
    "approval.carried_out",
    "SELECT COUNT(*) FROM audit_entry a WHERE a.subject = $1 AND a.tenant = $2 AND a.request_id = $3",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[&FINISH, &CARRIED_OUT];

impl Store {
    /// Records the result of executing an approved proposal, here and in the audit log; `false` if
    /// it is recorded already.
    pub async fn finish_approval(
        &self,
        approval: &Approval,
        done: bool,
        outcome: &str,
        by: impl Into<audit::AuditContext>,
    ) -> Result<bool, StoreError> {
        let (tenant, stored) =
            (owner(approval.tenant), self.id_keys().await?.stored(approval.id.0));
        let sealed = self.vault().seal(place(tenant, OUTCOME, &stored), outcome.as_bytes());
        let (state, action) = match done {
            true => (ApprovalState::Done, "approval.done"),
            false => (ApprovalState::Failed, "approval.failed"),
        };
        let after = facts(&approval.deed, &approval.changes)
            .opt_text("why_not", (!done).then_some(outcome));
        let note = Note::new(action, "approval", approval.id).after(after);
        let params = vec![tenant.0.into(), stored.into(), state.name().into(), sealed.into()];
        match self.noted(tenant, by.into(), note, vec![Step::one(&FINISH, params)]).await {
            Err(StoreError::Conflict(_)) => Ok(false),
            noted => noted.map(|()| true),
        }
    }

    /// Whether the audit log contains an action on `subject` for this proposal.
    pub async fn is_carried_out(
        &self,
        approval: &Approval,
        subject: &str,
    ) -> Result<bool, StoreError> {
        let request = approval.request_id();
        let params = (subject, owner(approval.tenant), &request);
        let noted: Option<i64> = self.one(&CARRIED_OUT, params).await?;
        Ok(noted.is_some_and(|noted| noted > 0))
    }
}
