//! Transfers that a token's holder authorizes by a signature, and that another account submits and
//! pays the gas for (EIP-3009). What is signed is typed data (EIP-712).

use super::{Address, Word, vault};

/// Types of the signed data, as in the token's contract and in wallets.
const DOMAIN_TYPE: &[u8] =
    b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const TRANSFER_TYPE: &[u8] = b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";

const WORD_BYTES: usize = 32;
/// Bytes of a signature of an account: `r`, `s`, `v`.
const SIGNATURE_BYTES: usize = 65;
/// Half the order of secp256k1. Each digest has two valid signatures; tokens accept the one whose
/// `s` is not above this.
const S_MAX: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// A transfer that `from` authorizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// Holder of the tokens, who signs.
    pub from: Address,
    /// Account that receives the tokens.
    pub to: Address,
    /// Amount in minor units.
    pub value: u64,
    /// Seconds since 1970 after which it is valid.
    pub valid_after: u64,
    /// Seconds since 1970 before which it has to be in a block.
    pub valid_before: u64,
    /// Random number under which the token executes it at most once.
    pub nonce: Word,
}

/// EIP-712 domain of a token: binds signatures to one contract on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningDomain {
    /// `name` of the token.
    pub name: String,
    /// `version` of the token.
    pub version: String,
    /// EIP-155 id of the chain.
    pub chain_id: u64,
    /// ERC-20 contract: `verifyingContract` of the domain (EIP-712).
    pub token: Address,
}

/// Signature of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcdsaSignature {
    /// x coordinate of the signature's point, modulo the order of the curve.
    pub r: Word,
    /// Never above half the order of the curve.
    pub s: Word,
    /// 27 or 28: the parity of the point's y coordinate.
    pub v: u8,
}

/// Why bytes are not a signature that tokens accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.rule())]
pub enum SignatureViolation {
    /// It is not hexadecimal.
    NotHex,
    /// It has another length, like the signatures of smart-contract wallets (EIP-1271).
    Length,
    /// `s` is the higher of the two valid values.
    HighS,
    /// `v` is no parity.
    Parity,
}

impl SignatureViolation {
    /// The rule that is violated, as a predicate of the signature.
    pub const fn rule(self) -> &'static str {
        match self {
            SignatureViolation::NotHex => "must be 0x and hexadecimal digits",
            SignatureViolation::Length => {
                "must have 65 bytes: signatures of smart-contract wallets are not supported"
            }
            SignatureViolation::HighS => "has an s above half the order of the curve",
            SignatureViolation::Parity => "has a v other than 27 or 28",
        }
    }
}

impl EcdsaSignature {
    /// Parses a wallet's answer. Some wallets give the parity as 0 or 1.
    pub fn parse(text: &str) -> Result<EcdsaSignature, SignatureViolation> {
        let digits = text.strip_prefix("0x").ok_or(SignatureViolation::NotHex)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(SignatureViolation::NotHex);
        }
        if digits.len() != 2 * SIGNATURE_BYTES {
            return Err(SignatureViolation::Length);
        }
        let word = |from: usize| Word::parse(&format!("0x{}", &digits[from..from + 64]));
        let (r, s) = word(0).zip(word(64)).ok_or(SignatureViolation::NotHex)?;
        if s.0 > S_MAX {
            return Err(SignatureViolation::HighS);
        }
        let v = match u8::from_str_radix(&digits[128..], 16) {
            Ok(v @ (27 | 28)) => v,
            Ok(parity @ (0 | 1)) => 27 + parity,
            _ => return Err(SignatureViolation::Parity),
        };
        Ok(EcdsaSignature { r, s, v })
    }
}

impl SigningDomain {
    /// `DOMAIN_SEPARATOR` of the token's contract.
    pub fn separator(&self) -> Word {
        let name = vault::hash(&[self.name.as_bytes()]);
        let version = vault::hash(&[self.version.as_bytes()]);
        vault::hash(&[
            &vault::hash(&[DOMAIN_TYPE]).0,
            &name.0,
            &version.0,
            &number(self.chain_id),
            &address(&self.token),
        ])
    }

    /// The digest that the holder signs.
    pub fn digest(&self, authorization: &Authorization) -> Word {
        let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
        let transfer = vault::hash(&[
            &vault::hash(&[TRANSFER_TYPE]).0,
            &address(from),
            &address(to),
            &number(*value),
            &number(*valid_after),
            &number(*valid_before),
            &nonce.0,
        ]);
        vault::hash(&[b"\x19\x01", &self.separator().0, &transfer.0])
    }
}

fn number(value: u64) -> [u8; WORD_BYTES] {
    let mut word = [0; WORD_BYTES];
    word[WORD_BYTES - 8..].copy_from_slice(&value.to_be_bytes());
    word
}

fn address(value: &Address) -> [u8; WORD_BYTES] {
    let mut word = [0; WORD_BYTES];
    word[WORD_BYTES - 20..].copy_from_slice(&value.0);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by `micro-eth-signer` 0.20.1; `devchain` has Circle's contract check others.
    #[test]
    fn the_digest_is_the_one_that_wallets_sign() {
        let address = |text| Address::parse(text).expect("an address");
        let domain = SigningDomain {
            name: "USD Coin".to_owned(),
            version: "2".to_owned(),
            chain_id: 31_337,
            token: address("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
        };
        let authorization = Authorization {
            from: address("0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"),
            to: address("0xF0109fC8DF283027b6285cc889F5aA624EaC1F55"),
            value: 25_500_000,
            valid_after: 0,
            valid_before: 1_795_000_000,
            nonce: Word([0xab; 32]),
        };
        assert_eq!(
            domain.separator().to_string(),
            "0xde2ae912ce26c15bab1a701fbeb76947537e17ab7ec688f5c8b7462c162d5ad2"
        );
        assert_eq!(
            domain.digest(&authorization).to_string(),
            "0xd8bdcb13296409593e953c120447fd082f76177dfa0d331e6add908342513e5e"
        );
        let other = SigningDomain { version: "1".to_owned(), ..domain.clone() };
        assert_ne!(other.separator(), domain.separator());
    }

    #[test]
    fn a_signature_has_65_bytes_a_low_s_and_a_parity() {
        let text = |s: &str, v: &str| format!("0x{}{s}{v}", "11".repeat(32));
        let low = "22".repeat(32);
        let signature = EcdsaSignature { r: Word([0x11; 32]), s: Word([0x22; 32]), v: 28 };
        for v in ["1c", "01", "1C"] {
            assert_eq!(EcdsaSignature::parse(&text(&low, v)), Ok(signature));
        }
        let most = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0";
        let more = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1";
        assert!(EcdsaSignature::parse(&text(most, "1b")).is_ok());
        for (wrong, violation) in [
            (text(more, "1b"), SignatureViolation::HighS),
            (text(&low, "1d"), SignatureViolation::Parity),
            (text(&low, "1b00"), SignatureViolation::Length),
            (text(&low, ""), SignatureViolation::Length),
            ("0x".to_owned(), SignatureViolation::Length),
            (text(&low, "zz"), SignatureViolation::NotHex),
            ("é".repeat(66), SignatureViolation::NotHex),
            (String::new(), SignatureViolation::NotHex),
        ] {
            assert_eq!(EcdsaSignature::parse(&wrong), Err(violation), "{wrong}");
        }
    }
}
