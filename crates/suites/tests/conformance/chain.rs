//! Ingestion of the chain under its role; our own transactions.

use std::collections::BTreeMap;

use domain::audit::{AuditContext, INSTALLATION};
use domain::chain::{Address, Block, BlockHash, ChainNumber, TxHash};
use domain::chain_tx::{IntentState, Mined, TxState};
use domain::currency::StableCoin;
use domain::deposit::{TokenState, UnsupportedAsset, VaultLog, Watched};
use domain::ids::BatchId;
use domain::time::{Span, Timestamp};
use domain::wallet_effects::{Alert, AlertKind};
use store::need::Need;
use store::working_set::{SignerRow, WorkingSet};
use store::{HEADER_EVERY, HEADERS_KEPT, HEADERS_REACH, HeldRole, StoreError};
use uuid::Uuid;

use crate::wallet_world::{COIN, chain_tx, place, release, word};
use crate::world::World;

const CHAIN: ChainNumber = ChainNumber::FIRST;

async fn watcher(world: &World, owner: &str) -> HeldRole {
    let fence = world.store.lease_role("watch", owner, Span::mins(1)).await.expect("asked");
    HeldRole { name: "watch".to_owned(), owner: owner.to_owned(), fence: fence.expect("free") }
}

/// The block of this height; `fork` distinguishes blocks of the same height.
fn block(number: u64, fork: u64) -> Block {
    let hash = |number| BlockHash(word(number * 1_000 + fork));
    Block {
        number,
        hash: hash(number),
        parent: hash(number - 1),
        at: Timestamp(i64::try_from(number).expect("small")),
    }
}

fn log(number: u64, log_index: u32, vault: Address, minor: i64) -> VaultLog {
    let place = domain::chain_tx::BlockRef { number, block: block(number, 0).hash };
    let (tx, coin) = (TxHash(word(number)), StableCoin::Usdc);
    VaultLog { chain: CHAIN, place, log_index, tx, ordinal: log_index, vault, coin, minor }
}

pub async fn blocks_are_ingested_once_and_rewound(world: World) {
    let role = watcher(&world, "a").await;
    let (escrow, wallet) = (Address([5; 20]), Address([6; 20]));
    assert_eq!(world.store.chain_headers(CHAIN, 9).await, Ok(Vec::new()));
    let logs =
        [log(11, 0, escrow, 5 * COIN), log(11, 1, escrow, -2 * COIN), log(11, 1, wallet, 2 * COIN)];
    for number in 10..=12 {
        let logs: &[VaultLog] = if number == 11 { &logs } else { &[] };
        // Twice, as after a crash between the save and its acknowledgement.
        for _ in 0..2 {
            world
                .store
                .take_block_in(&role, CHAIN, &block(number, 0), logs)
                .await
                .expect("ingested");
        }
    }
    assert_eq!(world.store.chain_headers(CHAIN, 2).await, Ok(vec![block(12, 0), block(11, 0)]));
    assert_eq!(world.store.chain_header(CHAIN, 11).await, Ok(Some(block(11, 0))));
    assert_eq!(world.store.chain_header(CHAIN, 13).await, Ok(None));
    assert_eq!(world.store.chain_header(ChainNumber(2), 11).await, Ok(None));
    assert_eq!(world.store.vault_sum(CHAIN, escrow, StableCoin::Usdc).await, Ok(3 * COIN));
    assert_eq!(world.store.vault_sum(CHAIN, escrow, StableCoin::Usdt).await, Ok(0));
    assert_eq!(world.store.vault_logs(CHAIN, escrow).await, Ok(logs[..2].to_vec()));
    // The stored logs of a block are replaced.
    assert_eq!(world.store.vault_logs_between(CHAIN, 11, 12).await.map(|logs| logs.len()), Ok(3));
    assert_eq!(world.store.vault_logs_between(CHAIN, 12, 99).await, Ok(Vec::new()));
    world.store.amend_block(&role, CHAIN, block(11, 0).hash, &logs[..1]).await.expect("amended");
    let sums = world
        .store
        .logged_of(CHAIN, &[(escrow, StableCoin::Usdc), (wallet, StableCoin::Usdc)])
        .await
        .expect("read");
    assert_eq!(sums[&(escrow, StableCoin::Usdc)], 5 * COIN);
    assert_eq!(sums.get(&(wallet, StableCoin::Usdc)).copied().unwrap_or(0), 0);
    world.store.amend_block(&role, CHAIN, block(11, 0).hash, &logs).await.expect("amended");
    assert_eq!(world.store.vault_logs(CHAIN, escrow).await, Ok(logs[..2].to_vec()));
    let another = world.store.take_block_in(&role, CHAIN, &block(12, 1), &[]).await;
    assert!(
        matches!(another, Err(StoreError::Conflict(_))),
        "the other must be rewound first: {another:?}"
    );
    world.store.rewind_chain(&role, CHAIN, 10).await.expect("rewound");
    assert_eq!(world.store.chain_headers(CHAIN, 9).await, Ok(vec![block(10, 0)]));
    assert_eq!(world.store.vault_sum(CHAIN, wallet, StableCoin::Usdc).await, Ok(0));
    world.store.take_block_in(&role, CHAIN, &block(11, 1), &[]).await.expect("the other branch");
    assert_eq!(world.store.chain_headers(CHAIN, 1).await, Ok(vec![block(11, 1)]));
    assert_eq!(world.store.chain_header(CHAIN, 11).await, Ok(Some(block(11, 1))));
}

