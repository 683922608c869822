//! Corridors and rails: limits, state, switches, and the route for a payment.

use std::collections::BTreeSet;

use axum::response::Response;
use domain::country::Country;
use domain::decimal::Decimal;
use domain::ids::PaymentId;
use domain::money::Money;
use domain::policy::{Hours, Need, RailConfig, RailKind};
use domain::rail::RailId;
use domain::route::{self, Unfit, Wanted};
use domain::sender_limit::{Exceeded, Sender, SenderLimits, UsageByRail};
use engine::switches::Switch;

use super::duration_text;
use crate::parts::grouped;
use crate::view::{Field, FormView, Section, Verdict, page, page_of_wrong_form};
use crate::{Answer, Cell, Form, Stop, Table, Tone, Visit, typed_amount};

/// The field with the name of a switch.
const WHAT: &str = "what";
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn hours(hours: Option<&Hours>) -> String {
    let Some(hours) = hours else { return "always".to_owned() };
    let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    let days: Vec<&str> =
        hours.days.iter().filter_map(|day| DAYS.get(usize::from(*day)).copied()).collect();
    let holidays = if hours.holidays.is_empty() { "" } else { ", not on holidays" };
    format!(
        "{}–{} UTC, {}{holidays}",
        clock(hours.open_minute),
        clock(hours.close_minute),
        days.join(" ")
    )
}

fn need(need: Need) -> &'static str {
    match need {
        Need::LocalCode => "the branch's local code",
        Need::SenderBirthdate => "the sender's date of birth",
        Need::SenderDocExpiry => "the expiry date of the sender's document",
    }
}

/// A rail's limits per sender.
fn of_one_sender(limits: &SenderLimits) -> String {
    let daily = limits.daily_max.map(Exceeded::Daily);
    let monthly = limits.monthly_max.map(Exceeded::Monthly);
    let both = daily.into_iter().chain(monthly);
    both.map(|it| grouped(&it.to_string())).collect::<Vec<_>>().join(", ")
}

/// The current state of a rail.
fn health(visit: &Visit, rail: &RailConfig) -> Cell {
    let world = visit.console().payments.world();
    let now = world.clock.now();
    if !rail.enabled {
        return Cell::state("off by configuration", Tone::Plain);
    }
    if let Some(why) = world.switches.off().get(&Switch::Rail(rail.id.clone())) {
        return Cell::state(format!("turned off by {why}"), Tone::Bad);
    }
    if world.health.unhealthy(now).contains(&rail.id) {
        return Cell::state("unreachable", Tone::Bad);
    }
    if !rail.is_open(now) {
        return Cell::state("outside opening hours", Tone::Plain);
    }
    Cell::state("in use", Tone::Good)
}

fn corridor_row(visit: &Visit, country: Country) -> Vec<Cell> {
    let world = visit.console().payments.world();
    let Some(corridor) = world.corridors.corridors.get(&country) else {
        return vec![Cell::text(country.alpha3()), Cell::state("not configured", Tone::Plain)];
    };
    let state = match world.switches.off().get(&Switch::Corridor(country)) {
        _ if !corridor.open => Cell::state("closed by configuration", Tone::Plain),
        Some(why) => Cell::state(format!("turned off by {why}"), Tone::Bad),
        None => Cell::state("open", Tone::Good),
    };
    let limit = |money: Option<Money>| money.map_or(Cell::Empty, Cell::number);
    let limits = route::limits(&world.corridors, country);
    let cap = corridor.open_quote_cap.map_or("none".to_owned(), |cap| cap.to_string());
    vec![
        Cell::text(country.alpha3()),
        state,
        limit(limits.map(|(least, _)| least)),
        limit(limits.map(|(_, most)| most)),
        Cell::number(Money::new(corridor.step_minor, country.currency())),
        Cell::number(duration_text(corridor.quote_ttl)),
        Cell::number(duration_text(corridor.max_rate_age)),
        Cell::number(cap),
    ]
}

