//! HIP's C interface on the simulator: a shared library of its own with the name
//! `libamdhip64.so`, which programs written for HIP load instead of the real one.
//!
//! `CAIRN_SIM=gfx942:8` gives eight devices. Work of a stream is done when it is given, so
//! every order that HIP promises holds; what a kernel did wrong is printed at once, and
//! returned as HIP does: by the next call that waits, and by every one after it.
//!
//! One file a subject holds what HIP documents of it; `c` has the C functions, which only
//! check pointers. Handles are numbers in tables, so any value may be given for one. No
//! panic leaves the library: it becomes `hipErrorUnknown`.

mod c;
mod device;
mod error;
mod event;
mod graph;
mod handles;
mod image;
mod launch;
mod memory;
mod module;
mod properties;
mod runtime;
mod settings;
mod stream;
