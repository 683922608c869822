//! What clients want: payments of every kind, drawn beforehand.

use domain::country::Country;
use domain::currency::Currency;
use domain::ids::TenantId;
use domain::time::Span;
use uuid::Uuid;

use crate::installation::{checks_accounts, countries};
use crate::random::Random;

/// Payments of one schedule that clients insist on.
pub const PAYMENTS_MIN: i64 = 10;
const PAYMENTS_MAX: i64 = 12;
/// What clients begin within.
const BEGIN_MAX_MILLIS: i64 = 15_000;
/// One payment in so many is to a party on a later edition of a list, where lists are loaded.
const FURTHER_EVERY: usize = 3;
/// Endings of accounts that mean something to the bank.
const ENDINGS: [&str; 8] = ["0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008"];
/// An ending that means nothing.
const NEUTRAL: &str = "6702";
/// Accounts with these endings are closed, as the bank says if it is asked beforehand.
pub const CLOSED: [&str; 2] = ["9001", "9002"];

/// How a client goes about a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Asks for a quote and pays.
    Plain,
    /// Sends the same order to both nodes at once.
    Twice,
    /// Uses the quote for two different orders at once.
    TwoOrders,
    /// Lets the quote expire first, to the very instant.
    TooLate,
    /// Repeats what was accepted already.
    Repeats,
    /// Names another amount than the quote's first.
    WrongAmount,
}

/// A payment that a client wants to make.
#[derive(Clone, Debug)]
pub struct Payable {
    /// Its number in the schedule.
    pub number: usize,
    pub tenant: TenantId,
    pub country: Country,
    /// The beneficiary's account ends in this.
    pub ending: &'static str,
    /// What the payer pays in.
    pub currency: Currency,
    /// Base amount in minor units of that.
    pub minor: i64,
    /// The client's own id.
    pub external_id: Option<String>,
    /// Whether requests carry an Idempotency-Key.
    pub keyed: bool,
    /// Whether the name is one that screening holds or refuses.
    pub name: Name,
    /// How the client behaves.
    pub manner: Manner,
    /// When, after the schedule's start.
    pub begins: Span,
}

impl Payable {
    /// Whether the beneficiary's account is closed.
    pub fn is_closed(&self) -> bool {
        CLOSED.contains(&self.ending)
    }
}

/// What screening will say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Screening finds no match.
    Clean,
    /// A person has to look.
    Review,
    /// Screening refuses the name.
    Listed,
    /// Nothing, until a new edition of a list has it.
    Further,
}

/// Everything that clients want in a schedule.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// The payments that clients want.
    pub payables: Vec<Payable>,
}

impl Workload {
    /// The workload of a seed.
    pub fn draw(seed: u64) -> Workload {
        let mut random = Random::stream(seed, "workload");
        let count = if random.chance(300) { 1 } else { 2 };
        let tenants: Vec<TenantId> = (0..count).map(|_| TenantId(uuid(&mut random))).collect();
        let payments = random.between(PAYMENTS_MIN, PAYMENTS_MAX);
        let begin_max = random.between(500, BEGIN_MAX_MILLIS);
        let countries = countries(seed);
        let payables = (0..payments).enumerate().map(|(number, _)| {
            let tenant = tenants[random.below(tenants.len())];
            draw_one(number, tenant, countries, begin_max, &mut random)
        });
        let mut payables: Vec<Payable> = payables.collect();
        if checks_accounts(seed) {
            // Beside the others, since nothing is paid to them.
            for (at, ending) in CLOSED.into_iter().enumerate() {
                let tenant = tenants[random.below(tenants.len())];
                let drawn = draw_one(payables.len(), tenant, countries, begin_max, &mut random);
                let (country, name, manner) = (countries[at], Name::Clean, Manner::Plain);
                payables.push(Payable { ending, country, name, manner, ..drawn });
            }
        }
        let mut currencies = Random::stream(seed, "currencies");
        for payable in &mut payables {
            payable.currency = currencies.pick(&Currency::SOURCES);
        }
        Workload { payables }
    }

    /// The same with some names that a later edition of a list has.
    pub fn with_further_names(mut self) -> Workload {
        for payable in self.payables.iter_mut().filter(|it| {
            it.number % FURTHER_EVERY == 1 && it.name == Name::Clean && !it.is_closed()
        }) {
            payable.name = Name::Further;
        }
        self
    }
}

fn draw_one(
    number: usize,
    tenant: TenantId,
    countries: [Country; 2],
    begin_max: i64,
    random: &mut Random,
) -> Payable {
    use Manner::{Plain, Repeats, TooLate, Twice, TwoOrders, WrongAmount};
    let external = random.chance(700);
    let manner =
        random.pick(&[Plain, Plain, Plain, Plain, Twice, TwoOrders, TooLate, Repeats, WrongAmount]);
    Payable {
        number,
        tenant,
        country: random.pick(&countries),
        ending: if random.chance(450) { random.pick(&ENDINGS) } else { NEUTRAL },
        currency: Currency::Aed,
        minor: random.between(1_000, 500_000),
        external_id: external.then(|| format!("order-{number}")),
        keyed: random.chance(400),
        name: match random.below(20) {
            0 => Name::Listed,
            1 | 2 => Name::Review,
            _ => Name::Clean,
        },
        manner,
        begins: Span::millis(random.between(0, begin_max)),
    }
}

/// A random version-4 UUID.
pub fn uuid(random: &mut Random) -> Uuid {
    let bits = (u128::from(random.next()) << 64) | u128::from(random.next());
    uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
}