fn rail_row(visit: &Visit, rail: &RailConfig) -> Vec<Cell> {
    let world = visit.console().payments.world();
    let banks = match rail.banks.len() {
        0 => "every bank".to_owned(),
        _ => rail.banks.iter().cloned().collect::<Vec<_>>().join(" "),
    };
    let needs: Vec<&str> = rail.needs.iter().map(|it| need(*it)).collect();
    vec![
        Cell::text(rail.id.to_string()),
        health(visit, rail),
        Cell::text(rail.country.alpha3()),
        Cell::text(if rail.kind == RailKind::Instant { "instant" } else { "batch" }),
        Cell::number(rail.min),
        Cell::number(rail.max),
        Cell::maybe(rail.sender_limits.as_ref().map(of_one_sender)),
        Cell::number(Money::new(rail.cost_minor, domain::currency::Currency::Usdt).decimal()),
        Cell::text(hours(rail.hours.as_ref())),
        world.pace.median(&rail.id).map_or(Cell::Empty, |pace| Cell::number(duration_text(pace))),
        Cell::text(banks),
        Cell::maybe((!needs.is_empty()).then(|| needs.join(", "))),
    ]
}

pub(super) async fn show(visit: Visit) -> Answer {
    let mut sections = vec![dry_run(&visit).await?];
    let is_wrong = sections
        .iter()
        .any(|section| section.filters.as_ref().is_some_and(|form| form.fault.is_some()));
    sections.extend(sections_of(&visit, &BTreeSet::from(Country::ALL)));
    sections.push(switches(&visit));
    let serve = if is_wrong { page_of_wrong_form } else { page };
    serve(&visit, "Corridors and rails", sections)
}

/// The corridors to these countries, and their rails.
pub(crate) fn sections_of(visit: &Visit, countries: &BTreeSet<Country>) -> Vec<Section> {
    let world = visit.console().payments.world();
    let corridors =
        countries.iter().filter(|country| world.corridors.corridors.contains_key(*country));
    let corridors: Vec<_> = corridors.map(|country| corridor_row(visit, *country)).collect();
    let rails = world.corridors.rails.iter().filter(|rail| countries.contains(&rail.country));
    let rails: Vec<_> = rails.map(|rail| rail_row(visit, rail)).collect();
    let corridor_head = [
        "Country",
        "State",
        "Minimum",
        "Maximum",
        "Step",
        "Quote validity",
        "Maximum rate age",
        "Open quotes at most",
    ];
    let rail_head = [
        "Rail",
        "State",
        "Country",
        "Kind",
        "Minimum",
        "Maximum",
        "Per sender",
        "Cost (stablecoin)",
        "Hours",
        "Typical duration",
        "Banks",
        "Requires",
    ];
    vec![
        Section {
            title: "Corridors".to_owned(),
            table: Some(
                Table::new("Corridors", &corridor_head, corridors).or("No corridor is configured."),
            ),
            ..Section::default()
        },
        Section {
            title: "Rails".to_owned(),
            says: vec!["Health and typical duration are measured by this process.".to_owned()],
            table: Some(Table::new("Rails", &rail_head, rails).or("No rail is configured.")),
            ..Section::default()
        },
    ]
}

fn reason(unfit: Option<&Unfit>, first: bool) -> Cell {
    match unfit {
        None if first => Cell::state("selected", Tone::Good),
        None => Cell::state("possible, but more expensive", Tone::Plain),
        Some(Unfit::SenderLimit(exceeded)) => {
            let limit = grouped(&exceeded.to_string());
            Cell::state(format!("exceeds its limit of {limit} per sender"), Tone::Bad)
        }
        Some(unfit) => Cell::state(unfit.words(), Tone::Bad),
    }
}

/// A sender's usage of the country's limited rails, from one of their payments.
async fn spent_by_its_sender(
    visit: &Visit,
    country: Country,
    payment: &str,
) -> Result<UsageByRail, Stop> {
    let unknown = || Stop::wrong("payment", "Payment not found.");
    let (tenant, id) = (visit.tenant_id()?, PaymentId::parse(payment).ok_or_else(unknown)?);
    let record = visit.console().store().payment_record(tenant, id).await?.ok_or_else(unknown)?;
    let world = visit.console().payments.world();
    let sender = Sender::of_order(tenant, &record.order);
    let asked = world.corridors.usage_keys(country, sender, world.clock.now());
    Ok(visit.console().store().usage_by_rail(tenant, asked).await?)
}

