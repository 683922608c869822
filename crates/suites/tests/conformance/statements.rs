//! The data of statements of account.

use std::collections::{BTreeMap, BTreeSet};

use domain::audit::{AuditContext, Facts, Note, Via};
use domain::chain::ChainNumber;
use domain::currency::StableCoin;
use domain::ids::TenantId;
use domain::ledger::{AccountCode, Funding, TransferKind, funding_subject};
use domain::rail::RailId;
use domain::time::{Span, Timestamp};
use store::{AccountPeriod, References, SideTotals, StoredTransfer, Totals};
use uuid::Uuid;

use crate::wallet_world::{COIN, credit};
use crate::world::{World, tenant_need};

const ALL: (Timestamp, Timestamp) = (Timestamp(0), Timestamp(i64::MAX));

fn prefund() -> AccountCode {
    AccountCode::Prefund(StableCoin::Usdt)
}

/// Two days: on the first one payment settles and two are reserved, on the second one of these is
/// rejected.
async fn two_days(world: &World) -> (TenantId, Timestamp) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let (settled, refused) =
        (world.payment(tenant, Some("inv-1")).await, world.payment(tenant, None).await);
    world.payment(tenant, None).await;
    world.attempt(&settled, &RailId::new("pak-raast")).await;
    world.reference(&settled, "FT-1").await;
    world.pass(Span::days(1)).await;
    let midnight = world.now().await;
    world.refuse(&refused).await;
    world.payment(tenant, None).await;
    (tenant, midnight)
}

async fn transfers(world: &World, tenant: TenantId, code: &AccountCode) -> Vec<StoredTransfer> {
    let mut all = world.store.transfers(tenant, None, 10_000).await.expect("read");
    all.retain(|it| it.debit == *code || it.credit == *code);
    all.sort_by_key(|it| it.at);
    all
}

/// An account's period computed from all transfers.
fn folded(
    all: &[StoredTransfer],
    period: &AccountPeriod,
    (from, to): (Timestamp, Timestamp),
) -> AccountPeriod {
    let mut parts = [Totals::default(); 3];
    for it in all {
        let part = usize::from(it.at >= from) + usize::from(it.at >= to);
        let (booked, reserved) = match it.kind {
            TransferKind::Posted => (1, 0),
            TransferKind::Pending => (0, 1),
            TransferKind::PostPending => (1, -1),
            TransferKind::VoidPending => (0, -1),
        };
        let minor = it.amount.minor;
        let (booked_count, reserved_count) = (booked, reserved);
        let side = SideTotals {
            booked_count,
            booked: booked * minor,
            reserved_count,
            reserved: reserved * minor,
        };
        let debited = it.debit == period.account.code;
        let nothing = SideTotals::default();
        let (debits, credits) = if debited { (side, nothing) } else { (nothing, side) };
        parts[part] = parts[part].plus(Totals { debits, credits }).expect("fits");
    }
    let is_final =
        |it: &&StoredTransfer| matches!(it.kind, TransferKind::Posted | TransferKind::PostPending);
    let inside = |it: &&StoredTransfer| it.at >= from && it.at < to;
    let [before, during, after] = parts;
    AccountPeriod {
        account: period.account.clone(),
        before,
        during,
        after,
        first_at: all.first().map(|it| it.at),
        movements: all.iter().filter(is_final).filter(inside).cloned().collect(),
    }
}

pub async fn an_account_is_summed_up_before_in_and_after_a_period(world: World) {
    let (tenant, midnight) = two_days(&world).await;
    let accounts = world.store.accounts(tenant).await.expect("read");
    assert!(accounts.len() > 5, "with and without an index: {accounts:?}");
    for account in accounts {
        let all = transfers(&world, tenant, &account.code).await;
        let (first, last) = (all[0].at, all[all.len() - 1].at);
        for bounds in [
            ALL,
            (Timestamp(0), midnight),
            (midnight, Timestamp(i64::MAX)),
            (first, last),
            (last, last + Span(1)),
        ] {
            let read = world
                .store
                .account_period(tenant, &account.code, bounds, 1_000)
                .await
                .expect("read");
            let read = read.expect("there");
            assert_eq!(read.account, account);
            assert_eq!(read, folded(&all, &read, bounds), "{} {bounds:?}", account.code);
        }
    }
    let nobody = TenantId(Uuid::new_v4());
    assert_eq!(world.store.account_period(nobody, &prefund(), ALL, 1).await, Ok(None));
}

pub async fn a_wallet_has_movements_of_its_own(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let (one, two) = (world.wallet(tenant, "c-1").await, world.wallet(tenant, "c-2").await);
    let code = |id| AccountCode::Wallet(id, StableCoin::Usdc);
    for (wallet, minor) in [(&one, 5 * COIN), (&two, 9 * COIN), (&one, COIN)] {
        let mut need = tenant_need(tenant);
        need.accounts.insert((tenant, code(wallet.id)));
        let booked = world.execute(&need, |ws, ids| {
            let transfer = credit(tenant, code(wallet.id), minor, "deposit.clear", ws.now, ids);
            ws.book(vec![transfer]).expect("booked");
            ws.keep();
        });
        booked.await.expect("saved");
    }
    let read = world
        .store
        .account_period(tenant, &code(one.id), ALL, 1)
        .await
        .expect("read")
        .expect("there");
    assert_eq!((read.during.credits.booked_count, read.during.credits.booked), (2, 6 * COIN));
    assert_eq!(
        read.movements.len(),
        1,
        "no more than asked for, and the sums say that there are more"
    );
    let usdt = AccountCode::Wallet(one.id, StableCoin::Usdt);
    assert_eq!(world.store.account_period(tenant, &usdt, ALL, 1).await, Ok(None));
}

