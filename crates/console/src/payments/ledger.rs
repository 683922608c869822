//! The ledger: the trial balance at an instant, an account with its transfers, a transfer.

use std::collections::BTreeMap;

use domain::currency::Currency;
use domain::ids::{PaymentId, TransferId};
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::Timestamp;
use engine::backoffice::{
    IdFrom, StoredTransfer, TRANSFERS_LOOKED_AT_MAX, TRANSFERS_TAKEN_BACK_MAX, TrialLine,
};

use super::timeline::transfer_row;
use crate::parts::grouped;
use crate::view::{Field, FormView, Section, page};
use crate::{Answer, Cell, Pager, Stop, Table, Tone, Visit, encoded};

const ROWS: usize = 50;

/// The instant in the query: a day with an optional time; the end of the day without one.
fn asked_at(visit: &Visit) -> Result<Option<Timestamp>, Stop> {
    let Some(day) = visit.query().given("on") else { return Ok(None) };
    let time = visit.query().given("at").unwrap_or("23:59:59.999999");
    let seconds = if time.len() == 5 { ":00" } else { "" };
    let read = format!("{day}T{time}{seconds}Z").parse::<jiff::Timestamp>();
    let wrong = "Enter a day such as 2026-11-22 and a time such as 18:30.";
    read.map(|at| Some(Timestamp(at.as_microsecond()))).map_err(|_| Stop::Invalid(wrong.to_owned()))
}

fn line(visit: &Visit, line: &TrialLine) -> Vec<Cell> {
    // The balance names the currency.
    let figure = |minor| {
        let money = grouped(&Money::new(minor, line.currency).to_string());
        Cell::number(money.split(' ').next().unwrap_or_default())
    };
    let account = match &line.account {
        Some(code) => {
            let code = code.to_string();
            Cell::id_link(visit.href(&format!("/ledger/account?code={}", encoded(&code))), code)
        }
        None => Cell::text(format!("{} (all vaults together)", line.name)),
    };
    vec![
        account,
        Cell::number(line.balance()),
        figure(line.debits_posted),
        figure(line.credits_posted),
        figure(line.debits_pending),
        figure(line.credits_pending),
    ]
}

/// The sum of all balances of a currency.
fn sums(lines: &[TrialLine]) -> Vec<(Currency, i64)> {
    let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
    for line in lines {
        let sum = sums.entry(line.currency).or_default();
        *sum = sum.saturating_add(line.balance().minor);
    }
    sums.into_iter().collect()
}

pub(super) async fn balance(visit: Visit) -> Answer {
    let at = asked_at(&visit)?;
    let now = visit.console().now();
    let (store, earlier) = (visit.console().store(), at.filter(|at| *at < now));
    let lines = store.trial_balance(visit.tenant_id()?, earlier, TRANSFERS_TAKEN_BACK_MAX).await?;
    let mut lines = lines.ok_or_else(|| {
        let words =
            format!("More than {TRANSFERS_TAKEN_BACK_MAX} transfers happened since then. Please choose a later time.");
        Stop::Refused(words)
    })?;
    lines.sort_by(|a, b| (a.currency, &a.name).cmp(&(b.currency, &b.name)));
    let sum = |(currency, minor): &(Currency, i64)| {
        let (word, tone) = if *minor == 0 {
            ("sums to zero", Tone::Good)
        } else {
            ("does not sum to zero", Tone::Bad)
        };
        vec![
            Cell::text(currency.code()),
            Cell::number(Money::new(*minor, *currency)),
            Cell::state(word, tone),
        ]
    };
    let sums: Vec<_> = sums(&lines).iter().map(sum).collect();
    let sums =
        Table::new("Sum of each currency", &["Currency", "Sum of all balances", "Check"], sums)
            .or("No transfers yet.");
    let rows = lines.iter().map(|it| line(&visit, it)).collect();
    let head = ["Account", "Balance", "Debits", "Credits", "Pending debits", "Pending credits"];
    let table = Table::new("Accounts", &head, rows).or("No transfers yet.");
    let fields = vec![
        Field::day("on", "As of day (UTC)").as_asked(visit.query()),
        Field::line("at", "Time, for example 18:30").as_asked(visit.query()),
    ];
    let said = Cell::When(at.filter(|at| *at < now).unwrap_or(now)).instant();
    let says = vec![format!(
        "Every account as of {said} UTC: credits minus debits. An account that holds money has a positive balance."
    )];
    let filters = FormView { button: "Show", ..FormView::filters(fields) };
    let sections = vec![
        Section { says, filters: Some(filters), table: Some(sums), ..Section::default() },
        Section { title: "Accounts".to_owned(), table: Some(table), ..Section::default() },
    ];
    page(&visit, "Ledger", sections)
}

