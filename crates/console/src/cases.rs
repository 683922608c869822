//! Users' work on a case that waits for a decision (a payment, a deposit or an exchange order):
//! notes, who decides it until when, and the case file for printing.

use std::collections::HashMap;

use domain::audit::Note;
use domain::characters::entered;
use domain::ids::{DepositId, ExchangeId, PaymentId};
use domain::time::{Span, Timestamp};
use domain::user::{Role, Scope, User};
use engine::console::{CaseNote, CaseRef, CaseWork};
use uuid::Uuid;

use super::answer::{Answer, Stop};
use super::case_files;
use super::parts::{Cell, Table, when};
use super::payments::timeline;
use super::routes::Routes;
use super::view::{Field, FormView, Section, Story, age, known, story_page};
use super::visit::Visit;
use super::wallets::{SEEN, as_shown, deposit, order, review};

/// Maximum length of a note.
const NOTE_MAX_CHARS: usize = 500;
/// Maximum number of notes on a case.
const NOTES_MAX: usize = 200;
/// The choices of a due time: value, label, hours from now.
const DUE: [(&str, &str, i64); 5] = [
    ("1h", "in 1 hour", 1),
    ("4h", "in 4 hours", 4),
    ("1d", "in 1 day", 24),
    ("3d", "in 3 days", 72),
    ("7d", "in 7 days", 168),
];
const KEEP: &str = "keep";
const NONE: &str = "none";
/// Roles that work on cases.
pub(super) const WORKERS: [Role; 4] =
    [Role::Operator, Role::Approver, Role::Compliance, Role::Treasury];

const NOTE: &str = "/console/t/{tenant}/cases/{kind}/{id}/note";
const ASSIGN: &str = "/console/t/{tenant}/cases/{kind}/{id}/assign";
const FILE: &str = "/console/t/{tenant}/cases/{kind}/{id}";

pub(super) fn routes() -> Routes {
    Routes::new().get(FILE, file).post(NOTE, note).post(ASSIGN, assign)
}

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Payment(PaymentId),
    Deposit(DepositId),
    Order(ExchangeId),
}

impl Case {
    fn parse(kind: &str, id: &str) -> Option<Case> {
        match kind {
            "payment" => PaymentId::parse(id).map(Case::Payment),
            "deposit" => DepositId::parse(id).map(Case::Deposit),
            "order" => ExchangeId::parse(id).map(Case::Order),
            _ => None,
        }
    }

    /// In addresses, and in audit entries.
    pub(super) const fn kinds(self) -> (&'static str, &'static str) {
        match self {
            Case::Payment(_) => ("payment", "payment"),
            Case::Deposit(_) => ("deposit", "transaction"),
            Case::Order(_) => ("order", "order"),
        }
    }

    pub(super) const fn id(self) -> Uuid {
        match self {
            Case::Payment(PaymentId(id))
            | Case::Deposit(DepositId(id))
            | Case::Order(ExchangeId(id)) => id,
        }
    }

    /// The page on which it is decided.
    pub(super) fn home(self, visit: &Visit) -> String {
        visit.href(&match self {
            Case::Payment(id) => format!("/review/payments/{id}"),
            Case::Deposit(id) => format!("/deposits/{id}"),
            Case::Order(id) => format!("/orders/{id}"),
        })
    }

    pub(super) fn href(self, visit: &Visit, deed: &str) -> String {
        visit.href(&format!("/cases/{}/{}{deed}", self.kinds().0, self.id()))
    }

    pub(super) fn named(self, visit: &Visit) -> Result<CaseRef, Stop> {
        Ok(CaseRef { tenant: visit.tenant_id()?, kind: self.kinds().1, subject: self.id() })
    }

