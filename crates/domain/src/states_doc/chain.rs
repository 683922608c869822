//! The on-chain matrices: incoming transaction, intent, outgoing transaction, exchange order.

use std::fmt::Error;

use super::table;
use crate::chain::IntentKind;
use crate::chain_tx::states::{IntentTrigger, Move, TxTrigger};
use crate::chain_tx::{IntentState, TxState};
use crate::deposit::DepositState;
use crate::deposit::states::{Step, Trigger};
use crate::exchange::states::{OrderStep, OrderTrigger};
use crate::exchange::{ExchangeState, OrderFailure};
use crate::sweep::{SweepState, SweepTrigger};

const DEPOSIT: &str = "
## Incoming transaction

Starts as `seen`. The API shows `seen` as PENDING; `held`, `screening`, `in_review` and `approved` as RECEIVED_IN_ESCROW;
`rejected` and `legal_hold` as REJECTED; `suspended`, `refunding` and `refunded` as the earlier state; `orphaned` not at
all. *back* is that earlier state. `-` means that the command is refused. `payment.received` is sent when the deposit
counts, never before; `transfer.complete` at the first `completed`; `transaction.failed` at `failed` and at the first
`rejected` or `legal_hold`.

- **Books.** Counting: external → escrow (`deposit.credit`). `approved`: pending escrow → wallet, posted at `completed`,
  voided otherwise. `suspended`: to suspense, and back from there. Dropped from the chain: suspense → external. `refunded`:
  escrow → external. A direct payment to a wallet's address waits in suspense and needs no release: on approval it becomes
  `completed` at once.
- **Reserved or spent.** A `completed` deposit becomes `suspended` with its whole amount also if the wallet has reserved or
  spent the tokens. What the wallet lacks is booked to its `shortfall` account and covered, in the same commit, by whatever
  becomes available in the wallet: an order that ends without its debit, the returned deposit, another deposit. Until then
  nothing is available, and debits of the wallet's orders wait for the deposit for up to two hours from their first attempt
  that lacks the tokens.
- **Token fee.** What the token's contract deducts from a release is booked as long as the deposit is in the wallet
  (`deposit.fee`), and reversed when a reorganization takes it back (`deposit.fee_reversal`): it never was the wallet's.
- **Back to `completed`** only if its release is still part of the chain; otherwise it becomes `approved` and is released
  again.
- **Dropped from the chain** is decided 128 blocks after the deposit left the chain, and not before the outcome of its
  release is known. A dropped deposit that returns becomes `suspended`, and `failed` again with its amount in suspense when it
  is deep enough; a deposit that failed otherwise stays unchanged.
- **Screening** of a deposit whose wallet has since been frozen has the effect of the wallet's state. Reviewers cannot approve
  deposits for a frozen wallet. `in_review` persists through a block of the wallet.

";

const INTENT: &str = "
## Intent

One on-chain action, executed at most once: the controller refuses its id a second time. Starts as `waiting`. Only an intent
assigned to a transaction can become `done`, or one whose earlier transaction a reorganisation restored: releases of its deposit
that were requested since are then withdrawn or called off. A failed simulation counts as an attempt. An intent is given up after five
attempts, except the return of a debit, the deployment of the controller, and what a reorganization undid after others relied
on it (a debit whose payout may have left, a release or refund), which are retried until they succeed: every five
attempts raise an alert about the order or the tenant. A paused token is awaited for at most a day. *alarm* means that an
alert is raised.

";

const INTENT_KINDS: &str = "
The signing key of each kind:

";

const TX: &str = "
## Outgoing transaction

One nonce of one signer. Starts as `taken`: the nonce is saved before anything is signed, and the signed bytes before anything
is broadcast. At most one signed version can be mined, because all share the nonce. The outcome of its intents is applied in
the commit that makes it `succeeded`, `reverted` or `cancelled`. After a deep reorganisation a final transaction is broadcast
again unchanged; intents that it then no longer executes are executed again.

";

const ORDER: &str = "
## Exchange order

Starts as `pending`. **409** is CONFLICT with the current status.

