//! Documents of each form, as publishers really shape them, and documents that are no rates.

use domain::ports::Mid;

use super::super::sheet::{self, Sheet, SheetError};
use super::*;

pub(super) fn read_as(
    text: &str,
    form: Option<Form>,
    shape: &JsonShape,
) -> Result<Sheet, SheetError> {
    sheet::read(text.as_bytes(), form, shape, &Published::default(), NOW)
}

pub(super) fn read(text: &str) -> Result<Sheet, SheetError> {
    read_as(text, None, &JsonShape::default())
}

/// Pairs with mid, and bid and ask where they differ.
fn stated(sheet: &Sheet) -> Vec<String> {
    let text = |rate: &DirectRate| {
        let pair = format!("{}/{} {}", rate.base.code(), rate.quote.code(), rate.mid.rate);
        match rate.bid == rate.ask {
            true => pair,
            false => format!("{pair} {} {}", rate.bid, rate.ask),
        }
    };
    sheet.rates.iter().map(text).collect()
}

/// Form, rates, and the time of the first rate.
pub(super) type Expected = (&'static str, Form, &'static [&'static str], &'static str);

#[track_caller]
pub(super) fn assert_read((text, form, rates, as_of): Expected, shape: &JsonShape) {
    let sheet = read_as(text, None, shape).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(sheet.form, form, "{text}");
    assert_eq!(stated(&sheet), rates, "{text}");
    let as_of = as_of.parse::<jiff::Timestamp>().expect(as_of).as_microsecond();
    assert_eq!(sheet.rates[0].mid.as_of, Timestamp(as_of), "{text}");
    assert!(read_as(text, Some(form), shape).is_ok(), "the form is known: {text}");
}

#[test]
fn a_base_and_its_rates_are_found_in_any_publishers_shape() {
    let both: &[&str] = &["USD/AED 3.6725", "USD/PKR 278.75"];
    let time = "2026-11-21T06:57:48Z";
    for case in [
        r#"{"base":"USD","as_of":"2026-11-21T06:57:48Z","rates":{"AED":3.6725,"PKR":"278.75","USD":1,"XAU":1e-400}}"#,
        // With a licence, times in seconds, and currencies of no interest.
        r#"{"disclaimer":"Usage subject to terms","license":"https://x.example","timestamp":1795244268,"base":"USD",
            "rates":{"AED":3.6725,"AFN":67.9,"PKR":278.75}}"#,
        r#"{"result":"success","documentation":"https://x.example","time_last_update_unix":1795244268,
            "time_last_update_utc":"Sat, 21 Nov 2026 06:57:48 +0000","time_next_update_unix":1795330668,"time_eol_unix":0,
            "base_code":"USD","conversion_rates":{"USD":1,"AED":3.6725,"PKR":2.7875E2}}"#,
        // The time of day counts, not the date beside it.
        r#"{"success":true,"timestamp":1795244268,"base":"USD","date":"2026-11-21","rates":{"AED":"3.6725","PKR":"278.75"}}"#,
        r#"{"date":"2026-11-21 06:57:48+00","base":"USD","rates":{"AED":"3.6725","PKR":"278.75"}}"#,
        r#"{"base":"USD","results":{"AED":3.6725,"PKR":278.75},"updated":"2026-11-21 06:57:48","ms":4}"#,
        // Nested, with numbers in objects, and the time elsewhere.
        r#"{"data":{"currency":"USD","rates":{"AED":"3.6725","PKR":"278.75"},"updated_at":"2026-11-21T06:57:48Z"}}"#,
        r#"{"meta":{"last_updated_at":"2026-11-21T06:57:48Z"},"base":"usd",
            "data":{"AED":{"code":"AED","value":3.6725},"PKR":{"code":"PKR","value":278.75}}}"#,
        r#"{"base_currency_name":"Euro","base":"USD","time":"2026-11-21T06:57:48Z","rates":{"AED":3.6725,"PKR":278.75}}"#,
        // The strongest name is the base's; a publisher's name is none.
        r#"{"currency":"PKR","base":"USD","time":"2026-11-21T06:57:48Z","rates":{"AED":3.6725,"PKR":278.75}}"#,
        r#"{"source":"ECB","base":"USD","time":"2026-11-21T06:57:48Z","rates":{"AED":3.6725,"PKR":278.75}}"#,
        // A part's time that is not the day of the rates.
        r#"{"time":"2026-11-21T06:57:48Z","base":"USD","account":{"updated":"2020-01-01","created_date":"2019-01-01"},
            "rates":{"AED":3.6725,"PKR":278.75}}"#,
        r#"{"source":"CBUAE","from":"USD","time":"2026-11-21T06:57:48Z","rates":{"AED":3.6725,"PKR":278.75}}"#,
    ] {
        assert_read((case, Form::Rates, both, time), &JsonShape::default());
    }
    // When the answer was sent says nothing about rates of an earlier day.
    let old: [&str; 3] = [
        r#"{"base":"USD","date":"2026-11-18","timestamp":1795244268,"rates":{"AED":3.6725,"PKR":278.75}}"#,
        r#"{"timestamp":1795244268,"base":"USD","meta":{"date":"2026-11-18"},"rates":{"AED":3.6725,"PKR":278.75}}"#,
        r#"{"base":"USD","as_of":"2026-11-18","updated":"2026-11-21T06:57:48Z","rates":{"AED":3.6725,"PKR":278.75}}"#,
    ];
    for case in old {
        let day = "2026-11-18T00:00:00Z";
        assert_read((case, Form::Rates, both, day), &JsonShape::default());
    }
    let two = r#"{"base":"USD","base_currency":"EUR","date":"2026-11-21","rates":{"PKR":278.75}}"#;
    assert!(read(two).is_err(), "two bases");
    let source = r#"{"source":"IMF","date":"2026-11-20","rates":{"PKR":278.75}}"#;
    let usd = JsonShape { fixed_base: Some("USD".to_owned()), ..JsonShape::default() };
    let day = "2026-11-20T00:00:00Z";
    assert_read((source, Form::Rates, &["USD/PKR 278.75"], day), &usd);
    // One unit, and names that are of no units.
    let one = r#"{"base":"USD","time":"2026-11-20","currencyUnit":"1 USD","quantity_precision":8,"bidQuantity":"1200","units_traded":7,"unit_price":2,"per_page":50,
        "rates":{"PKR":278.75}}"#;
    assert_read((one, Form::Rates, &["USD/PKR 278.75"], day), &JsonShape::default());
    // A scale of one, and the form of printed numbers.
    let unscaled = r#"{"base":"USD","time":"2026-11-20","scale":1,"exp":1795244268,"decimals":4,"divisor":"1.0",
        "rates":{"PKR":{"value":278.75,"precision":2,"exponent":0},"VND":{"value":26350,"precision":2}}}"#;
    let both: &[&str] = &["USD/PKR 278.75", "USD/VND 26350"];
    assert_read((unscaled, Form::Rates, both, day), &JsonShape::default());
    let euro = r#"{"amount":1.0,"base":"EUR","date":"2026-11-20","rates":{"USD":1.0495}}"#;
    assert_read(
        (euro, Form::Rates, &["EUR/USD 1.0495"], "2026-11-20T00:00:00Z"),
        &JsonShape::default(),
    );
}

