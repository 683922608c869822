//! `corridor open`: opens a page of the running sandbox in the browser.

use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::Context;
use super::failure::Failure;
use super::output::{self, Output};
use client::Sandbox;

/// Programs that open an address in the desktop's browser.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// A page of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Page {
    /// Where to start: docs, console, pay page
    Start,
    /// The sandbox's operator console
    Console,
    /// API reference and guides
    Docs,
    /// A payment link to try
    Pay,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor open
  corridor open console
  corridor open pay --print

The browser is $BROWSER, else the desktop's. Without one, the address is printed alone.")]
pub struct OpenArgs {
    /// Page of the sandbox to open
    #[arg(value_enum, default_value = "start")]
    page: Page,
    /// Print the address without opening it
    #[arg(long)]
    print: bool,
}

pub fn run(args: &OpenArgs, context: &Context) -> Result<(), Failure> {
    let data_dir = context.data_dir()?;
    let sandbox = data_dir.sandbox()?.ok_or_else(|| {
        Failure::Usage("no running sandbox; start one with `corridor sandbox`".to_owned())
    })?;
    let url = address(&sandbox, args.page)?;
    let chosen = std::env::var("BROWSER").ok().filter(|program| !program.is_empty());
    let is_opened = !args.print && open(&url, chosen.as_deref());
    match context.output {
        Output::Json => output::json(&json!({ "url": url, "opened": is_opened })),
        Output::Table => {
            output::line(&url)?;
            if !is_opened && !args.print {
                output::remark("No browser was found; open the address yourself.");
            }
            Ok(())
        }
    }
}

fn address(sandbox: &Sandbox, page: Page) -> Result<String, Failure> {
    let name = match page {
        Page::Start => return Ok(format!("{}/", sandbox.base_url())),
        Page::Console => "console_url",
        Page::Docs => "docs_url",
        Page::Pay => "pay_url",
    };
    let url = sandbox.others.get(name).and_then(|url| url.as_str()).map(str::to_owned);
    url.ok_or_else(|| Failure::Unavailable(format!("the running sandbox has no {name}")))
}

/// How long an opener may take to fail.
const FAILS_WITHIN: Duration = Duration::from_millis(500);

/// Starts the browser; false if there is none or none could show the page.
fn open(url: &str, chosen: Option<&str>) -> bool {
    let programs = chosen.map_or_else(|| OPENERS.to_vec(), |program| vec![program]);
    programs.into_iter().any(|program| {
        let mut command = Command::new(program);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut opener) = command.spawn() else { return false };
        let (done, ended) = mpsc::sync_channel(1);
        std::thread::spawn(move || drop(done.send(opener.wait())));
        // An opener returns soon, with an error if it found no browser; a browser of its own stays
        // open, and is not waited for.
        match ended.recv_timeout(FAILS_WITHIN) {
            Ok(status) => status.is_ok_and(|status| status.success()),
            Err(_) => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_fails_has_opened_nothing() {
        for (program, is_opened) in [("true", true), ("false", false), ("/no/such/browser", false)]
        {
            assert_eq!(open("http://127.0.0.1:1/", Some(program)), is_opened, "{program}");
        }
    }

    #[test]
    fn each_page_has_its_address() {
        let sandbox: Sandbox = serde_json::from_str(
            r#"{"base_url":"http://127.0.0.1:1/","payment_access_key":"a","payment_secret_key":"s",
                "console_url":"http://127.0.0.1:1/console","docs_url":"http://127.0.0.1:1/docs",
                "pay_url":"http://127.0.0.1:1/pay/x"}"#,
        )
        .expect("a sandbox");
        for (page, path) in [
            (Page::Start, ""),
            (Page::Console, "console"),
            (Page::Docs, "docs"),
            (Page::Pay, "pay/x"),
        ] {
            let url = address(&sandbox, page).expect("an address");
            assert_eq!(url, format!("http://127.0.0.1:1/{path}"));
        }
    }
}
