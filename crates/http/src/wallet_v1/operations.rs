//! The operations of Wallet Service v1 as one table: method, path, rate limit group and roles.
//! Routes are generated from the table, so none can bypass it.

use http::Method;

use crate::wallet_groups::Group;

/// Roles in a token's `roles` claim (`decisions.md`, "Roles").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// May call every operation.
    WalletManager,
    /// May manage payment requests.
    PaymentManager,
    /// May manage exchange orders.
    ExchangeManager,
    /// May block, blacklist and review.
    ComplianceOfficer,
    /// Reads wallets, transactions and orders.
    WalletViewer,
    /// May read everything, change nothing.
    Auditor,
}

impl Role {
    pub const ALL: [Role; 6] = [
        Role::WalletManager,
        Role::PaymentManager,
        Role::ExchangeManager,
        Role::ComplianceOfficer,
        Role::WalletViewer,
        Role::Auditor,
    ];

    /// Its name in a token.
    pub const fn name(self) -> &'static str {
        match self {
            Role::WalletManager => "wallet_manager",
            Role::PaymentManager => "payment_manager",
            Role::ExchangeManager => "exchange_manager",
            Role::ComplianceOfficer => "compliance_officer",
            Role::WalletViewer => "wallet_viewer",
            Role::Auditor => "auditor",
        }
    }
}

/// How strictly roles are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolePolicy {
    /// As in the specification: provisioning requires its role, every other operation any valid
    /// token.
    Default,
    /// Every operation requires one of its roles.
    Strict,
}

#[derive(Debug)]
pub struct Operation {
    /// Its name in metrics.
    pub name: &'static str,
    pub method: Method,
    /// Its path, with at most one parameter.
    pub path: &'static str,
    /// Its rate limit group.
    pub group: Group,
    /// The roles that may call it, the narrowest first. `wallet_manager` may call all, and is
    /// listed only where it is alone.
    pub roles: &'static [Role],
    /// Whether it requires a role under either policy.
    pub always: bool,
}

impl Operation {
    /// The role that a caller with `granted` lacks; `None` if the call is allowed.
    pub fn lacking(&self, policy: RolePolicy, granted: &[String]) -> Option<Role> {
        if policy == RolePolicy::Default && !self.always {
            return None;
        }
        let has = |role: &Role| granted.iter().any(|granted| granted == role.name());
        if has(&Role::WalletManager) || self.roles.iter().any(has) {
            return None;
        }
        Some(self.roles.first().copied().unwrap_or(Role::WalletManager))
    }

    /// Whether it changes state.
    pub fn is_post(&self) -> bool {
        self.method == Method::POST
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $id:ident = $name:literal $method:ident $path:literal $group:ident [$($role:ident)+] $always:literal;)+) => {
        $(
            $(#[$doc])*
            pub static $id: Operation = Operation {
                name: $name,
                method: Method::$method,
                path: $path,
                group: Group::$group,
                roles: &[$(Role::$role),+],
                always: $always,
            };
        )+

        /// Every operation: the specification's in its order, then the additions.
        pub static ALL: &[&Operation] = &[$(&$id),+];
    };
}

