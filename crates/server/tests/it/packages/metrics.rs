//! Alert rules and the dashboard use only metrics, labels and label values that `/metrics` exposes.

use std::collections::{BTreeMap, BTreeSet};

use domain::relay::EventLog;
use domain::time::Span;
use reqwest::Method;
use serde_json::Value;
use store::HeldRole;

use super::{document, tree};
use crate::harness::{Bank, On, run};

/// Labels that Prometheus adds to every series.
const SCRAPED: [&str; 2] = ["instance", "job"];

/// Per series, its labels with their values.
type Exposed = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn exposed(text: &str) -> Exposed {
    let mut exposed = Exposed::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (series, _) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let known = exposed.entry(name.to_owned()).or_default();
        for pair in labels.trim_end_matches('}').split("\",").filter(|pair| !pair.is_empty()) {
            let (label, value) = pair.split_once("=\"").expect("a label");
            known
                .entry(label.to_owned())
                .or_default()
                .insert(value.trim_end_matches('"').to_owned());
        }
    }
    exposed
}

/// The names used in a PromQL expression.
#[derive(Debug, Default)]
struct Named {
    /// A metric and its matchers: label and pattern.
    metrics: Vec<(String, Vec<(String, String)>)>,
    grouped: BTreeSet<String>,
}

fn named(expression: &str) -> Named {
    let mut named = Named::default();
    let mut rest = expression;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '"') {
        rest = &rest[at..];
        if let Some(text) = rest.strip_prefix('"') {
            rest = text.split_once('"').expect("a text ends").1;
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':')
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        rest = behind;
        if ["by", "without", "on", "ignoring"].contains(&word) {
            let (labels, behind) =
                behind.strip_prefix('(').and_then(|it| it.split_once(')')).expect("labels");
            named.grouped.extend(labels.split(',').map(|label| label.trim().to_owned()));
            rest = behind;
        } else if word.starts_with("corridor_") {
            let mut matchers = Vec::new();
            if let Some((inside, behind)) =
                behind.strip_prefix('{').and_then(|it| it.split_once('}'))
            {
                for matcher in inside.split("\",").filter(|it| !it.trim().is_empty()) {
                    let (label, pattern) = matcher.split_once('"').expect("a pattern");
                    let label = label.trim().trim_end_matches(['=', '!', '~']).trim();
                    matchers.push((label.to_owned(), pattern.trim_end_matches('"').to_owned()));
                }
                rest = behind;
            }
            named.metrics.push((word.to_owned(), matchers));
        }
    }
    named
}

/// The error in an expression; its labels if there is none.
fn judged(expression: &str, exposed: &Exposed) -> Result<Named, String> {
    let named = named(expression);
    if named.metrics.is_empty() {
        return Err(format!("{expression}: names no metric of the service"));
    }
    for (metric, matchers) in &named.metrics {
        let labels = exposed.get(metric).ok_or_else(|| format!("{metric}: is not exported"))?;
        for (label, pattern) in matchers {
            let values =
                labels.get(label).ok_or_else(|| format!("{metric}: has no label {label}"))?;
            let is_variable = pattern.starts_with('$');
            for value in pattern.split('|').filter(|_| !is_variable) {
                let known = values.contains(value);
                known.then_some(()).ok_or_else(|| format!("{metric}: {label} is never {value}"))?;
            }
        }
        for label in &named.grouped {
            let known = labels.contains_key(label) || SCRAPED.contains(&label.as_str());
            known.then_some(()).ok_or_else(|| format!("{metric}: has no label {label}"))?;
        }
    }
    Ok(named)
}

/// The actual exposition of a running service, which has a relay.
async fn shown() -> Exposed {
    let bank = Bank::new(On::Sqlite).await;
    let (store, name) = (bank.running.store(), "relay:warehouse".to_owned());
    let fence = store.lease_role(&name, "test", Span::mins(1)).await.expect("asked");
    let role = HeldRole { name, owner: "test".to_owned(), fence: fence.expect("free") };
    let log = (bank.tenant.id, EventLog::Payment);
    store.begin_relay(&role, "warehouse", log, 0).await.expect("begun");
    let answer = bank.unsigned(Method::GET, "/metrics", None).send().await;
    exposed(&String::from_utf8(answer.body).expect("text"))
}

#[test]
fn alerts_name_what_is_exported() {
    run(On::Sqlite, |_| async {
        let exposed = shown().await;
        let rules = alerts();
        assert!(rules.len() > 20, "{}", rules.len());
        for rule in &rules {
            let name = rule["alert"].as_str().expect("a name");
            let named = judged(rule["expr"].as_str().expect("an expression"), &exposed);
            let named = named.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let summary = rule["annotations"]["summary"].as_str().expect("a summary");
            for used in summary.split("$labels.").skip(1) {
                let label: String =
                    used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                assert!(
                    named.grouped.contains(&label),
                    "{name}: {label} is not there when it fires"
                );
            }
            assert!(
                ["page", "ticket"]
                    .contains(&rule["labels"]["severity"].as_str().unwrap_or_default()),
                "{name}"
            );
        }
    });
}

