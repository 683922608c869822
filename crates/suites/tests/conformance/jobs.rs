//! Jobs and roles: leased once, fenced, leased again after expiry.

use std::collections::BTreeSet;

use domain::chain::{Address, ChainNumber};
use domain::chain_tx::{ChainTx, Intent};
use domain::currency::StableCoin;
use domain::decision::{IdSource, JobChange};
use domain::deposit::Deposit;
use domain::job::{Job, JobKind};
use domain::sweep;
use domain::time::Span;
use domain::wallet::Wallet;
use store::working_set::{SignerRow, WorkingSet};

use crate::wallet_world::{chain_tx, deposit, release, wallet};
use crate::world::{World, payment_need};

const CHAIN: ChainNumber = ChainNumber::FIRST;

const LEASE: Span = Span::mins(1);

pub async fn due_jobs_are_leased_once_and_fenced(world: World) {
    let tenants =
        [world.tenant("one", 1_000_000_000).await, world.tenant("two", 1_000_000_000).await];
    let mut payments = Vec::new();
    for at in 0..6 {
        payments.push(world.payment(tenants[at % 2], None).await);
    }
    let take = |owner| world.store.lease_jobs(&[JobKind::Submit], owner, LEASE, 4);
    let (one, two) = futures_util::future::join(take("a"), take("b")).await;
    let jobs: Vec<Job> = [one, two].into_iter().flat_map(|jobs| jobs.expect("taken")).collect();
    let mut subjects: Vec<_> = jobs.iter().map(|job| job.subject).collect();
    subjects.sort_unstable();
    subjects.dedup();
    // Two concurrent workers may skip each other's rows, but never lease one twice.
    assert_eq!(subjects.len(), jobs.len());
    let rest = take("c").await.expect("taken");
    assert_eq!(jobs.len() + rest.len(), payments.len());
    let now = world.now().await;
    for job in jobs.iter().chain(&rest) {
        assert_eq!((job.fence, job.tries), (1, 0));
        assert!(job.leased_until.is_some_and(|until| until > now));
    }
    assert!(take("d").await.expect("asked").is_empty());
    assert_eq!(world.store.next_job_at(&[JobKind::Submit]).await, Ok(None), "all are held");
    let counts = world.store.job_counts().await.expect("counted");
    assert_eq!(
        counts.iter().map(|it| (it.kind, it.count)).collect::<Vec<_>>(),
        [(JobKind::Submit, 6)]
    );
}

pub async fn deliveries_are_leased_by_tenant(world: World) {
    let (one, two, idle) = (
        world.tenant("one", 0).await,
        world.tenant("two", 0).await,
        world.tenant("idle", 1_000_000_000).await,
    );
    world.payment(idle, None).await;
    let subjects = async |tenant, count| {
        let set = |ws: &mut WorkingSet, ids: &mut dyn IdSource| {
            let ids: Vec<_> = (0..count).map(|_| ids.next()).collect();
            ids.iter().for_each(|id| {
                ws.set_job(tenant, *id, JobChange::Set(JobKind::Deliver, ws.now));
            });
            ids
        };
        world.put(tenant, set).await
    };
    let first = subjects(two, 3).await;
    world.pass(Span::secs(1)).await;
    subjects(one, 1).await;
    let store = &world.store;
    assert_eq!(store.tenants_with_deliveries().await, Ok(vec![two, one]), "longest due first");
    let shares = [(two, 2), (one, 9), (idle, 9)];
    let taken = store.lease_deliveries(&shares, "a", LEASE).await.expect("taken");
    let of: Vec<_> = taken.iter().map(|job| (job.tenant, job.fence)).collect();
    assert_eq!(of, [(two, 1), (two, 1), (one, 1)]);
    assert!(taken[..2].iter().all(|job| first.contains(&job.subject)));
    assert_eq!(store.tenants_with_deliveries().await, Ok(vec![two]));
    let rest = store.lease_deliveries(&shares, "b", LEASE).await.expect("taken");
    assert_eq!(rest.iter().map(|job| job.tenant).collect::<Vec<_>>(), [two]);
    assert_eq!(store.tenants_with_deliveries().await, Ok(Vec::new()), "all are held");
}

