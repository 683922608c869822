//! The publishers' formats, in small documents of invented names that follow the published files.

use super::load::{Document, LoadError, MAX_ENTRIES, load};
use super::*;
use jiff::civil::date;

fn document(origin: &str, text: &str) -> Document {
    Document { origin: origin.to_owned(), bytes: text.as_bytes().to_vec(), modified: None }
}

fn read(origin: &str, text: &str) -> List {
    load(&[document(origin, text)]).unwrap_or_else(|error| panic!("{error}"))
}

/// All facts about a list's first person, in one line.
fn said(list: &List) -> String {
    let entry = &list.entries[0];
    let names =
        entry.names.iter().map(|name| format!("{}{}", name.text, if name.weak { "~" } else { "" }));
    let births = entry.births.iter().map(|born| format!("{}..{}", born.from, born.to));
    let addresses = entry.addresses.iter().map(|it| format!("{}:{}", it.asset, it.address));
    format!(
        "{} {:?} [{}] [{}] [{}] [{}]",
        entry.uid,
        entry.kind,
        names.collect::<Vec<_>>().join(" | "),
        births.collect::<Vec<_>>().join(" | "),
        entry.countries.join(" "),
        addresses.collect::<Vec<_>>().join(" "),
    )
}

const ADVANCED: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<Sanctions xmlns="http://www.un.org/sanctions/1.0" Version="1">
  <DateOfIssue CalendarTypeID="1"><Year>2026</Year><Month>11</Month><Day>20</Day></DateOfIssue>
  <ReferenceValueSets>
    <CountryValues><Country ID="11" ISO2="PK">Pakistan</Country><Country ID="12" ISO2="IR">Iran</Country></CountryValues>
    <FeatureTypeValues>
      <FeatureType ID="8">Birthdate</FeatureType><FeatureType ID="10">Nationality Country</FeatureType>
      <FeatureType ID="25">Location</FeatureType><FeatureType ID="345">Digital Currency Address - XBT</FeatureType>
    </FeatureTypeValues>
    <NamePartTypeValues><NamePartType ID="1520">Last Name</NamePartType><NamePartType ID="1521">First Name</NamePartType></NamePartTypeValues>
    <PartySubTypeValues>
      <PartySubType ID="4" PartyTypeID="1">Unknown</PartySubType><PartySubType ID="1" PartyTypeID="4">Vessel</PartySubType>
    </PartySubTypeValues>
    <PartyTypeValues><PartyType ID="1">Individual</PartyType><PartyType ID="4">Transport</PartyType></PartyTypeValues>
  </ReferenceValueSets>
  <Locations>
    <Location ID="1"><LocationCountry CountryID="11"/></Location><Location ID="2"><LocationCountry CountryID="12"/></Location>
  </Locations>
  <DistinctParties>
    <DistinctParty FixedRef="101"><Profile ID="101" PartySubTypeID="4">
      <Identity ID="1" Primary="true">
        <Alias FixedRef="101" AliasTypeID="1400" Primary="false" LowQuality="true"><DocumentedName ID="2">
          <DocumentedNamePart><NamePartValue NamePartGroupID="3" ScriptID="215">Zorb</NamePartValue></DocumentedNamePart>
        </DocumentedName></Alias>
        <Alias FixedRef="101" AliasTypeID="1403" Primary="true" LowQuality="false"><DocumentedName ID="1">
          <DocumentedNamePart><NamePartValue NamePartGroupID="1" ScriptID="215">Quibbleton</NamePartValue></DocumentedNamePart>
          <DocumentedNamePart><NamePartValue NamePartGroupID="2" ScriptID="215">Zorblax</NamePartValue></DocumentedNamePart>
        </DocumentedName></Alias>
        <NamePartGroups><MasterNamePartGroup><NamePartGroup ID="1" NamePartTypeID="1520"/></MasterNamePartGroup>
          <MasterNamePartGroup><NamePartGroup ID="2" NamePartTypeID="1521"/></MasterNamePartGroup></NamePartGroups>
      </Identity>
      <Feature ID="1" FeatureTypeID="8"><FeatureVersion ID="1"><DatePeriod CalendarTypeID="1">
        <Start Approximate="false"><From><Year>1970</Year><Month>1</Month><Day>12</Day></From><To><Year>1970</Year><Month>1</Month><Day>12</Day></To></Start>
        <End Approximate="false"><From><Year>1970</Year><Month>1</Month><Day>12</Day></From><To><Year>1970</Year><Month>1</Month><Day>12</Day></To></End>
      </DatePeriod></FeatureVersion></Feature>
      <Feature ID="2" FeatureTypeID="10"><FeatureVersion ID="2"><VersionLocation LocationID="2"/></FeatureVersion></Feature>
      <Feature ID="3" FeatureTypeID="25"><FeatureVersion ID="3"><VersionLocation LocationID="1"/></FeatureVersion></Feature>
      <Feature ID="4" FeatureTypeID="345"><FeatureVersion ID="4"><VersionDetail DetailTypeID="1432">1BadAddress</VersionDetail></FeatureVersion></Feature>
    </Profile></DistinctParty>
    <DistinctParty FixedRef="102"><Profile ID="102" PartySubTypeID="1"><Identity ID="2" Primary="true">
      <Alias FixedRef="102" Primary="true"><DocumentedName ID="3"><DocumentedNamePart><NamePartValue>Neverfloats</NamePartValue></DocumentedNamePart></DocumentedName></Alias>
    </Identity></Profile></DistinctParty>
  </DistinctParties>
