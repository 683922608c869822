//! Payments and attempts: their matrices and their bookings.
