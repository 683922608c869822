//! Output of commands: tables or JSON on stdout; remarks on stderr.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use console::Term;
use serde_json::Value;

use super::failure::Failure;
use super::local_time;
use super::table::{self, Column, Look, Table};

/// The width without a terminal and without `COLUMNS`.
const USUAL_WIDTH: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum Output {
    /// Aligned columns, for reading.
    #[default]
    Table,
    /// JSON: one value, or one per line for lists.
    Json,
}

/// Which columns of a table are shown.
#[derive(Args, Clone, Debug, Default)]
pub struct View {
    /// Show every column of a table, and whole ids and times
    #[arg(long, global = true, help_heading = "Global options", display_order = 902)]
    pub wide: bool,
    /// Show only these columns of a table, in this order
    #[arg(long, global = true, value_name = "A,B", value_delimiter = ',')]
    #[arg(help_heading = "Global options", display_order = 903)]
    pub columns: Vec<String>,
}

/// The view of this process, set once by `main`.
static VIEW: OnceLock<View> = OnceLock::new();

/// Sets how this process shows tables.
pub fn set_view(view: View) {
    VIEW.get_or_init(|| view);
}

fn view() -> &'static View {
    VIEW.get_or_init(View::default)
}

/// The width of the terminal, else `COLUMNS`, else 80.
pub fn width() -> usize {
    let terminal = || Some(usize::from(Term::stdout().size_checked()?.1));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal().or_else(variable).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

/// Writes one line to stdout.
pub fn line(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Writes a sentence to stdout; a terminal gets it wrapped, `hang` columns from the left.
pub fn sentence(text: &str, hang: usize) -> Result<(), Failure> {
    line(&fitted(text, hang, &Term::stdout()))
}

/// The text as this terminal shows it; for a file or a pipe as it is.
fn fitted(text: &str, hang: usize, to: &Term) -> String {
    match to.size_checked() {
        Some((_, width @ 1..)) => table::reflowed(text, hang, width.into()),
        _ => text.to_owned(),
    }
}

/// Writes text to stdout unchanged.
pub fn raw(text: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    Ok(out.flush()?)
}

/// A number with its noun: `1 tenant`, `2 tenants`.
pub fn counted<N: std::fmt::Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == N::from(1) => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// Writes a remark to stderr, where scripts ignore it.
pub fn remark(text: &str) {
    eprintln!("{}", fitted(text, 0, &Term::stderr()));
}

/// Writes a question to stderr; its answer follows in the same line.
pub fn prompt(question: &str) -> Result<(), Failure> {
    let mut out = std::io::stderr().lock();
    write!(out, "{} ", fitted(&format!("{question}:"), 0, &Term::stderr()))?;
    Ok(out.flush()?)
}

/// Writes an error to stderr; its further lines begin below its text.
pub fn error(prefix: &str, message: &str) {
    eprintln!("{}", fitted(&format!("{prefix}{message}"), prefix.len(), &Term::stderr()));
}

/// What a change did: a sentence on stderr, or one JSON object.
pub fn done(output: Output, sentence: &str, document: &Value) -> Result<(), Failure> {
    match output {
        Output::Table => remark(sentence),
        Output::Json => json(document)?,
    }
    Ok(())
}

/// Writes a JSON value on one line.
pub fn json(value: &Value) -> Result<(), Failure> {
    line(&value.to_string())
}

/// Writes rows under a header, fitted to the width.
pub fn rows<C: Into<Column> + Copy>(columns: &[C], rows: Vec<Vec<String>>) -> Result<(), Failure> {
    let view = view();
    let mut table = Table::new(columns.iter().map(|column| (*column).into()).collect(), rows);
    if !view.columns.is_empty() {
        table.choose(&view.columns)?;
    }
    let look = Look {
        width: (!view.wide).then(width),
        now: jiff::Timestamp::now(),
        zone: local_time::zone(),
    };
    let (text, dropped) = table.show(&look);
    line(&text)?;
    if !dropped.is_empty() {
        remark(&format!("Not shown: {} (--wide)", dropped.join(", ")));
    }
    Ok(())
}

/// The same; without rows only a remark that states the next step.
pub fn rows_or<C: Into<Column> + Copy>(
    columns: &[C],
    rows: Vec<Vec<String>>,
    none: &str,
) -> Result<(), Failure> {
    if rows.is_empty() {
        remark(none);
        return Ok(());
    }
    self::rows(columns, rows)
}

/// Writes the members of one object, one per line; empty ones are omitted.
pub fn members(members: &[(&str, String)]) -> Result<(), Failure> {
    line(&table::members(members, (!view().wide).then(width)))
}

/// Whether progress may be shown: stderr is a terminal.
pub fn shows_progress() -> bool {
    std::io::stderr().is_terminal()
}
