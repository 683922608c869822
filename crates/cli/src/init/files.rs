//! The files that `init` writes, as texts.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use adapters::evm::signers::new_keystore;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretString;

use super::super::failure::Failure;
use super::Proxy;
use super::answers::{Answers, Rail, Server, Target, Wallets};

pub const CONFIG: &str = "corridor.toml";
pub const SECRETS: &str = "secrets";
pub const KEK: &str = "SECURITY__KEY_ENCRYPTION_KEY";
pub const UNIT: &str = "corridor.service";
/// Roles of a tenant's keys, as the configuration names them.
const ROLES: [&str; 3] = ["operator", "compliance", "approver"];

const NGINX: &str = include_str!("../../../../ops/proxy/nginx.conf");
const CADDY: &str = include_str!("../../../../ops/proxy/Caddyfile");
const HAPROXY: &str = include_str!("../../../../ops/proxy/haproxy.cfg");
const DEBIAN_UNIT: &str = include_str!("../../../../ops/debian/corridor.service");

/// A file to write.
pub struct NewFile {
    pub path: PathBuf,
    text: String,
    /// Readable by its owner only.
    is_secret: bool,
}

/// All files, and the addresses of the new keys by their role.
pub struct Written {
    pub files: Vec<NewFile>,
    pub addresses: Vec<(&'static str, String)>,
}

impl NewFile {
    fn open(path: PathBuf, text: String) -> NewFile {
        NewFile { path, text, is_secret: false }
    }

    fn secret(path: PathBuf, text: String) -> NewFile {
        NewFile { path, text, is_secret: true }
    }

    pub fn write(&self) -> Result<(), Failure> {
        let failed =
            |error: std::io::Error| Failure::Usage(format!("{}: {error}", self.path.display()));
        if let Some(parent) = self.path.parent() {
            let mut builder = std::fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(
                &mut builder,
                if self.is_secret { 0o700 } else { 0o755 },
            );
            builder.recursive(true).create(parent).map_err(failed)?;
        }
        let mode = if self.is_secret { 0o600 } else { 0o644 };
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&self.path)
            .map_err(failed)?;
        file.write_all(self.text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
    }
}

/// The files of an installation whose configuration is in `dir`.
pub fn of(answers: &Answers, dir: &Path, data_dir: &Path) -> Result<Written, Failure> {
    let secrets = dir.join(SECRETS);
    let mut files = vec![
        NewFile::open(dir.join(CONFIG), configuration(answers, dir)),
        NewFile::secret(secrets.join(KEK), random_key()?),
        NewFile::open(dir.join(UNIT), unit(answers, dir, data_dir)?),
        NewFile::open(dir.join(proxy_name(answers.proxy)), proxy(answers)),
    ];
    if let Some(url) = &answers.database_url {
        files.push(NewFile::secret(secrets.join("STORE__URL"), url.clone()));
    }
    for rail in &answers.rails {
        if matches!(rail.target, Target::Connector(_)) {
            let secret = format!("whsec_{}", random_key()?);
            let name = rail_secret(&rail.id, "CALLBACK_SECRET");
            files.push(NewFile::secret(secrets.join(name), secret));
        }
    }
    let mut addresses = Vec::new();
    if let Some(wallets) = &answers.wallets {
        let password = random_key()?;
        let keystore_password = SecretString::from(password.clone());
        files.push(NewFile::secret(secrets.join("CHAIN__KEYS__KEYSTORE_PASSWORD"), password));
        for (name, url) in node_secrets(&wallets.nodes) {
            files.push(NewFile::secret(secrets.join(name), url));
        }
        for role in ROLES {
            let (address, text) = new_keystore(&keystore_password)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            files.push(NewFile::secret(keystore(dir, &wallets.tenant, role), text));
            addresses.push((role, address.to_string()));
        }
    }
    Ok(Written { files, addresses })
}

/// 32 random bytes in base64.
fn random_key() -> Result<String, Failure> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::Usage(format!("random number generator failed: {error}")))?;
    Ok(STANDARD.encode(bytes))
}

fn node_secrets(nodes: &[String]) -> Vec<(&'static str, String)> {
    let (first, further) = nodes.split_at(nodes.len().min(2));
    let names = ["CHAIN__NODE_URL", "CHAIN__SECOND_NODE_URL"];
    let mut secrets: Vec<(&str, String)> = names.into_iter().zip(first.iter().cloned()).collect();
    if !further.is_empty() {
        secrets.push(("CHAIN__FURTHER_NODE_URLS", further.join(" ")));
    }
    secrets
}

