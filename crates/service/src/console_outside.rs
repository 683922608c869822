//! The installation's services for the operator console: allowed webhook endpoints, new secrets,
//! the age of the lists, and, outside production, the simulated parties.

use std::path::PathBuf;
use std::sync::Arc;

use adapters::screening::ListBook;
use adapters::webhooks::{Reach, WebhookSecret};
use client::Credentials;
use config::{Config, Secret, Transport};
use domain::audit::AuditContext;
use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::ids::{PaymentId, PaymentRequestId, TenantId, WalletId};
use domain::payment_request::RequestState;
use domain::policy::Environment;
use domain::ports::BoxFuture;
use domain::rail::RailId;
use domain::time::Span;
use domain::wallet_event::{Aggregate, WalletEvent, WalletEventKind};
use engine::payments::{Payments, Store};
use http_api::auth::Service;
use operator_console::Stop;
use operator_console::outside::{
    AuditProofs, BookEntry, Installation, KeyUse, ListStanding, Outside, SandboxTools, ShownKey,
};
use operator_console::provider::Provider;
use secrecy::{ExposeSecret as _, SecretString};
use store::{KeyRow, StoreError, Tenant};
use testkit::bank::BookKind;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::audit::{Notary, read_checkpoints};
use super::chain::CannotPay;
use super::preflight;
use super::routes::Parts;
use super::samples;
use super::sandbox_api::{ENDINGS, SandboxApi};
use super::sandbox_chain_api::ChainApi;
use super::scenarios::{Made, Scenarios};
use super::tenancy::{self, IssuedKey, KeyService};

/// Random bytes of a webhook signing secret.
const SECRET_BYTES: usize = 32;
/// The console's message about a tool that this installation does not have.
const NO_TOOL: &str = "This installation does not have this tool.";

/// The identity provider of the configuration.
fn identity_provider(parts: &Parts<'_>) -> Option<Provider> {
    let way = parts.identity_provider.clone()?;
    let wanted = &parts.config.console.oidc;
    Some(Provider { way, label: wanted.label.trim().to_owned(), claim: wanted.claim })
}

/// The server's data for the console.
pub(super) struct Server {
    payments: Payments,
    config: Config,
    data_dir: PathBuf,
    api_url: String,
    receivers: Reach,
    lists: Arc<ListBook>,
    provider: Option<Provider>,
    sandbox: Option<Arc<Tools>>,
}

impl Server {
    /// `sandbox` are the tools behind the sandbox's own calls; `None` in production.
    pub(super) fn of(
        parts: &Parts<'_>,
        sandbox: Option<(Arc<SandboxApi>, Option<Arc<ChainApi>>)>,
    ) -> Arc<Server> {
        let payments = parts.payments.clone();
        let environment = parts.config.environment;
        let base_url = parts.public_url.to_owned();
        let scenarios = parts.scenarios.clone();
        let tools = |(bank, chain)| {
            Arc::new(Tools {
                payments: parts.payments.clone(),
                bank,
                chain,
                environment,
                base_url,
                scenarios,
            })
        };
        Arc::new(Server {
            payments,
            config: parts.config.clone(),
            data_dir: parts.data_dir.to_owned(),
            api_url: parts.public_url.to_owned(),
            receivers: parts.config.receivers(),
            lists: parts.lists.clone(),
            provider: identity_provider(parts),
            sandbox: sandbox.map(tools),
        })
    }

    const fn store(&self) -> &Store {
        self.payments.store()
    }
}

fn shown(key: IssuedKey) -> ShownKey {
    ShownKey { access_key: key.access_key, secret_key: SecretString::from(key.secret_key) }
}

impl Outside for Server {
    fn receiver(&self, entered: &str) -> Result<String, String> {
        self.receivers
            .endpoint(entered)
            .map_err(|fault| format!("This URL cannot receive webhooks: {fault}."))
    }

    fn webhook_secret(&self) -> Result<SecretString, String> {
        let random = self.store().random::<SECRET_BYTES>();
        Ok(SecretString::from(WebhookSecret::text_of(&random)))
    }

    fn example(&self, kind: WalletEventKind) -> (Aggregate, WalletEvent) {
        let subjects = samples::Subjects {
            request: PaymentRequestId(Uuid::new_v4()),
            wallet: WalletId(Uuid::new_v4()),
            customer: "EXAMPLE".to_owned(),
        };
        let now = self.payments.world().clock.now();
        (Aggregate::Wallet(subjects.wallet), samples::happened(kind, &subjects, now))
    }

