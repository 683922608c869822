//! The subset of Helm's template language that the chart uses, so that a test can render it: text,
//! `if`/`else`, `with`, `range`, `define`/`include`, `|` and the functions below. Anything else,
//! and any missing value, is an error.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// A part of a template.
#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Put(String),
    If(String, Vec<Node>, Vec<Node>),
    With(String, Vec<Node>),
    Range(Vec<String>, String, Vec<Node>),
}

#[derive(Default)]
pub struct Templates {
    defined: BTreeMap<String, Vec<Node>>,
}

/// The scope of a name.
#[derive(Clone)]
struct Scope {
    dot: Value,
    root: Value,
    variables: Vec<(String, Value)>,
}

/// The trimmed text between the braces, and the text before it.
fn tokens(text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut trim_next = false;
    loop {
        let (before, after) =
            rest.split_once("{{").map_or((rest, None), |(before, after)| (before, Some(after)));
        let before = if trim_next { before.trim_start() } else { before };
        let Some(after) = after else {
            found.push((before.to_owned(), None));
            return found;
        };
        let (inner, behind) = after.split_once("}}").expect("{{ is closed");
        let before = if inner.starts_with('-') { before.trim_end() } else { before };
        trim_next = inner.ends_with('-');
        let action = inner.strip_prefix('-').unwrap_or(inner);
        found.push((
            before.to_owned(),
            Some(action.strip_suffix('-').unwrap_or(action).trim().to_owned()),
        ));
        rest = behind;
    }
}

impl Templates {
    /// Parses a file: definitions become includable, and the rest is returned.
    pub fn read(&mut self, text: &str) -> Page {
        let tokens = tokens(text);
        let mut at = 0;
        let (nodes, end) = self.block(&tokens, &mut at);
        assert_eq!(end, None, "too many ends");
        Page(nodes)
    }

    /// Parses nodes up to `end` or `else`, which is returned.
    fn block(
        &mut self,
        tokens: &[(String, Option<String>)],
        at: &mut usize,
    ) -> (Vec<Node>, Option<String>) {
        let mut nodes = Vec::new();
        while let Some((text, action)) = tokens.get(*at) {
            *at += 1;
            nodes.push(Node::Text(text.clone()));
            let Some(action) = action else { break };
            let (word, rest) = action.split_once(' ').unwrap_or((action, ""));
            match word {
                "end" | "else" => return (nodes, Some(word.to_owned())),
                "if" => {
                    let (then, end) = self.block(tokens, at);
                    let otherwise = if end.as_deref() == Some("else") {
                        self.block(tokens, at).0
                    } else {
                        Vec::new()
                    };
                    nodes.push(Node::If(rest.to_owned(), then, otherwise));
                }
                "with" => nodes.push(Node::With(rest.to_owned(), self.block(tokens, at).0)),
                "range" => {
                    let (names, of) = rest.split_once(":=").unwrap_or(("", rest));
                    let names = names
                        .split(',')
                        .map(|name| name.trim().to_owned())
                        .filter(|name| !name.is_empty());
                    nodes.push(Node::Range(
                        names.collect(),
                        of.trim().to_owned(),
                        self.block(tokens, at).0,
                    ));
                }
                "define" => {
                    let (body, _) = self.block(tokens, at);
                    let earlier = self.defined.insert(rest.trim_matches('"').to_owned(), body);
                    assert!(earlier.is_none(), "{rest} is defined twice");
                }
                _ if action.starts_with("/*") => assert!(action.ends_with("*/"), "{action}"),
                _ => nodes.push(Node::Put(action.clone())),
            }
        }
        (nodes, None)
    }

    pub fn render(&self, page: &Page, context: &Value) -> String {
        let scope = Scope { dot: context.clone(), root: context.clone(), variables: Vec::new() };
        self.nodes(&page.0, &scope)
    }

    fn nodes(&self, nodes: &[Node], scope: &Scope) -> String {
        nodes.iter().map(|node| self.node(node, scope)).collect()
    }

    fn node(&self, node: &Node, scope: &Scope) -> String {
        match node {
            Node::Text(text) => text.clone(),
            Node::Put(expression) => shown(&self.pipeline(expression, scope)),
            Node::If(condition, then, otherwise) => self.nodes(
                if is_true(&self.pipeline(condition, scope)) { then } else { otherwise },
                scope,
            ),
            Node::With(expression, body) => {
                let dot = self.pipeline(expression, scope);
                if is_true(&dot) {
                    self.nodes(body, &Scope { dot, ..scope.clone() })
                } else {
                    String::new()
                }
            }
            Node::Range(names, of, body) => {
                let items: Vec<(Value, Value)> = match self.pipeline(of, scope) {
                    Value::Array(items) => {
                        items.into_iter().enumerate().map(|(at, item)| (at.into(), item)).collect()
                    }
                    Value::Object(items) => {
                        items.into_iter().map(|(key, item)| (key.into(), item)).collect()
                    }
                    other => panic!("range {of}: over {other}"),
                };
                let one = |(key, item): (Value, Value)| {
                    let mut inner = Scope { dot: item.clone(), ..scope.clone() };
                    let values = if names.len() == 2 { vec![key, item] } else { vec![item] };
                    inner.variables.extend(names.iter().cloned().zip(values));
                    self.nodes(body, &inner)
                };
                items.into_iter().map(one).collect()
            }
        }
    }

