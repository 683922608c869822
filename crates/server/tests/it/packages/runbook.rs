//! The runbook: a section for each alert, and only existing commands.

use std::collections::BTreeSet;

use super::{known, metrics, tree};

const RUNBOOK: &str = "docs/runbook.md";

/// The words of a command line, without quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut begun) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(c);
                begun = true;
            }
        }
    }
    words.extend(begun.then_some(word));
    words
}

#[test]
fn every_alert_has_its_section_and_no_section_is_about_nothing() {
    let runbook = tree(RUNBOOK);
    let sections: BTreeSet<&str> =
        runbook.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let mut meant = BTreeSet::new();
    for rule in metrics::alerts() {
        let name = rule["alert"].as_str().expect("a name");
        let link = rule["annotations"]["runbook"].as_str().expect("a link");
        let anchor =
            link.strip_prefix("docs/runbook.md#").unwrap_or_else(|| panic!("{name}: {link}"));
        let section = sections.iter().find(|section| section.to_ascii_lowercase() == anchor);
        meant
            .insert(*section.unwrap_or_else(|| panic!("{name}: {link}: there is no such section")));
    }
    assert_eq!(meant, sections, "sections that no alert leads to");
}

/// The commands in code blocks: fenced, or indented by four.
fn commands(text: &str) -> Vec<String> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            let line = line.trim().trim_start_matches("$ ");
            let line = line.strip_prefix("sudo ").unwrap_or(line);
            let args =
                line.strip_prefix("corridor-admin ").or_else(|| line.strip_prefix("corridor "));
            found.extend(args.map(str::to_owned));
        }
    }
    found
}

#[test]
fn commands_of_the_guides_are_commands() {
    for (path, least) in [(RUNBOOK, 20), ("ops/README.md", 2), ("ops/debian/README.Debian", 1)] {
        let commands = commands(&tree(path));
        assert!(commands.len() >= least, "{path}: {commands:?}");
        for command in commands {
            let args = words(command.split(" | ").next().unwrap_or(&command));
            known::command_line(&args.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

#[test]
fn commands_are_found_where_they_stand() {
    let text = "corridor is a program\n    sudo corridor-admin doctor\n```sh\n$ corridor quote --amount \'5 6\'\n```\ncorridor x\n";
    let found = commands(text);
    assert_eq!(found, ["doctor", "quote --amount \'5 6\'"]);
    assert_eq!(words(&found[1]), ["quote", "--amount", "5 6"]);
}
