//! The samples beside an operation, in seven languages: the two calls of `docs/snippets`, with the
//! operation's path and the example of its body from the OpenAPI document. Tests run the programs
//! that they come from, and the samples.

use super::document::{Document, Operation};
use super::html::pretty;
use super::snippets::{SNIPPETS, Snippet};
use super::{SandboxKeys, Service};
use crate::json::{Object, Value};

/// Around a value that was filled in; never part of a program.
const FILLED: char = '\u{1}';
const FILLED_END: char = '\u{2}';

/// How a language's program is changed into another call.
struct Grammar {
    /// Name of its directory in `docs/snippets`.
    id: &'static str,
    label: &'static str,
    /// What stands before and after a variable's name.
    variable: (&'static str, &'static str),
    /// The paths of its two calls, as they stand there.
    quote_path: &'static str,
    wallet_path: &'static str,
    /// The body of its POST.
    quote_body: &'static str,
    /// The claims of its POST: those of a payment, those of a wallet.
    attested: (&'static str, &'static str),
    /// The claims of its GET: those of a wallet, those of a payment.
    roles: (&'static str, &'static str),
    /// Replacements that make each call stand alone.
    alone: &'static [(&'static str, &'static str)],
    text: fn(&str) -> String,
    path: fn(&str) -> String,
    body: fn(&Value<'_>) -> String,
}

const GRAMMARS: [Grammar; 7] = [
    Grammar {
        id: "shell",
        label: "curl",
        variable: ("$CORRIDOR_", ""),
        quote_path: "/v2/quote",
        wallet_path: "/v1/sdk/wallets/$CORRIDOR_WALLET_ID",
        quote_body: r#"'{"country":"PAK","currency":"AED","amount":500}'"#,
        attested: (
            r#"",\"hmac\":\"$hmac\"""#,
            r#"",\"hmac\":\"$hmac\",\"roles\":[\"wallet_manager\"]""#,
        ),
        roles: (r#"',"roles":["wallet_manager"]'"#, "''"),
        alone: &[],
        text: str::to_owned,
        path: str::to_owned,
        body: |body| format!("'{}'", json(body).replace('\'', r"'\''")),
    },
    Grammar {
        id: "python",
        label: "Python",
        variable: ("env(\"", "\")"),
        quote_path: r#""/v2/quote""#,
        wallet_path: r#""/v1/sdk/wallets/" + env("WALLET_ID")"#,
        quote_body: r#"{"country": "PAK", "currency": "AED", "amount": 500}"#,
        attested: ("hmac=attested", r#"hmac=attested, roles=["wallet_manager"]"#),
        roles: (r#", roles=["wallet_manager"]"#, ""),
        alone: &[],
        text: quoted,
        path: quoted,
        body: |body| literal(body, &PYTHON, 0),
    },
    Grammar {
        id: "typescript",
        label: "TypeScript",
        variable: ("env(\"", "\")"),
        quote_path: "/v2/quote",
        wallet_path: r#"/v1/sdk/wallets/${env("WALLET_ID")}"#,
        quote_body: r#"{ country: "PAK", currency: "AED", amount: 500 }"#,
        attested: ("{ hmac }", r#"{ hmac, roles: ["wallet_manager"] }"#),
        roles: (r#"{ roles: ["wallet_manager"] }"#, "{}"),
        alone: &[("forPayments", "bearer"), ("forWallets", "bearer"), ("wallets", "url")],
        text: quoted,
        path: str::to_owned,
        body: |body| literal(body, &JAVASCRIPT, 0),
    },
    Grammar {
        id: "java",
        label: "Java",
        variable: ("env(\"", "\")"),
        quote_path: r#""/v2/quote""#,
        wallet_path: r#""/v1/sdk/wallets/" + env("WALLET_ID")"#,
        quote_body: r#""{\"country\":\"PAK\",\"currency\":\"AED\",\"amount\":500}""#,
        attested: (r#" + "\"";"#, r#" + "\",\"roles\":[\"wallet_manager\"]";"#),
        roles: (r#"",\"roles\":[\"wallet_manager\"]""#, r#""""#),
        alone: &[
            ("HttpRequest.Builder quote", "HttpRequest.Builder request"),
            ("send(quote,", "send(request,"),
            ("\nbearer = ", "\nString bearer = "),
            ("URI wallet ", "URI uri "),
            ("newBuilder(wallet)", "newBuilder(uri)"),
            ("String wallets", "String url"),
            ("wallets", "url"),
        ],
        text: quoted,
        path: quoted,
        body: concatenated,
    },
    Grammar {
        id: "csharp",
        label: "C#",
        variable: ("Env(\"", "\")"),
        quote_path: r#""/v2/quote""#,
        wallet_path: r#""/v1/sdk/wallets/" + Env("WALLET_ID")"#,
        quote_body: r#""{\"country\":\"PAK\",\"currency\":\"AED\",\"amount\":500}""#,
        attested: (
            r#"",\"hmac\":\"" + hmac + "\"""#,
            r#"",\"hmac\":\"" + hmac + "\",\"roles\":[\"wallet_manager\"]""#,
        ),
        roles: (r#"",\"roles\":[\"wallet_manager\"]""#, r#""""#),
        alone: &[("\nbearer = ", "\nstring bearer = "), ("wallets", "url")],
        text: quoted,
        path: quoted,
        body: concatenated,
    },
    Grammar {
        id: "go",
        label: "Go",
        variable: ("env(\"", "\")"),
        quote_path: r#""/v2/quote""#,
        wallet_path: r#""/v1/sdk/wallets/"+env("WALLET_ID")"#,
        quote_body: r#"`{"country":"PAK","currency":"AED","amount":500}`"#,
        attested: (
            r#"map[string]any{"hmac": attested}"#,
            r#"map[string]any{"hmac": attested, "roles": []string{"wallet_manager"}}"#,
        ),
        roles: (r#"map[string]any{"roles": []string{"wallet_manager"}}"#, "map[string]any{}"),
        alone: &[
            ("quote, err", "answer, err"),
            ("Println(quote)", "Println(answer)"),
            ("wallet, err", "answer, err"),
            ("Println(wallet)", "Println(answer)"),
            ("bearer, err = ", "bearer, err := "),
            ("wallets, roles :=", "url, claims :="),
            ("wallets, roles)", "url, claims)"),
            ("wallets", "url"),
        ],
        text: quoted,
        path: quoted,
        body: |body| format!("`{}`", json(body)),
    },
    Grammar {
        id: "php",
        label: "PHP",
        variable: ("env('", "')"),
        quote_path: "'/v2/quote'",
        wallet_path: "'/v1/sdk/wallets/' . env('WALLET_ID')",
        quote_body: "['country' => 'PAK', 'currency' => 'AED', 'amount' => 500]",
        attested: ("['hmac' => $hmac]", "['hmac' => $hmac, 'roles' => ['wallet_manager']]"),
        roles: ("['roles' => ['wallet_manager']]", "[]"),
        alone: &[("$wallets", "$url")],
        text: single_quoted,
        path: single_quoted,
        body: |body| literal(body, &PHP, 0),
    },
];

/// The wallet of the document's examples.
pub(super) const EXAMPLE_WALLET: &str = "5d0c4a4e-8b1c-4f6e-9f5a-3f1f0c7f2b11";

/// The variables of the programs. A longer name comes first.
const VARIABLES: [&str; 6] = [
    "WALLET_ACCESS_KEY",
    "WALLET_SECRET_KEY",
    "WALLET_BASE_URL",
    "ACCESS_KEY",
    "SECRET_KEY",
    "BASE_URL",
];

/// One operation in one language.
pub(super) struct Sample {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    /// File name extension of its program.
    pub(super) extension: &'static str,
    /// The call, with marks around what was filled in.
    marked: String,
    /// The program that makes the call.
    pub(super) program: String,
}

impl Sample {
    /// The call as markup, with what was filled in marked.
    pub(super) fn markup(&self, highlighted: impl Fn(&str) -> String) -> String {
        let marked = highlighted(&self.marked);
        marked.replace(FILLED, "<mark>").replace(FILLED_END, "</mark>")
    }
}

/// The samples of an operation in every language, with the keys of a sandbox filled in.
pub(super) fn samples(
    document: &Document<'_>,
    service: Service,
    operation: &Operation<'_, '_>,
    keys: Option<&SandboxKeys>,
) -> Vec<Sample> {
    let of_language = |(grammar, snippet): (&Grammar, &Snippet)| {
        let marked = call(document, service, operation, keys, grammar, snippet);
        let (file, text) = snippet.sign;
        Sample {
            id: grammar.id,
            label: grammar.label,
            extension: file.rsplit('.').next().unwrap_or_default(),
            program: program(text, &unmarked(&marked)),
            marked,
        }
    };
    GRAMMARS.iter().zip(&SNIPPETS).map(of_language).collect()
}

fn call(
    document: &Document<'_>,
    service: Service,
    operation: &Operation<'_, '_>,
    keys: Option<&SandboxKeys>,
    grammar: &Grammar,
    snippet: &Snippet,
) -> String {
    let posts = operation.method == "post";
    let [post, get] = calls(snippet.sign.1);
    let mut call = if posts { post } else { get };
    let known = if posts { grammar.quote_path } else { grammar.wallet_path };
    // A mark keeps the path from what is replaced around it.
    call = call.replacen(known, &FILLED.to_string(), 1);
    for (from, to) in grammar.alone {
        call = call.replace(from, to);
    }
    let (open, close) = grammar.variable;
    let is_wallet = service == Service::Wallet;
    for name in ["ACCESS_KEY", "SECRET_KEY", "BASE_URL"] {
        let [of_payments, of_wallets] =
            [format!("{open}{name}{close}"), format!("{open}WALLET_{name}{close}")];
        match (posts, is_wallet) {
            (true, true) => call = call.replace(&of_payments, &of_wallets),
            (false, false) => call = call.replace(&of_wallets, &of_payments),
            _ => {}
        }
    }
    match (posts, is_wallet) {
        (true, true) => call = call.replacen(grammar.attested.0, grammar.attested.1, 1),
        (false, false) => {
            call = call.replacen(grammar.roles.0, grammar.roles.1, 1);
            call = call.replacen(" Wallet tokens carry roles.", "", 1);
        }
        _ => {}
    }
    let target = (grammar.path)(&operation.example_target(document));
    call = call.replacen(FILLED, &target, 1);
    if posts {
        let empty = Value::Object(Object::default());
        let body = operation.bodies(document).first().map_or(&empty, |(_, body)| *body);
        call = call.replacen(grammar.quote_body, &(grammar.body)(body), 1);
    }
    match keys {
        Some(keys) => filled(&call, grammar, keys, wallet_of(operation, keys)),
        None => call,
    }
}

/// The wallet of an operation's sample: the sandbox's, but for what cannot be undone.
pub(super) fn wallet_of<'a>(operation: &Operation<'_, '_>, keys: &'a SandboxKeys) -> &'a str {
    if operation.id() == "blacklistWallet" { EXAMPLE_WALLET } else { &keys.wallet_id }
}

/// Replaces the variables by the keys of the sandbox.
fn filled(call: &str, grammar: &Grammar, keys: &SandboxKeys, wallet: &str) -> String {
    let (open, close) = grammar.variable;
    let mut call = call.to_owned();
    for name in VARIABLES {
        let value = format!("{FILLED}{}{FILLED_END}", keys.of(name));
        call = call.replace(&format!("${{{open}{name}{close}}}"), &value);
        call = call.replace(&format!("{open}{name}{close}"), &(grammar.text)(&value));
    }
    call = call.replace(EXAMPLE_WALLET, &format!("{FILLED}{wallet}{FILLED_END}"));
    // A base URL and a path that are both known now are one text.
    for joint in ["\" + \"/", "\"+\"/", "' . '/"] {
        call = call.replace(&format!("{FILLED_END}{joint}"), &format!("{FILLED_END}/"));
    }
    call
}

fn unmarked(text: &str) -> String {
    text.replace([FILLED, FILLED_END], "")
}

/// Where the calls stand in a program: from the comment of the POST to the end of the GET.
fn calls_at(program: &str) -> (usize, usize, usize) {
    let line_of = |words: &str| {
        let at = program.find(words).unwrap_or_default();
        program[..at].rfind('\n').map_or(0, |end| end + 1)
    };
    let (post, get) = (line_of("POST: the claim"), line_of("GET: no body"));
    let indent = program[post..].chars().take_while(|c| c.is_whitespace()).count();
    let mut end = get;
    for line in program[get..].split_inclusive('\n') {
        let own = line.chars().take_while(|c| c.is_whitespace() && *c != '\n').count();
        if line.trim().is_empty() || own < indent {
            break;
        }
        end += line.len();
    }
    (post, get, end)
}

/// The POST and the GET of a program, without their indentation.
fn calls(program: &str) -> [String; 2] {
    let (post, get, end) = calls_at(program);
    let indent = program[post..].chars().take_while(|c| c.is_whitespace()).count();
    let flush = |block: &str| {
        let lines = block.trim_end().lines().map(|line| line.get(indent..).unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    };
    [flush(&program[post..get]), flush(&program[get..end])]
}

/// A program with one call instead of its two.
fn program(text: &str, call: &str) -> String {
    let (post, _, end) = calls_at(text);
    let indent: String = text[post..].chars().take_while(|c| c.is_whitespace()).collect();
    let mut out = text[..post].to_owned();
    for line in call.lines() {
        if !line.is_empty() {
            out.push_str(&indent);
        }
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&text[end..]);
    out
}

fn json(value: &Value<'_>) -> String {
    let mut out = String::new();
    pretty(value, 0, &mut out);
    out
}

/// In double quotes, as JSON writes text.
fn quoted(text: &str) -> String {
    let marks = [FILLED, FILLED_END];
    let escaped: String = text
        .split_inclusive(marks)
        .map(|piece| {
            let inner = piece.trim_end_matches(marks);
            let written = serde_json::Value::from(inner).to_string();
            format!("{}{}", &written[1..written.len() - 1], &piece[inner.len()..])
        })
        .collect();
    format!("\"{escaped}\"")
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// JSON as texts joined over several lines, for languages without a literal that spans lines.
fn concatenated(body: &Value<'_>) -> String {
    let json = json(body);
    let lines = json.lines().map(quoted);
    lines.collect::<Vec<_>>().join("\n    + ")
}

/// How a language writes values.
struct Literals {
    object: (&'static str, &'static str),
    key: fn(&str) -> String,
    text: fn(&str) -> String,
    words: [&'static str; 3],
}

const PYTHON: Literals = Literals {
    object: ("{", "}"),
    key: |name| format!("{}: ", quoted(name)),
    text: quoted,
    words: ["None", "True", "False"],
};
const JAVASCRIPT: Literals = Literals {
    object: ("{", "}"),
    key: |name| format!("{name}: "),
    text: quoted,
    words: ["null", "true", "false"],
};
const PHP: Literals = Literals {
    object: ("[", "]"),
    key: |name| format!("{} => ", single_quoted(name)),
    text: single_quoted,
    words: ["null", "true", "false"],
};

fn literal(value: &Value<'_>, style: &Literals, depth: usize) -> String {
    let several = |open: &str, close: &str, parts: Vec<String>| {
        if parts.is_empty() {
            return format!("{open}{close}");
        }
        let (inner, outer) = ("    ".repeat(depth + 1), "    ".repeat(depth));
        let parts: String = parts.iter().map(|part| format!("{inner}{part},\n")).collect();
        format!("{open}\n{parts}{outer}{close}")
    };
    let [null, yes, no] = style.words;
    match value {
        Value::Null => null.to_owned(),
        Value::Bool(flag) => (if *flag { yes } else { no }).to_owned(),
        Value::Number(number) => (*number).to_owned(),
        Value::String(text) => (style.text)(text),
        Value::Array(items) => {
            let parts = items.iter().map(|item| literal(item, style, depth + 1)).collect();
            several("[", "]", parts)
        }
        Value::Object(object) => {
            let part = |(name, member): (&str, &Value<'_>)| {
                format!("{}{}", (style.key)(name), literal(member, style, depth + 1))
            };
            several(style.object.0, style.object.1, object.members().map(part).collect())
        }
    }
}
