//! `GET /v2/payments`

use domain::country::Country;
use domain::ids::PaymentId;
use futures_util::future::join_all;

use crate::harness::client::instant;
use crate::harness::{Bank, Json, On, on_both_stores};

on_both_stores! {
    payments_are_listed_newest_first_with_their_records
    pages_fit_together_whatever_their_size
    payments_accepted_at_once_have_one_order
    the_time_filter_includes_its_start_and_excludes_its_end
    times_are_taken_as_common_clients_write_them
    the_status_filter_takes_all_nine_states_repeated_or_in_one
    searches_find_exactly_one_thing
    the_wallets_transactions_find_their_payment
    searches_and_filters_narrow_each_other
    a_list_is_of_one_country
    a_list_without_payments_is_empty
    the_default_limit_is_twenty
    query_parameters_are_held_to_their_rules
}

async fn list(bank: &Bank, query: &str) -> Vec<Json> {
    bank.get(&format!("/v2/payments?{query}")).send().await.ok().items().to_vec()
}

fn ids(records: &[Json]) -> Vec<&str> {
    records.iter().map(|record| record["id"].text()).collect()
}

/// Makes payments one after the other; returns the ids in order of acceptance.
async fn paid_in_turn(bank: &Bank, count: usize) -> Vec<String> {
    let mut made = Vec::new();
    for number in 0..count {
        made.push(
            bank.paid(Country::Pak, |order| order.text("external_id", &format!("turn-{number}")))
                .await,
        );
    }
    made
}

async fn payments_are_listed_newest_first_with_their_records(on: On) {
    let bank = Bank::new(on).await;
    let made = paid_in_turn(&bank, 3).await;
    for id in &made {
        bank.reaches(Country::Pak, id, "succeeded").await;
    }
    let newest = list(&bank, "country=PAK").await;
    assert_eq!(ids(&newest), [&made[2], &made[1], &made[0]].map(String::as_str));
    for record in &newest {
        assert_eq!(*record, bank.record(Country::Pak, record["id"].text()).await);
    }
    assert_eq!(list(&bank, "country=PAK&sorting_order=desc").await, newest);
    let mut oldest = list(&bank, "country=PAK&sorting_order=asc").await;
    oldest.reverse();
    assert_eq!(oldest, newest);
}

async fn pages_fit_together_whatever_their_size(on: On) {
    let bank = Bank::new(on).await;
    paid_in_turn(&bank, 7).await;
    for order in ["asc", "desc"] {
        let all = list(&bank, &format!("country=PAK&sorting_order={order}&limit=1000")).await;
        assert_eq!(all.len(), 7);
        for size in [1, 2, 3, 7] {
            let mut gathered = Vec::new();
            for offset in (0..9).step_by(size) {
                let query =
                    format!("country=PAK&sorting_order={order}&limit={size}&offset={offset}");
                gathered
                    .extend(list(&bank, &query).await.iter().map(|record| record["id"].clone()));
            }
            let expected: Vec<Json> = all.iter().map(|record| record["id"].clone()).collect();
            assert_eq!(gathered, expected, "{order} {size}");
        }
    }
    assert_eq!(list(&bank, "country=PAK&limit=0").await, []);
    assert_eq!(list(&bank, "country=PAK&offset=7").await, []);
    assert_eq!(list(&bank, "country=PAK&offset=9223372036854775807").await, []);
    assert_eq!(list(&bank, "country=PAK&offset=99999999999999999999").await, []);
}

async fn payments_accepted_at_once_have_one_order(on: On) {
    let bank = Bank::new(on).await;
    join_all((0..16).map(|_| bank.paid(Country::Pak, |order| order))).await;
    let newest = list(&bank, "country=PAK").await;
    let mut oldest = list(&bank, "country=PAK&sorting_order=asc").await;
    oldest.reverse();
    assert_eq!(ids(&newest), ids(&oldest), "ties are broken the same way in both directions");
    assert_eq!(newest.len(), 16);
    let times: Vec<_> =
        newest.iter().map(|record| instant(&record["order"]["timestamp"])).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
}

