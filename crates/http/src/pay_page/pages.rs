//! Renders the pages. Templates escape every value; amounts, names and addresses are in `<bdi>`, so
//! they keep their own direction in a page of any script.

use askama::Template;
use domain::currency::StableCoin;
use domain::payment_request::{Asked, PaymentRequest};
use domain::phone::{DIAL_COUNTRIES, DialCountry};
use domain::sponsor::SponsoredState;
use domain::time::Timestamp;

use super::assets::{ASSETS, Assets};
use super::back;
use super::brand::Look;
use super::find::{self, Sought};
use super::form::{Field, Form};
use super::language::Language;
use super::live;
use super::receipt::{self, Receipt};
use super::target::Target;
use super::view::{self, Back, View, amount_asked, short_name};
use super::visit::Here;
use super::way::{BROWSER, Way};
use super::words::{Markup, Words};

/// Reload interval in seconds, without a script, of a page that waits for money or follows it: leaves
/// time to copy the details, or to enter a transaction that is not shown.
const REFRESH_SENDING_S: u32 = 60;
/// Reload interval in seconds, without a script, of a page that follows a refund, which operators
/// decide.
const REFRESH_BACK_S: u32 = 60;
/// An example phone number: 50 is a mobile prefix of the United Arab Emirates, the rest is
/// fictitious.
const PHONE_EXAMPLE: &str = "+971 50 123 4567";
const AMOUNT_EXAMPLE: &str = "25.50";
/// The prefix of an address.
const ADDRESS_PREFIX: &str = "0x";

/// What every page has in common.
pub struct Base {
    pub t: Words,
    pub assets: &'static Assets,
    pub refresh_s: Option<u32>,
    /// The language and its link.
    pub languages: Vec<(Language, String)>,
    pub payee: Option<String>,
    pub brand: Look,
}

impl Base {
    /// The base of a page about a request, or of a message.
    pub fn of(here: &Here, refresh_s: Option<u32>, frame: Option<&Frame>) -> Base {
        let languages = Language::ALL
            .map(|language| (language, here.link("", Some(language), here.coin)))
            .into();
        Base {
            t: Words(here.language),
            assets: &ASSETS,
            refresh_s,
            languages,
            payee: frame.map(|frame| frame.payee.clone()),
            brand: frame.map(|frame| frame.brand.clone()).unwrap_or_default(),
        }
    }
}

/// A link that expires in less than this warns of it.
const SOON_S: i64 = 600;
/// Characters of the request's id that a sender quotes: the console finds it by them.
const REFERENCE_CHARS: usize = 8;

/// The request data that every page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub words: Words,
    /// Name of the bank that requests the payment.
    pub payee: String,
    /// The recipient as a sender may know them: [`short_name`].
    pub person: Option<String>,
    /// Whether this is a sandbox.
    pub sandbox: bool,
    /// The requested amount: number, and token or currency; `None` for any amount.
    pub amount: Option<(String, &'static str)>,
    /// About how much that is in the sender's currency, if known.
    pub about: Option<String>,
    pub purpose: Option<String>,
    /// What the sender quotes to the bank.
    pub reference: String,
    pub receipt: Receipt,
    pub brand: Look,
    pub expires_at: Timestamp,
    /// Seconds until the expiry.
    pub left_s: i64,
}

impl Frame {
    /// The frame of a request at a given time, for the visitor's language and token.
    pub fn of(
        request: &PaymentRequest,
        payee: &str,
        sandbox: bool,
        here: &Here,
        now: Timestamp,
    ) -> Frame {
        Frame {
            words: Words(here.language),
            payee: payee.to_owned(),
            person: request.recipient_name.as_deref().map(short_name),
            sandbox,
            amount: amount_asked(&request.asked),
            about: about_asked(&request.asked, here.coin),
            purpose: request.purpose.clone(),
            receipt: Receipt::default(),
            brand: Look::default(),
            reference: request.id.to_string().chars().take(REFERENCE_CHARS).collect(),
            expires_at: request.expires_at,
            left_s: (request.expires_at.unix_seconds() - now.unix_seconds()).max(0),
        }
    }
}

impl Frame {
    /// Whether the link expires soon.
    pub const fn ends_soon(&self) -> bool {
        self.left_s < SOON_S
    }
}

