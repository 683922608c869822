//! "Needs you": everything that waits for a user in one list, the oldest first, and its counts for
//! the navigation.

use askama::Template;
use domain::delivery::DeliveryState;
use domain::deposit::Deposit;
use domain::exchange::ExchangeOrder;
use domain::ids::TenantId;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use domain::user::Scope;
use domain::wallet_effects::Alert;
use domain::webhook::shown_url;
use engine::console::{Approval, Denied};
use engine::payments::{Record, StoreError};
use engine::wallets::{Page, Tenant, Webhook};
use uuid::Uuid;

use super::answer::{Answer, html};
use super::cases::Assigned;
use super::layout::Frame;
use super::parts::{Cell, Tone, ago};
use super::payments::masked;
use super::routes::Routes;
use super::state::Console;
use super::view::{amount_text, coins_text, words};
use super::visit::Visit;

/// Maximum number of entries of a kind that are counted and shown.
pub(super) const MOST: usize = 200;
/// The scope of proposals about the installation.
const INSTALLATION: Scope = Scope::Tenant(TenantId(Uuid::nil()));

const ROUTE: &str = "/console/t/{tenant}/inbox";

pub(super) fn routes() -> Routes {
    Routes::new().get(ROUTE, show)
}

/// An entry of the list.
struct Task {
    since: Timestamp,
    tone: Tone,
    icon: &'static str,
    title: String,
    /// Why it waits for a user.
    why: String,
    href: String,
    /// What the user does there.
    deed: &'static str,
}

#[derive(Template)]
#[template(path = "console/inbox.html")]
struct InboxPage {
    frame: Frame,
    /// With the age of each.
    tasks: Vec<(Task, String)>,
    /// Other tenants at which something waits: name, link to their list, and how much.
    elsewhere: Vec<(String, String, u64)>,
}

async fn show(visit: Visit) -> Answer {
    let (console, tenant, now) = (visit.console(), visit.tenant_id()?, visit.console().now());
    let store = console.store();
    let page = Page { page: 0, limit: u32::try_from(MOST).unwrap_or(u32::MAX) };
    let mut tasks: Vec<Task> = Vec::new();
    let deposits = console.wallets.reviews(&visit.caller()?, page).await?;
    let held = store.payments_in_review(tenant, None, MOST).await?;
    let orders = store.orders_in_review(tenant, None, MOST).await?;
    let mut cases: Vec<Uuid> = deposits.rows.iter().map(|it| it.id.0).collect();
    cases.extend(held.rows.iter().map(|it| it.payment.id.0));
    cases.extend(orders.rows.iter().map(|it| it.id.0));
    let assigned = Assigned::of(&visit, &cases).await?;
    let mark = |task: Task, case: Uuid| task.with_assignment(&assigned.words(case, now));
    tasks.extend(deposits.rows.iter().map(|it| mark(review(&visit, it), it.id.0)));
    tasks.extend(held.rows.iter().map(|it| mark(payment(&visit, it), it.payment.id.0)));
    tasks.extend(orders.rows.iter().map(|it| mark(order(&visit, it), it.id.0)));
    let refunds = store.refunds_waiting(tenant, MOST).await?;
    tasks.extend(refunds.iter().map(|deposit| refund(&visit, deposit)));
    let failed = store.failed_releases(tenant, MOST).await?;
    tasks.extend(failed.iter().map(|deposit| failed_release(&visit, deposit)));
    let scope = visit.user()?.scope;
    tasks.extend(approvals(console, tenant, scope).await?.iter().map(|it| approval(&visit, it)));
    let alerts = store.alerts(tenant, MOST).await?;
    tasks.extend(alerts.iter().map(|(at, it)| alert(&visit, *at, it)));
    tasks.extend(endpoint(console, tenant).await?.map(|it| failing(&visit, it)));
    tasks.sort_by_key(|task| task.since);
    let aged = |task: Task| {
        let age = ago(task.since, now);
        (task, age)
    };
    let tasks = tasks.into_iter().map(aged).collect();
    let link = |(tenant, waiting): (&Tenant, u64)| {
        (tenant.name.clone(), ROUTE.replace("{tenant}", &tenant.tag), waiting)
    };
    let elsewhere = visit.waiting_elsewhere().into_iter().map(link).collect();
    html(&InboxPage { frame: visit.frame("Needs you"), tasks, elsewhere })
}

