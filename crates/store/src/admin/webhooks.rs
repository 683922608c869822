//! Webhook endpoints of tenants and their signing secrets. Secrets are sealed, and two of them sign
//! during a rotation.

use std::fmt;

use domain::audit::{AuditContext, Facts, Note};
use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use domain::wallet_event::Subscriptions;
use domain::webhook::{Endpoint, SecretText, shown_url};
use secrecy::{ExposeSecret, SecretString};

use super::secrets::{self, KeySecret};
use crate::driver::Step;
use crate::error::StoreError;
use crate::sealed::AssociatedData;
use crate::sql::Stmt;
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "webhook.insert",
    "INSERT INTO webhook_endpoint (tenant, url, secrets, created_at, version) VALUES ($2, $3, $4, {{now}}, 1)",
);
static ONE: Stmt = Stmt::written(
    "webhook.one",
    "SELECT w.url, w.secrets, w.created_at, w.disabled_at, w.disabled_why, COALESCE(h.payment_webhooks, 0), \
     w.subscriptions \
     FROM webhook_endpoint w LEFT JOIN tenant_head h ON h.tenant = w.tenant WHERE w.tenant = $1",
);
// Stored in the row that batches lock: a running batch sees the old value, the next one the new
// value.
static SET_PAYMENT_EVENTS: Stmt = Stmt::written(
    "webhook.set_payment_events",
    "UPDATE tenant_head SET payment_webhooks = $2 WHERE tenant = $1 AND payment_webhooks <> $2",
);
static SET_URL: Stmt = Stmt::written(
    "webhook.set_url",
    "UPDATE webhook_endpoint SET url = $2, version = version + 1, \
     disabled_at = CASE WHEN url = '' THEN NULL ELSE disabled_at END, \
     disabled_why = CASE WHEN url = '' THEN NULL ELSE disabled_why END WHERE tenant = $1",
);
static SET_SECRETS: Stmt = Stmt::written(
    "webhook.set_secrets",
    "UPDATE webhook_endpoint SET secrets = $3, version = version + 1 WHERE tenant = $1 AND secrets = $2",
);
static SUBSCRIBE: Stmt = Stmt::written(
    "webhook.subscribe",
    "UPDATE webhook_endpoint SET subscriptions = $3, version = version + 1 WHERE tenant = $1 AND subscriptions = $2",
);
static DISABLE: Stmt = Stmt::written(
    "webhook.disable",
    "UPDATE webhook_endpoint SET disabled_at = {{now}}, disabled_why = $3, version = version + 1 \
     WHERE tenant = $2 AND disabled_at IS NULL",
);
static ENABLE: Stmt = Stmt::written(
    "webhook.enable",
    "UPDATE webhook_endpoint SET disabled_at = NULL, disabled_why = NULL, version = version + 1 \
     WHERE tenant = $1 AND disabled_at IS NOT NULL",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&INSERT, &ONE, &SET_PAYMENT_EVENTS, &SET_URL, &SET_SECRETS, &SUBSCRIBE, &DISABLE, &ENABLE];

/// A tenant's webhook endpoint.
#[derive(Clone)]
pub struct Webhook {
    /// The base URL of every path.
    pub url: String,
    /// Signing secrets, newest first, expired ones included.
    pub secrets: Vec<KeySecret>,
    /// When it was added.
    pub created_at: Timestamp,
    /// Since when it is disabled, and why.
    pub disabled: Option<(Timestamp, String)>,
    /// Whether it receives the payment service's events.
    pub payment_events: bool,
    /// The optional wallet events that it receives.
    pub subscriptions: Subscriptions,
}

