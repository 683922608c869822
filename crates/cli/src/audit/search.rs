//! `corridor audit search`: lists entries of the audit log.

use std::str::FromStr as _;

use clap::Args;
use domain::audit::{Entry, INSTALLATION};
use domain::hex::hex;
use domain::time::Timestamp;
use serde_json::{Value, json};
use store::{AUDIT_LIST_MAX, AuditFilter, AuditPlace};

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::store_commands::open;
use super::super::table::{number, text, time};
use super::super::tenants::StoreArgs;
use super::verify::{Names, names};

/// Options of `audit search`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor audit search --tenant demobank --who ayesha --from 2026-11-01T00:00:00Z
  corridor audit search --action key --output json
  corridor audit search --subject 6f0c…")]
pub struct SearchArgs {
    /// Tenant tag [default: all tenants]
    #[arg(long)]
    tenant: Option<String>,
    /// Only entries of the installation, not of a tenant
    #[arg(long, conflicts_with = "tenant")]
    installation: bool,
    /// Filter by user: the actor, the user on whose behalf they acted, or the second user
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    /// Filter by action: review.approve, or review for every action with this prefix
    #[arg(long)]
    action: Option<String>,
    /// Filter by subject: an id, an access key
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
    /// Start of the period, inclusive
    #[arg(long, value_name = "TIME", value_parser = instant)]
    from: Option<Timestamp>,
    /// End of the period, exclusive
    #[arg(long, value_name = "TIME", value_parser = instant)]
    to: Option<Timestamp>,
    /// Maximum number of entries
    #[arg(long, default_value_t = 100, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    store: StoreArgs,
}

fn instant(text: &str) -> Result<Timestamp, String> {
    let at = jiff::Timestamp::from_str(text)
        .map_err(|_| "must be an instant (2026-11-21T00:00:00Z)".to_owned())?;
    Ok(Timestamp(at.as_microsecond()))
}

pub async fn run(args: &SearchArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = match &args.tenant {
        Some(tag) => Some(opened.tagged(tag).await?.id),
        None => args.installation.then_some(INSTALLATION),
    };
    let (who, action, subject) = (args.who.clone(), args.action.clone(), args.subject.clone());
    let (from, to) = (args.from, args.to);
    let mut filter =
        AuditFilter { tenant, who, action, subject, from, to, ..AuditFilter::default() };
    let mut left = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut found = Vec::new();
    while left > 0 {
        let page = opened
            .store
            .audit_entries(&filter, left.min(AUDIT_LIST_MAX))
            .await
            .map_err(Failure::of_store)?;
        let Some(last) = page.last() else { break };
        filter.after = Some(AuditPlace::of(last));
        left -= page.len();
        found.extend(page);
    }
    let names = names(&opened).await?;
    match context.output {
        Output::Table => {
            let columns = [
                time("at"),
                text("actor"),
                text("action"),
                text("subject"),
                text("reason"),
                text("chain"),
                number("entry"),
            ];
            let rows = found.iter().map(|entry| row(entry, &names)).collect();
            output::rows_or(&columns, rows, "No entries match.")
        }
        Output::Json => found.iter().try_for_each(|entry| output::json(&document(entry, &names)?)),
    }
}

fn row(entry: &Entry, names: &Names) -> Vec<String> {
    let (deed, note) = (&entry.deed, &entry.note);
    let mut who = format!("{}:{}", deed.via.name(), deed.who);
    if let Some(person) = &deed.behalf {
        who.push_str(&format!(" for {person}"));
    }
    if let Some(second) = &deed.second {
        who.push_str(&format!(" with {second}"));
    }
    let subject = format!("{} {}", note.kind, note.subject);
    let (at, seq) = (entry.at.to_string(), entry.seq.to_string());
    vec![at, who, note.action.clone(), subject, deed.why.clone(), names.of(entry.tenant), seq]
}

fn document(entry: &Entry, names: &Names) -> Result<Value, Failure> {
    let (deed, note) = (&entry.deed, &entry.note);
    let facts = |text: &Option<String>| -> Result<Value, Failure> {
        let read = text.as_deref().map(serde_json::from_str::<Value>);
        Ok(read.transpose().map_err(Failure::unavailable)?.unwrap_or_default())
    };
    Ok(json!({
        "chain": names.of(entry.tenant),
        "tenant_id": entry.tenant.to_string(),
        "entry": entry.seq,
        "at": entry.at.to_string(),
        "via": deed.via.name(),
        "who": deed.who,
        "role": deed.role,
        "on_behalf_of": deed.behalf,
        "second_person": deed.second,
        "action": note.action,
        "kind": note.kind,
        "subject": note.subject,
        "before": facts(&note.before)?,
        "after": facts(&note.after)?,
        "why": deed.why,
        "request_id": deed.request_id,
        "hash": hex(&entry.hash),
    }))
}
