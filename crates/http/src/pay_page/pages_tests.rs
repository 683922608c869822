//! The pages as HTML: what each contains in every language, and what none may contain.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::LazyLock;

use domain::chain::{Address, TxHash};
use domain::currency::StableCoin;
use domain::deposit::{Deposit, DepositState, Refund};
use domain::ids::IntentId;
use domain::payment_request::{Asked, PaymentRequest, Received, RequestState};
use domain::screening::Screened;
use domain::time::Span;
use engine::wallets::Found;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::target::tests::target;
use super::super::view::Incoming;
use super::*;
use crate::wallet_v1::samples::{self, T0, deposit, request};

/// The example of EIP-55, as the sender's address.
const OWN: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}=HYPERLINK";
/// Maximum size of a page with its assets over the wire, in bytes; `e2e/lib/browser.js` holds every
/// page to it as well.
const BUDGET: usize = 40_000;

/// A page and its data.
struct Case {
    name: String,
    language: Language,
    html: String,
    /// The update sent to a browser that follows it.
    status: String,
}

fn here(language: Language) -> Here {
    Here { path: "/pay/t/s".to_owned(), language, chosen: true, ..Here::default() }
}

fn frame(request: &PaymentRequest, language: Language) -> Frame {
    Frame::of(request, "Demo Bank", true, &here(language), T0)
}

fn one(
    deposit: &Deposit,
    request: &PaymentRequest,
    confirmations: Option<(u64, u64)>,
) -> Option<Incoming> {
    Incoming::of(deposit, request, &deposit.sent_with([deposit]), confirmations)
}

fn view(request: &PaymentRequest, deposits: &[Deposit], known: bool) -> View {
    let arrived =
        deposits.iter().filter_map(|deposit| one(deposit, request, Some((3, 12)))).collect();
    View::of(request, arrived, true, known, T0)
}

fn written(
    request: &PaymentRequest,
    view: &View,
    sought: Option<Sought>,
    way: Way,
    language: Language,
) -> String {
    answered(request, view, sought, way, language, &Answer::default())
}

fn answered(
    request: &PaymentRequest,
    view: &View,
    sought: Option<Sought>,
    way: Way,
    language: Language,
    answer: &Answer,
) -> String {
    let target = match view {
        View::Send { offers, .. } => target(offers, Some("USDT"), way),
        _ => None,
    };
    let (here, frame) = (here(language), frame(request, language));
    let (form, known) = (Form::default(), !matches!(view, View::Details { .. }));
    let sought = sought.map(|sought| (sought, "0xab"));
    let (here, frame, form, target, network) = (&here, &frame, &form, target.as_ref(), "Ethereum");
    Page { here, view, frame, form, target, sought, network, known, answer }
        .render()
        .expect("written")
}

fn shown(request: &PaymentRequest, states: &[DepositState], known: bool) -> String {
    let deposits: Vec<Deposit> = states.iter().map(|state| deposit(*state)).collect();
    written(request, &view(request, &deposits, known), None, Way::Exchange, Language::English)
}

fn details(form: &Form, language: Language) -> String {
    let (here, frame, view) = (
        here(language),
        frame(&request(), language),
        View::Details { arrived: vec![], part: None },
    );
    let (here, view, frame, target, sought, answer) =
        (&here, &view, &frame, None, None, &Answer::default());
    Page { here, view, frame, form, target, sought, network: "", known: false, answer }
        .render()
        .expect("written")
}

/// The possible requests: open, any amount, fiat, partly paid, each kind of wrong payment, over.
fn requests() -> Vec<(&'static str, PaymentRequest)> {
    let fiat = Asked::Fiat {
        currency: domain::currency::Currency::Pkr,
        micros: 2_800_000_000,
        usdc: 10_000_000,
        usdt: 10_050_000,
    };
    let half = Received { usdc: 12_750_000, usdt: 0 };
    let asked = |coin, minor| Asked::Crypto { coin, minor };
    let full = Received { usdc: 25_500_000, usdt: 0 };
    let paid = PaymentRequest { state: RequestState::Paid, received: full, ..request() };
    let expired = PaymentRequest { state: RequestState::Expired, ..request() };
    vec![
        ("open", request()),
        (
            "flexible",
            PaymentRequest {
                asked: Asked::Flexible,
                purpose: Some(HOSTILE.to_owned()),
                ..request()
            },
        ),
        ("fiat", PaymentRequest { asked: fiat, purpose: None, recipient_name: None, ..request() }),
        ("partial", PaymentRequest { received: half, ..request() }),
        ("paid", paid.clone()),
        ("overpaid", PaymentRequest { asked: asked(StableCoin::Usdc, 12_750_000), ..paid.clone() }),
        ("late", PaymentRequest { expires_at: T0, received: full, ..expired.clone() }),
        ("wrong asset", PaymentRequest { asked: asked(StableCoin::Usdt, 25_500_000), ..paid }),
        ("expired", expired),
        ("cancelled", PaymentRequest { state: RequestState::Cancelled, ..request() }),
    ]
}

/// Every page in every language, rendered once for all tests.
fn every_page() -> &'static [Case] {
    static PAGES: LazyLock<Vec<Case>> = LazyLock::new(render_every_page);
    &PAGES
}

