//! Onboarding of a tenant: a guided sequence of pages over the console's ordinary forms, and the
//! go-live checklist. Both show what the system knows; there is no draft that could differ from it,
//! so that the setup can be left and continued at any time.

use askama::Template;
use domain::characters::entered;
use domain::currency::StableCoin;

use self::checks::{Check, Standing};
use super::layout::Frame;
use super::parts::{Cell, Table};
use super::routes::Routes;
use super::view::{Field, FieldKind, FormView, Section, page, retried};
use super::visit::Visit;
use super::{Answer, Stop, html};

mod chain;
mod checks;
mod steps;

/// The hidden field of forms that lead back to their step.
pub(super) const STEP: &str = "step";
const NAME_MAX_CHARS: usize = 80;
const TENANTS: &str = "/console/tenants";

/// The steps: name and title. The last one is not a page of its own.
const STEPS: [(&str, &str); 9] = [
    ("tenant", "Tenant and brand"),
    ("policy", "Policy and limits"),
    ("keys", "Keys"),
    ("prefund", "Prefund"),
    ("webhooks", "Webhooks"),
    ("corridors", "Corridors and rates"),
    ("chain", "Wallets and chain"),
    ("people", "Users"),
    ("service", "Service"),
];
const PAGES: usize = STEPS.len() - 1;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get(TENANTS, tenants)
        .post(TENANTS, create)
        .get("/console/t/{tenant}/setup", checklist)
        .get("/console/t/{tenant}/setup/{step}", step)
}

/// A group of the checklist.
struct Group {
    title: &'static str,
    checks: Vec<Check>,
}

#[derive(Template)]
#[template(path = "console/setup/checklist.html")]
struct ChecklistPage {
    frame: Frame,
    says: String,
    groups: Vec<Group>,
    /// The first step that lacks something.
    next: Option<(String, &'static str)>,
}

/// A step in the row above its page.
struct Mark {
    href: String,
    title: &'static str,
    standing: Standing,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "console/setup/step.html")]
