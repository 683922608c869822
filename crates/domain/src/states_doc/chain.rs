//! The on-chain matrices: incoming transaction, intent, transaction of ours, exchange order.

use std::fmt::Error;

use super::table;
use crate::chain_tx::states::{IntentTrigger, Move, TxTrigger};
use crate::chain_tx::{IntentKind, IntentState, TxState};
use crate::deposit::DepositState;
use crate::deposit::states::{Step, Trigger};
use crate::exchange::states::{OrderStep, OrderTrigger};
use crate::exchange::{ExchangeState, OrderFailure};
use crate::sweep::{SweepState, SweepTrigger};

const DEPOSIT: &str = "
## Incoming transaction

Begins as `seen`. The interface shows `seen` as PENDING; `held`, `screening`, `in_review` and `approved` as
RECEIVED_IN_ESCROW; `rejected` and `legal_hold` as REJECTED; `suspended`, `refunding` and `refunded` as what they were
before; `orphaned` not at all. *back* is that earlier state. `-` means that the command is refused. `payment.received`
goes out when it counts, never before; `transfer.complete` at the first `completed`; `transaction.failed` at `failed`
and at the first `rejected` or `legal_hold`.

- **Books.** Counting: external → escrow (`deposit.credit`). `approved`: pending escrow → wallet, posted at `completed`,
  voided where it is left otherwise. `suspended`: to suspense, and from there back. Staying out of the chain: suspense →
  external. `refunded`: escrow → external. What comes straight to a wallet's address waits in suspense and is never
  released: approved, it is `completed` at once.
- **Gone.** A `completed` one whose amount the wallet no longer has stays so when its block goes, and a person looks.
- **Back to `completed`** only where its release is still part of the chain; else it is `approved`, and released again.
- **Stayed out of the chain** is looked at 128 blocks after it fell out, and not before it is known what became of its
  release. One that was given up and comes again is `suspended`, and `failed` again with its amount in suspense when it is
  deep enough; one that failed otherwise stays as it is.
- **Screening** of a deposit whose wallet is frozen by then changes it as the wallet's state does. A person approves
  nothing for a frozen wallet. `in_review` outlives a block.

";

const INTENT: &str = "
## Intent

One thing to be done on the chain, at most once: the controller refuses its id a second time. Begins as `waiting`. Only
what a transaction has taken on can be `done`; a simulation that fails counts as a try. After five tries it is given up,
but for the return of a debit and the controller itself, which are tried until they work: after every five tries a person
is called to the order, or the tenant. A coin that moves nothing is waited for, a day at most. *alarm* means that a person
looks.

";

const INTENT_KINDS: &str = "
Which key signs what:

";

const TX: &str = "
## Transaction of ours

One nonce of one signer. Begins as `taken`: the nonce is saved before anything is signed, what is signed before anything
is broadcast. Of all that is signed for it one at most can be mined, because all have its nonce. What became of its
intents is applied in the commit that makes it `succeeded`, `reverted` or `cancelled`. One of these that a deep
reorganisation brings back is broadcast as it was; what it then no longer does is done again.

";

const ORDER: &str = "
## Exchange order

Begins as `pending`. The interface shows `pending` and `debiting` as PENDING; `debited`, `paying` and `returning` as
PROCESSING. **409** is CONFLICT with the current status.

- **Books.** Begin: pending wallet → unswept, posted when the debit is final (`exchange.debit`), voided where the order
  ends without one. `settled`: exchanged → fx_position and fee_income, nostro → fx_position. `returning` → `failed`:
  unswept → wallet (`exchange.return`).
- **Too late.** An order that is called off while its debit is under way remembers why: a debit that happens all the
  same goes back to the wallet.
- **Rate.** A locked rate holds until the lock ends; the debit must have its nonce by then. Another order takes the rate
  of the moment at which it is paid out, within 1 % of the quoted one.
- **Unclear.** While nobody knows what became of a pay-out the order stays `paying`; it is asked about, never repeated
  over another rail.
- **Undone.** Nothing is paid out while a reorganisation has undone the debit. Where it fails when it is done again, a
  `debited` order ends and its coins are booked back to the wallet; after that a person looks.
- **Came back.** A pay-out that comes back after `settled` leaves the order as it is: its amount is in suspense
  (`payout_suspense`), a person gives the coins back.

";

const SWEEP: &str = "
## Sweep

Coins that orders were paid out for go from the tenant's controller to its treasury. Begins as `sending`, one at a time of
a tenant's coin. *alarm* means that a person looks, **person** the same where it contradicts what is known.

- **Books.** Begin: pending unswept → treasury (`sweep.reserve`), posted when it is final (`sweep.done`), voided where it is
  given up (`sweep.void`).
