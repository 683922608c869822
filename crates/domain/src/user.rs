//! People who sign in to the operator console: what they may do, and about whose affairs.

use std::collections::BTreeSet;

use crate::ids::{TenantId, UserId};

/// What somebody may do in the operator console (`experience.md`, "Operator console"). A person may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Looks at payments, wallets and webhooks.
    Viewer,
    /// Sends webhooks again, cancels requests, tries things in a sandbox; proposes what two people decide.
    Operator,
    /// Is the second pair of eyes.
    Approver,
    /// Decides reviews; blocks wallets.
    Compliance,
    /// Looks after rates, margins, the ledger and what rails owe.
    Treasury,
    /// Looks after users, keys and receivers of webhooks.
    Admin,
    /// Looks at everything, the audit log too, and changes nothing.
    Auditor,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 7] =
        [Role::Viewer, Role::Operator, Role::Approver, Role::Compliance, Role::Treasury, Role::Admin, Role::Auditor];

    /// The role as it is stored and written on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Approver => "approver",
            Role::Compliance => "compliance",
            Role::Treasury => "treasury",
            Role::Admin => "admin",
            Role::Auditor => "auditor",
        }
    }

    /// Reads [`Role::name`].
    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == text)
    }
}

/// About whose affairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Of every tenant, and of the installation itself.
    All,
    /// Of one tenant.
    Tenant(TenantId),
}

impl Scope {
    /// Whether the affairs of `tenant` are among them.
    pub fn covers(self, tenant: TenantId) -> bool {
        match self {
            Scope::All => true,
            Scope::Tenant(own) => own == tenant,
        }
    }

    /// Whether everything of `other` is among them.
    pub fn covers_all_of(self, other: Scope) -> bool {
        match other {
            Scope::All => self == Scope::All,
            Scope::Tenant(tenant) => self.covers(tenant),
        }
    }
}

/// A person as pages know him.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Who.
    pub id: UserId,
    /// The name that he signs in with, unique and in lower case.
    pub login: String,
    /// What he may do.
    pub roles: BTreeSet<Role>,
    /// About whose affairs.
    pub scope: Scope,
}

impl User {
    /// Whether the person has one of `roles`.
    pub fn has_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.roles.contains(role))
    }
}

/// Longest login name.
pub const LOGIN_MAX_CHARS: usize = 64;

/// A login name in the form that it is kept in: trimmed and in lower case; `None` where it is none.
///
/// Only characters that look like nothing else are taken, so that two names are two people's: `a-z`, digits and
/// `. _ - @ +`, the first of them a letter or a digit.
pub fn login_name(text: &str) -> Option<String> {
    let name = text.trim().to_ascii_lowercase();
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let right =
        name.bytes().all(|byte| word(byte) || b"._-@+".contains(&byte)) && name.bytes().next().is_some_and(word);
    (right && name.len() <= LOGIN_MAX_CHARS).then_some(name)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn roles_read_back_by_name() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
        }
        assert_eq!(Role::parse("Viewer"), None);
    }

    #[test]
    fn a_scope_covers_its_own_tenant_and_no_other() {
        let (one, other) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        assert!(Scope::All.covers(one) && Scope::Tenant(one).covers(one) && !Scope::Tenant(one).covers(other));
        assert!(Scope::All.covers_all_of(Scope::Tenant(one)) && !Scope::Tenant(one).covers_all_of(Scope::All));
    }

    #[test]
    fn a_login_name_has_one_spelling() {
        assert_eq!(login_name(" Ayesha.Khan@bank.example "), Some("ayesha.khan@bank.example".to_owned()));
        for wrong in ["", " ", "-a", "a b", "é", "аyesha", &"a".repeat(LOGIN_MAX_CHARS + 1), "a\u{200b}"] {
            assert_eq!(login_name(wrong), None, "{wrong:?}");
        }
    }
}
