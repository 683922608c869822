//! Sessions of the operator console, and sign-in attempts. Only a token's digest is stored; the
//! caller supplies wall-clock time.

use domain::audit::{AuditContext, Facts, INSTALLATION, Note};
use domain::identity::Subject;
use domain::ids::UserId;
use domain::time::{Span, Timestamp};
use domain::user::User;
use secrecy::ExposeSecret as _;

use super::users::{END_SESSIONS, StoredUser, TotpSecret, open_totp, totp_place, with_subject};
use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Get;
use crate::sql::{Fields, Stmt, Value};
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "console_session.insert",
    "INSERT INTO console_session (token_digest, user_id, stage, created_at, seen_at, address, browser, totp) \
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)",
);
// Locks the user; finds none if they may no longer sign in, or not in this way.
static MAY_BEGIN: Stmt = Stmt::written(
    "console_session.may_begin",
    "UPDATE console_user SET version = version WHERE id = $1 AND disabled_at IS NULL AND CASE \
     WHEN CAST($2 AS TEXT) IS NULL THEN provider_name IS NULL \
     ELSE provider_issuer = $2 AND provider_subject = CAST($3 AS TEXT) END",
);
static ONE: Stmt = Stmt::written(
    "console_session.one",
    "SELECT {{console_user u}}, s.stage, s.created_at, s.seen_at, s.totp FROM console_session s \
     JOIN console_user u ON u.id = s.user_id WHERE s.token_digest = $1 AND u.disabled_at IS NULL",
);
static SEEN: Stmt = Stmt::written(
    "console_session.seen",
    "UPDATE console_session SET seen_at = $2 WHERE token_digest = $1 AND seen_at < $2",
);
static END: Stmt =
    Stmt::written("console_session.end", "DELETE FROM console_session WHERE token_digest = $1");
static END_OLD: Stmt = Stmt::written(
    "console_session.end_old",
    "DELETE FROM console_session WHERE created_at < $1 OR seen_at < $2",
);
static COUNT: Stmt = Stmt::written(
    "console_session.count",
    "SELECT COUNT(*) FROM console_session WHERE user_id = $1 AND stage = 'open' AND seen_at >= $2",
);
// The statement that counts also computes the wait, so that concurrent attempts cannot share one
// check. Without a wait, `wait_until` is 0 rather than the attempt's time: an earlier attempt may
// be counted later.
static TRY: Stmt = Stmt::written(
    "console_try.count",
    "INSERT INTO console_try (what, failures, last_at, wait_until, taken) VALUES ($1, 1, $2, 0, 1) \
     ON CONFLICT (what) DO UPDATE SET \
     taken = CASE WHEN console_try.wait_until > $2 THEN 0 ELSE 1 END, \
     failures = CASE WHEN console_try.wait_until > $2 THEN console_try.failures \
     WHEN console_try.last_at < $2 - CAST($3 AS BIGINT) THEN 1 ELSE console_try.failures + 1 END, \
     wait_until = CASE WHEN console_try.wait_until > $2 THEN console_try.wait_until \
     WHEN console_try.last_at < $2 - $3 THEN 0 \
     WHEN console_try.failures + 1 < CAST($4 AS BIGINT) THEN 0 \
     WHEN console_try.failures + 1 >= $4 + 6 THEN $2 + CAST($5 AS BIGINT) * 64 \
     WHEN console_try.failures + 1 = $4 + 5 THEN $2 + $5 * 32 \
     WHEN console_try.failures + 1 = $4 + 4 THEN $2 + $5 * 16 \
     WHEN console_try.failures + 1 = $4 + 3 THEN $2 + $5 * 8 \
     WHEN console_try.failures + 1 = $4 + 2 THEN $2 + $5 * 4 \
     WHEN console_try.failures + 1 = $4 + 1 THEN $2 + $5 * 2 \
     ELSE $2 + $5 END, \
     last_at = CASE WHEN console_try.wait_until > $2 THEN console_try.last_at ELSE $2 END \
     RETURNING taken, wait_until",
);
static FORGET: Stmt =
    Stmt::written("console_try.forget", "DELETE FROM console_try WHERE what = $1");
static FORGET_OLD: Stmt = Stmt::written(
    "console_try.forget_old",
    "DELETE FROM console_try WHERE last_at < $1 AND wait_until < $1",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&INSERT, &MAY_BEGIN, &ONE, &SEEN, &END, &END_OLD, &COUNT, &TRY, &FORGET, &FORGET_OLD];

const TOTP: &str = "console_session.totp";

/// Progress of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The password was accepted, a one-time code is required.
    Code,
    /// The password was accepted, enrolment for one-time codes is required.
    Enrol,
    /// A new password is required.
    Password,
    /// The user is signed in.
    Open,
}

impl Stage {
    const ALL: [Stage; 4] = [Stage::Code, Stage::Enrol, Stage::Password, Stage::Open];

    const fn name(self) -> &'static str {
        match self {
            Stage::Code => "code",
            Stage::Enrol => "enrol",
            Stage::Password => "password",
            Stage::Open => "open",
        }
    }

    fn parse(text: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == text)
    }
}

pub struct NewSession<'a> {
    /// SHA-256 of the token.
    pub token_digest: [u8; 32],
    pub user: &'a User,
    /// Progress of the sign-in.
    pub stage: Stage,
    /// Client address, for the log.
    pub address: &'a str,
    /// Browser, shown to the user.
    pub browser: &'a str,
    /// The secret shown for enrolment.
    pub totp: Option<TotpSecret>,
    /// The identity provider's subject, if the user signed in there.
    pub subject: Option<&'a Subject>,
    pub now: Timestamp,
    /// The actor for the audit log, which records a completed sign-in.
    pub by: AuditContext,
}

