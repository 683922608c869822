//! Validation of `[telemetry]`.

use tracing_subscriber::filter::{Directive, LevelFilter};

use super::sections::Config;
use super::validate::{Faults, is_http_url};

/// What a log filter must be.
pub const FILTER_RULE: &str = "must be a level (trace, debug, info, warn, error, off), or directives such as \"warn,engine=debug\": \
                           a target needs a level";

pub(super) fn faults(config: &Config, faults: &mut Faults) {
    let telemetry = &config.telemetry;
    faults.check("telemetry.log_filter", is_log_filter(&telemetry.log_filter), FILTER_RULE);
    let endpoint = &telemetry.otlp_endpoint;
    let usable = endpoint.is_empty() || is_http_url(endpoint);
    faults.check("telemetry.otlp_endpoint", usable, "must be an http or https URL, or \"\"");
    let named = !telemetry.service_name.trim().is_empty();
    faults.check("telemetry.service_name", named, "must not be blank");
    faults.within("telemetry.otlp_sample_bps", telemetry.otlp_sample_bps, 0, 10_000);
}

/// Whether a filter of log lines means what it seems to, in `telemetry.log_filter` and in `RUST_LOG`.
pub fn is_log_filter(text: &str) -> bool {
    text.split(',').all(is_directive)
}

/// Whether a part of a filter means what it seems to. A word alone that is not a level is a target of
/// events: a mistyped level would silence the log.
fn is_directive(text: &str) -> bool {
    let text = text.trim();
    let Some(end) = text.find(['=', '[']) else {
        return text.is_empty() || text.parse::<LevelFilter>().is_ok();
    };
    let is_of_target = |c: char| c.is_ascii_alphanumeric() || "_:-./".contains(c);
    let (target, _) = text.split_at(end);
    target.chars().all(is_of_target) && text.parse::<Directive>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_filter_names_levels_that_exist() {
        for filter in [
            "",
            "info",
            "WARN",
            "off",
            "3",
            "warn,cli=info",
            "warn,cli=info,",
            "info,store::driver::postgres=debug",
            "warn,engine[batch]=debug",
            "warn,[request{operation}]=trace",
            "warn,http_api[request{status=200}]=debug",
            "error,hyper=off",
            " info",
            "info, warn",
            "warn, cli=info ",
            "info ",
        ] {
            assert!(is_log_filter(filter), "{filter}");
        }
        for filter in [
            "a=b=c",
            "warm",
            "cli=inof",
            "info,warm",
            "corridor",
            "warn,cli = info",
            "warn,cli= info",
            "warn,engine",
            "warn, engine",
            "cli=info=",
            "=",
            "=info",
            "info;cli=warn",
            "[request",
            "info cli=warn",
        ] {
            assert!(!is_log_filter(filter), "{filter}");
        }
    }
}
