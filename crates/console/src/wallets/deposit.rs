//! A deposit's story with its screening evidence, and the decisions on it: release, reject, hold, refund.
//! Releasing more than the tenant's limit and refunding require a second user (`decisions.md`,
//! "Four eyes").

use domain::chain::Address;
use domain::deposit::{Deposit, DepositState, ReviewVerdict, SeenRefund};
use domain::ids::DepositId;
use domain::names::state_phrase;
use domain::payment_request::Named;
use domain::risk::Assessment;
use engine::console::ProposedAction;
use engine::wallets::ReviewAsked;

use super::evidence::sender_card;
use super::{
    SEEN, as_shown, deposit_people, deposit_tone, evidence, history, outcome, waiting, wanted,
};
use crate::cases::Case;
use crate::payments::masked;
use crate::view::{
    Field, FormView, Moment, Section, Story, Verdict, coins, coins_text, instant, known, steps,
    story_page, words,
};
use crate::{Answer, Cell, Stop, Table, Tone, Visit, audit, case_files, cases};

/// The refund that the approver has reviewed.
const TO: &str = "seen_to";
const AMOUNT: &str = "seen_amount";

pub(super) async fn show(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(DepositId::parse)?);
    let deposit = visit.console().wallets.find_deposit(&caller, id).await?;
    let named = visit.console().wallets.named_for(&caller, &deposit).await?;
    let (title, mut story, mut sections) = story(&visit, id).await?;
    let case = Case::Deposit(id);
    story.side.insert(0, control(&visit, &deposit, &named)?);
    story.side.insert(1, cases::assignment(&visit, case).await?);
    story.links.extend(cases::file_link(&visit, case));
    sections.push(cases::notes(&visit, case).await?);
    sections.push(case_files::section(&visit, case).await?);
    sections.push(waiting(&visit, id.0).await?);
    story_page(&visit, &title, story, sections)
}

/// The title, the story and the sections below it.
pub(crate) async fn story(
    visit: &Visit,
    id: DepositId,
) -> Result<(String, Story, Vec<Section>), Stop> {
    let (caller, console) = (visit.caller()?, visit.console());
    let deposit = console.wallets.find_deposit(&caller, id).await?;
    let wallet = console.store().wallet(caller.tenant, deposit.wallet).await?;
    let customer = wallet.map_or_else(String::new, |wallet| wallet.customer_id);
    let sender = deposit.sender.name();
    let from = sender.clone().unwrap_or_else(|| "an unknown sender".to_owned());
    let mut says = vec![format!("From {from} to the wallet of customer {customer}.")];
    says.push(standing(&deposit));
    let named = console.wallets.named_for(&caller, &deposit).await?;
    let mut sections = evidence::of_deposit(visit, &deposit);
    sections.extend(deposit.assessment.as_ref().map(found));
    sections.extend(escrow(visit, &deposit).await?);
    sections.extend(wanted::section(visit, &deposit, &named).await?);
    sections.push(history::of_wallet(visit, &deposit).await?);
    let proposals = console.store().approvals_about(Some(caller.tenant), &id.to_string()).await?;
    let deeds = audit::about(visit, &[id.to_string()]).await?;
    let mut moments = moments(&deposit);
    moments.extend(audit::proposed(visit, &proposals).await?);
    moments.extend(audit::moments(visit, &deeds));
    let card = sender_card(&deposit);
    let mut side = vec![
        Section { title: card.title, facts: known(card.facts), ..Section::default() },
        Section {
            title: "Deposit".to_owned(),
            facts: known(facts(visit, &deposit)?),
            ..Section::default()
        },
    ];
    side.extend(decided(&deposit));
    side.extend(refund(&deposit));
    let state = (deposit_people(deposit.state).to_owned(), deposit_tone(deposit.state));
    let is_case = deposit.state == DepositState::InReview;
    let steps = steps(moments);
    let (list, state) = (Some((visit.href("/deposits"), "Deposits")), Some(state));
    let story = Story { list, state, says, steps, side, is_case, ..Story::default() };
    let of = sender.map_or_else(String::new, |name| format!(" · {}", masked::short_name(&name)));
    let amount = coins_text(deposit.minor, deposit.coin);
    Ok((format!("{amount}{of}"), story, sections))
}

