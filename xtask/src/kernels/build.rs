//! `cargo xtask kernels build`.

use serde_json::json;

use super::*;

pub(super) fn run(args: BuildArgs, context: &Context) -> Result {
    let archs = match named(args.arch.as_deref())? {
        Some(archs) => archs,
        None => this_machine(context)?,
    };
    // A path is the user's, the compiler runs among the sources.
    let cc = args.cc.map(|cc| {
        if cc.components().count() > 1 {
            context.cwd.join(cc)
        } else {
            cc
        }
    });
    let report = build(archs, jobs(args.jobs)?, cc, context)?;
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
                    "manifest": out(context).join(built.arch.name()).join("manifest.json")})
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

/// Builds what is not built yet for these architectures, with the compiler that the
/// environment names or has.
pub(crate) fn build_for(archs: Vec<Arch>, context: &Context) -> Result {
    build(archs, jobs(None)?, None, context).map(drop)
}

fn build(
    archs: Vec<Arch>,
    jobs: usize,
    cc: Option<PathBuf>,
    context: &Context,
) -> Result<cairn_kernels::Report> {
    let request = Request {
        sources: sources(context),
        out: out(context),
        archs,
        jobs,
        search: Search {
            cc,
            hipcc: env::get(&env::HIPCC).map(PathBuf::from),
            rocm_home: env::get(&env::ROCM_HOME).map(PathBuf::from),
            path: env::get(&env::PATH).unwrap_or_default().into(),
        },
    };
    let progress = Progress::new("kernels", 0);
    let report = cairn_kernels::build(&request, &progress);
    drop(progress);
    report.map_err(|errors| failures(&errors))
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
