//! The environment variables that begin with `CORRIDOR_`: keys of the configuration, and those listed
//! here. Any other name is a mistake; ignoring it would start a service with the defaults.

use toml::{Table, Value};

use super::layers::{ENV_PREFIX, ENV_SEPARATOR, OUTSIDE_SECTIONS, path_of_variable};
use super::secret::is_secret;

/// Variables that commands read.
const OF_COMMANDS: [&str; 18] = [
    "CORRIDOR_ACCESS_KEY",
    "CORRIDOR_AUDIENCE",
    "CORRIDOR_BASE_URL",
    "CORRIDOR_CONFIG",
    "CORRIDOR_CONNECTOR_TOKEN",
    "CORRIDOR_DATA_DIR",
    "CORRIDOR_SECRETS_DIR",
    "CORRIDOR_SECRET_KEY",
    "CORRIDOR_SECRET_KEY_FILE",
    "CORRIDOR_SIGNER_TOKEN",
    "CORRIDOR_WALLET_ACCESS_KEY",
    "CORRIDOR_WALLET_AUDIENCE",
    "CORRIDOR_WALLET_BASE_URL",
    "CORRIDOR_WALLET_ID",
    "CORRIDOR_WALLET_SECRET_KEY",
    "CORRIDOR_WALLET_SECRET_KEY_FILE",
    "CORRIDOR_WEBHOOK_SECRET",
    "CORRIDOR_WEBHOOK_SECRET_FILE",
];

/// Further variables that `corridor env` prints, for the snippets of the documentation.
const OF_SANDBOX: [&str; 10] = [
    "CORRIDOR_CHAIN_ID",
    "CORRIDOR_CHAIN_RPC_URL",
    "CORRIDOR_CONSOLE_URL",
    "CORRIDOR_DOCS_URL",
    "CORRIDOR_PAYMENT_ACCESS_KEY",
    "CORRIDOR_PAYMENT_SECRET_KEY",
    "CORRIDOR_PAY_URL",
    "CORRIDOR_TOKENS_USDC",
    "CORRIDOR_TOKENS_USDT",
    "CORRIDOR_WALLET_TOKEN",
];

/// Variables of the repository's tests, benchmarks and scripts, which a service that they start
/// inherits.
const OF_TESTS: [&str; 19] = [
    "CORRIDOR_ANSWERS_URL",
    "CORRIDOR_ANVIL",
    "CORRIDOR_BIN",
    "CORRIDOR_CHAOS_BIN",
    "CORRIDOR_CIRCLE_ARTIFACTS",
    "CORRIDOR_CLIENTS_VENV",
    "CORRIDOR_CONTRACT_CALLS",
    "CORRIDOR_CONTRACT_SEED",
    "CORRIDOR_FAILPOINT",
    "CORRIDOR_FUZZ_TARGET",
    "CORRIDOR_KEYS",
    "CORRIDOR_SCHEDULES",
    "CORRIDOR_SCHEMATHESIS_VENV",
    "CORRIDOR_SCREENS",
    "CORRIDOR_SEED",
    "CORRIDOR_SERVER_LOG",
    "CORRIDOR_SERVICE",
    "CORRIDOR_SIMULATOR_BIN",
    "CORRIDOR_WALLET_SCHEDULES",
];

/// How names of further variables of tests begin.
const OF_TESTS_PREFIXES: [&str; 2] = ["CORRIDOR_TEST_", "CORRIDOR_LONG_"];

/// Names that other programs use for a key, and the key's variable.
const ALIASES: [(&str, &str); 3] = [
    ("CORRIDOR_DATABASE_URL", "CORRIDOR_STORE__URL"),
    ("CORRIDOR_DB_URL", "CORRIDOR_STORE__URL"),
    ("CORRIDOR_LISTEN", "CORRIDOR_HTTP__LISTEN"),
];

/// Number of characters that may differ between a mistyped name and the intended one.
const TYPOS_MAX: usize = 2;

/// One fault for each variable that begins with `CORRIDOR_` and means nothing. `table` holds every key.
pub(super) fn faults(env: &[(String, String)], table: &Table) -> Vec<String> {
    let services = linked_services(env);
    let is_linked = |name: &str| {
        services.iter().any(|service| {
            name.strip_prefix(service).is_some_and(|rest| {
                rest.starts_with("_SERVICE_") || rest == "_PORT" || rest.starts_with("_PORT_")
            })
        })
    };
    let mut unknown: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
    unknown.retain(|name| name.starts_with(ENV_PREFIX) && !is_known(name) && !is_linked(name));
    unknown.sort_unstable();
    let described = |name: &str| match intended(name, table) {
        Some(meant) => format!("{name}: unknown variable; did you mean {meant}?"),
        None => format!("{name}: unknown variable; names beginning with {ENV_PREFIX} are reserved"),
    };
    unknown.into_iter().map(described).collect()
}

/// Whether the program, or a test, reads this variable.
pub fn is_known(name: &str) -> bool {
    path_of_variable(name).is_some()
        || [&OF_COMMANDS[..], &OF_SANDBOX, &OF_TESTS].concat().contains(&name)
        || OF_TESTS_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The prefixes of variables with which Kubernetes announces services to a pod: a service named
/// `corridor-db` sets `CORRIDOR_DB_SERVICE_HOST`, `CORRIDOR_DB_PORT` and others.
fn linked_services(env: &[(String, String)]) -> Vec<&str> {
    let hosts = env.iter().filter(|(_, value)| value.parse::<std::net::IpAddr>().is_ok());
    hosts.filter_map(|(name, _)| name.strip_suffix("_SERVICE_HOST")).collect()
}

/// The known name that this one most resembles.
fn intended(name: &str, table: &Table) -> Option<String> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    if let Some((_, meant)) = alias {
        return Some((*meant).to_owned());
    }
    let mut known: Vec<String> = OF_COMMANDS.iter().map(|name| (*name).to_owned()).collect();
    known.extend(OUTSIDE_SECTIONS.map(|key| format!("{ENV_PREFIX}{}", key.to_ascii_uppercase())));
    let mut path = Vec::new();
    collect(table, &mut path, &mut known);
    let flat = |name: &str| name.replace('_', "").to_ascii_uppercase();
    let wanted = flat(name);
    let measured = known.into_iter().map(|name| (distance(&wanted, &flat(&name)), name));
    let (typos, meant) = measured.min()?;
    (typos <= TYPOS_MAX).then_some(meant)
}

/// The variables of all keys in a table.
fn collect(table: &Table, path: &mut Vec<String>, names: &mut Vec<String>) {
    for (key, value) in table {
        path.push(key.clone());
        match value {
            Value::Table(inner) => collect(inner, path, names),
            Value::Array(items) if path.len() == 1 => {
                // The first entry has every key.
                let keys = items.first().and_then(Value::as_table);
                let ids = items.iter().filter_map(|item| item.get("id")?.as_str());
                for (id, keys) in ids.filter_map(|id| Some((id, keys?))) {
                    path.push(id.to_owned());
                    collect(keys, path, names);
                    path.pop();
                }
            }
            _ if path.len() > 1 => {
                let name = format!("{ENV_PREFIX}{}", path.join(ENV_SEPARATOR));
                let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                if is_secret(path) {
                    names.push(format!("{name}_FILE").to_ascii_uppercase());
                }
                names.push(name.to_ascii_uppercase());
            }
            _ => {}
        }
        path.pop();
    }
}

/// How many characters have to be inserted, removed or replaced to turn one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
