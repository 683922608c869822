//! Recipes that differ in one value only: each value of a family in each place that must refuse it.
//! Recipes that stand alone are in `data/jwt_vectors.json`.

use serde_json::{Value, json};

/// Algorithms of the IANA registry (JWS and JWE), and names that are close to the one that is accepted.
const ALGORITHMS: [&str; 36] = [
    "HS384",
    "HS512",
    "RS256",
    "RS384",
    "RS512",
    "ES256",
    "ES384",
    "ES512",
    "PS256",
    "PS384",
    "PS512",
    "none",
    "RSA1_5",
    "RSA-OAEP",
    "RSA-OAEP-256",
    "A128KW",
    "A256KW",
    "dir",
    "ECDH-ES",
    "ECDH-ES+A128KW",
    "A128GCMKW",
    "PBES2-HS256+A128KW",
    "EdDSA",
    "ES256K",
    "Ed448",
    "ML-DSA-44",
    "HS256K",
    "HMAC",
    "HmacSHA256",
    "SHA256",
    "HS-256",
    "HS 256",
    "S256",
    "256",
    "HS2560",
    "hS256",
];

/// Members that bring a key or a rule of their own, and values that change nothing about that.
const HEADER_MEMBERS: [&str; 6] = ["jku", "jwk", "x5u", "x5c", "crit", "b64"];
const ANY_VALUES: [&str; 7] = ["null", "true", "0", "\"\"", "\"x\"", "[]", "{}"];

const NOT_TEXT: [&str; 9] =
    ["0", "-1", "1.5", "1e400", "true", "false", "{}", "[[]]", "{\"a\":\"$kid\"}"];
const NOT_TIME: [&str; 16] = [
    "\"1\"",
    "\"${now}\"",
    "true",
    "false",
    "{}",
    "[]",
    "[${now}]",
    "-1",
    "-0",
    "0",
    "0.5",
    "1e-5",
    "1e19",
    "-1e19",
    "253402300800",
    "9223372036854775808",
];
const NOT_ROLES: [&str; 8] = ["0", "1.5", "true", "{}", "[0]", "[null]", "[[]]", "[{}]"];
const NOT_HMAC: [&str; 9] = [
    "0",
    "false",
    "{}",
    "[]",
    "\"0\"",
    "\"$kid\"",
    "\"$hmac_hex \"",
    "\"0x$hmac_hex\"",
    "\"$hmac_hex$hmac_hex\"",
];

/// Texts that are no access key, whatever would be made of them.
const NOT_KEYS: [&str; 32] = [
    "' OR 1=1 --",
    "'; DROP TABLE access_keys; --",
    "\\\" OR \\\"\\\"=\\\"",
    "1 UNION SELECT secret",
    "$kid' AND '1'='1",
    "$kid%00",
    "$kid\\u0000",
    "$kid\\r\\nx-admin: 1",
    "$kid\\n",
    "$kid\\t",
    " $kid",
    "$kid ",
    "$kid,$kid",
    "$kid;$kid",
    "*)(uid=*))(|(uid=*",
    "{{7*7}}",
    "#{7*7}",
    "<%= 1 %>",
    "%s%s%n",
    "../../etc/passwd",
    "..\\\\..\\\\x",
    "/proc/self/environ",
    "file:///dev/null",
    "http://127.0.0.1/",
    "`id`",
    "; id",
    "| id",
    "\\u202e$kid",
    "\\ufeff$kid",
    "$kid\\u200b",
    "null",
    "[object Object]",
];

/// What stands before or behind a document makes it another one.
const BEFORE: [&str; 8] = ["\u{feff}", "x", "[", "{", "\u{0}", ")]}',", "callback(", "//\n"];
const BEHIND: [&str; 9] = [",", "]", "}", "x", "\u{0}", "null", "{}", "//", "\u{feff}"];

/// Characters that are allowed in a header's value, and not in base64url.
const NOT_BASE64: [&str; 18] =
    ["+", "/", "=", "%", ":", ";", "~", "!", "@", "\"", "\\", "{", "}", "|", "*", "(", "<", "'"];

const SCHEMES: [&str; 19] = [
    "Basic",
    "Digest",
    "Negotiate",
    "HOBA",
    "Mutual",
    "DPoP",
    "GNAP",
    "MAC",
    "OAuth",
    "SCRAM-SHA-256",
    "vapid",
    "AWS4-HMAC-SHA256",
    "PrivateToken",
    "ApiKey",
    "JWE",
    "Bear",
    "Bearers",
    "Bearer:",
    "\"Bearer\"",
];

