//! A proposal's changes in the words of the forms and the pages. The stored ones stay as they were
//! proposed: its execution compares them.

use domain::approval::{Change, ProposedAction};
use domain::deposit::DepositState;
use domain::policy::fields::Field;
use domain::rail::{Finding, RailStatus};
use domain::time::Timestamp;

use super::parts::{grouped, when};
use super::payments::rates;
use super::view::words;
use super::wallets::{deposit_people, policy};

const AMOUNTS: [&str; 4] = ["amount", "payout", "pays out", "kept by the bank"];

pub(super) fn shown(deed: &ProposedAction, change: &Change) -> Change {
    let what = change.what.as_str();
    let label = match deed {
        ProposedAction::SetPolicy { .. } if what == "policy" => "Policy version".to_owned(),
        ProposedAction::SetPolicy { .. } => {
            Field::parse(what).map_or(what, |field| field.words()).to_owned()
        }
        ProposedAction::SetPricing(_) => rates::price_label(what).to_owned(),
        _ => capitalized(what),
    };
    let value = |text: &str| match deed {
        ProposedAction::SetPolicy { .. } => policy::people(text),
        ProposedAction::SetPricing(_) => text.replace("as margin", "default margin"),
        _ if AMOUNTS.contains(&what) => grouped(text),
        _ if ["state", "status"].contains(&what) => state(deed, text),
        _ => instant(text).map_or_else(|| text.to_owned(), when),
    };
    Change { what: label, before: value(&change.before), after: value(&change.after) }
}

fn instant(text: &str) -> Option<Timestamp> {
    let at = text.parse::<jiff::Timestamp>().ok()?;
    Some(Timestamp(at.as_microsecond()))
}

/// The state as the record's page names it.
fn state(deed: &ProposedAction, name: &str) -> String {
    match deed {
        ProposedAction::ReleaseDeposit { .. } | ProposedAction::LiftHold { .. } => {
            DepositState::parse(name).map_or(name, |state| deposit_people(state)).to_owned()
        }
        ProposedAction::ResolvePayment { became, .. }
        | ProposedAction::ResolveOrder { became, .. } => payout_state(name, became),
        _ => capitalized(&words(name)),
    }
}

fn payout_state(name: &str, became: &Finding) -> String {
    match name {
        // An order's status does not say that its payout is unresolved, which is why it is proposed.
        "unknown" | "PROCESSING" => "Unconfirmed".to_owned(),
        "processing" => "Sending".to_owned(),
        "succeeded" | "settled" | "SETTLED" => "Paid".to_owned(),
        "reversed" if became.status == RailStatus::Cancelled => "Cancelled".to_owned(),
        "reversed" | "returned" => "Returned".to_owned(),
        name => capitalized(&words(name)),
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::approval::Pricing;
    use domain::attempt::UnresolvedAttempt;
    use domain::ids::{AttemptId, PaymentId};
    use uuid::Uuid;

    use super::*;

    fn line(deed: &ProposedAction, what: &str, before: &str, after: &str) -> String {
        let [what, before, after] = [what, before, after].map(str::to_owned);
        let Change { what, before, after } = shown(deed, &Change { what, before, after });
        format!("{what}: {before} → {after}")
    }

    #[test]
    fn settings_and_prices_have_the_labels_of_their_forms() {
        let policy = ProposedAction::SetPolicy { version: 1, values: BTreeMap::new() };
        let prices = ProposedAction::SetPricing(Pricing {
            premium_bps: 30,
            margin_bps: 0,
            margin_bps_by_country: BTreeMap::new(),
            spread_bps: 0,
        });
        for (deed, what, before, after, said) in [
            (&policy, "policy", "1", "2", "Policy version: 1 → 2"),
            (&policy, "auto_approve_max", "10000.00", "none", "Review above: 10,000.00 → none"),
            (
                &policy,
                "velocity",
                "20/20000.00",
                "1000/500.00",
                "Deposits/amount in 24 hours: 20/20,000.00 → 1000/500.00",
            ),
            (&policy, "countries", "PAK", "IND,PAK", "Destination countries: PAK → IND,PAK"),
            (&prices, "premium", "25 bps", "30 bps", "Service fee on payments: 25 bps → 30 bps"),
            (
                &prices,
                "margin for PAK",
                "as margin",
                "15 bps",
                "Margin to PAK: default margin → 15 bps",
            ),
        ] {
            assert_eq!(line(deed, what, before, after), said);
        }
    }

    #[test]
    fn an_outcome_has_the_amounts_and_states_of_the_payment_s_page() {
        let resolved = |status: RailStatus| ProposedAction::ResolvePayment {
            payment: PaymentId(Uuid::nil()),
            doubt: UnresolvedAttempt { attempt: AttemptId(Uuid::nil()), since: Timestamp(0) },
            became: status.into(),
        };
        for (status, what, before, after, said) in [
            (
                RailStatus::Returned,
                "status",
                "unknown",
                "reversed",
                "Status: Unconfirmed → Returned",
            ),
            (
                RailStatus::Cancelled,
                "status",
                "unknown",
                "reversed",
                "Status: Unconfirmed → Cancelled",
            ),
            (
                RailStatus::Settled,
                "amount",
                "37910.60 PKR",
                "37910.60 PKR",
                "Amount: 37,910.60 PKR → 37,910.60 PKR",
            ),
            (RailStatus::Settled, "bank reference", "", "12345.6", "Bank reference:  → 12345.6"),
            (
                RailStatus::Settled,
                "unknown since",
                "2026-11-21T06:57:48Z",
                "2026-11-21T06:57:48Z",
                "Unknown since: 2026-11-21 06:57:48 → 2026-11-21 06:57:48",
            ),
        ] {
            assert_eq!(line(&resolved(status), what, before, after), said);
        }
    }
}
