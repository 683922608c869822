//! Who acts with a token, as the audit log names them: the beginning of the access key, the token's roles, the request.

use domain::audit::{Deed, Via};

use super::gate::Admitted;
use crate::auth::AccessKey;
use crate::request_id::RequestId;

/// Characters of an access key's random part that tell who acted: enough to find the key, too few to be one.
const KEY_HINT_CHARS: usize = 8;

/// What whoever sent a request does, and why in their words.
pub(super) fn deed(admitted: &Admitted, why: &str) -> Deed {
    let deed = Deed::new(Via::Api, key_hint(&admitted.access_key)).with_role(admitted.roles.join(","));
    let id = admitted.parts.extensions.get::<RequestId>();
    let deed = id.into_iter().fold(deed, |deed, id| deed.of_request(id.as_str()));
    deed.because(why)
}

/// An access key as far as it may be shown.
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
    fn whoever_decided_is_told_by_the_beginning_of_the_key() {
        let key = "demobank-test_wallet-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
        assert_eq!(key_hint(key), "demobank-test_wallet-Q1T9sVb0");
    }
}
