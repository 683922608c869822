//! OpenSanctions: `targets.simple.csv`, and FollowTheMoney entities as JSON, one per line.

use std::collections::HashSet;

use serde_json::Value;

use super::table::{nothing_above, values};
use super::{Fault, MAX_FIELD_BYTES, Part, dates, limited, table};
use crate::screening::entry::{Kind, ListEntry, ListedAddress};

/// The columns required for matching.
pub(super) const COLUMNS: [&str; 4] = ["id", "schema", "name", "aliases"];

/// The schema of a wallet. It is listed with its holder, whether it is called a target itself or not.
const WALLET: &str = "CryptoWallet";

/// When a target was last seen in its sources. The latest of a list is its edition's date; the
/// latest change would go back when the target that changed last is delisted.
const EDITION: &str = "last_seen";

pub(super) fn read_csv(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("OPENSANCTIONS");
    table::read(&mut part, (text, b','), &COLUMNS, nothing_above, |part, row| {
        limited(&part.entries, row.line)?;
        let field = |column: &str| row.field(column);
        let Some(kind) = kind(field("schema")) else { return Ok(()) };
        let seen = field(EDITION).get(..10).and_then(dates::day);
        part.published = part.published.max(seen);
        if field("id").is_empty() || field("name").is_empty() {
            part.unreadable.push(Fault::new(row.line, "a target without id or name"));
            return Ok(());
        }
        let mut entry = ListEntry::new(field("id"), kind, field("name"));
        values(field("aliases")).iter().for_each(|alias| entry.add_name(alias, false));
        entry
            .births
            .extend(values(field("birth_date")).iter().filter_map(|born| dates::birth(born)));
        for code in values(field("countries")) {
            entry.add_country_code(&code);
        }
        row.remarks().for_each(|remark| entry.add_addresses_in(remark));
        part.entries.push(entry);
        Ok(())
    })?;
    Ok(part)
}

pub(super) fn read_json_lines(text: &str) -> Result<Part, Fault> {
    let mut part = Part::new("OPENSANCTIONS");
    let (is_open, last) = (!text.ends_with(['\n', '\r']), text.lines().next_back());
    // A holder may follow its wallet.
    let (mut targets, mut wallets) = (HashSet::new(), Vec::new());
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        limited(&part.entries, line)?;
        let entity: Value = match serde_json::from_str(text) {
            Ok(entity) => entity,
            Err(error) if error.is_eof() && is_open && Some(text) == last => {
                part.unreadable.push(Fault::cut(line));
                continue;
            }
            Err(error) => {
                part.unreadable.push(Fault::new(line, format!("is not JSON: {error}")));
                continue;
            }
        };
        // Addresses, sanctions and family ties are entities of their own; an entity only linked to
        // a target is not a target, unless it is the target's wallet.
        let Some(kind) = entity["schema"].as_str().and_then(kind) else {
            if !entity["schema"].is_string() {
                part.unreadable.push(Fault::new(line, "an entity without schema"));
            }
            continue;
        };
        let seen = entity[EDITION].as_str().and_then(|text| text.get(..10)).and_then(dates::day);
        part.published = part.published.max(seen);
        if entity["target"] != Value::Bool(false) {
            let mut read = self::entity(&entity, kind, line);
            if let Ok(entry) = &mut read {
                targets.insert(entry.uid.clone());
                entry.add_addresses_in(text);
            }
            part.take(read);
        } else if entity["schema"] == WALLET {
            wallets.push((line, holders(&entity), self::entity(&entity, kind, line)));
        }
    }
    for (line, holders, read) in wallets {
        if holders.iter().any(|holder| targets.contains(holder)) {
            limited(&part.entries, line)?;
            part.take(read);
        }
    }
    Ok(part)
}

/// The ids of a wallet's holders, which some files contain whole.
fn holders(wallet: &Value) -> Vec<String> {
    let holders = wallet["properties"]["holder"].as_array().into_iter().flatten();
    let ids = holders.filter_map(|holder| holder.as_str().or_else(|| holder["id"].as_str()));
    ids.map(str::to_owned).collect()
}

fn entity(entity: &Value, kind: Kind, line: u64) -> Result<ListEntry, Fault> {
    let texts = |property: &str| {
        let values = entity["properties"][property].as_array().into_iter().flatten();
        values
            .filter_map(Value::as_str)
            .filter(|text| text.len() <= MAX_FIELD_BYTES)
            .collect::<Vec<_>>()
    };
    let (id, caption) =
        (entity["id"].as_str().unwrap_or(""), entity["caption"].as_str().unwrap_or(""));
    let names = texts("name");
    let mut primary =
        if names.contains(&caption) { caption } else { names.first().copied().unwrap_or(caption) };
    let keys = texts("publicKey");
    // A wallet is often named by its address alone.
    if let Some(key) = keys.first().copied().filter(|_| primary.is_empty()) {
        primary = key;
    }
    if id.is_empty() || primary.is_empty() {
        return Err(Fault::new(line, "an entity without id or name"));
    }
    let mut entry = ListEntry::new(id, kind, primary);
    for property in ["name", "alias", "previousName"] {
        texts(property).into_iter().for_each(|name| entry.add_name(name, false));
    }
    texts("weakAlias").into_iter().for_each(|name| entry.add_name(name, true));
    entry.births.extend(texts("birthDate").into_iter().filter_map(dates::birth));
    for property in ["nationality", "citizenship", "country", "jurisdiction"] {
        for code in texts(property) {
            entry.add_country_code(code);
        }
    }
    let asset = texts("currency").first().map_or_else(String::new, |asset| (*asset).to_owned());
    for address in keys {
        entry.addresses.push(ListedAddress { asset: asset.clone(), address: address.to_owned() });
    }
    Ok(entry)
}

/// The kind of a schema; `None` for one that is not listed by itself.
fn kind(schema: &str) -> Option<Kind> {
    Some(match schema {
        "Person" => Kind::Person,
        "Organization" | "Company" | "LegalEntity" | "PublicBody" | "Asset" => Kind::Organisation,
        "Vessel" | "Airplane" | "Vehicle" | WALLET => Kind::Craft,
        _ => return None,
    })
}