async fn the_time_filter_includes_its_start_and_excludes_its_end(on: On) {
    let bank = Bank::new(on).await;
    let made = paid_in_turn(&bank, 3).await;
    let records = list(&bank, "country=PAK&sorting_order=asc").await;
    let times: Vec<&str> =
        records.iter().map(|record| record["order"]["timestamp"].text()).collect();
    // Responses show milliseconds: the shown time is at or before the instant itself.
    let from = |text: &str| format!("country=PAK&sorting_order=asc&start_ts={text}");
    assert_eq!(ids(&list(&bank, &from(times[0])).await).len(), 3);
    if times[0] != times[2] {
        let later = list(&bank, &from(times[2])).await;
        assert!(
            ids(&later).contains(&made[2].as_str()) && !ids(&later).contains(&made[0].as_str())
        );
        let earlier = list(&bank, &format!("country=PAK&end_ts={}", times[2])).await;
        assert!(
            ids(&earlier).contains(&made[0].as_str()) && !ids(&earlier).contains(&made[2].as_str())
        );
    }
    assert_eq!(
        list(&bank, &format!("country=PAK&end_ts={}", times[0])).await,
        [],
        "the end is excluded"
    );
    assert_eq!(list(&bank, "country=PAK&start_ts=2999-01-01T00:00:00Z").await, []);
    for everything in [
        "2020-01-01T00:00:00",
        "2020-01-01T00:00:00Z",
        "2020-01-01T05:30:00.5%2B05:30",
        "2020-01-01t00:00:00z",
    ] {
        assert_eq!(list(&bank, &from(everything)).await.len(), 3, "{everything}");
    }
}

/// Formats of openapi-generator's Python client, `OffsetDateTime.toString()` at a full minute, a
/// date, and .NET's `MaxValue`.
async fn times_are_taken_as_common_clients_write_them(on: On) {
    let bank = Bank::new(on).await;
    let made = paid_in_turn(&bank, 1).await;
    for filter in [
        "start_ts=2026-01-01T14:42:32.128000%2B0000",
        "start_ts=2026-01-01T14:42:32.128000+0000",
        "start_ts=2026-01-01T00:00Z",
        "start_ts=2026-01-01T00:00%2B05:00",
        "start_ts=2026-01-01",
        "end_ts=9999-12-31T23:59:59.9999999Z",
        "start_ts=0001-01-01T00:00:00&end_ts=9999-12-31",
    ] {
        assert_eq!(
            ids(&list(&bank, &format!("country=PAK&{filter}")).await),
            [made[0].as_str()],
            "{filter}"
        );
    }
    for filter in [
        "end_ts=2026-01-01",
        "start_ts=9999-12-31T23:59:59.9999999Z",
        "status[]=failed",
        "status[0]=failed",
    ] {
        assert_eq!(list(&bank, &format!("country=PAK&{filter}")).await, [], "{filter}");
    }
}

