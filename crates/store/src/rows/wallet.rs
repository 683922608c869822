//! Wallets as rows. The customer's contact data and orders about the wallet are sealed.

use domain::chain::{Address, ChainNumber};
use domain::ids::{IntentId, TenantId, WalletId};
use domain::time::Timestamp;
use domain::wallet::{
    Blacklisting, Block, BlockReason, KycLevel, TriggeredBy, Wallet, WalletState,
};
use jiff::civil::Date;

use super::record::record;
use super::stored::{Stored, stored_struct};

stored_struct! { Block as BlockDoc {
    reason: BlockReason, details: String, at: Timestamp, auto_unblock_at: Option<Timestamp>, triggered_by: TriggeredBy,
} }
stored_struct! { Blacklisting as BlacklistingDoc {
    authority: String, reference: String, reason: String, effective_date: Date, ordered_at: Timestamp,
    at: Option<Timestamp>,
} }
record! {
    WALLET = "wallet" of it: Wallet {
        Key { tenant: TenantId, id: WalletId }
        Kept {
            customer_id: String, blockchain: String, chain: ChainNumber, address: Address,
            created_at: Timestamp,
        }
        Changed { kyc_level: KycLevel, state: WalletState, last_activity_at: Timestamp }
        Guard { version: i64 }
    } document of tenant, id {
        email: String,
        phone: String,
        controller: Address,
        implementation: Address,
        code_version: u32,
        unblocked_at: Option<Timestamp>,
        unblock_reason: Option<String>,
        block: Option<Block>,
        blacklisting: Option<Blacklisting>,
        #[serde(default, skip_serializing_if = "Option::is_none")] superseded: Option<Blacklisting>,
        chain_blacklisted: bool,
        frozen_on_chain: bool,
        freeze: Option<IntentId>,
        follow_up: bool,
        events: i64,
    }
}
