//! Deploys tokens to a private chain: a sandbox's or a test's. Never used where money is real.

mod circle;
mod sandbox;
mod script;

pub use circle::{CircleCode, CircleRoles, Deployer, circle_usdc};
pub use sandbox::Minter;
pub use script::Script;
