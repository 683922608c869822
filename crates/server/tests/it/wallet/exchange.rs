//! Exchange orders up to the payout in the simulated bank's ledger (specification: "Order",
//! exchange.complete; `decisions.md`: "Order", "Sandbox values").

use domain::chain::ChainNumber;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Decimal;
use domain::exchange::ExchangeState;
use domain::ledger::AccountCode;
use domain::order::{FIELDS, example};
use domain::time::Span;
use futures_util::future::join_all;

use crate::harness::client::instant;
use crate::harness::wallet_bank::{IBAN, refused};
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    an_order_is_paid_out_in_rupees
    a_configured_currency_is_paid_out_over_the_rails_of_its_country
    a_created_order_is_shown_with_these_fields
    exchange_complete_tells_all_its_fields_and_the_full_iban
    exchange_complete_of_an_account_by_number_has_no_iban
    an_account_by_number_and_bank_is_paid_too
    usdt_is_exchanged_as_well
    the_fee_is_income_and_the_books_are_right
    the_cents_01_fail_and_the_coins_come_back
    the_cents_02_are_cancelled_by_time
    of_eight_orders_for_one_balance_one_succeeds
    too_little_is_422_with_what_there_is
    what_an_order_has_reserved_cannot_be_ordered_again
    a_rate_can_be_asked_for
    a_rate_without_amount_is_for_one_unit_and_valid_60_seconds
    rupees_are_rounded_down_to_two_decimals
}

async fn an_order_is_paid_out_in_rupees(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("exchange").await;
    let order = bank.order_call(&wallet, "40.00", r#","lock_rate":true"#).send().await.ok();
    assert_eq!((order["status"].text(), order["order_type"].text()), ("PENDING", "EXCHANGE"));
    let id = order["order_id"].text();
    let settled = bank.order_reaches(&wallet, id, "SETTLED").await;
    assert_eq!(settled["to_amount"], order["to_amount"], "a locked rate holds");
    assert_eq!(bank.balance(&wallet, "USDC").await, "60.00");
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.address(&wallet).await).await, 60_000_000);
    let controller = bank.controller(&wallet).await.to_string();
    assert_eq!(
        bank.holds(StableCoin::Usdc, &controller).await,
        40_000_000,
        "the treasury has what was debited"
    );
    let book = bank.bank.book(id).await;
    assert_eq!(book.len(), 1, "paid once");
    assert_eq!(
        (book[0]["currency"].text(), book[0]["amount"].number()),
        ("PKR", order["to_amount"].text())
    );
    assert_eq!(book[0]["reference"], settled["settlement_reference"]);
    assert_eq!(bank.webhooks(id, 1).await, ["exchange.complete"]);
    let listed = bank.bank.get("/v2/payments?country=PAK").send().await.ok();
    assert!(listed.items().is_empty(), "its payout is not a v2 payment");
    let events = bank.bank.get("/v2/events?mode=poll&after=0").send().await.ok();
    assert!(events["events"].items().is_empty(), "{events}");
}