fn render_every_page() -> Vec<Case> {
    let mut cases = Vec::new();
    for language in Language::ALL {
        let mut add = |name: String, html: String, view: Option<&View>| {
            let status = view
                .map(|view| live::status(view, Words(language)).expect("written"))
                .unwrap_or_default();
            cases.push(Case {
                name,
                language,
                html,
                status: String::from_utf8(status).expect("text"),
            });
        };
        for (name, request) in requests() {
            for known in [false, true] {
                for state in std::iter::once(None).chain(DepositState::ALL.map(Some)) {
                    let deposits: Vec<Deposit> = state.map(deposit).into_iter().collect();
                    let view = view(&request, &deposits, known);
                    let page = written(&request, &view, None, Way::Exchange, language);
                    add(format!("{name} {state:?} {known}"), page, Some(&view));
                }
            }
        }
        let send = view(&request(), &[], true);
        for way in [Way::Phone, Way::Browser] {
            add(format!("{way:?}"), written(&request(), &send, None, way, language), Some(&send));
        }
        for sought in every_answer() {
            add(
                format!("{sought:?}"),
                written(&request(), &send, Some(sought), Way::Exchange, language),
                None,
            );
        }
        let refused = view(&request(), &[deposit(DepositState::Rejected)], true);
        for answer in every_answer_about_back() {
            let page = answered(&request(), &refused, None, Way::Exchange, language, &answer);
            add(format!("{answer:?}"), page, Some(&refused));
        }
        let faulty = Form::read(format!("first_name={HOSTILE}&email={HOSTILE}").as_bytes())
            .expect_err("wrong");
        add("faulty form".to_owned(), details(&faulty, language), None);
        for title in ["busy", "unread", "failed"] {
            let (title, text) = (format!("{title}-title"), format!("{title}-text"));
            add(title.clone(), message(&here(language), &title, &[&text]).expect("written"), None);
        }
    }
    cases
}

/// Possible answers to the refund question: saved, each kind of invalid input, and the last allowed
/// one.
fn every_answer_about_back() -> Vec<Answer> {
    let kept = || Some(OWN.to_owned());
    let typed = [back::NO_ADDRESS, back::MISTYPED, back::UNUSABLE];
    let typed = typed.map(|fault| Answer {
        kept: kept(),
        typed: Some(Field { value: HOSTILE.to_owned(), fault: Some(fault) }),
        is_last: false,
    });
    let more = [
        Answer { kept: kept(), typed: None, is_last: false },
        Answer { kept: kept(), typed: None, is_last: true },
    ];
    typed.into_iter().chain(more).collect()
}

fn every_answer() -> Vec<Sought> {
    let found = [
        Found::Known,
        Found::Confirming(Some((1, 3))),
        Found::Confirming(None),
        Found::OtherToken,
        Found::OtherChain,
        Found::Elsewhere,
        Found::Reverted,
        Found::NotYet,
        Found::Unclear,
    ];
    std::iter::once(Sought::NoHash).chain(found.map(Sought::Found)).collect()
}

#[test]
fn no_page_reveals_the_wallet_its_customer_or_the_reason_for_a_hold() {
    let wallet = samples::wallet();
    let address = wallet.address.to_string().to_lowercase();
    let (id, request_id) = (wallet.id.to_string(), request().id.to_string());
    let customer = wallet.customer_id.to_lowercase();
    for Case { name, language, html, status } in every_page() {
        for text in [html, status] {
            let lower = text.to_lowercase();
            for canary in [
                address.as_str(),
                address.strip_prefix("0x").expect("a prefix"),
                &id,
                &id.replace('-', ""),
                &customer,
                &wallet.email,
                &wallet.phone,
                &request_id,
                "bilal",
                "ahmed",
                "+971501234567",
            ] {
                assert!(!lower.contains(canary), "{canary} is in {name}, {language:?}: {text}");
            }
            for word in
                ["risk", "sanction", "block", "complian", "suspicio", "legal", "fraud", "review"]
            {
                assert!(!lower.contains(word), "{word} is in {name}, {language:?}: {text}");
            }
        }
    }
}

#[test]
fn a_page_with_all_that_it_loads_stays_within_the_budget() {
    let assets: usize =
        [&ASSETS.style, &ASSETS.script, &ASSETS.icon].map(|asset| packed(asset.body)).iter().sum();
    for Case { name, language, html, .. } in every_page() {
        let bytes = packed(html) + assets;
        assert!(bytes <= BUDGET, "{bytes} bytes: {name}, {language:?}");
    }
}

/// The size of a body as it is sent.
fn packed(body: &str) -> usize {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(body.as_bytes()).expect("memory takes every byte");
    packer.finish().expect("memory takes every byte").len()
}

#[test]
fn the_address_stands_on_the_page_that_asks_to_send_and_on_no_other() {
    let escrow = request().escrow.to_string();
    let digits = escrow.strip_prefix("0x").expect("a prefix").to_lowercase();
    assert!(
        shown(&request(), &[], true)
            .contains(&format!("<bdi class=\"value address\" dir=\"ltr\">{escrow}</bdi>"))
    );
    for page in [
        closed(&here(Language::English)).expect("written"),
        shown(&request(), &[], false),
        shown(&request(), &[DepositState::Seen], true),
        shown(
            &PaymentRequest { state: RequestState::Expired, ..request() },
            &[DepositState::Completed],
            true,
        ),
    ] {
        assert!(!page.to_lowercase().contains(&digits), "{page}");
    }
}

