//! `corridor config check|print|reference`, and the options of commands that read the
//! configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::failure::Failure;
use super::output::{self, Output};
use super::{Context, doctor, pair, run_async};
use config::{self, Config, Merged, REFERENCE, Sources};
use service::installation;
use service::preflight::{self, Finding, Level};

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Configuration file; `corridor config reference` prints every key
    #[arg(long, env = "CORRIDOR_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set a configuration key, repeatable: --set http.listen=0.0.0.0:8480
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// store.url: sqlite:PATH or postgres://… (better in CORRIDOR_STORE__URL; other users can see
    /// arguments)
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl ConfigArgs {
    /// All layers of this process, with the command's `more` flags on top.
    pub fn sources(&self, more: &[(&str, String)]) -> Sources {
        let mut overrides = self.set.clone();
        overrides.extend(self.database_url.iter().map(|url| ("store.url".to_owned(), url.clone())));
        overrides.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        Sources::of_process(
            self.config.clone().filter(|path| !path.as_os_str().is_empty()),
            overrides,
        )
    }

    /// The keys given with `--set`.
    pub fn set_keys(&self) -> impl Iterator<Item = &str> {
        self.set.iter().map(|(key, _)| key.as_str())
    }

    pub fn load(&self) -> Result<Config, Failure> {
        Ok(Config::load(&self.sources(&[]))?)
    }
}

#[derive(Subcommand, Debug)]
pub enum ConfigCommand {
    /// Find what `serve` would refuse: values, the rules of production, files, the database, rates,
    /// lists, rails
    Check(CheckArgs),
    /// Print the effective configuration, secrets masked
    Print(PrintArgs),
    /// Print every key with its default and meaning
    Reference(ReferenceArgs),
}

/// Options of `config check`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor config check --config /etc/corridor/corridor.toml")]
pub struct CheckArgs {
    /// Check the values only: open no file that they name and ask no server
    #[arg(long)]
    values_only: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Options of `config print`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  CORRIDOR_HTTP__LISTEN=0.0.0.0:80 corridor config print")]
pub struct PrintArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Options of `config reference`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor config reference > corridor.toml")]
pub struct ReferenceArgs {}

pub fn run(command: &ConfigCommand, context: &Context) -> Result<(), Failure> {
    match command {
        ConfigCommand::Check(args) => check(args, context),
        ConfigCommand::Print(args) => print(&args.config, context.output),
        ConfigCommand::Reference(_) => reference(context.output),
    }
}

fn check(args: &CheckArgs, context: &Context) -> Result<(), Failure> {
    let config = args.config.load()?;
    let refusals = config::refuse_in_production(&config);
    let findings = if args.values_only { Vec::new() } else { loaded(&config, context)? };
    let of = |level: Level| findings.iter().filter(move |finding| finding.level == level);
    let described = |finding: &Finding| format!("{}: {}", finding.name, finding.detail);
    let wrong: Vec<String> = of(Level::Wrong).map(described).collect();
    let is_valid = refusals.is_empty() && wrong.is_empty();
    let environment = config.environment.name();
    let served = config.served_corridors();
    let rails = config.rails.iter().filter(|rail| rail.enabled).count();
    match context.output {
        Output::Json => output::json(&json!({
            "valid": is_valid, "environment": environment, "corridors": served, "rails": rails, "refusals": refusals,
            "findings": findings.iter().map(doctor::document).collect::<Vec<_>>(),
        }))?,
        Output::Table => {
            of(Level::Warning)
                .for_each(|finding| output::remark(&format!("warning: {}", described(finding))));
            if is_valid {
                output::line(&format!(
                    "valid: environment {environment}, corridors {}, {}",
                    if served.is_empty() { "none".to_owned() } else { served.join(" ") },
                    output::counted(rails, "rail")
                ))?;
            }
        }
    }
    let mut faults = Vec::new();
    if !refusals.is_empty() {
        faults.push(format!("production refuses to start:\n  {}", refusals.join("\n  ")));
    }
    if !wrong.is_empty() {
        faults.push(format!("it would not work as configured:\n  {}", wrong.join("\n  ")));
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::Refused(faults.join("\n"))) }
}

/// What `serve` loads at its start.
fn loaded(config: &Config, context: &Context) -> Result<Vec<Finding>, Failure> {
    let data_dir = context.data_dir()?;
    run_async(async {
        let store = doctor::existing_store(config, data_dir.path()).await;
        let mut findings = preflight::look(config, data_dir.path(), store.as_ref(), false).await;
        findings.push(doctor::directory(data_dir.path()));
        if store.is_none()
            && let Some(why) = installation::unusable(config, data_dir.path()).await
        {
            findings.push(Finding::new("database", Level::Wrong, why));
        }
        Ok(findings)
    })
}

fn print(args: &ConfigArgs, output: Output) -> Result<(), Failure> {
    let merged = Merged::read(&args.sources(&[]))?;
    Config::from_merged(&merged)?;
    match output {
        Output::Table => output::raw(config::print(&merged).as_bytes()),
        Output::Json => {
            let value = serde_json::to_value(config::masked_table(&merged));
            output::json(
                &value
                    .map_err(|error| Failure::Usage(format!("configuration as JSON: {error}")))?,
            )
        }
    }
}

fn reference(output: Output) -> Result<(), Failure> {
    match output {
        Output::Table => output::raw(REFERENCE.as_bytes()),
        Output::Json => output::json(&json!({ "toml": REFERENCE })),
    }
}
