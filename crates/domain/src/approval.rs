//! Four-eyes approvals: which actions need a second user, and the states of a proposal
//! (`decisions.md`, "Four eyes").

use std::collections::BTreeMap;

use crate::attempt::UnresolvedAttempt;
use crate::chain::ChainNumber;
use crate::country::Country;
use crate::currency::StableCoin;
use crate::ids::{ApprovalId, DepositId, ExchangeId, PaymentId, TenantId, UserId, WalletId};
use crate::policy::fields::Field;
use crate::rail::Finding;
use crate::time::{Span, Timestamp};
use crate::user::{Role, Scope};
use crate::wallet::BlacklistOrder;

/// Time after which an undecided proposal expires.
pub const APPROVAL_LIFETIME: Span = Span::days(7);

/// Action that one user proposes and another approves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposedAction {
    /// Lift a block of a wallet, whether the bank or the risk system set it.
    UnblockWallet {
        /// Wallet whose block is lifted.
        wallet: WalletId,
        /// Start of the block that the maker reviewed.
        blocked_at: Timestamp,
        /// Reason to report to the bank.
        reason: Option<String>,
    },
    /// Forward a regulator's blacklist order.
    BlacklistWallet {
        /// Wallet of the customer that the order names.
        wallet: WalletId,
        /// The regulator's order, as it goes to the wallet.
        order: BlacklistOrder,
    },
    /// Release a reviewed deposit above the tenant's limit.
    ReleaseDeposit {
        /// Deposit in review, above [`crate::wallet_policy::WalletPolicy::second_person_above`].
        deposit: DepositId,
        /// Start of the review that the maker looked at.
        waits_since: Timestamp,
    },
    /// Release a withheld exchange order above the tenant's limit.
    ReleaseOrder {
        /// Withheld order, above [`crate::wallet_policy::WalletPolicy::second_person_above`].
        order: ExchangeId,
        /// Version of the order that the maker looked at; `None` in proposals of earlier versions.
        version: Option<i64>,
    },
    /// Release a payment in review above the tenant's limit.
    ReleasePayment {
        /// Payment in review, above [`crate::wallet_policy::WalletPolicy::second_person_above`].
        payment: PaymentId,
        /// Version of the payment that the maker looked at.
        version: i64,
    },
    /// Lift a deposit's legal hold.
    LiftHold {
        /// Deposit on legal hold; it stays rejected and can be refunded.
        deposit: DepositId,
        /// Start of the hold that the maker reviewed.
        held_since: Timestamp,
    },
    /// Record the outcome of a payment whose outcome is unknown.
    ResolvePayment {
        /// Payment of unknown outcome, or a succeeded one that was returned.
        payment: PaymentId,
        /// Unresolved attempt that the maker reviewed.
        doubt: UnresolvedAttempt,
        /// Outcome that the maker established.
        became: Finding,
    },
    /// Record the outcome of an exchange order's payout whose outcome is unknown, or the return of a
    /// settled one.
    ResolveOrder {
        /// Exchange order to resolve.
        order: ExchangeId,
        /// Attempt that the maker reviewed.
        doubt: UnresolvedAttempt,
        /// Outcome that the maker established.
        became: Finding,
    },
    /// Set the tenant's fee, margins and spread.
    SetPricing(Pricing),
    /// Set the tenant's permissions and limits.
    SetPolicy {
        /// Policy version that the maker reviewed.
        version: u32,
        /// New field values, in display format.
        values: BTreeMap<Field, String>,
    },
    /// Change the webhook URL.
    SetWebhookUrl {
        /// New base URL of the webhook endpoint.
        url: String,
    },
    /// Switch delivery of the payment service's events to the tenant's webhook endpoint on or off.
    SetPaymentWebhooks {
        /// Whether payment events are delivered.
        on: bool,
    },
    /// Resume transfers of a token whose issuer changed the contract's code. Applies to the whole
    /// installation.
    AcceptCoinCode {
        /// Chain of the contract.
        chain: ChainNumber,
        /// Token whose contract changed.
        coin: StableCoin,
        /// Block number of the change that the maker reviewed.
        at_block: u64,
    },
    /// Change a user's roles and scope.
    SetUserAccess {
        /// User whose access changes; they cannot decide on it.
        user: UserId,
        /// All roles that the user has afterwards.
        roles: Vec<Role>,
        /// Tenants that the user may act for.
        scope: Scope,
    },
}

