//! The two users of a sandbox's console: the four-eyes rule needs two. Their passwords are
//! generated at the first start and persist; outside a sandbox no users are created like this, and
//! a one-time code is required.

use std::collections::BTreeSet;

use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use operator_console::password;
use store::{NewUser, Store};

use super::WHO;
use crate::clock::WallClock;

/// Login names of the two users.
const NAMES: [&str; 2] = ["ayesha", "omar"];

/// A user who can sign in to the sandbox's console.
#[derive(Clone, Debug)]
pub struct DemoUser {
    pub login: String,
    pub password: String,
}

/// Store key of a demo password. It protects nothing real.
fn password_of(login: &str) -> String {
    format!("sandbox.console_password.{login}")
}

/// Both users, created at the first start and reused. Each may do everything except approve their
/// own proposals.
pub(super) async fn people(store: &Store) -> anyhow::Result<Vec<DemoUser>> {
    let mut people = Vec::with_capacity(NAMES.len());
    for login in NAMES {
        let known = store.meta(&password_of(login)).await?;
        let password = match known {
            Some(password) if store.user_by_login(login).await?.is_some() => password,
            _ => make(store, login).await?,
        };
        people.push(DemoUser { login: login.to_owned(), password });
    }
    Ok(people)
}

async fn make(store: &Store, login: &str) -> anyhow::Result<String> {
    let (text, hash) = password::first(store);
    // The password first, so that an interrupted start leaves no user without a known password.
    store.set_meta(&password_of(login), &text).await?;
    let new = NewUser {
        login: login.to_owned(),
        roles: BTreeSet::from(Role::ALL),
        scope: Scope::All,
        password: hash,
        password_is_initial: false,
        provider_name: None,
    };
    store.create_user(&new, WallClock.now(), WHO).await?;
    Ok(text)
}
