//! Where the time of a payment goes: runs `corridor bench payments` at a given rate on its own
//! PostgreSQL cluster, samples the whole machine with `perf`, and writes the stacks of server, load and
//! PostgreSQL as folded lines, beside a table of CPU time per payment.
//!
//! Started by `cargo xtask profile`, which builds the program with frame pointers first.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::postgres::{Cluster, Options};
use testkit::wait;

/// Samples per second and core.
const FREQUENCY: u64 = 499;
/// Load before the samples, in seconds.
const WARM_UP_S: u64 = 5;
/// Load after the samples, so that they never contain its end.
const MARGIN_S: u64 = 5;
const CLIENTS: &str = "64";
/// Maximum wait for the server to start.
const START_MAX: Duration = Duration::from_secs(60);
/// Stacks with a smaller share of all samples are not listed, in thousandths.
const SMALL: u64 = 1;

/// Layers of our processes by the beginnings of paths in their frames. The innermost frame with a
/// layer decides, except for [`SHARED`]; `domain` belongs to whatever calls it.
const LAYERS: [(&str, &[&str]); 6] = [
    ("simulated bank", &["testkit::", "service::sandbox"]),
    ("rails", &["adapters::"]),
    (
        "store, encoding",
        &["store::", "tokio_postgres::", "postgres_types::", "postgres_protocol::", "rusqlite::"],
    ),
    ("engine", &["engine::"]),
    ("HTTP", &["http_api::", "axum::", "hyper::server::", "hyper::proto::h1::role::Server"]),
    ("load", &["bench::"]),
];
/// Paths that servers and clients of HTTP share: they belong to whatever calls them, and to `HTTP` if
/// only they have called each other.
const SHARED: [&str; 6] =
    ["hyper::", "hyper_util::", "tower::", "tower_http::", "httparse::", "reqwest::"];
/// Paths of clients alone: they are spawned, and no frame of their caller is left.
const CLIENT: [&str; 3] = ["reqwest::", "hyper::client::", "hyper_util::client::"];
/// Requests to banks, webhooks and nodes.
const OUTBOUND: &str = "outbound HTTP";
/// What has no frame of a layer.
const RUNTIME: &str = "runtime, kernel";

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [program, rate, seconds, out] = &args[..] else {
        eprintln!("usage: profile <corridor> <payments per second> <seconds> <docs/profiles/NAME>");
        return ExitCode::from(2);
    };
    match profile(Path::new(program), rate, seconds, Path::new(out)) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn profile(program: &Path, rate: &str, seconds: &str, out: &Path) -> Result<String, Failure> {
    let found = Command::new("perf").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Err("perf is missing: install it, on Debian as the package linux-perf".into());
    }
    let measured_s: u64 = seconds.parse()?;
    let cluster = Cluster::start(&Options { durable: true, ..Options::default() })?;
    let url = cluster.database("profile")?;
    let mut load = Command::new(program);
    load.args(["bench", "payments", "--output", "json", "--clients", CLIENTS]);
    load.args(["--open-loop", rate, "--database-url", &url]);
    load.args(["--warmup", &WARM_UP_S.to_string()]);
    load.args(["--seconds", &(measured_s + MARGIN_S).to_string()]);
    let load = load.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let (load, sampled) = sample(Load(Some(load)), measured_s)?;
    let output = load.finish()?;
    if !output.status.success() {
        return Err(format!("the benchmark failed: {}", output.status).into());
    }
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the benchmark failed: {error}"))?;
    let rate = whole(&report, "payments_per_s")?;
    let table = sampled.table(rate, measured_s, &report["settled_per_s"]);
    let (folded, written) = (out.with_extension("folded"), out.with_extension("md"));
    std::fs::create_dir_all(out.parent().unwrap_or_else(|| Path::new(".")))?;
    std::fs::write(&folded, sampled.folded())?;
    std::fs::write(&written, &table)?;
    Ok(format!("{table}\nWritten to {} and {}.\n", folded.display(), written.display()))
}

/// The whole part of a figure.
fn whole(report: &Value, name: &str) -> Result<u64, Failure> {
    let figure = report[name].to_string();
    let whole = figure.split('.').next().unwrap_or_default();
    Ok(whole.parse().map_err(|_| format!("no {name}: {report}"))?)
}

/// The benchmark, which ends with this program: also if that fails.
struct Load(Option<Child>);

impl Load {
    fn finish(mut self) -> Result<Output, Failure> {
        let load = self.0.take().ok_or("the load has ended")?;
        Ok(load.wait_with_output()?)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let Some(load) = &mut self.0 else { return };
        // Its server ends with it. It may have ended by itself.
        let _ = load.kill();
        let _ = load.wait();
    }
}