pub async fn a_lane_is_leased_by_signer(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let signers = [Address([7; 20]), Address([8; 20])];
    let txs = world
        .put(tenant, |ws, ids| {
            let mut made = Vec::new();
            for (number, signer) in [(0, signers[0]), (1, signers[0]), (0, signers[1])] {
                let tx = ChainTx { signer, ..chain_tx(tenant, number, ws.now, ids) };
                ws.signers
                    .put((tenant, (CHAIN, signer)), SignerRow { role: tx.role, next_nonce: 2 });
                ws.set_job(tenant, tx.id.0, JobChange::Set(JobKind::Transmit, ws.now));
                ws.chain_txs.put((tenant, tx.id), tx.clone());
                made.push(tx.id.0);
            }
            made
        })
        .await;
    let store = &world.store;
    let mut due = store.lanes_due(&[CHAIN], 9).await.expect("read");
    due.sort();
    assert_eq!(due, signers.map(|signer| (CHAIN, signer)));
    assert_eq!(store.lanes_due(&[CHAIN], 1).await.expect("read").len(), 1);
    assert!(
        store.lease_lane((CHAIN, Address([9; 20])), "a", LEASE, 9).await.expect("asked").is_empty()
    );
    let first = store.lease_lane((CHAIN, signers[0]), "a", LEASE, 1).await.expect("taken");
    let rest = store.lease_lane((CHAIN, signers[0]), "a", LEASE, 9).await.expect("taken");
    let mut taken: Vec<_> = first.iter().chain(&rest).map(|job| job.subject).collect();
    let mut wanted = txs[..2].to_vec();
    taken.sort_unstable();
    wanted.sort_unstable();
    assert_eq!((first.len(), rest.len(), taken), (1, 1, wanted));
    assert!(first.iter().chain(&rest).all(|job| (job.kind, job.fence) == (JobKind::Transmit, 1)));
    assert!(
        store.lease_lane((CHAIN, signers[0]), "b", LEASE, 9).await.expect("asked").is_empty(),
        "held"
    );
    assert_eq!(store.lanes_due(&[CHAIN], 9).await, Ok(vec![(CHAIN, signers[1])]));
    assert_eq!(store.lane_holders().await, Ok(vec![((CHAIN, signers[0]), "a".to_owned())]));
    world.pass(Span::secs(61)).await;
    let again = store.lease_lane((CHAIN, signers[0]), "b", LEASE, 9).await.expect("taken");
    assert_eq!(
        again.iter().map(|job| job.fence).collect::<Vec<_>>(),
        [2, 2],
        "earlier holders are fenced"
    );
}

