//! Recursive length prefix, encoding only: the form in which a transaction is hashed and sent.

/// An item of a list.
enum Kind {
    Bytes,
    List,
}

/// A list under construction.
#[derive(Default)]
pub(super) struct List(Vec<u8>);

impl List {
    /// Adds a string of bytes.
    pub(super) fn bytes(mut self, bytes: &[u8]) -> List {
        // A single small byte is its own encoding.
        if !matches!(bytes, [0..=0x7f]) {
            prefix(&mut self.0, &Kind::Bytes, bytes.len());
        }
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a number: big-endian, without leading zeros.
    pub(super) fn number(self, number: u128) -> List {
        let bytes = number.to_be_bytes();
        self.bytes(trimmed(&bytes))
    }

    /// Adds a number of 32 bytes.
    pub(super) fn word(self, word: &[u8; 32]) -> List {
        self.bytes(trimmed(word))
    }

    pub(super) fn list(mut self, list: List) -> List {
        self.0.extend(list.finish());
        self
    }

    /// The list, prefixed with its length.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.0.len() + 9);
        prefix(&mut whole, &Kind::List, self.0.len());
        whole.extend(self.0);
        whole
    }
}

fn prefix(out: &mut Vec<u8>, kind: &Kind, length: usize) {
    /// Longest content whose length fits into the first byte.
    const SHORT_MAX: u8 = 55;
    let base = match kind {
        Kind::Bytes => 0x80_u8,
        Kind::List => 0xc0,
    };
    match u8::try_from(length) {
        Ok(short) if short <= SHORT_MAX => out.push(base + short),
        _ => {
            let length = (length as u128).to_be_bytes();
            let length = trimmed(&length);
            // At most 16 bytes, so this cannot overflow.
            out.push(base + SHORT_MAX + length.len() as u8);
            out.extend_from_slice(length);
        }
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of the Ethereum wiki, each as the only item of a list.
    #[test]
    fn items_match_the_specification() {
        let one = |list: List| list.finish()[1..].to_vec();
        assert_eq!(one(List::default().bytes(b"dog")), b"\x83dog");
        assert_eq!(one(List::default().bytes(b"")), [0x80]);
        assert_eq!(one(List::default().bytes(&[0])), [0]);
        assert_eq!(one(List::default().bytes(&[0x7f])), [0x7f]);
        assert_eq!(one(List::default().bytes(&[0x80])), [0x81, 0x80]);
        assert_eq!(one(List::default().number(0)), [0x80]);
        assert_eq!(one(List::default().number(15)), [15]);
        assert_eq!(one(List::default().number(1024)), [0x82, 4, 0]);
        assert_eq!(one(List::default().list(List::default())), [0xc0]);
        assert_eq!(List::default().finish(), [0xc0]);
        assert_eq!(List::default().bytes(b"cat").bytes(b"dog").finish(), b"\xc8\x83cat\x83dog");
        let mut leading_zeros = [0; 32];
        leading_zeros[31] = 1;
        assert_eq!(one(List::default().word(&leading_zeros)), [1]);
    }

    #[test]
    fn long_content_has_the_length_of_its_length() {
        assert_eq!(List::default().bytes(&[1; 55]).finish()[..3], [0xf8, 56, 0xb7]);
        assert_eq!(List::default().bytes(&[1; 56]).finish()[..4], [0xf8, 58, 0xb8, 56]);
        assert_eq!(List::default().bytes(&[1; 1024]).finish()[..6], [0xf9, 4, 3, 0xb9, 4, 0]);
        assert_eq!(List::default().bytes(&[1; 54]).finish()[..2], [0xc0 + 55, 0xb6]);
    }
}
