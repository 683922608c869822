//! The forms in which reviewers decide about a payment or an exchange order: release or reject what
//! screening holds, and record an outcome that the bank left unknown.

use domain::attempt::UnresolvedAttempt;
use domain::coin_amount;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::rail::{Finding, RailStatus};
use domain::wallet_policy::WalletPolicy;

use super::{SEEN, doubt_shown, is_as_shown, modified};
use crate::parts::grouped;
use crate::view::{Field, FormView, Section, Verdict, page};
use crate::{Answer, Cell, Stop, Visit, typed_amount};

/// The possible outcomes: value, label and meaning.
const BECAME: [(&str, &str, RailStatus); 6] = [
    ("processing", "the bank has it and will report", RailStatus::Accepted),
    ("succeeded", "it was paid", RailStatus::Settled),
    (REJECTED, "the bank never accepted it", RailStatus::Rejected),
    ("failed", "the bank accepted it and did not pay", RailStatus::Rejected),
    ("reversed", "it was cancelled and refunded", RailStatus::Cancelled),
    (RETURNED, "it was paid and came back", RailStatus::Returned),
];
const REJECTED: &str = "rejected";
/// The only outcome that can be recorded about a payment or a payout that is known as paid.
const RETURNED: &str = "returned";
const REFERENCE: &str = "reference";
const CHARGES: &str = "charges";
const REFERENCE_MAX_CHARS: usize = 140;

/// The form that proposes an outcome for the attempt that the page shows.
pub(super) fn form(
    title: &'static str,
    action: String,
    is_unknown: bool,
    doubt: Option<UnresolvedAttempt>,
) -> FormView {
    let fits = |it: &&(&str, &str, RailStatus)| is_unknown || it.0 == RETURNED;
    let choices: Vec<(&str, &str)> =
        BECAME.iter().filter(fits).map(|(value, words, _)| (*value, *words)).collect();
    let form = FormView::new("resolve", title, action, "Propose")
        .says("Only with evidence, such as the bank statement. Another user has to approve it.")
        .field(Field::choice("became", "Outcome", &choices).unchosen())
        .field(Field::line(REFERENCE, "Bank reference, if it was paid").optional())
        .field(Field::line(CHARGES, "Charges that the bank deducted from the return").optional());
    let form = match doubt {
        Some(doubt) => form.field(Field::hidden(SEEN, doubt_shown(doubt))),
        None => form,
    };
    form.why().danger()
}

fn became(visit: &Visit) -> Result<RailStatus, Stop> {
    let wanted = visit.form().text("became");
    let found = BECAME.iter().find(|(value, ..)| *value == wanted);
    found
        .map(|(.., status)| status.clone())
        .ok_or_else(|| Stop::wrong("became", "Please choose the outcome."))
}

/// The outcome in the form about a payment or a payout of this amount.
pub(super) fn finding(visit: &Visit, amount: Money) -> Result<Finding, Stop> {
    let status = became(visit)?;
    let text = |name: &str| Some(visit.form().text(name).trim()).filter(|text| !text.is_empty());
    let reference = text(REFERENCE).map(str::to_owned);
    if reference.is_some() && status != RailStatus::Settled {
        let words = "A bank reference requires the outcome that it was paid.";
        return Err(Stop::wrong(REFERENCE, words));
    }
    if reference.as_ref().is_some_and(|reference| reference.chars().count() > REFERENCE_MAX_CHARS) {
        let words = format!("A bank reference has at most {REFERENCE_MAX_CHARS} characters.");
        return Err(Stop::wrong(REFERENCE, words));
    }
    let charges = match text(CHARGES) {
        None => 0,
        Some(_) if status != RailStatus::Returned => {
            let words = "Charges require the outcome that it was returned.";
            return Err(Stop::wrong(CHARGES, words));
        }
        Some(text) => {
            let charges = typed_amount(text)
                .and_then(|text| Decimal::parse(&text).ok())
                .and_then(|value| Money::exact(value, amount.currency));
            let charges =
                charges.filter(|charges| charges.minor > 0 && charges.minor < amount.minor);
            let rule =
                || Stop::wrong(CHARGES, "Charges must be more than 0 and less than the amount.");
            charges.ok_or_else(rule)?.minor
        }
    };
    let never_accepted = visit.form().text("became") == REJECTED;
    Ok(Finding { status, never_accepted, reference, charges })
}

/// The effect of a decision.
pub(super) const AT_ONCE: &str = "The decision takes effect at once.";

/// The effect of a decision about this amount under the tenant's policy.
pub(super) fn effect(policy: &WalletPolicy, minor: i64) -> String {
    if !policy.needs_second(minor) {
        return AT_ONCE.to_owned();
    }
    let limit = grouped(&coin_amount::show(policy.second_person_above));
    format!(
        "The amount exceeds {limit}: releasing it requires a second user. Other decisions take effect at once."
    )
}

/// The form that releases or rejects what screening holds. Without `approve` it can only be
/// rejected. `approve` is the consequence of a release.
pub(super) fn verdict_form(
    action: String,
    approve: Option<&'static str>,
    effect: impl Into<String>,
) -> FormView {
    let approve =
        approve.map(|effect| Verdict { value: APPROVE, label: "Approve", effect, rare: false });
    let verdicts = approve.into_iter().chain([REJECTION]).collect();
    FormView::new("decide", "Decide", action, "").says(effect).verdicts(verdicts)
}

const APPROVE: &str = "approve";
const REJECTION: Verdict =
    Verdict { value: "reject", label: "Reject", effect: "Nothing is paid out.", rare: false };

/// The decision in that form.
pub(super) fn is_approved(visit: &Visit) -> Result<bool, Stop> {
    match visit.form().text("verdict") {
        APPROVE => Ok(true),
        "reject" => Ok(false),
        _ => Err(Stop::Invalid("Please choose a decision.".to_owned())),
    }
}

/// The page on which a chosen verdict is confirmed: what it is about, the effect, and the reason.
/// It carries the state that the reviewer saw: opened without it, the current one.
pub(super) async fn confirm(
    visit: &Visit,
    form: &FormView,
    about: &str,
    facts: Vec<(&'static str, Cell)>,
    now: impl ToString,
) -> Answer {
    let now = now.to_string();
    let back = form.action.trim_end_matches("/decide").to_owned();
    if !is_as_shown(visit, &now) {
        return outdated(visit, &back).await;
    }
    let wanted = visit.query().text("verdict");
    let verdict = form.verdicts.iter().find(|verdict| verdict.value == wanted);
    let verdict = verdict.ok_or_else(|| {
        Stop::Refused("This decision is not pending. Please review it again.".to_owned())
    })?;
    let title = format!("{} {about}?", verdict.label);
    let confirmed = FormView::new("confirm", "", form.action.clone(), verdict.label)
        .says(format!("{} {}", verdict.effect, form.says).trim_end())
        .field(Field::hidden("verdict", verdict.value))
        .field(Field::hidden(SEEN, now))
        .why();
    let confirmed = if verdict.value == APPROVE { confirmed } else { confirmed.danger() };
    let sections = vec![
        Section { facts, ..Section::default() },
        Section {
            forms: vec![confirmed],
            links: vec![(back, "Back without a decision".to_owned())],
            ..Section::default()
        },
    ];
    page(visit, &title, sections)
}

/// Leads back to a case that another user has decided.
pub(super) async fn outdated(visit: &Visit, case: &str) -> Answer {
    if visit.is_refresh() {
        return Err(Stop::Refused(modified(visit).await?));
    }
    Ok(visit.done(case, &modified(visit).await?))
}
