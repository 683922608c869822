//! Shared code of the commands that open the store themselves: tenants, keys, ledger, review.

use domain::chain::ChainNumber;
use domain::policy::Environment;
use std::sync::Arc;

use domain::audit::{AuditContext, Via};
use domain::ids::TenantId;
use engine::batcher::Engine;
use engine::console::Console;
use engine::context::EngineContext;
use engine::payments::{Caller, Payments};
use engine::wallets::Wallets;
use store::{Found, Store, Tenant};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::failure::Failure;
use super::tenants::StoreArgs;
use super::{Context, ids};
use client::DataDir;
use config::Config;
use service::environment::WrongDatabase;
use service::{self, world};

/// An open store and the user who opened it.
pub struct Opened {
    pub config: Config,
    pub store: Store,
    /// The actor of audit entries: the machine's user.
    pub by: AuditContext,
    pub data_dir: DataDir,
}

/// A service without rails, chain or workers, for one command.
pub struct ForCommand<S> {
    pub service: S,
    batcher: JoinHandle<()>,
}

impl<S> ForCommand<S> {
    /// Waits until all submitted work is done.
    pub async fn finish(self) {
        drop(self.service);
        if let Err(error) = self.batcher.await {
            tracing::error!(%error, "batcher failed");
        }
    }
}

/// Opens the configured store, which must exist and be migrated. Creates nothing: a mistyped
/// `--data-dir` must not become an installation.
pub async fn open(args: &StoreArgs, context: &Context) -> Result<Opened, Failure> {
    let mut config = args.config.load()?;
    let data_dir = context.data_dir()?;
    let store = service::open_existing_store(&config, data_dir.path()).await;
    let store = store.map_err(Failure::of_start)?;
    service::environment::check_ready(&store, config.environment).await.map_err(
        |wrong| match wrong {
            WrongDatabase::Store(error) => Failure::of_store(error),
            other => Failure::of_start(other.into()),
        },
    )?;
    // The command line against a sandbox has the configuration of a test environment.
    if store.environment().await.map_err(Failure::of_store)? == Some(Environment::Mock) {
        config.environment = Environment::Mock;
    }
    Ok(Opened { config, store, by: AuditContext::new(Via::Cli, machine_user()), data_dir })
}

/// The operating system's user who runs the command, whatever the environment says. For root, the
/// user of `sudo`.
fn machine_user() -> String {
    let id = rustix::process::getuid();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let own = user_named_by(&users, id.as_raw()).unwrap_or_else(|| format!("uid {}", id.as_raw()));
    match std::env::var("SUDO_USER") {
        Ok(user) if id.is_root() && !user.trim().is_empty() => user,
        _ => own,
    }
}

/// The name of a user in the form of `/etc/passwd`.
fn user_named_by(users: &str, id: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, found) = (fields.next()?, fields.nth(1)?);
        (found.parse() == Ok(id) && !name.is_empty()).then(|| name.to_owned())
    })
}

impl Opened {
    /// The tenant with this tag; without one, the only tenant.
    pub async fn tenant(&self, tag: &Option<String>) -> Result<Tenant, Failure> {
        if let Some(tag) = tag {
            return self.tagged(tag).await;
        }
        let mut tenants = self.store.tenants().await.map_err(Failure::of_store)?;
        if tenants.len() == 1 {
            return Ok(tenants.remove(0));
        }
        let tags: Vec<&str> = tenants.iter().map(|tenant| tenant.tag.as_str()).collect();
        Err(Failure::Usage(match tags.is_empty() {
            true => "no tenant yet; create one with `corridor tenants create`".to_owned(),
            false => format!("--tenant: required, one of {}", tags.join(", ")),
        }))
    }