/// Open proposals about the tenant or the installation.
async fn approvals(
    console: &Console,
    tenant: TenantId,
    scope: Scope,
) -> Result<Vec<Approval>, Denied> {
    let mut found = console.desk.list(Scope::Tenant(tenant), true, MOST).await?;
    if scope == Scope::All {
        found.extend(console.desk.list(INSTALLATION, true, MOST).await?);
    }
    Ok(found)
}

/// An endpoint that needs attention.
struct Failing {
    webhook: Webhook,
    lost: Lost,
}

/// Events that were not delivered.
struct Lost {
    /// Not accepted, and not sent again without a user.
    dead: u64,
    /// Not accepted yet, and attempted again by itself.
    retried: u64,
    /// Never sent, because there was no endpoint in use.
    unsent: u64,
}

impl Lost {
    fn words(&self) -> String {
        let events =
            |count: u64| format!("{count} {}", if count == 1 { "event" } else { "events" });
        let parts = [
            (self.dead, "not accepted and not sent again"),
            (self.retried, "not accepted yet and sent again"),
            (self.unsent, "not sent, because no endpoint was in use"),
        ];
        let known = parts.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> =
            known.map(|(count, what)| format!("{} {what}", events(count))).collect();
        if told.is_empty() { String::new() } else { format!("{}.", told.join(", ")) }
    }
}

async fn endpoint(console: &Console, tenant: TenantId) -> Result<Option<Failing>, StoreError> {
    let Some(webhook) = console.store().webhook(tenant).await? else { return Ok(None) };
    let counts = console.store().undelivered_counts(tenant).await?;
    let of =
        |wanted| counts.iter().filter(|(state, _)| *state == wanted).map(|it| it.1).sum::<u64>();
    let lost = Lost {
        dead: of(DeliveryState::Dead),
        retried: console.store().failing_deliveries(tenant).await?,
        unsent: of(DeliveryState::Disabled),
    };
    // A sandbox's tenant without a URL has not asked for webhooks yet.
    let fails = lost.dead > 0 || lost.unsent > 0 || webhook.disabled.is_some();
    Ok((fails && !webhook.url.is_empty()).then_some(Failing { webhook, lost }))
}

fn review(visit: &Visit, deposit: &Deposit) -> Task {
    let assessed = deposit.assessment.as_ref();
    let from = deposit.sender.name();
    let from = from.map_or_else(String::new, |name| format!(" from {}", masked::name(&name)));
    Task {
        since: deposit.state_at,
        tone: Tone::Warn,
        icon: "review",
        title: format!("Review {}{from}", coins_text(deposit.minor, deposit.coin)),
        why: assessed.map_or_else(String::new, |it| {
            format!("Score {} of 100: {}.", it.score, words(it.reason.name()))
        }),
        href: visit.href(&format!("/deposits/{}", deposit.id)),
        deed: "Review",
    }
}

fn payment(visit: &Visit, record: &Record) -> Task {
    let payment = &record.payment;
    let amount = amount_text(payment.amount);
    let to = format!("{amount} to {}", masked::name(&record.order.beneficiary_name));
    let is_unknown = payment.standing.state == PaymentState::Unknown;
    let (title, why, deed) = if is_unknown {
        let why = "Check the bank statement, then record the outcome. Two users decide.";
        (format!("No confirmation from the bank for {to}"), why.to_owned(), "Record outcome")
    } else {
        let why = format!("Score {} of 100.", payment.screened.score);
        (format!("Review {to}"), why, "Review")
    };
    Task {
        since: payment.accepted_at,
        tone: if is_unknown { Tone::Bad } else { Tone::Warn },
        icon: if is_unknown { "help" } else { "review" },
        title,
        why,
        href: visit.href(&format!("/review/payments/{}", payment.id)),
        deed,
    }
}

