//! Documents of publishers whose names, directions and units differ from those of most: central banks
//! that state their own currency per foreign one, tables of rows, names in other spellings.

use super::super::sheet;
use super::forms::{assert_read, read, read_as};
use super::*;

fn quoted_in(code: &str) -> JsonShape {
    JsonShape { fixed_quote: Some(code.to_owned()), ..JsonShape::default() }
}

/// The shape of Nepal Rastra Bank's answer: rupees for so many units, bought and sold by banks.
const NEPAL: &str = r#"{"status":{"code":200},"errors":{"validation":null},
    "params":{"date":null,"from":"2026-11-20","to":"2026-11-20","per_page":"1","page":"1"},
    "data":{"payload":[{"date":"2026-11-20","published_on":"2026-11-20 00:00:07","modified_on":"2026-11-19 18:01:12","rates":[
        {"currency":{"iso3":"INR","name":"Indian Rupee","unit":100},"buy":"160.00","sell":"160.15"},
        {"currency":{"iso3":"USD","name":"U.S. Dollar","unit":1},"buy":"143.11","sell":"143.71"},
        {"currency":{"ISO3":"JPY","name":"Japanese Yen","unit":10},"buy":"9.15","sell":"9.19"},
        {"currency":{"iso3":"KRW","name":"South Korean Won","unit":100},"buy":null,"sell":null}]}]},
    "pagination":{"page":1,"pages":1,"per_page":"1","total":1,"links":{"prev":null,"next":null}}}"#;

#[test]
fn rates_of_foreign_currencies_in_the_publishers_own_are_read_with_their_units() {
    let time = "2026-11-20T00:00:00Z";
    let nepal: &[&str] = &["INR/NPR 1.60075 1.6 1.6015", "USD/NPR 143.41 143.11 143.71"];
    assert_read((NEPAL, Form::Pairs, nepal, time), &quoted_in("NPR"));
    let both: &[&str] = &["USD/NPR 143.5", "INR/NPR 1.6"];
    for case in [
        r#"{"date":"2026-11-20","rates":{"USD":143.5,"INR":"1.60","NPR":1,"JPY":0.92}}"#,
        // A base that is none: the publisher's own currency.
        r#"{"base":"NPR","date":"2026-11-20","rates":{"USD":143.5,"INR":"1.60","NPR":1}}"#,
        r#"{"Date":"2026-11-20","Valute":{"USD":{"CharCode":"USD","Nominal":1,"Value":143.5},
            "INR":{"CharCode":"INR","Nominal":100,"Value":160},"JPY":{"CharCode":"JPY","Nominal":10,"Value":9.2}}}"#,
        r#"{"date":"2026-11-20","rates":{"USD":{"rate":143.5},"INR":{"rate":160,"per":"100.0"},"JPY":{"rate":9.2,"unit":10}}}"#,
    ] {
        assert_read((case, Form::Rates, both, time), &quoted_in("NPR"));
    }
    for case in [
        r#"[{"date":"2026-11-20","currencyCode":"USD","currencyName":"US DOLLAR","rate":"143.5"},
            {"date":"2026-11-20","currencyCode":"INR","currencyName":"RUPEE","unit":100,"rate":"160"},
            {"date":"2026-11-20","currencyCode":"JPY","currencyName":"YEN","unit":10,"rate":"9.2"}]"#,
        r#"{"date":"2026-11-20","data":[{"source":"NRB","code":"USD","rate":143.5},{"ccy":"INR","base_ccy":"NPR","rate":1.6}]}"#,
        r#"{"date":"2026-11-20","list":[{"from":"USD","to":"NPR","rate":143.5},{"from":"INR","to":"NPR","rate":1.6},
            {"from":"JPY","to":"NPR","rate":0.9}]}"#,
    ] {
        assert_read((case, Form::Pairs, both, time), &quoted_in("NPR"));
    }
    let coins = r#"{"time":"2026-11-20","USDT":1.0002,"USDC":{"price":"0.9998"}}"#;
    let prices: &[&str] = &["USDT/USD 1.0002", "USDC/USD 0.9998"];
    assert_read((coins, Form::Rates, prices, time), &quoted_in("USD"));
    // The mirror image: a table of what a fixed base is worth.
    let usd = JsonShape { fixed_base: Some("USD".to_owned()), ..JsonShape::default() };
    let table = r#"{"date":"2026-11-20","rates":[{"currency":"PKR","rate":278.75},{"code":"JPY","rate":155}]}"#;
    assert_read((table, Form::Pairs, &["USD/PKR 278.75"], time), &usd);
}

