//! The last valid copies of sanctions lists: complete, of any size, and never older than the last
//! read.

use domain::time::{Span, Timestamp};
use store::{KeptDocument, KeptList};

use crate::world::World;

const READ: Timestamp = Timestamp(1_795_244_268_123_999);

fn list(bytes: &[&[u8]]) -> KeptList {
    let document = |bytes: &&[u8]| KeptDocument {
        origin: "https://lists.example/sdn.xml".to_owned(),
        modified: Some("2026-11-20".to_owned()),
        bytes: bytes.to_vec(),
    };
    KeptList {
        name: "OFAC-SDN".to_owned(),
        digest: "d1".to_owned(),
        read_at: READ,
        documents: bytes.iter().map(document).collect(),
    }
}

pub async fn a_list_is_kept_whole_and_replaced_whole(world: World) {
    let store = &world.store;
    assert_eq!(store.kept_list("a").await, Ok(None));
    // More than two rows, with bytes that are not text.
    let large: Vec<u8> =
        (0..2_500_000_u32).map(|at| u8::try_from(at % 251).expect("a byte")).collect();
    let first = list(&[&large, b"", b"three"]);
    store.keep_list("a", first.clone()).await.expect("kept");
    assert_eq!(store.kept_list("a").await, Ok(Some(first.clone())));
    assert_eq!(store.kept_list("b").await, Ok(None), "each source has its own copy");

    let later = READ + Span::hours(1);
    store.keep_list("a", KeptList { read_at: later, ..first.clone() }).await.expect("read again");
    assert_eq!(store.kept_list("a").await.expect("read").map(|kept| kept.read_at), Some(later));

    let second =
        KeptList { digest: "d2".to_owned(), read_at: later + Span::hours(1), ..list(&[b"new"]) };
    store.keep_list("a", second.clone()).await.expect("replaced");
    assert_eq!(store.kept_list("a").await, Ok(Some(second)), "nothing of the first is left");
}
