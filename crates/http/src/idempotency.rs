//! `Idempotency-Key`: fingerprints requests, and queues concurrent requests with the same key
//! (`decisions.md`, "Both services"). The engine provides the stored response.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::ids::TenantId;
use engine::command::Idempotency;
use engine::payments::IdempotencyKey;
use http::request::Parts;
use http::{HeaderName, Method};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::server::deadline::Deadline;

/// Timeout for a request that waits for the first one with its key.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum length of a key.
const KEY_MAX_CHARS: usize = 255;
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Marks a response that an earlier request produced.
pub(crate) static IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The header contains no valid key; the message describes a valid one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// The key of a POST, scoped to its method and path.
pub(crate) fn of(parts: &Parts, body: &[u8]) -> Result<Option<Idempotency>, Malformed> {
    if parts.method != Method::POST {
        return Ok(None);
    }
    let mut values = parts.headers.get_all(&IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    // Another reader of the headers could take the other key for the request's.
    if values.next().is_some() {
        return Err(Malformed("Must be given once"));
    }
    let printable = |text: &&str| {
        (1..=KEY_MAX_CHARS).contains(&text.len())
            && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    let key = value
        .to_str()
        .ok()
        .filter(printable)
        .ok_or(Malformed("Must be 1 to 255 printable characters"))?;
    let scope = format!("{} {}", parts.method, parts.uri.path());
    let body_hash = Sha256::digest(body).into();
    Ok(Some(Idempotency { key: IdempotencyKey { scope, key: key.to_owned() }, body_hash }))
}

type Known = (TenantId, IdempotencyKey);
type Turns = Arc<Mutex<BTreeMap<Known, Arc<AsyncMutex<()>>>>>;

/// Serializes concurrent requests with the same key on this node. Across nodes the tenant's lock in
/// the store does.
#[derive(Debug)]
pub(crate) struct UnderWay {
    turns: Turns,
    patience: Duration,
}

/// The first request with the key took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StillUnderWay;

/// The request's turn; ends when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    // Released before the queue entry: fields drop in declaration order.
    _held: OwnedMutexGuard<()>,
    _place: Place,
}

/// An entry in the queue of a key; the last one removes the queue.
#[derive(Debug)]
struct Place {
    turns: Turns,
    known: Known,
    queue: Arc<AsyncMutex<()>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        // Two references remain: the map's and this one. The map is locked, so no one can join now.
        if Arc::strong_count(&self.queue) == 2 {
            turns.remove(&self.known);
        }
    }
}

impl UnderWay {
    pub(crate) fn new(patience: Duration) -> UnderWay {
        UnderWay { turns: Turns::default(), patience }
    }

    /// Waits until no other request with this key is in progress. The request's deadline does not
    /// count this time.
    pub(crate) async fn turn_of(
        &self,
        tenant: TenantId,
        parts: &Parts,
        asked: Option<&Idempotency>,
    ) -> Result<Option<Turn>, StillUnderWay> {
        let Some(asked) = asked else { return Ok(None) };
        self.turn(tenant, &asked.key, parts.extensions.get()).await.map(Some)
    }