/// The form that finds a route, and its answer or what is wrong with it.
async fn dry_run(visit: &Visit) -> Result<Section, Stop> {
    let asked = visit.query();
    let countries: Vec<(&str, &str)> =
        Country::ALL.map(|country| (country.alpha3(), country.alpha3())).into();
    let mut form = FormView {
        id: "route".to_owned(),
        // The section, so that the answer is in view.
        action: visit.href("/corridors#about-Findroute"),
        button: "Find route",
        ..FormView::lookup(vec![
            Field::choice("country", "Country", &countries).as_asked(asked),
            Field::line("amount", "Beneficiary receives").as_asked(asked),
            Field::line("bank", "BIC of the bank").optional().as_asked(asked),
            Field::line("payment", "Payment of the same sender").optional().as_asked(asked),
        ])
    };
    let mut says = vec![
        "A dry run: nothing is sent. Required fields are checked only for real orders; limits per sender, only if a \
         payment of that sender is given."
            .to_owned(),
    ];
    let mut table = None;
    if let Some(amount) = asked.given("amount") {
        match find_route(visit, amount).await {
            Ok((answer, rails)) => {
                says.insert(0, answer);
                table = Some(rails);
            }
            Err(Stop::Wrong(field, words)) => form.fault = Some((field, words)),
            Err(stop) => return Err(stop),
        }
    }
    let title = "Find route".to_owned();
    Ok(Section { title, says, filters: Some(form), table, ..Section::default() })
}

/// The route for an amount now, with every rail's reason.
async fn find_route(visit: &Visit, amount: &str) -> Result<(String, Table), Stop> {
    let asked = visit.query();
    let country = Country::parse(asked.text("country"))
        .ok_or_else(|| Stop::wrong("country", "Please choose a country."))?;
    let no_amount = || {
        let currency = country.currency().code();
        Stop::wrong("amount", format!("{amount} is not a valid amount in {currency}."))
    };
    let amount = typed_amount(amount)
        .and_then(|text| Decimal::parse(&text).ok())
        .and_then(|value| Money::exact(value, country.currency()));
    let amount = amount.filter(|amount| amount.minor > 0).ok_or_else(no_amount)?;
    let bank = asked.given("bank").map(str::to_ascii_uppercase);
    let bank = bank
        .as_deref()
        .map(|bic| bic.get(..4).ok_or_else(|| Stop::wrong("bank", "A BIC has 8 or 11 letters.")));
    let spent = match asked.given("payment") {
        Some(payment) => Some(spent_by_its_sender(visit, country, payment).await?),
        None => None,
    };
    let wanted = Wanted {
        country,
        amount,
        bank: bank.transpose()?,
        order: None,
        default_local_code: false,
        payee: None,
        spent: spent.as_ref(),
    };
    let world = visit.console().payments.world();
    let now = world.clock.now();
    let rails =
        route::explain(&world.corridors, &wanted, &BTreeSet::new(), &world.resting_rails(now), now);
    let taken = rails.iter().position(|(_, unfit)| unfit.is_none());
    let row = |(at, (rail, unfit)): (usize, &(&RailConfig, Option<Unfit>))| {
        vec![
            Cell::text(rail.id.to_string()),
            reason(unfit.as_ref(), taken == Some(at)),
            Cell::number(Money::new(rail.cost_minor, domain::currency::Currency::Usdt).decimal()),
        ]
    };
    let rows: Vec<_> = rails.iter().enumerate().map(row).collect();
    let closed = match world.corridors.corridors.get(&country) {
        Some(corridor) => !corridor.open || world.switches.is_closed(country),
        None => true,
    };
    let text = |money: Money| grouped(&money.to_string());
    let (shown, limits) = (text(amount), route::limits(&world.corridors, country));
    let answer = match (taken, limits) {
        _ if closed => {
            format!("{} is closed: it accepts no quotes and no payments.", country.alpha3())
        }
        (Some(at), _) => format!("{shown} would be sent through {}.", rails[at].0.id),
        (None, Some((least, _))) if amount.minor < least.minor => {
            format!("{shown} is not accepted: the corridor's minimum is {}.", text(least))
        }
        (None, Some((_, most))) if amount.minor > most.minor => {
            format!("{shown} is not accepted: the corridor's maximum is {}.", text(most))
        }
        (None, _) => format!("{shown} would wait or be rejected: no rail is available for it now."),
    };
    let head = ["Rail", "Result", "Cost (stablecoin)"];
    let table = Table::new("Rails of the country, cheapest first", &head, rows);
    Ok((answer, table.or("The country has no rail.")))
}

const OFF: Verdict = Verdict {
    value: "off",
    label: "Turn off",
    effect: "For every tenant, until it is turned on.",
    rare: false,
};
const ON: Verdict =
    Verdict { value: "on", label: "Turn on", effect: "For every tenant.", rare: false };

