//! An exchange order's story with its payout attempts. Nothing is paid a second time: an order held by
//! screening is released or rejected once, an open payout is resolved as two users established, and
//! tokens of a returned payout go back to the wallet.

use domain::attempt::{Attempt, AttemptState};
use domain::exchange::{ExchangeOrder, ExchangeState, Recredit};
use domain::ids::{ExchangeId, PaymentId};
use domain::names::state_phrase;
use domain::rail::RailStatus;
use engine::console::{EARLY, ProposedAction};

use super::evidence::{Party, comparisons};
use super::{SEEN, as_shown, doubt_shown, order_people, order_tone, outcome};
use crate::answer::sentence;
use crate::cases::Case;
use crate::payments::masked;
use crate::view::{
    Field, FormView, Moment, Section, Story, amount_text, coins, coins_text, instant, known, steps,
    story_page,
};
use crate::{Answer, Cell, Stop, Table, Tone, Visit, audit, case_files, cases};
use http_api::wallet_v1::render::masked_account;

pub(super) async fn show(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(ExchangeId::parse)?);
    let order = visit.console().wallets.find_order(&caller, id).await?;
    let (title, mut story, mut sections) = story(&visit, id).await?;
    let case = Case::Order(id);
    // Recording the return of a settled order is rare: it does not stand first.
    let is_pending = order.is_withheld() || order.unclear_beyond_window || order.awaits_recredit();
    let control = control(&visit, &order)?;
    let assignment = cases::assignment(&visit, case).await?;
    story.side = match is_pending {
        true => [vec![control, assignment], story.side].concat(),
        false => [story.side, vec![assignment, control]].concat(),
    };
    story.links.extend(cases::file_link(&visit, case));
    sections.push(cases::notes(&visit, case).await?);
    sections.push(case_files::section(&visit, case).await?);
    sections.push(super::waiting(&visit, id.0).await?);
    story_page(&visit, &title, story, sections)
}

/// The title, the story and the sections below it.
pub(crate) async fn story(
    visit: &Visit,
    id: ExchangeId,
) -> Result<(String, Story, Vec<Section>), Stop> {
    let (caller, console) = (visit.caller()?, visit.console());
    let order = console.wallets.find_order(&caller, id).await?;
    // The attempts at paying an order out are those of a payment with its UUID.
    let attempts = console.store().attempts(caller.tenant, PaymentId(id.0)).await?;
    let holder = &order.bank.holder;
    let mut says = vec![format!("To {holder}, account {}.", masked_account(&order.bank))];
    says.extend(standing(&order).map(str::to_owned));
    let head = [
        "Attempt",
        "Rail",
        "State",
        "Amount",
        "Started",
        "Last change",
        "Bank reference",
        "Reason",
    ];
    let rows = attempts.iter().map(attempt_row).collect();
    let is_over = matches!(order.state, ExchangeState::Failed | ExchangeState::Cancelled);
    let none = if is_over { "Not sent to a rail." } else { "Not sent to a rail yet." };
    let table = Table::new("Payout attempts", &head, rows).or(none);
    let mut sections = screening(visit, &order);
    sections.push(Section { title: "Payout".to_owned(), table: Some(table), ..Section::default() });
    let proposals = console.store().approvals_about(Some(caller.tenant), &id.to_string()).await?;
    let deeds = audit::about(visit, &[id.to_string()]).await?;
    let mut moments = moments(&order, &attempts);
    moments.extend(audit::proposed(visit, &proposals).await?);
    moments.extend(audit::moments(visit, &deeds));
    let facts = known(facts(visit, &order)?);
    let side = vec![Section { title: "Order".to_owned(), facts, ..Section::default() }];
    let state = Some((order_people(&order).to_owned(), order_tone(&order)));
    let (steps, is_case) = (steps(moments), order.is_withheld());
    let list = Some((visit.href("/orders"), "Orders"));
    let story = Story { list, state, says, steps, side, is_case, ..Story::default() };
    let title = format!(
        "{} → {} · {}",
        coins_text(order.minor, order.coin),
        amount_text(order.payout),
        masked::short_name(holder)
    );
    Ok((title, story, sections))
}

/// What has to be done about it.
fn standing(order: &ExchangeOrder) -> Option<&'static str> {
    if order.is_withheld() && !order.is_releasable() {
        Some(
            "Held by screening after an exact match, or one that is not recorded. The order can only be rejected; nothing is paid out.",
        )
    } else if order.is_withheld() {
        Some("Held by screening. Nothing is paid out unless a reviewer approves the order.")
    } else if order.recredit == Some(Recredit::Barred) {
        Some("The tokens cannot return: the wallet is blacklisted. They are in suspense.")
    } else if order.awaits_recredit() {
        Some("The payout was returned after settlement. Return the tokens to the wallet.")
    } else if order.unclear_beyond_window {
        Some(
            "The outcome of the payout is unknown. Contact the bank; two users then record its answer.",
        )
    } else {
        None
    }
}

