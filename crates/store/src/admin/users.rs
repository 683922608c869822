//! Users of the operator console. Passwords are stored as hashes, secrets of one-time codes sealed.

use std::collections::BTreeSet;
use std::fmt;

use domain::audit::{AuditContext, Facts, INSTALLATION, Note};
use domain::identity::Subject;
use domain::ids::{TenantId, UserId};
use domain::time::Timestamp;
use domain::user::{Role, Scope, User};
use secrecy::{ExposeSecret as _, SecretBox};
use uuid::Uuid;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::{Get, Raw};
use crate::sealed::AssociatedData;
use crate::sql::{Fields, Stmt, Value};
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "console_user.insert",
    "INSERT INTO console_user (id, login, scope, roles, password, password_at, password_is_initial, totp, totp_step, \
     created_at, disabled_at, version, provider_name) VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, 0, $6, NULL, 1, $8)",
);
static ALL: Stmt = Stmt::written(
    "console_user.all",
    "SELECT {{console_user u}} FROM console_user u ORDER BY u.login",
);
static ONE: Stmt = Stmt::written(
    "console_user.one",
    "SELECT {{console_user u}} FROM console_user u WHERE u.id = $1",
);
static BY_LOGIN: Stmt = Stmt::written(
    "console_user.by_login",
    "SELECT {{console_user u}} FROM console_user u WHERE u.login = $1",
);
static BY_SUBJECT: Stmt = Stmt::written(
    "console_user.by_subject",
    "SELECT {{console_user u}} FROM console_user u WHERE u.provider_subject = $2 AND u.provider_issuer = $1",
);
static BY_PROVIDER_NAME: Stmt = Stmt::written(
    "console_user.by_provider_name",
    "SELECT {{console_user u}} FROM console_user u WHERE u.provider_name = $1",
);
static SET_ACCESS: Stmt = Stmt::written(
    "console_user.set_access",
    "UPDATE console_user SET roles = $3, scope = $4, version = version + 1 WHERE id = $1 AND version = $2",
);
static SET_PASSWORD: Stmt = Stmt::written(
    "console_user.set_password",
    "UPDATE console_user SET password = $2, password_at = $3, password_is_initial = $4, version = version + 1 \
     WHERE id = $1 AND provider_name IS NULL",
);
// A change of the sign-in method starts over: nothing of the previous one stays.
static SET_PROVIDER: Stmt = Stmt::written(
    "console_user.set_provider",
    "UPDATE console_user SET provider_name = $2, provider_issuer = NULL, provider_subject = NULL, password = '', \
     password_at = $3, password_is_initial = 0, totp = NULL, totp_step = 0, version = version + 1 WHERE id = $1",
);
static LEAVE_PROVIDER: Stmt = Stmt::written(
    "console_user.leave_provider",
    "UPDATE console_user SET provider_name = NULL, provider_issuer = NULL, provider_subject = NULL, password = $2, \
     password_at = $3, password_is_initial = 1, totp = NULL, totp_step = 0, version = version + 1 \
     WHERE id = $1 AND provider_name IS NOT NULL",
);
// Only in the state that was read, and only a user who is not bound yet.
static BIND: Stmt = Stmt::written(
    "console_user.bind",
    "UPDATE console_user SET provider_issuer = $3, provider_subject = $4, version = version + 1 \
     WHERE id = $1 AND provider_name = $2 AND provider_subject IS NULL AND disabled_at IS NULL",
);
static UNBIND: Stmt = Stmt::written(
    "console_user.unbind",
    "UPDATE console_user SET provider_issuer = NULL, provider_subject = NULL, version = version + 1 \
     WHERE id = $1 AND provider_subject IS NOT NULL",
);
static FORGET_TOTP: Stmt = Stmt::written(
    "console_user.forget_totp",
    "UPDATE console_user SET totp = NULL, totp_step = 0, version = version + 1 WHERE id = $1",
);
// An active secret is never replaced on the password alone.
static ENROL_TOTP: Stmt = Stmt::written(
    "console_user.enrol_totp",
    "UPDATE console_user SET totp = $2, totp_step = $3, version = version + 1 \
     WHERE id = $1 AND totp IS NULL AND disabled_at IS NULL AND provider_name IS NULL",
);
static TAKE_STEP: Stmt = Stmt::written(
    "console_user.take_step",
    "UPDATE console_user SET totp_step = $2 WHERE id = $1 AND totp_step < $2 AND totp IS NOT NULL",
);
static DISABLE: Stmt = Stmt::written(
    "console_user.disable",
    "UPDATE console_user SET disabled_at = $2, version = version + 1 WHERE id = $1 AND disabled_at IS NULL",
);
static ENABLE: Stmt = Stmt::written(
    "console_user.enable",
    "UPDATE console_user SET disabled_at = NULL, version = version + 1 WHERE id = $1 AND disabled_at IS NOT NULL",
);
pub(super) static END_SESSIONS: Stmt =
    Stmt::written("console_session.end_all", "DELETE FROM console_session WHERE user_id = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &INSERT,
    &ALL,
    &ONE,
    &BY_LOGIN,
    &BY_SUBJECT,
    &BY_PROVIDER_NAME,
    &SET_ACCESS,
    &SET_PASSWORD,
    &SET_PROVIDER,
    &LEAVE_PROVIDER,
    &BIND,
    &UNBIND,
    &FORGET_TOTP,
    &ENROL_TOTP,
    &TAKE_STEP,
    &DISABLE,
    &ENABLE,
    &END_SESSIONS,
];

