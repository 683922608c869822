//! The payment page from outside (`docs/pay-page.md`): information it never reveals,
//! languages, updates, and the lookup of missing payments.

use domain::brand::{Brand, Colour, Logo};
use domain::currency::StableCoin;
use futures_util::StreamExt as _;
use reqwest::Method;
use testkit::wait::AT_MOST;

use super::acts::id;
use crate::harness::client::Call;
use crate::harness::{Answer, Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    the_recipient_is_never_revealed_on_any_path_in_any_state_or_language
    the_visitor_chooses_the_language_and_keeps_it
    the_first_page_guesses_the_currency_and_the_named_country_wins
    status_and_stream_match_the_page
    each_senders_receipt_has_their_own_payments
    a_refused_payment_is_its_senders_alone
    a_page_looks_like_its_bank
    a_transaction_that_is_not_shown_is_looked_for
    what_pages_load_is_versioned_and_kept
    a_link_that_ended_and_one_that_never_was_are_alike_on_every_address
}

const LANGUAGES: [&str; 8] = ["en", "ur", "ar", "hi", "bn", "ne", "vi", "fil"];
const FORM: &str = "first_name=Omar&last_name=Khan&email=&phone_number=%2B971500000000&custodial_provider=Secret-Exchange";

/// A visitor's view of a payment request.
pub struct Link<'a> {
    bank: &'a WalletBank,
    /// Of the form `/pay/{token}`.
    pub path: String,
}

impl<'a> Link<'a> {
    pub fn of(bank: &'a WalletBank, request: &Json) -> Link<'a> {
        Link { bank, path: request["payment_link"].text().replace(&bank.bank.running.url, "") }
    }

    pub fn get(&self, below: &str) -> Call {
        self.bank.bank.unsigned(Method::GET, &format!("{}{below}", self.path), None)
    }

    /// The plain link in the browser that made this submission.
    pub fn by_browser_of(&self, submission: &str) -> Call {
        let id = submission.trim_start_matches('/').split('?').next().unwrap_or_default();
        self.get("").header("cookie", &format!("corridor_sender={id}"))
    }

    /// Submits a form to the page, or to a path below it.
    pub async fn submit(&self, below: &str, form: &str) -> Answer {
        let path = format!("{}{below}", self.path);
        let call = self.bank.bank.unsigned(Method::POST, &path, Some(form.as_bytes().to_vec()));
        call.header("content-type", "application/x-www-form-urlencoded").send().await
    }

    /// `/{submission}` of a sender who has submitted their details.
    pub async fn introduced(&self) -> String {
        self.introduced_as(FORM).await
    }

    pub async fn introduced_as(&self, form: &str) -> String {
        let answer = self.submit("", form).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        answer.header("location").expect("where to").replace(&self.path, "")
    }

    /// The first event of a stream.
    async fn event(&self, below: &str) -> String {
        let response = self.get(&format!("{below}/stream")).open().await;
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no", "nginx would hold it back");
        let first = response.bytes_stream().next().await.expect("an event").expect("readable");
        String::from_utf8(first.to_vec()).expect("text")
    }
}

pub fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).expect("text")
}

/// Everything that a visitor can read: pages, QR codes, JSON, the stream, and all headers.
async fn everything(link: &Link<'_>, submission: &str, language: &str) -> Vec<(String, String)> {
    let query = format!("?lang={language}");
    let mut read = Vec::new();
    let mut belows = vec![query.clone(), format!("/qr.svg{query}"), format!("/status{query}")];
    if !submission.is_empty() {
        belows.extend([format!("{submission}{query}"), format!("{submission}/status{query}")]);
    }
    if language == "en" {
        belows.push(format!("{submission}?tx=0x{}", "ab".repeat(32)));
    }
    for below in belows {
        let answer = link.get(&below).send().await;
        assert!([200, 303, 404].contains(&answer.status), "{answer:?}");
        for (name, value) in [
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("x-robots-tag", "noindex"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:?}");
        }
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"),
            "{policy}"
        );
        read.push((format!("{below} {:?}", answer.headers), text(&answer)));
    }
    read
}

