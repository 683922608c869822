//! Rules of incoming transactions, one test per rule.

use uuid::Uuid;

use super::arrive::Found;
use super::*;
use crate::chain::{Address, BlockHash, ChainConfig, ChainNumber, Depth, Token, TxHash};
use crate::chain_tx::{BlockRef, IntentState};
use crate::decision::Cx;
use crate::ids::{PaymentRequestId, WalletId};
use crate::ledger::AccountCode;
use crate::payment_request::{Asked, NewRequest, create};
use crate::risk::{Assessment, Check, Hold, ReasonCode, RiskResult};
use crate::test_values::{Books, Ids, TENANT, monday, new_wallet};
use crate::time::{Span, Timestamp};
use crate::wallet::{
    BlockOrder, BlockReason, KycLevel, TriggeredBy, Wallet, WalletState, provision,
};
use crate::wallet_effects::{Alert, WalletEffects};
use crate::wallet_event::{WalletEvent, WalletEventKind};

mod chain;
mod dust;
mod escrows;
mod hold;
mod judge;
mod matrix;
mod refund;
mod walk;

pub const WALLET: WalletId = WalletId(Uuid::from_u128(0xc1));
pub const REQUEST: PaymentRequestId = PaymentRequestId(Uuid::from_u128(0xc2));
/// 25 USDC in minor units (10^-6).
pub const MINOR: i64 = 25_000_000;
pub const PAYER: Address = Address([9; 20]);

pub fn config() -> ChainConfig {
    let token = |coin, byte| Token { coin, address: Address([byte; 20]) };
    ChainConfig {
        number: ChainNumber::FIRST,
        name: "ethereum".to_owned(),
        chain_id: 31_337,
        tokens: vec![token(StableCoin::Usdc, 0xaa), token(StableCoin::Usdt, 0xbb)],
        small_below: 1_000_000_000,
        small_depth: Depth::Blocks(12),
        medium_below: 100_000_000_000,
        medium_depth: Depth::Safe,
        large_depth: Depth::Finalized,
        settled_depth: Depth::Blocks(12),
        explorer_tx_url: String::new(),
        batch_max: 20,
        replace_after_s: 30,
        max_fee_cap: 1_000_000_000_000,
        max_tip_cap: 1_000_000_000_000,
        min_tip: 1,
        gas_coin: "ETH".to_owned(),
        sponsor: None,
        block_age_max: None,
        sweep: crate::chain::SweepTerms { at_minor: i64::MAX, every: crate::time::Span::days(1) },
        release_min: crate::chain::ReleaseMin::Fixed(0),
    }
}

pub fn wallet() -> Wallet {
    provision(new_wallet(WALLET), KycLevel::Basic, None, monday()).expect("a wallet").0
}

pub fn block_wallet(wallet: &mut Wallet) {
    let order = BlockOrder {
        reason: BlockReason::SuspiciousActivity,
        details: "odd".to_owned(),
        auto_unblock_hours: None,
        triggered_by: TriggeredBy::Manual,
    };
    wallet.block(order, monday()).expect("not blocked yet");
}

/// A deposit under test, the books of its transfers, and all events that it emitted.
pub struct World {
    pub case: Case,
    pub books: Books,
    pub told: Vec<WalletEvent>,
    pub alerts: usize,
    /// Open alerts.
    pub open: Vec<Alert>,
    pub ids: Ids,
    pub now: Timestamp,
    config: ChainConfig,
    sandbox: bool,
    pub release_min: i64,
}

pub fn place(number: u64) -> BlockRef {
    BlockRef { number, block: BlockHash([u8::try_from(number % 251).expect("small"); 32]) }
}

impl World {
    /// A payment for a request of 25 USDC; nothing has been seen yet.
    pub fn for_request() -> World {
        World::asked(Asked::Crypto { coin: StableCoin::Usdc, minor: MINOR })
    }

    pub fn asked(asked: Asked) -> World {
        let new = NewRequest {
            id: REQUEST,
            token: "t".to_owned(),
            asked,
            purpose: None,
            recipient_name: None,
            expires_in_hours: 24,
        };
        let request = create(new, &wallet(), monday()).expect("a request").0;
        let vault = Watched {
            address: request.escrow,
            tenant: TENANT,
            chain: ChainNumber::FIRST,
            wallet: WALLET,
            request: Some(REQUEST),
            submission: None,
        };
        World::new(vault, Some(request))
    }

    /// A payment directly to the wallet's address.
    pub fn direct() -> World {
        World::new(
            Watched {
                address: wallet().address,
                tenant: TENANT,
                chain: ChainNumber::FIRST,
                wallet: WALLET,
                request: None,
                submission: None,
            },
            None,
        )
    }

