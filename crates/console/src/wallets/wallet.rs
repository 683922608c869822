//! A wallet: balances, history, and blocks. One user blocks it at once; unblocking it or passing on
//! a regulator's order requires two (`decisions.md`, "Four eyes").

use domain::characters::entered;
use domain::ids::WalletId;
use domain::names::state_phrase;
use domain::wallet::{
    AUTO_UNBLOCK_HOURS, BlacklistOrder, BlockOrder, BlockReason, TriggeredBy, Wallet, WalletState,
};
use engine::console::ProposedAction;
use engine::wallets::{Held, Page, Transaction};
use jiff::civil::Date;

use super::wallet_list::tone;
use super::{SEEN, as_shown, deposit_row, money_of, order_row, request_row};
use crate::audit;
use crate::lists::{HIDDEN, none, with_columns};
use crate::view::{
    Field, FormView, Section, coins, instant, latest, page_about, turned, turns, words,
};
use crate::{Answer, Cell, Headline, Stop, Table, Visit};
use http_api::wallet_v1::render::money;

/// Payment requests shown on the page, latest first.
const REQUESTS: Page = Page { page: 0, limit: 10 };
/// Maximum lengths of an authority's name and an order's number, as in the API.
const LINE_MAX_CHARS: usize = 200;

pub(super) async fn show(visit: Visit) -> Answer {
    let (caller, id) = (visit.caller()?, visit.id(WalletId::parse)?);
    let console = visit.console();
    let (wallet, held) = console.wallets.find(&caller, id).await?;
    let history = console.store().wallet_history(caller.tenant, id, turned(&visit)?).await?;
    let requests = console.wallets.list_requests(&caller, id, None, REQUESTS).await?;
    let path = visit.href(&format!("/wallets/{id}"));
    let rows: Vec<_> = history.rows.iter().map(|it| history_row(&visit, it)).collect();
    let head = ["Kind", "Id", "Status", "Amount", "Last change", "Created"];
    let history = Table::new("History", &head, rows)
        .or(none(&visit, "No transactions yet.", "No transactions here.", &[HIDDEN]))
        .paged(turns(&visit, &path, &[HIDDEN], &history));
    let history = Section {
        title: "History".to_owned(),
        links: latest(&visit, &path, &[HIDDEN]).into_iter().collect(),
        table: Some(with_columns(&visit, &path, &[], history)),
        ..Section::default()
    };
    let head = ["Request", "Status", "Requested", "Received", "Created", "Expires"];
    let money = money_of(&visit, &requests.rows).await?;
    let rows = requests.rows.iter().map(|it| request_row(&visit, it, &money(it))).collect();
    let requests =
        Table::new("Latest payment requests", &head, rows).or("No payment requests yet.");
    let mut links = Vec::new();
    if visit.may_use("GET", "/console/t/{tenant}/statements") {
        links.push((
            visit.href(&format!("/statements?wallet={id}")),
            "Statements of this wallet".to_owned(),
        ));
    }
    let sections = vec![
        Section { facts: facts(&wallet, blocker(&visit, &wallet).await?), ..Section::default() },
        Section {
            title: "Balances".to_owned(),
            table: Some(balances(&held)),
            links,
            ..Section::default()
        },
        history,
        Section {
            title: "Payment requests".to_owned(),
            table: Some(requests),
            ..Section::default()
        },
        audit::section(&visit, &id.to_string()).await?,
        super::waiting(&visit, id.0).await?,
        control(&visit, &wallet),
    ];
    let headline = Headline {
        list: (visit.href("/wallets"), "Wallets"),
        text: format!("Wallet of {}", wallet.customer_id),
        state: Cell::state(wallet.state.name(), tone(wallet.state)),
        why: String::new(),
    };
    page_about(&visit, headline, sections)
}

/// Who blocked the wallet: a user, or what the block says about itself.
async fn blocker(visit: &Visit, wallet: &Wallet) -> Result<String, Stop> {
    let by = wallet.block.as_ref().map(|block| block.triggered_by);
    if by == Some(TriggeredBy::Automatic) {
        return Ok("the risk rules".to_owned());
    }
    let done = audit::about(visit, &[wallet.id.to_string()]).await?;
    let block = done.iter().rfind(|entry| entry.note.action == "wallet.block");
    Ok(block.map_or_else(|| "the bank".to_owned(), |entry| audit::people(&entry.deed)))
}