fn keystore(dir: &Path, tenant: &str, role: &str) -> PathBuf {
    dir.join("keys").join(format!("{tenant}-{role}.json"))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn array<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A URL's origin without a trailing slash.
fn origin(url: &reqwest::Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

fn configuration(answers: &Answers, dir: &Path) -> String {
    let ids: Vec<String> = answers.rails.iter().map(|rail| rail.id.clone()).collect();
    let rates: Vec<String> = answers
        .rates
        .iter()
        .map(|location| format!("{{ location = {} }}", quoted(location)))
        .collect();
    let lists: Vec<String> = answers
        .lists
        .iter()
        .map(|list| format!("  {{ locations = {} }},\n", array(list)))
        .collect();
    let mut store = match &answers.database_url {
        Some(_) => "# url: in secrets/STORE__URL\n".to_owned(),
        None => "url = \"sqlite:corridor.db\"\n".to_owned(),
    };
    if let Some(path) = &answers.backup_file {
        store.push_str(&format!("backup_file = {}\n", quoted(&path.display().to_string())));
    }
    let mut text = format!(
        "# Only what differs from the defaults: `corridor config reference` prints every key. Secrets are files in the\n\
         # directory {SECRETS}, named <SECTION>__<KEY>. Check changes with `corridor config check`.\n\
         environment = \"production\"\n\
         rails_enabled = {}\n\n\
         [http]\nlisten = {}\npublic_url = {}\ntrusted_proxies = {}\n\n\
         [console]\npublic_url = {}\n\n\
         [store]\n{store}\n\
         [rates]\nsource = \"live\"\nsources = [{}]\n\n\
         [screening]\nsample_list = false\nlists = [\n{}]\n",
        array(&ids),
        quoted(&answers.listen.to_string()),
        quoted(&origin(&answers.url)),
        array(&answers.trusted_proxies),
        quoted(&origin(&answers.console_url)),
        rates.join(", "),
        lists.concat(),
    );
    text.push_str(&wallets(answers.wallets.as_ref(), dir));
    for rail in &answers.rails {
        text.push_str(&rail_entry(rail, answers, dir));
    }
    text
}

/// The name of a rail's secret.
fn rail_secret(id: &str, key: &str) -> String {
    format!("RAILS__{}__{key}", id.replace('-', "_").to_ascii_uppercase())
}

/// The private key with which this installation authenticates itself to a bank's server.
pub fn ssh_key(dir: &Path, rail: &str) -> PathBuf {
    dir.join("keys").join(format!("{rail}-ssh"))
}

/// `[rails.sftp]`. Directories of the server are the defaults, below the given one.
fn server(server: &Server, key_file: &Path) -> String {
    let dirs = server.path.as_ref().map_or_else(String::new, |path| {
        let dirs = [
            ("out", "out"),
            ("in", "in"),
            ("archive", "in/archive"),
            ("unreadable", "in/unreadable"),
        ];
        dirs.map(|(key, dir)| format!("{key} = {}\n", quoted(&format!("{path}/{dir}")))).concat()
    });
    format!(
        "\n[rails.sftp]\nhost = {}\nport = {}\nuser = {}\nkey_file = {}\nhost_keys = {}\n{dirs}",
        quoted(&server.host),
        server.port,
        quoted(&server.user),
        quoted(&key_file.display().to_string()),
        array(&server.host_keys),
    )
}

fn rail_entry(rail: &Rail, answers: &Answers, dir: &Path) -> String {
    let mut tables = String::new();
    let target = match &rail.target {
        Target::Directory(path) => {
            format!(
                "transport = \"directory\"\ndirectory = {}\n",
                quoted(&path.display().to_string())
            )
        }
        Target::Sftp(of) => {
            tables = server(of, &ssh_key(dir, &rail.id));
            "transport = \"sftp\"\n".to_owned()
        }
        Target::Connector(url) => {
            let (token, secret) =
                (rail_secret(&rail.id, "TOKEN"), rail_secret(&rail.id, "CALLBACK_SECRET"));
            format!(
                "transport = \"connector\"\nurl = {}\n# \"connector\" if the bank can cancel or return:\nrecalls = \"\"\n# token, callback_secret: in {SECRETS}/{token} and {SECRETS}/{secret}\n",
                quoted(url)
            )
        }
        Target::Https(url) => {
            let secret = rail_secret(&rail.id, "TOKEN");
            format!(
                "transport = \"https\"\nurl = {}\n# token: in {SECRETS}/{secret}\n",
                quoted(url)
            )
        }
    };
    let debtor = &answers.debtor;
    let address = debtor.address.as_ref().map_or_else(String::new, |address| {
        format!(
            "profile.debtor_address = {{ street = {}, town = {}, country = {} }}\n",
            quoted(&address.street),
            quoted(&address.town),
            quoted(&address.country)
        )
    });
    format!(
        "\n[[rails]]\nid = {}\n{target}debtor_name = {}\ndebtor_account = {}\ndebtor_agent = {}\n{address}{tables}",
        quoted(&rail.id),
        quoted(&debtor.name),
        quoted(&debtor.account),
        quoted(&debtor.agent),
    )
}

fn wallets(wallets: Option<&Wallets>, dir: &Path) -> String {
    let Some(wallets) = wallets else { return "\n[wallets]\nenabled = false\n".to_owned() };
    let coin = |name: &str, address: &Option<String>| {
        address
            .as_ref()
            .map_or_else(String::new, |address| format!("{name} = {}\n", quoted(address)))
    };
    let keys: Vec<String> = ROLES
        .iter()
        .map(|role| {
            let path = keystore(dir, &wallets.tenant, role).display().to_string();
            format!("{role} = {}\n", quoted(&path))
        })
        .collect();
    let network = match &wallets.chain {
        Some(preset) => format!("preset = {}\n", quoted(preset)),
        None => format!("chain_id = {}\n", wallets.chain_id),
    };
    format!(
        "\n[wallets]\nenabled = true\n\n\
         [chain]\n# node_url, second_node_url: in {SECRETS}\n{network}{}{}\n\
         [chain.keys]\nsource = \"keystore\"\n\n\
         [[chain.tenants]]\ntag = {}\n{}admin = {}\ntreasury = {}\n",
        coin("usdc", &wallets.usdc),
        coin("usdt", &wallets.usdt),
        quoted(&wallets.tenant),
        keys.concat(),
        quoted(&wallets.admin),
        quoted(&wallets.treasury),
    )
}

pub const fn proxy_name(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Nginx => "nginx.conf",
        Proxy::Caddy => "Caddyfile",
        Proxy::Haproxy => "haproxy.cfg",
    }
}

fn proxy(answers: &Answers) -> String {
    let sample = match answers.proxy {
        Proxy::Nginx => NGINX,
        Proxy::Caddy => CADDY,
        Proxy::Haproxy => HAPROXY,
    };
    let host = |url: &reqwest::Url| url.host_str().unwrap_or_default().to_owned();
    sample
        .replace("api.bank.example", &host(&answers.url))
        .replace("console.bank.example", &host(&answers.console_url))
        .replace("127.0.0.1:8480", &answers.listen.to_string())
}

/// The Debian package's unit with the paths of this installation.
fn unit(answers: &Answers, dir: &Path, data_dir: &Path) -> Result<String, Failure> {
    let program = std::env::current_exe()?;
    Ok(unit_of(answers, &program, dir, data_dir))
}

fn unit_of(answers: &Answers, program: &Path, dir: &Path, data_dir: &Path) -> String {
    let shown = |path: &Path| path.display().to_string();
    let in_place = |line: &str| {
        let paths = [("/etc/corridor", dir), ("/var/lib/corridor", data_dir)];
        let found = paths.into_iter().find(|(from, _)| line.contains(from));
        found.map_or_else(|| line.to_owned(), |(from, to)| line.replace(from, &shown(to)))
    };
    // ProtectSystem=strict makes everything else read-only; a path that is missing does not prevent the start.
    let mut writable = vec![shown(data_dir)];
    writable.extend(answers.rails.iter().filter_map(|rail| match &rail.target {
        Target::Directory(path) => Some(shown(path)),
        Target::Sftp(_) | Target::Connector(_) | Target::Https(_) => None,
    }));
    let mut unit = String::new();
    for line in DEBIAN_UNIT.lines().filter(|line| !line.starts_with("# Change settings with")) {
        if line == "[Install]" {
            let paths = writable.iter().map(|path| unit_word(&format!("-{path}")));
            unit.extend(paths.map(|path| format!("ReadWritePaths={path}\n")));
            unit.push('\n');
        }
        let line = match line.split_once('=') {
            Some(("ExecStart", command)) => {
                let command = command.strip_prefix("/usr/bin/corridor").unwrap_or(command);
                format!("ExecStart={}{command}", unit_word(&shown(program)))
            }
            Some(("Environment", variable)) if variable.contains("=/") => {
                format!("Environment={}", unit_word(&in_place(variable)))
            }
            // The rest of this line is the path, without quotes.
            Some(("LoadCredential", _)) => {
                line.replace("/etc/corridor", &shown(dir).replace('%', "%%"))
            }
            _ => in_place(line),
        };
        unit.push_str(&line);
        unit.push('\n');
    }
    unit
}

/// A word of a unit file: `%` begins a specifier, and blanks, quotes and backslashes need quotes.
fn unit_word(text: &str) -> String {
    let escaped = text.replace('%', "%%");
    let is_plain = |sign: char| sign.is_alphanumeric() || "/._-+=:@,%".contains(sign);
    if escaped.chars().all(is_plain) {
        return escaped;
    }
    format!("\"{}\"", escaped.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::answers::{Debtor, DebtorAddress};
    use super::*;
    use config::Config;

    const ADDRESS: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const USDC: &str = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

    fn answers(wallets: bool) -> Answers {
        let url = |text: &str| reqwest::Url::parse(text).expect("a URL");
        let rail = |id: &str, target| Rail { id: id.to_owned(), target };
        Answers {
            url: url("https://pay.dhow.example"),
            console_url: url("https://staff.dhow.example"),
            listen: "127.0.0.1:9480".parse().expect("an address"),
            trusted_proxies: vec!["127.0.0.1".to_owned()],
            rails: vec![
                rail("pak-raast", Target::Directory("/srv/ra\"ast".into())),
                rail("ind-imps", Target::Https("https://bank.example/iso".to_owned())),
            ],
            debtor: Debtor {
                name: "Dhow \"Bank\"".to_owned(),
                account: "1".to_owned(),
                agent: "DHOWAEAD".to_owned(),
                address: Some(DebtorAddress {
                    street: "Quay 1".to_owned(),
                    town: "Dubai".to_owned(),
                    country: "AE".to_owned(),
                }),
            },
            rates: vec!["/r.csv".to_owned()],
            lists: vec![
                vec!["/sdn.csv".to_owned(), "/alt.csv".to_owned()],
                vec!["/un.xml".to_owned()],
            ],
            database_url: Some("postgres://corridor@127.0.0.1/corridor".to_owned()),
            backup_file: Some("/backup/corridor.dump".into()),
            proxy: Proxy::Nginx,
            wallets: wallets.then(|| Wallets {
                tenant: "dhow".to_owned(),
                nodes: ["https://a.example", "https://b.example", "https://c.example"]
                    .map(str::to_owned)
                    .to_vec(),
                chain: None,
                chain_id: 1,
                usdc: Some(USDC.to_owned()),
                usdt: None,
                admin: ADDRESS.to_owned(),
                treasury: ADDRESS.to_owned(),
            }),
        }
    }

    #[test]
    fn the_next_steps_are_commands_without_options_that_may_be_left_out() {
        let dir = Path::new("/etc/corridor");
        let steps = super::super::next_steps(dir, Path::new("/var/lib/corridor"), &answers(true));
        let create = steps.iter().find(|step| step.starts_with("corridor users create"));
        let create = create.expect("the first user");
        assert!(crate::Cli::try_parse_from(create.split(' ')).is_ok(), "{create}");
        assert!(!create.contains("--by") && !create.contains("--why"), "{create}");
    }

    /// The configuration that the files are read as.
    fn loaded(dir: &Path, wallets: bool) -> Config {
        let answers = answers(wallets);
        // A keystore takes seconds without optimisation; the process tests create them.
        let mut files =
            of(&Answers { wallets: None, ..answers.clone() }, dir, Path::new("/var/lib/corridor"))
                .expect("written")
                .files;
        files[0] = NewFile::open(dir.join(CONFIG), configuration(&answers, dir));
        if let Some(wallets) = &answers.wallets {
            let mut secrets = node_secrets(&wallets.nodes);
            secrets.push(("CHAIN__KEYS__KEYSTORE_PASSWORD", "p".to_owned()));
            secrets.push(("RAILS__IND_IMPS__TOKEN", "t".to_owned()));
            files.extend(
                secrets
                    .into_iter()
                    .map(|(name, text)| NewFile::secret(dir.join(SECRETS).join(name), text)),
            );
        }
        super::super::write_all(&files).expect("written");
        Config::load(&super::super::sources(dir)).expect("a valid configuration")
    }

    #[test]
    fn what_is_written_is_a_configuration_for_production() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = loaded(dir.path(), false);
        assert_eq!(config.public_url(), "https://pay.dhow.example");
        let enabled: Vec<&str> =
            config.rails.iter().filter(|rail| rail.enabled).map(|rail| rail.id.as_str()).collect();
        assert_eq!(enabled, ["ind-imps", "pak-raast"]);
        let raast = config.rails.iter().find(|rail| rail.id == "pak-raast").expect("the rail");
        assert_eq!(
            (raast.directory.as_path(), raast.debtor_name.as_str()),
            (Path::new("/srv/ra\"ast"), "Dhow \"Bank\"")
        );
        assert!(
            config.rails.iter().all(|rail| !rail.enabled || !config.lacks_debtor_address(rail))
        );
        assert_eq!(config.screening.lists.len(), 2);
        let refusals = config::refuse_in_production(&config);
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        assert!(
            refusals[0].contains("rails.ind-imps.token"),
            "the one secret that only the bank knows: {refusals:?}"
        );
    }

    #[test]
    fn a_banks_server_and_a_connector_are_configured_completely() {
        const KEY: &str = "SHA256:uNiVztksCsDhcc0u9e8BrOqu5UmMQmfTEDZxT1UzoNo";
        let dir = tempfile::tempdir().expect("a directory");
        let server = |path: Option<&str>| {
            Target::Sftp(Server {
                user: "remit01".to_owned(),
                host: "sftp.bank.example".to_owned(),
                port: 2222,
                path: path.map(str::to_owned),
                host_keys: vec![KEY.to_owned()],
            })
        };
        let rail = |id: &str, target| Rail { id: id.to_owned(), target };
        let answers = Answers {
            rails: vec![
                rail("npl-nchl-ips", server(None)),
                rail("pak-raast", server(Some("/pay/raast"))),
                rail("ind-imps", Target::Connector("http://127.0.0.1:8090".to_owned())),
            ],
            ..answers(false)
        };
        let files = of(&answers, dir.path(), Path::new("/var/lib/corridor")).expect("texts").files;
        super::super::write_all(&files).expect("written");
        let config =
            Config::load(&super::super::sources(dir.path())).expect("a valid configuration");
        let found = |id: &str| config.rails.iter().find(|rail| rail.id == id).expect("the rail");
        let own = &found("npl-nchl-ips").sftp;
        assert_eq!(
            (own.user.as_str(), own.host.as_str(), own.port),
            ("remit01", "sftp.bank.example", 2222)
        );
        assert_eq!(own.key_file, dir.path().join("keys/npl-nchl-ips-ssh"));
        assert_eq!((own.out.as_path(), own.reports.as_path()), (Path::new("out"), Path::new("in")));
        let below = &found("pak-raast").sftp;
        assert_eq!(
            (below.host_keys.as_slice(), below.archive.as_path()),
            (&[KEY.to_owned()][..], Path::new("/pay/raast/in/archive"))
        );
        assert_eq!(found("ind-imps").debtor_name, "Dhow \"Bank\"");
        let refusals = config::refuse_in_production(&config);
        assert!(
            refusals.len() == 1 && refusals[0].contains("rails.ind-imps.token"),
            "the connector's token is its owner's: {refusals:?}"
        );
        let steps = super::super::next_steps(dir.path(), Path::new("/var/lib/corridor"), &answers);
        let made = steps.iter().filter(|step| step.starts_with("ssh-keygen -t ed25519 -f "));
        assert_eq!(made.count(), 2, "{steps:?}");
    }

    #[test]
    fn wallets_are_complete_as_well() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = loaded(dir.path(), true);
        assert_eq!(config::refuse_in_production(&config), Vec::<String>::new());
        assert_eq!(config.node_urls().len(), 3);
        assert!(config.chain.tenants[0].operator.ends_with("keys/dhow-operator.json"));
    }

    #[test]
    fn a_public_network_is_named_by_its_preset() {
        let wallets = answers(true).wallets.expect("wallets");
        let wallets = Wallets { chain: Some("base".to_owned()), usdc: None, ..wallets };
        let answers = Answers { wallets: Some(wallets), ..answers(true) };
        let text = configuration(&answers, Path::new("/etc/corridor"));
        assert!(text.contains("\npreset = \"base\"\n"), "{text}");
        assert!(!text.contains("chain_id") && !text.contains("usdc"), "{text}");
    }

    #[test]
    fn secrets_are_readable_by_their_owner_only_and_nothing_is_overwritten() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        loaded(dir.path(), false);
        let secret = dir.path().join(SECRETS).join(KEK);
        let mode = std::fs::metadata(&secret).expect("written").permissions().mode();
        assert_eq!(mode & 0o077, 0);
        let before = std::fs::read_to_string(&secret).expect("read");
        let again =
            of(&answers(false), dir.path(), Path::new("/var/lib/corridor")).expect("texts").files;
        let refused = super::super::write_all(&again).expect_err("files exist").to_string();
        assert!(refused.contains("nothing written") && refused.contains(KEK), "{refused}");
        assert_eq!(std::fs::read_to_string(&secret).expect("read"), before);
    }

    #[test]
    fn what_root_writes_belongs_to_the_owner_of_the_directory() {
        use std::os::unix::fs::{MetadataExt as _, chown};
        let dir = tempfile::tempdir().expect("a directory");
        let uid = |path: &Path| std::fs::metadata(path).expect("there").uid();
        // Only root can give a directory away.
        let owner = if uid(dir.path()) == 0 { 65_534 } else { uid(dir.path()) };
        chown(dir.path(), Some(owner), None).expect("changed");
        let files = of(&answers(false), dir.path(), Path::new("/var/lib/corridor"));
        let files = files.expect("texts").files;
        super::super::write_all(&files).expect("written");
        super::super::give_to_owner(dir.path(), &files).expect("changed");
        let secrets = dir.path().join(SECRETS);
        for path in files.iter().map(|file| file.path.as_path()).chain([secrets.as_path()]) {
            assert_eq!(uid(path), owner, "{}", path.display());
        }
    }

    #[test]
    fn nothing_is_left_if_a_file_cannot_be_written() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join(SECRETS), "in the way").expect("written");
        let files = of(&answers(false), dir.path(), Path::new("/var/lib/corridor"));
        let failed = super::super::write_all(&files.expect("texts").files).expect_err("no place");
        assert!(failed.to_string().contains(SECRETS), "{failed}");
        assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 1);
    }

    #[test]
    fn paths_with_blanks_and_percent_signs_reach_the_unit() {
        let mut answers = answers(false);
        answers.rails[0].target = Target::Directory("/srv/to bank/50%".into());
        let (dir, data) = (Path::new("/etc/my bank 5%"), Path::new("/data/a\\b"));
        let unit = unit_of(&answers, Path::new("/opt/the bank/corridor"), dir, data);
        for line in [
            r#"ExecStart="/opt/the bank/corridor" serve --role all"#,
            r#"Environment="CORRIDOR_CONFIG=/etc/my bank 5%%/corridor.toml""#,
            r#"Environment="CORRIDOR_DATA_DIR=/data/a\\b""#,
            "LoadCredential=CORRIDOR:/etc/my bank 5%%/secrets",
            "Environment=CORRIDOR_SECRETS_DIR=%d",
            r#"ReadWritePaths="-/data/a\\b""#,
            r#"ReadWritePaths="-/srv/to bank/50%%""#,
        ] {
            assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
        }
        let steps = super::super::next_steps(dir, data, &answers).join("\n");
        for words in [
            "export CORRIDOR_CONFIG='/etc/my bank 5%/corridor.toml'",
            "export CORRIDOR_SECRETS_DIR='/etc/my bank 5%/secrets'",
            "Install '/etc/my bank 5%/corridor.service'",
        ] {
            assert!(steps.contains(words), "{words}\n{steps}");
        }
    }

    #[test]
    fn the_unit_and_the_proxy_name_this_installation() {
        let answers = answers(false);
        let unit = unit(&answers, Path::new("/etc/dhow"), Path::new("/data/dhow")).expect("a unit");
        for line in [
            "Environment=CORRIDOR_CONFIG=/etc/dhow/corridor.toml",
            "Environment=CORRIDOR_DATA_DIR=/data/dhow",
            "LoadCredential=CORRIDOR:/etc/dhow/secrets",
            "ReadWritePaths=-/data/dhow",
            r#"ReadWritePaths="-/srv/ra\"ast""#,
        ] {
            assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
        }
        assert!(!unit.contains("/etc/corridor") && !unit.contains("systemctl edit"), "{unit}");
        for of in [Proxy::Nginx, Proxy::Caddy, Proxy::Haproxy] {
            let text = proxy(&Answers { proxy: of, ..answers.clone() });
            for word in ["pay.dhow.example", "staff.dhow.example", "127.0.0.1:9480"] {
                assert!(text.contains(word), "{of:?}: {word}");
            }
            assert!(!text.contains("bank.example"), "{of:?}");
        }
    }
}
