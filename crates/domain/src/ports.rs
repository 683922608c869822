//! The engine's dependencies on the outside, as traits: adapters, the testkit and the simulator
//! implement them.
//!
//! An implementation never decides about money: it transmits messages and reports.

use std::future::Future;
use std::pin::Pin;

use crate::account_check::{AccountAnswer, AccountQuestion};
use crate::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainFault, ChainLog, EcdsaSignature,
    Fees, Heads, IntentOnChain, KeyRole, LogEvent, NodeReport, NonceReports, Receipt, Sighting,
    SignFault, Signed, SigningDomain, Simulated, TransferAt, TxHash, Unsigned, Word,
};
use crate::currency::{Currency, StableCoin};
use crate::decimal::Decimal;
use crate::identity::{Identity, IdentityFault, SignInAnswer, SignInQuestion};
use crate::ids::TenantId;
use crate::rail::{
    Callback, CallbackRefusal, Inquiry, InquiryAnswer, Instruction, RailFault, RailId,
    RecallRequest, Reports, Submission,
};
use crate::relay::{EventMessage, SinkFault};
use crate::risk::proximity::{ProximityAnswer, ProximityQuestion};
use crate::screening::{ListedEntry, Party, Screened};
use crate::time::{Span, Timestamp};
use crate::webhook::{DeliveryAnswer, Endpoint, Message};

/// A boxed future, so that ports can be used as `dyn` traits.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The current time, and waiting.
pub trait Clock: Send + Sync {
    /// The current time, in microseconds since 1970 UTC.
    fn now(&self) -> Timestamp;
    /// Completes at `until`, or at once if that is past; no later if the clock is set back in the
    /// meantime.
    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()>;
}

/// One rail: a bank's or a network's payout interface.
pub trait Rail: Send + Sync {
    /// The rail's id in the configuration.
    fn id(&self) -> &RailId;
    /// Id of the message that would carry these instructions; `None` if the rail has no messages.
    /// The same batch has the same id. It is stored before sending, so that a report about the
    /// whole message can be matched.
    fn message_id(&self, _batch: &[Instruction]) -> Option<String> {
        None
    }
    /// Number of instructions in each of the messages that the batch needs, in order: a rail's
    /// messages may have a maximum size. Each is then submitted by itself.
    fn split(&self, batch: &[Instruction]) -> Vec<usize> {
        vec![batch.len()]
    }
    /// Sends instructions and returns one [`Submission`] for each, in the same order. Never panics,
    /// never blocks longer than the transport's timeout; an unclear result is
    /// [`Submission::Indeterminate`].
    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>>;
    /// Inquires about attempts and returns one [`InquiryAnswer`] for each, in the same order.
    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>>;
    /// Asks the bank to return a payment. A report in the answer is [`RailStatus::Recall`]. The same
    /// request may be sent any number of times.
    ///
    /// [`RailStatus::Recall`]: crate::rail::RailStatus::Recall
    fn recall<'a>(&'a self, _request: &'a RecallRequest) -> BoxFuture<'a, Submission> {
        let why = format!("rail {} does not accept recalls", self.id());
        Box::pin(std::future::ready(Submission::NotSent(why)))
    }
    /// Fetches the reports after `cursor` (all that the bank keeps for `None`), waiting a while if
    /// there are none. Passing the cursor of an earlier answer confirms that its reports are safely
    /// stored.
    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>>;
    /// Everything in the last answer of [`Rail::collect`] is stored: what the rail reports once counts
    /// as reported.
    fn confirm_stored(&self) -> BoxFuture<'_, Result<(), RailFault>> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// Authenticates and reads a message that the bank's side sent to us. `now` is the wall clock's.
    ///
    /// # Errors
    /// It is not from the bank's side, or cannot be read.
    fn read_callback(
        &self,
        _callback: &Callback<'_>,
        _now: Timestamp,
    ) -> Result<Reports, CallbackRefusal> {
        Err(CallbackRefusal::NotTaken)
    }
    /// Asks the bank about an account, within the transport's timeout. Has no effect at the bank.
    fn verify_account<'a>(
        &'a self,
        _question: &'a AccountQuestion,
    ) -> BoxFuture<'a, AccountAnswer> {
        Box::pin(std::future::ready(AccountAnswer::NotSupported))
    }
}

