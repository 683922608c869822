//! Fail-over: the standby is promoted in each way in which that happens, and the former primary
//! returns as a standby, or as if nothing had happened. Whether a node uses it, its own log shows.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use testkit::wait;

use super::database::Database;
use super::faults::{Fault, Findings, pass, restart};
use super::world::World;

/// How long after a promotion writes may take to succeed.
const BACK_AT_MOST: Duration = Duration::from_secs(5);
/// How long a write is waited for at all.
const SEEN_AT_MOST: Duration = Duration::from_secs(60);
/// How long after a promotion nodes may use a former primary that goes on as if nothing had happened: a
/// second until the next proof is due, three in which it may be given, and some of a loaded machine's time.
const FENCED_AT_MOST: Duration = Duration::from_secs(6);
/// How long it is watched afterwards, and how often.
const WATCHED: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Promotes the standby; afterwards the former primary is its standby.
pub async fn fail_over(
    fault: Fault,
    world: &mut World,
    node: usize,
    moved: &dyn Fn(Vec<String>),
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let former = database(world)?.primary();
    let used = database(world)?.statements_since_launch(1 - former);
    if used > 0 {
        findings.broken.push(format!("a standby was asked {used} times"));
    }
    if fault == Fault::SplitBrain {
        database(world)?.log_statements(former)?;
    }
    match fault {
        Fault::Switchover => database(world)?.stop(former)?,
        Fault::SplitBrain => {}
        _ => database(world)?.kill()?,
    }
    database(world)?.promote()?;
    let (promoted, promoted_ms) = (Instant::now(), world.history.now_ms());
    match fault {
        Fault::Switchover => {
            tokio::task::block_in_place(|| database(world)?.demote(former))?;
        }
        Fault::SplitBrain => outlive(world, former, promoted, findings).await?,
        Fault::UnfencedPrimary => {
            database(world)?.launch_as_it_was(former)?;
            // A node that remembers nothing meets both.
            world.node(node)?.process.kill();
            restart(world, node, moved)?;
            pass(WATCHED).await;
            refuse_use(world, former, findings)?;
        }
        _ => {}
    }
    back_in_time(world, promoted_ms, findings).await?;
    if fault != Fault::Switchover {
        tokio::task::block_in_place(|| database(world)?.rebuild(former))?;
    }
    tokio::task::block_in_place(|| database(world)?.wait_for_standby())
}

fn database(world: &World) -> anyhow::Result<&Database> {
    world.database.as_ref().context("PostgreSQL")
}

/// The former primary goes on: nodes have to leave it by themselves.
async fn outlive(
    world: &World,
    former: usize,
    promoted: Instant,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let database = database(world)?;
    let from = database.log_bytes(former);
    let (mut used, mut last) = (0, Duration::ZERO);
    wait::until_async_every(LOOK_EVERY, FENCED_AT_MOST + WATCHED, || {
        let now = database.statements(former, from);
        if now > used {
            (used, last) = (now, promoted.elapsed());
        }
        std::future::ready(false)
    })
    .await;
    findings.former_used_max = findings.former_used_max.max(last);
    if last > FENCED_AT_MOST {
        findings.broken.push(format!("a former primary was still used after {last:.1?}"));
    }
    Ok(())
}

fn refuse_use(world: &World, former: usize, findings: &mut Findings) -> anyhow::Result<()> {
    let used = database(world)?.statements_since_launch(former);
    if used > 0 {
        findings.broken.push(format!("a former primary was used {used} times"));
    }
    Ok(())
}

/// Writes succeed soon after the promotion.
async fn back_in_time(
    world: &World,
    promoted_ms: u64,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let first = || world.history.first_success(promoted_ms);
    let seen = wait::until_async(SEEN_AT_MOST, || std::future::ready(first().is_some())).await;
    ensure!(seen, "no write succeeds after the promotion");
    let back = Duration::from_millis(first().unwrap_or(promoted_ms) - promoted_ms);
    findings.back_max = findings.back_max.max(back);
    if back > BACK_AT_MOST {
        findings.broken.push(format!("writes were back {back:.1?} after a promotion"));
    }
    Ok(())
}
