//! The report under test: complete, self-contained, escaped, and standing
//! whatever the files of a run hold.

use std::fs;

use cairn_base::FileErrorKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::metrics::{EvalMetrics, Metrics, Sample, Settings, StepMetrics};

const NASTY: &str = "</script><script>alert(1)</script><img src=x onerror='a'>\"&";

/// A run of `steps` steps with a sample, an experiment and hostile text in it.
fn run(dir: &Path, steps: u64) {
    let (mut metrics, _) = Metrics::create(dir, &Settings::default()).unwrap();
    for step in 1..=steps {
        metrics
            .step(&StepMetrics {
                step,
                loss: 1.5 + 7.0 / step as f32,
                lr: 1e-3,
                grad_norm: 0.5,
                tokens: step * 2048,
                tokens_per_s: 15_000.0,
                step_ms: 136.0,
                mem_bytes: 400 << 20,
            })
            .unwrap();
    }
    metrics
        .eval(&EvalMetrics {
            step: steps,
            val_loss: 1.625,
            val_bits_per_char: 0.815,
        })
        .unwrap();
    metrics
        .sample(&Sample {
            step: steps,
            prompt: "fn ".into(),
            text: NASTY.into(),
        })
        .unwrap();
    let experiment = json!({
        "experiment": {
            "exp_meta_info": {"exp_name": NASTY, "user_name": "ada"},
            "modules": [{"model": "llama_10M.yaml"}],
        },
        "origins": [
            {"key": "train_iters", "value": 40000, "origin": "configs/quickstart.yaml:21"},
            {"key": "data.paths", "value": ["a", NASTY], "origin": NASTY},
        ],
    });
    fs::write(dir.join(EXPERIMENT_NAME), experiment.to_string()).unwrap();
}

/// Every element is closed, in order; attributes are quoted. Content of script
/// and style is skipped as a browser does: up to the first end tag.
fn assert_well_formed(markup: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        assert!(!tag.contains('<'), "stray < in {tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag}");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "end tag");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap().to_owned();
        let void = ["!doctype", "meta", "input"].contains(&name.as_str()) || tag.ends_with('/');
        if name == "script" || name == "style" {
            let end = format!("</{name}>");
            rest = &rest[rest.find(&end).expect("script and style end") + end.len()..];
        } else if !void {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

fn data(html: &str) -> Value {
    let start = "id=\"data\">";
    let from = &html[html.find(start).unwrap() + start.len()..];
    serde_json::from_str(&from[..from.find("</script>").unwrap()]).unwrap()
}

#[test]
fn the_page_shows_the_run_and_needs_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 400);
    let path = write(dir.path(), None).unwrap();
    assert_eq!(path, dir.path().join("report.html"));
    let html = fs::read_to_string(path).unwrap();
    assert_well_formed(&html);
    for shown in [
        "<dd>400</dd>",
        "of 40,000",
        "<dd>1.625</dd>",
        "<dd>0.815</dd>",
        "<dd>400 MiB</dd>",
        "819,200 exactly",
        "configs/quickstart.yaml:21",
        "ada · llama_10M.yaml</p>",
        "Bits per character",
        "mean of 10",
    ] {
        assert!(html.contains(shown), "no {shown}");
    }
    for id in ["loss", "lr", "grad-norm", "throughput", "memory"] {
        assert!(html.contains(&format!("<figure id=\"{id}\">")), "no {id}");
    }
    // Nothing is fetched: no address but the name of the SVG namespace, no import.
    let html = html.replace("http://www.w3.org/2000/svg", "");
    for external in [
        "http:", "https:", "//cdn", "@import", "url(", "src=\"", "href=\"",
    ] {
        assert!(!html.contains(external), "{external}");
    }
}

#[test]
fn the_data_behind_the_charts_is_the_data_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 5);
    let data = data(&html(dir.path()).unwrap());
    let series = &data["loss"]["series"];
    assert_eq!(series[0]["name"], "training");
    assert_eq!(series[0]["points"][1], json!([2, 5.0]));
    assert_eq!(series[0]["points"].as_array().unwrap().len(), 5);
    assert_eq!(series[1]["points"], json!([[5, 1.625]]));
    assert_eq!(data["memory"]["series"][0]["points"][0], json!([1, 400.0]));
    assert_eq!(data["memory"]["unit"], "MiB");
}

#[test]
fn text_from_files_cannot_become_markup() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 3);
    let html = html(dir.path()).unwrap();
    assert_well_formed(&html);
    assert!(
        !html.contains("<script>alert") && !html.contains("<img"),
        "unescaped"
    );
    let escaped = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&quot;&amp;";
    assert_eq!(
        html.matches(escaped).count(),
        4,
        "title, heading, sample, origin"
    );
}

#[test]
fn the_loss_curve_is_a_picture_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 30);
    let svg = fs::read_to_string(write_loss_curve(dir.path()).unwrap()).unwrap();
    assert_well_formed(&svg);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    let path = &svg[svg.find("class=\"line main\" d=\"").unwrap()..];
    let path = &path[..path.find("/>").unwrap()];
    assert_eq!(
        path.matches(['M', 'L']).count(),
        30,
        "one vertex a step: {path}"
    );
    assert!(svg.contains(">validation</text>") && svg.contains("nats per token"));
}

