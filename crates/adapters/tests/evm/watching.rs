//! Reading the chain: blocks, heads, logs, other tokens, reorganisations, a second node.

use adapters::evm::EvmChain;
use adapters::evm::deploy::Minter;
use devchain::{DevChain, Mining, Options};
use domain::chain::{Block, BlockAt, Broadcast, ChainFault, ChainLog, Heads, LogEvent};
use domain::ports::Chain as _;

use crate::ground::{CHAIN_ID, Ground, embedded, grounds, in_process};
use crate::world::{PLENTY, World};

async fn heads(world: &World) -> Heads {
    world.chain.heads().await.expect("heads")
}

async fn block(world: &World, number: u64) -> Block {
    world.chain.block(BlockAt::Number(number)).await.expect("answer").expect("block")
}

#[tokio::test]
async fn blocks_are_linked_and_heads_are_in_order() {
    for ground in grounds("blocks and heads") {
        let world = World::new(ground, None).await;
        world.ground.mine(70).await;
        let Heads { latest, safe, finalized } = heads(&world).await;
        assert!(finalized <= safe && safe <= Some(latest.number) && finalized.is_some());
        assert_eq!(world.chain.block(BlockAt::Latest).await, Ok(Some(latest)));
        let before = block(&world, latest.number - 1).await;
        assert_eq!(latest.parent, before.hash);
        assert!(latest.at >= before.at);
        assert_eq!(world.chain.block(BlockAt::Number(latest.number + 1)).await, Ok(None));
    }
}

