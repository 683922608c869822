//! Nodes' errors, classified by their text, since no two implementations agree on codes.
//!
//! Known: geth, reth, erigon, nethermind, besu, anvil, and the large providers. An unknown text is
//! kept as text.

use domain::chain::{Address, Broadcast, ChainFault, RESTING};
use domain::characters::one_line;
use domain::time::Span;

use super::TransportFault;

/// Longest error text of a node that is passed on.
const MAX_TEXT_CHARS: usize = 300;

/// An error that a node returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub(crate) struct NodeError {
    pub(crate) code: i64,
    pub(crate) message: String,
    /// Revert data; `None` if the node sent none.
    pub(crate) data: Option<Vec<u8>>,
    /// Whether logs were asked for.
    pub(crate) is_of_logs: bool,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RpcFault {
    #[error(transparent)]
    Transport(TransportFault),
    /// The node answered, but the answer is impossible.
    #[error("{0}")]
    Malformed(String),
    #[error(transparent)]
    Node(NodeError),
    /// The called contract reverted: an answer about the contract.
    #[error("{contract} reverted: {error}")]
    Reverted { contract: Address, error: NodeError },
    /// The node was not asked: it failed repeatedly, or asked for a pause.
    #[error("{RESTING} {} ms after failures", .0.0 / 1_000)]
    Resting(Span),
}

impl RpcFault {
    /// As the port reports it, with the node's name.
    pub(crate) fn at(&self, node: &str) -> ChainFault {
        match self {
            RpcFault::Reverted { contract, error } => {
                ChainFault::Reverted { contract: *contract, text: error.to_string() }
            }
            _ => ChainFault::Unreachable(format!("{node}: {self}")),
        }
    }

    /// The same as an answer to a call of `contract`.
    pub(crate) fn of_call(self, contract: Address) -> RpcFault {
        match self {
            RpcFault::Node(error) if error.is_revert() => RpcFault::Reverted { contract, error },
            other => other,
        }
    }

    /// A contract without the called function that answered with nothing, as if it had reverted.
    pub(crate) fn empty(contract: Address) -> RpcFault {
        let message = "empty answer".to_owned();
        let error = NodeError { code: REVERTED, message, data: None, is_of_logs: false };
        RpcFault::Reverted { contract, error }
    }

    /// Whether the node is unhealthy. A node that rejects a request is healthy; an oversized answer
    /// is due to the request.
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            RpcFault::Transport(TransportFault::TooLarge { .. }) | RpcFault::Reverted { .. } => {
                false
            }
            RpcFault::Node(error) => error.is_pause(),
            RpcFault::Transport(_) | RpcFault::Malformed(_) | RpcFault::Resting(_) => true,
        }
    }

    /// Whether the node asks to be retried later.
    pub(crate) fn is_pause(&self) -> bool {
        match self {
            RpcFault::Transport(TransportFault::Busy { .. }) | RpcFault::Resting(_) => true,
            RpcFault::Node(error) => error.is_pause(),
            _ => false,
        }
    }

    /// As the only answer to an array of requests: whether the requests may succeed one by one.
    pub(crate) fn may_be_about_batches(&self) -> bool {
        match self {
            RpcFault::Node(error) => error.may_be_about_batches(),
            other => !other.is_pause(),
        }
    }

    /// Whether a smaller request may succeed.
    pub(crate) fn is_too_much(&self) -> bool {
        match self {
            RpcFault::Transport(TransportFault::TooLarge { .. }) => true,
            RpcFault::Node(error) => error.is_too_much(),
            _ => false,
        }
    }

    /// Whether the node serves, but not this request: it may serve another one that asks for the
    /// same.
    pub(crate) fn is_about_the_request(&self) -> bool {
        self.is_too_much()
            || matches!(self, RpcFault::Reverted { .. })
            || matches!(self, RpcFault::Node(error) if !error.is_pause())
    }

    /// The outcome of a broadcast that failed with this error.
    pub(crate) fn broadcast(self) -> Broadcast {
        match self {
            RpcFault::Node(error) => error.broadcast(),
            other => Broadcast::Indeterminate(other.to_string()),
        }
    }
}

