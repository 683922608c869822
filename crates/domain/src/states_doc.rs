//! Renders the state machines to `docs/states.md` from the code that decides, so that the page
//! cannot differ from it. Never part of a build.

use std::fmt::Write as _;

use crate::attempt::{AttemptState, Outcome};
use crate::payment::{PaymentState, Step, Trigger};
use crate::quote::{QuoteState, QuoteStep, QuoteTrigger};
use crate::rail::{RailStatus, RecallAnswer};
use crate::recall::{RecallState, RecallStep, RecallTrigger};

mod chain;
mod wallets;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/states.md");
/// With the value `1`, the test writes the file instead of comparing it.
const UPDATE: &str = "UPDATE_DOCS";

const HEAD: &str = "# States

<!-- Generated from crates/domain by `UPDATE_DOCS=1 cargo test -p domain states_doc`. Do not edit. -->

Each table lists every state and every trigger. A cell shows the states that are entered, with one event each, all in one
commit. `.` means that nothing changes because the fact is already known; **review** means that nothing changes, a
discrepancy is filed and an alert is raised.
";

const PAYMENT: &str = "
## Payment

`rejected`, `succeeded`, `failed` and `reversed` are final, except that a return in time reverses `succeeded`. `pending` and
`canceled` are accepted in filters and never entered. A payment starts as `queued`, when POST /v2/payment returns 200. Our
own triggers (no route, compliance, deadline, cancelling) apply to `queued` only, and never while an attempt may have been sent; where
the table shows **review** for them, nothing is filed, because the command itself is refused.

";

const ATTEMPT: &str = "
## Attempt

The effect of a rail's report on an attempt, with the payment's trigger in parentheses. An attempt starts as `sending` and is
saved before a byte leaves. Without a report, a message that certainly never left makes it `refused` (`NOT_SENT`), and a lost
answer or an inquiry without a result makes it `indeterminate`. Another attempt follows only after `refused` with a retryable
reason; the payment then stays `queued` and receives no trigger. A report with an amount other than the attempt's needs
review, whatever its status. Once its message was sent again and the bank has not named one of the copies a duplicate, a rejection
counts as unknown to the rail: it proves nothing about the other copy. A rail's report of a payment that is `queued` and was
not sent from here (a backup was restored) makes the payment `unknown`, with an `indeterminate` attempt (`NOT_RECORDED`) that only users
resolve. While another attempt is `sending` or `indeterminate`, that follows once it is refused, whatever the reason. A payment that became `unknown` by the window returns to `processing` when the rail confirms its acceptance again.

";

const RECALL: &str = "
## Recall

A recall asks the bank to return a payment that was sent to it. It never changes the payment or the ledger: an accepted one
is a promise, and the payment becomes `reversed` when the rail reports it as cancelled or returned. A payment has at most one
recall that is not `refused`, `returned` or `closed`. A user may close it where the table shows `closed`; where it shows
**review** for that trigger, nothing is filed, because the request itself is refused, as it is for a `requested` one on its first
day. One that cannot be transmitted stays `requested`, is sent again, and raises an alert after a day. An accepted recall without
the money, and one that was sent and not answered, raise an alert after the configured time.

";

const QUOTE: &str = "
## Quote

A refusal of the payment for any other reason leaves its quote unchanged. `expires` itself is too late.

";

/// All rail statuses. The match breaks the build when one is added, so that none can be left out
/// here.
pub fn rail_statuses() -> [RailStatus; 9] {
    let all = [
        RailStatus::Received,
        RailStatus::Accepted,
        RailStatus::Settled,
        RailStatus::Rejected,
        RailStatus::Cancelled,
        RailStatus::Returned,
        RailStatus::Unknown,
        RailStatus::Recall(RecallAnswer::Accepted),
        RailStatus::Unrecognised("XXXX".to_owned()),
    ];
    for status in &all {
        match status {
            RailStatus::Received
            | RailStatus::Accepted
            | RailStatus::Settled
            | RailStatus::Rejected
            | RailStatus::Cancelled
            | RailStatus::Returned
            | RailStatus::Unknown
            | RailStatus::Recall(_)
            | RailStatus::Unrecognised(_) => {}
        }
    }
    all
}

const fn words(status: &RailStatus) -> &'static str {
    match status {
        RailStatus::Received => "received (RCVD)",
        RailStatus::Accepted => "accepted (ACTC, ACCP, ACSP, PDNG)",
        RailStatus::Settled => "paid (ACSC, ACCC, camt.054 debit)",
        RailStatus::Rejected => "rejected (RJCT)",
        RailStatus::Cancelled => "cancelled (CANC)",
        RailStatus::Returned => "returned (pacs.004, camt.054 return)",
        RailStatus::Unknown => "unknown to the rail",
        RailStatus::Recall(_) => "answer to a recall that was not requested (camt.029)",
        RailStatus::Unrecognised(_) => "unknown code",
    }
}

