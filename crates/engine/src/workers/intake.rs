//! Ingests what a rail sends besides reports about our attempts: pages of bank statements, and
//! unmatched reports. Both are stored before they are acknowledged to the rail; neither changes any
//! state.

use domain::bank_statement::BankStatement;
use domain::ports::Rail;
use domain::wallet_effects::{Alert, AlertKind};
use store::{PageTaken, StoreError};

use super::Workers;
use crate::measure;

impl Workers {
    /// Stores pages of statements. A page whose id is stored with different content is added to
    /// `strays`.
    pub(super) async fn take_statements(
        &self,
        rail: &dyn Rail,
        pages: &[BankStatement],
        strays: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        for page in pages {
            let taken = self.store.keep_statement(rail.id(), page, self.clock().now()).await?;
            let counted = match taken {
                PageTaken::New => "new",
                PageTaken::Known => "known",
                PageTaken::Other => "other",
            };
            metrics::counter!("corridor_bank_statements_total", "rail" => rail.id().to_string(), "taken" => counted)
                .increment(1);
            tracing::info!(rail = %rail.id(), statement = page.id, page = page.page, source = page.source, taken = counted, "bank statement page ingested");
            if taken == PageTaken::Other {
                strays.push(format!(
                    "{}: page {} of statement {} was received before with different content; the first one applies",
                    page.source, page.page, page.id
                ));
            }
        }
        Ok(())
    }

    /// Stores unmatched reports and alerts every tenant's operators about new ones, since their
    /// tenant is unknown.
    pub(super) async fn keep_strays(
        &self,
        rail: &dyn Rail,
        strays: &[String],
    ) -> Result<(), StoreError> {
        if strays.is_empty() {
            return Ok(());
        }
        let new = self.store.new_strays(rail.id(), strays).await?;
        let Some(first) = new.first() else { return Ok(()) };
        let more = match new.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let what = format!("rail {}: {first}{more}", rail.id());
        let mut alerts = Vec::new();
        for tenant in self.store.tenants().await? {
            let alert =
                Alert { kind: AlertKind::Discrepancy, subject: tenant.id.0, what: what.clone() };
            measure::alert(&alert);
            alerts.push((tenant.id, alert));
        }
        self.store.keep_strays(rail.id(), &new, &alerts, self.clock().now()).await
    }
}
