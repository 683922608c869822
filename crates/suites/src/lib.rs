//! The suites of the store (`tests/conformance`) and of the engine over a real store
//! (`tests/nodes`, `tests/wallets`), from the outside. A separate package, so that `./test`
//! optimizes the code under test and not the tests. Intentionally empty.
