//! What `init` has to know: from options, else asked on a terminal.

use std::io::{BufRead, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use domain::chain::Address;

use super::super::failure::Failure;
use super::super::output;
use super::{InitArgs, Proxy};

/// The port of a server that names none.
const SFTP_PORT: u16 = 22;

/// Where a rail leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Directory(PathBuf),
    Sftp(Server),
    /// The URL of a connector.
    Connector(String),
    Https(String),
}

/// A bank's SFTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub user: String,
    pub host: String,
    pub port: u16,
    /// The directory of both directions, if it is not the user's own.
    pub path: Option<String>,
    /// Fingerprints that the bank publishes.
    pub host_keys: Vec<String>,
}

/// Value of `--rail`: an id and the bank's side of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rail {
    pub id: String,
    pub target: Target,
}

const RAIL_FORMS: &str = "ID=directory:PATH, ID=sftp://USER@HOST, ID=connector:URL or ID=https://…";

pub fn rail(text: &str) -> Result<Rail, String> {
    let wrong = || format!("must be {RAIL_FORMS}, for example pak-raast=directory:/srv/raast");
    let (id, target) = text.trim().split_once('=').ok_or_else(wrong)?;
    let target = match target.split_once(':').ok_or_else(wrong)? {
        ("directory", path) if !path.is_empty() => Target::Directory(PathBuf::from(path)),
        ("sftp", _) => Target::Sftp(server(target)?),
        ("connector", url) => Target::Connector(connector(url)?),
        ("https", _) if target.starts_with("https://") => Target::Https(target.to_owned()),
        _ => return Err(wrong()),
    };
    let ids = rail_ids()?;
    match ids.iter().any(|known| known == id) {
        true => Ok(Rail { id: id.to_owned(), target }),
        false => Err(format!("{id:?} is not one of the rails {}", ids.join(", "))),
    }
}

fn rail_ids() -> Result<Vec<String>, String> {
    let known =
        config::Config::load(&config::Sources::default()).map_err(|error| error.to_string())?;
    Ok(known.rails.into_iter().map(|rail| rail.id).collect())
}

/// Parses an answer about a rail: a question mark asks for the forms and ids.
fn rail_or_help(text: &str) -> Result<Rail, String> {
    match text.trim() {
        "?" => Err(format!("{RAIL_FORMS}; ID is one of {}", rail_ids()?.join(", "))),
        text => rail(text),
    }
}

/// Parses `sftp://USER@HOST[:PORT][/DIRECTORY]`, the URL of the bank's server.
fn server(text: &str) -> Result<Server, String> {
    const RULE: &str =
        "must be sftp://USER@HOST, with :PORT and /DIRECTORY if the bank states them";
    let url = reqwest::Url::parse(text).map_err(|error| error.to_string())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let user = url.username();
    let is_plain = |text: &str| !text.is_empty() && !text.contains('%');
    let has_more = url.query().is_some() || url.fragment().is_some() || url.path().contains('%');
    if url.password().is_some() {
        return Err("must not have a password: it is a secret, kept in a file".to_owned());
    }
    if !is_plain(user) || !is_plain(host) || has_more || url.port() == Some(0) {
        return Err(RULE.to_owned());
    }
    let path = url.path().trim_end_matches('/');
    Ok(Server {
        user: user.to_owned(),
        host: host.to_ascii_lowercase(),
        port: url.port().unwrap_or(SFTP_PORT),
        path: Some(path.to_owned()).filter(|path| !path.is_empty()),
        host_keys: Vec::new(),
    })
}

/// Parses the URL of a connector: without TLS only on this machine.
fn connector(text: &str) -> Result<String, String> {
    let url = reqwest::Url::parse(text).map_err(|error| error.to_string())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_local =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" if !host.is_empty() => Ok(text.to_owned()),
        "http" if is_local => Ok(text.to_owned()),
        _ => Err("must be https://…, or http:// on this machine".to_owned()),
    }
}

/// `--host-key`: a server, and the fingerprint of a key of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerKey {
    host: String,
    fingerprint: String,
}

