//! `[relay.<name>]`: brokers that `corridor relay` sends the event logs to.

use adapters::outbound::is_on_this_machine;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::sinks::{NatsLogin, NatsSettings, NewStream};
use domain::policy::Environment;
use domain::relay::{EventLog, SubjectTemplate};
use domain::time::Span;
use engine::relay::{RelaySettings, RelayStart};
use secrecy::SecretString;
use serde::Deserialize;

use super::secret::Secret;
use super::sections::Config;
use super::validate::Faults;

/// Characters of the seed of an nkey: 36 bytes in Base32.
const SEED_CHARS: usize = 58;
/// Maximum length of a relay's name.
const NAME_MAX: usize = 40;

/// `start` of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    #[default]
    Oldest,
    Newest,
}

/// The keys of a section `[relay.<name>]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayEntry {
    pub servers: Vec<String>,
    #[serde(default)]
    pub authority_file: PathBuf,
    #[serde(default)]
    pub client_certificate_file: PathBuf,
    #[serde(default)]
    pub client_key_file: PathBuf,
    #[serde(default)]
    pub user: String,
    #[serde(default)]
    pub password: Secret,
    #[serde(default)]
    pub token: Secret,
    #[serde(default)]
    pub nkey_seed: Secret,
    #[serde(default)]
    pub credentials_file: PathBuf,
    #[serde(default = "stream")]
    pub stream: String,
    #[serde(default)]
    pub create_stream: bool,
    #[serde(default = "one")]
    pub replicas: usize,
    #[serde(default)]
    pub max_age_days: u32,
    #[serde(default = "duplicate_window_s")]
    pub duplicate_window_s: u32,
    #[serde(default = "subject")]
    pub subject: String,
    #[serde(default = "logs")]
    pub logs: Vec<String>,
    #[serde(default)]
    pub tenants: Vec<String>,
    #[serde(default)]
    pub start: Start,
    #[serde(default = "batch")]
    pub batch: usize,
    #[serde(default = "ack_timeout_ms")]
    pub ack_timeout_ms: u32,
    #[serde(default = "listen")]
    pub listen: SocketAddr,
}

fn stream() -> String {
    "CORRIDOR".to_owned()
}

const fn one() -> usize {
    1
}

const fn duplicate_window_s() -> u32 {
    600
}

fn subject() -> String {
    "corridor.{service}.{tenant}.{type}".to_owned()
}

fn logs() -> Vec<String> {
    EventLog::ALL.map(|log| log.name().to_owned()).to_vec()
}

const fn batch() -> usize {
    256
}

const fn ack_timeout_ms() -> u32 {
    5_000
}

fn listen() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8481))
}

fn given(path: &Path) -> Option<PathBuf> {
    (!path.as_os_str().is_empty()).then(|| path.to_owned())
}

impl RelayEntry {
    /// What it sends; `None` for an invalid entry, which is refused when it is read.
    pub fn settings(&self, name: &str, config: &Config) -> Option<RelaySettings> {
        let logs = self.logs.iter().map(|log| EventLog::parse(log));
        Some(RelaySettings {
            name: name.to_owned(),
            subject: SubjectTemplate::parse(&self.subject).ok()?,
            logs: logs.collect::<Option<_>>()?,
            tenants: self.tenants.clone(),
            start: match self.start {
                Start::Oldest => RelayStart::Oldest,
                Start::Newest => RelayStart::Newest,
            },
            batch: self.batch,
            lease: Span::secs(config.engine.lease_s.into()),
            poll: Span::millis(config.engine.poll_interval_ms.into()),
        })
    }

    /// The subjects of what it sends, each with a `*` for a token that differs: of one log, and of one
    /// tenant if it sends only some tenants' events.
    pub fn subjects(&self) -> Vec<String> {
        let Ok(template) = SubjectTemplate::parse(&self.subject) else { return Vec::new() };
        let all = template.to_string();
        let is_safe = |sign: char| sign.is_ascii_alphanumeric() || "_-".contains(sign);
        let token = |tag: &String| {
            tag.chars().map(|sign| if is_safe(sign) { sign } else { '_' }).collect::<String>()
        };
        let tags = match self.tenants.is_empty() {
            true => vec!["*".to_owned()],
            false => self.tenants.iter().map(token).collect(),
        };
        let of = |log: &String, tag: &String| {
            let subject = all.replace("{service}", log).replace("{tenant}", tag);
            subject.replace("{type}", "*.*")
        };
        self.logs.iter().flat_map(|log| tags.iter().map(move |tag| of(log, tag))).collect()
    }