/// Bytes of a one-time code secret (RFC 4226: at least 160 bits).
pub const TOTP_SECRET_BYTES: usize = 20;

/// The secret of a user's one-time codes.
pub type TotpSecret = SecretBox<[u8; TOTP_SECRET_BYTES]>;

#[derive(Clone, Debug)]
pub struct NewUser {
    /// Login name (see `domain::user::login_name`).
    pub login: String,
    pub roles: BTreeSet<Role>,
    /// The tenants they may access.
    pub scope: Scope,
    /// Password hash in PHC string format; empty if they sign in at the identity provider.
    pub password: String,
    /// Whether they have to change the password at the first sign-in.
    pub password_is_initial: bool,
    /// Their name at the identity provider, if they sign in there
    /// (`domain::identity::NameClaim::kept`).
    pub provider_name: Option<String>,
}

/// A user's account at the identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLogin {
    /// Their name at the identity provider.
    pub name: String,
    /// The subject bound at the first sign-in; `None` = not bound yet.
    pub bound: Option<Subject>,
}

/// A console user as stored.
pub struct StoredUser {
    /// Identity, roles and scope.
    pub user: User,
    /// Password hash in PHC string format; empty if they sign in at the identity provider.
    pub password: String,
    /// When it was set, or when they switched to the identity provider.
    pub password_at: Timestamp,
    /// Whether they have to change it.
    pub password_is_initial: bool,
    /// The secret of their one-time codes; `None` = not enrolled.
    pub totp: Option<TotpSecret>,
    /// The latest time step of an accepted code.
    pub totp_step: i64,
    /// When the user was added.
    pub created_at: Timestamp,
    /// When the user was disabled.
    pub disabled_at: Option<Timestamp>,
    /// Increases with each change.
    pub version: i64,
    /// Their account at the identity provider; `None` = they sign in with a password.
    pub provider: Option<ProviderLogin>,
}

impl fmt::Debug for StoredUser {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoredUser")
            .field("user", &self.user)
            .field("disabled_at", &self.disabled_at)
            .field("is_enrolled", &self.totp.is_some())
            .finish_non_exhaustive()
    }
}

