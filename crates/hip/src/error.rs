//! What can go wrong before anything runs.

use cairn_codeobj::Arch;
use cairn_hip_sys::LoadError;
use cairn_kernels::KernelsError;

use crate::tiles::TilesError;

/// Why there is no GPU to work on.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// HIP cannot be opened.
    #[error(transparent)]
    Library(#[from] LoadError),
    /// HIP has no device of this number.
    #[error("HIP has no device {ordinal}: {reason}")]
    NoDevice {
        /// The number asked for.
        ordinal: i32,
        /// What HIP says.
        reason: String,
    },
    /// No kernels are written for the device.
    #[error(
        "device {ordinal} is a `{name}`, for which there are no kernels; there are for {}",
        known()
    )]
    UnknownArch {
        /// The device.
        ordinal: i32,
        /// What HIP calls its architecture.
        name: String,
    },
    /// The kernels cannot be used.
    #[error(transparent)]
    Kernels(#[from] KernelsError),
    /// The table of tiles cannot be used.
    #[error(transparent)]
    Tiles(#[from] TilesError),
}

fn known() -> String {
    Arch::ALL.map(Arch::name).join(", ")
}
