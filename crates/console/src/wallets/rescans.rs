//! Rescans of blocks: the form to request one, the waiting requests and their results. The chain's
//! watcher executes them; nothing here reads the chain.

use domain::chain::ChainNumber;
use engine::rescan::{self, KEPT_MAX, Report, Target, Wish};
use engine::wallets::Denied;

use crate::view::{Field, FormView, Section, page, page_of_wrong_form};
use crate::{Answer, Cell, Form, Stop, Table, Tone, Visit};

pub(super) const PATH: &str = "/console/system/rescans";
const TITLE: &str = "Rescan blocks";

/// A form with a wrong value: its id, the field, and what is wrong.
struct Wrong {
    form: &'static str,
    field: &'static str,
    says: String,
}

/// The target that a form names.
fn target(form: &Form) -> Result<Target, Wrong> {
    match form.text("by") {
        "tx" => {
            let wrong = |what| Wrong {
                form: "tx",
                field: "tx",
                says: format!("The transaction hash {what}."),
            };
            rescan::parse_tx(form.text("tx")).map(Target::Tx).map_err(wrong)
        }
        "address" => {
            let wrong = |what| Wrong {
                form: "address",
                field: "address",
                says: format!("The address {what}."),
            };
            rescan::parse_vault(form.text("address")).map(Target::Vault).map_err(wrong)
        }
        _ => {
            let wrong = |field, says: &str| Wrong { form: "blocks", field, says: says.to_owned() };
            let from = form.text("from").parse();
            let from = from.map_err(|_| {
                wrong("from", "The first block must be a block number, for example 23480000.")
            })?;
            let to = form.text("to").parse();
            let to = to.map_err(|_| {
                wrong("to", "The last block must be a block number, for example 23481000.")
            })?;
            Target::blocks(from, to)
                .ok_or_else(|| wrong("from", "The first block must not be above the last block."))
        }
    }
}

/// The forms, one per kind of target. A wrong one keeps its values.
fn forms(chains: &[(String, String)], given: &Form, wrong: Option<&Wrong>) -> Vec<FormView> {
    let form = |id: &'static str, title, says: &str, fields: Vec<Field>| {
        let wrong = wrong.filter(|wrong| wrong.form == id);
        let filled = |field: Field| if wrong.is_some() { field.as_asked(given) } else { field };
        let view = FormView::new(id, title, PATH.to_owned(), "Request a rescan").says(says);
        let options: Vec<(&str, &str)> =
            chains.iter().map(|(number, name)| (number.as_str(), name.as_str())).collect();
        let chain = (options.len() > 1).then(|| Field::choice("chain", "Chain", &options));
        let view = chain
            .into_iter()
            .chain(fields)
            .map(filled)
            .fold(view.field(Field::hidden("by", id)), FormView::field);
        FormView { fault: wrong.map(|wrong| (wrong.field, wrong.says.clone())), ..view }
    };
    let range = vec![Field::whole("from", "First block"), Field::whole("to", "Last block")];
    vec![
        form(
            "tx",
            "By transaction",
            "Rescans the block of a transaction that reportedly paid.",
            vec![Field::line("tx", "Transaction hash")],
        ),
        form(
            "address",
            "By address",
            "Rescans every block with a known payment to the escrow of a payment request, or to a wallet.",
            vec![Field::line("address", "Address")],
        ),
        form(
            "blocks",
            "By blocks",
            "Rescans a range of blocks, the first and the last included.",
            range,
        ),
    ]
}

/// The kind of a target, and its value.
fn cells(target: &Target) -> [Cell; 2] {
    match target {
        Target::Tx(tx) => [Cell::text("Transaction"), Cell::id(tx)],
        Target::Vault(address) => [Cell::text("Address"), Cell::id(address)],
        Target::Blocks(from, to) => [Cell::text("Blocks"), Cell::text(format!("{from} to {to}"))],
    }
}

