//! The service exits at each failpoint once, and its successor takes over.

use std::time::{Duration, Instant};

use engine::failpoint::Failpoint;
use testkit::wait;

use super::judge::judge;
use super::load::Load;
use super::random::Random;
use super::rig::Rig;
use super::seed;

/// Timeout for a successor's inquiry about attempts that were never sent, and the number of tries: all
/// inherited attempts may belong to a rail without duplicate detection, on which nothing is resent.
const ASKED_AT_MOST: Duration = Duration::from_secs(20);
const LEFT_AT_MOST: usize = 8;
/// Payments between two exits, so that each successor inherits work.
const INHERITED: usize = 10;
const CLIENTS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_place_the_service_ends_at_its_successor_pays_everything_once() {
    // Release builds have no failpoints.
    if !cfg!(debug_assertions) {
        return;
    }
    let seed = seed(0xFA11);
    let rig = Rig::start(seed, None).await;
    let (random, begun) = (Random::new(seed), Instant::now());
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], CLIENTS, seed);
    let end_at = async |place: &str, within: Duration| {
        let (mut doomed, address) =
            rig.installation.serve_or_end("node", &[("CORRIDOR_FAILPOINT", place)]);
        if let Some(address) = address {
            load.move_to(vec![address]);
        }
        let reached =
            wait::until_async(within, || std::future::ready(doomed.ended().is_some())).await;
        if reached {
            let status = doomed.wait_for_end();
            assert!(
                !status.success() && status.code().is_none(),
                "{place}: ended with {status}, not by its own hand"
            );
            return Ok(());
        }
        doomed.kill();
        Err(format!("seed {seed}: nothing led to {place}: {}", doomed.log_tail()))
    };
    for point in Failpoint::ALL {
        node.process.kill();
        let place = place(point, &random);
        if is_asked(point) {
            let mut reached = Err(String::new());
            for _ in 0..LEFT_AT_MOST {
                end_at(Failpoint::BeforeCall.name(), wait::AT_MOST)
                    .await
                    .unwrap_or_else(|missed| panic!("{missed}"));
                reached = end_at(&place, ASKED_AT_MOST).await;
                if reached.is_ok() {
                    break;
                }
            }
            reached.unwrap_or_else(|missed| panic!("{missed}"));
        } else {
            end_at(&place, wait::AT_MOST).await.unwrap_or_else(|missed| panic!("{missed}"));
        }
        node = rig.node("node");
        load.move_to(vec![node.address.clone()]);
        let enough = load.accepted() + INHERITED;
        let goes_on =
            wait::until_async(wait::AT_MOST, || std::future::ready(load.accepted() >= enough))
                .await;
        assert!(goes_on, "seed {seed}: no progress after {place}: {}", node.process.log_tail());
    }
    let notes = load.stop().await;
    rig.heal_bank();
    let verdict = judge(&rig, &node.address, &notes).await;
    let (places, unclear) = (Failpoint::ALL.len(), notes.unclear());
    eprintln!(
        "{places} places in {:?} (seed {seed}), {unclear} unclear writes: {verdict:?}",
        begun.elapsed()
    );
    node.process.stop();
}

/// Whether a failpoint is reached only by inquiries about attempts that were saved and never sent.
fn is_asked(point: Failpoint) -> bool {
    [Failpoint::BeforeInquiry, Failpoint::AfterInquiry, Failpoint::BeforeSendingAgain]
        .contains(&point)
}

/// A failpoint, with the number of passes until the service exits there.
fn place(point: Failpoint, random: &Random) -> String {
    format!("{}:{}", point.name(), if is_asked(point) { 1 } else { 1 + random.below(3) })
}

#[test]
fn a_place_that_does_not_exist_is_refused() {
    if !cfg!(debug_assertions) {
        return;
    }
    let installation = super::harness::Installation::new();
    let done = super::harness::finish(
        installation.command(&["serve"]).env("CORRIDOR_FAILPOINT", "nowhere"),
    );
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("nowhere"), "{}", done.stderr);
}
