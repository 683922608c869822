// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// The code that all vaults of one controller are clones of. It obeys only that controller; the
/// address that a vault may pay is fixed in the vault's own address, and enforced by the
/// controller.
///
/// Rejects ether: a plain payment to a deployed vault fails. Ether sent before the deployment can
/// be rescued.
contract Vault {
    using SafeERC20 for IERC20;

    /// Part of this code, so clones share it.
    address private immutable CONTROLLER = msg.sender;

    error NotController();

    modifier onlyController() {
        if (msg.sender != CONTROLLER) revert NotController();
        _;
    }

    function pay(IERC20 token, address to, uint256 amount) external onlyController {
        token.safeTransfer(to, amount);
    }

    function payEth(address payable to) external onlyController returns (uint256 amount) {
        amount = address(this).balance;
        Address.sendValue(to, amount);
    }

    /// The 20 bytes at the end of the clone's code, for users of block explorers.
    function recipient() external view returns (address) {
        return address(bytes20(Clones.fetchCloneArgs(address(this))));
    }
}
