//! What a tenant needs before it goes live, read from facts: what is stored, what is configured, what
//! answers now. Nothing is ticked off by hand.

use domain::approval::DualControl;
use domain::country::Country;
use domain::delivery::DeliveryState;
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use domain::user::User;
use domain::webhook::shown_url;
use engine::backoffice::PaymentsWanted;
use engine::payments::{AuditFilter, KeyRow};
use engine::switches::Switch;
use engine::wallets::{DeliveryFilter, Page};

use super::chain;
use crate::outside::{BACKUP_AGE_MAX, Installation};
use crate::parts::{ago, grouped};
use crate::payments::overview;
use crate::view::age;
use crate::{Stop, Tone, Visit, audit};

/// The low mark of a prefund, in percent of its balance after the latest top-up or withdrawal.
const LOW_MARK_PERCENT: i64 = 10;
/// Nodes of the service that keep working if one of them fails.
const PROCESSES_MIN: usize = 2;
/// Maximum number of alerts that are counted.
const ALERTS_MAX: usize = 200;

/// How a requirement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    Missing,
    /// It works, but should be looked at before real money moves.
    Attention,
    Done,
    /// The tenant does not use it.
    Unused,
}

impl Standing {
    pub const fn word(self) -> &'static str {
        match self {
            Standing::Missing => "missing",
            Standing::Attention => "check",
            Standing::Done => "done",
            Standing::Unused => "not used",
        }
    }

    pub const fn tone(self) -> Tone {
        match self {
            Standing::Missing => Tone::Bad,
            Standing::Attention => Tone::Warn,
            Standing::Done => Tone::Good,
            Standing::Unused => Tone::Plain,
        }
    }

    pub const fn icon(self) -> &'static str {
        match self {
            Standing::Missing => "close",
            Standing::Attention => "alert",
            Standing::Done => "check",
            Standing::Unused => "info",
        }
    }
}

/// A requirement for going live, and how it stands.
#[derive(Clone, Debug)]
pub struct Check {
    /// The step of the guided setup that it belongs to.
    pub step: &'static str,
    pub title: &'static str,
    pub standing: Standing,
    /// The facts that its standing follows from.
    pub evidence: String,
    /// Where it is changed, if the user may open that page.
    pub href: Option<String>,
}

impl Check {
    pub(super) fn new(
        step: &'static str,
        title: &'static str,
        href: String,
        (standing, evidence): (Standing, String),
    ) -> Check {
        Check { step, title, standing, evidence, href: Some(href) }
    }
}

/// All requirements, in the order of the steps.
pub(super) async fn all(visit: &Visit) -> Result<Vec<Check>, Stop> {
    let host = visit.console().outside.installation().await;
    let mut checks = vec![brand(visit).await?, policy(visit).await?];
    checks.extend(keys(visit).await?);
    checks.push(prefund(visit).await?);
    checks.push(endpoint(visit).await?);
    checks.extend([corridors(visit)?, rails(visit, &host)?, rates(visit)?]);
    checks.push(payment(visit).await?);
    checks.extend(chain::checks(visit).await?);
    checks.push(users(visit).await?);
    checks.extend([
        lists(visit),
        processes(visit).await?,
        backup(&host),
        console_host(visit, &host),
    ]);
    checks.push(alerts(visit).await?);
    for check in &mut checks {
        check.href = check.href.take().filter(|href| visit.may_open(href));
    }
    Ok(checks)
}

async fn brand(visit: &Visit) -> Result<Check, Stop> {
    let brand = visit.console().store().brand_head(visit.tenant_id()?).await?;
    let found = match brand {
        None => (Standing::Unused, "Payment pages show the name alone.".to_owned()),
        Some(brand) => {
            let parts = [
                brand.logo.map(|_| "a logo"),
                brand.has_colour.then_some("a colour"),
                brand.contact.as_ref().map(|_| "a contact for senders"),
            ];
            let parts: Vec<&str> = parts.into_iter().flatten().collect();
            (Standing::Done, format!("Payment pages have {}.", parts.join(", ")))
        }
    };
    Ok(Check::new("tenant", "Brand", visit.href("/brand"), found))
}

