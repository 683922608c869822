//! Collects the evidence of a run: from the public APIs, the bank's book, and the command line's checks of
//! the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use client::PaymentRecord;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::PaymentId;
use domain::money::Money;
use serde_json::Value;
use testkit::receiver::SimulatedReceiver;

use crate::api::{Api, sequence};
use crate::book;
use crate::checker::{Event, Evidence, Payment, Prefund};
use crate::harness::Installation;
use crate::history::History;
use crate::load::{COUNTRIES, KEPT};
use crate::rig::TENANT;

/// Where evidence is found.
pub struct Scene<'a> {
    pub installation: &'a Installation,
    pub api: &'a Api,
    /// Address of a running node.
    pub address: &'a str,
    /// File with the bank's payments, one JSON value per line.
    pub book: PathBuf,
    /// The prefund's initial balance, in minor units; `None` if others move it as well.
    pub topped_up: Option<i64>,
    pub receiver: Option<&'a SimulatedReceiver>,
    pub history: &'a History,
}

impl Scene<'_> {
    /// Everything about payments, as it is now.
    pub async fn evidence(&self) -> Evidence {
        let records = self.records().await;
        // After the records: an event may be newer than its record, never missing.
        let events = self.api.all_events(self.address).await.iter().map(event).collect();
        let mut evidence = Evidence {
            history: self.history.entries(),
            payments: records.iter().map(payment).collect(),
            events,
            bookings: book::read(&self.book),
            received: self.receiver.map(received),
            ..Evidence::default()
        };
        self.ledger(&mut evidence);
        evidence
    }

    pub async fn records(&self) -> Vec<PaymentRecord> {
        let mut records = Vec::new();
        for country in COUNTRIES {
            records.extend(self.api.payments(self.address, country.alpha3()).await);
        }
        records
    }

    fn ledger(&self, evidence: &mut Evidence) {
        let verify = self.installation.run(&["ledger", "verify"]);
        if verify.code != 0 {
            evidence.self_checks.push(format!("ledger verify: {}{}", verify.stdout, verify.stderr));
        }
        let rows = self.installation.json(&["ledger", "trial-balance", "--tenant", TENANT]);
        let minor = |row: &Value, name: &str| row[name].as_i64().expect("minor units");
        for row in &rows {
            let account = row["account"].as_str().expect("an account");
            let balance = minor(row, "credits_posted_minor") - minor(row, "debits_posted_minor");
            if let Some(rest) = account.strip_prefix("nostro:") {
                let rail = rest.split(':').next().unwrap_or_default();
                *evidence.nostros.entry(rail.to_owned()).or_default() += balance;
            }
            if account == "prefund:USDT"
                && let Some(topped_up) = self.topped_up
            {
                let reserved = minor(row, "debits_pending_minor");
                evidence.prefund = Some(Prefund { topped_up, balance, reserved });
            }
        }
    }
}

fn payment(record: &PaymentRecord) -> Payment {
    let response = record.response.as_ref();
    let minor = |amount: Option<&client::Exact>, currency: Option<&String>| {
        let amount = Decimal::parse(&amount?.to_string()).ok()?;
        Money::exact(amount, Currency::parse(currency?)?).map(|money| money.minor)
    };
    let paid = response.and_then(|it| minor(it.amount.as_ref(), it.amount_currency.as_ref()));
    let coins = |part: Option<&client::Exact>| {
        minor(part, response.and_then(|it| it.wallet_currency.as_ref()))
    };
    let fee = response.and_then(|it| {
        Some(coins(it.wallet_premium.as_ref())? + coins(it.wallet_txn_cost.as_ref())?)
    });
    let debit = response.and_then(|it| Some(coins(it.wallet_amount.as_ref())? + fee?));
    Payment {
        id: record.id.clone(),
        end_to_end_id: end_to_end_id(&record.id),
        external_id: record.order.text("external_id"),
        quote: record.quote.id.clone(),
        status: response.map_or_else(String::new, |response| response.status.clone()),
        account: record.order.text("beneficiary_account_number"),
        minor: paid.unwrap_or(-1),
        debit_minor: debit.unwrap_or(-1),
        fee_minor: fee.unwrap_or(-1),
        members: KEPT
            .iter()
            .map(|name| ((*name).to_owned(), record.order.text(name)))
            .collect::<BTreeMap<_, _>>(),
    }
}

pub fn end_to_end_id(id: &str) -> String {
    PaymentId::parse(id).expect("an id").end_to_end_id()
}

/// An entry of either log.
pub fn event(event: &Value) -> Event {
    let data = &event["data"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = event.get("type").or_else(|| event.get("event_type")).unwrap_or(&Value::Null);
    let subject = ["payment_request_id", "order_id", "wallet_id", "id"]
        .iter()
        .find_map(|name| data.get(*name).and_then(Value::as_str).map(str::to_owned));
    Event {
        seq: sequence(event),
        kind: text(kind),
        subject: subject.unwrap_or_default(),
        status: text(&data["response"]["status"]),
    }
}

fn received(receiver: &SimulatedReceiver) -> BTreeSet<(String, String)> {
    let book = receiver.book();
    let taken = book.entries().iter().filter(|entry| entry.taken);
    taken.filter_map(|entry| Some((entry.subject.clone()?, entry.event_type.clone()))).collect()
}
