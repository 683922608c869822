//! The reports that wait for the client, one numbered feed per rail. A report stays until the client, by asking for
//! what comes behind it, says that it has it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::time::Timestamp;

use super::model::{Report, Standing, TxStatus};
use super::{BankCore, Book};

/// All feeds, by rail.
#[derive(Debug, Default)]
pub struct Feeds(HashMap<Box<str>, Feed>);

#[derive(Debug, Default)]
struct Feed {
    last: u64,
    waiting: VecDeque<Arc<Report>>,
}

impl Feeds {
    /// Numbers a new report and puts it behind the others of its rail.
    pub fn push(&mut self, standing: Standing) -> Arc<Report> {
        let feed = self.0.entry(standing.rail.clone()).or_default();
        feed.last += 1;
        let report = Arc::new(Report { sequence: feed.last, standing });
        feed.waiting.push_back(Arc::clone(&report));
        report
    }

    /// Puts back a report that the book held.
    pub fn restore(&mut self, report: Report) {
        let feed = self.0.entry(report.standing.rail.clone()).or_default();
        feed.last = feed.last.max(report.sequence);
        feed.waiting.push_back(Arc::new(report));
    }

    /// Drops the reports of `rail` up to `sequence`; answers whether there were any.
    pub fn acknowledge(&mut self, rail: &str, sequence: u64) -> bool {
        let Some(feed) = self.0.get_mut(rail) else { return false };
        let before = feed.waiting.len();
        while feed.waiting.front().is_some_and(|report| report.sequence <= sequence) {
            feed.waiting.pop_front();
        }
        feed.waiting.len() < before
    }

    fn waiting(&self, rail: &str) -> impl Iterator<Item = &Arc<Report>> {
        self.0.get(rail).into_iter().flat_map(|feed| &feed.waiting)
    }
}

/// The message that carries a report.
pub(crate) fn message_kind(status: TxStatus) -> &'static str {
    match status {
        TxStatus::Settled => "camt.054",
        TxStatus::Returned => "pacs.004",
        _ => "pain.002",
    }
}

/// Some reports of one rail, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Page {
    /// The reports; empty if none wait.
    pub reports: Vec<Arc<Report>>,
    /// What to ask with for those behind them; `None` if there are none.
    pub cursor: Option<String>,
}

impl Page {
    /// The message that carries the reports: `pain.002`, `camt.054` or `pacs.004`; `None` on an empty page.
    pub fn kind(&self) -> Option<&'static str> {
        self.reports.first().map(|report| message_kind(report.standing.status))
    }
}

impl<B: Book> BankCore<B> {
    /// The oldest reports of `rail` behind `cursor`, at most `limit`, all of the kind of the first. Reports up to
    /// the cursor are forgotten. A cursor of another book, or none, begins with the oldest that is kept.
    pub fn collect(&mut self, rail: &str, cursor: Option<&str>, limit: usize) -> Result<Page, B::Fault> {
        let after = cursor.and_then(|text| self.read_cursor(text)).unwrap_or(0);
        if self.feeds.acknowledge(rail, after) {
            self.book.acknowledge(rail, after)?;
        }
        let mut reports: Vec<Arc<Report>> = Vec::new();
        for report in self.feeds.waiting(rail).filter(|report| report.sequence > after).take(limit) {
            let kind = message_kind(report.standing.status);
            if reports.first().is_some_and(|first| message_kind(first.standing.status) != kind) {
                break;
            }
            reports.push(Arc::clone(report));
        }
        let cursor = reports.last().map(|report| cursor_text(self.opened, report.sequence));
        Ok(Page { reports, cursor })
    }

    fn read_cursor(&self, text: &str) -> Option<u64> {
        let (opened, sequence) = text.split_once('-')?;
        let opened = i64::from_str_radix(opened, 16).ok()?;
        if opened != self.opened.0 {
            return None;
        }
        u64::from_str_radix(sequence, 16).ok()
    }
}

fn cursor_text(opened: Timestamp, sequence: u64) -> String {
    format!("{:016x}-{sequence:016x}", opened.0)
}
