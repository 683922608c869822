//! Trees of documents, valid and hostile, in every encoding and envelope.

use super::*;
use crate::rails::kinds::Kind;

const PAIN_002: &str = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10";

fn one(bytes: &[u8]) -> Element {
    let mut documents = read(bytes).expect("readable");
    assert_eq!((documents.all.len(), &documents.broken), (1, &None));
    documents.all.remove(0).root
}

#[test]
fn a_document_reads_into_its_tree() {
    let text = format!(
        "\u{FEFF}<?xml version='1.0' encoding='utf-8'?><!-- c --><p:Document xmlns:p='{PAIN_002}'>
        <p:A Ccy='P&#75;R'> 1<![CDATA[<2>]]>&amp;&#x33; </p:A>
        <q:A xmlns:q='urn:y'><A>foreign</A></q:A>
        <p:B xmlns:p='urn:z'><p:A>foreign</p:A></p:B><p:B/></p:Document>\n"
    );
    let root = one(text.as_bytes());
    assert_eq!((root.name.as_str(), root.children.len()), ("Document", 2));
    assert_eq!(root.text_at(&["A"]), Some("1<2>&3"));
    assert_eq!(root.child("A").and_then(|a| a.currency.as_deref()), Some("PKR"));
    assert_eq!(root.text_at(&["B"]), None);
}

/// Namespaces are compared by URI: the prefix may change at every element.
#[test]
fn prefixes_may_change_from_element_to_element() {
    for text in [
        format!(
            "<ns2:Document xmlns:ns2='{PAIN_002}'><A xmlns='{PAIN_002}'><B>1</B></A></ns2:Document>"
        ),
        format!("<Document xmlns='{PAIN_002}'><x:A xmlns:x='{PAIN_002}'><B>1</B></x:A></Document>"),
        format!(
            "<a:Document xmlns:a='{PAIN_002}' xmlns:b='{PAIN_002}'><b:A><a:B>1</a:B></b:A></a:Document>"
        ),
    ] {
        assert_eq!(one(text.as_bytes()).text_at(&["A", "B"]), Some("1"), "{text}");
    }
}

#[test]
fn messages_are_found_in_envelopes_and_one_after_the_other() {
    let message = |id: u8| format!("<Document xmlns='{PAIN_002}'><A>{id}</A></Document>");
    let header = "<h:AppHdr xmlns:h='urn:iso:std:iso:20022:tech:xsd:head.001.001.02'><h:A>x</h:A></h:AppHdr>";
    for (text, expected) in [
        (format!("<BizMsgEnvlp xmlns='urn:x'>{header}{}</BizMsgEnvlp>", message(1)), vec!["1"]),
        (
            format!(
                "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><r>{}{}</r></s:Body></s:Envelope>",
                message(1),
                message(2)
            ),
            vec!["1", "2"],
        ),
        (
            format!("<?xml version='1.0'?>{}\n<?xml version='1.0'?>{}", message(1), message(2)),
            vec!["1", "2"],
        ),
        (format!("<CstmrPmtStsRpt xmlns='{PAIN_002}'><A>1</A></CstmrPmtStsRpt>"), vec!["1"]),
        ("<Document><CstmrPmtStsRpt><A>1</A></CstmrPmtStsRpt></Document>".to_owned(), vec!["1"]),
    ] {
        let documents = read(text.as_bytes()).expect(&text);
        let found: Vec<&str> =
            documents.all.iter().filter_map(|it| it.root.text_at(&["A"])).collect();
        assert_eq!((found, documents.broken), (expected, None), "{text}");
        assert!(documents.all.iter().all(|it| it.name == MessageName::Known(Kind::Pain002)));
    }
    let cut = format!("{}<Document xmlns='{PAIN_002}'><A>2</A>", message(1));
    let documents = read(cut.as_bytes()).expect("its first message is whole");
    assert_eq!(documents.all.len(), 1);
    assert!(documents.broken.is_some(), "the rest is reported");
}

