//! `corridor doctor`: finds what prevents this installation from working, and how to fix it.
//!
//! Read-only apart from probe files in the data directory and in the rails' directories, which it
//! removes again. It creates neither keys nor a database.

mod public;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adapters::oidc;
use clap::Args;
use console::measure_text_width;
use domain::chain::ChainNumber;
use domain::ports::Clock as _;
use http_api::auth::Service;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use store::Store;

use super::api::{self, ApiArgs};
use super::colour::Tone;
use super::config::ConfigArgs;
use super::failure::Failure;
use super::health::probe_url;
use super::output::{self, Output};
use super::table::wrapped;
use super::{Context, run_async};
use client::{Client, ClientError, Credentials, DataDir, http_client, sandbox_base_url};
use config::{self, Config, KeySource, OfChain, StoreLocation};
use service::clock::WallClock;
use service::installation::{has_key, is_begun, is_sealed, missing_directory};
pub use service::preflight::{Finding, Level};
use service::{chain, open_store, preflight, world};

/// Clock skew above this makes tokens fail, in seconds (`decisions.md`, "JWT": the leeway).
const MAX_SKEW_S: i64 = 60;
/// Clock skew above this is a warning, in seconds.
const LOW_SKEW_S: i64 = 10;
/// Widths of the report's columns, with the space after them.
const RESULT_WIDTH: usize = 9;
const NAME_WIDTH: usize = 21;
/// The least width of a detail beside its name.
const BESIDE_MIN: usize = 36;
/// Timeout for an answer of the service, in seconds.
const TIMEOUT_S: u64 = 5;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor doctor --output json
  corridor doctor --deep --config /etc/corridor/corridor.toml

Run it as the user of the service: another one has other permissions. --deep asks banks, nodes and list servers, and
changes nothing there.

Exit code 1 if a check is wrong; warnings do not count.")]
pub struct DoctorArgs {
    /// Also ask everything outside: rates by pair, lists, rails, nodes, TLS, database, backup
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    api: ApiArgs,
}

pub fn run(args: &DoctorArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let mut findings = Vec::new();
    match args.config.load() {
        Ok(config) => {
            findings.push(configuration(&config));
            findings.push(key_file(&config, data_dir.path()));
            findings.extend(secret_files(&config, &args.config.sources(&[]).env));
            findings.push(database(&config, data_dir.path()));
            findings.extend(operators(&config, data_dir.path()));
            findings.extend(identity_provider(&config));
            findings.extend(loaded(&config, data_dir.path(), args.deep)?);
            if args.deep {
                findings.extend(public::seen(&config)?);
            }
        }
        Err(failure) => {
            findings.push(Finding::new("configuration", Level::Wrong, failure.to_string()))
        }
    }
    findings.push(directory(data_dir.path()));
    findings.push(preflight::disk(data_dir.path()));
    findings.extend(service(args, &data_dir)?);
    report(&findings, context.output)
}

/// Prints the findings; fails if one is wrong.
pub fn report(findings: &[Finding], output: Output) -> Result<(), Failure> {
    let wrong = findings.iter().filter(|finding| finding.level == Level::Wrong).count();
    match output {
        Output::Table => {
            let lines = findings.iter().flat_map(|finding| lines(finding, output::width()));
            lines.into_iter().try_for_each(|line| output::line(&line))?
        }
        Output::Json => output::json(&json!({
            "healthy": wrong == 0,
            "findings": findings.iter().map(document).collect::<Vec<_>>(),
        }))?,
    }
    if wrong == 0 {
        Ok(())
    } else {
        let are = if wrong == 1 { "is" } else { "are" };
        Err(Failure::Refused(format!("{wrong} of {} checks {are} wrong", findings.len())))
    }
}

