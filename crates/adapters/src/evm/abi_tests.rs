//! Tests of ABI encoding and decoding, against the interface that the compiler emitted.

use proptest::prelude::*;

use super::super::artifact::{self, Artifact};
use super::*;

#[test]
fn every_function_is_in_the_contracts() {
    for (artifact, functions) in [
        (artifact::CONTROLLER, &[(HAS_ROLE, &["bool"][..]), (GRANT_ROLE, &[])][..]),
        (
            artifact::SANDBOX_USDC,
            &[(BALANCE_OF, &["uint256"]), (IS_BLACKLISTED_USDC, &["bool"]), (PAUSED, &["bool"])],
        ),
        (
            artifact::SANDBOX_USDT,
            &[(BALANCE_OF, &["uint256"]), (IS_BLACKLISTED_USDT, &["bool"]), (PAUSED, &["bool"])],
        ),
    ] {
        let artifact = Artifact::parse(artifact).expect("artifact");
        for (signature, outputs) in functions {
            assert_eq!(artifact.outputs(signature).as_deref(), Some(*outputs), "{signature}");
        }
    }
}

#[test]
fn selectors_are_the_well_known_ones() {
    assert_eq!(selector("transfer(address,uint256)"), [0xa9, 0x05, 0x9c, 0xbb]);
    assert_eq!(selector(BALANCE_OF), [0x70, 0xa0, 0x82, 0x31]);
    assert_eq!(selector(PAUSED), [0x5c, 0x97, 0x5a, 0xbb]);
}

/// As produced by `cast calldata`.
#[test]
fn a_batch_is_encoded_as_the_abi_requires() {
    let movement = |byte| Movement {
        intent: Word([byte; 32]),
        reference: Word([byte + 1; 32]),
        recipient: Address([byte + 2; 20]),
        token: Address([byte + 3; 20]),
        amount: 1_000_000,
    };
    let data = Input::default().movements(&[movement(0x10), movement(0x20)]).finish();
    let mut expected = Vec::new();
    let mut word = |tail: &[u8]| {
        expected.extend(vec![0; 32 - tail.len()]);
        expected.extend(tail);
    };
    word(&[0x20]);
    word(&[2]);
    for byte in [0x10, 0x20] {
        word(&[byte; 32]);
        word(&[byte + 1; 32]);
        word(&[byte + 2; 20]);
        word(&[byte + 3; 20]);
        word(&[0x0f, 0x42, 0x40]);
    }
    assert_eq!(data, expected);
}

fn word(number: u128) -> Vec<u8> {
    Input::default().number(number).finish()
}

#[test]
fn bools_are_0_or_1_and_arrays_as_long_as_asked() {
    let answer =
        |numbers: &[u128]| numbers.iter().flat_map(|number| word(*number)).collect::<Vec<u8>>();
    assert_eq!(flags(&answer(&[32, 2, 1, 0]), 2), Some(vec![true, false]));
    assert_eq!(flags(&answer(&[32, 0]), 0), Some(vec![]));
    for wrong in [
        &answer(&[32, 2, 1])[..],
        &answer(&[32, 1, 1, 0]),
        &answer(&[32, 2, 1, 2]),
        &answer(&[64, 2, 1, 0]),
        &answer(&[32, 2, 1, 0, 0]),
        &answer(&[32, 2, 1, 0])[..127],
        &[],
    ] {
        assert_eq!(flags(wrong, 2), None);
    }
    assert_eq!(one_word(&[]), None, "a token that returns nothing");
    assert_eq!(one_word(&word(1)).as_ref().and_then(flag), Some(true));
    assert_eq!(one_word(&[0xff; 32]).as_ref().and_then(flag), None);
}

#[test]
fn numbers_are_cut_and_addresses_are_whole() {
    let read = |bytes: Vec<u8>| one_word(&bytes).expect("word");
    assert_eq!(capped(&read(word(7))), 7);
    assert_eq!(capped(&read(word(u128::from(u64::MAX)))), u64::MAX);
    assert_eq!(capped(&read(word(u128::from(u64::MAX) + 1))), u64::MAX);
    assert_eq!(capped(&[0xff; 32]), u64::MAX);
    let bytes = Input::default().address(&Address([9; 20])).finish();
    assert_eq!(address(&read(bytes)), Some(Address([9; 20])));
    assert_eq!(address(&[9; 32]), None);
}

#[test]
fn texts_lie_within_the_input() {
    let mut data = [word(32), word(3)].concat();
    data.extend(b"abc");
    data.extend([0; 29]);
    assert_eq!(only_bytes(&data), Some(&b"abc"[..]));
    assert_eq!(only_bytes(&[word(32), word(u128::MAX)].concat()), None);
    assert_eq!(only_bytes(&[word(0), word(3)].concat()), None);
    assert_eq!(only_bytes(&word(32)), None);
}

proptest! {
    #[test]
    fn no_answer_breaks_the_readers(bytes in any::<Vec<u8>>(), count in 0..9_usize) {
        prop_assert!(only_bytes(&bytes).is_none_or(|text| text.len() < bytes.len()));
        prop_assert!(flags(&bytes, count).is_none_or(|flags| flags.len() == count));
        prop_assert!(word_at(&bytes, count).is_none() || bytes.len() >= (count + 1) * WORD_BYTES);
    }

    /// Decoding the encoded values returns them.
    #[test]
    fn numbers_texts_and_addresses_come_back(number: u64, bytes: [u8; 20], text in "[ -~]{0,80}") {
        let input = Input::default().number(u128::from(number)).address(&Address(bytes)).finish();
        prop_assert_eq!(word_at(&input, 0).map(capped), Some(number));
        prop_assert_eq!(word_at(&input, 1).and_then(address), Some(Address(bytes)));
        let input = Input::default().number(32).text(&text).finish();
        prop_assert_eq!(only_bytes(&input), Some(text.as_bytes()));
    }
}