impl Webhook {
    /// The endpoint to send to at `now`; `None` = it is disabled.
    pub fn endpoint(&self, now: Timestamp) -> Option<Endpoint> {
        if self.disabled.is_some() {
            return None;
        }
        let valid = secrets::valid(&self.secrets, now);
        let secrets = valid.map(|secret| SecretText(secret.expose_secret().to_owned())).collect();
        Some(Endpoint { url: self.url.clone(), secrets })
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Webhook")
            .field("url", &shown_url(&self.url))
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

fn place(tenant: &TenantId) -> AssociatedData<'_> {
    AssociatedData { tenant: *tenant, column: "webhook_endpoint.secrets", row: tenant.0.as_bytes() }
}

/// An endpoint's facts for the audit log: without its secrets, and without the query of its URL,
/// which may contain one.
fn facts(webhook: &Webhook) -> Facts {
    let state = if webhook.disabled.is_some() { "disabled" } else { "enabled" };
    let secrets = i64::try_from(webhook.secrets.len()).unwrap_or(i64::MAX);
    let facts = Facts::new()
        .text("url", shown_url(&webhook.url))
        .text("state", state)
        .number("secrets", secrets);
    let events = Some(webhook.subscriptions.to_string()).filter(|names| !names.is_empty());
    let facts = facts.opt_text("optional_events", events.as_deref());
    facts.opt_text("disabled_why", webhook.disabled.as_ref().map(|(_, why)| why))
}

/// A switch in the audit log.
const fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

impl Store {
    /// Configures a tenant's endpoint and its secret.
    ///
    /// # Errors
    /// `Conflict` if one is configured already.
    pub async fn add_webhook(
        &self,
        tenant: TenantId,
        url: &str,
        secret: SecretString,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let first = KeySecret { secret, created_at: self.options().clock.now(), valid_until: None };
        let created_at = first.created_at;
        let webhook = Webhook {
            url: url.to_owned(),
            secrets: vec![first],
            created_at,
            disabled: None,
            payment_events: false,
            subscriptions: Subscriptions::default(),
        };
        let sealed = secrets::seal(self.vault(), place(&tenant), &webhook.secrets)?;
        let note = Note::new("webhook.add", "webhook", tenant).after(facts(&webhook));
        let params = vec![self.now_param(), tenant.0.into(), url.into(), sealed.into()];
        self.noted(tenant, by.into(), note, vec![Step::one(&INSERT, params)]).await
    }

    /// A tenant's endpoint, with its secrets opened.
    ///
    /// # Errors
    /// The database cannot be reached, or the secrets do not open.
    pub async fn webhook(&self, tenant: TenantId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.sealed_webhook(tenant).await?.map(|(webhook, _)| webhook))
    }

    async fn sealed_webhook(
        &self,
        tenant: TenantId,
    ) -> Result<Option<(Webhook, Vec<u8>)>, StoreError> {
        type Row =
            (String, Vec<u8>, Timestamp, Option<Timestamp>, Option<String>, bool, Subscriptions);
        let Some(row) = self.one::<Row>(&ONE, tenant).await? else { return Ok(None) };
        let (url, sealed, created_at, at, why, payment_events, subscriptions) = row;
        let secrets = secrets::open(self.vault(), place(&tenant), &sealed)?;
        let disabled = at.zip(why);
        let webhook = Webhook { url, secrets, created_at, disabled, payment_events, subscriptions };
        Ok(Some((webhook, sealed)))
    }

    /// Changes the URL of a tenant's endpoint. The first URL also enables it.
    ///
    /// # Errors
    /// `Conflict` if no endpoint is configured.
    pub async fn set_webhook_url(
        &self,
        tenant: TenantId,
        url: &str,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        self.move_webhook(tenant, None, url, by.into()).await
    }

    /// Same, provided that its URL is still `seen`.
    ///
    /// # Errors
    /// `Conflict` if no endpoint is configured or its URL has changed.
    pub async fn set_webhook_url_as_seen(
        &self,
        tenant: TenantId,
        seen: &str,
        url: &str,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        self.move_webhook(tenant, Some(seen), url, by.into()).await
    }

    async fn move_webhook(
        &self,
        tenant: TenantId,
        seen: Option<&str>,
        url: &str,
        by: AuditContext,
    ) -> Result<(), StoreError> {
        let step = Step::one(&SET_URL, vec![tenant.0.into(), url.into()]);
        let moved = |it: &mut Webhook| {
            if seen.is_some_and(|seen| seen != it.url) {
                return Err(StoreError::Conflict(
                    "the webhook endpoint has changed since it was reviewed".to_owned(),
                ));
            }
            if it.url.is_empty() {
                it.disabled = None;
            }
            it.url = url.to_owned();
            Ok(())
        };
        self.change_webhook(tenant, "webhook.set_url", by, step, moved).await
    }

    /// Signs with a new secret; additionally with its predecessor for `overlap`, and with those of
    /// earlier rotations until their expiry. Without an overlap, with the new one alone.
    ///
    /// # Errors
    /// `NotFound` if no endpoint is configured; `Conflict` if the secrets were changed
    /// concurrently, or the maximum number is valid already.
    pub async fn rotate_webhook_secret(
        &self,
        tenant: TenantId,
        secret: SecretString,
        overlap: Span,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let found = self.sealed_webhook(tenant).await?;
        let (mut webhook, sealed) = found.ok_or(StoreError::NotFound("webhook endpoint"))?;
        let before = facts(&webhook);
        let now = self.options().clock.now();
        secrets::rotate(&mut webhook.secrets, secret, overlap, now, secrets::OF_WEBHOOK)?;
        let after = facts(&webhook).number("overlap_s", overlap.0 / 1_000_000);
        let note = Note::new("webhook.rotate", "webhook", tenant).before(before).after(after);
        let new = secrets::seal(self.vault(), place(&tenant), &webhook.secrets)?;
        let step = Step::one(&SET_SECRETS, vec![tenant.0.into(), sealed.into(), new.into()]);
        self.noted(tenant, by.into(), note, vec![step]).await
    }

