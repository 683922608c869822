//! The parties of the wallet service: banks with customers, senders, receivers of webhooks, compliance officers.

mod crowd;
mod customers;
mod exchanges;
mod freezer;
mod officers;
mod payers;
mod receiver;
mod wishes;

pub use customers::customers;
pub use officers::{act_on_order, officers};
pub use receiver::{Banks, ReceiverWay, envelope};
pub use wishes::Wishes;
