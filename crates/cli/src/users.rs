//! `corridor users …`: users of the operator console, written to the store and its audit log.
//! Access to the machine is enough for the first administrator; after that, the audit log names one with
//! a reason, beside the machine's user.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use domain::audit::AuditContext;
use domain::policy::Environment;
use domain::ports::Clock as _;
use domain::user::{Role, Scope, login_name};
use operator_console::password;
use serde_json::json;
use store::{NewUser, StoredUser, UserChange};

use super::failure::Failure;
use super::output::{self, Output};
use super::people::OptionalActingUser;
use super::store_commands::{Opened, open};
use super::tenants::StoreArgs;
use super::{Context, run_async};
use service::clock::WallClock;

#[derive(Subcommand, Debug)]
pub enum UsersCommand {
    /// Create a user, with a one-time password or an identity at the identity provider
    Create(CreateArgs),
    /// List users, roles and scopes
    #[command(after_help = "Example:\n  corridor users list")]
    List(StoreArgs),
    /// Replace a user's roles
    Roles(RolesArgs),
    /// Reset a user's password and one-time codes
    #[command(
        after_help = "Example:\n  corridor users reset ayesha --by omar --why 'new telephone'"
    )]
    Reset(LoginArgs),
    /// Change how a user signs in
    SignIn(SignInArgs),
    /// Unbind a user's identity: their next sign-in at the identity provider binds a new one
    #[command(
        after_help = "Example:\n  corridor users unbind ayesha --by omar --why 'new account at the provider'"
    )]
    Unbind(LoginArgs),
    /// Disable a user and end their sessions
    #[command(
        after_help = "Example:\n  corridor users disable ayesha --by omar --why 'left the bank'"
    )]
    Disable(LoginArgs),
    /// Enable a disabled user
    #[command(
        after_help = "Example:\n  corridor users enable ayesha --by omar --why 'back from leave'"
    )]
    Enable(LoginArgs),
}

/// The tenants that a user may access.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct ScopeArgs {
    /// Access to this tenant only, by its tag
    #[arg(long)]
    tenant: Option<String>,
    /// Access to every tenant and to the installation itself
    #[arg(long)]
    all_tenants: bool,
}

/// Options of `users create`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor users create ayesha --role operator --role compliance --tenant demobank \\\n    --by omar --why 'new colleague'\n\n\
    --by is an administrator of every tenant, and required. Until there is an enabled one, it may be\n    any name, or missing: the audit log then names the machine's user alone."
)]
pub struct CreateArgs {
    /// Login name of the new user
    #[arg(value_parser = login)]
    login: String,
    /// Role: viewer, operator, approver, compliance, treasury, admin, auditor; repeatable
    #[arg(long = "role", required = true, value_parser = role)]
    roles: Vec<Role>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Sign in at the identity provider with this value of the claim (console.oidc.claim); no
    /// password
    #[arg(long, value_name = "NAME")]
    oidc: Option<String>,
    #[command(flatten)]
    person: OptionalActingUser,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of `users sign-in`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  corridor users sign-in ayesha --oidc ayesha@bank.example --by omar --why 'joins the provider'\n  \
    corridor users sign-in ayesha --password --by omar --why 'provider is away'"
)]
pub struct SignInArgs {
    /// Login name, as shown by `corridor users list`
    #[arg(value_parser = login)]
    login: String,
    #[command(flatten)]
    way: WayArgs,
    #[command(flatten)]
    person: OptionalActingUser,
    #[command(flatten)]
    store: StoreArgs,
}

/// How a user signs in.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct WayArgs {
    /// Sign in at the identity provider with this value of the claim (console.oidc.claim); deletes
    /// the password
    #[arg(long, value_name = "NAME")]
    oidc: Option<String>,
    /// Sign in with a one-time password, which is shown once, and one-time codes
    #[arg(long)]
    password: bool,
}

