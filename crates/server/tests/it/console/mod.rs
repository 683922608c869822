//! The operator console, tested in a browser's role: pages and forms.

mod audit;
mod brand;
mod browser;
mod cases;
mod onboarding;
mod own;
mod payments;
mod provider;
mod refused_forms;
mod sign_in;
mod wallets;
