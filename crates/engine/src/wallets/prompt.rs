//! Questions to a chain's nodes that a client waits for. Stores nothing.

use domain::chain::ChainFault;
use domain::ports::{BoxFuture, Clock};
use domain::time::Span;

use super::Wallets;

/// A node that hangs must not hold back an answer whose deadline is 5 s: the workers ask it again,
/// and find it unresponsive in their own time.
const WITHIN: Span = Span::secs(2);

impl Wallets {
    /// The nodes' answer, or [`ChainFault::Unreachable`] if it takes too long.
    pub(super) async fn promptly<T>(
        &self,
        answer: BoxFuture<'_, Result<T, ChainFault>>,
    ) -> Result<T, ChainFault> {
        within(WITHIN, &*self.world.wall_clock, answer).await
    }
}

async fn within<T>(
    limit: Span,
    clock: &dyn Clock,
    answer: BoxFuture<'_, Result<T, ChainFault>>,
) -> Result<T, ChainFault> {
    tokio::select! {
        biased;
        answer = answer => answer,
        () = clock.sleep_until(clock.now() + limit) => {
            let seconds = limit.0 / Span::secs(1).0;
            Err(ChainFault::Unreachable(format!("no answer within {seconds} s")))
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    /// A clock on which every time to wait for has come.
    struct Late;

    impl Clock for Late {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test]
    async fn a_node_that_hangs_is_not_waited_for() {
        let hangs = within::<bool>(WITHIN, &Late, Box::pin(std::future::pending())).await;
        let fault = hangs.expect_err("no answer");
        assert_eq!(fault.to_string(), "chain node: no answer within 2 s");
        assert_eq!(within(WITHIN, &Late, Box::pin(async { Ok(7) })).await, Ok(7));
    }
}
