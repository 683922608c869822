//! `corridor init`: writes the files of a production installation: configuration, secrets, chain
//! keys, systemd unit and reverse proxy. It overwrites nothing.

mod answers;
mod files;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use config::{Config, Sources};
use http_api::auth::Network;
use serde_json::json;
use service::preflight::{self, Finding, Level};

use super::doctor;
use super::failure::Failure;
use super::output::{self, Output};
use super::{Context, run_async};
use answers::{Answers, DebtorAddress, Rail, ServerKey, Target, Terminal};
use files::{NewFile, Written};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor init
  corridor init --dir /etc/corridor --data-dir /var/lib/corridor --url https://api.bank.example \\
    --rail pak-raast=directory:/srv/bank/raast --debtor-name 'Demo Bank' --debtor-account AE070331234567890123456 \\
    --debtor-agent DEMOAEAD --rates /var/lib/corridor/rates.csv --list /var/lib/corridor/lists/un.xml

On a terminal it asks for what is missing. Run it as the user of the service, or as root for a directory that belongs to this
user: the files then belong to the user, too. It overwrites no file. Without --data-dir, data is in /var/lib/corridor. With --wallets-tenant it also creates the tenant's three
chain keys as keystore files.")]
pub struct InitArgs {
    /// Directory for the files
    #[arg(long, default_value = "/etc/corridor", value_name = "DIR")]
    dir: PathBuf,
    /// Public URL of the API, https
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Public URL of the console [default: https://console.<host of the API>]
    #[arg(long, value_name = "URL")]
    console_url: Option<String>,
    /// Address on which the proxy reaches the service
    #[arg(long, default_value = "127.0.0.1:8480", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Address or range that the proxy connects from, repeatable [default: this machine's, by
    /// --listen]
    #[arg(long = "trusted-proxy", value_name = "NETWORK", value_parser = network)]
    trusted_proxies: Vec<String>,
    /// Rail of your bank, repeatable: ID=directory:PATH, ID=sftp://USER@HOST[:PORT][/DIRECTORY],
    /// ID=connector:URL or ID=https://…
    #[arg(long = "rail", value_name = "ID=TARGET", value_parser = answers::rail)]
    rails: Vec<Rail>,
    /// Key of the bank's SFTP server, repeatable: the fingerprint that the bank publishes
    #[arg(long = "host-key", value_name = "HOST=SHA256:…", value_parser = answers::host_key)]
    host_keys: Vec<ServerKey>,
    /// Name of the account that payouts are debited from
    #[arg(long, value_name = "NAME")]
    debtor_name: Option<String>,
    /// Number of this account
    #[arg(long, value_name = "ACCOUNT")]
    debtor_account: Option<String>,
    /// BIC or id of the bank that holds it
    #[arg(long, value_name = "BANK")]
    debtor_agent: Option<String>,
    /// Address of its owner: street, town and country, as 'Al Maktoum Road, Dubai, AE'
    #[arg(long, value_name = "ADDRESS", value_parser = answers::debtor_address)]
    debtor_address: Option<DebtorAddress>,
    /// Rates, repeatable: a file or an https address
    #[arg(long, value_name = "LOCATION")]
    rates: Vec<String>,
    /// Sanctions list, repeatable: its locations, separated by commas
    #[arg(long = "list", value_name = "LOCATION[,LOCATION]")]
    lists: Vec<String>,
    /// File with the URL of a PostgreSQL database [default: SQLite in the data directory]
    #[arg(long, value_name = "FILE")]
    database_url_file: Option<PathBuf>,
    /// Newest backup, or a file that your backup job touches
    #[arg(long, value_name = "FILE")]
    backup_file: Option<PathBuf>,
    /// Reverse proxy in front
    #[arg(long, value_enum, default_value_t = Proxy::Nginx)]
    proxy: Proxy,
    #[command(flatten)]
    wallets: WalletArgs,
}

/// Options of `init` for stablecoin wallets.
#[derive(Args, Debug)]
#[command(next_help_heading = "Wallets")]
struct WalletArgs {
    /// Tag of the tenant with wallets; enables the wallet service
    #[arg(long = "wallets-tenant", value_name = "TAG", requires_all = ["node_urls_file", "admin", "treasury"])]
    tenant: Option<String>,
    /// File with the URLs of two or more nodes of different operators, one per line
    #[arg(long, value_name = "FILE", requires = "tenant")]
    node_urls_file: Option<PathBuf>,
    /// Public network, a preset of `chain.preset`
    #[arg(long, value_name = "NAME", value_parser = answers::preset, requires = "tenant")]
    chain: Option<String>,
    /// Id of another chain
    #[arg(
        long,
        default_value_t = 1,
        value_name = "ID",
        requires = "tenant",
        conflicts_with = "chain"
    )]
    chain_id: u64,
    /// Address of the USDC contract
    #[arg(long, value_name = "ADDRESS", value_parser = answers::address, requires = "tenant")]
    usdc: Option<String>,
    /// Address of the USDT contract
    #[arg(long, value_name = "ADDRESS", value_parser = answers::address, requires = "tenant")]
    usdt: Option<String>,
    /// Address of the bank's multi-signature wallet, which grants the roles
    #[arg(long, value_name = "ADDRESS", value_parser = answers::address, requires = "tenant")]
    admin: Option<String>,
    /// Address that wallets are swept to
    #[arg(long, value_name = "ADDRESS", value_parser = answers::address, requires = "tenant")]
    treasury: Option<String>,
}

