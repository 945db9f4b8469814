//! Metrics under test: exact numbers, cutting on resume, TensorBoard's own
//! reader, the endpoint over a real socket.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use cairn_base::{FileErrorKind, env};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn step(step: u64) -> StepMetrics {
    StepMetrics {
        step,
        loss: 1.0 / (step as f32 + 0.1),
        lr: 2.0e-3 / step as f64,
        grad_norm: 0.3 + step as f32,
        tokens: step * 2048,
        tokens_per_s: 4567.8,
        step_ms: 448.4,
        mem_bytes: 1 << 28,
    }
}

fn eval(step: u64) -> EvalMetrics {
    EvalMetrics {
        step,
        val_loss: 1.5 + 1.0 / step as f64,
        val_bits_per_char: 0.7,
    }
}

fn lines(dir: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.join(name)).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_step_is_one_object_with_the_documented_keys() {
    let dir = tempfile::tempdir().unwrap();
    let (mut metrics, warnings) = Metrics::create(dir.path(), &Settings::default()).unwrap();
    assert!(warnings.is_empty());
    metrics.step(&step(1)).unwrap();
    metrics.eval(&eval(1)).unwrap();
    metrics
        .sample(&Sample {
            step: 1,
            prompt: "fn ".into(),
            text: "x\n\"".into(),
        })
        .unwrap();
    metrics.sync().unwrap();
    let found = lines(dir.path(), METRICS_NAME);
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        keys(&found[0]),
        "step loss lr grad_norm tokens tokens_per_s step_ms mem_bytes"
    );
    assert_eq!(keys(&found[1]), "step val_loss val_bits_per_char");
    assert_eq!(
        lines(dir.path(), SAMPLES_NAME),
        [json!({"step": 1, "prompt": "fn ", "text": "x\n\""})]
    );
    assert!(!dir.path().join(TENSORBOARD_NAME).exists());
    assert_eq!(metrics.prometheus_address(), None);
}

#[test]
fn numbers_that_are_none_become_null_and_come_back_as_nan() {
    let text = serde_json::to_string(&StepMetrics {
        loss: f32::NAN,
        grad_norm: f32::INFINITY,
        ..step(3)
    })
    .unwrap();
    assert!(
        text.contains("\"loss\":null") && text.contains("\"grad_norm\":null"),
        "{text}"
    );
    let back: StepMetrics = serde_json::from_str(&text).unwrap();
    assert!(back.loss.is_nan() && back.grad_norm.is_nan());
    assert_eq!(back.lr, step(3).lr);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn finite_numbers_come_back_with_the_same_bits(single in any::<u32>(), double in any::<u64>()) {
        let (loss, lr) = (f32::from_bits(single), f64::from_bits(double));
        prop_assume!(loss.is_finite() && lr.is_finite());
        let text = serde_json::to_string(&StepMetrics { loss, lr, ..step(1) }).unwrap();
        let back: StepMetrics = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back.loss.to_bits(), single);
        prop_assert_eq!(back.lr.to_bits(), double);
    }
}

#[test]
fn after_a_resume_each_step_stands_there_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut metrics, _) = Metrics::create(dir.path(), &Settings::default()).unwrap();
    for s in 1..=7 {
        metrics.step(&step(s)).unwrap();
        if s % 2 == 0 {
            metrics.eval(&eval(s)).unwrap();
        }
    }
    drop(metrics);
    // Killed in the middle of a line.
    let path = dir.path().join(METRICS_NAME);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(br#"{"step":8,"loss":0.1"#).unwrap();

    let (mut metrics, warnings) = Metrics::resume(dir.path(), &Settings::default(), 4).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    for s in 5..=6 {
        metrics.step(&step(s)).unwrap();
    }
    let steps: Vec<_> = lines(dir.path(), METRICS_NAME)
        .iter()
        .map(|line| {
            (
                line["step"].as_u64().unwrap(),
                line.get("val_loss").is_some(),
            )
        })
        .collect();
    let train = |s| (s, false);
    let wanted = [
        train(1),
        train(2),
        (2, true),
        train(3),
        train(4),
        (4, true),
        train(5),
        train(6),
    ];
    assert_eq!(steps, wanted);
}

