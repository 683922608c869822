//! Flows of money: into escrow, to the wallet, to the treasury and back, refunds to senders; and
//! what blocks them.

use domain::chain::{
    Address, Call, ChainLog, IntentOnChain, KeyRole, LogEvent, Movement, Plan, Receipt, Simulated,
    Word,
};
use domain::currency::StableCoin;
use domain::ports::Chain as _;
use testkit::circle;

use crate::ground::grounds;
use crate::world::{Staff, World, intent, movement};

const COIN: u64 = 1_000_000;

#[tokio::test]
async fn money_goes_only_where_it_belongs() {
    for ground in grounds("flows of money") {
        every_flow(&World::new(ground, None).await).await;
    }
}

#[tokio::test]
async fn the_same_with_an_awaited_controller_of_version_1() {
    for ground in grounds("flows of money over version 1") {
        let world = World::of(ground, None, Staff::of_version_1()).await;
        assert_eq!(world.controller.version, 1);
        every_flow(&world).await;
    }
}

#[tokio::test]
async fn the_same_with_circles_own_usdc() {
    let Some(code) = circle::for_tests("flows of money").expect("Circle's artifacts") else {
        return;
    };
    for ground in grounds("flows of money with Circle's USDC") {
        every_flow(&World::new(ground, Some(&code)).await).await;
    }
}

/// A wallet and its escrow, both undeployed.
struct Customer {
    wallet: (Word, Address),
    escrow: (Word, Address),
}

pub async fn every_flow(world: &World) {
    let wallet = world.wallet(1);
    let customer = Customer { wallet, escrow: world.escrow(2, wallet.1) };
    released(world, &customer).await;
    debited_and_returned(world, &customer).await;
    refunded(world, &customer).await;
    named_by_their_logs(world, &customer).await;
    frozen(world, &customer).await;
    blacklisted(world, &customer).await;
    paused(world, &customer).await;
}

fn events(receipt: &Receipt) -> Vec<LogEvent> {
    receipt.logs.iter().map(|log: &ChainLog| log.event).collect()
}

async fn each(world: &World, call: &Call) -> Vec<bool> {
    match world.simulate(KeyRole::Operator, call).await {
        Simulated::Works { each, .. } => each,
        Simulated::Reverts(reason) => panic!("{reason}"),
    }
}

async fn refusal(world: &World, role: KeyRole, call: &Call) -> String {
    match world.simulate(role, call).await {
        Simulated::Reverts(reason) => reason,
        works @ Simulated::Works { .. } => panic!("{works:?}"),
    }
}

impl Customer {
    const fn release(&self, number: u8, token: Address, amount: u64) -> Movement {
        movement(Word([number; 32]), self.escrow.0, self.wallet.1, token, amount)
    }

    const fn debit(&self, world: &World, number: u8, amount: u64) -> Movement {
        movement(Word([number; 32]), self.wallet.0, world.controller.address, world.usdc, amount)
    }
}

/// A batch with one impossible movement: the other one succeeds, and neither is executed twice.
async fn released(world: &World, customer: &Customer) {
    let (usdc, usdt) = (world.usdc, world.usdt);
    let (from, to) = (customer.escrow.1, customer.wallet.1);
    let paid = world.pay(usdc, from, 5 * COIN).await;
    let minter = world.minter.address();
    assert_eq!(events(&paid), [LogEvent::Transfer { from: minter, to: from, value: 5 * COIN }]);
    world.pay(usdt, from, 9 * COIN).await;
    let batch = vec![
        customer.release(1, usdc, 5 * COIN),
        customer.release(2, usdt, 100 * COIN),
        customer.release(3, usdt, 2 * COIN),
    ];
    assert_eq!(each(world, &Call::Release(batch.clone())).await, [true, false, true]);
    let receipt = world.send(KeyRole::Operator, Call::Release(batch)).await;
    let transfer = |value| LogEvent::Transfer { from, to, value };
    assert_eq!(
        events(&receipt),
        [
            transfer(5 * COIN),
            LogEvent::IntentDone(intent(1)),
            LogEvent::IntentFailed(intent(2)),
            transfer(2 * COIN),
            LogEvent::IntentDone(intent(3)),
        ]
    );
    let short = format!("{from} holds 9.00, 100.00 were asked for");
    assert_eq!(receipt.refusals, [(intent(2), short)]);
    let ordinals: Vec<u32> = receipt.logs.iter().map(|log| log.ordinal).collect();
    assert_eq!(ordinals, [0, 1, 1, 1, 2]);
    assert_eq!((world.balance(usdc, to).await, world.balance(usdc, from).await), (5 * COIN, 0));
    assert_eq!(
        (world.balance(usdt, to).await, world.balance(usdt, from).await),
        (2 * COIN, 7 * COIN)
    );
    assert_eq!(world.chain.is_deployed(from).await, Ok(true));
    // The failed one may be retried, executed ones never.
    let again =
        Call::Release(vec![customer.release(2, usdt, COIN), customer.release(3, usdt, COIN)]);
    assert_eq!(each(world, &again).await, [true, false]);
    let not_operator = refusal(world, KeyRole::Compliance, &again).await;
    assert!(not_operator.starts_with("AccessControlUnauthorizedAccount("), "{not_operator}");
}

