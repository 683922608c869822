//! The check code of a receipt, by which everyone who was given one finds out that it is genuine.

use super::PaymentRequest;
use crate::chain::vault;
use crate::ids::SenderInfoId;

/// Bytes of a check code: 80 bits.
const CHECK_CODE_BYTES: usize = 10;

impl PaymentRequest {
    /// The check code of a sender's receipt, or of the receipt for all payments: 20 hexadecimal
    /// digits in groups of four. It follows from the link's token and the submission's id and
    /// reveals neither.
    pub fn check_code(&self, sender: Option<SenderInfoId>) -> String {
        let id = self.id.to_string();
        let sender = sender.map(|sender| sender.to_string()).unwrap_or_default();
        let parts: [&[u8]; 4] =
            [b"receipt", self.token.as_bytes(), id.as_bytes(), sender.as_bytes()];
        let digest = vault::hash(if sender.is_empty() { &parts[..3] } else { &parts });
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
        let code = request.check_code(None);
        assert_eq!((code.len(), code.split('-').count()), (24, 5), "{code}");
        let other = PaymentRequest { token: "another".to_owned(), ..request.clone() };
        assert_ne!(other.check_code(None), code);
        let id = PaymentRequestId::parse("01920000-0000-7000-8000-00000000abcd").expect("an id");
        assert_ne!(PaymentRequest { id, ..request.clone() }.check_code(None), code);
        let sender = |id| Some(SenderInfoId(uuid::Uuid::from_u128(id)));
        let of_sender = request.check_code(sender(1));
        assert!(of_sender != code && of_sender != request.check_code(sender(2)), "{of_sender}");
        assert!(!code.to_lowercase().contains(&request.token), "the token stays secret");
    }
}
