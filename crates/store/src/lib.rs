//! The only crate with SQL: loads the rows of a batch of commands, saves its changes in one commit,
//! and answers reads.
//!
//! SQL is written once over two thin drivers, SQLite (one writer thread, WAL, `synchronous=FULL`)
//! and PostgreSQL (pipelined, set-based). Nothing here makes business decisions: it stores what
//! `domain` decided, guarded by constraints that hold even if a decision was wrong.

mod admin;
mod audit;
mod chain_view;
mod driver;
mod error;
mod keyed_id;
mod load;
mod migrate;
pub mod need;
pub mod options;
mod rails;
mod reads;
mod registry;
mod rows;
mod save;
mod sealed;
#[cfg(feature = "simulation")]
mod simulation;
mod sql;
mod store;
pub mod working_set;

pub use admin::access_keys::KeyRow;
pub use admin::answers::KeptAnswer;
pub use admin::approvals::NewApproval;
pub use admin::brand::BrandHead;
pub use admin::case_files::StoredFile;
pub use admin::cases::{CaseNote, CaseRef, CaseWork};
pub use admin::chains::KnownChain;
pub use admin::customers::CustomerRecord;
pub use admin::departures::Departure;
pub use admin::keys::Unopenable;
pub use admin::lists::{KeptDocument, KeptList};
pub use admin::meta::CLOCK_OFFSET;
pub use admin::permits::Permits;
pub use admin::relays::{RelayBehind, RelayCursor};
pub use admin::roles::{RoleLease, node_role};
pub use admin::saved_views::{SAVED_VIEWS_MAX, SavedView};
pub use admin::secrets::{KeySecret, SECRETS_MAX};
pub use admin::sessions::{Backoff, NewSession, SessionRow, Stage};
pub use admin::tenants::Tenant;
pub use admin::users::{
    NewUser, ProviderLogin, StoredUser, TOTP_SECRET_BYTES, TotpSecret, UserChange,
};
pub use admin::webhooks::Webhook;
pub use audit::{
    AUDIT_LIST_MAX, AUDIT_SEARCHED_MAX, AuditChain, AuditFilter, AuditPart, AuditPlace,
    AuditReport, AuditSigner, AuditVerdict, Checkpoint, CheckpointFault,
};
pub use chain_view::{HEADER_EVERY, HEADERS_KEPT, HEADERS_REACH, HeldRole};
pub use driver::postgres::client_certificate;
pub use error::{ExecuteError, StoreError};
pub use migrate::MigrationReport;
pub use options::Options;
pub use rails::breaks::{RailFindings, RailNoted};
pub use rails::entries::{AttemptBookings, Covered, EntryPlace, Lacking, RailEntry};
pub use rails::ids::SentMessage;
pub use rails::intake::PageTaken;
pub use rails::strays::{UnmatchedContent, UnmatchedReport};
pub use reads::console::books::{
    AccountPage, TRANSFERS_LOOKED_AT_MAX, TRANSFERS_TAKEN_BACK_MAX, TrialLine,
};
pub use reads::console::find::{Found, IDS_COMPARED_MAX, RECORDS_FOUND_MAX};
pub use reads::console::overview::{COUNTED_MAX, OverviewCount, Tallies, Unreleased};
pub use reads::console::payments::{Backlog, PageFrom, PaymentMark, PaymentsPage, PaymentsWanted};
pub use reads::console::people::RECORDS_COMPARED_MAX;
pub use reads::console::search::{PAYMENTS_SEARCHED_MAX, PaymentSearch, PaymentsFound};
pub use reads::console::waiting::Waiting;
pub use reads::deliveries::{
    DELIVERIES_COUNTED_MAX, DeliveredEvent, DeliveryCount, DeliveryFilter, DeliveryRecord, EventsOf,
};
pub use reads::events::{EventRecord, EventSubject};
pub use reads::jobs::JobCount;
pub use reads::keyset::{IdFrom, KeysetFrom, KeysetPage, KeysetWanted, Mark};
pub use reads::ledger::BookFault;
pub use reads::list::{ListFilter, Search};
pub use reads::page::{Listed, Page};
pub use reads::payment_deliveries::UntoldEvent;
pub use reads::payments::Record;
pub use reads::reconcile::{Moving, MovingKind, RailBooks, VaultBooks};
pub use reads::references::References;
pub use reads::statement::{AccountPeriod, SideTotals, Totals};
pub use reads::upkeep::{EVENTS_KEPT, IDEMPOTENCY_KEPT, Pruned};
pub use reads::wallet_office::{Sheet, WalletFilter, Wanted};
pub use reads::wallets::{Transaction, TransactionKind};
pub use registry::keyed_statements_of_postgres;
pub use rows::ledger::StoredTransfer;
pub use store::{Committed, Store, TRIES_MAX};