/// A mid-market rate with its timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mid {
    /// Units of the second currency per unit of the first.
    pub rate: Decimal,
    /// Time at which the source published it.
    pub as_of: Timestamp,
}

/// The conditions under which a corridor uses a rate at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateTerms {
    /// Instant that ages of rates are measured at.
    pub now: Timestamp,
    /// Maximum age of a rate whose source has no limit of its own.
    pub max_age: Span,
    /// Basis points by which a rate is lower while its source rests; `None` = it is not used then.
    pub weekend_margin_bps: Option<u32>,
}

impl RateTerms {
    /// The terms at an instant that allow only what both allow.
    #[must_use]
    pub fn stricter(self, other: RateTerms) -> RateTerms {
        let margins = self.weekend_margin_bps.zip(other.weekend_margin_bps);
        RateTerms {
            now: self.now,
            max_age: self.max_age.min(other.max_age),
            weekend_margin_bps: margins.map(|(one, two)| one.max(two)),
        }
    }
}

/// A rate at which a customer's money is exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Units of the second currency per unit of the first.
    pub rate: Decimal,
    /// Time at which the source published it.
    pub as_of: Timestamp,
    /// Whether it is the last rate of a source that rests, less the margin for that.
    pub is_weekend: bool,
}

/// The rate book: mid-market rates, held in memory.
pub trait RateBook: Send + Sync {
    /// Mid rate of `quote` units per `base` unit, direct, inverted, or crossed; `None` if the sources
    /// have none. For display: the caller judges its age.
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid>;
    /// The rate at which a customer who pays `base` gets `quote`, if one may be used by these terms:
    /// the bid where the source states one, else the mid rate.
    fn bid(&self, base: Currency, quote: Currency, terms: &RateTerms) -> Option<Bid> {
        let Mid { rate, as_of } = self.mid(base, quote)?;
        let is_fresh = terms.now - as_of <= terms.max_age;
        (is_fresh && rate.is_positive()).then_some(Bid { rate, as_of, is_weekend: false })
    }
    /// The price in USD of a stablecoin that is too far from 1: no rate with it is given.
    fn off_peg(&self, _coin: StableCoin) -> Option<Decimal> {
        None
    }
    /// Rate sources in order of preference, for display: without credentials.
    fn origins(&self) -> Vec<String>;
}

/// Screens names against the loaded sanctions lists, in memory.
pub trait NameScreen: Send + Sync {
    /// Compares every party with every listed name and returns the highest score.
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened;
    /// Whether a result on the lists of this version ([`Screened::list_version`]) holds now: the
    /// lists in force are those, and young enough to clear a party.
    fn is_current(&self, version: &str, now: Timestamp) -> bool;
    /// The entry of a list in force by the publisher's number, for a reviewer; `None` if it is not
    /// listed any more.
    fn entry(&self, _list: &str, _uid: &str) -> Option<ListedEntry> {
        None
    }
}

