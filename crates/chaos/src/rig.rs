//! The common setup of the fault runs: a simulated bank in the test's process (so that killing the
//! service does not kill the bank), an installation whose rails lead to it, and a funded tenant.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use config::REFERENCE;
use domain::time::Span;
use testkit::bank::{BankConfig, Behaviour, DelayRange, Faults, SimulatedBank};

use crate::api::Api;
use crate::harness::{Installation, Node};

/// The tokens' audience: the nodes' addresses change with each start.
pub const PUBLIC_URL: &str = "http://corridor.test";
pub const TENANT: &str = "demobank";
/// Its initial prefund in USDT.
const PREFUND: &str = "10000000";
/// The same in minor units.
pub const PREFUND_MINOR: i64 = 10_000_000_000_000;
/// The lease of a job: the minimum that the configuration allows.
pub const LEASE_S: u64 = 5;
/// The rails. On those without duplicate detection, the bank pays a repeated message again.
pub const RAILS: [RailOfTest; 3] = [
    RailOfTest { id: "pak-raast", detects_duplicates: true },
    RailOfTest { id: "pak-ibft", detects_duplicates: true },
    RailOfTest { id: "ind-imps", detects_duplicates: false },
];

/// File of the bank's book.
const BOOK: &str = "book.jsonl";

/// A rail of these tests.
pub struct RailOfTest {
    pub id: &'static str,
    pub detects_duplicates: bool,
}

/// The environment of the nodes under test.
pub struct Rig {
    pub installation: Installation,
    pub bank: SimulatedBank,
    pub api: Api,
    /// The directory of the bank's book; deleted with the rig.
    book: tempfile::TempDir,
}

impl Rig {
    /// Starts the bank, sets up the database (`None`: SQLite in the data directory), creates a
    /// tenant and a key.
    pub async fn start(seed: u64, store_url: Option<&str>) -> Rig {
        Rig::with(seed, store_url, &[]).await
    }

    /// The same with variables in the environment of every process.
    pub async fn with(seed: u64, store_url: Option<&str>, env: &[(&str, &str)]) -> Rig {
        let book = tempfile::tempdir().expect("a directory");
        let bank = SimulatedBank::start(BankConfig {
            behaviour: behaviour(seed, &RAILS),
            book: Some(book.path().join(BOOK)),
            hang: Span::millis(700),
            ..BankConfig::default()
        });
        let bank = bank.await.expect("the bank starts");
        let url = |rail: &str| bank.url(rail).expect("the bank listens");
        let mut installation = Installation::configured(&configuration(&RAILS, url));
        env.iter().for_each(|(name, value)| installation.set(name, *value));
        let (installation, api) = found(installation, store_url);
        Rig { installation, bank, api, book }
    }

    pub fn node(&self, name: &str) -> Node {
        self.installation.serve(name, &[])
    }

    /// File with the bank's payments, one JSON value per line.
    pub fn book(&self) -> PathBuf {
        self.book.path().join(BOOK)
    }

    /// Ends the bank's random faults.
    pub fn heal_bank(&self) {
        self.bank.set_faults(Faults::NONE).expect("the bank runs");
    }
}

/// Sets up the database (`None`: SQLite in the data directory), and a funded tenant with a key.
pub fn found(mut installation: Installation, store_url: Option<&str>) -> (Installation, Api) {
    if let Some(url) = store_url {
        installation.set("CORRIDOR_STORE__URL", url);
    }
    installation.ok(&["migrate"]);
    installation.ok(&["tenants", "create", "--tag", TENANT, "--name", "Demo Bank"]);
    installation.create_users(&["treasurer"]);
    installation.top_up("treasurer", TENANT, "USDT", PREFUND);
    let keys = installation.json(&["keys", "create", "--tenant", TENANT]);
    let api = Api::of(PUBLIC_URL, &keys[0], "");
    (installation, api)
}

/// Fast, and faulty in every way that a bank can be.
pub fn behaviour(seed: u64, rails: &[RailOfTest]) -> Behaviour {
    let blind = rails.iter().filter(|rail| !rail.detects_duplicates).map(|rail| rail.id.into());
    Behaviour {
        seed,
        settle: DelayRange::millis(20, 400),
        return_after: DelayRange::millis(50, 800),
        contradict_after: DelayRange::millis(50, 800),
        withheld_notice: DelayRange::millis(500, 2_000),
        decides_after: Span::millis(200),
        without_duplicate_detection: blind.collect::<BTreeSet<Box<str>>>(),
        statements: false,
        faults: Faults {
            drop_answer_per_mille: 60,
            duplicate_report_per_mille: 100,
            late_report_per_mille: 100,
            late_report_delay: DelayRange::millis(300, 1_500),
            ..Faults::NONE
        },
    }
}

/// The configuration of an installation with these rails, each at its URL.
pub fn configuration(rails: &[RailOfTest], url: impl Fn(&str) -> String) -> String {
    let mut text = format!(
        "environment = \"test\"
        [http]
        listen = \"127.0.0.1:0\"
        public_url = \"{PUBLIC_URL}\"
        [engine]
        lease_s = {LEASE_S}
        [limits]
        enabled = false
        [rates]
        source = \"frozen\"
        [telemetry]
        log_format = \"json\"
        "
    );
    let reference: toml::Table = REFERENCE.parse().expect("the reference is TOML");
    let known =
        reference["rails"].as_array().expect("rails").iter().filter_map(|rail| rail["id"].as_str());
    for id in known {
        let _infallible = match rails.iter().find(|rail| rail.id == id) {
            None => write!(text, "[[rails]]\nid = \"{id}\"\nenabled = false\n"),
            Some(rail) => write!(
                text,
                "[[rails]]\nid = \"{id}\"\ntransport = \"https\"\nurl = \"{}\"\nduplicate_detection = {}\n\
                 window_s = 4\nreport_wait_s = 1\nrequest_timeout_ms = 3000\ndebtor_name = \"Demo Bank\"\n\
                 debtor_account = \"1\"\ndebtor_agent = \"DEMOAEAD\"\n",
                url(id),
                rail.detects_duplicates,
            ),
        };
    }
    text
}
