//! What customers of the wallet service want, and what is done to their wallets: drawn beforehand.

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::time::Span;

use super::super::workload::uuid;
use super::crowd::Beside;
use crate::random::Random;

/// Deposits of one schedule at least.
const DEPOSITS_MIN: usize = 13;
/// What customers begin within.
const BEGIN_MAX_MILLIS: i64 = 20_000;
/// One sender in so many is on a later edition of a list, where lists are loaded.
const FURTHER_EVERY: usize = 4;
/// One coin, in minor units.
pub const COIN: i64 = 1_000_000;
/// One cent of it.
const CENT: i64 = 10_000;

/// How a sender goes about a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Pays what is asked for.
    Exact,
    /// Pays half, and the rest later.
    Halves,
    /// Pays the full amount twice.
    Twice,
    /// Pays twice in one transaction.
    TwiceAtOnce,
    /// Pays after the request has expired.
    Late,
    /// Pays in the other coin.
    OtherCoin,
    /// Pays straight to the wallet's address.
    Direct,
    /// Sends an unknown token and zero of a coin, and then pays.
    StrangeTokens,
    /// Pays although the request is cancelled.
    Cancelled,
}

impl Manner {
    /// How many deposits come of it.
    pub(super) const fn deposits(self) -> usize {
        match self {
            Manner::Halves | Manner::Twice | Manner::TwiceAtOnce => 2,
            _ => 1,
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// So much of the coin.
    Coin,
    /// An amount in rupees.
    Rupees,
    /// Any amount: none is asked for.
    Anything,
}

/// The name that the sender enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A name that is on no list.
    Clean,
    /// A name that a person has to look at.
    Review,
    /// A name on a list.
    Listed,
    /// A name that a new edition of a list has.
    Further,
    /// The sender enters no name.
    Silent,
}

/// A payment to a wallet.
#[derive(Clone, Debug)]
pub struct Payable {
    /// Its number in the schedule.
    pub number: usize,
    /// How the sender pays it.
    pub manner: Manner,
    /// What is asked for.
    pub ask: Ask,
    pub coin: StableCoin,
    /// How much, in minor units.
    pub minor: i64,
    /// The name that the sender enters.
    pub sender: Sender,
    /// The address that pays.
    pub from: Address,
    /// Whether the bank sends an Idempotency-Key, and repeats what it has sent.
    pub keyed: bool,
    /// When, after its wallet is there.
    pub begins: Span,
    /// What others do beside it.
    pub beside: Vec<Beside>,
}

/// An exchange that a customer wants.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its number in the schedule.
    pub number: usize,
    /// Orders that are sent at the same time, each for more than half of what there is.
    pub rivals: usize,
    /// The coin that is exchanged.
    pub coin: StableCoin,
    /// How much of what there is, in thousandths.
    pub share: i64,
    /// The cents of the amount.
    pub cents: i64,
    /// Whether the rate is locked.
    pub lock: bool,
    /// The account ends in this.
    pub ending: &'static str,
    /// Whether it is called off at once.
    pub regretted: bool,
    /// When, after its wallet is there.
    pub begins: Span,
}

/// What is done to a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Blocked, until it is unblocked by hand.
    Block {
        /// How long it stays blocked.
        span: Span,
    },
    /// Blocked, until that ends by itself.
    BlockForHours(i64),
    /// Blacklisted with immediate effect.
    Blacklist,
    /// Blacklisted from tomorrow on.
    BlacklistTomorrow,
    /// A coin's issuer puts its address on the coin's blacklist.
    Issuer,
}

/// A customer with a wallet.
#[derive(Clone, Debug)]
pub struct Customer {
    /// Its number in the schedule.
    pub number: usize,
    pub tenant: TenantId,
    /// When the wallet is asked for.
    pub begins: Span,
    /// Whether it is asked for twice at once.
    pub twice: bool,
    /// Payments to the wallet.
    pub payables: Vec<Payable>,
    /// Exchanges from the wallet.
    pub exchanges: Vec<Exchange>,
    /// What is done to it, and when.
    pub deeds: Vec<(Span, Deed)>,
}

/// Everything that is wanted in a schedule.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    pub tenants: Vec<TenantId>,
    pub customers: Vec<Customer>,
    /// Whether an amount's cents determine its outcome.
    pub sandbox: bool,
    /// Whether the controllers are on the chain in the beginning.
    pub deployed: bool,
    /// Whether the tenants' keys may write the coins' blacklists.
    pub blacklists: bool,
    /// Whether others interfere with payments, and small deposits are dust.
    pub crowded: bool,
}

