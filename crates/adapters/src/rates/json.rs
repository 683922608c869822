//! Reads rates from JSON by its structure, whatever its publisher calls the members: an object of rates by
//! currency, pairs, or prices by stablecoin, at any place. Every number stays text.
//!
//! What cannot be read without a guess is refused: two rates of a pair, a rate without a base or a time.

mod node;
mod reported;
mod times;
mod units;

use domain::currency::{Currency, StableCoin};
use domain::time::Timestamp;

use super::names::{self, ORIGIN, SIDES, is_code, is_pair, is_quote, joined};
use super::sheet::{
    Form, JsonShape, Price, Reading, Sheet, SheetError, currency, is_one, pair, shown,
};
use node::{Node, number, plain, text_at, value_at};
use reported::reported;
use units::{Scale, of_one_unit, scale, scaled, units_of};

/// Stablecoins by the ids of widespread publishers, besides their codes.
const COINS: [(&str, StableCoin); 2] =
    [("tether", StableCoin::Usdt), ("usd-coin", StableCoin::Usdc)];

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
    let root = node::parse(text)?;
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
        let (own, quote) = (self.base_of(node), quote_named(members)?);
        // What a row states of itself goes before what is fixed for the document.
        let both = own.as_ref().ok().copied().flatten().zip(quote);
        let named = pair_named(members)?.or(both);
        let row = self.row_code(node, scope.base).filter(|_| named.is_none());
        let own = match own {
            Ok(base) => base,
            Err(SheetError::Currency { code, .. })
                if named.is_none() && quote.is_some() && is_currency_code(&code) =>
            {
                // A pair of a currency that this service does not have.
                return Ok(());
            }
            // A pair in one text needs no base, nor does a row beside a fixed currency; the rest may
            // be a country's or a currency's name.
            Err(_) if named.is_some() || row.is_some() => None,
            // A part about another base, such as one of many coins, is passed over.
            Err(_) => return Ok(()),
        };
        let inherited = scope.base;
        let scope =
            Scope { base: self.fixed.base.or(own).or(inherited), ..self.with_time(node, scope) };
        let (found, is_of_base) = match (named, row) {
            (Some(pair), _) => (Some(pair), true),
            (None, Some(Some(code))) => {
                let own = own.filter(|own| *own != code).or(inherited);
                let found = self.pair_with(code, self.fixed.base.or(own));
                (found, found.is_some_and(|(base, _)| base == code))
            }
            (None, Some(None)) => return Ok(()),
            (None, None) => (scope.base.zip(quote), false),
        };
        let about = about_row(members);
        let Some((base, quote)) = found else {
            of_one_unit(&about)?;
            return members.iter().try_for_each(|(name, value)| self.member(name, value, scope));
        };
        match price(node) {
            Some(price) => {
                let price = Price { units: units_of(&about, is_of_base)?, ..price };
                self.add(Form::Pairs, (base, quote), &price, scope)
            }
            None => Err(SheetError::Missing(format!("the rate of {}", pair(base, quote)))),
        }
    }

    /// The pair of a currency that a document states rates of, given the base that it states.
    fn pair_with(&self, code: Currency, base: Option<Currency>) -> Option<(Currency, Currency)> {
        match self.fixed_quote {
            Some(quote) if base.is_none_or(|base| base == quote) => Some((code, quote)),
            _ => base.map(|base| (base, code)),
        }
    }

    /// The currency that a row of a table is about besides the fixed one; `Some(None)` is one that
    /// this service does not have.
    fn row_code(&self, node: &Node, base: Option<Currency>) -> Option<Option<Currency>> {
        let fixed = self.fixed_quote.or(self.fixed.base)?;
        let Node::Object(members) = node else { return None };
        let is_part = |(name, value): &(String, Node)| {
            matches!(value, Node::List(_) | Node::Object(_)) && joined(name) != "currency"
        };
        if price(node).is_none() && members.iter().any(is_part) {
            return None;
        }
        let about = about_row(members);
        let mut codes = codes_besides(Some(fixed), &about, is_code);
        if codes.is_empty() {
            codes = codes_besides(Some(fixed), &about, |name| names::base_rank(name) == Some(0));
        }
        // In a table of another base, it is the fixed one's turn, too.
        let has_turn = self.fixed_quote.is_some() && base.is_some_and(|base| base != fixed);
        if codes.is_empty() && has_turn && price(node).is_some() {
            codes = codes_besides(None, &about, is_code);
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
        let found = pair.or_else(|| self.pair_with(code?, scope.base));
        if let Node::Object(members) = value {
            self.check_scale(members)?;
            let is_of_base = pair.is_some() || found.is_some_and(|(base, _)| Some(base) == code);
            let units = units_of(&about_row(members), is_of_base && price.is_some())?;
            price = price.map(|price| Price { units, ..price });
        }
        if let Some(pair) = pair {
            return match price {
                Some(price) => self.add(Form::Pairs, pair, &price, scope),
                None => Err(unusable(pair, value)),
            };
        }
        let Some(code) = code else { return Ok(()) };
        let scope = self.with_time(value, scope);
        match (price, found, value) {
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
fn pair_named(members: &[(String, Node)]) -> Result<Option<(Currency, Currency)>, SheetError> {
    named_once(members, is_pair, pair_of)
}

/// The second currency that an element of a list names.
fn quote_named(members: &[(String, Node)]) -> Result<Option<Currency>, SheetError> {
    named_once(members, is_quote, |code| Currency::parse(&code.to_ascii_uppercase()))
}

/// What the members of these names state, of which some may be signs or words.
fn named_once<T: PartialEq>(
    members: &[(String, Node)],
    is_it: impl Fn(&str) -> bool,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, SheetError> {
    let mut named = members.iter().filter(|(name, _)| is_it(name)).filter_map(|(_, value)| {
        let text = plain(value)?;
        Some((text, read(text)?))
    });
    let Some((text, first)) = named.next() else { return Ok(None) };
    match named.find(|(_, other)| *other != first) {
        None => Ok(Some(first)),
        Some((other, _)) => {
            let both = format!("{} and {}", shown(text), shown(other));
            Err(SheetError::Form(format!("a rate of two currencies: {both}")))
        }
    }
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

/// The codes of currencies other than `fixed` in the members whose names are those of codes.
fn codes_besides<'n>(
    fixed: Option<Currency>,
    about: &[&'n (String, Node)],
    is_it: impl Fn(&str) -> bool,
) -> Vec<&'n str> {
    let codes = about.iter().copied().filter_map(|(name, value)| {
        let Node::Text(code) = value else { return None };
        let is_publisher = joined(name) == ORIGIN && code_of(code).is_none();
        let is_other = is_currency_code(code) && (fixed.is_none() || code_of(code) != fixed);
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
