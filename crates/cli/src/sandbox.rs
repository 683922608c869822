//! `corridor sandbox [reset]`: a local sandbox with simulated parties.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::webhooks::Reach;
use clap::{Args, Subcommand};
use console::Style;
use serde_json::Value;
use tokio::time::Instant;

use super::colour::Tone;
use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use super::serve::{metrics, stop_signal, until_stopped};
use super::table::short_id;
use super::trigger::Triggers;
use super::{Context, run_async};
use client::{DataDir, write_private};
use config::Config;
use service::sandbox::{self, Printed, Wanted};
use service::scenarios::Scenarios as _;
use service::telemetry;
use service::telemetry::catalogue::Exporter;

const PORT: u16 = 8480;

/// What the demo wallet holds at first.
const FUNDS: &str = "1,000.00 USDC   500.00 USDT   at the first start";

/// Configuration keys of the confirmation depths.
const DEPTHS: [&str; 4] =
    ["chain.small_depth", "chain.medium_depth", "chain.large_depth", "chain.settled_depth"];

/// Further keys that a sandbox sets itself.
const FIXED: [&str; 5] =
    ["environment", "http.listen", "http.public_url", "rates.walk_seed", "chain.node_url"];

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  corridor sandbox\n  corridor sandbox --port 0 --output json\n  corridor sandbox keys\n  corridor sandbox reset"
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
    /// Delete all sandbox data, including its keys; never the data of a service
    #[command(after_help = "Example:\n  corridor sandbox reset")]
    Reset,
    /// Show the addresses, keys and tokens of the running sandbox
    #[command(after_help = "As variables for a shell: corridor env

Examples:
  corridor sandbox keys
  corridor sandbox keys --output json")]
    Keys,
}

/// Runs the sandbox until it receives a stop signal.
pub fn run(args: &SandboxArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    match args.command {
        Some(SandboxCommand::Reset) => return reset(&data_dir),
        Some(SandboxCommand::Keys) => return keys(&data_dir, context.output),
        None => {}
    }
    if !args.webhook_base.is_empty() {
        let url = Reach::Sandbox.url(&args.webhook_base, "");
        url.map_err(|fault| Failure::Usage(format!("--webhook-base: {fault}")))?;
    }
    let config = config(args)?;
    super::keep_files_private();
    data_dir.create()?;
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
    let sets_filter = args.config.set_keys().any(|key| key == "telemetry.log_filter");
    if !sets_filter && std::env::var_os("CORRIDOR_TELEMETRY__LOG_FILTER").is_none() {
        fixed.push(("telemetry.log_filter", "warn".to_owned()));
    }
    let is_fixed = |key: &str| FIXED.contains(&key) || DEPTHS.contains(&key);
    if let Some(key) = args.config.set_keys().find(|key| is_fixed(key)) {
        let instead = match key {
            "http.listen" => "; use --port",
            "rates.walk_seed" => "; use --seed",
            "chain.node_url" => "; use --rpc-url",
            _ => "",
        };
        return Err(Failure::Usage(format!(
            "--set {key}: a sandbox sets this key itself{instead}"
        )));
    }
    Ok(Config::load(&args.config.sources(&fixed))?)
}

async fn serve(
    args: &SandboxArgs,
    context: &Context,
    data_dir: &DataDir,
    config: &Config,
) -> Result<(), Failure> {
    let began = Instant::now();
    let telemetry = telemetry::init(config).map_err(|error| Failure::Usage(error.to_string()))?;
    let metrics = metrics(config, Exporter::Service)?;
    let listener = sandbox::listen_or(config.http.listen, "--port (0 = any)").await;
    let listener = listener.map_err(Failure::usage)?;
    let path = std::path::absolute(data_dir.path())?;
    let wanted = Wanted {
        seed: args.seed,
        history: !args.no_demo_data,
        webhook_base: &args.webhook_base,
        scenarios: Arc::new(Triggers),
    };
    let sandbox = sandbox::start(config, &path, listener, metrics, &wanted);
    let sandbox = sandbox.await.map_err(Failure::of_start)?;
    let stopped = stop_signal();
    let json = serde_json::to_value(&sandbox.printed)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let file = data_dir.sandbox_file();
    let written = write_private(&file, &format!("{json}\n"));
    written.map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    match context.output {
        Output::Json => output::json(&json)?,
        Output::Table => output::raw(card(&sandbox.printed, began.elapsed()).as_bytes())?,
    }
    let ended = until_stopped(sandbox.service, config, stopped).await;
    // A missing file is fine: the goal is its absence.
    drop(std::fs::remove_file(data_dir.sandbox_file()));
    drop(telemetry);
    ended?;
    output::remark(
        "\nStopped. Data is kept: `corridor sandbox` continues here, `corridor sandbox reset`\nstarts over.",
    );
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
    let shown = data_dir.path().display();
    let deleted =
        run_async(async { sandbox::delete(data_dir.path()).await.map_err(Failure::refused) })?;
    output::line(&match deleted {
        true => format!("deleted the sandbox in {shown}; the next start creates a new one"),
        false => format!("no sandbox in {shown}"),
    })
}

