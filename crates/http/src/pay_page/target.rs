//! The payment details in every form that wallets accept: text, QR code, link (EIP-681), and the
//! call that a browser wallet signs. The address is the escrow's; no other address is ever shown.

use domain::hex::hex;

use domain::chain::{Address, ChainConfig};

use super::qr::{self, Code};
use super::view::Offer;
use super::way::Way;
use crate::wallet_v1::render;

/// Selector of ERC-20's `transfer(address,uint256)`.
const TRANSFER: &str = "a9059cbb";

/// The chain to pay on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pub name: String,
    /// The chain id of EIP-155.
    pub chain_id: u64,
    /// The token that pays fees.
    pub gas_coin: String,
    /// The name that exchanges use, if different.
    pub other_name: Option<&'static str>,
    /// RPC URL for wallets that do not know the chain; only for the built-in chain.
    pub rpc_url: Option<String>,
}

impl Network {
    pub fn of(config: &ChainConfig, rpc_url: Option<String>) -> Network {
        let mut letters = config.name.chars();
        let name = letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
        let other_name = config.name.eq_ignore_ascii_case("ethereum").then_some("ERC20");
        Network {
            name,
            chain_id: config.chain_id,
            gas_coin: config.gas_coin.clone(),
            other_name,
            rpc_url,
        }
    }

    /// The name with the one that exchanges use.
    pub fn full_name(&self) -> String {
        match self.other_name {
            Some(other) => format!("{} ({other})", self.name),
            None => self.name.clone(),
        }
    }

    /// The chain id in the format of wallets (EIP-695).
    pub fn chain_id_hex(&self) -> String {
        format!("{:#x}", self.chain_id)
    }
}

/// The payment details as shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The token and amount to send.
    pub offer: Offer,
    /// The other accepted tokens.
    pub others: Vec<Offer>,
    pub network: Network,
    /// The recipient address (EIP-55).
    pub address: String,
    /// The token contract (EIP-55).
    pub token: String,
    /// The address as a QR code.
    pub code: Code,
    /// The calldata of the payment; `None` if the sender chooses the amount.
    pub call: Option<String>,
    /// The payment as a link (EIP-681).
    pub link: String,
    /// The selected way to pay.
    pub way: Way,
    /// Whether the sender may sign the transfer and the bank pays its gas.
    pub is_sponsored: bool,
}

impl Target {
    /// The details of one offer; `None` without an offer, without a token contract, or if the
    /// address fits no QR code.
    pub fn of(
        offers: &[Offer],
        wanted: Option<&str>,
        config: &ChainConfig,
        network: Network,
        escrow: &Address,
        way: Way,
    ) -> Option<Target> {
        let is_wanted = |offer: &&Offer| Some(offer.coin.currency().code()) == wanted;
        let offer = *offers.iter().find(is_wanted).or(offers.first())?;
        let others = offers.iter().copied().filter(|other| *other != offer).collect();
        let (address, token) = (escrow.to_string(), config.token(offer.coin)?.to_string());
        let code = qr::code(&address)?;
        let mut link = format!("ethereum:{token}@{}/transfer?address={address}", network.chain_id);
        if let Some(minor) = offer.minor {
            link.push_str(&format!("&uint256={minor}"));
        }
        let call = offer.minor.map(|minor| transfer(escrow, minor));
        let is_sponsored = false;
        Some(Target { offer, others, network, address, token, code, call, link, way, is_sponsored })
    }

    /// The currency code of the token.
    pub fn coin(&self) -> &'static str {
        self.offer.coin.currency().code()
    }

    /// The amount without the token.
    pub fn amount(&self) -> Option<String> {
        self.offer.minor.map(render::coin)
    }
}

/// The calldata of `transfer`.
fn transfer(to: &Address, minor: i64) -> String {
    format!("0x{TRANSFER}{:024}{}{minor:064x}", 0, hex(&to.0))
}

#[cfg(test)]
pub(crate) mod tests {
    use domain::chain::{ChainNumber, Depth, ReleaseMin, Token};
    use domain::currency::StableCoin;

    use super::*;
    use crate::wallet_v1::samples::request;

    pub(crate) fn config() -> ChainConfig {
        let token = |coin, text| Token { coin, address: Address::parse(text).expect("an address") };
        ChainConfig {
            number: ChainNumber::FIRST,
            name: "ethereum".to_owned(),
            chain_id: 31_337,
            tokens: vec![
                token(StableCoin::Usdc, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
                token(StableCoin::Usdt, "0xdac17f958d2ee523a2206206994597c13d831ec7"),
            ],
            release_min: ReleaseMin::Fixed(0),
            small_below: 0,
            small_depth: Depth::Blocks(1),
            medium_below: 0,
            medium_depth: Depth::Blocks(1),
            large_depth: Depth::Blocks(12),
            settled_depth: Depth::Blocks(1),
            explorer_tx_url: String::new(),
            batch_max: 1,
            replace_after_s: 1,
            max_fee_cap: 1,
            max_tip_cap: 1,
            min_tip: 1,
            gas_coin: "ETH".to_owned(),
            sponsor: None,
            block_age_max: None,
            sweep: domain::chain::SweepTerms {
                at_minor: i64::MAX,
                every: domain::time::Span::days(1),
            },
        }
    }

    pub(crate) fn target(offers: &[Offer], wanted: Option<&str>, way: Way) -> Option<Target> {
        let network = Network::of(&config(), Some("http://127.0.0.1:8080".to_owned()));
        Target::of(offers, wanted, &config(), network, &request().escrow, way)
    }

    #[test]
    fn the_call_is_the_transfer_of_exactly_the_offer_and_the_link_matches() {
        let offers = [Offer { coin: StableCoin::Usdc, minor: Some(25_500_000) }];
        let target = target(&offers, None, Way::Exchange).expect("a target");
        assert_eq!(
            target.call.as_deref(),
            Some(concat!(
                "0xa9059cbb",
                "000000000000000000000000f0109fc8df283027b6285cc889f5aa624eac1f55",
                "0000000000000000000000000000000000000000000000000000000001851960"
            ))
        );
        assert_eq!(
            target.link,
            "ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@31337/transfer\
             ?address=0xF0109fC8DF283027b6285cc889F5aA624EaC1F55&uint256=25500000"
        );
        assert_eq!(
            (target.network.name.as_str(), target.network.chain_id_hex().as_str()),
            ("Ethereum", "0x7a69")
        );
    }

    #[test]
    fn a_token_may_be_chosen_and_any_amount_has_no_call() {
        let any = [StableCoin::Usdc, StableCoin::Usdt].map(|coin| Offer { coin, minor: None });
        let chosen = target(&any, Some("USDT"), Way::Phone).expect("a target");
        assert_eq!((chosen.coin(), chosen.call.clone(), chosen.amount()), ("USDT", None, None));
        assert!(!chosen.link.contains("uint256"));
        assert_eq!(target(&any, Some("DOGE"), Way::Phone).expect("a target").coin(), "USDC");
        assert_eq!(target(&[], None, Way::Phone), None);
    }

    #[test]
    fn fees_are_paid_in_the_chains_own_coin() {
        let polygon = ChainConfig { gas_coin: "POL".to_owned(), ..config() };
        assert_eq!(Network::of(&polygon, None).gas_coin, "POL");
        let other = ChainConfig { name: "polygon".to_owned(), ..config() };
        assert_eq!(
            (Network::of(&other, None).name.as_str(), Network::of(&other, None).other_name),
            ("Polygon", None)
        );
    }
}