/// What its state means.
fn standing(deposit: &Deposit) -> String {
    let score = deposit.assessment.as_ref().map_or_else(String::new, |it| {
        format!(" Screening scored {} of 100: {}.", it.score, words(it.reason.name()))
    });
    let text = match deposit.state {
        DepositState::Seen => "It is waiting for confirmations on the chain.",
        DepositState::Screening => "It is being screened.",
        DepositState::InReview => {
            return format!("It is held in escrow until a reviewer decides.{score}");
        }
        DepositState::Held => "It is held in escrow: the wallet is blocked.",
        DepositState::Suspended => "Its block left the chain. It counts again if it returns.",
        DepositState::Approved => "It is accepted and on its way to the wallet.",
        DepositState::Completed => "It is in the wallet.",
        DepositState::Rejected => {
            return format!("It is rejected and stays in escrow. It can be refunded.{score}");
        }
        DepositState::LegalHold => {
            return format!("It is frozen in escrow by a legal hold.{score}");
        }
        DepositState::Refunding => "A refund is proposed or being paid.",
        DepositState::Refunded => "It was refunded.",
        DepositState::Failed => "Its release failed.",
        DepositState::Orphaned => "Its block left the chain: it was never received.",
        DepositState::Dust => "It is too small to be worth its release.",
    };
    text.to_owned()
}

/// What the deposit's own record tells.
fn moments(deposit: &Deposit) -> Vec<Moment> {
    let amount = coins_text(deposit.minor, deposit.coin);
    let mut moments = vec![
        Moment::new(deposit.seen_at, 0, Tone::Busy, format!("{amount} arrived on the chain")),
        Moment::technical(
            deposit.seen_at,
            1,
            format!("Transaction {} from {}", deposit.tx, deposit.from),
        ),
    ];
    moments.extend(
        deposit.credited_at.map(|at| Moment::new(at, 2, Tone::Plain, "Counted at policy depth")),
    );
    moments.extend(deposit.assessment.as_ref().map(|it| {
        let tone = if it.decided_by.is_some() || deposit.decision.is_some() {
            Tone::Warn
        } else {
            Tone::Plain
        };
        Moment::new(it.at, 3, tone, format!("Screened: {}", words(it.reason.name())))
            .detail(format!("{} of 100, {}.", it.score, words(it.result.name())))
    }));
    moments.extend(deposit.completed_at.map(|at| Moment::new(at, 20, Tone::Good, "In the wallet")));
    if deposit.state == DepositState::Refunded {
        let to = deposit.refund.as_ref().map_or_else(String::new, |refund| refund.to.to_string());
        moments.push(Moment::new(deposit.state_at, 20, Tone::Good, "Refunded").detail(to));
    }
    moments
}

fn facts(visit: &Visit, deposit: &Deposit) -> Result<Vec<(&'static str, Cell)>, Stop> {
    let explorer = &visit.console().wallets.offered_on(deposit.chain)?.config.explorer_tx_url;
    let tx = |tx| Cell::id_link(format!("{explorer}{tx}"), tx);
    let request = deposit
        .request
        .map(|request| Cell::id_link(visit.href(&format!("/requests/{request}")), request));
    Ok(vec![
        ("Amount", coins(deposit.minor, deposit.coin)),
        ("Status for the bank", Cell::maybe(deposit.status().map(|status| status.name()))),
        ("Deposit", Cell::id(deposit.id)),
        (
            "Wallet",
            Cell::id_link(visit.href(&format!("/wallets/{}", deposit.wallet)), deposit.wallet),
        ),
        ("Request", request.unwrap_or(Cell::text("none; sent directly to the wallet's address"))),
        ("From", Cell::id(deposit.from)),
        ("To", Cell::id(deposit.to)),
        ("Transaction", tx(deposit.tx)),
        ("Block", deposit.place.map_or(Cell::Empty, |place| Cell::number(place.number))),
        ("First seen", Cell::When(deposit.seen_at)),
        ("Counted", instant(deposit.credited_at)),
        ("Last change", Cell::When(deposit.state_at)),
        ("In the wallet", instant(deposit.completed_at)),
        ("Released by", deposit.release_tx.map_or(Cell::Empty, tx)),
        ("Booked in", Cell::text(deposit.pot.name())),
        ("Failure reason", Cell::maybe(deposit.failure.map(|why| why.name()))),
    ])
}

