//! Tables for people: rows under a header, fitted to a width.
//!
//! A table that is too wide first wraps a last column of sentences, drops its last columns, then
//! shortens times and names. Amounts, states and the id of a row are never cut: if they alone are too
//! wide, each row becomes lines of names and values. Columns without any value are left out.

use console::{measure_text_width, truncate_str};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::colour::{Tone, dim};
use super::failure::Failure;
use super::local_time;

const GAP: &str = "  ";
/// Characters of a shortened id.
const SHORT_ID_CHARS: usize = 8;
/// Characters of a UUID.
const UUID_CHARS: usize = 36;
/// Digits of the shortest address or hash.
const ADDRESS_DIGITS: usize = 40;
/// From this length on, a text with spaces is a sentence.
const SENTENCE_CHARS: usize = 36;
/// The least width that sentences are wrapped to.
const NARROWEST: usize = 20;
/// The least width that names are shortened to.
const NAME_CHARS: usize = 10;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Amount,
    Number,
    State,
    Time,
    Id,
}

/// A column: its heading and what its cells are.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    head: &'static str,
    kind: Kind,
}

/// Names, codes and sentences.
pub const fn text(head: &'static str) -> Column {
    Column { head, kind: Kind::Text }
}

/// Amounts of money, with or without their currency.
pub const fn amount(head: &'static str) -> Column {
    Column { head, kind: Kind::Amount }
}

/// Counts, scores and sums that may be left out.
pub const fn number(head: &'static str) -> Column {
    Column { head, kind: Kind::Number }
}

/// States, which are coloured.
pub const fn state(head: &'static str) -> Column {
    Column { head, kind: Kind::State }
}

/// Instants in RFC 3339, shown in local time.
pub const fn time(head: &'static str) -> Column {
    Column { head, kind: Kind::Time }
}

/// UUIDs, addresses and hashes.
pub const fn id(head: &'static str) -> Column {
    Column { head, kind: Kind::Id }
}

impl From<&'static str> for Column {
    fn from(head: &'static str) -> Column {
        if names_state(head) { state(head) } else { text(head) }
    }
}

fn names_state(head: &str) -> bool {
    matches!(head, "state" | "status" | "result")
}

/// How a table is shown.
#[derive(Debug)]
pub struct Look {
    /// The width that it has to fit; `None` shows every column, id and time whole.
    pub width: Option<usize>,
    /// The instant that times are relative to.
    pub now: Timestamp,
    pub zone: TimeZone,
}

/// Rows under a header.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Whether the user chose the columns, so that none is dropped.
    chosen: bool,
}

impl Table {
    pub fn new(columns: Vec<Column>, rows: Vec<Vec<String>>) -> Table {
        let rows = rows
            .iter()
            .map(|row| row.iter().map(|cell| client::printable(cell)).collect())
            .collect();
        Table { columns, rows, chosen: false }
    }

    /// Keeps the named columns, in that order.
    pub fn choose(&mut self, names: &[String]) -> Result<(), Failure> {
        let at = |name: &String| {
            let found =
                self.columns.iter().position(|it| it.head.eq_ignore_ascii_case(name.trim()));
            found.ok_or_else(|| {
                let known: Vec<&str> = self.columns.iter().map(|column| column.head).collect();
                Failure::Usage(format!(
                    "--columns: no column {name:?}; the columns are {}",
                    known.join(", ")
                ))
            })
        };
        let chosen = names.iter().map(at).collect::<Result<Vec<_>, _>>()?;
        let pick = |row: &Vec<String>| -> Vec<String> {
            chosen.iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect()
        };
        self.rows = self.rows.iter().map(pick).collect();
        self.columns = chosen.iter().map(|at| self.columns[*at]).collect();
        self.chosen = true;
        Ok(())
    }