#[test]
fn a_link_that_takes_nothing_looks_the_same_whatever_the_reason() {
    let page = |request: &PaymentRequest| {
        written(request, &view(request, &[], true), None, Way::Exchange, Language::Urdu)
    };
    let pages: Vec<String> = requests().iter().map(|(_, request)| page(request)).collect();
    let same = closed(&here(Language::Urdu)).expect("written");
    assert_eq!(
        pages.iter().filter(|page| **page == same).count(),
        6,
        "paid, late and what is over, without a payment"
    );
}

#[test]
fn pages_load_only_what_is_ours_and_style_nothing_by_themselves() {
    for Case { name, language, html: page, .. } in every_page() {
        for forbidden in
            [" style=", "<style", "http://", "https://", "javascript:", "<img", "<iframe", "<base"]
        {
            // A wallet receives the sandbox chain's URL; the page itself never calls it.
            let page = page.replace("data-rpc=\"http://127.0.0.1:8080\"", "");
            assert!(!page.contains(forbidden), "{forbidden} is in {name}: {page}");
        }
        assert!(
            !page.match_indices(" on").any(|(at, _)| is_handler(&page[at..])),
            "{name}: {page}"
        );
        let script = format!("<script src=\"{}\" defer></script>", ASSETS.script.path);
        assert_eq!(
            (page.matches("<script").count(), page.matches(&script).count()),
            (1, 1),
            "{name}: {page}"
        );
        let root = format!("<html lang=\"{}\" dir=\"{}\">", language.code(), language.direction());
        assert!(page.contains(&root), "{name}: {page}");
        assert!(
            page.contains(&format!("<link rel=\"stylesheet\" href=\"{}\">", ASSETS.style.path))
        );
        let opened = |tag: &str| {
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count()
        };
        for tag in [
            "bdi", "p", "li", "ol", "ul", "section", "form", "header", "main", "body", "dd", "dl",
            "svg", "a", "h1", "h2", "details", "summary", "span", "button", "div", "noscript",
            "template", "time", "progress", "small", "nav", "fieldset", "legend", "label",
            "select", "option", "b",
        ] {
            assert_eq!(
                opened(tag),
                page.matches(&format!("</{tag}>")).count(),
                "{tag} in {name}: {page}"
            );
        }
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "an id twice in {name}: {ids:?}");
    }
}

/// Whether ` on…` starts an event handler attribute such as ` onclick=`.
fn is_handler(text: &str) -> bool {
    let name: String = text.trim_start().chars().take_while(char::is_ascii_lowercase).collect();
    text.trim_start()[name.len()..].starts_with('=')
}

#[test]
fn every_page_leads_to_itself_in_every_language() {
    let faulty = Form::read(b"").expect_err("wrong");
    for page in [
        shown(&request(), &[], true),
        details(&faulty, Language::Arabic),
        shown(&request(), &[], false),
    ] {
        for language in Language::ALL {
            let link = format!("<a href=\"/pay/t/s?lang={0}\" lang=\"{0}\"", language.code());
            assert!(page.contains(&link), "{link} in {page}");
        }
        assert_eq!(page.matches("aria-current=\"true\"").count(), 1);
    }
    let form = details(&faulty, Language::Arabic);
    assert!(
        form.contains("action=\"/pay/t/s?lang=ar#faults\""),
        "the form carries the language: {form}"
    );
    let view = view(&PaymentRequest { asked: Asked::Flexible, ..request() }, &[], true);
    let send = written(&request(), &view, None, Way::Exchange, Language::Arabic);
    for kept in [
        "?lang=ar&#38;coin=USDC\"",
        "<input type=\"hidden\" name=\"lang\" value=\"ar\">",
        "/stream?lang=ar\"",
    ] {
        assert!(send.contains(kept), "{kept} in {send}");
    }
}

#[test]
fn what_users_write_never_becomes_markup() {
    let link = PaymentRequest {
        purpose: Some(HOSTILE.to_owned()),
        recipient_name: Some(HOSTILE.to_owned()),
        ..request()
    };
    let frame = Frame {
        payee: HOSTILE.to_owned(),
        ..Frame::of(&link, "", false, &here(Language::Urdu), T0)
    };
    let field = super::super::form::Field { value: HOSTILE.to_owned(), fault: None };
    let form = Form { first_name: field, ..Form::default() };
    let here = Here { from: Some(Way::Exchange), ..here(Language::Urdu) };
    let view = View::Details { arrived: vec![], part: None };
    let page = Page {
        here: &here,
        view: &view,
        frame: &frame,
        form: &form,
        target: None,
        sought: None,
        network: "",
        known: false,
        answer: &Answer::default(),
    };
    let page = page.render().expect("written");
    assert_eq!(page.matches("alert(1)").count(), 4, "title, header, purpose, name");
    assert!(!page.contains("<script>") && !page.contains("value=\"<"), "{page}");
    let escaped =
        page.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a value");
    assert!(escaped.ends_with("=HYPERLINK"), "{escaped}");
    let paid = PaymentRequest { state: RequestState::Paid, ..link };
    let done = shown(&paid, &[DepositState::Completed], true);
    assert!(done.contains("class=\"card receipt\"") && !done.contains("<script>"), "{done}");
}

#[test]
fn an_invalid_form_keeps_the_input_and_shows_each_error_beside_its_field() {
    let form = Form::read(b"first_name=Asha&email=asha&phone_number=&custodial_other=Exampex")
        .expect_err("wrong");
    let page = details(&form, Language::English);
    assert!(
        page.contains("value=\"Asha\"")
            && page.contains("value=\"asha\"")
            && page.contains("role=\"alert\"")
    );
    assert!(page.contains("for example <bdi>+971 50 123 4567</bdi>."), "{page}");
    for (field, wrong) in
        [("first_name", false), ("last_name", false), ("email", true), ("phone_number", true)]
    {
        let row = page
            .split(&format!("<label for=\"{field}\">"))
            .nth(1)
            .and_then(|rest| rest.split("</p>").next());
        let row = row.expect("a row");
        assert_eq!(row.contains("aria-invalid=\"true\""), wrong, "{row}");
        assert_eq!(row.contains(&format!("id=\"{field}-fault\"")), wrong, "{row}");
    }
}