struct StepPage {
    frame: Frame,
    marks: Vec<Mark>,
    says: &'static str,
    checks: Vec<Check>,
    sections: Vec<Section>,
    back: Option<(String, &'static str)>,
    next: (String, &'static str),
}

impl StepPage {
    /// The step's own forms are among others: *Continue* is the page's first choice.
    const fn is_primary(&self, _form: &FormView) -> bool {
        false
    }
}

/// How a step stands: as the worst of its requirements.
fn standing(checks: &[Check], step: &str) -> Standing {
    let of = checks.iter().filter(|check| check.step == step).map(|check| check.standing);
    of.min().unwrap_or(Standing::Unused)
}

fn href(visit: &Visit, step: usize) -> (String, &'static str) {
    match STEPS.get(step).filter(|_| step < PAGES) {
        Some((name, title)) => (visit.href(&format!("/setup/{name}")), title),
        None => (visit.href("/setup"), "Go-live checklist"),
    }
}

async fn checklist(visit: Visit) -> Answer {
    let all = checks::all(&visit).await?;
    let count = |standing| all.iter().filter(|check| check.standing == standing).count();
    let (missing, attention) = (count(Standing::Missing), count(Standing::Attention));
    let says = match (missing, attention) {
        (0, 0) => "Everything is in place.".to_owned(),
        (0, more) => format!("Nothing is missing. To be checked: {more}."),
        (missing, 0) => format!("Missing: {missing}."),
        (missing, more) => format!("Missing: {missing}. To be checked: {more}."),
    };
    let first = (0..PAGES).find(|step| standing(&all, STEPS[*step].0) == Standing::Missing);
    let group = |(name, title): (&'static str, &'static str)| {
        let checks = all.iter().filter(|check| check.step == name).cloned().collect();
        Group { title, checks }
    };
    html(&ChecklistPage {
        frame: visit.frame("Go-live checklist"),
        says,
        groups: STEPS.map(group).into(),
        next: first.map(|step| href(&visit, step)),
    })
}

async fn step(visit: Visit) -> Answer {
    let asked = visit.param(STEP);
    let at = STEPS[..PAGES].iter().position(|(name, _)| *name == asked).ok_or(Stop::NotFound)?;
    let (name, title) = STEPS[at];
    let all = checks::all(&visit).await?;
    let mark = |step: usize| {
        let (href, title) = href(&visit, step);
        let standing = standing(&all, STEPS[step].0);
        Mark { href, title, standing, is_here: step == at }
    };
    let marks = (0..PAGES).map(mark).collect();
    let mut sections = steps::sections(&visit, name).await?;
    for form in sections.iter_mut().flat_map(|section| &mut section.forms) {
        form.fields.push(Field::hidden(STEP, name));
    }
    let (frame, sections) = retried(&visit, title, sections);
    let checks = all.into_iter().filter(|check| check.step == name).collect();
    let back = at.checked_sub(1).map(|step| href(&visit, step));
    let says = steps::says(name);
    html(&StepPage { frame, marks, says, checks, sections, back, next: href(&visit, at + 1) })
}

/// The tenants, with the form to add one.
async fn tenants(visit: Visit) -> Answer {
    let row = |tenant: &std::sync::Arc<engine::wallets::Tenant>| {
        let below = |path: &str| format!("/console/t/{}{path}", tenant.tag);
        let waiting = match visit.waiting_at(tenant.id) {
            0 => Cell::Empty,
            count => Cell::link(below("/inbox"), count.to_string()),
        };
        vec![
            Cell::link(below("/setup"), &tenant.name),
            waiting,
            Cell::id(&tenant.tag),
            Cell::text(tenant.policy.settlement_coin.currency().code()),
            Cell::number(tenant.policy.wallet.version),
            Cell::link(below("/overview"), "Overview"),
        ]
    };
    let rows = visit.tenants().iter().map(row).collect();
    let head = ["Tenant", "Waiting", "Tag", "Settles in", "Policy version", "Figures"];
    let table = Table::new("Tenants", &head, rows).or("No tenants yet.");
    let mut sections = vec![Section { table: Some(table), ..Section::default() }];
    if visit.may_use("POST", TENANTS) {
        let coins = StableCoin::ALL.map(|coin| coin.currency().code()).map(|code| (code, code));
        let usual = StableCoin::Usdt.currency().code();
        let coin = Field::choice("coin", "Payments are settled in", &coins).holding(usual);
        let form = FormView::new("tenant", "Add a tenant", TENANTS.to_owned(), "Add tenant")
            .says("A bank or remittance company with keys, prefund and policy of its own. It cannot do anything until it has a key.")
            .field(Field::line("name", "Name"))
            .field(Field::line("tag", "Tag, the first part of its keys"))
            .field(coin)
            .why();
        sections.push(Section { forms: vec![form], ..Section::default() });
    }
    page(&visit, "Tenants", sections)
}

async fn create(visit: Visit) -> Answer {
    let (form, why) = (visit.form(), visit.why()?);
    let tag = form.text("tag");
    let rule =
        || Stop::wrong("name", format!("Name: enter 1 to {NAME_MAX_CHARS} printable characters."));
    let name = entered(form.text("name"), NAME_MAX_CHARS).ok_or_else(rule)?;
    let unknown = || Stop::wrong("coin", "Please choose the stablecoin.");
    let coin = StableCoin::parse(form.text("coin")).ok_or_else(unknown)?;
    if visit.console().store().tenant_by_tag(tag).await?.is_some() {
        return Err(Stop::wrong("tag", "Tag: another tenant has it."));
    }
    let outside = &visit.console().outside;
    let made = outside.create_tenant(tag, name, coin, visit.deed(why)).await;
    let made = made.map_err(Stop::Invalid)?;
    let to = format!("/console/t/{}/setup/tenant", made.tag);
    Ok(visit.done(&to, "The tenant is added. Continue with its setup, now or later."))
}
