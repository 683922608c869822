//! Blocks, blacklists and reviews.

use std::ops::RangeInclusive;

use domain::deposit::ReviewVerdict;
use domain::fault::Fault;
use domain::wallet::{self, BlockReason};
use jiff::civil::{Date, date};

use super::{EXPLANATION_MAX_CHARS, ID_MAX_CHARS, TEXT_MAX_CHARS};
use crate::decode::shape::{Day, Integer, OneOf, one_of, text};
use crate::decode::{Fields, Rejection};

/// Maximum length of `unblock_reason` (`decisions.md`).
const UNBLOCK_REASON_MAX_CHARS: usize = 500;
const AUTO_UNBLOCK: Integer =
    Integer { min: *wallet::AUTO_UNBLOCK_HOURS.start(), max: *wallet::AUTO_UNBLOCK_HOURS.end() };
const VERDICT: OneOf<ReviewVerdict> = one_of(&ReviewVerdict::ALL, ReviewVerdict::name);
const BLOCK_REASON: OneOf<BlockReason> = one_of(&BlockReason::ALL, BlockReason::name);

/// The body of `POST /v1/sdk/wallets/{wallet_id}/block`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOrder {
    pub reason: BlockReason,
    pub details: String,
    /// 1 to 8,760; `None` means no automatic unblock.
    pub auto_unblock_hours: Option<i64>,
}

/// Decodes the body of a block.
///
/// # Errors
/// Malformed JSON, or every invalid field in field order.
pub fn block(body: &[u8]) -> Result<BlockOrder, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let reason = fields.required("reason", BLOCK_REASON);
    let details = fields.required("details", text(EXPLANATION_MAX_CHARS).multiline());
    let auto_unblock_hours = fields.optional("auto_unblock_hours", AUTO_UNBLOCK);
    fields.finish(|| Some(BlockOrder { reason: reason?, details: details?, auto_unblock_hours }))
}

/// Checks the body of an operation without fields, which may be absent.
///
/// # Errors
/// Malformed JSON, or no object.
pub fn no_fields(body: &[u8]) -> Result<(), Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(());
    }
    Fields::of_body(body)?.finish(|| Some(()))
}

/// Decodes the body of an unblock: its `unblock_reason`. An absent body counts as empty.
///
/// # Errors
/// Malformed JSON, or an invalid field.
pub fn unblock(body: &[u8]) -> Result<Option<String>, Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut fields = Fields::of_body(body)?;
    let reason = fields.optional("unblock_reason", text(UNBLOCK_REASON_MAX_CHARS).multiline());
    fields.finish(|| Some(reason))
}

/// The body of `POST /v1/sdk/wallets/{wallet_id}/blacklist`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlacklistOrder {
    /// The authority that issued the order.
    pub regulatory_authority: String,
    /// The order's reference number.
    pub regulatory_reference_number: String,
    pub reason: String,
    /// The effective date (UTC).
    pub effective_date: Date,
}

/// Decodes the body of a blacklist.
///
/// # Errors
/// Malformed JSON, or every invalid field in field order.
pub fn blacklist(body: &[u8]) -> Result<BlacklistOrder, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let regulatory_authority = fields.required("regulatory_authority", text(TEXT_MAX_CHARS));
    let regulatory_reference_number =
        fields.required("regulatory_reference_number", text(ID_MAX_CHARS));
    let reason = fields.required("reason", text(EXPLANATION_MAX_CHARS).multiline());
    let effective_date =
        fields.required("effective_date", Day).and_then(|day| effective(&mut fields, day));
    fields.finish(|| {
        Some(BlacklistOrder {
            regulatory_authority: regulatory_authority?,
            regulatory_reference_number: regulatory_reference_number?,
            reason: reason?,
            effective_date: effective_date?,
        })
    })
}

/// The accepted effective dates: others are typing errors that would block a wallet for ages.
const EFFECTIVE: RangeInclusive<Date> = date(2000, 1, 1)..=date(2099, 12, 31);

fn effective(fields: &mut Fields<'_>, day: Date) -> Option<Date> {
    let (rule, bound, end) = match day {
        early if early < *EFFECTIVE.start() => {
            ("greater_than_equal", "or after", EFFECTIVE.start())
        }
        late if late > *EFFECTIVE.end() => ("less_than_equal", "or before", EFFECTIVE.end()),
        day => return Some(day),
    };
    fields.refuse(Fault::new("effective_date", rule, format!("Input should be {end} {bound}")));
    None
}

/// The body of `POST /v1/sdk/reviews/{transaction_id}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewDecision {
    pub verdict: ReviewVerdict,
    /// The reason, for the audit log.
    pub note: Option<String>,
}

/// Decodes the body of a decision.
///
/// # Errors
/// Malformed JSON, or every invalid field in field order.
pub fn review(body: &[u8]) -> Result<ReviewDecision, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let verdict = fields.required("decision", VERDICT);
    let note = fields.optional("note", text(EXPLANATION_MAX_CHARS).multiline());
    fields.finish(|| Some(ReviewDecision { verdict: verdict?, note }))
}
