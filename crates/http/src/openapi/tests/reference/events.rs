//! Every event of both services with an example: names from the domain, descriptions from the
//! documents.

use std::fmt::Write as _;

use domain::event::EventKind;
use domain::payment::PaymentState;
use domain::wallet_event::WalletEventKind;
use serde_json::{Value, json};

use super::super::wallet::wallet_document;
use super::{MARK, check, derived};

const HEAD: &str = "
The wallet service tells what happened by webhooks to `{webhook_base}/webhooks/wallet/{segment}` and keeps the same events
for GET /v1/sdk/events. The payment service keeps a log, GET /v2/events, as JSON lines, as server-sent events or page by
page; where a tenant has it switched on, the same events are webhooks to `{webhook_base}/webhooks/payment/{segment}` too.
[Receiving webhooks](../guides/receiving-webhooks.md) says how they are signed, repeated and ordered.

Expect types and members that are not listed here: later versions add some.
";

fn block(out: &mut String, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("JSON");
    writeln!(out, "\n```json\n{text}\n```").expect("writing to a string");
}

/// The document's example of `kind`.
fn payment_example(document: &Value, kind: EventKind) -> Value {
    let examples = &document["components"]["examples"];
    let mut event = examples["event"]["value"].clone();
    event["type"] = json!(kind.name());
    if kind.is_of_quote() {
        event["data"] = examples["quote"]["value"].clone();
        return event;
    }
    // An update changes something other than the status, for example a bank reference.
    let written =
        |state: &PaymentState| !matches!(state, PaymentState::Pending | PaymentState::Canceled);
    let state =
        PaymentState::ALL.into_iter().filter(written).find(|state| EventKind::of(*state) == kind);
    let state = state.unwrap_or(PaymentState::Succeeded);
    let response = &mut event["data"]["response"];
    response["status"] = json!(state.name());
    if matches!(kind, EventKind::PaymentQueued | EventKind::PaymentRejected) {
        response["bank_reference"] = Value::Null;
    }
    event
}

#[test]
fn events_md_matches_the_documents() {
    let (payment, wallet) = (derived::document(), wallet_document());
    let mut out = format!("# Events\n\n{MARK}\n{HEAD}\n## Wallet Service v1\n");
    for kind in WalletEventKind::ALL {
        let (name, segment) = (kind.name(), kind.segment());
        let post = &wallet["webhooks"][name]["post"];
        let summary = post["summary"].as_str().expect("a summary");
        let examples = &post["requestBody"]["content"]["application/json"]["examples"];
        let (_, example) =
            examples.as_object().expect("an object").iter().next().expect("an example");
        let pointer = example["$ref"]
            .as_str()
            .and_then(|pointer| pointer.strip_prefix('#'))
            .expect("a reference");
        let value = &wallet.pointer(pointer).expect("an example")["value"];
        assert_eq!(value["event_type"], name);
        write!(out, "\n### `{name}`\n\n{summary}. Sent to `/webhooks/wallet/{segment}`.\n")
            .expect("writing to a string");
        block(&mut out, value);
    }
    out.push_str("\n## Payment Service v2\n");
    for kind in EventKind::ALL {
        let name = kind.name();
        let summary = payment["webhooks"][name]["post"]["summary"].as_str().expect("a summary");
        let segment = kind.segment();
        write!(out, "\n### `{name}`\n\n{summary}. Sent to `/webhooks/payment/{segment}` where that is wanted.\n")
            .expect("writing to a string");
        block(&mut out, &payment_example(&payment, kind));
    }
    check("events.md", &out);
}