/// Parses `--host-key`: a server of a rail and its fingerprint, `HOST=SHA256:…`.
pub fn host_key(text: &str) -> Result<ServerKey, String> {
    let (host, key) =
        text.trim().split_once('=').ok_or("must be HOST=SHA256:…, as the bank publishes it")?;
    // An IPv6 address is in brackets, as in --rail.
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Ok(ServerKey { host, fingerprint: fingerprint(key)? })
}

fn fingerprint(text: &str) -> Result<String, String> {
    let text = text.trim();
    match adapters::sftp::is_fingerprint(text) {
        true => Ok(text.to_owned()),
        false => Err("must be a fingerprint such as `ssh-keygen -lf` prints: SHA256:…".to_owned()),
    }
}

/// The rails with the keys of their servers: of the options, else asked for.
fn with_host_keys(
    mut rails: Vec<Rail>,
    given: &[ServerKey],
    terminal: &mut Terminal,
) -> Result<Vec<Rail>, Failure> {
    let mut known: Vec<ServerKey> = given.to_vec();
    let mut servers = Vec::new();
    for rail in &mut rails {
        let Target::Sftp(server) = &mut rail.target else { continue };
        let of = |known: &[ServerKey]| {
            let own = known.iter().filter(|key| key.host == server.host);
            own.map(|key| key.fingerprint.clone()).collect::<Vec<_>>()
        };
        if of(&known).is_empty() {
            let host = &server.host;
            let question =
                format!("Fingerprint of {host}'s key, as the bank publishes it (SHA256:…)");
            let fingerprint = terminal.ask("--host-key", &question, fingerprint)?;
            known.push(ServerKey { host: host.clone(), fingerprint });
        }
        server.host_keys = of(&known);
        servers.push(server.host.clone());
    }
    match given.iter().find(|key| !servers.contains(&key.host)) {
        Some(key) => {
            Err(Failure::Usage(format!("--host-key: no rail leads to sftp://…@{}", key.host)))
        }
        None => Ok(rails),
    }
}

/// Parses an account's address (EIP-55); 0x0 is refused.
pub fn address(text: &str) -> Result<String, String> {
    let parsed = Address::parse(text).ok_or("must be 0x and 40 hexadecimal digits")?;
    match config::names_an_account(text) {
        true => Ok(parsed.to_string()),
        false => Err("invalid checksum, or 0x0; check for a mistyped digit".to_owned()),
    }
}

/// Parses the name of a preset.
pub fn preset(name: &str) -> Result<String, String> {
    let known = config::preset_names();
    let is_known = known.iter().any(|known| known == name);
    is_known.then(|| name.to_owned()).ok_or_else(|| format!("must be one of {}", known.join(", ")))
}

/// The account that payouts are debited from.
#[derive(Clone, Debug)]
pub struct Debtor {
    pub name: String,
    pub account: String,
    pub agent: String,
    pub address: Option<DebtorAddress>,
}

/// The address of its owner: networks refuse payments without town and country.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebtorAddress {
    pub street: String,
    pub town: String,
    /// ISO 3166-1 alpha-2 code.
    pub country: String,
}

/// Parses `STREET, TOWN, COUNTRY`, or without the street.
pub fn debtor_address(text: &str) -> Result<DebtorAddress, String> {
    const RULE: &str = "must be street, town and country (two letters), separated by commas";
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [street @ .., town, country] = parts.as_slice() else { return Err(RULE.to_owned()) };
    let is_country = country.len() == 2 && country.bytes().all(|it| it.is_ascii_alphabetic());
    if town.is_empty() || !is_country || street.iter().any(|part| part.is_empty()) {
        return Err(RULE.to_owned());
    }
    let (town, country) = ((*town).to_owned(), country.to_ascii_uppercase());
    Ok(DebtorAddress { street: street.join(", "), town, country })
}

/// The wallets of one tenant.
#[derive(Clone, Debug)]
pub struct Wallets {
    pub tenant: String,
    pub nodes: Vec<String>,
    pub chain: Option<String>,
    pub chain_id: u64,
    pub usdc: Option<String>,
    pub usdt: Option<String>,
    pub admin: String,
    pub treasury: String,
}

