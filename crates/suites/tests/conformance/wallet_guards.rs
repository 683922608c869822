//! The guards of the wallet service, each triggered directly by SQL or by a batch that read too
//! little.

use domain::chain::ChainNumber;
use domain::chain_tx::IntentState;
use domain::decision::IdSource;
use store::ExecuteError;
use store::working_set::WorkingSet;

use crate::constraints::{CHECK, NOT_NULL, UNIQUE, copy, other, refused};
use crate::wallet_world::{
    SIGNER, attempt, chain_tx, deposit, failed, release, wallet, wallet_need,
};
use crate::world::{World, tenant_need};

/// A batch that fails however often it is decided again.
async fn contended(
    world: &World,
    tenant: domain::ids::TenantId,
    mut decide: impl FnMut(&mut WorkingSet, &mut dyn IdSource) + Send,
) {
    let result = world
        .execute(&tenant_need(tenant), |ws, ids| {
            decide(ws, ids);
            ws.keep();
        })
        .await;
    assert_eq!(result, Err(ExecuteError::Contended));
}

pub async fn a_customer_has_one_wallet_on_a_chain(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let first = world.wallet(tenant, "C-1").await;
    contended(&world, tenant, |ws, ids| {
        let again = wallet(tenant, "C-1", ws.now, ids);
        ws.wallets.put((tenant, again.id), again);
    })
    .await;
    let watched = world.store.watched(&[first.address]).await.expect("read");
    assert_eq!(
        watched.iter().map(|it| (it.tenant, it.wallet, it.request)).collect::<Vec<_>>(),
        [(tenant, first.id, None)]
    );
    let address = "INSERT INTO watched_address (address, tenant, wallet) SELECT address, tenant, id FROM wallet";
    refused(&world, address, UNIQUE).await;
}

pub async fn a_link_leads_to_one_request(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let (mine, other) = (world.wallet(one, "C-1").await, world.wallet(two, "C-1").await);
    let request = world.request(&mine).await;
    contended(&world, two, |ws, ids| {
        let mut again = crate::wallet_world::request(&other, ws.now, ids);
        again.token.clone_from(&request.token);
        ws.requests.put((two, again.id), again);
    })
    .await;
    contended(&world, two, |ws, ids| {
        let mut again = crate::wallet_world::request(&other, ws.now, ids);
        again.escrow = request.escrow;
        ws.requests.put((two, again.id), again);
    })
    .await;
}

/// I11: `UNIQUE(tx_hash, ordinal of the log in its transaction)`.
pub async fn a_log_is_credited_once_across_tenants(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let (mine, other_wallet) = (world.wallet(one, "C-1").await, world.wallet(two, "C-1").await);
    world.deposit(&mine, None, 100, |_| {}).await;
    for (tenant, wallet) in [(one, &mine), (two, &other_wallet)] {
        contended(&world, tenant, |ws, ids| {
            let mut again = deposit(wallet, None, 100, ws.now);
            again.id = domain::ids::DepositId(ids.next());
            again.place = Some(crate::wallet_world::place(101));
            ws.deposits.put((tenant, again.id), again);
        })
        .await;
    }
    world
        .deposit(&mine, None, 100, |it| {
            (it.id, it.ordinal) = (domain::deposit::Deposit::id_of(1, it.tx, 1), 1)
        })
        .await;
}

/// I1: `UNIQUE(signer, nonce)`, one release per deposit.
pub async fn a_nonce_and_a_release_are_used_once(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    let wallet = world.wallet(one, "C-1").await;
    let paid = world.deposit(&wallet, None, 100, |_| {}).await;
    let first = world
        .put(one, |ws, ids| {
            let mut tx = chain_tx(one, 7, ws.now, ids);
            tx.attempts.push(attempt(1, 1, ws.now));
            ws.chain_txs.put((one, tx.id), tx);
            let row = store::working_set::SignerRow {
                role: domain::chain::KeyRole::Operator,
                next_nonce: 8,
            };
            ws.signers.put((one, (ChainNumber::FIRST, SIGNER)), row);
            let intent = release(&paid, ws.now, ids);
            ws.intents.put((one, intent.id), intent.clone());
            intent
        })
        .await;
    for tenant in [one, two] {
        contended(&world, tenant, |ws, ids| {
            let again = chain_tx(tenant, 7, ws.now, ids);
            ws.chain_txs.put((tenant, again.id), again);
        })
        .await;
    }
    contended(&world, two, |ws, _| {
        let row =
            store::working_set::SignerRow { role: domain::chain::KeyRole::Operator, next_nonce: 8 };
        ws.signers.put((two, (ChainNumber::FIRST, SIGNER)), row);
    })
    .await;
    contended(&world, one, |ws, ids| {
        let mut again = chain_tx(one, 8, ws.now, ids);
        again.attempts.push(attempt(1, 1, ws.now));
        ws.chain_txs.put((one, again.id), again);
    })
    .await;
    let release_again = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
        let again = release(&paid, ws.now, ids);
        ws.intents.put((one, again.id), again);
    };
    contended(&world, one, release_again).await;
    for state in ["assigned", "done"] {
        let tx = other(&world);
        let Some(done) =
            world.sql(&format!("UPDATE chain_intent SET state = '{state}', tx = {tx}")).await
        else {
            break;
        };
        assert_eq!(done, Ok(1));
        contended(&world, one, release_again).await;
    }
    // Given up and created again in one commit.
    let mut need = tenant_need(one);
    need.intents.insert((one, first.id));
    world
        .execute(&need, |ws, ids| {
            let mut given_up = ws.intents.get(&(one, first.id)).cloned().expect("loaded");
            (given_up.state, given_up.version) = (IntentState::Failed, given_up.version + 1);
            ws.intents.put((one, first.id), given_up);
            release_again(ws, ids);
            ws.keep();
        })
        .await
        .expect("allowed after a failure");
}

