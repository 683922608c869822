//! Reports and statements for the client, in one numbered feed per rail. A report stays until the
//! client confirms it by requesting the ones after it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::time::Timestamp;

use super::model::{Report, Standing, TxStatus};
use super::statement::StatementPage;
use super::{BankCore, Book};

/// All feeds, by rail.
#[derive(Debug, Default)]
pub struct Feeds(HashMap<Box<str>, Feed>);

#[derive(Debug, Default)]
struct Feed {
    last: u64,
    waiting: VecDeque<Waiting>,
}

/// An item for the client.
#[derive(Debug)]
enum Waiting {
    Report(Arc<Report>),
    Page(Arc<StatementPage>),
}

impl Waiting {
    fn sequence(&self) -> u64 {
        match self {
            Waiting::Report(report) => report.sequence,
            Waiting::Page(page) => page.sequence,
        }
    }
}

impl Feeds {
    /// Numbers a new report and appends it to its rail's feed.
    pub fn push(&mut self, standing: Standing) -> Arc<Report> {
        let feed = self.0.entry(standing.rail.clone()).or_default();
        feed.last += 1;
        let report = Arc::new(Report { sequence: feed.last, standing });
        feed.waiting.push_back(Waiting::Report(Arc::clone(&report)));
        report
    }

    /// Numbers a page of a statement and appends it to its rail's feed.
    pub fn push_page(&mut self, mut page: StatementPage) -> Arc<StatementPage> {
        let feed = self.0.entry(page.rail.clone()).or_default();
        feed.last += 1;
        page.sequence = feed.last;
        let page = Arc::new(page);
        feed.waiting.push_back(Waiting::Page(Arc::clone(&page)));
        page
    }

    /// Restores a statement page from the book.
    pub fn restore_page(&mut self, page: StatementPage) {
        let feed = self.0.entry(page.rail.clone()).or_default();
        feed.last = feed.last.max(page.sequence);
        feed.waiting.push_back(Waiting::Page(Arc::new(page)));
    }

    /// Restores a report from the book.
    pub fn restore(&mut self, report: Report) {
        let feed = self.0.entry(report.standing.rail.clone()).or_default();
        feed.last = feed.last.max(report.sequence);
        feed.waiting.push_back(Waiting::Report(Arc::new(report)));
    }

    /// Drops the reports of `rail` up to `sequence`; returns whether there were any.
    pub fn acknowledge(&mut self, rail: &str, sequence: u64) -> bool {
        let Some(feed) = self.0.get_mut(rail) else { return false };
        let before = feed.waiting.len();
        while feed.waiting.front().is_some_and(|waiting| waiting.sequence() <= sequence) {
            feed.waiting.pop_front();
        }
        feed.waiting.len() < before
    }

    fn waiting(&self, rail: &str) -> impl Iterator<Item = &Waiting> {
        self.0.get(rail).into_iter().flat_map(|feed| &feed.waiting)
    }
}

/// The message type of a report.
pub(crate) fn message_kind(standing: &Standing) -> &'static str {
    if standing.recall.is_some() {
        return "camt.029";
    }
    match standing.status {
        TxStatus::Settled => "camt.054",
        TxStatus::Returned => "pacs.004",
        _ => "pain.002",
    }
}

/// Some reports of one rail, oldest first, or one page of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Page {
    /// The reports; empty if there are none.
    pub reports: Vec<Arc<Report>>,
    /// A page of a statement instead of reports, if that is the oldest item.
    pub statement: Option<Arc<StatementPage>>,
    /// Cursor for the items after them; `None` if there are none.
    pub cursor: Option<String>,
}

impl Page {
    /// The message that carries it: `pain.002`, `camt.029`, `camt.053`, `camt.054` or `pacs.004`; `None` on an empty page.
    pub fn kind(&self) -> Option<&'static str> {
        if self.statement.is_some() {
            return Some("camt.053");
        }
        self.reports.first().map(|report| message_kind(&report.standing))
    }
}

impl<B: Book> BankCore<B> {
    /// The oldest reports of `rail` after `cursor`, at most `limit`, all of the first one's kind.
    /// Reports up to the cursor are dropped. A cursor of another book, or none, starts with the
    /// oldest.
    pub fn collect(
        &mut self,
        rail: &str,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page, B::Fault> {
        let after = cursor.and_then(|text| self.read_cursor(text)).unwrap_or(0);
        if self.feeds.acknowledge(rail, after) {
            self.book.acknowledge(rail, after)?;
        }
        let mut reports: Vec<Arc<Report>> = Vec::new();
        let mut statement = None;
        for waiting in
            self.feeds.waiting(rail).filter(|waiting| waiting.sequence() > after).take(limit)
        {
            match waiting {
                Waiting::Page(page) if reports.is_empty() => statement = Some(Arc::clone(page)),
                Waiting::Page(_) => {}
                Waiting::Report(report) => {
                    let kind = message_kind(&report.standing);
                    if reports.first().is_none_or(|first| message_kind(&first.standing) == kind) {
                        reports.push(Arc::clone(report));
                        continue;
                    }
                }
            }
            break;
        }
        let newest = statement
            .as_ref()
            .map(|page| page.sequence)
            .or_else(|| reports.last().map(|it| it.sequence));
        let cursor = newest.map(|sequence| cursor_text(self.opened, sequence));
        Ok(Page { reports, statement, cursor })
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