/// What was executed is found by the controller's own logs: for books that were restored from a backup
/// and refuse to take "used" for "failed".
async fn named_by_their_logs(world: &World, customer: &Customer) {
    let controller = world.controller.address;
    let state = async |number| {
        let state = world.chain.intent_state(controller, intent(number)).await;
        state.expect("an answer")
    };
    assert_eq!(state(250).await, IntentOnChain::Unknown);
    world.pay(world.usdc, customer.escrow.1, 2 * COIN).await;
    let released = customer.release(240, world.usdc, 2 * COIN);
    let debited = customer.debit(world, 241, COIN);
    let give_back = Plan::ReturnDebit { debit: intent(241), intent: intent(242) };
    let before = world.chain.head().await.expect("a height");
    let mut sent = Vec::new();
    for call in [Call::Release(vec![released]), Call::Debit(vec![debited]), Call::One(give_back)] {
        sent.push(world.send(KeyRole::Operator, call).await);
    }
    let head = world.chain.head().await.expect("a height");
    let [as_released, as_debited] = [IntentOnChain::Released, IntentOnChain::Debited];
    for (receipt, as_what, it, (vault, to)) in [
        (&sent[0], as_released, released, (customer.escrow.1, customer.wallet.1)),
        (&sent[1], as_debited, debited, (customer.wallet.1, controller)),
    ] {
        let [log] = receipt.executed[..] else { panic!("{:?}", receipt.executed) };
        assert_eq!((log.as_what, log.intent, log.about), (as_what, it.intent, it.reference));
        assert_eq!((log.vault, log.token, log.to, log.amount), (vault, it.token, to, it.amount));
        for about in [it.intent, it.reference] {
            let found = world.chain.executing(controller, about, before, head).await;
            assert!(found.expect("an answer").contains(&receipt.tx), "{as_what:?}");
        }
    }
    let [log] = sent[2].executed[..] else { panic!("{:?}", sent[2].executed) };
    assert_eq!((log.as_what, log.about), (IntentOnChain::Return, intent(241)));
    assert_eq!((log.vault, log.to, log.amount), (customer.wallet.1, customer.wallet.1, COIN));
    let of_debit = world.chain.executing(controller, intent(241), before, head).await;
    assert_eq!(of_debit.expect("an answer"), [sent[2].tx, sent[1].tx], "newest first");
    let of_return = world.chain.executing(controller, intent(242), before, head).await;
    assert_eq!(of_return.expect("an answer"), [sent[2].tx]);
    let unknown = world.chain.executing(controller, intent(250), 0, head).await;
    assert_eq!(unknown, Ok(Vec::new()));
    for (number, expected) in
        [(240, as_released), (241, IntentOnChain::DebitReturned), (242, IntentOnChain::Return)]
    {
        assert_eq!(state(number).await, expected, "{number}");
    }
}

