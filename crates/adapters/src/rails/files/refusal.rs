//! The text of a negative acknowledgement: a bank's own words, or XML, in any encoding, compressed or
//! not. Whatever leaves open that the bank has the file is a doubt.

use std::borrow::Cow;

use domain::rail::{self, About, RailStatus};
use encoding_rs::{UTF_8, WINDOWS_1252};

use super::unpack::{UnpackError, unpack};
use crate::rails::MAX_MESSAGE_BYTES;
use crate::rails::reports::{self, Statement};
use crate::rails::xml_read::encoding_of;

/// Characters of a negative acknowledgement that are reported.
const MAX_TEXT_CHARS: usize = 200;
/// Greatest length of an escaped character.
const MAX_ESCAPE_BYTES: usize = 12;
/// Ends of HTML's names for Latin letters, which begin with the letter.
const ACCENTS: [&str; 9] =
    ["grave", "acute", "circ", "tilde", "uml", "ring", "cedil", "slash", "caron"];

/// What a negative acknowledgement states.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Beginning of its text, in printable characters.
    pub(super) text: String,
    /// Why it does not prove that the bank has nothing.
    pub(super) doubt: Option<String>,
}

/// Reads a negative acknowledgement of our `message`; `None` if it ends early and `may_grow`.
/// `own_codes` are the rail's codes for a duplicate.
pub(super) fn read(
    content: Vec<u8>,
    message: &str,
    may_grow: bool,
    own_codes: &[String],
) -> Option<Refusal> {
    let doubtful = |doubt: String| Refusal { text: String::new(), doubt: Some(doubt) };
    let files = match unpack(content) {
        Ok(files) => files,
        Err(UnpackError::Cut(_)) if may_grow => return None,
        Err(error) => return Some(doubtful(format!("it {error}"))),
    };
    let mut all: Option<Refusal> = None;
    for file in files {
        let one = match file.content {
            Ok(content) => read_one(&content, message, may_grow, own_codes)?,
            Err(_) if may_grow => return None,
            Err(error) => doubtful(format!("it {error}")),
        };
        all = Some(match all {
            None => one,
            Some(all) => Refusal {
                text: printable(&format!("{} {}", all.text, one.text)),
                doubt: all.doubt.or(one.doubt),
            },
        });
    }
    Some(all.unwrap_or_else(|| doubtful("it is an empty archive".to_owned())))
}

fn read_one(file: &[u8], of: &str, may_grow: bool, own_codes: &[String]) -> Option<Refusal> {
    let (text, is_certain) = decoded(file);
    let is_blank = !without_names(&text).contains(char::is_alphanumeric);
    let message = text.trim_start().starts_with('<').then(|| reports::read(file));
    let is_cut = match &message {
        Some(Ok(statement)) => statement.is_cut,
        Some(Err(error)) => error.is_cut(),
        None => false,
    };
    if may_grow && (is_blank || is_cut) {
        return None;
    }
    let doubt = if file.len() > MAX_MESSAGE_BYTES {
        Some("it is too large")
    } else if is_blank {
        Some("it states no reason")
    } else if is_cut {
        Some("it ends early")
    } else if !is_certain {
        Some("the encoding of its text is unknown")
    } else if may_be_repeated(&text, own_codes) {
        Some("the text may mean that the bank has it already")
    } else if message.is_some_and(|it| it.is_ok_and(|message| !refuses_all(&message, of))) {
        Some("the message in it does not reject the whole file")
    } else {
        None
    };
    Some(Refusal { text: printable(&text), doubt: doubt.map(str::to_owned) })
}

/// A text, and whether it certainly is the one that was written.
fn decoded(file: &[u8]) -> (Cow<'_, str>, bool) {
    let (encoding, content) = encoding_of(file);
    let (text, has_errors) = encoding.decode_without_bom_handling(content);
    if has_errors && encoding == UTF_8 {
        // A guess, for those who read it.
        return (WINDOWS_1252.decode_without_bom_handling(content).0, false);
    }
    let is_text = !text.contains(|sign: char| sign.is_control() && !sign.is_whitespace());
    (text, is_text && !has_errors)
}

/// Whether a report rejects all of the message with this id, and nothing else.
fn refuses_all(message: &Statement, id: &str) -> bool {
    let entries = &message.entries;
    message.complaints.is_empty()
        && message.statements.is_empty()
        && entries.iter().all(|entry| entry.said.status == RailStatus::Rejected)
        && entries.iter().any(|entry| {
            matches!(&entry.about, About::Rest { of, .. } if of.message.as_deref() == Some(id))
        })
}

