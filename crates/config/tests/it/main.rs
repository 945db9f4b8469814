//! The configuration pipeline from outside: parity with the reference, wrong
//! input, robustness.

mod fixture;
mod parity;
mod robust;
mod show;
mod wrong;