#[test]
fn the_sending_page_names_token_network_amount_expiry_and_the_warning() {
    let page = shown(&request(), &[], true);
    for text in [
        "<bdi>25.50 <small>USDC</small></bdi>",
        "<h2 id=\"send\" class=\"send\">Send <bdi>25.50 USDC</bdi></h2>",
        "<bdi class=\"value\" dir=\"ltr\">Ethereum (ERC20)</bdi>",
        "<bdi class=\"value\" dir=\"ltr\">25.50 USDC</bdi>",
        "data-copy=\"25.50\"",
        "data-copy=\"Ethereum\"",
        "<p class=\"warning soon\" hidden>",
        "Send only <bdi>USDC</bdi> on the <bdi>Ethereum</bdi> network.",
        ">2026-11-22 06:57 UTC</time>",
        "data-left=\"86400\"",
        "Sandbox: no real money",
        "<noscript><meta http-equiv=\"refresh\" content=\"60\"></noscript>",
        "<li aria-current=\"step\"><span>Send</span></li>",
        "href=\"ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@31337/transfer?address=",
        "data-chain=\"0x7a69\"",
        "data-call=\"0xa9059cbb",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let flexible = shown(&PaymentRequest { asked: Asked::Flexible, ..request() }, &[], true);
    assert!(flexible.contains("Send any amount of <bdi>USDT</bdi>"), "{flexible}");
    assert!(
        flexible.contains("?lang=en&#38;coin=USDC\">Pay with <bdi>USDC</bdi> instead</a>"),
        "{flexible}"
    );
    assert!(
        flexible.contains("id=\"much\"") && !flexible.contains("data-call"),
        "the sender says how much: {flexible}"
    );
    let half = PaymentRequest { received: Received { usdc: 12_750_000, usdt: 0 }, ..request() };
    let partial = shown(&half, &[DepositState::Completed], true);
    assert!(partial.contains("Remaining amount: <bdi>12.75 USDC</bdi>"), "{partial}");
    let arrived = "<bdi>12.75 USDC</bdi> of <bdi>25.50 USDC</bdi> has arrived.";
    let bar = "<progress value=\"12750000\" max=\"25500000\"";
    assert!(partial.contains(arrived) && partial.contains(bar), "{partial}");
    assert!(partial.contains("This part has arrived.") && !partial.contains("Done."), "{partial}");
}

#[test]
fn a_different_token_is_named_and_not_asked_for_again() {
    let asked = PaymentRequest { wrong_asset: true, ..request() };
    let page = |state, known| {
        let sent = Deposit { coin: StableCoin::Usdt, ..deposit(state) };
        let view = view(&asked, &[sent], known);
        written(&asked, &view, None, Way::Exchange, Language::English)
    };
    let own = page(DepositState::InReview, true);
    for text in ["Please do not send again", "You sent <bdi>25.50 USDT</bdi>"] {
        assert!(own.contains(text), "{text} in {own}");
    }
    let escrow = request().escrow.to_string();
    assert!(!own.contains(&escrow) && !own.contains("Waiting for your payment"), "{own}");
    let visitor = page(DepositState::InReview, false);
    assert!(visitor.contains("If you sent it, do not send again"), "{visitor}");
    let back = page(DepositState::Refunded, true);
    assert!(back.contains(&escrow) && !back.contains("You sent"), "{back}");
}

#[test]
fn the_first_page_says_who_asks_and_offers_the_ways_to_pay() {
    let page = shown(&request(), &[], false);
    for text in [
        "<h1><bdi>Nila S.</bdi>, a customer of <bdi>Demo Bank</bdi>, asks you for</h1>",
        "href=\"/pay/t/s?lang=en&#38;from=exchange\"",
        "href=\"/pay/t/s?lang=en&#38;from=phone\"",
        "href=\"/pay/t/s?lang=en&#38;from=browser\"",
        "<bdi>USDC</bdi> is digital money, one for about 1 US dollar.",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    assert!(!page.contains("<form method=\"post\""), "{page}");
    let nameless = shown(&PaymentRequest { recipient_name: None, ..request() }, &[], false);
    let asks = "<h1>A customer of <bdi>Demo Bank</bdi> asks you for</h1>";
    assert!(nameless.contains(asks), "{nameless}");
    let reference: String = request().id.to_string().chars().take(8).collect();
    for (request, known) in [(request(), false), (request(), true)] {
        let page = shown(&request, &[], known);
        assert!(page.contains(&format!("Reference: <bdi dir=\"ltr\">{reference}</bdi>")), "{page}");
    }
}

#[test]
fn each_way_asks_for_the_provider_it_needs() {
    let (frame, view) =
        (frame(&request(), Language::English), View::Details { arrived: vec![], part: None });
    for (way, there, absent) in [
        (Way::Exchange, "type=\"radio\" name=\"custodial_provider\" value=\"Binance\"", "MetaMask"),
        (Way::Phone, "value=\"MetaMask\"", "Binance"),
        (Way::Browser, "type=\"hidden\" name=\"custodial_provider\"", "type=\"radio\""),
    ] {
        let here = Here { from: Some(way), ..here(Language::English) };
        let (form, answer) = (&Form::default(), &Answer::default());
        let (here, view, frame, target, sought) = (&here, &view, &frame, None, None);
        let page =
            Page { here, view, frame, form, target, sought, network: "", known: false, answer };
        let page = page.render().expect("written");
        assert!(page.contains(there) && !page.contains(absent), "{way:?}: {page}");
        assert!(page.contains(&format!("from={}#faults", way.code())), "{way:?}: {page}");
    }
}

#[test]
fn the_way_that_the_sender_named_is_open_and_no_other() {
    let view = view(&request(), &[], true);
    for (way, id) in [(Way::Exchange, "exchange"), (Way::Phone, "phone"), (Way::Browser, "browser")]
    {
        let page = written(&request(), &view, None, way, Language::English);
        assert!(page.contains(&format!("name=\"way\" id=\"{id}\" open>")), "{page}");
        assert_eq!((page.matches("name=\"way\"").count(), page.matches(" open>").count()), (3, 1));
    }
}

/// The script shows the promise, so that a page whose script does not load never makes it; without
/// scripts, only a page that reloads itself makes it.
#[test]
fn a_page_promises_to_update_only_where_it_does() {
    for language in Language::ALL {
        let words = Words(language).say("updates").expect("a text").to_string();
        let view = view(&request(), &[], true);
        for sought in [None].into_iter().chain(every_answer().into_iter().map(Some)) {
            let page = written(&request(), &view, sought, Way::Exchange, language);
            let (reloads, promise) =
                (page.contains("http-equiv=\"refresh\""), page.matches(&words));
            assert_eq!(promise.count(), 1 + usize::from(reloads), "{language:?} {sought:?}");
            let scripted = format!("<span class=\"updates\" hidden> {words}</span>");
            assert!(page.contains(&scripted), "{language:?} {sought:?}: {page}");
            let scriptless = format!("<noscript> {words}</noscript>");
            assert_eq!(page.contains(&scriptless), reloads, "{language:?} {sought:?}: {page}");
        }
    }
}

#[test]
fn a_status_shows_the_progress_and_refreshes_until_the_end() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    // The flags: whether a payment is still expected, and whether anything can still change (a
    // rejected one can be refunded).
    for (state, words, waiting, followed) in [
        (
            DepositState::Seen,
            "On its way: <bdi>3</bdi> of <bdi>12</bdi> confirmations.",
            true,
            true,
        ),
        (DepositState::Screening, "Received. We are checking it now.", true, true),
        (DepositState::InReview, "longer than usual", true, true),
        (DepositState::Approved, "Checked. We are forwarding it now.", true, true),
        (DepositState::Completed, "Done. The money has arrived.", false, false),
        (DepositState::Rejected, "could not be completed", false, true),
        (DepositState::LegalHold, "could not be completed", false, true),
        (DepositState::Refunding, "Please contact the person", false, true),
        (DepositState::Refunded, "It was refunded.", false, false),
    ] {
        let page = shown(&paid, &[state], false);
        assert!(page.contains(words) && page.contains("25.50 USDC</bdi>"), "{state:?}: {page}");
        for sign in ["http-equiv=\"refresh\"", "data-stream=", "data-status=", "class=\"again\""] {
            assert_eq!(page.contains(sign), followed, "{state:?}: {page}");
        }
        assert_eq!(page.contains("id=\"help\""), waiting, "{state:?}: {page}");
        assert_eq!(
            page.contains("class=\"card receipt\""),
            state == DepositState::Completed,
            "{state:?}"
        );
        let failed = !waiting && state != DepositState::Completed;
        assert_eq!(
            page.contains("class=\"steps\" hidden"),
            failed,
            "no step says that it is done: {state:?}"
        );
    }
    assert_eq!(
        shown(&paid, &[DepositState::Rejected], false),
        shown(&paid, &[DepositState::LegalHold], false)
    );
    assert!(
        !shown(&request(), &[], false).contains("http-equiv"),
        "a form that is filled in must not be reloaded"
    );
}

#[test]
fn a_page_where_a_transaction_is_looked_up_is_not_reloaded_away() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let incoming = one(&deposit(DepositState::Screening), &paid, None).expect("shown");
    let status = View::of(&paid, vec![incoming], true, true, T0);
    for (request, view) in [(&paid, status), (&request(), view(&request(), &[], true))] {
        let page = |sought| written(request, &view, sought, Way::Exchange, Language::English);
        assert!(page(None).contains("id=\"help\""));
        assert!(page(None).contains("http-equiv=\"refresh\" content=\"60\""), "time to enter it");
        for sought in every_answer() {
            assert!(!page(Some(sought)).contains("http-equiv"), "{sought:?}");
        }
    }
}

