//! Manual control: the sandbox ends an order as its user requests, within a bank's possibilities.

use std::fmt;

use domain::time::Timestamp;

use super::model::{Happening, Standing, TxStatus};
use super::{BankCore, Book};

/// An outcome that a sandbox user can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Pay the order to the beneficiary.
    Settle,
    /// Let it fail after acceptance.
    Fail,
    /// Return the paid money.
    Return,
    /// Cancel and refund it.
    Cancel,
    /// Make its outcome unknown.
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

/// Reason why an order cannot have the requested outcome.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SteerFault<F> {
    /// No order with that EndToEndId.
    #[error("the bank has no order with this EndToEndId")]
    NotFound,
    /// The order's state does not permit it.
    #[error("an order with status {} cannot be changed to {wanted}; possible: {}", .status.code(), list(.legal))]
    Illegal {
        /// Status of the order.
        status: TxStatus,
        wanted: Outcome,
        /// Outcomes that its status permits.
        legal: &'static [Outcome],
    },
    /// The book could not be written.
    #[error("the bank's book failed: {0}")]
    Book(F),
}

fn list(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return "nothing".to_owned();
    }
    outcomes.iter().map(Outcome::to_string).collect::<Vec<_>>().join(", ")
}

/// Possible outcomes of an order in `status`.
pub fn legal(status: TxStatus) -> &'static [Outcome] {
    match status {
        TxStatus::Accepted => &[Outcome::Settle, Outcome::Fail, Outcome::Cancel, Outcome::Unknown],
        TxStatus::Unknown => &[Outcome::Settle, Outcome::Fail, Outcome::Cancel],
        TxStatus::Settled => &[Outcome::Return],
        TxStatus::Rejected | TxStatus::Cancelled | TxStatus::Returned => &[],
    }
}

impl<B: Book> BankCore<B> {
    /// Ends the newest order of an EndToEndId now and drops its planned events. The outcome is
    /// booked and reported as if the bank had decided it.
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
            Outcome::Settle => {
                self.perform(order, Happening::Settle, now, paid_before, &mut booked, &mut reports)
            }
            Outcome::Fail => {
                self.perform(order, Happening::Fail, now, paid_before, &mut booked, &mut reports)
            }
            Outcome::Return => {
                self.perform(order, Happening::Return, now, paid_before, &mut booked, &mut reports)
            }
            Outcome::Cancel | Outcome::Unknown => {
                let to =
                    if wanted == Outcome::Cancel { TxStatus::Cancelled } else { TxStatus::Unknown };
                (order.standing.status, order.standing.at) = (to, now);
                self.report(order, order.standing.clone(), &mut reports);
            }
        }
        let standing = order.standing.clone();
        self.store(dossier, &booked, &reports).map_err(SteerFault::Book)?;
        Ok(standing)
    }
}
