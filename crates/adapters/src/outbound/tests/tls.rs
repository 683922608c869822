//! Client certificates, private authorities, proxies.

use std::time::Duration;

use testkit::connect_proxy::ConnectProxy;
use testkit::tls_front::{FrontCertificates, TlsFront};
use testkit::wait;

use super::authority::{Authority, Issued};
use super::*;

struct World {
    bank: Authority,
    ours: Authority,
    front: TlsFront,
    directory: tempfile::TempDir,
}

impl World {
    /// A bank that demands certificates of our authority, with one of its own.
    async fn new() -> World {
        let (bank, ours) = (Authority::new(), Authority::new());
        let server = bank.server(&["localhost", "bank.example"]);
        let certificates = FrontCertificates {
            certificate: &server.certificate,
            key: &server.key,
            client_authority: Some(&ours.pem),
        };
        let front = TlsFront::start(&certificates, plain().await).await.expect("a front");
        let directory = tempfile::tempdir().expect("a directory");
        World { bank, ours, front, directory }
    }

    fn settings(&self, client: Option<&Issued>) -> Settings {
        let identity = client.map(|issued| self.identity(issued));
        let authority_file = Some(written(self.directory.path(), "bank.pem", &self.bank.pem));
        Settings { identity, authority_file, system_authorities: false, ..Settings::default() }
    }

    fn identity(&self, issued: &Issued) -> Identity {
        Identity {
            certificate_file: written(self.directory.path(), "client.pem", &issued.certificate),
            key_file: written(self.directory.path(), "client.key", &issued.key),
        }
    }

    fn url(&self) -> String {
        https(self.front.address())
    }
}

#[tokio::test]
async fn a_bank_with_a_private_authority_knows_us_by_our_certificate() {
    let world = World::new().await;
    let issued = world.ours.client("corridor");
    let known = client(&world.settings(Some(&issued)), &world.url());
    assert_eq!(get(&known, &world.url()).await, Ok(200));
    assert_eq!(world.front.clients().len(), 1);
}

#[tokio::test]
async fn a_rejected_handshake_proves_that_nothing_was_sent() {
    let world = World::new().await;
    let stranger = Authority::new().client("stranger");
    for (of_us, words) in [(None, "CertificateRequired"), (Some(&stranger), "UnknownCA")] {
        let unknown = client(&world.settings(of_us), &world.url());
        let fault = post(&unknown, &world.url()).await.expect_err("refused");
        assert!(fault.was_not_sent() && fault.to_string().contains(words), "{fault:?}");
    }
    let issued = world.ours.client("corridor");
    let trusting = Settings {
        authority_file: None,
        system_authorities: true,
        ..world.settings(Some(&issued))
    };
    let fault = post(&client(&trusting, &world.url()), &world.url()).await.expect_err("unknown");
    assert!(fault.was_not_sent() && fault.to_string().contains("UnknownIssuer"), "{fault:?}");
}

#[tokio::test]
async fn a_changed_certificate_is_used_without_a_restart() {
    let world = World::new().await;
    let stranger = Authority::new().client("stranger");
    let client = client(&world.settings(Some(&stranger)), &world.url());
    assert!(get(&client, &world.url()).await.is_err());
    let issued = world.ours.client("corridor");
    // First only one of the two files: the pair before stays in use.
    written(world.directory.path(), "client.pem", &issued.certificate);
    let fault = get(&client, &world.url()).await.expect_err("the old pair");
    assert!(fault.to_string().contains("UnknownCA"), "{fault}");
    written(world.directory.path(), "client.key", &issued.key);
    let renewed =
        wait::until_async(wait::AT_MOST, || async { get(&client, &world.url()).await == Ok(200) });
    assert!(renewed.await);
}

#[tokio::test]
async fn a_key_that_was_unusable_once_is_taken_later() {
    let world = World::new().await;
    let stranger = Authority::new().client("stranger");
    let client = client(&world.settings(Some(&stranger)), &world.url());
    let issued = world.ours.client("corridor");
    let directory = world.directory.path();
    written(directory, "client.pem", &issued.certificate);
    let key_file = written(directory, "client.key", &issued.key.replacen('M', "*", 1));
    let modified = std::fs::metadata(&key_file).and_then(|about| about.modified());
    for _ in 0..2 {
        let fault = get(&client, &world.url()).await.expect_err("the old pair");
        assert!(fault.to_string().contains("UnknownCA"), "{fault}");
    }
    // Of the same size, with the same time of modification.
    written(directory, "client.key", &issued.key);
    let file = std::fs::File::options().write(true).open(&key_file).expect("opens");
    file.set_modified(modified.expect("a time")).expect("set");
    assert_eq!(get(&client, &world.url()).await, Ok(200));
}

#[tokio::test]
async fn a_changed_authority_is_trusted_without_a_restart() {
    let world = World::new().await;
    let issued = world.ours.client("corridor");
    let settings = world.settings(Some(&issued));
    written(world.directory.path(), "bank.pem", &Authority::new().pem);
    let client = client(&settings, &world.url());
    assert!(get(&client, &world.url()).await.is_err());
    written(world.directory.path(), "bank.pem", &world.bank.pem);
    assert_eq!(get(&client, &world.url()).await, Ok(200));
}

