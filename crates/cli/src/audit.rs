//! `corridor audit …`: searches the audit log and verifies its integrity. Opens the store itself.

mod search;
mod verify;

use clap::Subcommand;
use domain::hex::hex;
use serde_json::json;
use store::Checkpoint;

use super::failure::Failure;
use super::output::{self, Output};
use super::store_commands::{Opened, open};
use super::table::{number, text, time};
use super::tenants::StoreArgs;
use super::{Context, run_async};
use service::audit::{Notary, Round};

use search::SearchArgs;
use verify::VerifyArgs;

#[derive(Subcommand, Debug)]
pub enum AuditCommand {
    /// Search the audit log, newest entries first
    Search(SearchArgs),
    /// Verify the hash chains against the signed checkpoints
    Verify(VerifyArgs),
    /// Sign the ends of the hash chains now and export them
    #[command(after_help = "Example:\n  corridor audit checkpoint

A running service does this automatically (audit.checkpoint_every_s). Exit codes: 0 success, 1 a chain is broken.")]
    Checkpoint(StoreArgs),
    /// Print the public key of the checkpoint signatures
    #[command(
        after_help = "Example:\n  corridor audit key\n\nKeep it outside this system, where its administrators cannot change it."
    )]
    Key(StoreArgs),
}

pub fn run(command: &AuditCommand, context: &Context) -> Result<(), Failure> {
    run_async(async {
        match command {
            AuditCommand::Search(args) => search::run(args, context).await,
            AuditCommand::Verify(args) => verify::run(args, context).await,
            AuditCommand::Checkpoint(args) => checkpoint(args, context).await,
            AuditCommand::Key(args) => {
                let opened = open(args, context).await?;
                let key = hex(&notary(&opened).await?.public_key());
                match context.output {
                    Output::Table => output::line(&key),
                    Output::Json => {
                        output::json(&json!({ "public_key": key, "algorithm": "Ed25519" }))
                    }
                }
            }
        }
    })
}

async fn notary(opened: &Opened) -> Result<Notary, Failure> {
    let data_dir = opened.data_dir.path();
    Notary::of(&opened.store, &opened.config, data_dir).await.map_err(Failure::unavailable)
}

async fn checkpoint(args: &StoreArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(args, context).await?;
    let notary = notary(&opened).await?;
    let signed =
        notary.sign(|chain| chain.signed.map_or(0, |(mark, _)| mark.seq) != chain.head.seq).await;
    let Round { signed, broken, contradicted } = signed.map_err(Failure::unavailable)?;
    let names = verify::names(&opened).await?;
    match context.output {
        Output::Table if signed.is_empty() => {
            output::remark("no entries since the latest checkpoints")
        }
        Output::Table => {
            let row =
                |it: &Checkpoint| vec![names.of(it.tenant), it.seq.to_string(), it.at.to_string()];
            let columns = [text("chain"), number("entry"), time("signed")];
            output::rows(&columns, signed.iter().map(row).collect())?;
        }
        Output::Json => {
            for checkpoint in &signed {
                output::line(&checkpoint.to_line().map_err(Failure::of_store)?)?;
            }
        }
    }
    output::remark(&format!("written to {}", notary.file().display()));
    match (&broken[..], &contradicted[..]) {
        ([], []) => Ok(()),
        ([(tenant, fault), ..], _) => Err(Failure::Refused(format!(
            "not signed: the chain of {}: {fault}; see `corridor audit verify`",
            names.of(*tenant)
        ))),
        ([], [(tenant, fault), ..]) => Err(Failure::Refused(format!(
            "not signed: the chain of {}: {fault}; the checkpoints in {file} contradict the database. If it was restored \
             from a backup, move {file} away and record why (docs/guides/backup.md)",
            names.of(*tenant),
            file = notary.file().display()
        ))),
    }
}
