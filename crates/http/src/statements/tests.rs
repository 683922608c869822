//! A small statement in all three formats. The server's tests validate camt.053 with `xmllint`, on
//! statements of real books.

use domain::chain::TxHash;
use domain::currency::{Currency, StableCoin};
use domain::ids::{
    AttemptId, DepositId, PaymentId, PaymentRequestId, TenantId, TransferId, WalletId,
};
use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::{Span, Timestamp};
use engine::statement::{Balance, Direction, Entry, References, Statement, Subject, Total};
use uuid::Uuid;

use super::{Format, file_name, write};

const FROM: Timestamp = Timestamp(1_795_219_200_000_000);
const PAID: Uuid = Uuid::from_u128(0x0011_2233_4455_4677_8899_aabb_ccdd_eeff);

fn usdt(minor: i64) -> Money {
    Money::new(minor, Currency::Usdt)
}

fn entry(number: u128, direction: Direction, minor: i64) -> Entry {
    Entry {
        id: TransferId(Uuid::from_u128(number)),
        at: FROM + Span::hours(9),
        direction,
        amount: usdt(minor),
        reason: "prefund.top_up".to_owned(),
        purpose: "Prefunding received",
        counter_account: AccountCode::External(StableCoin::Usdt),
        counter_side: "Outside (paid in or out)",
        subject: Subject::Nothing,
        references: References::default(),
    }
}

fn payment(number: u128, minor: i64) -> Entry {
    Entry {
        reason: "payment.post".to_owned(),
        purpose: "Payment",
        counter_account: AccountCode::InTransit(StableCoin::Usdt),
        counter_side: "Payments under way",
        subject: Subject::Payment(PaymentId(PAID)),
        references: References {
            external_id: Some("=cmd|'/c calc'!A1".to_owned()),
            attempt: Some(AttemptId(PAID)),
            bank_reference: Some("FT-<1>&\"2\"".to_owned()),
            ..References::default()
        },
        ..entry(number, Direction::Debit, minor)
    }
}

fn statement() -> Statement {
    let balance = |booked, available| Balance { booked: usdt(booked), available: usdt(available) };
    Statement {
        tenant: TenantId(Uuid::nil()),
        account: AccountCode::Prefund(StableCoin::Usdt),
        from: FROM,
        to: FROM + Span::days(1),
        made_at: FROM + Span::days(2),
        is_final: true,
        sequence: 7,
        opening: balance(100, 100),
        closing: balance(863_992_745, 863_992_744),
        credits: Total { count: 1, sum: usdt(1_000_000_000) },
        debits: Total { count: 1, sum: usdt(136_007_355) },
        entries: vec![
            (entry(1, Direction::Credit, 1_000_000_000), usdt(1_000_000_100)),
            (payment(2, 136_007_355), usdt(863_992_745)),
        ],
        reservations: vec![Entry {
            reason: "payment.reserve".to_owned(),
            purpose: "Payment under way",
            ..payment(3, 1)
        }],
    }
}