/// A finding on as many lines as its detail needs: what is wrong is never cut off. A detail that has
/// little room beside the name, or a longer word, begins below the name.
fn lines(finding: &Finding, width: usize) -> Vec<String> {
    let beside = width.saturating_sub(RESULT_WIDTH + NAME_WIDTH);
    let longest = finding.detail.split_whitespace().map(measure_text_width).max().unwrap_or(0);
    let is_beside = beside >= BESIDE_MIN.max(longest) && finding.name.len() < NAME_WIDTH;
    let indent = if is_beside { RESULT_WIDTH + NAME_WIDTH } else { RESULT_WIDTH };
    let result = format!("{:<RESULT_WIDTH$}", finding.level.name());
    let result = Tone::of_state(finding.level.name()).paint(&result);
    let mut detail = wrapped(&finding.detail, width.saturating_sub(indent)).into_iter();
    let first = match is_beside {
        true => {
            let detail = detail.next().unwrap_or_default();
            format!("{result}{:<NAME_WIDTH$}{detail}", finding.name)
        }
        false => format!("{result}{}", finding.name),
    };
    let detail = detail.map(|rest| format!("{:indent$}{rest}", ""));
    std::iter::once(first).chain(detail).collect()
}

/// A finding in JSON.
pub fn document(finding: &Finding) -> Value {
    json!({ "name": finding.name, "result": finding.level.name().to_lowercase(), "detail": finding.detail })
}

fn configuration(config: &Config) -> Finding {
    let refusals = config::refuse_in_production(config);
    if refusals.is_empty() {
        return Finding::new(
            "configuration",
            Level::Ok,
            format!("valid; `serve` is environment {}", config.environment.name()),
        );
    }
    Finding::new(
        "configuration",
        Level::Wrong,
        format!("production refuses to start: {}", refusals.join("; ")),
    )
}

fn key_file(config: &Config, data_dir: &Path) -> Finding {
    const NAME: &str = "key-encryption key";
    if !config.security.key_encryption_key.is_empty() {
        return Finding::new(NAME, Level::Ok, "configured");
    }
    if !config.security.key_encryption_key_by_kms.is_empty() {
        let opened = run_async(async {
            let opened = service::installation::open_key(config, data_dir).await;
            opened.map_err(Failure::of_start)
        });
        return match opened {
            Ok(()) => Finding::new(NAME, Level::Ok, "configured, opened by KMS"),
            Err(failure) => Finding::new(NAME, Level::Wrong, failure.to_string()),
        };
    }
    let path = config::kek_path(data_dir);
    let shown = path.display();
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing_key_file(
            &shown.to_string(),
            run_async(async { is_sealed(config, data_dir).await.map_err(Failure::unavailable) }),
        ),
        Err(error) => Finding::new(NAME, Level::Wrong, format!("{shown}: {error}")),
        Ok(_) if config::key_encryption_key(config, data_dir).is_err() => Finding::new(
            NAME,
            Level::Wrong,
            format!("{shown}: does not hold a 32-byte key in base64"),
        ),
        Ok(metadata) if is_open_to_others(&metadata) => Finding::new(
            NAME,
            Level::Wrong,
            format!("{shown}: readable by other users; run chmod 600"),
        ),
        Ok(_) => Finding::new(NAME, Level::Ok, shown.to_string()),
    }
}

/// A start creates the key of a new database only.
fn missing_key_file(path: &str, sealed: Result<bool, Failure>) -> Finding {
    let (level, detail) = match sealed {
        Ok(false) => (Level::Ok, "will be created at first start"),
        Ok(true) => (
            Level::Wrong,
            "is missing, but the database is sealed with it: restore it from the backup",
        ),
        Err(_) => (
            Level::Warning,
            "is missing; whether the database needs it is not known until it can be reached",
        ),
    };
    Finding::new("key-encryption key", level, format!("{path} {detail}"))
}

