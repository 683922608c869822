//! The wallet service's matrices: wallet, payment request, webhook delivery, and screening results.

use std::fmt::Error;

use super::table;
use crate::delivery::{DeliveryState, DeliveryStep, DeliveryTrigger};
use crate::payment_request::{RequestState, RequestStep, RequestTrigger};
use crate::risk::{ReasonCode, RiskResult, sandbox};
use crate::wallet::{WalletState, WalletStep, WalletTrigger};

const WALLET: &str = "
## Wallet

A wallet starts as ACTIVE, or as PENDING until its tenant's controller is deployed. **409** is CONFLICT with the current
status. On every state change its pending orders, active requests and deposits follow. Repeating a blacklist order with the
same reference number changes nothing and returns the same answer.

";

const REQUEST: &str = "
## Payment request

Starts as ACTIVE. `.` means that only the received amount changes. Payments that are too late, and payments in another
stablecoin than requested, need review in every state, and count towards the requested amount once they are approved; payments
for a cancelled request are recorded and screened like any other. The timestamp of the payment's block decides whether it is
late.

";

const RISK: &str = "
## Risk

Not a state machine: the results of screening and the actions that follow. The first applicable code of the second table is
reported.

";

const DELIVERY: &str = "
## Delivery of a webhook

Starts as pending, or as disabled if there is no endpoint. Of the events of one payment request, order or wallet only the
first one that is neither delivered, dead nor disabled is attempted. *again* means pending with a job: at once on a replay,
otherwise after the delay of the schedule. `-` cannot happen: only pending deliveries are attempted.

";

fn wallet_cell(state: WalletState, trigger: WalletTrigger) -> String {
    match state.on(trigger) {
        WalletStep::To(to) => to.name().to_owned(),
        WalletStep::Stays => ".".to_owned(),
        WalletStep::Conflict => "**409**".to_owned(),
    }
}

fn request_cell(state: RequestState, trigger: RequestTrigger) -> String {
    match state.on(trigger) {
        RequestStep::To(to) => to.name().to_owned(),
        RequestStep::Stays => ".".to_owned(),
        RequestStep::Conflict => "**409**".to_owned(),
    }
}

fn delivery_cell(state: DeliveryState, trigger: DeliveryTrigger) -> String {
    match state.on(trigger) {
        DeliveryStep::To(to) => to.name().to_owned(),
        DeliveryStep::Again => "again".to_owned(),
        DeliveryStep::Never => "-".to_owned(),
    }
}

fn risk() -> Result<String, Error> {
    let cents_of = |result: RiskResult| {
        let cents: Vec<String> = (0..=3)
            .filter(|cents| sandbox::result(Some(*cents)) == Some(result))
            .map(|cents| format!("`.0{cents}`"))
            .collect();
        cents.join(", ")
    };
    let results = table(
        "risk_check_result",
        &RiskResult::ALL.map(|result| (result.name(), result)),
        &[("next_action", true), ("sandbox cents", false)],
        |result, is_action| {
            if *is_action { result.next_action().name().to_owned() } else { cents_of(*result) }
        },
    )?;
    let codes = table(
        "code",
        &ReasonCode::ALL.map(|code| (code.name(), code)),
        &[("decision_reason", ())],
        |code, ()| code.decision_reason(),
    )?;
    Ok(format!("{results}\n{codes}"))
}

/// Renders the sections in order.
pub(super) fn render() -> Result<String, Error> {
    let wallet = table(
        "trigger \\ state",
        &WalletTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &WalletState::ALL.map(|state| (state.name(), state)),
        |trigger, state| wallet_cell(*state, *trigger),
    )?;
    let request = table(
        "trigger \\ state",
        &RequestTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &RequestState::ALL.map(|state| (state.name(), state)),
        |trigger, state| request_cell(*state, *trigger),
    )?;
    let delivery = table(
        "trigger \\ state",
        &DeliveryTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &DeliveryState::ALL.map(|state| (state.name(), state)),
        |trigger, state| delivery_cell(*state, *trigger),
    )?;
    Ok(format!("{WALLET}{wallet}{REQUEST}{request}{RISK}{}{DELIVERY}{delivery}", risk()?))
}

#[test]
fn every_wallet_matrix_is_complete() {
    let page = render().expect("writing to a string");
    let rows = |heading: &str| {
        let section = page
            .split(heading)
            .nth(1)
            .unwrap_or_default()
            .split("\n## ")
            .next()
            .unwrap_or_default();
        section
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.matches('|').count())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows("\n## Wallet\n"), [WalletState::ALL.len() + 2; WalletTrigger::ALL.len() + 2]);
    assert_eq!(
        rows("\n## Payment request\n"),
        [RequestState::ALL.len() + 2; RequestTrigger::ALL.len() + 2]
    );
    assert_eq!(
        rows("\n## Delivery of a webhook\n"),
        [DeliveryState::ALL.len() + 2; DeliveryTrigger::ALL.len() + 2]
    );
}
