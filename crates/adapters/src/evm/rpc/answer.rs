//! Parses JSON-RPC responses: every request has exactly one, which is either a result or an error.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::faults::{NodeError, RpcFault, clean};
use crate::evm::hex;

type Outcome = Result<Box<RawValue>, NodeError>;
/// Hides secrets in a text of the node. Results are never searched: a part of an address may stand
/// in a hash by chance.
type Hide<'a> = &'a dyn Fn(&str) -> String;

#[derive(Deserialize)]
struct Response {
    #[serde(default, deserialize_with = "number")]
    id: Option<u64>,
    /// `null` is a result; a missing member is not.
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Value>,
}

/// The number of a request, which some proxies repeat as text.
fn number<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let id = Value::deserialize(input)?;
    Ok(id.as_u64().or_else(|| id.as_str()?.parse().ok()))
}

fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(input).map(Some)
}

impl Response {
    fn outcome(self, hide: Hide<'_>) -> Result<Outcome, RpcFault> {
        match (self.result, self.error) {
            (_, Some(error)) => Ok(Err(node_error(&error, hide))),
            (Some(result), None) => Ok(Ok(result)),
            (None, None) => {
                Err(RpcFault::Malformed("an answer with neither result nor error".to_owned()))
            }
        }
    }
}

/// An error, which is an object with a code and a message; some providers write the code as text, or
/// only a text. It never counts as a result.
fn node_error(error: &Value, hide: Hide<'_>) -> NodeError {
    let code = &error["code"];
    let code = code.as_i64().or_else(|| code.as_str()?.parse().ok());
    let message = error["message"].as_str().or(error.as_str());
    NodeError {
        code: code.unwrap_or_default(),
        message: clean(&hide(&message.map_or_else(|| error.to_string(), str::to_owned))),
        data: error["data"].as_str().and_then(revert_data),
        is_of_logs: false,
    }
}

/// Whether an error's text says that an answer would be too large.
pub(super) fn names_size(error: &Value) -> bool {
    error["message"].is_string() && node_error(error, &str::to_owned).is_too_much()
}

/// The revert data of a call: hexadecimal text, which some nodes prefix with a word.
fn revert_data(text: &str) -> Option<Vec<u8>> {
    hex::bytes(text.strip_prefix("Reverted ").unwrap_or(text))
}

/// The response to a single request.
pub(super) fn single(body: &[u8], hide: Hide<'_>) -> Result<Outcome, RpcFault> {
    parse::<Response>(body, hide)?.outcome(hide)
}

/// The responses to requests numbered from 0, in that order, whatever order they arrived in.
pub(super) fn batch(body: &[u8], count: usize, hide: Hide<'_>) -> Result<Vec<Outcome>, RpcFault> {
    if body.trim_ascii_start().starts_with(b"{") {
        // A node without support for arrays returns one error for all of them.
        return match single(body, hide)? {
            Err(error) => Err(RpcFault::Node(error)),
            Ok(_) => Err(RpcFault::Malformed("one answer to several requests".to_owned())),
        };
    }
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    outcomes.resize_with(count, || None);
    for response in parse::<Vec<Response>>(body, hide)? {
        let place =
            response.id.and_then(|id| usize::try_from(id).ok()).and_then(|id| outcomes.get_mut(id));
        match place {
            Some(place @ None) => *place = Some(response.outcome(hide)?),
            Some(Some(_)) => {
                return Err(RpcFault::Malformed("two answers to one request".to_owned()));
            }
            None => return Err(RpcFault::Malformed("an answer to no request".to_owned())),
        }
    }
    let complete: Option<Vec<Outcome>> = outcomes.into_iter().collect();
    complete.ok_or_else(|| RpcFault::Malformed("a request without an answer".to_owned()))
}

/// Parses the result of `method`.
pub(super) fn read<T: DeserializeOwned>(method: &str, result: &RawValue) -> Result<T, RpcFault> {
    serde_json::from_str(result.get())
        .map_err(|error| RpcFault::Malformed(clean(&format!("{method}: {error}"))))
}

