// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The functions, errors and events of a tenant's controller. Amounts are minor units of the token.
///
/// Two kinds of vaults: an *escrow* commits to the wallet that it pays; a *wallet* commits to the
/// controller itself. An *intent* is an id that the service assigns to one movement; the controller
/// executes it once.
interface ICorridorController {
    /// One movement out of a vault.
    struct Item {
        /// Executed once, whichever function it comes through.
        bytes32 intent;
        /// The vault's reference: its CREATE2 salt.
        bytes32 ref;
        /// The recipient that the vault's address commits to; another recipient is another vault.
        address recipient;
        address token;
        uint256 amount;
    }

    /// The state of an intent.
    enum State {
        Unknown,
        Released,
        Debited,
        /// A debit whose amount went back to its wallet.
        DebitReturned,
        /// The intent of the return itself.
        Return,
        RefundProposed,
        Refunded,
        RefundCancelled
    }

    // --- events: the first topic of every event that ends an intent is the intent ---

    event Released(
        bytes32 indexed intent, bytes32 indexed ref, address vault, address token, address to, uint256 amount
    );
    event Debited(
        bytes32 indexed intent, bytes32 indexed ref, address vault, address token, address to, uint256 amount
    );
    event DebitReturned(
        bytes32 indexed intent, bytes32 indexed debitIntent, address vault, address token, uint256 amount
    );
    event RefundProposed(
        bytes32 indexed intent, bytes32 indexed ref, address vault, address token, address to, uint256 amount
    );
    event RefundCancelled(bytes32 indexed intent, address by);
    event Refunded(
        bytes32 indexed intent, bytes32 indexed ref, address vault, address token, address to, uint256 amount
    );
    /// An item of a batch failed and left no trace; its intent may be tried again.
    event IntentFailed(bytes32 indexed intent, bytes reason);
    event FrozenSet(address indexed account, bool frozen, bytes32 caseRef);
    event LegalHoldSet(address indexed vault, bool held, bytes32 caseRef);
    event TreasuryProposed(address indexed treasury, uint256 applicableAt);
    event TreasuryChanged(address indexed from, address indexed to);
    event Swept(address indexed token, address indexed treasury, uint256 amount);
    event EthRescued(address indexed from, address indexed to, uint256 amount);

    // --- refusals ---

    /// Only the controller calls this, for one item of a batch.
    error NotSelf();
    error ZeroAddress();
    /// One account, one role: a proposer cannot approve, and an operator can do neither.
    error HoldsAnotherRole(address account);
    error NoRole(address account);
    error IntentUsed(bytes32 intent);
    error NothingToMove();
    /// Releases and refunds are for vaults that do not pay the controller.
    error NotAnEscrow(address recipient);
    /// Debits are for vaults that pay the controller.
    error NotAWallet(address recipient);
    error AccountFrozen(address account);
    error OnLegalHold(address account);
    error HoldsLess(address account, uint256 held, uint256 asked);
    /// An item of the batch failed without a reason and with little gas: it may succeed with more.
    error NotEnoughGas();
    error NotDebited(bytes32 intent);
    error NotProposed(bytes32 intent);
    error SamePerson(address account);
    /// The proposal ended with its proposer's role.
    error ProposerLostRole(address account);
    error BadRefundAddress(address to);
    error BadTreasury(address treasury);
    error TreasuryNotProposed();
    error TooEarly(uint256 applicableAt);

    // --- OPERATOR ---

    /// Out of escrows to the recipients that they commit to; `true` for each executed item.
    function releaseBatch(Item[] calldata items) external returns (bool[] memory);
    /// Out of wallets to this contract; `true` for each executed item.
    function debitBatch(Item[] calldata items) external returns (bool[] memory);
    /// A debited amount goes back to its wallet, once.
    function returnDebit(bytes32 debitIntent, bytes32 intent) external;
    /// From this contract to the treasury.
    function sweep(address token, uint256 amount) external;

    // --- COMPLIANCE and APPROVER ---

    /// COMPLIANCE: proposes a refund out of an escrow to `to`.
    function proposeRefund(Item calldata item, address to) external;
    /// APPROVER, with an account other than the proposer's.
    function executeRefund(bytes32 intent) external;
    /// COMPLIANCE or APPROVER.
    function cancelRefund(bytes32 intent) external;
    /// COMPLIANCE: nothing is released or debited out of or to a frozen account.
    function setFrozen(address account, bool frozen_, bytes32 caseRef) external;
    /// COMPLIANCE: a freeze that also blocks refunds.
    function setLegalHold(address vault, bool held, bytes32 caseRef) external;

    // --- any role, and admin ---

    /// Any role. Blocks all movements.
    function pause() external;
    /// Admin.
    function unpause() external;
    /// Admin: names the next treasury; a new proposal restarts the delay.
    function proposeTreasury(address next) external;
    /// Admin, after the delay.
    function applyTreasury() external;
    /// Admin: ether that was sent to a vault's address.
    function rescueEth(bytes32 ref, address recipient, address to) external;
    /// Admin: ether that was sent to this contract's address before its deployment.
    function rescueControllerEth(address to) external;

    // --- views ---

    /// The vault's address, deployed or not.
    function vaultOf(bytes32 ref, address recipient) external view returns (address);
    function stateOf(bytes32 intent) external view returns (State);
    function frozen(address account) external view returns (bool);
    function legalHold(address vault) external view returns (bool);
}