/// Options of `users roles`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor users roles ayesha --role auditor --all-tenants --by omar --why 'moves to audit'"
)]
pub struct RolesArgs {
    /// Login name, as shown by `corridor users list`
    #[arg(value_parser = login)]
    login: String,
    /// Role, replacing all current ones; repeatable
    #[arg(long = "role", required = true, value_parser = role)]
    roles: Vec<Role>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    person: OptionalActingUser,
    #[command(flatten)]
    store: StoreArgs,
}

/// Options of commands about one user.
#[derive(Args, Debug)]
pub struct LoginArgs {
    /// Login name, as shown by `corridor users list`
    #[arg(value_parser = login)]
    login: String,
    #[command(flatten)]
    person: OptionalActingUser,
    #[command(flatten)]
    store: StoreArgs,
}

/// The actor of the audit entry: an administrator of every tenant. Until there is one, any name is
/// taken, or the machine's user alone, so that a locked-out installation can be restored; in a sandbox,
/// the machine's user always.
async fn actor(person: &OptionalActingUser, opened: &Opened) -> Result<AuditContext, Failure> {
    let is_admin = |it: &StoredUser| {
        it.disabled_at.is_none() && it.user.scope == Scope::All && it.user.has_any(&[Role::Admin])
    };
    let users = opened.store.users().await.map_err(Failure::of_store)?;
    let has_admin = users.iter().any(is_admin);
    match person.named() {
        Some(first) if !has_admin => {
            Ok(opened.by.clone().on_behalf_of(&first.by).because(&first.why))
        }
        None if has_admin && opened.config.environment != Environment::Mock => {
            Err(Failure::Usage("--by, --why: required once there is an administrator".to_owned()))
        }
        _ => person.deed(opened, Scope::All, &[Role::Admin]).await,
    }
}

fn login(text: &str) -> Result<String, String> {
    login_name(text).ok_or_else(|| {
        "must be 1 to 64 of a-z, 0-9 and . _ - @ +, first a letter or a digit".to_owned()
    })
}

fn role(text: &str) -> Result<Role, String> {
    let names = Role::ALL.map(Role::name).join(", ");
    Role::parse(text).ok_or_else(|| format!("must be one of {names}"))
}

impl ScopeArgs {
    async fn scope(&self, opened: &Opened) -> Result<Scope, Failure> {
        match &self.tenant {
            None => Ok(Scope::All),
            Some(tag) => Ok(Scope::Tenant(opened.tagged(tag).await?.id)),
        }
    }
}

pub fn run(command: &UsersCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            UsersCommand::Create(args) => create(args, context).await,
            UsersCommand::List(args) => list(&open(args, context).await?, context).await,
            UsersCommand::Roles(args) => set_roles(args, context).await,
            UsersCommand::Reset(args) => reset(args, context).await,
            UsersCommand::SignIn(args) => sign_in(args, context).await,
            UsersCommand::Unbind(args) => unbind(args, context).await,
            UsersCommand::Disable(args) => {
                change(args, &UserChange::Disable, "disabled and signed out", context).await
            }
            UsersCommand::Enable(args) => {
                change(args, &UserChange::Enable, "enabled", context).await
            }
        }
    })
}

async fn create(args: &CreateArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = actor(&args.person, &opened).await?;
    if opened.store.user_by_login(&args.login).await.map_err(Failure::of_store)?.is_some() {
        return Err(Failure::Refused(format!("user {} exists already", args.login)));
    }
    let provider_name = provider_name(args.oidc.as_deref(), &opened).await?;
    let first = provider_name.is_none().then(|| password::first(&opened.store));
    let (text, password) = first.unzip();
    let new = NewUser {
        login: args.login.clone(),
        roles: args.roles.iter().copied().collect(),
        scope: args.scope.scope(&opened).await?,
        password: password.unwrap_or_default(),
        password_is_initial: provider_name.is_none(),
        provider_name,
    };
    opened.store.create_user(&new, WallClock.now(), by).await.map_err(Failure::of_store)?;
    match (text, new.provider_name) {
        (Some(text), _) => show_password(&args.login, &text, context),
        (None, name) => show_provider(&args.login, &name.unwrap_or_default(), context),
    }
}

