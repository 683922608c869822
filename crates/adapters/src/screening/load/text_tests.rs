//! One list in every packing and encoding in which it may come.

use std::io::Write as _;

use super::*;
use crate::screening::load::load;

const CSV: &str = "#corridor-sanctions name=OWN published=2026-11-20\n\
    uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n\
    1,person,Zörblax Quibbleton,,,,,\n2,person,Nemo Grimwaldé,,,,,\n";
const XML: &str = "<sdnList><publshInformation><Publish_Date>11/20/2026</Publish_Date></publshInformation>\
    <sdnEntry><uid>1</uid><firstName>Zörblax</firstName><lastName>Quibbleton</lastName></sdnEntry>\
    <sdnEntry><uid>2</uid><lastName>Grimwaldé</lastName></sdnEntry></sdnList>";

fn document(origin: &str, bytes: Vec<u8>) -> Document {
    Document { origin: origin.to_owned(), bytes, modified: None }
}

fn utf_16(text: &str, of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(of).collect()
}

fn windows_1252(text: &str) -> Vec<u8> {
    WINDOWS_1252.encode(text).0.into_owned()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(content).expect("written");
    out.finish().expect("packed")
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        out.start_file(*name, zip::write::SimpleFileOptions::default()).expect("begun");
        out.write_all(content).expect("written");
    }
    out.finish().expect("packed").into_inner()
}

#[test]
fn a_list_is_read_in_every_encoding_and_packing() {
    let declared =
        |label: &str, xml: &str| format!("<?xml version='1.0' encoding='{label}'?>{xml}");
    let (before, after) = CSV.split_once('é').expect("a letter");
    let mixed = [before.as_bytes(), &[0xE9], after.as_bytes()].concat();
    for (what, bytes) in [
        ("UTF-8", CSV.into()),
        ("UTF-8 with a mark", format!("\u{feff}{CSV}").into()),
        ("UTF-16", utf_16(&format!("\u{feff}{CSV}"), u16::to_le_bytes)),
        ("UTF-16, big end first", utf_16(&format!("\u{feff}{CSV}"), u16::to_be_bytes)),
        ("UTF-16 without a mark", utf_16(CSV, u16::to_le_bytes)),
        ("windows-1252", windows_1252(CSV)),
        ("one wrong byte", mixed),
        ("lines of Windows", CSV.replace('\n', "\r\n").into()),
        ("gzip", gzip(CSV.as_bytes())),
        ("gzip of UTF-16", gzip(&utf_16(&format!("\u{feff}{CSV}"), u16::to_le_bytes))),
        ("zip", zipped(&[("lists/own.csv", CSV.as_bytes())])),
        ("XML", XML.into()),
        (
            "XML in UTF-16",
            utf_16(&format!("\u{feff}{}", declared("UTF-16", XML)), u16::to_le_bytes),
        ),
        ("XML in UTF-16 without a mark", utf_16(&declared("UTF-16", XML), u16::to_be_bytes)),
        ("XML in ISO-8859-1", windows_1252(&declared("ISO-8859-1", XML))),
        ("XML in windows-1252, undeclared", windows_1252(XML)),
        ("XML that declares UTF-16 and is not", declared("UTF-16", XML).into()),
        ("XML of an unknown encoding", declared("x-none", XML).into()),
    ] {
        let list = load(&[document("x", bytes)]).unwrap_or_else(|error| panic!("{what}: {error}"));
        let names: Vec<&str> = list.entries.iter().map(|entry| entry.primary_name()).collect();
        assert_eq!(names[0], "Zörblax Quibbleton", "{what}");
        assert!(names.len() == 2 && names[1].ends_with("Grimwaldé"), "{what}: {names:?}");
    }
}

#[test]
fn the_files_of_an_archive_are_documents_of_the_list() {
    let rows = b"1,\"QUIBBLETON, Zorblax\",individual,,,,,,,,,\n";
    let alias = b"1,1,aka,\"KWIBBLETON, Zorblaks\",-0-\n";
    let archive = zipped(&[("CONS_ALT.CSV", alias), ("CONS_PRIM.CSV", rows)]);
    let list = load(&[document("https://o.example/lists.zip", archive)]).expect("a list");
    assert_eq!((list.name.as_str(), list.entries[0].names.len()), ("OFAC-CONS", 2));
    // A file without a list is named.
    let strange = zipped(&[("sdn.csv", rows), ("readme.txt", b"hello")]);
    let refused = load(&[document("sdn.zip", strange)]).expect_err("strange").to_string();
    assert!(refused.starts_with("sdn.zip/readme.txt: "), "{refused}");
}

#[test]
fn damaged_archives_and_bombs_are_refused() {
    let mut torn = gzip(CSV.as_bytes());
    torn.truncate(torn.len() - 9);
    let mut damaged = zipped(&[("own.csv", CSV.as_bytes())]);
    damaged.truncate(60);
    let bomb = gzip(&vec![b' '; MAX_DOCUMENT_BYTES + 1]);
    let names: Vec<String> = (0..=MAX_FILES).map(|at| format!("{at}.csv")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    for (what, bytes) in
        [("torn", torn), ("damaged", damaged), ("bomb", bomb), ("many", zipped(&many))]
    {
        let refused = load(&[document("x", bytes)]).expect_err(what);
        assert!(matches!(refused, LoadError::Unpackable { .. }), "{what}: {refused}");
    }
}
