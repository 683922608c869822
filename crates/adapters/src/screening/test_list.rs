//! A list that a test screens names against.

use std::sync::Arc;

use domain::ports::NameScreen as _;
use domain::screening::{Party, Verdict};
use domain::time::Timestamp;

use super::ListBook;
use super::load::{Document, load};

pub(super) struct TestList {
    pub(super) book: ListBook,
    /// The country of the screened parties: none of the entries'.
    country: &'static str,
}

impl TestList {
    pub(super) fn of(text: &str, country: &'static str) -> TestList {
        let origin = "test.csv".to_owned();
        let document = Document { origin, bytes: text.into(), modified: None };
        let list = Arc::new(load(&[document]).expect("a list"));
        TestList { book: ListBook::of(vec![list], Timestamp(0)), country }
    }

    pub(super) fn verdict(&self, name: &str) -> Verdict {
        let party = Party { name, birthdate: None, country: Some(self.country) };
        self.book.screen(&[party], Timestamp(0)).verdict()
    }

    #[track_caller]
    pub(super) fn assert_stopped(&self, names: &[&str]) {
        let paid: Vec<_> =
            names.iter().filter(|name| self.verdict(name) == Verdict::Clean).collect();
        assert!(paid.is_empty(), "paid: {paid:#?}");
    }

    #[track_caller]
    pub(super) fn assert_paid(&self, names: &[&str]) {
        let stopped: Vec<_> =
            names.iter().filter(|name| self.verdict(name) != Verdict::Clean).collect();
        assert!(stopped.is_empty(), "stopped: {stopped:#?}");
    }
}
