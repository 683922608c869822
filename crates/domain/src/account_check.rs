//! Checks of a beneficiary's account at the bank that holds it, before a payment is sent.
//!
//! A result never moves money: an order is refused only if the bank states that the account cannot
//! be credited.

use crate::country::Country;
use crate::order::Order;
use crate::rail::RailId;

names! {
    /// When a rail's bank is asked about accounts (`rails.….verify_account`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum AccountChecks: "Name in the configuration." {
        /// Never: the rail is passed over.
        #[default]
        Off = "off",
        /// When a client asks.
        Inform = "inform",
        /// Also before a payment is accepted.
        Require = "require",
    }
}

/// A question about an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountQuestion {
    /// Country of the bank.
    pub country: Country,
    /// Account number or IBAN.
    pub account: String,
    /// Whether `account` is an IBAN.
    pub is_iban: bool,
    /// BIC of the bank, if known.
    pub bic: Option<String>,
    /// Local clearing code of the branch, if known.
    pub local_code: Option<String>,
    /// Name of the account's holder, as the client has it.
    pub name: String,
}

impl AccountQuestion {
    /// The question about an order's beneficiary.
    pub fn of_order(order: &Order) -> AccountQuestion {
        AccountQuestion {
            country: order.country,
            account: order.beneficiary_account_number.clone(),
            is_iban: order.account_is_iban,
            bic: order.branch_bic.clone(),
            local_code: order.branch_local_code.clone(),
            name: order.beneficiary_name.clone(),
        }
    }
}

/// The bank's answer about an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountAnswer {
    /// The account is open and the name is its holder's.
    Match,
    /// The account is open and the name is nearly its holder's; the name that the bank has, masked
    /// as the bank requires.
    CloseMatch(Option<String>),
    /// The account is open and its holder has another name.
    NoMatch,
    /// The account exists and cannot be credited.
    Closed,
    /// The bank has no such account.
    NotFound,
    /// The rail cannot check accounts, or not this one.
    NotSupported,
    /// The bank did not answer in time; why, for operators.
    Unavailable(String),
}

impl AccountAnswer {
    /// Name of the result, as in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            AccountAnswer::Match => "match",
            AccountAnswer::CloseMatch(_) => "close_match",
            AccountAnswer::NoMatch => "no_match",
            AccountAnswer::Closed => "closed",
            AccountAnswer::NotFound => "not_found",
            AccountAnswer::NotSupported => "not_supported",
            AccountAnswer::Unavailable(_) => "unavailable",
        }
    }
}

/// An answer, and the rail that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountChecked {
    /// The rail whose bank was asked; `None` if none could be.
    pub rail: Option<RailId>,
    /// The bank's result; `NotSupported` without a rail.
    pub answer: AccountAnswer,
}
