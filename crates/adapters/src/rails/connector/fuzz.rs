//! Fuzz target of a connector's answers and callbacks, each read as if it were any of them.

use domain::account_check::AccountAnswer;
use domain::ids::{AttemptId, PaymentId};
use domain::rail::{InquiryAnswer, RailStatus, Submission};
use uuid::Uuid;

use super::incoming::{self, Asked, Request};
use crate::rails::fuzz::assert_report;

/// The payment that the answers are about; seeds name it.
const ASKED: Asked = Asked {
    payment: PaymentId(Uuid::from_u128(0x0192_3456_789a_7bcd_8ef0_1234_5678_9abc)),
    attempt: AttemptId(Uuid::from_u128(0x0192_3456_789a_7bcd_8ef0_1234_5678_9abd)),
};

/// An answer is about the payment that was asked for, and never final with an unknown status.
pub(in crate::rails) fn answer(bytes: &[u8]) {
    for request in [Request::Payment, Request::Recall] {
        if let Submission::Reported(report) = incoming::submission(bytes, request, ASKED) {
            // A recall may be answered with the status of the payment, never the reverse.
            let is_recall = matches!(report.status, RailStatus::Recall(_));
            assert!(!is_recall || request == Request::Recall, "{report:?}");
            assert!(!matches!(report.status, RailStatus::Unrecognised(_)), "{report:?}");
            assert_eq!(report.attempt, ASKED.attempt);
        }
    }
    if let InquiryAnswer::Reported(report) = incoming::inquiry(bytes, ASKED) {
        assert_eq!(report.attempt, ASKED.attempt);
    }
    if let Ok(reports) = incoming::callback("fuzz", bytes) {
        reports.reports.iter().for_each(assert_report);
    }
    if let Ok(page) = incoming::page(bytes) {
        page.reports.iter().for_each(assert_report);
        assert!(page.cursor.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_graphic())));
    }
    if let AccountAnswer::CloseMatch(Some(name)) = incoming::account(bytes) {
        crate::fuzz::assert_clean(&name, 140);
    }
}
