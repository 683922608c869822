//! The payment side of the console: what its pages show after real payments, what their forms do, and that another
//! bank's officer sees nothing of it.

mod books;
mod finding;
mod lists;
mod papers;
mod prices;
mod stories;
mod switches;

use domain::user::{Role, Scope};

use super::wallets::officer::Officer;
use crate::harness::Bank;

/// An officer of this bank.
async fn officer(bank: &Bank, roles: &[Role]) -> Officer {
    let scope = Scope::Tenant(bank.tenant.id);
    Officer::sign_in(&bank.running, &bank.tenant.tag, scope, roles).await
}

/// An officer of the whole installation, at this bank's pages.
async fn head_office(bank: &Bank, roles: &[Role]) -> Officer {
    Officer::sign_in(&bank.running, &bank.tenant.tag, Scope::All, roles).await
}

/// The page at an address that a page led to.
async fn page_at(officer: &Officer, path: &str) -> String {
    officer.fetch(path).await.page()
}

/// Asserts that a page has all of these words.
#[track_caller]
fn has(page: &str, words: &[&str]) {
    for word in words {
        assert!(page.contains(word), "no {word:?} in {page}");
    }
}

/// Asserts that a page has none of these words.
#[track_caller]
fn lacks(page: &str, words: &[&str]) {
    for word in words {
        assert!(!page.contains(word), "{word:?} in {page}");
    }
}
