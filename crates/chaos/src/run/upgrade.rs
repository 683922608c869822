//! An upgrade under load, as `docs/guides/postgresql.md` describes it, and the way back.

use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::faults::{pass, restart};
use super::world::World;
use crate::harness::program;

/// How long nodes of both versions work beside each other.
const SIDE_BY_SIDE: Duration = Duration::from_secs(3);

/// Replaces the nodes by those of the other version: one after the other, or, if the migration needs it,
/// all at once.
pub async fn upgrade(world: &mut World, moved: &dyn Fn(Vec<String>)) -> anyhow::Result<()> {
    let earlier = world.earlier.clone().context("a program to upgrade from")?;
    let goes_back = world.installation.program() == program();
    world.installation.use_program(if goes_back { earlier } else { program() });
    let nodes = 0..world.nodes.len();
    if world.stop_all {
        for node in nodes.clone() {
            stop(world, node)?;
        }
        let migrated = world.installation.run(&["migrate"]);
        ensure!(migrated.code == 0, "migrate: {}{}", migrated.stdout, migrated.stderr);
        for node in nodes {
            world.start_node(node)?;
        }
        moved(world.addresses());
        return Ok(());
    }
    for node in nodes {
        stop(world, node)?;
        restart(world, node, moved)?;
        pass(SIDE_BY_SIDE).await;
    }
    Ok(())
}

/// Asks a node to end, which it does by itself.
fn stop(world: &mut World, node: usize) -> anyhow::Result<()> {
    let process = &mut world.node(node)?.process;
    tokio::task::block_in_place(|| process.stop());
    Ok(())
}
