//! Prices a quote request from the rate book, the tenant's policy and the corridor's rails.

use domain::fault::{self, Fault};
use domain::order::{bank_of_branch, check_route_hints};
use domain::quote::{Offer, Pricing, base_amount};
use domain::route::{self, Wanted};
use domain::time::Span;

use super::{Caller, Denied, Payments, QuoteRequest, allowed};

/// What a quote is made from: its offer, its validity, and the cap on open quotes.
type Priced = (Offer, Span, Option<u32>);

/// The fields of a quote request and of an account check, in order.
const FIELDS: [&str; 7] = [
    "country",
    "currency",
    "amount",
    "check_account",
    "beneficiary_account_number",
    "bank_branch_code",
    "beneficiary_name",
];

/// Merges the shape faults and rule faults of a quote request or an account check, in field order.
pub(super) fn merge_faults(shape: Vec<Fault>, rules: Vec<Fault>) -> Vec<Fault> {
    fault::merged(shape, rules, |name| {
        FIELDS.iter().position(|field| *field == name).unwrap_or(FIELDS.len())
    })
}

impl Payments {
    /// The price of a request, whose fields have these shape faults so far.
    pub(super) fn price(
        &self,
        caller: &Caller,
        request: &QuoteRequest,
        shape: Vec<Fault>,
    ) -> Result<Priced, Denied> {
        allowed(caller, request.country)?;
        let account = request.beneficiary_account_number.as_deref();
        let branch = request.bank_branch_code.as_deref();
        let mut rules = check_route_hints(request.country, account, branch, &self.world.directory);
        let has_amount =
            shape.iter().all(|fault| fault.field != "currency" && fault.field != "amount");
        let offered = has_amount.then(|| self.offer(caller, request));
        match &offered {
            Some(Err(Denied::Invalid(faults))) => rules.extend(faults.iter().cloned()),
            // What needs no price.
            Some(Err(_)) => rules.extend(base_amount(request.currency, request.amount).err()),
            _ => {}
        }
        let faults = merge_faults(shape, rules);
        match offered {
            Some(offered) if faults.is_empty() => offered,
            _ => Err(Denied::Invalid(faults)),
        }
    }

    fn offer(&self, caller: &Caller, request: &QuoteRequest) -> Result<Priced, Denied> {
        self.open(request.country)?;
        let (country, coin) = (request.country, caller.policy.settlement_coin);
        let world = &self.world;
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
            account: request.beneficiary_account_number.as_ref().map(|it| it.trim().to_owned()),
            branch: request.bank_branch_code.as_ref().map(|it| it.trim().to_ascii_uppercase()),
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
