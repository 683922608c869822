//! Decisions from sanctions screening (`decisions.md`, "Screening"). An adapter performs the
//! matching.

use std::collections::BTreeMap;
use std::fmt;

use jiff::civil::Date;

use crate::time::{Span, Timestamp};

/// A person to be screened.
#[derive(Clone, Copy, Debug)]
pub struct Party<'a> {
    /// Full name as written.
    pub name: &'a str,
    /// Date of birth, a tie-breaker.
    pub birthdate: Option<Date>,
    /// ISO 3166-1 alpha-3 country, a tie-breaker.
    pub country: Option<&'a str>,
}

/// An entry of a sanctions list, for comparing it with a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// The primary name first, then aliases.
    pub names: Vec<String>,
    /// First and last possible day of each birth date; any of them may be true.
    pub births: Vec<(Date, Date)>,
    /// Nationalities, citizenships and addresses (ISO 3166-1 alpha-3).
    pub countries: Vec<String>,
}

/// Screening result: the highest score and its evidence, with the list version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screened {
    /// 0 to 100; the best match over all parties and listed names.
    pub score: u8,
    /// The matches of all parties, best first, as written by [`evidence`]; `None` without one. Of
    /// matches below [`REVIEW_FROM`] only the best.
    pub evidence: Option<String>,
    /// Version of the lists that were loaded: of each `"<list> <date of publication> <hash>"`,
    /// divided by `"; "`.
    pub list_version: String,
    /// Whether the lists are too old to clear a payment (`decisions.md`: older than 24 h never
    /// auto-approves).
    pub stale: bool,
}

names! {
    /// Consequence of a screening.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verdict: "Name for display." {
        /// Score below 85 on fresh lists: pay without review.
        Clean = "clean",
        /// Score from 85, or outdated lists: a reviewer decides.
        Review = "review",
        /// Reject with a neutral message.
        Hit = "hit",
    }
}

/// Lowest score that needs review.
pub const REVIEW_FROM: u8 = 85;
/// Lowest score that is rejected.
pub const HIT_FROM: u8 = 95;
/// Score of an exact match.
pub const SCORE_MAX: u8 = 100;
/// Maximum number of matches that a screening names; it states how many more there are.
pub const MATCHES_NAMED: usize = 10;

/// Between the matches of an evidence, and the lists of a version.
const DIVIDER: &str = "; ";

/// Evidence of matches, each with its score: `"<list> <uid> <listed name> (<score>); …"`.
pub fn evidence<'a>(matches: impl IntoIterator<Item = (&'a str, u8)>) -> Option<String> {
    let matches = matches.into_iter().map(|(entry, score)| format!("{entry} ({score})"));
    let matches: Vec<String> = matches.collect();
    (!matches.is_empty()).then(|| matches.join(DIVIDER))
}

/// The matches in an evidence. Those that earlier versions wrote, and of addresses, have no score.
pub fn matches_of(evidence: &str) -> impl Iterator<Item = (&str, Option<u8>)> {
    evidence.split(DIVIDER).map(|text| {
        let scored = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
        let scored = scored.and_then(|(entry, score)| Some((entry, Some(score.parse().ok()?))));
        scored.unwrap_or((text, None))
    })
}

/// Whether lists of this version (see [`Screened::list_version`]) include one of that name.
pub fn has_list(list_version: &str, name: &str) -> bool {
    list_version.split(DIVIDER).any(|list| list.split(' ').next() == Some(name))
}

impl Screened {
    /// Clean below 85 on a fresh list, a hit from 95, a review otherwise.
    pub const fn verdict(&self) -> Verdict {
        if self.score >= HIT_FROM {
            Verdict::Hit
        } else if self.score >= REVIEW_FROM || self.stale {
            Verdict::Review
        } else {
            Verdict::Clean
        }
    }

    /// Whether it matches a list entry, exactly or nearly, however old the lists are.
    pub const fn is_match(&self) -> bool {
        self.score >= REVIEW_FROM
    }

