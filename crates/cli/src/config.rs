//! `corridor config check|print|reference`, and the options of commands that read the
//! configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::failure::Failure;
use super::output::{self, Output};
use super::{Context, pair};
use config::{self, Config, Merged, REFERENCE, Sources};

/// `--config`, `--set`, `--database-url`
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

    pub fn load(&self) -> Result<Config, Failure> {
        Ok(Config::load(&self.sources(&[]))?)
    }
}

/// `config …`
#[derive(Subcommand, Debug)]
pub enum ConfigCommand {
    /// Validate the configuration, including the rules of production
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
        ConfigCommand::Check(args) => check(&args.config, context.output),
        ConfigCommand::Print(args) => print(&args.config, context.output),
        ConfigCommand::Reference(_) => reference(context.output),
    }
}

fn check(args: &ConfigArgs, output: Output) -> Result<(), Failure> {
    let config = args.load()?;
    let refusals = config::refuse_in_production(&config);
    let environment = config.environment.name();
    let open = config
        .corridors
        .iter()
        .filter(|(_, corridor)| corridor.open)
        .map(|(code, _)| code.as_str());
    let open: Vec<&str> = open.collect();
    let rails = config.rails.iter().filter(|rail| rail.enabled).count();
    match output {
        Output::Json => output::json(&json!({
            "valid": refusals.is_empty(), "environment": environment, "corridors": open, "rails": rails, "refusals": refusals,
        }))?,
        Output::Table if refusals.is_empty() => output::line(&format!(
            "valid: environment {environment}, corridors {}, {rails} rails",
            open.join(" ")
        ))?,
        Output::Table => {}
    }
    if refusals.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(format!("production refuses to start:\n  {}", refusals.join("\n  "))))
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