    /// The table as lines, and the headings of the columns that were dropped.
    pub fn show(mut self, look: &Look) -> (String, Vec<&'static str>) {
        for row in &mut self.rows {
            for (cell, column) in row.iter_mut().zip(&self.columns) {
                *cell = shown(cell, column.kind, look);
            }
        }
        let Some(width) = look.width else { return (self.lines(None), Vec::new()) };
        let mut dropped = Vec::new();
        if !self.chosen {
            self.drop_empty_columns();
            while self.least_width() > width
                && self.columns.len() > 1
                && !self.must_stay(self.columns.len() - 1)
            {
                dropped.insert(0, self.drop_column(self.columns.len() - 1));
            }
        }
        if self.least_width() > width {
            self.shorten_times();
        }
        self.shorten_names(width);
        while !self.chosen && self.least_width() > width {
            let rest = (1..self.columns.len()).rev().find(|at| !self.must_stay(*at));
            // A first column of text names the row.
            let is_time = self.columns.len() > 1 && self.columns[0].kind == Kind::Time;
            let Some(at) = rest.or(is_time.then_some(0)) else { break };
            dropped.insert(0, self.drop_column(at));
        }
        if !self.chosen && self.columns.len() > 1 && self.least_width() > width {
            return (self.records(width), dropped);
        }
        (self.lines(Some(width)), dropped)
    }

    /// The rows, each as lines of names and values.
    fn records(&self, width: usize) -> String {
        let heads = self.columns.iter().map(|column| column.head);
        let rows = self.rows.iter().map(|row| {
            let named: Vec<(&str, String)> = heads.clone().zip(row.iter().cloned()).collect();
            members(&named, Some(width))
        });
        rows.collect::<Vec<_>>().join("\n\n")
    }