async fn policy(visit: &Visit) -> Result<Check, Stop> {
    let (console, tenant) = (visit.console(), visit.tenant()?);
    let action = Some("tenant.set_policy".to_owned());
    let filter = AuditFilter { tenant: Some(tenant.id), action, ..AuditFilter::default() };
    let changed = console.store().audit_entries(&filter, 1).await?.pop();
    let version = tenant.policy.wallet.version;
    let found = match changed {
        Some(entry) => {
            let (who, when) = (audit::people(&entry.deed), ago(entry.at, console.now()));
            (Standing::Done, format!("Version {version}, agreed by {who} {when}."))
        }
        None => {
            let words =
                "The terms that every new tenant starts with: agree on countries and limits.";
            (Standing::Attention, words.to_owned())
        }
    };
    Ok(Check::new("policy", "Policy agreed", visit.href("/policy"), found))
}

async fn keys(visit: &Visit) -> Result<Vec<Check>, Stop> {
    let (console, now) = (visit.console(), visit.console().now());
    let keys = console.store().keys(visit.tenant_id()?).await?;
    let prefix = console.settings.environment.key_prefix();
    let found = |service: &str| {
        let usage = format!("{prefix}_{service}");
        let is_usable =
            |key: &&KeyRow| key.use_name == usage && key.revoked_at.is_none() && !key.suspended;
        let usable: Vec<&KeyRow> = keys.iter().filter(is_usable).collect();
        let Some(newest) = usable.iter().map(|key| key.created_at).max() else {
            return (
                Standing::Missing,
                "No active key: requests of the tenant are refused.".to_owned(),
            );
        };
        let open = usable.iter().filter(|key| key.allowed_ips.is_empty()).count();
        let count = usable.len();
        let words = format!(
            "{count} active, the newest made {}; {open} without allowed networks.",
            ago(newest, now)
        );
        (Standing::Done, words)
    };
    let to = || visit.href("/keys");
    let mut checks = vec![Check::new("keys", "Key for payments", to(), found("pay"))];
    if console.wallets.offered().is_ok() {
        checks.push(Check::new("keys", "Key for wallets", to(), found("wallet")));
    }
    Ok(checks)
}

async fn prefund(visit: &Visit) -> Result<Check, Stop> {
    let coin = visit.tenant()?.policy.settlement_coin;
    let accounts = visit.console().store().shared_accounts(visit.tenant_id()?).await?;
    let account = accounts.iter().find(|account| account.code == AccountCode::Prefund(coin));
    let available = account.map_or(Money::new(0, coin.currency()), |it| it.available());
    let after = overview::after_funding(visit, coin).await?;
    let shown = grouped(&available.to_string());
    let low = after.map(|after| Money::new(after / 100 * LOW_MARK_PERCENT, coin.currency()));
    let found = match low {
        _ if available.minor <= 0 => {
            (Standing::Missing, format!("{shown} available: payments are refused."))
        }
        Some(low) if available.minor < low.minor => {
            let words =
                format!("{shown} available, below the low mark of {}.", grouped(&low.to_string()));
            (Standing::Attention, words)
        }
        Some(low) => {
            let low = grouped(&low.to_string());
            (
                Standing::Done,
                format!(
                    "{shown} available; the low mark is {low}, a tenth of the balance after the latest top-up or withdrawal."
                ),
            )
        }
        None => (Standing::Done, format!("{shown} available.")),
    };
    Ok(Check::new("prefund", "Prefund above the low mark", visit.href("/setup/prefund"), found))
}

