//! The adapter with a real server: storing, deaths, streams, logins, TLS.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::ids::EventId;
use domain::ports::EventSink as _;
use domain::relay::EventMessage;
use futures_util::StreamExt as _;
use nkeys::KeyPair as UserKey;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::nats::{self, NatsServer};
use testkit::wait;
use uuid::Uuid;

use super::{NatsLogin, NatsSettings, NatsSink, NewStream};

const STREAM: &str = "EVENTS";

fn settings(server: &NatsServer) -> NatsSettings {
    NatsSettings {
        servers: vec![server.url()],
        client: "test".to_owned(),
        authority_file: None,
        client_certificate: None,
        login: NatsLogin::None,
        stream: STREAM.to_owned(),
        create: Some(NewStream {
            subject: "bank.*.*".to_owned(),
            replicas: 1,
            max_age: Duration::ZERO,
            duplicate_window: Duration::from_secs(60),
        }),
        timeout: Duration::from_secs(2),
    }
}

fn message(number: u128) -> EventMessage {
    let id = EventId(Uuid::from_u128(number));
    EventMessage {
        id,
        subject: "bank.payment.queued".to_owned(),
        body: format!("{{\"n\":{number}}}").into(),
    }
}

/// A server holds messages back while a thousand are not acknowledged.
fn unacknowledged() -> pull::Config {
    pull::Config { ack_policy: AckPolicy::None, ..pull::Config::default() }
}

/// The ids and bodies of a stream, in its order.
async fn stored(url: &str) -> Vec<(String, String)> {
    let client = async_nats::connect(url).await.expect("connected");
    let stream = async_nats::jetstream::new(client).get_stream(STREAM).await.expect("a stream");
    let count = usize::try_from(stream.cached_info().state.messages).expect("a count");
    let consumer = stream.create_consumer(unacknowledged()).await.expect("a consumer");
    let messages = consumer.messages().await.expect("messages").take(count);
    let read = |it: Result<async_nats::jetstream::Message, _>| {
        let it = it.expect("a message");
        let id = it.headers.as_ref().and_then(|all| all.get("Nats-Msg-Id")).expect("an id");
        (id.to_string(), String::from_utf8(it.payload.to_vec()).expect("UTF-8"))
    };
    messages.map(read).collect().await
}

fn server(part: &str, lines: &str) -> Option<(NatsServer, TempDir)> {
    drop(rustls::crypto::ring::default_provider().install_default());
    let dir = tempfile::tempdir().expect("a directory");
    let server = nats::for_tests(part, dir.path(), lines).expect("NATS")?;
    Some((server, dir))
}

#[tokio::test]
async fn messages_are_stored_once_and_survive_the_brokers_death() {
    let Some((mut server, _dir)) = server("JetStream", "") else { return };
    let sink = NatsSink::new(settings(&server));
    sink.check().await.expect("the stream is created");
    sink.check().await.expect("the stream is there");
    let first = [message(1), message(2)];
    assert_eq!(sink.publish(&first).await, [Ok(()), Ok(())]);
    server.kill().expect("killed");
    let refused = sink.publish(&[message(3)]).await;
    assert!(refused[0].is_err(), "{refused:?}");
    server.start().expect("restarted");
    let recovered = async || sink.check().await.is_ok();
    assert!(
        wait::until_async(wait::AT_MOST, recovered).await,
        "the connection comes back by itself"
    );
    let again = [message(2), message(3), message(4)];
    assert_eq!(sink.publish(&again).await, [Ok(()), Ok(()), Ok(())]);
    let expected: Vec<(String, String)> = (1..=4)
        .map(|n| {
            let EventMessage { id, body, .. } = message(n);
            (id.to_string(), String::from_utf8(body).expect("UTF-8"))
        })
        .collect();
    assert_eq!(stored(&server.url()).await, expected, "in order, a repetition is not stored");
}

#[tokio::test]
async fn a_stream_that_must_exist_is_not_created_and_another_one_does_not_count() {
    let Some((server, _dir)) = server("JetStream streams", "") else { return };
    let strict = NatsSink::new(NatsSettings { create: None, ..settings(&server) });
    let fault = strict.check().await.expect_err("there is none").to_string();
    assert!(fault.contains(STREAM) && fault.contains(&server.address()), "{fault}");
    let answers = strict.publish(&[message(1)]).await;
    assert!(answers[0].is_err(), "no stream stores it: {answers:?}");
    NatsSink::new(settings(&server)).check().await.expect("created");
    strict.check().await.expect("there now");
    let other = NatsSettings { stream: "OTHER".to_owned(), create: None, ..settings(&server) };
    let answers = NatsSink::new(other).publish(&[message(2)]).await;
    let fault = answers[0].as_ref().expect_err("another stream stored it").to_string();
    assert!(fault.contains("stored by the stream EVENTS, not by OTHER"), "{fault}");
}

