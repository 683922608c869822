//! Sessions of the operator console, and tries to begin one. A token is kept as its digest only; time is the wall's,
//! handed in.

use domain::audit::{Deed, Facts, INSTALLATION, Note};
use domain::identity::Subject;
use domain::ids::UserId;
use domain::time::{Span, Timestamp};
use domain::user::User;
use secrecy::ExposeSecret as _;

use super::users::{END_SESSIONS, StoredUser, TotpSecret, totp_place, with_subject};
use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "console_session.insert",
    "INSERT INTO console_session (token_digest, user_id, stage, created_at, seen_at, address, browser, totp) \
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)",
);
// Locks the person, and finds nobody where he may not sign in, or not in this way, by now.
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
static END: Stmt = Stmt::written("console_session.end", "DELETE FROM console_session WHERE token_digest = $1");
static END_OLD: Stmt =
    Stmt::written("console_session.end_old", "DELETE FROM console_session WHERE created_at < $1 OR seen_at < $2");
static COUNT: Stmt = Stmt::written(
    "console_session.count",
    "SELECT COUNT(*) FROM console_session WHERE user_id = $1 AND stage = 'open' AND seen_at >= $2",
);
// The waits are found out by the same statement that counts, so that tries at the same moment cannot share one look.
// Where nobody has to wait, `wait_until` is 0 and not the time of the try: one that began earlier may be counted later.
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
static FORGET: Stmt = Stmt::written("console_try.forget", "DELETE FROM console_try WHERE what = $1");
static FORGET_OLD: Stmt =
    Stmt::written("console_try.forget_old", "DELETE FROM console_try WHERE last_at < $1 AND wait_until < $1");

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&INSERT, &MAY_BEGIN, &ONE, &SEEN, &END, &END_OLD, &COUNT, &TRY, &FORGET, &FORGET_OLD];

const TOTP: &str = "console_session.totp";

/// How far somebody has come with signing in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// He has said the password and owes a one-time code.
    Code,
    /// He has said the password and enrols for one-time codes.
    Enrol,
    /// He has to choose another password.
    Password,
    /// He is signed in.
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

/// A session that begins.
pub struct NewSession<'a> {
    /// SHA-256 of the token.
    pub token_digest: [u8; 32],
    /// Whose.
    pub user: &'a User,
    /// How far he has come.
    pub stage: Stage,
    /// Where from, for the log.
    pub address: &'a str,
    /// With what, for the person himself.
    pub browser: &'a str,
    /// The secret that he is shown to enrol.
    pub totp: Option<TotpSecret>,
    /// Who the identity provider says he is, where he has signed in there.
    pub subject: Option<&'a Subject>,
    /// When.
    pub now: Timestamp,
    /// Who signs in, for the audit log: it notes when he is.
    pub by: Deed,
}

/// A session.
#[derive(Debug)]
pub struct SessionRow {
    /// Whose: as he is now, not as he was when it began.
    pub user: StoredUser,
    /// How far he has come.
    pub stage: Stage,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used.
    pub seen_at: Timestamp,
    /// The secret that he is shown to enrol.
    pub totp: Option<TotpSecret>,
}

/// How tries to sign in are slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The try after which one has to wait.
    pub free: u32,
    /// The first wait; it doubles up to 64 times itself.
    pub wait: Span,
    /// Tries are forgotten after so long without any.
    pub forget: Span,
}

/// Columns of a user in front of those of the session.
const USER_COLUMNS: usize = 15;

impl Store {
    /// Begins a session in the place of `old`, if there is one: a token never outlives a step of signing in.
    ///
    /// # Errors
    /// `Conflict` where the person may not sign in any more, or not in this way, or is not bound to this subject.
    pub async fn begin_session(&self, new: &NewSession<'_>, old: Option<[u8; 32]>) -> Result<(), StoreError> {
        let digest = new.token_digest.to_vec();
        let totp = new.totp.as_ref().map(|secret| self.vault().seal(totp_place(TOTP, &digest), secret.expose_secret()));
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
        let note = Note::new("session.begin", "user", &new.user.login).after(with_subject(facts, new.subject));
        self.noted(INSTALLATION, new.by.clone(), note, steps).await
    }

    /// The session of a token; `None` too where its person is disabled.
    ///
    /// # Errors
    /// The database cannot be reached or holds an unknown value.
    pub async fn session(&self, token_digest: [u8; 32]) -> Result<Option<SessionRow>, StoreError> {
        let keys = self.id_keys().await?;
        let rows = self.query(&ONE, vec![token_digest.to_vec().into()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let user = self.read_user(row, &keys)?;
        let mut fields = row.fields();
        fields.skip(USER_COLUMNS);
        Ok(Some(SessionRow {
            user,
            stage: fields.named("stage of a session", Stage::parse)?,
            created_at: Timestamp(fields.int()?),
            seen_at: Timestamp(fields.int()?),
            totp: self.open_totp(TOTP, &token_digest, fields.opt_bytes()?)?,
        }))
    }

    /// Notes that a session was used.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn session_seen(&self, token_digest: [u8; 32], now: Timestamp) -> Result<(), StoreError> {
        self.write(vec![Step::any(&SEEN, vec![token_digest.to_vec().into(), now.0.into()])]).await.map(drop)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn end_session(&self, token_digest: [u8; 32]) -> Result<(), StoreError> {
        self.write(vec![Step::any(&END, vec![token_digest.to_vec().into()])]).await.map(drop)
    }

    /// Ends every session of somebody, as he wants it himself.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn end_sessions_of(&self, user: &User, by: impl Into<Deed>) -> Result<(), StoreError> {
        let stored = self.id_keys().await?.stored(user.id.0);
        let note = Note::new("session.end_all", "user", &user.login);
        self.noted(INSTALLATION, by.into(), note, vec![Step::any(&END_SESSIONS, vec![stored.into()])]).await
    }

    /// Ends the sessions that began before `began` or were last used before `used`.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn end_old_sessions(&self, began: Timestamp, used: Timestamp) -> Result<(), StoreError> {
        self.write(vec![Step::any(&END_OLD, vec![began.0.into(), used.0.into()])]).await.map(drop)
    }

    /// How many sessions of somebody were used since `used`.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn open_sessions(&self, user: UserId, used: Timestamp) -> Result<i64, StoreError> {
        let stored = self.id_keys().await?.stored(user.0);
        let rows = self.query(&COUNT, vec![stored.into(), used.0.into()]).await?;
        rows.first().map_or(Ok(0), |row| row.fields().int())
    }

    /// Counts a try to sign in as failed until [`Store::forget_tries`] says otherwise; until when one has to wait, if
    /// this try came too early and must not be looked at.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn count_try(&self, what: &str, back: Backoff, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let params: Vec<Value> =
            vec![what.into(), now.0.into(), back.forget.0.into(), i64::from(back.free).into(), back.wait.0.into()];
        let old = now - back.forget;
        let steps = vec![Step::any(&FORGET_OLD, vec![old.0.into()]), Step::any(&TRY, params)];
        let answers = self.write(steps).await?;
        let row = answers.last().and_then(|rows| rows.first());
        let mut fields = row.ok_or_else(|| StoreError::Corrupt("no try was counted".to_owned()))?.fields();
        let (taken, until) = (fields.flag()?, Timestamp(fields.int()?));
        Ok((!taken).then_some(until))
    }

    /// Somebody has signed in: his failed tries are forgotten.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn forget_tries(&self, what: &str) -> Result<(), StoreError> {
        self.write(vec![Step::any(&FORGET, vec![what.into()])]).await.map(drop)
    }
}
