//! The installation's health: the data of `/readyz` and `/metrics`, for reading. Covers all
//! tenants.

use domain::chain::{ChainConfig, ChainNumber};
use engine::context::ChainContext;
use std::time::Duration;

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::deposit::TokenState;
use domain::job::JobKind;
use engine::console::{Proposal, ProposedAction};
use engine::payments::{JobCount, RoleLease};
use engine::reconcile;

use crate::view::{Field, FormView, Section, age, page, words};
use crate::{Answer, Cell, Stop, Table, Tone, Visit};

/// Timeout for the chain's node.
const CHAIN_WAIT: Duration = Duration::from_secs(2);
/// Minutes after which an overdue job marks its queue as stalled.
const OVERDUE_MIN: i64 = 5;

pub(super) async fn show(visit: Visit) -> Answer {
    let mut sections = vec![database(&visit).await?, nodes(&visit).await?, jobs(&visit).await?];
    sections.extend(chains(&visit).await?);
    sections.extend([coins(&visit).await?, sources(&visit), books(&visit).await?]);
    page(&visit, "System health", sections)
}

async fn database(visit: &Visit) -> Result<Section, Stop> {
    let console = visit.console();
    let ready = match console.store().ready().await {
        Ok(()) => Cell::state("ready", Tone::Good),
        Err(error) => Cell::state(error.to_string(), Tone::Bad),
    };
    let facts = vec![
        ("Database", ready),
        ("Engine", Cell::text(console.store().engine_name())),
        ("Version", Cell::text(env!("CARGO_PKG_VERSION"))),
        ("Wall-clock time", Cell::When(console.wall_now())),
        ("Business time", Cell::When(console.now())),
    ];
    Ok(Section { title: "This node".to_owned(), facts, ..Section::default() })
}

async fn nodes(visit: &Visit) -> Result<Section, Stop> {
    let (store, now) = (visit.console().store(), visit.console().now());
    let row = |lease: &RoleLease| {
        let held = lease.leased_until > now;
        vec![
            Cell::text(lease.name.as_str()),
            Cell::state(
                if held { "held" } else { "free" },
                if held { Tone::Good } else { Tone::Plain },
            ),
            Cell::id(&lease.owner),
            Cell::number(lease.fence),
            Cell::When(lease.leased_until),
        ]
    };
    let leases = store.role_leases().await?;
    let head = ["Role", "State", "Node", "Fence", "Valid until"];
    let roles =
        Table::new("Roles held by one node at a time", &head, leases.iter().map(row).collect())
            .or("No role is held yet.");
    let nodes = store.working_nodes().await?;
    let says = match nodes.len() {
        0 => "No node processes jobs: start one.".to_owned(),
        count => format!("Nodes that process jobs: {count} ({}).", nodes.join(", ")),
    };
    Ok(Section {
        title: "Nodes".to_owned(),
        says: vec![says],
        table: Some(roles),
        ..Section::default()
    })
}

async fn jobs(visit: &Visit) -> Result<Section, Stop> {
    let now = visit.console().now();
    let counts = visit.console().store().job_counts().await?;
    let row = |count: &JobCount| {
        // Review queues wait for users, so they never count as stalled.
        let by_people = matches!(count.kind, JobKind::Review | JobKind::ReviewDeposit);
        let overdue = (now - count.oldest).0 / 60_000_000;
        let state = match (count.due, by_people) {
            (0, _) => Cell::state("nothing due", Tone::Good),
            (_, true) => Cell::state("waiting for users", Tone::Warn),
            (_, false) if overdue >= OVERDUE_MIN => Cell::state("behind", Tone::Bad),
            (_, false) => Cell::state("working", Tone::Busy),
        };
        vec![
            Cell::text(words(count.kind.name())),
            state,
            Cell::number(count.count),
            Cell::number(count.due),
            Cell::number(if overdue > 0 {
                age(count.oldest, now)
            } else {
                "not yet due".to_owned()
            }),
        ]
    };
    let head = ["Queue", "State", "Jobs", "Due", "Oldest overdue by"];
    let table = Table::new("Job queues", &head, counts.iter().map(row).collect()).or("No jobs.");
    Ok(Section { title: "Jobs".to_owned(), table: Some(table), ..Section::default() })
}