    async fn turn(
        &self,
        tenant: TenantId,
        key: &IdempotencyKey,
        deadline: Option<&Deadline>,
    ) -> Result<Turn, StillUnderWay> {
        let known = (tenant, key.clone());
        let queue = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(known.clone()).or_default())
        };
        let place = Place { turns: self.turns.clone(), known, queue };
        if let Ok(held) = Arc::clone(&place.queue).try_lock_owned() {
            return Ok(Turn { _held: held, _place: place });
        }
        let _paused = deadline.map(Deadline::pause);
        let held = tokio::time::timeout(self.patience, Arc::clone(&place.queue).lock_owned()).await;
        held.map(|held| Turn { _held: held, _place: place }).map_err(|_| StillUnderWay)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;
    use uuid::Uuid;

    use super::*;

    fn read(method: Method, key: &[u8], body: &[u8]) -> Result<Option<Idempotency>, Malformed> {
        let value = http::HeaderValue::from_bytes(key).expect("a header value");
        let request = Request::builder()
            .method(method)
            .uri("/v1/sdk/orders?x=1")
            .header(&IDEMPOTENCY_KEY, value);
        of(&request.body(()).expect("a request").into_parts().0, body)
    }

    #[test]
    fn a_key_is_known_by_method_path_and_body() {
        let one = read(Method::POST, b"key 1", b"{}").expect("valid").expect("a key");
        assert_eq!(
            (one.key.scope.as_str(), one.key.key.as_str()),
            ("POST /v1/sdk/orders", "key 1")
        );
        let other = read(Method::POST, b"key 1", b"{ }").expect("valid").expect("a key");
        assert!(one.key == other.key && one.body_hash != other.body_hash);
        assert_eq!(read(Method::GET, b"key 1", b""), Ok(None));
    }

    #[tokio::test]
    async fn requests_with_one_key_take_turns_and_none_waits_forever() {
        let under_way = UnderWay::new(Duration::from_millis(20));
        let key = |key: &str| IdempotencyKey {
            scope: "POST /v1/sdk/orders".to_owned(),
            key: key.to_owned(),
        };
        let (bank, other) = (TenantId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)));
        let same = key("k");
        let first = under_way.turn(bank, &same, None).await.expect("no earlier request");
        assert_eq!(under_way.turn(bank, &same, None).await.map(drop), Err(StillUnderWay));
        assert!(
            under_way.turn(bank, &key("l"), None).await.is_ok()
                && under_way.turn(other, &same, None).await.is_ok()
        );
        let (waits, ends) = tokio::join!(under_way.turn(bank, &same, None), async { drop(first) });
        let ((), second) = (ends, waits.expect("the first has ended"));
        assert_eq!(under_way.turns.lock().expect("a lock").len(), 1);
        drop(second);
        assert!(
            under_way.turns.lock().expect("a lock").is_empty(),
            "nothing is kept of those that are over"
        );
    }

    #[tokio::test]
    async fn a_request_that_waits_for_its_turn_outlives_its_deadline() {
        let (within, patience) = (Duration::from_millis(20), Duration::from_millis(100));
        let (under_way, bank) = (UnderWay::new(patience), TenantId(Uuid::from_u128(1)));
        let request =
            || Request::post("/v2/quote").header(&IDEMPOTENCY_KEY, "k").body(Body::empty());
        let turn = async || {
            let (request, deadline) = Deadline::of(request().expect("a request"), within);
            let deadline = deadline.expect("an API's");
            let (parts, _body) = request.into_parts();
            let asked = of(&parts, b"{}").expect("a key");
            tokio::select! {
                biased;
                turn = under_way.turn_of(bank, &parts, asked.as_ref()) => turn.map(drop),
                () = deadline.passed() => panic!("the deadline has passed"),
            }
        };
        assert_eq!(turn().await, Ok(()), "no other request has the key");
        let asked = of(&request().expect("a request").into_parts().0, b"{}").expect("a key");
        let _first = under_way.turn(bank, &asked.expect("a key").key, None).await.expect("a turn");
        assert_eq!(turn().await, Err(StillUnderWay));
    }

    #[test]
    fn a_request_has_one_key() {
        let twice = Request::post("/v1/sdk/orders")
            .header(&IDEMPOTENCY_KEY, "a")
            .header(&IDEMPOTENCY_KEY, "a")
            .body(())
            .expect("a request");
        assert_eq!(of(&twice.into_parts().0, b""), Err(Malformed("Must be given once")));
    }

    #[test]
    fn a_key_is_1_to_255_printable_characters() {
        assert!(read(Method::POST, &[b'x'; 255], b"").is_ok());
        for wrong in [&b""[..], &[b'x'; 256], "é".as_bytes(), b"a\tb"] {
            assert!(read(Method::POST, wrong, b"").is_err(), "{wrong:?}");
        }
    }
}
