//! Inquires with rails about payouts of unknown outcome.

use std::collections::BTreeMap;

use domain::attempt::Attempt;
use domain::ids::PaymentId;
use domain::job::Job;
use domain::rail::{Inquiry, InquiryAnswer, Instruction, RailId};
use futures_util::future::join_all;
use store::Record;
use tracing::Instrument as _;

use super::Workers;
use super::calls::{UnderWay, each};
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

    /// The action that precedes a repetition of its message.
    fn again(&self) -> Action {
        let (attempt, fence) = (self.attempt.id, self.job.fence);
        match &self.order {
            Some(key) => {
                Action::Exchange(key.clone(), ExchangeAction::SendAgain { attempt, fence })
            }
            None => {
                Action::Payment(self.attempt.payment, PaymentAction::SendAgain { attempt, fence })
            }
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

    /// Inquires about attempts, rail by rail, about as many at once as a message may carry.
    pub(super) async fn ask_about(&self, asks: Vec<Ask>) {
        let mut by_rail: BTreeMap<RailId, Vec<Ask>> = BTreeMap::new();
        for ask in asks {
            if ask.attempt.is_unrecorded() {
                let why = "its outcome is to be established by users".to_owned();
                self.answered(&ask, InquiryAnswer::NoAnswer(why)).await;
                continue;
            }
            by_rail.entry(ask.attempt.rail.clone()).or_default().push(ask);
        }
        join_all(by_rail.into_iter().map(|(rail, asks)| async move {
            let size = self.batch_of(&rail).min(INQUIRY_MAX);
            self.in_calls(&rail, asks, size, |asks, calls| self.ask(&rail, asks, size, calls))
                .await;
        }))
        .await;
    }

    async fn ask(&self, rail: &RailId, asks: Vec<Ask>, size: usize, calls: UnderWay) {
        let calls = each(calls, asks.len().div_ceil(size));
        join_all(asks.chunks(size).zip(calls).map(|(some, call)| async move {
            let answers = self.ask_once(rail, some).await;
            drop(call);
            let answered = some.iter().zip(answers).map(|(ask, answer)| self.answered(ask, answer));
            join_all(answered).await;
        }))
        .await;
    }

    async fn ask_once(&self, rail: &RailId, asks: &[Ask]) -> Vec<InquiryAnswer> {
        let mut inquiries = Vec::with_capacity(asks.len());
        for Ask { attempt, order, .. } in asks {
            // Payouts of orders are not recalled.
            let recalls = match order {
                Some(_) => Ok(Vec::new()),
                None => self.store.recalls(attempt.tenant, attempt.payment).await,
            };
            let recalls = match recalls {
                Ok(recalls) => recalls.iter().map(|it| it.id.message_id()).collect(),
                Err(error) => {
                    tracing::warn!(%error, "recall read failed, inquiry will be retried");
                    let why = "the recalls of a payment cannot be read".to_owned();
                    return vec![InquiryAnswer::NoAnswer(why); asks.len()];
                }
            };
            inquiries.push(Inquiry {
                payment: attempt.payment,
                attempt: attempt.id,
                created_at: attempt.created_at,
                recalls,
            });
        }
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
        let why = answers.iter().map(|answer| match answer {
            InquiryAnswer::NoAnswer(why) => Some(why.as_str()),
            _ => None,
        });
        self.answered_call(rail, "inquiry", why).await;
        answers
    }

    async fn answered(&self, ask: &Ask, answer: InquiryAnswer) {
        let (answer, of_recall) = answer.apart();
        if let Some(report) = of_recall {
            let (tenant, payment) = (ask.job.tenant, ask.attempt.payment);
            let action = Action::Payment(payment, PaymentAction::Report(report));
            self.apply(tenant, payment, action).await;
        }
        let is_not_found = answer == InquiryAnswer::NotFound;
        // A worker that lost the job's fence repeats nothing.
        if self.report(ask.job.tenant, ask.job.subject, ask.told(answer)).await.is_some()
            && is_not_found
        {
            self.repeat(ask).await;
        }
    }

    /// Sends the identical message of an attempt once more, if it may be.
    async fn repeat(&self, ask: &Ask) {
        let Attempt { rail, .. } = &ask.attempt;
        if !ask.attempt.is_to_be_sent_again(self.world.corridors.rail(rail)) {
            return;
        }
        let Some(instruction) = self.instruction_again(ask).await else { return };
        let Some(call) = self.call(rail).await else { return };
        // Decided on the attempt as it is now, and stored before anything is sent.
        if self.report(ask.job.tenant, ask.job.subject, ask.again()).await.is_none() {
            return;
        }
        failpoint::reach(Failpoint::BeforeSendingAgain);
        let payees = match &ask.order {
            Some(key) => Payees::Orders(std::slice::from_ref(key)),
            None => Payees::Payments,
        };
        self.send(&[Message { rail, instructions: &[instruction], payees }], call).await;
    }

    /// The instruction of an attempt; `None` if screening does not pass any more, or if what it pays
    /// cannot be read now.
    async fn instruction_again(&self, ask: &Ask) -> Option<Instruction> {
        let (attempt, corridors) = (&ask.attempt, &self.world.corridors);
        if let Some(key) = &ask.order {
            let order = self.exchange_of(&ask.job).await?;
            let ScreenedAgain::Passes(cleared) = self.holder_screened_again(&order) else {
                return not_repeated(attempt);
            };
            self.note_cleared_holder(&ask.job, key, cleared).await?;
            return Some(order_instruction(attempt, &order, corridors));
        }
        match self.store.payment_record(ask.job.tenant, attempt.payment).await {
            Ok(Some(Record { payment, order, .. })) => {
                let ScreenedAgain::Passes(cleared) = self.screened_again(&payment, &order) else {
                    return not_repeated(attempt);
                };
                self.note_cleared(&ask.job, attempt.payment, cleared).await?;
                Some(instruction(attempt, &order, corridors))
            }
            Ok(None) => {
                tracing::error!(payment = %attempt.payment, "attempt has no payment");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "payment read failed");
                None
            }
        }
    }
}

fn not_repeated(attempt: &Attempt) -> Option<Instruction> {
    tracing::warn!(payment = %attempt.payment, "screening does not pass on the lists in force, message not repeated");
    None
}
