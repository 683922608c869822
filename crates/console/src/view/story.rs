//! A page that tells what happened to a record: its state and the reason, a timeline with the
//! newest step first, and facts and decisions beside it.

use askama::Template;
use domain::time::Timestamp;

use super::{FieldKind, FormView, Section, SectionsPage, is_primary};
use crate::{Answer, Cell, Frame, Tone, Visit, html};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What stands above and beside a page's sections. The page's title is the headline.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// The list that the record is in: URL and name.
    pub list: Option<(String, &'static str)>,
    /// The state in a word or two.
    pub state: Option<(String, Tone)>,
    /// The reason for the state.
    pub says: Vec<String>,
    /// Related links: URL and text.
    pub links: Vec<(String, String)>,
    /// The timeline, newest first.
    pub steps: Vec<Step>,
    /// Sections beside the others; each needs a title.
    pub side: Vec<Section>,
    /// Whether the page stays as it was read.
    pub is_fixed: bool,
    /// Whether the sections stand above the timeline: what is decided by them.
    pub is_case: bool,
}

/// The facts that have a value.
pub fn known(facts: Vec<(&'static str, Cell)>) -> Vec<(&'static str, Cell)> {
    facts.into_iter().filter(|(_, cell)| *cell != Cell::Empty).collect()
}

/// A step of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub moment: Moment,
    /// Technical steps until the next one, oldest first.
    pub log: Vec<Moment>,
}

/// An entry of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    /// Of two moments of the same instant, the one with the higher number is later.
    pub order: u8,
    pub tone: Tone,
    pub title: String,
    pub detail: String,
    /// URL and text of the link.
    pub link: Option<(String, String)>,
    /// Whether it is shown only on request.
    pub is_technical: bool,
}

impl Moment {
    pub fn new(at: Timestamp, order: u8, tone: Tone, title: impl Into<String>) -> Moment {
        let (detail, link, is_technical) = (String::new(), None, false);
        Moment { at, order, tone, title: title.into(), detail, link, is_technical }
    }

    /// A step that is shown only on request.
    pub fn technical(at: Timestamp, order: u8, text: impl Into<String>) -> Moment {
        Moment { is_technical: true, ..Moment::new(at, order, Tone::Plain, text) }
    }

    fn clock(&self) -> String {
        clock(self.at)
    }

    fn day(&self) -> String {
        day_words(self.at)
    }

    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Moment {
        Moment { detail: detail.into(), ..self }
    }

    #[must_use]
    pub fn link(self, href: impl Into<String>, text: impl Into<String>) -> Moment {
        Moment { link: Some((href.into(), text.into())), ..self }
    }
}

/// The steps of a timeline, newest first. A technical moment belongs to the step before it.
pub fn steps(mut moments: Vec<Moment>) -> Vec<Step> {
    moments.sort_by_key(|moment| (moment.at, moment.order));
    let mut steps: Vec<Step> = Vec::new();
    let mut early = Vec::new();
    for moment in moments {
        if moment.is_technical {
            steps.last_mut().map_or(&mut early, |step| &mut step.log).push(moment);
        } else {
            steps.push(Step { moment, log: std::mem::take(&mut early) });
        }
    }
    steps.reverse();
    steps
}

/// The time of day in UTC, such as `16:32:41`.
pub fn clock(at: Timestamp) -> String {
    at.to_string()[11..19].to_owned()
}

/// The day in UTC, such as `25 Nov 2026`.
pub fn day_words(at: Timestamp) -> String {
    date_words(at.date())
}

/// The same for a date.
pub fn date_words(date: jiff::civil::Date) -> String {
    let month = usize::try_from(date.month()).ok().and_then(|month| MONTHS.get(month - 1));
    format!("{} {} {}", date.day(), month.unwrap_or(&""), date.year())
}

#[derive(Template)]
#[template(path = "console/story.html")]
struct StoryPage {
    frame: Frame,
    story: Story,
    /// Sections below the timeline.
    sections: Vec<Section>,
}

impl StoryPage {
    fn is_primary(&self, form: &FormView) -> bool {
        match self.asks() {
            true => is_primary(&self.story.side, form),
            false => is_primary(&self.sections, form),
        }
    }

    /// Whether something is to be decided beside the story.
    fn asks(&self) -> bool {
        self.story.side.first().is_some_and(|section| !section.forms.is_empty())
    }

    /// The day of all steps; `None` if there are several.
    fn only_day(&self) -> Option<String> {
        let mut days = self.story.steps.iter().map(|step| step.moment.day());
        let first = days.next()?;
        days.all(|day| day == first).then_some(first)
    }
}

/// Renders a story with the sections below its timeline. A refused form among them keeps what was
/// typed.
pub fn story_page(visit: &Visit, title: &str, mut story: Story, sections: Vec<Section>) -> Answer {
    let beside = story.side.len();
    let all = [std::mem::take(&mut story.side), sections].concat();
    let SectionsPage { mut frame, sections: mut side } = SectionsPage::retried(visit, title, all);
    let mut sections = side.split_off(beside);
    sections.retain(|section| !section.is_empty());
    frame.is_live &= !story.is_fixed;
    html(&StoryPage { frame, story: Story { side, ..story }, sections })
}

#[derive(Template)]
#[template(path = "console/around.html")]
struct AroundPage {
    frame: Frame,
    sections: Vec<Section>,
    /// Rendered by a template of its own, which escapes.
    body: String,
}

impl AroundPage {
    fn is_primary(&self, form: &FormView) -> bool {
        is_primary(&self.sections, form)
    }
}

/// Renders sections with a body of another form below them.
///
/// # Errors
/// [`crate::Stop::Unavailable`]: the body's template failed.
pub fn page_around(
    visit: &Visit,
    title: &str,
    sections: Vec<Section>,
    body: &impl Template,
) -> Answer {
    let body = body.render()?;
    let SectionsPage { frame, sections } = SectionsPage::retried(visit, title, sections);
    html(&AroundPage { frame, sections, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn technical_steps_are_folded_into_the_step_before_them() {
        let at = |seconds: i64| Timestamp(seconds * 1_000_000);
        let told = steps(vec![
            Moment::new(at(5), 1, Tone::Good, "paid"),
            Moment::technical(at(1), 0, "early"),
            Moment::technical(at(3), 2, "sent"),
            Moment::new(at(2), 0, Tone::Plain, "ordered"),
            Moment::technical(at(3), 1, "booked"),
        ]);
        let titles: Vec<&str> = told.iter().map(|step| step.moment.title.as_str()).collect();
        assert_eq!(titles, ["paid", "ordered"], "newest first");
        let log: Vec<&str> = told[1].log.iter().map(|line| line.title.as_str()).collect();
        assert_eq!(log, ["early", "booked", "sent"], "oldest first");
        assert!(told[0].log.is_empty());
    }

    #[test]
    fn days_and_times_are_short() {
        let at = Timestamp(1_795_244_268_123_999);
        assert_eq!((day_words(at), clock(at)), ("21 Nov 2026".to_owned(), "06:57:48".to_owned()));
    }
}
