//! Rates with age and source, the tenant's margins, and proposals to change them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::response::Response;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::{Decimal, Rounding};
use domain::money::Money;
use domain::ports::Mid;
use domain::quote::{RATE_DECIMALS, less_margin};
use engine::console::{Pricing, ProposedAction};

use super::duration_text;
use crate::view::{Field, FormView, Section, page};
use crate::{Answer, Cell, Stop, Table, Tone, Visit};

/// Basis points in 100 %.
const WHOLE_BPS: u32 = 10_000;

/// Name and label of the form field of a country's margin.
fn margin_field(country: Country) -> &'static (String, String) {
    static FIELDS: LazyLock<[(String, String); Country::ALL.len()]> = LazyLock::new(|| {
        Country::ALL.map(|country| {
            let code = country.alpha3();
            (format!("margin_{code}"), format!("Margin to {code}"))
        })
    });
    &FIELDS[country as usize]
}

/// The other prices: name in a proposal, name and label of the form field.
const PRICES: [(&str, &str, &str); 3] = [
    ("premium", "premium", "Service fee on payments"),
    ("margin", "margin", "Default margin"),
    ("exchange spread", "spread", "Spread on stablecoin exchanges"),
];

/// The form's label of a price in a proposal.
pub(crate) fn price_label(named: &str) -> &str {
    let country = named.strip_prefix("margin for ").and_then(Country::parse);
    let other = || PRICES.iter().find(|(name, ..)| *name == named).map(|(.., label)| *label);
    country.map(|it| margin_field(it).1.as_str()).or_else(other).unwrap_or(named)
}

/// The client's rate: the corridor's rate minus margin.
fn after(mid: Decimal, margin_bps: u32) -> Option<Decimal> {
    Some(less_margin(mid, margin_bps)?.round(RATE_DECIMALS, Rounding::Floor))
}

fn row(visit: &Visit, base: Currency, country: Country, margin_bps: u32) -> Vec<Cell> {
    let world = visit.console().payments.world();
    let mid: Option<Mid> = world.rates.mid(base, country.currency());
    let now = world.clock.now();
    let corridor = world.corridors.corridors.get(&country);
    let bid = corridor
        .and_then(|corridor| world.rates.bid(base, country.currency(), &corridor.rate_terms(now)));
    let pair = Cell::text(format!("{} → {}", base.code(), country.currency().code()));
    let off_peg = StableCoin::ALL
        .into_iter()
        .any(|coin| coin.currency() == base && world.rates.off_peg(coin).is_some());
    let Some(mid) = mid else {
        return vec![
            pair,
            Cell::Empty,
            Cell::Empty,
            Cell::state(if off_peg { "off its peg" } else { "none" }, Tone::Bad),
            Cell::number(margin_bps),
            Cell::Empty,
            Cell::Empty,
        ];
    };
    let age = now - mid.as_of;
    let state = match (corridor, bid) {
        (None, _) => Cell::state("no corridor", Tone::Plain),
        (Some(_), None) => Cell::state("too old", Tone::Bad),
        (Some(_), Some(bid)) if bid.is_weekend => Cell::state("weekend rate", Tone::Warn),
        (Some(_), Some(_)) => Cell::state("in use", Tone::Good),
    };
    let offered = after(bid.map_or(mid.rate, |bid| bid.rate), margin_bps);
    let sample = offered.and_then(|rate| pays_out(rate, country));
    vec![
        pair,
        Cell::number(mid.rate.round(SHOWN_DECIMALS, Rounding::Floor)),
        Cell::number(duration_text(age)),
        state,
        Cell::number(margin_bps),
        offered
            .map_or(Cell::Empty, |rate| Cell::number(rate.round(SHOWN_DECIMALS, Rounding::Floor))),
        sample.map_or(Cell::Empty, Cell::number),
    ]
}

const HEAD: [&str; 7] =
    ["Pair", "Mid", "Age", "State", "Margin (bps)", "Rate to the client", "500 pays out"];
/// Decimals of a rate that are shown.
const SHOWN_DECIMALS: u32 = 6;
/// The amount whose payout shows the effect of a margin.
const SAMPLE: i64 = 500;

/// What the beneficiary of [`SAMPLE`] units receives at the client's rate.
fn pays_out(rate: Decimal, country: Country) -> Option<Money> {
    let currency = country.currency();
    let amount = rate.checked_mul(Decimal::from_int(SAMPLE))?;
    let minor = amount.round(currency.minor_units(), Rounding::Floor);
    Money::exact(minor, currency)
}