- **Books.** Creation: pending wallet → unswept, posted when the debit is final (`exchange.debit`), voided if the order ends
  without one. `settled`: exchanged → fx_position and fee_income, nostro → fx_position. `returning` → `failed`: unswept →
  wallet (`exchange.return`).
- **Token fee.** What the token's contract deducts from a debit never reaches the controller. The order is paid out as quoted,
  so the tenant bears it: unswept → external and fx_position → exchanged (`exchange.token_fee`). What it deducts from the
  return of the tokens never reaches the wallet: wallet → external (`exchange.token_fee`). After a reorganisation the books have
  what the chain has: nothing of what was undone for good, the new fee of what was mined again (`exchange.token_fee_reversal`).
- **Late cancellation.** An order that is cancelled during its debit keeps the reason: if the debit still takes effect, its
  amount returns to the wallet.
- **Rate.** A locked rate holds until the lock ends; the debit must have its nonce by then. Other orders use the rate at the
  time of each attempt to pay them out, within 1 % of the quoted one.
- **Withheld.** An order whose account holder's name matches a sanctions list, or nearly does, stays `pending` without a debit
  until a reviewer releases or rejects it, or until its lock or 24 h expire. The name is screened again at the release; an
  exact match leaves only the rejection.
- **Unresolved.** While the outcome of a payout is unknown the order stays `paying`; inquiries continue, and no other rail is
  used. Two users can record the outcome.
- **Reported unsent.** A rail's report of a payout that has not begun and was not sent from here (a backup was restored) holds the
  order: it has an `indeterminate` attempt (`NOT_RECORDED`), is never paid out, and cannot be called off. While another attempt is
  `sending` or `indeterminate`, that follows once it is refused, whatever the reason. Once it is debited it is `paying`. Its debit is retried without end, as it may have been executed before; if it fails, the tokens stay reserved. Two users
  record the outcome, also before the debit: a paid order is `settled` and its debit done; one that was not paid is `failed` and its
  tokens are free, once a debit that is in a transaction was called off. An order that screening withholds leaves the review: it is
  neither released, rejected nor timed out, and is not debited again. Without a rate lock the payout is the amount that the bank
  reports, if it is within the permitted band of 1 %; an alert names an amount beyond it.
- **Debited before.** If the controller refuses a debit because it has executed it already (a backup was restored), the order counts as
  reported unsent, over the country's first rail that takes the amount, or without a rail over `unconfigured`. Once the controller's own log of the debit is found, deep enough,
  confirmed by the required number of nodes, and agrees with the order, the debit is done and the order is `paying`. Until then, or if
  the log disagrees, the tokens stay reserved, and an alert names what is wrong. Its timeout does not cancel it.
  A later report or booking of its payout, from whichever rail, gives it that rail and, without a rate lock, the amount.
- **Undone.** Nothing is paid out while a reorganisation has undone the debit. If the debit then fails, a `debited` order ends
  and its tokens are booked back to the wallet. The debit of a `paying` or `settled` order is retried until it succeeds, as its
  payout may have left: every five attempts raise an alert. In `returning` an alert is raised.
- **Returned.** A payout that is returned after `settled` leaves the order unchanged: its amount is in suspense
  (`payout_suspense`) until an operator returns the tokens. Two users can record the return. What the bank deducted from it is
  booked as rail cost (`rail.charges`).
- **Barred.** Tokens cannot return to a wallet that was blacklisted in the meantime and whose address is on the blacklist of the
  token's contract, too: the order fails with `WALLET_BLACKLISTED`, its amount is in suspense (exchanged → payout_suspense,
  `exchange.withheld`), the controller keeps the tokens, and an alert is raised.

";

const SWEEP: &str = "
## Sweep

Moves the tokens of paid-out orders from the tenant's controller to its treasury. Starts as `sending`, one at a time per tenant
and stablecoin. *alarm* means that an alert is raised, **review** the same for a contradiction.

