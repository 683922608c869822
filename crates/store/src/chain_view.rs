//! Ingestion state of the chain: headers, logs of vaults, states of tokens, watched addresses.
//! Written outside batches, only by the current holder of the watcher's role: a node that lost the
//! role can no longer write.

use domain::audit::{AuditContext, Facts, INSTALLATION, Note};
use domain::chain::{Address, Block, BlockHash, ChainNumber};
use domain::chain_tx::BlockRef;
use domain::currency::StableCoin;
use domain::deposit::{TokenState, VaultLog, Watched};
use domain::ids::TenantId;
use domain::time::Timestamp;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::rows::chain::CHAIN_LOG;
use crate::rows::record::whole_rows;
use crate::rows::wide;
use crate::sql::Kind::Bytes;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// Number of blocks below the ingested height of which every stored header is kept.
pub const HEADERS_KEPT: u64 = 128;
/// Of the blocks below those, the headers of every so many are kept, for the ancestor of a deep
/// reorganization.
pub const HEADER_EVERY: u64 = 512;
/// Number of blocks below the ingested height beyond which no header is kept.
pub const HEADERS_REACH: u64 = 256 * HEADER_EVERY;

static WATCHED: Stmt = Stmt::by_keys(
    "chain.watched",
    &[("address", Bytes)],
    "SELECT {{watched_address w}} FROM {{keys}} JOIN watched_address w ON w.address = k.address",
);
static HEADERS: Stmt = Stmt::written(
    "chain.headers",
    "SELECT b.number, b.hash, b.parent, b.at FROM chain_block b WHERE b.chain = $1 ORDER BY b.number DESC LIMIT $2",
);
static HEADER: Stmt = Stmt::written(
    "chain.header",
    "SELECT b.number, b.hash, b.parent, b.at FROM chain_block b WHERE b.chain = $1 AND b.number = $2",
);
static FIRST_WALLET: Stmt = Stmt::written(
    "chain.first_wallet",
    "SELECT MIN(w.created_at) FROM wallet w WHERE w.chain = $1",
);
// Locked until the transaction ends, so that no other node takes the role during it.
static HOLDS_ROLE: Stmt = Stmt::written(
    "chain.holds_role",
    "SELECT fence FROM role_lease WHERE name = $1 AND owner = $2 AND fence = $3 {{for_update}}",
);
// The same block may be written again after a crash; a different one of that height requires a
// rewind first.
static PUT_HEADER: Stmt = Stmt::written(
    "chain.put_header",
    "INSERT INTO chain_block (chain, number, hash, parent, at) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (chain, number) DO UPDATE SET at = excluded.at WHERE chain_block.hash = excluded.hash",
);
static PUT_LOGS: Stmt = Stmt::insert_if_absent("chain.put_logs", &CHAIN_LOG);
static FORGET_HEADERS: Stmt = Stmt::written(
    "chain.forget_headers",
    "DELETE FROM chain_block WHERE chain = $1 AND number <= $2 AND (number <= $3 OR number % $4 <> 0)",
);
static PLACES_BELOW: Stmt = Stmt::written(
    "chain.places_below",
    "SELECT DISTINCT l.block_number, l.block_hash FROM chain_log l WHERE l.chain = $1 AND l.block_number < $2 \
     ORDER BY l.block_number DESC, l.block_hash LIMIT $3",
);
static REWIND_HEADERS: Stmt = Stmt::written(
    "chain.rewind_headers",
    "DELETE FROM chain_block WHERE chain = $1 AND number > $2",
);
static REWIND_LOGS: Stmt = Stmt::written(
    "chain.rewind_logs",
    "DELETE FROM chain_log WHERE chain = $1 AND block_number > $2",
);
static LOGS_BETWEEN: Stmt = Stmt::written(
    "chain.logs_between",
    "SELECT {{chain_log l}} FROM chain_log l WHERE l.chain = $1 AND l.block_number >= $2 AND l.block_number <= $3 \
     ORDER BY l.block_number, l.log_index",
);
static DROP_LOGS: Stmt =
    Stmt::written("chain.drop_logs", "DELETE FROM chain_log WHERE chain = $1 AND block_hash = $2");
