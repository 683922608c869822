//! The webhook secret from the command line, a file, the environment, or the running sandbox.

use std::path::PathBuf;

use adapters::webhooks::WebhookSecret;
use clap::Args;
use serde_json::Value;

use super::failure::Failure;
use client::DataDir;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Secret (default: the running sandbox's)")]
pub struct SecretArgs {
    /// Webhook secret, whsec_…; repeat it during a rotation (better: --secret-file or the variable;
    /// other users can see arguments)
    #[arg(long, env = "CORRIDOR_WEBHOOK_SECRET", value_name = "SECRET", hide_env_values = true)]
    secret: Vec<String>,
    /// File with one or more secrets, one per line
    #[arg(
        long,
        env = "CORRIDOR_WEBHOOK_SECRET_FILE",
        value_name = "FILE",
        conflicts_with = "secret"
    )]
    secret_file: Option<PathBuf>,
}

impl SecretArgs {
    /// Whether a secret was given.
    pub fn is_given(&self) -> bool {
        self.secret_file.is_some() || !self.secret.is_empty()
    }

    /// The given secrets, newest first; empty where none was given.
    fn given(&self) -> Result<Vec<WebhookSecret>, Failure> {
        let text = match &self.secret_file {
            None => self.secret.join(" "),
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?,
        };
        text.split_whitespace().map(parsed).collect()
    }

    /// The given secrets, else the running sandbox's.
    pub fn secrets(&self, data_dir: &DataDir) -> Result<Vec<WebhookSecret>, Failure> {
        let mut secrets = self.given()?;
        if secrets.is_empty()
            && let Some(text) = of_sandbox(data_dir)?
        {
            secrets.push(parsed(&text)?);
        }
        if secrets.is_empty() {
            let message = "no webhook secret: give --secret-file or CORRIDOR_WEBHOOK_SECRET, or start `corridor sandbox`";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(secrets)
    }
}

/// The running sandbox's own secret, which persists across its starts.
pub fn of_sandbox(data_dir: &DataDir) -> Result<Option<String>, Failure> {
    let sandbox = data_dir.sandbox()?;
    let secret = sandbox.as_ref().and_then(|it| it.others.get("webhook_secret"));
    Ok(secret.and_then(Value::as_str).map(str::to_owned))
}

fn parsed(text: &str) -> Result<WebhookSecret, Failure> {
    WebhookSecret::parse(text).map_err(|fault| Failure::Usage(fault.to_string()))
}

/// A new secret, as text and as a signing key.
pub fn fresh() -> Result<(String, WebhookSecret), Failure> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| Failure::Usage(format!("random numbers: {error}")))?;
    let text = WebhookSecret::text_of(&random);
    let secret = parsed(&text)?;
    Ok((text, secret))
}
