//! Scripted external parties: chain, keys, contracts, lists, endpoint, rates, clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use domain::chain::{
    Address, Block, BlockAt, BlockHash, Broadcast, Call, ChainFault, ChainLog, Fees, Heads,
    IntentOnChain, KeyRole, Movement, Receipt, SignFault, Signed, Simulated, TxHash, Unsigned,
    Word,
};
use domain::currency::Currency;
use domain::ids::TenantId;
use domain::ports::{
    AddressScreen, Bid, BoxFuture, Chain, ChainSigner, Clock, Contracts, Controller, Mid,
    NameScreen, RateBook, RateTerms, Receiver,
};
use domain::screening::{Party, Screened};
use domain::time::{Span, Timestamp};
use domain::webhook::{DeliveryAnswer, DeliveryResult, Endpoint, Message};

/// Tests start at 2026-11-21T06:57:48Z.
pub const START: Timestamp = Timestamp(1_795_244_268_000_000);

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

/// A clock that is advanced manually or by sleeping.
pub struct HandClock {
    now: Arc<AtomicI64>,
    each_look: AtomicI64,
}

impl HandClock {
    pub fn new() -> HandClock {
        HandClock { now: Arc::new(AtomicI64::new(START.0)), each_look: AtomicI64::new(0) }
    }

    pub fn pass(&self, span: Span) {
        self.now.fetch_add(span.0, Ordering::SeqCst);
    }

    /// From now on, each clock read advances time by this much.
    pub fn pass_at_each_look(&self, span: Span) {
        self.each_look.store(span.0, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.fetch_add(self.each_look.load(Ordering::SeqCst), Ordering::SeqCst))
    }

    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()> {
        let now = self.now.clone();
        Box::pin(async move {
            now.fetch_max(until.0, Ordering::SeqCst);
        })
    }
}

/// A static chain: controllers are deployed or not, addresses are blacklisted or not.
#[derive(Default)]
pub struct QuietChain {
    pub deployed: AtomicBool,
    /// Whether calls would succeed; nothing is sent in any case.
    pub works: AtomicBool,
    pub silent: AtomicBool,
    /// Whether too few nodes name their heads; each names its height.
    pub hides_heads: AtomicBool,
    /// Whether receipts are refused.
    pub refuses_receipts: AtomicBool,
    /// Wei per gas; 0 = 2.
    pub max_fee: AtomicU64,
    pub fees_asked: AtomicU64,
    pub broadcasts: AtomicU64,
    /// Wei beside the gas of each transaction.
    pub data_fee: AtomicU64,
    /// Minor units of each account.
    pub balance: AtomicU64,
    /// Wei of each key; 0 = more than enough.
    pub gas: AtomicU64,
    pub blacklisted: Mutex<BTreeSet<Address>>,
    pub receipts: Mutex<BTreeMap<TxHash, Receipt>>,
    /// Of every token; 0 = there is no contract, 255 = it reverts.
    pub decimals: AtomicU8,
    pub height: AtomicU8,
    /// Seconds by which its blocks are older than the world.
    pub old_s: AtomicU8,
    /// Blocks above the first one, and from `forks_at` on, differ between branches.
    pub branch: AtomicU8,
    pub forks_at: AtomicU8,
    pub logs: Mutex<Vec<ChainLog>>,
    /// Intents that the controllers have executed.
    pub executed: Mutex<BTreeMap<Word, IntentOnChain>>,
    /// Whether the calls of intents that are not among them revert, too.
    pub reverts: AtomicBool,
    /// Whether nodes hide what the controllers executed.
    pub hides_executions: AtomicBool,
    /// What happens once, before the next answer about a block.
    pub before_block: Mutex<Option<BoxFuture<'static, ()>>>,
}

impl QuietChain {
    fn answer<'a, T: Send + 'a>(&self, value: T) -> BoxFuture<'a, Result<T, ChainFault>> {
        if self.silent.load(Ordering::SeqCst) {
            return ready(Err(ChainFault::Unreachable("silent".to_owned())));
        }
        ready(Ok(value))
    }
}

impl QuietChain {
    fn at(&self, number: u8) -> Block {
        let branch = self.branch.load(Ordering::SeqCst);
        let forks_at = self.forks_at.load(Ordering::SeqCst).max(1);
        let hash = |number: u8| {
            BlockHash([if number < forks_at { number } else { number + 100 * branch }; 32])
        };
        Block {
            number: number.into(),
            hash: hash(number),
            parent: hash(number.saturating_sub(1)),
            at: START - Span::secs(self.old_s.load(Ordering::SeqCst).into()),
        }
    }

    fn logs_where(&self, is_asked: impl Fn(&ChainLog) -> bool) -> Vec<ChainLog> {
        let logs = self.logs.lock().expect("not poisoned");
        logs.iter().filter(|log| is_asked(log)).copied().collect()
    }

