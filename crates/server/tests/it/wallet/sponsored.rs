//! Sponsored transfers on the payment page (ADR 52): a sender signs, the bank's key sends, and the
//! payment counts like any other. Whatever is not exactly what the page asked for costs no gas.

use adapters::evm::signers::LocalKey;
use domain::chain::{Address, Authorization, IntentKind, SigningDomain, Word};
use domain::chain_tx::{Intent, IntentState, TxState};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::ids::PaymentRequestId;
use domain::wallet_effects::AlertKind;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::wait::AT_MOST;

use super::acts::{calls, id, word};
use super::pay_page::{Link, text};
use crate::harness::own_node::OwnNode;
use crate::harness::{Answer, Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    a_sender_without_gas_pays_by_a_signature
    each_field_must_be_what_the_page_asked_for
    a_listed_sender_costs_no_gas
    amounts_tokens_and_requests_have_limits
    the_days_gas_budget_is_not_exceeded
    a_transfer_that_fails_is_shown_and_sent_no_more
    without_the_setting_nothing_is_offered
}

const USDC: StableCoin = StableCoin::Usdc;

fn setup() -> Setup {
    Setup::with_wallets().set("chain.sponsor.enabled", "true")
}

/// A sender's account, which never has gas.
struct Holder {
    key: LocalKey,
}

impl Holder {
    /// With tokens of its own.
    async fn with(bank: &WalletBank, number: u8, minor: u64) -> Holder {
        let holder = Holder { key: LocalKey::from_bytes(&[number; 32]).expect("a key") };
        bank.coins(USDC, &holder.address(), minor).await;
        holder
    }

    fn address(&self) -> String {
        self.key.address().to_string()
    }

    fn sign(&self, digest: Word) -> String {
        let signature = self.key.sign_now(&digest.0).expect("signed");
        let v = Word([27 + u8::from(signature.odd_y); 32]).to_string();
        format!("{}{}{}", Word(signature.r), &Word(signature.s).to_string()[2..], &v[2..4])
    }

    /// What a wallet does with the page's typed data: signs it as EIP-712 says.
    fn signed(&self, typed: &Value) -> Value {
        let (domain, message) = (&typed["domain"], &typed["message"]);
        let text = |of: &Value, name: &str| of[name].as_str().expect("text").to_owned();
        let address = |of: &Value, name| Address::parse(&text(of, name)).expect("an address");
        let number = |name| text(message, name).parse().expect("a number");
        let domain = SigningDomain {
            name: text(domain, "name"),
            version: text(domain, "version"),
            chain_id: domain["chainId"].as_u64().expect("a number"),
            token: address(domain, "verifyingContract"),
        };
        let authorization = Authorization {
            from: address(message, "from"),
            to: address(message, "to"),
            value: number("value"),
            valid_after: number("validAfter"),
            valid_before: number("validBefore"),
            nonce: Word::parse(&text(message, "nonce")).expect("32 bytes"),
        };
        let mut signed = message.clone();
        signed["signature"] = json!(self.sign(domain.digest(&authorization)));
        signed
    }
}

/// A sender's page.
struct Page<'a> {
    bank: &'a WalletBank,
    link: Link<'a>,
    below: String,
    request: PaymentRequestId,
}

