//! Errors of a request, worded for the user who made it: which field, which rule.

use std::time::Duration;

use domain::characters::one_line;
use serde_json::{Map, Value};

/// Maximum length of an unreadable answer that is shown, in characters.
const MAX_SHOWN_CHARS: usize = 500;

/// Why a request did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The request could not be built: a value is missing or malformed on this side.
    #[error("{0}")]
    Usage(String),
    /// The API rejected it (4xx, or a redirect, which the API never sends).
    #[error("{message}")]
    Refused {
        status: u16,
        /// `detail.code`, or the `type` of the first validation fault.
        code: Option<String>,
        message: String,
        /// When to retry (`Retry-After`), if rate limited.
        retry_after: Option<Duration>,
    },
    /// No answer, or a 5xx.
    #[error("{message}")]
    Unavailable {
        message: String,
        /// Whether the request may have arrived, or was rejected for load: worth repeating under
        /// the same key.
        repeat: bool,
    },
}

impl ClientError {
    /// Whether the same request may be sent again (only with the same Idempotency-Key).
    pub fn may_be_repeated(&self) -> bool {
        matches!(self, ClientError::Unavailable { repeat: true, .. })
    }

    /// The API's stable error code.
    pub fn code(&self) -> Option<&str> {
        match self {
            ClientError::Refused { code, .. } => code.as_deref(),
            _ => None,
        }
    }

    /// The HTTP status of the rejection.
    pub fn status(&self) -> Option<u16> {
        match self {
            ClientError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// From an answer with an error status; `request_id` is its header, for bodies without it.
    pub fn of_answer(status: u16, request_id: Option<&str>, body: &str) -> ClientError {
        let detail = serde_json::from_str::<Value>(body).ok().and_then(problem_of);
        let told = match &detail {
            Some(Value::Array(faults)) => {
                faults.iter().map(|fault| format!("\n  {}", fault_line(fault))).collect::<String>()
            }
            Some(Value::Object(problem)) => format!(" {}", problem_line(problem)),
            Some(Value::String(text)) => format!(" {}", printable(text)),
            _ => format!(" {}", printable(&body.chars().take(MAX_SHOWN_CHARS).collect::<String>())),
        };
        let is_in_body = detail.as_ref().is_some_and(|detail| detail.get("request_id").is_some());
        let id = request_id.filter(|_| !is_in_body);
        let id = id.map(|id| format!(" (request_id {})", printable(id))).unwrap_or_default();
        let message = format!("refused with {status}{id}:{told}");
        if status >= 500 {
            return ClientError::Unavailable { message, repeat: status == 503 };
        }
        ClientError::Refused {
            status,
            code: detail.as_ref().and_then(code_of),
            message,
            retry_after: None,
        }
    }

    /// The same, with the value of its `Retry-After` header, in seconds.
    pub fn after(self, seconds: Option<u64>) -> ClientError {
        match self {
            ClientError::Refused { status: 429, code, message, .. } => ClientError::Refused {
                status: 429,
                code,
                message,
                retry_after: seconds.map(Duration::from_secs),
            },
            other => other,
        }
    }

    /// How long to wait before a retry, if rate limited.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ClientError::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// From a failure of the transport.
    pub fn of_transport(address: &str, error: &reqwest::Error) -> ClientError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let what =
            if error.is_timeout() { "no answer in time".to_owned() } else { cause.to_string() };
        let address = address.split('?').next().unwrap_or(address);
        let hint = if error.is_connect() { " (is the service running?)" } else { "" };
        ClientError::Unavailable {
            message: format!("{address}: {what}{hint}"),
            repeat: !error.is_connect(),
        }
    }
}

/// The error in a body: the payment service's `detail`, or the wallet service's whole body, whose
/// code is in `error`.
fn problem_of(mut body: Value) -> Option<Value> {
    if let Some(detail) = body.get_mut("detail") {
        return Some(detail.take());
    }
    let members = body.as_object_mut()?;
    let code = members.remove("error").filter(Value::is_string)?;
    members.remove("timestamp");
    members.insert("code".to_owned(), code);
    Some(body)
}

fn code_of(detail: &Value) -> Option<String> {
    let code = detail.get("code").or_else(|| detail.get(0)?.get("type"))?;
    code.as_str().map(str::to_owned)
}

/// `body.amount: must be 37912.05 (amount_mismatch; expected 37912.05)`
fn fault_line(fault: &Value) -> String {
    let place = fault
        .get("loc")
        .and_then(Value::as_array)
        .map(|loc| loc.iter().map(plain).collect::<Vec<_>>().join("."));
    let text = |name: &str| fault.get(name).map(plain).unwrap_or_default();
    let message = text("msg");
    let context: String = fault
        .get("ctx")
        .and_then(Value::as_object)
        // Skips what the message already contains.
        .map(|ctx| ctx.iter().filter(|(_, value)| !message.contains(&plain(value))))
        .map(|news| {
            news.map(|(name, value)| format!("; {} {}", printable(name), plain(value))).collect()
        })
        .unwrap_or_default();
    format!("{}: {message} ({}{context})", place.unwrap_or_default(), text("type"))
}

/// `the quote has expired (quote_expired, request 0193…)`
///
/// If the wallet service lists several faults, each has its own line: `amount.value: must be above
/// 0 (invalid_amount)`.
fn problem_line(problem: &Map<String, Value>) -> String {
    let details = problem.get("details").and_then(Value::as_object);
    let faults = details.and_then(|details| details.get("faults")).and_then(Value::as_array);
    // Field and message are those of the first fault.
    let is_said =
        |name: &str| matches!(name, "message" | "details") || name == "field" && faults.is_some();
    let rest = problem.iter().filter(|(name, _)| !is_said(name));
    // Some are members of the problem itself, too.
    let details = details.into_iter().flatten();
    let details =
        details.filter(|(name, value)| *name != "faults" && problem.get(*name) != Some(*value));
    let rest: Vec<String> = rest
        .chain(details)
        .map(|(name, value)| match name.as_str() {
            "code" => plain(value),
            other => format!("{} {}", printable(other), plain(value)),
        })
        .collect();
    let message = match faults {
        Some(_) => "some fields are invalid".to_owned(),
        None => problem.get("message").map(plain).unwrap_or_default(),
    };
    let lines: String = faults
        .into_iter()
        .flatten()
        .map(|fault| format!("\n  {}", wallet_fault_line(fault)))
        .collect();
    if rest.is_empty() {
        format!("{message}{lines}")
    } else {
        format!("{message} ({}){lines}", rest.join(", "))
    }
}

/// `customer_phone: must be an E.164 number (invalid_phone)`
fn wallet_fault_line(fault: &Value) -> String {
    let text = |name: &str| fault.get(name).map(plain).unwrap_or_default();
    format!("{}: {} ({})", text("field"), text("message"), text("rule"))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        other => other.to_string(),
    }
}

