//! Times resolving an experiment: `time_resolve EXPERIMENT ROOT...` prints
//! JSON with the number of parameters and the times of warm runs in
//! microseconds.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cairn_config::{Options, SystemEnv, SystemFiles, resolve};

const WARM: usize = 20;
const RUNS: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(experiment) = arguments.next() else {
        eprintln!("usage: time_resolve EXPERIMENT ROOT...");
        std::process::exit(2);
    };
    let roots: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let options = Options {
        files: &SystemFiles,
        env: &SystemEnv,
        roots: &roots,
        overrides: &[],
        module: "pre_trainer",
    };
    let mut times = Vec::with_capacity(RUNS);
    let mut parameters = 0;
    for run in 0..WARM + RUNS {
        let started = Instant::now();
        let (resolved, diagnostics) = resolve(Path::new(&experiment), &options);
        let elapsed = started.elapsed();
        let Some(resolved) = resolved else {
            for diagnostic in diagnostics {
                eprintln!("{}", diagnostic.render(false));
            }
            std::process::exit(2);
        };
        parameters = resolved
            .module()
            .and_then(|module| module.params.as_map())
            .map_or(0, |map| map.len());
        if run >= WARM {
            times.push(elapsed.as_micros());
        }
    }
    times.sort_unstable();
    let at = |share: usize| {
        times
            .get((times.len() - 1) * share / 100)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{}",
        serde_json::json!({"parameters": parameters, "runs": RUNS, "min_us": at(0), "median_us": at(50), "p90_us": at(90), "max_us": at(100)})
    );
}
