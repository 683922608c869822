//! The suites of the store (`tests/conformance`) and of the engine over a real store (`tests/nodes`, `tests/wallets`), from
//! the outside. A package of their own, so that `./test` optimises what they test and not the tests. There is nothing here.
