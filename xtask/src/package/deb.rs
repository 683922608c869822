//! Builds the Debian package with `dpkg-deb`: program, unit, configuration, manual, completions,
//! maintainer scripts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::release::{Effort, Release, run};
use super::stage::{DATA, PROGRAM, Stage, all_files};

/// A shell, and the path of its completion script.
pub const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/corridor"),
    ("zsh", "usr/share/zsh/vendor-completions/_corridor"),
    ("fish", "usr/share/fish/vendor_completions.d/corridor.fish"),
];
/// A configuration file, which upgrades must not overwrite.
const CONFFILES: [&str; 1] = ["etc/corridor/corridor.toml"];
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];
const MAINTAINER: &str = "The Corridor maintainers <maintainers@users.noreply.corridor.example>";
const DOC: &str = "usr/share/doc/corridor";

/// Writes the package into `out` and returns its path.
pub fn build(
    root: &Path,
    release: &Release,
    out: &Path,
    effort: Effort,
) -> anyhow::Result<PathBuf> {
    let stage = Stage::new(root, release)?;
    files(&stage)?;
    let control = control(root, release, stage.installed_kib()?)?;
    stage.write("DEBIAN/md5sums", md5sums(stage.path())?, DATA)?;
    stage.write("DEBIAN/control", control, DATA)?;
    stage.write("DEBIAN/conffiles", CONFFILES.map(|path| format!("/{path}\n")).concat(), DATA)?;
    for script in SCRIPTS {
        stage.copy(&format!("ops/debian/{script}"), &format!("DEBIAN/{script}"), PROGRAM)?;
    }
    let path = out.join(format!("corridor_{}_{}.deb", version(&release.version), architecture()?));
    let mut command = Command::new("dpkg-deb");
    let compression: &[&str] = if effort == Effort::Full { &["-Zxz"] } else { &["-Zgzip", "-z1"] };
    command.arg("--root-owner-group").args(compression).arg("--build").arg(stage.path()).arg(&path);
    run(command.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    Ok(path)
}

pub const RELAY_UNIT: &str = "ops/debian/corridor-relay@.service";

fn files(stage: &Stage<'_>) -> anyhow::Result<()> {
    stage.program("usr/bin/corridor")?;
    stage.copy("ops/debian/corridor-admin", "usr/sbin/corridor-admin", PROGRAM)?;
    stage.copy("ops/debian/corridor.service", "lib/systemd/system/corridor.service", DATA)?;
    stage.copy(RELAY_UNIT, "lib/systemd/system/corridor-relay@.service", DATA)?;
    // Their group is created at installation: see postinst.
    stage.copy("ops/debian/corridor.toml", CONFFILES[0], 0o640)?;
    stage.directory("etc/corridor/secrets", 0o750)?;
    stage.manual("usr/share/man/man1")?;
    stage.compressed(
        "usr/share/man/man8/corridor-admin.8.gz",
        stage.read("ops/debian/corridor-admin.8")?,
    )?;
    for (shell, to) in COMPLETIONS {
        stage.completions(shell, to)?;
    }
    stage.copy("ops/debian/copyright", &format!("{DOC}/copyright"), DATA)?;
    stage.copy("ops/debian/README.Debian", &format!("{DOC}/README.Debian"), DATA)?;
    stage.compressed(&format!("{DOC}/changelog.gz"), changelog(stage.release)?)?;
    stage.compressed(&format!("{DOC}/CHANGELOG.md.gz"), stage.read("CHANGELOG.md")?)?;
    stage.compressed(&format!("{DOC}/sbom.cdx.json.gz"), stage.sbom()?)?;
    let reference = stage.release.ask(&["config", "reference"])?;
    stage.write(&format!("{DOC}/examples/reference.toml"), reference, DATA)?;
    for name in ["alerts.yml", "dashboard.json"] {
        stage.copy(&format!("ops/monitoring/{name}"), &format!("{DOC}/examples/{name}"), DATA)?;
    }
    stage.copy("ops/debian/lintian-overrides", "usr/share/lintian/overrides/corridor", DATA)
}

/// The one entry of the package's own changelog; the program's is CHANGELOG.md.
fn changelog(release: &Release) -> anyhow::Result<String> {
    let time = jiff::Timestamp::from_second(i64::try_from(release.epoch)?)?
        .to_zoned(jiff::tz::TimeZone::UTC);
    let (version, time) = (version(&release.version), jiff::fmt::rfc2822::to_string(&time)?);
    Ok(format!(
        "corridor ({version}) stable; urgency=medium\n\n  * What changed is in CHANGELOG.md.gz beside this file.\n\n -- {MAINTAINER}  {time}\n"
    ))
}

/// The control file of the tree, completed with the release's values.
fn control(root: &Path, release: &Release, installed_kib: u64) -> anyhow::Result<String> {
    let path = root.join("ops/debian/control");
    let template = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let text = template
        .replace("{maintainer}", MAINTAINER)
        .replace("{version}", &version(&release.version))
        .replace("{architecture}", architecture()?)
        .replace("{installed_kib}", &installed_kib.to_string())
        .replace("{libraries}", &depends(release)?);
    if let Some((_, rest)) = text.split_once('{') {
        bail!("{}: {{{} is not known", path.display(), rest.lines().next().unwrap_or_default());
    }
    Ok(text)
}

/// A pre-release sorts before its release: `1.0.0-rc.1` becomes `1.0.0~rc.1`.
fn version(version: &str) -> String {
    version.replace('-', "~")
}

fn architecture() -> anyhow::Result<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        other => bail!("no Debian architecture is known for {other}"),
    }
}

