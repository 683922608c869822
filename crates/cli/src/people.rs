//! The acting users named in a command. Dual control requires the names of two different users.

use clap::Args;
use domain::approval::DualControl;
use domain::attempt::evidence_of;
use domain::audit::AuditContext;
use domain::audit::WHY_MAX_CHARS;
use domain::characters::entered;
use domain::coin_amount;
use domain::ids::TenantId;
use domain::user::{Role, Scope, User, is_same_user, login_name};
use domain::wallet_policy::WalletPolicy;

use super::failure::Failure;
use super::store_commands::Opened;

/// The acting user and the reason.
#[derive(Args, Clone, Debug)]
pub struct ActingUser {
    /// User who performs the action
    #[arg(long, value_name = "NAME", value_parser = person)]
    pub by: String,
    /// Reason, for the audit log
    #[arg(long, value_parser = reason)]
    pub why: String,
}

/// The acting user and the reason, of a command that the machine's user may run, too.
#[derive(Args, Debug)]
pub struct OptionalActingUser {
    /// User who performs the action [default, where it may be missing: the machine's user]
    #[arg(long, value_name = "NAME", value_parser = person, requires = "why")]
    by: Option<String>,
    /// Reason, for the audit log
    #[arg(long, value_parser = reason, requires = "by")]
    why: Option<String>,
}

/// The user who decides, and the one who checked a release above the tenant's limit.
#[derive(Args, Debug)]
pub struct Deciders {
    #[command(flatten)]
    person: ActingUser,
    /// User who checked it; must differ from --by
    #[arg(long, value_name = "NAME", value_parser = person)]
    checker: Option<String>,
}

/// Two users who established a fact.
#[derive(Args, Debug)]
pub struct MakerAndChecker {
    /// User who established it
    #[arg(long, value_parser = person)]
    maker: String,
    /// User who checked it; must differ from --maker
    #[arg(long, value_parser = person)]
    checker: String,
    /// Evidence, for the audit log
    #[arg(long, value_parser = reason)]
    why: String,
}

impl ActingUser {
    /// The enabled user of the console, with one of `roles` and this scope.
    pub async fn user(
        &self,
        opened: &Opened,
        scope: Scope,
        roles: &[Role],
    ) -> Result<User, Failure> {
        one_of(opened, ("--by", &self.by), scope, roles).await
    }

    /// The actor of the audit entry: this user, through the machine's user. As in the console, it
    /// is an enabled user with one of `roles` and this scope.
    pub async fn deed(
        &self,
        opened: &Opened,
        scope: Scope,
        roles: &[Role],
    ) -> Result<AuditContext, Failure> {
        let user = self.user(opened, scope, roles).await?;
        Ok(self.context(opened, &user))
    }

    /// The actor of the audit entry: `user`, through the machine's user.
    pub fn context(&self, opened: &Opened, user: &User) -> AuditContext {
        opened.by.clone().on_behalf_of(&user.login).because(&self.why)
    }
}

impl From<ActingUser> for OptionalActingUser {
    fn from(ActingUser { by, why }: ActingUser) -> OptionalActingUser {
        OptionalActingUser { by: Some(by), why: Some(why) }
    }
}

impl OptionalActingUser {
    /// The named user, if any.
    pub fn named(&self) -> Option<ActingUser> {
        let (by, why) = self.by.clone().zip(self.why.clone())?;
        Some(ActingUser { by, why })
    }

    /// The actor of the audit entry: [`ActingUser::deed`], or the machine's user.
    pub async fn deed(
        &self,
        opened: &Opened,
        scope: Scope,
        roles: &[Role],
    ) -> Result<AuditContext, Failure> {
        match self.named() {
            Some(person) => person.deed(opened, scope, roles).await,
            None => Ok(AuditContext::from(&opened.by)),
        }
    }
}

