//! The simulated bank as a process of its own: it survives the service, can be killed and frozen
//! itself, and keeps its book in a file. It pays again whatever it is sent again.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use domain::time::Span;
use serde_json::{Value, json};
use testkit::bank::{BankConfig, Faults, SimulatedBank};
use testkit::wait;

use crate::harness::Process;
use crate::rig::{self, RailOfTest};

/// The rails of a run. The bank recognises no repetition on any of them.
pub const RAILS: [RailOfTest; 3] = [
    RailOfTest { id: "pak-raast", detects_duplicates: false },
    RailOfTest { id: "pak-ibft", detects_duplicates: false },
    RailOfTest { id: "ind-imps", detects_duplicates: false },
];
const READY_AT_MOST: Duration = Duration::from_secs(30);

#[derive(Args, Debug)]
pub struct BankArgs {
    #[arg(long)]
    book: PathBuf,
    #[arg(long)]
    listen: SocketAddr,
    #[arg(long)]
    seed: u64,
    /// Without random faults of its own.
    #[arg(long)]
    healed: bool,
}

/// Runs the bank until the process is killed.
pub async fn serve(args: BankArgs) -> anyhow::Result<()> {
    let mut behaviour = rig::behaviour(args.seed, &RAILS);
    if args.healed {
        behaviour.faults = Faults::NONE;
    }
    let bank = SimulatedBank::start(BankConfig {
        behaviour,
        listen: Some(args.listen),
        book: Some(args.book),
        hang: Span::millis(700),
        ..BankConfig::default()
    })
    .await?;
    let address = bank.address().context("the bank listens")?;
    println!("{}", json!({ "address": address.to_string() }));
    std::future::pending().await
}

pub struct Bank {
    process: Process,
    dir: PathBuf,
    address: SocketAddr,
    seed: u64,
}

impl Bank {
    pub fn start(dir: &Path, seed: u64) -> anyhow::Result<Bank> {
        // Of an earlier run with the same seed.
        let book = dir.join("book.jsonl");
        if book.exists() {
            std::fs::remove_file(&book)?;
        }
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (process, address) = spawn(dir, any, seed, false)?;
        Ok(Bank { process, dir: dir.to_owned(), address, seed })
    }

    pub fn book(&self) -> PathBuf {
        self.dir.join("book.jsonl")
    }

    /// The URL of a rail.
    pub fn url(&self, rail: &str) -> String {
        format!("http://{}/{rail}", self.address)
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again at the same address, with or without faults of its own.
    pub fn restart(&mut self, healed: bool) -> anyhow::Result<()> {
        self.process.kill();
        (self.process, _) = spawn(&self.dir, self.address, self.seed, healed)?;
        Ok(())
    }

    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }
}

fn spawn(
    dir: &Path,
    listen: SocketAddr,
    seed: u64,
    healed: bool,
) -> anyhow::Result<(Process, SocketAddr)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bank").arg("--book").arg(dir.join("book.jsonl"));
    command.args(["--listen", &listen.to_string(), "--seed", &seed.to_string()]);
    command.stdin(Stdio::null());
    if healed {
        command.arg("--healed");
    }
    let mut process = Process::spawn(command, dir, "bank");
    let mut address = None;
    wait::until(READY_AT_MOST, || {
        let told = |line: &str| {
            serde_json::from_str::<Value>(line).ok()?["address"].as_str()?.parse().ok()
        };
        address = process.out().lines().find_map(told);
        address.is_some() || process.ended().is_some()
    });
    let address =
        address.with_context(|| format!("the bank did not start: {}", process.log_tail()))?;
    Ok((process, address))
}
