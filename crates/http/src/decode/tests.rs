//! Decoders: tables of shapes and errors.

use domain::time::Timestamp;

use super::query::{Query, flag, instant};
use super::shape::{
    AnyUuid, Day, Flag, Integer, PositiveNumber, Shape, one_of, text, text_between,
};
use super::*;

/// The violated rule, or the parsed value.
fn verdict<S: Shape>(shape: S, json: &str) -> Result<S::Out, &'static str> {
    let body = format!("{{\"f\":{json}}}");
    let mut fields = Fields::of_body(body.as_bytes()).expect("JSON");
    let value = fields.required("f", shape);
    match fields.finish(|| value) {
        Ok(value) => Ok(value),
        Err(Rejection::Faults { place: Place::Body, faults }) => Err(faults[0].rule),
        Err(other) => panic!("{other}"),
    }
}

fn fault_of<T: std::fmt::Debug>(result: Result<T, Rejection>) -> Vec<(&'static str, &'static str)> {
    match result.expect_err("must be refused") {
        Rejection::Faults { faults, .. } => {
            faults.iter().map(|fault| (fault.field, fault.rule)).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn text_is_trimmed_counted_in_characters_and_free_of_control_characters() {
    let three_to_five = text_between(3, 5);
    for (json, expected) in [
        (r#""abc""#, Ok("abc")),
        (r#""  abc\t ""#, Ok("abc")),
        (r#""বাংলা""#, Ok("বাংলা")),
        (r#""😀😀😀😀😀""#, Ok("😀😀😀😀😀")),
        (r#""ab""#, Err("string_too_short")),
        (r#""abcdef""#, Err("string_too_long")),
        (r#""a\u0000bc""#, Err("control_character")),
        (r#""a\u007fbc""#, Err("control_character")),
        (r#""a\u0085bc""#, Err("control_character")),
        (r#""a\tbc""#, Err("control_character")),
        (r#""a\nbc""#, Err("control_character")),
        ("5", Err("string_type")),
        ("{}", Err("string_type")),
        ("null", Err("missing")),
        (r#""""#, Err("missing")),
        (r#"" \n ""#, Err("missing")),
    ] {
        assert_eq!(
            verdict(three_to_five, json).as_deref().map_err(|rule| *rule),
            expected,
            "{json}"
        );
    }
    assert_eq!(verdict(text(20).multiline(), r#""a\n\tb""#).as_deref(), Ok("a\n\tb"));
    assert_eq!(verdict(text(20).multiline(), r#""a\rb""#), Err("control_character"));
}

#[test]
fn numbers_are_json_numbers_exact_and_positive() {
    for (json, expected) in [
        ("500", Ok("500")),
        ("9007199254740993", Ok("9007199254740993")),
        ("0.000000000001", Ok("0.000000000001")),
        ("1e2", Ok("100")),
        ("\"500\"", Err("decimal_type")),
        ("true", Err("decimal_type")),
        ("[1]", Err("decimal_type")),
        ("0", Err("greater_than")),
        ("-1", Err("greater_than")),
        ("1e999999999999", Err("decimal_max_digits")),
        ("123456789012345678901", Err("decimal_max_digits")),
        ("0.0000000000001", Err("decimal_max_digits")),
    ] {
        assert_eq!(
            verdict(PositiveNumber, json).map(|n| n.to_string()),
            expected.map(str::to_owned),
            "{json}"
        );
    }
}

#[test]
fn the_other_shapes_name_the_rule_that_is_broken() {
    let colour = || one_of(&["red", "blue", "grey"], |name| name);
    assert_eq!(verdict(colour(), "\"blue\""), Ok("blue"));
    assert_eq!(verdict(colour(), "\"Blue\""), Err("enum"));
    assert_eq!(verdict(colour(), "1"), Err("enum"));
    assert_eq!(verdict(Flag, "true"), Ok(true));
    assert_eq!(verdict(Flag, "\"true\""), Err("bool_type"));
    assert_eq!(verdict(Flag, "1"), Err("bool_type"));
    let hours = Integer { min: 1, max: 720 };
    for (number, read) in [("24", 24), ("24.0", 24), ("1e2", 100), ("1.20E1", 12)] {
        assert_eq!(verdict(hours, number), Ok(read), "{number}");
    }
    assert_eq!(verdict(hours, "1e9"), Err("less_than_equal"));
    assert_eq!(verdict(hours, "0"), Err("greater_than_equal"));
    assert_eq!(verdict(hours, "721"), Err("less_than_equal"));
    assert_eq!(verdict(hours, "99999999999999999999"), Err("less_than_equal"));
    assert_eq!(verdict(hours, "1.5"), Err("int_parsing"));
    assert_eq!(verdict(hours, "\"24\""), Err("int_type"));
    assert!(verdict(AnyUuid, "\"6f0c7ac6-53b5-4d3a-9d9e-0123456789ab\"").is_ok());
    assert_eq!(verdict(AnyUuid, "\"6f0c7ac653b54d3a9d9e0123456789ab\""), Err("uuid_parsing"));
    assert_eq!(verdict(AnyUuid, "\"zf0c7ac6-53b5-4d3a-9d9e-0123456789ab\""), Err("uuid_parsing"));
    assert_eq!(verdict(AnyUuid, "7"), Err("uuid_type"));
    assert_eq!(
        verdict(Day, "\"2024-02-29\"").map(|day| day.to_string()),
        Ok("2024-02-29".to_owned())
    );
    for wrong in [
        "\"2023-02-29\"",
        "\"2024-2-9\"",
        "\"20240229\"",
        "\"2024-02-29T00:00:00\"",
        "\"+024-02-29\"",
    ] {
        assert_eq!(verdict(Day, wrong), Err("date_parsing"), "{wrong}");
    }
    assert_eq!(verdict(Day, "20240229"), Err("date_type"));
}

#[test]
fn an_enum_error_names_the_accepted_values() {
    let body = br#"{"f":"green"}"#;
    let mut fields = Fields::of_body(body).expect("JSON");
    let value = fields.required("f", one_of(&["red", "blue", "grey"], |name| name));
    let Err(Rejection::Faults { faults, .. }) = fields.finish(|| value) else {
        panic!("must be refused")
    };
    assert_eq!(faults[0].context, [("expected", "'red', 'blue' or 'grey'".to_owned())]);
    assert_eq!(faults[0].message, "Input should be 'red', 'blue' or 'grey'");
}

#[test]
fn every_error_is_reported_at_once_in_field_order() {
    let mut fields = Fields::of_body(br#"{"c":7,"a":"","x":1,"o":{"n":0}}"#).expect("JSON");
    let a = fields.required("a", text(5));
    let b = fields.required("b", text(5));
    let c = fields.optional("c", text(5));
    let mut nested = fields.object("o").expect("an object");
    let n = nested.required("o.n", PositiveNumber);
    fields.absorb(nested);
    let p = fields.object("p");
    assert!(
        fields.has_faults()
            && (a, b, c, n.is_none(), p.is_none()) == (None, None, None, true, true)
    );
    assert_eq!(
        fault_of(fields.finish(|| Some(()))),
        [
            ("a", "missing"),
            ("b", "missing"),
            ("c", "string_type"),
            ("o.n", "greater_than"),
            ("p", "missing")
        ]
    );
}

#[test]
fn blank_is_absent_unless_the_specification_sets_a_minimum() {
    let mut fields =
        Fields::of_body(br#"{"note":"  ","external_id":"","absent":null}"#).expect("JSON");
    assert_eq!(fields.optional("note", text(9)), None);
    assert_eq!(fields.optional("absent", text_between(1, 9)), None);
    assert_eq!(fields.optional("external_id", text_between(1, 9)), None);
    assert_eq!(fault_of(fields.finish(|| Some(()))), [("external_id", "string_too_short")]);
}

#[test]
fn a_body_must_be_one_json_object() {
    assert_eq!(Fields::of_body(b" \n").expect_err("blank"), Rejection::NoBody);
    assert_eq!(Fields::of_body(b"[1]").expect_err("array"), Rejection::NotAnObject);
    assert!(
        matches!(Fields::of_body(b"{\"a\":1,\"a\":1}"), Err(Rejection::Json(error)) if error.offset == 7)
    );
}

fn one_parameter(raw: &str) -> Result<String, Rejection> {
    let mut query = Query::of(Some(raw));
    let value = query.required("f", |name, given| text(9).read_str(name, given));
    query.finish(|| value)
}

#[test]
fn query_strings_are_decoded_strictly() {
    for (raw, expected) in
        [("f=a%20b+c", "a b c"), ("g=1&f=%C3%A9", "é"), ("&&f=x&", "x"), ("%66=x", "x")]
    {
        assert_eq!(one_parameter(raw).as_deref(), Ok(expected), "{raw}");
    }
    for (raw, rule) in [
        ("", "missing"),
        ("f", "missing"),
        ("f=", "missing"),
        ("f=+%E2%80%8B", "missing"),
        ("f=%", "url_encoding"),
        ("f=%4", "url_encoding"),
        ("f=%zz", "url_encoding"),
        ("f=%+1", "url_encoding"),
        ("f=%FF", "url_encoding"),
        ("f=%ED%A0%80", "url_encoding"),
        ("f=%00", "control_character"),
        ("f=a&f=a", "multiple_values"),
        ("f=1234567890", "string_too_long"),
    ] {
        assert_eq!(fault_of(one_parameter(raw)), [("f", rule)], "{raw}");
    }
}

#[test]
fn instants_are_read_with_and_without_offset() {
    let noon = Timestamp(1_767_268_800_000_000);
    for text in [
        "2026-01-01T12:00:00Z",
        "2026-01-01t12:00:00z",
        "2026-01-01 12:00:00",
        "2026-01-01T12:00:00",
        "2026-01-01T12:00:00.000000999Z",
        "2026-01-01T17:00:00+05:00",
        "2026-01-01T17:30:00 05:30",
        "2025-12-31T23:00:00-13:00",
        "2026-01-01T11:59:60Z",
        "2026-01-01T12:00Z",
        "2026-01-01T12:00",
        "2026-01-01T17:00+05:00",
        "2026-01-01T12:00:00.000000+0000",
        "2026-01-01T17:00:00+0500",
        "2026-01-01T17:00:00+05",
        "2026-01-01T17:00:00.000 0500",
    ] {
        assert_eq!(instant("f", text), Ok(noon), "{text}");
    }
    assert_eq!(instant("f", "1969-12-31T23:59:59.5Z"), Ok(Timestamp(-500_000)));
    for wrong in [
        "",
        "2026-01-01T",
        "2026-01-01Z",
        "2026-01-01T12Z",
        "2026-01-01T12:0Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T12:60:00Z",
        "2026-13-01T12:00:00Z",
        "2026-02-30T12:00:00Z",
        "2026-01-01T12:00:00.Z",
        "2026-01-01T12:00:00+5",
        "2026-01-01T12:00:00+050",
        "2026-01-01T12:00:00+05:0",
        "2026-01-01T12:00:00+24:00",
        "2026-01-01T12:00:00+2400",
        "2026-01-01T12:00:00ZZ",
        "1767268800",
        "２026-01-01T12:00:00Z",
    ] {
        assert_eq!(
            instant("f", wrong).map_err(|fault| fault.rule),
            Err("datetime_parsing"),
            "{wrong}"
        );
    }
    for (wrong, is_formed) in [
        ("2026-02-29", true),
        ("2026-11-29T25:00:00Z", true),
        ("2026-11-29T12:00:00+24:00", true),
        ("2026-2-9", false),
        ("2026-11-29T", false),
        ("29.11.2026", false),
    ] {
        let fault = instant("f", wrong).expect_err("refused");
        let says = format!("{:?}", fault.context);
        assert_eq!(says.contains("no such date or time"), is_formed, "{wrong}: {says}");
        assert_eq!(says.contains("not of the form"), !is_formed, "{wrong}: {says}");
    }
}

#[test]
fn a_bare_date_is_its_midnight_and_what_is_too_late_is_the_last_instant() {
    assert_eq!(instant("f", "2026-01-01"), Ok(Timestamp(1_767_225_600_000_000)));
    assert_eq!(instant("f", "1969-12-31"), Ok(Timestamp(-86_400_000_000)));
    let last = instant("f", "9999-12-31T23:59:59.999Z").expect("an instant");
    assert_eq!(last.to_string(), "9999-12-31T23:59:59.999Z");
    for late in
        ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-05:00"]
    {
        assert_eq!(instant("f", late), Ok(last), "{late}");
    }
    assert!(instant("f", "9999-12-31").expect("an instant") < last);
    // The greatest and least dates of JavaScript and Java; an unencoded `+` was trimmed as a space.
    for late in [
        "+275760-09-13T00:00:00.000Z",
        "275760-09-13T00:00:00.000Z",
        "+999999999-12-31T23:59:59.999999999-18:00",
        "+10000-02-29",
    ] {
        assert_eq!(instant("f", late), Ok(last), "{late}");
    }
    let first = instant("f", "0000-01-01").expect("an instant");
    for early in [
        "-271821-04-20T00:00:00.000Z",
        "-999999999-01-01T00:00:00+18:00",
        "-0001-12-31T23:59:59Z",
        "0000-01-01T00:00:00+05:00",
    ] {
        assert_eq!(instant("f", early), Ok(first), "{early}");
    }
    for wrong in [
        "+2026-01-01",
        "+002026-01-01",
        "02026-01-01",
        "-0000-01-01",
        "-26-01-01",
        "+275760-13-01",
        "+275760",
        "12026-01-01T25:00Z",
    ] {
        assert!(instant("f", wrong).is_err(), "{wrong}");
    }
    assert_eq!(
        instant("f", "0001-01-01T00:00:00Z").map(|it| it.to_string()),
        Ok("0001-01-01T00:00:00.000Z".to_owned())
    );
}

#[test]
fn names_that_look_like_ours_and_pairs_without_end_are_refused() {
    assert_eq!(fault_of(one_parameter("F=x")), [("f", "missing"), ("f", "extra_forbidden")]);
    let read = |raw: &str| {
        let mut query = Query::of(Some(raw));
        let status = query
            .list("status", 3, |name, given| one_of(&["a"], |name| name).read_str(name, given));
        let limit = query.optional("limit", |name, given| text(9).read_str(name, given));
        query.finish(|| Some((status, limit)))
    };
    for (raw, field) in [
        ("statuss=a", "status"),
        ("limit[]=1", "limit"),
        ("Limit=1", "limit"),
        ("states=a", "status"),
    ] {
        assert_eq!(fault_of(read(raw)), [(field, "extra_forbidden")], "{raw}");
    }
    for blank in ["limit=", "limit", "limit=%20&status="] {
        assert_eq!(read(blank), Ok((vec![], None)), "{blank}");
    }
    let told = match read("Limit=1") {
        Err(Rejection::Faults { faults, .. }) => faults[0].message.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(told, "Unknown parameter Limit; did you mean limit?");
    assert_eq!(read("trace=1&x=2&status[0]=a&limit=3"), Ok((vec!["a"], Some("3".to_owned()))));
    let many = |count: usize| vec!["x=1"; count].join("&");
    assert!(read(&many(128)).is_ok());
    assert_eq!(fault_of(read(&many(129))), [("", "too_long")]);
}

#[test]
fn a_name_in_other_case_is_meant_before_one_that_resembles_it() {
    for known in [["start_ts", "status"], ["status", "start_ts"]] {
        let mut query = Query::of(Some("Status=a"));
        for name in known {
            query.optional(name, |name, given| text(9).read_str(name, given));
        }
        assert_eq!(fault_of(query.finish(|| Some(()))), [("status", "extra_forbidden")]);
    }
}

#[test]
fn flags_of_a_query_read_as_pydantic_reads_them() {
    for (text, expected) in
        [("true", true), ("TRUE", true), ("1", true), ("on", true), ("false", false), ("0", false)]
    {
        assert_eq!(flag("f", text), Ok(expected));
    }
    assert_eq!(flag("f", "maybe").map_err(|fault| fault.rule), Err("bool_parsing"));
    assert_eq!(flag("f", "").map_err(|fault| fault.rule), Err("bool_parsing"));
}

#[test]
fn a_list_is_repeated_or_separated_by_commas_and_bounded() {
    let read = |raw: &str| {
        let mut query = Query::of(Some(raw));
        let values = query
            .list("s", 3, |name, given| one_of(&["a", "b"], |name| name).read_str(name, given));
        query.finish(|| Some(values))
    };
    assert_eq!(read("s=a&s=b,a"), Ok(vec!["a", "b", "a"]));
    assert_eq!(read("s[]=a&s%5B%5D=b&s[7]=a"), Ok(vec!["a", "b", "a"]));
    assert_eq!(read("s=&x=1"), Ok(vec![]));
    assert_eq!(fault_of(read("s=a,a,a,a")), [("s", "too_long")]);
    assert_eq!(fault_of(read("s=c,d")), [("s", "enum")]);
    assert_eq!(fault_of(read("s=%FF")), [("s", "url_encoding")]);
}

#[test]
fn ids_in_a_path_are_judged_there() {
    assert!(path::uuid("6f0c7ac6-53b5-4d3a-9d9e-0123456789ab").is_ok());
    assert!(matches!(path::uuid("../etc"), Err(Rejection::Faults { place: Place::Path, .. })));
    assert_eq!(fault_of(path::uuid("x")), [("id", "uuid_parsing")]);
    assert_eq!(path::external_id("INV-2026/17").as_deref(), Ok("INV-2026/17"));
    assert_eq!(fault_of(path::external_id(&"x".repeat(129))), [("id", "string_too_long")]);
    assert_eq!(fault_of(path::external_id(" ")), [("id", "string_too_short")]);
}
