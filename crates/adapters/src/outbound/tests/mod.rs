//! The client against real servers: TLS, proxies, tokens, pauses, and what it never shows.

pub(crate) mod authority;
mod canary;
mod retries;
mod signatures;
mod tls;
mod tokens;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::*;

/// An address of a server's root.
fn https(address: SocketAddr) -> String {
    format!("https://localhost:{}/", address.port())
}

fn client(settings: &Settings, address: &str) -> Client {
    Client::new(settings, "test.url", &[address]).expect("a client")
}

async fn get(client: &Client, address: &str) -> Result<u16, Fault> {
    let url = Url::parse(address).expect("a URL");
    client.send(Request::get(url)).await.map(|answer| answer.status().as_u16())
}

async fn post(client: &Client, address: &str) -> Result<u16, Fault> {
    let url = Url::parse(address).expect("a URL");
    let text = reqwest::header::HeaderValue::from_static("text/plain");
    client.send(Request::post(url, text, "body")).await.map(|answer| answer.status().as_u16())
}

fn written(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("written");
    path
}

/// A plain server that answers 200 to everything.
async fn plain() -> SocketAddr {
    let ok = |_: &str| "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned();
    let url = crate::fetch::tests::serve(ok).await;
    url.trim_start_matches("http://").parse().expect("an address")
}