fn payment_cell(state: PaymentState, trigger: Trigger) -> String {
    match state.on(trigger) {
        Step::Through(states) => {
            states.iter().map(|state| state.name()).collect::<Vec<_>>().join(" → ")
        }
        Step::Stays => ".".to_owned(),
        Step::Contradicts => "**review**".to_owned(),
    }
}

fn attempt_cell(state: AttemptState, status: &RailStatus) -> String {
    match state.on(status) {
        Outcome::Moves(to, trigger) => format!("{} ({})", to.name(), trigger.name()),
        Outcome::Known => ".".to_owned(),
        Outcome::Contradicts => "**review**".to_owned(),
    }
}

fn recall_cell(state: RecallState, trigger: RecallTrigger) -> String {
    match state.on(trigger) {
        RecallStep::To(state) => state.name().to_owned(),
        RecallStep::Stays => ".".to_owned(),
        RecallStep::Contradicts => "**review**".to_owned(),
    }
}

fn quote_cell(from: Option<QuoteState>, trigger: QuoteTrigger) -> String {
    match QuoteState::on(from, trigger) {
        QuoteStep::To(state) => state.name().to_owned(),
        QuoteStep::Stays => ".".to_owned(),
        QuoteStep::Refused(code) => format!("400 `{code}`"),
    }
}

/// Renders one table: a row for each of `rows`, a column for each of `columns`.
fn table<R, C>(
    corner: &str,
    rows: &[(&str, R)],
    columns: &[(&str, C)],
    cell: impl Fn(&R, &C) -> String,
) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    write!(out, "| {corner} |")?;
    for (name, _) in columns {
        write!(out, " {name} |")?;
    }
    writeln!(out, "\n|{}", "---|".repeat(columns.len() + 1))?;
    for (name, row) in rows {
        write!(out, "| {name} |")?;
        for (_, column) in columns {
            write!(out, " {} |", cell(row, column))?;
        }
        writeln!(out)?;
    }
    Ok(out)
}

/// Renders the whole page.
fn render() -> Result<String, std::fmt::Error> {
    let payment = table(
        "trigger \\ state",
        &Trigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &PaymentState::ALL.map(|state| (state.name(), state)),
        |trigger, state| payment_cell(*state, *trigger),
    )?;
    let attempt = table(
        "report \\ state",
        &rail_statuses().map(|status| (words(&status), status)),
        &AttemptState::ALL.map(|state| (state.name(), state)),
        |status, state| attempt_cell(*state, status),
    )?;
    let recall = table(
        "trigger \\ state",
        &RecallTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &RecallState::ALL.map(|state| (state.name(), state)),
        |trigger, state| recall_cell(*state, *trigger),
    )?;
    let froms = [None, Some(QuoteState::Active), Some(QuoteState::Used), Some(QuoteState::Expired)];
    let quote = table(
        "trigger \\ state",
        &QuoteTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &froms.map(|from| (from.map_or("none yet", QuoteState::name), from)),
        |trigger, from| quote_cell(*from, *trigger),
    )?;
    let (wallets, chain) = (wallets::render()?, chain::render()?);
    Ok(format!(
        "{HEAD}{PAYMENT}{payment}{ATTEMPT}{attempt}{RECALL}{recall}{QUOTE}{quote}{wallets}{chain}"
    ))
}

#[test]
fn docs_states_md_matches_the_code() {
    let rendered = render().expect("writing to a string");
    if std::env::var(UPDATE).as_deref() == Ok("1") {
        std::fs::write(FILE, &rendered).expect("docs/states.md is writable");
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        kept == rendered,
        "docs/states.md is out of date; regenerate it with `{UPDATE}=1 cargo test -p domain states_doc` and read the \
         difference:\n{rendered}"
    );
}

#[test]
fn every_matrix_is_complete() {
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
    assert_eq!(rows("\n## Payment\n"), [PaymentState::ALL.len() + 2; Trigger::ALL.len() + 2]);
    assert_eq!(rows("\n## Attempt\n"), [AttemptState::ALL.len() + 2; 9 + 2]);
    assert_eq!(rows("\n## Recall\n"), [RecallState::ALL.len() + 2; RecallTrigger::ALL.len() + 2]);
    assert_eq!(rows("\n## Quote\n"), [QuoteState::ALL.len() + 3; QuoteTrigger::ALL.len() + 2]);
}
