//! Sandbox tools: time, tokens, the simulated sender and the simulated bank. Unavailable in
//! production.

use std::sync::Arc;

use domain::chain::Address;
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::ids::{PaymentId, PaymentRequestId, WalletId};
use domain::time::Span;

use crate::outside::{BookEntry, SandboxTools};
use crate::view::{Field, FormView, Section, page};
use crate::{Answer, Cell, Stop, Table, Visit, typed_amount};

/// Maximum advance of the clock at once, in hours (400 days).
const ADVANCE_MAX_H: i64 = 400 * 24;
/// Maximum amount of tokens sent at once: 1,000,000.
const GIVEN_MAX_MINOR: i64 = 1_000_000_000_000;
/// The outcome that the cents of an amount select (`decisions.md`, "Sandbox values").
const CENTS: [[&str; 2]; 9] = [
    [".00", "approved"],
    [".01", "rejected"],
    [".02", "held for review"],
    [".03", "rejected, and the wallet is blocked"],
    [".04", "the release fails on chain"],
    [".05", "the sender pays half"],
    [".06", "the sender pays twice the amount"],
    [".07", "the sender pays after the request has expired"],
    [".08", "the block is reorganised first"],
];

fn tools(visit: &Visit) -> Result<Arc<dyn SandboxTools>, Stop> {
    visit.console().outside.sandbox().ok_or(Stop::NotFound)
}

pub(super) async fn show(visit: Visit) -> Answer {
    let tools = tools(&visit)?;
    let to = |deed: &str| visit.href(&format!("/sandbox/{deed}"));
    let hours = tools.ahead().0 / 3_600_000_000;
    let facts = vec![
        ("Business time", Cell::When(visit.console().now())),
        ("Ahead of wall clock", Cell::number(format!("{hours} h"))),
    ];
    let clock = FormView::new("clock", "Advance the clock", to("clock"), "Advance")
        .says("Quotes and requests expire, deadlines pass. The clock cannot be moved back.")
        .field(Field::whole("hours", "Hours ahead").holding(24));
    let coin =
        || Field::choice("coin", "Token", &[("USDC", "USDC"), ("USDT", "USDT")]).holding("USDC");
    let faucet = FormView::new("faucet", "Faucet", to("faucet"), "Send tokens")
        .says("Sends worthless test tokens to any address of the chain.")
        .field(Field::line("address", "Address"))
        .field(coin())
        .field(Field::line("amount", "Amount").holding("10.00"));
    let sender = FormView::new("sender", "The simulated sender", to("pay"), "Pay the request")
        .says("Pays a request now: with the outcome that the cents of its amount select, or a different amount.")
        .field(Field::line("request", "Payment request"))
        .field(coin())
        .field(Field::line("amount", "Different amount").optional());
    let bank = FormView::new("bank", "The simulated bank", to("steer"), "Set the outcome")
        .says("Sets the outcome of a payment's latest order at the bank.")
        .field(Field::line("payment", "Payment"))
        .field(Field::choice("ending", "Outcome", tools.endings()));
    let rows =
        CENTS.iter().map(|[cents, what]| vec![Cell::text(*cents), Cell::text(*what)]).collect();
    let cents =
        Table::new("Outcomes by the cents of a requested amount", &["Cents", "Outcome"], rows);
    let clock_is_his = moves_everybodys_clock(&visit);
    let scenarios =
        tools.scenarios().into_iter().filter(|(name, _)| clock_is_his || !tools.moves_clock(name));
    let scenarios: Vec<(&str, String)> =
        scenarios.map(|(name, what)| (name, format!("{name}: {what}"))).collect();
    let scenarios: Vec<(&str, &str)> =
        scenarios.iter().map(|(name, words)| (*name, words.as_str())).collect();
    let trigger = FormView::new("trigger", "Run a scenario", to("trigger"), "Run")
        .says("Runs as the bank's own system would, with its keys and fictitious customers. Some scenarios advance the clock.")
        .field(Field::choice("scenario", "Scenario", &scenarios))
        .field(Field::line("wallet", "Wallet with USDC, for exchanges").optional());
    let sections = vec![
        Section { title: "Scenarios".to_owned(), forms: vec![trigger], ..Section::default() },
        Section {
            title: "Time".to_owned(),
            facts,
            forms: clock_is_his.then_some(clock).into_iter().collect(),
            ..Section::default()
        },
        Section {
            title: "Coins".to_owned(),
            forms: vec![faucet, sender],
            table: Some(cents),
            ..Section::default()
        },
        book(&visit, tools.as_ref(), bank).await?,
    ];
    page(&visit, "Sandbox tools", sections)
}

