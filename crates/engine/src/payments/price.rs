//! Prices a quote request from the rate book, the tenant's policy and the corridor's rails.

use domain::order::{bank_of_branch, check_route_hints};
use domain::quote::{Offer, Pricing};
use domain::route::{self, Wanted};
use domain::time::Span;

use super::{Caller, Denied, Payments, QuoteRequest};

impl Payments {
    /// The price of a request, its validity, and the cap on open quotes.
    pub(super) fn price(
        &self,
        caller: &Caller,
        request: QuoteRequest,
    ) -> Result<(Offer, Span, Option<u32>), Denied> {
        let (country, coin) = (request.country, caller.policy.settlement_coin);
        let world = &self.world;
        let hints =
            (request.beneficiary_account_number.as_deref(), request.bank_branch_code.as_deref());
        let faults = check_route_hints(country, hints.0, hints.1, &world.directory);
        if !faults.is_empty() {
            return Err(Denied::Invalid(faults));
        }
        let unavailable = || Denied::CorridorUnavailable(country);
        let corridor = world.corridors.corridors.get(&country).ok_or_else(unavailable)?;
        let limits = route::limits(&world.corridors, country).ok_or_else(unavailable)?;
        let pricing = Pricing {
            country,
            currency: request.currency,
            amount: request.amount,
            mid: world.bid(request.currency, country.currency(), corridor)?,
            wallet_mid: world.bid(coin.currency(), country.currency(), corridor)?,
            margin_bps: caller.policy.margin_bps_for(country),
            premium_bps: caller.policy.premium_bps,
            coin,
            step_minor: corridor.step_minor,
            limits,
            account: request.beneficiary_account_number.map(|text| text.trim().to_owned()),
            branch: request.bank_branch_code.map(|text| text.trim().to_ascii_uppercase()),
        };
        let bank = bank_of_branch(country, pricing.branch.as_deref(), &world.directory);
        let cost = |amount| {
            let wanted = Wanted {
                country,
                amount,
                bank: bank.as_deref(),
                order: None,
                default_local_code: corridor.default_local_code.is_some(),
                payee: None,
                spent: None,
            };
            let fitting = route::candidates(&world.corridors, &wanted);
            // If no rail accepts exactly this amount to this bank, the country's most expensive
            // rail sets the cost.
            let dearest =
                || world.corridors.rails_of(country).map(|rail| rail.cost_minor).max().unwrap_or(0);
            fitting.first().map_or_else(dearest, |rail| rail.cost_minor)
        };
        let offer = pricing.offer(cost).map_err(|fault| Denied::Invalid(vec![fault]))?;
        Ok((offer, corridor.quote_ttl, corridor.open_quote_cap))
    }
}
