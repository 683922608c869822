//! Renders the specification's resources as JSON straight from domain values: snake_case names,
//! every amount a string (specification: "Resources and their fields", "Events").

mod amounts;
mod control;
mod events;
mod order;
mod request;
mod transaction;
mod wallet;

pub use amounts::{coin, money};
pub use control::{blacklisted, blocked, delivery, review, reviewed, unblocked};
pub use events::{event, event_body, logged_event, logged_event_body};
pub use order::{created_order, found_order, listed_order, masked_account, quoted};
pub use request::{Links, created_request, found_request, listed_request};
pub use transaction::{found_transaction, listed_transaction};
pub use wallet::{found_wallet, provisioned};

use super::decode::Page;
use crate::write::ObjectWriter;

/// The `pagination` of a list with this total.
pub fn pagination(out: &mut ObjectWriter<'_>, page: Page, total_count: u64) {
    let total_count = i64::try_from(total_count).unwrap_or(i64::MAX);
    out.object("pagination", |out| {
        out.integer("page", page.page);
        out.integer("limit", page.limit);
        out.integer("total_count", total_count);
        out.integer("total_pages", page.pages_of(total_count));
    });
}
