//! What the page behind a payment link needs. The recipient's wallet never leaves here.

use domain::chain::{Address, Depth, LogEvent, TxHash};
use domain::deposit::{Deposit, DepositState};
use domain::ids::SenderInfoId;
use domain::payment_request::refund_to::{ANSWERS_MAX, may_have_paid};
use domain::payment_request::{PaymentRequest, RefundTo, SenderDetails, SenderInfo};
use domain::wallet::WalletState;
use store::Tenant;

use super::{Denied, Wallets, not_found_as};
use crate::batcher::{EngineError, fresh_id};
use crate::command::wallets::RequestAction;
use crate::command::{Action, Outcome};
use crate::rescan;

const FIELD: &str = "token";

/// One payment as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The deposit.
    pub deposit: Deposit,
    /// How many confirmations it has and how many it needs, while it waits for them; `None` = it does not wait, or the
    /// chain counts otherwise.
    pub confirmations: Option<(u64, u64)>,
}

/// A sender who has said who they are: what leads them on, and nothing else of what they said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaySender {
    /// What he submitted, by its id: only he knows it.
    pub id: SenderInfoId,
    /// `custodial_provider`: where he pays from.
    pub provider: Option<String>,
    /// The escrow of this submission; `None` = it was made before submissions had escrows.
    pub escrow: Option<Address>,
    /// The submission, its details apart.
    submission: SenderInfo,
    /// Where he wants money sent back that is not accepted, as he said last.
    pub back_to: Option<Address>,
    /// How often he has said it.
    pub answers: usize,
}

impl PaySender {
    fn of(info: SenderInfo, given: &[RefundTo]) -> PaySender {
        let answers: Vec<&RefundTo> = given.iter().filter(|answer| answer.sender == info.id).collect();
        let back_to = answers.last().map(|answer| answer.to);
        let (id, escrow, answers) = (info.id, info.escrow, answers.len());
        let provider = info.details.custodial_provider.clone();
        let submission = SenderInfo { details: SenderDetails::default(), ..info };
        PaySender { id, provider, escrow, submission, back_to, answers }
    }

    /// Whether a deposit is this sender's: it came to the escrow of the submission.
    pub fn may_be_of(&self, deposit: &Deposit) -> bool {
        may_have_paid(&self.submission, deposit)
    }

    /// Whether he may still say something else.
    pub const fn may_answer(&self) -> bool {
        self.answers < ANSWERS_MAX
    }
}

/// What a transaction that a sender names is to a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// One of the request's payments already.
    Known,
    /// In the chain and to the sender's address, or the request's; so many blocks of so many, where that is how the chain counts.
    Confirming(Option<(u64, u64)>),
    /// To one of those, in a token that is not taken.
    OtherToken,
    /// In the chain, without paying the request.
    Elsewhere,
    /// In the chain, without effect.
    Reverted,
    /// Not in the chain so far.
    NotYet,
    /// The chain cannot be asked now.
    Unclear,
}

/// A payment request as its link leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayPage {
    /// The request.
    pub request: PaymentRequest,
    /// Whose customer asks.
    pub tenant: Tenant,
    /// Whether the recipient's wallet can receive nothing for now or for good: the page is not available.
    pub closed: bool,
    /// What has come, the first one first.
    pub arrivals: Vec<Arrival>,
    /// What senders have said about themselves, the first one first: each leads its own sender on, and nobody else.
    pub senders: Vec<PaySender>,
}

impl PayPage {
    /// The transaction that gave a deposit back, for the sender whose address it went to: the one who named it, or, where
    /// no sender named one here, the only one who can have paid. Others would learn that address from it.
    pub fn gave_back(&self, deposit: &Deposit, sender: &PaySender) -> Option<TxHash> {
        let refund = deposit.refund.as_ref().filter(|_| deposit.state == DepositState::Refunded)?;
        let can_have_paid: Vec<&PaySender> = self.senders.iter().filter(|other| other.may_be_of(deposit)).collect();
        let is_alone = can_have_paid.len() == 1 && can_have_paid.iter().all(|other| other.back_to.is_none());
        let is_his = sender.may_be_of(deposit) && (is_alone || sender.back_to == Some(refund.to));
        refund.tx.filter(|_| is_his)
    }
}

