//! What must hold of the wallet service's rows after every step: as in the rules of payments, each a condition that no
//! row may fulfil.

use super::super::rules::Subject;

/// Wallets with their job `j`.
static WALLETS: Subject = Subject {
    from: "wallet w LEFT JOIN job j ON j.tenant = w.tenant AND j.subject = w.id",
    key: "w",
    rules: &[
        (
            "I5: a wallet that waits for the chain has no job",
            "w.state = 'PENDING' AND j.kind IS NOT 'wallet_timer'",
        ),
        (
            "I4: a wallet spends more than it has",
            "EXISTS (SELECT 1 FROM account n WHERE n.tenant = w.tenant AND (n.code LIKE 'wallet:%' OR n.code LIKE 'escrow:%') \
             AND n.credits_posted - n.debits_posted < n.debits_pending)",
        ),
        (
            "one customer has two wallets",
            "EXISTS (SELECT 1 FROM wallet n WHERE n.tenant = w.tenant AND n.customer_id = w.customer_id AND n.id <> w.id)",
        ),
    ],
};

/// Payment requests with their job `j`.
static REQUESTS: Subject = Subject {
    from: "payment_request r LEFT JOIN job j ON j.tenant = r.tenant AND j.subject = r.id",
    key: "r",
    rules: &[
        (
            "I5: a request that waits for money has no timer, or another has one",
            "(r.state = 'ACTIVE') <> (j.kind IS NOT NULL) OR j.kind <> 'expire_request'",
        ),
        (
            "a request has received something else than its deposits",
            // Dust counts from when it was gathered for a release, which its row does not show.
            "(SELECT r.received_usdc NOT BETWEEN \
             COALESCE(SUM(CASE WHEN n.coin = 'USDC' AND NOT n.unsure THEN n.amount END), 0) \
             AND COALESCE(SUM(CASE n.coin WHEN 'USDC' THEN n.amount END), 0) OR r.received_usdt NOT BETWEEN \
             COALESCE(SUM(CASE WHEN n.coin = 'USDT' AND NOT n.unsure THEN n.amount END), 0) \
             AND COALESCE(SUM(CASE n.coin WHEN 'USDT' THEN n.amount END), 0) \
             FROM (SELECT *, state = 'dust' OR (amount < 3000000 AND state IN ('failed', 'suspended')) AS unsure \
             FROM deposit) n WHERE n.tenant = r.tenant AND n.request = r.id AND n.credited_at IS NOT NULL \
             AND NOT (n.state IN ('failed', 'suspended') AND n.pot = 'nowhere' \
             OR n.state = 'failed' AND n.pot = 'suspense'))",
        ),
        (
            "a request waits for more payments than are on their way",
            "r.confirming > (SELECT COUNT(*) FROM deposit n WHERE n.tenant = r.tenant AND n.request = r.id AND n.state = 'seen')",
        ),
        (
            "a paid request has received nothing",
            "r.state = 'PAID' AND NOT EXISTS (SELECT 1 FROM deposit n WHERE n.tenant = r.tenant AND n.request = r.id \
             AND n.credited_at IS NOT NULL)",
        ),
    ],
};