/// A fiat amount in the chosen token, or else the first one, as fixed for the request.
fn about_asked(asked: &Asked, chosen: Option<&str>) -> Option<String> {
    let Asked::Fiat { .. } = asked else { return None };
    let due = || StableCoin::ALL.into_iter().filter_map(|coin| Some((coin, asked.due(coin)?)));
    let is_chosen = |(coin, _): &(StableCoin, i64)| chosen == Some(coin.currency().code());
    let (coin, minor) = due().find(is_chosen).or_else(|| due().next())?;
    Some(view::amount(coin, minor))
}

/// An instant to the minute; the script converts it to local time.
pub fn instant(at: Timestamp) -> Markup {
    let text = at.to_string();
    Markup(format!("<time datetime=\"{text}\">{} {} UTC</time>", &text[..10], &text[11..16]))
}

/// A page to render.
pub struct Page<'a> {
    /// The path and language.
    pub here: &'a Here,
    /// The view to show.
    pub view: &'a View,
    pub frame: &'a Frame,
    /// The input of the details form.
    pub form: &'a Form,
    /// The payment details, if the view shows them.
    pub target: Option<&'a Target>,
    /// The result of a transaction lookup, and its input.
    pub sought: Option<(Sought, &'a str)>,
    /// The display name of the chain.
    pub network: &'a str,
    /// Whether the visitor has submitted the sender's details.
    pub known: bool,
    /// The visitor's refund address, if entered.
    pub answer: &'a Answer,
}

/// The visitor's answer to the refund question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The saved address (EIP-55).
    pub kept: Option<String>,
    /// The input, if invalid.
    pub typed: Option<Field>,
    /// Whether the maximum number of answers is reached.
    pub is_last: bool,
}

/// The template of a page's frame.
struct Framed<'a> {
    frame: &'a Frame,
    step: u8,
    /// The first page, which names who asks and the amount at full size.
    asks: bool,
    /// The payment ended without reaching the recipient, so the progress steps are hidden.
    ended: bool,
    shape: String,
    live: Markup,
    /// Paths for updates: polling and streaming.
    follow: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "pay/message.html")]
struct MessagePage {
    base: Base,
    title: Markup,
    texts: Vec<Markup>,
}

#[derive(Template)]
#[template(path = "pay/ask.html")]
struct AskPage<'a> {
    base: Base,
    framed: Framed<'a>,
    /// The link of a way to pay, its name, and examples or a hint.
    choices: Vec<(String, &'static str, Markup)>,
    token: &'static str,
    ends: Markup,
}

#[derive(Template)]
#[template(path = "pay/details.html")]
struct DetailsPage<'a> {
    base: Base,
    framed: Framed<'a>,
    form: &'a Form,
    action: String,
    way: Way,
    suggested: &'static [&'static str],
    phones: &'static [DialCountry],
    browser: &'static str,
    ends: Markup,
}

impl DetailsPage<'_> {
    /// The provider that the sender typed, if it is none of the choices.
    fn other(&self) -> &str {
        let value = self.form.custodial_provider.value.as_str();
        if self.suggested.contains(&value) { "" } else { value }
    }

    fn fault(&self, field: &Field) -> askama::Result<Markup> {
        match field.fault {
            None => Ok(Markup::default()),
            Some("fault-phone") => self.base.t.with("fault-phone", &[("example", PHONE_EXAMPLE)]),
            Some(key) => self.base.t.say(key),
        }
    }
}

#[derive(Template)]
#[template(path = "pay/send.html")]
struct SendPage<'a> {
    base: Base,
    framed: Framed<'a>,
    help: Help<'a>,
    target: &'a Target,
    amount: Option<String>,
    /// The amount with its token.
    amount_shown: String,
    title: Markup,
    before: Markup,
    /// Another token, and its link.
    others: Vec<(Markup, String)>,
    again: String,
    back: Option<BackForm<'a>>,
    sponsored: Option<SponsoredState>,
    /// Path of the transfer to sign; `None` = the bank pays for none.
    authorization: Option<String>,
}

impl SendPage<'_> {
    /// The message about what to send.
    fn tell(&self, key: &str) -> askama::Result<Markup> {
        let (coin, network) = (self.target.coin(), &self.target.network);
        let sum = if self.amount.is_some() { self.amount_shown.as_str() } else { coin };
        let values = [
            ("token", coin),
            ("network", network.name.as_str()),
            ("amount", sum),
            ("coin", network.gas_coin.as_str()),
            ("name", network.other_name.unwrap_or_default()),
            ("example", AMOUNT_EXAMPLE),
            ("wallet", ""),
        ];
        self.base.t.with(key, &values)
    }

    /// Whether the bank is sending the visitor's own transfer.
    const fn is_sending(&self) -> bool {
        matches!(self.sponsored, Some(SponsoredState::Sending))
    }

    fn opens(&self, way: &str) -> bool {
        matches!(
            (self.target.way, way),
            (Way::Exchange, "exchange") | (Way::Phone, "phone") | (Way::Browser, "browser")
        )
    }
}

