//! Lanes: a tenant may have several operator keys, each with its own nonce sequence. Movements out
//! of one vault always use the same lane, so that a stuck key blocks only its own vaults.

use super::Intent;
use crate::chain::{Address, Movement, Plan, vault};

/// The lane of an operator's intent among `lanes` lanes, counted from 0. It follows from the vault
/// that the intent moves tokens out of, named by `vault_of`. Intents without a vault use the first
/// lane, whose key the controller has known from the start.
///
/// Computed only when a transaction takes its nonce: a transaction keeps its signer when the number
/// of lanes changes.
pub fn lane_of(intent: &Intent, lanes: usize, vault_of: impl Fn(&Movement) -> Address) -> usize {
    match &intent.plan {
        Plan::Release(movement) | Plan::Debit(movement) => spread(&vault_of(movement).0, lanes),
        Plan::ReturnDebit { debit, .. } => spread(&debit.0, lanes),
        // The lane of the releases from the same escrow.
        Plan::SponsoredTransfer { authorization, .. } => spread(&authorization.to.0, lanes),
        _ => 0,
    }
}

fn spread(name: &[u8], lanes: usize) -> usize {
    let word = vault::hash(&[b"corridor.lane", name]);
    let mut first = [0; 8];
    first.copy_from_slice(&word.0[..8]);
    let lanes = u64::try_from(lanes).unwrap_or(u64::MAX).max(1);
    usize::try_from(u64::from_be_bytes(first) % lanes).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{ChainNumber, Word};
    use crate::ids::IntentId;
    use crate::test_values::{TENANT, monday};

    fn intent(plan: Plan) -> Intent {
        let id = uuid::Uuid::from_u128(1);
        Intent::new(IntentId(id), TENANT, ChainNumber::FIRST, id, plan, monday())
    }

    fn release(vault: u8, number: u8) -> Intent {
        let plan = Plan::Release(Movement {
            intent: Word([number; 32]),
            reference: Word([vault; 32]),
            recipient: Address([1; 20]),
            token: Address([2; 20]),
            amount: 1,
        });
        intent(plan)
    }

    fn vault_of(movement: &Movement) -> Address {
        Address([movement.reference.0[0]; 20])
    }

    #[test]
    fn a_vault_has_one_lane_and_vaults_spread_over_all_lanes() {
        for lanes in [1, 2, 3, 16] {
            let mut used = vec![0; lanes];
            for vault in 0..=u8::MAX {
                let lane = lane_of(&release(vault, 1), lanes, vault_of);
                assert_eq!(
                    lane,
                    lane_of(&release(vault, 2), lanes, vault_of),
                    "for every movement out of it"
                );
                used[lane] += 1;
            }
            let fair = 256 / lanes;
            assert!(used.iter().all(|count| *count >= fair / 2 && *count <= fair * 2), "{used:?}");
        }
    }

    #[test]
    fn intents_without_a_vault_use_the_first_lane() {
        let sweep = intent(Plan::Sweep { token: Address([2; 20]), amount: 1 });
        for other in [intent(Plan::Deploy), sweep] {
            assert_eq!(lane_of(&other, 16, vault_of), 0);
        }
        let back = |debit| Plan::ReturnDebit { debit: Word([debit; 32]), intent: Word([9; 32]) };
        let lanes: std::collections::BTreeSet<usize> =
            (0..64).map(|debit| lane_of(&intent(back(debit)), 4, vault_of)).collect();
        assert_eq!(lanes.len(), 4, "returns are spread like debits");
    }

    #[test]
    fn without_lanes_there_is_still_one() {
        assert_eq!(lane_of(&release(7, 1), 0, vault_of), 0);
    }
}
