//! Fuzz target of the documents that rate sources publish, in every form.

use domain::time::Timestamp;

use super::sheet::{self, JsonShape};
use super::{MAX_RATE, MAX_SPREAD_BPS, MIN_RATE, Published, moved_beyond};

/// 2026-11-21T06:57:48Z
const NOW: Timestamp = Timestamp(1_795_244_268_000_000);

/// A document states bounded rates with a bid below the ask, each pair once.
pub(crate) fn document(bytes: &[u8]) {
    let elsewhere = JsonShape {
        base: Some("/data/base".to_owned()),
        as_of: Some("/data/as_of".to_owned()),
        rates: Some("/data/rates".to_owned()),
        ..JsonShape::default()
    };
    let fixed = |code: &str| Some(code.to_owned());
    let local = JsonShape { fixed_quote: fixed("NPR"), ..JsonShape::default() };
    let foreign = JsonShape { fixed_base: fixed("USD"), ..JsonShape::default() };
    for shape in [JsonShape::default(), elsewhere, local, foreign] {
        let Ok(read) = sheet::read(bytes, None, &shape, &Published::default(), NOW) else {
            continue;
        };
        assert!(!read.rates.is_empty());
        for (at, rate) in read.rates.iter().enumerate() {
            for side in [rate.bid, rate.mid.rate, rate.ask] {
                assert!((MIN_RATE..=MAX_RATE).contains(&side), "{rate:?}");
            }
            assert!(rate.bid <= rate.ask && rate.base != rate.quote, "{rate:?}");
            assert!(!moved_beyond(rate.bid, rate.ask, MAX_SPREAD_BPS), "{rate:?}");
            assert!(read.rates[..at].iter().all(|other| other.pair() != rate.pair()), "{rate:?}");
        }
    }
}