    fn drop_empty_columns(&mut self) {
        for at in (1..self.columns.len()).rev() {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at)).peekable();
            if cells.peek().is_some() && cells.all(String::is_empty) {
                self.drop_column(at);
            }
        }
    }

    fn drop_column(&mut self, at: usize) -> &'static str {
        self.rows.iter_mut().filter(|row| at < row.len()).for_each(|row| drop(row.remove(at)));
        self.columns.remove(at).head
    }

    fn column_width(&self, at: usize) -> usize {
        let cells =
            self.rows.iter().filter_map(|row| row.get(at)).map(|cell| measure_text_width(cell));
        cells.chain([self.columns[at].head.len()]).max().unwrap_or(0)
    }

    /// The width, with sentences in the last column wrapped as far as possible.
    fn least_width(&self) -> usize {
        let last = self.columns.len() - 1;
        let widths = (0..=last).map(|at| match at == last && self.has_sentences(at) {
            true => self.column_width(at).min(NARROWEST),
            false => self.column_width(at),
        });
        widths.sum::<usize>() + GAP.len() * last
    }

    fn has_sentences(&self, at: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(at));
        self.columns[at].kind == Kind::Text
            && cells.any(|cell| cell.len() >= SENTENCE_CHARS && cell.contains(' '))
    }

    /// Amounts, states, and the first id, which is the row's own.
    fn must_stay(&self, at: usize) -> bool {
        match self.columns[at].kind {
            Kind::Amount | Kind::State => true,
            Kind::Id => self.columns.iter().position(|it| it.kind == Kind::Id) == Some(at),
            Kind::Text | Kind::Number | Kind::Time => false,
        }
    }

    /// Leaves dates without their time of day.
    fn shorten_times(&mut self) {
        for row in &mut self.rows {
            for (cell, column) in row.iter_mut().zip(&self.columns) {
                if column.kind == Kind::Time
                    && let Some((date, time)) = cell.rsplit_once(' ')
                    && time.contains(':')
                {
                    *cell = date.to_owned();
                }
            }
        }
    }

    /// Shortens the widest columns of text until the table fits.
    fn shorten_names(&mut self, width: usize) {
        loop {
            let excess = self.least_width().saturating_sub(width);
            let last = self.columns.len() - 1;
            let names = (0..=last).filter(|at| {
                self.columns[*at].kind == Kind::Text && !(*at == last && self.has_sentences(*at))
            });
            let widest = names.max_by_key(|at| self.column_width(*at));
            let Some(at) = widest.filter(|at| self.column_width(*at) > NAME_CHARS) else { return };
            if excess == 0 {
                return;
            }
            let now = self.column_width(at);
            let keep = now.saturating_sub(excess).max(NAME_CHARS).max(self.columns[at].head.len());
            if keep == now {
                return;
            }
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                *cell = truncate_str(cell, keep, "…").into_owned();
            }
        }
    }

    /// The lines; sentences in the last column are wrapped to what `width` leaves.
    fn lines(&self, width: Option<usize>) -> String {
        let last = self.columns.len() - 1;
        let widths: Vec<usize> = (0..=last).map(|at| self.column_width(at)).collect();
        let indent: usize = widths[..last].iter().map(|width| width + GAP.len()).sum();
        let rest = width.map(|width| width.saturating_sub(indent).max(NARROWEST));
        let mut lines = vec![self.line(
            &self.columns.iter().map(|column| column.head.to_uppercase()).collect::<Vec<_>>(),
            &widths,
            |_, head| head.to_owned(),
        )];
        let paint = |kind, cell: &str| match kind {
            Kind::State => Tone::of_state(cell).paint(cell),
            Kind::Id | Kind::Time => dim(cell),
            _ => cell.to_owned(),
        };
        for row in &self.rows {
            let mut row = row.clone();
            let mut more = Vec::new();
            if self.has_sentences(last)
                && let (Some(rest), Some(cell)) = (rest, row.last_mut())
            {
                // A word that is longer than that is a name, which may be shortened.
                more = wrapped(cell, rest)
                    .iter()
                    .map(|part| truncate_str(part, rest, "…").into_owned())
                    .collect();
                *cell = if more.is_empty() { String::new() } else { more.remove(0) };
            }
            lines.push(self.line(&row, &widths, paint));
            lines.extend(more.iter().map(|part| format!("{:indent$}{part}", "")));
        }
        lines.join("\n")
    }

    fn line(
        &self,
        row: &[String],
        widths: &[usize],
        paint: impl Fn(Kind, &str) -> String,
    ) -> String {
        let cells = row.iter().zip(widths).zip(&self.columns).map(|((cell, width), column)| {
            let padding = width.saturating_sub(measure_text_width(cell));
            let painted = if cell.is_empty() { String::new() } else { paint(column.kind, cell) };
            match column.kind {
                Kind::Amount | Kind::Number | Kind::Time => format!("{:padding$}{painted}", ""),
                Kind::Text | Kind::State | Kind::Id => format!("{painted}{:padding$}", ""),
            }
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

/// The names and values of one object, one per line, with long values wrapped; empty ones are
/// omitted. An id or address that does not fit beside its name has a line of its own.
pub fn members(members: &[(&str, String)], width: Option<usize>) -> String {
    let shown = members.iter().filter(|(_, value)| !value.is_empty());
    let indent = shown.clone().map(|(name, _)| name.len()).max().unwrap_or(0) + GAP.len();
    let lines = shown.flat_map(|(name, value)| {
        let value = client::printable(value);
        let value = grouped_money(&value).unwrap_or(value);
        let parts = match width {
            Some(width) => wrapped(&value, width.saturating_sub(indent).max(NARROWEST)),
            None => vec![value],
        };
        let is_state = names_state(name);
        let is_wide =
            |part: &String| measure_text_width(part) + indent > width.unwrap_or(usize::MAX);
        if let [whole] = &parts[..]
            && is_wide(whole)
        {
            return vec![(*name).to_owned(), format!("{GAP}{whole}")];
        }
        let lines = parts.into_iter().enumerate().map(move |(at, part)| {
            let part = if is_state { Tone::of_state(&part).paint(&part) } else { part };
            let name = if at == 0 { name } else { &"" };
            format!("{name:indent$}{part}")
        });
        lines.collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A cell as it is shown.
fn shown(cell: &str, kind: Kind, look: &Look) -> String {
    match (kind, look.width) {
        (Kind::Amount | Kind::Number, _) => grouped(cell),
        (Kind::Time, Some(_)) => local_time::around(cell, look.now, &look.zone),
        (Kind::Id | Kind::Text, Some(_)) => with_short_ids(cell),
        _ => cell.to_owned(),
    }
}

/// The text with every UUID, address and hash shortened to its beginning.
pub fn with_short_ids(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        short.push_str(short_id(&rest[..end]));
        let gap = rest[end..].find(is_part).map_or(rest.len(), |gap| end + gap);
        short.push_str(&rest[end..gap]);
        rest = &rest[gap..];
    }
    short
}

/// The beginning of a UUID, an address or a hash; any other text as it is.
pub fn short_id(token: &str) -> &str {
    let is_uuid = token.len() == UUID_CHARS && uuid::Uuid::try_parse(token).is_ok();
    let is_address = token.strip_prefix("0x").is_some_and(|digits| {
        digits.len() >= ADDRESS_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    });
    match (is_uuid, is_address) {
        (true, _) => &token[..SHORT_ID_CHARS],
        (_, true) => &token[..SHORT_ID_CHARS + "0x".len()],
        _ => token,
    }
}

/// An amount with its digits in groups of three: `-1,250.00 AED`.
pub fn grouped(amount: &str) -> String {
    let start = amount.find(|c: char| c.is_ascii_digit()).unwrap_or(amount.len());
    let whole = amount[start..].find(|c: char| !c.is_ascii_digit());
    let end = whole.map_or(amount.len(), |whole| start + whole);
    let mut text = String::from(&amount[..start]);
    for (at, digit) in amount[start..end].char_indices() {
        if at > 0 && (end - start - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + &amount[end..]
}

/// The same, if the text is an amount with its currency and nothing else.
fn grouped_money(text: &str) -> Option<String> {
    let (number, code) = text.split_once(' ')?;
    domain::currency::Currency::parse(code)?;
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_number.then(|| grouped(text))
}

/// The words of a text in lines of at most this width; a longer word keeps a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    if measure_text_width(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 1 + measure_text_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The text with the lines that are wider wrapped at words. What follows in another line begins
/// where its line does, `hang` columns later in an unindented one.
pub fn reflowed(text: &str, hang: usize, width: usize) -> String {
    let mut lines = Vec::new();
    for whole in text.lines() {
        let own = whole.len() - whole.trim_start_matches(' ').len();
        let indent = if own == 0 { hang } else { own };
        let mut parts = whole.split(' ');
        let mut line = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let fits = measure_text_width(&line) + 1 + measure_text_width(part) <= width;
            // Runs of spaces are empty parts, and stay.
            if fits || line.trim_start().is_empty() {
                line.push(' ');
            } else {
                let full = std::mem::replace(&mut line, " ".repeat(indent));
                lines.push(full.trim_end().to_owned());
            }
            line.push_str(part);
        }
        lines.push(line);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 6] = [
        amount("beneficiary gets"),
        text("beneficiary"),
        state("state"),
        time("accepted"),
        id("id"),
        text("bank reference"),
    ];
    const ID: &str = "c5cddba4-c8b0-4b1e-9d0e-2c8f0a7b1c2d";

    fn payments() -> Table {
        let row = |amount: &str, name: &str, status: &str, at: &str, id: &str| {
            [amount, name, status, at, id, "PKRAAST00112233445566"].map(str::to_owned).to_vec()
        };
        Table::new(
            COLUMNS.to_vec(),
            vec![
                row(
                    "1250000.00 PKR",
                    "Muhammad Bilal Siddiqui Ahmed",
                    "succeeded",
                    "2026-11-22T10:00:00.123Z",
                    ID,
                ),
                row("500 PKR", "Rosa", "in_review\u{1b}[2J", "2026-11-20T10:00:00Z", "inv-1"),
            ],
        )
    }

    fn look(width: Option<usize>) -> Look {
        Look {
            width,
            now: "2026-11-22T10:04:30Z".parse().expect("an instant"),
            zone: TimeZone::UTC,
        }
    }

    #[test]
    fn ids_are_short_times_relative_and_amounts_grouped_unless_wide() {
        let (text, dropped) = payments().show(&look(Some(200)));
        assert!(dropped.is_empty() && !text.contains('\u{1b}'), "{text}");
        for part in ["1,250,000.00 PKR", "4 min", "20 Nov 10:00", "c5cddba4 ", "PKRAAST0011"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(ID), "{text}");
        let (wide, _) = payments().show(&look(None));
        assert!(wide.contains(ID) && wide.contains("2026-11-22T10:00:00.123Z"), "{wide}");
        assert!(wide.contains("1,250,000.00 PKR"), "{wide}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_amount_state_or_own_id_is_cut() {
        for width in 55..140 {
            let (text, dropped) = payments().show(&look(Some(width)));
            assert!(text.lines().all(|line| measure_text_width(line) <= width), "{width}:\n{text}");
            for part in ["1,250,000.00 PKR", "succeeded", "in_review", "c5cddba4"] {
                assert!(text.contains(part), "{width}: {part}:\n{text}");
            }
            assert_ne!(text.contains("BANK REFERENCE"), dropped.contains(&"bank reference"));
            // The last columns go before a name is shortened.
            assert!(
                dropped.contains(&"bank reference") || text.contains("Siddiqui Ahmed"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_may_not_be_cut_gets_lines_of_its_own_in_a_narrow_terminal() {
        let keys = || {
            let columns =
                vec![id("access key"), state("state"), number("secrets"), time("created")];
            let row = |key: &str| {
                [key, "suspended", "2", "2026-11-22T10:00:00Z"].map(str::to_owned).to_vec()
            };
            let rows =
                [row("demobank-test_wallet-6fd9764c8b1c4f6e9f5a3f1f0c7f2b11"), row("b-live_pay-1")];
            Table::new(columns, rows.to_vec())
        };
        let requests = || {
            let columns = vec![
                time("created"),
                id("request"),
                state("status"),
                amount("requested"),
                amount("received"),
                time("expires"),
            ];
            let row = [
                "2026-11-20T10:00:00Z",
                ID,
                "PARTIALLY_PAID",
                "25000.00 USDC",
                "24999.50 USDC",
                "2026-12-20T10:00:00Z",
            ];
            Table::new(columns, vec![row.map(str::to_owned).to_vec()])
        };
        for width in 55..100 {
            for (table, parts) in [
                (keys(), ["demobank-test_wallet-6fd9764c8b1c4f6e9f5a3f1f0c7f2b11", "suspended"]),
                (requests(), ["24,999.50 USDC", "PARTIALLY_PAID"]),
            ] {
                let (text, _) = table.show(&look(Some(width)));
                let fits = text.lines().all(|line| measure_text_width(line) <= width);
                assert!(fits && parts.iter().all(|part| text.contains(part)), "{width}:\n{text}");
            }
        }
        let (text, dropped) = requests().show(&look(Some(60)));
        assert!(text.starts_with("REQUEST ") && dropped == ["created", "expires"], "{text}");
        let (text, _) = keys().show(&look(Some(60)));
        assert_eq!(text.lines().count(), 6, "the long key has a line of its own: {text}");
    }

    #[test]
    fn a_last_column_of_sentences_is_wrapped_under_itself() {
        let detail = "the file of rates does not exist; write it, then run this command again: \
            corridor_doctor_only_rates_corridor_doctor_only_rates";
        let row = ["rates", "FAIL", detail].map(str::to_owned).to_vec();
        let columns = ["check", "result", "detail"].map(Column::from).to_vec();
        let (text, dropped) = Table::new(columns, vec![row]).show(&look(Some(50)));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), dropped.len()), (5, 0), "{text}");
        assert!(lines[2].starts_with("               "), "{text}");
        assert!(lines.iter().all(|line| measure_text_width(line) <= 50), "{text}");
    }

    #[test]
    fn columns_are_chosen_by_name_and_an_unknown_one_is_refused() {
        let mut table = payments();
        table.choose(&["state".to_owned(), " Id".to_owned()]).expect("known columns");
        let refusal = table.choose(&["colour".to_owned()]).expect_err("an unknown column");
        assert_eq!(
            refusal.to_string(),
            "--columns: no column \"colour\"; the columns are state, id"
        );
        let (text, _) = table.show(&look(Some(10)));
        assert_eq!(text.lines().next(), Some("STATE          ID"), "none is dropped");
    }

    #[test]
    fn amounts_are_grouped() {
        for (cell, shown) in [
            ("359786.67", "359,786.67"),
            ("-1250 AED", "-1,250 AED"),
            ("500 AED", "500 AED"),
            ("1000000.000000 USDC", "1,000,000.000000 USDC"),
            ("", ""),
        ] {
            assert_eq!(grouped(cell), shown);
        }
        assert_eq!(grouped_money("37912.05 PKR").as_deref(), Some("37,912.05 PKR"));
        for other in ["75.8241", "10000 ms", "2026-11-22T10:00:00Z", "1000 to 2000 PKR", ""] {
            assert_eq!(grouped_money(other), None, "{other}");
        }
    }

    #[test]
    fn ids_are_shortened_wherever_they_stand() {
        let hash = format!("0x{}", "ab".repeat(32));
        for (text, short) in [
            (format!("wallet:{ID}:USDC"), "wallet:c5cddba4:USDC"),
            (format!("({hash})"), "(0xabababab)"),
            ("demobank-test_pay-1".to_owned(), "demobank-test_pay-1"),
            ("Zürich 0x12".to_owned(), "Zürich 0x12"),
        ] {
            assert_eq!(with_short_ids(&text), short);
        }
    }

    #[test]
    fn an_address_that_does_not_fit_beside_its_name_has_its_own_line() {
        let link = format!("http://127.0.0.1:8480/pay/{}", "ab".repeat(20));
        let text = members(&[("beneficiary gets", link.clone()), ("to", "A".to_owned())], Some(70));
        assert_eq!(text, format!("beneficiary gets\n  {link}\nto                A"));
    }

    #[test]
    fn a_sentence_is_wrapped_below_its_beginning() {
        assert_eq!(reflowed("error: short", 7, 20), "error: short");
        assert_eq!(reflowed("10:00  failed   closed", 3, 20), "10:00  failed\n   closed");
        let long =
            "error: no service has reported in time\n       start one: corridor serve --role all";
        assert_eq!(
            reflowed(long, 7, 30),
            "error: no service has reported\n       in time\n       start one: corridor\n       serve --role all"
        );
    }

    #[test]
    fn the_members_of_an_object_are_aligned_and_wrapped() {
        let words = "word ".repeat(30);
        let text = members(
            &[
                ("payment", ID.to_owned()),
                ("empty", String::new()),
                ("amount", "37912.05 PKR".to_owned()),
                ("why", words),
            ],
            Some(60),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("payment  {ID}"));
        assert_eq!(lines[1], "amount   37,912.05 PKR");
        assert!(lines.len() == 5 && lines.iter().all(|line| line.len() <= 60), "{text}");
        assert!(lines[3].starts_with("         word"), "{text}");
    }
}
