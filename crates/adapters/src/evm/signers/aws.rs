//! Credentials of AWS: keys of the configuration, or those that the platform lends to the process
//! (EKS, ECS, EC2), renewed before they expire.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use reqsign_aws_v4::{
    AssumeRoleWithWebIdentityCredentialProvider, Credential, ECSCredentialProvider,
    IMDSv2CredentialProvider, RequestSigner, StaticCredentialProvider,
};
use reqsign_core::{
    Context, Error, FileRead, HttpSend, ProvideCredential, Result, Signer, StaticEnv,
};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};

use crate::evm::rpc::clean;
use crate::outbound::address::shown;
use crate::outbound::{Client, Proxy, Request, Settings, SetupError, is_on_this_machine};

/// How long the platform's own address, on the same host or link, may take.
const PLATFORM_TIMEOUT: Duration = Duration::from_secs(2);
/// Where ECS answers a container.
const ECS_AGENT: &str = "169.254.170.2";
/// Where EC2, ECS and EKS answer the host.
const HOST_ADDRESSES: [&str; 5] =
    ["169.254.169.254", ECS_AGENT, "169.254.170.23", "[fd00:ec2::254]", "[fd00:ec2::23]"];
/// Replaces the address of the token service, as in the tools of AWS.
const STS_ENDPOINT: &str = "AWS_ENDPOINT_URL_STS";
/// Replaces the address of the instance's metadata, as in the tools of AWS.
const METADATA_ENDPOINT: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
/// Beginnings of the names of regions outside the commercial partition and GovCloud, with the domain
/// of their services' endpoints.
const PARTITIONS: [(&str, &str); 6] = [
    ("cn-", "amazonaws.com.cn"),
    ("eusc-", "amazonaws.eu"),
    ("us-iso-", "c2s.ic.gov"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
];

/// The domain of a region's endpoints.
pub(super) fn domain_of(region: &str) -> &'static str {
    let other = PARTITIONS.iter().find(|(prefix, _)| region.starts_with(prefix));
    other.map_or("amazonaws.com", |(_, domain)| domain)
}

#[derive(Clone, Debug)]
pub enum AwsCredentials {
    Keys {
        /// Not secret: sent in every request.
        access_key_id: String,
        secret_access_key: SecretString,
        /// Session token of temporary credentials.
        session_token: Option<SecretString>,
    },
    /// What the platform lends, found by these variables (`AWS_…`): a web identity (EKS), a container's
    /// role (ECS, EKS Pod Identity), or else the instance's role (IMDSv2).
    Platform(HashMap<String, String>),
}

impl AwsCredentials {
    /// The platform's, from the variables of this process.
    pub fn of_this_process() -> AwsCredentials {
        let variables = std::env::vars().filter(|(name, _)| name.starts_with("AWS_"));
        AwsCredentials::Platform(variables.collect())
    }

    /// The secrets of the configuration.
    pub(super) fn secrets(&self) -> Vec<&str> {
        let AwsCredentials::Keys { secret_access_key, session_token, .. } = self else {
            return Vec::new();
        };
        [Some(secret_access_key), session_token.as_ref()]
            .into_iter()
            .flatten()
            .map(|secret| secret.expose_secret())
            .collect()
    }

