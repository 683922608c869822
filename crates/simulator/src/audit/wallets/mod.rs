//! The auditor's rules about the wallet service.

pub(super) mod books;
pub(super) mod rows;