impl Wallets {
    /// What the page of a link shows.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn pay_page(&self, token: &str) -> Result<PayPage, Denied> {
        self.offered()?;
        let request = self.request_by_token(token).await?;
        let (tenant, wallet) = (request.tenant, request.wallet);
        let owner = self.store.tenant(tenant).await?.ok_or(Denied::NotFound(FIELD))?;
        let state = self.store.wallet(tenant, wallet).await?.ok_or(Denied::NotFound(FIELD))?.state;
        let deposits = self.store.deposits_of_request(tenant, wallet, request.id).await?;
        let mut arrivals = Vec::with_capacity(deposits.len());
        for deposit in deposits.into_iter().filter(|deposit| deposit.state != DepositState::Orphaned) {
            let confirmations = self.confirmations(&deposit).await?;
            arrivals.push(Arrival { deposit, confirmations });
        }
        // Nobody is asked where to send back what has not come.
        let given = match arrivals.is_empty() {
            true => Vec::new(),
            false => self.store.refund_addresses(tenant, request.id).await?,
        };
        let senders = self.store.sender_infos(tenant, request.id).await?.into_iter();
        let senders = senders.map(|info| PaySender::of(info, &given)).collect();
        Ok(PayPage { request, tenant: owner, closed: state == WalletState::Blacklisted, arrivals, senders })
    }

    /// The request, whosever it is, that a link leads to.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn request_by_token(&self, token: &str) -> Result<PaymentRequest, Denied> {
        self.store.request_by_token(token).await?.ok_or(Denied::NotFound(FIELD))
    }

    /// A sender says who they are, and gets an escrow that is theirs alone. The same details again, from a browser that
    /// names the submission it made of them `before`, are that submission.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; refusals as [`PaymentRequest::submit`] has them.
    pub async fn submit_sender(
        &self,
        token: &str,
        details: SenderDetails,
        before: Option<SenderInfoId>,
    ) -> Result<SenderInfo, Denied> {
        let request = self.request_by_token(token).await?;
        if let Some(before) = before {
            let known = self.store.sender_infos(request.tenant, request.id).await?;
            let is_same = |info: &SenderInfo| info.id == before && info.escrow.is_some() && info.details == details;
            if let Some(same) = known.into_iter().find(is_same) {
                return Ok(same);
            }
        }
        let (id, wallet) = (SenderInfoId(fresh_id(&self.store)), request.wallet);
        let action = RequestAction::Sender { id, wallet, details: Box::new(details) };
        match self.run(request.tenant, Action::Request(request.id, action)).await.map_err(not_found_as(FIELD))? {
            Outcome::Submitted(info) => Ok(*info),
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    async fn confirmations(&self, deposit: &Deposit) -> Result<Option<(u64, u64)>, Denied> {
        let Some(place) = deposit.place.filter(|_| deposit.state == DepositState::Seen) else { return Ok(None) };
        let Depth::Blocks(needed) = self.offered()?.config.deposit_depth(deposit.minor) else { return Ok(None) };
        Ok(Some((self.blocks_since(place.number).await?, needed)))
    }

    /// What a transaction is to a request, and to the sender who asks. Says nothing of money: only the watched chain does.
    ///
    /// # Errors
    /// [`Denied::NotOffered`], [`Denied::Store`]
    pub async fn find_payment(&self, page: &PayPage, sender: Option<&PaySender>, tx: TxHash) -> Result<Found, Denied> {
        if page.arrivals.iter().any(|arrival| arrival.deposit.tx == tx) {
            return Ok(Found::Known);
        }
        let world = self.offered()?;
        let receipt = match world.chain.receipt(tx, &[]).await {
            Ok(Some(receipt)) => receipt,
            Ok(None) => return Ok(Found::NotYet),
            Err(error) => {
                tracing::warn!(%error, "a sender's transaction cannot be looked up");
                return Ok(Found::Unclear);
            }
        };
        if !receipt.succeeded {
            return Ok(Found::Reverted);
        }
        let escrows = [Some(page.request.escrow), sender.and_then(|sender| sender.escrow)];
        let is_ours = |to: &Address| escrows.contains(&Some(*to));
        let paid = |event: &LogEvent| match event {
            LogEvent::Transfer { to, value, .. } if is_ours(to) && *value > 0 => Some(*value),
            _ => None,
        };
        if let Some(value) = receipt.logs.iter().find_map(|log| paid(&log.event)) {
            self.read_again(tx, receipt.block_number).await?;
            let Depth::Blocks(needed) = world.config.deposit_depth(i64::try_from(value).unwrap_or(i64::MAX)) else {
                return Ok(Found::Confirming(None));
            };
            // It is told as on its way until the watched chain has it.
            let have = self.blocks_since(receipt.block_number).await?.min(needed);
            return Ok(Found::Confirming(Some((have, needed))));
        }
        let other = |event: &LogEvent| matches!(event, LogEvent::UnsupportedTransfer { to, .. } if is_ours(to));
        Ok(if receipt.logs.iter().any(|log| other(&log.event)) { Found::OtherToken } else { Found::Elsewhere })
    }

    /// A payment that is unknown although its block was taken in was left out by a node: the block is read again.
    async fn read_again(&self, tx: TxHash, number: u64) -> Result<(), Denied> {
        let newest = self.store.chain_headers(1).await?;
        if newest.first().is_some_and(|newest| newest.number >= number) {
            rescan::want_if_new(&self.store, rescan::Target::Tx(tx)).await?;
        }
        Ok(())
    }

    /// How many blocks the chain has from this one on, its own included, as far as it was read.
    async fn blocks_since(&self, number: u64) -> Result<u64, Denied> {
        let newest = self.store.chain_headers(1).await?.first().map_or(number, |block| block.number);
        Ok(newest.saturating_sub(number) + 1)
    }
}
