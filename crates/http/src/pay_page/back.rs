//! The form that asks for a refund address. The page never reveals what screening finds about the
//! address: it is saved, or reported as invalid.

use domain::chain::Address;

use super::form::Field;
use crate::decode::query::Query;

/// The name of the form field.
pub const FIELD: &str = "address";
/// Maximum length of the input that is parsed.
const TYPED_MAX_CHARS: usize = 100;

/// The error in the input, as a message key of the pages.
pub const NO_ADDRESS: &str = "fault-address";
/// The checksum (EIP-55) is invalid.
pub const MISTYPED: &str = "fault-address-mistyped";
/// An address that cannot receive a refund.
pub const UNUSABLE: &str = "fault-address-unusable";

/// Parses the body of a POST.
///
/// # Errors
/// The input, with its error.
pub fn read(body: &[u8]) -> Result<Address, Field> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let given = Query::of(Some(text)).optional(FIELD, |_, given| Ok(given.trim().to_owned()));
    let value: String = given
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(TYPED_MAX_CHARS)
        .collect();
    let fault = match (Address::parse(&value), Address::parse_checked(&value)) {
        (_, Some(address)) => return Ok(address),
        (Some(_), None) => MISTYPED,
        (None, None) => NO_ADDRESS,
    };
    Err(Field { value, fault: Some(fault) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_copied_and_a_wrong_digit_is_found() {
        // The example of EIP-55.
        let right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        for text in
            [format!("address={right}"), format!("address=+{}%0A&lang=ur", right.to_lowercase())]
        {
            assert_eq!(
                read(text.as_bytes()).map(|it| it.to_string()),
                Ok(right.to_owned()),
                "{text}"
            );
        }
        let fault = |body: &[u8]| read(body).expect_err("wrong").fault.expect("a fault");
        assert_eq!(
            fault(format!("address={}", right.replace("aAeb", "aaeb")).as_bytes()),
            MISTYPED
        );
        let long = format!("address={}", "a".repeat(5_000));
        for body in [
            &b""[..],
            b"\xff",
            b"address=",
            b"address=vitalik.eth",
            b"address=0x12",
            b"to=0x12",
            long.as_bytes(),
        ] {
            assert_eq!(fault(body), NO_ADDRESS);
        }
        let twice = format!("address={right}&address={right}");
        assert_eq!(fault(twice.as_bytes()), NO_ADDRESS, "a duplicate is ambiguous");
        assert_eq!(
            read(b"address=+b%0Aad+").expect_err("wrong").value,
            "bad",
            "what was typed stays"
        );
        assert!(read(long.as_bytes()).expect_err("wrong").value.len() <= TYPED_MAX_CHARS);
    }
}
