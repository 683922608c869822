//! Request metrics: count, outcome and duration.

use std::sync::Arc;

use domain::ports::Clock;
use domain::time::Timestamp;
use http::StatusCode;

/// A request in progress.
pub(crate) struct Measured {
    name: &'static str,
    clock: Arc<dyn Clock>,
    began: Timestamp,
}

impl Measured {
    /// Starts measuring a request for the operation `name`.
    pub(crate) fn begin(name: &'static str, clock: &Arc<dyn Clock>) -> Measured {
        metrics::gauge!("corridor_http_requests_in_flight").increment(1);
        Measured { name, clock: clock.clone(), began: clock.now() }
    }

    /// Records duration and outcome of the request.
    pub(crate) fn end(self, status: StatusCode) {
        let class = match status.as_u16() {
            500.. => "5xx",
            400.. => "4xx",
            _ => "2xx",
        };
        let took = (self.clock.now() - self.began).to_duration();
        metrics::counter!("corridor_http_requests_total", "operation" => self.name, "status" => class).increment(1);
        metrics::histogram!("corridor_http_request_seconds", "operation" => self.name).record(took);
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        metrics::gauge!("corridor_http_requests_in_flight").decrement(1);
    }
}
