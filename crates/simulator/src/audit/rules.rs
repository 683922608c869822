//! What must hold in the database after every step. Asked behind the store's back: nothing here shares code with what
//! it checks. Each rule is a condition that no row may fulfil, named after the invariant of the reliability design.

/// A rule and the condition that breaks it.
pub(super) type Rule = (&'static str, &'static str);

/// A kind of row, what belongs to it, and its rules.
pub(super) struct Subject {
    pub(super) from: &'static str,
    pub(super) key: &'static str,
    pub(super) rules: &'static [Rule],
}

/// Payments with their newest attempt `a`, quote `q`, reservation `h` and its end `t`, job `j`, newest event `e`,
/// external id `x` and order `o`.
pub(super) static PAYMENTS: Subject = Subject {
    from: "payment p LEFT JOIN attempt a ON a.tenant = p.tenant AND a.id = p.attempt \
           LEFT JOIN quote q ON q.tenant = p.tenant AND q.id = p.quote \
           LEFT JOIN transfer h ON h.tenant = p.tenant AND h.id = p.hold \
           LEFT JOIN transfer t ON t.tenant = p.tenant AND t.pending = p.hold \
           LEFT JOIN job j ON j.tenant = p.tenant AND j.subject = p.id \
           LEFT JOIN event e ON e.tenant = p.tenant AND e.subject = p.id AND e.version = p.version \
           LEFT JOIN external_id x ON x.tenant = p.tenant AND x.external_id = p.external_id \
           LEFT JOIN payment_order o ON o.tenant = p.tenant AND o.payment = p.id",
    key: "p",
    rules: &[
        (
            "I1: more than one attempt may pay",
            "(SELECT COUNT(*) FROM attempt n WHERE n.tenant = p.tenant AND n.payment = p.id AND n.state <> 'refused') > 1",
        ),
        (
            "I1: an attempt is over another amount than its payment",
            "EXISTS (SELECT 1 FROM attempt n WHERE n.tenant = p.tenant AND n.payment = p.id AND n.amount <> p.amount)",
        ),
        (
            "I1: a payment does not stand as its newest attempt does",
            "(p.attempt IS NOT NULL AND a.payment IS NOT p.id) OR CASE p.state \
             WHEN 'queued' THEN COALESCE(a.state, 'sending') NOT IN ('sending', 'indeterminate', 'refused') \
             WHEN 'succeeded' THEN a.state IS NOT 'settled' \
             WHEN 'reversed' THEN COALESCE(a.state, 'refused') NOT IN ('returned', 'cancelled', 'refused') \
             WHEN 'failed' THEN COALESCE(a.state, '') NOT IN ('refused', 'failed') \
             WHEN 'rejected' THEN COALESCE(a.state, 'refused') <> 'refused' \
             ELSE COALESCE(a.state, '') NOT IN ('accepted', 'indeterminate') END",
        ),
        (
            "I2: a quote made more than one payment",
            "EXISTS (SELECT 1 FROM payment n WHERE n.tenant = p.tenant AND n.quote = p.quote AND n.id <> p.id)",
        ),
        ("I2: a quote was used at or after its expiry", "p.accepted_at >= q.expires_at"),
        (
            "I2: a payment is not what its quote says",
            "q.payment IS NOT p.id OR q.state <> 'used' OR p.amount <> q.amount_destination OR p.base <> q.amount \
             OR p.charge_amount <> q.charge_amount OR p.charge_premium <> q.charge_premium \
             OR p.charge_cost <> q.charge_cost",
        ),
        (
            "I4: a reservation is not ended as its payment was",
            "CASE WHEN p.settled_at IS NOT NULL THEN t.kind IS NOT 'post_pending' \
             WHEN p.state IN ('queued', 'processing', 'unknown') THEN t.kind IS NOT NULL \
             ELSE t.kind IS NOT 'void_pending' END",
        ),
        (
            "I4: a payment has no reservation over its whole charge",
            "h.kind IS NOT 'pending' OR h.amount <> p.charge_amount + p.charge_premium + p.charge_cost",
        ),
        (
            "I5: a payment on its way has no job, or one at its end has one",
            "(p.state IN ('queued', 'processing', 'unknown')) <> (j.subject IS NOT NULL)",
        ),
        (
            "I5: a payment in review is not a person's job, or another is",
            "j.subject IS NOT NULL AND (p.review = 'waiting') <> (j.kind = 'review')",
        ),
        (
            "I6: a payment's versions have gaps",
            "(SELECT COUNT(*) <> p.version OR MAX(n.version) <> p.version FROM event n \
             WHERE n.tenant = p.tenant AND n.subject = p.id)",
        ),
        (
            "I6: a payment does not stand as its newest event says",
            "e.seq IS NULL OR e.state IS NOT p.state OR e.state_at IS NOT p.state_at OR e.msg IS NOT p.msg \
             OR e.bank_reference IS NOT p.bank_reference OR e.recall_state IS NOT p.recall_state",
        ),
        (
            "a recall does not stand as its payment shows, or is open after its payment's end",
            "EXISTS (SELECT 1 FROM recall n WHERE n.tenant = p.tenant AND n.payment = p.id AND ((n.id = p.recall \
             AND n.state IS NOT p.recall_state) OR (n.state IN ('requested', 'sent', 'accepted', 'unanswered') \
             AND p.state IN ('reversed', 'rejected', 'failed'))))",
        ),
        (
            "I8: an external_id is not its payment's alone",
            "x.payment IS NOT CASE WHEN p.external_id IS NULL THEN NULL ELSE p.id END",
        ),
        ("a payment has no order", "o.payment IS NULL"),
        (
            "a payment that screening or a person refused was sent",
            // What a bank had refused before is screened again, on newer lists, before the next attempt.
            "p.review = 'refused' AND EXISTS (SELECT 1 FROM attempt n WHERE n.tenant = p.tenant \
             AND n.payment = p.id AND n.state <> 'refused')",
        ),
    ],
};

