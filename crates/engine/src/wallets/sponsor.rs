//! Sponsored transfers on a payment page: whether one is offered, what the sender signs, and the
//! checks before gas is spent on it. Nothing is credited: the watched chain reports the payment.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use domain::audit::{AuditContext, Via};
use domain::chain::{
    Address, Authorization, Call, ChainFault, ChainNumber, EcdsaSignature, Fees, Plan,
    SigningDomain, Simulated, Word,
};
use domain::chain_tx::{self, Intent};
use domain::currency::StableCoin;
use domain::payment_request::PaymentRequest;
use domain::screening::Verdict;
use domain::sponsor::{self, SponsorOrder, SponsorRefusal, SponsorTerms, SponsoredState};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};

use super::{Denied, PayPage, PaySender, Wallets};
use crate::alerts;
use crate::command::wallets::{RequestAction, Sponsoring};
use crate::command::{Action, Outcome, Refused};
use crate::context::ChainContext;
use crate::error::EngineError;

/// The actor of a signed transfer in the audit log.
const WHO: &str = "payment link";
const ROLE: &str = "sender";
/// How long a token's domain and the fees serve to offer transfers. Before one is accepted, both are
/// read again.
const OFFER_AGE_MAX: Span = Span::mins(1);

/// A token as it was last read, to offer transfers.
#[derive(Clone, Debug)]
pub(super) struct TokenReading {
    /// `None` = the token has no authorizations.
    domain: Option<SigningDomain>,
    fees: Fees,
    /// What the data of a transaction costs beside the gas, in wei.
    data_fee: u128,
    read_at: Timestamp,
}

/// The last reading of each token, by its chain.
pub(super) type TokenReadings = BTreeMap<(ChainNumber, StableCoin), TokenReading>;

/// Why a transfer is not sponsored.
#[derive(Debug, thiserror::Error)]
pub enum SponsorDenied {
    /// Not on this chain, for this token, amount or at current fees.
    #[error("transfers like this are not sponsored now")]
    NotOffered,
    /// A field of the authorization is wrong.
    #[error("{field} {rule}")]
    Field { field: &'static str, rule: &'static str },
    #[error(transparent)]
    Refused(SponsorRefusal),
    /// It would fail on the chain, or is not sent for this sender; the reason is never revealed.
    #[error("this transfer cannot be sent for the sender")]
    Impossible,
    /// A node does not answer, or the lists are too old.
    #[error("transfers cannot be checked now")]
    Unavailable,
    #[error(transparent)]
    Denied(#[from] Denied),
}

impl From<SponsorRefusal> for SponsorDenied {
    fn from(refusal: SponsorRefusal) -> SponsorDenied {
        match refusal {
            SponsorRefusal::Amount => SponsorDenied::Field {
                field: "value",
                rule: "must be exactly the open amount in the token's smallest unit",
            },
            SponsorRefusal::Window => SponsorDenied::Field {
                field: "validBefore",
                rule: "must be at least a minute from now and not after the link's expiry, with validAfter 0",
            },
            refusal => SponsorDenied::Refused(refusal),
        }
    }
}

impl From<ChainFault> for SponsorDenied {
    fn from(fault: ChainFault) -> SponsorDenied {
        tracing::warn!(%fault, "sponsored transfer could not be checked");
        SponsorDenied::Unavailable
    }
}

/// A page's sender who pays the open amount in one token.
#[derive(Clone, Copy, Debug)]
pub struct SponsorAsk<'a> {
    pub page: &'a PayPage,
    pub sender: &'a PaySender,
    pub coin: StableCoin,
    /// The open amount in minor units.
    pub minor: i64,
}

/// What applies to an ask.
struct Offer<'a> {
    world: &'a ChainContext,
    terms: SponsorTerms,
    token: Address,
    escrow: Address,
}

impl Wallets {
    /// What the sender's page shows of a sponsored transfer to its address.
    pub fn sponsored_state(&self, page: &PayPage, sender: &PaySender) -> Option<SponsoredState> {
        SponsoredState::of(&page.sponsored, &sender.escrow?)
    }

    /// Whether a page offers to sponsor this transfer. If a node does not answer, it does not.
    pub async fn sponsors(&self, ask: SponsorAsk<'_>) -> bool {
        match self.signing_domain(ask).await {
            Ok(_) => true,
            Err(SponsorDenied::NotOffered | SponsorDenied::Refused(_)) => false,
            Err(denied) => {
                tracing::debug!(%denied, "sponsored transfer not offered");
                false
            }
        }
    }

    /// The transfer for a sender to sign, and the token's domain.
    pub async fn authorization(
        &self,
        ask: SponsorAsk<'_>,
        from: Address,
    ) -> Result<(SigningDomain, Authorization), SponsorDenied> {
        let domain = self.signing_domain(ask).await?;
        let to = ask.sender.escrow.ok_or(SponsorDenied::NotOffered)?;
        let value = ask.minor.unsigned_abs();
        let valid_before = sponsor::valid_before(&ask.page.request, self.world.clock.now());
        let nonce = Word(self.store.random());
        Ok((domain, Authorization { from, to, value, valid_after: 0, valid_before, nonce }))
    }