/// Whether others can read the files with secrets or keys; `None` if there are none.
fn secret_files(config: &Config, env: &[(String, String)]) -> Option<Finding> {
    const NAME: &str = "secret files";
    let mut files = match config::secret_files(env) {
        Ok(files) => files,
        Err(error) => return Some(Finding::new(NAME, Level::Wrong, error.to_string())),
    };
    files.extend(database_key(config.store.url.expose()));
    files.retain(|file| !is_mounted(file));
    for OfChain { config, .. } in config.by_chain() {
        if config.wallets.enabled && config.chain.keys.source == KeySource::Keystore {
            let keys = config.chain.tenants.iter().flat_map(|tenant| tenant.key_names());
            files.extend(keys.map(PathBuf::from));
        }
    }
    if files.is_empty() {
        return None;
    }
    // Missing files are reported where they are read.
    let open: Vec<String> = files
        .iter()
        .filter(|file| std::fs::metadata(file).is_ok_and(|about| is_open_to_others(&about)))
        .map(|file| file.display().to_string())
        .collect();
    Some(match open.is_empty() {
        true => {
            Finding::new(NAME, Level::Ok, format!("{} readable by their owner only", files.len()))
        }
        false => Finding::new(
            NAME,
            Level::Wrong,
            format!("readable by other users; run chmod 600 {}", open.join(" ")),
        ),
    })
}

/// Whether a file is where Docker and Kubernetes mount secrets for the only user of a container.
fn is_mounted(file: &Path) -> bool {
    file.starts_with("/run/secrets")
}

/// `sslkey` of a PostgreSQL address.
fn database_key(url: &str) -> Option<PathBuf> {
    let (_, query) = url.strip_prefix("postgres").and_then(|rest| rest.split_once('?'))?;
    let key = query.split('&').find_map(|pair| pair.strip_prefix("sslkey="))?;
    percent_decode_str(key).decode_utf8().ok().map(|path| PathBuf::from(&*path))
}

/// Whether the database is reachable, has this version's schema, and belongs to this key.
fn database(config: &Config, data_dir: &Path) -> Finding {
    const NAME: &str = "database";
    if let Some(missing) = missing_directory(config, data_dir) {
        return Finding::new(NAME, Level::Wrong, missing);
    }
    if let StoreLocation::Sqlite(path) = config.store_location(data_dir)
        && (!path.exists() || is_begun(config, data_dir, &path))
    {
        return Finding::new(
            NAME,
            Level::Ok,
            format!("{} will be created at first start", path.display()),
        );
    }
    if !has_key(config, data_dir) {
        let sealed =
            run_async(async { is_sealed(config, data_dir).await.map_err(Failure::unavailable) });
        return match sealed {
            Ok(true) => Finding::new(
                NAME,
                Level::Skipped,
                "reachable, but cannot be read without its key-encryption key",
            ),
            Ok(false) => {
                Finding::new(NAME, Level::Ok, "reachable and empty; set up at first start")
            }
            Err(failure) => Finding::new(NAME, Level::Wrong, failure.to_string()),
        };
    }
    let mut made_by = None;
    let looked = run_async(async {
        let store = open_store(config, data_dir).await.map_err(Failure::unavailable)?;
        let encoding = service::environment::check_encoding(&store).await;
        encoding.map_err(|wrong| Failure::of_start(wrong.into()))?;
        store.ready().await.map_err(Failure::of_store)?;
        made_by = store.environment().await.map_err(Failure::of_store)?;
        Ok(())
    });
    match looked {
        Ok(()) => {
            let of = made_by.map_or_else(String::new, |made_by| {
                format!("; created by a {} service", made_by.name())
            });
            Finding::new(NAME, Level::Ok, format!("reachable, schema is up to date{of}"))
        }
        Err(failure) => Finding::new(NAME, Level::Wrong, failure.to_string()),
    }
}

