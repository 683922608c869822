//! The tarball: program, manual, completions, systemd unit, software bill of materials. Sorted
//! names, no owner, one timestamp: reproducible for each commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::release::{Effort, Release, run};
use super::stage::{DATA, PROGRAM, Stage};

/// The system requirements, below the name in `README`.
fn readme(release: &Release) -> String {
    let (major, minor) = release.glibc;
    let linked = release.libraries.join(" ");
    let needs = if release.libraries.is_empty() {
        "The program is linked statically: any Linux of this architecture runs it.".to_owned()
    } else {
        format!(
            "The program needs Linux with glibc {major}.{minor} or newer (linked with {linked}; everything else,\n\
             SQLite and TLS among it, is inside). A static build could not load the library of an HSM (PKCS#11)."
        )
    };
    format!(
        "Corridor {}\n\n{needs}\n\n\
         bin/corridor --help         the program\n\
         share/man, share/…          manual pages and completions\n\
         lib/systemd/system          the unit that the Debian package installs; it wants user and group `corridor`,\n\
         \x20                           /etc/corridor/corridor.toml and the directory /etc/corridor/secrets\n\
         share/doc/corridor          licence, list of all parts (CycloneDX), the configuration with every key\n\n\
         Begin with `bin/corridor sandbox`: everything on this machine, nothing real.\n",
        release.version
    )
}

/// Writes the tarball into `out` and returns its path.
pub fn build(
    root: &Path,
    release: &Release,
    out: &Path,
    effort: Effort,
) -> anyhow::Result<PathBuf> {
    let libc = if release.libraries.is_empty() { "musl" } else { "gnu" };
    let name = format!("corridor-{}-{}-linux-{libc}", release.version, std::env::consts::ARCH);
    let stage = Stage::new(root, release)?;
    let at = |path: &str| format!("{name}/{path}");
    stage.program(&at("bin/corridor"))?;
    stage.manual(&at("share/man/man1"))?;
    for (shell, to) in super::deb::COMPLETIONS {
        stage.completions(shell, &at(&to.replace("usr/", "")))?;
    }
    stage.copy("ops/debian/corridor.service", &at("lib/systemd/system/corridor.service"), DATA)?;
    let relay = at("lib/systemd/system/corridor-relay@.service");
    stage.copy(super::deb::RELAY_UNIT, &relay, DATA)?;
    stage.copy("ops/debian/corridor-admin", &at("share/doc/corridor/corridor-admin"), PROGRAM)?;
    stage.copy("ops/debian/corridor.toml", &at("share/doc/corridor/corridor.toml"), DATA)?;
    stage.copy("LICENSE", &at("share/doc/corridor/LICENSE"), DATA)?;
    stage.copy("CHANGELOG.md", &at("share/doc/corridor/CHANGELOG.md"), DATA)?;
    stage.write(
        &at("share/doc/corridor/reference.toml"),
        release.ask(&["config", "reference"])?,
        DATA,
    )?;
    stage.write(&at("share/doc/corridor/sbom.cdx.json"), stage.sbom()?, DATA)?;
    stage.write(&at("README"), readme(release), DATA)?;
    let tar = out.join(format!("{name}.tar"));
    let mut command = Command::new("tar");
    command.args([
        "--create",
        "--format=ustar",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
    ]);
    command
        .arg(format!("--mtime=@{}", release.epoch))
        .arg("--file")
        .arg(&tar)
        .arg("--directory")
        .arg(stage.path());
    run(command.arg(&name))?;
    let level = if effort == Effort::Full { "-9" } else { "-1" };
    run(Command::new("gzip").args([level, "-n", "--force"]).arg(&tar))?;
    Ok(out.join(format!("{name}.tar.gz")))
}
