//! What must hold in the database after every step, as questions to which no row may be the answer. Asked behind the
//! store's back: nothing here shares code with what it checks.

/// A rule: its name, with the invariant of the reliability design that it belongs to, and the question.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) broken_by: &'static str,
}

const fn rule(name: &'static str, broken_by: &'static str) -> Rule {
    Rule { name, broken_by }
}

/// Every rule. The answer is the id of what breaks it.
pub(super) static RULES: [Rule; 19] = [
    rule(
        "I1: more than one attempt may pay",
        "SELECT payment FROM attempt WHERE state <> 'refused' GROUP BY tenant, payment HAVING COUNT(*) > 1",
    ),
    rule(
        "I1: a payment's end is not its newest attempt's",
        "SELECT p.id FROM payment p LEFT JOIN attempt a ON a.tenant = p.tenant AND a.id = p.attempt WHERE \
         (p.attempt IS NOT NULL AND (a.id IS NULL OR a.payment <> p.id)) \
         OR (p.state = 'succeeded' AND a.state IS NOT 'settled') \
         OR (p.state = 'reversed' AND COALESCE(a.state, '') NOT IN ('returned', 'cancelled')) \
         OR (p.state IN ('failed', 'rejected') AND COALESCE(a.state, 'refused') NOT IN ('refused', 'failed')) \
         OR (p.state = 'queued' AND COALESCE(a.state, 'sending') NOT IN ('sending', 'indeterminate', 'refused'))",
    ),
    rule(
        "I1: an attempt is over another amount than its payment",
        "SELECT a.id FROM attempt a JOIN payment p ON p.tenant = a.tenant AND p.id = a.payment \
         WHERE a.amount <> p.amount",
    ),
    rule(
        "I2: a quote made more than one payment",
        "SELECT quote FROM payment GROUP BY tenant, quote HAVING COUNT(*) > 1",
    ),
    rule(
        "I2: a quote was used at or after its expiry, or for another amount",
        "SELECT p.id FROM payment p LEFT JOIN quote q ON q.tenant = p.tenant AND q.id = p.quote \
         WHERE q.id IS NULL OR p.accepted_at >= q.expires_at OR p.amount <> q.amount_destination",
    ),
    rule(
        "I2: a quote's state is not that of its payment",
        "SELECT q.id FROM quote q LEFT JOIN payment p ON p.tenant = q.tenant AND p.quote = q.id \
         WHERE (q.state = 'used') <> (p.id IS NOT NULL) OR q.payment IS NOT p.id",
    ),
    rule(
        "I4: prefund spends more than it has",
        "SELECT tenant FROM account WHERE code LIKE 'prefund:%' AND credits_posted - debits_posted < debits_pending",
    ),
    rule(
        "I4: a reservation is not ended as its payment was",
        "SELECT p.id FROM payment p LEFT JOIN transfer t ON t.tenant = p.tenant AND t.pending = p.hold WHERE CASE \
         WHEN p.settled_at IS NOT NULL THEN t.kind IS NOT 'post_pending' \
         WHEN p.state IN ('queued', 'processing', 'unknown') THEN t.kind IS NOT NULL \
         ELSE t.kind IS NOT 'void_pending' END",
    ),
    rule(
        "I4: a payment has no reservation over its whole charge",
        "SELECT p.id FROM payment p LEFT JOIN transfer t ON t.tenant = p.tenant AND t.id = p.hold \
         WHERE t.kind IS NOT 'pending' OR t.amount <> p.charge_amount + p.charge_premium + p.charge_cost",
    ),
    rule(
        "I5: a payment on its way has no job, or one at its end has one",
        "SELECT p.id FROM payment p LEFT JOIN job j ON j.tenant = p.tenant AND j.subject = p.id \
         WHERE (p.state IN ('queued', 'processing', 'unknown')) <> (j.subject IS NOT NULL)",
    ),
    rule(
        "I5: a payment in review is not the job of a person, or the other way round",
        "SELECT p.id FROM payment p JOIN job j ON j.tenant = p.tenant AND j.subject = p.id \
         WHERE (p.review = 'waiting') <> (j.kind = 'review')",
    ),
    rule("I5: a job is about nothing", "SELECT j.subject FROM job j LEFT JOIN payment p \
         ON p.tenant = j.tenant AND p.id = j.subject WHERE p.id IS NULL"),
    rule(
        "I6: a payment's versions have gaps",
        "SELECT p.id FROM payment p JOIN event e ON e.tenant = p.tenant AND e.subject = p.id \
         GROUP BY p.tenant, p.id HAVING COUNT(*) <> p.version OR MAX(e.version) <> p.version",
    ),
    rule(
        "I6: a payment is not as its newest event says",
        "SELECT p.id FROM payment p LEFT JOIN event e ON e.tenant = p.tenant AND e.subject = p.id \
         AND e.version = p.version WHERE e.seq IS NULL OR e.state IS NOT p.state OR e.state_at IS NOT p.state_at \
         OR e.msg IS NOT p.msg OR e.bank_reference IS NOT p.bank_reference",
    ),
    rule(
        "I6: a quote has not the events of its state",
        "SELECT q.id FROM quote q LEFT JOIN event e ON e.tenant = q.tenant AND e.subject = q.id \
         GROUP BY q.tenant, q.id HAVING COUNT(e.seq) <> CASE q.state WHEN 'active' THEN 1 ELSE 2 END",
    ),
    rule(
        "I6: a tenant's log has gaps",
        "SELECT h.tenant FROM tenant_head h LEFT JOIN event e ON e.tenant = h.tenant \
         GROUP BY h.tenant HAVING COUNT(e.seq) <> h.payment_seq OR COALESCE(MAX(e.seq), 0) <> h.payment_seq",
    ),
    rule(
        "I8: an external_id is used twice",
        "SELECT id FROM payment WHERE external_id IS NOT NULL GROUP BY tenant, external_id HAVING COUNT(*) > 1",
    ),
    rule(
        "I8: an external_id is not its payment's",
        "SELECT p.id FROM payment p LEFT JOIN external_id x ON x.tenant = p.tenant AND x.external_id = p.external_id \
         WHERE p.external_id IS NOT NULL AND x.payment IS NOT p.id",
    ),
    rule(
        "a payment has no order",
        "SELECT p.id FROM payment p LEFT JOIN payment_order o ON o.tenant = p.tenant AND o.payment = p.id \
         WHERE o.payment IS NULL",
    ),
];

/// All rules in one statement: number of the rule, and what breaks it.
pub(super) fn all_in_one() -> String {
    let one = |(number, rule): (usize, &Rule)| format!("SELECT {number}, * FROM ({})", rule.broken_by);
    RULES.iter().enumerate().map(one).collect::<Vec<_>>().join(" UNION ALL ")
}
