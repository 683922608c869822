//! The subset of DER that key stores use: sequences, integers, strings, each with an exact length.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Der<'a>(pub(super) &'a [u8]);

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;

impl<'a> Der<'a> {
    /// The content of the next element, which must have this tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match *first {
            short @ 0..=0x7f => (usize::from(short), rest),
            // One or two length bytes, and no more of them than needed.
            0x81 => {
                let (length, rest) = rest.split_first()?;
                (usize::from(*length).checked_sub(0x80)? + 0x80, rest)
            }
            0x82 => {
                let (length, rest) = rest.split_first_chunk::<2>()?;
                (usize::from(u16::from_be_bytes(*length)).checked_sub(0x100)? + 0x100, rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (*found == tag).then_some(content)
    }

    /// The next element, which must be the last.
    pub(super) fn only(mut self, tag: u8) -> Option<&'a [u8]> {
        let content = self.take(tag)?;
        self.0.is_empty().then_some(content)
    }

    /// The next element as an unsigned integer, with the leading zero that keeps it positive.
    fn unsigned(&mut self) -> Option<&'a [u8]> {
        let bytes = self.take(INTEGER)?;
        // The highest bit is the sign.
        bytes.first().is_some_and(|first| *first < 0x80).then_some(bytes)
    }
}

/// `r` and `s` of an ECDSA signature (RFC 3279), big-endian, perhaps with a leading zero.
pub(super) fn ecdsa_signature(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut inner = Der(Der(der).only(SEQUENCE)?);
    let (r, s) = (inner.unsigned()?, inner.unsigned()?);
    inner.0.is_empty().then_some((r, s))
}

/// The point of a secp256k1 key in a SubjectPublicKeyInfo (RFC 5480), in SEC1 form.
pub(super) fn secp256k1_public_key(der: &[u8]) -> Option<&[u8]> {
    /// The OID id-ecPublicKey, 1.2.840.10045.2.1.
    const EC_PUBLIC_KEY: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    let mut info = Der(Der(der).only(SEQUENCE)?);
    let mut algorithm = Der(info.take(SEQUENCE)?);
    let point = info.only(BIT_STRING)?;
    let is_ours = algorithm.take(OBJECT_IDENTIFIER)? == EC_PUBLIC_KEY
        && algorithm.only(OBJECT_IDENTIFIER)? == SECP256K1;
    // The first byte of a bit string counts its unused bits.
    let (0, point) = point.split_first().map(|(unused, point)| (*unused, point))? else {
        return None;
    };
    is_ours.then_some(point)
}

/// The OID of the curve, 1.3.132.0.10.
pub(super) const SECP256K1: [u8; 5] = [0x2b, 0x81, 0x04, 0x00, 0x0a];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn signatures_are_two_positive_integers_and_nothing_else() {
        assert_eq!(ecdsa_signature(&[0x30, 6, 2, 1, 5, 2, 1, 7]), Some((&[5][..], &[7][..])));
        assert_eq!(
            ecdsa_signature(&[0x30, 7, 2, 2, 0, 0x80, 2, 1, 7]),
            Some((&[0, 0x80][..], &[7][..]))
        );
        for wrong in [
            &[][..],
            &[0x30],
            &[0x30, 6, 2, 1, 5, 2, 1],
            &[0x30, 6, 2, 1, 5, 2, 1, 7, 0],
            &[0x30, 7, 2, 1, 5, 2, 1, 7, 0],
            &[0x30, 6, 2, 1, 0x85, 2, 1, 7],
            &[0x30, 5, 2, 0, 2, 1, 7],
            &[0x30, 6, 4, 1, 5, 2, 1, 7],
            &[0x31, 6, 2, 1, 5, 2, 1, 7],
            &[0x30, 0x81, 6, 2, 1, 5, 2, 1, 7],
            &[0x30, 0x80, 2, 1, 5, 2, 1, 7, 0, 0],
        ] {
            assert_eq!(ecdsa_signature(wrong), None, "{wrong:02x?}");
        }
    }

    #[test]
    fn lengths_must_use_the_shortest_form() {
        let long = |prefix: &[u8], length: usize| [prefix, &vec![1; length]].concat();
        assert_eq!(
            Der(&long(&[4, 0x81, 0x80], 0x80)).only(OCTET_STRING).map(<[u8]>::len),
            Some(0x80)
        );
        assert_eq!(
            Der(&long(&[4, 0x82, 1, 0], 0x100)).only(OCTET_STRING).map(<[u8]>::len),
            Some(0x100)
        );
        assert_eq!(Der(&long(&[4, 0x81, 0x7f], 0x7f)).only(OCTET_STRING), None);
        assert_eq!(Der(&long(&[4, 0x82, 0, 0xff], 0xff)).only(OCTET_STRING), None);
        assert_eq!(Der(&long(&[4, 0x83, 1, 0, 0], 0x10000)).only(OCTET_STRING), None);
    }

    #[test]
    fn only_keys_of_the_curve_are_taken() {
        // openssl ecparam -name secp256k1 -genkey | openssl ec -pubout -outform DER
        let point = [&[4][..], &[7; 64]].concat();
        let head = [
            0x30, 0x56, 0x30, 0x10, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 5, 0x2b, 0x81, 4,
            0, 0x0a,
        ];
        let spki = [&head[..], &[3, 0x42, 0], &point].concat();
        assert_eq!(secp256k1_public_key(&spki), Some(&point[..]));
        for (at, byte) in [(19, 0x22), (12, 2), (22, 1), (0, 0x31)] {
            let mut other = spki.clone();
            other[at] = byte;
            assert_eq!(secp256k1_public_key(&other), None, "{at}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in any::<Vec<u8>>()) {
            // Parsed values lie within the input.
            if let Some((r, s)) = ecdsa_signature(&bytes) {
                prop_assert!(r.len() + s.len() + 6 <= bytes.len());
            }
            prop_assert!(secp256k1_public_key(&bytes).is_none_or(|point| point.len() < bytes.len()));
        }
    }
}
