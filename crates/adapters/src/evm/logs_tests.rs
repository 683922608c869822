//! Tests of which logs are relevant and how they decode.

use domain::currency::StableCoin;
use serde_json::{Value, json};

use super::super::artifact::{self, Artifact};
use super::*;

const USDC: &str = "0x00000000000000000000000000000000000000c0";
const USDT: &str = "0x00000000000000000000000000000000000000d0";
const CONTROLLER: &str = "0x00000000000000000000000000000000000000e0";
const STRANGER: &str = "0x00000000000000000000000000000000000000f0";
const ALICE: &str = "0x000000000000000000000000000000000000000000000000000000000000a11c";
const BOB: &str = "0x0000000000000000000000000000000000000000000000000000000000000b0b";
const FIVE: &str = "0x0000000000000000000000000000000000000000000000000000000000000005";

fn hash(number: u8) -> String {
    format!("0x{number:064x}")
}

fn log(index: u32, tx: u8, contract: &str, topics: &[&str], data: &str) -> Value {
    json!({
        "address": contract, "topics": topics, "data": data, "blockNumber": "0x7", "blockHash": hash(7),
        "transactionHash": hash(tx), "logIndex": format!("{index:#x}"), "removed": false,
    })
}

fn topic(signature: &str) -> String {
    abi::topic(signature).to_string()
}

fn read(logs: &[Value]) -> Result<Vec<ChainLog>, RpcFault> {
    let address = |text: &str| Address::parse(text).expect("address");
    let tokens = [
        Token { coin: StableCoin::Usdc, address: address(USDC) },
        Token { coin: StableCoin::Usdt, address: address(USDT) },
    ];
    let controllers = [address(CONTROLLER)];
    let logs: Vec<Log> =
        logs.iter().map(|log| serde_json::from_value(log.clone()).expect("log")).collect();
    Ours { tokens: &tokens, controllers: &controllers }.read(logs, |log| log.block_number.0 == 7)
}

fn account(word: &str) -> Address {
    abi::address(&Word::parse(word).expect("word").0).expect("address")
}