#[tokio::test]
async fn the_logs_of_a_block_a_range_and_a_receipt_are_the_same() {
    for ground in grounds("logs") {
        let world = World::new(ground, None).await;
        let account = world.wallet(1).1;
        let begun = heads(&world).await.latest.number + 1;
        let mut receipts = Vec::new();
        for (token, amount) in [(world.usdc, 1), (world.usdt, 2), (world.usdc, 3)] {
            receipts.push(world.pay(token, account, amount).await);
        }
        let of_receipts: Vec<ChainLog> =
            receipts.iter().flat_map(|receipt| receipt.logs.clone()).collect();
        let values: Vec<_> = of_receipts
            .iter()
            .map(|log| match log.event {
                LogEvent::Transfer { to, value, .. } if to == account => (log.contract, value),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(values, [(world.usdc, 1), (world.usdt, 2), (world.usdc, 3)]);
        let ended = heads(&world).await.latest.number;
        assert_eq!(world.chain.logs_in(begun, ended, &[]).await, Ok(of_receipts.clone()));
        let mut of_blocks = Vec::new();
        for number in begun..=ended {
            of_blocks.extend(
                world.chain.logs(block(&world, number).await.hash, &[]).await.expect("logs"),
            );
        }
        assert_eq!(of_blocks, of_receipts);
    }
}

#[tokio::test]
async fn an_unsupported_token_is_reported_and_never_credited() {
    for ground in grounds("other tokens") {
        let world = World::new(ground, None).await;
        let other = Minter::new(&"another seed".into(), CHAIN_ID).expect("minter");
        world.ground.fund(other.address(), 1_000_000_000_000_000_000).await;
        let mut script = other.script(0, PLENTY);
        other.deploy(&mut script, world.minter.address()).expect("script");
        let [fake, _] = other.tokens();
        let account = world.wallet(1).1;
        script.transfer(fake.address, account, 5).expect("script");
        let receipts = world.run(&script.finish()).await;
        let paid = receipts.last().expect("receipts");
        let expected =
            LogEvent::UnsupportedTransfer { from: other.address(), to: account, value: 5 };
        assert_eq!(
            paid.logs.iter().map(|log| (log.contract, log.event)).collect::<Vec<_>>(),
            [(fake.address, expected)]
        );
        let logs = world.chain.logs(paid.block, &[]).await.expect("logs");
        assert_eq!(logs, paid.logs);
    }
}

#[tokio::test]
async fn a_reorganisation_is_seen_and_its_transactions_return_unchanged() {
    for depth in [1, 2, 7] {
        for ground in grounds("reorganisations") {
            reorganised(&World::new(ground, None).await, depth).await;
        }
    }
}

async fn reorganised(world: &World, depth: u64) {
    let account = world.wallet(1).1;
    let nonce = world.chain.nonce(world.minter.address()).await.expect("nonce");
    let mut script = world.minter.script(nonce, PLENTY);
    script.transfer(world.usdc, account, 5).expect("script");
    let transactions = script.finish();
    let paid = world.run(&transactions).await.remove(0);
    world.ground.mine(depth - 1).await;
    let before = heads(world).await.latest;
    let parent = block(world, paid.block_number).await.parent;

    world.ground.reorg(depth).await;
    let after = heads(world).await.latest;
    assert_eq!(after.number, before.number);
    assert_ne!(after.hash, before.hash);
    let replaced = block(world, paid.block_number).await;
    assert_ne!(replaced.hash, paid.block, "the header of that height is another one");
    assert_eq!(replaced.parent, parent, "the common ancestor is where it was");
    assert_eq!(world.chain.logs(replaced.hash, &[]).await, Ok(vec![]));
    assert_eq!(world.balance(world.usdc, account).await, 0);

    // The saved bytes are sent again, whether the node still has them or not.
    let again = world.chain.broadcast(&transactions[0].raw).await;
    assert!(matches!(again, Broadcast::Accepted | Broadcast::AlreadyKnown), "{again:?}");
    world.ground.mine(1).await;
    let back = world.chain.receipt(paid.tx, &[]).await.expect("answer").expect("mined again");
    assert_ne!(back.block, paid.block);
    let names = |log: &ChainLog| (log.tx, log.ordinal, log.contract, log.event);
    assert_eq!(
        back.logs.iter().map(names).collect::<Vec<_>>(),
        paid.logs.iter().map(names).collect::<Vec<_>>()
    );
    assert_eq!(world.balance(world.usdc, account).await, 5);
}

#[tokio::test]
async fn a_block_that_the_node_does_not_have_is_a_fault_and_not_empty() {
    for ground in grounds("blocks that are gone") {
        let world = World::new(ground, None).await;
        let paid = world.pay(world.usdc, world.wallet(1).1, 5).await;
        world.ground.reorg(1).await;
        let gone = world.chain.logs(paid.block, &[]).await;
        // anvil keeps the blocks of abandoned forks, with their logs.
        let kept = world.ground.is_anvil() && gone == Ok(paid.logs);
        assert!(kept || matches!(gone, Err(ChainFault::Unreachable(_))), "{gone:?}");
    }
}

#[tokio::test]
async fn the_second_node_must_have_the_same_block() {
    let dev = embedded();
    let world = World::new(Ground::Embedded(dev.clone()), None).await;
    let Block { number, hash, .. } = heads(&world).await.latest;
    let with =
        |second: &DevChain| world.chain_over(vec![], in_process(&dev), Some(in_process(second)));
    let has = async |chain: &EvmChain, number, hash| {
        chain.agreed_block(number, hash).await.map(|it| it.is_some())
    };
    assert_eq!(has(&with(&dev), number, hash).await, Ok(true));
    let late = with(&dev.lagging_view(2));
    assert_eq!(has(&late, number, hash).await, Ok(false));
    assert_eq!(has(&late, number - 2, block(&world, number - 2).await.hash).await, Ok(true));
    let other = with(&dev.disagreeing_view(number));
    assert_eq!(
        has(&other, number, hash).await,
        Err(ChainFault::Disagreement(format!("block {number} (first node and second node)")))
    );
    assert_eq!(has(&other, number - 1, block(&world, number - 1).await.hash).await, Ok(true));
}

#[tokio::test]
async fn too_many_logs_are_requested_in_parts_down_to_one_block() {
    let options = Options { mining: Mining::ByHand, logs_max: 2, ..Options::for_tests() };
    let dev = DevChain::open(options).expect("chain");
    let world = World::new(Ground::Embedded(dev), None).await;
    let nonce = world.chain.nonce(world.minter.address()).await.expect("nonce");
    let mut script = world.minter.script(nonce, PLENTY);
    for amount in 1..=5 {
        script.transfer(world.usdc, world.wallet(1).1, amount).expect("script");
    }
    for signed in script.finish() {
        assert_eq!(world.chain.broadcast(&signed.raw).await, Broadcast::Accepted);
    }
    world.ground.mine(1).await;
    let latest = heads(&world).await.latest;
    assert_eq!(
        world.chain.logs_in(latest.number - 1, latest.number, &[]).await,
        Err(ChainFault::TooMuch)
    );
    let whole = world.chain.logs(latest.hash, &[]).await.expect("logs");
    assert_eq!(whole.len(), 5);
    assert_eq!(world.chain.logs_in(latest.number, latest.number, &[]).await, Ok(whole));
}
