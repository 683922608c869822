//! Bodies and query strings of both services.

use std::collections::BTreeMap;

use domain::bank::BankDirectory;
use domain::country::Country;
use domain::payment_request::AmountAsked;
use domain::policy::Corridors;
use domain::time::Span;

use super::text;
use crate::payments_v2::decode as v2;
use crate::wallet_v1::decode as v1;

/// The body as that of each operation of Payment Service v2; an order also meets its country's rules.
pub(super) fn payment(body: &[u8]) {
    if let Ok((quote, _, faults)) = v2::quote_request(body)
        && faults.is_empty()
    {
        assert!(quote.amount.is_positive() && quote.amount.decimals() <= 12, "{quote:?}");
    }
    if let Ok((question, faults)) = v2::account_check(body)
        && faults.is_empty()
    {
        for text in [&question.account_number, &question.branch_code, &question.name] {
            assert!(!text.trim().is_empty() && !text.chars().any(char::is_control), "{question:?}");
        }
    }
    if let Ok(reason) = v2::cancellation(body) {
        assert!(reason.is_none_or(|text| !text.contains('\0')));
    }
    let _recall = v2::recall(body);
    if let Ok((order, faults)) = v2::payment_order(body) {
        let today = jiff::civil::date(2026, 11, 21);
        let checked = order.check(&BankDirectory::default(), &corridors(), today);
        if let (Ok(order), true) = (checked, faults.is_empty()) {
            assert!(order.amount.is_positive(), "{order:?}");
            for text in [&order.beneficiary_name, &order.sender_name, &order.bank_name] {
                assert!(!text.trim().is_empty() && !text.chars().any(char::is_control), "{text:?}");
            }
        }
    }
}

fn corridors() -> Corridors {
    Corridors {
        corridors: BTreeMap::new(),
        rails: Vec::new(),
        relations: ["brother".to_owned()].into(),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    }
}

/// The body as that of each operation of Wallet Service v1.
pub(super) fn wallet(body: &[u8]) {
    if let Ok(asked) = v1::payment_request(body) {
        match asked.amount {
            AmountAsked::Crypto(_, minor) | AmountAsked::Fiat(_, minor) => assert!(minor > 0),
            AmountAsked::Flexible => {}
        }
        assert!((1..=720).contains(&asked.expires_in_hours));
    }
    if let Ok(order) = v1::order(body, &Country::ALL) {
        assert!(order.minor > 0, "{order:?}");
    }
    if let Ok(customer) = v1::provision(body) {
        assert!(domain::e164::is_e164(&customer.customer_phone), "{customer:?}");
        assert!(domain::email::is_email(&customer.customer_email), "{customer:?}");
    }
    if let Ok(block) = v1::block(body) {
        assert!(block.auto_unblock_hours.is_none_or(|hours| (1..=8_760).contains(&hours)));
        assert!(!block.details.contains('\0'));
    }
    let _others = (v1::unblock(body), v1::blacklist(body), v1::review(body));
}

/// The text as the query string of every list and look-up.
pub(super) fn query(bytes: &[u8]) {
    let Some(raw) = text(bytes) else { return };
    if let Ok(list) = v2::list_query(Some(raw)) {
        assert!(list.limit <= 1_000, "{list:?}");
    }
    let (id, _) = raw.split_once('?').unwrap_or((raw, ""));
    let _found = (v2::payment_lookup(Some(id), Some(raw)), v2::quote_lookup(Some(id), Some(raw)));
    let _events = v2::events_query(Some(raw), &http::HeaderMap::new());
    let _rates = v1::rate_query(Some(raw), &Country::ALL);
    let _lists = (v1::requests(Some(raw)), v1::transactions(Some(raw)), v1::orders(Some(raw)));
    let _more = (v1::reviews(Some(raw)), v1::deliveries(Some(raw)), v1::events(Some(raw)));
}