const ALREADY_KNOWN: [&str; 6] = [
    "already known",
    "known transaction",
    "alreadyknown",
    "already imported",
    "already in mempool",
    "existing tx with same hash",
];
const NONCE_TOO_LOW: [&str; 5] = [
    "nonce too low",
    "nonce is too low",
    "oldnonce",
    "invalid nonce; got",
    "doesn't have the correct nonce",
];
const UNDERPRICED: [&str; 10] = [
    "underpriced",
    "feetoolow",
    "replacementnotallowed",
    "could not replace existing tx",
    "gas price too low",
    "gas price is too low",
    "gas price below configured minimum",
    "max fee per gas less than block base fee",
    "fee cap less than block base fee",
    "max priority fee per gas below minimum",
];
const INSUFFICIENT_FUNDS: [&str; 5] = [
    "insufficient funds",
    "insufficientfunds",
    "insufficient balance",
    "insufficient maxfeepergas for sender balance",
    "upfront cost exceeds account balance",
];
/// Terms for what an answer about logs can exceed, and for exceeding it.
const AMOUNTS: [&str; 7] =
    ["range", "blocks", "results", "logs", "events", "response size", "response is too big"];
const EXCESS: [&str; 12] = [
    "limit",
    "exceed",
    "more than",
    "too large",
    "too wide",
    "too many",
    "too big",
    "bigger",
    "larger",
    "greater than",
    "maximum",
    "max ",
];
/// Problems of the node itself: they prove nothing about the transaction, which it may have
/// accepted.
const TROUBLED: [&str; 12] = [
    "internal error",
    "too many requests",
    "rate limit",
    "limit exceeded",
    "unavailable",
    "header not found",
    "unknown block",
    "missing trie node",
    "syncing",
    "pool is full",
    "pool full",
    "txpooloverflow",
];
/// Phrases by which nodes report a rate limit.
const PAUSE: [&str; 10] = [
    "too many requests",
    "too many concurrent requests",
    "rate limit",
    "rate-limit",
    "request limit",
    "request rate",
    "request count",
    "quota",
    "exceeded its compute units",
    "throughput",
];
/// Terms for an array of requests.
const BATCHES: [&str; 1] = ["batch"];
/// HTTP's status for it, which some nodes put in place of a JSON-RPC code.
const TOO_MANY_REQUESTS: i64 = 429;
/// EIP-1474's code for a limit, of requests unless the text names another one.
const LIMIT_EXCEEDED: i64 = -32005;
/// JSON-RPC's code for it.
const INTERNAL_ERROR: i64 = -32603;
const TIMED_OUT: [&str; 3] = ["timed out", "timeout", "duration exceeded"];
const EXECUTION_FAILED: [&str; 7] = [
    "revert",
    "out of gas",
    "invalid opcode",
    "vm execution error",
    "gas required exceeds allowance",
    "stack underflow",
    "invalid jump",
];
/// The node allowed no gas at all, so it executed nothing.
const NOTHING_ALLOWED: &str = "allowance (0)";
/// geth's code of a revert, which others adopted.
const REVERTED: i64 = 3;

impl NodeError {
    fn says(&self, any: &[&str]) -> bool {
        let said = self.message.to_ascii_lowercase();
        any.iter().any(|text| said.contains(text))
    }

    /// Whether the call itself failed, rather than the request. Data proves nothing: some nodes
    /// explain any error with data.
    pub(crate) fn is_revert(&self) -> bool {
        let has_run = !self.says(&[NOTHING_ALLOWED]);
        (self.code == REVERTED || self.says(&EXECUTION_FAILED)) && has_run && !self.is_pause()
    }

    /// Whether the node asks for a pause. The code decides first; a known text is a shortcut.
    pub(super) fn is_pause(&self) -> bool {
        let is_limit = self.code == LIMIT_EXCEEDED || self.says(&PAUSE);
        self.code == TOO_MANY_REQUESTS || is_limit && !self.is_too_much()
    }

    /// The code of a limit may be that of an array's length: only a text that names a rate is a
    /// request for a pause.
    fn may_be_about_batches(&self) -> bool {
        let names_rate = self.code == TOO_MANY_REQUESTS || self.says(&PAUSE);
        !names_rate || self.says(&BATCHES)
    }

    /// The code of a limit is that of an answer's size if logs were asked for and the text names no
    /// rate: `limit exceeded`.
    pub(super) fn is_too_much(&self) -> bool {
        let is_limit = self.is_of_logs && self.code == LIMIT_EXCEEDED && !self.says(&PAUSE);
        is_limit || self.says(&AMOUNTS) && self.says(&EXCESS) || self.says(&TIMED_OUT)
    }

