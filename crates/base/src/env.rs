//! The environment variables Cairn reads: one table, one way to read them, so
//! that `cargo xtask doctor` can list them all.

use std::io::IsTerminal;

/// A variable Cairn reads.
#[derive(Debug, PartialEq, Eq)]
pub struct Var {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// What holds when it is unset.
    pub default: &'static str,
}

macro_rules! registry {
    ($($name:ident: $meaning:literal, default $default:literal;)*) => {
        $(
            #[doc = $meaning]
            pub static $name: Var = Var { name: stringify!($name), meaning: $meaning, default: $default };
        )*

        /// Every variable, by name.
        pub static REGISTRY: &[&Var] = &[$(&$name),*];
    };
}

registry! {
    BACKEND_PATH: "source tree of an external framework, before any other; `--backend_path` counts more", default "none";
    CAIRN_AUTO_SYNC: "`1`: `train` fetches missing third-party trees without asking", default "ask";
    CAIRN_CONFIGS: "further folders with presets, separated by colons, searched before the shipped ones", default "none";
    CAIRN_CPU: "highest CPU kernel set to use: `portable`, `avx2`, `avx512`, `avx512_bf16` or `amx`", default "the best this CPU has";
    CAIRN_PYTHON: "Python with the peers' packages (torch, tensorboard), for tests and benchmarks against them", default "for tests, the one that `cargo xtask test --setup` makes; without it they are skipped";
    CAIRN_SHARED: "folder with reference data for the parity suite", default "../shared beside the checkout";
    CAIRN_SIM: "devices of the simulated HIP, such as `gfx942:8` for eight", default "none: the simulated HIP has no device";
    CAIRN_SIM_CHECKS: "faults the simulated HIP looks for: `default`, `all` or `none`", default "default";
    CAIRN_SIM_MEMORY: "memory of each device of the simulated HIP, such as `8G`", default "4G";
    CAIRN_SIM_SAMPLE: "most workgroups of a launch that the simulated HIP runs, to estimate times of kernels too large for it; results are wrong", default "0: all";
    CAIRN_SIM_SEED: "order of workgroups and waves, and what memory holds at first, in the simulated HIP", default "0: the order of the grid";
    CAIRN_SKIP_LOG: "file to which skipped tests append their reasons; set by `cargo xtask test`", default "none";
    CAIRN_THIRDPARTY_DIR: "cache of third-party source trees", default "PRIMUS_THIRDPARTY_DIR, else .cache/cairn/third_party in HOME";
    CAIRN_THREADS: "threads the CPU engine uses; results do not depend on it", default "all CPUs this process may use";
    CARGO: "the cargo that started this process; set by cargo", default "cargo";
    CARGO_TARGET_DIR: "folder of build outputs; read by cargo", default "target";
    GPU_ARCHS: "architectures to build kernels for, separated by `;`; `native` is what this machine has", default "this machine's GPU, or else gfx942;gfx950";
    HIPCC: "compiler for kernels, tried before those of `ROCM_HOME` and `PATH`", default "none";
    HOME: "the user's folder", default "none";
    MAX_JOBS: "compilers that run at once", default "one a CPU";
    NO_COLOR: "any value: no colour in messages", default "colour on a terminal";
    PATH: "folders in which programs are searched", default "none";
    PRIMUS_THIRDPARTY_DIR: "cache of third-party source trees, when `CAIRN_THIRDPARTY_DIR` is not set", default "none";
    ROCM_HOME: "ROCm installation whose compiler is tried first", default "none";
}

/// The value of a registered variable; `None` when unset, empty or not UTF-8.
#[must_use]
pub fn get(var: &Var) -> Option<String> {
    std::env::var(var.name)
        .ok()
        .filter(|value| !value.is_empty())
}

/// True when messages on stderr should be coloured: it is a terminal and
/// `NO_COLOR` is not set.
#[must_use]
pub fn color_on_stderr() -> bool {
    get(&NO_COLOR).is_none() && std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_complete() {
        let names: Vec<_> = REGISTRY.iter().map(|var| var.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for var in REGISTRY {
            assert!(
                !var.meaning.is_empty() && !var.default.is_empty(),
                "{}",
                var.name
            );
        }
    }

    #[test]
    fn an_unset_variable_is_none() {
        let unset = Var {
            name: "CAIRN_SURELY_NOT_SET",
            meaning: "",
            default: "",
        };
        assert_eq!(get(&unset), None);
    }
}
