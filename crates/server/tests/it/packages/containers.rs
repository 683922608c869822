//! The Dockerfile and the compose file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{document, known, tree};

const DOCKERFILE: &str = "ops/docker/Dockerfile";

/// Instructions with continued lines joined: (`ENV`, `A=b …`).
fn instructions() -> Vec<(String, String)> {
    let text = tree(DOCKERFILE).replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        line.split_once(' ').map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
    };
    lines.map(|line| pair(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

/// The instructions of the final image, after the last `FROM`.
fn image() -> Vec<(String, String)> {
    let all = instructions();
    let last = all.iter().rposition(|(name, _)| name == "FROM").expect("an image");
    all[last..].to_vec()
}

fn one(instructions: &[(String, String)], name: &str) -> String {
    let found: Vec<&String> =
        instructions.iter().filter(|(known, _)| known == name).map(|(_, rest)| rest).collect();
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found[0].clone()
}

fn words(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn image_environment() -> BTreeMap<String, String> {
    let text = one(&image(), "ENV");
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').expect("NAME=value"));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn the_image_runs_the_program_unprivileged() {
    let image = image();
    assert_eq!(words(&one(&image, "ENTRYPOINT")), ["/usr/bin/corridor"]);
    let command = words(&one(&image, "CMD"));
    known::command_line(&command.iter().map(String::as_str).collect::<Vec<_>>());
    let environment = image_environment();
    let config = known::environment(&environment.clone().into_iter().collect::<Vec<_>>());
    assert_eq!(one(&image, "EXPOSE"), config.http.listen.port().to_string());
    assert!(config.http.listen.ip().is_unspecified(), "it is reached from outside its container");
    assert_eq!(one(&image, "STOPSIGNAL"), "SIGTERM");
    let (user, group) = one(&image, "USER")
        .split_once(':')
        .map(|(u, g)| (u.to_owned(), g.to_owned()))
        .expect("both");
    assert!(user.parse::<u32>().expect("a number") > 0, "not root");
    let build = instructions().iter().find(|(name, _)| name == "RUN").expect("a build").1.clone();
    let state = environment["CORRIDOR_DATA_DIR"].clone();
    assert!(
        build.contains(&format!("install -d -m 0750 -o {user} -g {group} /out{state}")),
        "the state is its own"
    );
    assert_eq!(words(&one(&image, "VOLUME")), [state]);
    assert!(
        build.contains("cargo build --profile dist --locked --package server --bin corridor --no-default-features"),
        "{build}"
    );
    assert!(
        !image.iter().any(|(name, _)| name == "RUN" || name == "ADD"),
        "there is no shell to run anything"
    );
}

#[test]
fn health_is_asked_with_a_command_of_the_program() {
    let (_, command) = one(&image(), "HEALTHCHECK")
        .split_once("CMD ")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("a command");
    let command = words(&command);
    assert_eq!(command[0], "/usr/bin/corridor");
    known::command_line(&command[1..].iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn the_image_is_built_with_the_rust_that_the_tree_asks_for() {
    let manifest: toml::Table = tree("Cargo.toml").parse().expect("TOML");
    let version = manifest["workspace"]["package"]["rust-version"].as_str().expect("a version");
    let (name, from) = instructions()[0].clone();
    assert_eq!(
        (name.as_str(), from.as_str()),
        ("FROM", format!("docker.io/library/rust:{version}-bookworm AS build").as_str())
    );
    // A program built on bookworm runs on bookworm's glibc.
    assert!(image()[0].1.contains("debian12"), "{:?}", image()[0]);
}

fn compose() -> Value {
    document(&tree("ops/docker/compose.yml"))
}

fn environment(service: &Value) -> Vec<(String, String)> {
    let given = service["environment"].as_object().expect("a map").iter();
    let given =
        given.map(|(name, value)| (name.clone(), value.as_str().expect("a text").to_owned()));
    let mut all = image_environment();
    all.extend(given);
    all.into_iter().collect()
}

#[test]
fn compose_starts_postgres_then_a_migration_then_two_equal_nodes() {
    let compose = compose();
    let services = compose["services"].as_object().expect("services");
    assert_eq!(services.keys().collect::<Vec<_>>(), ["migrate", "node1", "node2", "postgres"]);
    assert_eq!(services["migrate"]["depends_on"]["postgres"]["condition"], "service_healthy");
    for node in ["node1", "node2"] {
        assert_eq!(
            services[node]["depends_on"]["migrate"]["condition"], "service_completed_successfully",
            "{node}"
        );
        assert_eq!(services[node]["command"], json!(["serve", "--role", "all"]), "{node}");
        let drain = known::environment(&environment(&services[node])).http.drain_timeout_s;
        let grace =
            services[node]["stop_grace_period"].as_str().and_then(|text| text.strip_suffix('s'));
        assert!(grace.expect("seconds").parse::<u64>().expect("a number") > drain, "{node}");
    }
    let [one, two] = ["node1", "node2"]
        .map(|node| services[node]["ports"][0].as_str().expect("a port").to_owned());
    assert_ne!(one, two);
    assert_eq!(environment(&services["node1"]), environment(&services["node2"]));
}

#[test]
fn our_containers_are_read_only_and_their_secrets_are_files() {
    let compose = compose();
    let services = compose["services"].as_object().expect("services");
    let user = one(&image(), "USER");
    for name in ["migrate", "node1", "node2"] {
        let service = &services[name];
        let command: Vec<&str> = service["command"]
            .as_array()
            .expect("words")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        known::command_line(&command);
        let variables: BTreeMap<String, String> = environment(service).into_iter().collect();
        let config = known::environment(&environment(service));
        for port in service["ports"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(port.ends_with(&format!(":{}", config.http.listen.port())), "{name}: {port}");
        }
        assert_eq!(service["user"], user.as_str(), "{name}");
        assert_eq!(
            (&service["read_only"], &service["cap_drop"]),
            (&json!(true), &json!(["ALL"])),
            "{name}"
        );
        assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]), "{name}");
        let writable = service["tmpfs"][0].as_str().expect("a tmpfs");
        assert!(
            writable.starts_with(&format!("{}:", variables["CORRIDOR_DATA_DIR"])),
            "{name}: {writable}"
        );
        for secret in service["secrets"].as_array().expect("secrets") {
            let (dir, file) =
                secret["target"].as_str().and_then(|path| path.rsplit_once('/')).expect("a path");
            assert_eq!(dir, variables[known::SECRETS_DIR], "{name}");
            known::secrets(&[file]);
            let source = secret["source"].as_str().expect("a source");
            assert!(compose["secrets"][source]["file"].is_string(), "{source}");
        }
    }
}

#[test]
fn every_secret_of_compose_is_made_by_its_script() {
    let (compose, script) = (compose(), tree("ops/docker/make-secrets"));
    for (name, secret) in compose["secrets"].as_object().expect("secrets") {
        let file = secret["file"].as_str().expect("a file");
        assert!(script.contains(&format!("if [ ! -e {file} ]; then")), "{name}: {file}");
    }
    let ignored = tree("ops/docker/.gitignore");
    assert!(ignored.lines().any(|line| line == "/secrets/"), "secrets are not committed");
    assert!(
        tree("ops/docker/Dockerfile.dockerignore").lines().any(|line| line == "ops/docker/secrets")
    );
}
