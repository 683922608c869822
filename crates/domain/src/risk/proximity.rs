//! How near a payer's address is to a listed one, as a provider of chain analysis says: what is asked, what was answered,
//! and what score follows. It asks nobody.

use crate::chain::{Address, TxHash};

/// The score of an address that is listed itself.
pub const LISTED: u8 = 100;
/// The score of an address one hop from a listed one: HIGH.
pub const ONE_HOP: u8 = 75;
/// The score of one farther away, as far as the terms look: MEDIUM.
pub const FARTHER: u8 = 45;
/// The score where nobody could be asked: MEDIUM.
pub const NOBODY_ASKED: u8 = 40;

/// What a provider is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProximityQuestion {
    /// EIP-155 id of the chain.
    pub chain_id: u64,
    /// The token that came.
    pub token: Address,
    /// Who paid.
    pub payer: Address,
    /// The transaction that it came with.
    pub tx: TxHash,
}

/// The nearest listed address that a provider found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestListed {
    /// How many transfers lie between it and the payer; 0 = the payer is listed.
    pub hops: u8,
    /// What it is listed as, in the provider's words.
    pub category: String,
    /// Which list, or whose finding, says so.
    pub source: String,
    /// Where the provider keeps its evidence.
    pub reference: String,
}

/// A provider's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProximityAnswer {
    /// Version of what the provider answered by.
    pub provider_version: String,
    /// The nearest listed address; `None` = it found none.
    pub nearest: Option<NearestListed>,
    /// The provider's own score, 0 to 100.
    pub risk_score: Option<u8>,
}

/// What is known of a payer's surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proximity {
    /// Nobody is configured who could be asked.
    NotAsked,
    /// It was answered.
    Answered(ProximityAnswer),
    /// Nobody answered, or not sensibly, for longer than is waited; why.
    Unanswered(String),
}

/// From where on a person looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProximityTerms {
    /// The most hops at which a person decides; what is farther away is as good as clean.
    pub review_hops: u8,
}

impl ProximityTerms {
    /// Nobody looks.
    pub const NONE: ProximityTerms = ProximityTerms { review_hops: 0 };
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Nothing.
    Clean,
    /// A person decides, at this score.
    Near(u8),
    /// The payer is listed.
    Listed,
}

impl ProximityAnswer {
    /// What follows: hops decide; the provider's own score makes it graver, never less grave, and refuses nobody alone.
    pub fn nearness(&self, terms: ProximityTerms) -> Nearness {
        let by_hops = match self.nearest.as_ref().map(|nearest| nearest.hops) {
            Some(0) => return Nearness::Listed,
            Some(1) if terms.review_hops >= 1 => ONE_HOP,
            Some(hops) if hops <= terms.review_hops => FARTHER,
            _ => 0,
        };
        match by_hops.max(self.risk_score.unwrap_or(0)) {
            score if score >= super::MEDIUM_FROM => Nearness::Near(score),
            _ => Nearness::Clean,
        }
    }

    /// What was found, for the bank's own staff.
    pub fn evidence(&self) -> String {
        let score = self.risk_score.map_or_else(String::new, |score| format!(", provider's score {score}"));
        let found = match &self.nearest {
            None => "no listed address nearby".to_owned(),
            Some(NearestListed { hops, category, source, reference }) => {
                let hops = match hops {
                    0 => "the payer itself".to_owned(),
                    1 => "1 hop away".to_owned(),
                    hops => format!("{hops} hops away"),
                };
                format!("{category} ({source}) {hops}, evidence {reference}")
            }
        };
        format!("{found}{score}, provider {}", self.provider_version)
    }
}
