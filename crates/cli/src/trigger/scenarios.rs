//! What `trigger` can make happen, and which event or state each scenario ends in. How is said elsewhere.

/// Which service's log tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Payment Service v2.
    Payments,
    /// Wallet Service v1.
    Wallets,
}

/// How a scenario is brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A quote, and nothing more.
    Quote,
    /// A quote that nobody uses until its time is over.
    QuoteExpires,
    /// A payment to an account with this ending.
    Payment {
        /// The last four digits of the beneficiary's account.
        ending: &'static str,
    },
    /// A payment that screening holds for a person.
    PaymentHeld,
    /// A payment request for this amount of USDC, which the simulated sender pays as its cents say.
    Deposit {
        /// The amount asked for.
        amount: &'static str,
    },
    /// The same, paid when the clock has moved on until it expired.
    DepositLate,
    /// A payment request that nobody pays until it has expired.
    RequestExpires,
    /// A payment request that is cancelled at once.
    RequestCancelled,
    /// A payment for a wallet that was blocked meanwhile.
    DepositHeld,
    /// A payment for a wallet that is blacklisted when it arrives.
    DepositBlacklisted,
    /// A wallet.
    Wallet,
    /// A wallet that is blocked.
    WalletBlocked,
    /// A wallet that is blocked and unblocked.
    WalletUnblocked,
    /// A wallet that is blocked for an hour, and an hour later.
    WalletUnblocksItself,
    /// A wallet that is blacklisted.
    WalletBlacklisted,
    /// An exchange of this amount of USDC from the sandbox's funded wallet.
    Order {
        /// The amount.
        amount: &'static str,
    },
    /// An exchange that is cancelled at once.
    OrderCancelled,
}

/// One scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name: that of the event or state that it is for.
    pub name: &'static str,
    /// What happens.
    pub what: &'static str,
    /// How.
    pub way: Way,
}

impl Scenario {
    /// The scenario of that name.
    pub fn find(name: &str) -> Option<Scenario> {
        SCENARIOS.into_iter().find(|scenario| scenario.name == name)
    }

    /// Whether it moves the clock, which is everybody's.
    pub const fn moves_clock(&self) -> bool {
        matches!(self.way, Way::QuoteExpires | Way::RequestExpires | Way::DepositLate | Way::WalletUnblocksItself)
    }

    /// Where its events are told.
    pub const fn service(&self) -> Service {
        match self.way {
            Way::Quote | Way::QuoteExpires | Way::Payment { .. } | Way::PaymentHeld => Service::Payments,
            _ => Service::Wallets,
        }
    }
}

const fn scenario(name: &'static str, way: Way, what: &'static str) -> Scenario {
    Scenario { name, what, way }
}