static VAULTS: Stmt = Stmt::written(
    "chain.vaults",
    "SELECT {{watched_address w}} FROM watched_address w WHERE w.chain = $1 AND w.address > $2 \
     ORDER BY w.address LIMIT $3",
);
static NEXT_NONCE: Stmt = Stmt::written(
    "chain.next_nonce",
    "SELECT s.next_nonce FROM chain_signer s \
     WHERE s.tenant = $1 AND s.chain = $2 AND s.signer = $3",
);
static NONCES: Stmt = Stmt::written(
    "chain.nonces",
    "SELECT t.nonce FROM chain_tx t WHERE t.chain = $1 AND t.signer = $2 AND t.nonce >= $3 \
     AND t.nonce < $4 ORDER BY t.nonce",
);
static VAULT_LOGS: Stmt = Stmt::written(
    "chain.vault_logs",
    "SELECT {{chain_log l}} FROM chain_log l WHERE l.chain = $1 AND l.vault = $2 \
     ORDER BY l.block_number, l.log_index",
);
static VAULT_SUM: Stmt = Stmt::written(
    "chain.vault_sum",
    "SELECT CAST(COALESCE(SUM(l.amount), 0) AS BIGINT) FROM chain_log l \
     WHERE l.chain = $1 AND l.vault = $2 AND l.coin = $3",
);
static TOKENS: Stmt = Stmt::written(
    "chain.tokens",
    "SELECT s.chain, s.coin, s.paused, s.code_changed, s.at_block FROM token_state s ORDER BY s.chain, s.coin",
);
static PUT_TOKEN: Stmt = Stmt::written(
    "chain.put_token",
    "INSERT INTO token_state (chain, coin, paused, code_changed, at_block) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (chain, coin) DO UPDATE SET paused = excluded.paused, code_changed = excluded.code_changed, \
     at_block = excluded.at_block",
);
static ACCEPT_CODE: Stmt = Stmt::written(
    "chain.accept_code",
    "UPDATE token_state SET code_changed = 0 \
     WHERE chain = $1 AND coin = $2 AND code_changed = 1 AND at_block = $3",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &WATCHED,
    &HEADERS,
    &HEADER,
    &FIRST_WALLET,
    &HOLDS_ROLE,
    &PUT_HEADER,
    &PUT_LOGS,
    &FORGET_HEADERS,
    &PLACES_BELOW,
    &REWIND_HEADERS,
    &REWIND_LOGS,
    &LOGS_BETWEEN,
    &DROP_LOGS,
    &VAULTS,
    &NEXT_NONCE,
    &NONCES,
    &VAULT_LOGS,
    &VAULT_SUM,
    &TOKENS,
    &PUT_TOKEN,
    &ACCEPT_CODE,
];

/// A role as known to its holder, see [`Store::lease_role`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRole {
    pub name: String,
    pub owner: String,
    /// The fence of the current owner.
    pub fence: i64,
}

impl HeldRole {
    pub(crate) fn step(&self) -> Step {
        Step::one(
            &HOLDS_ROLE,
            vec![self.name.as_str().into(), self.owner.as_str().into(), self.fence.into()],
        )
    }
}

type Header = (u64, BlockHash, BlockHash, Timestamp);

const fn block_of((number, hash, parent, at): Header) -> Block {
    Block { number, hash, parent, at }
}

impl Store {
    /// The given addresses that are our vaults.
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable. The same applies to every read
    /// here.
    pub async fn watched(&self, addresses: &[Address]) -> Result<Vec<Watched>, StoreError> {
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        self.many_by(&WATCHED, addresses.iter()).await
    }

