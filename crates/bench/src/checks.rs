//! Checks after the server has stopped: do the rows match the answers, and are the books
//! consistent?

use anyhow::Context as _;
use domain::ids::PaymentId;
use store::Store;

use super::installation::{Funded, Installation};
use super::load::{Sample, Tally};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    /// Payments answered with 200.
    pub(super) answered: u64,
    /// Payments with an unclear outcome.
    pub(super) unclear: u64,
    /// Payments of this run with a reservation in the ledger.
    pub(super) rows: u64,
    /// Payments in the database, with those of earlier runs.
    pub(super) stored: u64,
    /// Payments compared field by field.
    pub(super) compared: u64,
    /// Payments whose row differs from their answer.
    pub(super) differing: Vec<String>,
    /// Inconsistencies of the books.
    pub(super) book_faults: Vec<String>,
    /// Size of the database, with all that is stored in it.
    pub(super) bytes: u64,
}

impl Checks {
    pub(super) async fn make(installation: &Installation, tally: &Tally) -> anyhow::Result<Checks> {
        let store = &installation.store;
        let mut checks =
            Checks { answered: tally.accepted, unclear: tally.unclear, ..Checks::default() };
        checks.bytes = store.size_bytes().await.context("reading the database's size")?;
        checks.stored = stored(store).await?;
        for funded in &installation.tenants {
            let rows = store.reservation_count(funded.tenant.id).await;
            checks.rows += rows.context("counting the reservations")?;
            let faults =
                store.verify_books(funded.tenant.id).await.context("verifying the books")?;
            checks
                .book_faults
                .extend(faults.iter().map(|fault| format!("{}: {fault:?}", funded.tenant.tag)));
        }
        for sample in &tally.samples {
            checks.compared += 1;
            checks
                .differing
                .extend(difference(store, &installation.tenants[sample.tenant], sample).await?);
        }
        Ok(checks)
    }

    /// Whether every answer has its row and every row its answer.
    pub(super) fn agree(&self) -> bool {
        (self.answered..=self.answered + self.unclear).contains(&self.rows)
            && self.differing.is_empty()
    }

    /// Size of the database for each payment in it.
    pub(super) fn bytes_a_payment(&self) -> u64 {
        self.bytes / self.stored.max(1)
    }

    /// Whether the books are consistent.
    pub(super) fn balanced(&self) -> bool {
        self.book_faults.is_empty()
    }

    /// What is wrong, if anything is.
    pub(super) fn failure(&self) -> Option<String> {
        let Checks { answered, unclear, rows, .. } = self;
        if !self.agree() {
            let differing = self.differing.join("; ");
            return Some(format!(
                "answers and rows differ: {answered} accepted, {unclear} unclear, {rows} in the store {differing}"
            ));
        }
        let faults = self.book_faults.join("; ");
        (!self.balanced()).then(|| format!("the ledger does not balance: {faults}"))
    }
}

/// Counts the payments of all tenants.
async fn stored(store: &Store) -> anyhow::Result<u64> {
    let mut stored = 0;
    for tenant in store.tenants().await.context("reading the tenants")? {
        let count = store.reservation_count(tenant.id).await;
        stored += count.context("counting the reservations")?;
    }
    Ok(stored)
}

/// The difference between a row and its answer.
async fn difference(
    store: &Store,
    funded: &Funded,
    sample: &Sample,
) -> anyhow::Result<Option<String>> {
    let id = PaymentId::parse(&sample.id).context("an answer with an invalid id")?;
    let Some(record) =
        store.payment_record(funded.tenant.id, id).await.context("reading a payment")?
    else {
        return Ok(Some(format!("{id}: payment not found")));
    };
    let amount = record.payment.amount.decimal().to_string();
    let same =
        amount == sample.amount && record.order.external_id.as_ref() == Some(&sample.external_id);
    Ok((!same).then(|| format!("{id}: amount {amount}, answered {}", sample.amount)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payments_of_earlier_runs_share_the_size_of_the_database() {
        for (rows, stored, bytes, each) in [
            (100, 100, 700_000, 7_000),
            (100, 1_000, 7_000_000, 7_000),
            (0, 1_000, 7_000_000, 7_000),
            (0, 0, 7_000, 7_000),
        ] {
            let checks = Checks { rows, stored, bytes, ..Checks::default() };
            assert_eq!(checks.bytes_a_payment(), each, "{rows} of {stored}");
        }
    }

    #[test]
    fn only_unclear_answers_may_lack_or_have_a_row() {
        for (answered, unclear, rows, agree) in
            [(5, 0, 5, true), (5, 0, 4, false), (5, 0, 6, false), (5, 2, 7, true), (5, 2, 8, false)]
        {
            let checks = Checks { answered, unclear, rows, ..Checks::default() };
            assert_eq!(checks.agree(), agree, "{answered} {unclear} {rows}");
        }
        let differing = Checks { differing: vec!["x".to_owned()], ..Checks::default() };
        assert!(!differing.agree() && differing.balanced());
    }
}