    /// Switches delivery of the payment service's events, effective from the tenant's next commit.
    ///
    /// # Errors
    /// `Conflict` if no endpoint is configured, or it is set so already.
    pub async fn set_payment_webhooks(
        &self,
        tenant: TenantId,
        on: bool,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let by = by.into();
        let changed = async || {
            let found = self.webhook(tenant).await?;
            let webhook = found.ok_or_else(|| {
                StoreError::Conflict("no webhook endpoint is configured".to_owned())
            })?;
            if webhook.payment_events == on {
                let already = format!("payment events are {} already", on_or_off(on));
                return Err(StoreError::Conflict(already));
            }
            let step = Step::one(&SET_PAYMENT_EVENTS, vec![tenant.0.into(), i64::from(on).into()]);
            let told = |on| facts(&webhook).text("payment_events", on_or_off(on));
            let note = Note::new("webhook.set_payment_events", "webhook", tenant)
                .before(told(!on))
                .after(told(on));
            Ok((note, vec![step]))
        };
        self.noted_as_read(tenant, by, changed).await
    }

    /// Subscribes to exactly these optional wallet events, effective from the tenant's next commit.
    ///
    /// # Errors
    /// `Conflict` if no endpoint is configured.
    pub async fn subscribe_webhook(
        &self,
        tenant: TenantId,
        subscriptions: &Subscriptions,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let by = by.into();
        let changed = async || {
            let found = self.webhook(tenant).await?;
            let webhook = found.ok_or_else(|| {
                StoreError::Conflict("no webhook endpoint is configured".to_owned())
            })?;
            let (old, new) = (webhook.subscriptions.to_string(), subscriptions.to_string());
            let step = Step::one(&SUBSCRIBE, vec![tenant.0.into(), old.into(), new.into()]);
            let before = facts(&webhook);
            let after = facts(&Webhook { subscriptions: subscriptions.clone(), ..webhook });
            Ok((
                Note::new("webhook.subscribe", "webhook", tenant).before(before).after(after),
                vec![step],
            ))
        };
        self.noted_as_read(tenant, by, changed).await
    }

    /// Disables the endpoint.
    ///
    /// # Errors
    /// `Conflict` if no endpoint is configured, or it is disabled already.
    pub async fn disable_webhook(
        &self,
        tenant: TenantId,
        why: &str,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let step = Step::one(&DISABLE, vec![self.now_param(), tenant.0.into(), why.into()]);
        let now = self.options().clock.now();
        let disable = |it: &mut Webhook| {
            it.disabled = Some((now, why.to_owned()));
            Ok(())
        };
        self.change_webhook(tenant, "webhook.disable", by.into(), step, disable).await
    }

    /// Enables the endpoint again.
    ///
    /// # Errors
    /// `Conflict` if no endpoint is configured, or it is enabled already.
    pub async fn enable_webhook(
        &self,
        tenant: TenantId,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let step = Step::one(&ENABLE, vec![tenant.0.into()]);
        let enable = |it: &mut Webhook| {
            it.disabled = None;
            Ok(())
        };
        self.change_webhook(tenant, "webhook.enable", by.into(), step, enable).await
    }

    /// Changes an existing endpoint and records its state before and after.
    async fn change_webhook(
        &self,
        tenant: TenantId,
        action: &str,
        deed: AuditContext,
        step: Step,
        change: impl Fn(&mut Webhook) -> Result<(), StoreError> + Send + Sync,
    ) -> Result<(), StoreError> {
        let (step, change) = (&step, &change);
        let changed = async || {
            let found = self.webhook(tenant).await?;
            let mut webhook = found.ok_or_else(|| {
                StoreError::Conflict("no webhook endpoint is configured".to_owned())
            })?;
            let before = facts(&webhook);
            change(&mut webhook)?;
            Ok((
                Note::new(action, "webhook", tenant).before(before).after(facts(&webhook)),
                vec![step.clone()],
            ))
        };
        self.noted_as_read(tenant, deed, changed).await
    }
}