fn written(statement: &Statement, format: Format) -> String {
    let mut out = Vec::new();
    write(statement, "Demo & Sons <Bank>", format, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn csv_has_a_head_both_balances_every_movement_and_what_is_reserved() {
    let text = written(&statement(), Format::Csv);
    insta::assert_snapshot!(text.replace("\r\n", "␍\n"), @r#"
    record,booked_at,value_date,direction,amount,currency,balance,available,purpose,counter_side,counter_account,payment_id,external_id,order_id,deposit_id,payment_request_id,tx_hash,uetr,end_to_end_id,bank_reference,reason,transfer_id␍
    opening_balance,2026-11-21T00:00:00.000Z,2026-11-21,,,USDT,0.000100,0.000100,,,,,,,,,,,,,,␍
    movement,2026-11-21T09:00:00.000Z,2026-11-21,credit,1000.000000,USDT,1000.000100,,Prefunding received,Outside (paid in or out),external:USDT,,,,,,,,,,prefund.top_up,00000000-0000-0000-0000-000000000001␍
    movement,2026-11-21T09:00:00.000Z,2026-11-21,debit,136.007355,USDT,863.992745,,Payment,Payments under way,in_transit:USDT,00112233-4455-4677-8899-aabbccddeeff,'=cmd|'/c calc'!A1,,,,,00112233-4455-4677-8899-aabbccddeeff,00112233445546778899aabbccddeeff,"FT-<1>&""2""",payment.post,00000000-0000-0000-0000-000000000002␍
    closing_balance,2026-11-22T00:00:00.000Z,2026-11-22,,,USDT,863.992745,863.992744,,,,,,,,,,,,,,␍
    reservation,2026-11-21T09:00:00.000Z,2026-11-21,debit,0.000001,USDT,,,Payment under way,Payments under way,in_transit:USDT,00112233-4455-4677-8899-aabbccddeeff,'=cmd|'/c calc'!A1,,,,,00112233-4455-4677-8899-aabbccddeeff,00112233445546778899aabbccddeeff,"FT-<1>&""2""",payment.reserve,00000000-0000-0000-0000-000000000003␍
    "#);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().expect("RFC 4180");
    assert_eq!(rows.len(), 5);
    assert_eq!(&rows[2][12], "'=cmd|'/c calc'!A1", "no spreadsheet runs it");
}

#[test]
fn json_has_exact_amounts() {
    let text = written(&statement(), Format::Json);
    let pretty: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(pretty["movements"].as_array().map(Vec::len), Some(2));
    insta::assert_snapshot!(text.replace(",\"", ",\n\""), @r#"
    {"bank":"Demo & Sons <Bank>",
    "account":"prefund:USDT",
    "currency":"USDT",
    "from":"2026-11-21T00:00:00.000Z",
    "to":"2026-11-22T00:00:00.000Z",
    "made_at":"2026-11-23T00:00:00.000Z",
    "final":true,
    "sequence":7,
    "opening":{"booked":0.0001,
    "available":0.0001},
    "closing":{"booked":863.992745,
    "available":863.992744},
    "credits":{"count":1,
    "sum":1000},
    "debits":{"count":1,
    "sum":136.007355},
    "movements":[{"booked_at":"2026-11-21T09:00:00.000Z",
    "value_date":"2026-11-21",
    "direction":"credit",
    "amount":1000,
    "balance":1000.0001,
    "purpose":"Prefunding received",
    "counter_side":"Outside (paid in or out)",
    "counter_account":"external:USDT",
    "external_id":null,
    "payment_request_id":null,
    "tx_hash":null,
    "uetr":null,
    "end_to_end_id":null,
    "bank_reference":null,
    "reason":"prefund.top_up",
    "transfer_id":"00000000-0000-0000-0000-000000000001"},{"booked_at":"2026-11-21T09:00:00.000Z",
    "value_date":"2026-11-21",
    "direction":"debit",
    "amount":136.007355,
    "balance":863.992745,
    "purpose":"Payment",
    "counter_side":"Payments under way",
    "counter_account":"in_transit:USDT",
    "payment_id":"00112233-4455-4677-8899-aabbccddeeff",
    "external_id":"=cmd|'/c calc'!A1",
    "payment_request_id":null,
    "tx_hash":null,
    "uetr":"00112233-4455-4677-8899-aabbccddeeff",
    "end_to_end_id":"00112233445546778899aabbccddeeff",
    "bank_reference":"FT-<1>&\"2\"",
    "reason":"payment.post",
    "transfer_id":"00000000-0000-0000-0000-000000000002"}],
    "reservations":[{"booked_at":"2026-11-21T09:00:00.000Z",
    "value_date":"2026-11-21",
    "direction":"debit",
    "amount":0.000001,
    "purpose":"Payment under way",
    "counter_side":"Payments under way",
    "counter_account":"in_transit:USDT",
    "payment_id":"00112233-4455-4677-8899-aabbccddeeff",
    "external_id":"=cmd|'/c calc'!A1",
    "payment_request_id":null,
    "tx_hash":null,
    "uetr":"00112233-4455-4677-8899-aabbccddeeff",
    "end_to_end_id":"00112233445546778899aabbccddeeff",
    "bank_reference":"FT-<1>&\"2\"",
    "reason":"payment.reserve",
    "transfer_id":"00000000-0000-0000-0000-000000000003"}]}
    "#);
}

#[test]
fn camt053_has_the_same_content_in_whole_units_without_currency() {
    let text = written(&statement(), Format::Camt053);
    let parts = [
        "<GrpHdr",
        "<Stmt",
        "<Acct>",
        "<Bal>",
        "<TxsSummry",
        "<Ntry>",
        "<BkTxCd",
        "<NtryDtls",
        "<AddtlStmtInf",
    ];
    let lines = parts.iter().fold(text, |text, part| text.replace(part, &format!("\n{part}")));
    insta::assert_snapshot!(lines, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
    <GrpHdr><MsgId>5bad11d868da063c6d2ef000c5892aaf</MsgId><CreDtTm>2026-11-23T00:00:00.000Z</CreDtTm></GrpHdr>
    <Stmt><Id>5bad11d868da063c6d2ef000c5892aaf</Id><ElctrncSeqNb>7</ElctrncSeqNb><CreDtTm>2026-11-23T00:00:00.000Z</CreDtTm><FrToDt><FrDtTm>2026-11-21T00:00:00.000Z</FrDtTm><ToDtTm>2026-11-22T00:00:00.000Z</ToDtTm></FrToDt>
    <Acct><Id><Othr><Id>prefund:USDT</Id><SchmeNm><Prtry>LEDGER_ACCOUNT</Prtry></SchmeNm><Issr>CORRIDOR</Issr></Othr></Id><Tp><Prtry>USDT</Prtry></Tp><Ccy>XXX</Ccy><Nm>prefund:USDT</Nm><Ownr><Nm>Demo &amp; Sons &lt;Bank&gt;</Nm></Ownr></Acct>
    <Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">100</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-11-21T00:00:00.000Z</DtTm></Dt></Bal>
    <Bal><Tp><CdOrPrtry><Cd>OPAV</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">100</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-11-21T00:00:00.000Z</DtTm></Dt></Bal>
    <Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">863992745</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-11-22T00:00:00.000Z</DtTm></Dt></Bal>
    <Bal><Tp><CdOrPrtry><Cd>CLAV</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">863992744</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-11-22T00:00:00.000Z</DtTm></Dt></Bal>
    <TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries><Sum>1136007355</Sum><TtlNetNtry><Amt>863992645</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry></TtlNtries><TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>1000000000</Sum></TtlCdtNtries><TtlDbtNtries><NbOfNtries>1</NbOfNtries><Sum>136007355</Sum></TtlDbtNtries></TxsSummry>
    <Ntry><NtryRef>1</NtryRef><Amt Ccy="XXX">1000000000</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-11-21T09:00:00.000Z</DtTm></BookgDt><ValDt><Dt>2026-11-21</Dt></ValDt><AcctSvcrRef>00000000000000000000000000000001</AcctSvcrRef>
    <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>MCOP</Cd><SubFmlyCd>OTHR</SubFmlyCd></Fmly></Domn><Prtry><Cd>prefund.top_up</Cd><Issr>CORRIDOR</Issr></Prtry></BkTxCd>
    <NtryDtls><TxDtls><Amt Ccy="XXX">1000000000</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls></NtryDtls><AddtlNtryInf>1000.000000 USDT. Prefunding received. Other side: Outside (paid in or out)</AddtlNtryInf></Ntry>
    <Ntry><NtryRef>2</NtryRef><Amt Ccy="XXX">136007355</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-11-21T09:00:00.000Z</DtTm></BookgDt><ValDt><Dt>2026-11-21</Dt></ValDt><AcctSvcrRef>00000000000000000000000000000002</AcctSvcrRef>
    <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>XBCT</SubFmlyCd></Fmly></Domn><Prtry><Cd>payment.post</Cd><Issr>CORRIDOR</Issr></Prtry></BkTxCd>
    <NtryDtls><TxDtls><Refs><InstrId>00112233445546778899aabbccddeeff</InstrId><EndToEndId>00112233445546778899aabbccddeeff</EndToEndId><UETR>00112233-4455-4677-8899-aabbccddeeff</UETR><AcctOwnrTxId>=cmd|&apos;/c calc&apos;!A1</AcctOwnrTxId><AcctSvcrTxId>00112233445546778899aabbccddeeff</AcctSvcrTxId><Prtry><Tp>BANK_REFERENCE</Tp><Ref>FT-&lt;1&gt;&amp;&quot;2&quot;</Ref></Prtry></Refs><Amt Ccy="XXX">136007355</Amt><CdtDbtInd>DBIT</CdtDbtInd></TxDtls></NtryDtls><AddtlNtryInf>136.007355 USDT. Payment. Other side: Payments under way</AddtlNtryInf></Ntry>
    <AddtlStmtInf>Amounts are whole units of 0.000001 USDT: USDT has no ISO 4217 code. Opening 0.000100 USDT, closing 863.992745 USDT, available 863.992744 USDT; open reservations: 1.</AddtlStmtInf></Stmt></BkToCstmrStmt></Document>
    "#);
}

#[test]
fn an_account_in_a_currency_of_iso_4217_has_that_currency() {
    let pkr = |minor| Money::new(minor, Currency::Pkr);
    let balance = |minor| Balance { booked: pkr(minor), available: pkr(minor) };
    let of_rail = Statement {
        account: AccountCode::Nostro(domain::rail::RailId::new("pak-raast"), Currency::Pkr),
        opening: balance(-5),
        closing: balance(-3_791_210),
        is_final: false,
        entries: vec![(Entry { amount: pkr(3_791_205), ..payment(2, 1) }, pkr(-3_791_210))],
        credits: Total { count: 0, sum: pkr(0) },
        debits: Total { count: 1, sum: pkr(3_791_205) },
        reservations: Vec::new(),
        ..statement()
    };
    let text = written(&of_rail, Format::Camt053);
    assert!(text.contains("<Ccy>PKR</Ccy><Nm>nostro:pak-raast:PKR</Nm>"), "{text}");
    assert!(
        text.contains("<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"PKR\">0.05</Amt><CdtDbtInd>DBIT"),
        "{text}"
    );
    assert!(
        text.contains(
            "<Cd>ITBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"PKR\">37912.10</Amt><CdtDbtInd>DBIT"
        ),
        "{text}"
    );
    assert!(!text.contains("XXX") && !text.contains("CLBD"), "{text}");
}

#[test]
fn a_wallet_is_named_by_its_id_and_a_deposit_by_its_transaction() {
    let wallet = WalletId(Uuid::from_u128(9));
    let long = "x".repeat(128);
    let deposit = Entry {
        subject: Subject::Deposit(DepositId(PAID)),
        references: References {
            tx: Some(TxHash([0xab; 32])),
            request: Some(PaymentRequestId(Uuid::from_u128(8))),
            external_id: Some(long.clone()),
            ..References::default()
        },
        ..entry(1, Direction::Credit, 1_000_000_000)
    };
    let of_wallet = Statement {
        account: AccountCode::Wallet(wallet, StableCoin::Usdt),
        entries: vec![(deposit, usdt(1_000_000_100))],
        ..statement()
    };
    let text = written(&of_wallet, Format::Camt053);
    let id = "00000000000000000000000000000009";
    assert!(text.contains(&format!("<Id>{id}</Id><SchmeNm><Prtry>WALLET</Prtry>")), "{text}");
    assert!(
        text.contains(
            "<Svcr><FinInstnId><Nm>Demo &amp; Sons &lt;Bank&gt;</Nm></FinInstnId></Svcr>"
        ),
        "{text}"
    );
    assert!(
        text.contains(&format!("<RmtInf><Ustrd>0x{}</Ustrd></RmtInf>", "ab".repeat(32))),
        "{text}"
    );
    assert!(text.contains(&format!("<AddtlTxInf>external_id {long}</AddtlTxInf>")), "{text}");
    assert!(!text.contains("AcctOwnrTxId"), "128 characters do not fit there");
    assert!(!text.contains("EndToEndId"), "a deposit came over no rail");
    let name = file_name(&of_wallet, Format::Camt053);
    assert_eq!(
        name,
        "wallet-00000000-0000-0000-0000-000000000009-usdt-2026-11-21-2026-11-22.camt053.xml"
    );
}

/// Top-ups and withdrawals belong to no record, and have the reference they were booked with.
#[test]
fn a_funding_is_named_by_its_reference() {
    let booked = |reference: &str| {
        let references =
            References { bank_reference: Some(reference.to_owned()), ..References::default() };
        let funding = Entry { references, ..entry(1, Direction::Credit, 1_000_000_000) };
        Statement { entries: vec![(funding, usdt(1_000_000_100))], ..statement() }
    };
    let long = "T".repeat(36);
    for (reference, camt, csv) in [
        (
            "TREASURY-2041",
            "<Refs><Prtry><Tp>BANK_REFERENCE</Tp><Ref>TREASURY-2041</Ref></Prtry></Refs>".into(),
            ",TREASURY-2041,prefund.top_up,".into(),
        ),
        (
            "=1&2",
            "<Refs><Prtry><Tp>BANK_REFERENCE</Tp><Ref>=1&amp;2</Ref></Prtry></Refs>".into(),
            ",'=1&2,prefund.top_up,".into(),
        ),
        (
            long.as_str(),
            format!("<AddtlTxInf>bank_reference {long}</AddtlTxInf>"),
            format!(",{long},prefund.top_up,"),
        ),
    ] {
        let text = written(&booked(reference), Format::Camt053);
        let details = text.split("<TxDtls>").nth(1).and_then(|it| it.split("</TxDtls>").next());
        let details = details.expect("the details of the entry");
        assert!(details.contains(&camt), "{details}");
        assert_eq!(details.contains("<Refs>"), reference != long, "{details}");
        let text = written(&booked(reference), Format::Csv);
        assert!(text.contains(&csv), "{text}");
    }
}

#[test]
fn an_amount_that_camt053_cannot_hold_is_an_error() {
    let balance = Balance { booked: usdt(1_000_000_000_000_000_000), available: usdt(1) };
    let mut out = Vec::new();
    let refused =
        write(&Statement { closing: balance, ..statement() }, "B", Format::Camt053, &mut out);
    let error = refused.expect_err("19 digits");
    assert!(error.to_string().contains("18 digits"), "{error}");
}
