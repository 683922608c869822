//! Compares bank statements with our attempts: entry by entry, attempt by attempt, balance by
//! balance.
//!
//! Matched entries are not examined again until more is booked about them. Discrepancies are
//! recomputed each time, so that a later statement or report resolves them.

use domain::attempt::Attempt;
use domain::bank_statement::{self, Booking, BreakKind, RailBreak, StatementSheet, Verdict};
use domain::ids::TenantId;
use domain::time::Timestamp;
use store::{AttemptBookings, EntryPlace, Lacking, RailEntry, RailFindings, StoreError};

use super::super::Workers;
use crate::measure;

/// Attempts or entries read at once.
const PAGE: usize = 1_000;
/// Maximum number of attempts per tenant and rail reported as missing from statements.
const LACKING_MAX: usize = 1_000;

/// Discrepancies found, and what to do about them.
struct Comparison {
    found: RailFindings,
    now: Timestamp,
    tenants: Vec<TenantId>,
}

impl Workers {
    /// Compares everything that is open; raises new discrepancies and closes resolved ones.
    pub(super) async fn compare_statements(&self) -> Result<(), StoreError> {
        let covered = self.store.covered().await?;
        if covered.is_empty() {
            return Ok(());
        }
        let tenants = self.store.tenants().await?.into_iter().map(|tenant| tenant.id).collect();
        let found = RailFindings {
            complete: BreakKind::ALL.into_iter().collect(),
            ..RailFindings::default()
        };
        let mut comparison = Comparison { found, now: self.clock().now(), tenants };
        self.compare_bookings(&mut comparison).await?;
        for covered in &covered {
            self.look_for_lacking(covered, &mut comparison).await?;
        }
        self.compare_sheets(&mut comparison).await?;
        self.tell_unknown(&mut comparison).await?;
        let noted = self.store.note_rail_findings(&comparison.found, comparison.now).await?;
        noted.raised.iter().for_each(measure::alert);
        if noted.healed > 0 {
            tracing::info!(healed = noted.healed, "bank statement discrepancies resolved");
        }
        Ok(())
    }

    /// Entries that name our attempts.
    async fn compare_bookings(&self, comparison: &mut Comparison) -> Result<(), StoreError> {
        let grace = self.world.tuning.statement_grace;
        let mut after = None;
        loop {
            let page = self.store.open_bookings(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.attempt.id);
            let mut agreeing = Vec::new();
            for it in &page {
                let newest =
                    it.entries.iter().map(|entry| entry.read_at).max().unwrap_or(comparison.now);
                let bookings: Vec<Booking> = it.entries.iter().map(|entry| entry.booking).collect();
                let waited = comparison.now - newest >= grace;
                match bank_statement::judge(
                    it.attempt.state,
                    (it.attempt.amount, it.attempt.charges),
                    &bookings,
                    waited,
                ) {
                    Verdict::Agrees => agreeing.extend(open_places(it)),
                    Verdict::Waits => {}
                    Verdict::Differs(kind, what) => {
                        let what = format!("{}: {what}{}", told(&it.attempt), place_of(it));
                        comparison.add(&it.attempt, kind, what);
                    }
                }
            }
            self.store.close_entries(&agreeing).await?;
        }
    }

    /// Attempts that should have further entries by now.
    async fn look_for_lacking(
        &self,
        covered: &store::Covered,
        comparison: &mut Comparison,
    ) -> Result<(), StoreError> {
        let until = covered.to - self.world.tuning.statement_grace;
        for tenant in comparison.tenants.clone() {
            for (lacking, kind) in
                [(Lacking::Payout, BreakKind::Missing), (Lacking::Return, BreakKind::NotReturned)]
            {
                let found =
                    self.store.unbooked(tenant, covered, until, lacking, LACKING_MAX).await?;
                if found.len() == LACKING_MAX {
                    // Attempts beyond the limit may be missing as well: none of them counts as
                    // resolved.
                    comparison.found.complete.remove(&kind);
                }
                for attempt in &found {
                    if comparison.has(attempt, kind) {
                        continue;
                    }
                    let what = match lacking {
                        Lacking::Payout => bank_statement::missing(attempt.amount),
                        Lacking::Return => bank_statement::not_returned(attempt.amount),
                    };
                    comparison.add(attempt, kind, format!("{}: {what}", told(attempt)));
                }
            }
        }
        Ok(())
    }