/// A node never holds jobs about a chain that it does not work on.
pub async fn jobs_are_leased_by_chain(world: World) {
    const OTHER: ChainNumber = ChainNumber(12);
    let tenant = world.tenant("demobank", 0).await;
    let sweeps = [CHAIN, OTHER].map(|chain| sweep::lane(tenant, chain, StableCoin::Usdc));
    let made = world
        .put(tenant, |ws, ids| {
            let now = ws.now;
            let mut made = Vec::new();
            for chain in [CHAIN, OTHER] {
                let wallet = Wallet { chain, ..wallet(tenant, "C-1", now, ids) };
                let deposit = Deposit { chain, ..deposit(&wallet, None, chain.0.into(), now) };
                let intent = Intent { chain, ..release(&deposit, now, ids) };
                let tx = ChainTx { chain, ..chain_tx(tenant, 0, now, ids) };
                for (subject, kind) in [
                    (wallet.id.0, JobKind::WalletTimer),
                    (deposit.id.0, JobKind::Screen),
                    (intent.id.0, JobKind::SendIntent),
                    (tx.id.0, JobKind::Transmit),
                ] {
                    ws.set_job(tenant, subject, JobChange::Set(kind, now));
                    made.push((chain, kind, subject));
                }
                let row = SignerRow { role: tx.role, next_nonce: 1 };
                ws.signers.put((tenant, (chain, tx.signer)), row);
                ws.wallets.put((tenant, wallet.id), wallet);
                ws.deposits.put((tenant, deposit.id), deposit);
                ws.intents.put((tenant, intent.id), intent);
                ws.chain_txs.put((tenant, tx.id), tx);
            }
            for subject in sweeps {
                ws.set_job(tenant, subject, JobChange::Set(JobKind::Sweep, now));
            }
            made
        })
        .await;
    let store = &world.store;
    assert_eq!(store.job_counts_by_chain().await, Ok(vec![(CHAIN, 4), (OTHER, 4)]));
    let of_records =
        [JobKind::Screen, JobKind::SendIntent, JobKind::Transmit, JobKind::WalletTimer];
    let all = BTreeSet::from_iter(of_records.into_iter().chain([JobKind::Sweep]));
    assert_eq!(store.kinds_due(&[ChainNumber(2)]).await, Ok(BTreeSet::from([JobKind::Sweep])));
    assert_eq!(store.kinds_due(&[OTHER]).await, Ok(all));
    for kind in [JobKind::WalletTimer, JobKind::Screen, JobKind::SendIntent] {
        let lease = async |chains: &[ChainNumber]| {
            let jobs = store.lease_jobs_on(kind, chains, "a", LEASE, 9).await.expect("asked");
            jobs.iter().map(|job| job.subject).collect::<Vec<_>>()
        };
        let of = |chain| {
            let mut made = made.iter();
            made.find(|it| (it.0, it.1) == (chain, kind)).expect("one").2
        };
        assert!(lease(&[]).await.is_empty());
        assert!(lease(&[ChainNumber(2)]).await.is_empty(), "a part of another number");
        assert_eq!(lease(&[CHAIN]).await, [of(CHAIN)], "{kind:?}");
        assert!(lease(&[CHAIN]).await.is_empty(), "held");
        assert_eq!(lease(&[CHAIN, OTHER]).await, [of(OTHER)], "{kind:?}");
    }
    assert_eq!(store.lanes_due(&[], 9).await, Ok(Vec::new()));
    let lanes = store.lanes_due(&[OTHER], 9).await.expect("read");
    assert_eq!(lanes.iter().map(|lane| lane.0).collect::<Vec<_>>(), [OTHER]);
    let mut due = store.sweeps_due().await.expect("read");
    due.sort_unstable();
    let mut expected = sweeps.map(|subject| (tenant, subject));
    expected.sort_unstable();
    assert_eq!(due, expected);
    let lease = || store.lease_job(expected[0], JobKind::Sweep, "a", LEASE);
    let job = lease().await.expect("asked").expect("free");
    assert_eq!((job.subject, job.fence), (expected[0].1, 1));
    assert_eq!(lease().await, Ok(None), "held");
    assert_eq!(store.sweeps_due().await, Ok(vec![expected[1]]));
    assert_eq!(store.has_job(expected[0], JobKind::Sweep).await, Ok(true));
    assert_eq!(store.has_job(expected[0], JobKind::Screen).await, Ok(false));
}

pub async fn an_expired_lease_is_taken_again(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    let first = world.store.lease_jobs(&[JobKind::Submit], "a", LEASE, 9).await.expect("taken");
    world.pass(Span::secs(50)).await;
    assert!(
        world.store.lease_jobs(&[JobKind::Submit], "b", LEASE, 9).await.expect("asked").is_empty()
    );
    world.pass(Span::secs(11)).await;
    let second = world.store.lease_jobs(&[JobKind::Submit], "b", LEASE, 9).await.expect("taken");
    assert_eq!((first[0].fence, second[0].fence), (1, 2));
    assert_eq!(first[0].subject, second[0].subject);
}

pub async fn a_node_that_stops_gives_its_jobs_back(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    for _ in 0..2 {
        world.payment(tenant, None).await;
    }
    let store = &world.store;
    let take = |owner, limit| store.lease_jobs(&[JobKind::Submit], owner, LEASE, limit);
    let first = take("a", 1).await.expect("taken");
    let other = take("b", 1).await.expect("taken");
    assert_eq!(store.give_back(JobKind::Inquire, "a").await, Ok(()));
    assert!(take("c", 9).await.expect("asked").is_empty(), "of another kind");
    assert_eq!(store.give_back(JobKind::Submit, "a").await, Ok(()));
    let again = take("c", 9).await.expect("taken");
    assert_eq!(
        again.iter().map(|job| (job.subject, job.fence)).collect::<Vec<_>>(),
        [(first[0].subject, 2)]
    );
    assert_ne!(other[0].subject, first[0].subject);
}

