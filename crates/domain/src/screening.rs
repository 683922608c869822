//! Decisions from sanctions screening (`decisions.md`, "Screening"). An adapter performs the
//! matching.

use jiff::civil::Date;

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

/// Screening result: the highest score and its evidence, with the list version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screened {
    /// 0 to 100; the best match over all parties and listed names.
    pub score: u8,
    /// The matched list entry, `"<list> <uid> <listed name>"`; of several parties that match, each
    /// one's, divided by `"; "`.
    pub evidence: Option<String>,
    /// Version (source date and hash) of the lists that were loaded.
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

    /// Whether it is a match beyond one that a reviewer knows: of another entry, or a closer one.
    pub fn is_beyond(&self, known: &Screened) -> bool {
        self.is_match() && (self.evidence != known.evidence || self.score > known.score)
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

#[cfg(test)]
mod tests {
    use super::*;

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
