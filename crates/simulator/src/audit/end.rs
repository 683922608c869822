//! What must hold when everything has come to its end.

use domain::ids::{PaymentId, TenantId};
use futures_util::FutureExt;
use uuid::Uuid;

use super::{Auditor, rows};
use crate::installation::RAILS;
use crate::schedule::Played;

impl Auditor {
    /// Checks what must hold at the end: the accepted payments are there, and each ended as the bank's book says or is
    /// noted as a discrepancy. Answers what was played.
    pub fn finish(&self, accepted: &[(TenantId, PaymentId)]) -> Played {
        self.read(|connection| self.check_events(connection));
        self.read(|connection| self.check_rules(connection, None));
        if let Some(wallets) = &self.wallets {
            self.read(|connection| wallets.check(self, connection, None, true));
        }
        self.check_books();
        self.check_audit_log();
        for (tenant, payment) in accepted {
            self.acknowledged(*tenant, *payment);
        }
        let payments = self.read(rows::payments).unwrap_or_default();
        let mut noted = 0;
        for (key, state, discrepancy) in &payments {
            let id = PaymentId(self.store.public_id(Uuid::from_bytes(*key)));
            let (paid, returned) = self.bank.bookings(id);
            let right = match state.as_str() {
                "succeeded" => (paid, returned) == (1, 0),
                "reversed" => paid == returned && paid <= 1,
                "failed" | "rejected" => paid == 0,
                _ => {
                    self.violation(format!("I5: {id} is {state} at the end"));
                    true
                }
            };
            if !right && !discrepancy {
                self.violation(format!(
                    "I14: {id} is {state}; the bank paid it {paid} times, it came back {returned}"
                ));
            }
            noted += usize::from(!right && *discrepancy);
        }
        if noted == 0 {
            self.compare_with_bank();
        }
        let of_wallets =
            self.wallets.as_ref().map(|wallets| wallets.finish(self)).unwrap_or_default();
        Played { payments: payments.len(), ..of_wallets }
    }

    /// Each chain of the audit log is whole, and what an operator did is noted as often as it was done.
    fn check_audit_log(&self) {
        match self.store.verify_audit(None, &[], &[]).now_or_never() {
            Some(Ok(report)) => {
                for chain in &report.chains {
                    let Some(fault) = chain.fault else { continue };
                    self.violation(format!("the audit log of {}: {fault}", chain.tenant));
                }
            }
            other => self.violation(format!("the audit log was not read: {other:?}")),
        }
        let Some((done, noted)) = self.read(rows::top_ups) else { return };
        if done != noted {
            self.violation(format!("{done} top-ups were booked and {noted} noted"));
        }
    }

    /// I14: what left the rails' accounts at the bank is what left them in the ledger.
    fn compare_with_bank(&self) {
        let accounts = self.read(rows::accounts).unwrap_or_default();
        for (rail, ..) in RAILS {
            let of_rail = format!("nostro:{rail}:");
            let ledger: i128 = accounts
                .iter()
                .filter(|(_, code, _)| code.starts_with(&of_rail))
                .map(|(_, _, sums)| i128::from(sums[1]) - i128::from(sums[3]))
                .sum();
            let bank = self.bank.paid_out(rail);
            if ledger != bank {
                self.violation(format!(
                    "I14: {rail} paid {bank} by the bank's book, {ledger} by the ledger"
                ));
            }
        }
    }
}
