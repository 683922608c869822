//! The check code of a receipt, by which everyone who was given one finds out that it is genuine.

use super::PaymentRequest;
use crate::chain::vault;

/// Bytes of a check code: 80 bits.
const CHECK_CODE_BYTES: usize = 10;

impl PaymentRequest {
    /// The check code of its receipt: 20 hexadecimal digits in groups of four. It follows from the
    /// link's token and does not reveal it.
    pub fn check_code(&self) -> String {
        let id = self.id.to_string();
        let digest = vault::hash(&[b"receipt", self.token.as_bytes(), id.as_bytes()]);
        let pairs: Vec<String> =
            digest.0.iter().take(CHECK_CODE_BYTES).map(|byte| format!("{byte:02X}")).collect();
        pairs.chunks(2).map(<[String]>::concat).collect::<Vec<_>>().join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PaymentRequestId;

    #[test]
    fn a_check_code_belongs_to_one_request_and_one_token() {
        let request = crate::payment_request::tests::request();
        let code = request.check_code();
        assert_eq!((code.len(), code.split('-').count()), (24, 5), "{code}");
        let other = PaymentRequest { token: "another".to_owned(), ..request.clone() };
        assert_ne!(other.check_code(), code);
        let id = PaymentRequestId::parse("01920000-0000-7000-8000-00000000abcd").expect("an id");
        assert_ne!(PaymentRequest { id, ..request.clone() }.check_code(), code);
        assert!(!code.to_lowercase().contains(&request.token), "the token stays secret");
    }
}
