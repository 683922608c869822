//! `corridor sandbox [reset]`: a local sandbox with simulated parties.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use super::serve::{metrics, until_stopped};
use super::trigger::Triggers;
use super::{Context, run_async};
use client::{DataDir, write_private};
use config::Config;
use service::sandbox::{self, Printed, Wanted};
use service::telemetry;

const PORT: u16 = 8480;

/// Configuration keys of the confirmation depths.
const DEPTHS: [&str; 4] =
    ["chain.small_depth", "chain.medium_depth", "chain.large_depth", "chain.settled_depth"];

/// Options of `sandbox`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  corridor sandbox\n  corridor sandbox --port 0 --output json\n  corridor sandbox reset"
)]
pub struct SandboxArgs {
    #[command(subcommand)]
    command: Option<SandboxCommand>,
    /// Port on 127.0.0.1 (0 picks a free one)
    #[arg(long, default_value_t = PORT, value_name = "N")]
    port: u16,
    /// Random seed of the rate walk and the simulated bank
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Start without the 30-day sample history
    #[arg(long)]
    no_demo_data: bool,
    /// Base URL of the webhook endpoint; `/webhooks/wallet/…` is appended
    #[arg(long, default_value = "", value_name = "URL")]
    webhook_base: String,
    /// JSON-RPC URL of anvil or another test chain, used instead of the built-in chain
    #[arg(long, default_value = "", value_name = "URL")]
    rpc_url: String,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Subcommand, Debug)]
enum SandboxCommand {
    /// Delete all sandbox data, including keys
    #[command(after_help = "Example:\n  corridor sandbox reset")]
    Reset,
}

/// Runs the sandbox until it receives a stop signal.
pub fn run(args: &SandboxArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    if let Some(SandboxCommand::Reset) = args.command {
        return reset(&data_dir);
    }
    std::fs::create_dir_all(data_dir.path())?;
    let config = config(args)?;
    run_async(serve(args, context, &data_dir, &config))
}

/// The configuration of a sandbox: every party simulated, bound to this machine.
fn config(args: &SandboxArgs) -> Result<Config, Failure> {
    let mut fixed = vec![
        ("environment", "mock".to_owned()),
        ("http.listen", SocketAddr::from(([127, 0, 0, 1], args.port)).to_string()),
        ("http.public_url", String::new()),
        ("rates.walk_seed", args.seed.to_string()),
        ("chain.node_url", args.rpc_url.clone()),
    ];
    // Test chains hold no value, and a chain that mines on demand never gets deeper on its own.
    fixed.extend(DEPTHS.map(|key| (key, "1".to_owned())));
    if std::env::var_os("CORRIDOR_TELEMETRY__LOG_FILTER").is_none() {
        fixed.push(("telemetry.log_filter", "warn".to_owned()));
    }
    Ok(Config::load(&args.config.sources(&fixed))?)
}

async fn serve(
    args: &SandboxArgs,
    context: &Context,
    data_dir: &DataDir,
    config: &Config,
) -> Result<(), Failure> {
    let telemetry =
        telemetry::init(&config.telemetry).map_err(|error| Failure::Usage(error.to_string()))?;
    let metrics = metrics(config)?;
    let listener = sandbox::listen(config.http.listen).await.map_err(Failure::usage)?;
    let path = std::path::absolute(data_dir.path())?;
    let wanted = Wanted {
        seed: args.seed,
        history: !args.no_demo_data,
        webhook_base: &args.webhook_base,
        scenarios: Arc::new(Triggers),
    };
    let sandbox = sandbox::start(config, &path, listener, metrics, &wanted);
    let sandbox = sandbox.await.map_err(Failure::unavailable)?;
    let json = serde_json::to_value(&sandbox.printed)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    write_private(&data_dir.sandbox_file(), &format!("{json}\n"))?;
    match context.output {
        Output::Json => output::json(&json)?,
        Output::Table => {
            output::raw(card(&sandbox.printed, std::io::stdout().is_terminal()).as_bytes())?
        }
    }
    until_stopped(sandbox.service, config).await;
    // A missing file is fine: the goal is its absence.
    drop(std::fs::remove_file(data_dir.sandbox_file()));
    drop(telemetry);
    Ok(())
}

fn reset(data_dir: &DataDir) -> Result<(), Failure> {
    if let Some(running) =
        data_dir.sandbox()?.and_then(|sandbox| sandbox.others.get("pid").cloned())
    {
        let alive = std::path::Path::new(&format!("/proc/{running}")).exists();
        if alive {
            return Err(Failure::Refused(format!(
                "the sandbox is running as process {running}; stop it first"
            )));
        }
    }
    for name in [
        "corridor.db",
        "corridor.db-wal",
        "corridor.db-shm",
        "sandbox.json",
        "last-quote.json",
        "last-payment.json",
    ] {
        remove(|| std::fs::remove_file(data_dir.path().join(name)))?;
    }
    for name in ["bank", "chain", "keys"] {
        remove(|| std::fs::remove_dir_all(data_dir.path().join(name)))?;
    }
    output::line(&format!(
        "deleted the sandbox in {}; the next start creates a new one",
        data_dir.path().display()
    ))
}

fn remove(act: impl FnOnce() -> std::io::Result<()>) -> Result<(), Failure> {
    match act() {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// The summary printed once the sandbox is ready.
fn card(printed: &Printed, colours: bool) -> String {
    let colours = colours && std::env::var_os("NO_COLOR").is_none();
    let bold = |text: &str| if colours { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    let version = env!("CARGO_PKG_VERSION");
    let rows = [
        ("data", printed.data_dir.display().to_string()),
        ("payment API", format!("{}/v2", printed.base_url)),
        ("wallet API", format!("{}/v1/sdk", printed.wallet_base_url)),
        ("console", printed.console_url.clone()),
        ("docs", printed.docs_url.clone()),
        ("pay page", printed.pay_url.clone()),
        ("chain", format!("{} (JSON-RPC, chain id {})", printed.chain_rpc_url, printed.chain_id)),
        ("tokens", format!("USDC {}, USDT {}", printed.tokens.usdc, printed.tokens.usdt)),
        ("demo wallet", format!("{} (1,000.00 USDC, 500.00 USDT initially)", printed.wallet_id)),
        ("payment access key", printed.payment_access_key.clone()),
        ("payment secret key", printed.payment_secret_key.clone()),
        ("wallet access key", printed.wallet_access_key.clone()),
        ("wallet secret key", printed.wallet_secret_key.clone()),
        ("wallet token", printed.wallet_token.clone()),
        ("webhook secret", printed.webhook_secret.clone()),
    ];
    let people = printed
        .console_users
        .iter()
        .map(|user| ("console user", format!("{} {}", user.login, user.password)));
    let mut card = format!(
        "{}\n\n",
        bold(&format!("Corridor {version} sandbox: NO REAL MONEY, every party is simulated"))
    );
    for (name, value) in rows.into_iter().chain(people) {
        card.push_str(&format!("  {name:<20}{value}\n"));
    }
    card.push_str("\nNext, in another terminal:\n");
    for command in [
        "corridor quote --country PAK --currency AED --amount 500",
        "corridor pay --watch",
        "corridor payments list --country PAK",
        "corridor events tail --after 0",
    ] {
        card.push_str(&format!("  {command}\n"));
    }
    card
}