/// All tenants share one clock, so users of a single tenant may not move it.
fn moves_everybodys_clock(visit: &Visit) -> bool {
    visit.may_use("POST", "/console/t/{tenant}/sandbox/clock")
}

/// A payment of the tenant.
async fn payment(visit: &Visit, text: &str) -> Result<PaymentId, Stop> {
    let unknown = || Stop::wrong("payment", "Payment not found.");
    let id = PaymentId::parse(text).ok_or_else(unknown)?;
    let record = visit.console().store().payment_record(visit.tenant_id()?, id).await?;
    record.map(|record| record.payment.id).ok_or_else(unknown)
}

async fn book(visit: &Visit, tools: &dyn SandboxTools, form: FormView) -> Result<Section, Stop> {
    let filters = FormView {
        button: "Look up",
        ..FormView::lookup(vec![Field::line("payment", "Payment").as_asked(visit.query())])
    };
    let lines = match visit.query().given("payment") {
        None => Vec::new(),
        Some(text) => tools.book(payment(visit, text).await?).map_err(Stop::Refused)?,
    };
    let row = |line: &BookEntry| {
        vec![
            Cell::text(if line.paid { "paid" } else { "returned" }),
            Cell::text(line.rail.as_str()),
            Cell::number(&line.amount),
            Cell::text(line.beneficiary.as_str()),
            Cell::id(&line.reference),
            Cell::When(line.at),
        ]
    };
    let head = ["Status", "Rail", "Amount", "Beneficiary", "Reference", "Time"];
    let empty = match visit.query().given("payment") {
        None => "Enter a payment id to see the bank's ledger entries for it.",
        Some(_) => "The bank has no ledger entries for this payment.",
    };
    let table = Table::new("The bank's ledger", &head, lines.iter().map(row).collect()).or(empty);
    let title = "Bank".to_owned();
    Ok(Section {
        title,
        filters: Some(filters),
        table: Some(table),
        forms: vec![form],
        ..Section::default()
    })
}

fn coin(visit: &Visit) -> Result<StableCoin, Stop> {
    StableCoin::parse(visit.form().text("coin"))
        .ok_or_else(|| Stop::wrong("coin", "Please choose a token."))
}

fn amount(text: &str) -> Result<i64, Stop> {
    let minor = typed_amount(text).and_then(|text| coin_amount::parse(&text));
    let minor = minor.filter(|minor| *minor <= GIVEN_MAX_MINOR);
    minor.ok_or_else(|| {
        let words = "The amount must be above 0 and at most 1000000, for example 10.00.";
        Stop::wrong("amount", words)
    })
}

pub(super) async fn clock(visit: Visit) -> Answer {
    let hours = visit
        .form()
        .text("hours")
        .parse::<i64>()
        .ok()
        .filter(|hours| (1..=ADVANCE_MAX_H).contains(hours));
    let hours = hours.ok_or_else(|| {
        Stop::wrong("hours", format!("The hours must be a number from 1 to {ADVANCE_MAX_H}."))
    })?;
    tools(&visit)?.advance(Span::hours(hours)).await.map_err(Stop::Refused)?;
    visit.note("sandbox.clock", "clock", &format!("{hours} h ahead")).await?;
    Ok(visit.done(&visit.href("/sandbox"), "The clock was advanced."))
}

