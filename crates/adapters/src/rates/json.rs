//! Reads rates from JSON by its structure, whatever its publisher calls the members: an object of rates by
//! currency, pairs, or prices by stablecoin, at any place. Every number stays text.
//!
//! What cannot be read without a guess is refused: two rates of a pair, a rate without a base or a time.

use std::collections::HashSet;
use std::fmt;

use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::time::{Span, Timestamp};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::names::{self, ORIGIN, SIDES, is_code, is_pair, is_quote, joined};
use super::sheet::{
    Form, JsonShape, Price, Reading, Sheet, SheetError, currency, is_one, pair, shown,
};

/// Maximum nesting of a document.
const MAX_DEPTH: usize = 12;
/// The first HTTP status of an error, which some publishers repeat in the document.
const HTTP_ERROR: u64 = 400;
/// Names of the number of units that a rate is of.
const UNITS: [&str; 5] = ["amount", "base_amount", "per", "per_units", "lot_size"];
/// Other names of it contain one of these words, unless one of [`NO_UNIT`], too.
const UNIT_WORDS: [&str; 9] = [
    "unit",
    "units",
    "nominal",
    "quantity",
    "multiplier",
    "lot",
    "factor",
    "faktor",
    "denomination",
];
/// Names, without separators, of a number of units of the base currency, by which its rate is divided;
/// other names leave open what the number is of.
const BASE_UNITS: [&str; 12] = [
    "unit",
    "units",
    "nominal",
    "nominalvalue",
    "denomination",
    "per",
    "perunit",
    "perunits",
    "currencyunit",
    "currencyunits",
    "unitofcurrency",
    "baseunits",
];
/// Words of names of prices, limits, forms of numbers, and sizes of orders and trades.
const NO_UNIT: [&str; 23] = [
    "ask",
    "bid",
    "conversion",
    "last",
    "order",
    "trade",
    "traded",
    "volume",
    "price",
    "rate",
    "cost",
    "fee",
    "id",
    "code",
    "count",
    "precision",
    "decimals",
    "digits",
    "min",
    "max",
    "minimum",
    "maximum",
    "step",
];
/// Words of names of a number that every rate is multiplied with or divided by.
const SCALES: [&str; 6] = ["scale", "scaling", "pricescale", "divisor", "denominator", "divide"];
/// Words of names of an exponent that it has.
const EXPONENTS: [&str; 4] = ["exponent", "expo", "exp", "power"];
/// The greatest exponent; a greater number, such as the time of an expiry, is none.
const MAX_EXPONENT: u64 = 18;
/// Words of names of a number of decimals: the form of printed numbers, or how many digits of a whole
/// number are decimals.
const DECIMALS: [&str; 5] = ["decimals", "decimal", "precision", "digits", "fraction"];
/// Names of a time contain one of these.
const TIMES: [&str; 5] = ["time", "date", "as_of", "updated", "refreshed"];
/// Names of a time that is not that of the rates contain one of these.
const OTHER_TIMES: [&str; 10] = [
    "next", "server", "request", "query", "response", "expir", "until", "elapsed", "cache",
    "execut",
];
/// Names of the day of the rates, which counts if a time beside it is of a later day: some documents
/// state when they were sent.
const DAYS: [&str; 8] = [
    "date",
    "as_of",
    "as_of_date",
    "rate_date",
    "effective_date",
    "value_date",
    "published_date",
    "publication_date",
];
/// Stablecoins by the ids of widespread publishers, besides their codes.
const COINS: [(&str, StableCoin); 2] =
    [("tether", StableCoin::Usdt), ("usd-coin", StableCoin::Usdc)];