pub async fn reservations_are_found_that_were_open_at_an_instant(world: World) {
    let (tenant, midnight) = two_days(&world).await;
    let later = world.now().await + Span::secs(1);
    for code in [prefund(), AccountCode::InTransit(StableCoin::Usdt)] {
        for at in [midnight, later] {
            let all = transfers(&world, tenant, &code).await;
            let ended: BTreeSet<_> =
                all.iter().filter(|it| it.at < at).filter_map(|it| it.pending).collect();
            let mut open = all;
            open.retain(|it| {
                it.kind == TransferKind::Pending && it.at < at && !ended.contains(&it.id)
            });
            open.reverse();
            assert_eq!(open.len(), 2, "two were held on either day");
            let sides = if code == prefund() { (2, 0) } else { (0, 2) };
            let found =
                world.store.open_reservations(tenant, &code, at, sides).await.expect("read");
            assert_eq!(found, open, "{code} at {at}");
            let newest = if code == prefund() { (1, 0) } else { (0, 1) };
            let found =
                world.store.open_reservations(tenant, &code, at, newest).await.expect("read");
            assert_eq!((found.len(), found[0].at), (1, open[0].at), "the newest");
        }
    }
}

pub async fn references_are_those_of_the_tenant(world: World) {
    let tenant = world.tenant("demobank", 1_000_000_000).await;
    let payment = world.payment(tenant, Some("inv-1")).await;
    let queued = world.payment(tenant, None).await;
    let attempt = world.attempt(&payment, &RailId::new("pak-raast")).await;
    world.reference(&payment, "FT-1").await;
    let wallet = world.wallet(tenant, "c-1").await;
    let request = world.request(&wallet).await;
    let deposit = world.deposit(&wallet, Some(&request), 7, |_| {}).await;
    let ids = |ids: &[Uuid]| ids.iter().copied().collect::<BTreeSet<Uuid>>();
    let (payments, deposits) =
        (ids(&[payment.id.0, queued.id.0, Uuid::new_v4()]), ids(&[deposit.id.0]));
    let found =
        world.store.references(tenant, &payments, &BTreeSet::new(), &deposits).await.expect("read");
    assert_eq!(found.len(), 3);
    assert_eq!(
        found[&payment.id.0],
        References {
            external_id: Some("inv-1".to_owned()),
            attempt: Some(attempt.id),
            bank_reference: Some("FT-1".to_owned()),
            ..References::default()
        }
    );
    assert_eq!(found[&queued.id.0], References::default());
    assert_eq!(
        (found[&deposit.id.0].tx, found[&deposit.id.0].request),
        (Some(deposit.tx), Some(request.id))
    );
    // Orders have payout attempts under their id, as payments do.
    let order = world
        .store
        .references(tenant, &BTreeSet::new(), &payments, &BTreeSet::new())
        .await
        .expect("read");
    assert_eq!(order[&payment.id.0].attempt, Some(attempt.id));
    let other = world.tenant("otherbank", 0).await;
    let foreign =
        world.store.references(other, &payments, &payments, &deposits).await.expect("read");
    assert!(foreign.is_empty(), "{foreign:?}");
}

pub async fn references_of_fundings_are_those_of_their_audit_entries(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let other = world.tenant("otherbank", 0).await;
    let by = AuditContext::new(Via::Cli, "root");
    let chain = ChainNumber(2);
    let booked = [
        ("prefund.top_up", Funding::TopUp, "TREASURY-2041"),
        ("prefund.withdrawal", Funding::Withdrawal, "W-77"),
        ("controller.fund", Funding::Controller(chain), "0x9f2c"),
        ("controller.reverse_funding", Funding::ControllerReversal(chain), "0x9f2c"),
        ("prefund.top_up", Funding::TopUp, "W-77"),
        ("prefund.withdrawal", Funding::Withdrawal, "\"ö\" \\ 1"),
    ];
    let mut subjects = BTreeMap::new();
    for (action, funding, reference) in booked {
        let after = Facts::new().text("available", "1.00").text("reference", reference);
        let note = Note::new(action, "tenant", tenant).after(after);
        world.store.append_audit(tenant, &by, note).await.expect("noted");
        // A transfer of the same commit.
        let at = world.audited(tenant).await[0].at.to_millis();
        subjects.insert(funding_subject(funding, tenant, reference), (at, reference));
        world.pass(Span::secs(60)).await;
    }
    // Not of a funding, and without a reference.
    for (action, facts) in [
        ("tenant.set_policy", Facts::new().text("reference", "T-1")),
        ("prefund.top_up", Facts::new().text("available", "2.00")),
    ] {
        let note = Note::new(action, "tenant", tenant).after(facts);
        world.store.append_audit(tenant, &by, note).await.expect("noted");
    }
    let unknown = funding_subject(Funding::TopUp, tenant, "T-1");
    let now = world.now().await;
    let read = async |tenant, asked: &[Uuid]| {
        let at = |id| subjects.get(id).map_or(now, |(at, _)| *at);
        let asked = asked.iter().map(|id| (*id, at(id))).collect();
        world.store.funding_references(tenant, &asked).await.expect("read")
    };
    let all: Vec<Uuid> = subjects.keys().copied().chain([unknown]).collect();
    let found = read(tenant, &all).await;
    assert_eq!(found.len(), booked.len());
    for (subject, (_, reference)) in &subjects {
        let bank_reference = Some((*reference).to_owned());
        assert_eq!(found[subject], References { bank_reference, ..References::default() });
        assert_eq!(read(tenant, &[*subject]).await, [(*subject, found[subject].clone())].into());
    }
    assert!(read(tenant, &[]).await.is_empty());
    assert!(read(other, &all).await.is_empty(), "an entry is of its tenant");
}
