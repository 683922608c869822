//! `corridor healthcheck`: one request, one exit code; for containers and service managers.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::Context;
use super::api;
use super::config::ConfigArgs;
use super::failure::Failure;
use super::output::{self, Output};
use client::{self, sandbox_base_url};

/// Timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor healthcheck --url http://127.0.0.1:8480\n\nExit codes: 0 ready, 3 not ready."
)]
pub struct HealthArgs {
    /// Service address [default: the running sandbox, else http.listen of the configuration]
    #[arg(long, env = "CORRIDOR_BASE_URL", value_name = "URL")]
    url: Option<String>,
    /// Check liveness (/livez) instead of readiness (/readyz)
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

pub fn run(args: &HealthArgs, context: &Context) -> Result<(), Failure> {
    let address = service_address(args.url.as_deref(), &args.config, context)?;
    let url = probe_url(&address, if args.live { "/livez" } else { "/readyz" })?;
    let (status, body) = api::wait_for(ask(&url))?;
    let ready = (200..300).contains(&status);
    match context.output {
        Output::Table => output::line(if ready { "ready" } else { "not ready" })?,
        Output::Json => {
            output::json(&json!({ "url": url, "ready": ready, "status": status, "body": body }))?
        }
    }
    if ready {
        Ok(())
    } else {
        Err(Failure::Unavailable(format!("{url}: {status}: {}", body.trim())))
    }
}

/// The given address, else the running sandbox's, else that of the configuration.
pub fn service_address(
    given: Option<&str>,
    config: &ConfigArgs,
    context: &Context,
) -> Result<String, Failure> {
    let known = given.map(str::to_owned).or_else(|| sandbox_base_url(&context.data_dir().ok()?));
    if let Some(address) = known {
        return Ok(address);
    }
    let config = config.load()?;
    let mut listen = config.ops_listen().unwrap_or(config.http.listen);
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() {
            [127, 0, 0, 1].into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    Ok(format!("http://{listen}"))
}

/// The probe's URL: health endpoints are at the root of the host, whatever the API's path.
pub fn probe_url(address: &str, path: &str) -> Result<String, Failure> {
    let wrong = |why: String| Failure::Usage(format!("URL {address:?}: {why}"));
    let mut url = reqwest::Url::parse(address).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("must be http or https".to_owned()));
    }
    url.set_path(path);
    url.set_query(None);
    Ok(url.to_string())
}

/// The status and body of a probe.
pub async fn ask(url: &str) -> Result<(u16, String), Failure> {
    let unreachable =
        |error: reqwest::Error| Failure::from(client::ClientError::of_transport(url, &error));
    let response =
        client::http_client()?.get(url).timeout(TIMEOUT).send().await.map_err(unreachable)?;
    let status = response.status().as_u16();
    Ok((status, response.text().await.map_err(unreachable)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_go_to_the_root_of_the_host() {
        assert_eq!(probe_url("http://h:1/api/", "/readyz").expect("a URL"), "http://h:1/readyz");
        assert!(probe_url("h:1", "/readyz").is_err());
    }
}
