//! The samples of reverse proxies, loaded by the proxies that are installed here.

use std::path::Path;
use std::process::Command;

use super::tree;

/// Runs a check of a configuration; a proxy that is not installed is listed.
fn accepts(program: &str, args: &[&str], file: &Path) {
    let run = Command::new(program).args(args).arg(file).output();
    let output = match run {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("\n-- NOT CHECKED: ops/proxy (not installed: {program})");
            return;
        }
        run => run.expect("runs"),
    };
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{program}: {text}");
}

/// A directory with certificates of both hosts, also as one file each for HAProxy.
fn certificates() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for host in ["api.bank.example", "console.bank.example"] {
        let made = rcgen::generate_simple_self_signed(vec![host.to_owned()]).expect("made");
        let (cert, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        std::fs::create_dir_all(dir.path().join("combined")).expect("created");
        for (name, text) in [
            (format!("{host}.pem"), cert.clone()),
            (format!("{host}.key"), key.clone()),
            (format!("combined/{host}.pem"), cert + &key),
        ] {
            std::fs::write(dir.path().join(name), text).expect("written");
        }
    }
    dir
}

#[test]
fn nginx_loads_its_sample() {
    let dir = certificates();
    let at = dir.path().display();
    let sample = tree("ops/proxy/nginx.conf").replace("/etc/ssl/corridor", &at.to_string());
    // Ports below 1024 are root's.
    let sample = sample.replace(":443", ":9443").replace("listen 443", "listen 9443");
    let text = format!(
        "pid {at}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{sample}\n}}\n"
    );
    let file = dir.path().join("nginx.conf");
    std::fs::write(&file, text).expect("written");
    accepts("nginx", &["-t", "-c"], &file);
}

#[test]
fn haproxy_loads_its_sample() {
    let dir = certificates();
    let combined = format!("{}/combined/", dir.path().display());
    let sample = tree("ops/proxy/haproxy.cfg").replace("/etc/ssl/corridor/", &combined);
    let file = dir.path().join("haproxy.cfg");
    std::fs::write(&file, sample).expect("written");
    accepts("haproxy", &["-c", "-f"], &file);
}

#[test]
fn caddy_loads_its_sample() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("Caddyfile");
    std::fs::write(&file, tree("ops/proxy/Caddyfile")).expect("written");
    accepts("caddy", &["validate", "--adapter", "caddyfile", "--config"], &file);
}
