//! The bank's technical acknowledgements of our files: files of their own, in `in` or beside ours, or
//! any report that names the message. What is awaited is a file on this machine, written before ours.
//! Blocking.
//!
//! A negative acknowledgement proves little: the file may have been refused because the bank has it
//! already. It rejects payments only if the configuration says so, it is certainly the bank's and
//! complete, nothing in it may mean a repetition, and the file was written once. The absence of an
//! acknowledgement proves nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use domain::rail::{About, BankReport, RailStatus, ReportContent, Reports, Totals};
use domain::rail_ids::{self, ReportIds};

use super::MAX_CONDITIONS;
use super::pattern::Patterns;
use super::refusal::Refusal;
use crate::rails::iso::quoted;

/// Stands for the name of our file, and for the name without its last extension.
const NAME: &str = "{name}";
const STEM: &str = "{stem}";
/// Time after which a file is no longer awaited.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 24 * 60 * 60);
/// Inquiries are many, and repeated.
const INQUIRY_FORGOTTEN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// What a bank writes about the files that it receives.
#[derive(Clone, Debug)]
pub struct AcknowledgementSettings {
    /// Names of positive acknowledgements, with `{name}` or `{stem}`.
    pub positive: Vec<String>,
    pub negative: Vec<String>,
    /// Time after which a missing acknowledgement is reported.
    pub wait: Duration,
    /// Whether a negative acknowledgement means that the bank has booked nothing and will not.
    pub negative_rejects: bool,
    /// The rail's own codes for a duplicate.
    pub duplicate_reasons: Vec<String>,
}

/// Whether a text names an acknowledgement by our file's name.
pub fn is_acknowledgement_name(text: &str) -> bool {
    (text.contains(NAME) || text.contains(STEM)) && text != NAME && !text.contains('/')
}

pub(super) struct Acknowledgements {
    settings: AcknowledgementSettings,
    dir: PathBuf,
}

/// What one of our files carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    Payments,
    Recall,
    /// Questions that are asked again if they are not answered: a missing acknowledgement is not
    /// reported.
    Inquiry,
}

impl Carries {
    fn name(self) -> &'static str {
        match self {
            Carries::Payments => "payments",
            Carries::Recall => "other",
            Carries::Inquiry => "inquiry",
        }
    }

    fn of(name: &str) -> Carries {
        match name {
            "payments" => Carries::Payments,
            "inquiry" => Carries::Inquiry,
            _ => Carries::Recall,
        }
    }
}

/// One of our files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    name: String,
    /// Id of its message.
    message: String,
    carries: Carries,
    /// How often it was written.
    times: u32,
    since: SystemTime,
}

impl Awaited {
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// What the bank's files state about one of our files, by their positions in the listing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) of: Awaited,
    pub(super) positive: Option<usize>,
    pub(super) negative: Option<usize>,
}

impl Acknowledgements {
    pub(super) fn new(settings: AcknowledgementSettings, state: &Path) -> Acknowledgements {
        Acknowledgements { settings, dir: state.join("awaiting") }
    }

