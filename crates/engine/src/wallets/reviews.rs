//! Deposits that wait for review, and refunds. The caller enforces four eyes: a decision records
//! who made it.

use domain::audit::AuditContext;
use domain::chain::Address;
use domain::deposit::{Deposit, DepositRefusal, DepositState, Refund, ReviewVerdict, SeenRefund};
use domain::ids::DepositId;
use domain::risk::Assessment;
use domain::screening::{Screened, Verdict};
use domain::time::Timestamp;
use store::working_set::{IdempotencyRecord, Made};

use super::{Caller, Denied, Listed, Page, Reply, Wallets, not_executed, not_found_as};
use crate::command::deposits::{DepositAction, DepositRef, EscrowSeen};
use crate::command::{Action, Idempotency, Outcome, Refused};
use crate::error::EngineError;

const FIELD: &str = "transaction_id";
/// Attempts to read an escrow that keeps changing.
const LOOKS_MAX: u32 = 3;

/// A reviewer's decision (POST reviews/{transaction_id}).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewAsked {
    pub deposit: DepositId,
    /// Since when it was in the state that was reviewed; `None` = any state.
    pub seen: Option<Timestamp>,
    pub verdict: ReviewVerdict,
    /// Actor, reason and context for the audit log.
    pub by: AuditContext,
}

/// The tokens' blacklists that an approval rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blacklists {
    Current,
    AsScreened,
}

impl Wallets {
    /// A page of the deposits that wait for review, longest waiting first.
    pub async fn reviews(&self, caller: &Caller, page: Page) -> Result<Listed<Deposit>, Denied> {
        Ok(self.store.deposits_in_review(caller.tenant, page).await?)
    }

