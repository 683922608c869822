//! `corridor audit verify`: verifies the audit log and names the first entry that was altered.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use domain::audit::{ChainFault, INSTALLATION};
use domain::hex::{hex, unhex};
use domain::ids::TenantId;
use serde_json::json;
use store::{AuditVerdict, Checkpoint};

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::store_commands::{Opened, open};
use super::super::table::{number, state, text};
use super::super::tenants::StoreArgs;
use super::notary;
use service::audit::read_checkpoints;

/// Options of `audit verify`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor audit verify
  corridor audit verify --checkpoints /mnt/worm/checkpoints.jsonl --public-key 9f86d0…

Without --checkpoints, reads audit.checkpoint_dir. Keep the checkpoints and the key where users with write access to the
database cannot change them: only they reveal a rewritten chain. Exit codes: 0 intact, 1 altered.")]
pub struct VerifyArgs {
    /// Tenant tag [default: every chain]
    #[arg(long)]
    tenant: Option<String>,
    /// File with exported checkpoints, repeatable
    #[arg(long, value_name = "FILE")]
    checkpoints: Vec<PathBuf>,
    /// Public key of the signatures, as printed by `corridor audit key` [default: this
    /// installation's]
    #[arg(long, value_name = "KEY", value_parser = public_key)]
    public_key: Vec<[u8; 32]>,
    #[command(flatten)]
    store: StoreArgs,
}

fn public_key(text: &str) -> Result<[u8; 32], String> {
    unhex(text.trim()).ok_or_else(|| "must be 64 hexadecimal digits".to_owned())
}

/// Names of the chains: their tenants' tags.
pub(super) struct Names(BTreeMap<TenantId, String>);

impl Names {
    pub(super) fn of(&self, tenant: TenantId) -> String {
        if tenant == INSTALLATION {
            return "(installation)".to_owned();
        }
        self.0.get(&tenant).cloned().unwrap_or_else(|| tenant.to_string())
    }
}

pub(super) async fn names(opened: &Opened) -> Result<Names, Failure> {
    let tenants = opened.store.tenants().await.map_err(Failure::of_store)?;
    Ok(Names(tenants.into_iter().map(|tenant| (tenant.id, tenant.tag)).collect()))
}

pub async fn run(args: &VerifyArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let notary = notary(&opened).await?;
    let mut files = args.checkpoints.clone();
    if files.is_empty() && notary.file().exists() {
        files.push(notary.file().to_owned());
    }
    let mut outside = Vec::new();
    for file in &files {
        outside.extend(read_checkpoints(file).map_err(Failure::usage)?);
    }
    if outside.is_empty() {
        output::remark("no external checkpoints: a rewritten chain would not be detected");
    }
    let tenant = match &args.tenant {
        Some(tag) => Some(opened.tagged(tag).await?.id),
        None => None,
    };
    let trusted = if args.public_key.is_empty() { notary.trusted() } else { &args.public_key[..] };
    let report =
        opened.store.verify_audit(tenant, &outside, trusted).await.map_err(Failure::of_store)?;
    let names = names(&opened).await?;
    show(&report.chains, &names, context.output)?;
    let fault =
        report.chains.iter().find_map(|chain| chain.fault.map(|fault| (chain.tenant, fault)));
    if let Some((tenant, fault)) = fault {
        let mut all = opened.store.audit_checkpoints(tenant).await.map_err(Failure::of_store)?;
        all.extend(outside);
        let unknown = unknown_signer(&all, (tenant, fault), trusted);
        let chain = names.of(tenant);
        return Err(Failure::Refused(match unknown {
            Some(key) => format!(
                "the chain of {chain}: {fault}: it is signed by an unknown key, {}. If the signing key was replaced, list \
                 the former one in audit.former_public_keys; otherwise the checkpoint is forged",
                hex(&key)
            ),
            None => format!("the audit log was altered: the chain of {chain}: {fault}"),
        }));
    }
    if args.checkpoints.is_empty() {
        return Ok(());
    }
    let (covered, bare): (Vec<_>, Vec<_>) = report
        .chains
        .iter()
        .filter(|chain| chain.proven > 0)
        .partition(|chain| outside.iter().any(|it| it.tenant == chain.tenant));
    let says = |chain: &AuditVerdict| {
        let name = names.of(chain.tenant);
        format!(
            "--checkpoints: none of the chain of {name}: if it was rewritten, that is not detected"
        )
    };
    match (&covered[..], &bare[..]) {
        // Files that were emptied or replaced prove nothing.
        ([], [first, ..]) => Err(Failure::Refused(says(first))),
        // Such as a tenant that is newer than the files.
        (_, bare) => {
            bare.iter().for_each(|chain| output::remark(&says(chain)));
            Ok(())
        }
    }
}

/// The key of a checkpoint whose signature is valid, but not by a trusted key.
fn unknown_signer(
    checkpoints: &[Checkpoint],
    (tenant, fault): (TenantId, ChainFault),
    trusted: &[[u8; 32]],
) -> Option<[u8; 32]> {
    let ChainFault::Signature(seq) = fault else { return None };
    let mut at = checkpoints.iter().filter(|it| it.tenant == tenant && it.seq == seq);
    at.find(|it| !trusted.contains(&it.signer) && it.is_signed_by(&[it.signer])).map(|it| it.signer)
}

fn show(chains: &[AuditVerdict], names: &Names, output: Output) -> Result<(), Failure> {
    match output {
        Output::Table => {
            let row = |chain: &AuditVerdict| {
                let found = chain
                    .fault
                    .map_or_else(|| "intact".to_owned(), |fault| format!("WRONG: {fault}"));
                let proven = if chain.proven == 0 {
                    String::new()
                } else {
                    format!("up to {}", chain.proven)
                };
                vec![names.of(chain.tenant), chain.entries.to_string(), proven, found]
            };
            output::rows(
                &[text("chain"), number("entries"), text("signed"), state("result")],
                chains.iter().map(row).collect(),
            )
        }
        Output::Json => chains.iter().try_for_each(|chain| {
            output::json(&json!({
                "chain": names.of(chain.tenant),
                "tenant_id": chain.tenant.to_string(),
                "entries": chain.entries,
                "hash": hex(&chain.hash),
                "checkpoints": chain.checkpoints,
                "signed_up_to": chain.proven,
                "fault": chain.fault.map(|fault| fault.to_string()),
            }))
        }),
    }
}