pub async fn leases_of_dead_nodes_can_be_released_at_once(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    world.payment(tenant, None).await;
    let store = &world.store;
    let take = |owner| store.lease_jobs(&[JobKind::Submit], owner, LEASE, 9);
    let held = take("dead").await.expect("taken");
    assert_eq!(store.lease_role("sweeper", "dead", LEASE).await, Ok(Some(1)));
    assert!(take("new").await.expect("asked").is_empty());
    assert_eq!(store.lease_role("sweeper", "new", LEASE).await, Ok(None));
    // Another node's end releases nothing of this one, a known end of its own all.
    assert_eq!(store.release_leases_of("other").await, Ok(()));
    assert!(take("new").await.expect("asked").is_empty());
    assert_eq!(store.release_leases_of("dead").await, Ok(()));
    let held_again = take("dead").await.expect("taken");
    assert_eq!(held_again[0].fence, held[0].fence + 1);
    assert_eq!(store.lease_role("sweeper", "dead", LEASE).await, Ok(Some(1)));
    assert_eq!(store.release_leases().await, Ok(()));
    let again = take("new").await.expect("taken");
    // A late result of the dead node is stale: the fences have increased.
    assert_eq!((again[0].subject, again[0].fence), (held[0].subject, held[0].fence + 2));
    assert_eq!(store.lease_role("sweeper", "new", LEASE).await, Ok(Some(2)));
}

pub async fn jobs_that_are_not_due_wait(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    let due = world.now().await + Span::hours(1);
    put_off(&world, &payment, JobKind::Inquire, due).await;
    assert_eq!(world.store.next_job_at(&JobKind::ALL).await, Ok(Some(due)));
    assert!(world.store.lease_jobs(&JobKind::ALL, "a", LEASE, 9).await.expect("asked").is_empty());
    let counts = async || {
        let counts = world.store.job_counts().await.expect("counted");
        counts.iter().map(|it| (it.kind, it.count, it.due)).collect::<Vec<_>>()
    };
    assert_eq!(counts().await, [(JobKind::Inquire, 1, 0)]);
    world.pass(Span::hours(2)).await;
    assert_eq!(counts().await, [(JobKind::Inquire, 1, 1)]);
    let taken = world.store.lease_jobs(&JobKind::ALL, "a", LEASE, 9).await.expect("taken");
    assert_eq!(
        taken.iter().map(|job| (job.kind, job.run_at)).collect::<Vec<_>>(),
        [(JobKind::Inquire, due)]
    );
}

async fn put_off(
    world: &World,
    payment: &domain::payment::Payment,
    kind: JobKind,
    at: domain::time::Timestamp,
) {
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        ws.set_job(payment.tenant, payment.id.0, JobChange::Set(kind, at));
        ws.keep();
    };
    world.execute(&payment_need(payment), decide).await.expect("saved");
}

pub async fn kinds_are_due_while_their_jobs_have_no_lease(world: World) {
    let tenant = world.tenant("demobank", 100_000_000_000).await;
    let due = async || world.store.kinds_due(&[]).await.expect("asked");
    assert_eq!(due().await, BTreeSet::new());
    let at = world.now().await + Span::hours(1);
    for kind in JobKind::ALL {
        let payment = world.payment(tenant, None).await;
        put_off(&world, &payment, kind, at).await;
    }
    assert_eq!(due().await, BTreeSet::new(), "none is due");
    world.pass(Span::hours(2)).await;
    assert_eq!(due().await, BTreeSet::from(JobKind::ALL));
    world
        .store
        .lease_jobs(&[JobKind::Submit, JobKind::Deliver], "a", LEASE, 9)
        .await
        .expect("taken");
    let left =
        JobKind::ALL.into_iter().filter(|kind| ![JobKind::Submit, JobKind::Deliver].contains(kind));
    assert_eq!(due().await, left.collect());
}

pub async fn every_kind_gets_its_share(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    for at in 0..12 {
        let payment = world.payment(tenant, None).await;
        if at % 4 == 0 {
            put_off(&world, &payment, JobKind::Inquire, payment.accepted_at).await;
        }
    }
    let kinds = [JobKind::Submit, JobKind::Inquire];
    let taken = world.store.lease_jobs(&kinds, "a", LEASE, 4).await.expect("taken");
    let of = |kind| taken.iter().filter(|job| job.kind == kind).count();
    assert_eq!((of(JobKind::Submit), of(JobKind::Inquire)), (2, 2));
    let review_first = [JobKind::Review, JobKind::Submit];
    let taken = world.store.lease_jobs(&review_first, "a", LEASE, 4).await.expect("taken");
    assert_eq!(taken.len(), 4, "the rest of one kind's share goes to the next");
}