async fn the_recipient_is_never_revealed_on_any_path_in_any_state_or_language(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("canary-customer").await;
    let address =
        bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok()["wallet_address"]
            .text()
            .to_lowercase();
    let request = async |amount| bank.request(&wallet, amount, "USDC").await;
    let named = format!(
        r#"{{"wallet_id":"{wallet}","amount":{{"type":"flexible"}},"recipient_name":"Nila Canary"}}"#
    );
    let named = bank.post("/v1/sdk/payment-requests", named).send().await.ok();
    let shown = text(&Link::of(&bank, &named).get("?lang=en").send().await);
    assert!(shown.contains("<bdi>Nila C.</bdi>, a customer of"), "{shown}");
    let (open, partial) = (request("25.00").await, request("26.00").await);
    let (done, refused, held) =
        (request("27.00").await, request("28.01").await, request("29.02").await);
    let (wrong, cancelled) = (request("30.00").await, request("31.00").await);
    let mut links = Vec::new();
    for (name, request) in [
        ("named", &named),
        ("details", &open),
        ("open", &open),
        ("partial", &partial),
        ("done", &done),
        ("not accepted", &refused),
        ("checking", &held),
        ("wrong token", &wrong),
        ("cancelled", &cancelled),
    ] {
        let link = Link::of(&bank, request);
        let submission = if matches!(name, "named" | "details") {
            String::new()
        } else {
            link.introduced().await
        };
        links.push((name, link, submission));
    }
    for (request, how) in [
        (&partial, "?amount=10.00"),
        (&done, ""),
        (&refused, ""),
        (&held, ""),
        (&wrong, "?currency=USDT&amount=30.00"),
    ] {
        bank.paid(request, how).await;
    }
    bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&cancelled)), "{}")
        .send()
        .await
        .ok();
    bank.becomes(&wallet, &partial, "ACTIVE", "PARTIAL").await;
    bank.becomes(&wallet, &done, "PAID", "NONE").await;
    // The sender of the rejected payment is asked for a refund address, which only they see.
    let (_, link, submission) =
        links.iter().find(|(name, ..)| *name == "not accepted").expect("there");
    let asks = async || text(&link.get(submission).send().await).contains("name=\"address\"");
    assert!(testkit::wait::until_async(AT_MOST, asks).await, "it is never asked");
    assert_eq!(
        link.submit(submission, "address=0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e").await.status,
        303
    );
    let kept = |page: &Answer| text(page).to_lowercase().contains(&"5e".repeat(20));
    assert!(kept(&link.get(submission).send().await) && !kept(&link.get("").send().await));
    let canaries = [
        wallet.clone(),
        wallet.replace('-', ""),
        "canary-customer".to_owned(),
        "nila canary".to_owned(),
        address[2..].to_owned(),
    ];
    for (name, link, submission) in &links {
        for language in LANGUAGES {
            for (what, told) in everything(link, submission, language).await {
                let all = format!("{what} {told}").to_lowercase();
                for canary in canaries.iter().map(String::as_str).chain([
                    "omar",
                    "secret-exchange",
                    "971500000000",
                ]) {
                    assert!(
                        !all.contains(canary),
                        "the page reveals {canary}: {name} {language}: {all}"
                    );
                }
            }
        }
        if *name != "cancelled" {
            let event = link.event(submission).await.to_lowercase();
            assert!(canaries.iter().all(|canary| !event.contains(canary)), "{name}: {event}");
        }
    }
    bank.finish().await;
}

async fn the_visitor_chooses_the_language_and_keeps_it(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("languages").await;
    let link = Link::of(&bank, &bank.request(&wallet, "25.00", "USDC").await);
    let page = async |below: &str, accepted: &str| {
        text(&link.get(below).header("accept-language", accepted).send().await)
    };
    assert!(page("", "hi-IN,hi;q=0.9,en;q=0.5").await.contains("<html lang=\"hi\" dir=\"ltr\">"));
    assert!(page("?lang=ur", "hi").await.contains("<html lang=\"ur\" dir=\"rtl\">"));
    assert!(page("?lang=de", "de").await.contains("<html lang=\"en\" dir=\"ltr\">"));
    let faulty = link.submit("?lang=ar", "first_name=Omar").await;
    assert_eq!(faulty.status, 422, "{faulty:?}");
    let faulty = text(&faulty);
    assert!(
        faulty.contains("<html lang=\"ar\" dir=\"rtl\">") && faulty.contains("?lang=ar\""),
        "{faulty}"
    );
    let taken = link.submit("?lang=ar", FORM).await;
    let location = taken.header("location").expect("where to").to_owned();
    assert!(taken.status == 303 && location.ends_with("?lang=ar"), "{location}");
    let known = bank.bank.unsigned(Method::GET, &location, None).send().await;
    assert!(text(&known).contains("<html lang=\"ar\" dir=\"rtl\">"));
    let unknown = link.get("/11111111-1111-4111-8111-111111111111?lang=ne").send().await;
    assert_eq!(
        (unknown.status, unknown.header("location")),
        (303, Some(format!("{}?lang=ne", link.path).as_str()))
    );
}