async fn endpoint(visit: &Visit) -> Result<Check, Stop> {
    let (console, tenant) = (visit.console(), visit.tenant_id()?);
    let webhook = console.store().webhook(tenant).await?;
    let webhook = webhook.filter(|webhook| !webhook.url.is_empty());
    let needs_one = console.wallets.offered().is_ok();
    let found = match webhook {
        None if needs_one => {
            (Standing::Missing, "No endpoint: events about wallets are not delivered.".to_owned())
        }
        None => (
            Standing::Unused,
            "No endpoint: the tenant reads events from GET /v2/events.".to_owned(),
        ),
        Some(webhook) if webhook.disabled.is_some() => {
            (Standing::Missing, format!("Webhooks to {} are off.", shown_url(&webhook.url)))
        }
        Some(webhook) => {
            let url = shown_url(&webhook.url);
            let states = vec![DeliveryState::Delivered];
            let filter = DeliveryFilter { states, ..DeliveryFilter::default() };
            let page = Page { page: 0, limit: 1 };
            let latest = console.store().deliveries(tenant, &filter, page).await?.rows.pop();
            let answered = latest.and_then(|record| {
                Some((record.delivery.last_status?, record.delivery.delivered_at?))
            });
            match answered {
                Some((status, at)) => {
                    (Standing::Done, format!("{url} answered {status} {}.", ago(at, console.now())))
                }
                None => match example(visit).await? {
                    Some((status, at)) => {
                        let at = ago(at, console.now());
                        (Standing::Done, format!("{url} answered {status} to a test event {at}."))
                    }
                    None => (
                        Standing::Attention,
                        format!("{url} has not accepted an event: send a test event."),
                    ),
                },
            }
        }
    };
    Ok(Check::new("webhooks", "Endpoint answers", visit.href("/webhooks"), found))
}

/// The status of the answer to the latest test event, if the endpoint accepted it.
async fn example(visit: &Visit) -> Result<Option<(i64, Timestamp)>, Stop> {
    let action = Some("webhook.example".to_owned());
    let filter = AuditFilter { tenant: Some(visit.tenant_id()?), action, ..AuditFilter::default() };
    let latest = visit.console().store().audit_entries(&filter, 1).await?.pop();
    Ok(latest.and_then(|entry| {
        let facts: serde_json::Value = serde_json::from_str(entry.note.after.as_deref()?).ok()?;
        let status = facts.get("status")?.as_i64().filter(|status| (200..300).contains(status))?;
        Some((status, entry.at))
    }))
}

/// The countries of the policy without a rail that pays now, and the number of rails of the others.
fn unusable(visit: &Visit) -> Result<(Vec<Country>, usize), Stop> {
    let world = visit.console().payments.world();
    let (off, unhealthy) = (world.switches.off(), world.health.unhealthy(world.clock.now()));
    let (mut without, mut rails) = (Vec::new(), 0);
    for country in &visit.tenant()?.policy.countries {
        let is_open = world.corridors.corridors.get(country).is_some_and(|it| it.open)
            && !world.switches.is_closed(*country);
        let in_use = world.corridors.rails.iter().filter(|rail| {
            rail.country == *country
                && rail.enabled
                && !off.contains_key(&Switch::Rail(rail.id.clone()))
                && !unhealthy.contains(&rail.id)
        });
        match in_use.count() {
            count if is_open && count > 0 => rails += count,
            _ => without.push(*country),
        }
    }
    Ok((without, rails))
}

fn corridors(visit: &Visit) -> Result<Check, Stop> {
    let countries = visit.tenant()?.policy.countries.len();
    let (without, rails) = unusable(visit)?;
    let names: Vec<&str> = without.iter().map(|country| country.alpha3()).collect();
    let found = match without.len() {
        0 if countries > 0 => {
            (Standing::Done, format!("Countries: {countries}. Rails in use: {rails}."))
        }
        closed if closed == countries => (
            Standing::Missing,
            "No country of the policy has an open corridor and a rail in use.".to_owned(),
        ),
        _ => {
            let words = format!(
                "Allowed by the policy and closed or without a rail: {}.",
                names.join(", ")
            );
            (Standing::Attention, words)
        }
    };
    Ok(Check::new("corridors", "Corridors open", visit.href("/corridors"), found))
}