pub async fn a_batch_that_saw_an_older_fence_is_decided_again(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, None).await;
    let before =
        world.store.lease_jobs(&[JobKind::Submit], "a", LEASE, 1).await.expect("taken").remove(0);
    world.pass(Span::mins(2)).await;
    world.store.lease_jobs(&[JobKind::Submit], "b", LEASE, 1).await.expect("taken");
    let mut fences = Vec::new();
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let key = (tenant, payment.id.0);
        if fences.is_empty() {
            // As if the lease had been taken between this batch's load and its save.
            ws.jobs.load(key, Some(before.clone()));
        }
        fences.push(ws.jobs.get(&key).cloned().flatten().expect("loaded").fence);
        let later = ws.now + Span::mins(5);
        ws.set_job(tenant, payment.id.0, JobChange::Set(JobKind::Submit, later));
        ws.keep();
    };
    world.execute(&payment_need(&payment), decide).await.expect("decided again");
    assert_eq!(fences, [1, 2]);
    let decide = |ws: &mut WorkingSet, _: &mut dyn IdSource| {
        let job = ws.jobs.get(&(tenant, payment.id.0)).cloned().flatten().expect("loaded");
        assert_eq!((job.fence, job.leased_until, job.tries), (2, None, 1));
    };
    world.execute(&payment_need(&payment), decide).await.expect("read");
}

pub async fn a_role_has_one_holder_at_a_time(world: World) {
    world.tenant("demobank", 0).await;
    let lease = |owner| world.store.lease_role("sweeper", owner, LEASE);
    assert_eq!(lease("a").await, Ok(Some(1)));
    assert_eq!(lease("b").await, Ok(None));
    assert_eq!(lease("a").await, Ok(Some(1)), "renewed");
    assert_eq!(world.store.lease_role("collector", "b", LEASE).await, Ok(Some(1)), "another role");
    world.pass(Span::mins(2)).await;
    assert_eq!(lease("b").await, Ok(Some(2)));
    assert_eq!(lease("a").await, Ok(None));
    world.pass(Span::mins(2)).await;
    assert_eq!(lease("b").await, Ok(Some(2)), "no other node took it in between");
}

pub async fn holders_of_roles_and_working_nodes_are_listed(world: World) {
    let store = &world.store;
    assert_eq!(store.role_leases().await, Ok(Vec::new()));
    store.lease_role("watch", "a", LEASE).await.expect("taken");
    store.lease_role("sweeper", "b", LEASE).await.expect("taken");
    let until = world.now().await + LEASE;
    let leases = store.role_leases().await.expect("read");
    let told: Vec<_> =
        leases.iter().map(|it| (it.name.as_str(), it.owner.as_str(), it.fence)).collect();
    assert_eq!(told, [("sweeper", "b", 1), ("watch", "a", 1)]);
    assert!(leases.iter().all(|lease| lease.leased_until <= until));
    assert_eq!(store.working_nodes().await, Ok(Vec::new()));
    for node in ["b", "a"] {
        store.lease_role(&store::node_role(node), node, LEASE).await.expect("taken");
    }
    let nodes = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(store.working_nodes().await, nodes(&["a", "b"]), "they have no work");
    store.release_leases_of("b").await.expect("written");
    assert_eq!(store.working_nodes().await, nodes(&["a"]));
    world.pass(Span::mins(2)).await;
    assert_eq!(store.working_nodes().await, nodes(&[]), "their leases ran out");
    assert_eq!(
        store.role_leases().await.map(|leases| leases.len()),
        Ok(2),
        "the last holder is still listed, and no node"
    );
    world.pass(Span::hours(25)).await;
    store.prune(world.now().await).await.expect("pruned");
    let left = world.sql("DELETE FROM role_lease WHERE name LIKE 'node:%'").await;
    assert!(matches!(left, None | Some(Ok(0))), "{left:?}");
}
