//! Runs one fuzz target under libFuzzer: the one that `CORRIDOR_FUZZ_TARGET` names. Without it, the
//! names of all targets are printed.

#![no_main]

use std::io::Write as _;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

const ENV_TARGET: &str = "CORRIDOR_FUZZ_TARGET";

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fn choose() {
    let targets = || {
        let of_crates = [&adapters::fuzz::TARGETS[..], &http_api::fuzz::TARGETS];
        of_crates.into_iter().flatten().chain(&operator_console::fuzz::TARGETS)
    };
    let name = std::env::var(ENV_TARGET).unwrap_or_default();
    match targets().find(|(known, _)| *known == name) {
        Some((_, target)) => {
            TARGET.get_or_init(|| *target);
        }
        None => {
            let names: String = targets().map(|(name, _)| format!("{name}\n")).collect();
            let written = std::io::stdout().write_all(names.as_bytes());
            std::process::exit(if name.is_empty() && written.is_ok() { 0 } else { 2 });
        }
    }
}

fuzz_target!(
    init: choose(),
    |input: &[u8]| {
        if let Some(target) = TARGET.get() {
            target(input);
        }
    }
);
