//! Questions to a chain's nodes that a client waits for. Stores nothing.

use std::time::Duration;

use domain::chain::ChainFault;
use domain::ports::Answer;

/// A node that hangs must not hold back an answer whose deadline is 5 s: the workers ask it again,
/// and find it unresponsive in their own time.
const WITHIN: Duration = Duration::from_secs(2);

/// The nodes' answer, or [`ChainFault::Unreachable`] if it takes too long.
pub(super) async fn promptly<T>(
    answer: Answer<'_, Result<T, ChainFault>>,
) -> Result<T, ChainFault> {
    within(WITHIN, answer).await
}

async fn within<T>(
    limit: Duration,
    answer: Answer<'_, Result<T, ChainFault>>,
) -> Result<T, ChainFault> {
    let late = |_| ChainFault::Unreachable(format!("no answer within {limit:?}"));
    tokio::time::timeout(limit, answer).await.map_err(late)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_node_that_hangs_is_not_waited_for() {
        let limit = Duration::from_millis(20);
        let hangs = within::<bool>(limit, Box::pin(std::future::pending())).await;
        let fault = hangs.expect_err("no answer");
        assert_eq!(fault.to_string(), "chain node: no answer within 20ms");
        assert_eq!(promptly(Box::pin(async { Ok(7) })).await, Ok(7));
    }
}
