//! The reader against serde_json, tables of hostile texts, and arbitrary bytes.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

#[path = "../../tests/hostile/mod.rs"]
mod hostile;

#[test]
fn every_malformed_document_is_refused_for_its_reason() {
    let mut wrong = Vec::new();
    for hostile::Malformed { body, offset, reason } in hostile::malformed_json() {
        let found = parse(&body).expect_err("must be refused");
        if (found.offset, found.kind.to_string()) != (offset, reason.clone()) {
            let text = String::from_utf8_lossy(&body).into_owned();
            wrong.push(format!("{text:.80}: {found}, not {reason} at byte {offset}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is written about people reads back as it was, and hides nothing on its way.
#[test]
fn hostile_texts_survive() {
    for (name, text) in hostile::texts() {
        let document = crate::write::object(|out| out.text("t", &text));
        let read = parse(&document).expect("valid").into_object().expect("an object");
        assert_eq!(read.get("t").and_then(Value::as_str), Some(text.as_str()), "{name}");
    }
}

fn refused(text: &[u8]) -> (usize, JsonErrorKind) {
    let error = parse(text).expect_err("must be refused");
    (error.offset, error.kind)
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn documents_are_read_as_they_stand() {
    let read = parse(br#" {"a":1.50,"b":[true,false,null],"c":"x\n\u00e9\ud83d\ude00","d":{}} "#)
        .expect("valid");
    let object = read.into_object().expect("an object");
    assert_eq!(object.get("a"), Some(&Value::Number("1.50")));
    assert_eq!(
        object.get("b"),
        Some(&Value::Array(vec![Value::Bool(true), Value::Bool(false), Value::Null]))
    );
    assert_eq!(object.get("c").and_then(Value::as_str), Some("x\né😀"));
    assert_eq!(object.get("d"), Some(&Value::Object(Object::default())));
    assert_eq!(object.get("e"), None);
    assert_eq!(object.members().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
}

#[test]
fn text_without_escapes_is_borrowed() {
    assert!(matches!(parse("\"Zoë\"".as_bytes()), Ok(Value::String(Cow::Borrowed("Zoë")))));
}

#[test]
fn numbers_keep_every_digit() {
    for number in
        ["0", "-0", "9007199254740993", "1e999999999999", "-1.5E+7", "0.000000000000000001"]
    {
        assert_eq!(parse(number.as_bytes()), Ok(Value::Number(number)));
    }
}

#[test]
fn what_is_not_strict_json_is_refused_with_its_place() {
    use JsonErrorKind::*;
    let table: &[(&[u8], usize, JsonErrorKind)] = &[
        (b"", 0, UnexpectedEnd),
        (b"   ", 3, UnexpectedEnd),
        (b"{", 1, UnexpectedEnd),
        (b"[1,", 3, UnexpectedEnd),
        (b"\"abc", 4, UnexpectedEnd),
        (b"\"\\", 1, UnexpectedEnd),
        (b"\"\\u12", 1, UnexpectedEnd),
        (b"tru", 3, UnexpectedEnd),
        (b"trux", 3, Unexpected),
        (b"{,}", 1, Unexpected),
        (b"{\"a\":1,}", 7, Unexpected),
        (b"{\"a\" 1}", 5, Unexpected),
        (b"{a:1}", 1, Unexpected),
        (b"{'a':1}", 1, Unexpected),
        (b"[1 2]", 3, Unexpected),
        (b"[1,]", 3, Unexpected),
        (b"// x\n1", 0, Unexpected),
        (b"\x0c1", 0, Unexpected),
        (b"NaN", 0, MalformedNumber),
        (b"Infinity", 0, MalformedNumber),
        (b"[-Infinity]", 1, MalformedNumber),
        (b"01", 0, MalformedNumber),
        (b"+1", 0, MalformedNumber),
        (b".5", 0, MalformedNumber),
        (b"5.", 0, MalformedNumber),
        (b"1e", 0, MalformedNumber),
        (b"1e+", 0, MalformedNumber),
        (b"-", 0, MalformedNumber),
        (b"0x10", 0, MalformedNumber),
        (b"1_000", 0, MalformedNumber),
        (b"1.2.3", 0, MalformedNumber),
        (b"\"a\nb\"", 2, ControlCharacter),
        (b"\"\x00\"", 1, ControlCharacter),
        (b"\"\\x41\"", 1, InvalidEscape),
        (b"\"\\u12g4\"", 1, InvalidEscape),
        (b"\"\\ud800\"", 1, LoneSurrogate),
        (b"\"\\udc00\"", 1, LoneSurrogate),
        (b"\"a\\ud800\\u0041\"", 2, LoneSurrogate),
        (b"{\"a\":1,\"a\":2}", 7, DuplicateMember),
        (b"{\"a\":1,\"\\u0061\":2}", 7, DuplicateMember),
        (b"[{\"x\":{\"b\":1,\"b\":1}}]", 13, DuplicateMember),
        (b"{} {}", 3, TrailingData),
        (b"1,", 1, TrailingData),
        (b"null\x00", 4, TrailingData),
        (b"\xEF\xBB\xBF{}", 0, ByteOrderMark),
        (b"\xFF\xFE{\x00}\x00", 0, NotUtf8),
        (b"\"a\xC3\"", 2, NotUtf8),
        (b"\"\xED\xA0\x80\"", 1, NotUtf8),
        (b"\"\xC0\xAF\"", 1, NotUtf8),
    ];
    for (text, offset, kind) in table {
        assert_eq!(refused(text), (*offset, *kind), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn nesting_ends_at_the_limit() {
    assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
    assert_eq!(refused(nested(DEPTH_MAX + 1).as_bytes()), (DEPTH_MAX, JsonErrorKind::TooDeep));
    assert_eq!(refused("[".repeat(60_000).as_bytes()), (DEPTH_MAX, JsonErrorKind::TooDeep));
}

#[test]
fn a_duplicate_is_found_among_thousands_of_names() {
    let names: Vec<String> = (0..9_000).map(|n| format!("\"k{n}\":{n}")).collect();
    assert!(parse(format!("{{{}}}", names.join(",")).as_bytes()).is_ok());
    let doubled = format!("{{{},\"k17\":0}}", names.join(","));
    assert_eq!(refused(doubled.as_bytes()).1, JsonErrorKind::DuplicateMember);
}

fn same(ours: &Value<'_>, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(a), serde_json::Value::Bool(b)) => a == b,
        (Value::Number(a), serde_json::Value::Number(b)) => {
            serde_json::from_str::<serde_json::Number>(a).is_ok_and(|a| a == *b)
        }
        (Value::String(a), serde_json::Value::String(b)) => a == b,
        (Value::Array(a), serde_json::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), serde_json::Value::Object(b)) => {
            a.members().count() == b.len()
                && a.members().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}

fn documents() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
            prop::collection::hash_map(any::<String>(), inner, 0..8)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn valid_documents_read_as_serde_json_reads_them(document in documents(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.expect("writes");
        let ours = parse(text.as_bytes()).expect("valid");
        let theirs: serde_json::Value = serde_json::from_str(&text).expect("valid");
        prop_assert!(same(&ours, &theirs), "{text}");
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_what_passes_is_json(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if parse(&bytes).is_ok() {
            prop_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok());
        }
    }

    #[test]
    fn text_that_looks_like_json_is_judged_as_serde_json_judges_it(
        text in r#"([\[\]{},: ]|"a"|"b"|"\\u00e9"|"\\ud83d"|"\\n"|true|null|-?[0-9]{1,3}(\.[0-9])?|1e-5|01|\.5|NaN|\t){0,12}"#
    ) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match parse(text.as_bytes()) {
            Ok(ours) => prop_assert!(theirs.is_ok_and(|theirs| same(&ours, &theirs)), "{text}"),
            Err(JsonError { kind: JsonErrorKind::DuplicateMember, .. }) => {}
            Err(_) => prop_assert!(theirs.is_err(), "{text}"),
        }
    }
}
