//! A tenant's webhook endpoint and signing secrets. Changing the endpoint requires two users; a
//! secret is shown once.

use domain::time::Span;
use domain::wallet_event::{Subscriptions, WalletEventKind};
use domain::webhook::shown_url;
use engine::console::ProposedAction;
use engine::wallets::Webhook;
use secrecy::{ExposeSecret as _, SecretString};

use crate::view::{Field, FormView, Section, page};
use crate::{Answer, Cell, Stop, Tone, Visit};

/// Maximum overlap of an old secret with the new one, in hours.
const OVERLAP_MAX_H: i64 = 8_760;
/// Default overlap in hours.
const OVERLAP_H: i64 = 168;

async fn known(visit: &Visit) -> Result<Option<Webhook>, Stop> {
    Ok(visit.console().store().webhook(visit.tenant_id()?).await?)
}

pub(crate) async fn section(visit: &Visit) -> Result<Section, Stop> {
    let title = "Endpoint".to_owned();
    let Some(webhook) = known(visit).await? else {
        let says = vec![
            "No endpoint is configured. Events are kept and can be sent once there is one."
                .to_owned(),
        ];
        return Ok(Section { title, says, ..Section::default() });
    };
    let now = visit.console().wall_now();
    let valid =
        webhook.secrets.iter().filter(|it| it.valid_until.is_none_or(|until| now < until)).count();
    let mut facts = vec![
        ("Address", Cell::maybe(Some(shown_url(&webhook.url)).filter(|url| !url.is_empty()))),
        ("Signing secrets", Cell::number(valid)),
        ("Created", Cell::When(webhook.created_at)),
        (
            "Payment events",
            match webhook.payment_events {
                true => Cell::state("sent", Tone::Good),
                false => Cell::state("not sent", Tone::Plain),
            },
        ),
    ];
    let optional: Vec<&str> = webhook.subscriptions.kinds().map(WalletEventKind::name).collect();
    facts.push((
        "Optional events",
        Cell::maybe(Some(optional.join(", ")).filter(|names| !names.is_empty())),
    ));
    match webhook.disabled {
        None => facts.push(("Status", Cell::state("in use", Tone::Good))),
        Some((since, why)) => facts.extend([
            ("Status", Cell::state("disabled", Tone::Bad)),
            ("Since", Cell::When(since)),
            ("Reason", Cell::text(why)),
        ]),
    }
    Ok(Section { title, facts, ..Section::default() })
}

pub(crate) async fn control(visit: &Visit) -> Result<Section, Stop> {
    let may = |deed: &str| visit.may_use("POST", &format!("/console/t/{{tenant}}/webhooks/{deed}"));
    let to = |deed: &str| visit.href(&format!("/webhooks/{deed}"));
    let webhook = known(visit).await?;
    let mut forms = Vec::new();
    if may("recover") && webhook.as_ref().is_some_and(|it| it.disabled.is_none()) {
        let form = FormView::new("recover", "Replay missed events", to("recover"), "Resend")
            .says("Resends events since the start of a day (UTC) whose delivery failed permanently (dead) or had no endpoint (disabled), oldest first, at most 1000 at a time.");
        forms.push(form.field(Field::day("since", "Since")).why());
    }
    if webhook.is_some() && may("example") {
        let kinds = WalletEventKind::ALL.map(|kind| (kind.name(), kind.name()));
        let form = FormView::new("example", "Send a test event", to("example"), "Send test event")
            .says("Sends one fictitious event, signed like real ones.");
        forms.push(form.field(Field::choice("event", "Event", &kinds)));
    }
    let Some(webhook) = webhook else {
        if may("url") {
            let form = FormView::new("url", "Set the endpoint", to("url"), "Save endpoint")
                .says("It is in use at once. The secret is shown only once.");
            forms.push(form.field(Field::line("url", "Base URL (before /webhooks/…)")).why());
        }
        return Ok(Section { title: "Control".to_owned(), forms, ..Section::default() });
    };
    if webhook.disabled.is_some() && !webhook.url.is_empty() && may("enable") {
        let form = FormView::new("enable", "Enable", to("enable"), "Enable webhooks");
        forms.push(form.says("Then replay what the endpoint missed."));
    }
    if may("url") && webhook.url.is_empty() {
        let form = FormView::new("url", "Set the endpoint", to("url"), "Save endpoint")
            .says("It is in use at once. The secret stays the same.");
        forms.push(form.field(Field::line("url", "Base URL (before /webhooks/…)")).why());
    } else if may("url") {
        let form = FormView::new("url", "Change the endpoint", to("url"), "Propose")
            .says("The secret stays the same. Another user has to approve it.")
            .field(Field::line("url", "Base URL (before /webhooks/…)"));
        forms.push(form.why().danger());
    }
    if may("subscribe") {
        let names: Vec<&str> = WalletEventKind::optional().map(WalletEventKind::name).collect();
        let form = FormView::new("subscribe", "Optional events", to("subscribe"), "Subscribe")
            .says(format!(
                "Comma-separated list of {}; or all; or none. Applies to new events.",
                names.join(", ")
            ))
            .field(Field::line("events", "Events").holding(webhook.subscriptions.to_string()));
        forms.push(form.why());
    }
    if may("payments") {
        let form = match webhook.payment_events {
            false => FormView::new("payments", "Send payment events", to("payments"), "Propose")
                .says("Sends new events of quotes and payments as well. Another user has to approve it."),
            true => FormView::new("payments", "Stop payment events", to("payments"), "Stop payment events")
                .says("Events in the meantime can be resent later."),
        };
        forms.push(form.why().danger());
    }
    if may("rotate") {
        let form = FormView::new("rotate", "Rotate secret", to("rotate"), "Rotate secret")
            .says("The new secret is shown only once. The old one also signs for the given hours, and older ones until their own time is up. With 0 hours all of them end now.")
            .field(Field::whole("hours", "Hours that the old secret also signs").holding(OVERLAP_H));
        forms.push(form.why().danger());
    }
    if webhook.disabled.is_none() && may("disable") {
        let form = FormView::new("disable", "Disable", to("disable"), "Disable webhooks");
        forms.push(form.says("Events in the meantime can be resent later.").why().danger());
    }
    Ok(Section { title: "Control".to_owned(), forms, ..Section::default() })
}