enum Node {
    Null,
    Bool(bool),
    Text(String),
    /// As written in the document, with every digit.
    Number(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// What an object inherits.
#[derive(Clone, Copy)]
struct Scope {
    base: Option<Currency>,
    as_of: Option<Timestamp>,
}

struct Walk<'a, 'n> {
    read: Reading<'a>,
    root: &'n Node,
    form: Form,
    /// Whether the time and the base are those of the configuration's pointers.
    fixed: Scope,
    /// The second currency of all rates, by the configuration.
    fixed_quote: Option<Currency>,
    /// Whether rates without a base were passed over.
    lacks_base: bool,
    /// A member that may say how many digits of whole numbers are decimals.
    decimals: Option<String>,
    /// Whether a rate is written with a point or an exponent, which a scaled number is not.
    has_fraction: bool,
}

pub(super) fn read(text: &str, shape: &JsonShape, read: Reading<'_>) -> Result<Sheet, SheetError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(form)?;
    let root = node(raw.get(), 0)?;
    if let Some(error) = reported(&root) {
        return Err(SheetError::Reported(error));
    }
    let base = match (&shape.fixed_base, &shape.base) {
        (Some(code), _) => Some(currency("base", code)?),
        (None, Some(pointer)) => Some(currency("base", &text_at(&root, pointer)?)?),
        (None, None) => None,
    };
    let fixed_quote =
        shape.fixed_quote.as_ref().map(|code| currency("fixed_quote", code)).transpose()?;
    let as_of = match &shape.as_of {
        Some(pointer) => Some(read.time(&text_at(&root, pointer)?)?),
        None => None,
    };
    let place = match &shape.rates {
        Some(pointer) => value_at(&root, pointer)?,
        None => &root,
    };
    let fixed = Scope { base, as_of };
    let mut walk = Walk {
        read,
        root: &root,
        form: Form::Rates,
        fixed,
        fixed_quote,
        lacks_base: false,
        decimals: None,
        has_fraction: false,
    };
    let beside = walk.time_beside(&root);
    let is_fixed = base.is_some() || fixed_quote.is_some();
    let named = if is_fixed { None } else { walk.base_of(&root)? };
    let scope = Scope { base: base.or(named), as_of: as_of.or(beside) };
    walk.visit(place, scope)?;
    if walk.read.rates.is_empty() && walk.lacks_base {
        return Err(SheetError::Missing("the base currency".to_owned()));
    }
    if let Some(decimals) = walk.decimals.filter(|_| !walk.has_fraction)
        && !walk.read.rates.is_empty()
    {
        return Err(scaled(&decimals));
    }
    let rates = walk.read.rates;
    let several = rates.iter().any(|rate| rate.base != rates[0].base);
    let several = several && fixed_quote.is_none();
    let form = if walk.form == Form::Rates && several { Form::Coins } else { walk.form };
    Ok(Sheet { form, rates })
}

impl Walk<'_, '_> {
    fn visit(&mut self, node: &Node, scope: Scope) -> Result<(), SheetError> {
        match node {
            Node::List(items) => items.iter().try_for_each(|item| self.visit(item, scope)),
            Node::Object(members) => self.object(node, members, scope),
            _ => Ok(()),
        }
    }

    fn object(
        &mut self,
        node: &Node,
        members: &[(String, Node)],
        scope: Scope,
    ) -> Result<(), SheetError> {
        self.check_scale(members)?;
        let named = pair_named(members);
        let row = self.row_code(node).filter(|_| named.is_none());
        let base = match self.base_of(node) {
            Ok(base) => base,
            // A pair in one text needs no base, nor does a row beside a fixed currency; the rest may
            // be a country's or a currency's name.
            Err(_) if named.is_some() || row.is_some() => None,
            // A part about another base, such as one of many coins, is passed over.
            Err(_) => return Ok(()),
        };
        let scope =
            Scope { base: self.fixed.base.or(base).or(scope.base), ..self.with_time(node, scope) };
        let named = match row {
            Some(Some(code)) => self.pair_with(code, scope),
            Some(None) => return Ok(()),
            None => named.or_else(|| scope.base.zip(quote_named(members))),
        };
        let Some((base, quote)) = named else {
            of_one_unit(members)?;
            return members.iter().try_for_each(|(name, value)| self.member(name, value, scope));
        };
        match price(node) {
            Some(price) => {
                let price = Price { units: units(&about_row(members))?, ..price };
                self.add(Form::Pairs, (base, quote), &price, scope)
            }
            None => Err(SheetError::Missing(format!("the rate of {}", pair(base, quote)))),
        }
    }

    /// The pair of a currency that a document states rates of.
    fn pair_with(&self, code: Currency, scope: Scope) -> Option<(Currency, Currency)> {
        match self.fixed_quote {
            Some(quote) if quote != code => Some((code, quote)),
            // It is 1 in itself.
            Some(quote) => Some((scope.base.unwrap_or(quote), code)),
            None => scope.base.map(|base| (base, code)),
        }
    }

    /// The currency that a row of a table is about besides the fixed one; `Some(None)` is one that
    /// this service does not have.
    fn row_code(&self, node: &Node) -> Option<Option<Currency>> {
        let fixed = self.fixed_quote.or(self.fixed.base)?;
        let Node::Object(members) = node else { return None };
        let is_part = |(name, value): &(String, Node)| {
            matches!(value, Node::List(_) | Node::Object(_)) && joined(name) != "currency"
        };
        if price(node).is_none() && members.iter().any(is_part) {
            return None;
        }
        let about = about_row(members);
        let mut codes = codes_besides(fixed, &about, is_code);
        if codes.is_empty() {
            codes = codes_besides(fixed, &about, |name| names::base_rank(name) == Some(0));
        }
        let first = *codes.first()?;
        codes.iter().all(|code| code.eq_ignore_ascii_case(first)).then(|| code_of(first))
    }

    fn member(&mut self, name: &str, value: &Node, scope: Scope) -> Result<(), SheetError> {
        let (code, pair) = (code_of(name), pair_of(name));
        let mut price = price(value);
        if code.is_none() && pair.is_none() {
            // A row about a currency that this service does not have may be of any number of units.
            let is_other = self.fixed_quote.is_some() && is_currency_code(name) && price.is_some();
            return if is_other { Ok(()) } else { self.visit(value, scope) };
        }
        if let Node::Object(members) = value {
            self.check_scale(members)?;
            // Whose units these are is open if the document's base is another currency.
            match &mut price {
                Some(price) if pair.is_some() || self.fixed_quote.is_some() => {
                    price.units = units(&about_row(members))?;
                }
                _ => of_one_unit(members)?,
            }
        }
        if let Some(pair) = pair {
            return match price {
                Some(price) => self.add(Form::Pairs, pair, &price, scope),
                None => Err(unusable(pair, value)),
            };
        }
        let Some(code) = code else { return Ok(()) };
        let scope = self.with_time(value, scope);
        match (price, self.pair_with(code, scope), value) {
            (Some(price), Some(pair), _) => self.add(self.form, pair, &price, scope),
            (Some(_), None, _) => {
                self.lacks_base = true;
                Ok(())
            }
            (None, _, Node::Object(_)) => {
                self.form = Form::Coins;
                self.visit(value, Scope { base: Some(code), ..scope })
            }
            (None, Some(pair), _) => Err(unusable(pair, value)),
            (None, None, _) => Ok(()),
        }
    }

    /// Refuses an object whose rates are scaled.
    fn check_scale(&mut self, members: &[(String, Node)]) -> Result<(), SheetError> {
        for (name, value) in members {
            let Some(value) = number(value) else { continue };
            let says = || format!("{} {}", shown(name), shown(value));
            match scale(name, value) {
                Scale::None => {}
                Scale::Perhaps => self.decimals = Some(says()),
                Scale::Certain => return Err(scaled(&says())),
            }
        }
        Ok(())
    }

    /// Adds a pair; a source may list its base as 1, which is none. Another value contradicts the base that
    /// the document names.
    fn add(
        &mut self,
        form: Form,
        (base, quote): (Currency, Currency),
        price: &Price,
        scope: Scope,
    ) -> Result<(), SheetError> {
        let sides = price.sides.iter().flat_map(|(bid, ask)| [bid, ask]);
        let mut texts = price.mid.iter().chain(sides);
        if base == quote {
            return match texts.find(|text| !is_one(text)) {
                None => Ok(()),
                Some(other) => Err(SheetError::Form(format!(
                    "{} is {}, but a currency is 1 in itself",
                    pair(base, quote),
                    shown(other)
                ))),
            };
        }
        self.form = form;
        self.has_fraction |= texts.any(|text| text.contains(['.', 'e', 'E']));
        let as_of = scope.as_of.ok_or_else(|| match self.unread_time(self.root) {
            Some(text) => SheetError::Time(shown(text)),
            None => SheetError::Missing(format!("the time of {}", pair(base, quote))),
        })?;
        self.read.add(base, quote, price, as_of)
    }

    fn with_time(&self, node: &Node, scope: Scope) -> Scope {
        // What the root inherits is its own, or older.
        let own = if std::ptr::eq(node, self.root) { None } else { self.time_of(node) };
        Scope { as_of: self.fixed.as_of.or(own).or(scope.as_of), ..scope }
    }

    /// The base that an object names.
    fn base_of(&self, node: &Node) -> Result<Option<Currency>, SheetError> {
        let Node::Object(members) = node else { return Ok(None) };
        let is_code = |code: &str| {
            (3..=5).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        let mut named: Option<(usize, &str)> = None;
        for (name, value) in members {
            let Node::Text(code) = value else { continue };
            let Some(rank) = names::base_rank(name).filter(|_| is_code(code)) else { continue };
            let is_publisher =
                joined(name) == ORIGIN && Currency::parse(&code.to_ascii_uppercase()).is_none();
            match named {
                _ if is_publisher => {}
                Some((known, _)) if known < rank => {}
                Some((known, other)) if known == rank => {
                    let parsed = |code: &str| Currency::parse(&code.to_ascii_uppercase());
                    if parsed(other).is_none() && parsed(code).is_some() {
                        named = Some((rank, code));
                    } else if parsed(code).is_some() && parsed(other) != parsed(code) {
                        let codes = format!("{} and {}", shown(other), shown(code));
                        return Err(SheetError::Form(format!("two base currencies: {codes}")));
                    }
                }
                _ => named = Some((rank, code)),
            }
        }
        named.map(|(_, code)| currency("base", &code.to_ascii_uppercase())).transpose()
    }

    /// The time of an object's own members: the oldest with a time of day, else the oldest date. A
    /// time that is later than the end of the day of the rates is not theirs.
    fn time_of(&self, node: &Node) -> Option<Timestamp> {
        let times = self.times(node);
        let (_, time, _) = times.iter().min().copied()?;
        Some(day_of(&times).filter(|day| *day + Span::days(1) <= time).unwrap_or(time))
    }

    /// The times of an object's own members: whether each is a date only, and whether its name says
    /// that it is that of the rates.
    fn times(&self, node: &Node) -> Vec<(bool, Timestamp, bool)> {
        let Node::Object(members) = node else { return Vec::new() };
        let times = members.iter().filter_map(|(name, value)| {
            let text = time_text(name, value)?;
            let (time, is_precise) = self.read.published.time(text, self.read.now)?;
            Some((!is_precise, time, DAYS.contains(&name.to_ascii_lowercase().as_str())))
        });
        times.collect()
    }

    /// The first text at the place of a time that is none.
    fn unread_time<'n>(&self, node: &'n Node) -> Option<&'n str> {
        match node {
            Node::List(items) => items.iter().find_map(|item| self.unread_time(item)),
            Node::Object(members) => members.iter().find_map(|(name, value)| {
                let is_unread =
                    |text: &&str| self.read.published.time(text, self.read.now).is_none();
                time_text(name, value).filter(is_unread).or_else(|| self.unread_time(value))
            }),
            _ => None,
        }
    }

    /// The time of the root, else of a part of the document that has no rates, such as `meta`. An
    /// earlier day which it states is that of the rates, as in [`Walk::time_of`].
    fn time_beside(&self, root: &Node) -> Option<Timestamp> {
        let Node::Object(members) = root else { return None };
        let has_none = |node: &Node| {
            let Node::Object(members) = node else { return false };
            members.iter().all(|(name, _)| code_of(name).is_none() && pair_of(name).is_none())
        };
        let parts = || {
            let parts = members.iter();
            parts.filter(|(name, node)| code_of(name).is_none() && has_none(node))
        };
        let of_parts = || parts().filter_map(|(_, node)| self.time_of(node)).min();
        let time = self.time_of(root).or_else(of_parts)?;
        let day = parts().filter_map(|(_, node)| day_of(&self.times(node))).min();
        Some(day.filter(|day| *day + Span::days(1) <= time).unwrap_or(time))
    }
}

/// The text of a member that is named as the time of the rates is.
fn time_text<'n>(name: &str, value: &'n Node) -> Option<&'n str> {
    let name = name.to_ascii_lowercase();
    let has = |part: &&str| name.contains(*part);
    let is_theirs = TIMES.iter().any(has) && !OTHER_TIMES.iter().any(has);
    plain(value).filter(|_| is_theirs)
}

