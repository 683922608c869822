//! Groups of operations of Wallet Service v1, each with a limit of its own (specification:
//! "Limits"; `decisions.md`, "Rate limits").

/// Groups of operations with a shared limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// All operations under `/v1/sdk/wallets/`.
    Wallets,
    /// All operations under `/v1/sdk/payment-requests/`.
    PaymentRequests,
    /// All operations under `/v1/sdk/orders/`.
    Orders,
    /// All operations under `/v1/sdk/transactions/`.
    Transactions,
    /// Operations beyond the specification: reviews, webhook deliveries, events.
    Additions,
}

impl Group {
    pub const ALL: [Group; 5] = [
        Group::Wallets,
        Group::PaymentRequests,
        Group::Orders,
        Group::Transactions,
        Group::Additions,
    ];

    /// Its name in the counter.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Wallets => "wallets",
            Group::PaymentRequests => "payment-requests",
            Group::Orders => "orders",
            Group::Transactions => "transactions",
            Group::Additions => "additions",
        }
    }

    /// The group of a path under `/v1/sdk`, known or unknown.
    pub fn of_path(path: &str) -> Group {
        let first =
            path.strip_prefix("/v1/sdk/").unwrap_or_default().split('/').next().unwrap_or_default();
        Group::ALL.into_iter().find(|group| group.name() == first).unwrap_or(Group::Additions)
    }
}

/// Requests per window of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// For operations under `/v1/sdk/wallets/`.
    pub wallets: u32,
    /// For operations under `/v1/sdk/payment-requests/`.
    pub payment_requests: u32,
    /// For operations under `/v1/sdk/orders/`.
    pub orders: u32,
    /// For operations under `/v1/sdk/transactions/`.
    pub transactions: u32,
    /// Reviews, webhook deliveries, events.
    pub additions: u32,
}

impl Default for GroupLimits {
    fn default() -> GroupLimits {
        GroupLimits {
            wallets: 100,
            payment_requests: 200,
            orders: 50,
            transactions: 200,
            additions: 200,
        }
    }
}

impl GroupLimits {
    /// The limit of a group.
    pub const fn of(&self, group: Group) -> u32 {
        match group {
            Group::Wallets => self.wallets,
            Group::PaymentRequests => self.payment_requests,
            Group::Orders => self.orders,
            Group::Transactions => self.transactions,
            Group::Additions => self.additions,
        }
    }
}
