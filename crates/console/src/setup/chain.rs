//! Whether the chain and a tenant's contracts are ready for wallets.

use domain::ids::TenantId;
use engine::context::ChainContext;
use std::time::Duration;

use domain::chain::KeyRole;
use domain::ports::BoxFuture;
use engine::wallets::Denied;

use super::checks::{Check, Standing};
use crate::{Stop, Visit};

/// Timeout for the nodes.
const CHAIN_WAIT: Duration = Duration::from_secs(2);
/// Nodes that have to agree before a deposit counts.
const NODES_MIN: usize = 2;
const STEP: &str = "chain";

async fn answer_in_time<T>(answer: BoxFuture<'_, T>) -> Result<T, String> {
    let late = |_| format!("no answer within {} s", CHAIN_WAIT.as_secs());
    tokio::time::timeout(CHAIN_WAIT, answer).await.map_err(late)
}

pub(super) async fn checks(visit: &Visit) -> Result<Vec<Check>, Stop> {
    let tenant = visit.tenant_id()?;
    let offered = match visit.console().wallets.offered() {
        Ok(offered) => offered,
        Err(Denied::NotOffered) => {
            let words = "The wallet service is not enabled (wallets.enabled).".to_owned();
            let href = "/docs/guides/wallets-in-production".to_owned();
            return Ok(vec![Check::new(STEP, "Wallets", href, (Standing::Unused, words))]);
        }
        Err(other) => return Err(other.into()),
    };
    // A tenant may have keys on some chains only.
    let several = offered.configured().count() > 1;
    let has_keys = |world: &&ChainContext| world.contracts.controller(tenant).is_ok();
    let worlds = offered.configured().map(|chain| chain.configured());
    let mut worlds: Vec<&ChainContext> = worlds.filter(has_keys).collect();
    if worlds.is_empty() {
        worlds.push(offered.first());
    }
    let mut checks = Vec::new();
    for world in worlds {
        let mut found = checks_on(world, tenant).await;
        if several {
            let name = &world.config.name;
            found.iter_mut().for_each(|it| it.evidence = format!("{name}: {}", it.evidence));
        }
        checks.extend(found);
    }
    Ok(checks)
}

async fn checks_on(offered: &ChainContext, tenant: TenantId) -> Vec<Check> {
    let nodes = async {
        let reports = match answer_in_time(offered.chain.survey(None)).await {
            Ok(reports) => reports,
            Err(why) => return (Standing::Missing, format!("{why}.")),
        };
        let shown = reports.iter().map(|report| match &report.head {
            Ok(head) => format!("{} is at block {head}", report.name),
            Err(why) => format!("{}: {why}", report.name),
        });
        let shown = shown.collect::<Vec<_>>().join("; ");
        match reports.iter().filter(|report| report.head.is_ok()).count() {
            0 => (Standing::Missing, format!("No node answers. {shown}.")),
            count if count < NODES_MIN => (
                Standing::Attention,
                format!("One node only: no other confirms what it reports. {shown}."),
            ),
            _ => (Standing::Done, format!("{shown}.")),
        }
    };
    let controller = async {
        let controller = match offered.contracts.controller(tenant) {
            Ok(controller) => controller.address,
            Err(fault) => return (Standing::Missing, format!("{fault}.")),
        };
        match answer_in_time(offered.chain.is_deployed(controller)).await {
            Ok(Ok(true)) => (Standing::Done, format!("Deployed at {controller}.")),
            Ok(Ok(false)) => (
                Standing::Attention,
                format!("Not deployed yet: the first wallet deploys {controller}."),
            ),
            Ok(Err(fault)) => (Standing::Missing, format!("{fault}.")),
            Err(why) => (Standing::Missing, format!("{why}.")),
        }
    };
    let gas = async {
        let operator = match offered.signer.address(tenant, KeyRole::Operator) {
            Ok(operator) => operator,
            Err(fault) => return (Standing::Missing, format!("{fault}.")),
        };
        match answer_in_time(offered.chain.gas_balance(operator)).await {
            Ok(Ok(0)) => (Standing::Missing, format!("{operator} has nothing to pay gas with.")),
            Ok(Ok(_)) => (Standing::Done, format!("{operator} can pay gas.")),
            Ok(Err(fault)) => (Standing::Missing, format!("{fault}.")),
            Err(why) => (Standing::Missing, format!("{why}.")),
        }
    };
    let (nodes, controller, gas) = tokio::join!(nodes, controller, gas);
    let guide = || "/docs/guides/wallets-in-production".to_owned();
    vec![
        Check::new(STEP, "Nodes agree", "/console/system".to_owned(), nodes),
        Check::new(STEP, "Controller deployed", guide(), controller),
        Check::new(STEP, "Operator key has gas", guide(), gas),
    ]
}
