//! A source of rates: where its document is, and how it is read.

use std::path::{Path, PathBuf};

use domain::calendar::TradingWeek;
use domain::ports::RateTerms;
use domain::time::{Span, Timestamp};

use super::published::Published;
use super::sheet::{self, Form, JsonShape, Sheet};
use super::table::DirectRate;
use crate::fetch::{self, FetchError, Transport};
use crate::outbound::address::shown_text;

/// Maximum size of a document, in bytes.
pub const MAX_SHEET_BYTES: usize = 1024 * 1024;
/// Maximum clock skew: a rate may be dated this far in the future, and is of the time of its reading
/// then.
pub const MAX_AHEAD: Span = Span::mins(5);

/// Where a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateLocation {
    /// Path of a local file.
    File(PathBuf),
    /// An address: https, or plain http to this machine.
    Http(String),
}

/// A source of rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSource {
    /// Its name in alerts and commands; empty = its address.
    pub name: String,
    pub location: RateLocation,
    /// The form that its document must have; `None` = any.
    pub form: Option<Form>,
    pub shape: JsonShape,
    pub published: Published,
    /// Maximum age of its rates; `None` = that of the corridor.
    pub max_age: Option<Span>,
    /// When it publishes; `None` = always.
    pub week: Option<TradingWeek>,
    /// Interval at which it is read.
    pub refresh: Span,
}

/// Why a source provided nothing.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    /// A file could not be read.
    #[error("{file}: {detail}")]
    File { file: String, detail: String },
    /// A URL could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The content has no usable rates.
    #[error("{origin}: {detail}")]
    Sheet {
        /// The path or URL it was read from.
        origin: String,
        detail: String,
    },
    /// A rate is dated in the future.
    #[error("{origin}: {pair} is dated {as_of}, which is in the future")]
    Ahead {
        /// The path or URL it was read from.
        origin: String,
        /// The currency pair as `BASE/QUOTE`.
        pair: String,
        as_of: Timestamp,
    },
}

impl RateError {
    /// Whether the document was there and is not what it should be.
    pub fn is_of_content(&self) -> bool {
        matches!(self, RateError::Sheet { .. } | RateError::Ahead { .. })
    }
}

impl RateSource {
    /// A source with nothing but its location: any form, the corridor's age limit.
    pub fn at(location: RateLocation) -> RateSource {
        RateSource {
            name: String::new(),
            location,
            form: None,
            shape: JsonShape::default(),
            published: Published::default(),
            max_age: None,
            week: None,
            refresh: Span(0),
        }
    }

    /// The path, or the URL without query and user, which may contain secrets.
    pub fn origin(&self) -> String {
        match &self.location {
            RateLocation::File(path) => path.display().to_string(),
            RateLocation::Http(url) => shown_text(url),
        }
    }

    /// The name for display.
    pub fn title(&self) -> String {
        if self.name.is_empty() { self.origin() } else { self.name.clone() }
    }

    /// Reads the document from its file or address.
    pub async fn read(&self, client: &dyn Transport, now: Timestamp) -> Result<Sheet, RateError> {
        let origin = self.origin();
        let (bytes, client) = match &self.location {
            RateLocation::File(path) => (read_file(path, &origin).await?, None),
            RateLocation::Http(url) => {
                let fetched = fetch::get(client, url, MAX_SHEET_BYTES).await?;
                (fetched.bytes, Some(client.of(url).unwrap_or(client)))
            }
        };
        let sheet = sheet::read(&bytes, self.form, &self.shape, &self.published, now);
        let sheet = sheet.map_err(|error| {
            // The document may repeat what was sent.
            let detail = error.to_string();
            let detail = client.map_or(detail.clone(), |client| client.masked(detail));
            RateError::Sheet { origin: origin.clone(), detail }
        })?;
        match sheet.rates.iter().find(|rate| rate.mid.as_of > now + MAX_AHEAD) {
            Some(rate) => {
                let pair = sheet::pair(rate.base, rate.quote);
                Err(RateError::Ahead { origin, pair, as_of: rate.mid.as_of })
            }
            None => Ok(sheet.not_after(now)),
        }
    }

    /// Whether a rate is too old for quotes even if the time in which the source rests does not
    /// count. `max_age` holds for a source without a limit of its own.
    pub fn is_outdated(&self, rate: &DirectRate, now: Timestamp, max_age: Span) -> bool {
        let rest = self.week.as_ref().and_then(|week| week.rest(now));
        let terms = RateTerms { now, max_age, weekend_margin_bps: Some(0) };
        self.usable(rate, rest, &terms).is_none()
    }

    /// Whether a rate may be used by these terms, and if so, whether only because the source rests
    /// (`rest`: from when until when).
    pub(super) fn usable(
        &self,
        rate: &DirectRate,
        rest: Option<(Timestamp, Timestamp)>,
        terms: &RateTerms,
    ) -> Option<bool> {
        let RateTerms { now, max_age, weekend_margin_bps } = *terms;
        let (as_of, max_age) = (rate.mid.as_of, self.max_age.unwrap_or(max_age));
        let rests = rest.is_some_and(|(from, to)| (from..to).contains(&now));
        if !rests && now - as_of <= max_age {
            return Some(false);
        }
        weekend_margin_bps?;
        let until = self.week.as_ref()?.after(as_of, max_age)?;
        (now <= until).then_some(true)
    }
}

async fn read_file(path: &Path, origin: &str) -> Result<Vec<u8>, RateError> {
    let failed = |detail: String| RateError::File { file: origin.to_owned(), detail };
    let about = tokio::fs::metadata(path).await.map_err(|error| failed(error.to_string()))?;
    if about.len() > MAX_SHEET_BYTES as u64 {
        return Err(failed(format!("more than {MAX_SHEET_BYTES} bytes")));
    }
    tokio::fs::read(path).await.map_err(|error| failed(error.to_string()))
}