#[test]
fn pairs_are_found_by_their_names_or_in_a_list() {
    let time = "2026-11-21T06:57:48Z";
    for case in [
        r#"{"success":true,"terms":"https://x.example","timestamp":1795244268,"source":"USD",
            "quotes":{"USDAED":3.6725,"USDPKR":278.75,"USDUSD":1.0e0,"USDZMW":27.1}}"#,
        r#"{"timestamp":1795244268000,"data":{"USD/AED":"3.6725","USD/PKR":"278.75"}}"#,
        r#"{"updated":1795244268,"prices":{"usd_aed":{"rate":3.6725},"usd-pkr":{"rate":"278.75"}}}"#,
    ] {
        assert_read(
            (case, Form::Pairs, &["USD/AED 3.6725", "USD/PKR 278.75"], time),
            &JsonShape::default(),
        );
    }
    for case in [
        r#"{"endpoint":"live","requested_time":"Sat, 21 Nov 2026 06:57:48 GMT","timestamp":1795244268,
            "quotes":[{"ask":3.673,"base_currency":"USD","bid":3.672,"mid":3.6725,"quote_currency":"AED"},
                      {"ask":279,"base_currency":"USD","bid":278.5,"quote_currency":"PKR"}]}"#,
        r#"[{"symbol":"USDAED","bid":"3.672","ask":"3.673","time":"2026-11-21T06:57:48.000Z"},
            {"instrument":"USD_PKR","bid":"278.5","ask":"279","time":"2026-11-21T06:57:48.000Z"}]"#,
    ] {
        let rates: &[&str] = &["USD/AED 3.6725 3.672 3.673", "USD/PKR 278.75 278.5 279"];
        assert_read((case, Form::Pairs, rates, time), &JsonShape::default());
    }
    let named =
        r#"[{"currency":"Taka","pair":"USD/BDT","rate":119.5,"time":"2026-11-21T06:57:48Z"}]"#;
    assert_read((named, Form::Pairs, &["USD/BDT 119.5"], time), &JsonShape::default());
    let list = r#"[{"date":"2026-11-20","base":"EUR","quote":"USD","rate":1.0495},
                   {"date":"2026-11-20","base":"EUR","quote":"JPY","rate":162.1}]"#;
    assert_read(
        (list, Form::Pairs, &["EUR/USD 1.0495"], "2026-11-20T00:00:00Z"),
        &JsonShape::default(),
    );
}