pub async fn a_stale_write_of_a_wallet_is_refused(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let Some(done) = world.sql("UPDATE wallet SET version = version + 1").await else { return };
    assert_eq!(done, Ok(1));
    let mut runs = 0;
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        runs += 1;
        let mut fresh = ws.wallets.get(&(tenant, wallet.id)).cloned().expect("loaded");
        if runs == 1 {
            ws.wallets.load((tenant, wallet.id), wallet.clone());
        }
        (fresh.events, fresh.version) = (9, fresh.version + 1);
        ws.wallets.put((tenant, wallet.id), fresh);
        ws.keep();
    };
    world.execute(&wallet_need(&wallet), decide).await.expect("decided again");
    let read = world.store.wallet(tenant, wallet.id).await.expect("read").expect("there");
    assert_eq!((runs, read.events, read.version), (2, 9, 3));
}

pub async fn wallet_events_have_one_number_each(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    world.put(tenant, |ws, _| ws.append_wallet(tenant, vec![failed(&request, 1, ws.now)])).await;
    contended(&world, tenant, |ws, _| {
        _ = ws.append_wallet(tenant, vec![failed(&request, 1, ws.now)])
    })
    .await;
    assert_eq!(world.store.wallet_event_head(tenant).await, Ok(1));
}

pub async fn unknown_values_of_wallets_are_refused(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    let paid = world.deposit(&wallet, Some(&request), 1, |_| {}).await;
    world.exchange(&wallet, |_| {}).await;
    world
        .put(tenant, |ws, ids| {
            let intent = release(&paid, ws.now, ids);
            ws.intents.put((tenant, intent.id), intent);
            let tx = chain_tx(tenant, 0, ws.now, ids);
            ws.chain_txs.put((tenant, tx.id), tx);
            ws.append_wallet(tenant, vec![failed(&request, 1, ws.now)]);
        })
        .await;
    for sql in [
        "UPDATE wallet SET state = 'LOST'",
        "UPDATE wallet SET kyc_level = 'NONE'",
        "UPDATE wallet SET version = 0",
        "UPDATE payment_request SET state = 'OPEN'",
        "UPDATE payment_request SET received_usdc = -1",
        "UPDATE payment_request SET confirming = -1",
        "UPDATE payment_request SET expires_at = created_at",
        "UPDATE deposit SET state = 'lost'",
        "UPDATE deposit SET amount = 0",
        "UPDATE deposit SET coin = 'DAI'",
        "UPDATE exchange_order SET state = 'done'",
        "UPDATE exchange_order SET payout = 0",
        "UPDATE chain_intent SET kind = 'steal'",
        "UPDATE chain_intent SET state = 'assigned'",
        "UPDATE chain_tx SET nonce = -1",
        "UPDATE chain_tx SET state = 'lost'",
        "UPDATE wallet_event SET aggregate_kind = 'payment'",
        "UPDATE tenant_head SET wallet_seq = -1",
    ] {
        refused(&world, sql, CHECK).await;
    }
    refused(&world, "UPDATE wallet SET document = NULL", NOT_NULL).await;
    let columns = "tenant, seq, id, kind, aggregate_kind, aggregate, version, at, document";
    let again = copy("wallet_event", columns, &columns.replacen("seq", "seq + 1", 1));
    refused(&world, &again, UNIQUE).await;
    let again = copy("wallet_event", columns, &columns.replacen("version", "version + 1", 1));
    refused(&world, &again, UNIQUE).await;
}

/// Neither copied nor changed by other programs.
pub async fn documents_open_only_where_they_belong(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (one, two) = (world.wallet(tenant, "C-1").await, world.wallet(tenant, "C-2").await);
    let swap =
        "UPDATE wallet SET document = (SELECT w.document FROM wallet w WHERE w.id <> wallet.id)";
    let Some(done) = world.sql(swap).await else { return };
    // SQLite changes one row after the other, so that the second gets its own document back.
    assert_eq!(done, Ok(2));
    let read = [world.store.wallet(tenant, one.id).await, world.store.wallet(tenant, two.id).await];
    assert!(read.iter().any(
        |it| matches!(it, Err(store::StoreError::Corrupt(why)) if why.contains("wallet.document"))
    ));
}