/// Records `seconds` of the machine once the load has warmed up.
fn sample(mut load: Load, seconds: u64) -> Result<(Load, Samples), Failure> {
    let child = load.0.as_mut().ok_or("the load has ended")?;
    let id = child.id();
    let mut server = None;
    wait::until(START_MAX, || {
        server = child_of(id);
        server.is_some() || !matches!(child.try_wait(), Ok(None))
    });
    let server = server.ok_or("the benchmark started no server")?;
    // The server starts, and the load warms up.
    let before_s = WARM_UP_S + MARGIN_S / 2;
    let data = std::env::temp_dir().join(format!("corridor-profile-{}.data", std::process::id()));
    let recorded = Command::new("perf")
        .args(["record", "-a", "-g", "-e", "cpu-clock", "-F", &FREQUENCY.to_string(), "-q"])
        .args(["-D", &(before_s * 1_000).to_string(), "-o"])
        .arg(&data)
        .args(["--", "sleep", &(before_s + seconds).to_string()])
        .output()?;
    if !recorded.status.success() {
        let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
        return Err(format!("perf record failed (it needs root or CAP_PERFMON): {said}").into());
    }
    let mut script = Command::new("perf")
        .args(["script", "--no-inline", "-F", "comm,pid,ip,sym", "-i"])
        .arg(&data)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let out = script.stdout.take().ok_or("the output of perf script")?;
    let samples = Samples::read(BufReader::new(out), server, id)?;
    let ended = script.wait()?;
    if !ended.success() {
        return Err(format!("perf script failed: {ended}").into());
    }
    std::fs::remove_file(&data)?;
    Ok((load, samples))
}

/// A child of this process.
fn child_of(parent: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    children.ok()?.split_whitespace().next()?.parse().ok()
}

#[derive(Default)]
struct Samples {
    /// Samples by stack, outermost frame first, beginning with process and layer.
    stacks: BTreeMap<Vec<String>, u64>,
    /// Samples of other processes; idle ones are not recorded.
    others: u64,
}

impl Samples {
    /// Reads the output of `perf script`: a line for the process, then a line for each frame, the
    /// innermost first, then an empty line.
    fn read(lines: impl BufRead, server: u32, load: u32) -> std::io::Result<Samples> {
        let mut samples = Samples::default();
        let mut head: Option<String> = None;
        let mut frames: Vec<String> = Vec::new();
        for line in lines.split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            let text = line.trim();
            if text.is_empty() {
                if let Some(head) = head.take() {
                    samples.add(&head, &frames, server, load);
                }
                frames.clear();
            } else if line.starts_with(char::is_whitespace) && head.is_some() {
                let (_, symbol) = text.split_once(' ').unwrap_or(("", text));
                frames.push(shown(symbol));
            } else {
                head = Some(text.to_owned());
            }
        }
        Ok(samples)
    }

    fn add(&mut self, head: &str, frames: &[String], server: u32, load: u32) {
        let (comm, pid) = head.rsplit_once(char::is_whitespace).unwrap_or((head, ""));
        let pid = pid.parse::<u32>().unwrap_or(0);
        let process = match comm.trim() {
            _ if pid == server => "server",
            _ if pid == load => "load",
            "postgres" => "PostgreSQL",
            _ => {
                self.others += u64::from(pid != 0);
                return;
            }
        };
        let layer = match process {
            "server" => layer_of(frames),
            other => other,
        };
        let mut stack = vec![process.to_owned(), layer.to_owned()];
        stack.extend(frames.iter().rev().cloned());
        *self.stacks.entry(stack).or_default() += 1;
    }

    /// A line for each stack; small ones count for the stack of their caller.
    fn folded(&self) -> String {
        let all: u64 = self.stacks.values().sum();
        let mut stacks = self.stacks.clone();
        let deepest = stacks.keys().map(Vec::len).max().unwrap_or_default();
        for depth in (3..=deepest).rev() {
            let is_small =
                |stack: &[String], count: u64| stack.len() == depth && count * 1_000 < all * SMALL;
            let small = stacks.extract_if(.., |stack, count| is_small(stack, *count));
            for (stack, count) in small.collect::<Vec<_>>() {
                *stacks.entry(stack[..depth - 1].to_vec()).or_default() += count;
            }
        }
        stacks.iter().map(|(stack, count)| format!("{} {count}\n", stack.join(";"))).collect()
    }

    /// CPU time per payment by process and layer.
    fn table(&self, rate: u64, seconds: u64, settled: &Value) -> String {
        let mut layers: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (stack, count) in &self.stacks {
            *layers.entry((&*stack[0], &*stack[1])).or_default() += count;
        }
        let us = |samples: u64| samples * 1_000_000 / FREQUENCY / (rate * seconds).max(1);
        let mut out = format!(
            "# CPU time of a payment\n\n{rate} payments per second for {seconds} s ({settled} settled), server, database and load \
             on one machine; {FREQUENCY} samples per second and core. Written by `cargo xtask profile`.\n\n\
             | Process | Layer | µs a payment |\n|---|---|---|\n"
        );
        for ((process, layer), count) in &layers {
            out += &format!("| {process} | {layer} | {} |\n", us(*count));
        }
        let all = self.stacks.values().sum();
        out + &format!(
            "| all of these | | {} |\n| other processes | | {} |\n",
            us(all),
            us(self.others)
        )
    }
}

