//! Whose terms a currency follows; the fields of policies are tested at their own.

use super::*;

const NOW: Timestamp = Timestamp(1_780_000_000_000_000);

/// A corridor by the age limit of its rates and its margin for weekends.
fn corridor((max_age_s, weekend_margin_bps): (i64, Option<u32>)) -> CorridorConfig {
    CorridorConfig {
        open: false,
        quote_ttl: Span::secs(300),
        step_minor: 1,
        max_rate_age: Span::secs(max_age_s),
        weekend_margin_bps,
        open_quote_cap: None,
        purpose: "FAMT".to_owned(),
        source_of_funds: None,
        names: NameForm::Whole,
        family_name_first: false,
        default_local_code: None,
    }
}

#[test]
fn a_currency_has_the_terms_of_its_corridor_or_the_strictest_of_exchanges() {
    let corridors = Corridors {
        corridors: BTreeMap::from([
            (Country::Pak, corridor((900, Some(150)))),
            (Country::Ind, corridor((300, Some(50)))),
            (Country::Egy, corridor((60, None))),
        ]),
        rails: Vec::new(),
        relations: BTreeSet::new(),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    };
    let (pak, ind, egy) = (Country::Pak, Country::Ind, Country::Egy);
    for (currency, exchange_to, expected) in [
        (Currency::Pkr, &[pak][..], Some((900, Some(150)))),
        (Currency::Pkr, &[ind], Some((900, Some(150)))),
        (Currency::Inr, &[pak], Some((300, Some(50)))),
        (Currency::Usd, &[pak], Some((900, Some(150)))),
        (Currency::Aed, &[pak, ind], Some((300, Some(150)))),
        (Currency::Sar, &[ind, pak, egy], Some((60, None))),
        (Currency::Sar, &[Country::Npl, pak], Some((900, Some(150)))),
        (Currency::Usd, &[Country::Npl], None),
        (Currency::Usd, &[], None),
        (Currency::Npr, &[], None),
    ] {
        let terms = corridors.rate_terms(currency, exchange_to, NOW);
        let shown = terms.map(|terms| (terms.max_age.0 / 1_000_000, terms.weekend_margin_bps));
        assert_eq!(shown, expected, "{currency:?} with {exchange_to:?}");
        assert!(terms.is_none_or(|terms| terms.now == NOW));
    }
}