    fn create_key<'a>(
        &'a self,
        tenant: &'a Tenant,
        usage: KeyUse,
        by: AuditContext,
    ) -> BoxFuture<'a, Result<ShownKey, String>> {
        let service = match usage {
            KeyUse::Pay => KeyService::Pay,
            KeyUse::Wallet => KeyService::Wallet,
        };
        Box::pin(async move {
            let made =
                tenancy::create_key(self.store(), tenant, self.config.environment, service, by)
                    .await;
            made.map(shown).map_err(|error| format!("{error:#}"))
        })
    }

    fn rotate_key<'a>(
        &'a self,
        access_key: &'a str,
        by: AuditContext,
    ) -> BoxFuture<'a, Result<(ShownKey, Span), Stop>> {
        Box::pin(async move {
            let secret_key = tenancy::fresh_secret().map_err(|error| Stop::failed(&error))?;
            let overlap = tenancy::ROTATION_OVERLAP;
            let secret = SecretString::from(secret_key.clone());
            let done = self.store().rotate_key(access_key, secret, overlap, by).await;
            done.map_err(|error| match error {
                StoreError::Conflict(rule) => Stop::Refused(format!("{rule}.")),
                error => Stop::failed(&error),
            })?;
            Ok((shown(IssuedKey { access_key: access_key.to_owned(), secret_key }), overlap))
        })
    }

    fn create_tenant<'a>(
        &'a self,
        tag: &'a str,
        name: &'a str,
        settlement_coin: StableCoin,
        by: AuditContext,
    ) -> BoxFuture<'a, Result<Tenant, String>> {
        Box::pin(async move {
            let mut policy = tenancy::default_policy(settlement_coin);
            policy.wallet.strict_roles = tenancy::strict_roles(self.config.environment);
            let made = tenancy::create_tenant(self.store(), tag, name, policy, by).await;
            made.map_err(|error| format!("{error:#}"))
        })
    }

    fn installation(&self) -> BoxFuture<'_, Installation> {
        Box::pin(async move {
            let config = self.config.clone();
            let backup = spawn_blocking(move || preflight::backup_age(&config)).await;
            let rails = self.config.rails.iter();
            let simulated = rails.filter(|rail| rail.transport == Transport::Simulated);
            Installation {
                api_url: self.api_url.clone(),
                simulated: simulated.map(|rail| RailId::new(&rail.id)).collect(),
                backup: backup.unwrap_or_else(|error| Err(error.to_string())),
            }
        })
    }

    fn lists(&self) -> ListStanding {
        let current = self.lists.current();
        ListStanding {
            version: current.version().to_owned(),
            entries: current.entries(),
            oldest_load: self.lists.oldest_load(),
            sample: current.is_sample(),
            stale: self.lists.is_stale(self.payments.world().clock.now()),
        }
    }

    fn audit_proofs(&self) -> BoxFuture<'_, Result<AuditProofs, String>> {
        Box::pin(async move {
            let notary = Notary::of(self.store(), &self.config, &self.data_dir).await;
            let notary = notary.map_err(|error| format!("{error:#}"))?;
            let (trusted, file) = (notary.trusted().to_vec(), notary.file().to_owned());
            if !file.exists() {
                return Ok(AuditProofs { trusted, ..AuditProofs::default() });
            }
            let read = spawn_blocking(move || read_checkpoints(&file))
                .await
                .map_err(|error| error.to_string())?;
            Ok(match read {
                Ok(checkpoints) => AuditProofs { trusted, checkpoints, unread: None },
                Err(error) => AuditProofs {
                    trusted,
                    unread: Some(format!("{error:#}")),
                    ..AuditProofs::default()
                },
            })
        })
    }

    fn identity_provider(&self) -> Option<Provider> {
        self.provider.clone()
    }

    fn sandbox(&self) -> Option<Arc<dyn SandboxTools>> {
        self.sandbox.clone().map(|tools| tools as Arc<dyn SandboxTools>)
    }
}

struct Tools {
    payments: Payments,
    bank: Arc<SandboxApi>,
    chain: Option<Arc<ChainApi>>,
    environment: Environment,
    base_url: String,
    scenarios: Arc<dyn Scenarios>,
}

impl Tools {
    /// A key of the tenant for one of the two interfaces.
    async fn credentials(&self, tenant: TenantId, service: Service) -> Result<Credentials, String> {
        let (usage, words) = match service {
            Service::Pay => (KeyService::Pay, "Payment Service v2"),
            Service::Wallet => (KeyService::Wallet, "Wallet Service v1"),
        };
        let usage = tenancy::usage(self.environment, usage);
        let now = self.payments.world().wall_clock.now();
        let keys = self.payments.store().keys(tenant).await.map_err(|error| error.to_string())?;
        let usable =
            |key: &&KeyRow| key.use_name == usage && key.revoked_at.is_none() && !key.suspended;
        let found = keys
            .iter()
            .rev()
            .filter(usable)
            .find_map(|key| Some((key, key.valid_secrets(now).next()?)));
        let (key, secret) = found.ok_or_else(|| format!("No key is active for {words}."))?;
        Ok(Credentials {
            service,
            base_url: self.base_url.clone(),
            access_key: key.access_key.clone(),
            secret_key: Secret::new(secret.expose_secret()),
            audience: None,
        })
    }