/// Shows a secret, once.
fn shown_once(visit: &Visit, secret: &SecretString) -> Answer {
    let says = vec!["The secret is shown only once. Share it through a secure channel.".to_owned()];
    let facts = vec![("Secret", Cell::id(secret.expose_secret()))];
    let links = vec![visit.back("/webhooks", "Back to the webhooks")];
    page(visit, "New webhook secret", vec![Section { says, facts, links, ..Section::default() }])
}

pub(super) async fn set_url(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let (console, tenant) = (visit.console(), visit.tenant_id()?);
    let entered = visit.form().text("url");
    let url = console.outside.receiver(entered).map_err(|words| Stop::Wrong("url", words))?;
    match known(&visit).await? {
        Some(known) if known.url == url => {
            Err(Stop::Refused("The endpoint is already set to this URL.".to_owned()))
        }
        // A sandbox's tenant starts with a secret but without an endpoint.
        Some(known) if known.url.is_empty() => {
            console.store().set_webhook_url(tenant, &url, visit.deed(&why)).await?;
            Ok(visit.done(&visit.href("/webhooks"), "The endpoint is saved and in use. Events that it missed are sent when you replay them."))
        }
        Some(_) => visit.propose(ProposedAction::SetWebhookUrl { url }, &why).await,
        None => {
            let secret = console.outside.webhook_secret().map_err(|error| Stop::failed(&error))?;
            console.store().add_webhook(tenant, &url, secret.clone(), visit.deed(&why)).await?;
            shown_once(&visit, &secret)
        }
    }
}

/// Changes the subscribed optional events.
pub(super) async fn subscribe(visit: Visit) -> Answer {
    let why = visit.why()?;
    let events = Subscriptions::parse(visit.form().text("events"))
        .map_err(|name| Stop::wrong("events", format!("Unknown optional event {name:?}.")))?;
    visit.console().store().subscribe_webhook(visit.tenant_id()?, &events, visit.deed(why)).await?;
    Ok(visit.done(&visit.href("/webhooks"), "The subscription was saved."))
}

/// Turning payment events on requires two users; turning them off requires one.
pub(super) async fn set_payments(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let Some(webhook) = known(&visit).await? else {
        return Err(Stop::Refused("No endpoint is configured yet.".to_owned()));
    };
    if !webhook.payment_events {
        return visit.propose(ProposedAction::SetPaymentWebhooks { on: true }, &why).await;
    }
    visit
        .console()
        .store()
        .set_payment_webhooks(visit.tenant_id()?, false, visit.deed(&why))
        .await?;
    Ok(visit.done(&visit.href("/webhooks"), "Payment events are off."))
}

pub(super) async fn rotate(visit: Visit) -> Answer {
    let why = visit.why()?;
    let hours = visit
        .form()
        .text("hours")
        .parse::<i64>()
        .ok()
        .filter(|hours| (0..=OVERLAP_MAX_H).contains(hours));
    let hours = hours.ok_or_else(|| {
        Stop::wrong("hours", format!("The hours must be a number from 0 to {OVERLAP_MAX_H}."))
    })?;
    let console = visit.console();
    let secret = console.outside.webhook_secret().map_err(|error| Stop::failed(&error))?;
    let overlap = Span::hours(hours);
    console
        .store()
        .rotate_webhook_secret(visit.tenant_id()?, secret.clone(), overlap, visit.deed(why))
        .await?;
    shown_once(&visit, &secret)
}

pub(super) async fn disable(visit: Visit) -> Answer {
    let why = visit.why()?;
    visit.console().store().disable_webhook(visit.tenant_id()?, why, visit.deed(why)).await?;
    Ok(visit.done(&visit.href("/webhooks"), "Webhooks are disabled."))
}

pub(super) async fn enable(visit: Visit) -> Answer {
    if known(&visit).await?.is_some_and(|webhook| webhook.url.is_empty()) {
        return Err(Stop::Refused("Set the endpoint first: that enables webhooks.".to_owned()));
    }
    visit
        .console()
        .store()
        .enable_webhook(visit.tenant_id()?, visit.deed(visit.form().text("why")))
        .await?;
    Ok(visit.done(
        &visit.href("/webhooks"),
        "Webhooks are enabled. Replay the missed events if necessary.",
    ))
}
