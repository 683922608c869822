//! The reach of webhooks: allowed URLs and resolved addresses, checked at the moment of connecting,
//! so that DNS rebinding between check and connection has no effect.

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use domain::characters::{FORBIDDEN, is_unshowable};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{self, Inward};

/// Maximum number of addresses examined per name.
const ADDRESSES_MAX: usize = 16;

/// The targets that webhooks may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Public internet addresses, over HTTPS.
    Internet,
    /// Also this machine and its private network, and plain HTTP: for a sandbox and for a bank's
    /// own tests.
    Sandbox,
}

/// Why a URL is not a valid endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// The text is not a URL.
    #[error("is not a URL: {0}")]
    Unreadable(String),
    /// Plain HTTP, or another scheme.
    #[error("must begin with https://")]
    NotHttps,
    /// Another scheme, where plain HTTP is accepted.
    #[error("must begin with http:// or https://")]
    NotHttp,
    /// A character that readers and programs take for different things.
    #[error("must have no backslash, blank or {FORBIDDEN}")]
    Misleading,
    /// No host, or a fragment.
    #[error("must be https://host[:port][/path][?query] and nothing else")]
    NotPlain,
    /// A user name or a password.
    #[error(
        "must not hold a user name or password: webhooks are signed; a gateway's key may be in the query"
    )]
    Credentials,
    /// An address that is not public.
    #[error("{address} is {why}: webhooks go to the internet only")]
    Inward { address: IpAddr, why: Inward },
    /// A name that does not resolve.
    #[error("{0} has no address")]
    NoAddress(String),
}

impl Reach {
    /// The URL of a path below an endpoint's base, if both are allowed. The base's query stays
    /// after the path: gateways and functions carry their keys there. A name is resolved only when
    /// connecting.
    pub fn url(self, base: &str, path: &str) -> Result<Url, UrlFault> {
        let mut url = Url::parse(base).map_err(|error| UrlFault::Unreadable(error.to_string()))?;
        match (url.scheme(), self) {
            ("https", _) | ("http", Reach::Sandbox) => {}
            (_, Reach::Sandbox) => return Err(UrlFault::NotHttp),
            _ => return Err(UrlFault::NotHttps),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlFault::Credentials);
        }
        if url.fragment().is_some() {
            return Err(UrlFault::NotPlain);
        }
        let host = url.host_str().ok_or(UrlFault::NotPlain)?;
        // The parser has normalised every other spelling of an address (0x7f.1, 2130706433,
        // 017700000001).
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            self.allows(address)?;
        }
        let path = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(url)
    }

    /// The endpoint that a user entered, as it is called and therefore kept and shown: a host in
    /// another script is in its ASCII form, an address in its usual one.
    pub fn endpoint(self, entered: &str) -> Result<String, UrlFault> {
        let misleads = |it: char| it == '\\' || it.is_whitespace() || is_unshowable(it);
        if entered.chars().any(misleads) {
            return Err(UrlFault::Misleading);
        }
        self.url(entered, "")?;
        let called =
            Url::parse(entered).map_err(|error| UrlFault::Unreadable(error.to_string()))?;
        // A bare host is kept without the slash that the parser adds.
        let is_as_entered = called.as_str().strip_suffix('/') == Some(entered);
        Ok(if is_as_entered { entered.to_owned() } else { called.into() })
    }

    fn allows(self, address: IpAddr) -> Result<(), UrlFault> {
        match address::outward(address) {
            Err(Inward::Loopback | Inward::Private) if self == Reach::Sandbox => Ok(()),
            Err(why) => Err(UrlFault::Inward { address, why }),
            Ok(()) => Ok(()),
        }
    }

    /// The addresses of a name that may be connected to.
    fn allowed(self, name: &str, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, UrlFault> {
        let mut allowed = Vec::new();
        let mut refusal = UrlFault::NoAddress(name.to_owned());
        for address in found.into_iter().take(ADDRESSES_MAX) {
            match self.allows(address) {
                Ok(()) => allowed.push(address),
                Err(fault) => refusal = fault,
            }
        }
        if allowed.is_empty() { Err(refusal) } else { Ok(allowed) }
    }

    /// Checks every address of a name: a proxy may connect to any of them.
    fn allows_all(self, name: &str, found: &[IpAddr]) -> Result<(), UrlFault> {
        match found.is_empty() {
            true => Err(UrlFault::NoAddress(name.to_owned())),
            false => found.iter().try_for_each(|address| self.allows(*address)),
        }
    }
}

/// Resolves a host name to its addresses.
pub(super) type Lookup = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>>
        + Send
        + Sync,
>;

/// Resolves by the system.
pub(super) fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// The resolver of the HTTP client itself: the client connects only to the addresses that it
/// returns. The operator's proxies are the only names that may be anywhere.
pub(super) struct Guard {
    reach: Reach,
    lookup: Lookup,
    /// Host names in lower case.
    proxies: Vec<String>,
}