/// The earliest day of the rates among an object's times.
fn day_of(times: &[(bool, Timestamp, bool)]) -> Option<Timestamp> {
    let days = times.iter().filter(|(is_day, _, is_theirs)| *is_day && *is_theirs);
    days.map(|(_, day, _)| *day).min()
}

/// The text of an error that a document states instead of rates, whatever its HTTP status.
fn reported(root: &Node) -> Option<String> {
    let Node::Object(members) = root else { return None };
    let is_error =
        members.iter().any(|(name, value)| match (name.to_ascii_lowercase().as_str(), value) {
            ("success" | "ok", Node::Bool(ok)) => !ok,
            ("success" | "ok", Node::Text(ok)) => ok.eq_ignore_ascii_case("false"),
            ("result" | "status", Node::Text(text)) => {
                ["error", "fail", "failed", "failure"].contains(&text.to_ascii_lowercase().as_str())
            }
            ("status" | "statuscode" | "code", Node::Number(code)) => {
                code.parse().is_ok_and(|code: u64| code >= HTTP_ERROR)
            }
            ("error_code" | "errorcode", Node::Number(code)) => code != "0",
            ("status", Node::Object(status)) => {
                let code = status.iter().find(|(name, _)| name == "error_code");
                code.and_then(|(_, code)| plain(code)).is_some_and(|code| code != "0")
            }
            ("error" | "errors", Node::Bool(error)) => *error,
            ("error" | "errors", Node::Number(_)) => false,
            ("error" | "errors", told) => !is_blank(told),
            _ => false,
        });
    is_error.then(|| {
        let mut texts = Vec::new();
        collect(root, &mut texts);
        shown(&texts.join(", "))
    })
}

