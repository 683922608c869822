//! Forwarded and lost messages, with a server that only listens.

use std::time::Duration;

use super::*;
use crate::wait;

/// A message with a type.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind], &length.to_be_bytes()[..], body].concat()
}

fn startup() -> Vec<u8> {
    [&12_u32.to_be_bytes()[..], b"protocol"].concat()
}

/// A server that records its input and confirms a commit on every `Execute` or `Query`.
async fn server() -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keeps = heard.clone();
    tokio::spawn(async move {
        while let Ok((mut line, _)) = listener.accept().await {
            let mut chunk = [0; 1_024];
            while let Ok(count @ 1..) = line.read(&mut chunk).await {
                keeps.lock().unwrap().extend_from_slice(&chunk[..count]);
                if chunk[..count].iter().any(|byte| matches!(byte, b'E' | b'Q')) {
                    line.write_all(b"C....COMMIT\0").await.unwrap();
                }
            }
        }
    });
    (address, heard)
}

/// Sends `all` through a proxy with this cut; returns the answer and the server's input.
async fn said(all: &[Vec<u8>], cut: Option<Cut>) -> (Vec<u8>, Vec<u8>, u64) {
    let (upstream, heard) = server().await;
    let proxy = Proxy::start(upstream).await.unwrap();
    if let Some(cut) = cut {
        proxy.cut_next_commit(cut);
    }
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    for part in all {
        client.write_all(part).await.unwrap();
    }
    let mut back = vec![0; 64];
    // A connection that breaks with unread bytes is reset: the client sees it closed either way.
    let count = client.read(&mut back).await.unwrap_or(0);
    back.truncate(count);
    let expected = all.concat();
    wait::until_async(wait::AT_MOST, || {
        std::future::ready(cut.is_some() || *heard.lock().unwrap() == expected)
    })
    .await;
    let cuts = proxy.cuts();
    let heard = heard.lock().unwrap().clone();
    (back, heard, cuts)
}

fn prepared() -> Vec<Vec<u8>> {
    vec![
        startup(),
        message(b'P', b"s1\0COMMIT\0\0\0"),
        message(b'P', b"s2\0SELECT 1\0\0\0"),
        message(b'B', b"\0s2\0"),
        [message(b'B', b"\0s1\0"), message(b'E', b"\0\0\0\0\0"), message(b'S', b"")].concat(),
    ]
}

#[tokio::test]
async fn without_a_cut_everything_is_forwarded() {
    let (back, heard, cuts) = said(&prepared(), None).await;
    assert_eq!((back.as_slice(), heard, cuts), (&b"C....COMMIT\0"[..], prepared().concat(), 0));
}

#[tokio::test]
async fn a_withheld_commit_never_arrives() {
    let (back, heard, cuts) = said(&prepared(), Some(Cut::Before)).await;
    assert_eq!((back.len(), cuts), (0, 1));
    assert!(!heard.ends_with(&message(b'S', b"")), "the server received the commit");
}

#[tokio::test]
async fn a_commit_with_a_lost_answer_takes_effect() {
    for all in [prepared(), vec![startup(), message(b'Q', b"commit;\0")]] {
        let (back, heard, cuts) = said(&all, Some(Cut::Answer)).await;
        assert_eq!((back.len(), heard, cuts), (0, all.concat(), 1));
    }
}

#[tokio::test]
async fn held_back_answers_arrive_later() {
    let server = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let proxy = Proxy::start(server.local_addr().unwrap()).await.unwrap();
    proxy.hold_answers(true);
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    client.write_all(&startup()).await.unwrap();
    let (mut socket, _) = server.accept().await.unwrap();
    let mut heard = vec![0; startup().len()];
    socket.read_exact(&mut heard).await.unwrap();
    assert_eq!(heard, startup(), "the server gets everything");
    socket.write_all(b"R").await.unwrap();
    let mut back = [0];
    let early = tokio::time::timeout(Duration::from_millis(100), client.read_exact(&mut back));
    assert!(early.await.is_err(), "nothing arrives while it is held back");
    proxy.hold_answers(false);
    client.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"R");
}

#[test]
fn messages_are_found_however_the_bytes_are_split() {
    let all = prepared().concat();
    for size in 1..all.len() {
        let (mut reader, mut found) = (Reader::default(), Vec::new());
        for chunk in all.chunks(size) {
            reader.push(chunk).unwrap();
            while let Some((message, commits)) = reader.next() {
                found.push((message.first().copied().unwrap(), commits));
            }
        }
        let expected = [
            (0, false),
            (b'P', false),
            (b'P', false),
            (b'B', false),
            (b'B', true),
            (b'E', false),
            (b'S', false),
        ];
        assert_eq!(found, expected, "split every {size} bytes");
    }
}
