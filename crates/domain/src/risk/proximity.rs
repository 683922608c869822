//! Proximity of a payer's address to a listed one according to a chain analysis provider: the
//! question, the answer and the resulting score. Sends no requests.

use crate::chain::{Address, TxHash};

/// Score of a listed address.
pub const LISTED: u8 = 100;
/// Score of an address one hop from a listed one: HIGH.
pub const ONE_HOP: u8 = 75;
/// Score of an address farther away, within the review distance: MEDIUM.
pub const FARTHER: u8 = 45;
/// Score without an answer: MEDIUM.
pub const NOBODY_ASKED: u8 = 40;

/// Question to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProximityQuestion {
    /// EIP-155 id of the chain.
    pub chain_id: u64,
    /// Token of the payment.
    pub token: Address,
    /// Address that the tokens came from.
    pub payer: Address,
    /// Transaction of the payment.
    pub tx: TxHash,
}

/// The nearest listed address that a provider found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestListed {
    /// Number of transfers between it and the payer; 0 means that the payer is listed.
    pub hops: u8,
    /// Category of the listed address, in the provider's words.
    pub category: String,
    /// The list or the source of the finding.
    pub source: String,
    /// Reference of the provider's evidence.
    pub reference: String,
}

/// A provider's answer about one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProximityAnswer {
    /// Version of the provider's data.
    pub provider_version: String,
    /// The nearest listed address; `None` if the provider found none.
    pub nearest: Option<NearestListed>,
    /// The provider's own score, 0 to 100.
    pub risk_score: Option<u8>,
}

/// Known proximity of a payer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proximity {
    /// No provider is configured.
    NotAsked,
    /// The provider answered validly within the timeout.
    Answered(ProximityAnswer),
    /// No valid answer within the timeout; contains the reason.
    Unanswered(String),
}

/// Distance that requires a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProximityTerms {
    /// Maximum number of hops that requires a review; addresses farther away count as clean.
    pub review_hops: u8,
}

impl ProximityTerms {
    /// No distance needs a review; a listed payer and a high score still count.
    pub const NONE: ProximityTerms = ProximityTerms { review_hops: 0 };
}

/// Consequence of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Neither a listed address within the distance nor a score from MEDIUM.
    Clean,
    /// Needs review, at this score.
    Near(u8),
    /// The payer is listed.
    Listed,
}

impl ProximityAnswer {
    /// Evaluates the answer by hops. The provider's own score can only increase the severity, and
    /// alone never rejects.
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

    /// Evidence for the bank's own staff.
    pub fn evidence(&self) -> String {
        let score =
            self.risk_score.map_or_else(String::new, |score| format!(", provider's score {score}"));
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
