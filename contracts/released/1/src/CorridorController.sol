// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {Errors} from "@openzeppelin/contracts/utils/Errors.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {ICorridorController} from "./ICorridorController.sol";
import {Vault} from "./Vault.sol";

/// The one contract of a tenant that controls its escrows and wallets. Not upgradeable.
///
/// Whatever the operator's key signs, money only moves: out of an escrow to the recipient that the
/// escrow's address commits to; out of a wallet to this contract; from here back to the wallet it
/// came from, once and exactly; from here to the treasury. Anything else takes two persons
/// (refunds) or the admin and two days (another treasury).
contract CorridorController is ICorridorController, AccessControl, Pausable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    bytes32 public constant OPERATOR = keccak256("OPERATOR");
    bytes32 public constant COMPLIANCE = keccak256("COMPLIANCE");
    bytes32 public constant APPROVER = keccak256("APPROVER");
    uint256 public constant TREASURY_DELAY = 48 hours;
    /// An item that fails with this much gas did not run out of gas. Four times the current need,
    /// and still enough if state creation becomes more expensive (EIP-8037).
    uint256 public constant ITEM_GAS_AMPLE = 800_000;

    /// Reserved from the items of a batch, to record the failure of the last one.
    uint256 private constant BATCH_GAS_RESERVE = 30_000;

    /// Longer failure reasons are cut, so that recording them cannot starve the other items.
    uint256 private constant REASON_MAX_BYTES = 256;

    struct Record {
        address token;
        State state;
        /// Only for debits: the origin of the money, and the amount.
        address vault;
        uint96 amount;
    }

    struct Proposal {
        Item item;
        address to;
        address proposer;
    }

    struct Restriction {
        bool frozen;
        bool legalHold;
    }

    address public immutable vaultImplementation;
    address public treasury;
    address public proposedTreasury;
    /// Seconds since 1970; 0 = no proposal.
    uint256 public treasuryApplicableAt;

    mapping(bytes32 intent => Record) private _records;
    mapping(bytes32 intent => Proposal) private _proposals;
    mapping(address account => Restriction) private _restrictions;

    constructor(address admin, address operator, address compliance, address approver, address treasury_) {
        // The first CREATE of this contract: its address is derived from this contract's.
        vaultImplementation = address(new Vault());
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(OPERATOR, operator);
        _grantRole(COMPLIANCE, compliance);
        _grantRole(APPROVER, approver);
        _requireTreasury(treasury_);
        treasury = treasury_;
        emit TreasuryChanged(address(0), treasury_);
    }

    // --- OPERATOR ----------------------------------------------------------------------------------------------------

    /// @inheritdoc ICorridorController
    function releaseBatch(Item[] calldata items) external returns (bool[] memory) {
        return _batch(items, this.releaseItem);
    }

    /// @inheritdoc ICorridorController
    function debitBatch(Item[] calldata items) external returns (bool[] memory) {
        return _batch(items, this.debitItem);
    }

    /// One item of `releaseBatch`, as a separate call so that its failure reverts it alone.
    function releaseItem(Item calldata item) external {
        _requireSelf();
        _requireEscrow(item.recipient);
        address vault = _requireMovable(item);
        _records[item.intent].state = State.Released;
        Vault(vault).pay(IERC20(item.token), item.recipient, item.amount);
        emit Released(item.intent, item.ref, vault, item.token, item.recipient, item.amount);
    }

    /// One item of `debitBatch`.
    function debitItem(Item calldata item) external {
        _requireSelf();
        if (item.recipient != address(this)) revert NotAWallet(item.recipient);
        address vault = _requireMovable(item);
        _records[item.intent] = Record(item.token, State.Debited, vault, SafeCast.toUint96(item.amount));
        Vault(vault).pay(IERC20(item.token), address(this), item.amount);
        emit Debited(item.intent, item.ref, vault, item.token, address(this), item.amount);
    }

    /// @inheritdoc ICorridorController
    /// @dev Frozen wallets are allowed: there the money is frozen, here it could be swept.
    function returnDebit(bytes32 debitIntent, bytes32 intent)
        external
        onlyRole(OPERATOR)
        whenNotPaused
        nonReentrant
    {
        _requireUnused(intent);
        Record storage debit = _records[debitIntent];
        if (debit.state != State.Debited) revert NotDebited(debitIntent);
        debit.state = State.DebitReturned;
        _records[intent].state = State.Return;
        _requireHeld(debit.token, address(this), debit.amount);
        IERC20(debit.token).safeTransfer(debit.vault, debit.amount);
        emit DebitReturned(intent, debitIntent, debit.vault, debit.token, debit.amount);
    }

    /// @inheritdoc ICorridorController
    function sweep(address token, uint256 amount) external onlyRole(OPERATOR) whenNotPaused nonReentrant {
        address to = treasury;
        _requireUnrestricted(to);
        _requireHeld(token, address(this), amount);
        IERC20(token).safeTransfer(to, amount);
        emit Swept(token, to, amount);
    }

    // --- COMPLIANCE and APPROVER -------------------------------------------------------------------------------------

    /// @inheritdoc ICorridorController
    function proposeRefund(Item calldata item, address to) external onlyRole(COMPLIANCE) {
        _requireUnused(item.intent);
        _requireEscrow(item.recipient);
        if (item.amount == 0) revert NothingToMove();
        address vault = vaultOf(item.ref, item.recipient);
        if (to == address(0) || to == address(this) || to == vault) revert BadRefundAddress(to);
        _requireRefundable(vault, to);
        _records[item.intent].state = State.RefundProposed;
        _proposals[item.intent] = Proposal(item, to, msg.sender);
        emit RefundProposed(item.intent, item.ref, vault, item.token, to, item.amount);
    }

    /// @inheritdoc ICorridorController
    function executeRefund(bytes32 intent) external onlyRole(APPROVER) whenNotPaused nonReentrant {
        _requireProposed(intent);
        Proposal storage proposal = _proposals[intent];
        address proposer = proposal.proposer;
        if (proposer == msg.sender) revert SamePerson(msg.sender);
        if (!hasRole(COMPLIANCE, proposer)) revert ProposerLostRole(proposer);
        Item memory item = proposal.item;
        address to = proposal.to;
        address vault = _ensureVault(item.ref, item.recipient);
        _requireRefundable(vault, to);
        _records[intent].state = State.Refunded;
        _requireHeld(item.token, vault, item.amount);
        Vault(vault).pay(IERC20(item.token), to, item.amount);
        emit Refunded(intent, item.ref, vault, item.token, to, item.amount);
    }

    /// @inheritdoc ICorridorController
    function cancelRefund(bytes32 intent) external {
        if (!hasRole(COMPLIANCE, msg.sender) && !hasRole(APPROVER, msg.sender)) revert NoRole(msg.sender);
        _requireProposed(intent);
        _records[intent].state = State.RefundCancelled;
        emit RefundCancelled(intent, msg.sender);
    }

    /// @inheritdoc ICorridorController
    function setFrozen(address account, bool frozen_, bytes32 caseRef) external onlyRole(COMPLIANCE) {
        _restrictions[account].frozen = frozen_;
        emit FrozenSet(account, frozen_, caseRef);
    }

    /// @inheritdoc ICorridorController
    function setLegalHold(address vault, bool held, bytes32 caseRef) external onlyRole(COMPLIANCE) {
        _restrictions[vault].legalHold = held;
        emit LegalHoldSet(vault, held, caseRef);
    }

    // --- any role, and admin -----------------------------------------------------------------------------------------

    /// @inheritdoc ICorridorController
    function pause() external {
        bool any = hasRole(OPERATOR, msg.sender) || hasRole(COMPLIANCE, msg.sender) || hasRole(APPROVER, msg.sender)
            || hasRole(DEFAULT_ADMIN_ROLE, msg.sender);
        if (!any) revert NoRole(msg.sender);
        _pause();
    }

    /// @inheritdoc ICorridorController
    function unpause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        _unpause();
    }

    /// @inheritdoc ICorridorController
    function proposeTreasury(address next) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _requireTreasury(next);
        proposedTreasury = next;
        treasuryApplicableAt = block.timestamp + TREASURY_DELAY;
        emit TreasuryProposed(next, treasuryApplicableAt);
    }

    /// @inheritdoc ICorridorController
    function applyTreasury() external onlyRole(DEFAULT_ADMIN_ROLE) {
        uint256 from = treasuryApplicableAt;
        if (from == 0) revert TreasuryNotProposed();
        if (block.timestamp < from) revert TooEarly(from);
        emit TreasuryChanged(treasury, proposedTreasury);
        treasury = proposedTreasury;
        proposedTreasury = address(0);
        treasuryApplicableAt = 0;
    }

    /// @inheritdoc ICorridorController
    function rescueEth(bytes32 ref, address recipient, address to)
        external
        onlyRole(DEFAULT_ADMIN_ROLE)
        nonReentrant
    {
        if (to == address(0)) revert ZeroAddress();
        address vault = _ensureVault(ref, recipient);
        if (_restrictions[vault].legalHold) revert OnLegalHold(vault);
        emit EthRescued(vault, to, Vault(vault).payEth(payable(to)));
    }

    /// @inheritdoc ICorridorController
    function rescueControllerEth(address to) external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        if (to == address(0)) revert ZeroAddress();
        uint256 amount = address(this).balance;
        Address.sendValue(payable(to), amount);
        emit EthRescued(address(this), to, amount);
    }

    // --- views -------------------------------------------------------------------------------------------------------

    /// @inheritdoc ICorridorController
    function vaultOf(bytes32 ref, address recipient) public view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(vaultImplementation, _args(recipient), ref);
    }

    /// @inheritdoc ICorridorController
    function stateOf(bytes32 intent) external view returns (State) {
        return _records[intent].state;
    }

    /// @inheritdoc ICorridorController
    function frozen(address account) external view returns (bool) {
        return _restrictions[account].frozen;
    }

    /// @inheritdoc ICorridorController
    function legalHold(address vault) external view returns (bool) {
        return _restrictions[vault].legalHold;
    }

    // --- internals -----------------------------------------------------------------------------------------------------

    /// Tries each item with an equal share of the remaining gas: the 2017 USDT, for example, burns
    /// all its gas when a transfer fails, which must not affect the other items.
    function _batch(Item[] calldata items, function(Item memory) external carryOut)
        private
        onlyRole(OPERATOR)
        whenNotPaused
        nonReentrant
        returns (bool[] memory done)
    {
        uint256 count = items.length;
        done = new bool[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 left = gasleft();
            if (left <= BATCH_GAS_RESERVE) revert NotEnoughGas();
            uint256 share = (left - BATCH_GAS_RESERVE) / (count - i);
            try carryOut{gas: share}(items[i]) {
                done[i] = true;
            } catch (bytes memory reason) {
                // Running out of gas must not look like a rejection, especially to
                // `eth_estimateGas`, which searches for the least gas with which this call does not
                // revert.
                if (share < ITEM_GAS_AMPLE && _maybeWantOfGas(reason)) revert NotEnoughGas();
                emit IntentFailed(items[i].intent, _cut(reason));
            }
        }
    }

    function _ensureVault(bytes32 ref, address recipient) private returns (address vault) {
        vault = vaultOf(ref, recipient);
        if (vault.code.length == 0) {
            Clones.cloneDeterministicWithImmutableArgs(vaultImplementation, _args(recipient), ref);
        }
    }

    function _args(address recipient) private pure returns (bytes memory) {
        return abi.encodePacked(recipient);
    }

    /// Running out of gas returns no reason, or the library's error that a vault could not be
    /// created. The gas used is no indicator: where state has its own price, a failure refunds it.
    function _maybeWantOfGas(bytes memory reason) private pure returns (bool) {
        return reason.length == 0 || bytes4(reason) == Errors.FailedDeployment.selector;
    }

    function _cut(bytes memory reason) private pure returns (bytes memory) {
        if (reason.length > REASON_MAX_BYTES) {
            assembly ("memory-safe") {
                mstore(reason, REASON_MAX_BYTES)
            }
        }
        return reason;
    }

    // --- requirements ------------------------------------------------------------------------------------------------

    function _requireSelf() private view {
        if (msg.sender != address(this)) revert NotSelf();
    }

    /// The common checks of releases and debits. Deploys the vault that it returns.
    function _requireMovable(Item calldata item) private returns (address vault) {
        _requireUnused(item.intent);
        if (item.amount == 0) revert NothingToMove();
        vault = _ensureVault(item.ref, item.recipient);
        _requireUnrestricted(vault);
        _requireUnrestricted(item.recipient);
        // Checked here because the 2017 USDT fails by burning all gas.
        _requireHeld(item.token, vault, item.amount);
    }

    function _requireUnused(bytes32 intent) private view {
        if (_records[intent].state != State.Unknown) revert IntentUsed(intent);
    }

    function _requireProposed(bytes32 intent) private view {
        if (_records[intent].state != State.RefundProposed) revert NotProposed(intent);
    }

    function _requireEscrow(address recipient) private view {
        if (recipient == address(0) || recipient == address(this)) revert NotAnEscrow(recipient);
    }

    function _requireUnrestricted(address account) private view {
        Restriction memory restriction = _restrictions[account];
        if (restriction.frozen) revert AccountFrozen(account);
        if (restriction.legalHold) revert OnLegalHold(account);
    }

    /// A frozen escrow can be refunded, since two persons decide on it; one on legal hold cannot.
    function _requireRefundable(address vault, address to) private view {
        if (_restrictions[vault].legalHold) revert OnLegalHold(vault);
        _requireUnrestricted(to);
    }

    function _requireHeld(address token, address account, uint256 amount) private view {
        uint256 held = IERC20(token).balanceOf(account);
        if (held < amount) revert HoldsLess(account, held, amount);
    }

    function _requireTreasury(address candidate) private view {
        if (candidate == address(0) || candidate == address(this)) revert BadTreasury(candidate);
    }

    /// @dev One account, one role, also when the admin grants roles later.
    function _grantRole(bytes32 role, address account) internal override returns (bool) {
        if (account == address(0)) revert ZeroAddress();
        bytes32[4] memory roles = [DEFAULT_ADMIN_ROLE, OPERATOR, COMPLIANCE, APPROVER];
        for (uint256 i = 0; i < roles.length; ++i) {
            if (roles[i] != role && hasRole(roles[i], account)) revert HoldsAnotherRole(account);
        }
        return super._grantRole(role, account);
    }
}
