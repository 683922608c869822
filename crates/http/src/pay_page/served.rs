//! Serves the payment page: looks it up by its token, for known and unknown visitors, within the
//! rate limits of an address.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use domain::currency::{Currency, StableCoin};
use domain::deposit::DepositState;
use domain::ids::{PaymentRequestId, SenderInfoId};
use domain::payment_request::{Asked, PaymentRequest, RequestState};
use domain::ports::Clock;
use engine::wallets::{Answered, Arrival, Found, PayPage, PaySender, Wallets};
use http::{HeaderMap, Request, StatusCode};
use tokio::sync::{Semaphore, watch};

use super::answers::{NEVER, Stopped, answer, html, see_other};
use super::back;
use super::brand::{self, Look};
use super::cookie;
use super::find::{self, Sought};
use super::form::{Field, Form};
use super::pages::{Answer, Frame, Page};
use super::receipt::{self, Receipt};
use super::stream::{self, Followed, STREAMS_MAX};
use super::target::{Network, Target};
use super::view::{self, Back, Incoming, Progress, View};
use super::visit::{Here, Visit};
use super::way::Way;
use super::words::Words;
use super::{live, qr};
use crate::address_windows::AddressWindows;
use crate::compressed;
use crate::server::body::{BodyLimits, collect, is_encoded};
use crate::wallet_v1::render::Links;

/// Maximum length of a token that is looked up.
const TOKEN_MAX_CHARS: usize = 128;
/// Requests per address and minute; addresses are shared, and a waiting page polls every few
/// seconds.
pub const REQUESTS_PER_WINDOW: u32 = 300;
/// Form submissions per address and minute.
pub const FORMS_PER_WINDOW: u32 = 20;
/// Transaction lookups per address and minute.
pub const FINDS_PER_WINDOW: u32 = 20;

/// The dependencies of the pages.
pub struct Pages {
    wallets: Wallets,
    settings: Settings,
    addresses: AddressWindows,
    streams: Arc<Semaphore>,
}

/// The settings of the pages.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The base URL of payment links.
    pub links: Links,
    /// Whether this is a sandbox.
    pub sandbox: bool,
    /// Limits of a form's body.
    pub body: BodyLimits,
    /// RPC URLs for a browser's wallet by EIP-155 id; only for built-in chains.
    pub chain_rpc_urls: BTreeMap<u64, String>,
    /// Becomes true when the service stops.
    pub stopping: watch::Receiver<bool>,
}

/// A page that was found, for its visitor.
pub(super) struct Shown {
    pub(super) page: PayPage,
    pub(super) known: Option<PaySender>,
    /// The visitor's submission on the plain link, by their cookie: it names what they paid, and
    /// grants nothing else.
    made: Option<SenderInfoId>,
    pub(super) view: View,
}

impl Shown {
    /// The currency that the visitor probably pays from: of the country that they named, or, on the
    /// first page, of the browser's region.
    fn payer_currency(&self, here: &Here) -> Option<Currency> {
        match (&self.known, &self.view) {
            (Some(sender), _) => sender.currency,
            (None, View::Details { .. }) => here.payer_currency,
            (None, _) => None,
        }
    }
}

impl Pages {
    pub(super) fn new(wallets: Wallets, settings: Settings) -> Pages {
        let streams = Arc::new(Semaphore::new(STREAMS_MAX));
        Pages { wallets, settings, addresses: AddressWindows::default(), streams }
    }

    /// The page of a link. The visitor is known if `submission` is one of the link's submissions.
    pub(super) async fn page(
        &self,
        token: String,
        submission: Option<String>,
        visit: &Visit,
    ) -> Result<Response, Stopped> {
        self.count(visit, "page", REQUESTS_PER_WINDOW)?;
        let shown = self.shown(&token, submission.as_deref(), visit.made).await?;
        let here = &visit.here;
        // Submissions from before escrows existed have no address to show.
        let has_none =
            |sender: &PaySender| sender.escrow.is_none() && matches!(shown.view, View::Send { .. });
        if submission.is_some() && shown.known.as_ref().is_none_or(has_none) {
            return Ok(see_other(&led_to(&token, None, here)));
        }
        let sought = self.sought(&shown, visit).await?.zip(visit.typed.as_deref());
        Ok(html(StatusCode::OK, self.written(&shown, here, sought, None).await?))
    }

