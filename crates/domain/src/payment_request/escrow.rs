//! Escrows of a payment request: its own, for senders without details, and one per submission of
//! sender details. Each has its own legal hold.

use super::{PaymentRequest, SenderDetails, SenderInfo};
use crate::chain::vault;
use crate::chain::{Address, Word};
use crate::ids::{IntentId, SenderInfoId};
use crate::time::Timestamp;
use crate::wallet::Wallet;

/// Maximum number of submissions per payment request: each is watched forever.
pub const SUBMISSIONS_MAX: u32 = 50;

/// The request has reached its maximum number of submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the payment request has reached the limit of {SUBMISSIONS_MAX} submissions of sender details"
)]
pub struct TooManySubmissions;

/// Legal hold of an escrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EscrowHold {
    /// Start of the hold; `None` if there is none.
    pub held_at: Option<Timestamp>,
    /// The call that lifts the on-chain hold, in progress or done; `None` if the newest decision is
    /// a hold.
    pub lift: Option<IntentId>,
}

/// Legal hold of a submission's escrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionHold {
    /// Escrow address of the submission, which nothing leaves during the hold.
    pub escrow: Address,
    /// Start of the hold; `None` if it was lifted.
    pub held_at: Option<Timestamp>,
    /// The call that lifts the on-chain hold; `None` if the newest decision is a hold.
    pub lift: Option<IntentId>,
}

impl PaymentRequest {
    /// Accepts sender details and assigns an escrow to them. It can pay only `wallet`, which is the
    /// request's.
    pub fn submit(
        &mut self,
        id: SenderInfoId,
        details: SenderDetails,
        wallet: &Wallet,
        now: Timestamp,
    ) -> Result<SenderInfo, TooManySubmissions> {
        if self.submissions >= SUBMISSIONS_MAX {
            return Err(TooManySubmissions);
        }
        self.submissions += 1;
        self.version += 1;
        let number = self.submissions;
        let reference = self.reference_of(Some(number));
        let escrow =
            vault::address(&wallet.controller, &wallet.implementation, &wallet.address, &reference);
        Ok(SenderInfo {
            id,
            tenant: self.tenant,
            request: self.id,
            number: Some(number),
            escrow: Some(escrow),
            details,
            at: now,
        })
    }

    /// Reference of a submission's escrow; `None` means the request's own.
    pub fn reference_of(&self, submission: Option<u32>) -> Word {
        match submission {
            Some(number) => vault::submission_reference(self.tenant, self.id.0, number),
            None => self.reference,
        }
    }

    /// Legal hold of one of its escrows.
    pub fn hold_of(&self, escrow: &Address) -> EscrowHold {
        if *escrow == self.escrow {
            return EscrowHold { held_at: self.held_at, lift: self.lift };
        }
        let of = self.submission_holds.iter().find(|hold| hold.escrow == *escrow);
        of.map_or_else(EscrowHold::default, |hold| EscrowHold {
            held_at: hold.held_at,
            lift: hold.lift,
        })
    }

    /// Whether one of its escrows is on legal hold now.
    pub fn is_held(&self, escrow: &Address) -> bool {
        self.hold_of(escrow).held_at.is_some()
    }

    pub(crate) fn set_hold(&mut self, escrow: &Address, EscrowHold { held_at, lift }: EscrowHold) {
        self.version += 1;
        if *escrow == self.escrow {
            (self.held_at, self.lift) = (held_at, lift);
            return;
        }
        match self.submission_holds.iter_mut().find(|hold| hold.escrow == *escrow) {
            Some(hold) => (hold.held_at, hold.lift) = (held_at, lift),
            None => self.submission_holds.push(SubmissionHold { escrow: *escrow, held_at, lift }),
        }
    }

    /// The escrow whose hold a call lifts.
    pub(crate) fn lifted_by(&self, intent: IntentId) -> Option<Address> {
        let of = self
            .submission_holds
            .iter()
            .find(|hold| hold.lift == Some(intent))
            .map(|hold| hold.escrow);
        if self.lift == Some(intent) { Some(self.escrow) } else { of }
    }
}
