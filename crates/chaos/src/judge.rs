//! Waits until everything has come to rest after the faults, and judges the run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use client::PaymentRecord;
use testkit::bank::{Outcome, SimulatedBank, SteerFault};

use crate::api::sequence;
use crate::checker::{Evidence, check};
use crate::evidence::{Scene, end_to_end_id};
use crate::load::Notes;
use crate::rig::Rig;

/// Timeout for everything to complete after the faults end: a lease, two inquiries, and slack for a
/// loaded machine.
pub const END_AT_MOST: Duration = Duration::from_secs(150);
/// How long one poll waits for news.
const NEWS_WAIT_S: u64 = 1;
/// Maximum number of broken promises that a failure shows.
const SHOWN_MAX: usize = 20;

/// The result of a run.
#[derive(Debug, Default)]
pub struct Verdict {
    pub payments: usize,
    pub by_status: BTreeMap<String, usize>,
    pub events: usize,
    pub paid: usize,
}

impl Verdict {
    pub fn of(evidence: &Evidence) -> Verdict {
        let mut verdict = Verdict {
            payments: evidence.payments.len(),
            events: evidence.events.len(),
            paid: evidence.bookings.iter().filter(|booking| !booking.is_return).count(),
            ..Verdict::default()
        };
        for payment in &evidence.payments {
            *verdict.by_status.entry(payment.status.clone()).or_default() += 1;
        }
        verdict
    }
}

/// Waits until every payment ends as in the bank's book, then checks the run's guarantees.
///
/// # Panics
/// A promise is broken.
pub async fn judge(rig: &Rig, address: &str, notes: &Notes) -> Verdict {
    let scene = Scene {
        installation: &rig.installation,
        api: &rig.api,
        address,
        book: rig.book(),
        topped_up: Some(crate::rig::PREFUND_MINOR),
        receiver: None,
        history: &notes.history,
    };
    let begun = Instant::now();
    loop {
        scene.records().await.iter().for_each(|record| unstick(&rig.bank, record));
        let evidence = scene.evidence().await;
        let broken = check(&evidence);
        if broken.is_empty() {
            return Verdict::of(&evidence);
        }
        assert!(begun.elapsed() < END_AT_MOST, "{}", shown(&broken));
        news(&scene).await;
    }
}

/// The first of the broken promises.
pub fn shown(broken: &[String]) -> String {
    let some: Vec<&String> = broken.iter().take(SHOWN_MAX).collect();
    format!("{} promises broken: {some:#?}", broken.len())
}

/// Waits a while for an event.
pub async fn news(scene: &Scene<'_>) {
    let last = scene.api.all_events(scene.address).await.last().map_or(0, sequence);
    drop(scene.api.events(scene.address, last, NEWS_WAIT_S).await);
}

/// The bank's operator completes what the bank would leave open for ever.
fn unstick(bank: &SimulatedBank, record: &PaymentRecord) {
    let stuck = record.order.text("beneficiary_account_number").ends_with("0005");
    let status = record.response.as_ref().map(|response| response.status.as_str());
    if !stuck || status != Some("processing") {
        return;
    }
    match bank.steer(&end_to_end_id(&record.id), Outcome::Settle) {
        // Settled in the meantime: its report is on the way.
        Ok(_) | Err(SteerFault::Illegal { .. }) => {}
        Err(fault) => panic!("the bank does not know {}, which it accepted: {fault}", record.id),
    }
}