/// A refund in progress to the address that the sender entered.
fn refund(approved_by: Option<&str>, tx: Option<TxHash>) -> Refund {
    let screened =
        Screened { score: 0, evidence: None, list_version: "1".to_owned(), stale: false };
    Refund {
        to: Address([0x5e; 20]),
        proposed_by: "ayesha".to_owned(),
        screened,
        propose: IntentId(uuid::Uuid::from_u128(1)),
        proposed: true,
        approved_by: approved_by.map(str::to_owned),
        screened_again: None,
        execute: None,
        tx,
    }
}

#[test]
fn a_refund_is_followed_to_its_end_and_its_transaction_shown_to_its_recipient() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let back = TxHash([0x77; 32]);
    let page = |state, refund: Refund, told: Option<TxHash>, language| {
        let deposit = Deposit { refund: Some(refund), ..deposit(state) };
        let incoming = one(&deposit, &paid, None).expect("shown");
        let arrived = vec![Incoming { back_tx: told, ..incoming }];
        let view = View::of(&paid, arrived, true, true, T0);
        (written(&paid, &view, None, Way::Exchange, language), view)
    };
    let proposed = refund(None, None);
    let (asked, _) = page(DepositState::Refunding, proposed, None, Language::English);
    assert!(
        asked.contains("Please contact the person") && !asked.contains("being refunded"),
        "it may be taken back"
    );
    let going =
        |language| page(DepositState::Refunding, refund(Some("omar"), None), None, language);
    let (html, view) = going(Language::English);
    assert!(
        html.contains("It is being refunded.") && html.contains("Your payment was not completed"),
        "{html}"
    );
    assert!(
        html.contains("http-equiv=\"refresh\"")
            && html.contains("class=\"again\"")
            && !html.contains("id=\"help\"")
    );
    assert!(view.is_followed() && !view.is_waiting() && view.has_failed());
    let done = |told, language| {
        page(DepositState::Refunded, refund(Some("omar"), Some(back)), told, language)
    };
    let (html, over) = done(Some(back), Language::English);
    assert!(
        html.contains("It was refunded.") && html.contains("Your money was sent back"),
        "{html}"
    );
    assert!(
        html.contains(&format!("Transaction: <bdi class=\"address\" dir=\"ltr\">{back}</bdi>")),
        "{html}"
    );
    assert!(
        !over.is_followed() && over.shape() != view.shape() && !html.contains("http-equiv"),
        "{html}"
    );
    assert!(
        !done(None, Language::English).0.contains(&back.to_string()),
        "other visitors do not see it"
    );
    // The refund address is never shown, and every language has its own text.
    let said: BTreeSet<String> = Language::ALL
        .into_iter()
        .map(|it| Words(it).say("going-back").expect("a message").0)
        .collect();
    assert_eq!(said.len(), Language::ALL.len());
    for language in Language::ALL {
        let (html, _) = going(language);
        assert!(
            html.contains(&Words(language).say("going-back").expect("a message").0),
            "{language:?}"
        );
        assert!(!html.to_lowercase().contains("5e5e5e5e"), "{language:?}");
    }
}