/// Whether the escrow is on hold, because of this or another deposit.
async fn escrow(visit: &Visit, deposit: &Deposit) -> Result<Option<Section>, Stop> {
    let Some(id) = deposit.request else { return Ok(None) };
    let request = visit.console().store().request(visit.tenant_id()?, id).await?;
    let hold = request.map(|it| it.hold_of(&deposit.to)).unwrap_or_default();
    let says = match (hold.held_at, hold.lift) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            "The hold is lifted and is being lifted on chain. Waiting deposits of the escrow continue afterwards."
        }
        (Some(_), None) => {
            "Funds in the escrow are on legal hold. Nothing in the escrow is released or refunded."
        }
        (None, Some(_)) => "The hold was lifted, here and on chain.",
    };
    let facts = vec![("On legal hold since", instant(hold.held_at))];
    Ok(Some(Section {
        title: "Escrow".to_owned(),
        facts,
        says: vec![says.to_owned()],
        ..Section::default()
    }))
}

/// The evidence of the assessment.
fn found(assessed: &Assessment) -> Section {
    let checks =
        assessed.checks.iter().map(|check| words(check.name())).collect::<Vec<_>>().join(", ");
    let facts = vec![
        ("Score", Cell::number(format!("{} of 100, {}", assessed.score, assessed.level().name()))),
        ("Result", Cell::text(words(assessed.result.name()))),
        ("Reason", Cell::text(words(assessed.reason.name()))),
        ("Checks", Cell::text(checks)),
        ("List version", Cell::text(assessed.list_version.as_str())),
        ("Policy version", Cell::text(assessed.policy_version.as_str())),
        ("Assessed", Cell::When(assessed.at)),
        ("Decided by", Cell::maybe(assessed.decided_by.clone())),
    ];
    let row = |line: &String| {
        let (code, what) = line.split_once(": ").unwrap_or(("", line));
        vec![Cell::text(words(code)), Cell::text(what)]
    };
    let rows = assessed.evidence.iter().map(row).collect();
    let table = Table::new("Evidence", &["Finding", "Evidence"], rows).or("No findings.");
    Section { title: "Risk".to_owned(), facts, table: Some(table), ..Section::default() }
}

fn decided(deposit: &Deposit) -> Option<Section> {
    let decision = deposit.decision.as_ref()?;
    let facts = vec![
        ("Decision", Cell::text(words(decision.verdict.name()))),
        ("By", Cell::text(decision.by.as_str())),
        ("Reason", Cell::text(decision.note.as_str())),
        ("At", Cell::When(decision.at)),
    ];
    Some(Section { title: "Decision".to_owned(), facts, ..Section::default() })
}

fn refund(deposit: &Deposit) -> Option<Section> {
    let refund = deposit.refund.as_ref()?;
    let facts = vec![
        ("Refund address", Cell::id(refund.to)),
        ("Proposed by", Cell::text(refund.proposed_by.as_str())),
        ("Score of the address", Cell::number(refund.screened.score)),
        ("List version", Cell::text(refund.screened.list_version.as_str())),
        ("Proposal on chain", Cell::text(if refund.proposed { "yes" } else { "not yet" })),
        ("Approved by", Cell::maybe(refund.approved_by.clone())),
        (
            "List version at approval",
            Cell::maybe(refund.screened_again.as_ref().map(|it| it.list_version.clone())),
        ),
        ("Refund transaction", refund.tx.map_or(Cell::Empty, Cell::id)),
    ];
    Some(Section { title: "Refund".to_owned(), facts, ..Section::default() })
}

const ACCEPT: Verdict = Verdict {
    value: "approve",
    label: "Accept",
    effect: "The money goes to the wallet.",
    rare: false,
};
const REJECT: Verdict = Verdict {
    value: "reject",
    label: "Reject",
    effect: "The money stays in the escrow. It can be refunded, which takes two users.",
    rare: false,
};
const HOLD: Verdict = Verdict {
    value: "legal_hold",
    label: "Put on legal hold",
    effect: "Nothing in the escrow is released or refunded. Lifting the hold takes two users and a transaction on chain.",
    rare: true,
};
const BLOCK: Verdict = Verdict {
    value: "block",
    label: "Reject and block the wallet",
    effect: "The money stays in the escrow, and the customer's wallet is blocked. Unblocking it takes two users.",
    rare: true,
};