impl Guard {
    pub(super) fn new(reach: Reach, lookup: Lookup, proxies: Vec<String>) -> Guard {
        Guard { reach, lookup, proxies }
    }
}

/// Checks the host of a URL that a proxy connects to.
///
/// # Errors
/// One of its addresses is refused, or it has none.
pub(super) async fn check_host(reach: Reach, lookup: &Lookup, url: &Url) -> Result<(), UrlFault> {
    // `Reach::url` has checked an address that stands for itself.
    let Some(name) = url.domain() else { return Ok(()) };
    let found = lookup(name.to_owned()).await;
    let found = found.map_err(|_| UrlFault::NoAddress(name.to_owned()))?;
    reach.allows_all(name, &found)
}

impl fmt::Debug for Guard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Guard").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        let name = name.as_str().to_owned();
        let is_proxy = self.proxies.contains(&name.to_ascii_lowercase());
        let looking = (self.lookup)(name.clone());
        Box::pin(async move {
            let found = looking.await?;
            let allowed = if is_proxy { found } else { reach.allowed(&name, found)? };
            // Port 0: the connector uses the URL's.
            let addresses: Addrs =
                Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(reach: Reach, base: &str) -> UrlFault {
        reach.url(base, "/webhooks/wallet/payment-received").expect_err(base)
    }

    #[test]
    fn only_plain_https_addresses_are_receivers() {
        let url =
            Reach::Internet.url("https://bank.example:8443/in/", "/webhooks/wallet/wallet-blocked");
        assert_eq!(
            url.expect("allowed").as_str(),
            "https://bank.example:8443/in/webhooks/wallet/wallet-blocked"
        );
        for base in [
            "http://bank.example",
            "ftp://bank.example",
            "file:///etc/passwd",
            "gopher://bank.example",
        ] {
            assert_eq!(refusal(Reach::Internet, base), UrlFault::NotHttps, "{base}");
        }
        assert_eq!(refusal(Reach::Sandbox, "ftp://127.0.0.1:9000"), UrlFault::NotHttp);
        for base in
            ["https://user@bank.example", "https://u:p@bank.example", "https://:p@bank.example?x=1"]
        {
            assert_eq!(refusal(Reach::Internet, base), UrlFault::Credentials, "{base}");
        }
        assert_eq!(refusal(Reach::Internet, "https://b#f"), UrlFault::NotPlain);
        for base in
            ["", "bank.example", "https://", "https://[::1", "https://a b", "https://256.0.0.1"]
        {
            assert!(matches!(refusal(Reach::Internet, base), UrlFault::Unreadable(_)), "{base}");
        }
    }

    /// Azure's functions and many gateways carry their key in the query, which follows the event's path.
    #[test]
    fn case_30_urls() {
        assert_eq!(
            refusal(Reach::Internet, "https://user:pass@hooks.example.com/in"),
            UrlFault::Credentials
        );
        for (base, url) in [
            (
                "https://hooks.example.com/corridor",
                "https://hooks.example.com/corridor/webhooks/wallet/wallet-blocked",
            ),
            (
                "https://fn.example.net/api/in?code=abc%3D%3D",
                "https://fn.example.net/api/in/webhooks/wallet/wallet-blocked?code=abc%3D%3D",
            ),
            (
                "https://fn.example.net?sig=a+b&sv=1.0",
                "https://fn.example.net/webhooks/wallet/wallet-blocked?sig=a+b&sv=1.0",
            ),
            (
                "https://fn.example.net/in/?",
                "https://fn.example.net/in/webhooks/wallet/wallet-blocked?",
            ),
        ] {
            let reached = Reach::Internet.url(base, "/webhooks/wallet/wallet-blocked").expect(base);
            assert_eq!(reached.as_str(), url);
        }
    }

    /// What becomes of an endpoint's address, as `hostile_urls.txt` names it.
    fn verdict(base: &str) -> String {
        match Reach::Internet.url(base, "/x") {
            Ok(_) => "Public".to_owned(),
            Err(UrlFault::Inward { why, .. }) => format!("{why:?}"),
            Err(UrlFault::NotHttps) => "NotHttps".to_owned(),
            Err(UrlFault::NotHttp) => "NotHttp".to_owned(),
            Err(UrlFault::NotPlain) => "NotPlain".to_owned(),
            Err(UrlFault::Misleading) => "Misleading".to_owned(),
            Err(UrlFault::Credentials) => "Credentials".to_owned(),
            Err(UrlFault::Unreadable(_)) => "Unreadable".to_owned(),
            Err(UrlFault::NoAddress(_)) => "NoAddress".to_owned(),
        }
    }

    #[test]
    fn addresses_are_recognised_in_every_spelling() {
        let lines = include_str!("../../data/hostile_urls.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        let mut wrong = Vec::new();
        let mut count = 0;
        for line in lines {
            let (expected, base) = line.split_once(' ').expect("a verdict and an address");
            let found = verdict(base);
            if found != expected {
                wrong.push(format!("{base}: {found}, not {expected}"));
            }
            count += 1;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(count > 120, "{count} addresses");
        for base in ["", " ", "https://bank.example/\n#", "\u{0}https://bank.example#x"] {
            assert_ne!(verdict(base), "Public", "{base:?}");
        }
    }

    /// What a second user approves is what is called.
    #[test]
    fn an_endpoint_is_kept_as_it_is_called() {
        for (entered, kept) in [
            ("https://bank.example", "https://bank.example"),
            ("https://bank.example/in/", "https://bank.example/in/"),
            ("https://fn.example/in?code=a%3D&sv=1", "https://fn.example/in?code=a%3D&sv=1"),
            ("https://bank.example:8443/in", "https://bank.example:8443/in"),
            ("https:evil.example/x", "https://evil.example/x"),
            ("https:///evil.example/x", "https://evil.example/x"),
            ("HTTPS://Bank.Example/In", "https://bank.example/In"),
            ("https://b\u{430}nk.example/in", "https://xn--bnk-6cd.example/in"),
            ("https://evil\u{3002}example", "https://evil.example/"),
            ("https://ｅvil.example", "https://evil.example/"),
            ("https://ev\u{ad}il.example/in", "https://evil.example/in"),
            ("https://16843009/in", "https://1.1.1.1/in"),
            ("https://0x1.0x1.0x1.0x1/in", "https://1.1.1.1/in"),
            ("https://bank.example/a/../b", "https://bank.example/b"),
            ("https://bank.example/\u{646}\u{644}", "https://bank.example/%D9%86%D9%84"),
        ] {
            assert_eq!(Reach::Internet.endpoint(entered).as_deref(), Ok(kept), "{entered:?}");
        }
        for entered in [
            "https://evil.example\\.bank.example/in",
            "http:\\\\evil.example/in",
            "https://ev\til.example",
            "https://ev\nil.example",
            "https://evil.example /bank.example",
            "https://evil.example/\u{2066}\u{202e}/moc.knab",
            "https://evil.example/\u{200f}x",
            "https://evil.example/\u{a0}x",
            "https://evil.example/\u{2028}x",
        ] {
            assert_eq!(Reach::Internet.endpoint(entered), Err(UrlFault::Misleading), "{entered:?}");
        }
        assert_eq!(Reach::Internet.endpoint("http://bank.example"), Err(UrlFault::NotHttps));
    }

    #[test]
    fn a_sandbox_reaches_its_own_machine_and_network_only() {
        for base in [
            "http://127.0.0.1:9000",
            "http://localhost:9000",
            "https://[::1]",
            "http://10.0.0.7",
            "http://b.example",
        ] {
            assert!(Reach::Sandbox.url(base, "/x").is_ok(), "{base}");
        }
        for base in [
            "http://169.254.169.254",
            "http://0.0.0.0",
            "http://[::ffff:127.0.0.1]",
            "ftp://127.0.0.1",
        ] {
            assert!(Reach::Sandbox.url(base, "/x").is_err(), "{base}");
        }
    }

    #[test]
    fn of_a_name_s_addresses_only_those_of_the_internet_are_connected_to() {
        let addresses =
            |texts: &[&str]| texts.iter().map(|text| text.parse().expect("an address")).collect();
        let allowed = |texts: &[&str]| Reach::Internet.allowed("bank.example", addresses(texts));
        assert_eq!(allowed(&["10.0.0.1", "1.1.1.1", "::1"]), Ok(addresses(&["1.1.1.1"])));
        let inward = UrlFault::Inward {
            address: "fd00::1".parse().expect("an address"),
            why: Inward::Private,
        };
        assert_eq!(allowed(&["127.0.0.1", "fd00::1"]), Err(inward));
        assert_eq!(allowed(&[]), Err(UrlFault::NoAddress("bank.example".to_owned())));
        // A proxy chooses among them by itself.
        let proxied = |texts: &[&str]| {
            let found: Vec<IpAddr> = addresses(texts);
            Reach::Internet.allows_all("bank.example", &found).is_ok()
        };
        assert!(proxied(&["1.1.1.1", "2606:4700::1111"]));
        for found in [&["1.1.1.1", "10.0.0.1"][..], &["fd00::1", "1.1.1.1"], &["127.0.0.1"], &[]] {
            assert!(!proxied(found), "{found:?}");
        }
        let last = [vec!["1.1.1.1"; 100], vec!["169.254.169.254"]].concat();
        assert!(!proxied(&last), "all are checked, however many");
        let many = vec!["1.1.1.1"; 100];
        assert_eq!(allowed(&many).map(|found| found.len()), Ok(ADDRESSES_MAX));
    }
}
