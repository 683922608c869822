//! What a payment page shows, decided from the request and its deposits. Neutral by construction: nothing in here knows
//! the recipient's wallet, customer or risk, and a payment that is looked at is only ever "being checked".

use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositState};
use domain::payment_request::{Asked, PaymentRequest, RequestException, RequestState};
use domain::time::Timestamp;

use crate::wallet_v1::render;

/// A payment on its way, as a page may tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// Which coin.
    pub coin: StableCoin,
    /// How much, in minor units.
    pub minor: i64,
    /// How far it is.
    pub progress: Progress,
}

/// How far a payment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// On the chain; so many blocks of so many, where that is known.
    Seen(Option<(u64, u64)>),
    /// Being checked.
    Checking,
    /// Being checked, and not soon.
    CheckingLonger,
    /// It has reached the recipient.
    Done,
    /// It was not accepted.
    NotAccepted,
    /// It was not accepted and has been given back.
    GivenBack,
}

impl Incoming {
    /// What may be told of a deposit; nothing of one that is shown to nobody.
    pub fn of(deposit: &Deposit, confirmations: Option<(u64, u64)>) -> Option<Incoming> {
        let progress = match deposit.state {
            DepositState::Orphaned => return None,
            DepositState::Seen => Progress::Seen(confirmations),
            DepositState::Screening | DepositState::Approved => Progress::Checking,
            DepositState::Held | DepositState::InReview | DepositState::Suspended => Progress::CheckingLonger,
            DepositState::Completed => Progress::Done,
            DepositState::Rejected | DepositState::LegalHold | DepositState::Refunding | DepositState::Failed => {
                Progress::NotAccepted
            }
            DepositState::Refunded => Progress::GivenBack,
        };
        Some(Incoming { coin: deposit.coin, minor: deposit.minor, progress })
    }

    const fn is_over(&self) -> bool {
        matches!(self.progress, Progress::Done | Progress::NotAccepted | Progress::GivenBack)
    }
}

/// What is still to be sent, in one coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Which coin.
    pub coin: StableCoin,
    /// How much; `None` = whatever the sender wants.
    pub minor: Option<i64>,
}

/// What is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// There is nothing to pay here: unknown, expired, cancelled, not available. Nobody learns which.
    Closed,
    /// The sender is asked who he is.
    Details {
        /// What has come already.
        arrived: Vec<Incoming>,
    },
    /// The address is shown.
    Send {
        /// What may be sent, one line for each coin; never empty.
        offers: Vec<Offer>,
        /// What has come already.
        arrived: Vec<Incoming>,
    },
    /// How the payment goes.
    Status {
        /// What has come; never empty.
        arrived: Vec<Incoming>,
        /// What is unusual about it.
        notice: RequestException,
    },
}

impl View {
    /// What is to be shown of a request. `taken`: whether its wallet takes money at all; `known`: whether this visitor
    /// has said who he is.
    pub fn of(request: &PaymentRequest, arrived: Vec<Incoming>, taken: bool, known: bool, now: Timestamp) -> View {
        let open = taken && request.state == RequestState::Active && now < request.expires_at;
        let under_way = arrived.iter().any(|incoming| matches!(incoming.progress, Progress::Seen(_)));
        let offers = if open && !under_way { offers(request) } else { Vec::new() };
        match (offers.is_empty(), known) {
            (true, _) if arrived.is_empty() => View::Closed,
            (true, _) => View::Status { arrived, notice: request.exception() },
            (false, true) => View::Send { offers, arrived },
            (false, false) => View::Details { arrived },
        }
    }

    /// Where the sender is on the way from the first step (1) to the last (5).
    pub fn step(&self) -> u8 {
        match self {
            View::Closed | View::Details { .. } => 1,
            View::Send { .. } => 2,
            View::Status { arrived, .. } => {
                let checking = |incoming: &Incoming| !matches!(incoming.progress, Progress::Seen(_));
                match (arrived.iter().all(Incoming::is_over), arrived.iter().all(checking)) {
                    (true, _) => 5,
                    (false, true) => 4,
                    (false, false) => 3,
                }
            }
        }
    }

    /// Whether what is shown will change by itself.
    pub fn is_waiting(&self) -> bool {
        match self {
            View::Closed | View::Details { .. } => false,
            View::Send { .. } => true,
            View::Status { arrived, .. } => !arrived.iter().all(Incoming::is_over),
        }
    }
}

/// What may still be sent.
fn offers(request: &PaymentRequest) -> Vec<Offer> {
    let offer = |coin| match request.asked {
        Asked::Flexible => Some(Offer { coin, minor: None }),
        _ => {
            let left = request.asked.outstanding(&request.received, coin).filter(|left| *left > 0)?;
            Some(Offer { coin, minor: Some(left) })
        }
    };
    StableCoin::ALL.into_iter().filter_map(offer).collect()
}

/// What is asked for, as the page writes it largest: `None` = any amount.
pub fn amount_asked(asked: &Asked) -> Option<String> {
    match asked {
        Asked::Crypto { coin, minor } => Some(format!("{} {}", render::coin(*minor), coin.currency().code())),
        Asked::Fiat { currency, micros, .. } => Some(format!("{} {}", render::coin(*micros), currency.code())),
        Asked::Flexible => None,
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
