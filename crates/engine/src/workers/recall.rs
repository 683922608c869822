//! Sends recalls to rails, and ends the wait for their answers or for the money.

use domain::attempt::Attempt;
use domain::ids::RecallId;
use domain::job::Job;
use domain::rail::{RailStatus, RecallRequest, Submission};
use domain::recall::{Recall, RecallState};
use futures_util::future::join_all;
use store::StoreError;
use tracing::Instrument as _;

use super::Workers;
use crate::command::{PaymentAction, RecallAction};

impl Workers {
    /// Processes leased `recall` jobs.
    pub(super) async fn recall(&self, jobs: Vec<Job>) {
        join_all(jobs.iter().map(|job| self.recall_one(job))).await;
    }

    async fn recall_one(&self, job: &Job) {
        let id = RecallId(job.subject);
        let recall = match self.store.recall(job.tenant, id).await {
            Ok(Some(recall)) => recall,
            Ok(None) => return tracing::error!(recall = %id, "recall job has no recall"),
            Err(error) => {
                return tracing::warn!(%error, recall = %id, "recall read failed, will retry");
            }
        };
        let fence = job.fence;
        let action = if recall.state == RecallState::Requested {
            let Some(_call) = self.call(&recall.rail).await else { return };
            // It may have ended during the wait.
            match self.store.recall(job.tenant, id).await {
                Ok(Some(now)) if now.state == RecallState::Requested => {}
                Ok(_) => return,
                Err(error) => {
                    return tracing::warn!(%error, recall = %id, "recall read failed, will retry");
                }
            }
            let kept = self.store.keep_recall(&recall.rail, id, recall.attempt).await;
            if let Err(error) = kept {
                return tracing::warn!(%error, recall = %id, "recall id write failed, will retry");
            }
            let answer = match self.recall_request(&recall).await {
                Ok(Some(request)) => self.send_recall(&recall, &request).await,
                Ok(None) => Submission::NotSent("the rail no longer takes recalls".to_owned()),
                Err(error) => {
                    return tracing::warn!(%error, recall = %id, "attempt read failed, will retry");
                }
            };
            // First: a crash in between sends the recall again, and the bank repeats its answer.
            if let Submission::Reported(said) = &answer
                && matches!(said.status, RailStatus::Returned | RailStatus::Cancelled)
            {
                let report = PaymentAction::Report(said.clone());
                self.tell(job.tenant, recall.payment, report).await;
            }
            RecallAction::Submitted { fence, answer: Box::new(answer) }
        } else {
            RecallAction::Due { fence }
        };
        self.tell(job.tenant, recall.payment, PaymentAction::OfRecall(id, action)).await;
    }

    async fn send_recall(&self, recall: &Recall, request: &RecallRequest) -> Submission {
        let rail = &recall.rail;
        let Some(connected) = self.world.rails.get(rail) else {
            return Submission::NotSent("the rail is not connected".to_owned());
        };
        let span = tracing::info_span!("recall", otel.kind = "client", %rail, recall = %recall.id);
        connected.recall(request).instrument(span).await
    }

    /// The message of a recall; `None` if the rail's configuration has changed since.
    async fn recall_request(&self, recall: &Recall) -> Result<Option<RecallRequest>, StoreError> {
        let attempts = self.store.attempts(recall.tenant, recall.payment).await?;
        let is_it = |attempt: &&Attempt| attempt.id == recall.attempt;
        let format = self.world.corridors.rail(&recall.rail).and_then(|rail| rail.recalls.clone());
        let Some((attempt, format)) = attempts.iter().find(is_it).zip(format) else {
            return Ok(None);
        };
        let message = self.store.message_of(recall.attempt, &recall.rail).await?;
        Ok(Some(RecallRequest {
            recall: recall.id,
            created_at: recall.created_at,
            tenant: recall.tenant,
            payment: recall.payment,
            attempt: recall.attempt,
            message,
            amount: attempt.amount,
            reason: recall.reason,
            text: recall.text.clone(),
            format,
        }))
    }
}
