//! Values for this crate's tests: the worked example of `decisions.md` from quote to return, and
//! its books. Never part of a build.

use std::collections::BTreeMap;

use jiff::civil::date;
use uuid::Uuid;

use crate::attempt::Attempt;
use crate::bank::BankDirectory;
use crate::chain::{Address, ChainNumber};
use crate::country::Country;
use crate::currency::{Currency, StableCoin};
use crate::decimal::Decimal;
use crate::decision::{Cx, IdSource};
use crate::ids::{PaymentId, QuoteId, TenantId, TransferId, WalletId};
use crate::ledger::{Account, AccountCode, LedgerRefusal, Transfer, TransferKind, book};
use crate::money::Money;
use crate::order::{Order, example};
use crate::payment::accept::{Submission, accept};
use crate::payment::{Effects, Payment, report};
use crate::policy::{Corridors, RailConfig, RailKind};
use crate::ports::Controller;
use crate::quote::{Offer, Pricing, Quote, QuoteState};
use crate::rail::{RailId, RailReport, RailStatus};
use crate::rail_text::CharacterSet;
use crate::screening::Screened;
use crate::time::{Span, Timestamp};
use crate::wallet::Provision;

pub const TENANT: TenantId = TenantId(Uuid::from_u128(0xa1));
pub const QUOTE: QuoteId = QuoteId(Uuid::from_u128(0xa2));
pub const PAYMENT: PaymentId = PaymentId(Uuid::from_u128(0xa3));
pub const OTHER_PAYMENT: PaymentId = PaymentId(Uuid::from_u128(0xa4));
pub const HOLD: TransferId = TransferId(Uuid::from_u128(0xa5));
/// Debit of the worked example, in 10^-6 USDT.
pub const CHARGE_MINOR: i64 = 136_847_374;
pub const RETURN_WINDOW: Span = Span::days(90);

/// A new wallet whose controller is deployed.
pub fn new_wallet(id: WalletId) -> Provision {
    Provision {
        id,
        tenant: TENANT,
        customer_id: "C-1".to_owned(),
        email: "a@example.com".to_owned(),
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
    }
}

/// Fresh ids, the same in every run.
pub struct Ids(u128);

impl Ids {
    pub const fn new() -> Ids {
        Ids(0x1000)
    }
}

impl IdSource for Ids {
    fn next(&mut self) -> Uuid {
        self.0 += 1;
        Uuid::from_u128(self.0)
    }
}

/// Parses an RFC 3339 instant.
pub fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().expect(text).as_microsecond())
}

/// A Monday morning at which every quote here is made.
pub fn monday() -> Timestamp {
    at("2026-11-23T10:00:00Z")
}

pub fn dec(text: &str) -> Decimal {
    text.parse().expect(text)
}

pub fn pkr(minor: i64) -> Money {
    Money::new(minor, Currency::Pkr)
}

/// AED 500 to Pakistan at 75.90 less 0.10 %.
pub fn pricing() -> Pricing {
    Pricing {
        country: Country::Pak,
        currency: Currency::Aed,
        amount: dec("500"),
        mid: dec("75.90"),
        wallet_mid: dec("278.75"),
        margin_bps: 10,
        premium_bps: 25,
        coin: StableCoin::Usdt,
        step_minor: 1,
        limits: (pkr(1), pkr(1_000_000_000)),
        account: None,
        branch: None,
    }
}

pub fn quote_of(offer: Offer) -> Quote {
    Quote {
        id: QUOTE,
        tenant: TENANT,
        offer,
        created_at: monday(),
        expires_at: monday() + Span::secs(300),
        state: QuoteState::Active,
        payment: None,
    }
}

pub fn quote() -> Quote {
    quote_of(pricing().offer(|_| 500_000).expect("an offer"))
}

/// An order that matches [`quote`].
pub fn order() -> Order {
    example::order(Country::Pak, QUOTE, Currency::Aed, dec("37912.05"))
        .check(&BankDirectory::default(), &corridors(Vec::new()), date(2026, 11, 23))
        .expect("a valid order")
}

pub fn submission(score: u8) -> Submission {
    let evidence = (score > 0).then(|| "OFAC 1 JOHN DOE".to_owned());
    let screened =
        Screened { score, evidence, list_version: "2026-11-23".to_owned(), stale: false };
    Submission { order: order(), screened, payment: PAYMENT, hold: HOLD }
}

/// An instant rail of Pakistan for any amount and hour; `AB08` and `TM01` permit another rail.
pub fn rail(id: &str) -> RailConfig {
    RailConfig {
        id: RailId::new(id),
        country: Country::Pak,
        kind: RailKind::Instant,
        enabled: true,
        min: pkr(1),
        max: pkr(1_000_000_000),
        sender_limits: None,
        cost_minor: 500_000,
        hours: None,
        needs: [].into(),
        banks: [].into(),
        duplicate_detection: false,
        window: Span::mins(15),
        retryable_reasons: ["AB08", "TM01"].map(str::to_owned).into(),
        duplicate_reasons: ["B017".to_owned()].into(),
        max_batch: 1,
        character_set: CharacterSet::SwiftX,
        purpose: None,
        recalls: Some("camt.056.001.08".to_owned()),
        verify_account: crate::account_check::AccountChecks::Off,
    }
}