    /// Each match with its score; one without a score of its own has that of the best.
    pub fn matches(&self) -> impl Iterator<Item = (&str, u8)> {
        let matches = self.evidence.iter().flat_map(|evidence| matches_of(evidence));
        matches.map(|(entry, score)| (entry, score.unwrap_or(self.score)))
    }

    /// Whether it has a match that a reviewer who knows another result has not seen: of another
    /// entry, or a closer one.
    pub fn is_beyond(&self, known: &Screened) -> bool {
        let is_known = |(entry, score): (&str, u8)| {
            known.matches().any(|(other, seen)| other == entry && score <= seen)
        };
        let mut matches = self.matches().filter(|(_, score)| *score >= REVIEW_FROM);
        let is_closer = self.evidence.is_none() && self.score > known.score;
        self.is_match() && (is_closer || !matches.all(is_known))
    }

    /// The result together with the matches that reviewers know: their next decision covers both,
    /// whichever of two editions of a list a node has.
    #[must_use]
    pub fn with_known(self, known: &Screened) -> Screened {
        let is_own = |entry: &str| self.matches().any(|(own, _)| own == entry);
        let known: Vec<_> = known.matches().filter(|(entry, _)| !is_own(entry)).collect();
        if known.is_empty() {
            return self;
        }
        let evidence = evidence(self.matches().chain(known));
        Screened { evidence, ..self }
    }

    /// Whether it rests on an earlier publication of a list than a result on lists of `version`. A
    /// date that lies ahead of `now` is wrong and proves nothing.
    pub fn is_older_than(&self, version: &str, now: Timestamp) -> bool {
        let (own, others) = (published(&self.list_version), published(version));
        let tomorrow = (now + Span::days(1)).date();
        own.iter().any(|(list, own)| {
            // Lists of one name that were added or removed cannot be paired.
            let others = others.get(list).filter(|others| others.len() == own.len());
            let mut pairs = others.into_iter().flat_map(|others| own.iter().zip(others));
            pairs.any(|(own, other)| own < other && *other <= tomorrow)
        })
    }

    /// The result for an address that a token contract has blacklisted. A sanctions hit takes
    /// precedence.
    #[must_use]
    pub fn with_blacklist_of(self, token: &str) -> Screened {
        if self.is_match() {
            return self;
        }
        Screened {
            score: SCORE_MAX,
            evidence: Some(format!("blacklist of the {token} contract")),
            ..self
        }
    }
}

impl fmt::Display for Screened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let against = match &self.evidence {
            Some(evidence) => format!(" against {evidence}"),
            None if self.stale => " on outdated lists".to_owned(),
            None => String::new(),
        };
        write!(f, "scored {}{against} (lists {})", self.score, self.list_version)
    }
}