#[derive(Template)]
#[template(path = "pay/status.html")]
struct StatusPage<'a> {
    base: Base,
    framed: Framed<'a>,
    help: Option<Help<'a>>,
    receipt: Markup,
    again: Option<String>,
    back: Option<BackForm<'a>>,
}

/// The refund address form.
struct BackForm<'a> {
    /// The form's action; `None` if the form is closed.
    action: Option<String>,
    /// Only on the page of the sender.
    is_elsewhere: bool,
    kept: Option<&'a str>,
    value: &'a str,
    fault: Option<Markup>,
    label: Markup,
    /// How to find an address in an exchange app, and of one's own wallet.
    exchange: Markup,
    own: Markup,
}

/// "I have paid, but my payment is not shown".
struct Help<'a> {
    typed: &'a str,
    answer: Option<Markup>,
    /// Hidden fields of the form.
    carried: Vec<(&'static str, &'static str)>,
    label: Markup,
}

/// A page without a request: a title and a text.
pub fn message(here: &Here, title: &str, texts: &[&str]) -> askama::Result<String> {
    let words = Words(here.language);
    let texts = texts.iter().map(|key| words.say(key)).collect::<askama::Result<_>>()?;
    MessagePage { base: Base::of(here, None, None), title: words.say(title)?, texts }.render()
}

/// The page of a link that cannot be paid, whatever the reason.
pub fn closed(here: &Here) -> askama::Result<String> {
    message(here, "closed-title", &["closed-text", "closed-paid"])
}

