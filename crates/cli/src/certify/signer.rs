//! `corridor certify signer`: tests a remote signer with the interface of `docs/openapi/signer.json`. It
//! signs a transaction that is of no use on any chain; needs no service.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::evm::Transaction;
use adapters::evm::signers::{
    DigestSigner as _, KeyError, RemoteKey, RemoteSettings, RemoteSigner,
};
use clap::Args;
use domain::chain::{Address, Fees, vault};
use domain::time::Span;

use super::checks::{Outcome, refusal};
use super::report::Found;
use super::{show, token, verdict, with_token};
use crate::failure::Failure;
use crate::{Context, api};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// A signature that takes longer delays releases.
const SLOW: Duration = Duration::from_secs(2);

/// Options of `certify signer`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor certify signer http://127.0.0.1:9100 --token-file signer.token --key demobank-operator --chain-id 1

Lets the key sign a transaction without value and with a gas limit of 0, which no chain accepts. Exit code 1 if a check fails;
warnings do not count.")]
pub struct CertifySignerArgs {
    /// Base URL of the signer, as in `chain.keys.remote_url`
    #[arg(value_name = "URL")]
    url: String,
    /// Name of a key, as in `[[chain.tenants]]`
    #[arg(long)]
    key: String,
    /// Bearer token that the signer expects (better: --token-file or the variable; other users can see arguments)
    #[arg(long, env = "CORRIDOR_SIGNER_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with that token
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Chain of the transaction
    #[arg(long, value_name = "ID", default_value_t = 1)]
    chain_id: u64,
    /// Contract that the transaction calls, if the signer has a list [default: 0x000…dead]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    target: Option<Address>,
    /// Also write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).ok_or_else(|| "must be an address, 0x and 40 digits".to_owned())
}

pub fn run(args: &CertifySignerArgs, context: &Context) -> Result<(), Failure> {
    let token = token(args.token.as_deref(), args.token_file.as_ref())?;
    let found = api::wait_for(async {
        let ours = signer(&args.url, &token)?;
        let strangers = (!token.is_empty())
            .then(|| ["", "not-the-token"].map(|token| signer(&args.url, token)));
        let mut probe = Probe { args, ours, found: Vec::new() };
        probe.examine().await;
        match strangers {
            None => probe.record(
                "auth",
                "a request without a token is refused",
                Instant::now(),
                Outcome::Warned("not tested without --token-file".to_owned()),
            ),
            Some([anonymous, wrong]) => {
                let rule = "a request without a token is refused";
                probe.refuses_stranger("auth.missing", rule, &anonymous?).await;
                let rule = "a request with a wrong token is refused";
                probe.refuses_stranger("auth.wrong", rule, &wrong?).await;
            }
        }
        Ok::<_, Failure>(probe.found)
    })?;
    show("signer", &args.url, &found, args.junit.as_ref(), context)?;
    verdict(&found)
}

fn signer(url: &str, token: &str) -> Result<Arc<RemoteSigner>, Failure> {
    let outbound = with_token(token, REQUEST_TIMEOUT);
    RemoteSigner::new(&RemoteSettings { url: url.to_owned(), outbound }).map_err(Failure::usage)
}

/// What the key signs: a call without value that no chain accepts, since it has no gas.
fn transaction(args: &CertifySignerArgs) -> Vec<u8> {
    let mut nowhere = [0; 20];
    nowhere[18..].copy_from_slice(&[0xde, 0xad]);
    Transaction {
        chain_id: args.chain_id,
        nonce: 0,
        fees: Fees { max_fee: 0, max_priority_fee: 0 },
        gas_limit: 0,
        to: Some(args.target.unwrap_or(Address(nowhere))),
        value: 0,
        data: Vec::new(),
    }
    .unsigned()
}

/// Whether a fault is a refusal by one of these statuses.
fn refused(fault: &KeyError, expected: &[u16]) -> Outcome {
    let status = match fault {
        KeyError::RemoteStatus { status, .. } => Some(*status),
        _ => None,
    };
    refusal(status, expected, || fault.to_string()).err().unwrap_or(Outcome::Passed)
}

struct Probe<'a> {
    args: &'a CertifySignerArgs,
    ours: Arc<RemoteSigner>,
    found: Vec<Found>,
}

