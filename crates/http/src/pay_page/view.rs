//! What a payment page shows, decided from the request and its deposits. Neutral by construction: nothing in here knows
//! the recipient's wallet, customer or risk, and a payment that is looked at is only ever "being checked".

use domain::chain::TxHash;
use domain::currency::StableCoin;
use domain::deposit::{Asking, Deposit, DepositState};
use domain::payment_request::{Asked, Paid, PaymentRequest, Received, RequestException, RequestState};
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
    /// When it was in the chain.
    pub paid_at: Timestamp,
    /// Whether it may be the visitor's own. Another sender's payment asks nothing of the visitor, and does not stand in the way.
    pub is_own: bool,
    /// Its transaction; shown to nobody but the sender.
    pub tx: TxHash,
    /// Whether its sender is asked where to send it back.
    pub asking: Asking,
    /// The transaction that gave it back, where this visitor is told: it names whom it went to.
    pub back_tx: Option<TxHash>,
}

/// Whether a page asks where money is to be sent back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// There is nothing to ask.
    No,
    /// It asks, and takes an answer.
    Asks,
    /// The sender may not change any more what he has said.
    Fixed,
    /// It asks him whose money it is, on his own page.
    Elsewhere,
}

/// How far a payment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// On the chain; so many blocks of so many, where that is known.
    Seen(Option<(u64, u64)>),
    /// There, and too little to be passed on by itself.
    Small,
    /// Being checked.
    Checking,
    /// Being checked, and not soon.
    CheckingLonger,
    /// Checked, on its way to the recipient.
    PassingOn,
    /// It has reached the recipient.
    Done,
    /// It was not accepted.
    NotAccepted,
    /// It was not accepted, and is on its way back.
    GoingBack,
    /// It was not accepted and has been given back.
    GivenBack,
}

impl Incoming {
    /// What may be told of a deposit of a request; nothing of one that is shown to nobody.
    pub fn of(deposit: &Deposit, request: &PaymentRequest, confirmations: Option<(u64, u64)>) -> Option<Incoming> {
        let progress = match deposit.state {
            DepositState::Orphaned => return None,
            DepositState::Seen => Progress::Seen(confirmations),
            DepositState::Dust => Progress::Small,
            DepositState::Screening => Progress::Checking,
            DepositState::Approved => Progress::PassingOn,
            DepositState::Held | DepositState::InReview | DepositState::Suspended => Progress::CheckingLonger,
            DepositState::Completed => Progress::Done,
            // What is only proposed may be taken back.
            DepositState::Refunding if deposit.refund.as_ref().is_some_and(|it| it.approved_by.is_some()) => {
                Progress::GoingBack
            }
            DepositState::Rejected | DepositState::LegalHold | DepositState::Refunding | DepositState::Failed => {
                Progress::NotAccepted
            }
            DepositState::Refunded => Progress::GivenBack,
        };
        let (paid_at, tx) = (deposit.paid_at, deposit.tx);
        let asking = deposit.asks_where_back(request.exception());
        let (coin, minor, back_tx) = (deposit.coin, deposit.minor, None);
        Some(Incoming { coin, minor, progress, paid_at, is_own: true, tx, asking, back_tx })
    }

    /// The same of one that cannot be the visitor's own: he is not asked about it.
    #[must_use]
    pub const fn of_another(self) -> Incoming {
        Incoming { asking: Asking::No, is_own: false, ..self }
    }

    /// The amount with its coin.
    pub fn amount(&self) -> String {
        format!("{} {}", render::coin(self.minor), self.coin.currency().code())
    }

    /// Whether it is decided about: nothing more will become of it than that it goes back.
    pub const fn is_over(&self) -> bool {
        matches!(self.progress, Progress::Done | Progress::NotAccepted | Progress::GoingBack | Progress::GivenBack)
    }

    /// Whether it may still go back, or is on its way. What is on legal hold looks like any other refused payment.
    pub const fn may_go_back(&self) -> bool {
        match self.progress {
            Progress::GoingBack => true,
            Progress::NotAccepted => !matches!(self.asking, Asking::No),
            _ => false,
        }
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
        /// What is unusual about it.
        notice: RequestException,
    },
    /// The address is shown.
    Send {
        /// What may be sent, one line for each coin; never empty.
        offers: Vec<Offer>,
        /// What has come already.
        arrived: Vec<Incoming>,
        /// What is unusual about it.
        notice: RequestException,
        /// Whether it is asked where to send something of that back.
        back: Back,
    },
    /// How the payment goes.
    Status {
        /// What has come; never empty.
        arrived: Vec<Incoming>,
        /// What is unusual about it.
        notice: RequestException,
        /// Whether it is asked where to send something of that back.
        back: Back,
    },
}