pub(super) async fn faucet(visit: Visit) -> Answer {
    let wrong = || Stop::wrong("address", "The address or its checksum is invalid.");
    let to = Address::parse_checked(visit.form().text("address")).ok_or_else(wrong)?;
    let (coin, minor) = (coin(&visit)?, amount(visit.form().text("amount"))?);
    let tx = tools(&visit)?.give(coin, to, minor).await.map_err(Stop::Refused)?;
    let given = format!("{} {}", coin_amount::show(minor), coin.currency().code());
    visit.note("sandbox.faucet", &to.to_string(), &given).await?;
    Ok(visit.done(&visit.href("/sandbox"), &format!("Sent in transaction {tx}.")))
}

pub(super) async fn pay(visit: Visit) -> Answer {
    let unknown = || Stop::wrong("request", "Payment request not found.");
    let request = PaymentRequestId::parse(visit.form().text("request")).ok_or_else(unknown)?;
    visit.console().wallets.find_request(&visit.caller()?, request).await.map_err(|denied| {
        match denied {
            engine::wallets::Denied::NotFound(_) => unknown(),
            denied => denied.into(),
        }
    })?;
    let other = visit.form().given("amount").map(amount).transpose()?;
    let other = match other {
        Some(minor) => Some((coin(&visit)?, minor)),
        None => None,
    };
    let paid =
        tools(&visit)?.pay(visit.tenant_id()?, request, other).await.map_err(Stop::Refused)?;
    visit.note("sandbox.pay", &request.to_string(), "").await?;
    let words = format!("Paid in {} transactions.", paid.len());
    Ok(visit.done(&visit.href(&format!("/requests/{request}")), &words))
}

pub(super) async fn steer(visit: Visit) -> Answer {
    let payment = payment(&visit, visit.form().text("payment")).await?;
    let ending = visit.form().text("ending").to_owned();
    let tools = tools(&visit)?;
    if !tools.endings().iter().any(|(name, _)| *name == ending) {
        return Err(Stop::wrong("ending", "Please choose an outcome."));
    }
    let said = tools.steer(payment, &ending).map_err(Stop::Refused)?;
    visit.note("sandbox.steer", &payment.to_string(), &ending).await?;
    let path = format!("{}?payment={payment}", visit.href("/sandbox"));
    Ok(visit.done(&path, &format!("Status at the bank: {said}.")))
}

pub(super) async fn trigger(visit: Visit) -> Answer {
    let (tools, scenario) = (tools(&visit)?, visit.form().text("scenario").to_owned());
    if !tools.scenarios().iter().any(|(name, _)| *name == scenario) {
        return Err(Stop::wrong("scenario", "Please choose a scenario."));
    }
    if tools.moves_clock(&scenario) && !moves_everybodys_clock(&visit) {
        return Err(Stop::Forbidden);
    }
    let unknown = || Stop::wrong("wallet", "Wallet not found.");
    let wallet = match visit.form().given("wallet") {
        None => None,
        Some(text) => {
            let id = WalletId::parse(text).ok_or_else(unknown)?;
            visit.console().store().wallet(visit.tenant_id()?, id).await?.ok_or_else(unknown)?;
            Some(id)
        }
    };
    let made = tools.trigger(visit.tenant_id()?, &scenario, wallet).await.map_err(Stop::Refused)?;
    visit.note("sandbox.trigger", &scenario, "").await?;
    let row = |(what, id): &(String, String)| vec![Cell::text(what.as_str()), Cell::id(id)];
    let table = Table::new("Created objects", &["Kind", "Id"], made.iter().map(row).collect())
        .or("Nothing was created.");
    let links = vec![(visit.href("/sandbox"), "Back to the sandbox tools".to_owned())];
    page(
        &visit,
        "Scenario completed",
        vec![Section { links, table: Some(table), ..Section::default() }],
    )
}
