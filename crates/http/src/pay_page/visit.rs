//! The properties of a visit: address, page, language, and the choices in the query.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::ConnectInfo;
use domain::currency::{Currency, StableCoin};
use domain::ids::SenderInfoId;
use http::{Request, header};

use super::cookie;
use super::language::{Language, payer_currency};
use super::way::Way;
use crate::decode::query::Query;

/// Maximum length of a choice.
const CHOICE_MAX_BYTES: usize = 600;

/// The page and its language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// The path of the page.
    pub path: String,
    pub language: Language,
    /// Whether the visitor chose the language: then links and forms carry it.
    pub chosen: bool,
    /// The chosen token, if supported.
    pub coin: Option<&'static str>,
    /// The chosen way to pay.
    pub from: Option<Way>,
    /// The currency of the browser's region, if senders pay in it.
    pub payer_currency: Option<Currency>,
}

impl Here {
    /// The URL of this page or a page below it, with the language and these choices.
    pub fn link(&self, below: &str, language: Option<Language>, coin: Option<&str>) -> String {
        self.link_from(below, language, coin, self.from)
    }

    /// The same with another way to pay.
    pub fn link_from(
        &self,
        below: &str,
        language: Option<Language>,
        coin: Option<&str>,
        from: Option<Way>,
    ) -> String {
        let pairs = [
            language.map(|language| format!("lang={}", language.code())),
            coin.map(|coin| format!("coin={coin}")),
            from.map(|from| format!("from={}", from.code())),
        ];
        let pairs: Vec<String> = pairs.into_iter().flatten().collect();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        format!("{}{below}{query}", self.path)
    }

    /// The language, if links carry it.
    pub fn carried(&self) -> Option<Language> {
        self.chosen.then_some(self.language)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The client's address, for rate limits.
    pub peer: Option<IpAddr>,
    pub here: Here,
    /// `?tx=`: the entered transaction hash; never empty.
    pub typed: Option<String>,
    /// `?account=`: the account of a browser wallet; never empty.
    pub account: Option<String>,
    /// The submission that this browser made for the link, by its cookie.
    pub made: Option<SenderInfoId>,
}

impl Visit {
    /// Reads the visit from a request.
    pub fn of(request: &Request<Body>) -> Visit {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let mut query = Query::of(request.uri().query());
        let mut choice = |name| {
            let given = query.optional(name, |_, given| Ok(given.trim().to_owned()));
            given.filter(|given| !given.is_empty() && given.len() <= CHOICE_MAX_BYTES)
        };
        let chosen = choice("lang").and_then(|tag| Language::parse(&tag));
        let coin = choice("coin")
            .and_then(|code| StableCoin::parse(&code))
            .map(|coin| coin.currency().code());
        let from = choice("from").and_then(|code| Way::parse(&code));
        let (typed, account) = (choice("tx"), choice("account"));
        let accepted =
            request.headers().get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let language = chosen.or_else(|| accepted.and_then(Language::accepted)).unwrap_or_default();
        let path = request.uri().path().to_owned();
        let payer_currency = accepted.and_then(payer_currency);
        let here = Here { path, language, chosen: chosen.is_some(), coin, from, payer_currency };
        let made = cookie::submission(request.headers());
        Visit { peer, here, typed, account, made }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(uri: &str, accepted: &str) -> Visit {
        let request = Request::get(uri)
            .header("accept-language", accepted)
            .body(Body::empty())
            .expect("a request");
        Visit::of(&request)
    }

    #[test]
    fn the_address_goes_before_the_browser_and_english_is_last() {
        for (uri, accepted, language, chosen) in [
            ("/pay/t?lang=ur", "hi", Language::Urdu, true),
            ("/pay/t?lang=xx", "hi", Language::Hindi, false),
            ("/pay/t?lang=", "hi", Language::Hindi, false),
            ("/pay/t?lang=ur&lang=ar", "hi", Language::Hindi, false),
            ("/pay/t", "de", Language::English, false),
        ] {
            let here = visit(uri, accepted).here;
            assert_eq!((here.language, here.chosen), (language, chosen), "{uri} {accepted}");
            assert_eq!(here.carried(), chosen.then_some(language));
        }
    }

    #[test]
    fn only_supported_tokens_and_short_hashes_are_choices() {
        let visit = |query: &str| visit(&format!("/pay/t/s?{query}"), "");
        assert_eq!(visit("coin=USDT").here.coin, Some("USDT"));
        assert_eq!(visit("coin=%3Cb%3E").here.coin, None);
        assert_eq!(visit("tx=+0xab+").typed.as_deref(), Some("0xab"));
        assert_eq!(visit("tx=").typed, None);
        assert_eq!(visit(&format!("tx={}", "a".repeat(601))).typed, None);
        assert_eq!(
            visit("coin=USDT&lang=ne").here.link("/status", Some(Language::Nepali), None),
            "/pay/t/s/status?lang=ne"
        );
        let phone = visit("from=phone").here;
        assert_eq!(phone.link("", None, None), "/pay/t/s?from=phone");
        assert_eq!(visit("from=bank").here.from, None);
    }
}
