//! Four eyes: what takes two people, and how far a proposal is (`decisions.md`, "Four eyes").

use std::collections::BTreeMap;

use crate::attempt::Doubt;
use crate::country::Country;
use crate::currency::StableCoin;
use crate::ids::{ApprovalId, DepositId, ExchangeId, PaymentId, TenantId, UserId, WalletId};
use crate::policy::fields::Field;
use crate::rail::{Finding, RailStatus};
use crate::time::{Span, Timestamp};
use crate::user::{Role, Scope};
use crate::wallet::BlacklistOrder;

/// How long a proposal waits before it is void.
pub const APPROVAL_LIFETIME: Span = Span::days(7);

/// Something that one person proposes and another one approves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A blocked wallet goes on.
    UnblockWallet {
        /// Which.
        wallet: WalletId,
        /// The block that was looked at: when it began.
        blocked_at: Timestamp,
        /// What the bank is told.
        reason: Option<String>,
    },
    /// A regulator's order is passed on.
    BlacklistWallet {
        /// Which.
        wallet: WalletId,
        /// The order.
        order: BlacklistOrder,
    },
    /// A reviewed deposit of more than the tenant's limit is released.
    ReleaseDeposit {
        /// Which.
        deposit: DepositId,
        /// The review that was looked at: since when it waits for a person.
        waits_since: Timestamp,
    },
    /// A deposit's legal hold is lifted.
    LiftHold {
        /// Which.
        deposit: DepositId,
        /// The hold that was looked at: since when the deposit is in its state.
        held_since: Timestamp,
    },
    /// What became of a payment that nobody knew about.
    ResolvePayment {
        /// Which.
        payment: PaymentId,
        /// The attempt that was looked at.
        doubt: Doubt,
        /// What became of it.
        became: Finding,
    },
    /// What became of the pay-out of an exchange order that nobody knew about.
    ResolveOrder {
        /// Which.
        order: ExchangeId,
        /// The attempt that was looked at.
        doubt: Doubt,
        /// What became of it.
        became: RailStatus,
    },
    /// What the tenant pays and earns.
    SetPricing(Pricing),
    /// What the tenant may do, and up to which limits.
    SetPolicy {
        /// Number of the policy that was looked at.
        version: u32,
        /// What it is to say, in the form in which fields are shown.
        values: BTreeMap<Field, String>,
    },
    /// Webhooks go elsewhere.
    SetWebhookUrl {
        /// Where to.
        url: String,
    },
    /// The payment service's events go to the tenant's receiver too, or not any more.
    SetPaymentWebhooks {
        /// Whether they do.
        on: bool,
    },
    /// A coin moves again whose issuer has changed its contract's code. About the whole installation.
    AcceptCoinCode {
        /// Which.
        coin: StableCoin,
        /// The block of the change that was looked at.
        at_block: u64,
    },
    /// Somebody may do something else from now on.
    SetUserAccess {
        /// Who.
        user: UserId,
        /// What he may do.
        roles: Vec<Role>,
        /// About whose affairs.
        scope: Scope,
    },
}

/// What a tenant pays and earns, in basis points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pricing {
    /// Our fee on payments.
    pub premium_bps: u32,
    /// The tenant's own margin in its rates.
    pub margin_bps: u32,
    /// The same where it differs by country.
    pub margin_bps_by_country: BTreeMap<Country, u32>,
    /// Our share of an exchange of coins.
    pub spread_bps: u32,
}