impl Deciders {
    /// The actor of the audit entry: the users, through the machine's user. `release` is the amount
    /// that the decision on a case of the tenant releases.
    pub async fn deed(
        &self,
        opened: &Opened,
        (tenant, policy): (TenantId, &WalletPolicy),
        release: Option<i64>,
        control: DualControl,
    ) -> Result<AuditContext, Failure> {
        let scope = Scope::Tenant(tenant);
        let Some(checker) = &self.checker else {
            if release.is_some_and(|minor| policy.needs_second(minor)) {
                let limit = coin_amount::show(policy.second_person_above);
                return Err(Failure::Refused(format!(
                    "--checker: required; releasing more than {limit} needs a second user"
                )));
            }
            return self.person.deed(opened, scope, control.makers).await;
        };
        let two = Two { maker: ("--by", &self.person.by), checker: ("--checker", checker) };
        Ok(two.deed(opened, scope, control).await?.because(&self.person.why))
    }
}

impl MakerAndChecker {
    /// The actor of the audit entry: both users, through the machine's user.
    pub async fn deed(
        &self,
        opened: &Opened,
        scope: Scope,
        control: DualControl,
    ) -> Result<AuditContext, Failure> {
        let two = Two { maker: ("--maker", &self.maker), checker: ("--checker", &self.checker) };
        Ok(two.deed(opened, scope, control).await?.because(&self.why))
    }

    /// The evidence, with both names.
    pub fn evidence(&self) -> String {
        evidence_of(&self.why, &self.maker, &self.checker)
    }
}

/// The two users of an action that takes two, each with the option that names them.
pub struct Two<'a> {
    pub maker: (&'static str, &'a str),
    pub checker: (&'static str, &'a str),
}

impl Two<'_> {
    /// The actor of the audit entry: both users, through the machine's user. As in the console,
    /// they are different enabled users with the roles and the scope that the action takes.
    pub async fn deed(
        &self,
        opened: &Opened,
        scope: Scope,
        control: DualControl,
    ) -> Result<AuditContext, Failure> {
        if is_same_user(self.checker.1, self.maker.1) {
            let (option, other) = (self.checker.0, self.maker.0);
            let message = format!("{option}: must be a different user than {other}");
            return Err(Failure::Refused(message));
        }
        let maker = one_of(opened, self.maker, scope, control.makers).await?;
        let checker = one_of(opened, self.checker, scope, control.checkers).await?;
        Ok(opened.by.clone().on_behalf_of(maker.login).together_with(checker.login))
    }
}

/// An enabled user of the console with one of these roles and this scope.
async fn one_of(
    opened: &Opened,
    (option, name): (&str, &str),
    scope: Scope,
    roles: &[Role],
) -> Result<User, Failure> {
    let login = login_name(name).unwrap_or_default();
    let found = opened.store.user_by_login(&login).await.map_err(Failure::of_store)?;
    let why = match found {
        None => "is not a user of the console; see `corridor users list`".to_owned(),
        Some(found) if found.disabled_at.is_some() => "is disabled".to_owned(),
        Some(found) if !found.user.scope.covers_all_of(scope) => {
            "may not act for this tenant".to_owned()
        }
        Some(found) if !found.user.has_any(roles) => {
            let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
            format!("needs the role {}", names.join(" or "))
        }
        Some(found) => return Ok(found.user),
    };
    Err(Failure::Refused(format!("{option}: {name} {why}")))
}

/// Parses a user's name.
pub fn person(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err("must not be blank".to_owned()) } else { Ok(name.to_owned()) }
}

pub fn reason(text: &str) -> Result<String, String> {
    let rule = || format!("must be 1 to {WHY_MAX_CHARS} printable characters");
    entered(text, WHY_MAX_CHARS).map(str::to_owned).ok_or_else(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_blank() {
        assert_eq!(person(" ayesha "), Ok("ayesha".to_owned()));
        assert!(person("").is_err() && person(" \t").is_err());
        assert!(reason(" ").is_err() && reason("asked by e-mail").is_ok());
    }
}
