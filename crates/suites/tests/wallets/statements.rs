//! Statements of account of what users booked.

use domain::chain::ChainNumber;
use domain::ledger::{AccountCode, Funding};
use domain::ports::Clock as _;
use domain::time::Span;
use engine::command::{Action, Command, Outcome};
use engine::statement::{self, Wanted};

use crate::world::{COIN, Setup, TENANT, USDC, World, with};

async fn fund(world: &World, funding: Funding, minor: i64, reference: Option<&str>) {
    let (reference, by) = (reference.map(str::to_owned), Box::new("root".into()));
    let action = Action::Fund { funding, coin: USDC, minor, reference, by };
    let outcome = world.engine.execute(Command { tenant: TENANT, action }).await;
    assert!(matches!(outcome, Ok(Outcome::Done)), "{outcome:?}");
    world.clock.pass(Span::hours(1));
}

/// Amounts and references of an account's movements.
async fn movements(world: &World, account: AccountCode) -> Vec<(i64, Option<String>)> {
    let now = world.clock.now();
    let (from, to) = (now - Span::days(1), now);
    let wanted = Wanted { tenant: TENANT, account, from, to, now, limit: 100, sequence: None };
    let made = statement::make(&world.store, &wanted).await.expect("a statement");
    let entries = made.entries.into_iter();
    entries.map(|(entry, _)| (entry.amount.minor, entry.references.bank_reference)).collect()
}

#[test]
fn a_funding_has_the_reference_it_was_booked_with() {
    with(Setup::default(), async |world| {
        let chain = ChainNumber::FIRST;
        fund(&world, Funding::TopUp, 50 * COIN, Some("TREASURY-2041")).await;
        fund(&world, Funding::TopUp, 7 * COIN, None).await;
        fund(&world, Funding::Withdrawal, 20 * COIN, Some("W-77")).await;
        fund(&world, Funding::Controller(chain), 3 * COIN, Some("0x9f2c")).await;
        fund(&world, Funding::ControllerReversal(chain), 3 * COIN, Some("0x9f2c")).await;
        let of = |minor, reference: &str| (minor, Some(reference.to_owned()));
        assert_eq!(
            movements(&world, AccountCode::Prefund(USDC)).await,
            [of(50 * COIN, "TREASURY-2041"), (7 * COIN, None), of(20 * COIN, "W-77")]
        );
        assert_eq!(
            movements(&world, AccountCode::Unswept(chain, USDC)).await,
            [of(3 * COIN, "0x9f2c"), of(3 * COIN, "0x9f2c")]
        );
    });
}