    /// A page other than the submitted details form.
    async fn written(
        &self,
        shown: &Shown,
        here: &Here,
        sought: Option<(Sought, &str)>,
        typed: Option<Field>,
    ) -> Result<String, Stopped> {
        let network = self.network(&shown.page.request)?;
        let target = self.target(shown, here, &network).await?;
        let known = shown.known.as_ref();
        let kept = known.and_then(|sender| sender.back_to).map(|address| address.to_string());
        let answer =
            Answer { kept, typed, is_last: known.is_some_and(|sender| !sender.may_answer()) };
        let page = Page {
            here,
            view: &shown.view,
            frame: &self.frame(shown, here).await?,
            form: &Form::default(),
            target: target.as_ref(),
            sought,
            network: &network.name,
            known: known.is_some(),
            answer: &answer,
        };
        Ok(page.render()?)
    }

    /// Saves a refund address and shows it; an invalid one is shown again.
    pub(super) async fn take_address(
        &self,
        token: String,
        submission: String,
        visit: &Visit,
        request: Request<Body>,
    ) -> Result<Response, Stopped> {
        let body = self.form_body(visit, "form", request).await?;
        let shown = self.shown(&token, Some(&submission), None).await?;
        let here = &visit.here;
        let Some(sender) = shown.known.as_ref().map(|sender| sender.id) else {
            return Ok(see_other(&led_to(&token, None, here)));
        };
        let typed = match (shown.view.back(), back::read(&body)) {
            (Back::Asks, Err(field)) => field,
            (Back::Asks, Ok(to)) => match self.wallets.answer_where_back(&token, sender, to).await?
            {
                Answered::Unusable => Field { value: to.to_string(), fault: Some(back::UNUSABLE) },
                // The page shows the saved address and whether it can be changed.
                Answered::Kept | Answered::NotAsked => {
                    return Ok(see_other(&led_to(&token, Some(sender), here)));
                }
            },
            _ => return Ok(see_other(&led_to(&token, Some(sender), here))),
        };
        Ok(html(
            StatusCode::UNPROCESSABLE_ENTITY,
            self.written(&shown, here, None, Some(typed)).await?,
        ))
    }

