//! Roles that one node has at a time: a rail's collector, the sweeper. A lease, renewed by its owner, with a fence that
//! rises whenever the owner changes.

use domain::time::Span;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

static RENEW: Stmt = Stmt::written(
    "role.renew",
    "UPDATE role_lease SET fence = CASE WHEN owner = $2 THEN fence ELSE fence + 1 END, owner = $2, \
     leased_until = {{now}} + $3 WHERE name = $4 AND (owner = $2 OR leased_until <= {{now}})",
);
static TAKE: Stmt = Stmt::written(
    "role.take",
    "INSERT INTO role_lease (name, owner, fence, leased_until) VALUES ($4, $2, 1, {{now}} + $3) \
     ON CONFLICT DO NOTHING",
);
static HELD: Stmt = Stmt::written("role.held", "SELECT fence FROM role_lease WHERE name = $1 AND owner = $2");

pub(crate) static STATEMENTS: &[&Stmt] = &[&RENEW, &TAKE, &HELD];

impl Store {
    /// Takes or renews a role for `owner`; its fence if `owner` has it now, `None` while somebody else has it.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn lease_role(&self, name: &str, owner: &str, lease: Span) -> Result<Option<i64>, StoreError> {
        let params = || vec![self.now_param(), owner.into(), lease.0.into(), name.into()];
        let steps = vec![
            Step::any(&RENEW, params()),
            Step::any(&TAKE, params()),
            Step::any(&HELD, vec![name.into(), owner.into()]),
        ];
        let answers = self.write(steps).await?;
        answers.last().and_then(|rows| rows.first()).map(|row| row.fields().int()).transpose()
    }
}
