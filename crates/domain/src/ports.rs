//! What the engine needs from the outside, as traits: adapters, the testkit and the simulator implement them.
//!
//! An implementation never decides anything about money: it carries a message out and a report back.

use std::future::Future;
use std::pin::Pin;

use crate::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainFault, ChainLog, Fees, Heads, KeyRole, LogEvent,
    NodeReport, Receipt, Sighting, SignFault, Signed, Simulated, TransferAt, TxHash, Unsigned,
};
use crate::currency::Currency;
use crate::decimal::Decimal;
use crate::identity::{Identity, IdentityFault, SignInAnswer, SignInQuestion};
use crate::ids::TenantId;
use crate::rail::{Inquiry, InquiryAnswer, Instruction, RailFault, RailId, Reports, Submission};
use crate::risk::proximity::{ProximityAnswer, ProximityQuestion};
use crate::screening::{Party, Screened};
use crate::time::Timestamp;
use crate::webhook::{DeliveryAnswer, Endpoint, Message};

/// A boxed future, so that ports can be used behind `dyn`.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What time it is, and waiting.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
    /// Completes at `until`, or at once if that is past; no later where the clock is set back meanwhile.
    fn sleep_until(&self, until: Timestamp) -> Answer<'static, ()>;
}

/// One rail: a bank's or a network's interface for pay-outs.
pub trait Rail: Send + Sync {
    /// Which rail of the configuration this is.
    fn id(&self) -> &RailId;
    /// The id of the message that these instructions would go out in; `None` where the rail has no messages. The same
    /// batch has the same id. It is kept before they are sent, so that a report about the message as a whole is known.
    fn message_id(&self, _batch: &[Instruction]) -> Option<String> {
        None
    }
    /// Sends instructions; answers one [`Submission`] for each, in the same order. Never panics, never blocks
    /// longer than the transport's own time-out; anything unclear is [`Submission::Indeterminate`].
    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> Answer<'a, Vec<Submission>>;
    /// Asks what became of attempts; answers one [`InquiryAnswer`] for each, in the same order.
    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> Answer<'a, Vec<InquiryAnswer>>;
    /// Fetches the reports behind `cursor` (all that the bank keeps for `None`), waiting a while where there are none.
    /// Passing the cursor of an earlier answer says that its reports are safely stored.
    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> Answer<'a, Result<Reports, RailFault>>;
}

/// A mid-market rate and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mid {
    /// Units of the second currency for one of the first.
    pub rate: Decimal,
    /// When the source published it.
    pub as_of: Timestamp,
}

/// The rate book: mid-market rates, held in memory.
pub trait RateBook: Send + Sync {
    /// The mid rate of `quote` units for one `base`, directly, by inversion, or crossed over USD; `None` where the
    /// sources know no way.
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid>;
    /// Where the rates come from, in order of preference, for people: no credentials in it.
    fn origins(&self) -> Vec<String>;
}

