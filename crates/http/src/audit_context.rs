//! The actor of audit entries for token holders: a prefix of the access key, the token's roles, the
//! request.

use domain::audit::{AuditContext, Via};
use http::request::Parts;

use crate::auth::AccessKey;
use crate::request_id::RequestId;

/// Shown characters of an access key's random part: enough to identify the key, too few to guess
/// it.
const KEY_HINT_CHARS: usize = 8;

/// The action of a key's holder with its reason.
pub(crate) fn audit_context(
    access_key: &str,
    roles: &[String],
    parts: &Parts,
    why: &str,
) -> AuditContext {
    let deed = AuditContext::new(Via::Api, key_hint(access_key)).with_role(roles.join(","));
    let id = parts.extensions.get::<RequestId>();
    let deed = id.into_iter().fold(deed, |deed, id| deed.of_request(id.as_str()));
    deed.because(why)
}

/// The part of an access key that may be shown.
fn key_hint(access_key: &str) -> String {
    match AccessKey::parse(access_key) {
        Some(AccessKey { tag, usage, random }) => {
            format!("{tag}-{usage}-{}", random.chars().take(KEY_HINT_CHARS).collect::<String>())
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_actor_is_named_by_a_prefix_of_the_key() {
        let key = "demobank-test_wallet-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
        assert_eq!(key_hint(key), "demobank-test_wallet-Q1T9sVb0");
    }
}
