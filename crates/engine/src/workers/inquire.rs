//! Inquires with rails about payouts of unknown outcome.

use std::collections::BTreeMap;

use domain::attempt::Attempt;
use domain::ids::{ExchangeId, PaymentId};
use domain::job::Job;
use domain::rail::{Inquiry, InquiryAnswer, RailId};
use futures_util::future::join_all;
use tracing::Instrument as _;

use super::Workers;
use super::instruction::{instruction, order_instruction};
use super::submit::{Message, Payees, ScreenedAgain};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Action, PaymentAction};
use crate::failpoint::{self, Failpoint};

/// Maximum number of attempts per inquiry.
const INQUIRY_MAX: usize = 100;

/// An attempt to inquire about.
pub(super) struct Ask {
    /// The job that needs the answer.
    pub(super) job: Job,
    pub(super) attempt: Attempt,
    /// The order that it pays out; `None` = a payment.
    pub(super) order: Option<OrderKey>,
}

impl Ask {
    /// The action that reports the answer.
    fn told(&self, answer: InquiryAnswer) -> Action {
        let (attempt, fence) = (self.attempt.id, self.job.fence);
        match &self.order {
            Some(key) => {
                Action::Exchange(key.clone(), ExchangeAction::Inquired { attempt, fence, answer })
            }
            None => Action::Payment(
                self.attempt.payment,
                PaymentAction::Inquired { attempt, fence, answer },
            ),
        }
    }
}

impl Workers {
    /// Processes leased `inquire` jobs.
    pub(super) async fn inquire(&self, jobs: Vec<Job>) {
        let mut asks = Vec::new();
        for job in jobs {
            asks.extend(self.newest_attempt(&job).await.map(|attempt| Ask {
                job,
                attempt,
                order: None,
            }));
        }
        self.ask_about(asks).await;
    }

    /// Processes leased `inquire_payout` jobs.
    pub(super) async fn inquire_payouts(&self, jobs: Vec<Job>) {
        let mut asks = Vec::new();
        for job in jobs {
            let Some(order) = self.exchange_of(&job).await else { continue };
            let order = Some(OrderKey::of(&order));
            asks.extend(self.newest_attempt(&job).await.map(|attempt| Ask { job, attempt, order }));
        }
        self.ask_about(asks).await;
    }

    async fn newest_attempt(&self, job: &Job) -> Option<Attempt> {
        match self.store.attempts(job.tenant, PaymentId(job.subject)).await {
            Ok(attempts) => attempts.into_iter().next_back(),
            Err(error) => {
                tracing::warn!(%error, "attempt read failed, inquiry will be retried");
                None
            }
        }
    }

    /// Inquires about attempts, rail by rail.
    pub(super) async fn ask_about(&self, asks: Vec<Ask>) {
        let mut by_rail: BTreeMap<RailId, Vec<Ask>> = BTreeMap::new();
        for ask in asks {
            by_rail.entry(ask.attempt.rail.clone()).or_default().push(ask);
        }
        join_all(by_rail.iter().flat_map(|(rail, asks)| {
            asks.chunks(INQUIRY_MAX).map(move |some| self.ask(rail, some))
        }))
        .await;
    }

    async fn ask(&self, rail: &RailId, asks: &[Ask]) {
        let inquiries: Vec<Inquiry> = asks
            .iter()
            .map(|Ask { attempt, .. }| Inquiry {
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
            None => {
                vec![InquiryAnswer::NoAnswer("the rail is not connected".to_owned()); asks.len()]
            }
        };
        failpoint::reach(Failpoint::AfterInquiry);
        if answers.iter().all(|answer| matches!(answer, InquiryAnswer::NoAnswer(_))) {
            self.world.health.failed(rail, self.clock().now());
        } else {
            self.world.health.answered(rail);
        }
        join_all(asks.iter().zip(answers).map(|(ask, answer)| self.answered(ask, answer))).await;
    }

    async fn answered(&self, ask: &Ask, answer: InquiryAnswer) {
        let rail = self.world.corridors.rail(&ask.attempt.rail);
        let again = ask.attempt.is_to_be_sent_again(&answer, rail);
        // Reported first: the attempt is `indeterminate` and counts as sent again from here on, so
        // that neither a repetition that certainly is not sent nor one that is refused proves
        // anything about the first message. A worker that lost the job's fence repeats nothing.
        if self.report(ask.job.tenant, ask.job.subject, ask.told(answer)).await.is_some() && again {
            failpoint::reach(Failpoint::BeforeSendingAgain);
            self.repeat(ask).await;
        }
    }

    /// Sends the identical message of an attempt once more.
    async fn repeat(&self, ask: &Ask) {
        let (attempt, corridors) = (&ask.attempt, &self.world.corridors);
        if let Some(key) = &ask.order {
            let order =
                match self.store.exchange(ask.job.tenant, ExchangeId(attempt.payment.0)).await {
                    Ok(Some(order)) => order,
                    Ok(None) => {
                        return tracing::error!(order = %attempt.payment, "attempt has no order");
                    }
                    Err(error) => return tracing::warn!(%error, "order read failed"),
                };
            let ScreenedAgain::Passes(cleared) = self.holder_screened_again(&order) else {
                return not_repeated(attempt);
            };
            if self.note_cleared_holder(&ask.job, key, cleared).await.is_none() {
                return;
            }
            let message = order_instruction(attempt, &order, corridors);
            let payees = Payees::Orders(std::slice::from_ref(key));
            let message = Message { rail: &attempt.rail, instructions: &[message], payees };
            return self.send(&[message]).await;
        }
        match self.store.payment_record(ask.job.tenant, attempt.payment).await {
            // It would be paid although the bank was asked to return it.
            Ok(Some(record)) if record.payment.is_being_recalled() => {}
            Ok(Some(record)) => {
                let ScreenedAgain::Passes(cleared) =
                    self.screened_again(&record.payment, &record.order)
                else {
                    return not_repeated(attempt);
                };
                if self.note_cleared(&ask.job, attempt.payment, cleared).await.is_none() {
                    return;
                }
                let message = instruction(attempt, &record.order, corridors);
                self.send(&[Message::of_payments(&attempt.rail, &[message])]).await;
            }
            Ok(None) => tracing::error!(payment = %attempt.payment, "attempt has no payment"),
            Err(error) => tracing::warn!(%error, "payment read failed"),
        }
    }
}

fn not_repeated(attempt: &Attempt) {
    tracing::warn!(payment = %attempt.payment, "screening does not pass on the lists in force, message not repeated");
}