/// Screening of names against the loaded sanction lists, in memory.
pub trait NameScreen: Send + Sync {
    /// Compares every party with every listed name and answers with the highest score.
    fn screen(&self, parties: &[Party<'_>], now: Timestamp) -> Screened;
}

/// A chain, through one or more nodes. What it says is untrusted: whoever asks compares it with what he knows.
pub trait Chain: Send + Sync {
    /// Height of the newest block: the cheapest question.
    fn head(&self) -> Answer<'_, Result<u64, ChainFault>> {
        Box::pin(async { Ok(self.heads().await?.latest.number) })
    }
    /// How far the chain is; `safe` and `finalized` are those of the most cautious node.
    fn heads(&self) -> Answer<'_, Result<Heads, ChainFault>>;
    /// A block; `None` = there is none of that height yet.
    fn block(&self, at: BlockAt) -> Answer<'_, Result<Option<Block>, ChainFault>>;
    /// The logs of one block that may concern us: of our tokens, of the given controllers, and transfers of other
    /// tokens (to whomever: the caller knows whose addresses are ours).
    fn logs<'a>(
        &'a self,
        block: BlockHash,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>>;
    /// The same for a range of heights, both included, for catching up; in the order of the chain.
    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>>;
    /// The same range once more, from another node where there is one: no answer is proof that there is nothing.
    fn logs_again<'a>(
        &'a self,
        from: u64,
        to: u64,
        controllers: &'a [Address],
    ) -> Answer<'a, Result<Vec<ChainLog>, ChainFault>> {
        self.logs_in(from, to, controllers)
    }
    /// The blocks of a range in which any node knows a transfer of our tokens to this account.
    fn blocks_paying(&self, account: Address, from: u64, to: u64) -> Answer<'_, Result<Vec<u64>, ChainFault>> {
        Box::pin(async move {
            let logs = self.logs_in(from, to, &[]).await?;
            let pays = |log: &ChainLog| matches!(log.event, LogEvent::Transfer { to, .. } if to == account);
            let mut blocks: Vec<u64> = logs.iter().filter(|log| pays(log)).map(|log| log.block_number).collect();
            blocks.dedup();
            Ok(blocks)
        })
    }
    /// Whether a second node, where one is configured, has this hash at this height; `false` = it is not that far yet.
    /// Another hash is [`ChainFault::Disagreement`].
    fn agrees(&self, number: u64, hash: BlockHash) -> Answer<'_, Result<bool, ChainFault>>;
    /// Whether a block that was taken in is in the chain no more: a node has another one of its height. Where another
    /// node still has it, that is [`ChainFault::Disagreement`].
    fn is_gone<'a>(&'a self, block: &'a Block) -> Answer<'a, Result<bool, ChainFault>> {
        Box::pin(async {
            let there = self.block(BlockAt::Number(block.number)).await?;
            Ok(there.is_some_and(|there| there.hash != block.hash))
        })
    }
    /// Whether as many nodes as are needed have this transfer. Nodes that contradict each other are
    /// [`ChainFault::Disagreement`].
    fn sees<'a>(&'a self, transfer: &'a TransferAt) -> Answer<'a, Result<Sighting, ChainFault>> {
        Box::pin(async {
            let receipt = self.receipt(transfer.tx, &[]).await?;
            Ok(match receipt.is_some_and(|receipt| transfer.is_in(&receipt)) {
                true => Sighting::Confirmed,
                false => Sighting::Open,
            })
        })
    }
    /// Whether as many nodes as are needed have this very receipt. Nodes that contradict each other are
    /// [`ChainFault::Disagreement`].
    fn confirms<'a>(
        &'a self,
        receipt: &'a Receipt,
        _controllers: &'a [Address],
    ) -> Answer<'a, Result<Sighting, ChainFault>> {
        Box::pin(async {
            let agrees = self.agrees(receipt.block_number, receipt.block).await?;
            Ok(if agrees { Sighting::Confirmed } else { Sighting::Open })
        })
    }
    /// What became of a transaction; `None` = no node has it in the chain. Its logs are read as by [`Chain::logs`].
    fn receipt<'a>(&'a self, tx: TxHash, controllers: &'a [Address])
    -> Answer<'a, Result<Option<Receipt>, ChainFault>>;
    /// How many transactions of an account are in the chain: its next nonce.
    fn nonce(&self, account: Address) -> Answer<'_, Result<u64, ChainFault>>;
    /// The same of every node that answers.
    fn nonces(&self, account: Address) -> Answer<'_, Result<Vec<u64>, ChainFault>> {
        Box::pin(async move { Ok(vec![self.nonce(account).await?]) })
    }
    /// What a transaction should pay now.
    fn fees(&self) -> Answer<'_, Result<Fees, ChainFault>>;
    /// Wei of an account.
    fn gas_balance(&self, account: Address) -> Answer<'_, Result<u128, ChainFault>>;
    /// Minor units of a token that an account holds.
    fn token_balance(&self, token: Address, account: Address) -> Answer<'_, Result<u64, ChainFault>>;
    /// The same of many accounts, in their order, with few questions.
    fn token_balances<'a>(
        &'a self,
        token: Address,
        accounts: &'a [Address],
    ) -> Answer<'a, Result<Vec<u64>, ChainFault>> {
        Box::pin(async move {
            let mut balances = Vec::with_capacity(accounts.len());
            for account in accounts {
                balances.push(self.token_balance(token, *account).await?);
            }
            Ok(balances)
        })
    }
    /// Minor units of a token that an account held after a block, as far as as many nodes as are needed say; `None` = too
    /// few of them answer, or have that block. Different amounts are [`ChainFault::Disagreement`].
    fn balance_after<'a>(
        &'a self,
        token: Address,
        account: Address,
        block: &'a Block,
    ) -> Answer<'a, Result<Option<u64>, ChainFault>>;
    /// Whether the token's contract has the account on its blacklist.
    fn is_blacklisted(&self, token: Address, account: Address) -> Answer<'_, Result<bool, ChainFault>>;
    /// Whether the token's contract moves nothing now.
    fn is_paused(&self, token: Address) -> Answer<'_, Result<bool, ChainFault>>;
    /// Whether a controller takes an account for an operator of its tenant (`hasRole`).
    fn is_operator(&self, controller: Address, account: Address) -> Answer<'_, Result<bool, ChainFault>>;
    /// Whether there is a contract.
    fn is_deployed(&self, contract: Address) -> Answer<'_, Result<bool, ChainFault>>;
    /// What a call of the tenant's key `from` would do on the newest block.
    fn simulate<'a>(
        &'a self,
        tenant: TenantId,
        from: Address,
        controller: Address,
        call: &'a Call,
    ) -> Answer<'a, Result<Simulated, ChainFault>>;
    /// Hands a signed transaction to every configured node.
    fn broadcast<'a>(&'a self, raw: &'a [u8]) -> Answer<'a, Broadcast>;
    /// How every configured node is. One that has answered just now is not asked again.
    fn survey(&self) -> Answer<'_, Vec<NodeReport>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// The keys that sign for tenants. Private keys never leave it.
