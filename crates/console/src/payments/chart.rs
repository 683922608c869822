//! Charts by day or hour as SVG with attributes only, because the page's policy forbids inline styles. Shapes
//! stretch with the page; every word is text beside them. Each chart has a table with the same
//! numbers.

use crate::Table;
use crate::parts::grouped;

/// Drawing units: of the height, of a period, and of a period's bar.
const HEIGHT: u64 = 1_000;
const SLOT: u64 = 100;
const BAR: u64 = 72;
/// Spaces between the lines of the axis.
const SPACES: u64 = 4;
/// Lower ends of a rate's axis, in permille.
const FLOORS: [u64; 7] = [950, 900, 800, 700, 600, 500, 0];
const PERMILLE: u64 = 1_000;

/// A chart over consecutive days or hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// Unique on the page.
    pub id: &'static str,
    pub title: &'static str,
    /// Its periods: `by day`.
    pub per: &'static str,
    /// What its values count.
    pub unit: &'static str,
    /// Class of the colour, and name.
    pub legend: Vec<(&'static str, String)>,
    /// Labels of the axis, from the top.
    pub y: Vec<String>,
    /// Labels of some periods, evenly spaced.
    pub x: Vec<String>,
    /// Class of the colour, and data of the SVG path.
    pub shapes: Vec<(String, String)>,
    /// What each period shows on hover.
    pub slots: Vec<String>,
    pub table: Table,
}

/// Values of one colour, one for each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    pub name: String,
    pub values: Vec<u64>,
}

/// Colours of series. The last one is that of all others.
pub const COLOURS: [&str; 5] = ["k1", "k2", "k3", "k4", "k5"];

impl Chart {
    /// Width of the drawing.
    pub fn width(&self) -> u64 {
        count(self.slots.len()) * SLOT
    }

    /// Positions of the axis's lines, without the lowest.
    pub fn lines(&self) -> Vec<u64> {
        let spaces = count(self.y.len().saturating_sub(1).max(1));
        (0..spaces).map(|line| line * HEIGHT / spaces).collect()
    }

    /// Left edges of the periods, with what they show on hover.
    pub fn hits(&self) -> impl Iterator<Item = (u64, &String)> {
        (0_u64..).zip(&self.slots).map(|(slot, text)| (slot * SLOT, text))
    }
}