/// Every scenario: each event and each state of both services, and each special end of the sandbox.
pub const SCENARIOS: [Scenario; 40] = [
    scenario("quote.created", Way::Quote, "a quote"),
    scenario("quote.used", Way::Payment { ending: "1234" }, "a quote that is paid"),
    scenario("quote.expired", Way::QuoteExpires, "a quote whose time is over (moves the clock)"),
    scenario("payment.queued", Way::Payment { ending: "0005" }, "a payment that is accepted"),
    scenario("payment.processing", Way::Payment { ending: "0005" }, "a payment that stays processing"),
    scenario("payment.succeeded", Way::Payment { ending: "1234" }, "a payment that succeeds"),
    scenario("payment.failed", Way::Payment { ending: "0001" }, "a payment that fails"),
    scenario("payment.rejected", Way::Payment { ending: "0002" }, "a payment that the rail refuses"),
    scenario("payment.reversed", Way::Payment { ending: "0003" }, "a payment that comes back"),
    scenario("payment.unknown", Way::Payment { ending: "0004" }, "a payment of which nobody knows what became of it"),
    scenario("payment.updated", Way::PaymentHeld, "a payment that waits for a person"),
    scenario("payment.timed_out", Way::Payment { ending: "0006" }, "a rail that pays and does not answer"),
    scenario("payment.reported_twice", Way::Payment { ending: "0007" }, "a rail that reports everything twice"),
    scenario("payment.contradicted", Way::Payment { ending: "0008" }, "a rail that contradicts itself"),
    scenario("payment.received", Way::Deposit { amount: "25.00" }, "money arrives for a payment request"),
    scenario("risk_check.complete", Way::Deposit { amount: "25.00" }, "money is checked and approved"),
    scenario("transfer.complete", Way::Deposit { amount: "25.00" }, "money reaches the recipient's wallet"),
    scenario("risk_check.rejected", Way::Deposit { amount: "25.01" }, "money is rejected and stays in escrow"),
    scenario("risk_check.manual_review", Way::Deposit { amount: "25.02" }, "money waits for a person"),
    scenario("risk_check.blocked", Way::Deposit { amount: "25.03" }, "money has its wallet blocked"),
    scenario("transaction.failed", Way::Deposit { amount: "25.04" }, "the release fails on the chain"),
    scenario("transaction.blacklisted", Way::DepositBlacklisted, "money comes for a blacklisted wallet"),
    scenario("transaction.held", Way::DepositHeld, "money comes for a blocked wallet"),
    scenario("request.partial", Way::Deposit { amount: "25.05" }, "the sender pays half"),
    scenario("request.overpaid", Way::Deposit { amount: "25.06" }, "the sender pays double"),
    scenario("payment_request.expired", Way::RequestExpires, "a payment request expires (moves the clock)"),
    scenario("request.expired", Way::RequestExpires, "the same by its older name (moves the clock)"),
    scenario("request.late", Way::DepositLate, "the sender pays after expiry (moves the clock)"),
    scenario("request.reorganised", Way::Deposit { amount: "25.08" }, "the payment's block is replaced by another"),
    scenario("request.paid", Way::Deposit { amount: "25.00" }, "a payment request is paid"),
    scenario("request.cancelled", Way::RequestCancelled, "a payment request is cancelled"),
    scenario("exchange.complete", Way::Order { amount: "1.00" }, "USDC are exchanged and paid out"),
    scenario("order.failed", Way::Order { amount: "1.01" }, "an exchange fails and the tokens come back"),
    scenario("order.timed_out", Way::Order { amount: "1.02" }, "an exchange is cancelled by its time-out"),
    scenario("order.cancelled", Way::OrderCancelled, "an exchange is cancelled"),
    scenario("wallet.provisioned", Way::Wallet, "a wallet is made"),
    scenario("wallet.blocked", Way::WalletBlocked, "a wallet is blocked"),
    scenario("wallet.unblocked", Way::WalletUnblocked, "a wallet is blocked and unblocked"),
    scenario("wallet.unblocked_by_time", Way::WalletUnblocksItself, "a block runs out (moves the clock)"),
    scenario("wallet.blacklisted", Way::WalletBlacklisted, "a wallet is blacklisted"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::event::EventKind;
    use domain::wallet_event::WalletEventKind;

    use super::*;

    #[test]
    fn what_moves_the_clock_says_so() {
        for scenario in SCENARIOS {
            assert_eq!(scenario.moves_clock(), scenario.what.ends_with("(moves the clock)"), "{}", scenario.name);
        }
    }

    #[test]
    fn every_event_has_a_scenario_of_its_name() {
        let names: BTreeSet<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), SCENARIOS.len(), "a name stands twice");
        for kind in EventKind::ALL {
            let scenario = Scenario::find(kind.name()).unwrap_or_else(|| panic!("{} has no scenario", kind.name()));
            assert_eq!(scenario.service(), Service::Payments, "{}", kind.name());
        }
        for kind in WalletEventKind::ALL {
            let scenario = Scenario::find(kind.name()).unwrap_or_else(|| panic!("{} has no scenario", kind.name()));
            assert_eq!(scenario.service(), Service::Wallets, "{}", kind.name());
        }
    }
}