    /// The number of the chain that the API calls so; of `[chain]` without a name. A chain that is not
    /// configured any more is found by its last name, unless a configured one has it.
    pub async fn chain(&self, blockchain: &Option<String>) -> Result<ChainNumber, Failure> {
        let known = self.store.known_chains().await.map_err(Failure::of_store)?;
        let configured = self.config.by_chain();
        let mut ids = configured.iter().map(|it| &it.config.chain);
        let named = match blockchain {
            None => ids.next(),
            Some(name) => ids.find(|chain| chain.name == *name),
        };
        let entered = known.iter().find(|it| named.is_some_and(|of| of.chain_id == it.chain_id));
        if let Some(chain) = entered {
            return Ok(chain.number);
        }
        let Some(name) = blockchain else { return Ok(ChainNumber::FIRST) };
        let found = known.iter().find(|chain| named.is_none() && chain.name == *name);
        found.map(|chain| chain.number).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|chain| chain.name.as_str()).collect();
            Failure::Usage(format!("--blockchain: must be one of {}", names.join(", ")))
        })
    }

    /// The numbers and names of all chains.
    pub async fn chains(&self) -> Result<Vec<(ChainNumber, String)>, Failure> {
        let known = self.store.known_chains().await.map_err(Failure::of_store)?;
        if known.is_empty() {
            return Ok(vec![(ChainNumber::FIRST, self.config.chain.name.clone())]);
        }
        Ok(known.into_iter().map(|chain| (chain.number, chain.name)).collect())
    }

    /// The tenant with this tag.
    pub async fn tagged(&self, tag: &str) -> Result<Tenant, Failure> {
        let tenants = self.store.tenants().await.map_err(Failure::of_store)?;
        tenants.into_iter().find(|tenant| tenant.tag == tag).ok_or_else(|| {
            Failure::Refused(format!("no tenant {tag:?}; see `corridor tenants list`"))
        })
    }

    /// The id of the tenant's record that this text is, or is the beginning of. `of` picks the
    /// records of the wanted kind.
    pub async fn id(
        &self,
        tenant: TenantId,
        text: &str,
        what: &str,
        of: impl Fn(Found) -> Option<Uuid>,
    ) -> Result<Uuid, Failure> {
        if let Ok(id) = Uuid::try_parse(text) {
            return Ok(id);
        }
        let digits = ids::start(text, what)?;
        let found = self.store.find_id_start(tenant, &digits).await.map_err(Failure::of_store)?;
        let known = found.into_iter().filter_map(of).map(|id| id.to_string());
        let id = ids::one_of(text, what, known)?;
        Uuid::try_parse(&id).map_err(Failure::unavailable)
    }

    /// The tenant as a caller of the wallet service.
    pub async fn caller(&self, tag: &Option<String>) -> Result<Caller, Failure> {
        let tenant = self.tenant(tag).await?;
        Ok(Caller { tenant: tenant.id, policy: Arc::new(tenant.policy) })
    }

    /// A payment service that decides commands.
    pub fn payments(&self) -> Result<ForCommand<Payments>, Failure> {
        let world = world::for_commands(&self.config).map_err(Failure::refused)?;
        let environment = self.config.environment;
        Ok(self.service(world, |store, engine, world| {
            Payments::new(store, engine, world, environment)
        }))
    }

    /// The console's proposals, to be decided on; the running service executes them.
    pub fn approvals(&self) -> Result<ForCommand<Console>, Failure> {
        let world = world::for_commands(&self.config).map_err(Failure::refused)?;
        let environment = self.config.environment;
        Ok(self.service(world, |store, engine, world| {
            let payments = Payments::new(store.clone(), engine.clone(), world.clone(), environment);
            Console::new(payments, Wallets::new(store, engine, world))
        }))
    }

    /// A wallet service that decides commands about orders.
    pub fn wallets(&self) -> Result<ForCommand<Wallets>, Failure> {
        let world = world::for_commands(&self.config).map_err(Failure::refused)?;
        Ok(self.service(world, Wallets::new))
    }

    /// A wallet service that also decides commands about deposits and has loaded the sanctions
    /// lists.
    pub async fn wallets_with_lists(&self) -> Result<ForCommand<Wallets>, Failure> {
        let world =
            world::for_deposit_commands(&self.config, &self.store, self.data_dir.path()).await;
        Ok(self.service(world.map_err(Failure::unavailable)?, Wallets::new))
    }

    fn service<S>(
        &self,
        world: EngineContext,
        make: impl FnOnce(Store, Engine, Arc<EngineContext>) -> S,
    ) -> ForCommand<S> {
        let world = Arc::new(world);
        let (engine, batcher) = Engine::new(self.store.clone(), world.clone());
        let service = make(self.store.clone(), engine, world);
        ForCommand { service, batcher: tokio::spawn(batcher.run()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_named_by_their_number() {
        let users = "root:x:0:0:root:/root:/bin/bash\namal:x\n:x:8:8\nsvc:x:1000:1000::/:/bin/sh\n";
        for (id, name) in [(0, Some("root")), (1_000, Some("svc")), (7, None), (8, None), (9, None)]
        {
            assert_eq!(user_named_by(users, id).as_deref(), name, "{id}");
        }
    }
}
