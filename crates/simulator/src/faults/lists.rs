//! Faults of the servers that publish sanction lists. They are drawn from a stream of their own, and only for schedules
//! whose nodes load lists at all.

use domain::time::Span;

use super::Fault;
use crate::actors::LIST_SOURCES;
use crate::random::Random;
use crate::services::loads_lists;

/// Within this time of the start servers begin to fail.
const BEGIN_MAX_MILLIS: i64 = 600_000;
/// The longest failure, in seconds.
const SPAN_MAX_SECS: i64 = 2_400;

/// How a list server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFault {
    /// It redirects to a signed address that has the list. Not a failure: readers have to follow.
    Redirects,
    /// It redirects in circles.
    Circles,
    /// It redirects to an address without TLS.
    RedirectsToPlainHttp,
    /// It answers with this status.
    Status(u16),
    /// The connection breaks during the response.
    Breaks,
    /// It has the first part of the list, in per cent.
    Half(usize),
    /// It has the list of the edition before.
    Old,
    /// It has a list without entries.
    Empty,
    /// It has a page that is no list.
    OtherPage,
}

/// Draws them: none in a fifth of the seeds that load lists.
pub(super) fn draw(seed: u64) -> Vec<Fault> {
    if !loads_lists(seed) {
        return Vec::new();
    }
    let mut random = Random::stream(seed, "list faults");
    let count = random.pick(&[0, 1, 1, 2, 3]);
    (0..count).map(|_| draw_one(&mut random)).collect()
}

fn draw_one(random: &mut Random) -> Fault {
    use ListFault::{
        Breaks, Circles, Empty, Half, Old, OtherPage, Redirects, RedirectsToPlainHttp, Status,
    };
    // Many are there from the start: a start is when the last good copy matters most.
    let after = if random.chance(400) {
        Span(0)
    } else {
        Span::millis(random.between(0, BEGIN_MAX_MILLIS))
    };
    let how = match random.below(12) {
        0 => Redirects,
        1 => Circles,
        2 => RedirectsToPlainHttp,
        3 => Status(random.pick(&[403, 404, 500, 503])),
        4 | 5 => Breaks,
        6 => Half(random.below(100)),
        7..=9 => Old,
        10 => Empty,
        _ => OtherPage,
    };
    let source = random.below(LIST_SOURCES);
    Fault::Lists { source, after, span: Span::secs(random.between(60, SPAN_MAX_SECS)), how }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_drawn_and_only_where_lists_are_loaded() {
        let drawn: Vec<Fault> = (0..40_000).flat_map(draw).collect();
        let has = |wanted: ListFault| {
            drawn.iter().any(|it| matches!(it, Fault::Lists { how, .. } if *how == wanted))
        };
        use ListFault::{
            Breaks, Circles, Empty, Half, Old, OtherPage, Redirects, RedirectsToPlainHttp, Status,
        };
        for kind in
            [Redirects, Circles, RedirectsToPlainHttp, Status(403), Breaks, Old, Empty, OtherPage]
        {
            assert!(has(kind), "{kind:?}");
        }
        assert!(drawn.iter().any(|it| matches!(it, Fault::Lists { how: Half(_), .. })));
        assert!((0..8_000).filter(|seed| !loads_lists(*seed)).all(|seed| draw(seed).is_empty()));
    }
}
