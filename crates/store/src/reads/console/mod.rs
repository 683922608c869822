//! What the operator console reads of payments and of the books beyond what the interfaces answer. Every statement here
//! looks at a bounded number of rows, found through an index that is there for another reason.

use crate::sql::Stmt;

pub(crate) mod books;
pub(crate) mod find;
pub(crate) mod history;
pub(crate) mod overview;
pub(crate) mod payments;
pub(crate) mod quotes;

pub(crate) static STATEMENTS: [&[&Stmt]; 6] = [
    books::STATEMENTS,
    find::STATEMENTS,
    history::STATEMENTS,
    overview::STATEMENTS,
    payments::STATEMENTS,
    quotes::STATEMENTS,
];
