//! Clients of several addresses of one kind, such as those of the sanction lists.

use super::client::Client;
use super::settings::{Settings, SetupError};

/// Each with the addresses that it is made for.
#[derive(Clone, Debug, Default)]
pub struct Servers(Vec<(Vec<String>, Client)>);

impl Servers {
    /// Clients for groups of addresses with common settings; `key` is the configuration's name for
    /// the addresses.
    pub fn new(key: &str, groups: Vec<(Vec<String>, Settings)>) -> Result<Servers, SetupError> {
        let client = |(addresses, settings): (Vec<String>, Settings)| {
            let texts: Vec<&str> = addresses.iter().map(String::as_str).collect();
            let client = Client::new(&settings, key, &texts)?;
            Ok((addresses, client))
        };
        groups.into_iter().map(client).collect::<Result<_, _>>().map(Servers)
    }

    /// The client for an address.
    pub fn client(&self, address: &str) -> Option<&Client> {
        let is_of =
            |(addresses, _): &&(Vec<String>, Client)| addresses.iter().any(|of| of == address);
        self.0.iter().find(is_of).map(|(_, client)| client)
    }
}
