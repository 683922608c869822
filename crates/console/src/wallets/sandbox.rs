//! Tools of a sandbox: time, coins, the simulated sender and the simulated bank. Not there in production.

use std::sync::Arc;

use domain::chain::Address;
use domain::coin_amount;
use domain::currency::StableCoin;
use domain::ids::{PaymentId, PaymentRequestId, WalletId};
use domain::time::Span;

use super::view::{Field, FormView, Section, page};
use crate::outside::{BookEntry, SandboxTools};
use crate::{Answer, Cell, Stop, Table, Visit};

/// Furthest that the clock is moved at once, in hours (400 days).
const ADVANCE_MAX_H: i64 = 400 * 24;
/// Most coins that are given away at once: 1,000,000.
const GIVEN_MAX_MINOR: i64 = 1_000_000_000_000;
/// What a sender does with the cents of an amount (`decisions.md`, "Sandbox values").
const CENTS: [[&str; 2]; 9] = [
    [".00", "approved"],
    [".01", "rejected"],
    [".02", "a person decides"],
    [".03", "rejected, and the wallet is blocked"],
    [".04", "the release fails on the chain"],
    [".05", "the sender pays half"],
    [".06", "the sender pays double"],
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
        ("Ahead of the wall", Cell::number(format!("{hours} h"))),
    ];
    let clock = FormView::new("clock", "Move the clock", to("clock"), "Move it ahead")
        .says("Quotes and requests expire, deadlines pass. It never goes back.")
        .field(Field::whole("hours", "Hours ahead").holding(24));
    let coin = || Field::choice("coin", "Coin", &[("USDC", "USDC"), ("USDT", "USDT")]).holding("USDC");
    let faucet = FormView::new("faucet", "Faucet", to("faucet"), "Give coins")
        .says("Coins that are worth nothing, to any address of the chain.")
        .field(Field::line("address", "Address"))
        .field(coin())
        .field(Field::line("amount", "Amount").holding("10.00"));
    let sender = FormView::new("sender", "The simulated sender", to("pay"), "Pay the request")
        .says("Pays a request now: as the cents of its amount tell him, or another amount.")
        .field(Field::line("request", "Payment request"))
        .field(coin())
        .field(Field::line("amount", "Another amount").optional());
    let bank = FormView::new("bank", "The simulated bank", to("steer"), "End the order so")
        .says("Ends a payment's newest order at the bank.")
        .field(Field::line("payment", "Payment"))
        .field(Field::choice("ending", "How it ends", tools.endings()));
    let rows = CENTS.iter().map(|[cents, what]| vec![Cell::text(*cents), Cell::text(*what)]).collect();
    let cents = Table::new("What the cents of a requested amount do", &["Cents", "What happens"], rows);
    let clock_is_his = moves_everybodys_clock(&visit);
    let scenarios = tools.scenarios().into_iter().filter(|(name, _)| clock_is_his || !tools.moves_clock(name));
    let scenarios: Vec<(&str, String)> = scenarios.map(|(name, what)| (name, format!("{name}: {what}"))).collect();
    let scenarios: Vec<(&str, &str)> = scenarios.iter().map(|(name, words)| (*name, words.as_str())).collect();
    let trigger = FormView::new("trigger", "Make something happen", to("trigger"), "Make it happen")
        .says("As the bank's own system would, with its keys and made-up customers. Some scenarios move the clock.")
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
        Section { title: "Coins".to_owned(), forms: vec![faucet, sender], table: Some(cents), ..Section::default() },
        book(&visit, tools.as_ref(), bank).await?,
    ];
    page(&visit, "Sandbox tools", sections)
}

/// There is one clock for all tenants: who looks after one of them does not move it.
fn moves_everybodys_clock(visit: &Visit) -> bool {
    visit.may_use("POST", "/console/t/{tenant}/sandbox/clock")
}

/// A payment of the tenant.
async fn payment(visit: &Visit, text: &str) -> Result<PaymentId, Stop> {
    let unknown = || Stop::Invalid("There is no such payment.".to_owned());
    let id = PaymentId::parse(text).ok_or_else(unknown)?;
    let record = visit.console().store().payment_record(visit.tenant_id()?, id).await?;
    record.map(|record| record.payment.id).ok_or_else(unknown)
}

