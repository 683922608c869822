//! The tables of bank statements, as rows are written and read.

use super::table::Kind::{Int, Text, Uuid};
use super::table::Table;

/// All tables of bank statements with a fixed row type.
pub(crate) static ALL: [&Table; 5] =
    [&RAIL_STATEMENT, &RAIL_ENTRY, &RAIL_BREAK, &RAIL_STRAY, &RAIL_ID];

pub(crate) static RAIL_ID: Table = Table {
    name: "rail_id",
    columns: &[
        ("rail", Text),
        ("head", Int),
        ("attempt", Uuid),
        ("message", Text),
        ("position", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static RAIL_STATEMENT: Table = Table {
    name: "rail_statement",
    columns: &[
        ("rail", Text),
        ("statement", Text),
        ("page", Int),
        ("is_last", Int),
        ("account", Text),
        ("currency", Text),
        ("from_at", Int),
        ("to_at", Int),
        ("opening", Int),
        ("closing", Int),
        ("turnover", Int),
        ("entries", Int),
        ("digest", Uuid),
        ("source", Text),
        ("read_at", Int),
        ("is_open", Int),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static RAIL_ENTRY: Table = Table {
    name: "rail_entry",
    columns: &[
        ("rail", Text),
        ("statement", Text),
        ("page", Int),
        ("number", Int),
        ("tenant", Uuid),
        ("attempt", Uuid),
        ("is_credit", Int),
        ("is_own", Int),
        ("amount", Int),
        ("currency", Text),
        ("charges", Int),
        ("reference", Text),
        ("booked", Text),
        ("read_at", Int),
        ("is_open", Int),
    ],
    keys: 4,
    changes: &["is_open"],
    guards: &[],
};

pub(crate) static RAIL_BREAK: Table = Table {
    name: "rail_break",
    columns: &[
        ("tenant", Uuid),
        ("subject", Uuid),
        ("digest", Uuid),
        ("rail", Text),
        ("kind", Text),
        ("what", Text),
        ("at", Int),
        ("closed_at", Int),
        ("closed_by", Text),
    ],
    keys: 3,
    changes: &[],
    guards: &[],
};

pub(crate) static RAIL_STRAY: Table = Table {
    name: "rail_stray",
    columns: &[("rail", Text), ("digest", Uuid), ("what", Text), ("at", Int)],
    keys: 2,
    changes: &[],
    guards: &[],
};
