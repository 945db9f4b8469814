//! What several tests need.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_tensor::cpu::Cpu;
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::{Backend, Dispatcher, Reference};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each backend by name.
pub(crate) fn dispatchers() -> Vec<(&'static str, Dispatcher)> {
    let backends: [Arc<dyn Backend>; 2] =
        [Arc::new(Reference), Arc::new(Cpu::new(Isa::detect(), 2))];
    let names = ["reference", "cpu"];
    names
        .into_iter()
        .zip(backends)
        .map(|(name, backend)| (name, Dispatcher::new(vec![backend])))
        .collect()
}