    /// The case in the address, if its record exists.
    pub(super) async fn asked(visit: &Visit) -> Result<Case, Stop> {
        let case = Case::parse(visit.param("kind"), visit.param("id")).ok_or(Stop::NotFound)?;
        let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
        let exists = match case {
            Case::Payment(id) => store.payment_record(tenant, id).await?.is_some(),
            Case::Deposit(id) => store.deposit(tenant, id).await?.is_some(),
            Case::Order(id) => store.exchange(tenant, id).await?.is_some(),
        };
        exists.then_some(case).ok_or(Stop::NotFound)
    }
}

/// The link to the case file, for users who may read it.
pub(super) fn file_link(visit: &Visit, case: Case) -> Option<(String, String)> {
    visit.may_use("GET", FILE).then(|| (case.href(visit, ""), "Case file for printing".to_owned()))
}

/// The notes on a case, with the form to add one.
pub(super) async fn notes(visit: &Visit, case: Case) -> Result<Section, Stop> {
    let found = visit.console().store().case_notes(visit.tenant_id()?, case.id()).await?;
    let mut forms = Vec::new();
    if visit.may_use("POST", NOTE) {
        let form = FormView::new("note", "Add a note", case.href(visit, "/note"), "Add note")
            .says("Notes stay with the case and cannot be changed. Senders never see them.");
        forms.push(form.field(Field::line("note", "What did you check?")));
    }
    Ok(Section { forms, ..noted(&found) })
}

fn noted(notes: &[CaseNote]) -> Section {
    let row = |note: &CaseNote| {
        vec![Cell::When(note.at), Cell::text(&note.author), Cell::text(&note.text)]
    };
    let rows = notes.iter().map(row).collect();
    let table = Table::new("Notes", &["Time", "User", "Note"], rows).or("No notes yet.");
    Section { title: "Notes".to_owned(), table: Some(table), ..Section::default() }
}

/// Who decides a case until when, with the form to change it.
pub(super) async fn assignment(visit: &Visit, case: Case) -> Result<Section, Stop> {
    let assigned = Assigned::of(visit, &[case.id()]).await?;
    let work = assigned.work(case.id());
    let mut forms = Vec::new();
    if visit.may_use("POST", ASSIGN) {
        let mut people = vec![(String::new(), "no one".to_owned())];
        people.extend(workers(visit).await?.into_iter().map(|login| (login.clone(), login)));
        let people: Vec<(&str, &str)> =
            people.iter().map(|(value, label)| (value.as_str(), label.as_str())).collect();
        let assignee = work.assignee.clone().unwrap_or_default();
        let now = visit.console().now();
        let unchanged = work.due_at.map_or("no due time".to_owned(), |at| due_words(at, now));
        let mut dues = vec![(KEEP, unchanged.as_str())];
        dues.extend(DUE.map(|(value, label, _)| (value, label)));
        if work.due_at.is_some() {
            dues.push((NONE, "no due time"));
        }
        let form = FormView::new("assign", "", case.href(visit, "/assign"), "Assign")
            .field(Field::choice("assignee", "Assigned to", &people).optional().holding(assignee))
            .field(Field::choice("due", "Due", &dues).holding(KEEP))
            .field(Field::hidden(SEEN, shown(&work)));
        forms.push(form);
    }
    Ok(Section { forms, ..assigned_section(&work) })
}

/// An assignment in the format of [`SEEN`].
fn shown(work: &CaseWork) -> String {
    let due = work.due_at.map_or(0, |at| at.0).to_string();
    match &work.assignee {
        Some(assignee) => format!("{due} {assignee}"),
        None => due,
    }
}

fn assigned_section(work: &CaseWork) -> Section {
    let due = work.due_at.map_or(Cell::Empty, Cell::When);
    let facts = vec![("Assigned to", Cell::maybe(work.assignee.clone())), ("Due", due)];
    Section { title: "Assignment".to_owned(), facts: known(facts), ..Section::default() }
}

