//! Slows down failed sign-in attempts: by name and address, by name, and by address. Unknown names
//! are treated alike, so that attempts do not reveal which names exist.

use std::net::IpAddr;

use domain::time::{Span, Timestamp};
use domain::user::User;
use engine::console::Backoff;

use super::answer::Stop;
use super::state::Console;

/// Attempts are forgotten after this time without any.
const FORGET: Span = Span::hours(24);
/// The first delay; it doubles up to 64 times its value, which is 16 minutes.
const WAIT: Span = Span::secs(15);
/// Free attempts per name and address.
const OF_BOTH: Backoff = Backoff { free: 5, wait: WAIT, forget: FORGET };
/// Free attempts per name from all addresses. Higher, so that others alone cannot lock a user out.
const OF_NAME: Backoff = Backoff { free: 25, wait: WAIT, forget: FORGET };
/// Free attempts per address for all names. A bank's users share an address.
const OF_ADDRESS: Backoff = Backoff { free: 100, wait: WAIT, forget: FORGET };
/// Free one-time code attempts per name: of a million codes three are valid.
const OF_CODE: Backoff = Backoff { free: 5, wait: WAIT, forget: FORGET };

fn address(peer: Option<IpAddr>) -> String {
    peer.map_or_else(
        || "unknown".to_owned(),
        |peer| http_api::address_windows::network(peer).to_string(),
    )
}

/// Counts a password attempt for a name; returns a message if it is too early.
pub(super) async fn count(
    console: &Console,
    login: Option<&str>,
    peer: Option<IpAddr>,
) -> Result<Option<String>, Stop> {
    let address = address(peer);
    let both = login.map(|login| (format!("both {login} {address}"), OF_BOTH));
    let name = login.map(|login| (format!("name {login}"), OF_NAME));
    let by_address = Some((format!("address {address}"), OF_ADDRESS));
    // An attempt that one counter refuses is not counted by the others: one address alone locks no
    // user out.
    for (what, backoff) in [both, by_address, name].into_iter().flatten() {
        if let Some(until) = console.store().count_try(&what, backoff, console.wall_now()).await? {
            return Ok(Some(words(until, console.wall_now())));
        }
    }
    Ok(None)
}

/// Resets the counters after a successful sign-in.
pub(super) async fn forget(
    console: &Console,
    login: &str,
    peer: Option<IpAddr>,
) -> Result<(), Stop> {
    let address = address(peer);
    for what in
        [format!("name {login}"), format!("both {login} {address}"), format!("address {address}")]
    {
        console.store().forget_tries(&what).await?;
    }
    Ok(())
}

/// Counts an attempt with a one-time code, or with the current password of a signed-in user.
pub(super) async fn count_code(console: &Console, user: &User) -> Result<Option<String>, Stop> {
    let now = console.wall_now();
    let until = console.store().count_try(&format!("code {}", user.login), OF_CODE, now).await?;
    Ok(until.map(|until| words(until, now)))
}

/// Resets the counter after a correct code.
pub(super) async fn forget_code(console: &Console, user: &User) -> Result<(), Stop> {
    Ok(console.store().forget_tries(&format!("code {}", user.login)).await?)
}

fn words(until: Timestamp, now: Timestamp) -> String {
    let seconds = (until - now).0.div_euclid(1_000_000).max(0) + 1;
    match seconds {
        0..=90 => format!("Too many attempts. Please try again in {seconds} seconds."),
        _ => format!(
            "Too many attempts. Please try again in {} minutes.",
            seconds.div_euclid(60) + 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_shown_in_round_units() {
        let now = Timestamp(0);
        assert_eq!(
            words(Timestamp(14_200_000), now),
            "Too many attempts. Please try again in 15 seconds."
        );
        assert_eq!(
            words(now + Span::mins(16), now),
            "Too many attempts. Please try again in 17 minutes."
        );
    }
}