pub trait ChainSigner: Send + Sync {
    /// The address of a tenant's key.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    fn address(&self, tenant: TenantId, role: KeyRole) -> Result<Address, SignFault>;
    /// The addresses of a tenant's operator keys, in their configured order: one for each lane. The first is that of
    /// [`KeyRole::Operator`].
    ///
    /// # Errors
    /// [`SignFault::NoKey`]
    fn operators(&self, tenant: TenantId) -> Result<Vec<Address>, SignFault> {
        Ok(vec![self.address(tenant, KeyRole::Operator)?])
    }
    /// Builds the transaction and signs it. The same input gives the same transaction, if not the same signature.
    fn sign<'a>(&'a self, unsigned: &'a Unsigned) -> Answer<'a, Result<Signed, SignFault>>;
}

/// The contracts that a tenant's vaults belong to.
pub trait Contracts: Send + Sync {
    /// Where the tenant's controller is or will be, and the implementation that its vaults are clones of.
    ///
    /// # Errors
    /// [`SignFault::NoKey`]: the controller's address depends on the tenant's keys.
    fn controller(&self, tenant: TenantId) -> Result<Controller, SignFault>;
}

/// A tenant's controller. Stored with every address that is derived from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Where it is.
    pub address: Address,
    /// What its vaults are clones of.
    pub implementation: Address,
    /// Version of the contracts' code.
    pub version: u32,
}

/// Addresses that nobody may be paid from or to, in memory.
pub trait AddressScreen: Send + Sync {
    /// The entry of a sanction list that names the address, with the version of the lists and whether they are too old.
    fn screen(&self, address: &Address, now: Timestamp) -> Screened;
}

/// A provider of chain analysis. What it says is untrusted: it can hold money up, and never clears what others refuse.
pub trait ChainAnalysis: Send + Sync {
    /// How near a payer's address is to a listed one. Asked once, within the adapter's own time-out; an answer that cannot
    /// be understood is none.
    fn proximity<'a>(&'a self, question: &'a ProximityQuestion) -> Answer<'a, Result<ProximityAnswer, AnalysisFault>>;
}

/// Why a provider of chain analysis did not answer, for the bank's own staff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisFault {
    /// It could not be reached, was too slow, or answered with another status.
    #[error("the provider of chain analysis did not answer: {0}")]
    Silent(String),
    /// Its answer does not say what it must.
    #[error("the provider of chain analysis cannot be understood: {0}")]
    Nonsense(String),
}

/// The receivers of webhooks that banks have.
pub trait Receiver: Send + Sync {
    /// Makes one try to deliver a signed message. Never repeats it, never follows a redirect, never takes longer than
    /// the transport's own time-out.
    fn deliver<'a>(&'a self, endpoint: &'a Endpoint, message: &'a Message) -> Answer<'a, DeliveryAnswer>;
}

/// An identity provider that people of the operator console sign in at (OpenID Connect, authorization code flow).
pub trait IdentityProvider: Send + Sync {
    /// Where a browser is sent to sign in.
    fn sign_in_url<'a>(
        &'a self,
        question: &'a SignInQuestion,
        now: Timestamp,
    ) -> Answer<'a, Result<String, IdentityFault>>;
    /// Who has signed in there, by the code that the browser brought back. A code is redeemed once.
    fn redeem<'a>(&'a self, answer: &'a SignInAnswer, now: Timestamp) -> Answer<'a, Result<Identity, IdentityFault>>;
}