    fn new(vault: Watched, request: Option<crate::payment_request::PaymentRequest>) -> World {
        let found = Found {
            chain_id: 31_337,
            vault,
            coin: StableCoin::Usdc,
            minor: MINOR,
            from: PAYER,
            tx: TxHash([7; 32]),
            ordinal: 0,
            place: place(100),
            paid_at: monday(),
        };
        let deposit = found.deposit(SenderDetails::default(), monday());
        World {
            case: Case {
                deposit,
                wallet: wallet(),
                request,
                intents: Vec::new(),
                riders: Vec::new(),
            },
            books: Books::empty(),
            told: Vec::new(),
            alerts: 0,
            open: Vec::new(),
            ids: Ids::new(),
            now: monday(),
            config: config(),
            sandbox: false,
            release_min: 0,
        }
    }

    pub fn in_sandbox(mut self) -> World {
        self.sandbox = true;
        self
    }

    /// Runs an act; books and keeps its effects.
    pub fn run<T>(
        &mut self,
        act: impl FnOnce(&mut Case, Terms<'_>, &mut Cx<'_>) -> (WalletEffects, T),
    ) -> T {
        let (accept_late, release_min) = (Some(Span::days(7)), self.release_min);
        let terms = Terms { chain: &self.config, accept_late, release_min, sandbox: self.sandbox };
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        let (effects, value) = act(&mut self.case, terms, &mut cx);
        self.books.book(&effects.transfers).expect("the ledger accepts it");
        self.told.extend(effects.events.into_iter().map(|new| new.event));
        self.alerts += effects.alerts.len();
        let ends = |ended: &Alert, it: &Alert| {
            (ended.kind, ended.subject) == (it.kind, it.subject) && it.what.starts_with(&ended.what)
        };
        self.open.retain(|it| {
            !effects.closed.contains(it) && !effects.ended.iter().any(|ended| ends(ended, it))
        });
        self.open.extend(effects.alerts);
        value
    }

    pub fn does(&mut self, act: impl FnOnce(&mut Case, Terms<'_>, &mut Cx<'_>) -> WalletEffects) {
        self.run(|case, terms, cx| (act(case, terms, cx), ()));
    }

    pub fn tries(
        &mut self,
        act: impl FnOnce(&mut Case, Terms<'_>, &mut Cx<'_>) -> Result<WalletEffects, DepositRefusal>,
    ) -> Result<(), DepositRefusal> {
        self.run(|case, terms, cx| match act(case, terms, cx) {
            Ok(effects) => (effects, Ok(())),
            Err(refusal) => (WalletEffects::default(), Err(refusal)),
        })
    }

    pub fn seen_in(&mut self, number: u64) {
        self.does(|case, _, cx| case.included(place(number), monday(), cx));
    }

    pub fn counted(&mut self) {
        self.does(|case, terms, cx| case.counted(12, terms, cx));
    }

    pub fn lost_from(&mut self, number: u64) {
        let spendable =
            self.books.account(&self.case.deposit.account(DepositBucket::Wallet)).available();
        self.does(|case, _, cx| case.lost(place(number), number + 20, spendable, cx));
    }

    pub fn screened(&mut self, result: RiskResult, hold: Option<Hold>) {
        self.tries(|case, terms, cx| case.screened(assessment(result, hold), terms, cx))
            .expect("is being screened");
    }

    /// Arrived, deep enough and screened clean: its release is in progress.
    pub fn approved(&mut self) {
        self.seen_in(100);
        self.counted();
        self.screened(RiskResult::Approved, None);
    }

    /// The release was sent and took effect.
    pub fn released(&mut self) {
        let release = self.case.deposit.release;
        let now = self.now;
        let intent = self.case.intent(release).expect("a release");
        (intent.state, intent.tx) = (IntentState::Assigned, None);
        assert!(intent.done(now), "it was in progress");
        self.does(|case, _, cx| case.released(TxHash([8; 32]), 0, cx));
    }

    pub fn state(&self) -> DepositState {
        self.case.deposit.state
    }

    pub fn kinds(&self) -> Vec<WalletEventKind> {
        self.told.iter().map(WalletEvent::kind).collect()
    }

    pub fn holds(&self, pot: DepositBucket) -> i64 {
        self.books.account(&self.case.deposit.account(pot)).balance().minor
    }
}

pub fn assessment(result: RiskResult, hold: Option<Hold>) -> Assessment {
    Assessment {
        result,
        score: 10,
        checks: Check::ALL.to_vec(),
        reason: ReasonCode::ChecksPassed,
        hold,
        list_version: "1".to_owned(),
        policy_version: "1".to_owned(),
        evidence: Vec::new(),
        decided_by: None,
        at: monday(),
    }
}

fn failures(told: &[WalletEvent]) -> Vec<&'static str> {
    let reason = |event: &WalletEvent| match event {
        WalletEvent::TransactionFailed { reason, .. } => Some(reason.name()),
        _ => None,
    };
    told.iter().filter_map(reason).collect()
}

fn external() -> AccountCode {
    AccountCode::External(StableCoin::Usdc)
}

fn set_wallet(world: &mut World, state: WalletState) {
    world.case.wallet.state = state;
}