#[test]
fn what_is_sent_to_a_browser_stands_on_the_page_word_for_word() {
    for Case { name, html, status, .. } in every_page() {
        if status.is_empty() || !html.contains("id=\"live\"") {
            continue;
        }
        let told: serde_json::Value = serde_json::from_str(status).expect("JSON");
        let member = |name: &str| {
            told.get(name).and_then(serde_json::Value::as_str).expect("a text").to_owned()
        };
        assert_eq!(told.as_object().map(serde_json::Map::len), Some(2), "{status}");
        assert!(html.contains(&member("live")), "{name}: {status}");
        assert!(html.contains(&format!("data-shape=\"{}\"", member("shape"))), "{name}: {status}");
    }
}

#[test]
fn only_the_sender_sees_the_transaction_on_the_receipt() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let view =
        view(&paid, &[deposit(DepositState::Completed), deposit(DepositState::Rejected)], false);
    let (frame, tx) =
        (frame(&paid, Language::English), deposit(DepositState::Completed).tx.to_string());
    let receipt = |known| receipt::receipt(&view, &frame, "Ethereum", known).expect("written").0;
    assert!(receipt(true).contains(&tx) && !receipt(false).contains(&tx));
    for text in
        ["<bdi>Demo Bank<", "<bdi>Rent<", ">25.50 USDC<", "2026-11-21 06:59 UTC", "<bdi>Ethereum<"]
    {
        assert_eq!(
            receipt(false).matches(text).count(),
            1,
            "{text}, of the one that arrived: {}",
            receipt(false)
        );
    }
    let paid_twice = [deposit(DepositState::Completed), deposit(DepositState::Completed)];
    let view = self::view(&paid, &paid_twice, true);
    let total = receipt::receipt(&view, &frame, "Ethereum", true).expect("written").0;
    assert!(total.contains("Total</dt><dd><bdi class=\"value\">51.00 USDC</bdi>"), "{total}");
}

#[test]
fn a_fiat_amount_is_shown_in_the_token_that_was_chosen() {
    let fiat = Asked::Fiat {
        currency: domain::currency::Currency::Pkr,
        micros: 7_000_000_000,
        usdc: 25_097_727,
        usdt: 25_122_850,
    };
    let asked = PaymentRequest { asked: fiat, ..request() };
    for (coin, about) in [
        (None, "25.097727 USDC"),
        (Some("USDC"), "25.097727 USDC"),
        (Some("USDT"), "25.12285 USDT"),
    ] {
        let here = Here { coin, ..here(Language::English) };
        let frame = Frame::of(&asked, "Demo Bank", true, &here, T0);
        assert_eq!(frame.about.as_deref(), Some(about), "{coin:?}");
    }
    let here = Here { coin: Some("USDT"), ..here(Language::English) };
    assert_eq!(Frame::of(&request(), "Demo Bank", true, &here, T0).about, None);
}