pub async fn old_headers_go_and_logs_stay(world: World) {
    let role = watcher(&world, "a").await;
    let vault = Address([5; 20]);
    world
        .store
        .take_block_in(&role, CHAIN, &block(10, 0), &[log(10, 0, vault, COIN)])
        .await
        .expect("ingested");
    for number in [11, 10 + HEADERS_KEPT] {
        world.store.take_block_in(&role, CHAIN, &block(number, 0), &[]).await.expect("ingested");
    }
    let kept: Vec<u64> = world
        .store
        .chain_headers(CHAIN, 999)
        .await
        .expect("read")
        .iter()
        .map(|it| it.number)
        .collect();
    assert_eq!(kept, [10 + HEADERS_KEPT, 11]);
    assert_eq!(world.store.vault_sum(CHAIN, vault, StableCoin::Usdc).await, Ok(COIN));
    let last = HEADERS_REACH + 2 * HEADER_EVERY;
    for number in [HEADER_EVERY, 2 * HEADER_EVERY, 3 * HEADER_EVERY, last - 1, last] {
        world.store.take_block_in(&role, CHAIN, &block(number, 0), &[]).await.expect("ingested");
    }
    let headers = world.store.chain_headers(CHAIN, usize::MAX).await.expect("read");
    let kept: Vec<u64> = headers.iter().map(|it| it.number).collect();
    assert_eq!(kept, [last, last - 1, 3 * HEADER_EVERY], "few for a long time");
    let place = domain::chain_tx::BlockRef { number: 10, block: block(10, 0).hash };
    assert_eq!(world.store.places_below(CHAIN, 11, 9).await, Ok(vec![place]));
    assert_eq!(world.store.places_below(CHAIN, 10, 9).await, Ok(Vec::new()));
}

pub async fn a_node_that_lost_the_role_writes_nothing(world: World) {
    world.tenant("demobank", 0).await;
    let old = watcher(&world, "a").await;
    world.store.take_block_in(&old, CHAIN, &block(10, 0), &[]).await.expect("ingested");
    world.pass(Span::mins(2)).await;
    let new = watcher(&world, "b").await;
    let token = TokenState {
        chain: CHAIN,
        coin: StableCoin::Usdt,
        paused: true,
        code_changed: false,
        at_block: 9,
    };
    for refused in [
        world.store.take_block_in(&old, CHAIN, &block(11, 0), &[]).await,
        world.store.rewind_chain(&old, CHAIN, 9).await,
        world.store.amend_block(&old, CHAIN, block(10, 0).hash, &[]).await,
        world.store.set_token_state(&old, &token).await,
        world
            .store
            .take_block_in(
                &HeldRole { owner: "b".to_owned(), ..old.clone() },
                CHAIN,
                &block(11, 0),
                &[],
            )
            .await,
    ] {
        assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    }
    assert_eq!(world.store.chain_headers(CHAIN, 9).await, Ok(vec![block(10, 0)]));
    assert_eq!(world.store.token_states().await, Ok(Vec::new()));
    world.store.take_block_in(&new, CHAIN, &block(11, 0), &[]).await.expect("ingested");
}