fn rails(visit: &Visit, host: &Installation) -> Result<Check, Stop> {
    let countries = &visit.tenant()?.policy.countries;
    let world = visit.console().payments.world();
    let own = world
        .corridors
        .rails
        .iter()
        .filter(|rail| rail.enabled && countries.contains(&rail.country));
    let own: Vec<_> = own.map(|rail| &rail.id).collect();
    let simulated: Vec<String> =
        own.iter().filter(|rail| host.simulated.contains(rail)).map(ToString::to_string).collect();
    let found = match simulated.len() {
        0 if own.is_empty() => (Standing::Missing, "No rail is enabled.".to_owned()),
        0 => (Standing::Done, format!("Rails connected to banks: {}.", own.len())),
        _ => (Standing::Missing, format!("Simulated, no real payments: {}.", simulated.join(", "))),
    };
    Ok(Check::new("corridors", "Rails live", visit.href("/corridors"), found))
}

fn rates(visit: &Visit) -> Result<Check, Stop> {
    let (oldest, missing) = overview::rate_standing(visit)?;
    let found = match missing.is_empty() {
        true => (
            Standing::Done,
            format!(
                "The oldest rate used for quotes is {} old.",
                crate::payments::duration_text(oldest)
            ),
        ),
        false => {
            (Standing::Missing, format!("Missing or too old for quotes: {}.", missing.join(", ")))
        }
    };
    Ok(Check::new("corridors", "Rates fresh", visit.href("/rates"), found))
}

async fn payment(visit: &Visit) -> Result<Check, Stop> {
    let wanted = PaymentsWanted {
        states: vec![PaymentState::Succeeded],
        limit: 1,
        ..PaymentsWanted::default()
    };
    let store = visit.console().store();
    let page = store.payments_page(visit.tenant_id()?, &wanted).await?;
    let (found, href) = match page.records.first() {
        Some(record) => {
            let payment = &record.payment;
            let at = ago(payment.accepted_at, visit.console().now());
            let words = format!(
                "{} to {} {at}.",
                grouped(&payment.amount.to_string()),
                payment.country.name()
            );
            ((Standing::Done, words), visit.href(&format!("/payments/{}", payment.id)))
        }
        None => {
            let words = "None yet. Send one of a small amount and follow it to the end.".to_owned();
            ((Standing::Attention, words), visit.href("/payments"))
        }
    };
    Ok(Check::new("corridors", "A payment was paid", href, found))
}

/// What two users decide on: its name, who proposes it, who approves it.
const PAIRS: [(&str, DualControl); 5] = [
    ("cases", DualControl::RELEASE),
    ("policy", DualControl::POLICY),
    ("outcomes", DualControl::OUTCOME),
    ("prices", DualControl::PRICING),
    ("connections and access", DualControl::CONNECTION),
];

/// Whether one user can propose and another one approve.
fn has_pair(users: &[User], control: DualControl) -> bool {
    let is_pair = |maker: &User| {
        let mut others = users.iter().filter(|other| other.id != maker.id);
        maker.has_any(control.makers) && others.any(|other| other.has_any(control.checkers))
    };
    users.iter().any(is_pair)
}

async fn users(visit: &Visit) -> Result<Check, Stop> {
    let tenant = visit.tenant_id()?;
    let all = visit.console().store().users().await?;
    let users = all.into_iter().filter(|it| it.disabled_at.is_none()).map(|it| it.user);
    let users: Vec<User> = users.filter(|user| user.scope.covers(tenant)).collect();
    let lacking: Vec<&str> = PAIRS
        .into_iter()
        .filter(|(_, control)| !has_pair(&users, *control))
        .map(|(name, ..)| name)
        .collect();
    let found = match lacking.is_empty() {
        true => (Standing::Done, format!("{} users; each kind of decision has two.", users.len())),
        false => {
            (Standing::Missing, format!("No two users can decide about {}.", lacking.join(", ")))
        }
    };
    Ok(Check::new("people", "Two users for approvals", visit.href("/setup/people"), found))
}

