//! The endpoint: verification, its book, and answers over a socket.

use domain::time::{Span, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;

// The test vector of the Standard Webhooks libraries.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const AT: Timestamp = Timestamp(1_614_265_330_000_000);

fn vector() -> Arrival {
    Arrival {
        path: "/webhooks/wallet/payment-received".to_owned(),
        id: Some("msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()),
        timestamp: Some("1614265330".to_owned()),
        signature: Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned()),
        traceparent: None,
        body: br#"{"test": 2432232314}"#.to_vec(),
    }
}

/// A genuine event of that type about `request`.
fn event(id: &str, event_type: &str, request: &str, now: Timestamp) -> Arrival {
    let body =
        format!(r#"{{"event_type":"{event_type}","data":{{"payment_request_id":"{request}"}}}}"#);
    let timestamp = now.unix_seconds().to_string();
    let key = super::proof::secret_bytes(SECRET).expect("a secret");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any key");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    let signature = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        mac.finalize().into_bytes(),
    );
    Arrival {
        path: "/webhooks/wallet/x".to_owned(),
        id: Some(id.to_owned()),
        timestamp: Some(timestamp),
        signature: Some(format!("v1,{signature}")),
        traceparent: None,
        body: body.into_bytes(),
    }
}

fn verdict(arrival: Arrival, now: Timestamp) -> Verdict {
    let mut core = ReceiverCore::new(&[SECRET]);
    core.receive(arrival, now);
    core.book().entries()[0].verdict
}

#[test]
fn the_published_vector_is_genuine_and_any_change_is_not() {
    assert_eq!(verdict(vector(), AT), Verdict::Genuine);
    let text = |text: &str| Some(text.to_owned());
    for (changed, found) in [
        (Arrival { id: text("msg"), ..vector() }, Verdict::Forged),
        (Arrival { timestamp: text("1614265331"), ..vector() }, Verdict::Forged),
        (Arrival { body: b"{}".to_vec(), ..vector() }, Verdict::Forged),
        (
            Arrival {
                signature: text("v1,AAAA v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
                ..vector()
            },
            Verdict::Forged,
        ),
        (Arrival { signature: None, ..vector() }, Verdict::Unreadable),
        (Arrival { timestamp: text("now"), ..vector() }, Verdict::Unreadable),
    ] {
        assert_eq!(verdict(changed, AT), found);
    }
    assert_eq!(verdict(vector(), AT + Span::mins(6)), Verdict::Stale);
    assert_eq!(verdict(vector(), AT - Span::mins(6)), Verdict::Stale);
    let both = format!("v1,AAAA {}", vector().signature.expect("signed"));
    assert_eq!(verdict(Arrival { signature: Some(both), ..vector() }, AT), Verdict::Genuine);
}

#[test]
fn a_correct_endpoint_accepts_each_event_once_with_its_time() {
    let mut core = ReceiverCore::new(&[SECRET]);
    let first = core.receive(event("a", "payment.received", "r", AT), AT);
    assert_eq!((first.status, first.manner), (200, Manner::AtOnce));
    assert_eq!(first.body, format!(r#"{{"processed_at":"{AT}","received":true}}"#));
    let later = AT + Span::secs(9);
    let again = core.receive(event("a", "payment.received", "r", AT), later);
    assert_eq!((again.status, &again.body), (200, &first.body));
    core.receive(event("b", "transfer.complete", "r", AT), later);
    core.receive(event("c", "payment.received", "other", AT), later);
    let forged = core
        .receive(Arrival { body: b"{}".to_vec(), ..event("d", "wallet.blocked", "r", AT) }, later);
    assert_eq!(forged.status, 401);
    assert_eq!(
        core.receive(event("e", "wallet.blocked", "r", AT - Span::mins(9)), later).status,
        400
    );

    let book = core.book();
    assert_eq!(book.entries().len(), 6);
    assert_eq!(book.taken(), ["a", "b", "c"]);
    let about: Vec<&str> =
        book.taken_about("r").iter().map(|entry| entry.event_type.as_str()).collect();
    assert_eq!(about, ["payment.received", "transfer.complete"]);
    assert_eq!(book.times_taken(), [("a", 2), ("b", 1), ("c", 1)].into());
    assert!(book.changed().is_empty());
}

#[test]
fn differences_between_attempts_are_detected() {
    let mut core = ReceiverCore::new(&[SECRET]);
    core.receive(event("a", "payment.received", "r", AT), AT);
    core.receive(event("a", "payment.received", "s", AT), AT);
    core.receive(event("b", "payment.received", "r", AT), AT);
    assert_eq!(core.book().changed(), ["a"]);
}

#[test]
fn a_script_is_followed_by_the_usual_reaction() {
    let mut core = ReceiverCore::new(&[SECRET]);
    let busy = Reaction::Refuse { status: 429, retry_after: Some("7".to_owned()) };
    core.script([
        Reaction::refuse(500),
        busy,
        Reaction::Deny,
        Reaction::Redirect("http://10.0.0.1/".to_owned()),
    ]);
    core.script([Reaction::Close, Reaction::TakeLate(Span::secs(1))]);
    let mut said = Vec::new();
    for _ in 0..7 {
        let reply = core.receive(event("a", "payment.received", "r", AT), AT);
        said.push((
            reply.status,
            reply.headers.first().map(|header| header.0),
            reply.manner,
            reply.body.contains("true"),
        ));
    }
    let (now, late) = (Manner::AtOnce, Manner::Late(Span::secs(1)));
    assert_eq!(
        said[..4],
        [
            (500, None, now, false),
            (429, Some("retry-after"), now, false),
            (200, None, now, false),
            (302, Some("location"), now, false),
        ]
    );
    assert_eq!(
        (said[4].2, said[5], said[6]),
        (Manner::Close, (200, None, late, true), (200, None, now, true))
    );
    assert_eq!(core.book().taken(), ["a"], "refused ones were not accepted");
}

#[test]
fn each_misbehaviour_is_visible() {
    let sent = |temper: Temper, arrivals: Vec<Arrival>| {
        let mut core = ReceiverCore::new(&[SECRET]);
        core.set_temper(temper);
        let later = AT + Span::secs(1);
        arrivals.into_iter().map(|arrival| core.receive(arrival, later)).last().expect("an arrival")
    };
    let careful = Temper::CAREFUL;
    let forged = || {
        vec![Arrival {
            signature: Some("v1,AAAA".to_owned()),
            ..event("a", "wallet.blocked", "r", AT)
        }]
    };
    let old = || vec![event("a", "wallet.blocked", "r", AT - Span::hours(1))];
    let twice =
        || vec![event("a", "wallet.blocked", "r", AT), event("a", "wallet.blocked", "r", AT)];
    let early = || vec![event("a", "transfer.complete", "r", AT)];
    let unknown = || vec![event("a", "certificate.issued", "r", AT)];
    for (temper, arrivals, status, careful_status) in [
        (Temper { checks_signatures: false, ..careful }, forged(), 200, 401),
        (Temper { checks_age: false, ..careful }, old(), 200, 400),
        (Temper { takes_repeats: false, ..careful }, twice(), 409, 200),
        (Temper { takes_disorder: false, ..careful }, early(), 422, 200),
        (Temper { takes_unknown: false, ..careful }, unknown(), 400, 200),
    ] {
        assert_eq!(sent(careful, arrivals.clone()).status, careful_status);
        assert_eq!(sent(temper, arrivals).status, status, "{temper:?}");
    }
    assert_eq!(sent(Temper { answers_in_shape: false, ..careful }, twice()).body, r#"{"ok":1}"#);
}

/// POSTs an arrival on its own connection and reads until `enough` bytes, or to the end.
async fn posted(receiver: &SimulatedReceiver, arrival: &Arrival, enough: usize) -> String {
    let mut stream = TcpStream::connect(receiver.address()).await.expect("a connection");
    let header = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!("{name}: {value}\r\n")).unwrap_or_default()
    };
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\ncontent-length: {}\r\n{}{}{}\r\n",
        arrival.path,
        arrival.body.len(),
        header("webhook-id", &arrival.id),
        header("webhook-timestamp", &arrival.timestamp),
        header("webhook-signature", &arrival.signature),
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream.write_all(&arrival.body).await.expect("sent");
    let mut answer = Vec::new();
    while answer.len() < enough {
        match stream.read_buf(&mut answer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    String::from_utf8(answer).expect("UTF-8")
}

#[tokio::test]
async fn over_a_socket_it_answers_late_closes_drips_and_floods() {
    let receiver =
        SimulatedReceiver::start(ReceiverConfig::with(&[SECRET])).await.expect("a receiver");
    let now = || domain::ports::Clock::now(&crate::bank::SystemClock);
    let sent = async |id: &str, enough| {
        let sending =
            async { posted(&receiver, &event(id, "wallet.blocked", "r", now()), enough).await };
        tokio::time::timeout(crate::wait::AT_MOST, sending).await.expect("in time")
    };
    receiver.script([Reaction::Take, Reaction::TakeLate(Span::millis(30)), Reaction::Close]);
    receiver.script([Reaction::Drip, Reaction::Flood]);
    assert!(sent("a", usize::MAX).await.starts_with("HTTP/1.1 200"));
    let began = now();
    assert!(sent("b", usize::MAX).await.contains("processed_at"));
    assert!(now() - began >= Span::millis(30));
    assert_eq!(sent("c", usize::MAX).await, "");
    let dripped = sent("d", 1).await;
    assert!(dripped.starts_with("HTTP/1.1 200") && !dripped.contains("received"), "{dripped}");
    assert!(sent("e", 1 << 20).await.len() >= 1 << 20);
    assert_eq!(receiver.book().taken(), ["a", "b", "d", "e"]);
    assert_eq!(receiver.book().entries()[0].arrival.path, "/webhooks/wallet/x");

    receiver.set_down(true);
    let refused = async || TcpStream::connect(receiver.address()).await.is_err();
    assert!(
        crate::wait::until_async(crate::wait::AT_MOST, refused).await,
        "an endpoint that is down refuses connections"
    );
}
