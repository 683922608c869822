//! What a quote must say, from the rates and terms alone: in integers, without the service's own arithmetic.

use domain::country::Country;
use domain::currency::Currency;
use domain::policy::Corridors;
use domain::quote::Quote;

use super::workload::Payable;
use crate::installation::{self, MARGIN_BPS, PREMIUM_BPS};

/// Decimals of the rates that [`mid`] returns.
const RATE_DECIMALS: u32 = 10;
const BPS: i128 = 10_000;
/// Decimals of the stablecoins.
const COIN_DECIMALS: u32 = 6;

/// The mid rate of two currencies, in units of 10^-10.
pub fn mid(base: Currency, quote: Currency) -> Option<i128> {
    let units = |it: domain::decimal::Decimal, decimals| it.to_minor(decimals).map(i128::from);
    let base = units(installation::in_dirhams(base)?, 4)?;
    Some(base * units(installation::from_dirham(quote)?, 6)?)
}

/// Everything that a quote says and should not.
pub fn faults(wanted: &Payable, quote: &Quote, corridors: &Corridors) -> Vec<String> {
    let offer = &quote.offer;
    let Some((destination, cut)) = payout(wanted, corridors) else {
        return vec!["a quote without a rate".to_owned()];
    };
    let mut faults = Vec::new();
    let mut expect = |what: &str, is: i64, should: i128| {
        if i128::from(is) != should {
            let id = quote.id;
            faults.push(format!("{what} of quote {id} is {is} instead of {should}"));
        }
    };
    expect("the payout", offer.amount_destination.minor, destination);
    expect("the remainder", offer.remainder.minor, cut);
    let currency = wanted.country.currency();
    if let Some(coin) = mid(offer.coin.currency(), currency) {
        let charged = divided_up(
            destination * power(COIN_DECIMALS + RATE_DECIMALS),
            power(currency.minor_units()) * coin,
        );
        expect("the charge", offer.charge.amount.minor, charged);
        let premium = divided_up(charged * i128::from(PREMIUM_BPS), BPS);
        expect("the premium", offer.charge.premium.minor, premium);
    }
    if !costs(wanted.country, corridors).contains(&offer.charge.cost.minor) {
        faults.push(format!("the cost of quote {} is not that of any rail", quote.id));
    }
    faults
}

/// The payout in minor units, and what rounding to a payable step cuts off.
fn payout(wanted: &Payable, corridors: &Corridors) -> Option<(i128, i128)> {
    let currency = wanted.country.currency();
    let rate = mid(wanted.currency, currency)?;
    let exact = i128::from(wanted.minor) * rate * (BPS - i128::from(MARGIN_BPS));
    let unit = power(RATE_DECIMALS + wanted.currency.minor_units()) * BPS;
    let minor = exact * power(currency.minor_units()) / unit;
    let step = i128::from(corridors.corridors.get(&wanted.country)?.step_minor);
    Some((minor - minor % step, minor % step))
}

fn costs(country: Country, corridors: &Corridors) -> Vec<i64> {
    corridors.rails_of(country).map(|rail| rail.cost_minor).collect()
}

fn power(decimals: u32) -> i128 {
    10_i128.pow(decimals)
}

fn divided_up(dividend: i128, divisor: i128) -> i128 {
    (dividend + divisor - 1) / divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_corridor_has_a_rate_for_every_payer() {
        for country in Country::ALL {
            for source in Currency::SOURCES.into_iter().chain([Currency::Usdc, Currency::Usdt]) {
                assert!(mid(source, country.currency()).is_some_and(|rate| rate > 0));
            }
        }
        assert_eq!(mid(Currency::Aed, Currency::Vnd), Some(71_639_182_460_000));
    }

    #[test]
    fn division_rounds_up() {
        assert_eq!((divided_up(10, 5), divided_up(11, 5), divided_up(0, 5)), (2, 3, 0));
    }
}