async fn book(visit: &Visit, tools: &dyn SandboxTools, form: FormView) -> Result<Section, Stop> {
    let filters = FormView {
        button: "Look it up",
        ..FormView::filters(vec![Field::line("payment", "Payment").as_asked(visit.query())])
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
    let head = ["What", "Rail", "Amount", "Beneficiary", "Reference", "At"];
    let empty = match visit.query().given("payment") {
        None => "Name a payment to see what the bank's own book says that it paid.",
        Some(_) => "The bank's book has nothing of this payment.",
    };
    let table = Table::new("The bank's book", &head, lines.iter().map(row).collect()).or(empty);
    let title = "Bank".to_owned();
    Ok(Section { title, filters: Some(filters), table: Some(table), forms: vec![form], ..Section::default() })
}

fn coin(visit: &Visit) -> Result<StableCoin, Stop> {
    StableCoin::parse(visit.form().text("coin")).ok_or_else(|| Stop::Invalid("Please choose a coin.".to_owned()))
}

fn amount(text: &str) -> Result<i64, Stop> {
    let minor = coin_amount::parse(text).filter(|minor| *minor <= GIVEN_MAX_MINOR);
    minor.ok_or_else(|| Stop::Invalid("The amount must be above 0 and at most 1000000, like 10.00.".to_owned()))
}

pub(super) async fn clock(visit: Visit) -> Answer {
    let hours = visit.form().text("hours").parse::<i64>().ok().filter(|hours| (1..=ADVANCE_MAX_H).contains(hours));
    let hours = hours.ok_or_else(|| Stop::Invalid(format!("The hours must be a number from 1 to {ADVANCE_MAX_H}.")))?;
    tools(&visit)?.advance(Span::hours(hours)).await.map_err(Stop::Refused)?;
    visit.note("sandbox.clock", "clock", &format!("{hours} h ahead")).await?;
    Ok(visit.done(&visit.href("/sandbox"), "The clock is moved."))
}

pub(super) async fn faucet(visit: Visit) -> Answer {
    let wrong = || Stop::Invalid("The address is none, or its checksum is wrong.".to_owned());
    let to = Address::parse_checked(visit.form().text("address")).ok_or_else(wrong)?;
    let (coin, minor) = (coin(&visit)?, amount(visit.form().text("amount"))?);
    let tx = tools(&visit)?.give(coin, to, minor).await.map_err(Stop::Refused)?;
    let given = format!("{} {}", coin_amount::show(minor), coin.currency().code());
    visit.note("sandbox.faucet", &to.to_string(), &given).await?;
    Ok(visit.done(&visit.href("/sandbox"), &format!("Given in transaction {tx}.")))
}

pub(super) async fn pay(visit: Visit) -> Answer {
    let unknown = || Stop::Invalid("There is no such payment request.".to_owned());
    let request = PaymentRequestId::parse(visit.form().text("request")).ok_or_else(unknown)?;
    visit.console().wallets.find_request(&visit.caller()?, request).await.map_err(|denied| match denied {
        engine::wallets::Denied::NotFound(_) => unknown(),
        denied => denied.into(),
    })?;
    let other = visit.form().given("amount").map(amount).transpose()?;
    let other = match other {
        Some(minor) => Some((coin(&visit)?, minor)),
        None => None,
    };
    let paid = tools(&visit)?.pay(visit.tenant_id()?, request, other).await.map_err(Stop::Refused)?;
    visit.note("sandbox.pay", &request.to_string(), "").await?;
    let words = format!("Paid in {} transactions.", paid.len());
    Ok(visit.done(&visit.href(&format!("/requests/{request}")), &words))
}

pub(super) async fn steer(visit: Visit) -> Answer {
    let payment = payment(&visit, visit.form().text("payment")).await?;
    let ending = visit.form().text("ending").to_owned();
    let tools = tools(&visit)?;
    if !tools.endings().iter().any(|(name, _)| *name == ending) {
        return Err(Stop::Invalid("Please choose how it ends.".to_owned()));
    }
    let said = tools.steer(payment, &ending).map_err(Stop::Refused)?;
    visit.note("sandbox.steer", &payment.to_string(), &ending).await?;
    let path = format!("{}?payment={payment}", visit.href("/sandbox"));
    Ok(visit.done(&path, &format!("At the bank it is now: {said}.")))
}

pub(super) async fn trigger(visit: Visit) -> Answer {
    let (tools, scenario) = (tools(&visit)?, visit.form().text("scenario").to_owned());
    if !tools.scenarios().iter().any(|(name, _)| *name == scenario) {
        return Err(Stop::Invalid("Please choose a scenario.".to_owned()));
    }
    if tools.moves_clock(&scenario) && !moves_everybodys_clock(&visit) {
        return Err(Stop::Forbidden);
    }
    let unknown = || Stop::Invalid("There is no such wallet.".to_owned());
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
    let table = Table::new("What was made", &["What", "Id"], made.iter().map(row).collect()).or("Nothing was made.");
    let links = vec![(visit.href("/sandbox"), "Back to the sandbox's tools".to_owned())];
    page(&visit, "Scenario played", vec![Section { links, table: Some(table), ..Section::default() }])
}