/// A chain, through one or more nodes. Answers are untrusted: the caller verifies them against
/// known facts.
pub trait Chain: Send + Sync {
    /// Height of the newest block: the cheapest query.
    fn head(&self) -> BoxFuture<'_, Result<u64, ChainFault>> {
        Box::pin(async { Ok(self.heads().await?.latest.number) })
    }
    /// The heads that the required number of nodes have reached.
    fn heads(&self) -> BoxFuture<'_, Result<Heads, ChainFault>>;
    /// A block; `None` if there is none at that height yet.
    fn block(&self, at: BlockAt) -> BoxFuture<'_, Result<Option<Block>, ChainFault>>;
    /// The relevant logs of one block: of our tokens, of the given controllers, and transfers of
    /// other tokens to any address, of which the caller selects its own.
    fn logs<'a>(
        &'a self,
        block: BlockHash,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>>;
    /// The same for an inclusive range of heights, for catching up; in chain order.
    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>>;
    /// The same range again, from another node if there is one: an empty answer proves nothing.
    fn logs_again<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        self.logs_in(from, to, controllers)
    }
    /// The blocks of a range in which any node knows a transfer of our tokens to this account.
    fn blocks_paying(
        &self,
        account: Address,
        from: u64,
        to: u64,
    ) -> BoxFuture<'_, Result<Vec<u64>, ChainFault>> {
        Box::pin(async move {
            let logs = self.logs_in(from, to, &[]).await?;
            let pays = |log: &ChainLog| matches!(log.event, LogEvent::Transfer { to, .. } if to == account);
            let mut blocks: Vec<u64> =
                logs.iter().filter(|log| pays(log)).map(|log| log.block_number).collect();
            blocks.dedup();
            Ok(blocks)
        })
    }
    /// The block with this hash at this height, if the required number of nodes have it; `None`
    /// means that too few have reached it. Another hash, or another time of it, is
    /// [`ChainFault::Disagreement`].
    fn agreed_block(
        &self,
        number: u64,
        hash: BlockHash,
    ) -> BoxFuture<'_, Result<Option<Block>, ChainFault>>;
    /// Whether an ingested block is no longer in the chain: the required number of nodes have
    /// another one at its height. If another node still has it, that is
    /// [`ChainFault::Disagreement`].
    fn is_gone<'a>(&'a self, block: &'a Block) -> BoxFuture<'a, Result<bool, ChainFault>> {
        Box::pin(async {
            let there = self.block(BlockAt::Number(block.number)).await?;
            Ok(there.is_some_and(|there| there.hash != block.hash))
        })
    }
    /// Whether the required number of nodes have this transfer. Contradicting nodes are
    /// [`ChainFault::Disagreement`].
    fn sees<'a>(&'a self, transfer: &'a TransferAt) -> BoxFuture<'a, Result<Sighting, ChainFault>> {
        Box::pin(async {
            let receipt = self.receipt(transfer.tx, &[]).await?;
            Ok(match receipt.is_some_and(|receipt| transfer.is_in(&receipt)) {
                true => Sighting::Confirmed,
                false => Sighting::Open,
            })
        })
    }
    /// Whether the required number of nodes have exactly this receipt. Contradicting nodes are
    /// [`ChainFault::Disagreement`].
    fn confirms<'a>(
        &'a self,
        receipt: &'a Receipt,
        _controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Sighting, ChainFault>> {
        Box::pin(async {
            let agreed = self.agreed_block(receipt.block_number, receipt.block).await?;
            Ok(agreed.map_or(Sighting::Open, |_| Sighting::Confirmed))
        })
    }
    /// State of an intent in its controller, on which the required number of nodes agree.
    fn intent_state(
        &self,
        _controller: Address,
        _intent: Word,
    ) -> BoxFuture<'_, Result<IntentOnChain, ChainFault>> {
        Box::pin(std::future::ready(Ok(IntentOnChain::Unknown)))
    }
    /// Transactions of an inclusive range of heights in which any node knows that the controller
    /// executed something about this id: an intent's, a returned debit's, a vault's reference, or a
    /// swept token's address.
    /// Newest first. It is to be verified by [`Chain::confirms`].
    fn executing<'a>(
        &'a self,
        _controller: Address,
        _about: Word,
        _from: u64,
        _to: u64,
    ) -> BoxFuture<'a, Result<Vec<TxHash>, ChainFault>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
    /// Receipt of a transaction; `None` if no node has it in the chain. Its logs are read as by
    /// [`Chain::logs`].
    fn receipt<'a>(
        &'a self,
        tx: TxHash,
        controllers: &'a [Address],
    ) -> BoxFuture<'a, Result<Option<Receipt>, ChainFault>>;
    /// Number of an account's transactions in the chain: its next nonce.
    fn nonce(&self, account: Address) -> BoxFuture<'_, Result<u64, ChainFault>>;
    /// The same from every node.
    fn nonces(&self, account: Address) -> BoxFuture<'_, Result<NonceReports, ChainFault>> {
        Box::pin(async move {
            Ok(NonceReports { answered: vec![self.nonce(account).await?], silent: 0 })
        })
    }
    /// Current fee suggestion for a transaction: the lowest of the nodes'.
    fn fees(&self) -> BoxFuture<'_, Result<Fees, ChainFault>>;
    /// The highest of the nodes', for a transaction that waits at lower ones.
    fn higher_fees(&self) -> BoxFuture<'_, Result<Fees, ChainFault>> {
        self.fees()
    }
    /// Highest fee in wei that the chain charges beside the gas for a signed transaction of this many
    /// bytes, for publishing it on another chain; 0 on chains without such fees.
    fn data_fee(&self, _bytes: usize) -> BoxFuture<'_, Result<u128, ChainFault>> {
        Box::pin(async { Ok(0) })
    }
    /// Balance of an account in wei.
    fn gas_balance(&self, account: Address) -> BoxFuture<'_, Result<u128, ChainFault>>;
    /// Token balance of an account in minor units.
    fn token_balance(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<u64, ChainFault>>;
    /// The same for many accounts, in their order, with few queries.
    fn token_balances<'a>(
        &'a self,
        token: Address,
        accounts: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<u64>, ChainFault>> {
        Box::pin(async move {
            let mut balances = Vec::with_capacity(accounts.len());
            for account in accounts {
                balances.push(self.token_balance(token, *account).await?);
            }
            Ok(balances)
        })
    }
    /// Token balance of an account after a block, in minor units, as far as the required number of
    /// nodes agree; `None` if too few answer or have that block. Different amounts are
    /// [`ChainFault::Disagreement`].
    fn balance_after<'a>(
        &'a self,
        token: Address,
        account: Address,
        block: &'a Block,
    ) -> BoxFuture<'a, Result<Option<u64>, ChainFault>>;
    /// Whether the token contract has blacklisted the account.
    fn is_blacklisted(
        &self,
        token: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>>;
    /// The token contract's number of decimals (ERC-20); `None` if there is no contract. At most
    /// `u64::MAX` is returned.
    fn decimals(&self, token: Address) -> BoxFuture<'_, Result<Option<u64>, ChainFault>>;
    /// Whether the token contract's transfers are paused.
    fn is_paused(&self, token: Address) -> BoxFuture<'_, Result<bool, ChainFault>>;
    /// EIP-712 domain of a token with EIP-3009 authorizations. `None` if the token has none, or its
    /// contract's domain is not that of its name, version, chain and address.
    fn signing_domain(
        &self,
        _token: Address,
    ) -> BoxFuture<'_, Result<Option<SigningDomain>, ChainFault>> {
        Box::pin(async { Ok(None) })
    }
    /// Whether the token has executed or cancelled an authorization of this account and nonce.
    fn is_authorization_used(
        &self,
        token: Address,
        _authorizer: Address,
        _nonce: Word,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        Box::pin(
            async move { Err(ChainFault::Unreachable(format!("{token} has no authorizations"))) },
        )
    }
    /// The account that signed a digest; `None` if the signature is not valid.
    fn signer_of(&self, _digest: &Word, _signature: &EcdsaSignature) -> Option<Address> {
        None
    }
    /// Whether a controller accepts an account as its tenant's operator (`hasRole`).
    fn is_operator(
        &self,
        controller: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>>;
    /// Whether the address has contract code.
    fn is_deployed(&self, contract: Address) -> BoxFuture<'_, Result<bool, ChainFault>>;
    /// Simulates a call of the tenant's key `from` on the newest block.
    fn simulate<'a>(
        &'a self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Simulated, ChainFault>>;
    /// Sends a signed transaction to every configured node.
    fn broadcast<'a>(&'a self, raw: &'a [u8]) -> BoxFuture<'a, Broadcast>;
    /// Status of every configured node: whether it names its newest block and, if it has the block
    /// `known`, serves that block's logs.
    fn survey(&self, _known: Option<Block>) -> BoxFuture<'_, Vec<NodeReport>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// The tenants' signing keys. Private keys never leave it.
pub trait ChainSigner: Send + Sync {
    /// Address of a tenant's key.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    fn address(&self, tenant: TenantId, role: KeyRole) -> Result<Address, SignFault>;
    /// Addresses of a tenant's operator keys in configured order, one per lane. The first is that
    /// of [`KeyRole::Operator`].
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    fn operators(&self, tenant: TenantId) -> Result<Vec<Address>, SignFault> {
        Ok(vec![self.address(tenant, KeyRole::Operator)?])
    }
    /// Builds and signs the transaction. The same input yields the same transaction, but not
    /// necessarily the same signature.
    fn sign<'a>(&'a self, unsigned: &'a Unsigned) -> BoxFuture<'a, Result<Signed, SignFault>>;
}

/// The contracts of the tenants' vaults.
pub trait Contracts: Send + Sync {
    /// Address of the tenant's controller, deployed or not, and of the implementation that its
    /// vaults clone.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]: the controller's address depends on the tenant's keys.
    fn controller(&self, tenant: TenantId) -> Result<Controller, SignFault>;
    /// Admin and treasury that the tenant's controller is deployed with; empty if it was deployed
    /// elsewhere.
    ///
    /// # Errors
    /// [`SignFault::Failed`]: the tenant has none.
    fn owners(&self, _tenant: TenantId) -> Result<Vec<Address>, SignFault> {
        Ok(Vec::new())
    }
}

/// A tenant's controller. Stored with every address derived from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Address of the controller.
    pub address: Address,
    /// Implementation that its vaults clone.
    pub implementation: Address,
    /// Version of the contract code.
    pub version: u32,
}

