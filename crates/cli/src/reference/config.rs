//! The configuration reference by section: the complete text of `corridor config reference`.

use std::fmt::Write as _;

use super::{check, head};
use config::{PRESETS, REFERENCE};

/// `corridors` of `[corridors.PAK]`, `rails` of `[[rails]]`.
fn section(line: &str) -> Option<&str> {
    let name =
        line.strip_prefix('[')?.strip_suffix(']')?.trim_start_matches('[').trim_end_matches(']');
    name.split('.').next()
}

/// The start of each section, with the comment right above it.
fn starts<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut starts: Vec<(usize, &str)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) =
            section(line).filter(|name| starts.last().is_none_or(|(_, last)| last != name))
        {
            // A divider with the section's title may be separate from its comment.
            let above = lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.starts_with('#') || line.is_empty());
            let rule = lines[..at].iter().rposition(|line| line.starts_with("# ----"));
            let begin = at - above.count();
            starts.push((rule.filter(|rule| *rule >= begin).unwrap_or(begin), name));
        }
    }
    starts
}

#[test]
fn config_md_is_the_embedded_reference() {
    let lines: Vec<&str> = REFERENCE.lines().collect();
    let starts = starts(&lines);
    let names: Vec<&str> = starts.iter().map(|(_, name)| *name).collect();
    assert!(
        names.starts_with(&["http", "store", "security"]) && names.contains(&"rails"),
        "{names:?}"
    );
    let mut out = head("Configuration");
    out.push_str(
        "\nThis is what `corridor config reference` prints, by section.\n\n## How it is read\n",
    );
    let first = starts.first().map_or(lines.len(), |(at, _)| *at);
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]);
    let block = |out: &mut String, text: &[&str]| {
        write!(out, "\n```toml\n{}\n```\n", text.join("\n").trim()).expect("writing to a string");
    };
    block(&mut out, &lines[..first]);
    for ((from, name), to) in starts.iter().zip(ends) {
        write!(out, "\n## {name}\n").expect("writing to a string");
        block(&mut out, &lines[*from..to]);
    }
    out.push_str("\n## Presets\n\nThe values that `chain.preset` sets:\n");
    block(&mut out, &PRESETS.lines().collect::<Vec<_>>());
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        assert!(out.contains(line), "{line}");
    }
    check("config.md", &out);
}