fn switches(visit: &Visit) -> Section {
    if !visit.may_use("POST", "/console/t/{tenant}/corridors/switch") {
        return Section::default();
    }
    let world = visit.console().payments.world();
    let all = world.corridors.corridors.keys().map(|country| Switch::Corridor(*country));
    let all = all.chain(world.corridors.rails.iter().map(|rail| Switch::Rail(rail.id.clone())));
    let names: Vec<(String, String)> = all.map(|it| (it.name(), named(&it))).collect();
    let names: Vec<(&str, &str)> =
        names.iter().map(|(name, label)| (name.as_str(), label.as_str())).collect();
    let form = FormView::new("switch", "Turn off or on", visit.href("/corridors/switch"), "")
        .field(Field::choice(WHAT, "Corridor or rail", &names).unchosen())
        .verdicts(vec![ON, OFF]);
    Section { title: "Switches".to_owned(), forms: vec![form], ..Section::default() }
}

/// A corridor or rail in a sentence.
fn named(switch: &Switch) -> String {
    match switch {
        Switch::Corridor(country) => format!("corridor to {}", country.name()),
        Switch::Rail(rail) => format!("rail {rail}"),
    }
}

/// The effect of turning it off or on.
const fn effect(switch: &Switch, on: bool) -> &'static str {
    match (switch, on) {
        (Switch::Corridor(_), false) => {
            "It accepts no new quotes and payments of any tenant; those in progress continue."
        }
        (Switch::Corridor(_), true) => "It accepts quotes and payments of every tenant again.",
        (Switch::Rail(_), false) => {
            "It gets no payments of any tenant: they use another rail, or wait."
        }
        (Switch::Rail(_), true) => "It gets payments of every tenant again.",
    }
}

/// The page on which a switch is confirmed.
pub(super) async fn ask_to_switch(visit: Visit) -> Answer {
    let (switch, verdict) = wanted(&visit, visit.query())?;
    let off = visit.console().payments.world().switches.off();
    let state = match off.get(&switch) {
        Some(why) => Cell::state(format!("turned off by {why}"), Tone::Bad),
        None => Cell::state("on", Tone::Good),
    };
    let to = visit.href("/corridors/switch");
    let form = FormView::new("switch", "", to, verdict.label)
        .says(effect(&switch, verdict.value == ON.value))
        .field(Field::hidden(WHAT, switch.name()))
        .field(Field::hidden("verdict", verdict.value))
        .why()
        .danger();
    let sections = vec![
        Section { facts: vec![("State", state)], ..Section::default() },
        Section {
            forms: vec![form],
            links: vec![(visit.href("/corridors"), "Back without a change".to_owned())],
            ..Section::default()
        },
    ];
    page(&visit, &format!("{} the {}?", verdict.label, named(&switch)), sections)
}

/// The switch of a configured corridor or rail.
fn known(visit: &Visit, name: &str) -> Option<Switch> {
    let corridors = &visit.console().payments.world().corridors;
    let is_known = |switch: &Switch| match switch {
        Switch::Corridor(country) => corridors.corridors.contains_key(country),
        Switch::Rail(rail) => corridors.rail(rail as &RailId).is_some(),
    };
    Switch::parse(name).filter(is_known)
}

/// The corridor or rail in a form, and what to do with it.
fn wanted(visit: &Visit, form: &Form) -> Result<(Switch, Verdict), Stop> {
    let no_such = || Stop::wrong(WHAT, "Please choose a corridor or rail.");
    let switch = known(visit, form.text(WHAT)).ok_or_else(no_such)?;
    let verdict = [OFF, ON].into_iter().find(|it| it.value == form.text("verdict"));
    let neither = || Stop::Invalid("Please choose to turn it off or on.".to_owned());
    Ok((switch, verdict.ok_or_else(neither)?))
}

pub(super) async fn switch(visit: Visit) -> Result<Response, Stop> {
    let (switch, verdict) = wanted(&visit, visit.form())?;
    let on = verdict.value == ON.value;
    let why = visit.why()?;
    let world = visit.console().payments.world();
    world.switches.set(visit.console().store(), &switch, on, visit.deed(why)).await?;
    let words = format!("The {} is turned {}.", named(&switch), verdict.value);
    Ok(visit.done(&visit.href("/corridors"), &words))
}
