//! `cargo xtask sim`: AMD kernels on the CPU.

use std::path::PathBuf;

use cairn_base::Diagnostic;
use cairn_launch::request::{self, SimProfile, SimRun, SimUnsupported};

use crate::context::{Context, Failure, Result};
use crate::engine::{self, Start};

/// Run AMD kernels on the CPU and find their faults
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask sim run add.hsaco --grid 4 --workgroup 256 random:f32:1000 random:f32:1000 blank:f32:1000 u32:1000"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(RunArgs),
    Profile(ProfileArgs),
    Unsupported(UnsupportedArgs),
    Library(LibraryArgs),
}

/// Run a kernel, exactly, and tell what is wrong with it
///
/// An argument is a number (i32:5, u32:5, i64:5, u64:5, f32:0.5), a structure by its
/// words (words:1,2,3), or memory of so many elements: random, zeros, ones, ramp or blank
/// (never written), as in random:bf16:1024 with f32, f64, bf16, f16, i32, u32 or u8.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask sim run add.hsaco --grid 4 --workgroup 256 random:f32:1000 random:f32:1000 blank:f32:1000 u32:1000"
)]
struct RunArgs {
    /// The code object
    #[arg(value_name = "OBJECT")]
    object: PathBuf,
    /// The kernel; not needed where the object has one only
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Workgroups in x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1", value_parser = three)]
    grid: [u32; 3],
    /// Work-items of a workgroup in x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "64", value_parser = three)]
    workgroup: [u32; 3],
    /// Bytes of LDS beside what the kernel declares
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    lds: u32,
    /// Faults to look for
    #[arg(long, value_name = "WHICH", default_value = "default", value_parser = ["default", "all", "none"])]
    checks: String,
    /// Accumulate matrix products in f32 instead of as the hardware does
    #[arg(long)]
    fast: bool,
    /// Decides the order of workgroups and waves, and what registers hold at first
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Run so often, each time with the next seed; all must give the same bits
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeats: u32,
    /// Most instructions of a wave
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    budget: u64,
    /// Threads; without, `CAIRN_THREADS` or as many as there are cores
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The arguments of the kernel, in order
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// Run a kernel and write its listing with what each instruction cost
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  cargo xtask sim profile add.hsaco --html add.html --workgroup 256 random:f32:256 random:f32:256 blank:f32:256 u32:256"
)]
struct ProfileArgs {
    /// Where to write the listing as text; without this and --html, stdout
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Where to write the listing as one HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// List the instructions that are known and not executed, with their number
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask sim unsupported --arch gfx950")]
struct UnsupportedArgs {
    /// The architecture
    #[arg(long, value_name = "ARCH", value_parser = ["gfx942", "gfx950"])]
    arch: String,
}

/// Build the library that programs for HIP load instead of the real one
///
/// `CAIRN_SIM=gfx942:8` then gives a program eight devices; `cargo xtask doctor` lists the
/// variables.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask sim library --out target/sim")]
struct LibraryArgs {
    /// The folder for libamdhip64.so; without, `sim` in the target folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl LibraryArgs {
    fn run(self, context: &Context) -> Result {
        let folder = match self.out {
            Some(out) => context.cwd.join(out),
            None => engine::simulated_hip(context),
        };
        let library = engine::place_simulated_hip(context, &folder)?;
        if context.json() {
            return context.print_json(&serde_json::json!({ "library": library }));
        }
        context.print(&format!(
            "{}\nfor eight devices: CAIRN_SIM=gfx942:8 LD_LIBRARY_PATH={} PROGRAM\n",
            library.display(),
            folder.display()
        ))
    }
}

/// One to three numbers; those left out are 1.
fn three(text: &str) -> std::result::Result<[u32; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("more than three numbers".to_owned());
    }
    for (place, part) in out.iter_mut().zip(parts) {
        *place = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` is no number of work-items or workgroups"))?;
    }
    Ok(out)
}

impl RunArgs {
    fn request(self, context: &Context) -> Result<(SimRun, Start)> {
        context.must_exist("code object", &self.object)?;
        if self.repeats == 0 {
            let message = "--repeats 0 runs nothing";
            return Err(Failure::wrong(Diagnostic::error("sim::repeats", message)));
        }
        let start = Start {
            threads: self.threads,
            ..Start::default()
        };
        let run = SimRun {
            object: self.object,
            kernel: self.kernel,
            grid: self.grid,
            workgroup: self.workgroup,
            dynamic_lds: self.lds,
            arguments: self.arguments,
            checks: self.checks,
            fast: self.fast,
            seed: self.seed,
            repeats: self.repeats,
            budget: self.budget,
        };
        Ok((run, start))
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result {
    let (command, start) = match args.command {
        Command::Run(args) => {
            let (run, start) = args.request(context)?;
            (request::Command::SimRun(Box::new(run)), start)
        }
        Command::Profile(args) => {
            let (run, start) = args.run.request(context)?;
            let profile = SimProfile {
                run,
                text: args.text,
                html: args.html,
            };
            (request::Command::SimProfile(Box::new(profile)), start)
        }
        Command::Unsupported(args) => {
            let list = SimUnsupported { arch: args.arch };
            (request::Command::SimUnsupported(list), Start::default())
        }
        Command::Library(args) => return args.run(context),
    };
    engine::become_engine(context, "sim", command, start)
}

#[cfg(test)]
mod tests {
    use super::three;

    #[test]
    fn sizes_have_one_to_three_numbers() {
        assert_eq!(three("4"), Ok([4, 1, 1]));
        assert_eq!(three("4,2,3"), Ok([4, 2, 3]));
        assert!(three("4,x").is_err());
        assert!(three("1,1,1,1").is_err());
    }
}
