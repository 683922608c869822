//! Statements of prefunded accounts and wallets, as files for a period (`docs/statements.md`).

use domain::audit::{Facts, Note};
use domain::currency::StableCoin;
use domain::ids::WalletId;
use domain::ledger::AccountCode;
use domain::time::{Span, Timestamp};
use engine::statement::{FINAL_AFTER, StatementError, Wanted};
use tokio::task::spawn_blocking;

use super::day;
use crate::answer::download;
use crate::wallets::view::{Field, FieldKind, FormView, Section, page};
use crate::{Answer, Stop, Visit};
use http_api::statements::{Format, file_name, write};

/// Most movements, and most open reservations, of a file from here: more is for the command line.
const MOVEMENTS_MAX: usize = 50_000;
/// The forms of a file: value and words.
const FORMATS: [(&str, &str); Format::ALL.len()] =
    [("csv", "CSV, for spreadsheets"), ("json", "JSON, for programs"), ("camt053", "camt.053, for banks' systems")];

/// The account of the query, where a statement of it can be taken here: a prefunded account's, a wallet's.
fn account(text: &str) -> Option<AccountCode> {
    AccountCode::parse(text).filter(|code| matches!(code, AccountCode::Prefund(_) | AccountCode::Wallet(..)))
}

/// The accounts that can be chosen: the prefunded ones, and those of the wallet or account that a page led here from.
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
            AccountCode::Wallet(wallet, coin) => format!("wallet {wallet}, {}", coin.currency().code()),
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
    let account = Field { kind: FieldKind::OneOf(accounts(&visit)), ..Field::line("account", "Account") };
    let fields = vec![
        account.holding(chosen),
        Field::day("from", "From the day (UTC)").holding(month(now).date()),
        Field::day("to", "to the day, with it").holding(now.date()),
        Field::choice("format", "Form", &FORMATS),
    ];
    let action = visit.href("/statements/file");
    let form = FormView { id: "statement", action, button: "Download", ..FormView::filters(fields) };
    let says = vec![
        "A statement says what moved over an account in a period, with the balances around it; it is checked against \
         the books when it is made."
            .to_owned(),
        format!(
            "One that ends today is interim: it ends now, and is final when it is made again {} s or more after its end. \
             At most {MOVEMENTS_MAX} movements; longer ones are made on the command line.",
            FINAL_AFTER.0 / 1_000_000
        ),
        "A wallet is chosen on its own page.".to_owned(),
    ];
    page(&visit, "Statements", vec![Section { says, filters: Some(form), ..Section::default() }])
}

/// The first instant of the month.
fn month(now: Timestamp) -> Timestamp {
    let into = Span::days(i64::from(now.date().day()) - 1);
    Timestamp((now - into).unix_seconds().div_euclid(86_400) * Span::days(1).0)
}

/// The period that the query asks for; this month where it asks for none. Today ends now.
fn period(visit: &Visit, now: Timestamp) -> Result<(Timestamp, Timestamp), Stop> {
    let from = day(visit, "from")?.unwrap_or_else(|| month(now));
    let to = match day(visit, "to")? {
        Some(last) if last > now => return Err(Stop::Invalid("The last day has not begun yet.".to_owned())),
        Some(last) => (last + Span::days(1)).min(now),
        None => now,
    };
    Ok((from, to))
}

pub(super) async fn file(visit: Visit) -> Answer {
    let tenant = visit.tenant()?.clone();
    let no_account = || Stop::Invalid("There are statements of prefunded accounts and of wallets.".to_owned());
    let account = account(visit.query().text("account")).ok_or_else(no_account)?;
    let format = Format::parse(visit.query().given("format").unwrap_or("csv"));
    let format = format.ok_or_else(|| Stop::Invalid("There is no such form of a statement.".to_owned()))?;
    let now = visit.console().now();
    let (from, to) = period(&visit, now)?;
    let wanted = Wanted { tenant: tenant.id, account, from, to, now, limit: MOVEMENTS_MAX, sequence: None };
    let made = visit.console().payments.statement(&wanted).await.map_err(refused)?;
    let name = file_name(&made, format);
    let facts = Facts::new().text("from", made.from).text("to", made.to).text("format", format.name());
    let rows = i64::try_from(made.entries.len()).unwrap_or(i64::MAX);
    let note = Note::new("export.statement", "account", &made.account).after(facts.number("movements", rows));
    let written = spawn_blocking(move || {
        let mut out = Vec::new();
        write(&made, &tenant.name, format, &mut out).map(|()| out)
    });
    let bytes = written.await.map_err(|error| Stop::failed(&error))?.map_err(|error| Stop::failed(&error))?;
    visit.took(note).await?;
    Ok(download(&name, format.media_type(), bytes.into()))
}

fn refused(error: StatementError) -> Stop {
    match error {
        StatementError::Store(error) => error.into(),
        StatementError::Period { .. } | StatementError::NotOver { .. } => {
            Stop::Invalid("A period ends behind its beginning, and not in the future.".to_owned())
        }
        StatementError::Unknown(account) => Stop::Refused(format!("Nothing was ever booked on {account}.")),
        StatementError::TooLong { what, found, limit } => Stop::Refused(format!(
            "{found} {what} are more than the {limit} of a file from here: choose a shorter period, or make it with \
             corridor ledger statement."
        )),
        StatementError::Disagrees { .. } => {
            tracing::error!(%error, "the books do not add up");
            Stop::Refused("The books of this account do not add up, so there is no statement. Please call whoever looks after the \
                 system."
                    .to_owned())
        }
    }
}
