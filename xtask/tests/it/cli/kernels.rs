//! `kernels` with the compilers of this machine, and without any.

use super::{outcome, xtask};

/// `cargo xtask kernels`, whatever the user's environment says.
fn kernels(words: &[&str]) -> cairn_base::Exec {
    let mut exec = xtask(&[&["kernels"], words].concat());
    for variable in ["GPU_ARCHS", "HIPCC", "MAX_JOBS", "ROCM_HOME"] {
        exec = exec.env_remove(variable);
    }
    exec
}

#[test]
fn wrong_variables_end_with_2() {
    for (variable, value, expected) in [
        ("GPU_ARCHS", "gfx1100", "unknown architecture `gfx1100`"),
        ("GPU_ARCHS", ";", "GPU_ARCHS names no architecture"),
        ("MAX_JOBS", "many", "MAX_JOBS is `many`"),
        ("MAX_JOBS", "0", "MAX_JOBS is `0`"),
    ] {
        let exec = kernels(&["build"]).env(variable, value);
        let (code, stdout, stderr) = outcome(&exec);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn without_a_compiler_the_message_says_what_to_install() {
    let (code, _, stderr) = outcome(&kernels(&["build", "--arch", "gfx942"]).env("PATH", ""));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("no compiler here builds kernels for gfx942"),
        "{stderr}"
    );
    assert!(stderr.contains("install clang 22"), "{stderr}");
    let elsewhere = kernels(&["build", "--arch", "gfx942"])
        .env("PATH", "")
        .env("ROCM_HOME", "/no/rocm");
    let (code, _, stderr) = outcome(&elsewhere);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("/no/rocm/llvm/bin/amdclang++ (ROCM_HOME): there is no such file"),
        "{stderr}"
    );
}

/// Compiles what is not in the cache of the target folder.
#[test]
fn all_kernels_build_and_keep_their_limits() {
    let archs = ["--arch", "gfx90a;gfx942;gfx950"];
    let build = || {
        outcome(&kernels(
            &[&["build", "--format", "json"], &archs[..]].concat(),
        ))
    };
    let (code, stdout, stderr) = build();
    if stderr.contains("kernels::no-compiler") {
        return cairn_base::skip("no compiler for gfx90a, gfx942 and gfx950");
    }
    assert_eq!(code, Some(0), "{stderr}");
    let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let counts: Vec<_> = answer["built"]
        .as_array()
        .unwrap()
        .iter()
        .map(|built| &built["kernels"])
        .collect();
    assert_eq!(counts.len(), 3);
    assert!(
        counts
            .iter()
            .all(|count| **count == *counts[0] && count.as_u64() > Some(30)),
        "{counts:?}"
    );
    let (code, stdout, stderr) = outcome(&kernels(&[&["check"], &archs[..]].concat()));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stdout.contains("keep what their sources declare"),
        "{stdout}"
    );
    let (code, stdout, stderr) = build();
    assert_eq!(code, Some(0), "{stderr}");
    let again: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    for built in again["built"].as_array().unwrap() {
        assert_eq!(built["compiled"], 0, "{again}");
    }
    let (code, stdout, stderr) =
        outcome(&kernels(&["inspect", "gemm_bf16_nt", "--arch", "gfx950"]));
    assert_eq!(code, Some(0), "{stderr}");
    for expected in [
        "gemm_bf16_gfx950.hip",
        "131072 bytes",
        "512 lanes",
        "global_buffer at 0, 8 bytes",
    ] {
        assert!(stdout.contains(expected), "{expected}:\n{stdout}");
    }
    let (code, _, stderr) = outcome(&kernels(&["inspect", "gemm_bf16_n", "--arch", "gfx950"]));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("did you mean `gemm_bf16_n"), "{stderr}");
}
