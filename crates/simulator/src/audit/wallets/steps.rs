//! I9: which state may follow on which, written down once more. Between two looks there may be several steps, as many as
//! the row's version has risen by.

/// What is watched for its states, in the order of [`super::rows::standings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Wallet,
    Request,
    Deposit,
    Order,
    Intent,
    Tx,
    Stream,
    Sweep,
}

impl Kind {
    pub(super) const ALL: [Kind; 8] = [
        Kind::Wallet,
        Kind::Request,
        Kind::Deposit,
        Kind::Order,
        Kind::Intent,
        Kind::Tx,
        Kind::Stream,
        Kind::Sweep,
    ];

    /// The states in which it begins.
    const fn first(self) -> &'static [&'static str] {
        match self {
            Kind::Wallet => &["PENDING", "ACTIVE"],
            Kind::Request => &["ACTIVE"],
            Kind::Deposit => &["orphaned", "seen"],
            Kind::Order => &["pending"],
            Kind::Intent => &["waiting"],
            Kind::Tx => &["taken"],
            Kind::Stream => &[""],
            Kind::Sweep => &["sending"],
        }
    }

    /// The states that may follow directly.
    fn next(self, from: &str) -> &'static [&'static str] {
        match (self, from) {
            (Kind::Wallet, "PENDING") => &["ACTIVE", "BLOCKED", "BLACKLISTED"],
            (Kind::Wallet, "ACTIVE") => &["BLOCKED", "BLACKLISTED"],
            (Kind::Wallet, "BLOCKED") => &["ACTIVE", "BLACKLISTED"],
            (Kind::Request, "ACTIVE") => &["PAID", "EXPIRED", "CANCELLED"],
            (Kind::Request, "EXPIRED") => &["PAID"],
            (Kind::Deposit, from) => deposit(from),
            (Kind::Order, "pending") => &["debiting", "cancelled", "failed"],
            (Kind::Order, "debiting") => {
                &["pending", "debited", "returning", "failed", "cancelled"]
            }
            (Kind::Order, "debited") => &["paying", "returning", "failed"],
            (Kind::Order, "paying") => &["settled", "debited", "returning"],
            (Kind::Order, "returning") => &["failed"],
            // A reorganization restores the transaction in which it takes effect; the same of a failed
            // sweep and of a deposit whose refund had failed.
            (Kind::Intent, "failed" | "cancelled") => &["done"],
            (Kind::Intent, "waiting") => &["assigned", "done", "failed", "cancelled"],
            (Kind::Intent, "assigned") => &["waiting", "done", "failed"],
            // A reorganisation undid it.
            (Kind::Intent, "done") => &["waiting"],
            (Kind::Sweep, "sending") => &["done", "failed"],
            (Kind::Sweep, "failed") => &["done"],
            (Kind::Tx, "taken") => &["broadcast", "cancelled"],
            (Kind::Tx, "broadcast") => &["mined", "cancelled"],
            (Kind::Tx, "mined") => &["broadcast", "succeeded", "reverted", "cancelled"],
            (Kind::Tx, "succeeded" | "reverted" | "cancelled") => &["broadcast"],
            _ => &[],
        }
    }

    /// Whether a row may stand so `rises` versions after it stood as `from`; `None` = there was no row.
    pub(super) fn may_be(self, from: Option<&str>, to: &str, rises: i64) -> bool {
        let (mut reached, steps) = match from {
            Some(from) => (vec![from], rises),
            None => (self.first().to_vec(), rises - 1),
        };
        for _ in 0..steps.min(8) {
            if reached.contains(&to) {
                return true;
            }
            let next: Vec<&str> =
                reached.iter().flat_map(|from| self.next(from).iter().copied()).collect();
            reached.extend(next);
            reached.sort_unstable();
            reached.dedup();
        }
        reached.contains(&to)
    }
}

fn deposit(from: &str) -> &'static [&'static str] {
    match from {
        "orphaned" => &["seen"],
        "seen" => &["orphaned", "dust", "screening", "held", "rejected"],
        "dust" => &["approved", "in_review", "suspended"],
        "held" => &["screening", "rejected", "suspended"],
        "screening" => &["approved", "in_review", "rejected", "legal_hold", "held", "suspended"],
        // Nothing else in its escrow is on legal hold any more.
        "in_review" => &["screening", "approved", "rejected", "legal_hold", "suspended"],
        "approved" => {
            &["completed", "dust", "failed", "held", "in_review", "rejected", "suspended"]
        }
        "completed" => &["suspended"],
        "legal_hold" => &["rejected", "suspended"],
        "rejected" => &["legal_hold", "refunding", "refunded", "suspended"],
        "refunding" => &["refunded", "rejected", "failed"],
        // One that was given up comes back.
        "failed" => &["refunding", "refunded", "suspended"],
        "suspended" => &[
            "dust",
            "held",
            "screening",
            "in_review",
            "approved",
            "completed",
            "rejected",
            "legal_hold",
            "failed",
        ],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_take_as_many_steps_as_their_version_has_risen_by() {
        assert!(Kind::Order.may_be(Some("pending"), "debited", 2));
        assert!(!Kind::Order.may_be(Some("pending"), "debited", 1));
        assert!(Kind::Order.may_be(None, "pending", 1) && !Kind::Order.may_be(None, "settled", 1));
        assert!(!Kind::Order.may_be(Some("settled"), "failed", 9));
        assert!(!Kind::Deposit.may_be(Some("refunded"), "completed", 9));
        assert!(!Kind::Wallet.may_be(Some("BLACKLISTED"), "ACTIVE", 9));
    }
}