/// What the order's own records tell.
fn moments(order: &ExchangeOrder, attempts: &[Attempt]) -> Vec<Moment> {
    let ordered = format!("Order for {}", coins_text(order.minor, order.coin));
    let rate = format!("At a rate of {}", order.rate);
    let mut moments = vec![Moment::new(order.created_at, 0, Tone::Plain, ordered).detail(rate)];
    for attempt in attempts {
        let rail = &attempt.rail;
        moments.push(Moment::new(attempt.created_at, 3, Tone::Busy, format!("Sent to {rail}")));
        let id = format!("{}, UETR {}", amount_text(attempt.amount), attempt.id);
        moments.push(Moment::technical(attempt.created_at, 4, id));
        let reasons = [attempt.reason.as_deref(), attempt.info.as_deref()];
        let reasons = reasons.into_iter().flatten().collect::<Vec<_>>().join(": ");
        if attempt.state != AttemptState::Sending {
            let (word, tone) = (attempt.state.name(), attempt_tone(attempt.state));
            let title = match attempt.recorded() {
                Some(_) => format!("Recorded by users: {word}"),
                None => format!("{rail} reported {word}"),
            };
            moments.push(Moment::new(attempt.state_at, 5, tone, title).detail(reasons));
        }
    }
    if let Some(at) = order.settled_at {
        moments.push(Moment::new(at, 6, Tone::Good, "Paid out"));
    }
    if matches!(order.state, ExchangeState::Failed | ExchangeState::Cancelled) {
        let why = order.failure.map_or("", |why| why.message());
        let title = format!("The order {}", state_phrase(order.state.name()));
        moments.push(Moment::new(order.state_at, 7, Tone::Bad, title).detail(why));
    }
    moments
}

fn facts(visit: &Visit, order: &ExchangeOrder) -> Result<Vec<(&'static str, Cell)>, Stop> {
    let explorer = &visit.console().wallets.offered_on(order.chain)?.config.explorer_tx_url;
    let mut facts = vec![
        ("Status for the bank", Cell::text(order.state.status().name())),
        ("Order", Cell::id(order.id)),
        ("Wallet", Cell::id_link(visit.href(&format!("/wallets/{}", order.wallet)), order.wallet)),
        ("Amount", coins(order.minor, order.coin)),
        ("Pays out", Cell::number(amount_text(order.payout))),
        ("Rate", Cell::number(order.rate)),
        ("Rate when quoted", Cell::number(order.quoted_rate)),
        ("Spread", Cell::number(order.spread)),
        ("Rate locked until", instant(order.locked_until)),
        ("Account", Cell::text(masked_account(&order.bank))),
        (
            "Bank",
            Cell::maybe(order.bank.bank_name.clone().or_else(|| order.bank.bank_code.clone())),
        ),
        ("Created", Cell::When(order.created_at)),
        ("Last change", Cell::When(order.state_at)),
        ("Settled", instant(order.settled_at)),
        ("Reference", Cell::maybe(order.settlement_reference.clone())),
        ("Unresolved since", instant(order.unclear_since)),
    ];
    if let Some(tx) = order.debit_tx {
        facts.push(("Debit on chain", Cell::id_link(format!("{explorer}{tx}"), tx)));
    }
    if let Some(why) = order.failure {
        facts.push(("Failure reason", Cell::text(format!("{}: {}", why.name(), why.message()))));
    }
    Ok(facts)
}

/// The match for which screening withheld the order. An earlier version kept none.
fn screening(visit: &Visit, order: &ExchangeOrder) -> Vec<Section> {
    let Some(screened) = &order.screened else { return Vec::new() };
    let facts = vec![
        ("Account holder", Cell::text(order.bank.holder.as_str())),
        ("Cancelled without a decision", instant(order.undecided_until())),
        ("Score", Cell::number(format!("{} of 100", screened.score))),
        ("List version", Cell::text(screened.list_version.as_str())),
    ];
    let party = Party::named("Account holder", order.bank.holder.as_str());
    let entries = screened.evidence.as_deref().map(|evidence| {
        comparisons(visit, &[party], "possible match", evidence, &screened.list_version)
    });
    let facts =
        Section { title: "Screening".to_owned(), facts: known(facts), ..Section::default() };
    entries.into_iter().flatten().chain([facts]).collect()
}

const fn attempt_tone(state: AttemptState) -> Tone {
    match state {
        AttemptState::Settled => Tone::Good,
        AttemptState::Sending | AttemptState::Accepted => Tone::Busy,
        AttemptState::Indeterminate => Tone::Warn,
        AttemptState::Refused
        | AttemptState::Failed
        | AttemptState::Returned
        | AttemptState::Cancelled => Tone::Bad,
    }
}

