//! Users of the operator console: their roles and their scope.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use crate::ids::{TenantId, UserId};

names! {
    /// Role in the operator console (`docs/console.md`). A user may have several.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Role: "Stored and command-line name of the role." {
        /// Reads payments, wallets and webhooks.
        Viewer = "viewer",
        /// Replays webhooks, cancels requests, uses sandbox tools; proposes four-eyes actions.
        Operator = "operator",
        /// Approves four-eyes actions that another user proposed.
        Approver = "approver",
        /// Decides reviews; blocks wallets.
        Compliance = "compliance",
        /// Manages rates, margins, the ledger and rail balances.
        Treasury = "treasury",
        /// Manages users, keys and webhook endpoints.
        Admin = "admin",
        /// Reads everything including the audit log, and changes nothing.
        Auditor = "auditor",
    }
}

/// Tenants that a user may act for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All tenants, and the installation itself.
    All,
    /// This tenant alone, and not the installation.
    Tenant(TenantId),
}

impl Scope {
    /// Whether it includes `tenant`.
    pub fn covers(self, tenant: TenantId) -> bool {
        match self {
            Scope::All => true,
            Scope::Tenant(own) => own == tenant,
        }
    }

    /// Whether it includes all of `other`.
    pub fn covers_all_of(self, other: Scope) -> bool {
        match other {
            Scope::All => self == Scope::All,
            Scope::Tenant(tenant) => self.covers(tenant),
        }
    }
}

/// Whether two names denote the same user, in any spelling (NFC, case-insensitive). Dual control
/// requires two different users.
pub fn is_same_user(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.trim().nfc().collect::<String>().to_lowercase();
    plain(one) == plain(other)
}

/// A user as pages know them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Id of the user.
    pub id: UserId,
    /// Login name, unique and in lower case.
    pub login: String,
    /// Roles of the user.
    pub roles: BTreeSet<Role>,
    /// Scope of the user.
    pub scope: Scope,
}

impl User {
    /// Whether the user has one of `roles`.
    pub fn has_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.roles.contains(role))
    }
}

/// Maximum length of a login name.
pub const LOGIN_MAX_CHARS: usize = 64;

/// Normalises a login name: trimmed and in lower case; `None` if it is invalid.
///
/// Only unambiguous characters are accepted, so that different names look different: `a-z`, digits
/// and `. _ - @ +`, starting with a letter or a digit.
pub fn login_name(text: &str) -> Option<String> {
    let name = text.trim().to_ascii_lowercase();
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let right = name.bytes().all(|byte| word(byte) || b"._-@+".contains(&byte))
        && name.bytes().next().is_some_and(word);
    (right && name.len() <= LOGIN_MAX_CHARS).then_some(name)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn role_names_round_trip() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
        }
        assert_eq!(Role::parse("Viewer"), None);
    }

    #[test]
    fn a_scope_covers_its_own_tenant_and_no_other() {
        let (one, other) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        assert!(
            Scope::All.covers(one)
                && Scope::Tenant(one).covers(one)
                && !Scope::Tenant(one).covers(other)
        );
        assert!(
            Scope::All.covers_all_of(Scope::Tenant(one))
                && !Scope::Tenant(one).covers_all_of(Scope::All)
        );
    }

    #[test]
    fn a_login_name_has_one_spelling() {
        assert_eq!(
            login_name(" Ayesha.Khan@bank.example "),
            Some("ayesha.khan@bank.example".to_owned())
        );
        for wrong in
            ["", " ", "-a", "a b", "é", "аyesha", &"a".repeat(LOGIN_MAX_CHARS + 1), "a\u{200b}"]
        {
            assert_eq!(login_name(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn two_spellings_are_one_user() {
        for other in ["Ayesha", "AYESHA", " ayesha "] {
            assert!(is_same_user("ayesha", other), "{other}");
        }
        assert!(is_same_user("Élodie", "élodie"));
        assert!(is_same_user("\u{c9}lodie", "e\u{301}lodie"), "composed or not");
        assert!(!is_same_user("ayesha", "omar"));
    }
}
