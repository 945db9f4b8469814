//! Models to and from the Hugging Face layout.

use std::path::Path;
use std::process::Command as Process;

use cairn_base::env;
use cairn_launch::request::{CkptExport, CkptImport, Command};
use cairn_nn::{Precision, decode};
use cairn_tensor::{HostTensor, Pool, Program, ProgramOptions};
use cairn_train::hugging_face;

use super::{MODELS, folder};
use crate::common::dispatchers;
use crate::engine::{How, RESUME, Workspace, run};

fn export(workspace: &Workspace, to: &Path, dtype: &str) -> crate::engine::Ended {
    run(
        &Command::CkptExport(CkptExport {
            path: workspace.run_dir(),
            to: to.to_path_buf(),
            dtype: dtype.to_owned(),
        }),
        0,
    )
}

fn trained(model: &str) -> Workspace {
    let workspace =
        Workspace::with_model(model, &["train_iters=8", "save_interval=0", "lr=1.0e-2"]);
    workspace.complete(How::default());
    workspace
}

#[test]
fn both_forms_of_config_json_read_the_same() {
    for name in MODELS {
        let read = |file: &str| {
            let text = std::fs::read_to_string(folder(name).join(file)).unwrap();
            hugging_face::from_config(&serde_json::from_str(&text).unwrap()).unwrap()
        };
        assert_eq!(read("config.json"), read("config.v4.json"), "{name}");
    }
}

#[test]
fn what_is_written_reads_back() {
    for name in MODELS {
        let config = hugging_face::read_config(&folder(name)).unwrap();
        let written = hugging_face::to_config(&config, cairn_formats::DType::F32);
        assert_eq!(
            hugging_face::from_config(&written).unwrap(),
            config,
            "{name}"
        );
    }
}

#[test]
fn exported_weights_import_with_the_same_bits() {
    for (index, model) in ["llama_tiny.yaml", "qwen2_tiny.yaml", "qwen3_tiny.yaml"]
        .into_iter()
        .enumerate()
    {
        let workspace = trained(model);
        let to = workspace.dir.path().join("hf");
        let ended = export(&workspace, &to, "f32");
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let other = Workspace::with_model(model, &["train_iters=3", "lr_warmup_iters=0"]);
        let import = Command::CkptImport(Box::new(CkptImport {
            from: to,
            experiment: other.experiment(),
        }));
        let ended = run(&import, 0);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let (want, got) = (workspace.newest(), other.newest());
        assert_eq!(got.step, 0);
        assert_eq!(got.records.len(), want.records.len());
        for (got, want) in got.records.iter().zip(&want.records) {
            assert_eq!(got.name, want.name);
            if want.name.contains('@') {
                assert!(
                    got.bytes.iter().all(|byte| *byte == 0),
                    "{} is not fresh",
                    got.name
                );
            } else {
                assert_eq!(got.bytes, want.bytes, "{}", got.name);
            }
        }
        if index == 0 {
            // Training goes on from there, and a second import is refused.
            other.complete(RESUME);
            assert_eq!(other.newest().step, 3);
            run(&import, 0).expect_error(
                2,
                "ckpt::run-exists",
                "already has checkpoints",
                "exp_name",
            );
        }
    }
}

#[test]
fn an_export_overwrites_nothing_and_an_import_of_another_shape_is_refused() {
    let workspace = trained("llama_tiny.yaml");
    let to = workspace.dir.path().join("hf");
    std::fs::create_dir(&to).unwrap();
    std::fs::write(to.join("config.json"), "mine").unwrap();
    export(&workspace, &to, "f32").expect_error(2, "hugging-face", "is not empty", "new folder");
    assert_eq!(
        std::fs::read_to_string(to.join("config.json")).unwrap(),
        "mine"
    );
    let fresh = workspace.dir.path().join("fresh");
    export(&workspace, &fresh, "f8").expect_error(2, "ckpt::dtype", "`f8`", "`bf16`");
    assert!(!fresh.exists());
    assert_eq!(export(&workspace, &fresh, "f32").code, Some(0));
    let other = Workspace::with_model("qwen3_tiny.yaml", &[]);
    let import = CkptImport {
        from: fresh,
        experiment: other.experiment(),
    };
    let ended = run(&Command::CkptImport(Box::new(import)), 0);
    ended.expect_error(2, "hugging-face", "family is", "preset");
    assert!(!other.checkpoints().exists());
}

/// Logits of the exported model by this engine, for comparison.
fn own_logits(dir: &Path, ids: &[i32]) -> Vec<f64> {
    let config = hugging_face::read_config(dir).unwrap();
    let mut store = hugging_face::import(dir, &config, Precision::F32).unwrap();
    let (_, dispatcher) = dispatchers().pop().unwrap();
    let graph = decode::all_logits(&config, Precision::F32, 1, ids.len()).unwrap();
    let mut program = Program::compile(graph, &dispatcher, ProgramOptions::default()).unwrap();
    store.insert("tokens", HostTensor::new([1, ids.len()], ids).unwrap());
    program.run(&mut store, &Pool::new(2).unwrap()).unwrap();
    program.output(&store, "logits").unwrap().to_f64().unwrap()
}

/// Prints the logits `transformers` computes from a folder, as JSON.
const LOGITS_PY: &str = r"
import json, sys, torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], torch_dtype=torch.float32)
ids = torch.tensor([json.loads(sys.argv[2])])
with torch.no_grad():
    print(json.dumps(model.eval()(ids).logits.flatten().tolist()))
";

#[test]
fn transformers_reads_an_export() {
    let Some(python) = env::get(&env::CAIRN_PYTHON) else {
        return cairn_base::skip("CAIRN_PYTHON names no Python with torch and transformers");
    };
    let probe = Process::new(&python)
        .args(["-c", "import torch, transformers"])
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return cairn_base::skip(
            "torch and transformers are not installed unasked: name a Python that has them in CAIRN_PYTHON",
        );
    }
    let ids: Vec<i32> = (0..24).map(|index| (index * 37 + 5) % 512).collect();
    for (model, dtype) in [
        ("llama_tiny.yaml", "f32"),
        ("qwen2_tiny.yaml", "f32"),
        ("qwen3_tiny.yaml", "bf16"),
    ] {
        let workspace = trained(model);
        let to = workspace.dir.path().join("hf");
        assert_eq!(export(&workspace, &to, dtype).code, Some(0));
        let output = Process::new(&python)
            .args(["-c", LOGITS_PY])
            .arg(&to)
            .arg(serde_json::to_string(&ids).unwrap())
            .env("HF_HUB_OFFLINE", "1")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let want: Vec<f64> = serde_json::from_slice(&output.stdout).unwrap();
        let got = own_logits(&to, &ids);
        assert_eq!(got.len(), want.len());
        let worst = got
            .iter()
            .zip(&want)
            .map(|(got, want)| (got - want).abs())
            .fold(0.0, f64::max);
        let largest = want.iter().map(|one| one.abs()).fold(0.0, f64::max);
        println!("{model} as {dtype}: logits up to {largest:.3} differ by {worst:e}");
        assert!(worst < 1e-4, "{model}: logits differ by {worst}");
        assert!(largest > 0.1, "{model}: nothing was learnt");
    }
}