/// A change to a user by an administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChange {
    /// Changes roles and scope; `version` is the one that was reviewed.
    Access {
        roles: BTreeSet<Role>,
        scope: Scope,
        /// The reviewed version, [`StoredUser::version`].
        version: i64,
    },
    /// Sets a new password hash; all their sessions end.
    Password {
        /// The hash in PHC string format.
        hash: String,
        /// Whether they have to change it.
        is_initial: bool,
    },
    /// Requires a new enrolment for one-time codes.
    ForgetTotp,
    /// Switches to the identity provider, under this name there; all their sessions end.
    Provider {
        /// The name as normalised by `domain::identity::NameClaim::kept`.
        name: String,
    },
    /// Switches from the identity provider to an initial password; all their sessions end.
    FirstPassword {
        /// The hash in PHC string format.
        hash: String,
    },
    /// Removes the binding: the next sign-in under their name at the identity provider binds again;
    /// all their sessions end.
    Unbind,
    /// Disables the user; all their sessions end.
    Disable,
    /// Enables the user again.
    Enable,
}

/// A scope as a column: the nil id stands for all tenants.
pub(super) const fn scope_id(scope: Scope) -> Uuid {
    match scope {
        Scope::All => Uuid::nil(),
        Scope::Tenant(tenant) => tenant.0,
    }
}

const fn scope_of(id: Uuid) -> Scope {
    if id.is_nil() { Scope::All } else { Scope::Tenant(TenantId(id)) }
}

/// Roles are stored in one column, separated by spaces.
fn roles_text(roles: &BTreeSet<Role>) -> String {
    roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(" ")
}

fn roles_of(text: &str) -> Result<BTreeSet<Role>, StoreError> {
    let role = |word| {
        Role::parse(word).ok_or_else(|| StoreError::Corrupt(format!("unknown role {word:?}")))
    };
    text.split_ascii_whitespace().map(role).collect()
}

/// A user's access, for the audit log.
fn access_facts(roles: &BTreeSet<Role>, scope: Scope) -> Facts {
    let scope = match scope {
        Scope::All => "all".to_owned(),
        Scope::Tenant(tenant) => tenant.to_string(),
    };
    Facts::new().text("roles", roles_text(roles)).text("scope", scope)
}

/// Adds the identity provider's subject, for the audit log.
pub(super) fn with_subject(facts: Facts, subject: Option<&Subject>) -> Facts {
    facts
        .opt_text("issuer", subject.map(|subject| &subject.issuer))
        .opt_text("subject", subject.map(|subject| &subject.subject))
}

/// The account at the identity provider, for the audit log; empty for users with a password.
fn sign_in_facts(login: Option<&ProviderLogin>) -> Facts {
    let facts = Facts::new().opt_text("provider_name", login.map(|login| &login.name));
    with_subject(facts, login.and_then(|login| login.bound.as_ref()))
}

impl Get for Option<ProviderLogin> {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Option<ProviderLogin>, StoreError> {
        type Row = (Option<String>, Option<String>, Option<String>);
        let (name, issuer, subject) = Row::get(fields, keys)?;
        let bound = issuer.zip(subject).map(|(issuer, subject)| Subject { issuer, subject });
        Ok(name.map(|name| ProviderLogin { name, bound }))
    }
}

/// The place of a user's sealed secret.
pub(super) fn totp_place<'a>(column: &'static str, row: &'a [u8]) -> AssociatedData<'a> {
    AssociatedData { tenant: TenantId(Uuid::nil()), column, row }
}

const TOTP: &str = "console_user.totp";

/// Opens the secret of one-time codes in this column of a row.
pub(super) fn open_totp(
    column: &'static str,
    row: &[u8],
    sealed: Option<Vec<u8>>,
    keys: &Keys,
) -> Result<Option<TotpSecret>, StoreError> {
    let Some(sealed) = sealed else { return Ok(None) };
    let plain = keys.vault.open(totp_place(column, row), &sealed)?;
    let bytes = <[u8; TOTP_SECRET_BYTES]>::try_from(plain.as_slice());
    let bytes = bytes.map_err(|_| StoreError::Corrupt(format!("{column}: unexpected length")))?;
    Ok(Some(SecretBox::new(Box::new(bytes))))
}

