//! Sanction screening: loads the published lists, compares names with them, looks up listed
//! addresses, and queries a chain analysis provider about an address.
//!
//! [`ListBook`] implements the port. It makes no decision about a payment: `domain::screening`
//! derives the verdict from the score. It never clears a party by a list that is incomplete or
//! stale.

mod book;
mod compounds;
mod consonants;
mod countries;
mod entry;
mod forms;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod glued;
mod index;
mod initials;
mod joined;
mod letters;
mod listed;
pub mod load;
mod namesakes;
mod nicknames;
mod normal;
mod people;
mod proximity;
mod romanise;
mod score;
mod similarity;
mod syllables;
mod ties;
mod titles;
mod trades;
mod unlisted;
mod vocabulary;
mod words;

#[cfg(test)]
mod businesses_tests;
#[cfg(test)]
mod copy_tests;
#[cfg(test)]
mod disguise_tests;
#[cfg(test)]
mod ends_tests;
#[cfg(test)]
mod families_tests;
#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod namesakes_tests;
#[cfg(test)]
mod nicknames_tests;
#[cfg(test)]
mod published_tests;
#[cfg(test)]
mod syllables_tests;
#[cfg(test)]
mod test_list;
#[cfg(test)]
mod tests;

pub use book::{
    KEPT_FOR, KeptCopy, KeptLists, ListBook, ListRefresh, ListSettings, ListSource, ListState,
    Location, REDIRECTS_MAX, RefreshError, STALE_AFTER, user_agent,
};
pub use entry::{BirthSpan, Kind, List, ListEntry, ListedAddress, ListedName};
pub use index::{Match, REPORT_FROM, SanctionLists};
pub use proximity::{HttpChainAnalysis, ProviderSettings};
pub use ties::{COUNTRY_POINTS, OTHER_BIRTHDATE_POINTS, SAME_BIRTHDATE_POINTS};