    /// The body of a form from this site, within the rate limit of its group.
    pub(super) async fn form_body(
        &self,
        visit: &Visit,
        group: &'static str,
        request: Request<Body>,
    ) -> Result<Vec<u8>, Stopped> {
        self.count(visit, group, FORMS_PER_WINDOW)?;
        if is_cross_site(request.headers()) {
            return Err(Stopped::Refused(StatusCode::FORBIDDEN));
        }
        if is_encoded(request.headers()) {
            return Err(Stopped::Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let body = collect(request.into_body(), self.settings.body).await;
        Ok(body.map_err(|_| Stopped::Refused(StatusCode::BAD_REQUEST))?.to_vec())
    }

    /// Saves the sender's details and redirects to the next page; an invalid form is shown again.
    pub(super) async fn take_form(
        &self,
        token: String,
        visit: &Visit,
        request: Request<Body>,
    ) -> Result<Response, Stopped> {
        let body = self.form_body(visit, "form", request).await?;
        let shown = self.shown(&token, None, visit.made).await?;
        let here = &visit.here;
        match (&shown.view, Form::read(&body)) {
            (View::Details { .. }, Ok(details)) => {
                let submission = self.wallets.submit_sender(&token, details, visit.made).await?.id;
                let mut response = see_other(&led_to(&token, Some(submission), here));
                cookie::remember(
                    &mut response,
                    &token,
                    submission,
                    self.settings.links.is_secure(),
                );
                Ok(response)
            }
            (View::Details { .. }, Err(form)) => {
                let frame = &self.frame(&shown, here).await?;
                let view = &shown.view;
                let (target, sought, answer) = (None, None, &Answer::default());
                let page = Page {
                    here,
                    view,
                    frame,
                    form: &form,
                    target,
                    sought,
                    network: "",
                    known: false,
                    answer,
                };
                Ok(html(StatusCode::UNPROCESSABLE_ENTITY, page.render()?))
            }
            // A payment arrived in the meantime: there is nothing left to send.
            _ => Ok(see_other(&led_to(&token, None, here))),
        }
    }

    /// A file of a tenant's brand: `{version}.css`, or its logo.
    pub(super) async fn brand(&self, name: &str, visit: &Visit) -> Result<Response, Stopped> {
        self.count(visit, "page", REQUESTS_PER_WINDOW)?;
        let (version, extension) = name.split_once('.').ok_or(Stopped::Closed)?;
        let brand = self.wallets.brand(version).await?;
        brand::file(brand, extension).ok_or(Stopped::Closed)
    }

    /// The receipt that a sender shared or printed.
    pub(super) async fn receipt(
        &self,
        (tag, id, code): (String, String, String),
        visit: &Visit,
    ) -> Result<Response, Stopped> {
        self.count(visit, "find", FINDS_PER_WINDOW)?;
        let id = PaymentRequestId::parse(&id).ok_or(Stopped::Closed)?;
        let (page, sender) = self.wallets.receipt_page(&tag, id, &code).await?;
        let shown = self.seen(page, sender, None)?;
        let frame = self.frame(&shown, &visit.here).await?;
        let page = receipt::page(
            &visit.here,
            &shown.view,
            &frame,
            &self.network(&shown.page.request)?.name,
        )?;
        Ok(html(StatusCode::OK, page.ok_or(Stopped::Closed)?))
    }

    /// The link as a QR code.
    pub(super) async fn link_code(&self, token: &str, visit: &Visit) -> Result<Response, Stopped> {
        self.count(visit, "page", REQUESTS_PER_WINDOW)?;
        let page = self.find(token).await?;
        let code = qr::code(&self.settings.links.payment_link(&page.request.token))
            .ok_or(Stopped::Failed)?;
        Ok(answer(StatusCode::OK, "image/svg+xml", qr::svg(&code), NEVER))
    }

    /// The current status, for a script that polls.
    pub(super) async fn tell(
        &self,
        token: String,
        submission: Option<String>,
        visit: &Visit,
    ) -> Response {
        let told = match self.count(visit, "status", REQUESTS_PER_WINDOW) {
            Ok(()) => {
                let (words, made) = (Words(visit.here.language), visit.made);
                self.status(&Followed { token, submission, made, words }).await
            }
            Err(stopped) => Err(stopped),
        };
        match told {
            Ok(status) => answer(StatusCode::OK, "application/json", status, NEVER),
            Err(Stopped::Closed | Stopped::Taken) => {
                answer(StatusCode::NOT_FOUND, "application/json", stream::closed(), NEVER)
            }
            Err(stopped) => stopped.respond(&visit.here),
        }
    }

    /// The status as a stream of updates.
    pub(super) async fn open(
        self: Arc<Pages>,
        token: String,
        submission: Option<String>,
        visit: &Visit,
    ) -> Result<Response, Stopped> {
        self.count(visit, "stream", REQUESTS_PER_WINDOW)?;
        let (words, made) = (Words(visit.here.language), visit.made);
        let followed = Followed { token, submission, made, words };
        self.status(&followed).await?;
        let room = self.streams.clone().try_acquire_owned().map_err(|_| Stopped::Failed)?;
        let events = Body::from_stream(stream::stream(self.clone(), followed, room));
        let mut response = answer(StatusCode::OK, "text/event-stream", events, NEVER);
        compressed::mark_stream(response.headers_mut());
        Ok(response)
    }

    /// The status of a page for the script.
    pub(super) async fn status(&self, followed: &Followed) -> Result<Vec<u8>, Stopped> {
        let Followed { token, submission, made, .. } = followed;
        let shown = self.shown(token, submission.as_deref(), *made).await?;
        Ok(live::status(&shown.view, followed.words)?)
    }

    pub(super) const fn wallets(&self) -> &Wallets {
        &self.wallets
    }

    /// The wall clock, which streams use whatever the business clock shows.
    pub(super) fn wall_clock(&self) -> Arc<dyn Clock> {
        self.wallets.world().wall_clock.clone()
    }

    /// Becomes true when the service stops.
    pub(super) fn stopping(&self) -> watch::Receiver<bool> {
        self.settings.stopping.clone()
    }

    pub(super) fn count(
        &self,
        visit: &Visit,
        group: &'static str,
        limit: u32,
    ) -> Result<(), Stopped> {
        let now = self.wallets.world().wall_clock.now();
        let allowance = self.addresses.take(visit.peer, group, limit, now);
        if allowance.is_granted() { Ok(()) } else { Err(Stopped::TooMany(allowance)) }
    }

    async fn find(&self, token: &str) -> Result<PayPage, Stopped> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if token.is_empty() || token.len() > TOKEN_MAX_CHARS || !token.bytes().all(plain) {
            return Err(Stopped::Closed);
        }
        Ok(self.wallets.pay_page(token).await?)
    }

    /// The view for a visitor, known or unknown.
    pub(super) async fn shown(
        &self,
        token: &str,
        submission: Option<&str>,
        made: Option<SenderInfoId>,
    ) -> Result<Shown, Stopped> {
        self.seen(self.find(token).await?, submission.and_then(SenderInfoId::parse), made)
    }

    fn seen(
        &self,
        page: PayPage,
        submission: Option<SenderInfoId>,
        made: Option<SenderInfoId>,
    ) -> Result<Shown, Stopped> {
        let find = |id: SenderInfoId| page.senders.iter().find(|sender| sender.id == id).cloned();
        let known = submission.and_then(find);
        let maker = made.filter(|_| known.is_none()).and_then(find);
        let told = |arrival: &Arrival| {
            let of = |sender: &PaySender| sender.may_be_of(&arrival.deposit);
            let is_own = known.as_ref().is_some_and(of);
            // Without a submission, only what came without one may be the visitor's.
            let may_be_own = known.is_none() && arrival.deposit.submission.is_none();
            let is_shown_as_own = is_own || may_be_own || maker.as_ref().is_some_and(of);
            let sent = arrival.deposit.sent_with(page.arrivals.iter().map(|it| &it.deposit));
            let confirmations = arrival.confirmations;
            let incoming = Incoming::of(&arrival.deposit, &page.request, &sent, confirmations)?;
            // Amounts below the minimum are shown to their own sender only.
            if arrival.deposit.state == DepositState::Dust && !is_own {
                return None;
            }
            let back_tx =
                known.as_ref().and_then(|sender| page.gave_back(&arrival.deposit, sender));
            Some(if is_shown_as_own {
                Incoming { back_tx, ..incoming }
            } else {
                incoming.of_another()
            })
        };
        let arrived = own_or_good(page.arrivals.iter().filter_map(told).collect());
        let now = self.wallets.world().clock.now();
        let chain = self.wallets.offered_on(page.request.chain).ok();
        let has = |coin: StableCoin| chain.is_none_or(|it| it.config.token(coin).is_some());
        let takes = !page.closed && view::is_payable_in(&page.request.asked, has);
        let mut view = View::of(&page.request, arrived, takes, known.is_some(), now);
        view.offer_only(has);
        if let (View::Send { sponsored, .. }, Some(sender)) = (&mut view, &known) {
            *sponsored = self.wallets.sponsored_state(&page, sender);
        }
        match view {
            // Others' payments took it, and were not accepted: it did not expire.
            View::Closed if page.request.state == RequestState::Paid => Err(Stopped::Taken),
            View::Closed => Err(Stopped::Closed),
            view => Ok(Shown { page, known, made: maker.map(|sender| sender.id), view }),
        }
    }

    async fn frame(&self, shown: &Shown, here: &Here) -> Result<Frame, Stopped> {
        let now = self.wallets.world().clock.now();
        let request = &shown.page.request;
        let payee = &shown.page.tenant.name;
        let sender = shown.known.as_ref().map(|sender| sender.id).or(shown.made);
        let code = request.check_code(sender);
        let link = self.settings.links.receipt(&shown.page.tenant.tag, request.id, &code);
        let receipt = Receipt { link, code };
        let frame = Frame::of(request, payee, self.settings.sandbox, here, now);
        // Read for a page only: its status is asked for again and again.
        let brand = self.wallets.brand_head(request.tenant).await?;
        let brand = brand.as_ref().map(Look::of).unwrap_or_default();
        let local = shown.payer_currency(here).and_then(|currency| self.local(request, currency));
        Ok(Frame { about: frame.about.or(local), receipt, brand, ..frame })
    }

    /// The requested amount in the sender's currency, at the mid rate.
    fn local(&self, request: &PaymentRequest, currency: Currency) -> Option<String> {
        let Asked::Crypto { coin, minor } = request.asked else { return None };
        view::about(minor, self.wallets.about_rate(coin, currency)?, currency)
    }

    fn network(&self, request: &PaymentRequest) -> Result<Network, Stopped> {
        let config = &self.wallets.offered_on(request.chain)?.config;
        let rpc_url = self.settings.chain_rpc_urls.get(&config.chain_id).cloned();
        Ok(Network::of(config, rpc_url))
    }

    async fn target(
        &self,
        shown: &Shown,
        here: &Here,
        network: &Network,
    ) -> Result<Option<Target>, Stopped> {
        let (View::Send { offers, .. }, Some(sender)) = (&shown.view, &shown.known) else {
            return Ok(None);
        };
        let Some(escrow) = &sender.escrow else { return Ok(None) };
        let config = &self.wallets.offered_on(shown.page.request.chain)?.config;
        let way = here.from.unwrap_or_else(|| Way::of(sender.provider.as_deref()));
        let target = Target::of(offers, here.coin, config, network.clone(), escrow, way);
        let Some(target) = target else { return Ok(None) };
        let is_sponsored = match shown.asks_for(sender, target.offer) {
            Some(ask) => self.wallets.sponsors(ask).await,
            None => false,
        };
        Ok(Some(Target { is_sponsored, ..target }))
    }

    /// Looks up the entered transaction if the page shows the lookup form.
    async fn sought(&self, shown: &Shown, visit: &Visit) -> Result<Option<Sought>, Stopped> {
        let Some(typed) = visit.typed.as_deref().filter(|_| shown.view.is_waiting()) else {
            return Ok(None);
        };
        let Some(tx) = find::hash_in(typed) else { return Ok(Some(Sought::NoHash)) };
        if self.count(visit, "find", FINDS_PER_WINDOW).is_err() {
            return Ok(Some(Sought::Found(Found::Unclear)));
        }
        Ok(Some(Sought::Found(
            self.wallets.find_payment(&shown.page, shown.known.as_ref(), tx).await?,
        )))
    }
}

/// The payments that a visitor sees: their own, or, while there are none, those of others that were
/// not rejected.
fn own_or_good(mut arrived: Vec<Incoming>) -> Vec<Incoming> {
    let has_own = arrived.iter().any(|incoming| incoming.is_own);
    arrived.retain(|incoming| {
        let is_good = !incoming.is_over() || incoming.progress == Progress::Done;
        incoming.is_own || (!has_own && is_good)
    });
    arrived
}

/// The page of a link or of a submission, in the chosen language.
fn led_to(token: &str, submission: Option<SenderInfoId>, here: &Here) -> String {
    let path = submission
        .map_or_else(|| format!("/pay/{token}"), |submission| format!("/pay/{token}/{submission}"));
    Here { path, ..here.clone() }.link("", here.carried(), None)
}

/// Whether the browser marks the request as cross-site.
fn is_cross_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}