/// Prints what `corridor sandbox --output json` printed at its start.
fn keys(data_dir: &DataDir, output: Output) -> Result<(), Failure> {
    let sandbox = super::env::running(data_dir)?;
    match output {
        Output::Json => output::json(&key_document(&sandbox)),
        Output::Table => {
            let rows = key_rows(&sandbox);
            let rows: Vec<(&str, String)> =
                rows.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            output::members(&rows)
        }
    }
}

fn key_document(sandbox: &client::Sandbox) -> Value {
    let own = [
        ("base_url", sandbox.base_url()),
        ("payment_access_key", &sandbox.payment_access_key),
        ("payment_secret_key", sandbox.payment_secret_key.expose()),
    ];
    let own = own.map(|(name, value)| (name.to_owned(), Value::from(value)));
    own.into_iter().chain(sandbox.others.clone()).collect()
}

/// The tenant, and every address, key and token of a sandbox by name.
fn key_rows(sandbox: &client::Sandbox) -> Vec<(String, String)> {
    // An access key begins with its tenant's tag.
    let tenant = sandbox.payment_access_key.split('-').next().unwrap_or_default();
    let mut rows = vec![
        ("tenant".to_owned(), tenant.to_owned()),
        ("base url".to_owned(), sandbox.base_url().to_owned()),
        ("payment access key".to_owned(), sandbox.payment_access_key.clone()),
        ("payment secret key".to_owned(), sandbox.payment_secret_key.expose().to_owned()),
    ];
    for (name, value) in &sandbox.others {
        let name = name.replace('_', " ");
        match value {
            Value::Object(members) => rows.extend(members.iter().map(|(member, value)| {
                let name = name.strip_suffix('s').unwrap_or(&name);
                (format!("{name} {member}"), value.as_str().unwrap_or_default().to_owned())
            })),
            Value::String(text) => rows.push((name, text.clone())),
            other => rows.push((name, other.to_string())),
        }
    }
    rows
}

/// What is printed once the sandbox is ready, within 80 columns.
fn card(printed: &Printed, started: Duration) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let url = &printed.base_url;
    let took = format!("{}.{} s", started.as_secs(), started.subsec_millis() / 100);
    let mut lines = vec![
        format!(
            "{:<64}{}",
            format!("Corridor {version} sandbox"),
            Style::new().bold().apply_to("NO REAL MONEY")
        ),
        format!(
            "{} in {took} · data kept in {}",
            Tone::Done.paint("ready"),
            below_home(&printed.data_dir)
        ),
        String::new(),
    ];
    let mut rows = vec![("Start here", format!("{url}/"), "docs, console, pay page".to_owned())];
    let mut console = ("Console", printed.console_url.clone());
    for user in &printed.console_users {
        let (name, address) = std::mem::take(&mut console);
        rows.push((name, address, format!("{:<7} {}", user.login, user.password)));
    }
    rows.extend([
        ("Pay a link", printed.pay_url.clone(), String::new()),
        ("APIs", format!("{url}/v2   and   /v1/sdk"), String::new()),
        ("", String::new(), String::new()),
        ("Keys", "eval \"$(corridor env)\"".to_owned(), "sets all keys in a shell".to_owned()),
        ("Wallet", format!("{}   {FUNDS}", short_id(&printed.wallet_id)), String::new()),
        ("", String::new(), String::new()),
    ]);
    let row = |(name, value, more): &(&str, String, String)| format!("{name:<11}{value:<39}{more}");
    lines.extend(rows.iter().map(row));
    lines.push("Next, in another terminal".to_owned());
    let next = [
        ("corridor pay 500 AED --to PAK --watch", "make a payment to Pakistan".to_owned()),
        ("corridor events tail", "see everything that happens".to_owned()),
        ("corridor trigger --list", format!("{} scenarios to try", Triggers.all().len())),
    ];
    lines.extend(next.map(|(command, what)| format!("  {command:<48}{what}")));
    lines.push(String::new());
    lines.push("Ctrl-C stops it. Nothing is lost: the next start continues here.".to_owned());
    lines.iter().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}