#[test]
fn every_event_is_in_the_contracts() {
    let events = |json: &str| -> Vec<String> {
        let artifact = Artifact::parse(json).expect("artifact");
        artifact.entries("event").into_iter().map(artifact::Entry::signature).collect()
    };
    let known = [artifact::CONTROLLER, artifact::SANDBOX_USDC, artifact::SANDBOX_USDT]
        .map(events)
        .into_iter()
        .flatten();
    let known: Vec<String> = known.collect();
    // The sandbox's USDC has no proxy, its USDT is Ethereum's.
    let foreign =
        ["Upgraded(address)", "BlockPlaced(address)", "BlockReleased(address)"].map(str::to_owned);
    for (_, signature) in SIGNATURES {
        let mut known = known.iter().chain(&foreign);
        assert!(known.any(|known| known == signature), "{signature}");
    }
    assert_eq!(
        topic("Transfer(address,address,uint256)"),
        "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    );
}

#[test]
fn transfers_are_counted_within_their_transaction_for_any_contract() {
    let transfer = topic("Transfer(address,address,uint256)");
    let approval = topic("Approval(address,address,uint256)");
    let erc20 = |index, tx, contract| log(index, tx, contract, &[&transfer, ALICE, BOB], FIVE);
    let erc721 =
        |index, tx, contract| log(index, tx, contract, &[&transfer, ALICE, BOB, FIVE], "0x");
    let found = read(&[
        erc20(9, 2, USDT),
        log(1, 1, STRANGER, &[&approval, ALICE, BOB], FIVE),
        erc721(2, 1, STRANGER),
        erc20(4, 1, STRANGER),
        erc20(5, 1, USDC),
        log(6, 1, STRANGER, &[], "0x1234"),
        erc20(8, 2, USDC),
    ])
    .expect("logs");
    let places: Vec<_> = found.iter().map(|log| (log.log_index, log.ordinal)).collect();
    assert_eq!(places, [(4, 1), (5, 2), (8, 0), (9, 1)]);
    let (from, to) = (account(ALICE), account(BOB));
    assert_eq!(found[0].event, LogEvent::UnsupportedTransfer { from, to, value: 5 });
    assert_eq!(found[1].event, LogEvent::Transfer { from, to, value: 5 });
    assert_eq!((found[1].block_number, found[1].block.0[31], found[1].tx.0[31]), (7, 7, 1));
    assert_eq!(found[1].contract.to_string().to_lowercase(), USDC);
}

#[test]
fn events_are_read_as_their_contract_means_them() {
    let (alice, word) = (account(ALICE), Word::parse(BOB).expect("word"));
    let one = format!("0x{:064x}", 1);
    let both = format!("{ALICE}{:064x}", 5);
    let frozen = format!("{one}{:064x}", 9);
    for (contract, signature, topics, data, expected) in [
        (USDC, "Blacklisted(address)", &[ALICE][..], "0x", LogEvent::Blacklisted(alice)),
        (USDC, "UnBlacklisted(address)", &[ALICE], "0x", LogEvent::UnBlacklisted(alice)),
        (USDT, "AddedBlackList(address)", &[], ALICE, LogEvent::Blacklisted(alice)),
        (USDT, "RemovedBlackList(address)", &[], ALICE, LogEvent::UnBlacklisted(alice)),
        (
            USDT,
            "DestroyedBlackFunds(address,uint256)",
            &[],
            &both,
            LogEvent::FundsDestroyed { account: alice, value: 5 },
        ),
        (USDT, "BlockPlaced(address)", &[ALICE], "0x", LogEvent::Blacklisted(alice)),
        (USDT, "BlockReleased(address)", &[ALICE], "0x", LogEvent::UnBlacklisted(alice)),
        (USDC, "Pause()", &[], "0x", LogEvent::Paused),
        (USDT, "Unpause()", &[], "0x", LogEvent::Unpaused),
        (USDC, "Upgraded(address)", &[], ALICE, LogEvent::CodeChanged),
        (USDT, "Deprecate(address)", &[], ALICE, LogEvent::CodeChanged),
        (
            CONTROLLER,
            "Released(bytes32,bytes32,address,address,address,uint256)",
            &[BOB, ALICE],
            "0x",
            LogEvent::IntentDone(word),
        ),
        (
            CONTROLLER,
            "Debited(bytes32,bytes32,address,address,address,uint256)",
            &[BOB, ALICE],
            "0x",
            LogEvent::IntentDone(word),
        ),
        (
            CONTROLLER,
            "DebitReturned(bytes32,bytes32,address,address,uint256)",
            &[BOB, ALICE],
            "0x",
            LogEvent::IntentDone(word),
        ),
        (
            CONTROLLER,
            "RefundProposed(bytes32,bytes32,address,address,address,uint256)",
            &[BOB, ALICE],
            "0x",
            LogEvent::IntentDone(word),
        ),
        (
            CONTROLLER,
            "Refunded(bytes32,bytes32,address,address,address,uint256)",
            &[BOB, ALICE],
            "0x",
            LogEvent::IntentDone(word),
        ),
        (
            CONTROLLER,
            "RefundCancelled(bytes32,address)",
            &[BOB],
            "0x",
            LogEvent::RefundCancelled(word),
        ),
        (CONTROLLER, "IntentFailed(bytes32,bytes)", &[BOB], "0x", LogEvent::IntentFailed(word)),
        (
            CONTROLLER,
            "Swept(address,address,uint256)",
            &[ALICE, BOB],
            FIVE,
            LogEvent::Swept { token: alice, value: 5 },
        ),
        (
            CONTROLLER,
            "FrozenSet(address,bool,bytes32)",
            &[ALICE],
            &frozen,
            LogEvent::FrozenSet { account: alice, frozen: true },
        ),
        (
            CONTROLLER,
            "LegalHoldSet(address,bool,bytes32)",
            &[ALICE],
            &frozen,
            LogEvent::LegalHoldSet { vault: alice, held: true },
        ),
    ] {
        let first = topic(signature);
        let topics = [&[first.as_str()][..], topics].concat();
        let events = |contract| -> Vec<LogEvent> {
            read(&[log(0, 1, contract, &topics, data)])
                .expect("logs")
                .into_iter()
                .map(|log| log.event)
                .collect()
        };
        assert_eq!(events(contract), [expected], "{signature}");
        assert_eq!(events(STRANGER), [], "any contract can emit {signature}");
        let other = if contract == CONTROLLER { USDC } else { CONTROLLER };
        assert_eq!(events(other), [], "{other} does not emit {signature}");
    }
}

#[test]
fn values_beyond_64_bits_are_cut() {
    let transfer = topic("Transfer(address,address,uint256)");
    let found =
        read(&[log(0, 1, USDC, &[&transfer, ALICE, BOB], &format!("0x{}", "f".repeat(64)))])
            .expect("logs");
    assert!(matches!(found[0].event, LogEvent::Transfer { value: u64::MAX, .. }));
}

#[test]
fn garbled_logs_of_controllers_are_faults_and_of_others_ignored() {
    let released = topic("Released(bytes32,bytes32,address,address,address,uint256)");
    let frozen = topic("FrozenSet(address,bool,bytes32)");
    let held = topic("LegalHoldSet(address,bool,bytes32)");
    let one_and_case = format!("0x{:064x}{:064x}", 1, 9);
    for (topics, data) in [
        (&[&released[..]][..], "0x"),
        (&[&held, ALICE], "0x"),
        (&[&held], &one_and_case),
        (&[&frozen, ALICE], "0x"),
        (&[&frozen, ALICE], ALICE),
    ] {
        let fault = read(&[log(0, 1, CONTROLLER, topics, data)]);
        assert!(matches!(fault, Err(RpcFault::Malformed(_))), "{topics:?} {data}");
        assert_eq!(read(&[log(0, 1, STRANGER, topics, data)]), Ok(vec![]));
    }
}

#[test]
fn garbled_logs_of_tokens_are_reported_beside_the_others_and_of_strangers_ignored() {
    let transfer = topic("Transfer(address,address,uint256)");
    let blacklisted = topic("Blacklisted(address)");
    let removed = topic("RemovedBlackList(address)");
    let destroyed = topic("DestroyedBlackFunds(address,uint256)");
    let not_an_address = format!("0x{}", "f".repeat(64));
    let two_words = format!("{FIVE}{:064x}", 5);
    let three_words = format!("{ALICE}{:064x}{:064x}", 5, 5);
    let garbled = [
        ("Transfer", &[&transfer[..], ALICE][..], FIVE),
        ("Transfer", &[&transfer], &three_words),
        ("Transfer", &[&transfer, ALICE, BOB], "0x05"),
        ("Transfer", &[&transfer, ALICE, BOB], "0x"),
        ("Transfer", &[&transfer, ALICE, BOB], &two_words),
        ("Transfer", &[&transfer, &not_an_address, BOB], FIVE),
        ("Transfer", &[&transfer, ALICE, &not_an_address], FIVE),
        ("Transfer", &[&transfer, ALICE, BOB, FIVE], "0x"),
        ("Blacklisted", &[&blacklisted], "0x"),
        ("Blacklisted", &[&blacklisted, &not_an_address], "0x"),
        ("RemovedBlackList", &[&removed], "0x05"),
        ("DestroyedBlackFunds", &[&destroyed, ALICE], FIVE),
        ("DestroyedBlackFunds", &[&destroyed], ALICE),
    ];
    let mut contents = Vec::new();
    for (name, topics, data) in garbled {
        let good = |index| log(index, 1, USDC, &[&transfer, ALICE, BOB], FIVE);
        let found = read(&[good(0), log(1, 1, USDC, topics, data), good(2)]).expect("logs");
        let LogEvent::Undecodable { event, content } = found[1].event else {
            panic!("{topics:?} {data}: {found:?}")
        };
        let counted = u32::from(name == "Transfer");
        let ordinals: Vec<u32> = found.iter().map(|log| log.ordinal).collect();
        assert_eq!((event, &ordinals[..]), (name, &[0, 1, 1 + counted][..]), "{topics:?} {data}");
        assert!(!contents.contains(&content), "answers that differ are not the same");
        contents.push(content);
        assert_eq!(read(&[log(0, 1, STRANGER, topics, data)]), Ok(vec![]));
    }
}

#[test]
fn a_log_that_is_delivered_again_counts_once() {
    let transfer = topic("Transfer(address,address,uint256)");
    let of = |index, tx, data| log(index, tx, USDC, &[&transfer, ALICE, BOB], data);
    let once = [of(0, 1, FIVE), of(1, 1, FIVE), of(2, 2, FIVE)];
    let expected = read(&once).expect("logs");
    let mut unmarked = of(1, 1, FIVE);
    unmarked.as_object_mut().expect("log").remove("removed");
    for again in [&once[..], &[of(1, 1, FIVE), of(1, 1, FIVE)], &[unmarked]] {
        let delivered = [&once[..], again].concat();
        assert_eq!(read(&delivered), Ok(expected.clone()), "{again:?}");
    }
    // The same index with other content stays a fault, beside a repetition as well.
    for other in [of(1, 1, ALICE), of(1, 2, FIVE), log(1, 1, USDT, &[&transfer, ALICE, BOB], FIVE)]
    {
        for delivered in [vec![other.clone()], vec![of(1, 1, FIVE), other.clone()]] {
            let delivered = [&once[..], &delivered].concat();
            assert!(matches!(read(&delivered), Err(RpcFault::Malformed(_))), "{other}");
        }
    }
}

#[test]
fn inconsistent_logs_are_rejected() {
    let transfer = topic("Transfer(address,address,uint256)");
    let good = log(0, 1, USDC, &[&transfer, ALICE, BOB], FIVE);
    let with = |member: &str, value: Value| {
        let mut other = good.clone();
        other["logIndex"] = json!("0x1");
        other[member] = value;
        other
    };
    for other in [
        with("removed", json!(true)),
        with("blockNumber", json!("0x8")),
        with("blockHash", json!(hash(8))),
    ] {
        assert!(
            matches!(read(&[good.clone(), other.clone()]), Err(RpcFault::Malformed(_))),
            "{other}"
        );
    }
}

#[test]
fn announcements_of_admins_are_read_of_any_contract() {
    let role = topic("RoleProposed(bytes32,address,uint256)");
    let treasury = topic("TreasuryProposed(address,uint256)");
    let admin = topic("DefaultAdminTransferScheduled(address,uint48)");
    let found = read(&[
        log(1, 1, CONTROLLER, &[&role, FIVE, ALICE], FIVE),
        log(2, 1, STRANGER, &[&treasury, BOB], FIVE),
        log(3, 1, STRANGER, &[&admin, ALICE], FIVE),
        // A contract that means something else by the name.
        log(4, 1, STRANGER, &[&admin], FIVE),
    ])
    .expect("read");
    let events: Vec<LogEvent> = found.iter().map(|log| log.event).collect();
    assert_eq!(
        events,
        [
            LogEvent::Announced { change: Announcement::Role, account: account(ALICE) },
            LogEvent::Announced { change: Announcement::Treasury, account: account(BOB) },
            LogEvent::Announced { change: Announcement::Admin, account: account(ALICE) },
        ]
    );
    let malformed = read(&[log(1, 1, CONTROLLER, &[&role, FIVE], FIVE)]);
    assert!(matches!(malformed, Err(RpcFault::Malformed(_))), "{malformed:?}");
}