/// The dates of publication by the name of a list, earliest first.
fn published(version: &str) -> BTreeMap<&str, Vec<Date>> {
    let mut lists = BTreeMap::<&str, Vec<Date>>::new();
    for part in version.split(DIVIDER) {
        let mut words = part.rsplitn(3, ' ').skip(1);
        if let (Some(day), Some(list)) = (words.next(), words.next())
            && let Ok(day) = day.parse()
        {
            lists.entry(list).or_default().push(day);
        }
    }
    lists.values_mut().for_each(|days| days.sort_unstable());
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(score: u8, evidence: &str, list_version: &str) -> Screened {
        let evidence = Some(evidence.to_owned()).filter(|evidence| !evidence.is_empty());
        Screened { score, evidence, list_version: list_version.to_owned(), stale: false }
    }

    #[test]
    fn a_decision_counts_for_each_match_that_was_shown() {
        let known = found(92, "UN-SC 1 KHAN, Ali (92); OFAC-SDN 7 KHAN, Aly (88)", "v");
        for (later, is_beyond) in [
            (found(0, "", "v"), false),
            (found(80, "UK 3 KHAN, A (80)", "v"), false),
            (found(92, "UN-SC 1 KHAN, Ali (92)", "v"), false),
            (found(90, "OFAC-SDN 7 KHAN, Aly (86); UN-SC 1 KHAN, Ali (86)", "v"), false),
            (found(92, "UN-SC 1 KHAN, Ali (92); OFAC-SDN 7 KHAN, Aly (90)", "v"), true),
            (found(92, "UN-SC 1 KHAN, Ali (92); UK 3 KHAN, Ally (85)", "v"), true),
            (found(92, "UN-SC 1 KHAN, Ali (92); UK 3 KHAN, Ally (84)", "v"), false),
            (found(93, "", "v"), true),
        ] {
            assert_eq!(later.is_beyond(&known), is_beyond, "{later:?}");
        }
        // As earlier versions stored it.
        let old = found(92, "UN-SC 1 KHAN, Ali; OFAC-SDN 7 KHAN, Aly", "v");
        assert!(!known.is_beyond(&old));
        assert!(found(93, "OFAC-SDN 7 KHAN, Aly (93)", "v").is_beyond(&old));
    }

    #[test]
    fn nodes_with_two_editions_of_a_day_do_not_hold_a_payment_again_and_again() {
        let (one, other) = (found(90, "A 1 X (90)", "one"), found(86, "A 2 Y (86)", "other"));
        assert!(other.is_beyond(&one));
        let both = other.clone().with_known(&one);
        assert_eq!(both, found(86, "A 2 Y (86); A 1 X (90)", "other"));
        assert!(!one.is_beyond(&both) && !other.is_beyond(&both));
        assert_eq!(one.clone().with_known(&one), one);
    }

    #[test]
    fn an_earlier_publication_of_any_list_is_older() {
        let now = Timestamp(1_795_244_268_123_999);
        for (own, other, is_older) in [
            ("A 2026-11-20 1f", "A 2026-11-20 1f", false),
            ("A 2026-11-20 1f", "A 2026-11-20 2e", false),
            ("A 2026-11-20 1f", "A 2026-11-21 2e", true),
            ("A 2026-11-21 2e", "A 2026-11-20 1f", false),
            ("A 2026-11-20 1f; B c 2026-11-21 3d", "A 2026-11-20 1f; B c 2026-11-22 3d", true),
            // In another order, or configured otherwise.
            ("B 2026-11-20 1f; B 2026-11-21 2e", "B 2026-11-21 2e; B 2026-11-20 1f", false),
            ("B 2026-11-20 1f; B 2026-11-21 2e", "B 2026-11-22 2e", false),
            ("A 2026-11-20 1f", "B 2026-11-22 2e", false),
            ("A undated 1f", "A 2026-11-22 2e", false),
            ("A 2026-11-20 1f", "A 2062-11-21 2e", false),
            ("simulated", "", false),
        ] {
            assert_eq!(found(0, "", own).is_older_than(other, now), is_older, "{own} {other}");
        }
    }

    #[test]
    fn scores_lead_to_the_decided_verdicts() {
        for (score, stale, verdict) in [
            (0, false, Verdict::Clean),
            (84, false, Verdict::Clean),
            (84, true, Verdict::Review),
            (85, false, Verdict::Review),
            (94, false, Verdict::Review),
            (95, false, Verdict::Hit),
            (100, true, Verdict::Hit),
        ] {
            let found = Screened { score, evidence: None, list_version: String::new(), stale };
            assert_eq!(found.verdict(), verdict, "{score} stale={stale}");
        }
    }

    #[test]
    fn a_token_blacklist_is_a_hit_and_sanctions_evidence_takes_precedence() {
        let found = |score, evidence: Option<&str>, stale| Screened {
            score,
            evidence: evidence.map(str::to_owned),
            list_version: "1".to_owned(),
            stale,
        };
        let flagged = found(0, None, true).with_blacklist_of("USDC");
        assert_eq!(flagged, found(100, Some("blacklist of the USDC contract"), true));
        assert_eq!((flagged.verdict(), flagged.is_match()), (Verdict::Hit, true));
        let listed = found(90, Some("OFAC 1"), false);
        assert_eq!(listed.clone().with_blacklist_of("USDC"), listed);
        assert!(!found(84, None, true).is_match() && found(85, None, false).is_match());
    }
}
