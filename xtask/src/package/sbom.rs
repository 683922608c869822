//! `cargo xtask sbom`: the parts of the released program, as CycloneDX 1.6 in JSON, from cargo's
//! own data: offline, and reproducible for each commit. Parts that only tests use are excluded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::release::{hex, run};

/// The package whose parts are listed.
const PROGRAM: &str = "server";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    repository: Option<String>,
    manifest_path: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The document. `epoch`: its timestamp, in seconds since 1970.
pub fn document(root: &Path, epoch: u64) -> anyhow::Result<String> {
    let host = host()?;
    let metadata =
        ["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", &host];
    let metadata: Metadata = serde_json::from_str(&cargo(root, &metadata)?)?;
    let lock: Lock = toml::from_str(&std::fs::read_to_string(root.join("Cargo.lock"))?)?;
    let time = jiff::Timestamp::from_second(i64::try_from(epoch)?)?;
    let mut document = described(&metadata, &built_in(root, &host)?, &lock, &time.to_string())?;
    let text = serde_json::to_string(&document)?;
    document["serialNumber"] =
        Value::String(format!("urn:uuid:{}", uuid_of(&Sha256::digest(text))));
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn cargo(root: &Path, args: &[&str]) -> anyhow::Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = run(Command::new(cargo).args(args).current_dir(root));
    done.context("cargo runs offline; fetch missing crates with `cargo fetch --locked`")
}

/// Names and versions of all crates that a build of the program compiles. `cargo metadata` knows
/// the edges, but includes the features that only tests enable.
fn built_in(root: &Path, host: &str) -> anyhow::Result<BTreeSet<(String, String)>> {
    let args = [
        "tree",
        "--package",
        PROGRAM,
        "--edges=normal,build",
        "--prefix=none",
        "--locked",
        "--offline",
    ];
    let printed = cargo(root, &[&args[..], &["--target", host, "--format={p}"]].concat())?;
    let mut parts = BTreeSet::new();
    for line in printed.lines() {
        let (name, rest) =
            line.split_once(" v").with_context(|| format!("cargo tree: {line:?}"))?;
        let version = rest.split_whitespace().next().unwrap_or_default();
        parts.insert((name.to_owned(), version.to_owned()));
    }
    Ok(parts)
}

/// The platform of this build.
fn host() -> anyhow::Result<String> {
    let said = run(Command::new("rustc").arg("-vV"))?;
    let host =
        said.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

fn described(
    metadata: &Metadata,
    built_in: &BTreeSet<(String, String)>,
    lock: &Lock,
    time: &str,
) -> anyhow::Result<Value> {
    let is_built_in = |it: &&Package| built_in.contains(&(it.name.clone(), it.version.clone()));
    let packages = metadata.packages.iter().filter(is_built_in);
    let by_id: BTreeMap<&str, &Package> = packages.map(|it| (it.id.as_str(), it)).collect();
    let edges = edges(&metadata.resolve, &by_id);
    let own = metadata.packages.iter().find(|it| it.name == PROGRAM && it.source.is_none());
    let own = own.with_context(|| format!("there is no package {PROGRAM}"))?;
    let parts = reachable(&own.id, &edges);
    let mut components: Vec<Value> = Vec::new();
    let mut dependencies: Vec<Value> = Vec::new();
    for id in &parts {
        let package = by_id.get(id).with_context(|| format!("{id} is not described"))?;
        let mut needed: Vec<String> = Vec::new();
        for other in edges.get(id).into_iter().flatten() {
            needed
                .push(purl(by_id.get(other).with_context(|| format!("{other} is not described"))?));
        }
        if let Some(bundled) = bundled(package)? {
            needed.push(bundled["bom-ref"].as_str().unwrap_or_default().to_owned());
            dependencies.push(json!({ "ref": bundled["bom-ref"], "dependsOn": [] }));
            components.push(bundled);
        }
        needed.sort();
        dependencies.push(json!({ "ref": purl(package), "dependsOn": needed }));
        if package.id != own.id {
            components.push(component(package, lock)?);
        }
    }
    components.sort_by_key(|part| part["bom-ref"].to_string());
    dependencies.sort_by_key(|part| part["ref"].to_string());
    let mut program = component(own, lock)?;
    program["type"] = json!("application");
    program["name"] = json!("corridor");
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "timestamp": time, "component": program },
        "components": components,
        "dependencies": dependencies,
    }))
}

/// The dependencies between crates, without those that only tests use.
fn edges<'a>(
    resolve: &'a Resolve,
    parts: &BTreeMap<&str, &Package>,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let counts = |it: &&Dependency| {
        parts.contains_key(it.pkg.as_str())
            && it.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"))
    };
    let nodes = resolve.nodes.iter().filter(|node| parts.contains_key(node.id.as_str()));
    let mut edges = BTreeMap::new();
    for node in nodes {
        edges.insert(
            node.id.as_str(),
            node.deps.iter().filter(counts).map(|it| it.pkg.as_str()).collect(),
        );
    }
    edges
}

fn reachable<'a>(from: &'a str, edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(id) = open.pop() {
        open.extend(
            edges.get(id).into_iter().flatten().copied().filter(|other| seen.insert(other)),
        );
    }
    seen
}

