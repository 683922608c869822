//! Commits that fail, or of which nobody knows, on remembered rows.

use engine::batcher::EngineError;
use engine::command::Outcome;
use store::options::{FaultAction, FaultPoint};

use crate::world::{CHARGE, Rows, TENANT, with};

#[test]
fn a_commit_on_remembered_rows_that_is_in_doubt_is_decided_and_the_rows_are_forgotten() {
    use FaultPoint::{AfterCommit, BeforeCommit};
    let cases = [
        (AfterCommit, FaultAction::LoseAck, Some(Rows::Remembered)),
        (BeforeCommit, FaultAction::LoseCommit, Some(Rows::Loaded)),
        (BeforeCommit, FaultAction::FailBefore, None),
    ];
    for (point, action, expected) in cases {
        with(async |world| {
            world.top_up(&world.a, 2 * CHARGE).await;
            let quotes = world.remembering(&world.a).await;
            world.pass();
            world.trap.set(point, action);
            let paid = world.a.pay(&quotes[0], None).await;
            let rows = match &paid {
                Ok(Outcome::Accepted(payment)) => Some(world.rows(payment.accepted_at)),
                other => {
                    assert!(matches!(other, Err(EngineError::Unavailable)), "{action:?}: {other:?}");
                    None
                }
            };
            assert_eq!(rows, expected, "{action:?}");
            assert_eq!(world.available().await, if rows.is_some() { CHARGE } else { 2 * CHARGE }, "{action:?}");
            let (next, rows) = world.quote(&world.a).await;
            assert_eq!(rows, Rows::Loaded, "{action:?}");
            world.pay(&world.a, &next).await.expect("there is enough");
            assert!(world.store.quote(TENANT, next.id).await.expect("readable").is_some());
            world.verified().await;
        });
    }
}
