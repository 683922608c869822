//! `cargo xtask package --check`: builds and inspects everything, has systemd analyze the unit, and
//! runs the packaged program as its user would. Needs no container and installs nothing; skipped
//! checks are reported.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};

use super::release::{self, Effort, Release, run as tool};
use super::sbom;
use super::{deb, tarball, trial};

/// Maximum exposure that `systemd-analyze security` may report, in tenths: 2.0 of 10.
const EXPOSURE_MAX: u32 = 20;
const UNIT: &str = "lib/systemd/system/corridor.service";

/// Prints a line for each check; fails at the first that does not hold.
pub fn run(root: &Path, release: &Release) -> anyhow::Result<ExitCode> {
    let work = tempfile::tempdir()?;
    let (first, second) = (work.path().join("first"), work.path().join("second"));
    let mut made = Vec::new();
    for out in [&first, &second] {
        std::fs::create_dir(out)?;
        made.push([
            deb::build(root, release, out, Effort::Least)?,
            tarball::build(root, release, out, Effort::Least)?,
        ]);
    }
    said("reproducible build", &same_bytes(&made[0], &made[1])?);
    let [package, archive] = &made[0];
    said("SHA256SUMS", release::checksums(&made[0])?.trim_end());
    let installed = work.path().join("installed");
    tool(Command::new("dpkg-deb").arg("--extract").arg(package).arg(&installed))?;
    said("Debian package", &contents(package, &installed)?);
    said("tarball", &unpacked(archive, work.path())?);
    said(
        "list of parts",
        &format!("{} parts", sbom::examine(&sbom::document(root, release.epoch)?)?),
    );
    said("maintainer scripts", &scripts(package, work.path())?);
    match systemd(&installed)? {
        Some(text) => said("systemd", &text),
        None => println!("!! LEFT OUT: systemd-analyze is not installed: the unit was not checked"),
    }
    said("program under its user", &trial::run(&installed)?);
    Ok(ExitCode::SUCCESS)
}

fn said(what: &str, text: &str) {
    println!("{what}: {}", text.replace('\n', "\n    "));
}

fn same_bytes(first: &[PathBuf], second: &[PathBuf]) -> anyhow::Result<String> {
    for (one, other) in first.iter().zip(second) {
        ensure!(
            std::fs::read(one)? == std::fs::read(other)?,
            "{}: is not reproducible",
            one.display()
        );
    }
    Ok(format!("{} files", first.len()))
}

/// The files that administrators rely on, with their modes.
const EXPECTED: [(&str, &str); 16] = [
    ("-rwxr-xr-x", "./usr/bin/corridor"),
    ("-rwxr-xr-x", "./usr/sbin/corridor-admin"),
    ("-rw-r--r--", "./lib/systemd/system/corridor.service"),
    ("-rw-r--r--", "./lib/systemd/system/corridor-relay@.service"),
    ("-rw-r-----", "./etc/corridor/corridor.toml"),
    ("drwxr-x---", "./etc/corridor/secrets/"),
    ("-rw-r--r--", "./usr/share/man/man1/corridor.1.gz"),
    ("-rw-r--r--", "./usr/share/man/man1/corridor-serve.1.gz"),
    ("-rw-r--r--", "./usr/share/man/man8/corridor-admin.8.gz"),
    ("-rw-r--r--", "./usr/share/bash-completion/completions/corridor"),
    ("-rw-r--r--", "./usr/share/zsh/vendor-completions/_corridor"),
    ("-rw-r--r--", "./usr/share/fish/vendor_completions.d/corridor.fish"),
    ("-rw-r--r--", "./usr/share/doc/corridor/copyright"),
    ("-rw-r--r--", "./usr/share/doc/corridor/sbom.cdx.json.gz"),
    ("-rw-r--r--", "./usr/share/doc/corridor/examples/alerts.yml"),
    ("-rw-r--r--", "./usr/share/doc/corridor/examples/dashboard.json"),
];

