//! Turns the recipes of `data/jwt_vectors.json` and of [`families`] into real `authorization` headers for one key, URL
//! and instant.
//!
//! A recipe changes one property of a valid token. `header` and `claims` patch members with raw
//! JSON (null removes one), `header_raw` and `claims_raw` replace them entirely; `sign` names the
//! key, `signed` and `token` the signed and the sent text, `authorization` the header lines.
//! Placeholders: `$word` (see [`Recipe::word`]) and `${now+300}` (sums of `now`, `max` for the
//! maximum lifetime, and seconds). Each recipe carries [`Party::body`].

mod families;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// The signer and the target API.
pub struct Party {
    /// The access key, and its secret as issued.
    pub kid: String,
    pub secret: String,
    /// An existing key of another tenant, and its secret.
    pub other_kid: String,
    pub other_secret: String,
    /// Well-formed keys for the other service and for another environment.
    pub other_service_kid: String,
    pub other_environment_kid: String,
    /// The API URL without a trailing slash.
    pub url: String,
    /// The maximum lifetime in seconds.
    pub max_lifetime_s: i64,
    /// The time of the request, UNIX time.
    pub now: i64,
    /// The raw body of the request.
    pub body: String,
}

/// The request and its expected result.
pub struct Vector {
    pub name: String,
    /// The `authorization` header lines, if any.
    pub authorization: Vec<String>,
    /// `ok`, or the name of an `AuthFault`.
    pub expect: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    name: String,
    expect: String,
    #[serde(default)]
    header: BTreeMap<String, Option<String>>,
    header_raw: Option<String>,
    #[serde(default)]
    claims: BTreeMap<String, Option<String>>,
    claims_raw: Option<String>,
    #[serde(default = "own_key")]
    sign: String,
    #[serde(default = "whole_token")]
    token: String,
    #[serde(default = "header_and_claims")]
    signed: String,
    #[serde(default = "one_bearer")]
    authorization: Vec<String>,
}

fn own_key() -> String {
    "key".to_owned()
}

fn whole_token() -> String {
    "$h.$c.$s".to_owned()
}

fn header_and_claims() -> String {
    "$h.$c".to_owned()
}

fn one_bearer() -> Vec<String> {
    vec!["Bearer $token".to_owned()]
}

const GOOD_HEADER: [(&str, &str); 3] =
    [("alg", "\"HS256\""), ("typ", "\"JWT\""), ("kid", "\"$kid\"")];
const GOOD_CLAIMS: [(&str, &str); 5] = [
    ("sub", "\"$kid\""),
    ("iat", "${now}"),
    ("exp", "${now+300}"),
    ("aud", "\"$url\""),
    ("iss", "\"$url\""),
];

/// Every vector of the data file and of the families, for `party`.
pub fn vectors(party: &Party) -> Vec<Vector> {
    let recipes: Vec<Recipe> = serde_json::from_str(include_str!("../../data/jwt_vectors.json"))
        .expect("the data file is well formed");
    let of_families = families::recipes()
        .into_iter()
        .map(|recipe| serde_json::from_value::<Recipe>(recipe).expect("a recipe"));
    let all = recipes.into_iter().chain(of_families);
    all.map(|recipe| recipe.prepare(party)).collect()
}

impl Recipe {
    fn prepare(&self, party: &Party) -> Vector {
        let mut words = party.words();
        let header =
            self.document(&self.header_raw, &GOOD_HEADER, &self.header, "$h_loose", &words, party);
        let claims =
            self.document(&self.claims_raw, &GOOD_CLAIMS, &self.claims, "$c_loose", &words, party);
        for (name, json) in [("h", header), ("c", claims)] {
            let encoded = URL_SAFE_NO_PAD.encode(json);
            words.insert(format!("{name}_loose"), loosened(&encoded));
            words.insert(name.to_owned(), encoded);
        }
        let signed = self.expand(&self.signed, &words, party);
        words.extend(signature_words(&party.tag(&self.sign, signed.as_bytes())));
        let token = self.expand(&self.token, &words, party);
        words.insert("token".to_owned(), token);
        Vector {
            name: self.name.clone(),
            authorization: self
                .authorization
                .iter()
                .map(|line| self.expand(line, &words, party))
                .collect(),
            expect: self.expect.clone(),
        }
    }

    fn document(
        &self,
        raw: &Option<String>,
        good: &[(&str, &str)],
        patch: &BTreeMap<String, Option<String>>,
        loose: &str,
        words: &BTreeMap<String, String>,
        party: &Party,
    ) -> String {
        let member = |name: &str, value: &str| format!("{}:{value}", serde_json::Value::from(name));
        let kept = good
            .iter()
            .filter(|(name, _)| !patch.contains_key(*name))
            .map(|(name, value)| member(name, value));
        let patched = patch
            .iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| member(name, value)));
        let built = format!("{{{}}}", kept.chain(patched).collect::<Vec<_>>().join(","));
        let mut json = self.expand(raw.as_ref().unwrap_or(&built), words, party);
        // Only documents of 3n + 1 or 3n + 2 bytes have spare bits at the end of their base64.
        while self.token.contains(loose) && json.len() % 3 != 1 {
            json.push(' ');
        }
        json
    }

    fn expand(&self, template: &str, words: &BTreeMap<String, String>, party: &Party) -> String {
        let mut pieces = template.split('$');
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            if let Some((sum, rest)) =
                piece.strip_prefix('{').and_then(|piece| piece.split_once('}'))
            {
                out.push_str(&party.sum(sum).to_string());
                out.push_str(rest);
                continue;
            }
            let end =
                piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(piece.len());
            let word = words.get(&piece[..end]);
            out.push_str(
                word.unwrap_or_else(|| panic!("{}: no placeholder ${}", self.name, &piece[..end])),
            );
            out.push_str(&piece[end..]);
        }
        out
    }
}