pub async fn a_batch_knows_who_holds_the_roles_of_its_commands(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    for owner in ["a", "b"] {
        let role = watcher(&world, owner).await;
        let mut need = Need { tenants: [one, two].into(), ..Need::default() };
        // Two tenants' commands under the same role.
        need.roles.extend([one, two].map(|tenant| (tenant, role.name.clone())));
        need.roles.insert((one, "watch:nowhere".to_owned()));
        let mut fences = Vec::new();
        let mut read = |ws: &mut WorkingSet| {
            fences = [role.name.as_str(), "watch:nowhere"]
                .map(|name| ws.roles.get(&name.to_owned()).copied())
                .to_vec();
        };
        let batch = BatchId(world.store.ids().next());
        world.store.execute(batch, &need, &mut read).await.expect("committed");
        assert_eq!(fences, [Some(role.fence), None]);
        world.pass(Span::mins(2)).await;
    }
}

pub async fn token_states_are_stored(world: World) {
    let role = watcher(&world, "a").await;
    let mut token = TokenState {
        chain: CHAIN,
        coin: StableCoin::Usdt,
        paused: true,
        code_changed: true,
        at_block: 9,
    };
    for paused in [true, false] {
        token.paused = paused;
        world.store.set_token_state(&role, &token).await.expect("set");
        assert_eq!(world.store.token_states().await, Ok(vec![token]));
    }
    let accept = async |seen: TokenState| {
        world.store.accept_token_code(&seen, AuditContext::from("amal").because("audited")).await
    };
    let older = accept(TokenState { at_block: 8, ..token }).await;
    assert!(
        matches!(older, Err(StoreError::Conflict(_))),
        "it is not the reviewed state: {older:?}"
    );
    assert_eq!(world.store.token_states().await, Ok(vec![token]));
    accept(token).await.expect("accepted");
    assert_eq!(
        world.store.token_states().await,
        Ok(vec![TokenState { code_changed: false, ..token }])
    );
    for coin in StableCoin::ALL {
        let again = accept(TokenState { coin, ..token }).await;
        assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    }
    let noted = world.audited(INSTALLATION).await.remove(0);
    assert_eq!(
        (noted.note.action.as_str(), noted.deed.why.as_str()),
        ("token.accept_code", "audited")
    );
    assert_eq!(noted.note.before.as_deref(), Some(r#"{"code_changed":true,"at_block":"9"}"#));
}

pub async fn vaults_are_watched_from_the_commit_that_makes_them(world: World) {
    let (one, two) = (world.tenant("one", 0).await, world.tenant("two", 0).await);
    assert_eq!(world.store.first_wallet_at(CHAIN).await, Ok(None));
    let (mine, other) = (world.wallet(one, "C-1").await, world.wallet(two, "C-1").await);
    assert_eq!(
        world.store.first_wallet_at(CHAIN).await,
        Ok(Some(mine.created_at.min(other.created_at)))
    );
    let request = world.request(&mine).await;
    let said = world
        .put(one, |ws, ids| {
            let said = crate::wallet_world::sender(&request, (1, "Ali"), ws.now, ids);
            ws.add_sender(said.clone(), &request);
            ws.add_sender(
                crate::wallet_world::sender(&request, (0, "Before"), ws.now, ids),
                &request,
            );
            said
        })
        .await;
    let shown = said.escrow.expect("has one");
    let asked = [request.escrow, Address([9; 20]), other.address, mine.address, shown];
    let mut found = world.store.watched(&asked).await.expect("read");
    found.sort_by_key(|it| asked.iter().position(|address| *address == it.address));
    let vault = |address, tenant, wallet, request| Watched {
        chain: CHAIN,
        address,
        tenant,
        wallet,
        request,
        submission: None,
    };
    assert_eq!(
        found,
        [
            vault(request.escrow, one, mine.id, Some(request.id)),
            vault(other.address, two, other.id, None),
            vault(mine.address, one, mine.id, None),
            Watched { submission: Some(1), ..vault(shown, one, mine.id, Some(request.id)) },
        ]
    );
    assert_eq!(world.store.watched(&[]).await, Ok(Vec::new()));
    // All of them, by address, page by page.
    let mut all: Vec<Address> = found.iter().map(|vault| vault.address).collect();
    all.sort_unstable();
    let mut listed = Vec::new();
    while let page @ [_, ..] =
        &world.store.vaults_after(CHAIN, listed.last().copied(), 2).await.expect("read")[..]
    {
        listed.extend(page.iter().map(|vault| vault.address));
    }
    assert_eq!(listed, all);
}

pub async fn open_transactions_and_intents_are_found(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let wallet = world.wallet(tenant, "C-1").await;
    let paid = world.deposit(&wallet, None, 1, |_| {}).await;
    let mut open = Vec::new();
    for (nonce, (tenant, state, mined)) in [
        (tenant, TxState::Taken, None),
        (tenant, TxState::Mined, Some(20)),
        (other, TxState::Broadcast, None),
        (tenant, TxState::Succeeded, Some(21)),
        (tenant, TxState::Cancelled, None),
    ]
    .into_iter()
    .enumerate()
    {
        let made = world
            .put(tenant, |ws, ids| {
                let mut tx = chain_tx(tenant, nonce as u64, ws.now, ids);
                tx.state = state;
                tx.mined = mined.map(|number| Mined {
                    place: place(number),
                    attempt: 1,
                    succeeded: true,
                    failed: Vec::new(),
                });
                tx.attempts.push(crate::wallet_world::attempt(1, nonce as u64, ws.now));
                ws.chain_txs.put((tenant, tx.id), tx.clone());
                tx
            })
            .await;
        open.push(made);
        world.pass(Span::secs(1)).await;
    }
    let from = |height| world.store.chain_txs_from_height(CHAIN, height);
    assert_eq!(
        from(20).await,
        Ok(vec![open[1].clone(), open[3].clone()]),
        "completed ones included"
    );
    assert_eq!(from(21).await, Ok(open[3..4].to_vec()));
    assert_eq!(
        world.store.open_chain_txs(9).await,
        Ok(open[..3].to_vec()),
        "of all tenants, the oldest first"
    );
    assert_eq!(world.store.open_chain_txs(1).await, Ok(open[..1].to_vec()));
    let signer = open[0].signer;
    assert_eq!(
        world.store.taken_nonces(CHAIN, signer, 1, 4).await,
        Ok(vec![1, 2, 3]),
        "of all states"
    );
    assert_eq!(world.store.taken_nonces(CHAIN, Address([9; 20]), 0, 9).await, Ok(Vec::new()));
    assert_eq!(
        world.store.next_nonce(tenant, CHAIN, signer).await,
        Ok(None),
        "no nonce was assigned"
    );

    let intents = world
        .put(tenant, |ws, ids| {
            IntentState::ALL.map(|state| {
                let mut intent = release(&paid, ws.now, ids);
                (intent.state, intent.tx, intent.subject) = (state, Some(open[0].id), ids.next());
                ws.intents.put((tenant, intent.id), intent.clone());
                intent
            })
        })
        .await;
    let mut found = world.store.open_intents(tenant, wallet.id).await.expect("read");
    found.sort_by_key(|intent| intent.state);
    assert_eq!(found, intents[..2]);
    for intent in intents {
        let active = !matches!(intent.state, IntentState::Failed | IntentState::Cancelled);
        let expected = if active { vec![intent.clone()] } else { Vec::new() };
        assert_eq!(world.store.intents_for(tenant, intent.subject).await, Ok(expected));
    }
}

pub async fn alerts_stay_open_until_closed(world: World) {
    let (tenant, other) = (world.tenant("demobank", 0).await, world.tenant("other", 0).await);
    let alert = |what: &str| Alert {
        kind: AlertKind::LowGas,
        subject: Uuid::from_u128(7 << 64),
        what: what.to_owned(),
    };
    let first = world.now().await;
    for _ in 0..2 {
        world.put(tenant, |ws, _| ws.add_alert(tenant, alert("low"))).await;
        world.store.raise_alert(tenant, &alert("low")).await.expect("raised");
        world.pass(Span::secs(1)).await;
    }
    world.store.raise_alert(tenant, &alert("very low")).await.expect("raised");
    let open = world.store.alerts(tenant, 9).await.expect("read");
    assert_eq!(
        open.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>(),
        [alert("very low"), alert("low")]
    );
    assert!(open[1].0 < first + Span::secs(1), "when it was first found");
    assert_eq!(world.store.alerts(tenant, 1).await.expect("read").len(), 1);
    let counts = world.store.alert_counts().await.expect("counted");
    assert_eq!(counts, BTreeMap::from([(AlertKind::LowGas, 2)]), "of all tenants");
    assert_eq!(world.store.alerts(other, 9).await, Ok(Vec::new()));
    world
        .store
        .close_alert(tenant, &alert("low"), AuditContext::from("amal").because("topped up"))
        .await
        .expect("closed");
    let again = world
        .store
        .close_alert(tenant, &alert("low"), AuditContext::from("amal").because("topped up"))
        .await;
    assert!(matches!(again, Err(StoreError::Conflict(_))), "{again:?}");
    let noted = world.audited(tenant).await.remove(0);
    assert_eq!((noted.note.action.as_str(), noted.deed.why.as_str()), ("alert.close", "topped up"));
    assert_eq!(noted.note.before.as_deref(), Some(r#"{"alert":"low_gas","what":"low"}"#));
    world.put(tenant, |ws, _| ws.add_alert(tenant, alert("low"))).await;
    assert_eq!(world.store.alerts(tenant, 9).await.expect("read").len(), 2, "raised again");
    let close = async |what: &str| {
        world.put(tenant, |ws, _| ws.close_alert(tenant, alert(what))).await;
        let open = world.store.alerts(tenant, 9).await.expect("read");
        open.into_iter().map(|(_, it)| it.what).collect::<Vec<_>>()
    };
    assert_eq!(close("low").await, ["very low"], "by a batch, without an entry of its own");
    assert_eq!(close("low").await, ["very low"], "one that is not open is left alone");

    // Commands of one batch: the last one counts, whatever was open before.
    for (is_open, order) in [
        (true, [false, true]),
        (true, [true, false]),
        (false, [false, true]),
        (false, [true, false]),
    ] {
        let change = |raise: bool| {
            world.put(tenant, move |ws, _| match raise {
                true => ws.add_alert(tenant, alert("low")),
                false => ws.close_alert(tenant, alert("low")),
            })
        };
        change(is_open).await;
        world.pass(Span::secs(1)).await;
        let at = world.now().await;
        world
            .put(tenant, |ws, _| {
                for raise in order {
                    match raise {
                        true => ws.add_alert(tenant, alert("low")),
                        false => ws.close_alert(tenant, alert("low")),
                    }
                }
            })
            .await;
        let open = world.store.alerts(tenant, 9).await.expect("read");
        let open: Vec<_> = open.into_iter().filter(|(_, it)| it.what == "low").collect();
        assert_eq!(open.len(), usize::from(order[1]), "{is_open} {order:?}");
        assert!(open.iter().all(|(raised, _)| *raised >= at), "raised by this batch");
    }
}

pub async fn unsupported_tokens_are_noted_once(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let asset = |value, at| UnsupportedAsset {
        chain: CHAIN,
        vault: Watched {
            chain: CHAIN,
            address: wallet.address,
            tenant,
            wallet: wallet.id,
            request: None,
            submission: None,
        },
        token: Address([8; 20]),
        from: Address([9; 20]),
        value,
        place: place(5),
        tx: TxHash(word(5)),
        ordinal: 3,
        at,
    };
    let now = world.now().await;
    for value in [u64::MAX, 1] {
        world.put(tenant, |ws, _| ws.add_unsupported(asset(value, now))).await;
    }
    assert_eq!(world.store.unsupported_assets(tenant, 9).await, Ok(vec![asset(u64::MAX, now)]));
}

pub async fn what_a_controller_is_made_of_is_kept_once(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let address = |byte| domain::chain::Address([byte; 20]);
    let parts = |first: u8| [first, 2, 3, 4, 5].map(address);
    let read = async || world.store.controller_parts(tenant, address(9)).await;
    assert_eq!(read().await, Ok(None));
    assert_eq!(world.store.keep_controller_parts(&[]).await, Ok(()));
    for first in [1, 6] {
        let kept = [(tenant, address(9), parts(first)), (tenant, address(8), parts(7))];
        world.store.keep_controller_parts(&kept).await.expect("kept");
        assert_eq!(read().await, Ok(Some(parts(1))), "the first");
    }
    let foreign = domain::ids::TenantId(uuid::Uuid::new_v4());
    assert_eq!(world.store.controller_parts(foreign, address(9)).await, Ok(None));
}

pub async fn chains_keep_their_numbers(world: World) {
    let store = &world.store;
    let add =
        async |id, name, is_first| store.add_chain(id, name, is_first).await.expect("numbered").0;
    assert_eq!(store.known_chains().await, Ok(Vec::new()));
    // What is older than the numbers belongs to the first one, whichever chain answers first.
    assert_eq!(add(8_453, "base", false).await, 2);
    assert_eq!(add(1, "ethereum", true).await, 1);
    assert_eq!(add(10, "optimism", true).await, 3, "another chain in [chain]");
    assert_eq!(add(8_453, "other", true).await, 2, "a known chain keeps its number and name");
    store.rename_chain(8_453, "l2").await.expect("renamed");
    let known = store.known_chains().await.expect("read");
    let known: Vec<_> =
        known.iter().map(|it| (it.number.0, it.chain_id, it.name.as_str())).collect();
    assert_eq!(known, [(1, 1, "ethereum"), (2, 8_453, "l2"), (3, 10, "optimism")]);
    // Two nodes at the same time.
    let polygon = || add(137, "polygon", false);
    let (one, other, third) = tokio::join!(polygon(), add(42_161, "arbitrum", false), polygon());
    assert_eq!(one, third);
    assert_eq!([one.min(other), one.max(other)], [4, 5]);
}

/// Height, vault, token and key may be the same on two chains.
pub async fn chains_are_kept_apart(world: World) {
    const OTHER: ChainNumber = ChainNumber(2);
    let (store, role) = (&world.store, watcher(&world, "a").await);
    let vault = Address([5; 20]);
    let on_other = |minor| VaultLog { chain: OTHER, ..log(11, 0, vault, minor) };
    for number in 10..=12 {
        let is_one = number == 11;
        let here = if is_one { vec![log(11, 0, vault, 5 * COIN)] } else { Vec::new() };
        let there = if is_one { vec![on_other(7 * COIN)] } else { Vec::new() };
        store.take_block_in(&role, CHAIN, &block(number, 0), &here).await.expect("ingested");
        store.take_block_in(&role, OTHER, &block(number, 0), &there).await.expect("ingested");
    }
    let sums = async || {
        let of = async |chain| store.vault_sum(chain, vault, StableCoin::Usdc).await.expect("read");
        [of(CHAIN).await, of(OTHER).await]
    };
    assert_eq!(sums().await, [5 * COIN, 7 * COIN]);
    let wanted = [(vault, StableCoin::Usdc)];
    let logged = store.logged_of(OTHER, &wanted).await.expect("read");
    assert_eq!(logged.get(&wanted[0]), Some(&(7 * COIN)));
    store.amend_block(&role, OTHER, block(11, 0).hash, &[on_other(COIN)]).await.expect("amended");
    assert_eq!(sums().await, [5 * COIN, COIN]);
    store.rewind_chain(&role, CHAIN, 10).await.expect("rewound");
    assert_eq!(sums().await, [0, COIN], "the other chain was not reorganized");
    let heights = [CHAIN, OTHER].map(|chain| store.chain_headers(chain, 1));
    let [here, there] = futures_util::future::join_all(heights).await.try_into().expect("two");
    assert_eq!((here, there), (Ok(vec![block(10, 0)]), Ok(vec![block(12, 0)])));
    let state = |chain, paused| TokenState {
        chain,
        coin: StableCoin::Usdc,
        paused,
        code_changed: false,
        at_block: 9,
    };
    for of in [state(CHAIN, false), state(OTHER, true)] {
        store.set_token_state(&role, &of).await.expect("set");
    }
    assert_eq!(store.token_states().await, Ok(vec![state(CHAIN, false), state(OTHER, true)]));
    let tenant = world.tenant("demobank", 0).await;
    let signer = Address([8; 20]);
    world
        .put(tenant, |ws, ids| {
            for (chain, next_nonce) in [(CHAIN, 8), (OTHER, 8)] {
                let mut tx = chain_tx(tenant, 7, ws.now, ids);
                (tx.chain, tx.signer) = (chain, signer);
                ws.signers.put((tenant, (chain, signer)), SignerRow { role: tx.role, next_nonce });
                ws.chain_txs.put((tenant, tx.id), tx);
            }
        })
        .await;
    assert_eq!(store.next_nonce(tenant, OTHER, signer).await, Ok(Some(8)));
    assert_eq!(store.taken_nonces(OTHER, signer, 0, 9).await, Ok(vec![7]));
}
