//! Compares the errors in the document with those in the source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;

/// The response component of each status, and the code that creates this response.
const MAKERS: [(&str, &str); 12] = [
    ("BadRequest", "Problem::bad_request("),
    ("Forbidden", "Problem::forbidden("),
    ("Unauthorized", "Problem::new(StatusCode::UNAUTHORIZED,"),
    ("NotFound", "Problem::new(StatusCode::NOT_FOUND,"),
    ("MethodNotAllowed", "Problem::new(StatusCode::METHOD_NOT_ALLOWED,"),
    ("Conflict", "Problem::conflict("),
    ("Conflict", "Problem::new(StatusCode::CONFLICT,"),
    ("RequestTimeout", "Problem::new(StatusCode::REQUEST_TIMEOUT,"),
    ("BodyTooLarge", "Problem::new(StatusCode::PAYLOAD_TOO_LARGE,"),
    ("UnsupportedMediaType", "Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE,"),
    ("TooManyRequests", "Problem::new(StatusCode::TOO_MANY_REQUESTS,"),
    ("Unavailable", "Problem::new(StatusCode::SERVICE_UNAVAILABLE,"),
];

fn read(crate_path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(crate_path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sources of Wallet Service v1.
const WALLETS: [&str; 3] = ["payment_request", "wallet", "exchange"];

/// Every source file below a directory, without tests and the `skipped` ones.
pub(super) fn sources(directory: &Path, skipped: &[&str], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
    {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if skipped.contains(&name.trim_end_matches(".rs")) {
            continue;
        }
        if entry.is_dir() && name != "tests" {
            sources(&entry, skipped, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&entry).expect("a source file");
            let text = text.replace("#[cfg(test)]\nmod tests;\n", "");
            found.push(text.split("#[cfg(test)]").next().unwrap_or_default().to_owned());
        }
    }
}

/// The string literal at the start of `rest`, if any.
pub(super) fn literal(rest: &str) -> Option<&str> {
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// The text after the first comma that is not inside brackets.
pub(super) fn second_argument(call: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in call.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => return Some(&call[at + 1..]),
            _ => {}
        }
    }
    None
}

pub(super) fn listed(schema: &Value) -> BTreeSet<&str> {
    schema["enum"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn the_codes_of_each_status_are_those_of_the_source() {
    let mut texts =
        ["problem/mod", "auth/fault", "json_body"].map(|it| read(&format!("src/{it}.rs"))).to_vec();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/payments_v2"), &WALLETS, &mut texts);
    // Wallet Service v1 has its own errors.
    // However lines are broken.
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    texts.iter_mut().for_each(|text| {
        *text = joined(text).replace("( ", "(").replace("WalletProblem", "Wallet")
    });
    let mut made: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (text, (name, maker)) in
        texts.iter().flat_map(|text| MAKERS.iter().map(move |maker| (text, maker)))
    {
        made.entry(name).or_default().extend(text.split(maker).skip(1).filter_map(literal));
    }
    // Created in code that the scan does not recognize.
    made.insert("InternalError", BTreeSet::from(["internal_error"]));
    assert!(texts[0].contains("\"internal_error\""));
    let document = document();
    for (name, codes) in made {
        let schema =
            &document["components"]["schemas"][name]["properties"]["detail"]["properties"]["code"];
        assert_eq!(listed(schema), codes, "{name}");
    }
}

#[test]
fn each_operation_lists_codes_that_there_are() {
    let document = document();
    let all = listed(
        &document["components"]["schemas"]["BadRequest"]["properties"]["detail"]["properties"]["code"],
    );
    let mut told = BTreeSet::new();
    for operation in document["paths"]
        .as_object()
        .expect("an object")
        .values()
        .flat_map(|item| item.as_object().expect("an object").values())
    {
        let words =
            operation["responses"]["400"]["description"].as_str().expect("the codes").to_owned();
        let names = words
            .split(|c: char| !c.is_ascii_lowercase() && c != '_')
            .filter(|word| word.contains('_'));
        told.extend(names.map(str::to_owned));
    }
    assert_eq!(told.iter().map(String::as_str).collect::<BTreeSet<_>>(), all);
}

/// The rules of fields in the source.
pub(super) fn field_rules() -> BTreeSet<String> {
    let mut texts = Vec::new();
    for room in ["src/decode", "src/payments_v2", "src/problem", "../domain/src", "../engine/src"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(room), &WALLETS, &mut texts);
    }
    let hidden: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.split("Fault::new(").skip(1).filter_map(second_argument))
        .filter(|rule| literal(rule).is_none())
        .filter_map(|rule| rule.split([',', ')']).next().map(str::trim))
        .collect();
    let known = ["MISSING", "rule", "rule"];
    assert_eq!(hidden, known, "write the rule in the call of Fault::new, where this test finds it");
    rules_in(&texts)
}

/// The rules of fields in these sources.
pub(super) fn rules_in(texts: &[String]) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    for text in texts {
        rules.extend(
            text.split("Fault::new(").skip(1).filter_map(second_argument).filter_map(literal),
        );
        rules.extend(
            text.split("invalid_header(").skip(1).filter_map(second_argument).filter_map(literal),
        );
        rules.extend(text.split("rule: ").skip(1).filter_map(literal));
        rules.extend(text.split("item.text(\"type\", ").skip(1).filter_map(literal));
        rules.extend(
            text.split("write_whole_body(items, ")
                .skip(1)
                .filter_map(second_argument)
                .filter_map(literal),
        );
        // A rule that depends on the field's context.
        rules.extend(text.split("meant_as_bic { ").skip(1).filter_map(literal));
    }
    rules.into_iter().map(str::to_owned).collect()
}