#[test]
fn encodings_follow_the_mark_then_the_declaration() {
    let text = |encoding: &str| {
        format!(
            "<?xml version='1.0' encoding=\"{encoding}\"?><Document xmlns='{PAIN_002}'><A>ausgeführt, Größe</A></Document>"
        )
    };
    let single = |encoding: &str| {
        text(encoding).chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
    };
    let wide = |order: fn(u16) -> [u8; 2], mark: bool| -> Vec<u8> {
        let marked = if mark { "\u{FEFF}" } else { "" };
        format!("{marked}{}", text("UTF-16")).encode_utf16().flat_map(order).collect()
    };
    for (bytes, name) in [
        (single("ISO-8859-1"), "ISO-8859-1"),
        (single("windows-1252"), "windows-1252"),
        (single("iso-8859-15"), "ISO-8859-15"),
        (text("UTF-8").into_bytes(), "UTF-8"),
        (
            format!("\u{FEFF}{}", text("ISO-8859-1")).into_bytes(),
            "a mark takes precedence over a declaration",
        ),
        (text("UTF-16").into_bytes(), "a declaration that cannot be true"),
        (wide(u16::to_le_bytes, true), "UTF-16LE"),
        (wide(u16::to_be_bytes, true), "UTF-16BE"),
        (wide(u16::to_le_bytes, false), "UTF-16LE without a mark"),
        (wide(u16::to_be_bytes, false), "UTF-16BE without a mark"),
    ] {
        assert_eq!(one(&bytes).text_at(&["A"]), Some("ausgeführt, Größe"), "{name}");
    }
    // A name that is not known: what it has in common with ASCII is read, and valid UTF-8.
    for label in ["x-klingon", "ISO8859_1", "replacement", "iso-2022-kr", ""] {
        assert_eq!(
            one(text(label).as_bytes()).text_at(&["A"]),
            Some("ausgeführt, Größe"),
            "{label}"
        );
    }
    let root = one(&single("ISO8859_1"));
    assert_eq!(root.text_at(&["A"]), Some("ausgef\u{FFFD}hrt, Gr\u{FFFD}\u{FFFD}e"));
}

/// Namespaces on the root alone, as software writes them that qualifies nothing else.
#[test]
fn elements_without_a_namespace_belong_to_their_message() {
    for text in [
        format!("<n:Document xmlns:n='{PAIN_002}'><A><B>1</B></A></n:Document>"),
        format!("<Document xmlns='{PAIN_002}'><A xmlns=''><B>1</B></A></Document>"),
        format!(
            "<e:E xmlns:e='urn:e'><n:Document xmlns:n='{PAIN_002}'><A><B>1</B></A></n:Document></e:E>"
        ),
    ] {
        assert_eq!(one(text.as_bytes()).text_at(&["A", "B"]), Some("1"), "{text}");
    }
    let extension = format!(
        "<n:Document xmlns:n='{PAIN_002}'><x:A xmlns:x='urn:x'><B>1</B></x:A></n:Document>"
    );
    assert_eq!(one(extension.as_bytes()).children, []);
}

#[test]
fn messages_are_found_in_the_text_of_an_envelope() {
    let message = |id: u8| {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"{PAIN_002}\"><A>{id} &amp; </A></Document>"
        )
    };
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let cdata = |text: &str| format!("<![CDATA[\n{text}]]>");
    let enveloped = |payloads: &[String]| {
        let parts: String = payloads.iter().map(|it| format!("<Payload>{it}</Payload>")).collect();
        format!(
            "<s:Envelope xmlns:s='urn:soap'><s:Body><Id>&lt;7&gt;</Id>{parts}</s:Body></s:Envelope>"
        )
    };
    for (text, expected) in [
        (enveloped(&[cdata(&message(1))]), vec!["1 &"]),
        (enveloped(&[escaped(&message(1)), cdata(&message(2))]), vec!["1 &", "2 &"]),
        // Only once: an envelope in an envelope's text holds nothing.
        (enveloped(&[cdata(&enveloped(&[escaped(&message(1))]))]), vec![]),
        (enveloped(&["<!-- -->".to_owned()]), vec![]),
    ] {
        let documents = read(text.as_bytes()).expect(&text);
        let found: Vec<&str> =
            documents.all.iter().filter_map(|it| it.root.text_at(&["A"])).collect();
        assert_eq!((found, &documents.broken), (expected, &None), "{text}");
    }
    let torn = enveloped(&[cdata(&message(1)), cdata(&message(2)[..90])]);
    let documents = read(torn.as_bytes()).expect("the first is whole");
    assert_eq!((documents.all.len(), documents.broken.is_some()), (1, true));
    let bomb = cdata("<!DOCTYPE a [<!ENTITY b 'bbbb'>]><a>&b;</a>");
    let documents = read(enveloped(&[bomb]).as_bytes()).expect("an envelope");
    assert_eq!((documents.all.len(), documents.broken), (0, Some(XmlError::Doctype)));
    let many = cdata(&format!("<a>{}</a>", "<b/>".repeat(MAX_ELEMENTS / 2)));
    let together = read(enveloped(&[many.clone(), many]).as_bytes());
    assert_eq!(together, Err(XmlError::TooManyElements), "of all together");
}

