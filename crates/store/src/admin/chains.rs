//! The installation's chains: the numbers that rows name them by.

use domain::chain::ChainNumber;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::wide;
use crate::sql::Stmt;
use crate::store::Store;

static ALL: Stmt = Stmt::written(
    "chain.known",
    "SELECT c.number, c.chain_id, c.name FROM chain c ORDER BY c.number",
);
// Another process that enters a chain at the same time may be first.
static ADD: Stmt = Stmt::written(
    "chain.add",
    "INSERT INTO chain (number, chain_id, name, at) VALUES ($2, $3, $4, {{now}}) ON CONFLICT DO NOTHING",
);
static RENAME: Stmt =
    Stmt::written("chain.rename", "UPDATE chain SET name = $2 WHERE chain_id = $1");

pub(crate) static STATEMENTS: &[&Stmt] = &[&ALL, &ADD, &RENAME];

/// A chain that the installation has or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownChain {
    pub number: ChainNumber,
    /// EIP-155 id of the chain.
    pub chain_id: u64,
    /// Its name at the last start.
    pub name: String,
}

impl Store {
    /// All chains that nodes have named, by number.
    pub async fn known_chains(&self) -> Result<Vec<KnownChain>, StoreError> {
        let known: Vec<(ChainNumber, u64, String)> = self.many(&ALL, ()).await?;
        let chain = |(number, chain_id, name)| KnownChain { number, chain_id, name };
        Ok(known.into_iter().map(chain).collect())
    }

    /// Enters a chain whose nodes have named it, and returns its number; a known one keeps its own.
    /// The first number is that of the chain of `[chain]`: rows may have been its own before chains
    /// were numbered.
    pub async fn add_chain(
        &self,
        chain_id: u64,
        name: &str,
        is_first: bool,
    ) -> Result<ChainNumber, StoreError> {
        const FIRST: ChainNumber = ChainNumber::FIRST;
        loop {
            let known = self.known_chains().await?;
            if let Some(chain) = known.iter().find(|chain| chain.chain_id == chain_id) {
                return Ok(chain.number);
            }
            let has_first = known.iter().any(|chain| chain.number == FIRST);
            let last = known.last().map_or(FIRST, |chain| chain.number);
            let next = if is_first && !has_first { Some(FIRST.0) } else { last.0.checked_add(1) };
            let next = next
                .ok_or_else(|| StoreError::Corrupt("there are no chain numbers left".to_owned()))?;
            let id = wide(chain_id, "chain id")?;
            let params = vec![self.now_param(), i64::from(next).into(), id.into(), name.into()];
            self.write(vec![Step::any(&ADD, params)]).await?;
        }
    }

    /// Notes a known chain's name of today.
    pub async fn rename_chain(&self, chain_id: u64, name: &str) -> Result<(), StoreError> {
        let params = vec![wide(chain_id, "chain id")?.into(), name.into()];
        self.write(vec![Step::any(&RENAME, params)]).await.map(drop)
    }
}
