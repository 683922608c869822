//! Colours of states. A colour always accompanies a word, so that nothing depends on it. Without a
//! terminal, with `NO_COLOR` or with `TERM=dumb` there is none.

use console::Style;

/// What a state means to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Done,
    /// Waits for a user.
    Waits,
    Failed,
    /// Under way; no user has to act.
    Moves,
    Plain,
}

impl Tone {
    /// The tone of a state as the APIs, the store and the checks name it.
    pub fn of_state(state: &str) -> Tone {
        let words = state.to_ascii_lowercase().replace('_', " ");
        // Some results have their reason behind a colon: "WRONG: …".
        match words.split(':').next().unwrap_or_default() {
            "succeeded" | "settled" | "completed" | "paid" | "active" | "ok" | "yes" | "pass"
            | "delivered" | "approved" | "refunded" | "intact" | "ready" | "mined" | "done" => {
                Tone::Done
            }
            "failed" | "fail" | "rejected" | "dead" | "reversed" | "blacklisted" | "wrong"
            | "revoked" | "no" | "not ready" => Tone::Failed,
            "in review" | "unknown" | "held" | "held by screening" | "outcome unknown" | "warn"
            | "warning" | "suspended" | "legal hold" | "blocked" => Tone::Waits,
            "queued" | "processing" | "pending" | "sending" | "seen" | "screening"
            | "refunding" | "debiting" | "debited" | "paying" | "returning"
            | "received in escrow" => Tone::Moves,
            _ => Tone::Plain,
        }
    }

    /// The text in this tone, if the standard output shows colours.
    pub fn paint(self, text: &str) -> String {
        self.style().apply_to(text).to_string()
    }

    pub fn style(self) -> Style {
        match self {
            Tone::Done => Style::new().green(),
            Tone::Waits => Style::new().yellow(),
            Tone::Failed => Style::new().red(),
            Tone::Moves => Style::new().blue(),
            Tone::Plain => Style::new(),
        }
    }
}

/// The text as something of less importance.
pub fn dim(text: &str) -> String {
    Style::new().dim().apply_to(text).to_string()
}

#[cfg(test)]
mod tests {
    use domain::delivery::DeliveryState;
    use domain::deposit::{DepositState, DepositStatus};
    use domain::exchange::OrderStatus;
    use domain::payment::PaymentState;

    use super::*;

    #[test]
    fn a_state_has_the_tone_of_what_it_means() {
        for (state, tone) in [
            ("succeeded", Tone::Done),
            ("SETTLED", Tone::Done),
            ("RECEIVED_IN_ESCROW", Tone::Moves),
            ("in_review", Tone::Waits),
            ("WRONG: the chain ends early", Tone::Failed),
            ("CANCELLED", Tone::Plain),
        ] {
            assert_eq!(Tone::of_state(state), tone, "{state}");
        }
    }

    #[test]
    fn only_states_without_a_consequence_are_plain() {
        let names = PaymentState::ALL.map(PaymentState::name).to_vec();
        let deposits = DepositState::ALL.map(DepositState::name);
        let statuses = DepositStatus::ALL.map(DepositStatus::name);
        let orders = OrderStatus::ALL.map(OrderStatus::name);
        let deliveries = DeliveryState::ALL.map(DeliveryState::name);
        let all = names.into_iter().chain(deposits).chain(statuses).chain(orders).chain(deliveries);
        let mut plain: Vec<&str> =
            all.filter(|state| Tone::of_state(state) == Tone::Plain).collect();
        plain.sort_unstable();
        assert_eq!(plain, ["CANCELLED", "canceled", "disabled", "dust", "orphaned"]);
    }

    #[test]
    fn a_word_stands_inside_its_colour() {
        let painted = Tone::Failed.style().force_styling(true).apply_to("failed").to_string();
        assert_eq!(painted, "\u{1b}[31mfailed\u{1b}[0m");
        assert_eq!(
            Tone::Failed.style().force_styling(false).apply_to("failed").to_string(),
            "failed"
        );
    }
}
