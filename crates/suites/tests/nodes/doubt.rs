//! Commits on cached rows that fail or have an unknown outcome.

use engine::command::Outcome;
use store::options::{FaultAction, FaultPoint};

use crate::world::{CHARGE, Rows, TENANT, with};

#[test]
fn an_unknown_commit_on_cached_rows_is_resolved_and_the_rows_are_evicted() {
    use FaultPoint::{AfterCommit, BeforeCommit};
    let cases = [
        (AfterCommit, FaultAction::LoseAck, Rows::Remembered),
        (BeforeCommit, FaultAction::LoseCommit, Rows::Loaded),
        // Nothing was written: it is retried once, as after a connection died while idle.
        (BeforeCommit, FaultAction::FailBefore, Rows::Loaded),
    ];
    for (point, action, expected) in cases {
        with(async |world| {
            world.top_up(&world.a, 2 * CHARGE).await;
            let quotes = world.remembering(&world.a).await;
            world.pass();
            world.trap.set(point, action);
            let paid = world.a.pay(&quotes[0], None).await;
            let Ok(Outcome::Accepted(payment)) = &paid else { panic!("{action:?}: {paid:?}") };
            assert_eq!(world.rows(payment.accepted_at), expected, "{action:?}");
            assert_eq!(world.available().await, CHARGE, "{action:?}");
            let (next, rows) = world.quote(&world.a).await;
            assert_eq!(rows, Rows::Loaded, "{action:?}");
            world.pay(&world.a, &next).await.expect("sufficient funds");
            assert!(world.store.quote(TENANT, next.id).await.expect("readable").is_some());
            world.verified().await;
        });
    }
}
