//! `corridor review discrepancies`: rail reports that are contradictory or match no payment. None
//! was booked; closing an alert does not remove it from the list.

use domain::payment::Discrepancy;
use domain::time::Timestamp;
use serde_json::json;
use store::UnmatchedReport;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::store_commands::open;
use super::super::table::{id, text, time};
use super::super::tenants::TenantArgs;

/// Maximum number of listed discrepancies of each kind, newest first.
const LIST_MAX: usize = 1_000;

/// Lists the discrepancies, newest first.
pub async fn run(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let contradictions =
        opened.store.discrepancies(tenant.id, LIST_MAX).await.map_err(Failure::of_store)?;
    let strays = opened.store.strays(tenant.id, LIST_MAX).await.map_err(Failure::of_store)?;
    match context.output {
        Output::Table => {
            let mut found: Vec<(Timestamp, [String; 3])> =
                contradictions.iter().map(contradiction).collect();
            found.extend(strays.iter().map(stray));
            found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
            let row = |(at, [sort, about, what]): (Timestamp, [String; 3])| {
                vec![at.to_string(), sort, about, what]
            };
            output::rows_or(
                &[time("first reported"), text("kind"), id("subject"), text("report")],
                found.into_iter().map(row).collect(),
                "No discrepancies.",
            )
        }
        Output::Json => {
            for (at, it) in &contradictions {
                output::json(&json!({
                    "at": at.to_string(),
                    "sort": "contradiction",
                    "payment_id": it.payment.to_string(),
                    "attempt_id": it.attempt.to_string(),
                    "what": it.what,
                }))?;
            }
            strays.iter().try_for_each(|it| {
                let at = it.at.to_string();
                output::json(
                    &json!({ "at": at, "sort": "stray", "rail": &*it.rail.0, "what": it.report.what }),
                )
            })
        }
    }
}

fn contradiction((at, it): &(Timestamp, Discrepancy)) -> (Timestamp, [String; 3]) {
    (*at, ["contradiction".to_owned(), it.payment.to_string(), it.what.clone()])
}

fn stray(it: &UnmatchedReport) -> (Timestamp, [String; 3]) {
    (it.at, ["stray".to_owned(), it.rail.to_string(), it.report.what.clone()])
}