/// The amount on a page after "About", if it has one.
async fn about(link: &Link<'_>, below: &str, accepted: &str) -> Option<String> {
    let page = text(&link.get(below).header("accept-language", accepted).send().await);
    let (_, about) = page.split_once("About <bdi>")?;
    about.split_once("</bdi>").map(|(about, _)| about.to_owned())
}

async fn the_first_page_guesses_the_currency_and_the_named_country_wins(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("about").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let currency = async |below: &str, accepted: &str| {
        let about = about(&link, below, accepted).await;
        about.map(|about| about.rsplit(' ').next().expect("a code").to_owned())
    };
    for (accepted, expected) in [
        ("en-AE", Some("AED")),
        ("en-US,en;q=0.9,en-SA;q=0.8", Some("SAR")),
        ("en-PK", None),
        ("en-US", None),
        ("en", None),
    ] {
        assert_eq!(currency("", accepted).await.as_deref(), expected, "{accepted}");
    }
    let from = async |phone: &str| link.introduced_as(&FORM.replace("971500000000", phone)).await;
    let (emirati, pakistani, american) =
        (from("971500000000").await, from("923001234567").await, from("12025550143").await);
    assert_eq!(currency(&emirati, "en-SA").await.as_deref(), Some("AED"));
    assert_eq!(currency(&pakistani, "en-AE").await.as_deref(), Some("PKR"));
    assert_eq!(currency(&american, "en-AE").await, None, "the country is named: no guess");
    // A fiat amount is fixed in the token: the guess does not replace it.
    let body = format!(
        r#"{{"wallet_id":"{wallet}","amount":{{"type":"fiat","currency":"USD","value":"25.00"}}}}"#
    );
    let fiat = bank.post("/v1/sdk/payment-requests", body).send().await.ok();
    let fiat = about(&Link::of(&bank, &fiat), "", "en-AE").await;
    assert!(fiat.as_deref().is_some_and(|about| about.ends_with("USDC")), "{fiat:?}");
    bank.finish().await;
}

async fn status_and_stream_match_the_page(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("followed").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let sender = link.introduced().await;
    let page = text(&link.get(&sender).send().await);
    let status = link.get(&format!("{sender}/status")).send().await.ok();
    assert_eq!(status.names(), ["shape", "live"]);
    assert_eq!(status["shape"].text(), "send-25.00");
    assert!(
        page.contains(status["live"].text()) && page.contains("data-shape=\"send-25.00\""),
        "{page}"
    );
    let mut stream = link.get(&format!("{sender}/stream")).open().await.bytes_stream();
    let mut told =
        async || String::from_utf8(stream.next().await?.expect("readable").to_vec()).ok();
    let first = told().await.expect("an event");
    assert_eq!(
        first,
        format!(
            "retry: 3000\ndata: {}\n\n",
            text(&link.get(&format!("{sender}/status")).send().await)
        )
    );
    bank.paid(&request, "").await;
    bank.newest(&wallet, "COMPLETED").await;
    let last = loop {
        let event = told().await.expect("the stream goes on");
        if event.contains("\"status-5-1\"") {
            break event;
        }
    };
    let page = text(&link.get(&sender).send().await);
    assert!(
        page.contains("data-shape=\"status-5-1\"") && !page.contains("data-stream"),
        "there is nothing to follow"
    );
    let live = Json::read(last.trim().strip_prefix("data: ").expect("data").as_bytes());
    assert!(page.contains(live["live"].text()), "{last}");
    // Only the sender has a receipt with the transaction: the plain link shows one without it in
    // the browser that made the submission, and none in others.
    let receipt = "class=\"card receipt\"";
    let visitor = text(&link.by_browser_of(&sender).send().await);
    assert!(page.contains(receipt) && visitor.contains(receipt));
    let stranger = text(&link.get("").send().await);
    assert!(stranger.contains("This request has been paid"), "{stranger}");
    assert!(!stranger.contains(receipt) && !stranger.contains("Thank you"), "{stranger}");
    let hash =
        page.split("class=\"address\" dir=\"ltr\">").nth(1).and_then(|rest| rest.split('<').next());
    let hash = hash.expect("a transaction");
    assert!(hash.starts_with("0x") && hash.len() == 66, "{hash}");
    assert!(!visitor.contains(hash) && !stranger.contains(hash), "{hash}");
    // The receipt's own link shows what was paid, and no more; another check code shows nothing.
    let path = receipt_path(&page);
    let shown = text(&Link { bank: &bank, path: path.clone() }.get("").send().await);
    assert!(
        shown.contains(receipt) && shown.contains("25.00 USDC") && !shown.contains(hash),
        "{shown}"
    );
    let token = request["payment_link"].text().rsplit('/').next().expect("a token").to_owned();
    assert!(!shown.contains(&token), "the payment link stays the sender's");
    let other =
        path.replace(&path[path.len() - 4..], if path.ends_with("0000") { "1111" } else { "0000" });
    assert_eq!(Link { bank: &bank, path: other }.get("").send().await.status, 404);
}

