//! Reads a histogram of sizes from the text of `/metrics`.

/// Values per bucket: upper bound (whole numbers only) and count, not cumulative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes(Vec<(u64, u64)>);

impl Sizes {
    /// Reads the buckets of a histogram without labels.
    pub(super) fn read(exposition: &str, name: &str) -> Sizes {
        let head = format!("{name}_bucket{{le=\"");
        let bucket = |line: &str| {
            let (bound, count) = line.strip_prefix(&head)?.split_once("\"} ")?;
            let bound = if bound == "+Inf" { u64::MAX } else { bound.parse().ok()? };
            Some((bound, count.trim().parse::<u64>().ok()?))
        };
        let summed: Vec<(u64, u64)> = exposition.lines().filter_map(bucket).collect();
        let below = std::iter::once(0).chain(summed.iter().map(|(_, count)| *count));
        Sizes(
            summed
                .iter()
                .zip(below)
                .map(|((bound, count), below)| (*bound, count.saturating_sub(below)))
                .collect(),
        )
    }

    /// The values added since an earlier reading.
    pub(super) fn since(&self, earlier: &Sizes) -> Sizes {
        let before = |bound: u64| {
            earlier.0.iter().find(|(other, _)| *other == bound).map_or(0, |(_, count)| *count)
        };
        Sizes(
            self.0
                .iter()
                .map(|(bound, count)| (*bound, count.saturating_sub(before(*bound))))
                .collect(),
        )
    }

    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| *count).sum()
    }

    /// The median, interpolated within its bucket; `None` without values, the last bound if beyond
    /// all bounds.
    pub(super) fn median(&self) -> Option<u64> {
        let half = self.count().div_ceil(2);
        let (mut below, mut lower) = (0, 0);
        for (bound, count) in &self.0 {
            if below + count >= half && *count > 0 {
                let upper = if *bound == u64::MAX { lower } else { *bound };
                return Some(lower + ((upper - lower) * (half - below)).div_ceil(*count));
            }
            below += count;
            lower = if *bound == u64::MAX { lower } else { *bound };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# TYPE b histogram\nb_bucket{le=\"1\"} 10\nb_bucket{le=\"2\"} 10\nb_bucket{le=\"4\"} 30\n\
                        b_bucket{le=\"+Inf\"} 31\nb_sum 99\nb_count 31\nbb_bucket{le=\"1\"} 5\n";

    #[test]
    fn buckets_are_read_and_subtracted() {
        let sizes = Sizes::read(TEXT, "b");
        assert_eq!(sizes.0, [(1, 10), (2, 0), (4, 20), (u64::MAX, 1)]);
        assert_eq!((sizes.count(), sizes.median()), (31, Some(3)));
        let earlier = Sizes::read(
            "b_bucket{le=\"1\"} 10\nb_bucket{le=\"2\"} 10\nb_bucket{le=\"4\"} 10\n",
            "b",
        );
        assert_eq!(sizes.since(&earlier).0, [(1, 0), (2, 0), (4, 20), (u64::MAX, 1)]);
        assert_eq!(sizes.since(&sizes).median(), None);
        assert_eq!(Sizes::read("", "b").median(), None);
    }

    #[test]
    fn a_median_beyond_the_last_bound_is_that_bound() {
        assert_eq!(Sizes(vec![(1, 1), (2, 0), (u64::MAX, 5)]).median(), Some(2));
        assert_eq!(Sizes(vec![(1, 9)]).median(), Some(1));
    }
}
