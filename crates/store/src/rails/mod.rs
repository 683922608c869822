//! Bank statements of the accounts that rails pay from, and rails' unmatched reports. Stored next
//! to the books; nothing here changes a balance or a state.

use crate::sql::Stmt;

pub(crate) mod breaks;
pub(crate) mod entries;
pub(crate) mod ids;
pub(crate) mod intake;
pub(crate) mod strays;

pub(crate) static STATEMENTS: [&[&Stmt]; 5] = [
    ids::STATEMENTS,
    intake::STATEMENTS,
    entries::STATEMENTS,
    breaks::STATEMENTS,
    strays::STATEMENTS,
];