    /// One deposit.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn find_deposit(&self, caller: &Caller, id: DepositId) -> Result<Deposit, Denied> {
        self.store.deposit(caller.tenant, id).await?.ok_or(Denied::NotFound(FIELD))
    }

    /// Applies a reviewer's decision. Before an approval, the sender and the payer are screened again,
    /// the payer also against the tokens' blacklists: a match that the reviewers have not seen is
    /// recorded and refuses it.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; [`Denied::Chain`]: no node answers for a blacklist; 409 and 422 as defined in `domain::deposit`.
    pub async fn decide_review(
        &self,
        caller: &Caller,
        asked: ReviewAsked,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Deposit>, Denied> {
        self.decide_asking(Blacklists::Current, caller, asked, idempotency).await
    }

    /// The same for commands, which ask no node: an approval rests on the lists, and on the tokens'
    /// blacklists as of the first screening.
    ///
    /// # Errors
    /// As [`Wallets::decide_review`], without [`Denied::Chain`].
    pub async fn decide_review_without_node(
        &self,
        caller: &Caller,
        asked: ReviewAsked,
    ) -> Result<Reply<Deposit>, Denied> {
        self.decide_asking(Blacklists::AsScreened, caller, asked, None).await
    }

    async fn decide_asking(
        &self,
        blacklists: Blacklists,
        caller: &Caller,
        asked: ReviewAsked,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Deposit>, Denied> {
        let ReviewAsked { deposit, seen, verdict, by } = asked;
        let screened = match verdict {
            ReviewVerdict::Approve => {
                self.screen_before_approval(blacklists, caller, deposit, &by).await?
            }
            _ => None,
        };
        let by = Box::new(by);
        let action = DepositAction::Reviewed { seen, verdict, screened, by, idempotency };
        self.changed_deposit(caller, deposit, action).await
    }

    /// The result for the sender and the payer, whichever is worse; `None` if it is not in review.
    async fn screen_before_approval(
        &self,
        blacklists: Blacklists,
        caller: &Caller,
        id: DepositId,
        by: &AuditContext,
    ) -> Result<Option<Screened>, Denied> {
        let deposit = self.find_deposit(caller, id).await?;
        let in_review = |_: &&Assessment| deposit.state == DepositState::InReview;
        let Some(assessment) = deposit.assessment.as_ref().filter(in_review) else {
            return Ok(None);
        };
        let refused = |why| Err(Denied::Refused(Refused::Deposit(why)));
        let (world, now) = (&self.world, self.world.clock.now());
        let (payer, unknown) = self.screen_with_blacklists(deposit.chain, &deposit.from).await?;
        let sender = world.screened_sender(&deposit.sender, now);
        let found: Vec<Screened> = sender.into_iter().chain([payer]).collect();
        if found.iter().any(|it| world.is_behind(it, &assessment.list_version, id.0)) {
            return refused(DepositRefusal::OlderLists);
        }
        let is_listed = found.iter().any(|screened| screened.verdict() == Verdict::Hit);
        if let Some(fault) = unknown.filter(|_| blacklists == Blacklists::Current && !is_listed) {
            return Err(Denied::Chain(fault));
        }
        let worst = found.iter().max_by_key(|screened| screened.score).cloned();
        let news = |screened: &Screened| !assessment.covers(screened);
        let found: Vec<Screened> = found.into_iter().filter(news).collect();
        if !found.is_empty() {
            let action = DepositAction::FoundMatch { found, by: not_executed(by.clone()) };
            self.changed_deposit(caller, id, action).await?;
        } else if !is_listed {
            return Ok(worst);
        }
        refused(if is_listed { DepositRefusal::Listed } else { DepositRefusal::OtherMatch })
    }

    /// Proposes a refund of a rejected deposit to an address that its sender entered.
    ///
    /// # Errors
    /// As [`Wallets::decide_review`].
    pub async fn propose_refund(
        &self,
        caller: &Caller,
        deposit: DepositId,
        to: Address,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<Deposit>, Denied> {
        let by = Box::new(by.into());
        let known = self.find_deposit(caller, deposit).await?;
        self.check_usable(&known, &to).await?;
        let screened = self.screen_address(known.chain, &to).await?;
        self.changed_deposit(caller, deposit, DepositAction::ProposeRefund { to, screened, by })
            .await
    }

    /// Approves a refund that a second operator reviewed. The address is screened again with the
    /// current lists: a listed address is not paid, and an operator is alerted about the proposal.
    /// Older lists than those of the proposal decide nothing.
    ///
    /// # Errors
    /// As [`Wallets::decide_review`].
    pub async fn approve_refund(
        &self,
        caller: &Caller,
        deposit: DepositId,
        seen: SeenRefund,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<Deposit>, Denied> {
        let by = Box::new(by.into());
        let known = self.find_deposit(caller, deposit).await?;
        if known.refund.as_ref().is_some_and(|refund| refund.to == seen.to) {
            self.check_usable(&known, &seen.to).await?;
        }
        let screened = self.screen_address(known.chain, &seen.to).await?;
        let proposed = known.refund;
        if let Some(proposed) = proposed.filter(Refund::waits_for_approval)
            && self.world.is_behind(&screened, &proposed.screened.list_version, deposit.0)
        {
            return Err(Denied::Refused(Refused::Deposit(DepositRefusal::OlderLists)));
        }
        let action =
            DepositAction::ApproveRefund { seen, screened: screened.clone(), by: by.clone() };
        let told = self.changed_deposit(caller, deposit, action).await;
        if matches!(&told, Err(Denied::Refused(Refused::Deposit(DepositRefusal::AddressListed)))) {
            self.refund_is_listed(caller, deposit, screened, by).await;
        }
        told
    }

    async fn check_usable(&self, deposit: &Deposit, to: &Address) -> Result<(), Denied> {
        if self.is_unusable((deposit.tenant, deposit.wallet, deposit.chain), to).await? {
            return Err(Denied::Refused(Refused::Deposit(DepositRefusal::AddressRefused)));
        }
        Ok(())
    }

    /// Alerts an operator about a proposal to an address that is now listed. The approval is
    /// refused either way.
    async fn refund_is_listed(
        &self,
        caller: &Caller,
        deposit: DepositId,
        screened: Screened,
        by: Box<AuditContext>,
    ) {
        let action = DepositAction::RefundListed { screened, by };
        if let Err(denied) = self.changed_deposit(caller, deposit, action).await {
            tracing::error!(%denied, %deposit, "alert for refund to listed address failed");
        }
    }

    /// Withdraws the proposal before it is approved.
    ///
    /// # Errors
    /// As [`Wallets::decide_review`].
    pub async fn withdraw_refund(
        &self,
        caller: &Caller,
        deposit: DepositId,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<Deposit>, Denied> {
        let by = Box::new(by.into());
        self.changed_deposit(caller, deposit, DepositAction::WithdrawRefund { by }).await
    }

    /// Lifts a deposit's legal hold, decided by two reviewers: it stays rejected and can be
    /// refunded, and other deposits in its escrow proceed once the controller no longer holds it.
    /// `seen` is since when it was in the state that they reviewed.
    ///
    /// # Errors
    /// As [`Wallets::decide_review`].
    pub async fn lift_hold(
        &self,
        caller: &Caller,
        deposit: DepositId,
        seen: Option<Timestamp>,
        by: impl Into<AuditContext>,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Deposit>, Denied> {
        let by = Box::new(by.into());
        let mut looks = 1;
        loop {
            let escrow = self.escrow_seen(caller, deposit).await?;
            let (by, idempotency) = (by.clone(), idempotency.clone());
            let action = DepositAction::LiftHold { seen, escrow, by, idempotency };
            match self.changed_deposit(caller, deposit, action).await {
                // Its request changed in the meantime.
                Err(Denied::Refused(Refused::Moved)) if looks < LOOKS_MAX => looks += 1,
                told => return told,
            }
        }
    }

    /// Other holds on a deposit's escrow. The version is read first: a later hold increases it.
    async fn escrow_seen(&self, caller: &Caller, id: DepositId) -> Result<EscrowSeen, Denied> {
        let deposit = self.find_deposit(caller, id).await?;
        let Some(request) = deposit.request else {
            return Ok(EscrowSeen { version: None, others_hold: false });
        };
        let found =
            self.store.request(caller.tenant, request).await?.ok_or(Denied::NotFound(FIELD))?;
        let all = self.store.deposits_of_request(caller.tenant, request).await?;
        let others_hold = all
            .iter()
            .any(|other| other.id != id && other.to == deposit.to && other.holds_its_escrow());
        Ok(EscrowSeen { version: Some(found.version), others_hold })
    }

    async fn changed_deposit(
        &self,
        caller: &Caller,
        id: DepositId,
        action: DepositAction,
    ) -> Result<Reply<Deposit>, Denied> {
        let deposit = self.find_deposit(caller, id).await?;
        self.offered_on(deposit.chain)?;
        let named = DepositRef::of(&deposit, caller.policy.wallet.accept_late);
        match self
            .run(caller.tenant, Action::Deposit(named, action))
            .await
            .map_err(not_found_as(FIELD))?
        {
            Outcome::Deposit(deposit) => Ok(Reply { made: *deposit, replayed: false }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Deposit(id), .. }) => {
                Ok(Reply { made: self.find_deposit(caller, id).await?, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }
}