    /// A signer of requests to a service. Credentials of the platform are fetched when they are first
    /// needed.
    pub(super) fn signer(
        &self,
        service: &str,
        region: &str,
        outbound: &Settings,
    ) -> std::result::Result<Signer<Credential>, SetupError> {
        let signs = RequestSigner::new(service, region);
        let variables = match self {
            AwsCredentials::Keys { access_key_id, secret_access_key, session_token } => {
                let secret = secret_access_key.expose_secret();
                let mut keys = StaticCredentialProvider::new(access_key_id, secret);
                if let Some(token) = session_token {
                    keys = keys.with_session_token(token.expose_secret());
                }
                return Ok(Signer::new(Context::new(), keys, signs));
            }
            AwsCredentials::Platform(variables) => variables,
        };
        let platform = Platform::new(outbound, variables)?;
        let mut envs = variables.clone();
        if let Some(endpoint) = envs.get_mut(METADATA_ENDPOINT) {
            // Paths are appended to it.
            endpoint.truncate(endpoint.trim_end_matches('/').len());
        }
        let context = Context::new()
            .with_env(StaticEnv { home_dir: None, envs })
            .with_file_read(Files)
            .with_http_send(platform);
        let has = |name: &str| variables.get(name).is_some_and(|text| !text.is_empty());
        let is_disabled = variables
            .get("AWS_EC2_METADATA_DISABLED")
            .is_some_and(|text| text.eq_ignore_ascii_case("true"));
        Ok(if has("AWS_WEB_IDENTITY_TOKEN_FILE") && !has("AWS_ROLE_ARN") {
            Signer::new(
                context,
                Unset("AWS_WEB_IDENTITY_TOKEN_FILE is set, but not AWS_ROLE_ARN"),
                signs,
            )
        } else if has("AWS_WEB_IDENTITY_TOKEN_FILE") {
            let identity = AssumeRoleWithWebIdentityCredentialProvider::new()
                .with_region(region.to_owned())
                .with_regional_sts_endpoint();
            Signer::new(context, identity, signs)
        } else if has("AWS_CONTAINER_CREDENTIALS_FULL_URI")
            || has("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        {
            Signer::new(context, ECSCredentialProvider::new(), signs)
        } else if is_disabled {
            Signer::new(
                context,
                Unset(
                    "no credentials: AWS_EC2_METADATA_DISABLED is true, and neither \
                     AWS_WEB_IDENTITY_TOKEN_FILE nor AWS_CONTAINER_CREDENTIALS_FULL_URI nor \
                     …_RELATIVE_URI is set",
                ),
                signs,
            )
        } else {
            Signer::new(context, IMDSv2CredentialProvider::new(), signs)
        })
    }
}

/// Lends nothing: a variable is missing.
#[derive(Debug)]
struct Unset(&'static str);

impl ProvideCredential for Unset {
    type Credential = Credential;

    async fn provide_credential(&self, _: &Context) -> Result<Option<Credential>> {
        Err(Error::config_invalid(self.0))
    }
}

/// Reads the token files, which the platform replaces.
#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        let read = tokio::fs::read(path).await;
        read.map_err(|error| Error::config_invalid(format!("{path}: {error}")))
    }
}

/// The addresses that lend credentials.
struct Platform {
    /// The token service, reached as the configuration says.
    tokens: Client,
    /// Addresses of the host itself, reached without a proxy.
    host: Client,
    token_service: Option<Url>,
}

impl fmt::Debug for Platform {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Platform").finish_non_exhaustive()
    }
}

impl Platform {
    fn new(
        outbound: &Settings,
        variables: &HashMap<String, String>,
    ) -> std::result::Result<Platform, SetupError> {
        let own = Settings {
            table: outbound.table.clone(),
            proxy: Proxy::Direct,
            connect_timeout: PLATFORM_TIMEOUT,
            request_timeout: PLATFORM_TIMEOUT,
            retries: 2,
            plain_http: true,
            ..Settings::default()
        };
        let token_service = variables.get(STS_ENDPOINT).filter(|text| !text.is_empty());
        let addresses: Vec<&str> = token_service.map(String::as_str).into_iter().collect();
        Ok(Platform {
            tokens: Client::new(outbound, STS_ENDPOINT, &addresses)?,
            host: Client::new(&own, "chain.keys", &[])?,
            token_service: token_service.and_then(|text| Url::parse(text).ok()),
        })
    }

