//! Alerts about rails.

use domain::wallet_effects::{Alert, AlertKind};

use crate::world::{Setup, TENANT, World, with};

async fn texts(world: &World) -> Vec<String> {
    let alerts = world.store.alerts(TENANT, 100).await.expect("readable");
    let mut texts: Vec<String> = alerts.into_iter().map(|(_, alert)| alert.what).collect();
    texts.sort();
    texts
}

/// None is configured here.
#[test]
fn a_start_ends_the_alerts_about_rails_that_are_not_configured_any_more() {
    with(Setup::default(), async |world| {
        let ended = [
            "rail gone: file \"1.xml\": it is empty, and is read once it has content",
            "the reports of the rail gone cannot be fetched",
            "payments over the rail gone fail",
        ];
        let kept = "rail gone: not of this kind";
        let of = |kind, what: &str| Alert { kind, subject: TENANT.0, what: what.to_owned() };
        for alert in ended.map(|what| of(AlertKind::RailFaults, what)) {
            world.store.raise_alert(TENANT, &alert).await.expect("raised");
        }
        let other = of(AlertKind::ChainNode, kept);
        world.store.raise_alert(TENANT, &other).await.expect("raised");
        assert_eq!(texts(&world).await.len(), 4);
        // The task ends before its first round.
        let (_stopping, stop) = tokio::sync::watch::channel(true);
        for (name, task) in world.workers.tasks(&stop) {
            if name == "due jobs" {
                task.await;
            }
        }
        assert_eq!(texts(&world).await, [kept]);
    });
}
