//! Fits the help of every command into the terminal: clap wraps descriptions of options, but neither
//! usage lines nor examples, and prose that is wrapped for another width would become ragged.

use clap::Command;

/// Indent of the second line of a usage and of an example.
const USAGE_INDENT: usize = 9;
const EXAMPLE_INDENT: usize = 4;
/// Width of `Usage: `.
const USAGE_HEADING: usize = 7;
/// What ends a line of an example that goes on.
const CONTINUED: &str = " \\";

/// The command and its subcommands, built, with help texts of this width.
pub fn fitted(command: Command, width: usize) -> Command {
    let mut command = command;
    command.build();
    fit(command, width)
}

fn fit(command: Command, width: usize) -> Command {
    let mut command = command.term_width(width).mut_subcommands(|inner| fit(inner, width));
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(filled(&text, width));
    }
    let usage = command.render_usage().to_string();
    match usage.strip_prefix("Usage: ") {
        Some(usage) if !usage.contains('\n') && usage.chars().count() + USAGE_HEADING > width => {
            let lines = lines(&parts(usage), USAGE_HEADING, USAGE_INDENT, width, "");
            let text = lines.join("\n");
            command.override_usage(text.trim_start().to_owned())
        }
        _ => command,
    }
}

/// A text of prose, headings and indented examples, refilled.
fn filled(text: &str, width: usize) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut prose: Vec<&str> = Vec::new();
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        let is_prose = !line.trim().is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        if is_prose {
            prose.extend(line.split_whitespace());
            continue;
        }
        flush(&mut prose, &mut out, width);
        if !line.starts_with(' ') {
            out.push(line.to_owned());
            continue;
        }
        let mut example = line.trim().to_owned();
        while let Some(start) = example.strip_suffix('\\') {
            let next = rest.next().unwrap_or_default().trim();
            example = format!("{} {next}", start.trim_end());
        }
        out.extend(example_lines(&example, width));
    }
    flush(&mut prose, &mut out, width);
    out.join("\n")
}

fn flush(prose: &mut Vec<&str>, out: &mut Vec<String>, width: usize) {
    let words: Vec<String> = prose.drain(..).map(str::to_owned).collect();
    if !words.is_empty() {
        out.extend(lines(&words, 0, 0, width, ""));
    }
}

/// An example on as many lines as it needs, so that it can still be pasted into a shell. A remark in
/// parentheses after it gets a line of its own.
fn example_lines(example: &str, width: usize) -> Vec<String> {
    if example.chars().count() + 2 <= width {
        return vec![format!("  {example}")];
    }
    let (command, remark) = match example.split_once("   ") {
        Some((command, remark)) => (command, Some(remark.trim())),
        None => (example, None),
    };
    let mut lines = lines(&parts(command), 2, EXAMPLE_INDENT, width, CONTINUED);
    lines.extend(remark.map(|remark| format!("{}{remark}", " ".repeat(EXAMPLE_INDENT))));
    lines
}

/// Lines of whole parts, the first indented by `first`, the others by `indent`.
fn lines(
    parts: &[String],
    first: usize,
    indent: usize,
    width: usize,
    continued: &str,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = " ".repeat(first);
    let mut is_empty = true;
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        let after = if is_last { 0 } else { continued.chars().count() };
        let needed = line.chars().count() + usize::from(!is_empty) + part.chars().count() + after;
        if !is_empty && needed > width {
            lines.push(line + continued);
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(part);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The parts of a command line that stay on one line: words, quoted texts, groups in brackets, and
/// options with their values.
fn parts(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote, mut depth) = (String::new(), None, 0_u32);
    for c in text.chars() {
        match (quote, c) {
            (None, ' ') if depth == 0 => {
                words.push(std::mem::take(&mut word));
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '<' | '(') => depth += 1,
            (None, '>' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        word.push(c);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        let takes_value = |last: &&mut String| last.starts_with("--") && !last.contains([' ', '=']);
        match parts.last_mut().filter(takes_value) {
            Some(last) if !word.starts_with(['-', '[', '|', '&', '\\']) => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => parts.push(word),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::{Cli, help};

    #[test]
    fn every_help_fits_the_width() {
        fn check(command: &Command, width: usize, wider: &mut Vec<String>) {
            let mut leaf = command.clone();
            for help in [leaf.render_help(), leaf.render_long_help()] {
                let help = help.to_string();
                // A single word, such as a hash, stays whole.
                let is_wider =
                    |line: &&str| line.chars().count() > width && line.trim().contains(' ');
                let lines = help.lines().filter(is_wider);
                wider.extend(lines.map(|line| format!("{}: {line}", command.get_name())));
            }
            command.get_subcommands().for_each(|inner| check(inner, width, wider));
        }
        for width in [60, 80, 100] {
            let mut wider = Vec::new();
            check(&fitted(help::grouped(Cli::command(), width), width), width, &mut wider);
            assert!(wider.is_empty(), "{width}:\n{}", wider.join("\n"));
        }
    }

    #[test]
    fn examples_stay_commands_and_prose_is_refilled() {
        let text = "Examples:\n  corridor a --one 'x y' \\\n    --two 2 --three\n  corridor b     (a remark)\n\n\
                    One two three four.\nFive six seven.";
        let expected = "Examples:\n  corridor a \\\n    --one 'x y' \\\n    --two 2 --three\n  corridor b\n    \
                        (a remark)\n\nOne two three four.\nFive six seven.";
        assert_eq!(filled(text, 20), expected);
        let wide = "Examples:\n  corridor a --one 'x y' --two 2 --three\n  corridor b     (a remark)\n\n\
                    One two three four. Five six seven.";
        assert_eq!(filled(text, 80), wide);
        assert_eq!(
            parts("corridor x [OPTIONS] --id <ID> <--iban <IBAN>|--account <NUMBER>> <BODY>"),
            [
                "corridor",
                "x",
                "[OPTIONS]",
                "--id <ID>",
                "<--iban <IBAN>|--account <NUMBER>>",
                "<BODY>"
            ]
        );
    }
}