fn contents(package: &Path, installed: &Path) -> anyhow::Result<String> {
    let listed = tool(Command::new("dpkg-deb").arg("--contents").arg(package))?;
    for (mode, path) in EXPECTED {
        let line = listed.lines().find(|line| line.split_whitespace().last() == Some(path));
        let line = line.with_context(|| format!("{path} is missing"))?;
        ensure!(line.starts_with(mode), "{path}: should be {mode}: {line}");
    }
    for line in listed.lines() {
        ensure!(line.contains(" root/root "), "not owned by root: {line}");
        ensure!(!line.starts_with("-rws") && line.chars().nth(8) != Some('w'), "too open: {line}");
    }
    // dpkg's checksums must match the files to be installed.
    let control = installed.with_extension("control");
    tool(Command::new("dpkg-deb").arg("--control").arg(package).arg(&control))?;
    tool(
        Command::new("md5sum")
            .args(["--check", "--strict", "--quiet"])
            .arg(control.join("md5sums"))
            .current_dir(installed),
    )?;
    let fields = tool(Command::new("dpkg-deb").arg("--field").arg(package).args([
        "Version",
        "Architecture",
        "Depends",
    ]))?;
    Ok(format!("{} entries\n{}", listed.lines().count(), fields.trim_end()))
}

fn unpacked(archive: &Path, work: &Path) -> anyhow::Result<String> {
    let dir = work.join("unpacked");
    std::fs::create_dir(&dir)?;
    tool(
        Command::new("tar")
            .arg("--extract")
            .arg("--file")
            .arg(archive)
            .arg("--directory")
            .arg(&dir),
    )?;
    let name = archive.file_name().and_then(|name| name.to_str()).context("a UTF-8 name")?;
    let top = dir.join(name.strip_suffix(".tar.gz").context("ends with .tar.gz")?);
    let version = tool(Command::new(top.join("bin/corridor")).arg("--version"))?;
    let readme = std::fs::read_to_string(top.join("README"))?;
    sbom::examine(&std::fs::read_to_string(top.join("share/doc/corridor/sbom.cdx.json"))?)?;
    let needs = readme
        .lines()
        .find(|line| line.starts_with("The program"))
        .context("README does not list the requirements")?;
    Ok(format!("{name}\n{}\n{needs}", version.trim_end()))
}

fn scripts(package: &Path, work: &Path) -> anyhow::Result<String> {
    let control = work.join("scripts");
    tool(Command::new("dpkg-deb").arg("--control").arg(package).arg(&control))?;
    for script in ["postinst", "prerm", "postrm"] {
        tool(Command::new("sh").arg("-n").arg(control.join(script)))?;
    }
    let conffiles = std::fs::read_to_string(control.join("conffiles"))?;
    ensure!(conffiles == "/etc/corridor/corridor.toml\n", "conffiles: {conffiles:?}");
    Ok("3 read by the shell, 1 conffile".to_owned())
}

/// Both analyses; `None` if the tool is not installed.
fn systemd(installed: &Path) -> anyhow::Result<Option<String>> {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return Ok(None);
    }
    // The unit contains the installed path of the program, which differs here.
    let unit = installed.with_file_name("corridor.service");
    let text = std::fs::read_to_string(installed.join(UNIT))?;
    let program = installed.join("usr/bin/corridor");
    let placed = text.replace("/usr/bin/corridor", program.to_str().context("a UTF-8 path")?);
    ensure!(placed != text, "the unit does not start /usr/bin/corridor");
    std::fs::write(&unit, placed)?;
    let verified =
        Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output()?;
    let complaints = [verified.stdout, verified.stderr].concat();
    let complaints = String::from_utf8_lossy(&complaints).into_owned();
    let about_ours: Vec<&str> =
        complaints.lines().filter(|line| line.contains("corridor")).collect();
    ensure!(
        verified.status.success() && about_ours.is_empty(),
        "systemd-analyze verify: {complaints}"
    );
    let threshold = format!("--threshold={EXPOSURE_MAX}");
    let mut security = Command::new("systemd-analyze");
    security.args(["security", "--offline=true", "--no-pager", &threshold]).arg(&unit);
    let judged = tool(&mut security)?;
    let verdict =
        judged.lines().rev().find(|line| line.contains("exposure level")).context("no verdict")?;
    let verdict: String = verdict.chars().filter(char::is_ascii).collect();
    Ok(Some(format!("verified;{verdict}")))
}
