//! Senders' refund addresses for rejected payments. Each answer is kept permanently beside the
//! older ones and is not binding: one user proposes a refund, another approves it, and the address
//! is screened each time.

use super::SenderInfo;
use crate::chain::Address;
use crate::deposit::Deposit;
use crate::ids::{PaymentRequestId, RefundToId, SenderInfoId, TenantId};
use crate::screening::Screened;
use crate::time::Timestamp;

/// Maximum number of answers kept per sender.
pub const ANSWERS_MAX: usize = 10;

/// One answer of a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundTo {
    /// Id of the answer.
    pub id: RefundToId,
    /// Tenant of the request.
    pub tenant: TenantId,
    /// Request whose deposits the sender may have paid.
    pub request: PaymentRequestId,
    /// Submission of details on whose page the answer was given.
    pub sender: SenderInfoId,
    /// Address that the sender named, on the configured chain.
    pub to: Address,
    /// Screening result of the address at that time. Never disclosed to the sender.
    pub screened: Screened,
    /// Time of the answer.
    pub at: Timestamp,
}

/// Addresses named by the senders of a deposit's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Named {
    /// No possible sender of the deposit has named an address.
    #[default]
    Nothing,
    /// One address, with the newest answer that names it.
    One(RefundTo),
    /// Different addresses: the newest answer of each sender, the oldest first. A link can be
    /// opened by others than its sender, so only a reviewer can decide whose it is.
    Several(Vec<RefundTo>),
}

impl Named {
    /// Addresses named for a deposit in `given`, the oldest answer first. Only senders who
    /// submitted their details before the deposit was seen count.
    pub fn of(deposit: &Deposit, senders: &[SenderInfo], given: &[RefundTo]) -> Named {
        let is_of = |sender: &&SenderInfo| may_have_paid(sender, deposit);
        let newest =
            |sender: &SenderInfo| given.iter().rev().find(|it| it.sender == sender.id).cloned();
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

    /// Whether a possible sender of the deposit has not answered: the others' address may not be
    /// the sender's.
    pub fn is_somebody_silent(
        deposit: &Deposit,
        senders: &[SenderInfo],
        given: &[RefundTo],
    ) -> bool {
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

    /// The answers that name the addresses; empty for [`Named::Nothing`].
    pub fn answers(&self) -> &[RefundTo] {
        match self {
            Named::Nothing => &[],
            Named::One(answer) => std::slice::from_ref(answer),
            Named::Several(answers) => answers,
        }
    }
}

/// Whether a deposit may be this sender's: it was paid to the submission's escrow. Of submissions
/// that predate escrows, any that precedes the deposit's first sighting may be the sender's.
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
        let screened =
            Screened { score: 0, evidence: None, list_version: "1".to_owned(), stale: false };
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
    fn the_newest_answer_counts_and_different_senders_need_review() {
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
        // Details submitted after the payment, or for another request, are not its sender's.
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