    fn latest(&self) -> Block {
        self.at(self.height.load(Ordering::SeqCst))
    }
}

impl Chain for QuietChain {
    fn head(&self) -> BoxFuture<'_, Result<u64, ChainFault>> {
        self.answer(self.latest().number)
    }
    fn heads(&self) -> BoxFuture<'_, Result<Heads, ChainFault>> {
        if self.hides_heads.load(Ordering::SeqCst) {
            return ready(Err(ChainFault::Unreachable("no heads".to_owned())));
        }
        self.answer(Heads { latest: self.latest(), safe: None, finalized: None })
    }
    fn block(&self, at: BlockAt) -> BoxFuture<'_, Result<Option<Block>, ChainFault>> {
        let before = self.before_block.lock().expect("not poisoned").take();
        Box::pin(async move {
            if let Some(before) = before {
                before.await;
            }
            let latest = self.latest();
            self.answer(match at {
                BlockAt::Number(number) if number > latest.number => None,
                BlockAt::Number(number) => {
                    Some(self.at(u8::try_from(number).expect("a low chain")))
                }
                _ => Some(latest),
            })
            .await
        })
    }
    fn logs<'a>(
        &'a self,
        hash: BlockHash,
        _: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        self.answer(self.logs_where(|log| log.block == hash))
    }
    fn logs_in<'a>(
        &'a self,
        from: u64,
        to: u64,
        _: &'a [Address],
    ) -> BoxFuture<'a, Result<Vec<ChainLog>, ChainFault>> {
        self.answer(self.logs_where(|log| (from..=to).contains(&log.block_number)))
    }
    fn agreed_block(
        &self,
        number: u64,
        hash: BlockHash,
    ) -> BoxFuture<'_, Result<Option<Block>, ChainFault>> {
        let there = self.at(u8::try_from(number).expect("a low chain"));
        self.answer(Some(Block { hash, ..there }))
    }
    fn intent_state(
        &self,
        _: Address,
        intent: Word,
    ) -> BoxFuture<'_, Result<IntentOnChain, ChainFault>> {
        let state = self.executed.lock().expect("not poisoned").get(&intent).copied();
        self.answer(state.unwrap_or(IntentOnChain::Unknown))
    }
    fn executing<'a>(
        &'a self,
        _: Address,
        about: Word,
        from: u64,
        to: u64,
    ) -> BoxFuture<'a, Result<Vec<TxHash>, ChainFault>> {
        let is_hidden = self.hides_executions.load(Ordering::SeqCst);
        let receipts = self.receipts.lock().expect("not poisoned");
        let is_in = |it: &&Receipt| (from..=to).contains(&it.block_number) && !is_hidden;
        let is_about =
            |it: &&Receipt| it.executed.iter().any(|log| [log.intent, log.about].contains(&about));
        self.answer(receipts.values().filter(is_in).filter(is_about).map(|it| it.tx).collect())
    }
    fn receipt<'a>(
        &'a self,
        tx: TxHash,
        _: &'a [Address],
    ) -> BoxFuture<'a, Result<Option<Receipt>, ChainFault>> {
        if self.refuses_receipts.load(Ordering::SeqCst) {
            return ready(Err(ChainFault::Unreachable("no receipts".to_owned())));
        }
        self.answer(self.receipts.lock().expect("not poisoned").get(&tx).cloned())
    }
    fn nonce(&self, _: Address) -> BoxFuture<'_, Result<u64, ChainFault>> {
        self.answer(0)
    }
    fn fees(&self) -> BoxFuture<'_, Result<Fees, ChainFault>> {
        self.fees_asked.fetch_add(1, Ordering::SeqCst);
        let max_fee = u128::from(self.max_fee.load(Ordering::SeqCst).max(2));
        self.answer(Fees { max_fee, max_priority_fee: 1 })
    }
    fn gas_balance(&self, _: Address) -> BoxFuture<'_, Result<u128, ChainFault>> {
        match self.gas.load(Ordering::SeqCst) {
            0 => self.answer(u128::MAX),
            wei => self.answer(wei.into()),
        }
    }
    fn data_fee(&self, _: usize) -> BoxFuture<'_, Result<u128, ChainFault>> {
        self.answer(self.data_fee.load(Ordering::SeqCst).into())
    }
    fn token_balance(&self, _: Address, _: Address) -> BoxFuture<'_, Result<u64, ChainFault>> {
        self.answer(self.balance.load(Ordering::SeqCst))
    }
    fn balance_after<'a>(
        &'a self,
        _: Address,
        _: Address,
        _: &'a Block,
    ) -> BoxFuture<'a, Result<Option<u64>, ChainFault>> {
        self.answer(Some(0))
    }
    fn is_blacklisted(
        &self,
        _: Address,
        account: Address,
    ) -> BoxFuture<'_, Result<bool, ChainFault>> {
        let listed = self.blacklisted.lock().expect("not poisoned").contains(&account);
        self.answer(listed)
    }
    fn decimals(&self, contract: Address) -> BoxFuture<'_, Result<Option<u64>, ChainFault>> {
        if self.decimals.load(Ordering::SeqCst) == u8::MAX {
            return ready(Err(ChainFault::Reverted { contract, text: "reverted".to_owned() }));
        }
        self.answer(match self.decimals.load(Ordering::SeqCst) {
            0 => None,
            decimals => Some(decimals.into()),
        })
    }
    fn is_paused(&self, _: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        self.answer(false)
    }
    fn is_operator(&self, _: Address, _: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        self.answer(true)
    }
    fn is_deployed(&self, _: Address) -> BoxFuture<'_, Result<bool, ChainFault>> {
        self.answer(self.deployed.load(Ordering::SeqCst))
    }
    fn simulate<'a>(
        &'a self,
        _: TenantId,
        _: Address,
        _: Address,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Simulated, ChainFault>> {
        let reverts = self.reverts.load(Ordering::SeqCst);
        let known = self.executed.lock().expect("not poisoned");
        let is_used = |it: &Movement| reverts || known.contains_key(&it.intent);
        if reverts && call.batch().is_empty() {
            return ready(Ok(Simulated::Reverts("reverted".to_owned())));
        }
        if call.batch().iter().any(is_used) {
            let each = call.batch().iter().map(|it| !is_used(it)).collect();
            return ready(Ok(Simulated::Works { gas: 1, each }));
        }
        ready(match self.works.load(Ordering::SeqCst) {
            true => Ok(Simulated::Works { gas: 1, each: Vec::new() }),
            false => Err(ChainFault::Unreachable("nothing is sent here".to_owned())),
        })
    }
    fn broadcast<'a>(&'a self, _: &'a [u8]) -> BoxFuture<'a, Broadcast> {
        self.broadcasts.fetch_add(1, Ordering::SeqCst);
        ready(Broadcast::Refused("nothing is sent here".to_owned()))
    }
}

