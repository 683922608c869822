//! Failed tries to sign in are slowed down: by name and address, by name, and by address. Somebody who is not there is
//! slowed down like anybody else, so nothing can be learnt from it.

use std::net::IpAddr;

use domain::time::{Span, Timestamp};
use domain::user::User;
use engine::console::Backoff;

use super::answer::Stop;
use super::state::Console;

/// Tries are forgotten after so long without any.
const FORGET: Span = Span::hours(24);
/// The first wait; it doubles up to 64 times itself, which is 16 minutes.
const WAIT: Span = Span::secs(15);
/// Of one name from one address.
const OF_BOTH: Backoff = Backoff { free: 5, wait: WAIT, forget: FORGET };
/// Of one name from everywhere. More, so that nobody is locked out by others alone for nothing.
const OF_NAME: Backoff = Backoff { free: 25, wait: WAIT, forget: FORGET };
/// From one address for all names. A bank's people come from one address.
const OF_ADDRESS: Backoff = Backoff { free: 100, wait: WAIT, forget: FORGET };
/// One-time codes of one name: a million codes, three of which fit.
const OF_CODE: Backoff = Backoff { free: 5, wait: WAIT, forget: FORGET };

fn address(peer: Option<IpAddr>) -> String {
    peer.map_or_else(|| "unknown".to_owned(), |peer| http_api::address_windows::network(peer).to_string())
}

/// Counts a try to say a name's password; words to say where it came too early.
pub(super) async fn count(
    console: &Console,
    login: Option<&str>,
    peer: Option<IpAddr>,
) -> Result<Option<String>, Stop> {
    let address = address(peer);
    let both = login.map(|login| (format!("both {login} {address}"), OF_BOTH));
    let name = login.map(|login| (format!("name {login}"), OF_NAME));
    let by_address = Some((format!("address {address}"), OF_ADDRESS));
    // What one of them turns away is not looked at, and counts for none of the others: one address alone keeps nobody out.
    for (what, backoff) in [both, by_address, name].into_iter().flatten() {
        if let Some(until) = console.store().count_try(&what, backoff, console.wall_now()).await? {
            return Ok(Some(words(until, console.wall_now())));
        }
    }
    Ok(None)
}

/// Somebody is signed in.
pub(super) async fn forget(console: &Console, login: &str, peer: Option<IpAddr>) -> Result<(), Stop> {
    let address = address(peer);
    for what in [format!("name {login}"), format!("both {login} {address}"), format!("address {address}")] {
        console.store().forget_tries(&what).await?;
    }
    Ok(())
}

/// Counts a try to say a one-time code, or the present password of somebody who is signed in.
pub(super) async fn count_code(console: &Console, user: &User) -> Result<Option<String>, Stop> {
    let now = console.wall_now();
    let until = console.store().count_try(&format!("code {}", user.login), OF_CODE, now).await?;
    Ok(until.map(|until| words(until, now)))
}

/// A code was right.
pub(super) async fn forget_code(console: &Console, user: &User) -> Result<(), Stop> {
    Ok(console.store().forget_tries(&format!("code {}", user.login)).await?)
}

fn words(until: Timestamp, now: Timestamp) -> String {
    let seconds = (until - now).0.div_euclid(1_000_000).max(0) + 1;
    match seconds {
        0..=90 => format!("Too many tries. Please try again in {seconds} seconds."),
        _ => format!("Too many tries. Please try again in {} minutes.", seconds.div_euclid(60) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_round_words() {
        let now = Timestamp(0);
        assert_eq!(words(Timestamp(14_200_000), now), "Too many tries. Please try again in 15 seconds.");
        assert_eq!(words(now + Span::mins(16), now), "Too many tries. Please try again in 17 minutes.");
    }
}
