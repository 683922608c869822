//! Decides what a payment page shows, from the request and its deposits. Neutral by construction:
//! it has no access to the recipient's wallet, customer or risk, and a held payment is only "being
//! checked".

use domain::chain::TxHash;
use domain::currency::{Currency, StableCoin};
use domain::decimal::{Decimal, Rounding};
use domain::deposit::{Asking, Deposit, DepositBucket, DepositState};
use domain::grouping::grouped;
use domain::payment_request::{
    Asked, Paid, PaymentRequest, Received, RequestException, RequestState,
};
use domain::sponsor::SponsoredState;
use domain::time::Timestamp;
use unicode_normalization::char::is_combining_mark;

use crate::wallet_v1::render;

/// A payment as a page may show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub coin: StableCoin,
    /// Whether the request accepts this token.
    pub is_accepted: bool,
    /// The amount in minor units.
    pub minor: i64,
    pub progress: Progress,
    /// The time of its block.
    pub paid_at: Timestamp,
    /// What is unusual about it, whatever others paid.
    pub deviation: RequestException,
    /// Whether its sender sent more than was requested, late or not.
    pub is_too_much: bool,
    /// Whether it was refused, or could not be passed on: its sender is not asked to send again.
    pub is_refused: bool,
    /// Whether it may be the visitor's own. Other senders' payments ask nothing of the visitor and
    /// do not block them.
    pub is_own: bool,
    /// The transaction, shown to its sender only.
    pub tx: TxHash,
    /// Whether its sender is asked for a refund address.
    pub asking: Asking,
    /// The refund transaction, shown only to its recipient because it reveals the address.
    pub back_tx: Option<TxHash>,
}

/// A recipient's name as a stranger may read it: the first name, and the initial of the last. A
/// name of one word stays as it is.
pub fn short_name(name: &str) -> String {
    let mut words = name.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic));
    let (Some(first), last) = (words.next(), words.next_back()) else { return name.to_owned() };
    let Some(last) = last else { return first.to_owned() };
    let mut letters = last.chars().skip_while(|letter| !letter.is_alphabetic());
    let initial: String = letters
        .next()
        .into_iter()
        .chain(letters.take_while(|sign| is_combining_mark(*sign)))
        .collect();
    format!("{first} {initial}.")
}

/// The state of the refund question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// The sender is not asked.
    No,
    /// Asked, and an answer is accepted.
    Asks,
    /// The answer can no longer be changed.
    Fixed,
    /// Asked on the sender's own page.
    Elsewhere,
}

/// The progress of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// On chain, with its confirmations and the required number, if known.
    Seen(Option<(u64, u64)>),
    /// On chain, but below the minimum for forwarding.
    Small,
    /// Screening of the payment is in progress.
    Checking,
    /// Being checked, with a delay.
    CheckingLonger,
    /// Checked, being forwarded to the recipient.
    PassingOn,
    /// Received by the recipient.
    Done,
    /// Not accepted; no refund has begun.
    NotAccepted,
    /// Not accepted; the refund is in progress.
    GoingBack,
    /// Not accepted and refunded.
    GivenBack,
}

impl Incoming {
    /// What may be shown of a deposit; `None` if nothing may. `sent`: what its sender has paid, see
    /// [`Deposit::sent_with`].
    pub fn of(
        deposit: &Deposit,
        request: &PaymentRequest,
        sent: &Received,
        confirmations: Option<(u64, u64)>,
    ) -> Option<Incoming> {
        let progress = match deposit.state {
            DepositState::Orphaned => return None,
            DepositState::Seen => Progress::Seen(confirmations),
            DepositState::Dust => Progress::Small,
            DepositState::Screening => Progress::Checking,
            DepositState::Approved => Progress::PassingOn,
            DepositState::Held | DepositState::InReview | DepositState::Suspended => {
                Progress::CheckingLonger
            }
            DepositState::Completed => Progress::Done,
            // A proposed refund can still be withdrawn.
            DepositState::Refunding
                if deposit.refund.as_ref().is_some_and(|it| it.approved_by.is_some()) =>
            {
                Progress::GoingBack
            }
            DepositState::Rejected
            | DepositState::LegalHold
            | DepositState::Refunding
            | DepositState::Failed => Progress::NotAccepted,
            DepositState::Refunded => Progress::GivenBack,
        };
        let (paid_at, tx) = (deposit.paid_at, deposit.tx);
        let deviation = deposit.deviation(request, sent);
        let asking = deposit.asks_where_back(deviation);
        let (coin, minor, back_tx) = (deposit.coin, deposit.minor, None);
        let is_accepted = is_accepted(&request.asked, coin);
        // What left the chain for good never came, and may be sent again.
        let is_refused = deposit.is_refused()
            || (matches!(progress, Progress::NotAccepted | Progress::GoingBack)
                && deposit.pot != DepositBucket::Nowhere);
        Some(Incoming {
            coin,
            is_accepted,
            minor,
            progress,
            paid_at,
            deviation,
            is_too_much: deposit.is_too_much(request, sent),
            is_refused,
            is_own: true,
            tx,
            asking,
            back_tx,
        })
    }