/// Keys that sign nothing unless configured to; the compliance and blacklister keys are optional.
#[derive(Default)]
pub struct Keys {
    pub signs: AtomicBool,
    pub no_blacklister: AtomicBool,
    pub no_compliance: AtomicBool,
    pub no_operator: AtomicBool,
}

impl ChainSigner for Keys {
    fn address(&self, _: TenantId, role: KeyRole) -> Result<Address, SignFault> {
        let missing = match role {
            KeyRole::Blacklister => self.no_blacklister.load(Ordering::SeqCst),
            KeyRole::Compliance => self.no_compliance.load(Ordering::SeqCst),
            KeyRole::Operator => self.no_operator.load(Ordering::SeqCst),
            KeyRole::Approver => false,
        };
        if missing {
            return Err(SignFault::NoKey(role));
        }
        Ok(Address([0x51; 20]))
    }

    fn sign<'a>(&'a self, unsigned: &'a Unsigned) -> BoxFuture<'a, Result<Signed, SignFault>> {
        if self.signs.load(Ordering::SeqCst) {
            let nonce = unsigned.nonce.to_be_bytes();
            let mut hash = [0x7a; 32];
            hash[..8].copy_from_slice(&nonce);
            return ready(Ok(Signed { hash: TxHash(hash), raw: nonce.to_vec() }));
        }
        ready(Err(SignFault::Failed("nothing is signed here".to_owned())))
    }
}

/// The same controller for all tenants, unless it is missing in the configuration.
#[derive(Default)]
pub struct OneController {
    pub is_missing: AtomicBool,
}

pub const CONTROLLER: Address = Address([0xc0; 20]);

impl Contracts for OneController {
    fn controller(&self, _: TenantId) -> Result<Controller, SignFault> {
        if self.is_missing.load(Ordering::SeqCst) {
            return Err(SignFault::Failed("no controller is configured".to_owned()));
        }
        Ok(Controller { address: CONTROLLER, implementation: Address([0xc1; 20]), version: 1 })
    }
}

