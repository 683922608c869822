//! A rail to the simulated bank of this process. Its messages are a real bank's; questions about
//! accounts, for which ISO 20022 banks have no common form, go to the bank directly.

use adapters::rails::IsoRail;
use domain::account_check::{AccountAnswer, AccountQuestion};
use domain::ports::{BoxFuture, Rail};
use domain::rail::{
    Inquiry, InquiryAnswer, Instruction, RailFault, RailId, RecallRequest, Reports, Submission,
};
use testkit::bank::check_account;

pub(super) struct SimulatedRail(pub(super) IsoRail);

impl Rail for SimulatedRail {
    fn id(&self) -> &RailId {
        self.0.id()
    }

    fn message_id(&self, batch: &[Instruction]) -> Option<String> {
        self.0.message_id(batch)
    }

    fn split(&self, batch: &[Instruction]) -> Vec<usize> {
        self.0.split(batch)
    }

    fn submit<'a>(&'a self, batch: &'a [Instruction]) -> BoxFuture<'a, Vec<Submission>> {
        self.0.submit(batch)
    }

    fn inquire<'a>(&'a self, attempts: &'a [Inquiry]) -> BoxFuture<'a, Vec<InquiryAnswer>> {
        self.0.inquire(attempts)
    }

    fn recall<'a>(&'a self, request: &'a RecallRequest) -> BoxFuture<'a, Submission> {
        self.0.recall(request)
    }

    fn collect<'a>(&'a self, cursor: Option<&'a str>) -> BoxFuture<'a, Result<Reports, RailFault>> {
        self.0.collect(cursor)
    }

    fn confirm_stored(&self) -> BoxFuture<'_, Result<(), RailFault>> {
        self.0.confirm_stored()
    }

    fn verify_account<'a>(&'a self, question: &'a AccountQuestion) -> BoxFuture<'a, AccountAnswer> {
        Box::pin(std::future::ready(check_account(&question.account, &question.name)))
    }
}