#[test]
fn prices_of_stablecoins_are_found_by_id_or_code() {
    let time = "2026-11-21T06:57:48Z";
    let rates: &[&str] = &["USDT/USD 1.0002", "USDC/USD 0.9998"];
    for case in [
        r#"{"tether":{"usd":1.0002,"usd_24h_change":-0.01,"last_updated_at":1795244268},
            "usd-coin":{"usd":0.9998,"last_updated_at":1795244300},"bitcoin":{"usd":99000,"last_updated_at":1795244268}}"#,
        r#"{"status":{"timestamp":"2026-11-21T06:57:59Z","error_code":0,"error_message":null},
            "data":{"825":{"symbol":"USDT","quote":{"USD":{"price":1.0002,"last_updated":"2026-11-21T06:57:48Z"}}},
                    "3408":{"symbol":"USDC","quote":{"USD":{"price":0.9998,"last_updated":"2026-11-21T06:57:48Z"}}},
                    "1":{"symbol":"BTC","quote":{"USD":{"price":99000,"last_updated":"2026-11-21T06:57:48Z"}}}}}"#,
        r#"{"timestamp":1795244268,"USDT":{"USD":1.0002},"USDC":{"USD":"0.9998"}}"#,
    ] {
        assert_read((case, Form::Coins, rates, time), &JsonShape::default());
    }
    let sheet = read(r#"{"tether":{"usd":1,"aed":3.6731,"last_updated_at":1795244268}}"#);
    assert_eq!(stated(&sheet.expect("read")), ["USDT/USD 1", "USDT/AED 3.6731"]);
}

