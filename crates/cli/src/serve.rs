//! `corridor serve` and `corridor migrate`: runs the service and migrates its database.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use config::{Config, refuse_in_production};
use domain::policy::Environment;
use engine::failpoint;
use service::service_manager::{News, ServiceManager};
use service::telemetry::catalogue::Exporter;
use service::{Role, Service, Start, sandbox, telemetry};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use super::trigger::Triggers;
use super::{Context, run_async};

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor serve --config /etc/corridor/corridor.toml --role all"
)]
pub struct ServeArgs {
    /// Role of this process; several processes on one PostgreSQL are equal peers
    #[arg(long, value_enum, default_value = "all")]
    role: Role,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor migrate --config /etc/corridor/corridor.toml")]
pub struct MigrateArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Serves until it receives a stop signal.
pub fn serve(args: &ServeArgs, context: &Context) -> Result<(), Failure> {
    let config = args.config.load()?;
    refuse(&config)?;
    arm_failpoint(&config)?;
    let data_dir = context.data_dir()?;
    super::keep_files_private();
    data_dir.create()?;
    run_async(async {
        let telemetry =
            telemetry::init(&config).map_err(|error| Failure::Usage(error.to_string()))?;
        let metrics = metrics(&config, Exporter::Service)?;
        let listener = sandbox::listen(config.http.listen).await.map_err(Failure::unavailable)?;
        let start = Start {
            config: &config,
            data_dir: data_dir.path(),
            listener,
            role: args.role,
            metrics,
            behaviour: testkit::bank::Behaviour {
                statements: true,
                ..testkit::bank::Behaviour::default()
            },
            scenarios: Arc::new(Triggers),
        };
        let service = Service::start(start).await.map_err(Failure::of_start)?;
        let stopped = stop_signal();
        tracing::info!(address = %service.address, url = %service.public_url, role = ?args.role, "serving");
        let ended = until_stopped(service, &config, stopped).await;
        drop(telemetry);
        ended
    })
}

/// Environment variable of tests: the point at which this process exits (`engine::failpoint`).
/// Debug builds only.
const FAILPOINT: &str = "CORRIDOR_FAILPOINT";

pub fn arm_failpoint(config: &Config) -> Result<(), Failure> {
    let wanted = std::env::var(FAILPOINT).ok().filter(|_| cfg!(debug_assertions));
    match wanted {
        Some(_) if config.environment == Environment::Production => {
            Err(Failure::Usage(format!("{FAILPOINT} is for tests only")))
        }
        Some(text) if !failpoint::arm(&text) => {
            Err(Failure::Usage(format!("{FAILPOINT}: unknown failpoint {text:?}")))
        }
        _ => Ok(()),
    }
}

/// Migrates the database to this version's schema.
pub fn migrate(args: &MigrateArgs, context: &Context) -> Result<(), Failure> {
    let config = args.config.load()?;
    let data_dir = context.data_dir()?;
    super::keep_files_private();
    data_dir.create()?;
    run_async(async {
        let store =
            service::open_store(&config, data_dir.path()).await.map_err(Failure::of_start)?;
        let report = service::environment::migrate(&store, config.environment)
            .await
            .map_err(Failure::of_start)?;
        match context.output {
            Output::Table => output::line(&format!(
                "schema version {} ({} applied now)",
                report.version,
                report.applied.len()
            )),
            Output::Json => output::json(
                &serde_json::json!({ "version": report.version, "applied": report.applied }),
            ),
        }
    })
}

/// Production does not start with simulated parties, sample data or plain-text keys.
fn refuse(config: &Config) -> Result<(), Failure> {
    refuse_for(&refuse_in_production(config))
}

/// Production does not start for these reasons, if there are any.
pub fn refuse_for(reasons: &[String]) -> Result<(), Failure> {
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!("production refuses to start:\n  {}", reasons.join("\n  "))))
}

/// The metrics of a program, every one at 0.
pub fn metrics(config: &Config, exporter: Exporter) -> Result<telemetry::Exposition, Failure> {
    let rails: Vec<String> = config.rails.iter().map(|rail| rail.id.clone()).collect();
    let chains: Vec<String> =
        config.by_chain().into_iter().map(|it| it.config.chain.name).collect();
    telemetry::install_recorder(exporter, &rails, &chains)
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// Completes at the next SIGTERM, SIGINT, or SIGHUP from now on, even before it is awaited: a service
/// that says that it serves can be stopped in order. A terminal that closes does so as the others do.
pub fn stop_signal() -> impl Future<Output = ()> {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [mut terminate, mut interrupt, mut hangup] = kinds.map(|kind| signal(kind).ok());
    async fn came(signal: &mut Option<Signal>) {
        match signal {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
    async move {
        tokio::select! {
            () = came(&mut terminate) => {}
            () = came(&mut interrupt) => {}
            () = came(&mut hangup) => {}
        }
    }
}

/// Serves until it is stopped, then drains; notifies the service manager of both. If a part of the
/// service ends by itself, it drains and fails, so that the process is started again.
pub async fn until_stopped(
    mut service: Service,
    config: &Config,
    stopped: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let ended = until_ended(service.ended(), stopped).await;
    tracing::info!("draining");
    service.stop(Duration::from_secs(config.http.drain_timeout_s)).await;
    of_ended(ended)
}

/// Waits until it is stopped or a part ends, and notifies the service manager of both ends; returns the
/// part that ended by itself.
pub async fn until_ended<T>(
    ended: impl Future<Output = T>,
    stopped: impl Future<Output = ()>,
) -> Option<T> {
    let manager = ServiceManager::of_process();
    manager.notify(News::Ready);
    let ended = tokio::select! {
        () = stopped => None,
        ended = ended => Some(ended),
        () = manager.stay_alive() => None,
    };
    manager.notify(News::Stopping);
    ended
}

/// What a process that has stopped reports, given the part that ended by itself.
pub fn of_ended(ended: Option<impl Debug>) -> Result<(), Failure> {
    match ended {
        None => Ok(()),
        Some(task) => Err(Failure::Unavailable(format!(
            "the task {task:?} ended unexpectedly; the log states why"
        ))),
    }
}
