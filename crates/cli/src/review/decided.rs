//! The refusal of a decision on a case that was decided before: who decided what, and when.

use std::fmt::Display;

use domain::audit::Entry;
use domain::ids::TenantId;
use domain::names::state_phrase;

use super::super::failure::Failure;
use super::super::store_commands::Opened;

/// The refusal for a case on which no decision is pending. `state` is the name of its state.
pub(super) async fn refusal(
    opened: &Opened,
    tenant: TenantId,
    case: impl Display,
    state: &str,
) -> Failure {
    match opened.store.audit_about(tenant, &case.to_string()).await {
        Ok(entries) => {
            let decision = entries.iter().find_map(words);
            let decision = decision.unwrap_or_else(|| "no decision is pending".to_owned());
            Failure::Refused(format!("{decision}; it {}", state_phrase(state)))
        }
        Err(error) => Failure::of_store(error),
    }
}

/// What an entry decided; `None` if it is about something else.
fn words(entry: &Entry) -> Option<String> {
    let what = match entry.note.action.as_str() {
        "review.approve" => "approved",
        "review.reject" => "rejected",
        "review.legal_hold" => "put on legal hold",
        "review.block" => "rejected, and its wallet blocked,",
        "payment.resolve" | "order.resolve" => "resolved",
        _ => return None,
    };
    let deed = &entry.deed;
    let mut who = deed.behalf.as_ref().unwrap_or(&deed.who).clone();
    if let Some(second) = &deed.second {
        who.push_str(&format!(" and {second}"));
    }
    let why = if deed.why.is_empty() { String::new() } else { format!(" ({})", deed.why) };
    Some(format!("already {what} by {who} at {}{why}", entry.at))
}