    /// The latest ingested headers, newest first; the first one is the ingested height.
    pub async fn chain_headers(
        &self,
        chain: ChainNumber,
        limit: usize,
    ) -> Result<Vec<Block>, StoreError> {
        let headers: Vec<Header> = self.many(&HEADERS, (chain, most(limit))).await?;
        Ok(headers.into_iter().map(block_of).collect())
    }

    /// The ingested block of this height. `None` also if it was ingested without a header: of many
    /// blocks at once only those with our logs have one.
    pub async fn chain_header(
        &self,
        chain: ChainNumber,
        number: u64,
    ) -> Result<Option<Block>, StoreError> {
        let header: Option<Header> = self.one(&HEADER, (chain, number)).await?;
        Ok(header.map(block_of))
    }

    /// Blocks below a height in which a log of a vault is recorded, highest first.
    pub async fn places_below(
        &self,
        chain: ChainNumber,
        height: u64,
        limit: usize,
    ) -> Result<Vec<BlockRef>, StoreError> {
        let places: Vec<(u64, BlockHash)> =
            self.many(&PLACES_BELOW, (chain, height, most(limit))).await?;
        Ok(places.into_iter().map(|(number, block)| BlockRef { number, block }).collect())
    }

    /// When the first wallet of any tenant on a chain was provisioned: no vault was paid before.
    /// `None` = no wallets.
    pub async fn first_wallet_at(
        &self,
        chain: ChainNumber,
    ) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.one(&FIRST_WALLET, chain).await?.flatten())
    }

    /// Stores an ingested block: its header, and its logs about our vaults. Storing the same block
    /// again changes nothing. Old headers are pruned.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role, or a different block of that height is stored.
    pub async fn take_block_in(
        &self,
        role: &HeldRole,
        chain: ChainNumber,
        block: &Block,
        logs: &[VaultLog],
    ) -> Result<(), StoreError> {
        let logs = whole_rows(logs, &*self.id_keys().await?)?;
        let number = wide(block.number, "block height")?;
        let chain = Value::from(i64::from(chain.0));
        let header = vec![
            chain.clone(),
            number.into(),
            block.hash.0.to_vec().into(),
            block.parent.0.to_vec().into(),
            block.at.0.into(),
        ];
        let mut steps = vec![role.step(), Step::one(&PUT_HEADER, header)];
        if logs.len() > 0 {
            steps.push(Step::rows(&PUT_LOGS, logs));
        }
        let [kept, reach, every] = [HEADERS_KEPT, HEADERS_REACH, HEADER_EVERY]
            .map(|blocks| i64::try_from(blocks).unwrap_or(i64::MAX));
        let (oldest, reach) = (number.saturating_sub(kept), number.saturating_sub(reach));
        let forget = vec![chain, oldest.into(), reach.into(), every.into()];
        steps.push(Step::any(&FORGET_HEADERS, forget));
        self.write(steps).await.map(drop)
    }

    /// Deletes every header and log above this height, which were reorganized away.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role.
    pub async fn rewind_chain(
        &self,
        role: &HeldRole,
        chain: ChainNumber,
        to: u64,
    ) -> Result<(), StoreError> {
        let number = wide(to, "block height")?;
        let steps = vec![
            role.step(),
            Step::any(&REWIND_HEADERS, vec![i64::from(chain.0).into(), number.into()]),
            Step::any(&REWIND_LOGS, vec![i64::from(chain.0).into(), number.into()]),
        ];
        self.write(steps).await.map(drop)
    }

    /// Replaces the stored logs of one ingested block.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role.
    pub async fn amend_block(
        &self,
        role: &HeldRole,
        chain: ChainNumber,
        block: BlockHash,
        logs: &[VaultLog],
    ) -> Result<(), StoreError> {
        let logs = whole_rows(logs, &*self.id_keys().await?)?;
        let params = vec![i64::from(chain.0).into(), block.0.to_vec().into()];
        let mut steps = vec![role.step(), Step::any(&DROP_LOGS, params)];
        if logs.len() > 0 {
            steps.push(Step::rows(&PUT_LOGS, logs));
        }
        self.write(steps).await.map(drop)
    }

    /// The stored logs of an inclusive range of blocks, in chain order.
    pub async fn vault_logs_between(
        &self,
        chain: ChainNumber,
        from: u64,
        to: u64,
    ) -> Result<Vec<VaultLog>, StoreError> {
        self.many(&LOGS_BETWEEN, (chain, from, to)).await
    }

    /// A chain's vaults of all tenants, by address, after this one.
    pub async fn vaults_after(
        &self,
        chain: ChainNumber,
        after: Option<Address>,
        limit: usize,
    ) -> Result<Vec<Watched>, StoreError> {
        let after = after.map_or_else(Vec::new, |address| address.0.to_vec());
        self.many(&VAULTS, (chain, &after, most(limit))).await
    }

    /// A signer's next nonce according to the books; `None` = it has never had one.
    pub async fn next_nonce(
        &self,
        tenant: TenantId,
        chain: ChainNumber,
        signer: Address,
    ) -> Result<Option<u64>, StoreError> {
        self.one(&NEXT_NONCE, (tenant, chain, &signer)).await
    }

    /// A signer's nonces from `from` on and below `to` that our transactions use.
    pub async fn taken_nonces(
        &self,
        chain: ChainNumber,
        signer: Address,
        from: u64,
        to: u64,
    ) -> Result<Vec<u64>, StoreError> {
        self.many(&NONCES, (chain, &signer, from, to)).await
    }

    /// The logs of a vault, in chain order.
    pub async fn vault_logs(
        &self,
        chain: ChainNumber,
        vault: Address,
    ) -> Result<Vec<VaultLog>, StoreError> {
        self.many(&VAULT_LOGS, (chain, &vault)).await
    }

    /// A vault's balance of a coin according to its logs, in minor units.
    pub async fn vault_sum(
        &self,
        chain: ChainNumber,
        vault: Address,
        coin: StableCoin,
    ) -> Result<i64, StoreError> {
        self.only(&VAULT_SUM, (chain, &vault, coin)).await
    }

    /// The known states of token contracts; a token without events is absent.
    pub async fn token_states(&self) -> Result<Vec<TokenState>, StoreError> {
        let states: Vec<(ChainNumber, StableCoin, bool, bool, u64)> =
            self.many(&TOKENS, ()).await?;
        let state = |(chain, coin, paused, code_changed, at_block)| TokenState {
            chain,
            coin,
            paused,
            code_changed,
            at_block,
        };
        Ok(states.into_iter().map(state).collect())
    }

    /// Records the state of a token's contract.
    ///
    /// # Errors
    /// `Conflict` if another node holds the role.
    pub async fn set_token_state(
        &self,
        role: &HeldRole,
        state: &TokenState,
    ) -> Result<(), StoreError> {
        let params = vec![
            i64::from(state.chain.0).into(),
            state.coin.currency().code().into(),
            i64::from(state.paused).into(),
            i64::from(state.code_changed).into(),
            wide(state.at_block, "block height")?.into(),
        ];
        self.write(vec![role.step(), Step::one(&PUT_TOKEN, params)]).await.map(drop)
    }

    /// Accepts a token's new code after review, so that its transfers resume.
    ///
    /// # Errors
    /// `Conflict` if its code has not changed, or its state has changed since the review.
    pub async fn accept_token_code(
        &self,
        seen: &TokenState,
        by: impl Into<AuditContext>,
    ) -> Result<(), StoreError> {
        let code = seen.coin.currency().code();
        let chain = i64::from(seen.chain.0).into();
        let params = vec![chain, code.into(), wide(seen.at_block, "block height")?.into()];
        let changed =
            |changed| Facts::new().flag("code_changed", changed).text("at_block", seen.at_block);
        let note = Note::new("token.accept_code", "token", seen.chain.key(code))
            .before(changed(true))
            .after(changed(false));
        self.noted(INSTALLATION, by.into(), note, vec![Step::one(&ACCEPT_CODE, params)]).await
    }
}
