//! XML against a schema, as `xmllint` finds it.

use std::path::Path;
use std::process::Command;

/// What it says of a file beside a schema; nothing where it is right.
pub fn lint(schema: &str, file: &Path) -> String {
    let done = Command::new("xmllint").args(["--noout", "--nonet", "--schema", schema]).arg(file).output();
    let done = done.expect("it runs");
    if done.status.success() { String::new() } else { String::from_utf8_lossy(&done.stderr).into_owned() }
}