/// Whether a value says nothing: `{"validation": null}`.
fn is_blank(value: &Node) -> bool {
    match value {
        Node::Null => true,
        Node::Text(text) => text.is_empty(),
        Node::List(items) => items.iter().all(is_blank),
        Node::Object(members) => members.iter().all(|(_, value)| is_blank(value)),
        Node::Number(_) | Node::Bool(_) => false,
    }
}

/// The texts and numbers of an error document.
fn collect(node: &Node, texts: &mut Vec<String>) {
    match node {
        Node::Text(text) | Node::Number(text) => texts.push(text.clone()),
        Node::List(items) => items.iter().for_each(|item| collect(item, texts)),
        Node::Object(members) => members.iter().for_each(|(_, value)| collect(value, texts)),
        Node::Null | Node::Bool(_) => {}
    }
}

/// The currency of a code, or the stablecoin of an id.
fn code_of(name: &str) -> Option<Currency> {
    let coin = COINS.iter().find(|(id, _)| *id == name).map(|(_, coin)| coin.currency());
    Currency::parse(&name.to_ascii_uppercase()).or(coin)
}

/// The currencies of `USDAED`, `USD/AED`, `usd_aed` and the like.
fn pair_of(name: &str) -> Option<(Currency, Currency)> {
    let name = name.to_ascii_uppercase();
    if let Some((base, quote)) = name.split_once(['/', '_', '-', ':']) {
        return Currency::parse(base).zip(Currency::parse(quote));
    }
    // Not "USDT" and "USDC", which begin like pairs: the rest has to be a code, too.
    let ends = (3..=4).filter(|at| name.is_char_boundary(*at) && *at < name.len());
    let mut pairs = ends.filter_map(|at| {
        let (base, quote) = name.split_at(at);
        Currency::parse(base).zip(Currency::parse(quote))
    });
    pairs.next()
}

