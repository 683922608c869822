//! A sample wallet and its history for tests: the values of the examples in the OpenAPI document.

use domain::chain::{Address, BlockHash, ChainNumber, TxHash, Word};
use domain::chain_tx::BlockRef;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::deposit::{Deposit, DepositBucket, DepositState};
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState, Fate};
use domain::ids::{DepositId, ExchangeId, PaymentRequestId, TenantId, TransferId, WalletId};
use domain::money::Money;
use domain::payment_request::{Asked, PaymentRequest, Received, RequestState, SenderDetails};
use domain::time::{Span, Timestamp};
use domain::wallet::{KycLevel, Wallet, WalletState};
use uuid::Uuid;

/// The instant of samples, 2026-11-21T06:57:48.123Z.
pub(crate) const T0: Timestamp = Timestamp(1_795_244_268_123_000);
pub(crate) const TENANT: TenantId = TenantId(Uuid::from_u128(7));

fn uuid(text: &str) -> Uuid {
    Uuid::try_parse(text).expect("a UUID")
}

fn address(text: &str) -> Address {
    Address::parse(text).expect("an address")
}

/// The wallet's own address, which no page may reveal.
pub(crate) fn wallet_address() -> Address {
    address("0x8ba1f109551bD432803012645Ac136ddd64DBA72")
}

pub(crate) fn wallet() -> Wallet {
    Wallet {
        id: WalletId(uuid("5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11")),
        tenant: TENANT,
        customer_id: "CUST-000117".to_owned(),
        email: "asha@example.com".to_owned(),
        phone: "+923001234567".to_owned(),
        blockchain: "ethereum".to_owned(),
        chain: ChainNumber::FIRST,
        address: wallet_address(),
        controller: address("0x00000000000000000000000000000000000000c0"),
        implementation: address("0x00000000000000000000000000000000000000c1"),
        code_version: 1,
        kyc_level: KycLevel::Enhanced,
        state: WalletState::Active,
        created_at: T0,
        last_activity_at: T0 + Span::mins(5),
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

pub(crate) fn request() -> PaymentRequest {
    PaymentRequest {
        id: PaymentRequestId(uuid("9a4b2f6d-51c3-4a58-8a8e-6f0f2f9f0a21")),
        tenant: TENANT,
        chain: ChainNumber::FIRST,
        wallet: wallet().id,
        token: "kR3vZ0c9SxG2mT5u8wYb1Q".to_owned(),
        escrow: address("0xF0109fC8DF283027b6285cc889F5aA624EaC1F55"),
        reference: Word([7; 32]),
        asked: Asked::Crypto { coin: StableCoin::Usdc, minor: 25_500_000 },
        purpose: Some("Rent".to_owned()),
        recipient_name: Some("Nila Sarkar".to_owned()),
        created_at: T0,
        expires_at: T0 + Span::hours(24),
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
        submissions: 0,
        confirming: 0,
        events: 0,
        version: 1,
    }
}

pub(crate) fn sender() -> SenderDetails {
    SenderDetails {
        first_name: Some("Bilal".to_owned()),
        last_name: Some("Ahmed".to_owned()),
        email: Some("bilal@example.com".to_owned()),
        phone_number: Some("+971501234567".to_owned()),
        custodial_provider: Some("Binance".to_owned()),
    }
}

pub(crate) fn deposit(state: DepositState) -> Deposit {
    Deposit {
        id: DepositId(uuid("b7f6c8a0-2e4d-4c43-8f5e-0d8f1e2a3b31")),
        tenant: TENANT,
        chain: ChainNumber::FIRST,
        wallet: wallet().id,
        request: Some(request().id),
        submission: None,
        coin: StableCoin::Usdc,
        minor: 25_500_000,
        from: address("0x28C6c06298d514Db089934071355E5743bf21d60"),
        to: request().escrow,
        tx: TxHash([0xab; 32]),
        ordinal: 0,
        place: Some(BlockRef { number: 100, block: BlockHash([1; 32]) }),
        lost_at: None,
        paid_at: T0 + Span::mins(2),
        seen_at: T0 + Span::mins(2),
        sender: sender(),
        state,
        state_at: T0 + Span::mins(3),
        back_to: None,
        pot: DepositBucket::Escrow,
        hold: None,
        credited_at: Some(T0 + Span::mins(2)),
        disputed: false,
        concern: None,
        assessment: None,
        decision: None,
        is_dust: false,
        spoiled: false,
        riders: Vec::new(),
        release: None,
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

pub(crate) fn order(state: ExchangeState) -> ExchangeOrder {
    ExchangeOrder {
        id: ExchangeId(uuid("c2a7d9e4-7b0f-4f0b-9c55-1b2c3d4e5f41")),
        tenant: TENANT,
        chain: ChainNumber::FIRST,
        wallet: wallet().id,
        coin: StableCoin::Usdc,
        minor: 100_000_000,
        rate: Decimal::new(27_875, 2),
        quoted_rate: Decimal::new(27_875, 2),
        spread: Decimal::new(5, 3),
        payout: Money::new(2_773_562, Currency::Pkr),
        country: Country::Pak,
        priced_at: None,
        locked_until: Some(T0 + Span::mins(15)),
        bank: BankAccount {
            iban: Some("PK36SCBL0000001123456702".to_owned()),
            account_number: None,
            bank_code: None,
            holder: "Asha Khan".to_owned(),
            bic: Some("SCBLPKKX".to_owned()),
            bank_name: Some("Standard Chartered Bank (Pakistan)".to_owned()),
        },
        fate: Fate::Open,
        screened: None,
        state,
        state_at: T0,
        created_at: T0,
        times_out_at: T0 + Span::mins(15),
        estimated_settlement: T0 + Span::mins(10),
        hold: TransferId(Uuid::nil()),
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
