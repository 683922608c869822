//! `corridor export`: the files are read back and compared with the API and with the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use domain::decimal::Decimal;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use testkit::wait;

use super::load::Load;
use super::rig::{Rig, TENANT};

type Row = BTreeMap<String, Field>;

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).expect("the file")).expect("Parquet");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").into_columns().into_iter().collect()).collect()
}

fn text(row: &Row, column: &str) -> String {
    match &row[column] {
        Field::Str(text) => text.clone(),
        Field::Null => String::new(),
        other => panic!("{column}: {other:?}"),
    }
}

fn decimal(row: &Row, column: &str) -> Decimal {
    assert!(matches!(row[column], Field::Decimal(_)), "{column}: {:?}", row[column]);
    Decimal::parse_exact(&row[column].to_string()).expect("a decimal")
}

fn micros(row: &Row, column: &str) -> i64 {
    match row[column] {
        Field::TimestampMicros(at) => at,
        ref other => panic!("{column}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_have_the_apis_payments_and_events_and_the_ledgers_sums() {
    let rig = Rig::start(0x5051, None).await;
    let mut node = rig.node("node");
    let load = Load::start(rig.api.clone(), vec![node.address.clone()], 3, 9);
    let enough = || std::future::ready(load.accepted() > 40);
    assert!(wait::until_async(wait::AT_MOST, enough).await, "{}", node.process.log_tail());
    load.stop().await;
    rig.heal_bank();
    node.process.stop();
    let mut api = rig.installation.serve_as("api", "api", &[]);
    let address = api.1.take().expect("serves");
    let export = |what: &str, more: &[&str]| {
        let path = rig.installation.path().join(format!("{what}.parquet"));
        let file = path.display().to_string();
        let done = rig.installation.json(&[&["export", what, "--file", &file], more].concat());
        let rows = rows(&path);
        assert_eq!(done[0]["rows"], rows.len());
        rows
    };

    let payments = export("payments", &[]);
    let mut listed = rig.api.payments(&address, "IND").await;
    listed.extend(rig.api.payments(&address, "PAK").await);
    assert!(payments.len() > 20 && payments.len() == listed.len(), "{}", payments.len());
    for (row, record) in payments.iter().zip(&listed) {
        let said = record.response.as_ref().expect("a response");
        assert_eq!(
            (text(row, "id"), text(row, "status"), text(row, "tenant")),
            (record.id.clone(), said.status.clone(), TENANT.to_owned())
        );
        assert_eq!(text(row, "external_id"), record.order.text("external_id"));
        assert_eq!(text(row, "bank_reference"), said.bank_reference.clone().unwrap_or_default());
        let exact = |text: String| Decimal::parse_exact(&text).expect("a decimal");
        assert_eq!(decimal(row, "amount"), exact(record.quote.amount_destination.to_string()));
        assert_eq!(decimal(row, "base_amount"), exact(record.quote.amount.to_string()));
        assert_eq!(decimal(row, "rate"), exact(record.quote.rate.to_string()));
        let wallet = said.wallet_amount.as_ref().expect("an amount").to_string();
        assert_eq!(decimal(row, "wallet_amount"), exact(wallet));
        let accepted: jiff::Timestamp = record.order.text("timestamp").parse().expect("an instant");
        assert_eq!(micros(row, "accepted_at") / 1_000, accepted.as_millisecond());
        assert_eq!(
            text(row, "currency"),
            if text(row, "country") == "IND" { "INR" } else { "PKR" }
        );
    }

    let transfers = export("transfers", &[]);
    let mut sums: BTreeMap<String, Decimal> = BTreeMap::new();
    for row in &transfers {
        if !["posted", "post_pending"].contains(&text(row, "kind").as_str()) {
            continue;
        }
        let amount = decimal(row, "amount");
        for (account, amount) in
            [("credit", Some(amount)), ("debit", Decimal::ZERO.checked_sub(amount))]
        {
            let sum = sums.entry(text(row, account)).or_insert(Decimal::ZERO);
            *sum = sum.checked_add(amount.expect("in range")).expect("in range");
        }
    }
    let balances = rig.installation.json(&["ledger", "trial-balance"]);
    let balance = |it: &Value| {
        let text = |name: &str| it[name].as_str().expect(name).to_owned();
        (text("account"), Decimal::parse_exact(&text("balance")).expect("a decimal"))
    };
    let balances: BTreeMap<String, Decimal> = balances.iter().map(balance).collect();
    for (account, sum) in &sums {
        assert_eq!(balances[account], *sum, "{account}");
    }
    assert!(sums.len() > 4 && sums["prefund:USDT"].is_positive(), "{sums:?}");

    let events = export("events", &["--payload"]);
    let logged = rig.api.all_events(&address).await;
    let bodies: Vec<Value> = events
        .iter()
        .map(|row| serde_json::from_str(&text(row, "payload")).expect("JSON"))
        .collect();
    assert!(bodies == logged, "the API's events, in its order");
    for (row, event) in events.iter().zip(&logged) {
        assert_eq!(
            (text(row, "id"), text(row, "type")),
            (
                event["id"].as_str().expect("an id").to_owned(),
                event["type"].as_str().expect("a type").to_owned()
            )
        );
        assert_eq!(row["seq"], Field::Long(event["seq"].as_i64().expect("a number")));
    }

    // A period in the middle: each table by its own time, its end excluded.
    let at = |row: &Row, column: &str| micros(row, column);
    // Transfers of one batch have one time.
    let times: BTreeSet<i64> = transfers.iter().map(|it| at(it, "booked_at")).collect();
    let times: Vec<i64> = times.into_iter().collect();
    let (from, until) = (times[times.len() / 3], times[times.len() * 2 / 3]);
    assert!(from < until, "{times:?}");
    let instant = |at: i64| jiff::Timestamp::from_microsecond(at).expect("an instant").to_string();
    let period = [instant(from), instant(until)];
    let period = ["--from", period[0].as_str(), "--until", period[1].as_str()];
    for (what, all, column) in [
        ("payments", &payments, "accepted_at"),
        ("transfers", &transfers, "booked_at"),
        ("events", &events, "occurred_at"),
    ] {
        let within = |row: &&Row| (from..until).contains(&at(row, column));
        let ids = |rows: &mut dyn Iterator<Item = &Row>| {
            rows.map(|row| text(row, "id")).collect::<Vec<_>>()
        };
        let expected = ids(&mut all.iter().filter(within));
        assert_eq!(ids(&mut export(what, &period).iter()), expected, "{what}");
        assert!(what != "transfers" || !expected.is_empty());
    }
    let without = export("events", &[]);
    assert!(
        without.iter().all(|row| !row.contains_key("payload")),
        "personal data only if asked for"
    );
    let wrong = rig.installation.run(&["export", "payments", "--file", "/no/such/dir/f.parquet"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    let path = rig.installation.path().join("none.parquet").display().to_string();
    let backwards =
        ["export", "events", "--file", &path, "--from", "2026-11-02", "--until", "2026-11-01"];
    let refused = rig.installation.run(&backwards);
    assert!(refused.code == 2 && refused.stderr.contains("--until"), "{}", refused.stderr);
    assert!(!Path::new(&path).exists());
    api.0.stop();
}