#[test]
fn the_dashboard_names_what_is_exported() {
    run(On::Sqlite, |_| async {
        let exposed = shown().await;
        let dashboard: Value =
            serde_json::from_str(&tree("ops/monitoring/dashboard.json")).expect("JSON");
        let mut count = 0;
        let mut ids = BTreeSet::new();
        for panel in dashboard["panels"].as_array().expect("panels") {
            assert!(ids.insert(panel["id"].as_u64()), "an id twice: {}", panel["id"]);
            for target in panel["targets"].as_array().into_iter().flatten() {
                let named = judged(target["expr"].as_str().expect("an expression"), &exposed);
                let named = named.unwrap_or_else(|fault| panic!("{}: {fault}", panel["title"]));
                let legend = target["legendFormat"].as_str().expect("a legend");
                for label in legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next()) {
                    assert!(
                        named.grouped.contains(label),
                        "{}: {label} is summed away",
                        panel["title"]
                    );
                }
                count += 1;
            }
        }
        assert!(count > 30, "{count} expressions");
        let variables = dashboard["templating"]["list"].as_array().expect("variables");
        for variable in variables.iter().filter(|variable| variable["type"] == "query") {
            let query = variable["query"]
                .as_str()
                .and_then(|it| it.strip_prefix("label_values(")?.strip_suffix(')'));
            let (metric, label) =
                query.and_then(|it| it.split_once(", ")).expect("a metric and a label");
            assert!(
                exposed.get(metric).is_some_and(|labels| labels.contains_key(label)),
                "{query:?}"
            );
        }
    });
}

/// Metrics that must be in an alert and on the dashboard.
#[test]
fn nothing_that_has_to_be_watched_is_left_out() {
    let (alerts, dashboard) =
        (tree("ops/monitoring/alerts.yml"), tree("ops/monitoring/dashboard.json"));
    for metric in [
        "corridor_ledger_imbalance",
        "corridor_reconciliation_breaks",
        "corridor_reconciliation_age_seconds",
        "corridor_webhook_oldest_pending_seconds",
        "corridor_chain_head_lag_blocks",
        "corridor_chain_newest_block_timestamp_seconds",
        "corridor_corridors_without_rate",
        "corridor_screening_list_age_seconds",
        "corridor_review_queue_items",
        "corridor_job_oldest_seconds",
        "corridor_payments_total",
        "corridor_http_requests_total",
        "corridor_http_request_seconds_bucket",
        "corridor_open_alerts",
        "corridor_unknown_payments",
        "corridor_rail_faults_total",
        "corridor_chain_faults_total",
    ] {
        assert!(alerts.contains(metric), "{metric}: no alert");
        assert!(dashboard.contains(metric), "{metric}: not on the dashboard");
    }
}

#[test]
fn what_is_not_exported_is_found() {
    let exposed = exposed(
        "corridor_jobs{kind=\"submit\"} 0\ncorridor_jobs{kind=\"review\"} 2\ncorridor_imbalance 0\n",
    );
    for good in [
        "max(corridor_imbalance) != 0",
        "sum by (kind) (rate(corridor_jobs{kind=~\"submit|review\"}[5m])) > 0.5",
        "sum by (instance) (corridor_jobs{kind!=\"review\"})",
        "corridor_jobs{kind=~\"$kind\"}",
    ] {
        assert!(judged(good, &exposed).is_ok(), "{good}: {:?}", judged(good, &exposed));
    }
    for (bad, fault) in [
        ("up == 0", "no metric"),
        ("corridor_job > 0", "corridor_job: is not exported"),
        ("corridor_jobs{sort=\"review\"}", "no label sort"),
        ("corridor_jobs{kind=~\"submit|reviews\"}", "never reviews"),
        ("sum by (country) (corridor_jobs)", "no label country"),
        (
            "max by (kind) (corridor_jobs + corridor_imbalance)",
            "corridor_imbalance: has no label kind",
        ),
    ] {
        let found = judged(bad, &exposed).expect_err(bad);
        assert!(found.contains(fault), "{bad}: {found}");
    }
}

pub fn alerts() -> Vec<Value> {
    let rules = document(&tree("ops/monitoring/alerts.yml"));
    let groups = rules["groups"].as_array().expect("groups");
    groups.iter().flat_map(|group| group["rules"].as_array().expect("rules").clone()).collect()
}