#[test]
fn the_ecbs_xml_is_read_with_its_newest_day_and_its_hour() {
    let rates: &[&str] = &["EUR/USD 1.0495", "EUR/SGD 1.4139"];
    for case in [
        r#"<?xml version="1.0" encoding="UTF-8"?>
           <gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
           <gesmes:subject>Reference rates</gesmes:subject><gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
           <Cube><Cube time='2026-11-20'><Cube currency='USD' rate='1.0495'/><Cube currency='JPY' rate='162.10'/>
           <Cube currency='SGD' rate='1.4139'/></Cube></Cube></gesmes:Envelope>"#,
        // The history: two days, the newest not first, and other prefixes and quotes.
        "\u{feff}<g:Envelope xmlns:g=\"urn:g\" xmlns:e=\"urn:e\"><e:Cube><e:Cube time=\"2026-11-19\">\
           <e:Cube rate=\"1.05\" currency=\"USD\"></e:Cube></e:Cube><e:Cube time=\"2026-11-20\">\
           <e:Cube rate=\"1.0495\" currency=\"USD\"></e:Cube><e:Cube rate=\"1.4139\" currency=\"SGD\"></e:Cube></e:Cube></e:Cube></g:Envelope>",
    ] {
        // 16:00 in Frankfurt, in winter.
        assert_read((case, Form::Ecb, rates, "2026-11-20T15:00:00Z"), &JsonShape::default());
    }
    for (text, rule) in [
        ("<!DOCTYPE html><html><body>Maintenance</body></html>", "is a web page"),
        ("<html><body>Maintenance</body></html>", "is a web page"),
        ("<!DOCTYPE Envelope><Envelope/>", "XML: has a DOCTYPE"),
        ("<page/>", "an XML document <page> without the rates of a day"),
        ("<Envelope><Cube><Cube time='2026-11-20'/></Cube></Envelope>", "states no rate"),
        (
            "<Envelope><Cube><Cube time='20.11.2026'/></Cube></Envelope>",
            "\"20.11.2026\" is neither",
        ),
        ("<Envelope><Cube currency='USD' rate='1'/></Envelope>", "time is missing"),
        (
            "<Envelope><Cube time='2026-11-20'><Cube currency='USD' rate='N/A'/></Cube></Envelope>",
            "EUR/USD: N/A is not a decimal",
        ),
        ("<Envelope><Cube time=", "XML:"),
        (
            "<Envelope><Cube><Cube time='2026-11-20'><Cube currency='USD' rate='1.0495'/>",
            "XML: ends too early",
        ),
    ] {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(rule), "{text}: {error}");
    }
}

#[test]
fn our_sheets_have_rates_or_bids_and_asks() {
    let time = "2026-11-20T00:00:00Z";
    for case in [
        "base,quote,rate,as_of\n# a comment\nUSD, PKR, 278.75, 2026-11-20\n",
        "\u{feff}# exported\r\nbase,quote,rate,as_of\r\nUSD,PKR,\"278.75\",2026-11-20T00:00:00Z\r\n",
        "as_of = \"2026-11-20T00:00:00Z\"\n[rates.USD]\nPKR = \"278.75\"\n",
    ] {
        assert_read((case, Form::Sheet, &["USD/PKR 278.75"], time), &JsonShape::default());
    }
    let sides = "base,quote,bid,ask,as_of\nUSD,PKR,278.50,279.00,2026-11-20\n";
    assert_read((sides, Form::Sheet, &["USD/PKR 278.75 278.5 279"], time), &JsonShape::default());
}

#[test]
fn numbers_are_kept_digit_for_digit_and_rounded_once() {
    let text = r#"{"base":"USD","as_of":1795244268,"rates":{"PKR":9007199.254740993,"AED":"3.672500000001",
        "KWD":0.30666700000000003,"BHD":3.7699999999999999999999999e-1,"VND":2.635e4}}"#;
    let sheet = read(text).expect("read");
    assert_eq!(
        stated(&sheet),
        [
            "USD/PKR 9007199.254740993",
            "USD/AED 3.672500000001",
            "USD/KWD 0.306667",
            "USD/BHD 0.377",
            "USD/VND 26350"
        ]
    );
}