#[tokio::test]
async fn every_login_works_and_a_wrong_one_is_refused_without_showing_it() {
    let nkey = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    let public = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
    let secret = |text: &str| SecretString::from(text);
    let user = |password: &str| NatsLogin::User {
        user: "corridor".to_owned(),
        password: secret(password),
    };
    for (lines, right, wrong) in [
        (
            "authorization { user: corridor, password: s3cretvalue }".to_owned(),
            user("s3cretvalue"),
            user("wr0ngvalue"),
        ),
        (
            "authorization { token: s3cretvalue }".to_owned(),
            NatsLogin::Token(secret("s3cretvalue")),
            NatsLogin::Token(secret("wr0ngvalue")),
        ),
        (
            format!("authorization {{ users: [{{ nkey: {public} }}] }}"),
            NatsLogin::Nkey(secret(nkey)),
            NatsLogin::None,
        ),
    ] {
        let Some((server, _dir)) = server("NATS logins", &lines) else { return };
        let with = |login: NatsLogin| NatsSink::new(NatsSettings { login, ..settings(&server) });
        with(right).check().await.unwrap_or_else(|fault| panic!("{lines}: {fault}"));
        let fault = with(wrong).check().await.expect_err("refused").to_string();
        assert!(!fault.contains("wr0ngvalue"), "{fault}");
    }
}

#[tokio::test]
async fn a_private_authority_and_a_client_certificate_are_used() {
    let Some(_) = server("NATS over TLS", "") else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"));
    let authority = authority.expect("an authority");
    let write = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let signed = |name: &str, usage| {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("parameters");
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &authority).expect("signed");
        (
            write(&format!("{name}.pem"), certificate.pem()),
            write(&format!("{name}-key.pem"), key.serialize_pem()),
        )
    };
    let ca = write("ca.pem", authority.pem());
    let (certificate, key) = signed("server", ExtendedKeyUsagePurpose::ServerAuth);
    let ours = signed("client", ExtendedKeyUsagePurpose::ClientAuth);
    let lines = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}",
        certificate.display(),
        key.display(),
        ca.display()
    );
    let Some((server, _dir)) = server("NATS over TLS", &lines) else { return };
    let over_tls = |authority_file, client_certificate| {
        NatsSink::new(NatsSettings {
            servers: vec![format!("tls://{}", server.address())],
            authority_file,
            client_certificate,
            ..settings(&server)
        })
    };
    let sink = over_tls(Some(ca.clone()), Some(ours.clone()));
    sink.check().await.expect("both sides are known");
    assert_eq!(sink.publish(&[message(1)]).await, [Ok(())]);
    over_tls(Some(ca), None).check().await.expect_err("no client certificate");
    over_tls(None, Some(ours)).check().await.expect_err("the system does not know the authority");
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// A JWT of NATS' own kind.
fn jwt(issuer: &UserKey, subject: &UserKey, expires: Option<u64>, claims: &Value) -> String {
    let head = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let mut body = json!({
        "jti": subject.public_key(), "iat": seconds(), "iss": issuer.public_key(),
        "name": "test", "sub": subject.public_key(), "nats": claims,
    });
    if let Some(expires) = expires {
        body["exp"] = expires.into();
    }
    let encode = |text: String| URL_SAFE_NO_PAD.encode(text);
    let signed = format!("{}.{}", encode(head.to_string()), encode(body.to_string()));
    let signature = issuer.sign(signed.as_bytes()).expect("signed");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// A server whose users have JWTs of this account.
fn server_of(account: &UserKey) -> Option<(NatsServer, TempDir)> {
    let (operator, system) = (UserKey::new_operator(), UserKey::new_account());
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
    });
    let account_claims = json!({"type": "account", "version": 2, "limits": limits});
    let system_limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1,
    });
    let system_claims = json!({"type": "account", "version": 2, "limits": system_limits});
    let operator_claims =
        json!({"type": "operator", "version": 2, "system_account": system.public_key()});
    let lines = format!(
        "operator: \"{}\"\nsystem_account: {system_id}\nresolver: MEMORY\n\
         resolver_preload: {{ {system_id}: \"{}\", {}: \"{}\" }}",
        jwt(&operator, &operator, None, &operator_claims),
        jwt(&operator, &system, None, &system_claims),
        account.public_key(),
        jwt(&operator, account, None, &account_claims),
        system_id = system.public_key(),
    );
    server("NATS users with JWTs", &lines)
}

