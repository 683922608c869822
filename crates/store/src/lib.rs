//! The only room with SQL: loads what a batch of commands needs, saves what it changed in one commit, and answers reads.
//!
//! SQL is written once over two thin drivers, SQLite (one writer thread, WAL, `synchronous=FULL`) and PostgreSQL
//! (pipelined, set-based). Nothing here decides anything about money: it keeps what `domain` decided, behind
//! constraints that hold even if a decision was wrong.

pub mod need;
pub mod working_set;