impl Get for StoredUser {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<StoredUser, StoreError> {
        let (id, login, Raw(scope), roles): (UserId, _, _, String) = Get::get(fields, keys)?;
        let (password, password_at, password_is_initial) = Get::get(fields, keys)?;
        let totp = Get::get(fields, keys)?;
        let (totp_step, created_at, disabled_at, version) = Get::get(fields, keys)?;
        Ok(StoredUser {
            user: User { id, login, scope: scope_of(scope), roles: roles_of(&roles)? },
            password,
            password_at,
            password_is_initial,
            totp: open_totp(TOTP, keys.stored(id.0).as_bytes(), totp, keys)?,
            totp_step,
            created_at,
            disabled_at,
            version,
            provider: Get::get(fields, keys)?,
        })
    }
}

impl Store {
    /// Adds a console user.
    ///
    /// # Errors
    /// `Conflict` if the name exists already.
    pub async fn create_user(
        &self,
        new: &NewUser,
        now: Timestamp,
        by: impl Into<AuditContext>,
    ) -> Result<UserId, StoreError> {
        let id = UserId(self.ids().next());
        let stored = self.id_keys().await?.stored(id.0);
        let facts = access_facts(&new.roles, new.scope)
            .opt_text("provider_name", new.provider_name.as_ref());
        let note = Note::new("user.create", "user", &new.login).after(facts);
        let params: Vec<Value> = vec![
            stored.into(),
            (&*new.login).into(),
            scope_id(new.scope).into(),
            roles_text(&new.roles).into(),
            (&*new.password).into(),
            now.0.into(),
            i64::from(new.password_is_initial).into(),
            new.provider_name.clone().into(),
        ];
        self.noted(INSTALLATION, by.into(), note, vec![Step::one(&INSERT, params)]).await?;
        Ok(id)
    }

    /// All users, by name.
    pub async fn users(&self) -> Result<Vec<StoredUser>, StoreError> {
        self.many(&ALL, ()).await
    }

    pub async fn user(&self, id: UserId) -> Result<Option<StoredUser>, StoreError> {
        self.one(&ONE, id).await
    }

    /// The user's current account at the identity provider, if they sign in there.
    async fn provider_login(&self, user: &User) -> Result<Option<ProviderLogin>, StoreError> {
        Ok(self.user(user.id).await?.and_then(|found| found.provider))
    }

    /// Returns the user with this name.
    pub async fn user_by_login(&self, login: &str) -> Result<Option<StoredUser>, StoreError> {
        self.one(&BY_LOGIN, login).await
    }

    /// Returns the user bound to this subject.
    pub async fn user_by_subject(
        &self,
        subject: &Subject,
    ) -> Result<Option<StoredUser>, StoreError> {
        self.one(&BY_SUBJECT, (&subject.issuer, &subject.subject)).await
    }

    /// Returns the user with this name at the identity provider, bound or not.
    pub async fn user_by_provider_name(
        &self,
        name: &str,
    ) -> Result<Option<StoredUser>, StoreError> {
        self.one(&BY_PROVIDER_NAME, name).await
    }

    /// Permanently binds a user to the subject that signed in at the identity provider under their
    /// name.
    ///
    /// # Errors
    /// `Conflict` if they are bound already, have another name there, may not sign in, or the
    /// subject belongs to another user.
    pub async fn bind_user(
        &self,
        user: &User,
        name: &str,
        subject: &Subject,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let params = vec![
            self.id_keys().await?.stored(user.id.0).into(),
            name.into(),
            subject.issuer.as_str().into(),
            subject.subject.as_str().into(),
        ];
        let note = Note::new("user.bind", "user", &user.login)
            .after(with_subject(Facts::new(), Some(subject)));
        self.noted(INSTALLATION, by.into(), note, vec![Step::one(&BIND, params)]).await
    }

