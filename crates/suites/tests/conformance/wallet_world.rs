//! Wallets and related records, as cases store them.

use domain::chain::vault::{self, VaultKind};
use domain::chain::{Address, BlockHash, ChainNumber, Fees, KeyRole, Movement, Plan, TxHash, Word};
use domain::chain_tx::{BlockRef, ChainTx, Intent, IntentState, TxAttempt, TxState};
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::decision::IdSource;
use domain::deposit::{Deposit, DepositBucket, DepositState, Refund};
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState, Fate};
use domain::ids::{
    ChainTxId, ExchangeId, IntentId, PaymentRequestId, SenderInfoId, TenantId, TransferId, WalletId,
};
use domain::ledger::{AccountCode, Transfer, TransferKind};
use domain::money::Money;
use domain::payment_request::{
    Asked, PaymentRequest, Received, RequestState, SenderDetails, SenderInfo,
};
use domain::screening::Screened;
use domain::time::{Span, Timestamp};
use domain::wallet::{KycLevel, Wallet, WalletState};
use domain::wallet_event::{About, Aggregate, FailureReason, NewWalletEvent, WalletEvent};
use store::need::{Customer, Need};
use store::working_set::WorkingSet;
use uuid::Uuid;

use crate::world::{World, tenant_need};

/// A coin in minor units.
pub const COIN: i64 = 1_000_000;

/// Unique bytes for this number.
pub fn word(number: u64) -> [u8; 32] {
    vault::hash(&[&number.to_be_bytes()]).0
}

pub fn place(number: u64) -> BlockRef {
    BlockRef { number, block: BlockHash(word(number)) }
}

pub fn customer(name: &str) -> Customer {
    Customer { customer_id: name.to_owned(), chain: ChainNumber::FIRST }
}