#[test]
fn lines_are_cut_by_what_they_say() {
    // Text before, step resumed at, text after, warnings.
    let table: [(&str, u64, &str, usize); 9] = [
        ("", 3, "", 0),
        (
            "{\"step\":1}\n{\"step\":2}\n",
            2,
            "{\"step\":1}\n{\"step\":2}\n",
            0,
        ),
        ("{\"step\":1}\n{\"step\":2}\n", 0, "", 0),
        ("{\"step\":1}\n{\"st", 5, "{\"step\":1}\n", 0),
        // Whole JSON, but its line was never ended.
        ("{\"step\":1}\n{\"step\":2}", 5, "{\"step\":1}\n", 0),
        (
            "{\"step\":1}\nrubbish\n{\"step\":2}\n",
            5,
            "{\"step\":1}\n{\"step\":2}\n",
            1,
        ),
        ("{\"step\":-1}\n[1]\n{\"loss\":1}\n", 5, "", 3),
        // The same twice: the later one counts. Another kind of line does not.
        (
            "{\"step\":1,\"a\":1}\n{\"step\":1,\"b\":1}\n{\"step\":1,\"a\":2}\n",
            5,
            "{\"step\":1,\"b\":1}\n{\"step\":1,\"a\":2}\n",
            0,
        ),
        ("\u{fffd}\u{0}\n{\"step\":1}\n", 1, "{\"step\":1}\n", 1),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (before, at, after, count) in table {
        let path = dir.path().join("x.jsonl");
        fs::write(&path, before).unwrap();
        let (_, warnings) = JsonLines::resume(&path, at).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{before}");
        assert_eq!(warnings.len(), count, "{before}: {warnings:?}");
    }
    let (_, warnings) = JsonLines::resume(&dir.path().join("new.jsonl"), 3).unwrap();
    assert!(warnings.is_empty() && dir.path().join("new.jsonl").exists());
}

#[test]
fn a_run_directory_that_is_a_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    fs::write(&path, "mine").unwrap();
    let error = Metrics::create(&path, &Settings::default()).unwrap_err();
    assert!(error.to_string().contains("run"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_full_disk_is_reported_as_such() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return cairn_base::skip("no /dev/full");
    }
    let mut lines = JsonLines::open(full).unwrap();
    assert_eq!(
        lines.append(&step(1)).unwrap_err().kind,
        FileErrorKind::Full
    );
}

/// TensorBoard's reading of a folder; `None` after recording a skip.
fn read_tensorboard(dir: &Path) -> Option<Value> {
    let Some(python) = env::get(&env::CAIRN_PYTHON) else {
        cairn_base::skip("no Python with tensorboard: `cargo xtask test --setup` makes one");
        return None;
    };
    let has = Command::new(&python)
        .args(["-c", "import tensorboard"])
        .output();
    if !has.is_ok_and(|output| output.status.success()) {
        cairn_base::skip("CAIRN_PYTHON has no tensorboard package");
        return None;
    }
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/scripts/read_tensorboard.py"
    );
    let output = Command::new(python).arg(script).arg(dir).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn tensorboard_reads_what_was_written_once_after_a_resume() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        tensorboard: true,
        experiment: "a: 1\nb: 2".into(),
        ..Settings::default()
    };
    let (mut metrics, _) = Metrics::create(dir.path(), &settings).unwrap();
    for s in 1..=6 {
        metrics.step(&step(s)).unwrap();
    }
    metrics.eval(&eval(4)).unwrap();
    drop(metrics);
    let (mut metrics, _) = Metrics::resume(dir.path(), &settings, 4).unwrap();
    // Another value than the cut step 5 had, to see which one is shown.
    metrics
        .step(&StepMetrics {
            loss: 9.5,
            ..step(5)
        })
        .unwrap();
    metrics
        .sample(&Sample {
            step: 5,
            prompt: "pub fn ".into(),
            text: "é".into(),
        })
        .unwrap();
    drop(metrics);

    let Some(found) = read_tensorboard(&dir.path().join(TENSORBOARD_NAME)) else {
        return;
    };
    let points = |tag: &str| -> Vec<(u64, f32)> {
        found["scalars"][tag]
            .as_array()
            .unwrap_or_else(|| panic!("no {tag} in {found}"))
            .iter()
            .map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_f64().unwrap() as f32))
            .collect()
    };
    let mut wanted: Vec<_> = (1..=4).map(|s| (s, step(s).loss)).collect();
    wanted.push((5, 9.5));
    assert_eq!(points("loss"), wanted);
    assert_eq!(points("lr")[1], (2, step(2).lr as f32));
    assert_eq!(points("grad-norm").len(), 5);
    assert_eq!(points("tokens-per-second")[0], (1, 4567.8));
    assert_eq!(points("memory-bytes")[0].1, (1u32 << 28) as f32);
    assert_eq!(points("validation loss"), [(4, eval(4).val_loss as f32)]);
    assert_eq!(
        found["texts"]["experiment"][0],
        json!([0, "    a: 1\n    b: 2\n"])
    );
    assert_eq!(found["texts"]["sample"], json!([[5, "    pub fn é\n"]]));
}

