//! Every command with its help, as printed by `--help`.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use super::{check, head};
use crate::{Cli, help_text};

/// Width of the texts, that of a terminal.
const WIDTH: usize = 80;

const WORDS: &str = "
The output of `corridor COMMAND --help`. `corridor man --dir DIR` writes the same as manual pages, `corridor completions SHELL`
prints shell completions. *Global options* and options common to groups of commands are repeated for each command.
";

/// Removes the values of this run's environment.
fn without_values(command: Command) -> Command {
    command.mut_args(|arg: Arg| arg.hide_env_values(true)).mut_subcommands(without_values)
}

fn write(out: &mut String, command: &Command, path: &str) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let path = format!("{path} {}", inner.get_name());
        let mut leaf = inner.clone().disable_version_flag(true);
        let help: Vec<String> =
            leaf.render_help().to_string().lines().map(|line| line.trim_end().to_owned()).collect();
        let help = help.join("\n");
        let level = if path.matches(' ').count() == 1 { "##" } else { "###" };
        write!(out, "\n{level} {path}\n\n```text\n{}\n```\n", help.trim_end())
            .expect("writing to a string");
        write(out, inner, &path);
    }
}

#[test]
fn cli_md_matches_the_help() {
    let root = help_text::fitted(without_values(Cli::command()), WIDTH);
    let mut out = head("Commands") + WORDS;
    write(&mut out, &root, "corridor");
    assert!(out.contains("\n### corridor ledger verify\n"), "subcommands are included");
    check("cli.md", &out);
}