/// Users who may work on cases of the tenant.
async fn workers(visit: &Visit) -> Result<Vec<String>, Stop> {
    let tenant = visit.tenant_id()?;
    let all = visit.console().store().users().await?;
    let works = |user: &User| {
        let is_own = user.scope == Scope::All || user.scope == Scope::Tenant(tenant);
        is_own && user.has_any(&WORKERS)
    };
    let users = all.into_iter().filter(|it| it.disabled_at.is_none() && works(&it.user));
    Ok(users.map(|it| it.user.login).collect())
}

/// Who works on several cases.
pub(super) struct Assigned(HashMap<Uuid, CaseWork>);

impl Assigned {
    pub(super) async fn of(visit: &Visit, cases: &[Uuid]) -> Result<Assigned, Stop> {
        let found = visit.console().store().case_work(visit.tenant_id()?, cases).await?;
        Ok(Assigned(found.into_iter().collect()))
    }

    fn work(&self, case: Uuid) -> CaseWork {
        self.0.get(&case).cloned().unwrap_or_default()
    }

    /// The assignee and the due time in a sentence; empty without both.
    pub(super) fn words(&self, case: Uuid, now: Timestamp) -> String {
        let work = self.work(case);
        let due = work.due_at.map(|at| due_words(at, now));
        match (work.assignee, due) {
            (Some(assignee), Some(due)) => format!("Assigned to {assignee}, {due}."),
            (Some(assignee), None) => format!("Assigned to {assignee}."),
            (None, Some(due)) => format!("Not assigned, {due}."),
            (None, None) => String::new(),
        }
    }

    /// The same for a table.
    pub(super) fn cell(&self, case: Uuid, now: Timestamp) -> Cell {
        let words = self.words(case, now);
        Cell::maybe((!words.is_empty()).then_some(words))
    }
}

fn due_words(at: Timestamp, now: Timestamp) -> String {
    match at <= now {
        true => format!("overdue since {}", age(at, now)),
        false => format!("due in {}", age(now, at)),
    }
}

async fn note(visit: Visit) -> Answer {
    let case = Case::asked(&visit).await?;
    let rule = || Stop::Invalid(format!("Note: enter 1 to {NOTE_MAX_CHARS} printable characters."));
    let text = entered(visit.form().text("note"), NOTE_MAX_CHARS).ok_or_else(rule)?;
    let store = visit.console().store();
    let deed = visit.deed("");
    let known = store.case_notes(visit.tenant_id()?, case.id()).await?;
    // A form that was sent twice.
    let is_repeated =
        known.last().is_some_and(|last| last.text == text && last.author == deed.person());
    if !is_repeated {
        if known.len() >= NOTES_MAX {
            let rule = format!("A case has at most {NOTES_MAX} notes: attach a file for more.");
            return Err(Stop::Invalid(rule));
        }
        store.add_case_note(case.named(&visit)?, text, deed).await?;
    }
    Ok(visit.done(&case.home(&visit), "The note is added."))
}

async fn assign(visit: Visit) -> Answer {
    let case = Case::asked(&visit).await?;
    let assignee = visit.form().given("assignee").map(str::to_owned);
    if let Some(login) = &assignee
        && !workers(&visit).await?.contains(login)
    {
        return Err(Stop::Invalid("Assigned to: choose a user who works on cases.".to_owned()));
    }
    let before = Assigned::of(&visit, &[case.id()]).await?.work(case.id());
    as_shown(&visit, shown(&before)).await?;
    let due_at = match visit.form().text("due") {
        KEEP => before.due_at,
        NONE => None,
        value => {
            let chosen = DUE.iter().find(|(name, ..)| *name == value);
            let wrong = || Stop::Invalid("Due: choose one of the times.".to_owned());
            let (.., hours) = chosen.ok_or_else(wrong)?;
            Some(visit.console().now() + Span::hours(*hours))
        }
    };
    let (work, store) = (CaseWork { assignee, due_at }, visit.console().store());
    store.set_case_work(case.named(&visit)?, &work, visit.deed("")).await?;
    Ok(visit.done(&case.home(&visit), "The assignment is changed."))
}