async fn a_configured_currency_is_paid_out_over_the_rails_of_its_country(on: On) {
    let codes = Country::ALL.map(|country| format!("{:?}", country.currency().code()));
    let all = format!("[{}]", codes.join(", "));
    let setup = Setup::with_wallets().set("wallets.exchange_to", &all);
    let bank = WalletBank::alone(on, setup).await;
    let document = bank.bank.get("/openapi/wallet.json").send().await.ok();
    let offered = document["components"]["schemas"]["PayoutCurrency"]["enum"].items();
    assert_eq!(offered.len(), Country::ALL.len());
    let wallet = bank.funded("seven").await;
    for country in Country::ALL {
        let currency = country.currency().code();
        let number = example::account_ending(country, example::NEUTRAL_ENDING);
        let code = FIELDS.iter().find(|field| field.name == "bank_branch_code");
        let code = code.and_then(|field| field.example_for(country)).expect("an example");
        let account = match domain::iban::shape_of(country) {
            Some(_) => format!(r#""iban":"{number}""#),
            None => format!(r#""account_number":"{number}","bank_code":"{code}""#),
        };
        let body = format!(
            r#"{{"order_type":"EXCHANGE","wallet_id":"{wallet}","amount":"10.00","from_currency":"USDC","to_currency":"{currency}","lock_rate":true,"bank_account":{{{account},"account_holder_name":"Demo Customer"}}}}"#
        );
        let order = bank.post("/v1/sdk/orders", body).send().await.ok();
        let id = order["order_id"].text();
        let settled = bank.order_reaches(&wallet, id, "SETTLED").await;
        assert_eq!(settled["to_currency"].text(), currency);
        let book = bank.bank.book(id).await;
        assert_eq!(book.len(), 1, "{currency} is paid once");
        assert_eq!(book[0]["currency"].text(), currency);
        let amount = |text: &str| text.parse::<Decimal>().expect("an amount");
        assert_eq!(amount(book[0]["amount"].number()), amount(order["to_amount"].text()));
    }
    assert_eq!(bank.balance(&wallet, "USDC").await, "30.00");
    bank.finish().await;
}

const ORDER: [&str; 12] = [
    "order_id",
    "order_type",
    "from_amount",
    "from_currency",
    "to_amount",
    "to_currency",
    "exchange_rate",
    "spread",
    "status",
    "rate_locked",
    "created_at",
    "estimated_settlement",
];

async fn a_created_order_is_shown_with_these_fields(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("fields").await;
    for (more, locked) in
        [("", false), (r#","lock_rate":false"#, false), (r#","lock_rate":true"#, true)]
    {
        let order = bank.order_call(&wallet, "10.00", more).send().await.ok();
        assert_eq!(order.names(), ORDER);
        let said = [
            "order_type",
            "from_amount",
            "from_currency",
            "to_amount",
            "to_currency",
            "exchange_rate",
            "spread",
        ];
        // floor2(10 × 278.75 × 0.995) with frozen rates.
        let expected = ["EXCHANGE", "10.00", "USDC", "2773.56", "PKR", "278.75", "0.005"];
        assert_eq!(said.map(|name| order[name].text()), expected);
        assert_eq!(
            (order["status"].text(), &order["rate_locked"]),
            ("PENDING", &Json::Bool(locked))
        );
        assert!(instant(&order["estimated_settlement"]) > instant(&order["created_at"]));
    }
}

/// The `data` of exchange.complete in the order of the specification's table.
pub const EXCHANGE_COMPLETE: [&str; 13] = [
    "order_id",
    "order_type",
    "wallet_id",
    "customer_id",
    "from_amount",
    "from_currency",
    "to_amount",
    "to_currency",
    "exchange_rate",
    "settlement_reference",
    "bank_account",
    "status",
    "settled_at",
];

async fn exchange_complete_tells_all_its_fields_and_the_full_iban(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("c-notified").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    let told = bank.told(order["order_id"].text(), 1).await;
    assert_eq!(told[0].names(), ["event_id", "event_type", "timestamp", "data"]);
    assert_eq!(told[0]["event_type"].text(), "exchange.complete");
    let data = &told[0]["data"];
    assert_eq!(data.names(), EXCHANGE_COMPLETE);
    let said = [
        "wallet_id",
        "customer_id",
        "from_amount",
        "from_currency",
        "to_amount",
        "to_currency",
        "status",
    ];
    assert_eq!(
        said.map(|name| data[name].text()),
        [&*wallet, "c-notified", "40.00", "USDC", "11094.25", "PKR", "SETTLED"]
    );
    let account = format!(r#"{{"iban":"{IBAN}","account_holder_name":"Demo Customer"}}"#);
    assert_eq!(data["bank_account"].to_string(), account);
    let listed = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!(data["settlement_reference"], listed["settlement_reference"]);
    assert_eq!(data["settled_at"], listed["settled_at"]);
}

/// An order's body with an account given as JSON.
fn body(wallet: &str, account: &str) -> String {
    format!(
        r#"{{"order_type":"EXCHANGE","wallet_id":"{wallet}","amount":"10.00","from_currency":"USDC","to_currency":"PKR","bank_account":{account}}}"#
    )
}

const BY_NUMBER: &str = r#"{"account_number":"0001123456702","bank_code":"SCBL","account_holder_name":"Demo Customer"}"#;

async fn exchange_complete_of_an_account_by_number_has_no_iban(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("no-iban").await;
    let order = bank.post("/v1/sdk/orders", body(&wallet, BY_NUMBER)).send().await.ok();
    let told = bank.told(order["order_id"].text(), 1).await;
    assert_eq!(told[0]["event_type"].text(), "exchange.complete");
    let data = &told[0]["data"];
    assert_eq!(data.names(), EXCHANGE_COMPLETE);
    assert_eq!(
        data["bank_account"].to_string(),
        r#"{"iban":null,"account_holder_name":"Demo Customer"}"#
    );
    let said = ["order_id", "wallet_id", "from_amount", "to_amount", "status"]
        .map(|name| data[name].text());
    assert_eq!(said, [order["order_id"].text(), &*wallet, "10.00", "2773.56", "SETTLED"]);
    let book = bank.bank.book(order["order_id"].text()).await;
    assert_eq!(book[0]["reference"], data["settlement_reference"]);
}

async fn an_account_by_number_and_bank_is_paid_too(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("number").await;
    let order = bank.post("/v1/sdk/orders", body(&wallet, BY_NUMBER)).send().await.ok();
    let settled = bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    let masked = &settled["bank_account"];
    assert_eq!(masked.names(), ["iban", "account_number", "bank_code", "account_holder_name"]);
    assert_eq!(
        (masked["iban"].to_string().as_str(), masked["account_number"].text()),
        ("null", "*********6702")
    );
    let book = bank.bank.book(order["order_id"].text()).await;
    assert_eq!(book[0]["account"].text(), "0001123456702");
}

async fn usdt_is_exchanged_as_well(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("usdt").await;
    let request = bank.request(&wallet, "50.00", "USDT").await;
    bank.paid(&request, "").await;
    bank.newest(&wallet, "COMPLETED").await;
    let account = format!(r#"{{"iban":"{IBAN}","account_holder_name":"Demo Customer"}}"#);
    let usdt = body(&wallet, &account).replace("USDC", "USDT");
    let order = bank.post("/v1/sdk/orders", usdt).send().await.ok();
    bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!(bank.balance(&wallet, "USDT").await, "40.00");
}

async fn the_fee_is_income_and_the_books_are_right(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("fee").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    let accounts = bank.bank.running.store().accounts(bank.bank.tenant.id).await.expect("read");
    let balance = |code: AccountCode| {
        let account = accounts.iter().find(|account| account.code == code);
        account.map_or(0, |account| account.balance().minor.abs())
    };
    assert_eq!(balance(AccountCode::FeeIncome(StableCoin::Usdc)), 200_000, "0.5 % of 40 coins");
    assert_eq!(balance(AccountCode::Treasury(ChainNumber::FIRST, StableCoin::Usdc)), 0);
    assert_eq!(balance(AccountCode::FxPosition(Currency::Usdc)), 39_800_000);
    assert_eq!(balance(AccountCode::FxPosition(Currency::Pkr)), 1_109_425);
    bank.books_are_right().await;
}

async fn the_cents_01_fail_and_the_coins_come_back(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("fails").await;
    let order = bank.order_call(&wallet, "40.01", "").send().await.ok();
    let failed = bank.order_reaches(&wallet, order["order_id"].text(), "FAILED").await;
    assert_eq!(failed["failure_reason"].text(), "PAYOUT_FAILED");
    assert!(!failed["error_message"].text().is_empty());
    // Shown once the tokens are returned, not before.
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.address(&wallet).await).await, 100_000_000);
    assert!(bank.bank.book(order["order_id"].text()).await.is_empty(), "nothing was paid");
    bank.books_are_right().await;
}

async fn the_cents_02_are_cancelled_by_time(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("times_out").await;
    let order = bank.order_call(&wallet, "40.02", "").send().await.ok();
    let cancelled = bank.order_reaches(&wallet, order["order_id"].text(), "CANCELLED").await;
    assert_eq!(cancelled["failure_reason"].text(), "TIMEOUT");
    assert_eq!(bank.balance(&wallet, "USDC").await, "100.00");
    bank.books_are_right().await;
}

async fn of_eight_orders_for_one_balance_one_succeeds(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("eight").await;
    let answers = join_all((0..8).map(|_| bank.order_call(&wallet, "100.00", "").send())).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(made.len(), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        refused(answer, 422, "INSUFFICIENT_BALANCE", None);
    }
    bank.order_reaches(&wallet, made[0].json()["order_id"].text(), "SETTLED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn too_little_is_422_with_what_there_is(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("poor").await;
    let body = refused(
        &bank.order_call(&wallet, "1.00", "").send().await,
        422,
        "INSUFFICIENT_BALANCE",
        None,
    );
    let details = &body["details"];
    assert_eq!(details["requested_amount"].text(), "1.00");
    assert_eq!((details["available_balance"].text(), details["currency"].text()), ("0.00", "USDC"));
}

async fn what_an_order_has_reserved_cannot_be_ordered_again(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("reserved").await;
    bank.order_call(&wallet, "60.02", "").send().await.ok();
    let body = refused(
        &bank.order_call(&wallet, "40.00", "").send().await,
        422,
        "INSUFFICIENT_BALANCE",
        None,
    );
    let details = &body["details"];
    let said =
        ["requested_amount", "available_balance", "currency"].map(|name| details[name].text());
    assert_eq!(said, ["40.00", "39.98", "USDC"]);
    bank.order_call(&wallet, "39.98", "").send().await.ok();
}

async fn a_rate_can_be_asked_for(on: On) {
    let bank = WalletBank::new(on).await;
    let path = "/v1/sdk/orders/exchange-rate?from_currency=USDC&to_currency=PKR&amount=100";
    let quote = bank.get(path).send().await.ok();
    let names = [
        "from_currency",
        "to_currency",
        "rate",
        "spread",
        "estimated_amount",
        "valid_until",
        "rate_locked",
    ];
    assert_eq!(quote.names(), names);
    assert_eq!((quote["from_currency"].text(), quote["to_currency"].text()), ("USDC", "PKR"));
    assert_eq!((quote["spread"].text(), &quote["rate_locked"]), ("0.005", &Json::Bool(false)));
    // floor2(100 × 278.75 × 0.995) with frozen rates: `rate` is before the spread.
    assert_eq!((quote["rate"].text(), quote["estimated_amount"].text()), ("278.75", "27735.62"));
}

async fn a_rate_without_amount_is_for_one_unit_and_valid_60_seconds(on: On) {
    let bank = WalletBank::new(on).await;
    for coin in ["USDC", "USDT"] {
        let before = bank.bank.running.now();
        let path = format!("/v1/sdk/orders/exchange-rate?from_currency={coin}&to_currency=PKR");
        let quote = bank.get(&path).send().await.ok();
        assert_eq!(
            (quote["from_currency"].text(), quote["estimated_amount"].text()),
            (coin, "277.35")
        );
        let valid = instant(&quote["valid_until"]) - before;
        assert!(valid >= Span::millis(59_999) && valid < Span::secs(90), "{valid:?}");
    }
}

async fn rupees_are_rounded_down_to_two_decimals(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.funded("rounding").await;
    // amount × 278.75 × 0.995 = amount × 277.35625
    for (amount, paid) in
        [("0.003606", "1.00"), ("0.01", "2.77"), ("3.333333", "924.52"), ("12.345678", "3424.15")]
    {
        let path = format!(
            "/v1/sdk/orders/exchange-rate?from_currency=USDC&to_currency=PKR&amount={amount}"
        );
        assert_eq!(bank.get(&path).send().await.ok()["estimated_amount"].text(), paid, "{amount}");
    }
    let order = bank.order_call(&wallet, "12.345678", "").send().await.ok();
    assert_eq!(order["to_amount"].text(), "3424.15");
    bank.order_reaches(&wallet, order["order_id"].text(), "SETTLED").await;
    assert_eq!(bank.bank.book(order["order_id"].text()).await[0]["amount"].number(), "3424.15");
    assert_eq!(bank.balance(&wallet, "USDC").await, "87.654322");
    // Less than a paisa cannot be paid out, nor more than any rail pays: no rate is quoted for what
    // an order refuses.
    for amount in ["0.000036", "1000000000"] {
        let path = format!(
            "/v1/sdk/orders/exchange-rate?from_currency=USDC&to_currency=PKR&amount={amount}"
        );
        let asked = bank.get(&path).send().await;
        let ordered = bank.order_call(&wallet, amount, "").send().await;
        let bounds = |answer| {
            let body = refused(answer, 422, "VALIDATION_FAILED", Some("amount"));
            let of = |name: &str| body["details"][name].text().to_owned();
            (of("currency"), of("min"), of("max"))
        };
        assert_eq!(bounds(&asked), bounds(&ordered), "{amount}");
    }
}