/// The pair that an element of a list names in one text.
fn pair_named(members: &[(String, Node)]) -> Option<(Currency, Currency)> {
    pair_of(text_of(members, is_pair)?)
}

/// The second currency that an element of a list names.
fn quote_named(members: &[(String, Node)]) -> Option<Currency> {
    Currency::parse(&text_of(members, is_quote)?.to_ascii_uppercase())
}

/// The members of a row of a table that are no parts with members of their own, and those of its
/// `currency`.
fn about_row(members: &[(String, Node)]) -> Vec<&(String, Node)> {
    let about = members.iter().flat_map(|member| match &member.1 {
        Node::Object(inner) if joined(&member.0) == "currency" => inner.iter().collect::<Vec<_>>(),
        Node::Object(_) | Node::List(_) => Vec::new(),
        _ => vec![member],
    });
    about.collect()
}

/// The codes of other currencies than `fixed` in the members whose names are those of codes.
fn codes_besides<'n>(
    fixed: Currency,
    about: &[&'n (String, Node)],
    is_it: impl Fn(&str) -> bool,
) -> Vec<&'n str> {
    let codes = about.iter().copied().filter_map(|(name, value)| {
        let Node::Text(code) = value else { return None };
        let is_publisher = joined(name) == ORIGIN && code_of(code).is_none();
        let is_other = is_currency_code(code) && code_of(code) != Some(fixed);
        (is_it(name) && is_other && !is_publisher).then_some(code.as_str())
    });
    codes.collect()
}