async fn the_status_filter_takes_all_nine_states_repeated_or_in_one(on: On) {
    let bank = Bank::new(on).await;
    let pay = |ending: &'static str| {
        bank.paid(Country::Pak, move |order| order.ending(Country::Pak, ending))
    };
    let (good, failed, stuck) = tokio::join!(pay("6702"), pay("0001"), pay("0005"));
    bank.reaches(Country::Pak, &good, "succeeded").await;
    bank.reaches(Country::Pak, &failed, "failed").await;
    bank.reaches(Country::Pak, &stuck, "processing").await;
    let with = |status: &str| {
        let query = format!("country=PAK&{status}");
        let bank = &bank;
        async move {
            let mut found: Vec<String> =
                list(bank, &query).await.iter().map(|it| it["id"].text().to_owned()).collect();
            found.sort();
            found
        }
    };
    let sorted = |ids: &[&String]| {
        let mut ids: Vec<String> = ids.iter().map(|id| (*id).clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(with("status=succeeded").await, sorted(&[&good]));
    assert_eq!(with("status=succeeded&status=failed").await, sorted(&[&good, &failed]));
    assert_eq!(with("status=succeeded,failed").await, sorted(&[&good, &failed]));
    assert_eq!(
        with("status=succeeded,failed&status=processing").await,
        sorted(&[&good, &failed, &stuck])
    );
    assert_eq!(with("status=queued,rejected,reversed,unknown").await, sorted(&[]));
    assert_eq!(
        with("status=pending&status=canceled").await,
        sorted(&[]),
        "deprecated, accepted, never written"
    );
    let nine = "queued,rejected,pending,processing,succeeded,failed,canceled,unknown,reversed";
    assert_eq!(with(&format!("status={nine}")).await, sorted(&[&good, &failed, &stuck]));
    assert_eq!(with("status=failed&limit=1&offset=1").await, sorted(&[]));
}

async fn searches_find_exactly_one_thing(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", "find me")).await;
    bank.paid(Country::Pak, |order| order.text("external_id", "find me not")).await;
    let record = bank.reaches(Country::Pak, &id, "succeeded").await;
    let reference = record["response"]["bank_reference"].text();
    let rail_reference = id.replace('-', "");
    for (kind, term, found) in [
        ("id", id.as_str(), true),
        ("id", &id.to_uppercase(), true),
        ("id", "find%20me", false),
        ("id", &id[..35], false),
        ("external_id", "find%20me", true),
        ("external_id", "%20find+me%20", true),
        ("external_id", "find", false),
        ("external_id", "FIND%20ME", false),
        ("external_id", "find%25", false),
        ("external_id", &id, false),
        ("linked_txn", reference, true),
        ("linked_txn", id.as_str(), true),
        ("linked_txn", &rail_reference, true),
        ("linked_txn", &reference[1..], false),
        ("linked_txn", "%27%20OR%20%271%27=%271", false),
    ] {
        let listed =
            list(&bank, &format!("country=PAK&search_type={kind}&search_term={term}")).await;
        let expected: &[&str] = if found { &[&id] } else { &[] };
        assert_eq!(ids(&listed), expected, "{kind} {term}");
    }
}

/// `decisions.md`: "`linked_txn` matches bank reference, rail reference and wallet transaction
/// ids". The wallet is the prefund account that `wallet_amount` is debited from; its transactions
/// are the transfers in statements.
async fn the_wallets_transactions_find_their_payment(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let payment = PaymentId::parse(&id).expect("an id");
    let transfers =
        bank.running.store().transfers(bank.tenant.id, None, 1_000).await.expect("read");
    let of_payment = transfers.iter().filter(|transfer| transfer.subject == Some(payment.0));
    let ids_of_transfers: Vec<String> =
        of_payment.map(|transfer| transfer.id.0.to_string()).collect();
    assert!(ids_of_transfers.len() >= 2, "reserved and taken: {transfers:?}");
    for transfer in ids_of_transfers {
        let query = format!("country=PAK&search_type=linked_txn&search_term={transfer}");
        assert_eq!(ids(&list(&bank, &query).await), [&id], "{transfer}");
        assert_eq!(
            list(&other, &query).await,
            Vec::<Json>::new(),
            "another tenant's finds nothing"
        );
    }
    // A top-up is also a transaction of the wallet, but of no payment.
    let top_up =
        transfers.iter().find(|transfer| transfer.subject.is_none()).expect("it was funded");
    let query = format!("country=PAK&search_type=linked_txn&search_term={}", top_up.id.0);
    assert_eq!(list(&bank, &query).await, Vec::<Json>::new());
}

async fn searches_and_filters_narrow_each_other(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.text("external_id", "x")).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let search = "search_type=external_id&search_term=x";
    for (query, found) in [
        ("country=PAK", 1),
        ("country=IND", 0),
        ("country=PAK&status=succeeded", 1),
        ("country=PAK&status=failed", 0),
        ("country=PAK&start_ts=2999-01-01T00:00:00Z", 0),
        ("country=PAK&end_ts=2000-01-01T00:00:00Z", 0),
        ("country=PAK&limit=0", 0),
        ("country=PAK&offset=1", 0),
    ] {
        assert_eq!(list(&bank, &format!("{query}&{search}")).await.len(), found, "{query}");
    }
}

async fn a_list_is_of_one_country(on: On) {
    let bank = Bank::new(on).await;
    let to_india = bank.paid(Country::Ind, |order| order).await;
    bank.paid(Country::Pak, |order| order).await;
    assert_eq!(ids(&list(&bank, "country=IND").await), [&to_india]);
}

async fn a_list_without_payments_is_empty(on: On) {
    let bank = Bank::new(on).await;
    let answer = bank.get("/v2/payments?country=NPL").send().await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"[]"[..]));
}