</Sanctions>"#;

const ENHANCED: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<sanctionsData xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ENHANCED_XML">
  <publicationInfo><dataAsOf>2026-11-20T00:00:00</dataAsOf></publicationInfo>
  <entities>
    <entity id="101">
      <generalInfo><identityId>1</identityId><entityType refId="600">Individual</entityType></generalInfo>
      <names>
        <name id="1"><isPrimary>true</isPrimary><isLowQuality>false</isLowQuality><translations>
          <translation id="1"><isPrimary>true</isPrimary><script refId="215">Latin</script><formattedFullName>QUIBBLETON, Zorblax</formattedFullName></translation>
          <translation id="2"><isPrimary>false</isPrimary><script refId="160">Arabic</script><formattedFullName>زوربلاكس</formattedFullName></translation>
        </translations></name>
        <name id="2"><isPrimary>false</isPrimary><aliasType refId="1400">A.K.A.</aliasType><isLowQuality>true</isLowQuality><translations>
          <translation id="3"><isPrimary>true</isPrimary><formattedLastName>ZORB</formattedLastName></translation>
        </translations></name>
      </names>
      <addresses><address id="1"><country refId="11">Pakistan</country></address></addresses>
      <features>
        <feature id="1"><type featureTypeId="8">Birthdate</type><value>12 Jan 1970</value><valueDate id="1">
          <fromDateBegin>1970-01-12</fromDateBegin><toDateEnd>1970-01-12</toDateEnd></valueDate></feature>
        <feature id="2"><type featureTypeId="10">Nationality Country</type><value>Iran</value></feature>
        <feature id="3"><type featureTypeId="345">Digital Currency Address - XBT</type><value>1BadAddress</value></feature>
      </features>
    </entity>
  </entities>
</sanctionsData>"#;

#[test]
fn ofacs_advanced_and_enhanced_xml_are_read() {
    for (origin, name) in
        [("SDN_ADVANCED.XML", "OFAC-SDN"), ("https://o.example/CONS_ADVANCED.XML", "OFAC-CONS")]
    {
        let list = read(origin, ADVANCED);
        assert_eq!((list.name.as_str(), list.published), (name, Some(date(2026, 11, 20))));
        assert_eq!(
            said(&list),
            "101 Person [Quibbleton, Zorblax | Zorb~] [1970-01-12..1970-01-12] [IRN PAK] [XBT:1BadAddress]"
        );
        assert_eq!(list.entries[1].kind, Kind::Craft);
    }
    let list = read("SDN_ENHANCED.XML", ENHANCED);
    assert_eq!((list.name.as_str(), list.published), ("OFAC-SDN", Some(date(2026, 11, 20))));
    assert_eq!(
        said(&list),
        "101 Person [QUIBBLETON, Zorblax | زوربلاكس | ZORB~] [1970-01-12..1970-01-12] [PAK IRN] [XBT:1BadAddress]"
    );
}

#[test]
fn ofacs_csv_is_joined_with_its_aliases_addresses_and_the_rest_of_its_remarks() {
    let main = "101,\"QUIBBLETON, Zorblax\",\"individual\",\"X\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,\"DOB 12 Jan 19\"\n\
                102,\"INVENTED HOLDINGS\",-0- ,\"X\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \n\u{1a}\n";
    let rest = "101,\"70; nationality Iran; a.k.a. 'ZORB'; Digital Currency Address - XBT 1BadAddress.\"\n\u{1a}";
    let aliases = "101,1,\"aka\",\"KWIBBLETON, Zorblaks\",-0- \n";
    let addresses =
        "101,7,\"1 Nowhere Street\",\"Karachi\",\"Pakistan\",-0- \n102,8,-0- ,-0- ,\"Iran\",-0- \n";
    let documents = [
        document("cons_comments.csv", rest),
        document("cons_add.csv", addresses),
        document("https://o.example/exports/CONS_PRIM.CSV", main),
        document("cons_alt.csv", aliases),
    ];
    let list = load(&documents).expect("joined");
    assert_eq!((list.name.as_str(), list.entries.len()), ("OFAC-CONS", 2));
    assert_eq!(
        said(&list),
        "101 Person [QUIBBLETON, Zorblax | KWIBBLETON, Zorblaks | ZORB~] [1970-01-12..1970-01-12] [PAK IRN] [XBT:1BadAddress]"
    );
    assert_eq!(list.entries[1].countries, ["IRN"]);
    assert_eq!(load(&[document("SDN.CSV", main)]).expect("alone").name, "OFAC-SDN");
}