    /// Notes that a file is about to be written.
    pub(super) fn expect(&self, name: &str, message: &str, carries: Carries) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let times = self.awaited(name)?.map_or(0, |before| before.times);
        self.note(&Awaited {
            name: name.to_owned(),
            message: message.to_owned(),
            carries,
            times: times.saturating_add(1),
            since: SystemTime::UNIX_EPOCH,
        })
    }

    /// Takes back [`Acknowledgements::expect`] of a file that was certainly not written.
    pub(super) fn not_written(&self, name: &str) -> io::Result<()> {
        match self.awaited(name)? {
            Some(mut before) if before.times > 1 => {
                before.times -= 1;
                self.note(&before)
            }
            _ => self.settle(name),
        }
    }

    pub(super) fn settle(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.dir.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// The files whose messages reports name: each is acknowledged.
    pub(super) fn answered(&self, reports: &[BankReport]) -> io::Result<Vec<String>> {
        let ids = reports.iter().flat_map(BankReport::ids).flat_map(ReportIds::messages);
        let named: BTreeSet<&str> = ids.collect();
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let all = self.all()?.into_iter();
        let answered = all.filter(|one| named.iter().any(|id| rail_ids::is_same(id, &one.message)));
        Ok(answered.map(|one| one.name).collect())
    }

    /// What the names of a listing state about our files. A file without an acknowledgement for too
    /// long is a condition.
    pub(super) fn stated(&self, names: &[String], page: &mut Reports) -> io::Result<Vec<Stated>> {
        let mut found = Vec::new();
        for of in self.all()? {
            let named = |templates: &[String]| {
                let own: Vec<String> = templates.iter().map(|it| filled(it, &of.name)).collect();
                let patterns = Patterns::new(&own);
                names.iter().position(|name| patterns.matches_name(name))
            };
            let positive = named(&self.settings.positive);
            let negative = named(&self.settings.negative);
            if positive.is_some() || negative.is_some() {
                found.push(Stated { of, positive, negative });
            } else {
                self.look_at_overdue(&of, page)?;
            }
        }
        Ok(found)
    }

    fn look_at_overdue(&self, of: &Awaited, page: &mut Reports) -> io::Result<()> {
        let age = SystemTime::now().duration_since(of.since).unwrap_or_default();
        let is_inquiry = of.carries == Carries::Inquiry;
        if age >= if is_inquiry { INQUIRY_FORGOTTEN_AFTER } else { FORGOTTEN_AFTER } {
            return self.settle(&of.name);
        }
        let has_room = page.conditions.len() < MAX_CONDITIONS;
        if !is_inquiry && has_room && age >= self.settings.wait {
            page.conditions.insert(format!(
                "file {}: no acknowledgement within {} s, which proves nothing: ask the bank whether it has message {}",
                quoted(&of.name),
                self.settings.wait.as_secs(),
                quoted(&of.message)
            ));
        }
        Ok(())
    }

    /// Whether a file is an acknowledgement of any file.
    pub(super) fn fit(&self, name: &str) -> bool {
        let all = self.settings.positive.iter().chain(&self.settings.negative);
        let patterns: Vec<String> =
            all.map(|it| it.replace(NAME, "*").replace(STEM, "*")).collect();
        Patterns::new(&patterns).matches_name(name)
    }

    pub(super) fn duplicate_reasons(&self) -> &[String] {
        &self.settings.duplicate_reasons
    }

    /// Reports a negative acknowledgement, unless it `may_grow` and rejects payments: what follows may
    /// put it in doubt. `refusal` is an error if it is not certainly the bank's. Returns whether it is
    /// reported.
    pub(super) fn refuse(
        &self,
        of: &Awaited,
        acknowledgement: &str,
        refusal: Result<Refusal, String>,
        may_grow: bool,
        page: &mut Reports,
    ) -> bool {
        let (reason, of_text, doubt) = match refusal {
            Ok(Refusal { text, doubt }) => (text, doubt, None),
            Err(doubt) => (String::new(), None, Some(doubt)),
        };
        let doubt = match doubt {
            Some(doubt) => Some(doubt),
            None if !self.settings.negative_rejects => {
                Some("acknowledgements.negative_rejects is not set".to_owned())
            }
            None if of.carries != Carries::Payments => Some("it carries no payments".to_owned()),
            None if of.times > 1 => Some(format!("it was written {} times", of.times)),
            None => of_text,
        };
        if may_grow && doubt.is_none() {
            return false;
        }
        let what = format!("negative acknowledgement {}: {reason}", quoted(acknowledgement));
        match doubt {
            Some(doubt) => page.unreadable.push(format!(
                "file {}: {what}. No payment was rejected ({doubt}): ask the bank about message {}",
                quoted(&of.name),
                quoted(&of.message)
            )),
            None => page.reports.push(BankReport {
                about: About::Rest {
                    of: ReportIds { message: Some(of.message.clone()), ..ReportIds::default() },
                    listed: Vec::new(),
                    stated: Totals::default(),
                },
                said: ReportContent {
                    status: RailStatus::Rejected,
                    reasons: Vec::new(),
                    info: Some(what),
                    bank_reference: None,
                    return_id: None,
                    account: None,
                    amount: None,
                    other_amounts: Vec::new(),
                    charges: None,
                    source: format!("acknowledgement {}", quoted(acknowledgement)),
                },
            }),
        }
        true
    }

    fn note(&self, of: &Awaited) -> io::Result<()> {
        let kind = of.carries.name();
        let mut file = File::create(self.dir.join(&of.name))?;
        writeln!(file, "{} {kind} {}", of.message, of.times)?;
        file.sync_all()
    }

    fn awaited(&self, name: &str) -> io::Result<Option<Awaited>> {
        let path = self.dir.join(name);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let since = fs::metadata(&path)?.modified()?;
        let mut words = text.split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        // An interrupted write leaves it empty: then nothing may be rejected.
        let (message, kind, times) = (word(), word(), word().parse());
        Ok(Some(Awaited {
            name: name.to_owned(),
            message: message.to_owned(),
            carries: Carries::of(kind),
            times: times.unwrap_or(u32::MAX),
            since,
        }))
    }

    fn all(&self) -> io::Result<Vec<Awaited>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all = Vec::new();
        for entry in entries {
            all.extend(self.awaited(&entry?.file_name().to_string_lossy())?);
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
}

fn filled(template: &str, name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    template.replace(NAME, name).replace(STEM, stem)
}
