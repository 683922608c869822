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
    /// All chains that were ever configured, by number.
    pub async fn known_chains(&self) -> Result<Vec<KnownChain>, StoreError> {
        let known: Vec<(ChainNumber, u64, String)> = self.many(&ALL, ()).await?;
        let chain = |(number, chain_id, name)| KnownChain { number, chain_id, name };
        Ok(known.into_iter().map(chain).collect())
    }

    /// The numbers of the configured chains, each with its EIP-155 id and name, in their order. A
    /// chain that is not known yet gets the next number; a known one keeps it under any name.
    pub async fn number_chains(
        &self,
        configured: &[(u64, String)],
    ) -> Result<Vec<ChainNumber>, StoreError> {
        let mut numbers = Vec::with_capacity(configured.len());
        for (chain_id, name) in configured {
            numbers.push(self.number_chain(*chain_id, name).await?);
        }
        Ok(numbers)
    }

    async fn number_chain(&self, chain_id: u64, name: &str) -> Result<ChainNumber, StoreError> {
        let id = wide(chain_id, "chain id")?;
        loop {
            let known = self.known_chains().await?;
            if let Some(chain) = known.iter().find(|chain| chain.chain_id == chain_id) {
                if chain.name != name {
                    let rename = Step::any(&RENAME, vec![id.into(), name.into()]);
                    self.write(vec![rename]).await?;
                }
                return Ok(chain.number);
            }
            let last = known.last().map_or(0, |chain| chain.number.0);
            let next = last.checked_add(1);
            let next = next
                .ok_or_else(|| StoreError::Corrupt("there are no chain numbers left".to_owned()))?;
            let params = vec![self.now_param(), i64::from(next).into(), id.into(), name.into()];
            self.write(vec![Step::any(&ADD, params)]).await?;
        }
    }
}