    fn pipeline(&self, expression: &str, scope: &Scope) -> Value {
        let mut value = None;
        for stage in split(expression, '|') {
            let words = split(&stage, ' ');
            let (first, rest) = words.split_first().expect("a stage is not empty");
            let is_operand = first.starts_with(['.', '$', '"']) || first.parse::<i64>().is_ok();
            if is_operand {
                assert!(rest.is_empty() && value.is_none(), "{expression}");
                value = Some(operand(first, scope));
                continue;
            }
            let mut given: Vec<Value> = rest.iter().map(|word| operand(word, scope)).collect();
            given.extend(value.take());
            value = Some(self.call(first, &given));
        }
        value.unwrap_or_else(|| panic!("{expression}: says nothing"))
    }

    fn call(&self, name: &str, given: &[Value]) -> Value {
        let text = |value: &Value| {
            value.as_str().unwrap_or_else(|| panic!("{name}: {value} is no text")).to_owned()
        };
        let size = |value: &Value| {
            usize::try_from(value.as_u64().expect("a number")).expect("a small number")
        };
        match (name, given) {
            ("include", [of, dot]) => {
                let body =
                    self.defined.get(&text(of)).unwrap_or_else(|| panic!("{of} is not defined"));
                let scope = Scope { dot: dot.clone(), root: dot.clone(), variables: Vec::new() };
                self.nodes(body, &scope).into()
            }
            ("quote", [value]) => Value::String(shown(value)).to_string().into(),
            ("toJson", [value]) => value.to_string().into(),
            ("toYaml", [value]) => yaml(value, 0).trim_end().into(),
            ("nindent", [by, value]) => {
                let indent = " ".repeat(size(by));
                let lines = text(value);
                lines.lines().map(|line| format!("\n{indent}{line}")).collect::<String>().into()
            }
            ("default", [_, value]) if is_true(value) => value.clone(),
            ("default", [otherwise, _]) => otherwise.clone(),
            ("printf", [pattern, values @ ..]) => values
                .iter()
                .fold(text(pattern), |text, value| text.replacen("%s", &shown(value), 1))
                .into(),
            ("trunc", [most, value]) => {
                text(value).chars().take(size(most)).collect::<String>().into()
            }
            ("trimSuffix", [suffix, value]) => {
                let value = text(value);
                value.strip_suffix(&text(suffix)).unwrap_or(&value).into()
            }
            ("sha256sum", [value]) => {
                let digest = Sha256::digest(text(value));
                digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
            }
            ("eq", [one, other]) => (one == other).into(),
            ("ne", [one, other]) => (one != other).into(),
            _ => panic!("{name} with {} values: not in the subset", given.len()),
        }
    }
}

/// A file without its definitions.
pub struct Page(Vec<Node>);

/// Splits outside quotes; empty parts are dropped.
fn split(text: &str, at: char) -> Vec<String> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        quoted ^= c == '"';
        match parts.last_mut() {
            Some(last) if c != at || quoted => last.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn operand(word: &str, scope: &Scope) -> Value {
    if let Some(text) = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return text.into();
    }
    if let Ok(number) = word.parse::<i64>() {
        return number.into();
    }
    let (base, path) = match word.split_once('.').unwrap_or((word, "")) {
        ("", path) => (scope.dot.clone(), path),
        ("$", path) => (scope.root.clone(), path),
        (name, path) => {
            let found = scope.variables.iter().rev().find(|(known, _)| known == name);
            (found.unwrap_or_else(|| panic!("{name} is not known")).1.clone(), path)
        }
    };
    path.split('.').filter(|part| !part.is_empty()).fold(base, |value, part| {
        value.get(part).unwrap_or_else(|| panic!("{word}: there is no {part}")).clone()
    })
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(items) => !items.is_empty(),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn yaml(value: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let inner = |value: &Value| match value {
        Value::Object(items) if !items.is_empty() => format!("\n{}", yaml(value, indent + 2)),
        Value::Array(items) if !items.is_empty() => format!("\n{}", yaml(value, indent + 2)),
        _ => format!(" {value}\n"),
    };
    match value {
        Value::Object(items) => {
            items.iter().map(|(key, item)| format!("{pad}{key}:{}", inner(item))).collect()
        }
        Value::Array(items) => items.iter().map(|item| format!("{pad}-{}", inner(item))).collect(),
        _ => format!("{pad}{value}\n"),
    }
}

/// Merges `over` into `base`, like an installation's values into a chart's.
pub fn lay_over(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => lay_over(inner, value),
            _ => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

#[test]
fn templates_are_filled_as_helm_fills_them() {
    let mut templates = Templates::default();
    templates.read("{{- define \"a\" -}}\nname: {{ .name | quote }}\n{{- end }}\n");
    let context = serde_json::json!({ "name": "n", "list": ["x", "y"], "map": { "b": 1, "a": { "c": [2] } }, "no": "" });
    for (text, expected) in [
        ("x:\n  {{- include \"a\" . | nindent 2 }}\n", "x:\n  name: \"n\"\n"),
        ("{{ if .no }}a{{ else }}b{{ end }}", "b"),
        ("a\n{{- with .no }}\nb\n{{- end }}\nc", "a\nc"),
        ("{{ range .list }}<{{ . }}>{{ end }}", "<x><y>"),
        ("{{ range $key, $item := .map }}{{ $key }} {{ $.name }};{{ end }}", "a n;b n;"),
        ("{{ .no | default \"z\" | printf \"%s-%s\" \"y\" }}", "y-z"),
        ("{{ toYaml .map }}", "a:\n  c:\n    - 2\nb: 1"),
        ("{{ if ne .name \"n\" }}a{{ end }}{{- /* a comment */ -}}  .", "."),
    ] {
        let page = templates.read(text);
        assert_eq!(templates.render(&page, &context), expected, "{text}");
    }
    let page = templates.read("{{ .nothing }}");
    let filled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        templates.render(&page, &context)
    }));
    assert!(filled.is_err(), "a value that is not there is an error");
}
