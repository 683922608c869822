//! The command line: the list of commands and nothing else. One file per group of commands.
//!
//! Commands act through the API as a user; those that open the store say so in their own file.

mod accounts;
mod api;
mod approvals;
mod audit;
mod bench;
mod brand;
mod certify;
mod chain;
mod colour;
mod config;
mod customers;
mod doctor;
mod document;
mod env;
mod events;
mod export;
mod failure;
mod health;
mod help;
mod help_text;
mod ids;
mod init;
mod ledger;
mod listen;
mod local_time;
mod new_file;
mod open;
mod openapi;
mod order;
mod orders;
mod output;
mod pay;
mod payments;
mod people;
mod policy;
mod quote;
mod rails;
mod rates;
mod receipt;
#[cfg(test)]
mod reference;
mod relay;
mod requests;
mod review;
mod sandbox;
mod sandbox_call;
#[cfg(test)]
mod scripted;
mod serve;
mod shell;
mod status;
mod store_commands;
mod story;
mod table;
mod tenants;
mod token;
mod trigger;
mod users;
mod wallet_api;
mod wallets;
#[cfg(feature = "parquet")]
mod warehouse;
mod watch;
mod webhook_secret;
mod webhooks;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};

pub use self::config::ConfigArgs;
pub use doctor::{Finding, Level};
pub use failure::Failure;
pub use output::Output;
pub use trigger::Triggers;

use client::DataDir;

/// Help is no wider, however wide the terminal is.
const HELP_WIDTH_MAX: usize = 120;

#[derive(Parser, Debug)]
#[command(about = "Pay people abroad, and receive stablecoins, from your own bank.")]
#[command(name = "corridor", version, propagate_version = true)]
#[command(after_help = "Exit codes: 0 success, 1 refused, 2 invalid usage or configuration,
3 unreachable or failed, 4 what was watched did not succeed.")]
pub struct Cli {
    /// Output format: table for reading, json for programs
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    #[arg(help_heading = "Global options", display_order = 900)]
    output: Output,
    /// Directory for data and keys [default: $XDG_DATA_HOME/corridor, else ~/.local/share/corridor]
    #[arg(long, global = true, env = "CORRIDOR_DATA_DIR", value_name = "DIR")]
    #[arg(help_heading = "Global options", display_order = 901)]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    view: output::View,
    #[command(subcommand)]
    command: Command,
}