/// A symbol without its hash and without what separates frames.
fn shown(symbol: &str) -> String {
    let end = symbol.len().checked_sub(19).filter(|at| symbol.is_char_boundary(*at));
    let cut = end.filter(|at| symbol[*at..].starts_with("::h")).unwrap_or(symbol.len());
    symbol[..cut].replace(';', ":").replace(' ', "_")
}

/// The layer of a stack, innermost frame first.
fn layer_of(frames: &[String]) -> &'static str {
    let has = |paths: &[&str]| {
        frames.iter().any(|frame| paths.iter().any(|path| position(frame, path).is_some()))
    };
    if let Some(layer) = frames.iter().find_map(|frame| layer(frame)) {
        return layer;
    }
    match (has(&CLIENT), has(&SHARED)) {
        (true, _) => OUTBOUND,
        (false, true) => "HTTP",
        (false, false) => RUNTIME,
    }
}

/// The layer of a frame: that of the first path in it that has one.
fn layer(frame: &str) -> Option<&'static str> {
    let found = LAYERS.iter().flat_map(|(name, paths)| {
        paths.iter().filter_map(|path| Some((position(frame, path)?, *name)))
    });
    found.min().map(|(_, name)| name)
}

/// Where a path begins in a frame.
fn position(frame: &str, path: &str) -> Option<usize> {
    let mut found = frame.match_indices(path).map(|(at, _)| at);
    // `base64::engine::` belongs to another crate.
    found.find(|at| !frame[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "\
tokio-rt  4711
\t    55d0 store::save::writes::h0123456789abcdef
\t    55d1 engine::batcher::Batcher::run::h0123456789abcdef

postgres  12
\t    aa00 ExecInsert
\t    aa01 main

postgres  13
\t    aa00 ExecInsert
\t    aa01 main

swapper     0
\t ffff default_idle

cc1  99
\t 1 main

tokio-rt  4711
\t ffff tcp_sendmsg
";

    #[test]
    fn samples_are_folded_by_process_and_layer() {
        // The last sample of a script ends with an empty line, too.
        let samples = Samples::read(format!("{SCRIPT}\n").as_bytes(), 4711, 4710).expect("reads");
        assert_eq!(
            samples.folded(),
            "PostgreSQL;PostgreSQL;main;ExecInsert 2\n\
             server;runtime, kernel;tcp_sendmsg 1\n\
             server;store, encoding;engine::batcher::Batcher::run;store::save::writes 1\n"
        );
        assert_eq!(samples.others, 1);
        let table = samples.table(100, 1, &Value::Null);
        assert!(table.contains("| PostgreSQL | PostgreSQL | 40 |"), "{table}");
    }

    #[test]
    fn a_frame_belongs_to_the_layer_of_its_path() {
        for (frame, expected) in [
            ("<http_api::server::Served as hyper::service::Service>::call", Some("HTTP")),
            ("tokio::runtime::task::raw::poll<engine::workers::Workers>", Some("engine")),
            ("base64::engine::general_purpose::encode", None),
            ("my_store::save", None),
            ("<engine::relay::Relay as store::Watch>::look", Some("engine")),
            (
                "<store::Store as engine::Reads>::read<adapters::rails::Rail>",
                Some("store, encoding"),
            ),
            ("tokio::poll<http_api::answer<engine::workers::Workers>>", Some("HTTP")),
            ("hyper::proto::h1::io::Buffered::poll_flush", None),
            ("domain::ledger::book", None),
        ] {
            assert_eq!(layer(frame), expected, "{frame}");
        }
    }

    #[test]
    fn outbound_requests_are_not_the_servers() {
        let stack = |frames: &[&str]| {
            let frames: Vec<String> = frames.iter().map(|frame| (*frame).to_owned()).collect();
            layer_of(&frames)
        };
        let write = "hyper::proto::h1::io::Buffered::poll_flush";
        for (frames, expected) in [
            (&[write, "hyper_util::server::conn::auto::Connection::poll"][..], "HTTP"),
            (&[write, "http_api::server::serve"], "HTTP"),
            (&[write, "reqwest::async_impl::client::Pending", "adapters::rails::send"], "rails"),
            (&[write, "hyper::client::conn::http1::Connection::poll"], "outbound HTTP"),
            (&["hyper_util::client::legacy::pool::Pool::checkout"], "outbound HTTP"),
            (&["epoll_wait", "tokio::runtime::park"], "runtime, kernel"),
        ] {
            assert_eq!(stack(frames), expected, "{frames:?}");
        }
    }
}
