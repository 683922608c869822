//! `corridor completions` and `corridor man`: generated from the same definition as `--help`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::failure::Failure;
use super::{Cli, output};

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  corridor completions bash > /etc/bash_completion.d/corridor")]
pub struct CompletionsArgs {
    /// Shell that completes the commands
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  corridor man | man -l -\n  corridor man --dir /usr/share/man/man1"
)]
pub struct ManArgs {
    /// Directory to write one page per command to, instead of printing the first page
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the completion script.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "corridor", &mut script);
    output::raw(&script)
}

/// Prints or writes the manual pages.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let Some(dir) = &args.dir else {
        return output::raw(&page(Cli::command())?);
    };
    std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    let mut root = Cli::command();
    root.build();
    write_pages(dir, &root)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("{}: {error}", path.display()))
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}

fn write_pages(dir: &Path, command: &clap::Command) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let path = dir.join(format!("{name}.1"));
    std::fs::write(&path, page(command.clone())?).map_err(|error| unwritable(&path, &error))?;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        write_pages(dir, inner)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let dir = tempfile::tempdir().expect("a directory");
        man(&ManArgs { dir: Some(dir.path().to_owned()) }).expect("written");
        for name in [
            "corridor.1",
            "corridor-quote.1",
            "corridor-payments-export.1",
            "corridor-token-inspect.1",
        ] {
            let text = std::fs::read_to_string(dir.path().join(name)).expect(name);
            assert!(text.contains(".SH NAME"), "{name}");
        }
    }
}
