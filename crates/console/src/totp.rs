//! Time-based one-time codes (RFC 6238 over RFC 4226): HMAC-SHA-1, six digits, 30 seconds, as all
//! authenticator apps support. Codes of the current step and its neighbours are accepted; the store
//! prevents reuse.

use domain::characters::with_ascii_digits;
use domain::time::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

use super::form::encoded;

/// Length of a step, in seconds.
const STEP_S: i64 = 30;
/// Digits of a code.
const DIGITS: u32 = 6;
/// Accepted steps before and after the current one: clocks differ, and users type slowly.
const NEIGHBOURS: i64 = 1;

/// HOTP (RFC 4226, section 5.3) with this many digits.
fn hotp(secret: &[u8], counter: u64, digits: u32) -> u32 {
    // HMAC takes keys of any length.
    let mut mac = <Hmac<Sha1>>::new_from_slice(secret).expect("a key of any length");
    mac.update(&counter.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let offset = usize::from(digest[19] & 0x0f);
    let word = u32::from_be_bytes([
        digest[offset],
        digest[offset + 1],
        digest[offset + 2],
        digest[offset + 3],
    ]);
    (word & 0x7fff_ffff) % 10_u32.pow(digits)
}

/// The step of an instant.
pub const fn step_of(now: Timestamp) -> i64 {
    now.unix_seconds().div_euclid(STEP_S)
}

/// The code of a step.
pub fn code(secret: &[u8], step: i64) -> String {
    format!("{:0>6}", hotp(secret, step.unsigned_abs(), DIGITS))
}

/// The step of this code, among those accepted at `now`. Spaces are ignored, and digits may be those
/// of any script.
pub fn matching_step(secret: &[u8], given: &str, now: Timestamp) -> Option<i64> {
    let given: String = given.chars().filter(|letter| !letter.is_whitespace()).collect();
    let given = with_ascii_digits(&given);
    let present = step_of(now);
    let mut found = None;
    // Checks every step, even after a match, to take constant time.
    for step in present - NEIGHBOURS..=present + NEIGHBOURS {
        if bool::from(code(secret, step).as_bytes().ct_eq(given.as_bytes())) {
            found = Some(step);
        }
    }
    found
}

/// The secret for manual entry (RFC 4648, base32), in groups of four.
pub fn text(secret: &[u8]) -> String {
    let plain: Vec<char> = base32(secret).chars().collect();
    plain.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// The URI in the QR code for an authenticator app.
pub fn uri(secret: &[u8], login: &str, issuer: &str) -> String {
    let (issuer, login) = (encoded(issuer), encoded(login));
    let secret = base32(secret);
    format!(
        "otpauth://totp/{issuer}:{login}?secret={secret}&issuer={issuer}&algorithm=SHA1&digits={DIGITS}&period={STEP_S}"
    )
}

fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let (mut held, mut bits, mut out) = (0_u32, 0, String::new());
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            out.push(char::from(LETTERS[(held >> bits & 31) as usize]));
        }
        held &= (1 << bits) - 1;
    }
    if bits > 0 {
        out.push(char::from(LETTERS[(held << (5 - bits) & 31) as usize]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn the_vectors_of_rfc_6238_and_rfc_4226() {
        for (seconds, expected) in [
            (59, 94_287_082),
            (1_111_111_109, 7_081_804),
            (1_111_111_111, 14_050_471),
            (1_234_567_890, 89_005_924),
            (2_000_000_000, 69_279_037),
            (20_000_000_000_u64, 65_353_130),
        ] {
            assert_eq!(hotp(SECRET, seconds / 30, 8), expected, "{seconds}");
        }
        let codes: Vec<u32> = (0..10).map(|counter| hotp(SECRET, counter, 6)).collect();
        assert_eq!(
            codes,
            [755224, 287082, 359152, 969429, 338314, 254676, 287922, 162583, 399871, 520489]
        );
    }

    #[test]
    fn codes_of_the_current_step_and_its_neighbours_are_accepted() {
        let now = Timestamp(1_111_111_111_000_000);
        let present = step_of(now);
        for (ahead, taken) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let given = code(SECRET, present + ahead);
            assert_eq!(
                matching_step(SECRET, &given, now),
                taken.then_some(present + ahead),
                "{ahead}"
            );
        }
        for typed in [" 050 471 ", "٠٥٠٤٧١", "०५० ४७१"] {
            assert_eq!(matching_step(SECRET, typed, now), Some(present), "{typed}");
        }
        for wrong in ["", "050472", "50471", "0504711", "٠٥٠٤٧٢"] {
            assert_eq!(matching_step(SECRET, wrong, now), None, "{wrong}");
        }
    }

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), expected);
        }
        assert_eq!(text(b"foobar"), "MZXW 6YTB OI");
    }

    #[test]
    fn the_uri_names_the_account() {
        assert_eq!(
            uri(b"foobar", "a@b", "Corridor test"),
            "otpauth://totp/Corridor%20test:a%40b?secret=MZXW6YTBOI&issuer=Corridor%20test&algorithm=SHA1&digits=6&period=30"
        );
    }
}
