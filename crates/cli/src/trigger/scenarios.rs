//! The scenarios of `trigger`, and the event or state that each one ends in.

/// The service whose log has the scenario's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Payments,
    Wallets,
}

/// How a scenario is produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A quote that is not used.
    Quote,
    /// A quote that expires unused.
    QuoteExpires,
    /// A payment to an account with this ending.
    Payment {
        /// The last four digits of the beneficiary's account.
        ending: &'static str,
    },
    /// A payment held by screening for review.
    PaymentHeld,
    /// A payment request for this amount of USDC, paid by the simulated sender; the cents select
    /// the outcome.
    Deposit {
        amount: &'static str,
    },
    /// The same, paid after the clock passed its expiry.
    DepositLate,
    /// A payment request that expires unpaid.
    RequestExpires,
    /// A payment request that is cancelled at once.
    RequestCancelled,
    /// A payment to a wallet that was blocked after the request.
    DepositHeld,
    /// A payment to a wallet that is blacklisted when it arrives.
    DepositBlacklisted,
    Wallet,
    /// A wallet that is blocked.
    WalletBlocked,
    /// A wallet that is blocked and unblocked.
    WalletUnblocked,
    /// A wallet that is blocked for an hour, and the end of that hour.
    WalletUnblocksItself,
    /// A wallet that is blacklisted.
    WalletBlacklisted,
    /// An exchange of this amount of USDC from the sandbox's funded wallet.
    Order {
        amount: &'static str,
    },
    /// An exchange that is cancelled at once.
    OrderCancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name: that of the event or state that it is for.
    pub name: &'static str,
    /// What the user sees happen.
    pub what: &'static str,
    /// How it is produced.
    pub way: Way,
    pub end: End,
}

/// How a scenario ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With an event about what it creates.
    Event(&'static str),
    /// With a status of what it creates, because the event of its name is optional for a tenant.
    Status {
        /// What it is, as `trigger` reports it.
        what: &'static str,
        /// The path that its id is appended to.
        path: &'static str,
        status: &'static str,
    },
    /// With its last request.
    AtOnce,
}

const ORDER_FAILED: End = End::Status { what: "order", path: "/v1/sdk/orders/", status: "FAILED" };
const ORDER_CANCELLED: End =
    End::Status { what: "order", path: "/v1/sdk/orders/", status: "CANCELLED" };
const REQUEST_EXPIRED: End =
    End::Status { what: "payment request", path: "/v1/sdk/payment-requests/", status: "EXPIRED" };
const WALLET_ACTIVE: End =
    End::Status { what: "wallet", path: "/v1/sdk/wallets/", status: "ACTIVE" };

impl Scenario {
    /// The scenario with this name.
    pub fn find(name: &str) -> Option<Scenario> {
        SCENARIOS.into_iter().find(|scenario| scenario.name == name)
    }

    /// Whether it moves the sandbox's clock, which all users share.
    pub const fn moves_clock(&self) -> bool {
        matches!(
            self.way,
            Way::QuoteExpires | Way::RequestExpires | Way::DepositLate | Way::WalletUnblocksItself
        )
    }

    /// The service whose log has its events.
    pub const fn service(&self) -> Service {
        match self.way {
            Way::Quote | Way::QuoteExpires | Way::Payment { .. } | Way::PaymentHeld => {
                Service::Payments
            }
            _ => Service::Wallets,
        }
    }
}

/// A scenario that ends with the event of its name.
const fn scenario(name: &'static str, way: Way, what: &'static str) -> Scenario {
    Scenario { name, what, way, end: End::Event(name) }
}

impl Scenario {
    /// The same with another end.
    const fn ending(self, end: End) -> Scenario {
        Scenario { end, ..self }
    }
}