- **Books.** Start: pending unswept → treasury (`sweep.reserve`), posted when it is final (`sweep.done`), voided if it is given
  up (`sweep.void`). What the token's contract deducts: treasury → external and fx_position → exchanged (`sweep.token_fee`).
  After a reorganisation the books have the new fee (`sweep.token_fee_reversal`).
- **Sweepable amount.** unswept, less the tokens of orders that are not `settled` and of those whose payout was returned.
- **Schedule.** At once from `chain.sweep_at` of a stablecoin, otherwise `chain.sweep_every_s` after the first of them; an hour
  after a failed sweep.

";

const ORDER_STATUSES: &str = "
How the API shows each state:

";

const ORDER_FAILURES: &str = "
Reasons for ending an order without settlement, with their error messages:

";

fn deposit_cell(state: DepositState, trigger: Trigger) -> String {
    match state.on(trigger) {
        Step::To(to) => to.name().to_owned(),
        Step::Back => "*back*".to_owned(),
        Step::Stays => ".".to_owned(),
        Step::Refused => "-".to_owned(),
        Step::Person => "**review**".to_owned(),
    }
}

fn move_cell<S>(step: Move<S>, name: impl Fn(S) -> &'static str) -> String {
    match step {
        Move::To(to) => name(to).to_owned(),
        Move::Alarming(to) => format!("{}, *alarm*", name(to)),
        Move::Stays => ".".to_owned(),
        Move::Refused => "-".to_owned(),
        Move::Person => "**review**".to_owned(),
    }
}

fn order_cell(state: ExchangeState, trigger: OrderTrigger) -> String {
    match state.on(trigger) {
        OrderStep::To(to) => to.name().to_owned(),
        OrderStep::Stays => ".".to_owned(),
        OrderStep::Conflict => "**409**".to_owned(),
        OrderStep::Person => "**review**".to_owned(),
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
    let statuses = table(
        "state",
        &ExchangeState::ALL.map(|state| (state.name(), state)),
        &[("status", ())],
        |state, ()| state.status().name().to_owned(),
    )?;
    let sweep = table(
        "trigger \\ state",
        &SweepTrigger::ALL.map(|trigger| (trigger.name(), trigger)),
        &SweepState::ALL.map(|state| (state.name(), state)),
        |trigger, state| move_cell(state.on(*trigger), SweepState::name),
    )?;
    let failures = table(
        "reason",
        &OrderFailure::ALL.map(|reason| (reason.name(), reason)),
        &[("message", ())],
        |reason, ()| reason.message().to_owned(),
    )?;
    Ok(format!(
        "{DEPOSIT}{deposit}{INTENT}{intent}{INTENT_KINDS}{kinds}{TX}{tx}{ORDER}{order}{ORDER_STATUSES}{statuses}{ORDER_FAILURES}{failures}{SWEEP}{sweep}"
    ))
}

#[test]
fn every_chain_matrix_is_complete() {
    let page = render().expect("writing to a string");
    let rows = |heading: &str| {
        let section = page
            .split(heading)
            .nth(1)
            .unwrap_or_default()
            .split("\n## ")
            .next()
            .unwrap_or_default();
        let section = section.split("\n\n").find(|part| part.starts_with('|')).unwrap_or_default();
        section.lines().map(|line| line.matches('|').count()).collect::<Vec<_>>()
    };
    assert_eq!(
        rows("\n## Incoming transaction\n"),
        [DepositState::ALL.len() + 2; Trigger::ALL.len() + 2]
    );
    assert_eq!(rows("\n## Intent\n"), [IntentState::ALL.len() + 2; IntentTrigger::ALL.len() + 2]);
    assert_eq!(
        rows("\n## Outgoing transaction\n"),
        [TxState::ALL.len() + 2; TxTrigger::ALL.len() + 2]
    );
    assert_eq!(rows("\n## Sweep\n"), [SweepState::ALL.len() + 2; SweepTrigger::ALL.len() + 2]);
    assert_eq!(
        rows("\n## Exchange order\n"),
        [ExchangeState::ALL.len() + 2; OrderTrigger::ALL.len() + 2]
    );
}
