//! The rows of a batch in memory: those loaded, those that the batch changed, and the current
//! command's draft.
//!
//! A command writes into a draft. [`WorkingSet::keep`] adds the draft to the batch,
//! [`WorkingSet::discard`] drops it, so a refused or panicking command has no effect on others.

mod table;
mod wallets;

use domain::attempt::Attempt;
use domain::audit;
use domain::chain::{Address, ChainNumber};
use domain::chain_tx::{ChainTx, Intent};
use domain::country::Country;
use domain::decision::JobChange;
use domain::delivery::{Delivery, DeliveryAttempt, DeliveryStream};
use domain::deposit::{Deposit, UnsupportedAsset};
use domain::event::Event;
use domain::exchange::ExchangeOrder;
use domain::ids::{
    AttemptId, ChainTxId, DepositId, EventId, ExchangeId, IntentId, PaymentId, PaymentRequestId,
    QuoteId, RecallId, SweepId, TenantId, WalletId,
};
use domain::job::Job;
use domain::ledger::{self, Account, AccountCode, LedgerRefusal, Transfer};
use domain::money::Money;
use domain::order::Order;
use domain::payment::{Discrepancy, NewEvent, Payment};
use domain::payment_request::{PaymentRequest, RefundTo, SenderInfo};
use domain::quote::Quote;
use domain::recall::Recall;
use domain::sender_limit::{SenderUsage, UsageKey};
use domain::sweep::Sweep;
use domain::time::Timestamp;
use domain::wallet::{KycLevel, Wallet};
use domain::wallet_effects::Alert;
use domain::wallet_event::WalletEventEntry;
use uuid::Uuid;

use crate::need::{Customer, IdempotencyKey};

pub use table::{Log, Table};
pub use wallets::{ReceiverRow, SignerRow, SponsoredGas};

/// The row that serializes a tenant's writes and numbers its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Number of the latest event of the payment service's log.
    pub payment_seq: i64,
    /// Number of the latest event of the wallet service's log.
    pub wallet_seq: i64,
    /// Whether the payment service's events are delivered. Set by administrators; batches only read
    /// it.
    pub payment_webhooks: bool,
}

/// What an accepted request with an `Idempotency-Key` created, so that a repetition gets the same
/// answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// SHA-256 of the request's body.
    pub body_hash: [u8; 32],
    pub made: Made,
    /// When it was created.
    pub at: Timestamp,
}

/// The record that an accepted request created or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    Quote(QuoteId),
    Payment(PaymentId),
    /// A wallet or a change to it.
    Wallet(WalletId),
    /// A payment request or a change to it.
    Request(PaymentRequestId),
    /// An exchange order or a change to it.
    Exchange(ExchangeId),
    /// A decision about a deposit.
    Deposit(DepositId),
    /// An event, such as that of a wallet's block; or another delivery of one.
    Event(EventId),
}

/// A job change keyed by its subject; `None` = the job is complete.
pub type JobRow = Option<Job>;

