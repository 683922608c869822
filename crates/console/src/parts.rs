//! Building blocks of pages: tables, states, pagers. Templates render them with the macros of
//! `console/parts.html`.

pub use domain::grouping::grouped;
use domain::time::Timestamp;

/// The severity of a state. The label always conveys it too: colour is never the only signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// No action is needed.
    Good,
    /// Work is still in progress.
    Busy,
    /// Needs attention by a user.
    Warn,
    Bad,
    Plain,
}

impl Tone {
    /// The class of the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Busy => "busy",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Plain => "plain",
        }
    }
}

/// A cell of a table or a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Text(String),
    /// An amount or a count, right-aligned.
    Number(String),
    /// An id or an address, in a monospaced font.
    Id(String),
    Link {
        href: String,
        text: String,
    },
    IdLink {
        href: String,
        text: String,
    },
    State {
        word: String,
        tone: Tone,
    },
    /// An instant, shown in UTC to the second.
    When(Timestamp),
    /// No value: a dash that screen readers skip.
    Empty,
    /// A button that posts a form with hidden fields.
    Button {
        action: String,
        /// The label, which names the object.
        label: String,
        /// Hidden fields: names and values.
        fields: Vec<(&'static str, String)>,
    },
}

impl Cell {
    /// Text, or no value.
    pub fn maybe(text: Option<impl Into<String>>) -> Cell {
        text.map_or(Cell::Empty, |text| Cell::Text(text.into()))
    }

    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// An amount or a count.
    pub fn number(text: impl ToString) -> Cell {
        Cell::Number(text.to_string())
    }

    /// An id or an address.
    pub fn id(id: impl ToString) -> Cell {
        Cell::Id(id.to_string())
    }

    pub fn link(href: impl Into<String>, text: impl ToString) -> Cell {
        Cell::Link { href: href.into(), text: text.to_string() }
    }

    /// An id that is a link.
    pub fn id_link(href: impl Into<String>, id: impl ToString) -> Cell {
        Cell::IdLink { href: href.into(), text: id.to_string() }
    }

    pub fn state(word: impl Into<String>, tone: Tone) -> Cell {
        Cell::State { word: word.into(), tone }
    }

    /// The instant as text, if this is one.
    pub fn instant(&self) -> String {
        match self {
            Cell::When(at) => when(*at),
            _ => String::new(),
        }
    }

    /// The cell's class in a list.
    pub const fn class(&self) -> &'static str {
        match self {
            Cell::Number(_) => "num",
            Cell::State { .. } => "is",
            Cell::Empty => "none",
            _ => "",
        }
    }

    /// Whether it is right-aligned.
    pub const fn is_number(&self) -> bool {
        matches!(self, Cell::Number(_))
    }
}

/// Minimum length at which a table abbreviates an id; copying still yields the whole id.
const LONG_CHARS: usize = 30;

/// Whether an id is too long for a column and its beginning is distinctive: UUIDs, addresses,
/// hashes.
pub fn is_long(id: &str) -> bool {
    let digits = id.strip_prefix("0x").unwrap_or(id);
    id.len() >= LONG_CHARS && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// How long ago an instant was, or how far ahead it is; beyond a month, its day.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = (now - at).0 / 1_000_000;
    let span = match seconds.abs() {
        ..MINUTE if seconds < 0 => return "in <1 min".to_owned(),
        ..MINUTE => return "just now".to_owned(),
        length @ ..HOUR => format!("{} min", length / MINUTE),
        length @ ..DAY => format!("{} h", length / HOUR),
        length if length <= 31 * DAY => format!("{} d", length / DAY),
        _ => return at.to_string()[..10].to_owned(),
    };
    if seconds < 0 { format!("in {span}") } else { format!("{span} ago") }
}

/// Formats the instant as `2026-11-22 15:04:05`, in UTC.
pub fn when(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {}", &text[..10], &text[11..19])
}

/// A row of a table.
pub type Row = Vec<Cell>;

