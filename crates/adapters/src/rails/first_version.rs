//! First versions of messages, in the form of their successors: pain.002.001.02, pacs.002.001.02,
//! pacs.004.001.01, camt.029.001.01, and version 01 of camt.052, camt.053 and camt.054. Pure functions.

use super::xml_read::Element;

/// Names of elements that were changed: reasons and their texts, and the charges of a return.
const RENAMED: [(&str, &str); 8] = [
    ("ChrgsAmt", "Amt"),
    ("ChrgsPty", "Agt"),
    ("StsRsn", "Rsn"),
    ("AddtlStsRsnInf", "AddtlInf"),
    ("RtrRsn", "Rsn"),
    ("AddtlRtrRsnInf", "AddtlInf"),
    ("CxlStsRsn", "Rsn"),
    ("AddtlCxlStsRsnInf", "AddtlInf"),
];
/// Forms of an account's id that became `Othr/Id`; `PrtryAcct` has its own `Id`.
const ACCOUNT_IDS: [&str; 2] = ["BBAN", "UPIC"];

/// A message of a first version as its successor would state it.
pub(super) fn upgrade(element: &Element) -> Element {
    let mut upgraded = Element {
        name: renamed(&element.name).to_owned(),
        text: element.text.clone(),
        currency: element.currency.clone(),
        children: element.children.iter().map(upgrade).collect(),
    };
    match element.name.as_str() {
        "Ntry" => gather(&mut upgraded.children, &["Btch", "TxDtls"], "NtryDtls"),
        "Bal" => {
            if let Some(kind) = upgraded.children.iter_mut().find(|child| child.name == "Tp") {
                gather(&mut kind.children, &["Cd", "Prtry"], "CdOrPrtry");
            }
        }
        "Acct" => {
            if let Some(id) = upgraded.children.iter_mut().find(|child| child.name == "Id") {
                id.children.iter_mut().for_each(upgrade_account);
            }
        }
        _ => {}
    }
    upgraded
}

fn renamed(name: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// Moves the children with these names into an element of their own.
fn gather(children: &mut Vec<Element>, names: &[&str], into: &str) {
    let (moved, kept): (Vec<_>, Vec<_>) =
        std::mem::take(children).into_iter().partition(|it| names.contains(&it.name.as_str()));
    *children = kept;
    if !moved.is_empty() {
        children.push(Element { name: into.to_owned(), children: moved, ..Element::default() });
    }
}

fn upgrade_account(id: &mut Element) {
    if ACCOUNT_IDS.contains(&id.name.as_str()) {
        let text = std::mem::take(&mut id.text);
        id.children.push(Element { name: "Id".to_owned(), text, ..Element::default() });
        "Othr".clone_into(&mut id.name);
    } else if id.name == "PrtryAcct" {
        "Othr".clone_into(&mut id.name);
    }
}