/// The possible decisions in its state.
fn verdicts(state: DepositState) -> &'static [Verdict] {
    match state {
        DepositState::InReview => &[ACCEPT, REJECT, HOLD, BLOCK],
        DepositState::Rejected => &[HOLD],
        _ => &[],
    }
}

/// The form of these decisions.
fn verdict_form(visit: &Visit, deposit: &Deposit) -> Result<FormView, Stop> {
    let to = visit.href(&format!("/deposits/{}/decide", deposit.id));
    let says = match deposit.state {
        DepositState::InReview => outcome::effect(&visit.tenant()?.policy.wallet, deposit.minor),
        _ => String::new(),
    };
    Ok(FormView::new("decide", "Decide", to, "")
        .says(says)
        .verdicts(verdicts(deposit.state).to_vec()))
}

/// The page on which a verdict is confirmed.
pub(super) async fn confirm(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(DepositId::parse)?);
    let console = visit.console();
    let deposit = console.wallets.find_deposit(&caller, id).await?;
    let wallet = console.store().wallet(caller.tenant, deposit.wallet).await?;
    let mut facts = vec![
        ("Amount", coins(deposit.minor, deposit.coin)),
        ("Customer", Cell::maybe(wallet.map(|wallet| wallet.customer_id))),
    ];
    facts.extend(sender_card(&deposit).facts);
    let form = verdict_form(&visit, &deposit)?;
    let about = coins_text(deposit.minor, deposit.coin);
    outcome::confirm(&visit, &form, &about, facts, deposit.state_at.0).await
}

fn control(visit: &Visit, deposit: &Deposit, named: &Named) -> Result<Section, Stop> {
    let may = |deed: &str| {
        visit.may_use("POST", &format!("/console/t/{{tenant}}/deposits/{{id}}/{deed}"))
    };
    let to = |deed: &str| visit.href(&format!("/deposits/{}/{deed}", deposit.id));
    let mut forms = Vec::new();
    let decides = !verdicts(deposit.state).is_empty() && may("decide");
    let decision = verdict_form(visit, deposit)?.field(Field::hidden(SEEN, deposit.state_at.0));
    if decides && deposit.state == DepositState::InReview {
        forms.push(decision.clone());
    }
    if deposit.has_hold_to_lift() && may("lift-hold") {
        let form = FormView::new("lift-hold", "Lift the legal hold", to("lift-hold"), "Propose to lift the hold")
            .says("Another user has to approve it. The deposit stays rejected and can be refunded. If nothing else in its escrow is on hold, the hold is lifted on chain and waiting deposits continue.");
        forms.push(form.field(Field::hidden(SEEN, deposit.state_at.0)).why().danger());
    }
    let refused = matches!(deposit.state, DepositState::Rejected | DepositState::Failed);
    if refused && deposit.request.is_some() && may("refund") {
        let form = FormView::new("refund", "Refund", to("refund"), "Propose the refund")
            .says("Enter the address that the sender has given: exchanges send from addresses that many customers share. The address is screened, and another user has to approve the refund.")
            .field(Field::line("to", "Address").holding(named.address().map(|to| to.to_string()).unwrap_or_default()));
        forms.push(form.why());
    }
    let open = deposit.refund.as_ref().filter(|refund| refund.waits_for_approval());
    if let Some(refund) = open.filter(|it| it.proposed && may("refund/approve")) {
        let form = FormView::new(
            "approve",
            "Approve the refund",
            to("refund/approve"),
            "Approve the refund",
        );
        let amount = coins_text(deposit.minor, deposit.coin);
        let says = format!("{amount} will be refunded to {}.", refund.to);
        let form = form
            .says(says)
            .field(Field::hidden(TO, refund.to))
            .field(Field::hidden(AMOUNT, deposit.minor));
        forms.push(form.why().danger());
    }
    if open.is_some() && may("refund/withdraw") {
        let form = FormView::new("withdraw", "Withdraw the proposal", to("refund/withdraw"), "Withdraw the proposal")
            .says("Nothing is refunded, and the proposal is cancelled on chain. A refund can be proposed again.");
        forms.push(form.why());
    }
    // A rejected deposit is normally refunded: its hold comes last.
    if decides && deposit.state == DepositState::Rejected {
        forms.push(decision);
    }
    Ok(Section { title: "Control".to_owned(), forms, ..Section::default() })
}