operations! {
    PROVISION = "provision_wallet" POST "/v1/sdk/wallets/provision" Wallets [WalletManager] true;
    GET_WALLET = "get_wallet" GET "/v1/sdk/wallets/{wallet_id}" Wallets [WalletViewer ComplianceOfficer Auditor] false;
    /// Creates a payment request.
    CREATE_REQUEST = "create_payment_request" POST "/v1/sdk/payment-requests" PaymentRequests [PaymentManager] false;
    LIST_REQUESTS = "list_payment_requests" GET "/v1/sdk/payment-requests" PaymentRequests
        [WalletViewer PaymentManager Auditor] false;
    LIST_TRANSACTIONS = "list_transactions" GET "/v1/sdk/transactions" Transactions
        [WalletViewer ComplianceOfficer Auditor] false;
    /// Quotes an exchange rate.
    GET_RATE = "get_exchange_rate" GET "/v1/sdk/orders/exchange-rate" Orders
        [WalletViewer ExchangeManager Auditor] false;
    CREATE_ORDER = "create_order" POST "/v1/sdk/orders" Orders [ExchangeManager] false;
    LIST_ORDERS = "list_orders" GET "/v1/sdk/orders" Orders [WalletViewer ExchangeManager Auditor] false;
    BLOCK = "block_wallet" POST "/v1/sdk/wallets/{wallet_id}/block" Wallets [ComplianceOfficer] false;
    UNBLOCK = "unblock_wallet" POST "/v1/sdk/wallets/{wallet_id}/unblock" Wallets [ComplianceOfficer] false;
    BLACKLIST = "blacklist_wallet" POST "/v1/sdk/wallets/{wallet_id}/blacklist" Wallets [ComplianceOfficer] false;
    /// Withdraws a payment request.
    CANCEL_REQUEST = "cancel_payment_request" POST "/v1/sdk/payment-requests/{payment_request_id}/cancel" PaymentRequests
        [PaymentManager] false;
    /// Reads a payment request.
    GET_REQUEST = "get_payment_request" GET "/v1/sdk/payment-requests/{payment_request_id}" PaymentRequests
        [WalletViewer PaymentManager Auditor] false;
    GET_TRANSACTION = "get_transaction" GET "/v1/sdk/transactions/{transaction_id}" Transactions
        [WalletViewer ComplianceOfficer Auditor] false;
    GET_ORDER = "get_order" GET "/v1/sdk/orders/{order_id}" Orders [WalletViewer ExchangeManager Auditor] false;
    CANCEL_ORDER = "cancel_order" POST "/v1/sdk/orders/{order_id}/cancel" Orders [ExchangeManager] false;
    /// Lists deposits held for review.
    LIST_REVIEWS = "list_reviews" GET "/v1/sdk/reviews" Additions [ComplianceOfficer Auditor] false;
    /// Reads a deposit held for review.
    GET_REVIEW = "get_review" GET "/v1/sdk/reviews/{transaction_id}" Additions [ComplianceOfficer Auditor] false;
    /// Decides on a deposit held for review.
    DECIDE_REVIEW = "decide_review" POST "/v1/sdk/reviews/{transaction_id}" Additions [ComplianceOfficer] false;
    /// Lists deliveries of webhooks.
    LIST_DELIVERIES = "list_webhook_deliveries" GET "/v1/sdk/webhooks/deliveries" Additions [Auditor] false;
    REDELIVER = "redeliver_webhook" POST "/v1/sdk/webhooks/deliveries/{delivery_id}/redeliver" Additions
        [WalletManager] false;
    /// Reads the event log.
    LIST_EVENTS = "list_wallet_events" GET "/v1/sdk/events" Additions [Auditor] false;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(policy: RolePolicy, operation: &Operation) -> Vec<&'static str> {
        let may = |role: &Role| operation.lacking(policy, &[role.name().to_owned()]).is_none();
        Role::ALL.into_iter().filter(may).map(Role::name).collect()
    }

    /// The documented matrix of roles × operations under the strict policy (`decisions.md`,
    /// "Roles").
    #[test]
    fn the_strict_policy_is_this_matrix() {
        const M: &str = "wallet_manager";
        const P: &str = "payment_manager";
        const X: &str = "exchange_manager";
        const C: &str = "compliance_officer";
        const V: &str = "wallet_viewer";
        const A: &str = "auditor";
        let matrix: [(&str, &[&str]); 22] = [
            ("provision_wallet", &[M]),
            ("get_wallet", &[M, C, V, A]),
            ("create_payment_request", &[M, P]),
            ("list_payment_requests", &[M, P, V, A]),
            ("list_transactions", &[M, C, V, A]),
            ("get_exchange_rate", &[M, X, V, A]),
            ("create_order", &[M, X]),
            ("list_orders", &[M, X, V, A]),
            ("block_wallet", &[M, C]),
            ("unblock_wallet", &[M, C]),
            ("blacklist_wallet", &[M, C]),
            ("cancel_payment_request", &[M, P]),
            ("get_payment_request", &[M, P, V, A]),
            ("get_transaction", &[M, C, V, A]),
            ("get_order", &[M, X, V, A]),
            ("cancel_order", &[M, X]),
            ("list_reviews", &[M, C, A]),
            ("get_review", &[M, C, A]),
            ("decide_review", &[M, C]),
            ("list_webhook_deliveries", &[M, A]),
            ("redeliver_webhook", &[M]),
            ("list_wallet_events", &[M, A]),
        ];
        let actual: Vec<_> = ALL
            .iter()
            .map(|operation| (operation.name, allowed(RolePolicy::Strict, operation)))
            .collect();
        assert_eq!(actual, matrix.map(|(name, roles)| (name, roles.to_vec())));
    }

    #[test]
    fn by_default_only_provisioning_needs_a_role() {
        for operation in ALL {
            let expected = (operation.name == "provision_wallet").then_some(Role::WalletManager);
            for granted in
                [vec![], vec!["wallet_viewer".to_owned()], vec!["WALLET_MANAGER".to_owned()]]
            {
                assert_eq!(
                    operation.lacking(RolePolicy::Default, &granted),
                    expected,
                    "{}",
                    operation.name
                );
            }
            let manager = ["auditor".to_owned(), "wallet_manager".to_owned()];
            assert_eq!(operation.lacking(RolePolicy::Default, &manager), None);
            assert_eq!(operation.lacking(RolePolicy::Strict, &manager), None);
        }
    }

    #[test]
    fn readers_change_nothing_and_a_refusal_names_a_sufficient_role() {
        for operation in ALL {
            for reader in [Role::WalletViewer, Role::Auditor] {
                assert!(
                    !operation.is_post() || !operation.roles.contains(&reader),
                    "{}",
                    operation.name
                );
            }
            let lacking =
                operation.lacking(RolePolicy::Strict, &[]).expect("no role is not enough");
            assert_eq!(operation.lacking(RolePolicy::Strict, &[lacking.name().to_owned()]), None);
        }
    }

    #[test]
    fn each_operation_counts_with_its_path() {
        for operation in ALL {
            assert_eq!(operation.group, Group::of_path(operation.path), "{}", operation.path);
        }
    }
}
