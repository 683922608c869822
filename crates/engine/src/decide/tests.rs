//! Reviewers' decisions apply to the state that they reviewed, and to no other.

use std::collections::{BTreeMap, BTreeSet};

use domain::attempt::{Attempt, AttemptState, UnresolvedAttempt};
use domain::bank::BankDirectory;
use domain::chain::{Address, ChainNumber};
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::decision::IdSource;
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState, Fate};
use domain::ids::{AttemptId, ExchangeId, PaymentId, TenantId, TransferId, WalletId};
use domain::money::Money;
use domain::policy::Corridors;
use domain::ports::Controller;
use domain::rail::{RailId, RailStatus};
use domain::time::{Span, Timestamp};
use domain::wallet::{
    BlockOrder, BlockReason, KycLevel, Provision, TriggeredBy, Wallet, WalletState, provision,
};
use store::working_set::WorkingSet;
use uuid::Uuid;

mod asked;
pub(crate) mod headroom;
mod recalled;
mod reported;
mod restored;
mod returned;
mod shortfall;

use super::{Rules, decide};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::wallets::WalletAction;
use crate::command::{Action, Command, Outcome, Refused};

const TENANT: TenantId = TenantId(Uuid::from_u128(1));
const NOW: Timestamp = Timestamp(1_795_000_000_000_000);

struct Ids(u128);

impl IdSource for Ids {
    fn next(&mut self) -> Uuid {
        self.0 += 1;
        Uuid::from_u128(self.0)
    }
}

fn wallet() -> Wallet {
    let asked = Provision {
        id: WalletId(Uuid::from_u128(2)),
        tenant: TENANT,
        customer_id: "C-1".to_owned(),
        email: "asha@example.com".to_owned(),
        phone: "+923001234567".to_owned(),
        blockchain: "ethereum".to_owned(),
        chain: ChainNumber::FIRST,
        kyc_level: None,
        controller: Controller {
            address: Address([1; 20]),
            implementation: Address([2; 20]),
            version: 1,
        },
        deployed: true,
    };
    provision(asked, KycLevel::Basic, None, NOW).expect("may be").0
}

fn order(wallet: &Wallet) -> ExchangeOrder {
    let rate = Decimal::new(27_875, 2);
    ExchangeOrder {
        id: ExchangeId(Uuid::from_u128(3)),
        tenant: TENANT,
        wallet: wallet.id,
        chain: wallet.chain,
        coin: StableCoin::Usdc,
        minor: 1_000_000,
        rate,
        quoted_rate: rate,
        spread: Decimal::new(5, 3),
        payout: Money::new(27_735, Currency::Pkr),
        country: Country::Pak,
        priced_at: Some(NOW),
        locked_until: None,
        bank: BankAccount {
            iban: None,
            account_number: Some("1123456702".to_owned()),
            bank_code: Some("SCBL".to_owned()),
            holder: "Asha".to_owned(),
            bic: None,
            bank_name: None,
        },
        fate: Fate::Open,
        screened: None,
        state: ExchangeState::Paying,
        state_at: NOW,
        created_at: NOW,
        times_out_at: NOW + Span::hours(24),
        estimated_settlement: NOW,
        hold: TransferId(Uuid::from_u128(4)),
        debit: None,
        debit_tx: None,
        debit_fee: Some(0),
        give_back: None,
        return_fee: Some(0),
        attempt: Some(AttemptId(Uuid::from_u128(3))),
        unclear_since: Some(NOW),
        unclear_beyond_window: true,
        failure: None,
        settlement_reference: None,
        settled_at: None,
        came_back: false,
        recredit: None,
        events: 0,
        version: 4,
    }
}

fn attempt(order: &ExchangeOrder) -> Attempt {
    Attempt {
        id: order.attempt.expect("under way"),
        tenant: TENANT,
        payment: PaymentId(order.id.0),
        number: 1,
        rail: RailId::new("pak-raast"),
        state: AttemptState::Indeterminate,
        amount: order.payout,
        charges: 0,
        sender: None,
        created_at: NOW,
        state_at: NOW,
        reason: None,
        info: None,
        bank_reference: None,
        source: None,
        booking: None,
        sent_again: false,
    }
}

fn decided(ws: &mut WorkingSet, action: Action) -> Outcome {
    let corridors = Corridors {
        corridors: BTreeMap::new(),
        rails: Vec::new(),
        relations: BTreeSet::new(),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    };
    let directory = BankDirectory::default();
    let rules = Rules { corridors: &corridors, directory: &directory, wallet: None };
    decide(ws, &Command { tenant: TENANT, action }, rules, &mut Ids(100))
}

#[test]
fn an_unreviewed_unknown_outcome_is_not_resolved() {
    let mut ws = WorkingSet::new(NOW + Span::hours(1));
    let wallet = wallet();
    let order = order(&wallet);
    let key = OrderKey::of(&order);
    ws.wallets.load((TENANT, wallet.id), wallet);
    ws.attempts.load((TENANT, attempt(&order).id), attempt(&order));
    ws.exchanges.load((TENANT, order.id), order.clone());
    let resolve = |seen: UnresolvedAttempt| {
        let (finding, evidence) = (RailStatus::Accepted.into(), "statement".to_owned());
        Action::Exchange(
            key.clone(),
            ExchangeAction::Resolve { seen, finding, evidence, by: Box::new("test".into()) },
        )
    };
    let doubt = order.doubt().expect("in doubt");
    let other = AttemptId(Uuid::from_u128(9));
    for seen in [
        UnresolvedAttempt { attempt: other, ..doubt },
        UnresolvedAttempt { since: doubt.since - Span::mins(1), ..doubt },
    ] {
        let outcome = decided(&mut ws, resolve(seen));
        assert!(matches!(outcome, Outcome::Refused(Refused::NotAsSeen)), "{outcome:?}");
        assert_eq!(ws.exchanges.get(&(TENANT, order.id)), Some(&order), "nothing was changed");
        assert!(ws.attempts.is_unchanged() && ws.exchanges.is_unchanged());
    }
    let outcome = decided(&mut ws, resolve(doubt));
    assert!(matches!(&outcome, Outcome::Exchange(order) if order.doubt().is_none()), "{outcome:?}");
    // Once resolved, a repetition reports the state rather than a conflict.
    let outcome = decided(&mut ws, resolve(doubt));
    assert!(matches!(outcome, Outcome::Refused(Refused::Exchange(_))), "{outcome:?}");
}

#[test]
fn an_unreviewed_block_is_not_lifted() {
    let mut wallet = wallet();
    let block = BlockOrder {
        reason: BlockReason::SuspiciousActivity,
        details: "odd".to_owned(),
        auto_unblock_hours: None,
        triggered_by: TriggeredBy::Manual,
    };
    wallet.block(block, NOW).expect("active");
    let id = wallet.id;
    for (seen, ends) in [(Some(NOW - Span::secs(1)), false), (Some(NOW), true), (None, true)] {
        let mut ws = WorkingSet::new(NOW + Span::hours(1));
        ws.wallets.load((TENANT, id), wallet.clone());
        let by = Box::new("test".into());
        let unblock = WalletAction::Unblock { seen, reason: None, by, idempotency: None };
        match decided(&mut ws, Action::Wallet(id, unblock)) {
            Outcome::Wallet(now) => assert!(ends && now.state == WalletState::Active, "{seen:?}"),
            Outcome::Refused(Refused::NotAsSeen) => {
                assert!(!ends && ws.wallets.is_unchanged(), "{seen:?}")
            }
            other => panic!("{other:?}"),
        }
    }
}