/// Whether the keys that move money have gas and are registered with their controllers; `None`
/// where the program manages that itself.
fn operators(config: &Config, data_dir: &Path) -> Option<Finding> {
    const NAME: &str = "operators";
    let has_own = |it: &OfChain| {
        !it.config.chain_is_embedded() && it.config.chain.keys.source != KeySource::Seed
    };
    if !config.wallets.enabled || !config.by_chain().iter().any(has_own) {
        return None;
    }
    let looked = run_async(async {
        let Some(store) = existing_store(config, data_dir).await else { return Ok(None) };
        let tenants = store.tenants().await.map_err(Failure::of_store)?;
        let numbered = world::numbered_chains(config, Some(&store)).await;
        let mut missing = Vec::new();
        for (of, number) in numbered.map_err(Failure::unavailable)? {
            if !has_own(&of) {
                continue;
            }
            let (clock, number) = (Arc::new(WallClock), number.unwrap_or(ChainNumber::NONE));
            let in_use = chain::controllers_in_use(&store, &tenants, number).await;
            let in_use = in_use.map_err(Failure::unavailable)?;
            let side = chain::build(&of, number, data_dir, &tenants, in_use, clock, "").await;
            let found = side.map_err(Failure::unavailable)?.missing_of_operators(&tenants).await;
            let found = found.map_err(Failure::unavailable)?;
            let name = &of.config.chain.name;
            missing.extend(found.into_iter().map(|it| format!("{name}: {it}")));
        }
        if missing.is_empty() { Ok(Some(())) } else { Err(Failure::Refused(missing.join("; "))) }
    });
    Some(match looked {
        Ok(None) => Finding::new(NAME, Level::Skipped, "needs the database"),
        Ok(Some(())) => {
            Finding::new(NAME, Level::Ok, "have gas and are registered with their controllers")
        }
        Err(failure) => Finding::new(NAME, Level::Wrong, failure.to_string()),
    })
}

/// Whether the identity provider of the console answers; `None` where none is configured.
fn identity_provider(config: &Config) -> Option<Finding> {
    const NAME: &str = "identity provider";
    let settings = config.identity_provider()?;
    let looked = run_async(async {
        oidc::Provider::new(settings)
            .map_err(Failure::unavailable)?
            .look(WallClock.now())
            .await
            .map(drop)
            .map_err(Failure::unavailable)
    });
    Some(match looked {
        Ok(()) => Finding::new(NAME, Level::Ok, format!("{} answers", config.console.oidc.issuer)),
        // A warning only: console users cannot sign in, but the service serves.
        Err(failure) => Finding::new(NAME, Level::Warning, failure.to_string()),
    })
}

#[cfg(unix)]
fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_metadata: &std::fs::Metadata) -> bool {
    false
}

/// Whether the data directory can be written, or created: that is, what it would be created in.
pub fn directory(path: &Path) -> Finding {
    const NAME: &str = "data directory";
    let existing = path.ancestors().find(|part| part.as_os_str().is_empty() || part.exists());
    let existing = existing.filter(|part| !part.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let probe = existing.join(format!(".probe-{}", uuid::Uuid::new_v4().simple()));
    let written = std::fs::write(&probe, b"probe").and_then(|()| std::fs::remove_file(&probe));
    match written {
        Ok(()) if existing != path => {
            let detail = format!("{} will be created at first start", path.display());
            Finding::new(NAME, Level::Ok, detail)
        }
        Ok(()) => Finding::new(NAME, Level::Ok, format!("{} can be written", path.display())),
        Err(error) => Finding::new(NAME, Level::Wrong, format!("{}: {error}", path.display())),
    }
}

/// What `serve` loads at its start, and with `deep` everything outside.
fn loaded(config: &Config, data_dir: &Path, deep: bool) -> Result<Vec<Finding>, Failure> {
    run_async(async {
        let store = existing_store(config, data_dir).await;
        Ok(preflight::look(config, data_dir, store.as_ref(), deep).await)
    })
}

/// The store, if it exists and is ready; [`database`] reports why it is not.
pub async fn existing_store(config: &Config, data_dir: &Path) -> Option<Store> {
    if let StoreLocation::Sqlite(path) = config.store_location(data_dir)
        && !path.exists()
    {
        return None;
    }
    if !has_key(config, data_dir) {
        return None;
    }
    let store = open_store(config, data_dir).await.ok()?;
    store.ready().await.is_ok().then_some(store)
}

/// Reachability, clocks and keys, as far as each can be known.
fn service(args: &DoctorArgs, data_dir: &DataDir) -> Result<Vec<Finding>, Failure> {
    let given = args.api.given()?;
    let address = given.base_url.clone().or_else(|| sandbox_base_url(data_dir));
    let credentials = Credentials::find(Service::Pay, given, data_dir);
    api::wait_for(async {
        // Whether it is ready can be asked without a key.
        let Some(address) = address else {
            let why = credentials.err().map_or_else(String::new, |error| error.to_string());
            return Ok(vec![Finding::new("service", Level::Skipped, why)]);
        };
        let (reachable, mut findings) = reach(&address).await?;
        if reachable {
            findings.push(match credentials {
                Ok(credentials) => keys(credentials).await?,
                Err(error) => Finding::new("keys", Level::Skipped, error.to_string()),
            });
        }
        Ok(findings)
    })
}

async fn reach(base_url: &str) -> Result<(bool, Vec<Finding>), Failure> {
    let url = probe_url(base_url, "/readyz")?;
    let request = http_client()?.get(&url).timeout(std::time::Duration::from_secs(TIMEOUT_S));
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => {
            let message = ClientError::of_transport(&url, &error).to_string();
            return Ok((false, vec![Finding::new("service", Level::Wrong, message)]));
        }
    };
    let date = response
        .headers()
        .get(reqwest::header::DATE)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let status = response.status();
    let level = if status.is_success() { Level::Ok } else { Level::Wrong };
    let service = Finding::new("service", level, format!("{url} answers {}", status.as_u16()));
    Ok((true, vec![service, clocks(date.as_deref(), Timestamp::now())]))
}