impl View {
    /// What is to be shown of a request. `taken`: whether its wallet takes money at all; `known`: whether this visitor
    /// has said who he is.
    pub fn of(request: &PaymentRequest, arrived: Vec<Incoming>, taken: bool, known: bool, now: Timestamp) -> View {
        let open = taken && request.state == RequestState::Active && now < request.expires_at;
        let offers = if open && !is_under_way(request, &arrived, known) { offers(request) } else { Vec::new() };
        let notice = request.exception();
        let back = Back::of(&arrived, known);
        match (offers.is_empty(), known) {
            (true, _) if arrived.is_empty() => View::Closed,
            (true, _) => View::Status { arrived, notice, back },
            (false, true) => View::Send { offers, arrived, notice, back },
            (false, false) => View::Details { arrived, notice },
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

    /// Whether it is over and nothing has reached the recipient.
    pub fn has_failed(&self) -> bool {
        let done = |incoming: &Incoming| incoming.progress == Progress::Done;
        matches!(self, View::Status { arrived, .. } if self.step() == 5 && !arrived.iter().any(done))
    }

    /// Names what a page is made of, apart from how far each payment is: a page of another shape is another page.
    pub fn shape(&self) -> String {
        match self {
            View::Closed => "closed".to_owned(),
            View::Details { .. } => "details".to_owned(),
            View::Send { offers, back, .. } => {
                let shape = offers.iter().fold("send".to_owned(), |shape, offer| {
                    format!("{shape}-{}", offer.minor.map_or_else(|| "any".to_owned(), render::coin))
                });
                format!("{shape}{}", back.shape())
            }
            View::Status { arrived, back, .. } => {
                let followed = if self.is_followed() == self.is_waiting() { "" } else { "-followed" };
                format!("status-{}-{}{}{followed}", self.step(), arrived.len(), back.shape())
            }
        }
    }

    /// Whether it is asked where to send money back.
    pub const fn back(&self) -> Back {
        match self {
            View::Closed | View::Details { .. } => Back::No,
            View::Send { back, .. } | View::Status { back, .. } => *back,
        }
    }

    /// The coins about which it is asked, with commas between them.
    pub fn coins_asked_about(&self) -> String {
        let asks = |coin: &StableCoin| {
            self.arrived().iter().any(|incoming| incoming.coin == *coin && incoming.asking != Asking::No)
        };
        let codes = StableCoin::ALL.into_iter().filter(asks).map(|coin| coin.currency().code());
        codes.collect::<Vec<_>>().join(", ")
    }

    /// What has come, whatever else is shown.
    pub fn arrived(&self) -> &[Incoming] {
        match self {
            View::Closed => &[],
            View::Details { arrived, .. } | View::Send { arrived, .. } | View::Status { arrived, .. } => arrived,
        }
    }

    /// Whether what is shown may change by itself: something is under way, or may still go back.
    pub fn is_followed(&self) -> bool {
        let status = matches!(self, View::Status { .. });
        self.is_waiting() || (status && self.arrived().iter().any(Incoming::may_go_back))
    }

    /// Whether something is still to come, or to be decided about.
    pub fn is_waiting(&self) -> bool {
        match self {
            View::Closed | View::Details { .. } => false,
            View::Send { .. } => true,
            View::Status { arrived, .. } => !arrived.iter().all(Incoming::is_over),
        }
    }
}

impl Back {
    /// What is asked about what has come. Whoever has not said who he is may have nothing to do with it.
    fn of(arrived: &[Incoming], known: bool) -> Back {
        match (arrived.iter().map(|incoming| incoming.asking).max(), known) {
            (Some(Asking::Yes), true) => Back::Asks,
            (Some(Asking::Yes), false) => Back::Elsewhere,
            (Some(Asking::Over), true) => Back::Fixed,
            _ => Back::No,
        }
    }

    /// What it adds to the name of a page's shape.
    const fn shape(self) -> &'static str {
        match self {
            Back::No => "",
            Back::Asks => "-back",
            Back::Fixed => "-fixed",
            Back::Elsewhere => "-elsewhere",
        }
    }
}

/// Whether what is on its way stands in the place of another payment: the visitor's own does, and so does whatever will
/// make the request complete. Else anyone with the link could keep its sender from paying.
fn is_under_way(request: &PaymentRequest, arrived: &[Incoming], known: bool) -> bool {
    let seen = || arrived.iter().filter(|incoming| matches!(incoming.progress, Progress::Seen(_)));
    if known && seen().any(|incoming| incoming.is_own) {
        return true;
    }
    let with = |received: Received, incoming: &Incoming| {
        received.checked_add(incoming.coin, incoming.minor).unwrap_or(received)
    };
    let complete = request.asked.compare(&seen().fold(request.received, with));
    request.asked != Asked::Flexible && matches!(complete, Paid::InFull | Paid::Over)
}

/// What may still be sent.
fn offers(request: &PaymentRequest) -> Vec<Offer> {
    let offer = |coin| match request.asked {
        Asked::Flexible => Some(Offer { coin, minor: None }),
        _ => {
            let left = request.asked.outstanding(&request.counted(), coin).filter(|left| *left > 0)?;
            Some(Offer { coin, minor: Some(left) })
        }
    };
    StableCoin::ALL.into_iter().filter_map(offer).collect()
}

/// What is asked for, as the page writes it largest, number and coin or currency: `None` = any amount.
pub fn amount_asked(asked: &Asked) -> Option<(String, &'static str)> {
    match asked {
        Asked::Crypto { coin, minor } => Some((render::coin(*minor), coin.currency().code())),
        Asked::Fiat { currency, micros, .. } => Some((render::coin(*micros), currency.code())),
        Asked::Flexible => None,
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