pub(super) async fn decide(visit: Visit) -> Answer {
    let (caller, id, why) = (visit.caller()?, visit.id(DepositId::parse)?, visit.why()?.to_owned());
    let verdict = ReviewVerdict::parse(visit.form().text("verdict"));
    let verdict = verdict.ok_or_else(|| Stop::Invalid("Please choose a decision.".to_owned()))?;
    let wallets = &visit.console().wallets;
    let deposit = wallets.find_deposit(&caller, id).await?;
    as_shown(&visit, deposit.state_at.0).await?;
    if !verdicts(deposit.state).iter().any(|it| it.value == verdict.name()) {
        return Err(Stop::Refused(format!(
            "The deposit {}: no decision is pending.",
            state_phrase(deposit.state.name())
        )));
    }
    let needs_second = caller.policy.wallet.needs_second(deposit.minor);
    if verdict == ReviewVerdict::Approve && needs_second {
        return visit
            .propose(
                ProposedAction::ReleaseDeposit { deposit: id, waits_since: deposit.state_at },
                &why,
            )
            .await;
    }
    let asked =
        ReviewAsked { deposit: id, seen: Some(deposit.state_at), verdict, by: visit.deed(&why) };
    wallets.decide_review(&caller, asked, None).await?;
    Ok(visit.done(
        &visit.href(&format!("/deposits/{id}")),
        &format!("Decided: {}.", words(verdict.name())),
    ))
}

pub(super) async fn lift_hold(visit: Visit) -> Answer {
    let (caller, id, why) = (visit.caller()?, visit.id(DepositId::parse)?, visit.why()?.to_owned());
    let deposit = visit.console().wallets.find_deposit(&caller, id).await?;
    as_shown(&visit, deposit.state_at.0).await?;
    visit
        .propose(ProposedAction::LiftHold { deposit: id, held_since: deposit.state_at }, &why)
        .await
}

pub(super) async fn propose_refund(visit: Visit) -> Answer {
    let (id, why) = (visit.id(DepositId::parse)?, visit.why()?.to_owned());
    let wrong = || {
        let words = "The address or its checksum is invalid. Check for a mistyped digit.";
        Stop::wrong("to", words)
    };
    let to = Address::parse_checked(visit.form().text("to")).ok_or_else(wrong)?;
    let by = visit.deed(&why);
    visit.console().wallets.propose_refund(&visit.caller()?, id, to, by).await?;
    Ok(visit
        .done(&visit.href(&format!("/deposits/{id}")), "Proposed. Another user has to approve it."))
}

pub(super) async fn approve_refund(visit: Visit) -> Answer {
    let (id, why) = (visit.id(DepositId::parse)?, visit.why()?.to_owned());
    let unseen = || {
        Stop::Invalid("Open the deposit's page and approve the refund that it shows.".to_owned())
    };
    let to = Address::parse(visit.form().text(TO)).ok_or_else(unseen)?;
    let minor = visit.form().text(AMOUNT).parse().map_err(|_| unseen())?;
    let seen = SeenRefund { to, minor: Some(minor) };
    // Login names have a single spelling, so the engine's comparison distinguishes two users.
    let by = visit.deed(&why);
    visit.console().wallets.approve_refund(&visit.caller()?, id, seen, by).await?;
    Ok(visit
        .done(&visit.href(&format!("/deposits/{id}")), "Approved. The deposit is being refunded."))
}

pub(super) async fn withdraw_refund(visit: Visit) -> Answer {
    let (id, why) = (visit.id(DepositId::parse)?, visit.why()?.to_owned());
    visit.console().wallets.withdraw_refund(&visit.caller()?, id, visit.deed(&why)).await?;
    Ok(visit
        .done(&visit.href(&format!("/deposits/{id}")), "Withdrawn. The deposit stays rejected."))
}
