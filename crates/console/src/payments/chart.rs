//! Bar charts as SVG with presentation attributes only, because the page's policy forbids inline
//! styles. Each has a table with the same numbers beside it.

/// Height of a bar with its label, in drawing units.
const ROW: u64 = 34;
/// Width of the drawing.
const WIDTH: u64 = 320;

/// A chart of horizontal bars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// A text alternative, read by screen readers.
    pub title: String,
    /// Unique on the page.
    pub id: &'static str,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub label: String,
    /// The value as text.
    pub value: String,
    /// Upper edge of its label's line.
    pub text_y: u64,
    /// Upper edge of the bar.
    pub bar_y: u64,
    pub width: u64,
    /// Length of the reserved part, drawn darker; 0 without one.
    pub part: u64,
}

/// A value: label, text, length and reserved part, in any one unit.
pub type Value = (String, String, u64, u64);

impl Chart {
    /// A chart of these values. The longest bar fills the width.
    pub fn new(id: &'static str, title: impl Into<String>, values: Vec<Value>) -> Chart {
        let longest = values.iter().map(|(_, _, length, _)| *length).max().unwrap_or(0);
        let scaled = |length: u64| {
            let width = (u128::from(length) * u128::from(WIDTH))
                .checked_div(u128::from(longest))
                .unwrap_or(0);
            u64::try_from(width).unwrap_or(WIDTH)
        };
        let bar = |(at, (label, value, length, part)): (u64, Value)| Bar {
            label,
            value,
            text_y: at * ROW + 12,
            bar_y: at * ROW + 17,
            // Every non-zero value is visible.
            width: scaled(length).max(u64::from(length > 0)),
            part: scaled(part.min(length)),
        };
        Chart { title: title.into(), id, bars: (0..).zip(values).map(bar).collect() }
    }

    /// Height of the drawing.
    pub fn height(&self) -> u64 {
        u64::try_from(self.bars.len()).unwrap_or(0) * ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_the_width_and_small_ones_are_visible() {
        let value = |length, part| (String::new(), String::new(), length, part);
        let chart = Chart::new(
            "c",
            "",
            vec![value(u64::MAX, 0), value(1, 0), value(0, 0), value(u64::MAX / 2, u64::MAX)],
        );
        assert_eq!(chart.bars.iter().map(|bar| bar.width).collect::<Vec<_>>(), [320, 1, 0, 159]);
        assert_eq!((chart.bars[3].part, chart.height()), (159, 136));
        assert_eq!(Chart::new("c", "", vec![value(0, 0)]).bars[0].width, 0);
    }
}