/// Every scenario: each event and state of both services, and each special outcome of the sandbox.
pub const SCENARIOS: [Scenario; 40] = [
    scenario("quote.created", Way::Quote, "a quote is created"),
    scenario("quote.used", Way::Payment { ending: "1234" }, "a quote is used"),
    scenario("quote.expired", Way::QuoteExpires, "a quote expires (moves the clock)"),
    scenario("payment.queued", Way::Payment { ending: "0005" }, "a payment is accepted"),
    scenario("payment.processing", Way::Payment { ending: "0005" }, "a payment stays processing"),
    scenario("payment.succeeded", Way::Payment { ending: "1234" }, "a payment succeeds"),
    scenario("payment.failed", Way::Payment { ending: "0001" }, "a payment fails"),
    scenario("payment.rejected", Way::Payment { ending: "0002" }, "the rail rejects a payment"),
    scenario("payment.reversed", Way::Payment { ending: "0003" }, "a payment is returned"),
    scenario("payment.unknown", Way::Payment { ending: "0004" }, "a payment's outcome is unknown"),
    scenario("payment.updated", Way::PaymentHeld, "a payment is held for review"),
    scenario(
        "payment.timed_out",
        Way::Payment { ending: "0006" },
        "the rail pays but does not answer",
    )
    .ending(End::Event("payment.succeeded")),
    scenario(
        "payment.reported_twice",
        Way::Payment { ending: "0007" },
        "the rail reports everything twice",
    )
    .ending(End::Event("payment.succeeded")),
    scenario(
        "payment.contradicted",
        Way::Payment { ending: "0008" },
        "the rail contradicts itself",
    )
    .ending(End::Event("payment.succeeded")),
    scenario(
        "payment.received",
        Way::Deposit { amount: "25.00" },
        "a deposit arrives for a payment request",
    ),
    scenario(
        "risk_check.complete",
        Way::Deposit { amount: "25.00" },
        "a deposit is screened and approved",
    ),
    scenario(
        "transfer.complete",
        Way::Deposit { amount: "25.00" },
        "a deposit reaches the recipient's wallet",
    ),
    scenario(
        "risk_check.rejected",
        Way::Deposit { amount: "25.01" },
        "a deposit is rejected and stays in escrow",
    )
    .ending(End::Event("risk_check.complete")),
    scenario(
        "risk_check.manual_review",
        Way::Deposit { amount: "25.02" },
        "a deposit is held for review",
    )
    .ending(End::Event("risk_check.complete")),
    scenario(
        "risk_check.blocked",
        Way::Deposit { amount: "25.03" },
        "a deposit causes its wallet to be blocked",
    )
    .ending(End::Event("wallet.blocked")),
    scenario(
        "transaction.failed",
        Way::Deposit { amount: "25.04" },
        "the release fails on the chain",
    ),
    scenario(
        "transaction.blacklisted",
        Way::DepositBlacklisted,
        "a deposit arrives for a blacklisted wallet",
    )
    .ending(End::Event("transaction.failed")),
    scenario("transaction.held", Way::DepositHeld, "a deposit arrives for a blocked wallet")
        .ending(End::Event("payment.received")),
    scenario("request.partial", Way::Deposit { amount: "25.05" }, "the sender pays half")
        .ending(End::Event("transfer.complete")),
    scenario(
        "request.overpaid",
        Way::Deposit { amount: "25.06" },
        "the sender pays twice the amount",
    )
    .ending(End::Event("transfer.complete")),
    scenario(
        "payment_request.expired",
        Way::RequestExpires,
        "a payment request expires (moves the clock)",
    )
    .ending(REQUEST_EXPIRED),
    scenario(
        "request.expired",
        Way::RequestExpires,
        "the same, under its former name (moves the clock)",
    )
    .ending(REQUEST_EXPIRED),
    scenario("request.late", Way::DepositLate, "the sender pays after expiry (moves the clock)")
        .ending(End::Event("payment.received")),
    scenario(
        "request.reorganised",
        Way::Deposit { amount: "25.08" },
        "the payment's block is reorganised",
    )
    .ending(End::Event("transfer.complete")),
    scenario("request.paid", Way::Deposit { amount: "25.00" }, "a payment request is paid")
        .ending(End::Event("transfer.complete")),
    scenario("request.cancelled", Way::RequestCancelled, "a payment request is cancelled")
        .ending(End::AtOnce),
    scenario("exchange.complete", Way::Order { amount: "1.00" }, "USDC is exchanged and paid out"),
    scenario(
        "order.failed",
        Way::Order { amount: "1.01" },
        "an exchange fails and the tokens are returned",
    )
    .ending(ORDER_FAILED),
    scenario(
        "order.timed_out",
        Way::Order { amount: "1.02" },
        "an exchange times out and is cancelled",
    )
    .ending(ORDER_CANCELLED),
    scenario("order.cancelled", Way::OrderCancelled, "an exchange is cancelled")
        .ending(ORDER_CANCELLED),
    scenario("wallet.provisioned", Way::Wallet, "a wallet is provisioned").ending(End::AtOnce),
    scenario("wallet.blocked", Way::WalletBlocked, "a wallet is blocked"),
    scenario("wallet.unblocked", Way::WalletUnblocked, "a wallet is blocked and unblocked")
        .ending(WALLET_ACTIVE),
    scenario(
        "wallet.unblocked_by_time",
        Way::WalletUnblocksItself,
        "a block expires (moves the clock)",
    )
    .ending(WALLET_ACTIVE),
    scenario("wallet.blacklisted", Way::WalletBlacklisted, "a wallet is blacklisted")
        .ending(End::AtOnce),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::event::EventKind;
    use domain::wallet_event::WalletEventKind;

    use super::*;

    #[test]
    fn scenarios_that_move_the_clock_state_it() {
        for scenario in SCENARIOS {
            assert_eq!(
                scenario.moves_clock(),
                scenario.what.ends_with("(moves the clock)"),
                "{}",
                scenario.name
            );
        }
    }

    #[test]
    fn every_event_has_a_scenario_of_its_name() {
        let names: BTreeSet<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), SCENARIOS.len(), "a name stands twice");
        for kind in EventKind::ALL {
            let scenario = Scenario::find(kind.name())
                .unwrap_or_else(|| panic!("{} has no scenario", kind.name()));
            assert_eq!(scenario.service(), Service::Payments, "{}", kind.name());
        }
        for kind in WalletEventKind::ALL {
            let scenario = Scenario::find(kind.name())
                .unwrap_or_else(|| panic!("{} has no scenario", kind.name()));
            assert_eq!(scenario.service(), Service::Wallets, "{}", kind.name());
        }
    }
}
