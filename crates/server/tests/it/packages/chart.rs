//! The Helm chart, rendered with default values and with everything enabled.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::template::{Templates, lay_over};
use super::{document, documents, known, tree};

const CHART: &str = "ops/helm/corridor";
const TEMPLATES: [&str; 10] = [
    "configmap.yaml",
    "deployment.yaml",
    "ingress.yaml",
    "migrate.yaml",
    "networkpolicy.yaml",
    "pdb.yaml",
    "relay.yaml",
    "service.yaml",
    "servicemonitor.yaml",
    "NOTES.txt",
];

fn values() -> Value {
    document(&tree(&format!("{CHART}/values.yaml")))
}

/// All objects of an installation with these values.
fn rendered(over: &Value) -> Vec<Value> {
    let texts = texts(over);
    let objects = texts.iter().filter(|(name, _)| name.ends_with(".yaml"));
    objects.flat_map(|(_, text)| documents(text)).collect()
}

fn notes(over: &Value) -> String {
    let notes = texts(over).into_iter().find(|(name, _)| *name == "NOTES.txt");
    notes.expect("notes").1
}

/// The rendered templates by their names.
fn texts(over: &Value) -> Vec<(&'static str, String)> {
    let chart = document(&tree(&format!("{CHART}/Chart.yaml")));
    let mut values = values().as_object().expect("a map").clone();
    lay_over(&mut values, over.as_object().expect("a map"));
    let context = json!({
        "Values": values,
        "Release": { "Name": "pay", "Service": "Helm" },
        "Chart": { "Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"] },
    });
    let mut templates = Templates::default();
    templates.read(&tree(&format!("{CHART}/templates/_helpers.tpl")));
    let text = |name| {
        let page = templates.read(&tree(&format!("{CHART}/templates/{name}")));
        (name, templates.render(&page, &context))
    };
    TEMPLATES.into_iter().map(text).collect()
}

fn least() -> Value {
    json!({ "secrets": { "existingSecret": "of-the-bank" } })
}

