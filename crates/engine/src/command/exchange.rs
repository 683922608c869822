//! Commands about exchange orders.

use domain::attempt::UnresolvedAttempt;
use domain::audit::AuditContext;
use domain::chain::ChainNumber;
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::exchange::{ExchangeOrder, NewOrder, ReportedAmount};
use domain::ids::{AttemptId, ExchangeId, IntentId, TenantId, WalletId};
use domain::ledger::AccountCode;
use domain::rail::{Finding, InquiryAnswer, RailId, RailReport, Submission};
use domain::screening::Screened;
use domain::sender_limit::UsageKey;
use domain::sweep;
use domain::time::Timestamp;
use store::need::Need;

use super::Idempotency;

/// An order and its related records, as read by the caller. The command is refused if they have
/// changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKey {
    pub order: ExchangeId,
    /// The wallet that the coins are debited from.
    pub wallet: WalletId,
    /// Chain of the wallet; `None` for a new order.
    pub chain: Option<ChainNumber>,
    pub coin: StableCoin,
    pub intents: Vec<IntentId>,
}

impl OrderKey {
    /// Returns the key of an order.
    pub fn of(order: &ExchangeOrder) -> OrderKey {
        OrderKey {
            order: order.id,
            wallet: order.wallet,
            chain: Some(order.chain),
            coin: order.coin,
            intents: [order.debit, order.give_back].into_iter().flatten().collect(),
        }
    }

    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        need.exchanges.insert((tenant, self.order));
        need.wallets.insert((tenant, self.wallet));
        need.intents.extend(self.intents.iter().map(|intent| (tenant, *intent)));
        need.accounts.insert((tenant, AccountCode::Wallet(self.wallet, self.coin)));
        need.accounts.insert((tenant, AccountCode::Shortfall(self.wallet, self.coin)));
        need.streams.insert((tenant, self.order.0));
    }
}

/// Actions on one order.
#[derive(Clone, Debug)]
pub enum ExchangeAction {
    Create {
        /// The new order's data.
        order: Box<NewOrder>,
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// The user cancels it.
    Cancel {
        /// Set for a request with an `Idempotency-Key`.
        idempotency: Option<Idempotency>,
    },
    /// The state of its wallet may have changed.
    WalletChanged,
    /// It may have expired.
    TimePassed {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// A worker is about to send its payout over a rail, at this mid-market rate if it has no price
    /// yet.
    BeginPayout {
        /// The fence under which the worker holds the job.
        fence: i64,
        rail: RailId,
        /// The customer's usage that counts against the rail's limits; `None` if the rail has no
        /// per-sender limits.
        usage_key: Option<UsageKey>,
        /// The mid-market rate, in units of the payout currency per coin.
        mid: Decimal,
    },
    /// No route now: retry at `until`. `open` counts the wait against the submit deadline.
    PutOff {
        /// The fence under which the worker holds the job.
        fence: i64,
        until: Timestamp,
        /// Whether a suitable rail is within its operating hours.
        open: bool,
    },
    /// No rail accepts it.
    NoRoute {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// A worker sent an attempt and received this answer.
    Submitted { attempt: AttemptId, answer: Submission },
    /// A worker inquired about an attempt and received this answer.
    Inquired {
        attempt: AttemptId,
        /// The fence under which the worker holds the job.
        fence: i64,
        answer: InquiryAnswer,
    },
    /// A worker is about to send an attempt's identical message once more.
    SendAgain {
        attempt: AttemptId,
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// An unsolicited report of a rail.
    Report(RailReport),
    /// A rail reported a payout that was never sent from here: it must not be sent.
    ReportedUnsent {
        rail: RailId,
        /// The report, for users.
        why: String,
        /// The amount that it names.
        paid: Option<ReportedAmount>,
    },
    /// A reviewer decides about an order that screening withholds.
    Review {
        /// The current screening result of the account holder, which releases the order; `None` =
        /// it is rejected.
        release: Option<Screened>,
        /// The version that the reviewers looked at; `None` = any.
        seen: Option<i64>,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// A release was refused: the account holder matches a list entry that the reviewers have not
    /// seen.
    FoundMatch {
        screened: Screened,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// The account holder matches a list entry before the payout: it is not sent as it is.
    HolderMatched {
        /// The fence under which the worker holds the job.
        fence: i64,
        screened: Screened,
        /// The program as actor, for the audit log.
        by: Box<AuditContext>,
    },
    /// The account holder was screened again before a message is sent, on other lists than before:
    /// nothing stops the payout.
    Cleared {
        /// The fence under which the worker holds the job.
        fence: i64,
        screened: Screened,
        /// The program as actor, for the audit log.
        by: Box<AuditContext>,
    },
    /// Reviewers established the outcome of a payout that was unknown, or that a settled payout was
    /// returned.
    Resolve {
        /// The attempt that they examined.
        seen: UnresolvedAttempt,
        finding: Finding,
        evidence: String,
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
    /// An operator recredits the coins of a settled order whose payout was returned.
    Recredit {
        /// Actor and context for the audit log.
        by: Box<AuditContext>,
    },
}

impl ExchangeAction {
    pub(super) const fn is_foreground(&self) -> bool {
        matches!(
            self,
            ExchangeAction::Create { .. }
                | ExchangeAction::Cancel { .. }
                | ExchangeAction::Review { .. }
                | ExchangeAction::Resolve { .. }
                | ExchangeAction::Recredit { .. }
        )
    }

    /// Whether it can settle an order, after which its coins may be swept.
    pub(crate) const fn may_settle(&self) -> bool {
        matches!(
            self,
            ExchangeAction::Submitted { .. }
                | ExchangeAction::Inquired { .. }
                | ExchangeAction::Report(_)
                | ExchangeAction::Resolve { .. }
        )
    }

    pub(super) fn need(&self, key: &OrderKey, tenant: TenantId, need: &mut Need) {
        key.need(tenant, need);
        if let (true, Some(chain)) = (self.may_settle(), key.chain) {
            need.jobs.insert((tenant, sweep::lane(tenant, chain, key.coin)));
        }
        match self {
            ExchangeAction::Create { idempotency, .. } | ExchangeAction::Cancel { idempotency } => {
                need.idempotency.extend(idempotency.iter().map(|it| (tenant, it.key.clone())));
            }
            ExchangeAction::Submitted { attempt, .. }
            | ExchangeAction::Inquired { attempt, .. }
            | ExchangeAction::SendAgain { attempt, .. } => {
                need.attempts.insert((tenant, *attempt));
            }
            ExchangeAction::BeginPayout { usage_key, .. } => {
                need.usage_by_rail
                    .extend(usage_key.iter().map(|usage_key| (tenant, usage_key.clone())));
            }
            ExchangeAction::Report(report) => _ = need.attempts.insert((tenant, report.attempt)),
            _ => {}
        }
    }
}