impl Wishes {
    /// The wishes of a seed.
    pub fn draw(seed: u64) -> Wishes {
        let mut random = Random::stream(seed, "wishes");
        let tenants: Vec<TenantId> = (0..if random.chance(700) { 1 } else { 2 })
            .map(|_| TenantId(uuid(&mut random)))
            .collect();
        let sandbox = random.chance(500);
        let begin_max = random.between(1_000, BEGIN_MAX_MILLIS);
        let mut customers: Vec<Customer> = (0..random.between(1, 3))
            .enumerate()
            .map(|(number, _)| {
                draw_customer(number, tenants[number % tenants.len()], begin_max, &mut random)
            })
            .collect();
        let wanted = DEPOSITS_MIN + random.below(3);
        let (mut deposits, mut number) = (0, 0);
        while deposits < wanted {
            let payable = draw_payable(number, begin_max, &mut random);
            deposits += payable.manner.deposits();
            number += 1;
            let customer = random.below(customers.len());
            customers[customer].payables.push(payable);
        }
        let (deployed, blacklists) = (random.chance(700), random.chance(600));
        Wishes { tenants, customers, sandbox, deployed, blacklists, crowded: false }
    }

    /// The same with some senders that a later edition of a list has.
    pub fn with_further_names(mut self) -> Wishes {
        let payables = self.customers.iter_mut().flat_map(|customer| &mut customer.payables);
        for payable in
            payables.filter(|it| it.number % FURTHER_EVERY == 1 && it.sender == Sender::Clean)
        {
            payable.sender = Sender::Further;
        }
        self
    }
}

fn draw_customer(number: usize, tenant: TenantId, begin_max: i64, random: &mut Random) -> Customer {
    let exchanges = random.between(0, 2);
    let exchanges = (0..exchanges)
        .map(|count| draw_exchange(number * 10 + usize::try_from(count).unwrap_or(0), random));
    let exchanges = exchanges.collect();
    let deeds = if random.chance(400) { vec![draw_deed(random)] } else { Vec::new() };
    Customer {
        number,
        tenant,
        begins: Span::millis(random.between(0, begin_max / 4)),
        twice: random.chance(150),
        payables: Vec::new(),
        exchanges,
        deeds,
    }
}

fn draw_payable(number: usize, begin_max: i64, random: &mut Random) -> Payable {
    use Manner::{
        Cancelled, Direct, Exact, Halves, Late, OtherCoin, StrangeTokens, Twice, TwiceAtOnce,
    };
    let manner = match random.below(40) {
        0..=22 => Exact,
        23..=25 => Halves,
        26..=28 => Twice,
        29 | 30 => TwiceAtOnce,
        31 => Late,
        32 | 33 => OtherCoin,
        34 | 35 => Direct,
        36 | 37 => StrangeTokens,
        _ => Cancelled,
    };
    let cents =
        if random.chance(300) { random.pick(&[1, 2, 3, 4]) } else { random.pick(&[0, 50, 99]) };
    let units =
        if random.chance(60) { random.between(1_000, 3_000) } else { random.between(1, 400) };
    Payable {
        number,
        manner,
        ask: random.pick(&[Ask::Coin, Ask::Coin, Ask::Coin, Ask::Rupees, Ask::Anything]),
        coin: random.pick(&StableCoin::ALL),
        minor: units * COIN + cents * CENT,
        sender: match random.below(20) {
            0 => Sender::Listed,
            1 | 2 => Sender::Review,
            3 | 4 => Sender::Silent,
            _ => Sender::Clean,
        },
        from: draw_address(random),
        keyed: random.chance(300),
        begins: Span::millis(random.between(0, begin_max)),
        beside: Vec::new(),
    }
}

fn draw_exchange(number: usize, random: &mut Random) -> Exchange {
    Exchange {
        number,
        rivals: if random.chance(300) { 8 } else { 1 },
        coin: random.pick(&StableCoin::ALL),
        share: random.between(100, 1_000),
        cents: if random.chance(200) { random.pick(&[1, 2]) } else { 0 },
        lock: random.chance(400),
        ending: if random.chance(400) {
            random.pick(&["0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008"])
        } else {
            "6702"
        },
        regretted: random.chance(150),
        begins: Span::millis(random.between(5_000, 60_000)),
    }
}

fn draw_deed(random: &mut Random) -> (Span, Deed) {
    let at = Span::millis(random.between(0, 60_000));
    let deed = match random.below(12) {
        0..=6 => Deed::Block { span: Span::millis(random.between(200, 90_000)) },
        7 => Deed::BlockForHours(1),
        8 | 9 => Deed::Blacklist,
        10 => Deed::BlacklistTomorrow,
        _ => Deed::Issuer,
    };
    (at, deed)
}

pub fn draw_address(random: &mut Random) -> Address {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&random.next().to_be_bytes());
    bytes[8..16].copy_from_slice(&random.next().to_be_bytes());
    Address(bytes)
}
