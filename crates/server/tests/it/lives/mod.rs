//! Payments followed to their ends.

mod endings;
mod rails;
mod screening;