/// Where a production installation keeps its data unless `--data-dir` names another place: the
/// unit's `StateDirectory`. A sandbox's default would be in a home that the unit hides.
const DATA_DIR: &str = "/var/lib/corridor";

/// Server before the service whose configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Proxy {
    Nginx,
    Caddy,
    Haproxy,
}

pub fn run(args: &InitArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir.clone().unwrap_or_else(|| DATA_DIR.into());
    let data_dir = std::path::absolute(data_dir)?;
    let dir = std::path::absolute(&args.dir)?;
    refuse_existing(
        [files::CONFIG, files::UNIT, files::proxy_name(args.proxy)].map(|name| dir.join(name)),
    )?;
    let answers = Answers::of(args, &mut Terminal::of_process())?;
    let Written { files, addresses } = files::of(&answers, &dir, &data_dir)?;
    write_all(&files)?;
    let config = match Config::load(&sources(&dir)) {
        Ok(config) => config,
        Err(error) => {
            remove_all(&files);
            return Err(error.into());
        }
    };
    give_to_owner(&dir, &files)?;
    let findings = run_async(async { Ok(preflight::look(&config, &data_dir, None, false).await) })?;
    let mut missing: Vec<String> = config::refuse_in_production(&config);
    let wrong = findings.iter().filter(|finding| finding.level == Level::Wrong);
    missing.extend(wrong.map(|Finding { name, detail, .. }| format!("{name}: {detail}")));
    match context.output {
        Output::Json => output::json(&json!({
            "written": files.iter().map(|file| file.path.display().to_string()).collect::<Vec<_>>(),
            "addresses": addresses.iter().map(|(role, address)| json!({ "role": role, "address": address })).collect::<Vec<_>>(),
            "missing": missing,
            "findings": findings.iter().map(doctor::document).collect::<Vec<_>>(),
        })),
        Output::Table => {
            for file in &files {
                output::line(&format!("written  {}", file.path.display()))?;
            }
            for (role, address) in &addresses {
                output::line(&format!("key      {role}: {address}, needs ETH for gas"))?;
            }
            section("Still missing", &missing)?;
            section("Next", &next_steps(&dir, &data_dir, &answers))
        }
    }
}

/// The layers of the written installation.
fn sources(dir: &Path) -> Sources {
    Sources {
        file: Some(dir.join(files::CONFIG)),
        env: vec![(
            "CORRIDOR_SECRETS_DIR".to_owned(),
            dir.join(files::SECRETS).display().to_string(),
        )],
        overrides: Vec::new(),
    }
}

fn section(title: &str, lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    output::line(&format!("\n{title}"))?;
    lines.iter().try_for_each(|text| match is_command(text) {
        // As it is, to be copied.
        true => output::line(&format!("    {text}")),
        false => output::sentence(&format!("  {text}"), 0),
    })
}