    /// Changes a user.
    ///
    /// # Errors
    /// `Conflict` if the user does not exist, is in that state already, or was changed
    /// concurrently.
    pub async fn change_user(
        &self,
        user: &User,
        change: &UserChange,
        now: Timestamp,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let id: Value = self.id_keys().await?.stored(user.id.0).into();
        let end = || Step::any(&END_SESSIONS, vec![id.clone()]);
        let note = |action| Note::new(action, "user", &user.login);
        let (note, steps) = match change {
            UserChange::Access { roles, scope, version } => {
                let params = vec![
                    id.clone(),
                    (*version).into(),
                    roles_text(roles).into(),
                    scope_id(*scope).into(),
                ];
                let note = note("user.set_access").before(access_facts(&user.roles, user.scope));
                (note.after(access_facts(roles, *scope)), vec![Step::one(&SET_ACCESS, params)])
            }
            UserChange::Password { hash, is_initial } => {
                let params =
                    vec![id.clone(), (&**hash).into(), now.0.into(), i64::from(*is_initial).into()];
                (note("user.set_password"), vec![Step::one(&SET_PASSWORD, params), end()])
            }
            UserChange::Provider { name } => {
                let params = vec![id.clone(), name.as_str().into(), now.0.into()];
                let note = note("user.set_provider")
                    .before(sign_in_facts(self.provider_login(user).await?.as_ref()));
                (
                    note.after(Facts::new().text("provider_name", name)),
                    vec![Step::one(&SET_PROVIDER, params), end()],
                )
            }
            UserChange::FirstPassword { hash } => {
                let params = vec![id.clone(), (&**hash).into(), now.0.into()];
                let note = note("user.leave_provider")
                    .before(sign_in_facts(self.provider_login(user).await?.as_ref()));
                (note, vec![Step::one(&LEAVE_PROVIDER, params), end()])
            }
            UserChange::Unbind => {
                let bound = self.provider_login(user).await?.and_then(|login| login.bound);
                let note = note("user.unbind").before(with_subject(Facts::new(), bound.as_ref()));
                (note, vec![Step::one(&UNBIND, vec![id.clone()]), end()])
            }
            UserChange::ForgetTotp => {
                (note("user.forget_totp"), vec![Step::one(&FORGET_TOTP, vec![id.clone()]), end()])
            }
            UserChange::Disable => {
                let params = vec![id.clone(), now.0.into()];
                (note("user.disable"), vec![Step::one(&DISABLE, params), end()])
            }
            UserChange::Enable => (note("user.enable"), vec![Step::one(&ENABLE, vec![id.clone()])]),
        };
        self.noted(INSTALLATION, by.into(), note, steps).await
    }

    /// Stores the secret that a user confirmed with the code of `step`, unless they have one.
    ///
    /// # Errors
    /// `Conflict` if they have one or may no longer sign in.
    pub async fn enrol_totp(
        &self,
        user: &User,
        secret: &TotpSecret,
        step: i64,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let stored = self.id_keys().await?.stored(user.id.0);
        let sealed = self.vault().seal(totp_place(TOTP, stored.as_bytes()), secret.expose_secret());
        let params = vec![stored.into(), sealed.into(), step.into()];
        let note = Note::new("user.enrol_totp", "user", &user.login);
        self.noted(INSTALLATION, by.into(), note, vec![Step::one(&ENROL_TOTP, params)]).await
    }

    /// Accepts the code of a time step, once: `false` if that step or a later one was accepted
    /// already.
    pub async fn take_totp_step(&self, user: UserId, step: i64) -> Result<bool, StoreError> {
        let stored = self.id_keys().await?.stored(user.0);
        let counts = self
            .write_counts(vec![Step::any(&TAKE_STEP, vec![stored.into(), step.into()])])
            .await?;
        Ok(counts == [1])
    }
}
