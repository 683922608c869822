//! Two nodes on one database (SQLite in memory), each with its own cache of rows.

mod alternating;
mod doubt;
mod meanwhile;
mod world;
