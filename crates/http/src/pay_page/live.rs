//! The part of a page that changes by itself: what has come and how far it is. The page is made with it, and a browser
//! that follows the page is sent it again, the very same HTML: nothing that the page does not show.

use askama::Template;
use domain::payment_request::RequestException;

use super::view::{Incoming, Progress, View};
use super::words::{Markup, Words};
use crate::write;

/// A payment in words.
struct Line {
    amount: String,
    words: Markup,
    /// Confirmations that it has and needs.
    bar: Option<(u64, u64)>,
    class: &'static str,
    /// The transaction that gave it back, for whom it went to.
    back_tx: Option<String>,
}

impl Line {
    fn of(incoming: &Incoming, words: Words) -> askama::Result<Line> {
        let (class, bar) = match incoming.progress {
            Progress::Seen(bar) => ("way", bar),
            Progress::Small | Progress::Checking | Progress::CheckingLonger | Progress::PassingOn => ("way", None),
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
    /// What is to be said above all, and in which colour.
    headline: Option<(Markup, &'static str)>,
    waiting: bool,
    notice: Option<Markup>,
    lines: Vec<Line>,
}

/// The part of the page of a view that changes.
///
/// # Errors
/// The template cannot be written.
pub fn live(view: &View, words: Words) -> askama::Result<Markup> {
    let lines = view.arrived().iter().map(|incoming| Line::of(incoming, words));
    let lines = lines.collect::<askama::Result<Vec<Line>>>()?;
    let notice = match view {
        View::Status { notice, .. } => notice_key(*notice),
        View::Send { arrived, notice, .. } | View::Details { arrived, notice } if !arrived.is_empty() => {
            notice_key(*notice).or(Some("notice-partial"))
        }
        _ => None,
    };
    let notice = notice.map(|key| words.say(key)).transpose()?;
    let headline = headline(view).map(|(key, class)| words.say(key).map(|said| (said, class))).transpose()?;
    let waiting = matches!(view, View::Send { .. });
    Live { t: words, headline, waiting, notice, lines }.render().map(Markup)
}

fn headline(view: &View) -> Option<(&'static str, &'static str)> {
    if !matches!(view, View::Status { .. }) {
        return None;
    }
    Some(match (view.step(), view.has_failed()) {
        // It may still go back, or is on its way.
        (_, true) if view.is_followed() => ("status-not", "over"),
        (_, true) => ("status-over", "over"),
        (5, false) => ("status-done", "good"),
        (4, _) => ("status-received", "way"),
        _ => ("status-way", "way"),
    })
}

const fn notice_key(exception: RequestException) -> Option<&'static str> {
    match exception {
        // What became of the money is the bank's to know: its sender is not told.
        RequestException::None | RequestException::Held | RequestException::Rejected | RequestException::Refunded => {
            None
        }
        RequestException::Partial => Some("notice-partial"),
        RequestException::Overpaid => Some("notice-overpaid"),
        RequestException::Late => Some("notice-late"),
        RequestException::WrongAsset => Some("notice-other"),
    }
}

/// What a browser that follows the page is told: `{"shape", "live"}`.
///
/// # Errors
/// The template cannot be written.
pub fn status(view: &View, words: Words) -> askama::Result<Vec<u8>> {
    let live = live(view, words)?;
    Ok(write::object(|out| {
        out.text("shape", &view.shape());
        out.text("live", &live.0);
    }))
}