    /// The same for a deposit of another sender: the visitor is not asked about it.
    #[must_use]
    pub const fn of_another(self) -> Incoming {
        Incoming { asking: Asking::No, is_own: false, ..self }
    }

    /// The amount with its token.
    pub fn amount(&self) -> String {
        amount(self.coin, self.minor)
    }

    /// Whether it is decided: the only remaining change is a refund.
    pub const fn is_over(&self) -> bool {
        matches!(
            self.progress,
            Progress::Done | Progress::NotAccepted | Progress::GoingBack | Progress::GivenBack
        )
    }

    /// Whether it is in a token that was not requested, and still with the bank.
    pub const fn is_other_token_held(&self) -> bool {
        !self.is_accepted
            && matches!(
                self.progress,
                Progress::Seen(_)
                    | Progress::Checking
                    | Progress::CheckingLonger
                    | Progress::NotAccepted
                    | Progress::GoingBack
            )
    }

    /// Whether a refund is possible or in progress. A legal hold looks like any other rejection.
    pub const fn may_go_back(&self) -> bool {
        match self.progress {
            Progress::GoingBack => true,
            Progress::NotAccepted => !matches!(self.asking, Asking::No),
            _ => false,
        }
    }
}

/// What has arrived of an amount that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub coin: StableCoin,
    pub have: i64,
    pub whole: i64,
}

/// The remaining amount in one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub coin: StableCoin,
    /// The amount; `None` if the sender chooses it.
    pub minor: Option<i64>,
}

/// What is unusual about the visitor's payments. The page names another token with its amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// They sent more than was requested.
    Overpaid,
    /// A payment arrived after the expiry.
    Late,
    /// A payment arrived after the request was withdrawn.
    Withdrawn,
}

/// The view of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// Not payable: unknown, expired, cancelled or unavailable, without distinction.
    Closed,
    /// The sender's details are requested.
    Details {
        /// Payments received so far.
        arrived: Vec<Incoming>,
        part: Option<Part>,
    },
    /// The payment address is shown.
    Send {
        /// The amounts to send, one per token; never empty.
        offers: Vec<Offer>,
        /// Payments received so far.
        arrived: Vec<Incoming>,
        part: Option<Part>,
        /// The state of the refund question.
        back: Back,
        /// The visitor's transfer that the bank sends, if it is not a payment yet.
        sponsored: Option<SponsoredState>,
    },
    /// The progress is shown.
    Status {
        /// Payments received so far; never empty.
        arrived: Vec<Incoming>,
        part: Option<Part>,
        /// What is unusual about the visitor's payments.
        notices: Vec<Notice>,
        /// The state of the refund question.
        back: Back,
        /// Whether others can still pay the request.
        is_open: bool,
    },
}

impl View {
    /// The view of a request. `taken`: whether its wallet accepts money; `known`: whether this
    /// visitor has submitted the sender's details.
    pub fn of(
        request: &PaymentRequest,
        arrived: Vec<Incoming>,
        taken: bool,
        known: bool,
        now: Timestamp,
    ) -> View {
        let open = taken && request.state == RequestState::Active && now < request.expires_at;
        let is_asked = !is_refused(&arrived, known) && !is_under_way(request, &arrived, known);
        let offers = if open && is_asked { offers(request) } else { Vec::new() };
        let notices = notices(request, &arrived, known);
        let back = Back::of(&arrived, known);
        let part = part(request);
        match (offers.is_empty(), known) {
            (true, _) if arrived.is_empty() => View::Closed,
            (true, _) => View::Status { arrived, part, notices, back, is_open: open },
            (false, true) => View::Send { offers, arrived, part, back, sponsored: None },
            (false, false) => View::Details { arrived, part },
        }
    }

    /// Leaves out the offers in stablecoins that the chain lacks.
    pub fn offer_only(&mut self, has: impl Fn(StableCoin) -> bool) {
        if let View::Send { offers, .. } = self {
            offers.retain(|offer| has(offer.coin));
        }
    }