/// Whether a text may mean that the bank has the file already.
fn may_be_repeated(text: &str, own_codes: &[String]) -> bool {
    let text = unescaped(text);
    // Lines of a fixed width end within words.
    let joined = text.replace(['\r', '\n'], "");
    rail::mentions_possession(&empty_elements(&text))
        || [text, joined].iter().any(|text| {
            let upper = text.to_uppercase();
            rail::is_duplicate(text, None)
                || rail::mentions_possession(&without_names(text))
                || own_codes.iter().any(|code| has_word(&upper, &code.trim().to_uppercase()))
        })
}

/// The words of the names of elements without content: of XML, they are what it says.
fn empty_elements(text: &str) -> String {
    let mut words = String::new();
    let mut parts = text.split('<').peekable();
    while let Some(part) = parts.next() {
        let is_closed = parts.peek().is_some_and(|next| next.starts_with('/'));
        let Some((tag, content)) = part.split_once('>') else { continue };
        if tag.ends_with('/') || is_closed && !tag.starts_with('/') && content.trim().is_empty() {
            for sign in tag.chars() {
                if sign.is_uppercase() {
                    words.push(' ');
                }
                words.push(if sign.is_alphanumeric() { sign } else { ' ' });
            }
            words.push(' ');
        }
    }
    words
}

/// Whether a text contains a code as a whole word.
fn has_word(text: &str, code: &str) -> bool {
    !code.is_empty()
        && text.match_indices(code).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + code.len()..).unwrap_or_default();
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
        })
}

/// The text of XML without the names of its elements, which are the format's words.
fn without_names(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let is_of_name = |sign: char| sign.is_alphanumeric() || "/:_-.".contains(sign);
    let parts: Vec<&str> =
        text.split('<').map(|part| part.trim_start_matches(is_of_name)).collect();
    parts.join(" ")
}

