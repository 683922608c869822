//! The secrets directory: files from `LoadCredential=` and mounted secrets are read, and any other
//! file is an error.

use super::*;

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    dir
}

fn load_with(dir: &tempfile::TempDir, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let path = dir.path().to_str().expect("UTF-8");
    load("", &[env, &[("CORRIDOR_SECRETS_DIR", path)]].concat(), &[])
}

#[test]
fn every_file_is_the_secret_of_its_name() {
    let dir = directory(&[
        ("STORE__URL", "postgres://me:pw@db/corridor\n"),
        ("CORRIDOR_CHAIN__KEYS__PKCS11_PIN", "1234\r\n"),
        ("RAILS__PAK_RAAST__TOKEN", "of the bank"),
        ("chain__node_url", "https://node.example/key"),
        ("..data", "where a mount keeps its versions"),
    ]);
    std::fs::create_dir(dir.path().join("kubernetes.io")).expect("made");
    let config = load_with(&dir, &[]).expect("valid");
    assert_eq!(config.store.url.expose(), "postgres://me:pw@db/corridor");
    assert_eq!(config.chain.keys.pkcs11_pin.expose(), "1234");
    assert_eq!(config.chain.node_url.expose(), "https://node.example/key");
    let raast = config.rails.iter().find(|rail| rail.id == "pak-raast").expect("known");
    assert_eq!(raast.token.expose(), "of the bank");
    assert!(config.plain_text_secrets.is_empty(), "{:?}", config.plain_text_secrets);
}

#[test]
fn unknown_and_duplicate_secrets_are_reported() {
    for name in ["HTTP__LISTEN", "STORE__URL~", "README", "RAILS__TOKEN"] {
        let message = load_with(&directory(&[(name, "x")]), &[]).expect_err(name).to_string();
        assert!(message.contains("CORRIDOR_SECRETS_DIR") && message.contains(name), "{message}");
    }
    let dir = directory(&[("STORE__URL", "sqlite:a.db")]);
    let message =
        load_with(&dir, &[("CORRIDOR_STORE__URL", "sqlite:b.db")]).expect_err("twice").to_string();
    assert!(message.contains("set the same key"), "{message}");
    let elsewhere = directory(&[("url", "sqlite:b.db")]);
    let other = elsewhere.path().join("url").display().to_string();
    let own = dir.path().join("STORE__URL").display().to_string();
    let both = load_with(&dir, &[("CORRIDOR_STORE__URL_FILE", &other)]);
    let message = both.expect_err("twice").to_string();
    assert!(message.contains(&own) && message.contains(&other), "{message}");
}

#[test]
fn a_missing_directory_is_reported_and_an_empty_one_ignored() {
    let message = refused("", &[("CORRIDOR_SECRETS_DIR", "/nowhere/at/all")]);
    assert!(message.contains("/nowhere/at/all"), "{message}");
    assert!(load("", &[("CORRIDOR_SECRETS_DIR", "")], &[]).is_ok());
    assert!(load_with(&directory(&[]), &[]).is_ok());
}
