//! Tests of the bytes against transactions that another implementation signed with the same key
//! (Python's eth-account).

use domain::chain::SignFault;

use super::super::hex;
use super::super::signers::LocalKey;
use super::*;

const KEY: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";

fn sign(nonce: u64, to: Option<Address>, value: u128, data: Vec<u8>) -> Result<Signed, SignFault> {
    let fees = Fees { max_fee: 30_000_000_000, max_priority_fee: 1_500_000_000 };
    let transaction =
        Transaction { chain_id: 31337, nonce, fees, gas_limit: 21_000, to, value, data };
    let key = LocalKey::from_hex(&KEY.into(), true).expect("key");
    Ok(transaction.signed(&key.sign_now(&transaction.digest())?))
}

#[test]
fn the_bytes_are_those_of_another_implementation() {
    let to = Some(Address([0x35; 20]));
    for (nonce, to, value, data, hash, raw) in [
        (
            0,
            to,
            1_000_000_000_000_000_000,
            vec![],
            "0x55209d33958603583536acdb4483a3e26ed5e81caf185e2622e0d739137df74a",
            "0x02f875827a69808459682f008506fc23ac00825208943535353535353535353535353535353535353535880de0b6b3a764000080c0\
             01a0e3561198d496bbf44c72d515f184f00ff459ac9a578e14669fc30d968c53c948a03a6f11f2f957ab325b9cce99a0211a6f00\
             2624730e714b6a12420a1fcf943269",
        ),
        (
            300,
            to,
            0,
            (0..200).collect(),
            "0x7792280db989189e0be4fd7887ee35d15ab6c42e4c415fbf83da7c72dd0d1cf5",
            "0x02f90138827a6982012c8459682f008506fc23ac0082520894353535353535353535353535353535353535353580b8c8000102\
             030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233343536\
             3738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a\
             6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e\
             9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c080a0088e6d247dc50f7e\
             830d72fa54a2fafb16b152e49ed610ee6d0ccff59d8eebf0a07ddb76d16d4f8c2d256d288b880fd12a491c57dd2caa80fd69c7db\
             4ec2127f90",
        ),
        (
            127,
            None,
            0,
            vec![0x60, 0],
            "0x2e48b4fe837669c4718967f6649526cc75f56e79bc69a742d987479db2e67f66",
            "0x02f85b827a697f8459682f008506fc23ac008252088080826000c080a09725c5a15e0c10d85564dffddced6aca762a5c1846ee\
             6a9bc7122e25334ad91aa0619d9fce3c538f43a267e8bd8d0fc633bac8805cea5ba61786013a6924684bc6",
        ),
    ] {
        let signed = sign(nonce, to, value, data).expect("signed");
        assert_eq!(hex::data(&signed.raw), raw);
        assert_eq!(signed.hash.to_string(), hash);
        assert_eq!(hash_of(&signed.raw), signed.hash);
    }
}

#[test]
fn the_same_input_is_the_same_transaction_and_any_other_is_another() {
    let sign = |nonce, value| sign(nonce, None, value, vec![1]).expect("signed");
    assert_eq!(sign(1, 2), sign(1, 2));
    assert_ne!(sign(1, 2).hash, sign(1, 3).hash);
    assert_ne!(sign(1, 2).hash, sign(2, 2).hash);
}
