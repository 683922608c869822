//! The part of a page that updates: received payments and their progress. The initial page and the
//! updates use the same HTML, so an update never shows more than the page.

use askama::Template;
use domain::payment_request::RequestException;
use domain::sponsor::SponsoredState;

use super::view::{self, Incoming, Notice, Part, Progress, View};
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
    /// `more`: whether more is to be sent.
    fn of(incoming: &Incoming, more: bool, words: Words) -> askama::Result<Line> {
        let (class, bar) = match incoming.progress {
            Progress::Seen(bar) => ("now", bar),
            Progress::Small
            | Progress::Checking
            | Progress::CheckingLonger
            | Progress::PassingOn => ("now", None),
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
            Progress::Done if more => words.say("arrived-part"),
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
    notices: Vec<Markup>,
    /// What has arrived, and the requested amount.
    part: Option<(i64, i64)>,
    lines: Vec<Line>,
}

/// Renders the updating part of a view.
pub fn live(view: &View, words: Words) -> askama::Result<Markup> {
    let is_status = matches!(view, View::Status { .. });
    let more = !is_status || view.part().is_some();
    let lines = view.arrived().iter().map(|incoming| Line::of(incoming, more, words));
    let lines = lines.collect::<askama::Result<Vec<Line>>>()?;
    let headline = headline(view)
        .map(|(key, class)| say_of(view.part(), key, words).map(|said| (said, class)))
        .transpose()?;
    let part = view.part().filter(|_| !is_status).map(|part| (part.have, part.whole));
    Live { t: words, headline, notices: notices(view, words)?, part, lines }.render().map(Markup)
}

fn headline(view: &View) -> Option<(&'static str, &'static str)> {
    if !matches!(view, View::Status { .. }) {
        return None;
    }
    let arrived = view.arrived();
    let is_back = |incoming: &Incoming| incoming.progress == Progress::GivenBack;
    let is_of_others = view.is_of_others();
    Some(match (view.step(), view.has_failed()) {
        // A refund is possible or under way.
        (_, true) if view.is_followed() => ("status-not", "over"),
        (_, true) if arrived.iter().all(is_back) => ("status-back", "good"),
        (_, true) => ("status-over", "over"),
        (5, false) if view.part().is_none() && is_of_others => ("status-paid", "good"),
        (5, false) if view.part().is_none() && view.is_open() => return None,
        (5, false) if view.part().is_none() => ("status-done", "good"),
        _ if arrived.iter().any(|it| it.is_own && it.is_other_token_held()) => {
            ("status-other", "stop")
        }
        (5, _) if view.is_open() => ("status-so-far", "over"),
        (5, _) => ("status-part", "over"),
        // The lines state what others sent.
        _ if is_of_others => return None,
        (4, _) => ("status-received", "now"),
        _ => ("status-way", "now"),
    })
}

/// A message that may state what has arrived of the requested amount.
fn say_of(part: Option<Part>, key: &str, words: Words) -> askama::Result<Markup> {
    let Some(part) = part else { return words.say(key) };
    let [have, whole] = [part.have, part.whole].map(|minor| view::amount(part.coin, minor));
    words.with(key, &[("have", &have), ("amount", &whole)])
}

/// What is unusual about the payments. Only a visitor who may have made them is addressed.
fn notices(view: &View, words: Words) -> askama::Result<Vec<Markup>> {
    let arrived = view.arrived();
    let is_other = |it: &&Incoming| it.is_own && !it.is_over() && it.is_other_token_held();
    if let Some(other) = arrived.iter().find(is_other) {
        let key = match view {
            View::Details { .. } => "notice-other-link",
            _ => "notice-other",
        };
        return Ok(vec![words.with(key, &[("amount", &other.amount())])?]);
    }
    match view.sponsored() {
        Some(SponsoredState::Sending) => return Ok(vec![words.say("notice-sending")?]),
        Some(SponsoredState::Failed) => return Ok(vec![words.say("notice-unsent")?]),
        None => {}
    }
    let View::Status { notices, .. } = view else {
        let part = view.part().map(|part| say_of(Some(part), "notice-partial", words));
        return part.into_iter().collect();
    };
    // The reason for a rejection is disclosed to the bank, never to the sender.
    let say = |notice: &Notice| match notice {
        Notice::Overpaid => words.say("notice-overpaid"),
        Notice::Late => {
            let keys = ["notice-late", "notice-late-done", "notice-late-over"];
            words.say(late_notice(arrived, keys))
        }
        Notice::Withdrawn => {
            let keys = ["notice-withdrawn", "notice-withdrawn-done", "notice-withdrawn-over"];
            words.say(late_notice(arrived, keys))
        }
    };
    notices.iter().map(say).collect()
}

/// The notice about the visitor's late payments, out of those for undecided, accepted and other
/// ones; the line of a refused one states what happens to it.
fn late_notice(arrived: &[Incoming], [open, done, over]: [&'static str; 3]) -> &'static str {
    let late = || arrived.iter().filter(|it| it.is_own && it.deviation == RequestException::Late);
    match (late().all(|it| it.progress == Progress::Done), late().all(Incoming::is_over)) {
        (true, _) => done,
        (false, true) => over,
        (false, false) => open,
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
