//! What happened, as a hash over every line and, if wanted, as the lines themselves.

use std::fmt::{self, Write as _};

use domain::time::Timestamp;

use crate::random::{FNV_OFFSET, FNV_PRIME};

/// The trace of one schedule.
#[derive(Debug)]
pub struct Trace {
    hash: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    /// A trace; `keep` its lines too.
    pub fn new(keep: bool) -> Trace {
        Trace { hash: FNV_OFFSET, lines: keep.then(Vec::new) }
    }

    pub fn add(&mut self, at: Timestamp, what: fmt::Arguments<'_>) {
        // Writing into a hash cannot fail.
        let _infallible = writeln!(Hasher(&mut self.hash), "{} {what}", at.0);
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{at} {what}"));
        }
    }

    /// The hash of all lines.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The lines, if they were kept.
    pub fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

struct Hasher<'a>(&'a mut u64);

impl fmt::Write for Hasher<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        *self.0 = text
            .bytes()
            .fold(*self.0, |state, byte| (state ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        Ok(())
    }
}