fn component(package: &Package, lock: &Lock) -> anyhow::Result<Value> {
    let licence =
        package.license.as_deref().with_context(|| format!("{} names no licence", package.name))?;
    let mut part = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "scope": "required",
        // Older manifests separate alternatives by a slash.
        "licenses": [{ "expression": licence.replace('/', " OR ") }],
        "purl": purl(package),
    });
    if package.source.is_some() {
        let locked =
            lock.package.iter().find(|it| it.name == package.name && it.version == package.version);
        let checksum = locked.and_then(|it| it.checksum.as_deref());
        let checksum =
            checksum.with_context(|| format!("{}: Cargo.lock has no checksum", purl(package)))?;
        part["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        if let Some(url) = &package.repository {
            part["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
        }
    }
    Ok(part)
}

/// The C library that a crate bundles and that users look for by its own name.
fn bundled(package: &Package) -> anyhow::Result<Option<Value>> {
    if package.name != "libsqlite3-sys" {
        return Ok(None);
    }
    let dir = Path::new(&package.manifest_path).parent().context("a manifest's directory")?;
    let header = dir.join("sqlite3/sqlite3.h");
    let text = std::fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    let version =
        sqlite_version(&text).with_context(|| format!("{}: names no version", header.display()))?;
    Ok(Some(json!({
        "type": "library",
        "bom-ref": format!("pkg:generic/sqlite@{version}"),
        "name": "sqlite",
        "version": version,
        "scope": "required",
        "licenses": [{ "license": { "name": "Public Domain" } }],
        "purl": format!("pkg:generic/sqlite@{version}"),
        "cpe": format!("cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*"),
    })))
}

fn sqlite_version(header: &str) -> Option<&str> {
    let line = header.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION "))?;
    line.trim().strip_prefix('"')?.strip_suffix('"')
}

fn purl(package: &Package) -> String {
    if package.source.is_none() {
        return format!("pkg:generic/corridor-{}@{}", package.name, package.version);
    }
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

/// A version 8 UUID (RFC 9562) of a digest.
fn uuid_of(digest: &[u8]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// Checks the document; returns the number of its parts.
pub fn examine(text: &str) -> anyhow::Result<usize> {
    let document: Value = serde_json::from_str(text)?;
    let components = document["components"].as_array().context("no components")?;
    let refs: BTreeSet<&str> =
        components.iter().filter_map(|part| part["bom-ref"].as_str()).collect();
    ensure!(refs.len() == components.len(), "a part is listed twice");
    for part in components {
        let purl = part["purl"].as_str().context("a part without purl")?;
        ensure!(part["licenses"][0].is_object(), "{purl}: no licence");
        ensure!(
            !purl.starts_with("pkg:cargo/") || part["hashes"][0]["content"].is_string(),
            "{purl}: no checksum"
        );
    }
    let own = document["metadata"]["component"]["bom-ref"].as_str().context("no program")?;
    for edge in document["dependencies"].as_array().context("no dependencies")? {
        let ends = edge["dependsOn"]
            .as_array()
            .into_iter()
            .flatten()
            .chain([&edge["ref"]])
            .filter_map(Value::as_str);
        for end in ends {
            ensure!(end == own || refs.contains(end), "{end} is needed and not listed");
        }
    }
    for known in ["pkg:cargo/tokio@", "pkg:cargo/rustls@", "pkg:generic/sqlite@"] {
        ensure!(refs.iter().any(|part| part.starts_with(known)), "{known} is missing");
    }
    for tests_only in ["pkg:cargo/proptest@", "pkg:cargo/insta@"] {
        ensure!(
            !refs.iter().any(|part| part.starts_with(tests_only)),
            "{tests_only} is used by tests alone"
        );
    }
    Ok(components.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_document() -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        document(root, 1_795_362_256).expect("made")
    }

    #[test]
    fn the_list_is_complete_and_the_same_each_time() {
        let text = own_document();
        assert!(examine(&text).expect("in order") > 100);
        assert_eq!(text, own_document());
        assert!(text.contains("\"timestamp\": \"2026-11-22T15:44:16Z\""), "the commit's time");
    }

    #[test]
    fn missing_parts_are_found() {
        let text = own_document();
        let renamed = text.replace("pkg:generic/sqlite@", "pkg:generic/other@");
        assert!(examine(&renamed).expect_err("no SQLite").to_string().contains("sqlite"));
        let unhashed = text.replace("\"content\"", "\"contents\"");
        assert!(examine(&unhashed).expect_err("no checksums").to_string().contains("no checksum"));
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        document["components"].as_array_mut().expect("a list").remove(0);
        assert!(examine(&document.to_string()).is_err(), "a part is needed and not listed");
    }

    #[test]
    fn identifiers_are_uuids_of_the_content() {
        assert_eq!(uuid_of(&[0xff; 32]), "ffffffff-ffff-8fff-bfff-ffffffffffff");
        assert_eq!(sqlite_version("#define SQLITE_VERSION        \"3.51.0\"\n"), Some("3.51.0"));
    }
}
