//! Compares the document of Wallet Service v1 with the code: operations, decoders, refusals,
//! renderings.

mod answers;
mod codes;
mod requests;

use super::super::WALLET;
use super::*;
use crate::wallet_v1::operations;

pub(super) fn wallet_document() -> Value {
    serde_json::from_str(WALLET).expect("the document is JSON")
}

#[test]
fn every_reference_resolves_and_every_component_is_referred_to() {
    check_references(&wallet_document());
}

#[test]
fn the_operations_are_those_of_the_table() {
    let document = wallet_document();
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .expect("an object")
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("an object").keys();
            methods.map(|method| (path.clone(), method.to_uppercase())).collect::<Vec<_>>()
        })
        .collect();
    let served = operations::ALL
        .iter()
        .map(|operation| (operation.path.to_owned(), operation.method.to_string()));
    assert_eq!(described, served.collect());
    assert_eq!(described.len(), 22);
}

#[test]
fn every_row_of_the_table_has_its_route() {
    let source = include_str!("../../../wallet_v1/routes.rs");
    let mounted: BTreeSet<&str> = source
        .split("mount(router, &operations::")
        .skip(1)
        .filter_map(|rest| rest.split(',').next())
        .collect();
    let table = include_str!("../../../wallet_v1/operations.rs");
    let rows = operations::ALL.iter().map(|operation| {
        let (before, _) = table.split_once(&format!(" = \"{}\"", operation.name)).expect("a row");
        before.rsplit(char::is_whitespace).next().unwrap_or_default()
    });
    assert_eq!(mounted, rows.collect());
}

#[test]
fn links_and_path_parameters_name_what_there_is() {
    check_operations(&wallet_document());
}

#[test]
fn the_events_are_the_webhooks_and_each_names_its_receivers_path() {
    let document = wallet_document();
    let hooks = document["webhooks"].as_object().expect("an object");
    let kinds = domain::wallet_event::WalletEventKind::ALL;
    assert_eq!(
        hooks.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        kinds.map(|kind| kind.name()).into()
    );
    for kind in kinds {
        let told = hooks[kind.name()]["post"]["description"].as_str().expect("text");
        assert!(told.contains(&format!("/webhooks/wallet/{}.", kind.segment())), "{told}");
    }
}

#[test]
fn the_limits_of_rates_are_those_of_the_windows() {
    let document = wallet_document();
    let told = document["info"]["description"].as_str().expect("text");
    let limits = crate::wallet_groups::GroupLimits::default();
    for words in [
        format!("wallets {}", limits.wallets),
        format!("payment requests {}", limits.payment_requests),
        format!("orders {}", limits.orders),
        format!("transactions {}", limits.transactions),
        format!("everything else {}", limits.additions),
    ] {
        assert!(told.contains(&words), "{words}");
    }
}
