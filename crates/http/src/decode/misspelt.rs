//! Whether an unknown name resembles a known one: silently ignoring a misspelt filter would return
//! too much.

/// Longer names are not compared.
const NAME_MAX_CHARS: usize = 64;
/// Minimum length of a prefix that counts as the name.
const PREFIX_MIN_CHARS: usize = 3;

/// Whether `given` is `name` in another style (`startTs`, `start-ts`), shortened, lengthened
/// (`start`, `status_filter`) or with a typo or two.
pub(super) fn is_misspelt(given: &str, name: &str) -> bool {
    if given.len() > NAME_MAX_CHARS {
        return false;
    }
    let (given, name) = (folded(given), folded(name));
    let is_prefix =
        |short: &[u8], long: &[u8]| short.len() >= PREFIX_MIN_CHARS && long.starts_with(short);
    if is_prefix(&given, &name) || is_prefix(&name, &given) {
        return true;
    }
    let slips_max = match name.len() {
        // Among short words a one-letter difference is often another word.
        0..=5 if given.first() != name.first() => 0,
        0..=5 => 1,
        6..=11 => 2,
        _ => 3,
    };
    slips(&given, &name) <= slips_max
}

fn folded(name: &str) -> Vec<u8> {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
}

/// Number of omitted, added, replaced or swapped letters (optimal string alignment).
fn slips(a: &[u8], b: &[u8]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        rows[i][0] = i;
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_styles_shortened_names_and_typos_are_recognized() {
        for (given, name) in [
            ("Status", "status"),
            ("states", "status"),
            ("state", "status"),
            ("statuses", "status"),
            ("sttaus", "status"),
            ("startTs", "start_ts"),
            ("start-ts", "start_ts"),
            ("start", "start_ts"),
            ("end", "end_ts"),
            ("sort_order", "sorting_order"),
            ("limt", "limit"),
            ("limits", "limit"),
            ("country_code", "country"),
            ("limit[]", "limit"),
            ("page_size", "page"),
            ("walletId", "wallet_id"),
            ("external_id", "external"),
        ] {
            assert!(is_misspelt(given, name), "{given} {name}");
        }
    }

    #[test]
    fn other_words_are_not() {
        for (given, name) in [
            ("", "after"),
            ("_", "wait"),
            ("v", "page"),
            ("utm_source", "status"),
            ("trace_id", "country"),
            ("list", "limit"),
            ("code", "mode"),
            ("date", "page"),
            ("currency", "country"),
            ("from", "mode"),
            (&"status".repeat(20), "status"),
        ] {
            assert!(!is_misspelt(given, name), "{given} {name}");
        }
    }
}
