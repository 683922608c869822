//! Data for the page of a payment link. The recipient's wallet address is never exposed.

use domain::brand::Brand;
use domain::chain::{Address, ChainLog, ChainNumber, Depth, LogEvent, TxHash};
use domain::chain_tx::Intent;
use domain::currency::Currency;
use domain::deposit::{Deposit, DepositState};
use domain::ids::{PaymentRequestId, SenderInfoId, TenantId};
use domain::payment_request::refund_to::{ANSWERS_MAX, may_have_paid};
use domain::payment_request::{PaymentRequest, RefundTo, SenderDetails, SenderInfo};
use domain::phone::DialCountry;
use domain::wallet::WalletState;
pub use store::BrandHead;
use store::Tenant;
use subtle::ConstantTimeEq as _;

use super::{Denied, Wallets, not_found_as};
use crate::batcher::fresh_id;
use crate::command::wallets::RequestAction;
use crate::command::{Action, Outcome};
use crate::error::EngineError;
use crate::rescan;

const FIELD: &str = "token";
/// Leading characters of a submission's id that identify its sender in the audit log.
const NAMED_BY_CHARS: usize = 8;

/// One payment as shown on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub deposit: Deposit,
    /// Its confirmations and how many it needs, while it waits for them; `None` = it does not wait,
    /// or finality is determined differently.
    pub confirmations: Option<(u64, u64)>,
}

/// A sender who submitted their details: only what their own page needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaySender {
    /// The submission's id, known only to the sender.
    pub id: SenderInfoId,
    /// `custodial_provider`: the provider they pay from.
    pub provider: Option<String>,
    /// The currency of the country of their telephone number.
    pub currency: Option<Currency>,
    /// The escrow of this submission; `None` = it predates escrows per submission.
    pub escrow: Option<Address>,
    /// The submission without its details.
    submission: SenderInfo,
    /// Their latest refund address for payments that are not accepted.
    pub back_to: Option<Address>,
    /// How many answers they gave.
    pub answers: usize,
}

impl PaySender {
    fn of(info: SenderInfo, given: &[RefundTo]) -> PaySender {
        let answers: Vec<&RefundTo> =
            given.iter().filter(|answer| answer.sender == info.id).collect();
        let back_to = answers.last().map(|answer| answer.to);
        let (id, escrow, answers) = (info.id, info.escrow, answers.len());
        let provider = info.details.custodial_provider.clone();
        let phone = info.details.phone_number.as_deref();
        let currency = phone.and_then(DialCountry::of).and_then(DialCountry::currency);
        let submission = SenderInfo { details: SenderDetails::default(), ..info };
        PaySender { id, provider, currency, escrow, submission, back_to, answers }
    }

    /// Whether a deposit is this sender's: it arrived in the submission's escrow.
    pub fn may_be_of(&self, deposit: &Deposit) -> bool {
        may_have_paid(&self.submission, deposit)
    }

    /// The submission as the audit log names it.
    pub(super) fn name_in_audit(&self) -> String {
        let name: String = self.id.to_string().chars().take(NAMED_BY_CHARS).collect();
        format!("submission {name}")
    }

    /// Whether they may still give another answer.
    pub const fn may_answer(&self) -> bool {
        self.answers < ANSWERS_MAX
    }
}

/// How a transaction named by a sender relates to a payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is already one of the request's payments.
    Known,
    /// It is in the chain and pays the sender's or the request's address; confirmations and how
    /// many are needed, if finality counts blocks.
    Confirming(Option<(u64, u64)>),
    /// It pays one of these addresses in a token that is not accepted.
    OtherToken,
    /// It pays one of these addresses on another chain, where it is not credited.
    OtherChain,
    /// It is in the chain and does not pay the request.
    Elsewhere,
    Reverted,
    /// It is not in the chain yet.
    NotYet,
    /// The chain cannot be queried now.
    Unclear,
}

/// A payment request as its link shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayPage {
    pub request: PaymentRequest,
    /// The tenant whose customer requests the payment.
    pub tenant: Tenant,
    /// Whether the recipient's wallet cannot receive, for now or permanently: the page is
    /// unavailable.
    pub closed: bool,
    /// Received payments, in order.
    pub arrivals: Vec<Arrival>,
    /// Senders' submissions, in order: each is for its own sender only.
    pub senders: Vec<PaySender>,
    /// The request's sponsored transfers, by number.
    pub sponsored: Vec<Intent>,
}