/// A section for each chain.
pub(crate) async fn chains(visit: &Visit) -> Result<Vec<Section>, Stop> {
    let Ok(offered) = visit.console().wallets.offered() else {
        let says = vec!["The wallet service is not enabled.".to_owned()];
        return Ok(vec![Section { title: "Chain".to_owned(), says, ..Section::default() }]);
    };
    let mut sections = Vec::new();
    for of in offered.configured() {
        sections.push(match of.numbered() {
            Some(world) => chain(visit, world).await?,
            None => unnamed(&of.configured().config),
        });
    }
    Ok(sections)
}

fn unnamed(config: &ChainConfig) -> Section {
    let facts = vec![
        ("Chain", Cell::text(config.name.as_str())),
        ("Chain id", Cell::number(config.chain_id)),
        ("Node", Cell::state("has not named the chain", Tone::Bad)),
    ];
    let says = "Nothing runs on this chain before one of its nodes answers with this chain id.";
    let title = format!("Chain {}", config.name);
    Section { title, says: vec![says.to_owned()], facts, ..Section::default() }
}

async fn chain(visit: &Visit, offered: &ChainContext) -> Result<Section, Stop> {
    let console = visit.console();
    let title = match offered.config.number {
        ChainNumber::FIRST => "Chain".to_owned(),
        _ => format!("Chain {}", offered.config.name),
    };
    let taken = console.store().chain_headers(offered.config.number, 1).await?;
    let taken = taken.first().map(|block| block.number);
    let head = match tokio::time::timeout(CHAIN_WAIT, offered.chain.heads()).await {
        Ok(Ok(heads)) => Ok(heads),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", CHAIN_WAIT.as_secs())),
    };
    let mut facts = vec![
        ("Chain", Cell::text(offered.config.name.as_str())),
        ("Chain id", Cell::number(offered.config.chain_id)),
    ];
    match head {
        Ok(heads) => {
            let latest = heads.latest.number;
            facts.extend([
                ("Node", Cell::state("answers", Tone::Good)),
                ("Newest block", Cell::number(latest)),
                ("Safe block", heads.safe.map_or(Cell::Empty, Cell::number)),
                ("Final block", heads.finalized.map_or(Cell::Empty, Cell::number)),
                ("Processed up to", taken.map_or(Cell::Empty, Cell::number)),
                (
                    "Blocks behind",
                    taken.map_or(Cell::Empty, |taken| Cell::number(latest.saturating_sub(taken))),
                ),
            ]);
        }
        Err(why) => {
            // One node may still answer, on whose word nothing is counted.
            let one = tokio::time::timeout(CHAIN_WAIT, offered.chain.head()).await;
            let one = one.ok().and_then(Result::ok);
            facts.extend([
                ("Node", Cell::state(why, Tone::Bad)),
                ("Newest block of one node", one.map_or(Cell::Empty, Cell::number)),
                ("Processed up to", taken.map_or(Cell::Empty, Cell::number)),
            ]);
        }
    }
    let open = console.store().open_chain_txs(1_000).await?;
    let open = open.iter().filter(|tx| tx.chain == offered.config.number).count();
    facts.push(("Transactions in progress", Cell::number(open)));
    let links = vec![(super::rescans::PATH.to_owned(), "Rescan blocks".to_owned())];
    Ok(Section { title, facts, links, ..Section::default() })
}

/// The name of a chain; its number if it is no longer configured.
fn name_of(visit: &Visit, chain: ChainNumber) -> String {
    let known = visit.console().wallets.offered_on(chain);
    known.map_or_else(|_| chain.0.to_string(), |known| known.config.name.clone())
}

