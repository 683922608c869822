//! Where a tenant's webhooks go and what signs them. Secrets are sealed, and two of them sign while the bank changes over.

use std::fmt;

use domain::ids::TenantId;
use domain::time::{Span, Timestamp};
use domain::webhook::{Endpoint, SecretText};
use secrecy::{ExposeSecret, SecretString};

use super::secrets::{self, KeySecret};
use crate::driver::Step;
use crate::error::StoreError;
use crate::sealed::Place;
use crate::sql::Stmt;
use crate::store::Store;

static INSERT: Stmt = Stmt::written(
    "webhook.insert",
    "INSERT INTO webhook_endpoint (tenant, url, secrets, created_at, version) VALUES ($2, $3, $4, {{now}}, 1)",
);
static ONE: Stmt = Stmt::written(
    "webhook.one",
    "SELECT w.url, w.secrets, w.created_at, w.disabled_at, w.disabled_why FROM webhook_endpoint w \
     WHERE w.tenant = $1",
);
static SET_URL: Stmt =
    Stmt::written("webhook.set_url", "UPDATE webhook_endpoint SET url = $2, version = version + 1 WHERE tenant = $1");
static SET_SECRETS: Stmt = Stmt::written(
    "webhook.set_secrets",
    "UPDATE webhook_endpoint SET secrets = $3, version = version + 1 WHERE tenant = $1 AND secrets = $2",
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

pub(crate) static STATEMENTS: &[&Stmt] = &[&INSERT, &ONE, &SET_URL, &SET_SECRETS, &DISABLE, &ENABLE];

/// Where a tenant's webhooks go.
#[derive(Clone)]
pub struct Webhook {
    /// The base of every path.
    pub url: String,
    /// What signs, the newest first; expired ones too.
    pub secrets: Vec<KeySecret>,
    /// When it was added.
    pub created_at: Timestamp,
    /// Since when it gets nothing, and why.
    pub disabled: Option<(Timestamp, String)>,
}

impl Webhook {
    /// What is sent to at `now`; `None` = nothing, it is disabled.
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
        out.debug_struct("Webhook").field("url", &self.url).field("disabled", &self.disabled).finish_non_exhaustive()
    }
}

fn place(tenant: &TenantId) -> Place<'_> {
    Place { tenant: *tenant, column: "webhook_endpoint.secrets", row: tenant.0.as_bytes() }
}

impl Store {
    /// Says where a tenant's webhooks go and what signs them.
    ///
    /// # Errors
    /// `Conflict` where that is said already.
    pub async fn add_webhook(
        &self,
        tenant: TenantId,
        url: &str,
        secret: SecretString,
        who: &str,
    ) -> Result<(), StoreError> {
        let first = KeySecret { secret, created_at: self.options().clock.now(), valid_until: None };
        let sealed = secrets::seal(self.vault(), place(&tenant), &[first])?;
        let note = self.note(who, "webhook.add", &tenant.to_string(), url).await?;
        let params = vec![self.now_param(), tenant.0.into(), url.into(), sealed.into()];
        self.write(vec![Step::one(&INSERT, params), note]).await.map(drop)
    }

    /// Where a tenant's webhooks go, with its secrets opened.
    ///
    /// # Errors
    /// The database cannot be reached, or the secrets do not open.
    pub async fn webhook(&self, tenant: TenantId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.sealed_webhook(tenant).await?.map(|(webhook, _)| webhook))
    }

    async fn sealed_webhook(&self, tenant: TenantId) -> Result<Option<(Webhook, Vec<u8>)>, StoreError> {
        let rows = self.query(&ONE, vec![tenant.0.into()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut fields = row.fields();
        let url = fields.text()?.to_owned();
        let sealed = fields.bytes()?.to_vec();
        let webhook = Webhook {
            url,
            secrets: secrets::open(self.vault(), place(&tenant), &sealed)?,
            created_at: Timestamp(fields.int()?),
            disabled: fields.opt_int()?.map(Timestamp).zip(fields.opt_text()?.map(str::to_owned)),
        };
        Ok(Some((webhook, sealed)))
    }

    /// Sends a tenant's webhooks elsewhere.
    ///
    /// # Errors
    /// `Conflict` where nothing was said yet.
    pub async fn set_webhook_url(&self, tenant: TenantId, url: &str, who: &str) -> Result<(), StoreError> {
        let note = self.note(who, "webhook.set_url", &tenant.to_string(), url).await?;
        self.write(vec![Step::one(&SET_URL, vec![tenant.0.into(), url.into()]), note]).await.map(drop)
    }

    /// Signs with a new secret; with the one before it too for `overlap`, with older ones no more.
    ///
    /// # Errors
    /// `NotFound` where nothing was said yet; `Conflict` where the secrets were changed meanwhile.
    pub async fn rotate_webhook_secret(
        &self,
        tenant: TenantId,
        secret: SecretString,
        overlap: Span,
        who: &str,
    ) -> Result<(), StoreError> {
        let found = self.sealed_webhook(tenant).await?;
        let (mut webhook, sealed) = found.ok_or(StoreError::NotFound("receiver of webhooks"))?;
        secrets::rotate(&mut webhook.secrets, secret, overlap, self.options().clock.now());
        let detail = format!("overlap {} s", overlap.0 / 1_000_000);
        let note = self.note(who, "webhook.rotate", &tenant.to_string(), &detail).await?;
        let new = secrets::seal(self.vault(), place(&tenant), &webhook.secrets)?;
        let params = vec![tenant.0.into(), sealed.into(), new.into()];
        self.write(vec![Step::one(&SET_SECRETS, params), note]).await.map(drop)
    }

    /// Sends nothing more.
    ///
    /// # Errors
    /// `Conflict` where there is no receiver, or it gets nothing already.
    pub async fn disable_webhook(&self, tenant: TenantId, why: &str, who: &str) -> Result<(), StoreError> {
        let note = self.note(who, "webhook.disable", &tenant.to_string(), why).await?;
        let params = vec![self.now_param(), tenant.0.into(), why.into()];
        self.write(vec![Step::one(&DISABLE, params), note]).await.map(drop)
    }

    /// Sends again.
    ///
    /// # Errors
    /// `Conflict` where there is no receiver, or it gets everything already.
    pub async fn enable_webhook(&self, tenant: TenantId, who: &str) -> Result<(), StoreError> {
        let note = self.note(who, "webhook.enable", &tenant.to_string(), "").await?;
        self.write(vec![Step::one(&ENABLE, vec![tenant.0.into()]), note]).await.map(drop)
    }
}