/// Normalizes a value of the provider's claim; refuses one that another user has.
async fn provider_name(given: Option<&str>, opened: &Opened) -> Result<Option<String>, Failure> {
    let Some(text) = given else { return Ok(None) };
    let oidc = &opened.config.console.oidc;
    if oidc.issuer.is_empty() {
        return Err(Failure::Refused(
            "--oidc: no identity provider is configured; set console.oidc.issuer".to_owned(),
        ));
    }
    let none = || {
        Failure::Refused(format!(
            "--oidc: {text:?} is not a valid value of the claim {:?}",
            oidc.claim.name()
        ))
    };
    let name = oidc.claim.kept(text).ok_or_else(none)?;
    match opened.store.user_by_provider_name(&name).await.map_err(Failure::of_store)? {
        Some(found) => {
            Err(Failure::Refused(format!("--oidc: {name} is already used by {}", found.user.login)))
        }
        None => Ok(Some(name)),
    }
}

async fn sign_in(args: &SignInArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = actor(&args.person, &opened).await?;
    let known = found(&opened, &args.login).await?;
    let name = provider_name(args.way.oidc.as_deref(), &opened).await?;
    let Some(name) = name else {
        let (text, hash) = password::first(&opened.store);
        let change = UserChange::FirstPassword { hash };
        if known.provider.is_none() {
            let words = format!(
                "{} already signs in with a password; see `corridor users reset`",
                args.login
            );
            return Err(Failure::Refused(words));
        }
        let done = opened.store.change_user(&known.user, &change, WallClock.now(), by).await;
        done.map_err(Failure::of_store)?;
        return show_password(&args.login, &text, context);
    };
    let change = UserChange::Provider { name: name.clone() };
    let done = opened.store.change_user(&known.user, &change, WallClock.now(), by).await;
    done.map_err(Failure::of_store)?;
    show_provider(&args.login, &name, context)
}

async fn unbind(args: &LoginArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = actor(&args.person, &opened).await?;
    let known = found(&opened, &args.login).await?;
    if known.provider.as_ref().is_none_or(|login| login.bound.is_none()) {
        return Err(Failure::Refused(format!(
            "{} is not bound to an identity at the identity provider",
            args.login
        )));
    }
    let done =
        opened.store.change_user(&known.user, &UserChange::Unbind, WallClock.now(), by).await;
    done.map_err(Failure::of_store)?;
    output::done(
        context.output,
        &format!("{}: signed out; the next sign-in binds a new identity", args.login),
        &json!({ "login": args.login, "bound": false }),
    )
}

fn show_provider(login: &str, name: &str, context: &Context) -> Result<(), Failure> {
    match context.output {
        Output::Table => {
            output::members(&[("name", login.to_owned()), ("at the provider", name.to_owned())])?;
            output::remark(
                "The first sign-in with this name at the identity provider binds the user to its subject.",
            );
            Ok(())
        }
        Output::Json => output::json(&json!({ "login": login, "provider_name": name })),
    }
}

async fn found(opened: &Opened, login: &str) -> Result<StoredUser, Failure> {
    let found = opened.store.user_by_login(login).await.map_err(Failure::of_store)?;
    found.ok_or_else(|| {
        Failure::Refused(format!("no user named {login:?}; see `corridor users list`"))
    })
}

async fn set_roles(args: &RolesArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = actor(&args.person, &opened).await?;
    let known = found(&opened, &args.login).await?;
    let roles: BTreeSet<Role> = args.roles.iter().copied().collect();
    let document = json!({
        "login": args.login,
        "roles": roles.iter().map(|role| role.name()).collect::<Vec<_>>(),
        "scope": args.scope.tenant.as_deref().unwrap_or("all"),
    });
    let change = UserChange::Access {
        roles,
        scope: args.scope.scope(&opened).await?,
        version: known.version,
    };
    let done = opened.store.change_user(&known.user, &change, WallClock.now(), by).await;
    done.map_err(Failure::of_store)?;
    output::done(context.output, "takes effect at the next page load", &document)
}