impl Probe<'_> {
    async fn examine(&mut self) {
        let Some(key) = self.public_key().await else { return };
        let began = Instant::now();
        let unknown = self.ours.key("corridor-certify-unknown", None).await;
        let outcome = match unknown {
            Err(fault) => refused(&fault, &[404]),
            Ok(key) => Outcome::Failed(format!("it has a key {}", key.address())),
        };
        self.record("key.unknown", "an unknown name is refused", began, outcome);

        let unsigned = transaction(self.args);
        let rule = "a transaction is signed by this key, within 2 seconds";
        self.signs("signature", rule, &key, &unsigned).await;
        let rule = "the same transaction again is signed, too";
        self.signs("signature.repeated", rule, &key, &unsigned).await;

        let rule = "a digest that is not the transaction's is refused";
        self.refuses("digest.other", rule, &unsigned, &[7; 32]).await;
        let rule = "what is not a transaction is refused";
        let text = b"not a transaction";
        self.refuses("transaction.unreadable", rule, text, &vault::hash(&[text]).0).await;
    }

    /// The key, asked for twice.
    async fn public_key(&mut self) -> Option<RemoteKey> {
        let began = Instant::now();
        let first = self.ours.key(&self.args.key, None).await;
        let expected = first.as_ref().ok().map(|key| key.address());
        let second = self.ours.key(&self.args.key, expected).await;
        let (outcome, key) = match first.and(second) {
            Ok(key) => (Outcome::Passed, Some(key)),
            Err(fault) => (Outcome::Failed(fault.to_string()), None),
        };
        self.record("key", "the name has a public key, the same each time", began, outcome);
        key
    }

    async fn signs(
        &mut self,
        name: &'static str,
        rule: &'static str,
        key: &RemoteKey,
        unsigned: &[u8],
    ) {
        let began = Instant::now();
        let outcome = match key.sign(unsigned).await {
            Ok(_) if began.elapsed() > SLOW => {
                Outcome::Warned(format!("{} ms", began.elapsed().as_millis()))
            }
            Ok(_) => Outcome::Passed,
            Err(fault) => Outcome::Failed(fault.to_string()),
        };
        self.record(name, rule, began, outcome);
    }

    /// A signer without rules is allowed, and protects the key's bytes alone.
    async fn refuses(
        &mut self,
        name: &'static str,
        rule: &'static str,
        unsigned: &[u8],
        digest: &[u8; 32],
    ) {
        let began = Instant::now();
        let outcome = match self.ours.signature(&self.args.key, unsigned, digest).await {
            Err(fault) => refused(&fault, &[422, 400, 403]),
            Ok(_) => Outcome::Warned("it signs what it has not read".to_owned()),
        };
        self.record(name, rule, began, outcome);
    }

    async fn refuses_stranger(
        &mut self,
        name: &'static str,
        rule: &'static str,
        stranger: &Arc<RemoteSigner>,
    ) {
        let began = Instant::now();
        let unsigned = transaction(self.args);
        let digest = vault::hash(&[&unsigned]).0;
        let outcome = match stranger.signature(&self.args.key, &unsigned, &digest).await {
            Err(fault) => refused(&fault, &[401, 403]),
            Ok(_) => Outcome::Failed("it signs for strangers".to_owned()),
        };
        self.record(name, rule, began, outcome);
    }

    fn record(&mut self, name: &'static str, rule: &'static str, began: Instant, outcome: Outcome) {
        let took = i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX);
        self.found.push(Found { name, rule, outcome, took: Span(took) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_that_refuses_is_a_refusal() {
        let status = |status| KeyError::RemoteStatus { status, why: format!("HTTP {status}") };
        for (fault, expected, passes) in [
            (status(401), &[401, 403][..], true),
            (status(403), &[401, 403], true),
            (status(404), &[401, 403], false),
            (status(500), &[401, 403], false),
            (status(503), &[404], false),
            (status(404), &[404], true),
            (KeyError::Remote("connection refused (os error 401)".to_owned()), &[401], false),
        ] {
            let outcome = refused(&fault, expected);
            assert_eq!(outcome == Outcome::Passed, passes, "{fault}: {outcome:?}");
            assert!(passes || matches!(&outcome, Outcome::Failed(why) if why.contains("return")));
        }
    }
}
