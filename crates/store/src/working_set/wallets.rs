//! What commands of the wallet service add to a batch.

use domain::chain::KeyRole;
use domain::delivery::DeliveryAttempt;
use domain::deposit::UnsupportedAsset;
use domain::ids::{TenantId, WalletId};
use domain::payment_request::{RefundTo, SenderInfo};
use domain::time::Timestamp;
use domain::wallet_effects::Alert;
use domain::wallet_event::{NewWalletEvent, Subscriptions, WalletEventEntry};

use super::WorkingSet;

/// An address that signs for a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignerRow {
    /// Which of the tenant's keys it is.
    pub role: KeyRole,
    /// The lowest nonce that no transaction of ours has.
    pub next_nonce: u64,
}

/// Where a tenant's webhooks go, as far as batches are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverRow {
    /// Since when it gets nothing, and why; `None` = it gets everything.
    pub disabled: Option<(Timestamp, String)>,
    /// The optional events that it gets.
    pub subscriptions: Subscriptions,
    /// Rises by one with every change of the row.
    pub version: i64,
}

impl WorkingSet {
    /// Adds events to the tenant's log of the wallet service, numbering them on; the new entries.
    pub fn append_wallet(&mut self, tenant: TenantId, events: Vec<NewWalletEvent>) -> Vec<WalletEventEntry> {
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

    /// Adds what a sender said, with the wallet that their escrow pays.
    pub fn add_sender(&mut self, info: SenderInfo, wallet: WalletId) {
        if let Some(number) = info.number {
            self.senders.put((info.tenant, info.request, number), info.clone());
        }
        self.sender_infos.add((info, wallet));
    }

    /// Adds where a sender wants money sent back.
    pub fn add_refund_address(&mut self, answer: RefundTo) {
        self.refund_addresses.add(answer);
    }

    /// Sends a tenant's receiver nothing more; where there is none, there is nothing to do.
    pub fn disable_receiver(&mut self, tenant: TenantId, why: &str) {
        let Some(row) = self.receivers.get(&tenant).filter(|row| row.disabled.is_none()) else { return };
        let disabled = Some((self.now, why.to_owned()));
        let row = ReceiverRow { disabled, version: row.version + 1, ..row.clone() };
        self.receivers.put(tenant, row);
    }

    /// Adds a try to deliver.
    pub fn add_delivery_attempt(&mut self, attempt: DeliveryAttempt) {
        self.delivery_attempts.add(attempt);
    }

    /// Adds a token that nobody supports; one that is known already stays as it is.
    pub fn add_unsupported(&mut self, asset: UnsupportedAsset) {
        self.unsupported.add(asset);
    }

    /// Adds something for a person to look at; one that lies open already stays as it is.
    pub fn add_alert(&mut self, tenant: TenantId, alert: Alert) {
        self.alerts.add((tenant, alert));
    }
}
