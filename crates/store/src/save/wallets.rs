//! Saves the wallet service's records.

use super::{Saver, sorted, statements};
use crate::error::StoreError;
use crate::rows;
use crate::sql::{Columns, wallet_tables as tables};
use crate::working_set::WorkingSet;

statements! {
    WALLET_UPDATE = update("save.wallet_update", tables::WALLET);
    WALLET_INSERT = insert("save.wallet_insert", tables::WALLET);
    REQUEST_UPDATE = update("save.request_update", tables::PAYMENT_REQUEST);
    REQUEST_INSERT = insert("save.request_insert", tables::PAYMENT_REQUEST);
    WATCHED_INSERT = insert("save.watched_insert", tables::WATCHED_ADDRESS);
    SENDER_INSERT = insert("save.sender_insert", tables::SENDER_INFO);
    REFUND_ADDRESS_INSERT = insert("save.refund_address_insert", tables::REFUND_ADDRESS);
    DEPOSIT_UPDATE = update("save.deposit_update", tables::DEPOSIT);
    DEPOSIT_INSERT = insert("save.deposit_insert", tables::DEPOSIT);
    EXCHANGE_UPDATE = update("save.exchange_update", tables::EXCHANGE_ORDER);
    EXCHANGE_INSERT = insert("save.exchange_insert", tables::EXCHANGE_ORDER);
    INTENT_UPDATE = update("save.intent_update", tables::CHAIN_INTENT);
    INTENT_INSERT = insert("save.intent_insert", tables::CHAIN_INTENT);
    SWEEP_UPDATE = update("save.sweep_update", tables::SWEEP);
    SWEEP_INSERT = insert("save.sweep_insert", tables::SWEEP);
    TX_UPDATE = update("save.chain_tx_update", tables::CHAIN_TX);
    TX_INSERT = insert("save.chain_tx_insert", tables::CHAIN_TX);
    SIGNED_INSERT = insert("save.chain_attempt_insert", tables::CHAIN_ATTEMPT);
    SIGNER_UPDATE = update("save.signer_update", tables::CHAIN_SIGNER);
    SIGNER_INSERT = insert("save.signer_insert", tables::CHAIN_SIGNER);
    STREAM_UPDATE = update("save.stream_update", tables::DELIVERY_STREAM);
    STREAM_INSERT = insert("save.stream_insert", tables::DELIVERY_STREAM);
    DELIVERY_UPDATE = update("save.delivery_update", tables::DELIVERY);
    DELIVERY_INSERT = insert("save.delivery_insert", tables::DELIVERY);
    DELIVERY_ATTEMPT_INSERT = insert("save.delivery_attempt_insert", tables::DELIVERY_ATTEMPT);
    RECEIVER_UPDATE = update("save.receiver_update", tables::WEBHOOK_ENDPOINT);
    UNSUPPORTED_INSERT = insert_if_absent("save.unsupported_insert", tables::UNSUPPORTED_ASSET);
    ALERT_DELETE = delete("save.alert_delete", tables::ALERT);
    ALERT_INSERT = insert_if_absent("save.alert_insert", tables::ALERT);
    WALLET_EVENT_INSERT = insert("save.wallet_event_insert", tables::WALLET_EVENT);
}

/// Wallets and requests with their vaults, deposits, orders, on-chain actions, deliveries.
pub(super) fn save<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let keys = saver.keys;
    saver.changed(
        &ws.wallets,
        (&WALLET_UPDATE, &WALLET_INSERT),
        &tables::WALLET,
        |_, old, new, out| rows::wallet::write_change(old, new, keys, out),
        |_, new, out| rows::wallet::write(new, keys, out),
    )?;
    saver.changed(
        &ws.requests,
        (&REQUEST_UPDATE, &REQUEST_INSERT),
        &tables::PAYMENT_REQUEST,
        |_, old, new, out| rows::request::write_change(old, new, keys, out),
        |_, new, out| rows::request::write(new, keys, out),
    )?;
    save_watched(ws, saver);
    saver.insert(
        &SENDER_INSERT,
        &tables::SENDER_INFO,
        ws.sender_infos.added().iter(),
        |(info, _), out| rows::request::write_sender(info, keys, out),
    );
    saver.insert(
        &REFUND_ADDRESS_INSERT,
        &tables::REFUND_ADDRESS,
        ws.refund_addresses.added().iter(),
        |answer, out| rows::request::write_refund_to(answer, keys, out),
    );
    saver.changed(
        &ws.deposits,
        (&DEPOSIT_UPDATE, &DEPOSIT_INSERT),
        &tables::DEPOSIT,
        |_, old, new, out| rows::deposit::write_change(old, new, keys, out),
        |_, new, out| rows::deposit::write(new, keys, out),
    )?;
    saver.changed(
        &ws.exchanges,
        (&EXCHANGE_UPDATE, &EXCHANGE_INSERT),
        &tables::EXCHANGE_ORDER,
        |_, old, new, out| rows::exchange::write_change(old, new, keys, out),
        |_, new, out| rows::exchange::write(new, keys, out),
    )?;
    save_chain(ws, saver)?;
    save_deliveries(ws, saver)
}

