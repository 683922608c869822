//! Tests of reading key files: files written by another implementation, and unsupported ones.

use super::*;

/// Written by Python's eth-keyfile for the key and password of the specification's vectors, at low
/// cost. (The vectors themselves take a minute without optimization.)
const SCRYPT: &str = r#"{"address":"008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b","crypto":{"cipher":"aes-128-ctr",
    "cipherparams":{"iv":"1392b5187cc651113ca8ae4b4bdd9222"},
    "ciphertext":"dc1700a3dd627518c4308ad9ddf6392eda0a44253b6e9bea5a2d7d7f8f817891","kdf":"scrypt",
    "kdfparams":{"dklen":32,"n":1024,"r":8,"p":1,"salt":"c54555f10fecaeb1652816a27157fea7"},
    "mac":"5d2859acee3f6c77d50480e8c3fa4d091f15dbf0a98423f9e1ce67c75dd17d82"},
    "id":"16118d72-3f75-4c9d-a48c-39cd48dab5f9","version":3}"#;
const PBKDF2: &str = r#"{"Crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"1fcc4f2f92d96f4abe20b3ea5438f2de"},
    "ciphertext":"6aebdc1825d8d015ae28a390580b9f76f22d02439f16fbab39897fcb3fe918c6","kdf":"pbkdf2",
    "kdfparams":{"c":1000,"dklen":32,"prf":"hmac-sha256","salt":"0a314531d1c80fc36e2479aea9c08c44"},
    "mac":"3770d8a8d74dcd6eef6c66acfef5c8f549306fe891c6e5cd24739d4d8b9cd55f"},"version":3}"#;
const PASSWORD: &str = "testpassword";
const ADDRESS: &str = "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b";

fn read(json: &str, password: &str) -> Result<LocalKey, KeyError> {
    LocalKey::from_keystore(json.as_bytes(), &password.into())
}

#[test]
fn files_of_both_kinds_are_read() {
    for file in [SCRYPT, PBKDF2] {
        assert_eq!(read(file, PASSWORD).expect("key").address().to_string(), ADDRESS);
    }
}

#[test]
fn a_new_file_is_read_with_its_password_only() {
    let key = LocalKey::from_bytes(&[7; 32]).expect("a key");
    let file = encrypted(&[7; 32], &key, &PASSWORD.into(), 10).expect("encrypted");
    assert!(!file.contains("0707"), "the key is not in plain text");
    assert_eq!(read(&file, PASSWORD).expect("key").address(), key.address());
    assert!(matches!(read(&file, "testpassworD"), Err(KeyError::Password)));
    let again = encrypted(&[7; 32], &key, &PASSWORD.into(), 10).expect("encrypted");
    assert_ne!(file, again, "salt and iv are fresh");
}

#[test]
fn a_wrong_password_differs_from_a_broken_file() {
    assert!(matches!(read(SCRYPT, "testpassworD"), Err(KeyError::Password)));
    assert!(matches!(read(PBKDF2, ""), Err(KeyError::Password)));
}

#[test]
fn unsupported_features_are_rejected_by_name() {
    for (from, to, reason) in [
        ("\"version\":3", "\"version\":1", "only version 3"),
        ("aes-128-ctr", "aes-128-cbc", "only aes-128-ctr"),
        ("\"n\":1024", "\"n\":1000", "these costs"),
        ("\"n\":1024", "\"n\":0", "these costs"),
        ("\"n\":1024", "\"n\":1099511627776", "these costs"),
        ("\"p\":1", "\"p\":17", "these costs"),
        ("\"dklen\":32", "\"dklen\":64", "dklen must be 32"),
        ("\"kdf\":\"scrypt\"", "\"kdf\":\"argon2\"", "argon2"),
        ("\"iv\":\"13", "\"iv\":\"", "16 bytes"),
        ("c54555f1", "xx4555f1", "not hexadecimal"),
        ("008AeEda", "118AeEda", "another key"),
        ("\"mac\":", "\"mic\":", "missing field `mac`"),
    ] {
        let file = SCRYPT.replace(from, to);
        assert_ne!(file, SCRYPT, "{from}");
        let refused = read(&file, PASSWORD).map(|key| key.address()).expect_err(from).to_string();
        assert!(refused.contains(reason), "{refused}");
    }
    for (from, to) in [
        ("\"c\":1000", "\"c\":0"),
        ("\"c\":1000", "\"c\":4294967295"),
        ("hmac-sha256", "hmac-sha1"),
    ] {
        let refused = read(&PBKDF2.replace(from, to), PASSWORD)
            .map(|key| key.address())
            .expect_err(from)
            .to_string();
        assert!(refused.contains("this function or cost"), "{refused}");
    }
    let refused = read(&" ".repeat(MAX_FILE_BYTES + 1), PASSWORD)
        .map(|key| key.address())
        .expect_err("too large");
    assert!(refused.to_string().contains("too large"));
}