/// Some labels for an axis, evenly spaced.
pub fn some(labels: &[String]) -> Vec<String> {
    let last = labels.len().saturating_sub(1);
    (0..=4).filter_map(|part| labels.get(last * part / 4).cloned()).collect()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The greatest value of an axis, so that a fourth of it is 1, 2 or 5 times a power of ten of
/// `unit`s.
pub fn axis_end(most: u64, unit: u64) -> u64 {
    let mut power = unit;
    loop {
        for times in [1, 2, 5] {
            let end = power.saturating_mul(times * SPACES);
            if end >= most || end == u64::MAX {
                return end;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Labels of an axis that ends at `end`, from the top, in `unit`s.
pub fn axis_labels(end: u64, unit: u64) -> Vec<String> {
    (0..=SPACES).rev().map(|line| short(end / SPACES * line / unit)).collect()
}

/// A whole number for an axis: `950`, `12k`, `1.5M`.
fn short(number: u64) -> String {
    let of = |unit: u64, letter: &str| match (number / unit, number % unit * 10 / unit) {
        (whole, 0) => format!("{whole}{letter}"),
        (whole, tenth) => format!("{whole}.{tenth}{letter}"),
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => of(1_000, "k"),
        _ => of(1_000_000, "M"),
    }
}

/// `value` of `whole` in drawing units.
fn scaled(value: u64, whole: u64) -> u64 {
    let units = u128::from(value) * u128::from(HEIGHT) / u128::from(whole.max(1));
    u64::try_from(units).unwrap_or(HEIGHT).min(HEIGHT)
}

/// Bars of each period, one series upon the other; a path for each series.
pub fn stacked(series: &[Series], end: u64) -> Vec<(String, String)> {
    let days = series.first().map_or(0, |series| series.values.len());
    let mut below = vec![0_u64; days];
    let mut shapes = Vec::new();
    for (series, colour) in series.iter().zip(COLOURS) {
        let mut path = String::new();
        for (day, (value, below)) in (0_u64..).zip(series.values.iter().zip(&mut below)) {
            let (from, to) = (scaled(*below, end), scaled(*below + value, end));
            // Every value is visible.
            let height = (to - from).max(u64::from(*value > 0));
            if height > 0 {
                let (left, bottom) = (day * SLOT + (SLOT - BAR) / 2, HEIGHT - from);
                path += &format!("M{left} {bottom}v-{height}h{BAR}v{height}z");
            }
            *below += value;
        }
        shapes.push((format!("bar {colour}"), path));
    }
    shapes
}

/// A line through the rates of the days, in permille; a day without a rate interrupts it. With the
/// lower end of its axis.
pub fn line(rates: &[Option<u64>], colour: &str) -> (Vec<(String, String)>, u64) {
    let least = rates.iter().flatten().min().copied().unwrap_or(PERMILLE);
    let floor = FLOORS.into_iter().find(|floor| *floor <= least).unwrap_or(0);
    let top = |rate: u64| HEIGHT - scaled(rate.min(PERMILLE) - floor, PERMILLE - floor);
    let (path, dots) = path(rates, top);
    (vec![(format!("ln {colour}"), path), (format!("dot {colour}"), dots)], floor)
}

/// A line for each series, in units of an axis from zero to `end`; a day without a value interrupts
/// it.
pub fn lines(series: &[Vec<Option<u64>>], end: u64) -> Vec<(String, String)> {
    let mut shapes = Vec::new();
    for (values, colour) in series.iter().zip(COLOURS) {
        let (path, dots) = path(values, |value| HEIGHT - scaled(value, end));
        shapes.push((format!("ln {colour}"), path));
        shapes.push((format!("dot {colour}"), dots));
    }
    shapes
}

/// A small line through values, from the lowest to the greatest.
pub fn spark(values: &[Option<u64>]) -> String {
    let known = || values.iter().flatten().copied();
    let (least, most) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
    path(values, |value| HEIGHT - scaled(value - least, most - least)).0
}

/// A line through the values of the days, and a dot for each: `top` is the place of a value.
fn path(values: &[Option<u64>], top: impl Fn(u64) -> u64) -> (String, String) {
    let (mut path, mut dots, mut is_drawing) = (String::new(), String::new(), false);
    for (day, value) in (0_u64..).zip(values) {
        if let Some(value) = value {
            let place = format!("{} {}", day * SLOT + SLOT / 2, top(*value));
            path += &format!("{}{place}", if is_drawing { "L" } else { "M" });
            dots += &format!("M{place}h0");
        }
        is_drawing = value.is_some();
    }
    (path, dots)
}

/// Labels of a rate's axis that begins at `floor`, from the top.
pub fn rate_labels(floor: u64) -> Vec<String> {
    [PERMILLE, (PERMILLE + floor) / 2, floor].map(percent).into()
}

/// A rate in permille as percent.
pub fn percent(permille: u64) -> String {
    match permille % 10 {
        0 => (permille / 10).to_string(),
        tenth => format!("{}.{tenth}", permille / 10),
    }
}

/// Every value above its name and share: a bar that compares what there is with what there was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    pub name: String,
    pub available: String,
    /// What the whole width stands for.
    pub whole: String,
    /// Width of the part, in permille of the whole.
    pub have: u64,
    pub held: u64,
    pub more: String,
}

impl Level {
    /// A bar of what is available and what is reserved, as parts of `whole`.
    pub fn new(
        name: String,
        available: u64,
        reserved: u64,
        whole: u64,
        show: fn(u64) -> String,
    ) -> Level {
        let whole = whole.max(available.saturating_add(reserved));
        let (have, held) = (scaled(available, whole), scaled(reserved, whole));
        Level {
            name,
            available: grouped(&show(available)),
            whole: grouped(&show(whole)),
            have,
            held: held.min(HEIGHT - have),
            more: format!("{} reserved", grouped(&show(reserved))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number() {
        for (most, end) in [(0, 4), (4, 4), (5, 8), (21, 40), (18_800, 20_000), (20_001, 40_000)] {
            assert_eq!(axis_end(most, 1), end, "{most}");
        }
        assert_eq!(axis_labels(20_000, 1), ["20k", "15k", "10k", "5k", "0"]);
        assert_eq!(axis_labels(6_000_000, 1), ["6M", "4.5M", "3M", "1.5M", "0"]);
        assert_eq!(axis_end(1_500_000, 1_000_000), 4_000_000, "whole units");
        assert!(axis_end(u64::MAX, 1) >= u64::MAX - 1, "it ends");
    }

    #[test]
    fn bars_stand_upon_each_other_and_small_ones_are_visible() {
        let series = |values: &[u64]| Series { name: String::new(), values: values.to_vec() };
        let shapes = stacked(&[series(&[500, 0]), series(&[250, 1])], 1_000_000);
        assert_eq!(
            stacked(&[series(&[500, 0]), series(&[250, 1])], 1_000),
            [
                ("bar k1".to_owned(), "M14 1000v-500h72v500z".to_owned()),
                ("bar k2".to_owned(), "M14 500v-250h72v250zM114 1000v-1h72v1z".to_owned()),
            ]
        );
        assert_eq!(shapes[1].1, "M14 1000v-1h72v1zM114 1000v-1h72v1z");
    }

    #[test]
    fn a_line_is_interrupted_by_days_without_payments() {
        let (shapes, floor) = line(&[Some(1_000), Some(960), None, Some(980)], "k2");
        assert_eq!(floor, 950);
        assert_eq!(shapes[0], ("ln k2".to_owned(), "M50 0L150 800M350 400".to_owned()));
        assert_eq!(shapes[1].1, "M50 0h0M150 800h0M350 400h0");
        assert_eq!(line(&[Some(10)], "k2").1, 0);
        assert_eq!(
            (line(&[], "k2").1, rate_labels(950)),
            (950, vec!["100".to_owned(), "97.5".to_owned(), "95".to_owned()])
        );
    }

    #[test]
    fn lines_share_an_axis_and_a_small_one_fills_its_height() {
        let shapes = lines(&[vec![Some(10), None, Some(20)], vec![Some(5)]], 20);
        assert_eq!(shapes[0], ("ln k1".to_owned(), "M50 500M250 0".to_owned()));
        assert_eq!(shapes[2], ("ln k2".to_owned(), "M50 750".to_owned()));
        assert_eq!(spark(&[Some(7), Some(9), None, Some(8)]), "M50 1000L150 0M350 500");
        assert_eq!((spark(&[]), spark(&[Some(3)])), (String::new(), "M50 1000".to_owned()));
    }

    #[test]
    fn a_level_is_never_wider_than_its_bar() {
        let show = |value: u64| value.to_string();
        let level = Level::new("x".to_owned(), 600, 100, 1_000, show);
        assert_eq!((level.have, level.held), (600, 100));
        let level = Level::new("x".to_owned(), 1_200, 300, 1_000, show);
        assert_eq!((level.have, level.held, level.whole.as_str()), (800, 200, "1500"));
        assert_eq!(Level::new("x".to_owned(), 0, 0, 0, show).have, 0);
    }
}