pub(super) async fn show(visit: Visit) -> Answer {
    let tenant = visit.tenant()?;
    let policy = &tenant.policy;
    let asked = visit
        .query()
        .given("country")
        .map(|text| Country::parse(text).ok_or(Stop::NotFound))
        .transpose()?;
    let country = asked.or(policy.countries.iter().next().copied()).unwrap_or(Country::Pak);
    let coin = policy.settlement_coin.currency();
    let coins = policy.countries.iter().map(|country| row(&visit, coin, *country, 0)).collect();
    let from_uae = policy
        .countries
        .iter()
        .map(|country| row(&visit, Currency::Aed, *country, policy.margin_bps_for(*country)))
        .collect();
    let margin = policy.margin_bps_for(country);
    let bases = Currency::SOURCES.map(|base| row(&visit, base, country, margin)).into();
    let mut countries: Vec<(&str, &str)> = Vec::new();
    countries.extend(Country::ALL.map(|country| (country.alpha3(), country.alpha3())));
    let choice = Field::choice("country", "Country", &countries).holding(country.alpha3());
    let origins = visit.console().payments.world().rates.origins().join("; ");
    let facts = vec![
        ("Rate sources", Cell::maybe((!origins.is_empty()).then_some(origins))),
        ("Settled in", Cell::text(coin.code())),
        ("Service fee on payments", Cell::number(format!("{} bps", policy.premium_bps))),
        ("Default margin", Cell::number(format!("{} bps", policy.margin_bps))),
        (
            "Spread on stablecoin exchanges",
            Cell::number(format!("{} bps", policy.wallet.spread_bps)),
        ),
    ];
    let mut sections = vec![
        Section { facts, ..Section::default() },
        Section {
            title: "What 500 AED pays out".to_owned(),
            says: vec!["By country, with the margin of each.".to_owned()],
            table: Some(Table::new("Rates of AED", &HEAD, from_uae).or("No countries agreed.")),
            ..Section::default()
        },
        Section {
            title: "Settlement stablecoin".to_owned(),
            says: vec![
                "Payments settle at the mid rate; the service fee is charged separately."
                    .to_owned(),
            ],
            table: Some(
                Table::new("Rates of the settlement stablecoin", &HEAD, coins)
                    .or("No countries agreed."),
            ),
            ..Section::default()
        },
        Section {
            title: format!("Payer rates to {}", country.alpha3()),
            filters: Some(FormView { button: "Show", ..FormView::lookup(vec![choice]) }),
            table: Some(Table::new("Rates of base currencies", &HEAD, bases)),
            ..Section::default()
        },
    ];
    sections.push(change(&visit).await?);
    page(&visit, "Rates and spread", sections)
}

/// The form for proposing prices, and open proposals.
async fn change(visit: &Visit) -> Result<Section, Stop> {
    let policy = &visit.tenant()?.policy;
    let waiting = visit.console().desk.waiting_about(Some(visit.tenant_id()?), "pricing").await?;
    let links: Vec<_> = waiting
        .iter()
        .map(|it| {
            (
                format!("/console/approvals/{}", it.id),
                format!("Proposed by {}: {}", it.maker.login, it.why),
            )
        })
        .collect();
    let mut forms = Vec::new();
    if links.is_empty() && visit.may_use("POST", "/console/t/{tenant}/rates/pricing") {
        let mut form = FormView::new("pricing", "Propose new prices", visit.href("/rates/pricing"), "Propose")
            .says("In basis points (100 bps = 1 %). Another user has to approve them. An empty margin means the default margin.");
        let now = [policy.premium_bps, policy.margin_bps, policy.wallet.spread_bps];
        for ((_, name, label), now) in PRICES.into_iter().zip(now) {
            form = form.field(Field::whole(name, label).holding(now));
        }
        for country in Country::ALL {
            let (name, label) = margin_field(country);
            let own =
                policy.margin_bps_by_country.get(&country).map(u32::to_string).unwrap_or_default();
            form = form.field(Field::whole(name, label).optional().holding(own));
        }
        forms.push(form.why());
    }
    let title = if links.is_empty() && forms.is_empty() { "" } else { "Change" };
    Ok(Section { title: title.to_owned(), links, forms, ..Section::default() })
}

fn bps(visit: &Visit, name: &'static str) -> Result<u32, Stop> {
    let number = visit.form().text(name).parse::<u32>().ok().filter(|bps| *bps < WHOLE_BPS);
    number.ok_or_else(|| {
        Stop::wrong(name, format!("Enter basis points from 0 to {}.", WHOLE_BPS - 1))
    })
}

pub(super) async fn propose(visit: Visit) -> Result<Response, Stop> {
    let mut margin_bps_by_country = BTreeMap::new();
    for country in Country::ALL {
        let (name, _) = margin_field(country);
        if visit.form().given(name).is_some() {
            margin_bps_by_country.insert(country, bps(&visit, name)?);
        }
    }
    let pricing = Pricing {
        premium_bps: bps(&visit, "premium")?,
        margin_bps: bps(&visit, "margin")?,
        margin_bps_by_country,
        spread_bps: bps(&visit, "spread")?,
    };
    let why = visit.why()?;
    visit.propose(ProposedAction::SetPricing(pricing), why).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_deducted_from_the_mid_rate() {
        let mid = Decimal::new(2_784, 1);
        assert_eq!(after(mid, 0), Some(mid));
        assert_eq!(after(mid, 25), Some(Decimal::new(277_704, 3)));
    }

    #[test]
    fn the_effect_of_a_margin_is_a_payout_rounded_down() {
        let rate = Decimal::new(75_821_369, 6);
        assert_eq!(pays_out(rate, Country::Pak), Some(Money::new(3_791_068, Currency::Pkr)));
        assert_eq!(pays_out(rate, Country::Vnm), Some(Money::new(37_910, Currency::Vnd)));
    }
}