fn lists(visit: &Visit) -> Check {
    let lists = visit.console().outside.lists();
    let loaded =
        lists.oldest_load.map(|at| format!(", loaded {} ago", age(at, visit.console().now())));
    let found = match (lists.sample, lists.stale) {
        (true, _) => (Standing::Missing, "The shipped sample, which screens nothing.".to_owned()),
        (_, true) => {
            (Standing::Missing, format!("Too old for approvals{}.", loaded.unwrap_or_default()))
        }
        _ => (Standing::Done, format!("{} entries{}.", lists.entries, loaded.unwrap_or_default())),
    };
    Check::new("service", "Sanction lists fresh", "/console/system".to_owned(), found)
}

async fn processes(visit: &Visit) -> Result<Check, Stop> {
    let store = visit.console().store();
    let nodes = store.working_nodes().await?;
    let engine = store.engine_name();
    let found = match nodes.len() {
        0 => (Standing::Missing, "No process is at work.".to_owned()),
        count if count >= PROCESSES_MIN => {
            (Standing::Done, format!("{count} processes at work on {engine}."))
        }
        _ => {
            let words =
                format!("One process at work on {engine}: nothing is paid while it is down.");
            (Standing::Attention, words)
        }
    };
    Ok(Check::new("service", "More than one process", "/console/system".to_owned(), found))
}

fn backup(host: &Installation) -> Check {
    let found = match &host.backup {
        Ok(age) if *age <= BACKUP_AGE_MAX => {
            (Standing::Done, format!("The newest is {} old.", crate::payments::duration_text(*age)))
        }
        Ok(age) => (
            Standing::Missing,
            format!("The newest is {} old.", crate::payments::duration_text(*age)),
        ),
        Err(why) => (Standing::Missing, format!("{why}.")),
    };
    Check::new("service", "Backup of today", "/docs/guides/backup".to_owned(), found)
}

fn console_host(visit: &Visit, host: &Installation) -> Check {
    let own = &visit.console().settings.base_url;
    let found = match *own != host.api_url {
        true => (Standing::Done, format!("{own}, apart from {}.", host.api_url)),
        false => (
            Standing::Attention,
            format!("The console is published with the API at {own}: set console.public_url."),
        ),
    };
    Check::new(
        "service",
        "Console behind its own host",
        "/docs/guides/going-live".to_owned(),
        found,
    )
}

async fn alerts(visit: &Visit) -> Result<Check, Stop> {
    let open = visit.console().store().alerts(visit.tenant_id()?, ALERTS_MAX).await?.len();
    let found = match open {
        0 => (Standing::Done, "None is open.".to_owned()),
        count => (Standing::Attention, format!("Open: {count}.")),
    };
    Ok(Check::new("service", "No open alerts", visit.href("/alerts"), found))
}

#[cfg(test)]
mod tests {
    use domain::ids::UserId;
    use domain::user::{Role, Scope};
    use uuid::Uuid;

    use super::*;

    fn user(number: u128, roles: &[Role]) -> User {
        let (id, login) = (UserId(Uuid::from_u128(number)), number.to_string());
        User { id, login, roles: roles.iter().copied().collect(), scope: Scope::All }
    }

    #[test]
    fn two_users_are_needed_for_every_decision() {
        let lacking = |users: &[User]| {
            let pairs = PAIRS.iter().filter(|(_, control)| !has_pair(users, *control));
            pairs.map(|(name, ..)| *name).collect::<Vec<_>>()
        };
        let all = [Role::Operator, Role::Approver, Role::Compliance, Role::Treasury, Role::Admin];
        assert_eq!(lacking(&[user(1, &all)]).len(), PAIRS.len(), "one user is never two");
        assert_eq!(lacking(&[user(1, &all), user(2, &[Role::Approver])]), [""; 0]);
        let of_compliance = [user(1, &[Role::Compliance]), user(2, &[Role::Compliance])];
        assert_eq!(lacking(&of_compliance), ["outcomes", "prices", "connections and access"]);
    }
}