async fn waiting(visit: &Visit) -> Result<Section, Stop> {
    let mut rows = Vec::new();
    for world in visit.console().wallets.offered().iter().flat_map(|offered| offered.all()) {
        let wishes = rescan::wishes(visit.console().store(), world.config.number).await?;
        rows.extend(wishes.iter().map(|Wish { target, .. }| {
            let [kind, target] = cells(target);
            vec![Cell::text(world.config.name.as_str()), kind, target]
        }));
    }
    let title = format!("Waiting: {}", rows.len());
    let says = vec![format!(
        "Executed in this order. At most {KEPT_MAX} wait; a further request displaces the oldest."
    )];
    let table = Table::new("Waiting requests", &["Chain", "Kind", "Target"], rows)
        .or("No request is waiting.");
    Ok(Section { title, says, table: Some(table), ..Section::default() })
}

async fn results(visit: &Visit) -> Result<Section, Stop> {
    let mut reports = Vec::new();
    for world in visit.console().wallets.offered().iter().flat_map(|offered| offered.all()) {
        let found = rescan::reports(visit.console().store(), world.config.number).await?;
        reports.extend(found.into_iter().map(|report| (world.config.name.as_str(), report)));
    }
    reports.sort_by_key(|(_, report)| report.at);
    let row = |(chain, report): &(&str, Report)| {
        let state = match (report.trouble.is_empty(), report.found) {
            (false, _) => Cell::state("failed", Tone::Bad),
            (true, 0) => Cell::state("nothing missing", Tone::Good),
            (true, _) => Cell::state("found", Tone::Warn),
        };
        let [kind, target] = cells(&report.target);
        vec![
            Cell::When(report.at),
            Cell::text(*chain),
            kind,
            target,
            state,
            Cell::number(report.blocks),
            Cell::number(report.found),
            Cell::maybe(Some(report.trouble.as_str()).filter(|trouble| !trouble.is_empty())),
        ]
    };
    let rows: Vec<_> = reports.iter().rev().map(row).collect();
    let title = format!("Results: {}", rows.len());
    let head = [
        "Time",
        "Chain",
        "Kind",
        "Target",
        "State",
        "Blocks read",
        "Missing transfers found",
        "Failure",
    ];
    let table = Table::new("Results", &head, rows).or("No results yet.");
    Ok(Section { title, table: Some(table), ..Section::default() })
}

async fn sections(visit: &Visit, wrong: Option<&Wrong>) -> Result<Vec<Section>, Stop> {
    let offered = visit.console().wallets.offered();
    let may = visit.may_use("POST", PATH) && offered.is_ok();
    let chains: Vec<(String, String)> = offered
        .iter()
        .flat_map(|offered| offered.all())
        .map(|world| (world.config.number.0.to_string(), world.config.name.clone()))
        .collect();
    let says = [
        "A rescan reads blocks again from every node and books payments that a node had omitted. A payment found \
         this way is a deposit like any other: it counts when it is deep enough and enough nodes confirm it.",
        "The results appear below. Reload the page to see them.",
    ];
    let first = Section {
        says: says.map(str::to_owned).to_vec(),
        forms: if may { forms(&chains, visit.form(), wrong) } else { Vec::new() },
        ..Section::default()
    };
    Ok(vec![first, waiting(visit).await?, results(visit).await?])
}

pub(super) async fn show(visit: Visit) -> Answer {
    page(&visit, TITLE, sections(&visit, None).await?)
}

pub(super) async fn request(visit: Visit) -> Answer {
    let offered = visit.console().wallets.offered()?;
    // Without a choice there is one chain.
    let chain = match visit.form().text("chain") {
        "" => offered.all().next().ok_or(Denied::ChainNotInUse)?.config.number,
        number => ChainNumber(number.parse().map_err(|_| Denied::NotOffered)?),
    };
    let chain = offered.on(chain).ok_or(Denied::ChainNotInUse)?.config.number;
    let target = match target(visit.form()) {
        Ok(target) => target,
        Err(wrong) => {
            return page_of_wrong_form(&visit, TITLE, sections(&visit, Some(&wrong)).await?);
        }
    };
    // Recorded first: no request is without its entry.
    visit.note("chain.rescan", &chain.key(&target.to_string()), "").await?;
    let is_new = rescan::want_if_new(visit.console().store(), chain, target).await?;
    Ok(visit
        .done(PATH, if is_new { "Rescan requested." } else { "This rescan is already waiting." }))
}
