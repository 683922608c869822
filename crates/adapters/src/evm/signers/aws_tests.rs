//! Credentials that a platform lends, from doubles of its addresses.

use testkit::scripted::{Asked, Scripted};

use super::*;

const REGION: &str = "eu-central-1";
/// Values that must not be in any error.
const TOKEN: &str = "canary-token";
const LENT_SECRET: &str = "canary-secret";

fn variables(of: &[(&str, &str)]) -> AwsCredentials {
    let owned = of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    AwsCredentials::Platform(owned.collect())
}

/// The headers `authorization` and `x-amz-security-token` of a signed request.
async fn signed(signer: &Signer<Credential>) -> std::result::Result<(String, String), String> {
    let request = http::Request::post("https://kms.example/").body(()).expect("request");
    let (mut parts, ()) = request.into_parts();
    let signed = signer.sign(&mut parts, None).await;
    signed.map_err(|error| crate::outbound::causes(&error))?;
    let text = |name: &str| {
        let value = parts.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    Ok((text("authorization"), text("x-amz-security-token")))
}

fn signer(credentials: &AwsCredentials) -> Signer<Credential> {
    credentials.signer("kms", REGION, &Settings::default()).expect("signer")
}

fn assumed(key: &str, minutes: i64) -> String {
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
    format!(
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\
         <AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{LENT_SECRET}</SecretAccessKey>\
         <SessionToken>session-{key}</SessionToken><Expiration>{until:.0}</Expiration>\
         </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
    )
}

fn lent(key: &str) -> String {
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    format!(
        r#"{{"Code":"Success","AccessKeyId":"{key}","SecretAccessKey":"{LENT_SECRET}","Token":"session-{key}","Expiration":"{until:.0}"}}"#
    )
}

fn everything(asked: &Asked) -> String {
    format!("{}?{}", String::from_utf8_lossy(&asked.body), asked.query)
}

#[tokio::test]
async fn a_web_identity_is_exchanged_and_renewed_with_the_token_of_the_day() {
    let (short, long) = (assumed("ASIAONE", 1), assumed("ASIATWO", 60));
    let sts = Scripted::start(&[("/", &[(200, &short), (200, &long)])]).await;
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), "first-token\n").expect("written");
    let signer = signer(&variables(&[
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file.path().to_str().expect("path")),
        ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/corridor"),
        ("AWS_ENDPOINT_URL_STS", &sts.base_url),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/not-asked"),
    ]));
    let (authorization, token) = signed(&signer).await.expect("signed");
    assert!(authorization.contains("Credential=ASIAONE/"), "{authorization}");
    assert!(authorization.contains(&format!("/{REGION}/kms/aws4_request")), "{authorization}");
    assert_eq!(token, "session-ASIAONE");

    // It expires within two minutes: the next request asks again, with the token that the platform has
    // put there since.
    std::fs::write(file.path(), "second-token\n").expect("written");
    for _ in 0..3 {
        let (_, token) = signed(&signer).await.expect("signed");
        assert_eq!(token, "session-ASIATWO");
    }
    let asked = sts.asked();
    assert_eq!(asked.len(), 2, "kept while it is valid");
    for (asked, token) in asked.iter().zip(["first-token", "second-token"]) {
        let text = everything(asked);
        assert!(text.contains("Action=AssumeRoleWithWebIdentity"), "{text}");
        assert!(text.contains(&format!("WebIdentityToken={token}&")), "{text}");
    }
}

#[tokio::test]
async fn a_container_is_lent_its_role() {
    let host = Scripted::start(&[("/role", &[(200, &lent("ASIACONT"))])]).await;
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), TOKEN).expect("written");
    let signer = signer(&variables(&[
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/role", host.base_url)),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.path().to_str().expect("path")),
    ]));
    let (authorization, token) = signed(&signer).await.expect("signed");
    assert!(authorization.contains("Credential=ASIACONT/"), "{authorization}");
    assert_eq!(token, "session-ASIACONT");
    assert_eq!(host.asked()[0].header("authorization"), TOKEN);
}

#[tokio::test]
async fn an_instance_is_lent_its_role_after_a_put() {
    let roles = "/latest/meta-data/iam/security-credentials/";
    let host = Scripted::start(&[
        ("/latest/api/token", &[(200, "metadata-token")]),
        (roles, &[(200, "corridor-role")]),
        (&format!("{roles}corridor-role"), &[(200, &lent("ASIAINST"))]),
    ])
    .await;
    let signer = signer(&variables(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &host.base_url)]));
    let (authorization, _) = signed(&signer).await.expect("signed");
    assert!(authorization.contains("Credential=ASIAINST/"), "{authorization}");
    let asked = host.asked();
    assert_eq!((asked[0].method.as_str(), &*asked[0].path), ("PUT", "/latest/api/token"));
    assert!(asked[1..].iter().all(|it| it.header("x-aws-ec2-metadata-token") == "metadata-token"));
}

