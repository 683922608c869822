//! Additions of wallet commands to a batch.

use domain::chain::KeyRole;
use domain::delivery::DeliveryAttempt;
use domain::deposit::UnsupportedAsset;
use domain::ids::TenantId;
use domain::payment_request::{PaymentRequest, RefundTo, SenderInfo};
use domain::time::Timestamp;
use domain::wallet_effects::Alert;
use domain::wallet_event::{NewWalletEvent, Subscriptions, WalletEventEntry};

use super::WorkingSet;

/// An alert of a tenant.
pub(crate) type TenantAlert = (TenantId, Alert);

/// A tenant's signer address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignerRow {
    /// The role of its key.
    pub role: KeyRole,
    /// The lowest nonce that none of our transactions uses.
    pub next_nonce: u64,
}

/// The gas that a tenant's sponsored transfers of one day and chain may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SponsoredGas {
    /// Sum of their gas limits.
    pub gas: u64,
}

/// A tenant's webhook endpoint, as far as batches need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverRow {
    /// Since when it is disabled, and why; `None` = it is enabled.
    pub disabled: Option<(Timestamp, String)>,
    /// The optional events that it receives.
    pub subscriptions: Subscriptions,
    /// Increases by one with every change of the row.
    pub version: i64,
}

impl WorkingSet {
    /// Adds events to the tenant's wallet log with consecutive numbers; returns the new entries.
    pub fn append_wallet(
        &mut self,
        tenant: TenantId,
        events: Vec<NewWalletEvent>,
    ) -> Vec<WalletEventEntry> {
        let mut head = self.heads.get(&tenant).copied().unwrap_or_default();
        let mut entries = Vec::with_capacity(events.len());
        for new in events {
            head.wallet_seq += 1;
            entries.push(WalletEventEntry {
                id: new.aggregate.event_id(tenant, new.version),
                tenant,
                seq: head.wallet_seq,
                aggregate: new.aggregate,
                version: new.version,
                at: self.now,
                event: new.event,
            });
        }
        entries.iter().for_each(|entry| self.wallet_events.add(entry.clone()));
        self.heads.put(tenant, head);
        entries
    }

    /// Adds a sender's submission for a request, whose wallet its escrow pays.
    pub fn add_sender(&mut self, info: SenderInfo, request: &PaymentRequest) {
        if let Some(number) = info.number {
            self.senders.put((info.tenant, info.request, number), info.clone());
        }
        self.sender_infos.add((info, (request.wallet, request.chain)));
    }

    /// Adds a refund address that a sender entered.
    pub fn add_refund_address(&mut self, answer: RefundTo) {
        self.refund_addresses.add(answer);
    }

    /// Disables a tenant's endpoint, if it has one.
    pub fn disable_receiver(&mut self, tenant: TenantId, why: &str) {
        let Some(row) = self.receivers.get(&tenant).filter(|row| row.disabled.is_none()) else {
            return;
        };
        let disabled = Some((self.now, why.to_owned()));
        let row = ReceiverRow { disabled, version: row.version + 1, ..row.clone() };
        self.receivers.put(tenant, row);
    }

    /// Adds a delivery attempt.
    pub fn add_delivery_attempt(&mut self, attempt: DeliveryAttempt) {
        self.delivery_attempts.add(attempt);
    }

    /// Adds an unsupported token; a known one is left unchanged.
    pub fn add_unsupported(&mut self, asset: UnsupportedAsset) {
        self.unsupported.add(asset);
    }

    /// Closes an alert, whether it was open before or added in this batch.
    pub fn close_alert(&mut self, tenant: TenantId, alert: Alert) {
        self.alerts.add(((tenant, alert), false));
    }

    /// Closes all alerts of this kind and subject whose text begins so, whether they were open before or
    /// added in this batch.
    pub fn end_alerts(&mut self, tenant: TenantId, ended: Alert) {
        let is_ended = |it: &Alert| {
            (it.kind, it.subject) == (ended.kind, ended.subject) && it.what.starts_with(&ended.what)
        };
        let added = self.alerts.added().iter();
        let added: Vec<TenantAlert> = added
            .filter(|((of, alert), is_open)| *is_open && *of == tenant && is_ended(alert))
            .map(|(alert, _)| alert.clone())
            .collect();
        added.into_iter().for_each(|alert| self.alerts.add((alert, false)));
        self.ended_alerts.add((tenant, ended));
    }

    /// Adds an alert; an open one is left unchanged.
    pub fn add_alert(&mut self, tenant: TenantId, alert: Alert) {
        self.alerts.add(((tenant, alert), true));
    }

    /// The alerts that commands of the batch have raised.
    pub fn raised(&self) -> impl Iterator<Item = &Alert> {
        let raised = self.alerts.added().iter().filter(|(_, is_open)| *is_open);
        raised.map(|((_, alert), _)| alert)
    }

    /// The alerts that the batch closes, and those that it leaves open: of one alert the last change
    /// counts.
    pub(crate) fn alert_changes(&self) -> (Vec<&TenantAlert>, Vec<&TenantAlert>) {
        let changes = self.alerts.added();
        let is_last = |at: usize, alert| changes[at + 1..].iter().all(|(later, _)| later != alert);
        let closed = changes.iter().filter(|(_, is_open)| !is_open).map(|(alert, _)| alert);
        let left = changes.iter().enumerate();
        let left = left.filter(|(at, (alert, is_open))| *is_open && is_last(*at, alert));
        (closed.collect(), left.map(|(_, (alert, _))| alert).collect())
    }
}