#[test]
fn what_leaves_a_fixed_quotes_direction_or_units_open_is_refused() {
    let row = |members: &str| format!(r#"[{{"date":"2026-11-20","code":"USD",{members}}}]"#);
    for (text, rule) in [
        (row(r#""rate":14350,"multiplier":100"#), "the rates are of 100 units"),
        (row(r#""rate":14350,"unit":100,"nominal":10"#), "the rates are of 100 units"),
        (row(r#""rate":14350,"unit":"100 USD""#), "the rates are of 100 USD units"),
        (row(r#""rate":14350,"unit":0"#), "the rates are of 0 units"),
        (row(r#""buy":143.1"#), "the rate of USD/NPR is missing"),
        (row(r#""rate":143.1,"symbol":"AED""#), "states no rate"),
        (
            r#"{"date":"2026-11-20","rates":{"NPR":143.5}}"#.to_owned(),
            "NPR/NPR is 143.5, but a currency is 1 in itself",
        ),
        (
            r#"{"date":"2026-11-20","buy":{"USD":143.1},"sell":{"USD":143.7}}"#.to_owned(),
            "USD/NPR is named twice",
        ),
    ] {
        let error = read_as(&text, None, &quoted_in("NPR")).expect_err(&text).to_string();
        assert!(error.contains(rule), "{text}: {error}");
    }
    let unknown = read_as(NEPAL, None, &quoted_in("NPX")).expect_err("not a currency");
    assert_eq!(unknown.to_string(), "fixed_quote: \"NPX\" is not a currency of this service");
}

#[test]
fn a_pair_that_a_row_states_goes_before_what_is_fixed() {
    let based_on =
        |code: &str| JsonShape { fixed_base: Some(code.to_owned()), ..JsonShape::default() };
    let time = "2026-11-20T00:00:00Z";
    let cases: [(JsonShape, &'static str, &'static [&'static str]); 6] = [
        (
            based_on("USD"),
            r#"[{"date":"2026-11-20","base_currency":"USDT","quote_currency":"USD","price":"0.996"}]"#,
            &["USDT/USD 0.996"],
        ),
        (
            based_on("USD"),
            r#"[{"date":"2026-11-20","from":"EUR","to":"PKR","rate":323}]"#,
            &["EUR/PKR 323"],
        ),
        (
            based_on("USD"),
            r#"[{"date":"2026-11-20","base":"PKR","quote":"USD","rate":0.0036}]"#,
            &["PKR/USD 0.0036"],
        ),
        (
            quoted_in("AED"),
            r#"[{"from":"AED","to":"SAR","rate":1.0211,"date":"2026-11-20"}]"#,
            &["AED/SAR 1.0211"],
        ),
        (
            quoted_in("USD"),
            r#"[{"base":"EUR","quote":"USDT","price":1.16,"date":"2026-11-20"}]"#,
            &["EUR/USDT 1.16"],
        ),
        // Its units are those of the pair that it states.
        (
            based_on("AED"),
            r#"[{"from":"SAR","to":"AED","unit":100,"rate":97.93,"date":"2026-11-20"}]"#,
            &["SAR/AED 0.9793"],
        ),
    ];
    for (shape, text, rates) in cases {
        assert_read((text, Form::Pairs, rates, time), &shape);
    }
    let other = r#"[{"date":"2026-11-20","base":"JPY","quote":"PKR","rate":1.8}]"#;
    let error = read_as(other, None, &based_on("USD")).expect_err("another base").to_string();
    assert!(error.contains("states no rate"), "{error}");
}

#[test]
fn another_base_that_a_document_states_is_that_of_its_rates() {
    let time = "2026-11-20T00:00:00Z";
    let rates: &[&str] = &["SAR/AED 0.9793", "SAR/QAR 0.9707"];
    let object =
        r#"{"base":"SAR","date":"2026-11-20","rates":{"SAR":1,"AED":0.9793,"QAR":0.9707}}"#;
    assert_read((object, Form::Rates, rates, time), &quoted_in("AED"));
    let rows = r#"{"base":"SAR","date":"2026-11-20","rates":[{"code":"AED","rate":0.9793},{"code":"QAR","rate":0.9707}]}"#;
    assert_read((rows, Form::Pairs, rates, time), &quoted_in("AED"));
    let coins = r#"{"time":"2026-11-20","tether":{"eur":0.862,"usd":1.0002}}"#;
    let prices: &[&str] = &["USDT/EUR 0.862", "USDT/USD 1.0002"];
    assert_read((coins, Form::Coins, prices, time), &quoted_in("EUR"));
}

#[test]
fn units_of_which_currency_is_open_are_refused() {
    let row = r#"[{"date":"2026-11-20","code":"SAR","unit":100,"rate":97.93}]"#;
    let inner = r#"[{"date":"2026-11-20","currency":{"iso3":"SAR","unit":100},"rate":97.93}]"#;
    let based =
        r#"{"base":"SAR","date":"2026-11-20","rates":[{"code":"AED","unit":100,"rate":102.11}]}"#;
    let member = r#"{"base":"SAR","date":"2026-11-20","rates":{"AED":{"unit":100,"rate":102.11}}}"#;
    let inherited =
        r#"{"base":"AED","date":"2026-11-20","rates":[{"quote":"SAR","unit":100,"rate":97.93}]}"#;
    let aed = JsonShape { fixed_base: Some("AED".to_owned()), ..JsonShape::default() };
    for (text, shape) in [
        (row, &aed),
        (inner, &aed),
        (based, &quoted_in("AED")),
        (member, &quoted_in("AED")),
        (inherited, &JsonShape::default()),
    ] {
        let error = read_as(text, None, shape).expect_err(text).to_string();
        assert!(error.contains("the rates are of 100 units"), "{text}: {error}");
    }
}

#[test]
fn what_is_no_side_beside_a_mid_is_not_read_as_one() {
    let text = |sides: &str| {
        format!(r#"[{{"pair":"USD/PKR","date":"2026-11-20","rate":278.75,{sides}}}]"#)
    };
    for none in [r#""buy":0,"sell":0"#, r#""buy":278.5,"sell":0"#, r#""buy":12,"sell":9"#] {
        let sheet = read(&text(none)).expect(none);
        let rate = sheet.rates[0];
        assert_eq!((rate.bid, rate.ask), (rate.mid.rate, rate.mid.rate), "{none}");
    }
    let sheet = read(&text(r#""buy":279,"sell":278.5"#)).expect("sides");
    assert_eq!(sheet.rates[0].ask, dec("279"));
    for strict in [r#""bid":0,"ask":0"#, r#""bid":12,"ask":9"#] {
        assert!(read(&text(strict)).is_err(), "{strict}");
    }
    let alone = r#"[{"pair":"USD/PKR","date":"2026-11-20","buy":0,"sell":0}]"#;
    assert!(read(alone).is_err(), "no rate");
}

#[test]
fn the_first_text_that_is_a_currency_is_one() {
    let time = "2026-11-20T00:00:00Z";
    for case in [
        r#"[{"date":"2026-11-20","base":"USD","term":"SPOT","quote":"PKR","rate":278.75}]"#,
        r#"[{"date":"2026-11-20","base":"USD","quoteSymbol":"₨","quoteCurrency":"PKR","rate":278.75}]"#,
        r#"[{"date":"2026-11-20","symbol":"$","pair":"USD/PKR","rate":278.75}]"#,
        r#"[{"date":"2026-11-20","symbol":"USDPKR","pair":"USD/PKR","rate":278.75}]"#,
    ] {
        assert_read((case, Form::Pairs, &["USD/PKR 278.75"], time), &JsonShape::default());
    }
    for two in
        [r#""base":"USD","quote":"PKR","target":"AED""#, r#""symbol":"USDPKR","pair":"USD/AED""#]
    {
        let text = format!(r#"[{{"date":"2026-11-20",{two},"rate":278.75}}]"#);
        let error = read(&text).expect_err(two).to_string();
        assert!(error.contains("a rate of two currencies"), "{error}");
    }
}

#[test]
fn names_are_read_in_any_spelling() {
    let time = "2026-11-21T06:57:48Z";
    for case in [
        r#"{"terms":"https://x.example","privacy":"https://x.example","from":"USD","amount":1.0,
            "timestamp":"2026-11-21T06:57:48Z","to":[{"quotecurrency":"PKR","mid":278.75}]}"#,
        r#"[{"rate":278.75,"source":"USD","target":"PKR","time":"2026-11-21T06:57:48+0000"}]"#,
        r#"{"result":"success","time_last_update_unix":1795244268,"base_code":"USD","target_code":"PKR","conversion_rate":278.75}"#,
        r#"{"data":[{"baseCurrency":"USD","quoteCurrency":"PKR","exchangeRate":"278.75","updatedAt":1795244268000}]}"#,
        r#"{"timestamp":1795244268,"rates":[{"fromCurrency":"USD","toCurrency":"PKR","rate":278.7,"midRate":278.75}]}"#,
        r#"{"timestamp":1795244268,"rates":[{"Source Currency":"USD","Target Currency":"PKR","Mid-Market Rate":278.75}]}"#,
        r#"[{"timestamp":1795244268,"currencyPair":"USD/PKR","officialRate":278.75}]"#,
        r#"[{"timestamp":1795244268,"pair":"USD/PKR","unit":100,"rate":27875}]"#,
    ] {
        assert_read((case, Form::Pairs, &["USD/PKR 278.75"], time), &JsonShape::default());
    }
    let sides: &[&str] = &["USD/PKR 278.75 278.5 279"];
    for case in [
        r#"{"Realtime Currency Exchange Rate":{"1. From_Currency Code":"USD","2. From_Currency Name":"United States Dollar",
            "3. To_Currency Code":"PKR","4. To_Currency Name":"Pakistani Rupee","5. Exchange Rate":"278.75",
            "6. Last Refreshed":"2026-11-21 06:57:48","7. Time Zone":"UTC","8. Bid Price":"278.5","9. Ask Price":"279"}}"#,
        r#"[{"symbol":"USDPKR","bidPrice":278.5,"askPrice":279,"time":1795244268}]"#,
        r#"[{"symbol":"USDPKR","bid_rate":278.5,"offer_rate":279,"time":1795244268}]"#,
        // A bank buys low; what its customer buys at is the higher one.
        r#"[{"symbol":"USDPKR","buy":278.5,"sell":279,"time":1795244268}]"#,
        r#"[{"symbol":"USDPKR","Selling Rate":278.5,"Buying Rate":279,"time":1795244268}]"#,
    ] {
        assert_read((case, Form::Pairs, sides, time), &JsonShape::default());
    }
    // Between bid and ask, nothing is open.
    let crossed = r#"[{"symbol":"USDPKR","bidPrice":279,"askPrice":278.5,"time":1795244268}]"#;
    let error = read(crossed).expect_err("crossed").to_string();
    assert!(error.contains("bid 279 and ask 278.5"), "{error}");
    let other = r#"[{"symbol":"USDPKR","lowBid":1,"highAsk":2,"averageRate":3,"time":1795244268}]"#;
    assert!(read(other).is_err(), "figures of a period");
}

#[test]
fn a_packed_document_is_unpacked_within_bounds() {
    let packed = |text: &str| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, text.as_bytes()).expect("packed");
        gzip.finish().expect("packed")
    };
    let read =
        |bytes: &[u8]| sheet::read(bytes, None, &JsonShape::default(), &Published::default(), NOW);
    let text = r#"{"base":"USD","time":1795244268,"rates":{"PKR":278.75}}"#;
    let whole = packed(text);
    assert_eq!(read(&whole), read(text.as_bytes()));
    let cut = read(&whole[..whole.len() - 9]).expect_err("cut").to_string();
    assert!(cut.starts_with("gzip: cannot be unpacked"), "{cut}");
    let large = read(&packed(&" ".repeat(MAX_SHEET_BYTES + 1))).expect_err("large").to_string();
    assert!(large.starts_with("gzip: unpacks to more than"), "{large}");
}