#[tokio::test]
async fn refusals_are_said_and_hold_no_secret() {
    let denied = "<ErrorResponse><Error><Code>AccessDenied</Code>\
                  <Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>";
    let sts = Scripted::start(&[("/", &[(403, denied)])]).await;
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), TOKEN).expect("written");
    let path = file.path().to_str().expect("path");
    let role = ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/corridor");
    let cases: [(Vec<(&str, &str)>, &str); 4] = [
        (
            vec![
                ("AWS_WEB_IDENTITY_TOKEN_FILE", path),
                role,
                ("AWS_ENDPOINT_URL_STS", &sts.base_url),
            ],
            "AccessDenied",
        ),
        (vec![("AWS_WEB_IDENTITY_TOKEN_FILE", "/none"), role], "/none"),
        (
            vec![
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://lender.example/role"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", TOKEN),
            ],
            "must be https or on this host",
        ),
        (vec![("AWS_EC2_METADATA_DISABLED", "true")], "credential"),
    ];
    for (given, expected) in cases {
        let fault = signed(&signer(&variables(&given))).await.expect_err("refused");
        assert!(fault.contains(expected), "{given:?}: {fault}");
        assert!(!fault.contains("canary"), "{fault}");
    }
}

#[tokio::test]
async fn a_refusal_names_its_address_and_a_missing_variable_its_name() {
    let refused = r#"{"Code":"Forbidden","Message":"no role for canary-token"}"#;
    let denied = "<ErrorResponse><Error><Code>ExpiredToken</Code>\
                  <Message>canary-token is too old</Message></Error></ErrorResponse>";
    let host = Scripted::start(&[
        ("/role", &[(403, refused)]),
        ("/latest/api/token", &[(405, "")]),
        ("/", &[(400, denied)]),
    ])
    .await;
    let (address, role_url) = (host.base_url.as_str(), format!("{}/role?a=b", host.base_url));
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), TOKEN).expect("written");
    let path = file.path().to_str().expect("path");
    let role = ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/corridor");
    let with_slash = format!("{address}/");
    type Case<'a> = (Vec<(&'a str, &'a str)>, Vec<String>);
    let cases: [Case<'_>; 6] = [
        (
            vec![
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &role_url),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", TOKEN),
            ],
            vec![
                format!("{address}/role answered HTTP 403"),
                "Forbidden: no role for …".to_owned(),
            ],
        ),
        (
            vec![("AWS_EC2_METADATA_SERVICE_ENDPOINT", address)],
            vec![format!("{address}/latest/api/token answered HTTP 405")],
        ),
        (
            vec![("AWS_EC2_METADATA_SERVICE_ENDPOINT", &with_slash)],
            vec![format!("{address}/latest/api/token answered HTTP 405")],
        ),
        (
            vec![("AWS_WEB_IDENTITY_TOKEN_FILE", path), role, ("AWS_ENDPOINT_URL_STS", address)],
            vec![format!("{address}/ answered HTTP 400"), "ExpiredToken: … is too old".to_owned()],
        ),
        (vec![("AWS_WEB_IDENTITY_TOKEN_FILE", path)], vec!["not AWS_ROLE_ARN".to_owned()]),
        (
            vec![("AWS_EC2_METADATA_DISABLED", "true")],
            vec!["AWS_EC2_METADATA_DISABLED is true".to_owned()],
        ),
    ];
    for (given, expected) in cases {
        let fault = signed(&signer(&variables(&given))).await.expect_err("refused");
        for words in expected {
            assert!(fault.contains(&words), "{given:?}: {fault}");
        }
        assert!(!fault.contains("canary") && !fault.contains("a=b"), "{fault}");
    }
}

#[test]
fn each_partition_has_its_domain() {
    for (region, domain) in [
        ("eu-central-1", "amazonaws.com"),
        ("us-gov-west-1", "amazonaws.com"),
        ("cn-north-1", "amazonaws.com.cn"),
        ("cn-northwest-1", "amazonaws.com.cn"),
        ("eusc-de-east-1", "amazonaws.eu"),
        ("us-iso-east-1", "c2s.ic.gov"),
        ("us-isob-east-1", "sc2s.sgov.gov"),
        ("us-isof-south-1", "csp.hci.ic.gov"),
        ("eu-isoe-west-1", "cloud.adc-e.uk"),
    ] {
        assert_eq!(domain_of(region), domain, "{region}");
    }
}

#[test]
fn the_path_by_which_a_container_gets_credentials_is_not_shown() {
    for (url, expected) in [
        ("http://169.254.170.2/v2/credentials/0b5d", "http://169.254.170.2/…"),
        ("http://169.254.169.254/latest/api/token", "http://169.254.169.254/latest/api/token"),
        ("https://sts.amazonaws.com/?x=1", "https://sts.amazonaws.com/"),
    ] {
        assert_eq!(address_of(&Url::parse(url).expect(url)), expected);
    }
}