fn is_command(text: &str) -> bool {
    ["corridor ", "export ", "mkdir ", "ssh-keygen "].iter().any(|word| text.starts_with(word))
}

fn next_steps(dir: &Path, data_dir: &Path, answers: &Answers) -> Vec<String> {
    let (at, secrets) = (|name: &str| shell_word(&dir.join(name)), dir.join(files::SECRETS));
    let proxy = answers.proxy;
    let tag = answers.wallets.as_ref().map_or("TAG", |wallets| wallets.tenant.as_str());
    let servers = answers.rails.iter().filter(|rail| matches!(rail.target, Target::Sftp(_)));
    let keys = servers.flat_map(|rail| {
        let key = files::ssh_key(dir, &rail.id);
        let keys = shell_word(key.parent().unwrap_or(dir));
        [
            format!("As the service's user, a key for {}; give the bank its .pub file:", rail.id),
            format!("mkdir -p -m 700 {keys}"),
            format!("ssh-keygen -t ed25519 -f {}", shell_word(&key)),
        ]
    });
    let mut steps: Vec<String> = keys.collect();
    steps.extend([
        format!("Keep a copy of {} apart from the backups.", secrets.join(files::KEK).display()),
        format!(
            "Set names, certificates and networks in {}.",
            dir.join(files::proxy_name(proxy)).display()
        ),
        "Create the database, the tenant and the first user:".to_owned(),
        format!("export CORRIDOR_CONFIG={}", at(files::CONFIG)),
        format!("export CORRIDOR_SECRETS_DIR={}", shell_word(&secrets)),
        format!("export CORRIDOR_DATA_DIR={}", shell_word(data_dir)),
        "corridor config check".to_owned(),
        "corridor migrate".to_owned(),
        format!("corridor tenants create --tag {tag} --name NAME"),
        "corridor users create NAME --role admin --all-tenants".to_owned(),
        format!("Install {} and start it. Then:", at(files::UNIT)),
        "corridor doctor --deep".to_owned(),
    ]);
    steps
}

/// A path as a word of a shell's command.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+=:@,%".contains(sign);
    if text.chars().all(is_plain) { text } else { super::env::quoted(&text) }
}

/// Parses an address or a range.
fn network(text: &str) -> Result<String, String> {
    let rule = |_| "must be an address or a range such as 10.0.0.0/8".to_owned();
    text.parse::<Network>().map(|_| text.to_owned()).map_err(rule)
}

/// If root writes into another user's directory, that user gets the files: keystores and secrets
/// are readable by their owner only.
fn give_to_owner(dir: &Path, files: &[NewFile]) -> Result<(), Failure> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let owner = std::fs::metadata(dir)?;
    let is_root = std::fs::metadata(&files[0].path)?.uid() == 0;
    if !is_root || owner.uid() == 0 {
        return Ok(());
    }
    let parents = files.iter().filter_map(|file| file.path.parent());
    let below = parents.filter(|parent| *parent != dir);
    for path in files.iter().map(|file| file.path.as_path()).chain(below) {
        chown(path, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// Removes what this run wrote. The failure that led here is the one to report.
fn remove_all(files: &[NewFile]) {
    for file in files {
        drop(std::fs::remove_file(&file.path));
    }
}

/// Refuses to overwrite a file.
fn refuse_existing(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), Failure> {
    let existing = paths.into_iter().filter(|path| path.exists());
    let existing: Vec<String> = existing.map(|path| path.display().to_string()).collect();
    match existing.is_empty() {
        true => Ok(()),
        false => {
            let names = existing.join(", ");
            Err(Failure::Refused(format!("nothing written; these exist: {names}")))
        }
    }
}

/// Writes every file, or none if one exists.
fn write_all(files: &[NewFile]) -> Result<(), Failure> {
    refuse_existing(files.iter().map(|file| file.path.clone()))?;
    let written = files
        .iter()
        .enumerate()
        .try_for_each(|(at, file)| file.write().map_err(|error| (at, error)));
    written.map_err(|(at, error)| {
        remove_all(&files[..at]);
        error
    })
}