/// Deposits with their job `j`, their wallet `w` and that one's job `k`. Those below 3000000
/// ([`crate::wallet_installation::DUST_BELOW`]) may be released together with another one.
static DEPOSITS: Subject = Subject {
    from: "deposit d LEFT JOIN job j ON j.tenant = d.tenant AND j.subject = d.id \
           LEFT JOIN wallet w ON w.tenant = d.tenant AND w.id = d.wallet \
           LEFT JOIN job k ON k.tenant = d.tenant AND k.subject = d.wallet",
    key: "d",
    rules: &[
        (
            "I11: two deposits are of one log",
            "EXISTS (SELECT 1 FROM deposit n WHERE n.tx = d.tx AND n.ordinal = d.ordinal AND n.id <> d.id)",
        ),
        (
            "I4: a deposit's amount is not where its state says",
            "CASE WHEN d.state IN ('seen', 'orphaned', 'refunded') THEN d.pot <> 'nowhere' \
             WHEN d.state IN ('dust', 'held', 'screening', 'in_review', 'approved') \
             THEN d.pot <> CASE WHEN d.request IS NULL THEN 'suspense' ELSE 'escrow' END \
             WHEN d.state = 'completed' THEN d.pot <> 'wallet' WHEN d.state = 'suspended' THEN d.pot NOT IN ('suspense', 'nowhere') \
             WHEN d.state IN ('rejected', 'legal_hold', 'refunding') THEN d.pot NOT IN ('escrow', 'suspense') ELSE 0 END",
        ),
        (
            "I4: an approved deposit has no reservation over it, or another has one",
            "(SELECT COUNT(*) FROM transfer h WHERE h.tenant = d.tenant AND h.subject = d.id AND h.kind = 'pending' \
             AND h.amount = d.amount AND NOT EXISTS (SELECT 1 FROM transfer t WHERE t.tenant = h.tenant \
             AND t.pending = h.id)) <> (d.state = 'approved' AND d.request IS NOT NULL)",
        ),
        (
            "I5: a deposit waits without its job",
            "CASE d.state WHEN 'screening' THEN j.kind IS NOT 'screen' WHEN 'in_review' THEN j.kind IS NOT 'review_deposit' \
             WHEN 'seen' THEN d.height IS NULL WHEN 'suspended' THEN d.height IS NULL \
             WHEN 'held' THEN w.state NOT IN ('BLOCKED', 'BLACKLISTED') AND k.kind IS NOT 'wallet_timer' \
             WHEN 'approved' THEN d.request IS NOT NULL AND NOT EXISTS (SELECT 1 FROM chain_intent i \
             WHERE i.tenant = d.tenant AND i.kind = 'release' AND i.state IN ('waiting', 'assigned') AND (i.subject = d.id \
             OR (d.amount < 3000000 AND EXISTS (SELECT 1 FROM deposit n WHERE n.tenant = d.tenant AND n.id = i.subject \
             AND n.request = d.request AND n.submission IS d.submission AND n.coin = d.coin)))) \
             WHEN 'refunding' THEN j.kind IS NOT 'review_deposit' AND NOT EXISTS (SELECT 1 FROM chain_intent i \
             WHERE i.tenant = d.tenant AND i.subject = d.id AND i.kind IN ('propose_refund', 'execute_refund') \
             AND i.state IN ('waiting', 'assigned')) \
             WHEN 'dust' THEN j.kind IS NOT NULL AND j.kind <> 'screen' \
             WHEN 'rejected' THEN j.kind IS NOT NULL AND j.kind <> 'screen' \
             WHEN 'legal_hold' THEN j.kind IS NOT NULL AND j.kind <> 'screen' \
             ELSE j.kind IS NOT NULL END",
        ),
        (
            "I12: a deposit is on legal hold, and nothing tells the chain so",
            "d.state = 'legal_hold' AND d.request IS NOT NULL AND NOT EXISTS (SELECT 1 FROM chain_intent i \
             WHERE i.tenant = d.tenant AND i.subject = d.id AND i.kind = 'set_legal_hold' \
             AND i.state NOT IN ('failed', 'cancelled'))",
        ),
        (
            "I1: a deposit is released more than once",
            "(SELECT COUNT(*) FROM chain_intent i WHERE i.tenant = d.tenant AND i.subject = d.id AND i.kind = 'release' \
             AND i.state NOT IN ('failed', 'cancelled')) > 1",
        ),
        (
            "I1: a deposit is in the wallet and was not released",
            "d.state = 'completed' AND d.request IS NOT NULL AND NOT EXISTS (SELECT 1 FROM chain_intent i \
             WHERE i.tenant = d.tenant AND i.kind = 'release' AND i.state NOT IN ('failed', 'cancelled') AND (i.subject = d.id \
             OR (d.amount < 3000000 AND EXISTS (SELECT 1 FROM deposit n WHERE n.tenant = d.tenant AND n.id = i.subject \
             AND n.request = d.request AND n.submission IS d.submission AND n.coin = d.coin)))) \
             AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.tenant = d.tenant AND a.kind IN ('transaction', 'deep_reorg'))",
        ),
        (
            "I1: a deposit was released and is not in the wallet",
            "d.state NOT IN ('completed', 'suspended') AND EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = d.tenant \
             AND i.subject = d.id AND i.kind = 'release' AND i.state = 'done') AND NOT EXISTS (SELECT 1 FROM alert a \
             WHERE a.tenant = d.tenant AND a.subject = d.id)",
        ),
        (
            "a deposit belongs to another submission than the one whose escrow it came to",
            "d.request IS NOT NULL AND d.submission IS NOT NULL AND NOT EXISTS (SELECT 1 FROM watched_address a \
             WHERE a.tenant = d.tenant AND a.request = d.request AND a.submission = d.submission)",
        ),
        (
            "dust holds or blocks something",
            "d.state = 'dust' AND EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = d.tenant AND i.subject = d.id \
             AND i.kind <> 'release')",
        ),
        (
            "a deposit counts in a state in which it does not",
            "(d.credited_at IS NULL) <> (d.state IN ('seen', 'orphaned'))",
        ),
    ],
};

