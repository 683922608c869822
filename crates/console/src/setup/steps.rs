//! The steps' own parts: the forms and facts of the pages on which the same is changed later.

use domain::ledger::{Account, AccountCode};

use crate::payments::corridors;
use crate::view::Section;
use crate::wallets::{keys, policy, receiver, system, waiting_words};
use crate::{Cell, Stop, Table, Visit, users};

/// What the step is for.
pub(super) fn says(step: &str) -> &'static str {
    match step {
        "tenant" => "Who the tenant is, and how its payment pages look.",
        "policy" => {
            "What the tenant may do: countries, limits, KYC. Two users agree on every change."
        }
        "keys" => "What the tenant signs its requests with. A secret is shown once.",
        "prefund" => "Payments are debited from the prefund when they are accepted.",
        "webhooks" => "Where events are delivered. An example shows whether the endpoint answers.",
        "corridors" => "Where payments go: open corridors, rails of your banks, current rates.",
        "chain" => "What wallets need: nodes, the tenant's controller, gas.",
        _ => "Who works for the tenant. Decisions about money need two users.",
    }
}

/// The page that shows the same outside of the setup, if not all roles open it.
fn page_of(step: &str) -> Option<&'static str> {
    match step {
        "keys" => Some("/console/t/{tenant}/keys"),
        "prefund" => Some("/console/t/{tenant}/ledger"),
        "chain" => Some("/console/system"),
        "people" => Some(users::LIST),
        _ => None,
    }
}

pub(super) async fn sections(visit: &Visit, step: &str) -> Result<Vec<Section>, Stop> {
    if page_of(step).is_some_and(|page| !visit.may_use("GET", page)) {
        let says = vec!["Users with other roles see and change this.".to_owned()];
        return Ok(vec![Section { says, ..Section::default() }]);
    }
    match step {
        "tenant" => tenant(visit),
        "policy" => policy::sections(visit).await,
        "keys" => keys::sections(visit).await,
        "prefund" => prefund(visit).await,
        "webhooks" => Ok(vec![
            receiver::section(visit).await?,
            waiting_words(visit, "webhook").await?,
            receiver::control(visit).await?,
        ]),
        "corridors" => Ok(corridors::sections_of(visit, &visit.tenant()?.policy.countries)),
        "chain" => {
            let mut sections = system::chains(visit).await?;
            sections.push(system::coins(visit).await?);
            Ok(sections)
        }
        _ => people(visit).await,
    }
}

fn tenant(visit: &Visit) -> Result<Vec<Section>, Stop> {
    let tenant = visit.tenant()?;
    let facts = vec![
        ("Name", Cell::text(&tenant.name)),
        ("Tag", Cell::id(&tenant.tag)),
        ("Tenant", Cell::id(tenant.id)),
        ("Settles in", Cell::text(tenant.policy.settlement_coin.currency().code())),
    ];
    let links = vec![(visit.href("/brand"), "Logo, colour and contact".to_owned())];
    Ok(vec![Section { facts, links, ..Section::default() }])
}

async fn prefund(visit: &Visit) -> Result<Vec<Section>, Stop> {
    let tenant = visit.tenant()?;
    let accounts = visit.console().store().shared_accounts(tenant.id).await?;
    let row = |account: &Account| {
        vec![
            Cell::text(account.code.currency().code()),
            Cell::number(account.balance()),
            Cell::number(account.available()),
        ]
    };
    let prefunds = accounts.iter().filter(|it| matches!(it.code, AccountCode::Prefund(_)));
    let rows = prefunds.map(row).collect();
    let table = Table::new("Prefund", &["Account", "Balance", "Available"], rows)
        .or("Nothing was paid in yet.");
    let (tag, coin) = (&tenant.tag, tenant.policy.settlement_coin.currency().code());
    let command = format!(
        "corridor tenants top-up --tenant {tag} --coin {coin} --amount 100000 --reference TRANSACTION --by NAME --why REASON"
    );
    let says = "Tokens that you have received are booked on the server, by the user who saw them arrive. No page of the console books money in.";
    Ok(vec![
        Section { table: Some(table), ..Section::default() },
        Section {
            title: "Top up".to_owned(),
            says: vec![says.to_owned()],
            exact: vec![("Command on the server".to_owned(), command)],
            ..Section::default()
        },
    ])
}

async fn people(visit: &Visit) -> Result<Vec<Section>, Stop> {
    let tenant = visit.tenant_id()?;
    let all = visit.console().store().users().await?;
    let of_tenant =
        all.iter().filter(|it| it.disabled_at.is_none() && it.user.scope.covers(tenant));
    let row = |user: &engine::console::StoredUser| {
        let roles: Vec<&str> = user.user.roles.iter().map(|role| role.name()).collect();
        vec![Cell::text(&user.user.login), Cell::text(roles.join(", "))]
    };
    let rows = of_tenant.map(row).collect();
    let table = Table::new("Users", &["User", "Roles"], rows).or("No user may act for the tenant.");
    let links = vec![(users::LIST.to_owned(), "Add users and change their roles".to_owned())];
    Ok(vec![Section { links, table: Some(table), ..Section::default() }])
}
