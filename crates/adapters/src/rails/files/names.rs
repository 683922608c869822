//! Names of files: of those that arrive late, and of those whose name is taken.

use std::ffi::{OsStr, OsString};

use domain::hex::hex;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Separates the cursor from the number and the name of a late file.
const LATE_MARK: &str = "~late";
const LATE_DIGITS: usize = 6;
/// Follows the number of a late file whose name was shortened.
const SHORTENED: &str = "~short-";
/// Longest name of a file, in bytes, on the usual file systems.
const NAME_MAX_BYTES: usize = 255;

/// A name for a late file that sorts after the cursor and before the bank's next file. If it were too
/// long, both names are shortened; the bank's next file is then perhaps late, too.
pub(super) fn late_name(cursor: &str, name: &str) -> String {
    let (base, round) = match cursor.split_once(LATE_MARK) {
        Some((base, rest)) => {
            (base, rest.get(..LATE_DIGITS).and_then(|digits| digits.parse::<u32>().ok()))
        }
        None => (cursor, None),
    };
    let own = own_name(name);
    let mark = format!("{LATE_MARK}{:0width$}", round.unwrap_or(0) + 1, width = LATE_DIGITS);
    let late = format!("{base}{mark}~{own}");
    if late.len() <= NAME_MAX_BYTES {
        return late;
    }
    // Different names stay different.
    let hash = hex(&Sha256::digest(own)[..8]);
    let room = NAME_MAX_BYTES - mark.len() - SHORTENED.len() - hash.len() - 1;
    let end = (own.len().saturating_sub(room / 2)..).find(|at| own.is_char_boundary(*at));
    let own = &own[end.unwrap_or(own.len())..];
    // What follows is greater than a character of the usual names.
    let follows = |at: &usize| base.as_bytes().get(*at).is_none_or(|byte| *byte < b'~');
    let mut ends = (0..=base.len().min(room - own.len())).rev();
    let end = ends.find(|at| base.is_char_boundary(*at) && follows(at)).unwrap_or(0);
    format!("{}{mark}{SHORTENED}{hash}~{own}", &base[..end])
}

/// Whether a late file's name was too long.
pub(super) fn is_shortened(name: &str) -> bool {
    let late = name.split_once(LATE_MARK).and_then(|(_, late)| late.get(LATE_DIGITS..));
    late.is_some_and(|late| late.starts_with(SHORTENED))
}

/// The bank's name of a file that may have been renamed as late and handed out before a restart.
pub(super) fn own_name(name: &str) -> &str {
    match name.split_once(LATE_MARK) {
        Some((_, late)) => late.split_once('~').map_or(name, |(_, own)| own),
        None => name,
    }
}

/// The name with a suffix of its own; its beginning is cut if it would be too long.
pub(super) fn another(name: &OsStr) -> OsString {
    let mut other = name.to_owned();
    other.push(format!(".{}", Uuid::new_v4().simple()));
    if other.len() <= NAME_MAX_BYTES {
        return other;
    }
    let whole = other.to_string_lossy();
    let cut = (whole.len() - NAME_MAX_BYTES..).find(|at| whole.is_char_boundary(*at));
    whole[cut.unwrap_or(whole.len())..].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_names_come_after_the_cursor_and_do_not_grow() {
        let mut cursor = "0007.xml".to_owned();
        for round in 1..=12 {
            let late = late_name(&cursor, "0003.xml");
            assert!(late > cursor && late.as_str() < "0008.xml", "{late}");
            assert_eq!(late, format!("0007.xml~late{round:06}~0003.xml"));
            cursor = late;
        }
        assert_eq!(
            late_name(&cursor, "0007.xml~late000001~0003.xml"),
            "0007.xml~late000013~0003.xml"
        );
    }

    #[test]
    fn late_names_are_no_longer_than_a_file_system_takes() {
        let bank = |first: &str, length: usize| format!("{first}{}.xml", "x".repeat(length));
        for (mut cursor, other) in [
            (bank("7", 240), bank("3", 240)),
            (bank("7", 240), "3.xml".to_owned()),
            ("7.xml".to_owned(), bank("3", 250)),
            ("7".to_owned() + &"ü".repeat(120), "3".to_owned() + &"ü".repeat(120)),
        ] {
            for round in 1..=3 {
                let late = late_name(&cursor, &other);
                assert!(late.len() <= NAME_MAX_BYTES && late > cursor, "{late} after {cursor}");
                assert!(late.contains(&format!("{LATE_MARK}{round:06}")), "{late}");
                let changed = other.replacen('3', "4", 1);
                assert_ne!(late, late_name(&cursor, &changed));
                assert!(is_shortened(&late) || own_name(&late) == other, "{late}");
                cursor = late;
            }
        }
        assert!(!is_shortened(&late_name("7.xml", "3.xml")) && !is_shortened("~short-3.xml"));
    }
}