impl<'a> Page<'a> {
    async fn of(bank: &'a WalletBank, request: &Json) -> Page<'a> {
        let link = Link::of(bank, request);
        let below = link.introduced().await;
        Page { bank, link, below, request: PaymentRequestId::parse(id(request)).expect("an id") }
    }

    async fn shown(&self) -> String {
        text(&self.link.get(&format!("{}?lang=en", self.below)).send().await)
    }

    async fn asked(&self, account: &str) -> Answer {
        let path = format!("{}/authorization?coin=USDC&account={account}", self.below);
        self.link.get(&path).send().await
    }

    async fn typed(&self, holder: &Holder) -> Value {
        let answer = self.asked(&holder.address()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    async fn post(&self, body: &Value) -> Answer {
        let path = format!("{}{}/authorization?coin=USDC", self.link.path, self.below);
        let body = Some(body.to_string().into_bytes());
        let call = self.bank.bank.unsigned(Method::POST, &path, body);
        call.header("content-type", "application/json").send().await
    }

    async fn intents(&self) -> Vec<Intent> {
        let tenant = self.bank.bank.tenant.id;
        let ids: Vec<_> = (0..10)
            .map(|number| domain::chain_tx::sponsored_id(tenant, self.request, number))
            .collect();
        self.bank.bank.running.store().intents(tenant, &ids).await.expect("read")
    }

    async fn has_one_in(&self, state: IntentState) {
        let there = testkit::wait::until_async(AT_MOST, || async {
            matches!(&self.intents().await[..], [one] if one.state == state)
        });
        assert!(there.await, "{:?}", self.intents().await);
    }
}

/// The status, the error's code, and the field that it is about.
fn refusal(answer: &Answer) -> (u16, String, Option<String>) {
    let body = answer.json();
    let field = body.get("field").map(|field| field.text().to_owned());
    (answer.status, body["error"].text().to_owned(), field)
}

fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(refusal(answer), (status, code.to_owned(), None), "{answer:?}");
}

async fn a_sender_without_gas_pays_by_a_signature(on: On) {
    let bank = WalletBank::alone(on, setup()).await;
    let wallet = bank.in_use("sponsored").await;
    let holder = Holder::with(&bank, 0x31, 30_000_000).await;
    let request = bank.request(&wallet, "25.50", "USDC").await;
    let page = Page::of(&bank, &request).await;
    assert!(page.shown().await.contains("data-authorization=\"/pay/"), "it is offered");
    let typed = page.typed(&holder).await;
    assert_eq!(typed["primaryType"], "TransferWithAuthorization");
    assert_eq!(typed["message"]["value"], "25500000");
    assert_eq!(typed["message"]["to"], bank.escrow(&request).await);
    let signed = holder.signed(&typed);
    let first = page.post(&signed).await;
    assert_eq!((first.status, first.json()["status"].text()), (202, "sending"), "{first:?}");
    // The same again, at once and after the payment, has no further effect.
    assert_eq!(page.post(&signed).await.status, 202);
    bank.newest_is(&wallet, DepositState::Completed).await;
    page.has_one_in(IntentState::Done).await;
    let again = page.post(&signed).await;
    assert_eq!((again.status, again.json()["status"].text()), (202, "sent"), "{again:?}");
    assert_eq!(page.intents().await.len(), 1);
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.50");
    assert_eq!(bank.holds(USDC, &holder.address()).await, 4_500_000);
    assert_eq!(bank.transactions(&wallet, "").await.len(), 1, "it is one payment");
    assert!(page.shown().await.contains("Thank you, your payment is complete"));
    let store = bank.bank.running.store();
    let noted = store.audit_about(bank.bank.tenant.id, id(&request)).await.expect("read");
    let noted: Vec<_> = noted.iter().filter(|it| it.note.action == "transfer.sponsor").collect();
    let [entry] = noted[..] else { panic!("{noted:?}") };
    assert_eq!(entry.deed.who, "payment link");
    let after = entry.note.after.as_deref().expect("facts");
    assert!(after.contains(&holder.address()) && after.contains("25.5"), "{after}");
    bank.finish().await;
}

async fn each_field_must_be_what_the_page_asked_for(on: On) {
    let bank = WalletBank::alone(on, setup()).await;
    let wallet = bank.in_use("fields").await;
    let holder = Holder::with(&bank, 0x32, 1_000_000_000).await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let page = Page::of(&bank, &request).await;
    let typed = page.typed(&holder).await;
    let signed = holder.signed(&typed);
    // Signed as changed, so that only the field itself is wrong.
    let with = |field: &str, value: Value| {
        let mut other = typed.clone();
        other["message"][field] = value;
        holder.signed(&other)
    };
    let instead = |field: &str, value: Value| {
        let mut other = signed.clone();
        other[field] = value;
        other
    };
    let own = request["escrow_address"].text().to_owned();
    let end: u64 = signed["validBefore"].as_str().expect("text").parse().expect("a number");
    let other = Holder { key: LocalKey::from_bytes(&[0x33; 32]).expect("a key") };
    let signature = signed["signature"].as_str().expect("text");
    let high_s = format!("{}{}{}", &signature[..66], "f".repeat(64), &signature[130..]);
    for (field, body) in [
        ("to", with("to", json!(own))),
        ("to", instead("to", json!("0x12"))),
        ("value", with("value", json!("25000001"))),
        ("value", with("value", json!("24999999"))),
        ("value", instead("value", json!("-1"))),
        ("value", instead("value", json!(25_000_000))),
        ("validBefore", with("validBefore", json!((end - 1_800).to_string()))),
        ("validBefore", with("validBefore", json!((end + 8 * 86_400).to_string()))),
        ("validBefore", with("validAfter", json!("1"))),
        ("nonce", instead("nonce", json!("0x12"))),
        ("from", instead("from", Value::Null)),
        ("signature", instead("from", json!(other.address()))),
        ("signature", instead("nonce", json!(format!("0x{}", "12".repeat(32))))),
        ("signature", instead("signature", json!(high_s))),
        ("signature", instead("signature", json!(format!("{signature}00")))),
        ("signature", instead("signature", json!("0x"))),
    ] {
        let wanted = (422, "invalid_field".to_owned(), Some(field.to_owned()));
        assert_eq!(refusal(&page.post(&body).await), wanted, "{body}");
    }
    // More than the sender has.
    let poor = Holder::with(&bank, 0x34, 1).await;
    refused(&page.post(&poor.signed(&page.typed(&poor).await)).await, 409, "not_possible");
    let answer = page.asked("0x12").await;
    let wanted = (422, "invalid_field".to_owned(), Some("account".to_owned()));
    assert_eq!(refusal(&answer), wanted);
    assert_eq!(page.intents().await, [], "none of that costs anything");
    // A nonce that was used on the chain.
    assert_eq!(page.post(&signed).await.status, 202);
    bank.newest_is(&wallet, DepositState::Completed).await;
    let next = bank.request(&wallet, "25.00", "USDC").await;
    let next = Page::of(&bank, &next).await;
    let mut typed = next.typed(&holder).await;
    typed["message"]["nonce"] = signed["nonce"].clone();
    let wanted = (422, "invalid_field".to_owned(), Some("nonce".to_owned()));
    assert_eq!(refusal(&next.post(&holder.signed(&typed)).await), wanted);
    bank.finish().await;
}

async fn a_listed_sender_costs_no_gas(on: On) {
    let bank = WalletBank::alone(on, setup()).await;
    let wallet = bank.in_use("listed").await;
    let holder = Holder::with(&bank, 0x35, 25_000_000).await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let page = Page::of(&bank, &request).await;
    let signed = holder.signed(&page.typed(&holder).await);
    let listed = [word(holder.key.address())];
    bank.acts(bank.minter(), bank.token(USDC), calls("blacklist(address)", &listed));
    let answer = page.post(&signed).await;
    refused(&answer, 409, "not_possible");
    assert!(!text(&answer).contains("list"), "the sender does not learn why");
    assert_eq!(page.intents().await, []);
    bank.finish().await;
}

async fn amounts_tokens_and_requests_have_limits(on: On) {
    let bank = WalletBank::alone(on, setup().set("chain.sponsor.min_amount", "10")).await;
    let wallet = bank.in_use("limits").await;
    let holder = Holder::with(&bank, 0x36, 100_000_000).await;
    let small = bank.request(&wallet, "9.999999", "USDC").await;
    let usdt = bank.request(&wallet, "25.00", "USDT").await;
    for request in [small, usdt] {
        let page = Page::of(&bank, &request).await;
        assert!(!page.shown().await.contains("data-authorization"), "{request}");
        refused(&page.asked(&holder.address()).await, 409, "not_offered");
    }
    // Another sender's page cannot use a transfer to this one's address.
    let request = bank.request(&wallet, "10.00", "USDC").await;
    let (page, other) = (Page::of(&bank, &request).await, Page::of(&bank, &request).await);
    let signed = holder.signed(&page.typed(&holder).await);
    assert_ne!(page.below, other.below);
    let wanted = (422, "invalid_field".to_owned(), Some("to".to_owned()));
    assert_eq!(refusal(&other.post(&signed).await), wanted);
    assert_eq!(page.post(&signed).await.status, 202);
    bank.newest_is(&wallet, DepositState::Completed).await;
    refused(&page.asked(&holder.address()).await, 409, "not_offered");
    bank.finish().await;
}

async fn the_days_gas_budget_is_not_exceeded(on: On) {
    let bank = WalletBank::alone(on, setup().set("chain.sponsor.daily_gas", "150000")).await;
    let wallet = bank.in_use("budget").await;
    let holder = Holder::with(&bank, 0x37, 100_000_000).await;
    let first = bank.request(&wallet, "25.00", "USDC").await;
    let page = Page::of(&bank, &first).await;
    assert_eq!(page.post(&holder.signed(&page.typed(&holder).await)).await.status, 202);
    bank.newest_is(&wallet, DepositState::Completed).await;
    let second = bank.request(&wallet, "25.00", "USDC").await;
    let page = Page::of(&bank, &second).await;
    let signed = holder.signed(&page.typed(&holder).await);
    refused(&page.post(&signed).await, 409, "not_offered");
    assert_eq!(page.intents().await, []);
    bank.is_alerted(AlertKind::LowGas, "gas budget for sponsored transfers is used up").await;
    bank.finish().await;
}

async fn a_transfer_that_fails_is_shown_and_sent_no_more(on: On) {
    let setup =
        setup().set("chain.sponsor.max_fee_percent", "100").set("chain.sponsor.per_request", "1");
    let node = OwnNode::configured(on, setup).await;
    let wallet = node.wallet("fails").await;
    let bank = &node.bank;
    let holder = Holder::with(bank, 0x38, 25_000_000).await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let page = Page::of(bank, &request).await;
    let signed = holder.signed(&page.typed(&holder).await);
    node.by_hand();
    assert_eq!(page.post(&signed).await.status, 202);
    let sent = || async {
        let open = node.running.store().open_chain_txs(100).await.expect("read");
        open.iter().any(|tx| tx.state == TxState::Broadcast)
    };
    assert!(testkit::wait::until_async(AT_MOST, sent).await, "it is sent");
    let shown = page.shown().await;
    assert!(shown.contains("Your payment is being sent."), "{shown}");
    refused(&page.asked(&holder.address()).await, 409, "busy");
    // The issuer blacklists the sender before the transfer is mined.
    let minter = node.running.chain().faucet.as_ref().expect("a sandbox's chain").sender();
    let usdc = node.running.chain().config.token(USDC).expect("USDC");
    let data = calls("blacklist(address)", &[word(holder.key.address())]);
    let done =
        node.chain.transact_as(minter.0.into(), Some(usdc.0.into()), data, Default::default());
    assert!(done.expect("executed").succeeded);
    node.steady();
    page.has_one_in(IntentState::Failed).await;
    let shown = page.shown().await;
    assert!(shown.contains("Your payment was not sent."), "{shown}");
    assert!(!shown.contains("data-authorization"), "the request's only one is used");
    refused(&page.asked(&holder.address()).await, 409, "limit_reached");
    let [intent] = &page.intents().await[..] else { panic!("one") };
    assert_eq!((intent.kind(), intent.tries), (IntentKind::SponsoredTransfer, 1));
    assert_eq!(bank.holds(USDC, &holder.address()).await, 25_000_000);
    node.finish().await;
}

async fn without_the_setting_nothing_is_offered(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("off").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let page = Page::of(&bank, &request).await;
    assert!(!page.shown().await.contains("data-authorization"));
    let account = Holder { key: LocalKey::from_bytes(&[0x39; 32]).expect("a key") }.address();
    refused(&page.asked(&account).await, 409, "not_offered");
}
