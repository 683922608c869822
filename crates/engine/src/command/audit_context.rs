//! Which actions are recorded in the audit log: those of users, and screenings on other lists than
//! those of the last one.

use domain::audit::AuditContext;

use super::chain::ChainAction;
use super::deposits::DepositAction;
use super::exchange::ExchangeAction;
use super::wallets::{DeliveryAction, RequestAction, WalletAction};
use super::{Action, PaymentAction, RecallAction};

impl PaymentAction {
    fn deed(&self) -> Option<&AuditContext> {
        match self {
            PaymentAction::ScreenedAgain { by, .. }
            | PaymentAction::Cleared { by, .. }
            | PaymentAction::Review { by, .. }
            | PaymentAction::Resolve { by, .. }
            | PaymentAction::Cancel { by, .. }
            | PaymentAction::Recall { by, .. }
            | PaymentAction::OfRecall(_, RecallAction::Close { by }) => Some(by),
            PaymentAction::BeginAttempt { .. }
            | PaymentAction::Submitted { .. }
            | PaymentAction::Inquired { .. }
            | PaymentAction::SendAgain { .. }
            | PaymentAction::Report(_)
            | PaymentAction::ReportedUnsent { .. }
            | PaymentAction::PutOff { .. }
            | PaymentAction::Refuse { .. }
            | PaymentAction::OfRecall(
                _,
                RecallAction::Submitted { .. } | RecallAction::Due { .. },
            ) => None,
        }
    }
}

impl Action {
    /// The actor; `None` for client orders and other internal actions.
    pub fn deed(&self) -> Option<&AuditContext> {
        match self {
            Action::Fund { by, .. } | Action::Backfill { by, .. } => Some(by),
            Action::Payment(_, action) => action.deed(),
            Action::Wallet(
                _,
                WalletAction::Block { by, .. }
                | WalletAction::Unblock { by, .. }
                | WalletAction::Blacklist { by, .. },
            ) => Some(by),
            Action::Deposit(
                _,
                DepositAction::Reviewed { by, .. }
                | DepositAction::LiftHold { by, .. }
                | DepositAction::ProposeRefund { by, .. }
                | DepositAction::ApproveRefund { by, .. }
                | DepositAction::RefundListed { by, .. }
                | DepositAction::FoundMatch { by, .. }
                | DepositAction::WithdrawRefund { by },
            ) => Some(by),
            Action::Exchange(
                _,
                ExchangeAction::Review { by, .. }
                | ExchangeAction::FoundMatch { by, .. }
                | ExchangeAction::HolderMatched { by, .. }
                | ExchangeAction::Cleared { by, .. }
                | ExchangeAction::Resolve { by, .. }
                | ExchangeAction::Recredit { by },
            ) => Some(by),
            Action::Delivery(_, DeliveryAction::Replay { by, .. }) => Some(by),
            Action::Request(_, RequestAction::Cancel { by, .. }) => by.as_deref(),
            Action::Request(_, RequestAction::RefundTo(answer)) => Some(&answer.by),
            Action::Request(_, RequestAction::Sponsor(sponsoring)) => Some(&sponsoring.by),
            Action::CreateQuote { .. }
            | Action::AcceptPayment { .. }
            | Action::ExpireQuotes(_)
            | Action::Provision(_)
            | Action::Wallet(
                _,
                WalletAction::ChainSays { .. }
                | WalletAction::Follow(_)
                | WalletAction::Request { .. },
            )
            | Action::Request(
                _,
                RequestAction::WalletChanged(_)
                | RequestAction::Expire { .. }
                | RequestAction::Sender { .. },
            )
            | Action::Deposit(
                _,
                DepositAction::Found(_)
                | DepositAction::Lost { .. }
                | DepositAction::Counted { .. }
                | DepositAction::Disputed(_)
                | DepositAction::Dropped { .. }
                | DepositAction::Screened { .. }
                | DepositAction::PutOff { .. }
                | DepositAction::KeepHeld { .. }
                | DepositAction::EscrowFree
                | DepositAction::HoldFollowed { .. }
                | DepositAction::WalletChanged,
            )
            | Action::Exchange(
                _,
                ExchangeAction::Create { .. }
                | ExchangeAction::Cancel { .. }
                | ExchangeAction::WalletChanged
                | ExchangeAction::TimePassed { .. }
                | ExchangeAction::BeginPayout { .. }
                | ExchangeAction::PutOff { .. }
                | ExchangeAction::NoRoute { .. }
                | ExchangeAction::Submitted { .. }
                | ExchangeAction::Inquired { .. }
                | ExchangeAction::SendAgain { .. }
                | ExchangeAction::Report(_)
                | ExchangeAction::ReportedUnsent { .. },
            )
            | Action::Delivery(
                _,
                DeliveryAction::Tried { .. } | DeliveryAction::NoReceiver { .. },
            ) => None,
            Action::Chain(action) => of_chain(action),
            Action::UnderRole(_, action) => action.deed(),
        }
    }
}

/// Users act on the chain only through the actions listed above.
const fn of_chain(_: &ChainAction) -> Option<&'static AuditContext> {
    None
}
