//! Bar charts, drawn here as SVG: presentation attributes only, because the page's policy takes no inline style. Each
//! stands beside a table with the same numbers.

/// Height of a bar with its label, in units of the drawing.
const ROW: u64 = 34;
/// Width of the drawing.
const WIDTH: u64 = 320;

/// A chart of horizontal bars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// What it shows, for whoever cannot see it.
    pub title: String,
    /// Unique on the page.
    pub id: &'static str,
    /// Its bars.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// What it is about.
    pub label: String,
    /// Its value in words.
    pub value: String,
    /// Upper edge of its label's line.
    pub text_y: u64,
    /// Upper edge of the bar.
    pub bar_y: u64,
    /// How long it is.
    pub width: u64,
    /// How long the part is that is not free, drawn darker; 0 where there is none.
    pub part: u64,
}

/// What is to be drawn: label, value in words, length, and how much of it is not free, in any one unit.
pub type Value = (String, String, u64, u64);

impl Chart {
    /// A chart of these values. The longest fills the width.
    pub fn new(id: &'static str, title: impl Into<String>, values: Vec<Value>) -> Chart {
        let longest = values.iter().map(|(_, _, length, _)| *length).max().unwrap_or(0);
        let scaled = |length: u64| {
            let width = (u128::from(length) * u128::from(WIDTH)).checked_div(u128::from(longest)).unwrap_or(0);
            u64::try_from(width).unwrap_or(WIDTH)
        };
        let bar = |(at, (label, value, length, part)): (u64, Value)| Bar {
            label,
            value,
            text_y: at * ROW + 12,
            bar_y: at * ROW + 17,
            // What is not nothing can be seen.
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
    fn the_longest_bar_fills_the_width_and_small_ones_can_be_seen() {
        let value = |length, part| (String::new(), String::new(), length, part);
        let chart =
            Chart::new("c", "", vec![value(u64::MAX, 0), value(1, 0), value(0, 0), value(u64::MAX / 2, u64::MAX)]);
        assert_eq!(chart.bars.iter().map(|bar| bar.width).collect::<Vec<_>>(), [320, 1, 0, 159]);
        assert_eq!((chart.bars[3].part, chart.height()), (159, 136));
        assert_eq!(Chart::new("c", "", vec![value(0, 0)]).bars[0].width, 0);
    }
}
