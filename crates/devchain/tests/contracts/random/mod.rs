//! Random sequences of calls by all accounts, honest or not, interspersed with freezes, pauses,
//! blacklists and fees. An independent model predicts every answer and balance; an auditor that
//! reads only `Transfer` logs checks every movement of money.

mod audit;
mod model;
mod op;
mod world;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use testkit::circle::FiatToken;

use crate::circle;
use crate::tenant::{Tenant, deploy_usdc};
use audit::Audit;
use model::Model;
use world::World;

const SEED: u64 = 0x0c0_441d;
const SEQUENCES: u32 = 300;
const CALLS_MAX: usize = 120;
/// Circle's token is five times the code.
const SEQUENCES_WITH_CIRCLE: u32 = 60;

#[test]
fn money_leaves_vaults_only_where_it_may() {
    explore(SEQUENCES, &World::new(Tenant::with_usdc(deploy_usdc)));
}

#[test]
fn the_same_holds_with_circles_own_usdc() -> std::io::Result<()> {
    let Some(token) = testkit::circle::for_tests("random sequences of the controller")? else {
        return Ok(());
    };
    explore(SEQUENCES_WITH_CIRCLE, &World::new(with_circle(&token)));
    Ok(())
}

fn with_circle(token: &FiatToken) -> Tenant {
    Tenant::with_usdc(|evm| circle::deploy(evm, token, circle::Roles::one(crate::tenant::ISSUER)))
}

fn explore(sequences: u32, start: &World) {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(SEED),
        failure_persistence: None,
        ..ProptestConfig::with_cases(sequences)
    };
    proptest!(config, |(calls in prop::collection::vec(op::any_op(), 1..CALLS_MAX))| {
        let mut world = start.clone();
        let (mut model, mut audit) = (Model::new(&world), Audit::new(&world));
        for call in &calls {
            audit.before(&world, call);
            let outcome = world.execute(call);
            prop_assert_eq!(world.reply(&outcome), model.foretell(call), "{:?}", call);
            prop_assert_eq!(audit.after(&outcome), Ok(()), "{:?}", call);
        }
        prop_assert_eq!(world.balances(), model.balances());
    });
}
