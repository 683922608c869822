//! Saves the wallet service's records.

use domain::chain_tx::IntentState;

use super::{Saver, sorted, statements};
use crate::error::StoreError;
use crate::rows;
use crate::rows::record::Record;
use crate::sql::{Columns, Kind, Stmt, tables};
use crate::working_set::WorkingSet;

statements! {
    WALLET_UPDATE = update("save.wallet_update", rows::wallet::WALLET);
    WALLET_INSERT = insert("save.wallet_insert", rows::wallet::WALLET);
    REQUEST_UPDATE = update("save.request_update", rows::request::PAYMENT_REQUEST);
    REQUEST_INSERT = insert("save.request_insert", rows::request::PAYMENT_REQUEST);
    WATCHED_INSERT = insert("save.watched_insert", rows::chain::WATCHED_ADDRESS);
    SENDER_INSERT = insert("save.sender_insert", rows::request::SENDER_INFO);
    REFUND_ADDRESS_INSERT = insert("save.refund_address_insert", rows::request::REFUND_ADDRESS);
    DEPOSIT_UPDATE = update("save.deposit_update", rows::deposit::DEPOSIT);
    DEPOSIT_INSERT = insert("save.deposit_insert", rows::deposit::DEPOSIT);
    EXCHANGE_UPDATE = update("save.exchange_update", rows::exchange::EXCHANGE_ORDER);
    EXCHANGE_INSERT = insert("save.exchange_insert", rows::exchange::EXCHANGE_ORDER);
    INTENT_UPDATE = update("save.intent_update", rows::intent::CHAIN_INTENT);
    INTENT_INSERT = insert("save.intent_insert", rows::intent::CHAIN_INTENT);
    SWEEP_UPDATE = update("save.sweep_update", rows::sweep::SWEEP);
    SWEEP_INSERT = insert("save.sweep_insert", rows::sweep::SWEEP);
    TX_UPDATE = update("save.chain_tx_update", rows::chain_tx::CHAIN_TX);
    TX_INSERT = insert("save.chain_tx_insert", rows::chain_tx::CHAIN_TX);
    SIGNED_INSERT = insert("save.chain_attempt_insert", rows::chain_tx::CHAIN_ATTEMPT);
    SIGNER_UPDATE = update("save.signer_update", rows::chain::CHAIN_SIGNER);
    SIGNER_INSERT = insert("save.signer_insert", rows::chain::CHAIN_SIGNER);
    SPONSORED_GAS_UPDATE = update("save.sponsored_gas_update", rows::chain::SPONSORED_GAS);
    SPONSORED_GAS_INSERT = insert("save.sponsored_gas_insert", rows::chain::SPONSORED_GAS);
    STREAM_UPDATE = update("save.stream_update", rows::delivery::DELIVERY_STREAM);
    STREAM_INSERT = insert("save.stream_insert", rows::delivery::DELIVERY_STREAM);
    DELIVERY_UPDATE = update("save.delivery_update", rows::delivery::DELIVERY);
    DELIVERY_INSERT = insert("save.delivery_insert", rows::delivery::DELIVERY);
    DELIVERY_ATTEMPT_INSERT = insert("save.delivery_attempt_insert", rows::delivery::DELIVERY_ATTEMPT);
    RECEIVER_UPDATE = update("save.receiver_update", rows::delivery::WEBHOOK_ENDPOINT);
    UNSUPPORTED_INSERT = insert_if_absent("save.unsupported_insert", rows::chain::UNSUPPORTED_ASSET);
    ALERT_DELETE = delete("save.alert_delete", tables::ALERT);
    ALERT_INSERT = insert_if_absent("save.alert_insert", tables::ALERT);
    WALLET_EVENT_INSERT = insert("save.wallet_event_insert", rows::wallet_event::WALLET_EVENT);
}

/// Alerts of a kind and a subject that have ended, whatever follows in their text.
pub(super) static ALERTS_END: Stmt = Stmt::by_keys(
    "save.alerts_end",
    &[
        ("tenant", Kind::Uuid),
        ("subject", Kind::Uuid),
        ("kind", Kind::Text),
        ("beginning", Kind::Text),
    ],
    "DELETE FROM alert WHERE (tenant, subject, kind, digest) IN \
     (SELECT a.tenant, a.subject, a.kind, a.digest FROM {{keys}} JOIN alert a \
     ON a.tenant = k.tenant AND a.subject = k.subject AND a.kind = k.kind \
     AND substr(a.what, 1, length(k.beginning)) = k.beginning)",
);

