//! `cargo xtask package …`: the parts of a release: the Debian package, the tarball, the software
//! bill of materials and the checksums. All are built from the tree and one release binary,
//! reproducibly for each commit.

mod check;
mod deb;
pub mod release;
pub mod sbom;
mod stage;
mod tarball;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use release::{Effort, Release};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The Debian package, for this machine's architecture
    Deb,
    /// The tarball with the program, manual, completions and systemd unit
    Tarball,
    /// Both packages, with SHA256SUMS
    All,
}

#[derive(Args, Debug)]
pub struct PackageArgs {
    /// Which packages to build
    #[arg(value_enum, default_value = "all")]
    kind: Kind,
    /// Build everything, inspect it, run the packaged program as an unprivileged user, and delete
    /// it again
    #[arg(long)]
    check: bool,
    /// An existing program [default: that of the profile dist in the target directory, built if
    /// missing]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Directory to write the packages to
    #[arg(long, value_name = "DIR", default_value = "target/packages")]
    out: PathBuf,
}

/// Builds or checks the requested packages.
pub fn run(root: &Path, args: &PackageArgs) -> anyhow::Result<ExitCode> {
    let release = Release::find(root, args.binary.as_deref())?;
    if args.check {
        return check::run(root, &release);
    }
    let out = root.join(&args.out);
    std::fs::create_dir_all(&out)?;
    let mut made = Vec::new();
    if args.kind != Kind::Tarball {
        made.push(deb::build(root, &release, &out, Effort::Full)?);
    }
    if args.kind != Kind::Deb {
        made.push(tarball::build(root, &release, &out, Effort::Full)?);
    }
    let sums = release::checksums(&made)?;
    std::fs::write(out.join(release::SUMS), sums)?;
    for path in made.iter().chain([&out.join(release::SUMS)]) {
        println!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