/// Whether a text is the code of a currency, be it one of this service or three letters of one case.
fn is_currency_code(text: &str) -> bool {
    let is_of_one_case = text.bytes().all(|byte| byte.is_ascii_uppercase())
        || text.bytes().all(|byte| byte.is_ascii_lowercase());
    code_of(text).is_some() || text.len() == 3 && is_of_one_case
}

/// The values of a rate: a number, a number as text, or an object with them.
fn price(node: &Node) -> Option<Price> {
    if let Some(number) = number(node) {
        return Some(Price::mid(number));
    }
    let Node::Object(members) = node else { return None };
    let value = |is_it: &dyn Fn(&str) -> bool| {
        let mut named = members.iter().filter(|(name, _)| is_it(name));
        named.find_map(|(_, value)| number(value)).map(str::to_owned)
    };
    let sides = SIDES.iter().find_map(|sides| {
        let low = value(&|name| names::is_side(name, sides.low))?;
        Some(((low, value(&|name| names::is_side(name, sides.high))?), sides.is_open))
    });
    let mids =
        members.iter().filter_map(|(name, value)| Some((names::mid_rank(name)?, number(value)?)));
    let mid = mids.min_by_key(|(rank, _)| *rank).map(|(_, mid)| mid.to_owned());
    let (sides, is_open) = sides.unzip();
    (mid.is_some() || sides.is_some()).then_some(Price {
        mid,
        sides,
        is_open: is_open.unwrap_or(false),
        units: None,
    })
}

/// The number of units of the base currency that a rate is of; `None` = one.
fn units(members: &[&(String, Node)]) -> Result<Option<Decimal>, SheetError> {
    let stated = members.iter().filter(|(name, _)| is_unit(name));
    let stated: Vec<_> = stated.filter_map(|(name, value)| Some((name, number(value)?))).collect();
    let Some((_, several)) = stated.iter().find(|(_, units)| !is_one_unit(units)) else {
        return Ok(None);
    };
    let is_of_base = |(name, value): &(&String, &str)| {
        value == several && BASE_UNITS.contains(&joined(name).as_str())
    };
    let count = Decimal::parse(several.trim()).ok().filter(|count| count.is_positive());
    let count = count.filter(|_| stated.iter().all(is_of_base));
    count.map(Some).ok_or_else(|| of_units(several))
}

/// Refuses an object that states a number of units other than one. A unit may also be a name.
fn of_one_unit(members: &[(String, Node)]) -> Result<(), SheetError> {
    let units = members.iter().filter(|(name, _)| is_unit(name));
    let mut units = units.filter_map(|(_, value)| number(value));
    units.find(|units| !is_one_unit(units)).map_or(Ok(()), |units| Err(of_units(units)))
}

fn of_units(units: &str) -> SheetError {
    SheetError::Form(format!("the rates are of {} units, not of one", shown(units)))
}

/// Whether a number of units is one, as in `1 USD`.
fn is_one_unit(units: &str) -> bool {
    let count = units.split_whitespace().next().unwrap_or_default();
    let (whole, fraction) = count.split_once('.').unwrap_or((count, ""));
    whole == "1" && fraction.bytes().all(|digit| digit == b'0')
}

/// What a member says about the scale of the rates beside it.
enum Scale {
    None,
    /// It does if the rates are whole numbers.
    Perhaps,
    Certain,
}

fn scale(name: &str, value: &str) -> Scale {
    let words = words(name);
    let has = |known: &[&str]| words.split('_').any(|word| known.contains(&word));
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let is_zero = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    let is = |number: &str| whole == number && is_zero(fraction);
    let is_exponent = || whole.parse().is_ok_and(|it: i64| it.unsigned_abs() <= MAX_EXPONENT);
    if is("0") || is("-0") {
        Scale::None
    } else if has(&EXPONENTS) && is_exponent() || has(&SCALES) && !is("1") {
        Scale::Certain
    } else if has(&DECIMALS) || words == "scale" {
        Scale::Perhaps
    } else {
        Scale::None
    }
}

