//! Statements of prefund accounts and wallets for a period, as files (`docs/statements.md`).

use domain::audit::{Facts, Note};
use domain::currency::StableCoin;
use domain::ids::WalletId;
use domain::ledger::AccountCode;
use domain::time::{Span, Timestamp};
use engine::statement::{FINAL_AFTER, StatementError, Wanted};
use tokio::task::spawn_blocking;

use super::day;
use crate::answer::download;
use crate::view::{Field, FieldKind, FormView, Section, page};
use crate::{Answer, Stop, Visit};
use http_api::statements::{Format, file_name, write};

/// Maximum number of movements, and of open reservations, in a file; for more, use the command
/// line.
const MOVEMENTS_MAX: usize = 50_000;
/// The file formats: value and label.
const FORMATS: [(&str, &str); Format::ALL.len()] = [
    ("csv", "CSV, for spreadsheets"),
    ("json", "JSON, for programs"),
    ("camt053", "camt.053, for banks' systems"),
];

/// The account in the query, if it has statements here: a prefund account or a wallet.
fn account(text: &str) -> Option<AccountCode> {
    AccountCode::parse(text)
        .filter(|code| matches!(code, AccountCode::Prefund(_) | AccountCode::Wallet(..)))
}

/// The selectable accounts: prefund accounts, and the wallet or account that linked to this page.
fn accounts(visit: &Visit) -> Vec<(String, String)> {
    let mut codes: Vec<AccountCode> = Vec::new();
    if let Some(wallet) = WalletId::parse(visit.query().text("wallet")) {
        codes.extend(StableCoin::ALL.map(|coin| AccountCode::Wallet(wallet, coin)));
    }
    codes.extend(account(visit.query().text("account")));
    codes.extend(StableCoin::ALL.map(AccountCode::Prefund));
    let mut options: Vec<(String, String)> = Vec::new();
    for code in codes {
        let words = match &code {
            AccountCode::Wallet(wallet, coin) => {
                format!("wallet {wallet}, {}", coin.currency().code())
            }
            other => format!("prefunded account, {}", other.currency().code()),
        };
        if !options.iter().any(|(known, _)| *known == code.to_string()) {
            options.push((code.to_string(), words));
        }
    }
    options
}

pub(super) async fn show(visit: Visit) -> Answer {
    let now = visit.console().now();
    let chosen = visit.query().text("account").to_owned();
    let account =
        Field { kind: FieldKind::OneOf(accounts(&visit)), ..Field::line("account", "Account") };
    let fields = vec![
        account.holding(chosen),
        Field::day("from", "From (UTC)").holding(month(now).date()),
        Field::day("to", "To (inclusive)").holding(now.date()),
        Field::choice("format", "Format", &FORMATS),
    ];
    let action = visit.href("/statements/file");
    let form = FormView {
        id: "statement".to_owned(),
        action,
        button: "Download",
        ..FormView::lookup(fields)
    };
    let says = vec![
        "A statement lists the movements of an account in a period, with opening and closing balances. It is checked \
         against the ledger when it is created."
            .to_owned(),
        format!(
            "A statement that ends today is interim: create it again at least {} s after its end to get the final one. \
             At most {MOVEMENTS_MAX} movements; use the command line for longer statements.",
            FINAL_AFTER.0 / 1_000_000
        ),
        "To get a wallet's statement, open the wallet's page.".to_owned(),
    ];
    page(&visit, "Statements", vec![Section { says, filters: Some(form), ..Section::default() }])
}

/// The first instant of the month.
fn month(now: Timestamp) -> Timestamp {
    let into = Span::days(i64::from(now.date().day()) - 1);
    Timestamp((now - into).unix_seconds().div_euclid(86_400) * Span::days(1).0)
}

/// The period in the query; this month by default. Today ends now.
fn period(visit: &Visit, now: Timestamp) -> Result<(Timestamp, Timestamp), Stop> {
    let from = day(visit, "from")?.unwrap_or_else(|| month(now));
    let to = match day(visit, "to")? {
        Some(last) if last > now => {
            return Err(Stop::Invalid("The last day is in the future.".to_owned()));
        }
        Some(last) => (last + Span::days(1)).min(now),
        None => now,
    };
    Ok((from, to))
}

pub(super) async fn file(visit: Visit) -> Answer {
    let tenant = visit.tenant()?.clone();
    let no_account =
        || Stop::Invalid("Statements are available for prefund accounts and wallets.".to_owned());
    let account = account(visit.query().text("account")).ok_or_else(no_account)?;
    let format = Format::parse(visit.query().given("format").unwrap_or("csv"));
    let format = format.ok_or_else(|| Stop::Invalid("Unknown statement format.".to_owned()))?;
    let now = visit.console().now();
    let (from, to) = period(&visit, now)?;
    let wanted =
        Wanted { tenant: tenant.id, account, from, to, now, limit: MOVEMENTS_MAX, sequence: None };
    let made = visit.console().payments.statement(&wanted).await.map_err(refused)?;
    let name = file_name(&made, format);
    let facts =
        Facts::new().text("from", made.from).text("to", made.to).text("format", format.name());
    let rows = i64::try_from(made.entries.len()).unwrap_or(i64::MAX);
    let note = Note::new("export.statement", "account", &made.account)
        .after(facts.number("movements", rows));
    let written = spawn_blocking(move || {
        let mut out = Vec::new();
        write(&made, &tenant.name, format, &mut out).map(|()| out)
    });
    let bytes = written
        .await
        .map_err(|error| Stop::failed(&error))?
        .map_err(|error| Stop::failed(&error))?;
    visit.took(note).await?;
    Ok(download(&name, format.media_type(), bytes.into()))
}

fn refused(error: StatementError) -> Stop {
    match error {
        StatementError::Store(error) => error.into(),
        StatementError::Period { .. } | StatementError::NotOver { .. } => {
            Stop::Invalid("A period must end after its start and not in the future.".to_owned())
        }
        StatementError::Unknown(account) => {
            Stop::Refused(format!("There are no entries for {account}."))
        }
        StatementError::TooLong { what, found, limit } => Stop::Refused(format!(
            "{found} {what} exceed the limit of {limit} per file: choose a shorter period, or use corridor ledger \
             statement."
        )),
        StatementError::Disagrees { .. } => {
            tracing::error!(%error, "the ledger and the statement disagree");
            Stop::Refused("The ledger entries of this account are inconsistent, so no statement is available. Please contact the \
                 system's operators."
                    .to_owned())
        }
    }
}