    /// The broker that it sends to.
    pub fn nats(&self, name: &str) -> NatsSettings {
        let secret = |secret: &Secret| SecretString::from(secret.expose());
        let seconds = |number: u32| Duration::from_secs(number.into());
        let login = match given(&self.credentials_file) {
            Some(path) => NatsLogin::CredentialsFile(path),
            None if !self.nkey_seed.is_empty() => NatsLogin::Nkey(secret(&self.nkey_seed)),
            None if !self.token.is_empty() => NatsLogin::Token(secret(&self.token)),
            None if !self.user.is_empty() => {
                NatsLogin::User { user: self.user.clone(), password: secret(&self.password) }
            }
            None => NatsLogin::None,
        };
        let subject = SubjectTemplate::parse(&self.subject).map(|subject| subject.wildcard());
        NatsSettings {
            servers: self.servers.clone(),
            client: format!("corridor relay {name}"),
            authority_file: given(&self.authority_file),
            client_certificate: given(&self.client_certificate_file)
                .zip(given(&self.client_key_file)),
            login,
            stream: self.stream.clone(),
            create: self.create_stream.then(|| NewStream {
                subject: subject.unwrap_or_default(),
                replicas: self.replicas,
                max_age: seconds(self.max_age_days * 86_400),
                duplicate_window: seconds(self.duplicate_window_s),
            }),
            timeout: Duration::from_millis(self.ack_timeout_ms.into()),
        }
    }
}

pub(super) fn faults(config: &Config, faults: &mut Faults) {
    for (name, relay) in &config.relay {
        let key = |field: &str| format!("relay.{name}.{field}");
        let form = (1..=NAME_MAX).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        faults.check(
            format!("relay.{name}"),
            form,
            "the name must be 1 to 40 lower-case letters, digits and hyphens",
        );
        let usable = !relay.servers.is_empty() && relay.servers.iter().all(|it| is_server(it));
        faults.check(
            key("servers"),
            usable,
            "must be addresses such as \"tls://nats.bank.example:4222\", without credentials",
        );
        let pair = relay.client_certificate_file.as_os_str().is_empty()
            == relay.client_key_file.as_os_str().is_empty();
        faults.check(key("client_key_file"), pair, "goes together with client_certificate_file");
        login(relay, key, faults);
        let plain =
            |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let usable = (1..=255).contains(&relay.stream.len()) && plain(&relay.stream);
        faults.check(key("stream"), usable, "must be letters, digits, _ and -");
        if let Err(fault) = SubjectTemplate::parse(&relay.subject) {
            faults.add(key("subject"), fault.to_string());
        }
        let known = relay.logs.iter().all(|log| EventLog::parse(log).is_some());
        faults.check(
            key("logs"),
            known && !relay.logs.is_empty(),
            "must be \"payment\", \"wallet\" or both",
        );
        faults.within(key("replicas"), relay.replicas, 1, 5);
        faults.within(key("max_age_days"), relay.max_age_days, 0, 36_500);
        faults.within(key("duplicate_window_s"), relay.duplicate_window_s, 1, 86_400);
        let window = relay.max_age_days == 0
            || relay.duplicate_window_s <= relay.max_age_days.saturating_mul(86_400);
        faults.check(key("duplicate_window_s"), window, "must not exceed max_age_days");
        faults.within(key("batch"), relay.batch, 1, 1_000);
        faults.within(key("ack_timeout_ms"), relay.ack_timeout_ms, 100, 60_000);
    }
}

fn login(relay: &RelayEntry, key: impl Fn(&str) -> String, faults: &mut Faults) {
    let ways = [
        !relay.user.is_empty(),
        !relay.token.is_empty(),
        !relay.nkey_seed.is_empty(),
        !relay.credentials_file.as_os_str().is_empty(),
    ];
    faults.check(
        key("user"),
        ways.into_iter().filter(|is_used| *is_used).count() <= 1,
        "one of user, token, nkey_seed and credentials_file at most",
    );
    let seed = relay.nkey_seed.expose();
    faults.check(
        key("nkey_seed"),
        seed.is_empty() || is_user_seed(seed),
        "must be the seed of a NATS user: 58 characters that begin with SU",
    );
    faults.check(
        key("password"),
        relay.user.is_empty() == relay.password.is_empty(),
        "goes together with user",
    );
}

fn is_server(text: &str) -> bool {
    let url = reqwest::Url::parse(text).ok().filter(|url| ["nats", "tls"].contains(&url.scheme()));
    url.is_some_and(|url| {
        url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && ["", "/"].contains(&url.path())
            && url.port() != Some(0)
            && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "?#@\\".contains(c))
    })
}

