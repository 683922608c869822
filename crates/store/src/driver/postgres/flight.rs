//! A flight: statements that are sent together, in order, without waiting for each other's results.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_util::TryStreamExt;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};

use super::connect::Types;
use super::failure;
use super::params::{Source, WholeRows};
use crate::driver::{Answer, StepParams};
use crate::error::DbError;
use crate::save::Rows;
use crate::sql::{Columns, Row, Stmt, Value};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Params<'a> {
    None,
    Values(&'a [Value]),
    Columns(&'a Columns<'a>),
    Rows(WholeRows<'a>),
}

impl<'a> Params<'a> {
    pub(super) fn of(step: &'a StepParams) -> Params<'a> {
        match step {
            StepParams::Values(values) => Params::Values(values),
            StepParams::Rows(rows) => Params::Columns(rows),
        }
    }

    pub(super) fn to_save(rows: &'a Rows<'a>) -> Params<'a> {
        match rows {
            Rows::Made(columns) => Params::Columns(columns),
            Rows::Later(rows) => {
                Params::Rows(WholeRows { table: rows.table(), source: Source::Later(&**rows) })
            }
        }
    }

    /// The form that the statement takes: whole rows for inserts, otherwise column by column.
    pub(super) const fn taken_by(self, stmt: &'static Stmt) -> Params<'a> {
        match (self, stmt.inserted()) {
            (Params::Columns(columns), Some(table)) => {
                Params::Rows(WholeRows { table, source: Source::Made(columns) })
            }
            (params, _) => params,
        }
    }

    fn refs(&self) -> Vec<&(dyn ToSql + Sync)> {
        match self {
            Params::None => Vec::new(),
            Params::Values(values) => {
                values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
            }
            Params::Columns(columns) => {
                columns.columns().iter().map(|column| column as &(dyn ToSql + Sync)).collect()
            }
            Params::Rows(rows) => vec![rows],
        }
    }
}

/// The result per statement.
pub(super) type Results = Vec<Result<Answer, Error>>;

type Flying<'a> = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send + 'a>>;

/// A statement as a connection sends it.
pub(super) enum Ready {
    /// Prepared on this connection.
    Prepared(Statement),
    /// Sent as text, with the types of its parameters: behind a pooler.
    Text(&'static str, Types),
}

async fn run(
    client: &Client,
    statement: &Ready,
    params: Vec<&(dyn ToSql + Sync)>,
) -> Result<Answer, Error> {
    let stream = match statement {
        Ready::Prepared(statement) => client.query_raw(statement, params).await?,
        Ready::Text(sql, types) => {
            let typed = params.into_iter().zip(types.iter().cloned());
            client.query_typed_raw(sql, typed).await?
        }
    };
    let mut stream = pin!(stream);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(Row::Postgres(row));
    }
    let affected = stream.rows_affected().unwrap_or(rows.len() as u64);
    Ok(Answer { rows, affected })
}

/// Statements sent ahead, so that the server can work while the others are being encoded.
const AHEAD: usize = 3;

/// Sends all statements and collects their results.
///
/// A statement is sent when its future is first polled, so they are polled in order. One that fails
/// at that point was not sent (its parameters could not be encoded): then nothing after it is sent
/// either, in particular no COMMIT.
pub(super) async fn send_all(client: &Client, statements: &[(Ready, Params<'_>)]) -> Results {
    let mut flying: Vec<Flying<'_>> = statements
        .iter()
        .map(|(stmt, params)| Box::pin(run(client, stmt, params.refs())) as Flying<'_>)
        .collect();
    let mut results: Vec<Option<Result<Answer, Error>>> = flying.iter().map(|_| None).collect();
    let mut sent = 0;
    poll_fn(|cx| {
        let until = if sent == 0 { AHEAD.min(flying.len()) } else { flying.len() };
        let mut waiting = until < flying.len();
        if waiting {
            // The connection writes them before this runs again.
            cx.waker().wake_by_ref();
        }
        for (at, (future, result)) in flying.iter_mut().zip(&mut results).enumerate().take(until) {
            if result.is_some() {
                continue;
            }
            match future.as_mut().poll(cx) {
                Poll::Pending => waiting = true,
                Poll::Ready(Err(error)) if at >= sent => {
                    *result = Some(Err(error));
                    return Poll::Ready(());
                }
                Poll::Ready(done) => *result = Some(done),
            }
        }
        sent = until;
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    results.into_iter().flatten().collect()
}

/// All answers, or the meaning of the first failure.
pub(super) fn all(results: Results) -> Result<Vec<Answer>, DbError> {
    results.into_iter().map(|result| result.map_err(|error| failure::meaning(&error))).collect()
}

/// The answers of a flight that ends in COMMIT (without COMMIT's own): landed, failed, or unknown.
pub(super) fn committed(mut results: Results) -> Result<Vec<Answer>, DbError> {
    let cause = results
        .iter()
        .filter_map(|result| result.as_ref().err())
        .find(|error| !failure::is_consequence(error));
    if let Some(error) = cause {
        let is_commit = results
            .last()
            .is_some_and(|last| last.as_ref().err().is_some_and(|it| std::ptr::eq(it, error)));
        return Err(match failure::is_definite(error) {
            true if is_commit => failure::of_commit(error),
            true => failure::meaning(error),
            false => DbError::InDoubt(error.to_string()),
        });
    }
    results.pop();
    all(results)
}