#[test]
fn the_payee_of_a_receipt_is_one_text_with_the_languages_comma() {
    let paid = PaymentRequest {
        state: RequestState::Paid,
        recipient_name: Some("Nila Sarkar".to_owned()),
        ..request()
    };
    let view = view(&paid, &[deposit(DepositState::Completed)], true);
    for language in Language::ALL {
        let comma = match language {
            Language::Urdu | Language::Arabic => "،",
            _ => ",",
        };
        let payee = format!("<dd><span><bdi>Nila S.</bdi>{comma} <bdi>Demo Bank</bdi></span></dd>");
        let frame = frame(&paid, language);
        let receipt = receipt::receipt(&view, &frame, "Ethereum", true).expect("written").0;
        assert!(receipt.contains(&payee), "{receipt}");
    }
}

#[test]
fn a_part_payment_of_a_closed_link_is_not_called_complete() {
    let part = PaymentRequest { received: Received { usdc: 10_000_000, usdt: 0 }, ..request() };
    let sent = Deposit { minor: 10_000_000, ..deposit(DepositState::Completed) };
    let says = "<bdi>10.00 USDC</bdi> of <bdi>25.50 USDC</bdi> has arrived. This link is closed.";
    let expired = PaymentRequest { state: RequestState::Expired, ..part.clone() };
    let cancelled = PaymentRequest { state: RequestState::Cancelled, ..part.clone() };
    for (request, taken) in [(&expired, true), (&cancelled, true), (&part, false)] {
        let own = one(&sent, request, None).expect("shown");
        for (incoming, known) in [(own, true), (own, false), (own.of_another(), true)] {
            let view = View::of(request, vec![incoming], taken, known, T0);
            let html = written(request, &view, None, Way::Exchange, Language::English);
            assert!(html.contains(says) && html.contains("This part has arrived."), "{html}");
            for wrong in ["complete", "has been paid", "send the rest", "Done. The money"] {
                assert!(!html.contains(wrong), "{wrong} in {html}");
            }
            let receipt = "class=\"card receipt\"";
            assert_eq!(html.contains(receipt), incoming.is_own, "of what arrived: {html}");
            let status = live::status(&view, Words(Language::English)).expect("written");
            assert!(String::from_utf8_lossy(&status).contains("This link is closed."));
        }
    }
    let refused = Deposit { coin: StableCoin::Usdt, ..deposit(DepositState::Rejected) };
    let view = view(&part, &[sent, refused], true);
    let open = written(&part, &view, None, Way::Exchange, Language::English);
    assert!(open.contains("Please do not send again") && !open.contains("closed"), "{open}");
}

#[test]
fn a_page_of_a_refused_part_does_not_say_that_it_arrived() {
    let half = Received { usdc: 10_000_000, usdt: 0 };
    let sent = |state| Deposit { minor: 10_000_000, ..deposit(state) };
    let open = PaymentRequest { received: half, refused: half, ..request() };
    let expired = PaymentRequest { state: RequestState::Expired, ..open.clone() };
    for request in [&open, &expired] {
        for state in [DepositState::Rejected, DepositState::LegalHold, DepositState::Refunded] {
            let html = shown_of(request, &[sent(state)]);
            for wrong in
                ["has arrived", "send the rest", "Remaining amount", "id=\"pay\"", "closed"]
            {
                assert!(!html.contains(wrong), "{wrong} in {html}");
            }
            assert!(html.contains("This payment could not be completed."), "{html}");
        }
    }
    // Another part of theirs was accepted: the link is not closed, and not for them.
    let both = Received { usdc: 20_000_000, usdt: 0 };
    let open = PaymentRequest { received: both, refused: half, ..request() };
    let html = shown_of(&open, &[sent(DepositState::Completed), sent(DepositState::Rejected)]);
    let so_far = "<bdi>10.00 USDC</bdi> of <bdi>25.50 USDC</bdi> has arrived.</h2>";
    assert!(html.contains(so_far) && html.contains("This part has arrived."), "{html}");
}

/// The page of the sender of these deposits.
fn shown_of(request: &PaymentRequest, deposits: &[Deposit]) -> String {
    let view = view(request, deposits, true);
    written(request, &view, None, Way::Exchange, Language::English)
}

#[test]
fn a_sender_who_paid_nothing_gets_no_receipt_of_what_others_paid() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let of_another = |state| one(&deposit(state), &paid, None).expect("shown").of_another();
    let shown = |arrived| {
        let view = View::of(&paid, arrived, true, true, T0);
        (written(&paid, &view, None, Way::Exchange, Language::English), view)
    };
    let (html, view) = shown(vec![of_another(DepositState::Completed)]);
    assert!(html.contains("This request has been paid"), "{html}");
    let (tx, english) = (deposit(DepositState::Completed).tx.to_string(), Language::English);
    for secret in ["Thank you", "class=\"card receipt\"", "Check code", &tx] {
        assert!(!html.contains(secret), "{secret} in {html}");
    }
    let (here, frame) = (here(english), frame(&paid, english));
    let page = |view: &View| receipt::page(&here, view, &frame, "Ethereum").expect("written");
    assert_eq!(page(&view), None, "their check code confirms nothing");
    for state in [DepositState::Seen, DepositState::Screening] {
        let (html, _) = shown(vec![of_another(state)]);
        assert!(html.contains("Payments so far") && !html.contains("our payment is on"), "{html}");
        assert!(!html.contains("received your payment"), "{html}");
    }
    let own = one(&deposit(DepositState::Completed), &paid, None).expect("shown");
    let (html, both) = shown(vec![own, of_another(DepositState::Completed)]);
    assert!(html.contains("Thank you") && html.contains(&tx), "{html}");
    let receipt = page(&both).expect("a receipt");
    assert_eq!(receipt.matches("25.50 USDC</bdi></dd>").count(), 1, "their own: {receipt}");
    assert_ne!(shown(vec![own]).1.shape(), view.shape());
}