#[test]
fn the_uk_list_is_read_as_xml_and_as_csv() {
    let xml = "<Designations><DateGenerated>20/11/2026</DateGenerated><Designation><UniqueID>INV0001</UniqueID><Names>\
        <Name><Name1>Zorb</Name1><NameType>Alias</NameType><AliasStrength>Low quality a.k.a</AliasStrength></Name>\
        <Name><Name1>Zorblax</Name1><Name6>Quibbleton</Name6><NameType>Primary Name</NameType></Name></Names>\
        <NonLatinNames><NonLatinName><NameNonLatinScript>زوربلاكس</NameNonLatinScript></NonLatinName></NonLatinNames>\
        <IndividualEntityShip>Individual</IndividualEntityShip>\
        <Addresses><Address><AddressCountry>Pakistan</AddressCountry></Address></Addresses>\
        <IndividualDetails><Individual><DOBs><DOB>12/01/1970</DOB><DOB>dd/mm/1971</DOB></DOBs>\
        <Nationalities><Nationality>Iran</Nationality></Nationalities></Individual></IndividualDetails>\
        </Designation></Designations>";
    let csv = "Report Date: 20-Nov-2026\nLast Updated,Unique ID,Name 6,Name 1,Name 2,Name 3,Name 4,Name 5,Name type,\
        Alias strength,Name non-latin script,\"Individual, Entity, Ship\",Address Country,D.O.B,Nationality(/ies)\n\
        x,INV0001,Quibbleton,Zorblax,,,,,Primary Name,,زوربلاكس,Individual,Pakistan,(1) 12/01/1970 (2) dd/mm/1971,Iran\n\
        x,INV0001,,Zorb,,,,,Alias,Low quality a.k.a,,Individual,,,\n";
    for text in [xml, csv] {
        let list = read("UK-Sanctions-List", text);
        assert_eq!((list.name.as_str(), list.published), ("UK", Some(date(2026, 11, 20))));
        let said = said(&list);
        assert!(said.starts_with("INV0001 Person [Quibbleton, Zorblax | "), "{said}");
        assert!(said.contains("Zorb~") && said.contains("زوربلاكس"), "{said}");
        assert!(said.contains("[1970-01-12..1970-01-12 | 1971-01-01..1971-12-31]"), "{said}");
        let mut countries = list.entries[0].countries.clone();
        countries.sort();
        assert_eq!(countries, ["IRN", "PAK"]);
    }
}

#[test]
fn the_eus_list_is_read_as_xml_and_as_csv() {
    let xml = "<ns:export xmlns:ns=\"http://eu.europa.ec/fpi/fsd/export\" generationDate=\"2026-11-20T10:00:00.000+01:00\">\
        <ns:sanctionEntity logicalId=\"13\"><ns:subjectType code=\"person\" classificationCode=\"P\"/>\
        <ns:nameAlias wholeName=\"Zorb\" strong=\"false\"/>\
        <ns:nameAlias firstName=\"Zorblax\" lastName=\"Quibbleton\" wholeName=\"\" strong=\"true\"/>\
        <ns:birthdate birthdate=\"1970-01-12\" year=\"1970\" circa=\"false\"/><ns:birthdate year=\"1971\" circa=\"false\"/>\
        <ns:citizenship countryIso2Code=\"IR\"/><ns:address countryIso2Code=\"00\" countryDescription=\"PAKISTAN\"/>\
        </ns:sanctionEntity></ns:export>";
    let csv = "\u{feff}fileGenerationDate;Entity_LogicalId;Entity_SubjectType;NameAlias_FirstName;NameAlias_LastName;NameAlias_WholeName;\
        NameAlias_Strong;BirthDate_BirthDate;BirthDate_Year;Citizenship_CountryIso2Code;Address_CountryDescription\n\
        20/11/2026;13;P;;;Zorb;false;;;;\n20/11/2026;13;P;Zorblax;Quibbleton;Zorblax Quibbleton;true;;;;\n\
        20/11/2026;13;P;;;;;1970-01-12;1970;;\n20/11/2026;13;P;;;;;;1971;;\n20/11/2026;13;P;;;;;;;IR;\n\
        20/11/2026;13;P;;;;;;;;PAKISTAN\n";
    for text in [xml, csv] {
        let list = read("eu", text);
        assert_eq!((list.name.as_str(), list.published), ("EU-FSF", Some(date(2026, 11, 20))));
        assert_eq!(
            said(&list),
            "13 Person [Quibbleton, Zorblax | Zorb~] [1970-01-12..1970-01-12 | 1971-01-01..1971-12-31] [IRN PAK] []"
        );
    }
}

