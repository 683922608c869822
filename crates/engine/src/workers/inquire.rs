//! Asks rails what became of payments whose outcome is not known yet.

use std::collections::BTreeMap;

use domain::attempt::{Attempt, AttemptState};
use domain::ids::PaymentId;
use domain::job::Job;
use domain::rail::{Inquiry, InquiryAnswer, RailId};
use futures_util::future::join_all;
use tracing::Instrument as _;

use super::Workers;
use super::instruction::instruction;
use crate::command::PaymentAction;
use crate::failpoint::{self, Failpoint};
use crate::planted::{self, Planted};

/// Most attempts that one inquiry asks about.
const INQUIRY_MAX: usize = 100;

impl Workers {
    /// Works off leased `inquire` jobs.
    pub(super) async fn inquire(&self, jobs: Vec<Job>) {
        let mut asks = Vec::new();
        for job in jobs {
            match self.store.attempts(job.tenant, PaymentId(job.subject)).await {
                Ok(attempts) => asks.extend(attempts.into_iter().next_back().map(|attempt| (job, attempt))),
                Err(error) => tracing::warn!(%error, "attempts cannot be read now; the lease will run out"),
            }
        }
        self.ask_about(asks).await;
    }

    /// Asks about attempts, rail by rail.
    pub(super) async fn ask_about(&self, asks: Vec<(Job, Attempt)>) {
        let mut by_rail: BTreeMap<RailId, Vec<(Job, Attempt)>> = BTreeMap::new();
        for (job, attempt) in asks {
            by_rail.entry(attempt.rail.clone()).or_default().push((job, attempt));
        }
        join_all(
            by_rail.iter().flat_map(|(rail, asks)| asks.chunks(INQUIRY_MAX).map(move |some| self.ask(rail, some))),
        )
        .await;
    }

    async fn ask(&self, rail: &RailId, asks: &[(Job, Attempt)]) {
        if planted::is(Planted::NoInquiry) {
            return self.send_without_asking(asks).await;
        }
        let inquiries: Vec<Inquiry> = asks
            .iter()
            .map(|(_, attempt)| Inquiry {
                payment: attempt.payment,
                attempt: attempt.id,
                created_at: attempt.created_at,
            })
            .collect();
        failpoint::reach(Failpoint::BeforeInquiry);
        let answers = match self.world.rails.get(rail) {
            Some(connected) => {
                let span = tracing::info_span!("inquire", otel.kind = "client", %rail, payments = inquiries.len());
                connected.inquire(&inquiries).instrument(span).await
            }
            None => vec![InquiryAnswer::NoAnswer("the rail is not connected".to_owned()); asks.len()],
        };
        failpoint::reach(Failpoint::AfterInquiry);
        if answers.iter().all(|answer| matches!(answer, InquiryAnswer::NoAnswer(_))) {
            self.health.failed(rail, self.clock().now());
        } else {
            self.health.answered(rail);
        }
        join_all(asks.iter().zip(answers).map(|((job, attempt), answer)| self.answered(job, attempt, answer))).await;
    }

    /// A planted bug.
    async fn send_without_asking(&self, asks: &[(Job, Attempt)]) {
        for (job, attempt) in asks {
            if let Ok(Some(record)) = self.store.payment_record(job.tenant, attempt.payment).await {
                let message = instruction(attempt, &record, &self.world.corridors);
                self.send(&attempt.rail, &[message]).await;
            }
        }
    }

    async fn answered(&self, job: &Job, attempt: &Attempt, answer: InquiryAnswer) {
        let unproven = matches!(attempt.state, AttemptState::Sending | AttemptState::Indeterminate);
        let again = answer == InquiryAnswer::NotFound && unproven;
        let action = PaymentAction::Inquired { attempt: attempt.id, fence: job.fence, answer };
        // Told first: the attempt is `indeterminate` from here on, so that a repetition which certainly does not leave
        // says nothing about the first message; and whoever lost the job's fence repeats nothing.
        if self.tell(job.tenant, attempt.payment, action).await.is_some() && again {
            self.send_again(job, attempt).await;
        }
    }

    /// "Not found" is no proof that nothing was sent: the identical message goes again, to the same rail, and only if
    /// that rail declares that it recognises duplicates.
    async fn send_again(&self, job: &Job, attempt: &Attempt) {
        let detects = |rail: &&domain::policy::RailConfig| rail.duplicate_detection;
        if self.world.corridors.rail(&attempt.rail).filter(detects).is_none() {
            return;
        }
        match self.store.payment_record(job.tenant, attempt.payment).await {
            Ok(Some(record)) => {
                let message = instruction(attempt, &record, &self.world.corridors);
                failpoint::reach(Failpoint::BeforeSendingAgain);
                self.send(&attempt.rail, &[message]).await;
            }
            Ok(None) => tracing::error!(payment = %attempt.payment, "an attempt has no payment"),
            Err(error) => tracing::warn!(%error, "the payment cannot be read now"),
        }
    }
}