fn scaled(says: &str) -> SheetError {
    SheetError::Form(format!("the rates are scaled numbers ({says}), not decimal numbers"))
}

/// Whether a member's name, such as `quoteUnits` or `unit_of_currency`, is one of a number of units.
fn is_unit(name: &str) -> bool {
    let words = words(name);
    let has = |known: &[&str]| words.split('_').any(|word| known.contains(&word));
    UNITS.contains(&words.as_str()) || has(&UNIT_WORDS) && !has(&NO_UNIT)
}

/// A member's name as words in small letters, separated by `_`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
        before = letter;
    }
    words
}

fn number(node: &Node) -> Option<&str> {
    plain(node).filter(|text| {
        let first = text.trim().trim_start_matches('-').bytes().next();
        first.is_some_and(|byte| byte.is_ascii_digit())
    })
}

fn unusable((base, quote): (Currency, Currency), value: &Node) -> SheetError {
    let found = match value {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Text(text) | Node::Number(text) => format!("{:?}", shown(text)),
        Node::List(_) => "a list".to_owned(),
        Node::Object(_) => "an object without a rate".to_owned(),
    };
    SheetError::Form(format!("{}: {found} is not a number", pair(base, quote)))
}

/// The text of a JSON string or number.
fn plain(node: &Node) -> Option<&str> {
    match node {
        Node::Text(text) | Node::Number(text) => Some(text),
        _ => None,
    }
}

fn text_of(members: &[(String, Node)], is_it: impl Fn(&str) -> bool) -> Option<&str> {
    let mut named = members.iter().filter(|(name, _)| is_it(name));
    named.find_map(|(_, value)| plain(value))
}

fn value_at<'n>(root: &'n Node, pointer: &str) -> Result<&'n Node, SheetError> {
    let missing = || SheetError::Missing(pointer.to_owned());
    pointer.split('/').skip(1).try_fold(root, |node, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match node {
            Node::Object(members) => {
                members.iter().find(|(name, _)| *name == step).map(|(_, value)| value)
            }
            Node::List(items) => place(&step).and_then(|place| items.get(place)),
            _ => None,
        }
        .ok_or_else(missing)
    })
}

/// The place in a list that a step of a pointer names: digits without a leading zero.
fn place(step: &str) -> Option<usize> {
    let is_place = step == "0" || !step.starts_with(['0', '+']);
    is_place.then(|| step.parse().ok())?
}

fn text_at(root: &Node, pointer: &str) -> Result<String, SheetError> {
    let text = plain(value_at(root, pointer)?).map(str::to_owned);
    text.ok_or_else(|| SheetError::Form(format!("{pointer} is neither a number nor a string")))
}

fn form(error: serde_json::Error) -> SheetError {
    SheetError::Form(format!("JSON: {error}"))
}

fn node(raw: &str, depth: usize) -> Result<Node, SheetError> {
    if depth > MAX_DEPTH {
        return Err(SheetError::Form(format!("JSON: nested more than {MAX_DEPTH} levels deep")));
    }
    Ok(match raw.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(raw).map_err(form)?;
            let mut names = HashSet::with_capacity(members.len());
            if let Some((twice, _)) = members.iter().find(|(name, _)| !names.insert(name)) {
                return Err(SheetError::Twice { pair: shown(twice) });
            }
            let nodes = members
                .into_iter()
                .map(|(name, value)| node(value.get(), depth + 1).map(|value| (name, value)));
            Node::Object(nodes.collect::<Result<_, _>>()?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).map_err(form)?;
            let items = items.into_iter().map(|item| node(item.get(), depth + 1));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        Some(b'"') => Node::Text(serde_json::from_str(raw).map_err(form)?),
        Some(b't' | b'f') => Node::Bool(raw == "true"),
        Some(b'n') | None => Node::Null,
        Some(_) => Node::Number(raw.to_owned()),
    })
}

/// The members of an object in order, values as text; unlike a map it keeps duplicates, so that
/// they can be rejected.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