pub fn corridors(rails: Vec<RailConfig>) -> Corridors {
    Corridors {
        corridors: BTreeMap::new(),
        rails,
        relations: ["brother".to_owned()].into(),
        submit_deadline: Span::mins(30),
        return_window: RETURN_WINDOW,
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    }
}

/// The tenant's books, booked with the real ledger.
#[derive(Clone, Debug)]
pub struct Books(BTreeMap<AccountCode, Account>);

impl Books {
    pub const fn empty() -> Books {
        Books(BTreeMap::new())
    }

    pub fn with_prefund(coin: StableCoin, minor: i64) -> Books {
        let mut books = Books(BTreeMap::new());
        let id = TransferId(Uuid::from_u128(0xa6));
        let top_up = Transfer {
            id,
            tenant: TENANT,
            debit: AccountCode::External(coin),
            credit: AccountCode::Prefund(coin),
            amount: Money::new(minor, coin.currency()),
            kind: TransferKind::Posted,
            pending: None,
            set: id,
            reason: "prefund.top_up",
            subject: None,
            at: monday(),
        };
        books.book(&[top_up]).expect("a top-up");
        books
    }

    pub fn account(&self, code: &AccountCode) -> Account {
        self.0.get(code).cloned().unwrap_or_else(|| Account::empty(TENANT, code.clone()))
    }

    pub fn prefund(&self) -> Account {
        self.account(&AccountCode::Prefund(StableCoin::Usdt))
    }

    /// Books the transfers in order; stops at the first that the ledger refuses.
    pub fn book(&mut self, transfers: &[Transfer]) -> Result<(), LedgerRefusal> {
        for transfer in transfers {
            let (mut debit, mut credit) =
                (self.account(&transfer.debit), self.account(&transfer.credit));
            book(&mut debit, &mut credit, transfer)?;
            self.0.insert(debit.code.clone(), debit);
            self.0.insert(credit.code.clone(), credit);
        }
        Ok(())
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.0.values()
    }

    /// Every account with a balance, `code: balance (available …)`, sorted by code.
    pub fn show(&self) -> Vec<String> {
        let used = self
            .0
            .values()
            .filter(|account| account.balance().minor != 0 || account.debits_pending != 0);
        let mut lines: Vec<String> = used
            .map(|account| match account.debits_pending {
                0 => format!("{}: {}", account.code, account.balance()),
                _ => format!(
                    "{}: {}, {} available",
                    account.code,
                    account.balance(),
                    account.available()
                ),
            })
            .collect();
        lines.sort();
        lines
    }
}

/// A payment of the worked example in progress.
pub struct Case {
    pub payment: Payment,
    pub attempt: Attempt,
    pub rail: RailConfig,
    pub now: Timestamp,
    pub ids: Ids,
}

/// A newly accepted payment with the effects of its acceptance; `score` is the screening score.
pub fn accepted(score: u8) -> (Payment, Effects, Quote) {
    let mut quote = quote();
    let prefund = Books::with_prefund(StableCoin::Usdt, 1_000_000_000).prefund();
    let mut ids = Ids::new();
    let mut cx = Cx { now: monday(), ids: &mut ids };
    let (payment, effects) =
        accept(Some(&mut quote), &submission(score), None, &[], &prefund, &mut cx)
            .expect("acceptable");
    (payment, effects, quote)
}

pub fn say(status: RailStatus) -> RailReport {
    RailReport {
        attempt: crate::ids::AttemptId(PAYMENT.0),
        status,
        reason: None,
        info: None,
        bank_reference: None,
        return_id: None,
        amount: None,
        charges: None,
        further_reasons: Vec::new(),
        source: "pain.002 B-17".to_owned(),
    }
}

impl Case {
    /// Its first attempt is saved and about to be sent.
    pub fn sending() -> Case {
        let (mut payment, _, _) = accepted(0);
        let (mut ids, rail) = (Ids(0x2000), rail("pak-raast"));
        let mut cx = Cx { now: monday(), ids: &mut ids };
        let attempt = report::begin_attempt(&mut payment, None, (&rail.id, None), &mut cx)
            .expect("may begin");
        Case { payment, attempt, rail, now: monday(), ids }
    }

    /// The rail has already reported these statuses.
    pub fn after(statuses: &[RailStatus]) -> Case {
        let mut case = Case::sending();
        for status in statuses {
            case.hear(&say(status.clone()));
        }
        case
    }

    pub fn hear(&mut self, said: &RailReport) -> Effects {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        report::apply(
            &mut self.payment,
            &mut self.attempt,
            said,
            Some(&self.rail),
            RETURN_WINDOW,
            &mut cx,
        )
    }

    /// Inquiry number `tries`, from 0, without news.
    pub fn ask_in_vain(&mut self, tries: i32) -> Effects {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        report::still_unclear(
            &mut self.payment,
            &mut self.attempt,
            Some(&self.rail),
            tries,
            &mut cx,
        )
    }

    /// Runs another action on it.
    pub fn run<T>(
        &mut self,
        action: impl FnOnce(&mut Payment, &mut Attempt, &mut Cx<'_>) -> T,
    ) -> T {
        let mut cx = Cx { now: self.now, ids: &mut self.ids };
        action(&mut self.payment, &mut self.attempt, &mut cx)
    }

    pub fn pass(&mut self, span: Span) {
        self.now = self.now + span;
    }
}