impl PayPage {
    /// The transaction that refunded a deposit, shown only to the sender whose address received it:
    /// the one who named it, or the only possible payer if no address was entered here. Others
    /// would learn that address from it.
    pub fn gave_back(&self, deposit: &Deposit, sender: &PaySender) -> Option<TxHash> {
        let refund = deposit.refund.as_ref().filter(|_| deposit.state == DepositState::Refunded)?;
        let can_have_paid: Vec<&PaySender> =
            self.senders.iter().filter(|other| other.may_be_of(deposit)).collect();
        let is_alone =
            can_have_paid.len() == 1 && can_have_paid.iter().all(|other| other.back_to.is_none());
        let is_his = sender.may_be_of(deposit) && (is_alone || sender.back_to == Some(refund.to));
        refund.tx.filter(|_| is_his)
    }
}

impl Wallets {
    /// Returns the page of a link.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn pay_page(&self, token: &str) -> Result<PayPage, Denied> {
        self.offered()?;
        self.page_of(self.request_by_token(token).await?).await
    }

    /// Returns the page behind a receipt: of this tenant's request, if the check code is its own,
    /// and the sender whose receipt it is.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn receipt_page(
        &self,
        tag: &str,
        id: PaymentRequestId,
        check_code: &str,
    ) -> Result<(PayPage, Option<SenderInfoId>), Denied> {
        self.offered()?;
        let tenant = self.store.tenant_by_tag(tag).await?.ok_or(Denied::NotFound(FIELD))?;
        let request = self.store.request(tenant.id, id).await?.ok_or(Denied::NotFound(FIELD))?;
        let page = self.page_of(request).await?;
        let of = page.senders.iter().map(|sender| Some(sender.id)).chain([None]).find(|sender| {
            page.request.check_code(*sender).as_bytes().ct_eq(check_code.as_bytes()).into()
        });
        let sender = of.ok_or(Denied::NotFound(FIELD))?;
        Ok((page, sender))
    }

    /// How the pages of a tenant look; `None` = as they are.
    pub async fn brand_head(&self, tenant: TenantId) -> Result<Option<BrandHead>, Denied> {
        Ok(self.store.brand_head(tenant).await?)
    }

    /// The brand of a version, for the files that a page names.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn brand(&self, version: &str) -> Result<Brand, Denied> {
        self.store.brand_of_version(version).await?.ok_or(Denied::NotFound(FIELD))
    }

    async fn page_of(&self, request: PaymentRequest) -> Result<PayPage, Denied> {
        let (tenant, wallet) = (request.tenant, request.wallet);
        let owner = self.store.tenant(tenant).await?.ok_or(Denied::NotFound(FIELD))?;
        let state = self.store.wallet(tenant, wallet).await?.ok_or(Denied::NotFound(FIELD))?.state;
        let deposits = self.store.deposits_of_request(tenant, request.id).await?;
        let mut arrivals = Vec::with_capacity(deposits.len());
        for deposit in
            deposits.into_iter().filter(|deposit| deposit.state != DepositState::Orphaned)
        {
            let confirmations = self.confirmations(&deposit).await?;
            arrivals.push(Arrival { deposit, confirmations });
        }
        // Refund addresses are asked for only after a payment arrived.
        let given = match arrivals.is_empty() {
            true => Vec::new(),
            false => self.store.refund_addresses(tenant, request.id).await?,
        };
        let senders = self.store.sender_infos(tenant, request.id).await?.into_iter();
        let senders = senders.map(|info| PaySender::of(info, &given)).collect();
        let sponsored = self.sponsored(&request).await?;
        Ok(PayPage {
            request,
            tenant: owner,
            closed: state == WalletState::Blacklisted,
            arrivals,
            senders,
            sponsored,
        })
    }

    /// The request of a link, of any tenant.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn request_by_token(&self, token: &str) -> Result<PaymentRequest, Denied> {
        self.store.request_by_token(token).await?.ok_or(Denied::NotFound(FIELD))
    }

    /// Stores a sender's details and assigns an escrow of their own. The same details again, from a
    /// browser that names the submission `before` that it made of them, are that submission.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; refusals as in [`PaymentRequest::submit`].
    pub async fn submit_sender(
        &self,
        token: &str,
        details: SenderDetails,
        before: Option<SenderInfoId>,
    ) -> Result<SenderInfo, Denied> {
        let request = self.request_by_token(token).await?;
        if let Some(before) = before {
            let known = self.store.sender_infos(request.tenant, request.id).await?;
            let is_same = |info: &SenderInfo| {
                info.id == before && info.escrow.is_some() && info.details == details
            };
            if let Some(same) = known.into_iter().find(is_same) {
                return Ok(same);
            }
        }
        let (id, wallet) = (SenderInfoId(fresh_id(&self.store)), request.wallet);
        let action = RequestAction::Sender { id, wallet, details: Box::new(details) };
        match self
            .run(request.tenant, Action::Request(request.id, action))
            .await
            .map_err(not_found_as(FIELD))?
        {
            Outcome::Submitted(info) => Ok(*info),
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    async fn confirmations(&self, deposit: &Deposit) -> Result<Option<(u64, u64)>, Denied> {
        let Some(place) = deposit.place.filter(|_| deposit.state == DepositState::Seen) else {
            return Ok(None);
        };
        let Depth::Blocks(needed) =
            self.offered_on(deposit.chain)?.config.deposit_depth(deposit.minor)
        else {
            return Ok(None);
        };
        Ok(Some((self.blocks_since(deposit.chain, place.number).await?, needed)))
    }

    /// How a transaction relates to a request and to the asking sender. Credits nothing: only the
    /// watched chain does.
    ///
    /// # Errors
    /// [`Denied::NotOffered`], [`Denied::Store`]
    pub async fn find_payment(
        &self,
        page: &PayPage,
        sender: Option<&PaySender>,
        tx: TxHash,
    ) -> Result<Found, Denied> {
        if page.arrivals.iter().any(|arrival| arrival.deposit.tx == tx) {
            return Ok(Found::Known);
        }
        let chain = page.request.chain;
        let world = self.offered_on(chain)?;
        let escrows = [Some(page.request.escrow), sender.and_then(|sender| sender.escrow)];
        let receipt = match self.promptly(world.chain.receipt(tx, &[])).await {
            Ok(Some(receipt)) => receipt,
            Ok(None) => return self.find_on_others(chain, tx, &escrows).await,
            Err(error) => {
                tracing::warn!(%error, "sender transaction lookup failed");
                return Ok(Found::Unclear);
            }
        };
        if !receipt.succeeded {
            return Ok(Found::Reverted);
        }
        let is_ours = |to: &Address| escrows.contains(&Some(*to));
        let paid = |event: &LogEvent| match event {
            LogEvent::Transfer { to, value, .. } if is_ours(to) && *value > 0 => Some(*value),
            _ => None,
        };
        if let Some(value) = receipt.logs.iter().find_map(|log| paid(&log.event)) {
            self.read_again(chain, tx, receipt.block_number).await?;
            let Depth::Blocks(needed) =
                world.config.deposit_depth(i64::try_from(value).unwrap_or(i64::MAX))
            else {
                return Ok(Found::Confirming(None));
            };
            // Reported as confirming until the watcher has it.
            let have = self.blocks_since(chain, receipt.block_number).await?.min(needed);
            return Ok(Found::Confirming(Some((have, needed))));
        }
        let other = |event: &LogEvent| matches!(event, LogEvent::UnsupportedTransfer { to, .. } if is_ours(to));
        Ok(if receipt.logs.iter().any(|log| other(&log.event)) {
            Found::OtherToken
        } else {
            Found::Elsewhere
        })
    }

    /// Looks for a payment to these addresses on the other chains. It is not credited there.
    async fn find_on_others(
        &self,
        chain: ChainNumber,
        tx: TxHash,
        escrows: &[Option<Address>],
    ) -> Result<Found, Denied> {
        let pays = |log: &ChainLog| match log.event {
            LogEvent::Transfer { to, .. } | LogEvent::UnsupportedTransfer { to, .. } => {
                escrows.contains(&Some(to))
            }
            _ => false,
        };
        for other in self.offered()?.all().filter(|it| it.config.number != chain) {
            match self.promptly(other.chain.receipt(tx, &[])).await {
                Ok(Some(receipt)) if receipt.succeeded && receipt.logs.iter().any(pays) => {
                    return Ok(Found::OtherChain);
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "sender transaction lookup failed"),
            }
        }
        Ok(Found::NotYet)
    }

    /// An unknown payment whose block was ingested was omitted by a node: the block is read again.
    async fn read_again(&self, chain: ChainNumber, tx: TxHash, number: u64) -> Result<(), Denied> {
        let newest = self.store.chain_headers(chain, 1).await?;
        if newest.first().is_some_and(|newest| newest.number >= number) {
            rescan::want_if_new(&self.store, chain, rescan::Target::Tx(tx)).await?;
        }
        Ok(())
    }

    /// The number of blocks from this one on, its own included, as far as ingested.
    async fn blocks_since(&self, chain: ChainNumber, number: u64) -> Result<u64, Denied> {
        let newest = self.store.chain_headers(chain, 1).await?;
        let newest = newest.first().map_or(number, |block| block.number);
        Ok(newest.saturating_sub(number) + 1)
    }
}
