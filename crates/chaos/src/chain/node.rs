//! An embedded chain's node over HTTP.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use devchain::DevChain;
use tokio::net::TcpListener;

/// Starts a node and returns its address.
pub async fn serve(chain: DevChain) -> String {
    serve_node(node(chain)).await
}

pub async fn serve_node(node: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move { axum::serve(listener, node).await });
    format!("http://{address}")
}

pub fn node(chain: DevChain) -> Router {
    let answer =
        |State(chain): State<DevChain>, body: Bytes| async move { answer(&chain, &body).await };
    Router::new().route("/", post(answer)).with_state(chain)
}

/// A node's answers. Also understands other nodes' method for funding an address with gas.
pub async fn answer(chain: &DevChain, body: &[u8]) -> Vec<u8> {
    let body = String::from_utf8_lossy(body).replace("anvil_setBalance", "dev_setBalance");
    chain.serve_bytes(body.as_bytes()).await
}