fn facts(wallet: &Wallet, blocker: String) -> Vec<(&'static str, Cell)> {
    let mut facts = vec![
        ("Status", Cell::state(wallet.state.name(), tone(wallet.state))),
        ("Wallet", Cell::id(wallet.id)),
        ("Customer", Cell::text(wallet.customer_id.as_str())),
        ("E-mail", Cell::text(wallet.email.as_str())),
        ("Telephone", Cell::text(wallet.phone.as_str())),
        ("KYC level", Cell::text(wallet.kyc_level.name())),
        ("Chain", Cell::text(wallet.blockchain.as_str())),
        ("Address", Cell::id(wallet.address)),
        ("Created", Cell::When(wallet.created_at)),
        ("Last activity", Cell::When(wallet.last_activity_at)),
    ];
    if let Some(block) = wallet.block.as_ref().filter(|_| wallet.state.is_frozen()) {
        facts.extend([
            (
                "Block reason",
                Cell::text(format!("{}: {}", words(block.reason.name()), block.details)),
            ),
            ("Blocked at", Cell::When(block.at)),
            ("Blocked by", Cell::text(blocker)),
            ("Unblocks automatically", instant(block.auto_unblock_at)),
        ]);
    }
    if let Some(at) = wallet.unblocked_at {
        facts.extend([
            ("Last unblocked", Cell::When(at)),
            ("Unblock reason", Cell::maybe(wallet.unblock_reason.clone())),
        ]);
    }
    if let Some(order) = &wallet.blacklisting {
        let by = if order.at.is_some() { "Blacklisted by" } else { "To be blacklisted by" };
        facts.extend([
            (by, Cell::text(format!("{}, {}", order.authority, order.reference))),
            ("Reason of the order", Cell::text(order.reason.as_str())),
            ("Effective date", Cell::text(order.effective_date.to_string())),
            ("In effect since", instant(order.at)),
            (
                "On USDC's blacklist",
                Cell::text(if wallet.chain_blacklisted { "yes" } else { "no" }),
            ),
        ]);
    }
    facts.push(("Frozen on chain", Cell::text(if wallet.frozen_on_chain { "yes" } else { "no" })));
    facts
}

fn balances(held: &[Held]) -> Table {
    let row = |line: &Held| {
        vec![
            Cell::text(line.coin.currency().code()),
            coins(line.minor, line.coin),
            coins(line.available_minor, line.coin),
            coins(line.minor - line.available_minor, line.coin),
            line.value_usd
                .map_or(Cell::Empty, |value| Cell::number(format!("{} USD", money(value)))),
            line.value_pkr
                .map_or(Cell::Empty, |value| Cell::number(format!("{} PKR", money(value)))),
        ]
    };
    let head = ["Coin", "Booked", "Available", "Reserved by orders", "In USD", "In PKR"];
    Table::new("Balances", &head, held.iter().map(row).collect()).or("No balances.")
}

fn history_row(visit: &Visit, entry: &Transaction) -> Vec<Cell> {
    let (what, mut row) = match entry {
        Transaction::Deposit(deposit) => ("Deposit", deposit_row(visit, deposit)),
        Transaction::Exchange(order) => ("Order", order_row(visit, order)),
    };
    row.truncate(5);
    row.insert(0, Cell::text(what));
    row
}