/// A text with the characters that XML, HTML or JSON escape.
fn unescaped(text: &str) -> String {
    let (mut whole, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['&', '\\']) {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let (character, length) = escaped(escape).unwrap_or((' ', 1));
        whole.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    whole.push_str(rest);
    whole
}

/// The escaped character at the beginning of a text, and the length of its escape.
fn escaped(text: &str) -> Option<(char, usize)> {
    let hex = |code: &str| u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
    if let Some(code) = text.strip_prefix("\\u") {
        return Some((hex(code.get(..4)?)?, 6));
    }
    let end = text.bytes().take(MAX_ESCAPE_BYTES).position(|byte| byte == b';')?;
    let name = text.get(..end)?.strip_prefix('&')?;
    let character = match name.strip_prefix('#') {
        Some(code) => match code.strip_prefix(['x', 'X']) {
            Some(code) => hex(code)?,
            None => char::from_u32(code.parse().ok()?)?,
        },
        None => {
            let letter = ACCENTS.iter().find_map(|accent| name.strip_suffix(accent))?;
            letter.chars().next().filter(|_| letter.len() == 1)?
        }
    };
    Some((character, end + 1))
}

pub(super) fn printable(text: &str) -> String {
    let is_shown = |sign: char| !sign.is_control() && sign != '\u{FEFF}';
    let plain: String = text.chars().map(|c| if is_shown(c) { c } else { ' ' }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").chars().take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const OWN: &str = "B-017";
    /// More than is shown.
    const PREAMBLE: &str = "Acknowledgement of the file that was received by the gateway of the bank. \
        Every file is listed with its name, its date, the number of its payments and their sum; all \
        amounts are in rupees, and all times in that of Karachi. ";

    fn utf16(text: &str, mark: &[u8]) -> Vec<u8> {
        let units = text.encode_utf16().flat_map(|unit| match mark {
            [0xFE, ..] => unit.to_be_bytes(),
            _ => unit.to_le_bytes(),
        });
        mark.iter().copied().chain(units).collect()
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(content).expect("written");
        out.finish().expect("packed")
    }

    fn zipped(files: &[&[u8]]) -> Vec<u8> {
        let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (number, content) in files.iter().enumerate() {
            let options = zip::write::SimpleFileOptions::default();
            out.start_file(number.to_string(), options).expect("begun");
            out.write_all(content).expect("written");
        }
        out.finish().expect("packed").into_inner()
    }

    fn pain002(status: &str, code: &str) -> String {
        let reason = "<Rsn><Cd>AC01</Cd></Rsn>";
        format!(
            "<?xml version=\"1.0\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\">\
             <CstmrPmtStsRpt><GrpHdr><MsgId>B-1</MsgId><CreDtTm>2026-11-29T10:00:00Z</CreDtTm></GrpHdr>\
             <OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>\
             <GrpSts>{status}</GrpSts><StsRsnInf>{reason}</StsRsnInf><StsRsnInf><Rsn><Cd>{code}</Cd></Rsn>\
             </StsRsnInf></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>"
        )
    }

    fn doubt(content: &[u8]) -> Option<String> {
        let read = read(content.to_vec(), "M-1", false, &[OWN.to_owned()]);
        let read = read.expect("it cannot grow");
        assert!(read.text.chars().count() <= MAX_TEXT_CHARS, "{read:?}");
        read.doubt
    }

    #[test]
    fn a_refusal_that_may_be_of_a_repetition_is_in_doubt_in_any_form() {
        let text = |text: &str| text.as_bytes().to_vec();
        for (what, content) in [
            ("behind a preamble", text(&format!("{PREAMBLE}RESULT: DUPLICATE FILE"))),
            ("within a line's width", text("E12 FILE REFUSED AS DUP\r\nLICATE")),
            ("UTF-16", utf16("DUPLICATE FILE", &[0xFF, 0xFE])),
            ("UTF-16, the other order", utf16("DUPLICATE FILE", &[0xFE, 0xFF])),
            ("UTF-16 without a mark", utf16("DUPLICATE FILE", &[])),
            ("gzip", gzip(b"DUPLICATE FILE")),
            ("gzip of UTF-16", gzip(&utf16("DUPLICATE FILE", &[0xFF, 0xFE]))),
            ("zip", zipped(&[b"ERR 17", b"DUPLICATE FILE"])),
            ("UTF-8", text("Fichier déjà reçu")),
            ("Latin-1", b"Fichier d\xE9j\xE0 re\xE7u".to_vec()),
            (
                "Latin-1, declared",
                b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>Fichier d\xE9j\xE0 re\xE7u</a>"
                    .to_vec(),
            ),
            ("code page 850", b"Fichier d\x82j\x85 re\x87u".to_vec()),
            ("references of XML", text("<a>Fichier d&#233;j&#xE0; re&#231;u</a>")),
            ("names of HTML", text("<p>Fichier d&eacute;j&agrave; re&ccedil;u</p>")),
            ("escapes of JSON", text(r#"{"reason":"Fichier d\u00e9j\u00e0 re\u00e7u"}"#)),
            ("the rail's own code", text(&format!("{PREAMBLE}Code: b-017."))),
            ("ISO's code", text(&format!("{PREAMBLE}Code: AM05."))),
            ("an element's name", text("<ack><DuplicateFile/></ack>")),
            ("an empty element", text("<ack><AlreadyReceived/><code>17</code></ack>")),
            ("an empty pair", text("<ack><file_already_received></file_already_received>17</ack>")),
            ("elements alone", text("<NACK/>")),
            ("an empty document", text("<ack></ack>")),
            ("possession within a line's width", text("E12 FILE ALRE\r\nADY RECEIVED")),
            ("the rail's own code within it", text("E12 FILE B-0\r\n17")),
            ("pain.002 of another message", text(&pain002("RJCT", "AC04").replace("M-1", "M-2"))),
            ("an attribute", text("<ack reason=\"it's already received\"/>")),
            ("CDATA", text("<ack><![CDATA[already received]]></ack>")),
            ("pain.002", text(&pain002("RJCT", "DUPL"))),
            ("pain.002 in UTF-16", utf16(&pain002("RJCT", "DUPL"), &[0xFF, 0xFE])),
            ("pain.002, not of all", text(&pain002("PART", "AC04"))),
            ("pain.002, accepted", text(&pain002("ACCP", "AC04"))),
            ("nothing", Vec::new()),
            ("a blank", text("\u{FEFF} \r\n")),
            ("an empty archive", zipped(&[])),
            ("a damaged archive", gzip(b"ERR 17")[..20].to_vec()),
            ("half a document", text("<ack><code>17</code>")),
        ] {
            assert!(doubt(&content).is_some(), "{what}");
        }
    }

    #[test]
    fn a_refusal_that_names_its_reason_is_in_no_doubt() {
        for content in [
            b"ERR 17\nwrong\tdebtor account".to_vec(),
            format!("{PREAMBLE}RESULT: INVALID DEBTOR ACCOUNT").into_bytes(),
            utf16("ERR 17", &[0xFF, 0xFE]),
            gzip(b"ERR 17"),
            zipped(&[b"ERR 17", b"ERR 18"]),
            "Compte débiteur erroné".as_bytes().to_vec(),
            b"<ack><ProcessedAt>2026-11-29</ProcessedAt><UniqueId>7</UniqueId><code>17</code></ack>".to_vec(),
            b"Code XB-0170".to_vec(),
            pain002("RJCT", "AC04").into_bytes(),
        ] {
            assert_eq!(doubt(&content), None, "{}", String::from_utf8_lossy(&content));
        }
    }

    #[test]
    fn what_may_not_be_complete_is_not_read_yet() {
        let archive = gzip(b"DUPLICATE FILE");
        for content in [b"".as_slice(), b"\n", b"<ack><code>17</code>", &archive[..20]] {
            assert_eq!(read(content.to_vec(), "M-1", true, &[]), None);
        }
        assert!(read(b"ERR 17".to_vec(), "M-1", true, &[]).is_some());
    }
}
