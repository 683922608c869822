//! Search for payments by what is known about them, and for records by the beginning of an id.

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::{PaymentId, TenantId};
use domain::order::Order;
use domain::payment::Payment;
use domain::payment_request::{SenderDetails, SenderInfo};
use domain::payment_search::Reading;
use domain::ports::Clock as _;
use domain::rail::RailId;
use domain::time::Span;
use store::{Found, PaymentSearch, StoreError};
use uuid::Uuid;

use crate::wallet_world::sender;
use crate::world::{World, order, put_order, tenant_need};

async fn ordered(world: &World, tenant: TenantId, edit: impl Fn(&mut Order)) -> Payment {
    let quote = world.quote(tenant).await;
    let mut need = tenant_need(tenant);
    need.quotes.insert((tenant, quote.id));
    let mut wanted = order(&quote, None);
    edit(&mut wanted);
    let mut made = None;
    world
        .execute(&need, |ws, ids| made = Some(put_order(ws, &quote, wanted.clone(), ids)))
        .await
        .expect("accepted");
    made.expect("made")
}

/// The payments about which all of this holds.
async fn found(world: &World, tenant: TenantId, known: &[Reading]) -> Vec<PaymentId> {
    let known = known.iter().map(|reading| vec![reading.clone()]).collect();
    let search = PaymentSearch { known, ..PaymentSearch::default() };
    let found = world.store.find_payments(tenant, &search, 10).await.expect("read");
    assert_eq!(found.searched_since, None, "all were searched");
    found.records.iter().map(|record| record.payment.id).collect()
}

fn word(text: &str) -> Reading {
    Reading::Word(text.to_owned())
}

fn phone(text: &str) -> Reading {
    Reading::Phone(text.to_owned())
}

pub async fn payments_are_found_by_what_is_known_about_them(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let one = ordered(&world, tenant, |order| {
        order.beneficiary_name = "Bilal  O\u{2019}Sampl\u{e9}".to_owned();
        order.beneficiary_account_number = "PK36SCBL0000001123456702".to_owned();
        order.beneficiary_mobile = Some("+923001234567".to_owned());
        order.beneficiary_email = Some("Bilal@example.com".to_owned());
    });
    let one = one.await;
    world.pass(Span::secs(1)).await;
    let two = ordered(&world, tenant, |order| {
        order.beneficiary_name = "Asha Bilal".to_owned();
        order.sender_name = "Nguy\u{1ec5}n Mau".to_owned();
        order.beneficiary_account_number = "0011226702".to_owned();
        order.beneficiary_mobile = None;
        order.sender_mobile = Some("+971501112233".to_owned());
    });
    let two = two.await;
    let (both, first, second) = (vec![two.id, one.id], vec![one.id], vec![two.id]);
    let is = async |known: &[Reading], expected: &[PaymentId]| {
        assert_eq!(found(&world, tenant, known).await, expected, "{known:?}");
    };
    is(&[Reading::account("6702")], &both).await;
    is(&[Reading::account("06702")], &[]).await;
    is(&[Reading::account("226702")], &second).await;
    is(&[Reading::account("PK36 SCBL 0000 0011 2345 6702")], &first).await;
    is(&[word("bilal")], &both).await;
    is(&[word("obrien")], &[]).await;
    is(&[word("osample")], &first).await;
    is(&[word("bilal"), word("nguyen")], &second).await;
    is(&[phone("1234567")], &first).await;
    is(&[phone("971501112233")], &second).await;
    is(&[phone("91234567")], &[]).await;
    is(&[Reading::email("bilal@Example.com")], &first).await;
    is(&[Reading::email("bilal@example.co")], &[]).await;
    let amount = |value: Decimal, currency| Reading::amount(value, vec![currency]);
    let receives = one.amount.decimal();
    is(&[amount(receives, one.amount.currency)], &both).await;
    is(&[amount(receives, Currency::Inr)], &[]).await;
    is(&[amount(one.base.decimal(), one.base.currency), word("asha")], &second).await;
    let more = receives.checked_mul(Decimal::new(1_005, 3)).expect("an amount");
    is(&[Reading::about(more, Vec::new())], &both).await;
    let much_more = receives.checked_mul(Decimal::new(103, 2)).expect("an amount");
    is(&[Reading::about(much_more, Vec::new())], &[]).await;
    // The fifth and further things that are known count too.
    let mut many = vec![word("bilal"); 5];
    many.push(word("asha"));
    is(&many, &second).await;
    // One thing in two readings.
    let either = vec![vec![Reading::account("9999"), word("asha")]];
    let search = PaymentSearch { known: either, ..PaymentSearch::default() };
    let either = world.store.find_payments(tenant, &search, 10).await.expect("read");
    assert_eq!(either.records.len(), 1);
}