    /// Accepts a signed transfer after all checks; the same one again has no further effect.
    pub async fn sponsor(
        &self,
        ask: SponsorAsk<'_>,
        signed: Authorization,
        signature: EcdsaSignature,
    ) -> Result<Intent, SponsorDenied> {
        let chain = ask.page.request.chain;
        let accepted = self.checked_and_accepted(ask, signed, signature).await;
        let outcome = match &accepted {
            Ok(_) => "accepted",
            Err(SponsorDenied::Refused(SponsorRefusal::Budget)) => "budget",
            Err(SponsorDenied::Unavailable | SponsorDenied::Denied(_)) => "unavailable",
            Err(_) => "refused",
        };
        let name =
            self.offered_on(chain).map_or_else(|_| String::new(), |it| it.config.name.clone());
        metrics::counter!("corridor_sponsored_transfers_total", "chain" => name, "outcome" => outcome)
            .increment(1);
        if let Err(SponsorDenied::Refused(SponsorRefusal::Budget)) = &accepted {
            let tenant = ask.page.request.tenant;
            let what = "the day's gas budget for sponsored transfers is used up".to_owned();
            let alert = Alert { kind: AlertKind::LowGas, subject: tenant.0, what };
            alerts::raise(&self.store, tenant, &alert).await;
        }
        accepted
    }

    async fn checked_and_accepted(
        &self,
        ask: SponsorAsk<'_>,
        authorization: Authorization,
        signature: EcdsaSignature,
    ) -> Result<Intent, SponsorDenied> {
        let Offer { world, terms, token, escrow } = self.offer(ask)?;
        let request = &ask.page.request;
        let now = self.world.clock.now();
        if authorization.to != escrow {
            let rule = "must be the address that this page shows";
            return Err(SponsorDenied::Field { field: "to", rule });
        }
        let order = SponsorOrder { coin: ask.coin, token, authorization, signature, gas_limit: 0 };
        // What needs no node first. The budget is only known to the commit.
        match sponsor::accept(request, &order, &ask.page.sponsored, 0, &terms, now)? {
            sponsor::Sponsored::Known(intent) => return Ok(*intent),
            sponsor::Sponsored::New(..) => {}
        }
        let reading = self.read_token(world, ask.coin, token).await?;
        let domain = reading.domain.ok_or(SponsorDenied::NotOffered)?;
        let digest = domain.digest(&authorization);
        if world.chain.signer_of(&digest, &signature) != Some(authorization.from) {
            let rule = "must be the sender's signature of exactly this transfer";
            return Err(SponsorDenied::Field { field: "signature", rule });
        }
        self.screen_sponsored(world, authorization.from, now).await?;
        let Authorization { from, nonce, .. } = authorization;
        if self.promptly(world.chain.is_authorization_used(token, from, nonce)).await? {
            return Err(SponsorDenied::Field { field: "nonce", rule: "was used before" });
        }
        let gas = self.simulated_gas(world, request, &order).await?;
        if !terms.is_worth(ask.minor, gas, (&reading.fees, reading.data_fee)) {
            return Err(SponsorDenied::NotOffered);
        }
        let order = SponsorOrder { gas_limit: sponsor::gas_limit(gas), ..order };
        self.accept_sponsored(ask, order, terms, now).await
    }

    async fn accept_sponsored(
        &self,
        ask: SponsorAsk<'_>,
        order: SponsorOrder,
        terms: SponsorTerms,
        now: Timestamp,
    ) -> Result<Intent, SponsorDenied> {
        let request = &ask.page.request;
        let by = AuditContext::new(Via::Program, WHO).with_role(ROLE);
        let by = by.on_behalf_of(ask.sender.name_in_audit());
        let (chain, day) = (request.chain, sponsor::day_of(now));
        let action = RequestAction::Sponsor(Box::new(Sponsoring { chain, day, order, terms, by }));
        match self.run(request.tenant, Action::Request(request.id, action)).await {
            Ok(Outcome::Sponsored(intent)) => Ok(*intent),
            // The same request at the same time.
            Ok(Outcome::Unchanged) => {
                let known = self.sponsored(request).await?;
                let same = known.into_iter().find(|it| it.plan.authorizes(&order.authorization));
                same.ok_or_else(|| Denied::Engine(EngineError::Internal).into())
            }
            Ok(_) => Err(Denied::Engine(EngineError::Internal).into()),
            Err(Denied::Refused(Refused::Sponsor(refusal))) => Err(refusal.into()),
            Err(denied) => Err(denied.into()),
        }
    }

