//! What banks say in their statements of the accounts that rails pay out of, and what rails report that is about nothing
//! of ours. Kept beside the books, which nothing here changes: no balance, no state.

use crate::sql::Stmt;

pub(crate) mod breaks;
pub(crate) mod entries;
pub(crate) mod ids;
pub(crate) mod intake;
pub(crate) mod strays;

pub(crate) static STATEMENTS: [&[&Stmt]; 5] =
    [ids::STATEMENTS, intake::STATEMENTS, entries::STATEMENTS, breaks::STATEMENTS, strays::STATEMENTS];
