//! Commands from outside: the manual's examples, exit codes, and the engine's
//! commands from training to report.

mod cli;
