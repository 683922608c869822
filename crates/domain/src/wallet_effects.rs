//! What one decision of the wallet service writes beside the things that it changed. One commit or nothing.

use uuid::Uuid;

use crate::chain::vault;
use crate::ledger::Transfer;
use crate::payment::JobChange;
use crate::wallet_event::{NewWalletEvent, OptionalEvent};

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// A webhook was given up.
    DeliveryDead,
    /// A receiver answered 410: it gets nothing more.
    ReceiverGone,
    /// A block deeper than the policy's depth was reorganised away with money in it.
    DeepReorg,
    /// A token moves nothing, has other code, or has an address of ours on its blacklist.
    TokenChanged,
    /// A token that is not supported was paid to a watched address.
    UnsupportedAsset,
    /// Money came straight to a wallet's address.
    DirectDeposit,
    /// Money that is too little to be judged came from, or in the name of, a listed party.
    ListedDust,
    /// A transaction of ours failed, or is stuck at the highest fee.
    Transaction,
    /// A signer has little left to pay for gas.
    LowGas,
    /// Two nodes, or the chain and the ledger, do not agree.
    ChainMismatch,
    /// A node of the chain cannot serve, lags, or claims what cannot be believed.
    ChainNode,
    /// The rail returned a pay-out after the order was SETTLED, or what it says contradicts the order; or an order is
    /// withheld because of its account holder's name.
    Payout,
    /// A regulator's order that the token's issuer has to carry out.
    BlacklistByIssuer,
    /// What a rail reports of a payment contradicts what is known, or is about no payment of ours.
    Discrepancy,
    /// A bank's statement and the ledger do not agree.
    RailMismatch,
}

impl AlertKind {
    /// Every kind.
    pub const ALL: [AlertKind; 15] = [
        AlertKind::DeliveryDead,
        AlertKind::ReceiverGone,
        AlertKind::DeepReorg,
        AlertKind::TokenChanged,
        AlertKind::UnsupportedAsset,
        AlertKind::DirectDeposit,
        AlertKind::ListedDust,
        AlertKind::Transaction,
        AlertKind::LowGas,
        AlertKind::ChainMismatch,
        AlertKind::ChainNode,
        AlertKind::Payout,
        AlertKind::BlacklistByIssuer,
        AlertKind::Discrepancy,
        AlertKind::RailMismatch,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            AlertKind::DeliveryDead => "delivery_dead",
            AlertKind::ReceiverGone => "receiver_gone",
            AlertKind::DeepReorg => "deep_reorg",
            AlertKind::TokenChanged => "token_changed",
            AlertKind::UnsupportedAsset => "unsupported_asset",
            AlertKind::DirectDeposit => "direct_deposit",
            AlertKind::ListedDust => "listed_dust",
            AlertKind::Transaction => "transaction",
            AlertKind::LowGas => "low_gas",
            AlertKind::ChainMismatch => "chain_mismatch",
            AlertKind::ChainNode => "chain_node",
            AlertKind::Payout => "payout",
            AlertKind::BlacklistByIssuer => "blacklist_by_issuer",
            AlertKind::Discrepancy => "discrepancy",
            AlertKind::RailMismatch => "rail_mismatch",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<AlertKind> {
        AlertKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Something that a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// What kind of thing.
    pub kind: AlertKind,
    /// The deposit, order, wallet, event … that it is about.
    pub subject: Uuid,
    /// What happened; no personal data.
    pub what: String,
}

impl Alert {
    /// What people name it by. Computed: the same words about the same thing are one alert. Shaped as a version 4 UUID.
    pub fn id(&self) -> Uuid {
        let (kind, what) = (self.kind.name().as_bytes(), self.what.as_bytes());
        let word = vault::hash(&[b"corridor.alert", self.subject.as_bytes(), kind, what]);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&word.0[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// All that one decision writes beside the things that it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalletEffects {
    /// Balanced transfers, in the order in which they are booked.
    pub transfers: Vec<Transfer>,
    /// Events in order.
    pub events: Vec<NewWalletEvent>,
    /// Events for endpoints that subscribe to them, after all of `events`.
    pub optional: Vec<OptionalEvent>,
    /// What becomes of jobs, by their subjects.
    pub jobs: Vec<(Uuid, JobChange)>,
    /// What a person has to look at.
    pub alerts: Vec<Alert>,
}

impl WalletEffects {
    /// Adds all that `other` writes, behind what is here.
    pub fn merge(&mut self, other: WalletEffects) {
        self.transfers.extend(other.transfers);
        self.events.extend(other.events);
        self.optional.extend(other.optional);
        self.jobs.extend(other.jobs);
        self.alerts.extend(other.alerts);
    }
}