/// Everything that the files contain.
#[derive(Clone, Debug)]
pub struct Answers {
    pub url: reqwest::Url,
    pub console_url: reqwest::Url,
    pub listen: SocketAddr,
    /// Addresses or ranges that the proxy connects from.
    pub trusted_proxies: Vec<String>,
    pub rails: Vec<Rail>,
    pub debtor: Debtor,
    pub rates: Vec<String>,
    /// Each list with its locations.
    pub lists: Vec<Vec<String>>,
    pub database_url: Option<String>,
    pub backup_file: Option<PathBuf>,
    pub proxy: Proxy,
    pub wallets: Option<Wallets>,
}

impl Answers {
    /// The options, completed on the terminal.
    pub fn of(args: &InitArgs, terminal: &mut Terminal) -> Result<Answers, Failure> {
        let url = match &args.url {
            Some(url) => https(url).map_err(|rule| Failure::Usage(format!("--url: {rule}")))?,
            None => terminal.ask(
                "--url",
                "Public URL of the API, as https://api.bank.example",
                https,
            )?,
        };
        let host = url.host_str().unwrap_or_default();
        let usual = format!("https://console.{host}");
        let console = |text: &str| console_url(text, &url);
        let given = match &args.console_url {
            Some(text) => Some(console(text)),
            None => {
                let question = format!("Public URL of the console (empty: {usual})");
                terminal.ask_optional(&question, console)?.map(Ok)
            }
        };
        let console_url = given
            .unwrap_or_else(|| console(&usual))
            .map_err(|rule| Failure::Usage(format!("--console-url: {rule}")))?;
        let rails = match args.rails.is_empty() {
            false => args.rails.clone(),
            true => terminal.ask_several(
                "--rail",
                "Rail of your bank, as pak-raast=directory:/srv/raast (?: other forms)",
                rail_or_help,
            )?,
        };
        let rails = with_host_keys(rails, &args.host_keys, terminal)?;
        let debtor = debtor(args, terminal)?;
        let rates = match args.rates.is_empty() {
            false => args.rates.clone(),
            true => terminal.ask_several("--rates", "Rates: a file or an https address", filled)?,
        };
        let lists = match args.lists.is_empty() {
            false => args.lists.clone(),
            true => terminal.ask_several(
                "--list",
                "Sanctions list: files or https addresses, separated by commas",
                filled,
            )?,
        };
        Ok(Answers {
            url,
            console_url,
            listen: args.listen,
            trusted_proxies: match args.trusted_proxies.is_empty() {
                false => args.trusted_proxies.clone(),
                true => proxies_of(args.listen.ip()),
            },
            rails: rails.into_iter().map(absolute_rail).collect::<Result<_, _>>()?,
            debtor,
            rates: rates
                .iter()
                .map(|location| absolute("--rates", location))
                .collect::<Result<_, _>>()?,
            lists: lists
                .iter()
                .map(|list| list.split(',').map(|part| absolute("--list", part)).collect())
                .collect::<Result<_, _>>()?,
            database_url: match &args.database_url_file {
                Some(file) => Some(line_of(file)?),
                None => terminal.ask_optional(
                    "File with the URL of a PostgreSQL database (empty: SQLite)",
                    |file| line_of(Path::new(file)).map_err(|failure| failure.to_string()),
                )?,
            },
            backup_file: args.backup_file.as_deref().map(std::path::absolute).transpose()?,
            proxy: args.proxy,
            wallets: wallets(args)?,
        })
    }
}

fn debtor(args: &InitArgs, terminal: &mut Terminal) -> Result<Debtor, Failure> {
    let text = |given: &Option<String>, flag, question, terminal: &mut Terminal| match given {
        Some(text) => Ok(text.clone()),
        None => terminal.ask(flag, question, filled),
    };
    Ok(Debtor {
        name: text(
            &args.debtor_name,
            "--debtor-name",
            "Name of the account that payouts are debited from",
            terminal,
        )?,
        account: match &args.debtor_account {
            Some(text) => own_account(text)
                .map_err(|rule| Failure::Usage(format!("--debtor-account: {rule}")))?,
            None => terminal.ask("--debtor-account", "Number of this account", own_account)?,
        },
        agent: text(
            &args.debtor_agent,
            "--debtor-agent",
            "BIC or id of the bank that holds it",
            terminal,
        )?,
        address: match &args.debtor_address {
            Some(address) => Some(address.clone()),
            None => terminal.ask_optional(
                "Address of its owner, as 'Al Maktoum Road, Dubai, AE' (empty: later)",
                debtor_address,
            )?,
        },
    })
}