    fn broadcast(self) -> Broadcast {
        // "replacement transaction underpriced" also mentions a transaction: known texts are
        // matched first, since no node combines both.
        if self.says(&ALREADY_KNOWN) {
            Broadcast::AlreadyKnown
        } else if self.says(&NONCE_TOO_LOW) {
            Broadcast::NonceTooLow
        } else if self.says(&UNDERPRICED) {
            Broadcast::Underpriced
        } else if self.says(&INSUFFICIENT_FUNDS) {
            Broadcast::InsufficientFunds
        } else if self.code == INTERNAL_ERROR
            || self.is_pause()
            || self.says(&TROUBLED)
            || self.says(&TIMED_OUT)
        {
            Broadcast::Indeterminate(self.to_string())
        } else {
            Broadcast::Refused(self.to_string())
        }
    }
}

/// A node's text for a log: one line, bounded.
pub(crate) fn clean(text: &str) -> String {
    one_line(text, MAX_TEXT_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(message: &str) -> NodeError {
        NodeError { code: -32000, message: message.to_owned(), data: None, is_of_logs: false }
    }

    #[test]
    fn refusals_of_a_broadcast_are_distinguished() {
        use Broadcast::{AlreadyKnown, InsufficientFunds, NonceTooLow, Underpriced};
        for (message, expected) in [
            // geth
            ("already known", AlreadyKnown),
            ("nonce too low: next nonce 5, tx nonce 4", NonceTooLow),
            ("nonce too low: address 0x…, tx: 0 state: 3", NonceTooLow),
            ("replacement transaction underpriced", Underpriced),
            ("transaction underpriced: gas tip cap 0, minimum needed 1", Underpriced),
            (
                "insufficient funds for gas * price + value: balance 0, tx cost 21, overshot 21",
                InsufficientFunds,
            ),
            // anvil
            ("transaction already imported", AlreadyKnown),
            ("nonce too low", NonceTooLow),
            ("Insufficient funds for gas * price + value", InsufficientFunds),
            ("max fee per gas less than block base fee", Underpriced),
            // ganache
            (
                "the tx doesn't have the correct nonce. account has nonce of: 5 tx has nonce of: 4",
                NonceTooLow,
            ),
            // erigon
            ("INTERNAL_ERROR: existing tx with same hash", AlreadyKnown),
            ("could not replace existing tx", Underpriced),
            ("fee cap less than block base fee: address 0x…, gasFeeCap: 1 baseFee: 2", Underpriced),
            // nethermind
            ("AlreadyKnown", AlreadyKnown),
            ("OldNonce, Current nonce: 7, nonce of rejected tx: 6", NonceTooLow),
            ("FeeTooLow, MaxFeePerGas too low", Underpriced),
            ("ReplacementNotAllowed", Underpriced),
            ("InsufficientFunds, Account balance: 0, cumulative cost: 1", InsufficientFunds),
            ("insufficient MaxFeePerGas for sender balance", InsufficientFunds),
            // besu
            ("Known transaction", AlreadyKnown),
            ("Nonce too low", NonceTooLow),
            ("Replacement transaction underpriced", Underpriced),
            ("Gas price below configured minimum gas price", Underpriced),
            ("Upfront cost exceeds account balance", InsufficientFunds),
        ] {
            assert_eq!(error(message).broadcast(), expected, "{message}");
        }
    }

    #[test]
    fn other_rejections_keep_their_text_and_unclear_outcomes_stay_unclear() {
        for message in ["exceeds block gas limit", "nonce too high", "invalid sender", ""] {
            assert!(
                matches!(error(message).broadcast(), Broadcast::Refused(text) if text.starts_with(message))
            );
        }
        for message in [
            "request timed out",
            "Too Many Requests",
            "rate limit exceeded",
            "internal error",
            "header not found",
            "txpool is full",
            "Transaction pool full",
            "service unavailable, try again",
        ] {
            assert!(matches!(error(message).broadcast(), Broadcast::Indeterminate(_)), "{message}");
        }
        let internal = NodeError { code: INTERNAL_ERROR, ..error("database closed") };
        assert!(matches!(internal.broadcast(), Broadcast::Indeterminate(_)));
        let lost = RpcFault::Transport(TransportFault::Failed("connection reset".to_owned()));
        assert!(matches!(lost.broadcast(), Broadcast::Indeterminate(_)));
        let garbled = RpcFault::Malformed("no JSON".to_owned());
        assert!(matches!(garbled.broadcast(), Broadcast::Indeterminate(_)));
    }

    #[test]
    fn too_many_logs_is_not_a_node_fault() {
        for (message, expected) in [
            ("query returned more than 10000 results", true),
            ("range 1000000 exceeds limit of 10000", true),
            ("eth_getLogs is limited to a 10,000 range", true),
            (
                "block range is larger than max block range, block range = 5120, max block range = 5000",
                true,
            ),
            ("query exceeds max results 20000, retry with the range 1-2", true),
            ("exceed maximum block range: 5000", true),
            ("block range is too wide", true),
            (
                "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range",
                true,
            ),
            ("query timeout exceeded", true),
            ("requested too many blocks from 1 to 2000, maximum is set to 1000", true),
            ("response is too big", true),
            ("too many requests", false),
            ("rate limit exceeded", false),
            ("unknown block", false),
            ("header not found", false),
        ] {
            assert_eq!(RpcFault::Node(error(message)).is_too_much(), expected, "{message}");
            assert!(!expected || !RpcFault::Node(error(message)).is_pause(), "{message}");
        }
        for message in [
            "too many requests",
            "Your app has exceeded its compute units per second capacity",
            "project ID request rate exceeded",
            "daily request count exceeded, request rate limited",
            "50/second request limit reached - reduce calls per second or upgrade your account",
            "over rate limit",
            "Too many concurrent requests",
            "monthly quota exhausted",
        ] {
            assert!(RpcFault::Node(error(message)).is_pause(), "{message}");
            assert!(matches!(error(message).broadcast(), Broadcast::Indeterminate(_)), "{message}");
        }
        let limit = |message: &str| NodeError { code: LIMIT_EXCEEDED, ..error(message) };
        assert!(limit("limit exceeded").is_pause() && limit("").is_pause());
        assert!(!limit("query returned more than 10000 results").is_pause());
        for (message, is_pause) in [
            ("limit exceeded", false),
            ("", false),
            ("rate limit exceeded", true),
            ("daily request count exceeded, request rate limited", true),
        ] {
            let fault = NodeError { is_of_logs: true, ..limit(message) };
            assert_eq!(fault.is_pause(), is_pause, "{message}");
            assert_eq!(fault.is_too_much(), !is_pause, "{message}");
            assert_eq!(RpcFault::Node(fault).is_about_the_request(), !is_pause, "{message}");
        }
        assert!(
            !limit("requested too many blocks from 1 to 2000, maximum is set to 1000").is_pause()
        );
        assert!(matches!(limit("capacity").broadcast(), Broadcast::Indeterminate(_)));
        assert!(RpcFault::Transport(TransportFault::TooLarge { max_bytes: 1 }).is_too_much());
        assert!(!RpcFault::Transport(TransportFault::Failed("timed out".to_owned())).is_too_much());
    }

    #[test]
    fn a_limit_of_an_arrays_length_is_not_one_of_the_rate() {
        for (code, message, expected) in [
            // Besu
            (LIMIT_EXCEEDED, "Number of requests exceeds max batch size", true),
            // jsonrpsee
            (LIMIT_EXCEEDED, "Batched requests are not supported by this server", true),
            // Nethermind
            (LIMIT_EXCEEDED, "Batch size limit exceeded", true),
            (LIMIT_EXCEEDED, "batch request limit exceeded", true),
            (LIMIT_EXCEEDED, "", true),
            (-32600, "batch too large", true),
            (LIMIT_EXCEEDED, "daily request count exceeded, request rate limited", false),
            (LIMIT_EXCEEDED, "Too Many Requests", false),
            (TOO_MANY_REQUESTS, "", false),
        ] {
            let fault = RpcFault::Node(NodeError { code, ..error(message) });
            assert_eq!(fault.may_be_about_batches(), expected, "{code} {message}");
        }
        let busy = TransportFault::Busy { status: 429, retry_after: None };
        assert!(!RpcFault::Transport(busy).may_be_about_batches());
        assert!(RpcFault::Malformed("no JSON".to_owned()).may_be_about_batches());
    }

    #[test]
    fn a_failed_call_differs_from_a_failed_request() {
        for (message, expected) in [
            ("execution reverted: Pausable: paused", true),
            ("VM execution error.", true),
            ("out of gas", true),
            ("gas required exceeds allowance (50000000)", true),
            ("gas required exceeds allowance (0)", false),
            ("header not found", false),
            ("rate limit exceeded", false),
        ] {
            let error = NodeError { data: Some(Vec::new()), ..error(message) };
            assert_eq!(error.is_revert(), expected, "{message}");
        }
        assert!(NodeError { code: REVERTED, ..error("") }.is_revert());
    }

    #[test]
    fn texts_of_nodes_are_one_bounded_line() {
        assert_eq!(clean("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(clean(&"x".repeat(9_999)).len(), MAX_TEXT_CHARS);
    }
}