    /// The client for an address, and the address that it has here.
    fn route(&self, mut url: Url) -> std::result::Result<(&Client, Url), String> {
        if url.host_str().is_some_and(|host| host.starts_with("sts.")) {
            if let Some(other) = &self.token_service {
                let query = url.query().map(str::to_owned);
                url = other.clone();
                url.set_query(query.as_deref());
            }
            return Ok((&self.tokens, url));
        }
        // As the tools of AWS: in plain text only to the host itself.
        let host = url.host_str().unwrap_or_default();
        let is_host = HOST_ADDRESSES.contains(&host) || is_on_this_machine(url.as_str());
        if url.scheme() != "https" && !is_host {
            return Err("the address of the credentials must be https or on this host".to_owned());
        }
        Ok((&self.host, url))
    }

    async fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> std::result::Result<http::Response<Bytes>, String> {
        let url = Url::parse(&request.uri().to_string()).map_err(|error| error.to_string())?;
        let (client, url) = self.route(url)?;
        let (parts, body) = request.into_parts();
        let (address, secrets) = (address_of(&url), secrets_of(&url, &parts.headers, &body));
        let mut sent = Request::new(parts.method, url, body).repeatable();
        for (name, value) in parts.headers.iter().filter(|(name, _)| *name != http::header::HOST) {
            sent = sent.header(name.clone(), value.clone());
        }
        let answer = client.send(sent).await.map_err(|fault| fault.to_string())?;
        let status = answer.status();
        let mut response = http::Response::builder().status(status);
        for (name, value) in answer.headers() {
            response = response.header(name, value);
        }
        let body = super::body_of(answer).await?;
        if !status.is_success() {
            return Err(refusal(&address, status, &body, &secrets));
        }
        response.body(Bytes::from(body)).map_err(|error| error.to_string())
    }
}

/// The address that refused, in a message. The path of the ECS agent is all that it asks for.
fn address_of(url: &Url) -> String {
    match url.host_str() {
        Some(ECS_AGENT) => format!("{}://{ECS_AGENT}/…", url.scheme()),
        _ => shown(url),
    }
}

/// What a request proves its sender's identity with, which an answer may repeat.
fn secrets_of(url: &Url, headers: &http::HeaderMap, body: &[u8]) -> Vec<String> {
    let headers = ["authorization", "x-aws-ec2-metadata-token"]
        .into_iter()
        .filter_map(|name| headers.get(name)?.to_str().ok().map(str::to_owned));
    let mut form = url.clone();
    form.set_query(std::str::from_utf8(body).ok());
    let tokens = [url.clone(), form].into_iter().filter_map(|url| {
        let mut parameters = url.query_pairs();
        parameters
            .find_map(|(name, value)| (name == "WebIdentityToken").then(|| value.into_owned()))
    });
    headers.chain(tokens).filter(|secret| !secret.is_empty()).collect()
}

/// Why an address did not lend credentials, in its own words.
fn refusal(address: &str, status: StatusCode, body: &[u8], secrets: &[String]) -> String {
    let text = String::from_utf8_lossy(body);
    let member = |names: [&str; 2]| {
        let in_json = || {
            let json: serde_json::Value = serde_json::from_slice(body).ok()?;
            names.iter().find_map(|name| json[*name].as_str().map(str::to_owned))
        };
        let in_xml = || {
            let (_, rest) = text.split_once(&format!("<{}>", names[0]))?;
            rest.split_once(&format!("</{}>", names[0])).map(|(inside, _)| inside.to_owned())
        };
        in_xml().or_else(in_json)
    };
    let own = [member(["Code", "code"]), member(["Message", "message"])];
    let mut own: String = own.into_iter().flatten().collect::<Vec<_>>().join(": ");
    for secret in secrets {
        own = own.replace(secret, "…");
    }
    let own = if own.is_empty() { String::new() } else { format!(": {own}") };
    clean(&format!("{address} answered HTTP {status}{own}"))
}

impl HttpSend for Platform {
    async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
        self.send(request).await.map_err(Error::unexpected)
    }
}

#[cfg(test)]
#[path = "aws_tests.rs"]
mod tests;
