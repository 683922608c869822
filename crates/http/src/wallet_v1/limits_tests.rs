//! The windows over an in-memory counter: one node, several nodes, an unreachable counter.

use domain::time::Span;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

/// 20 seconds into a window.
const T0: Timestamp = Timestamp(1_800_000_020_000_000);
const BANK: TenantId = TenantId(Uuid::from_u128(1));
const OTHER: TenantId = TenantId(Uuid::from_u128(2));

/// Behaves like the store's counter row.
#[derive(Default)]
struct Counter {
    drawn: Mutex<HashMap<(TenantId, &'static str, i64), u32>>,
    asked: Mutex<u32>,
    away: std::sync::atomic::AtomicBool,
}

impl Permits for Counter {
    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, Unreadable>> {
        Box::pin(async move {
            // Yields to another task, as a real counter would.
            tokio::task::yield_now().await;
            if self.away.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(Unreadable("away".to_owned()));
            }
            *self.asked.lock().expect("a lock") += 1;
            let mut drawn = self.drawn.lock().expect("a lock");
            let total = drawn.entry((draw.tenant, draw.group, draw.window_s)).or_default();
            let granted = draw.wanted.min(draw.limit - *total);
            *total += granted;
            Ok(Drawn { granted, total: *total })
        })
    }
}

fn nodes<const N: usize>() -> (Arc<Counter>, [Windows; N]) {
    let counter = Arc::new(Counter::default());
    let node = |_| Windows::new(counter.clone(), GroupLimits::default());
    (counter.clone(), std::array::from_fn(node))
}

async fn take(node: &Windows, group: Group, now: Timestamp) -> Allowance {
    node.take(BANK, group, now).await.expect("an answer")
}

#[test]
fn the_limits_are_those_of_the_specification() {
    let limits = GroupLimits::default();
    let by_path = |path: &str| limits.of(Group::of_path(path));
    assert_eq!(by_path("/v1/sdk/wallets/provision"), 100);
    assert_eq!(by_path("/v1/sdk/wallets/w-1/block"), 100);
    assert_eq!(by_path("/v1/sdk/payment-requests"), 200);
    assert_eq!(by_path("/v1/sdk/orders/exchange-rate"), 50);
    assert_eq!(by_path("/v1/sdk/transactions"), 200);
    assert_eq!(Group::of_path("/v1/sdk/walletsandmore"), Group::Additions);
    assert_eq!(Group::of_path("/v1/sdk"), Group::Additions);
}

#[tokio::test]
async fn one_node_grants_the_limit_exactly_and_counts_down_by_one() {
    let (counter, [node]) = nodes();
    for left in (0..50).rev() {
        let allowance = take(&node, Group::Orders, T0).await;
        assert_eq!(
            allowance,
            Allowance { limit: 50, remaining: left, reset_s: 40, retry_after_s: None }
        );
    }
    let refused = take(&node, Group::Orders, T0 + Span::secs(39)).await;
    assert_eq!(refused, Allowance { limit: 50, remaining: 0, reset_s: 1, retry_after_s: Some(1) });
    let asked = *counter.asked.lock().expect("a lock");
    assert!(asked < 50, "permits were drawn one by one: {asked}");
    // An exhausted window is remembered; the next one is full again.
    assert!(!take(&node, Group::Orders, T0).await.is_granted());
    assert_eq!(*counter.asked.lock().expect("a lock"), asked);
    assert_eq!(take(&node, Group::Orders, T0 + Span::secs(40)).await.remaining, 49);
}

#[tokio::test]
async fn tenants_and_groups_do_not_share_a_window() {
    let (_, [node]) = nodes();
    for _ in 0..50 {
        assert!(take(&node, Group::Orders, T0).await.is_granted());
    }
    assert!(!take(&node, Group::Orders, T0).await.is_granted());
    assert!(take(&node, Group::Wallets, T0).await.is_granted());
    assert!(node.take(OTHER, Group::Orders, T0).await.expect("an answer").is_granted());
}

#[tokio::test]
async fn an_idle_node_keeps_no_permits_from_the_others() {
    let (_, [idle, busy]) = nodes();
    assert!(take(&idle, Group::Orders, T0).await.is_granted());
    let mut granted = 0;
    while take(&busy, Group::Orders, T0).await.is_granted() {
        granted += 1;
    }
    assert_eq!(granted, 49);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_at_the_same_time_never_exceed_the_limit() {
    let (_, nodes) = nodes::<3>();
    let nodes: Vec<Arc<Windows>> = nodes.into_iter().map(Arc::new).collect();
    let tasks: Vec<_> = (0..600)
        .map(|n| {
            let node = nodes[n % 3].clone();
            tokio::spawn(async move { take(&node, Group::Transactions, T0).await.is_granted() })
        })
        .collect();
    let mut granted = 0;
    for task in tasks {
        granted += u32::from(task.await.expect("ends"));
    }
    assert_eq!(granted, 200);
}

#[tokio::test]
async fn a_counter_that_is_away_is_no_answer() {
    let (counter, [node]) = nodes();
    counter.away.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(node.take(BANK, Group::Orders, T0).await.is_err());
    counter.away.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(take(&node, Group::Orders, T0).await.remaining, 49);
}

proptest! {
    /// Requests may go to any node: never more than the limit in a window, and the whole limit as
    /// long as any node asks.
    #[test]
    fn the_total_of_all_nodes_is_the_limit(turns in proptest::collection::vec(0_usize..3, 0..400)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (_, nodes) = nodes::<3>();
            let mut granted = 0_u32;
            for turn in &turns {
                granted += u32::from(take(&nodes[*turn], Group::Wallets, T0).await.is_granted());
            }
            prop_assert!(granted <= 100);
            for node in &nodes {
                while take(node, Group::Wallets, T0).await.is_granted() {
                    granted += 1;
                }
            }
            prop_assert_eq!(granted, 100);
            Ok(())
        })?;
    }
}
