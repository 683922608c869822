//! Ingests what a rail sends besides reports about our attempts: pages of bank statements, and
//! unmatched reports. Both are stored before they are acknowledged to the rail; neither changes any
//! state, except that a queued payment which they name is held.

use domain::bank_statement::BankStatement;
use domain::ports::Rail;
use domain::wallet_effects::{Alert, AlertKind};
use store::{PageTaken, StoreError, UnmatchedContent};

use super::Workers;
use crate::measure;

impl Workers {
    /// Stores pages of statements. A page whose id is stored with different content, or that cannot
    /// be stored, is added to `strays`; `false` if they must be fetched again.
    pub(super) async fn take_statements(
        &self,
        rail: &dyn Rail,
        pages: &[BankStatement],
        strays: &mut Vec<UnmatchedContent>,
    ) -> Result<bool, StoreError> {
        for page in pages {
            // Before: the entries then find the attempts of what is held.
            if !self.hold_booked(rail, page, strays).await? {
                return Ok(false);
            }
            let taken = self.store.keep_statement(rail.id(), page, self.clock().now()).await?;
            let counted = match &taken {
                PageTaken::New => "new",
                PageTaken::Known => "known",
                PageTaken::Other => "other",
                PageTaken::Rejected(_) => "rejected",
            };
            metrics::counter!("corridor_bank_statements_total", "rail" => rail.id().to_string(), "taken" => counted)
                .increment(1);
            tracing::info!(rail = %rail.id(), statement = page.id, page = page.page, source = page.source, taken = counted, "bank statement page ingested");
            let why = match taken {
                PageTaken::New | PageTaken::Known => continue,
                PageTaken::Other => {
                    "was received before with different content; the first one applies".to_owned()
                }
                PageTaken::Rejected(why) => format!("cannot be stored and is left out: {why}"),
            };
            let BankStatement { source, page, id, .. } = page;
            strays.push(format!("{source}: page {page} of statement {id} {why}").into());
        }
        Ok(true)
    }

    /// Stores unmatched reports and alerts the operators of the payment's tenant about new ones; of
    /// every tenant, where it is unknown.
    pub(super) async fn keep_strays(
        &self,
        rail: &dyn Rail,
        strays: &[UnmatchedContent],
    ) -> Result<(), StoreError> {
        if strays.is_empty() {
            return Ok(());
        }
        let new = self.store.new_strays(rail.id(), strays).await?;
        if new.is_empty() {
            return Ok(());
        }
        let mut alerts = Vec::new();
        for tenant in self.store.tenants().await? {
            let concerns = |it: &&UnmatchedContent| it.owner.is_none_or(|owner| owner == tenant.id);
            let mut about = new.iter().filter(concerns);
            let Some(UnmatchedContent { what: first, .. }) = about.next() else { continue };
            let more = match about.count() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let what = format!("rail {}: {first}{more}", rail.id());
            let alert = Alert { kind: AlertKind::Discrepancy, subject: tenant.id.0, what };
            measure::alert(&alert);
            alerts.push((tenant.id, alert));
        }
        self.store.keep_strays(rail.id(), &new, &alerts, self.clock().now()).await
    }
}