/// All that is known about a case on one page without forms.
async fn file(visit: Visit) -> Answer {
    let case = Case::asked(&visit).await?;
    let (title, mut story, mut sections) = match case {
        Case::Payment(id) => {
            let (title, story, below) = timeline::story(&visit, id).await?;
            let evidence = review::payment_evidence(&visit, id).await?;
            (title, story, [evidence, below].concat())
        }
        Case::Deposit(id) => deposit::story(&visit, id).await?,
        Case::Order(id) => order::story(&visit, id).await?,
    };
    let store = visit.console().store();
    let found = store.case_notes(visit.tenant_id()?, case.id()).await?;
    sections.insert(0, noted(&found));
    sections.insert(1, case_files::section(&visit, case).await?);
    let assigned = Assigned::of(&visit, &[case.id()]).await?;
    story.side.push(assigned_section(&assigned.work(case.id())));
    for section in story.side.iter_mut().chain(&mut sections) {
        section.forms.clear();
        section.filters = None;
    }
    // A receipt is nothing but a form; bookings and deliveries have pages of their own.
    story.side.retain(|section| !section.facts.is_empty());
    sections.retain(|section| !["Ledger", "Webhooks"].contains(&section.title.as_str()));
    story.steps.iter_mut().for_each(|step| step.log.clear());
    let (now, who) = (when(visit.console().now()), visit.who());
    story.says.push(format!("Case file, compiled by {who} on {now} UTC."));
    story.links = vec![(case.home(&visit), "Back to the case".to_owned())];
    let (_, kind) = case.kinds();
    visit.took(Note::new("export.case", kind, case.id())).await?;
    story_page(
        &visit,
        &format!("Case file: {title}"),
        Story { is_fixed: true, is_case: true, ..story },
        sections,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, encoded};

    #[test]
    fn an_assignment_is_a_sentence() {
        let id = Uuid::from_u128(7);
        let now = Timestamp(0);
        let told = |assignee: Option<&str>, due_at: Option<i64>| {
            let due_at = due_at.map(|minutes| now + Span::mins(minutes));
            let work = CaseWork { assignee: assignee.map(str::to_owned), due_at };
            Assigned(HashMap::from([(id, work)])).words(id, now)
        };
        assert_eq!(told(Some("ayesha"), Some(48)), "Assigned to ayesha, due in 48 min.");
        assert_eq!(told(Some("ayesha"), None), "Assigned to ayesha.");
        assert_eq!(told(None, Some(-125)), "Not assigned, overdue since 2 h 5 min.");
        assert_eq!(told(None, None), "");
        assert_eq!(Assigned(HashMap::new()).words(id, now), "");
    }

    #[test]
    fn what_a_page_shows_of_an_assignment_survives_its_form() {
        let assignees = [None, Some("ayesha"), Some("omar")];
        let mut all = Vec::new();
        for (assignee, due_at) in assignees.into_iter().flat_map(|it| [(it, None), (it, Some(7))]) {
            let assignee = assignee.map(str::to_owned);
            let text = shown(&CaseWork { assignee, due_at: due_at.map(Timestamp) });
            let form = Form::of(&format!("{SEEN}={}", encoded(&text)));
            assert_eq!(form.given(SEEN), Some(text.as_str()));
            assert!(!all.contains(&text), "{text}");
            all.push(text);
        }
    }

    #[test]
    fn a_case_is_named_by_kind_and_id() {
        let id = "6f0c0000-0000-4000-8000-000000000000";
        let case = Case::parse("deposit", id).expect("a case");
        assert_eq!((case.kinds().1, case.id().to_string().as_str()), ("transaction", id));
        for (kind, id) in [("wallet", id), ("payment", "x"), ("", "")] {
            assert_eq!(Case::parse(kind, id), None, "{kind} {id}");
        }
    }
}