    async fn compare_sheets(&self, comparison: &mut Comparison) -> Result<(), StoreError> {
        let grace = self.world.tuning.statement_grace;
        for (sheet, before) in self.store.open_sheets().await? {
            let Some(found) = sheet.judge(before, grace, comparison.now) else { continue };
            if found.is_empty() {
                self.store.close_sheet(&sheet).await?;
            }
            for (kind, what) in found {
                comparison.add_to_all(&sheet, kind, &what);
            }
        }
        Ok(())
    }

    /// Unmatched entries. They stay unmatched: each is reported once.
    async fn tell_unknown(&self, comparison: &mut Comparison) -> Result<(), StoreError> {
        comparison.found.complete.remove(&BreakKind::Unknown);
        for entry in self.store.unknown_entries(PAGE).await? {
            let what = unknown(&entry);
            for tenant in comparison.tenants.clone() {
                let rail = entry.place.rail.clone();
                let it = RailBreak {
                    rail,
                    kind: BreakKind::Unknown,
                    subject: tenant.0,
                    what: what.clone(),
                };
                comparison.found.breaks.push((tenant, it));
            }
            comparison.found.told.push(entry.place);
        }
        Ok(())
    }
}

impl Comparison {
    /// Whether an entry already revealed it.
    fn has(&self, attempt: &Attempt, kind: BreakKind) -> bool {
        let same = |it: &RailBreak| (it.kind, it.subject) == (kind, attempt.payment.0);
        self.found.breaks.iter().any(|(tenant, it)| *tenant == attempt.tenant && same(it))
    }

    fn add(&mut self, attempt: &Attempt, kind: BreakKind, what: String) {
        let it = RailBreak { rail: attempt.rail.clone(), kind, subject: attempt.payment.0, what };
        self.found.breaks.push((attempt.tenant, it));
    }

    /// A discrepancy of the account as a whole, reported to every tenant.
    fn add_to_all(&mut self, sheet: &StatementSheet, kind: BreakKind, what: &str) {
        for tenant in &self.tenants {
            let what = format!("rail {}: {what}", sheet.rail);
            let it = RailBreak { rail: sheet.rail.clone(), kind, subject: tenant.0, what };
            self.found.breaks.push((*tenant, it));
        }
    }
}

/// The positions of the entries that are still open.
fn open_places(it: &AttemptBookings) -> impl Iterator<Item = EntryPlace> {
    it.entries.iter().filter(|entry| entry.is_open).map(|entry| entry.place.clone())
}

fn told(attempt: &Attempt) -> String {
    format!("rail {}, attempt {}", attempt.rail, attempt.id)
}

/// The position of the latest entry about an attempt.
fn place_of(it: &AttemptBookings) -> String {
    it.entries.last().map_or_else(String::new, |entry| format!(" ({})", place(entry)))
}

fn place(entry: &RailEntry) -> String {
    let EntryPlace { statement, page, number, .. } = &entry.place;
    let reference =
        entry.reference.as_ref().map_or_else(String::new, |text| format!(", reference {text}"));
    let page = if *page == 1 { String::new() } else { format!(" page {page}") };
    format!("statement {statement}{page} entry {number}{reference}")
}

fn unknown(entry: &RailEntry) -> String {
    let (what, amount) =
        (if entry.booking.is_credit { "credited" } else { "debited" }, entry.booking.amount);
    format!(
        "rail {}: {amount} is {what} but matches no payout ({})",
        entry.place.rail,
        place(entry)
    )
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;
    use domain::money::Money;
    use domain::rail::RailId;

    use super::*;

    #[test]
    fn an_entry_is_reported_with_its_position() {
        let place = EntryPlace {
            rail: RailId::new("pak-raast"),
            statement: "S-1".to_owned(),
            page: 1,
            number: 3,
        };
        let booking =
            Booking { is_credit: false, amount: Money::new(12_345, Currency::Pkr), charges: 0 };
        let mut entry = RailEntry {
            place,
            booking,
            reference: Some("R-9".to_owned()),
            booked: "2026-11-22".to_owned(),
            read_at: Timestamp(0),
            is_open: true,
        };
        assert_eq!(
            unknown(&entry),
            "rail pak-raast: 123.45 PKR is debited but matches no payout (statement S-1 entry 3, reference R-9)"
        );
        (entry.place.page, entry.reference, entry.booking.is_credit) = (2, None, true);
        assert_eq!(
            unknown(&entry),
            "rail pak-raast: 123.45 PKR is credited but matches no payout (statement S-1 page 2 entry 3)"
        );
    }
}