#[test]
fn opensanctions_is_read_as_simple_csv_and_as_json_lines() {
    let csv = "\"id\",\"schema\",\"name\",\"aliases\",\"birth_date\",\"countries\",\"last_seen\"\n\
        \"Q1\",\"Person\",\"Zorblax Quibbleton\",\"Zorblaks Kwibbleton;\"\"A; B\"\"\",\"1970-01-12;1971\",\"ir;pk\",\"2026-11-20T00:00:00\"\n\
        \"Q2\",\"Vessel\",\"Neverfloats\",\"\",\"\",\"\",\"2026-11-19T00:00:00\"\n";
    let json = "{\"id\":\"Q1\",\"caption\":\"Zorblax Quibbleton\",\"schema\":\"Person\",\"target\":true,\"last_seen\":\"2026-11-20T00:00:00\",\
        \"properties\":{\"name\":[\"Zorblax Quibbleton\"],\"alias\":[\"Zorblaks Kwibbleton\",\"A; B\"],\"birthDate\":[\"1970-01-12\",\"1971\"],\
        \"nationality\":[\"ir\"],\"country\":[\"pk\"]}}\n\
        {\"id\":\"a\",\"schema\":\"Address\",\"properties\":{}}\n\
        {\"id\":\"Q3\",\"caption\":\"An Aunt\",\"schema\":\"Person\",\"target\":false,\"properties\":{\"name\":[\"An Aunt\"]}}\n\
        {\"id\":\"w\",\"caption\":\"0xbad\",\"schema\":\"CryptoWallet\",\"target\":true,\"properties\":{\"publicKey\":[\"0xbad\"],\"currency\":[\"ETH\"]}}\n";
    for text in [csv, json] {
        let list = read("targets", text);
        assert_eq!(
            (list.name.as_str(), list.published),
            ("OPENSANCTIONS", Some(date(2026, 11, 20)))
        );
        assert_eq!(
            said(&list),
            "Q1 Person [Zorblax Quibbleton | Zorblaks Kwibbleton | A; B] \
             [1970-01-12..1970-01-12 | 1971-01-01..1971-12-31] [IRN PAK] []"
        );
        assert_eq!(list.entries.len(), 2);
    }
    assert_eq!(read("targets", json).entries[1].addresses[0].address, "0xbad");
}

#[test]
fn a_wallet_is_listed_with_its_holder_wherever_the_file_has_it() {
    let wallet = |id: &str, holder: &str| {
        format!(
            "{{\"id\":\"{id}\",\"schema\":\"CryptoWallet\",\"target\":false,\"properties\":{{\"publicKey\":[\"0x{id}\",\"0x{id}2\"],\"currency\":[\"ETH\"]{holder}}}}}\n"
        )
    };
    let person = |id: &str, target: bool| {
        format!(
            "{{\"id\":\"{id}\",\"schema\":\"Person\",\"target\":{target},\"properties\":{{\"name\":[\"Zorblax {id}\"]}}}}\n"
        )
    };
    let text = [
        wallet("a1", ",\"holder\":[\"aunt\",\"p\"]"),
        person("p", true),
        person("aunt", false),
        wallet("a2", ",\"holder\":[{\"id\":\"p\",\"schema\":\"Person\"}]"),
        wallet("b1", ",\"holder\":[\"aunt\"]"),
        wallet("b2", ""),
    ];
    let list = read("targets", &text.concat());
    let addresses = list.entries.iter().flat_map(|entry| &entry.addresses);
    let addresses: Vec<_> = addresses.map(|it| (it.asset.as_str(), it.address.as_str())).collect();
    assert_eq!(addresses, [("ETH", "0xa1"), ("ETH", "0xa12"), ("ETH", "0xa2"), ("ETH", "0xa22")]);
    assert!(list.unreadable.is_empty(), "{:?}", list.unreadable);
}