impl Party {
    fn words(&self) -> BTreeMap<String, String> {
        let hmac = |secret: &str, body: &[u8]| tag_of::<Hmac<Sha256>>(secret.as_bytes(), body);
        let own = hmac(&self.secret, self.body.as_bytes());
        let hex_own = hex(&own);
        let base64 = STANDARD.encode(&own);
        [
            ("kid", self.kid.clone()),
            ("kid_other_case", with_last_letter_swapped(&self.kid)),
            ("unknown_kid", format!("{}Z", self.kid)),
            ("other_kid", self.other_kid.clone()),
            ("other_service_kid", self.other_service_kid.clone()),
            ("other_environment_kid", self.other_environment_kid.clone()),
            ("url", self.url.clone()),
            ("URL", self.url.to_uppercase()),
            ("1k", "k".repeat(1024)),
            ("10k", "k".repeat(10 * 1024)),
            ("hmac_hex", hex_own.clone()),
            ("HMAC_HEX", hex_own.to_uppercase()),
            ("hmac_hex_short", hex_own[..62].to_owned()),
            ("hmac_base64_loose", format!("{}=", loosened(base64.trim_end_matches('=')))),
            ("hmac_base64", base64),
            ("hmac_base64url", URL_SAFE_NO_PAD.encode(&own)),
            ("hmac_of_another_body", hex(&hmac(&self.secret, b"another body"))),
            ("hmac_of_an_empty_body", hex(&hmac(&self.secret, b""))),
            (
                "hmac_of_the_reformatted_body",
                hex(&hmac(&self.secret, format!("{} ", self.body).as_bytes())),
            ),
            ("hmac_with_another_key", hex(&hmac(&self.other_secret, self.body.as_bytes()))),
            ("hmac_plain_sha256", hex(&Sha256::digest(&self.body))),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn sum(&self, terms: &str) -> i64 {
        let signed = terms.replace('-', "+-");
        let term = |term: &str| match term {
            "now" => self.now,
            "max" => self.max_lifetime_s,
            seconds => seconds.parse().expect("now, max or a number of seconds"),
        };
        signed.split('+').map(term).sum()
    }

    fn tag(&self, key: &str, message: &[u8]) -> Vec<u8> {
        let secret = self.secret.as_bytes();
        match key {
            "key" => tag_of::<Hmac<Sha256>>(secret, message),
            "hs384" => tag_of::<Hmac<Sha384>>(secret, message),
            "hs512" => tag_of::<Hmac<Sha512>>(secret, message),
            "other" => {
                tag_of::<Hmac<Sha256>>(b"b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXItMDE=", message)
            }
            "other_tenant" => tag_of::<Hmac<Sha256>>(self.other_secret.as_bytes(), message),
            "decoded" => {
                let decoded = STANDARD.decode(secret).expect("secrets are base64");
                tag_of::<Hmac<Sha256>>(&decoded, message)
            }
            "empty" => tag_of::<Hmac<Sha256>>(b"", message),
            "zeros" => tag_of::<Hmac<Sha256>>(&[0; 32], message),
            "kid" => tag_of::<Hmac<Sha256>>(self.kid.as_bytes(), message),
            "url" => tag_of::<Hmac<Sha256>>(self.url.as_bytes(), message),
            unknown => panic!("no key named {unknown}"),
        }
    }
}

fn tag_of<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("an HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

fn signature_words(tag: &[u8]) -> Vec<(String, String)> {
    let encoded = URL_SAFE_NO_PAD.encode(tag);
    let swapped = |c: char| {
        if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    };
    let (body, last) = encoded.split_at(encoded.len() - 1);
    // Tags of 48 and 64 bytes are used in plain form only.
    let loose = if encoded.len().is_multiple_of(4) { encoded.clone() } else { loosened(&encoded) };
    let flipped = |byte: usize| {
        let mut flipped = tag.to_vec();
        flipped[byte] ^= 1;
        (format!("s_flipped_{byte}"), URL_SAFE_NO_PAD.encode(flipped))
    };
    let words = [
        ("s_loose", loose),
        ("s_short1", format!("{encoded}AA")),
        ("s_truncated", URL_SAFE_NO_PAD.encode(&tag[..16])),
        ("s_hex", hex(tag)),
        ("s_swapped_case", format!("{}{last}", body.chars().map(swapped).collect::<String>())),
        ("s", encoded.clone()),
    ];
    let words = words.into_iter().map(|(name, value)| (name.to_owned(), value));
    words.chain((0..tag.len()).map(flipped)).collect()
}

/// The same bytes in base64 with a spare bit set, where there is one.
fn loosened(encoded: &str) -> String {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let Some((rest, last)) = encoded.split_at_checked(encoded.len().saturating_sub(1)) else {
        return encoded.to_owned();
    };
    match ALPHABET.find(last) {
        Some(at) if !last.is_empty() && at % 2 == 0 => {
            format!("{rest}{}", &ALPHABET[at + 1..=at + 1])
        }
        _ => encoded.to_owned(),
    }
}

fn with_last_letter_swapped(kid: &str) -> String {
    let at = kid.rfind(|c: char| c.is_ascii_alphabetic()).expect("a key has letters");
    let letter = kid[at..].chars().next().expect("a letter");
    let swapped = if letter.is_ascii_lowercase() {
        letter.to_ascii_uppercase()
    } else {
        letter.to_ascii_lowercase()
    };
    format!("{}{swapped}{}", &kid[..at], &kid[at + 1..])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