    /// Only an address that nothing is known against is worth gas. The deposit is screened in full.
    async fn screen_sponsored(
        &self,
        world: &ChainContext,
        from: Address,
        now: Timestamp,
    ) -> Result<(), SponsorDenied> {
        let screened = world.addresses.screen(&from, now);
        if screened.is_match() {
            return Err(SponsorDenied::Impossible);
        }
        for token in &world.config.tokens {
            if self.promptly(world.lists(token.address, from)).await? {
                return Err(SponsorDenied::Impossible);
            }
        }
        match screened.verdict() {
            Verdict::Clean => Ok(()),
            Verdict::Review | Verdict::Hit => Err(SponsorDenied::Unavailable),
        }
    }

    fn offer(&self, ask: SponsorAsk<'_>) -> Result<Offer<'_>, SponsorDenied> {
        let world = self.offered_on(ask.page.request.chain)?;
        let found = (world.config.sponsor, world.config.token(ask.coin), ask.sender.escrow);
        let (Some(terms), Some(token), Some(escrow)) = found else {
            return Err(SponsorDenied::NotOffered);
        };
        Ok(Offer { world, terms, token, escrow })
    }

    /// The domain of a token that transfers like this are offered for.
    async fn signing_domain(&self, ask: SponsorAsk<'_>) -> Result<SigningDomain, SponsorDenied> {
        let Offer { world, terms, token, .. } = self.offer(ask)?;
        let known = &ask.page.sponsored;
        if known.iter().any(|it| !it.state.is_terminal()) {
            return Err(SponsorRefusal::Busy.into());
        }
        if known.len() >= usize::from(terms.per_request) {
            return Err(SponsorRefusal::PerRequest.into());
        }
        let kept = self.known_token(world.config.number, ask.coin);
        let reading = match kept {
            Some(reading) => reading,
            None => self.read_token(world, ask.coin, token).await?,
        };
        let domain = reading.domain.ok_or(SponsorDenied::NotOffered)?;
        match terms.is_worth(ask.minor, sponsor::TRANSFER_GAS, (&reading.fees, reading.data_fee)) {
            true => Ok(domain),
            false => Err(SponsorDenied::NotOffered),
        }
    }

    fn known_token(&self, chain: ChainNumber, coin: StableCoin) -> Option<TokenReading> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = tokens.get(&(chain, coin))?;
        let age = self.world.wall_clock.now() - reading.read_at;
        (Span(0) <= age && age < OFFER_AGE_MAX).then(|| reading.clone())
    }

    async fn read_token(
        &self,
        world: &ChainContext,
        coin: StableCoin,
        token: Address,
    ) -> Result<TokenReading, SponsorDenied> {
        let chain = world.config.number;
        let states = self.store.token_states().await.map_err(Denied::from)?;
        let is_halted =
            states.iter().any(|it| (it.chain, it.coin) == (chain, coin) && it.halt().is_some());
        let domain = match is_halted {
            true => None,
            false => self.promptly(world.chain.signing_domain(token)).await?,
        };
        let fees = self.promptly(world.chain.fees()).await?;
        let data_fee = self.promptly(world.chain.data_fee(chain_tx::bytes_of(1))).await?;
        let read_at = self.world.wall_clock.now();
        let reading = TokenReading { domain, fees, data_fee, read_at };
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.insert((chain, coin), reading.clone());
        Ok(reading)
    }

    /// The request's sponsored transfers by number; none where they are not offered.
    pub(super) async fn sponsored(&self, request: &PaymentRequest) -> Result<Vec<Intent>, Denied> {
        if self.offered_on(request.chain)?.config.sponsor.is_none() {
            return Ok(Vec::new());
        }
        let id = |number| chain_tx::sponsored_id(request.tenant, request.id, number);
        let ids: Vec<_> = (0..sponsor::PER_REQUEST_MAX).map(id).collect();
        Ok(self.store.intents(request.tenant, &ids).await?)
    }

    /// What the transfer needs on the newest block, from the key that would send it.
    async fn simulated_gas(
        &self,
        world: &ChainContext,
        request: &PaymentRequest,
        order: &SponsorOrder,
    ) -> Result<u64, SponsorDenied> {
        let signer = world.signer.operators(request.tenant).map_err(Denied::from)?;
        let signer = signer.first().copied().ok_or(SponsorDenied::Unavailable)?;
        let controller = world.contracts.controller(request.tenant).map_err(Denied::from)?.address;
        let SponsorOrder { token, authorization, signature, gas_limit, .. } = *order;
        let call =
            Call::One(Plan::SponsoredTransfer { token, authorization, signature, gas_limit });
        match self.promptly(world.chain.simulate(request.tenant, signer, controller, &call)).await?
        {
            Simulated::Works { gas, .. } => Ok(gas),
            Simulated::Reverts(why) => {
                tracing::info!(%why, request = %request.id, "sponsored transfer would fail");
                Err(SponsorDenied::Impossible)
            }
        }
    }
}