/// Writes a credentials file of a new user.
fn write_credentials(path: &Path, account: &UserKey, valid_s: u64, denied: &[&str]) {
    let user = UserKey::new_user();
    let claims = json!({
        "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1,
        "pub": {"deny": denied}, "sub": {},
    });
    let text = format!(
        "-----BEGIN NATS USER JWT-----\r\n{}\r\n------END NATS USER JWT------\r\n\r\n\
         ************************* IMPORTANT *************************\r\n\
         -----BEGIN USER NKEY SEED-----\r\n{}\r\n------END USER NKEY SEED------\r\n",
        jwt(account, &user, Some(seconds() + valid_s), &claims),
        user.seed().expect("a seed"),
    );
    std::fs::write(path, text).expect("written");
}

#[tokio::test]
async fn a_renewed_credentials_file_is_read_again_and_an_expired_one_is_a_fault() {
    let account = UserKey::new_account();
    let Some((server, dir)) = server_of(&account) else { return };
    let file = dir.path().join("user.creds");
    write_credentials(&file, &account, 4, &[]);
    let login = NatsLogin::CredentialsFile(file.clone());
    let sink = NatsSink::new(NatsSettings { login, ..settings(&server) });
    sink.check().await.expect("the stream is created");
    assert_eq!(sink.publish(&[message(1)]).await, [Ok(())]);
    let fault = std::sync::Mutex::new(String::new());
    let expired = async || match sink.check().await {
        Ok(()) => false,
        Err(why) => {
            *fault.lock().expect("a text") = why.to_string();
            true
        }
    };
    assert!(wait::until_async(wait::AT_MOST, expired).await, "the user's JWT expires");
    let fault = fault.into_inner().expect("a text");
    assert!(fault.to_lowercase().contains("auth"), "{fault}");
    std::fs::write(&file, "nothing").expect("written");
    let unread = async || {
        let fault = sink.check().await.err().map(|fault| fault.to_string());
        fault.is_some_and(|fault| fault.contains("user.creds: it has no user JWT"))
    };
    assert!(wait::until_async(wait::AT_MOST, unread).await);
    write_credentials(&file, &account, 3_600, &[]);
    let renewed = async || sink.check().await.is_ok();
    assert!(wait::until_async(wait::AT_MOST, renewed).await, "the new file is read");
    assert_eq!(sink.publish(&[message(2)]).await, [Ok(())]);
}

#[tokio::test]
async fn a_denied_permission_is_said() {
    let account = UserKey::new_account();
    let Some((server, dir)) = server_of(&account) else { return };
    let file = dir.path().join("user.creds");
    write_credentials(&file, &account, 3_600, &["bank.payment.>"]);
    let login = NatsLogin::CredentialsFile(file);
    let sink = NatsSink::new(NatsSettings { login, ..settings(&server) });
    sink.check().await.expect("the stream is created");
    let answers = sink.publish(&[message(1)]).await;
    let fault = answers[0].as_ref().expect_err("denied").to_string();
    assert!(
        fault.contains("Permissions Violation for Publish to \"bank.payment.queued\""),
        "{fault}"
    );
    sink.check().await.expect("the stream is there");
    let mut other = message(2);
    other.subject = "bank.wallet.queued".to_owned();
    assert_eq!(sink.publish(&[other]).await, [Ok(())]);
}

#[tokio::test]
async fn a_stream_that_keeps_nothing_is_refused() {
    let Some((server, _dir)) = server("JetStream limits", "") else { return };
    let client = async_nats::connect(server.url()).await.expect("connected");
    let context = async_nats::jetstream::new(client);
    let sink = NatsSink::new(NatsSettings { create: None, ..settings(&server) });
    let plain = || Config {
        name: STREAM.to_owned(),
        subjects: vec!["bank.>".to_owned()],
        ..Config::default()
    };
    for (config, words) in [
        (Config { retention: RetentionPolicy::Interest, ..plain() }, Some("no consumer")),
        (Config { max_messages_per_subject: 1, ..plain() }, Some("max_msgs_per_subject 1")),
        (Config { max_messages: 6, ..plain() }, None),
        (Config { retention: RetentionPolicy::WorkQueue, ..plain() }, None),
        (Config { discard: DiscardPolicy::New, max_messages: 1, ..plain() }, Some("is full")),
    ] {
        context.create_stream(config.clone()).await.expect("created");
        if config.discard == DiscardPolicy::New {
            assert_eq!(sink.publish(&[message(1)]).await, [Ok(())]);
        }
        let found = sink.check().await.err().map(|fault| fault.to_string());
        match words {
            None => assert_eq!(found, None, "{config:?}"),
            Some(words) => assert!(found.is_some_and(|it| it.contains(words)), "{config:?}"),
        }
        context.delete_stream(STREAM).await.expect("deleted");
    }
}