pub(crate) async fn coins(visit: &Visit) -> Result<Section, Stop> {
    let states = visit.console().store().token_states().await?;
    let row = |state: &TokenState| {
        let (word, tone) = match (state.code_changed, state.paused) {
            (true, _) => ("halted: code changed", Tone::Bad),
            (false, true) => ("halted: paused by its issuer", Tone::Warn),
            (false, false) => ("moves", Tone::Good),
        };
        vec![
            Cell::text(state.coin.currency().code()),
            Cell::text(name_of(visit, state.chain)),
            Cell::state(word, tone),
            Cell::number(state.at_block),
        ]
    };
    let head = ["Token", "Chain", "State", "Last changed in block"];
    let table = Table::new("Tokens", &head, states.iter().map(row).collect())
        .or("No token states recorded yet.");
    let may = visit.may_use("POST", "/console/system/coins");
    let changed = states.iter().filter(|state| may && state.code_changed);
    let form = |state: &TokenState| {
        let code = state.coin.currency().code();
        let id = format!("accept-{}-{}", code.to_lowercase(), state.chain.0);
        let title = format!("Accept the new code of {code} on {}", name_of(visit, state.chain));
        FormView::new(id, title, "/console/system/coins".to_owned(), "Propose")
            .says("Only after comparing the code with the issuer's published code. Another user has to approve it.")
            .field(Field::hidden("chain", state.chain.0))
            .field(Field::hidden("coin", code))
            .field(Field::hidden("at_block", state.at_block))
            .why()
            .danger()
    };
    Ok(Section {
        title: "Coins".to_owned(),
        table: Some(table),
        forms: changed.map(form).collect(),
        ..Section::default()
    })
}

/// External data that ages: sanctions lists and rates.
fn sources(visit: &Visit) -> Section {
    let (console, now) = (visit.console(), visit.console().now());
    let lists = console.outside.lists();
    let lists_state = match (lists.sample, lists.stale) {
        (true, _) => Cell::state("the shipped sample", Tone::Warn),
        (false, true) => Cell::state("too old for approvals", Tone::Bad),
        (false, false) => Cell::state("fresh", Tone::Good),
    };
    let facts = vec![
        ("Sanctions lists", lists_state),
        ("Version", Cell::text(lists.version)),
        ("Entries", Cell::number(lists.entries)),
        (
            "Oldest load",
            lists
                .oldest_load
                .map_or(Cell::Empty, |at| Cell::number(format!("{} ago", age(at, now)))),
        ),
    ];
    let rates = &console.payments.world().rates;
    let row = |country: Country| {
        let mid = rates.mid(Currency::Usdt, country.currency());
        let (rate, old) = match mid {
            Some(mid) => {
                (Cell::number(mid.rate), Cell::number(format!("{} ago", age(mid.as_of, now))))
            }
            None => (Cell::state("no rate", Tone::Bad), Cell::Empty),
        };
        vec![Cell::text(format!("USDT/{}", country.currency().code())), rate, old]
    };
    let table = Table::new(
        "Rates",
        &["Pair", "Mid", "Published"],
        Country::ALL.into_iter().map(row).collect(),
    );
    Section { title: "Lists and rates".to_owned(), facts, table: Some(table), ..Section::default() }
}

async fn books(visit: &Visit) -> Result<Section, Stop> {
    let store = visit.console().store();
    let report = reconcile::last(store).await?;
    let facts = match report {
        None => Vec::new(),
        Some(report) => vec![
            ("Breaks", Cell::number(report.found)),
            ("Reconciled", Cell::number(format!("{} ago", age(report.at, visit.console().now())))),
        ],
    };
    let says =
        if facts.is_empty() { vec!["No reconciliation yet.".to_owned()] } else { Vec::new() };
    Ok(Section { title: "Reconciliation".to_owned(), says, facts, ..Section::default() })
}

/// Proposes to resume a token whose code changed.
pub(super) async fn accept_coin(visit: Visit) -> Answer {
    let why = visit.why()?.to_owned();
    let chain = ChainNumber(visit.form().text("chain").parse().map_err(|_| Stop::NotFound)?);
    let coin = StableCoin::parse(visit.form().text("coin")).ok_or(Stop::NotFound)?;
    let at_block = visit.form().text("at_block").parse().map_err(|_| Stop::NotFound)?;
    let (maker, by) = (visit.user()?.clone(), visit.deed(&why));
    let deed = ProposedAction::AcceptCoinCode { chain, coin, at_block };
    let proposal = Proposal { tenant: None, deed, maker, why, by };
    let id = visit.console().desk.propose(proposal).await?;
    Ok(visit.done(&format!("/console/approvals/{id}"), "Proposed. Another user has to approve it."))
}
