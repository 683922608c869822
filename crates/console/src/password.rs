//! Passwords: Argon2id with OWASP's recommended parameters, stored as PHC strings that contain the
//! parameters.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use engine::payments::Store;

/// Memory, passes and lanes (OWASP, "Password Storage Cheat Sheet": 19 MiB, 2, 1).
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Bytes of a salt.
pub const SALT_BYTES: usize = 16;
/// Minimum password length (NIST SP 800-63B requires 8 with a second factor).
pub const PASSWORD_MIN_CHARS: usize = 12;
pub const PASSWORD_MAX_CHARS: usize = 128;
/// Random bytes of a generated password.
pub const INITIAL_BYTES: usize = 15;
/// Hashed instead of an empty password of an unknown user, so that the response takes as long.
const FALLBACK: &str = "no user has this password";

fn hasher() -> Argon2<'static> {
    let params =
        Params::new(MEMORY_KIB, PASSES, LANES, None).expect("parameters within Argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// The hash of a password in PHC string format. Slow on purpose: keep it off the serving threads.
pub fn hash(password: &str, salt: [u8; SALT_BYTES]) -> String {
    let hash: PasswordHash = hasher()
        .hash_password_with_salt(password.as_bytes(), &salt)
        .expect("a salt and a password of allowed lengths");
    hash.to_string()
}

/// An initial password and its hash.
pub fn first(store: &Store) -> (String, String) {
    let text = initial(store.random());
    let hash = hash(&text, store.random());
    (text, hash)
}

/// Verifies a password against a hash. Equally slow.
pub fn is_right(password: &str, hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else {
        tracing::error!("reading a stored password hash failed");
        return false;
    };
    // An overlong password takes as long as any other.
    let right = hasher().verify_password(cut(password).as_bytes(), &hash).is_ok();
    right && password.chars().count() <= PASSWORD_MAX_CHARS
}

fn cut(password: &str) -> String {
    password.chars().take(PASSWORD_MAX_CHARS).collect()
}

/// Takes as long as [`is_right`], for unknown users.
pub fn nobody(password: &str) -> bool {
    let cut = cut(password);
    drop(hash(if cut.is_empty() { FALLBACK } else { &cut }, [0; SALT_BYTES]));
    false
}

/// The error in a chosen password, as a message for the user.
pub fn fault(password: &str, login: &str) -> Option<String> {
    let letters = password.chars().count();
    if letters < PASSWORD_MIN_CHARS {
        return Some(format!(
            "The new password must have at least {PASSWORD_MIN_CHARS} characters."
        ));
    }
    if letters > PASSWORD_MAX_CHARS {
        return Some(format!(
            "The new password must have at most {PASSWORD_MAX_CHARS} characters."
        ));
    }
    let lower = password.to_lowercase();
    let mut distinct: Vec<char> = lower.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    if lower.contains(login) || distinct.len() < 5 {
        return Some("The new password is too easy to guess.".to_owned());
    }
    None
}

/// A random initial password: groups of unambiguous letters and digits.
pub fn initial(random: [u8; INITIAL_BYTES]) -> String {
    // 32 letters: five bits of each byte.
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let letters =
        random.iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect::<Vec<_>>();
    letters.chunks(5).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_verified_and_its_hash_contains_its_parameters() {
        let hash = hash("correct horse battery", [7; SALT_BYTES]);
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(is_right("correct horse battery", &hash));
        for wrong in [
            "",
            "correct horse batter",
            "Correct horse battery",
            &"x".repeat(PASSWORD_MAX_CHARS + 1),
        ] {
            assert!(!is_right(wrong, &hash), "{wrong}");
        }
        assert!(!is_right("x", "no hash") && !nobody("") && !nobody("x"));
    }

    #[test]
    fn easy_passwords_are_refused() {
        assert_eq!(fault("a fine long password", "ayesha"), None);
        for wrong in [
            "short",
            "aaaaaaaaaaaaaaaa",
            "abababababababab",
            "xx-ayesha-2026-x",
            &"x1y2z3".repeat(30),
        ] {
            assert!(fault(wrong, "ayesha").is_some(), "{wrong}");
        }
    }

    #[test]
    fn an_initial_password_is_acceptable() {
        let password = initial([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 254, 253, 252, 251]);
        assert_eq!((password.as_str(), fault(&password, "omar")), ("abcde-fghij-98765", None));
    }
}