#[test]
fn pointers_name_what_the_structure_leaves_open() {
    let shape = JsonShape {
        fixed_base: Some("USD".to_owned()),
        as_of: Some("/meta/updated".to_owned()),
        rates: Some("/data/usd~1rates".to_owned()),
        ..JsonShape::default()
    };
    let json =
        r#"{"meta":{"updated":1795244268},"old":{"PKR":1},"data":{"usd/rates":{"PKR":278.75}}}"#;
    assert_read((json, Form::Rates, &["USD/PKR 278.75"], "2026-11-21T06:57:48Z"), &shape);
    let shape_of_list = JsonShape {
        base: Some("/1/base".to_owned()),
        as_of: Some("/0".to_owned()),
        rates: Some("/1/rows/0".to_owned()),
        ..JsonShape::default()
    };
    let list = r#"[1795244268,{"base":"USD","rows":[{"PKR":278.75},{"PKR":1}]}]"#;
    assert_read((list, Form::Rates, &["USD/PKR 278.75"], "2026-11-21T06:57:48Z"), &shape_of_list);
    for place in ["/1/rows/2", "/1/rows/-", "/1/rows/00", "/1/rows/+0", "/1/rows/", "/1/rows/a"] {
        let shape = JsonShape { rates: Some(place.to_owned()), ..shape_of_list.clone() };
        let error = read_as(list, None, &shape).expect_err(place);
        assert_eq!(error, SheetError::Missing(place.to_owned()));
    }
    for (shape, rule) in [
        (JsonShape { as_of: Some("/time".to_owned()), ..JsonShape::default() }, "/time is missing"),
        (JsonShape { rates: Some("/a/b".to_owned()), ..JsonShape::default() }, "/a/b is missing"),
        (JsonShape { base: Some("/data".to_owned()), ..JsonShape::default() }, "/data is neither"),
        (JsonShape::default(), "the base currency is missing"),
    ] {
        let error = read_as(json, None, &shape).expect_err(rule).to_string();
        assert!(error.contains(rule), "{rule}: {error}");
    }
    let error = read_as(json, Some(Form::Pairs), &shape).expect_err("another form").to_string();
    assert_eq!(error, "the document has the form \"rates\", not \"pairs\"");
}

