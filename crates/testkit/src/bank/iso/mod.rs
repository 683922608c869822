//! The bank's side of ISO 20022: it parses pain.001.001.09 and .03, pacs.028.001.03 and
//! camt.056.001.08 and writes pain.002.001.10, camt.029.001.09, camt.053.001.08, camt.054.001.08
//! and pacs.004.001.09. Deliberately shares no code with the client: two independent
//! implementations of the standard reveal each other's mistakes.

mod read;
mod statement;
mod write;

#[cfg(test)]
mod tests;

pub use self::read::{IsoFault, Message, read};
pub use self::statement::statement_document;
pub use self::write::{Header, Original, reports_document, resolution_document, status_document};