/// A location that does not depend on the directory in which a command runs.
fn absolute(flag: &str, location: &str) -> Result<String, Failure> {
    let location = location.trim();
    match location.split_once("://") {
        Some(("https", _)) => Ok(location.to_owned()),
        Some(_) => {
            Err(Failure::Usage(format!("{flag}: {location} must be a file or an https address")))
        }
        None => Ok(std::path::absolute(location)?.display().to_string()),
    }
}

fn absolute_rail(rail: Rail) -> Result<Rail, Failure> {
    let target = match rail.target {
        Target::Directory(path) => Target::Directory(std::path::absolute(path)?),
        other => other,
    };
    Ok(Rail { target, ..rail })
}

/// The addresses of a proxy on this machine that connects to `listen`.
fn proxies_of(listen: IpAddr) -> Vec<String> {
    let local = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let from: Vec<IpAddr> = match listen {
        IpAddr::V4(address) if address.is_unspecified() => vec![local[0]],
        IpAddr::V6(address) if address.is_unspecified() => local.to_vec(),
        // A connection to an address of this machine comes from that address.
        address => vec![address],
    };
    from.iter().map(ToString::to_string).collect()
}

fn wallets(args: &InitArgs) -> Result<Option<Wallets>, Failure> {
    let given = &args.wallets;
    let (Some(tenant), Some(nodes), Some(admin), Some(treasury)) =
        (&given.tenant, &given.node_urls_file, &given.admin, &given.treasury)
    else {
        return Ok(None);
    };
    let nodes: Vec<String> = read(nodes)?.split_whitespace().map(str::to_owned).collect();
    if nodes.len() < 2 {
        let rule = "--node-urls-file: must contain two or more URLs: deposits need the agreement of two nodes";
        return Err(Failure::Usage(rule.to_owned()));
    }
    if given.chain.is_none() && given.usdc.is_none() && given.usdt.is_none() {
        let rule = "--usdc, --usdt: name at least one contract, or a public network with --chain";
        return Err(Failure::Usage(rule.to_owned()));
    }
    let tokens = [("--usdc", &given.usdc), ("--usdt", &given.usdt)];
    let tokens = tokens.into_iter().filter_map(|(option, text)| Some((option, text.as_ref()?)));
    let named = [("--admin", admin), ("--treasury", treasury)];
    for (at, (token, contract)) in tokens.clone().enumerate() {
        let others = tokens.clone().skip(at + 1).chain(named);
        if let Some((option, _)) = others.into_iter().find(|(_, text)| *text == contract) {
            return Err(Failure::Usage(format!("{option}: is the contract of {token}")));
        }
    }
    let tag = !tenant.is_empty()
        && tenant.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    if !tag {
        return Err(Failure::Usage("--wallets-tenant: must be a tag of a-z, 0-9 and _".to_owned()));
    }
    Ok(Some(Wallets {
        tenant: tenant.clone(),
        nodes,
        chain: given.chain.clone(),
        chain_id: given.chain_id,
        usdc: given.usdc.clone(),
        usdt: given.usdt.clone(),
        admin: admin.clone(),
        treasury: treasury.clone(),
    }))
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

fn line_of(path: &Path) -> Result<String, Failure> {
    Ok(read(path)?.trim().to_owned())
}

fn filled(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("must not be blank".to_owned()) } else { Ok(text.to_owned()) }
}

/// The number of our own account, unless it is a mistyped IBAN.
fn own_account(text: &str) -> Result<String, String> {
    let text = filled(text)?;
    config::mistyped_iban(&text).map_or(Ok(text), Err)
}

/// Parses the console's URL: the proxy tells the console from the API by its host.
fn console_url(text: &str, api: &reqwest::Url) -> Result<reqwest::Url, String> {
    let url = https(text)?;
    match host_of(&url) == host_of(api) {
        true => {
            let rule = "must have another host than --url";
            Err(format!("{rule}: the proxy tells the console from the API by it"))
        }
        false => Ok(url),
    }
}

/// A host without the dot that may end it.
fn host_of(url: &reqwest::Url) -> Option<&str> {
    url.host_str().map(|host| host.trim_end_matches('.'))
}

