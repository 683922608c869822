//! Takes in what a rail brings beside reports about attempts of ours: pages of banks' statements, and reports about
//! nothing of ours. Both are kept in the store before the rail is told that they are safe; neither changes anything.

use domain::bank_statement::BankStatement;
use domain::ports::Rail;
use domain::wallet_effects::{Alert, AlertKind};
use store::{PageTaken, StoreError};

use super::Workers;
use crate::measure;

impl Workers {
    /// Keeps pages of statements. What cannot be kept, because another content stands under its id, is added to `strays`.
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
                    "{}: page {} of statement {} came before with another content; the first one counts",
                    page.source, page.page, page.id
                ));
            }
        }
        Ok(())
    }

    /// Keeps what is about nothing of ours, and calls a person of every tenant for what is new of it: nobody can say whose
    /// it is.
    pub(super) async fn keep_strays(&self, rail: &dyn Rail, strays: &[String]) -> Result<(), StoreError> {
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
            let alert = Alert { kind: AlertKind::Discrepancy, subject: tenant.id.0, what: what.clone() };
            measure::alert(&alert);
            alerts.push((tenant.id, alert));
        }
        self.store.keep_strays(rail.id(), &new, &alerts, self.clock().now()).await
    }
}
