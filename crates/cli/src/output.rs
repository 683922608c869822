//! Output of commands: tables or JSON on stdout; remarks on stderr.

use std::io::{IsTerminal, Write};

use clap::ValueEnum;
use comfy_table::{Table, presets};
use serde_json::Value;

use super::failure::Failure;

/// `--output`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum Output {
    /// Aligned columns.
    #[default]
    Table,
    /// JSON: one value, or one per line for lists.
    Json,
}

/// Writes one line to stdout.
pub fn line(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Writes text to stdout unchanged.
pub fn raw(text: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    Ok(out.flush()?)
}

/// Writes a remark to stderr, where scripts ignore it.
pub fn remark(text: &str) {
    eprintln!("{text}");
}

/// Writes a JSON value on one line.
pub fn json(value: &Value) -> Result<(), Failure> {
    line(&value.to_string())
}

/// Writes rows under a header.
pub fn rows(head: &[&str], rows: Vec<Vec<String>>) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head.iter().map(|name| name.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)));
    }
    line(&trimmed(&table))
}

/// Writes the members of one object, one per line; empty ones are omitted.
pub fn members(members: &[(&str, String)]) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (name, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
        table.add_row([(*name).to_owned(), printable(value)]);
    }
    line(&trimmed(&table))
}

/// Whether progress may be shown: stderr is a terminal.
pub fn shows_progress() -> bool {
    std::io::stderr().is_terminal()
}

fn trimmed(table: &Table) -> String {
    table
        .lines()
        .map(|line| line.trim_end().strip_prefix(' ').unwrap_or_default().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The text without control characters: text from others must not control the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