/// Whether a text is the seed of an nkey of a user: Base32 of two bytes that say so (`SU…`), 32 bytes,
/// and their CRC-16/XMODEM, the low byte first.
fn is_user_seed(text: &str) -> bool {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    if text.len() != SEED_CHARS || !text.starts_with("SU") {
        return false;
    }
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0_u32);
    for letter in text.bytes() {
        let Some(value) = (0_u32..).zip(LETTERS).find(|(_, known)| **known == letter) else {
            return false;
        };
        (bits, count) = (bits << 5 | value.0, count + 5);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    let Some((key, checksum)) = bytes.split_last_chunk::<2>() else { return false };
    // Two bits are left over.
    bits == 0 && crc16(key) == u16::from_le_bytes(*checksum)
}

/// CRC-16/XMODEM: polynomial 0x1021, initially 0.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| match crc & 0x8000 {
            0 => crc << 1,
            _ => crc << 1 ^ 0x1021,
        })
    })
}

/// Events have names and account numbers: production sends them in TLS, or on this machine.
pub(super) fn refusals(config: &Config) -> Vec<String> {
    if config.environment != Environment::Production {
        return Vec::new();
    }
    let open = config.relay.iter().flat_map(|(name, relay)| {
        let is_open = |it: &&String| !it.starts_with("tls://") && !is_on_this_machine(it);
        let open = relay.servers.iter().filter(is_open);
        open.map(move |server| {
            format!(
                "relay.{name}.servers: {server}: must be tls: events have names and account numbers"
            )
        })
    });
    open.collect()
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::{ConfigError, Merged, REFERENCE, Sources, print, refuse_in_production};

    fn load(text: &str) -> Result<Config, ConfigError> {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("corridor.toml");
        std::fs::write(&file, text).expect("written");
        Config::load(&Sources { file: Some(file), ..Sources::default() })
    }

    fn relay(lines: &str) -> String {
        format!("[relay.warehouse]\nservers = [\"nats://127.0.0.1:4222\"]\n{lines}\n")
    }

    #[test]
    fn the_references_example_has_every_key_with_its_default() {
        let from = REFERENCE.find("# [relay.warehouse]").expect("an example");
        let example = REFERENCE[from..].lines().map_while(|line| line.strip_prefix("# "));
        let assigned = example.filter(|line| {
            let key = line.split(" = ").next().unwrap_or_default();
            line.contains(" = ") && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        });
        let shown: Table =
            assigned.collect::<Vec<_>>().join("\n").parse().expect("the example is TOML");
        let count = shown.len();
        let shown: RelayEntry = shown.try_into().expect("known keys");
        let servers = shown.servers.first().expect("a server");
        let config = load(&format!("[relay.warehouse]\nservers = [\"{servers}\"]\n"));
        let usual = format!("{:?}", config.expect("valid").relay["warehouse"]);
        assert_eq!(format!("{shown:?}"), usual);
        assert_eq!(usual.matches(": ").count(), count, "every key: {usual}");
    }

    #[test]
    fn the_entry_is_converted() {
        let config = load(&relay(
            "stream = \"EVENTS\"\ncreate_stream = true\nlogs = [\"wallet\"]\ntenants = [\"demobank\"]\n\
             start = \"newest\"\nmax_age_days = 2\nuser = \"corridor\"\npassword = \"s3cret\"\n",
        ))
        .expect("valid");
        let entry = &config.relay["warehouse"];
        let settings = entry.settings("warehouse", &config).expect("valid");
        assert_eq!(settings.role(), "relay:warehouse");
        assert_eq!((settings.logs, settings.start), (vec![EventLog::Wallet], RelayStart::Newest));
        let nats = entry.nats("warehouse");
        let created = nats.create.expect("created");
        assert_eq!(created.subject, "corridor.*.*.*.*");
        let subjects = |logs: &[&str], tenants: &[&str]| {
            let own = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
            RelayEntry { logs: own(logs), tenants: own(tenants), ..entry.clone() }.subjects()
        };
        assert_eq!(subjects(&["payment"], &[]), ["corridor.payment.*.*.*"]);
        assert_eq!(
            subjects(&["payment", "wallet"], &["demobank"]),
            ["corridor.payment.demobank.*.*", "corridor.wallet.demobank.*.*"]
        );
        assert_eq!(created.max_age, Duration::from_secs(2 * 86_400));
        assert!(matches!(nats.login, NatsLogin::User { user, .. } if user == "corridor"));
    }

    #[test]
    fn faults_name_the_relay_and_the_rule() {
        for (lines, key) in [
            ("subject = \"corridor.>\"", "relay.warehouse.subject"),
            ("logs = [\"quotes\"]", "relay.warehouse.logs"),
            ("logs = []", "relay.warehouse.logs"),
            ("batch = 0", "relay.warehouse.batch"),
            ("stream = \"a.b\"", "relay.warehouse.stream"),
            ("client_key_file = \"k.pem\"", "relay.warehouse.client_key_file"),
            ("user = \"a\"", "relay.warehouse.password"),
            ("token = \"t\"\nnkey_seed = \"S\"", "relay.warehouse.user"),
            ("nkey_seed = \"xx\"", "relay.warehouse.nkey_seed"),
            ("max_age_days = 1\nduplicate_window_s = 86401", "relay.warehouse.duplicate_window_s"),
            ("listen = \"here\"", "relay.warehouse.listen"),
            ("broker = \"kafka\"", "relay.warehouse.broker"),
        ] {
            let error = load(&relay(lines)).expect_err(lines).to_string();
            assert!(error.contains(key) && error.contains("corridor.toml"), "{error}");
        }
        for servers in [
            "[]",
            "[\"nats.example\"]",
            "[\"nats://u:p@h:1\"]",
            "[\"https://h\"]",
            "[\"nats://h/x\"]",
            "[\"nats://h?x\"]",
            "[\"nats://h:0\"]",
            "[\" nats://h\"]",
        ] {
            let text = format!("[relay.a]\nservers = {servers}\n");
            let error = load(&text).expect_err(servers).to_string();
            assert!(error.contains("relay.a.servers"), "{error}");
        }
        let error = load("[relay.A_b]\nservers = [\"tls://h:1\"]\n").expect_err("a name");
        assert!(error.to_string().contains("relay.A_b"), "{error}");
    }

    #[test]
    fn the_seed_of_a_nats_user_is_checked_and_not_shown() {
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
        assert!(load(&relay(&format!("nkey_seed = \"{seed}\""))).is_ok());
        let changed = format!("{}A{}", &seed[..30], &seed[31..]);
        for wrong in [
            "xx",
            "SU",
            // Of an account.
            "SAAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4HYMHI",
            &changed,
            &seed[..57],
            &format!("{seed}A"),
            &format!("{seed} "),
            &seed.to_lowercase(),
            &seed.replace('X', "1"),
            // The bits that are left over.
            &format!("{}Z", &seed[..57]),
        ] {
            let error = load(&relay(&format!("nkey_seed = \"{wrong}\""))).expect_err(wrong);
            let error = error.to_string();
            assert!(error.contains("relay.warehouse.nkey_seed"), "{error}");
            assert!(wrong.len() < 10 || !error.contains(&wrong[..wrong.len() - 1]), "{error}");
        }
    }

    #[test]
    fn a_relays_secrets_come_from_files_and_never_show() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let secret = write("password", "12345\n");
        let file = write("corridor.toml", &relay("user = \"corridor\"\ntoken = \"\""));
        let name = "CORRIDOR_RELAY__WAREHOUSE__PASSWORD_FILE".to_owned();
        let env = vec![(name, secret.display().to_string())];
        let sources = Sources { file: Some(file), env, ..Sources::default() };
        let merged = Merged::read(&sources).expect("read");
        let config = Config::from_merged(&merged).expect("valid");
        assert_eq!(config.relay["warehouse"].password.expose(), "12345");
        assert!(config.plain_text_secrets.is_empty(), "{:?}", config.plain_text_secrets);
        assert!(!print(&merged).contains("12345"));
        let config = load(&relay("user = \"corridor\"\npassword = \"12345\"")).expect("valid");
        assert_eq!(config.plain_text_secrets, ["relay.warehouse.password"]);
    }

    #[test]
    fn production_sends_events_in_tls() {
        let reasons = |servers: &str| {
            let text = format!("environment = \"production\"\n[relay.a]\nservers = [{servers}]\n");
            let reasons = refuse_in_production(&load(&text).expect("valid"));
            reasons.into_iter().filter(|reason| reason.starts_with("relay.")).count()
        };
        assert_eq!(reasons("\"tls://h:1\", \"nats://127.0.0.1:4222\""), 0);
        assert_eq!(reasons("\"nats://localhost\", \"nats://[::1]:4222\""), 0);
        assert_eq!(reasons("\"nats://localhost.bank.example\", \"nats://127.0.0.1.example:1\""), 2);
        assert_eq!(reasons("\"tls://h:1\", \"nats://h:4222\", \"nats://1.2.3.4:1\""), 2);
    }
}
