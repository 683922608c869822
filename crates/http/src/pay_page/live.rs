//! The part of a page that updates: received payments and their progress. The initial page and the
//! updates use the same HTML, so an update never shows more than the page.

use askama::Template;
use domain::payment_request::RequestException;

use super::view::{Incoming, Progress, View};
use super::words::{Markup, Words};
use crate::write;

/// A payment with its messages.
struct Line {
    amount: String,
    words: Markup,
    /// Its confirmations, and the required number.
    bar: Option<(u64, u64)>,
    class: &'static str,
    /// The refund transaction, shown only to its recipient.
    back_tx: Option<String>,
}

impl Line {
    fn of(incoming: &Incoming, words: Words) -> askama::Result<Line> {
        let (class, bar) = match incoming.progress {
            Progress::Seen(bar) => ("way", bar),
            Progress::Small
            | Progress::Checking
            | Progress::CheckingLonger
            | Progress::PassingOn => ("way", None),
            Progress::Done => ("good", None),
            Progress::NotAccepted | Progress::GoingBack | Progress::GivenBack => ("over", None),
        };
        let words = match incoming.progress {
            Progress::Seen(Some((have, need))) => {
                words.with("seen", &[("have", &have.to_string()), ("need", &need.to_string())])
            }
            Progress::Seen(None) => words.say("seen-soon"),
            Progress::Small => words.say("small"),
            Progress::Checking => words.say("checking"),
            Progress::CheckingLonger => words.say("checking-longer"),
            Progress::PassingOn => words.say("passing-on"),
            Progress::Done => words.say("arrived"),
            Progress::NotAccepted => words.say("not-accepted"),
            Progress::GoingBack => words.say("going-back"),
            Progress::GivenBack => words.say("given-back"),
        };
        let back_tx = incoming.back_tx.map(|tx| tx.to_string());
        Ok(Line { amount: incoming.amount(), words: words?, bar, class, back_tx })
    }
}

#[derive(Template)]
#[template(path = "pay/live.html")]
struct Live {
    t: Words,
    /// The headline and its style.
    headline: Option<(Markup, &'static str)>,
    waiting: bool,
    notice: Option<Markup>,
    lines: Vec<Line>,
}

/// Renders the updating part of a view.
pub fn live(view: &View, words: Words) -> askama::Result<Markup> {
    let lines = view.arrived().iter().map(|incoming| Line::of(incoming, words));
    let lines = lines.collect::<askama::Result<Vec<Line>>>()?;
    let notice = match view {
        View::Status { notice, .. } => notice_key(*notice),
        View::Send { arrived, notice, .. } | View::Details { arrived, notice }
            if !arrived.is_empty() =>
        {
            notice_key(*notice).or(Some("notice-partial"))
        }
        _ => None,
    };
    let notice = notice.map(|key| words.say(key)).transpose()?;
    let headline =
        headline(view).map(|(key, class)| words.say(key).map(|said| (said, class))).transpose()?;
    let waiting = matches!(view, View::Send { .. });
    Live { t: words, headline, waiting, notice, lines }.render().map(Markup)
}

fn headline(view: &View) -> Option<(&'static str, &'static str)> {
    if !matches!(view, View::Status { .. }) {
        return None;
    }
    Some(match (view.step(), view.has_failed()) {
        // A refund is possible or under way.
        (_, true) if view.is_followed() => ("status-not", "over"),
        (_, true) => ("status-over", "over"),
        (5, false) => ("status-done", "good"),
        (4, _) => ("status-received", "way"),
        _ => ("status-way", "way"),
    })
}

const fn notice_key(exception: RequestException) -> Option<&'static str> {
    match exception {
        // The reason for a rejection is disclosed to the bank, never to the sender.
        RequestException::None
        | RequestException::Held
        | RequestException::Rejected
        | RequestException::Refunded => None,
        RequestException::Partial => Some("notice-partial"),
        RequestException::Overpaid => Some("notice-overpaid"),
        RequestException::Late => Some("notice-late"),
        RequestException::WrongAsset => Some("notice-other"),
    }
}

/// The update for a browser that follows the page: `{"shape", "live"}`.
pub fn status(view: &View, words: Words) -> askama::Result<Vec<u8>> {
    let live = live(view, words)?;
    Ok(write::object(|out| {
        out.text("shape", &view.shape());
        out.text("live", &live.0);
    }))
}
