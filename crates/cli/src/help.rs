//! The help of `corridor` itself: its commands in groups.

use std::fmt::Write as _;

use clap::Command;

use super::table::wrapped;

/// Before and after the names.
const INDENT: usize = 2;
/// Width of the column of names.
const NAME_WIDTH: usize = 12;

/// How a group shows its commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// One per line, with what they do.
    Explained,
    Listed,
}

/// Each command in one group, in the order of the help.
const GROUPS: [(&str, Shown, &[&str]); 7] = [
    (
        "Start",
        Shown::Explained,
        &["sandbox", "open", "status", "env", "init", "doctor", "clock", "faucet"],
    ),
    ("Payments", Shown::Explained, &["quote", "pay", "payments", "accounts"]),
    ("Wallets", Shown::Explained, &["wallets", "requests", "tx", "orders", "rate"]),
    ("Events", Shown::Explained, &["listen", "trigger", "events", "certify"]),
    (
        "Operations",
        Shown::Explained,
        &["review", "approvals", "ledger", "rails", "rates", "chain", "audit", "export"],
    ),
    ("Access", Shown::Listed, &["tenants", "customers", "users", "keys", "token", "webhooks"]),
    (
        "Server",
        Shown::Listed,
        &[
            "serve",
            "relay",
            "migrate",
            "config",
            "openapi",
            "healthcheck",
            "bench",
            "completions",
            "man",
        ],
    ),
];

/// The command with its subcommands in groups; clap has headings for options alone.
pub fn grouped(command: Command, width: usize) -> Command {
    let (heading, literal) =
        (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut groups = String::new();
    for (group, shown, names) in GROUPS {
        writeln!(groups, "{heading}{group}{heading:#}").expect("writing to a string");
        let inner = names.iter().filter_map(|name| command.find_subcommand(name));
        if shown == Shown::Listed {
            let names = inner.map(Command::get_name).collect::<Vec<_>>().join(", ");
            for names in wrapped(&names, width.saturating_sub(INDENT)) {
                writeln!(groups, "{:INDENT$}{literal}{names}{literal:#}", "")
                    .expect("writing to a string");
            }
            groups.push('\n');
            continue;
        }
        for inner in inner {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let name = inner.get_name();
            let hang = INDENT + NAME_WIDTH + INDENT;
            let mut about = wrapped(&about, width.saturating_sub(hang)).into_iter();
            let first = about.next().unwrap_or_default();
            writeln!(groups, "{:INDENT$}{literal}{name:<NAME_WIDTH$}{literal:#}  {first}", "")
                .expect("writing to a string");
            for line in about {
                writeln!(groups, "{:hang$}{line}", "").expect("writing to a string");
            }
        }
        groups.push('\n');
    }
    let more = wrapped("corridor <command> --help explains one. Docs: corridor open docs", width)
        .join("\n");
    command.override_usage("corridor <command>").help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\
         {more}{{after-help}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_is_in_one_group_within_the_width() {
        let names: Vec<&str> = GROUPS.iter().flat_map(|(_, _, names)| *names).copied().collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "a name is listed twice"
        );
        for command in Cli::command().get_subcommands() {
            assert!(names.contains(&command.get_name()), "{} is in no group", command.get_name());
        }
        let help = |width: usize| {
            grouped(Cli::command(), width).term_width(width).render_help().to_string()
        };
        for width in [40, 60, 80] {
            for line in help(width).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
        let help = help(80);
        for part in [
            "Usage: corridor <command>\n",
            "\nPayments\n  quote         Create a quote: amounts, rate and fees\n",
        ] {
            assert!(help.contains(part), "{part:?}: {help}");
        }
    }
}