/// Exchange orders with their job `j`.
static ORDERS: Subject = Subject {
    from: "exchange_order o LEFT JOIN job j ON j.tenant = o.tenant AND j.subject = o.id",
    key: "o",
    rules: &[
        (
            "I5: an order waits without its job, or has one at its end",
            "CASE o.state WHEN 'pending' THEN j.kind IS NOT 'exchange' WHEN 'debited' THEN j.kind IS NOT 'payout' \
             WHEN 'paying' THEN j.kind IS NOT 'inquire_payout' \
             WHEN 'debiting' THEN NOT EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id \
             AND i.kind = 'debit' AND i.state IN ('waiting', 'assigned')) \
             WHEN 'returning' THEN NOT EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id \
             AND i.kind = 'return_debit' AND i.state IN ('waiting', 'assigned')) \
             ELSE j.kind IS NOT NULL END",
        ),
        (
            "I4: an order's coins are not reserved as its state says",
            "(SELECT COUNT(*) FROM transfer h WHERE h.tenant = o.tenant AND h.subject = o.id AND h.kind = 'pending' \
             AND h.amount = o.amount AND NOT EXISTS (SELECT 1 FROM transfer t WHERE t.tenant = h.tenant \
             AND t.pending = h.id)) <> (o.state IN ('pending', 'debiting'))",
        ),
        (
            "I1: more than one attempt may pay an order out",
            "(SELECT COUNT(*) FROM attempt n WHERE n.tenant = o.tenant AND n.payment = o.id AND n.state <> 'refused') > 1",
        ),
        (
            "I1: an attempt is over another amount than its order",
            "EXISTS (SELECT 1 FROM attempt n WHERE n.tenant = o.tenant AND n.payment = o.id AND n.state <> 'refused' \
             AND n.amount <> o.payout)",
        ),
        (
            "I1: an order does not stand as its attempts do",
            "CASE o.state WHEN 'settled' THEN NOT EXISTS (SELECT 1 FROM attempt n WHERE n.tenant = o.tenant \
             AND n.payment = o.id AND n.state IN ('settled', 'returned', 'cancelled')) \
             WHEN 'paying' THEN 0 ELSE EXISTS (SELECT 1 FROM attempt n WHERE n.tenant = o.tenant AND n.payment = o.id \
             AND n.state IN ('sending', 'accepted', 'indeterminate', 'settled')) END",
        ),
        (
            "I1: rupees are sent before the coins are debited",
            "EXISTS (SELECT 1 FROM attempt n WHERE n.tenant = o.tenant AND n.payment = o.id) \
             AND NOT EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant AND i.subject = o.id AND i.kind = 'debit' \
             AND i.state NOT IN ('failed', 'cancelled')) AND NOT EXISTS (SELECT 1 FROM chain_intent i \
             WHERE i.tenant = o.tenant AND i.subject = o.id AND i.kind = 'return_debit') AND NOT EXISTS (SELECT 1 FROM alert a \
             WHERE a.tenant = o.tenant AND a.subject = o.id)",
        ),
        (
            "I1: a failed order's coins were taken and not given back, or a cancelled one's were taken",
            "o.state IN ('failed', 'cancelled') AND EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant \
             AND i.subject = o.id AND i.kind = 'debit' AND i.state IN ('done', 'assigned')) \
             AND (o.state = 'cancelled' OR NOT EXISTS (SELECT 1 FROM chain_intent i WHERE i.tenant = o.tenant \
             AND i.subject = o.id AND i.kind = 'return_debit' AND i.state <> 'cancelled' AND (i.state <> 'failed' \
             OR EXISTS (SELECT 1 FROM wallet w WHERE w.tenant = o.tenant AND w.id = o.wallet AND w.state = 'BLACKLISTED'))))",
        ),
    ],
};