/// The vaults of new wallets, requests and submissions are watched from the commit that creates
/// them.
fn save_watched<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) {
    let mut columns = Columns::new(tables::WATCHED_ADDRESS.row_columns(), 0);
    for (_, _, wallet) in sorted(&ws.wallets).into_iter().filter(|(_, old, _)| old.is_none()) {
        rows::chain::watch_wallet(wallet, saver.keys, &mut columns);
    }
    for (_, _, request) in sorted(&ws.requests).into_iter().filter(|(_, old, _)| old.is_none()) {
        rows::chain::watch_escrow(request, saver.keys, &mut columns);
    }
    for (info, wallet) in ws.sender_infos.added() {
        rows::chain::watch_submission(info, *wallet, saver.keys, &mut columns);
    }
    saver.add(&WATCHED_INSERT, columns, true);
}

fn save_chain<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let keys = saver.keys;
    saver.changed(
        &ws.intents,
        (&INTENT_UPDATE, &INTENT_INSERT),
        &tables::CHAIN_INTENT,
        |_, old, new, out| rows::intent::write_change(old, new, keys, out),
        |_, new, out| rows::intent::write(new, keys, out),
    )?;
    saver.changed(
        &ws.sweeps,
        (&SWEEP_UPDATE, &SWEEP_INSERT),
        &tables::SWEEP,
        |_, old, new, out| {
            rows::sweep::write_change(old, new, keys, out);
            Ok(())
        },
        |_, new, out| {
            rows::sweep::write(new, keys, out);
            Ok(())
        },
    )?;
    saver.changed(
        &ws.chain_txs,
        (&TX_UPDATE, &TX_INSERT),
        &tables::CHAIN_TX,
        |_, old, new, out| rows::chain_tx::write_change(old, new, keys, out),
        |_, new, out| rows::chain_tx::write(new, keys, out),
    )?;
    save_signed(ws, saver)?;
    saver.changed(
        &ws.signers,
        (&SIGNER_UPDATE, &SIGNER_INSERT),
        &tables::CHAIN_SIGNER,
        rows::chain::write_signer_change,
        rows::chain::write_signer,
    )
}

/// Signed attempts are only ever added.
fn save_signed<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut columns = Columns::new(tables::CHAIN_ATTEMPT.row_columns(), 0);
    for (_, old, new) in sorted(&ws.chain_txs) {
        let known = old.map_or(&[][..], |old| &old.attempts);
        let Some(added) = new.attempts.strip_prefix(known) else {
            return Err(StoreError::Corrupt(format!(
                "a signed attempt of transaction {} would change",
                new.id
            )));
        };
        added.iter().for_each(|attempt| {
            rows::chain_tx::write_attempt(new, attempt, saver.keys, &mut columns)
        });
    }
    saver.add(&SIGNED_INSERT, columns, true);
    Ok(())
}

fn save_deliveries<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let keys = saver.keys;
    saver.changed(
        &ws.streams,
        (&STREAM_UPDATE, &STREAM_INSERT),
        &tables::DELIVERY_STREAM,
        |_, old, new, out| rows::delivery::write_stream_change(old, new, keys, out),
        |_, new, out| rows::delivery::write_stream(new, keys, out),
    )?;
    saver.changed(
        &ws.deliveries,
        (&DELIVERY_UPDATE, &DELIVERY_INSERT),
        &tables::DELIVERY,
        |_, old, new, out| rows::delivery::write_change(old, new, keys, out),
        |_, new, out| rows::delivery::write(new, keys, out),
    )?;
    save_receivers(ws, saver)?;
    saver.insert(
        &DELIVERY_ATTEMPT_INSERT,
        &tables::DELIVERY_ATTEMPT,
        ws.delivery_attempts.added().iter(),
        |attempt, out| rows::delivery::write_attempt(attempt, keys, out),
    );
    Ok(())
}

/// An endpoint is added by an administrator, never by a batch.
fn save_receivers<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut columns = Columns::new(tables::WEBHOOK_ENDPOINT.update_columns(), 0);
    for (tenant, old, new) in sorted(&ws.receivers) {
        let old = old.ok_or_else(|| {
            StoreError::Corrupt("a batch would add a webhook endpoint".to_owned())
        })?;
        if old != new {
            rows::delivery::write_receiver_change(*tenant, old, new, &mut columns);
        }
    }
    saver.add(&RECEIVER_UPDATE, columns, true);
    Ok(())
}

/// Unsupported tokens, alerts, and the tenant's event log.
pub(super) fn save_words<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let keys = saver.keys;
    let mut columns = Columns::new(tables::UNSUPPORTED_ASSET.row_columns(), 0);
    for asset in ws.unsupported.added() {
        rows::chain::write_unsupported(asset, keys, &mut columns)?;
    }
    saver.add(&UNSUPPORTED_INSERT, columns, false);
    let mut columns = Columns::new(tables::ALERT.key_kinds(), 0);
    for (tenant, alert) in ws.closed_alerts.added() {
        rows::chain::write_alert_key(*tenant, alert, keys, &mut columns);
    }
    saver.add(&ALERT_DELETE, columns, false);
    let mut columns = Columns::new(tables::ALERT.row_columns(), 0);
    for (tenant, alert) in ws.alerts.added() {
        rows::chain::write_alert(*tenant, alert, ws.now, keys, &mut columns);
    }
    saver.add(&ALERT_INSERT, columns, false);
    saver.insert(
        &WALLET_EVENT_INSERT,
        &tables::WALLET_EVENT,
        ws.wallet_events.added().iter(),
        |entry, out| rows::wallet_event::write(entry, keys, out),
    );
    Ok(())
}