/// Quotes with their payment `p`.
pub(super) static QUOTES: Subject = Subject {
    from: "quote q LEFT JOIN payment p ON p.tenant = q.tenant AND p.id = q.payment",
    key: "q",
    rules: &[
        (
            "I2: a quote's payment is another quote's",
            "(q.state = 'used') <> (p.id IS NOT NULL) OR p.quote <> q.id",
        ),
        (
            "I6: a quote has not the events of its state",
            "(SELECT COUNT(*) FROM event n WHERE n.tenant = q.tenant AND n.subject = q.id) \
             <> CASE q.state WHEN 'active' THEN 1 ELSE 2 END",
        ),
    ],
};

/// Tenants, by the head of their log.
pub(super) static TENANTS: Subject = Subject {
    from: "(SELECT tenant, tenant AS id, payment_seq FROM tenant_head) g",
    key: "g",
    rules: &[
        (
            "I4: prefund spends more than it has",
            "EXISTS (SELECT 1 FROM account n WHERE n.tenant = g.tenant AND n.code LIKE 'prefund:%' \
             AND n.credits_posted - n.debits_posted < n.debits_pending)",
        ),
        (
            "I6: a tenant's log has gaps",
            "(SELECT COUNT(*) <> g.payment_seq OR COALESCE(MAX(n.seq), 0) <> g.payment_seq FROM event n \
             WHERE n.tenant = g.tenant)",
        ),
        (
            "a counter of open quotes is wrong",
            "EXISTS (SELECT 1 FROM open_quotes n WHERE n.tenant = g.tenant AND n.count <> (SELECT COUNT(*) FROM quote m \
             WHERE m.tenant = n.tenant AND m.country = n.country AND m.state = 'active'))",
        ),
        (
            "I5: a job is about nothing",
            "EXISTS (SELECT 1 FROM job n WHERE n.tenant = g.tenant \
             AND n.kind IN ('submit', 'inquire', 'review') AND NOT EXISTS (SELECT 1 FROM payment m WHERE m.tenant = n.tenant AND m.id = n.subject))",
        ),
    ],
};

impl Subject {
    /// The id of each row and, for each rule, whether it breaks it; `one` row (`?1` tenant, `?2` id) or all.
    pub(super) fn question(&self, one: bool) -> String {
        let conditions: Vec<String> =
            self.rules.iter().map(|(_, broken)| format!("COALESCE({broken}, 0)")).collect();
        let (key, from, conditions) = (self.key, self.from, conditions.join(", "));
        let only =
            if one { format!(" WHERE {key}.tenant = ?1 AND {key}.id = ?2") } else { String::new() };
        one_by_one(&format!("SELECT {key}.id, {conditions} FROM {from}{only}"))
    }
}

/// Spells `x IN ('a', 'b', 'c')` as comparisons with one value after the other: SQLite looks a value up in a list of more
/// than two by filling a temporary index with the list each time, which would cost more than all the rest of a question.
pub(super) fn one_by_one(question: &str) -> String {
    const IN: &str = " IN ('";
    let mut out = String::with_capacity(question.len() * 2);
    let mut rest = question;
    while let Some(at) = rest.find(IN) {
        let (before, list) = (&rest[..at], &rest[at + IN.len() - 1..]);
        let Some((values, behind)) = list.split_once(')') else { break };
        out.push_str(before);
        rest = behind;
        let negated = out.ends_with(" NOT");
        out.truncate(out.len() - if negated { " NOT".len() } else { 0 });
        let value = out.split_off(last_term(&out));
        let terms: Vec<String> =
            values.split(", ").map(|listed| format!("{value} = {listed}")).collect();
        out.push_str(if negated { "NOT (" } else { "(" });
        out.push_str(&terms.join(" OR "));
        out.push(')');
    }
    out.push_str(rest);
    out
}

/// Where the column, or the call, begins that `text` ends with.
fn last_term(text: &str) -> usize {
    let mut open = 0;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' => open += 1,
            b'(' if open > 0 => open -= 1,
            b' ' | b'(' if open == 0 => return at + 1,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_compared_value_by_value() {
        assert_eq!(
            one_by_one(
                "CASE WHEN d.state IN ('a', 'b') THEN (COALESCE(a.state, 'x') NOT IN ('c', 'd', 'e')) END"
            ),
            "CASE WHEN (d.state = 'a' OR d.state = 'b') THEN (NOT (COALESCE(a.state, 'x') = 'c' \
             OR COALESCE(a.state, 'x') = 'd' OR COALESCE(a.state, 'x') = 'e')) END"
        );
        assert_eq!(one_by_one("p.id IN (SELECT 1)"), "p.id IN (SELECT 1)");
    }

    #[test]
    fn no_question_fills_a_list() {
        let all =
            super::super::wallets::SUBJECTS.iter().copied().chain([&PAYMENTS, &QUOTES, &TENANTS]);
        for subject in all {
            for one in [true, false] {
                assert!(!subject.question(one).contains(" IN ('"), "{}", subject.from);
            }
        }
    }
}