async fn reset(args: &LoginArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = actor(&args.person, &opened).await?;
    let known = found(&opened, &args.login).await?;
    if known.provider.is_some() {
        let login = &args.login;
        let words = format!(
            "{login} signs in at the identity provider; see `corridor users unbind {login}` and `corridor users sign-in {login} \
             --password`"
        );
        return Err(Failure::Refused(words));
    }
    let (text, hash) = password::first(&opened.store);
    // The password first: if the command stops in between, the old one must not enrol another
    // device.
    for change in [UserChange::Password { hash, is_initial: true }, UserChange::ForgetTotp] {
        let done =
            opened.store.change_user(&known.user, &change, WallClock.now(), by.clone()).await;
        done.map_err(Failure::of_store)?;
    }
    show_password(&args.login, &text, context)
}

async fn change(
    args: &LoginArgs,
    change: &UserChange,
    words: &str,
    context: &Context,
) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = actor(&args.person, &opened).await?;
    let known = found(&opened, &args.login).await?;
    let is_disabled = matches!(change, UserChange::Disable);
    if known.disabled_at.is_some() == is_disabled {
        let state = if is_disabled { "disabled" } else { "enabled" };
        return Err(Failure::Refused(format!("user {} is {state} already", args.login)));
    }
    let done = opened.store.change_user(&known.user, change, WallClock.now(), by).await;
    done.map_err(Failure::of_store)?;
    output::done(
        context.output,
        &format!("{}: {words}", args.login),
        &json!({ "login": args.login, "disabled": is_disabled }),
    )
}

fn show_password(login: &str, password: &str, context: &Context) -> Result<(), Failure> {
    match context.output {
        Output::Table => {
            output::members(&[
                ("name", login.to_owned()),
                ("first password", password.to_owned()),
            ])?;
            output::remark(
                "The password is shown only once; the user must change it at the first sign-in.",
            );
            Ok(())
        }
        Output::Json => output::json(&json!({ "login": login, "password": password })),
    }
}

async fn list(opened: &Opened, context: &Context) -> Result<(), Failure> {
    let users = opened.store.users().await.map_err(Failure::of_store)?;
    let tenants = opened.store.tenants().await.map_err(Failure::of_store)?;
    let scope = |user: &StoredUser| match user.user.scope {
        Scope::All => "all".to_owned(),
        Scope::Tenant(id) => tenants
            .iter()
            .find(|tenant| tenant.id == id)
            .map_or_else(|| id.to_string(), |tenant| tenant.tag.clone()),
    };
    let roles =
        |user: &StoredUser| user.user.roles.iter().map(|role| role.name()).collect::<Vec<_>>();
    match context.output {
        Output::Table => {
            let row = |user: &StoredUser| {
                let state = if user.disabled_at.is_some() { "disabled" } else { "active" };
                let way = match &user.provider {
                    Some(login) if login.bound.is_some() => login.name.clone(),
                    Some(login) => format!("{}, not bound yet", login.name),
                    None if user.totp.is_some() => "password and codes".to_owned(),
                    None => "password, no codes yet".to_owned(),
                };
                let login = user.user.login.clone();
                vec![login, roles(user).join(", "), scope(user), way, state.to_owned()]
            };
            output::rows_or(
                &["name", "roles", "scope", "signs in with", "state"],
                users.iter().map(row).collect(),
                "No users yet. Create one: corridor users create NAME --role admin --all-tenants",
            )
        }
        Output::Json => users.iter().try_for_each(|user| {
            output::json(&json!({
                "login": user.user.login,
                "roles": roles(user),
                "scope": scope(user),
                "one_time_codes": user.totp.is_some(),
                "provider": user.provider.as_ref().map(|login| json!({
                    "name": login.name,
                    "issuer": login.bound.as_ref().map(|subject| &subject.issuer),
                    "subject": login.bound.as_ref().map(|subject| &subject.subject),
                })),
                "disabled": user.disabled_at.is_some(),
            }))
        }),
    }
}