fn everything() -> Value {
    json!({
        "secrets": { "existingSecret": "of-the-bank" },
        "publicUrl": "https://pay.bank.example",
        "trustedProxies": ["10.42.0.0/16", "192.0.2.7"],
        "extraVolumes": [{ "name": "keystores", "secret": { "secretName": "keystores" } }],
        "extraVolumeMounts": [{ "name": "keystores", "mountPath": "/etc/corridor-keys", "readOnly": true }],
        "audit": { "existingClaim": "audit" },
        "image": { "tag": "1.2.3" },
        "imagePullSecrets": [{ "name": "registry" }],
        "ingress": { "enabled": true, "className": "nginx", "tlsSecret": "tls", "annotations": { "a": "b" } },
        "consoleIngress": { "enabled": true, "className": "internal", "tlsSecret": "tls", "annotations": { "a": "b" } },
        "networkPolicy": { "from": [{ "namespaceSelector": { "matchLabels": { "name": "ingress" } } }] },
        "serviceMonitor": { "enabled": true, "labels": { "release": "prometheus" } },
        "service": { "annotations": { "a": "b" } },
        "podAnnotations": { "a": "b" },
        "relays": { "warehouse": { "replicas": 2, "resources": { "limits": { "memory": "256Mi" } } } },
        "nodeSelector": { "disk": "fast" },
        "tolerations": [{ "key": "bank", "operator": "Exists" }],
        "affinity": { "nodeAffinity": {} },
    })
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// The pod template of a workload.
fn pods(objects: &[Value]) -> Vec<&Value> {
    ["Deployment", "Job"]
        .iter()
        .flat_map(|kind| of_kind(objects, kind))
        .map(|it| &it["spec"]["template"])
        .collect()
}

fn container(pod: &Value) -> &Value {
    let containers = pod["spec"]["containers"].as_array().expect("containers");
    assert_eq!(containers.len(), 1);
    &containers[0]
}

fn environment(container: &Value) -> BTreeMap<String, String> {
    let pair =
        |it: &Value| Some((it["name"].as_str()?.to_owned(), it["value"].as_str()?.to_owned()));
    container["env"]
        .as_array()
        .expect("env")
        .iter()
        .map(|it| pair(it).expect("name and text"))
        .collect()
}

fn selects(selector: &Value, labels: &Value) -> bool {
    let selector = selector.as_object().expect("a selector");
    !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[test]
fn every_object_is_whole_and_named_once() {
    for (over, count) in [(least(), 10), (everything(), 14)] {
        let objects = rendered(&over);
        let mut names: Vec<String> =
            objects.iter().map(|it| format!("{} {}", it["kind"], it["metadata"]["name"])).collect();
        for object in &objects {
            assert!(
                object["apiVersion"].is_string() && object["metadata"]["name"].is_string(),
                "{object}"
            );
            assert_eq!(
                object["metadata"]["labels"]["app.kubernetes.io/instance"], "pay",
                "{object}"
            );
        }
        assert_eq!(names.len(), count, "{names:?}");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "a name twice: {names:?}");
    }
}

#[test]
fn pods_start_the_program_with_options_variables_and_files_that_it_knows() {
    for over in [least(), everything()] {
        let objects = rendered(&over);
        let maps = of_kind(&objects, "ConfigMap");
        for pod in pods(&objects) {
            let container = container(pod);
            let args: Vec<&str> = container["args"]
                .as_array()
                .expect("args")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            known::command_line(&args);
            let variables = environment(container);
            known::environment(&variables.clone().into_iter().collect::<Vec<_>>());
            let mounted = |path: &str| {
                let mounts = container["volumeMounts"].as_array().expect("mounts");
                let mount = mounts.iter().find(|mount| mount["mountPath"] == path);
                let name = &mount.unwrap_or_else(|| panic!("{path} is not mounted"))["name"];
                let volumes = pod["spec"]["volumes"].as_array().expect("volumes");
                volumes
                    .iter()
                    .find(|volume| volume["name"] == *name)
                    .expect("the volume is there")
                    .clone()
            };
            assert!(mounted(&variables["CORRIDOR_DATA_DIR"])["emptyDir"].is_object());
            assert_eq!(
                mounted(&variables[known::SECRETS_DIR])["secret"]["secretName"],
                "of-the-bank"
            );
            let (dir, file) = variables["CORRIDOR_CONFIG"].rsplit_once('/').expect("a path");
            let volume = mounted(dir);
            let map = maps
                .iter()
                .find(|map| map["metadata"]["name"] == volume["configMap"]["name"])
                .expect("the map");
            known::configuration(map["data"][file].as_str().expect("the file"));
        }
    }
    known::secrets(&[
        "STORE__URL",
        "SECURITY__KEY_ENCRYPTION_KEY",
        "RATES__TOKEN",
        "CHAIN__NODE_URL",
    ]);
}

#[test]
fn proxies_keystores_and_the_audit_log_reach_the_pods() {
    for pod in pods(&rendered(&everything())) {
        let container = container(pod);
        let variables = environment(container);
        let overrides = vec![(
            "http.trusted_proxies".to_owned(),
            variables["CORRIDOR_HTTP__TRUSTED_PROXIES"].clone(),
        )];
        let sources = config::Sources { overrides, ..config::Sources::default() };
        let config = config::Config::load(&sources).expect("a list of proxies");
        assert_eq!(config.http.trusted_proxies, ["10.42.0.0/16", "192.0.2.7"]);
        let volume = |path: &str| {
            let mounts = container["volumeMounts"].as_array().expect("mounts");
            let mount = mounts.iter().find(|mount| mount["mountPath"] == path).expect(path);
            let volumes = pod["spec"]["volumes"].as_array().expect("volumes");
            volumes.iter().find(|volume| volume["name"] == mount["name"]).expect("a volume")
        };
        assert_eq!(volume("/etc/corridor-keys")["secret"]["secretName"], "keystores");
        let audit = &variables["CORRIDOR_AUDIT__CHECKPOINT_DIR"];
        assert_eq!(volume(audit)["persistentVolumeClaim"]["claimName"], "audit");
    }
    for pod in pods(&rendered(&least())) {
        let variables = environment(container(pod));
        assert!(!variables.contains_key("CORRIDOR_HTTP__TRUSTED_PROXIES"));
    }
}

/// The schema refuses it: the template language of the chart has no errors.
#[test]
fn an_ingress_needs_trusted_proxies() {
    let schema: Value =
        serde_json::from_str(&tree(&format!("{CHART}/values.schema.json"))).expect("JSON");
    let conditions = schema["if"]["anyOf"].as_array().expect("conditions");
    let named: Vec<&str> = conditions
        .iter()
        .map(|condition| condition["required"][0].as_str().expect("a name"))
        .collect();
    assert_eq!(named, ["ingress", "consoleIngress"]);
    for (condition, name) in conditions.iter().zip(named) {
        assert_eq!(condition["properties"][name]["properties"]["enabled"]["const"], true);
    }
    assert_eq!(schema["then"]["properties"]["trustedProxies"]["minItems"], 1);
}

#[test]
fn the_notes_name_deployments_that_exist() {
    for over in [
        least(),
        json!({ "secrets": { "existingSecret": "s" }, "roles": { "all": { "replicas": 1, "resources": {} } } }),
    ] {
        let objects = rendered(&over);
        let notes = notes(&over);
        for line in notes.lines().filter(|line| line.contains("kubectl")) {
            let name = line.split("deploy/").nth(1).and_then(|rest| rest.split(' ').next());
            let name = name.expect("a deployment");
            let known = of_kind(&objects, "Deployment");
            assert!(known.iter().any(|it| it["metadata"]["name"] == name), "{name}: {notes}");
        }
        assert!(notes.contains("audit.existingClaim"), "{notes}");
    }
    assert!(!notes(&everything()).contains("audit.existingClaim"));
}

#[test]
fn pods_run_as_the_images_user_and_can_do_nothing_else() {
    let dockerfile = tree("ops/docker/Dockerfile");
    let user = dockerfile.lines().find_map(|line| line.strip_prefix("USER ")).expect("a user");
    for pod in pods(&rendered(&everything())) {
        let security = &pod["spec"]["securityContext"];
        assert_eq!(format!("{}:{}", security["runAsUser"], security["runAsGroup"]), user);
        assert_eq!(
            (&security["runAsNonRoot"], &security["fsGroup"]),
            (&json!(true), &security["runAsGroup"])
        );
        assert_eq!(security["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(pod["spec"]["automountServiceAccountToken"], false);
        let expected = json!({
            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] },
        });
        assert_eq!(container(pod)["securityContext"], expected);
        assert!(container(pod)["resources"]["limits"]["memory"].is_string());
        // 0440 in decimal, since JSON has no octal: readable by user and group only.
        assert_eq!(pod["spec"]["volumes"][0]["secret"]["defaultMode"], 0o440);
    }
}

#[test]
fn selectors_ports_and_probes_meet() {
    let objects = rendered(&everything());
    let deployments = of_kind(&objects, "Deployment");
    assert_eq!(deployments.len(), 3);
    for deployment in &deployments {
        let (spec, pod) = (&deployment["spec"], &deployment["spec"]["template"]);
        let labels = &pod["metadata"]["labels"];
        assert!(selects(&spec["selector"]["matchLabels"], labels));
        let others = deployments
            .iter()
            .filter(|other| other["metadata"]["name"] != deployment["metadata"]["name"]);
        for other in others {
            assert!(
                !selects(&other["spec"]["selector"]["matchLabels"], labels),
                "a pod of two deployments"
            );
        }
        let port = &container(pod)["ports"][0];
        let listen = &environment(container(pod))["CORRIDOR_HTTP__LISTEN"];
        assert_eq!(*listen, format!("0.0.0.0:{}", port["containerPort"]));
        let probes = [
            ("startupProbe", "/readyz"),
            ("readinessProbe", "/readyz"),
            ("livenessProbe", "/livez"),
        ];
        // A relay is not ready without its broker, and yet must not be restarted.
        let is_relay = container(pod)["args"][0] == "relay";
        for (probe, path) in probes.into_iter().skip(usize::from(is_relay)) {
            let asked = &container(pod)[probe]["httpGet"];
            assert_eq!((&asked["path"], &asked["port"]), (&json!(path), &port["name"]), "{probe}");
        }
        let budget = of_kind(&objects, "PodDisruptionBudget")
            .into_iter()
            .filter(|budget| selects(&budget["spec"]["selector"]["matchLabels"], labels));
        // A relay may be away for a while: it would only keep a node from being drained.
        assert_eq!(budget.count(), usize::from(!is_relay));
        for policy in of_kind(&objects, "NetworkPolicy") {
            assert!(selects(&policy["spec"]["podSelector"]["matchLabels"], labels));
            assert_eq!(policy["spec"]["ingress"][0]["ports"][0]["port"], port["containerPort"]);
        }
    }
    let answering = |service: &Value| {
        let selected = |it: &&&Value| {
            selects(&service["spec"]["selector"], &it["spec"]["template"]["metadata"]["labels"])
        };
        deployments
            .iter()
            .filter(selected)
            .map(|it| it["metadata"]["name"].to_string())
            .collect::<Vec<_>>()
    };
    let services = of_kind(&objects, "Service");
    let service =
        |name: &str| *services.iter().find(|it| it["metadata"]["name"] == name).expect(name);
    assert_eq!(answering(service("pay")), ["\"pay-api\""], "workers answer no clients");
    assert_eq!(answering(service("pay-pods")).len(), 3, "all are measured");
    let monitor = of_kind(&objects, "ServiceMonitor")[0];
    assert!(selects(
        &monitor["spec"]["selector"]["matchLabels"],
        &service("pay-pods")["metadata"]["labels"]
    ));
    assert!(!selects(
        &monitor["spec"]["selector"]["matchLabels"],
        &service("pay")["metadata"]["labels"]
    ));
    assert_eq!(
        monitor["spec"]["endpoints"][0]["port"],
        service("pay-pods")["spec"]["ports"][0]["name"]
    );
}

/// Paths that only the inside may reach.
const INSIDE: [&str; 5] = ["/metrics", "/livez", "/readyz", "/sandbox/clock", "/explorer/tx/0x"];

#[test]
fn health_and_metrics_are_not_shown_to_the_world() {
    let objects = rendered(&everything());
    let rule = &of_kind(&objects, "Ingress")[0]["spec"]["rules"][0];
    for path in rule["http"]["paths"].as_array().expect("paths") {
        let prefix = path["path"].as_str().expect("a path");
        if path["pathType"] == "Exact" {
            assert!(!INSIDE.contains(&prefix), "{prefix}");
            continue;
        }
        for inside in INSIDE {
            assert!(!inside.starts_with(prefix), "{prefix} leads to {inside}");
        }
        assert_eq!(path["backend"]["service"]["name"], "pay");
    }
    assert!(of_kind(&rendered(&least()), "Ingress").is_empty());
}

#[test]
fn the_console_has_a_host_of_its_own() {
    let objects = rendered(&everything());
    let hosts = of_kind(&objects, "Ingress");
    let rule = |at: usize| &hosts[at]["spec"]["rules"][0];
    assert_ne!(rule(0)["host"], rule(1)["host"]);
    let paths = |at: usize| rule(at)["http"]["paths"].to_string();
    assert!(!paths(0).contains("/console") && paths(1).contains("/console"));
}

#[test]
fn the_schema_is_there_before_the_program_and_stopping_outlasts_draining() {
    let objects = rendered(&least());
    for object in objects.iter().filter(|it| it["metadata"]["name"] == "pay-migrate") {
        assert_eq!(
            object["metadata"]["annotations"]["helm.sh/hook"], "pre-install,pre-upgrade",
            "{object}"
        );
    }
    let [job] = of_kind(&objects, "Job")[..] else { panic!("one job") };
    assert_eq!(container(&job["spec"]["template"])["args"], json!(["migrate"]));
    for deployment in of_kind(&objects, "Deployment") {
        let spec = &deployment["spec"]["template"]["spec"];
        let pause = spec["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
            .as_u64()
            .expect("a pause");
        let grace = spec["terminationGracePeriodSeconds"].as_u64().expect("seconds");
        let drain = known::configuration("").http.drain_timeout_s;
        assert!(grace > pause + drain, "{grace} s for {pause} + {drain} s");
    }
}

/// The keys of an object, or of a schema's properties, as dotted paths.
fn paths(
    prefix: &str,
    map: &Map<String, Value>,
    deeper: fn(&Value) -> Option<&Map<String, Value>>,
) -> Vec<String> {
    let of = |(key, value): (&String, &Value)| {
        let path = format!("{prefix}{key}");
        let inner = deeper(value)
            .map(|inner| paths(&format!("{path}."), inner, deeper))
            .unwrap_or_default();
        [vec![path], inner].concat()
    };
    map.iter().flat_map(of).collect()
}

#[test]
fn the_schema_of_the_values_knows_them_all_and_no_other() {
    let schema: Value =
        serde_json::from_str(&tree(&format!("{CHART}/values.schema.json"))).expect("JSON");
    let properties = schema["properties"].as_object().expect("properties");
    let described = paths("", properties, |it| it["properties"].as_object());
    let values = values();
    let given = paths("", values.as_object().expect("a map"), |it| it.as_object());
    // Below these, everything is Kubernetes' own or an operator's name.
    let free = |path: &&String| {
        !(path.contains(".resources")
            || path.starts_with("roles.") && path.matches('.').count() > 1)
    };
    for path in given.iter().filter(free) {
        assert!(described.contains(path), "{path}: the schema does not describe it");
    }
    for path in described.iter().filter(|path| !["global", "roles.all"].contains(&path.as_str())) {
        assert!(given.contains(path), "{path}: values.yaml has no such value");
    }
    let all: Vec<&Value> = properties.values().filter(|it| it["properties"].is_object()).collect();
    assert!(
        all.iter().chain([&&schema]).all(|it| it["additionalProperties"] == false),
        "an unknown key is an error"
    );
    assert_eq!(
        properties["secrets"]["properties"]["existingSecret"]["minLength"], 1,
        "it has to be given"
    );
    let roles: Vec<&String> =
        properties["roles"]["properties"].as_object().expect("roles").keys().collect();
    for role in roles {
        known::command_line(&["serve", "--role", role]);
    }
}

#[test]
fn versions_are_the_programs() {
    let chart = document(&tree(&format!("{CHART}/Chart.yaml")));
    assert_eq!(
        (&chart["version"], &chart["appVersion"]),
        (&json!(env!("CARGO_PKG_VERSION")), &chart["version"])
    );
}