/// The path of the receipt's permanent link.
fn receipt_path(page: &str) -> String {
    let (_, link) = page.split_once("/pay/receipt/").expect("a link");
    format!("/pay/receipt/{}", link.split('"').next().unwrap_or_default())
}

async fn each_senders_receipt_has_their_own_payments(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("receipts").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let bystander = link.introduced().await;
    let mut senders = Vec::new();
    // Each pays to the address of the latest submission.
    for amount in ["10.00", "15.00"] {
        senders.push(link.introduced().await);
        bank.paid(&request, &format!("?amount={amount}")).await;
        let arrived = async || {
            let path = format!("/v1/sdk/transactions?wallet_id={wallet}");
            let page = bank.get(&path).send().await.ok();
            let all = page["transactions"].items();
            all.iter().filter(|it| it["status"].text() == "COMPLETED").count() == senders.len()
        };
        assert!(testkit::wait::until_async(AT_MOST, arrived).await, "{amount} did not arrive");
    }
    for (sender, own, other) in [(0, "10.00 USDC", "15.00 USDC"), (1, "15.00 USDC", "10.00 USDC")] {
        let page = text(&link.get(&senders[sender]).send().await);
        let path = receipt_path(&page);
        let shown = text(&Link { bank: &bank, path }.get("").send().await);
        assert!(shown.contains(own) && !shown.contains(other), "{own}: {shown}");
    }
    // A sender who paid nothing has no receipt, and neither has a visitor with the link alone.
    for page in [link.get(&bystander), link.get(""), link.by_browser_of(&bystander)] {
        let page = text(&page.send().await);
        assert!(page.contains("This request has been paid"), "{page}");
        assert!(!page.contains("Check code") && !page.contains("Thank you"), "{page}");
    }
    let path = receipt_path(&text(&link.by_browser_of(&senders[0]).send().await));
    let shown = text(&Link { bank: &bank, path }.get("").send().await);
    assert!(shown.contains("10.00 USDC") && !shown.contains("15.00 USDC"), "{shown}");
    bank.finish().await;
}