/// Wallets and requests with their vaults, deposits, orders, on-chain actions, deliveries.
pub(super) fn save<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    saver.changed(&ws.wallets, (&WALLET_UPDATE, &WALLET_INSERT))?;
    saver.changed(&ws.requests, (&REQUEST_UPDATE, &REQUEST_INSERT))?;
    save_watched(ws, saver)?;
    saver.added(&SENDER_INSERT, ws.sender_infos.added().iter().map(|(info, _)| info));
    saver.added(&REFUND_ADDRESS_INSERT, ws.refund_addresses.added().iter());
    saver.changed(&ws.deposits, (&DEPOSIT_UPDATE, &DEPOSIT_INSERT))?;
    saver.changed(&ws.exchanges, (&EXCHANGE_UPDATE, &EXCHANGE_INSERT))?;
    // One intent per kind and subject is neither failed nor cancelled.
    saver.changed_in_order(&ws.intents, (&INTENT_UPDATE, &INTENT_INSERT), |intent| {
        matches!(intent.state, IntentState::Failed | IntentState::Cancelled)
    })?;
    saver.changed(&ws.sweeps, (&SWEEP_UPDATE, &SWEEP_INSERT))?;
    saver.changed(&ws.chain_txs, (&TX_UPDATE, &TX_INSERT))?;
    save_signed(ws, saver)?;
    saver.changed_by(&ws.signers, (&SIGNER_UPDATE, &SIGNER_INSERT))?;
    saver.changed_by(&ws.sponsored_gas, (&SPONSORED_GAS_UPDATE, &SPONSORED_GAS_INSERT))?;
    saver.changed(&ws.streams, (&STREAM_UPDATE, &STREAM_INSERT))?;
    saver.changed(&ws.deliveries, (&DELIVERY_UPDATE, &DELIVERY_INSERT))?;
    save_receivers(ws, saver)?;
    saver.added(&DELIVERY_ATTEMPT_INSERT, ws.delivery_attempts.added().iter());
    Ok(())
}

/// The vaults of new wallets, requests and submissions are watched from the commit that creates
/// them.
fn save_watched<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut columns = Columns::new(rows::chain::WATCHED_ADDRESS.row_columns(), 0);
    for (_, _, wallet) in sorted(&ws.wallets).into_iter().filter(|(_, old, _)| old.is_none()) {
        rows::chain::watch_wallet(wallet, saver.keys, &mut columns)?;
    }
    for (_, _, request) in sorted(&ws.requests).into_iter().filter(|(_, old, _)| old.is_none()) {
        rows::chain::watch_escrow(request, saver.keys, &mut columns)?;
    }
    for (info, pays) in ws.sender_infos.added() {
        rows::chain::watch_submission(info, *pays, saver.keys, &mut columns)?;
    }
    saver.add(&WATCHED_INSERT, columns, true);
    Ok(())
}

/// Signed attempts are only ever added.
fn save_signed<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut columns = Columns::new(rows::chain_tx::CHAIN_ATTEMPT.row_columns(), 0);
    for (key, old, new) in sorted(&ws.chain_txs) {
        let known = old.map_or(&[][..], |old| &old.attempts);
        let Some(added) = new.attempts.strip_prefix(known) else {
            return Err(StoreError::Corrupt(format!(
                "a signed attempt of transaction {} would change",
                new.id
            )));
        };
        for attempt in added {
            Record::write(key, attempt, saver.keys, &mut columns)?;
        }
    }
    saver.add(&SIGNED_INSERT, columns, true);
    Ok(())
}

/// An endpoint is added by an administrator, never by a batch.
fn save_receivers<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut columns = Columns::new(rows::delivery::WEBHOOK_ENDPOINT.update_columns(), 0);
    for (tenant, old, new) in sorted(&ws.receivers) {
        let old = old.ok_or_else(|| {
            StoreError::Corrupt("a batch would add a webhook endpoint".to_owned())
        })?;
        if old != new {
            Record::write_change(tenant, old, new, saver.keys, &mut columns)?;
        }
    }
    saver.add(&RECEIVER_UPDATE, columns, true);
    Ok(())
}

/// Unsupported tokens, alerts, and the tenant's event log.
pub(super) fn save_words<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let keys = saver.keys;
    let mut columns = Columns::new(rows::chain::UNSUPPORTED_ASSET.row_columns(), 0);
    for asset in ws.unsupported.added() {
        Record::write(&(), asset, keys, &mut columns)?;
    }
    saver.add(&UNSUPPORTED_INSERT, columns, false);
    let mut columns = Columns::new(tables::ALERT.key_kinds(), 0);
    let (closed, raised) = ws.alert_changes();
    for (tenant, alert) in closed {
        rows::chain::write_alert_key(*tenant, alert, keys, &mut columns)?;
    }
    saver.add(&ALERT_DELETE, columns, false);
    let mut columns = Columns::new(ALERTS_END.key_kinds(), 0);
    for (tenant, ended) in ws.ended_alerts.added() {
        rows::chain::write_ended_alert(*tenant, ended, keys, &mut columns)?;
    }
    saver.add(&ALERTS_END, columns, false);
    let mut columns = Columns::new(tables::ALERT.row_columns(), 0);
    for (tenant, alert) in raised {
        rows::chain::write_alert(*tenant, alert, ws.now, keys, &mut columns)?;
    }
    saver.add(&ALERT_INSERT, columns, false);
    saver.added(&WALLET_EVENT_INSERT, ws.wallet_events.added().iter());
    Ok(())
}