#[test]
fn wallets_count_as_entries() {
    let wallet = "{\"id\":\"w\",\"schema\":\"CryptoWallet\",\"target\":false,\"properties\":{\"holder\":[\"p\"],\"publicKey\":[\"x\"]}}\n";
    let person = "{\"id\":\"p\",\"schema\":\"Person\",\"target\":true,\"properties\":{\"name\":[\"Zorblax\"]}}\n";
    let text = person.to_owned() + &wallet.repeat(MAX_ENTRIES);
    let refused = load(&[document("targets", &text)]).expect_err("too many").to_string();
    assert!(refused.contains("more than 500000 entries"), "{refused}");
}

/// Unreadable entries are reported one by one; a list with too many is rejected.
#[test]
fn an_unreadable_entry_is_counted_and_named() {
    let entry = |uid: usize| {
        format!("<sdnEntry><uid>{uid}</uid><lastName>NAME {uid}</lastName></sdnEntry>\n")
    };
    let many: String = (0..40).map(entry).collect();
    let one_bad = format!("<sdnList>\n{many}<sdnEntry><uid>41</uid></sdnEntry>\n</sdnList>");
    let list = read("x", &one_bad);
    assert_eq!(list.entries.len(), 40);
    assert_eq!(list.unreadable, ["x, line 42: <sdnEntry> without <uid> or <lastName>"]);

    let bad = "<sdnEntry><uid>41</uid></sdnEntry>\n".repeat(3);
    let refused =
        load(&[document("x", &format!("<sdnList>\n{many}{bad}</sdnList>"))]).expect_err("too many");
    assert_eq!(refused.to_string(), "x, line 42: <sdnEntry> without <uid> or <lastName>");

    let rows: String =
        (0..40).map(|uid| format!("{uid},NAME {uid},individual,,,,,,,,,\n")).collect();
    let orphan =
        load(&[document("sdn", &rows), document("alt", "999,1,aka,NEMO,-0-")]).expect("a list");
    assert_eq!(orphan.unreadable, ["alt, line 1: ent_num 999 is not in SDN.CSV"]);
    // Without its aliases, half of the listed names are missing.
    for (origin, joined, is_incomplete) in [
        ("SDN.CSV", &[][..], true),
        ("CONS_PRIM.CSV", &[], true),
        ("SDN.CSV", &[("add", "1,1,Street,City,Iran,-0-")], true),
        ("SDN.CSV", &[("alt", "1,1,aka,NEMO,-0-")], false),
    ] {
        let main = [(origin, rows.as_str())];
        let documents: Vec<_> =
            main.iter().chain(joined).map(|(origin, text)| document(origin, text)).collect();
        let list = load(&documents).expect(origin);
        assert_eq!(list.incomplete.is_some(), is_incomplete, "{origin} {:?}", list.incomplete);
    }
    // OFAC's other documents belong to its CSV alone.
    let strange =
        load(&[document("x", &one_bad), document("alt", "1,1,aka,NEMO,-0-")]).expect_err("strange");
    assert!(matches!(strange, LoadError::Mismatch { .. }), "{strange}");
}

/// A download that stops, or a file that is still being written: what followed is not known, and a
/// list without it would clear the names in it.
#[test]
fn a_list_that_ends_within_an_entry_is_refused() {
    let many = |row: &dyn Fn(usize) -> String| (0..60).map(row).collect::<String>();
    let main = many(&|uid| format!("{uid},\"NAME, {uid}\",individual,,,,,,,,,\"DOB 1970\"\n"));
    let eu = many(&|uid| format!("20/11/2026;{uid};P;Name {uid};true;\"1970-01-12\"\n"));
    let eu = format!(
        "fileGenerationDate;Entity_LogicalId;Entity_SubjectType;NameAlias_WholeName;NameAlias_Strong;BirthDate_BirthDate\n{eu}"
    );
    let uk = many(&|uid| format!("{uid},Name {uid},Primary Name,Individual,\"12/01/1970\"\n"));
    let uk = format!(
        "Report Date: 20-Nov-2026\nUnique ID,Name 6,Name type,Designation Type,D.O.B\n{uk}"
    );
    let simple =
        many(&|uid| format!("\"Q{uid}\",\"Person\",\"Name {uid}\",\"One;Two\",\"1970\"\n"));
    let simple = format!("\"id\",\"schema\",\"name\",\"aliases\",\"birth_date\"\n{simple}");
    let json = many(&|uid| {
        format!(
            "{{\"id\":\"Q{uid}\",\"schema\":\"Person\",\"properties\":{{\"name\":[\"Name {uid}\"]}}}}\n"
        )
    });
    for (origin, text) in [
        ("sdn.csv", main),
        ("eu.csv", eu),
        ("uk.csv", uk),
        ("targets.csv", simple),
        ("x.json", json),
    ] {
        for whole in [text.clone(), text.trim_end().to_owned(), format!("{text}\u{1a}")] {
            if whole.ends_with('\u{1a}') && origin != "sdn.csv" {
                continue;
            }
            assert_eq!(read(origin, &whole).entries.len(), 60, "{origin}");
        }
        let last = text.trim_end().rfind('\n').expect("rows") + 1;
        let row = text[last..].trim_end().len();
        // After the first field, in the middle, and before the quotes at the end.
        for length in [6, row / 2, row - 1] {
            let cut = &text[..last + length];
            let refused = load(&[document(origin, cut)]).expect_err(cut).to_string();
            assert!(refused.contains("the document is truncated"), "{refused}");
        }
    }
    let rows = "1,NAME,individual,,,,,,,,,\n";
    let refused =
        load(&[document("sdn.csv", rows), document("alt.csv", "1,1,aka,NEMO,-0-\n1,2,ak")]);
    let refused = refused.expect_err("cut").to_string();
    assert_eq!(refused, "alt.csv, line 2: the document is truncated: it ends within an entry");
}

