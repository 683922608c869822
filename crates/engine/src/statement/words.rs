//! Business labels for the ledger's codes. Readers of a statement know neither accounts nor
//! reasons.

use domain::ledger::AccountCode;

/// The other side of a movement.
pub(super) const fn counter_side(account: &AccountCode) -> &'static str {
    match account {
        AccountCode::Prefund(_) => "Prefunded account",
        AccountCode::InTransit(_) => "Payments under way",
        AccountCode::Nostro(..) => "Account at the paying bank",
        AccountCode::FxPosition(_) => "Currency exchange",
        AccountCode::FeeIncome(_) => "Fees",
        AccountCode::RailCost(_) => "Cost of paying out",
        AccountCode::RailCharges(_) => "Charges of the paying bank",
        AccountCode::Rounding(_) => "Rounding differences",
        AccountCode::External(_) => "Outside (paid in or out)",
        AccountCode::Escrow(..) => "Escrow of a payment request",
        AccountCode::Wallet(..) => "Customer's wallet",
        AccountCode::Unswept(_) => "Coins taken for exchange",
        AccountCode::Treasury(_) => "Treasury",
        AccountCode::Exchanged(_) => "Coins paid out for",
        AccountCode::PayoutSuspense(_) | AccountCode::Suspense(_) => "Money under clarification",
    }
}

/// The reason for a movement. A reason code that is no longer written is only "Movement".
pub(super) fn purpose(reason: &str) -> &'static str {
    match reason {
        "prefund.top_up" => "Prefunding received",
        "payment.reserve" => "Payment under way",
        "payment.post" => "Payment",
        "payment.fx" => "Payment: exchange",
        "payment.premium" => "Payment: fee",
        "payment.rail_cost" => "Payment: cost of paying out",
        "rail.charges" => "Charges of the paying bank",
        "payment.rounding" => "Payment: rounding difference",
        "payment.return" => "Payment returned",
        "deposit.credit" => "Incoming transfer",
        "deposit.reserve" => "Incoming transfer on its way to the wallet",
        "deposit.release" | "deposit.clear" => "Incoming transfer, credited to the wallet",
        "deposit.fee" => "Fee that the coin's contract took of an incoming transfer",
        "deposit.refund" => "Incoming transfer given back",
        "deposit.suspend" | "deposit.late" | "deposit.unseen" | "deposit.dropped" => {
            "Incoming transfer taken back: it is no longer on the chain"
        }
        "deposit.resume" => "Incoming transfer, on the chain again",
        "exchange.reserve" => "Exchange order under way",
        "exchange.debit" => "Exchange order",
        "exchange.fx" => "Exchange order: exchange",
        "exchange.spread" => "Exchange order: spread",
        "exchange.payout" => "Exchange order: paid out",
        "exchange.payout_returned" => "Exchange order: pay-out came back",
        "exchange.recredit" => "Exchange order: to be given back",
        "exchange.return" => "Exchange order given back",
        "sweep.reserve" => "Sweep to the treasury under way",
        "sweep.done" => "Sweep to the treasury",
        "sweep.fund" => "Coins sent back from the treasury",
        _ => "Movement",
    }
}
