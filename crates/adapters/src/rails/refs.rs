//! The transactions of a booking (`Ntry`) of camt.052, .053 and .054: their references and amounts.
//! Transactions booked in one sum without a list are a batch.
//!
//! Where no element for an id has one, one of our ids that stands complete in another reference or in
//! a text counts: no other party's text contains it by chance.

use domain::money::Money;
use domain::rail_ids::ReportIds;

use super::elsewhere;
use super::iso;
use super::xml_read::Element;

/// One transaction of a booking, or a batch.
pub(super) struct Part<'a> {
    /// The element that describes it: `TxDtls`, or the booking itself.
    pub(super) details: &'a Element,
    pub(super) ids: ReportIds,
    /// Whether it is the only transaction of the booking, so that it has the booking's amount and
    /// reference.
    is_alone: bool,
    /// A whole message in one sum, with the number of transactions if stated.
    pub(super) batch: Option<Option<usize>>,
    total: Option<&'a Element>,
}

impl Part<'_> {
    /// Whether the booking's amount is its own: of the only transaction, or of a whole batch.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_alone || self.batch.is_some()
    }

    /// Its amount; `Ok(None)` if there is none.
    pub(super) fn amount(&self, booking: &Element) -> Result<Option<Money>, String> {
        Ok(self.amounts(booking)?.first().copied())
    }

    /// Its amounts, the one that counts first: the others may be of other currencies.
    pub(super) fn amounts(&self, booking: &Element) -> Result<Vec<Money>, String> {
        if self.batch.is_some() {
            return Ok(iso::amount(self.total)?.into_iter().collect());
        }
        let mut all = iso::transaction_amounts(self.details)?;
        let Some(booked) = booking.child("Amt").filter(|_| self.is_alone) else { return Ok(all) };
        let is_whole = std::ptr::eq(self.details, booking);
        let of_booking = || iso::transaction_amounts(booking);
        let Some(own) = all.first().copied() else { return of_booking() };
        // What the account was moved by: the transaction's own amount may exclude charges, or repeat
        // the order's.
        let booked = iso::amount(Some(booked)).ok().flatten();
        let booked = booked.filter(|it| it.currency == own.currency && it.minor != own.minor);
        if let Some(booked) = booked {
            all.insert(0, booked);
        }
        if !is_whole {
            all.extend(of_booking().unwrap_or_default());
        }
        Ok(all)
    }

    /// The charges included in its amount.
    pub(super) fn charges(&self, booking: &Element) -> Option<Money> {
        match iso::charges(self.details.all("Chrgs")) {
            None if (self.is_alone || self.batch.is_some())
                && !std::ptr::eq(self.details, booking) =>
            {
                iso::charges(booking.all("Chrgs"))
            }
            own => own,
        }
    }
}

/// The parts of a booking; none if it contains no reference.
pub(super) fn parts(booking: &Element) -> Vec<Part<'_>> {
    let groups: Vec<&Element> = booking.all("NtryDtls").collect();
    let count: usize = groups.iter().map(|group| group.all("TxDtls").count()).sum();
    let reference = iso::id(booking, &["AcctSvcrRef"]);
    let mut parts = Vec::new();
    for group in &groups {
        let batch = group.child("Btch");
        let whole = ReportIds {
            message: batch.and_then(|batch| iso::id(batch, &["MsgId"])),
            block: batch.and_then(|batch| iso::id(batch, &["PmtInfId"])),
            ..ReportIds::default()
        };
        let listed: Vec<&Element> = group.all("TxDtls").collect();
        let is_named = whole.message.is_some() || whole.block.is_some();
        let is_sum = listed.is_empty() || is_summary(group);
        if let (Some(batch), true, true) = (batch, is_sum, is_named) {
            let total = batch
                .child("TtlAmt")
                .or_else(|| booking.child("Amt").filter(|_| groups.len() == 1));
            let ids = ReportIds { reference: reference.clone(), ..whole };
            parts.push(Part {
                details: listed.first().copied().unwrap_or(booking),
                ids,
                is_alone: false,
                batch: Some(stated(group)),
                total,
            });
            continue;
        }
        // The booking is a sum of several, of which the others are left out.
        let is_alone = count == 1 && stated(group).is_none_or(|stated| stated <= 1);
        for (index, details) in listed.iter().enumerate() {
            let mut ids = ids(details, &whole);
            let is_return = iso::is_return(details, booking);
            elsewhere::complete(&mut ids, details, Some(booking).filter(|_| is_alone), is_return);
            ids.place = Some((index + 1, listed.len()));
            ids.reference = ids.reference.or_else(|| reference.clone().filter(|_| is_alone));
            parts.push(Part { details, ids, is_alone, batch: None, total: None });
        }
    }
    if parts.is_empty() {
        let mut ids = ReportIds { reference, place: Some((1, 1)), ..ReportIds::default() };
        elsewhere::complete(&mut ids, booking, Some(booking), iso::is_return(booking, booking));
        if ids.reference.is_some() || ids.may_be_ours() {
            parts.push(Part { details: booking, ids, is_alone: true, batch: None, total: None });
        }
    }
    parts
}

