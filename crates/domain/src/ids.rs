//! Identifiers, each a type of its own, so that they cannot be confused.

use std::fmt;

use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Parses the hyphenated form.
            pub fn parse(text: &str) -> Option<$name> {
                if text.len() != 36 {
                    return None;
                }
                Uuid::try_parse(text).ok().map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(out)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}({})", stringify!($name), self.0)
            }
        }
    )+};
}

ids! {
    /// A bank or remittance company that uses this service.
    TenantId
    /// A quote of the payment service, for one payment.
    QuoteId
    /// A payment; an exchange order's payout uses the order's UUID.
    PaymentId
    /// One attempt to pay out a payment over one rail. Its UUID is the attempt's UETR.
    AttemptId
    /// A request to a bank to return a payment.
    RecallId
    /// One transfer of the ledger.
    TransferId
    /// One batch of commands: the unit of commit.
    BatchId
    /// One event of a tenant's log.
    EventId
    /// A customer's wallet, `wallet_id` in the API.
    WalletId
    /// A payment request, `payment_request_id` in the API.
    PaymentRequestId
    /// One submission of sender details.
    SenderInfoId
    /// One answer of a sender to the question for a refund address.
    RefundToId
    /// Money that arrived on the chain: an incoming transaction.
    DepositId
    /// An order to exchange stablecoins.
    ExchangeId
    /// One on-chain action, executed at most once.
    IntentId
    /// One nonce of a signer, with everything that was signed for it.
    ChainTxId
    /// One movement of tokens from a tenant's controller to its treasury.
    SweepId
    /// A user of the operator console.
    UserId
    /// A proposal of one user that another decides on.
    ApprovalId
}

impl PaymentId {
    /// The id as ISO 20022's EndToEndId: 32 characters, no hyphens.
    pub fn end_to_end_id(self) -> String {
        self.0.simple().to_string()
    }
}

impl RecallId {
    /// The id as that of the recall's message, and as ISO 20022's CxlId: 32 characters, no hyphens.
    pub fn message_id(self) -> String {
        self.0.simple().to_string()
    }
}

impl AttemptId {
    /// The id as ISO 20022's InstrId: 32 characters, no hyphens.
    pub fn instruction_id(self) -> String {
        self.0.simple().to_string()
    }

    /// Parses an InstrId that we wrote.
    pub fn from_instruction_id(text: &str) -> Option<AttemptId> {
        if text.len() != 32 {
            return None;
        }
        Uuid::try_parse(text).ok().map(AttemptId)
    }
}
