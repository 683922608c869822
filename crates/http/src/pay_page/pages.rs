//! The page in HTML. Templates escape whatever they are given; amounts, names and addresses stand in `<bdi>`, so that a
//! page in any script reads them in their own direction.

use askama::Template;
use domain::payment_request::{PaymentRequest, RequestException};
use domain::time::Timestamp;

use super::form::Form;
use super::qr::{self, Code};
use super::view::{Incoming, Offer, Progress, View, amount_asked};
use crate::wallet_v1::render;

/// A page that waits for money is read again after so many seconds.
const REFRESH_SENDING_S: u32 = 10;
/// A page that follows money is read again after so many seconds.
const REFRESH_STATUS_S: u32 = 5;

/// What every page says of its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Who asks: the bank.
    pub payee: String,
    /// Whether no real money is moved.
    pub sandbox: bool,
    /// What is asked for; `None` = any amount.
    pub amount: Option<String>,
    /// What for.
    pub purpose: Option<String>,
    /// Until when.
    pub expires_at: Timestamp,
}

impl Frame {
    /// The frame of a request.
    pub fn of(request: &PaymentRequest, payee: &str, sandbox: bool) -> Frame {
        Frame {
            payee: payee.to_owned(),
            sandbox,
            amount: amount_asked(&request.asked),
            purpose: request.purpose.clone(),
            expires_at: request.expires_at,
        }
    }

    /// The instant to the minute, as people write it.
    fn expires(&self) -> String {
        let text = self.expires_at.to_string();
        format!("{} {} UTC", &text[..10], &text[11..16])
    }
}

/// How the address is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What is being sent.
    pub offer: Offer,
    /// The other coins that would do.
    pub others: Vec<Offer>,
    /// Name of the network, for people.
    pub network: String,
    /// EIP-55.
    pub address: String,
    /// The address as a code.
    pub code: Code,
    /// Path of this page.
    pub path: String,
}

impl Target {
    /// The target for one of the offers; `None` = there is none, or its address fits no code.
    pub fn of(offers: &[Offer], wanted: Option<&str>, network: &str, address: String, path: String) -> Option<Target> {
        let is_wanted = |offer: &&Offer| Some(offer.coin.currency().code()) == wanted;
        let offer = *offers.iter().find(is_wanted).or(offers.first())?;
        let others = offers.iter().copied().filter(|other| *other != offer).collect();
        let code = qr::code(&address)?;
        Some(Target { offer, others, network: network.to_owned(), address, code, path })
    }
}

#[derive(Template)]
#[template(path = "pay/closed.html")]
struct ClosedPage {
    refresh_s: Option<u32>,
}

#[derive(Template)]
#[template(path = "pay/details.html")]
struct DetailsPage<'a> {
    refresh_s: Option<u32>,
    frame: &'a Frame,
    step: u8,
    arrived: Vec<Line>,
    form: &'a Form,
}

#[derive(Template)]
#[template(path = "pay/send.html")]
struct SendPage<'a> {
    refresh_s: Option<u32>,
    frame: &'a Frame,
    step: u8,
    arrived: Vec<Line>,
    target: &'a Target,
    coin: &'static str,
    amount: Option<String>,
    others: Vec<&'static str>,
}

#[derive(Template)]
#[template(path = "pay/status.html")]
struct StatusPage<'a> {
    refresh_s: Option<u32>,
    frame: &'a Frame,
    step: u8,
    arrived: Vec<Line>,
    notice: Option<&'static str>,
}

/// A payment in words.
struct Line {
    amount: String,
    words: String,
}

impl Line {
    fn of(incoming: &Incoming) -> Line {
        let words = match incoming.progress {
            Progress::Seen(Some((have, need))) => format!("On its way: confirmation {have} of {need}."),
            Progress::Seen(None) => "On its way: waiting for confirmations.".to_owned(),
            Progress::Checking => "Received. We are checking it now.".to_owned(),
            Progress::CheckingLonger => {
                "Received. The check takes longer than usual; you need not do anything.".to_owned()
            }
            Progress::Done => "Done: it has reached the recipient.".to_owned(),
            Progress::NotAccepted => {
                "This payment could not be completed. Please contact the person who sent you this link.".to_owned()
            }
            Progress::GivenBack => "This payment could not be completed and has been sent back.".to_owned(),
        };
        Line { amount: coins(incoming.minor, incoming.coin.currency().code()), words }
    }

    fn all(arrived: &[Incoming]) -> Vec<Line> {
        arrived.iter().map(Line::of).collect()
    }
}

fn coins(minor: i64, code: &str) -> String {
    format!("{} {code}", render::coin(minor))
}

const fn notice(exception: RequestException) -> Option<&'static str> {
    match exception {
        RequestException::None => None,
        RequestException::Partial => Some("Less than the whole amount has arrived."),
        RequestException::Overpaid => {
            Some("More than the amount has arrived. Nothing is lost: please contact the person who sent you this link.")
        }
        RequestException::Late => Some("The payment arrived after this link had ended. It is being looked at."),
        RequestException::WrongAsset => {
            Some("Another token than the one asked for has arrived. It is being looked at.")
        }
    }
}

/// The page for a link that nothing can be paid with, whatever the reason.
///
/// # Errors
/// The template cannot be written.
pub fn closed() -> askama::Result<String> {
    ClosedPage { refresh_s: None }.render()
}

/// The page of a view. `form`: what was typed into it; `target`: how the address is shown, where the view shows it.
///
/// # Errors
/// The template cannot be written.
pub fn page(view: &View, frame: &Frame, form: &Form, target: Option<&Target>) -> askama::Result<String> {
    let step = view.step();
    match (view, target) {
        (View::Details { arrived }, _) => {
            DetailsPage { refresh_s: None, frame, step, arrived: Line::all(arrived), form }.render()
        }
        (View::Send { arrived, .. }, Some(target)) => {
            let code = |offer: &Offer| offer.coin.currency().code();
            SendPage {
                refresh_s: Some(REFRESH_SENDING_S),
                frame,
                step,
                arrived: Line::all(arrived),
                target,
                coin: code(&target.offer),
                amount: target.offer.minor.map(render::coin),
                others: target.others.iter().map(code).collect(),
            }
            .render()
        }
        (View::Status { arrived, notice: exception }, _) => {
            let refresh_s = view.is_waiting().then_some(REFRESH_STATUS_S);
            StatusPage { refresh_s, frame, step, arrived: Line::all(arrived), notice: notice(*exception) }.render()
        }
        (View::Closed | View::Send { .. }, _) => closed(),
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