fn attempt_row(attempt: &Attempt) -> Vec<Cell> {
    let why = [attempt.reason.as_deref(), attempt.info.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    vec![
        Cell::id(attempt.id),
        Cell::text(attempt.rail.0.to_string()),
        Cell::state(attempt.state.name(), attempt_tone(attempt.state)),
        Cell::number(amount_text(attempt.amount)),
        Cell::When(attempt.created_at),
        Cell::When(attempt.state_at),
        Cell::maybe(attempt.bank_reference.clone()),
        Cell::maybe(Some(why.join(": ")).filter(|why| !why.is_empty())),
    ]
}

fn control(visit: &Visit, order: &ExchangeOrder) -> Result<Section, Stop> {
    let may =
        |deed: &str| visit.may_use("POST", &format!("/console/t/{{tenant}}/orders/{{id}}/{deed}"));
    let to = |deed: &str| visit.href(&format!("/orders/{}/{deed}", order.id));
    let mut forms = Vec::new();
    if order.is_withheld() && may("decide") {
        forms.push(verdicts(visit, order)?.field(Field::hidden(SEEN, order.version)));
    }
    let open = order.open_to(&RailStatus::Returned.into());
    let is_sent = order.state == ExchangeState::Paying && order.attempt.is_some();
    let is_paying = is_sent || order.is_reported();
    if (is_paying || open.is_some()) && may("resolve") {
        let title = match is_paying {
            true => "Record the outcome of the payout",
            false => "Record a return of the payout",
        };
        forms.push(outcome::form(title, to("resolve"), is_paying, open));
    }
    if order.awaits_recredit() && may("recredit") {
        let form = FormView::new("recredit", "Return the tokens", to("recredit"), "Return tokens");
        forms.push(
            form.says("The tokens go back to the wallet on chain; the order stays settled.").why(),
        );
    }
    Ok(Section { title: "Control".to_owned(), forms, ..Section::default() })
}

fn verdicts(visit: &Visit, order: &ExchangeOrder) -> Result<FormView, Stop> {
    Ok(outcome::verdict_form(
        visit.href(&format!("/orders/{}/decide", order.id)),
        order.is_releasable().then_some("The order continues."),
        outcome::effect(&visit.tenant()?.policy.wallet, order.minor),
    ))
}

/// The page on which a verdict is confirmed.
pub(super) async fn confirm(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(ExchangeId::parse)?);
    let order = visit.console().wallets.find_order(&caller, id).await?;
    if !order.is_withheld() {
        return outcome::outdated(&visit, &visit.href(&format!("/orders/{id}"))).await;
    }
    let pays_out = amount_text(order.payout);
    let facts = vec![
        ("Pays out", Cell::number(&pays_out)),
        ("Account holder", Cell::text(order.bank.holder.as_str())),
        ("Account", Cell::text(masked_account(&order.bank))),
    ];
    outcome::confirm(&visit, &verdicts(&visit, &order)?, &pays_out, facts, order.version).await
}

pub(super) async fn decide(visit: Visit) -> Answer {
    let (caller, id, why) =
        (visit.caller()?, visit.id(ExchangeId::parse)?, visit.why()?.to_owned());
    let approve = outcome::is_approved(&visit)?;
    let wallets = &visit.console().wallets;
    let order = wallets.find_order(&caller, id).await?;
    as_shown(&visit, order.version).await?;
    let seen = Some(order.version);
    if approve && caller.policy.wallet.needs_second(order.minor) {
        return visit
            .propose(ProposedAction::ReleaseOrder { order: id, version: seen }, &why)
            .await;
    }
    wallets.review_order(&caller, id, approve, seen, visit.deed(&why)).await?;
    let words = if approve {
        "Approved. The order continues."
    } else {
        "The order is rejected. Its tokens stay in the wallet."
    };
    Ok(visit.done(&visit.href("/review"), words))
}

pub(super) async fn resolve(visit: Visit) -> Answer {
    let (id, why) = (visit.id(ExchangeId::parse)?, visit.why()?.to_owned());
    let order = visit.console().wallets.find_order(&visit.caller()?, id).await?;
    let became = outcome::finding(&visit, order.payout)?;
    let Some(doubt) = order.open_to(&became) else {
        let is_early = order.state == ExchangeState::Paying && order.attempt.is_some();
        let state = state_phrase(order.state.name());
        let known = || format!("The order {state}: its outcome is already known.");
        return Err(Stop::Refused(if is_early { sentence(EARLY) } else { known() }));
    };
    as_shown(&visit, doubt_shown(doubt)).await?;
    visit.propose(ProposedAction::ResolveOrder { order: id, doubt, became }, &why).await
}

pub(super) async fn recredit(visit: Visit) -> Answer {
    let (id, why) = (visit.id(ExchangeId::parse)?, visit.why()?.to_owned());
    visit.console().wallets.recredit_order(&visit.caller()?, id, visit.deed(&why)).await?;
    Ok(visit.done(
        &visit.href(&format!("/orders/{id}")),
        "The tokens are being returned; the order stays settled.",
    ))
}
