//! Steering by hand: the sandbox makes an order end as its user wishes, within what a bank can do.

use std::fmt;

use domain::time::Timestamp;

use super::model::{Happening, Standing, TxStatus};
use super::{BankCore, Book};

/// What a user of the sandbox can make happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Pay it.
    Settle,
    /// Let it fail after acceptance.
    Fail,
    /// Send the paid money back.
    Return,
    /// Cancel and refund it.
    Cancel,
    /// Forget what became of it.
    Unknown,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Outcome::Settle => "settle",
            Outcome::Fail => "fail",
            Outcome::Return => "return",
            Outcome::Cancel => "cancel",
            Outcome::Unknown => "unknown",
        })
    }
}

/// Why an order cannot be steered so.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteerFault<F> {
    /// No order under that EndToEndId.
    #[error("the bank knows no order with this EndToEndId")]
    NotFound,
    /// The order's state does not allow it.
    #[error("an order that is {} cannot be steered to {wanted}; possible: {}", .status.code(), list(.legal))]
    Illegal {
        /// Where the order stands.
        status: TxStatus,
        /// What was asked.
        wanted: Outcome,
        /// What is possible.
        legal: &'static [Outcome],
    },
    /// The book failed.
    #[error("the bank's book failed: {0}")]
    Book(F),
}

fn list(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return "nothing".to_owned();
    }
    outcomes.iter().map(Outcome::to_string).collect::<Vec<_>>().join(", ")
}

/// What an order in `status` can still be made to do.
pub fn legal(status: TxStatus) -> &'static [Outcome] {
    match status {
        TxStatus::Accepted => &[Outcome::Settle, Outcome::Fail, Outcome::Cancel, Outcome::Unknown],
        TxStatus::Unknown => &[Outcome::Settle, Outcome::Fail, Outcome::Cancel],
        TxStatus::Settled => &[Outcome::Return],
        TxStatus::Rejected | TxStatus::Cancelled | TxStatus::Returned => &[],
    }
}

impl<B: Book> BankCore<B> {
    /// Makes the newest order of an EndToEndId end so, now, and drops what was planned for it. The outcome is booked
    /// and reported as if the bank had come to it itself.
    pub fn steer(
        &mut self,
        end_to_end_id: &str,
        wanted: Outcome,
        now: Timestamp,
    ) -> Result<Standing, SteerFault<B::Fault>> {
        let (mut dossier, live) = self.load(end_to_end_id).map_err(SteerFault::Book)?;
        let paid_before = dossier.paid_net();
        let Some(order) = dossier.orders.last_mut() else { return Err(SteerFault::NotFound) };
        let status = order.standing.status;
        if !legal(status).contains(&wanted) {
            if live {
                self.live.insert(end_to_end_id.into(), dossier);
            }
            return Err(SteerFault::Illegal { status, wanted, legal: legal(status) });
        }
        order.plan.clear();
        let (mut booked, mut reports) = (Vec::new(), Vec::new());
        match wanted {
            Outcome::Settle => self.perform(order, Happening::Settle, now, paid_before, &mut booked, &mut reports),
            Outcome::Fail => self.perform(order, Happening::Fail, now, paid_before, &mut booked, &mut reports),
            Outcome::Return => self.perform(order, Happening::Return, now, paid_before, &mut booked, &mut reports),
            Outcome::Cancel | Outcome::Unknown => {
                let to = if wanted == Outcome::Cancel { TxStatus::Cancelled } else { TxStatus::Unknown };
                (order.standing.status, order.standing.at) = (to, now);
                self.report(order, order.standing.clone(), &mut reports);
            }
        }
        let standing = order.standing.clone();
        self.store(dossier, &booked, &reports).map_err(SteerFault::Book)?;
        Ok(standing)
    }
}