/// The available actions, depending on its state and the user's roles.
fn control(visit: &Visit, wallet: &Wallet) -> Section {
    let may =
        |deed: &str| visit.may_use("POST", &format!("/console/t/{{tenant}}/wallets/{{id}}/{deed}"));
    let to = |deed: &str| visit.href(&format!("/wallets/{}/{deed}", wallet.id));
    let mut forms = Vec::new();
    if matches!(wallet.state, WalletState::Active | WalletState::Pending) && may("block") {
        let form = FormView::new("block", "Block", to("block"), "Block the wallet")
            .says(
                "Takes effect at once and needs one user. Nothing comes in or goes out until the wallet is unblocked.",
            )
            .field(
                Field::one_of("reason", "Reason code", BlockReason::ALL.map(BlockReason::name)).unchosen(),
            )
            .field(Field::whole("hours", "Unblock automatically after (hours)").optional());
        forms.push(form.why().danger());
    }
    if wallet.state == WalletState::Blocked && may("unblock") {
        let form = FormView::new("unblock", "Unblock", to("unblock"), "Propose to unblock");
        let form = form.says("Another user has to approve it.");
        let form = match &wallet.block {
            Some(block) => form.field(Field::hidden(SEEN, block.at.0)),
            None => form,
        };
        forms.push(form.why());
    }
    if wallet.state != WalletState::Blacklisted && may("blacklist") {
        let form = FormView::new("blacklist", "Regulator's order", to("blacklist"), "Propose to blacklist")
            .says("Freezes the wallet permanently from the effective date; until then it is blocked. Another user has to approve it.")
            .field(Field::line("authority", "Authority"))
            .field(Field::line("reference", "Order number"))
            .field(Field::day("day", "Effective date (UTC)"));
        forms.push(form.why().danger());
    }
    let title = if forms.is_empty() { String::new() } else { "Control".to_owned() };
    Section { title, forms, ..Section::default() }
}

pub(super) async fn block(visit: Visit) -> Answer {
    let (id, why) = (visit.id(WalletId::parse)?, visit.why()?.to_owned());
    let form = visit.form();
    let reason = BlockReason::parse(form.text("reason"))
        .ok_or_else(|| Stop::wrong("reason", "Please choose a reason."))?;
    let hours = form
        .given("hours")
        .map(|text| text.parse::<i64>().ok().filter(|it| AUTO_UNBLOCK_HOURS.contains(it)));
    let (least, most) = (AUTO_UNBLOCK_HOURS.start(), AUTO_UNBLOCK_HOURS.end());
    let hours = match hours {
        Some(None) => {
            let words = format!("The hours must be a number from {least} to {most}.");
            return Err(Stop::Wrong("hours", words));
        }
        hours => hours.flatten(),
    };
    let order = BlockOrder {
        reason,
        details: why.clone(),
        auto_unblock_hours: hours,
        triggered_by: TriggeredBy::Manual,
    };
    visit.console().wallets.block(&visit.caller()?, id, order, visit.deed(&why), None).await?;
    Ok(visit.done(&visit.href(&format!("/wallets/{id}")), "The wallet is blocked."))
}

pub(super) async fn unblock(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let wallet = own(&visit).await?;
    let blocked_at = wallet
        .block
        .as_ref()
        .filter(|_| wallet.state == WalletState::Blocked)
        .map(|block| block.at);
    let Some(blocked_at) = blocked_at else {
        return Err(Stop::Refused(format!("The wallet {}.", state_phrase(wallet.state.name()))));
    };
    as_shown(&visit, blocked_at.0).await?;
    visit
        .propose(
            ProposedAction::UnblockWallet {
                wallet: wallet.id,
                blocked_at,
                reason: Some(why.clone()),
            },
            &why,
        )
        .await
}

pub(super) async fn blacklist(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let line = |name: &'static str, words: &str| {
        let line = entered(visit.form().text(name), LINE_MAX_CHARS);
        line.map(str::to_owned).ok_or_else(|| Stop::wrong(name, words))
    };
    let authority = line("authority", "Please enter the authority.")?;
    let reference = line("reference", "Please enter the order number.")?;
    let effective_date: Date = visit
        .form()
        .text("day")
        .parse()
        .map_err(|_| Stop::wrong("day", "Please enter the effective date."))?;
    let wallet = own(&visit).await?;
    if wallet.state == WalletState::Blacklisted {
        return Err(Stop::Refused("The wallet is BLACKLISTED.".to_owned()));
    }
    let order = BlacklistOrder { authority, reference, reason: why.clone(), effective_date };
    visit.propose(ProposedAction::BlacklistWallet { wallet: wallet.id, order }, &why).await
}

async fn own(visit: &Visit) -> Result<Wallet, Stop> {
    let id = visit.id(WalletId::parse)?;
    Ok(visit.console().wallets.find(&visit.caller()?, id).await?.0)
}