fn https(text: &str) -> Result<reqwest::Url, String> {
    const RULE: &str = "must be https:// and a host name";
    let url = reqwest::Url::parse(text.trim()).map_err(|_| RULE.to_owned())?;
    let is_root = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    if url.scheme() != "https" || !url.has_host() || !is_root {
        return Err(RULE.to_owned());
    }
    if url.port().is_some() {
        return Err("must be without a port: the files for the proxy listen on 443".to_owned());
    }
    Ok(url)
}

/// Asks questions, if someone can answer.
pub struct Terminal {
    input: Option<Box<dyn BufRead>>,
}

impl Terminal {
    /// Standard input, if it is a terminal.
    pub fn of_process() -> Terminal {
        let stdin = std::io::stdin();
        let input: Option<Box<dyn BufRead>> =
            if stdin.is_terminal() { Some(Box::new(stdin.lock())) } else { None };
        Terminal { input }
    }

    /// Asks until the answer is valid.
    fn ask<T>(
        &mut self,
        flag: &str,
        question: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            let Some(text) = self.line(flag, question)? else {
                return Err(Failure::Usage(format!("{flag}: is missing")));
            };
            match parse(&text) {
                Ok(value) => return Ok(value),
                Err(rule) => output::remark(&format!("  {rule}")),
            }
        }
    }

    /// Asks until the answer is valid or empty. Without a terminal there is none.
    fn ask_optional<T>(
        &mut self,
        question: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Failure> {
        if self.input.is_none() {
            return Ok(None);
        }
        let unless_empty = |text: &str| match text.trim() {
            "" => Ok(None),
            text => parse(text).map(Some),
        };
        self.ask("", question, unless_empty)
    }

    /// Asks for one or more answers; an empty line ends them.
    fn ask_several<T>(
        &mut self,
        flag: &str,
        question: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, Failure> {
        let mut answers = vec![self.ask(flag, question, &parse)?];
        while let Some(text) = self.line(flag, "Another (empty: none)")? {
            if text.trim().is_empty() {
                break;
            }
            match parse(&text) {
                Ok(value) => answers.push(value),
                Err(rule) => output::remark(&format!("  {rule}")),
            }
        }
        Ok(answers)
    }

    fn line(&mut self, flag: &str, question: &str) -> Result<Option<String>, Failure> {
        let Some(input) = &mut self.input else {
            return Err(Failure::Usage(format!("{flag}: is missing ({question})")));
        };
        output::prompt(question)?;
        let mut text = String::new();
        let read = input.read_line(&mut text)?;
        Ok((read > 0).then_some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        init: InitArgs,
    }

    fn args(words: &[&str]) -> InitArgs {
        let words = std::iter::once("init").chain(words.iter().copied());
        Line::try_parse_from(words).expect("valid options").init
    }

    fn terminal(text: &'static str) -> Terminal {
        Terminal { input: Some(Box::new(text.as_bytes())) }
    }

    #[test]
    fn the_console_has_a_host_of_its_own() {
        let refused = |console: &str| {
            let given = ["--url", "https://api.bank.example", "--console-url", console];
            let refused = Answers::of(&args(&given), &mut terminal("")).expect_err("incomplete");
            refused.to_string().contains("--console-url: must have another host")
        };
        assert!(refused("https://api.bank.example"));
        assert!(refused("https://API.bank.example./"));
        assert!(!refused("https://console.bank.example"));
    }

    #[test]
    fn a_mistyped_iban_of_the_debtor_is_refused() {
        for (text, is_taken) in [
            ("AE070331234567890123456", true),
            (" 0123456789 ", true),
            ("AE080331234567890123456", false),
            ("AE07033123456789012345", false),
            (" ", false),
        ] {
            assert_eq!(own_account(text).is_ok(), is_taken, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_asked_until_it_is_valid() {
        let mut answers = terminal(
            "http://api.bank.example\napi.bank.example\nhttps://api.bank.example\nhttps://api.bank.example\n\nraast\n?\n\
             pak-raast=directory:/srv/raast\n\nDemo Bank\n \nAE07\nDEMOAEAD\nDubai\nGate 4, Main Road, Dubai, ae\n\
             /rates.csv\n\nun.xml\nsdn.csv, alt.csv\n\n/does/not/exist\n\n",
        );
        let found = Answers::of(&args(&[]), &mut answers).expect("complete");
        assert_eq!(found.url.as_str(), "https://api.bank.example/");
        assert_eq!(found.console_url.as_str(), "https://console.api.bank.example/");
        let target = Target::Directory("/srv/raast".into());
        assert_eq!(found.rails, [Rail { id: "pak-raast".to_owned(), target }]);
        assert_eq!(
            (found.debtor.name.as_str(), found.debtor.account.as_str()),
            ("Demo Bank", "AE07")
        );
        let address = DebtorAddress {
            street: "Gate 4, Main Road".to_owned(),
            town: "Dubai".to_owned(),
            country: "AE".to_owned(),
        };
        assert_eq!(found.debtor.address, Some(address));
        let here = |name: &str| absolute("--list", name).expect("a path");
        assert!(here("un.xml").starts_with('/'));
        assert_eq!(found.lists, [vec![here("un.xml")], vec![here("sdn.csv"), here("alt.csv")]]);
        assert_eq!(found.database_url, None);
    }

    #[test]
    fn without_a_terminal_the_missing_option_is_named() {
        let mut closed = Terminal { input: None };
        let failure = Answers::of(&args(&[]), &mut closed).expect_err("nothing given");
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.to_string().starts_with("--url: is missing"), "{failure}");
        let failure = Answers::of(&args(&["--url", "https://a.example/v2"]), &mut closed);
        assert!(failure.expect_err("a path").to_string().contains("--url: must be https"));
    }

    /// Everything but what the test names.
    const OTHERS: [&str; 14] = [
        "--url",
        "https://a.example",
        "--debtor-name",
        "D",
        "--debtor-account",
        "1",
        "--debtor-agent",
        "B",
        "--rates",
        "r.csv",
        "--list",
        "un.xml",
        "--rail",
        "pak-raast=directory:raast",
    ];

    fn found(more: &[&str]) -> Result<Answers, Failure> {
        Answers::of(&args(&[&OTHERS, more].concat()), &mut Terminal { input: None })
    }

    #[test]
    fn paths_do_not_depend_on_the_directory() {
        let found = found(&["--backup-file", "backup.dump"]).expect("complete");
        let here = |name: &str| std::path::absolute(name).expect("a path");
        assert_eq!(found.rails[0].target, Target::Directory(here("raast")));
        assert_eq!(found.backup_file, Some(here("backup.dump")));
        assert_eq!(found.rates, [here("r.csv").display().to_string()]);
    }

    #[test]
    fn addresses_that_the_files_cannot_express_are_refused() {
        for (option, value, rule) in [
            ("--rates", "http://rates.example", "--rates: http://rates.example must be a file or"),
            ("--list", "/a.csv,ftp://lists.example", "--list: ftp://lists.example must be"),
            ("--console-url", "https://c.example:8443", "--console-url: must be without a port"),
        ] {
            let refused = found(&[option, value]).expect_err(value);
            assert!(refused.to_string().starts_with(rule), "{refused}");
            assert_eq!(refused.exit_code(), 2);
        }
        assert!(https("https://a.example:8443").is_err());
        assert!(https("https://a.example:443").is_ok(), "the usual port");
    }

    #[test]
    fn the_trusted_proxies_follow_the_listening_address() {
        for (listen, expected) in [
            ("127.0.0.1:8480", vec!["127.0.0.1"]),
            ("[::1]:8480", vec!["::1"]),
            ("0.0.0.0:8480", vec!["127.0.0.1"]),
            ("[::]:8480", vec!["127.0.0.1", "::1"]),
            ("10.1.2.3:8480", vec!["10.1.2.3"]),
        ] {
            let found = found(&["--listen", listen]).expect("complete");
            assert_eq!(found.trusted_proxies, expected, "{listen}");
        }
        let named = found(&["--listen", "10.1.2.3:8480", "--trusted-proxy", "10.9.0.0/16"]);
        assert_eq!(named.expect("complete").trusted_proxies, ["10.9.0.0/16"]);
    }

    #[test]
    fn rails_are_known_and_lead_somewhere() {
        for (text, words) in [
            ("pak-raast", "must be ID="),
            ("pak-raast=directory:", "must be ID="),
            ("pak-raast=http://bank.example", "must be ID="),
            ("pak-rast=directory:/srv", "pak-raast"),
            ("pak-raast=sftp://sftp.bank.example", "must be sftp://USER@HOST"),
            ("pak-raast=sftp://", "must be sftp://USER@HOST"),
            ("pak-raast=sftp:remit@sftp.bank.example", "must be sftp://USER@HOST"),
            ("pak-raast=sftp://remit@sftp.bank.example/out?x", "must be sftp://USER@HOST"),
            ("pak-raast=sftp://remit@sftp.bank.example:0", "must be sftp://USER@HOST"),
            ("pak-raast=sftp://remit:secret@sftp.bank.example", "must not have a password"),
            ("pak-raast=connector:", ""),
            ("pak-raast=connector:http://bank.example", "http:// on this machine"),
            ("pak-raast=connector:ftp://127.0.0.1", "http:// on this machine"),
        ] {
            let rule = rail(text).expect_err(text);
            assert!(rule.contains(words), "{text}: {rule}");
        }
        assert!(rail("ind-imps=https://bank.example/iso").is_ok());
        for url in
            ["https://connector.bank.example/v1", "http://127.0.0.1:8090", "http://[::1]:8090"]
        {
            let found = rail(&format!("ind-imps=connector:{url}")).expect(url);
            assert_eq!(found.target, Target::Connector(url.to_owned()));
        }
    }

    #[test]
    fn a_server_is_named_as_in_a_url() {
        let of = |text: &str| match rail(&format!("npl-nchl-ips={text}")).expect(text).target {
            Target::Sftp(Server { user, host, port, path, .. }) => (user, host, port, path),
            other => panic!("{other:?}"),
        };
        let server = |user: &str, host: &str, port, path: Option<&str>| {
            (user.to_owned(), host.to_owned(), port, path.map(str::to_owned))
        };
        for (text, expected) in [
            ("sftp://remit01@sftp.bank.example", server("remit01", "sftp.bank.example", 22, None)),
            ("sftp://remit01@SFTP.bank.example/", server("remit01", "sftp.bank.example", 22, None)),
            ("sftp://r@10.1.2.3:2222/pay/nchl/", server("r", "10.1.2.3", 2222, Some("/pay/nchl"))),
            ("sftp://r@[fd00::7]:22", server("r", "fd00::7", 22, None)),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_servers_key_is_given_or_asked_for_once() {
        const KEY: &str = "SHA256:uNiVztksCsDhcc0u9e8BrOqu5UmMQmfTEDZxT1UzoNo";
        let rails = || {
            let both = ["npl-nchl-ips=sftp://r@a.example/npl", "pak-raast=sftp://r@a.example/pak"];
            both.map(|text| rail(text).expect(text)).to_vec()
        };
        let keys = |rails: Vec<Rail>| {
            let of = |rail: Rail| match rail.target {
                Target::Sftp(server) => server.host_keys,
                other => panic!("{other:?}"),
            };
            rails.into_iter().map(of).collect::<Vec<_>>()
        };
        let mut closed = Terminal { input: None };
        let given = host_key(&format!("A.example={KEY}")).expect("a key");
        let found =
            with_host_keys(rails(), std::slice::from_ref(&given), &mut closed).expect("complete");
        assert_eq!(keys(found), [[KEY], [KEY]]);
        let missing = with_host_keys(rails(), &[], &mut closed).expect_err("no key");
        assert!(missing.to_string().starts_with("--host-key: is missing"), "{missing}");
        let mut answers = terminal("MD5:00\nSHA256:uNiVztksCsDhcc0u9e8BrOqu5UmMQmfTEDZxT1UzoNo\n");
        let found = with_host_keys(rails(), &[], &mut answers).expect("answered");
        assert_eq!(keys(found), [[KEY], [KEY]]);
        let other = ServerKey { host: "b.example".to_owned(), ..given };
        let stray = with_host_keys(Vec::new(), &[other], &mut closed).expect_err("no such rail");
        assert!(stray.to_string().contains("no rail leads to sftp://…@b.example"), "{stray}");
        assert!(host_key("a.example").is_err() && host_key("a.example=SHA256:x").is_err());
    }
}