#[test]
fn rows_that_do_not_reach_the_names_are_unreadable_and_quotes_within_names_are_kept() {
    let heading = "id,schema,name,aliases,birth_date\n";
    let rows: String = (0..30).map(|uid| format!("Q{uid},Person,Name {uid},,\n")).collect();
    let list = read("x", &format!("{heading}{rows}Q90,Person\n"));
    assert_eq!(list.unreadable, ["x, line 32: has 2 columns instead of 4"]);
    let list = read("x", &format!("{heading}Q1,Person,Zorblax,\"\"\"The Beast;Zorb\"\n"));
    let names: Vec<&str> = list.entries[0].names.iter().map(|name| name.text.as_str()).collect();
    assert_eq!(names, ["Zorblax", "The Beast", "Zorb"]);
}

/// As spreadsheets save it.
#[test]
fn an_own_list_may_come_from_a_spreadsheet() {
    let comma = "#corridor-sanctions name=OWN published=2026-11-20,,,,,,,\r\n\
        uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\r\n\
        1,Person,Zorblax Quibbleton,Zorb;Blax,,1970-01-12,PAK,\r\n\
        2,Organization,Quibbleton Trading,,,,,\r\n,,,,,,,\r\n";
    let quoted = comma.replacen(
        "#corridor-sanctions name=OWN published=2026-11-20",
        "\"#corridor-sanctions name=OWN published=2026-11-20\"",
        1,
    );
    let semicolon = comma.replace("Zorb;Blax", "\"Zorb;Blax\"").replace(',', ";");
    let tabs = comma.replace(',', "\t");
    for text in [comma, &quoted, &semicolon, &tabs] {
        let list = read("own.csv", text);
        assert_eq!(list.entries.len(), 2, "{text}");
        assert_eq!(
            said(&list),
            "1 Person [Zorblax Quibbleton | Zorb | Blax] [1970-01-12..1970-01-12] [PAK] []"
        );
        assert_eq!(list.entries[1].kind, Kind::Organisation);
        assert!(list.unreadable.is_empty(), "{:?}", list.unreadable);
    }
}

/// An own list with these rows.
fn own(rows: &str) -> String {
    format!(
        "#corridor-sanctions name=OWN published=2026-11-20\n\
         uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n{rows}"
    )
}

#[test]
fn an_unreadable_field_of_an_own_list_loses_no_name() {
    for (fields, read_as, unreadable) in [
        ("12.01.1970,PAK,", "[1970-01-12..1970-01-12] [PAK] []", None),
        ("12/01/1970,pk,", "[1970-01-12..1970-01-12] [PAK] []", None),
        ("1970-1972,pak,", "[1970-01-01..1972-12-31] [PAK] []", None),
        ("circa 1970,Pakistan,", "[1969-01-01..1971-12-31] [PAK] []", None),
        ("unknown,PAK,", "[] [PAK] []", Some("birthdate \"unknown\" is not a date")),
        ("1970;n/a,IR;PK,", "[1970-01-01..1970-12-31] [IRN PAK] []", Some("birthdate \"n/a\"")),
        (",Atlantis;PAK,", "[] [PAK] []", Some("country \"Atlantis\" is not of ISO 3166-1")),
        (",XQ,", "[] [] []", Some("country \"XQ\"")),
        (",,ETH:0x1;0x2", "[] [] [ETH:0x1]", Some("address \"0x2\" is not ASSET:address")),
    ] {
        let list = read("own", &own(&format!("1,person,Zorblax Quibbleton,Zorb,,{fields}\n")));
        let expected = format!("1 Person [Zorblax Quibbleton | Zorb] {read_as}");
        assert_eq!(said(&list), expected, "{fields}");
        match unreadable {
            None => assert!(list.unreadable.is_empty(), "{fields}: {:?}", list.unreadable),
            Some(problem) => {
                assert!(list.unreadable[0].contains(problem), "{fields}: {:?}", list.unreadable);
                assert!(list.unreadable[0].contains("line 3"), "{fields}: {:?}", list.unreadable);
            }
        }
    }
}