/// The text without characters that could manipulate a terminal.
pub fn printable(text: &str) -> String {
    one_line(text, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_id_is_that_of_the_header_if_the_body_has_none() {
        for (body, shown) in [
            (
                r#"{"detail":[{"loc":["body","amount"],"msg":"Field required","type":"missing"}]}"#,
                "refused with 422 (request_id h-1):\n  body.amount: Field required (missing)",
            ),
            (r#"{"detail":"no"}"#, "refused with 422 (request_id h-1): no"),
            ("<html>", "refused with 422 (request_id h-1): <html>"),
            (
                r#"{"detail":{"code":"c","message":"m","request_id":"r-1"}}"#,
                "refused with 422: m (c, request_id r-1)",
            ),
            (
                r#"{"error":"C","message":"m","request_id":"r-1"}"#,
                "refused with 422: m (C, request_id r-1)",
            ),
        ] {
            assert_eq!(ClientError::of_answer(422, Some("h-1"), body).to_string(), shown);
        }
        let hostile = ClientError::of_answer(422, Some("\u{1b}[2J"), "no").to_string();
        assert!(!hostile.contains('\u{1b}'), "{hostile}");
    }

    #[test]
    fn refusals_name_field_and_rule() {
        for (status, body, shown, code) in [
            (
                422,
                r#"{"detail":[{"loc":["body","amount"],"msg":"must be rate x amount","type":"amount_mismatch","ctx":{"expected":"37912.05"}}]}"#,
                "refused with 422:\n  body.amount: must be rate x amount (amount_mismatch; expected 37912.05)",
                Some("amount_mismatch"),
            ),
            (
                400,
                r#"{"detail":{"code":"quote_expired","message":"The quote has expired","request_id":"r-1"}}"#,
                "refused with 400: The quote has expired (quote_expired, request_id r-1)",
                Some("quote_expired"),
            ),
            (
                409,
                r#"{"error":"CONFLICT","message":"Not from here","details":{"current_status":"BLOCKED"},"request_id":"r-1","timestamp":"t"}"#,
                "refused with 409: Not from here (CONFLICT, request_id r-1, current_status BLOCKED)",
                Some("CONFLICT"),
            ),
            (
                422,
                r#"{"detail":[{"loc":["query","country"],"msg":"Input should be 'PAK' or 'IND'","type":"enum","ctx":{"expected":"'PAK' or 'IND'"}}]}"#,
                "refused with 422:\n  query.country: Input should be 'PAK' or 'IND' (enum)",
                Some("enum"),
            ),
            (
                400,
                r#"{"error":"INVALID_REQUEST","message":"a: must be b","field":"a","details":{"faults":[
                    {"field":"a","rule":"enum","message":"must be b"},{"field":"c.d","rule":"missing","message":"Field required"}]},
                    "request_id":"r-1","timestamp":"t"}"#,
                "refused with 400: some fields are invalid (INVALID_REQUEST, request_id r-1)\n  a: must be b (enum)\n  c.d: Field required (missing)",
                Some("INVALID_REQUEST"),
            ),
            (403, r#"{"detail":"no"}"#, "refused with 403: no", None),
            (404, "<html>\u{1b}[2J", "refused with 404: <html> [2J", None),
        ] {
            let error = ClientError::of_answer(status, None, body);
            assert_eq!(error.to_string(), shown);
            assert_eq!(error.code(), code);
            assert!(!error.may_be_repeated());
        }
    }

    #[test]
    fn only_a_full_queue_is_worth_repeating_among_answers() {
        assert!(ClientError::of_answer(503, None, "{}").may_be_repeated());
        assert!(!ClientError::of_answer(500, None, "{}").may_be_repeated());
        assert!(matches!(ClientError::of_answer(500, None, "{}"), ClientError::Unavailable { .. }));
    }
}
