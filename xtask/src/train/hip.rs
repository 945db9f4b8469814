//! What `train --device hip` needs before the engine starts: HIP, real or
//! simulated, and the kernels of the device's architecture.

use std::collections::BTreeMap;

use cairn_base::{Diagnostic, env};
use cairn_kernels::{Arch, archs};
use cairn_launch::request::Hip;

use crate::context::{Context, Result};
use crate::{engine, kernels};

/// What is simulated on a machine without a GPU.
const SIMULATED: &str = "gfx942:1";

/// The device of a run. Unless this is only a plan, kernels and library are built.
pub(super) fn prepare(
    cpu_fallback: bool,
    only_plan: bool,
    variables: &mut BTreeMap<String, String>,
    context: &Context,
) -> Result<Hip> {
    let installed = kernels::installed();
    let mut simulated = env::get(&env::CAIRN_SIM);
    if simulated.is_none() && installed.is_empty() {
        let said = Diagnostic::note(
            "train::device",
            "this machine has no GPU: simulating one MI300X",
        );
        context.show(&[said.hint("CAIRN_SIM=gfx950:1 simulates an MI355X instead")]);
        simulated = Some(SIMULATED.to_owned());
        variables.insert(env::CAIRN_SIM.name.to_owned(), SIMULATED.to_owned());
    }
    let wanted = match &simulated {
        Some(text) => text.split(':').next().unwrap_or_default().to_owned(),
        None => "native".to_owned(),
    };
    let archs = archs::parse(&wanted, env::CAIRN_SIM.name, || installed.clone());
    let archs: Vec<Arch> = archs.map_err(|error| kernels::failure(&error))?;
    if !only_plan {
        build(archs, simulated.is_some(), context)?;
    }
    Ok(Hip {
        cpu_fallback,
        ..of(simulated.is_some(), context)
    })
}

/// A simulated device of an architecture, built; `CAIRN_SIM` is the caller's to set.
pub(crate) fn simulate(arch: Arch, context: &Context) -> Result<Hip> {
    build(vec![arch], true, context)?;
    Ok(of(true, context))
}

fn build(archs: Vec<Arch>, simulated: bool, context: &Context) -> Result {
    kernels::build_for(archs, context)?;
    if simulated {
        engine::place_simulated_hip(context, &engine::simulated_hip(context))?;
    }
    Ok(())
}

fn of(simulated: bool, context: &Context) -> Hip {
    Hip {
        ordinal: 0,
        kernels: kernels::out(context),
        libraries: engine::hip_folders(context, simulated),
        cpu_fallback: false,
    }
}