/// Fee, margins and spread of a tenant, in basis points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pricing {
    /// Corridor's fee on payments.
    pub premium_bps: u32,
    /// Tenant's own margin on exchange rates.
    pub margin_bps: u32,
    /// Margin by country, where it differs from `margin_bps`.
    pub margin_bps_by_country: BTreeMap<Country, u32>,
    /// Corridor's spread on stablecoin exchanges.
    pub spread_bps: u32,
}

impl ProposedAction {
    /// Stored and displayed name of the kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            ProposedAction::UnblockWallet { .. } => "wallet.unblock",
            ProposedAction::BlacklistWallet { .. } => "wallet.blacklist",
            ProposedAction::ReleaseDeposit { .. } => "deposit.release",
            ProposedAction::ReleaseOrder { .. } => "order.release",
            ProposedAction::ReleasePayment { .. } => "payment.release",
            ProposedAction::LiftHold { .. } => "deposit.lift_hold",
            ProposedAction::ResolvePayment { .. } => "payment.resolve",
            ProposedAction::ResolveOrder { .. } => "order.resolve",
            ProposedAction::SetPricing(_) => "pricing.set",
            ProposedAction::SetPolicy { .. } => "policy.set",
            ProposedAction::SetWebhookUrl { .. } => "webhook.set_url",
            ProposedAction::SetPaymentWebhooks { .. } => "webhook.set_payment_events",
            ProposedAction::AcceptCoinCode { .. } => "coin.accept_code",
            ProposedAction::SetUserAccess { .. } => "user.set_access",
        }
    }

    /// What the action applies to: an id, or a fixed word where only one exists. At most one
    /// proposal of a kind is open per subject.
    pub fn subject(&self) -> String {
        match self {
            ProposedAction::UnblockWallet { wallet, .. }
            | ProposedAction::BlacklistWallet { wallet, .. } => wallet.to_string(),
            ProposedAction::ReleaseDeposit { deposit, .. }
            | ProposedAction::LiftHold { deposit, .. } => deposit.to_string(),
            ProposedAction::ReleasePayment { payment, .. }
            | ProposedAction::ResolvePayment { payment, .. } => payment.to_string(),
            ProposedAction::ReleaseOrder { order, .. }
            | ProposedAction::ResolveOrder { order, .. } => order.to_string(),
            ProposedAction::SetPricing(_) => "pricing".to_owned(),
            ProposedAction::SetPolicy { .. } => "policy".to_owned(),
            ProposedAction::SetWebhookUrl { .. } | ProposedAction::SetPaymentWebhooks { .. } => {
                "webhook".to_owned()
            }
            ProposedAction::AcceptCoinCode { chain, coin, .. } => chain.key(coin.currency().code()),
            ProposedAction::SetUserAccess { user, .. } => user.to_string(),
        }
    }

    /// Title of the action, for display.
    pub const fn title(&self) -> &'static str {
        match self {
            ProposedAction::UnblockWallet { .. } => "Unblock a wallet",
            ProposedAction::BlacklistWallet { .. } => "Blacklist a wallet",
            ProposedAction::ReleaseDeposit { .. } => "Release a reviewed deposit",
            ProposedAction::ReleaseOrder { .. } => "Release a withheld exchange order",
            ProposedAction::ReleasePayment { .. } => "Release a payment in review",
            ProposedAction::LiftHold { .. } => "Lift a legal hold",
            ProposedAction::ResolvePayment { .. } => "Resolve an unknown payment",
            ProposedAction::ResolveOrder { .. } => "Resolve an unknown payout",
            ProposedAction::SetPricing(_) => "Change fee, margin or spread",
            ProposedAction::SetPolicy { .. } => "Change the tenant's policy",
            ProposedAction::SetWebhookUrl { .. } => "Change the webhook URL",
            ProposedAction::SetPaymentWebhooks { .. } => "Send payment events as webhooks",
            ProposedAction::AcceptCoinCode { .. } => "Accept a token's new contract code",
            ProposedAction::SetUserAccess { .. } => "Change a user's access",
        }
    }

    /// Whether the action changes this user's own access, which they may not decide on.
    pub fn is_about_user(&self, id: UserId) -> bool {
        matches!(self, ProposedAction::SetUserAccess { user, .. } if *user == id)
    }

    /// Who may propose and who may approve the action.
    pub const fn control(&self) -> DualControl {
        match self {
            ProposedAction::UnblockWallet { .. } | ProposedAction::BlacklistWallet { .. } => {
                DualControl::WALLET
            }
            ProposedAction::ReleaseDeposit { .. }
            | ProposedAction::ReleaseOrder { .. }
            | ProposedAction::ReleasePayment { .. }
            | ProposedAction::LiftHold { .. } => DualControl::RELEASE,
            ProposedAction::ResolvePayment { .. } | ProposedAction::ResolveOrder { .. } => {
                DualControl::OUTCOME
            }
            ProposedAction::SetPricing(_) => DualControl::PRICING,
            ProposedAction::SetPolicy { .. } => DualControl::POLICY,
            ProposedAction::AcceptCoinCode { .. } => DualControl::TOKEN_CODE,
            ProposedAction::SetWebhookUrl { .. }
            | ProposedAction::SetPaymentWebhooks { .. }
            | ProposedAction::SetUserAccess { .. } => DualControl::CONNECTION,
        }
    }
}