/// Number of transactions that a batch states.
fn stated(group: &Element) -> Option<usize> {
    group.text_at(&["Btch", "NbOfTxs"])?.parse().ok()
}

/// Whether the only listed transaction describes a batch of several.
fn is_summary(group: &Element) -> bool {
    let mut listed = group.all("TxDtls");
    let (Some(only), None) = (listed.next(), listed.next()) else { return false };
    let ids = ids(only, &ReportIds::default());
    stated(group).is_some_and(|count| count > 1)
        && ids.end_to_end.is_none()
        && !ids.strong().any(domain::rail_ids::looks_like_ours)
}

/// What a booking with payouts of Corridor states about its transactions while it lists only some of
/// them.
pub(super) fn left_out(booking: &Element) -> Option<String> {
    let parts = parts(booking);
    if !parts.iter().any(|part| part.ids.may_be_ours()) {
        return None;
    }
    let by_count = booking.all("NtryDtls").find_map(|group| {
        let stated = group.text_at(&["Btch", "NbOfTxs"])?;
        let listed = group.all("TxDtls").count();
        let is_right = listed == 0 || stated.parse() == Ok(listed) || is_summary(group);
        (!is_right)
            .then(|| format!("a batch of {} transactions lists {listed}", iso::quoted(stated)))
    });
    by_count.or_else(|| by_sum(booking, &parts))
}

/// The sum of several listed transactions, if charges do not explain its difference from the booking.
/// What cannot be added up is reported elsewhere.
fn by_sum(booking: &Element, parts: &[Part<'_>]) -> Option<String> {
    if parts.len() < 2 || parts.iter().any(|part| part.batch.is_some()) {
        return None;
    }
    let booked = iso::amount(booking.child("Amt")).ok()??;
    let direction = booking.text_at(&["CdtDbtInd"]);
    let mut charges = iso::charges(booking.all("Chrgs")).map_or(0, |own| own.minor);
    let mut sum = 0_i64;
    for part in parts {
        let amount = part.amount(booking).ok()?.filter(|it| it.currency == booked.currency)?;
        let is_back = part.details.text_at(&["CdtDbtInd"]).is_some_and(|it| Some(it) != direction);
        sum = sum.checked_add(if is_back { -amount.minor } else { amount.minor })?;
        let own = part.charges(booking).map_or(0, |own| own.minor);
        charges = charges.checked_add(own)?;
    }
    let gap = booked.minor.abs_diff(sum);
    let sum = Money::new(sum, booked.currency);
    (gap != 0 && gap != charges.unsigned_abs())
        .then(|| format!("its transactions add up to {sum} of {booked} booked"))
}

fn ids(details: &Element, whole: &ReportIds) -> ReportIds {
    let refs = |name: &str| iso::id(details, &["Refs", name]);
    ReportIds {
        uetr: refs("UETR"),
        instruction: refs("InstrId").or_else(|| refs("TxId")),
        end_to_end: refs("EndToEndId"),
        message: refs("MsgId").or_else(|| whole.message.clone()),
        block: refs("PmtInfId").or_else(|| whole.block.clone()),
        reference: refs("AcctSvcrRef"),
        place: None,
        may_be_anothers: false,
    }
}
