//! The operator console's reads of payments and books beyond those of the APIs. Every statement
//! reads a bounded number of rows through an existing index.

use crate::sql::Stmt;

pub(crate) mod books;
pub(crate) mod find;
pub(crate) mod history;
pub(crate) mod overview;
pub(crate) mod payments;
pub(crate) mod people;
pub(crate) mod quotes;
pub(crate) mod search;
pub(crate) mod waiting;

pub(crate) static STATEMENTS: [&[&Stmt]; 9] = [
    books::STATEMENTS,
    find::STATEMENTS,
    history::STATEMENTS,
    overview::STATEMENTS,
    payments::STATEMENTS,
    people::STATEMENTS,
    quotes::STATEMENTS,
    search::STATEMENTS,
    waiting::STATEMENTS,
];