const SIGNATURE_BYTES: usize = 32;

/// The recipes of all families.
pub(super) fn recipes() -> Vec<Value> {
    let families = [algorithms(), members(), keys(), claims(), documents(), encodings()];
    families.into_iter().flatten().collect()
}

fn algorithms() -> Vec<Value> {
    let recipe = |(at, alg): (usize, &str)| {
        let header = json!({"alg": format!("\"{alg}\"")});
        [
            json!({"name": format!("family_alg_{at}_signed"), "header": header, "expect": "alg"}),
            json!({"name": format!("family_alg_{at}_unsigned"), "header": header, "token": "$h.$c.",
                "expect": "alg"}),
            json!({"name": format!("family_alg_{at}_by_another"), "header": header, "sign": "other",
                "expect": "alg"}),
        ]
    };
    ALGORITHMS.into_iter().enumerate().flat_map(recipe).collect()
}

fn members() -> Vec<Value> {
    let values = |member: &'static str| {
        ANY_VALUES.into_iter().enumerate().map(move |(at, value)| {
            json!({"name": format!("family_{member}_{at}"), "header": {member: value},
                "expect": "header_member"})
        })
    };
    HEADER_MEMBERS.into_iter().flat_map(values).collect()
}

fn keys() -> Vec<Value> {
    let recipe = |(at, key): (usize, &str)| {
        json!({"name": format!("family_kid_{at}"), "header": {"kid": format!("\"{key}\"")},
            "claims": {"sub": format!("\"{key}\"")}, "expect": "kid"})
    };
    NOT_KEYS.into_iter().enumerate().map(recipe).collect()
}

fn claims() -> Vec<Value> {
    let families: [(&str, &[&str], &str); 10] = [
        ("sub", &NOT_TEXT, "sub"),
        ("aud", &NOT_TEXT, "aud"),
        ("iss", &NOT_TEXT, "iss"),
        ("exp", &NOT_TIME, "exp"),
        ("iat", &NOT_TIME, "iat"),
        ("nbf", &NOT_TIME, "nbf"),
        ("roles", &NOT_ROLES, "roles"),
        ("role", &NOT_ROLES, "roles"),
        ("hmac", &NOT_HMAC, "hmac"),
        ("sub", &["\"$other_kid\"", "\"$unknown_kid\"", "\"$kid$kid\"", "\"\""], "sub"),
    ];
    let recipes = |(place, (claim, values, expect)): (
        usize,
        (&'static str, &'static [&str], &'static str),
    )| {
        values.iter().enumerate().map(move |(at, value)| {
            json!({"name": format!("family_{place}_{claim}_{at}"), "claims": {claim: value}, "expect": expect})
        })
    };
    families.into_iter().enumerate().flat_map(recipes).collect()
}

fn documents() -> Vec<Value> {
    const HEADER: &str = "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"$kid\"}";
    const CLAIMS: &str =
        "{\"sub\":\"$kid\",\"iat\":${now},\"exp\":${now+300},\"aud\":\"$url\",\"iss\":\"$url\"}";
    let mut recipes = Vec::new();
    for (part, good) in [("header_raw", HEADER), ("claims_raw", CLAIMS)] {
        let before = BEFORE.iter().map(|before| format!("{before}{good}"));
        let behind = BEHIND.iter().map(|behind| format!("{good}{behind}"));
        for (at, document) in before.chain(behind).enumerate() {
            recipes.push(
                json!({"name": format!("family_{part}_{at}"), part: document, "expect": "json"}),
            );
        }
    }
    recipes
}

fn encodings() -> Vec<Value> {
    let mut recipes = Vec::new();
    for (at, character) in NOT_BASE64.into_iter().enumerate() {
        for (part, token) in [
            ("header", format!("{character}$h.$c.$s")),
            ("claims", format!("$h.{character}$c.$s")),
            ("signature", format!("$h.$c.$s{character}")),
        ] {
            recipes.push(json!({"name": format!("family_base64_{part}_{at}"), "token": token,
                "expect": "base64"}));
        }
    }
    for (at, scheme) in SCHEMES.into_iter().enumerate() {
        recipes.push(json!({"name": format!("family_scheme_{at}"),
            "authorization": [format!("{scheme} $token")], "expect": "scheme"}));
    }
    for byte in 0..SIGNATURE_BYTES {
        recipes.push(json!({"name": format!("family_signature_bit_{byte}"),
            "token": format!("$h.$c.$s_flipped_{byte}"), "expect": "signature"}));
    }
    recipes
}