pub async fn a_search_is_bounded_by_its_days_and_its_tenant(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let other = world.tenant("other", 10_000_000_000).await;
    let early = ordered(&world, tenant, |_| {}).await;
    world.pass(Span::days(1)).await;
    let late = ordered(&world, tenant, |_| {}).await;
    let foreign = ordered(&world, other, |_| {}).await;
    let ids = async |tenant, start, end, limit| {
        let search = PaymentSearch { start, end, ..PaymentSearch::default() };
        let found = world.store.find_payments(tenant, &search, limit).await.expect("read");
        found.records.iter().map(|record| record.payment.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(tenant, None, None, 10).await, [late.id, early.id]);
    assert_eq!(ids(tenant, None, None, 1).await, [late.id]);
    assert_eq!(ids(tenant, Some(late.accepted_at), None, 10).await, [late.id], "from inclusive");
    assert_eq!(ids(tenant, None, Some(late.accepted_at), 10).await, [early.id], "to exclusive");
    assert_eq!(ids(other, None, None, 10).await, [foreign.id]);
    assert_eq!(ids(TenantId(Uuid::new_v4()), None, None, 10).await, []);
}

pub async fn records_are_found_by_the_beginning_of_their_id(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let payment = ordered(&world, tenant, |_| {}).await;
    let unused = world.quote(tenant).await;
    let start = async |tenant, id: Uuid, length: usize| {
        let digits = id.simple().to_string();
        world.store.find_id_start(tenant, &digits[..length]).await.expect("read")
    };
    for length in [6, 7, 8, 20, 32] {
        for (id, is) in [
            (payment.id.0, Found::Payment(payment.id)),
            (payment.quote.0, Found::Quote(payment.quote)),
            (unused.id.0, Found::Quote(unused.id)),
        ] {
            assert_eq!(start(tenant, id, length).await, [is], "{length} digits");
        }
    }
    let foreign = TenantId(Uuid::new_v4());
    assert_eq!(start(foreign, payment.id.0, 8).await, []);
    assert_eq!(start(tenant, Uuid::new_v4(), 8).await, []);
}

pub async fn references_are_found_by_their_beginning(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let payment = world.payment(tenant, Some("INV-2026-0007")).await;
    world.payment(tenant, Some("INV-2025-0007")).await;
    world.attempt(&payment, &RailId::new("pak-raast")).await;
    world.reference(&payment, "FT26330ABC%_").await;
    let start =
        async |tenant, text| world.store.find_reference_start(tenant, text).await.expect("read");
    for text in ["INV-2026", "INV-2026-0007", "FT2633", "FT26330ABC%_"] {
        assert_eq!(start(tenant, text).await, [Found::Payment(payment.id)], "{text}");
    }
    assert_eq!(start(tenant, "INV-20").await.len(), 2);
    for text in ["inv-2026", "2026-0007", "INV-2026-0007x", "INV%"] {
        assert_eq!(start(tenant, text).await, [], "{text}");
    }
    assert_eq!(start(TenantId(Uuid::new_v4()), "INV-2026").await, []);
}

pub async fn references_are_found_by_a_part_of_them(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let payment = world.payment(tenant, Some("INV-2026-000123")).await;
    world.pass(Span::secs(1)).await;
    let other = world.payment(tenant, Some("INV-2026-000124%_")).await;
    world.payment(tenant, None).await;
    let wallet = world.wallet(tenant, "CUST-77-000125").await;
    let part =
        async |tenant, text| world.store.find_reference_part(tenant, text).await.expect("read");
    for (text, is) in [
        ("000123", Found::Payment(payment.id)),
        ("inv-2026-000123", Found::Payment(payment.id)),
        ("26-000123", Found::Payment(payment.id)),
        ("124%_", Found::Payment(other.id)),
        ("77-000125", Found::Wallet(wallet.id)),
    ] {
        assert_eq!(part(tenant, text).await, [is], "{text}");
    }
    let newest_first = [Found::Payment(other.id), Found::Payment(payment.id)];
    assert_eq!(part(tenant, "2026-0001").await, newest_first);
    for text in ["000126", "INV%000123", "INV_2026"] {
        assert_eq!(part(tenant, text).await, [], "{text}");
    }
    assert_eq!(part(TenantId(Uuid::new_v4()), "000123").await, []);
}

/// More payments than a search opens at once match in the database, and are not what is sought.
pub async fn a_search_goes_on_beyond_candidates_that_do_not_match(world: World) {
    let tenant = world.tenant("demobank", 100_000_000_000).await;
    let from = |name: &'static str| {
        move |order: &mut Order| {
            order.sender_name = name.to_owned();
            order.beneficiary_name = "Ali Sample".to_owned();
        }
    };
    let wanted = ordered(&world, tenant, from("Asha Ali")).await;
    for _ in 0..205 {
        ordered(&world, tenant, from("Asha Khan Ali")).await;
    }
    let sender = Some(vec!["asha".to_owned(), "ali".to_owned()]);
    let known = vec![vec![word("asha")], vec![word("ali")]];
    let search = PaymentSearch { known, sender, ..PaymentSearch::default() };
    let found = world.store.find_payments(tenant, &search, 20).await.expect("read");
    let ids: Vec<PaymentId> = found.records.iter().map(|record| record.payment.id).collect();
    assert_eq!((ids, found.searched_since), (vec![wanted.id], None));
}

async fn index(world: &World) -> Result<usize, StoreError> {
    world.store.index_payments(world.clock.now()).await
}