#[test]
fn padding_after_a_message_is_layout() {
    for end in ["\u{1A}", "\0\0\0", "\r\n\u{1A}\0", "\u{FEFF}\r\n"] {
        let text = format!("<Document xmlns='{PAIN_002}'><A>1</A></Document>{end}");
        assert_eq!(one(text.as_bytes()).text_at(&["A"]), Some("1"), "{end:?}");
    }
}

#[test]
fn an_invalid_byte_invalidates_its_text() {
    let mut bytes = format!("<Document xmlns='{PAIN_002}'><A>ausgef").into_bytes();
    bytes.push(0xFC);
    bytes.extend_from_slice(b"hrt</A><B>ours</B></Document>");
    let root = one(&bytes);
    assert_eq!(
        (root.text_at(&["A"]), root.text_at(&["B"])),
        (Some("ausgef\u{FFFD}hrt"), Some("ours"))
    );
}

#[test]
fn hostile_documents_are_refused() {
    let deep = format!("{}{}", "<a>".repeat(33), "</a>".repeat(33));
    let wide = format!("<a>{}</a>", "<b/>".repeat(MAX_ELEMENTS));
    let many: String = (0..=MAX_ATTRIBUTES).map(|n| format!(" a{n}='1'")).collect();
    let bomb = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbb'>]><a>&b;</a>";
    for (text, error) in [
        (bomb.to_owned(), XmlError::Doctype),
        ("<a>&b;</a>".to_owned(), XmlError::Entity),
        ("<a>&#0;</a>".to_owned(), XmlError::Entity),
        ("<a>&#x110000;</a>".to_owned(), XmlError::Entity),
        ("<a Ccy='&b;'/>".to_owned(), XmlError::Entity),
        (deep, XmlError::TooDeep),
        (wide, XmlError::TooManyElements),
        (format!("<a{many}/>"), XmlError::TooManyAttributes),
        ("x".repeat(MAX_MESSAGE_BYTES + 1), XmlError::TooLarge),
    ] {
        let start: String = text.chars().take(60).collect();
        assert_eq!(read(text.as_bytes()), Err(error), "{start}");
    }
    // What ends early may be the beginning of a document.
    for text in ["", "<a>", "<a", "<a><b>", "<a/><b"] {
        let read = read(text.as_bytes());
        assert!(matches!(read, Err(XmlError::Cut(_))), "{text}: {read:?}");
    }
    let whole = "<?xml version='1.0'?><!-- c --><a b='1'><![CDATA[x]]>&amp;&#233;\u{E9}<?p?></a>"
        .as_bytes();
    for length in 1..whole.len() {
        let read = read(&whole[..length]);
        assert!(matches!(read, Err(XmlError::Cut(_))), "{length}: {read:?}");
    }
    for text in ["x", "<a><b></a>", "</a>", "<a/>x", "<a Ccy='1' Ccy='2'/>", "{}"] {
        assert!(
            matches!(read(text.as_bytes()), Err(XmlError::Malformed(_))),
            "{text}: {:?}",
            read(text.as_bytes())
        );
    }
}
