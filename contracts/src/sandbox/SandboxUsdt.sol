// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The sandbox's USDT: the behaviour of Tether's token of 2017 on Ethereum, reimplemented from its
/// public interface and its behaviour. Worthless, never deployed where real money is.
///
/// Surprising, but intended:
/// - `transfer`, `transferFrom` and `approve` return nothing: decoding a bool from them fails.
/// - A nonzero allowance cannot be changed to another nonzero one.
/// - A blacklisted account cannot send but still receives; `transferFrom` checks the payer only.
/// - A fee, if the owner has set one, is deducted and goes to the owner, with its own `Transfer`,
/// which comes first.
/// - A transfer beyond the balance or allowance burns all its gas (2017's `assert`), without a
/// reason.
/// - `issue`, `redeem` and `destroyBlackFunds` change balances without a `Transfer`.
/// - Money can be sent to the zero address.
///
/// Omitted: forwarding calls to another contract after `deprecate`; here it only emits the event.
contract SandboxUsdt {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint256 public constant decimals = 6;
    uint256 public constant MAX_UINT = type(uint256).max;

    address public owner;
    bool public paused;
    bool public deprecated;
    address public upgradedAddress;
    uint256 public totalSupply;
    uint256 public basisPointsRate;
    uint256 public maximumFee;

    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Issue(uint256 amount);
    event Redeem(uint256 amount);
    event Deprecate(address newAddress);
    event Params(uint256 feeBasisPoints, uint256 maxFee);
    event AddedBlackList(address _user);
    event RemovedBlackList(address _user);
    event DestroyedBlackFunds(address _blackListedUser, uint256 _balance);
    event Pause();
    event Unpause();

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    modifier whenNotPaused() {
        require(!paused);
        _;
    }

    /// The owner is an argument because the sandbox deploys through a contract that must not own
    /// it.
    constructor(uint256 initialSupply, address owner_) {
        require(owner_ != address(0));
        owner = owner_;
        totalSupply = initialSupply;
        balanceOf[owner_] = initialSupply;
    }

    // --- moving money ------------------------------------------------------------------------------------------------

    function transfer(address to, uint256 value) external whenNotPaused {
        require(!isBlackListed[msg.sender]);
        _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external whenNotPaused {
        require(!isBlackListed[from]);
        uint256 allowed = allowance[from][msg.sender];
        // An infinite allowance stays infinite.
        if (allowed < MAX_UINT) allowance[from][msg.sender] = _less(allowed, value);
        _transfer(from, to, value);
    }

    /// Not blocked by `pause`.
    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    // --- blacklist ---------------------------------------------------------------------------------------------------

    function getBlackListStatus(address account) external view returns (bool) {
        return isBlackListed[account];
    }

    function addBlackList(address account) external onlyOwner {
        isBlackListed[account] = true;
        emit AddedBlackList(account);
    }

    function removeBlackList(address account) external onlyOwner {
        isBlackListed[account] = false;
        emit RemovedBlackList(account);
    }

    function destroyBlackFunds(address account) external onlyOwner {
        require(isBlackListed[account]);
        uint256 funds = balanceOf[account];
        balanceOf[account] = 0;
        totalSupply = _less(totalSupply, funds);
        emit DestroyedBlackFunds(account, funds);
    }

    // --- owner -------------------------------------------------------------------------------------------------------

    function getOwner() external view returns (address) {
        return owner;
    }

    function issue(uint256 amount) external onlyOwner {
        require(amount > 0 && amount <= MAX_UINT - totalSupply);
        balanceOf[owner] += amount;
        totalSupply += amount;
        emit Issue(amount);
    }

    function redeem(uint256 amount) external onlyOwner {
        require(totalSupply >= amount && balanceOf[owner] >= amount);
        totalSupply -= amount;
        balanceOf[owner] -= amount;
        emit Redeem(amount);
    }

    /// At most 19 basis points and 49 whole tokens.
    function setParams(uint256 newBasisPoints, uint256 newMaxFee) external onlyOwner {
        require(newBasisPoints < 20);
        require(newMaxFee < 50);
        basisPointsRate = newBasisPoints;
        maximumFee = newMaxFee * 10 ** decimals;
        emit Params(basisPointsRate, maximumFee);
    }

    function pause() external onlyOwner whenNotPaused {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        require(paused);
        paused = false;
        emit Unpause();
    }

    function deprecate(address newAddress) external onlyOwner {
        deprecated = true;
        upgradedAddress = newAddress;
        emit Deprecate(newAddress);
    }

    /// To the zero address: succeeds and changes nothing.
    function transferOwnership(address newOwner) external onlyOwner {
        if (newOwner != address(0)) owner = newOwner;
    }

    // --- internals ---------------------------------------------------------------------------------------------------

    function _transfer(address from, address to, uint256 value) private {
        uint256 fee = _feeOf(value);
        balanceOf[from] = _less(balanceOf[from], value);
        balanceOf[to] += value - fee;
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
        emit Transfer(from, to, value - fee);
    }

    function _feeOf(uint256 value) private view returns (uint256 fee) {
        // Without a fee nothing is multiplied, so that every value can be requested.
        if (basisPointsRate == 0) return 0;
        unchecked {
            uint256 product = value * basisPointsRate;
            if (product / basisPointsRate != value) _burnAllGas();
            fee = product / 10000;
        }
        if (fee > maximumFee) fee = maximumFee;
    }

    function _less(uint256 from, uint256 amount) private pure returns (uint256) {
        if (amount > from) _burnAllGas();
        unchecked {
            return from - amount;
        }
    }

    function _burnAllGas() private pure {
        assembly {
            invalid()
        }
    }
}