macro_rules! working_set {
    ($($(#[$doc:meta])* $field:ident: $kind:ty,)+) => {
        /// The rows of one batch.
        #[derive(Debug)]
        pub struct WorkingSet {
            /// The instant of the decision, on the store's clock.
            pub now: Timestamp,
            $($(#[$doc])* pub $field: $kind,)+
        }

        impl WorkingSet {
            /// An empty set at `now`.
            pub fn new(now: Timestamp) -> WorkingSet {
                WorkingSet { now, $($field: Default::default()),+ }
            }

            /// Adds the current command's draft to the batch.
            pub fn keep(&mut self) {
                $(self.$field.keep();)+
            }

            /// Drops the current command's draft.
            pub fn discard(&mut self) {
                $(self.$field.discard();)+
            }

            /// Whether the batch changes anything.
            pub fn is_unchanged(&self) -> bool {
                $(self.$field.is_unchanged())&&+
            }
        }
    };
}

working_set! {
    /// Heads of the batch's tenants.
    heads: Table<TenantId, Head>,
    quotes: Table<(TenantId, QuoteId), Quote>,
    payments: Table<(TenantId, PaymentId), Payment>,
    attempts: Table<(TenantId, AttemptId), Attempt>,
    recalls: Table<(TenantId, RecallId), Recall>,
    /// Senders' usage at the start of the batch; [`WorkingSet::spent`] adds the batch's own.
    usage_by_rail: Table<(TenantId, UsageKey), SenderUsage>,
    /// The payment of an external_id.
    external_ids: Table<(TenantId, String), PaymentId>,
    accounts: Table<(TenantId, AccountCode), Account>,
    /// Numbers of open quotes.
    open_quotes: Table<(TenantId, Country), i64>,
    idempotency: Table<(TenantId, IdempotencyKey), IdempotencyRecord>,
    jobs: Table<(TenantId, Uuid), JobRow>,
    orders: Log<(TenantId, PaymentId, Order)>,
    transfers: Log<Transfer>,
    /// What moved a prefund or funded a controller, with a reference, by [`domain::ledger::funding_subject`]: the amount, and
    /// when. Derived from the transfers: writers of a new one must write both.
    fundings: Table<(TenantId, Uuid), (Money, Timestamp)>,
    events: Log<Event>,
    discrepancies: Log<(TenantId, Discrepancy)>,
    wallets: Table<(TenantId, WalletId), Wallet>,
    /// The wallet of a customer on a chain. Derived from the wallets: writers of a new wallet must
    /// write both.
    customers: Table<(TenantId, Customer), WalletId>,
    /// The KYC levels of customers' records. Operators write them, batches only read them.
    customer_records: Table<(TenantId, String), KycLevel>,
    /// The fences of roles. Their holders write them, batches only read them.
    roles: Table<String, i64>,
    requests: Table<(TenantId, PaymentRequestId), PaymentRequest>,
    /// Sender submissions, by their number within the request.
    senders: Table<(TenantId, PaymentRequestId, u32), SenderInfo>,
    deposits: Table<(TenantId, DepositId), Deposit>,
    /// Exchange orders; their payout attempts are among the attempts.
    exchanges: Table<(TenantId, ExchangeId), ExchangeOrder>,
    intents: Table<(TenantId, IntentId), Intent>,
    sweeps: Table<(TenantId, SweepId), Sweep>,
    /// Our transactions with all their signed attempts.
    chain_txs: Table<(TenantId, ChainTxId), ChainTx>,
    signers: Table<(TenantId, (ChainNumber, Address)), SignerRow>,
    /// By chain and number of the UTC day.
    sponsored_gas: Table<(TenantId, (ChainNumber, i64)), SponsoredGas>,
    /// Delivery positions of aggregates, by the aggregates' ids.
    streams: Table<(TenantId, Uuid), DeliveryStream>,
    /// Deliveries, by their events.
    deliveries: Table<(TenantId, EventId), Delivery>,
    /// Tenants' webhook endpoints; tenants without one are absent.
    receivers: Table<TenantId, ReceiverRow>,
    sender_infos: Log<(SenderInfo, (WalletId, ChainNumber))>,
    /// New refund addresses that senders entered.
    refund_addresses: Log<RefundTo>,
    /// New events of the wallet service.
    wallet_events: Log<WalletEventEntry>,
    delivery_attempts: Log<DeliveryAttempt>,
    unsupported: Log<UnsupportedAsset>,
    /// Changes of alerts, in the order of the commands: whether each is open afterwards.
    alerts: Log<((TenantId, Alert), bool)>,
    ended_alerts: Log<(TenantId, Alert)>,
    /// Ends of the tenants' audit logs.
    audit_heads: Table<TenantId, audit::Head>,
    /// New entries of audit logs.
    audit_entries: Log<audit::Entry>,
}

impl WorkingSet {
    /// The account as the current command sees it; empty if never used.
    pub fn account(&self, tenant: TenantId, code: &AccountCode) -> Account {
        let key = (tenant, code.clone());
        self.accounts.get(&key).cloned().unwrap_or_else(|| Account::empty(tenant, code.clone()))
    }

    /// Books transfers, all or (by the caller's [`WorkingSet::discard`]) none.
    pub fn book(&mut self, transfers: Vec<Transfer>) -> Result<(), LedgerRefusal> {
        for transfer in transfers {
            let mut debit = self.account(transfer.tenant, &transfer.debit);
            let mut credit = self.account(transfer.tenant, &transfer.credit);
            ledger::book(&mut debit, &mut credit, &transfer)?;
            self.accounts.put((transfer.tenant, transfer.debit.clone()), debit);
            self.accounts.put((transfer.tenant, transfer.credit.clone()), credit);
            self.transfers.add(transfer);
        }
        Ok(())
    }

    /// Adds events to the tenant's log with consecutive numbers.
    pub fn append(&mut self, tenant: TenantId, events: Vec<NewEvent>) {
        let mut head = self.heads.get(&tenant).copied().unwrap_or_default();
        for event in events {
            head.payment_seq += 1;
            self.events.add(Event {
                id: event.kind.aggregate(event.subject).event_id(tenant, event.version),
                tenant,
                seq: head.payment_seq,
                kind: event.kind,
                subject: event.subject,
                version: event.version,
                at: self.now,
                standing: event.standing,
            });
        }
        self.heads.put(tenant, head);
    }

    /// Adds transfers and events as they are, for copies of records: neither the accounts nor the head
    /// follow, which the caller has to save.
    pub fn add_copied(&mut self, transfers: Vec<Transfer>, events: Vec<Event>) {
        transfers.into_iter().for_each(|transfer| self.transfers.add(transfer));
        events.into_iter().for_each(|event| self.events.add(event));
    }

    /// Adds a user's action to the tenant's audit log. The command's need includes the log's end.
    pub fn note(&mut self, tenant: TenantId, deed: audit::AuditContext, note: audit::Note) {
        let mut head = self.audit_heads.get(&tenant).copied().unwrap_or_default();
        self.audit_entries.add(head.append(tenant, self.now, deed, note));
        self.audit_heads.put(tenant, head);
    }

    /// The tenants whose heads the batch changes, in order.
    pub(crate) fn changed_heads(&self) -> std::collections::BTreeSet<TenantId> {
        self.heads.changes().map(|(tenant, ..)| *tenant).collect()
    }

    /// Changes the job of `subject`. The fence stays: only a lease increases it.
    pub fn set_job(&mut self, tenant: TenantId, subject: Uuid, change: JobChange) {
        let old = self.jobs.get(&(tenant, subject)).cloned().flatten();
        let row = match change {
            JobChange::Done => None,
            JobChange::Set(kind, run_at) => Some(Job {
                tenant,
                subject,
                kind,
                run_at,
                fence: old.as_ref().map_or(0, |job| job.fence),
                leased_until: None,
                tries: old.as_ref().filter(|job| job.kind == kind).map_or(0, |job| job.tries + 1),
            }),
        };
        self.jobs.put((tenant, subject), row);
    }

    /// A sender's usage of a rail, including the attempts that this batch began or ended. The
    /// command's need includes the usage.
    pub fn spent(&self, tenant: TenantId, usage_key: &UsageKey) -> SenderUsage {
        let before =
            self.usage_by_rail.get(&(tenant, usage_key.clone())).copied().unwrap_or_default();
        let of_tenant = self.attempts.changes().filter(|((owner, _), ..)| *owner == tenant);
        of_tenant.fold(before, |spent, (_, old, new)| {
            spent + usage_key.share(new)
                - old.map_or(SenderUsage::default(), |old| usage_key.share(old))
        })
    }

    /// Adds the order of a payment.
    pub fn add_order(&mut self, tenant: TenantId, payment: PaymentId, order: Order) {
        self.orders.add((tenant, payment, order));
    }

    /// Adds a discrepancy for review.
    pub fn add_discrepancy(&mut self, tenant: TenantId, discrepancy: Discrepancy) {
        self.discrepancies.add((tenant, discrepancy));
    }
}