fn order(visit: &Visit, order: &ExchangeOrder) -> Task {
    let amount = amount_text(order.payout);
    let to = format!("{amount} to {}", masked::name(&order.bank.holder));
    let held = order.is_withheld();
    Task {
        since: order.state_at,
        tone: if held { Tone::Warn } else { Tone::Bad },
        icon: "order",
        title: match held {
            true => format!("Review the exchange of {to}"),
            false => format!("No confirmation from the bank for {to}"),
        },
        why: match held {
            true => "Held by screening.".to_owned(),
            false => "Ask the bank, then record the outcome. Two users decide.".to_owned(),
        },
        href: visit.href(&format!("/orders/{}", order.id)),
        deed: if held { "Review" } else { "Record outcome" },
    }
}

fn refund(visit: &Visit, deposit: &Deposit) -> Task {
    let by = deposit.refund.as_ref().map_or("", |refund| refund.proposed_by.as_str());
    Task {
        since: deposit.state_at,
        tone: Tone::Busy,
        icon: "deposit",
        title: format!("Approve a refund of {}", coins_text(deposit.minor, deposit.coin)),
        why: format!("Proposed by {by}. Another user approves it."),
        href: visit.href(&format!("/deposits/{}", deposit.id)),
        deed: "Approve",
    }
}

fn failed_release(visit: &Visit, deposit: &Deposit) -> Task {
    let (why, deed) = match deposit.has_hold_to_lift() {
        true => ("The money is still in escrow, on legal hold.", "View"),
        false => ("The money is still in escrow. Refund it to the sender.", "Refund"),
    };
    Task {
        since: deposit.state_at,
        tone: Tone::Bad,
        icon: "deposit",
        title: format!("Release of {} failed", coins_text(deposit.minor, deposit.coin)),
        why: why.to_owned(),
        href: visit.href(&format!("/deposits/{}", deposit.id)),
        deed,
    }
}

fn approval(visit: &Visit, approval: &Approval) -> Task {
    let own = approval.maker.login == visit.who();
    let by = if own {
        "You proposed this; another user approves it".to_owned()
    } else {
        format!("Proposed by {}", approval.maker.login)
    };
    Task {
        since: approval.created_at,
        tone: Tone::Busy,
        icon: "approve",
        title: approval.deed.title().to_owned(),
        why: format!("{by}: {}", approval.why),
        href: format!("/console/approvals/{}", approval.id),
        deed: if own { "View" } else { "Approve" },
    }
}

fn alert(visit: &Visit, at: Timestamp, alert: &Alert) -> Task {
    Task {
        since: at,
        tone: Tone::Bad,
        icon: "alert",
        title: format!("Alert: {}", words(alert.kind.name())),
        why: alert.what.clone(),
        href: visit.href(&format!("/alerts?alert={}", alert.id())),
        deed: "View",
    }
}

fn failing(visit: &Visit, Failing { webhook, lost }: Failing) -> Task {
    let url = shown_url(&webhook.url);
    let (since, title) = match &webhook.disabled {
        Some((since, _)) => (*since, format!("Webhooks to {url} are off")),
        None if lost.dead > 0 => {
            (visit.console().now(), format!("{url} did not accept every event"))
        }
        None => (visit.console().now(), format!("Not every event was sent to {url}")),
    };
    Task {
        since,
        tone: Tone::Bad,
        icon: "webhook",
        title,
        why: lost.words(),
        href: visit.href("/webhooks"),
        deed: "View",
    }
}

impl Task {
    /// Adds a sentence about who works on it.
    fn with_assignment(mut self, words: &str) -> Task {
        if !words.is_empty() {
            self.why = format!("{} {words}", self.why);
        }
        self
    }

    fn at(&self) -> String {
        Cell::When(self.since).instant()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_counted_by_why_they_are_lost() {
        for ((dead, retried, unsent), words) in [
            ((0, 0, 0), ""),
            ((0, 0, 52), "52 events not sent, because no endpoint was in use."),
            (
                (1, 30, 0),
                "1 event not accepted and not sent again, 30 events not accepted yet and sent again.",
            ),
        ] {
            assert_eq!(Lost { dead, retried, unsent }.words(), words);
        }
    }
}
