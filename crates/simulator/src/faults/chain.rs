//! What goes wrong on the chain, at its nodes, at the keys and at the banks' receivers.

use domain::time::Span;

use super::{CallFault, Count, Fault, Injector, draw_call};
use crate::random::Random;

/// Within this time of the start such things begin.
const BEGIN_MAX_MILLIS: i64 = 90_000;

/// What happens at a try to deliver a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookFault {
    /// The receiver refuses with this status.
    Refuse(u16),
    /// It refuses, and asks to be left alone for so many seconds.
    Wait(u32),
    /// It answers 200 and says that it has not received anything.
    Deny,
    /// The connection breaks, or the node dies.
    Call(CallFault),
}

/// Draws faults of the wallet service.
pub(super) fn draw(seed: u64) -> Vec<Fault> {
    let mut random = Random::stream(seed, "chain faults");
    let count = random.between(1, 6);
    (0..count).map(|_| draw_one(&mut random)).collect()
}

fn draw_one(random: &mut Random) -> Fault {
    let after = Span::millis(random.between(0, BEGIN_MAX_MILLIS));
    let nth =
        |random: &mut Random, limit: i64| u32::try_from(random.between(0, limit)).unwrap_or(0);
    match random.below(24) {
        0..=4 => {
            let depth = random.pick(&[1, 1, 1, 2, 2, 3, 5, 7, 12, 32]);
            let noticed_after =
                if random.chance(300) { Span::secs(random.between(1, 40)) } else { Span(0) };
            Fault::Reorg { after, depth, noticed_after }
        }
        5 => Fault::FeeSpike {
            after,
            span: Span::secs(random.between(5, 180)),
            factor: random.pick(&[3, 50, 50, 500]),
        },
        6 => Fault::FirstNodeLags {
            after,
            span: Span::secs(random.between(1, 30)),
            blocks: random.pick(&[1, 1, 2, 6]),
        },
        7 => Fault::SecondNodeLags {
            after,
            span: Span::secs(random.between(5, 120)),
            blocks: random.pick(&[1, 2, 6, 40]),
        },
        8 => Fault::ChainDown { after, span: Span::secs(random.between(2, 90)) },
        9 => {
            Fault::Pause { coin: random.below(2), after, span: Span::secs(random.between(5, 240)) }
        }
        10..=13 => Fault::Question { nth: nth(random, 400), how: draw_call(random) },
        14..=16 => Fault::Broadcast { nth: nth(random, 24), how: draw_call(random) },
        17 => Fault::Forget { nth: nth(random, 16) },
        18 | 19 => Fault::Sign { nth: nth(random, 16), how: draw_call(random) },
        _ => Fault::Webhook { nth: nth(random, 30), how: draw_webhook(random) },
    }
}

fn draw_webhook(random: &mut Random) -> WebhookFault {
    match random.below(10) {
        0 | 1 => WebhookFault::Refuse(500),
        2 => WebhookFault::Refuse(302),
        3 => WebhookFault::Refuse(410),
        4 => WebhookFault::Wait(u32::try_from(random.between(1, 300)).unwrap_or(1)),
        5 => WebhookFault::Deny,
        _ => WebhookFault::Call(draw_call(random)),
    }
}

impl Injector {
    /// The fault of a question to a node of the chain.
    pub fn chain_question(&self) -> Option<CallFault> {
        self.meet(Count::Question, |fault, now| match fault {
            Fault::Question { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }

    /// The fault of a broadcast.
    pub fn broadcast(&self) -> Option<CallFault> {
        self.meet(Count::Broadcast, |fault, now| match fault {
            Fault::Broadcast { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }

    /// Whether a transaction that was accepted is forgotten.
    pub fn is_forgotten(&self) -> bool {
        let forgotten = |fault: &Fault, now| {
            matches!(fault, Fault::Forget { nth } if *nth == now).then_some(())
        };
        self.meet(Count::Accepted, forgotten).is_some()
    }

    /// The fault of a signature.
    pub fn signature(&self) -> Option<CallFault> {
        self.meet(Count::Signature, |fault, now| match fault {
            Fault::Sign { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }

    /// The fault of a try to deliver a webhook.
    pub fn webhook(&self) -> Option<WebhookFault> {
        self.meet(Count::Webhook, |fault, now| match fault {
            Fault::Webhook { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }
}
