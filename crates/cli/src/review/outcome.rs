//! The options that state the outcome of a payment or of an order's payout, as two users
//! established it.

use clap::{Args, ValueEnum};
use domain::characters::entered;
use domain::decimal::Decimal;
use domain::money::Money;
use domain::rail::{Finding, RailStatus};

use super::super::failure::Failure;

/// The outcome of a payment or of an order's payout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Became {
    /// The bank has it and will report
    Processing,
    /// The bank paid the beneficiary
    #[value(alias = "settled")]
    Succeeded,
    /// The bank never accepted it
    Rejected,
    /// The bank accepted it and did not pay
    Failed,
    /// It was cancelled and refunded at the bank
    Reversed,
    /// It was paid and returned, less --charges
    Returned,
}

/// Options of `review resolve` and `review order resolve`.
#[derive(Args, Debug)]
pub struct OutcomeArgs {
    /// Outcome that the evidence proves
    #[arg(long, value_enum)]
    to: Became,
    /// Bank reference of the booking, with --to succeeded
    #[arg(long, value_name = "TEXT", value_parser = reference)]
    reference: Option<String>,
    /// Charges that the bank deducted from the return, in the currency that was paid out, with --to
    /// returned
    #[arg(long, value_name = "AMOUNT")]
    charges: Option<String>,
}

impl OutcomeArgs {
    /// The finding about a payment or a payout of this amount.
    pub fn finding(&self, amount: Money) -> Result<Finding, Failure> {
        let status = match self.to {
            Became::Processing => RailStatus::Accepted,
            Became::Succeeded => RailStatus::Settled,
            Became::Rejected | Became::Failed => RailStatus::Rejected,
            Became::Reversed => RailStatus::Cancelled,
            Became::Returned => RailStatus::Returned,
        };
        if self.reference.is_some() && self.to != Became::Succeeded {
            return Err(Failure::Usage("--reference: only with --to succeeded".to_owned()));
        }
        let charges = match &self.charges {
            None => 0,
            Some(_) if self.to != Became::Returned => {
                return Err(Failure::Usage("--charges: only with --to returned".to_owned()));
            }
            Some(text) => {
                let charges = Decimal::parse(text)
                    .ok()
                    .and_then(|value| Money::exact(value, amount.currency));
                let charges =
                    charges.filter(|charges| charges.minor > 0 && charges.minor < amount.minor);
                let rule = || {
                    Failure::Usage(format!("--charges: must be more than 0 and less than {amount}"))
                };
                charges.ok_or_else(rule)?.minor
            }
        };
        let never_accepted = self.to == Became::Rejected;
        Ok(Finding { status, never_accepted, reference: self.reference.clone(), charges })
    }
}

/// Parses a bank reference.
fn reference(text: &str) -> Result<String, String> {
    let rule = || "must be 1 to 140 characters".to_owned();
    entered(text, 140).map(str::to_owned).ok_or_else(rule)
}
