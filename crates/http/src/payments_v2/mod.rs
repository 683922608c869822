//! Payment Service v2 on the wire: what its requests look like. Routes and answers stand beside these.

pub mod decode;