/// The subcommands, in the order of `--help`.
#[derive(Subcommand, Debug)]
enum Command {
    // ---- local
    /// Start a local sandbox
    Sandbox(sandbox::SandboxArgs),
    /// Open the console, docs or a pay link in the browser
    Open(open::OpenArgs),
    /// Show what runs here and whether it is well
    Status(status::StatusArgs),
    /// Print addresses and keys as shell variables
    Env(env::EnvArgs),
    /// Write the files of a production installation
    Init(Box<init::InitArgs>),
    /// Find what is wrong with this installation, and how to fix it
    Doctor(doctor::DoctorArgs),
    /// Show or advance the sandbox's business clock
    #[command(subcommand)]
    Clock(sandbox_call::ClockCommand),
    /// Send sandbox tokens to an address
    Faucet(sandbox_call::FaucetArgs),
    // ---- payments
    /// Create a quote: amounts, rate and fees
    Quote(quote::QuoteArgs),
    /// Pay a quote, or quote and pay at once
    Pay(pay::PayArgs),
    /// Get, list, watch and export payments
    #[command(subcommand)]
    Payments(payments::PaymentsCommand),
    /// Check beneficiaries' accounts at their banks
    #[command(subcommand)]
    Accounts(accounts::AccountsCommand),
    // ---- wallets
    /// Provision, inspect, block and unblock wallets
    #[command(subcommand)]
    Wallets(wallets::WalletsCommand),
    /// Create payment requests and show their QR codes
    #[command(subcommand)]
    Requests(requests::RequestsCommand),
    /// List transactions of a wallet
    #[command(subcommand)]
    Tx(orders::TxCommand),
    /// Show an exchange rate
    Rate(orders::RateArgs),
    /// Exchange stablecoins and pay out
    #[command(subcommand)]
    Orders(orders::OrdersCommand),
    // ---- events
    /// Tail, list, resend and verify events
    #[command(subcommand)]
    Events(events::EventsCommand),
    /// Forward events to an endpoint on this machine
    Listen(listen::ListenArgs),
    /// Run a scenario in the sandbox
    Trigger(trigger::TriggerArgs),
    /// Test a webhook endpoint against the specification
    Certify(certify::CertifyArgs),
    // ---- access
    /// Mint and inspect tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Create, list, fund and configure tenants
    #[command(subcommand)]
    Tenants(tenants::TenantsCommand),
    /// Manage customers' KYC levels
    #[command(subcommand)]
    Customers(customers::CustomersCommand),
    /// Create, list, rotate and revoke access keys
    #[command(subcommand)]
    Keys(tenants::KeysCommand),
    /// Manage console users and roles
    #[command(subcommand)]
    Users(users::UsersCommand),
    /// Configure webhook endpoints and secrets
    #[command(subcommand)]
    Webhooks(webhooks::WebhooksCommand),
    // ---- operations
    /// Inspect balances, statements and reconciliation
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    /// Show what rails would send to their banks
    #[command(subcommand)]
    Rails(rails::RailsCommand),
    /// Test sources of rates
    #[command(subcommand)]
    Rates(rates::RatesCommand),
    /// Rescan blocks of the chain
    #[command(subcommand)]
    Chain(chain::ChainCommand),
    /// Search and verify the audit log
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Export payments, transfers and events as Parquet
    #[cfg(feature = "parquet")]
    #[command(subcommand)]
    Export(warehouse::ExportCommand),
    /// Work the review queue and alerts
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// List and decide on proposals that need a second user
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    // ---- server
    /// Run the service: APIs, console and workers
    Serve(serve::ServeArgs),
    /// Migrate the database to this version's schema
    Migrate(serve::MigrateArgs),
    /// Send the event logs to a broker (NATS JetStream)
    #[command(subcommand)]
    Relay(relay::RelayCommand),
    /// Check whether a running service is ready
    Healthcheck(health::HealthArgs),
    /// Check, print and document the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print the OpenAPI document of an API
    Openapi(openapi::OpenapiArgs),
    /// Benchmark the service on this machine
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Print a completion script for a shell
    Completions(shell::CompletionsArgs),
    /// Print the manual page
    Man(shell::ManArgs),
}

/// The global options, passed to every command.
#[derive(Clone, Debug)]
pub struct Context {
    /// The value of `--output`.
    pub output: Output,
    data_dir: Option<PathBuf>,
}

impl Context {
    pub fn data_dir(&self) -> Result<DataDir, Failure> {
        Ok(DataDir::find(self.data_dir.clone())?)
    }
}

/// The long options of a command line.
fn typed(arguments: impl Iterator<Item = String>) -> BTreeSet<String> {
    let name = |argument: String| {
        let name = argument.strip_prefix("--")?.split('=').next()?.to_owned();
        Some(name).filter(|name| !name.is_empty())
    };
    arguments.skip(1).filter_map(name).collect()
}

/// An option that was typed counts, whatever the environment says of its alternative: `--secret-key-file`
/// beside `CORRIDOR_SECRET_KEY`.
fn typed_wins(command: clap::Command, typed: &BTreeSet<String>) -> clap::Command {
    const FILE: &str = "-file";
    let command = command.mut_args(|option| {
        let rival = option.get_long().map(|long| match long.strip_suffix(FILE) {
            Some(plain) => plain.to_owned(),
            None => format!("{long}{FILE}"),
        });
        match rival.is_some_and(|rival| typed.contains(&rival)) {
            true => option.env(None::<&str>),
            false => option,
        }
    });
    command.mut_subcommands(|inner| typed_wins(inner, typed))
}

