//! Payments: matrix, acceptance, bookings, reports, waiting, reviewers' decisions, and random walks
//! against models.

mod accept;
mod booking;
mod cancel;
mod decisions;
mod matrix;
mod model;
mod reports;
mod waiting;
mod walk;