pub async fn earlier_payments_are_indexed_once(world: World) {
    let tenant = world.tenant("demobank", 10_000_000_000).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(ordered(&world, tenant, |_| {}).await.id);
        world.pass(Span::secs(1)).await;
    }
    made.reverse();
    let tail = [Reading::account("6702")];
    assert_eq!(found(&world, tenant, &tail).await, made);
    assert_eq!(index(&world).await, Ok(0), "each has its row");
    // As an older version left them: without rows, and without a position of the indexing.
    let Some(deleted) = world.sql("DELETE FROM payment_search").await else { return };
    assert_eq!(deleted, Ok(3));
    world
        .sql("DELETE FROM meta WHERE name LIKE 'payment_search.%'")
        .await
        .expect("beside")
        .expect("deleted");
    assert_eq!(found(&world, tenant, &tail).await, []);
    assert_eq!(index(&world).await, Ok(0), "a node may still be committing what it accepted then");
    world.pass(Span::mins(11)).await;
    assert_eq!(index(&world).await, Ok(3));
    assert_eq!(found(&world, tenant, &tail).await, made);
    assert_eq!(index(&world).await, Ok(0));
    // A day after the migration no older version can be running: payments have rows of their own.
    world.pass(Span::days(2)).await;
    let late = ordered(&world, tenant, |_| {}).await;
    assert_eq!(found(&world, tenant, &tail).await[0], late.id);
    assert_eq!(index(&world).await, Ok(0));
}

fn details() -> SenderDetails {
    SenderDetails {
        first_name: Some("Asha".to_owned()),
        last_name: Some("Khan".to_owned()),
        email: Some("asha@example.com".to_owned()),
        phone_number: Some("+971501112233".to_owned()),
        custodial_provider: None,
    }
}

pub async fn wallet_records_are_found_by_what_is_known_about_them(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let request = world.request(&wallet).await;
    world.pass(Span::days(1)).await;
    let before = world.clock.now();
    let deposit = world
        .deposit(&wallet, Some(&request), 1, |it| {
            it.sender = details();
            it.minor = 25_500_000;
        })
        .await;
    let unknown = world.deposit(&wallet, Some(&request), 2, |_| {}).await;
    let order = world.exchange(&wallet, |_| {}).await;
    world
        .put(tenant, |ws, ids| {
            let sender = sender(&request, (1, "Asha"), ws.now, ids);
            ws.add_sender(SenderInfo { details: details(), ..sender }, &request);
        })
        .await;
    let found = async |known: &[Reading], start, end| {
        let known = known.iter().map(|reading| vec![reading.clone()]).collect();
        let search = PaymentSearch { known, start, end, ..PaymentSearch::default() };
        world.store.find_people(tenant, &search, 10).await.expect("read")
    };
    let both = [Found::Deposit(deposit.id), Found::Request(request.id)];
    let amount =
        |text: &str, currency| Reading::amount(text.parse().expect("a number"), vec![currency]);
    for (known, is) in [
        (vec![word("asha"), word("khan")], &both[..]),
        (vec![phone("971501112233")], &both),
        (vec![Reading::email("Asha@example.com")], &both),
        (vec![word("asha"), amount("25.5", deposit.coin.currency())], &both[..1]),
        (vec![word("samplekhan")], &[Found::Order(order.id)]),
        (
            vec![Reading::account("6702"), amount("2773.56", Currency::Pkr)],
            &[Found::Order(order.id)],
        ),
        (vec![amount("10", order.coin.currency()), word("sana")], &[Found::Order(order.id)]),
        (vec![Reading::email(&wallet.email)], &[Found::Wallet(wallet.id)]),
        (vec![word("zorblax")], &[]),
    ] {
        assert_eq!(found(&known, None, None).await, is, "{known:?}");
        assert_eq!(found(&known, None, Some(wallet.created_at)).await, [], "{known:?}");
    }
    let amounts = [Reading::amount(Decimal::new(unknown.minor.into(), 6), Vec::new())];
    assert!(found(&amounts, Some(before), None).await.contains(&Found::Deposit(unknown.id)));
    assert_eq!(found(&[word("khan")], Some(before), None).await, both);
    let search = PaymentSearch { known: vec![vec![word("khan")]], ..PaymentSearch::default() };
    let foreign = world.store.find_people(TenantId(Uuid::new_v4()), &search, 10).await;
    assert_eq!(foreign, Ok(Vec::new()));
}

pub async fn a_search_for_wallet_records_is_bounded(world: World) {
    let tenant = world.tenant("demobank", 0).await;
    let wallet = world.wallet(tenant, "C-1").await;
    let mut made = Vec::new();
    for number in 1..=3 {
        made.push(world.deposit(&wallet, None, number, |it| it.sender = details()).await.id);
        world.pass(Span::secs(1)).await;
    }
    let search = PaymentSearch { known: vec![vec![word("khan")]], ..PaymentSearch::default() };
    let found = world.store.find_people(tenant, &search, 2).await.expect("read");
    assert_eq!(found, [Found::Deposit(made[2]), Found::Deposit(made[1])], "the newest");
}
