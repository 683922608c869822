//! Prints a payment link as a QR code in the terminal, for a phone camera. One character shows two
//! modules, one above the other.

use clap::Args;
use fast_qr::{ECL, QRBuilder};
use serde_json::{Value, json};

use super::super::api::WalletApiArgs;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::wallet_api::{LAST, REQUESTS, Wire, none_yet};
use super::super::{Context, ids};

/// Light modules around the code (the standard's quiet zone).
const QUIET_MODULES: usize = 4;

/// Options of `requests qr`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  corridor requests qr last
  corridor requests qr --dark-on-light https://pay.example.com/pay/kR3vZ0c9SxG2mT5u8wYb1Q")]
pub struct QrArgs {
    /// Payment request id, its link, or `last` for the wallet's newest request
    #[arg(default_value = "last", value_name = "ID")]
    request: String,
    /// Wallet of the request [default: the running sandbox's wallet]
    #[arg(long, value_name = "ID")]
    wallet: Option<String>,
    /// Set if the terminal shows dark text on a light background
    #[arg(long)]
    dark_on_light: bool,
    #[command(flatten)]
    api: WalletApiArgs,
}

/// Prints the code with the link below it.
pub fn run(args: &QrArgs, context: &Context) -> Result<(), Failure> {
    let link = match args.request.starts_with("http://") || args.request.starts_with("https://") {
        true => args.request.clone(),
        false => find(args, &Wire::open(&args.api, context)?)?,
    };
    let too_long = || Failure::Usage(format!("{link}: too long for a QR code"));
    let drawn = draw(&link, args.dark_on_light).ok_or_else(too_long)?;
    match context.output {
        Output::Table => output::line(&format!("{drawn}\n{}", client::printable(&link))),
        Output::Json => output::json(&json!({ "payment_link": link, "qr_code": drawn })),
    }
}

/// The link of a wallet's request.
fn find(args: &QrArgs, wire: &Wire) -> Result<String, Failure> {
    let wallet = wire.wallet(args.wallet.as_deref())?;
    let latest = wire.latest(&REQUESTS, &wallet)?;
    let text = |request: &Value, name: &str| {
        request.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let id = |request: &Value| text(request, REQUESTS.id);
    let found = match args.request.as_str() {
        LAST => latest.first(),
        start if ids::is_start(start) => {
            let found = ids::one_of(start, REQUESTS.what, latest.iter().map(id))?;
            latest.iter().find(|request| id(request) == found)
        }
        whole => latest.iter().find(|request| id(request) == whole),
    };
    found.map(|request| text(request, "payment_link")).ok_or_else(|| {
        if args.request == LAST {
            return none_yet(&REQUESTS, &wallet);
        }
        Failure::Refused(format!(
            "request {:?} does not belong to wallet {wallet}; use --wallet, or pass the link",
            args.request
        ))
    })
}

/// The code as lines of half blocks. `None` if the text is too long for a QR code.
///
/// Characters have the text colour, which is light on most terminals, so light modules are drawn.
fn draw(text: &str, dark_on_light: bool) -> Option<String> {
    let code = QRBuilder::new(text).ecl(ECL::M).build().ok()?;
    let inside = QUIET_MODULES..QUIET_MODULES + code.size;
    let width = code.size + 2 * QUIET_MODULES;
    let drawn = |row: usize, column: usize| {
        let dark = inside.contains(&row)
            && inside.contains(&column)
            && code[row - QUIET_MODULES][column - QUIET_MODULES].value();
        row < width && dark == dark_on_light
    };
    let block = |row: usize, column: usize| match (drawn(row, column), drawn(row + 1, column)) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    };
    let line = |row: usize| (0..width).map(|column| block(row, column)).collect::<String>();
    Some((0..width).step_by(2).map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes the drawing as a camera would, with text of this brightness.
    fn read_back(drawn: &str, writing: u8) -> String {
        const SCALE: usize = 4;
        let lines: Vec<Vec<char>> = drawn.lines().map(|line| line.chars().collect()).collect();
        let (width, height) = (lines[0].len(), lines.len() * 2);
        let pixel = |x: usize, y: usize| {
            let (column, row) = (x / SCALE, y / SCALE);
            let drawn = match lines[row / 2][column] {
                '█' => true,
                '▀' => row % 2 == 0,
                '▄' => row % 2 == 1,
                _ => false,
            };
            if drawn { writing } else { u8::MAX - writing }
        };
        let mut image =
            rqrr::PreparedImage::prepare_from_greyscale(width * SCALE, height * SCALE, pixel);
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1, "one code");
        grids[0].decode().expect("readable").1
    }

    #[test]
    fn a_camera_reads_the_link_on_dark_and_on_light_terminals() {
        for link in
            ["https://pay.example.com/pay/kR3vZ0c9SxG2mT5u8wYb1Q", "http://127.0.0.1:8480/pay/x"]
        {
            assert_eq!(read_back(&draw(link, false).expect("drawn"), u8::MAX), link);
            assert_eq!(read_back(&draw(link, true).expect("drawn"), 0), link);
        }
        assert!(draw(&"x".repeat(5_000), false).is_none());
    }
}
