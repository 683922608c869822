//! QR codes as SVG (ISO/IEC 18004, error correction level M): one path, no style, no external
//! resources.

use fast_qr::{ECL, QRBuilder};

/// Light modules around the code (the standard's quiet zone).
const QUIET_MODULES: usize = 4;

/// A QR code ready for drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Width and height in modules, including the quiet zone.
    pub size: usize,
    /// The dark modules as SVG path data: one stroke per run of a row.
    pub path: String,
}

/// Encodes a text; `None` if it is too long for a QR code.
pub fn code(text: &str) -> Option<Code> {
    let code = QRBuilder::new(text).ecl(ECL::M).build().ok()?;
    let mut path = String::new();
    for row in 0..code.size {
        let mut column = 0;
        while column < code.size {
            let run = code[row][column..].iter().take_while(|module| module.value()).count();
            if run > 0 {
                path.push_str(&format!(
                    "M{} {}h{run}v1h-{run}z",
                    column + QUIET_MODULES,
                    row + QUIET_MODULES
                ));
            }
            column += run.max(1);
        }
    }
    Some(Code { size: code.size + 2 * QUIET_MODULES, path })
}

/// An SVG document with the code, dark on light in every colour scheme.
pub fn svg(code: &Code) -> String {
    let Code { size, path } = code;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" width=\"480\" height=\"480\" shape-rendering=\"crispEdges\"><rect width=\"{size}\" height=\"{size}\" fill=\"#fff\"/><path fill=\"#000\" d=\"{path}\"/></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders the path into pixels and decodes them with another library.
    fn read_back(code: &Code) -> String {
        const SCALE: usize = 4;
        let mut dark = vec![false; code.size * code.size];
        for stroke in code.path.split('M').skip(1) {
            let (start, run) = stroke.split_once('h').expect("a run");
            let (x, y) = start.split_once(' ').expect("a start");
            let number = |text: &str| text.parse::<usize>().expect("a number");
            let run = number(run.split('v').next().expect("a length"));
            for column in number(x)..number(x) + run {
                dark[number(y) * code.size + column] = true;
            }
        }
        let pixel =
            |x: usize, y: usize| if dark[y / SCALE * code.size + x / SCALE] { 0 } else { 255 };
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(
            code.size * SCALE,
            code.size * SCALE,
            pixel,
        );
        let grids = image.detect_grids();
        grids.first().expect("a code").decode().expect("readable").1
    }

    #[test]
    fn a_reader_reads_what_was_written() {
        for text in [
            "https://pay.example.com/pay/kR3vZ0c9SxG2mT5u8wYb1Q",
            "0xF0109fC8DF283027b6285cc889F5aA624EaC1F55",
            "http://127.0.0.1:8080/pay/x",
        ] {
            let code = code(text).expect("fits");
            assert_eq!(read_back(&code), text);
            assert!(svg(&code).len() < 8_192, "{}", svg(&code).len());
        }
    }

    #[test]
    fn a_document_holds_no_style_and_no_script() {
        let document = svg(&code("x").expect("fits"));
        for forbidden in ["style", "script", "href", "class"] {
            assert!(!document.contains(forbidden), "{forbidden}");
        }
        assert_eq!(code(&"x".repeat(5_000)), None);
    }
}