/// Parses the arguments of this process and runs the command.
pub fn main() -> ExitCode {
    let width = output::width().min(HELP_WIDTH_MAX);
    let fitted = || help_text::fitted(help::grouped(Cli::command(), width), width);
    if std::env::args_os().len() <= 1 {
        return match fitted().print_help() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => Failure::from(error).report(),
        };
    }
    let cli = typed_wins(help::grouped(Cli::command(), width), &typed(std::env::args()))
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .unwrap_or_else(|error| match error.kind() {
            // Fitting every text takes a moment that other commands need not wait for.
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let error = fitted().try_get_matches().err().unwrap_or(error);
                error.exit()
            }
            _ => with_plain_usage(error, std::env::args().skip(1)).exit(),
        });
    // Fails only if a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if cli.output == Output::Json && !cli.view.columns.is_empty() {
        return Err(Failure::Usage("--columns: JSON output is always complete".to_owned()));
    }
    output::set_view(cli.view);
    let context = Context { output: cli.output, data_dir: cli.data_dir };
    match cli.command {
        Command::Sandbox(args) => sandbox::run(&args, &context),
        Command::Open(args) => open::run(&args, &context),
        Command::Status(args) => status::run(&args, &context),
        Command::Tenants(command) => tenants::tenants(&command, &context),
        Command::Customers(command) => customers::run(&command, &context),
        Command::Keys(command) => tenants::keys(&command, &context),
        Command::Users(command) => users::run(&command, &context),
        Command::Webhooks(command) => webhooks::run(&command, &context),
        Command::Ledger(command) => ledger::run(&command, &context),
        Command::Rails(command) => rails::run(&command, &context),
        Command::Rates(command) => rates::run(&command, &context),
        Command::Chain(command) => chain::run(&command, &context),
        #[cfg(feature = "parquet")]
        Command::Export(command) => warehouse::run(&command, &context),
        Command::Review(command) => review::run(&command, &context),
        Command::Approvals(command) => approvals::run(&command, &context),
        Command::Serve(args) => serve::serve(&args, &context),
        Command::Relay(command) => relay::run(&command, &context),
        Command::Migrate(args) => serve::migrate(&args, &context),
        Command::Env(args) => env::run(&args, &context),
        Command::Init(args) => init::run(&args, &context),
        Command::Doctor(args) => doctor::run(&args, &context),
        Command::Clock(command) => sandbox_call::clock(&command, &context),
        Command::Faucet(args) => sandbox_call::faucet(&args, &context),
        Command::Quote(args) => quote::run(&args, &context),
        Command::Pay(args) => pay::run(&args, &context),
        Command::Payments(command) => payments::run(&command, &context),
        Command::Accounts(command) => accounts::run(&command, &context),
        Command::Wallets(command) => wallets::run(&command, &context),
        Command::Requests(command) => requests::run(&command, &context),
        Command::Tx(command) => orders::tx(&command, &context),
        Command::Rate(args) => orders::rate(&args, &context),
        Command::Orders(command) => orders::orders(&command, &context),
        Command::Events(command) => events::run(&command, &context),
        Command::Listen(args) => listen::run(&args, &context),
        Command::Trigger(args) => trigger::run(&args, &context),
        Command::Certify(args) => certify::run(&args, &context),
        Command::Token(command) => token::run(&command, &context),
        Command::Audit(command) => audit::run(&command, &context),
        Command::Healthcheck(args) => health::run(&args, &context),
        Command::Config(command) => config::run(&command, &context),
        Command::Openapi(args) => openapi::run(&args),
        Command::Bench(command) => bench::run(&command, &context),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}

