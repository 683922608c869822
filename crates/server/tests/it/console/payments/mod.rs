//! The payment side of the console: pages after real payments, forms, and isolation from another
//! bank's officer.

mod books;
mod finding;
mod lists;
mod papers;
mod prices;
mod stopping;
mod stories;
mod switches;
mod texts;

use domain::user::{Role, Scope};

use super::wallets::officer::Officer;
use crate::harness::Bank;

/// An officer of this bank.
async fn officer(bank: &Bank, roles: &[Role]) -> Officer {
    let scope = Scope::Tenant(bank.tenant.id);
    Officer::sign_in(&bank.running, &bank.tenant.tag, scope, roles).await
}

/// An officer of the whole installation, on this bank's pages.
async fn head_office(bank: &Bank, roles: &[Role]) -> Officer {
    Officer::sign_in(&bank.running, &bank.tenant.tag, Scope::All, roles).await
}

/// The page that another page links to.
async fn page_at(officer: &Officer, path: &str) -> String {
    officer.fetch(path).await.page()
}

/// Asserts that a page contains all of these texts.
#[track_caller]
fn has(page: &str, words: &[&str]) {
    for word in words {
        assert!(page.contains(word), "no {word:?} in {page}");
    }
}

/// Asserts that a page contains none of these texts.
#[track_caller]
fn lacks(page: &str, words: &[&str]) {
    for word in words {
        assert!(!page.contains(word), "{word:?} in {page}");
    }
}