fn clocks(date: Option<&str>, now: Timestamp) -> Finding {
    const NAME: &str = "clocks";
    let server = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let Some(server) = server else {
        return Finding::new(NAME, Level::Skipped, "the service sends no Date header");
    };
    let skew_s = now.as_second() - server.timestamp().as_second();
    let level = match skew_s.abs() {
        0..=LOW_SKEW_S => Level::Ok,
        skew if skew <= MAX_SKEW_S => Level::Warning,
        _ => Level::Wrong,
    };
    let side = if skew_s < 0 { "behind" } else { "ahead of" };
    Finding::new(
        NAME,
        level,
        format!(
            "this machine is {} s {side} the service; tokens allow {MAX_SKEW_S} s",
            skew_s.abs()
        ),
    )
}

async fn keys(credentials: Credentials) -> Result<Finding, Failure> {
    const NAME: &str = "keys";
    let access_key = credentials.access_key.clone();
    let client = Client::new(credentials)?;
    let query = [("country", "PAK".to_owned()), ("limit", "0".to_owned())];
    Ok(match client.get("/v2/payments", &query).await {
        Ok(_) => Finding::new(NAME, Level::Ok, format!("{access_key} is accepted")),
        Err(error) => Finding::new(
            NAME,
            Level::Wrong,
            format!("{access_key}: {error}; run `corridor token inspect` for details"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn clocks_are_compared() {
        let now: Timestamp = "2026-11-21T06:57:48Z".parse().expect("a time");
        for (date, level) in [
            (Some("Sat, 21 Nov 2026 06:57:48 GMT"), Level::Ok),
            (Some("Sat, 21 Nov 2026 06:57:18 GMT"), Level::Warning),
            (Some("Sat, 21 Nov 2026 06:59:48 GMT"), Level::Wrong),
            (Some("yesterday"), Level::Skipped),
            (None, Level::Skipped),
        ] {
            assert_eq!(clocks(date, now).level, level, "{date:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_open_or_broken_key_file_is_reported() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let config = Config::load(&config::Sources::default()).expect("valid");
        assert_eq!(key_file(&config, dir.path()).level, Level::Ok);
        config::key_encryption_key(&config, dir.path()).expect("made");
        assert_eq!(key_file(&config, dir.path()).level, Level::Ok);
        let path = config::kek_path(dir.path());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("set");
        assert_eq!(key_file(&config, dir.path()).level, Level::Wrong);
        std::fs::write(&path, "short").expect("written");
        assert!(key_file(&config, dir.path()).detail.contains("32-byte"));
    }

    #[test]
    fn the_key_of_the_databases_client_certificate_is_a_secret_file() {
        for (url, key) in [
            ("sqlite:corridor.db?sslkey=/k.pem", None),
            ("postgres://db/c?sslmode=require", None),
            ("postgres://me@db/c?sslmode=require&sslkey=/k.pem&sslcert=/c.pem", Some("/k.pem")),
            ("postgresql://db/c?sslkey=%2Fetc%2Fmy%20key.pem", Some("/etc/my key.pem")),
        ] {
            assert_eq!(database_key(url), key.map(PathBuf::from), "{url}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn secrets_that_others_can_read_are_reported() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let config = Config::load(&config::Sources::default()).expect("valid");
        let at = |name: &str| dir.path().join(name).display().to_string();
        std::fs::create_dir(at("secrets")).expect("created");
        for name in ["secrets/SECURITY__KEY_ENCRYPTION_KEY", "token"] {
            std::fs::write(at(name), "x").expect("written");
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(0o600)).expect("set");
        }
        let env = [
            ("CORRIDOR_SECRETS_DIR".to_owned(), at("secrets")),
            ("CORRIDOR_RATES__TOKEN_FILE".to_owned(), at("token")),
        ];
        let level = || secret_files(&config, &env).expect("files").level;
        assert_eq!(level(), Level::Ok);
        for name in ["secrets/SECURITY__KEY_ENCRYPTION_KEY", "token"] {
            for mode in [0o640, 0o604] {
                std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).expect("set");
                let found = secret_files(&config, &env).expect("files");
                assert_eq!(found.level, Level::Wrong, "{name}");
                assert!(found.detail.contains(&at(name)), "{found:?}");
            }
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(0o600)).expect("set");
        }
        assert!(secret_files(&config, &[]).is_none());

        let with_key = |path: &str| {
            let mut config = config.clone();
            let url = format!("postgres://db/c?sslmode=require&sslcert=/c.pem&sslkey={path}");
            config.store.url = config::Secret::new(url);
            secret_files(&config, &[])
        };
        assert!(with_key("/run/secrets/db.key").is_none(), "mounted with 0440");
        assert!(with_key("/run/secrets/corridor/db.key").is_none());
        for (mode, level) in [(0o600, Level::Ok), (0o640, Level::Wrong)] {
            std::fs::set_permissions(at("token"), PermissionsExt::from_mode(mode)).expect("set");
            assert_eq!(with_key(&at("token")).expect("a file").level, level, "{mode:o}");
        }
    }

    #[test]
    fn a_database_is_checked_and_never_created() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = Config::load(&config::Sources::default()).expect("valid");
        assert_eq!(database(&config, dir.path()).level, Level::Ok);
        let file = dir.path().join("corridor.db");
        assert!(!file.exists(), "looking makes none");
        std::fs::write(&file, b"").expect("written");
        assert_eq!(database(&config, dir.path()).level, Level::Ok, "as good as none");
        assert!(!config::kek_path(dir.path()).exists(), "nor a key");
        config::key_encryption_key(&config, dir.path()).expect("made");
        assert_eq!(database(&config, dir.path()).level, Level::Ok, "a first start ended early");
        let changed = SystemTime::now() + Duration::from_hours(1);
        let opened = std::fs::File::options().write(true).open(&file).expect("opened");
        opened.set_modified(changed).expect("changed");
        let emptied = database(&config, dir.path());
        assert_eq!(emptied.level, Level::Wrong, "{emptied:?}");
        assert!(emptied.detail.contains("is empty (0 bytes)"), "{emptied:?}");
        std::fs::remove_file(&file).expect("removed");
        let migrated = run_async(async {
            let store = open_store(&config, dir.path()).await.map_err(Failure::unavailable)?;
            store.migrate().await.map(drop).map_err(Failure::unavailable)
        });
        migrated.expect("migrated");
        let found = database(&config, dir.path());
        assert_eq!(found.level, Level::Ok, "{found:?}");
        std::fs::remove_file(config::kek_path(dir.path())).expect("removed");
        let lost = key_file(&config, dir.path());
        assert_eq!(lost.level, Level::Wrong, "{lost:?}");
        assert!(lost.detail.contains("restore it from the backup"), "{lost:?}");
        assert_eq!(database(&config, dir.path()).level, Level::Skipped);
        assert!(!config::kek_path(dir.path()).exists(), "looking makes none");
        config::key_encryption_key(&config, dir.path()).expect("another key");
        let found = database(&config, dir.path());
        assert_eq!(found.level, Level::Wrong, "{found:?}");
    }

    #[test]
    fn a_server_is_asked_without_a_key() {
        let dir = tempfile::tempdir().expect("a directory");
        let overrides = vec![(
            "store.url".to_owned(),
            "postgres://corridor@127.0.0.1:1/corridor?sslmode=disable".to_owned(),
        )];
        let config = Config::load(&config::Sources { overrides, ..Default::default() });
        let config = config.expect("valid");
        let found = database(&config, dir.path());
        assert_eq!(found.level, Level::Wrong, "{found:?}");
        assert!(found.detail.contains("127.0.0.1:1"), "{found:?}");
        assert_eq!(key_file(&config, dir.path()).level, Level::Warning);
        assert!(!config::kek_path(dir.path()).exists());
    }

    #[test]
    fn a_service_is_asked_without_a_key() {
        drop(rustls::crypto::ring::default_provider().install_default());
        let dir = tempfile::tempdir().expect("a directory");
        let args = DoctorArgs {
            deep: false,
            config: ConfigArgs::default(),
            api: ApiArgs::of("http://127.0.0.1:1"),
        };
        let found = service(&args, &DataDir::at(dir.path())).expect("findings");
        assert_eq!(found[0].level, Level::Wrong, "{found:?}");
    }

    #[test]
    fn an_unwritable_data_directory_is_reported() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(directory(&dir.path().join("new/corridor")).level, Level::Ok);
        assert!(!dir.path().join("new").exists(), "looking makes none");
        let file = dir.path().join("file");
        std::fs::write(&file, b"").expect("written");
        assert_eq!(directory(&file.join("below")).level, Level::Wrong);
    }

    #[test]
    fn a_long_detail_is_wrapped_and_complete() {
        let detail =
            "no rate for AED/PKR BHD/PKR EUR/PKR KWD/PKR MYR/PKR OMR/PKR: a file has columns";
        let lines = lines(&Finding::new("rate pairs", Level::Wrong, detail), 80);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= 80), "{lines:#?}");
        let said: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        assert_eq!(said.join(" "), format!("WRONG rate pairs {detail}"));
    }

    #[test]
    fn a_narrow_terminal_shows_the_detail_below_the_name() {
        let path = "/var/lib/corridor/installations/production/rates.csv";
        for detail in [
            "no rate for AED/PKR BHD/PKR EUR/PKR KWD/PKR MYR/PKR OMR/PKR: a file has columns"
                .to_owned(),
            format!("{path}: the file does not exist; write it, then run this command again"),
        ] {
            for width in 62..100 {
                let lines =
                    lines(&Finding::new("key-encryption key", Level::Wrong, &detail), width);
                assert!(lines.iter().all(|line| line.len() <= width), "{width}: {lines:#?}");
                let shown: Vec<&str> =
                    lines.iter().flat_map(|line| line.split_whitespace()).collect();
                assert_eq!(shown.join(" "), format!("WRONG key-encryption key {detail}"));
            }
        }
    }

    #[test]
    fn one_wrong_finding_fails_the_report() {
        let ok = Finding::new("a", Level::Ok, "");
        let warning = Finding::new("b", Level::Warning, "");
        let wrong = Finding::new("c", Level::Wrong, "");
        assert!(report(&[ok.clone(), warning], Output::Json).is_ok());
        assert_eq!(report(&[ok, wrong], Output::Json).expect_err("wrong").exit_code(), 1);
    }
}