#[test]
fn a_row_of_an_own_list_whose_uid_begins_with_a_number_sign_is_an_entry() {
    let rows = "# A comment, with a comma, and \"quotes\n#7,person,Zorblax Quibbleton,,,,,\n\
        #,,,,,,,\n# one, that has, as many, commas, as a row, has, in this, list\n\
        8,person,\"Grimwald\n# Fakename\",,,,,\n";
    let list = read("own", &own(rows));
    let uids: Vec<&str> = list.entries.iter().map(|entry| entry.uid.as_str()).collect();
    assert_eq!(uids, ["#7", "8"]);
    assert_eq!(list.entries[1].primary_name(), "Grimwald\n# Fakename");
    assert!(list.unreadable.is_empty(), "{:?}", list.unreadable);
}

#[test]
fn a_field_that_is_too_long_loses_no_name() {
    let long = "x ".repeat(40_000);
    let own = own(&format!("1,person,Zorblax Quibbleton,{long},,1970,PAK,\n"));
    let sdn = format!("1,\"QUIBBLETON, Zorblax\",individual,,,,,,,,,\"DOB 1970; {long}\"\n");
    let simple = format!(
        "id,schema,name,aliases,birth_date\n1,Person,\"Quibbleton, Zorblax\",{long},1970\n"
    );
    for (form, text) in [("own", own), ("sdn", sdn), ("simple", simple)] {
        let list = read(form, &text);
        assert!(said(&list).contains("1970-01-01..1970-12-31"), "{form}");
        assert!(list.unreadable[0].contains("a field has more than 65536 bytes"), "{form}");
    }
}

#[test]
fn rows_without_an_id_are_unreadable_each() {
    let uk = |uid: &dyn Fn(usize) -> String| {
        let rows = (0..60).map(|at| format!("x,{},Quibbleton{at},Zorblax,Primary Name\n", uid(at)));
        let heading = "Report Date: 20-Nov-2026\nLast Updated,Unique ID,Name 6,Name 1,Name type\n";
        format!("{heading}{},,,,\n", rows.collect::<String>())
    };
    let eu = |uid: &dyn Fn(usize) -> String| {
        let rows = (0..60).map(|at| format!("{};P;Zorblax Quibbleton{at}\n", uid(at)));
        let heading = "Entity_LogicalId;Entity_SubjectType;NameAlias_WholeName\n";
        format!("{heading}{};;\n", rows.collect::<String>())
    };
    let some =
        |lost: usize| move |at: usize| if at < lost { String::new() } else { format!("INV{at}") };
    for (form, text) in [("uk", uk(&some(2))), ("eu", eu(&some(2)))] {
        let list = read(form, &text);
        assert_eq!((list.entries.len(), list.unreadable.len()), (58, 2), "{form}");
    }
    for (form, text) in [("uk", uk(&some(20))), ("eu", eu(&some(20)))] {
        let refused = load(&[document(form, &text)]).expect_err(form);
        assert!(refused.to_string().contains("a row without a"), "{refused}");
    }
}

#[test]
fn weak_names_are_marked_in_any_way() {
    let un = |quality: &str| {
        format!(
            "<CONSOLIDATED_LIST><INDIVIDUALS><INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>Zorblax</FIRST_NAME>\
             <INDIVIDUAL_ALIAS><QUALITY>{quality}</QUALITY><ALIAS_NAME>Zorb</ALIAS_NAME></INDIVIDUAL_ALIAS>\
             </INDIVIDUAL></INDIVIDUALS></CONSOLIDATED_LIST>"
        )
    };
    for (quality, is_weak) in [("Low", true), ("low", true), ("LOW", true), ("Good", false)] {
        let list = read("un", &un(quality));
        assert_eq!(list.entries[0].names[1].weak, is_weak, "{quality}");
    }
    for mark in ["a.k.a.", "f.k.a.", "n.k.a."] {
        let sdn = format!("1,\"QUIBBLETON, Zorblax\",individual,,,,,,,,,\"{mark} 'GRIMWALD'.\"\n");
        assert!(said(&read("sdn", &sdn)).contains("| GRIMWALD~]"), "{mark}");
    }
}