/// A transfer from its account's point of view.
fn moved(visit: &Visit, code: &AccountCode, transfer: &StoredTransfer) -> Vec<Cell> {
    let (sign, other) =
        if transfer.debit == *code { ("-", &transfer.credit) } else { ("+", &transfer.debit) };
    let other = other.to_string();
    vec![
        Cell::When(transfer.at),
        Cell::number(format!("{sign}{}", transfer.amount)),
        Cell::text(transfer.kind.name()),
        Cell::text(transfer.reason.as_str()),
        Cell::id_link(visit.href(&format!("/ledger/account?code={}", encoded(&other))), other),
        belongs_to(visit, transfer),
        Cell::id_link(visit.href(&format!("/ledger/transfers/{}", transfer.id)), transfer.id),
    ]
}

/// The origin of a transfer: a direct link for a payment, a search for everything else.
fn belongs_to(visit: &Visit, transfer: &StoredTransfer) -> Cell {
    match transfer.subject {
        None => Cell::Empty,
        Some(id) if transfer.reason.starts_with("payment.") => {
            Cell::id_link(visit.href(&format!("/payments/{}", PaymentId(id))), id)
        }
        Some(id) => Cell::id_link(visit.href(&format!("/search?q={id}")), id),
    }
}

pub(super) async fn account(visit: Visit) -> Answer {
    let code = AccountCode::parse(visit.query().text("code")).ok_or(Stop::NotFound)?;
    let place = |name| {
        let text = visit.query().given(name);
        text.map(|text| TransferId::parse(text).ok_or(Stop::NotFound)).transpose()
    };
    let (after, before) = (place("after")?, place("before")?);
    let from = after.map(IdFrom::After).or(before.map(IdFrom::Before));
    let (store, tenant) = (visit.console().store(), visit.tenant_id()?);
    let account = store.account(tenant, &code).await?.ok_or(Stop::NotFound)?;
    let found = store.account_transfers(tenant, &code, from, ROWS).await?;
    let rows: Vec<_> =
        found.transfers.iter().map(|transfer| moved(&visit, &code, transfer)).collect();
    let here = visit.href(&format!("/ledger/account?code={}", encoded(&code.to_string())));
    let previous = found.previous.map(|first| format!("{here}&before={first}"));
    let next = found.next.map(|last| format!("{here}&after={last}"));
    let mut says = Vec::new();
    let (onward, word) = match from {
        Some(IdFrom::Before(_)) => (&previous, "Previous"),
        _ => (&next, "Next"),
    };
    if onward.is_some() && rows.len() < ROWS {
        says.push(format!(
            "This page searched {TRANSFERS_LOOKED_AT_MAX} transfers. {word} continues after them."
        ));
    }
    let shown = if rows.is_empty() { String::new() } else { format!("{} transfers", rows.len()) };
    let head = ["Time", "Amount", "Kind", "Reason", "Counterparty", "For", "Transfer"];
    let table = Table::new("Transfers, newest first", &head, rows)
        .or("No transfers of this account among these.")
        .paged(Pager { previous, next, shown });
    let money = |minor| Cell::number(Money::new(minor, code.currency()));
    let facts = vec![
        ("Account", Cell::id(&code)),
        ("Balance", Cell::number(account.balance())),
        ("Available", Cell::number(account.available())),
        ("Debits", money(account.debits_posted)),
        ("Credits", money(account.credits_posted)),
        ("Pending debits", money(account.debits_pending)),
        ("Pending credits", money(account.credits_pending)),
    ];
    let mut links = vec![(visit.href("/ledger"), "All accounts".to_owned())];
    links.extend(from.map(|_| (here, "Back to the latest".to_owned())));
    let has_statements = matches!(code, AccountCode::Prefund(_) | AccountCode::Wallet(..));
    if has_statements && visit.may_use("GET", "/console/t/{tenant}/statements") {
        let to = visit.href(&format!("/statements?account={}", encoded(&code.to_string())));
        links.push((to, "Statements".to_owned()));
    }
    let sections = vec![
        Section { links, facts, ..Section::default() },
        Section { title: "Transfers".to_owned(), says, table: Some(table), ..Section::default() },
    ];
    page(&visit, "Account", sections)
}

pub(super) async fn transfer(visit: Visit) -> Answer {
    let id = visit.id(TransferId::parse)?;
    let found =
        visit.console().store().transfer(visit.tenant_id()?, id).await?.ok_or(Stop::NotFound)?;
    let facts = vec![
        ("Transfer", Cell::id(found.id)),
        ("For", belongs_to(&visit, &found)),
        ("Linked set", Cell::id(found.set)),
        ("Ends the reservation", found.pending.map_or(Cell::Empty, Cell::id)),
    ];
    let head = ["Time", "Reason", "Kind", "Debit", "Credit", "Amount"];
    let table = Table::new("Transfer", &head, vec![transfer_row(&visit, &found)]);
    page(&visit, "Transfer", vec![Section { facts, table: Some(table), ..Section::default() }])
}