/// A table. Screen readers announce its caption; it scrolls inside its own region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The caption: unique on the page.
    pub caption: String,
    pub head: Vec<&'static str>,
    /// The rows; the first cell of each identifies it.
    pub rows: Vec<Row>,
    /// The text of an empty table.
    pub empty: &'static str,
    /// Links to other pages of the list.
    pub pager: Pager,
    /// Columns that may be hidden: the address that shows or hides each, its heading, whether it is
    /// shown.
    pub choice: Vec<(String, &'static str, bool)>,
    /// Links about the list: URL and text.
    pub links: Vec<(String, String)>,
    /// What a user may do about an empty table: URL and text.
    pub next: Vec<(String, &'static str)>,
}

impl Table {
    pub fn new(caption: impl Into<String>, head: &[&'static str], rows: Vec<Row>) -> Table {
        Table {
            caption: caption.into(),
            head: head.to_vec(),
            rows,
            empty: "No entries.",
            pager: Pager::default(),
            choice: Vec::new(),
            links: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Lets the user hide columns other than the first. `hidden` holds their indexes; `address` is
    /// the list's address with these columns hidden.
    #[must_use]
    pub fn choosable(mut self, hidden: &[usize], address: impl Fn(&[usize]) -> String) -> Table {
        let choice = |column: usize| {
            let is_shown = !hidden.contains(&column);
            let mut others: Vec<usize> =
                hidden.iter().copied().filter(|at| *at != column).collect();
            if is_shown {
                others.push(column);
            }
            (address(&others), self.head[column], is_shown)
        };
        self.choice = (1..self.head.len()).map(choice).collect();
        let keep = |column: usize| column == 0 || !hidden.contains(&column);
        for row in &mut self.rows {
            let cells = std::mem::take(row).into_iter().enumerate();
            *row = cells.filter(|(column, _)| keep(*column)).map(|(_, cell)| cell).collect();
        }
        let head = std::mem::take(&mut self.head).into_iter().enumerate();
        self.head = head.filter(|(column, _)| keep(*column)).map(|(_, word)| word).collect();
        self
    }

    /// A row's cells, each with the heading of its column.
    pub fn cells<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'static str, &'a Cell)> {
        self.head.iter().copied().zip(row)
    }

    /// Sets the text of an empty table.
    #[must_use]
    pub fn or(self, empty: &'static str) -> Table {
        Table { empty, ..self }
    }

    /// Adds links to other pages of the list.
    #[must_use]
    pub fn paged(self, pager: Pager) -> Table {
        Table { pager, ..self }
    }

    /// The column headings, and whether each column is numeric and so right-aligned.
    pub fn columns(&self) -> Vec<(&'static str, bool)> {
        let is_number =
            |column| self.rows.first().and_then(|row| row.get(column)).is_some_and(Cell::is_number);
        self.head.iter().enumerate().map(|(column, word)| (*word, is_number(column))).collect()
    }
}

/// Links to the adjacent pages of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pager {
    /// URL of the previous page; `None` on the first.
    pub previous: Option<String>,
    /// URL of the next page; `None` on the last.
    pub next: Option<String>,
    /// The shown range, such as `51–100 of 230`.
    pub shown: String,
}

impl Pager {
    /// The pager of a numbered list, from 1 on. `path` includes the rest of the query.
    pub fn by_number(path: &str, page: u32, limit: u32, total: u64) -> Pager {
        let link =
            |page: u32| format!("{path}{}page={page}", if path.contains('?') { '&' } else { '?' });
        let (from, to) =
            (u64::from(page - page.min(1)) * u64::from(limit), u64::from(page) * u64::from(limit));
        Pager {
            previous: (page > 1).then(|| link(page - 1)),
            next: (to < total).then(|| link(page + 1)),
            shown: if total == 0 {
                String::new()
            } else {
                format!("{}–{} of {total}", from + 1, to.min(total))
            },
        }
    }

    /// Whether there are other pages.
    pub const fn is_needed(&self) -> bool {
        self.previous.is_some() || self.next.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_links_the_adjacent_pages() {
        let pager = Pager::by_number("/x?state=a", 2, 50, 120);
        assert_eq!(pager.previous.as_deref(), Some("/x?state=a&page=1"));
        assert_eq!(pager.next.as_deref(), Some("/x?state=a&page=3"));
        assert_eq!(pager.shown, "51–100 of 120");
        let last = Pager::by_number("/x", 3, 50, 120);
        assert_eq!((last.next, last.shown.as_str()), (None, "101–120 of 120"));
        assert!(!Pager::by_number("/x", 1, 50, 50).is_needed());
        assert_eq!(Pager::by_number("/x", 1, 50, 0).shown, "");
    }

    #[test]
    fn ids_with_a_distinctive_beginning_are_abbreviated() {
        for id in
            ["6f0c0000-0000-4000-8000-000000000000", "0xD9BfDA523E0F89dccFCF15f02119C02912d8687c"]
        {
            assert!(is_long(id), "{id}");
        }
        for id in [
            "nostro:npl-connectips:NPR",
            "demobank-test_pay-dcdVhMWb6i5JyZkpsc72DusmB3DwmOnh",
            "6f0c0000",
            "",
        ] {
            assert!(!is_long(id), "{id}");
        }
    }

    #[test]
    fn an_age_has_its_largest_unit_and_an_old_instant_its_day() {
        let now = Timestamp(1_795_244_268_123_999);
        for (seconds, shown) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3_599, "59 min ago"),
            (7_200, "2 h ago"),
            (86_400 * 3, "3 d ago"),
            (86_400 * 40, "2026-10-12"),
            (-1, "in <1 min"),
            (-61, "in 1 min"),
            (-86_400 * 40, "2026-12-31"),
        ] {
            assert_eq!(ago(Timestamp(now.0 - seconds * 1_000_000), now), shown);
        }
    }

    #[test]
    fn hidden_columns_leave_the_table_and_can_be_shown_again() {
        let row = ["a", "b", "c"].map(Cell::text).to_vec();
        let address = |hidden: &[usize]| format!("{hidden:?}");
        let table = Table::new("x", &["A", "B", "C"], vec![row]).choosable(&[1], address);
        assert_eq!(table.head, ["A", "C"]);
        assert_eq!(table.rows, [[Cell::text("a"), Cell::text("c")]]);
        let choice = [("[]".to_owned(), "B", false), ("[1, 2]".to_owned(), "C", true)];
        assert_eq!(table.choice, choice);
    }

    #[test]
    fn an_instant_is_shown_to_the_second() {
        assert_eq!(when(Timestamp(1_795_244_268_123_999)), "2026-11-21 06:57:48");
    }
}
