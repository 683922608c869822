//! The two people of a sandbox's console: four eyes need two. Their passwords are drawn at first start and stay the same;
//! outside a sandbox nobody is made like this, and nobody signs in without a one-time code.

use std::collections::BTreeSet;

use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use operator_console::password;
use store::{NewUser, Store};

use super::WHO;
use crate::clock::WallClock;

/// Their names.
const NAMES: [&str; 2] = ["ayesha", "omar"];

/// Somebody who can sign in to the sandbox's console.
#[derive(Clone, Debug)]
pub struct DemoUser {
    /// The name to sign in with.
    pub login: String,
    /// The password.
    pub password: String,
}

/// Where the store keeps a demo password. Nothing real is behind it.
fn password_of(login: &str) -> String {
    format!("sandbox.console_password.{login}")
}

/// Both of them, made at the first start and found again. Each may do everything but approve what he proposed himself.
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
    // First the password, so that a start that is cut off leaves nobody whom nobody can be.
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