/// The packages of the program's shared libraries.
fn depends(release: &Release) -> anyhow::Result<String> {
    let mut packages: Vec<String> = Vec::new();
    for library in &release.libraries {
        packages.push(match library.as_str() {
            "libc.so.6"
            | "libm.so.6"
            | "libdl.so.2"
            | "libpthread.so.0"
            | "ld-linux-x86-64.so.2"
            | "ld-linux-aarch64.so.1" => {
                format!("libc6 (>= {}.{})", release.glibc.0, release.glibc.1)
            }
            "libgcc_s.so.1" => "libgcc-s1 (>= 4.2)".to_owned(),
            other => bail!("the program is linked with {other}: no package is known for it"),
        });
    }
    packages.sort();
    packages.dedup();
    Ok(packages.iter().map(|package| format!(", {package}")).collect())
}

/// The checksums for `dpkg --verify`; conffiles have theirs elsewhere.
fn md5sums(dir: &Path) -> anyhow::Result<String> {
    let mut names = Vec::new();
    for file in all_files(dir)? {
        let name = file.strip_prefix(dir)?.to_str().context("a UTF-8 path")?.to_owned();
        if !CONFFILES.contains(&name.as_str()) {
            names.push(name);
        }
    }
    run(Command::new("md5sum").args(names).current_dir(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(libraries: &[&str]) -> Release {
        Release {
            binary: PathBuf::new(),
            version: "1.2.3-rc.1".to_owned(),
            epoch: 0,
            libraries: libraries.iter().map(|name| (*name).to_owned()).collect(),
            glibc: (2, 34),
        }
    }

    #[test]
    fn libraries_become_packages_and_an_unknown_one_is_reported() {
        let known = release(&["ld-linux-x86-64.so.2", "libc.so.6", "libgcc_s.so.1", "libm.so.6"]);
        assert_eq!(depends(&known).expect("known"), ", libc6 (>= 2.34), libgcc-s1 (>= 4.2)");
        assert_eq!(depends(&release(&[])).expect("static"), "");
        assert!(
            depends(&release(&["libssl.so.3"]))
                .expect_err("unknown")
                .to_string()
                .contains("libssl.so.3")
        );
    }

    #[test]
    fn a_candidate_sorts_before_its_release() {
        assert_eq!(version("1.2.3-rc.1"), "1.2.3~rc.1");
        assert_eq!(version("1.2.3"), "1.2.3");
    }
}
