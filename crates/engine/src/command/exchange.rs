//! Commands about exchange orders.

use domain::attempt::Doubt;
use domain::audit::Deed;
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::exchange::{ExchangeOrder, NewOrder};
use domain::ids::{AttemptId, ExchangeId, IntentId, TenantId, WalletId};
use domain::ledger::AccountCode;
use domain::rail::{InquiryAnswer, RailId, RailReport, RailStatus, Submission};
use domain::sender_limit::Tally;
use domain::sweep;
use domain::time::Timestamp;
use store::need::Need;

use super::Idempotency;

/// An order and what belongs to it, as whoever asks has read it. If it has changed since, the command is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKey {
    /// The order.
    pub order: ExchangeId,
    /// The wallet that the coins come from.
    pub wallet: WalletId,
    /// Which coin.
    pub coin: StableCoin,
    /// The intents that it names.
    pub intents: Vec<IntentId>,
}

impl OrderKey {
    /// The key of an order that was read.
    pub fn of(order: &ExchangeOrder) -> OrderKey {
        OrderKey {
            order: order.id,
            wallet: order.wallet,
            coin: order.coin,
            intents: [order.debit, order.give_back].into_iter().flatten().collect(),
        }
    }

    pub(super) fn need(&self, tenant: TenantId, need: &mut Need) {
        need.exchanges.insert((tenant, self.order));
        need.wallets.insert((tenant, self.wallet));
        need.intents.extend(self.intents.iter().map(|intent| (tenant, *intent)));
        need.accounts.insert((tenant, AccountCode::Wallet(self.wallet, self.coin)));
        need.streams.insert((tenant, self.order.0));
    }
}

/// What is to be done about one order.
#[derive(Clone, Debug)]
pub enum ExchangeAction {
    /// Make it.
    Create {
        /// What it is made of.
        order: Box<NewOrder>,
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// The user calls it off.
    Cancel {
        /// For a repeated request.
        idempotency: Option<Idempotency>,
    },
    /// The state of its wallet may be another one.
    WalletChanged,
    /// Its time may have run out.
    TimePassed {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// A worker is about to send its pay-out over a rail, at this mid-market rate if it is not priced yet.
    BeginPayout {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The rail.
        rail: RailId,
        /// What of the customer is counted over it; `None` where it limits no sender.
        tally: Option<Tally>,
        /// Rupees for one coin.
        mid: Decimal,
    },
    /// No route now: look again at `until`. `open` counts the wait against the submit deadline.
    PutOff {
        /// The fence under which the worker holds the job.
        fence: i64,
        /// When to look again.
        until: Timestamp,
        /// Whether a fitting rail is within its hours.
        open: bool,
    },
    /// No rail can take it.
    NoRoute {
        /// The fence under which the worker holds the job.
        fence: i64,
    },
    /// A worker has sent an attempt and got this answer.
    Submitted {
        /// The attempt.
        attempt: AttemptId,
        /// The rail's answer.
        answer: Submission,
    },
    /// A worker has asked about an attempt and got this answer.
    Inquired {
        /// The attempt.
        attempt: AttemptId,
        /// The fence under which the worker holds the job.
        fence: i64,
        /// The rail's answer.
        answer: InquiryAnswer,
    },
    /// A rail reports by itself.
    Report(RailReport),
    /// People have found out what became of a pay-out that nobody knew about.
    Resolve {
        /// The attempt that they have looked at.
        seen: Doubt,
        /// What became of it.
        status: RailStatus,
        /// How they know.
        evidence: String,
        /// Whose finding it is.
        by: Box<Deed>,
    },
    /// A person gives the coins of an order back whose pay-out came back after it was settled.
    Recredit {
        /// Who.
        by: Box<Deed>,
    },
}

impl ExchangeAction {
    pub(super) const fn is_foreground(&self) -> bool {
        matches!(
            self,
            ExchangeAction::Create { .. }
                | ExchangeAction::Cancel { .. }
                | ExchangeAction::Resolve { .. }
                | ExchangeAction::Recredit { .. }
        )
    }

    /// Whether an order can be settled by it: its coins may be swept then.
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
        if self.may_settle() {
            need.jobs.insert((tenant, sweep::lane(tenant, key.coin)));
        }
        match self {
            ExchangeAction::Create { idempotency, .. } | ExchangeAction::Cancel { idempotency } => {
                need.idempotency.extend(idempotency.iter().map(|it| (tenant, it.key.clone())));
            }
            ExchangeAction::Submitted { attempt, .. } | ExchangeAction::Inquired { attempt, .. } => {
                need.attempts.insert((tenant, *attempt));
            }
            ExchangeAction::BeginPayout { tally, .. } => {
                need.spendings.extend(tally.iter().map(|tally| (tenant, tally.clone())));
            }
            ExchangeAction::Report(report) => _ = need.attempts.insert((tenant, report.attempt)),
            _ => {}
        }
    }
}
