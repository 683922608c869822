//! Everything that one decision of the wallet service writes apart from the changed records.
//! Committed together or not at all.

use uuid::Uuid;

use crate::attempt::Attempt;
use crate::chain::vault;
use crate::decision::JobChange;
use crate::ledger::Transfer;
use crate::wallet_event::{NewWalletEvent, OptionalEvent};

names! {
    /// Kind of an alert.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AlertKind: "Name in the store." {
        /// A webhook delivery was given up.
        DeliveryDead = "delivery_dead",
        /// An endpoint answered 410: its deliveries are disabled.
        ReceiverGone = "receiver_gone",
        /// A block deeper than the policy's depth was reorganised away with money in it.
        DeepReorg = "deep_reorg",
        /// A token is paused, has changed code, or has blacklisted one of our addresses.
        TokenChanged = "token_changed",
        /// The admin of a tenant's controller announced another treasury, admin or role holder.
        ControllerAdmin = "controller_admin",
        /// An unsupported token was paid to a watched address.
        UnsupportedAsset = "unsupported_asset",
        /// A payment went directly to a wallet's address.
        DirectDeposit = "direct_deposit",
        /// Dust was paid by, or in the name of, a listed party.
        ListedDust = "listed_dust",
        /// Several deposits to a wallet were rejected for the names that their senders entered.
        ListedNames = "listed_names",
        /// One of our transactions failed, or is stuck at the highest fee.
        Transaction = "transaction",
        /// A signer's gas balance is low.
        LowGas = "low_gas",
        /// Two nodes, or the chain and the ledger, disagree.
        ChainMismatch = "chain_mismatch",
        /// A node cannot serve, lags, or reports implausible data.
        ChainNode = "chain_node",
        /// The rail returned a payout after the order was SETTLED, or its report contradicts the order;
        /// or an order is withheld because of its account holder's name.
        Payout = "payout",
        /// A regulator's order that the token's issuer has to execute.
        BlacklistByIssuer = "blacklist_by_issuer",
        /// A rail's report contradicts a payment's state, or matches no payment.
        Discrepancy = "discrepancy",
        /// A bank did not answer a recall in time, or agreed and did not return the money; or asks
        /// for the return of a payment.
        Recall = "recall",
        /// A bank statement and the ledger disagree.
        RailMismatch = "rail_mismatch",
        /// A relay does not send events to its broker.
        Relay = "relay",
        /// A source of rates cannot be used, contradicts another one, or states a rate that moved
        /// too far.
        RateSource = "rate_source",
        /// A sanction list cannot be refreshed: its source cannot be read, or is refused.
        SanctionList = "sanction_list",
        /// Payments over a rail fail, or its reports cannot be fetched.
        RailFaults = "rail_faults",
    }
}

/// An alert for an operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alert {
    /// Kind of the alert.
    pub kind: AlertKind,
    /// Subject: a deposit, order, wallet, event …
    pub subject: Uuid,
    /// Description without personal data.
    pub what: String,
}

impl Alert {
    /// Id of the alert. Derived: the same description of the same subject is one alert. Has the
    /// form of a version 4 UUID.
    pub fn id(&self) -> Uuid {
        let (kind, what) = (self.kind.name().as_bytes(), self.what.as_bytes());
        let word = vault::hash(&[b"corridor.alert", self.subject.as_bytes(), kind, what]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&word.0[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// Everything that one decision writes apart from the changed records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalletEffects {
    /// Balanced transfers, in booking order.
    pub transfers: Vec<Transfer>,
    /// Events to append to the log, in this order.
    pub events: Vec<NewWalletEvent>,
    /// Events that need a subscription, after all of `events`.
    pub optional: Vec<OptionalEvent>,
    /// Changes of jobs, by subject.
    pub jobs: Vec<(Uuid, JobChange)>,
    /// Alerts to close, before any is raised; one that is not open is left alone.
    pub closed: Vec<Alert>,
    /// Alerts to close, before any is raised: each stands for all open ones of its kind and subject
    /// whose text begins with its own.
    pub ended: Vec<Alert>,
    /// Alerts to raise; one that is already known is not raised again.
    pub alerts: Vec<Alert>,
    /// Attempts that begin beside the one that the decision is about.
    pub attempts: Vec<Attempt>,
}

impl WalletEffects {
    /// Appends everything that `other` writes.
    pub fn merge(&mut self, other: WalletEffects) {
        self.transfers.extend(other.transfers);
        self.events.extend(other.events);
        self.optional.extend(other.optional);
        self.jobs.extend(other.jobs);
        self.closed.extend(other.closed);
        self.ended.extend(other.ended);
        self.alerts.extend(other.alerts);
        self.attempts.extend(other.attempts);
    }
}