async fn a_refused_payment_is_its_senders_alone(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("refused-alone").await;
    let request = bank.request(&wallet, "25.01", "USDC").await;
    let link = Link::of(&bank, &request);
    let (other, sender) = (link.introduced().await, link.introduced().await);
    bank.paid(&request, "?amount=10.00").await;
    let page = async |below: &str| text(&link.get(below).send().await);
    let refused = async || page(&sender).await.contains("could not be completed");
    assert!(testkit::wait::until_async(AT_MOST, refused).await, "it is never refused");
    let own = page(&sender).await;
    assert!(!own.contains("data-to=") && !own.contains("has arrived"), "{own}");
    // Everybody else is asked for the whole amount.
    let others = page(&other).await;
    assert!(others.contains("25.01 USDC") && others.contains("data-to="), "{others}");
    assert!(!others.contains("10.00") && !others.contains("Remaining amount"), "{others}");
    assert!(!page("").await.contains("10.00"));
    let listed = bank.listed(&wallet, &request).await;
    assert_eq!((listed["status"].text(), listed["amount_due"].text()), ("ACTIVE", "25.01"));
    assert_eq!(listed["amount_received"].text(), "10.00");
    // What a request was paid with is refused: it takes nothing, and it has not expired.
    let request = bank.request(&wallet, "25.01", "USDC").await;
    let link = Link::of(&bank, &request);
    let (other, sender) = (link.introduced().await, link.introduced().await);
    bank.paid(&request, "").await;
    let page = async |below: &str| text(&link.get(below).send().await);
    let refused = async || page(&sender).await.contains("could not be completed");
    assert!(testkit::wait::until_async(AT_MOST, refused).await, "it is never refused");
    for below in [&other, ""] {
        let shown = page(below).await;
        assert!(shown.contains("This request cannot be paid now"), "{shown}");
        assert!(!shown.contains("expired") && !shown.contains("25.01"), "{shown}");
    }
    let own = text(&link.by_browser_of(&sender).send().await);
    assert!(own.contains("could not be completed") && !own.contains("name=\"address\""), "{own}");
    bank.finish().await;
}

async fn a_page_looks_like_its_bank(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("brand").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let link = Link::of(&bank, &request);
    let plain = text(&link.get("").send().await);
    assert!(!plain.contains("/pay/brand/") && !plain.contains("branded"));
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec();
    let brand = Brand {
        logo: Some(Logo::parse(svg.clone()).expect("a logo")),
        colour: Some(Colour::parse("#0b6b3a").expect("a colour")),
        contact: Some("<b>+971 4 123</b>".to_owned()),
    };
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    store.set_brand(tenant, &brand, "test").await.expect("set");
    let page = text(&link.get("").send().await);
    assert!(
        page.contains("class=\"top branded\"") && page.contains("&lt;b&gt;+971 4 123"),
        "{page}"
    );
    let logo_path =
        page.split("class=\"logo\" src=\"").nth(1).and_then(|rest| rest.split('"').next());
    let logo =
        Link { bank: &bank, path: logo_path.expect("a logo").to_owned() }.get("").send().await;
    assert_eq!((logo.status, logo.body.clone()), (200, svg));
    let header = |name: &str| logo.header(name).expect("a header");
    assert_eq!(header("content-type"), "image/svg+xml");
    assert!(
        header("content-security-policy").ends_with("sandbox"),
        "opened by itself it runs nothing"
    );
    let style_path = page.split("/pay/brand/").nth(1).and_then(|rest| rest.split('"').next());
    let style = format!("/pay/brand/{}", style_path.expect("a style"));
    let style = Link { bank: &bank, path: style }.get("").send().await;
    assert_eq!(text(&style), ":root { --brand: #0b6b3a; }\n");
    let unknown = Link { bank: &bank, path: "/pay/brand/00.svg".to_owned() }.get("").send().await;
    assert_eq!(unknown.status, 404);
    bank.finish().await;
}

async fn a_transaction_that_is_not_shown_is_looked_for(on: On) {
    // A dedicated service: rate limits are per address.
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.wallet("sought").await;
    let (request, other) =
        (bank.request(&wallet, "25.00", "USDC").await, bank.request(&wallet, "5.00", "USDC").await);
    let (link, elsewhere) = (Link::of(&bank, &request), Link::of(&bank, &other));
    let (sender, other_sender) = (link.introduced().await, elsewhere.introduced().await);
    let faucet = bank.bank.running.chain().faucet.as_ref().expect("a sandbox's chain");
    let escrow = domain::chain::Address::parse(&bank.escrow(&request).await).expect("an address");
    let tx = faucet.pay(StableCoin::Usdc, escrow, 10_000_000).await.expect("paid");
    bank.becomes(&wallet, &request, "ACTIVE", "PARTIAL").await;
    let told = async |link: &Link<'_>, sender: &str, typed: &str| {
        let page = text(&link.get(&format!("{sender}?lang=en&tx={typed}")).send().await);
        let notice = page
            .split("id=\"answer\" role=\"status\" tabindex=\"-1\">")
            .nth(1)
            .and_then(|rest| rest.split("</p>").next());
        notice.map(str::to_owned)
    };
    let known = told(&link, &sender, &tx.to_string()).await.expect("an answer");
    assert!(known.starts_with("Found: this payment"), "{known}");
    let for_another = told(&elsewhere, &other_sender, &tx.to_string()).await.expect("an answer");
    assert!(for_another.contains("not for this payment request"), "{for_another}");
    let unknown = told(&link, &sender, &"cd".repeat(32)).await.expect("an answer");
    assert!(unknown.starts_with("Not found yet"), "{unknown}");
    for nonsense in ["nothing", "%3Cb%3E", "0x12"] {
        let answer = told(&link, &sender, nonsense).await.expect("an answer");
        assert!(answer.starts_with("This is not a valid transaction hash"), "{answer}");
    }
    assert_eq!(told(&link, &sender, "").await, None);
    // Beyond this many lookups per minute, no node is queried.
    let refused = async || {
        told(&link, &sender, &"cd".repeat(32))
            .await
            .is_some_and(|told| told.contains("search is not available"))
    };
    assert!(testkit::wait::until_async(AT_MOST, refused).await);
    bank.finish().await;
}