async fn the_default_limit_is_twenty(on: On) {
    let bank = Bank::new(on).await;
    join_all((0..22).map(|_| bank.paid(Country::Pak, |order| order))).await;
    assert_eq!(list(&bank, "country=PAK").await.len(), 20);
    assert_eq!(list(&bank, "country=PAK&offset=20").await.len(), 2);
    assert_eq!(list(&bank, "country=PAK&limit=1000").await.len(), 22);
}

const WRONG: [(&str, &[&str]); 33] = [
    ("", &["query.country missing"]),
    ("country=", &["query.country missing"]),
    ("country=pak", &["query.country enum"]),
    ("country=PAK&country=IND", &["query.country multiple_values"]),
    ("country=PAK&limit=1001", &["query.limit less_than_equal"]),
    ("country=PAK&limit=-1", &["query.limit greater_than_equal"]),
    ("country=PAK&limit=ten", &["query.limit int_parsing"]),
    ("country=PAK&limit=1.5", &["query.limit int_parsing"]),
    ("country=PAK&limit=1e2", &["query.limit int_parsing"]),
    ("country=PAK&limit=0x10", &["query.limit int_parsing"]),
    ("country=PAK&limit=99999999999999999999", &["query.limit less_than_equal"]),
    ("country=PAK&limit=5&limit=6", &["query.limit multiple_values"]),
    ("country=PAK&offset=-1", &["query.offset greater_than_equal"]),
    ("country=PAK&offset=x", &["query.offset int_parsing"]),
    ("country=PAK&sorting_order=up", &["query.sorting_order enum"]),
    ("country=PAK&sorting_order=ASC", &["query.sorting_order enum"]),
    ("country=PAK&start_ts=yesterday", &["query.start_ts datetime_parsing"]),
    ("country=PAK&start_ts=2026-01-01T", &["query.start_ts datetime_parsing"]),
    ("country=PAK&startTs=2026-01-01", &["query.start_ts extra_forbidden"]),
    ("country=PAK&statuss=failed", &["query.status extra_forbidden"]),
    ("Country=PAK", &["query.country missing", "query.country extra_forbidden"]),
    ("country=PAK&end_ts=1767225600", &["query.end_ts datetime_parsing"]),
    ("country=PAK&end_ts=2026-02-30T00:00:00Z", &["query.end_ts datetime_parsing"]),
    ("country=PAK&end_ts=2026-02-03T24:00:00Z", &["query.end_ts datetime_parsing"]),
    ("country=PAK&status=paid", &["query.status enum"]),
    ("country=PAK&status=queued,QUEUED", &["query.status enum"]),
    (
        "country=PAK&status=queued,queued,queued,queued,queued,queued,queued,queued,queued,queued",
        &["query.status too_long"],
    ),
    ("country=PAK&search_type=id", &["query.search_term missing"]),
    ("country=PAK&search_type=id&search_term=", &["query.search_term missing"]),
    ("country=PAK&search_term=x", &["query.search_type missing"]),
    ("country=PAK&search_type=name&search_term=x", &["query.search_type enum"]),
    ("country=PAK&search_type=id&search_term=a%00", &["query.search_term control_character"]),
    (
        "limit=x&offset=-1&sorting_order=x&start_ts=1&end_ts=2&status=a&search_type=b",
        &[
            "query.country missing",
            "query.limit int_parsing",
            "query.offset greater_than_equal",
            "query.sorting_order enum",
            "query.start_ts datetime_parsing",
            "query.end_ts datetime_parsing",
            "query.status enum",
            "query.search_type enum",
            "query.search_term missing",
        ],
    ),
];

async fn query_parameters_are_held_to_their_rules(on: On) {
    let bank = Bank::new(on).await;
    let mut wrong = Vec::new();
    for (query, expected) in WRONG {
        let answer = bank.get(&format!("/v2/payments?{query}")).send().await;
        if answer.status != 422 || answer.fault_kinds() != expected {
            wrong.push(format!("{query}: {answer:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let most = bank.get("/v2/payments?country=PAK&limit=1001").send().await;
    assert_eq!(most.fault("query.limit", "less_than_equal").ctx.to_string(), r#"{"le":1000}"#);
}
