//! `corridor env`: prints the running sandbox's addresses and keys as shell variables.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::Value;

use super::Context;
use super::failure::Failure;
use super::output::{self, Output};
use client::{DataDir, Sandbox};

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  eval \"$(corridor env)\"")]
pub struct EnvArgs {}

/// Prints one `export` line per variable.
pub fn run(_args: &EnvArgs, context: &Context) -> Result<(), Failure> {
    let sandbox = running(&context.data_dir()?)?;
    let variables = variables(&sandbox);
    match context.output {
        Output::Json => output::json(&Value::from_iter(variables)),
        Output::Table => {
            let export =
                |(name, value): (&String, &String)| format!("export {name}={}", quoted(value));
            output::line(&variables.iter().map(export).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// The running sandbox, from its file in the data directory.
pub fn running(data_dir: &DataDir) -> Result<Sandbox, Failure> {
    data_dir.sandbox()?.ok_or_else(|| {
        Failure::Usage(format!(
            "no running sandbox: {} not found; start one with `corridor sandbox`",
            data_dir.sandbox_file().display()
        ))
    })
}

/// The variables by name.
pub fn variables(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::from([
        ("CORRIDOR_BASE_URL".to_owned(), sandbox.base_url().to_owned()),
        ("CORRIDOR_ACCESS_KEY".to_owned(), sandbox.payment_access_key.clone()),
        ("CORRIDOR_SECRET_KEY".to_owned(), sandbox.payment_secret_key.expose().to_owned()),
    ]);
    for (key, value) in sandbox.others.iter().filter(|(key, _)| *key != "pid") {
        let name = format!("CORRIDOR_{}", key.to_ascii_uppercase());
        match value {
            Value::String(text) => drop(variables.insert(name, text.clone())),
            Value::Number(number) => drop(variables.insert(name, number.to_string())),
            Value::Object(members) => {
                variables.extend(members.iter().filter_map(|(member, value)| {
                    Some((
                        format!("{name}_{}", member.to_ascii_uppercase()),
                        value.as_str()?.to_owned(),
                    ))
                }))
            }
            _ => {}
        }
    }
    let is_name = |name: &String| {
        name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    variables.retain(|name, _| is_name(name));
    variables
}

/// Quotes a text in single quotes, safe for every POSIX shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_those_that_the_commands_read() {
        let sandbox: Sandbox = serde_json::from_str(
            r#"{"base_url":"http://127.0.0.1:1/","payment_access_key":"a","payment_secret_key":"it's","pid":7,
                "data_dir":"/d","chain_id":1337,"wallet_id":null,"tokens":{"USDC":"0x1"},"x y;z":"no"}"#,
        )
        .expect("a sandbox");
        let variables = variables(&sandbox);
        let names: Vec<&str> = variables.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "CORRIDOR_ACCESS_KEY",
                "CORRIDOR_BASE_URL",
                "CORRIDOR_CHAIN_ID",
                "CORRIDOR_DATA_DIR",
                "CORRIDOR_SECRET_KEY",
                "CORRIDOR_TOKENS_USDC"
            ]
        );
        assert_eq!(variables["CORRIDOR_BASE_URL"], "http://127.0.0.1:1");
        assert_eq!(quoted(&variables["CORRIDOR_SECRET_KEY"]), r"'it'\''s'");
    }
}
