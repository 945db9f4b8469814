//! Resolved run to processes.
