//! Maps errors of PostgreSQL to the store's errors.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::{DbError, StoreError};

/// The meaning of a failed statement; an open transaction is rolled back.
pub(crate) fn meaning(error: &Error) -> DbError {
    let Some(reported) = error.as_db_error() else {
        if let Some(unmade) =
            std::error::Error::source(error).and_then(|source| source.downcast_ref::<StoreError>())
        {
            return unmade.clone().into();
        }
        return match error.is_closed() || is_io(error) {
            true => DbError::Unavailable(error.to_string()),
            false => DbError::Corrupt(error.to_string()),
        };
    };
    meaning_of(reported.code(), reported.message())
}

/// The meaning of a code, with the server's message without its detail, which may quote personal data.
fn meaning_of(code: &SqlState, message: &str) -> DbError {
    let why = words(code, message);
    if PASSING.contains(code) {
        return DbError::Conflict(why);
    }
    if *code == SqlState::UNDEFINED_TABLE {
        return DbError::Absent(why);
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        return DbError::Forbidden(why);
    }
    if POOLED.contains(code) {
        return DbError::Unavailable(format!("{POOLER}: {why}"));
    }
    match class(code) {
        // Serialization and deadlock.
        "40" => DbError::Conflict(why),
        // Invalid values, constraints and limits.
        "22" | "23" | "54" => DbError::Rejected(why),
        "08" | "25" | "53" | "57" | "58" | "XX" => DbError::Unavailable(why),
        _ => DbError::Refused(why),
    }
}

/// Faults outside class 40 that other rows or a new plan mend: the key was inserted in the meantime, a
/// guard sets a column to NULL, a lock is held, a newer version has migrated.
const PASSING: [SqlState; 4] = [
    SqlState::UNIQUE_VIOLATION,
    SqlState::NOT_NULL_VIOLATION,
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::DATATYPE_MISMATCH,
];

/// A statement that this session prepared is missing, one that it did not prepare is there, or a
/// transaction that it did not begin is open: a pooler gave it another session of the server.
const POOLED: [SqlState; 3] = [
    SqlState::DUPLICATE_PSTATEMENT,
    SqlState::INVALID_SQL_STATEMENT_NAME,
    SqlState::ACTIVE_SQL_TRANSACTION,
];
const POOLER: &str = "behind a pooler in transaction mode, store.pooler has to be true, for serve and for every command";

/// The meaning of a failed COMMIT after successful statements.
pub(super) fn of_commit(error: &Error) -> DbError {
    match error.as_db_error() {
        Some(reported) if matches!(class(reported.code()), "40" | "23") => meaning(error),
        _ => DbError::InDoubt(error.to_string()),
    }
}

/// Whether the server itself rejected the statement, so that its transaction can no longer be
/// committed.
pub(super) fn is_definite(error: &Error) -> bool {
    error.as_db_error().is_some()
}

/// Whether the statement reached the lock or statement timeout.
pub(super) fn is_waited_out(error: &Error) -> bool {
    let codes = [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE];
    error.as_db_error().is_some_and(|reported| codes.contains(reported.code()))
}

/// Whether a table's columns have changed since the statement was prepared: a newer version has
/// migrated.
pub(super) fn is_outgrown(error: &Error) -> bool {
    error.as_db_error().is_some_and(|reported| *reported.code() == SqlState::DATATYPE_MISMATCH)
}

/// Whether it only reports that an earlier statement failed.
pub(super) fn is_consequence(error: &Error) -> bool {
    error
        .as_db_error()
        .is_some_and(|reported| *reported.code() == SqlState::IN_FAILED_SQL_TRANSACTION)
}

fn class(code: &SqlState) -> &str {
    code.code().get(..2).unwrap_or_default()
}

fn words(code: &SqlState, message: &str) -> String {
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        // The setting that makes readers' sessions read-only stays with the server's session.
        return format!(
            "the database is read-only: a standby, or default_transaction_read_only; or {POOLER} (25006)"
        );
    }
    format!("{message} ({})", code.code())
}

fn is_io(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pooler_without_its_option_causes_names_the_option() {
        for code in [
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::ACTIVE_SQL_TRANSACTION,
            SqlState::DUPLICATE_PSTATEMENT,
            SqlState::INVALID_SQL_STATEMENT_NAME,
        ] {
            let DbError::Unavailable(why) = meaning_of(&code, "refused") else {
                panic!("{code:?} may pass")
            };
            assert!(why.contains("store.pooler has to be true"), "{why}");
            assert!(why.contains(code.code()), "{why}");
        }
        for code in [SqlState::IN_FAILED_SQL_TRANSACTION, SqlState::TOO_MANY_CONNECTIONS] {
            let DbError::Unavailable(why) = meaning_of(&code, "refused") else {
                panic!("{code:?} may pass")
            };
            assert!(!why.contains("pooler"), "{why}");
        }
    }
}
