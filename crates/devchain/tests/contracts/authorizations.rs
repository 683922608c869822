//! EIP-3009 authorizations, signed as `domain` describes them: the sandbox's USDC and Circle's own
//! accept and refuse the same ones with the same answers and logs.

use domain::chain::{
    Address as DomainAddress, Authorization, EcdsaSignature, SigningDomain, Word, vault,
};
use k256::ecdsa::SigningKey;
use revm::primitives::{Address, B256, Bytes, U256, keccak256};

use crate::abi::{self, Arg};
use crate::artifacts;
use crate::circle::{self, Roles};
use crate::evm::{Evm, Outcome, START};
use crate::tenant::{ISSUER, STRANGER};

/// The chain id of the interpreter's default configuration.
const CHAIN_ID: u64 = 1;
const TRANSFER: &str = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";
const PAYEE: Address = Address::new([0x77; 20]);

/// An account that signs.
pub struct Holder {
    key: SigningKey,
    pub address: Address,
}

impl Holder {
    pub fn new(number: u8) -> Holder {
        let key = SigningKey::from_slice(&[number; 32]).unwrap();
        let point = key.verifying_key().to_encoded_point(false);
        let address = Address::from_slice(&keccak256(&point.as_bytes()[1..])[12..]);
        Holder { key, address }
    }

    pub fn sign(&self, digest: Word) -> EcdsaSignature {
        let (signature, parity) = self.key.sign_prehash_recoverable(&digest.0).unwrap();
        let (r, s) = signature.split_bytes();
        EcdsaSignature { r: Word(r.into()), s: Word(s.into()), v: 27 + u8::from(parity.is_y_odd()) }
    }
}

pub fn signing_domain(token: Address) -> SigningDomain {
    let (name, version) = ("USD Coin".to_owned(), "2".to_owned());
    SigningDomain { name, version, chain_id: CHAIN_ID, token: DomainAddress(token.0.0) }
}

pub fn authorization(from: &Holder, to: Address, value: u64) -> Authorization {
    Authorization {
        from: DomainAddress(from.address.0.0),
        to: DomainAddress(to.0.0),
        value,
        valid_after: 0,
        valid_before: START + 600,
        nonce: Word([9; 32]),
    }
}

pub fn call(authorization: &Authorization, signature: &EcdsaSignature) -> Bytes {
    let Authorization { from, to, value, valid_after, valid_before, nonce } = *authorization;
    let EcdsaSignature { r, s, v } = *signature;
    let args: [Arg; 9] = [
        Address::new(from.0).into(),
        Address::new(to.0).into(),
        value.into(),
        valid_after.into(),
        valid_before.into(),
        B256::from(nonce.0).into(),
        u64::from(v).into(),
        B256::from(r.0).into(),
        B256::from(s.0).into(),
    ];
    abi::call(TRANSFER, &args)
}

struct Trial {
    evm: Evm,
    token: Address,
    holder: Holder,
}

impl Trial {
    fn new(mut evm: Evm, token: Address) -> Trial {
        let holder = Holder::new(0x11);
        let most: Arg = U256::MAX.into();
        evm.send(
            ISSUER,
            token,
            abi::call("configureMinter(address,uint256)", &[ISSUER.into(), most]),
        )
        .must();
        let mint = abi::call("mint(address,uint256)", &[holder.address.into(), 1_000.into()]);
        evm.send(ISSUER, token, mint).must();
        Trial { evm, token, holder }
    }

    fn says(&mut self, by: Address, signature: &str, args: &[Arg]) -> Outcome {
        self.evm.send(by, self.token, abi::call(signature, args))
    }

    /// Submits what the holder signed, after a change of what is submitted.
    fn submits(&mut self, change: impl Fn(&mut Authorization, &mut EcdsaSignature)) -> Outcome {
        let mut authorization = authorization(&self.holder, PAYEE, 400);
        let mut signature = self.holder.sign(signing_domain(self.token).digest(&authorization));
        change(&mut authorization, &mut signature);
        self.evm.send(STRANGER, self.token, call(&authorization, &signature))
    }

    fn is_used(&mut self) -> bool {
        let (from, nonce) = (self.holder.address, B256::from([9; 32]));
        let args = [from.into(), nonce.into()];
        let used = self.evm.look(self.token, "authorizationState(address,bytes32)", &args);
        abi::number(abi::nth(&used, 0)) == U256::from(1)
    }

    /// Signs as a holder does, with values of the authorization other than usual.
    fn signs(&mut self, change: impl Fn(&mut Authorization)) -> Outcome {
        let mut authorization = authorization(&self.holder, PAYEE, 400);
        change(&mut authorization);
        let signature = self.holder.sign(signing_domain(self.token).digest(&authorization));
        self.evm.send(STRANGER, self.token, call(&authorization, &signature))
    }
}