#[test]
fn a_sender_is_asked_for_a_refund_address_and_sees_the_saved_one() {
    let paid = PaymentRequest { state: RequestState::Paid, ..request() };
    let refused = view(&paid, &[deposit(DepositState::Rejected)], true);
    let page =
        |answer: Answer| answered(&paid, &refused, None, Way::Exchange, Language::English, &answer);
    let asked = page(Answer::default());
    for text in [
        "<h2 id=\"back-title\">Where should we send a refund?</h2>",
        "<form method=\"post\" action=\"/pay/t/s?lang=en#back\" novalidate>",
        "choose to deposit <bdi>USDC</bdi> on the <bdi>Ethereum</bdi> network",
        "<input id=\"address\" name=\"address\"",
        "Save this address",
    ] {
        assert!(asked.contains(text), "{text} in {asked}");
    }
    assert!(!asked.contains("http-equiv"), "a form that is filled in must not be reloaded");
    let kept = page(Answer { kept: Some(OWN.to_owned()), ..Answer::default() });
    for text in [
        &format!("<bdi class=\"address\" dir=\"ltr\">{OWN}</bdi>"),
        "Change the address",
        "You can change it",
    ] {
        assert!(kept.contains(text), "{text} in {kept}");
    }
    let typed = Some(Field { value: "0x12".to_owned(), fault: Some(back::NO_ADDRESS) });
    let wrong = page(Answer { typed, ..Answer::default() });
    assert!(
        wrong.contains("value=\"0x12\" aria-invalid=\"true\" aria-describedby=\"address-fault\""),
        "{wrong}"
    );
    assert!(wrong.contains("id=\"address-fault\">This is not a valid address."), "{wrong}");
    let last = page(Answer { kept: Some(OWN.to_owned()), typed: None, is_last: true });
    assert!(
        last.contains("can no longer be changed") && !last.contains("<form method=\"post\""),
        "{last}"
    );
    // A refund is proposed: a saved address is shown; without one there is nothing to show.
    let proposed = view(&paid, &[deposit(DepositState::Refunding)], true);
    let page = |kept: Option<&str>| {
        let answer = Answer { kept: kept.map(str::to_owned), ..Answer::default() };
        answered(&paid, &proposed, None, Way::Exchange, Language::English, &answer)
    };
    assert!(page(Some(OWN)).contains(OWN) && page(Some(OWN)).contains("can no longer be changed"));
    assert!(!page(None).contains("id=\"back\"") && !page(Some(OWN)).contains("name=\"address\""));
    // A visitor with only the link is referred to the sender's own page.
    let visitor = view(&paid, &[deposit(DepositState::Rejected)], false);
    let visitor = written(&paid, &visitor, None, Way::Exchange, Language::English);
    assert!(
        visitor.contains("open the page where you saw the payment address")
            && !visitor.contains("name=\"address\"")
    );
}

#[test]
fn one_on_legal_hold_is_asked_about_in_the_very_same_words() {
    for (_, request) in requests() {
        for known in [false, true] {
            let page = |state| {
                let view = view(&request, &[deposit(state)], known);
                let answer = Answer { kept: Some(OWN.to_owned()), ..Answer::default() };
                answered(&request, &view, None, Way::Exchange, Language::Urdu, &answer)
            };
            assert_eq!(page(DepositState::Rejected), page(DepositState::LegalHold));
        }
    }
}

#[test]
fn a_payment_after_the_withdrawal_says_so() {
    let cancelled = PaymentRequest {
        state: RequestState::Cancelled,
        cancelled_at: Some(T0),
        received: Received { usdc: 25_500_000, usdt: 0 },
        late: true,
        ..request()
    };
    for (state, sentence) in [
        (DepositState::Screening, "after this request was withdrawn. We are looking into it."),
        (DepositState::Completed, "after this request was withdrawn. It was accepted."),
        (DepositState::Rejected, "after this request was withdrawn.<"),
    ] {
        let page = shown_of(&cancelled, &[deposit(state)]);
        assert!(page.contains(sentence) && !page.contains("expired"), "{state:?}: {page}");
        let before =
            PaymentRequest { cancelled_at: Some(T0 + Span::hours(1)), ..cancelled.clone() };
        let page = shown_of(&before, &[deposit(state)]);
        assert!(!page.contains("withdrawn"), "{state:?}: {page}");
    }
}

/// A late payment that was accepted is not looked into; what happens to a refused one is stated once.
#[test]
fn a_late_payment_says_whether_it_was_accepted() {
    let expired =
        PaymentRequest { state: RequestState::Expired, expires_at: T0, late: true, ..request() };
    let says = |state| {
        let view = view(&expired, &[deposit(state)], true);
        String::from_utf8(live::status(&view, Words(Language::English)).expect("written"))
    };
    for (state, sentence) in [
        (DepositState::Screening, "arrived after this link expired. We are looking into it."),
        (DepositState::InReview, "arrived after this link expired. We are looking into it."),
        (DepositState::Completed, "arrived after this link expired. It was accepted."),
        (DepositState::Rejected, "arrived after this link expired.<"),
    ] {
        let page = says(state).expect("UTF-8");
        assert!(page.contains(sentence), "{state:?}: {page}");
    }
}
