//! Others who have a payment's link or know its addresses: they submit details of their own, each for an escrow of their
//! own, and send dust or unknown tokens to addresses that are not theirs. Payers send dust too. None of it may block or
//! hold anything, or change who another payment is from.

use domain::chain::Address;
use domain::currency::StableCoin;
use domain::payment_request::PaymentRequest;
use domain::time::Span;
use domain::wallet::Wallet;

use super::super::chain::{Deed, Payment};
use super::customers::Programs;
use super::wishes::{COIN, Payable, Wishes, draw_address};
use crate::random::Random;
use crate::run::Owner;
use crate::wallet_installation::{DUST_BELOW, STRANGE_TOKEN, token};

/// Of a thousand schedules with wallets so many have crowds.
const CROWDED_PER_MILLE: u64 = 80;
/// One payment in so many has a crowd there, and …
const CROWD_EVERY: usize = 2;
/// … one in so many is left out: the schedule has as many deposits as before.
const LEFT_OUT_EVERY: usize = 4;
/// Everything comes within this time.
const WITHIN_MILLIS: i64 = 40_000;
/// The names of others, so that none is taken for the sender's.
const OTHERS: [(&str, &str); 3] = [("Bilal", "Ahmed"), ("Mei", "Lin"), ("Listed", "Samplekhan")];

/// What one of the others does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interference {
    /// The sender themselves send so much first.
    OwnDust(i64),
    /// Dust of a coin to an address of the payment.
    Dust(Target, StableCoin, i64),
    /// An unknown token to an address of the payment.
    UnknownToken(Target),
    /// Details of their own, and so much to the escrow that is shown for them.
    Submission {
        /// Index of their name in [`OTHERS`].
        who: usize,
        /// How much, in minor units.
        minor: i64,
    },
}

/// Which address of a payment is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The escrow that the sender was shown.
    Sender,
    /// The address of the request itself.
    Request,
    Wallet,
}

/// Something that happens beside a payment, with its payer, after so long.
#[derive(Clone, Debug)]
pub struct Beside {
    after: Span,
    from: Address,
    what: Interference,
}

impl Wishes {
    /// The same with crowds, in some seeds.
    pub fn with_crowds(mut self, seed: u64) -> Wishes {
        let mut random = Random::stream(seed, "shared links");
        if !random.chance(CROWDED_PER_MILLE) {
            return self;
        }
        self.crowded = true;
        for customer in &mut self.customers {
            customer
                .payables
                .retain(|payable| payable.number % LEFT_OUT_EVERY != LEFT_OUT_EVERY - 1);
            for payable in customer.payables.iter_mut().filter(|it| it.number % CROWD_EVERY == 0) {
                payable.beside =
                    (0..random.between(1, 3)).map(|_| draw(payable.coin, &mut random)).collect();
            }
        }
        self
    }
}

fn draw(coin: StableCoin, random: &mut Random) -> Beside {
    let target = random.pick(&[Target::Sender, Target::Sender, Target::Request, Target::Wallet]);
    // From a tenth of a coin up: a few of the larger ones are worth a release together.
    let dust = random.between(COIN / 10, DUST_BELOW - 1);
    let what = match random.below(10) {
        0..=2 => Interference::OwnDust(dust),
        3..=5 => Interference::Dust(
            target,
            if random.chance(800) { coin } else { random.pick(&StableCoin::ALL) },
            dust,
        ),
        6 => Interference::UnknownToken(target),
        _ => Interference::Submission {
            who: random.below(OTHERS.len()),
            minor: if random.chance(600) { dust } else { random.between(4, 50) * COIN },
        },
    };
    Beside {
        after: Span::millis(random.between(0, WITHIN_MILLIS)),
        from: draw_address(random),
        what,
    }
}

impl Programs {
    /// Begins everything that happens beside a payment.
    pub(super) fn crowd(
        &self,
        payable: &Payable,
        (request, wallet): (&PaymentRequest, &Wallet),
        escrow: Address,
    ) {
        for beside in &payable.beside {
            let (programs, beside, payable) = (self.clone(), beside.clone(), payable.clone());
            let (request, wallet) = (request.clone(), wallet.address);
            self.truth.begin(1);
            self.sim.spawn(Owner::World, "crowd", async move {
                programs.sim.sleep(beside.after).await;
                programs.interfere(&beside, &payable, &request, (escrow, wallet)).await;
                programs.truth.end();
            });
        }
    }

    async fn interfere(
        &self,
        beside: &Beside,
        payable: &Payable,
        request: &PaymentRequest,
        (escrow, wallet): (Address, Address),
    ) {
        let address = |target| match target {
            Target::Sender => escrow,
            Target::Request => request.escrow,
            Target::Wallet => wallet,
        };
        let other = Payable { from: beside.from, ..payable.clone() };
        match beside.what {
            Interference::OwnDust(minor) => {
                self.transfer(payable, vec![(payable.coin, minor, escrow)]).await
            }
            Interference::Dust(target, coin, minor) => {
                self.transfer(&other, vec![(coin, minor, address(target))]).await;
            }
            Interference::UnknownToken(target) => {
                let (from, to) = (beside.from, address(target));
                self.chain.send(Deed::Pay(vec![
                    Payment { token: STRANGE_TOKEN, from, to, value: 1_000_000 },
                    Payment { token: token(payable.coin), from, to, value: 0 },
                ]));
            }
            Interference::Submission { who, minor } => {
                let (first, last) = OTHERS[who];
                let own = self.introduce(request, first, last).await;
                if own == escrow || own == request.escrow {
                    self.truth.complain(format!(
                        "{first} {last} was shown {own}, the escrow of another sender"
                    ));
                }
                self.transfer(&other, vec![(payable.coin, minor, own)]).await;
                self.check_sender(request, own, Some(first)).await;
            }
        }
    }
}
