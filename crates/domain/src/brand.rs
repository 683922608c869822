//! How a tenant's payment pages look: logo, colour, and a contact for senders.

use crate::characters::entered;

/// Maximum size of a logo, in bytes: senders load it on slow connections.
pub const LOGO_MAX_BYTES: usize = 16 * 1024;
/// Maximum length of a contact, in characters.
pub const CONTACT_MAX_CHARS: usize = 80;

/// First bytes of a PNG image (W3C PNG, section 5.2).
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Weights of linear red, green and blue in the relative luminance (WCAG 2.2), in ten-thousandths.
const WEIGHTS: [u32; 3] = [2_126, 7_152, 722];
/// White text has a contrast of 4.5 up to this luminance, in ten-thousandths: 1.05 / 4.5 − 0.05.
const LUMINANCE_MAX: u32 = 1_833;

names! {
    /// Format of a logo.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LogoKind: "Extension of the file, and name in the store." {
        /// Raster image, known by the signature of PNG.
        Png = "png",
        /// Vector image: a text that starts with `<svg` or `<?xml`.
        Svg = "svg",
    }
}

/// A logo as an image file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logo {
    /// Format of the image.
    pub kind: LogoKind,
    /// The file, at most [`LOGO_MAX_BYTES`].
    pub bytes: Vec<u8>,
}

impl Logo {
    /// A logo from a file, or the rule that it breaks.
    ///
    /// # Errors
    /// The rule, as a text to show.
    pub fn parse(bytes: Vec<u8>) -> Result<Logo, String> {
        if bytes.len() > LOGO_MAX_BYTES {
            return Err(format!("must have at most {LOGO_MAX_BYTES} bytes, has {}", bytes.len()));
        }
        let text = std::str::from_utf8(&bytes).unwrap_or_default().trim_start();
        let is_svg =
            (text.starts_with("<svg") || text.starts_with("<?xml")) && text.contains("<svg");
        let kind = match () {
            () if bytes.starts_with(PNG) => LogoKind::Png,
            () if is_svg => LogoKind::Svg,
            () => return Err("must be a PNG or an SVG image".to_owned()),
        };
        Ok(Logo { kind, bytes })
    }
}

/// A colour that white text is readable on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl Colour {
    /// Parses `#rrggbb`.
    ///
    /// # Errors
    /// The rule that the text breaks.
    pub fn parse(text: &str) -> Result<Colour, String> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
        let channel = |at: usize| {
            let pair = digits?.get(at * 2..at * 2 + 2)?;
            u8::from_str_radix(pair, 16).ok()
        };
        let [Some(red), Some(green), Some(blue)] = [0, 1, 2].map(channel) else {
            return Err("must be of the form #0b6b3a".to_owned());
        };
        let colour = Colour([red, green, blue]);
        match colour.luminance() <= LUMINANCE_MAX {
            true => Ok(colour),
            false => Err("is too light for white text: choose a darker one".to_owned()),
        }
    }

    /// Contrast of white text on it, in tenths: 45 is the least that is accepted. Rounded down.
    pub fn contrast_tenths(self) -> u32 {
        // (1 + 0.05) / (luminance + 0.05), in ten-thousandths.
        105_000 / (self.luminance() + 500)
    }

    /// An upper bound of the relative luminance, in ten-thousandths: it squares the channels, where
    /// the standard's exponent is 2.4.
    fn luminance(self) -> u32 {
        let weighted = self.0.iter().zip(WEIGHTS).map(|(channel, weight)| {
            let channel = u32::from(*channel);
            channel * channel * weight
        });
        weighted.sum::<u32>().div_ceil(255 * 255)
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Colour([red, green, blue]) = self;
        write!(out, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// How a tenant's payment pages look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brand {
    /// Shown at the top of a page; `None` = the name alone.
    pub logo: Option<Logo>,
    /// Background of the top; `None` = the page's own.
    pub colour: Option<Colour>,
    /// Contact for senders: a telephone number, an address or a web page; `None` = none is named.
    pub contact: Option<String>,
}

/// Parses a contact: printable, not blank, at most [`CONTACT_MAX_CHARS`] characters.
///
/// # Errors
/// The rule that the text breaks.
pub fn contact(text: &str) -> Result<String, String> {
    let rule = || format!("must be 1 to {CONTACT_MAX_CHARS} printable characters");
    entered(text, CONTACT_MAX_CHARS).map(str::to_owned).ok_or_else(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_text_is_readable_on_every_accepted_colour() {
        for dark in ["#0b6b3a", "#0a5aa0", "#000000", "#0000ff", "#7a1f2b"] {
            assert_eq!(Colour::parse(dark).map(|colour| colour.to_string()).as_deref(), Ok(dark));
        }
        let tenths = |text: &str| Colour::parse(text).map(Colour::contrast_tenths);
        assert_eq!((tenths("#000000"), tenths("#0b6b3a")), (Ok(210), Ok(58)));
        // Contrasts of white on these: 1.0, 4.0, 1.4, 3.1, 4.4.
        for light in ["#ffffff", "#ff0000", "#00ff00", "#2196f3", "#777878"] {
            assert!(Colour::parse(light).is_err(), "{light}");
        }
        for wrong in ["", "0b6b3a", "#0b6b3", "#0b6b3g", "#0b6b3a0", "#é6b3a"] {
            assert!(Colour::parse(wrong).expect_err(wrong).contains("form"), "{wrong}");
        }
    }

    #[test]
    fn a_logo_is_an_image_of_bounded_size() {
        let kind = |bytes: &[u8]| Logo::parse(bytes.to_vec()).map(|logo| logo.kind);
        assert_eq!(kind(b"\x89PNG\r\n\x1a\nrest"), Ok(LogoKind::Png));
        assert_eq!(kind(b" <svg xmlns='http://www.w3.org/2000/svg'/>"), Ok(LogoKind::Svg));
        assert_eq!(kind(b"<?xml version='1.0'?><svg/>"), Ok(LogoKind::Svg));
        for other in [&b"GIF89a"[..], b"<html><svg/></html>", b"", b"\xff\xfe<svg"] {
            assert!(kind(other).is_err(), "{other:?}");
        }
        assert!(Logo::parse(vec![b' '; LOGO_MAX_BYTES + 1]).is_err());
    }

    #[test]
    fn a_contact_is_one_short_line() {
        assert_eq!(contact(" +971 4 123 4567 "), Ok("+971 4 123 4567".to_owned()));
        for wrong in ["", "  ", "a\nb", &"x".repeat(81)] {
            assert!(contact(wrong).is_err(), "{wrong:?}");
        }
    }
}