impl Page<'_> {
    /// Renders the page of the view.
    pub fn render(&self) -> askama::Result<String> {
        match (self.view, self.target) {
            (View::Details { .. }, _) => match self.here.from {
                None if !self.form.has_faults() => self.ask(),
                from => self.details(from.unwrap_or(Way::Exchange)),
            },
            (View::Send { .. }, Some(target)) => self.send(target),
            (View::Status { .. }, _) => self.status(),
            (View::Closed | View::Send { .. }, _) => closed(self.here),
        }
    }

    fn base(&self, refresh_s: Option<u32>) -> Base {
        Base::of(self.here, refresh_s, Some(self.frame))
    }

    fn framed(&self) -> askama::Result<Framed<'_>> {
        let below = |below: &str| self.here.link(below, Some(self.here.language), None);
        Ok(Framed {
            frame: self.frame,
            step: self.view.step(),
            asks: false,
            ended: self.view.has_failed(),
            shape: self.view.shape(),
            live: live::live(self.view, self.frame.words)?,
            follow: self.view.is_followed().then(|| (below("/status"), below("/stream"))),
        })
    }

    fn ask(&self) -> askama::Result<String> {
        let words = self.frame.words;
        let choices = Way::ALL.map(|way| {
            let link = self.here.link_from("", self.here.carried(), self.here.coin, Some(way));
            let (name, hint) = match way {
                Way::Exchange => ("way-exchange", Markup(way.suggested()[..4].join(", "))),
                Way::Phone => ("way-phone", Markup(way.suggested()[..2].join(", "))),
                Way::Browser => ("way-browser", words.say("way-browser-hint")?),
            };
            Ok((link, name, hint))
        });
        let choices = choices.into_iter().collect::<askama::Result<_>>()?;
        let framed = Framed { asks: true, ..self.framed()? };
        let token = match self.frame.amount {
            Some((_, "USDT")) => "USDT",
            _ => "USDC",
        };
        AskPage { base: self.base(None), framed, choices, token, ends: self.ends()? }.render()
    }

    /// When the link expires.
    fn ends(&self) -> askama::Result<Markup> {
        self.frame.words.around("ends", "time", &instant(self.frame.expires_at))
    }

    fn details(&self, way: Way) -> askama::Result<String> {
        let ends = self.ends()?;
        let (base, framed) = (self.base(None), self.framed()?);
        let action = format!("{}#faults", self.here.link("", self.here.carried(), None));
        let (suggested, phones, browser) = (way.suggested(), &DIAL_COUNTRIES, BROWSER);
        DetailsPage { base, framed, form: self.form, action, way, suggested, phones, browser, ends }
            .render()
    }

    fn send(&self, target: &Target) -> askama::Result<String> {
        let (words, amount) = (self.frame.words, target.amount());
        let shown = target.offer.minor.map(|minor| view::amount(target.offer.coin, minor));
        let amount_shown = shown.unwrap_or_default();
        let title = match &amount {
            Some(_) => {
                let key = if self.view.part().is_some() { "send-rest" } else { "send-amount" };
                words.with(key, &[("amount", &amount_shown)])?
            }
            None => words.with("send-any", &[("token", target.coin())])?,
        };
        let others = target.others.iter().map(|other| {
            let code = other.coin.currency().code();
            let said = words.with("other-token", &[("token", code)])?;
            Ok((said, self.here.link("", self.here.carried(), Some(code))))
        });
        let others = others.collect::<askama::Result<_>>()?;
        let before = words.around("pay-before", "time", &instant(self.frame.expires_at))?;
        let again = self.here.link("", self.here.carried(), self.here.coin);
        let (base, framed, help) =
            (self.base(self.refresh(REFRESH_SENDING_S)), self.framed()?, self.help()?);
        SendPage {
            base,
            framed,
            help,
            target,
            amount,
            amount_shown,
            title,
            before,
            others,
            again,
            back: self.back()?,
            sponsored: self.view.sponsored(),
            authorization: target
                .is_sponsored
                .then(|| self.here.link_from("/authorization", None, Some(target.coin()), None)),
        }
        .render()
    }

    fn status(&self) -> askama::Result<String> {
        let waiting = self.view.is_waiting();
        let help = if waiting { Some(self.help()?) } else { None };
        let receipt = receipt::receipt(self.view, self.frame, self.network, self.known)?;
        let followed = self.view.is_followed();
        let again = followed.then(|| self.here.link("", self.here.carried(), None));
        let refresh_s = match (waiting, followed) {
            // A payment may be looked up: leaves time to enter its transaction.
            (true, _) => self.refresh(REFRESH_SENDING_S),
            (false, true) => self.refresh(REFRESH_BACK_S),
            (false, false) => None,
        };
        let base = self.base(refresh_s);
        StatusPage { base, framed: self.framed()?, help, receipt, again, back: self.back()? }
            .render()
    }

    /// Reload interval in seconds without a script; `None` while the visitor may be filling in an
    /// address, or has looked up a transaction.
    fn refresh(&self, seconds: u32) -> Option<u32> {
        (self.view.back() != Back::Asks && self.sought.is_none()).then_some(seconds)
    }

    fn back(&self) -> askama::Result<Option<BackForm<'_>>> {
        let (words, answer) = (self.frame.words, self.answer);
        let takes = match self.view.back() {
            Back::No => return Ok(None),
            // Without a refund address there is nothing to show.
            Back::Fixed if answer.kept.is_none() => return Ok(None),
            Back::Asks => !answer.is_last,
            Back::Fixed | Back::Elsewhere => false,
        };
        let link = || self.here.link("", self.here.carried(), self.here.coin);
        let action = takes.then(|| format!("{}#back", link()));
        let example = [("example", ADDRESS_PREFIX)];
        let fault = match answer.typed.as_ref().and_then(|field| field.fault) {
            Some(back::NO_ADDRESS) => Some(words.with("fault-address", &example)?),
            Some(key) => Some(words.say(key)?),
            None => None,
        };
        let coins = self.view.coins_asked_about();
        let values = [("network", self.network), ("token", coins.as_str())];
        Ok(Some(BackForm {
            action,
            is_elsewhere: self.view.back() == Back::Elsewhere,
            kept: answer.kept.as_deref(),
            value: answer.typed.as_ref().map_or("", |field| field.value.as_str()),
            fault,
            label: words.with("back-address", &example)?,
            exchange: words.with("back-exchange", &values)?,
            own: words.with("back-own", &values)?,
        }))
    }

    fn help(&self) -> askama::Result<Help<'_>> {
        let (answer, typed) = match self.sought {
            Some((sought, typed)) => (Some(sought.message(self.frame.words)?), typed),
            None => (None, ""),
        };
        let carried = [
            self.here.carried().map(|language| ("lang", language.code())),
            self.here.coin.map(|coin| ("coin", coin)),
            self.here.from.map(|from| ("from", from.code())),
        ];
        let label = self.frame.words.with("help-hash", &[("example", find::PREFIX)])?;
        Ok(Help { typed, answer, carried: carried.into_iter().flatten().collect(), label })
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
