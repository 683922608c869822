//! What must hold of dust and of what it was assessed with, when nothing is left to do.

use std::collections::BTreeMap;

use domain::deposit::{Deposit, DepositState};
use domain::ids::{DepositId, TenantId};
use domain::risk::ReasonCode;
use futures_util::FutureExt as _;
use uuid::Uuid;

use super::super::Auditor;
use super::super::rows::Key;
use super::WalletAudit;
use super::rows::DepositRow;

impl WalletAudit {
    /// Every deposit as the service reads it. Sealed fields are readable in no other way.
    pub(super) fn read_deposits(&self, auditor: &Auditor, rows: &[DepositRow]) -> Vec<Deposit> {
        let read = |row: &DepositRow| {
            let id = DepositId(auditor.store.public_id(Uuid::from_bytes(row.id)));
            match auditor.store.deposit(TenantId(Uuid::from_bytes(row.tenant)), id).now_or_never() {
                Some(Ok(Some(deposit))) => Some(deposit),
                other => {
                    auditor.violation(format!("deposit {id} was not read: {other:?}"));
                    None
                }
            }
        };
        rows.iter().filter_map(read).collect()
    }

    /// The deposits that were released with another one, and that one.
    pub(super) fn riders(auditor: &Auditor, deposits: &[Deposit]) -> BTreeMap<Key, Key> {
        let key = |id: DepositId| auditor.store.stored_id(id.0).into_bytes();
        let of = |deposit: &Deposit| {
            deposit.riders.iter().map(|rider| (key(*rider), key(deposit.id))).collect::<Vec<_>>()
        };
        deposits.iter().flat_map(of).collect()
    }

    /// Dust is no rejection: a wallet is blocked for those of deposits that were refused. It counts towards a request
    /// from when it was gathered, and not before.
    pub(super) fn check_rejections(&self, auditor: &Auditor, deposits: &[Deposit]) {
        let refused = self.state().refused.clone();
        let was_refused =
            |it: &&Deposit| refused.contains(&auditor.store.stored_id(it.id.0).into_bytes());
        for deposit in deposits {
            if deposit.state == DepositState::Dust && deposit.assessment.is_none() {
                auditor.violation(format!(
                    "I5: deposit {} is dust, and was never screened",
                    deposit.id
                ));
            }
            let Some(assessment) = deposit
                .assessment
                .as_ref()
                .filter(|it| it.reason == ReasonCode::RepeatedRejections)
            else {
                continue;
            };
            let others =
                deposits.iter().filter(|it| it.wallet == deposit.wallet && it.id != deposit.id);
            let most = others.filter(was_refused).count();
            // "REPEATED_REJECTIONS: 3 rejected within the previous 30 days"
            let counted =
                assessment.evidence.iter().filter_map(|line| line.split_once(" rejected within"));
            let counted = counted
                .filter_map(|(before, _)| before.rsplit(' ').next()?.parse::<usize>().ok())
                .max();
            if counted.is_some_and(|counted| counted > most) {
                let id = deposit.id;
                auditor.violation(format!(
                    "deposit {id} counts {counted:?} rejections, and {most} were refused"
                ));
            }
        }
    }
}
