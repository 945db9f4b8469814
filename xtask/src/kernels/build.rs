//! `cargo xtask kernels build`.

use serde_json::json;

use super::*;

pub(super) fn run(args: BuildArgs, context: &Context) -> Result {
    let request = Request {
        sources: sources(context),
        out: out(context),
        archs: match named(args.arch.as_deref())? {
            Some(archs) => archs,
            None => this_machine(context)?,
        },
        jobs: jobs(args.jobs)?,
        search: Search {
            // A path is the user's, the compiler runs among the sources.
            cc: args.cc.map(|cc| {
                if cc.components().count() > 1 {
                    context.cwd.join(cc)
                } else {
                    cc
                }
            }),
            hipcc: env::get(&env::HIPCC).map(PathBuf::from),
            rocm_home: env::get(&env::ROCM_HOME).map(PathBuf::from),
            path: env::get(&env::PATH).unwrap_or_default().into(),
        },
    };
    let progress = Progress::new("kernels", 0);
    let report = cairn_kernels::build(&request, &progress);
    drop(progress);
    let report = report.map_err(|errors| failures(&errors))?;
    for refused in &report.refused {
        context.show(&[Diagnostic::note(
            "kernels::compiler",
            format!("not used: {refused}"),
        )]);
    }
    if context.json() {
        let built: Vec<_> = report
            .built
            .iter()
            .map(|built| {
                json!({"arch": built.arch.name(), "compiled": built.compiled, "kernels": built.manifest.kernels.len(),
                    "manifest": request.out.join(built.arch.name()).join("manifest.json")})
            })
            .collect();
        let compiler = json!({"program": report.compiler.program, "from": report.compiler.origin,
            "version": report.compiler.version});
        return context.print_json(&json!({"compiler": compiler, "built": built}));
    }
    let mut text = format!(
        "compiler: {} ({})\n",
        report.compiler.version, report.compiler.origin
    );
    for built in &report.built {
        text.push_str(&format!(
            "{}: {} kernels from {} sources, {} compiled\n",
            built.arch,
            built.manifest.kernels.len(),
            built.manifest.objects.len(),
            match built.compiled {
                0 => "none".to_owned(),
                count => count.to_string(),
            }
        ));
    }
    context.print(&text)
}

/// What this machine has; without a GPU the usual two.
fn this_machine(context: &Context) -> Result<Vec<Arch>> {
    let installed = installed();
    if !installed.is_empty() {
        return archs::parse("native", "native", || installed.clone())
            .map_err(|error| failure(&error));
    }
    let names = archs::DEFAULT.map(Arch::name).join(";");
    let text = format!("this machine has no GPU: building for {names}");
    context
        .show(&[Diagnostic::note("kernels::archs", text).hint("--arch or GPU_ARCHS names others")]);
    Ok(archs::DEFAULT.to_vec())
}

/// `--jobs`, or else `MAX_JOBS`, or else one job a CPU.
fn jobs(flag: Option<usize>) -> Result<usize> {
    if let Some(jobs) = flag {
        return Ok(jobs);
    }
    match env::get(&env::MAX_JOBS) {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(value) => args::at_least_one(value.trim()).map_err(|_| {
            failure(&KernelsError::Jobs {
                origin: "MAX_JOBS",
                value: value.clone(),
            })
        }),
    }
}
