//! The last valid copy of each sanctions list. The store treats it as bytes.

use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::sql::Stmt;
use crate::store::Store;

/// Bytes per row: a list of thirty megabytes takes thirty rows.
const PIECE_BYTES: usize = 1024 * 1024;

static HEAD: Stmt = Stmt::written(
    "list_copy.head",
    "SELECT name, digest, read_at FROM list_copy WHERE source = $1",
);
static PIECES: Stmt = Stmt::written(
    "list_copy.pieces",
    "SELECT document, origin, modified, body FROM list_piece WHERE source = $1 ORDER BY document, piece",
);
static READ_AGAIN: Stmt = Stmt::written(
    "list_copy.read_again",
    "UPDATE list_copy SET read_at = $3 WHERE source = $1 AND digest = $2 AND read_at <= $3",
);
static ADD: Stmt = Stmt::written(
    "list_copy.add",
    "INSERT INTO list_copy (source, name, digest, read_at) VALUES ($1, $2, $3, $4) ON CONFLICT (source) DO NOTHING",
);
static REPLACE: Stmt = Stmt::written(
    "list_copy.replace",
    "UPDATE list_copy SET name = $2, digest = $3, read_at = $4 WHERE source = $1 AND digest = $5",
);
static DROP_PIECES: Stmt =
    Stmt::written("list_copy.drop_pieces", "DELETE FROM list_piece WHERE source = $1");
static ADD_PIECE: Stmt = Stmt::written(
    "list_copy.add_piece",
    "INSERT INTO list_piece (source, document, piece, origin, modified, body) VALUES ($1, $2, $3, $4, $5, $6)",
);

static READ_AT: Stmt =
    Stmt::written("list_copy.read_at", "SELECT name, read_at FROM list_copy ORDER BY name, source");

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&HEAD, &PIECES, &READ_AGAIN, &ADD, &REPLACE, &DROP_PIECES, &ADD_PIECE, &READ_AT];

/// A list's document as downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDocument {
    /// Its file or address, for display.
    pub origin: String,
    /// Its publisher's modification date, `YYYY-MM-DD`.
    pub modified: Option<String>,
    pub bytes: Vec<u8>,
}

/// The last valid copy of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptList {
    pub name: String,
    /// SHA-256 of its documents, in hexadecimal.
    pub digest: String,
    /// When it was read from its source.
    pub read_at: Timestamp,
    /// Its documents, in order.
    pub documents: Vec<KeptDocument>,
}

impl Store {
    /// The last valid copy of a list, by its configured source.
    pub async fn kept_list(&self, source: &str) -> Result<Option<KeptList>, StoreError> {
        let answers = self
            .driver()
            .snapshot(vec![(&HEAD, vec![source.into()]), (&PIECES, vec![source.into()])])
            .await?;
        let [heads, pieces] = &answers[..] else { return Ok(None) };
        let Some(head) = heads.first() else { return Ok(None) };
        let mut fields = head.fields();
        let (name, digest, read_at) =
            (fields.text()?.to_owned(), fields.text()?.to_owned(), Timestamp(fields.int()?));
        let mut documents: Vec<(i64, KeptDocument)> = Vec::new();
        for row in pieces {
            let mut fields = row.fields();
            let (at, origin, modified) =
                (fields.int()?, fields.text()?, fields.opt_text()?.map(str::to_owned));
            let body = fields.bytes()?;
            match documents.last_mut().filter(|(known, _)| *known == at) {
                Some((_, document)) => document.bytes.extend_from_slice(body),
                None => {
                    documents.push((
                        at,
                        KeptDocument { origin: origin.to_owned(), modified, bytes: body.to_vec() },
                    ));
                }
            }
        }
        let documents = documents.into_iter().map(|(_, document)| document).collect();
        Ok(Some(KeptList { name, digest, read_at, documents }))
    }

    /// The digest of the last valid copy of a list.
    pub async fn kept_list_digest(&self, source: &str) -> Result<Option<String>, StoreError> {
        let head: Option<(String, String)> = self.one(&HEAD, source).await?;
        Ok(head.map(|(_, digest)| digest))
    }

    /// The name of each copy, and when it was read from its source.
    pub async fn kept_list_times(&self) -> Result<Vec<(String, Timestamp)>, StoreError> {
        self.many(&READ_AT, ()).await
    }

    /// Stores a list in place of the one with the digest `replaces`; `None` = the first of its
    /// source. Identical content is written once: only its time of reading advances. Returns `false`
    /// if another list is stored by now: nothing is written.
    pub async fn keep_list(
        &self,
        source: &str,
        list: KeptList,
        replaces: Option<&str>,
    ) -> Result<bool, StoreError> {
        let read_at = list.read_at.0;
        let again = Step::any(
            &READ_AGAIN,
            vec![source.into(), list.digest.as_str().into(), read_at.into()],
        );
        if self.write_counts(vec![again]).await?.first().is_some_and(|rows| *rows > 0) {
            return Ok(true);
        }
        let mut head = vec![source.into(), list.name.into(), list.digest.into(), read_at.into()];
        head.extend(replaces.map(Into::into));
        let head = Step::one(if replaces.is_some() { &REPLACE } else { &ADD }, head);
        let mut steps = vec![head, Step::any(&DROP_PIECES, vec![source.into()])];
        for (at, document) in (0_i64..).zip(list.documents) {
            let pieces = document.bytes.chunks(PIECE_BYTES).map(<[u8]>::to_vec);
            // An empty document still takes one row.
            let pieces = pieces.chain(document.bytes.is_empty().then(Vec::new));
            for (number, body) in (0_i64..).zip(pieces) {
                let (origin, modified) = (document.origin.clone(), document.modified.clone());
                let row = vec![
                    source.into(),
                    at.into(),
                    number.into(),
                    origin.into(),
                    modified.into(),
                    body.into(),
                ];
                steps.push(Step::any(&ADD_PIECE, row));
            }
        }
        match self.write(steps).await {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
