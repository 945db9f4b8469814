//! What it takes to add to Cairn from outside, without editing it:
//!
//! - [`Softplus`], an operator with shape inference, gradient, cost and a stored form;
//! - [`Extra`], a backend with a kernel for it and nothing else, to be put into a
//!   `Dispatcher` beside others;
//! - [`FoldOnes`], a pass that removes multiplications by one;
//! - [`row`], the operator's row for Cairn's accuracy, determinism and gradient suites.
//!
//! `tests/suites.rs` runs them.

mod backend;
mod pass;
mod row;
mod softplus;

pub use backend::Extra;
pub use pass::FoldOnes;
pub use row::row;
pub use softplus::{Softplus, registry};