/// A path as its user writes it: `~/.local/share/corridor`.
pub fn below_home(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use console::measure_text_width;
    use service::sandbox::{DemoUser, Tokens};

    use super::*;

    fn printed(url: &str) -> Printed {
        let user = |login: &str| DemoUser {
            login: login.to_owned(),
            password: "dv476-6r2wm-ncdrt".to_owned(),
        };
        Printed {
            base_url: url.to_owned(),
            wallet_base_url: url.to_owned(),
            console_url: format!("{url}/console"),
            console_users: vec![user("ayesha"), user("omar")],
            docs_url: format!("{url}/docs"),
            pay_url: format!("{url}/pay/c151e08ef18effc237e7deff1a484c9238af0e39"),
            chain_rpc_url: url.to_owned(),
            payment_access_key: "demobank-test_pay-1".to_owned(),
            payment_secret_key: "a secret".to_owned(),
            wallet_access_key: "demobank-test_wallet-1".to_owned(),
            wallet_secret_key: "a secret".to_owned(),
            wallet_token: "a token".to_owned(),
            webhook_secret: "whsec_a".to_owned(),
            wallet_id: "6fd9764c-8b1c-4f6e-9f5a-3f1f0c7f2b11".to_owned(),
            tokens: Tokens { usdc: "0x1".to_owned(), usdt: "0x2".to_owned() },
            chain_id: 1337,
            data_dir: "/var/lib/corridor".into(),
            pid: 1,
        }
    }

    fn refusal(line: &[&str]) -> String {
        let dir = tempfile::tempdir().expect("a directory");
        let at = dir.path().join("none");
        let shown = at.display().to_string();
        let line = [&["corridor", "sandbox", "--data-dir", &shown][..], line].concat();
        let cli = crate::Cli::try_parse_from(line).expect("a command line");
        let refused = crate::run(cli).expect_err("refused");
        assert!(!at.exists(), "nothing is created");
        assert_eq!(refused.exit_code(), 2, "{refused}");
        refused.to_string()
    }

    #[test]
    fn what_a_sandbox_cannot_do_is_refused_before_it_starts() {
        let message = refusal(&["--webhook-base", "nonsense"]);
        assert!(message.starts_with("--webhook-base: "), "{message}");
        let message = refusal(&["--set", "http.listen=5"]);
        assert!(message.contains("--set http.listen") && message.contains("--port"), "{message}");
        for key in FIXED.iter().chain(&DEPTHS) {
            assert!(refusal(&["--set", &format!("{key}=1")]).contains(key), "{key}");
        }
    }

    #[test]
    fn a_service_accepts_the_variables_of_a_sandbox() {
        let json = serde_json::to_value(printed("http://127.0.0.1:1")).expect("JSON");
        let sandbox = serde_json::from_value(json).expect("a sandbox");
        for name in crate::env::variables(&sandbox).into_keys() {
            assert!(config::is_known_variable(&name), "{name}");
        }
    }

    #[test]
    fn the_keys_are_all_that_was_printed_at_the_start() {
        let printed = printed("http://127.0.0.1:1");
        let json = serde_json::to_value(&printed).expect("JSON");
        let sandbox: client::Sandbox = serde_json::from_value(json.clone()).expect("a sandbox");
        assert_eq!(key_document(&sandbox), json);
        let rows = key_rows(&sandbox);
        assert_eq!(rows[0], ("tenant".to_owned(), "demobank".to_owned()));
        let value =
            |name: &str| rows.iter().find(|(known, _)| known == name).map(|(_, it)| &it[..]);
        for (name, shown) in [
            ("base url", "http://127.0.0.1:1"),
            ("wallet base url", "http://127.0.0.1:1"),
            ("payment access key", "demobank-test_pay-1"),
            ("payment secret key", "a secret"),
            ("wallet token", "a token"),
            ("webhook secret", "whsec_a"),
            ("token USDC", "0x1"),
            ("chain id", "1337"),
        ] {
            assert_eq!(value(name), Some(shown), "{name}: {rows:?}");
        }
        let members = json.as_object().expect("an object").len();
        assert_eq!(rows.len(), members + 2, "the tenant, and two tokens in one member");
    }

    #[test]
    fn the_card_fits_80_columns_and_states_where_to_start() {
        let printed = printed("http://127.0.0.1:65535");
        let card = card(&printed, Duration::from_millis(1_640));
        for line in card.lines() {
            assert!(measure_text_width(line) <= 80, "{line}");
        }
        for part in [
            "NO REAL MONEY",
            "ready in 1.6 s · data kept in /var/lib/corridor",
            "Start here http://127.0.0.1:65535/ ",
            "omar    dv476-6r2wm-ncdrt",
            "Wallet     6fd9764c   1,000.00 USDC",
            "corridor pay 500 AED --to PAK --watch",
            "Ctrl-C stops it",
        ] {
            assert!(card.contains(part), "{part:?}: {card}");
        }
        assert!(!card.contains("a secret") && !card.contains("whsec_"), "{card}");
    }
}
