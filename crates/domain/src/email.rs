//! E-mail addresses (RFC 5321), validated by format only: delivery is the only real proof.

/// Longest e-mail address (RFC 5321 section 4.5.3.1.3, less the angle brackets).
pub const EMAIL_MAX_BYTES: usize = 254;
/// Longest part before the at sign (RFC 5321 section 4.5.3.1.1).
const LOCAL_MAX_BYTES: usize = 64;
/// Longest label of a domain name (RFC 1035 section 2.3.4).
const DOMAIN_LABEL_MAX_BYTES: usize = 63;

/// Whether `address` is plausible: one mailbox, one domain with a dot.
pub fn is_email(address: &str) -> bool {
    address.len() <= EMAIL_MAX_BYTES
        && address
            .rsplit_once('@')
            .is_some_and(|(local, domain)| is_mailbox(local) && is_domain(domain))
}

fn is_mailbox(local: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c);
    (1..=LOCAL_MAX_BYTES).contains(&local.len())
        && local.chars().all(plain)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
}

fn is_domain(domain: &str) -> bool {
    let label = |part: &str| {
        (1..=DOMAIN_LABEL_MAX_BYTES).contains(&part.len())
            && part.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let top = domain.rsplit('.').next().unwrap_or_default();
    domain.contains('.')
        && domain.split('.').all(label)
        && !top.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_at_a_domain_with_a_dot_is_an_address() {
        for right in ["a@b.pk", "asha.k+1@mail.example.com", "o'neil@example.co", "ü@example.com"]
        {
            assert!(is_email(right), "{right}");
        }
        for wrong in [
            "",
            "a",
            "a@b",
            "@b.pk",
            "a@",
            "a b@c.pk",
            ".a@b.pk",
            "a..b@c.pk",
            "a@-b.pk",
            "a@b..pk",
            "a@10.0.0.1",
        ] {
            assert!(!is_email(wrong), "{wrong}");
        }
        assert!(
            !is_email(&format!("a@{}.pk", "b".repeat(64)))
                && !is_email(&format!("{}@b.pk", "a".repeat(65)))
        );
    }
}