/// One of two family names stands for both, if the list says which names they are.
#[test]
fn a_person_is_found_by_a_given_and_the_first_family_name_in_every_format() {
    let (given, family) = ("Jose Maria", "BANTILINGO QUORVEZ");
    let sdn = format!(
        "<sdnList><sdnEntry><uid>1</uid><firstName>{given}</firstName><lastName>{family}</lastName>\
         <sdnType>Individual</sdnType></sdnEntry></sdnList>"
    );
    let csv = format!("1,\"{family}, {given}\",individual,,,,,,,,,\n");
    let uk = format!(
        "<Designations><Designation><UniqueID>1</UniqueID><Names><Name><Name1>Jose</Name1><Name2>Maria</Name2>\
         <Name6>{family}</Name6></Name></Names><IndividualEntityShip>Individual</IndividualEntityShip>\
         </Designation></Designations>"
    );
    let eu = format!(
        "<export><sanctionEntity logicalId=\"1\"><subjectType code=\"person\"/><nameAlias \
         firstName=\"{given}\" lastName=\"{family}\" wholeName=\"{given} {family}\"/></sanctionEntity></export>"
    );
    for text in [sdn, csv, uk, eu] {
        let list = read("x", &text);
        assert_eq!(list.entries[0].primary_name(), format!("{family}, {given}"));
        let lists = SanctionLists::build(vec![std::sync::Arc::new(list)]);
        for name in ["Jose Bantilingo", "Jose Quorvez"] {
            let party = domain::screening::Party { name, birthdate: None, country: None };
            let score = lists.best_match(&party).map_or(0, |found| found.score);
            assert!(score >= domain::screening::REVIEW_FROM, "{name}: {score}");
        }
    }
    let longer = "<export><sanctionEntity logicalId=\"1\"><nameAlias firstName=\"Jose\" lastName=\"QUORVEZ\" \
                  wholeName=\"Jose Maria QUORVEZ\"/></sanctionEntity></export>";
    assert_eq!(read("x", longer).entries[0].primary_name(), "Jose Maria QUORVEZ");
}

#[test]
fn a_name_without_letters_is_reported() {
    let rows = "1,person,Zorblax Quibbleton,???;Zorb,,,,\n2,person,-,,,,,\n";
    let list = read(
        "x",
        &format!(
            "#corridor-sanctions name=X published=2026-11-20\nuid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\n{rows}"
        ),
    );
    assert_eq!(
        list.unreadable,
        [
            "x: entry 1: the name \"???\" has no letters",
            "x: entry 2: the name \"-\" has no letters"
        ]
    );
}

/// Publishers without a field for addresses write them into their remarks.
#[test]
fn addresses_in_remarks_are_listed() {
    const ADDRESS: &str = "0xBAD00000000000000000000000000000000000b1";
    let remark = format!("Wallets: bc1qinvented and {ADDRESS}; transaction 0x{}.", "ab".repeat(32));
    let ofac = format!("1,\"NAME, A\",individual,,,,,,,,,\"{remark}\"\n");
    let un = format!(
        "<CONSOLIDATED_LIST><INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>A</FIRST_NAME>\
         <COMMENTS1>{remark}</COMMENTS1></INDIVIDUAL></CONSOLIDATED_LIST>"
    );
    let uk = format!(
        "<Designations><Designation><UniqueID>1</UniqueID><Names><Name><Name6>A</Name6></Name></Names>\
         <OtherInformation>{remark}</OtherInformation></Designation></Designations>"
    );
    let uk_rows = format!(
        "Unique ID,Name 6,Name type,Other Information\n1,A,Primary Name,\"{remark}\"\n1,B,Alias,\"{remark}\"\n"
    );
    let eu = format!(
        "<export><sanctionEntity logicalId=\"1\"><remark>{remark}</remark><nameAlias wholeName=\"A\"/>\
         </sanctionEntity></export>"
    );
    let eu_rows = format!("Entity_LogicalId;Entity_Remark;NameAlias_WholeName\n1;\"{remark}\";A\n");
    let simple = format!("id,schema,name,aliases,identifiers\nQ1,Person,A,,\"{remark}\"\n");
    let json = format!(
        "{{\"id\":\"Q1\",\"schema\":\"Person\",\"properties\":{{\"name\":[\"A\"],\"notes\":[\"{remark}\"]}}}}\n"
    );
    for text in [ofac, un, uk, uk_rows, eu, eu_rows, simple, json] {
        let list = read("x", &text);
        let addresses: Vec<&str> =
            list.entries[0].addresses.iter().map(|listed| listed.address.as_str()).collect();
        assert_eq!(addresses, [ADDRESS], "{text}");
    }
}
