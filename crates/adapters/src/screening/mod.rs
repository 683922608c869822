//! Sanction screening: loading the published lists, comparing names with them, looking up listed addresses, and asking a
//! provider of chain analysis about an address.
//!
//! [`ListBook`] is the port's implementation. It never decides about a payment: the verdict that follows from a score
//! is `domain::screening`'s. It never clears anybody by a list that was not read completely or not lately.

mod book;
mod consonants;
mod countries;
mod entry;
mod forms;
mod index;
mod joined;
mod letters;
pub mod load;
mod normal;
mod proximity;
mod romanise;
mod score;
mod similarity;
mod ties;
mod vocabulary;
mod words;

#[cfg(test)]
mod copy_tests;
#[cfg(test)]
mod disguise_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod tests;

pub use book::{
    KEPT_FOR, KeptCopy, KeptLists, ListBook, ListRefresh, ListSettings, ListSource, ListState, Location, RefreshError,
    STALE_AFTER, user_agent,
};
pub use entry::{BirthSpan, Kind, List, ListEntry, ListedAddress, ListedName};
pub use index::{Match, REPORT_FROM, SanctionLists};
pub use proximity::{HttpChainAnalysis, ProviderSettings};
pub use ties::{COUNTRY_POINTS, OTHER_BIRTHDATE_POINTS, SAME_BIRTHDATE_POINTS};