- **What may be swept.** unswept, less the coins of orders that are not `settled` and of those whose pay-out came back.
- **When.** At once where there are `chain.sweep_at` of a coin, else `chain.sweep_every_s` after the first of them; an hour
  after one that failed.

";

const ORDER_FAILURES: &str = "
Why an order ends without being settled, and what its error message says:

";

fn deposit_cell(state: DepositState, trigger: Trigger) -> String {
    match state.on(trigger) {
        Step::To(to) => to.name().to_owned(),
        Step::Back => "*back*".to_owned(),
        Step::Stays => ".".to_owned(),
        Step::Refused => "-".to_owned(),
        Step::Person => "**person**".to_owned(),
    }
}

fn move_cell<S>(step: Move<S>, name: impl Fn(S) -> &'static str) -> String {
    match step {
        Move::To(to) => name(to).to_owned(),
        Move::Alarming(to) => format!("{}, *alarm*", name(to)),
        Move::Stays => ".".to_owned(),
        Move::Refused => "-".to_owned(),
        Move::Person => "**person**".to_owned(),
    }
}

fn order_cell(state: ExchangeState, trigger: OrderTrigger) -> String {
    match state.on(trigger) {
        OrderStep::To(to) => to.name().to_owned(),
        OrderStep::Stays => ".".to_owned(),
        OrderStep::Conflict => "**409**".to_owned(),
        OrderStep::Person => "**person**".to_owned(),
    }
}

/// Renders the sections in order.
pub(super) fn render() -> Result<String, Error> {
    let deposit = table(
        "trigger \\ state",
        &Trigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &DepositState::ALL.map(|state| (state.name(), state)),
        |trigger, state| deposit_cell(*state, *trigger),
    )?;
    let intent = table(
        "trigger \\ state",
        &IntentTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &IntentState::ALL.map(|state| (state.name(), state)),
        |trigger, state| move_cell(state.on(*trigger), IntentState::name),
    )?;
    let kinds = table(
        "intent",
        &IntentKind::ALL.map(|kind| (kind.name(), kind)),
        &[("key", true), ("many in one transaction", false)],
        |kind, is_key| match (*is_key, kind.is_batched()) {
            (true, _) => kind.role().name().to_owned(),
            (false, true) => "yes".to_owned(),
            (false, false) => ".".to_owned(),
        },
    )?;
    let tx = table(
        "trigger \\ state",
        &TxTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &TxState::ALL.map(|state| (state.name(), state)),
        |trigger, state| move_cell(state.on(*trigger), TxState::name),
    )?;
    let order = table(
        "trigger \\ state",
        &OrderTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &ExchangeState::ALL.map(|state| (state.name(), state)),
        |trigger, state| order_cell(*state, *trigger),
    )?;
    let sweep = table(
        "trigger \\ state",
        &SweepTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &SweepState::ALL.map(|state| (state.name(), state)),
        |trigger, state| move_cell(state.on(*trigger), SweepState::name),
    )?;
    let failures =
        table("reason", &OrderFailure::ALL.map(|reason| (reason.name(), reason)), &[("message", ())], |reason, ()| {
            reason.message().to_owned()
        })?;
    Ok(format!(
        "{DEPOSIT}{deposit}{INTENT}{intent}{INTENT_KINDS}{kinds}{TX}{tx}{ORDER}{order}{ORDER_FAILURES}{failures}{SWEEP}{sweep}"
    ))
}

#[test]
fn every_chain_matrix_is_complete() {
    let page = render().expect("writing to a string");
    let rows = |heading: &str| {
        let section = page.split(heading).nth(1).unwrap_or_default().split("\n## ").next().unwrap_or_default();
        let section = section.split("\n\n").find(|part| part.starts_with('|')).unwrap_or_default();
        section.lines().map(|line| line.matches('|').count()).collect::<Vec<_>>()
    };
    assert_eq!(rows("\n## Incoming transaction\n"), [DepositState::ALL.len() + 2; Trigger::ALL.len() + 2]);
    assert_eq!(rows("\n## Intent\n"), [IntentState::ALL.len() + 2; IntentTrigger::ALL.len() + 2]);
    assert_eq!(rows("\n## Transaction of ours\n"), [TxState::ALL.len() + 2; TxTrigger::ALL.len() + 2]);
    assert_eq!(rows("\n## Sweep\n"), [SweepState::ALL.len() + 2; SweepTrigger::ALL.len() + 2]);
    assert_eq!(rows("\n## Exchange order\n"), [ExchangeState::ALL.len() + 2; OrderTrigger::ALL.len() + 2]);
}
