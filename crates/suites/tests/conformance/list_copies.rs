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
    assert_eq!(store.keep_list("a", first.clone(), None).await, Ok(true));
    assert_eq!(store.kept_list("a").await, Ok(Some(first.clone())));
    assert_eq!(store.kept_list("b").await, Ok(None), "each source has its own copy");
    assert_eq!(store.kept_list_times().await, Ok(vec![("OFAC-SDN".to_owned(), READ)]));

    let later = READ + Span::hours(1);
    let again = KeptList { read_at: later, ..first.clone() };
    assert_eq!(store.keep_list("a", again, None).await, Ok(true), "the same list");
    assert_eq!(store.kept_list("a").await.expect("read").map(|kept| kept.read_at), Some(later));

    let second =
        KeptList { digest: "d2".to_owned(), read_at: later + Span::hours(1), ..list(&[b"new"]) };
    assert_eq!(store.keep_list("a", second.clone(), Some("d1")).await, Ok(true));
    assert_eq!(
        store.kept_list("a").await,
        Ok(Some(second.clone())),
        "nothing of the first is left"
    );

    // Another node has stored a list since this one looked.
    for replaces in [None, Some("d1")] {
        let third = KeptList { digest: "d3".to_owned(), ..list(&[b"third"]) };
        assert_eq!(store.keep_list("a", third, replaces).await, Ok(false), "{replaces:?}");
        assert_eq!(store.kept_list("a").await, Ok(Some(second.clone())), "{replaces:?}");
    }
}
