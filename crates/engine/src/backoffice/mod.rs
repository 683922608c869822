//! Reads for operators about payments and the books: where a payment is and why, which rail would
//! accept one, the latest numbers. Read-only; operators' decisions go through the same commands as
//! everything else.

mod case;
mod story;

pub use case::{Case, case};
pub use store::{
    AccountPage, Backlog, COUNTED_MAX, Found, IDS_COMPARED_MAX, IdFrom, OverviewCount,
    PAYMENTS_SEARCHED_MAX, PageFrom, PaymentMark, PaymentSearch, PaymentsFound, PaymentsPage,
    PaymentsWanted, RECORDS_COMPARED_MAX, RECORDS_FOUND_MAX, StoredTransfer,
    TRANSFERS_LOOKED_AT_MAX, TRANSFERS_TAKEN_BACK_MAX, TrialLine, Unreleased, Waiting,
};
pub use story::why;
