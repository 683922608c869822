//! Numbers the messages of each date, as files in the rail's directory: no number is given twice, and a
//! repetition has its number again. Blocking.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use domain::hex::hex;
use jiff::civil::Date;
use sha2::{Digest as _, Sha256};

/// Dates whose numbers are kept: no message is repeated after that time.
const KEPT_DATES: usize = 60;
/// Precedes a message's id in the name of the file with its number.
const OF_MESSAGE: &str = "of-";
/// Precedes a message's id in the name of the file with what was sent.
const SENT: &str = "sent-";

#[derive(Clone)]
pub(in super::super) struct Sequence {
    dir: PathBuf,
}

impl Sequence {
    /// The numbers of a rail with this directory. Nothing is created yet.
    pub(in super::super) fn new(rail: &Path) -> Sequence {
        Sequence { dir: rail.join("sequence") }
    }

    /// The message's number among those of its date, from 1. Reserves it.
    pub(super) fn number(&self, date: Date, message: &str) -> io::Result<u32> {
        let dir = self.of_date(date);
        if !dir.is_dir() {
            fs::create_dir_all(&dir)?;
            self.prune()?;
        }
        if let Some(number) = known(&dir, message)? {
            return Ok(number);
        }
        let mut number = highest(&dir)? + 1;
        while let Err(error) = File::create_new(dir.join(number.to_string())) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(error);
            }
            number += 1;
        }
        let mut file = File::create(dir.join(format!("{OF_MESSAGE}{message}")))?;
        file.write_all(number.to_string().as_bytes())?;
        file.sync_all()?;
        File::open(&dir)?.sync_all()?;
        Ok(number)
    }

    /// The number that the message would get now. Reserves nothing.
    pub(in super::super) fn next(&self, date: Date, message: &str) -> io::Result<u32> {
        let dir = self.of_date(date);
        if !dir.is_dir() {
            return Ok(1);
        }
        Ok(known(&dir, message)?.unwrap_or(highest(&dir)? + 1))
    }

    /// Where what was sent as this message is remembered.
    pub(super) fn numbered(&self, date: Date, message: &str) -> Numbered {
        Numbered { file: self.of_date(date).join(format!("{SENT}{message}")) }
    }

    fn of_date(&self, date: Date) -> PathBuf {
        self.dir.join(date.strftime("%Y%m%d").to_string())
    }

    fn prune(&self) -> io::Result<()> {
        let mut dates = names(&self.dir)?;
        dates.sort_unstable();
        let old = dates.len().saturating_sub(KEPT_DATES);
        dates.iter().take(old).try_for_each(|date| fs::remove_dir_all(self.dir.join(date)))
    }
}

/// A message with a number.
pub(super) struct Numbered {
    file: PathBuf,
}

impl Numbered {
    /// The message with this file name and content.
    pub(super) fn sent(&self, name: &str, plain: &[u8]) -> Sent<'_> {
        let hash = hex(&Sha256::digest(plain));
        Sent { file: &self.file, text: format!("{name}\n{hash}\n") }
    }
}

/// The name and the hash of a message's file before encryption, which gives other content each time.
pub(super) struct Sent<'a> {
    file: &'a Path,
    text: String,
}

impl Sent<'_> {
    /// Whether this was written before.
    pub(super) fn is_known(&self) -> io::Result<bool> {
        match fs::read_to_string(self.file) {
            Ok(text) => Ok(text == self.text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn keep(&self) -> io::Result<()> {
        let mut file = File::create(self.file)?;
        file.write_all(self.text.as_bytes())?;
        file.sync_all()
    }
}

fn known(dir: &Path, message: &str) -> io::Result<Option<u32>> {
    match fs::read_to_string(dir.join(format!("{OF_MESSAGE}{message}"))) {
        // An interrupted write leaves it empty: its number is lost, and the message gets another.
        Ok(text) => Ok(text.parse().ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn highest(dir: &Path) -> io::Result<u32> {
    let numbers = names(dir)?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    Ok(numbers.max().unwrap_or(0))
}

fn names(dir: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_message_keeps_its_number_and_no_other_gets_it() {
        let dir = TempDir::new().expect("a directory");
        let (day, next_day) = (date(2026, 11, 27), date(2026, 11, 28));
        let sequence = Sequence::new(dir.path());
        assert_eq!(sequence.next(day, "a").expect("read"), 1);
        assert!(names(dir.path()).expect("listed").is_empty(), "asking reserves nothing");
        let number = |day, message: &str| sequence.number(day, message).expect("reserved");
        assert_eq!([number(day, "a"), number(day, "b"), number(day, "a")], [1, 2, 1]);
        assert_eq!([number(next_day, "c"), number(next_day, "d")], [1, 2]);
        assert_eq!(sequence.next(day, "b").expect("read"), 2);
        assert_eq!(sequence.next(day, "e").expect("read"), 3);
        // Reserved, and interrupted before the message was noted.
        File::create_new(dir.path().join("sequence/20261127/3")).expect("created");
        File::create_new(dir.path().join("sequence/20261127/of-e")).expect("created");
        assert_eq!(number(day, "e"), 4);
    }

    #[test]
    fn concurrent_writers_share_no_number() {
        let dir = TempDir::new().expect("a directory");
        let sequence = Sequence::new(dir.path());
        let mut numbers: Vec<u32> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8)
                .map(|writer| {
                    let sequence = &sequence;
                    scope.spawn(move || {
                        (0..20)
                            .map(|at| {
                                let message = format!("{writer}-{at}");
                                sequence.number(date(2026, 11, 27), &message).expect("reserved")
                            })
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            writers.into_iter().flat_map(|writer| writer.join().expect("no panic")).collect()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=160).collect::<Vec<_>>());
    }

    #[test]
    fn old_dates_are_pruned() {
        let dir = TempDir::new().expect("a directory");
        let sequence = Sequence::new(dir.path());
        let days: Vec<Date> =
            date(2026, 1, 1).series(jiff::Span::new().days(1)).take(KEPT_DATES + 3).collect();
        for day in &days {
            assert_eq!(sequence.number(*day, "m").expect("reserved"), 1);
        }
        let kept = names(&dir.path().join("sequence")).expect("listed");
        assert_eq!(kept.len(), KEPT_DATES);
        assert!(!kept.contains(&"20260103".to_owned()) && kept.contains(&"20260104".to_owned()));
    }
}