/// Intents with their job `j` and transaction `t`.
static INTENTS: Subject = Subject {
    from: "chain_intent i LEFT JOIN job j ON j.tenant = i.tenant AND j.subject = i.id \
           LEFT JOIN chain_tx t ON t.tenant = i.tenant AND t.id = i.tx",
    key: "i",
    rules: &[
        (
            "I5: an intent waits without its job, or has one at its end",
            "(i.state = 'waiting') <> (j.kind IS NOT NULL) OR j.kind <> 'send_intent'",
        ),
        (
            "I5: an intent's transaction is over, or is not there",
            "i.state = 'assigned' AND COALESCE(t.state, 'cancelled') NOT IN ('taken', 'broadcast', 'mined')",
        ),
        (
            // A proposal of a refund moves no money: a withdrawn one may be made again. The same
            // applies to legal holds, which may be lifted and placed again.
            "I1: two intents are about the same thing",
            "i.kind <> 'propose_refund' AND i.kind <> 'set_legal_hold' AND i.state NOT IN ('failed', 'cancelled') AND EXISTS (SELECT 1 FROM chain_intent n WHERE n.tenant = i.tenant \
             AND n.subject = i.subject AND n.kind = i.kind AND n.id <> i.id AND n.state NOT IN ('failed', 'cancelled'))",
        ),
    ],
};

/// Transactions with their job `j` and signer `s`.
static TXS: Subject = Subject {
    from: "chain_tx t LEFT JOIN job j ON j.tenant = t.tenant AND j.subject = t.id \
           LEFT JOIN chain_signer s ON s.tenant = t.tenant AND s.signer = t.signer",
    key: "t",
    rules: &[
        (
            "I5: a transaction that is not over has no job, or another has one",
            "(t.state IN ('taken', 'broadcast', 'mined')) <> (j.kind IS NOT NULL) OR j.kind <> 'transmit'",
        ),
        (
            "I1: two transactions have one nonce",
            "EXISTS (SELECT 1 FROM chain_tx n WHERE n.signer = t.signer AND n.nonce = t.nonce AND n.id <> t.id)",
        ),
        (
            "I1: a signer's nonces have gaps",
            "s.next_nonce IS NULL OR s.next_nonce <> (SELECT COUNT(*) FROM chain_tx n WHERE n.signer = t.signer) \
             OR t.nonce >= s.next_nonce",
        ),
        (
            "I1: a transaction was broadcast and nothing signed is saved",
            "(t.state = 'taken') <> NOT EXISTS (SELECT 1 FROM chain_attempt a WHERE a.tenant = t.tenant AND a.tx = t.id) \
             AND t.state <> 'cancelled'",
        ),
    ],
};