/// Screens sanctioned addresses, in memory.
pub trait AddressScreen: Send + Sync {
    /// The sanctions list entry that names the address, with the version of the lists and whether
    /// they are outdated.
    fn screen(&self, address: &Address, now: Timestamp) -> Screened;
}

/// A provider of chain analysis. Its answers are untrusted: they can hold money, and never clear
/// what others reject.
pub trait ChainAnalysis: Send + Sync {
    /// Proximity of a payer's address to a listed one. Asked once, within the adapter's timeout; an
    /// unparsable answer counts as none.
    fn proximity<'a>(
        &'a self,
        question: &'a ProximityQuestion,
    ) -> BoxFuture<'a, Result<ProximityAnswer, AnalysisFault>>;
}

/// Reason why a provider of chain analysis did not answer, for the bank's own staff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisFault {
    /// It was unreachable, too slow, or answered with another status.
    #[error("the chain analysis provider did not answer: {0}")]
    Silent(String),
    /// Its answer lacks required values.
    #[error("the chain analysis provider's answer is invalid: {0}")]
    Nonsense(String),
}

/// The banks' webhook endpoints.
pub trait Receiver: Send + Sync {
    /// Makes one attempt to deliver a signed message. Never repeats it, never follows a redirect,
    /// never exceeds the transport's timeout.
    fn deliver<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        message: &'a Message,
    ) -> BoxFuture<'a, DeliveryAnswer>;
}

/// An identity provider for users of the operator console (OpenID Connect, authorization code
/// flow).
pub trait IdentityProvider: Send + Sync {
    /// URL at which a browser signs in.
    fn sign_in_url<'a>(
        &'a self,
        question: &'a SignInQuestion,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<String, IdentityFault>>;
    /// The user who signed in, by the code that the browser returned. A code is redeemed once.
    fn redeem<'a>(
        &'a self,
        answer: &'a SignInAnswer,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Identity, IdentityFault>>;
}

/// A broker that stores events: a message once, as long as it remembers the message's id.
pub trait EventSink: Send + Sync {
    /// Connects, and verifies that messages would be stored where they are meant to be.
    fn check(&self) -> BoxFuture<'_, Result<(), SinkFault>>;
    /// Sends messages, none of which depends on another one, and returns for each, in the same
    /// order, whether it is stored. Never blocks longer than the broker's timeout.
    fn publish<'a>(
        &'a self,
        messages: &'a [EventMessage],
    ) -> BoxFuture<'a, Vec<Result<(), SinkFault>>>;
}