fn request(address: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn prometheus_gets_the_numbers_and_a_busy_port_is_only_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        prometheus: Some(([127, 0, 0, 1], 0).into()),
        run_name: "a \"run\"".into(),
        ..Settings::default()
    };
    let (mut metrics, warnings) = Metrics::create(dir.path(), &settings).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let address = metrics.prometheus_address().unwrap();
    metrics.step(&step(7)).unwrap();
    metrics.eval(&eval(2)).unwrap();

    let answer = request(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let run = r#"{run="a \"run\""}"#;
    assert_eq!(answer.lines().last(), Some("# EOF"));
    for (name, value) in [
        ("step", 7.0),
        ("tokens_total", (7 * 2048) as f64),
        ("loss", f64::from(step(7).loss)),
        ("step_seconds", step(7).step_ms / 1e3),
        ("validation_loss", eval(2).val_loss),
    ] {
        let start = format!("cairn_{name}{run} ");
        let found: Vec<_> = answer
            .lines()
            .filter_map(|line| line.strip_prefix(&start))
            .collect();
        assert_eq!(found.len(), 1, "{start}: {answer}");
        assert_eq!(found[0].parse::<f64>().unwrap(), value, "{name}");
    }
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    assert!(
        answer.contains(&format!("Content-Length: {}\r\n", body.len())),
        "{answer}"
    );
    for (text, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("GET /metrics?x=1 HTTP/1.1\r\n\r\n", "200"),
        ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
        ("\r\n\r\n", "405"),
    ] {
        assert!(
            request(address, text).starts_with(&format!("HTTP/1.1 {status}")),
            "{text}"
        );
    }

    let busy = Settings {
        prometheus: Some(address),
        ..settings.clone()
    };
    let other = tempfile::tempdir().unwrap();
    let (mut second, warnings) = Metrics::create(other.path(), &busy).unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        !warnings[0].is_error() && warnings[0].message.contains(&address.to_string()),
        "{warnings:?}"
    );
    second.step(&step(1)).unwrap();

    // The port is free again when the run has ended.
    drop(metrics);
    Endpoint::start(address, "next").unwrap();
}

#[test]
fn a_client_that_says_nothing_does_not_keep_the_run_from_ending() {
    let endpoint = Endpoint::start(([127, 0, 0, 1], 0).into(), "run").unwrap();
    let mut silent = TcpStream::connect(endpoint.address()).unwrap();
    silent.write_all(b"GET /metr").unwrap();
    drop(endpoint);
    let mut answer = Vec::new();
    // Closed without an answer, or reset: either way it is over.
    let _ = silent.read_to_end(&mut answer);
    assert!(answer.is_empty());
}