impl Deed {
    /// The kind as it is stored and shown.
    pub const fn kind(&self) -> &'static str {
        match self {
            Deed::UnblockWallet { .. } => "wallet.unblock",
            Deed::BlacklistWallet { .. } => "wallet.blacklist",
            Deed::ReleaseDeposit { .. } => "deposit.release",
            Deed::LiftHold { .. } => "deposit.lift_hold",
            Deed::ResolvePayment { .. } => "payment.resolve",
            Deed::ResolveOrder { .. } => "order.resolve",
            Deed::SetPricing(_) => "pricing.set",
            Deed::SetPolicy { .. } => "policy.set",
            Deed::SetWebhookUrl { .. } => "webhook.set_url",
            Deed::SetPaymentWebhooks { .. } => "webhook.set_payment_events",
            Deed::AcceptCoinCode { .. } => "coin.accept_code",
            Deed::SetUserAccess { .. } => "user.set_access",
        }
    }

    /// What it is about: an id, or a word where there is only one of its kind. Of one kind and subject only one proposal
    /// waits at a time.
    pub fn subject(&self) -> String {
        match self {
            Deed::UnblockWallet { wallet, .. } | Deed::BlacklistWallet { wallet, .. } => wallet.to_string(),
            Deed::ReleaseDeposit { deposit, .. } | Deed::LiftHold { deposit, .. } => deposit.to_string(),
            Deed::ResolvePayment { payment, .. } => payment.to_string(),
            Deed::ResolveOrder { order, .. } => order.to_string(),
            Deed::SetPricing(_) => "pricing".to_owned(),
            Deed::SetPolicy { .. } => "policy".to_owned(),
            Deed::SetWebhookUrl { .. } | Deed::SetPaymentWebhooks { .. } => "webhook".to_owned(),
            Deed::AcceptCoinCode { coin, .. } => coin.currency().code().to_owned(),
            Deed::SetUserAccess { user, .. } => user.to_string(),
        }
    }

    /// What is to be done, for people.
    pub const fn title(&self) -> &'static str {
        match self {
            Deed::UnblockWallet { .. } => "Unblock a wallet",
            Deed::BlacklistWallet { .. } => "Blacklist a wallet",
            Deed::ReleaseDeposit { .. } => "Release a reviewed deposit",
            Deed::LiftHold { .. } => "Lift a legal hold",
            Deed::ResolvePayment { .. } => "Resolve an unknown payment",
            Deed::ResolveOrder { .. } => "Resolve an unknown pay-out",
            Deed::SetPricing(_) => "Change fee, margin or spread",
            Deed::SetPolicy { .. } => "Change the tenant's policy",
            Deed::SetWebhookUrl { .. } => "Send webhooks elsewhere",
            Deed::SetPaymentWebhooks { .. } => "Send payment events as webhooks",
            Deed::AcceptCoinCode { .. } => "Accept a coin's new code",
            Deed::SetUserAccess { .. } => "Change what a user may do",
        }
    }

    /// Whether it is about what this person may do: nobody decides about himself.
    pub fn is_about_user(&self, id: UserId) -> bool {
        matches!(self, Deed::SetUserAccess { user, .. } if *user == id)
    }

    /// Whoever has one of these roles may approve it, beside approvers.
    pub const fn checkers(&self) -> &'static [Role] {
        match self {
            Deed::UnblockWallet { .. }
            | Deed::BlacklistWallet { .. }
            | Deed::ReleaseDeposit { .. }
            | Deed::LiftHold { .. }
            | Deed::SetPolicy { .. } => &[Role::Approver, Role::Compliance],
            Deed::ResolvePayment { .. } | Deed::ResolveOrder { .. } | Deed::SetPricing(_) => {
                &[Role::Approver, Role::Treasury]
            }
            Deed::SetWebhookUrl { .. }
            | Deed::SetPaymentWebhooks { .. }
            | Deed::AcceptCoinCode { .. }
            | Deed::SetUserAccess { .. } => &[Role::Approver, Role::Admin],
        }
    }
}

/// One line of what a proposal changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What.
    pub what: String,
    /// What it is when it is proposed; "" = nothing.
    pub before: String,
    /// What it will be.
    pub after: String,
}

/// How far a proposal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Somebody else has to decide.
    Waiting,
    /// Approved, and being carried out.
    Approved,
    /// Carried out.
    Done,
    /// Approved, but the rules or the state of things spoke against it when it was to be carried out.
    Failed,
    /// Somebody else said no.
    Rejected,
    /// Its maker took it back.
    Withdrawn,
}

impl ApprovalState {
    /// Every state.
    pub const ALL: [ApprovalState; 6] = [
        ApprovalState::Waiting,
        ApprovalState::Approved,
        ApprovalState::Done,
        ApprovalState::Failed,
        ApprovalState::Rejected,
        ApprovalState::Withdrawn,
    ];

    /// The state as it is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            ApprovalState::Waiting => "waiting",
            ApprovalState::Approved => "approved",
            ApprovalState::Done => "done",
            ApprovalState::Failed => "failed",
            ApprovalState::Rejected => "rejected",
            ApprovalState::Withdrawn => "withdrawn",
        }
    }

    /// Reads [`ApprovalState::name`].
    pub fn parse(text: &str) -> Option<ApprovalState> {
        ApprovalState::ALL.into_iter().find(|state| state.name() == text)
    }
}

/// Somebody who proposed or decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Who.
    pub id: UserId,
    /// His login name then.
    pub login: String,
}

/// A proposal and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// Whose affairs it is about; `None` = the whole installation.
    pub tenant: Option<TenantId>,
    /// What is to be done.
    pub deed: Deed,
    /// What that changes, as it was when it was proposed.
    pub changes: Vec<Change>,
    /// Who proposed it.
    pub maker: Person,
    /// Why.
    pub why: String,
    /// When.
    pub created_at: Timestamp,
    /// When it is void if nobody has decided.
    pub expires_at: Timestamp,
    /// How far it is.
    pub state: ApprovalState,
    /// Who decided, and when: somebody else.
    pub decided: Option<(Person, Timestamp)>,
    /// What was said to the decision, or what came of carrying it out.
    pub outcome: String,
}

impl Approval {
    /// The request that the audit log names where something was done for it. No request from outside has such an id.
    pub fn request_id(&self) -> String {
        format!("approval:{}", self.id)
    }

    /// Whether somebody can still decide at `now`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Waiting && now < self.expires_at
    }
}
