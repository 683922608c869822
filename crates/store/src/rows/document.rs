//! Sealed documents: the fields of a record without a column, and all personal data. Compact JSON
//! of a row struct, preceded by a byte for its format, so that a change of the domain's struct
//! requires a decision here.

use domain::ids::TenantId;
use zeroize::Zeroizing;

use super::Keys;
use crate::error::StoreError;
use crate::sealed::AssociatedData;

/// The only format so far.
const FORM: u8 = 1;

/// The document of a record.
pub(crate) trait Document: Sized {
    type Whole;
    /// `table.column`: part of the seal's associated data.
    const COLUMN: &'static str;

    fn write(whole: &Self::Whole, out: &mut Vec<u8>) -> serde_json::Result<()>;

    fn read(json: &[u8]) -> Result<Self, StoreError>;
}

/// Seals the document of the row with this stored key.
pub(crate) fn seal<D: Document>(
    whole: &D::Whole,
    tenant: TenantId,
    row: &[u8],
    keys: &Keys,
) -> Result<Vec<u8>, StoreError> {
    let mut plain = Zeroizing::new(vec![FORM]);
    D::write(whole, &mut plain).map_err(|error| unreadable(D::COLUMN, &error))?;
    Ok(keys.vault.seal(AssociatedData { tenant, column: D::COLUMN, row }, &plain))
}

/// Opens the document of the row with this stored key.
pub(crate) fn open<D: Document>(
    sealed: &[u8],
    tenant: TenantId,
    row: &[u8],
    keys: &Keys,
) -> Result<D, StoreError> {
    let plain = keys.vault.open(AssociatedData { tenant, column: D::COLUMN, row }, sealed)?;
    let Some((&FORM, json)) = plain.split_first() else {
        return Err(StoreError::Corrupt(format!("{}: unknown format", D::COLUMN)));
    };
    D::read(json)
}

/// Only the kind of error is reported: its text could quote sealed data.
pub(crate) fn unreadable(column: &str, error: &serde_json::Error) -> StoreError {
    StoreError::Corrupt(format!("{column}: {:?} error", error.classify()))
}

/// Defines the [`Document`] of a record from its fields without a column.
macro_rules! document {
    ($rest:ident of $whole:ident in $column:expr => {
        $($(#[$serde:meta])* $field:ident: $kind:ty),+ $(,)?
    }) => {
        struct $rest { $($field: $kind,)+ }

        impl $crate::rows::document::Document for $rest {
            type Whole = $whole;
            const COLUMN: &'static str = $column;

            fn write(whole: &$whole, out: &mut Vec<u8>) -> serde_json::Result<()> {
                #[derive(serde::Serialize)]
                struct Doc { $($(#[$serde])* $field: <$kind as $crate::rows::stored::Stored>::Doc,)+ }
                serde_json::to_writer(out, &Doc { $($field: whole.$field.doc(),)+ })
            }

            fn read(json: &[u8]) -> Result<$rest, $crate::error::StoreError> {
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Doc { $($(#[$serde])* $field: <$kind as $crate::rows::stored::Stored>::Doc,)+ }
                let doc: Doc = serde_json::from_slice(json)
                    .map_err(|error| $crate::rows::document::unreadable(Self::COLUMN, &error))?;
                Ok($rest { $($field: <$kind as $crate::rows::stored::Stored>::of(doc.$field)?,)+ })
            }
        }
    };
}

pub(crate) use document;