/// Everything that can be done with authorizations, from one state to the next.
fn story(trial: &mut Trial) -> Vec<(&'static str, Outcome)> {
    let separator = trial.evm.look(trial.token, "DOMAIN_SEPARATOR()", &[]);
    assert_eq!(separator.as_ref(), &signing_domain(trial.token).separator().0);
    let holder = trial.holder.address;
    let mut story = vec![
        ("another payee", trial.submits(|it, _| it.to.0[0] ^= 1)),
        ("another value", trial.submits(|it, _| it.value += 1)),
        ("another nonce", trial.submits(|it, _| it.nonce.0[0] ^= 1)),
        ("a later end", trial.submits(|it, _| it.valid_before += 1)),
        ("another holder", trial.submits(|it, _| it.from.0[0] ^= 1)),
        ("the other s", trial.submits(|_, signature| signature.s = Word([0xff; 32]))),
        ("no parity", trial.submits(|_, signature| signature.v = 26)),
        ("no point", trial.submits(|_, signature| signature.r = Word([0; 32]))),
        ("not yet valid", trial.signs(|it| it.valid_after = START)),
        ("expired", trial.signs(|it| it.valid_before = START)),
        ("more than there is", trial.signs(|it| it.value = 1_001)),
        ("blacklisting", trial.says(ISSUER, "blacklist(address)", &[holder.into()])),
        ("of a listed holder", trial.submits(|_, _| {})),
        ("unlisting", trial.says(ISSUER, "unBlacklist(address)", &[holder.into()])),
        ("pausing", trial.says(ISSUER, "pause()", &[])),
        ("while paused", trial.submits(|_, _| {})),
        ("unpausing", trial.says(ISSUER, "unpause()", &[])),
    ];
    assert!(!trial.is_used());
    story.push(("as signed", trial.submits(|_, _| {})));
    assert!(trial.is_used());
    story.push(("twice", trial.submits(|_, _| {})));
    let cancelled = Word([8; 32]);
    let what = vault::hash(&[b"CancelAuthorization(address authorizer,bytes32 nonce)"]);
    let message = vault::hash(&[&what.0, &holder.into_word().0, &cancelled.0]);
    let separator = signing_domain(trial.token).separator();
    let digest = vault::hash(&[b"\x19\x01", &separator.0, &message.0]);
    let EcdsaSignature { r, s, v } = trial.holder.sign(digest);
    let args: [Arg; 5] = [
        holder.into(),
        B256::from(cancelled.0).into(),
        u64::from(v).into(),
        B256::from(r.0).into(),
        B256::from(s.0).into(),
    ];
    let cancel = "cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)";
    story.push(("cancelling", trial.says(STRANGER, cancel, &args)));
    story.push(("cancelling twice", trial.says(STRANGER, cancel, &args)));
    story.push(("of a cancelled one", trial.signs(|it| it.nonce = cancelled)));
    story
}

const WORKS: [&str; 6] =
    ["blacklisting", "unlisting", "pausing", "unpausing", "as signed", "cancelling"];

#[test]
fn an_authorization_moves_exactly_what_was_signed_once() -> std::io::Result<()> {
    let mut evm = Evm::new();
    let token = circle::deploy_ours(&mut evm, Roles::one(ISSUER));
    let mut ours = Trial::new(evm, token);
    let told = story(&mut ours);
    for (name, outcome) in &told {
        assert_eq!(outcome.ok, WORKS.contains(name), "{name}");
    }
    let balance = |trial: &mut Trial, of: Address| {
        abi::number(abi::nth(&trial.evm.look(trial.token, "balanceOf(address)", &[of.into()]), 0))
    };
    assert_eq!(balance(&mut ours, PAYEE), U256::from(400));

    let Some(circles) = testkit::circle::for_tests("authorizations")? else { return Ok(()) };
    let mut evm = Evm::new();
    let theirs = circle::deploy(&mut evm, &circles, Roles::one(ISSUER));
    assert_eq!(theirs, token, "the domain contains the address");
    let mut theirs = Trial::new(evm, theirs);
    for ((name, ours), (_, theirs)) in told.iter().zip(story(&mut theirs)) {
        // The unused bytes after a reason are not always zero.
        let said = |outcome: &Outcome| match outcome.ok {
            true => outcome.output.clone(),
            false => artifacts::refusal(&outcome.output).into_bytes().into(),
        };
        assert_eq!(
            (ours.ok, said(ours), &ours.logs),
            (theirs.ok, said(&theirs), &theirs.logs),
            "{name}"
        );
    }
    Ok(())
}