#[derive(Debug)]
pub struct SessionRow {
    /// Its user, as of now rather than at the start of the session.
    pub user: StoredUser,
    /// Progress of the sign-in.
    pub stage: Stage,
    pub created_at: Timestamp,
    /// When it was last used.
    pub seen_at: Timestamp,
    /// The secret shown for enrolment.
    pub totp: Option<TotpSecret>,
}

/// Throttling of sign-in attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Number of attempts without a wait.
    pub free: u32,
    /// The first wait; it doubles up to a factor of 64.
    pub wait: Span,
    /// Attempts are reset after this time without any.
    pub forget: Span,
}

impl Get for Stage {
    fn get(fields: &mut Fields<'_>, _: &Keys) -> Result<Stage, StoreError> {
        fields.named("stage of a session", Stage::parse)
    }
}

impl Store {
    /// Starts a session that replaces `old`, if any: a token never outlives a step of signing in.
    ///
    /// # Errors
    /// `Conflict` if the user may no longer sign in, or not in this way, or is not bound to this
    /// subject.
    pub async fn begin_session(
        &self,
        new: &NewSession<'_>,
        old: Option<[u8; 32]>,
    ) -> Result<(), StoreError> {
        let digest = new.token_digest.to_vec();
        let totp = new
            .totp
            .as_ref()
            .map(|secret| self.vault().seal(totp_place(TOTP, &digest), secret.expose_secret()));
        let user: Value = self.id_keys().await?.stored(new.user.id.0).into();
        let issuer = new.subject.map(|subject| subject.issuer.clone());
        let subject = new.subject.map(|subject| subject.subject.clone());
        let may_begin = Step::one(&MAY_BEGIN, vec![user.clone(), issuer.into(), subject.into()]);
        let params: Vec<Value> = vec![
            digest.into(),
            user,
            new.stage.name().into(),
            new.now.0.into(),
            new.address.into(),
            new.browser.into(),
            totp.into(),
        ];
        let mut steps = vec![may_begin];
        steps.extend(old.into_iter().map(|old| Step::any(&END, vec![old.to_vec().into()])));
        steps.push(Step::one(&INSERT, params));
        if new.stage != Stage::Open {
            return self.write(steps).await.map(drop);
        }
        let facts = Facts::new().text("address", new.address).text("browser", new.browser);
        let note = Note::new("session.begin", "user", &new.user.login)
            .after(with_subject(facts, new.subject));
        self.noted(INSTALLATION, new.by.clone(), note, steps).await
    }

    /// The session of a token; `None` also if its user is disabled.
    pub async fn session(&self, token_digest: [u8; 32]) -> Result<Option<SessionRow>, StoreError> {
        type Row = (StoredUser, Stage, Timestamp, Timestamp, Option<Vec<u8>>);
        let found: Option<Row> = self.one(&ONE, &token_digest).await?;
        let Some((user, stage, created_at, seen_at, totp)) = found else { return Ok(None) };
        let totp = open_totp(TOTP, &token_digest, totp, &*self.id_keys().await?)?;
        Ok(Some(SessionRow { user, stage, created_at, seen_at, totp }))
    }

    /// Records that a session was used.
    pub async fn session_seen(
        &self,
        token_digest: [u8; 32],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(vec![Step::any(&SEEN, vec![token_digest.to_vec().into(), now.0.into()])])
            .await
            .map(drop)
    }

    pub async fn end_session(&self, token_digest: [u8; 32]) -> Result<(), StoreError> {
        self.write(vec![Step::any(&END, vec![token_digest.to_vec().into()])]).await.map(drop)
    }

    /// Ends all sessions of a user at their own request.
    pub async fn end_sessions_of(
        &self,
        user: &User,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let stored = self.id_keys().await?.stored(user.id.0);
        let note = Note::new("session.end_all", "user", &user.login);
        self.noted(
            INSTALLATION,
            by.into(),
            note,
            vec![Step::any(&END_SESSIONS, vec![stored.into()])],
        )
        .await
    }

    /// Ends sessions that started before `began` or were last used before `used`.
    pub async fn end_old_sessions(
        &self,
        began: Timestamp,
        used: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(vec![Step::any(&END_OLD, vec![began.0.into(), used.0.into()])]).await.map(drop)
    }

    /// How many sessions of a user were used since `used`.
    pub async fn open_sessions(&self, user: UserId, used: Timestamp) -> Result<i64, StoreError> {
        self.only(&COUNT, (user, used)).await
    }

    /// Counts a sign-in attempt as failed until [`Store::forget_tries`] resets it. Returns until
    /// when the user has to wait, if this attempt came too early and must not be evaluated.
    pub async fn count_try(
        &self,
        what: &str,
        back: Backoff,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let params: Vec<Value> = vec![
            what.into(),
            now.0.into(),
            back.forget.0.into(),
            i64::from(back.free).into(),
            back.wait.0.into(),
        ];
        let old = now - back.forget;
        let steps = vec![Step::any(&FORGET_OLD, vec![old.0.into()]), Step::any(&TRY, params)];
        let counted = self.write_many(steps).await?.pop();
        let (taken, until): (bool, Timestamp) =
            counted.ok_or_else(|| StoreError::Corrupt("no attempt was counted".to_owned()))?;
        Ok((!taken).then_some(until))
    }

    /// Resets a user's failed attempts after a sign-in.
    pub async fn forget_tries(&self, what: &str) -> Result<(), StoreError> {
        self.write(vec![Step::any(&FORGET, vec![what.into()])]).await.map(drop)
    }
}