/// Roles of the two users of an action that takes two, in the console and on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualControl {
    /// Roles that may propose the action. Its maker must still have one of them when it is approved.
    pub makers: &'static [Role],
    /// Roles that may approve the action, approvers among them.
    pub checkers: &'static [Role],
}

impl DualControl {
    /// Unblocking and blacklisting wallets.
    pub const WALLET: DualControl = DualControl {
        makers: &[Role::Operator, Role::Compliance],
        checkers: &[Role::Approver, Role::Compliance],
    };
    /// Releasing what was held for review, lifting legal holds, refunds.
    pub const RELEASE: DualControl =
        DualControl { makers: &[Role::Compliance], checkers: &[Role::Approver, Role::Compliance] };
    /// Recording outcomes of payments and payouts.
    pub const OUTCOME: DualControl = DualControl {
        makers: &[Role::Operator, Role::Compliance, Role::Treasury],
        checkers: &[Role::Approver, Role::Treasury],
    };
    /// Fees, margins and spreads.
    pub const PRICING: DualControl =
        DualControl { makers: &[Role::Treasury], checkers: &[Role::Approver, Role::Treasury] };
    /// A tenant's policy for wallets: limits, thresholds, the second user.
    pub const POLICY: DualControl = DualControl {
        makers: &[Role::Compliance, Role::Admin],
        checkers: &[Role::Approver, Role::Compliance],
    };
    /// New contract code of a token.
    pub const TOKEN_CODE: DualControl = DualControl {
        makers: &[Role::Compliance, Role::Admin],
        checkers: &[Role::Approver, Role::Admin],
    };
    /// Webhook endpoints and users.
    pub const CONNECTION: DualControl =
        DualControl { makers: &[Role::Admin], checkers: &[Role::Approver, Role::Admin] };
}

/// One line of a proposal's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the changed value.
    pub what: String,
    /// Value at the time of the proposal; empty means unset.
    pub before: String,
    /// Value after the change.
    pub after: String,
}

names! {
    /// State of a proposal.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ApprovalState: "Stored and displayed name of the state." {
        /// Waits for another user's decision.
        Waiting = "waiting",
        /// Approved; execution is in progress.
        Approved = "approved",
        /// Approved and executed; final.
        Done = "done",
        /// Approved, but a rule or a changed state prevented its execution.
        Failed = "failed",
        /// Rejected by another user.
        Rejected = "rejected",
        /// Withdrawn by its maker.
        Withdrawn = "withdrawn",
    }
}

/// User who proposed or decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalUser {
    /// Id of the console user.
    pub id: UserId,
    /// Login name at that time.
    pub login: String,
}

/// A proposal and its decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Id of the proposal.
    pub id: ApprovalId,
    /// Tenant that the proposal concerns; `None` means the whole installation.
    pub tenant: Option<TenantId>,
    /// Action that is executed on approval, as the maker saw it.
    pub deed: ProposedAction,
    /// Changes that the action makes, as of the proposal.
    pub changes: Vec<Change>,
    /// User who made the proposal.
    pub maker: ApprovalUser,
    /// Reason that the maker gave, for the other user and the audit log.
    pub why: String,
    /// Time of the proposal; its lifetime counts from here.
    pub created_at: Timestamp,
    /// Time at which the proposal expires if it is still undecided.
    pub expires_at: Timestamp,
    /// State; an undecided proposal also ends by time, see [`Approval::is_open`].
    pub state: ApprovalState,
    /// The user who decided, never the maker, and the time of the decision.
    pub decided: Option<(ApprovalUser, Timestamp)>,
    /// Comment on the decision, or the result of the execution.
    pub outcome: String,
}

impl Approval {
    /// Request id that the audit log records for the execution. Requests from outside never have
    /// it.
    pub fn request_id(&self) -> String {
        format!("approval:{}", self.id)
    }

    /// Whether the proposal can still be decided at `now`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Waiting && now < self.expires_at
    }
}
