//! Tie-breakers: the effect of a birth date and a country on the similarity of two names. They
//! never turn dissimilar names into a match, and never clear near-identical ones.

use domain::screening::{HIT_FROM, Party, REVIEW_FROM};
use jiff::civil::Date;

use super::entry::{BirthSpan, ListEntry};
use super::score::Likeness;

/// Subtracted if both birth dates are known and cannot be the same (day and month may be swapped).
pub const OTHER_BIRTHDATE_POINTS: u32 = 15;
/// Added if the list names one day and it is the party's.
pub const SAME_BIRTHDATE_POINTS: u32 = 5;
/// Subtracted if both countries are known and differ; added if one is the same.
pub const COUNTRY_POINTS: u32 = 2;
/// Minimum similarity of the names at which points are added.
const ADD_FROM: u32 = 80;

/// The final score of one listed name: first added points, then the cap, then subtracted points.
pub(super) fn settle(likeness: Likeness, weak: bool, entry: &ListEntry, party: &Party<'_>) -> u32 {
    let birth = birth(party.birthdate, &entry.births);
    let country = country(party.country, &entry.countries);
    let mut score = likeness.score;
    if score >= ADD_FROM {
        score += if birth == Tie::Same { SAME_BIRTHDATE_POINTS } else { 0 };
        score += if country == Tie::Same { COUNTRY_POINTS } else { 0 };
    }
    let cap = if birth == Tie::Same { likeness.cap_born_same } else { likeness.cap };
    let cap = if weak { cap.min(u32::from(HIT_FROM) - 1) } else { cap };
    score = score.min(cap).min(100);
    score = score.saturating_sub(if birth == Tie::Other { OTHER_BIRTHDATE_POINTS } else { 0 });
    score = score.saturating_sub(if country == Tie::Other { COUNTRY_POINTS } else { 0 });
    // Of the same day, what very common words alone would clear.
    let is_born_same = birth == Tie::Same && likeness.cap < cap && likeness.score >= ADD_FROM;
    if likeness.near || is_born_same { score.max(u32::from(REVIEW_FROM).min(cap)) } else { score }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    Same,
    Unknown,
    Other,
}

fn birth(party: Option<Date>, listed: &[BirthSpan]) -> Tie {
    let Some(day) = party.filter(|_| !listed.is_empty()) else { return Tie::Unknown };
    if listed.iter().any(|span| span.is_exact() && span.from == day) {
        return Tie::Same;
    }
    let exchanged = Date::new(day.year(), day.day(), day.month()).ok();
    let possible =
        |span: &BirthSpan| span.contains(day) || exchanged.is_some_and(|day| span.contains(day));
    if listed.iter().any(possible) { Tie::Unknown } else { Tie::Other }
}

fn country(party: Option<&str>, listed: &[String]) -> Tie {
    match party {
        Some(code) if !listed.is_empty() => {
            if listed.iter().any(|known| known.eq_ignore_ascii_case(code)) {
                Tie::Same
            } else {
                Tie::Other
            }
        }
        _ => Tie::Unknown,
    }
}