fn parse<T: DeserializeOwned>(body: &[u8], hide: Hide<'_>) -> Result<T, RpcFault> {
    serde_json::from_slice(body)
        .map_err(|error| RpcFault::Malformed(clean(&hide(&format!("no JSON-RPC answer: {error}")))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn single(body: &[u8]) -> Result<Outcome, RpcFault> {
        super::single(body, &str::to_owned)
    }

    fn batch(body: &[u8], count: usize) -> Result<Vec<Outcome>, RpcFault> {
        super::batch(body, count, &str::to_owned)
    }

    #[test]
    fn secrets_are_hidden_in_errors_and_never_in_results() {
        let hide = |text: &str| text.replace("421614", "***");
        let error = br#"{"id":0,"error":{"code":1,"message":"no project 421614"}}"#;
        let refused = super::single(error, &hide).expect("read").expect_err("an error");
        assert_eq!(refused.message, "no project ***");
        let hash = br#"[{"id":0,"result":"0xab421614cd"},{"id":1,"error":"421614"}]"#;
        let mut outcomes = super::batch(hash, 2, &hide).expect("read").into_iter();
        let result = outcomes.next().expect("two").expect("a result");
        assert_eq!(result.get(), r#""0xab421614cd""#);
        assert_eq!(outcomes.next().expect("two").expect_err("an error").message, "***");
    }

    #[test]
    fn a_batch_is_put_in_order_and_has_to_be_complete() {
        let body = br#"[{"id":1,"result":"b"},{"id":0,"result":null}]"#;
        let answers = batch(body, 2).expect("complete");
        let texts: Vec<_> =
            answers.iter().map(|answer| answer.as_ref().map(|raw| raw.get())).collect();
        assert_eq!(texts, [Ok("null"), Ok("\"b\"")]);
        for wrong in [
            r#"[{"id":0,"result":1}]"#,
            r#"[{"id":0,"result":1},{"id":0,"result":1}]"#,
            r#"[{"id":0,"result":1},{"id":2,"result":1}]"#,
            r#"[{"id":0,"result":1},{"id":"one","result":1}]"#,
            r#"[{"id":0,"result":1},{"id":"0","result":1}]"#,
            r#"[{"id":0,"result":1},{"id":1.5,"result":1}]"#,
            r#"[{"id":0,"result":1},{"id":-1,"result":1}]"#,
            r#"[{"id":0,"result":1},{"result":1}]"#,
            r#"[{"id":0,"result":1},{"id":1}]"#,
            r#"[{"id":0,"result":1},{"id":1,"result":1,"result":2}]"#,
            r#"{"id":0,"result":1}"#,
            r#"[{"id":0,"result":1},{"id":1,"result":1}"#,
            "",
            "null",
            "<html>",
        ] {
            assert!(matches!(batch(wrong.as_bytes(), 2), Err(RpcFault::Malformed(_))), "{wrong}");
        }
    }

    #[test]
    fn a_node_that_takes_no_batches_is_quoted() {
        let body = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch not supported"}}"#;
        assert!(
            matches!(batch(body, 2), Err(RpcFault::Node(error)) if error.message == "batch not supported")
        );
    }

    #[test]
    fn ids_may_be_text() {
        let body = br#"[{"id":"1","result":"b"},{"id":"0","result":"a"}]"#;
        let answers = batch(body, 2).expect("complete");
        let texts: Vec<_> =
            answers.iter().map(|answer| answer.as_ref().map(|raw| raw.get())).collect();
        assert_eq!(texts, [Ok("\"a\""), Ok("\"b\"")]);
        assert!(matches!(single(br#"{"id":"0","result":1}"#), Ok(Ok(_))));
    }

    /// As providers write errors: an error of any shape is never a result.
    #[test]
    fn an_error_of_any_shape_is_an_error() {
        for (error, code, message) in [
            (r#"{"code":-32005,"message":"limit exceeded"}"#, -32005, "limit exceeded"),
            (r#"{"code":"-32005","message":"limit exceeded"}"#, -32005, "limit exceeded"),
            (r#"{"message":"no code"}"#, 0, "no code"),
            (r#"{"code":-32000}"#, -32000, r#"{"code":-32000}"#),
            (r#"{"code":1e3,"message":null}"#, 0, r#"{"code":1000.0,"message":null}"#),
            (r#""rate limited""#, 0, "rate limited"),
            (r#"{}"#, 0, "{}"),
            ("false", 0, "false"),
            (r#"["x"]"#, 0, r#"["x"]"#),
        ] {
            for body in [
                format!(r#"{{"id":0,"error":{error}}}"#),
                format!(r#"{{"id":0,"result":[],"error":{error}}}"#),
            ] {
                let found = single(body.as_bytes()).expect("an answer").expect_err("an error");
                assert_eq!((found.code, found.message.as_str()), (code, message), "{body}");
            }
        }
        assert!(matches!(single(br#"{"id":0,"result":1,"error":null}"#), Ok(Ok(_))));
    }

    #[test]
    fn revert_data_is_found_where_nodes_put_it() {
        for (data, expected) in [
            (r#""0x08c379a0""#, Some(vec![0x08, 0xc3, 0x79, 0xa0])),
            (r#""Reverted 0x01""#, Some(vec![1])),
            (r#""0xzz""#, None),
            (r#"{"txHash":"0x00"}"#, None),
            ("null", None),
        ] {
            let body = format!(
                r#"{{"id":0,"error":{{"code":3,"message":"execution reverted","data":{data}}}}}"#
            );
            let error = single(body.as_bytes()).expect("an answer").expect_err("an error");
            assert_eq!(error.data, expected, "{data}");
        }
    }

    proptest! {
        /// Whatever a node sends parses as a response or is a fault.
        #[test]
        fn no_answer_breaks_the_reader(bytes in any::<Vec<u8>>(), text in r#"[\[\]{}",:0-9a-z]{0,60}"#) {
            for body in [&bytes[..], text.as_bytes()] {
                let _ = (single(body), batch(body, 2));
            }
        }
    }
}