/// A newly provisioned wallet.
pub fn wallet(
    tenant: TenantId,
    customer_id: &str,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Wallet {
    let id = WalletId(ids.next());
    let (controller, implementation) = (Address([1; 20]), Address([2; 20]));
    let reference = vault::reference(VaultKind::Wallet, tenant, id.0);
    Wallet {
        id,
        tenant,
        customer_id: customer_id.to_owned(),
        email: "sana.samplekhan@example.com".to_owned(),
        phone: "+923001234567".to_owned(),
        blockchain: "ethereum".to_owned(),
        chain: ChainNumber::FIRST,
        address: vault::address(&controller, &implementation, &controller, &reference),
        controller,
        implementation,
        code_version: 3,
        kyc_level: KycLevel::Basic,
        state: WalletState::Active,
        created_at: now,
        last_activity_at: now,
        unblocked_at: None,
        unblock_reason: None,
        block: None,
        blacklisting: None,
        superseded: None,
        chain_blacklisted: false,
        frozen_on_chain: false,
        freeze: None,
        follow_up: false,
        events: 0,
        version: 1,
    }
}

/// A request for any amount.
pub fn request(wallet: &Wallet, now: Timestamp, ids: &mut dyn IdSource) -> PaymentRequest {
    let id = PaymentRequestId(ids.next());
    let reference = vault::reference(VaultKind::Escrow, wallet.tenant, id.0);
    PaymentRequest {
        id,
        tenant: wallet.tenant,
        chain: ChainNumber::FIRST,
        wallet: wallet.id,
        token: format!("pay-{}", id.0.simple()),
        escrow: vault::address(
            &wallet.controller,
            &wallet.implementation,
            &wallet.address,
            &reference,
        ),
        reference,
        submissions: 0,
        asked: Asked::Flexible,
        purpose: None,
        recipient_name: None,
        created_at: now,
        expires_at: now + Span::hours(24),
        state: RequestState::Active,
        received: Received::default(),
        paid_at: None,
        cancelled_at: None,
        late: false,
        wrong_asset: false,
        other_taken: None,
        too_late: Received::default(),
        refused: Received::default(),
        held_at: None,
        lift: None,
        submission_holds: Vec::new(),
        confirming: 0,
        events: 0,
        version: 1,
    }
}

/// The submission with this number; 0 = from before submissions had escrows.
pub fn sender(
    request: &PaymentRequest,
    (number, first_name): (u32, &str),
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> SenderInfo {
    let number = Some(number).filter(|number| *number > 0);
    let escrow = |number: u32| {
        let word = vault::submission_reference(request.tenant, request.id.0, number);
        Address(std::array::from_fn(|at| word.0[at]))
    };
    SenderInfo {
        id: SenderInfoId(ids.next()),
        tenant: request.tenant,
        request: request.id,
        number,
        escrow: number.map(escrow),
        details: SenderDetails {
            first_name: Some(first_name.to_owned()),
            ..SenderDetails::default()
        },
        at: now,
    }
}

/// A refund that was paid to this address.
pub fn refund(to: Address) -> Refund {
    let screened =
        |score, stale| Screened { score, evidence: None, list_version: format!("v{score}"), stale };
    Refund {
        to,
        proposed_by: "amal".to_owned(),
        screened: screened(3, true),
        propose: IntentId(Uuid::from_u128(3)),
        proposed: true,
        approved_by: Some("bilal".to_owned()),
        screened_again: Some(screened(4, false)),
        execute: Some(IntentId(Uuid::from_u128(4))),
        tx: Some(TxHash(word(6))),
    }
}

/// A deposit that was just seen; `number` determines its transaction and height.
pub fn deposit(
    wallet: &Wallet,
    request: Option<&PaymentRequest>,
    number: u64,
    now: Timestamp,
) -> Deposit {
    let tx = TxHash(word(number));
    Deposit {
        id: Deposit::id_of(1, tx, 0),
        tenant: wallet.tenant,
        chain: ChainNumber::FIRST,
        wallet: wallet.id,
        request: request.map(|request| request.id),
        submission: None,
        coin: StableCoin::Usdc,
        minor: 25 * COIN,
        from: Address([9; 20]),
        to: request.map_or(wallet.address, |request| request.escrow),
        tx,
        ordinal: 0,
        place: Some(place(number)),
        lost_at: None,
        paid_at: now,
        seen_at: now,
        sender: SenderDetails::default(),
        state: DepositState::Seen,
        state_at: now,
        back_to: None,
        pot: DepositBucket::Nowhere,
        hold: None,
        credited_at: None,
        disputed: false,
        concern: None,
        assessment: None,
        decision: None,
        is_dust: false,
        spoiled: false,
        release: None,
        riders: Vec::new(),
        release_tx: None,
        is_deducted: false,
        release_fee: Some(0),
        completed_at: None,
        failure: None,
        refund: None,
        legal_hold: None,
        version: 1,
    }
}

pub fn exchange(wallet: &Wallet, now: Timestamp, ids: &mut dyn IdSource) -> ExchangeOrder {
    ExchangeOrder {
        id: ExchangeId(ids.next()),
        tenant: wallet.tenant,
        chain: ChainNumber::FIRST,
        wallet: wallet.id,
        coin: StableCoin::Usdt,
        minor: 10 * COIN,
        rate: Decimal::new(27_875, 2),
        quoted_rate: Decimal::new(27_875, 2),
        spread: Decimal::new(5, 3),
        payout: Money::new(277_356, Currency::Pkr),
        country: Country::Pak,
        priced_at: None,
        locked_until: None,
        bank: BankAccount {
            iban: Some("PK36SCBL0000001123456702".to_owned()),
            account_number: None,
            bank_code: None,
            holder: "Sana Samplekhan".to_owned(),
            bic: None,
            bank_name: None,
        },
        fate: Fate::Open,
        screened: None,
        state: ExchangeState::Pending,
        state_at: now,
        created_at: now,
        times_out_at: now + Span::hours(24),
        estimated_settlement: now + Span::mins(5),
        hold: TransferId(ids.next()),
        debit: None,
        debit_tx: None,
        debit_fee: Some(0),
        give_back: None,
        return_fee: Some(0),
        attempt: None,
        unclear_since: None,
        unclear_beyond_window: false,
        failure: None,
        settlement_reference: None,
        settled_at: None,
        came_back: false,
        recredit: None,
        events: 0,
        version: 1,
    }
}

pub fn movement(number: u64) -> Movement {
    Movement {
        intent: Word(word(number)),
        reference: Word(word(number + 1)),
        recipient: Address([3; 20]),
        token: Address([4; 20]),
        amount: 25_000_000,
    }
}

/// The waiting release of a deposit.
pub fn release(deposit: &Deposit, now: Timestamp, ids: &mut dyn IdSource) -> Intent {
    Intent {
        id: IntentId(ids.next()),
        tenant: deposit.tenant,
        chain: ChainNumber::FIRST,
        subject: deposit.id.0,
        wallet: Some(deposit.wallet),
        request: deposit.request,
        coin: Some(deposit.coin),
        plan: Plan::Release(movement(7)),
        riders: Vec::new(),
        unchecked: false,
        state: IntentState::Waiting,
        tx: None,
        created_at: now,
        state_at: now,
        tries: 0,
        failure: None,
        short_since: None,
        version: 1,
    }
}

pub const SIGNER: Address = Address([7; 20]);

/// A transaction with an assigned nonce.
pub fn chain_tx(tenant: TenantId, nonce: u64, now: Timestamp, ids: &mut dyn IdSource) -> ChainTx {
    ChainTx {
        id: ChainTxId(ids.next()),
        tenant,
        chain: ChainNumber::FIRST,
        role: KeyRole::Operator,
        signer: SIGNER,
        controller: Address([1; 20]),
        nonce,
        intents: Vec::new(),
        gas_limit: 300_000,
        fees: fees(),
        state: TxState::Taken,
        cancel_wanted: false,
        attempts: Vec::new(),
        mined: None,
        paged: false,
        settled: None,
        created_at: now,
        state_at: now,
        version: 1,
    }
}

/// More wei than 64 bits hold.
pub fn fees() -> Fees {
    Fees { max_fee: 30_000_000_000_000_000_000_000, max_priority_fee: 1_500_000_000 }
}

pub fn attempt(number: i32, unique: u64, now: Timestamp) -> TxAttempt {
    let raw = word(unique)[..9].to_vec();
    TxAttempt {
        number,
        cancels: number > 1,
        hash: TxHash(word(unique)),
        raw,
        fees: fees(),
        at: now,
    }
}

pub fn about(request: &PaymentRequest) -> About {
    About {
        request: Some(request.id),
        wallet: request.wallet,
        customer: "C-1".to_owned(),
        deposit: None,
    }
}

/// The request's event with this number.
pub fn failed(request: &PaymentRequest, version: i64, now: Timestamp) -> NewWalletEvent {
    let message = format!("number {version}");
    let reason = FailureReason::TransactionDropped;
    NewWalletEvent {
        aggregate: Aggregate::Request(request.id),
        version,
        event: WalletEvent::TransactionFailed { about: about(request), reason, message, at: now },
    }
}

/// An external credit to a vault's account.
pub fn credit(
    tenant: TenantId,
    code: AccountCode,
    minor: i64,
    reason: &'static str,
    at: Timestamp,
    ids: &mut dyn IdSource,
) -> Transfer {
    let id = TransferId(ids.next());
    let coin = if code.currency() == Currency::Usdt { StableCoin::Usdt } else { StableCoin::Usdc };
    Transfer {
        id,
        tenant,
        debit: AccountCode::External(coin),
        amount: Money::new(minor, code.currency()),
        credit: code,
        kind: TransferKind::Posted,
        pending: None,
        set: id,
        reason,
        subject: None,
        at,
    }
}

/// The need of a batch about a wallet and its related records.
pub fn wallet_need(wallet: &Wallet) -> Need {
    let mut need = tenant_need(wallet.tenant);
    need.wallets.insert((wallet.tenant, wallet.id));
    need
}

impl World {
    /// Runs one batch of the tenant that stores records; returns its result.
    pub async fn put<T: Send>(
        &self,
        tenant: TenantId,
        mut make: impl FnMut(&mut WorkingSet, &mut dyn IdSource) -> T + Send,
    ) -> T {
        let mut made = None;
        self.execute(&tenant_need(tenant), |ws, ids| {
            made = Some(make(ws, ids));
            ws.keep();
        })
        .await
        .expect("saved");
        made.expect("made")
    }

    pub async fn wallet(&self, tenant: TenantId, customer_id: &str) -> Wallet {
        self.put(tenant, |ws, ids| {
            let made = wallet(tenant, customer_id, ws.now, ids);
            ws.customers.put((tenant, customer(customer_id)), made.id);
            ws.wallets.put((tenant, made.id), made.clone());
            made
        })
        .await
    }

    pub async fn request(&self, wallet: &Wallet) -> PaymentRequest {
        self.put(wallet.tenant, |ws, ids| {
            let made = request(wallet, ws.now, ids);
            ws.requests.put((wallet.tenant, made.id), made.clone());
            made
        })
        .await
    }

    /// Stores a deposit after applying a change.
    pub async fn deposit(
        &self,
        wallet: &Wallet,
        request: Option<&PaymentRequest>,
        number: u64,
        change: impl Fn(&mut Deposit) + Sync,
    ) -> Deposit {
        self.put(wallet.tenant, |ws, _| {
            let mut made = deposit(wallet, request, number, ws.now);
            change(&mut made);
            ws.deposits.put((wallet.tenant, made.id), made.clone());
            made
        })
        .await
    }

    /// Stores an order after applying a change.
    pub async fn exchange(
        &self,
        wallet: &Wallet,
        change: impl Fn(&mut ExchangeOrder) + Sync,
    ) -> ExchangeOrder {
        self.put(wallet.tenant, |ws, ids| {
            let mut made = exchange(wallet, ws.now, ids);
            change(&mut made);
            ws.exchanges.put((wallet.tenant, made.id), made.clone());
            made
        })
        .await
    }
}