    fn chain(&self) -> Result<&ChainApi, String> {
        self.chain.as_deref().ok_or_else(|| NO_TOOL.to_owned())
    }
}

/// A message for the user; details are logged.
fn failed(error: &dyn std::fmt::Display) -> String {
    tracing::error!(%error, "sandbox tool failed");
    "The action failed. See the service's log for the reason.".to_owned()
}

fn unpaid(error: &anyhow::Error) -> String {
    match error.downcast_ref::<CannotPay>() {
        Some(reason) => format!("It cannot be paid: {reason}."),
        None => failed(&format!("{error:#}")),
    }
}

impl SandboxTools for Tools {
    fn ahead(&self) -> Span {
        self.bank.ahead()
    }

    fn advance(&self, span: Span) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { self.bank.advance(span).await.map_err(|error| failed(&error)) })
    }

    fn give(
        &self,
        coin: StableCoin,
        to: Address,
        minor: i64,
    ) -> BoxFuture<'_, Result<TxHash, String>> {
        Box::pin(async move {
            self.chain()?.give(coin, to, minor).await.map_err(|error| unpaid(&error))
        })
    }

    fn pay(
        &self,
        tenant: TenantId,
        request: PaymentRequestId,
        amount: Option<(StableCoin, i64)>,
    ) -> BoxFuture<'_, Result<Vec<TxHash>, String>> {
        Box::pin(async move {
            let chain = self.chain()?;
            let found = self
                .payments
                .store()
                .request(tenant, request)
                .await
                .map_err(|error| failed(&error))?;
            let request = found.ok_or("Payment request not found.")?;
            if request.state == RequestState::Cancelled {
                return Err("A cancelled request cannot be paid.".to_owned());
            }
            chain.pay(&request, amount).await.map_err(|error| unpaid(&error))
        })
    }

    fn endings(&self) -> &'static [(&'static str, &'static str)] {
        const NAMES: [(&str, &str); ENDINGS.len()] = {
            let mut names = [("", ""); ENDINGS.len()];
            let mut at = 0;
            while at < ENDINGS.len() {
                names[at] = (ENDINGS[at].0, ENDINGS[at].1);
                at += 1;
            }
            names
        };
        &NAMES
    }

    fn scenarios(&self) -> Vec<(&'static str, &'static str)> {
        self.scenarios.all()
    }

    fn moves_clock(&self, scenario: &str) -> bool {
        self.scenarios.moves_clock(scenario)
    }

    fn trigger<'a>(
        &'a self,
        tenant: TenantId,
        scenario: &'a str,
        funded: Option<WalletId>,
    ) -> BoxFuture<'a, Result<Made, String>> {
        let funded = funded.map(|wallet| wallet.to_string());
        Box::pin(async move {
            let credentials = self.credentials(tenant, self.scenarios.service(scenario)?).await?;
            self.scenarios.play(scenario, funded, credentials).await
        })
    }

    fn steer(&self, payment: PaymentId, ending: &str) -> Result<String, String> {
        let known = ENDINGS.iter().find(|(name, ..)| *name == ending);
        let (.., outcome) = *known.ok_or("The simulated bank does not support this outcome.")?;
        let bank = self.bank.simulated_bank().ok_or(NO_TOOL)?;
        let standing = bank
            .steer(&payment.end_to_end_id(), outcome)
            .map_err(|fault| format!("The simulated bank refused: {fault}."))?;
        Ok(format!("{:?}", standing.status).to_lowercase())
    }

    fn book(&self, payment: PaymentId) -> Result<Vec<BookEntry>, String> {
        let bank = self.bank.simulated_bank().ok_or(NO_TOOL)?;
        let lines = bank.book(&payment.end_to_end_id()).map_err(|error| failed(&error))?;
        let entry = |line: testkit::bank::BookLine| BookEntry {
            paid: line.kind == BookKind::Paid,
            rail: line.rail.into(),
            amount: format!("{} {}", line.amount.decimal(), line.amount.currency.code()),
            beneficiary: line.beneficiary.into(),
            reference: line.reference.into(),
            at: line.at,
        };
        Ok(lines.into_iter().map(entry).collect())
    }
}