/// A debited amount can be returned once, exactly, to its origin.
async fn debited_and_returned(world: &World, customer: &Customer) {
    let (wallet, controller) = (customer.wallet.1, world.controller.address);
    let debit = Call::Debit(vec![customer.debit(world, 11, 3 * COIN)]);
    let receipt = world.send(KeyRole::Operator, debit).await;
    let moved = |from, to| LogEvent::Transfer { from, to, value: 3 * COIN };
    assert_eq!(events(&receipt), [moved(wallet, controller), LogEvent::IntentDone(intent(11))]);
    assert_eq!(world.balance(world.usdc, controller).await, 3 * COIN);
    let give_back =
        |number| Call::One(Plan::ReturnDebit { debit: intent(11), intent: intent(number) });
    let receipt = world.send(KeyRole::Operator, give_back(12)).await;
    assert_eq!(events(&receipt), [moved(controller, wallet), LogEvent::IntentDone(intent(12))]);
    assert_eq!(world.balance(world.usdc, wallet).await, 5 * COIN);
    assert_eq!(
        refusal(world, KeyRole::Operator, &give_back(13)).await,
        format!("NotDebited({})", intent(11))
    );
}

/// One key proposes, another executes; the proposer cannot.
async fn refunded(world: &World, customer: &Customer) {
    let sender = Address([0x5e; 20]);
    let propose = Call::One(Plan::ProposeRefund {
        movement: customer.release(21, world.usdt, 3 * COIN),
        to: sender,
    });
    let receipt = world.send(KeyRole::Compliance, propose).await;
    assert_eq!(
        (receipt.succeeded, events(&receipt)),
        (true, vec![LogEvent::IntentDone(intent(21))])
    );
    let execute = Call::One(Plan::ExecuteRefund { intent: intent(21) });
    let alone = refusal(world, KeyRole::Compliance, &execute).await;
    assert!(alone.starts_with("AccessControlUnauthorizedAccount("), "{alone}");
    let receipt = world.send(KeyRole::Approver, execute).await;
    let moved = LogEvent::Transfer { from: customer.escrow.1, to: sender, value: 3 * COIN };
    assert_eq!(events(&receipt), [moved, LogEvent::IntentDone(intent(21))]);
    assert_eq!(world.balance(world.usdt, sender).await, 3 * COIN);
}

async fn frozen(world: &World, customer: &Customer) {
    let wallet = customer.wallet.1;
    let freeze = |frozen| Call::One(Plan::SetFrozen { account: wallet, frozen, case: intent(0) });
    let release = Call::Release(vec![customer.release(31, world.usdt, COIN)]);
    for is_frozen in [true, false] {
        let receipt = world.send(KeyRole::Compliance, freeze(is_frozen)).await;
        assert_eq!(events(&receipt), [LogEvent::FrozenSet { account: wallet, frozen: is_frozen }]);
        assert_eq!(each(world, &release).await, [!is_frozen]);
    }
}

/// Each token has its own blacklist; balances of listed accounts are not moved.
async fn blacklisted(world: &World, customer: &Customer) {
    let escrow = customer.escrow.1;
    for (coin, token, number) in
        [(StableCoin::Usdc, world.usdc, 41), (StableCoin::Usdt, world.usdt, 42)]
    {
        world.pay(token, escrow, 4 * COIN).await;
        let release = Call::Release(vec![customer.release(number, token, COIN)]);
        assert_eq!(each(world, &release).await, [true]);
        assert_eq!(world.chain.is_blacklisted(token, escrow).await, Ok(false));
        let receipt = world
            .send(KeyRole::Blacklister, Call::One(Plan::Blacklist { token, coin, account: escrow }))
            .await;
        assert_eq!(events(&receipt), [LogEvent::Blacklisted(escrow)]);
        assert_eq!(world.chain.is_blacklisted(token, escrow).await, Ok(true));
        assert_eq!(each(world, &release).await, [false]);
        let receipt = world.send(KeyRole::Operator, release).await;
        assert_eq!(events(&receipt), [LogEvent::IntentFailed(intent(number))]);
    }
}

async fn paused(world: &World, customer: &Customer) {
    let debit = Call::Debit(vec![customer.debit(world, 51, COIN)]);
    assert_eq!(each(world, &debit).await, [true]);
    assert_eq!(world.chain.is_paused(world.usdc).await, Ok(false));
    let nonce = world.chain.nonce(world.minter.address()).await.expect("nonce");
    let mut script = world.minter.script(nonce, crate::world::PLENTY);
    script.pause(world.usdc).expect("script");
    let receipts = world.run(&script.finish()).await;
    assert_eq!(events(&receipts[0]), [LogEvent::Paused]);
    assert_eq!(world.chain.is_paused(world.usdc).await, Ok(true));
    assert_eq!(world.chain.is_paused(world.usdt).await, Ok(false));
    assert_eq!(each(world, &debit).await, [false]);
}