#[test]
fn a_broken_run_still_has_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let good = "{\"step\":1,\"loss\":2.5,\"lr\":0.001}\n";
    let nan = "{\"step\":2,\"loss\":null,\"lr\":0.001}\n";
    let table: [(String, &[&str]); 5] = [
        (String::new(), &["No step is on record yet"]),
        (
            format!("{good}{nan}"),
            &[
                "not a finite number at step 2",
                "<path class=\"bad\"",
                "<dd>not finite</dd>",
            ],
        ),
        (
            format!("{good}rubbish\n{{\"step\":3"),
            &["1 damaged line in metrics.jsonl", "<dd>2.500</dd>"],
        ),
        (format!("{nan}{good}"), &["<circle class=\"dot main\""]),
        ("{\"step\":7}\n".into(), &["No step is on record yet"]),
    ];
    for (lines, shown) in table {
        fs::write(dir.path().join("metrics.jsonl"), &lines).unwrap();
        let html = html(dir.path()).unwrap();
        assert_well_formed(&html);
        assert!(!html.contains("NaN"), "{lines}");
        for part in shown {
            assert!(html.contains(part), "no {part} for {lines}");
        }
    }
}

#[test]
fn without_metrics_there_is_no_report() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_path_buf(), dir.path().join("none")] {
        let error = write(&path, None).unwrap_err();
        assert_eq!(error.kind, FileErrorKind::NotFound);
        assert!(error.to_string().contains("metrics.jsonl"), "{error}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn an_experiment_of_another_shape_is_listed_leaf_by_leaf() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 3);
    let experiment = json!({"exp_name": "flat", "modules": [{"params": {"lr": 0.5, "betas": [0.9, 0.95], "none": null}}]});
    fs::write(dir.path().join(EXPERIMENT_NAME), experiment.to_string()).unwrap();
    let shown = html(dir.path()).unwrap();
    assert!(shown.contains("<h1>flat</h1>") && !shown.contains("Decided by"));
    for row in [
        "<code>modules.0.params.lr</code></td><td>0.5</td>",
        "<code>modules.0.params.betas</code></td><td>[0.9,0.95]</td>",
        "<code>modules.0.params.none</code></td><td>null</td>",
    ] {
        assert!(shown.contains(row), "no {row}");
    }
    fs::write(dir.path().join(EXPERIMENT_NAME), "rubbish").unwrap();
    let shown = html(dir.path()).unwrap();
    let folder = dir.path().file_name().unwrap().to_str().unwrap();
    assert!(shown.contains(&format!("<h1>{folder}</h1>")) && !shown.contains("Decided by"));
}

#[test]
fn checkpoints_are_listed_with_their_state() {
    use crate::checkpoint::{Options, Snapshot, save_now};
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 3);
    let folder = dir.path().join("checkpoints");
    for step in [1, 2] {
        let snapshot: Snapshot = Snapshot {
            step,
            records: vec![],
            state: json!({}),
            experiment: json!({}),
        };
        save_now(&folder, &snapshot, &Options::default()).unwrap();
    }
    fs::remove_file(folder.join("step-00000002/manifest.json")).unwrap();
    let html = html(dir.path()).unwrap();
    assert!(html.contains("<code>checkpoints/step-00000001</code>"));
    assert!(html.contains("<td class=\"good\">complete</td>"));
    assert!(html.contains("<td class=\"bad\">") && html.contains("manifest.json is missing"));
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("text")),
        any::<f64>().prop_map(|value| json!(value)),
        any::<f32>().prop_map(|value| json!(value)),
        (-2.0..9.0f64).prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        Just(json!(0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any numbers, steps in any order, any bytes between them.
    #[test]
    fn any_metrics_file_gives_a_sound_page(
        rows in prop::collection::vec((any::<u64>(), 0u64..50, any::<bool>(), prop::collection::vec(number(), 8)), 0..80),
        rubbish in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let keys = ["loss", "lr", "grad_norm", "tokens", "tokens_per_s", "step_ms", "mem_bytes", "val_loss"];
        let mut text = rubbish;
        for (large, small, take_large, values) in rows {
            let step = if take_large { large } else { small };
            let mut line = serde_json::Map::from_iter([("step".to_owned(), json!(step))]);
            line.extend(keys.iter().zip(values).map(|(key, value)| ((*key).to_owned(), value)));
            text.push(b'\n');
            text.extend(Value::Object(line).to_string().bytes());
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("metrics.jsonl"), text).unwrap();
        let html = html(dir.path()).unwrap();
        assert_well_formed(&html);
        // Positions are numbers, whatever the values are.
        prop_assert!(!html.contains("NaN") && !html.contains("\"inf"));
        let svg = fs::read_to_string(write_loss_curve(dir.path()).unwrap()).unwrap();
        assert_well_formed(&svg);
    }
}
