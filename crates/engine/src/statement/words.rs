//! Business labels for the ledger's codes. Readers of a statement know neither accounts nor
//! reasons.

use domain::ledger::AccountCode;

/// The other side of a movement.
pub(super) const fn counter_side(account: &AccountCode) -> &'static str {
    match account {
        AccountCode::Prefund(_) => "Prefunded account",
        AccountCode::InTransit(_) => "Payments in transit",
        AccountCode::Nostro(..) => "Account at the paying bank",
        AccountCode::FxPosition(_) => "Currency exchange",
        AccountCode::FeeIncome(_) => "Fees",
        AccountCode::RailCost(_) => "Payout cost",
        AccountCode::RailCharges(_) => "Charges of the paying bank",
        AccountCode::Rounding(_) => "Rounding differences",
        AccountCode::External(_) => "External (paid in or out)",
        AccountCode::Escrow(..) => "Escrow of a payment request",
        AccountCode::Wallet(..) => "Customer's wallet",
        AccountCode::Shortfall(..) => "Shortfall of a customer's wallet",
        AccountCode::Unswept(..) => "Stablecoins collected for exchange",
        AccountCode::Treasury(..) => "Treasury",
        AccountCode::Exchanged(..) => "Stablecoins exchanged and paid out",
        AccountCode::PayoutSuspense(..) | AccountCode::Suspense(_) => "Funds under investigation",
    }
}

/// The reason for a movement. A reason code that is no longer written is only "Movement".
pub(super) fn purpose(reason: &str) -> &'static str {
    match reason {
        "prefund.top_up" => "Prefunding received",
        "prefund.withdrawal" => "Prefunding withdrawn",
        "payment.reserve" => "Payment in transit",
        "payment.post" => "Payment",
        "payment.fx" => "Payment: exchange",
        "payment.premium" => "Payment: fee",
        "payment.rail_cost" => "Payment: payout cost",
        "rail.charges" => "Charges of the paying bank",
        "payment.rounding" => "Payment: rounding difference",
        "payment.return" => "Payment returned",
        "deposit.credit" => "Incoming transfer",
        "deposit.reserve" => "Incoming transfer on its way to the wallet",
        "deposit.release" | "deposit.clear" => "Incoming transfer, credited to the wallet",
        "deposit.fee" => "Token contract's fee on an incoming transfer",
        "deposit.fee_reversal" => {
            "Token contract's fee reversed: the transfer is no longer on the chain"
        }
        "deposit.refund" => "Incoming transfer refunded",
        "deposit.suspend" | "deposit.late" | "deposit.unseen" | "deposit.dropped" => {
            "Incoming transfer reversed: no longer on the chain"
        }
        "deposit.shortfall" => "Incoming transfer reversed: part that was reserved or spent",
        "shortfall.cover" => "Earlier incoming transfer reversed",
        "deposit.resume" => "Incoming transfer, on the chain again",
        "exchange.reserve" => "Exchange order in progress",
        "exchange.debit" => "Exchange order",
        "exchange.fx" => "Exchange order: exchange",
        "exchange.spread" => "Exchange order: spread",
        "exchange.payout" => "Exchange order: paid out",
        "exchange.payout_returned" => "Exchange order: payout returned",
        "exchange.recredit" => "Exchange order: to be refunded",
        "exchange.withheld" => "Exchange order: cannot be refunded, wallet blacklisted",
        "exchange.return" => "Exchange order refunded",
        "exchange.token_fee" => "Token contract's fee on an exchange order",
        "exchange.token_fee_reversal" => "Token contract's fee on an exchange order, reversed",
        "sweep.token_fee" => "Token contract's fee on a sweep to the treasury",
        "sweep.token_fee_reversal" => "Token contract's fee on a sweep to the treasury, reversed",
        "sweep.reserve" => "Sweep to the treasury in progress",
        "sweep.done" => "Sweep to the treasury",
        "sweep.fund" => "Stablecoins sent back from the treasury",
        "sweep.fund_reversal" => "Stablecoins sent back from the treasury, reversed",
        _ => "Movement",
    }
}