async fn what_pages_load_is_versioned_and_kept(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("assets").await;
    let link = Link::of(&bank, &bank.request(&wallet, "25.00", "USDC").await);
    let page = text(&link.get("").send().await);
    let packed = async |path: &str| {
        let call = bank.bank.unsigned(Method::GET, path, None).header("accept-encoding", "gzip");
        call.send().await.body.len()
    };
    let mut all = packed(&link.path).await;
    let paths: Vec<&str> =
        page.split('"').filter(|part| part.starts_with("/pay/assets/")).collect();
    assert_eq!(paths.len(), 3, "{page}");
    for path in paths {
        let answer = bank.bank.unsigned(Method::GET, path, None).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
        all += packed(path).await;
        let (_, extension) = path.split_once('.').expect("a type");
        let older = bank
            .bank
            .unsigned(Method::GET, &format!("/pay/assets/000000000000.{extension}"), None)
            .send()
            .await;
        assert_eq!(
            (older.status, older.header("cache-control")),
            (200, Some("no-store")),
            "{older:?}"
        );
        assert_eq!(older.body, answer.body);
    }
    assert!((1..=40_000).contains(&all), "{all} bytes over the wire");
    assert_eq!(
        bank.bank.unsigned(Method::GET, "/pay/assets/x.html", None).send().await.status,
        404
    );
}

async fn a_link_that_ended_and_one_that_never_was_are_alike_on_every_address(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("closed").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let ended = Link::of(&bank, &request);
    let sender = ended.introduced().await;
    let mut stream = ended.get(&format!("{sender}/stream")).open().await.bytes_stream();
    stream.next().await.expect("an event").expect("readable");
    bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&request)), "{}").send().await.ok();
    let last = stream.next().await.expect("an event").expect("readable");
    assert_eq!(last, "data: {\"shape\":\"closed\"}\n\n");
    assert!(stream.next().await.is_none(), "the stream of a page that is gone ends");
    let never = Link { bank: &bank, path: "/pay/AAAAAAAAAAAAAAAAAAAAAA".to_owned() };
    let absent = "/11111111-1111-4111-8111-111111111111".to_owned();
    for below in ["", "/status", "/stream"] {
        let (one, two) = (
            ended.get(&format!("{sender}{below}")).send().await,
            never.get(&format!("{absent}{below}")).send().await,
        );
        assert_eq!((one.status, two.status), (404, 404));
        let plain = |answer: &Answer, link: &Link<'_>, sender: &str| {
            text(answer).replace(&format!("{}{sender}", link.path), "")
        };
        assert_eq!(plain(&one, &ended, &sender), plain(&two, &never, &absent), "{below}");
        assert_eq!(one.header("content-type"), two.header("content-type"));
    }
    for path in ["/pay", "/pay/", "/PAY/AAAAAAAAAAAAAAAAAAAAAA", "/pay/A/b/c/d"] {
        let astray = Link { bank: &bank, path: path.to_owned() }.get("?lang=en").send().await;
        assert_eq!(astray.status, 404, "{path}");
        assert_eq!(astray.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    }
    let slash = ended.get("/?lang=en").send().await;
    assert_eq!(slash.header("location"), Some(&*format!("{}?lang=en", ended.path)));
    let form = ended.submit("", FORM).await;
    assert_eq!((form.status, never.submit("", FORM).await.status), (404, 404));
}