/// Lists with one listed name, one similar name and one address; outdated on request.
#[derive(Default)]
pub struct Lists {
    pub stale: AtomicBool,
    /// A later result for the similar name.
    pub later: Mutex<Option<(u8, &'static str)>>,
}

pub const LISTED: Address = Address([0x66; 20]);
/// An address that may be a listed one: a case for review.
pub const NEAR: Address = Address([0x9e; 20]);

impl Lists {
    fn found(&self, score: u8) -> Screened {
        let evidence = (score > 0).then(|| "TEST 1 EVIL, Edgar".to_owned());
        Screened {
            score,
            evidence,
            list_version: "lists-1".to_owned(),
            stale: self.stale.load(Ordering::SeqCst),
        }
    }
}

impl NameScreen for Lists {
    fn screen(&self, parties: &[Party<'_>], _: Timestamp) -> Screened {
        let later = *self.later.lock().expect("not poisoned");
        if let Some((score, evidence)) = later
            && parties.iter().any(|party| party.name == "Edgar Evin")
        {
            return Screened { evidence: Some(evidence.to_owned()), ..self.found(score) };
        }
        let score = parties.iter().map(|party| match party.name {
            "Edgar Evil" => 100,
            "Edgar Evin" => 90,
            _ => 0,
        });
        self.found(score.max().unwrap_or(0))
    }

    fn is_current(&self, _: &str, _: Timestamp) -> bool {
        true
    }
}

impl AddressScreen for Lists {
    fn screen(&self, address: &Address, _: Timestamp) -> Screened {
        self.found(match *address {
            LISTED => 100,
            NEAR => 90,
            _ => 0,
        })
    }
}

/// An endpoint that records messages and returns the configured answers, repeating the last one.
#[derive(Default)]
pub struct Bank {
    pub got: Mutex<Vec<Message>>,
    pub answers: Mutex<Vec<DeliveryAnswer>>,
    /// What happens once, while a message is on its way.
    pub before_answer: Mutex<Option<BoxFuture<'static, ()>>>,
}

pub fn answer(result: DeliveryResult) -> DeliveryAnswer {
    let status = match result {
        DeliveryResult::Received => 200,
        DeliveryResult::NotReceived(_) => 503,
        DeliveryResult::Gone => 410,
    };
    DeliveryAnswer {
        result,
        status: Some(status),
        body: "{}".to_owned(),
        retry_after: None,
        took: Span::millis(1),
    }
}

impl Bank {
    /// Returns these answers once each, then the last one as before.
    pub fn say(&self, results: &[DeliveryResult]) {
        let mut answers = self.answers.lock().expect("not poisoned");
        answers.extend(results.iter().rev().cloned().map(answer));
    }

    pub fn got(&self) -> Vec<Message> {
        self.got.lock().expect("not poisoned").clone()
    }

    /// The kinds of received events, in order.
    pub fn kinds(&self) -> Vec<String> {
        let segment =
            |message: &Message| message.path.rsplit('/').next().unwrap_or_default().to_owned();
        self.got().iter().map(segment).collect()
    }
}

impl Receiver for Bank {
    fn deliver<'a>(
        &'a self,
        _: &'a Endpoint,
        message: &'a Message,
    ) -> BoxFuture<'a, DeliveryAnswer> {
        self.got.lock().expect("not poisoned").push(message.clone());
        let said = self.answers.lock().expect("not poisoned").pop();
        let before = self.before_answer.lock().expect("not poisoned").take();
        Box::pin(async move {
            if let Some(before) = before {
                before.await;
            }
            said.unwrap_or_else(|| answer(DeliveryResult::Received))
        })
    }
}

/// One coin is a dollar and 278.75 rupees; there are no other rates.
pub struct Rates {
    pub clock: Arc<HandClock>,
    /// Their age in microseconds.
    pub age: AtomicI64,
    /// Whether their source rests: their age does not count then.
    pub rests: AtomicBool,
}

impl Rates {
    pub fn new(clock: Arc<HandClock>) -> Rates {
        Rates { clock, age: AtomicI64::default(), rests: AtomicBool::default() }
    }
}

impl RateBook for Rates {
    fn mid(&self, base: Currency, quote: Currency) -> Option<Mid> {
        let rate = match (base, quote) {
            (Currency::Usdc | Currency::Usdt, Currency::Usd) => "1",
            (Currency::Usdc | Currency::Usdt, Currency::Pkr) => "278.75",
            _ => return None,
        };
        let as_of = self.clock.now() - Span(self.age.load(Ordering::SeqCst));
        Some(Mid { rate: rate.parse().expect("a number"), as_of })
    }

    fn bid(&self, base: Currency, quote: Currency, terms: &RateTerms) -> Option<Bid> {
        let Mid { rate, as_of } = self.mid(base, quote)?;
        let is_weekend = self.rests.load(Ordering::SeqCst);
        if is_weekend {
            terms.weekend_margin_bps?;
        }
        let is_usable = is_weekend || terms.now - as_of <= terms.max_age;
        is_usable.then_some(Bid { rate, as_of, is_weekend })
    }

    fn origins(&self) -> Vec<String> {
        vec!["fixed".to_owned()]
    }
}
