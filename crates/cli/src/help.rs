//! The help of `corridor` itself: its commands in groups, within 80 columns.

use std::fmt::Write as _;

use clap::Command;

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
        &["review", "ledger", "rails", "rates", "chain", "audit", "export"],
    ),
    ("Access", Shown::Listed, &["tenants", "customers", "users", "keys", "token", "webhooks"]),
    (
        "Server",
        Shown::Listed,
        &["serve", "relay", "migrate", "config", "healthcheck", "bench", "completions", "man"],
    ),
];

/// The command with its subcommands in groups; clap has headings for options alone.
pub fn grouped(command: Command) -> Command {
    let (heading, literal) =
        (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut groups = String::new();
    for (group, shown, names) in GROUPS {
        writeln!(groups, "{heading}{group}{heading:#}").expect("writing to a string");
        let inner = names.iter().filter_map(|name| command.find_subcommand(name));
        if shown == Shown::Listed {
            let names = inner.map(Command::get_name).collect::<Vec<_>>().join(", ");
            writeln!(groups, "  {literal}{names}{literal:#}\n").expect("writing to a string");
            continue;
        }
        for inner in inner {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let name = inner.get_name();
            writeln!(groups, "  {literal}{name:<NAME_WIDTH$}{literal:#}  {about}")
                .expect("writing to a string");
        }
        groups.push('\n');
    }
    command.override_usage("corridor <command>").help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\
         corridor <command> --help explains one. Docs: corridor open docs{{after-help}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn every_command_is_in_one_group_within_80_columns() {
        let names: Vec<&str> = GROUPS.iter().flat_map(|(_, _, names)| *names).copied().collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            names.len(),
            "a name is listed twice"
        );
        for command in Cli::command().get_subcommands() {
            assert!(names.contains(&command.get_name()), "{} is in no group", command.get_name());
        }
        let help = grouped(Cli::command()).term_width(80).render_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for part in ["Usage: corridor <command>\n", "\nPayments\n  quote         Create a quote\n"]
        {
            assert!(help.contains(part), "{part:?}: {help}");
        }
    }
}
