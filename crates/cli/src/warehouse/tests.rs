//! Files are read back with the library's reader, which knows nothing of the writer's tables.

use std::fs::File;

use domain::currency::Currency;
use domain::ids::{TenantId, TransferId};
use domain::ledger::{AccountCode, TransferKind};
use domain::money::Money;
use domain::time::Timestamp;
use parquet::basic::{ConvertedType, LogicalType};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use store::StoredTransfer;
use uuid::Uuid;

use super::file::{Cell, Column, GROUP_ROWS, Kind, ParquetFile};
use super::tables::{Of, TRANSFERS, TransferRow};
use crate::new_file::NewFile;

fn transfer(number: u128, minor: i64, currency: Currency) -> TransferRow {
    let code =
        |text: &str| AccountCode::parse(&format!("{text}:{}", currency.code())).expect("a code");
    let row = StoredTransfer {
        id: TransferId(Uuid::from_u128(number)),
        tenant: TenantId(Uuid::nil()),
        debit: code("fx_position"),
        credit: code("rounding"),
        amount: Money::new(minor, currency),
        kind: TransferKind::Posted,
        pending: None,
        set: TransferId(Uuid::from_u128(number)),
        reason: "payment.charge".to_owned(),
        subject: number.is_multiple_of(2).then(|| Uuid::from_u128(7)),
        at: Timestamp(1_764_000_000_123_456),
    };
    Of { tenant: "demobank".to_owned(), row }
}

fn written<R>(columns: &[Column<R>], rows: impl Iterator<Item = R>) -> SerializedFileReader<File> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t.parquet");
    let out = NewFile::create(&path).expect("created");
    let mut file = ParquetFile::create("t", columns, out).expect("begun");
    rows.for_each(|row| file.write(&row).expect("written"));
    assert!(!path.exists(), "under its name only once it is complete");
    let (out, _) = file.finish().expect("complete");
    out.finish().expect("renamed");
    SerializedFileReader::new(File::open(&path).expect("there")).expect("Parquet")
}

#[test]
fn amounts_are_decimals_and_times_are_microseconds_utc() {
    let rows = [transfer(1, -136_847_374, Currency::Usdt), transfer(2, 3_791_205, Currency::Pkr)];
    let reader = written(&TRANSFERS, rows.into_iter());
    let schema = reader.metadata().file_metadata().schema_descr();
    let column = |name: &str| {
        let found = schema.columns().iter().find(|column| column.name() == name);
        found.expect(name).clone()
    };
    assert!(matches!(
        column("amount").logical_type_ref(),
        Some(LogicalType::Decimal(decimal)) if decimal.scale == 6 && decimal.precision == 38
    ));
    assert_eq!(column("booked_at").converted_type(), ConvertedType::TIMESTAMP_MICROS);
    assert_eq!(column("debit").converted_type(), ConvertedType::UTF8);
    let rows: Vec<Vec<(String, Field)>> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row").into_columns())
        .collect();
    let value = |row: usize, name: &str| {
        let found = rows[row].iter().find(|(column, _)| column == name);
        found.map(|(_, field)| field.to_string()).expect(name)
    };
    assert_eq!(
        (value(0, "amount"), value(1, "amount")),
        ("-136.847374".to_owned(), "37912.050000".to_owned())
    );
    assert_eq!(value(0, "debit"), "\"fx_position:USDT\"");
    assert_eq!(value(0, "subject_id"), "null");
    assert_eq!(value(1, "subject_id"), format!("\"{}\"", Uuid::from_u128(7)));
    let at = rows[0].iter().find(|(column, _)| column == "booked_at").map(|(_, at)| at.clone());
    assert_eq!(at, Some(Field::TimestampMicros(1_764_000_000_123_456)));
}

#[test]
fn a_long_file_has_many_groups_and_an_empty_one_none() {
    let count = GROUP_ROWS * 2 + 1;
    let rows = (0..count).map(|number| transfer(number as u128, 1, Currency::Usdc));
    let reader = written(&TRANSFERS, rows);
    let groups: Vec<i64> =
        reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    let full = i64::try_from(GROUP_ROWS).expect("small");
    assert_eq!(groups, [full, full, 1]);
    let empty = written(&TRANSFERS, std::iter::empty());
    assert_eq!((empty.num_row_groups(), empty.metadata().file_metadata().num_rows()), (0, 0));
}

#[test]
fn large_texts_end_a_group_early() {
    let columns = [Column::<usize> {
        name: "text",
        kind: Kind::Text,
        is_optional: false,
        value: |size| Cell::Text("x".repeat(*size)),
    }];
    let reader = written(&columns, [9 << 20, 9 << 20, 1].into_iter());
    assert_eq!(reader.num_row_groups(), 2);
}

#[test]
fn a_required_column_without_a_value_is_an_error() {
    let columns =
        [Column::<()> { name: "id", kind: Kind::Text, is_optional: false, value: |()| Cell::Null }];
    let mut file = ParquetFile::create("t", &columns, Vec::new()).expect("begun");
    file.write(&()).expect("kept for the group");
    let error = file.finish().map(drop).expect_err("no value").to_string();
    assert!(error.contains("the column id"), "{error}");
}