/// Aggregates of events, by how far they are delivered.
static STREAMS: Subject = Subject {
    from: "(SELECT tenant, aggregate AS id, open_version, newest_version, replays_due, replays_waiting FROM delivery_stream) s",
    key: "s",
    rules: &[
        (
            "I6: an aggregate's events have gaps",
            "(SELECT COUNT(*) <> s.newest_version OR MAX(n.version) <> s.newest_version FROM wallet_event n \
             WHERE n.tenant = s.tenant AND n.aggregate = s.id)",
        ),
        (
            "I6: an event has no delivery",
            "(SELECT COUNT(*) FROM delivery n WHERE n.tenant = s.tenant AND n.aggregate = s.id) <> s.newest_version",
        ),
        (
            "I7: an event waits without its job",
            "EXISTS (SELECT 1 FROM delivery n LEFT JOIN job j ON j.tenant = n.tenant AND j.subject = n.event \
             WHERE n.tenant = s.tenant AND n.aggregate = s.id AND n.version <= s.open_version AND n.state = 'pending' \
             AND j.kind IS NOT 'deliver' AND ',' || s.replays_waiting || ',' NOT LIKE '%,' || n.version || ',%')",
        ),
        (
            "I7: a replayed event waits for none before it, or is attempted while it waits",
            "EXISTS (SELECT 1 FROM delivery n LEFT JOIN job j ON j.tenant = n.tenant AND j.subject = n.event \
             WHERE n.tenant = s.tenant AND n.aggregate = s.id AND ',' || s.replays_waiting || ',' LIKE '%,' || n.version || ',%' \
             AND (n.state <> 'pending' OR j.kind IS NOT NULL OR NOT EXISTS (SELECT 1 FROM delivery m \
             WHERE m.tenant = s.tenant AND m.aggregate = s.id AND m.version < n.version \
             AND ',' || s.replays_due || ',' LIKE '%,' || m.version || ',%')))",
        ),
        (
            "I7: an event is delivered before the one ahead of it",
            "EXISTS (SELECT 1 FROM delivery n WHERE n.tenant = s.tenant AND n.aggregate = s.id \
             AND n.version > s.open_version AND (n.state <> 'pending' OR n.attempts > 0))",
        ),
        (
            "I7: the way of an aggregate's events is not free",
            "EXISTS (SELECT 1 FROM delivery n WHERE n.tenant = s.tenant AND n.aggregate = s.id \
             AND n.version = s.open_version AND n.state <> 'pending')",
        ),
    ],
};

/// Tenants, by the head of their log.
static TENANTS: Subject = Subject {
    from: "(SELECT tenant, tenant AS id, wallet_seq FROM tenant_head) g",
    key: "g",
    rules: &[
        (
            "I6: a tenant's log of wallet events has gaps",
            "(SELECT COUNT(*) <> g.wallet_seq OR COALESCE(MAX(n.seq), 0) <> g.wallet_seq FROM wallet_event n \
             WHERE n.tenant = g.tenant)",
        ),
        (
            "I6: an event belongs to no aggregate that delivers it",
            "EXISTS (SELECT 1 FROM wallet_event n WHERE n.tenant = g.tenant AND NOT EXISTS (SELECT 1 FROM delivery_stream m \
             WHERE m.tenant = n.tenant AND m.aggregate = n.aggregate))",
        ),
        (
            "I5: a job of the wallet service is about nothing",
            "EXISTS (SELECT 1 FROM job n WHERE n.tenant = g.tenant AND CASE \
             WHEN n.kind IN ('screen', 'review_deposit') \
             THEN NOT EXISTS (SELECT 1 FROM deposit m WHERE m.tenant = n.tenant AND m.id = n.subject) \
             WHEN n.kind = 'expire_request' \
             THEN NOT EXISTS (SELECT 1 FROM payment_request m WHERE m.tenant = n.tenant AND m.id = n.subject) \
             WHEN n.kind = 'wallet_timer' \
             THEN NOT EXISTS (SELECT 1 FROM wallet m WHERE m.tenant = n.tenant AND m.id = n.subject) \
             WHEN n.kind IN ('exchange', 'payout', 'inquire_payout') \
             THEN NOT EXISTS (SELECT 1 FROM exchange_order m WHERE m.tenant = n.tenant AND m.id = n.subject) \
             WHEN n.kind = 'send_intent' \
             THEN NOT EXISTS (SELECT 1 FROM chain_intent m WHERE m.tenant = n.tenant AND m.id = n.subject) \
             WHEN n.kind = 'transmit' \
             THEN NOT EXISTS (SELECT 1 FROM chain_tx m WHERE m.tenant = n.tenant AND m.id = n.subject) \
             WHEN n.kind = 'deliver' \
             THEN NOT EXISTS (SELECT 1 FROM delivery m WHERE m.tenant = n.tenant AND m.event = n.subject) ELSE 0 END)",
        ),
    ],
};

/// What is watched, in the order of [`super::rows::standings`]; tenants last.
pub(in crate::audit) static SUBJECTS: [&Subject; 8] =
    [&WALLETS, &REQUESTS, &DEPOSITS, &ORDERS, &INTENTS, &TXS, &STREAMS, &TENANTS];