    /// The sender's progress from the first step (1) to the last (5).
    pub fn step(&self) -> u8 {
        match self {
            View::Closed | View::Details { .. } => 1,
            View::Send { .. } => 2,
            View::Status { arrived, .. } => {
                let checking =
                    |incoming: &Incoming| !matches!(incoming.progress, Progress::Seen(_));
                match (arrived.iter().all(Incoming::is_over), arrived.iter().all(checking)) {
                    (true, _) => 5,
                    (false, true) => 4,
                    (false, false) => 3,
                }
            }
        }
    }

    /// Whether the payment ended without reaching the recipient.
    pub fn has_failed(&self) -> bool {
        let done = |incoming: &Incoming| incoming.progress == Progress::Done;
        matches!(self, View::Status { arrived, .. } if self.step() == 5 && !arrived.iter().any(done))
    }

    /// A name for the page's structure, independent of payment progress: a different shape needs a
    /// new page.
    pub fn shape(&self) -> String {
        match self {
            View::Closed => "closed".to_owned(),
            View::Details { .. } => "details".to_owned(),
            View::Send { offers, back, sponsored, .. } => {
                let shape = offers.iter().fold("send".to_owned(), |shape, offer| {
                    format!(
                        "{shape}-{}",
                        offer.minor.map_or_else(|| "any".to_owned(), render::coin)
                    )
                });
                let sponsored = match sponsored {
                    None => "",
                    Some(SponsoredState::Sending) => "-sending",
                    Some(SponsoredState::Failed) => "-unsent",
                };
                format!("{shape}{}{sponsored}", back.shape())
            }
            View::Status { arrived, back, .. } => {
                let followed =
                    if self.is_followed() == self.is_waiting() { "" } else { "-followed" };
                let others = if self.is_of_others() { "-others" } else { "" };
                let (step, count) = (self.step(), arrived.len());
                format!("status-{step}-{count}{}{others}{followed}", back.shape())
            }
        }
    }

    /// The visitor's transfer that the bank sends, if it is not a payment yet.
    pub const fn sponsored(&self) -> Option<SponsoredState> {
        match self {
            View::Send { sponsored, .. } => *sponsored,
            View::Closed | View::Details { .. } | View::Status { .. } => None,
        }
    }

    /// The state of the refund question.
    pub const fn back(&self) -> Back {
        match self {
            View::Closed | View::Details { .. } => Back::No,
            View::Send { back, .. } | View::Status { back, .. } => *back,
        }
    }

    /// The tokens of the refund question, comma-separated.
    pub fn coins_asked_about(&self) -> String {
        let asks = |coin: &StableCoin| {
            self.arrived()
                .iter()
                .any(|incoming| incoming.coin == *coin && incoming.asking != Asking::No)
        };
        let codes = StableCoin::ALL.into_iter().filter(asks).map(|coin| coin.currency().code());
        codes.collect::<Vec<_>>().join(", ")
    }

    /// The payments received so far, in every view.
    pub fn arrived(&self) -> &[Incoming] {
        match self {
            View::Closed => &[],
            View::Details { arrived, .. }
            | View::Send { arrived, .. }
            | View::Status { arrived, .. } => arrived,
        }
    }

    /// Whether all payments are certainly of other senders.
    pub fn is_of_others(&self) -> bool {
        !self.arrived().iter().any(|incoming| incoming.is_own)
    }

    /// Whether others can still pay the request, while the visitor is shown the progress.
    pub const fn is_open(&self) -> bool {
        matches!(self, View::Status { is_open: true, .. })
    }

    /// What has arrived of the requested amount, if it is not complete.
    pub const fn part(&self) -> Option<Part> {
        match self {
            View::Details { part, .. } | View::Send { part, .. } | View::Status { part, .. } => {
                *part
            }
            View::Closed => None,
        }
    }

    /// Whether the page can still change: a payment or refund is possible or in progress.
    pub fn is_followed(&self) -> bool {
        let status = matches!(self, View::Status { .. });
        self.is_waiting() || (status && self.arrived().iter().any(Incoming::may_go_back))
    }

    /// Whether a payment or a decision is still expected.
    pub fn is_waiting(&self) -> bool {
        match self {
            View::Closed | View::Details { .. } => false,
            View::Send { .. } => true,
            View::Status { arrived, .. } => !arrived.iter().all(Incoming::is_over),
        }
    }
}

impl Back {
    /// The refund question about received payments. Unknown visitors may not be their senders.
    fn of(arrived: &[Incoming], known: bool) -> Back {
        match (arrived.iter().map(|incoming| incoming.asking).max(), known) {
            (Some(Asking::Yes), true) => Back::Asks,
            (Some(Asking::Yes), false) => Back::Elsewhere,
            (Some(Asking::Over), true) => Back::Fixed,
            _ => Back::No,
        }
    }

    /// The suffix for the page's shape.
    const fn shape(self) -> &'static str {
        match self {
            Back::No => "",
            Back::Asks => "-back",
            Back::Fixed => "-fixed",
            Back::Elsewhere => "-elsewhere",
        }
    }
}