/// Adds the command's own usage to a clap error. Clap's usage lists options that the environment
/// sets (`corridor env`) as if the user had to type them.
fn with_plain_usage(
    mut error: clap::Error,
    arguments: impl Iterator<Item = String>,
) -> clap::Error {
    if error.get(ContextKind::Usage).is_none() {
        return error;
    }
    let mut command = Cli::command();
    command.build();
    for argument in arguments {
        if let Some(inner) = command.find_subcommand(&argument).cloned() {
            command = inner;
        }
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    error
}

/// Runs an asynchronous command on a multi-threaded runtime.
fn run_async<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    // Boxed, so that the runtime's code is compiled once per result type and not per command.
    let command: Pin<Box<dyn Future<Output = Result<T, Failure>> + '_>> = Box::pin(command);
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(command)
}

/// Everything that this process writes is its owner's alone, whatever the mask of its starter.
fn keep_files_private() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Parses a duration such as `24h` into seconds.
fn seconds(text: &str) -> Result<u32, String> {
    let wrong = || "must be a number with s, m, h or d, for example 24h".to_owned();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let unit_s = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let seconds = number.parse::<u32>().ok().and_then(|number| number.checked_mul(unit_s));
    seconds.filter(|seconds| *seconds > 0).ok_or_else(wrong)
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_typed_option_wins_over_the_environment_of_its_alternative() {
        let of_env = |typed: &[&str]| {
            let typed: BTreeSet<String> = typed.iter().map(|name| (*name).to_owned()).collect();
            let command = typed_wins(Cli::command(), &typed);
            let certify = command.find_subcommand("certify").expect("there").clone();
            ["secret", "secret-file"].map(|name| {
                let mut options = certify.get_arguments();
                let option = options.find(|it| it.get_long() == Some(name)).expect("there");
                option.get_env().is_some()
            })
        };
        assert_eq!(of_env(&[]), [true, true]);
        assert_eq!(of_env(&["secret-file"]), [false, true]);
        assert_eq!(of_env(&["secret"]), [true, false]);
        let words = ["corridor", "certify", "--secret-file=x", "-q", "--"].map(str::to_owned);
        assert_eq!(typed(words.into_iter()), BTreeSet::from(["secret-file".to_owned()]));
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(
            (seconds("24h"), seconds("90s"), seconds("2d")),
            (Ok(86_400), Ok(90), Ok(172_800))
        );
        for wrong in ["", "h", "24", "0h", "-1h", "1.5h", "99999999d", "1y", "ه"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let mut inner =
                command.get_subcommands().filter(|inner| inner.get_name() != "help").peekable();
            if inner.peek().is_none() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(
                    help.contains("corridor ") && help.contains("Example"),
                    "{path} has no example"
                );
            }
            inner.for_each(|inner| check(inner, &format!("{path} {}", inner.get_name())));
        }
        check(&Cli::command(), "corridor");
    }

    /// Examples are copied: what they give as a reference is accepted.
    #[test]
    fn the_examples_of_bookings_are_commands() {
        let mut command = Cli::command();
        let tenants = command.find_subcommand_mut("tenants").expect("tenants");
        let mut seen = 0;
        for inner in tenants.get_subcommands() {
            let help = inner.get_after_help().map(ToString::to_string).unwrap_or_default();
            let hash = format!("0x{}", "9f2c".repeat(16));
            let joined = help.replace("\\\n", " ").replace("$TX_HASH", &hash);
            for line in joined.lines().map(str::trim).filter(|it| it.starts_with("corridor ")) {
                // In quotes, blanks separate nothing.
                let quoted = |(at, part): (usize, &str)| match at % 2 {
                    0 => part.to_owned(),
                    _ => part.replace(' ', "_"),
                };
                let line: String = line.split('\'').enumerate().map(quoted).collect();
                let parsed = Cli::try_parse_from(line.split_whitespace());
                assert!(parsed.is_ok(), "{line}: {}", parsed.expect_err("a refusal"));
                seen += 1;
            }
        }
        assert!(seen >= 6, "{seen} examples");
    }

    #[test]
    fn a_usage_error_names_missing_options_but_none_set_by_the_environment() {
        for (line, missing) in [
            ("corridor requests create", "<--amount <AMOUNT>|--flexible>"),
            ("corridor orders create --amount 1 --holder A", "<--iban <IBAN>|--account <NUMBER>>"),
        ] {
            // As `eval "$(corridor env)"` would, without touching the environment of other tests.
            let given = format!("{line} --wallet-base-url http://127.0.0.1:1 --data-dir /tmp/x");
            let error = Cli::try_parse_from(given.split(' ')).expect_err("a refusal");
            let message =
                with_plain_usage(error, line.split(' ').skip(1).map(str::to_owned)).to_string();
            assert!(message.contains(missing), "{message}");
            let usage = message.split("Usage: ").nth(1).expect("a usage");
            assert!(usage.starts_with(line.split(" --").next().expect("a command")), "{message}");
            assert!(
                !usage.contains("--wallet-base-url") && !usage.contains("--data-dir"),
                "{message}"
            );
        }
        let unknown = Cli::try_parse_from([
            "corridor",
            "requests",
            "create",
            "--amount",
            "5",
            "--currency",
            "DOGE",
        ]);
        let message = unknown.expect_err("no currency").to_string();
        assert!(
            ["USDC", "USDT", "PKR", "USD", "AED", "SAR"].iter().all(|code| message.contains(code)),
            "{message}"
        );
    }

    #[test]
    fn a_number_below_zero_is_a_value_and_no_option() {
        for (line, rule) in [
            ("corridor quote -5 AED --to PAK", "must be more than 0"),
            ("corridor quote --amount -5 --currency AED --to PAK", "must be more than 0"),
            ("corridor pay -5 AED --to PAK", "must be more than 0"),
            ("corridor clock advance -5h", "a number with s, m, h or d"),
            ("corridor faucet --address 0x0 --amount -5", "'--amount <AMOUNT>'"),
            ("corridor requests create --amount -5 --currency USDC", "'--amount <AMOUNT>'"),
            ("corridor orders create --amount -5 --holder A --account 1", "'--amount <AMOUNT>'"),
            ("corridor rate --amount -5", "'--amount <AMOUNT>'"),
        ] {
            let message = Cli::try_parse_from(line.split(' ')).expect_err(line).to_string();
            assert!(message.contains("invalid value '-5") && message.contains(rule), "{message}");
        }
    }

    #[test]
    fn numbers_agree_with_their_nouns() {
        let counted = |count: u64| output::counted(count, "discrepancy");
        assert_eq!([0, 1, 2].map(counted), ["0 discrepancies", "1 discrepancy", "2 discrepancies"]);
        assert_eq!(output::counted(1_usize, "tenant"), "1 tenant");
        assert_eq!(output::counted(3_i64, "tenant"), "3 tenants");
    }

    #[test]
    fn command_lines_parse() {
        for line in [
            "corridor quote --country pak --currency AED --amount 500",
            "corridor quote 500 AED --to PAK",
            "corridor pay 500 AED --to PAK --watch",
            "corridor open",
            "corridor open console --print --output json",
            "corridor status",
            "corridor payments list --wide",
            "corridor payments list --columns id,state --to PAK --state succeeded --since 6h",
            "corridor requests get 9a4b2f --wallet w",
            "corridor trigger payment.failed --no-wait",
            "corridor events tail --since 1h",
            "corridor review alerts",
            "corridor review list",
            "corridor --output json quote --country PAK --currency KWD --amount 0.125 --account PK36 --branch SCBLPKKX",
            "corridor pay",
            "corridor pay --quote last --watch --timeout 5 --external-id a --field sender_city=Muscat --account-ending 0004",
            "corridor payments get last --output json",
            "corridor payments list --country PAK --status queued --status processing --search-type id --search x",
            "corridor payments export --country PAK --format csv --file out.csv",
            "corridor payments watch 6f0c --country VNM",
            "corridor clock show",
            "corridor clock advance 24h --output json",
            "corridor faucet --address 0x8ba1f109551bD432803012645Ac136ddd64DBA72 --amount 100 --currency usdt",
            "corridor wallets provision --customer c --email a@example.com --phone +923001234567 --kyc-level enhanced",
            "corridor wallets get",
            "corridor wallets block --reason OTHER --details x --auto-unblock-hours 1 w",
            "corridor wallets unblock --why x w",
            "corridor wallets blacklist --authority a --reference b --reason c --effective-date 2026-11-21 w",
            "corridor requests create --amount 25.50 --currency USDC --purpose Rent --expires-in-hours 1",
            "corridor requests create --flexible --wallet w",
            "corridor requests list --status ACTIVE --page 1 --limit 100",
            "corridor requests cancel r --output json",
            "corridor requests qr",
            "corridor requests qr r --wallet w --dark-on-light",
            "corridor requests pay r --amount 10 --currency USDT",
            "corridor tx list --type RECEIVED",
            "corridor rate --from USDT --amount 100",
            "corridor accounts check --to PAK --account 1 --branch SCBLPKKX --name A --output json",
            "corridor orders create --amount 100 --iban PK36SCBL0000001123456702 --holder A --lock-rate",
            "corridor orders create --amount 100 --account 1 --bank SCBL --holder A",
            "corridor orders list --limit 1",
            "corridor orders cancel o",
            "corridor events tail --after 0 --count 3",
            "corridor events list --status dead --limit 3",
            "corridor events resend a b --wallet-base-url http://x --wallet-access-key k --wallet-secret-key s",
            "corridor events recover --since 6h --dry-run",
            "corridor events recover --since 2026-11-21T00:00:00Z",
            "corridor listen --forward-to http://127.0.0.1:9000 --print-json --count 2",
            "corridor trigger --list",
            "corridor trigger payment.failed --output json",
            "corridor trigger order.failed --wallet-id w",
            "corridor events sign event.json --id evt_1 --timestamp 1 --secret whsec_a --secret whsec_b",
            "corridor events verify - --id a --timestamp 1 --signature v1,a --at 2 --secret-file f --output json",
            "corridor certify --receiver http://127.0.0.1:1 --junit x.xml --customer-id c",
            "corridor certify rail http://127.0.0.1:1 --token-file t --country IND --listen 127.0.0.1:1 --callback-secret-file s",
            "corridor token mint --ttl 60",
            "corridor token inspect a.b.c --max-age 3600",
            "corridor tenants policy get demobank --output json",
            "corridor tenants top-up --coin USDT --amount 1 --reference r --by a --why x --output json",
            "corridor tenants withdraw --coin USDT --amount 1 --reference r --by a --why x",
            "corridor tenants fund-controller --coin USDT --amount 1 --by a --why x --blockchain base \
             --reference 0x9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c9f2c",
            "corridor tenants reverse-funding --tenant t --reference r --by a --why x --output json",
            "corridor tenants policy set t minimum_kyc=ENHANCED velocity=none --seen 3 --by a --approved-by b --why x",
            "corridor customers set t c-1 --kyc-level enhanced --by a --why x",
            "corridor customers get t c-1",
            "corridor customers list t --after c-1 --limit 1000 --output json",
            "corridor users create ayesha --role operator --role compliance --tenant demobank --by b --why x",
            "corridor users create omar --role approver --all-tenants --output json --by b --why x",
            "corridor users list",
            "corridor users disable ayesha",
            "corridor tenants top-up --coin USDT --amount 1",
            "corridor users roles ayesha --role auditor --all-tenants --by b --why x",
            "corridor users reset ayesha --by b --why x",
            "corridor users disable ayesha --by b --why x",
            "corridor users enable ayesha --by b --why x",
            "corridor webhooks set --tenant t --url https://hooks.example",
            "corridor webhooks set --tenant t --url https://hooks.example --by a --approved-by b",
            "corridor webhooks rotate --tenant t --overlap-hours 0",
            "corridor webhooks disable --tenant t --why x",
            "corridor webhooks show --tenant t --output json",
            "corridor review refund propose --tenant t --by a --why x r \
             --to 0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e",
            "corridor review refund approve --tenant t --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --by b --why x r --output json",
            "corridor review refund show --tenant t r",
            "corridor review hold lift --tenant t --maker a --checker b --why x r",
            "corridor review hold show --tenant t r --output json",
            "corridor review order resolve --tenant t --to returned --maker a --checker b --why x o",
            "corridor review order recredit --tenant t --by a --why x o",
            "corridor review alerts --tenant t --output json",
            "corridor review alerts close --tenant t --by a --why x i j --output json",
            "corridor review discrepancies --tenant t --output json",
            "corridor review coin show",
            "corridor approvals list --tenant t --output json",
            "corridor approvals list --all --limit 5",
            "corridor approvals show 4b484e --columns what,after",
            "corridor approvals approve --by omar --why x 4b484e",
            "corridor approvals reject --by omar --why x 4b484e --output json",
            "corridor approvals withdraw --by ayesha --why x 4b484e",
            "corridor review coin accept --coin usdc --maker a --checker b --why x",
            "corridor audit search --tenant t --who a --action key --subject s --from 2026-11-21T00:00:00Z --limit 5",
            "corridor audit search --installation --to 2026-11-21T00:00:00Z --output json",
            "corridor audit verify --tenant t --checkpoints a --checkpoints b",
            "corridor audit checkpoint",
            "corridor audit key --output json",
            "corridor ledger reconcile --timeout 5",
            "corridor ledger reconcile --last --output json",
            "corridor chain rescan --address 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --timeout 5",
            "corridor chain rescan --from 1 --to 2 --output json",
            "corridor export payments --file november.parquet --from 2026-11-01 --until 2026-12-01 --tenant t",
            "corridor export transfers --file t.parquet --output json",
            "corridor export events --file e.parquet --payload",
            "corridor relay run",
            "corridor relay run warehouse --set engine.lease_s=10",
            "corridor relay status --output json",
            "corridor relay forget warehouse --tenant t --why x",
            "corridor healthcheck --url http://127.0.0.1:1 --live",
            "corridor doctor --data-dir /tmp/x --config c.toml --set http.listen=127.0.0.1:1",
            "corridor config check",
            "corridor openapi payment",
            "corridor openapi wallet --file wallet.json --config c.toml",
            "corridor bench payments --clients 8 --seconds 5 --tenants 2 --country pak --open-loop 100 --output json",
            "corridor bench sustained --seconds 30 --trial 5 --tenants 2 --country pak --output json",
            "corridor completions zsh",
            "corridor man",
            "corridor env",
        ] {
            let parsed = Cli::try_parse_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {}", parsed.expect_err("a refusal"));
        }
        for line in [
            "corridor",
            "corridor serv",
            "corridor tenants policy set t --by a --approved-by b --why x",
            "corridor tenants top-up --coin USDT --amount 1 --reference r --why x",
            "corridor tenants fund-controller --coin USDT --amount 1 --reference r",
            "corridor tenants fund-controller --coin USDT --amount 1 --by a --why x",
            "corridor tenants fund-controller --coin USDT --amount 1 --reference r --by a --why x",
            "corridor tenants withdraw --coin USDT --amount 1 --reference 0x9f --by a --why x",
            "corridor tenants reverse-funding --reference r",
            "corridor tenants withdraw --coin USDT --amount 1 --reference r",
            "corridor tenants withdraw --coin USDT --amount 1 --by a --why x",
            "corridor tenants policy set t minimum_kyc --by a --approved-by b --why x",
            "corridor tenants policy set t minimum_kyc=BASIC --by a --why x",
            "corridor customers set t c-1 --kyc-level VIP --by a --why x",
            "corridor customers list t --limit 0",
            "corridor quote --country USA --currency AED --amount 500",
            "corridor quote --country PAK --currency AED --amount five",
            "corridor pay --account-ending 12",
            "corridor pay --quote nope",
            "corridor pay --field x",
            "corridor payments list --country PAK --search x",
            "corridor payments list --since 6h --from 2026-11-21",
            "corridor quote",
            "corridor quote 500 --to PAK",
            "corridor quote 500 AED",
            "corridor quote 500 AED --to PAK --amount 5",
            "corridor pay 500 AED",
            "corridor pay 500 --to PAK",
            "corridor pay 500 AED --to PAK --quote last",
            "corridor open kitchen",
            "corridor events tail --since 1h --after 0",
            "corridor clock advance soon",
            "corridor faucet --amount 1",
            "corridor faucet --address 0x0 --amount 0",
            "corridor wallets provision --customer c",
            "corridor wallets block w",
            "corridor requests create",
            "corridor requests create --amount 1",
            "corridor requests create --flexible --amount 1 --currency USDC",
            "corridor requests list --limit 101",
            "corridor requests pay",
            "corridor orders create --amount 1 --holder A",
            "corridor orders create --amount 1 --holder A --account 1",
            "corridor events sign",
            "corridor events resend",
            "corridor events recover --since yesterday",
            "corridor listen",
            "corridor users create ayesha --role operator --by b --why x",
            "corridor users create ayesha --role viewer --all-tenants --by b",
            "corridor users create ayesha --role boss --all-tenants --by b --why x",
            "corridor users create 'a b' --role viewer --all-tenants --by b --why x",
            "corridor users create ayesha --role viewer --all-tenants --tenant t --by b --why x",
            "corridor webhooks set --tenant t",
            "corridor webhooks set --tenant t --url https://hooks.example --by a",
            "corridor webhooks rotate --tenant t --overlap-hours 9000",
            "corridor review refund propose --tenant t --to 0x5e --by a --why x r",
            "corridor review refund approve --tenant t --to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed --why x r",
            "corridor review refund approve --tenant t --by b --why x r",
            "corridor review refund approve --tenant t --to 0x5e --by b --why x r",
            "corridor review hold lift --tenant t --maker a --why x r",
            "corridor review order resolve --tenant t --to settled --maker a --why x o",
            "corridor review order recredit --tenant t --why x o",
            "corridor review alerts close --tenant t --by a --why x",
            "corridor review alerts close --tenant t --why x i",
            "corridor review coin accept --coin USDC --maker a --why x",
            "corridor review coin accept --coin USDX --maker a --checker b --why x",
            "corridor approvals approve --by omar 4b484e",
            "corridor approvals approve --why x 4b484e",
            "corridor approvals reject --by omar --why x",
            "corridor approvals list --limit 0",
            "corridor openapi",
            "corridor openapi bank",
            "corridor audit search --installation --tenant t",
            "corridor audit search --from yesterday",
            "corridor audit search --limit 0",
            "corridor audit verify --public-key x",
            "corridor ledger reconcile --last --timeout 5",
            "corridor export payments",
            "corridor export transfers --file t.parquet --payload",
            "corridor export events --file e.parquet --from yesterday",
            "corridor relay",
            "corridor relay forget warehouse",
            "corridor relay forget --why x",
            "corridor chain rescan",
            "corridor chain rescan --from 1",
            "corridor chain rescan --tx 0x12",
            "corridor chain rescan --address 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAE0",
            "corridor trigger",
            "corridor trigger no.such",
            "corridor certify",
            "corridor certify rail",
            "corridor certify rail http://x --listen 127.0.0.1:1",
            "corridor token mint --ttl 0",
            "corridor token mint --secret-key a --secret-key-file b",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line} should be refused");
        }
    }
}
