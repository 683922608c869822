//! Where senders want money sent back that is not accepted. Each answer is kept for good beside the older ones; it binds
//! nobody: a person proposes a refund, another one approves it, and the address is screened each time.

use super::SenderInfo;
use crate::chain::Address;
use crate::deposit::Deposit;
use crate::ids::{PaymentRequestId, RefundToId, SenderInfoId, TenantId};
use crate::screening::Screened;
use crate::time::Timestamp;

/// Most answers that are kept of one sender.
pub const ANSWERS_MAX: usize = 10;

/// One answer of a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundTo {
    /// Its id.
    pub id: RefundToId,
    /// Whose request.
    pub tenant: TenantId,
    /// Which request.
    pub request: PaymentRequestId,
    /// Who answered: the submission of details whose page it was given on.
    pub sender: SenderInfoId,
    /// Where to.
    pub to: Address,
    /// What screening the address found when it was given. Never told to the sender.
    pub screened: Screened,
    /// When.
    pub at: Timestamp,
}

/// What the senders of a deposit's request have named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Named {
    /// No address.
    #[default]
    Nothing,
    /// One address: the newest answer that names it.
    One(RefundTo),
    /// Different addresses, the newest answer of each sender, the oldest first. A link can be opened by more than its
    /// sender, so nobody but a person tells whose it is.
    Several(Vec<RefundTo>),
}

impl Named {
    /// What is named for a deposit in `given`, the oldest answer first: by those senders alone who had said who they are
    /// before it was seen.
    pub fn of(deposit: &Deposit, senders: &[SenderInfo], given: &[RefundTo]) -> Named {
        let is_of = |sender: &&SenderInfo| may_have_paid(sender, deposit);
        let newest = |sender: &SenderInfo| given.iter().rev().find(|it| it.sender == sender.id).cloned();
        let mut answers: Vec<RefundTo> = senders.iter().filter(is_of).filter_map(newest).collect();
        answers.sort_by_key(|answer| answer.at);
        match answers.pop() {
            None => Named::Nothing,
            Some(last) if answers.iter().all(|answer| answer.to == last.to) => Named::One(last),
            Some(last) => {
                answers.push(last);
                Named::Several(answers)
            }
        }
    }

    /// Whether somebody who may have paid the deposit has not answered: what others named may not be what he wants.
    pub fn is_somebody_silent(deposit: &Deposit, senders: &[SenderInfo], given: &[RefundTo]) -> bool {
        let answered = |sender: &SenderInfo| given.iter().any(|answer| answer.sender == sender.id);
        senders.iter().any(|sender| may_have_paid(sender, deposit) && !answered(sender))
    }

    /// The one address that is named.
    pub fn address(&self) -> Option<Address> {
        match self {
            Named::One(answer) => Some(answer.to),
            Named::Nothing | Named::Several(_) => None,
        }
    }

    /// Every answer.
    pub fn answers(&self) -> &[RefundTo] {
        match self {
            Named::Nothing => &[],
            Named::One(answer) => std::slice::from_ref(answer),
            Named::Several(answers) => answers,
        }
    }
}

/// Whether a deposit is this sender's: it came to the escrow of the submission. Of submissions of before those had escrows,
/// any that was made before the deposit was seen may be the sender's.
pub fn may_have_paid(sender: &SenderInfo, deposit: &Deposit) -> bool {
    if Some(sender.request) != deposit.request {
        return false;
    }
    match sender.number {
        Some(number) => deposit.submission == Some(number),
        None => deposit.submission.is_none() && sender.at <= deposit.seen_at,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::deposit::tests::World;
    use crate::payment_request::SenderDetails;
    use crate::test_values::{TENANT, monday};
    use crate::time::Span;

    fn sender(id: u128, at: Timestamp, request: PaymentRequestId) -> SenderInfo {
        let details = SenderDetails::default();
        SenderInfo {
            id: SenderInfoId(Uuid::from_u128(id)),
            tenant: TENANT,
            request,
            number: None,
            escrow: None,
            details,
            at,
        }
    }

    fn answer(sender: &SenderInfo, byte: u8, seconds: i64) -> RefundTo {
        let screened = Screened { score: 0, evidence: None, list_version: "1".to_owned(), stale: false };
        RefundTo {
            id: RefundToId(Uuid::from_u128(u128::try_from(seconds).expect("after"))),
            tenant: TENANT,
            request: sender.request,
            sender: sender.id,
            to: Address([byte; 20]),
            screened,
            at: monday() + Span::secs(seconds),
        }
    }

    #[test]
    fn the_newest_answer_counts_and_different_senders_are_for_a_person() {
        let deposit = World::for_request().case.deposit;
        let request = deposit.request.expect("a request");
        let (one, two) = (sender(1, deposit.seen_at, request), sender(2, deposit.seen_at, request));
        let late = sender(3, deposit.seen_at + Span::secs(1), request);
        let other = sender(4, deposit.seen_at, PaymentRequestId(Uuid::nil()));
        let senders = [one.clone(), two.clone(), late.clone(), other.clone()];
        let named = |given: &[RefundTo]| Named::of(&deposit, &senders, given);
        assert_eq!(named(&[]), Named::Nothing);
        let (first, second) = (answer(&one, 5, 1), answer(&one, 6, 2));
        assert_eq!(named(&[first.clone(), second.clone()]), Named::One(second.clone()));
        // Whoever said who he is after the money was there is not its sender, nor is one of another request.
        let strangers = [answer(&late, 7, 3), answer(&other, 7, 4)];
        assert_eq!(named(&strangers), Named::Nothing);
        let same = answer(&two, 6, 5);
        assert_eq!(named(&[first.clone(), second.clone(), same.clone()]), Named::One(same));
        let another = answer(&two, 7, 6);
        let several = named(&[first, second.clone(), another.clone()]);
        assert_eq!(several, Named::Several(vec![second, another]));
        assert_eq!((several.address(), several.answers().len()), (None, 2));
    }
}