/// What is unusual about the visitor's payments that were not refunded. Of an unknown visitor's
/// payments all have to be unusual: some may be another sender's.
fn notices(request: &PaymentRequest, arrived: &[Incoming], known: bool) -> Vec<Notice> {
    let open = || arrived.iter().filter(|it| it.is_own && it.progress != Progress::GivenBack);
    let is = |what: &Notice| {
        let has = |it: &Incoming| match what {
            Notice::Overpaid => it.is_too_much,
            Notice::Late | Notice::Withdrawn => it.deviation == RequestException::Late,
        };
        open().any(has) && (known || open().all(has))
    };
    let late = if request.cancelled_at.is_some() { Notice::Withdrawn } else { Notice::Late };
    [Notice::Overpaid, late].into_iter().filter(is).collect()
}

/// Whether a payment of the visitor was refused. They are not asked for another one: it would be
/// refused again. In a token that was not requested, the address returns with the money.
fn is_refused(arrived: &[Incoming], known: bool) -> bool {
    known && arrived.iter().any(|it| it.is_own && it.is_accepted && it.is_refused)
}

/// Whether a pending payment replaces the request for another one: the visitor's own does, also in
/// a token that was not requested, and so does one that completes the request. Otherwise anyone with the link could prevent its sender
/// from paying.
fn is_under_way(request: &PaymentRequest, arrived: &[Incoming], known: bool) -> bool {
    let seen = || arrived.iter().filter(|incoming| matches!(incoming.progress, Progress::Seen(_)));
    let held = || arrived.iter().filter(|incoming| incoming.is_other_token_held());
    if known && seen().chain(held()).any(|incoming| incoming.is_own) {
        return true;
    }
    let with = |received: Received, incoming: &Incoming| {
        received.checked_add(incoming.coin, incoming.minor).unwrap_or(received)
    };
    let complete = request.asked.compare(&seen().fold(request.counted(), with));
    request.asked != Asked::Flexible && matches!(complete, Paid::InFull | Paid::Over)
}

/// The amounts that can still be sent.
fn offers(request: &PaymentRequest) -> Vec<Offer> {
    let offer = |coin| match request.asked {
        Asked::Flexible => Some(Offer { coin, minor: None }),
        _ => {
            let left =
                request.asked.outstanding(&request.counted(), coin).filter(|left| *left > 0)?;
            Some(Offer { coin, minor: Some(left) })
        }
    };
    StableCoin::ALL.into_iter().filter_map(offer).collect()
}

/// What has arrived of the requested amount, if it is not complete.
fn part(request: &PaymentRequest) -> Option<Part> {
    let Offer { coin, minor } = *offers(request).first()?;
    let whole = request.asked.outstanding(&Received::default(), coin)?;
    let have = whole - minor?;
    (have > 0).then_some(Part { coin, have, whole })
}

/// Whether a request takes one of the stablecoins that the chain has.
pub fn is_payable_in(asked: &Asked, has: impl Fn(StableCoin) -> bool) -> bool {
    StableCoin::ALL.into_iter().any(|coin| asked.takes(coin) && has(coin))
}

/// Whether payments in this token count towards the request.
fn is_accepted(asked: &Asked, coin: StableCoin) -> bool {
    *asked == Asked::Flexible || asked.outstanding(&Received::default(), coin).is_some()
}

/// An amount with its token, as displayed.
pub fn amount(coin: StableCoin, minor: i64) -> String {
    format!("{} {}", grouped(&render::coin(minor)), coin.currency().code())
}

/// Decimals of an approximate amount.
const ABOUT_DECIMALS: u32 = 2;
const MICROS: u32 = 6;

/// About how much an amount of a token is at a rate; `None` beyond what decimals hold.
pub fn about(minor: i64, rate: Decimal, currency: Currency) -> Option<String> {
    let exact = Decimal::parse(&render::coin(minor)).ok()?.checked_mul(rate)?;
    let micros = exact.round(ABOUT_DECIMALS, Rounding::HalfEven).to_minor(MICROS)?;
    Some(format!("{} {}", grouped(&render::coin(micros)), currency.code()))
}

/// The requested amount as displayed: number, and token or currency; `None` for any amount.
pub fn amount_asked(asked: &Asked) -> Option<(String, &'static str)> {
    match asked {
        Asked::Crypto { coin, minor } => {
            Some((grouped(&render::coin(*minor)), coin.currency().code()))
        }
        Asked::Fiat { currency, micros, .. } => {
            Some((grouped(&render::coin(*micros)), currency.code()))
        }
        Asked::Flexible => None,
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
