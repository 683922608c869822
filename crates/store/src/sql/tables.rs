//! All tables of `migrations/` whose rows have a fixed form, and the columns of those that have no
//! record in `rows`.

use super::table::{Table, table};
use crate::admin::access_keys::ACCESS_KEY;
use crate::rows;

macro_rules! all {
    ($($own:ident)+; $($module:ident { $($table:ident)+ })+) => {
        static ALL: &[&Table] =
            &[&ACCESS_KEY, $(&$own,)+ $($(&rows::$module::$table,)+)+];
    };
}
all! {
    TENANT BATCH PAYMENT_ORDER PAYMENT_SEARCH EXTERNAL_ID LINKED_REFERENCE OPEN_QUOTES DISCREPANCY
    CONSOLE_USER APPROVAL ALERT RAIL_ID RAIL_STATEMENT RAIL_ENTRY RAIL_BREAK RAIL_STRAY;
    attempt { ATTEMPT }
    audit { AUDIT_ENTRY AUDIT_HEAD AUDIT_CHECKPOINT }
    chain { WATCHED_ADDRESS CHAIN_SIGNER SPONSORED_GAS CHAIN_LOG UNSUPPORTED_ASSET }
    chain_tx { CHAIN_TX CHAIN_ATTEMPT }
    delivery { DELIVERY DELIVERY_ATTEMPT DELIVERY_STREAM WEBHOOK_ENDPOINT }
    deposit { DEPOSIT }
    event { EVENT }
    exchange { EXCHANGE_ORDER }
    intent { CHAIN_INTENT }
    job { JOB }
    ledger { ACCOUNT TRANSFER }
    payment { PAYMENT }
    quote { QUOTE }
    recall { RECALL }
    request { PAYMENT_REQUEST SENDER_INFO REFUND_ADDRESS }
    small { TENANT_HEAD IDEMPOTENCY CUSTOMER }
    sweep { SWEEP }
    wallet { WALLET }
    wallet_event { WALLET_EVENT }
}

/// The table of this name.
pub(crate) fn named(name: &str) -> Option<&'static Table> {
    ALL.iter().copied().find(|table| table.name == name)
}

table! {
    TENANT = "tenant" {
        Key { id: Uuid }
        Kept { tag: Text, name: Text, policy: Text, created_at: Int }
    }
    BATCH = "batch" {
        Key { id: Uuid }
        Kept { at: Int, landed: Int }
    }
    PAYMENT_ORDER = "payment_order" {
        Key { tenant: Uuid, payment: Uuid }
        Kept { document: Bytes }
    }
    PAYMENT_SEARCH = "payment_search" {
        Key { tenant: Uuid, at: Int, payment: Uuid }
        Kept { amount: Int, base: Int, digests: Bytes }
    }
    EXTERNAL_ID = "external_id" {
        Key { tenant: Uuid, external_id: Text }
        Kept { payment: Uuid }
    }
    LINKED_REFERENCE = "linked_reference" {
        Key { tenant: Uuid, reference: Text, payment: Uuid }
    }
    OPEN_QUOTES = "open_quotes" {
        Key { tenant: Uuid, country: Text }
        Guard { count: Int }
    }
    DISCREPANCY = "discrepancy" {
        Key { tenant: Uuid, attempt: Uuid, digest: Uuid }
        Kept { payment: Uuid, what: Text, at: Int }
    }
    CONSOLE_USER = "console_user" {
        Key { id: Uuid }
        Kept {
            login: Text, scope: Uuid, roles: Text, password: Text, password_at: Int,
            password_is_initial: Int, totp: Bytes, totp_step: Int, created_at: Int,
            disabled_at: Int, version: Int, provider_name: Text, provider_issuer: Text,
            provider_subject: Text,
        }
    }
    APPROVAL = "approval" {
        Key { tenant: Uuid, id: Uuid }
        Kept {
            state: Text, maker: Uuid, maker_login: Text, created_at: Int, expires_at: Int,
            checker: Uuid, checker_login: Text, decided_at: Int, document: Bytes, outcome: Bytes,
        }
    }
    ALERT = "alert" {
        Key { tenant: Uuid, subject: Uuid, kind: Text, digest: Uuid }
        Kept { what: Text, at: Int }
    }
    RAIL_ID = "rail_id" {
        Key { rail: Text, head: Int, attempt: Uuid }
        Kept { message: Text, position: Int }
    }
    RAIL_STATEMENT = "rail_statement" {
        Key { rail: Text, statement: Text, page: Int }
        Kept {
            is_last: Int, account: Text, currency: Text, from_at: Int, to_at: Int, opening: Int,
            closing: Int, turnover: Int, entries: Int, digest: Uuid, source: Text, read_at: Int,
            is_open: Int,
        }
    }
    RAIL_ENTRY = "rail_entry" {
        Key { rail: Text, statement: Text, page: Int, number: Int }
        Kept {
            tenant: Uuid, attempt: Uuid, is_credit: Int, is_own: Int, amount: Int, currency: Text,
            charges: Int, reference: Text, booked: Text, read_at: Int,
        }
        Changed { is_open: Int }
    }
    RAIL_BREAK = "rail_break" {
        Key { tenant: Uuid, subject: Uuid, digest: Uuid }
        Kept { rail: Text, kind: Text, what: Text, at: Int, closed_at: Int, closed_by: Text }
    }
    RAIL_STRAY = "rail_stray" {
        Key { rail: Text, digest: Uuid }
        Kept { what: Text, at: Int, tenant: Uuid }
    }
}