#[tokio::test]
async fn an_expired_certificate_is_named() {
    let world = World::new().await;
    let short = world.ours.client_for("corridor", Duration::from_secs(2));
    let settings = world.settings(Some(&short));
    let client = client(&settings, &world.url());
    let expired = wait::until_async(wait::AT_MOST, || async {
        get(&client, &world.url())
            .await
            .is_err_and(|fault| fault.to_string().contains("expired on"))
    });
    assert!(expired.await);
    let fault = post(&client, &world.url()).await.expect_err("expired");
    assert!(fault.was_not_sent() && fault.to_string().contains("client.pem"), "{fault:?}");
    // The same at a start.
    let refused = Client::new(&settings, "test.url", &[&world.url()]).expect_err("expired");
    assert!(refused.key.ends_with("certificate_file"), "{refused}");
    assert!(refused.rule.contains("the certificate expired on 20"), "{refused}");
}

#[test]
fn a_files_first_certificate_says_when_it_expires() {
    let directory = tempfile::tempdir().expect("a directory");
    let authority = Authority::new();
    let issued = authority.client_for("corridor", Duration::from_hours(24 * 5));
    let chain = format!("{}{}", issued.certificate, authority.pem);
    let until = expires(&written(directory.path(), "chain.pem", &chain));
    let left = until.expect("a certificate").0 / 1_000_000 - jiff::Timestamp::now().as_second();
    assert!((24 * 5 - 1..=24 * 5).contains(&(left / 3_600)), "{left}");
    for (text, why) in [
        (issued.key.as_str(), "contains no certificate"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is not a certificate"),
    ] {
        let path = written(directory.path(), "wrong.pem", text);
        let refused = expires(&path).expect_err(why);
        assert!(refused.contains(why) && refused.contains("wrong.pem"), "{refused}");
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_at_the_start() {
    let world = World::new().await;
    let (issued, other) = (world.ours.client("corridor"), world.ours.client("other"));
    let at = |name: &str, text: &str| written(world.directory.path(), name, text);
    let (certificate, key) = (at("c", &issued.certificate), at("k", &issued.key));
    let missing = world.directory.path().join("missing");
    let encrypted = at(
        "e",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let two = at("two", &format!("{}{}", issued.key, other.key));
    let bundle = at("bundle", &format!("{}{}{}", issued.certificate, issued.key, other.key));
    for (certificate_file, key_file, name, words) in [
        (&missing, &key, "certificate_file", "missing: cannot be read"),
        (&certificate, &missing, "key_file", "missing: cannot be read"),
        (&key, &key, "certificate_file", "contains no certificate"),
        (&certificate, &certificate, "key_file", "contains no private key"),
        (&certificate, &encrypted, "key_file", "contains no private key"),
        (&certificate, &two, "key_file", "two: contains 2 private keys, and must have one"),
        (&bundle, &bundle, "key_file", "bundle: contains 2 private keys, and must have one"),
        (&certificate, &at("o", &other.key), "key_file", "is not the key of the certificate"),
    ] {
        let identity =
            Identity { certificate_file: certificate_file.clone(), key_file: key_file.clone() };
        let settings = Settings { identity: Some(identity), ..world.settings(None) };
        let refused = Client::new(&settings, "test.url", &[]).expect_err(words);
        assert_eq!(refused.key, format!("outbound.default.{name}"), "{refused}");
        assert!(refused.rule.contains(words), "{refused}");
    }
    let both = at("both", &format!("{}{}", issued.certificate, issued.key));
    let identity = Identity { certificate_file: both.clone(), key_file: both };
    let settings = Settings { identity: Some(identity), ..world.settings(None) };
    assert_eq!(get(&client(&settings, &world.url()), &world.url()).await, Ok(200));
    for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let authority_file = Some(at("a", text));
        let settings = Settings { authority_file, ..Settings::default() };
        let refused = Client::new(&settings, "test.url", &[]).expect_err("no authority");
        assert_eq!(refused.key, "outbound.default.authority_file", "{refused}");
    }
}

#[tokio::test]
async fn the_bank_is_reached_through_the_proxy() {
    let world = World::new().await;
    let issued = world.ours.client("corridor");
    let routes = [("bank.example:443", world.front.address())];
    let proxy = ConnectProxy::start(&routes, Some("me:s3cret"));
    let proxy = proxy.await.expect("a proxy");
    let through = |pair: &str| {
        let url = format!("http://{pair}@{}", proxy.address());
        Settings { proxy: Proxy::Url(url.into()), ..world.settings(Some(&issued)) }
    };
    let address = "https://bank.example/";
    assert_eq!(get(&client(&through("me:s3cret"), address), address).await, Ok(200));
    assert_eq!(proxy.targets(), ["bank.example:443"]);
    let fault = post(&client(&through("me:another"), address), address).await;
    let fault = fault.expect_err("the proxy refuses");
    assert!(fault.was_not_sent() && !fault.to_string().contains("another"), "{fault:?}");
    // Around it: this machine knows no such name.
    let direct = Settings { proxy: Proxy::Direct, ..through("me:s3cret") };
    assert!(get(&client(&direct, address), address).await.is_err());
    assert_eq!(proxy.targets().len(), 1);
    for url in ["socks5://127.0.0.1:1", "proxy", "http://"] {
        let settings = Settings { proxy: Proxy::Url(url.into()), ..Settings::default() };
        let refused = Client::new(&settings, "test.url", &[]).expect_err(url);
        assert_eq!(refused.key, "outbound.default.proxy");
    }
}
