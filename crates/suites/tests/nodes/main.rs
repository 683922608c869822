//! Two nodes on one database (SQLite in memory), of which each remembers what its own batches left of the rows.

mod alternating;
mod doubt;
mod meanwhile;
mod world;
