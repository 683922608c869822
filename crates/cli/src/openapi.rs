//! `corridor openapi`: the OpenAPI documents as a service of this configuration serves them, without
//! a running one.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use http_api::openapi;

use super::config::ConfigArgs;
use super::failure::Failure;
use super::new_file::NewFile;
use super::output;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor openapi payment > payment.json
  corridor openapi wallet --config corridor.toml --file wallet.json

A running service serves the same documents at /openapi/NAME.json. The wallet's names the currencies and chains of the configuration.")]
pub struct OpenapiArgs {
    /// API whose document is printed
    #[arg(value_enum, value_name = "payment|wallet|connector|signer", hide_possible_values = true)]
    name: Api,
    /// File to write instead of standard output
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Api {
    /// Payment Service v2
    Payment,
    /// Wallet Service v1
    Wallet,
    /// Connectors to banks
    Connector,
    /// Remote signers
    Signer,
}

/// Runs `openapi`. The document is JSON whatever `--output` is.
pub fn run(args: &OpenapiArgs) -> Result<(), Failure> {
    let text = document(args)?;
    let Some(path) = &args.file else { return output::raw(text.as_bytes()) };
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()?;
    output::remark(&format!("written to {}", path.display()));
    Ok(())
}

fn document(args: &OpenapiArgs) -> Result<Cow<'static, str>, Failure> {
    Ok(match args.name {
        Api::Payment => openapi::PAYMENT.into(),
        Api::Connector => openapi::CONNECTOR.into(),
        Api::Signer => openapi::SIGNER.into(),
        Api::Wallet => {
            let config = args.config.load()?;
            let mut chains: Vec<String> =
                config.by_chain().iter().map(|of| of.config.chain.name.clone()).collect();
            if !config.wallets.enabled {
                chains.clear();
            }
            openapi::wallet(&config.exchange_to(), &chains).into()
        }
    })
}