#[test]
fn documents_of_an_error_are_named_as_such() {
    for (text, said) in [
        (
            r#"{"success":false,"error":{"code":104,"type":"usage_limit","info":"Your monthly limit has been reached"}}"#,
            "104, usage_limit, Your monthly limit has been reached",
        ),
        (r#"{"result":"error","error-type":"inactive-account"}"#, "error, inactive-account"),
        (r#"{"error":true,"status":401,"message":"invalid_app_id"}"#, "401, invalid_app_id"),
        (r#"{"status":{"error_code":429,"error_message":"Rate limit"}}"#, "429, Rate limit"),
        (r#"{"error":"coin not found"}"#, "coin not found"),
        (
            r#"{"status":"error","code":400,"message":"no such symbol"}"#,
            "error, 400, no such symbol",
        ),
        (r#"{"errors":["bad key"]}"#, "bad key"),
    ] {
        let expected = SheetError::Reported(said.to_owned());
        assert_eq!(read(text), Err(expected), "{text}");
    }
    for none in ["null", "[]", "{}", r#""""#, r#"{"validation":null}"#, r#"[{"field":""}]"#] {
        let fine = format!(
            r#"{{"success":true,"error":null,"errors":{none},"status":"ok","code":200,"base":"USD","as_of":1795244268,"rates":{{"PKR":1}}}}"#
        );
        assert!(read(&fine).is_ok(), "{none}");
    }
}

/// As many members as a document can have; a search of all before each takes minutes.
fn many_members(last: &str) -> String {
    let many: String = (0..60_000).map(|at| format!("\"{at}\":1,")).collect();
    format!("\"{last}\":1,{many}\"{last}\":1")
}

#[test]
fn what_is_not_a_rate_is_refused_with_the_reason() {
    let rates = |rates: &str| format!(r#"{{"base":"USD","as_of":1795244268,"rates":{rates}}}"#);
    for (text, rule) in [
        (r#"{"base":"USD","rates":{"PKR":1}}"#.to_owned(), "the time of USD/PKR is missing"),
        (
            r#"{"base":"USD","as_of":"soon","rates":{"PKR":1}}"#.to_owned(),
            "\"soon\" is neither RFC 3339, a date that",
        ),
        (
            r#"{"base":"USD","data":[{"rate_date":"11/10/2026","PKR":1}]}"#.to_owned(),
            "\"11/10/2026\" is neither RFC 3339, a date that",
        ),
        ("<!DOCTYPE html><html><title>Sign in</title></html>".to_owned(), "is a web page"),
        ("\n<HTML>".to_owned(), "is a web page"),
        (
            r#"{"base":"USD","next_update":"soon","rates":{"PKR":1}}"#.to_owned(),
            "the time of USD/PKR is missing",
        ),
        (
            r#"{"base":"JPY","as_of":1795244268,"rates":{"PKR":1}}"#.to_owned(),
            "base: \"JPY\" is not a currency",
        ),
        (r#"{"tether":{"usd":1}}"#.to_owned(), "the time of USDT/USD is missing"),
        (
            r#"{"amount":100,"base":"USD","as_of":1795244268,"rates":{"PKR":1}}"#.to_owned(),
            "the rates are of 100 units",
        ),
        // Of several names for it, any may say so, at any place of a rate.
        (
            r#"[{"base":"USD","quote":"INR","as_of":1795244268,"unit":1,"nominal":"100","rate":8350}]"#.to_owned(),
            "the rates are of 100 units",
        ),
        (rates(r#"{"INR":{"value":8350,"unit":"USD","nominal":100}}"#), "the rates are of 100 units"),
        (rates(r#"{"INR":{"value":8350,"quoteUnits":"100 USD"}}"#), "the rates are of 100 USD units"),
        (rates(r#"{"INR":{"value":8350,"unit_of_currency":100}}"#), "the rates are of 100 units"),
        (rates(r#"{"INR":{"value":8350,"Nominal value":"100.0"}}"#), "the rates are of 100.0 units"),
        (
            r#"[{"pair":"USD/INR","as_of":1795244268,"lot":100,"rate":8350}]"#.to_owned(),
            "the rates are of 100 units",
        ),
        // The same for a number that the rates are to be divided by.
        (rates(r#"{"PKR":{"value":27875,"scale":2}}"#), "scaled numbers (scale 2)"),
        (rates(r#"{"PKR":{"value":27875,"scale":1}}"#), "scaled numbers (scale 1)"),
        (rates(r#"{"PKR":{"value":"27875","decimals":2}}"#), "scaled numbers (decimals 2)"),
        (rates(r#"{"PKR":{"value":27875,"decimalPlaces":"2"}}"#), "scaled numbers (decimalPlaces 2)"),
        (rates(r#"{"PKR":{"value":27875,"exponent":-2}}"#), "scaled numbers (exponent -2)"),
        (rates(r#"{"PKR":{"price":"27875","expo":-2}}"#), "scaled numbers (expo -2)"),
        (rates(r#"{"PKR":{"bid":27870,"ask":27880,"divisor":100}}"#), "scaled numbers (divisor 100)"),
        (
            r#"{"base":"USD","as_of":1795244268,"scale":100,"rates":{"AED":367.25,"PKR":27875}}"#.to_owned(),
            "scaled numbers (scale 100)",
        ),
        (
            r#"{"base":"USD","as_of":1795244268,"decimals":4,"rates":{"AED":36725,"PKR":2787500}}"#.to_owned(),
            "scaled numbers (decimals 4)",
        ),
        (
            r#"[{"pair":"USD/PKR","as_of":1795244268,"price_scale":100,"rate":27875}]"#.to_owned(),
            "scaled numbers (price_scale 100)",
        ),
        (rates("{}"), "states no rate of a currency of this service"),
        (rates(r#"{"ZMW":27.1}"#), "states no rate of a currency of this service"),
        (rates(r#"{"PKR":0}"#), "USD/PKR: a rate must be greater than zero"),
        (rates(r#"{"PKR":"-1"}"#), "USD/PKR: a rate must be greater than zero"),
        (rates(r#"{"PKR":1e-13}"#), "USD/PKR: a rate must be greater than zero"),
        (
            rates(r#"{"PKR":0.000000001}"#),
            "USD/PKR: 0.000000001 is not between 0.00000001 and 100000000",
        ),
        (rates(r#"{"PKR":100000000.1}"#), "is not between"),
        (rates(r#"{"PKR":"1,5"}"#), "USD/PKR: 1,5 is not a decimal number"),
        (rates(r#"{"PKR":"n/a"}"#), "USD/PKR: \"n/a\" is not a number"),
        (rates(r#"{"PKR":null}"#), "USD/PKR: null is not a number"),
        (rates(r#"{"PKR":{"value":null}}"#), "states no rate"),
        (rates(r#"{"PKR":1,"PKR":2}"#), "PKR is named twice"),
        (rates(&format!("{{{}}}", many_members("PKR"))), "PKR is named twice"),
        (rates(r#"{"2026-11-19":{"PKR":1},"2026-11-20":{"PKR":2}}"#), "USD/PKR is named twice"),
        (rates(r#"{"PKR":{"bid":279,"ask":278}}"#), "USD/PKR: bid 279 and ask 278"),
        (
            rates(r#"{"PKR":{"mid":278.5,"bid":0.00358,"ask":0.00359}}"#),
            "USD/PKR: bid 0.00358 and ask 0.00359",
        ),
        (rates(r#"{"PKR":{"bid":100,"ask":111}}"#), "nor the ask more than 1000 bps above it"),
        (format!("{}1{}", "[".repeat(20), "]".repeat(20)), "nested more than 12 levels"),
        (r#"{"base":"USD""#.to_owned(), "JSON:"),
        (String::new(), "the document is empty"),
        ("Invalid API key".to_owned(), "the heading is not base,quote,rate,as_of"),
        ("base,quote\nUSD,PKR\n".to_owned(), "the heading is not"),
        (
            "base,quote,rate,as_of\nUSD,PKR,1,2026-11-20\nUSD,PKR,2,2026-11-20\n".to_owned(),
            "USD/PKR is named twice",
        ),
        (
            "base,quote,rate,as_of\nUSD,USD,1,2026-11-20\n".to_owned(),
            "USD/USD is a currency in itself",
        ),
        (
            "base,quote,rate,as_of\nUSD,PKK,1,2026-11-20\n".to_owned(),
            "quote: \"PKK\" is not a currency",
        ),
        ("base,quote,rate,as_of\nUSD,PKR,1,soon\n".to_owned(), "\"soon\" is neither RFC 3339"),
        ("as_of = \"2026-11-20\"\n[rates.USD]\nPKR = 278.75\n".to_owned(), "invalid type"),
        (
            "as_of = \"2026-11-20\"\n[rates.USD]\nPKK = \"1\"\n".to_owned(),
            "rates: \"PKK\" is not a currency",
        ),
    ] {
        let error = read(&text).expect_err(&text).to_string();
        assert!(error.contains(rule), "{text}: {error}");
    }
    let latin = sheet::read(b"\xff", None, &JsonShape::default(), &Published::default(), NOW);
    assert_eq!(latin, Err(SheetError::Form("is not UTF-8".to_owned())));
}

#[test]
fn toml_and_csv_give_the_same_rates() {
    let toml = read("as_of = \"2026-11-20T00:00:00Z\"\n[rates.USD]\nPKR = \"278.75\"\n");
    let csv = read("base,quote,rate,as_of\nUSD,PKR,278.75,2026-11-20\n").expect("csv");
    assert_eq!(toml.expect("toml"), csv);
    let mid = Mid { rate: dec("278.75"), as_of: Timestamp(1_795_132_800_000_000) };
    assert_eq!(csv.rates, [DirectRate::at_mid(Currency::Usd, Currency::Pkr, mid)]);
}

/// The order of a document's rates decides nothing.
#[test]
fn rates_that_exclude_each_other_are_refused_in_any_order() {
    let rows = [
        r#"{"base":"EUR","quote":"PKR","rate":400}"#,
        r#"{"base":"EUR","quote":"USD","rate":1.16}"#,
        r#"{"base":"USD","quote":"PKR","rate":278.75}"#,
    ];
    let list = |rows: &[&str]| format!(r#"{{"as_of":"{NOW}","rates":[{}]}}"#, rows.join(","));
    let mut reversed = rows;
    reversed.reverse();
    for rows in [rows, reversed] {
        let error = read(&list(&rows)).expect_err("excluded").to_string();
        assert!(error.contains("which the document's other rates give"), "{error}");
    }
    let rounded = [r#"{"base":"EUR","quote":"PKR","rate":320}"#, rows[1], rows[2]];
    assert_eq!(read(&list(&rounded)).expect("rounded").rates.len(), 3);
}

#[test]
fn a_mid_rate_lies_between_its_bid_and_ask() {
    let text = |mid: &str| {
        format!(
            r#"{{"as_of":"{NOW}","rates":[{{"base":"USD","quote":"PKR","rate":{mid},"bid":278.4,"ask":279.1}}]}}"#
        )
    };
    for near in ["278.7", "278.0", "280.0"] {
        assert_eq!(read(&text(near)).expect(near).rates.len(), 1, "{near}");
    }
    for outside in ["300", "275", "290"] {
        let error = read(&text(outside)).expect_err(outside).to_string();
        assert!(error.contains("outside of them"), "{error}");
    }
}

#[test]
fn a_time_of_something_else_is_not_that_of_the_rates() {
    let with =
        |name: &str| format!(r#"{{"{name}":"{NOW}","base":"USD","rates":{{"PKR":278.75}}}}"#);
    for theirs in ["timestamp", "time_last_update", "date", "updated_at"] {
        assert_eq!(read(&with(theirs)).expect(theirs).rates.len(), 1, "{theirs}");
    }
    for other in [
        "server_time",
        "time_next_update_unix",
        "next_update",
        "request_time",
        "query_date",
        "expiry_date",
        "valid_until_date",
    ] {
        let error = read(&with(other)).expect_err(other).to_string();
        assert!(error.contains("the time"), "{other}: {error}");
    }
}

#[test]
fn a_document_that_contradicts_itself_is_not_used() {
    let csv = |rows: &str| {
        format!("base,quote,rate,as_of\n{rows}").replace(";", ",2026-11-20T15:00:00Z\n")
    };
    for (rows, pair) in [
        ("AED,USD,0.4;USD,PKR,278.75;USD,AED,3.6725;", "AED/USD"),
        ("PKR,USD,0.0045;USD,PKR,278.75;", "PKR/USD"),
        ("USDT,USD,1.0;USD,USDT,1.15;USD,PKR,278.75;", "USDT/USD"),
        ("USDT,USD,1.0;USD,USDT,1.08;", "USDT/USD"),
        ("USD,USDC,1.0;USDC,USD,0.98;", "USD/USDC"),
    ] {
        let error = read(&csv(rows)).expect_err(rows).to_string();
        assert!(error.starts_with(pair) && error.contains("differs by more than"), "{error}");
    }
    for rows in [
        "AED,USD,0.2723;USD,AED,3.6725;",
        "PKR,USD,0.0036;USD,PKR,278.75;",
        "USDT,USD,0.87;USD,USDT,1.149;USD,PKR,278.75;",
    ] {
        read(&csv(rows)).expect(rows);
    }
    for json in [
        r#"{"base":"EUR","timestamp":1795244268,"rates":{"EUR":0.92,"USD":1,"PKR":278.75}}"#,
        r#"{"base":"USD","timestamp":1795244268,"rates":{"USD":1.02,"PKR":278.75}}"#,
    ] {
        let error = read(json).expect_err(json).to_string();
        assert!(error.contains("a currency is 1 in itself"), "{error}");
    }
    let own = r#"{"base":"USD","timestamp":1795244268,"rates":{"USD":1.000,"PKR":278.75}}"#;
    read(own).expect("a base that is 1");
}
